//! Tokens, keys and passwords that are known by their shape, under any name.

use std::ops::Range;

use super::PrivateSpan;

/// The prefixes of tokens, with their minimum length, from the issuers' documents.
const BEGINNINGS: [(&str, usize, &str); 33] = [
    ("AKIA", 20, "an AWS access key"),
    ("ASIA", 20, "an AWS access key"),
    ("AIza", 35, "a Google API key"),
    ("ya29.", 24, "a Google token"),
    ("GOCSPX-", 24, "a Google key"),
    ("ghp_", 36, "a GitHub token"),
    ("gho_", 36, "a GitHub token"),
    ("ghs_", 36, "a GitHub token"),
    ("ghu_", 36, "a GitHub token"),
    ("ghr_", 36, "a GitHub token"),
    ("github_pat_", 40, "a GitHub token"),
    ("glpat-", 20, "a GitLab token"),
    ("xoxb-", 20, "a Slack token"),
    ("xoxp-", 20, "a Slack token"),
    ("xoxa-", 20, "a Slack token"),
    ("xapp-", 20, "a Slack token"),
    ("sk_live_", 20, "a key"),
    ("sk_test_", 20, "a key"),
    ("rk_live_", 20, "a key"),
    ("whsec_", 20, "a key"),
    ("sk-", 32, "a key"),
    ("SG.", 40, "a key"),
    ("npm_", 36, "a token"),
    ("pypi-", 40, "a token"),
    ("dckr_pat_", 20, "a token"),
    ("dop_v1_", 40, "a token"),
    ("hvs.", 24, "a token"),
    ("hvb.", 24, "a token"),
    ("s.", 26, "a token"),
    ("AGE-SECRET-KEY-", 40, "a private key"),
    ("NRAK-", 20, "a key"),
    ("lin_api_", 20, "a key"),
    ("shpat_", 30, "a token"),
];

/// The prefixes of hashed passwords (`crypt(5)`, htpasswd, LDAP, PostgreSQL).
const HASHES: [&str; 14] = [
    "$apr1$",
    "$2a$",
    "$2b$",
    "$2y$",
    "$1$",
    "$5$",
    "$6$",
    "$y$",
    "$argon2",
    "$pbkdf2",
    "{SHA}",
    "{SSHA}",
    "{CRYPT}",
    "SCRAM-SHA-256$",
];

/// Addresses whose path is a token.
const WEBHOOKS: [&str; 4] = [
    "hooks.slack.com/",
    "/api/webhooks/",
    "webhook.office.com/",
    "outlook.office.com/webhook/",
];

/// The characters of tokens.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'=' | b'+' | b'/')
}

/// The words of a text that consist of the characters of tokens.
pub(super) fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let begin = at + bytes.get(at..)?.iter().position(|byte| is_token(*byte))?;
        let length = bytes[begin..].iter().position(|byte| !is_token(*byte));
        at = length.map_or(bytes.len(), |length| begin + length);
        Some(begin..at)
    })
}

/// Finds everything that its shape betrays. `random`: also words that look random.
pub(super) fn find(text: &str, random: bool, found: &mut Vec<PrivateSpan>) {
    let public = certificates(text);
    pem(text, found);
    for word in words(text) {
        // In a name, an image or an assignment, the last part of a word may be the token.
        let parts = [Some(0), text[word.clone()].find('=').map(|at| at + 1)];
        for part in parts.into_iter().flatten() {
            let range = word.start + part..word.end;
            if let Some(looks_like) = token(&text[range.clone()]) {
                found.push(PrivateSpan::new(range, looks_like));
                break;
            }
        }
        let in_public = || public.iter().any(|range| range.contains(&word.start));
        if random && word.len() >= MIN_RANDOM && !in_public() {
            for part in split(text, word) {
                if is_random(&text[part.clone()]) {
                    found.push(PrivateSpan::new(part, "a random value"));
                }
            }
        }
    }
    hashes(text, found);
    urls(text, found);
    schemes(text, found);
    password_files(text, found);
}

fn token(word: &str) -> Option<&'static str> {
    let begins = BEGINNINGS.iter().find(|(begin, length, _)| {
        word.len() >= *length
            && word.starts_with(begin)
            && !word[begin.len()..].contains(['.', '/'])
            || word.len() >= *length && word.starts_with(begin) && begin.ends_with(['.', '-'])
    });
    let begins = begins.filter(|(begin, ..)| *begin != "s." || has_classes(word));
    if let Some((_, _, looks_like)) = begins {
        return Some(looks_like);
    }
    // A JSON Web Token or an encrypted one (RFC 7519, RFC 7516): parts in base64, of which the first
    // is `{"…`.
    let parts = word.bytes().filter(|byte| *byte == b'.').count();
    (word.starts_with("eyJ") && word.len() > 30 && matches!(parts, 2 | 4)).then_some("a token")
}

/// From the beginning of a private key to its end, also where its lines are escaped.
fn pem(text: &str, found: &mut Vec<PrivateSpan>) {
    let mut from = 0;
    while let Some(at) = text[from..].find("-----BEGIN ").map(|at| from + at) {
        let head = &text[at + "-----BEGIN ".len()..];
        let of = head.split("-----").next().unwrap_or_default();
        from = at + "-----BEGIN ".len();
        if !of.contains("PRIVATE KEY") || of.len() > 60 {
            continue;
        }
        let end = text[from..].find("-----END ").map(|end| from + end);
        let end = end.map_or(text.len(), |end| {
            let close = text[end + "-----END ".len()..].find("-----");
            close.map_or(text.len(), |close| end + "-----END ".len() + close + 5)
        });
        found.push(PrivateSpan::new(at..end, "a private key"));
        from = end;
    }
}

/// Finds certificates and public keys: they look random, and are public.
fn certificates(text: &str) -> Vec<Range<usize>> {
    let begins = text.match_indices("-----BEGIN ");
    let public = begins.filter(|(at, _)| {
        let head = text[*at..].lines().next().unwrap_or_default();
        !head.contains("PRIVATE")
    });
    let ranges = public.map(|(at, _)| {
        let end = text[at..]
            .find("-----END ")
            .map_or(text.len(), |end| at + end);
        at..end
    });
    ranges.collect()
}

fn hashes(text: &str, found: &mut Vec<PrivateSpan>) {
    if !text.contains(['$', '{']) {
        return;
    }
    for (at, _) in text.match_indices(['$', '{', 'S']) {
        let rest = &text[at..];
        if HASHES.iter().any(|begin| rest.starts_with(begin)) {
            let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ':'));
            let end = at + end.unwrap_or(rest.len());
            if end - at > 12 {
                found.push(PrivateSpan::new(at..end, "a password"));
            }
        }
    }
}

/// The users of URLs (RFC 3986, section 3.2.1), and addresses that are tokens.
fn urls(text: &str, found: &mut Vec<PrivateSpan>) {
    for (at, _) in text.match_indices("://") {
        let begin = at + 3;
        let rest = &text[begin..];
        let end =
            rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`'));
        let address = &rest[..end.unwrap_or(rest.len())];
        let webhook = WEBHOOKS
            .iter()
            .find_map(|of| Some(address.find(of)? + of.len()));
        if let Some(path) = webhook.filter(|path| *path < address.len()) {
            found.push(PrivateSpan::new(
                begin + path..begin + address.len(),
                "a token",
            ));
        }
        // A password may have a `/`, `?` or `#` that should be escaped.
        let plain = address.find(['/', '?', '#']).unwrap_or(address.len());
        let user = match address[..plain].rfind('@') {
            Some(at) => Some(at),
            None => address.rfind('@').filter(|_| {
                let before = &address[..plain];
                before
                    .split_once(':')
                    .is_some_and(|(_, port)| !port.bytes().all(|b| b.is_ascii_digit()))
            }),
        };
        let Some(user) = user else { continue };
        match address[..user].find(':') {
            Some(colon) if colon + 1 < user => {
                found.push(PrivateSpan::new(
                    begin + colon + 1..begin + user,
                    "a password",
                ));
                // The key of a Sentry DSN comes first.
                if is_key(&address[..colon]) {
                    found.push(PrivateSpan::new(begin..begin + colon, "a key"));
                }
            }
            _ if is_key(&address[..user]) => {
                found.push(PrivateSpan::new(begin..begin + user, "a key"));
            }
            _ => {}
        }
    }
}

/// Returns whether the user of a URL is a key and not a name.
fn is_key(user: &str) -> bool {
    user.len() >= 16 && user.bytes().any(|byte| byte.is_ascii_digit()) && user.bytes().all(is_token)
}

/// Credentials after the name of their scheme (RFC 7617, RFC 6750).
fn schemes(text: &str, found: &mut Vec<PrivateSpan>) {
    for scheme in ["earer ", "asic ", "EARER ", "ASIC "] {
        for (at, _) in text.match_indices(scheme) {
            let begin = at + scheme.len();
            let rest = text[begin..].bytes();
            let length = rest
                .take_while(|byte| is_token(*byte) || *byte == b'~')
                .count();
            let word = &text[begin..begin + length];
            let digits = word.bytes().filter(u8::is_ascii_digit).count();
            let long = word.len() >= 8 && (digits > 0 || has_classes(word)) || word.len() >= 20;
            if long {
                found.push(PrivateSpan::new(begin..begin + length, "a token"));
            }
        }
    }
}

/// Lines of `.pgpass`: host, port, database, user, password.
fn password_files(text: &str, found: &mut Vec<PrivateSpan>) {
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        let parts: Vec<&str> = content.splitn(5, ':').collect();
        if let [host, port, database, user, password] = parts.as_slice() {
            let is_port = *port == "*"
                || (2..6).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
            let named = [host, database, user];
            let is_named = named
                .iter()
                .all(|it| !it.is_empty() && !it.contains([' ', '"', '/']));
            if is_port && is_named && !password.is_empty() && !password.contains(' ') {
                let end = begin + content.len();
                found.push(PrivateSpan::new(end - password.len()..end, "a password"));
            }
        }
        begin += line.len();
    }
}

/// The shortest word that can look random.
const MIN_RANDOM: usize = 20;

/// The parts of a word that can be random: behind `=`, between `/`, without what ends a sentence.
fn split(text: &str, word: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let whole = &text[word.clone()];
    // In base64 a slash is a character like others: names have several parts of lower case.
    let path = whole.starts_with('/') || whole.split('/').any(is_plain);
    let mut at = word.start;
    let parts = whole.split(move |c| c == '.' || c == '/' && path);
    let ranges = parts.map(move |part| {
        let begin = at;
        at += part.len() + 1;
        let assigned = part.trim_end_matches('=').rfind('=').map_or(0, |at| at + 1);
        begin + assigned..begin + part.len()
    });
    ranges.collect::<Vec<_>>().into_iter()
}

/// Returns whether a part of a path is a name.
fn is_plain(part: &str) -> bool {
    part.len() > 1
        && part.len() < MIN_RANDOM
        && !part
            .bytes()
            .any(|byte| byte.is_ascii_digit() || byte == b'=' || byte == b'+')
        && (part.bytes().all(|byte| !byte.is_ascii_uppercase()))
}

/// Upper case, lower case and digits.
fn has_classes(word: &str) -> bool {
    let any = |of: fn(&u8) -> bool| word.as_bytes().iter().any(of);
    any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_digit)
}

/// Returns whether a word looks as if a generator made it: it is long and has all kinds of
/// characters, and none of them is frequent. Names in camel case have few digits; hashes in
/// hexadecimal have one case only.
fn is_random(word: &str) -> bool {
    let word = word.trim_matches(['-', '_']);
    if word.len() < MIN_RANDOM || !has_classes(word) {
        return false;
    }
    let mut counts = [0u16; 128];
    let (mut changes, mut before, mut length) = (0, 0, 0);
    for byte in word.bytes() {
        counts[usize::from(byte & 127)] += 1;
        let class = match byte {
            b'0'..=b'9' => 1,
            b'A'..=b'Z' => 2,
            b'a'..=b'z' => 3,
            _ => 4,
        };
        // A capital belongs to the word that it begins.
        let capital = before == 2 && class == 3 && length == 1;
        if class != before {
            changes += usize::from(!capital);
            length = 0;
        }
        length += 1;
        before = class;
    }
    let digits: u16 = counts[usize::from(b'0')..=usize::from(b'9')].iter().sum();
    let different = counts.iter().filter(|count| **count > 0).count();
    // Words of names are longer: `MyVeryLongDeploymentName2`.
    digits >= 2 && different >= 12 && changes * 3 >= word.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut spans = Vec::new();
        find(text, true, &mut spans);
        spans.into_iter().map(|span| &text[span.range]).collect()
    }

    #[test]
    fn what_a_shape_betrays_is_found() {
        for (text, private) in [
            (
                "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/4",
                "0123456789abcdef0123456789abcdef",
            ),
            ("postgres://web:tr0ub4dor@db/web", "tr0ub4dor"),
            ("amqp://u:p/w#1@mq:5672/", "p/w#1"),
            ("Authorization: Bearer abcdef0123456789", "abcdef0123456789"),
            ("db:5432:*:web:hunter2", "hunter2"),
            ("admin:$apr1$jN9Z$E3o4Xm0Yv0", "$apr1$jN9Z$E3o4Xm0Yv0"),
            (
                "key: wJalrXUtnFEMI7K7MDENG1bPxRfiCYEXAMPLEKEY",
                "wJalrXUtnFEMI7K7MDENG1bPxRfiCYEXAMPLEKEY",
            ),
            (
                "https://hooks.slack.com/services/T0/B0/abc",
                "services/T0/B0/abc",
            ),
        ] {
            assert!(found(text).contains(&private), "{text}: {:?}", found(text));
        }
    }

    #[test]
    fn names_images_and_hashes_are_not_random() {
        for text in [
            "registry.k8s.io/ingress-nginx/controller:v1.15.1@sha256:594ceea76b01c592858f803f9ff4d2cb40542cae2060410b2c95f75907d659e1",
            "kubectl-client-side-apply",
            "2026-11-23T10:52:36.123456Z",
            "io.k8s.api.apps.v1.DeploymentSpec",
            "b7a1f9e2-52aa-4a5f-a9c8-1b0b4c9a8d7e",
            "https://10.0.0.1:6443/apis/apps/v1/namespaces/x",
            "MyVeryLongDeploymentNameV2Beta1",
            "git@github.com:optimist/optimist.git",
            "ssh://git@github.com/a/b",
            "kube-controller-manager/v1.36.0 (linux/amd64) kubernetes/0123abc",
            "http://user@host/",
            "the bearer token is invalid",
            "web-7c5ddbdf54-x2x7k",
            "helm.sh/chart: ingress-nginx-4.15.1",
            "v1.36.0-alpha.2.143+0123456789abcd",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}

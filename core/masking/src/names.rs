//! Names of fields, variables and options whose values are private.

/// Parts of names, in lower case without `-`, `_` and `.`.
const PARTS: [(&str, &str); 26] = [
    ("password", "a password"),
    ("passwd", "a password"),
    ("passphrase", "a password"),
    ("passcode", "a password"),
    ("requirepass", "a password"),
    ("masterauth", "a password"),
    ("token", "a token"),
    ("bearer", "a token"),
    ("apikey", "a key"),
    ("appkey", "a key"),
    ("authkey", "a key"),
    ("accesskey", "a key"),
    ("accountkey", "a key"),
    ("clientkey", "a key"),
    ("encryptionkey", "a key"),
    ("encryptkey", "a key"),
    ("keydata", "a key"),
    ("licensekey", "a key"),
    ("masterkey", "a key"),
    ("privatekey", "a key"),
    ("signingkey", "a key"),
    ("sshkey", "a key"),
    ("clientcertificatedata", "a key"),
    ("secret", "a secret"),
    ("credential", "a secret"),
    ("connectionstring", "a secret"),
];

/// Whole words of names. The words of `dbPass` and `DB_PASS` are `db` and `pass`.
const WORDS: [(&str, &str); 17] = [
    ("pwd", "a password"),
    ("pass", "a password"),
    ("pgpass", "a password"),
    ("psk", "a password"),
    ("otp", "a password"),
    ("totp", "a password"),
    ("authorization", "a token"),
    ("auth", "a token"),
    ("jwt", "a token"),
    ("cookie", "a token"),
    ("sig", "a token"),
    ("signature", "a token"),
    ("hmac", "a key"),
    ("dsn", "a secret"),
    ("creds", "a secret"),
    ("mnemonic", "a secret"),
    ("htpasswd", "a password"),
];

/// Words that mean a private value only at the end of a name: `authorization.k8s.io/decision` is no
/// token, and `auth-mode` is none.
const ONLY_LAST: [&str; 5] = ["authorization", "auth", "cookie", "sig", "signature"];

/// Last words of names that contain the location or a property of a private value: `tokenFile`.
const ELSEWHERE: [&str; 54] = [
    "account",
    "accounts",
    "algorithm",
    "audience",
    "class",
    "controller",
    "count",
    "decision",
    "driver",
    "duration",
    "enabled",
    "endpoint",
    "expiration",
    "expiry",
    "file",
    "files",
    "format",
    "generator",
    "host",
    "id",
    "interval",
    "issuer",
    "keys",
    "kind",
    "length",
    "limit",
    "manager",
    "method",
    "mode",
    "name",
    "names",
    "namespace",
    "operator",
    "path",
    "paths",
    "policy",
    "port",
    "provider",
    "reason",
    "ref",
    "refs",
    "request",
    "requests",
    "review",
    "reviews",
    "seconds",
    "server",
    "service",
    "size",
    "store",
    "ttl",
    "type",
    "version",
    "volume",
];

/// Last words that are read as locations also where they are not set apart: `tokenurl`.
const ENDINGS: [&str; 7] = ["name", "ref", "file", "path", "seconds", "url", "namespace"];

/// Beginnings of names that name an object with the private value, of kind Secret.
const OF_SECRETS: [&str; 4] = [
    "existingsecret",
    "imagepullsecret",
    "pullsecret",
    "fromsecret",
];

/// The longest name that is looked at.
const MAX_NAME: usize = 120;

/// Tells from a name what its value looks like; `None` if the name says nothing, or says only where
/// the value is.
pub(super) fn by_name(name: &str) -> Option<&'static str> {
    // The domain of a label or an annotation says nothing of its value.
    let name = name.rsplit('/').next().unwrap_or_default();
    let name = name.trim_start_matches('-');
    if name.len() < 3 || name.len() > MAX_NAME || !name.is_ascii() {
        return None;
    }
    let mut plain = String::with_capacity(name.len());
    // Where words begin in `plain`.
    let mut words = vec![0];
    let mut before = b'_';
    for byte in name.bytes() {
        let begins = byte.is_ascii_uppercase() && before.is_ascii_lowercase();
        let apart = !byte.is_ascii_alphanumeric();
        if (begins || apart) && words.last() != Some(&plain.len()) {
            words.push(plain.len());
        }
        if !apart {
            plain.push(char::from(byte.to_ascii_lowercase()));
        }
        before = byte;
    }
    let looks_like = match_name(&plain, &words)?;
    let last = words.iter().rev().find_map(|at| {
        let word = plain.get(*at..).unwrap_or_default();
        (!word.is_empty()).then_some(word)
    });
    let last = last.unwrap_or_default();
    let elsewhere = ELSEWHERE.contains(&last)
        || ENDINGS.iter().any(|ending| plain.ends_with(ending))
        || OF_SECRETS.iter().any(|of| plain.starts_with(of));
    (!elsewhere).then_some(looks_like)
}

/// Finds the first private word or part of a name, and returns what its value looks like.
fn match_name(plain: &str, words: &[usize]) -> Option<&'static str> {
    if let Some((_, looks_like)) = PARTS.iter().find(|(part, _)| plain.contains(part)) {
        return Some(looks_like);
    }
    let ends = words.iter().skip(1).copied().chain([plain.len()]);
    words.iter().zip(ends).find_map(|(begin, end)| {
        let word = plain.get(*begin..end)?;
        let (known, looks_like) = WORDS.iter().find(|(known, _)| *known == word)?;
        (end == plain.len() || !ONLY_LAST.contains(known)).then_some(*looks_like)
    })
}

/// Returns whether a value under a private name is not private: a switch, a reference, or a
/// stand-in.
pub(super) fn is_blank(text: &str) -> bool {
    const SWITCHES: [&str; 11] = [
        "true", "false", "yes", "no", "on", "off", "null", "nil", "none", "~", "{}",
    ];
    let value = text.trim();
    let inside = |open: &str, close: &str| {
        value.starts_with(open) && value.find(close) == Some(value.len() - close.len())
    };
    text.is_empty()
        || is_left_out(value)
        || inside("$(", ")")
        || inside("${", "}")
        || inside("{{", "}}")
        || inside("<", ">")
        || SWITCHES.contains(&value)
        || value.len() > 2 && value.chars().all(|c| matches!(c, '*' | '•'))
}

/// Returns whether a value is a stand-in.
pub(super) fn is_left_out(value: &str) -> bool {
    let number = value.strip_prefix(super::STAND_IN);
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
        || value == super::MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_private_by_what_it_is_for() {
        for name in [
            "password",
            "DB_PASS",
            "dbPass",
            "PGPASS",
            "PGPASSWORD",
            "Pwd",
            "--db-password",
            "spring.datasource.password",
            "accessToken",
            "Authorization",
            "Proxy-Authorization",
            "auth",
            "SENTRY_DSN",
            "client-key-data",
            "requirepass",
            "AccountKey",
            "x-api-key",
            "stripe.com/secret-key",
            "CREDS",
            "password_hash",
            "existing-password",
        ] {
            assert!(by_name(name).is_some(), "{name}");
        }
        for name in [
            "authorization.k8s.io/decision",
            "authorization.k8s.io/reason",
            "secretName",
            "tokenFile",
            "passwordSecretRef",
            "serviceAccountToken.path",
            "tokenurl",
            "automountServiceAccount",
            "compass",
            "bypass",
            "author",
            "auth-mode",
            "image",
            "key",
            "external-secrets.io/refresh",
            "existingSecret",
            "token-controller",
            "design",
            "pin",
            "expirationSeconds",
            "username",
            "keys",
            "authentication",
            "name",
        ] {
            assert_eq!(by_name(name), None, "{name}");
        }
    }
}

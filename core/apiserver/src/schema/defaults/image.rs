//! References to container images (`github.com/distribution/reference` v0.6, through
//! `pkg/util/parsers.ParseImageName` of Kubernetes v1.36).

/// The maximum length of a name with its domain, in bytes.
const MAX_NAME: usize = 255;

/// The tag of a reference, `latest` where it has neither a tag nor a digest; `None` where it has a
/// digest only, or is not a reference.
pub(super) fn tag(image: &str) -> Option<&str> {
    let is_id = image.len() == 64 && is_hex(image);
    let (domain, path) = split_domain(image);
    if is_id || path.is_empty() {
        return None;
    }
    let (path, digest) = match path.split_once('@') {
        Some((path, digest)) => (path, Some(digest)),
        None => (path, None),
    };
    let (path, tag) = match path.split_once(':') {
        Some((path, tag)) => (path, Some(tag)),
        None => (path, None),
    };
    let library = if domain.is_none() && !path.contains('/') {
        "library/".len()
    } else {
        0
    };
    let length = domain.unwrap_or("docker.io").len() + 1 + library + path.len();
    let sound = domain.is_none_or(is_domain)
        && path.split('/').all(is_component)
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest)
        && length <= MAX_NAME;
    match (tag, digest) {
        _ if !sound => None,
        (None, None) => Some("latest"),
        (tag, _) => tag,
    }
}

/// The registry, if the first part is one, and the rest (`splitDockerDomain`).
fn split_domain(image: &str) -> (Option<&str>, &str) {
    match image.split_once('/') {
        Some((first, rest))
            if first.contains(['.', ':'])
                || first == "localhost"
                || first.chars().any(char::is_uppercase) =>
        {
            (Some(first), rest)
        }
        _ => (None, image),
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// A host with or without a port.
fn is_domain(domain: &str) -> bool {
    let (host, port) = match domain.rsplit_once(':') {
        Some((host, port)) if !domain.ends_with(']') => (host, Some(port)),
        _ => (domain, None),
    };
    let is_number = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let is_label = |label: &str| {
        let plain = label
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-');
        plain && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    };
    let in_brackets = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_host = match in_brackets {
        Some(ip) => !ip.is_empty() && ip.bytes().all(|b| b.is_ascii_hexdigit() || b == b':'),
        None => host.split('.').all(is_label),
    };
    is_host && port.is_none_or(is_number)
}

/// Small letters and digits, separated by a point, one or two underscores, or dashes.
fn is_component(part: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if !part.starts_with(is_word) || !part.ends_with(is_word) {
        return false;
    }
    part.split(is_word).all(|between| {
        matches!(between, "" | "." | "_" | "__") || between.bytes().all(|b| b == b'-')
    })
}

fn is_tag(tag: &str) -> bool {
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let first = tag.bytes().next().is_some_and(is_word);
    first && tag.len() <= 128 && tag.bytes().all(|b| is_word(b) || matches!(b, b'.' | b'-'))
}

/// An algorithm that the server knows, and a sum of its length.
fn is_digest(digest: &str) -> bool {
    let Some((algorithm, sum)) = digest.split_once(':') else {
        return false;
    };
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return false,
    };
    sum.len() == length && is_hex(sum)
}

#[cfg(test)]
mod tests {
    use super::tag;

    #[test]
    fn a_reference_has_the_tag_that_docker_would_pull() {
        let sum = "a".repeat(64);
        for (image, expected) in [
            ("nginx", Some("latest")),
            ("i:1", Some("1")),
            ("localhost:5000/a/b", Some("latest")),
            ("[fd00::1]:5000/a", Some("latest")),
            ("registry.example.com/a__b/c-d:V_1.2-x", Some("V_1.2-x")),
            ("a.b/c.d--e", Some("latest")),
            (&format!("nginx@sha256:{sum}"), None),
            (&format!("nginx:latest@sha256:{sum}"), Some("latest")),
            // No references.
            (&sum, None),
            ("", None),
            (" ", None),
            ("Nginx", None),
            ("a___b", None),
            ("a/", None),
            ("a:", None),
            ("a:-x", None),
            ("-a/b", None),
            ("a@sha256:12", None),
            (&format!("{}/b", "a".repeat(254)), None),
        ] {
            assert_eq!(tag(image), expected, "{image}");
        }
    }
}

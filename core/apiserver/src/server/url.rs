//! The address of a request.

use std::borrow::Cow;

use http::Request;

/// The query, decoded, in its order.
pub(super) fn read_query(request: &Request<Vec<u8>>) -> Vec<(String, String)> {
    let query = request.uri().query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect()
}

/// A path as routes see it, without escapes (`net/url` `URL.Path`).
pub(super) fn decoded(path: &str) -> Cow<'_, str> {
    if !path.as_bytes().contains(&b'%') {
        return Cow::Borrowed(path);
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut parts = path.split('%');
    bytes.extend(parts.next().unwrap_or_default().bytes());
    for part in parts {
        let escaped = part.get(..2).map(|digits| u8::from_str_radix(digits, 16));
        match escaped {
            Some(Ok(byte)) => {
                bytes.push(byte);
                bytes.extend_from_slice(&part.as_bytes()[2..]);
            }
            _ => {
                bytes.push(b'%');
                bytes.extend_from_slice(part.as_bytes());
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn escapes_are_letters_of_a_path() {
        assert_eq!(decoded("/a%20b/%2e%C3%A9"), "/a b/.é");
        assert_eq!(decoded("/a%2Fb"), "/a/b");
        assert_eq!(decoded("/100%/%zz"), "/100%/%zz");
        assert_eq!(decoded("/a+b"), "/a+b");
    }
}

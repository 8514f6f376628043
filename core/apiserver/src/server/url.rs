//! The address of a request.

use std::borrow::Cow;

use http::Request;
use percent_encoding::percent_decode_str;

/// The query, decoded, in its order.
pub(super) fn read_query(request: &Request<Vec<u8>>) -> Vec<(String, String)> {
    let query = request.uri().query().unwrap_or_default();
    if !query.contains(['%', '+']) {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        return pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
    }
    form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect()
}

/// A path as routes see it, without escapes (`net/url` `URL.Path`).
pub(super) fn decoded(path: &str) -> Cow<'_, str> {
    match path.as_bytes().contains(&b'%') {
        true => percent_decode_str(path).decode_utf8_lossy(),
        false => Cow::Borrowed(path),
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::{decoded, read_query};

    #[test]
    fn a_query_without_escapes_is_read_as_one_with_them() {
        let read = |query: &str| {
            let request = Request::get(format!("/a?{query}")).body(Vec::new());
            read_query(&request.expect("a request"))
        };
        for query in ["", "a", "a=", "=b", "a=b=c&&d&a=e", "&a=b&"] {
            let mut escaped = read(&format!("%2B=+&{query}"));
            escaped.remove(0);
            assert_eq!(read(query), escaped, "{query}");
        }
    }

    #[test]
    fn escapes_are_letters_of_a_path() {
        assert_eq!(decoded("/a%20b/%2e%C3%A9"), "/a b/.é");
        assert_eq!(decoded("/a%2Fb"), "/a/b");
        assert_eq!(decoded("/100%/%zz"), "/100%/%zz");
        assert_eq!(decoded("/a+b"), "/a+b");
    }
}

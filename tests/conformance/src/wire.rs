//! Makes the requests to the server.

use http::{HeaderValue, Request, header};

use super::recording::Call;
use super::tree::Tree;

/// A request with the headers that the recorder sent.
pub(super) fn request(
    call: &Call,
    agent: &str,
    target: &str,
    body: String,
) -> Result<Request<Vec<u8>>, String> {
    let mut request = Request::builder()
        .method(call.method.as_str())
        .uri(target)
        .header(header::ACCEPT, "application/json")
        .header(header::USER_AGENT, format!("{agent}/1.0"));
    if let Some(content_type) = &call.content_type {
        request = request.header(header::CONTENT_TYPE, content_type);
    }
    let mut request = request
        .body(body.into_bytes())
        .map_err(|e| format!("/path: {target}: {e}"))?;
    for (name, value) in &call.headers {
        let name: header::HeaderName =
            name.parse().map_err(|e| format!("/headers: {name}: {e}"))?;
        let value = HeaderValue::from_bytes(value.as_bytes())
            .map_err(|e| format!("/headers: {name}: {e}"))?;
        request.headers_mut().insert(name, value);
    }
    Ok(request)
}

/// A request as text for people.
pub(super) fn shown(request: &Request<Vec<u8>>) -> String {
    let mut text = format!("{} {}\n", request.method(), request.uri());
    for (name, value) in request.headers() {
        text += &format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes()));
    }
    if !request.body().is_empty() {
        text += &String::from_utf8_lossy(request.body());
    }
    text
}

/// Form encoding, with the characters left alone that the recorder left alone.
pub(super) fn query_string(query: &Tree) -> String {
    let Tree::Object(members) = query else {
        return String::new();
    };
    let mut pairs = Vec::new();
    for (name, value) in members {
        let values = if let Tree::List(values) = value {
            values.as_slice()
        } else {
            std::slice::from_ref(value)
        };
        for value in values {
            let value = value
                .as_text()
                .map_or_else(|| value.to_string(), str::to_owned);
            pairs.push(format!("{}={}", encoded(name), encoded(&value)));
        }
    }
    pairs.join("&")
}

fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => out.push(byte.into()),
            b'_' | b'.' | b'-' | b'~' | b'=' | b',' | b':' | b'/' | b'!' | b'(' | b')' => {
                out.push(byte.into())
            }
            b' ' => out.push('+'),
            other => out += &format!("%{other:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn queries_are_form_encoded_but_selectors_stay_readable() {
        let query = Tree::Object(vec![
            ("labelSelector".into(), Tree::Text("app=web,x!=a b".into())),
            ("fieldManager".into(), Tree::Text("ä&m{i}".into())),
        ]);
        assert_eq!(
            query_string(&query),
            "labelSelector=app=web,x!=a+b&fieldManager=%C3%A4%26m%7Bi%7D"
        );
    }

    #[test]
    fn recorded_headers_win_over_the_defaults() {
        let call = Call {
            actor: "A".into(),
            method: "GET".into(),
            path: "/".into(),
            query: vec![],
            content_type: None,
            headers: BTreeMap::from([("User-Agent".into(), String::new())]),
            body: None,
        };
        let request = request(&call, "A", "/", String::new()).unwrap();
        assert_eq!(request.headers()[header::USER_AGENT], "");
        assert_eq!(request.headers().len(), 2);
    }
}

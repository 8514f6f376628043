//! go-yaml's messages about mistakes (`go.yaml.in/yaml/v2`: `decode.go`, `parserc.go`,
//! `scannerc.go`), made from the messages of the parser here.

use crate::go;
use crate::json::Node;

/// A key as strict decoding names it, and a value in an error about keys (`%#v`).
pub(super) fn go_syntax(node: &Node) -> String {
    match node {
        Node::Null => "interface {}(nil)".to_owned(),
        Node::Bool(b) => b.to_string(),
        Node::Number(n) => go::number(n),
        Node::HugeNumber(text) => text.clone(),
        Node::String(text) => go::quote(text),
        Node::Array(items) => {
            let items: Vec<String> = items.iter().map(go_syntax).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Node::Object(members) => {
            let mut members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{}:{}", go::quote(key), go_syntax(value)))
                .collect();
            members.sort();
            format!(
                "map[interface {{}}]interface {{}}{{{}}}",
                members.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::yaml::parse;

    fn said(text: &str) -> String {
        parse(text).unwrap_err().as_go_reports()
    }

    #[test]
    fn mistakes_are_told_in_go_yamls_words() {
        for (text, words) in [
            ("a: b: c", "mapping values are not allowed in this context"),
            (
                "x: 1\na: b: c",
                "line 2: mapping values are not allowed in this context",
            ),
            ("a: @b", "found character that cannot start any token"),
            (
                "a: 1\nb: `c`",
                "line 2: found character that cannot start any token",
            ),
            ("a: [1, 2", "line 1: did not find expected ',' or ']'"),
            ("{\"a\": 1", "line 1: did not find expected ',' or '}'"),
            ("a: *x", "unknown anchor 'x' referenced"),
            ("a: \"b", "found unexpected end of stream"),
            ("a: 'b\n", "line 2: found unexpected end of stream"),
            ("\ta: b", "found character that cannot start any token"),
            (
                "# c\n---\n \ta: b",
                "line 3: found character that cannot start any token",
            ),
            ("%A b\n---\na: b", "found unknown directive name"),
            ("%YAML 1.2\n---\na: b", "found incompatible YAML document"),
            (
                "#\n%YAML 1.2\n---\na: b",
                "line 1: found incompatible YAML document",
            ),
            (
                "{{x}}: 1",
                "invalid map key: map[interface {}]interface {}{\"x\":interface {}(nil)}",
            ),
        ] {
            let words = format!("error converting YAML to JSON: yaml: {words}");
            assert_eq!(said(text), words, "{text}");
        }
        assert_eq!(
            said("~: x"),
            "error converting YAML to JSON: unsupported map key of type: %!s(<nil>), \
             key: <nil>, value: \"x\""
        );
    }
}

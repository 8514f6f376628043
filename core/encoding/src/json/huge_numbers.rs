//! Numbers that no float of 64 bits holds. They are JSON, and Go says only where it stores one that it does not fit.

use std::vec;

use super::Node;

/// Parses a document that is JSON for Go.
///
/// # Errors
/// If it nests more than 128 deep.
pub(super) fn parse(text: &str) -> Result<Node, serde_json::Error> {
    let (without, numbers) = take_out(text);
    let mut node = serde_json::from_str(&without)?;
    put_back(&mut node, &mut numbers.into_iter());
    Ok(node)
}

/// Returns whether no float of 64 bits holds the number that a text spells.
fn is_huge(token: &str) -> bool {
    token.parse().is_ok_and(f64::is_infinite)
}

/// Writes zeros for the huge numbers. Of each number of the text, it returns its spelling if it is huge.
fn take_out(text: &str) -> (String, Vec<Option<String>>) {
    let (mut without, mut numbers) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some(first) = rest.bytes().next() {
        let length = match first {
            b'"' => string_length(rest),
            b'-' | b'0'..=b'9' => {
                let in_number =
                    |byte: u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                rest.bytes().take_while(|byte| in_number(*byte)).count()
            }
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        let (token, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        rest = after;
        if first == b'"' || !(first == b'-' || first.is_ascii_digit()) {
            without.push_str(token);
            continue;
        }
        let is_huge = is_huge(token);
        without.push_str(if is_huge { "0" } else { token });
        numbers.push(is_huge.then(|| token.to_owned()));
    }
    (without, numbers)
}

/// The length of the string that a text begins with, in bytes, with its quotes.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// Puts the numbers back where they were: a document has its numbers in the order of its text.
fn put_back(node: &mut Node, numbers: &mut vec::IntoIter<Option<String>>) {
    match node {
        Node::Number(_) => {
            if let Some(number) = numbers.next().flatten() {
                *node = Node::HugeNumber(number);
            }
        }
        Node::Array(items) => items.iter_mut().for_each(|item| put_back(item, numbers)),
        Node::Object(members) => members
            .iter_mut()
            .for_each(|(_, member)| put_back(member, numbers)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn a_number_that_does_not_fit_is_kept_as_it_is_spelled() {
        let text = r#"{"1e999": "1e999", "a": [1, -1E+999, 2], "b\\\"": 3, "é": {"c": 1e309}}"#;
        let huge = |text: &str| Node::HugeNumber(text.to_owned());
        let number = |n: u64| Node::Number(n.into());
        assert_eq!(
            json::parse(text.as_bytes()).unwrap(),
            Node::Object(vec![
                ("1e999".into(), Node::String("1e999".into())),
                (
                    "a".into(),
                    Node::Array(vec![number(1), huge("-1E+999"), number(2)])
                ),
                ("b\\\"".into(), number(3)),
                ("é".into(), Node::Object(vec![("c".into(), huge("1e309"))])),
            ])
        );
    }

    #[test]
    fn a_number_that_is_too_small_is_zero_and_a_long_one_is_rounded() {
        for text in [
            "1e-999",
            "1.7976931348623157e308",
            "123456789012345678901234567890",
        ] {
            assert!(
                matches!(json::parse(text.as_bytes()), Ok(Node::Number(_))),
                "{text}"
            );
        }
    }
}

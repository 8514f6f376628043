//! Differences in the order of members, which a value does not show.
//!
//! A server writes the members of built-in kinds in the order of its own types, and those of custom
//! resources sorted. Only members that both answers have are compared: what is missing is a
//! difference of its own.

use serde_json::json;

use super::compare::Difference;
use super::tree::Tree;

/// The places where two documents have the same members in another order.
pub fn differences(pointer: &str, expected: &Tree, got: &Tree) -> Vec<Difference> {
    let mut found = Vec::new();
    walk(pointer, expected, got, &mut found);
    found
}

fn walk(pointer: &str, expected: &Tree, got: &Tree, found: &mut Vec<Difference>) {
    match (expected, got) {
        (Tree::Object(e), Tree::Object(g)) => {
            let common = |members: &[(String, Tree)], other: &Tree| -> Vec<String> {
                let names = members.iter().map(|(name, _)| name);
                names.filter(|name| other.has(name)).cloned().collect()
            };
            let (e_names, g_names) = (common(e, got), common(g, expected));
            if e_names != g_names {
                found.push(Difference {
                    pointer: pointer.to_owned(),
                    expected: Some(json!(e_names)),
                    got: Some(json!(g_names)),
                });
            }
            for (name, e) in e {
                if let Some(g) = got.get(name) {
                    let pointer =
                        format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
                    match (name.as_str(), e, g) {
                        ("managedFields", Tree::List(e), Tree::List(g)) => {
                            entries(&pointer, e, g, found);
                        }
                        _ => walk(&pointer, e, g, found),
                    }
                }
            }
        }
        (Tree::List(e), Tree::List(g)) => {
            for (i, (e, g)) in e.iter().zip(g).enumerate() {
                walk(&format!("{pointer}/{i}"), e, g, found);
            }
        }
        _ => {}
    }
}

/// Entries of `managedFields` are a set: each is compared with that of the same manager.
fn entries(pointer: &str, expected: &[Tree], got: &[Tree], found: &mut Vec<Difference>) {
    let about = |entry: &Tree| {
        ["manager", "operation", "apiVersion", "subresource"].map(|name| entry.get(name).cloned())
    };
    for (i, e) in expected.iter().enumerate() {
        if let Some(g) = got.iter().find(|g| about(g) == about(e)) {
            walk(&format!("{pointer}/{i}"), e, g, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(expected: &str, got: &str) -> Vec<String> {
        let tree = |text| serde_json::from_str::<Tree>(text).unwrap();
        let found = differences("", &tree(expected), &tree(got));
        found.into_iter().map(|d| d.pointer).collect()
    }

    #[test]
    fn members_in_another_order_are_found_and_missing_ones_are_not() {
        let expected = r#"{"a": 1, "b": [{"x": 1, "y": 2, "z": 3}]}"#;
        assert_eq!(found(expected, expected), [""; 0]);
        assert_eq!(
            found(expected, r#"{"b": [{"x": 1, "z": 3}], "a": 1}"#),
            [""]
        );
        assert_eq!(
            found(expected, r#"{"a": 1, "b": [{"z": 3, "y": 1}]}"#),
            ["/b/0"]
        );
    }

    #[test]
    fn entries_of_managers_may_change_places() {
        let entry = |manager: &str, fields: &str| {
            format!(r#"{{"manager": "{manager}", "fieldsV1": {{{fields}}}}}"#)
        };
        let list = |a: String, b: String| format!(r#"{{"managedFields": [{a}, {b}]}}"#);
        let sorted = r#""a": 1, "b": 2"#;
        let expected = list(entry("m", sorted), entry("n", sorted));
        let swapped = list(entry("n", sorted), entry("m", sorted));
        assert_eq!(found(&expected, &swapped), [""; 0]);
        let other = list(entry("n", sorted), entry("m", r#""b": 1, "a": 2"#));
        assert_eq!(found(&expected, &other), ["/managedFields/0/fieldsV1"]);
    }
}

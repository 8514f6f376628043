//! Differences between two normalized answers.
//!
//! Compared loosely, because a real server is not more definite: `managedFields` as a set, also in
//! objects that are printed inside of error messages (their order depends on the clock), versions of
//! collections not at all (unrelated writes move them).

use serde_json::{Value, json};

use super::order;
use super::recording::Answer;
use super::tree::Tree;
use super::walk::loosen_collections;

/// One place where two answers differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// A JSON pointer into the answer; its members are named as in recordings (`/status`,
    /// `/response/...`, `/events/0/...`, `/warnings/0`). In lists compared as sets, the index is
    /// that of the answer at hand, or of the recorded one if the entry is missing.
    pub pointer: String,
    /// The recorded value; `None` if the value is additional.
    pub expected: Option<Value>,
    /// The present value; `None` if it is missing.
    pub got: Option<Value>,
}

/// All differences between a recorded answer and a normalized one, the most telling first.
///
/// If the statuses differ, that is the only difference.
pub fn answers(expected: &Answer, got: &Answer) -> Vec<Difference> {
    let mut found = Vec::new();
    if let Some(statuses) = &expected.statuses {
        let got = got.statuses.as_ref().map(|statuses| json!(statuses));
        values(
            "/outcome/statuses",
            Some(&json!(statuses)),
            got.as_ref(),
            &mut found,
        );
    }
    if expected.status.is_some() && expected.status != got.status {
        found.push(Difference {
            pointer: "/status".to_owned(),
            expected: expected.status.map(Value::from),
            got: got.status.map(Value::from),
        });
        return found;
    }
    let loosened = |value: &Option<Value>| {
        value.clone().map(|mut value| {
            loosen_collections(&mut value);
            value
        })
    };
    if expected.response.is_some() {
        values(
            "/response",
            loosened(&expected.response).as_ref(),
            loosened(&got.response).as_ref(),
            &mut found,
        );
    }
    if let Some(events) = &expected.events {
        let expected = loosened(&Some(json!(events)));
        let got = loosened(&got.events.clone().map(Value::from));
        values("/events", expected.as_ref(), got.as_ref(), &mut found);
    }
    // A failed request may carry the warnings of a discarded first attempt.
    if got.status.is_some_and(|status| status < 300) {
        values(
            "/warnings",
            Some(&json!(expected.warnings)),
            Some(&json!(got.warnings)),
            &mut found,
        );
    }
    if expected.response.is_some() {
        header(
            "/retry_after",
            &expected.retry_after,
            &got.retry_after,
            &mut found,
        );
    }
    if expected.content_type.is_some() {
        header(
            "/response_content_type",
            &expected.content_type,
            // A recording says that there is none with an empty text.
            &Some(got.content_type.clone().unwrap_or_default()),
            &mut found,
        );
    }
    if let (Some(expected), Some(got)) = (&answer_tree(expected), &answer_tree(got)) {
        let at = if expected.1 { "/events" } else { "/response" };
        found.extend(order::differences(at, expected.0, got.0));
    }
    found
}

/// Returns whether a difference is between two ages in the column of a table for them.
pub(super) fn is_age(expected: &Answer, difference: &Difference) -> bool {
    let cell = || {
        let (row, column) = difference
            .pointer
            .strip_prefix("/response/rows/")?
            .split_once("/cells/")?;
        row.parse::<usize>().ok()?;
        let columns = expected.response.as_ref()?.get("columnDefinitions")?;
        columns.get(column.parse::<usize>().ok()?)?["name"].as_str()
    };
    let ages = [&difference.expected, &difference.got];
    let are_ages = ages.into_iter().all(|value| {
        let text = value.as_ref().and_then(Value::as_str);
        text.is_some_and(|text| {
            text.starts_with(|first: char| first.is_ascii_digit())
                && text.ends_with(['s', 'm', 'h', 'd', 'y'])
                && text
                    .chars()
                    .all(|it| it.is_ascii_digit() || "smhdy".contains(it))
        })
    });
    cell() == Some("Age") && are_ages
}

/// The answer as it was written, and whether it is a list of events.
fn answer_tree(answer: &Answer) -> Option<(&Tree, bool)> {
    Some((answer.written.as_ref()?, answer.events.is_some()))
}

fn header(
    pointer: &str,
    expected: &Option<String>,
    got: &Option<String>,
    found: &mut Vec<Difference>,
) {
    let value = |text: &Option<String>| text.clone().map(Value::from);
    values(
        pointer,
        value(expected).as_ref(),
        value(got).as_ref(),
        found,
    );
}

/// Adds the differences between two values to those found so far.
fn values(
    pointer: &str,
    expected: Option<&Value>,
    got: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    match (expected, got) {
        (Some(Value::Object(e)), Some(Value::Object(g))) => {
            let mut names: Vec<&String> = e
                .keys()
                .chain(g.keys().filter(|name| !e.contains_key(*name)))
                .collect();
            names.sort();
            for name in names {
                let pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
                match (name.as_str(), e.get(name), g.get(name)) {
                    ("managedFields", Some(Value::Array(e)), Some(Value::Array(g))) => {
                        sets(&pointer, e, g, found)
                    }
                    (_, e, g) => values(&pointer, e, g, found),
                }
            }
        }
        (Some(Value::Array(e)), Some(Value::Array(g))) => {
            for i in 0..e.len().max(g.len()) {
                values(&format!("{pointer}/{i}"), e.get(i), g.get(i), found);
            }
        }
        (Some(Value::String(e)), Some(Value::String(g))) if e == g || printed(e) == printed(g) => {}
        (Some(Value::Object(_)), Some(Value::String(g)))
            if expected.is_some_and(|e| abbreviates(e, g)) => {}
        (e, g) if e == g => {}
        (e, g) => {
            found.push(Difference {
                pointer: pointer.to_owned(),
                expected: e.cloned(),
                got: g.cloned(),
            });
        }
    }
}

/// Compares two lists as sets. What is not equal to anything is compared with the entry of the
/// same manager, so that the difference shown is the one inside of it.
fn sets(pointer: &str, expected: &[Value], got: &[Value], found: &mut Vec<Difference>) {
    let equal = |e: &Value, g: &Value| {
        let mut differences = Vec::new();
        values("", Some(e), Some(g), &mut differences);
        differences.is_empty()
    };
    let mut missing: Vec<(usize, &Value)> = expected.iter().enumerate().collect();
    let mut additional: Vec<(usize, &Value)> = got.iter().enumerate().collect();
    pair_off(&mut missing, &mut additional, equal, |_, _, _| {});
    let related = |e: &Value, g: &Value| {
        ["manager", "operation", "apiVersion", "subresource"]
            .iter()
            .all(|name| e.get(name) == g.get(name))
    };
    pair_off(&mut missing, &mut additional, related, |i, e, g| {
        values(&format!("{pointer}/{i}"), Some(e), Some(g), found);
    });
    for (i, entry) in missing {
        values(&format!("{pointer}/{i}"), Some(entry), None, found);
    }
    for (i, entry) in additional {
        values(&format!("{pointer}/{i}"), None, Some(entry), found);
    }
}

/// Removes the entries that belong together from both lists.
fn pair_off(
    missing: &mut Vec<(usize, &Value)>,
    additional: &mut Vec<(usize, &Value)>,
    belongs: impl Fn(&Value, &Value) -> bool,
    mut pair: impl FnMut(usize, &Value, &Value),
) {
    missing.retain(|(_, e)| {
        let Some(at) = additional.iter().position(|(_, g)| belongs(e, g)) else {
            return true;
        };
        let (i, g) = additional.remove(at);
        pair(i, e, g);
        false
    });
}

/// Returns whether `{"$repeat": c, "$times": n}` stands for this text.
fn abbreviates(value: &Value, text: &str) -> bool {
    match (
        value["$repeat"].as_str(),
        value["$times"]
            .as_u64()
            .and_then(|times| usize::try_from(times).ok()),
    ) {
        (Some(part), Some(times)) => {
            part.len().checked_mul(times) == Some(text.len())
                && !part.is_empty()
                && text
                    .as_bytes()
                    .chunks(part.len())
                    .all(|chunk| chunk == part.as_bytes())
        }
        _ => false,
    }
}

/// A text in which the `managedFields` of a printed object are sorted as a set. All else of it is
/// compared as it is printed, the order of its members too.
fn printed(text: &str) -> String {
    const QUOTED: &str = "Invalid value: \"{";
    const PLAIN: &str = "'Kind' is missing in '";
    let rewritten = if let Some(at) = text.find(QUOTED) {
        let start = at + QUOTED.len() - 2;
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<String>();
        match values.next() {
            Some(Ok(json)) => canonical(&json).map(|json| {
                let end = start + values.byte_offset();
                format!("{}{json}{}", &text[..start], &text[end..])
            }),
            _ => None,
        }
    } else if let Some(at) = text.find(PLAIN) {
        let start = at + PLAIN.len();
        text.rfind("' (")
            .filter(|end| *end >= start)
            .and_then(|end| canonical(&text[start..end]))
            .map(|json| format!("{}{json}", &text[..start]))
    } else {
        None
    };
    rewritten.unwrap_or_else(|| text.to_owned())
}

fn canonical(json: &str) -> Option<String> {
    let mut tree: Tree = serde_json::from_str(json).ok()?;
    if let Some(mut metadata) = tree.get("metadata").cloned() {
        match metadata.get("managedFields").cloned() {
            Some(Tree::List(mut entries)) => {
                entries.sort_by_key(ToString::to_string);
                metadata.insert("managedFields", Tree::List(entries));
            }
            // What a patch has put there is no set: a version, which is not the same in two runs.
            Some(_) => metadata.insert("managedFields", Tree::Null),
            None => {}
        }
        tree.insert("metadata", metadata);
    }
    Some(tree.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences(expected: Value, got: Value) -> Vec<(String, Option<Value>, Option<Value>)> {
        let answer = |response| Answer {
            status: Some(200),
            response: Some(response),
            ..Answer::default()
        };
        let found = answers(&answer(expected), &answer(got));
        found
            .into_iter()
            .map(|d| (d.pointer, d.expected, d.got))
            .collect()
    }

    fn managed(entries: Value) -> Value {
        json!({"metadata": {"managedFields": entries}})
    }

    #[test]
    fn a_difference_has_a_pointer_and_both_values() {
        let found = differences(
            json!({"a/b": [1, {"c": 2}], "d": 1}),
            json!({"a/b": [1, {"c": 3}, 4]}),
        );
        assert_eq!(
            found,
            [
                (
                    "/response/a~1b/1/c".to_owned(),
                    Some(json!(2)),
                    Some(json!(3))
                ),
                ("/response/a~1b/2".to_owned(), None, Some(json!(4))),
                ("/response/d".to_owned(), Some(json!(1)), None),
            ]
        );
    }

    #[test]
    fn a_different_status_is_the_only_difference() {
        let answer = |status, response| Answer {
            status: Some(status),
            response: Some(response),
            ..Answer::default()
        };
        let found = answers(&answer(409, json!({})), &answer(200, json!({"a": 1})));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].pointer, "/status");
    }

    #[test]
    fn managed_fields_are_a_set() {
        let (a, b) = (json!({"manager": "a"}), json!({"manager": "b"}));
        assert_eq!(
            differences(managed(json!([a, b])), managed(json!([b, a]))),
            []
        );
        assert_eq!(
            differences(managed(json!([a, a])), managed(json!([a, b]))).len(),
            2
        );
    }

    #[test]
    fn a_different_entry_is_compared_with_that_of_the_same_manager() {
        let entry =
            |manager: &str, field: &str| json!({"manager": manager, "fieldsV1": {field: {}}});
        let found = differences(
            managed(json!([entry("a", "f:x"), entry("b", "f:x")])),
            managed(json!([entry("b", "f:x"), entry("a", "f:y")])),
        );
        let pointers: Vec<_> = found.iter().map(|d| d.0.as_str()).collect();
        assert_eq!(
            pointers,
            [
                "/response/metadata/managedFields/1/fieldsV1/f:x",
                "/response/metadata/managedFields/1/fieldsV1/f:y"
            ]
        );
    }

    #[test]
    fn other_lists_are_ordered() {
        assert_eq!(differences(json!([1, 2]), json!([2, 1])).len(), 2);
    }

    #[test]
    fn printed_objects_are_compared_in_their_order_with_managed_fields_as_a_set() {
        let message = |object: &str| {
            json!(format!(
                "x: Invalid value: {}: cannot {{",
                Value::from(object)
            ))
        };
        let with = |entries: &str| {
            message(&format!(
                r#"{{"metadata":{{"managedFields":{entries},"name":"n"}},"a":1}}"#
            ))
        };
        let one = with(r#"[{"x":1,"y":2},{"z":3}]"#);
        assert_eq!(
            differences(one.clone(), with(r#"[{"z":3},{"x":1,"y":2}]"#)),
            []
        );
        for other in [r#"[{"z":3},{"y":2,"x":1}]"#, r#"[{"z":3}]"#] {
            assert_eq!(differences(one.clone(), with(other)).len(), 1, "{other}");
        }
        let other = r#"{"a":1,"metadata":{"managedFields":[{"x":1,"y":2},{"z":3}],"name":"n"}}"#;
        assert_eq!(differences(one, message(other)).len(), 1);
        let kind = |object: &str| json!(format!("Object 'Kind' is missing in '{object}' (a)"));
        let two = kind(r#"{"b":1,"a":2}"#);
        assert_eq!(differences(two.clone(), kind(r#"{"b": 1, "a": 2}"#)), []);
        assert_eq!(differences(two, kind(r#"{"a":2,"b":1}"#)).len(), 1);
        assert_eq!(differences(kind("{"), kind("{{")).len(), 1);
    }

    #[test]
    fn an_age_is_one_in_the_column_of_a_table_for_ages_only() {
        let table = |name: &str, age: &str| Answer {
            status: Some(200),
            response: Some(json!({
                "columnDefinitions": [{"name": "Name"}, {"name": "Age"}],
                "rows": [{"cells": [name, age]}],
            })),
            ..Answer::default()
        };
        let are_ages = |expected: Answer, got: Answer| -> Vec<bool> {
            let found = answers(&expected, &got);
            found.iter().map(|it| is_age(&expected, it)).collect()
        };
        assert_eq!(are_ages(table("18s", "18s"), table("18s", "2m5s")), [true]);
        assert_eq!(are_ages(table("18s", "18s"), table("19s", "18s")), [false]);
        assert_eq!(
            are_ages(table("a", "18s"), table("a", "<unknown>")),
            [false]
        );
        assert_eq!(are_ages(table("a", "18s"), table("a", "s")), [false]);
    }

    #[test]
    fn long_runs_are_recorded_in_short() {
        let short = json!({"a": {"$repeat": "x", "$times": 30000}});
        assert_eq!(
            differences(short.clone(), json!({"a": "x".repeat(30000)})),
            []
        );
        assert_eq!(differences(short, json!({"a": "x".repeat(29999)})).len(), 1);
    }

    #[test]
    fn versions_of_collections_are_not_compared() {
        let list = |version: &str| json!({"kind": "PodList", "metadata": {"resourceVersion": version}, "items": []});
        assert_eq!(differences(list("listrv1"), list("rv9")), []);
    }

    #[test]
    fn warnings_count_for_successful_requests_only() {
        let answer = |status, warnings: &[&str]| Answer {
            status: Some(status),
            warnings: warnings.iter().map(|w| (*w).to_owned()).collect(),
            ..Answer::default()
        };
        assert_eq!(
            answers(&answer(200, &["a"]), &answer(200, &[]))[0].pointer,
            "/warnings/0"
        );
        assert_eq!(answers(&answer(409, &[]), &answer(409, &["a"])), []);
    }
}

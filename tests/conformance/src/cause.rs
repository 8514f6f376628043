//! Failures grouped by what probably causes them, for working through many sequences.
//!
//! Counted is the first difference of every recording: later ones are mostly its consequences.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex_lite::{Captures, Regex};
use serde_json::Value;

use super::compare::Difference;
use super::display::message_of;
use super::recording::Answer;
use super::replay::{Failure, Outcome, Problem, Report};

/// The number of groups that are shown.
const GROUPS: usize = 40;

/// The characters of a message's pattern that count.
const WIDTH: usize = 160;

/// The groups of failures with their sizes and an example each, the largest first.
pub fn summary(reports: &[Report]) -> String {
    let mut groups: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for report in reports {
        if let Outcome::Failed(failures) = &report.outcome
            && let Some(first) = failures.first()
        {
            let example = || (0, format!("{} step {}", report.name, first.step));
            groups.entry(cause(first)).or_insert_with(example).0 += 1;
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    let mut text = String::new();
    for (cause, (count, example)) in groups.iter().take(GROUPS) {
        text += &format!("{count:5}  {cause}\n       e.g. {example}\n");
    }
    if groups.len() > GROUPS {
        let rest: usize = groups[GROUPS..].iter().map(|(_, (count, _))| count).sum();
        text += &format!("{rest:5}  in {} smaller groups\n", groups.len() - GROUPS);
    }
    text
}

fn cause(failure: &Failure) -> String {
    match &failure.problem {
        Problem::Stopped(message) => pattern(message),
        Problem::Stale { .. } => "stale exception".to_owned(),
        Problem::Different {
            expected,
            got,
            differences,
        } => differences
            .first()
            .map_or_else(String::new, |first| of_difference(first, expected, got)),
    }
}

fn of_difference(difference: &Difference, expected: &Answer, got: &Answer) -> String {
    let side = |value: Option<&Value>, answer: &Answer| {
        let shape = shape_of(value);
        match message_of(answer.response.as_ref()).filter(|_| difference.pointer == "/status") {
            Some(message) => format!("{shape} {}", pattern(message)),
            None => shape,
        }
    };
    format!(
        "{} expected {}, got {}",
        pointer_shape(&difference.pointer),
        side(difference.expected.as_ref(), expected),
        side(difference.got.as_ref(), got),
    )
}

/// A pointer without the parts that differ between objects: indices and keys of list items.
fn pointer_shape(pointer: &str) -> String {
    let part = |part: &str| {
        if !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) {
            "*".to_owned()
        } else if part.starts_with("k:") || part.starts_with("v:") {
            format!("{}…", &part[..2])
        } else {
            part.to_owned()
        }
    };
    pointer.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// Returns the kind of a value; messages as patterns, HTTP statuses and truth values as they are.
fn shape_of(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) if text.contains(' ') => pattern(text),
        Some(Value::String(text)) if text.starts_with("rv") => "rvN".to_owned(),
        Some(Value::String(_)) => "a string".to_owned(),
        Some(Value::Number(number))
            if (100..600).contains(&number.as_u64().unwrap_or_default()) =>
        {
            number.to_string()
        }
        Some(Value::Number(_)) => "a number".to_owned(),
        Some(Value::Array(items)) if items.is_empty() => "[]".to_owned(),
        Some(Value::Array(_)) => "a list".to_owned(),
        Some(Value::Object(members)) if members.is_empty() => "{}".to_owned(),
        Some(Value::Object(_)) => "an object".to_owned(),
        Some(other) => other.to_string(),
    }
}

/// A message without what is particular to one object: quoted texts and numbers.
fn pattern(message: &str) -> String {
    static PARTICULAR: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#""(?:[^"\\]|\\.)*"|\d+"#).expect("the pattern is valid"));
    let message = PARTICULAR.replace_all(message, |found: &Captures<'_>| {
        match found[0].starts_with('"') {
            true => "\"…\"",
            false => "N",
        }
    });
    message.replace('\n', "\\n").chars().take(WIDTH).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(name: &str, pointer: &str, expected: Value, got: Value) -> Report {
        let difference = Difference {
            pointer: pointer.into(),
            expected: Some(expected),
            got: Some(got),
        };
        let problem = Problem::Different {
            expected: Box::default(),
            got: Box::default(),
            differences: vec![difference],
        };
        let failure = Failure {
            step: 3,
            request: String::new(),
            problem,
        };
        Report {
            name: name.into(),
            outcome: Outcome::Failed(vec![failure]),
        }
    }

    #[test]
    fn equal_causes_are_counted_together_and_the_largest_group_is_first() {
        let text = summary(&[
            report("one", "/response/metadata/name", json!("x"), json!("y")),
            report(
                "two",
                "/response/list/0/message",
                json!("no \"a\" at 12"),
                json!("none"),
            ),
            report(
                "three",
                "/response/list/7/message",
                json!("no \"b\" at 3"),
                json!("nil"),
            ),
        ]);
        assert_eq!(
            text,
            "    2  /response/list/*/message expected no \"…\" at N, got a string\n       e.g. two step 3\n    \
                 1  /response/metadata/name expected a string, got a string\n       e.g. one step 3\n"
        );
    }
}

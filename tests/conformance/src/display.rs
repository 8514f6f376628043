//! Reports as text: one line each, or a whole failing step.

use std::fmt::Write;

use serde_json::Value;

use super::compare::Difference;
use super::replay::{Failure, Outcome, Problem, Report};

/// The characters of a value that a line shows.
const WIDTH: usize = 120;

/// The line of a report, with the first thing that went wrong.
pub fn line(report: &Report) -> String {
    let name = &report.name;
    match &report.outcome {
        Outcome::Passed { known: 0 } => format!("ok {name}"),
        Outcome::Passed { known: 1 } => format!("ok {name} (1 known difference)"),
        Outcome::Passed { known } => format!("ok {name} ({known} known differences)"),
        Outcome::Skipped { needs } => format!("skip {name}: needs {}", needs.join(", ")),
        Outcome::Failed(failures) => failures.first().map_or_else(
            || format!("FAIL {name}"),
            |failure| format!("FAIL {name} {}", what(failure)),
        ),
    }
}

/// The first failing step of a report in full: the request, the recorded answer and the actual
/// answer.
pub fn whole_step(report: &Report) -> Option<String> {
    let Outcome::Failed(failures) = &report.outcome else {
        return None;
    };
    let first = failures.first()?;
    let mut text = String::new();
    if !first.request.is_empty() {
        section(
            &mut text,
            "request",
            &request_with_pretty_body(&first.request),
        );
    }
    if let Problem::Different {
        expected,
        got,
        differences,
    } = &first.problem
    {
        section(&mut text, "recorded", &pretty(&expected.to_value()));
        section(&mut text, "answered", &pretty(&got.to_value()));
        let lines: Vec<String> = differences.iter().map(difference_line).collect();
        section(&mut text, "differences", &lines.join("\n"));
    }
    if failures.len() > 1 {
        let steps: Vec<String> = failures[1..]
            .iter()
            .map(|failure| failure.step.to_string())
            .collect();
        section(
            &mut text,
            "also failing",
            &format!("steps {}", steps.join(", ")),
        );
    }
    Some(text)
}

fn section(text: &mut String, title: &str, content: &str) {
    let _ = writeln!(text, "  {title}:");
    for line in content.lines() {
        let _ = writeln!(text, "    {line}");
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|e| e.to_string())
}

/// The request with its last line, a JSON body, spread over lines.
fn request_with_pretty_body(request: &str) -> String {
    let Some((head, body)) = request.rsplit_once('\n') else {
        return request.to_owned();
    };
    match serde_json::from_str::<Value>(body) {
        Ok(value) => format!("{head}\n{}", pretty(&value)),
        Err(_) => request.to_owned(),
    }
}

fn what(failure: &Failure) -> String {
    let step = failure.step;
    match &failure.problem {
        Problem::Stopped(message) => format!("step {step}: {message}"),
        Problem::Stale { pointer } => {
            format!("step {step}: stale exception: {pointer} no longer differs")
        }
        Problem::Different {
            got, differences, ..
        } => {
            let mut line = format!("step {step}: ");
            if let Some(first) = differences.first() {
                line += &difference_line(first);
                if first.pointer == "/status"
                    && let Some(message) = message_of(got.response.as_ref())
                {
                    line += &format!(" ({})", cut(message, 0));
                }
            }
            line
        }
    }
}

/// The message of a failure.
pub(super) fn message_of(response: Option<&Value>) -> Option<&str> {
    response?.get("message")?.as_str()
}

fn difference_line(difference: &Difference) -> String {
    let (expected, got) = excerpts(difference.expected.as_ref(), difference.got.as_ref());
    format!("{} expected {expected}, got {got}", difference.pointer)
}

/// Both values, compact and cut so that the place where they begin to differ can be seen.
fn excerpts(expected: Option<&Value>, got: Option<&Value>) -> (String, String) {
    let text = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    let (expected, got) = (text(expected), text(got));
    let same = expected
        .chars()
        .zip(got.chars())
        .take_while(|(e, g)| e == g)
        .count();
    let longest = expected.chars().count().max(got.chars().count());
    let from = if longest > WIDTH && same > WIDTH / 2 {
        same - WIDTH / 4
    } else {
        0
    };
    (cut(&expected, from), cut(&got, from))
}

fn cut(text: &str, from: usize) -> String {
    let before = if from > 0 { "…" } else { "" };
    let mut rest = text.chars().skip(from);
    let shown: String = rest.by_ref().take(WIDTH).collect();
    let after = if rest.next().is_some() { "…" } else { "" };
    format!("{before}{}{after}", shown.replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_values_are_cut_around_the_first_difference() {
        let text = |end: &str| json!(format!("{}{end}{}", "a".repeat(200), "b".repeat(300)));
        let (expected, got) = excerpts(Some(&text("1")), Some(&text("2")));
        assert!(
            expected.starts_with("…aaa") && expected.contains("a1b") && expected.ends_with("b…")
        );
        assert!(got.contains("a2b"));
        assert_eq!(
            excerpts(Some(&json!({"a": 1})), None),
            ("{\"a\":1}".to_owned(), "nothing".to_owned())
        );
    }
}

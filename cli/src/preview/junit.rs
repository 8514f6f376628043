//! A preview as JUnit, which a CI shows: an object a test, a refusal a failure.

use std::fmt::Write;

use optimist_diagnose::preview::Preview;
use optimist_messages::preview as messages;

/// A preview as JUnit.
pub fn document(preview: &Preview) -> String {
    let failures = preview.rows.iter().filter(|it| it.outcome.is_refusal());
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuite name=\"optimist preview\" tests=\"{}\" failures=\"{}\">",
        preview.rows.len(),
        failures.count()
    );
    for row in &preview.rows {
        let _ = writeln!(
            out,
            "  <testcase classname=\"{}\" name=\"{}\">",
            escaped(&messages::outcome(row.outcome)),
            escaped(&row.object.id().to_string())
        );
        let said = super::description(row);
        if row.outcome.is_refusal() {
            let _ = writeln!(
                out,
                "    <failure message=\"{}\">{}</failure>",
                escaped(&messages::outcome(row.outcome)),
                escaped(&said)
            );
        } else if !row.troubles.is_empty() || row.hook.is_some() {
            let _ = writeln!(out, "    <system-out>{}</system-out>", escaped(&said));
        }
        out.push_str("  </testcase>\n");
    }
    out.push_str("</testsuite>\n");
    out
}

/// A text in XML, without the characters that XML does not have.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(character),
            it if it.is_control() || matches!(it, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            it => out.push(it),
        }
    }
    out
}

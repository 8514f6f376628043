//! The `Warning` headers of an answer (`k8s.io/apiserver/pkg/endpoints/filters/warning.go`, and
//! `NewWarningHeader` of `k8s.io/apimachinery/pkg/util/net`).

use std::collections::BTreeSet;

use http::HeaderValue;

/// Up to this number of characters, all warnings are sent whole (`truncateAtTotalRunes`).
const MOST: usize = 4 * 1024;
/// Beyond that, the number of characters of each warning (`truncateItemRunes`).
const MAX_EACH: usize = 256;

/// More warnings than this, if no two are equal, cannot all be sent: who makes them may stop.
pub(super) const MAX_WARNINGS: usize = MOST;

/// The headers for warnings: each is sent once. If they are too long together, each is shortened,
/// and the last ones are left out.
pub(super) fn headers(warnings: &[String]) -> Vec<HeaderValue> {
    let mut known = BTreeSet::new();
    let distinct = warnings
        .iter()
        .filter(|text| !text.is_empty() && known.insert(text.as_str()));
    let sendable: Vec<&str> = distinct
        .map(String::as_str)
        // What a header cannot hold is not sent, and does not count.
        .filter(|text| header(text).is_some())
        .take(MAX_WARNINGS)
        .collect();
    let total: usize = sendable.iter().map(|text| text.chars().count()).sum();
    if total <= MOST {
        return sendable.into_iter().filter_map(header).collect();
    }
    let mut written = 0;
    let mut headers = Vec::new();
    for text in sendable {
        if written >= MOST {
            break;
        }
        let end = text
            .char_indices()
            .nth(MAX_EACH)
            .map_or(text.len(), |(at, _)| at);
        let text = text.get(..end).unwrap_or(text);
        written += text.chars().count();
        headers.extend(header(text));
    }
    headers
}

fn header(text: &str) -> Option<HeaderValue> {
    let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
    HeaderValue::try_from(format!("299 - \"{quoted}\"")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(warnings: &[String]) -> Vec<String> {
        let headers = headers(warnings);
        let text = |header: &HeaderValue| String::from_utf8_lossy(header.as_bytes()).into_owned();
        headers.iter().map(text).collect()
    }

    #[test]
    fn a_warning_is_sent_once_and_one_with_a_line_break_not_at_all() {
        let texts = ["a \"b\"", "a \"b\"", "", "c\nd", "e"].map(str::to_owned);
        assert_eq!(sent(&texts), [r#"299 - "a \"b\"""#, r#"299 - "e""#]);
    }

    #[test]
    fn warnings_that_are_long_together_are_shortened_and_end_at_the_limit() {
        let exact: Vec<String> = (0..8).map(|i| i.to_string().repeat(512)).collect();
        assert_eq!(sent(&exact).iter().map(String::len).sum::<usize>(), 8 * 520);
        let mut more = exact;
        more.push("é".repeat(300));
        let shortened = sent(&more);
        assert_eq!(shortened.len(), 9);
        assert_eq!(shortened[8], format!("299 - \"{}\"", "é".repeat(256)));
        let many: Vec<String> = (0..40_000).map(|i| format!("warning {i:05}")).collect();
        // 316 of 13 characters are the first to reach 4096.
        assert_eq!(sent(&many).len(), 316);
    }
}

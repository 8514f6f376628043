//! PEM as Go reads it (`encoding/pem`).

use super::base64;

const BEGIN: &str = "-----BEGIN ";
const DASHES: &str = "-----";

/// A block of PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PemBlock<'a> {
    /// The kind of its content, as `CERTIFICATE`.
    pub label: &'a str,
    /// `true` if lines with a name and a value come before the content.
    pub has_headers: bool,
    /// The decoded content.
    pub bytes: Vec<u8>,
}

/// Returns the blocks of a text. A part that is not a whole block is passed over, as by calling `pem.Decode` until it
/// finds no block.
pub fn blocks(text: &str) -> Vec<PemBlock<'_>> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\n-----END ") {
        // Of several lines that begin a block, the last one counts.
        let begin = before.rfind(BEGIN).filter(|at| starts_line(before, *at));
        let block = begin.and_then(|at| block(&before[at + BEGIN.len()..], after));
        rest = after;
        blocks.extend(block);
    }
    blocks
}

fn starts_line(text: &str, at: usize) -> bool {
    at == 0 || text[..at].ends_with('\n')
}

/// Returns the block between the words that begin and end it: `head` begins with its label, `tail` repeats the label.
fn block<'a>(head: &'a str, tail: &str) -> Option<PemBlock<'a>> {
    let (line, body) = head.split_once('\n').unwrap_or((head, ""));
    let label = line.trim_end().strip_suffix(DASHES)?;
    let end = tail.strip_prefix(label)?.strip_prefix(DASHES)?;
    let end = end.split_once('\n').map_or(end, |(line, _)| line);
    let (has_headers, body) = skip_headers(body)?;
    let encoded = body.replace([' ', '\t'], "");
    let bytes = base64::decoded(&encoded)?;
    end.trim_end().is_empty().then_some(PemBlock {
        label,
        has_headers,
        bytes,
    })
}

/// Skips the lines with a colon before the content, and returns whether there are any. `None` if nothing comes after
/// them.
fn skip_headers(body: &str) -> Option<(bool, &str)> {
    let mut rest = body;
    loop {
        let line = rest.split('\n').next().unwrap_or_default();
        if !line.contains(':') {
            return Some((rest.len() < body.len(), rest));
        }
        rest = rest.split_once('\n')?.1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Vec<&str> {
        blocks(text).into_iter().map(|it| it.label).collect()
    }

    #[test]
    fn a_block_has_its_label_and_its_content() {
        let text = "note\n-----BEGIN A B-----\nAQ\nI=\n-----END A B-----\n";
        let expected = PemBlock {
            label: "A B",
            has_headers: false,
            bytes: vec![1, 2],
        };
        assert_eq!(blocks(text), [expected]);
        let headers = "-----BEGIN A-----\nName: value\n\nAQI=\n-----END A-----";
        assert!(blocks(headers)[0].has_headers);
        assert_eq!(labels("-----BEGIN A-----\n-----END A-----"), ["A"]);
    }

    #[test]
    fn a_part_that_is_no_block_is_passed_over() {
        let whole = "-----BEGIN C-----\nAQI=\n-----END C-----\n";
        for part in [
            "-----BEGIN A-----\nAQI=\n-----END B-----\n",
            "-----BEGIN A-----\nno-base64\n-----END A-----\n",
            "-----BEGIN A-----\nAQI=\n",
            " -----BEGIN A-----\nAQI=\n-----END A-----\n",
            "-----BEGIN A\nAQI=\n-----END A-----\n",
            "-----BEGIN A-----\nAQI=\n-----END A----- more\n",
            "-----BEGIN A-----\nName: value\n-----END A-----\n",
        ] {
            assert_eq!(labels(&format!("{part}{whole}")), ["C"], "{part}");
        }
    }
}

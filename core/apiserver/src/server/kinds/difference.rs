//! A unified diff of two texts (`k8s.io/apimachinery/pkg/util/diff` over the Go port of Python's
//! `difflib`), with three lines of context and no heads.

use std::collections::HashMap;

/// The number of equal lines around a change.
const CONTEXT: usize = 3;
/// From this many lines on, lines that repeat a lot do not anchor a match.
const MANY: usize = 200;

/// Lines `from..from_end` of one text that became lines `to..to_end` of the other.
#[derive(Clone, Copy, Debug)]
struct ChangedLines {
    equal: bool,
    from: usize,
    from_end: usize,
    to: usize,
    to_end: usize,
}

/// The difference between two texts; empty if they are equal.
pub(super) fn unified(from: &str, to: &str) -> String {
    let a: Vec<&str> = from.split('\n').collect();
    let b: Vec<&str> = to.split('\n').collect();
    let mut out = String::new();
    for group in groups(&spans(&a, &b)) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let removed = range(first.from, last.from_end);
        let added = range(first.to, last.to_end);
        out.push_str(&format!("@@ -{removed} +{added} @@\n"));
        for span in &group {
            let mut write = |sign: char, lines: &[&str]| {
                for line in lines {
                    out.push(sign);
                    out.push_str(line);
                    out.push('\n');
                }
            };
            if span.equal {
                write(' ', &a[span.from..span.from_end]);
            } else {
                write('-', &a[span.from..span.from_end]);
                write('+', &b[span.to..span.to_end]);
            }
        }
    }
    out
}

/// A range of lines as heads of hunks show it.
fn range(start: usize, end: usize) -> String {
    match end - start {
        1 => (start + 1).to_string(),
        0 => format!("{start},0"),
        length => format!("{},{length}", start + 1),
    }
}

/// All of both texts, equal and changed spans in turn.
fn spans(a: &[&str], b: &[&str]) -> Vec<ChangedLines> {
    let mut blocks = Matcher::new(a, b).blocks();
    blocks.push((a.len(), b.len(), 0));
    let mut spans = Vec::new();
    let (mut i, mut j) = (0, 0);
    for (from, to, size) in blocks {
        if i < from || j < to {
            spans.push(ChangedLines {
                equal: false,
                from: i,
                from_end: from,
                to: j,
                to_end: to,
            });
        }
        (i, j) = (from + size, to + size);
        if size > 0 {
            spans.push(ChangedLines {
                equal: true,
                from,
                from_end: i,
                to,
                to_end: j,
            });
        }
    }
    spans
}

/// Changes with their context; far ones stand apart.
fn groups(spans: &[ChangedLines]) -> Vec<Vec<ChangedLines>> {
    let mut spans = spans.to_vec();
    if let Some(first) = spans.first_mut().filter(|span| span.equal) {
        first.from = first.from.max(first.from_end.saturating_sub(CONTEXT));
        first.to = first.to.max(first.to_end.saturating_sub(CONTEXT));
    }
    if let Some(last) = spans.last_mut().filter(|span| span.equal) {
        last.from_end = last.from_end.min(last.from + CONTEXT);
        last.to_end = last.to_end.min(last.to + CONTEXT);
    }
    let mut groups = Vec::new();
    let mut group: Vec<ChangedLines> = Vec::new();
    for mut span in spans {
        if span.equal && span.from_end - span.from > 2 * CONTEXT {
            group.push(ChangedLines {
                from_end: span.from + CONTEXT,
                to_end: span.to + CONTEXT,
                ..span
            });
            groups.push(std::mem::take(&mut group));
            span.from = span.from_end - CONTEXT;
            span.to = span.to_end - CONTEXT;
        }
        group.push(span);
    }
    groups.push(group);
    groups.retain(|group| group.iter().any(|span| !span.equal));
    groups
}

/// Finds the common parts of two texts (`difflib.SequenceMatcher`).
struct Matcher<'a> {
    a: &'a [&'a str],
    b: &'a [&'a str],
    /// The places of each line of `b`, but for lines that repeat too often.
    places: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Matcher<'a> {
    fn new(a: &'a [&'a str], b: &'a [&'a str]) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (j, line) in b.iter().enumerate() {
            places.entry(line).or_default().push(j);
        }
        if b.len() >= MANY {
            let most = b.len() / 100 + 1;
            places.retain(|_, places| places.len() <= most);
        }
        Self { a, b, places }
    }

    /// The common blocks in order, adjacent ones joined: where in each text, and how long.
    fn blocks(&self) -> Vec<(usize, usize, usize)> {
        let mut found = Vec::new();
        // Depth first by hand, so that no text is deep enough to overflow a stack.
        let mut open = vec![(0, self.a.len(), 0, self.b.len())];
        while let Some((a, a_end, b, b_end)) = open.pop() {
            let (i, j, size) = self.longest(a, a_end, b, b_end);
            if size == 0 {
                continue;
            }
            found.push((i, j, size));
            if a < i && b < j {
                open.push((a, i, b, j));
            }
            if i + size < a_end && j + size < b_end {
                open.push((i + size, a_end, j + size, b_end));
            }
        }
        found.sort_unstable();
        let mut blocks: Vec<(usize, usize, usize)> = Vec::new();
        for (i, j, size) in found {
            match blocks.last_mut() {
                Some((from, to, length)) if *from + *length == i && *to + *length == j => {
                    *length += size;
                }
                _ => blocks.push((i, j, size)),
            }
        }
        blocks
    }

    /// The longest common block within bounds; of several the first.
    fn longest(&self, a: usize, a_end: usize, b: usize, b_end: usize) -> (usize, usize, usize) {
        let (mut i, mut j, mut size) = (a, b, 0);
        let mut lengths: HashMap<usize, usize> = HashMap::new();
        for x in a..a_end {
            let mut next = HashMap::new();
            let places = self.places.get(self.a[x]).into_iter().flatten();
            for &y in places.filter(|&&y| (b..b_end).contains(&y)) {
                let before = y.checked_sub(1).and_then(|y| lengths.get(&y));
                let length = before.unwrap_or(&0) + 1;
                next.insert(y, length);
                if length > size {
                    (i, j, size) = (x + 1 - length, y + 1 - length, length);
                }
            }
            lengths = next;
        }
        while i > a && j > b && self.a[i - 1] == self.b[j - 1] {
            (i, j, size) = (i - 1, j - 1, size + 1);
        }
        while i + size < a_end && j + size < b_end && self.a[i + size] == self.b[j + size] {
            size += 1;
        }
        (i, j, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_do_not_differ() {
        assert_eq!(unified("a\nb", "a\nb"), "");
        assert_eq!(unified("", ""), "");
    }

    #[test]
    fn a_change_is_shown_with_three_lines_around_it() {
        assert_eq!(
            unified("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nx\ny\n6\n7\n8\n9"),
            "@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+x\n+y\n 6\n 7\n 8\n"
        );
    }

    #[test]
    fn far_changes_stand_apart_and_near_ones_together() {
        let numbers = |changed: &[usize]| -> String {
            let line = |i| match changed.contains(&i) {
                true => format!("x{i}"),
                false => i.to_string(),
            };
            (0..20).map(line).collect::<Vec<_>>().join("\n")
        };
        let far = unified(&numbers(&[]), &numbers(&[1, 18]));
        assert_eq!(far.matches("@@ -").count(), 2);
        let near = unified(&numbers(&[]), &numbers(&[8, 15]));
        assert_eq!(near.matches("@@ -").count(), 1);
        assert!(unified("a", "a\nb").starts_with("@@ -1 +1,2 @@\n"));
    }
}

//! The lines in which two manifests differ.

/// The most comparisons of lines.
const COMPARISONS: usize = 4_000_000;

/// The lines that go (`-`) and come (`+`), each with the lines that it stands below. `None` if nothing
/// differs, or the texts are too long to be compared.
pub(super) fn changed_lines(before: &str, after: &str) -> Option<String> {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let merged = merged(&before, &after)?;
    let mut shown = vec![false; merged.len()];
    for at in (0..merged.len()).filter(|at| merged[*at].0 != ' ') {
        shown[at] = true;
        let mut depth = depth(merged[at].1);
        for above in (0..at).rev() {
            let (mark, line) = merged[above];
            // A line that goes stands below lines that stay or go, a line that comes below others.
            let other = mark != ' ' && mark != merged[at].0;
            if !other && self::depth(line) < depth {
                depth = self::depth(line);
                shown[above] = true;
            }
        }
    }
    let lines = merged.iter().zip(shown).filter(|(_, shown)| *shown);
    let text: String = lines
        .map(|((mark, line), _)| format!("{mark} {line}\n"))
        .collect();
    (!text.is_empty()).then_some(text)
}

/// How deep a line stands: an item of a list is below a name that has the same indentation.
fn depth(line: &str) -> usize {
    let indentation = line.len() - line.trim_start().len();
    2 * indentation + usize::from(line.trim_start().starts_with("- "))
}

/// Both texts as one, with a mark for each line (a longest common subsequence).
fn merged<'a>(before: &[&'a str], after: &[&'a str]) -> Option<Vec<(char, &'a str)>> {
    let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (old, new) = (&before[same..], &after[same..]);
    if old.len().saturating_mul(new.len()) > COMPARISONS {
        return None;
    }
    let width = new.len() + 1;
    let mut common = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let mut merged: Vec<(char, &str)> = before[..same].iter().map(|line| (' ', *line)).collect();
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        let goes = |i: usize, j: usize| common[(i + 1) * width + j] >= common[i * width + j + 1];
        if i < old.len() && j < new.len() && old[i] == new[j] {
            merged.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j == new.len() || goes(i, j)) {
            merged.push(('-', old[i]));
            i += 1;
        } else {
            merged.push(('+', new[j]));
            j += 1;
        }
    }
    Some(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_with_the_lines_that_it_stands_below() {
        let before =
            "kind: A\nspec:\n  replicas: 3\n  list:\n  - name: a\n    image: x\n  - name: b\n";
        let after = "kind: A\nspec:\n  list:\n  - name: a\n    image: y\n  - name: b\n";
        let expected =
            "  spec:\n-   replicas: 3\n    list:\n    - name: a\n-     image: x\n+     image: y\n";
        assert_eq!(changed_lines(before, after).as_deref(), Some(expected));
        assert_eq!(changed_lines(before, before), None);
        let long = "a\n".repeat(3000);
        assert_eq!(changed_lines(&long, &long.replace('a', "b")), None);
    }
}

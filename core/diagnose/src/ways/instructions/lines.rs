//! The lines in which two manifests differ.

/// The most comparisons of lines.
const COMPARISONS: usize = 4_000_000;

/// The lines that go (`-`) and come (`+`), each with the lines that it stands below. `None` if nothing
/// differs, or the texts are too long to be compared.
pub(super) fn changed_lines(before: &str, after: &str) -> Option<String> {
    let [before, after] = [names_first(before), names_first(after)];
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    let after: Vec<&str> = after.iter().map(String::as_str).collect();
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

/// Lines of [`changed_lines`] without their values. An item of a list that is a value is a dash alone: an
/// argument of a command can be a password.
pub(super) fn names_alone(lines: &str) -> String {
    lines
        .lines()
        .map(|line| {
            let (mark, content) = line.split_at(line.len().min(1));
            let mut rest = content.trim_start();
            while let Some(item) = rest.strip_prefix("- ") {
                rest = item.trim_start();
            }
            let before = &content[..content.len() - rest.len()];
            format!("{mark}{}\n", format!("{before}{}", key(rest)).trim_end())
        })
        .collect()
}

/// The key at the start of a line with its colon; empty if the line has a value alone.
fn key(line: &str) -> &str {
    let quoted = line.strip_prefix('"').map_or(0, |inner| {
        let mut escaped = false;
        let end = inner.find(|letter| {
            let ends = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            ends
        });
        end.map_or(line.len(), |end| end + 2)
    });
    let rest = &line[quoted..];
    let colon = match rest.find(": ") {
        _ if quoted > 0 => rest.starts_with(':').then_some(0),
        None => rest.ends_with(':').then(|| rest.len() - 1),
        colon => colon,
    };
    colon.map_or("", |colon| &line[..quoted + colon + 1])
}

/// The lines of a text of YAML, where each item of a list begins with its name: then the lines above a
/// line name the item.
fn names_first(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // The indentation of the key of a text in lines, in which nothing is YAML.
    let mut in_text: Option<usize> = None;
    for at in 0..lines.len() {
        let indentation = indentation(&lines[at]);
        if in_text.is_some_and(|of| indentation > of || lines[at].is_empty()) {
            continue;
        }
        in_text = lines[at].ends_with(['|', '-', '+']).then_some(indentation);
        in_text = in_text.filter(|_| lines[at].contains(": |"));
        let Some(first) = lines[at].trim_start().strip_prefix("- ") else {
            continue;
        };
        let within = " ".repeat(indentation + 2);
        let name = format!("{within}name: ");
        let item = lines[at + 1..]
            .iter()
            .take_while(|line| line.starts_with(&within));
        let Some(place) = item.clone().position(|line| line.starts_with(&name)) else {
            continue;
        };
        if first.starts_with("name: ") || item.take(place).any(|line| line.contains(": |")) {
            continue;
        }
        let first = format!("{within}{first}");
        let name = lines.remove(at + 1 + place);
        lines[at] = first;
        lines.insert(
            at,
            format!("{}- {}", " ".repeat(indentation), name.trim_start()),
        );
    }
    lines
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the depth of a line: an item of a list is below a name that has the same indentation.
fn depth(line: &str) -> usize {
    2 * indentation(line) + usize::from(line.trim_start().starts_with("- "))
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
    fn a_line_without_its_value_has_no_item_of_a_list() {
        let lines = "  spec:\n-   args:\n-   - \"--password=p\"\n-   - secret\n-   - - a\n+   \"80\": x\n\
                     +   \"a: \\\"b\": x\n    - name: n\n-   - image: \"a: b\"\n-   - \"a: b\"\n-   - b:c\n";
        assert_eq!(
            names_alone(lines),
            "  spec:\n-   args:\n-   -\n-   -\n-   - -\n+   \"80\":\n+   \"a: \\\"b\":\n    - name:\n\
             -   - image:\n-   -\n-   -\n"
        );
    }

    #[test]
    fn an_item_begins_with_its_name() {
        let before = "list:\n- image: x\n  name: a\n- env:\n  - name: E\n  name: b\n";
        let after = before.replace("- image: x\n  name: a", "- name: a");
        let expected = "  list:\n  - name: a\n-   image: x\n";
        assert_eq!(changed_lines(before, &after).as_deref(), Some(expected));
        let text = "data:\n  a: |\n    - image: x\n      name: a\n  b: c\n";
        assert_eq!(names_first(text), text.lines().collect::<Vec<_>>());
    }

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

//! The lines in which two manifests differ.

use optimist_apiserver::apply::Path;
use optimist_apiserver::go::base64;
use optimist_apiserver::server::Fact;
use optimist_client::{Preset, to_yaml};
use optimist_masking::{MASK, Masking, STAND_IN};
use serde_json::Value;

use super::super::{ChangeTable, Row, manifest, tracking};
use super::{CaseContent, Instruction, InstructionLanguage};

impl Instruction {
    /// Lines with the names of their fields alone.
    pub(super) fn without_values(self) -> Self {
        Self {
            text: names_alone(&self.text),
            has_values: false,
            ..self
        }
    }
}

impl ChangeTable {
    /// The lines of the manifest that are to be changed so that it is another one.
    pub(super) fn lines(
        &self,
        preset: Preset,
        row: &Row,
        wanted: &Value,
        content: CaseContent,
    ) -> Option<Instruction> {
        let said = self.manifest(row);
        if said.is_null() {
            return None;
        }
        let said = tracking::tracked(preset, said, &row.before);
        self.lines_between(row, (&said, wanted), content)
    }

    /// The lines in which two manifests differ.
    pub(super) fn lines_between(
        &self,
        row: &Row,
        (before, after): (&Value, &Value),
        content: CaseContent,
    ) -> Option<Instruction> {
        let lines = |text| Instruction::with_values(InstructionLanguage::Lines, text);
        if content == CaseContent::Masked {
            let text = masked_lines(&row.before, before, after)?;
            return Some(Instruction {
                has_values: false,
                ..lines(text)
            });
        }
        let all = lines(changed_lines(&to_yaml(before), &to_yaml(after))?);
        Some(match content {
            CaseContent::Whole => all,
            _ => all.without_values(),
        })
    }

    /// The lines of the fields in conflict, of a manifest that a message describes: nobody knows what else it has beside
    /// them, so that the lines above them stay.
    pub(super) fn lines_in_conflict(&self, preset: Preset, row: &Row) -> Option<Instruction> {
        let said = tracking::tracked(preset, self.manifest(row), &row.before);
        let facts = self.refused_facts(row).into_iter();
        let named = facts.filter_map(|fact| match fact {
            Fact::OwnedByOther { field, .. } => Some(field),
            _ => None,
        });
        let named: Vec<String> = named.collect();
        let fields = manifest::printed(&said, &named, self.subject().resource());
        let before = with_more(&said, &fields);
        let mut after = before.clone();
        fields.iter().for_each(|field| field.remove(&mut after));
        let text = changed_lines(&to_yaml(&before), &to_yaml(&after))?;
        Some(Instruction::with_values(InstructionLanguage::Lines, text))
    }
}

/// A manifest with something more beside each of some fields, so that nothing above them becomes empty without them.
fn with_more(manifest: &Value, fields: &[Path]) -> Value {
    let mut more = manifest.clone();
    for field in fields {
        let mut above = field.clone();
        above.0.pop();
        let beside = match above.find(&more).cloned() {
            Some(Value::Object(mut members)) => {
                members.insert("~".to_owned(), Value::Null);
                Value::Object(members)
            }
            Some(Value::Array(mut items)) => {
                items.push(Value::Null);
                Value::Array(items)
            }
            _ => continue,
        };
        above.put(&mut more, beside);
    }
    more
}

/// The most comparisons of lines.
const COMPARISONS: usize = 4_000_000;

/// The lines that go (`-`) and come (`+`), each with the lines that it stands below. `None` if nothing
/// differs, or the texts are too long to be compared.
fn changed_lines(before: &str, after: &str) -> Option<String> {
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

/// The mark behind a value that looks private and comes: it is another one than the value that goes.
const NEW_VALUE: &str = "# another value";

/// Lines of [`changed_lines`] of two manifests, with a mask in the place of each value that looks private in one of them
/// or in the object.
fn masked_lines(object: &Value, before: &Value, after: &Value) -> Option<String> {
    let mut masking = Masking::shared([]);
    let [mut object, mut before, mut after] = [object, before, after].map(Value::clone);
    for one in [&mut object, &mut before, &mut after] {
        masking.object(one);
    }
    let known = masking.known_values();
    let mut packed = Vec::new();
    for one in [&mut before, &mut after] {
        known.replace(one);
        unpack(one, &mut packed);
    }
    // Each value has a stand-in of its own until then, so that a change of it is one.
    let lines = changed_lines(&to_yaml(&before), &to_yaml(&after))?;
    Some(lines.lines().map(with_mask).collect())
}

/// Puts a stand-in that [`with_mask`] finds in the place of each text in base64 that has one, as the data of a Secret.
/// `packed`: the texts so far. The same text gets the same stand-in.
fn unpack(value: &mut Value, packed: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.values_mut().for_each(|it| unpack(it, packed)),
        Value::Array(items) => items.iter_mut().for_each(|it| unpack(it, packed)),
        Value::String(text) => {
            let decoded = base64::decoded(text);
            let decoded = decoded.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            if !decoded.is_some_and(|it| it.contains(STAND_IN)) {
                return;
            }
            let known = packed.iter().position(|it| it == text);
            let at = known.unwrap_or_else(|| {
                packed.push(text.clone());
                packed.len() - 1
            });
            // No stand-in of the masking begins with zero.
            *text = format!("{STAND_IN}0{at}");
        }
        _ => {}
    }
}

/// A line with the mask in the place of its stand-ins.
fn with_mask(line: &str) -> String {
    let mut parts = line.split(STAND_IN);
    let mut masked = parts.next().unwrap_or_default().to_owned();
    let mut is_masked = false;
    for part in parts {
        masked.push_str(MASK);
        masked.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
        is_masked = true;
    }
    if is_masked && line.starts_with('+') {
        masked.push_str(&format!(" {NEW_VALUE}"));
    }
    masked.push('\n');
    masked
}

/// Lines of [`changed_lines`] without their values. An item of a list that is a value is a dash alone: an
/// argument of a command can be a password.
fn names_alone(lines: &str) -> String {
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

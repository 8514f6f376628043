//! A change of one entry of `managedFields`, as commands that read the entries as they are on the
//! cluster.
//!
//! The place of an entry in the list, and the version of the object, are read when the commands run; without
//! the entry they send nothing. The patch tests that the entry is still the one in the input: the server
//! refuses it otherwise.

use optimist_apiserver::apply::{Path, Set, from_fields_v1};
use optimist_apiserver::object::{Metadata, text};
use optimist_code::{one_line, quote, quote_always};
use serde_json::{Value, json};

use super::Instruction;

/// The change of an entry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EntryChange<'a> {
    /// The entry before.
    pub(super) before: &'a Value,
    /// The entry after; `None` if it is removed.
    pub(super) after: Option<&'a Value>,
    /// The other entries that give up fields which this one gets, as they are before.
    pub(super) givers: Vec<&'a Value>,
}

/// The members that tell entries apart
/// (`k8s.io/apimachinery/pkg/util/managedfields/internal/managedfields.go BuildManagerIdentifier`,
/// v0.36), in the order in which the commands print them.
const IDENTITY: [&str; 4] = ["manager", "operation", "subresource", "apiVersion"];

/// The message of the commands, as a word of a shell, if they find no such entry. A script of `set -e` ends
/// there; a shell in which somebody types stays open.
const NOT_FOUND: &str =
    "'Stopped: no such entry of managedFields was found. This step changes nothing.'";

/// The number of fields that a comment names.
const NAMED: usize = 3;

fn identity(entry: &Value) -> [&str; 4] {
    IDENTITY.map(|member| text(entry, member))
}

/// Returns the changes from the entries of an object to those that it has later. First the new ones,
/// then the removed ones: no field is without its owner in between.
pub(super) fn changes<'a>(before: &'a Value, after: &'a Value) -> Vec<EntryChange<'a>> {
    let of =
        |list: &'a [Value], entry: &Value| list.iter().find(|it| identity(it) == identity(entry));
    let (old, new) = (before.managed_entries(), after.managed_entries());
    let mut added = new.iter().filter(|entry| of(old, entry).is_none());
    let change = |before: &'a Value, after: Option<&'a Value>| EntryChange {
        before,
        after,
        givers: Vec::new(),
    };
    let (mut all, mut last) = (Vec::new(), Vec::new());
    for entry in old {
        match of(new, entry) {
            Some(same) if same["fieldsV1"] == entry["fieldsV1"] => {}
            Some(changed) => all.push(change(entry, Some(changed))),
            // An entry that comes takes the place of one that goes.
            None => match added.next() {
                Some(other) => all.push(change(entry, Some(other))),
                None => last.push(change(entry, None)),
            },
        }
    }
    all.append(&mut last);
    let given: Vec<(&Value, Vec<Path>)> = all.iter().map(|it| (it.before, it.given_up())).collect();
    for change in &mut all {
        let got = change.got();
        let gives = |fields: &[Path]| fields.iter().any(|path| got.contains(path));
        let givers = given.iter().filter(|(_, fields)| gives(fields));
        change.givers = givers.map(|(entry, _)| *entry).collect();
    }
    all
}

/// An entry in a sentence. Two entries of one manager have different operations.
fn entry_name(entry: &Value) -> String {
    let (manager, operation) = (text(entry, "manager"), text(entry, "operation"));
    format!("{} ({})", one_line(manager), one_line(operation))
}

fn set_of(entry: &Value) -> Set {
    from_fields_v1(&entry["fieldsV1"]).unwrap_or_default()
}

impl EntryChange<'_> {
    /// The fields that the entry has no more.
    pub(super) fn given_up(&self) -> Vec<Path> {
        let left = self.after.map(set_of).unwrap_or_default();
        let had = set_of(self.before).paths().into_iter();
        had.filter(|path| !left.contains(path)).collect()
    }

    /// The fields that the entry has only now.
    fn got(&self) -> Vec<Path> {
        let had = set_of(self.before);
        let has = self.after.map(|after| set_of(after).paths());
        let has = has.unwrap_or_default().into_iter();
        has.filter(|path| !had.contains(path)).collect()
    }

    /// Describes the change in comments.
    fn says(&self) -> String {
        let says = match self.after {
            Some(after) if identity(after) != identity(self.before) => format!(
                "The entry of {} becomes one of {}.",
                entry_name(self.before),
                entry_name(after),
            ),
            Some(_) if self.given_up().is_empty() => {
                let mut givers: Vec<String> = self.givers.iter().map(|it| entry_name(it)).collect();
                givers.dedup();
                let from = match givers.as_slice() {
                    [] => String::new(),
                    names => format!(" from the entry of {}", names.join(" and of ")),
                };
                let (entry, fields) = (entry_name(self.before), named(&self.got()));
                format!("The entry of {entry} also gets {fields}{from}.")
            }
            _ => {
                let manager = one_line(text(self.before, "manager"));
                format!("{manager} gives up {}.", named(&self.given_up()))
            }
        };
        format!(
            "# {says} Only managedFields change, no value does.\n\
             # The first lines read where the entry is now. Without it they stop. If it has changed since, the \
             server refuses.\n"
        )
    }

    /// The commands for an object, as kubectl names it. `None` if the entry cannot be found by a line of
    /// text.
    pub(super) fn instruction(&self, object: &str) -> Option<Instruction> {
        let line = identity(self.before).join(" ");
        if line.chars().any(char::is_control) {
            return None;
        }
        let line = quote(&line);
        let read = format!(
            "entries=$(kubectl get {object} -o jsonpath='{{.metadata.resourceVersion}}{{\"\\n\"}}\
             {{range .metadata.managedFields[*]}}\
             {{.manager}} {{.operation}} {{.subresource}} {{.apiVersion}}{{\"\\n\"}}{{end}}')\n\
             version=$(printf '%s\\n' \"$entries\" | head -n 1)\n\
             place=$(printf '%s\\n' \"$entries\" | tail -n +2 | grep -nxF -e {line} |\n\
             head -n 1 | cut -d: -f1 || true)\n"
        );
        let says = self.says();
        let patch = self.patch();
        let command = |option: &str| {
            let write = format!("kubectl patch {object} --type=json{option} -p {patch}");
            format!(
                "{says}{read}if [ -z \"$place\" ]; then\necho {NOT_FOUND} >&2; false\n\
                 else\nplace=$((place - 1))\n{write}\nfi\n"
            )
        };
        Some(Instruction {
            try_first: Some(command(" --dry-run=server")),
            ..Instruction::command(command(""))
        })
    }

    /// The JSON patch as a word of a shell, with the place and the version that were read.
    fn patch(&self) -> String {
        let entry = |member: &str| format!("/metadata/managedFields/@{member}");
        let mut operations = Vec::new();
        for member in ["manager", "operation", "fieldsV1"] {
            operations.push(json!({"op": "test", "path": entry(&format!("/{member}")),
                "value": self.before[member]}));
        }
        operations
            .push(json!({"op": "replace", "path": "/metadata/resourceVersion", "value": "@"}));
        match self.after {
            None => operations.push(json!({"op": "remove", "path": entry("")})),
            Some(after) => {
                for member in ["manager", "operation", "fieldsV1"] {
                    if self.before[member] != after[member] {
                        operations.push(json!({"op": "replace",
                            "path": entry(&format!("/{member}")), "value": after[member]}));
                    }
                }
            }
        }
        let lines = operations.iter().map(|it| format!("  {it}"));
        let lines: Vec<String> = lines.collect();
        let patch = quote_always(&format!("[\n{}\n]", lines.join(",\n")));
        // In a string of JSON these quotes would have a backslash before them.
        let place = "\"path\":\"/metadata/managedFields/";
        let version = "\"path\":\"/metadata/resourceVersion\",\"value\":\"";
        patch
            .replace(&format!("{place}@"), &format!("{place}'\"$place\"'"))
            .replace(&format!("{version}@"), &format!("{version}'\"$version\"'"))
    }
}

/// Fields in a sentence.
pub(super) fn named(fields: &[Path]) -> String {
    let names = fields
        .iter()
        .take(NAMED)
        .map(|it| one_line(&it.to_string()));
    let names: Vec<String> = names.collect();
    match fields.len().saturating_sub(NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(entries: Value) -> Value {
        json!({"metadata": {"name": "web", "managedFields": entries}})
    }

    fn entry(manager: &str, operation: &str, fields: Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": fields})
    }

    #[test]
    fn what_comes_is_before_what_goes() {
        let data = |names: &[&str]| {
            let fields = names.iter().map(|name| (format!("f:{name}"), json!({})));
            json!({"f:data": Value::Object(fields.collect())})
        };
        let before = object(json!([
            entry("a", "Update", data(&["x"])),
            entry("me", "Apply", data(&["y"])),
        ]));
        let after = object(json!([entry("me", "Apply", data(&["x", "y"]))]));
        let found = changes(&before, &after);
        let managers = found.iter().map(|it| text(it.before, "manager"));
        assert_eq!(managers.collect::<Vec<_>>(), ["me", "a"]);
        assert!(found[0].given_up().is_empty());
        let says = "# The entry of me (Apply) also gets .data.x from the entry of a (Update). Only";
        assert!(found[0].says().starts_with(says), "{}", found[0].says());
        assert_eq!(named(&found[1].given_up()), ".data.x");
        assert_eq!(changes(&before, &before), []);
    }

    #[test]
    fn nothing_of_an_entry_is_run_by_the_shell() {
        let hostile = "x'; touch PWN; '$(id)@\"path\":\"/metadata/managedFields/@";
        let change = EntryChange {
            before: &entry(hostile, "Update", json!({"f:data": {"f:$(id)": {}}})),
            after: None,
            givers: Vec::new(),
        };
        let text = change
            .instruction("configmap a -n b")
            .expect("it is one line")
            .text;
        let patch = &text[text.find(" -p ").expect("it has a patch")..];
        assert_eq!(patch.matches("$place").count(), 4, "{text}");
        assert_eq!(patch.matches("'\"$version\"'").count(), 1, "{text}");
        let lines = entry("a\nb", "Update", json!({}));
        let change = EntryChange {
            before: &lines,
            after: None,
            givers: Vec::new(),
        };
        assert_eq!(change.instruction("configmap a"), None);
    }
}

//! Edits, and their results.

use std::collections::{HashMap, HashSet};

use optimist_apiserver::apply::{Path, PathElement};
use optimist_apiserver::object::text;
use optimist_client::{shorten, visible};
use optimist_simulation::verdict::{Edit, Loss, Replaced};
use optimist_simulation::{ActorId, EditResult, LeftOutReason, Step, World};
use serde_json::Value;

use crate::en;
use crate::steps::short_name;

/// The last part of a path: `replicas`, `container sidecar`.
pub fn field(path: &Path) -> String {
    visible(&plain_field(path, false)).into_owned()
}

/// The last parts of several paths. A name that two of them have is told apart by all keys of the item, or by its
/// parent: `port 53/TCP`, `image of container web`.
pub fn fields<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Vec<String> {
    told_apart(&paths.into_iter().collect::<Vec<_>>(), |_| 0)
}

/// The heads of columns for fields: a field of a list item names its item, too.
pub fn column_heads(columns: &[Path]) -> Vec<String> {
    told_apart(&columns.iter().collect::<Vec<_>>(), |path| {
        match path.0.as_slice() {
            [.., PathElement::Key(_), PathElement::Field(_)] => 2,
            _ => 0,
        }
    })
}

/// The names of a path, a longer one after a shorter one.
const NAMES: [fn(&Path) -> String; 5] = [
    field,
    |path| visible(&plain_field(path, true)).into_owned(),
    |path| field_of_parent(path, false),
    |path| field_of_parent(path, true),
    |path| visible(&path.to_string()).into_owned(),
];

/// The name of each path: the first of its names, from one on, that no other path has in its place.
fn told_apart(paths: &[&Path], first: impl Fn(&Path) -> usize) -> Vec<String> {
    let names = paths.iter().map(|path| (first(path), *path));
    let names = names.map(|(first, path)| (first, NAMES[first](path)));
    let mut names: Vec<(usize, String)> = names.collect();
    for _ in 1..NAMES.len() {
        let mut known: HashMap<&str, HashSet<&Path>> = HashMap::new();
        for ((_, name), path) in names.iter().zip(paths) {
            known.entry(name).or_default().insert(path);
        }
        let is_shared: Vec<bool> = names
            .iter()
            .map(|(_, it)| known[it.as_str()].len() > 1)
            .collect();
        for (at, path) in paths.iter().enumerate().filter(|(at, _)| is_shared[*at]) {
            let longer = (names[at].0 + 1).min(NAMES.len() - 1);
            names[at] = (longer, NAMES[longer](path));
        }
    }
    names.into_iter().map(|(_, name)| name).collect()
}

/// The last two parts of a path: `image of container web`, `app of labels`.
fn field_of_parent(path: &Path, all_keys: bool) -> String {
    let name = |path: &Path| visible(&plain_field(path, all_keys)).into_owned();
    match path.0.split_last() {
        Some((_, parents)) if !parents.is_empty() => {
            en::field_of_parent(&name(path), &name(&Path(parents.to_vec())))
        }
        _ => name(path),
    }
}

/// The last part of a path, with the first key of a list item, or with all of them.
fn plain_field(path: &Path, all_keys: bool) -> String {
    let name = |element: Option<&PathElement>| match element {
        Some(PathElement::Field(name)) => name.clone(),
        _ => String::new(),
    };
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let Some((last, parents)) = path.0.split_last() else {
        return en::the_object();
    };
    let list = name(parents.last());
    match last {
        PathElement::Field(name) => name.clone(),
        PathElement::Key(fields) => {
            let keys = fields.iter().map(|(_, value)| text(value));
            let keys: Vec<String> = keys.take(if all_keys { usize::MAX } else { 1 }).collect();
            format!("{} {}", list.trim_end_matches('s'), keys.join("/"))
        }
        PathElement::Value(value) => format!("{list} {}", text(value)),
        PathElement::Index(i) => format!("{list}[{i}]"),
    }
}

/// A text without a character, as YAML and JSON write it.
pub(crate) const EMPTY: &str = "\"\"";

/// A value in a few words. A long text loses its middle.
pub fn value(value: Option<&Value>) -> String {
    /// The most characters of a text.
    const MAX_CHARS: usize = 32;
    match value {
        None => en::absent(),
        Some(Value::String(text)) if text.is_empty() => EMPTY.to_owned(),
        Some(Value::String(text)) => visible(&shorten(text, MAX_CHARS)).into_owned(),
        Some(Value::Array(items)) => en::items(&items.len()),
        Some(Value::Object(_)) => "{…}".to_owned(),
        Some(other) => other.to_string(),
    }
}

/// An edit: `replicas = 5`, `image removed`, `container sidecar`.
pub fn edit(edit: &Edit) -> String {
    edit_as(edit, |field, value| en::edit_set(&field, &value))
}

/// An edit, with the words for a field and the value that it set. An item of a set is its own value.
pub(crate) fn edit_as(edit: &Edit, set_to: fn(&str, &str) -> String) -> String {
    let field = field(&edit.path);
    match &edit.value {
        // When it is carried out can have become another time.
        _ if edit.is_deletion() => en::deletion(),
        None => en::edit_removed(&field),
        Some(item) if is_owner_reference(&edit.path) && item["name"].is_string() => {
            let part = |field: &str| visible(text(item, field)).into_owned();
            en::edit_owner_reference(&part("kind"), &part("name"))
        }
        Some(Value::Object(_) | Value::Array(_)) => field,
        Some(_) if matches!(edit.path.0.last(), Some(PathElement::Value(_))) => field,
        Some(set) => set_to(&field, &value(Some(set))),
    }
}

/// Returns whether a path is that of an owner reference. Its key is the uid of the owner, which says nothing to a
/// reader.
fn is_owner_reference(path: &Path) -> bool {
    let list = path.0.iter().rev().nth(1);
    matches!(list, Some(PathElement::Field(name)) if name == "ownerReferences")
        && matches!(path.0.last(), Some(PathElement::Key(_)))
}

/// Says the effect of a step on an edit: `Editor B overwrote Editor A's replicas = 5 without having
/// read it.`
pub fn edit_result(result: &EditResult, world: &World) -> String {
    match result {
        EditResult::Lost { loss, by_delete } => lost(loss, *by_delete, world),
        EditResult::Replaced(edits) => replaced(edits, world),
        EditResult::LeftOut {
            edits,
            status_line,
            reason,
        } => {
            let edits: Vec<String> = edits.iter().map(|left| edit(left)).collect();
            let why = match reason {
                LeftOutReason::Scale => en::left_out_scale(),
                LeftOutReason::Apply => en::left_out_apply(),
                LeftOutReason::Unknown => en::left_out_unknown(&edits.len()),
                LeftOutReason::Defaults => en::left_out_defaults(),
            };
            en::left_out(status_line, &edits.join(", "), &why)
        }
    }
}

fn replaced(replaced: &[Replaced<ActorId>], world: &World) -> String {
    /// The most edits that are named.
    const MOST_NAMED: usize = 3;
    let Some(first) = replaced.first() else {
        return String::new();
    };
    let name = |actor: ActorId| &world.actor(actor).name;
    let (by, owner) = (name(first.by), name(first.owner));
    let edits = replaced.iter().map(|one| edit(&one.edit));
    let named: Vec<String> = edits.take(MOST_NAMED).collect();
    let edits = match replaced.len() - named.len() {
        0 => named.join(", "),
        more => en::fields_and_more(&named.join(", "), &more),
    };
    match first.retry {
        true => en::replaced_retry(by, owner, &edits),
        false => en::replaced(by, owner, &edits, &replaced.len()),
    }
}

fn lost(loss: &Loss<ActorId>, by_delete: bool, world: &World) -> String {
    let (owner, by) = (
        &world.actor(loss.owner).name,
        &world.actor(loss.culprit).name,
    );
    if loss.edit.path.0.is_empty() {
        return en::loss_created(by, owner);
    }
    let edit = edit(&loss.edit);
    if by_delete {
        en::loss_deleted(by, owner, &edit)
    } else if loss.blind {
        en::loss_overwrote(by, owner, &edit)
    } else {
        en::loss_undid(by, owner, &edit)
    }
}

/// Says the edit that a step lost, in two or three words: `A's replicas = 5 lost`.
pub(crate) fn lost_short(step: &Step, world: &World) -> Option<String> {
    let first = step.losses.first()?;
    let (owner, edit) = (short_name(first.owner, world), edit(&first.edit));
    Some(match step.losses.len() - 1 {
        0 => en::lost_short(&owner, &edit),
        more => en::lost_short_more(&owner, &edit, &more),
    })
}

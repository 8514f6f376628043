//! The other writers, and their edits.

use std::sync::Arc;

use optimist_apiserver::apply::{
    LAST_APPLIED, ManagedFieldsOperation, Manager, Managers, Path, PathElement, Set, is_never_owned,
};
use optimist_apiserver::server::Resource;
use optimist_client::{ChangeKind, Intent, Preset, Strategy, Subresource, WorkingCopy, Write};
use optimist_masking::{MASK, masked};
use optimist_simulation::explore::Scenario;
use optimist_simulation::{ActorId, HistoryTree, World};
use serde_json::Value;

use super::super::fields::leaves;
use super::super::tracking::is_read_by_tools;
use super::{both_have_read, type_as};
use crate::scene::sample;

/// The manager of people who edit by hand, if the object has no other writer.
const EDITOR: &str = "kubectl-edit";

/// The most fields of a writer that are offered.
const MAX_FIELDS: usize = 300;

/// The most edits that are tried until the server accepts one.
const MAX_TRIES: usize = 16;

/// Somebody who may write in between.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherWriter {
    /// The field manager.
    pub manager: Manager,
    /// Its way of writing. The object shows only the operation and the subresource; the rest
    /// follows the client of this name, and for an unknown client client-go.
    pub write: Write,
    /// The fields that it may change: those with a single value.
    pub fields: Vec<Path>,
    /// `true` if the object has it as a manager. Otherwise it stands for anyone with kubectl.
    pub is_known: bool,
}

/// The edit of the other writer.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherEdit {
    /// The writer: a position in [`others`].
    pub writer: usize,
    /// The field.
    pub field: Path,
    /// The new value, which is made up.
    pub value: Value,
}

/// Returns those who may write in between while actor A has not sent its write: the managers of the
/// object except A's, and anyone with kubectl.
pub fn others(world: &World) -> Vec<OtherWriter> {
    let Some((_, object)) = world.stored() else {
        return Vec::new();
    };
    let resource = world.resource();
    let actor = world.actor(ActorId::A);
    let own = actor.write().manager;
    let agent = actor.manager.split('/').next().unwrap_or_default();
    let own = own.as_deref().unwrap_or(agent);
    let managers = Managers::of_object(object);
    let mut found: Vec<OtherWriter> = Vec::new();
    for owned in managers.iter().filter(|it| it.manager.name != own) {
        let Some(write) = write_of(&owned.manager, resource) else {
            continue;
        };
        let fields = fields_of(object, &owned.set, write.subresource);
        if !fields.is_empty() {
            found.push(OtherWriter {
                manager: owned.manager.clone(),
                write,
                fields,
                is_known: true,
            });
        }
    }
    let manager = Manager::new(EDITOR, ManagedFieldsOperation::Update, "", "");
    let known = own == EDITOR || found.iter().any(|it| it.manager == manager);
    if let Some(write) = write_of(&manager, resource).filter(|_| !known) {
        let mut all = Set::default();
        for path in leaves(object, &resource.root) {
            all.insert(&path);
        }
        found.push(OtherWriter {
            manager,
            write,
            fields: fields_of(object, &all, None),
            is_known: false,
        });
    }
    found
}

/// Returns the way in which a manager writes.
pub(crate) fn write_of(manager: &Manager, resource: &Resource) -> Option<Write> {
    let name = manager.name.as_str();
    let updates = manager.operation == ManagedFieldsOperation::Update;
    let subresource = match manager.subresource.as_str() {
        "" => None,
        "scale" => Some(Subresource::Scale),
        "status" => Some(Subresource::Status),
        _ => return None,
    };
    if subresource.is_some_and(|it| !resource.serves(it.name())) {
        return None;
    }
    let preset = match (subresource, name) {
        (Some(Subresource::Scale), "kube-controller-manager") => Some(Preset::Autoscaler),
        (Some(Subresource::Scale), "kubectl") => Some(Preset::KubectlScale),
        (None, "kubectl-replace") => Some(Preset::KubectlReplace),
        (None, _) if name.starts_with("kubectl") => Some(Preset::KubectlEdit),
        (None, _) => Some(Preset::Update),
        _ => None,
    };
    let write = match preset.filter(|_| updates) {
        Some(preset) => preset.write(resource)?,
        None if updates => Write::usual(Strategy::Update),
        None => Write {
            // They always do.
            force: matches!(name, "kustomize-controller" | "argocd-controller"),
            ..Write::usual(Strategy::Apply)
        },
    };
    Some(Write {
        manager: Some(name.to_owned()),
        subresource,
        ..write
    })
}

/// The fields of a set that have a single value and that a writer may change.
fn fields_of(object: &Value, set: &Set, subresource: Option<Subresource>) -> Vec<Path> {
    let is_field = |path: &Path| {
        let status = path.is_in_status();
        let here = match subresource {
            Some(Subresource::Scale) => path.to_string() == ".spec.replicas",
            Some(Subresource::Status) => status,
            None => !status,
        };
        let single = path
            .find(object)
            .is_some_and(|value| !value.is_object() && !value.is_array() && !value.is_null());
        // Tools write other things if these annotations have other values.
        let own = match path.0.last() {
            Some(PathElement::Field(name)) => *name != LAST_APPLIED && !is_read_by_tools(name),
            _ => false,
        };
        here && single && own && !is_never_owned(path)
    };
    let mut fields: Vec<Path> = set.paths().into_iter().filter(is_field).collect();
    fields.retain(|path| !is_key_of_item(path));
    // What a writer changes is rather content than labels.
    fields.sort_by_key(|path| first_name(path) == "metadata");
    fields.truncate(MAX_FIELDS);
    fields
}

fn first_name(path: &Path) -> &str {
    match path.0.first() {
        Some(PathElement::Field(name)) => name,
        _ => "",
    }
}

/// Returns whether a field tells the item of a list apart: with another value it is another item.
fn is_key_of_item(path: &Path) -> bool {
    let [.., PathElement::Key(keys), PathElement::Field(name)] = path.0.as_slice() else {
        return false;
    };
    keys.iter().any(|(key, _)| key == name)
}

/// Returns the edit of actor B; `None` if it changes nothing, or more than one field.
pub fn present(world: &World) -> Option<OtherEdit> {
    let (actor, copy) = (world.actor(ActorId::B), world.copy(ActorId::B));
    let Intent::Change(changes) = Intent::from_copy(copy, &world.resource().root)? else {
        return None;
    };
    let [change] = changes.as_slice() else {
        return None;
    };
    let ChangeKind::Set(value) = &change.how else {
        return None;
    };
    let write = actor.write();
    let others = others(world);
    let writer = others.iter().position(|it| it.write == write)?;
    Some(OtherEdit {
        writer,
        field: change.path.clone(),
        value: value.clone(),
    })
}

/// The history with another edit of actor B, from its beginning: both read, and both have typed.
/// `None` if there is no such writer, or the edit changes
/// nothing.
pub fn with_edit(tree: &HistoryTree, edit: &OtherEdit) -> Option<HistoryTree> {
    let writer = others(tree.world()).into_iter().nth(edit.writer)?;
    edited(tree, &writer, edit)
}

fn edited(tree: &HistoryTree, writer: &OtherWriter, edit: &OtherEdit) -> Option<HistoryTree> {
    let mut world = tree.origin().clone();
    let actor = world.actor_mut(ActorId::B);
    actor.name = writer.manager.name.as_str().into();
    actor.manager = writer.manager.name.as_str().into();
    actor.set_write(writer.write.clone());
    let typed = tree.world().copy(ActorId::A);
    let mut tree = both_have_read(world)?;
    type_as(&mut tree, ActorId::A, typed)?;
    let copy = tree.world_mut().copy_mut(ActorId::B);
    let mut object = (**copy.read()?).clone();
    edit.field.put(&mut object, edit.value.clone());
    copy.edit(object);
    copy.is_edited().then_some(tree)
}

/// The edit that is shown first: of a field that A's write changes, by another manager that owns the
/// field; else of any field of another manager. Contested fields come first. The server accepts it.
pub(super) fn usual(world: &World, contested: Vec<Path>) -> Option<OtherEdit> {
    let others = others(world);
    let mut touched = contested;
    touched.extend(changed(world));
    let mut candidates: Vec<(usize, Path)> = Vec::new();
    for known in [true, false] {
        let writers = || {
            others
                .iter()
                .enumerate()
                .filter(|(_, it)| it.is_known == known)
        };
        // An autoscaler writes all the time.
        let mut rest: Vec<(usize, &OtherWriter)> = writers().collect();
        rest.sort_by_key(|(_, it)| match it.write.subresource {
            Some(Subresource::Scale) => 0,
            None => 1,
            Some(Subresource::Status) => 2,
        });
        let mut owned: Vec<(usize, usize, Path)> = Vec::new();
        for (order, path) in touched.iter().enumerate() {
            let owners = rest.iter().filter(|(_, it)| it.fields.contains(path));
            owned.extend(owners.map(|(at, _)| (order, *at, path.clone())));
        }
        let scales = |at: usize| others[at].write.subresource == Some(Subresource::Scale);
        owned.sort_by_key(|(order, at, _)| (!scales(*at), *order));
        candidates.extend(owned.into_iter().map(|(_, at, path)| (at, path)));
        for (at, writer) in rest {
            let fields = writer.fields.iter().take(3);
            candidates.extend(fields.map(|field| (at, field.clone())));
        }
    }
    accepted(world, &others, candidates)
}

/// The edit that a writer has when it is chosen: of the field that is shown, if it owns that; else of
/// a field that A's write changes; else of any field. One that the server accepts, if one is found.
pub fn usual_of(world: &World, writer: usize, shown: &Path) -> Option<OtherEdit> {
    let others = others(world);
    let fields = &others.get(writer)?.fields;
    let mut touched = vec![shown.clone()];
    touched.extend(changed(world));
    touched.retain(|path| fields.contains(path));
    touched.extend(fields.iter().cloned());
    let candidates = touched.into_iter().map(|field| (writer, field)).collect();
    accepted(world, &others, candidates).or_else(|| made_up(world, writer, fields.first()?))
}

/// The first edit that the server accepts.
fn accepted(
    world: &World,
    others: &[OtherWriter],
    candidates: Vec<(usize, Path)>,
) -> Option<OtherEdit> {
    let edits = candidates.into_iter().flat_map(|(writer, field)| {
        let values = values(world, &field).into_iter();
        values.map(move |value| OtherEdit {
            writer,
            field: field.clone(),
            value,
        })
    });
    let mut edits = edits.take(MAX_TRIES);
    edits.find(|edit| is_accepted(world, &others[edit.writer], edit))
}

/// The fields that A's write changes.
fn changed(world: &World) -> Vec<Path> {
    let scenario = Scenario::of_copies(world);
    let plan = scenario.and_then(|scenario| scenario.plans.into_iter().next());
    match plan.map(|plan| plan.intent) {
        Some(Intent::Change(changes)) => changes.into_iter().map(|it| it.path).collect(),
        _ => Vec::new(),
    }
}

/// Returns whether the server takes an edit of B alone.
fn is_accepted(world: &World, writer: &OtherWriter, edit: &OtherEdit) -> bool {
    let accepted = || {
        let mut copy = WorkingCopy::default();
        let (_, object) = world.stored()?;
        copy.settle(Arc::clone(object));
        let mut object = (**object).clone();
        edit.field.put(&mut object, edit.value.clone());
        copy.edit(object);
        let name = writer.manager.name.as_str();
        let request = writer.write.request(world.resource(), &copy, name)?;
        let mut server = world.server().clone();
        let answer = server.handle(request);
        let stored = server.store().get(world.subject().key());
        let (_, stored) = stored?;
        Some(answer.status().is_success() && edit.field.find(stored) == Some(&edit.value))
    };
    accepted().unwrap_or_default()
}

/// A value of a field that B could set: made up, and neither the stored one nor the one that A sets.
pub fn made_up(world: &World, writer: usize, field: &Path) -> Option<OtherEdit> {
    let edits = values(world, field).into_iter().map(|value| OtherEdit {
        writer,
        field: field.clone(),
        value,
    });
    let mut edits = edits.collect::<Vec<_>>().into_iter();
    let first = edits.as_slice().first().cloned();
    let known = others(world).into_iter().nth(writer)?;
    edits
        .find(|edit| is_accepted(world, &known, edit))
        .or(first)
}

/// Values that a field could have, in the order in which they are tried.
fn values(world: &World, field: &Path) -> Vec<Value> {
    let Some((_, object)) = world.stored() else {
        return Vec::new();
    };
    let Some(now) = field.find(object) else {
        return Vec::new();
    };
    let wanted = world.copy(ActorId::A).edited();
    let wanted = wanted.and_then(|wanted| field.find(wanted));
    let private = field.find(&masked(object)).is_some_and(|it| *it == MASK);
    let mut values = match now {
        Value::Number(number) => {
            let number = number.as_i64().unwrap_or_default();
            [1, 2, -1]
                .map(|more| Value::from(number.saturating_add(more)))
                .to_vec()
        }
        Value::Bool(value) => vec![Value::Bool(!value)],
        Value::String(text) if !private => {
            let counted = std::iter::successors(next_number(text), |it| next_number(it));
            counted.take(2).map(Value::from).collect()
        }
        _ => Vec::new(),
    };
    if let Value::String(text) = now
        && !private
    {
        values.push(format!("{text}-2").into());
    }
    values.extend(sample::values(field, Some(&world.resource().root)));
    let same_type = |value: &Value| std::mem::discriminant(value) == std::mem::discriminant(now);
    values.retain(|value| same_type(value) && value != now && Some(value) != wanted);
    values
}

/// A text with its last number counted up: `nginx:1.25` becomes `nginx:1.26`.
fn next_number(text: &str) -> Option<String> {
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let begin = text[..end].rfind(|c: char| !c.is_ascii_digit());
    let begin = begin.map_or(0, |at| {
        at + text[at..].chars().next().map_or(1, char::len_utf8)
    });
    let number: u64 = text.get(begin..end)?.parse().ok()?;
    let next = number.checked_add(1)?;
    Some(format!("{}{next}{}", &text[..begin], &text[end..]))
}

/// A typed text as a value of a field: of the type that the field has now. `None` if it is none.
pub fn typed(world: &World, field: &Path, text: &str) -> Option<Value> {
    let (_, object) = world.stored()?;
    match field.find(object)? {
        Value::String(_) => Some(text.into()),
        Value::Bool(_) => text.trim().parse().ok().map(Value::Bool),
        Value::Number(_) => {
            let value: Value = serde_json::from_str(text.trim()).ok()?;
            value.is_number().then_some(value)
        }
        _ => None,
    }
}

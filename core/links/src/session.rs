//! The content of a session: its start, the action of each node, and the current node.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::operation::{
    actor_code, declared_to_json, edits_to_json, operation_from_json, operation_to_json,
    write_to_json,
};
use super::start::{start_from_json, start_to_json};
use super::text::{pack, unpack};
use super::{Replay, ShareError};
use optimist_apiserver::object::text;
use optimist_apiserver::server::Release;
use optimist_client::{Strategy, WorkingCopy};
use optimist_lesson::PageRecord;
use optimist_simulation::{
    Action, ActorId, HistoryTree, NodeId, Operation, Outcome, Start, Step, World,
};

/// A session without its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Its start.
    pub(super) start: Arc<Start>,
    /// The edits and selections at the root.
    pub(super) root: Value,
    /// Every other node; the first one here is node 1.
    pub(super) nodes: Vec<RecordedOperation>,
    /// The current node.
    pub(super) current: NodeId,
    /// The last node of the current path.
    pub(super) end: NodeId,
    /// The names of the histories that end at these nodes.
    pub(super) names: Vec<(NodeId, String)>,
    /// The open page of Optimist, as its address names it: `play`, `learn`.
    pub page: String,
    /// The progress through a lesson, on its page.
    pub learning: Option<Learning>,
    /// Data of another page, in its own format.
    pub extra: Value,
}

/// A lesson in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learning {
    /// The lesson's name in the catalogue; empty for one from a file.
    pub name: String,
    /// The text of a lesson from a file.
    pub text: Option<String>,
    /// The page that is open.
    pub at: usize,
    /// The state of every page that was opened.
    pub pages: Vec<PageRecord>,
}

/// The action of a node.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RecordedOperation {
    pub(super) parent: NodeId,
    pub(super) operation: Operation,
    /// The edits and selections around it.
    pub(super) touches: Value,
}

/// The maximum number of steps.
pub(super) const MAX_STEPS: usize = 20_000;

const DAMAGED: ShareError = ShareError::Damaged("a part of it is missing");

/// A session does not contain deleted nodes, so the nodes after them get smaller numbers.
fn moved(tree: &HistoryTree, node: NodeId) -> NodeId {
    (1..=node).filter(|id| tree.exists(*id)).count()
}

impl Session {
    /// The session of a lesson: the actions in its tree, and the progress.
    pub fn of_lesson(tree: &HistoryTree, mut learning: Learning) -> Self {
        for page in &mut learning.pages {
            page.begin = moved(tree, page.begin);
            page.end = page.end.map(|end| moved(tree, end));
        }
        Self {
            learning: Some(learning),
            ..Self::from_tree(tree)
        }
    }

    /// Makes the session of a tree.
    pub fn from_tree(tree: &HistoryTree) -> Self {
        Self::build(tree, |_| None)
    }

    /// The session of a tree, given the session of an earlier state of the same tree. Only the
    /// nodes that changed since then are read. Use it to save a growing session.
    pub fn renewed(&self, earlier: &HistoryTree, tree: &HistoryTree) -> Self {
        let mut known = vec![None; earlier.len()];
        let existing = (1..earlier.len()).filter(|id| earlier.exists(*id));
        for (id, recorded) in existing.zip(&self.nodes) {
            known[id] = Some(recorded);
        }
        let renewed = Self::build(tree, |node| {
            let untouched = |node: NodeId| tree.shares(earlier, node);
            let parent = tree.parent(node)?;
            let recorded = known.get(node).copied().flatten();
            recorded.filter(|_| untouched(node) && untouched(parent))
        });
        Self {
            page: self.page.clone(),
            ..renewed
        }
    }

    /// Records the nodes of a tree. `known_operation` gives the record of a node that has not changed.
    fn build<'a>(
        tree: &HistoryTree,
        known_operation: impl Fn(NodeId) -> Option<&'a RecordedOperation>,
    ) -> Self {
        let mut ids = vec![None; tree.len()];
        let mut nodes: Vec<RecordedOperation> = Vec::new();
        if let Some(root) = ids.first_mut() {
            *root = Some(0);
        }
        for id in 1..tree.len() {
            let known = |node: NodeId| ids.get(node).copied().flatten();
            let Some((step, above)) = tree.step(id).zip(tree.parent(id)) else {
                continue;
            };
            let (Some(before), Some(after)) = (tree.world_at(above), tree.world_at(id)) else {
                continue;
            };
            let Some(parent) = known(above) else {
                continue;
            };
            nodes.push(match known_operation(id) {
                Some(recorded) => RecordedOperation {
                    parent,
                    ..recorded.clone()
                },
                None => RecordedOperation {
                    parent,
                    operation: step.operation.clone(),
                    touches: touches(step, before, after),
                },
            });
            ids[id] = Some(nodes.len());
        }
        let kept = |node: NodeId| ids.get(node).copied().flatten().unwrap_or(0);
        let start = Arc::clone(tree.world().start());
        let root = match (World::from_start(Arc::clone(&start)), tree.world_at(0)) {
            (Ok((usual, _)), Some(root)) => {
                let mut map = Map::new();
                settings(&usual, root, &mut map);
                Value::Object(map)
            }
            _ => Value::Null,
        };
        Self {
            start,
            root,
            nodes,
            current: kept(tree.current()),
            end: kept(tree.current_path().last().copied().unwrap_or(0)),
            names: tree
                .names()
                .map(|(node, name)| (kept(node), name.to_owned()))
                .collect(),
            page: String::new(),
            learning: None,
            extra: Value::Null,
        }
    }

    /// A session in which nothing was done.
    pub(super) fn empty() -> Self {
        Self {
            start: Arc::default(),
            root: Value::Null,
            nodes: Vec::new(),
            current: 0,
            end: 0,
            names: Vec::new(),
            page: String::new(),
            learning: None,
            extra: Value::Null,
        }
    }

    /// The same done on a server of another release.
    #[must_use]
    pub fn at_release(mut self, release: Release) -> Self {
        Arc::make_mut(&mut self.start).release = release;
        self
    }

    /// The number of its steps.
    pub fn steps(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether both sessions have the same actions. The current node may differ.
    pub fn does_the_same(&self, other: &Self) -> bool {
        self.start == other.start
            && self.root == other.root
            && self.nodes == other.nodes
            && self.names == other.names
    }

    /// Writes the session as a text for a link.
    pub fn to_text(&self) -> String {
        pack(&self.to_json())
    }

    /// Parses a session. It is not replayed yet.
    ///
    /// # Errors
    /// If the text is not a session, has a later version, or is too large.
    pub fn parse(text: &str) -> Result<Self, ShareError> {
        Self::from_json(&unpack(text)?)
    }

    /// Replays all steps.
    pub fn replay(self) -> Replay {
        Replay::new(self)
    }

    pub(super) fn to_json(&self) -> Value {
        let mut json = Map::new();
        let mut put = |key: &str, value: Value| {
            if !is_blank(&value) {
                json.insert(key.to_owned(), value);
            }
        };
        start_to_json(&self.start, &mut put);
        put("t", self.root.clone());
        let nodes = self.nodes.iter().enumerate().map(|(before, node)| {
            let (what, who) = operation_to_json(&node.operation);
            let mut recorded = vec![what, who.into()];
            let usual = node.parent == before;
            let touched = node.touches.as_object().is_some_and(|map| !map.is_empty());
            if !usual || touched {
                recorded.push(if usual {
                    Value::Null
                } else {
                    node.parent.into()
                });
            }
            if touched {
                recorded.push(node.touches.clone());
            }
            Value::Array(recorded)
        });
        put("n", nodes.collect());
        put("i", self.current.into());
        if self.end != self.current {
            put("e", self.end.into());
        }
        if !self.names.is_empty() {
            let names = self.names.iter().map(|(node, name)| json!([node, name]));
            put("b", names.collect());
        }
        put("p", self.page.as_str().into());
        put("x", self.extra.clone());
        if let Some(learning) = &self.learning {
            let pages = learning
                .pages
                .iter()
                .map(|page| json!([page.begin, page.end, page.chosen, u8::from(page.solved)]));
            let pages: Value = pages.collect();
            put(
                "l",
                json!({"n": learning.name, "t": learning.text, "i": learning.at, "p": pages}),
            );
        }
        Value::Object(json)
    }

    pub(super) fn from_json(json: &Value) -> Result<Self, ShareError> {
        if !json.is_object() {
            return Err(DAMAGED);
        }
        let nodes = nodes_from_json(json)?;
        let current = index(json.get("i")).unwrap_or(0);
        let end = index(json.get("e")).unwrap_or(current);
        if current.max(end) > nodes.len() {
            return Err(ShareError::Damaged("its current step does not exist"));
        }
        let learning = json.get("l").filter(|it| it.is_object());
        let learning = learning.map(Learning::from_json);
        let pages = learning.iter().flat_map(|learning| &learning.pages);
        let mut ends = pages
            .flat_map(|page| [Some(page.begin), page.end])
            .flatten();
        if ends.any(|node| node > nodes.len()) {
            return Err(ShareError::Damaged(
                "the current page of its lesson does not exist",
            ));
        }
        Ok(Self {
            start: Arc::new(start_from_json(json)?),
            root: some(json.get("t").filter(|it| it.is_object())).unwrap_or_default(),
            nodes,
            current,
            end,
            names: list(json.get("b"))
                .iter()
                .filter_map(|name| Some((index(name.get(0))?, name.get(1)?.as_str()?.to_owned())))
                .collect(),
            page: text(json, "p").to_owned(),
            learning,
            extra: some(json.get("x")).unwrap_or_default(),
        })
    }
}

impl Learning {
    fn from_json(json: &Value) -> Self {
        let pages = list(json.get("p")).iter().map(|page| PageRecord {
            begin: index(page.get(0)).unwrap_or(0),
            end: index(page.get(1)),
            chosen: index(page.get(2)),
            solved: index(page.get(3)) == Some(1),
        });
        Self {
            name: text(json, "n").to_owned(),
            text: json.get("t").and_then(Value::as_str).map(str::to_owned),
            at: index(json.get("i")).unwrap_or(0),
            pages: pages.collect(),
        }
    }
}

fn nodes_from_json(json: &Value) -> Result<Vec<RecordedOperation>, ShareError> {
    let listed = list(json.get("n"));
    if listed.len() > MAX_STEPS {
        return Err(ShareError::TooLarge);
    }
    let mut nodes = Vec::with_capacity(listed.len());
    for (before, node) in listed.iter().enumerate() {
        let who = node.get(1).and_then(Value::as_str).ok_or(DAMAGED)?;
        let parent = index(node.get(2)).unwrap_or(before);
        if parent > before {
            return Err(ShareError::Damaged("a step comes before its previous step"));
        }
        nodes.push(RecordedOperation {
            parent,
            operation: operation_from_json(node.get(0).ok_or(DAMAGED)?, who)?,
            // An object also where there are none, as in the session of a history.
            touches: node
                .get(3)
                .filter(|it| it.is_object())
                .map_or_else(|| json!({}), Value::clone),
        });
    }
    Ok(nodes)
}

fn index(value: Option<&Value>) -> Option<usize> {
    let number = value.and_then(Value::as_u64);
    number.map(|number| usize::try_from(number).unwrap_or(usize::MAX))
}

fn list(value: Option<&Value>) -> &[Value] {
    let items = value.and_then(Value::as_array);
    items.map(Vec::as_slice).unwrap_or_default()
}

/// A value that is not empty. Empty values are not written, and are absent when read.
fn some(value: Option<&Value>) -> Option<Value> {
    value.filter(|it| !is_blank(it)).cloned()
}

/// Returns whether a value is empty, so that a link does not need it.
fn is_blank(value: &Value) -> bool {
    value.is_null()
        || *value == Value::Bool(false)
        || value.as_object().is_some_and(Map::is_empty)
        || value.as_str() == Some("")
}

/// The edits and selections around a step that do not follow from the step itself.
pub(super) fn touches(step: &Step, before: &World, after: &World) -> Value {
    let mut map = Map::new();
    if let Some(actor) = step.actor()
        && carries_edits(step)
        && before.copy(actor).edits() != step.edits
    {
        map.insert("e".to_owned(), edits_to_json(&step.edits));
    }
    if let Some(actor) = step.actor()
        && step.is_send()
        && before.copy(actor).declared() != step.declared
    {
        map.insert("d".to_owned(), declared_to_json(&step.declared));
    }
    settings(before, after, &mut map);
    for id in ActorId::ALL {
        let mut typed = Vec::new();
        for (subject, copy) in after.actor(id).copies() {
            let acted = step.actor() == Some(id) && subject == before.subject();
            let old = before.actor(id).copy(subject);
            let same = if acted {
                follows(step, old, copy)
            } else {
                is_same(old, copy)
            };
            if !same {
                let edits = edits_to_json(&copy.edits());
                let mut touched = vec![
                    subject.resource().kind.as_str().into(),
                    subject.name().into(),
                    edits,
                ];
                if !copy.declared().is_empty() {
                    touched.push(declared_to_json(copy.declared()));
                }
                typed.push(Value::Array(touched));
            }
        }
        if !typed.is_empty() {
            let entry = map.entry(actor_code(id)).or_insert_with(|| json!({}));
            entry["e"] = typed.into();
        }
    }
    Value::Object(map)
}

/// Returns whether a step's edits contain every edit that its actor had typed.
fn carries_edits(step: &Step) -> bool {
    matches!(step.action(), Some(Action::Send(_) | Action::Create))
}

/// Returns whether an actor's copy is the copy that the step leaves, without other edits.
fn follows(step: &Step, before: &WorkingCopy, after: &WorkingCopy) -> bool {
    match step.action() {
        Some(Action::Get | Action::GetScale) if step.outcome() == Outcome::Read => {
            !before.is_edited() && !after.is_edited() && before.declared() == after.declared()
        }
        Some(Action::Send(_) | Action::Create) => match step.outcome() {
            Outcome::Refused => {
                after.edits() == step.edits && before.declared() == after.declared()
            }
            _ => !after.is_edited() && after.declared().is_empty(),
        },
        _ => is_same(before, after),
    }
}

fn is_same(a: &WorkingCopy, b: &WorkingCopy) -> bool {
    let same = |a: Option<&Arc<Value>>, b: Option<&Arc<Value>>| match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    same(a.read(), b.read()) && same(a.edited(), b.edited()) && a.declared() == b.declared()
}

/// The differences between two worlds in their actors and the selected object.
fn settings(before: &World, after: &World, map: &mut Map<String, Value>) {
    if before.subject() != after.subject() {
        let subject = after.subject();
        let place = json!([subject.resource().kind, subject.name()]);
        map.insert("o".to_owned(), place);
    }
    for id in ActorId::ALL {
        let (old, new) = (before.actor(id), after.actor(id));
        let mut actor = Map::new();
        for (key, old, new) in [
            ("n", &old.name, &new.name),
            ("m", &old.manager, &new.manager),
        ] {
            if old != new {
                actor.insert(key.to_owned(), new.as_ref().into());
            }
        }
        let write = new.write();
        if old.write() != write {
            actor.insert("w".to_owned(), write_to_json(&write));
        }
        let others = Strategy::ALL
            .iter()
            .filter(|other| **other != write.strategy);
        let others: Vec<Value> = others
            .filter(|other| old.write_by(**other) != new.write_by(**other))
            .map(|other| write_to_json(&new.write_by(*other)))
            .collect();
        if !others.is_empty() {
            actor.insert("k".to_owned(), others.into());
        }
        if !actor.is_empty() {
            map.insert(actor_code(id).to_owned(), Value::Object(actor));
        }
    }
}

//! Conditions on the writers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use optimist_apiserver::yaml::Located;
use optimist_client::RequestKind;
use optimist_simulation::{ActorId, Exchange, NodeId, Outcome};

use super::{Assertion, Condition, GoalLabel, Past, place};
use crate::FieldPath;
use crate::fields::{LessonError, LessonResult, items, members, word};
use crate::script::{ACTORS, STRATEGIES, by_actor};

/// The ways to make a version, by their words in a lesson.
fn words() -> impl Iterator<Item = (&'static str, RequestKind)> {
    let sent = STRATEGIES.iter();
    let sent = sent.map(|(word, strategy)| (*word, RequestKind::from(*strategy)));
    sent.chain([
        ("create", RequestKind::Create),
        ("delete", RequestKind::Delete),
    ])
}

/// The kind of a request, also of one by hand; `None` if it is no write that a lesson has a word for.
pub(super) fn written_by(exchange: &Exchange) -> Option<RequestKind> {
    let media_type = exchange.content_type.split(';').next().unwrap_or_default();
    let kind = RequestKind::from_request(exchange.method.as_str(), media_type.trim());
    words().any(|(_, known)| known == kind).then_some(kind)
}

fn word_for(kind: RequestKind) -> &'static str {
    let word = words().find(|(_, known)| *known == kind);
    word.map_or("", |(word, _)| word)
}

/// This actor was the last to change the value at a path.
#[derive(Debug)]
struct SetBy(FieldPath, ActorId);

/// Exactly these actors made new versions, each by these operations; both are sorted.
#[derive(Debug)]
struct Writers(Vec<(ActorId, Vec<RequestKind>)>);

pub(super) fn set_by(value: &Located) -> LessonResult<Vec<Condition>> {
    let members = members(value, "places and actors")?.iter();
    let conditions = members.map(|member| {
        let path = place(&member.key, member.line)?;
        Ok(Condition::new(SetBy(path, word(&member.value, &ACTORS)?)))
    });
    conditions.collect()
}

pub(super) fn writers(value: &Located) -> LessonResult<Vec<Condition>> {
    let known: Vec<_> = words().collect();
    let mut writers = Vec::new();
    for (actor, value) in by_actor(value)? {
        let kinds = items(value)?.iter().map(|item| word(item, &known));
        let mut kinds = kinds.collect::<LessonResult<Vec<RequestKind>>>()?;
        if kinds.is_empty() {
            let message = "a way of writing is missing here: leave out who does not write";
            return Err(LessonError::new(value.line, message));
        }
        kinds.sort();
        kinds.dedup();
        writers.push((actor, kinds));
    }
    writers.sort();
    Ok(vec![Condition::new(Writers(writers))])
}

impl SetBy {
    /// Finds the actor of the last step that changed the stored value at the path.
    fn setter(&self, past: Past<'_>) -> Option<ActorId> {
        let tree = past.tree();
        let key = tree.world().subject().key();
        let at = |node: NodeId| {
            let (_, object) = tree.world_at(node)?.server().store().get(key)?;
            self.0.find(object)
        };
        let nodes = past.nodes().into_iter().rev();
        let mut changed = nodes.filter(|node| {
            let parent = tree.parent(*node);
            parent.is_some_and(|parent| at(parent) != at(*node))
        });
        tree.step(changed.next()?)?.actor()
    }
}

impl Assertion for SetBy {
    fn holds(&self, past: Past<'_>) -> bool {
        self.setter(past) == Some(self.1)
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some(
            self.setter(past)
                .map_or("no actor", ActorId::letter)
                .to_owned(),
        )
    }

    fn label(&self) -> GoalLabel {
        GoalLabel {
            message: "goal_set_by",
            english: "{actor} has set {field}",
            arguments: vec![
                ("actor", self.1.letter().to_owned()),
                ("field", self.0.field().to_owned()),
            ],
        }
    }
}

impl fmt::Display for SetBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was set by {}", self.0, self.1.letter())
    }
}

impl Writers {
    /// Collects the writers of a part of a history, from the steps that stored a new version.
    fn from_past(past: Past<'_>) -> Self {
        let mut writers: BTreeMap<ActorId, BTreeSet<RequestKind>> = BTreeMap::new();
        for step in past.steps() {
            let kind = step.exchange.as_ref().and_then(written_by);
            if let (Outcome::Written, Some(actor), Some(kind)) =
                (step.outcome(), step.actor(), kind)
            {
                writers.entry(actor).or_default().insert(kind);
            }
        }
        let writers = writers.into_iter();
        let writers = writers.map(|(actor, kinds)| (actor, kinds.into_iter().collect()));
        Self(writers.collect())
    }

    /// `only A (apply) and B (update, delete)`.
    fn names(&self) -> String {
        if self.0.is_empty() {
            return "no actor".to_owned();
        }
        let writers = self.0.iter().map(|(actor, kinds)| {
            let kinds: Vec<&str> = kinds.iter().map(|kind| word_for(*kind)).collect();
            format!("{} ({})", actor.letter(), kinds.join(", "))
        });
        format!("only {}", writers.collect::<Vec<String>>().join(" and "))
    }
}

impl Assertion for Writers {
    fn holds(&self, past: Past<'_>) -> bool {
        Self::from_past(past).0 == self.0
    }

    /// A write that no row allows stays in the history, so the claim can never hold again.
    fn is_out_of_reach(&self, past: Past<'_>) -> bool {
        let wanted = |actor: ActorId, kind: &RequestKind| {
            let mut writers = self.0.iter();
            writers.any(|(writer, kinds)| *writer == actor && kinds.contains(kind))
        };
        let found = Self::from_past(past).0;
        let mut found = found.iter();
        found.any(|(actor, kinds)| kinds.iter().any(|kind| !wanted(*actor, kind)))
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some(Self::from_past(past).names())
    }
}

impl fmt::Display for Writers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} wrote", self.names())
    }
}

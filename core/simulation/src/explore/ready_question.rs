//! What must hold in every history of a ready program: the properties that its flaw breaks.

use std::sync::Arc;

use optimist_apiserver::object::Metadata;
use optimist_controller::controller_of;
use optimist_controller::program::{Kind, ReadyProgram, ReadyProgramName};
use optimist_controller::search::{FieldOf, Safety, Wish};
use serde_json::{Value, json};

use super::{ControllerQuestion, EditorPlan};
use crate::{ActorId, ControllerProgram, World};

impl ControllerQuestion {
    /// What is asked of every history from a world with a ready program: the properties of the
    /// program, with one restart, and the edit that editor A has not sent.
    ///
    /// `None` if the world has no ready program, if the properties do not fit its objects (all
    /// programs but the cleaner need exactly one object to work for, and no children of others),
    /// or if A has an edit that no [`EditorPlan`] can send.
    pub fn of_ready_program(world: &World) -> Option<Self> {
        let ControllerProgram::Ready(ready) = &world.start().controller.as_ref()?.program else {
            return None;
        };
        let editors = match world.copy(ActorId::A).is_edited() {
            true => vec![EditorPlan::pending(world, ActorId::A)?],
            false => Vec::new(),
        };
        let question = Self {
            editors,
            restarts: 1,
            settles: true,
            ..Self::default()
        };
        match ready.name {
            ReadyProgramName::Cleaner => Some(Self {
                always: vec![Safety::NotDeletedWhileOwnerLives(ready.child.clone())],
                ..question
            }),
            _ => ReadyObjects::of(world, ready)?.asked(question),
        }
    }
}

/// The objects with which a ready program works.
struct ReadyObjects<'a> {
    world: &'a World,
    ready: &'a ReadyProgram,
    /// The one object that it works for.
    parent: Arc<Value>,
    /// How many children the parent has.
    children: usize,
}

impl<'a> ReadyObjects<'a> {
    fn of(world: &'a World, ready: &'a ReadyProgram) -> Option<Self> {
        let parents = stored(world, &ready.parent)?;
        let [parent] = &parents[..] else {
            return None;
        };
        if !parent.meta_text("deletionTimestamp").is_empty() {
            return None;
        }
        let children = match ready.name.has_children() {
            true => stored(world, &ready.child)?,
            false => Vec::new(),
        };
        let is_own = |child: &Arc<Value>| {
            child.meta_text("deletionTimestamp").is_empty()
                && controller_of(child).and_then(|owner| owner.get("uid"))
                    == parent.pointer("/metadata/uid")
        };
        children.iter().all(is_own).then_some(Self {
            world,
            ready,
            parent: Arc::clone(parent),
            children: children.len(),
        })
    }

    /// A question with the properties of the program.
    fn asked(&self, question: ControllerQuestion) -> Option<ControllerQuestion> {
        let child = &self.ready.child;
        let (always, at_rest) = match self.ready.name {
            ReadyProgramName::ChildMaker => (self.at_most(1), vec![Wish::Count(1, child.clone())]),
            ReadyProgramName::Scaler => (
                self.at_most(self.largest_size()?),
                vec![Wish::CountIs(child.clone(), self.field("/spec/size"))],
            ),
            ReadyProgramName::StatusWriter => (
                Vec::new(),
                vec![Wish::Same(
                    self.field("/metadata/generation"),
                    self.field("/status/observedGeneration"),
                )],
            ),
            ReadyProgramName::FinalizerKeeper => (
                vec![Safety::NoEditLost],
                vec![Wish::Contains(
                    self.field("/metadata/finalizers"),
                    ReadyProgram::FINALIZER.to_owned(),
                )],
            ),
            ReadyProgramName::FieldOwner => (
                vec![Safety::NoEditLost],
                vec![Wish::Equal(self.field("/spec/size"), json!(3))],
            ),
            ReadyProgramName::Annotator => (
                Vec::new(),
                vec![Wish::Equal(
                    self.field("/metadata/annotations/seen"),
                    json!("yes"),
                )],
            ),
            ReadyProgramName::Copier => {
                self.largest_size()?;
                let copy = FieldOf {
                    kind: child.clone(),
                    name: format!("{}-copy", self.parent.name()),
                    field: "/data/size".to_owned(),
                };
                let same = Wish::SameText(self.field("/spec/size"), copy);
                (self.at_most(1), vec![same])
            }
            ReadyProgramName::Cleaner => return None,
        };
        Some(ControllerQuestion {
            always,
            at_rest,
            ..question
        })
    }

    /// That there are never more children than a number; nothing if there are more already.
    fn at_most(&self, most: usize) -> Vec<Safety> {
        match self.children <= most {
            true => vec![Safety::AtMost(most, self.ready.child.clone())],
            false => Vec::new(),
        }
    }

    fn field(&self, field: &str) -> FieldOf {
        FieldOf {
            kind: self.ready.parent.clone(),
            name: self.parent.name().to_owned(),
            field: field.to_owned(),
        }
    }

    /// The largest `spec.size` that the parent can have: the stored one, or that of A's edit.
    /// `None` if one of them is no size.
    fn largest_size(&self) -> Option<usize> {
        let size = |object: &Value| usize::try_from(object.pointer("/spec/size")?.as_u64()?).ok();
        let stored = size(&self.parent)?;
        let copy = self.world.copy(ActorId::A);
        let edited = copy.edited().filter(|edited| {
            copy.is_edited() && edited.meta_text("uid") == self.parent.meta_text("uid")
        });
        match edited {
            Some(edited) => Some(stored.max(size(edited)?)),
            None => Some(stored),
        }
    }
}

/// The stored objects of a kind, in every namespace.
fn stored(world: &World, kind: &Kind) -> Option<Vec<Arc<Value>>> {
    let server = world.server();
    let resource = server.resources().by_kind(&kind.api_version, &kind.kind)?;
    let prefix = format!("{}/", resource.storage_prefix);
    let objects = server.store().range(&prefix);
    Some(objects.map(|(_, _, object)| Arc::clone(object)).collect())
}

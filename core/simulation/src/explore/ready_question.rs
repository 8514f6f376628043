//! The properties that must hold in every history of ready programs: those that their flaws break.

use std::sync::Arc;

use optimist_apiserver::object::Metadata;
use optimist_checker::{FieldOf, Goal, Safety};
use optimist_controller::controller_of;
use optimist_controller::program::{Kind, ReadyProgram, ReadyProgramName};
use serde_json::{Value, json};

use super::ControllerQuestion;
use crate::{ActorId, ControllerProgram, World};

impl ControllerQuestion {
    /// Returns the question for every history from a world with ready programs: the properties of
    /// the programs, with one restart, and the edits that the editors have not sent.
    ///
    /// `None` if the world has no ready program whose properties fit its objects (all programs but the
    /// cleaner need exactly one object to work for, and no children of others).
    pub fn of_ready_program(world: &World) -> Option<Self> {
        let controllers = world.controllers();
        let mut asked = controllers
            .filter_map(|(id, _)| asked_properties(world, id))
            .peekable();
        asked.peek()?;
        let mut question = Self {
            settles: true,
            ..Self::of_orders(world)
        };
        for (always, at_rest) in asked {
            add_others(&mut question.always, always);
            add_others(&mut question.at_rest, at_rest);
        }
        Some(question)
    }
}

/// Adds the properties that another controller does not have too.
fn add_others<T: PartialEq>(known: &mut Vec<T>, more: Vec<T>) {
    for property in more {
        if !known.contains(&property) {
            known.push(property);
        }
    }
}

/// The reason why the properties of a ready program do not fit the objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The program works for one object of a kind, and there is another number of them.
    Parents {
        /// The kind.
        kind: String,
        /// The number of objects.
        count: usize,
    },
    /// The object for which it works is being deleted: its name.
    Deleting(String),
    /// An object of the kind of its children is not one of them, or is being deleted: the kind.
    OtherChild(String),
    /// A `spec.size` is no number, or is not known.
    Size,
}

/// The properties that must hold always, and those at rest.
type Properties = (Vec<Safety>, Vec<Goal>);

impl World {
    /// Returns why the program of a controller has no properties at this moment. `None` if it has some, or
    /// is no ready program.
    pub fn goals_misfit(&self, id: ActorId) -> Option<Misfit> {
        properties(self, id, |it| it.largest_stored_size())?.err()
    }

    /// Returns why no order of a controller's steps can be searched from this moment. `None` if they can, or if
    /// it has no ready program.
    pub fn orders_misfit(&self, id: ActorId) -> Option<Misfit> {
        properties(self, id, |it| it.largest_asked_size())?.err()
    }
}

/// The properties of the program of a controller, whatever of their edits the editors still send.
fn asked_properties(world: &World, id: ActorId) -> Option<Properties> {
    properties(world, id, |it| it.largest_asked_size())?.ok()
}

/// Returns the properties of the program of a controller, by the objects that were stored so far.
pub(crate) fn ready_properties(world: &World, id: ActorId) -> Option<Properties> {
    properties(world, id, |it| it.largest_stored_size())?.ok()
}

/// Returns the properties that must hold always and at rest, by the ready program of a controller and the
/// largest `spec.size`, or why they do not fit the objects. `None` if it has no ready program.
fn properties(
    world: &World,
    id: ActorId,
    size: fn(&ReadyObjects<'_>) -> Option<usize>,
) -> Option<Result<Properties, Misfit>> {
    let ready = ready_program(world, id)?;
    if ready.name == ReadyProgramName::Cleaner {
        let kept = Safety::NotDeletedWhileOwnerLives(ready.child.clone());
        return Some(Ok((vec![kept], Vec::new())));
    }
    Some(ReadyObjects::find(world, ready).and_then(|objects| {
        let properties = objects.properties(size(&objects));
        properties.ok_or(Misfit::Size)
    }))
}

fn ready_program(world: &World, id: ActorId) -> Option<&ReadyProgram> {
    match &world.start().controllers.get(&id)?.program {
        ControllerProgram::Ready(ready) => Some(ready),
        ControllerProgram::Written(_) => None,
    }
}

/// The `spec.size` at which a [`ReadyProgramName::FieldOwner`] keeps its object.
const FIELD_OWNER_SIZE: usize = 3;

/// The objects with which a ready program works.
struct ReadyObjects<'a> {
    world: &'a World,
    ready: &'a ReadyProgram,
    /// The one object that it works for.
    parent: Arc<Value>,
    /// The number of the parent's children.
    children: usize,
}

impl<'a> ReadyObjects<'a> {
    fn find(world: &'a World, ready: &'a ReadyProgram) -> Result<Self, Misfit> {
        let parents = stored(world, &ready.parent);
        let [parent] = &parents[..] else {
            return Err(Misfit::Parents {
                kind: ready.parent.kind.clone(),
                count: parents.len(),
            });
        };
        if !parent.meta_text("deletionTimestamp").is_empty() {
            return Err(Misfit::Deleting(parent.name().to_owned()));
        }
        let children = match ready.name.has_children() {
            true => stored(world, &ready.child),
            false => Vec::new(),
        };
        let is_own = |child: &Arc<Value>| {
            child.meta_text("deletionTimestamp").is_empty()
                && controller_of(child).and_then(|owner| owner.get("uid"))
                    == parent.pointer("/metadata/uid")
        };
        if !children.iter().all(is_own) {
            return Err(Misfit::OtherChild(ready.child.kind.clone()));
        }
        Ok(Self {
            world,
            ready,
            parent: Arc::clone(parent),
            children: children.len(),
        })
    }

    /// The properties of the program. `size` is the largest `spec.size` that somebody asks for.
    fn properties(&self, size: Option<usize>) -> Option<(Vec<Safety>, Vec<Goal>)> {
        let child = &self.ready.child;
        Some(match self.ready.name {
            ReadyProgramName::ChildMaker => (self.at_most(1), vec![Goal::Count(1, child.clone())]),
            ReadyProgramName::Scaler => (
                self.at_most(size?),
                vec![Goal::CountIs(child.clone(), self.field("/spec/size"))],
            ),
            ReadyProgramName::StatusWriter => (
                Vec::new(),
                vec![Goal::Same(
                    self.field("/metadata/generation"),
                    self.field("/status/observedGeneration"),
                )],
            ),
            ReadyProgramName::FinalizerKeeper => (
                vec![Safety::NoEditLost],
                vec![Goal::Contains(
                    self.field("/metadata/finalizers"),
                    ReadyProgram::FINALIZER.to_owned(),
                )],
            ),
            ReadyProgramName::FieldOwner => (
                vec![Safety::NoEditLost],
                vec![Goal::Equal(
                    self.field("/spec/size"),
                    json!(FIELD_OWNER_SIZE),
                )],
            ),
            ReadyProgramName::Annotator => (
                Vec::new(),
                vec![Goal::Equal(
                    self.field("/metadata/annotations/seen"),
                    json!("yes"),
                )],
            ),
            ReadyProgramName::Copier => {
                size?;
                let copy = FieldOf {
                    kind: child.clone(),
                    name: format!("{}-copy", self.parent.name()),
                    field: "/data/size".to_owned(),
                };
                let same = Goal::SameText(self.field("/spec/size"), copy);
                (self.at_most(1), vec![same])
            }
            ReadyProgramName::Cleaner => return None,
        })
    }

    /// Returns the property that there are never more children than a number.
    fn at_most(&self, most: usize) -> Vec<Safety> {
        vec![Safety::AtMost(most, self.ready.child.clone())]
    }

    fn field(&self, field: &str) -> FieldOf {
        FieldOf {
            kind: self.ready.parent.clone(),
            name: self.parent.name().to_owned(),
            field: field.to_owned(),
        }
    }

    /// The largest `spec.size` that the parent can have: the stored one, that of an editor's
    /// edit, or that of another controller. `None` if one of them is no size, or not known.
    fn largest_size(&self) -> Option<usize> {
        let stored = size_of(&self.parent)?.max(self.largest_size_of_others()?);
        let edited = self.world.editors_and_tools().filter_map(|editor| {
            let copy = self.world.copy(editor);
            let edited = copy.edited().filter(|_| copy.is_edited())?;
            (edited.uid() == self.parent.uid()).then_some(edited)
        });
        edited
            .map(|edited| size_of(edited))
            .try_fold(stored, |largest, size| Some(largest.max(size?)))
    }

    /// The largest number of children that there are, or that somebody asks for: those that are too many now are
    /// to be deleted.
    fn largest_asked_size(&self) -> Option<usize> {
        Some(self.largest_size()?.max(self.children))
    }

    /// The largest `spec.size` that another controller can write; 0 if none of them writes it. `None` for
    /// a program that somebody wrote.
    fn largest_size_of_others(&self) -> Option<usize> {
        let controllers = &self.world.start().controllers;
        let sizes = controllers.values().map(|start| match &start.program {
            ControllerProgram::Ready(ready) if ready.name == ReadyProgramName::FieldOwner => {
                Some(FIELD_OWNER_SIZE)
            }
            ControllerProgram::Ready(_) => Some(0),
            ControllerProgram::Written(_) => None,
        });
        sizes.max().unwrap_or(Some(0))
    }

    /// The largest `spec.size` that the parent has had. `None` if one of them is no size.
    fn largest_stored_size(&self) -> Option<usize> {
        let log = self.world.server().store().log_after(0);
        let versions = log.filter_map(|change| change.after.as_ref());
        let mut versions = versions.filter(|object| object.uid() == self.parent.uid());
        versions.try_fold(0, |largest, object| Some(largest.max(size_of(object)?)))
    }
}

fn size_of(object: &Value) -> Option<usize> {
    usize::try_from(object.pointer("/spec/size")?.as_u64()?).ok()
}

/// The stored objects of a kind, in every namespace.
fn stored(world: &World, kind: &Kind) -> Vec<Arc<Value>> {
    let server = world.server();
    let resource = server.resources().by_kind(&kind.api_version, &kind.kind);
    resource.map_or_else(Vec::new, |resource| {
        let prefix = format!("{}/", resource.storage_prefix);
        let objects = server.store().range(&prefix);
        objects.map(|(_, _, object)| Arc::clone(object)).collect()
    })
}

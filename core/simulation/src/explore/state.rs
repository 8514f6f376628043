//! The states of a search, and how they are compared.
//!
//! Two states are equal if no later step can distinguish them: the stored object is the same, the
//! actors are at the same point of their plans and have the same copies, and the same edits are
//! kept and lost. The numbers of the versions do not count, only whether a copy has the stored
//! version. `metadata.generation` does not count either, because it follows from the rest.
//!
//! What has changed since an actor was shown the object decides whether the actor counts as having
//! been shown an edit that the object already had. It is no part of a state's key: it follows from
//! the actor's copy and the stored object, but for a value that was removed and set again. With
//! three actors that write once each, no actor is left that could remove an edit that was removed,
//! restored and then written again. An actor that reads first is shown another object.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde_json::Value;

use crate::verdict::{Edit, UpdateTracker};
use optimist_apiserver::environment::Environment;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::ApiServer;
use optimist_apiserver::storage::Revision;
use optimist_client::{EditorProgress, NextRequest};

/// An index into [`Pool::objects`].
pub(super) type ObjectId = u32;
/// An index into [`Pool::servers`].
pub(super) type ServerId = u32;

/// An object with a version, and the index of its content without the version.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) object: Arc<Value>,
    pub(super) content: u32,
}

/// A state of the server.
#[derive(Clone, Debug)]
pub(super) struct ServerSnapshot {
    pub(super) server: ApiServer,
    /// The stored object.
    pub(super) stored: Option<ObjectId>,
    /// The state of its source of uids.
    source: u32,
}

/// All objects and servers of the search, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    pub(super) objects: Vec<Known>,
    /// The entries by the hash of their content.
    contents: HashMap<u64, Vec<ObjectId>>,
    pub(super) servers: Vec<ServerSnapshot>,
    by_store: HashMap<(Revision, Option<ObjectId>, u32), ServerId>,
    sources: Vec<Environment>,
    edits: Vec<Arc<Edit>>,
}

impl Pool {
    pub(super) fn object(&mut self, object: &Arc<Value>) -> ObjectId {
        let mut hasher = DefaultHasher::new();
        content(object).for_each(|member| member.hash(&mut hasher));
        let alike = self.contents.entry(hasher.finish()).or_default();
        let version = object.resource_version();
        let mut same = None;
        for id in alike.iter() {
            let Some(known) = self.objects.get(*id as usize) else {
                continue;
            };
            if Arc::ptr_eq(&known.object, object) || content(&known.object).eq(content(object)) {
                if known.object.resource_version() == version {
                    return *id;
                }
                same = Some(known.content);
            }
        }
        let id = self.objects.len() as ObjectId;
        alike.push(id);
        self.objects.push(Known {
            object: Arc::clone(object),
            // The first object represents all objects that differ only in the version.
            content: same.unwrap_or(id),
        });
        id
    }

    pub(super) fn server(&mut self, server: ApiServer, key: &str) -> ServerId {
        let stored = server
            .store()
            .get(key)
            .map(|(_, object)| Arc::clone(object));
        let stored = stored.map(|object| self.object(&object));
        let source = server.environment();
        let known = self.sources.iter().position(|known| known == source);
        let source = known.unwrap_or_else(|| {
            self.sources.push(source.clone());
            self.sources.len() - 1
        }) as u32;
        let servers = &mut self.servers;
        let place = (server.store().revision(), stored, source);
        *self.by_store.entry(place).or_insert_with(|| {
            servers.push(ServerSnapshot {
                server,
                stored,
                source,
            });
            servers.len() as ServerId - 1
        })
    }

    pub(super) fn stored(&self, server: ServerId) -> Option<&Known> {
        self.objects
            .get(self.servers.get(server as usize)?.stored? as usize)
    }

    fn edit(&mut self, edit: &Arc<Edit>) -> u32 {
        let known = self.edits.iter().position(|known| known == edit);
        known.unwrap_or_else(|| {
            self.edits.push(Arc::clone(edit));
            self.edits.len() - 1
        }) as u32
    }

    /// The content index of a copy, and whether it has the stored version.
    fn copy(&self, copy: Option<ObjectId>, stored: Option<ObjectId>) -> u32 {
        let known = copy.and_then(|copy| self.objects.get(copy as usize));
        known.map_or(0, |known| {
            2 + 2 * known.content + u32::from(self.same_version(copy, stored))
        })
    }

    /// The index can differ, because the stored form of an object can differ from the form that is
    /// read.
    fn same_version(&self, a: Option<ObjectId>, b: Option<ObjectId>) -> bool {
        let version = |id: Option<ObjectId>| {
            let known = self.objects.get(id? as usize)?;
            Some(known.object.resource_version())
        };
        version(a).is_some() && version(a) == version(b)
    }

    /// The key of a state, as numbers.
    pub(super) fn fingerprint(&mut self, state: &State) -> Box<[u32]> {
        let mut key = Vec::with_capacity(24);
        let server = &self.servers[state.server as usize];
        let stored = server.stored;
        key.push(server.source);
        key.push(stored.map_or(0, |id| 1 + self.objects[id as usize].content));
        let mut active = 0u32;
        for (i, actor) in state.actors.iter().enumerate() {
            if !actor.is_done() {
                active |= 1 << i;
            }
            self.add_actor(actor, stored, &mut key);
        }
        self.add_updates(&state.updates, active, &mut key);
        key.into_boxed_slice()
    }

    /// The point of an actor in its plan, and its copy.
    fn add_actor(&self, actor: &ActorProgress, stored: Option<ObjectId>, key: &mut Vec<u32>) {
        let next = actor.editor.next();
        let (phase, held) = match (next, actor.in_server) {
            (NextRequest::Read, _) => (0, 0),
            (NextRequest::Send, None) => (1, 0),
            (NextRequest::Send, Some(read)) => {
                let seen = self.servers[read.seen as usize].stored;
                let both = u32::from(self.same_version(actor.copy, seen));
                let held = self.copy(seen, stored) << 1 | both;
                (2 + u32::from(read.is_current), held)
            }
            (NextRequest::Nothing, _) => (4, 0),
        };
        let attempts = u32::from(actor.editor.attempts());
        key.push(phase << 24 | attempts << 16 | u32::from(actor.steps));
        if actor.is_done() {
            return;
        }
        let copy = actor.copy.filter(|_| next != NextRequest::Read);
        key.push(self.copy(copy, stored));
        key.push(held);
    }

    /// The results of the edits. `active` has the actors that are not done.
    fn add_updates(&mut self, updates: &UpdateTracker<u8>, active: u32, key: &mut Vec<u32>) {
        let left_out = updates
            .left_out()
            .iter()
            .fold(0u32, |mask, (i, _)| mask | 1 << i);
        let refused = updates.who_was_refused().iter();
        let refused = refused.fold(0u32, |all, (i, how)| all | (1 + *how as u32) << (2 * i));
        key.push(refused << 8 | left_out);
        let replaced: Vec<[u32; 2]> = updates
            .replaced()
            .iter()
            .map(|replaced| {
                let who = u32::from(replaced.owner) << 3 | u32::from(replaced.by) << 1;
                [self.edit(&replaced.edit), who | u32::from(replaced.retry)]
            })
            .collect();
        let lost: Vec<[u32; 2]> = updates
            .losses()
            .iter()
            .map(|loss| {
                let who = u32::from(loss.owner) << 3 | u32::from(loss.culprit) << 1;
                [self.edit(&loss.edit), who | u32::from(loss.blind)]
            })
            .collect();
        // Only an edit that another actor may still overwrite can be lost or replaced.
        let mask = |who: &[u8]| who.iter().fold(0u32, |mask, i| mask | 1 << i);
        let kept: Vec<[u32; 2]> = updates
            .kept()
            .iter()
            .map(|known| (known, active & !(1 << known.owner)))
            .filter(|(_, others)| *others != 0)
            .map(|(known, others)| {
                let danger = others << 8 | others & mask(&known.readers);
                [self.edit(&known.edit) << 2 | u32::from(known.owner), danger]
            })
            .collect();
        key.push((replaced.len() << 16 | lost.len()) as u32);
        for mut edits in [replaced, lost, kept] {
            edits.sort_unstable();
            key.extend(edits.into_iter().flatten());
        }
    }
}

/// The content of an object without its version: each member, and whether it is in metadata.
fn content(object: &Value) -> impl Iterator<Item = (bool, &String, &Value)> {
    let members = object.as_object().into_iter().flatten();
    let members = members.filter(|(name, _)| *name != "metadata");
    let metadata = object.metadata().into_iter().flatten();
    let metadata = metadata.filter(|(name, _)| *name != "resourceVersion" && *name != "generation");
    members
        .map(|(name, value)| (false, name, value))
        .chain(metadata.map(|(name, value)| (true, name, value)))
}

/// What the server has read for a request that it has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServerRead {
    pub(super) seen: ServerId,
    /// Whether the object came from etcd and not from the watch cache.
    pub(super) is_current: bool,
}

/// An actor in a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActorProgress {
    /// Where it is between its requests.
    pub(super) editor: EditorProgress,
    /// What the server has read for its request, if the request is in the server.
    pub(super) in_server: Option<ServerRead>,
    /// The number of its steps.
    pub(super) steps: u8,
    /// The object that it last read.
    pub(super) copy: Option<ObjectId>,
}

impl ActorProgress {
    pub(super) fn is_done(&self) -> bool {
        self.editor.next() == NextRequest::Nothing
    }
}

/// A state of the search.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) server: ServerId,
    pub(super) actors: Vec<ActorProgress>,
    pub(super) updates: UpdateTracker<u8>,
}

//! All objects and servers of a search, each once.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde_json::Value;

use optimist_apiserver::environment::Environment;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::ApiServer;
use optimist_apiserver::storage::Revision;

use crate::fast_hash::Mixer;
use optimist_apiserver::fast_map::FastMap;

/// An index into [`Pool::objects`].
pub(super) type PooledObjectId = u32;
/// An index into [`Pool::servers`].
pub(super) type ServerId = u32;

/// An object with a version.
#[derive(Clone, Debug)]
pub(super) struct PooledObject {
    pub(super) object: Arc<Value>,
    /// The index of its content without the version.
    content: u32,
    version: Option<Revision>,
}

/// A state of the server.
#[derive(Clone, Debug)]
struct ServerSnapshot {
    server: ApiServer,
    /// The state of its source of uids.
    source: u32,
}

/// All objects and servers of the search, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    pub(super) objects: Vec<PooledObject>,
    /// The entries by the hash of their content.
    contents: FastMap<u64, Vec<PooledObjectId>>,
    /// The entries by the address of their object, which the entry keeps.
    by_address: FastMap<usize, PooledObjectId>,
    servers: Vec<ServerSnapshot>,
    /// The stored object of each server.
    stored: Vec<Option<PooledObjectId>>,
    by_store: FastMap<(Revision, Option<PooledObjectId>, u32), ServerId>,
    sources: Vec<Environment>,
}

impl Pool {
    pub(super) fn object(&mut self, object: &Arc<Value>) -> PooledObjectId {
        let address = Arc::as_ptr(object) as usize;
        if let Some(id) = self.by_address.get(&address) {
            return *id;
        }
        let mut hasher = Mixer::default();
        content(object).for_each(|member| member.hash(&mut hasher));
        let alike = self.contents.entry(hasher.finish()).or_default();
        let version = object.resource_version();
        let generation = |object: &Value| {
            let generation = object.metadata().and_then(|meta| meta.get("generation"));
            generation.cloned()
        };
        let mut same = None;
        for id in alike.iter() {
            let Some(known) = self.objects.get(*id as usize) else {
                continue;
            };
            if content(&known.object).eq(content(object)) {
                // A tool that sends what another actor wrote makes a version without a generation.
                let is_same = known.object.resource_version() == version
                    && generation(&known.object) == generation(object);
                if is_same {
                    return *id;
                }
                same = Some(known.content);
            }
        }
        let id = self.objects.len() as PooledObjectId;
        alike.push(id);
        self.by_address.insert(address, id);
        self.objects.push(PooledObject {
            object: Arc::clone(object),
            // The first object represents all objects that differ only in the version.
            content: same.unwrap_or(id),
            version: version.parse().ok(),
        });
        id
    }

    /// The number of an object that is known by its address.
    pub(super) fn id_of_object(&self, object: &Arc<Value>) -> Option<PooledObjectId> {
        self.by_address
            .get(&(Arc::as_ptr(object) as usize))
            .copied()
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
        let place = (server.store().revision(), stored, source);
        *self.by_store.entry(place).or_insert_with(|| {
            self.servers.push(ServerSnapshot { server, source });
            self.stored.push(stored);
            self.servers.len() as ServerId - 1
        })
    }

    /// The part that the page shows of a search that is over: the objects, and which of them each server has
    /// stored.
    pub(super) fn shown_part(&self) -> Self {
        Self {
            objects: self.objects.clone(),
            stored: self.stored.clone(),
            ..Self::default()
        }
    }

    /// The number of objects and servers.
    pub(super) fn len(&self) -> usize {
        self.objects.len() + self.servers.len()
    }

    /// The server with a number.
    pub(super) fn get(&self, server: ServerId) -> Option<&ApiServer> {
        Some(&self.servers.get(server as usize)?.server)
    }

    /// The state of a server's source of uids.
    pub(super) fn source(&self, server: ServerId) -> u32 {
        self.servers
            .get(server as usize)
            .map_or(0, |known| known.source)
    }

    fn known_object(&self, object: Option<PooledObjectId>) -> Option<&PooledObject> {
        self.objects.get(object? as usize)
    }

    pub(super) fn stored_id(&self, server: ServerId) -> Option<PooledObjectId> {
        *self.stored.get(server as usize)?
    }

    /// The stored object of a server.
    pub(super) fn stored(&self, server: ServerId) -> Option<&Arc<Value>> {
        Some(&self.known_object(self.stored_id(server))?.object)
    }

    /// The content of an object, as a number above 0; 0 for none.
    pub(super) fn content(&self, object: Option<PooledObjectId>) -> u32 {
        self.known_object(object)
            .map_or(0, |known| 1 + known.content)
    }

    /// The content of a copy, and whether it has the stored version.
    pub(super) fn copy(&self, copy: Option<PooledObjectId>, stored: Option<PooledObjectId>) -> u32 {
        2 * self.content(copy) + u32::from(self.same_version(copy, stored))
    }

    /// The index can differ, because the stored form of an object can differ from the form that is
    /// read.
    pub(super) fn same_version(
        &self,
        a: Option<PooledObjectId>,
        b: Option<PooledObjectId>,
    ) -> bool {
        let version = |id: Option<PooledObjectId>| self.known_object(id)?.version;
        version(a).is_some() && version(a) == version(b)
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

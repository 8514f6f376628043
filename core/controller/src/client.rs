//! The client of a controller (`sigs.k8s.io/controller-runtime/pkg/client`): reads come from
//! caches or from the server, all writes go to the server.
//!
//! Each request is one step that the caller performs.

use std::sync::Arc;

use serde_json::Value;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{ApiServer, Resource};
pub use optimist_client::object_key as key;
use optimist_client::{AnsweredRequest, Call, Lost, ObjectStore, Sender};

use crate::api_error::{ApiError, answer_of};
use crate::cache::Cache;
use crate::own_writes::OwnWrites;

/// The place that answers a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// The controller's cache (`mgr.GetClient()`).
    Cache,
    /// The server (`mgr.GetAPIReader()`).
    Server,
}

/// The result of a cached read.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "camelCase")]
pub enum CachedObjects {
    /// A deep copy: the default of controller-runtime.
    #[default]
    DeepCopies,
    /// The cached object itself, as a lister of client-go gives it. A change of it changes the cache. With
    /// `UnsafeDisableDeepCopy`, controller-runtime still copies the struct: only its maps, lists and pointers are those
    /// of the cache (`pkg/cache/internal/cache_reader.go CacheReader.Get`, v0.24.1).
    Shared,
}

/// The answer to a read or a write.
pub type ClientResult<T> = Result<T, ApiError>;

/// The client of one controller. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub struct Client {
    manager: Arc<str>,
    /// Its last writes, if it reads its own writes; else `None`.
    own_writes: Option<OwnWrites>,
    /// In a box: a clone is made for each step, and seldom has one.
    answered: Option<Box<AnsweredRequest>>,
    /// The part of the next write that the network loses.
    loses: Option<Lost>,
}

impl Client {
    /// A client with the name of its controller: its user agent and field manager.
    pub fn new(manager: &str) -> Self {
        Self {
            manager: manager.into(),
            own_writes: None,
            answered: None,
            loses: None,
        }
    }

    /// The same, with cached reads that wait for the client's own writes
    /// (`EnableReadYourWritesConsistency`).
    pub fn reading_own_writes(mut self) -> Self {
        self.own_writes = Some(OwnWrites::default());
        self
    }

    /// The user agent and field manager.
    pub fn manager(&self) -> &str {
        &self.manager
    }

    /// Its last writes, if it reads its own writes.
    pub fn own_writes(&self) -> Option<&OwnWrites> {
        self.own_writes.as_ref()
    }

    /// Returns whether a cached Get of a key would answer now. If not, it waits for the cache.
    pub fn may_get(&self, cache: &Cache, key: &str) -> bool {
        let own = self.own_writes.as_ref();
        own.is_none_or(|own| own.may_get(cache, key))
    }

    /// Returns whether a cached List would answer now. If not, it waits for the cache.
    pub fn may_list(&self, cache: &Cache) -> bool {
        let own = self.own_writes.as_ref();
        own.is_none_or(|own| own.may_list(cache))
    }

    /// A cached Get. The result shares the cached object; a caller that changes it makes a copy
    /// first, unless it [shares](CachedObjects::Shared).
    ///
    /// # Errors
    /// The client's own NotFound.
    pub fn get(&self, cache: &Cache, namespace: &str, name: &str) -> ClientResult<Arc<Value>> {
        let key = cache.key(namespace, name);
        let object = cache.get(&key).cloned();
        object.ok_or_else(|| ApiError::not_in_cache(cache.resource(), name))
    }

    /// A cached List, by key.
    pub fn list(&self, cache: &Cache) -> Vec<Arc<Value>> {
        let objects = cache.objects().iter();
        objects.map(|(_, object)| Arc::clone(object)).collect()
    }

    /// The last request of [`send`](Self::send) with its answer, unless it was taken.
    pub fn take_answered(&mut self) -> Option<Box<AnsweredRequest>> {
        self.answered.take()
    }

    /// The items of the list that the last request was answered with.
    pub(crate) fn listed(&self) -> Vec<Arc<Value>> {
        let answered = self.answered.as_ref();
        answered.map_or_else(Vec::new, |answered| answered.items().to_vec())
    }

    /// Sets the message of the next write that the network loses, if there is a write before the
    /// end of a step.
    pub(crate) fn set_loses(&mut self, lost: Option<Lost>) {
        self.loses = lost;
    }

    /// A request. The version of the answer to a write is noted, if the client reads its own
    /// writes.
    ///
    /// # Errors
    /// The server's refusal, that there was no answer, or that no request can be made.
    pub fn send(
        &mut self,
        server: &mut ApiServer,
        resource: &Resource,
        call: &Call,
    ) -> ClientResult<Arc<Value>> {
        let Some(request) = call.request(resource, Sender::new(&self.manager)) else {
            return Err(ApiError::no_path());
        };
        let loses = self.loses.take_if(|_| !call.is_read());
        if loses == Some(Lost::Request) {
            return Err(ApiError::no_answer());
        }
        let response = server.handle(request.clone());
        let answered = AnsweredRequest::new(request, response);
        let answer = answer_of(&answered);
        self.answered = Some(Box::new(answered));
        if loses == Some(Lost::Answer) {
            return Err(ApiError::no_answer());
        }
        let answer = answer?;
        let version = answer.resource_version();
        if let (Some(own), false, false) =
            (&mut self.own_writes, version.is_empty(), call.is_read())
        {
            let collection = collection(resource, answer.namespace());
            own.wrote(&collection, &ObjectStore::key(&answer), version);
        }
        Ok(answer)
    }
}

/// The prefix of the keys of a collection in etcd, as [`Cache::prefix`] gives it.
pub(crate) fn collection(resource: &Resource, namespace: &str) -> String {
    let mut prefix = resource.storage_prefix.clone();
    if resource.namespaced && !namespace.is_empty() {
        prefix.push('/');
        prefix.push_str(namespace);
    }
    prefix.push('/');
    prefix
}

//! Lists: at which version, from the watch cache or from etcd, in one piece or in chunks
//! (`k8s.io/apiserver/pkg/storage`: `cacher/delegator.go`, `cacher/watch_cache.go` and
//! `etcd3/store.go`).

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::continue_token::ContinueToken;
use super::list_options::{ListOptions, VersionMatch, parse_version};
use super::read::{ListMeta, SharedList};
use super::scope::Scope;
use super::{ApiServer, Fact, ObjectAnswer, RequestInfo, Trace};
use crate::status::{Refusal, Status};
use crate::storage::{Entry, Revision};

/// The longest time that a read waits until the watch cache has the version that it asks for
/// (`blockTimeout`).
pub(super) const MAX_WAIT: Duration = Duration::from_secs(3);
/// The seconds after which a client should try again (`resourceVersionTooHighRetrySeconds`).
pub(super) const RETRY_SECONDS: u32 = 1;

const TOO_OLD: &str = "The resourceVersion for the provided list is too old.";
const TOO_OLD_TO_GO_ON: &str = "The provided continue parameter is too old to display a \
     consistent list result. You can start a new list without the continue parameter, or use the \
     continue token in this response to retrieve the remainder of the results. Continuing with \
     the provided token results in an inconsistent list - objects that were created, modified, or \
     deleted between the time the first chunk was returned and now may show up in the list.";

/// A list as asked for, read and checked.
struct ListQuery<'a> {
    info: &'a RequestInfo,
    options: &'a ListOptions,
    scope: Scope,
    /// The version asked for; 0 if none.
    version: Revision,
    token: Option<ContinueToken>,
}

/// The state of a collection from which a list is made.
struct ListState {
    version: Revision,
    objects: Vec<Entry>,
    /// The most items; 0 for all.
    limit: usize,
    /// The key prefix to which a continue token is relative.
    token_prefix: String,
}

impl ApiServer {
    pub(super) fn list(
        &mut self,
        info: &RequestInfo,
        options: &ListOptions,
        trace: &mut Trace,
    ) -> Result<ObjectAnswer, Refusal> {
        let (meta, items) = self.list_objects(info, options)?;
        trace.facts.push(Fact::Listed(meta.version));
        Ok(ObjectAnswer::list(SharedList::new(info, meta, items)))
    }

    /// The objects of a list, and the metadata of the list.
    pub(super) fn list_objects(
        &mut self,
        info: &RequestInfo,
        options: &ListOptions,
    ) -> Result<(ListMeta, Vec<Arc<Value>>), Refusal> {
        let query = ListQuery::read(info, options)?;
        let cached = self.caches.cache(info.stored_resource()).is_some();
        let from_cache = if cached {
            self.list_from_cache(&query)?
        } else {
            None
        };
        let state = match from_cache {
            Some(state) => state,
            None => self.list_from_store(&query)?,
        };
        Ok(query.chunk(self, state))
    }

    /// The answer of the watch cache; `None` if etcd answers.
    fn list_from_cache(&mut self, query: &ListQuery<'_>) -> Result<Option<ListState>, Refusal> {
        let resource = query.info.stored_resource();
        let single = matches!(query.scope, Scope::Single(_));
        let exact = match (query.options.version_match, &query.token) {
            (VersionMatch::Exact, _) => Some(query.version),
            (VersionMatch::Unset, Some(token)) => token.version,
            (VersionMatch::Unset, None) => query.legacy_exact().then_some(query.version),
            (VersionMatch::NotOlderThan, _) => None,
        };
        if exact.is_some() && single {
            return Ok(None);
        }
        let newest = self.store.revision();
        let newest_wanted = match (query.options.version_match, &query.token) {
            (VersionMatch::Unset, Some(_)) => true,
            (VersionMatch::Unset, None) => query.options.version.is_empty(),
            _ => false,
        };
        let wanted = match exact {
            Some(version) => version,
            None if newest_wanted => newest,
            None => query.version,
        };
        self.wait_for(wanted)?;
        let Some(cache) = self.caches.cache(resource) else {
            return Ok(None);
        };
        if exact.is_some() && wanted < cache.listable_from() {
            return Ok(None);
        }
        if wanted > cache.revision() {
            self.caches.catch_up(resource, newest);
        }
        let (version, objects) = match exact {
            Some(version) => (version, query.scope.at(&self.store, version)),
            None => {
                let version = self.caches.cache(resource).map_or(newest, |c| c.revision());
                (version, query.scope.now(&self.store))
            }
        };
        // The cache does not split a list of any version.
        let limit = match query.options.version.as_str() {
            "0" => 0,
            _ => query.limit(),
        };
        Ok(Some(ListState {
            version,
            objects,
            limit,
            token_prefix: query.scope.prefix().trim_end_matches('/').to_owned(),
        }))
    }

    /// Reads a list from etcd.
    fn list_from_store(&self, query: &ListQuery<'_>) -> Result<ListState, Refusal> {
        let newest = self.store.revision();
        let single = matches!(query.scope, Scope::Single(_));
        let exact = match (&query.token, query.options.version_match) {
            (Some(token), _) => token.version,
            (None, VersionMatch::Exact) => Some(query.version),
            (None, VersionMatch::Unset) if query.legacy_exact() && !single => Some(query.version),
            _ => None,
        };
        let exact = exact.filter(|version| *version > 0);
        let wanted = exact.unwrap_or_default().max(query.version);
        if wanted > newest {
            return Err(Status::too_large_version(wanted, newest, 0));
        }
        let version = exact.unwrap_or(newest);
        if version < self.store.compacted() {
            return Err(query.expired());
        }
        Ok(ListState {
            version,
            objects: match exact {
                Some(version) => query.scope.at(&self.store, version),
                None => query.scope.now(&self.store),
            },
            limit: query.limit(),
            token_prefix: query.scope.prefix().to_owned(),
        })
    }

    /// Waits until the watch cache is as new as asked for, which takes its time where that is
    /// still to come.
    pub(super) fn wait_for(&mut self, version: Revision) -> Result<(), Refusal> {
        let newest = self.store.revision();
        if version <= newest {
            return Ok(());
        }
        self.environment.advance(MAX_WAIT);
        Err(Status::too_large_version(version, newest, RETRY_SECONDS))
    }
}

impl<'a> ListQuery<'a> {
    /// `storage.ValidateListOptions`.
    fn read(info: &'a RequestInfo, options: &'a ListOptions) -> Result<Self, Refusal> {
        let scope = Scope::new(info, options);
        let token = match options.continue_token.as_str() {
            "" => None,
            token => Some(
                ContinueToken::decode(token, scope.prefix())
                    .map_err(|why| Status::bad_request(format!("invalid continue token: {why}")))?,
            ),
        };
        if token.is_some() && !matches!(options.version.as_str(), "" | "0") {
            let why = "specifying resource version is not allowed when using continue";
            return Err(Status::bad_request(why));
        }
        let version = parse_version(&options.version)
            .map_err(|why| Status::bad_request(format!("invalid resource version: {why}")))?;
        Ok(Self {
            info,
            options,
            scope,
            version,
            token,
        })
    }

    /// Returns whether a version without a match means exactly that version: it does where a limit asks
    /// for chunks.
    fn legacy_exact(&self) -> bool {
        self.limit() > 0 && !matches!(self.options.version.as_str(), "" | "0")
    }

    fn limit(&self) -> usize {
        usize::try_from(self.options.limit).unwrap_or_default()
    }

    /// The selected items after the `continue` token, up to the limit.
    fn chunk(&self, server: &ApiServer, state: ListState) -> (ListMeta, Vec<Arc<Value>>) {
        let resource = self.info.stored_resource();
        let start = self.token.as_ref().map_or("", |token| &token.start);
        let objects = &state.objects;
        let skipped = objects.partition_point(|(key, _)| key.as_ref() < start);
        let objects = &objects[skipped..];
        let mut meta = ListMeta::at(state.version);
        let mut items = Vec::new();
        for (i, (key, stored)) in objects.iter().enumerate() {
            let object = server.read_back(resource, stored);
            if !self.options.selector.matches(&object) {
                continue;
            }
            items.push(object);
            if items.len() == state.limit {
                let more = i + 1 < objects.len();
                if more {
                    let token = ContinueToken {
                        version: Some(state.version),
                        start: format!("{key}\0"),
                    };
                    meta.continue_token = token.encode(&state.token_prefix);
                }
                // With a selector, the number of remaining matches is unknown.
                if more && self.options.selector.is_empty() {
                    meta.remaining = Some(objects.len() - state.limit);
                }
                break;
            }
        }
        (meta, items)
    }

    /// Refuses a version that etcd cannot read any more. A list that was going on gets an offer to
    /// go on with the newest version instead.
    fn expired(&self) -> Refusal {
        let Some(token) = &self.token else {
            return Status::expired(TOO_OLD);
        };
        let mut status = Status::expired(TOO_OLD_TO_GO_ON);
        let inconsistent = ContinueToken {
            version: None,
            start: token.start.clone(),
        };
        status.continue_token = Some(inconsistent.encode(self.scope.prefix()));
        status
    }
}

#[cfg(test)]
mod tests;

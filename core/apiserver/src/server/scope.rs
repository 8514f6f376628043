//! The keys of the store that a list or watch reads (`Store.ListPredicate` and `WatchPredicate` of
//! `k8s.io/apiserver/pkg/registry/generic/registry`).

use std::sync::Arc;

use super::list_options::ListOptions;
use super::{RequestInfo, storage_key};
use crate::storage::{Entry, Revision, Store};

/// A place in the store.
#[derive(Clone, Debug)]
pub(super) enum Scope {
    /// Everything below a prefix, which ends with a slash.
    Below(String),
    /// One key: the request names its object.
    Single(String),
}

impl Scope {
    /// Returns the keys to look at: a selector of a namespace or name makes them fewer. A list that
    /// goes on looks at the keys that its path names.
    pub(super) fn new(info: &RequestInfo, options: &ListOptions) -> Self {
        let resource = info.stored_resource();
        let fresh = options.continue_token.is_empty();
        let required = |path| {
            let value = options.selector.requires(path).filter(|_| fresh);
            value.unwrap_or_default()
        };
        let mut namespace = info.namespace.as_str();
        if namespace.is_empty() && resource.namespaced {
            namespace = Some(required("metadata.namespace"))
                .filter(|name| is_label(name))
                .unwrap_or_default();
        }
        let name = required("metadata.name");
        let reachable = !namespace.is_empty() || !resource.namespaced;
        if reachable && is_path_segment(name) {
            return Self::Single(storage_key(resource, namespace, name));
        }
        Self::Below(storage_key(resource, namespace, "") + "/")
    }

    /// Returns the prefix of its keys.
    pub(super) fn prefix(&self) -> &str {
        match self {
            Self::Below(prefix) | Self::Single(prefix) => prefix,
        }
    }

    /// Returns whether a key is meant.
    pub(super) fn contains(&self, key: &str) -> bool {
        match self {
            Self::Below(prefix) => key.starts_with(prefix),
            Self::Single(single) => key == single,
        }
    }

    /// The objects that are there now, in key order.
    pub(super) fn now(&self, store: &Store) -> Vec<Entry> {
        let objects = store.range(self.prefix());
        objects
            .filter(|(key, _, _)| self.contains(key))
            .map(|(key, _, object)| (Arc::clone(key), Arc::clone(object)))
            .collect()
    }

    /// The objects that were there at a revision, in key order, compacted or not.
    pub(super) fn at(&self, store: &Store, revision: Revision) -> Vec<Entry> {
        let mut objects = store.rewound(self.prefix(), revision);
        objects.retain(|(key, _)| self.contains(key));
        objects
    }
}

/// Returns whether a name can be part of a key (`IsPathSegmentName`).
fn is_path_segment(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '%'])
}

/// Returns whether a name can be that of a namespace (`ValidateNamespaceName`).
fn is_label(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&name.len())
        && name.bytes().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

//! A request with its answer, as the ledger reads them: what the answer shows of an object.

use std::collections::BTreeSet;

use http::Method;
use serde_json::Value;

use super::ObjectRef;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{Fact, Facts};
use optimist_client::{AnsweredRequest, is_scale};

/// A request with its answer.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// The method.
    pub method: &'a Method,
    /// Path and query.
    pub target: &'a str,
    /// The name of the object in the request's body; empty if it has none.
    pub sent_name: &'a str,
    /// The status code.
    pub code: u16,
    /// The answer's body.
    pub received: &'a Value,
    /// The facts that explain the answer.
    pub facts: &'a [Fact],
}

impl<'a> From<&'a AnsweredRequest> for Answered<'a> {
    fn from(answered: &'a AnsweredRequest) -> Self {
        let method = answered.request.method();
        let facts = answered.response.extensions().get::<Facts>();
        Self {
            method,
            target: answered.target(),
            // Every other request names its object in its path.
            sent_name: match *method == Method::POST {
                true => answered.sent().name(),
                false => "",
            },
            code: answered.response.status().as_u16(),
            received: answered.received(),
            facts: facts.map_or(&[][..], |facts| &facts.0),
        }
    }
}

impl Answered<'_> {
    /// Returns whether it is a read.
    pub fn is_read(&self) -> bool {
        *self.method == Method::GET
    }

    pub(super) fn is_refused(&self) -> bool {
        self.code >= 400
    }

    pub(super) fn is_dry_run(&self) -> bool {
        self.facts.contains(&Fact::DryRun)
    }

    /// Returns whether its query asks for a dry run. The server may refuse it before it comes so far.
    pub(super) fn asks_for_dry_run(&self) -> bool {
        let query = self.target.split_once('?').map(|(_, query)| query);
        let mut options = query.into_iter().flat_map(|query| query.split('&'));
        options.any(|option| option == "dryRun=All")
    }

    pub(super) fn addresses(&self, object: &ObjectRef) -> bool {
        object.is_addressed_by(self.method, self.target, self.sent_name)
    }

    /// The uids of the objects that the answer contains, alone or in a list.
    pub(super) fn shown_uids(&self) -> BTreeSet<&str> {
        let items = self.items().into_iter().flatten();
        let all = items.chain([self.received]).map(Metadata::uid);
        all.filter(|uid| !uid.is_empty()).collect()
    }

    /// Returns whether the answer contains a stored object whose uid it [shows](Self::shown_uids). A Scale
    /// has the same uid but another kind.
    pub(super) fn shows(&self, stored: &Value) -> bool {
        let alone = text(self.received, "kind") == text(stored, "kind")
            && self.received.uid() == stored.uid();
        let mut items = self.items().into_iter().flatten();
        alone || items.any(|item| item.uid() == stored.uid())
    }

    /// Returns whether the answer is the Scale of a stored object.
    pub(super) fn shows_scale_of(&self, stored: &Value) -> bool {
        is_scale(self.received) && self.received.uid() == stored.uid()
    }

    /// Returns whether the answer tells that an object that is not stored does not exist: it is a 404 that
    /// names the object, a refusal because no object has the uid, or a list without the object.
    pub(super) fn shows_absence(&self, object: &ObjectRef) -> bool {
        let resource = object.resource();
        let path = self.target.split('?').next().unwrap_or_default();
        let segments: Vec<&str> = path.split('/').collect();
        let mut pairs = segments.windows(2);
        let in_namespace =
            !resource.namespaced || pairs.any(|pair| *pair == ["namespaces", object.namespace()]);
        let details = &self.received["details"];
        let names_object = text(details, "name") == object.name()
            && text(details, "kind") == resource.plural
            && text(details, "group") == resource.group_version.group;
        if in_namespace && names_object {
            let no_uid = |fact: &Fact| matches!(fact, Fact::UidDiffered { stored: None, .. });
            return self.code == 404 || self.facts.iter().any(no_uid);
        }
        // A query can leave objects out.
        let collections = [object.namespace(), ""].map(|namespace| resource.path(namespace, ""));
        let is_collection = collections
            .iter()
            .any(|collection| collection == self.target);
        self.code == 200 && self.items().is_some() && is_collection
    }

    fn items(&self) -> Option<&Vec<Value>> {
        self.received.get("items")?.as_array()
    }
}

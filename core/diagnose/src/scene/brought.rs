//! A scene whose refused write is a manifest that was brought.

use optimist_apiserver::object::Metadata;

use super::{Draft, path};
use crate::message::ManagerConflict;

impl Draft<'_> {
    /// Takes the manifest that was brought as the refused write, and as the object without the values of the conflict.
    /// Returns whether it can be that write: it has each field that the message names.
    pub(super) fn take_manifest(&mut self, conflicts: &[ManagerConflict]) -> bool {
        let Some(manifest) = &self.given.manifest else {
            return false;
        };
        let root = self.kind.root();
        let mut fields = conflicts.iter().flat_map(|it| &it.fields);
        let has_all = fields.all(|field| {
            let field = path::parse(field, root.as_deref());
            field.is_some_and(|field| field.find(manifest).is_some())
        });
        if !has_all {
            return false;
        }
        let identity = &self.live;
        let mut wanted = manifest.clone();
        wanted.set_meta("name", identity.name());
        if !identity.namespace().is_empty() {
            wanted.set_meta("namespace", identity.namespace());
        }
        let mut live = wanted.clone();
        for field in ["uid", "resourceVersion", "managedFields"] {
            live.set_meta(field, identity["metadata"][field].clone());
        }
        (self.live, self.wanted) = (live, wanted);
        true
    }
}

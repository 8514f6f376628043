//! The fields that each actor was shown, and the edits that are shown with them.

use std::sync::Arc;

use imbl::OrdSet;
use serde_json::Value;

use optimist_apiserver::apply::Path;
use optimist_apiserver::storage::Revision;
use optimist_client::Edit;

use super::{UpdateTracker, version_of};
use crate::changed_fields::{any_overlaps, is_index, item_of};
use crate::verdict::Acknowledged;

/// The newest version of the object that an actor was shown. Being shown does not end by reading
/// something older later.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShownVersion<Id> {
    pub(super) who: Id,
    pub(super) version: Revision,
    /// The fields that later writes have changed, including those that were changed back. Every
    /// other field has the value that the actor was shown.
    pub(super) changed: OrdSet<Arc<Path>>,
}

impl<Id> ShownVersion<Id> {
    /// Returns whether the field of an edit that holds was changed since then. The item of a list without
    /// keys can have come to its position from another one, so it is also looked up by its value.
    pub(super) fn is_changed(&self, edit: &Edit) -> bool {
        let by_value = || {
            let (_, list) = edit
                .path
                .0
                .split_last()
                .filter(|(last, _)| is_index(last))?;
            Some(item_of(list, edit.value.clone()?))
        };
        any_overlaps(&self.changed, &edit.path)
            || by_value().is_some_and(|path| any_overlaps(&self.changed, &path))
    }
}

impl<Id: Copy + PartialEq> UpdateTracker<Id> {
    /// Records that an actor was shown the stored object.
    pub fn read(&mut self, who: Id, object: &Value) {
        self.shows(who, |_| true);
        self.has_seen(who, version_of(object), OrdSet::new());
    }

    /// Records that an actor was told of some fields, such as by a refusal that names them.
    pub fn told_of(&mut self, who: Id, is_told: impl Fn(&Path) -> bool) {
        self.shows(who, |known| is_told(&known.edit.path));
    }

    /// Records that an actor was shown some of the edits in the object. Those of its own whose answers were
    /// lost are acknowledged now.
    fn shows(&mut self, who: Id, is_shown: impl Fn(&Acknowledged<Id>) -> bool) {
        for known in self.kept.iter_mut().chain(&mut self.unanswered) {
            if is_shown(known) {
                known.read_by(who);
            }
        }
        let mut at = 0;
        while let Some(known) = self.unanswered.get(at) {
            if known.owner == who && is_shown(known) {
                let known = self.unanswered.remove(at);
                self.acknowledge(who, vec![(known, true)]);
            } else {
                at += 1;
            }
        }
    }

    /// Records that an actor was shown the stored object except for some fields, as in the answer to a dry run. Values
    /// of these fields that the actor was shown before stay shown.
    pub(super) fn read_except(&mut self, who: Id, object: &Value, hidden: &[Arc<Path>]) {
        let hidden: OrdSet<Arc<Path>> = hidden.iter().cloned().collect();
        self.shows(who, |known| !any_overlaps(&hidden, &known.edit.path));
        let earlier = self.shown.iter().find(|shown| shown.who == who);
        let unknown = hidden
            .iter()
            .filter(|path| earlier.is_none_or(|earlier| any_overlaps(&earlier.changed, path)));
        let unknown = unknown.cloned().collect();
        self.has_seen(who, version_of(object), unknown);
    }

    /// Records that an actor was shown one field of the stored object, as by a Scale, and nothing else of it.
    pub(super) fn read_field(&mut self, who: Id, field: &Path) {
        self.shows(who, |known| field.leads_to(&known.edit.path));
        if let Some(shown) = self.shown.iter_mut().find(|shown| shown.who == who) {
            shown.changed.remove(field);
        }
    }

    /// Records that an actor was shown an earlier version of the object, such as one from a cache,
    /// and which fields have changed since that version.
    pub fn read_earlier(
        &mut self,
        who: Id,
        version: Revision,
        changed: impl IntoIterator<Item = Arc<Path>>,
    ) {
        self.shows(who, |known| known.since <= version);
        let newest = self.shown.iter().find(|shown| shown.who == who);
        if newest.is_none_or(|newest| newest.version < version) {
            self.has_seen(who, version, changed.into_iter().collect());
        }
    }

    /// Forgets the versions that some actors were shown: those who will write nothing more, or be shown the
    /// object before.
    pub fn forget_shown(&mut self, is_forgotten: impl Fn(Id) -> bool) {
        self.shown.retain(|shown| !is_forgotten(shown.who));
    }

    fn has_seen(&mut self, who: Id, version: Revision, changed: OrdSet<Arc<Path>>) {
        self.shown.retain(|shown| shown.who != who);
        self.shown.push(ShownVersion {
            who,
            version,
            changed,
        });
    }

    /// Records that an actor was answered that the object does not exist. The answer shows the
    /// deletion of the object, and no other edit.
    pub(super) fn not_found(&mut self, who: Id) {
        let deletions = self.kept.iter_mut();
        deletions
            .filter(|known| known.edit.is_deletion())
            .for_each(|known| known.read_by(who));
    }
}

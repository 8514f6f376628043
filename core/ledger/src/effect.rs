//! The effect of an answered request on one object, with the content that the answer showed.

use std::sync::Arc;

use serde_json::Value;

use optimist_apiserver::apply::Path;
use optimist_apiserver::schema::Struct;
use optimist_apiserver::server::ApiServer;
use optimist_apiserver::storage::Revision;

use super::changed_fields::changed_fields;
use super::{Answered, ObjectRef, RefusalKind};

/// The effect of an answered request on one object, with the content that the answer showed. It follows
/// from the request, its answer and the server. The sender of the request and its intention are no part
/// of it, so a search can keep it with the answer.
#[derive(Clone, Debug, Default)]
pub struct Effect {
    /// The kind of refusal, if the request was about the object.
    pub(super) refusal: Option<RefusalKind>,
    pub(super) is_read: bool,
    /// `true` if the request asks for a dry run, also if it was refused before the server came so far.
    pub(super) is_dry_run: bool,
    /// The stored object, if the answer to a read or to a dry run contains it.
    pub(super) shown: Option<Arc<Value>>,
    /// The fields that the answer contains with other values than the stored object: those that a dry run
    /// would have changed.
    pub(super) not_shown: Vec<Arc<Path>>,
    /// The field with the replicas, if the answer contains the Scale of the object and not the object.
    pub(super) scaled: Option<Path>,
    /// `true` if the answer tells that the object does not exist.
    pub(super) is_absent: bool,
    pub(super) writes: Vec<WrittenObject>,
}

/// One accepted write of an object.
#[derive(Clone, Debug)]
pub(super) struct WrittenObject {
    /// The stored object before; `None` if there was no object.
    pub(super) before: Option<Arc<Value>>,
    /// The stored object after; `None` if there is no object.
    pub(super) after: Option<Arc<Value>>,
    /// The fields whose stored value changed. The empty path is the whole object.
    pub(super) changed: Vec<Arc<Path>>,
    /// `true` if the answer contains the object. A Scale does not.
    pub(super) is_shown: bool,
    /// `true` if its writer was answered.
    pub(super) is_answered: bool,
}

impl Effect {
    /// An accepted write whose answer contains the object.
    pub fn write(before: Option<&Arc<Value>>, after: Option<&Arc<Value>>, root: &Struct) -> Self {
        Self {
            writes: vec![WrittenObject::new(before, after, true, root)],
            ..Self::default()
        }
    }

    /// Returns whether a write of the object was accepted, and was no dry run.
    pub fn is_write(&self) -> bool {
        !self.writes.is_empty()
    }

    /// The effect if the answer was lost: the same on the object, but nobody was told.
    pub fn unanswered(self) -> Self {
        let writes = self.writes.into_iter().map(|write| WrittenObject {
            is_shown: false,
            is_answered: false,
            ..write
        });
        Self {
            writes: writes.collect(),
            is_read: self.is_read,
            is_dry_run: self.is_dry_run,
            ..Self::default()
        }
    }

    /// Returns whether it neither did anything to the object nor told anything of it.
    pub(super) fn is_none(&self) -> bool {
        let says = self.refusal.is_some()
            || self.shown.is_some()
            || self.scaled.is_some()
            || self.is_absent;
        !says && self.writes.is_empty()
    }
}

impl WrittenObject {
    fn new(
        before: Option<&Arc<Value>>,
        after: Option<&Arc<Value>>,
        is_shown: bool,
        root: &Struct,
    ) -> Self {
        Self {
            changed: changed_fields(before.map(|it| &**it), after.map(|it| &**it), root),
            before: before.cloned(),
            after: after.cloned(),
            is_shown: is_shown && after.is_some(),
            is_answered: true,
        }
    }
}

impl Answered<'_> {
    /// Returns the effect of the request on an object. `is_about` is whether the request is about this
    /// object, and `since` is the version of the store before the request.
    pub fn effect(
        &self,
        object: &ObjectRef,
        is_about: bool,
        server: &ApiServer,
        since: Revision,
    ) -> Effect {
        let stored = server.store().get(object.key()).map(|(_, object)| object);
        let mut effect = Effect {
            is_read: self.is_read(),
            is_dry_run: self.is_dry_run() || self.asks_for_dry_run(),
            ..Effect::default()
        };
        let is_absent = stored.is_none() && self.shows_absence(object);
        if self.is_refused() {
            effect.is_absent = is_absent;
            let counts = is_about && !self.is_dry_run();
            effect.refusal = counts.then(|| RefusalKind::from_code(self.code));
        } else if self.is_read() {
            effect.is_absent = is_absent;
            effect.shown = stored.filter(|stored| self.shows(stored)).cloned();
            let scaled = stored.filter(|stored| self.shows_scale_of(stored));
            effect.scaled = scaled.map(|_| object.resource().replicas_field());
        } else if self.is_dry_run() {
            effect.shown = stored.filter(|stored| self.shows(stored)).cloned();
            let tried = effect.shown.as_deref();
            let changed = tried
                .map(|it| changed_fields(Some(it), Some(self.received), &object.resource().root));
            effect.not_shown = changed.unwrap_or_default();
        } else {
            let root = &object.resource().root;
            let write = |before: Option<&Arc<Value>>, after: Option<&Arc<Value>>| {
                let is_shown = after.is_some_and(|after| self.shows(after));
                WrittenObject::new(before, after, is_shown, root)
            };
            let mut log = server.store().log_after(since).peekable();
            if log.peek().is_none() && is_about {
                // It was accepted and stored nothing.
                effect.writes.push(write(stored, stored));
            }
            let changes = log.filter(|change| *change.key == *object.key());
            let changes =
                changes.map(|change| write(change.before.as_ref(), change.after.as_ref()));
            effect.writes.extend(changes);
            effect.is_absent = is_absent && effect.is_write();
        }
        effect
    }
}

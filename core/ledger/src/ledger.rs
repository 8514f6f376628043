//! The ledger of every object, from the start of a history.

use std::sync::Arc;

use imbl::OrdMap;
use serde_json::Value;

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{ApiServer, key_of};
use optimist_apiserver::storage::{Change, Revision};

use super::tracker::changed_fields;
use super::{Accepted, Answered, Done, Edit, ObjectRef, RefusalKind, UpdateTracker};

/// What has become of everyone's edits of every object. It is told each request with its answer,
/// and each read of a cache. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Ledger<Id> {
    objects: OrdMap<Arc<str>, Entry<Id>>,
}

#[derive(Clone, Debug)]
struct Entry<Id> {
    object: ObjectRef,
    updates: UpdateTracker<Id>,
}

/// What a write is for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Intention<'a> {
    /// The edits that its writer means to make. `None` if it means whatever it changes, as a
    /// request that was written by hand does.
    pub edits: Option<&'a [Arc<Edit>]>,
    /// Whether its writer reads again and repeats its edits after a conflict, without looking at
    /// the new values.
    pub retries: bool,
    /// The object that the edits are of, and that a request is about that names none of the
    /// ledger's. `None` if it is the one that the request changes.
    pub about: Option<&'a ObjectRef>,
}

impl<Id> Default for Ledger<Id> {
    fn default() -> Self {
        Self {
            objects: OrdMap::new(),
        }
    }
}

impl<Id: Copy + PartialEq> Ledger<Id> {
    /// The edits of the object with a key in the store; `None` if nobody wrote or read it.
    pub fn of(&self, key: &str) -> Option<&UpdateTracker<Id>> {
        self.objects.get(key).map(|entry| &entry.updates)
    }

    /// The edits of each object that somebody wrote or read, by its key in the store.
    pub fn objects(&self) -> impl Iterator<Item = (&str, &UpdateTracker<Id>)> {
        let objects = self.objects.iter();
        objects.map(|(key, entry)| (&**key, &entry.updates))
    }

    /// The same edits and readers under other names of the actors, with nothing lost, replaced,
    /// refused or left out so far: for a question about what happens from here on.
    pub fn renamed<Other: Clone>(&self, name: impl Fn(Id) -> Other) -> Ledger<Other> {
        let objects = self.objects.iter().map(|(key, entry)| {
            let renamed = Entry {
                object: entry.object.clone(),
                updates: entry.updates.renamed(&name),
            };
            (Arc::clone(key), renamed)
        });
        Ledger {
            objects: objects.collect(),
        }
    }

    /// Records what an answer showed an actor, and nothing else.
    pub fn shown(&mut self, who: Id, answered: Answered<'_>, server: &ApiServer) {
        let uids = answered.shown_uids();
        let is_shown = |object: &Value| uids.contains(object.uid()) && answered.shows(object);
        if !uids.is_empty() && !answered.is_refused() {
            let stored = server.store().range("/registry/");
            for (_, _, object) in stored.filter(|(_, _, object)| is_shown(object)) {
                if let Some(entry) = self.entry(server, object) {
                    entry.updates.read(who, object);
                }
            }
        }
        let absent = |(key, entry): &(&Arc<str>, &Entry<Id>)| {
            server.store().get(key).is_none() && answered.shows_absence(&entry.object)
        };
        let absent: Vec<_> = self.objects.iter().filter(absent).collect();
        let absent: Vec<Arc<str>> = absent.into_iter().map(|(key, _)| Arc::clone(key)).collect();
        for key in absent {
            if let Some(entry) = self.objects.get_mut(&key) {
                entry.updates.not_found(who);
            }
        }
    }

    /// Records an actor's request that is answered by now, and returns what it did to the edits of
    /// others. `since` is the version of the store before the request.
    pub fn request(
        &mut self,
        who: Id,
        answered: Answered<'_>,
        intention: Intention<'_>,
        server: &ApiServer,
        since: Revision,
    ) -> Done<Id> {
        let mut done = Done::default();
        if answered.is_refused() {
            self.shown(who, answered, server);
            done.contested = self.refused(who, answered, intention);
            return done;
        }
        if answered.is_read() {
            self.shown(who, answered, server);
            return done;
        }
        if answered.is_dry_run() {
            return done;
        }
        let log = server.store().log_after(since);
        let mut changed: Vec<Change> = log.cloned().collect();
        if changed.is_empty() {
            changed.extend(self.unchanged(answered, intention, server));
        }
        for change in &changed {
            done.append(self.written(who, answered, intention, server, change));
        }
        done
    }

    /// Records that an actor read an object from its cache, as it was when the cache got it.
    pub fn cached_read(&mut self, who: Id, object: &Value, server: &ApiServer) {
        let Ok(version) = object.resource_version().parse::<Revision>() else {
            return;
        };
        let Some(entry) = self.entry(server, object) else {
            return;
        };
        let before = version.saturating_sub(1);
        let mut log = server.store().log_after(before).peekable();
        // A client can change a cached object so that it is none that the server ever had.
        if log.next_if(|change| change.revision == version).is_none() {
            return;
        }
        let root = &entry.object.resource().root;
        let later = log.filter(|change| *change.key == *entry.object.key());
        let changed = later.flat_map(|change| {
            changed_fields(change.before.as_deref(), change.after.as_deref(), root)
        });
        entry.updates.read_earlier(who, version, changed);
    }

    /// Records that an actor that was refused has looked at the objects since, and has nothing more
    /// to do.
    pub fn is_content(&mut self, who: Id) {
        let refused = |updates: &UpdateTracker<Id>| {
            let mut refused = updates.who_was_refused().iter();
            refused.any(|(other, _)| *other == who)
        };
        let keys: Vec<Arc<str>> = self
            .objects
            .iter()
            .filter(|(_, entry)| refused(&entry.updates))
            .map(|(key, _)| Arc::clone(key))
            .collect();
        for key in keys {
            if let Some(entry) = self.objects.get_mut(&key) {
                entry.updates.is_content(who);
            }
        }
    }

    /// The entry of an object; a new one if there is none. `None` if the server has not its kind.
    fn entry(&mut self, server: &ApiServer, object: &Value) -> Option<&mut Entry<Id>> {
        let (api_version, kind) = (text(object, "apiVersion"), text(object, "kind"));
        let resource = server.resources().by_kind(api_version, kind)?;
        let key = key_of(resource, object);
        if !self.objects.contains_key(&*key) {
            self.add(ObjectRef::new(resource, object));
        }
        self.objects.get_mut(&*key)
    }

    fn add(&mut self, object: ObjectRef) {
        let entry = Entry {
            updates: UpdateTracker::default(),
            object,
        };
        self.objects.insert(entry.object.key().into(), entry);
    }

    /// The object that a request is about.
    fn addressed(&self, answered: Answered<'_>, intention: Intention<'_>) -> Option<ObjectRef> {
        let mut known = self.objects.values().map(|entry| &entry.object);
        let named = known.find(|object| answered.addresses(object));
        named.or(intention.about).cloned()
    }

    /// A write that was accepted and stored nothing, as a change.
    fn unchanged(
        &self,
        answered: Answered<'_>,
        intention: Intention<'_>,
        server: &ApiServer,
    ) -> Option<Change> {
        let key: Arc<str> = self.addressed(answered, intention)?.key().into();
        let stored = server.store().get(&key);
        let stored = stored.map(|(_, object)| Arc::clone(object));
        Some(Change {
            revision: server.store().revision(),
            key,
            before: stored.clone(),
            after: stored,
        })
    }

    /// Records a refusal. Returns whether it was of a write to an object with an edit of another
    /// actor.
    fn refused(&mut self, who: Id, answered: Answered<'_>, intention: Intention<'_>) -> bool {
        let object = self.addressed(answered, intention);
        let Some(object) = object.filter(|_| !answered.is_dry_run()) else {
            return false;
        };
        let key = object.key();
        if !self.objects.contains_key(key) {
            self.add(object.clone());
        }
        let Some(entry) = self.objects.get_mut(key) else {
            return false;
        };
        // A read after the actor has done its write does not count as a refusal.
        if !answered.is_read() || !entry.updates.has_written(who) {
            entry.updates.refused(who, RefusalKind::of(answered.code));
        }
        !answered.is_read() && entry.updates.has_edit_of_other(who)
    }

    fn written(
        &mut self,
        who: Id,
        answered: Answered<'_>,
        intention: Intention<'_>,
        server: &ApiServer,
        change: &Change,
    ) -> Done<Id> {
        let (before, after) = (change.before.as_ref(), change.after.as_ref());
        let entry = after.or(before).and_then(|it| self.entry(server, it));
        let Some(entry) = entry else {
            return Done::default();
        };
        if after.is_none() && answered.shows_absence(&entry.object) {
            entry.updates.not_found(who);
        }
        let resource = Arc::clone(entry.object.resource());
        let root = &resource.root;
        let whatever;
        // What else a request changes, its writer means too.
        let is_about = |object: &ObjectRef| *object.key() == *change.key;
        let meant = intention
            .edits
            .filter(|_| intention.about.is_none_or(is_about));
        let edits = match (meant, before, after) {
            (Some(edits), ..) => edits,
            (None, Some(before), Some(after)) => {
                whatever = Edit::between(before, after, root);
                &whatever
            }
            (None, Some(_), None) => {
                whatever = vec![Edit::deletion()];
                &whatever
            }
            (None, None, _) => &[],
        };
        let shown = after.filter(|object| answered.shows(object));
        // It changed no field, such as a request that sets the owners: no write of this object.
        if meant.is_none() && edits.is_empty() && before.is_some() {
            entry.updates.is_content(who);
            if let Some(object) = shown {
                entry.updates.read(who, object);
            }
            return Done::default();
        }
        let changed = changed_fields(before.map(|it| &**it), after.map(|it| &**it), root);
        entry.updates.accepted(
            who,
            Accepted {
                step: 0,
                edits,
                before,
                after,
                changed: &changed,
                shown: shown.is_some(),
                retries: intention.retries,
                root,
            },
        )
    }
}

//! The ledger of every object, from the start of a history.

use std::sync::Arc;

use imbl::OrdMap;
use serde_json::Value;

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::ApiServer;
use optimist_apiserver::storage::Revision;

use super::changed_fields::changed_fields;
use super::{Answered, Done, Edit, Effect, ObjectRef, UpdateTracker};

/// The record of everyone's edits of every object. Its caller reports each request with its answer,
/// and each read of a cache. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Ledger<Id> {
    objects: OrdMap<Arc<str>, LedgerEntry<Id>>,
}

#[derive(Clone, Debug)]
struct LedgerEntry<Id> {
    object: ObjectRef,
    updates: UpdateTracker<Id>,
}

/// The purpose of a write.
#[derive(Clone, Copy, Debug, Default)]
pub struct Intention<'a> {
    /// The edits that its writer means to make. `None` if it means whatever it changes, as a
    /// request that was written by hand does.
    pub edits: Option<&'a [Arc<Edit>]>,
    /// `true` if its writer reads again and repeats its edits after a conflict, without looking at
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

impl<Id: Clone> Ledger<Id> {
    /// The ledger of one object.
    pub fn of_object(object: ObjectRef, updates: UpdateTracker<Id>) -> Self {
        let key = object.key().into();
        Self {
            objects: OrdMap::unit(key, LedgerEntry { object, updates }),
        }
    }
}

impl<Id: Copy + PartialEq> Ledger<Id> {
    /// The edits of the object with a key in the store; `None` if nobody wrote or read it.
    pub fn updates(&self, key: &str) -> Option<&UpdateTracker<Id>> {
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
            let renamed = LedgerEntry {
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
    pub fn record_read(&mut self, who: Id, answered: Answered<'_>, server: &ApiServer) {
        let revision = server.store().revision();
        for object in self.concerned(answered, server, revision) {
            let effect = answered.effect(&object, false, server, revision);
            self.record(who, &object, &effect, Intention::default());
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
        self.tell(who, answered, intention, (server, since), |effect| effect)
    }

    /// The same of a request whose answer was lost: the server did what it did, and its writer was
    /// told nothing.
    pub fn unanswered(
        &mut self,
        who: Id,
        answered: Answered<'_>,
        intention: Intention<'_>,
        server: &ApiServer,
        since: Revision,
    ) -> Done<Id> {
        let (server, lose) = ((server, since), Effect::unanswered);
        self.tell(who, answered, intention, server, lose)
    }

    fn tell(
        &mut self,
        who: Id,
        answered: Answered<'_>,
        intention: Intention<'_>,
        (server, since): (&ApiServer, Revision),
        told: impl Fn(Effect) -> Effect,
    ) -> Done<Id> {
        let about = self.addressed(answered, intention);
        let mut objects = self.concerned(answered, server, since);
        let is_new = |about: &&ObjectRef| !objects.contains(about);
        let more: Option<ObjectRef> = about.as_ref().filter(is_new).cloned();
        objects.extend(more);
        let mut done = Done::default();
        for object in &objects {
            let is_about = about.as_ref() == Some(object);
            let effect = told(answered.effect(object, is_about, server, since));
            // What else a request changes, its writer means too.
            let edits = intention.edits;
            let edits = edits.filter(|_| intention.about.is_none_or(|about| about == object));
            done.append(self.record(who, object, &effect, Intention { edits, ..intention }));
        }
        done
    }

    fn record(
        &mut self,
        who: Id,
        object: &ObjectRef,
        effect: &Effect,
        intention: Intention<'_>,
    ) -> Done<Id> {
        if effect.is_none() {
            return Done::default();
        }
        let root = &object.resource().root;
        (self.entry(object).updates).answered(who, effect, intention, root)
    }

    /// The objects of which a request can have done or told something: those that it changed, those
    /// that its answer contains, and those that are gone.
    fn concerned(
        &self,
        answered: Answered<'_>,
        server: &ApiServer,
        since: Revision,
    ) -> Vec<ObjectRef> {
        let known = self.objects.values().map(|entry| &entry.object);
        let gone = known.filter(|object| server.store().get(object.key()).is_none());
        let mut objects: Vec<ObjectRef> = gone.cloned().collect();
        let mut add = |object: &Value| {
            let object = object_ref(server, object).filter(|object| !objects.contains(object));
            objects.extend(object);
        };
        let log = server.store().log_after(since);
        log.filter_map(|change| change.after.as_ref().or(change.before.as_ref()))
            .for_each(|object| add(object));
        let uids = answered.shown_uids();
        if answered.is_read() && !uids.is_empty() {
            let stored = server.store().range("/registry/");
            stored
                .filter(|(_, _, object)| uids.contains(object.uid()))
                .filter(|(_, _, object)| answered.shows(object) || answered.shows_scale_of(object))
                .for_each(|(_, _, object)| add(object));
        }
        objects
    }

    /// Records that an actor read an object from its cache, as it was when the cache got it.
    pub fn cached_read(&mut self, who: Id, object: &Value, server: &ApiServer) {
        let Ok(version) = object.resource_version().parse::<Revision>() else {
            return;
        };
        let Some(object) = object_ref(server, object) else {
            return;
        };
        let entry = self.entry(&object);
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

    /// The entry of an object; a new one if there is none.
    fn entry(&mut self, object: &ObjectRef) -> &mut LedgerEntry<Id> {
        (self.objects.entry(object.key().into())).or_insert_with(|| LedgerEntry {
            updates: UpdateTracker::default(),
            object: object.clone(),
        })
    }

    /// The object that a request is about.
    fn addressed(&self, answered: Answered<'_>, intention: Intention<'_>) -> Option<ObjectRef> {
        let mut known = self.objects.values().map(|entry| &entry.object);
        let named = known.find(|object| answered.addresses(object));
        named.or(intention.about).cloned()
    }
}

/// The reference to an object. `None` if the server has not its kind.
fn object_ref(server: &ApiServer, object: &Value) -> Option<ObjectRef> {
    let (api_version, kind) = (text(object, "apiVersion"), text(object, "kind"));
    let resource = server.resources().by_kind(api_version, kind)?;
    Some(ObjectRef::new(resource, object))
}

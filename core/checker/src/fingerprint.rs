//! Decides whether two states are the same. The numbers of versions and generations do not count,
//! only their order. Times of a clock do not count. Of uids and generated names, it only counts who
//! has the same one. Of the ledger, only the parts count that a process which can still write could
//! lose or learn.

mod digest;
mod given;

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde_json::Value;

use optimist_apiserver::apply::Path;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{ApiServer, key_of};
use optimist_apiserver::storage::Revision;
use optimist_ledger::Acknowledged;

use digest::Digester;
use given::Given;
use optimist_client::{Editor, Procedure};
use optimist_controller::program::{Run, Variable};
use optimist_controller::{Cache, Client, Controller};
use optimist_system::{Process, ProcessId, System};

/// A part of a state.
#[derive(Clone, Debug)]
enum Word {
    /// Counts as it is.
    Plain(u64),
    /// A number of which the order counts among all versions.
    Version(u64),
    /// A number of which the order counts among all generations.
    Generation(i64),
    /// A text of which only counts where it occurs again.
    Uid(Arc<str>),
    /// A text of which only the order counts among all generated names.
    Name(Arc<str>),
}

/// The words of an object.
type Digest = Arc<[Word]>;

/// The digests of objects, by their address. The objects are kept, so that no other object gets
/// the same address.
#[derive(Clone, Debug, Default)]
pub(super) struct Digests {
    known: HashMap<usize, (Arc<Value>, Digest)>,
    words: Vec<Word>,
    given: Given,
}

/// More digests are not kept.
const MOST_DIGESTS: usize = 20_000;

impl Digests {
    /// The digests for a search.
    pub(super) fn of(start: &System) -> Self {
        Self {
            given: Given::of(start),
            ..Self::default()
        }
    }

    /// The fingerprint of a state. A part of a state has 64 bits, so of a million different states two
    /// have the same fingerprint with a probability below 10⁻⁶.
    pub(super) fn fingerprint(&mut self, state: &System) -> u128 {
        if self.known.len() > MOST_DIGESTS {
            self.known.clear();
        }
        self.words.clear();
        self.plain(state.faults());
        let compacted = state.server().store().compacted();
        self.words.push(Word::Version(compacted));
        for (_, revision, object) in state.server().store().range("/registry/") {
            self.words.push(Word::Version(revision));
            self.object(object);
        }
        if let Some(behind) = state.behind() {
            self.plain(behind.store().range("/registry/").count());
            for (_, revision, object) in behind.store().range("/registry/") {
                self.words.push(Word::Version(revision));
                self.object(object);
            }
        }
        for process in state.processes() {
            match process {
                Process::Idle => {}
                Process::Procedure(Procedure::Editor(editor)) => self.editor(editor),
                // All of its state: two that differ in a version only are two states.
                Process::Procedure(other) => self.plain(other),
                Process::Controller(controller) => self.controller(state.server(), controller),
            }
        }
        self.ledger(state);
        ranked(&self.words)
    }

    fn plain(&mut self, value: impl Hash) {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        self.words.push(Word::Plain(hasher.finish()));
    }

    fn version(&mut self, version: &str) {
        self.words
            .push(Word::Version(version.parse().unwrap_or_default()));
    }

    fn object(&mut self, object: &Arc<Value>) {
        let address = Arc::as_ptr(object) as usize;
        let known = self
            .known
            .entry(address)
            .or_insert_with(|| (Arc::clone(object), Digester::object(object, &self.given)));
        self.words.extend(known.1.iter().cloned());
    }

    fn editor(&mut self, editor: &Editor) {
        self.plain((editor.next_request(), editor.attempts()));
        if editor.is_done() {
            return;
        }
        let copy = editor.copy();
        for object in [copy.read(), copy.edited()] {
            self.plain(object.is_some());
            object.into_iter().for_each(|object| self.object(object));
        }
        for field in copy.declared() {
            self.path(field);
        }
    }

    fn path(&mut self, path: &Path) {
        let words = Digester::path(path, &self.given);
        self.words.extend(words.iter().cloned());
    }

    /// The edits that a process can still lose, and what each process that can write was shown.
    fn ledger(&mut self, state: &System) {
        let writers = state.writers();
        if !state.keeps_ledger() || writers.len() < 2 {
            return;
        }
        for (key, updates) in state.ledger().objects() {
            let is_danger = |known: &Acknowledged<ProcessId>| {
                let mut others = writers.iter().filter(|writer| **writer != known.owner);
                others.any(|other| !known.readers.contains(other))
            };
            let kept = updates.kept().iter().filter(|known| is_danger(known));
            let mut kept: Vec<_> = kept.collect();
            kept.sort_by(|a, b| (a.owner, &a.edit.path).cmp(&(b.owner, &b.edit.path)));
            let oldest = oldest_readable(state, key);
            self.place(state.server(), key);
            self.plain(kept.len());
            for known in kept {
                let readers = writers.iter().filter(|it| known.readers.contains(it));
                let readers: Vec<_> = readers.filter(|reader| **reader != known.owner).collect();
                self.plain((known.owner, readers, known.edit.value.is_some()));
                self.path(&known.edit.path);
                if let Some(value) = &known.edit.value {
                    let name = known.edit.path.0.last();
                    let words = Digester::field(name, value, &self.given);
                    self.words.extend(words.iter().cloned());
                }
                self.readable(known.since, oldest);
            }
            let shown = updates.shown().filter(|(who, ..)| writers.contains(who));
            let mut shown: Vec<_> = shown.collect();
            shown.sort_by_key(|(who, ..)| *who);
            for (who, version, changed) in shown {
                self.plain((who, changed.len()));
                changed.iter().for_each(|field| self.path(field));
                self.readable(version, oldest);
            }
        }
    }

    /// Identifies an object by its place in the store, because a name can be generated.
    fn place(&mut self, server: &ApiServer, key: &str) {
        let mut stored = server.store().range("/registry/");
        match stored.position(|(stored, ..)| **stored == *key) {
            Some(place) => self.plain(place),
            None => self.plain(key),
        }
    }

    /// A version of which only counts which of the versions that can still be read from a cache are
    /// older.
    fn readable(&mut self, version: Revision, oldest: Option<Revision>) {
        match oldest {
            Some(oldest) if version > oldest => self.words.push(Word::Version(version)),
            _ => self.plain("older than all"),
        }
    }

    fn controller(&mut self, server: &ApiServer, controller: &Controller) {
        for cache in controller.caches() {
            self.cache(server, cache);
        }
        let queue = controller.queue();
        let lists: [Vec<&str>; 4] = [
            queue.queued().collect(),
            queue.dirty().collect(),
            queue.processing().collect(),
            queue.waiting().into_iter().map(|(key, _)| key).collect(),
        ];
        self.plain(lists);
        self.plain(queue.priorities());
        let expectations: Vec<_> = controller
            .expectations()
            .pending()
            .filter(|(owner, ..)| {
                let now = server.environment().elapsed();
                !controller.expectations().satisfied(owner, now)
            })
            .map(|(owner, creations, deletions, _)| (owner, creations, deletions))
            .collect();
        self.plain(expectations);
        self.unseen_writes(controller.caches(), controller.written().versions());
        self.own_writes(controller.caches(), controller.client());
        self.run(controller.run(), controller.caches());
    }

    fn cache(&mut self, server: &ApiServer, cache: &Cache) {
        self.plain((cache.is_watching(), cache.objects().len()));
        self.version(cache.version());
        for (_, object) in cache.objects().iter() {
            self.object(object);
        }
        let prefix = cache.prefix();
        let version = cache.version().parse().unwrap_or_default();
        for change in server.store().log_after(version) {
            if change.key.starts_with(&prefix) {
                self.words.push(Word::Version(change.revision));
                self.plain(change.after.is_some());
                if let Some(object) = change.after.as_ref().or(change.before.as_ref()) {
                    self.object(object);
                }
            }
        }
    }

    fn own_writes(&mut self, caches: &[Cache], client: &Client) {
        if let Some(own) = client.own_writes() {
            self.unseen_writes(
                caches,
                own.versions()
                    .map(|(collection, key, version)| (key, collection, version)),
            );
        }
    }

    /// Takes the writes that have not reached the cache: only those hold up a controller.
    fn unseen_writes<'a>(
        &mut self,
        caches: &[Cache],
        written: impl Iterator<Item = (&'a str, &'a str, &'a str)>,
    ) {
        for (owner, collection, version) in written {
            let mut caches = caches.iter().filter(|cache| cache.prefix() == collection);
            if caches.any(|cache| !cache.has_reached(version)) {
                self.plain((owner, collection));
                self.version(version);
            }
        }
    }

    fn run(&mut self, run: Option<&Run>, caches: &[Cache]) {
        let Some(run) = run else {
            self.plain("no run");
            return;
        };
        self.plain((run.key(), run.at()));
        for (place, remaining) in run.loops() {
            self.plain((place, remaining.len()));
            remaining.iter().for_each(|object| self.object(object));
        }
        self.words.push(Word::Uid(run.uid().into()));
        for (name, variable) in run.variables() {
            let (objects, shared) = match variable {
                Variable::Object { object, shared } => (std::slice::from_ref(object), *shared),
                Variable::List { objects, shared } => (objects.as_slice(), *shared),
            };
            self.plain((name, objects.len(), shared));
            for object in objects {
                self.object(object);
                if shared {
                    let mut cached = caches.iter().flat_map(|cache| cache.objects().iter());
                    self.plain(cached.any(|(_, cached)| Arc::ptr_eq(cached, object)));
                }
            }
        }
    }
}

/// The oldest version of an object that can still be read from a cache; `None` if no cache has its
/// kind.
fn oldest_readable(state: &System, key: &str) -> Option<Revision> {
    let caches = state.controllers().flat_map(Controller::caches);
    let caches = caches.filter(|cache| key.starts_with(&cache.prefix()));
    let version = |cache: &Cache| {
        let mut objects = cache.objects().iter().map(|(_, object)| object);
        let object = objects.find(|object| key_of(cache.resource(), object) == key);
        let version = object.map_or(cache.version(), |object| object.resource_version());
        version.parse().unwrap_or_default()
    };
    caches.map(version).min()
}

/// The words with each number replaced by its rank, as one number.
fn ranked(words: &[Word]) -> u128 {
    let (mut versions, mut generations) = (BTreeSet::new(), BTreeSet::new());
    let (mut names, mut uids) = (BTreeSet::new(), HashMap::new());
    for word in words {
        match word {
            Word::Version(version) => {
                versions.insert(*version);
            }
            Word::Generation(generation) => {
                generations.insert(*generation);
            }
            Word::Name(name) => {
                names.insert(name);
            }
            Word::Uid(uid) => {
                let next = uids.len();
                uids.entry(uid).or_insert(next);
            }
            Word::Plain(_) => {}
        }
    }
    let versions = places(versions.into_iter());
    let generations = places(generations.into_iter());
    let names = places(names.into_iter());
    let mut hashers = [DefaultHasher::new(), DefaultHasher::new()];
    hashers[1].write_u8(1);
    for word in words {
        let (kind, value) = match word {
            Word::Plain(value) => (0, *value),
            Word::Version(version) => (1, versions[version]),
            Word::Generation(generation) => (2, generations[generation]),
            Word::Name(name) => (3, names[name]),
            Word::Uid(uid) => (4, uids[uid] as u64),
        };
        for hasher in &mut hashers {
            hasher.write_u8(kind);
            hasher.write_u64(value);
        }
    }
    u128::from(hashers[0].finish()) << 64 | u128::from(hashers[1].finish())
}

fn places<T: Hash + Eq>(sorted: impl Iterator<Item = T>) -> HashMap<T, u64> {
    sorted.zip(0..).collect()
}

#[cfg(test)]
mod tests;

//! Decides whether two states are the same. The numbers of versions and generations do not count,
//! only their order. Times of a clock do not count. Of uids and generated names, it only counts who
//! has the same one. Of the ledger, only the parts count that a process which can still write could
//! lose or learn.

mod digest;
mod given;
mod ranks;

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use optimist_apiserver::apply::Path;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{ApiServer, key_of};
use optimist_apiserver::storage::Revision;
use optimist_ledger::Acknowledged;

use crate::fast_hash::Mixer;
use crate::memo::Memo;
use digest::Digester;
use given::Given;
use optimist_client::{Editor, Procedure, ProcedurePart};
use optimist_controller::program::{Run, Variable};
use optimist_controller::{Cache, Client, Controller};
use optimist_system::{Faults, Process, ProcessId, System};
use ranks::{StateRanks, TextId, Texts};

/// Returns whether a text looks like one that the server or a clock sets: a uid or a time. A [`PropertySearch`] takes
/// states as the same that differ in such texts alone, so a property that names one has no answer.
///
/// [`PropertySearch`]: crate::PropertySearch
pub fn is_interchangeable(text: &str) -> bool {
    digest::is_uid(text) || digest::is_time(text)
}

/// A part of a state.
#[derive(Clone, Copy, Debug)]
enum StateWord {
    /// Counts as it is.
    Plain(u64),
    /// A number of which the order counts among all versions.
    Version(u64),
    /// A number of which the order counts among all generations.
    Generation(i64),
    /// A text of which only counts where it occurs again.
    Uid(TextId),
    /// A text of which only the order counts among all generated names.
    Name(TextId),
}

/// Two numbers that a state has in common with the states that are the same, and with no other.
pub(super) type Fingerprint = [u64; 2];

/// The words of an object.
type Digest = Arc<[StateWord]>;

/// Everything that the fingerprint of a state depends on: the servers by their places, the processes and the
/// ledger by their addresses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct StateParts {
    place: u64,
    elapsed: Duration,
    behind: Option<u64>,
    faults: Faults,
    ledger: usize,
    processes: Box<[usize]>,
}

impl StateParts {
    /// The parts of a state. `None` if its servers do not tell their places.
    fn new(state: &System) -> Option<Self> {
        let behind = state.behind();
        let place = behind.and_then(ApiServer::place);
        (place.is_some() == behind.is_some()).then_some(())?;
        Some(Self {
            place: state.server().place()?,
            elapsed: state.server().environment().elapsed(),
            behind: place,
            faults: state.faults(),
            ledger: std::ptr::from_ref(state.ledger()) as usize,
            processes: state.processes().iter().map(Process::address).collect(),
        })
    }
}

/// The digests of objects, servers and processes. Objects and processes are found by their address: they
/// are kept, so that nothing else gets the same address.
#[derive(Clone, Debug, Default)]
pub(super) struct Digests {
    known: Memo<usize, (Arc<Value>, Digest)>,
    /// The words of each part of a state, reduced. A process is kept for its address.
    parts: Memo<StatePart, (Process, Digest)>,
    /// The fingerprints of whole states, which are kept for their addresses.
    states: Memo<StateParts, (Arc<System>, Fingerprint)>,
    words: Vec<StateWord>,
    given: Given,
    texts: Texts,
    ranks: StateRanks,
}

/// A part of a state whose words are made once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum StatePart {
    /// A server, by its place.
    Server(u64),
    /// A procedure or a controller, by its address.
    Process(usize),
}

impl Digests {
    /// The digests for a search.
    pub(super) fn for_search(start: &System) -> Self {
        Self {
            given: Given::from_start(start),
            ..Self::default()
        }
    }

    /// The fingerprint of a state, made once for all states with the same parts: two processes do
    /// something in either order, and each does it once.
    pub(super) fn fingerprint_once(&mut self, state: &Arc<System>) -> Fingerprint {
        let parts = StateParts::new(state);
        if let Some((_, known)) = parts.as_ref().and_then(|parts| self.states.get(parts)) {
            return *known;
        }
        let fingerprint = self.fingerprint(state);
        if let Some(parts) = parts {
            let known = (Arc::clone(state), fingerprint);
            self.states.insert(parts, known);
        }
        fingerprint
    }

    /// The fingerprint of a state. A part of a state has 64 bits, so of a million different states two
    /// have the same fingerprint with a probability below 10⁻⁶.
    pub(super) fn fingerprint(&mut self, state: &System) -> Fingerprint {
        self.words.clear();
        self.plain(state.faults());
        self.server(state.server());
        self.plain(state.behind().is_some());
        if let Some(behind) = state.behind() {
            self.server(behind);
        }
        for process in state.processes() {
            self.process(state.server(), process);
        }
        self.ledger(state);
        self.ranks.number(&self.words, &mut self.texts)
    }

    /// Adds the words of a part of a state. The words of a part that has a number are made once.
    fn part(
        &mut self,
        number: Option<StatePart>,
        process: &Process,
        words: impl FnOnce(&mut Self),
    ) {
        let known = number.and_then(|number| self.parts.get(&number));
        if let Some((_, known)) = known {
            self.words.extend_from_slice(known);
            return;
        }
        let begin = self.words.len();
        words(self);
        let whole = self.words.get(begin..).unwrap_or_default();
        let part: Digest = self.ranks.reduced(whole, &mut self.texts).into();
        self.words.truncate(begin);
        self.words.extend_from_slice(&part);
        if let Some(number) = number {
            self.parts.insert(number, (process.clone(), part));
        }
    }

    fn server(&mut self, server: &ApiServer) {
        let number = server.place().map(StatePart::Server);
        self.part(number, &Process::Idle, |digests| {
            let store = server.store();
            digests.words.push(StateWord::Version(store.compacted()));
            for (_, revision, object) in store.range("/registry/") {
                digests.words.push(StateWord::Version(revision));
                digests.object(object);
            }
        });
    }

    fn process(&mut self, server: &ApiServer, process: &Process) {
        let number = server
            .place()
            .map(|_| StatePart::Process(process.address()));
        match process {
            Process::Idle => {}
            Process::Procedure(procedure) => {
                self.part(number, process, |digests| digests.procedure(procedure));
            }
            Process::Controller(controller) => {
                self.part(number, process, |digests| digests.controller(controller));
                self.events_on_the_way(server, controller);
                self.expectations(server, controller);
            }
        }
    }

    fn plain(&mut self, value: impl Hash) {
        let mut hasher = Mixer::default();
        value.hash(&mut hasher);
        self.words.push(StateWord::Plain(hasher.finish()));
    }

    fn version(&mut self, version: &str) {
        self.words
            .push(StateWord::Version(version.parse().unwrap_or_default()));
    }

    fn object(&mut self, object: &Arc<Value>) {
        let address = Arc::as_ptr(object) as usize;
        if let Some((_, known)) = self.known.get(&address) {
            self.words.extend_from_slice(known);
            return;
        }
        let digest = Digester::object(object, &self.given, &mut self.texts);
        self.words.extend_from_slice(&digest);
        self.known.insert(address, (Arc::clone(object), digest));
    }

    fn procedure(&mut self, procedure: &Procedure) {
        for part in procedure.parts() {
            match part {
                ProcedurePart::Plain(hash) => self.plain(hash),
                ProcedurePart::Object(object) => {
                    let digest = Digester::object(object, &self.given, &mut self.texts);
                    self.words.extend_from_slice(&digest);
                }
                ProcedurePart::Editor(editor) => self.editor(editor),
            }
        }
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
        let words = Digester::path(path, &self.given, &mut self.texts);
        self.words.extend_from_slice(&words);
    }

    /// The edits that a process can still lose, and what each process that can write was shown.
    fn ledger(&mut self, state: &System) {
        if !state.keeps_ledger() {
            return;
        }
        let writers = state.writers();
        if writers.len() < 2 {
            return;
        }
        for (key, updates) in state.ledger().objects() {
            let is_danger = |known: &Acknowledged<ProcessId>| {
                let mut others = writers.iter().filter(|writer| **writer != known.owner);
                others.any(|other| !known.readers.contains(other))
            };
            let oldest = oldest_readable(state, key);
            self.place(state.server(), key);
            for edits in [updates.kept_edits(), updates.unanswered_edits()] {
                let edits = edits.iter().filter(|known| is_danger(known));
                self.edits(edits.collect(), &writers, oldest);
            }
            let shown = updates
                .shown_versions()
                .filter(|(who, ..)| writers.contains(who));
            let mut shown: Vec<_> = shown.collect();
            shown.sort_by_key(|(who, ..)| *who);
            for (who, version, changed) in shown {
                self.plain((who, changed.len()));
                changed.iter().for_each(|field| self.path(field));
                self.readable(version, oldest);
            }
        }
    }

    fn edits(
        &mut self,
        mut edits: Vec<&Acknowledged<ProcessId>>,
        writers: &[ProcessId],
        oldest: Option<Revision>,
    ) {
        edits.sort_by(|a, b| (a.owner, &a.edit.path).cmp(&(b.owner, &b.edit.path)));
        self.plain(edits.len());
        for known in edits {
            let readers = writers.iter().filter(|it| known.readers.contains(it));
            let readers: Vec<_> = readers.filter(|reader| **reader != known.owner).collect();
            self.plain((known.owner, readers, known.edit.value.is_some()));
            self.path(&known.edit.path);
            if let Some(value) = &known.edit.value {
                let name = known.edit.path.0.last();
                let words = Digester::field(name, value, &self.given, &mut self.texts);
                self.words.extend_from_slice(&words);
            }
            self.readable(known.since, oldest);
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
            Some(oldest) if version > oldest => self.words.push(StateWord::Version(version)),
            _ => self.plain("older than all"),
        }
    }

    fn controller(&mut self, controller: &Controller) {
        for cache in controller.caches() {
            self.cache(cache);
        }
        let queue = controller.queue();
        let mut hasher = Mixer::default();
        hash_all(queue.queued(), &mut hasher);
        hash_all(queue.dirty(), &mut hasher);
        hash_all(queue.processing(), &mut hasher);
        hash_all(queue.waiting().into_iter().map(|(key, _)| key), &mut hasher);
        queue.priorities().hash(&mut hasher);
        self.words.push(StateWord::Plain(hasher.finish()));
        self.unseen_writes(controller.caches(), controller.written().versions());
        self.own_writes(controller.caches(), controller.client());
        self.run(controller.run(), controller.caches());
    }

    /// The expectations that have not run out. Two servers of one place can have different times.
    fn expectations(&mut self, server: &ApiServer, controller: &Controller) {
        let now = server.environment().elapsed();
        let expectations = controller.expectations();
        let pending = expectations.pending();
        let mut pending = pending
            .filter(|(owner, ..)| !expectations.satisfied(owner, now))
            .map(|(owner, creations, deletions, _)| (owner, creations, deletions))
            .peekable();
        match pending.peek() {
            None => self.words.push(StateWord::Plain(0)),
            Some(_) => self.plain(pending.collect::<Vec<_>>()),
        }
    }

    fn cache(&mut self, cache: &Cache) {
        self.plain((cache.is_watching(), cache.objects().len()));
        self.version(cache.version());
        for (_, object) in cache.objects().iter() {
            self.object(object);
        }
    }

    /// The changes that have not reached the caches.
    fn events_on_the_way(&mut self, server: &ApiServer, controller: &Controller) {
        for (number, cache) in controller.caches().iter().enumerate() {
            self.plain(number);
            for change in cache.missed(server) {
                self.words.push(StateWord::Version(change.revision));
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
        let uid = self.texts.intern(run.uid());
        self.words.push(StateWord::Uid(uid));
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

/// Adds texts to a hash, and how many there are.
fn hash_all<'a>(texts: impl Iterator<Item = &'a str>, hasher: &mut Mixer) {
    let mut count = 0_usize;
    for text in texts {
        text.hash(hasher);
        count += 1;
    }
    count.hash(hasher);
}

/// The oldest version of an object that can still be read from a cache; `None` if no cache has its
/// kind.
fn oldest_readable(state: &System, key: &str) -> Option<Revision> {
    let caches = state.controllers().flat_map(Controller::caches);
    let caches = caches.filter(|cache| key.starts_with(cache.prefix()));
    let version = |cache: &Cache| {
        let mut objects = cache.objects().iter().map(|(_, object)| object);
        let object = objects.find(|object| key_of(cache.resource(), object) == key);
        let version = object.map_or(cache.version(), |object| object.resource_version());
        version.parse().unwrap_or_default()
    };
    caches.map(version).min()
}

#[cfg(test)]
mod tests;

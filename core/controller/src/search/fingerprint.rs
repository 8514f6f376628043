//! When two states are the same: the numbers of versions and generations do not count, only their
//! order; times do not count; uids and generated names count only for who has the same.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde_json::Value;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::ApiServer;

use super::SystemState;
use crate::cache::Cache;
use crate::client::Client;
use crate::controller::Controller;
use crate::program::{Run, Variable};

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
}

/// More digests are not kept.
const MOST_DIGESTS: usize = 20_000;

impl Digests {
    /// The fingerprint of a state. With 128 bits, two different states in a million have the same
    /// one with a probability below 10⁻²⁶.
    pub(super) fn fingerprint(&mut self, state: &SystemState) -> u128 {
        if self.known.len() > MOST_DIGESTS {
            self.known.clear();
        }
        self.words.clear();
        self.plain((state.restarts, state.timeouts));
        for (_, revision, object) in state.server().store().range("/registry/") {
            self.words.push(Word::Version(revision));
            self.object(object);
        }
        for controller in state.controllers() {
            self.controller(state.server(), controller);
        }
        for (revision, writer) in state.writers() {
            self.words.push(Word::Version(revision));
            self.plain(writer);
        }
        for editor in state.editors() {
            self.run(editor, &[]);
        }
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
        let known = self.known.entry(address).or_insert_with(|| {
            let mut digest = Digester::default();
            let generated = !object.meta_text("generateName").is_empty();
            digest.value("", object, generated.then(|| object.name()));
            (Arc::clone(object), digest.finish())
        });
        self.words.extend(known.1.iter().cloned());
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

    /// What was written and has not reached the cache: only that holds up a controller.
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

/// Makes the digest of an object.
#[derive(Default)]
struct Digester {
    hasher: DefaultHasher,
    words: Vec<Word>,
}

impl Digester {
    fn finish(mut self) -> Digest {
        self.words.push(Word::Plain(self.hasher.finish()));
        self.words.into()
    }

    fn value(&mut self, member: &str, value: &Value, generated_name: Option<&str>) {
        match value {
            Value::Object(members) => {
                members.len().hash(&mut self.hasher);
                for (name, value) in members {
                    name.hash(&mut self.hasher);
                    self.value(name, value, generated_name);
                }
            }
            Value::Array(items) => {
                items.len().hash(&mut self.hasher);
                for item in items {
                    self.value("", item, generated_name);
                }
            }
            Value::String(text) => self.text(member, text, generated_name),
            Value::Number(number) => match (member, number.as_i64()) {
                ("generation" | "observedGeneration", Some(generation)) => {
                    self.word(Word::Generation(generation));
                }
                _ => number.hash(&mut self.hasher),
            },
            other => other.hash(&mut self.hasher),
        }
    }

    fn text(&mut self, member: &str, text: &str, generated_name: Option<&str>) {
        if member == "resourceVersion" {
            self.word(Word::Version(text.parse().unwrap_or_default()));
        } else if is_uid(text) {
            self.word(Word::Uid(text.into()));
        } else if generated_name == Some(text) {
            self.word(Word::Name(text.into()));
        } else if is_time(text) {
            "time".hash(&mut self.hasher);
        } else {
            text.hash(&mut self.hasher);
        }
    }

    /// The place of the word is hashed with what is around it.
    fn word(&mut self, word: Word) {
        self.words.len().hash(&mut self.hasher);
        self.words.push(word);
    }
}

fn is_uid(text: &str) -> bool {
    text.len() == 36
        && [8, 13, 18, 23]
            .iter()
            .all(|at| text.as_bytes()[*at] == b'-')
}

fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 20 && bytes[10] == b'T' && bytes[19] == b'Z' && bytes[4] == b'-'
}

#[cfg(test)]
mod tests;

//! Two numbers for the words of a state, with each number and text that the server chose replaced by its
//! rank.

use std::hash::Hasher;
use std::sync::Arc;

use super::{Fingerprint, StateWord};
use crate::fast_hash::Mixer;
use optimist_apiserver::fast_map::FastMap;

/// An index into the known texts.
pub(super) type TextId = u32;

/// Uids and generated names, each once. The server draws them, so that all histories have the same ones:
/// they are as many as the longest history has.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    all: Vec<Arc<str>>,
    ids: FastMap<Arc<str>, TextId>,
    /// The rank of each text among those that there were when ranks were last asked for.
    ranks: Vec<u32>,
}

impl Texts {
    /// The number of a text.
    pub(super) fn intern(&mut self, text: &str) -> TextId {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let (text, id) = (Arc::<str>::from(text), self.all.len() as TextId);
        self.all.push(Arc::clone(&text));
        self.ids.insert(text, id);
        id
    }

    /// Ranks all texts, if some are new.
    fn rank(&mut self) {
        if self.ranks.len() == self.all.len() {
            return;
        }
        let mut sorted: Vec<_> = (0..).zip(&self.all).collect();
        sorted.sort_unstable_by_key(|(_, text)| *text);
        self.ranks = vec![0; sorted.len()];
        for (rank, (id, _)) in (0..).zip(sorted) {
            let id: TextId = id;
            self.ranks[id as usize] = rank;
        }
    }

    /// A text with its rank among all texts.
    fn ranked(&self, id: TextId) -> (u32, TextId) {
        let rank = self.ranks.get(id as usize);
        (rank.copied().unwrap_or_default(), id)
    }
}

/// Room for the ranks of one state after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct StateRanks {
    versions: Vec<u64>,
    generations: Vec<i64>,
    /// Each with its rank among all texts.
    names: Vec<(u32, TextId)>,
    /// In the order in which they occur.
    uids: Vec<TextId>,
    /// The rank of each uid, by its number; 0 for one that has not occurred.
    places: Vec<u32>,
    /// The fewer words of a part.
    reduced: Vec<StateWord>,
}

/// Two odd numbers without a pattern, from the digits of the square roots of 2 and 3.
const FACTORS: [u64; 2] = [0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b];

impl StateRanks {
    /// The words as two numbers.
    pub(super) fn number(&mut self, words: &[StateWord], texts: &mut Texts) -> Fingerprint {
        self.rank(words, texts);
        let numbers = self.mixed(words, texts);
        self.forget_uids();
        numbers
    }

    /// Fewer words that say the same of a part of a state: a number for the words with their ranks in
    /// this part, and once what has a rank among other parts, in the order of the ranks here.
    pub(super) fn reduced(&mut self, words: &[StateWord], texts: &mut Texts) -> &[StateWord] {
        self.rank(words, texts);
        let mixed = self.mixed(words, texts);
        let reduced = &mut self.reduced;
        reduced.clear();
        reduced.extend(mixed.map(StateWord::Plain));
        reduced.extend(self.versions.iter().copied().map(StateWord::Version));
        reduced.extend(self.generations.iter().copied().map(StateWord::Generation));
        reduced.extend(self.names.iter().map(|(_, name)| StateWord::Name(*name)));
        reduced.extend(self.uids.iter().copied().map(StateWord::Uid));
        self.forget_uids();
        &self.reduced
    }

    /// The words with their ranks, as two numbers.
    fn mixed(&self, words: &[StateWord], texts: &Texts) -> [u64; 2] {
        let mut mixers = FACTORS.map(Mixer::with_factor);
        for word in words {
            let (kind, value) = match word {
                StateWord::Plain(value) => (0, *value),
                StateWord::Version(version) => (1, place(self.versions.binary_search(version))),
                StateWord::Generation(number) => (2, place(self.generations.binary_search(number))),
                StateWord::Name(name) => (3, place(self.names.binary_search(&texts.ranked(*name)))),
                StateWord::Uid(uid) => {
                    let place = self.places.get(*uid as usize);
                    (4, place.copied().unwrap_or_default().into())
                }
            };
            for mixer in &mut mixers {
                mixer.write_u64(value ^ kind << 60);
            }
        }
        mixers.map(|mixer| mixer.finish())
    }

    fn forget_uids(&mut self) {
        for uid in self.uids.drain(..) {
            if let Some(place) = self.places.get_mut(uid as usize) {
                *place = 0;
            }
        }
    }

    fn rank(&mut self, words: &[StateWord], texts: &mut Texts) {
        texts.rank();
        self.versions.clear();
        self.generations.clear();
        self.names.clear();
        self.places.resize(texts.all.len(), 0);
        for word in words {
            match word {
                StateWord::Plain(_) => {}
                StateWord::Version(version) => self.versions.push(*version),
                StateWord::Generation(generation) => self.generations.push(*generation),
                StateWord::Name(name) => self.names.push(texts.ranked(*name)),
                StateWord::Uid(uid) => {
                    if let Some(place @ 0) = self.places.get_mut(*uid as usize) {
                        self.uids.push(*uid);
                        *place = self.uids.len() as u32;
                    }
                }
            }
        }
        self.versions.sort_unstable();
        self.versions.dedup();
        self.generations.sort_unstable();
        self.generations.dedup();
        self.names.sort_unstable();
        self.names.dedup();
    }
}

fn place(found: Result<usize, usize>) -> u64 {
    found.unwrap_or_default() as u64
}

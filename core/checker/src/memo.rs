//! A memory of what was worked out lately.

use std::hash::Hash;

use optimist_apiserver::fast_map::FastMap;

/// The values that were worked out last, by their keys: at least [`KEPT`] of them, and at most twice as many.
/// A search goes from near states to far ones, so it asks for what is new.
#[derive(Clone, Debug)]
pub(crate) struct Memo<K, V> {
    recent: FastMap<K, V>,
    older: FastMap<K, V>,
}

/// The number of values that are kept at least, once there were so many.
const KEPT: usize = 4_000;

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self {
            recent: FastMap::default(),
            older: FastMap::default(),
        }
    }
}

impl<K: Eq + Hash, V> Memo<K, V> {
    /// The value of a key, if it is kept.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.recent.get(key).or_else(|| self.older.get(key))
    }

    /// Keeps a value, and forgets the oldest ones if there are too many.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        if self.recent.len() >= KEPT {
            std::mem::swap(&mut self.recent, &mut self.older);
            self.recent.clear();
        }
        self.recent.insert(key, value);
    }

    /// The number of values that are kept.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.recent.len() + self.older.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_values_are_kept() {
        let mut memo = Memo::default();
        let many = 3 * KEPT;
        (0..many).for_each(|number| memo.insert(number, number + 1));
        assert_eq!(memo.get(&0), None);
        assert!((many - KEPT..many).all(|number| memo.get(&number) == Some(&(number + 1))));
        assert!(memo.len() < 2 * KEPT + 1, "{}", memo.len());
    }
}

//! The streams that wait for a server that several clients share, and those that a change wakes.

use std::collections::BTreeMap;
use std::task::Waker;

/// Those who wait. Each is woken once for each time that it is added.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    /// The number of those that ever waited.
    last: u64,
    /// Those who wait for whatever happens.
    for_anything: BTreeMap<u64, Waker>,
    /// Those who wait for a change of a key: the key itself, or what all keys begin with and that ends with a slash.
    for_keys: BTreeMap<Box<str>, BTreeMap<u64, Waker>>,
}

impl Waiters {
    /// Returns a number for one who will wait.
    pub(super) fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Adds one who waits, in place of what it waited for before.
    pub(super) fn add(&mut self, number: u64, key: Option<&str>, waker: &Waker) {
        let wakers = match key {
            None => &mut self.for_anything,
            Some(key) => {
                if !self.for_keys.contains_key(key) {
                    self.for_keys.insert(key.into(), BTreeMap::new());
                }
                let Some(wakers) = self.for_keys.get_mut(key) else {
                    return;
                };
                wakers
            }
        };
        wakers.insert(number, waker.clone());
    }

    /// Removes one who does not wait any more.
    pub(super) fn remove(&mut self, number: u64, key: Option<&str>) {
        self.for_anything.remove(&number);
        let Some(key) = key else {
            return;
        };
        if let Some(wakers) = self.for_keys.get_mut(key) {
            wakers.remove(&number);
            if wakers.is_empty() {
                self.for_keys.remove(key);
            }
        }
    }

    /// Wakes all, in the order of their numbers.
    pub(super) fn wake_all(&mut self) {
        let mut all = std::mem::take(&mut self.for_anything);
        for wakers in self.for_keys.values_mut() {
            all.append(wakers);
        }
        all.into_values().for_each(Waker::wake);
    }

    /// Wakes those who wait for a change of this key.
    pub(super) fn wake_for(&mut self, key: &str) {
        let slashes = key.match_indices('/').map(|(at, _)| &key[..=at]);
        for part in slashes.chain([key]) {
            if let Some(wakers) = self.for_keys.get_mut(part) {
                std::mem::take(wakers).into_values().for_each(Waker::wake);
            }
        }
    }

    /// Wakes those who wait for whatever happens.
    pub(super) fn wake_for_anything(&mut self) {
        let wakers = std::mem::take(&mut self.for_anything);
        wakers.into_values().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn counts<const N: usize>(waiting: &mut Waiters, keys: [Option<&str>; N]) -> [Arc<Count>; N] {
        keys.map(|key| {
            let count = Arc::new(Count::default());
            let number = waiting.number();
            waiting.add(number, key, &Waker::from(Arc::clone(&count)));
            count
        })
    }

    fn woken<const N: usize>(counts: &[Arc<Count>; N]) -> [usize; N] {
        std::array::from_fn(|at| counts[at].0.load(Ordering::Relaxed))
    }

    #[test]
    fn a_change_wakes_those_who_wait_for_its_key_or_for_what_it_begins_with() {
        let mut waiting = Waiters::default();
        let keys = [
            Some("/maps/"),
            Some("/maps/a/"),
            Some("/maps/a/x"),
            Some("/maps/a/xy"),
            Some("/maps/ab/"),
            None,
        ];
        let counts = counts(&mut waiting, keys);
        waiting.wake_for("/maps/a/x");
        assert_eq!(woken(&counts), [1, 1, 1, 0, 0, 0]);
        waiting.wake_for("/maps/a/x");
        assert_eq!(woken(&counts), [1, 1, 1, 0, 0, 0], "each is woken once");
        waiting.wake_for_anything();
        assert_eq!(woken(&counts), [1, 1, 1, 0, 0, 1]);
        waiting.wake_all();
        assert_eq!(woken(&counts), [1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn who_does_not_wait_any_more_leaves_nothing_behind() {
        let mut waiting = Waiters::default();
        for key in [None, Some("/maps/"), Some("/maps/a")] {
            let number = waiting.number();
            for _ in 0..3 {
                waiting.add(number, key, Waker::noop());
            }
            waiting.remove(number, key);
        }
        assert!(waiting.for_anything.is_empty() && waiting.for_keys.is_empty());
    }
}

//! Hashes that stand for what was hashed.

use std::hash::Hasher;

use optimist_apiserver::fast_map::FACTOR;

/// A hash whose every bit depends on every bit of what went in: two equal ones mean the same part of a
/// state. It multiplies to 128 bits and folds them, as wyhash does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mixer {
    state: u64,
    factor: u64,
}

impl Default for Mixer {
    fn default() -> Self {
        Self::with_factor(FACTOR)
    }
}

impl Mixer {
    /// A hash of its own for each odd factor.
    pub(crate) fn with_factor(factor: u64) -> Self {
        Self {
            state: factor.rotate_left(32),
            factor,
        }
    }

    fn add(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.factor);
        // The sum keeps the word where the product is zero.
        self.state = (product as u64 ^ (product >> 64) as u64).wrapping_add(word.rotate_left(17));
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words
            .iter()
            .for_each(|word| self.add(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        // The length tells a zero byte from none.
        self.add(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    fn write_u8(&mut self, number: u8) {
        self.add(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.add(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    fn finish(&self) -> u64 {
        let mut end = *self;
        end.add(self.factor >> 1);
        end.state
    }
}

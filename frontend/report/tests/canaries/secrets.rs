//! Secrets, each of them once.

/// Makes secrets, and knows those that it made.
#[derive(Default)]
pub struct Secrets {
    state: u64,
    all: Vec<String>,
}

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const HEX: &[u8] = b"0123456789abcdef";
const ALL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

impl Secrets {
    /// Secrets that no other number gives.
    pub fn new(seed: usize) -> Self {
        Self {
            state: (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            all: Vec::new(),
        }
    }

    /// The secrets that were made.
    pub fn all(&self) -> &[String] {
        &self.all
    }

    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn random_text(&mut self, letters: &[u8], length: usize) -> String {
        (0..length)
            .map(|_| char::from(letters[self.next() as usize % letters.len()]))
            .collect()
    }

    fn record(&mut self, secret: String) -> String {
        self.all.push(secret.clone());
        secret
    }

    /// Takes a text for a secret.
    pub fn also(&mut self, text: &str) {
        self.record(text.to_owned());
    }

    /// Words that a person makes up: no shape betrays them.
    pub fn word(&mut self) -> String {
        let secret = format!(
            "{}-{}",
            self.random_text(LETTERS, 6),
            self.random_text(LETTERS, 5)
        );
        self.record(secret)
    }

    /// A word with the signs that people put into passwords.
    pub fn signs(&mut self) -> String {
        let secret = format!(
            "{}!\"{}\\'%$é{}",
            self.random_text(LETTERS, 4),
            self.random_text(LETTERS, 4),
            self.random_text(ALL, 3)
        );
        self.record(secret)
    }

    /// Returns a text as a generator makes it.
    pub fn random(&mut self) -> String {
        // With all kinds of characters in every case.
        let secret = format!(
            "{}7{}Q4x{}9",
            self.random_text(ALL, 12),
            self.random_text(ALL, 9),
            self.random_text(ALL, 12)
        );
        self.record(secret)
    }

    pub fn hex(&mut self) -> String {
        let secret = self.random_text(HEX, 31) + "7";
        self.record(secret)
    }
}

//! The source of time and uids: values that the caller sets, never the machine.

use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

/// A point in time with whole seconds, as `metav1.Time` writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: u64,
}

impl Timestamp {
    /// Reads an RFC 3339 time; fractions of a second are dropped, as `metav1.Time` does.
    pub fn parse(text: &str) -> Option<Self> {
        let time = humantime::parse_rfc3339(text).ok()?;
        let seconds = time.duration_since(UNIX_EPOCH).ok()?.as_secs();
        Some(Self { seconds })
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = UNIX_EPOCH + Duration::from_secs(self.seconds);
        write!(f, "{}", humantime::format_rfc3339_seconds(time))
    }
}

/// A point in time with microseconds, as `metav1.MicroTime` writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MicroTime {
    /// Microseconds since 1970-01-01T00:00:00Z.
    pub micros: u64,
}

impl fmt::Display for MicroTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = Timestamp {
            seconds: self.micros / 1_000_000,
        };
        let text = seconds.to_string();
        let text = text.strip_suffix('Z').unwrap_or(&text);
        write!(f, "{text}.{:06}Z", self.micros % 1_000_000)
    }
}

/// The deterministic source of everything that a real server takes from its machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Environment {
    /// The time at which the environment began.
    start: Timestamp,
    elapsed: Duration,
    seed: u64,
    drawn: u64,
}

impl Default for Environment {
    fn default() -> Self {
        Self::new(0)
    }
}

/// 2026-01-01T00:00:00Z, where time begins if the caller does not say otherwise.
const START: Timestamp = Timestamp {
    seconds: 1_767_225_600,
};

/// 9999-12-31T23:59:59Z, the last second that RFC 3339 can write.
const END: u64 = 253_402_300_799;

impl Environment {
    /// A source that begins at 2026-01-01T00:00:00Z; equal seeds give equal uids and names.
    pub fn new(seed: u64) -> Self {
        Self {
            start: START,
            elapsed: Duration::ZERO,
            seed,
            drawn: 0,
        }
    }

    /// The same source with another beginning, such as the time outside; at most the end of the year
    /// 9999.
    #[must_use]
    pub fn beginning_at(mut self, start: Timestamp) -> Self {
        self.start.seconds = start.seconds.min(END);
        self
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        Timestamp {
            seconds: self.start.seconds + self.elapsed.as_secs(),
        }
    }

    /// The time now, with microseconds.
    pub fn micro_time(&self) -> MicroTime {
        MicroTime {
            micros: self.now().seconds * 1_000_000 + u64::from(self.elapsed.subsec_micros()),
        }
    }

    /// Returns the time that has passed since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Lets time pass, at most until the end of the year 9999: later times have no text.
    pub fn advance(&mut self, by: Duration) {
        let elapsed = self.elapsed.saturating_add(by);
        self.elapsed = elapsed.min(Duration::from_secs(END - self.start.seconds));
    }

    /// The same moment before anything was drawn: all that the outcome of an action depends on that draws
    /// nothing.
    #[must_use]
    pub fn undrawn(&self) -> Self {
        Self {
            drawn: 0,
            ..self.clone()
        }
    }

    /// The same moment with the draws of another environment: what an action that draws nothing leaves.
    #[must_use]
    pub fn with_draws_of(&self, other: &Self) -> Self {
        Self {
            drawn: other.drawn,
            ..self.clone()
        }
    }

    /// Returns whether as much was drawn as from another environment of the same seed.
    pub fn has_draws_of(&self, other: &Self) -> bool {
        (self.seed, self.drawn) == (other.seed, other.drawn)
    }

    /// The next pseudo-random number (SplitMix64).
    pub fn draw(&mut self) -> u64 {
        self.drawn += 1;
        let mut z = self
            .seed
            .wrapping_add(self.drawn.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The next pseudo-random number from 0 up to 1.
    pub fn fraction(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A fresh uid in the form of a random UUID (RFC 9562, version 4).
    pub fn uid(&mut self) -> String {
        let (a, b) = (self.draw(), self.draw());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            0x8000 | (b >> 48) & 0x3fff,
            b & 0xffff_ffff_ffff
        )
    }

    /// Five characters for a generated name, from the alphabet of `k8s.io/apimachinery/pkg/util/rand`.
    pub fn name_suffix(&mut self) -> String {
        const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
        let mut bits = self.draw();
        (0..5)
            .map(|_| {
                let letter = ALPHABET[(bits % 27) as usize];
                bits /= 27;
                char::from(letter)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_uids_and_another_seed_others() {
        let (mut a, mut b, mut c) = (
            Environment::new(7),
            Environment::new(7),
            Environment::new(8),
        );
        let uid = a.uid();
        assert_eq!(uid, b.uid());
        assert_ne!(uid, c.uid());
        assert_ne!(uid, a.uid());
        assert_eq!(uid.len(), 36);
    }

    #[test]
    fn time_begins_where_the_caller_says_and_ends_where_it_has_no_text() {
        let start = Timestamp::parse("2031-02-03T04:05:06Z").unwrap();
        let mut environment = Environment::new(1).beginning_at(start);
        assert_eq!(environment.now().to_string(), "2031-02-03T04:05:06Z");
        environment.advance(Duration::from_secs(4));
        assert_eq!(environment.now().to_string(), "2031-02-03T04:05:10Z");
        environment.advance(Duration::MAX);
        assert_eq!(environment.now().to_string(), "9999-12-31T23:59:59Z");
        let late = Timestamp { seconds: u64::MAX };
        let late = Environment::new(1).beginning_at(late);
        assert_eq!(late.now().to_string(), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn time_passes_only_when_told_and_is_written_in_whole_seconds() {
        let mut environment = Environment::default();
        assert_eq!(environment.now().to_string(), "2026-01-01T00:00:00Z");
        environment.advance(Duration::from_millis(1999));
        assert_eq!(environment.now().to_string(), "2026-01-01T00:00:01Z");
        let mut late = environment.clone();
        for _ in 0..2 {
            late.advance(Duration::MAX);
            assert_eq!(late.now().to_string(), "9999-12-31T23:59:59Z");
        }
        assert_eq!(
            Timestamp::parse("2026-01-01T00:00:01.5Z"),
            Some(environment.now())
        );
    }
}

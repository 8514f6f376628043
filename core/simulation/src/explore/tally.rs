//! Histories, counted.

use crate::verdict::Verdict;

/// How many histories ended with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// [`Verdict::Kept`].
    pub kept: u128,
    /// [`Verdict::LeftOut`].
    pub left_out: u128,
    /// [`Verdict::Refused`].
    pub refused: u128,
    /// [`Verdict::Lost`].
    pub lost: u128,
}

impl Tally {
    /// Those of one verdict.
    pub fn of(&self, verdict: Verdict) -> u128 {
        match verdict {
            Verdict::Kept => self.kept,
            Verdict::LeftOut => self.left_out,
            Verdict::Refused => self.refused,
            Verdict::Lost => self.lost,
        }
    }

    /// All of them.
    pub fn total(&self) -> u128 {
        Verdict::ALL
            .iter()
            .fold(0, |sum, verdict| self.of(*verdict).saturating_add(sum))
    }

    pub(super) fn add(&mut self, verdict: Verdict, histories: u128) {
        let place = match verdict {
            Verdict::Kept => &mut self.kept,
            Verdict::LeftOut => &mut self.left_out,
            Verdict::Refused => &mut self.refused,
            Verdict::Lost => &mut self.lost,
        };
        *place = place.saturating_add(histories);
    }

    pub(super) fn add_all(&mut self, other: &Tally) {
        for verdict in Verdict::ALL {
            self.add(verdict, other.of(verdict));
        }
    }
}

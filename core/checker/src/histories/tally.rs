//! Counts of histories.

use optimist_ledger::{RefusalKind, Verdict};

/// The number of histories with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// [`Verdict::InObject`].
    pub in_object: u128,
    /// [`Verdict::Replaced`].
    pub replaced: u128,
    /// [`Verdict::LeftOut`].
    pub left_out: u128,
    /// [`Verdict::Refused`].
    pub refused: u128,
    /// [`Verdict::Lost`].
    pub lost: u128,
    /// The number of refused histories for each of [`RefusalKind::ALL`].
    pub refusals: [u128; 3],
}

impl Tally {
    /// The histories with one verdict.
    pub fn histories_with(&self, verdict: Verdict) -> u128 {
        match verdict {
            Verdict::InObject => self.in_object,
            Verdict::Replaced => self.replaced,
            Verdict::LeftOut => self.left_out,
            Verdict::Refused => self.refused,
            Verdict::Lost => self.lost,
        }
    }

    /// The histories in which every acknowledged edit is in the object or was replaced knowingly.
    pub fn without_loss(&self) -> u128 {
        self.in_object.saturating_add(self.replaced)
    }

    /// The refused histories with one kind of refusal.
    pub fn refused_by(&self, refusal: RefusalKind) -> u128 {
        let kinds = RefusalKind::ALL.into_iter().zip(self.refusals);
        let mut kinds = kinds.filter(|(kind, _)| *kind == refusal);
        kinds.next().map_or(0, |(_, count)| count)
    }

    /// All of them.
    pub fn total(&self) -> u128 {
        Verdict::ALL.iter().fold(0, |sum, verdict| {
            self.histories_with(*verdict).saturating_add(sum)
        })
    }

    pub(super) fn add(&mut self, verdict: Verdict, refusal: Option<RefusalKind>, histories: u128) {
        let place = match verdict {
            Verdict::InObject => &mut self.in_object,
            Verdict::Replaced => &mut self.replaced,
            Verdict::LeftOut => &mut self.left_out,
            Verdict::Refused => &mut self.refused,
            Verdict::Lost => &mut self.lost,
        };
        *place = place.saturating_add(histories);
        if verdict == Verdict::Refused {
            for (kind, count) in RefusalKind::ALL.into_iter().zip(&mut self.refusals) {
                if refusal == Some(kind) {
                    *count = count.saturating_add(histories);
                }
            }
        }
    }

    pub(super) fn add_all(&mut self, other: &Tally) {
        for verdict in Verdict::ALL {
            self.add(verdict, None, other.histories_with(verdict));
        }
        for (count, more) in self.refusals.iter_mut().zip(other.refusals) {
            *count = count.saturating_add(more);
        }
    }
}

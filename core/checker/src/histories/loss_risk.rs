//! The ways of writing by what a search found about lost edits.

use optimist_ledger::RefusalKind;

use super::{HistorySearch, SearchStatus, TransitionKind};

/// The result of a search about lost edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossRisk {
    /// Every order was searched, none loses an edit, and some order ends with every edit stored.
    Never,
    /// Every order was searched, none loses an edit, and none ends with every edit stored: in each
    /// one the server refuses or leaves out an edit.
    NeverStored,
    /// Some order loses an edit. It is known as soon as one is found.
    Possible,
    /// Every order was searched, none loses an edit, and some process cannot write like this here:
    /// the server refuses each of its writes as not possible (415, 422), or it sends none.
    Impossible,
    /// No order so far loses an edit, and not every order was searched.
    Unknown,
}

impl HistorySearch {
    /// Returns what the search found about lost edits so far.
    pub fn loss_risk(&self) -> LossRisk {
        if self.tally().lost > 0 || self.lost_already().is_some() {
            LossRisk::Possible
        } else if self.status() != SearchStatus::Done {
            LossRisk::Unknown
        } else if self.has_powerless_actor() {
            LossRisk::Impossible
        } else if self.tally().without_loss() == 0 {
            LossRisk::NeverStored
        } else {
            LossRisk::Never
        }
    }

    /// Returns whether some process cannot write: in no order does it send a write that the server does not
    /// refuse as not possible. A tool that finds nothing to send is one.
    fn has_powerless_actor(&self) -> bool {
        let mut able = 0u64;
        for edge in self.edges() {
            if edge.what != TransitionKind::Write {
                continue;
            }
            if edge.code < 400 || RefusalKind::from_code(edge.code) != RefusalKind::NotPossible {
                able |= 1 << edge.actor;
            }
        }
        able.count_ones() as usize != self.states.width()
    }
}

/// Ways of writing by their [`LossRisk`], each by its position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossGroups {
    /// Those that never lose an edit, and can store every edit.
    pub never: Vec<usize>,
    /// Those that refuse or leave out an edit in every order, and so lose none either.
    pub never_stored: Vec<usize>,
    /// Those that can lose an edit.
    pub possible: Vec<usize>,
    /// Those of which not every order was searched.
    pub unknown: Vec<usize>,
    /// Those in which some process cannot write.
    pub impossible: Vec<usize>,
}

impl LossGroups {
    /// The number of ways in which every process can write.
    pub fn ways(&self) -> usize {
        self.without_loss() + self.possible.len() + self.unknown.len()
    }

    /// The number of ways in which every process can write, and no order loses an edit.
    pub fn without_loss(&self) -> usize {
        self.never.len() + self.never_stored.len()
    }
}

impl FromIterator<(usize, LossRisk)> for LossGroups {
    fn from_iter<I: IntoIterator<Item = (usize, LossRisk)>>(risks: I) -> Self {
        let mut groups = Self::default();
        for (way, risk) in risks {
            let group = match risk {
                LossRisk::Never => &mut groups.never,
                LossRisk::NeverStored => &mut groups.never_stored,
                LossRisk::Possible => &mut groups.possible,
                LossRisk::Unknown => &mut groups.unknown,
                LossRisk::Impossible => &mut groups.impossible,
            };
            group.push(way);
        }
        groups
    }
}

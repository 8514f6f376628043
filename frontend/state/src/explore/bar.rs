//! The bar of a row: how many histories end with each verdict, drawn to scale.

use optimist_simulation::explore::Tally;
use optimist_simulation::verdict::Verdict;

/// A part of a bar that is smaller than this share of it is hard to see at its true width.
const RARE: f64 = 0.02;

/// A part of a bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BarPart {
    /// The verdict.
    pub verdict: Verdict,
    /// The number of histories with it.
    pub count: u128,
    /// Its share of all histories, which is its width.
    pub share: f64,
    /// The position of a mark, if the part is too narrow to be seen: the distance from the middle
    /// of the marks that are side by side, in marks.
    pub mark: Option<f64>,
}

/// The parts of a bar, the best first.
pub fn bar_parts(tally: &Tally) -> Vec<BarPart> {
    let total = tally.total() as f64;
    let order = [
        Verdict::InObject,
        Verdict::Replaced,
        Verdict::LeftOut,
        Verdict::Refused,
        Verdict::Lost,
    ];
    let counts = order.map(|verdict| (verdict, tally.histories_with(verdict)));
    let parts = counts.into_iter().filter(|(_, count)| *count > 0);
    let mut parts: Vec<BarPart> = parts
        .map(|(verdict, count)| {
            let share = count as f64 / total;
            BarPart {
                verdict,
                count,
                share,
                mark: (share < RARE).then_some(0.0),
            }
        })
        .collect();
    for beside in parts.chunk_by_mut(|a, b| a.mark.is_some() && b.mark.is_some()) {
        let middle = (beside.len() as f64 - 1.0) / 2.0;
        for (i, part) in beside.iter_mut().enumerate() {
            part.mark = part.mark.map(|_| i as f64 - middle);
        }
    }
    parts
}

//! How often what need not happen can happen.

/// The number of times that each fault can still happen, in the whole system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults {
    /// The process of a controller ends, starts again with empty memory, and lists.
    pub restarts: u8,
    /// More than five minutes pass, so that the expectations of all controllers run out.
    pub timeouts: u8,
}

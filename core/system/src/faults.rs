//! Faults, and the number of times that each can happen.

use super::Event;

/// The number of times that each fault can still happen, in the whole system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults {
    /// The process of a controller ends, starts again with empty memory, and lists.
    pub restarts: u8,
    /// A controller restarts, and an API server that is behind answers its lists.
    pub lagging_lists: u8,
    /// More than five minutes pass, so that the expectations of all controllers run out.
    pub timeouts: u8,
    /// The answer to a write is lost after the server did the work.
    pub lost_answers: u8,
    /// A write of a controller never arrives.
    pub lost_requests: u8,
    /// A watch of a controller breaks.
    pub broken_watches: u8,
    /// Etcd is compacted and the API server restarts, so that no earlier version can be watched.
    pub compactions: u8,
}

impl Faults {
    /// Returns the number of times that the fault of an event can still happen; `None` if the event
    /// is no fault.
    pub(super) fn left(&mut self, event: Event) -> Option<&mut u8> {
        match event {
            Event::Restart(_) => Some(&mut self.restarts),
            Event::RestartBehind(_) => Some(&mut self.lagging_lists),
            Event::ExpectationsRunOut => Some(&mut self.timeouts),
            Event::AnswerLost(_) => Some(&mut self.lost_answers),
            Event::RequestLost(_) => Some(&mut self.lost_requests),
            Event::WatchBroken { .. } => Some(&mut self.broken_watches),
            Event::Compaction => Some(&mut self.compactions),
            Event::Request(_)
            | Event::Deliver { .. }
            | Event::Take(_)
            | Event::Step(_)
            | Event::Wake(_) => None,
        }
    }
}

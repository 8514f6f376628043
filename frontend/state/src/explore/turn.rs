//! The number of the current search. Reports of an earlier search are ignored.

/// Searches are begun one after the other, and what is reported of one may come late: after
/// people cancelled it, or after the next one was begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchTurn {
    number: u32,
    running: bool,
}

impl SearchTurn {
    /// The number of the search that was begun or cancelled last. It never comes again.
    pub fn number(self) -> u32 {
        self.number
    }

    /// Returns whether there is something left to search.
    pub fn is_running(self) -> bool {
        self.running
    }

    /// Starts the next search.
    pub fn start_next(&mut self) {
        self.number = self.number.wrapping_add(1);
        self.running = true;
    }

    /// Ends the search. A report of it may be on its way: it has another number from now on.
    pub fn cancel(&mut self) {
        self.number = self.number.wrapping_add(1);
        self.running = false;
    }

    /// Takes in a report of the search with a number, and whether that search has ended by it.
    /// `false` if the report does not count: another search was begun, or this one was cancelled.
    #[must_use]
    pub fn report(&mut self, number: u32, ended: bool) -> bool {
        let counts = self.running && number == self.number;
        if counts {
            self.running = !ended;
        }
        counts
    }
}

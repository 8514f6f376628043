//! The number of the current search. Reports of an earlier search are ignored.

/// The turn of a search. Searches run one after the other, and a report of one may come late: after
/// the user cancelled it, or after the next one was started.
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

    /// Takes a report of the search with this number. `ended` is `true` if the search has ended.
    /// Returns `false` if the report does not count: another search was started, or this one was
    /// cancelled.
    #[must_use]
    pub fn report(&mut self, number: u32, ended: bool) -> bool {
        let counts = self.running && number == self.number;
        if counts {
            self.running = !ended;
        }
        counts
    }
}

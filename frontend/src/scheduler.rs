//! Long work in slices: between two of them the page is free.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_timers::callback::Timeout;

/// Work that goes on until it is done or this is dropped.
pub(crate) struct Slices {
    _timer: Rc<Timer>,
}

/// The timer of the next slice.
type Timer = RefCell<Option<Timeout>>;

impl Slices {
    /// Starts work that does one slice at each call. `work` returns whether there is more.
    pub(crate) fn start(work: impl FnMut() -> bool + 'static) -> Self {
        let timer = Rc::default();
        later(&timer, Box::new(work));
        Self { _timer: timer }
    }
}

fn later(timer: &Rc<Timer>, mut work: Box<dyn FnMut() -> bool>) {
    // Whoever holds the slices may drop them during one.
    let held = Rc::downgrade(timer);
    let next = Timeout::new(0, move || {
        if work()
            && let Some(timer) = held.upgrade()
        {
            later(&timer, work);
        }
    });
    timer.replace(Some(next));
}

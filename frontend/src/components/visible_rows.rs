//! Decides which rows of a long history are drawn: the visible ones, and those around the current
//! step.

use std::ops::{AddAssign, Range};

use gloo_events::EventListener;
use optimist_simulation::{HistoryTree, NodeId, Outcome, Step};
use web_sys::Element;
use yew::{
    Callback, Event, NodeRef, hook, use_effect_with, use_force_update, use_mut_ref, use_state_eq,
};

use super::watch::arrows;
use crate::browser;
use crate::state::StateHandle;

/// A history of up to this number of steps is drawn as a whole.
pub(crate) const SHORT: usize = 60;
/// The number of rows that are drawn before and after the visible rows.
const BEYOND: usize = 4;
/// The number of rows that are drawn around the current row until the number of visible rows is
/// known.
const UNKNOWN: usize = 10;

/// The height of rows that are not current, in the units that `timeline.css` gives to them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RowHeight {
    rows: i32,
    events: i32,
}

impl RowHeight {
    fn from_step(step: &Step) -> Self {
        Self {
            rows: 1,
            events: arrows::lines(step.arrived.len()) as i32,
        }
    }

    /// For an element that is as high.
    pub(crate) fn to_style(self) -> String {
        format!("--rows:{};--events:{}", self.rows, self.events)
    }
}

impl AddAssign for RowHeight {
    fn add_assign(&mut self, other: Self) {
        self.rows += other.rows;
        self.events += other.events;
    }
}

/// An item of the timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Drawn {
    /// The row of the step at this position of the line, from 1, and its key: after a jump the
    /// rows that were drawn show what is in sight now, for that is less work than new ones.
    Row(usize, isize),
    /// The place of rows that are not drawn.
    Gap(RowHeight),
}

impl Drawn {
    /// Makes the items for the current path of a tree.
    pub(crate) fn list(tree: &HistoryTree, sight: &VisibleRows) -> Vec<Self> {
        let line = tree.current_path();
        let row = |position: usize, shift| Drawn::Row(position, position as isize + shift);
        if is_short(line) {
            return (1..line.len()).map(|position| row(position, 0)).collect();
        }
        let mut drawn = Vec::new();
        for position in 1..line.len() {
            if sight.rows.contains(&position) || position == tree.position() {
                drawn.push(row(position, sight.shift));
                continue;
            }
            let step = line.get(position).and_then(|node| tree.step(*node));
            let room = step.map(RowHeight::from_step).unwrap_or_default();
            match drawn.last_mut() {
                Some(Drawn::Gap(gap)) => *gap += room,
                _ => drawn.push(Drawn::Gap(room)),
            }
        }
        drawn
    }
}

/// Returns whether all rows of a path are drawn.
fn is_short(line: &[NodeId]) -> bool {
    line.len() <= SHORT + 1
}

/// The range of a timeline's rows that are visible.
#[derive(Clone, Debug)]
pub(crate) struct VisibleRows {
    /// The position of the current step.
    here: usize,
    /// The positions of those that are in sight, or nearly so.
    rows: Range<usize>,
    /// The number of rows that there is room for.
    room: usize,
    /// From a position to the key of its row.
    shift: isize,
}

impl Default for VisibleRows {
    fn default() -> Self {
        Self {
            here: 0,
            rows: 0..0,
            room: UNKNOWN,
            shift: 0,
        }
    }
}

impl VisibleRows {
    /// Goes where the history has gone: the timeline is about to scroll as far as that row.
    fn go(&mut self, here: usize) {
        if here == self.here {
            return;
        }
        self.here = here;
        let seen = self.rows.clone();
        if seen.contains(&here) {
            return;
        }
        if here == seen.end {
            self.rows.end = here + 2;
            return;
        }
        self.rows = if here < seen.start {
            here.saturating_sub(1)..here + self.room + 1
        } else {
            here.saturating_sub(self.room)..here + 2
        };
        if self.rows.start > seen.end || self.rows.end < seen.start {
            self.shift += seen.start as isize - self.rows.start as isize;
        }
    }

    /// Takes in which rows the timeline shows; whether others must be drawn for it.
    fn look(&mut self, shown: Range<usize>, room: usize) -> bool {
        self.room = room;
        let drawn = &self.rows;
        if drawn.start < shown.start.max(2) && drawn.end > shown.end {
            return false;
        }
        self.rows = shown.start.saturating_sub(BEYOND)..shown.end + BEYOND;
        true
    }
}

/// Returns the visible rows (on paper, all of them) and the callback for scrolling.
#[hook]
pub(crate) fn use_in_sight(
    timeline: &NodeRef,
    store: &StateHandle,
) -> (VisibleRows, Callback<Event>) {
    let visible_rows = use_mut_ref(VisibleRows::default);
    let height = use_state_eq(browser::height);
    let printed = use_state_eq(|| false);
    let drawn = use_force_update();
    let look = {
        let (timeline, visible_rows, tree) = (
            timeline.clone(),
            visible_rows.clone(),
            store.session.tree.clone(),
        );
        move || {
            let timeline = timeline.cast::<Element>();
            let shown = timeline.and_then(|timeline| rows_in_sight(&timeline, &tree));
            if shown.is_some_and(|(shown, room)| visible_rows.borrow_mut().look(shown, room)) {
                drawn.force_update();
            }
        }
    };
    let onscroll = {
        let look = look.clone();
        Callback::from(move |_: Event| look())
    };
    let length = store.session.tree.current_path().len();
    use_effect_with((store.session.number, length, *height), move |_| look());
    // Where the room changes, the current step stays in sight.
    let current = store.session.tree.current();
    use_effect_with((*height, store.view.cards), move |_| {
        browser::reveal(&format!("#step-{current}"), 8.0);
    });
    let (height, paper) = (height.setter(), printed.setter());
    use_effect_with((), move |()| {
        let listeners = browser::window().map(|window| {
            let screen = paper.clone();
            [
                EventListener::new(&window, "resize", move |_| height.set(browser::height())),
                EventListener::new(&window, "beforeprint", move |_| paper.set(true)),
                EventListener::new(&window, "afterprint", move |_| screen.set(false)),
            ]
        });
        move || drop(listeners)
    });
    visible_rows.borrow_mut().go(store.session.tree.position());
    let mut sight = visible_rows.borrow().clone();
    if *printed {
        sight.rows = 0..usize::MAX;
    }
    (sight, onscroll)
}

/// Returns the visible rows of a timeline and the number that there is room for; `None` if all are drawn.
fn rows_in_sight(timeline: &Element, tree: &HistoryTree) -> Option<(Range<usize>, usize)> {
    let line = tree.current_path();
    if is_short(line) {
        return None;
    }
    let [row, row_current, row_event] =
        browser::lengths(timeline, ["--row", "--row-current", "--row-event"])?;
    let upper = timeline.scroll_top();
    let lower = upper + timeline.client_height();
    let (mut bottom, mut first, mut last) = (0, line.len(), line.len());
    for (position, node) in line.iter().enumerate().skip(1) {
        let step = tree.step(*node);
        let room = step.map(RowHeight::from_step).unwrap_or_default();
        let is_tall = |step: &Step| position == tree.position() && step.outcome() != Outcome::Done;
        if bottom > lower {
            last = position;
            break;
        }
        bottom += match step {
            Some(step) if is_tall(step) => row_current,
            _ => row * room.rows,
        };
        bottom += row_event * room.events;
        if bottom > upper {
            first = first.min(position);
        }
    }
    let room = timeline.client_height() / row.max(1) + 1;
    Some((first..last, usize::try_from(room).unwrap_or(UNKNOWN)))
}

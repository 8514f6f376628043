//! Which rows of a long history are drawn: those in sight, and those where we are.

use std::ops::{AddAssign, Range};

use gloo_events::EventListener;
use optimist_core::sim::{Outcome, RunTree, Step};
use web_sys::Element;
use yew::{Callback, Event, NodeRef, hook, use_effect_with, use_state, use_state_eq};

use super::watch::arrows;
use crate::browser;
use crate::state::Store;

/// A history of up to so many steps is drawn as a whole.
const SHORT: usize = 60;
/// Rows come into sight and go out of it by so many.
const PIECE: usize = 5;
/// How far beyond its edges the timeline draws, in CSS pixels.
const BEYOND: i32 = 300;
/// As many rows are drawn beside the current one as long as nobody knows how many are in sight.
const UNKNOWN: usize = 10;

/// The height of rows, in the units that `timeline.css` gives to them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Room {
    asked: i32,
    done: i32,
    events: i32,
}

impl Room {
    fn of(step: &Step) -> Self {
        let done = step.outcome() == Outcome::Done;
        Self {
            asked: i32::from(!done),
            done: i32::from(done),
            events: arrows::lines(step.arrived.len()) as i32,
        }
    }

    /// For an element that is as high.
    pub(crate) fn to_style(self) -> String {
        let Self {
            asked,
            done,
            events,
        } = self;
        format!("--asked:{asked};--done:{done};--events:{events}")
    }
}

impl AddAssign for Room {
    fn add_assign(&mut self, other: Self) {
        self.asked += other.asked;
        self.done += other.done;
        self.events += other.events;
    }
}

/// What stands in the timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Drawn {
    /// The row of the step at this position of the line, from 1.
    Row(usize),
    /// The place of rows that are not drawn, and the position of the first of them.
    Gap(usize, Room),
}

impl Drawn {
    /// What stands for the line of a tree.
    pub(crate) fn of(tree: &RunTree, sight: &Sight) -> Vec<Self> {
        let line = tree.line();
        if line.len() <= SHORT + 1 {
            return (1..line.len()).map(Drawn::Row).collect();
        }
        let around = sight.around(tree.position());
        let mut drawn = Vec::new();
        for position in 1..line.len() {
            if sight.rows.contains(&position) || around.contains(&position) {
                drawn.push(Drawn::Row(position));
                continue;
            }
            let step = line.get(position).and_then(|node| tree.step(*node));
            let room = step.map(Room::of).unwrap_or_default();
            match drawn.last_mut() {
                Some(Drawn::Gap(_, gap)) => *gap += room,
                _ => drawn.push(Drawn::Gap(position, room)),
            }
        }
        drawn
    }
}

/// Which rows of a timeline are in sight.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sight {
    /// The positions of those that are, or nearly so.
    rows: Range<usize>,
    /// How many there is room for.
    room: usize,
}

impl Sight {
    /// The rows that come into sight when the timeline scrolls as far as the one at this position.
    fn around(&self, here: usize) -> Range<usize> {
        if self.rows.contains(&here) {
            here..here
        } else if here < self.rows.start {
            here.saturating_sub(1)..here + self.room
        } else {
            (here + 1).saturating_sub(self.room)..here + 2
        }
    }
}

/// What is in sight, which on paper is all, and what tells of scrolling.
#[hook]
pub(crate) fn use_in_sight(timeline: &NodeRef, store: &Store) -> (Sight, Callback<Event>) {
    let in_sight = use_state(|| Sight {
        rows: 0..0,
        room: UNKNOWN,
    });
    let height = use_state_eq(browser::height);
    let printed = use_state_eq(|| false);
    let look = {
        let (timeline, in_sight, tree) = (timeline.clone(), in_sight.clone(), store.tree.clone());
        move || {
            let timeline = timeline.cast::<Element>();
            let sight = timeline.and_then(|timeline| look_at(&timeline, &tree));
            if let Some(sight) = sight
                && sight != *in_sight
            {
                in_sight.set(sight);
            }
        }
    };
    let onscroll = {
        let look = look.clone();
        Callback::from(move |_: Event| look())
    };
    let length = store.tree.line().len();
    use_effect_with((store.session, length, *height), move |_| look());
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
    let mut sight = (*in_sight).clone();
    if *printed {
        sight.rows = 0..usize::MAX;
    }
    (sight, onscroll)
}

/// What is in sight; `None` where all is drawn.
#[inline(never)] // not on the first screen
fn look_at(timeline: &Element, tree: &RunTree) -> Option<Sight> {
    let line = tree.line();
    if line.len() <= SHORT + 1 {
        return None;
    }
    let [row, row_done, row_event] =
        browser::lengths(timeline, ["--row", "--row-done", "--row-event"])?;
    let upper = timeline.scroll_top() - BEYOND;
    let lower = timeline.scroll_top() + timeline.client_height() + BEYOND;
    let (mut bottom, mut first, mut last) = (0, line.len(), line.len());
    for (position, node) in line.iter().enumerate().skip(1) {
        let room = tree.step(*node).map(Room::of).unwrap_or_default();
        if bottom > lower {
            last = position;
            break;
        }
        bottom += row * room.asked + row_done * room.done + row_event * room.events;
        if bottom > upper {
            first = first.min(position);
        }
    }
    let room = timeline.client_height() / row.max(1) + 1;
    Some(Sight {
        rows: in_pieces(first..last),
        room: usize::try_from(room).unwrap_or(UNKNOWN),
    })
}

/// A range of rows and what its first and last piece have beyond it.
fn in_pieces(rows: Range<usize>) -> Range<usize> {
    rows.start / PIECE * PIECE..rows.end.div_ceil(PIECE) * PIECE
}

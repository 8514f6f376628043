//! The state of the page as a reducer: messages change it, and the browser performs the effects.

use std::ops::Deref;
use std::rc::Rc;

pub(crate) use optimist_state::*;
use yew::{Callback, Reducible, UseReducerDispatcher, UseReducerHandle};

use crate::browser::{self, BrowserPlatform};

/// The time between two drawings of long work, in milliseconds.
pub(crate) const DRAWING: f64 = 100.0;

/// The state, and the way to change it.
pub(crate) type StateHandle = UseReducerHandle<PageState>;

/// The way to change the state alone: for parts that are not drawn again at every change.
pub(crate) type Dispatcher = UseReducerDispatcher<PageState>;

/// The state as it was after some change.
#[derive(Clone, Debug)]
pub(crate) struct PageState {
    state: State,
    /// Counts changes, so that two states are compared by one number.
    change: u64,
    /// The time of the last change, by [`browser::now`].
    changed: f64,
}

impl PageState {
    /// The page as it opens.
    pub(crate) fn open() -> Self {
        let (mut state, effects) =
            State::open(&browser::fragment(), browser::salt(), &BrowserPlatform);
        run(&mut state, effects, &BrowserPlatform, &browser::perform);
        Self {
            state,
            change: 0,
            changed: browser::now(),
        }
    }

    /// A number that is another one after every change; 0 as the page opens.
    pub(crate) fn changes(&self) -> u64 {
        self.change
    }
}

impl Deref for PageState {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl PartialEq for PageState {
    fn eq(&self, other: &Self) -> bool {
        self.change == other.change
    }
}

impl Reducible for PageState {
    type Action = Msg;

    fn reduce(self: Rc<Self>, msg: Msg) -> Rc<Self> {
        // Most pointer moves land where the keyboard already is.
        if matches!(msg, Msg::View(ViewMsg::Focus(editor)) if editor == self.view.focus) {
            return self;
        }
        let keeps = matches!(msg, Msg::Persistence(PersistenceMsg::Save));
        let works = matches!(&msg, Msg::Job(_, JobReport::Part(part)) if !matches!(part, JobPart::LeftOut(_)));
        let mut next = (*self).clone();
        let effects = next.state.update(msg, &BrowserPlatform);
        run(
            &mut next.state,
            effects,
            &BrowserPlatform,
            &browser::perform,
        );
        // Keeping is drawn only where there is something new to tell.
        let is_new = !keeps || next.persistence.refused != self.persistence.refused;
        // Each drawing lays out the whole page again.
        let now = browser::now();
        let goes_on = works && next.is_working() && now - self.changed < DRAWING;
        if is_new && !goes_on {
            next.change += 1;
            next.changed = now;
        }
        Rc::new(next)
    }
}

/// Ways to send messages.
pub(crate) trait Sends {
    /// Returns the dispatcher that sends them.
    fn sender(&self) -> Dispatcher;

    /// Sends a message.
    fn send(&self, message: impl Into<Msg>) {
        self.sender().dispatch(message.into());
    }

    /// Returns a callback that sends the message made from its event.
    fn on<E, M: Into<Msg>>(&self, message: impl Fn(E) -> M + 'static) -> Callback<E> {
        let dispatcher = self.sender();
        Callback::from(move |event| dispatcher.dispatch(message(event).into()))
    }

    /// A callback that always sends the same.
    fn sends<E>(&self, message: impl Into<Msg>) -> Callback<E> {
        let message: Msg = message.into();
        self.on(move |_| message.clone())
    }
}

impl Sends for StateHandle {
    fn sender(&self) -> Dispatcher {
        self.dispatcher()
    }
}

impl Sends for Dispatcher {
    fn sender(&self) -> Dispatcher {
        self.clone()
    }
}

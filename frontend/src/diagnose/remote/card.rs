//! The card, which stays while another page is open: what is followed goes on, and who comes back from Play finds it.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

use yew::functional::UseForceUpdateHandle;
use yew::{Reducible, hook, use_effect_with, use_force_update};

use super::follow::Follows;
use super::state::{RemoteAction, RemoteState};

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

/// The card of the page, shown or not.
#[derive(Default)]
struct Kept {
    state: Rc<RemoteState>,
    follows: Rc<Follows>,
    /// Draws the card again, while it is shown.
    redraw: Option<UseForceUpdateHandle>,
}

/// The state of the card when it was drawn.
#[derive(Clone)]
pub(super) struct Card(Rc<RemoteState>);

/// Changes the card, also while it is not shown.
#[derive(Clone, Copy)]
pub(super) struct CardDispatcher;

/// The card as it is now. It is drawn again when it changes.
#[hook]
pub(super) fn use_card() -> Card {
    let redraw = use_force_update();
    use_effect_with((), move |()| {
        KEPT.with_borrow_mut(|kept| kept.redraw = Some(redraw));
        || KEPT.with_borrow_mut(|kept| kept.redraw = None)
    });
    Card(KEPT.with_borrow(|kept| Rc::clone(&kept.state)))
}

impl Deref for Card {
    type Target = RemoteState;

    fn deref(&self) -> &RemoteState {
        &self.0
    }
}

impl Card {
    pub(super) fn dispatcher(&self) -> CardDispatcher {
        CardDispatcher
    }
}

impl CardDispatcher {
    pub(super) fn dispatch(self, action: RemoteAction) {
        let redraw = KEPT.with_borrow_mut(|kept| {
            kept.state = Rc::clone(&kept.state).reduce(action);
            kept.redraw.clone()
        });
        if let Some(redraw) = redraw {
            redraw.force_update();
        }
    }

    /// Ends what is followed, and keeps what is followed instead.
    pub(super) fn follow(self, follows: Rc<Follows>) {
        let earlier = KEPT.with_borrow_mut(|kept| std::mem::replace(&mut kept.follows, follows));
        earlier.end();
    }

    /// Ends what is followed.
    pub(super) fn unfollow(self) {
        self.follow(Rc::default());
        self.dispatch(RemoteAction::Following(None));
    }
}

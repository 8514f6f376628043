//! The state of Explore as a reducer.

use std::ops::Deref;
use std::rc::Rc;

use yew::Reducible;

use crate::state::{ExploreModel, ExploreMsg};

/// The model as it was after some change.
#[derive(Clone, Debug)]
pub(super) struct ExploreStore {
    model: ExploreModel,
    /// Counts changes, so that two models are compared by one number.
    change: u64,
}

impl ExploreStore {
    pub(super) fn new() -> Self {
        Self {
            model: ExploreModel::new(),
            change: 0,
        }
    }
}

impl Deref for ExploreStore {
    type Target = ExploreModel;

    fn deref(&self) -> &ExploreModel {
        &self.model
    }
}

impl PartialEq for ExploreStore {
    fn eq(&self, other: &Self) -> bool {
        self.change == other.change
    }
}

impl Reducible for ExploreStore {
    type Action = ExploreMsg;

    fn reduce(self: Rc<Self>, msg: ExploreMsg) -> Rc<Self> {
        if matches!(&msg, ExploreMsg::Focus(focus) if *focus == self.focus) {
            return self;
        }
        let mut next = (*self).clone();
        next.change += 1;
        next.model.update(msg);
        Rc::new(next)
    }
}

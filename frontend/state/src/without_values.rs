//! A case that is shared without the values of its objects.

use std::cell::RefCell;
use std::rc::Rc;

use optimist_diagnose::stand_ins::{ValueSearch, WithoutValues};
use optimist_text::share::Session;

use crate::State;
use crate::diagnose::DiagnoseState;
use crate::effect::Effects;

/// The most characters of a case whose values can be left out: its answers are computed again and
/// again.
pub const MAX_SEARCHED: usize = 1_000_000;

/// A case without values, and how far it is.
#[derive(Clone, Debug)]
pub enum ValuesLeftOut {
    /// The answers with and without values are compared.
    Searching(Rc<RefCell<ValueSearch>>),
    /// It is known which values stay.
    Found(Rc<SharedCase>),
    /// Nothing is left of the case.
    Empty,
    /// The case is larger than [`MAX_SEARCHED`].
    TooLarge,
}

/// A case without values.
#[derive(Clone, Debug)]
pub struct SharedCase {
    /// As a session for links.
    pub session: Session,
    /// The case, run again without the values, for its Markdown.
    pub case: Rc<DiagnoseState>,
    /// What stays in it.
    pub found: WithoutValues,
}

impl ValuesLeftOut {
    pub(crate) fn is_working(&self) -> bool {
        match self {
            Self::Searching(_) => true,
            Self::Found(shared) => shared.case.is_working(),
            Self::Empty | Self::TooLarge => false,
        }
    }
}

impl State {
    /// Begins to leave out the values of the case.
    #[inline(never)] // not on the first screen
    pub(crate) fn leave_values_out(&mut self) {
        if self.diagnose.size() > MAX_SEARCHED {
            self.share.values = Some(ValuesLeftOut::TooLarge);
            return;
        }
        let search = self.diagnose.value_search();
        self.share.values = Some(search.map_or(ValuesLeftOut::Empty, |search| {
            ValuesLeftOut::Searching(Rc::new(RefCell::new(search)))
        }));
    }

    /// Goes on with leaving out values, for a slice.
    #[inline(never)] // not on the first screen
    pub(crate) fn leave_values_out_further(&mut self, fx: &Effects<'_>) {
        match &mut self.share.values {
            Some(ValuesLeftOut::Searching(search)) => {
                let search = Rc::clone(search);
                let found = fx.slice(|| {
                    let mut search = search.borrow_mut();
                    (!search.advance()).then(|| search.result())
                });
                if let Some(found) = found.flatten() {
                    let other = self.diagnose.with_texts(&found.texts);
                    self.share.values = Some(match other {
                        Some((case, session)) => ValuesLeftOut::Found(Rc::new(SharedCase {
                            session,
                            case: Rc::new(case),
                            found,
                        })),
                        None => ValuesLeftOut::Empty,
                    });
                }
            }
            Some(ValuesLeftOut::Found(shared)) if shared.case.is_working() => {
                Rc::make_mut(&mut Rc::make_mut(shared).case).work(fx);
            }
            _ => {}
        }
    }
}

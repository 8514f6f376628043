//! A condition on every history from here: deliveries, statements, restarts and the requests of
//! editors in every order.

use std::fmt;

use optimist_apiserver::yaml::Located;

use super::{Assertion, Condition, Past};
use crate::fields::LessonResult;
use crate::question::ChallengeQuestion;

/// A page waits for the result, so the search stops after this many states. Then the condition
/// counts as false.
const MOST_STATES: usize = 2_000;

/// Everything that is asked for holds in every history.
#[derive(Debug)]
struct EveryHistory(ChallengeQuestion);

pub(super) fn every_history(value: &Located) -> LessonResult<Vec<Condition>> {
    Ok(vec![Condition::new(EveryHistory(ChallengeQuestion::read(
        value,
    )?))])
}

impl Assertion for EveryHistory {
    fn holds(&self, past: Past<'_>) -> bool {
        let search = self.0.search(past.tree().world(), MOST_STATES);
        search.is_some_and(|mut search| {
            search.run();
            search.holds() == Some(true)
        })
    }
}

impl fmt::Display for EveryHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in every history, {}", self.0)
    }
}

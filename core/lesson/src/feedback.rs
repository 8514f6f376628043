//! Says to a learner why a try does not reach the goal of a page. The lesson has the words, and the
//! conditions under which they are true.

use super::condition::{Condition, conditions};
use super::fields::{KnownKeys, LessonResult, items, text};
use optimist_apiserver::yaml::{Content, Located};

/// Says why a try does not reach a goal, if its conditions hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Feedback {
    /// Its line, counted from 1.
    pub line: usize,
    /// The conditions under which it appears: all of them hold in the history since the page's
    /// actions.
    pub when: Vec<Condition>,
    /// Its text.
    pub say: String,
}

impl Feedback {
    /// Reads the list `feedback`.
    pub(super) fn read_all(fields: &KnownKeys<'_>) -> LessonResult<Vec<Self>> {
        fields.items("feedback")?.iter().map(Self::read).collect()
    }

    /// Reads an item of the list.
    pub(super) fn read(located: &Located) -> LessonResult<Self> {
        let fields = KnownKeys::read(located, "a feedback", &["when", "say"])?;
        Ok(Self {
            line: located.line,
            when: conditions(fields.needed("when")?)?,
            say: fields.needed_text("say")?,
        })
    }
}

/// Reads the hints of a task: one text, or a list that is shown one after the other.
pub(super) fn hints(fields: &KnownKeys<'_>) -> LessonResult<Vec<String>> {
    match fields.get("hint") {
        None => Ok(Vec::new()),
        Some(located) => match &located.content {
            Content::List(_) => items(located)?.iter().map(text).collect(),
            _ => Ok(vec![text(located)?]),
        },
    }
}

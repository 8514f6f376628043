//! The common belief that a lesson refutes, and the question about it that the lesson asks first.

use optimist_apiserver::yaml::{Content, Located};

use super::fields::{KnownKeys, LessonError, LessonResult, items, text};

/// A common belief that a lesson refutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Belief {
    /// The belief, in the words of those who hold it.
    pub text: String,
    /// The question that the lesson asks first and answers at its end; without it, the page asks
    /// for yes or no.
    pub question: Option<FirstQuestion>,
}

/// A question that is asked before a lesson and comes back at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstQuestion {
    /// The question.
    pub ask: String,
    /// Two choices or more, of which one is right.
    pub choices: Vec<FirstChoice>,
}

/// A choice of a [`FirstQuestion`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstChoice {
    /// The text.
    pub text: String,
    /// Why it is wrong; `None` for the right one.
    pub refuted: Option<Refutation>,
}

/// Why a choice is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refutation {
    /// The answer to those who chose it.
    pub answer: String,
    /// The index of the step that shows it, counted from 0.
    pub page: Option<usize>,
}

impl Belief {
    /// Reads a text, or a text with a question, in a lesson with this number of pages.
    pub(super) fn read(located: &Located, pages: usize) -> LessonResult<Self> {
        if let Content::Scalar(..) = located.content {
            return Ok(Self {
                text: text(located)?,
                question: None,
            });
        }
        let fields = KnownKeys::read(located, "a belief", &["say", "ask", "choices"])?;
        let choices = items(fields.needed("choices")?)?;
        let choices: Vec<_> = (choices.iter())
            .map(|it| choice(it, pages))
            .collect::<LessonResult<_>>()?;
        let right = choices.iter().filter(|it| it.refuted.is_none()).count();
        if right != 1 || choices.len() < 2 {
            let message = "the question needs two choices or more, and one of them is “right: yes”";
            return Err(LessonError::new(fields.line_of("choices"), message));
        }
        Ok(Self {
            text: fields.needed_text("say")?,
            question: Some(FirstQuestion {
                ask: fields.needed_text("ask")?,
                choices,
            }),
        })
    }
}

fn choice(located: &Located, pages: usize) -> LessonResult<FirstChoice> {
    let fields = KnownKeys::read(located, "a choice", &["say", "right", "answer", "page"])?;
    let right = fields.flag("right")?.unwrap_or_default();
    let refuted = match (right, fields.text("answer")?, fields.number("page")?) {
        (true, None, None) => None,
        (true, ..) => {
            let message = "the right choice has no “answer” and no “page”";
            return Err(LessonError::new(located.line, message));
        }
        (false, None, _) => {
            let message = "a wrong choice needs an “answer”";
            return Err(LessonError::new(located.line, message));
        }
        (false, Some(answer), page) => Some(Refutation {
            answer,
            page: page.map(|page| index(&fields, page, pages)).transpose()?,
        }),
    };
    Ok(FirstChoice {
        text: fields.needed_text("say")?,
        refuted,
    })
}

/// The index of a page that the lesson has.
fn index(fields: &KnownKeys<'_>, page: u64, pages: usize) -> LessonResult<usize> {
    let index = usize::try_from(page).ok().and_then(|it| it.checked_sub(1));
    index.filter(|index| *index < pages).ok_or_else(|| {
        let message = format!("there is no page {page}: the lesson has {pages}");
        LessonError::new(fields.line_of("page"), message)
    })
}

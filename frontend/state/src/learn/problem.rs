use optimist_lesson::LessonError;
use optimist_simulation::LoadError;

/// The reason why a lesson is not open, or not as it was. The page has the sentences.
#[derive(Clone, Debug, PartialEq)]
pub enum LearnProblem {
    /// This file of the page did not load.
    NotLoaded(String),
    /// No lesson has this name.
    Unknown(String),
    /// A lesson from a file has these errors.
    NotOpened(Vec<LessonError>),
    /// The lesson from a file that the tab had before a reload cannot be opened again.
    NotOpenedAgain,
    /// A file that was chosen is no saved progress.
    ProgressUnreadable,
    /// A file that was chosen cannot be read.
    Unreadable(LoadError),
    /// A lesson of the page, or the list of the lessons, has an error.
    Error(LessonError),
}

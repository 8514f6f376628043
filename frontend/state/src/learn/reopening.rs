//! A lesson that is opened again as it was left: everything is done again, one slice after the
//! other.

use std::rc::Rc;
use std::sync::Arc;

use optimist_lesson::{Lesson, LessonError, Walkthrough};
use optimist_links::{Learning, Session, ShareError};
use optimist_simulation::HistoryTree;

use super::course::{Course, earlier_fingerprint, fingerprint};
use super::{Learn, LearnProblem};
use crate::State;
use crate::effect::Effects;
use crate::jobs::{JobId, JobRequest};

/// A lesson that is being done again.
#[derive(Clone, Debug)]
pub(super) struct Reopening {
    name: String,
    source: Rc<str>,
    lesson: Arc<Lesson>,
    /// The stored text of its state.
    kept: String,
    learning: Learning,
    job: JobId,
}

impl Learn {
    /// The job that does a lesson again, if one is being opened.
    pub(crate) fn reopening_job(&self) -> Option<JobId> {
        Some(self.reopening.as_ref()?.job)
    }

    /// Returns whether a job does the lesson again that is being opened.
    pub(crate) fn is_reopened_by(&self, id: JobId) -> bool {
        self.reopening_job() == Some(id)
    }

    /// Returns whether a lesson is being opened again that is not the one in the address.
    pub(super) fn reopens_another(&self) -> bool {
        let reopening = self.reopening.as_ref();
        reopening
            .is_some_and(|reopening| *reopening.name != *self.wanted.as_deref().unwrap_or_default())
    }
}

impl State {
    /// Opens a lesson as it was left on an earlier visit, if that was kept; else at its begin.
    pub(super) fn open_kept_lesson(
        &mut self,
        name: String,
        source: &str,
        kept: Option<String>,
        fx: &mut Effects<'_>,
    ) -> Result<(), LessonError> {
        let lesson = Arc::new(Lesson::parse(source)?);
        let Some(kept) = kept else {
            return self.begin_at_first(name, source, lesson, fx);
        };
        let way = Session::parse(&kept).ok().and_then(|session| {
            // A lesson that was written again begins again.
            let same = session.extra == fingerprint(source).as_str()
                || session.extra == earlier_fingerprint(source);
            let learning = session.learning.clone().filter(|_| same)?;
            Some((learning, session))
        });
        let Some((learning, session)) = way else {
            self.keep_way(&lesson, &kept, fx);
            return self.begin_at_first(name, source, lesson, fx);
        };
        self.learn.reopening = Some(Rc::new(Reopening {
            name,
            source: source.into(),
            lesson,
            kept,
            learning,
            job: self.jobs.start(JobRequest::Replay(Box::new(session)), fx),
        }));
        Ok(())
    }

    /// Shows the lesson that was done again.
    pub(crate) fn reopened(
        &mut self,
        done: Result<Rc<HistoryTree>, ShareError>,
        fx: &mut Effects<'_>,
    ) {
        let Some(reopening) = self.learn.reopening.take() else {
            return;
        };
        let way = done.ok().and_then(|tree| {
            let tree = Rc::unwrap_or_clone(tree);
            let (lesson, learning) = (Arc::clone(&reopening.lesson), &reopening.learning);
            let walk = Walkthrough::restore(lesson, learning.at, &learning.pages, &tree)?;
            Some((walk, tree))
        });
        match way {
            Some((walk, tree)) => {
                let course = Course::new(reopening.name.clone(), &reopening.source, walk);
                self.begin_lesson(course, tree, fx);
            }
            None => self.begin_again(&reopening, fx),
        }
    }

    /// Opens a lesson that is being opened again at its begin instead.
    pub(crate) fn cancel_lesson(&mut self, fx: &mut Effects<'_>) {
        if let Some(reopening) = self.learn.reopening.take() {
            self.begin_again(&reopening, fx);
        }
    }

    fn begin_again(&mut self, reopening: &Reopening, fx: &mut Effects<'_>) {
        let lesson = Arc::clone(&reopening.lesson);
        self.keep_way(&lesson, &reopening.kept, fx);
        let begun = self.begin_at_first(reopening.name.clone(), &reopening.source, lesson, fx);
        self.learn.problem = begun.err().map(LearnProblem::Error);
    }

    /// Keeps the way through a lesson that the lesson does not open with.
    fn keep_way(&mut self, lesson: &Lesson, kept: &str, fx: &mut Effects<'_>) {
        let title = format!("Lesson “{}”, as it was before", lesson.title);
        self.keep_unopened(&title, kept, fx);
    }

    fn begin_at_first(
        &mut self,
        name: String,
        source: &str,
        lesson: Arc<Lesson>,
        fx: &mut Effects<'_>,
    ) -> Result<(), LessonError> {
        let (walk, tree) = Walkthrough::open(lesson)?;
        self.begin_lesson(Course::new(name, source, walk), tree, fx);
        Ok(())
    }
}

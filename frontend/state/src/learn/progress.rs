//! The learner's progress in each lesson, in the browser's storage.

use optimist_lesson::{Catalogue, CatalogueEntry};
use optimist_sessions::StorageArea;
use serde_json::{Map, Value, json};

use crate::effect::Effects;

/// The key of the progress in the browser's storage.
pub const PROGRESS: &str = "optimist.lessons";

/// The progress in a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LessonProgress {
    /// The number of pages that were opened.
    pub opened: usize,
    /// `true` if it was finished.
    pub finished: bool,
}

impl LessonProgress {
    /// Reads the progress in a lesson from the value under [`PROGRESS`]; `None` if the lesson was
    /// never opened.
    pub fn read(kept: Option<&str>, name: &str) -> Option<Self> {
        Self::from_entry(&all(kept?)?, name)
    }

    fn from_entry(all: &Map<String, Value>, name: &str) -> Option<Self> {
        let kept = all.get(name)?;
        Some(Self {
            opened: kept.get(0)?.as_u64()? as usize,
            finished: kept.get(1)?.as_bool()?,
        })
    }

    /// Stores it beside the progress in the other lessons. A stored value that cannot be read stays
    /// as it is.
    pub(crate) fn write(self, name: &str, fx: &mut Effects<'_>) {
        let kept = fx.read(StorageArea::Browser, PROGRESS);
        let Some(mut all) = kept.as_deref().map_or(Some(Map::new()), all) else {
            return;
        };
        let before = Self::read(kept.as_deref(), name);
        let finished = self.finished || before.is_some_and(|before| before.finished);
        all.insert(name.to_owned(), json!([self.opened, finished]));
        let all = Value::Object(all).to_string();
        fx.write(StorageArea::Browser, PROGRESS, Some(all));
    }
}

/// The progress in the course.
#[derive(Clone, Copy, Debug)]
pub struct CourseProgress<'a> {
    /// The number of lessons of the main line that were finished.
    pub finished: usize,
    /// The number of lessons of the main line.
    pub lessons: usize,
    /// The number of optional lessons that were finished.
    pub further_finished: usize,
    /// The number of optional lessons.
    pub further: usize,
    /// The number of lessons that were opened, of both kinds.
    pub opened: usize,
    /// The lesson of the main line to go on with: the first one that was begun and not finished, else the
    /// first one that was not opened. `None` if all are finished.
    pub next: Option<&'a CatalogueEntry>,
}

impl<'a> CourseProgress<'a> {
    /// Reads the progress from the value under [`PROGRESS`].
    pub fn read(kept: Option<&str>, catalogue: &'a Catalogue) -> Self {
        let all = kept.and_then(all).unwrap_or_default();
        let (mut begun, mut unopened) = (None, None);
        let mut course = Self {
            finished: 0,
            lessons: 0,
            further_finished: 0,
            further: 0,
            opened: 0,
            next: None,
        };
        for entry in catalogue.lessons() {
            let so_far = LessonProgress::from_entry(&all, &entry.name);
            course.opened += usize::from(so_far.is_some());
            if entry.optional {
                course.further += 1;
                course.further_finished += usize::from(so_far.is_some_and(|it| it.finished));
                continue;
            }
            course.lessons += 1;
            match so_far {
                Some(so_far) if so_far.finished => course.finished += 1,
                Some(_) => begun = begun.or(Some(entry)),
                None => unopened = unopened.or(Some(entry)),
            }
        }
        course.next = begun.or(unopened);
        course
    }
}

fn all(kept: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(kept).ok()
}

/// Joins a saved progress to the stored one: of each lesson, the further one. `None`, and nothing changes, if
/// one of the two cannot be read.
pub(crate) fn join_progress(saved: &str, fx: &mut Effects<'_>) -> Option<()> {
    let saved = all(saved)?;
    let kept = fx.read(StorageArea::Browser, PROGRESS);
    let mut joined = kept.as_deref().map_or(Some(Map::new()), all)?;
    for name in saved.keys() {
        let theirs = LessonProgress::from_entry(&saved, name)?;
        let mine = LessonProgress::from_entry(&joined, name);
        let opened = mine.map_or(0, |mine| mine.opened).max(theirs.opened);
        let finished = theirs.finished || mine.is_some_and(|mine| mine.finished);
        joined.insert(name.clone(), json!([opened, finished]));
    }
    let joined = Value::Object(joined).to_string();
    fx.write(StorageArea::Browser, PROGRESS, Some(joined));
    Some(())
}

/// Returns whether the stored progress can be read, or there is none.
pub(crate) fn progress_is_readable(fx: &Effects<'_>) -> bool {
    let kept = fx.read(StorageArea::Browser, PROGRESS);
    kept.is_none_or(|kept| all(&kept).is_some())
}

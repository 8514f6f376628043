//! How far one got in each lesson, as the browser keeps it.

use optimist_lesson::{Catalogue, CatalogueEntry};
use optimist_sessions::StorageArea;
use serde_json::{Map, Value, json};

use crate::effect::Effects;

/// The key of the progress in the browser's storage.
pub const PROGRESS: &str = "optimist.lessons";

/// How far one got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LessonProgress {
    /// How many pages were opened.
    pub opened: usize,
    /// Whether it was finished.
    pub finished: bool,
}

impl LessonProgress {
    /// How far one got in a lesson on earlier visits, from what is kept under [`PROGRESS`]; `None`
    /// before it was opened.
    pub fn read(kept: Option<&str>, name: &str) -> Option<Self> {
        Self::of(&all(kept?)?, name)
    }

    fn of(all: &Map<String, Value>, name: &str) -> Option<Self> {
        let kept = all.get(name)?;
        Some(Self {
            opened: kept.get(0)?.as_u64()? as usize,
            finished: kept.get(1)?.as_bool()?,
        })
    }

    /// Notes it with that of the other lessons. What cannot be read is left as it is.
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

/// How far one got in the course.
#[derive(Clone, Copy, Debug)]
pub struct CourseProgress<'a> {
    /// How many lessons were finished.
    pub finished: usize,
    /// How many lessons were opened.
    pub opened: usize,
    /// How many lessons there are.
    pub lessons: usize,
    /// The lesson to go on with: the first one that was begun and not finished, else the first one that
    /// was not opened. `None` if all are finished.
    pub next: Option<&'a CatalogueEntry>,
}

impl<'a> CourseProgress<'a> {
    /// How far one got, from what is kept under [`PROGRESS`].
    pub fn read(kept: Option<&str>, catalogue: &'a Catalogue) -> Self {
        let all = kept.and_then(all).unwrap_or_default();
        let (mut begun, mut unopened) = (None, None);
        let mut course = Self {
            finished: 0,
            opened: 0,
            lessons: 0,
            next: None,
        };
        for entry in catalogue.lessons() {
            course.lessons += 1;
            let so_far = LessonProgress::of(&all, &entry.name);
            course.opened += usize::from(so_far.is_some());
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

/// Whether what is kept of the progress can be read, if there is any.
pub(crate) fn progress_is_readable(fx: &Effects<'_>) -> bool {
    let kept = fx.read(StorageArea::Browser, PROGRESS);
    kept.is_none_or(|kept| all(&kept).is_some())
}

//! The catalogue: all lessons, in chapters.

use super::fields::{Fields, LessonError, Read, items};
use optimist_apiserver::yaml::{Located, parse_located};

/// All lessons that belong to Optimist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalogue {
    /// In the recommended order.
    pub chapters: Vec<Chapter>,
}

/// Lessons that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chapter {
    /// Its title.
    pub title: String,
    /// The skill that the learner has after the lesson.
    pub goal: String,
    /// In the recommended order.
    pub lessons: Vec<CatalogueEntry>,
}

/// An entry of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogueEntry {
    /// The name of its file without the ending. Links use this name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The common belief that it refutes.
    pub belief: String,
    /// The number of its pages.
    pub pages: usize,
}

impl Catalogue {
    /// Reads a catalogue.
    ///
    /// # Errors
    /// The first error, with its line.
    pub fn parse(source: &str) -> Result<Self, LessonError> {
        let located = parse_located(source)?;
        let fields = Fields::read(&located, "the catalogue", &["chapters"])?;
        let chapters = items(fields.needed("chapters")?)?.iter().map(chapter);
        Ok(Self {
            chapters: chapters.collect::<Read<_>>()?,
        })
    }

    /// Every lesson, in order.
    pub fn lessons(&self) -> impl Iterator<Item = &CatalogueEntry> {
        self.chapters.iter().flat_map(|chapter| &chapter.lessons)
    }
}

fn chapter(located: &Located) -> Read<Chapter> {
    let fields = Fields::read(located, "a chapter", &["title", "goal", "lessons"])?;
    let lessons = items(fields.needed("lessons")?)?.iter().map(|located| {
        let fields = Fields::read(located, "a lesson", &["name", "title", "belief", "pages"])?;
        let pages = fields.number("pages")?.unwrap_or_default();
        Ok(CatalogueEntry {
            name: fields.needed_text("name")?,
            title: fields.needed_text("title")?,
            belief: fields.needed_text("belief")?,
            pages: usize::try_from(pages).unwrap_or_default(),
        })
    });
    Ok(Chapter {
        title: fields.needed_text("title")?,
        goal: fields.needed_text("goal")?,
        lessons: lessons.collect::<Read<_>>()?,
    })
}

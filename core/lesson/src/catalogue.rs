//! Which lessons there are, in chapters.

use super::fields::{Fields, LessonError, Read, items};
use optimist_apiserver::yaml::{Located, parse_located};

/// All lessons that belong to Optimist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalogue {
    /// In the order in which they are best taken.
    pub chapters: Vec<Chapter>,
}

/// Lessons that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chapter {
    /// What it is called.
    pub title: String,
    /// In the order in which they are best taken.
    pub lessons: Vec<CatalogueEntry>,
}

/// A lesson, as far as one needs to know it to choose it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogueEntry {
    /// The name of its file without the ending, and how links name it.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// How many pages it has.
    pub pages: usize,
}

impl Catalogue {
    /// Reads a catalogue.
    ///
    /// # Errors
    /// What is wrong first, with its line.
    pub fn parse(source: &str) -> Result<Self, LessonError> {
        let located = parse_located(source)?;
        let fields = Fields::of(&located, "the catalogue", &["chapters"])?;
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
    let fields = Fields::of(located, "a chapter", &["title", "lessons"])?;
    let lessons = items(fields.needed("lessons")?)?.iter().map(|located| {
        let fields = Fields::of(located, "a lesson", &["name", "title", "pages"])?;
        let pages = fields.number("pages")?.unwrap_or_default();
        Ok(CatalogueEntry {
            name: fields.needed_text("name")?,
            title: fields.needed_text("title")?,
            pages: usize::try_from(pages).unwrap_or_default(),
        })
    });
    Ok(Chapter {
        title: fields.needed_text("title")?,
        lessons: lessons.collect::<Read<_>>()?,
    })
}

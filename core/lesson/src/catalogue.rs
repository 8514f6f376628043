//! The catalogue: all lessons, in chapters.

use super::fields::{Fields, LessonError, Read, items};
use optimist_apiserver::yaml::{Located, parse_located};

/// All lessons that belong to Optimist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalogue {
    /// In the recommended order.
    pub chapters: Vec<Chapter>,
    /// What happened in public projects.
    pub incidents: Vec<Incident>,
}

/// Something that happened in a public project: what was written, the broken write, and the mended one. It
/// has the form of a lesson, and belongs to no chapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// Its lesson.
    pub lesson: CatalogueEntry,
    /// The address of the thread that tells it.
    pub thread: String,
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
        let fields = Fields::read(&located, "the catalogue", &["chapters", "incidents"])?;
        let chapters = items(fields.needed("chapters")?)?.iter().map(chapter);
        let incidents = match fields.get("incidents") {
            Some(list) => items(list)?.iter().map(incident).collect::<Read<_>>()?,
            None => Vec::new(),
        };
        Ok(Self {
            chapters: chapters.collect::<Read<_>>()?,
            incidents,
        })
    }

    /// Whether a name is that of a lesson or of an incident.
    pub fn has(&self, name: &str) -> bool {
        let incidents = self.incidents.iter().map(|incident| &incident.lesson);
        self.lessons()
            .chain(incidents)
            .any(|entry| entry.name == name)
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
        entry(&fields)
    });
    Ok(Chapter {
        title: fields.needed_text("title")?,
        goal: fields.needed_text("goal")?,
        lessons: lessons.collect::<Read<_>>()?,
    })
}

fn incident(located: &Located) -> Read<Incident> {
    let keys = ["name", "title", "belief", "pages", "thread"];
    let fields = Fields::read(located, "an incident", &keys)?;
    Ok(Incident {
        lesson: entry(&fields)?,
        thread: fields.needed_text("thread")?,
    })
}

fn entry(fields: &Fields<'_>) -> Read<CatalogueEntry> {
    let pages = fields.number("pages")?.unwrap_or_default();
    Ok(CatalogueEntry {
        name: fields.needed_text("name")?,
        title: fields.needed_text("title")?,
        belief: fields.needed_text("belief")?,
        pages: usize::try_from(pages).unwrap_or_default(),
    })
}

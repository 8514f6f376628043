//! The catalogue: all lessons, in chapters.

use super::fields::{KnownKeys, LessonError, LessonResult, items};
use optimist_apiserver::yaml::{Located, parse_located};

/// All lessons that belong to Optimist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalogue {
    /// In the recommended order.
    pub chapters: Vec<Chapter>,
    /// Questions about everything, after the last chapter.
    pub closing: Option<Quiz>,
    /// The reading after the lessons.
    pub reading: Vec<Reading>,
    /// Incidents of public projects.
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
    /// Questions about the chapter, after its last lesson.
    pub quiz: Option<Quiz>,
}

/// Questions that are in no lesson. A quiz has the form of a lesson: each page asks one question and runs
/// the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quiz {
    /// The name of its file without the ending. Links use this name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The number of its questions.
    pub questions: usize,
    /// The minutes that it needs, by [`Lesson::minutes`](crate::Lesson::minutes).
    pub minutes: usize,
}

/// A document to read after the lessons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Its title.
    pub title: String,
    /// Its address.
    pub address: String,
    /// Its addition to the lessons.
    pub because: String,
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
    /// The minutes that it needs, by [`Lesson::minutes`](crate::Lesson::minutes).
    pub minutes: usize,
    /// `true` if it goes deeper than the main line, which does not need it.
    pub optional: bool,
}

impl Chapter {
    /// Its lessons in the main line.
    pub fn main_line(&self) -> impl Iterator<Item = &CatalogueEntry> {
        self.lessons.iter().filter(|entry| !entry.optional)
    }

    /// Its optional lessons.
    pub fn further(&self) -> impl Iterator<Item = &CatalogueEntry> {
        self.lessons.iter().filter(|entry| entry.optional)
    }

    /// The minutes that its lessons in the main line and its questions need.
    pub fn minutes(&self) -> usize {
        let lessons: usize = self.main_line().map(|entry| entry.minutes).sum();
        lessons + self.quiz.as_ref().map_or(0, |quiz| quiz.minutes)
    }
}

impl Catalogue {
    /// Reads a catalogue.
    ///
    /// # Errors
    /// The first error, with its line.
    pub fn parse(source: &str) -> Result<Self, LessonError> {
        let located = parse_located(source)?;
        let fields = KnownKeys::read(
            &located,
            "the catalogue",
            &["chapters", "closing", "read next", "incidents"],
        )?;
        let chapters = items(fields.needed("chapters")?)?.iter().map(chapter);
        let incidents = match fields.get("incidents") {
            Some(list) => items(list)?
                .iter()
                .map(incident)
                .collect::<LessonResult<_>>()?,
            None => Vec::new(),
        };
        Ok(Self {
            chapters: chapters.collect::<LessonResult<_>>()?,
            closing: fields.get("closing").map(quiz).transpose()?,
            reading: fields
                .items("read next")?
                .iter()
                .map(reading)
                .collect::<LessonResult<_>>()?,
            incidents,
        })
    }

    /// Returns whether a name is that of a lesson, of a quiz or of an incident.
    pub fn has(&self, name: &str) -> bool {
        let mut incidents = self.incidents.iter();
        self.course().any(|known| known == name)
            || incidents.any(|incident| incident.lesson.name == name)
    }

    /// The names of all lessons and quizzes, in order.
    pub fn course(&self) -> impl Iterator<Item = &str> {
        let chapters = self.chapters.iter().flat_map(|chapter| {
            let lessons = chapter.lessons.iter().map(|entry| &*entry.name);
            lessons.chain(chapter.quiz.iter().map(|quiz| &*quiz.name))
        });
        chapters.chain(self.closing.iter().map(|quiz| &*quiz.name))
    }

    /// The names of the lessons in the main line and of all quizzes, in order.
    pub fn main_line(&self) -> impl Iterator<Item = &str> {
        let optional = |name: &str| {
            let mut further = self.lessons().filter(|entry| entry.optional);
            further.any(|entry| entry.name == name)
        };
        self.course().filter(move |name| !optional(name))
    }

    /// The minutes that the main line needs, with all its questions.
    pub fn minutes(&self) -> usize {
        let chapters: usize = self.chapters.iter().map(Chapter::minutes).sum();
        chapters + self.closing.as_ref().map_or(0, |quiz| quiz.minutes)
    }

    /// Every quiz, in order.
    pub fn quizzes(&self) -> impl Iterator<Item = &Quiz> {
        let chapters = self
            .chapters
            .iter()
            .filter_map(|chapter| chapter.quiz.as_ref());
        chapters.chain(&self.closing)
    }

    /// Every lesson, in order.
    pub fn lessons(&self) -> impl Iterator<Item = &CatalogueEntry> {
        self.chapters.iter().flat_map(|chapter| &chapter.lessons)
    }
}

/// The keys of an entry.
const ENTRY: [&str; 5] = ["name", "title", "belief", "pages", "minutes"];

fn chapter(located: &Located) -> LessonResult<Chapter> {
    let fields = KnownKeys::read(located, "a chapter", &["title", "goal", "lessons", "quiz"])?;
    let lessons = items(fields.needed("lessons")?)?.iter().map(|located| {
        let mut keys = ENTRY.to_vec();
        keys.push("optional");
        let fields = KnownKeys::read(located, "a lesson", &keys)?;
        Ok(CatalogueEntry {
            optional: fields.flag("optional")?.unwrap_or_default(),
            ..entry(&fields)?
        })
    });
    Ok(Chapter {
        title: fields.needed_text("title")?,
        goal: fields.needed_text("goal")?,
        lessons: lessons.collect::<LessonResult<_>>()?,
        quiz: fields.get("quiz").map(quiz).transpose()?,
    })
}

fn quiz(located: &Located) -> LessonResult<Quiz> {
    let fields = KnownKeys::read(
        located,
        "a quiz",
        &["name", "title", "questions", "minutes"],
    )?;
    Ok(Quiz {
        name: fields.needed_text("name")?,
        title: fields.needed_text("title")?,
        questions: count(&fields, "questions")?,
        minutes: count(&fields, "minutes")?,
    })
}

fn reading(located: &Located) -> LessonResult<Reading> {
    let fields = KnownKeys::read(
        located,
        "something to read",
        &["title", "address", "because"],
    )?;
    Ok(Reading {
        title: fields.needed_text("title")?,
        address: fields.needed_text("address")?,
        because: fields.needed_text("because")?,
    })
}

fn count(fields: &KnownKeys<'_>, key: &str) -> LessonResult<usize> {
    let number = fields.number(key)?.unwrap_or_default();
    Ok(usize::try_from(number).unwrap_or_default())
}

fn incident(located: &Located) -> LessonResult<Incident> {
    let mut keys = ENTRY.to_vec();
    keys.push("thread");
    let fields = KnownKeys::read(located, "an incident", &keys)?;
    Ok(Incident {
        lesson: entry(&fields)?,
        thread: fields.needed_text("thread")?,
    })
}

fn entry(fields: &KnownKeys<'_>) -> LessonResult<CatalogueEntry> {
    Ok(CatalogueEntry {
        name: fields.needed_text("name")?,
        title: fields.needed_text("title")?,
        belief: fields.needed_text("belief")?,
        pages: count(fields, "pages")?,
        minutes: count(fields, "minutes")?,
        optional: false,
    })
}

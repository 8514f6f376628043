//! Finds all errors in the text of a lesson, and not only the first one: each part is read apart from
//! the others.

use super::Lesson;
use super::closing;
use super::feedback::{Feedback, hints};
use super::fields::{KnownKeys, LessonError, LessonResult, items, members};
use super::mistake::parse_lesson;
use super::mutants::AlsoRight;
use super::read;
use super::script::actions;
use optimist_apiserver::yaml::Located;

impl Lesson {
    /// Reads a lesson.
    ///
    /// # Errors
    /// All errors, each with its line, in the order of the lines. In the same part of a lesson, such as an action or a
    /// condition, only the first error is found.
    pub fn parse_all(source: &str) -> Result<Self, Vec<LessonError>> {
        let first = match Self::parse(source) {
            Ok(lesson) => return Ok(lesson),
            Err(first) => first,
        };
        let mut found = LessonErrors::default();
        if let Ok(located) = parse_lesson(source) {
            found.lesson(&located, source);
        }
        if !found.0.contains(&first) {
            found.0.push(first);
        }
        found.0.sort_by_key(|error| error.line);
        found.0.dedup();
        Err(found.0)
    }
}

/// The errors that were found so far.
#[derive(Default)]
struct LessonErrors(Vec<LessonError>);

impl LessonErrors {
    fn collect<T>(&mut self, read: LessonResult<T>) -> Option<T> {
        read.map_err(|error| self.0.push(error)).ok()
    }

    /// Reads a mapping. A key that is not known is an error, and the others are still read.
    fn fields<'a>(
        &mut self,
        located: &'a Located,
        what: &str,
        known: &[&str],
    ) -> Option<KnownKeys<'a>> {
        let members = self.collect(members(located, what))?;
        let unknown = members
            .iter()
            .filter(|it| !known.contains(&it.key.as_str()));
        self.0
            .extend(unknown.map(|it| KnownKeys::unknown(it, what, known)));
        Some(KnownKeys {
            line: located.line,
            members,
        })
    }

    /// Reads each item of a list on its own.
    fn each<T>(
        &mut self,
        fields: &KnownKeys<'_>,
        key: &str,
        read: impl Fn(&Located) -> LessonResult<T>,
    ) {
        let items = self.collect(fields.items(key)).unwrap_or_default();
        for item in items {
            self.collect(read(item));
        }
    }

    /// Reads texts that must be there, and texts that may be.
    fn texts(&mut self, fields: &KnownKeys<'_>, needed: &[&str], others: &[&str]) {
        for key in needed {
            self.collect(fields.needed_text(key));
        }
        for key in others {
            self.collect(fields.text(key));
        }
    }

    fn lesson(&mut self, located: &Located, source: &str) {
        let known = read::lesson_keys();
        let Some(fields) = self.fields(located, "a lesson", &known) else {
            return;
        };
        self.texts(&fields, &["title", "teaches"], &[]);
        self.collect(read::start(&fields, source));
        self.collect(read::cast(&fields));
        let steps = fields.needed("steps").and_then(items);
        let steps = self.collect(steps).unwrap_or_default();
        self.collect(read::belief(&fields, steps.len()));
        for step in steps {
            self.step(step, source);
        }
    }

    fn step(&mut self, located: &Located, source: &str) {
        let Some(fields) = self.fields(located, "a step", &read::STEP) else {
            return;
        };
        self.texts(&fields, &["title"], &["text", "after"]);
        self.collect(read::shown_part(&fields));
        self.each(&fields, "do", |it| actions(std::slice::from_ref(it)));
        self.each(&fields, "check", read::claim);
        self.each(&fields, "facts", |it| read::fact(it, source));
        if let Some(predict) = fields.get("predict") {
            self.collect(read::prediction(predict));
        }
        if let Some(goal) = fields.get("goal") {
            self.goal(goal);
        }
        if fields.get("goal").is_none() {
            self.collect(read::task(&fields, &mut Vec::new()));
        }
    }

    fn goal(&mut self, located: &Located) {
        let Some(fields) = self.fields(located, "a goal", &read::GOAL) else {
            return;
        };
        self.texts(&fields, &["ask"], &[]);
        self.collect(closing::goal_texts(&fields));
        self.collect(hints(&fields));
        self.collect(fields.needed("when").and_then(read::aims));
        self.collect(fields.needed("solution"));
        self.each(&fields, "solution", |it| actions(std::slice::from_ref(it)));
        self.each(&fields, "other ways", read::other_way);
        self.each(&fields, "mistakes", read::mistake);
        self.each(&fields, "feedback", Feedback::read);
        self.each(&fields, "also right", AlsoRight::read);
    }
}

//! The closing texts of a task. Each is for those who did what it speaks of, and not for everybody
//! who did the task.

use optimist_apiserver::yaml::{Content, Located};
use optimist_client::{OnConflict, Strategy, Write};

use super::challenge::Finding;
use super::check::LessonCheck;
use super::condition::{Condition, Past, conditions};
use super::fields::{KnownKeys, LessonResult, items, text, word};
use super::model::{Challenge, TaskGoal};
use super::script::STRATEGIES;

/// A closing text, and who is told it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosingText<W> {
    /// Its line, counted from 1.
    pub line: usize,
    /// The text.
    pub say: String,
    /// Says for which ways of doing the task the text is; `None` for all of them.
    pub when: Option<W>,
}

/// Ways of writing: a property that is not given can be anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteFilter {
    /// The strategies; empty for all of them.
    pub strategies: Vec<Strategy>,
    /// With or without a version; `None` for both. So are the others.
    pub version: Option<bool>,
    /// With or without force.
    pub force: Option<bool>,
    /// With or without tests of the old values.
    pub test: Option<bool>,
    /// With or without a retry after a conflict.
    pub retry: Option<bool>,
}

impl WriteFilter {
    /// The keys with which it is written.
    pub(super) const KEYS: [&str; 5] = ["send", "version", "force", "test", "retry"];

    pub(super) fn read(fields: &KnownKeys<'_>) -> LessonResult<Self> {
        let sends = fields.get("send").map_or(Ok(&[][..]), items)?;
        let strategies = sends.iter().map(|item| word(item, &STRATEGIES));
        Ok(Self {
            strategies: strategies.collect::<LessonResult<_>>()?,
            version: fields.flag("version")?,
            force: fields.flag("force")?,
            test: fields.flag("test")?,
            retry: fields.flag("retry")?,
        })
    }

    /// Returns whether a write is one of these ways.
    pub fn has(&self, write: &Write) -> bool {
        let is = |wanted: Option<bool>, found: bool| wanted.is_none_or(|wanted| wanted == found);
        (self.strategies.is_empty() || self.strategies.contains(&write.strategy))
            && is(self.version, write.send_resource_version)
            && is(self.force, write.force)
            && is(self.test, write.test_values)
            && is(self.retry, write.on_conflict != OnConflict::GiveUp)
    }
}

/// Reads `reached`: one text, or a list of texts.
fn read<W>(
    fields: &KnownKeys<'_>,
    keys: &[&'static str],
    when: impl Fn(&KnownKeys<'_>) -> LessonResult<W>,
) -> LessonResult<Vec<ClosingText<W>>> {
    let Some(located) = fields.get("reached") else {
        return Ok(Vec::new());
    };
    if matches!(located.content, Content::Scalar(..)) {
        return Ok(vec![ClosingText {
            line: located.line,
            say: text(located)?,
            when: None,
        }]);
    }
    let item = |located: &Located| {
        let known: Vec<&str> = [&["say"], keys].concat();
        let fields = KnownKeys::read(located, "a closing text", &known)?;
        let is_for_some = keys.iter().any(|key| fields.get(key).is_some());
        Ok(ClosingText {
            line: located.line,
            say: fields.needed_text("say")?,
            when: is_for_some.then(|| when(&fields)).transpose()?,
        })
    };
    items(located)?.iter().map(item).collect()
}

/// Reads the closing texts of a goal.
pub(super) fn goal_texts(fields: &KnownKeys<'_>) -> LessonResult<Vec<ClosingText<Vec<Condition>>>> {
    read(fields, &["when"], |it| conditions(it.needed("when")?))
}

/// Reads the closing texts of a challenge.
pub(super) fn challenge_texts(
    fields: &KnownKeys<'_>,
) -> LessonResult<Vec<ClosingText<WriteFilter>>> {
    read(fields, &WriteFilter::KEYS, WriteFilter::read)
}

fn joined<W>(texts: &[ClosingText<W>], is_told: impl Fn(&W) -> bool) -> String {
    let told = texts
        .iter()
        .filter(|text| text.when.as_ref().is_none_or(&is_told));
    let told: Vec<&str> = told.map(|text| text.say.trim_end()).collect();
    told.join("\n\n")
}

impl TaskGoal {
    /// Returns the closing texts of the goal that are true of a history; without a history, those for
    /// everybody.
    pub fn closing_text(&self, past: Option<Past<'_>>) -> String {
        joined(&self.reached, |when| {
            past.is_some_and(|past| past.fulfils(when))
        })
    }

    /// Each text must be told to one of the ways. `pasts` are the histories of all ways.
    pub(super) fn check_closing(&self, check: &mut LessonCheck, pasts: &[Past<'_>]) {
        for text in &self.reached {
            let told = |when: &Vec<Condition>| pasts.iter().any(|past| past.fulfils(when));
            if text.when.as_ref().is_some_and(|when| !told(when)) {
                check.problem(text.line, "no way is told this");
            }
        }
    }
}

impl Challenge {
    /// Returns the closing texts of the challenge for the ways of writing that met it; without a
    /// search, those for everybody. A text for some ways is told if one of the actors writes so.
    pub fn closing_text(&self, finding: Option<&Finding>) -> String {
        joined(&self.reached, |when| {
            finding.is_some_and(|finding| finding.writes.iter().any(|write| when.has(write)))
        })
    }

    /// Each text must be told to one of the ways.
    pub(super) fn check_closing(&self, check: &mut LessonCheck) {
        let others = self.other_ways.iter().map(|way| &way.writes);
        let ways = std::iter::once(&self.solution).chain(others);
        let writes: Vec<&Write> = ways.flatten().map(|(_, write)| write).collect();
        for text in &self.reached {
            let told = |when: &WriteFilter| writes.iter().any(|write| when.has(write));
            if text.when.as_ref().is_some_and(|when| !told(when)) {
                check.problem(text.line, "no choice is told this");
            }
        }
    }
}

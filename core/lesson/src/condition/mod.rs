//! Conditions on a history: the claims that a lesson makes, the answers among which a learner
//! predicts, and the goals.
//!
//! A kind of condition is one descriptor: its key in the lesson's text, how its value is read, and
//! an [`Assertion`] that is evaluated and described. To add one that counts something, add a row to
//! `counted::ALL`. To add another one, write an `Assertion` and add a row to [`KINDS`].

mod answer;
mod combined;
mod controller;
mod counted;
mod every_history;
mod label;
mod object;
mod past;
mod versions;
mod watch;
mod writers;

use std::fmt;
use std::sync::Arc;

use optimist_apiserver::yaml::Located;
use serde_json::Value;

use super::FieldPath;
use super::fields::{KnownKeys, LessonError, LessonResult, members};
pub use label::{GoalLabel, PartLabel};
pub use past::Past;

/// Something that is true or not, at the current step of a history.
///
/// `Display` gives it as a claim: `spec.replicas is 5`.
#[derive(Clone, Debug)]
pub struct Condition(Arc<dyn Assertion>);

impl Condition {
    fn new(claim: impl Assertion + 'static) -> Self {
        Self(Arc::new(claim))
    }

    /// Returns the condition as a goal for the learner.
    pub(super) fn label(&self) -> GoalLabel {
        self.0.label()
    }

    /// Returns whether the label says that there is none of something that the history has.
    pub(super) fn denies(&self, past: Past<'_>) -> bool {
        self.0.denies(past)
    }
}

/// Two conditions that claim the same are the same.
impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A kind of condition with its values: `Display` gives it as a claim.
trait Assertion: fmt::Debug + fmt::Display + Send + Sync {
    /// Returns whether the claim is true.
    fn holds(&self, past: Past<'_>) -> bool;

    /// Returns the actual value, if one word can say it.
    fn actual(&self, _: Past<'_>) -> Option<String> {
        None
    }

    /// Returns whether the claim is false and stays false, whatever happens next.
    fn is_out_of_reach(&self, _: Past<'_>) -> bool {
        false
    }

    /// Returns whether the label says that there is none of something that the history has.
    fn denies(&self, _: Past<'_>) -> bool {
        false
    }

    /// Returns the claim as a goal for the learner.
    fn label(&self) -> GoalLabel {
        GoalLabel::claim(self.to_string())
    }
}

/// A key of a condition in the text of a lesson, and how its value is read.
struct ConditionKey {
    key: &'static str,
    read: fn(&Located) -> LessonResult<Vec<Condition>>,
}

/// The kinds of condition that do not count something.
const KINDS: &[ConditionKey] = &[
    kind("answer", answer::code),
    kind("reason", answer::reason),
    kind("message", answer::message),
    kind("sent", answer::sent),
    kind("received", answer::received),
    kind("read", object::has_read),
    kind("stored", object::stored),
    kind("same", object::same),
    kind("copy", object::copy),
    kind("stale", object::stale),
    kind("owners", object::owners),
    kind("exists", object::exists),
    kind("set by", writers::set_by),
    kind("writers", writers::writers),
    kind("versions", versions::versions),
    kind("watch", watch::watch),
    kind("objects", controller::objects),
    kind("behind", controller::behind),
    kind("cached", controller::cached),
    kind("run ended", controller::run_ended),
    kind("at rest", controller::at_rest),
    kind("every history", every_history::every_history),
    kind("not", combined::not),
    kind("any", combined::any),
    kind("all", combined::all),
];

const fn kind(
    key: &'static str,
    read: fn(&Located) -> LessonResult<Vec<Condition>>,
) -> ConditionKey {
    ConditionKey { key, read }
}

/// The keys of all conditions.
pub(super) fn keys() -> Vec<&'static str> {
    let counted = counted::ALL.iter().map(|counted| counted.key);
    counted.chain(KINDS.iter().map(|kind| kind.key)).collect()
}

/// Reads conditions: a mapping whose members must all hold.
pub(super) fn conditions(located: &Located) -> LessonResult<Vec<Condition>> {
    conditions_of(&KnownKeys::read(located, "a condition", &keys())?)
}

/// Reads the conditions among the members of a mapping.
pub(super) fn conditions_of(fields: &KnownKeys<'_>) -> LessonResult<Vec<Condition>> {
    let mut all = Vec::new();
    for member in fields.members {
        if let Some(kind) = KINDS.iter().find(|kind| kind.key == member.key) {
            all.extend((kind.read)(&member.value)?);
        } else if let Some(counted) = counted::ALL.iter().find(|kind| kind.key == member.key) {
            all.push(counted.condition(&member.value)?);
        }
    }
    if all.is_empty() {
        return Err(LessonError::new(fields.line, "a condition is missing here"));
    }
    Ok(all)
}

fn place(text: &str, line: usize) -> LessonResult<FieldPath> {
    FieldPath::parse(text).map_err(|why| LessonError::new(line, why))
}

/// Reads places and what is there; `~` for nothing.
fn places(located: &Located) -> LessonResult<Vec<(FieldPath, Option<Value>)>> {
    let members = members(located, "places and values")?.iter();
    let places = members.map(|member| {
        let value = Value::from(&member.value);
        let path = place(&member.key, member.line)?;
        Ok((path, (!value.is_null()).then_some(value)))
    });
    places.collect()
}

/// A value, or that it is not there.
struct ShownValue<'a>(Option<&'a Value>);

impl fmt::Display for ShownValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("not there"),
            Some(Value::String(text)) => f.write_str(text),
            Some(value) => write!(f, "{value}"),
        }
    }
}

/// Writes the value that an object has at a path as JSON.
fn value_at(object: Option<&Value>, path: &FieldPath) -> String {
    let found = object.and_then(|object| path.find(object));
    found.map_or("not there".to_owned(), Value::to_string)
}

/// Returns whether an object has this value at a path; `None` asks whether it has no value there.
pub(crate) fn has(object: Option<&Value>, path: &FieldPath, value: Option<&Value>) -> bool {
    object.and_then(|object| path.find(object)) == value
}

/// Returns whether an object has the same value, and has one, at two paths.
pub(crate) fn has_same(object: Option<&Value>, [one, other]: [&FieldPath; 2]) -> bool {
    object.is_some_and(|object| {
        let value = one.find(object);
        value.is_some() && value == other.find(object)
    })
}

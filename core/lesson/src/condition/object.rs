//! Conditions on the object: its stored state, the copies that actors have read, and the owners of
//! its fields.

use std::fmt;

use optimist_apiserver::apply::Managers;
use optimist_apiserver::yaml::Located;
use optimist_simulation::{ActorId, Outcome};
use serde_json::Value;

use super::{
    Assertion, Condition, GoalLabel, Past, ShownValue, has, has_same, place, places, value_at,
};
use crate::FieldPath;
use crate::fields::{LessonError, LessonResult, flag, items, members, number, text, word};
use crate::script::{ACTORS, by_actor};

/// An actor has read the object.
#[derive(Debug)]
struct HasRead(ActorId);

/// The stored object has this value at a path; `None`: it has no value there.
#[derive(Debug)]
struct StoredField(FieldPath, Option<Value>);

/// The stored object has the same value, and has one, at two places.
#[derive(Debug)]
struct Same(FieldPath, FieldPath);

/// An actor's working copy has this value at a path; `None`: it has no value there.
#[derive(Debug)]
struct Copy(ActorId, FieldPath, Option<Value>);

/// The condition that an actor's copy is this many versions behind.
#[derive(Debug)]
struct Stale(ActorId, usize);

/// A field has exactly these owners, which are sorted.
#[derive(Debug)]
struct FieldOwners(FieldPath, Vec<String>);

/// The object exists, or (`false`) does not.
#[derive(Debug)]
struct Exists(bool);

pub(super) fn has_read(value: &Located) -> LessonResult<Vec<Condition>> {
    let actors = items(value)?.iter().map(|item| word(item, &ACTORS));
    let read = actors.map(|actor| Ok(Condition::new(HasRead(actor?))));
    read.collect()
}

pub(super) fn stored(value: &Located) -> LessonResult<Vec<Condition>> {
    let places = places(value)?.into_iter();
    let stored = places.map(|(path, value)| Condition::new(StoredField(path, value)));
    Ok(stored.collect())
}

pub(super) fn same(value: &Located) -> LessonResult<Vec<Condition>> {
    let [one, other] = items(value)? else {
        return Err(LessonError::new(value.line, "two places are needed here"));
    };
    let same = Same(
        place(&text(one)?, one.line)?,
        place(&text(other)?, other.line)?,
    );
    Ok(vec![Condition::new(same)])
}

pub(super) fn copy(value: &Located) -> LessonResult<Vec<Condition>> {
    let mut all = Vec::new();
    for (actor, value) in by_actor(value)? {
        let places = places(value)?.into_iter();
        all.extend(places.map(|(path, value)| Condition::new(Copy(actor, path, value))));
    }
    Ok(all)
}

pub(super) fn stale(value: &Located) -> LessonResult<Vec<Condition>> {
    let actors = by_actor(value)?.into_iter();
    let stale = actors.map(|(actor, value)| {
        let by = usize::try_from(number(value)?).unwrap_or(usize::MAX);
        Ok(Condition::new(Stale(actor, by)))
    });
    stale.collect()
}

pub(super) fn owners(value: &Located) -> LessonResult<Vec<Condition>> {
    let fields = members(value, "owners")?.iter();
    let owners = fields.map(|member| {
        let names = items(&member.value)?.iter().map(text);
        let mut names = names.collect::<LessonResult<Vec<String>>>()?;
        names.sort();
        let path = place(&member.key, member.line)?;
        Ok(Condition::new(FieldOwners(path, names)))
    });
    owners.collect()
}

pub(super) fn exists(value: &Located) -> LessonResult<Vec<Condition>> {
    Ok(vec![Condition::new(Exists(flag(value)?))])
}

impl Assertion for HasRead {
    fn holds(&self, past: Past<'_>) -> bool {
        let path = past.tree().world().subject().path();
        past.steps().any(|step| {
            let asked = step.exchange.as_ref().map(|asked| asked.target.as_str());
            let asked = asked.and_then(|target| target.split('?').next());
            step.actor() == Some(self.0)
                && step.outcome() == Outcome::Read
                && asked == Some(path.as_str())
        })
    }
}

impl fmt::Display for HasRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has read the object", self.0.letter())
    }
}

impl Assertion for StoredField {
    fn holds(&self, past: Past<'_>) -> bool {
        has(past.stored(), &self.0, self.1.as_ref())
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some(value_at(past.stored(), &self.0))
    }

    /// A version that has passed does not come again.
    fn is_out_of_reach(&self, past: Past<'_>) -> bool {
        let wanted = self.1.as_ref().and_then(Value::as_str);
        let Some(version) = wanted.filter(|_| self.0.to_string() == "metadata.resourceVersion")
        else {
            return false;
        };
        let world = past.tree().world();
        let store = world.server().store();
        let passed = version.parse().is_ok_and(|it: u64| it <= store.revision());
        let mut subjects = world.subjects();
        passed
            && !subjects.any(|subject| {
                let stored = store.get(subject.key());
                stored.is_some_and(|(revision, _)| revision.to_string() == version)
            })
    }

    fn label(&self) -> GoalLabel {
        let field = ("field", self.0.field().to_owned());
        match &self.1 {
            None => GoalLabel {
                message: "goal_gone",
                english: "{field} is gone",
                arguments: vec![field],
            },
            value => GoalLabel {
                message: "goal_value",
                english: "{field} is {value}",
                arguments: vec![field, ("value", ShownValue(value.as_ref()).to_string())],
            },
        }
    }
}

impl fmt::Display for StoredField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", self.0, ShownValue(self.1.as_ref()))
    }
}

impl Assertion for Same {
    fn holds(&self, past: Past<'_>) -> bool {
        has_same(past.stored(), [&self.0, &self.1])
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        let [one, other] = [&self.0, &self.1].map(|path| value_at(past.stored(), path));
        Some(format!("{one} and {other}"))
    }

    fn label(&self) -> GoalLabel {
        GoalLabel {
            message: "goal_same",
            english: "{field} equals {other}",
            arguments: vec![
                ("field", self.0.field().to_owned()),
                ("other", self.1.field().to_owned()),
            ],
        }
    }
}

impl fmt::Display for Same {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} equals {}", self.0, self.1)
    }
}

impl Assertion for Copy {
    fn holds(&self, past: Past<'_>) -> bool {
        let copy = past.tree().world().copy(self.0);
        let edited = copy.edited().map(|object| object.as_ref());
        has(edited, &self.1, self.2.as_ref())
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        let copy = past.tree().world().copy(self.0);
        let edited = copy.edited().map(|object| object.as_ref());
        Some(value_at(edited, &self.1))
    }
}

impl fmt::Display for Copy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (actor, value) = (self.0.letter(), ShownValue(self.2.as_ref()));
        write!(f, "{} in {actor}’s copy is {value}", self.1)
    }
}

impl Assertion for Stale {
    fn holds(&self, past: Past<'_>) -> bool {
        past.tree().world().stale_by(self.0) == self.1
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some(past.tree().world().stale_by(self.0).to_string())
    }
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.letter(), self.1) {
            (actor, 0) => write!(f, "{actor}’s copy is current"),
            (actor, by) => write!(f, "{actor}’s copy is stale by {by}"),
        }
    }
}

impl Assertion for FieldOwners {
    fn holds(&self, past: Past<'_>) -> bool {
        let stored = past.stored();
        stored.is_some_and(|object| owners_of(object, &self.0) == self.1)
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some(owners_of(past.stored()?, &self.0).join(", "))
    }

    fn label(&self) -> GoalLabel {
        if self.1.is_empty() {
            return GoalLabel {
                message: "goal_no_owner",
                english: "no manager owns {field}",
                arguments: vec![("field", self.0.to_string())],
            };
        }
        GoalLabel {
            message: "goal_owners",
            english: "{field} is owned by {managers}",
            arguments: vec![
                ("field", self.0.field().to_owned()),
                ("managers", self.1.join(" and ")),
            ],
        }
    }
}

impl fmt::Display for FieldOwners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.1.is_empty() {
            return write!(f, "no manager owns {}", self.0);
        }
        write!(f, "{} is owned by {}", self.0, self.1.join(" and "))
    }
}

impl Assertion for Exists {
    fn holds(&self, past: Past<'_>) -> bool {
        past.stored().is_some() == self.0
    }
}

impl fmt::Display for Exists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 {
            "the object exists"
        } else {
            "the object is gone"
        })
    }
}

/// The managers that own a field, sorted, each once.
fn owners_of(object: &Value, path: &FieldPath) -> Vec<String> {
    let mut names: Vec<String> = Managers::of_object(object)
        .iter()
        .filter(|owned| owned.set.paths().iter().any(|owned| path.is(&owned.0)))
        .map(|owned| owned.manager.name.clone())
        .collect();
    names.sort();
    names.dedup();
    names
}

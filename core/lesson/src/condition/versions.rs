//! The condition on how many versions of an object were made.

use std::fmt;

use optimist_apiserver::yaml::Located;

use super::counted::Count;
use super::{Assertion, Condition, Past};
use crate::fields::{LessonError, LessonResult, members};

/// This number of versions of an object was made since the step began. Kind and name say which
/// object.
#[derive(Debug)]
struct VersionsMade {
    kind: String,
    name: String,
    count: Count,
}

pub(super) fn versions(value: &Located) -> LessonResult<Vec<Condition>> {
    let objects = members(value, "objects and numbers")?.iter();
    let versions = objects.map(|member| {
        let named = member.key.split_once(' ');
        let (kind, name) = named.ok_or_else(|| {
            LessonError::new(member.line, "kind and name are needed here: Deployment web")
        })?;
        Ok(Condition::new(VersionsMade {
            kind: kind.to_owned(),
            name: name.to_owned(),
            count: Count::read(&member.value)?,
        }))
    });
    versions.collect()
}

impl VersionsMade {
    fn count_made(&self, past: Past<'_>) -> Option<usize> {
        let world = past.tree().world();
        let mut subjects = world.subjects();
        let subject =
            subjects.find(|it| it.resource().kind == self.kind && it.name() == self.name)?;
        let log = world.server().store().log_after(past.first_revision()?);
        Some(log.filter(|change| *change.key == *subject.key()).count())
    }
}

impl Assertion for VersionsMade {
    fn holds(&self, past: Past<'_>) -> bool {
        self.count_made(past)
            .is_some_and(|made| self.count.holds(made))
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some(self.count_made(past)?.to_string())
    }

    fn is_out_of_reach(&self, past: Past<'_>) -> bool {
        let made = self.count_made(past);
        made.is_some_and(|made| self.count.is_exceeded_by(made))
    }
}

impl fmt::Display for VersionsMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.count == Count::Exactly(1) {
            ""
        } else {
            "s"
        };
        write!(
            f,
            "{} version{s} of {} {}",
            self.count, self.kind, self.name
        )
    }
}

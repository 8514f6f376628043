//! Conditions made of conditions.

use std::fmt;

use optimist_apiserver::yaml::Located;

use super::{Assertion, Condition, Past, conditions};
use crate::fields::{LessonResult, items};

/// Not all of these.
#[derive(Debug)]
struct Not(Vec<Condition>);

/// At least one of these holds as a whole.
#[derive(Debug)]
struct Any(Vec<Vec<Condition>>);

pub(super) fn not(value: &Located) -> LessonResult<Vec<Condition>> {
    Ok(vec![Condition::new(Not(conditions(value)?))])
}

pub(super) fn any(value: &Located) -> LessonResult<Vec<Condition>> {
    let ways = items(value)?.iter().map(conditions);
    Ok(vec![Condition::new(
        Any(ways.collect::<LessonResult<_>>()?),
    )])
}

pub(super) fn all(value: &Located) -> LessonResult<Vec<Condition>> {
    let mut all = Vec::new();
    for item in items(value)? {
        all.extend(conditions(item)?);
    }
    Ok(all)
}

impl Assertion for Not {
    fn holds(&self, past: Past<'_>) -> bool {
        !past.fulfils(&self.0)
    }
}

impl fmt::Display for Not {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not: ")?;
        joined(f, &self.0, ", ")
    }
}

impl Assertion for Any {
    fn holds(&self, past: Past<'_>) -> bool {
        self.0.iter().any(|way| past.fulfils(way))
    }
}

impl fmt::Display for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, way) in self.0.iter().enumerate() {
            f.write_str(if i > 0 { ", or " } else { "" })?;
            joined(f, way, " and ")?;
        }
        Ok(())
    }
}

fn joined(f: &mut fmt::Formatter<'_>, conditions: &[Condition], between: &str) -> fmt::Result {
    for (i, condition) in conditions.iter().enumerate() {
        f.write_str(if i > 0 { between } else { "" })?;
        fmt::Display::fmt(condition, f)?;
    }
    Ok(())
}

//! Quantities, versions and formats by name (`k8s.io/apiserver/pkg/cel/library/quantity.go`,
//! `semverlib.go`, `format.go`, v1.36).

use std::cmp::Ordering;
use std::rc::Rc;

use super::super::evaluate::{Evaluated, EvaluationError, Machine};
use super::super::value::Val;
use super::formats;
use optimist_encoding::go;
use optimist_values::Quantity;

pub(super) fn apply(_: &Machine, function: &str, args: &[Val]) -> Option<Evaluated> {
    Some(match (function, args) {
        ("quantity", [Val::Text(text)]) => Quantity::parse(text)
            .map(Val::Quantity)
            .map_err(EvaluationError::new),
        ("isQuantity", [Val::Text(text)]) => Ok(Val::Bool(Quantity::parse(text).is_ok())),
        ("semver", [Val::Text(text)]) => Semver::parse(text).map(|it| Val::Semver(Rc::new(it))),
        ("semver", [Val::Text(text), Val::Bool(tolerant)]) => {
            Semver::read(text, *tolerant).map(|it| Val::Semver(Rc::new(it)))
        }
        ("isSemver", [Val::Text(text)]) => Ok(Val::Bool(Semver::parse(text).is_ok())),
        ("isSemver", [Val::Text(text), Val::Bool(tolerant)]) => {
            Ok(Val::Bool(Semver::read(text, *tolerant).is_ok()))
        }
        ("isGreaterThan", [one, other]) => Ok(Val::Bool(order(one, other)? == Ordering::Greater)),
        ("isLessThan", [one, other]) => Ok(Val::Bool(order(one, other)? == Ordering::Less)),
        ("compareTo", [one, other]) => Ok(Val::Int(order(one, other)? as i64)),
        ("add" | "sub", [Val::Quantity(one), other]) => {
            let other = match other {
                Val::Quantity(other) => *other,
                Val::Int(whole) => Quantity::from(*whole),
                _ => return None,
            };
            Ok(Val::Quantity(match function {
                "add" => one.plus(other),
                _ => one.minus(other),
            }))
        }
        (_, [Val::Quantity(quantity)]) => return of_quantity(function, *quantity),
        (_, [Val::Semver(version)]) => Ok(Val::Int(match function {
            "major" => version.numbers[0],
            "minor" => version.numbers[1],
            "patch" => version.numbers[2],
            _ => return None,
        })),
        ("format.named", [Val::Text(name)]) => Ok(Val::Optional(
            formats::named(name).map(|name| Rc::new(Val::Format(name))),
        )),
        ("validate", [Val::Format(name), Val::Text(text)]) => {
            let problems = formats::problems(name, text);
            Ok(Val::Optional(match problems.is_empty() {
                true => None,
                false => Some(Rc::new(Val::texts(problems))),
            }))
        }
        (function, []) => {
            let name = function.strip_prefix("format.")?;
            Ok(Val::Format(formats::named(name)?))
        }
        _ => return None,
    })
}

fn of_quantity(function: &str, quantity: Quantity) -> Option<Evaluated> {
    Some(Ok(match function {
        "sign" => Val::Int(if quantity.is_zero() {
            0
        } else if quantity.is_negative() {
            -1
        } else {
            1
        }),
        "isInteger" => Val::Bool(quantity.whole().is_some()),
        "asInteger" => match quantity.whole() {
            Some(whole) => Val::Int(whole),
            None => return Some(Err(EvaluationError::new("cannot convert value to integer"))),
        },
        "asApproximateFloat" => Val::Double(quantity.approximately()),
        _ => return None,
    }))
}

/// The order of two quantities or two versions.
fn order(one: &Val, other: &Val) -> Option<Ordering> {
    match (one, other) {
        (Val::Quantity(one), Val::Quantity(other)) => Some(one.cmp(other)),
        (Val::Semver(one), Val::Semver(other)) => Some(one.cmp(other)),
        _ => None,
    }
}

/// A version (`github.com/blang/semver/v4`).
#[derive(Debug)]
pub(crate) struct Semver {
    numbers: [i64; 3],
    /// The text behind a dash, split at its dots.
    before: Vec<String>,
}

impl Semver {
    fn read(text: &str, tolerant: bool) -> Evaluated<Self> {
        if tolerant {
            Self::parse(&normalized(text)?)
        } else {
            Self::parse(text)
        }
    }

    fn parse(text: &str) -> Evaluated<Self> {
        if text.is_empty() {
            return Err(EvaluationError::new("Version string empty"));
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(EvaluationError::new("No Major.Minor.Patch elements found"));
        };
        let (rest, build) = match rest.split_once('+') {
            Some((rest, build)) => (rest, Some(build)),
            None => (rest, None),
        };
        let (patch, before) = match rest.split_once('-') {
            Some((patch, before)) => (patch, Some(before)),
            None => (rest, None),
        };
        let numbers = [
            number(major, "major", "Major")?,
            number(minor, "minor", "Minor")?,
            number(patch, "patch", "Patch")?,
        ];
        let before: Vec<String> = before
            .map(|it| it.split('.').map(str::to_owned).collect())
            .unwrap_or_default();
        for part in &before {
            identifier(part, "Prerelease is empty", "prerelease")?;
            if is_number(part) && part.len() > 1 && part.starts_with('0') {
                let shown = go::quote(part);
                let why =
                    format!("Numeric PreRelease version must not contain leading zeroes {shown}");
                return Err(EvaluationError::new(why));
            }
        }
        for part in build.into_iter().flat_map(|it| it.split('.')) {
            identifier(part, "Build meta data is empty", "build meta data")?;
        }
        Ok(Self { numbers, before })
    }

    /// Compares two versions; the text behind a plus does not count.
    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| {
            match (self.before.is_empty(), other.before.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => {
                    let pairs = self.before.iter().zip(&other.before);
                    let first = pairs.map(|(one, other)| part_order(one, other));
                    let first = first.into_iter().find(|order| order.is_ne());
                    first.unwrap_or_else(|| self.before.len().cmp(&other.before.len()))
                }
            }
        })
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit())
}

fn part_order(one: &str, other: &str) -> Ordering {
    match (is_number(one), is_number(other)) {
        (true, true) => one.len().cmp(&other.len()).then_with(|| one.cmp(other)),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => one.cmp(other),
    }
}

fn number(text: &str, name: &str, title: &str) -> Evaluated<i64> {
    let shown = go::quote(text);
    if !text.bytes().all(|c| c.is_ascii_digit()) {
        let why = format!("Invalid character(s) found in {name} number {shown}");
        return Err(EvaluationError::new(why));
    }
    if text.len() > 1 && text.starts_with('0') {
        let why = format!("{title} number must not contain leading zeroes {shown}");
        return Err(EvaluationError::new(why));
    }
    text.parse().map_err(|_| {
        let why = if text.is_empty() {
            "invalid syntax"
        } else {
            "value out of range"
        };
        EvaluationError::new(format!("strconv.ParseUint: parsing {shown}: {why}"))
    })
}

fn identifier(text: &str, empty: &str, name: &str) -> Evaluated<()> {
    if text.is_empty() {
        return Err(EvaluationError::new(empty));
    }
    if !text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-') {
        let shown = go::quote(text);
        return Err(EvaluationError::new(format!(
            "Invalid character(s) found in {name} {shown}"
        )));
    }
    Ok(())
}

/// Returns a version with its optional parts filled in (`normalizeAndParse`).
fn normalized(text: &str) -> Evaluated<String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(without_zeros).collect();
    if parts.len() < 3 {
        if parts.last().is_some_and(|last| last.contains(['+', '-'])) {
            let why = "short version cannot contain PreRelease/Build meta data";
            return Err(EvaluationError::new(why));
        }
        parts.resize(3, "0".to_owned());
    }
    Ok(parts.join("."))
}

fn without_zeros(part: &str) -> String {
    let rest = part.trim_start_matches('0');
    if part.len() <= 1 || rest.len() == part.len() {
        return part.to_owned();
    }
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        rest.to_owned()
    } else {
        format!("0{rest}")
    }
}

//! Checks that numbers are within the limits of their schema (`numberValidator` of
//! `k8s.io/kube-openapi/pkg/validation/validate`).

use serde_json::{Number, Value};

use super::outcome::{Mistake, ReportForm, SchemaOutcome};
use super::validate::{known_format, types};
use crate::go;
use crate::schema::openapi::Schema;

/// Checks a number against its limits.
pub(super) fn number(n: &Number, schema: &Schema, path: &str) -> SchemaOutcome {
    let mut outcome = SchemaOutcome::default();
    let checks = &schema.checks;
    // A limit that the type cannot hold is reported, and compared as a float.
    let mut limit = |limit: f64, what: &str| {
        let wrong = out_of_range(&Value::from(limit), schema, what, path);
        let native = wrong.is_none();
        if let Some(text) = wrong {
            outcome.add(Mistake::general(text));
        }
        native
    };
    let mut found = Vec::new();
    if let Some(text) = out_of_range(&Value::Number(n.clone()), schema, "Checked", path) {
        found.push(Mistake::general(text));
    }
    if let Some(factor) = checks.multiple_of {
        let native = limit(factor, "MultipleOf");
        found.extend(multiple(n, factor, native, path));
    }
    if let Some((bound, exclusive)) = checks.minimum {
        let native = limit(bound, "Minimum boundary");
        let wanted = if exclusive {
            Bound::GreaterThan
        } else {
            Bound::AtLeast
        };
        found.extend(wanted.check(n, bound, native, path));
    }
    if let Some((bound, exclusive)) = checks.maximum {
        let native = limit(bound, "Maximum boundary");
        let wanted = if exclusive {
            Bound::LessThan
        } else {
            Bound::AtMost
        };
        found.extend(wanted.check(n, bound, native, path));
    }
    found.into_iter().for_each(|mistake| outcome.add(mistake));
    outcome.matched += 1;
    outcome
}

/// On which side of a bound a number has to be.
#[derive(Clone, Copy)]
enum Bound {
    GreaterThan,
    AtLeast,
    LessThan,
    AtMost,
}

impl Bound {
    fn words(self) -> &'static str {
        match self {
            Bound::GreaterThan => "greater than",
            Bound::AtLeast => "greater than or equal to",
            Bound::LessThan => "less than",
            Bound::AtMost => "less than or equal to",
        }
    }

    fn holds<N: PartialOrd>(self, n: N, bound: N) -> bool {
        match self {
            Bound::GreaterThan => n > bound,
            Bound::AtLeast => n >= bound,
            Bound::LessThan => n < bound,
            Bound::AtMost => n <= bound,
        }
    }

    /// The error of a number on the wrong side. `native` is whether integers are compared as such.
    fn check(self, n: &Number, bound: f64, native: bool, path: &str) -> Option<Mistake> {
        let (holds, shown) = match n.as_i64().filter(|_| native) {
            Some(i) => {
                let bound = bound as i64;
                (self.holds(i, bound), bound.to_string())
            }
            None => {
                let float = n.as_f64().unwrap_or_default();
                (self.holds(float, bound), go::print(&Value::from(bound)))
            }
        };
        (!holds).then(|| {
            let text = format!("{path} in body should be {} {shown}", self.words());
            Mistake::new(path, ReportForm::Invalid(Value::Number(n.clone())), text)
        })
    }
}

fn multiple(n: &Number, factor: f64, native: bool, path: &str) -> Option<Mistake> {
    let value = || ReportForm::Invalid(Value::Number(n.clone()));
    let integers = n.as_i64().filter(|_| native).map(|n| (n, factor as i64));
    let shown = match integers {
        Some((_, factor)) => Value::from(factor),
        None => Value::from(factor),
    };
    let not_positive = integers.map_or(factor <= 0.0, |(_, factor)| factor <= 0);
    if not_positive {
        let text = format!(
            "factor MultipleOf declared for {path} must be positive: {}",
            go::print(&shown)
        );
        return Some(Mistake::new(path, ReportForm::Invalid(shown), text));
    }
    let fits = match integers {
        Some((n, factor)) => n % factor == 0,
        None => {
            let n = n.as_f64().unwrap_or_default();
            is_whole(if factor < 1.0 {
                1.0 / factor * n
            } else {
                n / factor
            })
        }
    };
    (!fits).then(|| {
        let text = format!(
            "{path} in body should be a multiple of {}",
            go::print(&shown)
        );
        Mistake::new(path, value(), text)
    })
}

/// Returns whether a number cannot be held in its type and format (`IsValueValidAgainstRange`).
fn out_of_range(n: &Value, schema: &Schema, what: &str, path: &str) -> Option<String> {
    let float = n.as_f64().unwrap_or_default();
    // Of a float, what is written counts: no more digits than tell it from other floats.
    let whole = n.as_i64().or_else(|| float.to_string().parse().ok());
    let format = known_format(schema);
    let fits = match (types(schema).as_slice(), format) {
        (["integer"], Some("int32")) => whole.is_some_and(|i| i32::try_from(i).is_ok()),
        (["integer"], _) => whole.is_some(),
        (["number"], Some("float")) => (float as f32).is_finite(),
        _ => true,
    };
    if fits {
        return None;
    }
    let ty = &schema.ty;
    Some(match format {
        Some(format) => {
            format!("{what} value must be of type {ty} with format {format} in {path}")
        }
        None => format!("{what} value must be of type {ty} (default format) in {path}"),
    })
}

/// Returns whether a float is an integer, give or take rounding (`swag.IsFloat64AJSONInteger`).
pub(super) fn is_whole(f: f64) -> bool {
    const MAX_SIZE: f64 = 9_007_199_254_740_991.0;
    if !f.is_finite() || f.abs() > MAX_SIZE {
        return false;
    }
    let whole = f.trunc();
    f == whole || (f - whole).abs() / (f.abs() + whole.abs()) < 1e-9
}

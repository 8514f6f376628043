//! Checks of the policy of a device for requests of a part of its capacity (`validateRequestPolicy` of
//! `pkg/apis/resource/validation/validation.go`).

use serde_json::Value;

use super::devices::each_once;
use super::label_selector::list;
use crate::field::ErrorPath;
use crate::schema::Quantity;
use crate::status::FieldError;

/// Checks how much of a capacity a request gets: one of some values, or a multiple in a range.
pub(super) fn request_policy(
    capacity: &Value,
    policy: &Value,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    let values = list(policy, "validValues");
    let range = policy.get("validRange");
    let (of, list_given) = match (values.is_empty(), range) {
        (false, Some(_)) => {
            let detail = "exactly one policy can be specified, cannot specify \"validValues\" and \
                          \"validRange\" at the same time";
            errors.push(FieldError::forbidden(path, detail));
            return;
        }
        (false, None) => ("validValues", true),
        (true, Some(_)) => ("validRange", false),
        (true, None) => return,
    };
    let Some(default) = policy.get("default") else {
        let detail = format!("required when {of} is defined");
        errors.push(FieldError::required(path.child("default"), detail));
        return;
    };
    let path = path.child(of);
    if list_given {
        valid_values(default, capacity, values, &path, errors);
    } else if let Some(range) = range {
        valid_range(default, capacity, range, &path, errors);
    }
}

fn amount(value: &Value) -> Quantity {
    Quantity::from(value)
}

/// The text of an amount, as upstream prints it.
pub(super) fn amount_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// `validateRequestPolicyValidValues`.
fn valid_values(
    default: &Value,
    capacity: &Value,
    values: &[Value],
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    const MOST: usize = 10;
    for (i, pair) in values.windows(2).enumerate() {
        if let [before, after] = pair
            && amount(before) > amount(after)
        {
            let detail = "values must be sorted in ascending order";
            errors.push(FieldError::invalid(path.index(i + 1), after, detail));
        }
    }
    each_once(
        values,
        MOST,
        path,
        errors,
        |value| value,
        |value, path, errors| {
            if amount(value) > amount(capacity) {
                let detail = format!(
                    "option is larger than capacity value: {}",
                    amount_text(capacity)
                );
                errors.push(FieldError::invalid(path, value, detail));
            }
        },
    );
    if !values.iter().any(|value| amount(value) == amount(default)) {
        let detail = "default value is not valid according to the requestPolicy";
        errors.push(FieldError::invalid(path, default, detail));
    }
}

/// `validateRequestPolicyRange`.
fn valid_range(
    default: &Value,
    capacity: &Value,
    range: &Value,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    let Some(min) = range.get("min") else {
        let detail = "required when validRange is defined";
        errors.push(FieldError::required(path.child("min"), detail));
        return;
    };
    let mut refuse = |when: bool, field: &'static str, value: &Value, why: &str, than: &Value| {
        if when {
            let detail = format!("{why}: {}", amount_text(than));
            errors.push(FieldError::invalid(path.child(field), value, detail));
        }
    };
    let (least, all, usual) = (amount(min), amount(capacity), amount(default));
    refuse(
        least > all,
        "min",
        min,
        "min is larger than capacity value",
        capacity,
    );
    refuse(
        usual < least,
        "min",
        default,
        "default is less than min",
        min,
    );
    let max = range.get("max");
    if let Some(max) = max {
        let most = amount(max);
        refuse(least > most, "max", min, "min is larger than max", max);
        refuse(
            most > all,
            "max",
            max,
            "max is larger than capacity value",
            capacity,
        );
        refuse(
            usual > most,
            "max",
            default,
            "default is more than max",
            max,
        );
    }
    if let Some(step) = range.get("step") {
        valid_step(step, min, [Some(default), max], path, errors);
    }
}

/// Checks that the step is positive, and that these values are a multiple of it above the minimum.
fn valid_step(
    step: &Value,
    min: &Value,
    values: [Option<&Value>; 2],
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    let field = path.child("step");
    let size = amount(step).rounded_up();
    if amount(step).is_negative() || amount(step).is_zero() {
        errors.push(FieldError::invalid(
            field,
            step,
            "must be greater than zero",
        ));
        return;
    }
    let least = amount(min).rounded_up();
    for value in values.into_iter().flatten() {
        let above = amount(value).rounded_up().checked_sub(least);
        if above.and_then(|above| above.checked_rem(size)) != Some(0) {
            let detail = format!(
                "value is not a multiple of a given step ({}) from ({})",
                amount_text(step),
                amount_text(min)
            );
            errors.push(FieldError::invalid(field, value, detail));
        }
    }
}

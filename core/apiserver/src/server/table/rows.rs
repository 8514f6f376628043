//! Makes the table of an answer.

use serde_json::{Value, json};

use super::{Include, MetaVersion, PrinterColumn, builtin, metadata_of};
use crate::environment::Timestamp;
use crate::object::Metadata;
use crate::server::resource::{Definition, Resource};

/// Makes a table of objects, with the metadata of the answer that it shows.
pub(in crate::server) fn table(
    resource: &Resource,
    metadata: Value,
    mut objects: Vec<Value>,
    (version, include): (MetaVersion, Include),
    now: Timestamp,
) -> Value {
    let (columns, cells): (Value, Vec<Vec<Value>>) = match &resource.definition {
        Definition::Custom(custom) => (
            custom_columns(&custom.columns),
            objects
                .iter()
                .map(|object| custom_cells(&custom.columns, object, now))
                .collect(),
        ),
        Definition::Builtin(_) => {
            builtin::order(&resource.kind, &mut objects);
            builtin::rows(resource, &objects, now)
        }
    };
    let rows = objects.into_iter().zip(cells).map(|(object, cells)| {
        let conditions = match &resource.definition {
            Definition::Builtin(_) => builtin::conditions(&resource.kind, &object, now),
            Definition::Custom(_) => None,
        };
        let shown = match include {
            Include::Metadata => metadata_of(resource, &object, version),
            Include::None => Value::Null,
            Include::Object => whole(resource, object),
        };
        let mut row = json!({"cells": cells, "object": shown});
        if let Some(conditions) = conditions {
            row["conditions"] = conditions;
        }
        row
    });
    let rows: Vec<Value> = rows.collect();
    // The convertor of kinds without columns of their own makes no list before it has a row.
    let none = rows.is_empty() && resource.is_builtin() && !builtin::has_columns(&resource.kind);
    json!({
        "kind": "Table", "apiVersion": version.api_version(),
        "metadata": metadata,
        "columnDefinitions": columns,
        "rows": if none { Value::Null } else { rows.into() },
    })
}

/// Makes a table of objects of a built-in kind that is not stored.
pub(in crate::server) fn of_kind(
    (kind, api_version): (&str, &str),
    objects: Vec<Value>,
    (version, include): (MetaVersion, Include),
    now: Timestamp,
) -> Value {
    let (columns, cells) = builtin::rows_of_kind(kind, &objects, now);
    let rows = objects.into_iter().zip(cells).map(|(mut object, cells)| {
        let shown = match include {
            Include::Metadata => json!({
                "kind": "PartialObjectMetadata", "apiVersion": version.api_version(),
                "metadata": object["metadata"],
            }),
            Include::None => Value::Null,
            Include::Object => {
                object["kind"] = kind.into();
                object["apiVersion"] = api_version.into();
                object
            }
        };
        json!({"cells": cells, "object": shown})
    });
    json!({
        "kind": "Table", "apiVersion": version.api_version(), "metadata": {},
        "columnDefinitions": columns, "rows": rows.collect::<Vec<_>>(),
    })
}

/// An object of a list, which does not say of itself of which kind it is.
fn whole(resource: &Resource, mut object: Value) -> Value {
    if let Value::Object(map) = &mut object {
        map.insert("kind".to_owned(), resource.kind.as_str().into());
        let version = resource.group_version.to_string();
        map.insert("apiVersion".to_owned(), version.into());
    }
    object
}

fn custom_columns(columns: &[PrinterColumn]) -> Value {
    let name = builtin::name_column();
    let columns = columns.iter().map(|column| column.definition.clone());
    std::iter::once(name).chain(columns).collect()
}

fn custom_cells(columns: &[PrinterColumn], object: &Value, now: Timestamp) -> Vec<Value> {
    let cells = columns.iter().map(|column| {
        let found = column.path.as_ref().and_then(|path| path.first(object));
        let ty = column.definition["type"].as_str().unwrap_or_default();
        found.map_or(Value::Null, |value| cell(ty, value, now))
    });
    std::iter::once(object.name().into()).chain(cells).collect()
}

/// `cellForJSONValue`; a text column shows any value (`jsonpath.PrintResults`).
fn cell(ty: &str, value: &Value, now: Timestamp) -> Value {
    match (ty, value) {
        ("integer", Value::Number(number)) => match number.as_f64() {
            Some(whole) if number.is_f64() => json!(whole as i64),
            _ => value.clone(),
        },
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        ("string", Value::String(_)) => value.clone(),
        ("string", Value::Null) => "<no value>".into(),
        ("string", other) => other.to_string().into(),
        ("date", Value::String(text)) => match Timestamp::parse(text) {
            Some(time) => human_duration(between(time, now)).into(),
            None => "<invalid>".into(),
        },
        _ => Value::Null,
    }
}

/// The seconds from one time to another.
pub(super) fn between(from: Timestamp, to: Timestamp) -> i64 {
    let seconds = |time: Timestamp| i64::try_from(time.seconds).unwrap_or(i64::MAX);
    seconds(to).saturating_sub(seconds(from))
}

/// Returns how long ago a time was (`translateTimestampSince`).
pub(super) fn since(time: &Value, now: Timestamp) -> String {
    let time = time.as_str().and_then(Timestamp::parse);
    time.map_or_else(
        || "<unknown>".to_owned(),
        |time| human_duration(between(time, now)),
    )
}

/// `duration.HumanDuration`: the two largest units while the smaller one still matters.
pub(super) fn human_duration(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    let both = |large: i64, large_name: &str, small: i64, small_name: &str| {
        let (whole, rest) = (seconds / large, seconds % large / small);
        match rest {
            0 => format!("{whole}{large_name}"),
            _ => format!("{whole}{large_name}{rest}{small_name}"),
        }
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => both(MINUTE, "m", 1, "s"),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => both(HOUR, "h", MINUTE, "m"),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => both(DAY, "d", HOUR, "h"),
        _ if seconds < 2 * YEAR => format!("{}d", seconds / DAY),
        _ if seconds < 8 * YEAR => both(YEAR, "y", DAY, "d"),
        _ => format!("{}y", seconds / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_get_coarser() {
        for (seconds, text) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (179, "2m59s"),
            (600, "10m"),
            (10_860, "3h1m"),
            (28_800, "8h"),
            (172_800, "2d"),
            (176_400, "2d1h"),
            (700_000, "8d"),
            (64_000_000, "2y10d"),
            (400_000_000, "12y"),
        ] {
            assert_eq!(human_duration(seconds), text);
        }
    }
}

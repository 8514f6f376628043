//! Tables: objects as `kubectl get` shows them (`pkg/printers`,
//! `k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor`).

mod builtin;
mod json_path;

use serde_json::{Value, json};

use super::resource::{Definition, Resource};
use crate::environment::Timestamp;
use crate::object::Metadata;

pub(super) use builtin::age_description;
pub use json_path::JsonPath;

pub(super) const META: &str = "meta.k8s.io/v1";

/// What a row shows of the object itself (`includeObject`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Include {
    /// Its metadata.
    #[default]
    Metadata,
    /// All of it.
    Object,
    /// Nothing.
    None,
}

/// A column that a CustomResourceDefinition declares (`additionalPrinterColumns`).
#[derive(Debug)]
pub struct PrinterColumn {
    /// Its definition, as tables show it.
    pub definition: Value,
    /// Where its cells are found; `None` where the path cannot be read.
    pub path: Option<JsonPath>,
}

/// A table of objects, with the metadata of what it shows.
pub(super) fn table(
    resource: &Resource,
    metadata: Value,
    objects: &[Value],
    include: Include,
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
        Definition::Builtin(_) => builtin::rows(&resource.kind, objects, now),
    };
    let rows = objects.iter().zip(cells).map(|(object, cells)| {
        let shown = match include {
            Include::Metadata => metadata_of(object),
            Include::None => Value::Null,
            Include::Object => whole(resource, object),
        };
        let mut row = json!({"cells": cells, "object": shown});
        if let (Definition::Builtin(_), Some(conditions)) = (
            &resource.definition,
            builtin::conditions(&resource.kind, object),
        ) {
            row["conditions"] = conditions;
        }
        row
    });
    json!({
        "kind": "Table", "apiVersion": META,
        "metadata": metadata,
        "columnDefinitions": columns,
        "rows": rows.collect::<Vec<_>>(),
    })
}

/// An object that shows only its metadata.
pub(super) fn metadata_of(object: &Value) -> Value {
    let metadata = object.get("metadata").cloned().unwrap_or_else(|| json!({}));
    json!({"kind": "PartialObjectMetadata", "apiVersion": META, "metadata": metadata})
}

/// An object of a list, which does not say of itself of which kind it is.
fn whole(resource: &Resource, object: &Value) -> Value {
    let mut object = object.clone();
    if let Value::Object(map) = &mut object {
        map.insert("kind".to_owned(), resource.kind.as_str().into());
        map.insert(
            "apiVersion".to_owned(),
            resource.group_version.to_string().into(),
        );
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

/// `cellForJSONValue`.
fn cell(ty: &str, value: &Value, now: Timestamp) -> Value {
    match (ty, value) {
        ("integer", Value::Number(number)) => match number.as_f64() {
            Some(whole) if number.is_f64() => json!(whole as i64),
            _ => value.clone(),
        },
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        ("string", Value::String(_)) => value.clone(),
        ("string", Value::Null) => Value::Null,
        ("string", other) => other.to_string().into(),
        ("date", Value::String(text)) => match Timestamp::parse(text) {
            Some(time) => human_duration(now.seconds.saturating_sub(time.seconds)).into(),
            None => "<invalid>".into(),
        },
        _ => Value::Null,
    }
}

/// `duration.HumanDuration`: the two largest units while the smaller one still matters.
fn human_duration(seconds: u64) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    const YEAR: u64 = 365 * DAY;
    let both = |large: u64, large_name: &str, small: u64, small_name: &str| {
        let (whole, rest) = (seconds / large, seconds % large / small);
        match rest {
            0 => format!("{whole}{large_name}"),
            _ => format!("{whole}{large_name}{rest}{small_name}"),
        }
    };
    match seconds {
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

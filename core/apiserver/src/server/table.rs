//! What else a client may ask to see instead of objects: only their metadata, or a table
//! (`k8s.io/apiserver/pkg/endpoints/handlers/response.go`, `pkg/printers`).

use std::sync::Arc;

use http::{HeaderMap, header};
use serde_json::{Value, json};

use super::resource::{Definition, Resource};
use crate::environment::Timestamp;
use crate::object::Metadata;

const META: &str = "meta.k8s.io/v1";

/// How a response shows what it is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// As it is.
    #[default]
    Whole,
    /// Only its metadata.
    Metadata,
    /// A list of which the items show only their metadata.
    MetadataList,
    /// A table with a row for each object.
    Table,
}

impl View {
    /// The first view of the `Accept` header that the server has.
    pub(super) fn accepted(headers: &HeaderMap) -> Self {
        let accept = headers
            .get(header::ACCEPT)
            .and_then(|value| value.to_str().ok());
        let clauses = accept.unwrap_or_default().split(',');
        let mut views = clauses.filter_map(Self::of_clause);
        views.next().unwrap_or_default()
    }

    fn of_clause(clause: &str) -> Option<Self> {
        let mut parts = clause.split(';').map(str::trim);
        if !matches!(
            parts.next(),
            Some("application/json" | "application/*" | "*/*")
        ) {
            return None;
        }
        let (mut name, mut group, mut version) = ("", "", "");
        for (key, value) in parts.filter_map(|part| part.split_once('=')) {
            match key {
                "as" => name = value,
                "g" => group = value,
                "v" => version = value,
                _ => {}
            }
        }
        match (name, group, version) {
            ("", _, _) => Some(Self::Whole),
            ("Table", "meta.k8s.io", "v1") => Some(Self::Table),
            ("PartialObjectMetadata", "meta.k8s.io", "v1") => Some(Self::Metadata),
            ("PartialObjectMetadataList", "meta.k8s.io", "v1") => Some(Self::MetadataList),
            _ => None,
        }
    }

    /// A list as this view shows it; as it is where the view is not known for its kind.
    pub(super) fn of_list(self, resource: &Resource, list: Value, now: Timestamp) -> Value {
        match self {
            Self::MetadataList => json!({
                "kind": "PartialObjectMetadataList", "apiVersion": META,
                "metadata": list["metadata"],
                "items": items(&list).iter().map(metadata_of).collect::<Vec<_>>(),
            }),
            Self::Table => match columns(resource) {
                Some(columns) => table(&columns, &list, now),
                None => list,
            },
            Self::Whole | Self::Metadata => list,
        }
    }

    /// An object as this view shows it.
    pub(super) fn of_object(self, object: Arc<Value>) -> Arc<Value> {
        match self {
            Self::Metadata => Arc::new(metadata_of(&object)),
            _ => object,
        }
    }
}

fn items(list: &Value) -> &[Value] {
    list["items"].as_array().map_or(&[], Vec::as_slice)
}

fn metadata_of(object: &Value) -> Value {
    json!({"kind": "PartialObjectMetadata", "apiVersion": META, "metadata": object["metadata"]})
}

/// A column: its definition, and what its cells show.
type Column = (Value, fn(&Value, Timestamp) -> Value);

/// The columns of a kind, where they are known.
fn columns(resource: &Resource) -> Option<Vec<Column>> {
    let name = column("Name", "name", NAME_DOC);
    let age = column("Age", "", AGE_DOC);
    match (&resource.definition, resource.kind.as_str()) {
        (Definition::Builtin(_), "ConfigMap") => Some(vec![
            (name, |object, _| object.name().into()),
            (column("Data", "", DATA_DOC), |object, _| {
                let entries = |field| object[field].as_object().map_or(0, |map| map.len());
                (entries("data") + entries("binaryData")).into()
            }),
            (age, age_of),
        ]),
        _ => None,
    }
}

fn column(name: &str, format: &str, description: &str) -> Value {
    json!({
        "name": name, "type": "string", "format": format, "description": description,
        "priority": 0,
    })
}

fn table(columns: &[Column], list: &Value, now: Timestamp) -> Value {
    let rows = items(list).iter().map(|object| {
        let cells: Vec<Value> = columns.iter().map(|(_, cell)| cell(object, now)).collect();
        json!({"cells": cells, "object": metadata_of(object)})
    });
    json!({
        "kind": "Table", "apiVersion": META,
        "metadata": list["metadata"],
        "columnDefinitions": columns.iter().map(|(column, _)| column).collect::<Vec<_>>(),
        "rows": rows.collect::<Vec<_>>(),
    })
}

fn age_of(object: &Value, now: Timestamp) -> Value {
    match Timestamp::parse(object.meta_text("creationTimestamp")) {
        Some(created) => human_duration(now.seconds.saturating_sub(created.seconds)).into(),
        None => "<unknown>".into(),
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

// The descriptions are those of the API's own documentation, which the server sends along.
const NAME_DOC: &str = "Name must be unique within a namespace. Is required when creating \
     resources, although some resources may allow a client to request the generation of an \
     appropriate name automatically. Name is primarily intended for creation idempotence and \
     configuration definition. Cannot be updated. More info: \
     https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
const DATA_DOC: &str = "Data contains the configuration data. Each key must consist of \
     alphanumeric characters, '-', '_' or '.'. Values with non-UTF-8 byte sequences must use the \
     BinaryData field. The keys stored in Data must not overlap with the keys in the BinaryData \
     field, this is enforced during validation process.";
const AGE_DOC: &str = "CreationTimestamp is a timestamp representing the server time when this \
     object was created. It is not guaranteed to be set in happens-before order across separate \
     operations. Clients may not set this value. It is represented in RFC3339 form and is in \
     UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: \
     https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::ApiServer;
    use http::{HeaderValue, Request};

    #[test]
    fn the_first_view_that_the_server_has_is_taken() {
        for (accept, view) in [
            ("", View::Whole),
            ("application/json", View::Whole),
            (
                "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
                View::Table,
            ),
            (
                "application/json;as=Table;v=v9;g=meta.k8s.io, application/json",
                View::Whole,
            ),
            (
                "text/html, application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
                View::MetadataList,
            ),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
            assert_eq!(View::accepted(&headers), view, "{accept}");
        }
    }

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

    #[test]
    fn a_list_can_be_seen_as_metadata_only() {
        let mut server = ApiServer::default();
        let request = Request::get("/api/v1/namespaces").header(
            header::ACCEPT,
            "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        );
        let response = server.handle(request.body(Vec::new()).unwrap());
        let list: Value = serde_json::from_slice(response.body()).unwrap();
        assert_eq!(list["kind"], "PartialObjectMetadataList");
        assert_eq!(list["items"][0]["kind"], "PartialObjectMetadata");
        assert_eq!(list["items"][0]["metadata"]["name"], "default");
        assert_eq!(list["items"][0].get("spec"), None);
    }
}

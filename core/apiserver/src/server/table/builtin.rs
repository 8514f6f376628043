//! The columns of built-in kinds, and the cells of their objects: rows of `columns.txt`.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::calls::{self, CellFunction};
use super::cell::Cell;
use super::{AGE, JsonPath, NAME};
use crate::environment::Timestamp;
use crate::object::Metadata;
use crate::server::resource::Resource;

static TABLE: &str = include_str!("columns.txt");
static KINDS: LazyLock<Vec<Columns>> = LazyLock::new(|| read(TABLE));

/// The columns of a kind.
#[derive(Debug, Default)]
struct Columns {
    kind: &'static str,
    /// The number that lists are ordered by.
    ordered_by: Option<JsonPath>,
    /// The function that describes a whole row.
    conditions: Option<CellFunction>,
    definitions: Vec<Value>,
    cells: Vec<Cell>,
}

/// Reads the columns of each kind.
fn read(table: &'static str) -> Vec<Columns> {
    let mut all: Vec<Columns> = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix('\t') {
            None => all.push(Columns::named(line)),
            Some(column) => {
                if let Some(columns) = all.last_mut() {
                    columns.add(column);
                }
            }
        }
    }
    all
}

impl Columns {
    fn named(line: &'static str) -> Self {
        let mut words = line.split(' ');
        let mut columns = Self {
            kind: words.next().unwrap_or_default(),
            ..Self::default()
        };
        for word in words {
            match word.split_once('=') {
                Some(("conditions", name)) => columns.conditions = calls::named(name),
                Some(("by", path)) => columns.ordered_by = JsonPath::parse(path),
                _ => {}
            }
        }
        columns
    }

    fn add(&mut self, column: &'static str) {
        let mut parts = column.split('\t');
        let mut part = || parts.next().unwrap_or_default();
        let (name, ty, priority, cell) = (part(), part(), part(), part());
        let Some(cell) = Cell::read(cell) else { return };
        let (ty, format) = ty.split_once('/').unwrap_or((ty, ""));
        let description = match part() {
            "name" => NAME,
            "age" => AGE,
            description => description,
        };
        self.definitions.push(json!({
            "name": name, "type": ty, "format": format,
            "description": description.replace("\\n", "\n"),
            "priority": priority.parse().unwrap_or(0),
        }));
        self.cells.push(cell);
    }

    /// The definitions, and the cells of objects as the server holds them.
    fn rows<'a>(
        &self,
        objects: impl Iterator<Item = Cow<'a, Value>>,
        now: Timestamp,
    ) -> (Value, Vec<Vec<Value>>) {
        let rows = objects.map(|object| {
            let cells = self.cells.iter().map(|cell| cell.content(&object, now));
            cells.collect()
        });
        (Value::from(self.definitions.clone()), rows.collect())
    }
}

/// The column of names, which every kind has.
pub(super) fn name_column() -> Value {
    json!({"name": "Name", "type": "string", "format": "name", "description": NAME, "priority": 0})
}

/// Puts the objects of a list in the order in which a table shows them.
pub(super) fn order(kind: &str, objects: &mut [Value]) {
    let Some(by) = columns_of(kind).and_then(|columns| columns.ordered_by.as_ref()) else {
        return;
    };
    let number = |object: &Value| by.first(object).and_then(Value::as_i64);
    objects.sort_by(|a, b| {
        number(a)
            .cmp(&number(b))
            .then_with(|| a.name().cmp(b.name()))
    });
}

/// The columns of a kind, and the cells of its objects.
pub(super) fn rows(
    resource: &Resource,
    objects: &[Value],
    now: Timestamp,
) -> (Value, Vec<Vec<Value>>) {
    match columns_of(&resource.kind) {
        Some(columns) => columns.rows(objects.iter().map(|object| resource.held(object)), now),
        None => named(objects),
    }
}

/// The columns of a kind that is not stored, and the cells of its objects.
pub(super) fn rows_of_kind(
    kind: &str,
    objects: &[Value],
    now: Timestamp,
) -> (Value, Vec<Vec<Value>>) {
    match columns_of(kind) {
        Some(columns) => columns.rows(objects.iter().map(Cow::Borrowed), now),
        None => named(objects),
    }
}

/// Returns whether a kind has columns of its own.
pub(super) fn has_columns(kind: &str) -> bool {
    columns_of(kind).is_some()
}

fn columns_of(kind: &str) -> Option<&'static Columns> {
    KINDS.iter().find(|columns| columns.kind == kind)
}

/// The columns of kinds without their own (`rest.NewDefaultTableConvertor`).
fn named(objects: &[Value]) -> (Value, Vec<Vec<Value>>) {
    let created = json!({
        "name": "Created At", "type": "date", "format": "", "description": AGE, "priority": 0,
    });
    let rows = objects.iter().map(|object| {
        let created = object.meta_text("creationTimestamp");
        vec![object.name().into(), created.into()]
    });
    (json!([name_column(), created]), rows.collect())
}

/// The conditions of a row; `None` for most.
pub(super) fn conditions(kind: &str, object: &Value, now: Timestamp) -> Option<Value> {
    let conditions = columns_of(kind)?.conditions?;
    Some(conditions(object, now)).filter(|found| !found.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        let rows = TABLE.lines().filter(|line| line.starts_with('\t'));
        for row in rows.clone() {
            let cell = row.trim_start_matches('\t').split('\t').nth(3).unwrap();
            assert!(Cell::read(cell).is_some(), "{row}");
        }
        let read: usize = KINDS.iter().map(|columns| columns.cells.len()).sum();
        assert_eq!(read, rows.count());
    }

    #[test]
    fn every_kind_of_the_table_is_served_or_a_subresource() {
        let served = crate::schema::kinds::kinds();
        for columns in KINDS.iter() {
            let known = served.iter().any(|facts| facts.kind == columns.kind);
            let elsewhere = matches!(columns.kind, "Scale" | "APIService" | "ComponentStatus");
            assert!(known || elsewhere, "{}", columns.kind);
        }
    }
}

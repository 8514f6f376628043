//! Three copies of one object as rows that stand beside each other: each row is one place of the
//! object, with the line of each copy that has it.

use std::collections::HashMap;

use serde_json::Value;

use super::object_yaml::{Line, lines};
use super::value_type::ValueType;
use optimist_apiserver::object::JsonMap;
use optimist_apiserver::pointer as json_pointer;
use optimist_apiserver::schema::{Struct, Type, fill_defaults};

/// The number of copies beside each other: the left editor's, the stored one, the right editor's.
pub const COPIES: usize = 3;

/// The stored copy among them.
pub const STORED: usize = 1;

/// Objects up to this many lines show all that people write.
const SHORT: usize = 18;
/// A map or list with more members than this takes long to draw.
const MANY: usize = 200;
/// A value of up to this many rows is folded at first in a long object.
const SMALL: usize = 2;
/// Looking for defaults takes long in objects of more lines than this.
const MAX_LINES: usize = 600;

/// Metadata that every object has and that users seldom edit.
const QUIET: [&str; 7] = [
    "creationTimestamp",
    "generation",
    "labels",
    "managedFields",
    "namespace",
    "selfLink",
    "uid",
];

/// The part that a row folds away, if it folds something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The row has one line in each copy.
    None,
    /// The members of the value, and whether they are folded at first.
    Value {
        /// `true` if they are.
        folded: bool,
    },
    /// Members that few people look at, by their names. Folded at first.
    Quiet(Vec<String>),
    /// This number of members that have the server's default value. Folded at first.
    Defaults(usize),
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlignedRow {
    /// The place, the same in all copies: a JSON pointer with the keys of list items instead of
    /// their positions.
    pub key: String,
    /// The indentation of a row that folds members of a value.
    pub indent: usize,
    /// The number of the next rows that it folds.
    pub below: usize,
    /// The position of its line among the lines of each copy; `None` where a copy has no such
    /// place.
    pub cells: [Option<usize>; COPIES],
    /// The part that it folds.
    pub fold: Fold,
    /// The number of text lines of its highest cell: more than 1 for strings of several lines.
    pub height: usize,
}

/// The copies, aligned. They are `Eq`, so an `Rc` of them that is shared is compared by its address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlignedRows {
    /// The lines of each copy; none for a copy that does not exist.
    pub lines: [Vec<Line>; COPIES],
    /// The rows.
    pub rows: Vec<AlignedRow>,
}

impl AlignedRow {
    /// Returns whether it is folded at first.
    pub fn is_folded_at_first(&self) -> bool {
        match self.fold {
            Fold::None => false,
            Fold::Value { folded } => folded,
            Fold::Quiet(_) | Fold::Defaults(_) => true,
        }
    }
}

impl AlignedRows {
    /// Aligns the copies of an object of a type.
    pub fn new(copies: [Option<&Value>; COPIES], root: &Struct) -> Self {
        let lines = copies.map(|copy| copy.map(lines).unwrap_or_default());
        let places = [0, 1, 2].map(|copy| {
            let lines: &Vec<Line> = &lines[copy];
            let places = lines.iter().enumerate();
            places
                .map(|(at, line)| (line.pointer.clone(), at))
                .collect()
        });
        let shown = |lines: &Vec<Line>| {
            let hidden = |line: &&Line| is_always_folded(&line.pointer);
            lines.len()
                - lines
                    .iter()
                    .filter(hidden)
                    .map(|line| line.below)
                    .sum::<usize>()
        };
        let longest = lines.iter().map(shown).max().unwrap_or_default();
        let aligner = Aligner {
            lines: &lines,
            places,
            is_long: longest > SHORT,
            finds_defaults: longest <= MAX_LINES,
        };
        let place = AlignedPlace {
            values: copies,
            pointers: Default::default(),
            key: String::new(),
        };
        let rows = aligner.members(&place, ValueType::Struct(root));
        Self { lines, rows }
    }

    /// The line of a row in a copy.
    pub fn line(&self, row: &AlignedRow, copy: usize) -> Option<&Line> {
        self.lines.get(copy)?.get((*row.cells.get(copy)?)?)
    }

    /// The fold of a row in one copy: the members that the copy has. `None` if it has none of them. `within` are the
    /// rows that the row folds.
    pub fn folded_of(&self, row: &AlignedRow, within: &[AlignedRow], copy: usize) -> Option<Fold> {
        let (parent, _) = row.key.rsplit_once('/')?;
        let members = within.iter().filter_map(|inner| {
            let name = inner.key.strip_prefix(parent)?.strip_prefix('/')?;
            let is_there = !name.contains('/') && self.line(inner, copy).is_some();
            is_there.then(|| json_pointer::unescape(name))
        });
        let members: Vec<String> = members.collect();
        if members.is_empty() {
            return None;
        }
        Some(match row.fold {
            Fold::Defaults(_) => Fold::Defaults(members.len()),
            _ => Fold::Quiet(members),
        })
    }

    /// The row that has a place of a copy.
    pub fn row_at(&self, copy: usize, pointer: &str) -> Option<&AlignedRow> {
        let mut rows = self.rows.iter();
        rows.find(|row| {
            self.line(row, copy)
                .is_some_and(|line| line.pointer == pointer)
        })
    }
}

fn is_always_folded(place: &str) -> bool {
    place == "/metadata/managedFields" || place == "/status"
}

/// A place of the object in each copy.
struct AlignedPlace<'a> {
    values: [Option<&'a Value>; COPIES],
    pointers: [String; COPIES],
    key: String,
}

struct Aligner<'a> {
    lines: &'a [Vec<Line>; COPIES],
    /// The line of each pointer.
    places: [HashMap<String, usize>; COPIES],
    is_long: bool,
    finds_defaults: bool,
}

impl Aligner<'_> {
    /// The rows inside a map or list.
    fn members(&self, place: &AlignedPlace<'_>, ty: ValueType<'_>) -> Vec<AlignedRow> {
        let is_list = |value: &Value| value.is_array();
        if place.values.iter().flatten().any(|value| is_list(value)) {
            return self.items(place, ty);
        }
        let (mut rows, mut quiet, mut defaults) = (Vec::new(), Vec::new(), Vec::new());
        for name in names(place) {
            let member = place.member(&name);
            let inner = self.rows_of(&member, ty.member(&name));
            let begins_item = inner.first().is_some_and(|row| self.begins_item(row));
            let differs = member.differs_within(place);
            let unnoticed = !differs || name == "managedFields" || name == "generation";
            if place.key == "/metadata" && QUIET.contains(&name.as_str()) && unnoticed {
                quiet.push((name, inner));
            } else if !differs && !begins_item && self.is_default(place, &name, ty) {
                defaults.push((name, inner));
            } else {
                rows.extend(inner);
            }
        }
        let names = quiet.iter().map(|(name, _)| name.clone()).collect();
        self.fold_together(&mut rows, place, "…", Fold::Quiet(names), quiet);
        let fold = Fold::Defaults(defaults.len());
        self.fold_together(&mut rows, place, "…defaults", fold, defaults);
        rows
    }

    /// Adds members behind a row that folds them; a single one stands for itself.
    fn fold_together(
        &self,
        rows: &mut Vec<AlignedRow>,
        place: &AlignedPlace<'_>,
        word: &str,
        fold: Fold,
        members: Vec<(String, Vec<AlignedRow>)>,
    ) {
        let inner: Vec<AlignedRow> = members.into_iter().flat_map(|(_, rows)| rows).collect();
        let first = inner.first().and_then(|row| self.first_line(row));
        if let Some(line) = first.filter(|_| inner.len() > 1) {
            rows.push(AlignedRow {
                key: format!("{}/{word}", place.key),
                indent: line.indent + line.dashes.len(),
                below: inner.len(),
                cells: [None; COPIES],
                fold,
                height: 1,
            });
        }
        rows.extend(inner);
    }

    fn items(&self, place: &AlignedPlace<'_>, ty: ValueType<'_>) -> Vec<AlignedRow> {
        let keys = ty.item_keys();
        let ids = place.values.map(|value| item_ids(value, keys));
        // Items that two copies tell apart in different ways have their positions instead.
        let unique = ids.iter().all(|ids| {
            let mut sorted: Vec<&Option<String>> = ids.iter().collect();
            sorted.sort_unstable();
            sorted.windows(2).all(|two| two[0] != two[1]) && ids.iter().all(Option::is_some)
        });
        let id = |copy: usize, at: usize| match &ids[copy][at] {
            Some(id) if unique => id.clone(),
            _ => at.to_string(),
        };
        let mut order: Vec<(String, [Option<usize>; COPIES])> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for copy in [STORED, 0, 2] {
            for at in 0..ids[copy].len() {
                let id = id(copy, at);
                let row = *known.entry(id.clone()).or_insert_with(|| {
                    order.push((id, [None; COPIES]));
                    order.len() - 1
                });
                order[row].1[copy] = Some(at);
            }
        }
        let items = order.iter().flat_map(|(id, at)| {
            let item = place.item(id, at);
            let nested = item.values.iter().flatten().any(|value| is_nested(value));
            if nested {
                self.members(&item, ty.item())
            } else {
                self.rows_of(&item, ty.item())
            }
        });
        items.collect()
    }

    /// The row of a value, and the rows inside it.
    fn rows_of(&self, place: &AlignedPlace<'_>, ty: ValueType<'_>) -> Vec<AlignedRow> {
        let cells = [0, 1, 2].map(|copy| self.places[copy].get(&place.pointers[copy]).copied());
        let nested = place.values.iter().flatten().any(|value| is_nested(value));
        let inner = if nested {
            self.members(place, ty)
        } else {
            Vec::new()
        };
        let height = place
            .values
            .iter()
            .flatten()
            .map(|value| height(value))
            .max();
        let mut rows = vec![AlignedRow {
            key: place.key.clone(),
            indent: 0,
            below: inner.len(),
            cells,
            fold: match inner.len() {
                0 => Fold::None,
                below => Fold::Value {
                    folded: self.is_folded(place, below),
                },
            },
            height: height.unwrap_or(1),
        }];
        rows.extend(inner);
        rows
    }

    /// Returns whether the value of a place is folded at first: the server's own fields always, values
    /// with very many members, and small inner values of objects that are long.
    fn is_folded(&self, place: &AlignedPlace<'_>, below: usize) -> bool {
        let many = |value: &&Value| match value {
            Value::Array(list) => list.len() > MANY,
            Value::Object(map) => map.len() > MANY,
            _ => false,
        };
        let is_inner = place.key.matches('/').count() > 1;
        is_always_folded(&place.key)
            || place.values.iter().flatten().any(many)
            || (self.is_long && is_inner && below <= SMALL && !self.is_new(place))
    }

    /// Returns whether only some of the copies have the place: it was just added, or taken out.
    fn is_new(&self, place: &AlignedPlace<'_>) -> bool {
        let mut copies = self.lines.iter().zip(&place.values);
        copies.any(|(lines, value)| !lines.is_empty() && value.is_none())
    }

    /// Returns whether a member of a struct has the value that the server sets where it is left out.
    fn is_default(&self, place: &AlignedPlace<'_>, name: &str, ty: ValueType<'_>) -> bool {
        let ValueType::Struct(ty) = ty else {
            return false;
        };
        let values = [STORED, 0, 2]
            .into_iter()
            .filter_map(|copy| place.values[copy]);
        let map = values
            .filter_map(Value::as_object)
            .find(|map| map.contains_key(name));
        let (Some(map), true) = (map, self.finds_defaults && !place.key.is_empty()) else {
            return false;
        };
        is_set_by_default(map, name, ty)
    }

    fn first_line(&self, row: &AlignedRow) -> Option<&Line> {
        let cells = row.cells.iter().enumerate();
        let mut found = cells.filter_map(|(copy, at)| self.lines[copy].get((*at)?));
        found.next()
    }

    fn begins_item(&self, row: &AlignedRow) -> bool {
        let mut cells = row.cells.iter().enumerate();
        cells.any(|(copy, at)| {
            let line = at.and_then(|at| self.lines[copy].get(at));
            line.is_some_and(|line| !line.items.is_empty())
        })
    }
}

impl<'a> AlignedPlace<'a> {
    fn member(&self, name: &str) -> AlignedPlace<'a> {
        let escaped = json_pointer::escape(name);
        AlignedPlace {
            values: self.values.map(|value| value?.as_object()?.get(name)),
            pointers: [0, 1, 2].map(|copy| format!("{}/{escaped}", self.pointers[copy])),
            key: format!("{}/{escaped}", self.key),
        }
    }

    fn item(&self, id: &str, at: &[Option<usize>; COPIES]) -> AlignedPlace<'a> {
        let pointer = |copy: usize| match at[copy] {
            Some(at) => format!("{}/{at}", self.pointers[copy]),
            None => format!("{}/-", self.pointers[copy]),
        };
        AlignedPlace {
            values: [0, 1, 2].map(|copy| self.values[copy]?.get(at[copy]?)),
            pointers: [0, 1, 2].map(pointer),
            key: format!("{}/{}", self.key, json_pointer::escape(id)),
        }
    }

    /// Returns whether the copies that have the value around it do not all have the same value.
    fn differs_within(&self, around: &AlignedPlace<'_>) -> bool {
        let copies = (0..COPIES).filter(|copy| around.values[*copy].is_some());
        let mut values = copies.map(|copy| self.values[copy]);
        let first = values.next();
        values.any(|value| Some(value) != first)
    }
}

/// The names of the members that a copy has, in the order in which objects have them.
fn names(place: &AlignedPlace<'_>) -> Vec<String> {
    let maps = place
        .values
        .iter()
        .flatten()
        .filter_map(|value| value.as_object());
    let mut names: Vec<String> = maps.flat_map(|map| map.keys().cloned()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the identity of each item of a list: the values of its keys.
pub(super) fn item_ids(list: Option<&Value>, keys: &[String]) -> Vec<Option<String>> {
    let items = list
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let id = |item: &Value| {
        let map = item.as_object().filter(|_| !keys.is_empty())?;
        let known = keys.iter().any(|key| map.contains_key(key));
        let parts = keys.iter().map(|key| match map.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        });
        known.then(|| parts.collect::<Vec<_>>().join(","))
    };
    items.iter().map(id).collect()
}

fn is_nested(value: &Value) -> bool {
    value.is_object() && !is_empty(value) || value.is_array() && !is_empty(value)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

/// The number of text lines that a value takes.
fn height(value: &Value) -> usize {
    match value {
        Value::String(text) if text.contains('\n') => 1 + text.lines().count(),
        _ => 1,
    }
}

/// Returns whether a member has the value that it has where it is left out. A pointer of Go is left out
/// where it is empty: a struct that is there says something.
fn is_set_by_default(map: &JsonMap, name: &str, ty: &Struct) -> bool {
    let (Some(field), Some(value)) = (ty.field(name), map.get(name)) else {
        return false;
    };
    let within = match (&field.ty, value) {
        _ if field.pointer => false,
        (_, value) if is_empty(value) => true,
        (Type::Struct(inner), Value::Object(members)) => {
            let mut names = members.keys();
            names.all(|name| is_set_by_default(members, name, inner))
        }
        _ => false,
    };
    within || sets_by_default(map, name, value, ty)
}

/// Returns whether the server sets this value where the map has no such member.
fn sets_by_default(map: &JsonMap, name: &str, value: &Value, ty: &Struct) -> bool {
    // What a default depends on stands beside it.
    let beside = map
        .iter()
        .filter(|(other, value)| other.as_str() != name && !is_nested(value));
    let beside: JsonMap = beside
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let mut filled = Value::Object(beside);
    fill_defaults(&mut filled, ty);
    filled.get(name) == Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_apiserver::server::Resources;
    use serde_json::json;

    fn deployment() -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {
                "name": "web", "namespace": "default", "resourceVersion": "100", "generation": 1,
                "uid": "x", "labels": {"app": "web"}, "creationTimestamp": "2026-01-01T00:00:00Z",
            },
            "spec": {
                "progressDeadlineSeconds": 600, "replicas": 3, "revisionHistoryLimit": 10,
                "selector": {"matchLabels": {"app": "web"}},
                "strategy": {"type": "RollingUpdate",
                    "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {
                        "containers": [{"image": "nginx:1.14.2", "imagePullPolicy": "IfNotPresent",
                            "name": "nginx", "ports": [{"containerPort": 80, "protocol": "TCP"}],
                            "resources": {}, "terminationMessagePath": "/dev/termination-log",
                            "terminationMessagePolicy": "File"}],
                        "dnsPolicy": "ClusterFirst", "restartPolicy": "Always",
                        "schedulerName": "default-scheduler", "securityContext": {},
                        "terminationGracePeriodSeconds": 30,
                    },
                },
            },
            "status": {},
        })
    }

    fn aligned(copies: [Option<&Value>; COPIES]) -> AlignedRows {
        let resources = Resources::builtin();
        let resource = resources.by_kind("apps/v1", "Deployment").unwrap();
        AlignedRows::new(copies, &resource.root)
    }

    /// The rows that are in sight at first, as a copy shows them.
    fn shown(aligned: &AlignedRows, copy: usize) -> Vec<String> {
        let (mut shown, mut i) = (Vec::new(), 0);
        while let Some(row) = aligned.rows.get(i) {
            i += 1;
            let text = match (&row.fold, aligned.line(row, copy)) {
                (Fold::Quiet(names), _) => format!("… {}", names.join(" ")),
                (Fold::Defaults(count), _) => format!("… {count} defaults"),
                (_, None) => "-".to_owned(),
                (_, Some(line)) => {
                    let value = line.value.as_ref().map_or("", |token| token.text.as_str());
                    format!(
                        "{}{}: {value}",
                        line.dashes,
                        line.key.as_deref().unwrap_or("")
                    )
                }
            };
            shown.push(text.trim_end_matches([' ', ':']).to_owned());
            if row.is_folded_at_first() {
                i += row.below;
            }
        }
        shown
    }

    #[test]
    fn what_people_edit_is_in_sight_and_the_rest_is_folded() {
        let object = deployment();
        let aligned = aligned([Some(&object), Some(&object), Some(&object)]);
        assert_eq!(
            shown(&aligned, STORED),
            [
                "apiVersion: apps/v1",
                "kind: Deployment",
                "metadata",
                "name: web",
                "resourceVersion: \"100\"",
                "… creationTimestamp generation labels namespace uid",
                "spec",
                "replicas: 3",
                "selector",
                "template",
                "metadata",
                "spec",
                "containers",
                "- image: nginx:1.14.2",
                "name: nginx",
                "ports",
                "… 4 defaults",
                "… 5 defaults",
                "… 3 defaults",
                "status: {}",
            ]
        );
    }

    #[test]
    fn a_place_is_one_row_in_all_copies_whatever_stands_above_it() {
        let stored = deployment();
        let mut left = stored.clone();
        left["metadata"]["annotations"] = json!({"a": "b", "c": "d", "e": "f"});
        let mut right = stored.clone();
        let containers = right.pointer_mut("/spec/template/spec/containers").unwrap();
        let sidecar = json!({"name": "sidecar", "image": "busybox"});
        containers.as_array_mut().unwrap().insert(0, sidecar);
        let aligned = aligned([Some(&left), Some(&stored), Some(&right)]);
        let row = aligned.row_at(STORED, "/spec/replicas").unwrap();
        let texts = [0, 1, 2].map(|copy| aligned.line(row, copy).unwrap().pointer.clone());
        assert_eq!(
            texts,
            ["/spec/replicas", "/spec/replicas", "/spec/replicas"]
        );
        let image = "/spec/template/spec/containers/0/image";
        let row = aligned.row_at(STORED, image).unwrap();
        let right = aligned.line(row, 2).map(|line| line.pointer.as_str());
        assert_eq!(right, Some("/spec/template/spec/containers/1/image"));
        let row = aligned.row_at(0, "/metadata/annotations/a").unwrap();
        assert_eq!((row.cells[STORED], row.cells[2]), (None, None));
        for copy in 0..COPIES {
            let lines = aligned.rows.iter().filter(|row| row.cells[copy].is_some());
            assert_eq!(lines.count(), aligned.lines[copy].len(), "each line once");
        }
    }

    #[test]
    fn what_differs_is_folded_with_nothing_else() {
        let stored = deployment();
        let mut edited = stored.clone();
        edited["spec"]["revisionHistoryLimit"] = 3.into();
        edited["metadata"]["labels"]["team"] = "a".into();
        let aligned = aligned([Some(&edited), Some(&stored), None]);
        let rows = shown(&aligned, 0);
        for text in ["revisionHistoryLimit: 3", "labels", "… 2 defaults"] {
            assert!(rows.iter().any(|row| row == text), "{text} in {rows:?}");
        }
    }

    #[test]
    fn a_copy_without_an_item_has_none_of_its_defaults() {
        let stored = deployment();
        let mut edited = stored.clone();
        let mut proxy = stored["spec"]["template"]["spec"]["containers"][0].clone();
        proxy["name"] = "proxy".into();
        let containers = edited
            .pointer_mut("/spec/template/spec/containers")
            .unwrap();
        containers.as_array_mut().unwrap().push(proxy);
        let aligned = aligned([Some(&edited), Some(&stored), Some(&stored)]);
        let folds = aligned.rows.iter().enumerate();
        let folds = folds.filter(|(_, row)| {
            matches!(row.fold, Fold::Defaults(_)) && row.key.contains("/containers/proxy")
        });
        let have: Vec<[bool; COPIES]> = folds
            .map(|(at, row)| {
                let within = &aligned.rows[at + 1..=at + row.below];
                [0, 1, 2].map(|copy| aligned.folded_of(row, within, copy).is_some())
            })
            .collect();
        assert_eq!(have, [[true, false, false]]);
    }

    #[test]
    fn what_was_just_added_is_in_sight() {
        let stored = deployment();
        let mut edited = stored.clone();
        let env = json!([{"name": "COLOUR", "value": "blue"}]);
        let container = "/spec/template/spec/containers/0";
        edited.pointer_mut(container).unwrap()["env"] = env;
        let place = format!("{container}/env");
        let folded = |copies| {
            let aligned = aligned(copies);
            aligned.row_at(0, &place).unwrap().is_folded_at_first()
        };
        assert!(!folded([Some(&edited), Some(&stored), None]));
        assert!(folded([Some(&edited), Some(&edited), None]));
    }

    #[test]
    fn a_string_of_several_lines_is_as_high_in_every_copy() {
        let map = |text: &str| json!({"data": {"text": text}});
        let (short, long) = (map("one\ntwo\n"), map("one\ntwo\nthree\n"));
        let aligned = aligned([Some(&short), Some(&long), None]);
        let row = aligned.row_at(0, "/data/text").unwrap();
        assert_eq!(row.height, 4);
    }

    #[test]
    fn very_many_members_are_folded_at_first() {
        let data: JsonMap = (0..1200).map(|i| (format!("k{i}"), "v".into())).collect();
        let object = json!({"data": data});
        let aligned = aligned([Some(&object), None, None]);
        assert!(aligned.row_at(0, "/data").unwrap().is_folded_at_first());
    }

    #[test]
    fn a_fold_names_the_members_of_the_copy_that_is_shown() {
        let mut object = deployment();
        object["metadata"]["uid"] = "u".into();
        let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": {"name": "web", "uid": "u"}, "spec": {"replicas": 3}});
        let both = aligned([Some(&object), Some(&object), Some(&scale)]);
        let at = both.rows.iter().position(|row| row.key == "/metadata/…");
        let at = at.expect("quiet members");
        let row = &both.rows[at];
        let within = &both.rows[at + 1..=at + row.below];
        let names = |copy: usize| match both.folded_of(row, within, copy) {
            Some(Fold::Quiet(names)) => names,
            other => panic!("{other:?}"),
        };
        assert!(names(STORED).len() > 1, "{:?}", names(STORED));
        assert_eq!(names(2), ["uid"]);
        let one = aligned([Some(&object), Some(&object), None]);
        assert_eq!(one.folded_of(row, within, 2), None);
        let defaults = both.rows.iter().enumerate();
        let mut defaults = defaults.filter(|(_, row)| matches!(row.fold, Fold::Defaults(_)));
        let (at, row) = defaults.next().expect("defaults");
        let within = &both.rows[at + 1..=at + row.below];
        assert_eq!(both.folded_of(row, within, STORED), Some(row.fold.clone()));
        assert_eq!(both.folded_of(row, within, 2), None);
    }
}

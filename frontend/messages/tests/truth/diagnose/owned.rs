//! The owners of fields, read from `managedFields` alone.

use std::collections::{BTreeMap, BTreeSet};

use optimist_apiserver::object::text;
use serde_json::Value;

use crate::judge::{Leaves, leaves};

/// The place of a value.
pub type Place = Vec<String>;

/// An entry: manager, operation and subresource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub manager: String,
    pub operation: String,
    pub subresource: String,
}

impl Entry {
    /// Returns whether a sentence names the entry so.
    pub fn is_named(&self, name: &str) -> bool {
        match self.subresource.as_str() {
            "" => self.manager == name,
            subresource => format!("{} · /{subresource}", self.manager) == name,
        }
    }
}

/// The leaves of an object that each entry owns.
pub fn owners(object: &Value) -> BTreeMap<Place, BTreeSet<Entry>> {
    let mut found: BTreeMap<Place, BTreeSet<Entry>> = BTreeMap::new();
    let all = leaves(object);
    let entries = object["metadata"]["managedFields"].as_array();
    for entry in entries.into_iter().flatten() {
        let who = Entry {
            manager: text(entry, "manager").to_owned(),
            operation: text(entry, "operation").to_owned(),
            subresource: text(entry, "subresource").to_owned(),
        };
        let mut owned = Vec::new();
        collect(&entry["fieldsV1"], object, &mut Vec::new(), &mut owned);
        // A `runtime.RawExtension` is owned as a whole.
        if text(object, "kind") == "ControllerRevision" && entry["fieldsV1"].get("f:data").is_some()
        {
            owned.push(vec!["data".to_owned()]);
        }
        for place in owned {
            let below = all.keys().filter(|leaf| leaf.starts_with(&place));
            for leaf in below.cloned().collect::<Vec<_>>() {
                found.entry(leaf).or_default().insert(who.clone());
            }
        }
    }
    found
}

/// The places that a tree of fields names as a whole.
fn collect(fields: &Value, value: &Value, place: &mut Place, found: &mut Vec<Place>) {
    let Some(members) = fields.as_object() else {
        return;
    };
    // Of a map whose members have owners of their own, it is the map that is owned.
    const ATOMIC: [&str; 6] = [
        "selector",
        "fieldRef",
        "resourceFieldRef",
        "configMapKeyRef",
        "secretKeyRef",
        "nodeSelector",
    ];
    let atomic = place.last().is_some_and(|it| ATOMIC.contains(&&**it));
    let whole = match value {
        Value::Object(members) => members.is_empty() || atomic,
        _ => true,
    };
    if members.is_empty() && whole {
        found.push(place.clone());
    }
    for (name, below) in members {
        let step = match name.split_once(':') {
            Some(("f", field)) => value.get(field).map(|it| (field.to_owned(), it)),
            Some(("k", keys)) => item(value, |item| {
                let keys: Value = serde_json::from_str(keys).unwrap_or_default();
                let mut keys = keys.as_object().into_iter().flatten();
                keys.all(|(key, wanted)| item.get(key) == Some(wanted))
            })
            .map(|(at, it)| (item_name(place, it, at), it)),
            Some(("v", wanted)) => {
                let wanted: Value = serde_json::from_str(wanted).unwrap_or_default();
                item(value, |item| *item == wanted).map(|(at, it)| (item_name(place, it, at), it))
            }
            _ => None,
        };
        if let Some((step, value)) = step {
            place.push(step);
            collect(below, value, place, found);
            place.pop();
        }
    }
}

fn item(list: &Value, is: impl Fn(&Value) -> bool) -> Option<(usize, &Value)> {
    let mut items = list.as_array()?.iter().enumerate();
    items.find(|(_, item)| is(item))
}

/// The place of a value that a JSON pointer names.
pub fn place_of(object: &Value, pointer: &str) -> Option<Place> {
    let (mut place, mut value) = (Place::new(), object);
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        match value {
            Value::Array(items) => {
                let at: usize = step.parse().ok()?;
                value = items.get(at)?;
                place.push(item_name(&place, value, at));
            }
            _ => {
                value = value.get(&step)?;
                place.push(step);
            }
        }
    }
    Some(place)
}

/// An item as [`leaves`] names it.
fn item_name(list: &Place, item: &Value, at: usize) -> String {
    let name = list.last().cloned().unwrap_or_default();
    let mut wrapped = vec![Value::Null; at];
    wrapped.push(item.clone());
    let named = leaves(&serde_json::json!({ name.clone(): wrapped }));
    let own = named.keys().filter_map(|place| place.get(1));
    let other = format!("{name} ");
    let mut own = own.filter(|step| step.starts_with(&other));
    let nulls: BTreeSet<String> = (0..at).map(|i| format!("{name} {i}")).collect();
    own.find(|step| !nulls.contains(*step))
        .cloned()
        .unwrap_or_default()
}

/// The leaves that one object has and another has not.
pub fn gone(before: &Leaves, after: &Leaves) -> Vec<Place> {
    let places = before.keys().filter(|place| !after.contains_key(*place));
    places.cloned().collect()
}

//! Conditions of what is said of versions: what changed, who changed it, and what goes back and forth.

use optimist_apiserver::apply::LAST_APPLIED;
use optimist_apiserver::environment::Timestamp;
use optimist_apiserver::object::{Metadata, text};
use serde_json::Value;

use super::owned::{Entry, Place, owners};
use super::pasted::Pasted;
use crate::hearing::ConditionOf;
use crate::judge::leaves;

/// A place that another version has otherwise.
struct Changed {
    at: usize,
    place: Place,
    value: Option<Value>,
    /// Its one owner afterwards.
    by: Option<Entry>,
}

/// Returns whether a number of which two digits are said is another one.
pub fn is_about(said: u64, exact: u64) -> bool {
    said.abs_diff(exact) * 20 <= exact
}

/// Returns the changes, version by version.
fn changes(it: &Pasted) -> Vec<Changed> {
    let mut found = Vec::new();
    let last = it.versions.len() - usize::from(it.deleted);
    for at in 1..last {
        let [before, after] = [&it.versions[at - 1], &it.versions[at]].map(leaves);
        let owned = owners(&it.versions[at]);
        let mut places: Vec<&Place> = before.keys().chain(after.keys()).collect();
        places.sort();
        places.dedup();
        for place in places {
            if before.get(place) != after.get(place) {
                let all = owned.get(place).into_iter().flatten();
                let all: Vec<&Entry> = all.collect();
                found.push(Changed {
                    at,
                    place: place.clone(),
                    value: after.get(place).cloned(),
                    by: (all.len() == 1).then(|| all[0].clone()),
                });
            }
        }
    }
    found
}

/// A place as paths are printed: `.spec.template.spec.containers[name="app"].image`.
pub fn printed(place: &Place) -> String {
    let mut text = String::new();
    for (at, part) in place.iter().enumerate() {
        let list = at.checked_sub(1).map(|at| &place[at]);
        let item = list.and_then(|list| part.strip_prefix(&format!("{list} ")));
        match item {
            Some(name) => text += &format!("[name=\"{name}\"]"),
            None => text += &format!(".{part}"),
        }
    }
    text
}

/// The changes of a field, and of what is below it.
fn of_field(it: &Pasted, field: &str) -> Vec<Changed> {
    let all = changes(it).into_iter();
    all.filter(|change| printed(&change.place).starts_with(field))
        .collect()
}

/// Returns how often a field changed hands.
fn flips(it: &Pasted, field: &str) -> usize {
    let changes = of_field(it, field);
    let known: Vec<&Entry> = changes
        .iter()
        .filter_map(|change| change.by.as_ref())
        .collect();
    known.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// Returns whether a version has an entry of this manager, and with this subresource if it is
/// given.
fn writes(it: &Pasted, named: &str, operation: &str, subresource: Option<&str>) -> bool {
    let mut entries = it.versions.iter().flat_map(|version| {
        let entries = version["metadata"]["managedFields"].as_array();
        entries.into_iter().flatten()
    });
    entries.any(|entry| is_named_entry(entry, named, operation, subresource))
}

/// Returns whether an entry is the one that a sentence names: `kubectl`, `kubectl · /scale`, `kubectl (Apply)`.
pub fn is_named_entry(
    entry: &Value,
    named: &str,
    operation: &str,
    subresource: Option<&str>,
) -> bool {
    let (name, through) = match named.split_once(" · /") {
        Some((name, through)) => (name, Some(through)),
        None => (named, subresource),
    };
    let name = name
        .strip_suffix(&format!(" ({operation})"))
        .unwrap_or(name);
    is_entry(entry, name, operation, through)
}

/// Returns whether an entry of `managedFields` is of this manager, and of this subresource if it is
/// given.
fn is_entry(entry: &Value, manager: &str, operation: &str, subresource: Option<&str>) -> bool {
    text(entry, "manager") == manager
        && text(entry, "operation") == operation
        && subresource.is_none_or(|it| text(entry, "subresource") == it)
}

/// Returns whether so many versions changed a field, the last one so many seconds after the first one.
fn are_apart(it: &Pasted, field: &str, count: u64, seconds: u64) -> Option<bool> {
    let changes = of_field(it, field);
    let mut versions: Vec<usize> = changes.iter().map(|change| change.at).collect();
    versions.dedup();
    let written = |at: &usize| {
        let entries = it.versions[*at]["metadata"]["managedFields"].as_array();
        let times = entries.into_iter().flatten().map(|entry| &entry["time"]);
        let times = times.filter_map(|time| Timestamp::parse(time.as_str()?));
        times.map(|time| time.seconds).collect::<Vec<u64>>()
    };
    let (first, last) = (written(versions.first()?), written(versions.last()?));
    let apart = first.iter().any(|it| last.contains(&(it + seconds)));
    Some(apart && count == versions.len() as u64)
}

pub const VERSIONS: &[(&str, ConditionOf<Pasted>)] = &[
    ("happened_fight", |said, it| {
        let field = said.text("field");
        let changes = of_field(it, &field);
        let managers = said.text("managers");
        let named = managers.replace(" and ", ", ");
        let all = named.split(", ").all(|name| {
            let mut by = changes.iter().filter_map(|change| change.by.as_ref());
            by.any(|entry| name.starts_with(&entry.manager))
                || it
                    .versions
                    .iter()
                    .any(|version| version.to_string().contains(name))
        });
        Some(all && flips(it, &field) >= 1 && changes.len() >= 2)
    }),
    ("happened_correction", |said, it| {
        let changes = of_field(it, &said.text("field"));
        let [other, manager] = ["other", "manager"].map(|name| said.text(name));
        let is_by = |change: &Changed, name: &str| {
            let entry = change.by.as_ref();
            entry.is_some_and(|entry| name.starts_with(&entry.manager))
        };
        let first = changes.iter().position(|it| is_by(it, &other))?;
        Some(changes[first..].iter().any(|it| is_by(it, &manager)))
    }),
    ("fight_pace", |said, it| {
        // A log has times of its own: `LOG` judges them.
        if !it.log.is_empty() {
            return Some(true);
        }
        let (count, seconds) = (said.number("count")?, said.number("seconds")?);
        let hour = said.number("hour")?;
        // Less than a minute says little of an hour.
        Some(
            seconds >= 60
                && are_apart(it, &said.text("field"), count, seconds)?
                && is_about(hour, (count - 1) * 3600 / seconds),
        )
    }),
    ("fight_span", |said, it| {
        if !it.log.is_empty() {
            return Some(true);
        }
        let (count, seconds) = (said.number("count")?, said.number("seconds")?);
        Some(seconds < 60 && are_apart(it, &said.text("field"), count, seconds)?)
    }),
    ("fight_left", |said, it| {
        let keeper = said.text("keeper");
        Some(
            ["Apply", "Update"]
                .iter()
                .any(|operation| writes(it, &keeper, operation, None)),
        )
    }),
    ("fight_gap", |said, it| {
        let keeper = said.text("keeper");
        Some(
            ["Apply", "Update"]
                .iter()
                .any(|operation| writes(it, &keeper, operation, None)),
        )
    }),
    ("fight_left_out", |said, it| {
        Some(writes(it, &said.text("manager"), "Apply", None))
    }),
    ("fight_not_set", |said, it| {
        Some(writes(it, &said.text("manager"), "Update", None))
    }),
    ("fight_applies", |said, it| {
        Some(writes(it, &said.text("manager"), "Apply", None))
    }),
    ("fight_updates", |said, it| {
        Some(writes(it, &said.text("manager"), "Update", Some("")))
    }),
    ("fight_updates_through", |said, it| {
        let subresource = said.text("subresource");
        Some(writes(
            it,
            &said.text("manager"),
            "Update",
            Some(&subresource),
        ))
    }),
    ("happened_flips_text", |said, it| {
        let version = |name: &str| {
            it.versions
                .iter()
                .any(|one| one.resource_version() == said.text(name))
        };
        let most = it.versions.len() as u64;
        Some(version("first") && version("last") && (1..=most).contains(&said.number("count")?))
    }),
    ("happened_returns", |said, it| {
        let changes = of_field(it, &said.text("field"));
        let count = said.number("changes")? as usize;
        let mut seen: Vec<Option<Value>> = Vec::new();
        let mut returns = 0;
        for change in &changes {
            returns += usize::from(seen.contains(&change.value));
            seen.push(change.value.clone());
        }
        // Of a first change, the value before it is an earlier one too.
        let back = said.number("returns")? as usize;
        Some(count <= changes.len() && (1..=returns + 1).contains(&back))
    }),
    ("happened_not_owned", |_, it| {
        let owned = |object: &Value| object["metadata"].get("managedFields").is_some();
        Some(!it.versions.iter().any(owned))
    }),
    ("happened_no_fight", |_, it| {
        let mut fields: Vec<String> = changes(it).iter().map(|it| printed(&it.place)).collect();
        fields.sort();
        fields.dedup();
        fields.retain(|field| !field.ends_with(LAST_APPLIED));
        let fights = |field: &String| {
            let changes = of_field(it, field);
            changes.iter().all(|change| change.by.is_some()) && flips(it, field) >= 2
        };
        Some(!fields.iter().any(fights))
    }),
    ("happened_without_record", |_, it| {
        let mut fields = changes(it).into_iter().map(|it| printed(&it.place));
        Some(fields.any(|field| field.ends_with(LAST_APPLIED)))
    }),
    ("happened_nothing", |_, it| {
        Some(it.versions.len() > 1 && changes(it).is_empty())
    }),
    ("happened_one_version", |_, it| {
        Some(it.versions.len() == it.objects)
    }),
    ("happened_others", |said, it| {
        Some((1..=changes(it).len() as u64).contains(&said.number("count")?))
    }),
    ("happened_absent", |_, it| {
        if it.versions.is_empty() {
            return Some(it.log.is_empty() || it.live.is_none());
        }
        let all = changes(it);
        let gone = all.iter().any(|change| change.value.is_none());
        let new = all
            .iter()
            .any(|change| !leaves(&it.versions[change.at - 1]).contains_key(&change.place));
        Some(gone || new)
    }),
    ("happened_unknown_manager", |_, it| {
        // A removal, or what is owned by none or by several.
        Some(changes(it).iter().any(|change| change.by.is_none()))
    }),
    ("happened_managed_fields", |_, it| {
        // An entry without its fields, or with others than a tree of them.
        let mut versions = it.versions.iter().chain(&it.live);
        Some(versions.any(|version| {
            let entries = &version["metadata"]["managedFields"];
            let listed = entries.as_array();
            listed.is_none_or(|all| all.iter().any(|entry| !entry["fieldsV1"].is_object()))
        }))
    }),
    ("lane_first_version", |_, it| Some(!it.versions.is_empty())),
    ("lane_deleted", |_, it| Some(it.deleted)),
];

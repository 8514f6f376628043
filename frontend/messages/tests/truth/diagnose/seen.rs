//! The page's sentences about a case beside its Markdown: about its lines, its versions, and its
//! log.

use std::collections::BTreeMap;

use http::Request;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{ApiServer, EventType};
use optimist_diagnose::input::Input;
use optimist_diagnose::ownership::Unowned;
use optimist_messages::lanes::{self, RowText};
use optimist_messages::{diagnose as messages, label};
use optimist_state::DiagnoseState;
use serde_json::Value;

use super::owned::{owners, place_of};
use super::pasted::Pasted;
use super::rows::is_value;
use crate::hearing::ConditionOf;
use crate::judge::leaves;

/// Returns the sentences about the whole case.
pub fn of_case(case: &DiagnoseState) -> Vec<String> {
    let mut texts = Vec::new();
    for item in &case.items {
        match &item.content {
            Ok(Input::Errors(errors)) => texts.push(messages::errors_title(errors)),
            Err(why) => texts.push(messages::not_detected(why)),
            _ => {}
        }
    }
    if let Some(run) = &case.audit {
        let objects = run.objects.iter();
        texts.extend(objects.map(|(object, writes)| messages::audited_writes(object, *writes)));
        if run.objects.is_empty() && !run.is_running() {
            texts.push(label::audit_no_object());
        }
    }
    let notes = case.reading().and_then(|it| it.installed.as_ref().ok());
    let notes = notes.into_iter().flat_map(|installed| &installed.notes);
    texts.extend(notes.filter_map(messages::ways_notice));
    if let Some(history) = case.observed() {
        texts.push(label::lanes_of_versions());
        let fights = history.fights.iter();
        texts.extend(fights.map(|fight| label::happened_flips(&fight.flips)));
    }
    texts
}

/// A line of an object.
pub struct OwnedPlace {
    object: Value,
    pointer: String,
}

impl OwnedPlace {
    /// Returns whether somebody owns the value, or something in it.
    fn is_owned(&self) -> bool {
        let place = place_of(&self.object, &self.pointer).unwrap_or_default();
        owners(&self.object)
            .iter()
            .any(|(leaf, owners)| leaf.starts_with(&place) && !owners.is_empty())
    }

    /// Returns the value that a server without such an object fills in for the missing one.
    fn filled_in(&self) -> Option<Value> {
        let mut object = self.object.clone();
        let (around, member) = self.pointer.rsplit_once('/')?;
        object.pointer_mut(around)?.as_object_mut()?.remove(member);
        for member in ["uid", "resourceVersion", "managedFields", "generation"] {
            object.metadata_mut().remove(member);
        }
        if object.namespace().is_empty() {
            object.set_meta("namespace", "default");
        }
        let mut server = ApiServer::default();
        let namespace = serde_json::json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": object.namespace()}});
        let mut post = |path: &str, body: &Value| -> Value {
            let request = Request::post(path).header("content-type", "application/json");
            let request = request
                .body(body.to_string().into_bytes())
                .expect("a request");
            serde_json::from_slice(server.handle(request).body()).unwrap_or_default()
        };
        post("/api/v1/namespaces", &namespace);
        let version = text(&object, "apiVersion");
        let root = match version.contains('/') {
            true => format!("/apis/{version}"),
            false => format!("/api/{version}"),
        };
        let plural = text(&object, "kind").to_lowercase() + "s";
        let made = post(
            &format!("{root}/namespaces/{}/{plural}", object.namespace()),
            &object,
        );
        made.pointer(&self.pointer).cloned()
    }
}

pub const LINES: &[(&str, ConditionOf<OwnedPlace>)] = &[
    ("owners_default", |_, at| {
        let value = at.object.pointer(&at.pointer)?;
        Some(!at.is_owned() && at.filled_in().as_ref() == Some(value))
    }),
    ("owners_no_owner", |_, at| Some(!at.is_owned())),
];

/// Says the owners of the lines without one.
pub fn lines(pasted: &Pasted, case: &DiagnoseState, hear: &mut dyn FnMut(&str, &OwnedPlace)) {
    let Some(object) = pasted.live.clone().filter(|_| pasted.versions.is_empty()) else {
        return;
    };
    let Some(ownership) = case.reading().and_then(|it| it.ownership.as_ref()) else {
        return;
    };
    let mut tried: BTreeMap<bool, usize> = BTreeMap::new();
    for line in ownership.lines.iter().filter(|line| line.unowned.is_some()) {
        // A server is made for each default.
        let tried = tried
            .entry(line.unowned == Some(Unowned::Default))
            .or_default();
        *tried += 1;
        let at = OwnedPlace {
            object: object.clone(),
            pointer: line.line.pointer.clone(),
        };
        if *tried < 6 && object.pointer(&at.pointer).is_some() {
            hear(&messages::line_owners(ownership, line), &at);
        }
    }
}

/// A version of a watch, or of several documents.
#[derive(Clone)]
pub struct Version {
    all: Vec<Value>,
    at: usize,
    deleted: bool,
}

impl Version {
    fn object(&self) -> &Value {
        &self.all[self.at]
    }

    fn before(&self) -> Option<&Value> {
        Some(&self.all[self.at.checked_sub(1)?])
    }

    /// Returns whether the version has another field than the one before.
    fn changed(&self) -> bool {
        self.before()
            .is_some_and(|before| leaves(before) != leaves(self.object()))
    }

    fn entries(&self) -> &[Value] {
        let entries = self.object()["metadata"]["managedFields"].as_array();
        entries.map_or(&[], Vec::as_slice)
    }
}

pub const VERSION: &[(&str, ConditionOf<Version>)] = &[
    ("lane_first_version", |_, at| Some(at.at == 0)),
    ("lane_deleted", |_, at| Some(at.deleted)),
    ("lane_other_object", |_, at| {
        Some(at.before()?.uid() != at.object().uid())
    }),
    ("lane_same_version", |_, at| {
        Some(at.before()?.resource_version() == at.object().resource_version())
    }),
    ("lane_no_field", |_, at| Some(!at.changed())),
    ("lane_unknown_writer", |_, at| {
        // Of what changed, nothing has exactly one owner now.
        let (before, after) = (leaves(at.before()?), leaves(at.object()));
        let owned = owners(at.object());
        let known = after.iter().any(|(place, value)| {
            before.get(place) != Some(value) && owned.get(place).is_some_and(|all| all.len() == 1)
        });
        Some(at.changed() && !known)
    }),
    // A version shows nothing of the request that made it.
    ("lane_no_request", |_, at| {
        Some(at.object().get("verb").is_none())
    }),
    ("recorded_no_request", |_, at| {
        Some(at.object().get("verb").is_none())
    }),
    ("recorded_no_time", |_, at| {
        let timed = |entry: &&Value| !text(entry, "time").is_empty();
        Some(
            !at.changed()
                || !at.entries().iter().any(|entry| timed(&entry))
                || at.before().is_none()
                || at.deleted
                || {
                    // The writer is one whose entry has a time.
                    let (before, after) = (leaves(at.before()?), leaves(at.object()));
                    let owned = owners(at.object());
                    !after.iter().any(|(place, value)| {
                        before.get(place) != Some(value)
                            && owned.get(place).is_some_and(|all| all.len() == 1)
                    })
                },
        )
    }),
    ("recorded_changed_at", |said, at| {
        let time = said.text("time").replace(' ', "T") + "Z";
        Some(at.entries().iter().any(|entry| text(entry, "time") == time))
    }),
    ("recorded_object", |said, at| {
        Some(
            said.number("step")? as usize == at.at + 1
                && said.text("version") == at.object().resource_version(),
        )
    }),
    ("recorded_was", |said, at| {
        let mut before = leaves(at.before()?).into_values();
        let shown = said.text("value");
        Some(shown.starts_with(['[', '{']) || before.any(|value| is_value(&shown, Some(&value))))
    }),
    ("recorded_was_by", |said, at| {
        let mut before = leaves(at.before()?).into_values();
        let shown = said.text("value");
        let had =
            shown.starts_with(['[', '{']) || before.any(|value| is_value(&shown, Some(&value)));
        Some(had && is_owner(at, &said.text("who")))
    }),
    ("recorded_new", |_, at| {
        let before = leaves(at.before()?);
        Some(
            leaves(at.object())
                .keys()
                .any(|place| !before.contains_key(place)),
        )
    }),
    ("recorded_new_by", |said, at| {
        let before = leaves(at.before()?);
        let new = leaves(at.object())
            .keys()
            .any(|place| !before.contains_key(place));
        Some(new && is_owner(at, &said.text("who")))
    }),
];

fn is_owner(at: &Version, who: &str) -> bool {
    let name = who.split(" · ").next().unwrap_or_default();
    at.entries()
        .iter()
        .any(|entry| text(entry, "manager") == name)
}

/// Says each text of each version.
pub fn versions(pasted: &Pasted, case: &DiagnoseState, hear: &mut dyn FnMut(&str, &Version)) {
    let (Some(history), Some(reading)) = (case.observed(), case.reading()) else {
        return;
    };
    let observed = &reading.case.versions;
    if observed.len() != pasted.versions.len() || pasted.objects != 1 {
        return;
    }
    for (at, row) in history.lanes.rows.iter().enumerate() {
        let about = Version {
            all: pasted.versions.clone(),
            at,
            deleted: observed[at].event == Some(EventType::Deleted),
        };
        let changes: Vec<_> = history.changes_of(at).iter().collect();
        let before = at.checked_sub(1).and_then(|at| observed.get(at));
        let said = RowText::of_version(row, &observed[at], before, &changes);
        let mut texts = vec![said.who, said.what, said.mark, lanes::observed_version(row)];
        texts.extend(changes.iter().map(|change| lanes::was(change)));
        let version = Some(observed[at].object.resource_version());
        let known = optimist_diagnose::audit::recorded::KnownObject::Recorded;
        texts.push(lanes::step_title(
            at,
            known,
            Some(&reading.case.id),
            version,
        ));
        for text in &texts {
            hear(text, &about);
        }
    }
}

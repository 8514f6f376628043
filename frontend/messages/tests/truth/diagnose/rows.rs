//! Conditions of a row of the table over ways of writing: its requests are sent once more, to a server
//! with the object, and what became of the object is compared with what the row says.

use std::collections::BTreeSet;

use http::Request;
use optimist_apiserver::apply::Path;
use optimist_apiserver::object::{Metadata, text};
use optimist_diagnose::case::{Case, Installed};
use optimist_diagnose::ways::{ChangeContent, ChangeTable, OnOwned, WantedChange, Way};
use optimist_simulation::Exchange;
use serde_json::Value;

use super::owned::{Entry, Place, gone, owners, place_of};
use crate::hearing::ConditionOf;
use crate::judge::{Leaves, leaves, names};
use crate::said::{Part, Said};

/// An answer of the server.
pub struct Answer {
    pub code: u16,
    pub body: Value,
    pub warnings: Vec<String>,
}

/// Requests that were sent to an object, and what became of it.
pub struct Run {
    /// The manifest that somebody wants to write.
    pub manifest: Value,
    /// The manifest that the same tool wrote before, if it is known.
    pub previous: Option<Value>,
    pub requests: Vec<Exchange>,
    pub answers: Vec<Answer>,
    pub before: Value,
    pub after: Value,
    /// The manager of the last request.
    pub writer: String,
    /// `true` if the same once more makes a new version; `None` if it cannot be run.
    pub again: Option<bool>,
    /// The codes that are said to be possible, where it depends on what a text does not say.
    pub possible: Vec<String>,
    /// `true` if the values come from an error message alone.
    pub made_up: bool,
    /// The fields of the table that the way is a row of.
    pub columns: Vec<Path>,
}

/// The same write once more. Who left fields out has a manifest without them from then on.
fn once_more(way: Way, change: &WantedChange, requests: &[Exchange]) -> (Way, WantedChange) {
    let mut change = change.clone();
    let applied = requests.iter().rev().find(|it| {
        it.content_type.contains("apply-patch") && it.field_manager() != "kubectl-last-applied"
    });
    match (way, applied) {
        (Way::Client(preset, OnOwned::LeaveOut), Some(applied)) => {
            change.content = ChangeContent::Manifest(Value::clone(&applied.sent));
            change.manager = Some(applied.field_manager().into_owned());
            (Way::Client(preset, OnOwned::Usual), change)
        }
        _ => (way, change),
    }
}

impl Run {
    /// Sends the requests of a way to an object.
    pub fn new(
        installed: &Installed,
        change: &WantedChange,
        manifest: &Value,
        way: Way,
        requests: &[Exchange],
    ) -> Self {
        let mut server = installed.world.server().clone();
        let path = installed.world.subject().path();
        let read = |server: &mut optimist_apiserver::server::ApiServer| {
            let request = Request::get(&path).body(Vec::new()).expect("a path");
            let answer = server.handle(request);
            let body: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
            match answer.status().as_u16() {
                200 => body,
                _ => Value::Null,
            }
        };
        let before = read(&mut server);
        let answers = requests
            .iter()
            .map(|sent| send(&mut server, sent))
            .collect();
        let after = read(&mut server);
        let last = requests.last();
        let query = last.and_then(|last| last.target.split_once("fieldManager="));
        let named = query.map(|(_, rest)| rest.split('&').next().unwrap_or_default().to_owned());
        let agent = last.map(|last| {
            last.manager
                .split('/')
                .next()
                .unwrap_or_default()
                .to_owned()
        });
        let again = || {
            let installed = Case::about(after.clone()).install().ok()?;
            let (way, change) = once_more(way, change, requests);
            let row = ChangeTable::new(&installed, change).row(way)?;
            let last = row.requests.last()?;
            (last.code < 300).then(|| row.after.resource_version() != after.resource_version())
        };
        Self {
            again: if after.is_object() { again() } else { None },
            manifest: manifest.clone(),
            previous: change.previous.clone(),
            requests: requests.to_vec(),
            answers,
            writer: named.or(agent).unwrap_or_default(),
            before,
            after,
            possible: Vec::new(),
            made_up: false,
            columns: Vec::new(),
        }
    }

    fn was_deleted(&self) -> bool {
        self.requests.iter().any(|sent| sent.method == "DELETE")
    }

    /// Returns whether the last request deleted the object, and it is there all the same.
    fn marked(&self) -> bool {
        let last = self.requests.last().zip(self.answers.last());
        let deleted = last.is_some_and(|(sent, it)| sent.method == "DELETE" && it.code < 300);
        deleted && self.after["metadata"]["deletionTimestamp"].is_string()
    }

    pub fn refused(&self) -> bool {
        self.answers.last().is_some_and(|answer| answer.code >= 300)
    }

    pub fn written(&self) -> bool {
        self.before.resource_version() != self.after.resource_version()
    }

    /// The places whose value was another one, or none, and those that are gone.
    pub fn changed(&self) -> Vec<Place> {
        let (before, after) = (leaves(&self.before), leaves(&self.after));
        let other = after
            .iter()
            .filter(|(place, value)| before.get(*place) != Some(value));
        let mut all: Vec<Place> = other.map(|(place, _)| place.clone()).collect();
        all.extend(gone(&before, &after));
        all
    }

    /// The owners of a place that it had before and has no more.
    pub fn lost_by(&self, place: &Place) -> BTreeSet<Entry> {
        let (before, after) = (owners(&self.before), owners(&self.after));
        let none = BTreeSet::new();
        let (before, after) = (before.get(place), after.get(place));
        before
            .unwrap_or(&none)
            .difference(after.unwrap_or(&none))
            .cloned()
            .collect()
    }

    pub fn told(&self) -> String {
        let mut text = format!("   manifest {}\n   before {}\n", self.manifest, self.before);
        for (sent, answer) in self.requests.iter().zip(&self.answers) {
            let says = text_of(&answer.body);
            let (method, target) = (&sent.method, &sent.target);
            text += &format!(
                "   {method} {target} {} -> {} {says}\n",
                sent.sent, answer.code
            );
        }
        text + &format!("   after {}\n   again {:?}\n", self.after, self.again)
    }
}

fn text_of(body: &Value) -> &str {
    text(body, "message")
}

fn send(server: &mut optimist_apiserver::server::ApiServer, sent: &Exchange) -> Answer {
    let body = match &*sent.sent {
        Value::Null => Vec::new(),
        body => body.to_string().into_bytes(),
    };
    let mut request = Request::builder()
        .method(sent.method.clone())
        .uri(&sent.target)
        .header("user-agent", &sent.manager);
    if !sent.content_type.is_empty() {
        request = request.header("content-type", &sent.content_type);
    }
    let answer = server.handle(request.body(body).expect("a request that was sent"));
    let warnings = answer.headers().get_all("warning").iter();
    let warnings = warnings.filter_map(|it| it.to_str().ok().map(str::to_owned));
    Answer {
        code: answer.status().as_u16(),
        warnings: warnings.collect(),
        body: serde_json::from_slice(answer.body()).unwrap_or_default(),
    }
}

/// The fields that a sentence names, and how many more there are.
pub fn named(parts: &[Part]) -> (Vec<String>, u64) {
    let (mut found, mut more) = (Vec::new(), 0);
    for part in parts {
        match part {
            Part::Text(text) => {
                let words = text.split(", ").map(str::trim).filter(|it| !it.is_empty());
                found.extend(words.map(str::to_owned));
            }
            Part::Said(said) => match said.name() {
                "names_and" => {
                    found.extend(named(said.parts("most")).0);
                    found.extend(named(said.parts("last")).0);
                }
                "row_more" => {
                    found.extend(named(said.parts("named")).0);
                    more += said.number("more").unwrap_or(0);
                }
                _ => found.push(said.english()),
            },
        }
    }
    (found, more)
}

/// Returns whether each field that a sentence names is at a place of which something holds.
pub fn all_at(
    said: &Said,
    argument: &str,
    places: &[Place],
    holds: impl Fn(&Place) -> bool,
) -> bool {
    let (fields, _) = named(said.parts(argument));
    !fields.is_empty()
        && fields.iter().all(|field| {
            let mut of = places.iter().filter(|place| names(place).contains(field));
            of.any(&holds)
        })
}

/// The places of two sets of leaves.
pub fn places(objects: &[&Leaves]) -> Vec<Place> {
    let all: BTreeSet<&Place> = objects.iter().flat_map(|leaves| leaves.keys()).collect();
    all.into_iter().cloned().collect()
}

pub const ROWS: &[(&str, ConditionOf<Run>)] = &[
    ("ways_more_fields", |said, run| {
        // A message does not say the values.
        let differs =
            |field: &Path| run.made_up || field.find(&run.before) != field.find(&run.manifest);
        let count = said.number("count")? as usize == run.columns.len();
        Some(count && run.columns.iter().all(differs))
    }),
    ("ways_depends", |_, run| Some(run.possible.len() > 1)),
    ("ways_not_known", |_, run| Some(no_valid_values(run))),
    ("ways_nothing_sent", |said, run| {
        let is_possible = run.made_up && run.possible.contains(&said.english());
        Some(run.requests.is_empty() || is_possible)
    }),
    ("open_code", |_, run| {
        let code = run.answers.last().map(|answer| answer.code.to_string());
        let code = code.unwrap_or_else(|| "not sent".to_owned());
        // Of real values a server can say that they are invalid: what is said holds if it takes them.
        Some(run.made_up && (run.possible.contains(&code) || code == "422"))
    }),
    ("open_vanish", |_, run| Some(run.made_up)),
    ("open_reset", |_, run| Some(run.made_up)),
    ("open_effect", |_, run| Some(run.made_up)),
    ("open_no_effect", |_, run| Some(run.made_up)),
    ("open_others_vanish", |_, run| Some(run.made_up)),
    ("open_written", |_, run| Some(run.made_up)),
    ("open_not_written", |_, run| Some(run.made_up)),
    ("open_second_changes", |_, run| Some(run.made_up)),
    ("open_second_nothing", |_, run| Some(run.made_up)),
    ("open_no_values", |_, run| Some(no_valid_values(run))),
    ("row_nothing_sent", |_, run| {
        Some(run.requests.is_empty() && !run.written())
    }),
    ("row_nothing_changed", |_, run| {
        Some(!run.requests.is_empty() && !run.refused() && run.before == run.after)
    }),
    ("row_refused", |said, run| {
        let (last, message) = (run.answers.last()?, said.text("message"));
        let says = [text_of(&last.body), text(&last.body, "reason")];
        Some(last.code >= 300 && says.contains(&&*message) && run.before == run.after)
    }),
    ("row_version_of_manifest", |said, run| {
        let (named, stored) = (
            run.manifest.resource_version(),
            run.before.resource_version(),
        );
        let conflict = run.answers.last()?.code == 409;
        Some(conflict && said.text("version") == named && named != stored)
    }),
    ("row_refused_for", |said, run| {
        refused_for(said, run, |_| true)
    }),
    ("headline_accepted", |_, run| {
        Some(!run.requests.is_empty() && !run.refused())
    }),
    ("headline_refused", |said, run| {
        let owners = crate::said::all(said.parts("owners")).into_iter();
        let mut of_all = owners.filter(|it| it.name() == "headline_owner");
        let owned = of_all.all(|owner| {
            let manager = owner.text("manager");
            refused_for(said, run, |cause| names_manager(cause, &manager)) == Some(true)
        });
        Some(owned && refused_for(said, run, |_| true)?)
    }),
    ("headline_invalid", |said, run| {
        let (fields, _) = named(said.parts("fields"));
        let causes = causes(run)?;
        let invalid = run.answers.last()?.code == 422 && !run.written();
        Some(
            invalid
                && fields
                    .iter()
                    .all(|it| causes.iter().any(|cause| text(cause, "field") == *it)),
        )
    }),
    ("headline_owner", |said, run| {
        let manager = said.text("manager");
        let causes = causes(run)?;
        let own = causes.iter().filter(|it| names_manager(it, &manager));
        Some((1..=own.count() as u64).contains(&said.number("count")?))
    }),
    ("headline_owner_of", |said, run| {
        let manager = said.text("manager");
        refused_for(said, run, |cause| names_manager(cause, &manager))
    }),
    ("headline_through", |said, run| {
        let (owns, through) = (said.inner("owns")?, said.text("subresource"));
        let through = format!("subresource \"{through}\"");
        let manager = owns.text("manager");
        let mut causes = causes(run)?.into_iter();
        Some(
            causes
                .any(|it| names_manager(&it, &manager) && text(&it, "message").contains(&through)),
        )
    }),
    ("headline_time", |said, run| {
        let owns = said.inner("owns")?;
        let owner = match owns.name() {
            "headline_through" => owns.inner("owns")?,
            _ => owns,
        };
        let entries = run.before["metadata"]["managedFields"].as_array()?;
        let mut own = entries
            .iter()
            .filter(|entry| text(entry, "manager") == owner.text("manager"));
        Some(own.any(|entry| text(entry, "time") == said.text("time")))
    }),
    ("row_refused_later", |said, run| {
        let last = run.answers.last()?;
        let message = text_of(&last.body) == said.text("message");
        Some(last.code >= 300 && message && run.written())
    }),
    ("row_put_back", |said, run| {
        let deleted = run.requests.iter().any(|sent| sent.method == "DELETE");
        let mut refused = run.answers.iter().filter(|answer| answer.code >= 300);
        let says = refused.any(|answer| text_of(&answer.body) == said.text("message"));
        let new = run.after.uid() != run.before.uid();
        Some(deleted && says && new && run.after["spec"] == run.before["spec"])
    }),
    ("row_held", |said, run| {
        let finalizers = run.after["metadata"]["finalizers"].as_array()?;
        let finalizers = finalizers.iter().filter_map(Value::as_str);
        let finalizers = finalizers.collect::<Vec<_>>().join(", ");
        Some(run.marked() && !finalizers.is_empty() && said.text("finalizers") == finalizers)
    }),
    ("row_deleted_later", |_, run| {
        let held = run.after["metadata"]["finalizers"].as_array();
        Some(run.marked() && held.is_none_or(Vec::is_empty))
    }),
    ("row_takes", |said, run| {
        let changed = run.changed();
        let by_other = |place: &Place| run.lost_by(place).iter().any(|it| it.manager != run.writer);
        let owned = owners(&run.after);
        let is_taken = |place: &Place| {
            let after = owned.get(place);
            by_other(place) && after.is_some_and(|after| !after.is_empty())
        };
        Some(all_at(said, "fields", &changed, is_taken))
    }),
    ("row_set_by_server", |said, run| {
        let manifest = leaves(&run.manifest);
        let changed = run.changed();
        let after = leaves(&run.after);
        Some(all_at(said, "fields", &changed, |place| {
            after.contains_key(place) && !manifest.contains_key(place)
        }))
    }),
    ("row_taken_back", |said, run| {
        let (managers, _) = named(said.parts("managers"));
        let changed = run.changed();
        Some(managers.iter().all(|manager| {
            let autoscaler = manager.contains("HorizontalPodAutoscaler");
            changed.iter().any(|place| {
                let before = owners(&run.before);
                before
                    .get(place)
                    .into_iter()
                    .flatten()
                    .any(|entry| match autoscaler {
                        true => entry.manager == "kube-controller-manager",
                        false => entry.manager == *manager,
                    })
            })
        }))
    }),
    ("row_autoscaler", |_, run| {
        let before = owners(&run.before);
        let scaled = before.get(&vec!["spec".to_owned(), "replicas".to_owned()])?;
        Some(
            scaled
                .iter()
                .any(|it| it.manager == "kube-controller-manager" && it.subresource == "scale"),
        )
    }),
    ("row_removes", |said, run| {
        let gone = gone(&leaves(&run.before), &leaves(&run.after));
        let (fields, more) = named(said.parts("fields"));
        let count = said.number("count")?;
        // The image of each container is one word.
        let enough = count >= fields.len() as u64 + more && count as usize <= gone.len();
        Some(enough && all_at(said, "fields", &gone, |_| true))
    }),
    ("row_leaves", |said, run| {
        let (after, manifest) = (leaves(&run.after), leaves(&run.manifest));
        let applied = last_applied(&run.before);
        let owned = owners(&run.before);
        let had = |place: &Place| {
            let mut entries = owned.get(place).into_iter().flatten();
            let own = entries.any(|it| it.manager == run.writer || it.operation == "Update");
            let previous = run.previous.as_ref().map(leaves);
            own || applied.contains_key(place) || previous.is_some_and(|it| it.contains_key(place))
        };
        let left = |place: &Place| !manifest.contains_key(place) && had(place);
        Some(all_at(said, "fields", &places(&[&after]), left))
    }),
    ("row_edits_copy", |_, run| {
        // What is sent has the fields that the object has and the manifest has not.
        let (before, manifest) = (leaves(&run.before), leaves(&run.manifest));
        let kept = before.keys().any(|place| !manifest.contains_key(place));
        Some(run.answers.last()?.code == 422 && kept)
    }),
    ("row_keeps", |said, run| {
        let (before, after) = (leaves(&run.before), leaves(&run.after));
        let manifest = leaves(&run.manifest);
        let kept = |place: &Place| {
            before.get(place) == after.get(place) && before.get(place) != manifest.get(place)
        };
        Some(all_at(said, "fields", &places(&[&after, &manifest]), kept))
    }),
    ("row_shares", |said, run| {
        let shared = shared(run);
        let count = said.number("count")? as usize;
        if run.was_deleted() {
            return Some(count > 0);
        }
        Some(0 < count && count <= shared.len())
    }),
    ("row_second_changes", |_, run| Some(run.again == Some(true))),
    ("row_second_nothing", |_, run| Some(run.again != Some(true))),
    ("row_warning", |said, run| {
        let warning = said.text("warning");
        let mut all = run.answers.iter().flat_map(|answer| &answer.warnings);
        Some(all.any(|header| header.replace("\\\"", "\"").contains(&warning)))
    }),
];

/// Returns the causes of the last refusal.
fn causes(run: &Run) -> Option<Vec<Value>> {
    let causes = &run.answers.last()?.body["details"]["causes"];
    causes.as_array().cloned()
}

fn names_manager(cause: &Value, manager: &str) -> bool {
    text(cause, "message").starts_with(&format!(
        "conflict with {}",
        optimist_apiserver::go::quote(manager)
    ))
}

/// Returns whether a conflict refuses each field that a sentence names, with a cause of which something holds, and
/// nothing was written.
fn refused_for(said: &Said, run: &Run, holds: impl Fn(&Value) -> bool) -> Option<bool> {
    let causes = causes(run)?;
    let (fields, _) = named(said.parts("fields"));
    let told = fields.iter().all(|field| {
        let last = field.rsplit(' ').next().unwrap_or_default();
        let mut causes = causes.iter().filter(|cause| holds(cause));
        causes.any(|cause| text(cause, "field").contains(last))
    });
    Some(run.answers.last()?.code == 409 && told && run.before == run.after)
}

/// Returns whether a server takes none of the values that are made up: it does not take these.
fn no_valid_values(run: &Run) -> bool {
    let last = run.answers.last();
    run.made_up && last.is_some_and(|answer| answer.code == 422)
}

/// The places that kept their value and got the writer as one more owner.
fn shared(run: &Run) -> Vec<Place> {
    let (before, after) = (owners(&run.before), owners(&run.after));
    let values = (leaves(&run.before), leaves(&run.after));
    let none = BTreeSet::new();
    let is = |place: &&Place| {
        let (old, new) = (
            before.get(*place).unwrap_or(&none),
            after.get(*place).unwrap_or(&none),
        );
        let same = values.0.get(*place) == values.1.get(*place);
        same && old.is_subset(new) && new.difference(old).any(|it| it.manager == run.writer)
    };
    after.keys().filter(is).cloned().collect()
}

/// Returns the values in the annotation of client-side apply.
pub fn last_applied(object: &Value) -> Leaves {
    let annotation =
        &object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"];
    let applied = annotation
        .as_str()
        .and_then(|text| serde_json::from_str(text).ok());
    leaves(&applied.unwrap_or(Value::Null))
}

/// The effect of a run on one field.
pub struct FieldRun<'a> {
    pub run: &'a Run,
    pub field: Path,
}

impl FieldRun<'_> {
    fn values(&self) -> (Option<&Value>, Option<&Value>) {
        (
            self.field.find(&self.run.before),
            self.field.find(&self.run.after),
        )
    }

    /// The owners of the values at the field: before, and after.
    fn owners(&self) -> [BTreeSet<Entry>; 2] {
        [&self.run.before, &self.run.after].map(|object| {
            let place = self.field.pointer(object);
            let place = place.and_then(|pointer| place_of(object, &pointer));
            let Some(place) = place else {
                return BTreeSet::new();
            };
            let owners = owners(object).into_iter();
            let below = owners.filter(|(leaf, _)| leaf.starts_with(&place));
            below.flat_map(|(_, owners)| owners).collect()
        })
    }
}

pub fn field_conditions<'a>() -> crate::hearing::Conditions<FieldRun<'a>> {
    let all: [(&str, ConditionOf<FieldRun<'a>>); 18] = [
        ("effect_refused", |_, at| {
            let causes = at.run.answers.last()?.body["details"]["causes"].as_array()?;
            let path = at.field.to_string();
            Some(
                at.run.answers.last()?.code == 409
                    && causes.iter().any(|it| text(it, "field") == path),
            )
        }),
        ("effect_taken_over", |_, at| {
            let (before, after) = at.values();
            let [old, new] = at.owners();
            let lost = old
                .difference(&new)
                .any(|it| it.manager != at.run.writer || it.operation == "Update");
            Some(before != after && after.is_some() && lost)
        }),
        ("effect_changed", |_, at| {
            let (before, after) = at.values();
            Some(before.is_some() && after.is_some() && before != after)
        }),
        ("effect_added", |_, at| {
            let (before, after) = at.values();
            Some(before.is_none() && after.is_some())
        }),
        ("effect_removed", |_, at| {
            let (before, after) = at.values();
            Some(before.is_some() && after.is_none())
        }),
        ("effect_kept", |_, at| {
            let (before, after) = at.values();
            Some(before == after && at.field.find(&at.run.manifest) != after)
        }),
        ("effect_shared", |_, at| {
            let (before, after) = at.values();
            let [old, new] = at.owners();
            let more = new.difference(&old).any(|it| it.manager == at.run.writer);
            // What was deleted and made again has the owners of its body.
            if at.run.was_deleted() {
                return Some(before == after);
            }
            Some(before == after && (more || at.run.made_up) && old.is_subset(&new))
        }),
        ("effect_owners_changed", |_, at| {
            let (before, after) = at.values();
            let [old, new] = at.owners();
            Some(before == after && old != new)
        }),
        ("effect_left_behind", |_, at| {
            let (_, after) = at.values();
            Some(after.is_some() && at.field.find(&at.run.manifest).is_none())
        }),
        ("ways_stays", |said, at| {
            let (before, after) = at.values();
            Some(before == after && is_value(&said.text("value"), after))
        }),
        ("happened_absent", |_, at| {
            let (before, after) = at.values();
            Some(before.is_none() || after.is_none())
        }),
        ("fate_vanishes", |_, at| {
            let (before, after) = at.values();
            Some(before.is_some() && after.is_none())
        }),
        ("fate_stays", |_, at| {
            let (before, after) = at.values();
            // A false one is stored as no value.
            let untouched = at.run.refused() && at.run.before == at.run.after;
            Some(before == after && (after.is_some() || untouched))
        }),
        ("fate_manifest", |_, at| {
            Some(at.values().1.is_some() && at.values().1 == at.field.find(&at.run.manifest))
        }),
        ("fate_default", |_, at| {
            let (before, after) = at.values();
            Some(after.is_some() && before != after && after != at.field.find(&at.run.manifest))
        }),
        ("owners_by", |said, at| {
            let (owner, operation) = (said.text("owner"), said.text("operation"));
            let [old, new] = at.owners();
            // Another entry has the same name.
            let same: Vec<&Entry> = old.union(&new).filter(|it| it.is_named(&owner)).collect();
            let is = same.iter().any(|it| it.operation == operation);
            Some(at.run.made_up || is && same.len() > 1)
        }),
        ("owners_by_version", |said, at| {
            let owner = said.text("owner");
            let is = |entry: &Value| {
                owner.starts_with(text(entry, "manager"))
                    && text(entry, "operation") == said.text("operation")
                    && text(entry, "apiVersion") == said.text("version")
            };
            let lists = [&at.run.before, &at.run.after];
            let lists = lists.map(|object| object["metadata"]["managedFields"].as_array());
            let mut entries = lists.into_iter().flatten().flatten();
            Some(at.run.made_up || entries.any(is))
        }),
        ("owners_no_owner", |_, at| {
            let [old, new] = at.owners();
            Some(at.run.made_up || old.is_empty() || new.is_empty())
        }),
    ];
    all.into_iter().collect()
}

/// Returns whether a text is a value in a few words: a long one loses its middle.
pub fn is_value(said: &str, value: Option<&Value>) -> bool {
    let text = match value {
        None => return said == "absent",
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    match said.split_once('…') {
        Some((head, tail)) => text.starts_with(head) && text.ends_with(tail),
        None => text == said,
    }
}

//! Edits, and the loss of edits, by the design's definition alone:
//!
//! - An edit is the smallest thing that its writer changed: a member of a map, an item of a list
//!   with keys or of a set, else the value.
//!   The annotation in which client-side apply keeps its manifest is no edit: nobody means it.
//! - It is lost if its writer got a 2xx for it, and a later write of an actor that had not been shown
//!   it since it began to hold undid it, overwrote it or deleted it.
//! - An actor was shown everything that it received: an answer, or the content of its caches.

use std::collections::BTreeMap;

use optimist_apiserver::object::Metadata;
use optimist_simulation::{ActorId, Exchange};
use serde_json::Value;

use super::moment::{Happened, Moment, actor_of, is_dry_run, path_of_object};

/// The leaves of an object, by their places. Items of lists stand under their names, so that a
/// place stays what it is when a list grows.
pub type Leaves = BTreeMap<Vec<String>, Value>;

/// The leaves of an object, but those that the server sets with every write.
pub fn leaves(object: &Value) -> Leaves {
    let mut found = Leaves::new();
    collect(object, &mut Vec::new(), &mut found);
    const SERVERS: [&str; 6] = [
        "resourceVersion",
        "managedFields",
        "generation",
        "uid",
        "creationTimestamp",
        "selfLink",
    ];
    found.retain(|place, _| match &place[..] {
        [] => false,
        [first, second, ..] => first != "metadata" || !SERVERS.contains(&&**second),
        [_] => true,
    });
    found
}

fn collect(value: &Value, place: &mut Vec<String>, found: &mut Leaves) {
    match value {
        Value::Object(members) if !members.is_empty() || place.is_empty() => {
            for (name, value) in members {
                place.push(name.clone());
                collect(value, place, found);
                place.pop();
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let list = place.last().cloned().unwrap_or_default();
            for (i, item) in items.iter().enumerate() {
                let name = match item {
                    Value::Object(_) => key_of(item).unwrap_or_else(|| i.to_string()),
                    Value::String(text) => text.clone(),
                    _ => i.to_string(),
                };
                place.push(format!("{list} {name}"));
                collect(item, place, found);
                place.pop();
            }
        }
        other => {
            found.insert(place.clone(), other.clone());
        }
    }
}

/// Returns the key that tells an item of a list apart from the others.
fn key_of(item: &Value) -> Option<String> {
    // A port of a Service has its number as its key, and a mount its path: a name tells apart the rest.
    let keys = [
        "containerPort",
        "port",
        "type",
        "ip",
        "mountPath",
        "uid",
        "name",
    ];
    let key = keys.iter().find_map(|key| item.get(*key))?;
    Some(match key {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

/// The judge of a history.
pub struct Judge<'a> {
    steps: Vec<Happened<'a>>,
    /// The leaves of the object that is shown, at the start and after each step; `None` while it
    /// does not exist.
    stored: Vec<Option<Leaves>>,
    path: String,
}

/// An edit that a step took away.
#[derive(Clone, Debug)]
pub struct Gone {
    /// The place of the value; empty for a deletion.
    pub place: Vec<String>,
    /// The value; `None` for a removal.
    pub value: Option<Value>,
    /// Its owner.
    pub owner: ActorId,
    /// `true` if the one who took it away had been shown it.
    pub shown: bool,
}

impl<'a> Judge<'a> {
    pub fn new(moment: &Moment<'a>) -> Self {
        let start = moment.tree.origin();
        let mut worlds = vec![start];
        worlds.extend(moment.so_far.iter().map(|it| it.after));
        let stored = worlds
            .into_iter()
            .map(|world| moment.object_in(world).map(leaves));
        Self {
            stored: stored.collect(),
            steps: moment.so_far.clone(),
            path: moment.object.path(),
        }
    }

    /// The leaves after a step; 0 is the start.
    fn at(&self, position: usize, place: &[String]) -> Option<&Value> {
        self.stored[position].as_ref()?.get(place)
    }

    fn has(&self, position: usize, place: &[String], value: Option<&Value>) -> bool {
        match (place, value) {
            ([], _) => self.stored[position].is_none(),
            (place, value) => self.stored[position].is_some() && self.at(position, place) == value,
        }
    }

    /// Returns whether a step, counted from 1, is an accepted write of an actor.
    fn wrote(&self, position: usize) -> Option<ActorId> {
        let step = self.steps[position - 1].step;
        let sent = step.exchange.as_ref()?;
        let writes = sent.method != "GET" && sent.code < 300 && !is_dry_run(sent);
        actor_of(&step.operation).filter(|_| writes)
    }

    /// The edits of others that the last step took away.
    pub fn gone(&self) -> Vec<Gone> {
        let now = self.steps.len();
        let Some(by) = (now > 0).then(|| self.wrote(now)).flatten() else {
            return Vec::new();
        };
        let mut places: Vec<(Vec<String>, Option<Value>)> = Vec::new();
        match (&self.stored[now - 1], &self.stored[now]) {
            (None, Some(_)) => places.push((Vec::new(), None)),
            (Some(before), after) => {
                let after = after.clone().unwrap_or_default();
                for (place, value) in before {
                    // A deletion that comes sooner is a deletion all the same.
                    let marks = place[..] == ["metadata", "deletionTimestamp"]
                        || place[..] == ["metadata", "deletionGracePeriodSeconds"];
                    if after.get(place) != Some(value) && !(marks && after.contains_key(place)) {
                        places.push((place.clone(), Some(value.clone())));
                    }
                }
                let deleted = self.stored[now].is_none();
                let added = after
                    .keys()
                    .filter(|place| !before.contains_key(*place) && !deleted);
                places.extend(added.map(|place| (place.clone(), None)));
            }
            (None, None) => {}
        }
        if self.stored[now].is_none() {
            // What was removed before is removed no more: nothing is there.
            let removed = (1..now).flat_map(|at| {
                let (was, is) = (self.stored[at - 1].iter().flatten(), &self.stored[at]);
                was.filter(|(place, _)| is.as_ref().is_some_and(|is| !is.contains_key(*place)))
            });
            places.extend(removed.map(|(place, _)| (place.clone(), None)));
        }
        // Client-side apply rewrites its annotation by itself: that is nobody's edit.
        let last_applied = "kubectl.kubernetes.io/last-applied-configuration";
        places.retain(|(place, _)| place[..] != ["metadata", "annotations", last_applied]);
        let gone = places.into_iter().filter_map(|(place, value)| {
            let owner = self.owner(&place, value.as_ref(), by)?;
            let shown = self.was_shown(by, &place, value.as_ref());
            Some(Gone {
                place,
                value,
                owner,
                shown,
            })
        });
        gone.collect()
    }

    /// Returns the actor who made the value that the last step took away: the last one who wrote
    /// it, if that is another.
    fn owner(&self, place: &[String], value: Option<&Value>, by: ActorId) -> Option<ActorId> {
        let now = self.steps.len();
        let made = (1..now)
            .rev()
            .find(|at| self.has(*at, place, value) && !self.has(*at - 1, place, value))?;
        let between = made..now;
        let holds = between.clone().all(|at| self.has(at, place, value));
        let owner = self.wrote(made).filter(|_| holds)?;
        (owner != by).then_some(owner)
    }

    /// Returns whether an actor was shown something since it began to hold.
    pub fn was_shown(&self, who: ActorId, place: &[String], value: Option<&Value>) -> bool {
        let now = self.steps.len();
        let since = (0..now).rev().find(|at| !self.has(*at, place, value));
        let since = since.map_or(0, |at| at + 1);
        (since.max(1)..now).any(|at| {
            let it = self.steps[at - 1];
            let answered = actor_of(&it.step.operation) == Some(who)
                && it
                    .step
                    .exchange
                    .as_ref()
                    .is_some_and(|sent| self.shows(sent, place, value));
            answered || self.cached(it, who, place, value)
        })
    }

    /// Returns whether an answer shows something of the object.
    fn shows(&self, sent: &Exchange, place: &[String], value: Option<&Value>) -> bool {
        let about = path_of_object(&sent.target) == self.path
            || self.path.starts_with(&*path_of_object(&sent.target));
        if !about {
            return false;
        }
        if sent.code == 404 {
            // The path of a subresource that the kind does not have names no object.
            let named = &sent.received["details"]["name"];
            return place.is_empty() && self.path.rsplit('/').next() == named.as_str();
        }
        let items = sent.received["items"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        let objects = items.iter().chain(std::iter::once(&*sent.received));
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let mut objects = objects.filter(|object| object.name() == name);
        // A Scale shows the replicas alone. The answer to a dry run has what others wrote, as it is stored.
        let is_in_answer = match sent.received["kind"] == "Scale" {
            true => sent.method == "GET" && place == ["spec", "replicas"],
            false => true,
        };
        !place.is_empty()
            && sent.code < 300
            && is_in_answer
            && objects.any(|object| {
                let shown = leaves(object);
                // A Scale without replicas says that there are none.
                let is_none = object["kind"] == "Scale" && value == Some(&Value::from(0));
                shown.get(place) == value || is_none && !shown.contains_key(place)
            })
    }

    /// Returns whether a controller has something in its cache after a step.
    fn cached(
        &self,
        it: Happened<'_>,
        who: ActorId,
        place: &[String],
        value: Option<&Value>,
    ) -> bool {
        let Some(controller) = it.after.controller(who) else {
            return false;
        };
        let name = self.path.rsplit('/').next().unwrap_or_default();
        controller.caches().iter().any(|cache| {
            cache.objects().iter().any(|(_, object)| {
                object.name() == name && !place.is_empty() && leaves(object).get(place) == value
            })
        })
    }
}

/// Returns the names of a place in a few words: `replicas`, `container sidecar`, `finalizer
/// example.com/a`, `image of container app`.
pub fn names(place: &[String]) -> Vec<String> {
    let of_item = |part: &String| {
        let (list, item) = part.split_once(' ')?;
        Some(format!("{} {item}", list.trim_end_matches('s')))
    };
    // An edit of a whole item is a leaf in it.
    let mut names = place.to_vec();
    names.extend(place.iter().filter_map(of_item));
    names.extend(place.windows(2).filter_map(|parts| {
        let [item, field] = parts else { return None };
        Some(format!("{field} of {}", of_item(item)?))
    }));
    names
}

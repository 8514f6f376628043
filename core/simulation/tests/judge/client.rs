//! Small clients: each reads, edits the copy, and sends the edits with its write method.

use http::Request;
use optimist_apiserver::server::ApiServer;
use serde_json::{Map, Value, json};

use super::pairs::{Doing, Through, find};
use super::verdict::Event;

pub const MANAGERS: [&str; 4] = ["editor-a", "editor-b", "controller", "editor-d"];

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Put,
    Merge,
    Strategic,
    Json,
    Apply,
}

/// The reaction to a conflict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OnConflict {
    GiveUp,
    ReadAgain,
    Resend,
}

/// A write method.
#[derive(Clone, Copy, Debug)]
pub struct WriteMethod {
    pub name: &'static str,
    pub kind: Kind,
    pub versioned: bool,
    pub tests: bool,
    pub force: bool,
    /// `true` if the writer owns the fields that it changes from the start.
    pub owns: bool,
    pub on_conflict: OnConflict,
}

impl WriteMethod {
    pub fn all() -> Vec<WriteMethod> {
        use Kind::{Apply, Json, Merge, Put, Strategic};
        use OnConflict::{GiveUp, ReadAgain, Resend};
        let way = |name, kind, versioned, on_conflict| WriteMethod {
            name,
            kind,
            versioned,
            tests: false,
            force: false,
            owns: false,
            on_conflict,
        };
        let plain = way("json-test", Json, false, GiveUp);
        let apply = way("apply-force", Apply, false, GiveUp);
        vec![
            way("update", Put, false, GiveUp),
            way("update-rv", Put, true, GiveUp),
            way("update-retry", Put, true, ReadAgain),
            way("update-resend", Put, true, Resend),
            way("merge", Merge, false, GiveUp),
            way("merge-rv", Merge, true, GiveUp),
            way("merge-retry", Merge, true, ReadAgain),
            way("strategic", Strategic, false, GiveUp),
            way("strategic-rv", Strategic, true, GiveUp),
            way("json", Json, false, GiveUp),
            way("json-rv", Json, true, GiveUp),
            WriteMethod {
                tests: true,
                ..plain
            },
            way("apply", Apply, false, GiveUp),
            way("apply-rv", Apply, true, GiveUp),
            WriteMethod {
                name: "apply-own",
                owns: true,
                ..apply
            },
            WriteMethod {
                force: true,
                ..apply
            },
        ]
    }
}

/// The server, and where the object is.
#[derive(Clone)]
pub struct Server {
    pub api: ApiServer,
    pub path: String,
}

impl Server {
    fn ask(
        &mut self,
        method: &str,
        target: &str,
        kind: &str,
        who: usize,
        body: &str,
    ) -> (u16, Value) {
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header("content-type", kind)
            .header("user-agent", MANAGERS[who]);
        let response = self
            .api
            .handle(request.body(body.as_bytes().to_vec()).unwrap());
        let answer = serde_json::from_slice(response.body()).unwrap_or_default();
        (response.status().as_u16(), answer)
    }

    /// Returns the stored object, as a GET of a copy of the server shows it.
    pub fn stored(&self) -> Option<Value> {
        let mut copy = self.clone();
        let path = copy.path.clone();
        let (code, object) = copy.ask("GET", &path, "", 0, "");
        (code == 200).then_some(object)
    }
}

/// The state of an editor.
#[derive(Clone)]
pub struct Actor {
    pub copy: Option<Value>,
    reads: bool,
    done: bool,
    tries: u8,
}

impl Actor {
    pub fn new(way: WriteMethod, tries: u8, copy: Option<Value>) -> Self {
        Self {
            reads: copy.is_none(),
            copy,
            done: false,
            tries: if way.on_conflict == OnConflict::GiveUp {
                1
            } else {
                tries
            },
        }
    }

    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Returns whether it reads next.
    pub fn reads(&self) -> bool {
        self.reads
    }

    /// Takes a step and returns its result.
    pub fn step(
        &mut self,
        doing: &Doing,
        way: WriteMethod,
        server: &mut Server,
        who: usize,
    ) -> Event {
        let path = server.path.clone();
        if self.reads {
            let (code, object) = server.ask("GET", &path, "", who, "");
            if code != 200 {
                self.done = true;
                return Event::refused(who, code);
            }
            self.reads = false;
            self.copy = Some(object.clone());
            return Event::shown(who, &object);
        }
        let read = self.copy.clone().unwrap();
        let before = server.stored();
        let (code, answer) = send(&read, doing, way, server, who);
        if code < 300 {
            self.done = true;
            // A value that it has already read is not a change.
            let changed = doing
                .leaves
                .iter()
                .filter(|(place, value)| place.is_empty() || find(&read, place) != value.as_ref());
            let shows = doing.through != Through::Delete || answer["kind"] != "Status";
            return Event::wrote(
                who,
                changed.cloned().collect(),
                before,
                server.stored(),
                shows,
            );
        }
        self.tries -= 1;
        let again = code == 409 && answer["reason"] == "Conflict" && self.tries > 0;
        self.done = !again;
        self.reads = again && way.on_conflict == OnConflict::ReadAgain;
        Event::refused(who, code)
    }
}

fn send(
    read: &Value,
    doing: &Doing,
    way: WriteMethod,
    server: &mut Server,
    who: usize,
) -> (u16, Value) {
    let mut target = server.path.clone();
    let version = &read["metadata"]["resourceVersion"];
    if doing.through == Through::Delete {
        let body = if way.versioned {
            json!({"preconditions": {"resourceVersion": version}}).to_string()
        } else {
            String::new()
        };
        return server.ask("DELETE", &target, "application/json", who, &body);
    }
    let mut edited = read.clone();
    doing.make(&mut edited);
    if doing.through == Through::Status {
        target.push_str("/status");
    }
    let (method, kind, mut body) = match way.kind {
        Kind::Put => ("PUT", "application/json", edited),
        Kind::Merge => (
            "PATCH",
            "application/merge-patch+json",
            merge(read, &edited),
        ),
        Kind::Strategic => {
            let patch = strategic(read, &edited);
            ("PATCH", "application/strategic-merge-patch+json", patch)
        }
        Kind::Json => {
            let mut operations = Vec::new();
            operations_of(read, &edited, "", way.tests, &mut operations);
            operations.sort_by_key(|operation| operation["op"] != "test");
            let path = "/metadata/resourceVersion";
            if way.versioned {
                operations.insert(0, json!({"op": "test", "path": path, "value": version}));
            }
            ("PATCH", "application/json-patch+json", operations.into())
        }
        Kind::Apply => {
            let force = if way.force { "&force=true" } else { "" };
            target.push_str(&format!("?fieldManager={}{force}", MANAGERS[who]));
            (
                "PATCH",
                "application/apply-patch+yaml",
                configuration(read, doing),
            )
        }
    };
    if way.kind != Kind::Json {
        if way.versioned {
            body["metadata"]["resourceVersion"] = version.clone();
        } else if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("resourceVersion");
        }
    }
    server.ask(method, &target, kind, who, &body.to_string())
}

/// RFC 7396, the other way round.
fn merge(read: &Value, edited: &Value) -> Value {
    let (Some(old), Some(new)) = (read.as_object(), edited.as_object()) else {
        return edited.clone();
    };
    let mut patch = Map::new();
    for (name, value) in new {
        match old.get(name) {
            Some(before) if before == value => {}
            Some(before) => drop(patch.insert(name.clone(), merge(before, value))),
            None => drop(patch.insert(name.clone(), value.clone())),
        }
    }
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    patch.into()
}

/// The same, with the lists that have names by those, and finalizers by themselves.
fn strategic(read: &Value, edited: &Value) -> Value {
    let mut patch = merge(read, edited);
    let members = patch.as_object_mut().into_iter().flatten();
    for (name, value) in members {
        let (old, new) = (&read[name.as_str()], &edited[name.as_str()]);
        let items = |list: &Value| list.as_array().cloned().unwrap_or_default();
        let old_items = items(old);
        match name.as_str() {
            "containers" | "volumes" | "env" => {
                let changed = items(new)
                    .into_iter()
                    .filter(|item| !old_items.contains(item));
                let changed = changed.map(|item| {
                    let known = old_items.iter().find(|old| old["name"] == item["name"]);
                    let mut part = known.map_or(item.clone(), |old| strategic(old, &item));
                    part["name"] = item["name"].clone();
                    part
                });
                *value = changed.collect();
            }
            "finalizers" => {
                let added = items(new).into_iter();
                *value = added.filter(|item| !old_items.contains(item)).collect();
            }
            _ if old.is_object() && new.is_object() => *value = strategic(old, new),
            _ => {}
        }
    }
    patch
}

/// RFC 6902, by places; lists only grow at their end here.
fn operations_of(read: &Value, edited: &Value, path: &str, tests: bool, into: &mut Vec<Value>) {
    let change =
        |op: &str, path: &str, value: &Value| json!({"op": op, "path": path, "value": value});
    match (read, edited) {
        (old, new) if old == new => {}
        (Value::Object(old), Value::Object(new)) => {
            for (name, value) in new {
                let path = format!("{path}/{}", name.replace('/', "~1"));
                match old.get(name) {
                    Some(before) => operations_of(before, value, &path, tests, into),
                    None => into.push(change("add", &path, value)),
                }
            }
            for (name, before) in old.iter().filter(|(name, _)| !new.contains_key(*name)) {
                let path = format!("{path}/{}", name.replace('/', "~1"));
                if tests {
                    into.push(change("test", &path, before));
                }
                into.push(json!({"op": "remove", "path": path}));
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            let grows = new.len() > old.len();
            if tests && grows {
                into.push(change("test", path, read));
            }
            for (at, value) in new.iter().enumerate() {
                let path = format!("{path}/{at}");
                match old.get(at) {
                    Some(before) => operations_of(before, value, &path, tests && !grows, into),
                    None => into.push(change("add", &path, value)),
                }
            }
        }
        (old, new) => {
            if tests {
                into.push(change("test", path, old));
            }
            into.push(change("replace", path, new));
        }
    }
}

/// Returns the configuration to apply: the identity of the object, and every field that is meant,
/// with the names of items. A plain list and an atomic map are one field.
fn configuration(read: &Value, doing: &Doing) -> Value {
    let mut config = json!({
        "apiVersion": read["apiVersion"], "kind": read["kind"],
        "metadata": {"name": read["metadata"]["name"], "namespace": read["metadata"]["namespace"]},
    });
    let mut edited = read.clone();
    doing.make(&mut edited);
    for (place, value) in &doing.leaves {
        if value.is_none() && owned_as_a_whole(place).is_none() {
            continue;
        }
        let mut one = Doing {
            through: doing.through,
            leaves: vec![(place.clone(), value.clone())],
        };
        if let Some(owner) = owned_as_a_whole(place) {
            let all = find(&edited, owner).cloned();
            one.leaves = vec![(owner.to_vec(), all)];
        }
        one.make(&mut config);
        name_items(&mut config);
    }
    config
}

/// The list or map in which a place is an item or member, if that is owned as a whole.
fn owned_as_a_whole(place: &[super::pairs::Part]) -> Option<&[super::pairs::Part]> {
    use super::pairs::Part;
    let (_, parent) = place.split_last()?;
    let atomic = ["args", "nodeSelector"];
    let is = |name: &str| atomic.contains(&name);
    matches!(parent.last(), Some(Part::Name(name)) if is(name)).then_some(parent)
}

/// An item that was made on the way to a leaf has its name.
fn name_items(config: &mut Value) {
    if let Some(containers) = config.pointer_mut("/spec/template/spec/containers") {
        for container in containers.as_array_mut().into_iter().flatten() {
            if container.get("name").is_none() {
                container["name"] = "nginx".into();
            }
        }
    }
}

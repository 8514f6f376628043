//! Recordings: the content of the files.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::tree::Tree;

/// One recorded history: a hand-made scenario or a random sequence.
#[derive(Clone, Debug, Deserialize)]
pub struct Recording {
    /// Its name, unique among all recordings.
    pub name: String,
    /// The kind of object a random sequence is about.
    #[serde(default)]
    pub kind: Option<String>,
    /// The abilities that a replay needs.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The file it is in, without its endings: known failures are listed by it.
    #[serde(skip)]
    pub corpus: String,
    /// The release that was recorded, such as `v1.36.2`: what a file `RELEASE` in the folder, or
    /// above it, says.
    #[serde(skip)]
    pub release: Option<String>,
    /// The steps, in order.
    #[serde(deserialize_with = "numbered")]
    pub steps: Vec<Step>,
}

/// A step and its answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Members")]
pub struct Step {
    /// A short note on the purpose of the step.
    pub label: Option<String>,
    /// `true` if the answer may differ between two runs of the real server, so that it is not
    /// compared.
    pub nondeterministic: bool,
    /// The action of the step.
    pub action: Action,
    /// The recorded answer.
    pub expected: Answer,
}

/// The action of a step.
#[derive(Clone, Debug)]
pub enum Action {
    /// Sends one request.
    Request(Call),
    /// Puts an object into the store as it was recorded, in place of the request that made it: the
    /// recording begins with what came from elsewhere.
    Install(Tree),
    /// Sends `count` requests at the same moment, told apart by `{i}`.
    Parallel {
        /// The request, with `{i}` for its number in body and query.
        call: Call,
        /// The number of them.
        count: usize,
    },
    /// Opens a watch, reads until it is silent, closes it.
    Watch {
        /// The request that opens it.
        call: Call,
        /// The time without an arrival after which it counts as silent.
        idle: Duration,
    },
    /// Opens a watch that stays open while the next steps run.
    WatchOpen {
        /// The request that opens it.
        call: Call,
        /// Its name.
        id: String,
    },
    /// Reads what arrived on an open watch until it is silent, and closes it.
    WatchClose {
        /// Its name.
        id: String,
        /// The time without an arrival after which it counts as silent.
        idle: Duration,
    },
    /// Lets time pass.
    Sleep(Duration),
    /// Compacts the store.
    Compact {
        /// A template of the revision at which to compact.
        revision: String,
    },
    /// Restarts the server, keeping the store.
    Restart,
}

/// A request; its texts are templates.
#[derive(Clone, Debug)]
pub struct Call {
    /// The actor that sends it: the name at the start of the User-Agent.
    pub actor: String,
    /// The HTTP method.
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// The query, in order.
    pub query: Vec<(String, Tree)>,
    /// The Content-Type.
    pub content_type: Option<String>,
    /// Further headers, which win over the others.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Option<Tree>,
}

/// The answer of a step, recorded or actual. Absent parts are `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The HTTP status.
    pub status: Option<u16>,
    /// The body: JSON, or a string if it was not JSON.
    pub response: Option<Value>,
    /// The events of a watch.
    pub events: Option<Vec<Value>>,
    /// The body, or the list of events, as it was written: with the order of the members.
    pub written: Option<Tree>,
    /// The values of the `Warning` headers.
    pub warnings: Vec<String>,
    /// The `Retry-After` header.
    pub retry_after: Option<String>,
    /// The `Content-Type` header.
    pub content_type: Option<String>,
    /// For parallel requests: how many were answered with each status.
    pub statuses: Option<BTreeMap<String, u64>>,
}

impl Answer {
    /// The answer with the member names of a recording, to which the pointers of differences refer.
    pub fn to_value(&self) -> Value {
        let mut members = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                members.insert(name.to_owned(), value);
            }
        };
        put("status", self.status.map(Value::from));
        put("response", self.response.clone());
        put("events", self.events.clone().map(Value::from));
        put(
            "warnings",
            Some(&self.warnings)
                .filter(|w| !w.is_empty())
                .map(|w| json!(w)),
        );
        put("retry_after", self.retry_after.clone().map(Value::from));
        put(
            "response_content_type",
            self.content_type.clone().map(Value::from),
        );
        put(
            "outcome",
            self.statuses
                .as_ref()
                .map(|statuses| json!({ "statuses": statuses })),
        );
        Value::Object(members)
    }
}

/// The members of a step as they are in a file.
#[derive(Deserialize)]
struct Members {
    label: Option<String>,
    nondeterministic: Option<Value>,
    method: String,
    actor: Option<String>,
    verb: Option<String>,
    path: Option<String>,
    query: Option<Tree>,
    content_type: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "present")]
    body: Option<Tree>,
    status: Option<u16>,
    #[serde(default, deserialize_with = "present")]
    response: Option<Tree>,
    events: Option<Tree>,
    #[serde(default)]
    import: bool,
    import_raw: Option<Tree>,
    #[serde(default)]
    warnings: Vec<String>,
    retry_after: Option<String>,
    response_content_type: Option<String>,
    outcome: Option<Parallel>,
    count: Option<usize>,
    seconds: Option<f64>,
    idle_s: Option<f64>,
    watch_id: Option<String>,
    revision: Option<String>,
}

#[derive(Deserialize)]
struct Parallel {
    statuses: BTreeMap<String, u64>,
}

/// Reads the steps so that an error says which of them it is about.
fn numbered<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Step>, D::Error> {
    struct Steps;
    impl<'de> Visitor<'de> for Steps {
        type Value = Vec<Step>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of steps")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Step>, A::Error> {
            let mut steps = Vec::new();
            let about =
                |number: usize| move |e: A::Error| A::Error::custom(format!("step {number}: {e}"));
            while let Some(step) = list.next_element().map_err(about(steps.len()))? {
                steps.push(step);
            }
            Ok(steps)
        }
    }
    deserializer.deserialize_seq(Steps)
}

/// Reads a member that is there, so that `null` is a value and not an absence.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

fn needed<T>(member: Option<T>, name: &str, method: &str) -> Result<T, String> {
    member.ok_or_else(|| format!("a {method} step needs the member `{name}`"))
}

fn duration(seconds: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(seconds).map_err(|e| format!("{seconds} seconds: {e}"))
}

impl TryFrom<Members> for Step {
    type Error = String;

    fn try_from(m: Members) -> Result<Self, String> {
        let method = m.method;
        let call = |method: String| -> Result<Call, String> {
            Ok(Call {
                actor: needed(m.actor, "actor", &method)?,
                path: needed(m.path, "path", &method)?,
                query: match m.query {
                    None => Vec::new(),
                    Some(Tree::Object(members)) => members,
                    Some(_) => return Err("the member `query` must be an object".to_owned()),
                },
                content_type: m.content_type,
                headers: m.headers,
                body: m.body,
                method,
            })
        };
        let events = m.events.map(without_origins).transpose()?;
        let mut expected = Answer {
            status: m.status,
            response: m.response.as_ref().map(Tree::to_value),
            events: events
                .as_ref()
                .map(|events| events.iter().map(Tree::to_value).collect()),
            written: events.map(Tree::List).or(m.response),
            warnings: m.warnings,
            retry_after: m.retry_after,
            content_type: m.response_content_type,
            statuses: None,
        };
        let action = match method.as_str() {
            "GET" | "POST" | "PUT" | "PATCH" | "DELETE" => {
                needed(expected.status, "status", &method)?;
                needed(expected.response.as_ref(), "response", &method)?;
                expected
                    .content_type
                    .get_or_insert_with(|| "application/json".to_owned());
                match &expected.written {
                    Some(response) if m.import => {
                        let object = installed(response, m.import_raw.as_ref());
                        expected = Answer {
                            response: expected.response,
                            written: expected.written,
                            ..Answer::default()
                        };
                        Action::Install(object)
                    }
                    _ => Action::Request(call(method)?),
                }
            }
            "PARALLEL" => {
                expected.statuses = Some(needed(m.outcome, "outcome", &method)?.statuses);
                let count = needed(m.count, "count", &method)?;
                Action::Parallel {
                    call: call(needed(m.verb, "verb", &method)?)?,
                    count,
                }
            }
            "WATCH" => {
                let idle = duration(m.idle_s.unwrap_or_default())?;
                Action::Watch {
                    call: call("GET".to_owned())?,
                    idle,
                }
            }
            "WATCH_OPEN" => {
                let id = needed(m.watch_id, "watch_id", &method)?;
                Action::WatchOpen {
                    call: call("GET".to_owned())?,
                    id,
                }
            }
            "WATCH_CLOSE" => Action::WatchClose {
                id: needed(m.watch_id, "watch_id", &method)?,
                idle: duration(m.idle_s.unwrap_or_default())?,
            },
            "SLEEP" => Action::Sleep(duration(needed(m.seconds, "seconds", &method)?)?),
            "COMPACT" => Action::Compact {
                revision: needed(m.revision, "revision", &method)?,
            },
            "RESTART" => Action::Restart,
            other => return Err(format!("unknown method {other}")),
        };
        Ok(Step {
            label: m.label,
            nondeterministic: m.nondeterministic.is_some(),
            action,
            expected,
        })
    }
}

/// Events without the notes which steps caused them, which are no part of the events.
fn without_origins(events: Tree) -> Result<Vec<Tree>, String> {
    let Tree::List(mut events) = events else {
        return Err("the member `events` must be a list".to_owned());
    };
    for event in &mut events {
        if let Tree::Object(members) = event {
            members.retain(|(name, _)| name != "from_step");
        }
    }
    Ok(events)
}

/// The recorded object, with its `managedFields` as they were before they were normalized: their
/// times decide their order, and which of them is the oldest.
fn installed(response: &Tree, raw: Option<&Tree>) -> Tree {
    let managed = raw.and_then(|raw| raw.get("metadata")?.get("managedFields"));
    let mut object = response.clone();
    if let (Some(managed), Some(mut metadata)) = (managed, object.get("metadata").cloned()) {
        metadata.insert("managedFields", managed.clone());
        object.insert("metadata", metadata);
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Recording {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn an_absent_body_is_not_a_null_body() {
        let get = r#"{"name":"n","steps":[{"actor":"A","method":"GET","path":"/","status":200,"response":{}}]}"#;
        let patch = get.replace(r#""status""#, r#""body":null,"status""#);
        let body = |text: &str| match parsed(text).steps.remove(0).action {
            Action::Request(call) => call.body,
            other => panic!("{other:?}"),
        };
        assert_eq!(body(get), None);
        assert_eq!(body(&patch), Some(Tree::Null));
    }

    #[test]
    fn the_origin_of_an_event_is_no_part_of_it() {
        let text = r#"{"name":"n","steps":[{"method":"WATCH_CLOSE","watch_id":"w","events":[{"type":"ADDED","from_step":1}]}]}"#;
        let expected = parsed(text).steps.remove(0).expected;
        assert_eq!(expected.events, Some(vec![json!({"type": "ADDED"})]));
    }
}

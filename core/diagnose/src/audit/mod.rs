//! An audit log of kube-apiserver: requests, their senders, and the server's answers.
//!
//! [`AuditReader`] reads the log in slices. [`AuditLog::objects`] lists the objects that it is
//! about. [`RecordedHistory`](recorded::RecordedHistory) replays the requests to one of them, with
//! the core run beside each request, and [`Findings`](findings::Findings) lists fights, lost
//! updates and other findings.

mod allotted;
pub mod findings;
mod lost_updates;
pub mod recorded;
mod run;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use optimist_apiserver::environment::Timestamp;
use optimist_apiserver::limits;
use optimist_apiserver::object::text;
use serde_json::Value;

use crate::input::is_audit;

pub(crate) use allotted::NamedValues;
pub(crate) use run::body_differences;

/// The detail in which the log has a request (`k8s.io/apiserver/pkg/apis/audit/v1 Level`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AuditLevel {
    /// The user, the request and the code of the answer.
    Metadata,
    /// Also the body of the request.
    Request,
    /// Also the body of the answer.
    RequestResponse,
}

/// The object that a request is about (`ObjectReference`). Empty texts are not said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditedObject {
    /// The API group.
    pub group: String,
    /// The version of the group.
    pub version: String,
    /// The resource, in the plural.
    pub resource: String,
    /// The namespace.
    pub namespace: String,
    /// The name; empty for a request to a collection.
    pub name: String,
    /// The subresource.
    pub subresource: String,
}

/// A request with its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEvent {
    /// The line of the log, counted from 1.
    pub line: usize,
    /// The detail in which the log has it.
    pub level: AuditLevel,
    /// The verb: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`.
    pub verb: String,
    /// Path and query.
    pub uri: String,
    /// The user.
    pub user: String,
    /// The User-Agent.
    pub agent: String,
    /// The object.
    pub object: AuditedObject,
    /// The status code of the answer; `None` if the log does not have it.
    pub code: Option<u16>,
    /// The body of the request; `None` if the log does not have it.
    pub request: Option<Arc<Value>>,
    /// The body of the answer; `None` if the log does not have it.
    pub response: Option<Arc<Value>>,
    /// The time when the request arrived, in microseconds since 1970-01-01T00:00:00Z.
    pub received: u64,
    /// The time when the answer was complete, in the same unit. A write took effect before it.
    pub completed: u64,
    /// `true` if the answer was still going on: a watch that is open at the end of the log.
    pub open: bool,
}

impl AuditEvent {
    /// Returns whether it is meant to change an object. A POST that opens a connection, or asks for a token, stores
    /// nothing.
    pub fn is_write(&self) -> bool {
        let stores_nothing = matches!(
            self.object.subresource.as_str(),
            "exec" | "attach" | "portforward" | "proxy" | "token"
        );
        let writes = matches!(
            self.verb.as_str(),
            "create" | "update" | "patch" | "delete" | "deletecollection"
        );
        writes && !stores_nothing
    }

    /// Returns whether the log has the body of the request. A request of a level above `Metadata` that has none was
    /// sent without.
    pub fn has_request(&self) -> bool {
        self.request.is_some() || self.level != AuditLevel::Metadata
    }

    /// Returns whether the server did what was asked.
    pub fn is_accepted(&self) -> bool {
        self.code.is_some_and(|code| code < 300)
    }

    /// Returns whether it is a dry run. A DELETE says it in its body
    /// (`k8s.io/apimachinery/pkg/apis/meta/v1/types.go DeleteOptions`, v0.36).
    pub fn is_dry_run(&self) -> bool {
        let deletes = matches!(self.verb.as_str(), "delete" | "deletecollection");
        let options = self.request.as_deref().filter(|_| deletes);
        let said = options.and_then(|options| options.get("dryRun")?.as_array());
        self.query("dryRun").is_some() || said.is_some_and(|said| !said.is_empty())
    }

    /// An option of the query.
    pub fn query(&self, name: &str) -> Option<String> {
        let (_, query) = self.uri.split_once('?')?;
        let mut options = form_urlencoded::parse(query.as_bytes());
        let found = options.find(|(option, _)| option == name)?;
        Some(found.1.into_owned())
    }

    /// The field manager: the option, or the beginning of the User-Agent
    /// (`k8s.io/apiserver/pkg/endpoints/handlers/create.go managerOrUserAgent`, v1.36).
    pub fn manager(&self) -> String {
        let agent = || self.agent.split('/').next().unwrap_or_default().to_owned();
        let named = self.query("fieldManager").filter(|name| !name.is_empty());
        named.unwrap_or_else(agent)
    }
}

/// A line that is no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProblem {
    /// The line, counted from 1.
    pub line: usize,
    /// The problem, in words.
    pub message: String,
}

impl fmt::Display for LineProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// A log that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditLog {
    /// The requests, in the order of their answers.
    pub events: Vec<Arc<AuditEvent>>,
    /// The first lines that are no events.
    pub problems: Vec<LineProblem>,
    /// The number of lines that are no events.
    pub skipped: usize,
    /// `true` if the log has more events than [`MAX_EVENTS`]; the rest is left out.
    pub cut: bool,
    /// The number of lines.
    lines: usize,
    /// The events whose answer was going on, by their auditID: a later stage takes their place.
    started: BTreeMap<String, Arc<AuditEvent>>,
}

/// The most events that are kept of a log.
pub const MAX_EVENTS: usize = 20_000;

/// The most problems that are kept of a log.
const MAX_PROBLEMS: usize = 20;

/// Reads a log in slices, so that a page stays usable and can stop.
#[derive(Clone, Debug)]
pub struct AuditReader {
    text: Arc<str>,
    at: usize,
    log: AuditLog,
}

impl AuditReader {
    /// A reader at the beginning of a log: JSON lines of `audit.k8s.io` events, documents over many lines
    /// (`jq .`), an array of them (`jq -s .`), or one document with a list of them.
    pub fn new(text: Arc<str>) -> Self {
        Self::after(AuditLog::default(), text)
    }

    /// A reader of the lines that follow a log that was read. What it reads of them is added to the log.
    pub fn after(log: AuditLog, text: Arc<str>) -> Self {
        Self { text, at: 0, log }
    }

    /// Returns the bytes that are read, and those of the whole text.
    pub fn progress(&self) -> (usize, usize) {
        (self.at, self.text.len())
    }

    /// Reads on for about this many bytes, at least one line. Returns whether there is more.
    pub fn advance(&mut self, bytes: usize) -> bool {
        let text = Arc::clone(&self.text);
        let until = self.at.saturating_add(bytes.max(1));
        while self.at < text.len() && self.at < until {
            if self.log.events.len() >= MAX_EVENTS {
                self.log.cut = true;
                self.at = text.len();
                return false;
            }
            let rest = &text[self.at..];
            let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
            self.log.lines += 1;
            let line = rest[..end].trim();
            let whole = rest[..end].len() < rest.len() && line == "{" || line.starts_with('[');
            if whole && text[..self.at].trim().is_empty() {
                // Documents that are printed over many lines.
                self.documents(rest);
                self.at = text.len();
                return false;
            }
            if !line.is_empty() {
                self.document(line);
            }
            self.at += end;
        }
        self.at < text.len()
    }

    /// Reads to the end.
    pub fn finish(mut self) -> AuditLog {
        while self.advance(usize::MAX / 2) {}
        self.log.events.sort_by_key(|event| event.completed);
        self.log
    }

    fn document(&mut self, text: &str) {
        match serde_json::from_str(text) {
            Ok(value) => self.value(&value),
            Err(error) => self.skip(error.to_string()),
        }
    }

    /// Documents that follow each other.
    fn documents(&mut self, text: &str) {
        for document in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            match document {
                Ok(value) => self.value(&value),
                Err(error) => self.skip(error.to_string()),
            }
            if self.log.events.len() >= MAX_EVENTS {
                self.log.cut = true;
                return;
            }
        }
    }

    fn value(&mut self, value: &Value) {
        let items = value.get("items").filter(|_| is_audit(value));
        match items.unwrap_or(value).as_array() {
            Some(all) if items.is_some() || !all.is_empty() => {
                all.iter().for_each(|item| self.event(item));
            }
            _ => self.event(value),
        }
    }

    fn skip(&mut self, message: String) {
        self.log.skipped += 1;
        if self.log.problems.len() < MAX_PROBLEMS {
            let line = self.log.lines;
            self.log.problems.push(LineProblem { line, message });
        }
    }

    fn event(&mut self, value: &Value) {
        if !is_audit(value) && text(value, "kind") != "Event" {
            return self.skip("it is no event of an audit log".to_owned());
        }
        if let Err(refusal) = limits::check(value) {
            return self.skip(refusal.message);
        }
        let stage = text(value, "stage");
        if stage == "RequestReceived" {
            return;
        }
        let Some(event) = read(value, self.log.lines) else {
            return self.skip("it has no verb, no requestURI or no time".to_owned());
        };
        let id = text(value, "auditID");
        let event = Arc::new(event);
        if let Some(started) = self.log.started.remove(id)
            && let Some(known) = self
                .log
                .events
                .iter_mut()
                .find(|it| Arc::ptr_eq(it, &started))
        {
            // The last stage of a request has all that earlier ones have.
            *known = event;
            return;
        }
        if event.open && !id.is_empty() {
            let started = Arc::clone(&event);
            self.log.started.insert(id.to_owned(), started);
        }
        self.log.events.push(event);
    }
}

impl AuditLog {
    /// The objects with requests by name, those with the most writes first.
    pub fn objects(&self) -> Vec<(AuditedObject, usize)> {
        let mut found: Vec<(AuditedObject, usize)> = Vec::new();
        let mut positions: BTreeMap<[&str; 4], usize> = BTreeMap::new();
        for event in self
            .events
            .iter()
            .filter(|event| !event.object.name.is_empty())
        {
            let at = *positions.entry(event.object.identity()).or_insert_with(|| {
                let object = AuditedObject {
                    subresource: String::new(),
                    ..event.object.clone()
                };
                found.push((object, 0));
                found.len() - 1
            });
            found[at].1 += usize::from(event.is_write());
        }
        found.sort_by_key(|(_, writes)| std::cmp::Reverse(*writes));
        found
    }

    /// The first requests of the log.
    #[must_use]
    pub fn first(&self, requests: usize) -> Self {
        Self {
            events: self.events.iter().take(requests).cloned().collect(),
            ..Self::default()
        }
    }

    /// Returns whether this log is an earlier one with more requests after it: what was computed of the earlier
    /// ones is true of this one.
    pub fn continues(&self, earlier: &Self) -> bool {
        let mut known = self.events.iter().zip(&earlier.events);
        self.events.len() >= earlier.events.len()
            && known.all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

impl AuditedObject {
    /// Returns whether both are the same object. The version of the group does not tell objects apart.
    pub fn is(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    /// The parts of its identity: group, resource, namespace and name.
    fn identity(&self) -> [&str; 4] {
        [&self.group, &self.resource, &self.namespace, &self.name]
    }

    /// Returns whether a request to this collection or object can be about another object of the same
    /// collection, also of the collection of all namespaces.
    pub fn is_beside(&self, other: &Self) -> bool {
        let namespaces = [&self.namespace, &other.namespace];
        self.group == other.group
            && self.resource == other.resource
            && (namespaces[0] == namespaces[1] || namespaces.iter().any(|it| it.is_empty()))
    }
}

/// Returns whether a line of a log names an object: requests of clients about the API itself do
/// not.
pub fn names_object(line: &str) -> bool {
    let event: Result<Value, _> = serde_json::from_str(line);
    event.is_ok_and(|event| event.get("objectRef").is_some())
}

/// Reads the event of a document; `None` if it is no request.
fn read(value: &Value, line: usize) -> Option<AuditEvent> {
    let owned = |value: &Value, field: &str| text(value, field).to_owned();
    let (verb, uri) = (owned(value, "verb"), owned(value, "requestURI"));
    let received = micros(text(value, "requestReceivedTimestamp"))?;
    let completed = micros(text(value, "stageTimestamp")).unwrap_or(received);
    if verb.is_empty() || !uri.starts_with('/') {
        return None;
    }
    let object = value.get("objectRef").unwrap_or(&Value::Null);
    let code = value
        .pointer("/responseStatus/code")
        .and_then(Value::as_u64);
    let body = |field: &str| value.get(field).filter(|it| !it.is_null()).cloned();
    Some(AuditEvent {
        line,
        level: match text(value, "level") {
            "RequestResponse" => AuditLevel::RequestResponse,
            "Request" => AuditLevel::Request,
            _ => AuditLevel::Metadata,
        },
        verb,
        uri,
        user: owned(value.get("user").unwrap_or(&Value::Null), "username"),
        agent: owned(value, "userAgent"),
        object: AuditedObject {
            group: owned(object, "apiGroup"),
            version: owned(object, "apiVersion"),
            resource: owned(object, "resource"),
            namespace: owned(object, "namespace"),
            name: owned(object, "name"),
            subresource: owned(object, "subresource"),
        },
        code: code.and_then(|code| u16::try_from(code).ok()),
        request: body("requestObject").map(Arc::new),
        response: body("responseObject").map(Arc::new),
        received,
        completed,
        open: text(value, "stage") == "ResponseStarted",
    })
}

/// A time of the log (`metav1.MicroTime`), in microseconds since 1970-01-01T00:00:00Z.
fn micros(time: &str) -> Option<u64> {
    let seconds = Timestamp::parse(time)?.seconds;
    let fraction = time.split_once('.').map_or("", |(_, rest)| rest);
    let digits: String = fraction
        .chars()
        .take_while(char::is_ascii_digit)
        .take(6)
        .collect();
    let parsed: u64 = format!("{digits:0<6}").parse().ok()?;
    seconds.checked_mul(1_000_000)?.checked_add(parsed)
}

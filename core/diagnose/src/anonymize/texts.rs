//! The texts of a case, rewritten leaf by leaf.

use std::collections::BTreeMap;
use std::sync::Arc;

use optimist_apiserver::object::text;
use optimist_apiserver::schema::Struct;
use optimist_apiserver::server::Resources;
use serde_json::{Map, Value};

use super::leaves::{self, Use, Visit};
use crate::case::{Case, ObjectId};
use crate::input::Input;
use crate::message::{ReportedError, reported_errors};

/// The types of kinds.
#[derive(Clone, Debug)]
pub(super) struct Roots {
    /// By group and kind, those of the objects of the case.
    known: BTreeMap<(String, String), Arc<Struct>>,
    builtin: Resources,
}

impl Roots {
    pub(super) fn read<'a>(input: impl Iterator<Item = &'a Input>) -> Self {
        let input: Vec<Input> = input.cloned().collect();
        let mut known = BTreeMap::new();
        for case in Case::all_of(&input) {
            if let Ok(installed) = case.install() {
                let root = Arc::clone(&installed.resource().root);
                known.insert((case.id.group.clone(), case.id.kind.clone()), root);
            }
        }
        Self {
            known,
            builtin: Resources::builtin(),
        }
    }

    fn visit(&self, object: &mut Value, visit: &mut Visit<'_>) {
        let id = ObjectId::from_object(object);
        let root = self.known.get(&(id.group, id.kind)).or_else(|| {
            let builtin = self
                .builtin
                .by_kind(text(object, "apiVersion"), text(object, "kind"));
            builtin.map(|resource| &*resource.root)
        });
        let root = root.cloned();
        if let Some(root) = &root {
            leaves::defaults(object, root, visit);
        }
        leaves::object(object, root.as_deref(), visit);
    }
}

/// The text of a thing, with each leaf as `visit` leaves it.
pub(super) fn rewrite(input: &Input, whole: &str, roots: &Roots, visit: &mut Visit<'_>) -> String {
    match input {
        Input::AuditLog(_) => whole
            .lines()
            .filter_map(|line| {
                let mut event: Value = serde_json::from_str(line).ok()?;
                for body in ["requestObject", "responseObject"] {
                    if let Some(body) = event.get_mut(body) {
                        of_request(body, roots, visit);
                    }
                }
                Some(format!("{event}\n"))
            })
            .collect(),
        Input::Errors(_) => {
            let mut message = Value::from(whole);
            visit(&mut message, Use::Message);
            text_of(message)
        }
        structured => {
            let mut structured = structured.clone();
            objects(&mut structured, roots, visit);
            structured.to_text()
        }
    }
}

fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn objects(input: &mut Input, roots: &Roots, visit: &mut Visit<'_>) {
    match input {
        Input::Live(object) | Input::Manifest(object) => roots.visit(object, visit),
        Input::Several(several) => several
            .iter_mut()
            .for_each(|one| objects(one, roots, visit)),
        Input::Versions { versions, .. } => versions
            .iter_mut()
            .for_each(|version| roots.visit(Arc::make_mut(&mut version.object), visit)),
        Input::Definition(_) | Input::AuditLog(_) | Input::Errors(_) => {}
    }
}

/// The body of a request or of its answer.
fn of_request(body: &mut Value, roots: &Roots, visit: &mut Visit<'_>) {
    match text(body, "kind") {
        "Status" => return status(body, visit),
        "DeleteOptions" => return,
        _ => {}
    }
    if let Value::Array(operations) = body {
        for operation in operations {
            if let Some(value) = operation.get_mut("value") {
                leaves::object(value, None, visit);
            }
        }
        return;
    }
    match body.get_mut("items").and_then(Value::as_array_mut) {
        Some(items) => items.iter_mut().for_each(|item| roots.visit(item, visit)),
        None => roots.visit(body, visit),
    }
}

/// A refusal: its texts can name values.
fn status(body: &mut Value, visit: &mut Visit<'_>) {
    let mut message = |value: Option<&mut Value>| {
        if let Some(value) = value {
            visit(value, Use::Message);
        }
    };
    message(body.get_mut("message"));
    let causes = body.pointer_mut("/details/causes");
    for cause in causes.and_then(Value::as_array_mut).into_iter().flatten() {
        message(cause.get_mut("message"));
        message(cause.get_mut("field"));
    }
}

/// The most bytes that are read to find the needed lines of a text.
const MAX_READ: usize = 50_000_000;

/// The lines of a text without which its messages would not be read as they are; `None` if that
/// takes too long.
pub(crate) fn needed_lines(whole: &str, errors: &[ReportedError]) -> Option<String> {
    let mut read = 0;
    let lines: Vec<&str> = whole.lines().collect();
    let mut needed = vec![true; lines.len()];
    let mut ranges = vec![(0, lines.len())];
    while let Some((begin, end)) = ranges.pop() {
        if begin == end {
            continue;
        }
        let mut fewer = needed.clone();
        fewer[begin..end].fill(false);
        let kept = lines.iter().zip(&fewer).filter(|(_, kept)| **kept);
        let kept: Vec<&str> = kept.map(|(line, _)| *line).collect();
        let kept = kept.join("\n");
        read += kept.len();
        if read > MAX_READ {
            return None;
        }
        if reported_errors(&kept) == errors {
            needed = fewer;
        } else if end - begin > 1 {
            let middle = begin.midpoint(end);
            ranges.extend([(begin, middle), (middle, end)]);
        }
    }
    let kept = lines.iter().zip(&needed).filter(|(_, kept)| **kept);
    let kept: Vec<&str> = kept.map(|(line, _)| *line).collect();
    Some(kept.join("\n"))
}

/// The fields of an event that are read.
const OF_EVENT: [&str; 12] = [
    "kind",
    "apiVersion",
    "level",
    "auditID",
    "stage",
    "verb",
    "userAgent",
    "objectRef",
    "requestObject",
    "responseObject",
    "requestReceivedTimestamp",
    "stageTimestamp",
];

/// The options of a request that are read, or that change its answer.
const OPTIONS: [&str; 8] = [
    "fieldManager",
    "force",
    "dryRun",
    "fieldValidation",
    "propagationPolicy",
    "gracePeriodSeconds",
    "watch",
    "resourceVersion",
];

/// Returns the parts of a log that the crate reads: neither addresses nor groups of users, neither
/// selectors nor annotations.
pub(crate) fn needed_of_log(log: &str) -> String {
    let mut out = String::new();
    for document in serde_json::Deserializer::from_str(log)
        .into_iter::<Value>()
        .map_while(Result::ok)
        .chain(lines_of_cut(log))
    {
        match document.get("items").and_then(Value::as_array) {
            Some(items) => items.iter().for_each(|item| event(item, &mut out)),
            None => event(&document, &mut out),
        }
    }
    out
}

/// The events of a log of which not all is JSON: each line by itself.
fn lines_of_cut(log: &str) -> impl Iterator<Item = Value> {
    let whole = serde_json::Deserializer::from_str(log)
        .into_iter::<Value>()
        .all(|document| document.is_ok());
    let lines = log.lines().filter(move |_| !whole);
    lines.filter_map(|line| serde_json::from_str(line).ok())
}

fn event(event: &Value, out: &mut String) {
    let mut needed = Map::new();
    for name in OF_EVENT {
        if let Some(value) = event.get(name) {
            needed.insert(name.to_owned(), value.clone());
        }
    }
    let path = text(event, "requestURI");
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let options = form_urlencoded::parse(query.as_bytes());
    let options = options.filter(|(name, _)| OPTIONS.contains(&&**name));
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(options)
        .finish();
    let uri = match query.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{query}"),
    };
    needed.insert("requestURI".to_owned(), uri.into());
    let user = event.pointer("/user/username").cloned();
    needed.insert(
        "user".to_owned(),
        serde_json::json!({"username": user.unwrap_or_default()}),
    );
    if let Some(code) = event.pointer("/responseStatus/code") {
        needed.insert(
            "responseStatus".to_owned(),
            serde_json::json!({"code": code}),
        );
    }
    out.push_str(&format!("{}\n", Value::Object(needed)));
}

//! Error messages that controllers keep in the status of an object.

use serde_json::Value;

use super::Input;
use super::parts::MAX_WORDS;
use crate::message::reported_errors;

/// The places in an object where a controller says what went wrong. Flux and most others have conditions; Argo CD says it
/// of a sync and of each of its resources, too (`argo-cd/pkg/apis/application/v1alpha1/types.go OperationState`, v3.5).
const MESSAGES: [(&str, bool); 3] = [
    ("/status/conditions", true),
    ("/status/operationState", false),
    ("/status/operationState/syncResult/resources", true),
];

/// Returns the error messages in the status of the objects of an input, each once, as a text of their own; `None` if there
/// are none. An object says what it is, and not that a write failed: its messages are a case of their own.
pub fn condition_messages<'a>(input: impl IntoIterator<Item = &'a Input>) -> Option<String> {
    let mut found: Vec<String> = Vec::new();
    let mut size = 0;
    for object in input.into_iter().flat_map(objects) {
        for message in messages(object) {
            size += message.len();
            if size > MAX_WORDS {
                break;
            }
            let is_new = !found.iter().any(|it| it == message);
            if is_new && !reported_errors(message).is_empty() {
                found.push(message.to_owned());
            }
        }
    }
    // Words of a tool in one message say nothing of the next one.
    (!found.is_empty()).then(|| found.join(&"\n".repeat(SPACE)))
}

/// The lines between two messages: more than those around a message that are read as part of it.
const SPACE: usize = 24;

/// The objects of an input, without those of watch events.
fn objects(input: &Input) -> Vec<&Value> {
    match input {
        Input::Live(object) | Input::Manifest(object) | Input::Definition(object) => vec![object],
        Input::Several(all) => all.iter().flat_map(objects).collect(),
        Input::Versions { versions, .. } => {
            let read = versions.iter().filter(|version| version.event.is_none());
            read.map(|version| &*version.object).collect()
        }
        Input::AuditLog(_) | Input::Errors(_) => Vec::new(),
    }
}

/// The messages of an object, as far as it is one: a `Status` has its message elsewhere.
fn messages(object: &Value) -> impl Iterator<Item = &str> {
    let has_type = object["apiVersion"].is_string() && object["kind"].is_string();
    let places = MESSAGES.iter().filter(move |_| has_type);
    places.flat_map(|(place, is_list)| {
        let value = object.pointer(place);
        let items = match value {
            Some(Value::Array(items)) if *is_list => items.as_slice(),
            Some(one) if !*is_list => std::slice::from_ref(one),
            _ => &[],
        };
        items.iter().filter_map(|it| it["message"].as_str())
    })
}

//! Addresses and ports that a server chooses for a Service (`pkg/registry/core/service/storage/alloc.go`, v1.36):
//! another server chooses others, and both are right.

use std::collections::BTreeSet;

use optimist_apiserver::object::text;
use serde_json::Value;

/// The values that a server could not choose in an answer, because the stored object had them or the request names
/// them.
#[derive(Debug, Default)]
pub(crate) struct NamedValues(BTreeSet<String>);

/// The members of a Service that a server fills in, with their placeholders in recordings.
fn placeholder(member: &str) -> Option<&'static str> {
    match member {
        "clusterIP" | "clusterIPs" => Some("<clusterIP>"),
        "nodePort" | "healthCheckNodePort" => Some("<nodePort>"),
        _ => None,
    }
}

impl NamedValues {
    /// Those of a request, and of the object before it. `None` for an object that the core computed: it has the
    /// core's choice.
    pub(crate) fn new(before: Option<&Value>, request: Option<&Value>) -> Self {
        let mut named = Self::default();
        for value in [before, request].into_iter().flatten() {
            named.add(value, "");
        }
        named
    }

    fn add(&mut self, value: &Value, member: &str) {
        match value {
            Value::Object(members) => members.iter().for_each(|(name, it)| self.add(it, name)),
            Value::Array(items) => items.iter().for_each(|it| self.add(it, member)),
            // The operation of a JSON patch has its value under this name.
            _ if placeholder(member).is_some() || member == "value" => {
                self.0.insert(value.to_string());
            }
            _ => {}
        }
    }

    /// Puts placeholders in the place of what the server chose for a Service. Another object stays as it is.
    pub(crate) fn hide_others(&self, answer: &mut Value) {
        let is_service = text(answer, "kind") == "Service" && text(answer, "apiVersion") == "v1";
        if let Some(spec) = answer.get_mut("spec").filter(|_| is_service) {
            self.hide(spec, "");
        }
    }

    fn hide(&self, value: &mut Value, member: &str) {
        match value {
            Value::Object(members) => members
                .iter_mut()
                .for_each(|(name, it)| self.hide(it, name)),
            Value::Array(items) => items.iter_mut().for_each(|it| self.hide(it, member)),
            // No address, by wish.
            Value::String(none) if none == "None" => {}
            _ => {
                let placeholder = placeholder(member);
                if let Some(placeholder) =
                    placeholder.filter(|_| !self.0.contains(&value.to_string()))
                {
                    *value = placeholder.into();
                }
            }
        }
    }
}

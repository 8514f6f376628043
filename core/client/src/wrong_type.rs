//! Strings of an object that are none: YAML reads some words without quotes as another type.

use std::fmt;

use optimist_apiserver::go::json_kind;
use optimist_apiserver::object::Metadata;
use serde_json::Value;

/// A field of an object that has to be a string, and is another type. `null` is the same as no field
/// (`encoding/json Unmarshal`).
#[derive(Clone, Debug, PartialEq)]
pub struct WrongType {
    /// Its path: `metadata.namespace`, `metadata.labels[tier]`.
    pub field: String,
    /// Its value.
    pub value: Value,
    /// The words of the decoder with which kubectl and Helm read the metadata of a manifest
    /// (`k8s.io/cli-runtime/pkg/resource/metadata_decoder.go Decode`, v0.36). Empty for another field.
    pub error: String,
}

impl WrongType {
    /// Returns the first string of an object that is none: its version, its kind, its names, a label or an annotation.
    pub fn in_object(object: &Value) -> Option<Self> {
        let in_identity = ["apiVersion", "kind"].into_iter().find_map(|field| {
            let value = not_string(object.get(field)?)?;
            Some(Self::new(field.to_owned(), value, String::new()))
        });
        let in_map = || {
            ["labels", "annotations"].into_iter().find_map(|field| {
                let entries = object.metadata()?.get(field)?.as_object()?;
                let (key, value) = entries
                    .iter()
                    .find(|(_, value)| not_string(value).is_some())?;
                let path = format!("metadata.{field}[{key}]");
                Some(Self::new(path, value, error(field, value)))
            })
        };
        in_identity
            .or_else(|| Self::in_names(object))
            .or_else(in_map)
    }

    /// Returns the first name of an object that is no string.
    pub fn in_names(object: &Value) -> Option<Self> {
        let meta = object.metadata()?;
        ["name", "generateName", "namespace"]
            .into_iter()
            .find_map(|field| {
                let value = not_string(meta.get(field)?)?;
                Some(Self::new(
                    format!("metadata.{field}"),
                    value,
                    error(field, value),
                ))
            })
    }

    /// Returns what kubectl and Helm do with such a manifest.
    pub fn refusal(&self) -> String {
        match self.error.as_str() {
            "" => "kubectl and Helm refuse the object.".to_owned(),
            error => format!("kubectl and Helm refuse the object: {error}"),
        }
    }

    fn new(field: String, value: &Value, error: String) -> Self {
        Self {
            field,
            value: value.clone(),
            error,
        }
    }
}

fn not_string(value: &Value) -> Option<&Value> {
    (!value.is_string() && !value.is_null()).then_some(value)
}

fn error(field: &str, value: &Value) -> String {
    let kind = json_kind(value);
    format!(
        "json: cannot unmarshal {kind} into Go struct field ObjectMeta.metadata.{field} of type string"
    )
}

impl fmt::Display for WrongType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (field, value) = (&self.field, &self.value);
        // `go.yaml.in/yaml/v2/resolve.go`, with which `sigs.k8s.io/yaml` reads.
        match value {
            Value::Bool(true) => write!(
                f,
                "{field} is the boolean true: without quotes, YAML reads y, yes, on and true so. Put the value in quotes."
            ),
            Value::Bool(false) => write!(
                f,
                "{field} is the boolean false: without quotes, YAML reads n, no, off and false so. Put the value in quotes."
            ),
            Value::Number(_) => write!(
                f,
                "{field} is the number {value}: without quotes, YAML reads a number. Put the value in quotes."
            ),
            Value::Array(_) => write!(f, "{field} is a list. It must be a string."),
            _ => write!(f, "{field} is a map. It must be a string."),
        }
    }
}

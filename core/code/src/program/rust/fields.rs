//! Finds a field in a Rust object, and its type.

use std::sync::Arc;

use optimist_apiserver::schema::Struct;

use super::Rust;
use crate::kube_rs::string;
use crate::program::template::path;

/// A field that is read, as a Rust expression.
pub(super) enum RustField {
    /// A `serde_json::Value`.
    Json(String),
    /// An `Option<i64>`.
    Integer(String),
    /// An `Option<String>`.
    Text(String),
    /// An `Option<&String>`.
    BorrowedText(String),
}

impl RustField {
    /// Writes the expression without a conversion.
    pub(super) fn plain(&self) -> &str {
        match self {
            Self::Json(text)
            | Self::Integer(text)
            | Self::Text(text)
            | Self::BorrowedText(text) => text,
        }
    }

    /// Writes an `Option<i64>`.
    pub(super) fn integer(&self) -> String {
        match self {
            Self::Json(text) => format!("{text}.as_i64()"),
            Self::Integer(text) => text.clone(),
            Self::Text(_) | Self::BorrowedText(_) => "None::<i64>".to_owned(),
        }
    }

    /// Writes an `Option<&str>`.
    pub(super) fn borrowed(&self) -> String {
        match self {
            Self::Json(text) => format!("{text}.as_str()"),
            Self::Integer(_) => "None::<&str>".to_owned(),
            Self::Text(text) => format!("{text}.as_deref()"),
            Self::BorrowedText(text) => format!("{text}.map(String::as_str)"),
        }
    }

    /// Writes a `String`, which is empty if the object has no such field.
    pub(super) fn owned(&self) -> String {
        match self {
            Self::Json(text) => format!("text(&{text})"),
            Self::Integer(text) => format!("text(&json!({text}))"),
            Self::Text(text) => format!("{text}.unwrap_or_default()"),
            Self::BorrowedText(text) => format!("{text}.cloned().unwrap_or_default()"),
        }
    }
}

impl Rust<'_> {
    /// The struct of a variable's kind, if `k8s-openapi` has its type.
    pub(super) fn root(&self, name: &str, number: usize) -> Option<Arc<Struct>> {
        let kind = self.variables.kind_at(name, number)?;
        let resource = self.resources.by_kind(&kind.api_version, &kind.kind)?;
        self.is_typed(&kind).then(|| Arc::clone(&resource.root))
    }

    /// A field of the object of a variable.
    pub(super) fn field(&self, name: &str, pointer: &str, number: usize) -> RustField {
        let object = self.named(name, number);
        let path = path(pointer);
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["metadata", "generation"] => {
                RustField::Integer(format!("{object}.metadata.generation"))
            }
            ["metadata", "uid"] => RustField::Text(format!("{object}.uid()")),
            ["metadata", "resourceVersion"] => {
                RustField::Text(format!("{object}.resource_version()"))
            }
            ["metadata", "namespace"] => RustField::Text(format!("{object}.namespace()")),
            ["metadata", "name"] => RustField::Text(format!("{object}.metadata.name.clone()")),
            ["metadata", map @ ("labels" | "annotations"), key] => {
                RustField::BorrowedText(format!("{object}.{map}().get({})", string(key)))
            }
            [
                "metadata",
                "ownerReferences",
                index,
                field @ ("name" | "uid" | "kind"),
            ] if index.parse::<usize>().is_ok() => {
                let item = match *index {
                    "0" => "first()".to_owned(),
                    index => format!("get({index})"),
                };
                RustField::BorrowedText(format!(
                    "{object}.owner_references().{item}.map(|owner| &owner.{field})"
                ))
            }
            ["metadata", ..] => self.any(name, pointer, number),
            parts if self.root(name, number).is_none() => {
                let place: String = parts.iter().map(|part| index(part)).collect();
                RustField::Json(format!("{object}.data{place}"))
            }
            ["data", key] if self.is_config_map(name, number) => RustField::BorrowedText(format!(
                "{object}.data.as_ref().and_then(|data| data.get({}))",
                string(key)
            )),
            _ => self.any(name, pointer, number),
        }
    }

    fn is_config_map(&self, name: &str, number: usize) -> bool {
        self.variables
            .kind_at(name, number)
            .is_some_and(|kind| kind.api_version == "v1" && kind.kind == "ConfigMap")
    }

    /// A field of a type without a shorter way to it.
    fn any(&self, name: &str, pointer: &str, number: usize) -> RustField {
        let object = self.reference(name, number);
        RustField::Json(format!("field({object}, {})", string(pointer)))
    }
}

/// A member or an item of a `Value`.
pub(super) fn index(part: &str) -> String {
    match part.parse::<usize>() {
        Ok(index) => format!("[{index}]"),
        Err(_) => format!("[{}]", string(part)),
    }
}

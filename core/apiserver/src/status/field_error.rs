//! Errors in fields.

use std::fmt;

use serde_json::Value;

use super::Cause;
use crate::field::ErrorPath;
use crate::go;

/// An error in a field (`k8s.io/apimachinery/pkg/util/validation/field`).
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// The kind of mistake.
    pub problem: Problem,
    /// The field's path, `spec.template.spec.containers[0].image`.
    pub field: String,
    /// The value as the message shows it; `None` where the message shows none.
    pub value: Option<String>,
    /// The description of the error.
    pub detail: String,
}

/// `field.ErrorType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Problem {
    Required,
    Invalid,
    TypeInvalid,
    Forbidden,
    Duplicate,
    NotSupported,
    TooLong,
    TooMany,
    NotFound,
    Internal,
}

impl FieldError {
    /// A required field is missing.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::without_value(Problem::Required, field, detail)
    }

    /// A value that is wrong.
    pub fn invalid(field: impl Into<String>, value: &Value, detail: impl Into<String>) -> Self {
        Self::with_value(Problem::Invalid, field, value, detail)
    }

    /// Something that may not be there.
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::without_value(Problem::Forbidden, field, detail)
    }

    /// Something that is there twice.
    pub fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        Self::with_value(Problem::Duplicate, field, value, "")
    }

    /// A value outside an enumeration.
    pub fn not_supported(field: impl Into<String>, value: &Value, supported: &[&str]) -> Self {
        let quoted: Vec<String> = supported.iter().map(|text| go::quote(text)).collect();
        let detail = format!("supported values: {}", quoted.join(", "));
        Self::with_value(Problem::NotSupported, field, value, detail)
    }

    /// Something that the server cannot do.
    pub fn internal(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::without_value(Problem::Internal, field, detail)
    }

    /// More bytes than allowed; the value is not shown.
    pub fn too_long(field: impl Into<String>, most: usize) -> Self {
        let detail = format!("may not be more than {most} bytes");
        Self::without_value(Problem::TooLong, field, detail)
    }

    /// An error that shows the value.
    pub fn with_value(
        problem: Problem,
        field: impl Into<String>,
        value: &Value,
        detail: impl Into<String>,
    ) -> Self {
        let value = match value {
            Value::String(text) => go::quote(text),
            Value::Number(number) => go::number(number),
            other => crate::json::sorted_text(other),
        };
        Self {
            problem,
            field: field.into(),
            value: Some(value),
            detail: detail.into(),
        }
    }

    /// It, for a field of an object that is at a path inside of another one.
    #[must_use]
    pub(crate) fn below(mut self, path: &ErrorPath<'_>) -> Self {
        self.field = format!("{path}.{}", self.field);
        self
    }

    /// An error that shows the value as this text.
    pub fn shown_as(mut self, value: String) -> Self {
        self.value = Some(value);
        self
    }

    /// An error that does not show the value.
    pub fn without_value(
        problem: Problem,
        field: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            problem,
            field: field.into(),
            value: None,
            detail: detail.into(),
        }
    }

    /// Returns whether rules in CEL cannot be evaluated on an object with this mistake
    /// (`hasBlockingErr` of the custom resource strategy).
    pub fn hinders_rules(&self) -> bool {
        matches!(
            self.problem,
            Problem::NotSupported
                | Problem::Required
                | Problem::TooLong
                | Problem::TooMany
                | Problem::TypeInvalid
        )
    }

    pub(super) fn body(&self) -> String {
        let mut body = match self.problem {
            Problem::Required => "Required value",
            Problem::Invalid | Problem::TypeInvalid => "Invalid value",
            Problem::Forbidden => "Forbidden",
            Problem::Duplicate => "Duplicate value",
            Problem::NotSupported => "Unsupported value",
            Problem::TooLong => "Too long",
            Problem::TooMany => "Too many",
            Problem::NotFound => "Not found",
            Problem::Internal => "Internal error",
        }
        .to_owned();
        for part in self.value.iter().chain([&self.detail]) {
            if !part.is_empty() {
                body.push_str(": ");
                body.push_str(part);
            }
        }
        body
    }

    pub(super) fn cause(&self) -> Cause {
        let reason = match self.problem {
            Problem::Required => "FieldValueRequired",
            Problem::Invalid => "FieldValueInvalid",
            Problem::TypeInvalid => "FieldValueTypeInvalid",
            Problem::Forbidden => "FieldValueForbidden",
            Problem::Duplicate => "FieldValueDuplicate",
            Problem::NotSupported => "FieldValueNotSupported",
            Problem::TooLong => "FieldValueTooLong",
            Problem::TooMany => "FieldValueTooMany",
            Problem::NotFound => "FieldValueNotFound",
            Problem::Internal => "InternalError",
        };
        Cause {
            reason,
            message: self.body(),
            field: self.field.clone(),
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

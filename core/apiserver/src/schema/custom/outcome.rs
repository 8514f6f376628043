//! The result of a validation (`k8s.io/kube-openapi/pkg/validation/validate/result.go` and
//! `pkg/validation/errors`), and the errors that the API server reports from it
//! (`kubeOpenAPIResultToFieldErrors` of `pkg/apiserver/validation/validation.go`).

use std::collections::HashSet;

use serde_json::Value;

use crate::go;
use crate::status::{FieldError, Problem};

/// The mistakes in a value.
#[derive(Debug, Default)]
pub(super) struct SchemaOutcome {
    pub(super) mistakes: Vec<Mistake>,
    /// The number of checks that passed: if several alternatives all fail, the server shows the
    /// errors of the one that came furthest.
    pub(super) matched: usize,
    /// The texts of the mistakes.
    told: HashSet<String>,
}

/// One thing that is wrong.
#[derive(Clone, Debug)]
pub(super) struct Mistake {
    /// The field and its problem; `None` for an error that names no field.
    about: Option<About>,
    text: String,
}

#[derive(Clone, Debug)]
struct About {
    path: String,
    report: ReportForm,
}

/// The form in which a mistake is reported.
#[derive(Clone, Debug)]
pub(super) enum ReportForm {
    Required,
    /// Outside of an enumeration.
    NotAmong(Value, Vec<Value>),
    TooLong(i64),
    /// The actual number and the maximum.
    TooMany(usize, i64),
    /// Of the wrong type; the value shown may be the name of its type.
    Type(Value),
    Invalid(Value),
}

impl Mistake {
    pub(super) fn new(path: &str, report: ReportForm, text: String) -> Self {
        Self {
            about: Some(About {
                path: path.to_owned(),
                report,
            }),
            text,
        }
    }

    pub(super) fn general(text: String) -> Self {
        Self { about: None, text }
    }

    /// Returns the error that the API server shows; `prefix` is the path of the validated value in
    /// the object.
    pub(super) fn report(self, prefix: &str) -> FieldError {
        let nowhere = || match prefix {
            "" => "<nil>".to_owned(),
            prefix => prefix.to_owned(),
        };
        let Some(About { path, report }) = self.about else {
            return FieldError::invalid(nowhere(), &"".into(), self.text);
        };
        let path = path.strip_prefix('.').unwrap_or(&path);
        let field = match (prefix, path) {
            (_, "") => nowhere(),
            ("", path) => path.to_owned(),
            (prefix, path) => format!("{prefix}.{path}"),
        };
        match report {
            ReportForm::Required => FieldError::required(field, ""),
            ReportForm::NotAmong(value, choices) => {
                let choices: Vec<String> = choices
                    .iter()
                    .map(|choice| {
                        choice
                            .as_str()
                            .map_or_else(|| go::json(choice), str::to_owned)
                    })
                    .collect();
                let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
                FieldError::not_supported(field, &value, &choices)
            }
            ReportForm::TooLong(most) => {
                let unit = if most == 1 { "byte" } else { "bytes" };
                let detail = format!("may not be more than {most} {unit}");
                FieldError::without_value(Problem::TooLong, field, detail)
            }
            ReportForm::TooMany(actual, most) => {
                let unit = if most == 1 { "item" } else { "items" };
                let detail = format!("must have at most {most} {unit}");
                FieldError::with_value(Problem::TooMany, field, &actual.into(), detail)
            }
            ReportForm::Type(value) => {
                FieldError::with_value(Problem::TypeInvalid, field, &value, self.text)
            }
            ReportForm::Invalid(value) => FieldError::invalid(field, &value, self.text),
        }
    }
}

impl SchemaOutcome {
    pub(super) fn is_valid(&self) -> bool {
        self.mistakes.is_empty()
    }

    /// Adds an error. Errors with the same text are reported once.
    pub(super) fn add(&mut self, mistake: Mistake) {
        if self.told.insert(mistake.text.clone()) {
            self.mistakes.push(mistake);
        }
    }

    pub(super) fn merge(&mut self, other: SchemaOutcome) {
        self.matched += other.matched;
        other.mistakes.into_iter().for_each(|m| self.add(m));
    }
}

/// The error of a rule in CEL with this reason (`fieldErrorForReason`): objects and lists are not shown.
pub(super) fn error_for(reason: &str, value: &Value, field: String, detail: String) -> FieldError {
    let problem = match reason {
        "FieldValueForbidden" => return FieldError::forbidden(field, detail),
        "FieldValueRequired" => return FieldError::required(field, detail),
        "FieldValueDuplicate" => Problem::Duplicate,
        _ => Problem::Invalid,
    };
    let detail = match problem {
        Problem::Duplicate => String::new(),
        _ => detail,
    };
    match value {
        Value::Object(_) | Value::Array(_) => FieldError::without_value(problem, field, detail),
        value => FieldError::with_value(problem, field, value, detail),
    }
}

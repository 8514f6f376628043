//! Checks messages that say how to change an object: `Object` and the types below it, and `JSONPatch`
//! (`k8s.io/apiserver/pkg/cel/mutation/typeresolver.go`).

use std::sync::Arc;

use super::{Checker, admission};
use crate::ast::{Expr, ExpressionKind, ParseError};
use crate::types::CelType;

/// The type of one operation of a JSON patch.
pub(crate) const JSON_PATCH: &str = "JSONPatch";

/// The function that writes a key as a part of the path of an operation (`cel/library/jsonpatch.go`).
pub(in crate::check) const ESCAPE: &str = "jsonpatch.escapeKey";

/// The type of an apply configuration. The types of its fields begin with it.
pub(crate) const OBJECT: &str = "Object";

fn is_known(ty: &str) -> bool {
    let below = ty.strip_prefix(OBJECT);
    ty == JSON_PATCH || below.is_some_and(|below| below.is_empty() || below.starts_with('.'))
}

/// The type of a field of a message; `None` if the message has no such field. The fields of `Object` and of the types
/// below it are not declared, so each of them has any type.
pub(super) fn field(ty: &str, field: &str) -> Option<CelType> {
    match (ty, field) {
        (JSON_PATCH, "op" | "from" | "path") => Some(CelType::String),
        (JSON_PATCH, "value") => Some(CelType::Dyn),
        (JSON_PATCH, _) => None,
        (ty, field) if admission::is_known(ty) => admission::field(ty, field),
        _ => Some(CelType::Dyn),
    }
}

impl Checker<'_> {
    /// Checks a message and its fields (`checkCreateMessage` of `cel-go/checker/checker.go`).
    pub(super) fn message(&mut self, expr: &mut Expr) -> CelType {
        let ExpressionKind::Struct(message) = &mut expr.kind else {
            return CelType::Error;
        };
        let ty = message.ty.strip_prefix('.').unwrap_or(&message.ty);
        if !self.changes || !is_known(ty) {
            let wrong = format!("undeclared reference to '{}' (in container '')", message.ty);
            self.report(expr, wrong);
            return CelType::Error;
        }
        let ty: Arc<str> = ty.into();
        for made in &mut message.fields {
            let mut found = self.visit(&mut made.value);
            if made.optional {
                let (inner, is_optional) = found.unwrapped();
                if !is_optional && !found.is_dyn_or_error() {
                    let wrong =
                        format!("expected type 'optional_type({found})' but found '{found}'");
                    self.report(&made.value, wrong);
                }
                found = inner.clone();
            }
            let wanted = field(&ty, &made.name);
            let fits = wanted
                .as_ref()
                .is_some_and(|wanted| self.mapping.assign(wanted, &found));
            if !fits {
                let found = self.mapping.substitute(&found, false);
                let wanted = wanted.map_or(String::new(), |wanted| wanted.to_string());
                let wrong = format!(
                    "expected type of field '{}' is '{wanted}' but provided type is '{found}'",
                    made.name
                );
                self.mistakes.push(ParseError::new(made.place, wrong));
            }
        }
        CelType::Message(ty)
    }
}

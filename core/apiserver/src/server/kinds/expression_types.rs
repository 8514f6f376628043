//! The types of the expressions of a policy, as messages name them and as later expressions see them.

use serde_json::Value;

use super::admission_policies::variables;
use super::label_selector::list;
use crate::cel::{self, CelType};
use crate::object::text;

/// The name of a type as it is declared (`Type.DeclaredTypeName` of `cel-go/common/types`).
pub(super) fn declared_name(ty: &CelType) -> String {
    match ty {
        CelType::Null => "null_type".to_owned(),
        CelType::Duration => "google.protobuf.Duration".to_owned(),
        CelType::Timestamp => "google.protobuf.Timestamp".to_owned(),
        CelType::List(item) => format!("list({})", declared_name(item)),
        CelType::Map(key, value) => {
            format!("map({}, {})", declared_name(key), declared_name(value))
        }
        CelType::Optional(of) => format!("optional_type({})", declared_name(of)),
        CelType::Type(of) => format!("type({})", declared_name(of)),
        other => other.to_string(),
    }
}

/// The type that a variable has for the expressions after it: only simple types, lists and maps are kept
/// (`convertCelTypeToDeclType` of `k8s.io/apiserver/pkg/admission/plugin/cel/composition.go`, v1.36).
fn of_variable(ty: CelType) -> CelType {
    match ty {
        CelType::List(item) => CelType::List(Box::new(of_variable(*item))),
        CelType::Map(key, value) => {
            CelType::Map(Box::new(of_variable(*key)), Box::new(of_variable(*value)))
        }
        CelType::Type(_)
        | CelType::Optional(_)
        | CelType::Named(_)
        | CelType::Object(_)
        | CelType::Message(_) => CelType::Dyn,
        simple => simple,
    }
}

/// The most variables whose types an expression sees. With more, each is of any type: to find the types of many for many
/// expressions would take long.
const MOST_TYPED: usize = 64;

/// The first variables of a policy: each variable sees those before it, and nothing else. Those that an expression uses
/// have the types of their own expressions.
pub(super) fn composed<'p>(
    policy: &'p Value,
    count: usize,
    expression: &str,
) -> Vec<(&'p str, CelType)> {
    let all = list(&policy["spec"], "variables").iter().take(count);
    let all = all.map(|variable| {
        let written = text(variable, "expression").trim();
        (text(variable, "name"), written)
    });
    let all: Vec<_> = all.filter(|(_, written)| !written.is_empty()).collect();
    // A variable whose type is not found out here fits everywhere.
    let mut composed: Vec<_> = all
        .iter()
        .map(|(name, _)| (*name, CelType::Error))
        .collect();
    let mut used = cel::fields_used(expression, "variables");
    let mut typed = Vec::new();
    for (place, (name, written)) in all.iter().enumerate().rev() {
        if used.contains(*name) {
            used.extend(cel::fields_used(written, "variables"));
            typed.push(place);
        }
    }
    if typed.len() > MOST_TYPED {
        return composed;
    }
    let known = variables(policy);
    let mut before = Vec::new();
    for place in typed.into_iter().rev() {
        let (name, written) = all[place];
        let ty = match cel::type_of(written, &known, ("variables", &before)) {
            _ if cel::names(written, "authorizer") => CelType::Error,
            Err(cel::Unusable::Unknown) => CelType::Error,
            Err(cel::Unusable::Wrong(_)) => CelType::Dyn,
            Ok(ty) => of_variable(ty),
        };
        composed[place].1 = ty.clone();
        before.push((name, ty));
    }
    composed
}

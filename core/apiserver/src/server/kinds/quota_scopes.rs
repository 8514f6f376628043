//! Matches pods with the scopes of a quota (`podMatchesScopeFunc` of
//! `pkg/quota/v1/evaluator/core/pods.go`).

use serde_json::Value;

use super::label_selector::list;
use super::pod::quality_of_service;
use crate::object::text;

/// Returns whether all scopes of a quota fit. Those of pods fit nothing else.
pub(in crate::server) fn apply(spec: &Value, pod: Option<&Value>) -> bool {
    let plain = list(spec, "scopes").iter().filter_map(Value::as_str);
    let mut plain = plain.map(|scope| (scope, "Exists", &[][..]));
    let rules = list(&spec["scopeSelector"], "matchExpressions").iter();
    let mut rules = rules.map(|rule| {
        (
            text(rule, "scopeName"),
            text(rule, "operator"),
            list(rule, "values"),
        )
    });
    let fits = |(scope, operator, values): (&str, &str, &[Value])| {
        pod.is_some_and(|pod| fits(scope, operator, values, pod))
    };
    plain.all(fits) && rules.all(fits)
}

fn fits(scope: &str, operator: &str, values: &[Value], pod: &Value) -> bool {
    let spec = &pod["spec"];
    let ends = spec["activeDeadlineSeconds"]
        .as_i64()
        .is_some_and(|it| it >= 0);
    let best_effort = quality_of_service(pod) == "BestEffort";
    match scope {
        "Terminating" => ends,
        "NotTerminating" => !ends,
        "BestEffort" => best_effort,
        "NotBestEffort" => !best_effort,
        "PriorityClass" => {
            let class = text(spec, "priorityClassName");
            let listed = values.iter().any(|value| value == class);
            match operator {
                "In" => listed,
                "NotIn" => !listed,
                "DoesNotExist" => class.is_empty(),
                _ => !class.is_empty(),
            }
        }
        "CrossNamespacePodAffinity" => crosses(&spec["affinity"]),
        _ => false,
    }
}

/// Returns whether a pod wants to be near or far from pods of other namespaces.
fn crosses(affinity: &Value) -> bool {
    let of_term = |term: &Value| {
        !list(term, "namespaces").is_empty() || term.get("namespaceSelector").is_some()
    };
    ["podAffinity", "podAntiAffinity"].iter().any(|kind| {
        let kind = &affinity[kind];
        let required = list(kind, "requiredDuringSchedulingIgnoredDuringExecution");
        let preferred = list(kind, "preferredDuringSchedulingIgnoredDuringExecution");
        required.iter().any(of_term)
            || preferred
                .iter()
                .any(|term| of_term(&term["podAffinityTerm"]))
    })
}

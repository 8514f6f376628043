//! Restarts of a container: its own policy, and its rules (`validateContainerRestartPolicy` and
//! `validateInitContainerRestartPolicy` of `pkg/apis/core/validation`, `ContainerShouldRestart` of
//! `pkg/api/v1/pod/util.go`; with `ContainerRestartRules`, on since v1.35, and
//! `RestartAllContainersOnContainerExits`, on since v1.36).

use serde_json::Value;

use super::job_policies::too_many;
use super::label_selector::list;
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

const POLICIES: [&str; 3] = ["Always", "Never", "OnFailure"];
const ACTIONS: [&str; 2] = ["Restart", "RestartAllContainers"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];
const MAX_RULES: usize = 20;
const MAX_CODES: usize = 255;

/// Checks the policy and the rules of a container, or of one that runs before the others.
pub(super) fn validate(container: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let rules = list(container, "restartPolicyRules");
    let mut errors = Vec::new();
    let field = path.child("restartPolicy");
    match container.get("restartPolicy") {
        None if rules.is_empty() => return errors,
        None => {
            let detail = "must specify restartPolicy when restart rules are used";
            errors.push(FieldError::required(field, detail));
        }
        Some(policy) if POLICIES.iter().any(|known| policy == known) => {}
        Some(policy) => errors.push(FieldError::not_supported(field, policy, &POLICIES)),
    }
    errors.extend(too_many(
        &path.child("restartPolicyRules"),
        rules,
        MAX_RULES,
    ));
    for (i, rule) in rules.iter().enumerate() {
        let path = path.item("restartPolicyRules", i);
        let one_of = |owner: &Value, path: &ErrorPath<'_>, name: &str, known: &[&str]| {
            let value = text(owner, name);
            let wrong = !known.contains(&value);
            wrong.then(|| FieldError::not_supported(path.child(name), &value.into(), known))
        };
        errors.extend(one_of(rule, &path, "action", &ACTIONS));
        let codes_path = path.child("exitCodes");
        let Some(codes) = rule.get("exitCodes") else {
            errors.push(FieldError::required(codes_path, "must be specified"));
            continue;
        };
        errors.extend(one_of(codes, &codes_path, "operator", &OPERATORS));
        let values = list(codes, "values");
        errors.extend(too_many(&codes_path.child("values"), values, MAX_CODES));
    }
    errors
}

/// The rule of a container that an exit code meets.
fn met(container: &Value, exit_code: i64) -> Option<&Value> {
    list(container, "restartPolicyRules").iter().find(|rule| {
        let codes = &rule["exitCodes"];
        let listed = list(codes, "values")
            .iter()
            .any(|it| it.as_i64() == Some(exit_code));
        match text(codes, "operator") {
            "In" => listed,
            "NotIn" => !listed,
            _ => false,
        }
    })
}

/// Returns whether a container of a pod with this policy starts again after it ended with an exit code.
pub(super) fn starts_again(container: &Value, of_pod: &str, exit_code: i64) -> bool {
    let own = container.get("restartPolicy").and_then(Value::as_str);
    if own.is_some() && met(container, exit_code).is_some() {
        return true;
    }
    match own.unwrap_or(of_pod) {
        "Always" => true,
        "OnFailure" => exit_code != 0,
        _ => false,
    }
}

/// Returns whether the end of one container can start all of them again (`AllContainersCouldRestart`).
pub(super) fn all_may_start_again(spec: &Value) -> bool {
    let all = ["containers", "initContainers"].into_iter();
    let mut rules = all
        .flat_map(|kind| list(spec, kind))
        .flat_map(|container| list(container, "restartPolicyRules"));
    rules.any(|rule| text(rule, "action") == "RestartAllContainers")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rules_stand_beside_a_policy_and_name_exit_codes() {
        let said = |container: Value| -> Vec<String> {
            let errors = validate(&container, &ErrorPath::new("c"));
            errors.iter().map(ToString::to_string).collect()
        };
        let codes = json!({"operator": "In", "values": [42]});
        let rule = json!({"action": "Restart", "exitCodes": codes});
        assert!(said(json!({"restartPolicy": "Never", "restartPolicyRules": [rule]})).is_empty());
        assert!(said(json!({})).is_empty());
        assert_eq!(
            said(json!({"restartPolicyRules": [rule]})),
            [
                "c.restartPolicy: Required value: must specify restartPolicy when restart rules \
                 are used"
            ]
        );
        assert_eq!(
            said(json!({"restartPolicy": "Odd", "restartPolicyRules": [{"action": "Stop"}]})),
            [
                "c.restartPolicy: Unsupported value: \"Odd\": supported values: \"Always\", \
                 \"Never\", \"OnFailure\"",
                "c.restartPolicyRules[0].action: Unsupported value: \"Stop\": supported values: \
                 \"Restart\", \"RestartAllContainers\"",
                "c.restartPolicyRules[0].exitCodes: Required value: must be specified",
            ]
        );
    }

    #[test]
    fn a_rule_comes_before_the_policy_of_its_container_and_that_before_the_pods() {
        let codes = json!({"operator": "NotIn", "values": [1]});
        let ruled = json!({"restartPolicy": "Never", "restartPolicyRules": [{"exitCodes": codes}]});
        assert!(starts_again(&ruled, "Never", 2));
        assert!(!starts_again(&ruled, "Always", 1));
        assert!(starts_again(&json!({}), "OnFailure", 1));
        assert!(!starts_again(&json!({}), "OnFailure", 0));
    }
}

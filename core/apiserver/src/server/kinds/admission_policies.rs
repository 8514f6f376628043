//! Checks of ValidatingAdmissionPolicy, MutatingAdmissionPolicy, their bindings and the conditions of webhooks, besides their
//! rows in `kinds.checks` (`pkg/apis/admissionregistration/validation/validation.go`). The cost of
//! expressions is not estimated, and the functions of `authorizer` are not known.

use serde_json::Value;

use super::checks::{Checked, FieldCheck};
use super::expression_types::{composed, declared_name};
use super::job_policies::too_many;
use super::label_selector::list;
use super::names;
use crate::cel::{self, CelType};
use crate::field::ErrorPath;
use crate::object::{Metadata, text};
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("param_kind", param_kind),
    ("resource_names", resource_names),
    ("match_conditions", match_conditions),
    ("policy_variables", |variables, errors| {
        let items = variables.value.as_array().map_or(&[][..], Vec::as_slice);
        for (i, item) in items.iter().enumerate() {
            variable(variables.object, i, item, &variables.path.index(i), errors);
        }
    }),
    ("validations_or_annotations", validations_or_annotations),
    ("policy_validation", validation),
    ("audit_annotations", audit_annotations),
    ("mutated_operations", mutated_operations),
    ("mutation", mutation),
    ("param_ref", param_ref),
    ("validation_actions", validation_actions),
];

/// The variables of the expressions of a policy.
const VARIABLES: [&str; 7] = [
    "object",
    "oldObject",
    "request",
    "namespaceObject",
    "authorizer",
    "variables",
    "params",
];

/// The kinds of changes: each with the field that has its expression, and the type of that.
const CHANGES: [(&str, &str, &str); 2] = [
    ("ApplyConfiguration", "applyConfiguration", "Object"),
    ("JSONPatch", "jsonPatch", "list(JSONPatch)"),
];

/// Checks an expression, which gives a value of one of these types.
fn expression(
    written: &str,
    path: &ErrorPath<'_>,
    variables: &[&str],
    composed: &[(&str, CelType)],
    types: &[&str],
) -> Option<FieldError> {
    let found = cel::type_of(written, variables, ("variables", composed));
    checked_type(found, written, path, variables, types)
}

/// Refuses an expression of another type than these.
fn checked_type(
    found: Result<CelType, cel::Unusable>,
    written: &str,
    path: &ErrorPath<'_>,
    variables: &[&str],
    types: &[&str],
) -> Option<FieldError> {
    // Its functions are not known here.
    if variables.contains(&"authorizer") && cel::names(written, "authorizer") {
        return None;
    }
    let found = found.map(|found| match found {
        // It depends on what is not known here.
        CelType::Error => None,
        found => Some(declared_name(&found)),
    });
    let detail = match found {
        Ok(None) => return None,
        Ok(Some(found)) if types.contains(&found.as_str()) => return None,
        Ok(Some(found)) => match types {
            [one] => format!("must evaluate to {one} but got {found}"),
            several => format!(
                "must evaluate to one of [{}] but got {found}",
                several.join(" ")
            ),
        },
        Err(cel::Unusable::Wrong(why)) => why,
        Err(cel::Unusable::Unknown) => return None,
    };
    Some(FieldError::invalid(path, &written.into(), detail))
}

/// The variables in the scope of a policy's expressions: `variables` only if it has some, and `params` only if it has
/// a kind of them.
pub(super) fn variables(policy: &Value) -> Vec<&'static str> {
    let spec = &policy["spec"];
    let is_there = |name: &&str| match *name {
        "variables" => !list(spec, "variables").is_empty(),
        "params" => spec.get("paramKind").is_some(),
        _ => true,
    };
    VARIABLES.into_iter().filter(is_there).collect()
}

/// `validateParamKind`.
fn param_kind(kind: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (written, field) = (
        text(kind.value, "apiVersion"),
        kind.path.child("apiVersion"),
    );
    let mut refuse = |field: &ErrorPath<'_>, value: &str, detail: String| {
        errors.push(FieldError::invalid(field, &value.into(), detail));
    };
    let parts: Vec<&str> = written.split('/').collect();
    match parts[..] {
        [""] => {}
        [_, _, _, ..] => {
            let detail = format!("unexpected GroupVersion string: {written}");
            refuse(&field, written, detail);
        }
        _ => {
            let (group, version) = written.split_once('/').unwrap_or(("", written));
            let reasons = match group {
                "" => Vec::new(),
                group => names::subdomain(group),
            };
            if !reasons.is_empty() {
                refuse(&field, group, reasons.join(","));
            }
            let reasons = names::label_1035(version);
            if version.is_empty() {
                refuse(&field, written, "version must be specified".to_owned());
            } else if !reasons.is_empty() {
                refuse(&field, version, reasons.join(","));
            }
        }
    }
    if written.is_empty() {
        errors.push(FieldError::required(field, ""));
    }
    let (written, field) = (text(kind.value, "kind"), kind.path.child("kind"));
    let reasons = names::label_1035(&written.to_lowercase());
    if written.is_empty() {
        errors.push(FieldError::required(field, ""));
    } else if !reasons.is_empty() {
        let detail = format!(
            "may have mixed case, but should otherwise match: {}",
            reasons.join(",")
        );
        errors.push(FieldError::invalid(field, &written.into(), detail));
    }
}

/// The names of `validateNamedRuleWithOperations`.
fn resource_names(all: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let items = all.value.as_array().map_or(&[][..], Vec::as_slice);
    for (i, name) in items.iter().enumerate() {
        let path = all.path.index(i);
        let reasons = names::path_segment(name.as_str().unwrap_or_default()).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(path, name, why)));
        if items[..i].contains(name) {
            errors.push(FieldError::duplicate(path, name));
        }
    }
}

/// `validateMatchConditions`; those that are stored are not checked again.
fn match_conditions(conditions: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let parameters = |object: &Value| object["spec"].get("paramKind").cloned();
    let same_parameters = conditions
        .live
        .is_some_and(|live| parameters(live) == parameters(conditions.object));
    if same_parameters && conditions.before() == Some(conditions.value) {
        return;
    }
    let items = conditions.value.as_array().map_or(&[][..], Vec::as_slice);
    errors.extend(too_many(conditions.path, items, 64));
    // Those of a webhook have neither variables nor parameters.
    let known = match conditions.object["spec"].get("paramKind") {
        Some(_) => &[
            "object",
            "oldObject",
            "request",
            "namespaceObject",
            "authorizer",
            "params",
        ][..],
        None => &[
            "object",
            "oldObject",
            "request",
            "namespaceObject",
            "authorizer",
        ],
    };
    for (i, condition) in items.iter().enumerate() {
        let path = conditions.path.index(i);
        let field = path.child("expression");
        match text(condition, "expression").trim() {
            "" => errors.push(FieldError::required(field, "")),
            written => errors.extend(expression(written, &field, known, &[], &["bool"])),
        }
        let (field, name) = (path.child("name"), text(condition, "name"));
        if name.is_empty() {
            errors.push(FieldError::required(field, ""));
            continue;
        }
        let reasons = names::qualified(name).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &name.into(), why)));
        if items[..i].iter().any(|other| text(other, "name") == name) {
            errors.push(FieldError::duplicate(field, &name.into()));
        }
    }
}

/// `validateVariable`.
fn variable(
    policy: &Value,
    i: usize,
    variable: &Value,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    let (name, field) = (text(variable, "name"), path.child("name"));
    if name.trim().is_empty() {
        errors.push(FieldError::required(field, "name is not specified"));
    } else if !cel::is_identifier(name) {
        let detail = "must be a valid CEL identifier";
        errors.push(FieldError::invalid(field, &name.into(), detail));
    }
    let (written, field) = (text(variable, "expression"), path.child("expression"));
    let composed = composed(policy, i, written);
    if written.trim().is_empty() {
        errors.push(FieldError::required(field, "expression is not specified"));
    } else if !cel::names(written, "authorizer")
        && let Err(cel::Unusable::Wrong(why)) =
            cel::type_of(written, &variables(policy), ("variables", &composed))
    {
        errors.push(FieldError::invalid(field, &written.into(), why));
    }
}

/// A policy does something.
fn validations_or_annotations(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const FIELDS: [&str; 2] = ["validations", "auditAnnotations"];
    if FIELDS
        .iter()
        .all(|field| list(spec.value, field).is_empty())
    {
        let detail = "validations or auditAnnotations must contain at least one item";
        let fields = FIELDS.iter().map(|field| spec.path.child(field));
        errors.extend(fields.map(|field| FieldError::required(field, detail)));
    }
}

/// `validateValidation`.
fn validation(validation: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let known = variables(validation.object);
    let composed = |written: &str| composed(validation.object, usize::MAX, written);
    let written = text(validation.value, "expression");
    let field = validation.path.child("expression");
    if written.trim().is_empty() {
        errors.push(FieldError::required(field, "expression is not specified"));
    } else {
        let composed = composed(written);
        errors.extend(expression(written, &field, &known, &composed, &["bool"]));
    }
    let message = text(validation.value, "messageExpression");
    let field = validation.path.child("messageExpression");
    if !message.is_empty() && message.trim().is_empty() {
        let detail = "must be non-empty if specified";
        errors.push(FieldError::invalid(field, &message.into(), detail));
    } else if !message.is_empty() {
        // A message does not see what the requester may do.
        let known: Vec<&str> = known.into_iter().filter(|it| *it != "authorizer").collect();
        let composed = composed(message);
        errors.extend(expression(message, &field, &known, &composed, &["string"]));
    }
    let message = text(validation.value, "message");
    let field = validation.path.child("message");
    let mut refuse = |detail: &str| {
        errors.push(FieldError::invalid(field, &message.into(), detail));
    };
    if !message.is_empty() && message.trim().is_empty() {
        refuse("must be non-empty if specified");
    } else if message.trim().contains(['\n', '\r']) {
        refuse("must not contain line breaks");
    }
}

/// A mutating policy changes what is created and updated only (`validateMutatingAdmissionPolicySpec`).
fn mutated_operations(resources: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const SUPPORTED: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];
    let field = resources.path.child("resourceRules.operations");
    let rules = list(resources.value, "resourceRules").iter();
    for operation in rules.flat_map(|rule| list(rule, "operations")) {
        if !SUPPORTED.contains(&operation.as_str().unwrap_or_default()) {
            errors.push(FieldError::not_supported(field, operation, &SUPPORTED));
        }
    }
}

/// `validateMutation`.
fn mutation(mutation: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let field = mutation.path.child("patchType");
    let kind = text(mutation.value, "patchType");
    if kind.is_empty() {
        errors.push(FieldError::required(field, ""));
        return;
    }
    let Some((_, own, ty)) = CHANGES.iter().find(|(name, ..)| *name == kind) else {
        let supported = CHANGES.map(|(name, ..)| name);
        errors.push(FieldError::not_supported(field, &kind.into(), &supported));
        return;
    };
    let path = mutation.path.child(own);
    match mutation.value.get(own) {
        None => {
            let detail = format!("must be specified when patchType is {kind}");
            errors.push(FieldError::required(path, detail));
        }
        Some(change) => errors.extend(changing_expression(mutation.object, change, &path, ty)),
    }
    for (_, other, _) in CHANGES.iter().filter(|(name, ..)| *name != kind) {
        if mutation.value.get(other).is_some() {
            let shown = format!("{{{other}}}");
            let detail = format!("must not be specified when patchType is {kind}");
            let field = mutation.path.child(other);
            errors.push(FieldError::invalid(field, &shown.into(), detail));
        }
    }
}

/// `validateApplyConfiguration`, `validateJSONPatch`.
fn changing_expression(
    policy: &Value,
    change: &Value,
    path: &ErrorPath<'_>,
    ty: &str,
) -> Option<FieldError> {
    let field = path.child("expression");
    let written = text(change, "expression").trim();
    if written.is_empty() {
        return Some(FieldError::required(field, ""));
    }
    let composed = composed(policy, usize::MAX, written);
    let known = variables(policy);
    let found = cel::type_of_change(written, &known, ("variables", &composed));
    checked_type(found, written, &field, &known, &[ty])
}

/// `validateAuditAnnotation`.
fn audit_annotations(annotations: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const MOST: usize = 20;
    const MOST_BYTES: usize = 5 * 1024;
    let items = annotations.value.as_array().map_or(&[][..], Vec::as_slice);
    if items.len() > MOST {
        let detail = format!("must not have more than {MOST} auditAnnotations");
        errors.push(FieldError::invalid(
            annotations.path,
            annotations.value,
            detail,
        ));
    }
    for (i, annotation) in items.iter().enumerate() {
        let path = annotations.path.index(i);
        let (field, key) = (path.child("key"), text(annotation, "key"));
        let whole = match annotations.object.name() {
            "" => key.to_owned(),
            name => format!("{name}/{key}"),
        };
        let reasons = names::qualified(&whole).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &whole.as_str().into(), why)));
        let written = text(annotation, "valueExpression");
        let value = path.child("valueExpression");
        if written.trim().is_empty() {
            let detail = "valueExpression is not specified";
            errors.push(FieldError::required(value, detail));
        } else if written.trim().len() > MOST_BYTES {
            let detail = format!("must not exceed {MOST_BYTES} bytes in length");
            errors.push(FieldError::required(value, detail));
        } else {
            let types = ["string", "null_type"];
            let known = variables(annotations.object);
            let composed = composed(annotations.object, usize::MAX, written);
            errors.extend(expression(written, &value, &known, &composed, &types));
        }
        if items[..i].iter().any(|other| text(other, "key") == key) {
            errors.push(FieldError::duplicate(field, &key.into()));
        }
    }
}

/// `validateParamRef`.
fn param_ref(reference: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const BOTH: &str = "name and selector are mutually exclusive";
    let (name, selector) = (text(reference.value, "name"), &reference.value["selector"]);
    let field = reference.path.child("name");
    if !name.is_empty() {
        let reasons = names::path_segment(name).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &name.into(), why)));
        if !selector.is_null() {
            errors.push(FieldError::forbidden(field, BOTH));
        }
    }
    let field = reference.path.child("selector");
    if !selector.is_null() {
        errors.extend(super::label_selector::validate(selector, &field));
        if !name.is_empty() {
            errors.push(FieldError::forbidden(field, BOTH));
        }
    }
    if name.is_empty() && selector.is_null() {
        let detail = "one of name or selector must be specified";
        errors.push(FieldError::required(reference.path, detail));
    }
    let field = reference.path.child("parameterNotFoundAction");
    match text(reference.value, "parameterNotFoundAction") {
        "" => errors.push(FieldError::required(field, "")),
        "Deny" | "Allow" => {}
        other => {
            let supported = ["Deny", "Allow"];
            errors.push(FieldError::not_supported(field, &other.into(), &supported));
        }
    }
}

/// `validateValidationActions`.
fn validation_actions(actions: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const SUPPORTED: [&str; 3] = ["Audit", "Deny", "Warn"];
    let items = actions.value.as_array().map_or(&[][..], Vec::as_slice);
    if items.is_empty() {
        let detail = "at least one validation action is required";
        errors.push(FieldError::required(actions.path, detail));
    }
    for (i, action) in items.iter().enumerate() {
        let path = actions.path.index(i);
        if !SUPPORTED.contains(&action.as_str().unwrap_or_default()) {
            errors.push(FieldError::not_supported(path, action, &SUPPORTED));
        }
        if items[..i].contains(action) {
            errors.push(FieldError::duplicate(path, action));
        }
    }
    let has = |action: &str| items.iter().any(|item| item == action);
    if has("Deny") && has("Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure \
             information in the API response and headers serves no purpose)";
        errors.push(FieldError::invalid(actions.path, actions.value, detail));
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::of_type;
    use super::*;
    use serde_json::json;

    #[test]
    fn a_variable_sees_those_before_it_and_a_validation_all() {
        let variable =
            |name: &str, expression: &str| json!({"name": name, "expression": expression});
        let said = |variables: Value, validation: &str| -> Vec<String> {
            let rule = json!({"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"],
                "resources": ["pods"], "scope": "*"});
            let constraints = json!({"matchPolicy": "Exact", "resourceRules": [rule],
                "namespaceSelector": {}, "objectSelector": {}});
            let spec = json!({"failurePolicy": "Fail", "matchConstraints": constraints,
                "variables": variables, "validations": [{"expression": validation}]});
            let policy = json!({"spec": spec});
            let path = ErrorPath::new("spec");
            let errors = of_type(
                "ValidatingAdmissionPolicySpec",
                &policy["spec"],
                &path,
                &policy,
            );
            errors.iter().map(ToString::to_string).collect()
        };
        let both = json!([variable("a", "1"), variable("b", "variables.a + 1")]);
        assert!(said(both.clone(), "variables.b > 1").is_empty());
        assert_eq!(
            said(both, "variables.c > 1"),
            [
                "spec.validations[0].expression: Invalid value: \"variables.c > 1\": compilation \
                 failed: ERROR: <input>:1:10: undefined field 'c'\n | variables.c > 1\n | .........^"
            ]
        );
        // A variable has the type of its expression.
        assert_eq!(
            said(json!([variable("a", "1")]), "variables.a"),
            [
                "spec.validations[0].expression: Invalid value: \"variables.a\": must evaluate to \
                 bool but got int"
            ]
        );
        let own = json!([variable("a", "variables.a")]);
        assert_eq!(said(own, "variables.a == 1").len(), 1);
    }

    #[test]
    fn only_an_expression_that_gives_an_object_is_an_apply_configuration() {
        let variable = |expression: &str| json!([{"name": "v", "expression": expression}]);
        let wrong = |expression: &str, variables: Value| {
            let policy = json!({"spec": {"variables": variables}});
            let change = json!({"expression": expression});
            let path = ErrorPath::new("applyConfiguration");
            changing_expression(&policy, &change, &path, "Object").map(|error| error.to_string())
        };
        let got = |expression: &str, ty: &str| {
            Some(format!(
                "applyConfiguration.expression: Invalid value: \"{expression}\": must evaluate to \
                 Object but got {ty}"
            ))
        };
        for (of_variable, ty) in [
            ("1", "int"),
            ("'x'", "string"),
            ("[1]", "list(int)"),
            ("{'a': {'b': 'c'}}", "map(string, map(string, string))"),
            ("null", "null_type"),
            ("object", "dyn"),
        ] {
            let found = wrong("variables.v", variable(of_variable));
            assert_eq!(found, got("variables.v", ty), "{of_variable}");
        }
        let none = json!([]);
        assert_eq!(
            wrong("'authorizer'", none.clone()),
            got("'authorizer'", "string")
        );
        assert_eq!(wrong("object", none.clone()), got("object", "dyn"));
        assert!(wrong("request.operation", none.clone()).is_some());
        assert_eq!(
            wrong("request.name == 'a' ? Object{} : Object{}", none),
            None
        );
    }
}

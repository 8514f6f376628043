//! ValidatingAdmissionPolicy as it works
//! (`k8s.io/apiserver/pkg/admission/plugin/policy/validating/dispatcher.go` and `validator.go`,
//! `plugin/policy/matching`, `plugin/webhook/predicates`).

use std::sync::Arc;

use serde_json::{Value, json};

use super::Attributes;
use crate::cel::{self, Outcome};
use crate::object::{GroupVersion, Metadata, text};
use crate::server::kinds::label_selector::{self, list};
use crate::server::{ApiServer, Fact, Trace, storage_key, user};
use crate::status::{Cause, Refusal, Status};

/// The key prefixes of bindings and of policies in etcd.
pub(super) const BINDINGS_BELOW: &str = "/registry/validatingadmissionpolicybindings/";
const POLICIES_BELOW: &str = "/registry/validatingadmissionpolicies/";

/// Kinds that define policies themselves; policies are not asked about them.
const EXEMPT: [&str; 6] = [
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "validatingwebhookconfigurations",
    "mutatingwebhookconfigurations",
];

/// The longest message that an expression makes.
const LONGEST_MESSAGE: usize = 5 * 1024;

/// A failed validation.
struct Denial {
    message: String,
    reason: String,
    /// `true` if the binding has no parameters: it denies the request, whatever the binding does otherwise
    /// (`policyDispatcher.Dispatch` of `k8s.io/apiserver/pkg/admission/plugin/policy/generic`).
    is_unbound: bool,
}

/// Asks every policy that is bound.
pub(super) fn ask(
    server: &ApiServer,
    asked: &Attributes<'_>,
    trace: &mut Trace,
) -> Result<(), Refusal> {
    let resource = &asked.info.resource;
    let of_admission = resource.group_version.group == "admissionregistration.k8s.io";
    if of_admission && EXEMPT.contains(&resource.plural.as_str()) {
        return Ok(());
    }
    let all = server.store.range(BINDINGS_BELOW);
    let bindings: Vec<Arc<Value>> = all.map(|(_, _, binding)| Arc::clone(binding)).collect();
    let mut refusal = None;
    for binding in &bindings {
        let name = text(&binding["spec"], "policyName");
        let found = server.store.get(&format!("{POLICIES_BELOW}{name}"));
        let Some(policy) = found.map(|(_, policy)| Arc::clone(policy)) else {
            continue;
        };
        let own = &binding["spec"]["matchResources"];
        let constraints = &policy["spec"]["matchConstraints"];
        let Some(version) = matched_version(server, constraints, asked, false) else {
            continue;
        };
        if !own.is_null() && matched_version(server, own, asked, true).is_none() {
            continue;
        }
        let evaluations = Evaluation::all(server, asked, &version, &policy, binding).into_iter();
        let denials: Vec<Denial> = evaluations.flat_map(|it| it.denials(trace)).collect();
        for denial in denials {
            let (policy, binding_name) = (policy.name(), binding.name());
            let acts = |action: &str| {
                let actions = list(&binding["spec"], "validationActions");
                actions.iter().any(|it| it == action)
            };
            let about =
                format!("ValidatingAdmissionPolicy '{policy}' with binding '{binding_name}'");
            let why = &denial.message;
            if acts("Warn") && !denial.is_unbound {
                let warning = format!("Validation failed for {about}: {why}");
                trace.warnings.push(warning);
            }
            if (acts("Deny") || denial.is_unbound) && refusal.is_none() {
                let why = format!("{about} denied request: {why}");
                refusal = Some(refused(asked, &why, &denial.reason));
            }
        }
    }
    refusal.map_or(Ok(()), Err)
}

/// A denial is worded as forbidden, whatever its code is.
fn refused(asked: &Attributes<'_>, why: &str, reason: &str) -> Refusal {
    let object = asked.object.or(asked.old);
    let name = match object.map_or("", Metadata::name) {
        "" => object.map_or("", |object| object.meta_text("generateName")),
        name => name,
    };
    let mut status = Status::forbidden(&asked.info.group_resource(), name, why);
    (status.code, status.reason) = match reason {
        "Forbidden" => (403, Some("Forbidden")),
        "Unauthorized" => (401, Some("Unauthorized")),
        "RequestEntityTooLarge" => (413, Some("RequestEntityTooLarge")),
        _ => (422, Some("Invalid")),
    };
    status.with_cause(Cause {
        reason: "",
        message: why.to_owned(),
        field: String::new(),
    })
}

/// Returns the version in which a policy or binding sees a request that it names; `None` if it does not name
/// it. One that names none means all of its policy (`Matcher.Matches`).
fn matched_version(
    server: &ApiServer,
    wanted: &Value,
    asked: &Attributes<'_>,
    of_binding: bool,
) -> Option<GroupVersion> {
    if named_version(wanted, "excludeResourceRules", asked).is_some()
        || !namespace_fits(server, &wanted["namespaceSelector"], asked)
        || !objects_fit(&wanted["objectSelector"], asked)
    {
        return None;
    }
    if of_binding && list(wanted, "resourceRules").is_empty() {
        return Some(asked.info.resource.group_version.clone());
    }
    named_version(wanted, "resourceRules", asked)
}

/// Returns the version of a request that rules name: its own, or, unless the policy says `Exact`, another one
/// in which the same objects are served (`matchesResourceRules`).
fn named_version(wanted: &Value, rules: &str, asked: &Attributes<'_>) -> Option<GroupVersion> {
    let rules = list(wanted, rules);
    let fits = |version: &GroupVersion| rules.iter().any(|rule| rule_fits(rule, asked, version));
    let own = &asked.info.resource.group_version;
    if fits(own) {
        return Some(own.clone());
    }
    if text(wanted, "matchPolicy") == "Exact" {
        return None;
    }
    let others = asked.info.resource.versions.iter();
    let others = others.flat_map(|versions| &versions.all);
    let mut others = others.filter_map(|(version, _)| GroupVersion::parse(version));
    others.find(|version| version != own && fits(version))
}

fn rule_fits(rule: &Value, asked: &Attributes<'_>, version: &GroupVersion) -> bool {
    let info = asked.info;
    let has = |field: &str, wanted: &str| {
        let mut items = list(rule, field).iter();
        items.any(|item| item == "*" || item == wanted)
    };
    let scope = match text(rule, "scope") {
        "Cluster" => !info.resource.namespaced,
        "Namespaced" => info.resource.namespaced,
        _ => true,
    };
    let (plural, subresource) = (&info.resource.plural, &info.subresource);
    let resource = list(rule, "resources").iter().any(|wanted| {
        let wanted = wanted.as_str().unwrap_or_default();
        let (name, sub) = wanted.split_once('/').unwrap_or((wanted, ""));
        (name == "*" || name == plural) && (sub == "*" || sub == subresource)
    });
    let names = list(rule, "resourceNames");
    let object = asked.object.or(asked.old);
    let name = object.map_or("", Metadata::name);
    scope
        && resource
        && has("operations", asked.operation)
        && has("apiGroups", &version.group)
        && has("apiVersions", &version.version)
        && (names.is_empty() || names.iter().any(|it| it == name))
}

fn empty(selector: &Value) -> bool {
    selector.is_null() || label_selector::is_empty(selector)
}

/// The namespace of a request, or itself.
fn namespace(server: &ApiServer, asked: &Attributes<'_>) -> Option<Arc<Value>> {
    let name = &asked.info.namespace;
    if name.is_empty() {
        return None;
    }
    let found = server.store.get(&format!("/registry/namespaces/{name}"));
    found.map(|(_, namespace)| Arc::clone(namespace))
}

fn namespace_fits(server: &ApiServer, selector: &Value, asked: &Attributes<'_>) -> bool {
    if empty(selector) {
        return true;
    }
    if asked.info.resource.is_namespaces() {
        let object = asked.object.or(asked.old);
        return object.is_some_and(|object| label_selector::matches(selector, object));
    }
    match namespace(server, asked) {
        Some(namespace) => label_selector::matches(selector, &namespace),
        None => !asked.info.resource.namespaced,
    }
}

fn objects_fit(selector: &Value, asked: &Attributes<'_>) -> bool {
    let mut objects = [asked.object, asked.old].into_iter().flatten();
    empty(selector) || objects.any(|object| label_selector::matches(selector, object))
}

/// The variable `request`: the objects are of the given version, and the request may be of another one. What is
/// empty is absent (`CreateAdmissionRequest` of `k8s.io/apiserver/pkg/admission/plugin/cel`).
fn request(asked: &Attributes<'_>, version: &GroupVersion) -> Value {
    let info = asked.info;
    let resource = &info.resource;
    let of = |version: &GroupVersion, what: &str, name: &str| json!({"group": version.group, "version": version.version, what: name});
    let (kind, plural) = (&resource.kind, &resource.plural);
    let own = &resource.group_version;
    let mut request = json!({
        "uid": "", "operation": asked.operation,
        "kind": of(version, "kind", kind), "requestKind": of(own, "kind", kind),
        "resource": of(version, "resource", plural),
        "requestResource": of(own, "resource", plural),
        "dryRun": info.options.dry_run,
        "userInfo": {"username": user::NAME, "uid": user::NAME, "groups": user::GROUPS},
        "options": {},
    });
    let object = asked.object.or(asked.old);
    for (field, value) in [
        ("subResource", info.subresource.as_str()),
        ("requestSubResource", &info.subresource),
        ("namespace", &info.namespace),
        ("name", object.map_or("", Metadata::name)),
    ] {
        if !value.is_empty() {
            request[field] = value.into();
        }
    }
    request
}

/// One policy on one request with one of its parameters.
#[derive(Clone)]
struct Evaluation<'a> {
    policy: &'a Value,
    /// The variables of expressions, by name.
    variables: Vec<(&'static str, Value)>,
    /// The reason why there are no parameters, if the binding asks for some.
    unbound: Option<String>,
}

impl<'a> Evaluation<'a> {
    fn new(
        server: &ApiServer,
        asked: &Attributes<'_>,
        version: &GroupVersion,
        policy: &'a Value,
    ) -> Self {
        let seen = |object: Option<&Value>| match (object, &asked.info.resource.versions) {
            (None, _) => Value::Null,
            (Some(object), Some(versions)) if *version != asked.info.resource.group_version => {
                (versions.convert)(object.clone(), &version.to_string())
            }
            (Some(object), _) => object.clone(),
        };
        let namespace = namespace(server, asked);
        Self {
            policy,
            variables: vec![
                ("object", seen(asked.object)),
                ("oldObject", seen(asked.old)),
                ("request", request(asked, version)),
                (
                    "namespaceObject",
                    namespace.map_or(Value::Null, Arc::unwrap_or_clone),
                ),
            ],
            unbound: None,
        }
    }

    /// One for each of the parameters that a binding names; none where it lets requests pass without.
    fn all(
        server: &ApiServer,
        asked: &Attributes<'_>,
        version: &GroupVersion,
        policy: &'a Value,
        binding: &Value,
    ) -> Vec<Self> {
        let mut plain = Self::new(server, asked, version, policy);
        if policy["spec"]["paramKind"].is_null() {
            return vec![plain];
        }
        match parameters(server, asked, policy, &binding["spec"]["paramRef"]) {
            Ok(all) => {
                let with = |params| {
                    let mut evaluation = plain.clone();
                    evaluation.variables.push(("params", params));
                    evaluation
                };
                all.into_iter().map(with).collect()
            }
            Err(why) => {
                plain.unbound = Some(format!("failed to configure binding: {why}"));
                vec![plain]
            }
        }
    }

    fn ignores_failures(&self) -> bool {
        text(&self.policy["spec"], "failurePolicy") == "Ignore"
    }

    /// Evaluates an expression; adds a fact if its value cannot be known here.
    fn value(&self, expression: &str, trace: &mut Trace) -> Outcome {
        let outcome = cel::evaluate(expression, &self.variables);
        if outcome == Outcome::Unknown {
            let expression = expression.to_owned();
            trace.facts.push(Fact::RuleNotEvaluated(expression));
        }
        outcome
    }

    /// Returns the failed validations of the request, in the order of the policy.
    fn denials(mut self, trace: &mut Trace) -> Vec<Denial> {
        let failed = |message: String| Denial {
            message,
            reason: String::new(),
            is_unbound: false,
        };
        if let Some(why) = self.unbound.take() {
            return match self.ignores_failures() {
                true => Vec::new(),
                false => vec![Denial {
                    is_unbound: true,
                    ..failed(why)
                }],
            };
        }
        let spec = &self.policy["spec"];
        for condition in list(spec, "matchConditions") {
            let expression = text(condition, "expression");
            match self.value(expression, trace) {
                Outcome::Bool(true) => {}
                Outcome::Failed(why) if !self.ignores_failures() => {
                    return vec![failed(format!(
                        "expression '{expression}' resulted in error: {why}"
                    ))];
                }
                _ => return Vec::new(),
            }
        }
        self.compose(trace);
        let mut denials = Vec::new();
        for validation in list(spec, "validations") {
            let expression = text(validation, "expression").trim();
            match self.value(expression, trace) {
                Outcome::Bool(true) | Outcome::Unknown => {}
                Outcome::Failed(_) | Outcome::TooCostly if self.ignores_failures() => {}
                Outcome::Failed(why) => {
                    let why = format!("expression '{expression}' resulted in error: {why}");
                    denials.push(failed(why));
                }
                Outcome::TooCostly => {
                    let why = "validation failed due to running out of cost budget, no further \
                         validation rules will be run";
                    denials.push(failed(why.to_owned()));
                    break;
                }
                _ => denials.push(Denial {
                    message: self.message(validation, expression, trace),
                    reason: text(validation, "reason").to_owned(),
                    is_unbound: false,
                }),
            }
        }
        denials
    }

    /// The variables that the policy makes of others.
    fn compose(&mut self, trace: &mut Trace) {
        let composed = list(&self.policy["spec"], "variables");
        if composed.is_empty() {
            return;
        }
        self.variables.push(("variables", json!({})));
        for variable in composed {
            let value = cel::evaluate_to_json(text(variable, "expression"), &self.variables);
            match (value, self.variables.last_mut()) {
                (Some(value), Some((_, all))) => all[text(variable, "name")] = value,
                _ => trace.facts.push(Fact::RuleNotEvaluated(
                    text(variable, "expression").to_owned(),
                )),
            }
        }
    }

    fn message(&self, validation: &Value, expression: &str, trace: &mut Trace) -> String {
        let made = match text(validation, "messageExpression") {
            "" => String::new(),
            written => match self.value(written, trace) {
                Outcome::Text(message) => message.trim().to_owned(),
                _ => String::new(),
            },
        };
        let usable = !made.is_empty() && made.len() <= LONGEST_MESSAGE && !made.contains('\n');
        match text(validation, "message").trim() {
            _ if usable => made,
            "" => format!("failed expression: {expression}"),
            message => message.to_owned(),
        }
    }
}

/// The parameters that a binding names (`CollectParams` of
/// `k8s.io/apiserver/pkg/admission/plugin/policy/generic`), or why it cannot be followed.
fn parameters(
    server: &ApiServer,
    asked: &Attributes<'_>,
    policy: &Value,
    reference: &Value,
) -> Result<Vec<Value>, &'static str> {
    if reference.is_null() {
        return Ok(vec![Value::Null]);
    }
    let kind = &policy["spec"]["paramKind"];
    let resources = &server.resources;
    let mut found = Vec::new();
    if let Some(resource) = resources.by_kind(text(kind, "apiVersion"), text(kind, "kind")) {
        let namespace = match (text(reference, "namespace"), resource.namespaced) {
            ("", true) if asked.info.namespace.is_empty() => {
                return Err(
                    "cannot use namespaced paramRef in policy binding that matches cluster-scoped \
                     resources",
                );
            }
            ("", true) => asked.info.namespace.as_str(),
            ("", false) => "",
            (_, false) => {
                return Err(
                    "paramRef.namespace must not be provided for a cluster-scoped `paramKind`",
                );
            }
            (namespace, true) => namespace,
        };
        let read = |stored: &Arc<Value>| resource.read_back(stored).as_ref().clone();
        match text(reference, "name") {
            "" => {
                let below = format!("{}/", storage_key(resource, namespace, ""));
                let all = server.store.range(&below).map(|(_, _, object)| object);
                let chosen = all.filter(|it| label_selector::matches(&reference["selector"], it));
                found.extend(chosen.map(read));
            }
            name => {
                let stored = server.store.get(&storage_key(resource, namespace, name));
                found.extend(stored.map(|(_, object)| read(object)));
            }
        }
    }
    if found.is_empty() && text(reference, "parameterNotFoundAction") == "Deny" {
        return Err("no params found for policy binding with `Deny` parameterNotFoundAction");
    }
    Ok(found)
}

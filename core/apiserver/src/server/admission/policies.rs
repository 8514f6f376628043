//! ValidatingAdmissionPolicy as it works
//! (`k8s.io/apiserver/pkg/admission/plugin/policy/validating/dispatcher.go` and `validator.go`), and what it has in
//! common with the policies that change objects.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Attributes;
use super::matching::{is_exempt, namespace, version_for};
use super::parameters::parameters;
use crate::cel::{self, Activation, Outcome};
use crate::object::{GroupVersion, Metadata, text};
use crate::server::kinds::label_selector::list;
use crate::server::{ApiServer, Fact, RequestInfo, Trace, user};
use crate::status::{Cause, Refusal, Status};

/// The key prefixes of bindings and of policies in etcd.
pub(super) const BINDINGS_BELOW: &str = "/registry/validatingadmissionpolicybindings/";
const POLICIES_BELOW: &str = "/registry/validatingadmissionpolicies/";

/// The longest message that an expression makes.
const LONGEST_MESSAGE: usize = 5 * 1024;

/// The cost limits of all conditions of a policy, and of all its validations (`pkg/apis/cel/config.go`).
const CONDITIONS_BUDGET: u64 = 2_500_000;
const VALIDATIONS_BUDGET: u64 = 10_000_000;

/// The message of an expression for which nothing is left.
const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

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
    if is_exempt(asked) {
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
        let Some(version) = version_for(server, &policy, binding, asked) else {
            continue;
        };
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

/// The variable `request`: the objects are of the given version, and the request may be of another one. A view has a
/// kind of its own, and the resource of the object that it shows. What is empty is absent (`CreateAdmissionRequest` of
/// `k8s.io/apiserver/pkg/admission/plugin/cel`).
fn request(asked: &Attributes<'_>, version: &GroupVersion) -> Value {
    let info = asked.info;
    let resource = &info.resource;
    let of = |version: &GroupVersion, what: &str, name: &str| json!({"group": version.group, "version": version.version, what: name});
    let stored = info.stored_resource();
    let (kind, plural) = (&resource.kind, &stored.plural);
    let own = &resource.group_version;
    let of_resource = match info.parent {
        Some(_) => &stored.group_version,
        None => version,
    };
    let mut request = json!({
        "uid": "", "operation": asked.operation,
        "kind": of(version, "kind", kind), "requestKind": of(own, "kind", kind),
        "resource": of(of_resource, "resource", plural),
        "requestResource": of(&stored.group_version, "resource", plural),
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

/// An object in the version in which a policy sees it.
pub(super) fn seen_in(info: &RequestInfo, object: &Value, version: &GroupVersion) -> Value {
    match &info.resource.versions {
        Some(versions) if *version != info.resource.group_version => {
            (versions.convert)(object.clone(), &version.to_string())
        }
        _ => object.clone(),
    }
}

/// The failure of an expression, as a policy tells it (`activation.Evaluate` of `plugin/cel`).
pub(super) fn failure(expression: &str, why: &str) -> String {
    format!("expression '{expression}' resulted in error: {why}")
}

/// Returns whether a policy lets a request pass if it cannot do its work.
pub(super) fn ignores_failures(policy: &Value) -> bool {
    text(&policy["spec"], "failurePolicy") == "Ignore"
}

/// The variables of expressions that together may cost so much.
struct Budget {
    variables: Activation,
    left: u64,
    /// `true` if an expression cost more than was left.
    is_spent: bool,
}

impl Budget {
    fn new(variables: Activation, left: u64) -> Self {
        Self {
            variables,
            left,
            is_spent: false,
        }
    }

    /// Evaluates an expression; adds a fact if its value cannot be known here.
    fn value(&mut self, expression: &str, trace: &mut Trace) -> Outcome {
        let (outcome, cost) = cel::evaluate(expression, &self.variables);
        match self.left.checked_sub(cost) {
            Some(left) => self.left = left,
            None => self.is_spent = true,
        }
        if outcome == Outcome::Unknown {
            let expression = expression.to_owned();
            trace.facts.push(Fact::RuleNotEvaluated(expression));
        }
        outcome
    }
}

/// One policy on one request with one of its parameters.
#[derive(Clone)]
pub(super) struct Evaluation<'a> {
    policy: &'a Value,
    /// The variables of expressions, by name.
    variables: Vec<(&'static str, Value)>,
    /// The reason why there are no parameters, if the binding asks for some.
    pub(super) unbound: Option<String>,
}

impl<'a> Evaluation<'a> {
    fn new(
        server: &ApiServer,
        asked: &Attributes<'_>,
        version: &GroupVersion,
        policy: &'a Value,
    ) -> Self {
        let seen = |object: Option<&Value>| {
            object.map_or(Value::Null, |it| seen_in(asked.info, it, version))
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
    pub(super) fn all(
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

    /// Lets the expressions see the object as an earlier one left it.
    pub(super) fn see(&mut self, object: &Value) {
        let mut variables = self.variables.iter_mut();
        if let Some((_, known)) = variables.find(|(name, _)| *name == "object") {
            *known = object.clone();
        }
    }

    /// The variables with those that the policy makes of them.
    pub(super) fn composed(&self) -> Activation {
        let composed = list(&self.policy["spec"], "variables").iter();
        let composed = composed.map(|it| (text(it, "name"), text(it, "expression")));
        Activation::new(&self.variables, &composed.collect::<Vec<_>>())
    }

    /// The object that the expressions see.
    pub(super) fn object(&self) -> &Value {
        let mut variables = self.variables.iter();
        let found = variables.find(|(name, _)| *name == "object");
        found.map_or(&Value::Null, |(_, object)| object)
    }

    /// Returns the failed validations of the request, in the order of the policy.
    fn denials(mut self, trace: &mut Trace) -> Vec<Denial> {
        let failed = |message: String| Denial {
            message,
            reason: String::new(),
            is_unbound: false,
        };
        if let Some(why) = self.unbound.take() {
            return match ignores_failures(self.policy) {
                true => Vec::new(),
                false => vec![Denial {
                    is_unbound: true,
                    ..failed(why)
                }],
            };
        }
        match self.is_met(trace) {
            Ok(true) => {}
            Ok(false) => return Vec::new(),
            Err(why) => return vec![failed(why)],
        }
        let mut budget = Budget::new(self.composed(), VALIDATIONS_BUDGET);
        let spec = &self.policy["spec"];
        let mut denials = Vec::new();
        for validation in list(spec, "validations") {
            let expression = text(validation, "expression").trim();
            let outcome = budget.value(expression, trace);
            if budget.is_spent {
                // That takes the place of what the others said.
                return match ignores_failures(self.policy) {
                    true => Vec::new(),
                    false => vec![failed(OUT_OF_BUDGET.to_owned())],
                };
            }
            match outcome {
                Outcome::Bool(true) | Outcome::Unknown => {}
                Outcome::Failed(_) | Outcome::TooCostly if ignores_failures(self.policy) => {}
                Outcome::Failed(why) => denials.push(failed(failure(expression, &why))),
                Outcome::TooCostly => {
                    denials.push(failed(failure(expression, cel::LIMIT_EXCEEDED)));
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

    /// Returns whether the conditions of the policy hold, or why that cannot be known. One that does not hold outweighs
    /// those that fail (`matcher.Match` of `plugin/webhook/matchconditions`).
    pub(super) fn is_met(&self, trace: &mut Trace) -> Result<bool, String> {
        let variables = Activation::new(&self.variables, &[]);
        let mut budget = Budget::new(variables, CONDITIONS_BUDGET);
        let mut mistakes = Vec::new();
        let mut is_refuted = false;
        for condition in list(&self.policy["spec"], "matchConditions") {
            let expression = text(condition, "expression");
            let outcome = budget.value(expression, trace);
            if budget.is_spent {
                return match ignores_failures(self.policy) {
                    true => Ok(false),
                    false => Err(OUT_OF_BUDGET.to_owned()),
                };
            }
            match outcome {
                Outcome::Bool(true) => {}
                Outcome::Failed(why) => mistakes.push(failure(expression, &why)),
                Outcome::TooCostly => mistakes.push(failure(expression, cel::LIMIT_EXCEEDED)),
                _ => is_refuted = true,
            }
        }
        match mistakes.as_slice() {
            _ if is_refuted => Ok(false),
            [] => Ok(true),
            _ if ignores_failures(self.policy) => Ok(false),
            [one] => Err(one.clone()),
            several => Err(format!("[{}]", several.join(", "))),
        }
    }

    fn message(&self, validation: &Value, expression: &str, trace: &mut Trace) -> String {
        let made = match text(validation, "messageExpression") {
            "" => String::new(),
            written => match Budget::new(self.composed(), VALIDATIONS_BUDGET).value(written, trace)
            {
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

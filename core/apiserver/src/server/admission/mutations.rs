//! MutatingAdmissionPolicy as it works (`k8s.io/apiserver/pkg/admission/plugin/policy/mutating/dispatcher.go`,
//! `plugin/policy/generic/policy_dispatcher.go`). Nobody owns the fields that a policy sets.

mod changes;

use std::sync::Arc;

use serde_json::Value;

use self::changes::{Unchanged, changed};
use super::Attributes;
use super::matching::{is_exempt, version_for};
use super::policies::{Evaluation, ignores_failures, seen_in};
use crate::object::{GroupVersion, Metadata, text};
use crate::server::body::DraftObject;
use crate::server::kinds::label_selector::list;
use crate::server::{ApiServer, Fact, RequestInfo, Trace};
use crate::status::{Cause, Refusal, Status};

/// The key prefixes of bindings and of policies in etcd.
const BINDINGS_BELOW: &str = "/registry/mutatingadmissionpolicybindings/";
const POLICIES_BELOW: &str = "/registry/mutatingadmissionpolicies/";

/// A policy with one of its bindings, and the version in which they see the request.
struct BoundPolicy {
    policy: Arc<Value>,
    binding: Arc<Value>,
    version: GroupVersion,
}

/// A policy, a binding and which of its parameters: what may be invoked once more.
type Invocation = (String, String, usize);

/// A policy that could not do its work.
struct PolicyError {
    message: String,
    reason: &'static str,
}

/// One round over all policies.
struct Round<'a> {
    server: &'a ApiServer,
    info: &'a RequestInfo,
    old: Option<&'a Value>,
    /// In the second round, what is invoked once more.
    again: Option<&'a [Invocation]>,
    draft: &'a mut DraftObject,
    /// `true` if a policy was asked for a change and gave one.
    is_dirty: bool,
    /// The invocations that may be done once more.
    reinvocable: Vec<Invocation>,
    mistakes: Vec<PolicyError>,
}

impl ApiServer {
    /// Lets policies change an object before the rules of its kind see it. After a policy has changed the object, the
    /// plugins of the server see it again, and then the policies that ask for that (`reinvoker.Admit` of
    /// `k8s.io/apiserver/pkg/admission/reinvocation.go`).
    ///
    /// # Errors
    /// The refusal of the first policy that could not do its work.
    pub(in crate::server) fn mutate(
        &self,
        info: &RequestInfo,
        draft: &mut DraftObject,
        old: Option<&Value>,
        trace: &mut Trace,
    ) -> Result<(), Refusal> {
        if self.store.range(BINDINGS_BELOW).next().is_none() {
            return Ok(());
        }
        self.complete(info, &mut draft.object, old)?;
        let (is_dirty, reinvocable) = self.round(info, draft, old, None, trace)?;
        if is_dirty {
            self.complete(info, &mut draft.object, old)?;
            self.round(info, draft, old, Some(&reinvocable), trace)?;
        }
        Ok(())
    }

    /// Fills in what the other plugins of admission do. The allocation of a Service is none of them.
    fn complete(
        &self,
        info: &RequestInfo,
        object: &mut Value,
        old: Option<&Value>,
    ) -> Result<(), Refusal> {
        if info.resource.is_builtin() && info.resource.kind != "Service" {
            self.allocate(info, object, old)?;
        }
        Ok(())
    }

    fn round(
        &self,
        info: &RequestInfo,
        draft: &mut DraftObject,
        old: Option<&Value>,
        again: Option<&[Invocation]>,
        trace: &mut Trace,
    ) -> Result<(bool, Vec<Invocation>), Refusal> {
        let bound = self.bound_policies(&attributes(info, &draft.object, old));
        let mut round = Round {
            server: self,
            info,
            old,
            again,
            draft,
            is_dirty: false,
            reinvocable: Vec::new(),
            mistakes: Vec::new(),
        };
        for bound in &bound {
            round.note_unbound(bound);
        }
        for bound in &bound {
            round.invoke(bound, trace)?;
        }
        match round.mistakes.is_empty() {
            true => Ok((round.is_dirty, round.reinvocable)),
            false => Err(refused(
                &attributes(info, &round.draft.object, old),
                &round.mistakes,
            )),
        }
    }

    /// The policies that are bound and name the request, by name. (The server has no order of them.)
    fn bound_policies(&self, asked: &Attributes<'_>) -> Vec<BoundPolicy> {
        if is_exempt(asked) {
            return Vec::new();
        }
        let bindings = self.store.range(BINDINGS_BELOW);
        let bindings: Vec<_> = bindings.map(|(_, _, it)| Arc::clone(it)).collect();
        let policies = self.store.range(POLICIES_BELOW);
        let policies = policies.map(|(_, _, it)| Arc::clone(it));
        let mut bound = Vec::new();
        for policy in policies {
            let of_policy = |it: &&Arc<Value>| text(&it["spec"], "policyName") == policy.name();
            for binding in bindings.iter().filter(of_policy) {
                if let Some(version) = version_for(self, &policy, binding, asked) {
                    bound.push(BoundPolicy {
                        policy: Arc::clone(&policy),
                        binding: Arc::clone(binding),
                        version,
                    });
                }
            }
        }
        bound
    }
}

impl ApiServer {
    /// A request as one for objects of another version of its kind.
    fn seen_as(&self, info: &RequestInfo, version: &GroupVersion) -> RequestInfo {
        let mut seen = info.clone();
        let versioned = self
            .resources
            .by_kind(&version.to_string(), &info.resource.kind);
        if let Some(versioned) = versioned {
            seen.resource = Arc::clone(versioned);
        }
        seen
    }
}

/// An object that a policy saw in another version than that of the request.
fn in_version_of_request(info: &RequestInfo, object: Value, seen: &RequestInfo) -> Value {
    let own = &info.resource.group_version;
    match &info.resource.versions {
        Some(versions) if seen.resource.group_version != *own => {
            (versions.convert)(object, &own.to_string())
        }
        _ => object,
    }
}

fn attributes<'a>(
    info: &'a RequestInfo,
    object: &'a Value,
    old: Option<&'a Value>,
) -> Attributes<'a> {
    Attributes {
        info,
        operation: if old.is_some() { "UPDATE" } else { "CREATE" },
        object: Some(object),
        old,
    }
}

impl Round<'_> {
    /// Notes a binding whose parameters are missing. All of these come before what policies do.
    fn note_unbound(&mut self, bound: &BoundPolicy) {
        let asked = attributes(self.info, &self.draft.object, self.old);
        let (policy, binding) = (&bound.policy, &bound.binding);
        for mut evaluation in Evaluation::all(self.server, &asked, &bound.version, policy, binding)
        {
            if let Some(why) = evaluation.unbound.take() {
                self.record_error(bound, why, "Forbidden");
            }
        }
    }

    /// Invokes a policy with each of the parameters of its binding.
    fn invoke(&mut self, bound: &BoundPolicy, trace: &mut Trace) -> Result<(), Refusal> {
        let BoundPolicy {
            policy,
            binding,
            version,
        } = bound;
        let asked = attributes(self.info, &self.draft.object, self.old);
        let all = Evaluation::all(self.server, &asked, version, policy, binding);
        for (i, mut evaluation) in all.into_iter().enumerate() {
            // What an earlier one changed is seen by the next.
            if i > 0 {
                evaluation.see(&seen_in(self.info, &self.draft.object, version));
            }
            if evaluation.unbound.is_some() {
                continue;
            }
            match evaluation.is_met(trace) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(why) => {
                    self.record_error(bound, why, "Invalid");
                    continue;
                }
            }
            let invocation = (policy.name().to_owned(), binding.name().to_owned(), i);
            if self.again.is_some_and(|again| !again.contains(&invocation)) {
                continue;
            }
            self.change(bound, evaluation, trace)?;
            if text(&policy["spec"], "reinvocationPolicy") == "IfNeeded" {
                self.reinvocable.push(invocation);
            }
        }
        Ok(())
    }

    /// Does the changes of a policy in their order. One that fails does not keep the others from being done.
    fn change(
        &mut self,
        bound: &BoundPolicy,
        mut evaluation: Evaluation<'_>,
        trace: &mut Trace,
    ) -> Result<(), Refusal> {
        let seen = self.server.seen_as(self.info, &bound.version);
        for mutation in list(&bound.policy["spec"], "mutations") {
            match changed(&seen, mutation, &evaluation) {
                Ok(draft) => {
                    self.is_dirty = true;
                    evaluation.see(&draft.object);
                    self.draft.object = in_version_of_request(self.info, draft.object, &seen);
                    self.draft.empties = draft.empties;
                }
                Err(Unchanged::ByTest) => self.is_dirty = true,
                Err(Unchanged::Mistaken(why)) => self.record_error(bound, why, "Invalid"),
                Err(Unchanged::Refused(refusal)) => return Err(refusal),
                Err(Unchanged::Unknown(expression)) => {
                    trace.facts.push(Fact::RuleNotEvaluated(expression));
                }
            }
        }
        Ok(())
    }

    /// Notes why a policy could not do its work, unless it says to ignore that (`PolicyError.Error`).
    fn record_error(&mut self, bound: &BoundPolicy, why: String, reason: &'static str) {
        if ignores_failures(&bound.policy) {
            return;
        }
        let message = format!(
            "policy '{}' with binding '{}' denied request: {why}",
            bound.policy.name(),
            bound.binding.name()
        );
        self.mistakes.push(PolicyError { message, reason });
    }
}

/// The refusal has the message of the first mistake, and all of them as causes.
fn refused(asked: &Attributes<'_>, mistakes: &[PolicyError]) -> Refusal {
    let object = asked.object.or(asked.old);
    let field = |name| object.map_or("", |object| object.meta_text(name));
    let names = [
        asked.info.name.as_str(),
        field("name"),
        field("generateName"),
    ];
    let name = names.into_iter().find(|name| !name.is_empty());
    let resource = asked.info.group_resource();
    let mut refusal = Status::forbidden(&resource, name.unwrap_or("Unknown"), "");
    if let Some(first) = mistakes.first() {
        first.message.clone_into(&mut refusal.message);
        refusal.reason = Some(first.reason);
    }
    for mistake in mistakes {
        refusal = refusal.with_cause(Cause {
            reason: "",
            message: mistake.message.clone(),
            field: String::new(),
        });
    }
    refusal
}

//! The requests that admission policies and their bindings name (`k8s.io/apiserver/pkg/admission/plugin/policy/matching`,
//! `plugin/webhook/predicates`).

use std::sync::Arc;

use serde_json::Value;

use super::Attributes;
use crate::object::{GroupVersion, Metadata, text};
use crate::server::ApiServer;
use crate::server::kinds::label_selector::{self, list};

/// Kinds that define policies themselves; policies are not asked about them.
const EXEMPT: [&str; 6] = [
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "validatingwebhookconfigurations",
    "mutatingwebhookconfigurations",
];

/// Returns whether no policy is asked about a request.
pub(super) fn is_exempt(asked: &Attributes<'_>) -> bool {
    let resource = &asked.info.resource;
    let of_admission = resource.group_version.group == "admissionregistration.k8s.io";
    of_admission && EXEMPT.contains(&resource.plural.as_str())
}

/// Returns the version in which a policy and one of its bindings see a request; `None` if one of them does not name it.
/// A view is seen in its own version, whatever resource it belongs to.
pub(super) fn version_for(
    server: &ApiServer,
    policy: &Value,
    binding: &Value,
    asked: &Attributes<'_>,
) -> Option<GroupVersion> {
    let version = matched_version(server, &policy["spec"]["matchConstraints"], asked, false)?;
    let own = &binding["spec"]["matchResources"];
    if !own.is_null() && matched_version(server, own, asked, true).is_none() {
        return None;
    }
    Some(match asked.info.parent {
        Some(_) => asked.info.resource.group_version.clone(),
        None => version,
    })
}

/// Returns the version in which a policy or binding sees a request that it names; `None` if it does not name
/// it. A binding that has no rules names every request that its policy names (`Matcher.Matches`).
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
        return Some(asked.info.stored_resource().group_version.clone());
    }
    named_version(wanted, "resourceRules", asked)
}

/// Returns the version of a request that rules name: its own, or, unless the policy says `Exact`, another one
/// in which the same objects are served (`matchesResourceRules`).
fn named_version(wanted: &Value, rules: &str, asked: &Attributes<'_>) -> Option<GroupVersion> {
    let rules = list(wanted, rules);
    let fits = |version: &GroupVersion| rules.iter().any(|rule| rule_fits(rule, asked, version));
    let resource = asked.info.stored_resource();
    let own = &resource.group_version;
    if fits(own) {
        return Some(own.clone());
    }
    if text(wanted, "matchPolicy") == "Exact" {
        return None;
    }
    let others = resource.versions.iter();
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
    let (plural, subresource) = (&info.stored_resource().plural, &info.subresource);
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
pub(super) fn namespace(server: &ApiServer, asked: &Attributes<'_>) -> Option<Arc<Value>> {
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

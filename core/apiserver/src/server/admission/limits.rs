//! Limit ranges (`plugin/pkg/admission/limitranger/admission.go`): a new pod gets the amounts that
//! it leaves out, and has to keep within the limits of its namespace.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Attributes;
use crate::object::{Metadata, text};
use crate::schema::{Quantity, pod_amounts};
use crate::server::kinds::label_selector::list;
use crate::status::Refusal;
use crate::storage::Store;

/// The annotation that lists the values which a limit range gave a pod.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Gives a pod the amounts that it leaves out (`MutateLimit`).
pub(in crate::server) fn complete(pod: &mut Value, store: &Store) {
    for range in &ranges(pod, store) {
        complete_from(pod, range);
    }
}

/// Checks a new or resized pod, or a claim (`ValidateLimit`).
///
/// # Errors
/// A refusal that names the limits of the namespace which the object breaks.
pub(super) fn check(asked: &Attributes<'_>, object: &Value, store: &Store) -> Result<(), Refusal> {
    let is_pod = match (
        text(object, "kind"),
        asked.operation,
        asked.info.subresource.as_str(),
    ) {
        ("Pod", "CREATE", "") | ("Pod", "UPDATE", "resize") => true,
        ("PersistentVolumeClaim", _, "") => false,
        _ => return Ok(()),
    };
    let deleted = |old: &Value| !old.meta_text("deletionTimestamp").is_empty();
    if asked.old.is_some_and(deleted) {
        return Ok(());
    }
    for range in &ranges(object, store) {
        let errors = errors(range, object, is_pod);
        let why = match errors.as_slice() {
            [] => continue,
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        return Err(super::forbidden(asked, object, &why));
    }
    Ok(())
}

/// The limit ranges of the namespace of an object.
fn ranges(object: &Value, store: &Store) -> Vec<Arc<Value>> {
    let prefix = format!("/registry/limitranges/{}/", object.namespace());
    let ranges = store.range(&prefix);
    ranges.map(|(_, _, range)| Arc::clone(range)).collect()
}

/// Returns the violations of one limit range, each once.
fn errors(range: &Value, object: &Value, is_pod: bool) -> Vec<String> {
    let mut errors = Vec::new();
    for limit in list(&range["spec"], "limits") {
        match (is_pod, text(limit, "type")) {
            (true, "Container") => {
                for kind in ["containers", "initContainers"] {
                    for container in list(&object["spec"], kind) {
                        keep_within(limit, &container["resources"], &mut errors);
                    }
                }
            }
            (true, "Pod") => {
                // The overhead of its runtime class counts for quotas only (`podRequests`)
                let mut spec = object["spec"].clone();
                spec["overhead"] = Value::Null;
                let amounts = pod_amounts::requests_and_limits(&json!({"spec": spec}));
                keep_within(limit, &amounts, &mut errors);
            }
            (false, "PersistentVolumeClaim") => {
                let resources = json!({"requests": object["spec"]["resources"]["requests"]});
                check_claim(limit, &resources, &mut errors);
            }
            _ => {}
        }
    }
    let mut told = BTreeSet::new();
    errors.retain(|error| told.insert(error.clone()));
    errors
}

/// Gives containers the amounts that they leave out (`mergePodResourceRequirements`).
fn complete_from(pod: &mut Value, range: &Value) {
    let limits = list(&range["spec"], "limits").iter();
    let of_containers: Vec<&Value> = limits
        .filter(|limit| text(limit, "type") == "Container")
        .collect();
    let mut notes = Vec::new();
    for (kind, word) in [
        ("containers", "container"),
        ("initContainers", "init container"),
    ] {
        let containers = pod["spec"].get_mut(kind).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let name = text(container, "name").to_owned();
            let limits = give(container, "limits", "default", &of_containers);
            let requests = give(container, "requests", "defaultRequest", &of_containers);
            for (given, what) in [(requests, "request"), (limits, "limit")] {
                if !given.is_empty() {
                    notes.push(format!("{} {what} for {word} {name}", given.join(", ")));
                }
            }
        }
    }
    if !notes.is_empty() {
        let annotations = pod.metadata_mut().entry("annotations");
        let annotations = annotations.or_insert_with(|| json!({}));
        annotations[ANNOTATION] = format!("LimitRanger plugin set: {}", notes.join("; ")).into();
    }
}

/// Gives a container amounts that it does not have; the names of these, sorted.
fn give(container: &mut Value, which: &str, from: &str, limits: &[&Value]) -> Vec<String> {
    let mut given = Vec::new();
    let defaults = limits
        .iter()
        .filter_map(|limit| limit.get(from)?.as_object());
    for (name, amount) in defaults.flatten() {
        let before = container["resources"][which].get(name).is_some();
        if !before || given.contains(name) {
            container["resources"][which][name.as_str()] = amount.clone();
            if !before {
                given.push(name.clone());
            }
        }
    }
    given.sort_unstable();
    given
}

fn amount(resources: &Value, which: &str, name: &str) -> Option<Quantity> {
    resources[which].get(name).map(Quantity::from)
}

fn bounds<'a>(
    limit: &'a Value,
    which: &str,
) -> impl Iterator<Item = (&'a String, Quantity)> + use<'a> {
    let bounds = limit.get(which).and_then(Value::as_object);
    let bounds = bounds.into_iter().flatten();
    bounds.map(|(name, amount)| (name, Quantity::from(amount)))
}

/// `minConstraint`, `maxConstraint` and `limitRequestRatioConstraint`.
fn keep_within(limit: &Value, resources: &Value, errors: &mut Vec<String>) {
    let of = text(limit, "type");
    let both = |name: &str| {
        (
            amount(resources, "requests", name),
            amount(resources, "limits", name),
        )
    };
    for (name, least) in bounds(limit, "min") {
        let start = format!("minimum {name} usage per {of} is {least}");
        errors.extend(match both(name) {
            (None, _) => Some(format!("{start}.  No request is specified")),
            (Some(asked), _) if asked < least => Some(format!("{start}, but request is {asked}")),
            (_, Some(most)) if most < least => Some(format!("{start}, but limit is {most}")),
            _ => None,
        });
    }
    for (name, most) in bounds(limit, "max") {
        let start = format!("maximum {name} usage per {of} is {most}");
        errors.extend(match both(name) {
            (_, None) => Some(format!("{start}.  No limit is specified")),
            (_, Some(limit)) if limit > most => Some(format!("{start}, but limit is {limit}")),
            (Some(asked), _) if asked > most => Some(format!("{start}, but request is {asked}")),
            _ => None,
        });
    }
    for (name, ratio) in bounds(limit, "maxLimitRequestRatio") {
        let start = format!("{name} max limit to request ratio per {of} is {ratio}, but");
        let nonzero = |amount: Option<Quantity>| amount.filter(|amount| !amount.is_zero());
        let (asked, most) = both(name);
        errors.extend(match (nonzero(asked), nonzero(most)) {
            (None, _) => Some(format!("{start} no request is specified or request is 0")),
            (_, None) => Some(format!("{start} no limit is specified or limit is 0")),
            (Some(asked), Some(most)) => {
                let found = most.approximately() / asked.approximately();
                let over = found > ratio.approximately();
                over.then(|| format!("{start} provided ratio is {found:.6}"))
            }
        });
    }
}

/// Checks the request of a claim.
fn check_claim(limit: &Value, resources: &Value, errors: &mut Vec<String>) {
    let least = json!({"type": "PersistentVolumeClaim", "min": limit["min"]});
    keep_within(&least, resources, errors);
    for (name, most) in bounds(limit, "max") {
        let start = format!("maximum {name} usage per PersistentVolumeClaim is {most}");
        errors.extend(match amount(resources, "requests", name) {
            None => Some(format!("{start}.  No request is specified")),
            Some(asked) if asked > most => Some(format!("{start}, but request is {asked}")),
            Some(_) => None,
        });
    }
}

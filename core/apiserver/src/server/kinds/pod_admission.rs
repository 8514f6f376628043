//! The changes to a pod by admission plugins that are on by default
//! (`plugin/pkg/admission/defaulttolerationseconds`, `plugin/pkg/admission/priority`,
//! `plugin/pkg/admission/runtimeclass`, `plugin/pkg/admission/podtopologylabels`).

use std::sync::Arc;

use serde_json::{Value, json};

use super::NotAllocated;
use crate::go;
use crate::object::{JsonMap, Metadata, map_mut, text};
use crate::status::Status;
use crate::storage::Store;

/// The taints of a node that does not answer.
const TAINTS: [&str; 2] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
];
/// The seconds that a pod stays on such a node.
const STAYS: i64 = 300;

const PREEMPTS: &str = "PreemptLowerPriority";
/// The key prefix of priority classes in etcd.
const STORED_BELOW: &str = "/registry/priorityclasses/";

/// The labels of a node that its pods get (`PodTopologyLabels`).
const TOPOLOGY: [&str; 2] = [
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// Priority classes that every cluster has.
const CLASSES: [(&str, i64); 2] = [
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
];

pub(super) fn admit(
    pod: &mut Value,
    live: Option<&Value>,
    store: &Store,
) -> Result<(), NotAllocated> {
    let spec = map_mut(&mut pod["spec"]);
    match live {
        Some(live) => {
            for field in ["priority", "preemptionPolicy"] {
                if !spec.contains_key(field)
                    && let Some(value) = live["spec"].get(field)
                {
                    spec.insert(field.to_owned(), value.clone());
                }
            }
        }
        None => {
            prioritize(spec, store).map_err(NotAllocated::Forbidden)?;
        }
    }
    let tolerations = spec.entry("tolerations").or_insert_with(|| json!([]));
    if let Value::Array(tolerations) = tolerations {
        let missing: Vec<&str> = TAINTS
            .into_iter()
            .filter(|taint| !tolerations.iter().any(|t| tolerates(t, taint)))
            .collect();
        tolerations.extend(missing.into_iter().map(|taint| {
            json!({
                "key": taint,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": STAYS,
            })
        }));
    }
    if live.is_none() {
        run_as_class(spec, store)?;
        let node = text(&pod["spec"], "nodeName").to_owned();
        label_as_node(pod, &node, store);
    }
    Ok(())
}

/// Gives a pod the topology of its node, in the place of its own labels of these names.
pub(in crate::server) fn label_as_node(pod: &mut Value, node: &str, store: &Store) {
    if node.is_empty() {
        return;
    }
    let Some((_, node)) = store.get(&format!("/registry/minions/{node}")) else {
        return;
    };
    for label in TOPOLOGY {
        if let Some(value) = node["metadata"]["labels"].get(label) {
            let labels = pod.metadata_mut().entry("labels");
            labels.or_insert_with(|| json!({}))[label] = value.clone();
        }
    }
}

/// The key prefix of runtime classes in etcd.
const RUNTIMES_BELOW: &str = "/registry/runtimeclasses/";

fn forbidden<T>(why: String) -> Result<T, NotAllocated> {
    Err(NotAllocated::Forbidden(why))
}

/// The runtime class that a pod names.
fn runtime_class<'a>(spec: &JsonMap, store: &'a Store) -> Result<Option<&'a Value>, NotAllocated> {
    match spec.get("runtimeClassName").and_then(Value::as_str) {
        None => Ok(None),
        // The client of the plugin sends no request without a name.
        Some("") => {
            let why = "resource name may not be empty";
            Err(NotAllocated::Failed(Status::internal(why)))
        }
        Some(name) => match store.get(&format!("{RUNTIMES_BELOW}{name}")) {
            Some((_, class)) => Ok(Some(class)),
            None => {
                let name = go::quote(name);
                forbidden(format!("pod rejected: RuntimeClass {name} not found"))
            }
        },
    }
}

/// Why a pod that keeps its rules does not run: only a runtime class gives an overhead (`validateOverhead` of
/// `plugin/pkg/admission/runtimeclass`).
pub(in crate::server) fn overhead_mistake(pod: &Value, store: &Store) -> Option<&'static str> {
    let spec = pod["spec"].as_object()?;
    spec.get("overhead").filter(|own| !own.is_null())?;
    let class = runtime_class(spec, store).ok()?;
    let fixed = class.and_then(|class| class.pointer("/overhead/podFixed"));
    fixed.is_none().then_some(
        "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
    )
}

/// Gives a new pod the fields that its runtime class needs (`plugin/pkg/admission/runtimeclass`).
fn run_as_class(spec: &mut JsonMap, store: &Store) -> Result<(), NotAllocated> {
    let class = runtime_class(spec, store)?.unwrap_or(&Value::Null);
    let fixed = class.pointer("/overhead/podFixed");
    let own = spec.get("overhead").filter(|overhead| !overhead.is_null());
    match (fixed, own) {
        (Some(fixed), Some(own)) if *own != json!({}) && fixed != own => {
            let why = "Pod's Overhead doesn't match RuntimeClass's defined Overhead";
            return forbidden(format!("pod rejected: {why}"));
        }
        (Some(fixed), _) => {
            spec.insert("overhead".to_owned(), fixed.clone());
        }
        _ => {}
    }
    let wanted = class.pointer("/scheduling/nodeSelector");
    for (label, value) in wanted.and_then(Value::as_object).into_iter().flatten() {
        let selector = spec.entry("nodeSelector").or_insert_with(|| json!({}));
        match selector.get(label).and_then(Value::as_str) {
            Some(own) if *value != own => {
                let value = value.as_str().unwrap_or_default();
                return forbidden(format!(
                    "conflict: runtimeClass.scheduling.nodeSelector[{label}] = {value}; \
                     pod.spec.nodeSelector[{label}] = {own}"
                ));
            }
            _ => selector[label] = value.clone(),
        }
    }
    if class.get("scheduling").is_some()
        && let Some(Value::Array(own)) = spec.get_mut("tolerations")
    {
        let more = class.pointer("/scheduling/tolerations");
        own.extend(
            more.and_then(Value::as_array)
                .into_iter()
                .flatten()
                .cloned(),
        );
        *own = merged(own);
    }
    Ok(())
}

/// Tolerations without those that another one makes needless (`MergeTolerations` of
/// `pkg/util/tolerations`). Of equal ones the first stays.
fn merged(all: &[Value]) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::new();
    for (i, toleration) in all.iter().enumerate() {
        let mut later = all[i + 1..].iter().filter(|other| *other != toleration);
        if !merged.iter().any(|other| covers(other, toleration))
            && !later.any(|other| covers(other, toleration))
        {
            merged.push(toleration.clone());
        }
    }
    merged
}

/// Returns whether a toleration tolerates all that another one does (`isSuperset`).
fn covers(wide: &Value, narrow: &Value) -> bool {
    let [key, effect, operator, value] =
        ["key", "effect", "operator", "value"].map(|name| (text(wide, name), text(narrow, name)));
    let seconds = |toleration: &Value| toleration["tolerationSeconds"].as_i64();
    let stays_longer = effect.0 == "NoExecute"
        && seconds(wide).is_some_and(|least| seconds(narrow).is_none_or(|more| more > least));
    let applies = (key.0 == key.1 || (key.0.is_empty() && operator.0 == "Exists"))
        && (effect.0 == effect.1 || effect.0.is_empty())
        && !stays_longer;
    wide == narrow
        || applies
            && match operator.0 {
                "Equal" | "" => operator.1 == "Equal" && value.0 == value.1,
                other => other == "Exists",
            }
}

/// Gives a new pod the priority of its class, or of the default one; it may not name another
/// (`admitPod`).
fn prioritize(spec: &mut JsonMap, store: &Store) -> Result<(), String> {
    let named = spec.get("priorityClassName").and_then(Value::as_str);
    let (priority, policy) = match named.filter(|name| !name.is_empty()) {
        None => {
            let class = default_class(store);
            if let Some(class) = &class {
                let name = class.name().into();
                spec.insert("priorityClassName".to_owned(), name);
            }
            class.map_or((0, PREEMPTS.to_owned()), |class| rank(&class))
        }
        Some(name) => {
            let built_in = CLASSES.iter().find(|(known, _)| *known == name);
            match (store.get(&format!("{STORED_BELOW}{name}")), built_in) {
                (Some((_, class)), _) => rank(class),
                (None, Some((_, priority))) => (*priority, PREEMPTS.to_owned()),
                (None, None) => return Err(format!("no PriorityClass with name {name} was found")),
            }
        }
    };
    const COMPUTED: &str =
        "must not be provided in pod spec; priority admission controller computed";
    const FROM: &str = "from the given PriorityClass name";
    let own = spec.get("priority").and_then(Value::as_i64);
    if let Some(own) = own.filter(|own| *own != priority) {
        return Err(format!(
            "the integer value of priority ({own}) {COMPUTED} {priority} {FROM}"
        ));
    }
    let own = spec.get("preemptionPolicy").and_then(Value::as_str);
    if let Some(own) = own.filter(|own| *own != policy) {
        return Err(format!(
            "the string value of PreemptionPolicy ({own}) {COMPUTED} {policy} {FROM}"
        ));
    }
    spec.insert("priority".to_owned(), priority.into());
    spec.insert("preemptionPolicy".to_owned(), policy.into());
    Ok(())
}

/// The priority of a class, and whether its pods push others away.
fn rank(class: &Value) -> (i64, String) {
    let policy = class.get("preemptionPolicy").and_then(Value::as_str);
    let priority = class["value"].as_i64().unwrap_or(0);
    (priority, policy.unwrap_or(PREEMPTS).to_owned())
}

/// The lowest of the classes that are for pods without one.
pub(in crate::server) fn default_class(store: &Store) -> Option<Arc<Value>> {
    let classes = store.range(STORED_BELOW).map(|(_, _, class)| class);
    classes
        .filter(|class| class["globalDefault"] == true)
        .min_by_key(|class| rank(class).0)
        .map(Arc::clone)
}

fn tolerates(toleration: &Value, taint: &str) -> bool {
    let key = text(toleration, "key");
    (key == taint || key.is_empty()) && matches!(text(toleration, "effect"), "NoExecute" | "")
}

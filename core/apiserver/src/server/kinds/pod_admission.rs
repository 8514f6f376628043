//! What admission plugins that are on by default give a pod
//! (`plugin/pkg/admission/defaulttolerationseconds`, `plugin/pkg/admission/priority`).

use serde_json::{Value, json};

use crate::object::{map_mut, text};

/// The taints of a node that does not answer.
const TAINTS: [&str; 2] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
];
/// How long a pod stays on such a node, in seconds.
const STAYS: i64 = 300;

/// Priority classes that every cluster has.
const CLASSES: [(&str, i64); 2] = [
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
];

pub(super) fn admit(pod: &mut Value, live: Option<&Value>) {
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
            let class = spec.get("priorityClassName").and_then(Value::as_str);
            let priority = CLASSES.iter().find(|(name, _)| Some(*name) == class);
            let priority = priority.map_or(0, |(_, priority)| *priority);
            spec.insert("priority".to_owned(), priority.into());
            spec.entry("preemptionPolicy")
                .or_insert_with(|| "PreemptLowerPriority".into());
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
}

fn tolerates(toleration: &Value, taint: &str) -> bool {
    let key = text(toleration, "key");
    (key == taint || key.is_empty()) && matches!(text(toleration, "effect"), "NoExecute" | "")
}

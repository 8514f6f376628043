//! Defaults that depend on other fields, of the kinds that have no rules of their own.

use serde_json::{Value, json};

use super::{absent, unset};
use crate::go;
use crate::object::JsonMap;
use crate::schema::Struct;

/// The number of a DaemonSet's changes of the template, as an annotation.
pub(crate) const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

const RBAC_GROUP: &str = "rbac.authorization.k8s.io";

/// Defaults of one struct that depend on its other fields.
pub(super) fn dependent(ty: &Struct, map: &mut JsonMap) {
    let text = |map: &JsonMap, field: &str| {
        let value = map.get(field).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    match ty.name.as_ref() {
        "DaemonSetUpdateStrategy" if text(map, "type") == "RollingUpdate" => {
            absent(map, "rollingUpdate", || json!({}));
        }
        "DaemonSetUpdateStrategy" => zero_amounts(map),
        // One that says its type gets no parameters.
        "StatefulSetUpdateStrategy" if text(map, "type").is_empty() => {
            map.insert("type".to_owned(), "RollingUpdate".into());
            absent(map, "rollingUpdate", || json!({}));
        }
        "CSIDriverSpec" => lifecycle_modes(map),
        "StatefulSetSpec" => claims(map),
        "NodeSpec" => pod_ranges(map),
        "NamespaceStatus" => absent(map, "phase", || "Active".into()),
        "NodeStatus" => allocatable(map),
        "DaemonSet" => template_generation(map),
        "Job" => {
            if let Some(Value::Object(spec)) = map.get_mut("spec") {
                job(spec);
            }
            let labels = template_labels(map);
            labels_from(map, labels);
        }
        "FlowSchemaSpec" => absent(map, "matchingPrecedence", || 1000.into()),
        "ExemptPriorityLevelConfiguration" => {
            absent(map, "nominalConcurrencyShares", || 0.into());
            absent(map, "lendablePercent", || 0.into());
        }
        "LimitedPriorityLevelConfiguration" => concurrency_shares(map),
        "QueuingConfiguration" => {
            absent(map, "handSize", || 8.into());
            absent(map, "queues", || 64.into());
            absent(map, "queueLengthLimit", || 50.into());
        }
        "ExactDeviceRequest" | "DeviceSubRequest" => device_count(map),
        "NetworkPolicySpec" => policy_types(map),
        "Subject" => subject(map),
        "RoleRef" if text(map, "apiGroup").is_empty() => {
            map.insert("apiGroup".to_owned(), RBAC_GROUP.into());
        }
        "PersistentVolume" => volume(map),
        "LimitRangeItem" if text(map, "type") == "Container" => limit(map),
        "ReplicationController" => replication_controller(map),
        "HorizontalPodAutoscalerSpec" if ty.field("metrics").is_some() => autoscaler(map),
        "HorizontalPodAutoscalerBehavior" => behavior(map),
        "Secret" => secret(map),
        "CustomResourceDefinition" => stored_versions(map),
        "CustomResourceDefinitionSpec" => definition(map),
        _ => {}
    }
}

/// Makes the capacity what can be allocated (`SetDefaults_NodeStatus`). An empty map is not written.
fn allocatable(status: &mut JsonMap) {
    let capacity = status.get("capacity").and_then(Value::as_object);
    if let Some(capacity) = capacity.filter(|it| !it.is_empty()).cloned() {
        absent(status, "allocatable", || capacity.into());
    }
}

/// The defaults of a rolling update are those of its type. Inside the server these numbers are never absent.
pub(super) fn zero_amounts(strategy: &mut JsonMap) {
    if let Some(Value::Object(rolling)) = strategy.get_mut("rollingUpdate") {
        unset(rolling, "maxUnavailable", || 0.into());
        unset(rolling, "maxSurge", || 0.into());
    }
}

/// Returns whether a field has a value, which may be zero.
fn is_given(map: &JsonMap, field: &str) -> bool {
    map.get(field).is_some_and(|value| !value.is_null())
}

/// The annotation shows a field inside the server, which always has a number.
fn template_generation(daemon_set: &mut JsonMap) {
    if let Some(Value::Object(metadata)) = daemon_set.get_mut("metadata") {
        let annotations = metadata.entry("annotations");
        let annotations = annotations.or_insert_with(|| json!({}));
        if annotations.get(TEMPLATE_GENERATION).is_none() {
            annotations[TEMPLATE_GENERATION] = "0".into();
        }
    }
}

/// `SetDefaults_LimitedPriorityLevelConfiguration`: zero is a number of its own.
fn concurrency_shares(limited: &mut JsonMap) {
    unset(limited, "nominalConcurrencyShares", || 30.into());
    absent(limited, "lendablePercent", || 0.into());
}

/// `SetDefaults_PersistentVolume`, which is not done to the spec of a volume inside an attachment.
fn volume(volume: &mut JsonMap) {
    if let Some(Value::Object(spec)) = volume.get_mut("spec") {
        absent(spec, "persistentVolumeReclaimPolicy", || "Retain".into());
        unset(spec, "volumeMode", || "Filesystem".into());
    }
}

/// `SetDefaults_CSIDriver`: an empty list is replaced, too.
fn lifecycle_modes(spec: &mut JsonMap) {
    let modes = spec.get("volumeLifecycleModes").and_then(Value::as_array);
    if modes.is_none_or(Vec::is_empty) {
        spec.insert("volumeLifecycleModes".to_owned(), json!(["Persistent"]));
    }
}

/// `SetDefaults_CustomResourceDefinitionSpec`.
fn definition(spec: &mut JsonMap) {
    if let Some(Value::Object(names)) = spec.get_mut("names") {
        let kind = names.get("kind").and_then(Value::as_str);
        let kind = kind.unwrap_or_default().to_owned();
        if !kind.is_empty() {
            absent(names, "singular", || go::lower(&kind).into());
            absent(names, "listKind", || format!("{kind}List").into());
        }
    }
    absent(spec, "conversion", || json!({"strategy": "None"}));
}

/// `SetDefaults_CustomResourceDefinition`.
fn stored_versions(definition: &mut JsonMap) {
    let versions = definition.get("spec").map(|spec| &spec["versions"]);
    let versions = versions.and_then(Value::as_array).into_iter().flatten();
    let mut stored = versions.filter(|version| version["storage"] == true);
    let stored = stored.next().map(|version| version["name"].clone());
    if let (Some(Value::Object(status)), Some(stored)) = (definition.get_mut("status"), stored)
        && status
            .get("storedVersions")
            .and_then(Value::as_array)
            .is_none_or(Vec::is_empty)
    {
        status.insert("storedVersions".to_owned(), json!([stored]));
    }
}

/// The range of the addresses of pods is the first of a list of them; where both are given and
/// differ, the single one counts (`Convert_v1_NodeSpec_To_core_NodeSpec` and back).
fn pod_ranges(spec: &mut JsonMap) {
    let alone = spec.get("podCIDR").and_then(Value::as_str);
    let alone = alone.filter(|range| !range.is_empty()).map(Value::from);
    let first = spec
        .get("podCIDRs")
        .and_then(|ranges| ranges.get(0))
        .cloned();
    if let Some(alone) = &alone
        && Some(alone) != first.as_ref()
    {
        spec.insert("podCIDRs".to_owned(), json!([alone]));
    }
    if let (None, Some(first)) = (alone, first) {
        spec.insert("podCIDR".to_owned(), first);
    }
}

fn claims(spec: &mut JsonMap) {
    let claims = spec
        .get_mut("volumeClaimTemplates")
        .and_then(Value::as_array_mut);
    for claim in claims.into_iter().flatten() {
        let Value::Object(members) = claim else {
            continue;
        };
        let rest = std::mem::take(members);
        members.insert("kind".to_owned(), "PersistentVolumeClaim".into());
        members.insert("apiVersion".to_owned(), "v1".into());
        members.extend(
            rest.into_iter()
                .filter(|(name, _)| !matches!(name.as_str(), "kind" | "apiVersion")),
        );
    }
}

fn template_labels(map: &JsonMap) -> Option<Value> {
    map.get("spec")?
        .pointer("/template/metadata/labels")
        .cloned()
}

fn labels_from(map: &mut JsonMap, labels: Option<Value>) {
    let Some(Value::Object(labels)) = labels else {
        return;
    };
    if let Some(Value::Object(metadata)) = map.get_mut("metadata")
        && metadata
            .get("labels")
            .and_then(Value::as_object)
            .is_none_or(JsonMap::is_empty)
        && !labels.is_empty()
    {
        metadata.insert("labels".to_owned(), labels.into());
    }
}

/// `SetDefaults_Job`, which is not done to the template of a CronJob.
fn job(spec: &mut JsonMap) {
    if !is_given(spec, "completions") && !is_given(spec, "parallelism") {
        spec.insert("completions".to_owned(), 1.into());
    }
    if !is_given(spec, "parallelism") {
        spec.insert("parallelism".to_owned(), 1.into());
    }
    for (field, default) in [
        ("completionMode", json!("NonIndexed")),
        ("suspend", json!(false)),
        ("manualSelector", json!(false)),
    ] {
        if !is_given(spec, field) {
            spec.insert(field.to_owned(), default);
        }
    }
    if !is_given(spec, "backoffLimit") {
        let limit = if is_given(spec, "backoffLimitPerIndex") {
            i32::MAX
        } else {
            6
        };
        spec.insert("backoffLimit".to_owned(), limit.into());
    }
    if !is_given(spec, "podReplacementPolicy") {
        let policy = if is_given(spec, "podFailurePolicy") {
            "Failed"
        } else {
            "TerminatingOrFailed"
        };
        spec.insert("podReplacementPolicy".to_owned(), policy.into());
    }
}

/// `SetDefaults_ExactDeviceRequest`, `SetDefaults_DeviceSubRequest`.
fn device_count(request: &mut JsonMap) {
    const EXACT: &str = "ExactCount";
    let mode = request.get("allocationMode").and_then(Value::as_str);
    if mode.is_none_or(str::is_empty) {
        request.insert("allocationMode".to_owned(), EXACT.into());
    }
    if request
        .get("allocationMode")
        .is_some_and(|mode| mode == EXACT)
    {
        absent(request, "count", || 1.into());
    }
}

/// `SetDefaults_NetworkPolicy`.
fn policy_types(spec: &mut JsonMap) {
    let has = |spec: &JsonMap, list: &str| {
        let list = spec.get(list).and_then(Value::as_array);
        list.is_some_and(|list| !list.is_empty())
    };
    if has(spec, "policyTypes") {
        return;
    }
    let mut types = vec!["Ingress"];
    if has(spec, "egress") {
        types.push("Egress");
    }
    spec.insert("policyTypes".to_owned(), types.into());
}

/// `SetDefaults_Subject` of RBAC; the subjects of FlowSchemas have a member for each kind.
fn subject(subject: &mut JsonMap) {
    let kind = subject.get("kind").and_then(Value::as_str);
    if subject.contains_key("name") && matches!(kind, Some("User" | "Group")) {
        absent(subject, "apiGroup", || RBAC_GROUP.into());
    }
}

/// `SetDefaults_LimitRangeItem`.
fn limit(item: &mut JsonMap) {
    let of = |item: &JsonMap, field: &str| match item.get(field) {
        Some(Value::Object(map)) => map.clone(),
        _ => JsonMap::new(),
    };
    let mut default = of(item, "default");
    for (name, value) in of(item, "max") {
        default.entry(name).or_insert(value);
    }
    let mut request = of(item, "defaultRequest");
    for (name, value) in default.clone() {
        request.entry(name).or_insert(value);
    }
    for (name, value) in of(item, "min") {
        request.entry(name).or_insert(value);
    }
    for (field, map) in [("default", default), ("defaultRequest", request)] {
        if !map.is_empty() {
            item.insert(field.to_owned(), map.into());
        }
    }
}

/// `SetDefaults_ReplicationController`.
fn replication_controller(map: &mut JsonMap) {
    let labels = template_labels(map);
    if let (Some(Value::Object(spec)), Some(labels)) = (map.get_mut("spec"), &labels)
        && spec
            .get("selector")
            .and_then(Value::as_object)
            .is_none_or(JsonMap::is_empty)
    {
        spec.insert("selector".to_owned(), labels.clone());
    }
    labels_from(map, labels);
}

/// `SetDefaults_HorizontalPodAutoscaler`.
fn autoscaler(spec: &mut JsonMap) {
    let metrics = spec.get("metrics").and_then(Value::as_array);
    if metrics.is_none_or(Vec::is_empty) {
        let target = json!({"type": "Utilization", "averageUtilization": 80});
        let cpu = json!({"type": "Resource", "resource": {"name": "cpu", "target": target}});
        spec.insert("metrics".to_owned(), json!([cpu]));
    }
}

/// `SetDefaults_HorizontalPodAutoscalerBehavior`.
fn behavior(behavior: &mut JsonMap) {
    let up = json!({
        "stabilizationWindowSeconds": 0, "selectPolicy": "Max",
        "policies": [
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ],
    });
    let down = json!({
        "selectPolicy": "Max",
        "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
    });
    let given = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
    for (direction, rules) in [("scaleUp", up), ("scaleDown", down)] {
        let entry = behavior.entry(direction).or_insert_with(|| json!({}));
        if entry.is_null() {
            *entry = json!({});
        }
        if let (Value::Object(entry), Value::Object(rules)) = (entry, rules) {
            for (name, value) in rules {
                if !given(entry.get(&name)) {
                    entry.insert(name, value);
                }
            }
        }
    }
}

/// `stringData` is only written: it becomes data (`Convert_v1_Secret_To_core_Secret`).
fn secret(secret: &mut JsonMap) {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let Some(Value::Object(texts)) = secret.remove("stringData") else {
        return;
    };
    if texts.is_empty() {
        return;
    }
    let data = secret.entry("data").or_insert_with(|| json!({}));
    for (name, text) in texts {
        data[name] = STANDARD.encode(text.as_str().unwrap_or_default()).into();
    }
}

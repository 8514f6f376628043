//! Fills in defaults before the server validates and stores (`pkg/apis/*/v1/defaults.go`, v1.36):
//! those that depend on other fields. The table of types has all other defaults.

mod image;
mod kinds;

pub(crate) use kinds::TEMPLATE_GENERATION;

use serde_json::{Value, json};

use super::{Quantity, Scalar, Struct, Type, pod_amounts};
use crate::object::JsonMap;

/// Fills in defaults, from the outside in.
pub fn fill_defaults(value: &mut Value, ty: &Struct) {
    let Value::Object(map) = value else { return };
    for field in &ty.fields {
        if let Some(default) = &field.default
            && map
                .get(&field.name)
                .is_none_or(|value| value.is_null() || !field.pointer && value == "")
            && (field.pointer || !is_zero(default))
        {
            map.insert(field.name.clone(), default.clone());
        }
    }
    dependent(ty, map);
    for (name, value) in map {
        // Below a scalar there is nothing.
        if matches!(value, Value::Object(_) | Value::Array(_))
            && let Some(field) = ty.field(name)
        {
            descend(value, &field.ty);
        }
    }
}

/// Returns whether a default equals the zero value, which the field has anyway if it is not a
/// pointer.
fn is_zero(default: &Value) -> bool {
    default.as_str() == Some("") || default.as_i64() == Some(0)
}

fn descend(value: &mut Value, ty: &Type) {
    match (ty, value) {
        (Type::Struct(inner), value) => fill_defaults(value, inner),
        (Type::List(list), Value::Array(items)) => {
            items.iter_mut().for_each(|item| descend(item, &list.item));
        }
        (Type::Map(map), Value::Object(members))
            if matches!(map.value, Type::Scalar(Scalar::Quantity)) =>
        {
            round_resources(members);
        }
        (Type::Map(map), Value::Object(members)) => {
            members
                .values_mut()
                .for_each(|value| descend(value, &map.value));
        }
        _ => {}
    }
}

/// Defaults of one struct that depend on its other fields.
fn dependent(ty: &Struct, map: &mut JsonMap) {
    match ty.name.as_ref() {
        "DeploymentStrategy"
            if map.get("type").and_then(Value::as_str) == Some("RollingUpdate") =>
        {
            absent(map, "rollingUpdate", || json!({}));
        }
        "DeploymentStrategy" => kinds::zero_amounts(map),
        "Container" | "EphemeralContainer" => {
            let image = map.get("image").and_then(Value::as_str);
            let policy = pull_policy(image.unwrap_or_default());
            absent(map, "imagePullPolicy", || policy.into());
        }
        "Volume" if map.len() == 1 && map.contains_key("name") => {
            map.insert("emptyDir".to_owned(), json!({}));
        }
        "ImageVolumeSource" => {
            let image = map.get("reference").and_then(Value::as_str);
            let policy = pull_policy(image.unwrap_or_default());
            absent(map, "pullPolicy", || policy.into());
        }
        "ServicePort" => {
            if let Some(port) = map.get("port").cloned() {
                absent(map, "targetPort", || port);
            }
        }
        "PodSpec" => service_account(map),
        "PodStatus" => pod_addresses(map),
        "ServiceSpec" => service(map),
        "Namespace" => name_label(map),
        "Service" => ingress_modes(map),
        "Pod" => pod(map),
        _ => kinds::dependent(ty, map),
    }
}

/// An image whose tag says that it changes is pulled each time.
fn pull_policy(image: &str) -> &'static str {
    match image::tag(image) {
        Some("latest") => "Always",
        _ => "IfNotPresent",
    }
}

/// The service account has two names in the API and one in the server
/// (`Convert_v1_PodSpec_To_core_PodSpec` and back).
fn service_account(spec: &mut JsonMap) {
    let named = |field: &str| spec.get(field).filter(|name| *name != "").cloned();
    let name = named("serviceAccountName").or_else(|| named("serviceAccount"));
    for field in ["serviceAccountName", "serviceAccount"] {
        match &name {
            Some(name) if !name.is_null() => {
                spec.insert(field.to_owned(), name.clone());
            }
            _ => {
                spec.remove(field);
            }
        }
    }
}

/// An address is the first of a list of them; where both are given and differ, the single one
/// counts (`Convert_v1_PodStatus_To_core_PodStatus` and back).
fn pod_addresses(status: &mut JsonMap) {
    let first = |status: &JsonMap| {
        let ip = status.get("podIPs")?.get(0)?.get("ip")?;
        ip.as_str().map(str::to_owned)
    };
    let alone = status.get("podIP").and_then(Value::as_str);
    let alone = alone.unwrap_or_default();
    if !alone.is_empty() && first(status).as_deref() != Some(alone) {
        let alone = json!([{"ip": alone}]);
        status.insert("podIPs".to_owned(), alone);
    }
    if let Some(ip) = first(status) {
        status.insert("podIP".to_owned(), ip.into());
    }
}

/// A namespace says its name in a label, for selectors (`SetDefaults_Namespace`).
fn name_label(namespace: &mut JsonMap) {
    let Some(Value::Object(metadata)) = namespace.get_mut("metadata") else {
        return;
    };
    let name = metadata.get("name").cloned();
    if let Some(name) = name.filter(|name| *name != "") {
        let labels = metadata.entry("labels").or_insert_with(|| json!({}));
        if let Value::Object(labels) = labels {
            labels.insert("kubernetes.io/metadata.name".to_owned(), name);
        }
    }
}

/// Lists of resources keep thousandths (`SetDefaults_ResourceList`).
fn round_resources(resources: &mut JsonMap) {
    for value in resources.values_mut() {
        let quantity = Quantity::from(&*value);
        let rounded = quantity.rounded_to_thousandths();
        if rounded != quantity {
            *value = rounded.to_string().into();
        }
    }
}

fn absent(map: &mut JsonMap, field: &str, default: impl FnOnce() -> Value) {
    if map
        .get(field)
        .is_none_or(|value| value.is_null() || *value == 0 || *value == "")
    {
        map.insert(field.to_owned(), default());
    }
}

/// Fills in a field that is a pointer in Go: zero and the empty text are values of it.
fn unset(map: &mut JsonMap, field: &str, default: impl FnOnce() -> Value) {
    if map.get(field).is_none_or(Value::is_null) {
        map.insert(field.to_owned(), default());
    }
}

fn service(spec: &mut JsonMap) {
    let kind = spec
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let affinity = spec.get("sessionAffinity").and_then(Value::as_str);
    if affinity == Some("None") {
        spec.remove("sessionAffinityConfig");
    } else if affinity == Some("ClientIP") {
        let config = spec
            .entry("sessionAffinityConfig")
            .or_insert_with(|| json!({}));
        if config.pointer("/clientIP/timeoutSeconds").is_none() {
            *config = json!({"clientIP": {"timeoutSeconds": 10800}});
        }
    }
    let addresses = spec.get("externalIPs").and_then(Value::as_array);
    let on_nodes = matches!(kind.as_str(), "NodePort" | "LoadBalancer");
    let cluster_ip = kind == "ClusterIP";
    if on_nodes || cluster_ip && addresses.is_some_and(|ips| !ips.is_empty()) {
        absent(spec, "externalTrafficPolicy", || "Cluster".into());
    }
    if kind == "LoadBalancer" {
        absent(spec, "allocateLoadBalancerNodePorts", || true.into());
    }
    if on_nodes || cluster_ip {
        unset(spec, "internalTrafficPolicy", || "Cluster".into());
    }
}

/// An address of a load balancer is one to send packets to, unless it says otherwise.
fn ingress_modes(service: &mut JsonMap) {
    let balances = service.get("spec").map(|spec| &spec["type"]) == Some(&"LoadBalancer".into());
    let ingresses = service
        .get_mut("status")
        .and_then(|status| status.pointer_mut("/loadBalancer/ingress"))
        .and_then(Value::as_array_mut);
    let ingresses = ingresses
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut);
    for ingress in ingresses.filter(|_| balances) {
        if ingress.contains_key("ip") {
            unset(ingress, "ipMode", || "VIP".into());
        }
    }
}

fn pod(pod: &mut JsonMap) {
    let Some(Value::Object(spec)) = pod.get_mut("spec") else {
        return;
    };
    absent(spec, "enableServiceLinks", || true.into());
    let host_network = spec.get("hostNetwork") == Some(&Value::Bool(true));
    for list in ["containers", "initContainers"] {
        let Some(Value::Array(containers)) = spec.get_mut(list) else {
            continue;
        };
        for container in containers {
            requests_from_limits(container);
            if host_network && let Some(Value::Array(ports)) = container.get_mut("ports") {
                for port in ports.iter_mut().filter_map(Value::as_object_mut) {
                    if let Some(number) = port.get("containerPort").cloned() {
                        absent(port, "hostPort", || number);
                    }
                }
            }
        }
    }
    if spec.contains_key("resources")
        && let Some(spec) = pod.get_mut("spec")
    {
        resources_of_pod(spec);
    }
}

/// Gives a pod with resources of its own what it leaves out of them, from its containers and from its limits
/// (`defaultHugePagePodLimits`, `defaultPodRequests`).
fn resources_of_pod(spec: &mut Value) {
    const PAGES: &str = "hugepages-";
    let given = |spec: &Value, which: &str| match &spec["resources"][which] {
        Value::Object(amounts) => amounts.clone(),
        _ => JsonMap::new(),
    };
    let (mut requests, mut limits) = (given(spec, "requests"), given(spec, "limits"));
    if requests.is_empty() && limits.is_empty() {
        return;
    }
    for (name, amount) in pod_amounts::of_containers(spec, "limits") {
        if name.starts_with(PAGES) && !requests.contains_key(&name) {
            let amount = amount.to_string().into();
            limits.entry(name).or_insert(amount);
        }
    }
    if !limits.is_empty() {
        for (name, amount) in pod_amounts::of_containers(spec, "requests") {
            if matches!(name.as_str(), "cpu" | "memory") {
                let amount = amount.to_string().into();
                requests.entry(name).or_insert(amount);
            }
        }
        for (name, limit) in limits.clone() {
            if matches!(name.as_str(), "cpu" | "memory") || name.starts_with(PAGES) {
                requests.entry(name).or_insert(limit);
            }
        }
    }
    for (which, amounts) in [("requests", requests), ("limits", limits)] {
        if !amounts.is_empty() {
            spec["resources"][which] = amounts.into();
        }
    }
}

/// A pod that names a limit but no request asks for as much as it may have.
fn requests_from_limits(container: &mut Value) {
    let Some(Value::Object(resources)) = container.get_mut("resources") else {
        return;
    };
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else {
        return;
    };
    // No limit asks for nothing: the empty map is not written.
    if limits.is_empty() {
        return;
    }
    let requests = resources.entry("requests").or_insert_with(|| json!({}));
    if let Value::Object(requests) = requests {
        for (name, limit) in limits {
            requests.entry(name).or_insert(limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::text;
    use crate::schema::builtin;

    #[test]
    fn a_container_without_a_tag_is_always_pulled() {
        for (image, policy) in [
            ("nginx", "Always"),
            ("nginx:latest", "Always"),
            ("nginx:1.25", "IfNotPresent"),
            ("registry:5000/nginx", "Always"),
            ("nginx@sha256:0", "IfNotPresent"),
        ] {
            let mut container = json!({"name": "a", "image": image, "resources": {}});
            fill_defaults(&mut container, builtin("Container").unwrap());
            assert_eq!(text(&container, "imagePullPolicy"), policy, "{image}");
        }
    }

    #[test]
    fn a_volume_of_an_image_is_pulled_as_a_container_is() {
        let mut volume = json!({"name": "v", "image": {"reference": "data:1"}});
        fill_defaults(&mut volume, builtin("Volume").unwrap());
        assert_eq!(volume["image"]["pullPolicy"], "IfNotPresent");
    }

    #[test]
    fn a_pod_with_limits_of_its_own_requests_what_its_containers_do_or_the_limits() {
        let container =
            |resources: Value| json!({"name": "c", "image": "i", "resources": resources});
        let mut pod = json!({"spec": {
            "resources": {"limits": {"cpu": "2", "memory": "1Gi"}},
            "containers": [
                container(json!({"requests": {"cpu": "250m", "example.com/gpu": "1"}})),
                container(json!({"requests": {"cpu": "500m"}, "limits": {"hugepages-2Mi": "4Mi"}})),
            ],
        }});
        fill_defaults(&mut pod, builtin("Pod").unwrap());
        assert_eq!(
            pod["spec"]["resources"],
            json!({
                "limits": {"cpu": "2", "memory": "1Gi", "hugepages-2Mi": "4Mi"},
                "requests": {"cpu": "750m", "memory": "1Gi", "hugepages-2Mi": "4Mi"},
            })
        );
        let mut pod = json!({"spec": {"resources": {"requests": {"cpu": "1"}}, "containers": [
            container(json!({"limits": {"cpu": "2"}}))]}});
        fill_defaults(&mut pod, builtin("Pod").unwrap());
        assert_eq!(pod["spec"]["resources"], json!({"requests": {"cpu": "1"}}));
    }

    #[test]
    fn only_a_rolling_update_has_rolling_parameters() {
        let deployment = builtin("Deployment").unwrap();
        let mut rolling = json!({"spec": {"strategy": {}, "template": {"spec": {}}}});
        fill_defaults(&mut rolling, deployment);
        assert_eq!(
            rolling["spec"]["strategy"]["rollingUpdate"]["maxSurge"],
            "25%"
        );
        let mut recreate = json!({"spec": {"strategy": {"type": "Recreate"}}});
        fill_defaults(&mut recreate, deployment);
        assert_eq!(recreate["spec"]["strategy"], json!({"type": "Recreate"}));
    }
}

//! Values for the fields that a message names.

use optimist_apiserver::apply::{Path, PathElement};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::schema::{Scalar, Struct, Type};
use serde_json::{Map, Value, json};

use super::path::{At, next};

/// The depth to which a value is filled.
const DEPTH: usize = 8;

/// Two different values that a field can have: the stored one, and the one that is refused.
pub(crate) fn values(path: &Path, root: Option<&Struct>) -> [Value; 2] {
    if let Some(two) = enumerated(path) {
        return two.map(Value::from);
    }
    if path.to_string() == ".spec.versions" {
        return ["a", "b"].map(|text| json!([version_of_definition(text)]));
    }
    let mut at = root.map_or(At::Open, At::Struct);
    for element in &path.0 {
        at = next(at, element).unwrap_or(At::Open);
    }
    [0, 1].map(|which| {
        let mut value = match at {
            At::Type(ty) => of_type(ty, which, DEPTH),
            At::Struct(inner) => of_struct(inner, which, DEPTH),
            At::Open => json!(["a", "b"][which]),
        };
        // An item keeps its keys.
        match path.0.last() {
            Some(PathElement::Key(keys)) => {
                // Without a schema, it is not known what an item has.
                if !value.is_object() {
                    value = json!({"value": value});
                }
                for (name, key) in keys {
                    value[name] = key.clone();
                }
            }
            Some(PathElement::Value(own)) => value = own.clone(),
            _ => {}
        }
        value
    })
}

/// Two values of a field that has a fixed set of them. The stored one is not the default, so that it
/// shows when the default comes back.
fn enumerated(path: &Path) -> Option<[&'static str; 2]> {
    let mut fields = path.0.iter().rev().filter_map(|element| match element {
        PathElement::Field(name) => Some(name.as_str()),
        _ => None,
    });
    let (last, parent) = (fields.next()?, fields.next().unwrap_or_default());
    Some(match (parent, last) {
        ("strategy", "type") => ["Recreate", "RollingUpdate"],
        ("spec", "type") => ["ClusterIP", "NodePort"],
        (_, "imagePullPolicy") => ["Always", "IfNotPresent"],
        (_, "protocol") => ["TCP", "UDP"],
        (_, "dnsPolicy") => ["Default", "ClusterFirst"],
        (_, "sessionAffinity") => ["ClientIP", "None"],
        (_, "externalTrafficPolicy" | "internalTrafficPolicy") => ["Local", "Cluster"],
        (_, "terminationMessagePolicy") => ["FallbackToLogsOnError", "File"],
        _ => return None,
    })
}

fn of_type(ty: &Type, which: usize, depth: usize) -> Value {
    match ty {
        Type::Scalar(scalar) => of_scalar(*scalar, which),
        Type::Struct(inner) => of_struct(inner, which, depth),
        Type::Map(inner) => {
            let mut map = Map::new();
            map.insert("a".to_owned(), of_type(&inner.value, which, depth));
            Value::Object(map)
        }
        Type::List(inner) if depth > 0 => json!([of_type(&inner.item, which, depth - 1)]),
        Type::List(_) => json!([]),
        Type::Any => json!(["a", "b"][which]),
        Type::Definition(_) => {
            let ty = ["string", "integer"][which];
            json!({ "type": ty })
        }
    }
}

fn of_scalar(scalar: Scalar, which: usize) -> Value {
    match scalar {
        Scalar::String | Scalar::Untyped => json!(["a", "b"][which]),
        Scalar::Raw => json!({ "value": which }),
        Scalar::Bool => json!([true, false][which]),
        Scalar::Int32 | Scalar::Int64 | Scalar::Number | Scalar::IntOrString => json!(which + 2),
        Scalar::Bytes => json!(["YQ==", "Yg=="][which]),
        Scalar::Time => json!(["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"][which]),
        Scalar::MicroTime => {
            json!(["2026-01-01T00:00:00.000000Z", "2026-01-02T00:00:00.000000Z"][which])
        }
        Scalar::Quantity => json!(["1", "2"][which]),
    }
}

/// An item of which the server checks more than one field.
fn checked_item(name: &str, which: usize) -> Option<Value> {
    Some(match name {
        "PolicyRule" => {
            let verb = ["get", "list"][which];
            json!({"verbs": [verb], "apiGroups": [""], "resources": ["pods"]})
        }
        "NetworkPolicyPort" => {
            let protocol = ["TCP", "UDP"][which];
            json!({"protocol": protocol})
        }
        // Of another version than v1 it would be refused.
        "ObjectFieldSelector" => {
            let path = ["metadata.name", "metadata.namespace"][which];
            json!({"fieldPath": path})
        }
        "MetricSpec" => {
            let share = [50, 60][which];
            let target = json!({"type": "Utilization", "averageUtilization": share});
            json!({"type": "Resource", "resource": {"name": "cpu", "target": target}})
        }
        _ => return None,
    })
}

/// The first text of a struct, or else its first field.
fn of_struct(inner: &Struct, which: usize, depth: usize) -> Value {
    if let Some(item) = checked_item(&inner.name, which).filter(|_| depth > 0) {
        return item;
    }
    let text = |ty: &Type| matches!(ty, Type::Scalar(Scalar::String));
    let fields = &inner.fields;
    let first = fields
        .iter()
        .find(|field| text(&field.ty))
        .or(fields.first());
    let mut map = Map::new();
    if let Some(field) = first.filter(|_| depth > 0) {
        map.insert(field.name.clone(), of_type(&field.ty, which, depth - 1));
    }
    Value::Object(map)
}

/// Fills in the fields that an object of a kind with rules needs, so that the server accepts its
/// next version.
pub(super) fn skeleton(object: &mut Value) {
    let labels = json!({"app": object.name()});
    let template = json!({"metadata": {"labels": labels},
        "spec": {"containers": [{"name": "app", "image": "example:1"}]}});
    match text(object, "kind") {
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" => {
            object["spec"] = json!({"selector": {"matchLabels": labels}, "template": template});
        }
        "Pod" => object["spec"] = template["spec"].clone(),
        "PodTemplate" => object["template"] = template,
        "CustomResourceDefinition" => object["spec"] = definition(object.name()),
        "Service" => object["spec"] = json!({"ports": [{"port": 80, "protocol": "TCP"}]}),
        "ReplicationController" => {
            object["spec"] = json!({"selector": labels, "template": template});
        }
        _ => checked_by_rows(object),
    }
}

/// A request for a certificate in PEM, as small as it can be.
const REQUEST: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUFJd0FBPT0KLS0tLS1FTkQgQ0VSVElG\
     SUNBVEUgUkVRVUVTVC0tLS0tCg==";

/// The new pods, for a policy.
fn new_pods() -> Value {
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
        "resources": ["pods"]});
    json!({"resourceRules": [rule]})
}

/// The required fields of kinds that the server checks by its table.
fn checked_by_rows(object: &mut Value) {
    const GROUP: &str = "rbac.authorization.k8s.io";
    let name = object.name().to_owned();
    let job = json!({"template": {"spec": {
        "containers": [{"name": "app", "image": "example:1"}], "restartPolicy": "Never"}}});
    let storage = json!({"storage": "1Gi"});
    match text(object, "kind") {
        "Job" => {
            let labels = json!({"app": name});
            object["spec"] = job;
            object["spec"]["manualSelector"] = true.into();
            object["spec"]["selector"] = json!({"matchLabels": labels});
            object["spec"]["template"]["metadata"] = json!({"labels": labels});
        }
        "CronJob" => {
            object["spec"] = json!({"schedule": "0 0 * * *", "jobTemplate": {"spec": job}});
        }
        "PersistentVolume" => {
            object["spec"] = json!({"capacity": storage, "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": "/data"}});
        }
        "PersistentVolumeClaim" => {
            object["spec"] = json!({"accessModes": ["ReadWriteOnce"],
                "resources": {"requests": storage}});
        }
        "CertificateSigningRequest" => {
            object["spec"] = json!({"request": REQUEST, "usages": ["client auth"],
                "signerName": "example.com/signer"});
        }
        "EndpointSlice" => object["addressType"] = "IPv4".into(),
        "ValidatingAdmissionPolicy" => {
            object["spec"] = json!({"matchConstraints": new_pods(),
                "validations": [{"expression": "true"}]});
        }
        "ValidatingAdmissionPolicyBinding" => {
            object["spec"] = json!({"policyName": name, "validationActions": ["Deny"]});
        }
        "APIService" => {
            let (version, group) = name.split_once('.').unwrap_or((&name, ""));
            object["spec"] = json!({"group": group, "version": version,
                "groupPriorityMinimum": 1000, "versionPriority": 15});
        }
        "HorizontalPodAutoscaler" => {
            let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": name});
            object["spec"] = json!({"scaleTargetRef": target, "maxReplicas": 10});
        }
        "Ingress" => {
            let service = json!({"name": "example", "port": {"number": 80}});
            object["spec"] = json!({"defaultBackend": {"service": service}});
        }
        "IngressClass" => object["spec"] = json!({"controller": "example.com/controller"}),
        "ClusterRoleBinding" | "RoleBinding" => {
            object["roleRef"] = json!({"apiGroup": GROUP, "kind": "ClusterRole", "name": "view"});
        }
        "StorageClass" => object["provisioner"] = "example.com/provisioner".into(),
        "RuntimeClass" => object["handler"] = "example".into(),
        _ => rarely_written(object),
    }
}

/// The required fields of kinds that the parts of a cluster write, and people seldom.
fn rarely_written(object: &mut Value) {
    match text(object, "kind") {
        "CSIStorageCapacity" => object["storageClassName"] = "example".into(),
        "MutatingAdmissionPolicy" => {
            let mutation = json!({"patchType": "ApplyConfiguration",
                "applyConfiguration": {"expression": "Object{}"}});
            object["spec"] = json!({"matchConstraints": new_pods(), "mutations": [mutation],
                "reinvocationPolicy": "Never"});
        }
        "MutatingAdmissionPolicyBinding" => {
            object["spec"] = json!({"policyName": object.name()});
        }
        "ControllerRevision" => {
            object["data"] = json!({});
            object["revision"] = 1.into();
        }
        "FlowSchema" => {
            object["spec"] = json!({"priorityLevelConfiguration": {"name": "example"}});
        }
        "PriorityLevelConfiguration" => {
            let limited = json!({"limitResponse": {"type": "Reject"}});
            object["spec"] = json!({"type": "Limited", "limited": limited});
        }
        "IPAddress" => {
            let parent = json!({"resource": "services", "namespace": "default", "name": "example"});
            object["spec"] = json!({"parentRef": parent});
        }
        "ResourceSlice" => {
            let pool = json!({"name": "example", "generation": 1, "resourceSliceCount": 1});
            object["spec"] = json!({"driver": "example.com", "pool": pool, "allNodes": true});
        }
        "VolumeAttachment" => {
            let source = json!({"persistentVolumeName": "example"});
            object["spec"] = json!({"attacher": "example.com", "nodeName": "example",
                "source": source});
        }
        "VolumeAttributesClass" => {
            object["driverName"] = "example.com".into();
            object["parameters"] = json!({"type": "example"});
        }
        _ => {}
    }
}

/// Fills in the fields that a message does not name but their items need.
pub(super) fn complete(object: &mut Value) {
    let containers = object.pointer_mut("/spec/template/spec/containers");
    for container in containers
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        // A message can name a container by its value, which is then no object.
        .filter(|container| container.is_object())
    {
        if text(container, "image").is_empty() {
            container["image"] = "example:1".into();
        }
        let variables = container.get_mut("env").and_then(Value::as_array_mut);
        for variable in variables.into_iter().flatten() {
            let field = variable.pointer_mut("/valueFrom/fieldRef");
            let lacks_path = |it: &&mut Value| it.is_object() && text(it, "fieldPath").is_empty();
            if let Some(field) = field.filter(lacks_path) {
                field["fieldPath"] = "metadata.name".into();
            }
        }
    }
}

/// A definition by its name, `PLURAL.GROUP`.
fn definition(name: &str) -> Value {
    let (plural, group) = name.split_once('.').unwrap_or((name, ""));
    let singular = plural.strip_suffix('s').unwrap_or(plural);
    let names = json!({"plural": plural, "singular": singular, "kind": "Example",
        "listKind": "ExampleList"});
    json!({"group": group, "scope": "Namespaced", "names": names,
        "versions": [version_of_definition("")]})
}

/// A version of a definition, with a description.
fn version_of_definition(description: &str) -> Value {
    json!({"name": "v1", "served": true, "storage": true, "schema": {
        "openAPIV3Schema": {"type": "object", "description": description}}})
}

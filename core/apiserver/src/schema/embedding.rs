//! The structs that types of the API embed.

/// The Go field of a type that has a field by embedding a struct: errors about types name it
/// (`decodeState.object` of `sigs.k8s.io/json/internal/golang/encoding/json`).
pub(super) fn embedded(owner: &str, field: &str) -> Option<&'static str> {
    let found = match (owner, field) {
        ("Volume", "name") | ("EphemeralContainer", "targetContainerName") => return None,
        ("Volume", _) => "VolumeSource",
        // The kind of the list of a StatefulSet, which is not one of a whole object.
        ("PersistentVolumeClaim", "apiVersion" | "kind") => "TypeMeta",
        ("EphemeralContainer", _) => "EphemeralContainerCommon",
        ("Probe", "exec" | "grpc" | "httpGet" | "tcpSocket") => "ProbeHandler",
        (
            "ConfigMapEnvSource"
            | "ConfigMapKeySelector"
            | "ConfigMapProjection"
            | "ConfigMapVolumeSource"
            | "SecretEnvSource"
            | "SecretKeySelector"
            | "SecretProjection",
            "name",
        ) => "LocalObjectReference",
        ("NamedRuleWithOperations", "operations") => "RuleWithOperations",
        ("NamedRuleWithOperations", "apiGroups" | "apiVersions" | "resources" | "scope") => {
            "RuleWithOperations.Rule"
        }
        ("RuleWithOperations", "apiGroups" | "apiVersions" | "resources" | "scope") => "Rule",
        ("IngressRule", "http") => "IngressRuleValue",
        (
            "PersistentVolumeSpec",
            "accessModes"
            | "capacity"
            | "claimRef"
            | "mountOptions"
            | "nodeAffinity"
            | "persistentVolumeReclaimPolicy"
            | "storageClassName"
            | "volumeAttributesClassName"
            | "volumeMode",
        ) => return None,
        ("PersistentVolumeSpec", _) => "PersistentVolumeSource",
        (
            "DeviceAllocationConfiguration"
            | "DeviceClaimConfiguration"
            | "DeviceClassConfiguration",
            "opaque",
        ) => "DeviceConfiguration",
        _ => return None,
    };
    Some(found)
}

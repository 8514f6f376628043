//! Objects of a real cluster, as `kubectl get -o yaml --show-managed-fields` printed them.

/// Each object.
pub const LIVE: [&str; 11] = [
    include_str!("backup.yaml"),
    include_str!("configmap.yaml"),
    include_str!("cronjob.yaml"),
    include_str!("daemonset.yaml"),
    include_str!("deployment.yaml"),
    include_str!("horizontalpodautoscaler.yaml"),
    include_str!("ingress.yaml"),
    include_str!("poddisruptionbudget.yaml"),
    include_str!("secret.yaml"),
    include_str!("service.yaml"),
    include_str!("statefulset.yaml"),
];

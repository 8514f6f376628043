//! Which values without an owner are defaults.

use optimist_diagnose::case::Case;
use optimist_diagnose::ownership::{ObjectOwnership, Unowned};
use serde_json::{Value, json};

fn unowned(object: &Value) -> Vec<(String, Unowned)> {
    let installed = Case::about(object.clone()).install().expect("installed");
    let root = &installed.world.subject().resource().root;
    let ownership = ObjectOwnership::read(object, root);
    let lines = ownership.unowned().filter_map(|it| {
        let why = it.unowned.filter(|why| *why != Unowned::NeverOwned)?;
        Some((it.line.pointer.clone(), why))
    });
    lines.collect()
}

#[test]
fn what_is_allocated_or_comes_from_admission_is_no_default() {
    let service = json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "resourceVersion": "7",
            "finalizers": ["service.kubernetes.io/load-balancer-cleanup"],
            "managedFields": [{"manager": "helm", "operation": "Apply", "apiVersion": "v1",
                "fieldsType": "FieldsV1", "time": "2026-01-01T00:00:00Z",
                "fieldsV1": {"f:spec": {"f:selector": {}, "f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {
                    ".": {}, "f:port": {}}}}}}]},
        "spec": {"clusterIP": "10.96.0.7", "clusterIPs": ["10.96.0.7"], "ipFamilies": ["IPv4"],
            "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
            "selector": {"app": "web"}, "sessionAffinity": "None", "type": "ClusterIP"},
        "status": {"loadBalancer": {}}});
    let found = unowned(&service);
    let why = |pointer: &str| found.iter().find(|it| it.0 == pointer).map(|it| it.1);
    for pointer in [
        "/metadata/finalizers/0",
        "/spec/clusterIP",
        "/spec/clusterIPs/0",
        "/spec/ipFamilies/0",
    ] {
        assert_eq!(why(pointer), Some(Unowned::NoEntry), "{pointer}");
    }
    for pointer in [
        "/spec/sessionAffinity",
        "/spec/type",
        "/spec/ports/0/protocol",
    ] {
        assert_eq!(why(pointer), Some(Unowned::Default), "{pointer}");
    }
}

//! Pod (`pkg/registry/core/pod`, `pkg/apis/core/validation`).

use serde_json::{Value, json};

use super::label_selector::list;
use super::{
    LooksAt, Notices, Rules, StatusRules, metadata, names, pod_admission, pod_annotations,
    pod_disabled, pod_parts, pod_profiles, pod_scheduling, pod_status, pod_template, pod_update,
    pod_warnings,
};
use crate::field::ErrorPath;
use crate::object::{Metadata, text};
use crate::schema::Quantity;
use crate::server::admission::complete;
use crate::status::FieldError;

pub(super) const RULES: Rules = Rules {
    allocate: |pod, live, supply| {
        pod_admission::admit(pod, live, supply.store)?;
        if live.is_none() {
            complete(pod, supply.store);
        }
        Ok(())
    },
    prepare: |pod, live| {
        pod_disabled::drop_from_pod(pod, live);
        if live.is_none() {
            if pod["spec"]["terminationGracePeriodSeconds"].as_i64() < Some(0) {
                pod["spec"]["terminationGracePeriodSeconds"] = 1.into();
            }
            pod_scheduling::merge_label_keys(pod);
            // `GetPodQOS`: a class that the request gives stays.
            let class = match text(&pod["status"], "qosClass") {
                "" => quality_of_service(pod),
                given => given,
            };
            pod["status"] = json!({"phase": "Pending", "qosClass": class});
            if !list(&pod["spec"], "schedulingGates").is_empty() {
                // `applySchedulingGatedCondition`
                pod["status"]["conditions"] = json!([{
                    "type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
                    "message": "Scheduling is blocked due to non-empty scheduling gates",
                    "lastProbeTime": null,
                    "lastTransitionTime": pod.meta_text("creationTimestamp"),
                }]);
            }
            pod_profiles::from_annotations(pod);
        }
    },
    validate,
    validate_change: |pod, empties, live| {
        pod_update::validate(&pod["spec"], empties, &live["spec"])
    },
    warn,
    notices: &Notices {
        as_given: pod_profiles::warn_as_given,
        status: pod_status::warn,
        ..Notices::NONE
    },
    status: StatusRules {
        prepare: pod_status::prepare,
        validate: pod_status::validate,
    },
    others: pod_parts::RULES,
    looks_at: &LooksAt {
        empties: &[pod_parts::EPHEMERAL],
        given_status: true,
        ..LooksAt::NOTHING
    },
    grace: Some(grace),
    returns_deleted: true,
    fields: &[
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ],
    ..Rules::NONE
};

const SPEC: ErrorPath<'static> = ErrorPath::new("spec");

fn validate(pod: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(live) = live {
        errors.extend(metadata::builtin_update(pod, live));
    }
    // An update is also checked like a new pod (`ValidatePodUpdate`).
    errors.extend(metadata_and_spec(pod));
    match live {
        Some(live) => errors.extend(pod_annotations::validate_change(pod, live)),
        None => errors.extend(validate_new(pod)),
    }
    errors
}

/// `validatePodMetadataAndSpec`.
pub(super) fn metadata_and_spec(pod: &Value) -> Vec<FieldError> {
    let mut errors = metadata::builtin(pod, names::subdomain);
    errors.extend(pod_annotations::of_pod(pod));
    let spec = &pod["spec"];
    errors.extend(pod_template::spec_errors(spec, &SPEC, Some(pod)));
    errors.extend(tokens(spec));
    errors.extend(images(spec));
    errors
}

/// Checks what only a new pod may not have (`ValidatePodCreate`).
fn validate_new(pod: &Value) -> Vec<FieldError> {
    let spec = &pod["spec"];
    let mut errors = Vec::new();
    if !list(spec, "ephemeralContainers").is_empty() {
        let field = "spec.ephemeralContainers";
        errors.push(FieldError::forbidden(field, "cannot be set on create"));
    }
    if !text(spec, "nodeName").is_empty() && !list(spec, "schedulingGates").is_empty() {
        let detail = "cannot be set until all schedulingGates have been cleared";
        errors.push(FieldError::forbidden("spec.nodeName", detail));
    }
    errors.extend(pod_profiles::agree(
        &pod["metadata"]["annotations"],
        spec,
        &SPEC,
    ));
    errors
}

/// A token belongs to a service account (`validatePodMetadataAndSpec`).
fn tokens(spec: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if !text(spec, "serviceAccountName").is_empty() {
        return errors;
    }
    for (i, volume) in list(spec, "volumes").iter().enumerate() {
        for (j, source) in list(&volume["projected"], "sources").iter().enumerate() {
            if source.get("serviceAccountToken").is_some() {
                let volume = SPEC.item("volumes", i);
                let source = volume.item("projected.sources", j);
                let field = source.child("serviceAccountToken");
                let detail = "must not be specified when serviceAccountName is not set";
                errors.push(FieldError::forbidden(field, detail));
            }
        }
    }
    errors
}

/// A template may keep spaces around an image for a controller to replace; a pod may not
/// (`validateContainersOnlyForPod`).
fn images(spec: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for kind in ["containers", "initContainers"] {
        for (i, container) in list(spec, kind).iter().enumerate() {
            let image = text(container, "image");
            if image != image.trim() {
                let container = SPEC.item(kind, i);
                let field = container.child("image");
                let detail = "must not have leading or trailing whitespace";
                errors.push(FieldError::invalid(field, &image.into(), detail));
            }
        }
    }
    errors
}

/// Updates of pods have no warnings.
fn warn(pod: &Value, live: Option<&Value>) -> Vec<String> {
    if live.is_some() {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    let reasons = names::label(pod.name());
    if !reasons.is_empty() {
        warnings.push(format!(
            "metadata.name: this is used in the Pod's hostname, which can result in surprising \
             behavior; a DNS label is recommended: [{}]",
            reasons.join(" ")
        ));
    }
    warnings.extend(pod_warnings::for_template(pod, None));
    warnings
}

/// Returns the seconds that a pod has to stop: none if no kubelet knows of it or it has ended
/// (`CheckGracefulDelete`).
fn grace(pod: &Value, requested: Option<i64>) -> i64 {
    let spec = &pod["spec"];
    if text(spec, "nodeName").is_empty()
        || matches!(text(&pod["status"], "phase"), "Failed" | "Succeeded")
    {
        return 0;
    }
    let own = spec["terminationGracePeriodSeconds"].as_i64();
    match requested.or(own).unwrap_or(0) {
        seconds if seconds < 0 => 1,
        seconds => seconds,
    }
}

/// Returns the class of service, by the requests and limits of the containers
/// (`pkg/apis/core/helper/qos`).
pub(super) fn quality_of_service(pod: &Value) -> &'static str {
    const COMPUTE: [&str; 2] = ["cpu", "memory"];
    let spec = &pod["spec"];
    let pod_level = spec.get("resources").into_iter();
    let of_containers = ["containers", "initContainers"]
        .into_iter()
        .flat_map(|list| spec[list].as_array().into_iter().flatten())
        .map(|container| &container["resources"]);
    let all: Vec<&Value> = if spec.get("resources").is_some() {
        pod_level.collect()
    } else {
        of_containers.collect()
    };
    let amount = |resources: &Value, which: &str, name: &str| {
        let quantity = resources[which].get(name).map(Quantity::from);
        quantity.filter(|quantity| !quantity.is_zero() && !quantity.is_negative())
    };
    let asks = |resources: &&Value| {
        let of = |which| {
            COMPUTE
                .iter()
                .any(|name| amount(resources, which, name).is_some())
        };
        of("requests") || of("limits")
    };
    if !all.iter().any(asks) {
        return "BestEffort";
    }
    let fixed = |resources: &&Value| {
        COMPUTE.iter().all(|name| {
            let limit = amount(resources, "limits", name);
            limit.is_some() && limit == amount(resources, "requests", name)
        })
    };
    if all.iter().all(fixed) {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(resources: Value) -> &'static str {
        quality_of_service(&json!({"spec": {"containers": [{"resources": resources}]}}))
    }

    #[test]
    fn the_class_of_service_follows_from_cpu_and_memory() {
        let both = json!({"cpu": "1", "memory": "1Gi"});
        assert_eq!(class(json!({})), "BestEffort");
        assert_eq!(class(json!({"limits": {"cpu": "0"}})), "BestEffort");
        assert_eq!(class(json!({"requests": {"cpu": "1"}})), "Burstable");
        assert_eq!(
            class(json!({"limits": both, "requests": both})),
            "Guaranteed"
        );
        assert_eq!(
            class(json!({"limits": both, "requests": {"cpu": "1000m", "memory": "1024Mi"}})),
            "Guaranteed"
        );
        assert_eq!(class(json!({"limits": both})), "Burstable");
    }

    #[test]
    fn only_a_running_pod_on_a_node_is_given_time_to_stop() {
        let pod = json!({"spec": {"nodeName": "n", "terminationGracePeriodSeconds": 30}});
        assert_eq!(grace(&pod, None), 30);
        assert_eq!(grace(&pod, Some(5)), 5);
        assert_eq!(
            grace(
                &json!({"spec": {"terminationGracePeriodSeconds": 30}}),
                None
            ),
            0
        );
    }
}

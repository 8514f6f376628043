//! The fields of a pod whose features are off: a write drops them, unless the stored object has them
//! (`DropDisabledPodFields` and `DropDisabledTemplateFields` of `pkg/api/pod/util.go`).

use serde_json::Value;

use super::label_selector::list;

/// The parts of projected volumes that `ClusterTrustBundleProjection` and `PodCertificateRequest` turn on.
const PROJECTED: [&str; 2] = ["clusterTrustBundle", "podCertificate"];
/// The field that `GenericWorkload` turns on.
const GROUP: &str = "schedulingGroup";
/// The field of a container's lifecycle that `ContainerStopSignals` turns on.
const SIGNAL: &str = "stopSignal";
const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Drops them from a pod.
pub(super) fn drop_from_pod(pod: &mut Value, live: Option<&Value>) {
    drop_at("/spec", pod, live);
}

/// Drops them from the template of a workload.
pub(super) fn drop_from_template(workload: &mut Value, live: Option<&Value>) {
    drop_at("/spec/template/spec", workload, live);
}

/// Drops them from a PodTemplate.
pub(super) fn drop_from_pod_template(template: &mut Value, live: Option<&Value>) {
    drop_at("/template/spec", template, live);
}

/// Drops them from the template of a CronJob's jobs.
pub(super) fn drop_from_cron_job(job: &mut Value, live: Option<&Value>) {
    drop_at("/spec/jobTemplate/spec/template/spec", job, live);
}

fn drop_at(pointer: &str, object: &mut Value, live: Option<&Value>) {
    let mut steps = pointer.split('/').skip(1);
    let Some(spec) = steps.try_fold(object, |at, step| at.get_mut(step)) else {
        return;
    };
    // Nearly no pod has one of these fields: the stored object is only looked at if this one does.
    let live = || {
        let live = live.and_then(|live| live.pointer(pointer));
        live.unwrap_or(&Value::Null)
    };
    for part in PROJECTED {
        if projects(spec, part) && !projects(live(), part) {
            drop_projected(spec, part);
        }
    }
    if spec.get(GROUP).is_some()
        && live().get(GROUP).is_none()
        && let Value::Object(spec) = spec
    {
        spec.remove(GROUP);
    }
    if has_signal(spec) && !has_signal(live()) {
        drop_signals(spec);
    }
}

fn projects(spec: &Value, part: &str) -> bool {
    let volumes = list(spec, "volumes").iter();
    let mut sources = volumes.flat_map(|volume| list(&volume["projected"], "sources"));
    sources.any(|source| source.get(part).is_some())
}

fn drop_projected(spec: &mut Value, part: &str) {
    for volume in items(spec, "volumes") {
        if let Some(projected) = volume.get_mut("projected") {
            for source in items(projected, "sources").filter_map(Value::as_object_mut) {
                source.remove(part);
            }
        }
    }
}

fn has_signal(spec: &Value) -> bool {
    let mut containers = CONTAINERS.iter().flat_map(|kind| list(spec, kind));
    containers.any(|container| container["lifecycle"].get(SIGNAL).is_some())
}

/// A lifecycle that had nothing else is dropped with the signal.
fn drop_signals(spec: &mut Value) {
    for kind in CONTAINERS {
        for container in items(spec, kind).filter_map(Value::as_object_mut) {
            if let Some(Value::Object(lifecycle)) = container.get_mut("lifecycle")
                && lifecycle.remove(SIGNAL).is_some()
                && lifecycle.is_empty()
            {
                container.remove("lifecycle");
            }
        }
    }
}

fn items<'a>(owner: &'a mut Value, name: &str) -> impl Iterator<Item = &'a mut Value> {
    let items = owner.get_mut(name).and_then(Value::as_array_mut);
    items.into_iter().flatten()
}

//! Cells of Jobs, ControllerRevisions and ResourceQuotas.

use serde_json::Value;

use super::{between, condition, human_duration, items, number};
use crate::environment::Timestamp;
use crate::object::{Metadata, text};

/// Returns the state of a job (`printJob`).
pub(super) fn job_status(job: &Value, _: Timestamp) -> Value {
    let holds = |ty| condition(job, ty).is_some_and(|found| text(found, "status") == "True");
    let is_deleted = !job.meta_text("deletionTimestamp").is_empty();
    if holds("Complete") {
        "Complete"
    } else if holds("Failed") {
        "Failed"
    } else if is_deleted {
        "Terminating"
    } else if holds("Suspended") {
        "Suspended"
    } else if holds("FailureTarget") {
        "FailureTarget"
    } else if holds("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
    .into()
}

/// Returns the number of a job's pods that succeeded, and the number that must.
pub(super) fn job_completions(job: &Value, _: Timestamp) -> Value {
    let succeeded = number(&job["status"]["succeeded"]);
    match (
        job["spec"]["completions"].as_i64(),
        number(&job["spec"]["parallelism"]),
    ) {
        (Some(completions), _) => format!("{succeeded}/{completions}"),
        (None, parallelism @ 2..) => format!("{succeeded}/1 of {parallelism}"),
        (None, _) => format!("{succeeded}/1"),
    }
    .into()
}

/// Returns the time that a job took, or has taken until now.
pub(super) fn job_duration(job: &Value, now: Timestamp) -> Value {
    let time = |name| Timestamp::parse(text(&job["status"], name));
    let Some(start) = time("startTime") else {
        return "".into();
    };
    let end = time("completionTime").unwrap_or(now);
    human_duration(between(start, end)).into()
}

/// The object that controls another (`formatResourceName`).
pub(super) fn controller(object: &Value, _: Timestamp) -> Value {
    let mut owners = items(&object["metadata"]["ownerReferences"]);
    let Some(owner) = owners.find(|owner| owner["controller"] == true) else {
        return "<none>".into();
    };
    let (kind, name) = (text(owner, "kind").to_lowercase(), text(owner, "name"));
    match text(owner, "apiVersion").split_once('/') {
        Some((group, _)) => format!("{kind}.{}/{name}", group.to_lowercase()).into(),
        None => format!("{kind}/{name}").into(),
    }
}

/// Returns the amounts of a quota except limits (`printResourceQuota`).
pub(super) fn quota_requests(quota: &Value, _: Timestamp) -> Value {
    quota_of(quota, false)
}

/// Returns the limits of a quota.
pub(super) fn quota_limits(quota: &Value, _: Timestamp) -> Value {
    quota_of(quota, true)
}

fn quota_of(quota: &Value, limits: bool) -> Value {
    let (hard, used) = (&quota["status"]["hard"], &quota["status"]["used"]);
    let hard = hard.as_object().into_iter().flatten();
    let mut resources: Vec<(&String, &Value)> = hard
        .filter(|(resource, _)| resource.starts_with("limits.") == limits)
        .collect();
    resources.sort_unstable_by_key(|(resource, _)| *resource);
    let texts = resources.into_iter().map(|(resource, hard)| {
        let used = used[resource.as_str()].as_str().unwrap_or("0");
        format!("{resource}: {used}/{}", hard.as_str().unwrap_or("0"))
    });
    let texts: Vec<String> = texts.collect();
    texts.join(", ").into()
}

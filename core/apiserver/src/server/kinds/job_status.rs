//! Checks of a Job's status besides its rows in `kinds.checks` (`ValidateJobUpdateStatus` of
//! `pkg/apis/batch/validation`, with the options of `pkg/registry/batch/job/strategy.go`: fields
//! that the request does not change are not checked again).

use serde_json::Value;

use super::checks::{Checked, FieldCheck};
use super::internal;
use super::job_policies::index_intervals;
use super::label_selector::list;
use super::metadata::IMMUTABLE;
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::{FieldError, Problem};

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("uncounted_pods", uncounted_pods),
    ("job_status", validate),
    ("job_status_change", validate_change),
];

const STATUS: ErrorPath<'static> = ErrorPath::new("status");

/// Returns whether a condition of a status is true.
fn is(status: &Value, condition: &str) -> bool {
    let mut conditions = list(status, "conditions").iter();
    conditions.any(|it| text(it, "type") == condition && text(it, "status") == "True")
}

fn is_finished(status: &Value) -> bool {
    is(status, "Complete") || is(status, "Failed")
}

/// No pod is counted twice.
fn uncounted_pods(pods: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let mut seen = Vec::new();
    for field in ["succeeded", "failed"] {
        for (i, pod) in list(pods.value, field).iter().enumerate() {
            let path = pods.path.item(field, i);
            if pod == "" {
                errors.push(FieldError::invalid(path, pod, "must not be empty"));
            } else if seen.contains(&pod) {
                errors.push(FieldError::duplicate(path, pod));
            } else {
                seen.push(pod);
            }
        }
    }
}

/// The new status, the stored one, and the errors in the change.
struct StatusChange<'a> {
    status: &'a Value,
    live: &'a Value,
    errors: &'a mut Vec<FieldError>,
}

impl StatusChange<'_> {
    fn of_condition(&self, condition: &str) -> bool {
        is(self.status, condition) != is(self.live, condition)
    }

    fn changes_field(&self, field: &str) -> bool {
        self.status.get(field) != self.live.get(field)
    }

    fn count(&self, field: &str) -> i64 {
        self.status[field].as_i64().unwrap_or(0)
    }

    fn refuse(&mut self, field: &str, detail: &str) {
        let value = &self.status[field];
        let error = FieldError::invalid(STATUS.child(field), value, detail);
        self.errors.push(error);
    }

    fn refuse_conditions(&mut self, detail: &str) {
        let path = STATUS.child("conditions");
        let error = FieldError::without_value(Problem::Invalid, path, detail);
        self.errors.push(error);
    }
}

/// `validateJobStatus`, after the numbers.
fn validate(job: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (status, live) = (
        &job.object["status"],
        &job.live.unwrap_or(&Value::Null)["status"],
    );
    let mut change = StatusChange {
        status,
        live,
        errors,
    };
    conditions_and_times(&mut change);
    finished(job, &mut change);
    indexes(&job.object["spec"], &mut change);
    let finished_changed = is_finished(status) != is_finished(live);
    if (finished_changed || change.changes_field("terminating"))
        && change.count("terminating") > 0
        && is_finished(status)
    {
        change.refuse("terminating", "terminating>0 is invalid for finished job");
    }
    if (change.changes_field("ready") || change.changes_field("active"))
        && change.status.get("ready").is_some()
        && change.count("ready") > change.count("active")
    {
        change.refuse("ready", "cannot set more ready pods than active");
    }
    let met = is(status, "SuccessCriteriaMet");
    if met && is(status, "Failed") {
        change.refuse_conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions");
    }
    if met && is(status, "FailureTarget") {
        change.refuse_conditions(
            "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
        );
    }
    if !job.object["spec"]["successPolicy"].is_null() && !met && is(status, "Complete") {
        change.refuse_conditions(
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
        );
    }
}

fn conditions_and_times(change: &mut StatusChange<'_>) {
    let (complete, failed) = (is(change.status, "Complete"), is(change.status, "Failed"));
    let complete_changed = change.of_condition("Complete");
    let failed_changed = change.of_condition("Failed");
    if (complete_changed || failed_changed) && complete && failed {
        change.refuse_conditions("cannot set Complete=True and Failed=true conditions");
    }
    let target = is(change.status, "FailureTarget");
    if (complete_changed || change.of_condition("FailureTarget")) && complete && target {
        change.refuse_conditions("cannot set Complete=True and FailureTarget=true conditions");
    }
    let (start, end) = (
        text(change.status, "startTime"),
        text(change.status, "completionTime"),
    );
    if complete_changed || change.changes_field("completionTime") {
        if !end.is_empty() && !complete {
            let detail = "cannot set completionTime when there is no Complete=True condition";
            change.refuse("completionTime", detail);
        }
        if end.is_empty() && complete {
            let detail = "completionTime is required for Complete jobs";
            let error = FieldError::required(STATUS.child("completionTime"), detail);
            change.errors.push(error);
        }
    }
    // Times are written in UTC with the same number of digits.
    let both = !start.is_empty() && !end.is_empty();
    if (change.changes_field("startTime") || change.changes_field("completionTime"))
        && both
        && end < start
    {
        change.refuse("completionTime", "must be equal to or after `startTime`");
    }
    if (failed_changed || change.of_condition("FailureTarget")) && failed && !target {
        change.refuse_conditions(
            "cannot set Failed=True condition without the FailureTarget=true condition",
        );
    }
    if (complete_changed || change.of_condition("SuccessCriteriaMet"))
        && complete
        && !is(change.status, "SuccessCriteriaMet")
    {
        change.refuse_conditions(
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
        );
    }
}

/// A finished job has started, and has no pods.
fn finished(job: &Checked<'_>, change: &mut StatusChange<'_>) {
    let status = change.status;
    let changed = is_finished(status) != is_finished(change.live);
    if !is_finished(status) {
        return;
    }
    if (changed || change.changes_field("active")) && change.count("active") > 0 {
        change.refuse("active", "active>0 is invalid for finished job");
    }
    let spec = &job.object["spec"];
    let nothing_to_do = spec["suspend"] == true && spec["completions"].as_i64() == Some(0);
    let started = !text(status, "startTime").is_empty();
    if (changed || change.changes_field("startTime")) && !started && !nothing_to_do {
        let detail = "startTime is required for finished job";
        let error = FieldError::required(STATUS.child("startTime"), detail);
        change.errors.push(error);
    }
    let uncounted = &status["uncountedTerminatedPods"];
    let some = !list(uncounted, "failed").is_empty() || !list(uncounted, "succeeded").is_empty();
    if (changed || change.changes_field("uncountedTerminatedPods")) && some {
        let path = STATUS.child("uncountedTerminatedPods");
        let shown = internal::field(job.object, &path, uncounted);
        let detail = "must be empty for finished job";
        let error = FieldError::invalid(path, uncounted, detail).shown_as(shown);
        change.errors.push(error);
    }
}

/// The indexes that are completed, and those that failed.
fn indexes(spec: &Value, change: &mut StatusChange<'_>) {
    let status = change.status;
    let (done, failed) = (
        text(status, "completedIndexes"),
        status.get("failedIndexes"),
    );
    let (done_changed, failed_changed) = (
        change.changes_field("completedIndexes"),
        change.changes_field("failedIndexes"),
    );
    let completions = spec["completions"].as_i64();
    let has_limit = spec.get("backoffLimitPerIndex").is_some();
    let failed_text = failed.and_then(Value::as_str).unwrap_or_default();
    let parsed = |text: &str| index_intervals(text, completions.unwrap_or(0));
    if done_changed
        && completions.is_some()
        && let Err(why) = parsed(done)
    {
        let detail = format!("error parsing completedIndexes: {why}");
        change.refuse("completedIndexes", &detail);
    }
    if failed_changed
        && completions.is_some()
        && has_limit
        && let Err(why) = parsed(failed_text)
    {
        let detail = format!("error parsing failedIndexes: {why}");
        change.refuse("failedIndexes", &detail);
    }
    if done_changed && !done.is_empty() && text(spec, "completionMode") != "Indexed" {
        let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
        change.refuse("completedIndexes", detail);
    }
    if failed_changed && failed.is_some() && !has_limit {
        let detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        change.refuse("failedIndexes", detail);
    }
    if (done_changed || failed_changed)
        && completions.is_some()
        && let (Ok(done), Ok(failed)) = (parsed(done), parsed(failed_text))
    {
        let mut pairs = done.iter().flat_map(|a| failed.iter().map(move |b| (a, b)));
        if let Some((a, b)) = pairs.find(|(a, b)| a.0 <= b.1 && b.0 <= a.1) {
            let at = a.0.max(b.0);
            let detail = format!("failedIndexes and completedIndexes overlap at index: {at}");
            change.refuse("failedIndexes", &detail);
        }
    }
}

/// `ValidateJobStatusUpdate`, after the status itself.
fn validate_change(job: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let Some(live_job) = job.live else {
        return;
    };
    let (status, live) = (&job.object["status"], &live_job["status"]);
    let mut change = StatusChange {
        status,
        live,
        errors,
    };
    for condition in ["Failed", "Complete", "FailureTarget"] {
        if is(live, condition) && !is(status, condition) {
            let detail = format!("cannot disable the terminal {condition}=True condition");
            change.refuse_conditions(&detail);
        }
    }
    let spec = &job.object["spec"];
    let elastic =
        text(spec, "completionMode") == "Indexed" && spec["completions"] == spec["parallelism"];
    for (field, may_fall) in [("failed", false), ("succeeded", elastic)] {
        if change.count(field) < live[field].as_i64().unwrap_or(0) && !may_fall {
            let detail = format!("cannot decrease the {field} counter");
            let error =
                FieldError::invalid(STATUS.child(field), &change.count(field).into(), detail);
            change.errors.push(error);
        }
    }
    let (end, end_before) = (text(status, "completionTime"), text(live, "completionTime"));
    if !end.is_empty() && !end_before.is_empty() && end != end_before {
        change.refuse("completionTime", IMMUTABLE);
    }
    if live.get("startTime").is_some()
        && change.changes_field("startTime")
        && spec["suspend"] != true
    {
        let detail = "field is immutable for unsuspended job once set";
        change.refuse("startTime", detail);
    }
    let (met, was_met) = (
        is(status, "SuccessCriteriaMet"),
        is(live, "SuccessCriteriaMet"),
    );
    if was_met && !met {
        change.refuse_conditions("cannot disable the SuccessCriteriaMet=True condition");
    }
    if is(live, "Complete") && !was_met && met {
        change.refuse_conditions(
            "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions",
        );
    }
}

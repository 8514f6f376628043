//! Checks of a Job and of the template of a CronJob besides their rows in `kinds.checks`
//! (`pkg/apis/batch/validation/validation.go`, `pkg/registry/batch/job/strategy.go`).

use serde_json::{Value, json};

use super::checks::{Checked, FieldCheck};
use super::label_selector::list;
use super::metadata::IMMUTABLE;
use super::{LooksAt, Notices, internal, label_selector, names, pod_template};
use crate::field::ErrorPath;
use crate::object::{JsonMap, Metadata, text};
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("own_selector", own_selector),
    ("index_hostname", index_hostname),
    ("failed_indexes", failed_indexes),
    ("completion_mode", completion_mode),
    ("job_template", job_template),
    ("job_selector", job_selector),
    ("job_without_selector", job_without_selector),
    ("same_completions", same_completions),
    ("same_job_template", same_job_template),
];

const UID: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];
const NAME: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];
const MOST_AT_ONCE: i64 = 100_000;
const MOST_AT_ONCE_OF_MANY: i64 = 10_000;

/// The warning for a deletion of a job.
pub(super) const NOTICES: Notices = Notices {
    preserves: Some(
        "child pods are preserved by default when jobs are deleted; set \
         propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress \
         this warning",
    ),
    ..Notices::NONE
};

/// The preparation of a job looks at these.
pub(super) const LOOKS_AT: LooksAt = LooksAt {
    shared_labels: true,
    ..LooksAt::NOTHING
};

/// `jobStrategy.PrepareForCreate`.
pub(super) fn prepare(job: &mut Value, live: Option<&Value>) {
    if live.is_some() || job["spec"]["manualSelector"] == true {
        return;
    }
    // A job without labels got those of its template: the same map, not a copy of it. One that
    // was given equal labels is taken for such a job.
    let template = job.pointer("/spec/template/metadata/labels");
    let own = job.pointer("/metadata/labels");
    let shared = template.is_some_and(|labels| own.unwrap_or(&json!({})) == labels);
    select_own_pods(job);
    if shared && let Some(labels) = job.pointer("/spec/template/metadata/labels").cloned() {
        job.set_meta("labels", labels);
    }
}

/// A job without labels is read with those of its template (`SetDefaults_Job`). A new one has none that its request
/// could take over if its template got all of them at the creation.
pub(super) fn labels_of_template(job: &Value) -> Option<Value> {
    let labels = job.pointer("/spec/template/metadata/labels")?;
    let own = job.pointer("/metadata/labels").and_then(Value::as_object);
    let lacks =
        own.is_none_or(JsonMap::is_empty) && labels.as_object().is_some_and(|map| !map.is_empty());
    lacks.then(|| {
        let mut filled = job.clone();
        filled.set_meta("labels", labels.clone());
        filled
    })
}

/// A new job selects the pods that carry its uid (`generateSelector`). Labels that are there already
/// stay, and are checked.
fn select_own_pods(job: &mut Value) {
    let (name, uid) = (job.name().to_owned(), job.uid().to_owned());
    let absent = |labels: &mut Value, label: &str, value: &str| {
        if labels.get(label).is_none() {
            labels[label] = value.into();
        }
    };
    let labels = &mut job["spec"]["template"]["metadata"]["labels"];
    for (of, value) in [(UID, &uid), (NAME, &name)] {
        of.iter().for_each(|label| absent(labels, label, value));
    }
    if !job["spec"]["selector"].is_object() {
        job["spec"]["selector"] = json!({});
    }
    absent(&mut job["spec"]["selector"]["matchLabels"], UID[1], &uid);
}

/// `validateGeneratedSelector`.
fn own_selector(job: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let spec = &job.object["spec"];
    if spec["manualSelector"] == true || spec.get("selector").is_none() {
        return;
    }
    let live = job
        .live
        .map(|live| &live["spec"]["template"]["metadata"]["labels"]);
    // A job of a release without the labels with a prefix stays valid.
    let prefixed =
        live.is_none_or(|labels| labels.get(UID[1]).is_some() && labels.get(NAME[1]).is_some());
    let labels = &spec["template"]["metadata"]["labels"];
    let mut expected = JsonMap::new();
    for i in if prefixed { 0..2 } else { 0..1 } {
        for (label, value) in [(UID[i], job.object.uid()), (NAME[i], job.object.name())] {
            expected.insert(label.to_owned(), value.into());
            let path = ErrorPath::new("spec.template.metadata.labels");
            let field = path.key(label);
            match labels.get(label).and_then(Value::as_str) {
                None => {
                    let detail = format!("must be '{value}'");
                    errors.push(FieldError::required(field, detail));
                }
                Some(found) if found != value => {
                    let detail = format!("must be '{value}'");
                    errors.push(FieldError::invalid(field, labels, detail));
                }
                Some(_) => {}
            }
        }
    }
    let selector = &spec["selector"];
    let pods = json!({"metadata": {"labels": expected}});
    if label_selector::is_sound(selector) && !label_selector::matches(selector, &pods) {
        let detail = "`selector` not auto-generated";
        errors.push(label_selector::invalid("spec.selector", selector, detail));
    }
}

/// The pods of an indexed job have its name and their index as their host's name (`ValidateJob`).
fn index_hostname(job: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let spec = &job.object["spec"];
    let count = spec["completions"].as_i64().unwrap_or(0);
    if is_indexed(spec) && count > 0 {
        let last = format!("{}-{}", job.object.name(), count - 1);
        if !names::label(&last).is_empty() {
            let detail = format!("will not able to create pod with invalid DNS label: {last}");
            let name = job.object.name().into();
            errors.push(FieldError::invalid("metadata.name", &name, detail));
        }
    }
}

pub(super) fn is_indexed(spec: &Value) -> bool {
    text(spec, "completionMode") == "Indexed"
}

/// A most number of failed indexes needs a limit for each.
fn failed_indexes(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let given = |field: &str| spec.value.get(field).is_some();
    if given("maxFailedIndexes") && !given("backoffLimitPerIndex") {
        let field = spec.path.child("backoffLimitPerIndex");
        errors.push(FieldError::required(
            field,
            "when maxFailedIndexes is specified",
        ));
    }
}

/// Checks the fields that only jobs with or without indexes can have (`validateJobSpec`).
fn completion_mode(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let number = |field: &str| spec.value[field].as_i64();
    let mut refuse = |field: &str, detail: String| {
        let path = spec.path.child(field);
        errors.push(match number(field) {
            Some(number) => FieldError::invalid(path, &number.into(), detail),
            None => FieldError::required(path, detail),
        });
    };
    if text(spec.value, "completionMode") == "NonIndexed"
        || spec.value.get("completionMode").is_none()
    {
        for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            if number(field).is_some() {
                refuse(field, "requires indexed completion mode".to_owned());
            }
        }
    }
    if !is_indexed(spec.value) {
        return;
    }
    let (parallelism, failed) = (number("parallelism"), number("maxFailedIndexes"));
    let above = |number: Option<i64>, most: i64| number.is_some_and(|number| number > most);
    let completions = number("completions");
    if completions.is_none() {
        refuse("completions", "when completion mode is Indexed".to_owned());
    }
    let most = format!("must be less than or equal to {MOST_AT_ONCE}");
    if above(parallelism, MOST_AT_ONCE) {
        refuse(
            "parallelism",
            format!("{most} when completion mode is Indexed"),
        );
    }
    if completions.is_some_and(|completions| above(failed, completions)) {
        let detail = "must be less than or equal to completions";
        refuse("maxFailedIndexes", detail.to_owned());
    }
    if above(failed, MOST_AT_ONCE) {
        refuse("maxFailedIndexes", most);
    }
    if above(completions, MOST_AT_ONCE) && number("backoffLimitPerIndex").is_some() {
        let detail = format!(
            "must be less than or equal to {MOST_AT_ONCE_OF_MANY} when completions are above \
             {MOST_AT_ONCE} and used with backoff limit per index"
        );
        if failed.is_none() {
            let detail = format!("must be specified when completions is above {MOST_AT_ONCE}");
            refuse("maxFailedIndexes", detail);
        }
        if above(parallelism, MOST_AT_ONCE_OF_MANY) {
            refuse("parallelism", detail.clone());
        }
        if above(failed, MOST_AT_ONCE_OF_MANY) {
            refuse("maxFailedIndexes", detail);
        }
    }
}

/// Checks the policy for replacing pods, the template, and the restarts of its pods
/// (`validateJobSpec`).
fn job_template(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let has_failure_policy = spec.value.get("podFailurePolicy").is_some();
    if let Some(Value::String(policy)) = spec.value.get("podReplacementPolicy") {
        let supported: &[&str] = match has_failure_policy {
            true => &["Failed"],
            false => &["Failed", "TerminatingOrFailed"],
        };
        if !supported.contains(&policy.as_str()) {
            let (field, value) = (spec.path.child("podReplacementPolicy"), policy.as_str());
            errors.push(FieldError::not_supported(field, &value.into(), supported));
        }
    }
    let path = spec.path.child("template");
    let template = &spec.value["template"];
    errors.extend(pod_template::validate(template, &path));
    let field = path.child("spec.restartPolicy");
    match text(&template["spec"], "restartPolicy") {
        "" | "Always" => {
            let detail = "valid values: \"OnFailure\", \"Never\"";
            errors.push(FieldError::required(field, detail));
        }
        "OnFailure" if has_failure_policy => {
            let detail = "only \"Never\" is supported when podFailurePolicy is specified";
            errors.push(FieldError::invalid(field, &"OnFailure".into(), detail));
        }
        "OnFailure" | "Never" => {}
        other => {
            let supported = ["OnFailure", "Never"];
            errors.push(FieldError::not_supported(field, &other.into(), &supported));
        }
    }
}

/// `ValidateJobSpec`, after the checks of a template of jobs.
fn job_selector(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (selector, template) = (&spec.value["selector"], &spec.value["template"]);
    let path = spec.path.child("selector");
    if selector.is_null() {
        errors.push(FieldError::required(path, ""));
    } else {
        errors.extend(label_selector::validate(selector, &path));
    }
    if label_selector::is_sound(selector) && !label_selector::matches(selector, template) {
        let labels = &template["metadata"]["labels"];
        let field = spec.path.child("template.metadata.labels");
        let detail = "`selector` does not match template `labels`";
        errors.push(FieldError::invalid(field, labels, detail));
    }
}

/// The jobs of a CronJob get their selectors (`ValidateJobTemplateSpec`).
fn job_without_selector(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let selector = &spec.value["selector"];
    if !selector.is_null() {
        let field = spec.path.child("selector").to_string();
        let detail = "`selector` will be auto-generated";
        errors.push(label_selector::invalid(&field, selector, detail));
    }
    if spec.value["manualSelector"] == true {
        let field = spec.path.child("manualSelector");
        let supported = ["nil", "false"];
        errors.push(FieldError::not_supported(field, &true.into(), &supported));
    }
}

/// `validateCompletions`: they stay, or change with the number of pods at once.
fn same_completions(completions: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if completions.before() == Some(completions.value) {
        return;
    }
    let spec = &completions.object["spec"];
    let detail = if !is_indexed(spec) {
        IMMUTABLE
    } else if completions.value.is_null() || completions.value == &spec["parallelism"] {
        return;
    } else {
        "can only be modified in tandem with spec.parallelism"
    };
    errors.push(FieldError::invalid(
        completions.path,
        completions.value,
        detail,
    ));
}

/// `validatePodTemplateUpdate`: in a suspended job, the rules for the nodes of the pods and their
/// resources may change.
fn same_job_template(template: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (Some(before), Some(live)) = (template.before(), template.live) else {
        return;
    };
    let suspended = live["spec"]["suspend"] == true;
    let rests = is_at_rest(&live["status"]);
    let mut kept = before.clone();
    if suspended && rests {
        follow_where(&mut kept, template.value);
    }
    let mut refuse = |path: &ErrorPath<'_>, value: &Value| {
        let shown = internal::field(template.object, path, value);
        errors.push(FieldError::invalid(path, value, IMMUTABLE).shown_as(shown));
    };
    if !(suspended && rests) {
        if kept != *template.value {
            refuse(template.path, template.value);
        }
        return;
    }
    for kind in ["containers", "initContainers"] {
        let resources = list(&template.value["spec"], kind).iter();
        let resources: Vec<_> = resources
            .map(|it| (it.get("name").cloned(), it.get("resources").cloned()))
            .collect();
        let Some(Value::Array(containers)) = kept["spec"].get_mut(kind) else {
            continue;
        };
        if containers.len() != resources.len() {
            continue;
        }
        for (container, (name, resources)) in containers.iter_mut().zip(resources) {
            if container.get("name") == name.as_ref() {
                set(container, "resources", resources);
            }
        }
    }
    let spec = &template.value["spec"];
    if &kept["spec"] != spec {
        refuse(&template.path.child("spec"), spec);
    }
}

/// Returns whether the job has no pods: it has not started, or a condition says that they are gone
/// (`shouldAllowMutablePodTemplate` of `pkg/registry/batch/job/strategy.go`).
fn is_at_rest(status: &Value) -> bool {
    let mut conditions = list(status, "conditions").iter();
    let said = conditions.any(|it| text(it, "type") == "Suspended" && text(it, "status") == "True");
    let has_not_started = status.get("startTime").is_none();
    (has_not_started || said) && status["active"].as_i64().unwrap_or(0) == 0
}

/// Takes over where the pods of a template run, and its labels.
fn follow_where(kept: &mut Value, template: &Value) {
    for field in ["nodeSelector", "tolerations", "schedulingGates"] {
        set(
            &mut kept["spec"],
            field,
            template["spec"].get(field).cloned(),
        );
    }
    for field in ["annotations", "labels"] {
        let value = template["metadata"].get(field).cloned();
        set(&mut kept["metadata"], field, value);
    }
    let node = template.pointer("/spec/affinity/nodeAffinity").cloned();
    let mut affinity = kept["spec"].get("affinity").cloned().unwrap_or(json!({}));
    set(&mut affinity, "nodeAffinity", node);
    let is_empty = affinity.as_object().is_some_and(JsonMap::is_empty);
    let is_left_out = is_empty && template["spec"].get("affinity").is_none();
    let affinity = Some(affinity).filter(|_| !is_left_out);
    set(&mut kept["spec"], "affinity", affinity);
}

fn set(owner: &mut Value, field: &str, value: Option<Value>) {
    if let Value::Object(members) = owner {
        match value {
            Some(value) => members.insert(field.to_owned(), value),
            None => members.remove(field),
        };
    }
}

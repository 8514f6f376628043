//! Pod Security: a namespace says by labels what its pods may do
//! (`plugin/pkg/admission/security/podsecurity`, and `admission/admission.go` and `api/helpers.go` of
//! `k8s.io/pod-security-admission`, v1.36). The server has no file that exempts anybody, and without
//! labels a namespace is privileged. Left out: annotations of the audit log, and the bound of 3000 pods
//! and one second for the check of a namespace that gets a stricter level.

mod checks;
mod containers;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::Attributes;
use crate::field::ErrorPath;
use crate::object::{Metadata, text};
use crate::server::Trace;
use crate::server::kinds::label_selector::list;
use crate::status::{FieldError, Refusal, Status};
use crate::storage::Store;

const PREFIX: &str = "pod-security.kubernetes.io/";

/// The levels of a namespace, from the least strict to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Privileged,
    Baseline,
    Restricted,
}

/// A level as it was in a release.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Policy {
    level: Level,
    /// The minor version; `None` for the latest.
    minor: Option<u64>,
}

impl fmt::Display for Policy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Privileged => "privileged",
            Level::Baseline => "baseline",
            Level::Restricted => "restricted",
        };
        match self.minor {
            Some(minor) => write!(out, "{level}:v1.{minor}"),
            None => write!(out, "{level}:latest"),
        }
    }
}

/// The policies of a namespace: one refuses pods, the other makes warnings.
struct Policies {
    enforce: Policy,
    warn: Policy,
}

/// Asks the labels of a namespace about a pod or a template of pods; a namespace is asked about its own.
///
/// # Errors
/// Labels that say nothing, and pods that the namespace does not allow.
pub(super) fn check(
    asked: &Attributes<'_>,
    object: &Value,
    store: &Store,
    trace: &mut Trace,
) -> Result<(), Refusal> {
    let kind = asked.info.resource.kind.as_str();
    if kind == "Namespace" {
        return check_namespace(asked, object, store, trace);
    }
    let Some(template) = template_of(kind, object) else {
        return Ok(());
    };
    let is_pod = kind == "Pod";
    let subresource = asked.info.subresource.as_str();
    if !matches!(
        (is_pod, subresource),
        (_, "") | (true, "resize" | "ephemeralcontainers")
    ) {
        return Ok(());
    }
    let namespace = store.get(&format!("/registry/namespaces/{}", asked.info.namespace));
    let Some(labels) = namespace.and_then(|(_, namespace)| labels_of(namespace)) else {
        return Ok(());
    };
    let (Policies { enforce, warn }, _) = read(labels);
    if is_pod {
        if asked.old.is_some_and(|old| !has_other_images(object, old)) {
            return Ok(());
        }
        let violations = checks::violations(template, enforce);
        if !violations.is_empty() {
            let why = violates(enforce, &violations);
            let resource = asked.info.group_resource();
            return Err(Status::forbidden(&resource, object.name(), &why));
        }
    }
    let violations = checks::violations(template, warn);
    if !violations.is_empty() {
        trace.warnings.push(format!(
            "would {}",
            violates(warn, &violations).replacen("violates", "violate", 1)
        ));
    }
    Ok(())
}

/// The pod of an object, or the template of its pods (`DefaultPodSpecExtractor`).
fn template_of<'a>(kind: &str, object: &'a Value) -> Option<&'a Value> {
    let template = match kind {
        "Pod" => object,
        "PodTemplate" => &object["template"],
        "ReplicationController"
        | "ReplicaSet"
        | "Deployment"
        | "StatefulSet"
        | "DaemonSet"
        | "Job" => &object["spec"]["template"],
        "CronJob" => &object["spec"]["jobTemplate"]["spec"]["template"],
        _ => return None,
    };
    (!template.is_null()).then_some(template)
}

/// The labels of a namespace; `None` if none of them is about pods.
fn labels_of(namespace: &Value) -> Option<&Value> {
    let labels = &namespace["metadata"]["labels"];
    let mut names = labels.as_object().into_iter().flatten();
    names
        .any(|(name, _)| name.starts_with(PREFIX))
        .then_some(labels)
}

/// Reads the policies of a namespace (`PolicyToEvaluate`). A text that is no policy gives an error; it
/// counts as the strictest policy for refusals, and as none for warnings.
fn read(labels: &Value) -> (Policies, Vec<FieldError>) {
    let mut errors = Vec::new();
    let mut policy_of = |mode: &str, otherwise: Level| {
        let (level, minor) = (mode.to_owned(), format!("{mode}-version"));
        let level = label(labels, &level, read_level, &mut errors);
        let minor = label(labels, &minor, read_version, &mut errors);
        let is_given = (level.is_some(), minor.is_some());
        let level = level.map(|level| level.unwrap_or(otherwise));
        let policy = Policy {
            level: level.unwrap_or(Level::Privileged),
            minor: minor.flatten().flatten(),
        };
        (policy, is_given)
    };
    let (enforce, _) = policy_of("enforce", Level::Restricted);
    policy_of("audit", Level::Privileged);
    let (mut warn, (has_level, has_version)) = policy_of("warn", Level::Privileged);
    let says_level = read_level(text(labels, "pod-security.kubernetes.io/enforce")).is_ok();
    if !has_level && says_level && enforce.level > warn.level {
        warn.level = enforce.level;
        if !has_version {
            warn.minor = enforce.minor;
        }
    }
    (Policies { enforce, warn }, errors)
}

/// The value of a label: `None` if the namespace does not have it, `Some(None)` if its text says nothing.
fn label<T>(
    labels: &Value,
    name: &str,
    read: fn(&str) -> Result<T, &'static str>,
    errors: &mut Vec<FieldError>,
) -> Option<Option<T>> {
    let name = format!("{PREFIX}{name}");
    let value = labels.get(&name)?;
    match read(value.as_str().unwrap_or_default()) {
        Ok(value) => Some(Some(value)),
        Err(detail) => {
            let labels = ErrorPath::new("metadata.labels");
            errors.push(FieldError::invalid(labels.key(&name), value, detail));
            Some(None)
        }
    }
}

fn read_level(text: &str) -> Result<Level, &'static str> {
    match text {
        "privileged" => Ok(Level::Privileged),
        "baseline" => Ok(Level::Baseline),
        "restricted" => Ok(Level::Restricted),
        _ => Err("must be one of privileged, baseline, restricted"),
    }
}

fn read_version(text: &str) -> Result<Option<u64>, &'static str> {
    if text == "latest" {
        return Ok(None);
    }
    let minor = text.strip_prefix("v1.").filter(|minor| {
        let digits = minor.bytes().all(|byte| byte.is_ascii_digit());
        digits && (*minor == "0" || !minor.starts_with('0'))
    });
    // Go's `int` has 63 bits for a number.
    let minor = minor.and_then(|minor| minor.parse::<i64>().ok());
    match minor.and_then(|minor| u64::try_from(minor).ok()) {
        Some(minor) => Ok(Some(minor)),
        None => Err(r#"must be "latest" or "v1.x""#),
    }
}

/// Of an update of a pod only new images matter (`isSignificantPodUpdate`).
fn has_other_images(pod: &Value, old: &Value) -> bool {
    let (spec, old) = (&pod["spec"], &old["spec"]);
    let replaced = ["containers", "initContainers"].iter().any(|kind| {
        let (now, before) = (list(spec, kind), list(old, kind));
        let mut pairs = now.iter().zip(before);
        now.len() != before.len() || pairs.any(|(now, before)| now["image"] != before["image"])
    });
    let before = list(old, "ephemeralContainers");
    replaced
        || list(spec, "ephemeralContainers").iter().any(|now| {
            let same = before.iter().find(|before| before["name"] == now["name"]);
            same.is_none_or(|before| before["image"] != now["image"])
        })
}

/// Returns the part of a refusal that names the violations of a policy.
fn violates(policy: Policy, violations: &[checks::Violation]) -> String {
    let told: Vec<String> = violations.iter().map(ToString::to_string).collect();
    format!("violates PodSecurity \"{policy}\": {}", told.join(", "))
}

/// The labels of a namespace have to say something; where a namespace gets a stricter level, its pods are
/// compared with it (`ValidateNamespace`).
fn check_namespace(
    asked: &Attributes<'_>,
    namespace: &Value,
    store: &Store,
    trace: &mut Trace,
) -> Result<(), Refusal> {
    if !asked.info.subresource.is_empty() {
        return Ok(());
    }
    let (Policies { enforce, .. }, errors) = read(&namespace["metadata"]["labels"]);
    let before = asked.old.map(|old| read(&old["metadata"]["labels"]));
    let errors_before = before.as_ref().map(|(_, errors)| errors);
    if !errors.is_empty() && errors_before != Some(&errors) {
        let kind = asked.info.resource.group_kind();
        return Err(Status::invalid(&kind, namespace.name(), &errors));
    }
    let Some((
        Policies {
            enforce: before, ..
        },
        _,
    )) = before
    else {
        return Ok(());
    };
    let is_relaxed = enforce.minor == before.minor && enforce.level <= before.level;
    if enforce.level != Level::Privileged && !is_relaxed {
        warn_of_pods(namespace.name(), enforce, store, trace);
    }
    Ok(())
}

/// Warns of pods that a namespace would not allow any more (`EvaluatePodsInNamespace`).
fn warn_of_pods(namespace: &str, enforce: Policy, store: &Store, trace: &mut Trace) {
    // By what is wrong with pods: their names.
    let mut wrong: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let below = format!("/registry/pods/{namespace}/");
    for (_, _, pod) in store.range(&below) {
        let violations = checks::violations(pod, enforce);
        if !violations.is_empty() {
            let reasons: Vec<&str> = violations.iter().map(|found| found.reason).collect();
            wrong
                .entry(reasons.join(", "))
                .or_default()
                .push(pod.name());
        }
    }
    if wrong.is_empty() {
        return;
    }
    trace.warnings.push(format!(
        "existing pods in namespace \"{namespace}\" violate the new PodSecurity enforce level \"{enforce}\""
    ));
    let told = wrong.into_iter().map(|(reasons, pods)| {
        let first = pods.iter().min().copied().unwrap_or_default();
        match pods.len() {
            1 => format!("{first}: {reasons}"),
            2 => format!("{first} (and 1 other pod): {reasons}"),
            count => format!("{first} (and {} other pods): {reasons}", count - 1),
        }
    });
    let mut told: Vec<String> = told.collect();
    told.sort();
    trace.warnings.extend(told);
}

//! Profiles that confine a pod: AppArmor, seccomp, and the annotations that named them before the
//! fields did (`ValidateAppArmorProfileField`, `ValidateSeccompPodAnnotations`,
//! `ValidateAppArmorPodAnnotations`, `validateSeccompAnnotationsAndFields` and
//! `validateAppArmorAnnotationsAndFieldsMatchOnCreate` of `pkg/apis/core/validation/validation.go`,
//! `applyAppArmorVersionSkew` of `pkg/registry/core/pod/strategy.go`).

use serde_json::{Value, json};

use super::label_selector::list;
use super::volumes::descending;
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
/// The prefix of AppArmor annotations; the name of a container follows.
pub(super) const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
const LOCAL: &str = "localhost/";

/// Checks the field of a security context.
pub(super) fn app_armor(context: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    const TYPES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];
    const MAX_LENGTH: usize = 4095;
    const NEEDED: &str = "must be set when AppArmor type is Localhost";
    let mut errors = Vec::new();
    let Some(profile) = context.get("appArmorProfile") else {
        return errors;
    };
    let path = path.child("appArmorProfile");
    let field = path.child("localhostProfile");
    let file = profile.get("localhostProfile").and_then(Value::as_str);
    match (text(profile, "type"), file) {
        ("Localhost", None) => errors.push(FieldError::required(field, NEEDED)),
        ("Localhost", Some(file)) => {
            if file.trim() != file {
                let detail = "must not be padded with whitespace";
                errors.push(FieldError::invalid(field, &file.into(), detail));
            } else if file.is_empty() {
                errors.push(FieldError::required(field, NEEDED));
            }
            if file.len() > MAX_LENGTH {
                errors.push(FieldError::too_long(field, MAX_LENGTH));
            }
        }
        ("RuntimeDefault" | "Unconfined", Some(file)) => {
            let detail = "can only be set when AppArmor type is Localhost";
            errors.push(FieldError::invalid(field, &file.into(), detail));
        }
        ("RuntimeDefault" | "Unconfined", None) => {}
        ("", _) => {
            let detail = "type is required when appArmorProfile is set";
            errors.push(FieldError::required(path.child("type"), detail));
        }
        (other, _) => {
            let field = path.child("type");
            errors.push(FieldError::not_supported(field, &other.into(), &TYPES));
        }
    }
    errors
}

/// Checks the annotations of a pod or template that name profiles.
pub(super) fn annotations(
    annotations: &Value,
    spec: &Value,
    path: &ErrorPath<'_>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let members = || annotations.as_object().into_iter().flatten();
    for (key, value) in members() {
        if key == SECCOMP_OF_POD || key.starts_with(SECCOMP_OF_CONTAINER) {
            let profile = value.as_str().unwrap_or_default();
            errors.extend(seccomp_name(profile, &path.child(key)));
        }
    }
    for (key, value) in members() {
        let Some(container) = key.strip_prefix(APP_ARMOR) else {
            continue;
        };
        let field = path.key(key);
        if containers(spec).all(|(_, _, it)| text(it, "name") != container) {
            let detail = "container not found";
            errors.push(FieldError::invalid(field, &container.into(), detail));
        }
        let profile = value.as_str().unwrap_or_default();
        if !matches!(profile, "" | "runtime/default" | "unconfined") && !profile.starts_with(LOCAL)
        {
            let detail = format!(
                "invalid AppArmor profile name: {}",
                crate::go::quote(profile)
            );
            errors.push(FieldError::invalid(field, value, detail));
        }
    }
    errors
}

/// `ValidateSeccompProfile`.
fn seccomp_name(profile: &str, path: &ErrorPath<'_>) -> Vec<FieldError> {
    match profile {
        "runtime/default" | "docker/default" | "unconfined" => Vec::new(),
        profile => match profile.strip_prefix(LOCAL) {
            Some(file) => descending(file, path),
            None => {
                let detail = "must be a valid seccomp profile";
                vec![FieldError::invalid(path, &profile.into(), detail)]
            }
        },
    }
}

/// The profile that an annotation names, in the form of the field (`ApparmorFieldForAnnotation`); `None`
/// if that would not be valid.
fn from_annotation(annotation: &str) -> Option<Value> {
    let profile = match annotation {
        "unconfined" => json!({"type": "Unconfined"}),
        "runtime/default" => json!({"type": "RuntimeDefault"}),
        _ => match annotation.strip_prefix(LOCAL)? {
            "" => return None,
            file => json!({"type": "Localhost", "localhostProfile": file}),
        },
    };
    let context = json!({"appArmorProfile": profile});
    let is_valid = app_armor(&context, &ErrorPath::ROOT).is_empty();
    is_valid.then_some(profile)
}

/// The annotation by which a container without a profile of its own gets one.
fn annotated<'a>(annotations: &'a Value, container: &Value) -> Option<(String, &'a str)> {
    let key = format!("{APP_ARMOR}{}", text(container, "name"));
    let annotation = annotations.get(&key)?.as_str()?;
    let own = container["securityContext"].get("appArmorProfile");
    own.is_none().then_some((key, annotation))
}

/// Warns of an annotation of a container, unless it names the profile of the pod.
pub(super) fn deprecated(
    annotations: &Value,
    container: &Value,
    of_pod: &Value,
    path: &ErrorPath<'_>,
) -> Option<String> {
    let (key, annotation) = annotated(annotations, container)?;
    let same = from_annotation(annotation).is_some_and(|profile| profile == *of_pod);
    (!same).then(|| {
        format!("{path}[{key}]: deprecated since v1.30; use the \"appArmorProfile\" field instead")
    })
}

/// The warnings for the annotations of a new pod (`applyAppArmorVersionSkew`).
pub(super) fn warn_as_given(pod: &Value) -> Vec<String> {
    let (spec, annotations) = (&pod["spec"], &pod["metadata"]["annotations"]);
    if !annotations.is_object() || spec["os"]["name"] == "windows" {
        return Vec::new();
    }
    let of_pod = &spec["securityContext"]["appArmorProfile"];
    let path = ErrorPath::new("metadata.annotations");
    let all = containers(spec).map(|(_, _, container)| container);
    all.filter_map(|container| deprecated(annotations, container, of_pod, &path))
        .collect()
}

/// Gives the containers of a new pod the profiles that annotations name (`applyAppArmorVersionSkew`).
pub(super) fn from_annotations(pod: &mut Value) {
    let Some(annotations) = pod["metadata"].get("annotations").cloned() else {
        return;
    };
    if pod["spec"]["os"]["name"] == "windows" {
        return;
    }
    let of_pod = pod["spec"]["securityContext"]
        .get("appArmorProfile")
        .cloned();
    for kind in ["initContainers", "containers", "ephemeralContainers"] {
        let all = pod["spec"].get_mut(kind).and_then(Value::as_array_mut);
        for container in all.into_iter().flatten() {
            let named = annotated(&annotations, container);
            let profile = named.and_then(|(_, annotation)| from_annotation(annotation));
            if let Some(profile) = profile.filter(|profile| of_pod.as_ref() != Some(profile)) {
                container["securityContext"]["appArmorProfile"] = profile;
            }
        }
    }
}

/// All containers of a spec, in the order in which upstream visits them.
pub(super) fn containers(spec: &Value) -> impl Iterator<Item = (&'static str, usize, &Value)> {
    let kinds = ["initContainers", "containers", "ephemeralContainers"].into_iter();
    kinds.flat_map(move |kind| {
        let all = list(spec, kind).iter().enumerate();
        all.map(move |(i, container)| (kind, i, container))
    })
}

/// Checks that annotations and fields of a new pod, or of a template, name the same profiles.
pub(super) fn agree(annotations: &Value, spec: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if annotations
        .as_object()
        .is_none_or(serde_json::Map::is_empty)
    {
        return errors;
    }
    let of_pod = &spec["securityContext"];
    let name_of = |key: &str| annotations.get(key).and_then(Value::as_str);
    if let Some(name) = name_of(SECCOMP_OF_POD) {
        let profile = &of_pod["seccompProfile"];
        let field = path.child("securityContext.seccompProfile");
        errors.extend(differ("seccomp", name, profile, &field));
    }
    for (kind, i, container) in containers(spec) {
        let key = format!("{SECCOMP_OF_CONTAINER}{}", text(container, "name"));
        if let Some(name) = name_of(&key) {
            let profile = &container["securityContext"]["seccompProfile"];
            let item = path.item(kind, i);
            let field = item.child("securityContext.seccompProfile");
            errors.extend(differ("seccomp", name, profile, &field));
        }
    }
    if spec["os"]["name"] == "windows" {
        return errors;
    }
    for (kind, i, container) in containers(spec) {
        let key = format!("{APP_ARMOR}{}", text(container, "name"));
        if let Some(name) = name_of(&key) {
            let own = container["securityContext"].get("appArmorProfile");
            let profile = own.unwrap_or(&of_pod["appArmorProfile"]);
            let item = path.item(kind, i);
            let field = item.child("securityContext.appArmorProfile");
            errors.extend(differ("apparmor", name, profile, &field));
        }
    }
    errors
}

/// Returns the error if an annotation and a field name different profiles.
fn differ(
    what: &str,
    annotation: &str,
    profile: &Value,
    path: &ErrorPath<'_>,
) -> Option<FieldError> {
    let file = annotation.strip_prefix(LOCAL);
    let (same, field) = match text(profile, "type") {
        "Unconfined" => (annotation == "unconfined", "type"),
        "RuntimeDefault" => {
            let old = what == "seccomp" && annotation == "docker/default";
            (old || annotation == "runtime/default", "type")
        }
        "Localhost" if file.is_none() => (false, "type"),
        "Localhost" => (
            profile["localhostProfile"].as_str() == file,
            "localhostProfile",
        ),
        _ => return None,
    };
    let kind = if field == "type" { "type" } else { "profile" };
    (!same).then(|| {
        let detail = format!("{what} {kind} in annotation and field must match");
        FieldError::forbidden(path.child(field), detail)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(errors: Vec<FieldError>) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_a_profile_of_the_host_has_a_name() {
        let said = |profile: Value| {
            texts(app_armor(
                &json!({"appArmorProfile": profile}),
                &ErrorPath::new("s"),
            ))
        };
        assert!(said(json!({"type": "Unconfined"})).is_empty());
        assert_eq!(
            said(json!({"type": "Localhost", "localhostProfile": " a"})),
            [
                "s.appArmorProfile.localhostProfile: Invalid value: \" a\": must not be padded \
                 with whitespace"
            ]
        );
        assert_eq!(said(json!({"type": "Odd"})).len(), 1);
        assert_eq!(said(json!({})).len(), 1);
    }

    #[test]
    fn an_annotation_names_a_container_and_a_known_profile() {
        let spec = json!({"containers": [{"name": "c"}]});
        let said = |given: Value| texts(annotations(&given, &spec, &ErrorPath::new("a")));
        assert!(said(json!({format!("{APP_ARMOR}c"): "localhost/x"})).is_empty());
        assert_eq!(
            said(json!({format!("{APP_ARMOR}d"): "x", SECCOMP_OF_POD: "odd"})),
            [
                format!(
                    "a.{SECCOMP_OF_POD}: Invalid value: \"odd\": must be a valid seccomp profile"
                ),
                format!("a[{APP_ARMOR}d]: Invalid value: \"d\": container not found"),
                format!(
                    "a[{APP_ARMOR}d]: Invalid value: \"x\": invalid AppArmor profile name: \"x\""
                ),
            ]
        );
    }

    #[test]
    fn an_annotation_and_a_field_name_the_same_profile() {
        let spec = json!({"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}});
        let said = |name: &str| {
            texts(agree(
                &json!({SECCOMP_OF_POD: name}),
                &spec,
                &ErrorPath::new("spec"),
            ))
        };
        assert!(said("docker/default").is_empty());
        assert_eq!(
            said("unconfined"),
            [
                "spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation \
                 and field must match"
            ]
        );
    }
}

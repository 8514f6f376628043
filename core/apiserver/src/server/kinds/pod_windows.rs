//! Checks of the fields that only pods of Windows have, or cannot have
//! (`validateWindowsSecurityContextOptions`, `validateWindowsHostProcessPod`, `validateLinux` and
//! `validateWindows` of `pkg/apis/core/validation/validation.go`).

use serde_json::Value;

use super::names;
use super::pod_profiles::containers;
use crate::field::ErrorPath;
use crate::status::FieldError;

/// Checks the options of Windows in a security context.
pub(super) fn options(context: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    const MAX_SPEC_IN_KIB: usize = 64;
    let mut errors = Vec::new();
    let Some(options) = context.get("windowsOptions") else {
        return errors;
    };
    let path = path.child("windowsOptions");
    let given = |field: &str| options.get(field).and_then(Value::as_str);
    if let Some(name) = given("gmsaCredentialSpecName") {
        let field = path.child("gmsaCredentialSpecName");
        let reasons = names::subdomain(name).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &name.into(), why)));
    }
    if let Some(spec) = given("gmsaCredentialSpec") {
        let field = path.child("gmsaCredentialSpec");
        if spec.is_empty() {
            let detail = "gmsaCredentialSpec cannot be an empty string";
            errors.push(FieldError::invalid(field, &spec.into(), detail));
        } else if spec.len() > MAX_SPEC_IN_KIB * 1024 {
            let detail = format!("gmsaCredentialSpec size must be under {MAX_SPEC_IN_KIB} KiB");
            errors.push(FieldError::invalid(field, &spec.into(), detail));
        }
    }
    if let Some(name) = given("runAsUserName") {
        let field = path.child("runAsUserName");
        let reasons = against_user(name).into_iter();
        errors.extend(reasons.map(|why| {
            let detail = format!("runAsUserName{why}");
            FieldError::invalid(field, &name.into(), detail)
        }));
    }
    errors
}

/// Returns the errors in the name of a user: `DOMAIN\USER`, or the user alone.
fn against_user(name: &str) -> Vec<&'static str> {
    const MAX_DOMAIN: usize = 256;
    const MAX_USER: usize = 104;
    const NOT_IN_USERS: &str = "\"/\\:;|=,+*?<>@[]";
    if name.is_empty() {
        return vec![" cannot be an empty string"];
    }
    if name.chars().any(|c| c.is_ascii_control()) {
        return vec![" cannot contain control characters"];
    }
    let parts: Vec<&str> = name.split('\\').collect();
    let (domain, user) = match parts[..] {
        [user] => (None, user),
        [domain, user] => (Some(domain), user),
        _ => return vec![" cannot contain more than one backslash"],
    };
    let mut reasons = Vec::new();
    if domain.is_some_and(|domain| domain.len() >= MAX_DOMAIN) {
        reasons.push("'s Domain length must be under 256 characters");
    }
    if domain.is_some_and(|domain| !is_net_bios(domain) && !is_dns(domain)) {
        reasons.push("'s Domain doesn't match the NetBios nor the DNS format");
    }
    if user.is_empty() {
        reasons.push("'s User cannot be empty");
    } else if user.len() > MAX_USER {
        reasons.push("'s User length must not be longer than 104 characters");
    }
    if !user.is_empty() && user.chars().all(|c| c == '.' || c == ' ') {
        reasons.push("'s User cannot contain only periods or spaces");
    }
    if user.chars().any(|c| NOT_IN_USERS.contains(c)) {
        reasons.push("'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
    }
    reasons
}

fn is_net_bios(domain: &str) -> bool {
    let count = domain.chars().count();
    (1..=15).contains(&count)
        && !domain.starts_with('.')
        && !domain.chars().any(|c| "\\/:*?\"<>|".contains(c))
}

fn is_dns(domain: &str) -> bool {
    let end = |c: char| c.is_ascii_alphanumeric();
    domain.split('.').all(|label| {
        (1..=63).contains(&label.len())
            && label.starts_with(end)
            && label.ends_with(end)
            && label.chars().all(|c| end(c) || c == '-')
    })
}

/// Containers with the rights of their host: all of a pod or none, and on its network.
pub(super) fn host_processes(spec: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let wish = |owner: &Value| owner["securityContext"]["windowsOptions"]["hostProcess"].as_bool();
    let of_pod = wish(spec);
    let mut errors = Vec::new();
    let (mut count, mut of_host) = (0, 0);
    for (kind, i, container) in containers(spec) {
        count += 1;
        let own = wish(container);
        if let (Some(pod), Some(own)) = (of_pod, own)
            && pod != own
        {
            let item = path.item(kind, i);
            let field = item.child("securityContext.windowsOptions.hostProcess");
            let detail =
                format!("pod hostProcess value must be identical if both are specified, was {pod}");
            errors.push(FieldError::invalid(field, &own.into(), detail));
        }
        of_host += usize::from(own.or(of_pod) == Some(true));
    }
    if of_host == 0 {
        return errors;
    }
    if of_host != count {
        let detail = "If pod contains any hostProcess containers then all containers must be \
             HostProcess containers";
        errors.push(FieldError::invalid(path, &"".into(), detail));
    }
    if spec["hostNetwork"] != true {
        let field = path.child("hostNetwork");
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.push(FieldError::invalid(field, &false.into(), detail));
    }
    errors
}

const NOT_OF_WINDOWS_PODS: [&str; 15] = [
    "securityContext.appArmorProfile",
    "securityContext.seLinuxOptions",
    "hostUsers",
    "hostPID",
    "hostIPC",
    "securityContext.seccompProfile",
    "securityContext.fsGroup",
    "securityContext.fsGroupChangePolicy",
    "securityContext.sysctls",
    "shareProcessNamespace",
    "securityContext.runAsUser",
    "securityContext.runAsGroup",
    "securityContext.supplementalGroups",
    "securityContext.supplementalGroupsPolicy",
    "securityContext.seLinuxChangePolicy",
];

const NOT_OF_WINDOWS_CONTAINERS: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

/// Refuses the fields that the pod's operating system does not have.
pub(super) fn not_of_system(spec: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let of_pod: &[&str] = match spec["os"]["name"].as_str() {
        Some("linux") => &["securityContext.windowsOptions"],
        Some("windows") => &NOT_OF_WINDOWS_PODS,
        _ => return errors,
    };
    let is_linux = of_pod.len() == 1;
    let detail = match is_linux {
        true => "windows options cannot be set for a linux pod",
        false => "cannot be set for a windows pod",
    };
    for name in of_pod {
        let value = match name.split_once('.') {
            Some((context, field)) => &spec[context][field],
            None => &spec[*name],
        };
        // A flag that is false is one that is not set.
        let unset = matches!(*name, "hostPID" | "hostIPC") && value == false;
        if !value.is_null() && !unset {
            errors.push(FieldError::forbidden(path.child(name), detail));
        }
    }
    let of_container: &[&str] = match is_linux {
        true => &["windowsOptions"],
        false => &NOT_OF_WINDOWS_CONTAINERS,
    };
    for (kind, i, container) in containers(spec) {
        let item = path.item(kind, i);
        let context = item.child("securityContext");
        for name in of_container {
            if !container["securityContext"][*name].is_null() {
                errors.push(FieldError::forbidden(context.child(name), detail));
            }
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_user_is_named_alone_or_with_a_domain() {
        for name in [
            "ContainerUser",
            "NT AUTHORITY\\Local service",
            "a.example.com\\u",
        ] {
            assert!(against_user(name).is_empty(), "{name}");
        }
        assert_eq!(
            against_user("a\\b\\c"),
            [" cannot contain more than one backslash"]
        );
        assert_eq!(
            against_user("..."),
            ["'s User cannot contain only periods or spaces"]
        );
        assert_eq!(against_user(".x\\u").len(), 1);
        assert_eq!(against_user("d\\").len(), 1);
    }

    #[test]
    fn each_system_has_fields_of_its_own() {
        let said = |spec: Value| -> Vec<String> {
            let errors = not_of_system(&spec, &ErrorPath::new("spec"));
            errors.into_iter().map(|error| error.field).collect()
        };
        let context = json!({"windowsOptions": {}, "runAsUser": 1});
        let containers = json!([{"securityContext": context}]);
        let spec = |name: &str| {
            json!({"os": {"name": name}, "hostPID": false,
            "securityContext": context, "containers": containers})
        };
        assert_eq!(
            said(spec("linux")),
            [
                "spec.securityContext.windowsOptions",
                "spec.containers[0].securityContext.windowsOptions",
            ]
        );
        assert_eq!(
            said(spec("windows")),
            [
                "spec.securityContext.runAsUser",
                "spec.containers[0].securityContext.runAsUser",
            ]
        );
    }

    #[test]
    fn processes_of_the_host_are_all_or_none() {
        let of_host = json!({"windowsOptions": {"hostProcess": true}});
        let spec = json!({"containers": [{"securityContext": of_host}, {}]});
        assert_eq!(host_processes(&spec, &ErrorPath::new("spec")).len(), 2);
        let all = json!({"hostNetwork": true, "securityContext": of_host, "containers": [{}, {}]});
        assert!(host_processes(&all, &ErrorPath::new("spec")).is_empty());
    }
}

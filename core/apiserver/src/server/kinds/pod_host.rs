//! Checks of the pod's settings on its host: names, addresses, kernel settings, system
//! (`validatePodDNSConfig`, `ValidateHostAliases`, `validatePodSpecSecurityContext`, `validateOS`
//! of `pkg/apis/core/validation`).

use std::collections::BTreeSet;

use serde_json::Value;

use super::label_selector::list;
use super::{containers, ip, names, pod_profiles, pod_windows};
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

const MAX_NAMESERVERS: usize = 3;
const MAX_SEARCH_PATHS: usize = 32;
const MAX_SEARCH_LIST_LENGTH: usize = 2048;

/// Checks how a pod resolves names.
pub(super) fn dns(spec: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let config = spec.get("dnsConfig");
    let servers = config.map_or(&[][..], |config| list(config, "nameservers"));
    if text(spec, "dnsPolicy") == "None" {
        if config.is_none() {
            let detail = "must provide `dnsConfig` when `dnsPolicy` is None";
            return vec![FieldError::required(path, detail)];
        }
        if servers.is_empty() {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            return vec![FieldError::required(path.child("nameservers"), detail)];
        }
    }
    let Some(config) = config else {
        return Vec::new();
    };
    let mut errors = Vec::new();
    let mut wrong = |name: &str, detail: String| {
        let field = path.child(name);
        errors.push(FieldError::invalid(field, &config[name], detail));
    };
    if servers.len() > MAX_NAMESERVERS {
        let detail = format!("must not have more than {MAX_NAMESERVERS} nameservers");
        wrong("nameservers", detail);
    }
    for (i, server) in servers.iter().enumerate() {
        errors.extend(ip::check(server, &path.item("nameservers", i), &[]));
    }
    let searches = list(config, "searches");
    let mut wrong = |name: &str, detail: String| {
        let field = path.child(name);
        errors.push(FieldError::invalid(field, &config[name], detail));
    };
    if searches.len() > MAX_SEARCH_PATHS {
        let detail = format!("must not have more than {MAX_SEARCH_PATHS} search paths");
        wrong("searches", detail);
    }
    let all: Vec<&str> = searches.iter().filter_map(Value::as_str).collect();
    if all.join(" ").len() > MAX_SEARCH_LIST_LENGTH {
        let detail = format!(
            "must not have more than {MAX_SEARCH_LIST_LENGTH} characters (including spaces) in the \
             search list"
        );
        wrong("searches", detail);
    }
    for (i, search) in all.into_iter().enumerate().filter(|(_, s)| *s != ".") {
        let search = search.strip_suffix('.').unwrap_or(search);
        let reasons = names::subdomain_with_underscore(search).into_iter();
        let field = path.item("searches", i);
        errors.extend(reasons.map(|why| FieldError::invalid(field, &search.into(), why)));
    }
    for (i, option) in list(config, "options").iter().enumerate() {
        if text(option, "name").is_empty() {
            let field = path.item("options", i);
            errors.push(FieldError::required(field, "must not be empty"));
        }
    }
    errors
}

/// Checks names that a pod gives to addresses.
pub(super) fn aliases(aliases: &[Value], path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (i, alias) in aliases.iter().enumerate() {
        let address = text(alias, "ip").into();
        errors.extend(ip::check(&address, &path.index(i).child("ip"), &[]));
        for (j, name) in list(alias, "hostnames").iter().enumerate() {
            let reasons = names::subdomain(name.as_str().unwrap_or_default());
            let item = path.index(i);
            let field = item.item("hostnames", j);
            let reasons = reasons.into_iter();
            errors.extend(reasons.map(|why| FieldError::invalid(field, name, why)));
        }
    }
    errors
}

/// Checks the system that a pod is for.
pub(super) fn system(os: &Value, path: &ErrorPath<'_>) -> Option<FieldError> {
    const SYSTEMS: [&str; 2] = ["linux", "windows"];
    let name = os.get("name")?.as_str().unwrap_or_default();
    if name.is_empty() {
        let field = path.child("name");
        return Some(FieldError::required(field, ""));
    }
    let known = SYSTEMS.contains(&name);
    (!known).then(|| FieldError::not_supported(path, &name.into(), &SYSTEMS))
}

/// Checks the security context of a whole pod.
pub(super) fn security(spec: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let context = &spec["securityContext"];
    let mut errors = Vec::new();
    errors.extend(group(&context["fsGroup"], &path.child("fsGroup")));
    errors.extend(containers::users(context, path));
    for (i, id) in list(context, "supplementalGroups").iter().enumerate() {
        errors.extend(group(id, &path.item("supplementalGroups", i)));
    }
    if spec["shareProcessNamespace"] == true && spec["hostPID"] == true {
        let field = path.child("shareProcessNamespace");
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.push(FieldError::invalid(field, &true.into(), detail));
    }
    errors.extend(kernel_settings(spec, &path.child("sysctls")));
    let one_of = |name: &str, known: &[&str]| {
        let policy = context.get(name)?;
        let wrong = !known.iter().any(|known| policy == known);
        wrong.then(|| FieldError::not_supported(path.child(name), policy, known))
    };
    errors.extend(one_of("fsGroupChangePolicy", &["Always", "OnRootMismatch"]));
    errors.extend(containers::seccomp(context, path));
    errors.extend(pod_windows::options(context, path));
    errors.extend(pod_profiles::app_armor(context, path));
    errors.extend(one_of("supplementalGroupsPolicy", &["Merge", "Strict"]));
    // `SELinuxMount` is off.
    errors.extend(one_of(RELABELING, &["Recursive"]));
    errors
}

/// The field that says how volumes are relabeled.
const RELABELING: &str = "seLinuxChangePolicy";

/// Takes back the errors about how volumes are relabeled if the stored object says that already: then every way is
/// allowed (`useOnlyRecursiveSELinuxChangePolicy` of `pkg/api/pod/util.go`).
pub(in crate::server) fn allow_relabeling_in_use(errors: &mut Vec<FieldError>, live: &Value) {
    let is_about = |error: &FieldError| error.field.ends_with(RELABELING);
    if !errors.iter().any(is_about) {
        return;
    }
    const KNOWN: [&str; 2] = ["MountOption", "Recursive"];
    errors.retain_mut(|error| {
        let pointer = format!("/{}", error.field.replace('.', "/"));
        if !is_about(error) || live.pointer(&pointer).is_none() {
            return true;
        }
        let value = error.value.as_deref().unwrap_or_default().trim_matches('"');
        let wrong = !KNOWN.contains(&value);
        *error = FieldError::not_supported(error.field.as_str(), &value.into(), &KNOWN);
        wrong
    });
}

/// `validateHostUsers`: users of a pod's own do not go with the namespaces of its host
/// (`UserNamespacesHostNetworkSupport` is off).
pub(super) fn own_users(spec: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    const WHY: &str = "when `hostUsers` is false";
    let mut errors = Vec::new();
    if spec["hostUsers"] != false {
        return errors;
    }
    for (field, shown) in [
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ] {
        if spec[field] == true {
            errors.push(FieldError::forbidden(path.child(shown), WHY));
        }
    }
    for (kind, i, container) in pod_profiles::containers(spec) {
        if !list(container, "volumeDevices").is_empty() {
            let item = path.item(kind, i);
            errors.push(FieldError::forbidden(item.child("volumeDevices"), WHY));
        }
    }
    errors
}

/// `validatePodHostName`.
pub(super) fn hostname(spec: &Value, field: &ErrorPath<'_>) -> Vec<FieldError> {
    const MAX_LENGTH: usize = 64;
    let mut errors = Vec::new();
    let Some(name) = spec.get("hostnameOverride").and_then(Value::as_str) else {
        return errors;
    };
    for other in ["setHostnameAsFQDN", "hostNetwork"] {
        if spec[other] == true {
            let detail = format!("may not be specified when {other} is true");
            errors.push(FieldError::forbidden(field, detail));
        }
    }
    if name.len() > MAX_LENGTH {
        errors.push(FieldError::too_long(field, MAX_LENGTH));
    }
    let reasons = names::subdomain(name).into_iter();
    errors.extend(reasons.map(|why| FieldError::invalid(field, &name.into(), why)));
    errors
}

/// The number of a group (`IsValidGroupID`).
fn group(id: &Value, field: &ErrorPath<'_>) -> Vec<FieldError> {
    let reasons = id
        .as_i64()
        .map(|number| names::in_range(number, 0, i64::from(i32::MAX)));
    let reasons = reasons.into_iter().flatten();
    reasons
        .map(|why| FieldError::invalid(field, id, why))
        .collect()
}

/// `validateSysctls`.
fn kernel_settings(spec: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    const MAX_LENGTH: usize = 253;
    const PATTERN: &str = "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (i, setting) in list(&spec["securityContext"], "sysctls").iter().enumerate() {
        let name = text(setting, "name");
        let item = path.index(i);
        let field = item.child("name");
        if name.is_empty() {
            errors.push(FieldError::required(field, ""));
        } else if name.len() > MAX_LENGTH || !name.split(['.', '/']).all(is_setting) {
            let detail =
                format!("must have at most {MAX_LENGTH} characters and match regex {PATTERN}");
            errors.push(FieldError::invalid(field, &name.into(), detail));
        } else if !seen.insert(name) {
            errors.push(FieldError::duplicate(field, &name.into()));
        }
        // A setting of a namespace that the pod shares with its host is one of the host
        // (`ValidateHostSysctl`).
        let name_with_points = name.replace('/', ".");
        let of = |prefixes: &[&str]| prefixes.iter().any(|p| name_with_points.starts_with(p));
        let shared = [
            ("hostNetwork", of(&["net."])),
            (
                "hostIPC",
                name_with_points == "kernel.sem" || of(&["kernel.shm", "kernel.msg", "fs.mqueue."]),
            ),
        ];
        let shared = shared
            .iter()
            .find(|(host, is_of)| *is_of && spec[*host] == true);
        if let Some((host, _)) = shared {
            let detail = format!("may not be specified when '{host}' is true");
            errors.push(FieldError::invalid(field, &name.into(), detail));
        }
    }
    errors
}

fn is_setting(part: &str) -> bool {
    let end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let inner = |c: char| end(c) || c == '-' || c == '_';
    part.starts_with(end) && part.ends_with(end) && part.chars().all(inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nameservers_are_addresses_and_options_have_names() {
        let spec = json!({"dnsConfig": {"nameservers": ["x", "1.1.1.1"], "options": [{}],
            "searches": ["a_b.example.", "."]}});
        let said: Vec<String> = dns(&spec, &ErrorPath::new("d"))
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(said.len(), 2);
        assert!(said[0].starts_with("d.nameservers[0]: Invalid value: \"x\""));
        assert_eq!(said[1], "d.options[0]: Required value: must not be empty");
    }

    #[test]
    fn a_pod_shares_processes_with_its_host_or_among_its_containers() {
        let both = json!({"hostPID": true, "shareProcessNamespace": true, "securityContext": {}});
        let said: Vec<String> = security(&both, &ErrorPath::new("s"))
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            said,
            [
                "s.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID \
                 cannot both be enabled"
            ]
        );
        assert!(
            security(
                &json!({"shareProcessNamespace": true}),
                &ErrorPath::new("s")
            )
            .is_empty()
        );
    }

    #[test]
    fn settings_of_a_shared_namespace_are_those_of_the_host() {
        let settings = json!([{"name": "kernel.shm_rmid_forced"}, {"name": "net/core/x"}]);
        let spec = |host: &str| json!({host: true, "securityContext": {"sysctls": settings}});
        let fields = |host: &str| -> Vec<String> {
            let errors = kernel_settings(&spec(host), &ErrorPath::new("s"));
            errors.into_iter().map(|error| error.field).collect()
        };
        assert_eq!(fields("hostIPC"), ["s[0].name"]);
        assert_eq!(fields("hostNetwork"), ["s[1].name"]);
        assert!(fields("hostPID").is_empty());
    }

    #[test]
    fn kernel_settings_have_names_with_points_or_slashes() {
        let of = |name: &str| {
            let spec = json!({"securityContext": {"sysctls": [{"name": name, "value": "1"}]}});
            kernel_settings(&spec, &ErrorPath::new("s")).len()
        };
        assert_eq!(of("net.ipv4/tcp_syncookies"), 0);
        assert_eq!(of("Bad/../x"), 1);
        assert_eq!(of(""), 1);
    }

    #[test]
    fn volumes_are_relabeled_in_another_way_only_where_one_is_in_use() {
        let spec = |policy: &str| json!({"securityContext": {"seLinuxChangePolicy": policy}});
        let path = ErrorPath::new("spec.securityContext");
        let found = |policy: &str, live: Value| {
            let mut errors = security(&spec(policy), &path);
            allow_relabeling_in_use(&mut errors, &json!({ "spec": live }));
            let errors = errors.iter().map(ToString::to_string);
            errors.collect::<Vec<_>>().join("; ")
        };
        let field = "spec.securityContext.seLinuxChangePolicy";
        assert_eq!(
            found("MountOption", json!({})),
            format!("{field}: Unsupported value: \"MountOption\": supported values: \"Recursive\"")
        );
        assert_eq!(found("MountOption", spec("MountOption")), "");
        assert_eq!(
            found("x", spec("Recursive")),
            format!(
                "{field}: Unsupported value: \"x\": supported values: \"MountOption\", \"Recursive\""
            )
        );
    }
}

//! The checks of the levels, in the order of their names, those of the level *baseline* first
//! (`policy/registry.go` and `policy/check_*.go` of `k8s.io/pod-security-admission`, v1.36).

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::containers::{self, CheckedContainer, all};
use super::{Level, Policy};
use crate::object::text;
use crate::server::kinds::label_selector::list;

/// The newest release in which a check differs: younger releases, and the latest, are like it.
const NEWEST: u64 = 35;

/// The releases from the first number on, up to the second one, which is not one of them.
type Releases = std::ops::Range<u64>;
const ALWAYS: Releases = 0..u64::MAX;
const NEVER: Releases = 0..0;

/// A check: the releases in which the level *baseline* makes it, those in which *restricted* does, and a
/// function that returns the violation.
type LevelCheck = (Releases, Releases, fn(&Pod<'_>) -> Option<Violation>);

/// All checks. If a check of *restricted* is stricter than one of *baseline*, it takes its place.
const CHECKS: [LevelCheck; 19] = [
    (ALWAYS, ALWAYS, app_armor),
    (ALWAYS, 0..22, containers::capabilities),
    (ALWAYS, ALWAYS, host_namespaces),
    (ALWAYS, NEVER, host_paths),
    (ALWAYS, ALWAYS, containers::host_ports),
    (34..u64::MAX, 34..u64::MAX, containers::hosts_of_probes),
    (ALWAYS, ALWAYS, containers::privileged),
    (ALWAYS, 0..35, proc_mount),
    (ALWAYS, ALWAYS, se_linux),
    (ALWAYS, 0..19, seccomp),
    (ALWAYS, ALWAYS, sysctls),
    (ALWAYS, ALWAYS, host_process),
    (NEVER, 8..u64::MAX, containers::escalation),
    (NEVER, 22..u64::MAX, containers::capabilities_dropped),
    (NEVER, 35..u64::MAX, containers::proc_mount),
    (NEVER, ALWAYS, volumes),
    (NEVER, ALWAYS, non_root),
    (NEVER, 23..u64::MAX, root_user),
    (NEVER, 19..u64::MAX, seccomp_required),
];

/// A pod, or the template of pods, and the release whose checks are made.
pub(super) struct Pod<'a> {
    pub(super) spec: &'a Value,
    annotations: &'a Value,
    pub(super) minor: u64,
}

impl Pod<'_> {
    /// Returns whether it says that it runs on Windows, from the release on that knows it.
    pub(super) fn is_of_windows(&self) -> bool {
        self.minor >= 25 && self.spec["os"]["name"] == "windows"
    }

    /// Returns whether it has users of its own, from the release on that relaxes checks for it.
    fn has_own_users(&self) -> bool {
        self.minor >= 35 && self.spec["hostUsers"] == false
    }

    fn context(&self) -> &Value {
        &self.spec["securityContext"]
    }
}

/// A check that a pod does not pass.
pub(super) struct Violation {
    pub(super) reason: &'static str,
    pub(super) detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.reason, self.detail)
    }
}

/// The checks that a pod does not pass.
pub(super) fn violations(pod: &Value, policy: Policy) -> Vec<Violation> {
    let minor = policy.minor.map_or(NEWEST, |minor| minor.min(NEWEST));
    let pod = Pod {
        spec: &pod["spec"],
        annotations: &pod["metadata"]["annotations"],
        minor,
    };
    let made = CHECKS
        .iter()
        .filter(|(baseline, restricted, _)| match policy.level {
            Level::Privileged => false,
            Level::Baseline => baseline.contains(&minor),
            Level::Restricted => restricted.contains(&minor),
        });
    made.filter_map(|(_, _, check)| check(&pod)).collect()
}

/// Texts in quotes, with commas between them.
pub(super) fn quoted<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = texts
        .into_iter()
        .map(|text| format!("\"{text}\""))
        .collect();
    quoted.join(", ")
}

pub(super) fn plural(singular: &'static str, plural: &'static str, count: usize) -> &'static str {
    if count == 1 { singular } else { plural }
}

/// `container "a"` or `containers "a", "b"`.
pub(super) fn named(containers: &[&str]) -> String {
    let noun = plural("container", "containers", containers.len());
    format!("{noun} {}", quoted(containers.iter().copied()))
}

/// Returns the setters of something: the pod, containers, or both.
fn setters(pod: bool, containers: &[&str]) -> Vec<String> {
    let pod = pod.then(|| "pod".to_owned());
    let containers = (!containers.is_empty()).then(|| named(containers));
    pod.into_iter().chain(containers).collect()
}

/// The pod and its containers, by the values in their security contexts.
struct SecurityContexts<'a> {
    by_pod: bool,
    by: Vec<&'a str>,
}

impl<'a> SecurityContexts<'a> {
    /// Those whose security context is one of these.
    fn by(pod: &Pod<'a>, mut matches: impl FnMut(&'a Value) -> bool) -> Self {
        Self {
            by_pod: matches(&pod.spec["securityContext"]),
            by: all(pod.spec)
                .filter(|container| matches(container.context()))
                .map(CheckedContainer::name)
                .collect(),
        }
    }

    fn setters(&self) -> Vec<String> {
        setters(self.by_pod, &self.by)
    }
}

fn app_armor(pod: &Pod<'_>) -> Option<Violation> {
    const ANNOTATION: &str = "container.apparmor.security.beta.kubernetes.io/";
    let mut types = BTreeSet::new();
    let mut setters = SecurityContexts::by(pod, |context| {
        let profile = &context["appArmorProfile"];
        let kind = text(profile, "type");
        let refused = !profile.is_null() && !matches!(kind, "RuntimeDefault" | "Localhost");
        refused && {
            types.insert(kind);
            true
        }
    })
    .setters();
    let annotations = pod.annotations.as_object().into_iter().flatten();
    let forbidden = annotations.filter_map(|(name, value)| {
        let value = value.as_str().unwrap_or_default();
        let allowed = matches!(value, "" | "runtime/default") || value.starts_with("localhost/");
        let forbidden = name.starts_with(ANNOTATION) && !allowed;
        forbidden.then(|| format!("{name}={}", crate::go::quote(value)))
    });
    let forbidden: BTreeSet<String> = forbidden.collect();
    if !forbidden.is_empty() {
        setters.push(plural("annotation", "annotations", forbidden.len()).to_owned());
    }
    let values: Vec<&str> = types
        .into_iter()
        .chain(forbidden.iter().map(String::as_str))
        .collect();
    (!setters.is_empty()).then(|| Violation {
        reason: plural(
            "forbidden AppArmor profile",
            "forbidden AppArmor profiles",
            values.len(),
        ),
        detail: format!(
            "{} must not set AppArmor profile type to {}",
            setters.join(" and "),
            quoted(values)
        ),
    })
}

fn host_namespaces(pod: &Pod<'_>) -> Option<Violation> {
    let shared = ["hostNetwork", "hostPID", "hostIPC"].into_iter();
    let shared = shared.filter(|field| pod.spec[*field] == true);
    let shared: Vec<String> = shared.map(|field| format!("{field}=true")).collect();
    (!shared.is_empty()).then(|| Violation {
        reason: "host namespaces",
        detail: shared.join(", "),
    })
}

fn host_paths(pod: &Pod<'_>) -> Option<Violation> {
    let volumes = list(pod.spec, "volumes").iter();
    let volumes = volumes.filter(|volume| !volume["hostPath"].is_null());
    let names: Vec<&str> = volumes.map(|volume| text(volume, "name")).collect();
    (!names.is_empty()).then(|| Violation {
        reason: "hostPath volumes",
        detail: format!(
            "{} {}",
            plural("volume", "volumes", names.len()),
            quoted(names)
        ),
    })
}

/// Checks the mounts of `/proc`. From 1.35 on a pod with users of its own may mount it in any way.
fn proc_mount(pod: &Pod<'_>) -> Option<Violation> {
    if pod.has_own_users() {
        return None;
    }
    containers::proc_mount(pod)
}

fn se_linux(pod: &Pod<'_>) -> Option<Violation> {
    let mut types = BTreeSet::new();
    let (mut has_user, mut has_role) = (false, false);
    let setters = SecurityContexts::by(pod, |context| {
        let options = &context["seLinuxOptions"];
        let kind = text(options, "type");
        let allowed = match kind {
            "" | "container_t" | "container_init_t" | "container_kvm_t" => true,
            "container_engine_t" => pod.minor >= 31,
            _ => false,
        };
        let user = !text(options, "user").is_empty();
        let role = !text(options, "role").is_empty();
        if !allowed {
            types.insert(kind);
        }
        has_user |= user;
        has_role |= role;
        !allowed || user || role
    })
    .setters();
    let mut data = Vec::new();
    if !types.is_empty() {
        let noun = plural("type", "types", types.len());
        data.push(format!("{noun} {}", quoted(types)));
    }
    data.extend(has_user.then(|| "user may not be set".to_owned()));
    data.extend(has_role.then(|| "role may not be set".to_owned()));
    (!setters.is_empty()).then(|| Violation {
        reason: "seLinuxOptions",
        detail: format!(
            "{} set forbidden securityContext.seLinuxOptions: {}",
            setters.join(" and "),
            data.join("; ")
        ),
    })
}

const SECCOMP: &str = "seccompProfile";

/// Before 1.19 annotations name the profile.
fn seccomp(pod: &Pod<'_>) -> Option<Violation> {
    if pod.minor >= 19 {
        return seccomp_of_contexts(pod);
    }
    let of_containers = all(pod.spec).map(|container| {
        format!(
            "container.seccomp.security.alpha.kubernetes.io/{}",
            container.name()
        )
    });
    let of_pod = "seccomp.security.alpha.kubernetes.io/pod".to_owned();
    let forbidden = std::iter::once(of_pod)
        .chain(of_containers)
        .filter_map(|name| {
            let value = pod.annotations.get(&name)?.as_str().unwrap_or_default();
            let allowed = matches!(value, "runtime/default" | "docker/default")
                || value.starts_with("localhost/");
            (!allowed).then(|| format!("{name}={}", crate::go::quote(value)))
        });
    let forbidden: BTreeSet<String> = forbidden.collect();
    (!forbidden.is_empty()).then(|| Violation {
        reason: SECCOMP,
        detail: format!(
            "forbidden {} {}",
            plural("annotation", "annotations", forbidden.len()),
            forbidden.into_iter().collect::<Vec<_>>().join(", ")
        ),
    })
}

fn is_seccomp_allowed(profile: &Value) -> bool {
    matches!(text(profile, "type"), "RuntimeDefault" | "Localhost")
}

fn seccomp_of_contexts(pod: &Pod<'_>) -> Option<Violation> {
    let mut types = BTreeSet::new();
    let setters = SecurityContexts::by(pod, |context| {
        let profile = &context[SECCOMP];
        let refused = !profile.is_null() && !is_seccomp_allowed(profile);
        refused && {
            types.insert(text(profile, "type"));
            true
        }
    })
    .setters();
    (!setters.is_empty()).then(|| Violation {
        reason: SECCOMP,
        detail: format!(
            "{} must not set securityContext.seccompProfile.type to {}",
            setters.join(" and "),
            quoted(types)
        ),
    })
}

fn seccomp_required(pod: &Pod<'_>) -> Option<Violation> {
    if pod.is_of_windows() {
        return None;
    }
    seccomp_of_contexts(pod).or_else(|| {
        let has_profile = is_seccomp_allowed(&pod.context()[SECCOMP]);
        let without = without(pod, has_profile, SECCOMP)?;
        Some(Violation {
            reason: SECCOMP,
            detail: format!(
                "pod or {without} must set securityContext.seccompProfile.type to \
                 \"RuntimeDefault\" or \"Localhost\""
            ),
        })
    })
}

/// The containers that do not say something which the pod does not say either.
fn without(pod: &Pod<'_>, pod_says: bool, field: &str) -> Option<String> {
    let silent = all(pod.spec).filter(|container| container.context()[field].is_null());
    let silent: Vec<&str> = silent.map(CheckedContainer::name).collect();
    (!pod_says && !silent.is_empty()).then(|| named(&silent))
}

fn sysctls(pod: &Pod<'_>) -> Option<Violation> {
    let allowed = |name: &str| match name {
        "kernel.shm_rmid_forced"
        | "net.ipv4.ip_local_port_range"
        | "net.ipv4.tcp_syncookies"
        | "net.ipv4.ping_group_range"
        | "net.ipv4.ip_unprivileged_port_start" => true,
        "net.ipv4.ip_local_reserved_ports" => pod.minor >= 27,
        "net.ipv4.tcp_keepalive_time"
        | "net.ipv4.tcp_fin_timeout"
        | "net.ipv4.tcp_keepalive_intvl"
        | "net.ipv4.tcp_keepalive_probes" => pod.minor >= 29,
        "net.ipv4.tcp_rmem" | "net.ipv4.tcp_wmem" => pod.minor >= 32,
        _ => false,
    };
    let names = list(pod.context(), "sysctls").iter();
    let names = names.map(|sysctl| text(sysctl, "name"));
    let forbidden: Vec<&str> = names.filter(|name| !allowed(name)).collect();
    (!forbidden.is_empty()).then(|| Violation {
        reason: "forbidden sysctls",
        detail: forbidden.join(", "),
    })
}

fn host_process(pod: &Pod<'_>) -> Option<Violation> {
    let setters = SecurityContexts::by(pod, |context| {
        context["windowsOptions"]["hostProcess"] == true
    })
    .setters();
    (!setters.is_empty()).then(|| Violation {
        reason: "hostProcess",
        detail: format!(
            "{} must not set securityContext.windowsOptions.hostProcess=true",
            setters.join(" and ")
        ),
    })
}

/// A volume may be of one of a few forms.
fn volumes(pod: &Pod<'_>) -> Option<Violation> {
    const ALLOWED: [&str; 9] = [
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    ];
    let has = |volume: &Value, form: &str| !volume[form].is_null();
    let volumes = list(pod.spec, "volumes").iter();
    let refused = volumes.filter(|volume| !ALLOWED.iter().any(|form| has(volume, form)));
    let refused: Vec<&Value> = refused.collect();
    let forms = refused.iter().map(|volume| {
        let members = volume.as_object().into_iter().flatten();
        let mut forms = members.filter(|(name, form)| *name != "name" && !form.is_null());
        forms.next().map_or("unknown", |(form, _)| form.as_str())
    });
    let forms: BTreeSet<&str> = forms.collect();
    (!refused.is_empty()).then(|| Violation {
        reason: "restricted volume types",
        detail: format!(
            "{} {} {} {} {}",
            plural("volume", "volumes", refused.len()),
            quoted(refused.iter().map(|volume| text(volume, "name"))),
            plural("uses", "use", refused.len()),
            plural(
                "restricted volume type",
                "restricted volume types",
                forms.len()
            ),
            quoted(forms)
        ),
    })
}

fn non_root(pod: &Pod<'_>) -> Option<Violation> {
    const FIELD: &str = "runAsNonRoot";
    const REASON: &str = "runAsNonRoot != true";
    if pod.has_own_users() {
        return None;
    }
    let setters = SecurityContexts::by(pod, |context| context[FIELD] == false).setters();
    let detail = if setters.is_empty() {
        let without = without(pod, pod.context()[FIELD] == true, FIELD)?;
        format!("pod or {without} must set securityContext.runAsNonRoot=true")
    } else {
        format!(
            "{} must not set securityContext.runAsNonRoot=false",
            setters.join(" and ")
        )
    };
    Some(Violation {
        reason: REASON,
        detail,
    })
}

fn root_user(pod: &Pod<'_>) -> Option<Violation> {
    if pod.has_own_users() {
        return None;
    }
    let setters = SecurityContexts::by(pod, |context| context["runAsUser"] == 0).setters();
    (!setters.is_empty()).then(|| Violation {
        reason: "runAsUser=0",
        detail: format!("{} must not set runAsUser=0", setters.join(" and ")),
    })
}

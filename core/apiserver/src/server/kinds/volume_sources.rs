//! Checks of a volume's source besides its rows in `kinds.checks` (`validateVolumeSource`,
//! `ValidatePersistentVolumeSpec` and the functions that they call,
//! `pkg/apis/core/validation/validation.go`).

use serde_json::Value;

use super::checks::{Checked, FieldCheck, of_type};
use super::label_selector::list;
use super::{metadata, names, volumes};
use crate::field::ErrorPath;
use crate::object::{JsonMap, Metadata, text};
use crate::status::FieldError;

/// The checks that rows of `kinds.checks` call.
pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("partition", partition),
    ("absolute_path", absolute_path),
    ("iscsi_name", |name, errors| {
        iscsi_name(name, "iqn", POD, errors)
    }),
    ("iscsi_initiator", |name, errors| {
        iscsi_name(name, "initiatorname", POD, errors);
    }),
    ("iscsi_name_of_volume", |name, errors| {
        iscsi_name(name, "iqn", VOLUME, errors);
    }),
    ("iscsi_initiator_of_volume", |name, errors| {
        iscsi_name(name, "initiatorname", VOLUME, errors);
    }),
    ("iscsi_secret", iscsi_secret),
    ("iscsi_portal_of_volume", iscsi_portal_of_volume),
    ("endpoints_namespace", endpoints_namespace),
    ("flocker", flocker),
    ("quobyte", quobyte),
    ("fibre_channel", fibre_channel),
    ("driver_options", driver_options),
    ("disk_uri", disk_uri),
    ("csi_driver", |name, errors| {
        let driver = name.value.as_str().unwrap_or_default();
        errors.extend(volumes::driver(driver, name.path));
    }),
    ("csi_secret", csi_secret),
    ("claim_template", claim_template),
];

/// The messages for a name in no known form, in a pod and in a PersistentVolume.
const POD: &str = "must be valid format starting with iqn, eui, or naa";
const VOLUME: &str = "must be valid format";

/// The most characters of a volume's name and its portal, with the colon between them.
const MAX_PORTAL: usize = 64;
/// The message if they are longer.
pub(super) const PORTAL_TOO_LONG: &str = "Total length of <volume name>:<iscsi.targetPortal> must \
     be under 64 characters if iscsi.initiatorName is specified.";

/// Returns whether a name and a portal are too long together, if an initiator is named.
pub(super) fn is_portal_too_long(name: &str, iscsi: &Value) -> bool {
    let portal = text(iscsi, "targetPortal");
    iscsi.get("initiatorName").is_some() && name.len() + 1 + portal.len() > MAX_PORTAL
}

fn wrong(path: &ErrorPath<'_>, value: &str, detail: &str) -> FieldError {
    FieldError::invalid(path, &value.into(), detail)
}

/// A number that upstream compares with other bounds than its message says.
fn partition(number: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if number
        .value
        .as_i64()
        .is_some_and(|it| !(0..=255).contains(&it))
    {
        let detail = "must be between 1 and 255, inclusive";
        errors.push(FieldError::invalid(number.path, number.value, detail));
    }
}

/// `validateNFSVolumeSource`: an absent path is not absolute either.
fn absolute_path(path: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let written = path.value.as_str().unwrap_or_default();
    if !written.starts_with('/') {
        errors.push(wrong(path.path, written, "must be an absolute path"));
    }
}

/// The name of a target or of an initiator. Its field is named otherwise in messages.
fn iscsi_name(name: &Checked<'_>, shown: &str, other: &str, errors: &mut Vec<FieldError>) {
    let written = name.value.as_str().unwrap_or_default();
    let alphanumeric = |text: &str, count: usize| {
        text.len() == count && text.chars().all(|c| c.is_ascii_alphanumeric())
    };
    // The fourth character can be any.
    let rest = || {
        let mut letters = written.chars();
        letters.nth(3);
        letters.as_str()
    };
    let (known, fine) = match written.get(..3) {
        Some("iqn") => (true, is_qualified_target(written)),
        Some("eui") => (true, alphanumeric(rest(), 16)),
        Some("naa") => (true, alphanumeric(rest(), 32)),
        _ => (false, false),
    };
    if fine {
        return;
    }
    let place = name.path.to_string();
    let around = place.rsplit_once('.').map_or("", |(around, _)| around);
    let path = ErrorPath::new(around);
    let detail = if known { "must be valid format" } else { other };
    errors.push(wrong(&path.child(shown), written, detail));
}

/// `iqn.2001-04.com.example:storage`; upstream looks for the form anywhere in the name.
fn is_qualified_target(name: &str) -> bool {
    let digits = |text: &str, count: usize| {
        text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let has_form = |from: &str| {
        let (date, rest) = from.split_at_checked(8)?;
        let (year, month) = date.strip_suffix('.')?.split_once('-')?;
        let (authority, unique) = rest.split_once(':')?;
        let in_authority = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        let in_unique = |c: char| !c.is_whitespace() && !",;*&$|".contains(c);
        let fine = digits(year, 4)
            && digits(month, 2)
            && !authority.is_empty()
            && authority.chars().all(in_authority)
            && !unique.is_empty()
            && unique.chars().all(in_unique);
        Some(fine)
    };
    let mut starts = name.match_indices("iqn.");
    starts.any(|(start, found)| has_form(&name[start + found.len()..]) == Some(true))
}

/// Checks that a source which asks for authentication names the secret.
fn iscsi_secret(source: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let asks = |field: &str| source.value[field] == true;
    let named = source.value.get("secretRef").is_some();
    if (asks("chapAuthDiscovery") || asks("chapAuthSession")) && !named {
        errors.push(FieldError::required(source.path.child("secretRef"), ""));
    }
}

/// `validateISCSIPersistentVolumeSource`.
fn iscsi_portal_of_volume(source: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if is_portal_too_long(source.object.name(), source.value) {
        let portal = text(source.value, "targetPortal");
        let field = source.path.child("targetportal");
        errors.push(wrong(&field, portal, PORTAL_TOO_LONG));
    }
}

/// `validateGlusterfsPersistentVolumeSource`.
fn endpoints_namespace(namespace: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let name = namespace.value.as_str().unwrap_or_default();
    if name.is_empty() {
        let detail = "if the endpointnamespace is set, it must be a valid namespace name";
        errors.push(wrong(namespace.path, name, detail));
    } else {
        let reasons = names::label(name).into_iter();
        errors.extend(reasons.map(|why| wrong(namespace.path, name, &why)));
    }
}

/// `validateFlockerVolumeSource`.
fn flocker(source: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (name, uuid) = (
        text(source.value, "datasetName"),
        text(source.value, "datasetUUID"),
    );
    match (name.is_empty(), uuid.is_empty()) {
        (true, true) => {
            let detail = "one of datasetName and datasetUUID is required";
            errors.push(FieldError::required(source.path, detail));
        }
        (false, false) => {
            let detail = "datasetName and datasetUUID can not be specified simultaneously";
            errors.push(wrong(source.path, "resource", detail));
        }
        _ => {}
    }
    if name.contains('/') {
        let field = source.path.child("datasetName");
        errors.push(wrong(&field, name, "must not contain '/'"));
    }
}

/// `validateQuobyteVolumeSource`, but for its volume.
fn quobyte(source: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const PAIRS: &str = "must be a host:port pair or multiple pairs separated by commas";
    const MAX_TENANT: usize = 64;
    let registry = text(source.value, "registry");
    let field = source.path.child("registry");
    if registry.is_empty() {
        errors.push(FieldError::required(field, PAIRS));
    } else if text(source.value, "tenant").len() > MAX_TENANT {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        errors.push(FieldError::required(source.path.child("tenant"), detail));
    } else {
        let broken = registry.split(',').filter(|pair| !is_host_and_port(pair));
        errors.extend(broken.map(|_| wrong(&field, registry, PAIRS)));
    }
}

/// Returns whether Go splits a text into a host and a port (`net.SplitHostPort`).
fn is_host_and_port(pair: &str) -> bool {
    let Some((host, port)) = pair.rsplit_once(':') else {
        return false;
    };
    let plain = |text: &str| !text.contains(['[', ']']);
    match host.strip_prefix('[') {
        Some(host) => host.strip_suffix(']').is_some_and(plain) && plain(port),
        None => !host.contains(':') && plain(host) && plain(port),
    }
}

/// `validateFCVolumeSource`.
fn fibre_channel(source: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (targets, ids) = (
        list(source.value, "targetWWNs"),
        list(source.value, "wwids"),
    );
    let field = source.path.child("targetWWNs");
    if targets.is_empty() && ids.is_empty() {
        let detail = "must specify either targetWWNs or wwids, but not both";
        errors.push(FieldError::required(field, detail));
    }
    if !targets.is_empty() && !ids.is_empty() {
        let detail = "targetWWNs and wwids can not be specified simultaneously";
        errors.push(FieldError::invalid(
            field,
            &source.value["targetWWNs"],
            detail,
        ));
    }
    if targets.is_empty() {
        return;
    }
    let field = source.path.child("lun");
    match source.value["lun"].as_i64() {
        None => {
            let detail = "lun is required if targetWWNs is specified";
            errors.push(FieldError::required(field, detail));
        }
        Some(lun) => {
            let reasons = names::in_range(lun, 0, 255).into_iter();
            errors.extend(reasons.map(|why| FieldError::invalid(field, &lun.into(), why)));
        }
    }
}

/// `validateFlexVolumeSource`: options of Kubernetes are not set by its users.
fn driver_options(options: &Checked<'_>, errors: &mut Vec<FieldError>) {
    for (key, _) in options
        .value
        .as_object()
        .into_iter()
        .flat_map(JsonMap::iter)
    {
        let namespace = key
            .split_once('/')
            .map_or(key.as_str(), |(before, _)| before);
        let namespace = format!(".{}", crate::go::lower(namespace));
        if namespace.ends_with(".kubernetes.io") || namespace.ends_with(".k8s.io") {
            let detail = "kubernetes.io and k8s.io namespaces are reserved";
            errors.push(wrong(&options.path.key(key), key, detail));
        }
    }
}

/// `validateAzureDisk`: where a disk is follows from its kind.
fn disk_uri(source: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let uri = text(source.value, "diskURI");
    let (start, form) = match source.value["kind"].as_str() {
        None => return,
        Some("Managed") => (
            "/subscriptions/",
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
        ),
        Some(_) => (
            "https://",
            "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd",
        ),
    };
    if !uri.starts_with(start) {
        let field = source.path.child("diskURI");
        errors.push(FieldError::not_supported(field, &uri.into(), &[form]));
    }
}

/// `validateCSIVolumeSource`: the error for an impossible name is on another field than the one for
/// an absent name.
fn csi_secret(source: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let Some(secret) = source.value.get("nodePublishSecretRef") else {
        return;
    };
    let name = text(secret, "name");
    if name.is_empty() {
        let field = source.path.child("nodePublishSecretRef.name");
        errors.push(FieldError::required(field, ""));
    } else {
        let reasons = names::subdomain(name).into_iter();
        let field = source.path.child("name");
        errors.extend(reasons.map(|why| wrong(&field, name, &why)));
    }
}

/// `ValidatePersistentVolumeClaimTemplate`.
fn claim_template(source: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let around = source.path.child("volumeClaimTemplate");
    let Some(template) = source.value.get("volumeClaimTemplate") else {
        errors.push(FieldError::required(around, ""));
        return;
    };
    let (meta, path) = (&template["metadata"], around.child("metadata"));
    errors.extend(metadata::of_template(meta, &path));
    let (spec, path) = (&template["spec"], around.child("spec"));
    let of_spec = of_type("PersistentVolumeClaimSpec", spec, &path, source.object);
    errors.extend(of_spec);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of_pod(name: &str, source: Value) -> Vec<String> {
        let path = ErrorPath::new(name);
        let errors = volumes::of_kind(name, &source, &path);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_name_of_a_target_has_one_of_three_forms() {
        let said = |iqn: &str| of_pod("iscsi", json!({"targetPortal": "p", "iqn": iqn, "lun": 0}));
        for iqn in [
            "iqn.2001-04.com.example:storage.disk1",
            "eui.0123456789abcdef",
            "naa.0123456789abcdef0123456789abcdef",
        ] {
            assert!(said(iqn).is_empty(), "{iqn}");
        }
        let at = |iqn: &str| format!("iscsi.iqn: Invalid value: {iqn:?}: must be valid format");
        for iqn in [
            "iqn.2001-4.com.example:x",
            "iqn.2001-04.com:",
            "eui.01",
            "naa",
        ] {
            assert_eq!(said(iqn), [at(iqn)]);
        }
        assert_eq!(said("x"), [at("x") + " starting with iqn, eui, or naa"]);
        assert_eq!(said(""), ["iscsi.iqn: Required value"]);
    }

    #[test]
    fn a_source_names_what_it_mounts() {
        for (name, source, expected) in [
            (
                "gcePersistentDisk",
                json!({"partition": 256}),
                vec![
                    "gcePersistentDisk.pdName: Required value",
                    "gcePersistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive",
                ],
            ),
            (
                "flocker",
                json!({"datasetName": "a/b", "datasetUUID": "u"}),
                vec![
                    "flocker: Invalid value: \"resource\": datasetName and datasetUUID can not be specified simultaneously",
                    "flocker.datasetName: Invalid value: \"a/b\": must not contain '/'",
                ],
            ),
            (
                "quobyte",
                json!({"registry": "a:1,b", "volume": "v"}),
                vec![
                    "quobyte.registry: Invalid value: \"a:1,b\": must be a host:port pair or multiple pairs separated by commas",
                ],
            ),
            (
                "fc",
                json!({"targetWWNs": ["w"], "lun": 300}),
                vec!["fc.lun: Invalid value: 300: must be between 0 and 255, inclusive"],
            ),
            (
                "flexVolume",
                json!({"driver": "d", "options": {"a.k8s.io/x": "1", "b": "2"}}),
                vec![
                    "flexVolume.options[a.k8s.io/x]: Invalid value: \"a.k8s.io/x\": kubernetes.io and k8s.io namespaces are reserved",
                ],
            ),
            (
                "csi",
                json!({"driver": "d", "nodePublishSecretRef": {"name": "Bad"}}),
                vec![],
            ),
            ("nfs", json!({"server": "s", "path": "/p"}), vec![]),
            (
                "nfs",
                json!({"server": "s"}),
                vec![
                    "nfs.path: Required value",
                    "nfs.path: Invalid value: \"\": must be an absolute path",
                ],
            ),
        ] {
            let said = of_pod(name, source);
            if name == "csi" {
                assert!(
                    said[0].starts_with("csi.name: Invalid value: \"Bad\""),
                    "{said:?}"
                );
            } else {
                assert_eq!(said, expected);
            }
        }
    }

    #[test]
    fn a_template_of_a_claim_has_labels_and_annotations_only() {
        let template = json!({"metadata": {"name": "n", "uid": "u", "labels": {"a": "b"}},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {}}}});
        assert_eq!(
            of_pod("ephemeral", json!({"volumeClaimTemplate": template})),
            [
                "ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
                "ephemeral.volumeClaimTemplate.metadata.uID: Forbidden: cannot be set",
                "ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value",
            ]
        );
    }
}

//! Volumes of a pod (`ValidateVolumes` of `pkg/apis/core/validation`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::checks::of_type;
use super::label_selector::list;
use super::pod_template::one_of;
use super::{names, volume_files, volume_sources};
use crate::field::ErrorPath;
use crate::object::{Metadata, text};
use crate::schema::Quantity;
use crate::status::FieldError;

/// The kinds of volume, in the order in which they are looked at. The second name is the one that
/// upstream uses where there is another before it, spelling mistakes included.
const SOURCES: [(&str, &str); 30] = [
    ("emptyDir", "emptyDir"),
    ("hostPath", "hostPath"),
    ("gitRepo", "gitRepo"),
    ("gcePersistentDisk", "gcePersistentDisk"),
    ("awsElasticBlockStore", "awsElasticBlockStore"),
    ("secret", "secret"),
    ("nfs", "nfs"),
    ("iscsi", "iscsi"),
    ("glusterfs", "glusterfs"),
    ("flocker", "flocker"),
    ("persistentVolumeClaim", "persistentVolumeClaim"),
    ("rbd", "rbd"),
    ("cinder", "cinder"),
    ("cephfs", "cephFS"),
    ("quobyte", "quobyte"),
    ("downwardAPI", "downwarAPI"),
    ("fc", "fc"),
    ("flexVolume", "flexVolume"),
    ("configMap", "configMap"),
    ("azureFile", "azureFile"),
    ("vsphereVolume", "vsphereVolume"),
    ("photonPersistentDisk", "photonPersistentDisk"),
    ("portworxVolume", "portworxVolume"),
    ("azureDisk", "azureDisk"),
    ("storageos", "storageos"),
    ("projected", "projected"),
    ("scaleIO", "scaleIO"),
    ("csi", "csi"),
    ("ephemeral", "ephemeral"),
    ("image", "image"),
];

/// Checks volumes; those that are sound are given by name, for mounts to refer to. The pod is given if they
/// are not those of a template.
pub(super) fn validate<'a>(
    volumes: &'a [Value],
    pod: Option<&Value>,
    path: &ErrorPath<'_>,
) -> (BTreeMap<&'a str, &'a Value>, Vec<FieldError>) {
    let mut known = BTreeMap::new();
    let mut errors = Vec::new();
    // A claim is made of each template, and has the names of the pod and of the volume.
    let made = volumes.iter().filter(|it| it.get("ephemeral").is_some());
    let made: Vec<String> = pod_name(pod).map_or_else(Vec::new, |pod| {
        made.map(|volume| format!("{pod}-{}", text(volume, "name")))
            .collect()
    });
    for (i, volume) in volumes.iter().enumerate() {
        let path = path.index(i);
        let name = text(volume, "name");
        let field = path.child("name");
        let mut own = source(volume, pod, &path);
        if name.is_empty() {
            own.push(FieldError::required(field, ""));
        } else {
            let reasons = names::label(name).into_iter();
            own.extend(reasons.map(|why| FieldError::invalid(field, &name.into(), why)));
        }
        if known.contains_key(name) {
            own.push(FieldError::duplicate(field, &name.into()));
        }
        if own.is_empty() {
            known.insert(name, volume);
        }
        errors.append(&mut own);
        let claim = text(&volume["persistentVolumeClaim"], "claimName");
        if made.iter().any(|made| made == claim) {
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            let field = path.child("persistentVolumeClaim.claimName");
            errors.push(FieldError::invalid(field, &claim.into(), detail));
        }
    }
    (known, errors)
}

fn pod_name(pod: Option<&Value>) -> Option<&str> {
    pod.map(Metadata::name).filter(|name| !name.is_empty())
}

/// Devices of a container, which are volumes without a file system (`ValidateVolumeDevices`).
pub(super) fn devices(
    container: &Value,
    known: &BTreeMap<&str, &Value>,
    path: &ErrorPath<'_>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (mut seen_names, mut seen_paths) = (BTreeSet::new(), BTreeSet::new());
    let mounts = places(container, "volumeMounts", "mountPath");
    for (i, device) in list(container, "volumeDevices").iter().enumerate() {
        let (name, place) = (text(device, "name"), text(device, "devicePath"));
        let item = path.index(i);
        let field = |what: &'static str| item.child(what);
        let wrong = |what: &'static str, value: &str, detail: &str| {
            FieldError::invalid(field(what), &value.into(), detail)
        };
        if name.is_empty() {
            errors.push(FieldError::required(field("name"), ""));
        }
        if !name.is_empty() && !seen_names.insert(name) {
            errors.push(wrong("name", name, "must be unique"));
        }
        errors.extend(device_volume(name, known, field("name")));
        if place.is_empty() {
            errors.push(FieldError::required(field("devicePath"), ""));
        }
        if seen_paths.contains(place) {
            errors.push(wrong("devicePath", place, "must be unique"));
        }
        if place.split('/').any(|part| part == "..") {
            let detail = "can not contain backsteps ('..')";
            errors.push(wrong("devicePath", place, detail));
        } else {
            seen_paths.insert(place);
        }
        if mounts.contains_key(name) {
            let detail = "must not already exist in volumeMounts";
            errors.push(wrong("name", name, detail));
        }
        if mounts.values().any(|mounted| *mounted == place) {
            let detail = "must not already exist as a path in volumeMounts";
            errors.push(wrong("devicePath", place, detail));
        }
    }
    errors
}

/// The path of each mount or device of a container, by its volume. Of a volume that has several, it is the
/// last (`GetVolumeMountMap`, `GetVolumeDeviceMap`).
pub(super) fn places<'a>(
    container: &'a Value,
    field: &str,
    path: &str,
) -> BTreeMap<&'a str, &'a str> {
    let items = list(container, field).iter();
    items
        .map(|item| (text(item, "name"), text(item, path)))
        .collect()
}

/// The volume of a device: it must exist, and be of a type that has a block mode.
fn device_volume(
    name: &str,
    known: &BTreeMap<&str, &Value>,
    field: ErrorPath<'_>,
) -> Option<FieldError> {
    let Some(volume) = known.get(name) else {
        let problem = crate::status::Problem::NotFound;
        return Some(FieldError::with_value(problem, field, &name.into(), ""));
    };
    let has_block_mode = ["persistentVolumeClaim", "ephemeral"]
        .iter()
        .any(|source| volume.get(*source).is_some());
    (!has_block_mode).then(|| {
        let detail = "can only use volume source type of PersistentVolumeClaim or \
             Ephemeral for block mode";
        FieldError::invalid(field, &name.into(), detail)
    })
}

/// `validateVolumeSource`: checks that a volume is of one kind, and has the fields that it needs.
fn source(volume: &Value, pod: Option<&Value>, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut found = false;
    for (name, when_second) in SOURCES {
        let Some(source) = volume.get(name) else {
            continue;
        };
        if found {
            let field = path.child(when_second);
            let detail = "may not specify more than 1 volume type";
            errors.push(FieldError::forbidden(field, detail));
        } else {
            found = true;
            if name == "image" && pod.is_some() {
                // A template may leave it to be filled in.
                errors.extend(required(source, &path.child("image"), &["reference"]));
            }
            errors.extend(of_kind(name, source, &path.child(source_in_messages(name))));
            if name == "ephemeral" {
                errors.extend(made_claim(text(volume, "name"), pod_name(pod), path));
            }
        }
        if name == "iscsi" && volume_sources::is_portal_too_long(text(volume, "name"), source) {
            let detail = volume_sources::PORTAL_TOO_LONG;
            let field = path.child("name");
            errors.push(FieldError::invalid(field, &volume["name"], detail));
        }
    }
    if !found {
        errors.push(FieldError::required(path, "must specify a volume type"));
    }
    errors
}

/// Returns the name of a volume's source in messages.
pub(super) fn source_in_messages(name: &str) -> &str {
    match name {
        "gcePersistentDisk" => "persistentDisk",
        name => name,
    }
}

/// The name of the claim that is made of a template.
fn made_claim(volume: &str, pod: Option<&str>, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let Some(pod) = pod.filter(|_| !volume.is_empty()) else {
        return Vec::new();
    };
    let claim = format!("{pod}-{volume}");
    let reasons = names::subdomain(&claim).into_iter();
    let field = path.child("name");
    reasons
        .map(|why| {
            let detail = format!("PVC name {}: {why}", crate::go::quote(&claim));
            FieldError::invalid(field, &volume.into(), detail)
        })
        .collect()
}

/// Checks a source of this kind.
pub(super) fn of_kind(name: &str, source: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    match name {
        "emptyDir" => match source.get("sizeLimit") {
            Some(limit) if Quantity::from(limit).is_negative() => {
                let detail = "SizeLimit field must be a valid resource quantity";
                vec![FieldError::forbidden(path.child("sizeLimit"), detail)]
            }
            _ => Vec::new(),
        },
        "hostPath" => host_path(source, path),
        "gitRepo" => {
            let mut errors = required(source, path, &["repository"]);
            let field = path.child("directory");
            errors.extend(descending(text(source, "directory"), &field));
            errors
        }
        "secret" => {
            let mut errors = required(source, path, &["secretName"]);
            errors.extend(volume_files::of_keys(source, path));
            errors
        }
        "configMap" => {
            let mut errors = required(source, path, &["name"]);
            errors.extend(volume_files::of_keys(source, path));
            errors
        }
        "persistentVolumeClaim" => required(source, path, &["claimName"]),
        "downwardAPI" => volume_files::of_pod(source, path),
        "projected" => volume_files::projected(source, path),
        "image" => {
            let field = path.child("pullPolicy");
            let policies = ["Always", "IfNotPresent", "Never"];
            let error = one_of(source, &field, "pullPolicy", &policies);
            error.into_iter().collect()
        }
        name => of_type(&format!("volume/{name}"), source, path, &Value::Null),
    }
}

pub(super) fn required(owner: &Value, path: &ErrorPath<'_>, fields: &[&str]) -> Vec<FieldError> {
    let missing = fields.iter().filter(|field| text(owner, field).is_empty());
    missing
        .map(|field| FieldError::required(path.child(field), ""))
        .collect()
}

/// The name of a driver (`ValidateCSIDriverName`).
pub(super) fn driver(name: &str, field: &ErrorPath<'_>) -> Vec<FieldError> {
    const MAX: usize = 63;
    if name.is_empty() {
        return vec![FieldError::required(field, "")];
    }
    let mut errors = Vec::new();
    if name.len() > MAX {
        errors.push(FieldError::too_long(field, MAX));
    }
    let reasons = names::subdomain(&name.to_lowercase()).into_iter();
    errors.extend(reasons.map(|why| FieldError::invalid(field, &name.into(), why)));
    errors
}

fn host_path(source: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = required(source, path, &["path"]);
    if !errors.is_empty() {
        return errors;
    }
    errors.extend(no_backsteps(text(source, "path"), &path.child("path")));
    let types = [
        "",
        "BlockDevice",
        "CharDevice",
        "Directory",
        "DirectoryOrCreate",
        "File",
        "FileOrCreate",
        "Socket",
    ];
    let kind = text(source, "type");
    if !types.contains(&kind) {
        let field = path.child("type");
        errors.push(FieldError::not_supported(field, &kind.into(), &types));
    }
    errors
}

/// A relative path that goes down only (`validateLocalDescendingPath`).
pub(super) fn descending(target: &str, field: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if target.starts_with('/') {
        let detail = "must be a relative path";
        errors.push(FieldError::invalid(field, &target.into(), detail));
    }
    errors.extend(no_backsteps(target, field));
    errors
}

pub(super) fn no_backsteps(target: &str, field: &ErrorPath<'_>) -> Option<FieldError> {
    let back = target.split('/').any(|part| part == "..");
    back.then(|| FieldError::invalid(field, &target.into(), "must not contain '..'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_volume_is_of_one_kind_and_has_a_name_of_its_own() {
        let volumes = [
            json!({"name": "a", "emptyDir": {}}),
            json!({"name": "a", "configMap": {"name": "c"}}),
            json!({"name": "b", "emptyDir": {}, "configMap": {"name": "c"}}),
            json!({"name": "c", "secret": {}}),
        ];
        let (known, errors) = validate(&volumes, None, &ErrorPath::new("v"));
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "v[1].name: Duplicate value: \"a\"",
                "v[2].configMap: Forbidden: may not specify more than 1 volume type",
                "v[3].secret.secretName: Required value",
            ]
        );
        assert_eq!(known.keys().copied().collect::<Vec<_>>(), ["a"]);
    }
}

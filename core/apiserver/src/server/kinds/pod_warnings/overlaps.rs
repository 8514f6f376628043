//! Files of a volume that hide each other (`warningsForOverlappingVirtualPaths` of
//! `pkg/api/pod/warnings.go`).

use std::fmt;

use serde_json::Value;

use crate::go;
use crate::object::text;
use crate::server::kinds::label_selector::list;
use crate::server::warnings::MAX_WARNINGS;

/// Kinds of sources of a projected volume.
const SOURCES: [&str; 6] = [
    "secret",
    "configMap",
    "downwardAPI",
    "serviceAccountToken",
    "clusterTrustBundle",
    "podCertificate",
];

/// A file, and its origin if the message names it.
struct MountedFile {
    path: String,
    source: String,
}

impl fmt::Display for MountedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", go::quote(&self.path))?;
        if !self.source.is_empty() {
            write!(f, " ({})", self.source)?;
        }
        Ok(())
    }
}

/// The warnings for the volumes of a pod.
pub(super) fn add_warnings(volumes: &[Value], warnings: &mut Vec<String>) {
    for volume in volumes {
        let name = go::quote(text(volume, "name"));
        for (kind, title, named) in [
            ("configMap", "ConfigMap", "name"),
            ("secret", "Secret", "secretName"),
            ("downwardAPI", "DownwardAPI", ""),
        ] {
            let source = &volume[kind];
            let title = match named {
                "" => title.to_owned(),
                named => format!("{title} {}", go::quote(text(source, named))),
            };
            let files = items(source, "").collect();
            report(files, &format!("volume {name} ({title})"), warnings);
        }
        let mut files = Vec::new();
        for source in list(&volume["projected"], "sources") {
            if SOURCES.iter().all(|kind| source.get(kind).is_none()) {
                warnings.push(format!("volume {name} (Projected) has no sources provided"));
            }
            files.extend(projected(source));
        }
        report(files, &format!("volume {name} (Projected)"), warnings);
    }
}

/// The files that a source of a volume names one by one.
fn items<'a>(source: &'a Value, from: &'a str) -> impl Iterator<Item = MountedFile> {
    list(source, "items").iter().map(move |item| MountedFile {
        path: text(item, "path").to_owned(),
        source: from.to_owned(),
    })
}

/// The files of one source of a projected volume.
fn projected(source: &Value) -> Vec<MountedFile> {
    let Some(kind) = ["configMap", "secret", "downwardAPI"]
        .into_iter()
        .find(|kind| !list(&source[*kind], "items").is_empty())
    else {
        return single(source);
    };
    let name = go::quote(text(&source[kind], "name"));
    let from = match kind {
        "configMap" => format!("ConfigMap {name}"),
        "secret" => format!("Secret {name}"),
        _ => "DownwardAPI".to_owned(),
    };
    items(&source[kind], &from).collect()
}

/// The files of a source that names no list of them.
fn single(source: &Value) -> Vec<MountedFile> {
    let file = |path: &str, source: String| MountedFile {
        path: path.to_owned(),
        source,
    };
    if let Some(token) = source.get("serviceAccountToken") {
        return vec![file(text(token, "path"), "ServiceAccountToken".to_owned())];
    }
    if let Some(bundle) = source.get("clusterTrustBundle") {
        let name = match text(bundle, "name") {
            "" => text(bundle, "signerName"),
            name => name,
        };
        let from = format!("ClusterTrustBundle {}", go::quote(name));
        return vec![file(text(bundle, "path"), from)];
    }
    let certificate = &source["podCertificate"];
    [
        ("certificateChainPath", "chain"),
        ("keyPath", "key"),
        ("credentialBundlePath", "credential bundle"),
    ]
    .into_iter()
    .filter(|(field, _)| !text(certificate, field).is_empty())
    .map(|(field, what)| file(text(certificate, field), format!("PodCertificate {what}")))
    .collect()
}

/// Warns of each file that is, contains or is in one before it.
fn report(files: Vec<MountedFile>, what: &str, warnings: &mut Vec<String>) {
    let mut before: Vec<MountedFile> = Vec::new();
    for mut file in files {
        file.path.truncate(file.path.trim_end_matches('/').len());
        for other in before
            .iter()
            .filter(|other| overlap(&file.path, &other.path))
        {
            // Each with each: what cannot be sent is not looked for.
            if warnings.len() > MAX_WARNINGS {
                return;
            }
            warnings.push(format!("{what}: overlapping paths: {file} with {other}"));
        }
        before.push(file);
    }
}

fn overlap(a: &str, b: &str) -> bool {
    let contains = |outer: &str, inner: &str| {
        let rest = inner.strip_prefix(outer);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    !a.is_empty() && !b.is_empty() && (contains(a, b) || contains(b, a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(volume: Value) -> Vec<String> {
        let mut warnings = Vec::new();
        add_warnings(&[volume], &mut warnings);
        warnings
    }

    #[test]
    fn files_that_hide_each_other_are_warned_of() {
        let paths = |paths: &[&str]| -> Value {
            paths
                .iter()
                .map(|path| json!({"key": "k", "path": path}))
                .collect()
        };
        let map =
            |list: &[&str]| json!({"name": "v", "configMap": {"name": "c", "items": paths(list)}});
        assert!(said(map(&["a", "ab", "b/c"])).is_empty());
        assert_eq!(
            said(map(&["a", "a/b/"])),
            ["volume \"v\" (ConfigMap \"c\"): overlapping paths: \"a/b\" with \"a\""]
        );
        let volume = json!({"name": "v", "projected": {"sources": [
            {},
            {"downwardAPI": {"items": paths(&["t"])}},
            {"serviceAccountToken": {"path": "t"}},
            {"secret": {"name": "s"}},
        ]}});
        assert_eq!(
            said(volume),
            [
                "volume \"v\" (Projected) has no sources provided",
                "volume \"v\" (Projected): overlapping paths: \"t\" (ServiceAccountToken) with \
                 \"t\" (DownwardAPI)",
            ]
        );
    }

    #[test]
    fn a_volume_without_any_source_is_not_warned_of() {
        assert!(said(json!({"name": "v", "projected": {"sources": []}})).is_empty());
    }
}

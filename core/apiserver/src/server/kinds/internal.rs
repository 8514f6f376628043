//! Values as the API server holds them inside (`pkg/apis/*/types.go`), printed as JSON: the form in
//! which its messages show structs and changes.

mod orders;

use std::fmt::Write;
use std::sync::Arc;

use serde_json::Value;

use self::orders::{ORDERS, volume_sources};
use crate::field::ErrorPath;
use crate::json::Raw;
use crate::object::text;
use crate::schema::kinds::kinds;
use crate::schema::{Scalar, Struct, Type, builtin};
use crate::server::wire;

/// Go's names of fields that are not just their JSON names with a capital.
const NAMES: [(&str, &str); 43] = [
    ("apiGroup", "APIGroup"),
    ("apiVersion", "APIVersion"),
    ("awsElasticBlockStore", "AWSElasticBlockStore"),
    ("cel", "CEL"),
    ("cephfs", "CephFS"),
    ("chapAuthDiscovery", "DiscoveryCHAPAuth"),
    ("chapAuthSession", "SessionCHAPAuth"),
    ("cidr", "CIDR"),
    ("cidrs", "CIDRs"),
    ("csi", "CSI"),
    ("diskURI", "DataDiskURI"),
    ("dnsConfig", "DNSConfig"),
    ("dnsPolicy", "DNSPolicy"),
    ("fc", "FC"),
    ("fsGroup", "FSGroup"),
    ("fsGroupChangePolicy", "FSGroupChangePolicy"),
    ("fsType", "FSType"),
    ("gid", "GID"),
    ("gcePersistentDisk", "GCEPersistentDisk"),
    ("gmsaCredentialSpec", "GMSACredentialSpec"),
    ("gmsaCredentialSpecName", "GMSACredentialSpecName"),
    ("grpc", "GRPC"),
    ("httpGet", "HTTPGet"),
    ("httpHeaders", "HTTPHeaders"),
    ("ip", "IP"),
    ("ips", "IPs"),
    ("iqn", "IQN"),
    ("iscsi", "ISCSI"),
    ("iscsiInterface", "ISCSIInterface"),
    ("nfs", "NFS"),
    ("os", "OS"),
    ("pdName", "PDName"),
    ("rbd", "RBD"),
    ("seLinuxChangePolicy", "SELinuxChangePolicy"),
    ("seLinuxOptions", "SELinuxOptions"),
    ("sslEnabled", "SSLEnabled"),
    ("storageos", "StorageOS"),
    ("tcpSocket", "TCPSocket"),
    ("ttlSecondsAfterFinished", "TTLSecondsAfterFinished"),
    ("tty", "TTY"),
    ("uid", "UID"),
    ("volumeID", "VolumeID"),
    ("wwids", "WWIDs"),
];

/// A pod's spec in its internal form, indented by one space.
pub(super) fn pod_spec(spec: &Value) -> String {
    let mut out = String::new();
    if let Some(ty) = builtin("PodSpec") {
        structure(&mut out, spec, ty, &Value::Null, 0);
    }
    out
}

/// A value of a type in its internal form, on one line; a list is one of such values.
pub(super) fn compact(type_name: &str, value: &Value) -> String {
    let mut pretty = String::new();
    match (builtin(type_name), value) {
        (Some(ty), Value::Array(items)) => {
            let items = items.iter().map(|item| {
                let mut text = String::new();
                structure(&mut text, item, ty, &Value::Null, 0);
                text
            });
            block(&mut pretty, '[', ']', &items.collect::<Vec<_>>(), 0);
        }
        (Some(ty), Value::Object(_)) => structure(&mut pretty, value, ty, &Value::Null, 0),
        _ => plain(&mut pretty, value, 0),
    }
    on_one_line(pretty)
}

/// The value of a field of an object, which has this path, in its internal form, indented by one
/// space.
pub(super) fn pretty(object: &Value, path: &str, value: &Value) -> String {
    let mut pretty = String::new();
    match type_at(object, path) {
        Some(ty) => typed(&mut pretty, value, &ty, &Value::Null, 0),
        None => plain(&mut pretty, value, 0),
    }
    pretty
}

/// The sources of a volume, a struct of their own inside, like [`pretty`].
pub(super) fn volume_source(volume: &Value, sources: &Value) -> String {
    let Some(Type::Struct(spec)) = type_at(volume, "spec") else {
        return String::new();
    };
    let mut members = Vec::new();
    for name in volume_sources() {
        let mut member = String::new();
        match (sources.get(name), spec.field(name)) {
            (Some(source), Some(field)) => typed(&mut member, source, &field.ty, &Value::Null, 1),
            _ => member.push_str("null"),
        }
        members.push(format!("\"{}\": {member}", go_name(name)));
    }
    let mut pretty = String::new();
    block(&mut pretty, '{', '}', &members, 0);
    pretty
}

/// The value of a field of an object, which has this path, in its internal form on one line.
pub(super) fn field(object: &Value, path: &ErrorPath<'_>, value: &Value) -> String {
    on_one_line(pretty(object, &path.to_string(), value))
}

/// The type of the field of a kind.
fn type_at(object: &Value, path: &str) -> Option<Type> {
    let (kind, api_version) = (text(object, "kind"), text(object, "apiVersion"));
    let mut kinds = kinds().iter();
    let facts = kinds.find(|facts| facts.kind == kind && facts.api_version == api_version)?;
    let mut ty = Type::Struct(Arc::clone(facts.root()?));
    for part in path.split('.') {
        let (name, index) = part.split_once('[').unwrap_or((part, ""));
        let Type::Struct(owner) = ty else {
            return None;
        };
        ty = owner.field(name)?.ty.clone();
        ty = match ty {
            Type::List(list) if !index.is_empty() => list.item.clone(),
            Type::Map(map) if !index.is_empty() => map.value.clone(),
            ty => ty,
        };
    }
    Some(ty)
}

fn on_one_line(mut pretty: String) -> String {
    let (mut quoted, mut escaped) = (false, false);
    pretty.retain(|c| {
        let kept = quoted || !matches!(c, ' ' | '\n');
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        kept
    });
    pretty
}

fn structure(out: &mut String, value: &Value, ty: &Struct, around: &Value, depth: usize) {
    let order = ORDERS.iter().find(|(name, _)| *name == ty.name);
    let declared: Vec<&str> = ty.fields.iter().map(|field| field.name.as_str()).collect();
    let mut members = Vec::new();
    if matches!(
        ty.name.as_ref(),
        "PodTemplateSpec" | "ResourceClaimTemplateSpec"
    ) {
        // Its metadata is embedded.
        if let Raw::Object(metadata) = as_outside("ObjectMeta", &value["metadata"]) {
            for (name, value) in metadata {
                let mut member = String::new();
                written(&mut member, &value, depth + 1);
                members.push(format!("{}: {member}", quoted(&name)));
            }
        }
    }
    for name in order.map_or(declared.as_slice(), |(_, order)| order) {
        // The host's namespaces are in the security context inside.
        let (name, owner, ty) = match name.strip_prefix('>') {
            Some(name) => (name, around, builtin("PodSpec").map(|ty| &**ty)),
            None => (*name, value, Some(ty)),
        };
        let Some(field) = ty.and_then(|ty| ty.field(name)) else {
            continue;
        };
        if name == "metadata" {
            continue;
        }
        let mut member = String::new();
        let inner = owner.get(name).unwrap_or(&Value::Null);
        if inner.is_null() && field.pointer {
            member.push_str("null");
        } else {
            typed(&mut member, inner, &field.ty, value, depth + 1);
        }
        let of_type = ty.map_or("", |ty| &ty.name);
        members.push(format!("\"{}\": {member}", go_name_in(of_type, name)));
    }
    block(out, '{', '}', &members, depth);
}

fn typed(out: &mut String, value: &Value, ty: &Type, around: &Value, depth: usize) {
    match (ty, value) {
        // Selectors are of the shared types, which are written as outside.
        (Type::Struct(inner), Value::Object(_)) if inner.name == "LabelSelector" => {
            written(out, &as_outside(&inner.name, value), depth);
        }
        (Type::Struct(inner), value) if inner.name == "LabelSelector" => plain(out, value, depth),
        (Type::Struct(inner), value) => structure(out, value, inner, around, depth),
        (Type::List(list), Value::Array(items)) => {
            let items: Vec<String> = items
                .iter()
                .map(|item| {
                    let mut text = String::new();
                    typed(&mut text, item, &list.item, around, depth + 1);
                    text
                })
                .collect();
            block(out, '[', ']', &items, depth);
        }
        (Type::Scalar(scalar), Value::Null) => out.push_str(match scalar {
            Scalar::String => "\"\"",
            Scalar::Bool => "false",
            Scalar::Int32 | Scalar::Int64 | Scalar::IntOrString => "0",
            Scalar::Quantity => "\"0\"",
            _ => "null",
        }),
        (_, value) => plain(out, value, depth),
    }
}

/// A value of a type that the server has in common with the API, with its members in their order.
fn as_outside(type_name: &str, value: &Value) -> Raw {
    Raw::parse(wire::of_type(type_name, value).as_bytes()).unwrap_or(Raw::Null)
}

/// A value that is written already, indented.
fn written(out: &mut String, value: &Raw, depth: usize) {
    let inner = |value: &Raw| {
        let mut text = String::new();
        written(&mut text, value, depth + 1);
        text
    };
    match value {
        Raw::Null => out.push_str("null"),
        Raw::Scalar(_) => match value.string() {
            Some(text) => out.push_str(&quoted(&text)),
            None => out.push_str(&value.compact()),
        },
        Raw::Array(items) => {
            let items: Vec<String> = items.iter().map(inner).collect();
            block(out, '[', ']', &items, depth);
        }
        Raw::Object(members) => {
            let members = members.iter();
            let members =
                members.map(|(name, value)| format!("{}: {}", quoted(name), inner(value)));
            block(out, '{', '}', &members.collect::<Vec<_>>(), depth);
        }
    }
}

/// A value without a type, indented.
fn plain(out: &mut String, value: &Value, depth: usize) {
    let raw = Raw::parse(value.to_string().as_bytes());
    written(out, &raw.unwrap_or(Raw::Null), depth);
}

/// Members between brackets, each on a line of its own.
fn block(out: &mut String, open: char, close: char, members: &[String], depth: usize) {
    out.push(open);
    for (i, member) in members.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(out, "{comma}\n{}{member}", " ".repeat(depth + 1));
    }
    if !members.is_empty() {
        out.push('\n');
        out.push_str(&" ".repeat(depth));
    }
    out.push(close);
}

/// A string as Go writes it into JSON, safe for a web page.
fn quoted(text: &str) -> String {
    let mut out = Value::from(text).to_string();
    for (character, escaped) in [
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u{2028}", "\\u2028"),
        ("\u{2029}", "\\u2029"),
    ] {
        if out.contains(character) {
            out = out.replace(character, escaped);
        }
    }
    out
}

/// The name of a field of a type, which has a prefix in some types only.
fn go_name_in(of_type: &str, name: &str) -> String {
    const PREFIXED: [(&str, &str, &str); 5] = [
        ("Glusterfs", "endpoints", "EndpointsName"),
        ("RBD", "image", "RBDImage"),
        ("RBD", "monitors", "CephMonitors"),
        ("RBD", "pool", "RBDPool"),
        ("RBD", "user", "RadosUser"),
    ];
    let mut found = PREFIXED
        .iter()
        .filter(|(owner, json, _)| of_type.starts_with(owner) && *json == name);
    match found.next() {
        Some((.., go)) => (*go).to_owned(),
        None => go_name(name),
    }
}

fn go_name(name: &str) -> String {
    if let Some((_, go)) = NAMES.iter().find(|(json, _)| *json == name) {
        return (*go).to_owned();
    }
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_internal_form_names_every_field_and_moves_the_namespaces_of_the_host() {
        let spec = json!({
            "containers": [{"name": "c", "image": "busybox:1"}],
            "hostNetwork": true, "securityContext": {},
            "nodeSelector": {"a<b": "1"},
        });
        let text = pod_spec(&spec);
        let start = "{\n \"Volumes\": null,\n \"InitContainers\": null,\n \"Containers\": [\n  {\n   \
             \"Name\": \"c\",\n   \"Image\": \"busybox:1\",\n   \"Command\": null,\n";
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains(" \"SecurityContext\": {\n  \"HostNetwork\": true,\n"));
        assert!(text.contains(" \"NodeSelector\": {\n  \"a\\u003cb\": \"1\"\n },\n"));
        assert!(text.ends_with(" \"SchedulingGroup\": null\n}"));
    }
}

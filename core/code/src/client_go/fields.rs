//! Finds a value in the Go structs of `k8s.io/api`, and writes the Go code that assigns to it.

use serde_json::{Number, Value};

use super::imports::Imports;
use crate::call::json;
use crate::edits::Assignment;
use optimist_apiserver::go;
use optimist_apiserver::patch::named_type;
use optimist_apiserver::schema::{Scalar, Struct, Type};

/// A path in an object, as a Go expression, with its type.
struct GoPlace<'a> {
    /// `deployment.Spec.Replicas`.
    name: String,
    ty: &'a Type,
    pointer: bool,
    /// `true` if it is a string with a named type.
    named: bool,
    /// Its map and its key, if it is a member of a map.
    in_map: Option<(String, String)>,
}

/// The statements that apply an edit to a typed object; `None` if its kind has no such field.
pub(crate) fn assign(
    variable: &str,
    root: &Struct,
    edit: &Assignment,
    imports: &mut Imports,
) -> Option<String> {
    let place = find(variable, root, &edit.path)?;
    let name = &place.name;
    let Some(value) = &edit.value else {
        return Some(match place.in_map {
            Some((map, key)) => format!("delete({map}, {key})\n"),
            None => format!("{name} = {}\n", zero(&place, imports)),
        });
    };
    // A map can be nil where it had no such member: no member can be set in it then.
    let new_in_map = place.in_map.as_ref().filter(|_| edit.adds);
    let is_string = matches!(place.ty, Type::Scalar(Scalar::String)) && !place.named;
    if new_in_map.is_none() || is_string {
        let simple = simple(&place, value, imports);
        let made = new_in_map.map_or_else(String::new, |(map, _)| {
            format!("if {map} == nil {{\n\t{map} = map[string]string{{}}\n}}\n")
        });
        if let Some(simple) = simple {
            return Some(format!("{made}{name} = {simple}\n"));
        }
    }
    imports.add("encoding/json");
    let (target, value, reset) = match place.in_map {
        // A map member is not addressable.
        Some((map, key)) => {
            let value = format!("{{{key}: {value}}}");
            (map, value, String::new())
        }
        None if value.is_array() => (name.clone(), json(value), format!("{name} = nil\n")),
        None => (name.clone(), json(value), String::new()),
    };
    let text = super::raw(&value);
    Some(format!(
        "{reset}if err := json.Unmarshal([]byte({text}), &{target}); err != nil {{\n\treturn err\n}}\n"
    ))
}

fn find<'a>(variable: &str, root: &'a Struct, path: &[String]) -> Option<GoPlace<'a>> {
    let mut parts = path.iter();
    let first = parts.next()?;
    let mut place = member(variable, root, first)?;
    for part in parts {
        place = match place.ty {
            Type::Struct(inner) => member(&place.name, inner, part)?,
            Type::Map(inner) => {
                let key = go::quote(part);
                GoPlace {
                    name: format!("{}[{key}]", place.name),
                    ty: &inner.value,
                    pointer: false,
                    named: place.named,
                    in_map: Some((place.name, key)),
                }
            }
            Type::List(inner) => GoPlace {
                name: format!("{}[{part}]", place.name),
                ty: &inner.item,
                pointer: false,
                named: place.named,
                in_map: None,
            },
            Type::Scalar(_) | Type::Any | Type::Definition(_) => return None,
        };
    }
    Some(place)
}

fn member<'a>(outer: &str, ty: &'a Struct, name: &str) -> Option<GoPlace<'a>> {
    let field = ty.field(name)?;
    let embedded = matches!(&field.ty, Type::Struct(inner) if inner.name == "ObjectMeta");
    let path = if embedded {
        outer.to_owned()
    } else {
        format!("{outer}.{}", field_name(&ty.name, name))
    };
    Some(GoPlace {
        name: path,
        ty: &field.ty,
        pointer: field.pointer,
        named: named_type(&ty.name, name).is_some(),
        in_map: None,
    })
}

/// A value that is a simple Go literal.
fn simple(place: &GoPlace<'_>, value: &Value, imports: &mut Imports) -> Option<String> {
    let Type::Scalar(scalar) = place.ty else {
        return None;
    };
    let integer = |n: &Number| n.is_i64().then(|| n.to_string());
    let (text, to) = match (scalar, value) {
        (Scalar::String, Value::String(text)) => (go::quote(text), "ptr.To"),
        (Scalar::Bool, Value::Bool(b)) => (b.to_string(), "ptr.To"),
        (Scalar::Int32, Value::Number(n)) => (integer(n)?, "ptr.To[int32]"),
        (Scalar::Int64, Value::Number(n)) => (integer(n)?, "ptr.To[int64]"),
        (Scalar::IntOrString, Value::Number(n)) => {
            imports.add("k8s.io/apimachinery/pkg/util/intstr");
            (format!("intstr.FromInt32({})", integer(n)?), "ptr.To")
        }
        (Scalar::IntOrString, Value::String(text)) => {
            imports.add("k8s.io/apimachinery/pkg/util/intstr");
            (format!("intstr.FromString({})", go::quote(text)), "ptr.To")
        }
        (Scalar::Quantity, Value::String(text)) => {
            imports.add("k8s.io/apimachinery/pkg/api/resource");
            (format!("resource.MustParse({})", go::quote(text)), "ptr.To")
        }
        _ => return None,
    };
    match (place.pointer, place.named) {
        (false, _) => Some(text),
        (true, true) => None,
        (true, false) => {
            imports.add("k8s.io/utils/ptr");
            Some(format!("{to}({text})"))
        }
    }
}

fn zero(place: &GoPlace<'_>, imports: &mut Imports) -> String {
    if place.pointer {
        return "nil".to_owned();
    }
    match place.ty {
        Type::Map(_) | Type::List(_) | Type::Any | Type::Definition(_) => "nil".to_owned(),
        Type::Struct(ty) => format!("{}.{}{{}}", imports.package_of(&ty.name), ty.name),
        Type::Scalar(scalar) => match scalar {
            Scalar::Bool => "false".to_owned(),
            Scalar::Int32 | Scalar::Int64 | Scalar::Number => "0".to_owned(),
            Scalar::Bytes => "nil".to_owned(),
            Scalar::Time => format!("{}.Time{{}}", imports.meta()),
            Scalar::MicroTime => format!("{}.MicroTime{{}}", imports.meta()),
            Scalar::IntOrString => {
                imports.add("k8s.io/apimachinery/pkg/util/intstr");
                "intstr.IntOrString{}".to_owned()
            }
            Scalar::Quantity => {
                imports.add("k8s.io/apimachinery/pkg/api/resource");
                "resource.Quantity{}".to_owned()
            }
            _ => "\"\"".to_owned(),
        },
    }
}

/// Abbreviations that are lower case at the beginning of a JSON name, and upper case in Go.
const INITIALISMS: [&str; 24] = [
    "api", "aws", "csi", "dns", "fc", "fs", "gce", "gid", "gmsa", "grpc", "http", "ip", "iqn",
    "iscsi", "nfs", "os", "pd", "qos", "rbd", "se", "ssl", "tcp", "tty", "uid",
];

/// Go names that do not follow from the JSON name.
#[rustfmt::skip]
const EXCEPTIONS: &[((&str, &str), &str)] = &[
    (("AzureDiskVolumeSource", "diskURI"), "DataDiskURI"),
    (("ContainerStatus", "lastState"), "LastTerminationState"),
    (("Event", "reportingComponent"), "ReportingController"),
    (("FCVolumeSource", "wwids"), "WWIDs"),
    (("GlusterfsVolumeSource", "endpoints"), "EndpointsName"),
    (("ISCSIVolumeSource", "chapAuthDiscovery"), "DiscoveryCHAPAuth"),
    (("ISCSIVolumeSource", "chapAuthSession"), "SessionCHAPAuth"),
    (("PhotonPersistentDiskVolumeSource", "pdID"), "PdID"),
    (("PodSpec", "serviceAccount"), "DeprecatedServiceAccount"),
    (("RBDVolumeSource", "image"), "RBDImage"),
    (("RBDVolumeSource", "monitors"), "CephMonitors"),
    (("RBDVolumeSource", "pool"), "RBDPool"),
    (("RBDVolumeSource", "user"), "RadosUser"),
    (("Volume", "cephfs"), "CephFS"),
    (("Volume", "storageos"), "StorageOS"),
];

/// The Go name of a field.
pub(crate) fn field_name(owner: &str, field: &str) -> String {
    let exception = EXCEPTIONS.iter().find(|(of, _)| *of == (owner, field));
    if let Some((_, name)) = exception {
        return (*name).to_owned();
    }
    let end = field.find(|c: char| !c.is_ascii_lowercase());
    let (first, rest) = field.split_at(end.unwrap_or(field.len()));
    let first = if INITIALISMS.contains(&first) {
        first.to_ascii_uppercase()
    } else {
        let mut letters = first.chars();
        let capital = letters.next().map(|c| c.to_ascii_uppercase());
        capital.into_iter().chain(letters).collect()
    };
    first + rest
}

//! Finds a value in the structs of `k8s-openapi`, and writes the Rust code that assigns to it.

use serde_json::Value;

use super::literal::{literal, string};
use crate::edits::Assignment;
use optimist_apiserver::schema::{Omit, Scalar, Struct, Type};

/// A path in an object, as a Rust expression, with its type.
struct RustPlace<'a> {
    /// `deployment.spec.get_or_insert_default().replicas`.
    name: String,
    ty: &'a Type,
    optional: bool,
    /// Its map and its key, if it is a member of a map.
    in_map: Option<(String, String)>,
}

/// The statement that applies an edit to a typed object; `None` if its type does not allow it.
pub(crate) fn assign(variable: &str, root: &Struct, edit: &Assignment) -> Option<String> {
    let place = find(variable, root, &edit.path)?;
    let Some(value) = &edit.value else {
        return Some(match place.in_map {
            Some((map, key)) => format!("{map}.remove({key});\n"),
            None if place.optional => format!("{} = None;\n", place.name),
            None if matches!(place.ty, Type::Scalar(Scalar::Time | Scalar::MicroTime)) => {
                return None;
            }
            None => format!("{} = Default::default();\n", place.name),
        });
    };
    let value = match simple(place.ty, value) {
        Some(simple) if place.optional => format!("Some({simple})"),
        Some(simple) => simple,
        None => format!("serde_json::from_value({})?", literal(value)),
    };
    Some(match place.in_map {
        Some((map, key)) => format!("{map}.insert({key}.into(), {value});\n"),
        None => format!("{} = {value};\n", place.name),
    })
}

fn find<'a>(variable: &str, root: &'a Struct, path: &[String]) -> Option<RustPlace<'a>> {
    let mut parts = path.iter();
    let first = parts.next()?;
    let mut place = member(variable, root, first)?;
    if first == "metadata" {
        place.optional = false;
    }
    for part in parts {
        let inside = match place.optional {
            true => format!("{}.get_or_insert_default()", place.name),
            false => place.name.clone(),
        };
        place = match place.ty {
            Type::Struct(inner) => member(&inside, inner, part)?,
            Type::Map(inner) => RustPlace {
                name: String::new(),
                ty: &inner.value,
                optional: false,
                in_map: Some((inside, string(part))),
            },
            Type::List(inner) => RustPlace {
                name: format!("{inside}[{part}]"),
                ty: &inner.item,
                optional: false,
                in_map: None,
            },
            Type::Scalar(_) | Type::Any | Type::Definition(_) => return None,
        };
    }
    Some(place)
}

fn member<'a>(outer: &str, ty: &'a Struct, name: &str) -> Option<RustPlace<'a>> {
    let field = ty.field(name)?;
    if ["kind", "apiVersion"].contains(&name) && ty.field("metadata").is_some() {
        // Of a root, that is in its type.
        return None;
    }
    let required = field.omit == Omit::Never && !field.pointer;
    let exception = OTHERWISE.contains(&(&*ty.name, name));
    Some(RustPlace {
        name: format!("{outer}.{}", snake(name)),
        ty: &field.ty,
        optional: required == exception,
        in_map: None,
    })
}

/// A value that is a simple Rust literal.
fn simple(ty: &Type, value: &Value) -> Option<String> {
    const INT_OR_STRING: &str = "k8s_openapi::apimachinery::pkg::util::intstr::IntOrString";
    const QUANTITY: &str = "k8s_openapi::apimachinery::pkg::api::resource::Quantity";
    let Type::Scalar(scalar) = ty else {
        return None;
    };
    match (scalar, value) {
        (Scalar::String, Value::String(text)) => Some(format!("{}.into()", string(text))),
        (Scalar::Bool, Value::Bool(b)) => Some(b.to_string()),
        (Scalar::Int32, Value::Number(n)) => i32::try_from(n.as_i64()?).ok().map(|n| n.to_string()),
        (Scalar::Int64, Value::Number(n)) => Some(n.as_i64()?.to_string()),
        (Scalar::IntOrString, Value::Number(n)) => {
            let n = i32::try_from(n.as_i64()?).ok()?;
            Some(format!("{INT_OR_STRING}::Int({n})"))
        }
        (Scalar::IntOrString, Value::String(text)) => {
            let text = string(text);
            Some(format!("{INT_OR_STRING}::String({text}.into())"))
        }
        (Scalar::Quantity, Value::String(text)) => {
            Some(format!("{QUANTITY}({}.into())", string(text)))
        }
        _ => None,
    }
}

/// Fields that are required in the published OpenAPI document and optional in Go, or the other way
/// round.
#[rustfmt::skip]
const OTHERWISE: &[(&str, &str)] = &[
    ("ConfigMapEnvSource", "name"),
    ("ConfigMapKeySelector", "name"),
    ("ConfigMapProjection", "name"),
    ("ConfigMapVolumeSource", "name"),
    ("ContainerRestartRule", "action"),
    ("ContainerRestartRuleOnExitCodes", "operator"),
    ("DeploymentSpec", "selector"),
    ("Event", "reportingComponent"),
    ("Event", "reportingInstance"),
    ("ImageVolumeStatus", "imageRef"),
    ("LocalObjectReference", "name"),
    ("PodCertificateProjection", "keyType"),
    ("PodCertificateProjection", "signerName"),
    ("ProjectedVolumeSource", "sources"),
    ("ScaleIOVolumeSource", "secretRef"),
    ("SecretEnvSource", "name"),
    ("SecretKeySelector", "name"),
    ("SecretProjection", "name"),
];

/// The Rust name of a field: `cluster_ips` for `clusterIPs`.
pub(crate) fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    // The `s` of a plural belongs to the upper-case letters before it.
    let plural = letters.ends_with(&['s'])
        && letters.len() > 2
        && letters[letters.len() - 3..letters.len() - 1]
            .iter()
            .all(char::is_ascii_uppercase);
    let last = letters.len() - usize::from(plural);
    let mut out = String::with_capacity(name.len() + 4);
    for (i, c) in letters.iter().enumerate() {
        let before = i.checked_sub(1).and_then(|i| letters.get(i));
        let after = letters.get(i + 1).filter(|_| i + 1 < last);
        let begins = c.is_ascii_uppercase()
            && before.is_some_and(|before| {
                !before.is_ascii_uppercase()
                    || after.is_some_and(|after| after.is_ascii_lowercase())
            });
        if begins {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    if out == "type" {
        out.push('_');
    }
    out
}

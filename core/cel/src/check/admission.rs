//! The types of what an expression of an admission policy sees besides the object: the request and the namespace
//! (`k8s.io/apiserver/pkg/admission/plugin/cel/compile.go`, `BuildRequestType` and `BuildNamespaceType`, v1.36).

use std::sync::Arc;

use crate::types::CelType;

/// The variables that have such a type, with its name.
const VARIABLES: [(&str, &str); 2] = [
    ("request", "kubernetes.AdmissionRequest"),
    ("namespaceObject", "kubernetes.Namespace"),
];

/// The fields of each type. A type that is no one of these is simple.
const FIELDS: [(&str, &[(&str, &str)]); 9] = [
    (
        "kubernetes.AdmissionRequest",
        &[
            ("kind", "kubernetes.GroupVersionKind"),
            ("resource", "kubernetes.GroupVersionResource"),
            ("subResource", "string"),
            ("requestKind", "kubernetes.GroupVersionKind"),
            ("requestResource", "kubernetes.GroupVersionResource"),
            ("requestSubResource", "string"),
            ("name", "string"),
            ("namespace", "string"),
            ("operation", "string"),
            ("userInfo", "kubernetes.UserInfo"),
            ("dryRun", "bool"),
            ("options", "dyn"),
        ],
    ),
    (
        "kubernetes.GroupVersionKind",
        &[
            ("group", "string"),
            ("version", "string"),
            ("kind", "string"),
        ],
    ),
    (
        "kubernetes.GroupVersionResource",
        &[
            ("group", "string"),
            ("version", "string"),
            ("resource", "string"),
        ],
    ),
    (
        "kubernetes.UserInfo",
        &[
            ("username", "string"),
            ("uid", "string"),
            ("groups", "strings"),
            ("extra", "lists"),
        ],
    ),
    (
        "kubernetes.Namespace",
        &[
            ("metadata", "kubernetes.NamespaceMetadata"),
            ("spec", "kubernetes.NamespaceSpec"),
            ("status", "kubernetes.NamespaceStatus"),
        ],
    ),
    (
        "kubernetes.NamespaceMetadata",
        &[
            ("name", "string"),
            ("generateName", "string"),
            ("namespace", "string"),
            ("labels", "texts"),
            ("annotations", "texts"),
            ("UID", "string"),
            ("creationTimestamp", "timestamp"),
            ("deletionGracePeriodSeconds", "int"),
            ("deletionTimestamp", "timestamp"),
            ("generation", "int"),
            ("resourceVersion", "string"),
            ("finalizers", "strings"),
        ],
    ),
    ("kubernetes.NamespaceSpec", &[("finalizers", "strings")]),
    (
        "kubernetes.NamespaceStatus",
        &[("conditions", "conditions"), ("phase", "string")],
    ),
    (
        "kubernetes.NamespaceCondition",
        &[
            ("status", "string"),
            ("type", "string"),
            ("lastTransitionTime", "timestamp"),
            ("message", "string"),
            ("reason", "string"),
        ],
    ),
];

/// The type of a variable of this name.
pub(crate) fn variable(name: &str) -> Option<CelType> {
    let mut all = VARIABLES.iter();
    let (_, ty) = all.find(|(known, _)| *known == name)?;
    Some(named(ty))
}

/// The fields of a type; `None` if it is no one of these.
fn fields(ty: &str) -> Option<&'static [(&'static str, &'static str)]> {
    let mut all = FIELDS.iter();
    all.find(|(known, _)| *known == ty)
        .map(|(_, fields)| *fields)
}

/// Returns whether this is one of the types.
pub(super) fn is_known(ty: &str) -> bool {
    fields(ty).is_some()
}

/// The type of a field; `None` if the type has no such field.
pub(super) fn field(ty: &str, field: &str) -> Option<CelType> {
    let mut fields = fields(ty)?.iter();
    let (_, ty) = fields.find(|(name, _)| *name == field)?;
    Some(named(ty))
}

/// The type that a row names.
fn named(ty: &str) -> CelType {
    let list = |item| CelType::List(Box::new(item));
    let map = |value| CelType::Map(Box::new(CelType::String), Box::new(value));
    match ty {
        "string" => CelType::String,
        "bool" => CelType::Bool,
        "int" => CelType::Int,
        "timestamp" => CelType::Timestamp,
        "strings" => list(CelType::String),
        "texts" => map(CelType::String),
        "lists" => map(list(CelType::String)),
        "conditions" => list(named("kubernetes.NamespaceCondition")),
        "dyn" => CelType::Dyn,
        ty => CelType::Message(Arc::from(ty)),
    }
}

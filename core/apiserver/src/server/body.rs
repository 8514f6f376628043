//! From the bytes of a request to an object (`k8s.io/apimachinery/pkg/runtime/serializer`,
//! `k8s.io/apiserver/pkg/endpoints/handlers`).

use serde_json::Value;

use super::custom::{Custom, missing_kind};
use super::patching::foreign::{self, Scheme};
use super::request::{FieldValidation, RequestInfo};
use super::resource::Definition;
use crate::go;
use crate::json::{self, Node, Raw};
use crate::limits;
use crate::object::{GroupVersion, JsonMap, text};
use crate::schema::{self, Decoded, Empties};
use crate::status::{FieldError, Refusal, Status};
use crate::yaml;

/// The largest request body in bytes (`MaxRequestBodyBytes`). A larger one is refused with 413.
pub const MAX_BODY_SIZE: usize = 3 * 1024 * 1024;

const MEDIA_TYPES: [&str; 3] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
];

/// An object that a request asks to be stored.
#[derive(Clone, Debug, Default)]
pub(super) struct DraftObject {
    /// The object, with defaults filled in.
    pub(super) object: Value,
    /// The object in the version in which its kind is stored, if that is another one: it can tell apart what the
    /// version of the request cannot.
    pub(super) internal: Option<Value>,
    /// Its empty lists and maps that are not written.
    pub(super) empties: Empties,
    /// The errors of strict decoding, if they do not refuse the request.
    pub(super) warnings: Vec<String>,
    /// `true` if its version is that of the stored object, because the patch carried no version.
    pub(super) takes_version_over: bool,
}

impl From<Value> for DraftObject {
    fn from(object: Value) -> Self {
        Self {
            object,
            ..Self::default()
        }
    }
}

impl DraftObject {
    /// Lets the field managers see the object as it was given.
    pub(super) fn update(&mut self, info: &RequestInfo, manage: impl FnOnce(&mut Value)) {
        let root = &info.resource.root;
        self.empties
            .present_in_whole_lists(&mut self.object, root, manage);
    }
}

/// Refuses bodies that are too large.
pub(super) fn check_size(body: &[u8]) -> Result<(), Refusal> {
    if body.len() > MAX_BODY_SIZE {
        return Err(Status::too_large(format!("limit is {MAX_BODY_SIZE}")));
    }
    Ok(())
}

/// Refuses bodies of another type (`NegotiateInputSerializer`).
pub(super) fn check_media_type(content_type: &str) -> Result<(), Refusal> {
    if content_type.is_empty() || MEDIA_TYPES.contains(&content_type) {
        return Ok(());
    }
    Err(Status::unsupported_media_type(&MEDIA_TYPES))
}

/// Decodes the body of a create or update.
pub(super) fn decode_object(info: &RequestInfo, body: &[u8]) -> Result<DraftObject, Refusal> {
    check_size(body)?;
    let (node, repeated) = match info.content_type.as_str() {
        "" | "application/json" => (json_document(info, body)?, Vec::new()),
        "application/yaml" => {
            let text = String::from_utf8_lossy(body);
            let document =
                yaml::parse(&text).map_err(|error| unrecognized(info, error.in_go(), body))?;
            let repeated = document.duplicate_errors();
            // It is decoded as JSON: with its keys sorted, and each key once.
            let node = Node::from(Value::from(document.node));
            limits::check_node(&node)?;
            (node, repeated)
        }
        #[cfg(feature = "protobuf")]
        super::protobuf::MEDIA_TYPE => {
            let node = super::protobuf::object(info, body)?;
            limits::check_node(&node)?;
            (node, Vec::new())
        }
        _ => return Err(Status::unsupported_media_type(&MEDIA_TYPES)),
    };
    if let Definition::Custom(custom) = &info.resource.definition {
        let (object, warnings) = decode_custom(info, custom, node, repeated, body)?;
        // Defaults come on top.
        limits::check(&object)?;
        return Ok(DraftObject {
            warnings,
            ..object.into()
        });
    }
    check_kind(info, &node, &repeated, body)?;
    let resource = &info.resource;
    let Decoded {
        value: mut object,
        strict_errors,
        empties,
    } = schema::decode_spelled(node, &resource.root, &|| spelled(info, body))
        .map_err(|error| unhandled(info, &error))?;
    if let Some(error) = resource.unconvertible(&object) {
        return Err(unhandled(info, &error));
    }
    let strict_errors = with_repeated(info, repeated, strict_errors);
    let warnings = apply_field_validation(info, strict_errors, |error| unhandled(info, error))?;
    let internal = finish(info, &mut object, &empties);
    Ok(DraftObject {
        object,
        internal,
        empties,
        warnings,
        ..DraftObject::default()
    })
}

/// The document that a body in JSON is.
fn json_document(info: &RequestInfo, body: &[u8]) -> Result<Node, Refusal> {
    if let Some(node) = limits::read_plain(body) {
        return Ok(node);
    }
    let node = json::parse(body).map_err(|error| {
        let error = format!(
            "couldn't get version/kind; json parse error: {}",
            error.message
        );
        unrecognized(info, &error, body)
    })?;
    limits::check_node(&node)?;
    Ok(node)
}

/// The body as it is spelled, if it is JSON and not made from YAML or protobuf.
pub(super) fn spelled(info: &RequestInfo, body: &[u8]) -> Option<Raw> {
    let is_json = matches!(info.content_type.as_str(), "" | "application/json");
    is_json.then(|| Raw::parse(body).ok()).flatten()
}

/// Decodes the options in the body of a DELETE.
pub(super) fn decode_options(info: &RequestInfo, body: &[u8]) -> Result<Node, Refusal> {
    match info.content_type.as_str() {
        "" | "application/json" => json::parse(body).map_err(|error| {
            Status::bad_request(format!(
                "couldn't get version/kind; json parse error: {}",
                error.message
            ))
        }),
        "application/yaml" => yaml::parse(&String::from_utf8_lossy(body))
            .map(|document| by_keys(document.node))
            .map_err(|error| Status::bad_request(error.in_go())),
        #[cfg(feature = "protobuf")]
        super::protobuf::MEDIA_TYPE => super::protobuf::delete_options(body),
        _ => Err(Status::unsupported_media_type(&MEDIA_TYPES)),
    }
}

/// Decodes a custom resource: it believes the kind in the document, which is checked later.
fn decode_custom(
    info: &RequestInfo,
    custom: &Custom,
    node: Node,
    repeated: Vec<String>,
    body: &[u8],
) -> Result<(Value, Vec<String>), Refusal> {
    let resource = &info.resource;
    let head = head(&node);
    if let Some(error) = foreign::uninterpretable(&interpreted(&node)) {
        return Err(unrecognized(info, &error, body));
    }
    let kind = text(&head, "kind");
    let found = GroupVersion::parse(text(&head, "apiVersion"));
    let found = found.unwrap_or_else(|| GroupVersion::new("", ""));
    let refuse_as = |expected: &str, error: &str| {
        if kind.is_empty() {
            return unrecognized(info, error, body);
        }
        let version = go::quote(&found.version);
        Status::bad_request(format!(
            "{kind} in version {version} cannot be handled as a {expected}: {error}"
        ))
    };
    let refuse = |error: &str| refuse_as(&resource.kind, error);
    if let Some(error) = json::huge_number_error(&node) {
        return Err(refuse(&error));
    }
    if kind.is_empty() {
        let error = missing_kind(&String::from_utf8_lossy(body));
        // Only a strict decoder says so itself (`pkg/endpoints/handlers/create.go`, `decodeSerializer`).
        return Err(match info.options.field_validation {
            FieldValidation::Ignore => {
                let (version, expected) = (&resource.group_version.version, &resource.kind);
                Status::bad_request(format!(
                    "{expected} in version {} cannot be handled as a {expected}: {error}",
                    go::quote(version)
                ))
            }
            _ => refuse(&error),
        });
    }
    let (value, strict_errors) = custom.decode(node).map_err(|error| refuse(&error))?;
    let strict_errors = with_repeated(info, repeated, strict_errors);
    // The object has been decoded, and says what it is.
    let refuse_strictly = |error: &str| refuse_as(kind, error);
    let warnings = apply_field_validation(info, strict_errors, refuse_strictly)?;
    check_version(&found, &resource.group_version)?;
    Ok((value, warnings))
}

/// Decodes the result of a patch.
///
/// Strict errors come in the order of the members, and messages show them in it: `in_order` gives the
/// document with its members in the order of upstream.
pub(super) fn decode_patched(
    info: &RequestInfo,
    patched: Node,
    in_order: &dyn Fn() -> Raw,
) -> Result<DraftObject, Refusal> {
    let refuse = |error: &str| {
        let error = FieldError::invalid("patch", &in_order().compact().into(), error);
        Status::invalid(&crate::object::GroupName::new("", ""), "", &[error])
    };
    if let Some(draft) = decode_other_version(info, &patched, in_order, &refuse) {
        return draft;
    }
    if let Definition::Custom(custom) = &info.resource.definition {
        let (object, strict_errors) = custom
            .decode_patched(patched, in_order)
            .map_err(|error| refuse(&error))?;
        limits::check(&object)?;
        return Ok(DraftObject {
            warnings: apply_field_validation(info, strict_errors, refuse)?,
            ..object.into()
        });
    }
    let Decoded {
        value: mut object,
        mut strict_errors,
        empties,
    } = schema::decode_spelled(patched, &info.resource.root, &|| Some(in_order()))
        .map_err(|error| refuse(&error))?;
    if let Some(error) = info.resource.unconvertible(&object) {
        return Err(refuse(&error));
    }
    if strict_errors.len() > 1
        && let Ok(decoded) = schema::decode(Node::from(in_order()), &info.resource.root)
    {
        strict_errors = decoded.strict_errors;
    }
    let warnings = apply_field_validation(info, strict_errors, refuse)?;
    let internal = finish(info, &mut object, &empties);
    Ok(DraftObject {
        object,
        internal,
        empties,
        warnings,
        ..DraftObject::default()
    })
}

/// Decodes the result of a patch that changed `apiVersion` to another version of the kind: it is read and
/// filled in as that version has it, and then converted (`Decode` of `serializer/versioning`).
fn decode_other_version(
    info: &RequestInfo,
    patched: &Node,
    in_order: &dyn Fn() -> Raw,
    refuse: &dyn Fn(&str) -> Refusal,
) -> Option<Result<DraftObject, Refusal>> {
    let resource = &info.resource;
    let version = patched.text("apiVersion").unwrap_or_default();
    let root = resource.root_of(version)?;
    if version == resource.group_version.to_string() {
        return None;
    }
    let decoded = schema::decode(Node::from(in_order()), root).map_err(|error| refuse(&error));
    let decoded = decoded.and_then(|decoded| {
        let warnings = apply_field_validation(info, decoded.strict_errors, refuse)?;
        let mut object = decoded.value;
        schema::fill_defaults(&mut object, root);
        resource.adopt(&mut object);
        let empties = Empties::default();
        let internal = finish(info, &mut object, &empties);
        Ok(DraftObject {
            internal,
            warnings,
            ..object.into()
        })
    });
    Some(decoded)
}

/// Fills in the fields that every object of the kind has. Returns the object as [`DraftObject::internal`] has it.
pub(super) fn finish(info: &RequestInfo, value: &mut Value, empties: &Empties) -> Option<Value> {
    let resource = &info.resource;
    value["apiVersion"] = resource.group_version.to_string().into();
    value["kind"] = resource.kind.as_str().into();
    // An empty list is none that a default replaces.
    empties.present(value, |value| schema::fill_defaults(value, &resource.root));
    resource.settle(value)
}

/// Adds the keys that a YAML document repeats: one error with a line for each, but a warning each.
fn with_repeated(
    info: &RequestInfo,
    mut repeated: Vec<String>,
    strict_errors: Vec<String>,
) -> Vec<String> {
    if !repeated.is_empty() && info.options.field_validation == FieldValidation::Strict {
        let lines = repeated.join("\n  ");
        repeated = vec![format!("yaml: unmarshal errors:\n  {lines}")];
    }
    repeated.extend(strict_errors);
    repeated
}

/// An error of strict decoding is a warning, an error or nothing.
fn apply_field_validation(
    info: &RequestInfo,
    strict_errors: Vec<String>,
    refuse: impl Fn(&str) -> Refusal,
) -> Result<Vec<String>, Refusal> {
    match info.options.field_validation {
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Warn => Ok(strict_errors),
        FieldValidation::Strict if strict_errors.is_empty() => Ok(Vec::new()),
        FieldValidation::Strict => {
            let list = strict_errors.join(", ");
            Err(refuse(&format!("strict decoding error: {list}")))
        }
    }
}

fn check_kind(
    info: &RequestInfo,
    node: &Node,
    repeated: &[String],
    body: &[u8],
) -> Result<(), Refusal> {
    let expected = &info.resource.group_version;
    let head = interpreted(node);
    let (version, kind) = (text(&head, "apiVersion"), text(&head, "kind"));
    if let Some(error) = foreign::uninterpretable(&head) {
        return Err(unrecognized(info, &error, body));
    }
    let found = match version {
        "" => expected.clone(),
        version => GroupVersion::parse(version).unwrap_or_else(|| expected.clone()),
    };
    let is_own = found == *expected && (kind.is_empty() || kind == info.resource.kind);
    if !is_own {
        let mut object = Value::from(node.clone());
        object["kind"] = kind.into();
        object["apiVersion"] = version.into();
        if let Some(error) = foreign::mistake(&info.resource, Scheme::of_request(info), &object) {
            return Err(undecodable(info, version, kind, &error));
        }
    }
    // It is decoded as what it says that it is, before the versions are compared (`pkg/endpoints/handlers/create.go
    // createHandler`).
    if !is_own && let Some(errors) = foreign::strict_errors(&info.resource, node, &found, kind) {
        let errors = with_repeated(info, repeated.to_vec(), errors);
        apply_field_validation(info, errors, |error| {
            undecodable(info, version, kind, error)
        })?;
    }
    check_version(&found, expected)
}

/// Returns the version and kind of a document.
pub(super) fn head(node: &Node) -> Value {
    match node {
        Node::Object(_) => ["apiVersion", "kind"]
            .iter()
            .filter_map(|field| Some(((*field).to_owned(), Value::from(node.get(field)?.clone()))))
            .collect(),
        Node::Null => Value::Object(JsonMap::new()),
        other => Value::from(other.clone()),
    }
}

/// Returns the version and kind of a document as its kind is looked for: in any case of letters, and the last
/// counts (`Interpret` of `serializer/json/meta.go`, which decodes with Go's own package).
pub(super) fn interpreted(node: &Node) -> Value {
    let Node::Object(members) = node else {
        return head(node);
    };
    // The first that is no text is an error, whatever comes after it.
    let named = |field: &str| {
        let found = || {
            let found = members.iter();
            found.filter(|(name, _)| name.eq_ignore_ascii_case(field))
        };
        let wrong = found().find(|(_, value)| !matches!(value, Node::Null | Node::String(_)));
        match wrong.or_else(|| found().next_back())? {
            (_, Node::HugeNumber(_)) => Some(Value::from(0)),
            (_, value) => Some(Value::from(value.clone())),
        }
    };
    let fields = ["apiVersion", "kind"].iter();
    fields
        .filter_map(|field| Some(((*field).to_owned(), named(field)?)))
        .collect()
}

/// YAML is decoded through a map, which JSON writes in the order of its keys (`sigs.k8s.io/yaml`).
fn by_keys(node: Node) -> Node {
    match node {
        Node::Object(mut members) => {
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            let members = members.into_iter();
            Node::Object(members.map(|(key, value)| (key, by_keys(value))).collect())
        }
        Node::Array(items) => Node::Array(items.into_iter().map(by_keys).collect()),
        other => other,
    }
}

/// The answer to every body that does not decode, if it is for the scale of a custom resource: its scheme
/// does not know the kind (`transformDecodeError`).
fn unknown_to_scheme(info: &RequestInfo) -> Option<Refusal> {
    let parent = info.parent.as_ref()?;
    (!parent.is_builtin()).then(|| {
        Status::bad_request(
            "no kind is registered for the type v1.Scale in scheme \
             \"k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781\""
                .to_owned(),
        )
    })
}

/// The error of a body of another kind or version (`transformDecodeError`).
pub(super) fn undecodable(info: &RequestInfo, version: &str, kind: &str, error: &str) -> Refusal {
    if let Some(refusal) = unknown_to_scheme(info) {
        return refusal;
    }
    let resource = &info.resource;
    let version = match version {
        "" => &resource.group_version.version,
        version => version.rsplit('/').next().unwrap_or(version),
    };
    let kind = if kind.is_empty() {
        &resource.kind
    } else {
        kind
    };
    Status::bad_request(format!(
        "{kind} in version {} cannot be handled as a {}: {error}",
        go::quote(version),
        resource.kind,
    ))
}

/// The error of a body without a kind that can be read (`transformDecodeError`).
pub(super) fn unrecognized(info: &RequestInfo, error: &str, body: &[u8]) -> Refusal {
    if let Some(refusal) = unknown_to_scheme(info) {
        return refusal;
    }
    let (kind, summary) = (&info.resource.kind, summary(body));
    Status::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): {error} ({summary})"
    ))
}

/// The beginning of a body: as text if it looks like JSON, otherwise in hexadecimal
/// (`summarizeData`).
fn summary(body: &[u8]) -> String {
    const MOST: usize = 30;
    let head = &body[..body.len().min(MOST)];
    let more = if body.len() > MOST { " ..." } else { "" };
    match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{more}", String::from_utf8_lossy(head)),
        Some(_) => {
            let hex: String = head.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{hex}{more}")
        }
    }
}

fn check_version(found: &GroupVersion, expected: &GroupVersion) -> Result<(), Refusal> {
    if found == expected {
        return Ok(());
    }
    Err(Status::bad_request(format!(
        "the API version in the data ({found}) does not match the expected API version ({expected})"
    )))
}

fn unhandled(info: &RequestInfo, error: &str) -> Refusal {
    undecodable(info, "", "", error)
}

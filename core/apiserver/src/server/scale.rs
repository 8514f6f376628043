//! The `scale` subresource: a view of an object that shows only its number of replicas
//! (`pkg/registry/apps/deployment/storage`, `managedfields/scalehandler.go`).

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use super::body::DraftObject;
use super::kinds::{Rules, metadata, names};
use super::resource::{Definition, Endpoint, Generation, Names, Resource};
use super::{ApiServer, RequestInfo, ScalePaths};
use crate::apply::{Managers, Owned, Path, PathElement, Set};
use crate::go;
use crate::object::{GroupName, GroupVersion, Metadata, text};
use crate::schema::builtin;
use crate::status::{FieldError, Refusal, Status};

/// The subresource's name.
pub(super) const SCALE: &str = "scale";

/// The field of the view with the number of replicas.
static REPLICAS: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["spec", "replicas"]]));

static RESOURCE: LazyLock<Option<Arc<Resource>>> = LazyLock::new(|| {
    Some(Arc::new(Resource {
        group_version: GroupVersion::new("autoscaling", "v1"),
        kind: "Scale".to_owned(),
        plural: "scales".to_owned(),
        namespaced: true,
        names: Names::default(),
        root: builtin("Scale")?.into(),
        versions: None,
        storage_prefix: String::new(),
        unconditional_update: true,
        create_on_update: false,
        generation: Generation::None,
        endpoints: vec![Endpoint {
            name: SCALE,
            reset_fields: Set::default(),
        }],
        definition: Definition::Builtin(Rules::NONE),
    }))
});

/// The view as a resource of its own.
pub(super) fn resource() -> Option<&'static Arc<Resource>> {
    RESOURCE.as_ref()
}

/// The fields of an object that its view shows.
struct ScaleFields<'a> {
    replicas: Vec<&'a str>,
    observed: Vec<&'a str>,
    /// The path to a selector as text; `None` for the label selector of a built-in kind.
    selector: Option<Option<Vec<&'a str>>>,
    /// Of custom resources the path as it is declared.
    declared: &'a str,
}

fn steps(path: &str) -> Vec<&str> {
    path.strip_prefix('.').unwrap_or(path).split('.').collect()
}

impl<'a> ScaleFields<'a> {
    fn new(parent: &'a Resource) -> Self {
        match &parent.definition {
            Definition::Custom(custom) if custom.scale.is_some() => {
                let ScalePaths {
                    spec_replicas,
                    status_replicas,
                    label_selector,
                } = custom.scale.as_ref().unwrap_or(&NO_PATHS);
                Self {
                    replicas: steps(spec_replicas),
                    observed: steps(status_replicas),
                    selector: Some(label_selector.as_deref().map(steps)),
                    declared: spec_replicas,
                }
            }
            _ => Self {
                replicas: vec!["spec", "replicas"],
                observed: vec!["status", "replicas"],
                selector: None,
                declared: "",
            },
        }
    }

    fn is_custom(&self) -> bool {
        self.selector.is_some()
    }

    /// Returns the path of the number of replicas in each version of the kind; `None` for a version
    /// without a scale.
    fn mappings(&self, parent: &Resource) -> Mappings {
        let fields = |path: &[&str]| Some(Set::of_fields(&[path]));
        match &parent.definition {
            Definition::Custom(custom) => {
                let versions = custom.versions.replicas.iter();
                versions
                    .map(|(version, path)| {
                        let path = path.as_deref().map(steps);
                        (version.clone(), path.and_then(|path| fields(&path)))
                    })
                    .collect()
            }
            Definition::Builtin(_) => {
                let version = parent.group_version.to_string();
                vec![(version, fields(&self.replicas))]
            }
        }
    }
}

/// Versions of a kind, and where each keeps the number of replicas.
type Mappings = Vec<(String, Option<Set>)>;

/// The field with the number in a version; `None` if there is no such version.
fn mapped<'a>(mappings: &'a Mappings, version: &str) -> Option<Option<&'a Set>> {
    let found = mappings.iter().find(|(known, _)| known == version);
    found.map(|(_, fields)| fields.as_ref())
}

static NO_PATHS: ScalePaths = ScalePaths {
    spec_replicas: String::new(),
    status_replicas: String::new(),
    label_selector: None,
};

fn at<'v>(object: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(object, |value, name| value.get(name))
}

impl Resource {
    /// Returns the view of an object that `/scale` shows.
    pub fn scale_of(&self, object: &Value) -> Value {
        scale_of(self, object)
    }

    /// Returns the field of an object that `/scale` shows as the wanted number of replicas.
    pub fn replicas_field(&self) -> Path {
        let places = ScaleFields::new(self).replicas;
        let names = places.into_iter().map(str::to_owned);
        Path(names.map(PathElement::Field).collect())
    }
}

/// An object's view, as the API answers with it.
///
/// # Errors
/// 500 if a custom resource does not say how many replicas it wants.
pub(super) fn read(parent: &Resource, object: &Value) -> Result<Value, Refusal> {
    let places = ScaleFields::new(parent);
    if places.is_custom() && at(object, &places.replicas).is_none() {
        let path = go::quote(places.declared);
        let why = format!("the spec replicas field {path} does not exist");
        return Err(Status::internal_error(&why));
    }
    Ok(scale_of(parent, object))
}

/// An object's view, whether or not it says how many replicas it wants.
pub(super) fn scale_of(parent: &Resource, object: &Value) -> Value {
    let places = ScaleFields::new(parent);
    let mut metadata = json!({});
    for field in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ] {
        let value = object.meta_text(field);
        if !value.is_empty() {
            metadata[field] = value.into();
        }
    }
    let number = |path: &[&str]| at(object, path).and_then(Value::as_i64).unwrap_or(0);
    let mut spec = json!({});
    let replicas = number(&places.replicas);
    if replicas != 0 {
        spec["replicas"] = replicas.into();
    }
    let mut status = json!({"replicas": number(&places.observed)});
    let selector = match &places.selector {
        None => selector(&object["spec"]["selector"]),
        Some(path) => {
            let found = path.as_ref().and_then(|path| at(object, path)?.as_str());
            found.unwrap_or_default().to_owned()
        }
    };
    if !selector.is_empty() {
        status["selector"] = selector.into();
    }
    json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": metadata, "spec": spec, "status": status,
    })
}

/// Returns whether a request is about the view of a custom resource. An apply of one fails as soon as it
/// would change anything: the server converts it as if it were the custom resource.
pub(super) fn is_foreign(info: &RequestInfo) -> bool {
    info.parent
        .as_ref()
        .is_some_and(|parent| !parent.is_builtin())
}

/// Returns the message of an apply that fails so.
pub(super) fn unconvertible(which: &str, namespace: &str, name: &str) -> String {
    format!(
        "failed to convert {which} object ({namespace}/{name}; autoscaling/v1, Kind=Scale) to proper \
         version: request to convert CR to an invalid group/version: autoscaling/v1"
    )
}

/// The number of replicas of a custom resource that does not have this field.
const NOT_SET: i64 = i32::MIN as i64;

/// `ValidateScale` of `pkg/apis/autoscaling/validation`.
fn validate(scale: &Value, replicas: i64) -> Vec<FieldError> {
    let mut errors = metadata::builtin(scale, names::subdomain);
    if replicas < 0 {
        let detail = "must be greater than or equal to 0";
        let field = "spec.replicas";
        errors.push(FieldError::invalid(field, &replicas.into(), detail));
    }
    errors
}

/// A view is written only if its uid is that of the object, or absent.
fn check_uid(parent: &Resource, live: &Value, after: &Value) -> Result<(), Refusal> {
    if after.uid().is_empty() || after.uid() == live.uid() {
        return Ok(());
    }
    let why = format!(
        "Precondition failed: UID in precondition: {}, UID in object meta: {}",
        after.uid(),
        live.uid()
    );
    let view = format!("{}/{SCALE}", parent.plural);
    let resource = GroupName::new(&parent.group_version.group, view);
    Err(Status::conflict(&resource, live.name(), &why))
}

/// The object after a write of its view.
pub(super) fn write_through(
    server: &ApiServer,
    parent: &Resource,
    live: &Value,
    write: impl FnOnce(&ApiServer, &Value) -> Result<DraftObject, Refusal>,
) -> Result<DraftObject, Refusal> {
    let places = ScaleFields::new(parent);
    let parent_version = parent.group_version.to_string();
    let managed = live.managed_fields();
    let mappings = places.mappings(parent);
    let mut before = scale_of(parent, live);
    if places.is_custom() && at(live, &places.replicas).is_none() {
        before["spec"]["replicas"] = NOT_SET.into();
    }
    let entries = to_view(managed, &mappings).map_err(Status::internal)?;
    before.set_meta("managedFields", entries.unwrap_or(Value::Null));
    let DraftObject {
        object: after,
        takes_version_over,
        ..
    } = write(server, &before)?;
    let replicas = after["spec"]["replicas"].as_i64().unwrap_or(0);
    if places.is_custom() && replicas == NOT_SET {
        let path = go::quote(places.declared);
        return Err(Status::bad_request(format!(
            "the spec replicas field {path} cannot be empty"
        )));
    }
    // A custom resource is checked as a whole, and nothing else of the view.
    let errors = if places.is_custom() {
        Vec::new()
    } else {
        validate(&after, replicas)
    };
    if !errors.is_empty() {
        let kind = GroupName::new("autoscaling", "Scale");
        return Err(Status::invalid(&kind, live.name(), &errors));
    }
    check_uid(parent, live, &after)?;
    let view_managed = after.managed_fields();
    let entries =
        to_parent(managed, view_managed, &parent_version, &mappings).map_err(Status::internal)?;
    let mut object = live.clone();
    set(&mut object, &places.replicas, replicas.into());
    if !places.is_custom() || !after.resource_version().is_empty() {
        object.set_meta("resourceVersion", after.resource_version());
    }
    object.set_meta("managedFields", entries.unwrap_or(Value::Null));
    Ok(DraftObject {
        takes_version_over,
        ..object.into()
    })
}

/// Sets a value, and makes the objects on the way where they are missing.
fn set(object: &mut Value, path: &[&str], value: Value) {
    match path.split_first() {
        None => *object = value,
        Some((name, rest)) => {
            if !object.is_object() {
                *object = json!({});
            }
            set(&mut object[*name], rest, value);
        }
    }
}

/// The entries that own the number of replicas, as the view names it (`ToSubresource`).
fn to_view(managed: Option<&Value>, mappings: &Mappings) -> Result<Option<Value>, String> {
    let mut managers = Managers::decode(managed)?;
    managers.retain(|owned| {
        let fields = mapped(mappings, &owned.api_version).flatten();
        let owns = fields.is_some_and(|fields| !owned.set.intersection(fields).is_empty());
        owned.set = REPLICAS.clone();
        "autoscaling/v1".clone_into(&mut owned.api_version);
        owns
    });
    Ok(managers.encode())
}

/// The object's entries after a write of the view (`ToParent`). An updater of the view is another
/// one than that of the object, since its identity has the version in it.
fn to_parent(
    parent: Option<&Value>,
    view: Option<&Value>,
    parent_version: &str,
    mappings: &Mappings,
) -> Result<Option<Value>, String> {
    let mut managers = Managers::decode(parent)?;
    let mut view = Managers::decode(view)?;
    managers.retain(|owned| {
        let Some(fields) = mapped(mappings, &owned.api_version) else {
            return false;
        };
        if let Some(fields) = fields
            && !owned.set.intersection(fields).is_empty()
            && view.remove(&owned.manager).is_none()
        {
            owned.set = owned.set.difference(fields);
        }
        !owned.set.is_empty()
    });
    let fields = mapped(mappings, parent_version).flatten();
    for owned in view.iter() {
        if owned.set.intersection(&REPLICAS).is_empty() {
            continue;
        }
        let time = managers.get(&owned.manager).and_then(|known| known.time);
        managers.insert(Owned {
            manager: owned.manager.clone(),
            api_version: parent_version.to_owned(),
            set: fields.cloned().unwrap_or_default(),
            time,
        });
    }
    Ok(managers.encode())
}

/// A label selector as text (`LabelSelectorAsSelector(...).String()`), or the labels that a replication
/// controller selects by (`SelectorFromSet(...).String()`): they are text, and no member of a selector is.
pub(super) fn selector(selector: &Value) -> String {
    let members = selector.as_object().into_iter().flatten();
    let plain = members.filter(|(_, value)| value.is_string());
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let mut terms: Vec<(String, String)> = plain
        .chain(labels)
        .map(|(key, value)| (key.clone(), format!("{key}={}", go::print(value))))
        .collect();
    for expression in selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let key = text(expression, "key");
        let mut values: Vec<&str> = expression["values"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        values.sort_unstable();
        let values = values.join(",");
        let term = match text(expression, "operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        terms.push((key.to_owned(), term));
    }
    terms.sort_by(|a, b| a.0.cmp(&b.0));
    let terms: Vec<String> = terms.into_iter().map(|(_, term)| term).collect();
    terms.join(",")
}

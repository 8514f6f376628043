//! The `scale` subresource: a view of an object that shows only how many replicas it has
//! (`pkg/registry/apps/deployment/storage`, `managedfields/scalehandler.go`).

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use super::ApiServer;
use super::kinds::Rules;
use super::resource::{Definition, Endpoint, Generation, Names, Resource};
use crate::apply::{Managers, Owned, Set};
use crate::go;
use crate::object::{GroupName, GroupVersion, Metadata, text};
use crate::schema::builtin;
use crate::status::{FieldError, Refusal, Status};

/// The subresource's name.
pub(super) const SCALE: &str = "scale";

/// Where both the object and its view keep the number of replicas.
static REPLICAS: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["spec", "replicas"]]));

static RESOURCE: LazyLock<Option<Arc<Resource>>> = LazyLock::new(|| {
    Some(Arc::new(Resource {
        group_version: GroupVersion::new("autoscaling", "v1"),
        kind: "Scale".to_owned(),
        plural: "scales".to_owned(),
        namespaced: true,
        names: Names::default(),
        root: Arc::clone(builtin("Scale")?),
        storage_prefix: String::new(),
        unconditional_update: true,
        create_on_update: false,
        generation: Generation::None,
        endpoints: vec![Endpoint {
            name: SCALE,
            keeps: Set::default(),
        }],
        definition: Definition::Builtin(Rules::NONE),
    }))
});

/// The view as a resource of its own.
pub(super) fn resource() -> Option<&'static Arc<Resource>> {
    RESOURCE.as_ref()
}

/// An object's view, as the API answers with it.
pub(super) fn of(object: &Value) -> Value {
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
    let mut spec = json!({});
    if let Some(replicas) = object["spec"]["replicas"].as_i64().filter(|n| *n != 0) {
        spec["replicas"] = replicas.into();
    }
    let replicas = object["status"]["replicas"].as_i64().unwrap_or(0);
    let mut status = json!({"replicas": replicas});
    let selector = selector(&object["spec"]["selector"]);
    if !selector.is_empty() {
        status["selector"] = selector.into();
    }
    json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": metadata, "spec": spec, "status": status,
    })
}

/// Lets a write of the view act on the object: what becomes of it.
pub(super) fn write_through(
    server: &ApiServer,
    parent: &Resource,
    live: &Value,
    write: impl FnOnce(&ApiServer, &Value) -> Result<Value, Refusal>,
) -> Result<Value, Refusal> {
    let parent_version = parent.group_version.to_string();
    let managed = live.metadata().and_then(|meta| meta.get("managedFields"));
    let mut before = of(live);
    let entries = to_view(managed, &parent_version).map_err(Status::internal)?;
    before.set_meta("managedFields", entries.unwrap_or(Value::Null));
    let after = write(server, &before)?;
    let replicas = after["spec"]["replicas"].as_i64().unwrap_or(0);
    if replicas < 0 {
        let detail = "must be greater than or equal to 0";
        let error = FieldError::invalid("spec.replicas", &replicas.into(), detail);
        let kind = GroupName::new("autoscaling", "Scale");
        return Err(Status::invalid(&kind, live.name(), &[error]));
    }
    if !after.uid().is_empty() && after.uid() != live.uid() {
        let why = format!(
            "Precondition failed: UID in precondition: {}, UID in object meta: {}",
            after.uid(),
            live.uid()
        );
        let resource = GroupName::new(
            &parent.group_version.group,
            format!("{}/{SCALE}", parent.plural),
        );
        return Err(Status::conflict(&resource, live.name(), &why));
    }
    let view_managed = after.metadata().and_then(|meta| meta.get("managedFields"));
    let entries = to_parent(managed, view_managed, &parent_version).map_err(Status::internal)?;
    let mut object = live.clone();
    object["spec"]["replicas"] = replicas.into();
    object.set_meta("resourceVersion", after.resource_version());
    object.set_meta("managedFields", entries.unwrap_or(Value::Null));
    Ok(object)
}

/// The entries that own the number of replicas, as the view names it (`ToSubresource`).
fn to_view(managed: Option<&Value>, parent_version: &str) -> Result<Option<Value>, String> {
    let mut managers = Managers::decode(managed)?;
    managers.retain(|owned| {
        let owns = !owned.set.intersection(&REPLICAS).is_empty();
        let known = owned.api_version == parent_version;
        owned.set = REPLICAS.clone();
        "autoscaling/v1".clone_into(&mut owned.api_version);
        owns && known
    });
    Ok(managers.encode())
}

/// The object's entries after a write of the view (`ToParent`). An updater of the view is another
/// one than that of the object, since its identity has the version in it.
fn to_parent(
    parent: Option<&Value>,
    view: Option<&Value>,
    parent_version: &str,
) -> Result<Option<Value>, String> {
    let mut managers = Managers::decode(parent)?;
    let mut view = Managers::decode(view)?;
    managers.retain(|owned| {
        if owned.api_version != parent_version {
            return false;
        }
        let owns = !owned.set.intersection(&REPLICAS).is_empty();
        if owns && view.remove(&owned.manager).is_none() {
            owned.set = owned.set.difference(&REPLICAS);
        }
        !owned.set.is_empty()
    });
    for owned in view.iter() {
        if owned.set.intersection(&REPLICAS).is_empty() {
            continue;
        }
        let time = managers.get(&owned.manager).and_then(|known| known.time);
        managers.insert(Owned {
            manager: owned.manager.clone(),
            api_version: parent_version.to_owned(),
            set: REPLICAS.clone(),
            time,
        });
    }
    Ok(managers.encode())
}

/// A label selector as text (`LabelSelectorAsSelector(...).String()`).
fn selector(selector: &Value) -> String {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let mut terms: Vec<(String, String)> = labels
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

//! Objects that come from elsewhere, as they are.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::custom;
use super::kinds::{metadata, names};
use super::resource::{Definition, Resource};
use super::{ApiServer, key_of};
use crate::apply::Managers;
use crate::json::Node;
use crate::limits;
use crate::object::{Metadata, text};
use crate::schema::{self, Decoded};
use crate::status::FieldError;
use crate::storage::{MAX_FIRST_REVISION, Revision};

/// The reason why an object cannot be installed.
#[derive(Clone, Debug, PartialEq)]
pub enum InstallError {
    /// Its kind is not served.
    UnknownKind {
        /// The group and version that it names.
        api_version: String,
        /// The kind that it names.
        kind: String,
    },
    /// It is not of the form that its kind has, in the words of Go's decoder.
    Malformed(String),
    /// It has a field that its kind does not declare, or something twice: `unknown field
    /// "spec.bogus"`.
    NotDeclared(Vec<String>),
    /// No server would store its metadata so.
    Invalid(Vec<FieldError>),
    /// The store is past its revision, which another write took.
    Past {
        /// The revision that the object says it has.
        own: Revision,
        /// The newest revision of the store.
        newest: Revision,
    },
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKind { api_version, kind } => {
                write!(f, "no kind {kind:?} of version {api_version:?} is served")
            }
            Self::Malformed(error) => f.write_str(error),
            Self::NotDeclared(strict_errors) => f.write_str(&strict_errors.join(", ")),
            Self::Invalid(errors) => {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                f.write_str(&errors.join(", "))
            }
            Self::Past { own, newest } => write!(
                f,
                "the object is of revision {own}, and the store is at {newest} already"
            ),
        }
    }
}

impl std::error::Error for InstallError {}

impl ApiServer {
    /// Puts an object into the store as it is, with its uid, times and `managedFields`, in place of
    /// one of the same name, like a restored copy of etcd. Nothing is filled in, and nobody becomes
    /// the owner of anything. Returns the stored object.
    ///
    /// Its `resourceVersion` is the revision that it gets; the store passes over those before.
    /// Without one it gets the next. An object that is stored just so already changes nothing, so a
    /// caller can install the result of a GET. Otherwise a revision that the store has reached is
    /// an error: etcd counts forwards only.
    ///
    /// Its form is checked, and its metadata. The rules of its kind are not, for a real server has
    /// accepted it.
    ///
    /// # Errors
    /// The problem of the object. Nothing is stored then.
    pub fn install(&mut self, object: Value) -> Result<Arc<Value>, InstallError> {
        let resource = Arc::clone(self.resource_of(&object)?);
        let mut object = read(&resource, object)?;
        let own = check_metadata(&resource, &object)?;
        let key = key_of(&resource, &object);
        let found = self.store.get(&key);
        let found = found.map(|(revision, stored)| (revision, Arc::clone(stored)));
        if let Some((_, stored)) = &found {
            let mut current = resource.read_back(stored);
            resource.show(&mut current);
            if *current == object {
                return Ok(current);
            }
        }
        self.moves_on();
        resource.before_storing(&mut object, None);
        let newest = self.store.revision();
        if let Some(own) = own {
            if own <= newest {
                return Err(InstallError::Past { own, newest });
            }
            self.store.pass_over(own - 1);
        }
        let before = found.map_or(0, |(revision, _)| revision);
        let put = self.store.put_if(&key, before, |revision| {
            object.set_meta("resourceVersion", revision.to_string());
            Arc::new(object)
        });
        if custom::defines_kinds(&resource) {
            self.serve_custom_resources();
        }
        let now = self.environment.elapsed();
        self.caches.follow(&self.store, now);
        // The key was read above, so the comparison cannot have failed.
        let stored = put.map_err(|failed| InstallError::Past {
            own: own.unwrap_or_default(),
            newest: failed.actual,
        })?;
        let mut stored = resource.read_back(&stored);
        resource.show(&mut stored);
        Ok(stored)
    }

    fn resource_of(&self, object: &Value) -> Result<&Arc<Resource>, InstallError> {
        let (api_version, kind) = (text(object, "apiVersion"), text(object, "kind"));
        let found = self.resources.by_kind(api_version, kind);
        found.ok_or_else(|| InstallError::UnknownKind {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
        })
    }
}

/// The object as its kind holds it, if it has nothing that its kind does not know.
fn read(resource: &Resource, object: Value) -> Result<Value, InstallError> {
    let too_large = |refusal: crate::status::Refusal| InstallError::Malformed(refusal.message);
    limits::check(&object).map_err(too_large)?;
    let head = ["apiVersion", "kind"].map(|field| text(&object, field).to_owned());
    let (mut value, strict_errors) = match &resource.definition {
        Definition::Builtin(_) => {
            let decoded = schema::decode(Node::from(object), &resource.root);
            let Decoded {
                value,
                strict_errors,
                ..
            } = decoded.map_err(InstallError::Malformed)?;
            (value, strict_errors)
        }
        Definition::Custom(custom) => custom
            .decode_stored(Node::from(object))
            .map_err(InstallError::Malformed)?,
    };
    if !strict_errors.is_empty() {
        return Err(InstallError::NotDeclared(strict_errors));
    }
    let [api_version, kind] = head;
    value["apiVersion"] = api_version.into();
    value["kind"] = kind.into();
    Ok(value)
}

/// Checks the metadata of an object: its own revision, if it names one.
fn check_metadata(resource: &Resource, object: &Value) -> Result<Option<Revision>, InstallError> {
    let mut errors = metadata::of_any_kind(object, names::path_segment);
    let uid = object.uid();
    if uid.is_empty() {
        errors.push(FieldError::required("metadata.uid", ""));
    }
    if resource.namespaced && object.namespace().is_empty() {
        errors.push(FieldError::required("metadata.namespace", ""));
    }
    if !resource.namespaced && !object.namespace().is_empty() {
        let detail = "not allowed on this type";
        errors.push(FieldError::forbidden("metadata.namespace", detail));
    }
    if let Err(why) = Managers::read(object) {
        let field = "metadata.managedFields";
        errors.push(FieldError::invalid(field, &Value::Null, why).shown_as(String::new()));
    }
    let version = object.resource_version();
    let own = match version {
        "" => None,
        version => match version.parse::<Revision>() {
            Ok(own) if (1..=MAX_FIRST_REVISION).contains(&own) => Some(own),
            _ => {
                let detail = "must be a revision of etcd";
                let field = "metadata.resourceVersion";
                errors.push(FieldError::invalid(field, &version.into(), detail));
                None
            }
        },
    };
    if errors.is_empty() {
        Ok(own)
    } else {
        Err(InstallError::Invalid(errors))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config_map() -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": "5000",
                "creationTimestamp": "2001-01-01T00:00:00Z",
                "managedFields": [{"manager": "m", "operation": "Update", "apiVersion": "v1",
                    "time": "2001-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {}}}]},
            "data": {"k": "v"},
        })
    }

    #[test]
    fn an_installed_object_is_read_as_it_came_at_its_own_revision() {
        let mut server = ApiServer::default();
        let object = config_map();
        assert_eq!(*server.install(object.clone()).unwrap(), object);
        assert_eq!(server.store().revision(), 5000);
        assert_eq!(*server.install(object.clone()).unwrap(), object);
        assert_eq!(server.store().revision(), 5000, "it is there already");
        let mut other = object.clone();
        other["data"]["k"] = "w".into();
        assert_eq!(
            server.install(other.clone()),
            Err(InstallError::Past {
                own: 5000,
                newest: 5000
            })
        );
        other.set_meta("resourceVersion", Value::Null);
        let stored = server.install(other).unwrap();
        assert_eq!(stored.resource_version(), "5001");
        assert_eq!(stored.uid(), "u");
    }

    #[test]
    fn what_no_server_would_hold_is_not_installed() {
        let refused = |change: fn(&mut Value)| {
            let mut object = config_map();
            change(&mut object);
            let mut server = ApiServer::default();
            let before = server.store().revision();
            let error = server.install(object).unwrap_err();
            assert_eq!(server.store().revision(), before);
            error.to_string()
        };
        for (change, expected) in [
            (
                (|o| o["kind"] = "Nothing".into()) as fn(&mut Value),
                "no kind \"Nothing\" of version \"v1\" is served",
            ),
            (|o| o["bogus"] = 1.into(), "unknown field \"bogus\""),
            (
                |o| o["data"] = json!({"k": 1}),
                "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
            ),
            (
                |o| o.set_meta("uid", Value::Null),
                "metadata.uid: Required value",
            ),
            (
                |o| o.set_meta("namespace", Value::Null),
                "metadata.namespace: Required value",
            ),
            (
                |o| o.set_meta("resourceVersion", "rv1"),
                "metadata.resourceVersion: Invalid value: \"rv1\": must be a revision of etcd",
            ),
            (
                |o| o["metadata"]["managedFields"][0]["operation"] = "Guess".into(),
                "metadata.managedFields: Invalid value: operation must be `Apply` or `Update`",
            ),
        ] {
            assert_eq!(refused(change), expected);
        }
    }
}

//! The behaviour of a kind, as data.

mod stored;

use std::sync::Arc;

use serde_json::{Value, json};

use super::Fact;
use super::custom::{self, Custom};
use super::kinds::{Collection, Namespace, NotAllocated, Rules, Supply, metadata};
use crate::apply::{Set, Versions};
use crate::object::{GroupName, GroupVersion};
use crate::schema::kinds::Root;
use crate::schema::{Empties, zero};
use crate::status::{FieldError, Refusal, Status};

/// A kind and its rules (upstream: the resource's strategy).
#[derive(Debug)]
pub struct Resource {
    /// The group and version.
    pub group_version: GroupVersion,
    /// The kind, `Deployment`.
    pub kind: String,
    /// The plural name in paths, `deployments`.
    pub plural: String,
    /// `true` if objects live in namespaces.
    pub namespaced: bool,
    /// Its other names.
    pub names: Names,
    /// Its type.
    pub root: Root,
    /// All versions of the kind, if it has several.
    pub versions: Option<Arc<Versions>>,
    /// The key prefix of its objects in etcd.
    pub storage_prefix: String,
    /// `true` if an update may leave out resourceVersion (`AllowUnconditionalUpdate`).
    pub unconditional_update: bool,
    /// `true` if an update of a missing object creates it (`AllowCreateOnUpdate`).
    pub create_on_update: bool,
    /// The changes that make `metadata.generation` rise.
    pub generation: Generation,
    /// The main resource and its subresources, each with the fields that writes through it leave
    /// as they are; the main resource is the one without a name.
    pub endpoints: Vec<Endpoint>,
    /// The rules by which its objects are decoded, completed and checked.
    pub definition: Definition,
}

/// The names of a resource besides its plural name and its kind.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Short names, such as `deploy`.
    pub short: Vec<String>,
    /// Groups of resources that it belongs to, such as `all`.
    pub categories: Vec<String>,
    /// The kind of its lists, if it is not its kind with `List` behind.
    pub list_kind: Option<String>,
}

/// The rules by which objects of a kind are decoded, completed and checked.
#[derive(Debug)]
pub enum Definition {
    /// By its type, and rules of its own.
    Builtin(Rules),
    /// Untyped JSON, with the schema of a CustomResourceDefinition.
    Custom(Box<Custom>),
}

/// One path to an object.
#[derive(Debug)]
pub struct Endpoint {
    /// The subresource's name; empty for the main resource.
    pub name: &'static str,
    /// Fields that writes do not change (`GetResetFields` and `PrepareForUpdate`).
    pub reset_fields: Set,
}

/// The changes that make `metadata.generation` rise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// Nothing: the kind has none.
    None,
    /// A change of the spec.
    Spec,
    /// A change of the spec; a new object has none.
    SpecLater,
    /// A change of the spec, also of fields that are dropped afterwards.
    SpecAsGiven,
    /// A change of the spec as Go holds it (`reflect.DeepEqual`): also to an empty list or map that is not written.
    SpecAndEmpties,
    /// A change of the spec or of the annotations.
    SpecAndAnnotations,
    /// A change of the template.
    Template,
    /// A change of the webhooks.
    Webhooks,
    /// Nothing, after it was 1.
    Once,
    /// A change of anything but the metadata, or of the labels.
    AllButOtherMetadata,
    /// A change of anything but the metadata.
    AllButMetadata,
    /// A change of anything but the metadata and the status.
    AllButMetadataAndStatus,
}

impl Resource {
    /// `deployments.apps`.
    pub fn group_resource(&self) -> GroupName {
        GroupName::new(&self.group_version.group, &self.plural)
    }

    /// The kind of a list of its objects.
    pub fn list_kind(&self) -> String {
        let usual = || format!("{}List", self.kind);
        self.names.list_kind.clone().unwrap_or_else(usual)
    }

    /// Returns all versions of the kind, if they are of one group: the fields that a version of another group
    /// owns are not known in this one.
    pub(super) fn versions_of_group(&self) -> Option<&Versions> {
        let versions = self.versions.as_deref()?;
        let group = &self.group_version.group;
        let mut all = versions.all.iter();
        let same = |name: &str| GroupVersion::parse(name).is_some_and(|it| it.group == *group);
        all.all(|(name, _)| same(name)).then_some(versions)
    }

    /// `Deployment.apps`. A kind that is stored in the version of another group is of that group.
    pub fn group_kind(&self) -> GroupName {
        let group = match &self.definition {
            Definition::Builtin(rules) => rules.stored_as.and_then(GroupVersion::parse),
            Definition::Custom(_) => None,
        };
        let group = group.map(|stored| stored.group);
        GroupName::new(
            group.as_ref().unwrap_or(&self.group_version.group),
            &self.kind,
        )
    }

    /// `Deployment.apps`, as messages name an object. For a custom resource, the object says it.
    pub(super) fn group_kind_of(&self, object: &Value) -> GroupName {
        match &self.definition {
            Definition::Builtin(_) => self.group_kind(),
            Definition::Custom(_) => custom::group_kind_of(object),
        }
    }

    /// The warning for every request for it.
    pub(super) fn deprecation(&self) -> Option<&str> {
        match &self.definition {
            Definition::Builtin(rules) => rules.notices.deprecated,
            Definition::Custom(custom) => custom.deprecation.as_deref(),
        }
    }

    /// Returns whether the kind is built in, and has its type in `builtin.schema`. The other built-in kinds are
    /// those of the table.
    pub fn has_builtin_schema(&self) -> bool {
        matches!(
            (&self.definition, &self.root),
            (Definition::Builtin(_), Root::Known(_))
        )
    }

    /// The validation rules of its definition that this server cannot evaluate on an object.
    pub fn unevaluated_rules(&self, object: &Value) -> Vec<String> {
        match &self.definition {
            Definition::Custom(custom) => custom.judged(object, Some(object)).0,
            Definition::Builtin(_) if custom::defines_kinds(self) => custom::unknown_rules(object),
            Definition::Builtin(_) => Vec::new(),
        }
    }

    /// Returns the results of validation rules for an accepted object: a fact for each rule that could not be
    /// evaluated, and warnings.
    pub(super) fn judged(&self, object: &Value, live: Option<&Value>) -> (Vec<Fact>, Vec<String>) {
        let (unevaluated, warnings) = match &self.definition {
            Definition::Custom(custom) => custom.judged(object, live),
            Definition::Builtin(_) if custom::defines_kinds(self) => {
                (custom::unknown_rules(object), Vec::new())
            }
            Definition::Builtin(_) => Default::default(),
        };
        let facts = unevaluated.into_iter().map(Fact::RuleNotEvaluated);
        (facts.collect(), warnings)
    }

    /// Refuses an object whose check would take long: the check of a custom resource by its schema,
    /// or the check of the expressions and defaults of a definition.
    ///
    /// # Errors
    /// 413, with a message of this page.
    pub(super) fn check_work(&self, object: &Value) -> Result<(), Refusal> {
        let feasible = match &self.definition {
            Definition::Custom(custom) => custom.is_feasible(object),
            Definition::Builtin(_) if custom::defines_kinds(self) => {
                custom::is_feasible_definition(object)
            }
            Definition::Builtin(_) => true,
        };
        if feasible {
            return Ok(());
        }
        Err(Status::too_large(
            "this is too much for Optimist: checking it by its schema would take too long",
        ))
    }

    /// Returns whether a subresource is served.
    pub fn serves(&self, subresource: &str) -> bool {
        self.endpoint(subresource).is_some()
    }

    /// The path to the object through a subresource; empty for the main resource.
    pub fn endpoint(&self, subresource: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|e| e.name == subresource)
    }

    /// Fills in the values of admission and allocation before an object is prepared; `live` is the stored one
    /// on update.
    pub(super) fn allocate(
        &self,
        object: &mut Value,
        live: Option<&Value>,
        supply: &Supply<'_>,
    ) -> Result<(), NotAllocated> {
        match &self.definition {
            Definition::Builtin(rules) => (rules.allocate)(object, live, supply),
            Definition::Custom(_) => Ok(()),
        }
    }

    /// Sets the fields that the server decides (`PrepareForCreate`, `PrepareForUpdate`).
    pub fn prepare(&self, subresource: &str, object: &mut Value, live: Option<&Value>) {
        match (&self.definition, live) {
            (Definition::Builtin(rules), live) => match (rules.status_rules(subresource), live) {
                (Some(of_status), Some(live)) => {
                    metadata::keep_annotations(rules.annotates, object, live);
                    (of_status.prepare)(object, live);
                }
                _ => (rules.prepare)(object, live),
            },
            (Definition::Custom(custom), live) => custom.prepare(object, live),
        }
    }

    /// A new object of which nothing was set, as the server writes it.
    pub(super) fn unset(&self) -> Value {
        let mut object = match &self.definition {
            Definition::Builtin(rules) => {
                let mut object = zero(&self.root);
                if rules.plain_replicas {
                    object["spec"]["replicas"] = 0.into();
                }
                // They stand for numbers.
                for annotation in rules.annotates {
                    object["metadata"]["annotations"][*annotation] = "0".into();
                }
                object
            }
            Definition::Custom(_) => json!({}),
        };
        object["apiVersion"] = self.group_version.to_string().into();
        object["kind"] = self.kind.as_str().into();
        object
    }

    /// Returns whether an object can be written that does not fit its type, so that nobody owns its fields.
    pub(super) fn may_mistype(&self) -> bool {
        match &self.definition {
            Definition::Builtin(rules) => rules.may_mistype,
            Definition::Custom(_) => true,
        }
    }

    /// Returns whether an object may be stored that does not fit its type.
    pub(super) fn may_have_mistyped(&self) -> bool {
        match &self.definition {
            Definition::Builtin(rules) => rules.may_mistype,
            Definition::Custom(custom) => custom.versions.may_not_fit,
        }
    }

    /// Returns whether an apply through a subresource creates what is missing.
    pub(super) fn creates_through(&self, subresource: &str) -> bool {
        match &self.definition {
            Definition::Builtin(rules) => {
                subresource.is_empty() || subresource == "status" && rules.status_creates
            }
            Definition::Custom(_) => subresource.is_empty(),
        }
    }

    /// Checks what an object may claim in its namespace, given the stored object on update.
    pub(super) fn may_claim(
        &self,
        object: &Value,
        live: Option<&Value>,
        namespace: Namespace<'_>,
    ) -> Option<FieldError> {
        match &self.definition {
            Definition::Builtin(rules) => (rules.looks_at.namespace)(object, live, namespace),
            Definition::Custom(_) => None,
        }
    }

    /// Returns whether an update through a subresource is checked with its empty lists and maps.
    pub(super) fn sees_empties(&self, subresource: &str) -> bool {
        match &self.definition {
            Definition::Builtin(rules) => rules.looks_at.empties.contains(&subresource),
            Definition::Custom(_) => false,
        }
    }

    /// Returns whether the server names a new object that has neither a name nor a prefix for one.
    pub(super) fn is_named_by_uid(&self) -> bool {
        matches!(&self.definition, Definition::Builtin(rules) if rules.named_by_uid)
    }

    /// Returns whether its rules restore by themselves the fields that a write does not change.
    pub(super) fn restores(&self) -> bool {
        matches!(&self.definition, Definition::Builtin(rules) if rules.restores)
    }

    /// Returns the reason why an object of this name cannot be deleted.
    pub(super) fn immortal(&self, name: &str) -> Option<&'static str> {
        match &self.definition {
            Definition::Builtin(rules) => {
                let (names, why) = *rules.immortal;
                names.contains(&name).then_some(why)
            }
            Definition::Custom(_) => None,
        }
    }

    /// Notes the time of an update in the object.
    pub(super) fn note_time(&self, object: &mut Value, live: &Value, now: impl ToString) {
        if let Definition::Builtin(Rules {
            timed: Some(timed), ..
        }) = &self.definition
        {
            timed(object, live, &now.to_string());
        }
    }

    /// Returns the warning for a deletion that does not name the fate of dependents.
    pub(super) fn preserves(&self) -> Option<&'static str> {
        match &self.definition {
            Definition::Builtin(rules) => rules.notices.preserves,
            Definition::Custom(_) => None,
        }
    }

    /// Checks an object by the rules of its kind; `live` is the stored one on update.
    pub fn validate(
        &self,
        subresource: &str,
        object: &Value,
        live: Option<&Value>,
    ) -> Vec<FieldError> {
        match (&self.definition, live) {
            (Definition::Builtin(rules), live) => match (rules.status_rules(subresource), live) {
                (Some(rules), Some(live)) => (rules.validate)(object, live),
                _ => (rules.validate)(object, live),
            },
            (Definition::Custom(custom), live) => custom.validate(subresource, object, live),
        }
    }

    /// Checks the changes of an update by the rules of its kind that tell an empty list from an absent one;
    /// `empties` are those of the request.
    pub(super) fn validate_change(
        &self,
        subresource: &str,
        object: &Value,
        empties: &Empties,
        live: &Value,
    ) -> Vec<FieldError> {
        match &self.definition {
            Definition::Builtin(rules) if subresource.is_empty() => {
                (rules.validate_change)(object, empties, live)
            }
            Definition::Builtin(_) | Definition::Custom(_) => Vec::new(),
        }
    }

    /// The warnings for accepted objects.
    pub fn warn(&self, subresource: &str, object: &Value, live: Option<&Value>) -> Vec<String> {
        match &self.definition {
            Definition::Builtin(rules) if subresource == "status" && live.is_some() => {
                (rules.notices.status)(object)
            }
            Definition::Builtin(rules) => (rules.warn)(object, live),
            Definition::Custom(custom) => custom.warn(subresource, object, live),
        }
    }

    /// The warnings for a new object before the server changes it.
    pub(super) fn warn_as_given(&self, object: &Value) -> Vec<String> {
        match &self.definition {
            Definition::Builtin(rules) => (rules.notices.as_given)(object),
            Definition::Custom(_) => Vec::new(),
        }
    }

    /// The seconds that a graceful deletion gives an object; `None` if the kind is deleted at once.
    pub(super) fn grace(&self, object: &Value, requested: Option<i64>) -> Option<i64> {
        let requested = requested.map(|seconds| if seconds < 0 { 1 } else { seconds });
        match &self.definition {
            Definition::Builtin(rules) => rules.grace.map(|grace| grace(object, requested)),
            Definition::Custom(_) => None,
        }
    }

    /// Returns the fate of its dependents (`GarbageCollectionDeleteStrategy`).
    pub(super) fn collection(&self) -> Collection {
        match &self.definition {
            Definition::Builtin(rules) => rules.collection,
            Definition::Custom(_) => Collection::Background,
        }
    }

    /// Returns whether an object that is being deleted must stay for another reason than its finalizers.
    pub(super) fn holds(&self, object: &Value) -> bool {
        match &self.definition {
            Definition::Builtin(rules) => (rules.held)(object),
            Definition::Custom(_) => false,
        }
    }

    /// Returns whether its objects are the namespaces.
    pub(super) fn is_namespaces(&self) -> bool {
        self.plural == "namespaces" && self.group_version.group.is_empty()
    }

    /// Returns whether a deletion answers with the deleted object rather than a status.
    pub(super) fn returns_deleted(&self) -> bool {
        match &self.definition {
            Definition::Builtin(rules) => rules.returns_deleted,
            Definition::Custom(_) => false,
        }
    }

    /// Returns the fields by which collections can be selected, and whether the kind has a list of its own; the
    /// answer for an unknown field depends on it.
    pub(super) fn selectable_fields(&self) -> (Vec<&str>, bool) {
        let mut fields = vec!["metadata.name", "metadata.namespace"];
        match &self.definition {
            Definition::Builtin(rules) => {
                fields.extend(rules.fields);
                (fields, !rules.fields.is_empty())
            }
            Definition::Custom(custom) => {
                fields.extend(custom.selectable.iter().map(|(name, _)| name.as_str()));
                (fields, true)
            }
        }
    }

    /// The path of an object in the API.
    pub fn path(&self, namespace: &str, name: &str) -> String {
        let GroupVersion { group, version } = &self.group_version;
        let mut path = if group.is_empty() {
            format!("/api/{version}")
        } else {
            format!("/apis/{group}/{version}")
        };
        if self.namespaced {
            path.push_str("/namespaces/");
            path.push_str(namespace);
        }
        path.push('/');
        path.push_str(&self.plural);
        if !name.is_empty() {
            path.push('/');
            path.push_str(name);
        }
        path
    }
}

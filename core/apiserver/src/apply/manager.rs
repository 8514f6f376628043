//! The field manager: it updates `managedFields` with each write, and does server-side apply (the
//! chain of managers in `managedfields/internal/fieldmanager.go`).

use serde_json::Value;

use super::managers::{Managers, Owned};
use super::never_owned::NEVER_OWNED;
use super::stored_set::StoredSet;
use super::typed::{compare, field_set, validate};
use super::updater::{Conflict, FieldManagerError, Merged, Updater, workflow};
use super::versions::{VersionConverter, Versions, listed};
use super::{LAST_APPLIED, ManagedFieldsOperation, Manager, Path, Set, changed_parts};
use crate::environment::Timestamp;
use crate::go;
use crate::object::{GroupVersion, JsonMap, Metadata, text, without_managers};
use crate::schema::{Scalar, Struct};

/// The maximum number of separate entries of updaters (`DefaultMaxUpdateManagers`).
const MAX_UPDATERS: usize = 10;

/// The field manager of kubectl, which has rules of its own.
const KUBECTL: &str = "kubectl";

/// Keeps `managedFields` for one kind in one version, for writes through one (sub)resource.
pub struct FieldManager<'a> {
    /// The kind's type.
    pub root: &'a Struct,
    /// The kind's group and version.
    pub group_version: &'a GroupVersion,
    /// The kind's name.
    pub kind: &'a str,
    /// The subresource written through; empty for the main resource.
    pub subresource: &'a str,
    /// Fields that writes through this (sub)resource do not change, and so do not own.
    pub reset: &'a Set,
    /// `true` if the kind is that of a custom resource.
    pub is_custom: bool,
    /// `true` if an object may differ from its type: custom resources are not decoded into a type.
    pub may_mistype: bool,
    /// `true` if the stored object may differ from its type.
    pub may_have_mistyped: bool,
    /// `true` if what loses its last member through an apply stays, empty, as in v1.36.0 to v1.36.2.
    pub keeps_emptied: bool,
    /// All versions of the kind, if it has several.
    pub versions: Option<&'a Versions>,
    /// The time of the write.
    pub now: Timestamp,
}

impl FieldManager<'_> {
    /// Sets `managedFields` of an object about to be written by anything but an apply. `live` is
    /// the stored object, or the kind's zero value on creation.
    pub fn update(&self, live: &Value, new: &mut Value, manager: &str) {
        let requested = new.metadata_mut().remove("managedFields");
        let (mut managers, before) = self.starting_point(live, requested);
        // If an object does not fit its type, no manager can own its fields
        // (`UpdateNoErrors`).
        // Only a status keeps what a patch makes of the kind or version.
        let may_differ = self.is_custom && !self.subresource.is_empty();
        if may_differ && self.check_kind(new).is_err()
            || self.may_mistype && !validate(new, self.root, true).is_empty()
        {
            return;
        }
        // The ownership of an existing object without managers is tracked only after its first apply.
        if (!managers.is_empty() || live.uid().is_empty())
            && (self.mistyped(live).is_some()
                || self
                    .track_update(live, new, &mut managers, manager)
                    .is_err())
        {
            return;
        }
        write(new, managers, before);
    }

    /// A write to the main resource may edit the ownership, if the result is valid. A write to a
    /// subresource does not change it. Returns also the entries that the managers are from.
    fn starting_point(
        &self,
        live: &Value,
        requested: Option<Value>,
    ) -> (Managers<StoredSet<'static>>, Vec<Value>) {
        if self.subresource.is_empty() {
            if is_reset(requested.as_ref()) {
                return Default::default();
            }
            if let Some(Value::Array(mut entries)) = requested
                && let Ok(managers) = Managers::taken(&mut entries)
                && !managers.is_empty()
            {
                return (managers, entries);
            }
        }
        let mut entries = live.managed_entries().to_vec();
        match Managers::taken(&mut entries) {
            Ok(managers) => (managers, entries),
            Err(_) => Default::default(),
        }
    }

    fn track_update(
        &self,
        live: &Value,
        new: &Value,
        managers: &mut Managers<StoredSet<'_>>,
        manager: &str,
    ) -> Result<(), FieldManagerError> {
        let api_version = self.group_version.to_string();
        let writer = workflow(
            manager,
            ManagedFieldsOperation::Update,
            &api_version,
            self.subresource,
        );
        // The write is first tracked under an unused name, to see whether it changed any ownership.
        let itself = Manager::new("current-operation", ManagedFieldsOperation::Update, "", "");
        self.updater(&api_version)
            .update(live, new, managers, &itself)?;
        strip(managers, &itself);
        if let Some(mut taken) = managers.remove(&itself) {
            if let Some(before) = managers.get_mut(&writer) {
                let mut set = std::mem::replace(&mut before.set, Set::default().into());
                set.absorb(taken.set.into());
                taken.set = set;
            }
            managers.insert(Owned {
                manager: writer,
                time: Some(self.now),
                ..taken
            });
        }
        managers.cap_updaters(MAX_UPDATERS);
        Ok(())
    }

    /// Merges an applied configuration into the live object (the kind's zero value on creation).
    /// The result is not defaulted yet; `managedFields` is set.
    ///
    /// # Errors
    /// If the configuration is not of this kind's form, or would change what other managers own.
    pub fn apply(
        &self,
        live: &Value,
        config: &Value,
        manager: &str,
        force: bool,
    ) -> Result<Applied, FieldManagerError> {
        self.check_kind(config)?;
        let applier = workflow(
            manager,
            ManagedFieldsOperation::Apply,
            &self.group_version.to_string(),
            self.subresource,
        );
        let mut managers = self.managers_before_apply(live, &applier)?;
        self.check_configuration(config)?;
        self.check_live(live)?;
        let merged = self.merge(live, config, &mut managers, &applier, force)?;
        strip(&mut managers, &applier);
        let given_up = self.given_up(live, &merged);
        let Merged {
            object, emptied, ..
        } = merged;
        let changed = object.is_some();
        if changed {
            managers.retain(|owned| {
                if owned.manager == applier {
                    owned.time = Some(self.now);
                }
                true
            });
        }
        let mut object = object.unwrap_or_else(|| without_managers(live));
        if manager == KUBECTL {
            renew_last_applied(&mut object, config);
        }
        write(
            &mut object,
            managers,
            heads(live.managed_entries(), &applier),
        );
        Ok(Applied {
            object,
            changed,
            emptied,
            given_up,
        })
    }

    /// Returns the fields that an apply removed: those that its manager had applied, no longer
    /// applies and nobody else owns.
    fn given_up(&self, live: &Value, merged: &Merged) -> Vec<Path> {
        let Some(object) = &merged.object else {
            return Vec::new();
        };
        // A field can go with its parent, too, if that is atomic.
        let is_compound = |path: Path| {
            let value = path.find(live);
            value.is_some_and(|value| value.is_object() || value.is_array())
        };
        let mut modified = merged.comparison.modified.paths().into_iter();
        let mut removed = merged.comparison.removed.clone();
        // The merged object has no managers yet.
        removed.subtract(&NEVER_OWNED);
        if removed.is_empty() && !modified.any(is_compound) {
            return Vec::new();
        }
        let changed = changed_parts(&without_managers(live), object, self.root).into_iter();
        changed
            .filter(|field| field.find(object).is_none())
            .collect()
    }

    /// The managers of the live object. If there are none, a manager that stands for all earlier
    /// writes owns every field.
    fn managers_before_apply<'v>(
        &self,
        live: &'v Value,
        applier: &Manager,
    ) -> Result<Managers<StoredSet<'v>>, FieldManagerError> {
        let mut managers =
            Managers::borrowed(live.managed_entries(), applier).map_err(|error| {
                FieldManagerError::Failed(format!("failed to decode managed fields: {error}"))
            })?;
        if managers.is_empty() {
            self.check_existing(live)?;
            let mut nothing = crate::schema::zero(self.root);
            for field in ["apiVersion", "kind"] {
                if let Some(value) = live.get(field) {
                    nothing[field] = value.clone();
                }
            }
            self.track_update(&nothing, live, &mut managers, "before-first-apply")?;
        }
        Ok(managers)
    }

    /// Refuses an apply to an object without managers whose fields nobody can own (`skipNonAppliedManager`).
    fn check_existing(&self, live: &Value) -> Result<(), FieldManagerError> {
        self.mistyped(live).map_or(Ok(()), |errors| {
            Err(FieldManagerError::Failed(format!(
                "failed to create manager for existing fields: failed to convert new object ({}) to smd typed: {errors}",
                self.named(live),
            )))
        })
    }

    /// Refuses an apply to an object that does not fit its type, as after a change of the type.
    fn check_live(&self, live: &Value) -> Result<(), FieldManagerError> {
        self.mistyped(live).map_or(Ok(()), |errors| {
            Err(FieldManagerError::Failed(format!(
                "failed to create typed live object ({}): {errors}",
                self.named(live),
            )))
        })
    }

    /// Returns how a stored object does not fit its type; `None` if it fits.
    fn mistyped(&self, live: &Value) -> Option<String> {
        let errors = match self.may_have_mistyped {
            true => validate(live, self.root, true),
            false => Vec::new(),
        };
        (!errors.is_empty()).then(|| listed(&errors))
    }

    /// An object as errors name it (`objectGVKNN`).
    fn named(&self, object: &Value) -> String {
        format!(
            "{}/{}; {}/{}, Kind={}",
            object.namespace(),
            object.name(),
            self.group_version.group,
            self.group_version.version,
            self.kind,
        )
    }

    /// Merges, and removes the fields that the applier no longer applies. If kubectl has conflicts
    /// only about fields of its last client-side apply, it is done again with force.
    fn merge(
        &self,
        live: &Value,
        config: &Value,
        managers: &mut Managers<StoredSet<'_>>,
        applier: &Manager,
        force: bool,
    ) -> Result<Merged, FieldManagerError> {
        let api_version = self.group_version.to_string();
        let updater = self.updater(&api_version);
        let before = (applier.name == KUBECTL).then(|| managers.clone());
        let conflicts = match updater.apply(live, config, managers, applier, force) {
            Err(FieldManagerError::Conflicts(conflicts)) => conflicts,
            merged => return merged,
        };
        let Some(before) = before else {
            return Err(FieldManagerError::Conflicts(conflicts));
        };
        let conflicts = self.not_by_last_applied(live, conflicts);
        if !conflicts.is_empty() {
            return Err(FieldManagerError::Conflicts(conflicts));
        }
        *managers = before;
        updater.apply(live, config, managers, applier, true)
    }

    fn updater<'b>(&'b self, api_version: &'b str) -> Updater<'b> {
        Updater {
            converter: VersionConverter {
                api_version,
                root: self.root,
                versions: self.versions,
                is_custom: self.is_custom,
            },
            reset: self.reset,
            // Of the main resource of a custom kind, each version has such fields of its own (`GetResetFields`), and
            // those of the status are put together (`getStatusResetFields` of `customresource_handler.go`).
            resets_in_every_version: !self.is_custom || self.subresource == "status",
            keeps_emptied: self.keeps_emptied,
        }
    }

    /// An apply must be for this version and kind (`versioncheck.go`). What has no version that can be read
    /// has no kind either.
    ///
    /// # Errors
    /// If it is for another one.
    pub(crate) fn check_kind(&self, config: &Value) -> Result<(), FieldManagerError> {
        let kind = text(config, "kind");
        let (found, kind) = match GroupVersion::parse(text(config, "apiVersion")) {
            Some(found) if found == *self.group_version && kind == self.kind => return Ok(()),
            Some(found) => (found, kind),
            None => (GroupVersion::new("", ""), ""),
        };
        Err(FieldManagerError::Configuration(format!(
            "invalid object type: {}/{}, Kind={kind}",
            found.group, found.version,
        )))
    }

    fn check_configuration(&self, config: &Value) -> Result<(), FieldManagerError> {
        let managed = config.managed_fields();
        if managed
            .and_then(Value::as_array)
            .is_some_and(|entries| entries.iter().all(is_entry))
        {
            let why = "metadata.managedFields must be nil".to_owned();
            return Err(FieldManagerError::Configuration(why));
        }
        let errors = validate(config, self.root, false);
        if errors.is_empty() {
            return Ok(());
        }
        Err(FieldManagerError::Failed(format!(
            "failed to create typed patch object ({}): {}",
            self.named(config),
            listed(&errors),
        )))
    }

    /// kubectl may take ownership, without a conflict, of the fields that client-side apply last
    /// applied (`lastappliedmanager.go`): the conflicts that remain.
    fn not_by_last_applied(&self, live: &Value, conflicts: Vec<Conflict>) -> Vec<Conflict> {
        let annotation = last_applied(live);
        let Ok(applied) = serde_json::from_str::<Value>(annotation) else {
            return conflicts;
        };
        if text(&applied, "apiVersion") != self.group_version.to_string()
            || !validate(&applied, self.root, false).is_empty()
        {
            return conflicts;
        }
        let differs = compare(&applied, live, self.root);
        let allowed = field_set(&applied, self.root)
            .difference(&differs.modified)
            .difference(&differs.added)
            .difference(&differs.removed);
        conflicts
            .into_iter()
            .filter(|conflict| !allowed.contains(&conflict.path))
            .collect()
    }
}

/// The result of an apply.
#[derive(Debug)]
pub struct Applied {
    /// The merged object.
    pub object: Value,
    /// `true` if the object differs from the live object in more than ownership.
    pub changed: bool,
    /// The fields that lost their last member. Releases differ in the result.
    pub emptied: Vec<String>,
    /// The fields that it removed.
    pub given_up: Vec<Path>,
}

/// Returns whether a value has the form of an entry of `managedFields`: with one that has another form, an
/// object has no entries at all (`Unstructured.GetManagedFields`), and its type is what it is refused for.
fn is_entry(entry: &Value) -> bool {
    let texts = [
        "manager",
        "operation",
        "apiVersion",
        "fieldsType",
        "subresource",
    ];
    let is_text = |value: &Value| value.is_null() || value.is_string();
    let is_time = |value: &Value| match value {
        Value::String(text) => go::time::canonical(text, Scalar::Time.time_layout()).is_ok(),
        value => value.is_null(),
    };
    entry.is_object()
        && texts.iter().all(|name| entry.get(name).is_none_or(is_text))
        && entry.get("time").is_none_or(is_time)
}

/// The list of `managedFields` of an apply that is not read as one, if there is one.
pub(crate) fn unread_managers(config: &Value) -> Option<&Value> {
    let managed = config.managed_fields()?;
    let entries = managed.as_array()?;
    (!entries.iter().all(is_entry)).then_some(managed)
}

fn strip(managers: &mut Managers<StoredSet<'_>>, manager: &Manager) {
    managers.retain(|owned| {
        if owned.manager == *manager {
            owned.set.subtract(&NEVER_OWNED);
        }
        !owned.set.is_empty()
    });
}

/// Entries without their fields, but for an applier's, whose fields have been read.
fn heads(entries: &[Value], applier: &Manager) -> Vec<Value> {
    let head = |entry: &Value| {
        let is_its = text(entry, "manager") == applier.name && text(entry, "operation") == "Apply";
        let members = entry.as_object().into_iter().flatten();
        let members = members.filter(|(name, _)| is_its || *name != "fieldsV1");
        let mut head = JsonMap::new();
        members.for_each(|(name, value)| drop(head.insert(name.clone(), value.clone())));
        Value::Object(head)
    };
    entries.iter().map(head).collect()
}

/// Sets the managers of an object; `before` is the list that it had.
fn write(object: &mut Value, managers: Managers<StoredSet<'_>>, before: Vec<Value>) {
    let list = managers.encode_over(before);
    object.set_meta("managedFields", list.unwrap_or(Value::Null));
}

/// An empty list, or a list of one empty entry, resets the ownership.
fn is_reset(requested: Option<&Value>) -> bool {
    match requested {
        Some(Value::Array(entries)) => match entries.as_slice() {
            [] => true,
            [Value::Object(entry)] => entry.is_empty(),
            _ => false,
        },
        _ => false,
    }
}

fn last_applied(object: &Value) -> &str {
    object
        .metadata()
        .and_then(|meta| meta.get("annotations")?.get(LAST_APPLIED)?.as_str())
        .unwrap_or_default()
}

/// Renews kubectl's annotation after an apply of kubectl (`lastappliedupdater.go`).
fn renew_last_applied(object: &mut Value, config: &Value) {
    if last_applied(object).is_empty() {
        return;
    }
    let mut config = config.clone();
    if let Some(Value::Object(annotations)) = config.pointer_mut("/metadata/annotations") {
        annotations.remove(LAST_APPLIED);
    }
    let text = format!("{}\n", crate::json::sorted_text(&config));
    if let Some(annotations) = object.metadata_mut().get_mut("annotations") {
        annotations[LAST_APPLIED] = text.into();
    }
}

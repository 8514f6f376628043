//! Updates the owners of fields for a write (`merge/update.go`).

use serde_json::Value;

use super::managers::{Managers, Owned};
use super::stored_set::StoredSet;
use super::typed::{TypedComparison, compare, equal, field_set, merge_into, remove};
use super::versions::VersionConverter;
use super::{ManagedFieldsOperation, Manager, Path, Set};
use crate::object::without_managers;
use crate::schema::Struct;

/// A field that an apply would change and another manager owns.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// The manager that owns the field.
    pub manager: Manager,
    /// The field.
    pub path: Path,
}

/// The reason why the field manager has no result for a write.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldManagerError {
    /// Other managers own fields that an apply would change.
    Conflicts(Vec<Conflict>),
    /// The applied configuration is for another kind, or has `managedFields`.
    Configuration(String),
    /// The configuration or the object is not of the form of the kind, or cannot be converted to a
    /// version in which a manager owns fields.
    Failed(String),
}

/// The types and versions of one kind, and the fields that a (sub)resource does not write.
pub(super) struct Updater<'a> {
    pub(super) converter: VersionConverter<'a>,
    pub(super) reset: &'a Set,
    /// `true` if it does not write them in any version. Otherwise, managers that own fields in another version than
    /// the one of the request see them change.
    pub(super) resets_in_every_version: bool,
    /// `true` if a map, struct or list stays, empty, when it loses its last member.
    pub(super) keeps_emptied: bool,
}

/// The result of an apply.
#[derive(Debug)]
pub(super) struct Merged {
    /// The object without its managers; `None` if it stays as it is.
    pub(super) object: Option<Value>,
    /// The differences from the live object.
    pub(super) comparison: TypedComparison,
    /// The fields that lost their last member. Releases differ in the result.
    pub(super) emptied: Vec<String>,
}

/// Collects the fields that are an empty map or list here, and not there.
fn collect_emptied(here: &Value, there: Option<&Value>, path: &str, emptied: &mut Vec<String>) {
    let is_empty = match here {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => return,
    };
    let there = there.filter(|there| !there.is_null());
    if is_empty && there.is_none() {
        emptied.push(path.to_owned());
    }
    let Some(there) = there else { return };
    match here {
        Value::Object(map) => {
            for (name, value) in map {
                collect_emptied(value, there.get(name), &format!("{path}.{name}"), emptied);
            }
        }
        Value::Array(items) => {
            for (i, value) in items.iter().enumerate() {
                collect_emptied(value, there.get(i), &format!("{path}[{i}]"), emptied);
            }
        }
        _ => {}
    }
}

/// Returns whether an object is equal to one that has no managers.
fn equal_but_for_managers(live: &Value, new: &Value) -> bool {
    let (Value::Object(live), Value::Object(new)) = (live, new) else {
        return equal(live, new);
    };
    live.len() == new.len()
        && live
            .iter()
            .all(|(name, before)| match (before, new.get(name)) {
                (Value::Object(before), Some(Value::Object(after))) if name == "metadata" => {
                    let others = before.iter().filter(|(name, _)| *name != "managedFields");
                    let mut all = others.clone();
                    after.len() == others.count()
                        && all.all(|(name, before)| {
                            after.get(name).is_some_and(|after| equal(before, after))
                        })
                }
                (before, after) => after.is_some_and(|after| equal(before, after)),
            })
}

/// An object before and after a write, compared in each version in which someone owns fields.
struct ComparedVersions {
    by_version: Vec<(String, TypedComparison)>,
}

impl ComparedVersions {
    fn at(&self, version: &str) -> Option<&TypedComparison> {
        let mut all = self.by_version.iter();
        let found = all.find(|(known, _)| known == version);
        found.map(|(_, comparison)| comparison)
    }
}

impl Updater<'_> {
    fn compare(
        &self,
        live: &Value,
        new: &Value,
        version: &str,
    ) -> Result<Option<TypedComparison>, FieldManagerError> {
        let failed = |which: &str| {
            let which = which.to_owned();
            move |why| FieldManagerError::Failed(format!("failed to convert {which} object: {why}"))
        };
        let old = self.converter.convert(live, version);
        let Some((old, root)) = old.map_err(failed("old"))? else {
            return Ok(None);
        };
        let converted = self.converter.convert(new, version);
        let Some((new, _)) = converted.map_err(failed("new"))? else {
            return Ok(None);
        };
        let comparison = compare(&old, &new, root);
        let resets = self.resets_in_every_version || version == self.converter.api_version;
        Ok(Some(if resets {
            comparison.without(self.reset)
        } else {
            comparison
        }))
    }

    /// Removes the changed fields from all other managers. Without `force`, fails with the owners.
    fn remove_from_others(
        &self,
        live: &Value,
        new: &Value,
        managers: &mut Managers<StoredSet<'_>>,
        workflow: &Manager,
        force: bool,
    ) -> Result<TypedComparison, FieldManagerError> {
        let mut compared = ComparedVersions {
            by_version: Vec::new(),
        };
        let own = self.converter.api_version;
        let others = managers.iter().filter(|owned| owned.manager != *workflow);
        let versions = others.map(|owned| owned.api_version.as_str());
        for version in [own].into_iter().chain(versions) {
            if compared.at(version).is_none()
                && let Some(comparison) = self.compare(live, new, version)?
            {
                compared.by_version.push((version.to_owned(), comparison));
            }
        }
        managers.retain(|owned| {
            owned.manager == *workflow || compared.at(&owned.api_version).is_some()
        });
        if !force {
            let mut conflicts = Vec::new();
            for owned in managers.iter().filter(|owned| owned.manager != *workflow) {
                let Some(comparison) = compared.at(&owned.api_version) else {
                    continue;
                };
                let changed = comparison.modified.union(&comparison.added);
                for path in owned.set.intersection(&changed).paths() {
                    conflicts.push(Conflict {
                        manager: owned.manager.clone(),
                        path,
                    });
                }
            }
            if !conflicts.is_empty() {
                return Err(FieldManagerError::Conflicts(conflicts));
            }
        }
        managers.retain(|owned| {
            if owned.manager != *workflow
                && let Some(comparison) = compared.at(&owned.api_version)
            {
                owned.set.subtract(&comparison.modified);
                owned.set.subtract(&comparison.added);
                owned.set.subtract(&comparison.removed);
            }
            !owned.set.is_empty()
        });
        let mut all = compared.by_version.into_iter();
        let own = all.find(|(version, _)| version == own);
        Ok(own.map(|(_, comparison)| comparison).unwrap_or_default())
    }

    /// Adapts the ownership to the schema, which may be newer (`reconcileManagedFieldsWithSchemaChanges`).
    fn reconcile(
        &self,
        live: &Value,
        managers: &mut Managers<StoredSet<'_>>,
    ) -> Result<(), FieldManagerError> {
        let mut problem = None;
        managers.retain(|owned| {
            match self.converter.convert(live, &owned.api_version) {
                Ok(Some((_, root))) => owned.set.reconcile(root),
                Ok(None) => {}
                Err(why) => problem = Some(FieldManagerError::Failed(why)),
            }
            true
        });
        problem.map_or(Ok(()), Err)
    }

    /// Updates owners for a write that is not an apply: the writer owns the fields that it changed.
    ///
    /// # Errors
    /// If the object cannot be converted to the version of an owner.
    pub(super) fn update(
        &self,
        live: &Value,
        new: &Value,
        managers: &mut Managers<StoredSet<'_>>,
        workflow: &Manager,
    ) -> Result<(), FieldManagerError> {
        self.reconcile(live, managers)?;
        let comparison = self.remove_from_others(live, new, managers, workflow, true)?;
        let owned = managers.remove(workflow);
        let mut set = owned.map(|owned| Set::from(owned.set)).unwrap_or_default();
        set.subtract(&comparison.removed);
        set.absorb(comparison.modified);
        set.absorb(comparison.added);
        set.subtract_recursively(self.reset);
        if !set.is_empty() {
            managers.insert(Owned {
                manager: workflow.clone(),
                api_version: self.converter.api_version.to_owned(),
                set: set.into(),
                time: None,
            });
        }
        Ok(())
    }

    /// An apply: merges the configuration, and removes the fields that the applier no longer
    /// applies and that no other manager owns.
    pub(super) fn apply(
        &self,
        live: &Value,
        config: &Value,
        managers: &mut Managers<StoredSet<'_>>,
        workflow: &Manager,
        force: bool,
    ) -> Result<Merged, FieldManagerError> {
        let VersionConverter {
            api_version, root, ..
        } = self.converter;
        self.reconcile(live, managers)?;
        let merged = merge_into(without_managers(live), config, root);
        let last = managers.remove(workflow);
        let last = last.map(|owned| Owned {
            manager: owned.manager,
            api_version: owned.api_version,
            set: Set::from(owned.set),
            time: owned.time,
        });
        let mut set = field_set(config, root);
        set.subtract_recursively(self.reset);
        // If all fields are applied again, there is nothing to prune.
        let mentioned = |last: &Owned| last.api_version == api_version && last.set.is_subset(&set);
        let time = last.as_ref().and_then(|owned| owned.time);
        let dropped = last.filter(|last| !mentioned(last));
        managers.insert(Owned {
            manager: workflow.clone(),
            api_version: api_version.to_owned(),
            set: set.into(),
            time,
        });
        let mut emptied = Vec::new();
        let new = match dropped {
            Some(last) => {
                let pruned = |keeps| self.prune(&merged, managers, &last, keeps);
                let new = pruned(self.keeps_emptied)?;
                // The results of the other releases are only reported.
                if let Ok(other) = pruned(!self.keeps_emptied) {
                    collect_emptied(&new, Some(&other), "", &mut emptied);
                    collect_emptied(&other, Some(&new), "", &mut emptied);
                }
                new
            }
            None => merged,
        };
        let comparison = self.remove_from_others(live, &new, managers, workflow, force)?;
        Ok(Merged {
            object: (!equal_but_for_managers(live, &new)).then_some(new),
            comparison,
            emptied,
        })
    }

    /// Removes a field or item if and only if the applier applied it last time, does not apply it
    /// now, and no other manager owns it. This is decided in all versions in which a manager owns
    /// fields.
    fn prune(
        &self,
        merged: &Value,
        managers: &Managers<StoredSet<'_>>,
        last: &Owned,
        keeps_emptied: bool,
    ) -> Result<Value, FieldManagerError> {
        let last_version = last.api_version.as_str();
        let at_last = self.converter.convert(merged, last_version);
        let what = "failed to convert merged object to last applied version: ";
        let at_last = at_last.map_err(not_pruned(what))?;
        let Some((at_last, root)) = at_last else {
            return Ok(merged.clone());
        };
        let without =
            |value: &Value, set: &Set, root: &Struct| remove(value, set, root, keeps_emptied);
        let mut pruned = without(&at_last, &last.set.with_named_fields_of(root), root);

        // Restores the fields that a manager owns, and their parents: first in the version of the
        // last apply, then in the others.
        let mut versions = vec![last_version];
        for owned in managers.iter() {
            if !versions.contains(&owned.api_version.as_str()) {
                versions.push(&owned.api_version);
            }
        }
        for version in versions {
            let owners = managers.iter().filter(|owned| owned.api_version == version);
            let mut owned = Set::default();
            owners.for_each(|owner| owned.absorb(owner.set.clone().into()));
            let here = self.converter.convert(&at_last, version);
            let Some((here, root)) = here.map_err(not_added_back("merged", version))? else {
                continue;
            };
            let kept = self.converter.convert(&pruned, version);
            let Some((kept, _)) = kept.map_err(not_added_back("pruned", version))? else {
                continue;
            };
            let named = |set: &Set| set.with_named_fields_of(root);
            let keep = named(&field_set(&kept, root)).union(&named(&owned));
            let all = named(&field_set(&here, root));
            pruned = without(&here, &all.difference(&keep), root);
        }

        // Restores the fields that the applier did not own before: it cannot remove these.
        let named = |set: &Set| set.with_named_fields_of(root);
        let kept = self.converter.convert(&pruned, last_version);
        let what = "failed add back dangling items: failed to convert pruned object at last applied version: ";
        let kept = kept.map_err(not_pruned(what))?;
        let kept = kept.map(|(kept, root)| field_set(&kept, root));
        let all = named(&field_set(&at_last, root));
        let gone = all.difference(&named(&kept.unwrap_or_default()));
        let pruned = without(&at_last, &gone.intersection(&named(&last.set)), root);
        let own = self.converter.api_version;
        let result = self.converter.convert(&pruned, own);
        let result = result.map_err(not_pruned(""))?;
        Ok(result.map_or_else(|| merged.clone(), |(result, _)| result.into_owned()))
    }
}

/// The failure to remove what an applier gave up (`Updater.prune`).
fn not_pruned(what: &str) -> impl Fn(String) -> FieldManagerError + use<'_> {
    move |why| FieldManagerError::Failed(format!("failed to prune fields: {what}{why}"))
}

/// The failure to keep what others own (`addBackOwnedItems`).
fn not_added_back<'a>(
    which: &'a str,
    version: &'a str,
) -> impl Fn(String) -> FieldManagerError + use<'a> {
    move |why| {
        FieldManagerError::Failed(format!(
            "failed to prune fields: failed add back owned items: failed to convert {which} object at version \
             {version}: {why}"
        ))
    }
}

/// The manager of an applier or updater.
pub(super) fn workflow(
    name: &str,
    operation: ManagedFieldsOperation,
    api_version: &str,
    subresource: &str,
) -> Manager {
    let name = if name.is_empty() { "unknown" } else { name };
    Manager::new(name, operation, api_version, subresource)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::typed::sample::{object, paths, root};
    use super::*;

    /// A write of the spec by one manager.
    enum Write {
        /// Of the whole object.
        Update(Value),
        /// Of a configuration, without force.
        Apply(Value),
        /// Of a configuration, with force.
        Force(Value),
    }

    use Write::{Apply, Force, Update};

    /// The spec after writes in turn, what each manager owns, and the conflicts of a refused write.
    fn after(writes: &[(&str, Write)], reset: &Set) -> (Value, Vec<String>, Vec<String>) {
        let root = root();
        let updater = Updater {
            converter: VersionConverter {
                api_version: "v1",
                root: &root,
                versions: None,
                is_custom: false,
            },
            reset,
            resets_in_every_version: true,
            keeps_emptied: false,
        };
        let (mut live, mut managers) = (object(json!({})), Managers::default());
        let mut conflicts = Vec::new();
        for (name, write) in writes {
            let operation = match write {
                Update(_) => ManagedFieldsOperation::Update,
                Apply(_) | Force(_) => ManagedFieldsOperation::Apply,
            };
            let manager = workflow(name, operation, "v1", "");
            let mut after = managers.clone();
            let written = match write {
                Update(spec) => {
                    let new = object(spec.clone());
                    let written = updater.update(&live, &new, &mut after, &manager);
                    written.map(|()| Some(new))
                }
                Apply(spec) | Force(spec) => {
                    let (config, force) = (object(spec.clone()), matches!(write, Force(_)));
                    let merged = updater.apply(&live, &config, &mut after, &manager, force);
                    merged.map(|merged| merged.object)
                }
            };
            match written {
                Ok(new) => {
                    live = new.unwrap_or(live);
                    managers = after;
                }
                Err(FieldManagerError::Conflicts(found)) => {
                    let found = found.iter();
                    conflicts.extend(found.map(|it| format!("{} {}", it.manager.name, it.path)));
                }
                Err(other) => panic!("{other:?}"),
            }
        }
        let owned = managers.iter().map(|owned| {
            format!(
                "{} {}",
                owned.manager.name,
                paths(&owned.set.clone().into()).join(" ")
            )
        });
        let mut owned: Vec<String> = owned.collect();
        owned.sort();
        (live["spec"].clone(), owned, conflicts)
    }

    /// Writes in turn, and the spec, the owners and the conflicts after them.
    type Case = (
        &'static str,
        Vec<(&'static str, Write)>,
        Value,
        &'static [&'static str],
        &'static [&'static str],
    );

    fn check(cases: Vec<Case>, reset: &Set) {
        for (what, writes, spec, owned, conflicts) in cases {
            let found = after(&writes, reset);
            assert_eq!(found.0, spec, "{what}");
            assert_eq!(found.1, owned, "{what}");
            assert_eq!(found.2, conflicts, "{what}");
        }
    }

    #[test]
    fn an_updater_owns_what_it_changed_and_takes_it_from_the_others() {
        check(
            vec![
                (
                    "what stays is owned by the first",
                    vec![
                        ("a", Update(json!({"n": 1, "s": "x"}))),
                        ("b", Update(json!({"n": 2, "s": "x"}))),
                    ],
                    json!({"n": 2, "s": "x"}),
                    &["a .s", "b .n"],
                    &[],
                ),
                (
                    "what is removed has no owner",
                    vec![
                        ("a", Update(json!({"n": 1, "s": "x"}))),
                        ("b", Update(json!({"s": "x"}))),
                    ],
                    json!({"s": "x"}),
                    &["a .s"],
                    &[],
                ),
                (
                    "items of a keyed list are owned one by one",
                    vec![
                        ("a", Update(json!({"items": [{"k": "1", "v": 1}]}))),
                        (
                            "b",
                            Update(json!({"items": [{"k": "1", "v": 1}, {"k": "2"}]})),
                        ),
                    ],
                    json!({"items": [{"k": "1", "v": 1}, {"k": "2"}]}),
                    &[
                        "a .items .items[k=\"1\"] .items[k=\"1\"].k .items[k=\"1\"].v",
                        "b .items[k=\"2\"] .items[k=\"2\"].k",
                    ],
                    &[],
                ),
            ],
            &Set::default(),
        );
    }

    #[test]
    fn an_apply_conflicts_with_other_owners_of_what_it_changes() {
        check(
            vec![
                (
                    "another value",
                    vec![
                        ("a", Apply(json!({"n": 1}))),
                        ("b", Apply(json!({"n": 2, "s": "x"}))),
                    ],
                    json!({"n": 1}),
                    &["a .n"],
                    &["a .spec.n"],
                ),
                (
                    "the same value is shared",
                    vec![("a", Apply(json!({"n": 1}))), ("b", Apply(json!({"n": 1})))],
                    json!({"n": 1}),
                    &["a .n", "b .n"],
                    &[],
                ),
                (
                    "force takes over",
                    vec![
                        ("a", Apply(json!({"n": 1, "s": "x"}))),
                        ("b", Force(json!({"n": 2}))),
                    ],
                    json!({"n": 2, "s": "x"}),
                    &["a .s", "b .n"],
                    &[],
                ),
                (
                    "an updater is an owner too",
                    vec![
                        ("a", Update(json!({"map": {"x": "1"}}))),
                        ("b", Apply(json!({"map": {"x": "2", "y": "2"}}))),
                    ],
                    json!({"map": {"x": "1"}}),
                    &["a .map .map.x"],
                    &["a .spec.map.x"],
                ),
            ],
            &Set::default(),
        );
    }

    #[test]
    fn an_apply_removes_what_its_manager_applied_before_and_no_other_owns() {
        check(
            vec![
                (
                    "its own field",
                    vec![
                        ("a", Apply(json!({"n": 1, "s": "x"}))),
                        ("a", Apply(json!({"n": 1}))),
                    ],
                    json!({"n": 1}),
                    &["a .n"],
                    &[],
                ),
                (
                    "a shared field stays",
                    vec![
                        ("a", Apply(json!({"n": 1, "s": "x"}))),
                        ("b", Apply(json!({"s": "x"}))),
                        ("a", Apply(json!({"n": 1}))),
                    ],
                    json!({"n": 1, "s": "x"}),
                    &["a .n", "b .s"],
                    &[],
                ),
                (
                    "what an updater set stays",
                    vec![
                        ("a", Apply(json!({"n": 1}))),
                        ("b", Update(json!({"n": 1, "s": "x"}))),
                        ("a", Apply(json!({"n": 2}))),
                    ],
                    json!({"n": 2, "s": "x"}),
                    &["a .n", "b .s"],
                    &[],
                ),
                (
                    "an item with a field of another manager stays",
                    vec![
                        ("a", Apply(json!({"items": [{"k": "1", "v": 1}]}))),
                        ("b", Apply(json!({"items": [{"k": "1", "set": ["s"]}]}))),
                        ("a", Apply(json!({"n": 1}))),
                    ],
                    json!({"items": [{"k": "1", "set": ["s"]}], "n": 1}),
                    &[
                        "a .n",
                        "b .items[k=\"1\"] .items[k=\"1\"].k .items[k=\"1\"].set[=\"s\"]",
                    ],
                    &[],
                ),
            ],
            &Set::default(),
        );
    }

    #[test]
    fn what_a_resource_does_not_write_has_no_owner() {
        let reset = Set::of_fields(&[&["spec", "n"]]);
        check(
            vec![
                (
                    "of an update",
                    vec![("a", Update(json!({"n": 1, "s": "x"})))],
                    json!({"n": 1, "s": "x"}),
                    &["a .s"],
                    &[],
                ),
                (
                    "of an apply",
                    vec![("a", Apply(json!({"n": 1, "s": "x"})))],
                    json!({"n": 1, "s": "x"}),
                    &["a .s"],
                    &[],
                ),
            ],
            &reset,
        );
    }
}

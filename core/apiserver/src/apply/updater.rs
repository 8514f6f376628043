//! What a write does to ownership (`merge/update.go`).

use serde_json::Value;

use super::managers::{Managers, Owned, message_order};
use super::typed::{Comparison, compare, equal, field_set, merge, remove};
use super::{ManagedFieldsOperation, Manager, Path, Set};
use crate::schema::Struct;
use crate::status::{Cause, Refusal, Status};

/// A field that an apply would change and another manager owns.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// Who owns it.
    pub manager: Manager,
    /// The field.
    pub path: Path,
}

/// Types and versions of one kind, and the fields a (sub)resource never writes.
pub(super) struct Updater<'a> {
    pub(super) root: &'a Struct,
    pub(super) api_version: &'a str,
    pub(super) reset: &'a Set,
    /// Whether a map, struct or list stays, empty, when it loses its last member.
    pub(super) keeps_emptied: bool,
}

impl Updater<'_> {
    /// Takes what changed away from everyone else. Without `force`, says who owns it instead.
    fn disown(
        &self,
        live: &Value,
        new: &Value,
        managers: &mut Managers,
        workflow: &Manager,
        force: bool,
    ) -> Result<Comparison, Vec<Conflict>> {
        let mut comparison = compare(live, new, self.root);
        if !self.reset.is_empty() {
            comparison = comparison.without(self.reset);
        }
        managers
            .retain(|owned| owned.manager == *workflow || owned.api_version == self.api_version);
        if !force {
            let changed = comparison.modified.union(&comparison.added);
            let mut conflicts = Vec::new();
            for owned in managers.iter().filter(|owned| owned.manager != *workflow) {
                for path in owned.set.intersection(&changed).paths() {
                    conflicts.push(Conflict {
                        manager: owned.manager.clone(),
                        path,
                    });
                }
            }
            if !conflicts.is_empty() {
                return Err(conflicts);
            }
        }
        managers.retain(|owned| {
            if owned.manager != *workflow {
                owned.set.subtract(&comparison.modified);
                owned.set.subtract(&comparison.added);
                owned.set.subtract(&comparison.removed);
            }
            !owned.set.is_empty()
        });
        Ok(comparison)
    }

    /// Lets ownership follow the schema, which may be newer (`reconcileManagedFieldsWithSchemaChanges`).
    fn reconcile(&self, managers: &mut Managers) {
        managers.retain(|owned| {
            if owned.api_version == self.api_version {
                owned.set.reconcile(self.root);
            }
            true
        });
    }

    /// A write that is no apply: the writer owns what it changed.
    pub(super) fn update(
        &self,
        live: &Value,
        new: &Value,
        managers: &mut Managers,
        workflow: &Manager,
    ) {
        self.reconcile(managers);
        let Ok(comparison) = self.disown(live, new, managers, workflow, true) else {
            return;
        };
        let owned = managers.remove(workflow);
        let mut set = owned.map(|owned| owned.set).unwrap_or_default();
        set.subtract(&comparison.removed);
        set.absorb(comparison.modified);
        set.absorb(comparison.added);
        if !self.reset.is_empty() {
            set = set.recursive_difference(self.reset);
        }
        if !set.is_empty() {
            managers.insert(Owned {
                manager: workflow.clone(),
                api_version: self.api_version.to_owned(),
                set,
                time: None,
            });
        }
    }

    /// An apply: merges the configuration, drops what the applier no longer mentions and nobody
    /// else owns. `None` if the object stays as it is.
    pub(super) fn apply(
        &self,
        live: &Value,
        config: &Value,
        managers: &mut Managers,
        workflow: &Manager,
        force: bool,
    ) -> Result<Option<Value>, Vec<Conflict>> {
        self.reconcile(managers);
        let merged = merge(live, config, self.root);
        let last = managers.remove(workflow);
        let mut set = field_set(config, self.root);
        if !self.reset.is_empty() {
            set = set.recursive_difference(self.reset);
        }
        // Where everything is mentioned again there is nothing to prune.
        let dropped = last
            .as_ref()
            .filter(|last| last.api_version == self.api_version && !last.set.is_subset(&set));
        let dropped = dropped.map(|last| last.set.clone());
        managers.insert(Owned {
            manager: workflow.clone(),
            api_version: self.api_version.to_owned(),
            set,
            time: last.and_then(|owned| owned.time),
        });
        let new = match dropped {
            Some(last) => self.prune(&merged, managers, &last),
            None => merged,
        };
        self.disown(live, &new, managers, workflow, force)?;
        Ok((!equal(live, &new)).then_some(new))
    }

    /// Removes a field or item if and only if the applier applied it last time, does not now, and
    /// nobody else owns it.
    fn prune(&self, merged: &Value, managers: &Managers, last: &Set) -> Value {
        let named = |set: &Set| set.with_named_fields_of(self.root);
        let remove = |value: &Value, set: &Set| remove(value, set, self.root, self.keeps_emptied);
        let merged_set = named(&field_set(merged, self.root));

        let pruned = remove(merged, &named(last));

        // Back comes what anyone owns, and what those fields need around them.
        let owned = managers
            .iter()
            .filter(|owned| owned.api_version == self.api_version)
            .fold(Set::default(), |all, owned| all.union(&owned.set));
        let keep = named(&field_set(&pruned, self.root)).union(&named(&owned));
        let pruned = remove(merged, &merged_set.difference(&keep));

        // Back comes what the applier did not own before: nobody's fields are not its to remove.
        let gone = merged_set.difference(&named(&field_set(&pruned, self.root)));
        remove(merged, &gone.intersection(&named(last)))
    }
}

/// The 409 that an apply with conflicts gets (`managedfields/internal/conflict.go`).
pub(super) fn conflict_status(conflicts: &[Conflict]) -> Refusal {
    let causes = conflicts
        .iter()
        .map(|conflict| Cause {
            reason: "FieldManagerConflict",
            message: format!("conflict with {}", conflict.manager),
            field: conflict.path.to_string(),
        })
        .collect();
    let message = match conflicts {
        [one] => format!(
            "Apply failed with 1 conflict: conflict with {}: {}",
            one.manager, one.path
        ),
        many => {
            let mut managers: Vec<&Manager> = Vec::new();
            for conflict in many {
                if !managers.contains(&&conflict.manager) {
                    managers.push(&conflict.manager);
                }
            }
            managers.sort_by_key(|manager| message_order(manager));
            let mut lines = Vec::new();
            for manager in managers {
                lines.push(format!("conflicts with {manager}:"));
                let paths = many.iter().filter(|conflict| conflict.manager == *manager);
                lines.extend(paths.map(|conflict| format!("- {}", conflict.path)));
            }
            format!(
                "Apply failed with {} conflicts: {}",
                many.len(),
                lines.join("\n")
            )
        }
    };
    Status::apply_conflict(message, causes)
}

/// The managers that appliers and updaters are called by.
pub(super) fn workflow(
    name: &str,
    operation: ManagedFieldsOperation,
    api_version: &str,
    subresource: &str,
) -> Manager {
    let name = if name.is_empty() { "unknown" } else { name };
    Manager::new(name, operation, api_version, subresource)
}

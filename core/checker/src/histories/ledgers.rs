//! The ledgers of the object's edits, each once.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use optimist_apiserver::apply::Path;
use optimist_apiserver::schema::Struct;
use optimist_ledger::{Acknowledged, Done, Edit, Effect, Intention, UpdateTracker};
use optimist_system::ProcessId;

use crate::fast_hash::{FastMap, Mixer};

/// An index into the known ledgers.
pub(super) type LedgerId = u32;

/// All ledgers of a search, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledgers {
    known: Vec<UpdateTracker<ProcessId>>,
    /// Those with the same outline.
    by_outline: FastMap<u64, Vec<LedgerId>>,
    /// By ledger, the processes that can still write, and those that write next.
    forms: FastMap<(LedgerId, u32, u32), u32>,
    by_form: FastMap<Box<[u32]>, u32>,
    edits: Vec<Arc<Edit>>,
    fields: Vec<Path>,
}

impl Ledgers {
    /// The number of a ledger.
    pub(super) fn intern(&mut self, updates: UpdateTracker<ProcessId>) -> LedgerId {
        let alike = self.by_outline.entry(outline(&updates)).or_default();
        let mut ids = alike.iter().copied();
        let same = ids.find(|id| self.known.get(*id as usize) == Some(&updates));
        same.unwrap_or_else(|| {
            let id = self.known.len() as LedgerId;
            alike.push(id);
            self.known.push(updates);
            id
        })
    }

    /// The ledger with a number.
    pub(super) fn get(&self, id: LedgerId) -> &UpdateTracker<ProcessId> {
        static NONE: UpdateTracker<ProcessId> = UpdateTracker::new();
        self.known.get(id as usize).unwrap_or(&NONE)
    }

    /// The ledger after an answer to a process, and what it did to the edits of others.
    pub(super) fn answered(
        &mut self,
        id: LedgerId,
        who: ProcessId,
        effect: &Effect,
        intention: Intention<'_>,
        root: &Struct,
    ) -> (LedgerId, Done<ProcessId>) {
        let mut updates = self.get(id).clone();
        let done = updates.answered(who, effect, intention, root);
        (self.intern(updates), done)
    }

    /// A number that two ledgers have in common if no later event can tell them apart. Of the
    /// processes, `active` has a bit for each that can still write, and `sends` for each that writes
    /// before it is shown anything more.
    ///
    /// One of the latter counts as having been shown an edit that the object already had, unless the
    /// field has changed since it was shown the object. One that reads before it writes is shown another
    /// object, or that there is none.
    pub(super) fn form(&mut self, id: LedgerId, active: u32, sends: u32) -> u32 {
        if let Some(form) = self.forms.get(&(id, active, sends)) {
            return *form;
        }
        let key = self.key(id, active, sends);
        let next = self.by_form.len() as u32;
        let form = *self.by_form.entry(key).or_insert(next);
        self.forms.insert((id, active, sends), form);
        form
    }

    fn edit(&mut self, edit: &Arc<Edit>) -> u32 {
        let known = self.edits.iter().position(|known| known == edit);
        known.unwrap_or_else(|| {
            self.edits.push(Arc::clone(edit));
            self.edits.len() - 1
        }) as u32
    }

    fn field(&mut self, field: &Path) -> u32 {
        let known = self.fields.iter().position(|known| known == field);
        known.unwrap_or_else(|| {
            self.fields.push(field.clone());
            self.fields.len() - 1
        }) as u32
    }

    fn key(&mut self, id: LedgerId, active: u32, sends: u32) -> Box<[u32]> {
        let updates = self.get(id).clone();
        let mask = |who: &[ProcessId]| who.iter().fold(0u32, |all, i| all | bit(*i));
        let left_out = updates.left_out().iter();
        let mut key = vec![left_out.fold(0, |all, (i, _)| all | bit(*i))];
        let mut refused: Vec<u32> = (updates.who_was_refused().iter())
            .map(|(i, how)| u32::from(*i) << 8 | *how as u32)
            .collect();
        refused.sort_unstable();
        key.push(refused.len() as u32);
        key.extend(refused);
        let who = |owner: ProcessId, other: ProcessId, flag: bool| {
            u32::from(owner) << 16 | u32::from(other) << 8 | u32::from(flag)
        };
        let replaced = updates.replaced().iter().map(|it| {
            let who = who(it.owner, it.by, it.retry);
            [self.edit(&it.edit), who, 0]
        });
        let mut replaced: Vec<[u32; 3]> = replaced.collect();
        let lost = updates.losses().iter().map(|it| {
            let who = who(it.owner, it.culprit, it.blind);
            [self.edit(&it.edit), who, 0]
        });
        let mut lost: Vec<[u32; 3]> = lost.collect();
        // Only an edit that another process may still overwrite can be lost or replaced.
        let mut held = |edits: Vec<&Acknowledged<ProcessId>>| -> Vec<[u32; 3]> {
            let edits = edits
                .into_iter()
                .map(|known| (known, active & !bit(known.owner)));
            let edits = edits.filter(|(_, others)| *others != 0);
            edits
                .map(|(known, others)| {
                    let readers = others & mask(&known.readers);
                    [self.edit(&known.edit), known.owner.into(), readers]
                })
                .collect()
        };
        let mut kept = held(updates.kept_edits().iter().collect());
        // One that sends nothing more is shown nothing more.
        let unanswered = updates.unanswered_edits().iter();
        let unanswered = unanswered.filter(|known| active & bit(known.owner) != 0);
        let mut unanswered = held(unanswered.collect());
        for edits in [&mut replaced, &mut lost, &mut kept, &mut unanswered] {
            edits.sort_unstable();
            key.push(edits.len() as u32);
            key.extend(edits.iter().flatten());
        }
        let shown = updates
            .shown_versions()
            .filter(|(who, ..)| bit(*who) & sends != 0);
        let mut shown: Vec<_> = shown.collect();
        shown.sort_unstable_by_key(|(who, ..)| *who);
        for (who, _, changed) in shown {
            let mut fields: Vec<u32> = changed.iter().map(|field| self.field(field)).collect();
            fields.sort_unstable();
            key.extend([who.into(), fields.len() as u32]);
            key.extend(fields);
        }
        key.into_boxed_slice()
    }
}

/// The bit of a process; those beyond the last bit share it.
pub(super) fn bit(process: ProcessId) -> u32 {
    1 << process.min(31)
}

/// A number that equal ledgers have in common.
fn outline(updates: &UpdateTracker<ProcessId>) -> u64 {
    let mut hasher = Mixer::default();
    let counts = [
        updates.replaced().len(),
        updates.losses().len(),
        updates.left_out().len(),
    ];
    counts.hash(&mut hasher);
    updates.who_was_refused().hash(&mut hasher);
    for known in updates
        .kept_edits()
        .iter()
        .chain(updates.unanswered_edits())
    {
        (known.owner, known.since, &known.readers).hash(&mut hasher);
    }
    for (who, version, changed) in updates.shown_versions() {
        (who, version, changed.len()).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_apiserver::server::Resources;
    use serde_json::json;

    /// A process that sends nothing more.
    const DONE: ProcessId = 5;

    /// A ledger in which a process was shown a field that was set to another value and back.
    fn ledger(was_changed: bool, root: &Struct) -> UpdateTracker<ProcessId> {
        let object = |version: &str, value: &str| {
            let metadata = json!({"name": "a", "resourceVersion": version});
            Arc::new(json!({"metadata": metadata, "data": {"a": value}}))
        };
        let all = [object("1", "0"), object("2", "1"), object("3", "0")];
        let mut updates = UpdateTracker::new();
        updates.read(0, &all[if was_changed { 0 } else { 2 }]);
        if was_changed {
            for pair in all.windows(2) {
                let write = Effect::write(Some(&pair[0]), Some(&pair[1]), root).unanswered();
                updates.answered(DONE, &write, Intention::default(), root);
            }
        }
        updates
    }

    #[test]
    fn whether_a_field_was_changed_and_changed_back_counts_for_one_who_writes_next() {
        let resources = Resources::builtin();
        let root = &resources.by_kind("v1", "ConfigMap").unwrap().root;
        let mut ledgers = Ledgers::default();
        let changed = ledgers.intern(ledger(true, root));
        let unchanged = ledgers.intern(ledger(false, root));
        assert_eq!(ledgers.get(changed).kept_edits(), [], "nobody was told");
        let mut same =
            |sends| ledgers.form(changed, 0b11, sends) == ledgers.form(unchanged, 0b11, sends);
        assert!(!same(0b01), "it overwrites what it was not shown");
        assert!(same(0b10), "it reads first");
        // What each answers to a later write is what tells them apart.
        let readers = |updates: UpdateTracker<ProcessId>| {
            let (mut updates, now) = (
                updates,
                json!({"metadata": {"name": "a", "resourceVersion": "3"}, "data": {"a": "0"}}),
            );
            let edit = Edit::between(&json!({"data": {}}), &json!({"data": {"a": "0"}}), root);
            let now = Arc::new(now);
            let write = Effect::write(Some(&now), Some(&now), root);
            let intention = Intention {
                edits: Some(&edit),
                ..Intention::default()
            };
            updates.answered(2, &write, intention, root);
            updates.kept_edits()[0].readers.contains(&0)
        };
        assert!(!readers(ledger(true, root)) && readers(ledger(false, root)));
    }
}

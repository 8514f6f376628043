//! What is known of the edits of the object, each once.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use optimist_apiserver::schema::Struct;
use optimist_ledger::{Done, Edit, Effect, Intention, UpdateTracker};
use optimist_system::ProcessId;

use crate::fast_hash::FastMap;

/// An index into the known ledgers.
pub(super) type LedgerId = u32;

/// All ledgers of a search, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledgers {
    known: Vec<UpdateTracker<ProcessId>>,
    /// Those with the same outline.
    by_outline: FastMap<u64, Vec<LedgerId>>,
    /// By ledger and the processes that can still write.
    forms: FastMap<(LedgerId, u32), u32>,
    by_form: FastMap<Box<[u32]>, u32>,
    edits: Vec<Arc<Edit>>,
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

    /// A number that two ledgers have in common if no later event can tell them apart. `active` has a
    /// bit for each process that can still write.
    ///
    /// What has changed since a process was shown the object decides whether it counts as having been
    /// shown an edit that the object already had. It is no part of the form: it follows from the
    /// process's copy and the stored object, but for a value that was removed and set again. With three
    /// processes that write once each, none is left that could remove an edit that was removed,
    /// restored and then written again. A process that reads first is shown another object.
    pub(super) fn form(&mut self, id: LedgerId, active: u32) -> u32 {
        if let Some(form) = self.forms.get(&(id, active)) {
            return *form;
        }
        let key = self.key(id, active);
        let next = self.by_form.len() as u32;
        let form = *self.by_form.entry(key).or_insert(next);
        self.forms.insert((id, active), form);
        form
    }

    fn edit(&mut self, edit: &Arc<Edit>) -> u32 {
        let known = self.edits.iter().position(|known| known == edit);
        known.unwrap_or_else(|| {
            self.edits.push(Arc::clone(edit));
            self.edits.len() - 1
        }) as u32
    }

    fn key(&mut self, id: LedgerId, active: u32) -> Box<[u32]> {
        let updates = self.get(id).clone();
        let mask = |who: &[ProcessId]| who.iter().fold(0u32, |all, i| all | bit(*i));
        let mut key = vec![
            (updates.left_out().iter()).fold(0, |all, (i, _)| all | bit(*i)),
            updates.replaced().len() as u32,
            updates.losses().len() as u32,
        ];
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
        let kept = updates.kept().iter();
        let kept = kept.map(|known| (known, active & !bit(known.owner)));
        let kept = kept.filter(|(_, others)| *others != 0);
        let mut kept: Vec<[u32; 3]> = kept
            .map(|(known, others)| {
                let readers = others & mask(&known.readers);
                [self.edit(&known.edit), known.owner.into(), readers]
            })
            .collect();
        for edits in [&mut replaced, &mut lost, &mut kept] {
            edits.sort_unstable();
            key.extend(edits.iter().flatten());
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
    let mut hasher = DefaultHasher::new();
    let counts = [
        updates.replaced().len(),
        updates.losses().len(),
        updates.left_out().len(),
    ];
    counts.hash(&mut hasher);
    updates.who_was_refused().hash(&mut hasher);
    for known in updates.kept() {
        (known.owner, known.since, &known.readers).hash(&mut hasher);
    }
    for (who, version, changed) in updates.shown() {
        (who, version, changed.len()).hash(&mut hasher);
    }
    hasher.finish()
}

//! The ledgers of the object's edits, each once.

use std::sync::Arc;

use optimist_apiserver::apply::Path;
use optimist_apiserver::schema::Struct;
use optimist_client::NextRequest;
use optimist_ledger::{Acknowledged, Done, Edit, Effect, Intention, UpdateTracker};
use optimist_system::ProcessId;

use crate::fast_hash::FastMap;

/// An index into the known ledgers.
pub(super) type LedgerId = u32;

/// The processes that can still write, a bit each: others learn and lose nothing more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Writers {
    active: u32,
    /// Those of them that write before they are shown anything more.
    sends: u32,
}

impl Writers {
    /// The same, with the next request of a process.
    pub(super) fn with(self, who: ProcessId, next: NextRequest) -> Self {
        let set = |bits: u32, is_set: bool| (bits & !bit(who)) | (u32::from(is_set) * bit(who));
        Self {
            active: set(self.active, next != NextRequest::Nothing),
            sends: set(self.sends, next == NextRequest::Send),
        }
    }
}

/// A ledger, and who can still write.
#[derive(Clone, Debug)]
struct KnownLedger {
    updates: UpdateTracker<ProcessId>,
    writers: Writers,
}

/// The ledgers of a search. One stands for all that no later event can tell from it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledgers {
    known: Vec<KnownLedger>,
    by_form: FastMap<Box<[u32]>, LedgerId>,
    edits: Vec<Arc<Edit>>,
    fields: Vec<Path>,
}

impl Ledgers {
    /// The number of the first ledger that no later event can tell from this one.
    pub(super) fn intern(
        &mut self,
        updates: UpdateTracker<ProcessId>,
        writers: Writers,
    ) -> LedgerId {
        let form = self.form(&updates, writers);
        let next = self.known.len() as LedgerId;
        let id = *self.by_form.entry(form).or_insert(next);
        if id == next {
            self.known.push(KnownLedger { updates, writers });
        }
        id
    }

    /// The ledger with a number.
    pub(super) fn get(&self, id: LedgerId) -> &UpdateTracker<ProcessId> {
        static NONE: UpdateTracker<ProcessId> = UpdateTracker::new();
        let known = self.known.get(id as usize);
        known.map_or(&NONE, |known| &known.updates)
    }

    /// The ledger after an answer to a process, and what it did to the edits of others. `next` is the
    /// next request of the process; `None` if the answer is lost.
    pub(super) fn answered(
        &mut self,
        id: LedgerId,
        (who, next): (ProcessId, Option<NextRequest>),
        effect: &Effect,
        intention: Intention<'_>,
        root: &Struct,
    ) -> (LedgerId, Done<ProcessId>) {
        let mut updates = self.get(id).clone();
        let done = updates.answered(who, effect, intention, root);
        let writers = self.known.get(id as usize);
        let writers = writers.map_or(Writers::default(), |known| known.writers);
        let writers = next.map_or(writers, |next| writers.with(who, next));
        (self.intern(updates, writers), done)
    }

    /// Numbers that two ledgers have in common if no later event can tell them apart.
    ///
    /// What a process was shown counts if it writes next. It counts as having been shown an edit that the
    /// object already had, unless the field has changed since. One that reads before it writes is shown
    /// the whole object of then, or that there is none.
    fn form(&mut self, updates: &UpdateTracker<ProcessId>, writers: Writers) -> Box<[u32]> {
        let Writers { active, sends } = writers;
        let Self { edits, fields, .. } = self;
        let mask = |who: &[ProcessId]| who.iter().fold(0u32, |all, i| all | bit(*i));
        let left_out = updates.left_out().iter();
        let left_out = left_out.fold(0, |all, (i, _)| all | bit(*i));
        let mut key = vec![active, sends, left_out];
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
            [number(edits, &it.edit), who, 0]
        });
        let mut replaced: Vec<[u32; 3]> = replaced.collect();
        let lost = updates.losses().iter().map(|it| {
            let who = who(it.owner, it.culprit, it.blind);
            [number(edits, &it.edit), who, 0]
        });
        let mut lost: Vec<[u32; 3]> = lost.collect();
        // Only an edit that another process may still overwrite can be lost or replaced.
        let mut held = |held: Vec<&Acknowledged<ProcessId>>| -> Vec<[u32; 3]> {
            let held = held
                .into_iter()
                .map(|known| (known, active & !bit(known.owner)));
            let held = held.filter(|(_, others)| *others != 0);
            held.map(|(known, others)| {
                let readers = others & sends & mask(&known.readers);
                [number(edits, &known.edit), known.owner.into(), readers]
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
            let mut fields: Vec<u32> = changed.iter().map(|field| number(fields, field)).collect();
            fields.sort_unstable();
            key.extend([who.into(), fields.len() as u32]);
            key.extend(fields);
        }
        key.into_boxed_slice()
    }
}

/// The number of an item among those that are known.
fn number<T: Clone + PartialEq>(known: &mut Vec<T>, item: &T) -> u32 {
    let at = known.iter().position(|known| known == item);
    at.unwrap_or_else(|| {
        known.push(item.clone());
        known.len() - 1
    }) as u32
}

/// The bit of a process; those beyond the last bit share it.
fn bit(process: ProcessId) -> u32 {
    1 << process.min(31)
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
        assert_eq!(ledger(true, root).kept_edits(), [], "nobody was told");
        let mut same = |first, second| {
            let writers = Writers::default().with(0, first).with(1, second);
            let mut intern = |changed| ledgers.intern(ledger(changed, root), writers);
            intern(true) == intern(false)
        };
        use NextRequest::{Read, Send};
        assert!(!same(Send, Read), "it overwrites what it was not shown");
        assert!(same(Read, Send), "it reads first");
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

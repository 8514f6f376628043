//! The ledgers of the object's edits, each once.

use std::hash::Hash;
use std::sync::Arc;

use optimist_apiserver::apply::Path;
use optimist_apiserver::schema::Struct;
use optimist_client::NextRequest;
use optimist_ledger::{Acknowledged, Done, Edit, Effect, Intention, UpdateTracker};
use optimist_system::ProcessId;

use optimist_apiserver::fast_map::FastMap;

/// An index into the known ledgers.
pub(super) type LedgerId = u32;

/// The processes that can still write, a bit each: others learn and lose nothing more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NextWriters {
    active: u32,
    /// Those of them that write before they are shown anything more.
    sends: u32,
}

impl NextWriters {
    /// The same, with the next request of a process.
    pub(super) fn with(self, who: ProcessId, next: NextRequest) -> Self {
        let set = |bits: u32, is_set: bool| (bits & !bit(who)) | (u32::from(is_set) * bit(who));
        Self {
            active: set(self.active, next != NextRequest::Nothing),
            sends: set(self.sends, next == NextRequest::Send),
        }
    }

    /// Returns whether a process writes before it is shown anything more.
    fn writes_next(self, who: ProcessId) -> bool {
        self.sends & bit(who) != 0
    }
}

/// A ledger, and who can still write.
#[derive(Clone, Debug)]
struct KnownLedger {
    updates: UpdateTracker<ProcessId>,
    writers: NextWriters,
}

/// The ledgers of a search. One stands for all that no later event can tell from it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledgers {
    known: Vec<KnownLedger>,
    by_form: FastMap<Box<[u32]>, LedgerId>,
    edits: FastMap<Arc<Edit>, u32>,
    fields: FastMap<Arc<Path>, u32>,
    /// The form of a ledger that may be new.
    form: Vec<u32>,
}

impl Ledgers {
    /// The number of the first ledger that no later event can tell from this one.
    pub(super) fn intern(
        &mut self,
        mut updates: UpdateTracker<ProcessId>,
        writers: NextWriters,
    ) -> LedgerId {
        self.make_form(&updates, writers);
        if let Some(id) = self.by_form.get(&*self.form) {
            return *id;
        }
        let id = self.known.len() as LedgerId;
        self.by_form.insert(self.form.as_slice().into(), id);
        updates.forget_shown(|who| !writers.writes_next(who));
        self.known.push(KnownLedger { updates, writers });
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
        let writers = writers.map_or(NextWriters::default(), |known| known.writers);
        let writers = next.map_or(writers, |next| writers.with(who, next));
        (self.intern(updates, writers), done)
    }

    /// Makes the numbers that two ledgers have in common if no later event can tell them apart.
    ///
    /// A process that writes next counts as having been shown an edit that the object already had, unless
    /// the field has changed since it was shown the object. One that reads before it writes is shown the
    /// whole object of then, or that there is none.
    fn make_form(&mut self, updates: &UpdateTracker<ProcessId>, writers: NextWriters) {
        let NextWriters { active, sends } = writers;
        let Self {
            edits,
            fields,
            form,
            ..
        } = self;
        let mask = |who: &[ProcessId]| who.iter().fold(0u32, |all, i| all | bit(*i));
        let who = |owner: ProcessId, other: ProcessId, flag: bool| {
            u32::from(owner) << 16 | u32::from(other) << 8 | u32::from(flag)
        };
        let left_out = updates.left_out().iter();
        let left_out = left_out.fold(0, |all, (who, _)| all | bit(*who));
        form.clear();
        form.extend([active, sends, left_out]);
        let refused = updates.who_was_refused().iter();
        add_sorted(
            form,
            refused.map(|(who, how)| [u32::from(*who), *how as u32]),
        );
        let replaced = updates.replaced().iter();
        let replaced = replaced.map(|it| [number(edits, &it.edit), who(it.owner, it.by, it.retry)]);
        add_sorted(form, replaced);
        let lost = updates.losses().iter();
        let lost = lost.map(|it| [number(edits, &it.edit), who(it.owner, it.culprit, it.blind)]);
        add_sorted(form, lost);
        // Only an edit that another process may still overwrite can be lost or replaced.
        let mut held = |known: &Acknowledged<ProcessId>| {
            let others = active & !bit(known.owner);
            let readers = others & sends & mask(&known.readers);
            (others != 0).then(|| [number(edits, &known.edit), known.owner.into(), readers])
        };
        add_sorted(form, updates.kept_edits().iter().filter_map(&mut held));
        // One that sends nothing more is shown nothing more.
        let unanswered = updates.unanswered_edits().iter();
        let unanswered = unanswered.filter(|known| active & bit(known.owner) != 0);
        add_sorted(form, unanswered.filter_map(&mut held));
        let mut shown: Vec<_> = updates.shown_versions().collect();
        shown.retain(|(who, ..)| writers.writes_next(*who));
        shown.sort_unstable_by_key(|(who, ..)| *who);
        for (who, _, changed) in shown {
            form.push(who.into());
            let changed = changed.iter().map(|field| [number(fields, field)]);
            add_sorted(form, changed);
        }
    }
}

/// Adds the number of some rows, and the rows in order.
fn add_sorted<const N: usize>(form: &mut Vec<u32>, rows: impl Iterator<Item = [u32; N]>) {
    let count = form.len();
    form.push(0);
    form.extend(rows.flatten());
    let (before, after) = form.split_at_mut(count + 1);
    let (rows, _) = after.as_chunks_mut::<N>();
    rows.sort_unstable();
    if let Some(count) = before.last_mut() {
        *count = rows.len() as u32;
    }
}

/// The number of an item among those that are known.
fn number<T: Clone + Eq + Hash>(known: &mut FastMap<T, u32>, item: &T) -> u32 {
    if let Some(number) = known.get(item) {
        return *number;
    }
    let number = known.len() as u32;
    known.insert(item.clone(), number);
    number
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
            let writers = NextWriters::default().with(0, first).with(1, second);
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

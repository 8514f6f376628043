//! The verdict of a history: which edits are in the object, replaced, refused or lost.
//!
//! An edit sets or removes a field. It is *acknowledged* when its writer got a 2xx for it, or lost that answer and
//! was then shown the edit in the object. An acknowledged edit is *lost* when a later write undoes it, overwrites it
//! or deletes the object, and the later writer had not been shown the edit. The edit is *replaced knowingly* when the
//! later writer had been shown it. A program that reads again and repeats its edit was shown the edit, although it
//! did not look. If the object already had the value when an edit was written, every actor that was shown the value
//! since then has been shown the edit. A value that was removed and set again is a new edit: an actor that saw only
//! the earlier value was not shown the new edit. An answer that the object does not exist shows its deletion. The
//! verdict depends on the objects that were shown and stored, and not on the write method.

mod shown;

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::OrdSet;
use serde_json::Value;

use optimist_apiserver::apply::{Path, Places};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::schema::Struct;
use optimist_apiserver::storage::Revision;
use optimist_client::{Edit, is_last_applied};

use super::changed_fields::any_overlaps;
use super::effect::{Effect, WrittenObject};
use super::ledger::Intention;
use super::verdict::{Acknowledged, Done, Loss, RefusalKind, Replaced, Verdict};
use shown::ShownVersion;

/// Follows a history step by step. `Id` tells the actors apart.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateTracker<Id> {
    /// The acknowledged edits that are still in the object.
    kept: Vec<Acknowledged<Id>>,
    /// The edits in the object whose writers did not get their answers. Each is acknowledged once its
    /// writer is shown it.
    unanswered: Vec<Acknowledged<Id>>,
    losses: Vec<Loss<Id>>,
    replaced: Vec<Replaced<Id>>,
    /// The actors whose last request was refused, and how.
    refused: Vec<(Id, RefusalKind)>,
    left_out: Vec<(Id, Arc<Edit>)>,
    /// The actors with an accepted write.
    written: Vec<Id>,
    /// The newest version that each actor was shown.
    shown: Vec<ShownVersion<Id>>,
}

impl<Id> Default for UpdateTracker<Id> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Id> UpdateTracker<Id> {
    /// A tracker of an object that nobody has written or read.
    pub const fn new() -> Self {
        Self {
            kept: Vec::new(),
            unanswered: Vec::new(),
            losses: Vec::new(),
            replaced: Vec::new(),
            refused: Vec::new(),
            left_out: Vec::new(),
            written: Vec::new(),
            shown: Vec::new(),
        }
    }
}

impl<Id: Copy + PartialEq> UpdateTracker<Id> {
    /// Returns the same edits and readers under other names of the actors, with nothing lost, replaced, refused or left
    /// out so far: for a question about the future from here on.
    pub fn renamed<Other>(&self, name: impl Fn(Id) -> Other) -> UpdateTracker<Other> {
        let all = |ids: &[Id]| ids.iter().map(|id| name(*id)).collect();
        let edits = |edits: &[Acknowledged<Id>]| {
            let edits = edits.iter().map(|known| Acknowledged {
                owner: name(known.owner),
                edit: Arc::clone(&known.edit),
                readers: all(&known.readers),
                since: known.since,
            });
            edits.collect()
        };
        let shown = self.shown.iter().map(|shown| ShownVersion {
            who: name(shown.who),
            version: shown.version,
            changed: shown.changed.clone(),
        });
        UpdateTracker {
            kept: edits(&self.kept),
            unanswered: edits(&self.unanswered),
            written: all(&self.written),
            shown: shown.collect(),
            ..UpdateTracker::new()
        }
    }

    /// Records an actor's request for the object that is answered by now, and returns its effect on the edits of
    /// others. The intention's edits are of this object.
    pub fn answered(
        &mut self,
        who: Id,
        effect: &Effect,
        intention: Intention<'_>,
        root: &Struct,
    ) -> Done<Id> {
        let mut done = Done::default();
        if effect.is_absent {
            self.not_found(who);
        }
        if let Some(object) = &effect.shown {
            self.read_except(who, object, &effect.not_shown);
        }
        if let Some(replicas) = &effect.scaled {
            self.read_field(who, replicas);
        }
        if let Some(how) = effect.refusal {
            // A read after the actor has done its write does not count as a refusal.
            if !effect.is_read || !self.written.contains(&who) {
                self.refused.retain(|(refused, _)| *refused != who);
                self.refused.push((who, how));
            }
            let could_write = !effect.is_read && !effect.is_dry_run;
            done.contested = could_write && self.has_edit_of_other(who);
        }
        for write in &effect.writes {
            done.append(self.accepted(who, write, intention, root));
        }
        done
    }

    /// Records that an actor that was refused has looked at the objects since, and has nothing
    /// more to do.
    pub fn is_content(&mut self, who: Id) {
        self.refused.retain(|(refused, _)| *refused != who);
    }

    /// Records an accepted write.
    fn accepted(
        &mut self,
        who: Id,
        write: &WrittenObject,
        intention: Intention<'_>,
        root: &Struct,
    ) -> Done<Id> {
        let (before, after) = (write.before.as_deref(), write.after.as_deref());
        let edits = meant_edits(intention, before, after, root);
        let edits = edits.as_ref();
        if !write.is_answered {
            return self.unanswered(who, write, edits, root);
        }
        let shown = after.filter(|_| write.is_shown);
        // It changed no field, such as a request that sets the owners: no write of this object.
        if intention.edits.is_none() && edits.is_empty() && before.is_some() {
            self.is_content(who);
            if let Some(object) = shown {
                self.read(who, object);
            }
            return Done::default();
        }
        let refused = self.refused.iter().find(|(refused, _)| *refused == who);
        let retry =
            intention.retries && refused.is_some_and(|(_, how)| *how == RefusalKind::Conflict);
        self.refused.retain(|(refused, _)| *refused != who);
        if !self.written.contains(&who) {
            self.written.push(who);
        }
        let (mut before, mut after) = (before.map(Places::new), after.map(Places::new));
        let mut done = self.take_away(who, write, (edits, after.as_mut()), (root, retry));
        let places = (before.as_mut(), after.as_mut());
        let stored = self.stored_edits((who, write), edits, places, root, &mut done.left_out);
        self.acknowledge(who, stored);
        self.record(write, &done);
        let left_out = done.left_out.iter();
        self.left_out
            .extend(left_out.map(|edit| (who, Arc::clone(edit))));
        if let Some(object) = shown {
            self.read(who, object);
        }
        done
    }

    /// Returns the edits of an accepted write that the server stored, each with whether it holds now.
    /// Adds the others to `left_out`.
    fn stored_edits(
        &self,
        (who, write): (Id, &WrittenObject),
        edits: &[Arc<Edit>],
        (mut before, mut after): (Option<&mut Places<'_>>, Option<&mut Places<'_>>),
        root: &Struct,
        left_out: &mut Vec<Arc<Edit>>,
    ) -> Vec<(Acknowledged<Id>, bool)> {
        let since = write.after.as_deref().map_or(Revision::MAX, version_of);
        let mut stored = Vec::new();
        for edit in edits {
            let places = (before.as_deref_mut(), after.as_deref_mut());
            let stored_edit = match edit.as_stored(places.0, places.1, root) {
                // Equal edits that are one are found to be equal at once.
                Some(stored) if stored == **edit => Arc::clone(edit),
                Some(stored) => Arc::new(stored),
                None => {
                    left_out.push(Arc::clone(edit));
                    continue;
                }
            };
            // Otherwise the write also removed the object: it removed the last finalizer.
            let holds = stored_edit.holds_at(after.as_deref_mut(), root);
            let mut readers = vec![who];
            if holds && stored_edit.holds_at(before.as_deref_mut(), root) {
                let others = self.shown.iter().filter(|shown| shown.who != who);
                let saw = others.filter(|shown| !shown.is_changed(&stored_edit));
                readers.extend(saw.map(|shown| shown.who));
            }
            let edit = Acknowledged {
                owner: who,
                edit: stored_edit,
                readers,
                since,
            };
            stored.push((edit, holds));
        }
        stored
    }

    /// Records the fields that a write changed, and the edits of others that it removed.
    fn record(&mut self, write: &WrittenObject, done: &Done<Id>) {
        for shown in &mut self.shown {
            shown.changed.extend(write.changed.iter().cloned());
        }
        if write.after.is_none() {
            self.forget_marks();
        }
        self.losses.extend(done.losses.iter().cloned());
        self.replaced.extend(done.replaced.iter().cloned());
    }

    /// Records a write whose answer was lost. It can remove edits of others, but its own edits are not
    /// acknowledged yet: nobody promised its writer anything.
    fn unanswered(
        &mut self,
        who: Id,
        write: &WrittenObject,
        edits: &[Arc<Edit>],
        root: &Struct,
    ) -> Done<Id> {
        let before = write.before.as_deref();
        let (mut before, mut after) = (
            before.map(Places::new),
            write.after.as_deref().map(Places::new),
        );
        let done = self.take_away(who, write, (edits, after.as_mut()), (root, false));
        // No answer shows the edits of an object that is gone.
        if after.is_some() {
            let places = (before.as_mut(), after.as_mut());
            let stored = self.stored_edits((who, write), edits, places, root, &mut Vec::new());
            let holding = stored.into_iter().filter(|(_, holds)| *holds);
            self.unanswered.extend(holding.map(|(known, _)| known));
        }
        self.record(write, &done);
        done
    }

    /// Keeps an actor's edits that are in the object. If an actor writes the same edit again, it
    /// counts once.
    fn acknowledge(&mut self, who: Id, edits: Vec<(Acknowledged<Id>, bool)>) {
        let last: BTreeMap<&Path, usize> = edits
            .iter()
            .enumerate()
            .map(|(i, (known, _))| (&known.edit.path, i))
            .collect();
        for earlier in [&mut self.kept, &mut self.unanswered] {
            earlier.retain(|known| known.owner != who || !last.contains_key(&known.edit.path));
        }
        let is_last = |(i, (known, _)): (usize, &(Acknowledged<Id>, bool))| {
            last.get(&known.edit.path) == Some(&i)
        };
        let are_last: Vec<_> = edits.iter().enumerate().map(is_last).collect();
        let kept = edits.into_iter().zip(are_last);
        let kept = kept.filter(|((_, holds), is_last)| *holds && *is_last);
        self.kept.extend(kept.map(|((known, _), _)| known));
    }

    /// Once the object is gone, the mark of its deletion is the deletion itself: one for each actor.
    fn forget_marks(&mut self) {
        let mut owners = Vec::new();
        self.kept.retain_mut(|known| {
            if !known.edit.is_deletion() {
                return true;
            }
            known.edit = Edit::deletion();
            known.since = Revision::MAX;
            let is_first = !owners.contains(&known.owner);
            owners.push(known.owner);
            is_first
        });
    }

    /// Removes the edits that are no longer in the object.
    fn take_away(
        &mut self,
        who: Id,
        write: &WrittenObject,
        (edits, mut after): (&[Arc<Edit>], Option<&mut Places<'_>>),
        (root, retry): (&Struct, bool),
    ) -> Done<Id> {
        let contested = self.has_edit_of_other(who);
        let meant = LazyCell::new(|| -> OrdSet<&Path> {
            let paths = edits.iter().map(|edit| &edit.path);
            paths.collect()
        });
        let (mut losses, mut replaced) = (Vec::new(), Vec::new());
        let mut stays = |known: &mut Acknowledged<Id>| {
            if known.edit.holds_at(after.as_deref_mut(), root) {
                return true;
            }
            let both = write.before.as_deref().zip(write.after.as_deref());
            let moved = both.and_then(|(before, after)| known.edit.moved(before, after));
            match moved {
                Some(moved) => known.edit = Arc::new(moved),
                None => return false,
            }
            true
        };
        self.unanswered.retain_mut(&mut stays);
        self.kept.retain_mut(|known| {
            if stays(known) {
                return true;
            }
            let (owner, edit) = (known.owner, Arc::clone(&known.edit));
            if owner != who && known.readers.contains(&who) {
                replaced.push(Replaced {
                    owner,
                    edit,
                    by: who,
                    retry,
                });
            } else if owner != who {
                losses.push(Loss {
                    owner,
                    blind: any_overlaps(&meant, &edit.path),
                    edit,
                    culprit: who,
                });
            }
            false
        });
        // What a tool noted by itself comes after what somebody changed.
        losses.sort_by_key(|loss: &Loss<Id>| loss.edit.is_record_of_tool());
        replaced.sort_by_key(|one: &Replaced<Id>| one.edit.is_record_of_tool());
        Done {
            losses,
            replaced,
            contested,
            ..Done::default()
        }
    }

    /// Returns whether a write of this actor was accepted.
    pub fn has_written(&self, who: Id) -> bool {
        self.written.contains(&who)
    }

    /// The lost edits so far, in the order in which they were lost.
    pub fn losses(&self) -> &[Loss<Id>] {
        &self.losses
    }

    /// The edits that were replaced knowingly so far, in the order in which they were replaced.
    pub fn replaced(&self) -> &[Replaced<Id>] {
        &self.replaced
    }

    /// The actors whose last request was refused, and how.
    pub fn who_was_refused(&self) -> &[(Id, RefusalKind)] {
        &self.refused
    }

    /// The kind of refusal if the history ends here. If there are several, a conflict comes first.
    pub fn refusal(&self) -> Option<RefusalKind> {
        self.refused.iter().map(|(_, how)| *how).min()
    }

    /// The edits that got a 2xx and that the server did not store.
    pub fn left_out(&self) -> &[(Id, Arc<Edit>)] {
        &self.left_out
    }

    /// The acknowledged edits that are still in the object.
    pub fn kept_edits(&self) -> &[Acknowledged<Id>] {
        &self.kept
    }

    /// The edits in the object whose writers did not get their answers, and were not shown them since.
    pub fn unanswered_edits(&self) -> &[Acknowledged<Id>] {
        &self.unanswered
    }

    /// Returns whether an acknowledged edit of another actor is still in the object.
    pub fn has_edit_of_other(&self, who: Id) -> bool {
        self.kept.iter().any(|known| known.owner != who)
    }

    /// The newest version that each actor was shown, and the fields that later writes have changed.
    pub fn shown_versions(&self) -> impl Iterator<Item = (Id, Revision, &OrdSet<Arc<Path>>)> {
        let shown = self.shown.iter();
        shown.map(|shown| (shown.who, shown.version, &shown.changed))
    }

    /// The verdict if the history ends here with this stored object.
    pub fn verdict(&self, stored: Option<&Value>, root: &Struct) -> Verdict {
        let mut replaced = self.replaced.iter();
        if !self.losses.is_empty() {
            Verdict::Lost
        } else if !self.refused.is_empty() {
            Verdict::Refused
        } else if !self.left_out.is_empty() {
            Verdict::LeftOut
        } else if replaced.any(|replaced| !replaced.edit.holds_in(stored, root)) {
            Verdict::Replaced
        } else {
            Verdict::InObject
        }
    }
}

/// The version that an object has; the largest number if it has none.
fn version_of(object: &Value) -> Revision {
    object.resource_version().parse().unwrap_or(Revision::MAX)
}

/// Returns the edits that a write meant to make: every change of the object if it had no narrower
/// intention, but not the annotation of client-side apply, which nobody means.
fn meant_edits<'a>(
    intention: Intention<'a>,
    before: Option<&Value>,
    after: Option<&Value>,
    root: &Struct,
) -> Cow<'a, [Arc<Edit>]> {
    let mut edits = match (intention.edits, before, after) {
        (Some(edits), ..) => Cow::Borrowed(edits),
        (None, Some(before), Some(after)) => Cow::Owned(Edit::between(before, after, root)),
        (None, Some(_), None) => Cow::Owned(vec![Edit::deletion()]),
        (None, None, _) => Cow::Borrowed(&[][..]),
    };
    if edits.iter().any(|edit| is_last_applied(&edit.path)) {
        edits.to_mut().retain(|edit| !is_last_applied(&edit.path));
    }
    edits
}

//! What became of everybody's edits in a history.
//!
//! An edit is *acknowledged* once its writer got a 2xx for it. It is *lost* when a later write, by
//! somebody who had not been shown it, takes it away, overwrites it or deletes the object with it,
//! whether it set a field or removed one. It is *replaced knowingly* when somebody does so who had
//! been shown it; a program that reads again and redoes its edit was shown it, and did not look.
//! An edit that already held when it was written was shown to whoever was shown it since it began to
//! hold: a value that went away and came back is another edit than the one that was there before, and
//! who saw only that one was not shown it. All of this is seen from what was shown and what was stored; by which strategy anybody
//! wrote plays no part.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use imbl::OrdSet;
use serde_json::Value;

use optimist_apiserver::apply::{Path, Places};
use optimist_apiserver::schema::Struct;
pub use optimist_client::Edit;

/// An edit that vanished though its writer was told that it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss<Id> {
    /// Whose edit it was.
    pub owner: Id,
    /// The edit, with the value that vanished.
    pub edit: Arc<Edit>,
    /// Who took it away, without having been shown it.
    pub culprit: Id,
    /// The step of the history that did it.
    pub step: usize,
    /// Whether the culprit meant to set that very field: a *blind overwrite*. Otherwise it did not
    /// even mean to touch it.
    pub blind: bool,
}

/// An edit that somebody took away who had been shown it.
#[derive(Clone, Debug, PartialEq)]
pub struct Replaced<Id> {
    /// Whose edit it was.
    pub owner: Id,
    /// The edit, with the value that was replaced.
    pub edit: Arc<Edit>,
    /// Who replaced it.
    pub by: Id,
    /// Whether that was a retry after a conflict, which redoes its edit on whatever it is shown.
    pub retry: bool,
}

/// What became of the edits of a history, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// An edit was lost, and nobody was told.
    Lost,
    /// Somebody was refused and left it at that; nothing was lost.
    Refused,
    /// Somebody was answered 2xx, and the answer shows that the server left the edit out.
    LeftOut,
    /// An acknowledged edit is not in the object: somebody replaced it who had been shown it.
    Replaced,
    /// Every acknowledged edit is in the object.
    InObject,
}

impl Verdict {
    /// All of them, the best first.
    pub const ALL: [Verdict; 5] = [
        Verdict::InObject,
        Verdict::Replaced,
        Verdict::LeftOut,
        Verdict::Refused,
        Verdict::Lost,
    ];
}

/// How somebody was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RefusalKind {
    /// 409: something else is stored, or owned, than was expected.
    Conflict,
    /// 404: the object is gone.
    Gone,
    /// 415, 422 and whatever else: it cannot be done so to this object.
    NotPossible,
}

impl RefusalKind {
    /// All of them.
    pub const ALL: [RefusalKind; 3] = [
        RefusalKind::Conflict,
        RefusalKind::Gone,
        RefusalKind::NotPossible,
    ];

    /// The kind of refusal that a status code is.
    pub fn of(code: u16) -> Self {
        match code {
            409 => RefusalKind::Conflict,
            404 | 410 => RefusalKind::Gone,
            _ => RefusalKind::NotPossible,
        }
    }
}

#[derive(Clone, Debug)]
struct Acknowledged<Id> {
    owner: Id,
    edit: Arc<Edit>,
    /// Who has been shown it.
    readers: Vec<Id>,
}

/// Follows a history step by step. `Id` tells the actors apart.
#[derive(Clone, Debug)]
pub struct UpdateTracker<Id> {
    /// What is acknowledged and still in the object.
    kept: Vec<Acknowledged<Id>>,
    losses: Vec<Loss<Id>>,
    replaced: Vec<Replaced<Id>>,
    /// Whose last request was refused, and how.
    refused: Vec<(Id, RefusalKind)>,
    left_out: Vec<(Id, Arc<Edit>)>,
    /// Whose writes were accepted.
    written: Vec<Id>,
    /// The object as each one was last shown it.
    shown: Vec<Shown<Id>>,
}

/// The object as somebody was last shown it.
#[derive(Clone, Debug)]
struct Shown<Id> {
    who: Id,
    object: Arc<Value>,
    /// The fields that writes have changed since then, and perhaps changed back.
    changed: OrdSet<Path>,
}

impl<Id> Shown<Id> {
    /// Whether a field that an object at these places has was changed since.
    fn is_changed(&self, path: &Path) -> bool {
        any_overlaps(&self.changed, path)
    }
}

impl<Id> Default for UpdateTracker<Id> {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            losses: Vec::new(),
            replaced: Vec::new(),
            refused: Vec::new(),
            left_out: Vec::new(),
            written: Vec::new(),
            shown: Vec::new(),
        }
    }
}

/// What an accepted write did to the edits.
#[derive(Clone, Debug, PartialEq)]
pub struct Done<Id> {
    /// The edits of others that it took away and that its writer had not been shown.
    pub losses: Vec<Loss<Id>>,
    /// The edits of others that it took away and that its writer had been shown.
    pub replaced: Vec<Replaced<Id>>,
    /// What its writer meant, and the server left out.
    pub left_out: Vec<Arc<Edit>>,
}

/// One accepted write, as the updates wants to know it.
#[derive(Clone, Copy, Debug)]
pub struct Accepted<'a> {
    /// The number of the step.
    pub step: usize,
    /// What the writer meant to change.
    pub edits: &'a [Arc<Edit>],
    /// What was stored before; `None` if nothing was.
    pub before: Option<&'a Arc<Value>>,
    /// What is stored now; `None` if nothing is.
    pub after: Option<&'a Arc<Value>>,
    /// The fields that are not stored as they were before; the empty path is the whole object.
    pub changed: &'a [Path],
    /// Whether the answer showed its writer the object: a Scale does not.
    pub shown: bool,
    /// Whether its writer reads again and redoes its edits after a conflict, without looking.
    pub retries: bool,
    /// The schema of the object.
    pub root: &'a Struct,
}

impl<Id: Copy + PartialEq> UpdateTracker<Id> {
    /// Somebody was shown the object as it is stored.
    pub fn read(&mut self, who: Id, object: &Arc<Value>) {
        for edit in &mut self.kept {
            if !edit.readers.contains(&who) {
                edit.readers.push(who);
            }
        }
        self.shown.retain(|shown| shown.who != who);
        self.shown.push(Shown {
            who,
            object: Arc::clone(object),
            changed: OrdSet::new(),
        });
    }

    /// Somebody's request was refused.
    pub fn refused(&mut self, who: Id, how: RefusalKind) {
        self.refused.retain(|(refused, _)| *refused != who);
        self.refused.push((who, how));
    }

    /// Somebody's write was accepted.
    pub fn accepted(&mut self, who: Id, write: Accepted<'_>) -> Done<Id> {
        let (before, after) = (
            write.before.map(|object| &**object),
            write.after.map(|object| &**object),
        );
        let refused = self.refused.iter().find(|(refused, _)| *refused == who);
        let retry = write.retries && refused.is_some_and(|(_, how)| *how == RefusalKind::Conflict);
        self.refused.retain(|(refused, _)| *refused != who);
        if !self.written.contains(&who) {
            self.written.push(who);
        }
        let (mut before, mut after) = (before.map(Places::of), after.map(Places::of));
        let mut done = self.take_away(who, &write, after.as_mut(), retry);
        let others = self.shown.iter().filter(|shown| shown.who != who);
        let mut others: Vec<(&Shown<Id>, Places<'_>)> = others
            .map(|shown| (shown, Places::of(&shown.object)))
            .collect();
        let mut stored = Vec::new();
        for edit in write.edits {
            let Some(edit) = edit.as_stored(before.as_mut(), after.as_mut(), write.root) else {
                done.left_out.push(Arc::clone(edit));
                continue;
            };
            // Else it took the object away with it: the last finalizer.
            let holds = edit.holds_at(after.as_mut(), write.root);
            let mut readers = vec![who];
            if holds && edit.holds_at(before.as_mut(), write.root) {
                let saw = others.iter_mut().filter_map(|(shown, it)| {
                    let same = edit.holds_at(Some(it), write.root) && !shown.is_changed(&edit.path);
                    same.then_some(shown.who)
                });
                readers.extend(saw);
            }
            let edit = Acknowledged {
                owner: who,
                edit: Arc::new(edit),
                readers,
            };
            stored.push((edit, holds));
        }
        drop(others);
        for shown in &mut self.shown {
            shown.changed.extend(write.changed.iter().cloned());
        }
        self.acknowledge(who, stored);
        let left_out = done.left_out.iter();
        self.left_out
            .extend(left_out.map(|edit| (who, Arc::clone(edit))));
        self.losses.extend(done.losses.iter().cloned());
        self.replaced.extend(done.replaced.iter().cloned());
        if let Some(object) = write.after.filter(|_| write.shown) {
            self.read(who, object);
        }
        done
    }

    /// Keeps the edits of somebody that hold. What one writes oneself again counts once.
    fn acknowledge(&mut self, who: Id, edits: Vec<(Acknowledged<Id>, bool)>) {
        let last: BTreeMap<Path, usize> = edits
            .iter()
            .enumerate()
            .map(|(i, (known, _))| (known.edit.path.clone(), i))
            .collect();
        self.kept
            .retain(|known| known.owner != who || !last.contains_key(&known.edit.path));
        for (i, (known, holds)) in edits.into_iter().enumerate() {
            if holds && last.get(&known.edit.path) == Some(&i) {
                self.kept.push(known);
            }
        }
    }

    /// Strikes out what is no longer in the object.
    fn take_away(
        &mut self,
        who: Id,
        write: &Accepted<'_>,
        mut after: Option<&mut Places<'_>>,
        retry: bool,
    ) -> Done<Id> {
        let meant: OrdSet<&Path> = write.edits.iter().map(|edit| &edit.path).collect();
        let (mut losses, mut replaced) = (Vec::new(), Vec::new());
        self.kept.retain(|known| {
            if known.edit.holds_at(after.as_deref_mut(), write.root) {
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
                    step: write.step,
                });
            }
            false
        });
        Done {
            losses,
            replaced,
            left_out: Vec::new(),
        }
    }

    /// Whether a write of somebody's was accepted.
    pub fn has_written(&self, who: Id) -> bool {
        self.written.contains(&who)
    }

    /// What was lost so far, in the order in which it was.
    pub fn losses(&self) -> &[Loss<Id>] {
        &self.losses
    }

    /// What was replaced so far by those who had been shown it, in the order in which it was.
    pub fn replaced(&self) -> &[Replaced<Id>] {
        &self.replaced
    }

    /// Whose last request was refused, and how.
    pub fn who_was_refused(&self) -> &[(Id, RefusalKind)] {
        &self.refused
    }

    /// How somebody was refused, should the history end here; of several, a conflict first.
    pub fn refusal(&self) -> Option<RefusalKind> {
        self.refused.iter().map(|(_, how)| *how).min()
    }

    /// Edits that were answered 2xx and that the server left out.
    pub fn left_out(&self) -> &[(Id, Arc<Edit>)] {
        &self.left_out
    }

    /// What is acknowledged and still in the object: whose it is, and who has been shown it.
    pub fn kept(&self) -> impl Iterator<Item = (Id, &Arc<Edit>, &[Id])> {
        self.kept
            .iter()
            .map(|known| (known.owner, &known.edit, known.readers.as_slice()))
    }

    /// The verdict, should the history end here with this object stored.
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

/// Whether one of some paths overlaps with a path: leads to it, or into it.
fn any_overlaps<P: Borrow<Path> + Ord + Clone>(paths: &OrdSet<P>, path: &Path) -> bool {
    let mut begin = Path(Vec::with_capacity(path.0.len()));
    for element in std::iter::once(None).chain(path.0.iter().map(Some)) {
        begin.0.extend(element.cloned());
        if paths.contains::<Path>(&begin) {
            return true;
        }
    }
    let mut next = paths.range::<_, Path>((Bound::Included(path), Bound::Unbounded));
    next.next().is_some_and(|next| next.borrow().overlaps(path))
}

//! What became of everybody's edits in a history.
//!
//! An edit is *acknowledged* once its writer got a 2xx for it. It is *lost* when a later write, by
//! somebody who had not read it, takes it away or overwrites it. It is no loss when somebody who
//! had read it changes it. All of this is seen from what was read and what was stored; by which
//! strategy anybody wrote plays no part.

use std::sync::Arc;

use serde_json::Value;

use optimist_apiserver::apply::{Path, PathElement, Set, differing};
use optimist_apiserver::schema::Struct;

/// A field and what somebody wants it to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The field; the empty path is the whole object.
    pub path: Path,
    /// Its value; `None` if it is to be gone.
    pub value: Option<Value>,
}

/// An edit that vanished though its writer was told that it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss<Id> {
    /// Whose edit it was.
    pub owner: Id,
    /// The edit, with the value that vanished.
    pub edit: Arc<Edit>,
    /// Who took it away, without having read it.
    pub culprit: Id,
    /// The step of the history that did it.
    pub step: usize,
    /// Whether the culprit meant to set that very field: a *blind overwrite*. Otherwise it did not
    /// even mean to touch it.
    pub blind: bool,
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
    /// Every acknowledged edit is in the object, or was changed by somebody who had read it.
    Kept,
}

impl Verdict {
    /// All of them, the best first.
    pub const ALL: [Verdict; 4] = [
        Verdict::Kept,
        Verdict::LeftOut,
        Verdict::Refused,
        Verdict::Lost,
    ];
}

#[derive(Clone, Debug)]
struct Acknowledged<Id> {
    owner: Id,
    edit: Arc<Edit>,
    /// Who has read it since.
    readers: Vec<Id>,
}

/// Follows a history step by step. `Id` tells the actors apart.
#[derive(Clone, Debug)]
pub struct Ledger<Id> {
    /// What is acknowledged and still in the object.
    kept: Vec<Acknowledged<Id>>,
    losses: Vec<Loss<Id>>,
    /// Whose last write was refused.
    refused: Vec<Id>,
    left_out: Vec<(Id, Arc<Edit>)>,
}

impl<Id> Default for Ledger<Id> {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            losses: Vec::new(),
            refused: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

/// What an accepted write did beside storing what its writer meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Aside<Id> {
    /// The edits of others that it replaced and that its writer had read, and whose they were: no
    /// losses.
    pub replaced: Vec<(Id, Arc<Edit>)>,
    /// What its writer meant, and the server left out.
    pub left_out: Vec<Arc<Edit>>,
}

/// One accepted write, as the ledger wants to know it.
#[derive(Clone, Copy, Debug)]
pub struct Accepted<'a> {
    /// The number of the step.
    pub step: usize,
    /// What the writer meant to change.
    pub edits: &'a [Arc<Edit>],
    /// What was stored before; `None` if nothing was.
    pub before: Option<&'a Value>,
    /// What is stored now; `None` if nothing is.
    pub after: Option<&'a Value>,
    /// Whether the answer showed its writer the object: a Scale does not.
    pub shown: bool,
}

impl<Id: Copy + PartialEq> Ledger<Id> {
    /// Somebody was shown the object as it is stored.
    pub fn read(&mut self, who: Id) {
        for edit in &mut self.kept {
            if !edit.readers.contains(&who) {
                edit.readers.push(who);
            }
        }
    }

    /// Somebody's write was refused.
    pub fn refused(&mut self, who: Id) {
        if !self.refused.contains(&who) {
            self.refused.push(who);
        }
    }

    /// Somebody's write was accepted.
    pub fn accepted(&mut self, who: Id, write: Accepted<'_>) -> Aside<Id> {
        let Accepted {
            step,
            edits,
            before,
            after,
            shown,
        } = write;
        self.refused.retain(|refused| *refused != who);
        let losses = &mut self.losses;
        let (mut replaced, mut left_out) = (Vec::new(), Vec::new());
        self.kept.retain(|known| {
            if known.edit.holds_in(after) {
                return true;
            }
            if known.owner != who && known.readers.contains(&who) {
                replaced.push((known.owner, Arc::clone(&known.edit)));
            } else if known.owner != who {
                losses.push(Loss {
                    owner: known.owner,
                    edit: Arc::clone(&known.edit),
                    culprit: who,
                    step,
                    blind: edits
                        .iter()
                        .any(|edit| edit.path.overlaps(&known.edit.path)),
                });
            }
            false
        });
        for edit in edits {
            match edit.as_stored(before, after) {
                Some(edit) => {
                    // What one writes oneself again counts once.
                    self.kept
                        .retain(|known| known.owner != who || known.edit.path != edit.path);
                    self.kept.push(Acknowledged {
                        owner: who,
                        edit: Arc::new(edit),
                        readers: vec![who],
                    });
                }
                None => left_out.push(Arc::clone(edit)),
            }
        }
        let known = left_out.iter().map(|edit| (who, Arc::clone(edit)));
        self.left_out.extend(known);
        if shown {
            self.read(who);
        }
        Aside { replaced, left_out }
    }

    /// What was lost since this was last asked, in the order in which it was.
    pub fn take_losses(&mut self) -> Vec<Loss<Id>> {
        std::mem::take(&mut self.losses)
    }

    /// What was lost so far, in the order in which it was.
    pub fn losses(&self) -> &[Loss<Id>] {
        &self.losses
    }

    /// Whose last write was refused.
    pub fn who_was_refused(&self) -> &[Id] {
        &self.refused
    }

    /// Edits that were answered 2xx and that the server left out.
    pub fn left_out(&self) -> &[(Id, Arc<Edit>)] {
        &self.left_out
    }

    /// What is acknowledged and still in the object: whose it is, and who has read it.
    pub fn kept(&self) -> impl Iterator<Item = (Id, &Arc<Edit>, &[Id])> {
        self.kept
            .iter()
            .map(|known| (known.owner, &known.edit, known.readers.as_slice()))
    }

    /// The verdict, should the history end here.
    pub fn verdict(&self) -> Verdict {
        if !self.losses.is_empty() {
            Verdict::Lost
        } else if !self.refused.is_empty() {
            Verdict::Refused
        } else if !self.left_out.is_empty() {
            Verdict::LeftOut
        } else {
            Verdict::Kept
        }
    }
}

impl Edit {
    /// What was changed between an object as it was read and as it was edited. Items that were only
    /// added to a list without keys, or only taken away, are an edit each. What every write moves by
    /// itself is nobody's edit.
    pub fn between(read: &Value, edited: &Value, root: &Struct) -> Vec<Arc<Edit>> {
        let bookkeeping = Set::of_fields(&[
            &["metadata", "managedFields"],
            &["metadata", "resourceVersion"],
            &["metadata", "generation"],
            &["metadata", "creationTimestamp"],
            &["metadata", "uid"],
        ]);
        let bookkeeping = bookkeeping.paths();
        let mut edits = Vec::new();
        for path in differing(read, edited, root) {
            if bookkeeping.iter().any(|own| own.overlaps(&path)) {
                continue;
            }
            let (before, after) = (path.find(read), path.find(edited));
            if let (Some(Value::Array(before)), Some(Value::Array(after))) = (before, after)
                && let Some(items) = items_between(before, after)
            {
                edits.extend(items.into_iter().map(|(item, added)| {
                    let mut path = path.clone();
                    path.0.push(PathElement::Value(item.clone()));
                    let value = added.then(|| item.clone());
                    Arc::new(Edit { path, value })
                }));
                continue;
            }
            let value = after.cloned();
            edits.push(Arc::new(Edit { path, value }));
        }
        edits
    }

    /// That the object be gone.
    pub fn deletion() -> Arc<Self> {
        Arc::new(Self {
            path: Path(Vec::new()),
            value: None,
        })
    }

    /// Whether a stored object has it.
    pub fn holds_in(&self, object: Option<&Value>) -> bool {
        let found = object.and_then(|object| self.found_in(object));
        match (&self.value, found) {
            (None, None) => true,
            (Some(wanted), Some(found)) => covers(found, wanted),
            _ => false,
        }
    }

    /// What an object has at its place. An item of a list without keys is there if one says as
    /// much, for the server may have filled it up.
    fn found_in<'a>(&self, object: &'a Value) -> Option<&'a Value> {
        let Some((PathElement::Value(item), list)) = self.path.0.split_last() else {
            return self.path.find(object);
        };
        let items = Path(list.to_vec()).find(object)?.as_array()?;
        items.iter().find(|found| covers(found, item))
    }

    /// The edit as the server stored it, which may have put it in another form; `None` if it left
    /// it out.
    fn as_stored(&self, before: Option<&Value>, after: Option<&Value>) -> Option<Self> {
        let at = |object: Option<&Value>| object.and_then(|object| self.found_in(object).cloned());
        if self.path.0.is_empty() && after.is_some() {
            // Marked for deletion: it goes when its finalizers are gone.
            let field = |name: &str| PathElement::Field(name.to_owned());
            let path = Path(vec![field("metadata"), field("deletionTimestamp")]);
            let value = after.and_then(|object| path.find(object).cloned());
            return value.map(|value| Self {
                path,
                value: Some(value),
            });
        }
        let (before, found) = (at(before), at(after));
        let value = match (&self.value, found) {
            (Some(wanted), Some(found)) => {
                let part = part_of(&found, wanted);
                (part == *wanted || before.as_ref() != Some(&found)).then_some(Some(part))
            }
            (None, None) => Some(None),
            // Removed, and something else came of itself: a default, say.
            (None, Some(found)) if before.as_ref() != Some(&found) => Some(Some(found)),
            _ => None,
        };
        value.map(|value| Self {
            path: self.path.clone(),
            value,
        })
    }
}

/// The items that one list has and another has not, each once and with whether it was added.
/// `None` where that is not all in which the lists differ.
fn items_between<'a>(before: &'a [Value], after: &'a [Value]) -> Option<Vec<(&'a Value, bool)>> {
    let added = after.len() > before.len();
    let (fewer, more) = if added {
        (before, after)
    } else {
        (after, before)
    };
    let mut rest = fewer.iter().peekable();
    let mut items: Vec<(&Value, bool)> = Vec::new();
    for item in more {
        if rest.next_if_eq(&item).is_none() {
            items.push((item, added));
        }
    }
    let once = |(i, (item, _)): (usize, &(&Value, bool))| {
        !fewer.contains(item) && items.iter().skip(i + 1).all(|(other, _)| other != item)
    };
    (rest.next().is_none() && items.iter().enumerate().all(once)).then_some(items)
}

/// Whether a value has everything that another one says.
fn covers(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => wanted
            .iter()
            .all(|(name, wanted)| found.get(name).is_some_and(|found| covers(found, wanted))),
        (Value::Array(found), Value::Array(wanted)) => {
            found.len() == wanted.len()
                && found
                    .iter()
                    .zip(wanted)
                    .all(|(found, wanted)| covers(found, wanted))
        }
        _ => found == wanted,
    }
}

/// Of a value, what another one says something about.
fn part_of(found: &Value, wanted: &Value) -> Value {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => wanted
            .iter()
            .filter_map(|(name, wanted)| {
                let found = found.get(name)?;
                Some((name.clone(), part_of(found, wanted)))
            })
            .collect(),
        (Value::Array(found), Value::Array(wanted)) if found.len() == wanted.len() => {
            let items = found.iter().zip(wanted);
            items
                .map(|(found, wanted)| part_of(found, wanted))
                .collect()
        }
        _ => found.clone(),
    }
}

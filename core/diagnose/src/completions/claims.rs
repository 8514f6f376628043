//! Draws the claims from runs under several answers that hold in all of them.

use std::collections::{BTreeMap, BTreeSet};

use optimist_apiserver::apply::{Manager, Path};
use serde_json::Value;

use super::{CompletedChange, CompletionAnswer, OpenQuestion, Then, annotation};
use crate::ownership::label;
use crate::ways::{FieldEffect, FieldOutcome, Remedy, Row};

impl CompletedChange {
    /// Returns a row with the claims that hold in all runs of a way. `None` if the way cannot carry the change.
    pub(super) fn claimed(&self, runs: Vec<Option<Row>>) -> Option<Row> {
        let mut runs = runs.into_iter();
        let first = runs.next()??;
        let others = self.others.iter().map(|(answer, _)| answer).zip(runs);
        let others: Vec<(&CompletionAnswer, Row)> = others
            .filter_map(|(answer, row)| Some((answer, row?)))
            .collect();
        Some(self.common(first, others))
    }

    /// Returns the ways out with the claims that hold in all their runs. A way out that does not exist under all
    /// answers is left out.
    pub(super) fn claimed_out(&self, runs: Vec<Vec<Remedy>>) -> Vec<Remedy> {
        let mut runs = runs.into_iter();
        let firsts = runs.next().unwrap_or_default();
        let others: Vec<Vec<Remedy>> = runs.collect();
        let claimed = firsts.into_iter().filter_map(|first| {
            let kind = first.kind;
            let of_kind = |outs: &Vec<Remedy>| outs.iter().find(|out| out.kind == kind).cloned();
            // Where there is no conflict, there are no ways out of it.
            let runs = self.others.iter().map(|(answer, _)| answer).zip(&others);
            let runs = runs.filter(|(_, outs)| !outs.is_empty());
            let found: Option<Vec<(&CompletionAnswer, Remedy)>> = runs
                .map(|(answer, outs)| Some((answer, of_kind(outs)?)))
                .collect();
            Some(self.common_out(first, found?))
        });
        claimed.collect()
    }

    fn common_out(&self, first: Remedy, others: Vec<(&CompletionAnswer, Remedy)>) -> Remedy {
        let settles = first.settles;
        let invalid = |out: &Remedy| self.is_of_values(&out.row);
        let valid = others.iter().filter(|(_, out)| !invalid(out));
        let differs = valid.filter(|(_, out)| out.settles != settles);
        let then = |settles: bool| {
            if settles {
                Then::Settles
            } else {
                Then::DoesNotSettle
            }
        };
        let questions: Vec<OpenQuestion> = differs
            .map(|(answer, out)| OpenQuestion {
                answer: (*answer).clone(),
                then: then(out.settles),
            })
            .collect();
        let others_own = first.others_own && others.iter().all(|(_, out)| out.others_own);
        let may_write =
            first.client_side_may_write && others.iter().all(|(_, out)| out.client_side_may_write);
        let rows = others.into_iter().map(|(answer, out)| (answer, out.row));
        let invalid = invalid(&first);
        let mut row = self.common(first.row, rows.collect());
        // A run that made-up values ended says nothing.
        if !invalid {
            row.open.extend(questions.iter().cloned());
        }
        Remedy {
            settles: settles && questions.is_empty(),
            others_own,
            client_side_may_write: may_write,
            row,
            ..first
        }
    }

    /// Returns whether a run was refused for values that are made up: they say nothing of the real ones.
    fn is_of_values(&self, row: &Row) -> bool {
        self.is_made_up() && row.code == Some(422)
    }

    /// Returns a row with the claims that hold in all rows of one way.
    fn common(&self, mut first: Row, mut others: Vec<(&CompletionAnswer, Row)>) -> Row {
        others.retain(|(_, row)| !self.is_of_values(row));
        if self.is_of_values(&first) {
            // The first completion that the server takes is taken in its place.
            let Some(at) = others.iter().position(|(answer, _)| !is_of_kind(answer)) else {
                return unknown(first);
            };
            let (_, other) = others.remove(at);
            first = other;
        }
        let mut open = Vec::new();
        for (answer, row) in &others {
            let mut add = |then: Then| {
                let answer = (*answer).clone();
                open.push(OpenQuestion { answer, then });
            };
            if row.code != first.code {
                add(Then::Code {
                    first: first.code,
                    other: row.code,
                });
                continue;
            }
            if row.is_written() != first.is_written() {
                let changes = row.is_written();
                add(Then::Written { changes });
            }
            // With the same code, both have a second run, or none.
            let again = |row: &Row| row.second_run.as_ref().map(|again| again.changes);
            if let Some(changes) = again(row).filter(|_| again(row) != again(&first)) {
                add(Then::SecondRun { changes });
            }
            self.different_fields(&first, row)
                .into_iter()
                .for_each(&mut add);
            if self.others_vanish(row) {
                add(Then::OthersVanish);
            }
        }
        self.keep_common(&mut first, &others, &open);
        first.open = open;
        first.values_made_up = self.is_made_up();
        first
    }

    /// Keeps in the first row only the results that hold in the others.
    fn keep_common(
        &self,
        first: &mut Row,
        others: &[(&CompletionAnswer, Row)],
        open: &[OpenQuestion],
    ) {
        let is_open = |of: fn(&Then) -> bool| open.iter().any(|one| of(&one.then));
        if is_open(|then| matches!(then, Then::Code { .. })) {
            first.code = None;
            first.reason.clear();
            first.message.clear();
            first.causes.clear();
        }
        if is_open(|then| matches!(then, Then::Code { .. } | Then::SecondRun { .. })) {
            first.second_run = None;
        }
        let made_up = self.is_made_up();
        // An object that was printed without owners has some all the same.
        let unowned = !made_up && others.iter().any(|(answer, _)| is_of_owners(answer));
        let writer = first.writer.clone();
        first.fields.retain_mut(|outcome| {
            let found = others.iter().map(|(_, row)| {
                let mut fields = row.fields.iter();
                fields.find(|other| is_same(outcome, other, made_up))
            });
            let Some(found) = found.collect::<Option<Vec<&FieldOutcome>>>() else {
                return false;
            };
            let same = |other: &&FieldOutcome| is_same_change(outcome, other, &writer);
            if unowned || !found.iter().all(same) {
                // Its value is known, and its owners are not.
                outcome.effect = kind_of(outcome.effect);
                outcome.owners_before.clear();
                outcome.owners_after.clear();
                outcome.refused_by.clear();
            }
            self.is_named(&outcome.field)
        });
        first.taken_back.retain(|one| {
            let back = |row: &Row| row.taken_back.contains(one);
            self.is_named(&one.field) && others.iter().all(|(_, row)| back(row))
        });
        let warns = |row: &Row, warning: &String| row.warnings.contains(warning);
        first
            .warnings
            .retain(|warning| others.iter().all(|(_, row)| warns(row, warning)));
    }

    /// Returns whether the text names a field, or one above or below it.
    fn is_named(&self, field: &Path) -> bool {
        self.named.as_ref().is_none_or(|named| {
            let mut named = named.iter();
            named.any(|one| one.0.starts_with(&field.0) || field.0.starts_with(&one.0))
        })
    }

    /// Says what becomes, in another row, of the fields of which the first one says something else.
    fn different_fields(&self, first: &Row, other: &Row) -> Vec<Then> {
        let made_up = self.is_made_up();
        let has = |row: &Row, outcome: &FieldOutcome| {
            row.fields.iter().any(|it| is_same(it, outcome, made_up))
        };
        let named = |row: &&FieldOutcome| self.is_named(&row.field);
        let (mut vanish, mut reset) = (Vec::new(), Vec::new());
        let mut effects: BTreeMap<FieldEffect, Vec<Path>> = BTreeMap::new();
        for outcome in other.fields.iter().filter(named) {
            if has(first, outcome) {
                continue;
            }
            let field = outcome.field.clone();
            let effect = kind_of(outcome.effect);
            match effect {
                FieldEffect::Removed => vanish.push(field),
                FieldEffect::Changed if outcome.after != outcome.wanted => reset.push(field),
                _ => effects.entry(effect).or_default().push(field),
            }
        }
        let fields = |row: &Row| row.fields.iter().map(|it| it.field.clone()).collect();
        let there: BTreeSet<Path> = fields(other);
        let missing = first.fields.iter().filter(named);
        let missing = missing.map(|outcome| outcome.field.clone());
        let none = missing.filter(|field| !there.contains(field)).collect();
        let effects = effects.into_iter();
        let effects = effects.map(|(effect, fields)| Then::Effect(effect, fields));
        let all = [
            (Then::Vanish as fn(Vec<Path>) -> Then, vanish),
            (Then::Reset, reset),
            (Then::NoEffect, none),
        ];
        let some = all.into_iter().filter(|(_, fields)| !fields.is_empty());
        let some = some.map(|(then, fields)| then(fields));
        some.chain(effects).collect()
    }

    /// Returns whether fields vanish that the text does not name.
    fn others_vanish(&self, row: &Row) -> bool {
        let mut removed = row.with(FieldEffect::Removed);
        let annotation = annotation();
        removed
            .any(|outcome| !self.is_named(&outcome.field) && !annotation.contains(&outcome.field))
    }
}

fn is_of_owners(answer: &CompletionAnswer) -> bool {
    matches!(
        answer,
        CompletionAnswer::OwnedByApplier
            | CompletionAnswer::OwnedByClientSideApply
            | CompletionAnswer::AppliedBefore
    )
}

fn is_of_kind(answer: &CompletionAnswer) -> bool {
    matches!(answer, CompletionAnswer::Kind { .. })
}

/// A row of which nothing is known: the server took no values that were made up.
fn unknown(mut row: Row) -> Row {
    row.code = None;
    row.reason.clear();
    row.message.clear();
    row.causes.clear();
    row.fields.clear();
    row.taken_back.clear();
    row.warnings.clear();
    row.second_run = None;
    row.values_made_up = true;
    row.open = vec![OpenQuestion {
        answer: CompletionAnswer::OtherValues,
        then: Then::NoValidValues,
    }];
    row
}

/// Returns whether the same becomes of the value of a field. Of values that are made up counts only whether they
/// stay, go, or are those of the manifest; of a refused field nothing becomes, whatever its value is.
fn is_same(one: &FieldOutcome, other: &FieldOutcome, made_up: bool) -> bool {
    let values = |it: &FieldOutcome| {
        let equal = |of: &Option<Value>| of.is_some() && *of == it.after;
        (it.after.is_some(), equal(&it.before), equal(&it.wanted))
    };
    let same = one.field == other.field && kind_of(one.effect) == kind_of(other.effect);
    same && if made_up {
        one.effect == FieldEffect::Refused || values(one) == values(other)
    } else {
        one.after == other.after
    }
}

/// An effect, whoever owned the field.
fn kind_of(effect: FieldEffect) -> FieldEffect {
    match effect {
        FieldEffect::TakenOver => FieldEffect::Changed,
        effect => effect,
    }
}

/// Returns whether the same managers but the writer lose a field, and the same get it.
fn is_same_change(one: &FieldOutcome, other: &FieldOutcome, writer: &str) -> bool {
    let but = |managers: &[Manager], others: &[Manager]| {
        let own = managers
            .iter()
            .filter(|it| it.name != writer && !others.contains(it));
        own.map(label).collect::<BTreeSet<String>>()
    };
    let change = |it: &FieldOutcome| {
        let (before, after) = (&it.owners_before, &it.owners_after);
        (but(before, after), but(after, before))
    };
    if one.effect == FieldEffect::Refused {
        return one.refused_by == other.refused_by;
    }
    change(one) == change(other)
}

/// The known effect of a way out on the conflict, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RemedyEffect {
    /// It does.
    Settles,
    /// It does under some answers.
    Depends,
    /// It does not.
    DoesNotSettle,
}

impl Remedy {
    /// Returns whether it settles the conflict, as far as that is known.
    pub fn settling(&self) -> RemedyEffect {
        let depends = |then: &Then| {
            matches!(
                then,
                Then::Settles | Then::DoesNotSettle | Then::Code { .. } | Then::NoValidValues
            )
        };
        // What agrees with a manager that runs all the time never settles.
        if self.settles {
            RemedyEffect::Settles
        } else if self.row.open.iter().any(|one| depends(&one.then)) {
            RemedyEffect::Depends
        } else {
            RemedyEffect::DoesNotSettle
        }
    }
}

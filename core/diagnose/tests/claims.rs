//! The truth of claims: what is claimed from a message alone is never contradicted by an object that
//! fits the message. Random objects are written by random clients until an apply is refused. The
//! message of that refusal alone is read, and what is claimed of it is compared with what happens to the
//! real object.
//!
//! `OPTIMIST_CLAIMS` sets how many refusals are tried.

use optimist_diagnose::completions::{CompletedChange, RemedyEffect, Then};
use optimist_diagnose::message::reported_errors;
use optimist_diagnose::scene::{GivenParts, Scene};
use optimist_diagnose::ways::{ChangeTable, FieldEffect, FieldOutcome, OnOwned, Row, Way};
use proptest::strategy::{Strategy, ValueTree};

use crate::written::{Written, change, histories, number, object_of, printed, runner, tell};

/// The number of times that something was checked.
#[derive(Debug, Default)]
struct Counts {
    refusals: usize,
    without_scene: usize,
    rows: usize,
    open: usize,
    claims: usize,
    outs: usize,
    settling: usize,
}

#[test]
fn no_claim_from_a_message_is_contradicted_by_an_object_that_fits_it() {
    let wanted = number("OPTIMIST_CLAIMS", 10);
    let mut runner = runner();
    let mut counts = Counts::default();
    let mut tried = 0;
    while counts.refusals < wanted && tried < wanted * 60 {
        tried += 1;
        let history = histories().new_tree(&mut runner).expect("it is made");
        let (before, last) = history.current();
        check(&before, &last, &mut counts);
    }
    println!("{tried} histories: {counts:?}");
    tell(
        "messages and objects",
        &format!(
            "{} claims from {} refusals compared",
            counts.claims, counts.refusals
        ),
    );
    assert!(counts.claims > counts.refusals * 10, "{counts:?}");
}

fn check(before: &[Written], last: &Written, counts: &mut Counts) {
    let Way::Client(preset, _) = last.way else {
        return;
    };
    let Some(installed) = object_of(before) else {
        return;
    };
    let real = ChangeTable::new(&installed, change(last));
    let refused = real.row(Way::Client(preset, OnOwned::Usual));
    let refused = refused.filter(|row| row.with(FieldEffect::Refused).next().is_some());
    let Some(refused) = refused else {
        return;
    };
    counts.refusals += 1;
    let text = printed(preset, &refused.message, &refused.before);
    let errors = reported_errors(&text);
    let [error] = &errors[..] else {
        panic!("{text}");
    };
    let given = GivenParts {
        kind: refused.before["kind"].as_str().map(str::to_owned),
        manager: Some(refused.writer.clone()),
        ..GivenParts::default()
    };
    // Half of them come with their manifest.
    let given = match counts.refusals.is_multiple_of(2) {
        true => given.or_of_manifest(&last.manifest),
        false => given,
    };
    let Ok(scene) = Scene::rebuild(error, &given) else {
        counts.without_scene += 1;
        return;
    };
    let Some(mut claimed) = CompletedChange::of_scene(&scene, error, &given) else {
        return;
    };
    claimed.complete();
    // The rows are of the same writer.
    let mut of_writer = change(last);
    of_writer.manager = Some(refused.writer.clone());
    of_writer.refused = Some((preset, refused.writer.clone()));
    let real = ChangeTable::new(&installed, of_writer);
    let label = || format!("{text}\n{}\n{}", refused.before, last.manifest);
    for way in Way::all() {
        let (Some(claim), Some(real)) = (claimed.row(way), real.row(way)) else {
            continue;
        };
        counts.rows += 1;
        counts.open += usize::from(!claim.open.is_empty());
        counts.claims += holds(&claim, &real, &label);
    }
    let outs = real.remedies(preset);
    for claim in claimed.remedies(preset) {
        let real = outs.iter().find(|out| out.kind == claim.kind);
        let Some(real) = real.filter(|real| real.row.code != Some(422)) else {
            continue;
        };
        counts.outs += 1;
        match claim.settling() {
            RemedyEffect::Settles => {
                counts.settling += 1;
                assert!(real.settles, "{:?} settles\n{}", claim.kind, label());
            }
            RemedyEffect::Depends => {}
            RemedyEffect::DoesNotSettle => {
                assert!(
                    !real.settles,
                    "{:?} does not settle\n{}",
                    claim.kind,
                    label()
                );
            }
        }
        counts.claims += holds(&claim.row, &real.row, &label);
    }
}

/// Returns whether what is claimed of a way holds in a run of it. How many claims there are.
fn holds(claim: &Row, real: &Row, label: &dyn Fn() -> String) -> usize {
    // Values that the server does not take are said to be taken for granted.
    if real.code == Some(422) {
        return 0;
    }
    let is_open = |of: fn(&Then) -> bool| claim.open.iter().any(|one| of(&one.then));
    if is_open(|then| matches!(then, Then::Code { .. } | Then::NoValidValues)) {
        return 0;
    }
    let way = claim.way;
    assert_eq!(
        claim.code,
        real.code,
        "{way:?} {}\n{}",
        real.message,
        label()
    );
    let mut claims = 1;
    // Said is only that nothing changed.
    if !claim.is_written() && !is_open(|then| matches!(then, Then::Written { .. })) {
        assert!(!real.is_written(), "{way:?} writes\n{}", label());
        claims += 1;
    }
    if let Some(again) = &claim.second_run {
        let real = real.second_run.as_ref();
        assert_eq!(
            Some(again.changes),
            real.map(|again| again.changes),
            "{way:?} again\n{}",
            label()
        );
        claims += 1;
    }
    for field in &claim.fields {
        let mut fields = real.fields.iter();
        let found = fields.find(|it| it.field == field.field);
        let found = found.map(kind_of);
        assert_eq!(
            found,
            Some(kind_of(field)),
            "{way:?} {}\n{}",
            field.field,
            label()
        );
        claims += 1;
    }
    for back in &claim.taken_back {
        assert!(
            real.taken_back.contains(back),
            "{way:?} {}\n{}",
            back.field,
            label()
        );
        claims += 1;
    }
    claims
}

/// Returns the effect on a value, and whether it is the stored one or that of the manifest.
fn kind_of(field: &FieldOutcome) -> (FieldEffect, bool, bool) {
    let effect = match field.effect {
        FieldEffect::TakenOver => FieldEffect::Changed,
        effect => effect,
    };
    let stays = field.before == field.after;
    (effect, field.after.is_some(), stays)
}

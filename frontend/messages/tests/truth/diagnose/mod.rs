//! Random objects, written by random clients, and pasted: what Diagnose says of each.

mod cases;
mod document;
mod log;
mod logs;
mod outs;
pub mod owned;
#[path = "../../../../state/tests/slices/page.rs"]
#[allow(dead_code)]
pub mod page;
mod pasted;
mod previewed;
mod rare;
mod rows;
mod seen;
mod served;
mod versions;
#[path = "../../../../../core/diagnose/tests/written/mod.rs"]
#[allow(dead_code)]
mod written;

use optimist_apiserver::apply::Path;
use optimist_client::Preset;
use optimist_diagnose::audit::{AuditReader, MAX_EVENTS};
use optimist_diagnose::case::{Case, Installed};
use optimist_diagnose::completions::{CompletedChange, OpenQuestion, Then};
use optimist_diagnose::input::detect;
use optimist_diagnose::message::reported_errors;
use optimist_diagnose::scene::{GivenParts, Scene};
use optimist_diagnose::ways::{
    CaseContent, ChangeTable, FieldEffect, OnOwned, Remedy, Row, WantedChange, Way,
};
use optimist_messages::diagnose as messages;
use optimist_simulation::HistoryTree;
use optimist_state::{DiagnoseMsg, RecordedSource, SelectedStep};
use proptest::strategy::{Strategy, ValueTree};
use serde_json::Value;

use crate::hearing::{ConditionOf, Conditions, Hearing};
use crate::random::Random;
use crate::said;
use document::DOCUMENT;
use log::{LOG, Recorded, STEPS};
pub use logs::quiet as quiet_log;
use outs::{OUTS, Out};
use page::Page;
use pasted::Pasted;
pub use rows::named as rows_named;
use rows::{FieldRun, ROWS, Run, field_conditions};
use versions::VERSIONS;
use written::{Written, change, histories, object_of, printed, runner};

/// The number of objects that are written, times `OPTIMIST_TRUTH`.
const OBJECTS: u64 = 12;

fn of_writes() -> Vec<&'static str> {
    let fields = field_conditions();
    let mut all: Vec<&'static str> = fields.keys().copied().collect();
    all.extend(ROWS.iter().map(|(name, _)| name));
    all.extend(OUTS.iter().map(|(name, _)| name));
    all
}

fn of_texts() -> Vec<&'static str> {
    let mut all: Vec<&'static str> = texts().keys().copied().collect();
    all.extend(STEPS.iter().chain(LOG).map(|(name, _)| name));
    all.extend(NEXT.iter().map(|(name, _)| name));
    all.extend(seen::LINES.iter().map(|(name, _)| name));
    all.extend(seen::VERSION.iter().map(|(name, _)| name));
    all.extend(previewed::names());
    all
}

/// The names of all messages that have a condition here.
pub fn names() -> Vec<&'static str> {
    let mut all = of_writes();
    all.extend(of_texts());
    all.sort_unstable();
    all.dedup();
    all
}

/// A listener to the sentences about writes.
#[derive(Default)]
struct Listener {
    hearing: Hearing,
}

impl Listener {
    fn row(&mut self, row: &Row, run: &Run) {
        let conditions: Conditions<Run> = ROWS.iter().copied().collect();
        let told = || format!("   {:?}\n{}", row.way, run.told());
        let mut texts = messages::row_notes(row);
        texts.push(messages::row_answer(row));
        texts.push(messages::more_fields(&run.columns));
        texts.extend(messages::headline(row, None::<std::iter::Empty<&Remedy>>));
        for text in &texts {
            self.hearing.hear(text, &conditions, run, &told);
        }
        let fields = field_conditions();
        for outcome in &row.fields {
            let about = FieldRun {
                run,
                field: outcome.field.clone(),
            };
            let text = messages::field_fate(row, outcome);
            let told = || format!("   {}\n{}", outcome.field, told());
            self.hearing.hear(&text, &fields, &about, &told);
        }
        self.columns(row, run);
        self.unsaid(row, run, &texts);
    }

    /// Hears the sentences of the table about the fields of a message.
    fn columns(&mut self, row: &Row, run: &Run) {
        if !row.values_made_up {
            return;
        }
        let fields = field_conditions();
        for column in &run.columns {
            let about = FieldRun {
                run,
                field: column.clone(),
            };
            let text = messages::column_fate(row, column);
            let told = || format!("   {column} {:?}\n{}", row.way, run.told());
            self.hearing.hear(&text, &fields, &about, &told);
        }
    }

    /// Checks that a sentence says so if values vanish.
    fn unsaid(&mut self, row: &Row, run: &Run, texts: &[String]) {
        let of_list = |place: &Vec<String>| {
            let mut parts = place.iter().filter_map(|part| part.rsplit_once(' '));
            parts.any(|(_, item)| item.parse::<usize>().is_ok())
        };
        let before = crate::judge::leaves(&run.before);
        let gone = owned::gone(&before, &crate::judge::leaves(&run.after));
        let vanishes = gone.iter().any(|place| !of_list(place)) && run.after.is_object();
        let telling = [
            "row_removes",
            "open_vanish",
            "open_others_vanish",
            "open_code",
            "ways_not_known",
            "open_no_effect",
            "open_effect",
        ];
        let said = texts.iter().flat_map(|text| {
            let parts = said::parts(text);
            said::all(&parts)
                .iter()
                .map(|it| it.name())
                .collect::<Vec<_>>()
        });
        let mut said = said;
        // Of a message alone, nothing is said of what it does not name.
        if vanishes && !run.made_up && !said.any(|name| telling.contains(&name)) {
            self.hearing.unsaid(
                "row_removes",
                format!("{gone:?} {:?}\n{}", row.way, run.told()),
            );
        }
    }

    fn outs(
        &mut self,
        installed: &Installed,
        table: &ChangeTable,
        claimed: &CompletedChange,
        preset: Preset,
    ) {
        let conditions: Conditions<Out> = OUTS.iter().copied().collect();
        let Some(manifest) = manifest_of(table.change()) else {
            return;
        };
        let usual = table.row(Way::Client(preset, OnOwned::Usual));
        let contested = usual.iter().flat_map(|row| row.with(FieldEffect::Refused));
        let contested: Vec<Path> = contested.map(|it| it.field.clone()).collect();
        let real = table.remedies(preset);
        let claims = claimed.remedies(preset);
        let unsettled = |out: &Remedy| out.row.second_run.as_ref().is_none_or(|it| it.changes);
        let unsettled = real.iter().filter(|out| unsettled(out)).count();
        for (at, claim) in claims.iter().enumerate() {
            let Some(out) = real.iter().find(|out| out.kind == claim.kind) else {
                continue;
            };
            // What is said of values that are made up holds if the server takes the real ones.
            if claimed.is_made_up() && out.row.code == Some(422) {
                continue;
            }
            let mut about = Out::new(
                installed,
                table.change(),
                &manifest,
                (preset, out),
                contested.clone(),
            );
            about.run.made_up = claimed.is_made_up() || !claim.row.open.is_empty();
            (about.all, about.unsettled) = (claims.len(), unsettled.min(claims.len()));
            let of = format!(
                "   {preset:?} {:?} {:?}\n{}",
                about.kind,
                about.contested,
                about.run.told()
            );
            let told = || of.clone();
            let mut texts = vec![messages::remedy(claim).1];
            if at == 0 && !claimed.is_made_up() {
                texts.push(messages::not_settling(claims.iter()));
            }
            if at == 0
                && let Some(usual) = claimed.row(Way::Client(preset, OnOwned::Usual))
            {
                let headline = messages::headline(&usual, Some(claims.iter()));
                texts.extend(headline);
            }
            let settles = ["open_not_settled", "open_settled"];
            texts.extend(messages::row_notes(&claim.row).into_iter().filter(|text| {
                let parts = said::parts(text);
                said::all(&parts)
                    .iter()
                    .any(|it| settles.contains(&it.name()))
            }));
            if claim.settling() == optimist_diagnose::completions::RemedyEffect::Settles {
                texts.push(messages::out_settles(claim));
            }
            let content = match claimed.is_made_up() {
                true => CaseContent::MadeUp,
                false => CaseContent::Whole,
            };
            let instructions = claimed.first().instructions_out(claim, content);
            if instructions.is_empty() && claimed.is_made_up() {
                texts.push(optimist_messages::label::out_made_up());
            }
            let warnings = instructions.iter().flat_map(|it| &it.warnings);
            texts.extend(warnings.map(messages::instruction_warning));
            for text in &texts {
                self.hearing.hear(text, &conditions, &about, &told);
            }
            for first in instructions.into_iter().filter_map(|it| it.try_first) {
                let tried = optimist_messages::label::instruction_try();
                about.trial = first;
                let told = || format!("   {}", about.trial);
                self.hearing.hear(&tried, &conditions, &about, &told);
            }
        }
    }
}

fn manifest_of(change: &WantedChange) -> Option<Value> {
    match &change.content {
        optimist_diagnose::ways::ChangeContent::Manifest(manifest) => Some(manifest.clone()),
        optimist_diagnose::ways::ChangeContent::Edited(_) => None,
    }
}

/// Returns an object as it was before it was pasted without its owners.
fn without_owners(installed: &Installed) -> Option<Installed> {
    let mut object = (**installed.object()?).clone();
    object["metadata"].as_object_mut()?.remove("managedFields");
    Case::about(object).install().ok()
}

/// Checks what is said of ways of writing: of a table, by what happens to the real object.
fn of_table(
    listener: &mut Listener,
    installed: &Installed,
    claimed: &CompletedChange,
    real: &ChangeTable,
    ways: &[Way],
) {
    let Some(manifest) = manifest_of(real.change()) else {
        return;
    };
    let claims = ways
        .iter()
        .filter_map(|&way| Some((way, claimed.row(way)?)));
    let claims: Vec<(Way, Row)> = claims.collect();
    let columns = columns(&claims);
    for (way, claim) in claims {
        let Some(row) = real.row(way) else {
            continue;
        };
        let mut run = Run::new(installed, real.change(), &manifest, way, &row.requests);
        run.columns.clone_from(&columns);
        run.made_up = claim.values_made_up || !claim.open.is_empty();
        let is_unknown = |it: &OpenQuestion| it.then == Then::NoValidValues;
        // Values that a server does not take are said to be taken for granted.
        if run.made_up && row.code == Some(422) && !claim.open.iter().any(is_unknown) {
            continue;
        }
        for text in messages::row_notes(&claim) {
            for said in said::all(&said::parts(&text)) {
                if said.name() == "open_code" {
                    run.possible
                        .extend([said.text("first"), said.text("other")]);
                }
            }
        }
        listener.row(&claim, &run);
    }
}

/// The fields of the table: those that are to change in one of the rows.
fn columns(rows: &[(Way, Row)]) -> Vec<Path> {
    let fields = rows.iter().flat_map(|(_, row)| &row.fields);
    let changed = fields.filter(|it| it.wanted.is_some() && it.wanted != it.before);
    let mut found: Vec<Path> = Vec::new();
    for outcome in changed {
        if !found.contains(&outcome.field) {
            found.push(outcome.field.clone());
        }
    }
    found
}

/// Some of the ways of writing.
fn some(random: &mut Random) -> Vec<Way> {
    let ways = Way::all();
    (0..7).map(|_| *random.choose(&ways)).collect()
}

/// The clients whose ways out are tried.
const REFUSED: [Preset; 3] = [
    Preset::KubectlApplyServerSide,
    Preset::Helm4,
    Preset::Terraform,
];

/// The cases that chance does not reach, in every way of writing.
fn check_cases(listener: &mut Listener) {
    for cases::WriteCase { installed, change } in cases::writes() {
        let real = ChangeTable::new(&installed, change.clone());
        let mut claimed = CompletedChange::of_input(&installed, &[], change);
        claimed.complete();
        of_table(listener, &installed, &claimed, &real, &Way::all());
        for preset in REFUSED {
            listener.outs(&installed, &real, &claimed, preset);
        }
    }
    for message in cases::messages() {
        for error in reported_errors(&message) {
            let given = GivenParts::default();
            let scene = Scene::rebuild(&error, &given).expect("there is a scene");
            let mut claimed = CompletedChange::of_scene(&scene, &error, &given).expect("an apply");
            claimed.complete();
            let change = scene.change.clone().expect("an apply");
            // The simplest of the objects that fit the message is a real one too.
            let real = ChangeTable::new(&scene.installed, change);
            of_table(listener, &scene.installed, &claimed, &real, &Way::all());
            for preset in REFUSED {
                listener.outs(&scene.installed, &real, &claimed, preset);
            }
        }
    }
}

/// A case: an object that was written, and a manifest to be written.
fn check(listener: &mut Listener, before: &[Written], last: &Written, random: &mut Random) {
    let Some(installed) = object_of(before) else {
        return;
    };
    let wanted = change(last);
    let real = ChangeTable::new(&installed, wanted.clone());
    match random.below(4) {
        0 => {
            let Some(pasted) = without_owners(&installed) else {
                return;
            };
            let mut claimed = CompletedChange::of_input(&pasted, &[], wanted);
            claimed.complete();
            of_table(listener, &installed, &claimed, &real, &some(random));
        }
        1 => of_message(listener, &installed, last, random),
        _ => {
            let mut claimed = CompletedChange::of_input(&installed, &[], wanted);
            claimed.complete();
            of_table(listener, &installed, &claimed, &real, &some(random));
            for preset in REFUSED {
                listener.outs(&installed, &real, &claimed, preset);
            }
        }
    }
}

/// Hears the sentences about the message of a refusal alone, and judges them by the effects on its
/// object.
fn of_message(listener: &mut Listener, installed: &Installed, last: &Written, random: &mut Random) {
    let Way::Client(preset, _) = last.way else {
        return;
    };
    let real = ChangeTable::new(installed, change(last));
    let refused = real.row(Way::Client(preset, OnOwned::Usual));
    let refused = refused.filter(|row| row.with(FieldEffect::Refused).next().is_some());
    let Some(refused) = refused else {
        return;
    };
    let text = printed(preset, &refused.message, &refused.before);
    let errors = reported_errors(&text);
    let Some(error) = errors.first() else {
        return;
    };
    let given = GivenParts {
        kind: refused.before["kind"].as_str().map(str::to_owned),
        manager: Some(refused.writer.clone()),
        ..GivenParts::default()
    };
    // Half of them come with their manifest.
    let given = match random.below(2) == 0 {
        true => given.or_of_manifest(&last.manifest),
        false => given,
    };
    let Ok(scene) = Scene::rebuild(error, &given) else {
        return;
    };
    let Some(mut claimed) = CompletedChange::of_scene(&scene, error, &given) else {
        return;
    };
    claimed.complete();
    let mut of_writer = change(last);
    of_writer.manager = Some(refused.writer.clone());
    of_writer.refused = Some((preset, refused.writer.clone()));
    let real = ChangeTable::new(installed, of_writer);
    of_table(listener, installed, &claimed, &real, &some(random));
    listener.outs(installed, &real, &claimed, preset);
}

#[test]
fn what_diagnose_says_of_writes_is_true() {
    said::by_name();
    let cases = crate::times() * OBJECTS;
    let (mut runner, mut random) = (runner(), Random::new(26));
    let mut listener = Listener::default();
    check_cases(&mut listener);
    let mut tried = 0;
    while tried < cases {
        let history = histories().new_tree(&mut runner).expect("it is made");
        let (before, last) = history.current();
        check(&mut listener, &before, &last, &mut random);
        tried += 1;
    }
    listener
        .hearing
        .conclude("writes", &format!("{cases} objects"), &of_writes());
}

/// The conditions of what is said of texts.
fn texts() -> Conditions<Pasted> {
    let all = DOCUMENT.iter().chain(VERSIONS);
    all.copied().collect()
}

/// The number of cases that are pasted, times `OPTIMIST_TRUTH`.
const CASES: u64 = 40;

/// The Markdown of a case as it was before its marks were escaped.
fn unescaped(markdown: &str) -> String {
    let mut text = String::new();
    let mut chars = markdown.chars().peekable();
    while let Some(next) = chars.next() {
        match chars.peek() {
            Some(mark) if next == '\\' && mark.is_ascii_punctuation() => {}
            _ => text.push(next),
        }
    }
    text
}

/// The conditions of sentences about the two changes after a next write.
const NEXT: &[(&str, ConditionOf<HistoryTree>)] = &[
    ("next_both", |_, tree| {
        let (own, other) = annotations(tree)?;
        Some(own && other)
    }),
    ("next_lost", |said, tree| {
        let (own, other) = annotations(tree)?;
        Some(own && !other && last_code(tree)? == said.number("code")?)
    }),
    ("next_refused", |said, tree| {
        let code = last_code(tree)?;
        Some(code >= 300 && code == said.number("code")? && !annotations(tree)?.0)
    }),
];

/// Returns whether the object has the annotation of the client, and that of the other one.
fn annotations(tree: &HistoryTree) -> Option<(bool, bool)> {
    let (_, object) = tree.world().stored()?;
    let annotations = &object["metadata"]["annotations"];
    let has = |name: &str| annotations.get(name).is_some();
    Some((
        has("example.com/edit-of-this-client"),
        has("example.com/edit-of-the-other-client"),
    ))
}

fn last_code(tree: &HistoryTree) -> Option<u64> {
    let step = tree.step(tree.current())?;
    Some(step.exchange.as_ref()?.code.into())
}

/// Hears the sentences about a log with more requests than are read.
fn of_long_logs(hearing: &mut Hearing, conditions: &Conditions<Recorded>) {
    for count in [3, MAX_EVENTS + 1] {
        let about = Recorded::unread(logs::long(count));
        let lines: Vec<String> = logs::long(count).iter().map(Value::to_string).collect();
        let log = AuditReader::new(lines.join("\n").into()).finish();
        if log.cut {
            let text = optimist_messages::label::audit_cut();
            hearing.hear(&text, conditions, &about, &|| {
                format!("   {count} requests")
            });
        }
    }
}

/// Hears the sentences about each message that a tool printed.
fn of_printed(hearing: &mut Hearing, conditions: &Conditions<Pasted>) {
    for message in pasted::messages() {
        let pasted = Pasted {
            message: message.clone(),
            ..Pasted::default()
        };
        for error in reported_errors(&message) {
            let mut texts = vec![
                messages::error_title(&error.error),
                messages::error_values(&error.error),
                messages::error_facts(&error),
                messages::error_missing(&error),
            ];
            texts.extend(messages::error_advice(&error));
            if let Err(why) = Scene::rebuild(&error, &GivenParts::default()) {
                texts.push(messages::no_scene(&why));
            }
            for text in &texts {
                hearing.hear(text, conditions, &pasted, &|| format!("   {message}"));
            }
        }
    }
}

/// Hears the sentence about a file without a text, which the page does not take at all.
fn of_nothing(hearing: &mut Hearing, conditions: &Conditions<Pasted>) {
    for text in ["", " \n"] {
        let why = detect(text).expect_err("there is nothing in it");
        let about = Pasted {
            texts: vec![text.to_owned()],
            ..Pasted::default()
        };
        hearing.hear(&messages::not_detected(&why), conditions, &about, &|| {
            format!("   {text:?}")
        });
    }
}

#[test]
fn what_diagnose_says_of_texts_is_true() {
    said::by_name();
    let cases = crate::times() * CASES;
    let (mut runner, mut random) = (runner(), Random::new(27));
    let (texts, of_logs): (_, Conditions<Recorded>) = (texts(), LOG.iter().copied().collect());
    let of_steps = STEPS.iter().copied().collect();
    let of_next = NEXT.iter().copied().collect();
    let of_lines = seen::LINES.iter().copied().collect();
    let of_versions = seen::VERSION.iter().copied().collect();
    let mut hearing = Hearing::default();
    of_printed(&mut hearing, &texts);
    of_nothing(&mut hearing, &texts);
    of_long_logs(&mut hearing, &of_logs);
    previewed::hear(&mut hearing, &mut Random::new(28), cases);
    let fixed = pasted::fixed();
    let made = (0..cases).map(|_| Pasted::new(&mut runner, &mut random));
    for pasted in fixed.into_iter().chain(made) {
        let mut page = Page::open_at("#/diagnose", Default::default());
        for text in &pasted.texts {
            page.send(match pasted.form.0 {
                "file" | "empty" => DiagnoseMsg::File(text.clone().into_bytes()),
                _ => DiagnoseMsg::Bring(text.clone()),
            });
        }
        page.finish_work();
        if let Some(position) = pasted.chosen {
            page.send(DiagnoseMsg::Choose(position));
            page.finish_work();
        }
        let case = &page.state.diagnose;
        let told = || {
            let texts = pasted
                .texts
                .iter()
                .map(|text| text.chars().take(900).collect());
            format!("   {}", texts.collect::<Vec<String>>().join("\n   "))
        };
        let markdown = unescaped(&optimist_report::case_markdown(case, false));
        hearing.hear(&markdown, &texts, &pasted, &told);
        for text in seen::of_case(case) {
            hearing.hear(&text, &texts, &pasted, &told);
        }
        for one in case.next_writes.iter().flat_map(|run| &run.done) {
            let text = messages::next_outcome(&one.attempt);
            hearing.hear(&text, &of_next, &one.attempt.history, &told);
        }
        seen::lines(&pasted, case, &mut |text, line| {
            hearing.hear(text, &of_lines, line, &told);
        });
        seen::versions(&pasted, case, &mut |text, version| {
            hearing.hear(text, &of_versions, version, &told);
        });
        let replay = case.audit.as_ref().and_then(|run| run.replay.clone());
        if let Some(replay) = replay {
            let recorded = Recorded::new(&pasted, &replay);
            hearing.hear(&markdown, &of_logs, &recorded, &told);
            let steps = optimist_messages::label::lane_steps(&replay.lanes.rows.len());
            hearing.hear(&steps, &of_logs, &recorded, &told);
            log::steps(&recorded, &replay, &mut |text, recorded| {
                hearing.hear(text, &of_steps, recorded, &|| recorded.told());
            });
            for about in recorded.refused() {
                page.send(DiagnoseMsg::SelectStep(Some(SelectedStep {
                    source: RecordedSource::AuditLog,
                    row: about.row(),
                })));
                let shown = page.state.diagnose.step_object.as_ref();
                if shown.is_some_and(|object| !object.refused.is_empty()) {
                    let contested = optimist_messages::label::owners_contested();
                    hearing.hear(&contested, &of_steps, &about, &|| about.told());
                }
            }
        }
    }
    hearing.conclude("texts", &format!("{cases} cases"), &of_texts());
}

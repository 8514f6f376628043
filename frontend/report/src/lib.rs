//! A case of Diagnose as a Markdown document, for an issue. The sentences are those of the page:
//! both take them from `optimist-messages`, and their facts from `optimist-state`. Text of others
//! is never markup in it (`optimist_exports::markdown`), and values that look private are masked.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod change;
mod document;
mod hand_over_script;
mod history;
mod input;
mod log;
mod owners;
mod preview;

use optimist_masking::MASK;
use optimist_messages::{diagnose as messages, label};
use optimist_state::{CaseReading, DiagnoseState};

use document::CaseDocument;
pub use hand_over_script::{HandOverChoice, HandOverScript};
pub use history::without_fight;
pub use preview::preview_markdown;

/// Writes the case as Markdown. Parts that have not run yet are not in it
/// ([`State::is_working`](optimist_state::State::is_working)). `stand_ins` says that values of the case were left out
/// ([`optimist_diagnose::anonymize`]).
pub fn case_markdown(case: &DiagnoseState, stand_ins: bool) -> String {
    let mut out = CaseDocument::default();
    let reading = case.reading().map(|reading| &**reading);
    let title = reading.map_or_else(label::diagnose_case, |it| it.title().to_string());
    out.heading(2, &label::report_title(&title));
    if let Some(says) = case_headline(case) {
        out.says(&says);
    }
    let release = reading.map(|it| it.case.release).unwrap_or_default();
    out.says(&label::report_source(&release));
    out.says(&label::report_masked(&MASK));
    if stand_ins {
        out.says(&label::report_stand_ins());
    }
    input::brought(&mut out, case);
    if let Some(reading) = reading {
        let others = case.cases.len() - 1;
        if others > 0 {
            out.says(&label::report_more(&others, &reading.title()));
        }
        scene(&mut out, reading);
        match reading.scene {
            // The others are made up.
            Some(_) => owners::of_messages(&mut out, case),
            None => owners::owners(&mut out, reading),
        }
    } else {
        owners::of_messages(&mut out, case);
    }
    if let Some(run) = &case.next_writes {
        change::next_writes(&mut out, run);
    }
    if let Some(run) = &case.table {
        change::table(&mut out, run, reading);
        change::remedies(&mut out, run);
    }
    if let Some(replay) = case.audit.as_ref().and_then(|run| run.replay.as_ref()) {
        log::log(&mut out, replay);
    }
    if let Some((reading, history)) = reading.and_then(|it| Some((it, it.history.as_ref()?))) {
        history::history(&mut out, &reading.case.id, history);
    }
    input::what_next(&mut out, case);
    out.finish()
}

/// Says which fields the chosen client cannot write. Before it comes the sentence about all objects, if their preview
/// is shown. Returns `None` until this is run, and if the answer depends on something that the case does not say.
pub fn case_headline(case: &DiagnoseState) -> Option<String> {
    let preview = case.preview.as_ref().filter(|_| !case.one_object);
    let of_all = preview.and_then(|preview| {
        let done = preview.done.as_ref()?;
        Some(optimist_messages::preview::headline(done, preview.tool).0)
    });
    let says: Vec<String> = of_all.into_iter().chain(object_headline(case)).collect();
    (!says.is_empty()).then(|| says.join(" "))
}

fn object_headline(case: &DiagnoseState) -> Option<String> {
    let run = case.table.as_ref()?;
    let remedies = run.remedies.as_ref();
    let remedies = remedies.map(|all| all.iter().map(|it| &it.out));
    let says = match case.unknown_client() {
        Some(tool) => messages::headline_by(&messages::tool(tool), run.usual_row()?, remedies),
        None => messages::headline(run.usual_row()?, remedies),
    }?;
    // Of several objects, it is about the selected one alone.
    let selected = case.reading().filter(|_| case.cases.len() > 1);
    Some(match selected {
        Some(reading) => messages::headline_of(&reading.title(), &says),
        None => says,
    })
}

/// Says why the selected object is not on a server.
pub fn not_installed(reading: &CaseReading) -> String {
    match &reading.installed {
        Err(why) => messages::not_installed(why, &reading.case.id),
        Ok(_) => label::owners_no_live(&reading.case.id),
    }
}

/// Writes the parts of the scene that the error message does not contain.
fn scene(out: &mut CaseDocument, reading: &CaseReading) {
    let Some(scene) = &reading.scene else {
        return;
    };
    out.says(&label::scene_made());
    for part in &scene.missing {
        out.bullet(&messages::missing_part(part));
    }
    for unused in messages::unused_manifests(&reading.unused_manifests) {
        out.bullet(&unused);
    }
    out.end();
}

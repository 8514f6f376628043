//! Writes the sections on the input, and on the input that is still missing.

use optimist_diagnose::case::ObjectId;
use optimist_diagnose::input::Input;
use optimist_diagnose::message::{ReportedError, without_colours};
use optimist_diagnose::scene::GivenParts;
use optimist_masking::masked_text;
use optimist_messages::{diagnose as messages, label};
use optimist_state::{DiagnoseState, InputItem};
use serde_json::Value;

use crate::document::CaseDocument;

/// The most characters of a message that are written out.
const MAX_MESSAGE: usize = 20_000;

pub(crate) fn brought(out: &mut CaseDocument, case: &DiagnoseState) {
    out.heading(3, &label::diagnose_case());
    for item in &case.items {
        thing(out, item, &case.given);
    }
    out.end();
    // A scene without a table is about one write, which the message is about.
    if case.table.is_some() {
        let client = messages::client_long(case.client());
        let manager = case.manager.trim();
        let chosen = case.client().manager_is_chosen() && !manager.is_empty();
        out.says(&if chosen {
            label::report_writer_manager(&client, &manager)
        } else {
            label::report_writer(&client)
        });
    }
}

/// Writes one input, as its card shows it.
fn thing(out: &mut CaseDocument, item: &InputItem, given: &GivenParts) {
    let named = |object: &Value| ObjectId::from_object(object).to_string();
    match &item.content {
        Ok(Input::Live(object)) => {
            out.about(&named(object), &messages::live_says(object).0.join(" "));
        }
        Ok(Input::Manifest(object)) => out.about(&named(object), &label::card_manifest()),
        Ok(Input::Definition(object)) => out.about(&named(object), &label::card_definition()),
        // Each is a thing of its own.
        Ok(Input::Several(_)) => {}
        Ok(Input::Versions { versions, end }) => out.about(
            &messages::versions_title(versions),
            &messages::versions_says(versions, end),
        ),
        Ok(Input::AuditLog(log)) => out.about(
            &label::card_audit(),
            &label::card_audit_lines(&log.lines().count()),
        ),
        Ok(Input::Errors(errors)) => {
            errors.iter().for_each(|error| of_error(out, error, given));
            message(out, &item.text);
        }
        Err(why) => out.about(&label::card_unknown(), &messages::not_detected(why)),
    }
}

fn of_error(out: &mut CaseDocument, error: &ReportedError, given: &GivenParts) {
    let says = [
        messages::error_facts(error),
        messages::error_values(&error.error),
        messages::error_missing(&given.completed(error)),
        messages::error_advice(error).unwrap_or_default(),
    ];
    let says: Vec<String> = says.into_iter().filter(|it| !it.is_empty()).collect();
    out.about(&messages::error_title(&error.error), &says.join(" · "));
}

/// A message, letter for letter, without the values in it that look private.
fn message(out: &mut CaseDocument, text: &str) {
    // What a terminal shows in colours has these in no character, and Windows ends its lines with one more.
    let text = without_colours(text.trim()).replace("\r\n", "\n");
    let text = masked_text(&text);
    let all = text.chars().count();
    if all > MAX_MESSAGE {
        out.says(&label::report_cut(&MAX_MESSAGE, &all));
    }
    let shown: String = text.chars().take(MAX_MESSAGE).collect();
    out.code("text", &shown);
}

/// Writes the commands that get the missing objects of error messages, and the reasons why a
/// message has no scene.
pub(crate) fn what_next(out: &mut CaseDocument, case: &DiagnoseState) {
    let reading = case.reading();
    let made = reading.is_some_and(|it| it.scene.is_some());
    let live = reading.is_some_and(|it| it.case.live.is_some());
    if made || !live {
        for error in case.errors() {
            let error = case.given.completed(error);
            if let Some(command) = messages::get_command(&error.object) {
                out.heading(3, &messages::error_object(&error.object));
                out.says(&messages::get_purpose(&error.error));
                out.command(&command);
            }
        }
    }
    for (error, why) in &case.without_scene {
        let title = messages::error_title(&error.error);
        out.about(&title, &messages::no_scene(why));
    }
}

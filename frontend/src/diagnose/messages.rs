//! The facts about owners in error messages, and the input to add next.

use optimist_client::visible;
use optimist_diagnose::message::{PrintedError, ReportedError};
use optimist_diagnose::scene::NoScene;
use optimist_diagnose::ways::{Instruction, InstructionLanguage};
use optimist_messages::{diagnose as messages, label};
use yew::{AttrValue, Html, html};

use crate::components::Copy;
use crate::state::StateHandle;

/// Shows the owners that the error messages of the case name; if there are none, the input that
/// would show them.
pub(super) fn of_messages(store: &StateHandle) -> Html {
    let mut rows = Vec::new();
    for error in store.diagnose.errors() {
        let PrintedError::Apply(conflicts) = &error.error else {
            continue;
        };
        for conflict in conflicts {
            let owner = messages::conflict_owner(conflict);
            rows.extend(conflict.fields.iter().map(|field| {
                html! {
                    <tr>
                        <td class="code">{ visible(field).into_owned() }</td>
                        <td>{ visible(&owner).into_owned() }</td>
                    </tr>
                }
            }));
        }
    }
    if rows.is_empty() {
        return empty(store);
    }
    html! {
        <>
            <p class="says">{ label::owners_in_message_text() }</p>
            <div class="scroll" tabindex="0" role="region" aria-label={label::owners_in_message()}>
                <table class="case-table">
                    <thead>
                        <tr>
                            <th scope="col">{ label::owners_field() }</th>
                            <th scope="col">{ label::owners_owner() }</th>
                        </tr>
                    </thead>
                    <tbody>{ for rows }</tbody>
                </table>
            </div>
        </>
    }
}

/// Says what to bring. The command for an object that the error messages name stands beside them.
fn empty(store: &StateHandle) -> Html {
    let case = &store.diagnose;
    let errors = case.errors().into_iter();
    let errors: Vec<ReportedError> = errors.map(|one| case.given.completed(one)).collect();
    let is_named = messages::names_object(&errors.iter().collect::<Vec<_>>());
    html! {
        <div class="case-empty">
            <p><b>{ label::owners_empty() }</b></p>
            if !is_named {
                <p class="says">{ label::owners_empty_text() }</p>
                { command(label::owners_empty_command()) }
            }
        </div>
    }
}

/// A command to copy.
pub(super) fn command(text: String) -> Html {
    html! {
        <div class="case-command">
            <pre>{ visible(&text).into_owned() }</pre>
            <Copy text={AttrValue::from(text)} />
        </div>
    }
}

/// Shows a command, code or lines of a manifest, with the warnings and the steps to take before.
pub(super) fn instruction(one: &Instruction) -> Html {
    let text = one.text.trim_end().to_owned();
    let warnings = one.warnings.iter().map(messages::instruction_warning);
    html! {
        <>
            { for warnings.map(|warning| html! {
                <p class="command-warning" role="note">{ visible(&warning).into_owned() }</p>
            }) }
            if let Some(first) = &one.try_first {
                <p>{ label::instruction_try() }</p>
                { command(first.trim_end().to_owned()) }
                <p>{ label::instruction_do() }</p>
            }
            if one.language == InstructionLanguage::Lines {
                <p>{ label::ways_lines() }</p>
            }
            { command(text) }
        </>
    }
}

/// Says which input to add after an error message.
pub(super) fn next_step(error: &ReportedError) -> Html {
    let Some(get) = messages::get_command(&error.object) else {
        return Html::default();
    };
    html! {
        <div class="way-out">
            <h3>{ messages::error_object(&error.object) }</h3>
            <p>{ messages::get_purpose(&error.error) }</p>
            { command(get) }
            <p>{ label::error_get_next() }</p>
        </div>
    }
}

/// Shows why no scene can be made of an error message.
pub(super) fn no_scene(error: &ReportedError, why: &NoScene) -> Html {
    let why = messages::no_scene(why);
    let title = messages::error_title(&error.error);
    html! {
        <p class="says">
            <b>{ visible(&title).into_owned() }{ ": " }</b>
            { visible(&why).into_owned() }
        </p>
    }
}

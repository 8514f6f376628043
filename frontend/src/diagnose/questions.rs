//! The questions that users have about a cluster, and the input for each. They are displayed while
//! there is no input.

use optimist_messages::label;
use yew::{Html, html};

use super::messages;
use crate::state::{CaseExample, DiagnoseMsg, Sends, StateHandle};

/// The questions, each with its command and an example.
pub(super) fn questions(store: &StateHandle) -> Html {
    html! {
        <>
            <h2>{ label::question_title() }</h2>
            <ul class="case-questions">
                { for CaseExample::ALL.map(|example| question(store, example)) }
            </ul>
        </>
    }
}

fn question(store: &StateHandle, example: CaseExample) -> Html {
    let (asked, text, command) = match example {
        CaseExample::Modified => (
            label::question_modified(),
            label::question_modified_text(),
            None,
        ),
        CaseExample::Watch => (
            label::question_watch(),
            label::question_watch_text(),
            Some(label::question_watch_command()),
        ),
        CaseExample::LiveObject => (
            label::question_change(),
            label::question_change_text(),
            Some(label::owners_empty_command()),
        ),
        CaseExample::Release => (
            label::question_release(),
            label::question_release_text(),
            Some(label::question_release_command()),
        ),
        CaseExample::Message => (
            label::question_message(),
            label::question_message_text(),
            None,
        ),
        CaseExample::AuditLog => (label::question_audit(), label::question_audit_text(), None),
    };
    let name = label::question_example_of(&asked);
    html! {
        <li>
            <h3>{ asked }</h3>
            <p>{ text }</p>
            { for command.map(messages::command) }
            <button
                type="button"
                class="button example"
                aria-label={name}
                onclick={store.sends(DiagnoseMsg::Example(example))}
            >
                { label::question_example() }
            </button>
        </li>
    }
}

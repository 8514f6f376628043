//! The picker at a fork of the history: a button for each branch, with its result.

use optimist_messages::label;
use optimist_simulation::NodeId;
use yew::{Html, classes, html};

use super::icon::{Icon, icon};
use crate::state::{Dialog, Dispatcher, Sends, SessionMsg, ViewMsg};

/// Of more branches than this a phone shows only the one we are on; the others are in the dialog.
const CROWDED: usize = 2;

/// One of the branches that go on from the same place.
#[derive(Clone, PartialEq)]
pub(crate) struct BranchRow {
    pub(crate) node: NodeId,
    /// Its name, or its outcome.
    pub(crate) label: String,
    /// The first steps of the branch.
    pub(crate) summary: String,
    pub(crate) shown: bool,
}

/// Draws the buttons of the branches.
pub(crate) fn branch_picker(branches: &[BranchRow], dispatcher: &Dispatcher) -> Html {
    let choice = |(i, branch): (usize, &BranchRow)| {
        html! {
            <button
                type="button"
                aria-pressed={branch.shown.to_string()}
                aria-label={label::branch_named(&branch.label, &(i + 1), &branch.summary)}
                title={branch.summary.clone()}
                onclick={dispatcher.sends(SessionMsg::Go(branch.node))}
            >
                { branch.label.clone() }
            </button>
        }
    };
    html! {
        <span
            class={classes!("fork", (branches.len() > CROWDED).then_some("crowded"))}
            role="group"
            aria-label={label::branches_from_here()}
        >
            { icon(Icon::Branch) }
            <span class="fork-branches">{ for branches.iter().enumerate().map(choice) }</span>
            <button
                type="button"
                aria-label={label::branches_compare()}
                title={label::branches_compare()}
                onclick={dispatcher.sends(ViewMsg::Dialog(Some(Dialog::Branches)))}
            >
                { "⋯" }
            </button>
        </span>
    }
}

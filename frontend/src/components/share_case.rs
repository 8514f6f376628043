//! A case of Diagnose in the share dialog: which values are left out, and the case as Markdown.

use std::rc::Rc;

use optimist_client::visible;
use optimist_messages::{diagnose as messages, label};
use yew::{AttrValue, Html, Properties, component, html};

use super::share_dialog::{export, named, weight};
use super::snippet::Copy;
use crate::state::{
    CaseLeftOut, CaseReport, Sends, ShareMsg, StateHandle, ValuesLeftOut, Withheld,
};

/// Draws the choice of the values to leave out.
pub(super) fn values(store: &StateHandle) -> Html {
    let now = store.share.withheld;
    let choice = |what: Withheld, name: String, says: String| {
        html! {
            <label class="check share-choice">
                <input
                    type="radio"
                    name="withheld"
                    checked={now == what}
                    onchange={store.sends(ShareMsg::Withhold(what))}
                />
                <span>
                    { name }
                    if now == what {
                        <span class="muted">{ says }</span>
                    }
                </span>
            </label>
        }
    };
    html! {
        <fieldset class="share-values">
            <legend>{ label::share_values() }</legend>
            { choice(Withheld::Private, label::share_without_private(), label::share_private_stand_ins()) }
            { choice(Withheld::Values, label::share_without_values(), label::share_stand_ins()) }
            { stays(store) }
            { choice(Withheld::Nothing, label::share_everything(), label::share_look_yourself()) }
        </fieldset>
    }
}

/// Says which values are left out, and which stay.
fn stays(store: &StateHandle) -> Html {
    let told = |says: String| html! { <p class="muted share-stays" role="status">{ says }</p> };
    match &store.share.values {
        None => Html::default(),
        Some(ValuesLeftOut::Looking(_)) => told(label::share_looking()),
        Some(ValuesLeftOut::Searching(job)) => {
            let (attempts, _) = store.jobs.progress(*job).unwrap_or_default();
            told(label::share_comparing(&attempts))
        }
        Some(ValuesLeftOut::Empty) => told(label::share_nothing_left()),
        Some(ValuesLeftOut::TooLarge(limit)) => {
            told(label::share_values_too_large(&(limit / 1_000_000)))
        }
        Some(ValuesLeftOut::Found(shared)) => match &shared.found {
            CaseLeftOut::Private(found) => {
                let named = named(&found.private);
                let says = match found.private.is_empty() {
                    true => label::share_found_nothing(),
                    false => format!(
                        "{} {named} {}",
                        label::share_left_out(),
                        label::share_look()
                    ),
                };
                list(says, messages::left_out_of_case(found))
            }
            CaseLeftOut::Values(found) => {
                list(messages::left_out_values(found), messages::staying(found))
            }
        },
    }
}

fn list(says: String, items: Vec<String>) -> Html {
    html! {
        <div class="muted share-stays">
            <p role="status">{ says }</p>
            <ul>
                { for items.into_iter().map(|it| html! { <li>{ visible(&it).into_owned() }</li> }) }
            </ul>
        </div>
    }
}

/// The case as Markdown, once everything has run.
pub(super) fn markdown(store: &StateHandle) -> Html {
    let is_none = matches!(
        store.share.values,
        Some(ValuesLeftOut::Empty | ValuesLeftOut::TooLarge(_))
    );
    if is_none || store.diagnose.items.is_empty() {
        return Html::default();
    }
    html! {
        <>
            <h3>{ label::share_report() }</h3>
            {
                match &store.share.report {
                    Some(CaseReport::Done(text)) => html! {
                        <CaseMarkdown text={AttrValue::from(Rc::clone(text))} />
                    },
                    Some(CaseReport::Running(..)) | None => html! {
                        <p class="muted" role="status">{ label::report_not_ready() }</p>
                    },
                }
            }
        </>
    }
}

/// The most characters that GitHub takes as the text of an issue.
const MAX_ISSUE: usize = 65_536;

#[derive(Clone, PartialEq, Properties)]
struct CaseMarkdownProps {
    text: AttrValue,
}

/// Buttons that copy and save the Markdown.
#[component]
fn CaseMarkdown(props: &CaseMarkdownProps) -> Html {
    let text = &props.text;
    html! {
        <>
            <div class="dialog-actions">
                <Copy text={text.clone()} label={Some(AttrValue::from(label::copy_markdown()))} />
                { export("case.md", label::share_save_markdown(), text) }
            </div>
            <p class="muted">{ label::share_report_says() }</p>
            if text.len() > MAX_ISSUE {
                <p class="muted">{ label::share_report_long(&weight(text)) }</p>
            }
        </>
    }
}

//! The input of the case, and the ways to add more.

use optimist_diagnose::input::MAX_LOG;
use optimist_messages::label;
use web_sys::{HtmlInputElement, HtmlTextAreaElement};
use yew::{Callback, Event, Html, InputEvent, SubmitEvent, TargetCast, html};

use super::{card, remote, table, take_files};
use crate::browser;
use crate::components::icon::{Icon, icon};
use crate::state::{
    BringProblem, CaseKeeping, DiagnoseMsg, MAX_ITEMS, Sends, StateHandle, Withheld,
};

/// The largest file, in megabytes.
const MEGABYTES: usize = MAX_LOG / 1024 / 1024;

/// Says which values were left out when the case was shared.
fn left_out(what: Withheld) -> Html {
    let says = match what {
        Withheld::Nothing => return Html::default(),
        Withheld::Private => label::diagnose_private_left_out(),
        Withheld::Values => label::diagnose_values_left_out(),
    };
    html! { <p class="notice-of-ways" role="status">{ says }</p> }
}

/// The left column.
pub(super) fn inputs(store: &StateHandle) -> Html {
    let case = &store.diagnose;
    html! {
        <>
            if case.has_earlier() {
                <button type="button" class="button" onclick={store.sends(DiagnoseMsg::Return)}>
                    { icon(Icon::Back) }
                    <span>{ label::diagnose_return() }</span>
                </button>
            }
            <h2>{ label::diagnose_bring() }</h2>
            { left_out(case.withheld) }
            <p class="says" id="bring-hint">{ label::diagnose_bring_hint() }</p>
            <ul class="case-cards">
                { for case.items.iter().map(|item| html! {
                    <card::Card
                            key={item.id}
                            item={card::SharedItem::from(item)}
                            sender={store.dispatcher()}
                            given={case.given.clone()}
                        />
                }) }
            </ul>
            if case.is_reading() {
                { reading(store) }
            }
            { problem(store) }
            { paste(store) }
            <remote::Remote store={store.clone()} />
            // Above a preview it is the head of the answer.
            if case.table.is_some() && (case.preview.is_none() || case.one_object) {
                { table::writer(store) }
            }
            if !case.items.is_empty() {
                <button type="button" class="link" onclick={store.sends(DiagnoseMsg::Clear)}>
                    { label::diagnose_clear() }
                </button>
            }
            <p class="case-foot">{ label::diagnose_private() }</p>
        </>
    }
}

/// Draws the progress of the reading.
fn reading(store: &StateHandle) -> Html {
    let percent = store.percent_read();
    html! {
        <div class="progress">
            <progress value={percent.to_string()} max="100" aria-label={label::diagnose_reading()} />
            <span>{ label::diagnose_reading_percent(&percent) }</span>
            <button
                type="button"
                class="button small"
                onclick={store.sends(DiagnoseMsg::CancelReading)}
            >
                { label::search_cancel() }
            </button>
        </div>
    }
}

/// Says which input was not taken, or is not kept.
fn problem(store: &StateHandle) -> Html {
    let case = &store.diagnose;
    html! {
        <>
            if let Some(problem) = &case.problem {
                <div class="problem" role="alert">
                    { match problem {
                        BringProblem::TooMany => label::diagnose_too_many(&MAX_ITEMS),
                        BringProblem::TooLarge(name) => label::diagnose_too_large(name, &MEGABYTES),
                        BringProblem::File(name) => label::diagnose_unreadable(name),
                    } }
                </div>
            }
            { match case.kept {
                CaseKeeping::Kept => Html::default(),
                CaseKeeping::TooLarge => html! {
                    <p class="says" role="status">{ label::diagnose_not_kept() }</p>
                },
                CaseKeeping::Refused => html! {
                    <p class="says" role="status">{ label::diagnose_refused() }</p>
                },
            } }
        </>
    }
}

/// Draws the field for a text that is pasted or typed.
fn paste(store: &StateHandle) -> Html {
    let draft = store.diagnose.draft.clone();
    let empty = draft.trim().is_empty();
    let oninput = store.on(|event: InputEvent| {
        let area = event.target_dyn_into::<HtmlTextAreaElement>();
        DiagnoseMsg::Draft(area.map(|area| area.value()).unwrap_or_default())
    });
    let onpaste = {
        let sender = store.dispatcher();
        Callback::from(move |event: Event| {
            // A long text is slow in a text area, so it does not get there.
            if let Some(text) = browser::pasted(&event).filter(|_| empty) {
                event.prevent_default();
                sender.send(DiagnoseMsg::Bring(text));
            }
        })
    };
    let onsubmit = store.on(|event: SubmitEvent| {
        event.prevent_default();
        DiagnoseMsg::TakeDraft
    });
    html! {
        <form class="case-paste" {onsubmit}>
            <textarea
                id="bring"
                aria-label={label::diagnose_paste()}
                aria-describedby="bring-hint"
                placeholder={format!("{}\n{}", label::diagnose_paste(), label::diagnose_paste_hint())}
                spellcheck="false"
                autocapitalize="off"
                value={draft}
                {oninput}
                {onpaste}
            />
            <div class="dialog-actions">
                { files(store) }
                <span class="spring" />
                // It keeps the keyboard after it has added the text.
                <button type="submit" class="button primary" aria-disabled={empty.to_string()}>
                    { label::diagnose_add() }
                </button>
            </div>
        </form>
    }
}

/// A button that takes files.
fn files(store: &StateHandle) -> Html {
    let sender = store.dispatcher();
    let onchange = Callback::from(move |event: Event| {
        if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
            if let Some(files) = input.files() {
                take_files(&sender, &files);
            }
            // So that the same file can be chosen again.
            input.set_value("");
        }
    });
    html! {
        <label class="button file">
            <input type="file" multiple=true {onchange} />
            { icon(Icon::Load) }
            <span>{ label::diagnose_file() }</span>
        </label>
    }
}

//! The preview of a tool's effects on all objects of the case: a row for each object, the worst
//! first.

use std::rc::Rc;

use js_sys::Array;
use optimist_client::{Preset, visible};
use optimist_diagnose::preview::{Preview, PreviewOutcome, PreviewRow, Pruning, Trouble};
use optimist_messages::{label, preview as messages};
use optimist_report::{HandOverChoice, HandOverScript, preview_markdown};
use web_sys::HtmlInputElement;
use yew::{Callback, Event, Html, Properties, TargetCast, classes, component, html};

use super::table::{self, broken};
use crate::saved_page::save_file;
use crate::state::{CasePreview, DiagnoseMsg, PreviewFilter, Sends, StateHandle, case_of, pruning};

/// The maximum number of fields of an open object.
const FIELDS: usize = 40;

/// Draws the switch between the preview and one object.
pub(super) fn switch(store: &StateHandle) -> Html {
    if let Some(client) = store.diagnose.client_without_preview() {
        return html! { <p class="no-preview">{ messages::without_preview(client) }</p> };
    }
    if store.diagnose.preview.is_none() {
        return Html::default();
    }
    let choice = |one: bool, name: String| {
        html! {
            <button
                type="button"
                class="button small"
                aria-pressed={(store.diagnose.one_object == one).to_string()}
                onclick={store.sends(DiagnoseMsg::OneObject(one))}
            >
                { name }
            </button>
        }
    };
    html! {
        <div class="preview-switch" role="group" aria-label={label::upgrade_switch()}>
            { choice(false, label::upgrade_label()) }
            { choice(true, label::owners_title()) }
        </div>
    }
}

/// The preview.
pub(super) fn preview(store: &StateHandle, preview: &CasePreview) -> Html {
    if let Some((done, all)) = store.preview_progress() {
        return html! {
            <div class="preview progress">
                <progress value={done.to_string()} max={all.to_string()} aria-label={label::upgrade_label()} />
                <span>{ label::upgrade_running(&done, &all) }</span>
            </div>
        };
    }
    let Some(done) = &preview.done else {
        return Html::default();
    };
    let (title, says) = messages::headline(done, preview.tool);
    html! {
        <div class="preview">
            { table::writer(store) }
            <h2>{ title }</h2>
            <p class="says">{ says.join(" ") }</p>
            { for messages::assumptions(done).into_iter().map(|said| html! { <p class="says">{ said }</p> }) }
            { prune(store, preview) }
            { counts(store, preview, done) }
            <table class="case-table">
                <thead>
                    <tr>
                        <th scope="col">{ label::upgrade_object() }</th>
                        <th scope="col">{ label::upgrade_happens() }</th>
                        <th scope="col">{ label::upgrade_fields() }</th>
                        <th scope="col">{ label::upgrade_owners() }</th>
                    </tr>
                </thead>
                <tbody>{ for preview.rows().map(|one| row(store, done, one)) }</tbody>
            </table>
            <Exports preview={Rc::clone(done)} tool={preview.tool} />
        </div>
    }
}

/// Draws the choice whether the tool deletes what no manifest names any more, if it has one.
fn prune(store: &StateHandle, preview: &CasePreview) -> Html {
    let option = match pruning(preview.tool) {
        None | Some(Pruning::None) => return Html::default(),
        Some(Pruning::Selected(_)) => "--prune --all",
        Some(_) if preview.tool == Preset::Flux => "spec.prune",
        Some(_) => "prune",
    };
    let onchange = store.on(|event: Event| {
        let input = event.target_dyn_into::<HtmlInputElement>();
        DiagnoseMsg::Prune(input.is_some_and(|input| input.checked()))
    });
    html! {
        <label class="check">
            <input type="checkbox" checked={store.diagnose.prunes} {onchange} />
            { " " }{ label::upgrade_prune(&option) }
        </label>
    }
}

/// The exports of a preview.
#[derive(Clone, Properties)]
struct ExportsProps {
    preview: Rc<Preview>,
    tool: Preset,
}

impl PartialEq for ExportsProps {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.preview, &other.preview) && self.tool == other.tool
    }
}

/// The script of the hand-overs, and the preview for a pull request.
#[component]
fn Exports(props: &ExportsProps) -> Html {
    let (done, tool) = (Rc::clone(&props.preview), props.tool);
    let script = HandOverScript::new(&done, &HandOverChoice::default());
    let conflicts = done.rows.iter().filter(|row| !row.hand_overs.is_empty());
    let count = conflicts.count();
    let left = script.as_ref().filter(|script| !script.left.is_empty());
    let left = left.map(HandOverScript::says_left);
    let script_runs = script.as_ref().is_some_and(|script| script.runs);
    html! {
        <div class="preview-exports">
            if let Some(script) = script {
                if script.left.len() < count {
                    <div class="row-actions">
                        { save(
                            "hand-over.sh",
                            match script_runs {
                                true => label::upgrade_script(&(count - script.left.len())),
                                false => label::upgrade_by_hand(&(count - script.left.len())),
                            },
                            move || script.text.clone(),
                        ) }
                        <span class="muted">{ if script_runs { label::upgrade_script_says() } else { label::upgrade_script_by_hand() } }</span>
                    </div>
                }
            }
            if let Some(left) = left {
                <p class="muted">{ visible(&left).into_owned() }</p>
            }
            <div class="row-actions">
                { save("preview.md", label::upgrade_markdown(), move || preview_markdown(&done, tool)) }
            </div>
        </div>
    }
}

/// A button that makes a text and saves it as a file. Of many objects the text is long.
fn save(file: &'static str, label: String, text: impl Fn() -> String + 'static) -> Html {
    let save = Callback::from(move |_| {
        // It fails in a browser without files alone.
        let _ = save_file(&Array::of1(&text().into()), "text/plain", file);
    });
    html! { <button type="button" class="button" onclick={save}>{ label }</button> }
}

/// Draws the number of objects with each outcome, and with each trouble. Each number is a filter.
fn counts(store: &StateHandle, preview: &CasePreview, done: &Preview) -> Html {
    let tile = |filter: PreviewFilter, words: Html, refused: bool| {
        let pressed = preview.shown == Some(filter);
        let then = (!pressed).then_some(filter);
        html! {
            <button
                type="button"
                class={classes!("preview-count", refused.then_some("refused"))}
                aria-pressed={pressed.to_string()}
                onclick={store.sends(DiagnoseMsg::PreviewOf(then))}
            >
                { words }
            </button>
        }
    };
    let outcomes = done.outcomes.iter().map(|(outcome, count)| {
        let filter = PreviewFilter::Outcome(*outcome);
        tile(
            filter,
            html! { <><b>{ count }</b>{ " " }<span>{ messages::outcome(*outcome) }</span></> },
            outcome.is_refusal(),
        )
    });
    let troubles = done.troubles.iter().filter_map(|(trouble, count)| {
        // Its name is a sentence about one object.
        let words = html! { <><span>{ messages::trouble(*trouble)? }{ ":" }</span>{ " " }<b>{ count }</b></> };
        Some(tile(PreviewFilter::Trouble(*trouble), words, false))
    });
    let troubles: Vec<Html> = troubles.collect();
    html! {
        <>
            <div class="preview-counts" role="group" aria-label={label::upgrade_filter()}>
                { for outcomes }
            </div>
            if !troubles.is_empty() {
                <div class="preview-counts troubles" role="group" aria-label={label::upgrade_filter_trouble()}>
                    { for troubles }
                </div>
            }
        </>
    }
}

/// Draws an object as one line. The object that is looked at is open: its fields, troubles and notes stand below
/// its line.
fn row(store: &StateHandle, done: &Preview, row: &PreviewRow) -> Html {
    let case = case_of(row, &store.diagnose.cases);
    let open = case == Some(store.diagnose.chosen());
    let name = visible(&messages::row_name(row, done)).into_owned();
    let fields = messages::fields(row);
    let more = fields.len().saturating_sub(1);
    let mut owners: Vec<&str> = Vec::new();
    for owner in fields.iter().flat_map(|field| &field.owners) {
        if !owners.contains(&owner.as_str()) {
            owners.push(owner);
        }
    }
    let mut happens = vec![messages::outcome(row.outcome)];
    let mut troubles = messages::troubles(row).into_iter();
    happens.extend(troubles.next());
    // Where the tool stops is said in the line, also of an object with another trouble.
    let stops = row.troubles.contains(&Trouble::DoneBeforeStop);
    happens.extend(troubles.next_back().filter(|_| stops));
    let happens = visible(&happens.join(", ")).into_owned();
    let owners = visible(&owners.join(", ")).into_owned();
    html! {
        <>
            <tr class={classes!("line", row.outcome.is_refusal().then_some("is-refused"), open.then_some("chosen"))}>
                <th scope="row">
                    if let Some(case) = case {
                        <button
                            type="button"
                            class="link"
                            aria-expanded={open.to_string()}
                            title={name.clone()}
                            onclick={store.sends(DiagnoseMsg::Choose(case))}
                        >
                            { name }
                        </button>
                    } else {
                        { name }
                    }
                </th>
                <td title={happens.clone()}><b class={tone(row.outcome)}>{ happens }</b></td>
                <td class="code">
                    if let Some(field) = fields.first() {
                        { visible(field.field.trim_start_matches('.')).into_owned() }
                    }
                    if more > 0 {
                        { " " }<span>{ label::upgrade_more(&more) }</span>
                    }
                </td>
                <td title={owners.clone()}>{ owners }</td>
            </tr>
            if open || case.is_none() {
                { details(row) }
            }
        </>
    }
}

/// Draws the troubles, the fields and the notes of an open object. Nothing if it has none.
fn details(row: &PreviewRow) -> Html {
    let (fields, troubles, notes) = (
        messages::open_fields(row),
        messages::troubles(row),
        messages::notes(row),
    );
    if fields.is_empty() && troubles.is_empty() && notes.is_empty() {
        return Html::default();
    }
    let more = fields.len().saturating_sub(FIELDS);
    html! {
        <tr class={classes!("details", row.outcome.is_refusal().then_some("is-refused"))}>
            <td colspan="4">
                { for troubles.into_iter().map(|said| html! { <p>{ visible(&said).into_owned() }</p> }) }
                { for fields.iter().take(FIELDS).map(|field| html! {
                    <p class="code">
                        { broken(&visible(field.field.trim_start_matches('.'))) }{ " " }
                        <span>{ visible(&messages::owned_change(field)).into_owned() }</span>
                    </p>
                }) }
                if more > 0 {
                    <p class="muted">{ label::upgrade_more(&more) }</p>
                }
                { for notes.into_iter().map(|said| html! {
                    <p class="muted">{ visible(&said).into_owned() }</p>
                }) }
            </td>
        </tr>
    }
}

fn tone(outcome: PreviewOutcome) -> &'static str {
    match outcome {
        _ if outcome.is_refusal() => "refused",
        PreviewOutcome::Created => "ok",
        _ => "plain",
    }
}

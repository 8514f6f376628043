//! The effects of the change with each write method.

use optimist_apiserver::apply::Path;
use optimist_client::visible;
use optimist_diagnose::ways::{FieldEffect, FieldOutcome, Instruction, Row, Way};
use optimist_messages::{column_heads, diagnose as messages, label};
use web_sys::HtmlInputElement;
use yew::{AttrValue, Event, Html, TargetCast, classes, html};

use super::messages::instruction;
use crate::components::Copy;
use crate::components::more::chosen;
use crate::state::{ChangeRun, DiagnoseMsg, Sends, StateHandle, WRITERS};

/// Draws the choice of the writer: the client, and its field manager.
pub(super) fn writer(store: &StateHandle) -> Html {
    let case = &store.diagnose;
    let client = case.client();
    let onclient = store.on(|event: Event| {
        let at = chosen(&event);
        DiagnoseMsg::Client(*WRITERS.get(at).unwrap_or(&WRITERS[0]))
    });
    let onmanager = store.on(|event: Event| {
        let input = event.target_dyn_into::<HtmlInputElement>();
        DiagnoseMsg::Manager(input.map(|input| input.value()).unwrap_or_default())
    });
    html! {
        <div class="case-writer">
            <label class="field">
                <span>{ label::ways_client() }</span>
                <select aria-label={label::ways_client()} onchange={onclient}>
                    { for WRITERS.map(|preset| html! {
                        <option value={preset.slug()} selected={preset == client}>
                            { messages::client_long(preset) }
                        </option>
                    }) }
                </select>
            </label>
            if client.manager_is_chosen() {
                <label class="field">
                    <span>{ label::ways_manager() }</span>
                    <input
                        type="text"
                        aria-label={label::ways_manager()}
                        placeholder={label::ways_manager_default()}
                        value={case.manager.clone()}
                        maxlength="128"
                        spellcheck="false"
                        autocapitalize="off"
                        onchange={onmanager}
                    />
                </label>
            }
        </div>
    }
}

/// Shows why a real server may give other answers.
fn notices(store: &StateHandle) -> Html {
    let installed = store.diagnose.reading().map(|it| it.installed.as_ref());
    let notes = installed.and_then(Result::ok).map(|it| it.notes.as_slice());
    let notices = notes
        .unwrap_or_default()
        .iter()
        .filter_map(messages::ways_notice);
    html! {
        { for notices.map(|it| html! {
            <p class="notice-of-ways">{ visible(&it).into_owned() }</p>
        }) }
    }
}

/// Says where the table and the message differ, and why a client has a conflict with its own name.
pub(super) fn disagreements(run: &ChangeRun) -> Html {
    let contradiction = run.contradiction.as_ref().map(messages::contradiction);
    let same_name = run.same_name.as_ref().map(messages::same_name);
    html! {
        { for contradiction.into_iter().chain(same_name).map(|it| html! {
            <p class="notice-of-ways" role="note">{ visible(&it).into_owned() }</p>
        }) }
    }
}

/// The table.
pub(super) fn table(store: &StateHandle, run: &ChangeRun, says: &str) -> Html {
    let all = store.diagnose.all_ways;
    let columns = run.columns();
    let more = messages::more_fields(&run.fields_without_column());
    let shown = run.rows.iter().filter(|row| all || run.is_first(row));
    html! {
        <section class="ways" aria-label={label::ways_title()}>
            <h2>{ label::ways_title() }</h2>
            <p class="says">{ says.to_owned() }</p>
            { notices(store) }
            { progress(store, run) }
            <table class="case-table" aria-label={label::ways_table()}>
                <thead>
                    <tr>
                        <th scope="col">{ label::ways_way() }</th>
                        <th scope="col" class="way-answer">{ label::ways_answer() }</th>
                        { for columns.iter().zip(column_heads(&columns)).map(head) }
                    </tr>
                </thead>
                { for shown.clone().map(|one| row(store, run, one, &columns)) }
            </table>
            if !more.is_empty() {
                <p class="says">{ visible(&more).into_owned() }</p>
            }
            { assumptions(store, run) }
            <div class="row-actions">
                <Copy
                    text={AttrValue::from(messages::rows_markdown(shown.clone().map(|row| &**row), &columns))}
                    label={Some(AttrValue::from(label::ways_copy()))}
                />
            </div>
            if run.rows.iter().any(|row| !run.is_first(row)) {
                <button
                    type="button"
                    class="link"
                    aria-expanded={all.to_string()}
                    onclick={store.sends(DiagnoseMsg::AllWays(!all))}
                >
                    { if all { label::ways_fewer() } else { label::ways_all(&run.rows.len()) } }
                </button>
            }
        </section>
    }
}

fn progress(store: &StateHandle, run: &ChangeRun) -> Html {
    let Some((done, total)) = run.progress() else {
        return Html::default();
    };
    html! {
        <div class="progress">
            <progress value={done.to_string()} max={total.to_string()} aria-label={label::ways_title()} />
            <span>{ label::ways_progress(&done, &total) }</span>
            <button
                type="button"
                class="button small"
                onclick={store.sends(DiagnoseMsg::CancelTable)}
            >
                { label::search_cancel() }
            </button>
        </div>
    }
}

/// A field as a heading: its name, with the whole path behind it.
fn head((path, name): (&Path, String)) -> Html {
    html! {
        <th scope="col" title={visible(&path.to_string()).into_owned()}>{ name }</th>
    }
}

/// Lists the assumptions of the displayed rows, each once.
fn assumptions(store: &StateHandle, run: &ChangeRun) -> Html {
    let all = store.diagnose.all_ways;
    let shown = run.rows.iter().filter(|row| all || run.is_first(row));
    let mut said = Vec::new();
    for one in shown.flat_map(|row| run.assumptions(row.way)) {
        if !said.contains(&one) {
            said.push(one);
        }
    }
    html! {
        { for said.into_iter().map(|one| html! { <p class="says">{ messages::assumption(one) }</p> }) }
    }
}

fn row(store: &StateHandle, run: &ChangeRun, row: &Row, columns: &[Path]) -> Html {
    let (name, more) = messages::way(row.way);
    let code = messages::row_answer(row);
    let refused = row.is_refused();
    let notes = messages::row_notes(row);
    let width = columns.len() + 2;
    let whole = messages::way_whole(row.way);
    html! {
        <tbody class={classes!(refused.then_some("is-refused"))}>
            <tr>
                <th scope="row">
                    { broken(&name) }
                    if let Some(more) = &more {
                        <span>{ " " }{ more.clone() }</span>
                    }
                </th>
                <td class={classes!("way-answer", if refused { "refused" } else { "ok" })}>
                    <b>{ code }</b>
                </td>
                { for columns.iter().map(|column| cell(row, column)) }
            </tr>
            <tr class="notes">
                <td colspan={width.to_string()}>
                    { for notes.into_iter().map(|note| html! {
                        <p>{ visible(&note).into_owned() }</p>
                    }) }
                    <div class="row-actions">
                        if !row.requests.is_empty() {
                            <button
                                type="button"
                                class="link"
                                aria-label={label::ways_step_through(&whole)}
                                onclick={store.sends(DiagnoseMsg::Step(row.way))}
                            >
                                { label::ways_step() }
                            </button>
                        }
                        if run.can_be_explored(row.way) {
                            <button
                                type="button"
                                class="link"
                                aria-label={label::ways_between_of(&whole)}
                                onclick={store.sends(DiagnoseMsg::InBetween(row.way))}
                            >
                                { label::ways_between() }
                            </button>
                        }
                        { instructions(row.way, run.instructions(row.way)) }
                        { details(row) }
                    </div>
                </td>
            </tr>
        </tbody>
    }
}

/// A name that may break behind its dots, `client.` `MergeFrom`, and not in `--server-side`.
pub(super) fn broken(name: &str) -> Html {
    let word = |word: &str| {
        if word.starts_with("--") {
            return html! { <span class="flag">{ word.to_owned() }</span> };
        }
        let parts = word.split_inclusive(['.', ' ']);
        html! { <>{ for parts.map(|part| html! { <>{ part.to_owned() }<wbr /></> }) }</> }
    };
    html! { <>{ for name.split_inclusive(' ').map(word) }</> }
}

/// The command or code of the way, and where its requests were read; folded.
fn instructions(way: Way, all: &[Instruction]) -> Html {
    let summary = if all.is_empty() {
        label::ways_read()
    } else {
        label::ways_instructions()
    };
    html! {
        <details>
            <summary>{ summary }</summary>
            { for all.iter().map(instruction) }
            <p class="muted">{ label::ways_source(&way.source()) }</p>
        </details>
    }
}

/// Draws the effect on a field that has a column.
fn cell(row: &Row, column: &Path) -> Html {
    let outcome = row.fields.iter().find(|field| field.field == *column);
    let class = match outcome.map(|outcome| outcome.effect) {
        Some(FieldEffect::TakenOver) => "lost",
        Some(FieldEffect::Refused) => "refused",
        _ => "",
    };
    html! { <td class={classes!("code", class)}>{ messages::column_fate(row, column) }</td> }
}

/// The maximum number of fields of a row that are listed.
const MAX_FIELDS: usize = 200;

/// Every field that changed, or whose owners changed.
fn details(row: &Row) -> Html {
    if row.fields.is_empty() {
        return Html::default();
    }
    let more = row.fields.len().saturating_sub(MAX_FIELDS);
    let line = |outcome: &FieldOutcome| {
        let owners = messages::owners_change(outcome);
        html! {
            <li>
                <code>{ visible(&outcome.field.to_string()).into_owned() }</code>
                { " " }{ messages::effect(outcome.effect) }{ ": " }{ messages::fate(row, outcome) }
                if !owners.is_empty() {
                    <span class="muted">{ " · " }{ visible(&owners).into_owned() }</span>
                }
            </li>
        }
    };
    html! {
        <details>
            <summary>{ label::ways_fields(&row.fields.len()) }</summary>
            <ul class="fates">{ for row.fields.iter().take(MAX_FIELDS).map(line) }</ul>
            if more > 0 {
                <p class="muted">{ label::happened_more(&more) }</p>
            }
        </details>
    }
}

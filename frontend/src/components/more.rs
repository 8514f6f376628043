//! What an editor has beyond the usual: subresources, dry run, another manager, delete, create.

use optimist_client::{Subresource, Write};
use optimist_simulation::Delete;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::{Callback, Event, Html, TargetCast, html};

use super::controls::ControlsProps;
use crate::browser::ticked;
use crate::state::{EditMsg, RequestMsg, Sends};

const TARGETS: [(Option<Subresource>, &str); 3] = [
    (None, "the object"),
    (Some(Subresource::Status), "/status"),
    (Some(Subresource::Scale), "/scale"),
];

/// Which option of a list was chosen.
pub(crate) fn chosen(event: &Event) -> usize {
    let select = event.target_dyn_into::<HtmlSelectElement>();
    select.map_or(0, |select| select.selected_index().max(0) as usize)
}

/// A box to tick.
pub(crate) fn check(
    on: bool,
    label: &'static str,
    title: &'static str,
    onchange: Callback<bool>,
) -> Html {
    let onchange = onchange.reform(|event: Event| ticked(&event));
    html! {
        <label class="check" {title}>
            <input type="checkbox" checked={on} {onchange} />
            <span>{ label }</span>
        </label>
    }
}

/// Draws the fold and what is in it.
pub(crate) fn more(props: &ControlsProps) -> Html {
    let ControlsProps {
        dispatcher,
        id,
        write,
        read,
        preconditions: delete,
        ..
    } = props;
    let (id, read, delete) = (*id, *read, *delete);
    let changed = |change: fn(&mut Write, Event)| {
        let write = write.clone();
        dispatcher.on(move |event: Event| {
            let mut write = write.clone();
            change(&mut write, event);
            EditMsg::Write(id, write)
        })
    };
    let to = changed(|write, event| {
        write.subresource = TARGETS.get(chosen(&event)).and_then(|(target, _)| *target);
    });
    let manager = changed(|write, event| {
        let input = event.target_dyn_into::<HtmlInputElement>();
        write.manager = input
            .map(|input| input.value())
            .filter(|name| !name.is_empty());
    });
    let dry_run = write.clone();
    let dry_run = dispatcher.on(move |on| {
        EditMsg::Write(
            id,
            Write {
                dry_run: on,
                ..dry_run.clone()
            },
        )
    });
    let uid = dispatcher.on(move |uid| RequestMsg::Preconditions(Delete { uid, ..delete }));
    let version = dispatcher.on(move |resource_version| {
        RequestMsg::Preconditions(Delete {
            resource_version,
            ..delete
        })
    });
    html! {
        <details class="more">
            <summary aria-label={format!("{}: more", props.name)}>{ "more" }</summary>
            <div class="more-panel">
                <label>
                    <span>{ "Write to" }</span>
                    <select onchange={to}>
                        { for TARGETS.iter().map(|(target, label)| html! {
                            <option selected={*target == write.subresource}>{ *label }</option>
                        }) }
                    </select>
                </label>
                <label>
                    <span>{ "Manager" }</span>
                    <input
                        value={write.manager.clone().unwrap_or_default()}
                        placeholder={props.manager.to_string()}
                        spellcheck="false"
                        autocomplete="off"
                        onchange={manager}
                    />
                </label>
                { check(write.dry_run, "dry run", "The server answers and stores nothing", dry_run) }
                <hr />
                { check(delete.uid, "delete only this uid", "Refused if it is another object by now", uid) }
                { check(delete.resource_version, "delete only this version", "Refused if it was changed since", version) }
                <div class="buttons">
                    <button
                        type="button"
                        class="button small"
                        disabled={!read && (delete.uid || delete.resource_version)}
                        onclick={dispatcher.sends(RequestMsg::Delete(id))}
                    >
                        { "Delete" }
                    </button>
                    <button
                        type="button"
                        class="button small"
                        disabled={!read}
                        title="POST the working copy"
                        onclick={dispatcher.sends(RequestMsg::Create(id))}
                    >
                        { "Create" }
                    </button>
                    <button
                        type="button"
                        class="button small"
                        title="Write method, path and body yourself"
                        onclick={dispatcher.sends(RequestMsg::Begin(id))}
                    >
                        { "By hand…" }
                    </button>
                </div>
            </div>
        </details>
    }
}

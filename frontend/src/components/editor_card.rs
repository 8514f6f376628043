//! An editor: the object that it read, its edits, and its way of sending them.

use optimist_client::{COPIES, Declares, Strategy, dotted};
use optimist_messages::{cards, label, writes_otherwise};
use optimist_simulation::ActorId;
use web_sys::HtmlTextAreaElement;
use yew::{Event, Html, InputEvent, TargetCast, classes, html};

use super::cards::CardRows;
use super::controls::{Controls, controls};
use super::more;
use super::yaml_view::YamlView;
use crate::state::{Dialog, EditMsg, Lane, RawYaml, Sends, State, StateHandle, ViewMsg};

/// Returns the version of an editor's copy: its words, those for a place with little room, and its
/// tone. The editor's way of writing names the version of a stale copy too.
fn chip(state: &State, editor: ActorId) -> ([String; 2], &'static str) {
    let world = state.world();
    let tone = match (world.copy(editor).read(), world.stale_by(editor)) {
        (None, _) => "plain",
        (Some(_), 0) => "ok",
        (Some(_), _) => "refused",
    };
    (cards::copy_version(world, editor), tone)
}

/// Words where there is room for them, and where there is little.
fn either([roomy, tight]: [String; 2]) -> Html {
    html! {
        <>
            <span class="roomy">{ roomy }</span>
            <span class="tight">{ tight }</span>
        </>
    }
}

pub(crate) fn editor_card(store: &StateHandle, id: ActorId, rows: &CardRows) -> Html {
    let name = &store.world().actor(id).name;
    let copy = store.world().copy(id);
    let lane = Lane::Editor(id);
    let slug = lane.slug();
    let (chip, tone) = chip(store, id);
    let raw = store.editing.raw.get(&id);
    html! {
        <section
            class={classes!("card", "editor", slug, (store.view.focus == id).then_some("focused"))}
            id={format!("card-{slug}")}
            tabindex="-1"
            aria-label={name.to_string()}
            data-open={(store.view.lane == lane).to_string()}
            onfocusin={store.sends(ViewMsg::Focus(id))}
        >
            <header class="card-head">
                <h2>{ who(store, id) }</h2>
                if let Some(otherwise) = writes_otherwise(&store.world().actor(id).write()) {
                    <span class="writes-as" title={otherwise.clone()}>{ otherwise }</span>
                }
                if store.world().stale_by(id) > 0 {
                    { stale(store, id, chip) }
                } else {
                    <span class={classes!("chip", tone)}>{ either(chip) }</span>
                }
            </header>
            if let Some(raw) = raw {
                { raw_text(store, id, raw) }
            } else if let Some(object) = copy.edited() {
                <YamlView
                    dispatcher={store.dispatcher()}
                    rows={rows.clone()}
                    copy={if id == ActorId::A { 0 } else { COPIES - 1 }}
                    id={slug}
                    label={label::working_copy(name)}
                    {object}
                    marks={copy.edits_by_item(&store.world().resource().root)}
                    tone={slug}
                    toggled={store.view.toggled.clone()}
                    editor={(id, name.clone())}
                    is_scale={copy.is_scale()}
                    declared={declared(store, id)}
                    editing={store.editing.in_place.clone().filter(|editing| editing.editor == id)}
                />
            } else {
                <div class="yaml blank">
                    <p>{ label::nothing_read() }</p>
                    <p>{ label::nothing_read_next() }</p>
                </div>
            }
            // Another editor's are other elements: radio buttons that are renamed into the group of
            // others lose which of them is chosen.
            <Controls key={slug} ..controls(store, id) />
        </section>
    }
}

/// Returns the fields that an apply of the editor declares unchanged; `None` if the editor does not
/// apply its edits.
fn declared(store: &StateHandle, id: ActorId) -> Option<Vec<String>> {
    let write = store.world().actor(id).write();
    let copy = store.world().copy(id);
    let applies = (write.strategy, write.declares) == (Strategy::Apply, Declares::Edits);
    let object = copy
        .edited()
        .filter(|_| applies && write.subresource.is_none())?;
    let fields = copy.declared().iter();
    Some(fields.filter_map(|field| field.pointer(object)).collect())
}

/// Says how many versions a copy is behind, and lists the changes since.
fn stale(store: &StateHandle, id: ActorId, chip: [String; 2]) -> Html {
    let changed = store.world().changed_since_read(id);
    html! {
        <details class="more stale">
            <summary class="chip refused">{ either(chip) }</summary>
            <div class="more-panel">
                <p>{ cards::stale(store.world(), id) }</p>
                { for changed.iter().map(|change| html! {
                    <p class="change" title={dotted(&change.pointer)}>{ change.to_string() }</p>
                }) }
            </div>
        </details>
    }
}

/// Shows the working copy as a text. The typed text becomes the working copy as soon as it is an
/// object.
fn raw_text(store: &StateHandle, id: ActorId, raw: &RawYaml) -> Html {
    let name = store.name(id);
    let oninput = store.on(move |event: InputEvent| {
        let field = event.target_dyn_into::<HtmlTextAreaElement>();
        EditMsg::RawText(id, field.map(|field| field.value()).unwrap_or_default())
    });
    let error_id = format!("raw-error-{}", Lane::Editor(id).slug());
    html! {
        <div class="raw">
            <textarea
                aria-label={label::working_copy_yaml(&name)}
                aria-invalid={raw.error.is_some().to_string()}
                aria-describedby={raw.error.is_some().then(|| error_id.clone())}
                value={raw.text.clone()}
                spellcheck="false"
                autocapitalize="off"
                wrap="off"
                {oninput}
            />
            if let Some(error) = &raw.error {
                <p class="typing-error" id={error_id} role="alert">{ error.clone() }</p>
            }
        </div>
    }
}

/// Returns the name of a lane's actor. In the right lane it can be the third actor.
pub(super) fn who(store: &StateHandle, id: ActorId) -> Html {
    let name = |id: ActorId| store.name(id).to_owned();
    if id == ActorId::A || store.shows_only_the_first_steps() {
        return html! { { name(id) } };
    }
    let actors: Vec<ActorId> = store.right_actors().collect();
    let onchange = {
        let actors = actors.clone();
        store.on(move |event: Event| {
            let actor = actors.get(more::chosen(&event)).copied();
            ViewMsg::Open(Lane::Editor(actor.unwrap_or(ActorId::B)))
        })
    };
    html! {
        <>
            <select class="who" aria-label={label::whose_lane()} {onchange}>
                { for actors.iter().map(|other| html! {
                    <option selected={*other == id}>{ name(*other) }</option>
                }) }
            </select>
            { add_actor(store) }
        </>
    }
}

/// Draws the button that adds an actor. If all take part, it says so.
pub(super) fn add_actor(store: &StateHandle) -> Html {
    let next = store.next_actor();
    let text = match next {
        Some(next) => label::actor_add(&store.name(next)),
        None => label::actor_add_most(&ActorId::ALL.len()),
    };
    html! {
        <button
            type="button"
            class="tool third"
            aria-label={text.clone()}
            title={text}
            disabled={next.is_none()}
            onclick={store.sends(ViewMsg::Dialog(Some(Dialog::Controllers)))}
        >
            { "+" }<span class="roomy">{ " " }{ label::third_add() }</span>
        </button>
    }
}

//! The setup of a search.

use optimist_client::Preset;
use optimist_messages::{explore as messages, label};
use optimist_simulation::ActorId;
use optimist_simulation::explore::{PRESETS, Plan, ThirdActor};
use yew::{Callback, Event, Html, html};

use super::{Explored, on};
use crate::browser::{selected, ticked};
use crate::state::{EditSource, ExploreMsg, ExploreSetup, ThirdActorChoice};

/// The choices of the scenario.
pub(super) fn setup(model: &Explored) -> Html {
    let setup = &model.setup;
    let tick = |change: fn(&mut ExploreSetup, bool)| {
        changed(model, move |setup, event| change(setup, ticked(event)))
    };
    html! {
        <form class="explore-setup">
            { edits(model) }
            { third(model) }
            { tries(model) }
            <div class="checks">
                { check(
                    label::setup_read_first(),
                    label::setup_read_first_hint(),
                    setup.reads_first,
                    tick(|setup, on| setup.reads_first = on),
                ) }
                { check(
                    label::setup_look_inside(),
                    label::setup_look_inside_hint(),
                    setup.micro_steps,
                    tick(|setup, on| setup.micro_steps = on),
                ) }
                { check(
                    label::setup_lost_answer(),
                    label::setup_lost_answer_hint(),
                    setup.loses_answer,
                    tick(|setup, on| setup.loses_answer = on),
                ) }
            </div>
        </form>
    }
}

/// A callback that changes the scenario.
fn changed(
    model: &Explored,
    change: impl Fn(&mut ExploreSetup, &Event) + 'static,
) -> Callback<Event> {
    let setup = model.setup.clone();
    on(model, move |event: Event| {
        let mut setup = setup.clone();
        change(&mut setup, &event);
        ExploreMsg::Setup(setup)
    })
}

fn edits(model: &Explored) -> Html {
    let setup = &model.setup;
    let from_play = model.from_play.clone();
    let choose = changed(model, move |setup, event| {
        let slug = selected(event);
        let preset = PRESETS.iter().position(|preset| preset.slug == slug);
        let subject = preset.map(EditSource::Preset).or_else(|| from_play.clone());
        if let Some(subject) = subject {
            setup.subject = subject;
        }
    });
    html! {
        <label class="field wide">
            <span>{ label::setup_edits() }</span>
            <select aria-label={label::setup_edits()} onchange={choose}>
                if let Some(from_play) = &model.from_play {
                    <option value={ThirdActorChoice::OfPlay.slug()} selected={setup.subject == *from_play}>
                        { if from_play.between().is_some() { label::setup_of_case() } else { label::setup_from_play() } }
                    </option>
                }
                { for PRESETS.iter().enumerate().map(|(i, preset)| html! {
                    <option value={preset.slug} selected={setup.subject == EditSource::Preset(i)}>
                        { messages::pair(preset).map(|(title, _)| title).unwrap_or_default() }
                    </option>
                }) }
            </select>
        </label>
    }
}

fn third(model: &Explored) -> Html {
    let third = model.setup.third();
    let others = model.setup.subject.others();
    let choose = changed(model, |setup, event| {
        setup.third = ThirdActorChoice::named(&selected(event));
    });
    let preset = |preset| Some(ThirdActorChoice::Preset(preset));
    let option = |editor: ThirdActor| {
        html! {
            <option value={editor.slug()} selected={third == preset(editor)}>
                { messages::third(editor) }
            </option>
        }
    };
    let title = messages::others_heading(others.len());
    html! {
        <label class="field">
            <span>{ &title }</span>
            <select aria-label={title} onchange={choose}>
                <option value="" selected={third.is_none()}>{ label::setup_no_third() }</option>
                { for ThirdActor::EDITORS.map(option) }
                if !others.is_empty() {
                    <option value="play" selected={third == Some(ThirdActorChoice::OfPlay)}>
                        { of_play(&others) }
                    </option>
                }
                { tool_options(Plan::TOOLS, |tool| third == preset(ThirdActor::Tool(tool))) }
            </select>
        </label>
    }
}

/// Draws the tools of a choice.
pub(crate) fn tool_options(
    tools: impl IntoIterator<Item = Preset>,
    is_chosen: impl Fn(Preset) -> bool,
) -> Html {
    html! {
        <optgroup label={label::setup_third_tools()}>
            { for tools.into_iter().map(|tool| html! {
                <option value={tool.slug()} selected={is_chosen(tool)}>
                    { messages::third(ThirdActor::Tool(tool)) }
                </option>
            }) }
        </optgroup>
    }
}

/// Names the other actors of Play whose edits take part.
fn of_play(others: &[ActorId]) -> String {
    let letters: Vec<&str> = others.iter().map(|actor| actor.letter()).collect();
    match letters.as_slice() {
        [one] => label::setup_third_of_play(one),
        several => label::setup_others_of_play(&several.join(", ")),
    }
}

fn tries(model: &Explored) -> Html {
    let tries = model.setup.tries;
    let choose = changed(model, |setup, event| {
        setup.tries = selected(event).parse().unwrap_or(setup.tries);
    });
    html! {
        <label class="field">
            <span>{ label::setup_tries_on_conflict() }</span>
            <select aria-label={label::setup_tries()} onchange={choose}>
                { for (2..=6u8).map(|count| html! {
                    <option value={count.to_string()} selected={tries == count}>{ count }</option>
                }) }
            </select>
        </label>
    }
}

fn check(label: String, hint: String, on: bool, onchange: Callback<Event>) -> Html {
    html! {
        <label class="check" title={hint.clone()}>
            <input type="checkbox" checked={on} {onchange} />
            <span>{ label }<span class="unseen">{ ". " }{ hint }</span></span>
        </label>
    }
}

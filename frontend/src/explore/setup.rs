//! What is to be explored.

use optimist_messages::explore as messages;
use optimist_simulation::explore::{PRESETS, ThirdActor};
use yew::{Callback, Event, Html, html};

use super::model::{EditSource, ExploreMsg, Setup, ThirdActorChoice};
use super::{Explored, on};
use crate::browser::{selected, ticked};

pub(super) fn setup(model: &Explored) -> Html {
    let with_edits = {
        let (setup, from_play) = (model.setup.clone(), model.from_play.clone());
        on(model, move |event: Event| {
            let slug = selected(&event);
            let ready = PRESETS.iter().position(|ready| ready.slug == slug);
            let subject = ready.map(EditSource::Preset).or_else(|| from_play.clone());
            let mut setup = setup.clone();
            setup.subject = subject.unwrap_or(setup.subject);
            ExploreMsg::Setup(setup)
        })
    };
    let with_tries = {
        let setup = model.setup.clone();
        on(model, move |event: Event| {
            let tries = selected(&event).parse().unwrap_or(setup.tries);
            ExploreMsg::Setup(Setup {
                tries,
                ..setup.clone()
            })
        })
    };
    let with_third = {
        let setup = model.setup.clone();
        on(model, move |event: Event| {
            ExploreMsg::Setup(Setup {
                third: ThirdActorChoice::named(&selected(&event)),
                ..setup.clone()
            })
        })
    };
    let on_tick = |change: fn(&mut Setup, bool)| {
        let setup = model.setup.clone();
        on(model, move |event: Event| {
            let mut setup = setup.clone();
            change(&mut setup, ticked(&event));
            ExploreMsg::Setup(setup)
        })
    };
    let setup = &model.setup;
    let third = setup.third();
    html! {
        <form class="explore-setup">
            <label class="field wide">
                <span>{ "Edits" }</span>
                <select aria-label="Edits" onchange={with_edits}>
                    if let Some(from_play) = &model.from_play {
                        <option value={ThirdActorChoice::OfPlay.slug()} selected={setup.subject == *from_play}>
                            { "Working copies in Play" }
                        </option>
                    }
                    { for PRESETS.iter().enumerate().map(|(i, ready)| html! {
                        <option
                            value={ready.slug}
                            selected={setup.subject == EditSource::Preset(i)}
                        >
                            { messages::pair(ready).map(|(title, _)| title).unwrap_or_default() }
                        </option>
                    }) }
                </select>
            </label>
            <label class="field">
                <span>{ "A third actor" }</span>
                <select aria-label="A third actor" onchange={with_third}>
                    <option value="" selected={third.is_none()}>{ "none" }</option>
                    { for ThirdActor::ALL.map(|ready| html! {
                        <option
                            value={ready.slug()}
                            selected={third == Some(ThirdActorChoice::Preset(ready))}
                        >
                            { messages::third(ready) }
                        </option>
                    }) }
                    if setup.subject.has_third() {
                        <option value="play" selected={third == Some(ThirdActorChoice::OfPlay)}>
                            { "its working copy in Play" }
                        </option>
                    }
                </select>
            </label>
            <label class="field">
                <span>{ "Tries on conflict" }</span>
                <select aria-label="Tries" onchange={with_tries}>
                    { for (2..=6u8).map(|tries| html! {
                        <option value={tries.to_string()} selected={setup.tries == tries}>{ tries }</option>
                    }) }
                </select>
            </label>
            <div class="checks">
                { check("Read first", "Otherwise everybody edits the starting object, as from a file.",
                    setup.reads_first, on_tick(|setup, on| setup.reads_first = on)) }
                { check("Look inside requests",
                    "The server first reads, and compares and puts later. Others may come in between.",
                    setup.micro_steps, on_tick(|setup, on| setup.micro_steps = on)) }
            </div>
        </form>
    }
}

fn check(label: &'static str, hint: &'static str, on: bool, onchange: Callback<Event>) -> Html {
    html! {
        <label class="check" title={hint}>
            <input type="checkbox" checked={on} {onchange} />
            <span>{ label }<span class="unseen">{ ". " }{ hint }</span></span>
        </label>
    }
}

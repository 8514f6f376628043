//! Stepping back and forth, and where in the history we are.

use optimist_simulation::{ActorId, Exchange, NodeId, Outcome, Step};
use web_sys::HtmlInputElement;
use yew::{Html, InputEvent, Properties, TargetCast, classes, component, html};

use super::fold::counted;
use super::icon::{Icon, icon};
use crate::state::{Dialog, Sends, SessionMsg, StateHandle, ViewMsg};

/// With more steps than this, marks are ticks: a long history must not cost an element a step.
const CROWDED: usize = 60;

pub(crate) fn transport(store: &StateHandle) -> Html {
    let tree = &store.session.tree;
    let line = tree.current_path();
    let (here, last) = (tree.position(), line.len() - 1);
    let (mut conflicts, mut refused, mut lost) = (0, 0, 0);
    for step in line[..=here].iter().filter_map(|&node| tree.step(node)) {
        if step.exchange.as_ref().is_some_and(Exchange::is_conflict) {
            conflicts += 1;
        } else if step.outcome() == Outcome::Refused {
            refused += 1;
        }
        lost += step.losses.len();
    }
    let histories = tree.ends().len();
    let button = |msg: SessionMsg, label: &'static str, class: &'static str, sign, off: bool| {
        html! {
            <button
                type="button"
                class={classes!("icon-button", class)}
                aria-label={label}
                title={label}
                disabled={off}
                onclick={store.sends(msg)}
            >
                { icon(sign) }
            </button>
        }
    };
    let (play, sign) = if store.session.playing {
        ("Pause", Icon::Pause)
    } else {
        ("Play the history", Icon::Play)
    };
    html! {
        <footer class="transport" aria-label="Steps">
            { button(SessionMsg::First, "First", "first", Icon::First, here == 0) }
            { button(SessionMsg::Back, "Back", "back", Icon::Back, here == 0) }
            { button(SessionMsg::Forward, "Forward", "forward", Icon::Forward, here == last) }
            { button(SessionMsg::Last, "Last", "last", Icon::Last, here == last) }
            { button(SessionMsg::Play, play, "play", sign, last == 0) }
            <span class="position">{ format!("step {here} / {last}") }</span>
            { scrubber(store, line, here) }
            if histories > 1 {
                <button
                    type="button"
                    class="button small histories"
                    onclick={store.sends(ViewMsg::Dialog(Some(Dialog::Branches)))}
                >
                    { format!("{histories} histories") }
                </button>
            }
            if lost > 0 {
                <span class="chip lost">{ counted(lost, "lost update") }</span>
            }
            if refused > 0 {
                <span class="chip refused">{ format!("{refused} refused") }</span>
            }
            if conflicts > 0 {
                <span class="chip conflicts refused">{ counted(conflicts, "conflict") }</span>
            } else if lost + refused == 0 {
                <span class="chip plain">{ "no conflict" }</span>
            }
        </footer>
    }
}

fn scrubber(store: &StateHandle, line: &[NodeId], here: usize) -> Html {
    let last = line.len() - 1;
    let share = |position: usize| position as f64 / last.max(1) as f64;
    let mark = |(position, node): (usize, &NodeId)| {
        let step = store.session.tree.step(*node);
        let slug = step.map_or("start", super::step_row::slug);
        let refused = step.is_some_and(|step| step.outcome() == Outcome::Refused);
        let class = classes!(
            "mark",
            slug,
            refused.then_some("refused"),
            step.is_some_and(|step| !step.losses.is_empty())
                .then_some("lossy"),
            (position > here).then_some("future"),
            (position == here).then_some("current"),
        );
        html! {
            <span {class} style={format!("--at:{:.4}", share(position))} key={position}>
                if refused {
                    { icon(Icon::Cross) }
                }
            </span>
        }
    };
    let steps = line
        .iter()
        .filter_map(|&node| store.session.tree.step(node));
    let step = store.session.tree.step(store.session.tree.current());
    let text = step.map_or("start".to_owned(), |step| {
        optimist_messages::sentence(step, store.world())
    });
    let oninput = store.on(|event: InputEvent| {
        let input = event.target_dyn_into::<HtmlInputElement>();
        let position = input.and_then(|input| input.value().parse().ok());
        SessionMsg::Seek(position.unwrap_or(0))
    });
    html! {
        <div class="scrubber">
            <span class="rail" />
            <span class="rail done" style={format!("--at:{:.4}", share(here))} />
            if last > CROWDED {
                <Ticks ticks={steps.map(Tick::of).collect::<Vec<_>>()} />
                <span class="mark current" style={format!("--at:{:.4}", share(here))} />
            } else {
                { for line.iter().enumerate().map(mark) }
            }
            <input
                type="range"
                min="0"
                max={last.to_string()}
                value={here.to_string()}
                disabled={last == 0}
                aria-label="Step"
                aria-valuetext={format!("step {here} of {last}: {text}")}
                {oninput}
            />
        </div>
    }
}

/// What a tick says of its step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tick {
    /// It lost an update.
    Lossy,
    A,
    B,
    Refused,
    /// Neither editor did it.
    Server,
}

impl Tick {
    fn of(step: &Step) -> Self {
        match (step.outcome(), step.actor()) {
            _ if !step.losses.is_empty() => Self::Lossy,
            (Outcome::Refused, _) => Self::Refused,
            (_, Some(ActorId::A)) => Self::A,
            (_, Some(ActorId::B)) => Self::B,
            (_, Some(ActorId::C) | None) => Self::Server,
        }
    }
}

#[derive(PartialEq, Properties)]
struct TicksProps {
    /// One for each step.
    ticks: Vec<Tick>,
}

/// All steps as a path for each sort of tick.
#[component]
fn Ticks(props: &TicksProps) -> Html {
    let path = |(tick, class, reach): (Tick, &'static str, &str)| {
        let steps = (1..).zip(&props.ticks).filter(|(_, at)| **at == tick);
        let d: String = steps
            .map(|(position, _)| format!("M{position}{reach}"))
            .collect();
        html! { <path {class} {d} /> }
    };
    let sorts = [
        (Tick::Lossy, "lossy", "-4V14"),
        (Tick::A, "a", " 0V5"),
        (Tick::B, "b", " 5V10"),
        (Tick::Refused, "refused", "-4V14"),
        (Tick::Server, "server", " 3V7"),
    ];
    html! {
        <svg
            class="ticks"
            viewBox={format!("0 0 {} 10", props.ticks.len())}
            preserveAspectRatio="none"
            aria-hidden="true"
        >
            { for sorts.map(path) }
        </svg>
    }
}

//! Stepping back and forth, and where in the history we are.

use optimist_client::visible;
use optimist_messages::cards::{self, StepTrouble, TroubleKind};
use optimist_messages::label;
use optimist_simulation::{ActorId, HistoryTree, NodeId, Outcome, Step};
use web_sys::HtmlInputElement;
use yew::{Html, InputEvent, Properties, TargetCast, classes, component, html};

use super::icon::{Icon, icon};
use crate::state::{Dialog, Lane, Sends, SessionMsg, StateHandle, ViewMsg};

/// With more steps than this, marks are ticks: a long history must not cost an element a step.
const CROWDED: usize = 60;

pub(crate) fn transport(store: &StateHandle) -> Html {
    let tree = &store.session.tree;
    let line = tree.current_path();
    let (here, last) = (tree.position(), line.len() - 1);
    let button = |msg: SessionMsg, label: String, class: &'static str, sign, off: bool| {
        html! {
            <button
                type="button"
                class={classes!("icon-button", class)}
                aria-label={label.clone()}
                title={label}
                disabled={off}
                onclick={store.sends(msg)}
            >
                { icon(sign) }
            </button>
        }
    };
    html! {
        <footer class="transport" aria-label={label::steps()}>
            { button(SessionMsg::First, label::step_first(), "first", Icon::First, here == 0) }
            { button(SessionMsg::Back, label::step_back(), "back", Icon::Back, here == 0) }
            { button(SessionMsg::Forward, label::step_forward(), "forward", Icon::Forward, here == last) }
            { button(SessionMsg::Last, label::step_last(), "last", Icon::Last, here == last) }
            { play(store, last == 0) }
            <span class="position">{ label::step_position(&here, &last) }</span>
            { scrubber(store, line, here) }
            { branches(store) }
            { counts(tree) }
        </footer>
    }
}

/// Takes a step after the other. It has its word, for its sign alone is close to that of a step.
fn play(store: &StateHandle, off: bool) -> Html {
    let playing = store.session.playing;
    let (word, label, sign) = if playing {
        (label::step_pause(), label::step_pause(), Icon::Pause)
    } else {
        (label::step_play(), label::step_play_label(), Icon::Play)
    };
    html! {
        <button
            type="button"
            class="button play"
            aria-label={label.clone()}
            title={label}
            disabled={off}
            onclick={store.sends(SessionMsg::Play)}
        >
            { icon(sign) }
            <span>{ word }</span>
        </button>
    }
}

/// Draws the number of branches, and the name of the current one.
fn branches(store: &StateHandle) -> Html {
    let tree = &store.session.tree;
    let count = tree.ends().len();
    let end = tree.current_path().last().copied();
    let text = match end.and_then(|end| tree.name(end)) {
        Some(name) => label::branches_here(&count, &visible(name)),
        None if count > 1 => label::branches_count(&count),
        None => return Html::default(),
    };
    html! {
        <button
            type="button"
            class="button small branch-list"
            title={text.clone()}
            onclick={store.sends(ViewMsg::Dialog(Some(Dialog::Branches)))}
        >
            <span>{ text }</span>
        </button>
    }
}

/// Counts the conflicts and the lost updates so far.
fn counts(tree: &HistoryTree) -> Html {
    let class = |kind| match kind {
        TroubleKind::Broken | TroubleKind::Lost => "lost",
        TroubleKind::Refused => "refused",
        TroubleKind::Conflicts => "conflicts refused",
        TroubleKind::None => "plain",
    };
    let chip = |one: StepTrouble| {
        let title = Some(one.title).filter(|title| !title.is_empty());
        html! { <span class={classes!("chip", class(one.kind))} {title}>{ one.text }</span> }
    };
    html! { { for cards::trouble(tree).into_iter().map(chip) } }
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
    let text = step.map_or_else(label::step_start, |step| {
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
                <Ticks ticks={steps.map(Tick::from_step).collect::<Vec<_>>()} />
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
                aria-label={label::step()}
                aria-valuetext={label::step_of(&here, &last, &text)}
                {oninput}
            />
        </div>
    }
}

/// The kind of a tick, by the result of its step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tick {
    /// It lost an update.
    Lossy,
    Refused,
    /// An actor did it.
    Actor(ActorId),
    /// No actor did it.
    Server,
}

impl Tick {
    fn from_step(step: &Step) -> Self {
        match (step.outcome(), step.actor()) {
            _ if !step.losses.is_empty() => Self::Lossy,
            (Outcome::Refused, _) => Self::Refused,
            (_, Some(actor)) => Self::Actor(actor),
            (_, None) => Self::Server,
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
    let of_actor = |actor| {
        let reach = match actor {
            ActorId::A => " 0V5",
            ActorId::B => " 5V10",
            _ => " 3V7",
        };
        (Tick::Actor(actor), Lane::Editor(actor).slug(), reach)
    };
    let others = [
        (Tick::Lossy, "lossy", "-4V14"),
        (Tick::Refused, "refused", "-4V14"),
        (Tick::Server, "server", " 3V7"),
    ];
    let sorts = ActorId::ALL.map(of_actor).into_iter().chain(others);
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

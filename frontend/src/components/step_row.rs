//! One step of the timeline: an arrow to the server, an answer, and what the store did.

use optimist_messages as messages;
use optimist_simulation::{ActorId, NodeId, Outcome, Step};
use yew::{Callback, Html, MouseEvent, Properties, classes, component, html};

use super::icon::{Icon, icon};
use super::watch::arrows::Events;
use crate::state::{Dialog, Dispatcher, Lane, Sends, SessionMsg, State, ViewMsg};

/// Of more branches than this a phone shows only the one we are on; the others are in the dialog.
const CROWDED: usize = 3;

/// Where a step stands, seen from the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepPhase {
    Past,
    Current,
    Future,
}

/// One of the histories that go on from the same place.
#[derive(Clone, PartialEq)]
pub(crate) struct Branch {
    pub(crate) node: NodeId,
    /// What it begins with.
    pub(crate) label: String,
    pub(crate) shown: bool,
}

/// Everything that a row shows, so that rows that look the same are not drawn again.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct StepRowProps {
    pub(crate) node: NodeId,
    pub(crate) phase: StepPhase,
    /// The actor of the step; `None` for a step of the watcher or without an actor.
    pub(crate) editor: Option<ActorId>,
    pub(crate) outcome: Outcome,
    /// Whether it took away what another had written.
    pub(crate) lossy: bool,
    pub(crate) headline: String,
    pub(crate) answer: String,
    pub(crate) pill: Option<(String, &'static str)>,
    /// What reached the watcher.
    pub(crate) events: Events,
    /// The row's text for screen readers.
    pub(crate) sentence: String,
    /// The histories that fork here; empty where there is only one.
    pub(crate) branches: Vec<Branch>,
    pub(crate) dispatcher: Dispatcher,
}

/// The class of whoever did a step.
pub(crate) fn slug(step: &Step) -> &'static str {
    step.actor().map_or(Lane::Server, Lane::Editor).slug()
}

/// The class of the pill of a step.
fn pill_tone(step: &Step) -> &'static str {
    match step.outcome() {
        Outcome::Written if step.losses.is_empty() => "ok",
        Outcome::Written => "lost",
        Outcome::Refused => "refused",
        Outcome::Read | Outcome::Unchanged | Outcome::Done => "plain",
    }
}

/// The row of a node, seen from `here`; `None` for the root.
pub(crate) fn row(
    state: &State,
    (position, here): (usize, usize),
    (parent, node): (NodeId, NodeId),
    dispatcher: &Dispatcher,
) -> Option<StepRowProps> {
    let tree = &state.session.tree;
    let step = tree.step(node)?;
    let siblings = tree.branches(parent);
    let branches = siblings
        .iter()
        .filter(|_| siblings.len() > 1)
        .filter_map(|&sibling| {
            let step = tree.step(sibling)?;
            Some(Branch {
                node: sibling,
                label: messages::summary(step, state.world()),
                shown: sibling == node,
            })
        });
    Some(StepRowProps {
        node,
        phase: match position.cmp(&here) {
            std::cmp::Ordering::Less => StepPhase::Past,
            std::cmp::Ordering::Equal => StepPhase::Current,
            std::cmp::Ordering::Greater => StepPhase::Future,
        },
        editor: step.actor(),
        events: Events::of(&step.arrived),
        outcome: step.outcome(),
        lossy: !step.losses.is_empty(),
        headline: messages::ask(step),
        answer: messages::answer(step),
        pill: messages::pill(step).map(|pill| (pill, pill_tone(step))),
        sentence: format!(
            "Step {position}. {}",
            messages::sentence(step, state.world())
        ),
        branches: branches.collect(),
        dispatcher: dispatcher.clone(),
    })
}

#[component]
pub(crate) fn StepRow(props: &StepRowProps) -> Html {
    let phase = match props.phase {
        StepPhase::Past => "past",
        StepPhase::Current => "current",
        StepPhase::Future => "future",
    };
    let outcome = match props.outcome {
        Outcome::Read => "read",
        Outcome::Written => "written",
        Outcome::Unchanged => "unchanged",
        Outcome::Refused => "refused",
        Outcome::Done => "done",
    };
    let slug = props
        .editor
        .map_or("watch", |editor| Lane::Editor(editor).slug());
    let lines = props.events.lines();
    let node = props.node;
    let go = |node: NodeId| {
        let dispatcher = props.dispatcher.clone();
        Callback::from(move |_: MouseEvent| dispatcher.send(SessionMsg::Go(node)))
    };
    html! {
        <li
            class={classes!(
                "step",
                slug,
                phase,
                outcome,
                props.lossy.then_some("lossy"),
                props.pill.is_some().then_some("has-pill"),
                (lines > 0).then_some("hears"),
            )}
            id={format!("step-{node}")}
            style={(lines > 0).then(|| format!("--heard:{lines}"))}
        >
            <button
                type="button"
                class="step-button"
                aria-label={props.sentence.clone()}
                aria-current={(props.phase == StepPhase::Current).then_some("step")}
                onclick={go(node)}
            >
                <span class="half">
                    // With a space, or the last word and the next would be one to those who
                    // hear them.
                    <span class="ask">{ format!("{} ", props.headline) }</span>
                    if props.outcome != Outcome::Done {
                        { arrows(props.editor) }
                    }
                    <span class="answer">
                        { props.answer.clone() }
                        if props.outcome == Outcome::Written && !props.lossy {
                            { icon(Icon::Check) }
                        }
                        if props.outcome == Outcome::Refused {
                            { icon(Icon::Cross) }
                        }
                        { " " }
                    </span>
                </span>
                if let Some((text, tone)) = &props.pill {
                    <span class={classes!("pill", *tone)}>{ text.clone() }</span>
                }
                if lines > 0 {
                    { props.events.draw() }
                }
            </button>
            if !props.branches.is_empty() {
                <span
                    class={classes!("fork", (props.branches.len() > CROWDED).then_some("crowded"))}
                    role="group"
                    aria-label="Histories that go on from here"
                >
                    { icon(Icon::Branch) }
                    { for props.branches.iter().enumerate().map(|(i, branch)| {
                        let node = branch.node;
                        html! {
                            <button
                                type="button"
                                aria-pressed={branch.shown.to_string()}
                                aria-label={format!("Branch {}, {}", i + 1, branch.label)}
                                title={branch.label.clone()}
                                onclick={go(node)}
                            >
                                { i + 1 }
                            </button>
                        }
                    }) }
                    <button
                        type="button"
                        aria-label="Compare histories"
                        title="Compare histories"
                        onclick={{
                            let dispatcher = props.dispatcher.clone();
                            move |_| dispatcher.send(ViewMsg::Dialog(Some(Dialog::Branches)))
                        }}
                    >
                        { "⋯" }
                    </button>
                </span>
            }
        </li>
    }
}

/// The request slants down to the server, its answer back: time runs downwards.
fn arrows(editor: Option<ActorId>) -> Html {
    let (near, far) = match editor {
        Some(ActorId::A) => ("0%", "100%"),
        Some(ActorId::B | ActorId::C) | None => ("100%", "0%"),
    };
    html! {
        <span class="arrows">
            <svg aria-hidden="true">
                <line class="request" x1={near} y1="4" x2={far} y2="14" />
                <line class="response" x1={far} y1="28" x2={near} y2="38" />
            </svg>
        </span>
    }
}

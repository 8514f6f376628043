//! One step of the timeline: a request and its answer, and the store's change. The current step has an arrow for
//! each; any other step is one line.

use optimist_messages::{self as messages, label};
use optimist_simulation::{ActorId, EventArrow, NodeId, Outcome, RunPart, Step};
use yew::{Classes, Html, Properties, classes, component, html};

use super::branch_picker::{BranchRow, branch_picker};
use super::icon::{Icon, icon};
use super::watch::arrows::{self, EventArrows};
use crate::state::{Dispatcher, Lane, Sends, SessionMsg, State};

/// The position of a step relative to the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepPhase {
    Past,
    Current,
    Future,
}

impl StepPhase {
    fn class(self) -> &'static str {
        match self {
            StepPhase::Past => "past",
            StepPhase::Current => "current",
            StepPhase::Future => "future",
        }
    }
}

/// Everything that a row shows, so that rows that look the same are not drawn again.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct StepRowProps {
    pub(crate) node: NodeId,
    pub(crate) phase: StepPhase,
    /// The actor of the step; `None` for a step of the watcher or without an actor.
    pub(crate) editor: Option<ActorId>,
    pub(crate) outcome: Outcome,
    /// `true` if the step replaced an edit that its actor had not seen.
    pub(crate) lossy: bool,
    pub(crate) headline: String,
    /// The same where there is little room, if it names a long value.
    pub(crate) brief: Option<String>,
    pub(crate) answer: String,
    /// `true` if the answer did not arrive.
    pub(crate) is_answer_lost: bool,
    pub(crate) pill: Option<(String, &'static str)>,
    /// The events that reached the watcher.
    pub(crate) events: EventArrows,
    /// The events that the step sent to the controller, and whether they have arrived.
    pub(crate) sent: Vec<(String, bool)>,
    /// The run of the controller that the step belongs to.
    pub(crate) run: Option<RunPart>,
    /// The row's text for screen readers.
    pub(crate) sentence: String,
    /// The branches that part here; empty where there is only one.
    pub(crate) branches: Vec<BranchRow>,
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

/// The branches that part before a node; empty where there is only one.
fn branches(state: &State, parent: NodeId, node: NodeId) -> Vec<BranchRow> {
    let tree = &state.session.tree;
    if tree.branches(parent).len() < 2 {
        return Vec::new();
    }
    let labels = messages::branch_labels(tree, parent).into_iter();
    let labels = labels.filter_map(|(sibling, label)| {
        Some(BranchRow {
            node: sibling,
            label,
            summary: messages::branch_summary(tree, sibling)?,
            shown: sibling == node,
        })
    });
    labels.collect()
}

/// Returns whether a row belongs to a try at the task of a lesson. The other tries are listed in one place.
fn is_task(state: &State, position: usize) -> bool {
    let before = state.learn.tried_after(&state.session.tree);
    before.is_some_and(|before| position > before)
}

/// The characters of a request for which two lines of a narrow lane have room.
const TWO_NARROW_LINES: usize = 36;

/// The row of a node, seen from `here`; `None` for the root.
pub(crate) fn row(
    state: &State,
    (position, here): (usize, usize),
    (parent, node): (NodeId, NodeId),
    run: Option<RunPart>,
    dispatcher: &Dispatcher,
) -> Option<StepRowProps> {
    let step = state.session.tree.step(node)?;
    let phase = match position.cmp(&here) {
        std::cmp::Ordering::Less => StepPhase::Past,
        std::cmp::Ordering::Equal => StepPhase::Current,
        std::cmp::Ordering::Greater => StepPhase::Future,
    };
    let answer = match phase {
        StepPhase::Current => messages::answer(step, state.world()),
        _ => messages::answer_brief(step, state.world()),
    };
    let headline = messages::ask(step, state.world());
    let brief = messages::ask_brief(step, state.world());
    let is_long = brief.contains('…') || headline.chars().count() > TWO_NARROW_LINES;
    let sent = sent(state, node);
    let events = EventArrows::new(&step.arrived);
    let mut texts = events.texts();
    texts.extend(arrows::sent_texts(&sent));
    let sentence = messages::row_sentence(step, state.world(), answer.clone(), &texts);
    Some(StepRowProps {
        node,
        phase,
        editor: step.actor(),
        events,
        sent,
        run,
        outcome: step.outcome(),
        lossy: !step.losses.is_empty(),
        headline,
        brief: Some(brief).filter(|_| is_long),
        answer,
        is_answer_lost: step.is_answer_lost(),
        pill: messages::pill(step).map(|pill| (pill, pill_tone(step))),
        sentence: label::timeline_step(&position, &sentence),
        branches: if is_task(state, position) {
            Vec::new()
        } else {
            branches(state, parent, node)
        },
        dispatcher: dispatcher.clone(),
    })
}

/// Returns the events that a step sent to the controller that the page shows: on their way or arrived.
fn sent(state: &State, node: NodeId) -> Vec<(String, bool)> {
    let Some(controller) = state.shown_controller() else {
        return Vec::new();
    };
    let arrows = state.session.tree.event_arrows(controller, node);
    let text = |arrow: &EventArrow| {
        let text = messages::controller_card::arrow(&arrow.event);
        (text, arrow.has_arrived)
    };
    arrows.iter().map(text).collect()
}

fn row_classes(props: &StepRowProps) -> Classes {
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
    classes!(
        "step",
        slug,
        props.phase.class(),
        outcome,
        props.lossy.then_some("lossy"),
        props.pill.is_some().then_some("has-pill"),
        (props.events.lines() + props.sent.len() > 0).then_some("hears"),
        props.run.map(|_| "in-run"),
    )
}

#[component]
pub(crate) fn StepRow(props: &StepRowProps) -> Html {
    let lines = props.events.lines() + props.sent.len();
    let current = props.phase == StepPhase::Current;
    html! {
        <li
            class={row_classes(props)}
            id={format!("step-{}", props.node)}
            style={(lines > 0).then(|| format!("--heard:{lines}"))}
        >
            <button
                type="button"
                class="step-button"
                aria-label={props.sentence.clone()}
                aria-current={current.then_some("step")}
                onclick={props.dispatcher.sends(SessionMsg::Go(props.node))}
            >
                { exchange(props, current) }
                if let Some((text, tone)) = &props.pill {
                    <span class={classes!("pill", *tone)}>{ text.clone() }</span>
                }
                if props.events.lines() > 0 {
                    { props.events.draw() }
                }
                if !props.sent.is_empty() {
                    { arrows::sent(&props.sent) }
                }
            </button>
            if let Some(run) = props.run.filter(|run| run.is_first) {
                <span class="run-label" aria-hidden="true">{ label::run_label(&run.number) }</span>
            }
            if !props.branches.is_empty() {
                { branch_picker(&props.branches, &props.dispatcher) }
            }
        </li>
    }
}

/// Draws the request and the answer: with an arrow each, or in a line.
fn exchange(props: &StepRowProps, current: bool) -> Html {
    html! {
        <span class="half">
            // With a space, or the last word and the next would be one to those who hear them.
            <span class="ask">
                <span>{ format!("{} ", props.headline) }</span>
                if let Some(brief) = &props.brief {
                    // Drawn by the style: the name of the row has the whole text. No line ends behind an ellipsis.
                    <span class="brief" data-text={brief.replace('…', "…\u{2060}")} />
                }
            </span>
            if current && props.outcome != Outcome::Done {
                { request_arrows(props.editor, props.is_answer_lost) }
            }
            if !props.answer.is_empty() {
                <span class="answer">
                    { props.answer.clone() }
                    if current && props.outcome == Outcome::Written && !props.lossy {
                        { icon(Icon::Check) }
                    }
                    if props.outcome == Outcome::Refused {
                        { icon(Icon::Cross) }
                    }
                    { " " }
                </span>
            }
        </span>
    }
}

/// The request slants down to the server, its answer back if it arrives: time runs downwards.
fn request_arrows(editor: Option<ActorId>, is_answer_lost: bool) -> Html {
    let (near, far) = match editor {
        Some(ActorId::A) => ("0%", "100%"),
        Some(_) | None => ("100%", "0%"),
    };
    html! {
        <span class="arrows">
            <svg aria-hidden="true">
                <line class="request" x1={near} y1="4" x2={far} y2="14" />
                if !is_answer_lost {
                    <line class="response" x1={far} y1="28" x2={near} y2="38" />
                }
            </svg>
        </span>
    }
}

//! The lanes of a recorded history: a lane for each client, the API server at the right, time
//! downwards, a row for each request or version.

use std::ops::Range;

use optimist_diagnose::lanes::{CoreMark, RowOutcome};
use optimist_messages::label;
use optimist_messages::lanes::{RowText, lane, lane_client, steps_of_log};
use web_sys::Element;
use yew::{
    Callback, Classes, Event, Html, KeyboardEvent, NodeRef, Properties, classes, component, hook,
    html, use_effect_with, use_mut_ref, use_node_ref, use_state_eq,
};

use super::owners::{look, tone};
use super::recorded::Recorded;
use crate::browser;
use crate::components::icon::{Icon, icon};
use crate::state::{DiagnoseMsg, Dispatcher, SelectedStep, Sends, StepMove};

/// A history of up to this number of rows is drawn as a whole.
const SHORT: usize = 60;

/// The number of rows of a long history that are drawn: more than there is room for.
const DRAWN: usize = 48;

/// After how many rows others are drawn.
const BLOCK: usize = 8;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct LanesProps {
    pub(super) history: Recorded,
    /// The row that is selected.
    pub(super) selected: Option<usize>,
    pub(super) sender: Dispatcher,
}

/// The lanes.
#[component]
pub(super) fn RecordedSteps(props: &LanesProps) -> Html {
    let history = &props.history;
    let place = use_node_ref();
    let (drawn, onscroll) = use_drawn(&place, history.len());
    let onkeydown = use_row_keys(&place, props);
    let Some(lanes) = history.lanes().filter(|lanes| !lanes.rows.is_empty()) else {
        return Html::default();
    };
    let hint = match history {
        Recorded::Log(replay) => steps_of_log(&replay.history),
        Recorded::Versions(_) => label::lanes_of_versions(),
    };
    html! {
        <section
            class="recorded-lanes"
            style={format!("--lanes:{}", lanes.lanes.len())}
            aria-label={label::lanes_title()}
        >
            <div class="lanes-title">
                <h3>{ label::lanes_title() }</h3>
                { transport(props) }
            </div>
            <p class="says">{ hint }</p>
            <div class="lanes-table">
                { heads(history) }
                <div class="lane-rows" ref={place} {onscroll} {onkeydown}>
                    <div class="lane-track">
                        { lines(history) }
                        <ol aria-label={label::lanes_rows()}>{ for rows(props, &drawn) }</ol>
                    </div>
                </div>
            </div>
        </section>
    }
}

/// Shows the row that is selected. The keys of the rows, which take the keyboard along.
#[hook]
fn use_row_keys(place: &NodeRef, props: &LanesProps) -> Callback<KeyboardEvent> {
    let keyed = use_mut_ref(|| false);
    let (place, taken) = (place.clone(), keyed.clone());
    let shown = (props.selected, props.history.clone());
    use_effect_with(shown, move |(selected, _)| {
        if let Some(row) = *selected {
            reveal(&place, row);
            if taken.replace(false) {
                browser::focus(&format!("lane-row-{row}"));
            }
        }
    });
    let LanesProps {
        history,
        selected,
        sender,
    } = props.clone();
    Callback::from(move |event: KeyboardEvent| {
        let to = match event.key().as_str() {
            "ArrowUp" | "ArrowLeft" => StepMove::Back,
            "ArrowDown" | "ArrowRight" => StepMove::Forward,
            "Home" => StepMove::First,
            "End" => StepMove::Last,
            _ => return,
        };
        event.prevent_default();
        keyed.replace(true);
        sender.send(message(&history, selected, to));
    })
}

/// Returns the rows to draw, and the callback for scrolling.
#[hook]
fn use_drawn(place: &NodeRef, rows: usize) -> (Range<usize>, Callback<Event>) {
    let first = use_state_eq(|| 0_usize);
    let drawn = if rows <= SHORT {
        0..rows
    } else {
        let begin = first.saturating_sub(BLOCK);
        begin..(begin + DRAWN).min(rows)
    };
    let place = place.clone();
    let onscroll = Callback::from(move |_: Event| {
        let seen = place.cast::<Element>();
        let seen = seen.and_then(|place| Some((place.scroll_top(), row_height(&place)?)));
        if let Some((top, height)) = seen {
            let row = usize::try_from(top / height).unwrap_or_default();
            first.set(row / BLOCK * BLOCK);
        }
    });
    (drawn, onscroll)
}

/// The height of a row, in CSS pixels.
fn row_height(place: &Element) -> Option<i32> {
    let [height] = browser::lengths(place, ["--lane-row"])?;
    (height > 0).then_some(height)
}

/// Scrolls as little as is needed to see a row.
fn reveal(place: &NodeRef, row: usize) {
    let Some(place) = place.cast::<Element>() else {
        return;
    };
    let Some((height, row)) = row_height(&place).zip(i32::try_from(row).ok()) else {
        return;
    };
    // A link to the step may stand far below.
    if let Ok(Some(lanes)) = place.closest(".recorded-lanes")
        && lanes.get_bounding_client_rect().bottom() < 80.0
    {
        lanes.scroll_into_view();
    }
    let (top, room) = (row.saturating_mul(height), place.client_height());
    if top < place.scroll_top() {
        place.set_scroll_top(top);
    } else if top + height > place.scroll_top() + room {
        place.set_scroll_top(top + height - room);
    }
}

/// Stepping back and forth.
fn transport(props: &LanesProps) -> Html {
    let last = props.history.len().saturating_sub(1);
    let here = props.selected;
    let button = |to: StepMove, label: String, sign: Icon, off: bool| {
        html! {
            <button
                type="button"
                class="icon-button"
                aria-label={label.clone()}
                title={label}
                disabled={off}
                onclick={props.sender.sends(message(&props.history, here, to))}
            >
                { icon(sign) }
            </button>
        }
    };
    let position = match here {
        Some(here) => label::step_position(&(here + 1), &(last + 1)),
        None => label::lane_steps(&(last + 1)),
    };
    html! {
        <div class="lanes-transport" role="group" aria-label={label::steps()}>
            <span class="position">{ position }</span>
            { button(StepMove::First, label::step_first(), Icon::First, here == Some(0)) }
            { button(StepMove::Back, label::step_back(), Icon::Back, here == Some(0)) }
            { button(StepMove::Forward, label::step_forward(), Icon::Forward, here == Some(last)) }
            { button(StepMove::Last, label::step_last(), Icon::Last, here == Some(last)) }
        </div>
    }
}

/// Returns the message of a button of this history. Before a step is selected, there may be two
/// histories.
fn message(history: &Recorded, here: Option<usize>, to: StepMove) -> DiagnoseMsg {
    if here.is_some() {
        return DiagnoseMsg::MoveStep(to);
    }
    let row = match to {
        StepMove::First | StepMove::Forward => 0,
        StepMove::Back | StepMove::Last => history.len().saturating_sub(1),
    };
    let source = history.source();
    DiagnoseMsg::SelectStep(Some(SelectedStep { source, row }))
}

/// The number that chooses the colour and the pattern of a lane; `None` for a shared one.
fn lane_number(history: &Recorded, at: usize) -> Option<usize> {
    let lane = history.lanes()?.lanes.get(at)?;
    let [client] = &lane.clients[..] else {
        return None;
    };
    let mut names = history.manager_names().iter();
    names.position(|name| *name == client.manager)
}

/// The names of the lanes: each above its line, the next one a line lower.
fn heads(history: &Recorded) -> Html {
    let Some(lanes) = history.lanes() else {
        return Html::default();
    };
    let head = |(at, of): (usize, &optimist_diagnose::lanes::ClientLane)| {
        let number = lane_number(history, at);
        let all: Vec<String> = of
            .clients
            .iter()
            .map(|one| lane_client(one, lanes))
            .collect();
        html! {
            <li class={classes!(number.map(tone))} style={format!("--lane:{at}")}>
                <span class={classes!("owner", number.map(look))} />
                <span class="lane-name">
                    { lane(of, lanes) }
                    if of.is_shared() {
                        { ": " }{ all.join(", ") }
                    }
                </span>
            </li>
        }
    };
    html! {
        <ul class="lane-heads" aria-label={label::lanes_clients()}>
            { for lanes.lanes.iter().enumerate().map(head) }
            <li class="lane-server">{ label::lanes_server() }</li>
        </ul>
    }
}

/// The lines of the lanes.
fn lines(history: &Recorded) -> Html {
    let count = history.lanes().map_or(0, |lanes| lanes.lanes.len());
    html! {
        <div class="lane-lines" aria-hidden="true">
            { for (0..count).map(|at| html! {
                <i class={classes!(lane_number(history, at).map(tone))} style={format!("--lane:{at}")} />
            }) }
            <i class="server" />
        </div>
    }
}

/// The rows that are drawn, and the places of the others.
fn rows(props: &LanesProps, drawn: &Range<usize>) -> Vec<Html> {
    let count = props.history.len();
    // The one that has the keyboard stays.
    let mut shown: Vec<usize> = drawn.clone().collect();
    if let Some(selected) = props
        .selected
        .filter(|row| *row < count && !drawn.contains(row))
    {
        shown.push(selected);
        shown.sort_unstable();
    }
    let stop = props.selected.or(shown.first().copied());
    let mut all = Vec::new();
    let mut next = 0;
    for at in shown.into_iter().chain([count]) {
        if at > next {
            let style = format!("--rows:{}", at - next);
            let key = format!("gap-{next}");
            all.push(html! { <li {key} class="lane-gap" {style} aria-hidden="true" /> });
        }
        if let Some(row) = row(props, at, stop) {
            let key = at.to_string();
            all.push(html! { <RecordedRow {key} ..row /> });
        }
        next = at + 1;
    }
    all
}

fn row(props: &LanesProps, at: usize, stop: Option<usize>) -> Option<RowProps> {
    let history = &props.history;
    let row = history.row(at)?;
    let numbered = |lane: &usize| (*lane, lane_number(history, *lane));
    Some(RowProps {
        step: SelectedStep {
            source: history.source(),
            row: at,
        },
        of: history.len(),
        text: history.text(at)?,
        lanes: row.lanes.iter().map(numbered).collect(),
        outcome: row.outcome,
        loses: row.loses(),
        mark: row.mark,
        selected: props.selected == Some(at),
        stop: stop == Some(at),
        sender: props.sender.clone(),
    })
}

/// Everything that a row shows, so that rows that look the same are not drawn again.
#[derive(Clone, PartialEq, Properties)]
struct RowProps {
    step: SelectedStep,
    /// The number of all rows.
    of: usize,
    text: RowText,
    /// The lanes, each with the number that chooses its colour and pattern.
    lanes: Vec<(usize, Option<usize>)>,
    outcome: RowOutcome,
    loses: bool,
    mark: CoreMark,
    selected: bool,
    /// `true` if the tab key stops here.
    stop: bool,
    sender: Dispatcher,
}

fn row_classes(props: &RowProps) -> Classes {
    let outcome = match props.outcome {
        RowOutcome::Read | RowOutcome::Unknown => "read",
        RowOutcome::Written => "written",
        RowOutcome::Unchanged | RowOutcome::DryRun => "unchanged",
        RowOutcome::Refused => "refused",
    };
    classes!(
        "lane-row",
        outcome,
        props.loses.then_some("lossy"),
        props.selected.then_some("selected"),
        props.text.answer.is_empty().then_some("seen"),
        (!props.text.version.is_empty()).then_some("has-pill"),
    )
}

/// The tone of the pill of a row.
fn pill_tone(props: &RowProps) -> &'static str {
    match props.outcome {
        RowOutcome::Refused => "refused",
        RowOutcome::Written if props.loses => "lost",
        RowOutcome::Written => "ok",
        _ => "plain",
    }
}

#[component]
fn RecordedRow(props: &RowProps) -> Html {
    let RowProps { step, text, .. } = props;
    let select = DiagnoseMsg::SelectStep(Some(*step));
    let own = match &props.lanes[..] {
        [(_, number)] => *number,
        _ => None,
    };
    html! {
        <li
            class={row_classes(props)}
            aria-posinset={(step.row + 1).to_string()}
            aria-setsize={props.of.to_string()}
        >
            <button
                type="button"
                class={classes!("lane-button", own.map(tone))}
                id={format!("lane-row-{}", step.row)}
                tabindex={if props.stop { "0" } else { "-1" }}
                aria-current={props.selected.then_some("step")}
                onclick={props.sender.sends(select)}
            >
                <span class="unseen">{ label::lane_step(&(step.row + 1)) }{ ", " }</span>
                <span class="when">
                    <time>{ text.time.clone() }</time>
                    if !text.day.is_empty() {
                        <small>{ text.day.clone() }</small>
                    }
                </span>
                { for props.lanes.iter().map(|(lane, number)| html! {
                    <i
                        class={classes!("owner", number.map(look))}
                        style={format!("--lane:{lane}")}
                    />
                }) }
                { exchange(props) }
                if !text.version.is_empty() {
                    <span class={classes!("pill", pill_tone(props))}>{ text.version.clone() }</span>
                }
                <span class="what">{ text.what.clone() }</span>
                { mark(props) }
            </button>
        </li>
    }
}

/// Draws the request and the code of the answer, between the lane and the server.
fn exchange(props: &RowProps) -> Html {
    let text = &props.text;
    let from = props
        .lanes
        .first()
        .map(|(lane, _)| format!("--lane:{lane}"));
    html! {
        <>
            if from.is_some() {
                <span class="tail" style={from} />
            }
            <span class="way">
                <span class="ask"><b>{ text.who.clone() }</b>{ " " }{ text.asked.clone() }</span>
                if !text.answer.is_empty() {
                    <span class="code">
                        { "→ " }{ text.answer.clone() }
                        if props.outcome == RowOutcome::Refused {
                            { icon(Icon::Cross) }
                        }
                    </span>
                }
                <span class="shaft" />
            </span>
        </>
    }
}

/// Draws the mark for the core's answer.
fn mark(props: &RowProps) -> Html {
    let class = match props.mark {
        CoreMark::Same => "same",
        CoreMark::Differs => "differs",
        CoreMark::NotRun | CoreMark::NoRequest => "open",
    };
    html! {
        <span class={classes!("core-mark", class)}>
            if props.mark == CoreMark::Same {
                { icon(Icon::Check) }
            }
            if props.mark == CoreMark::Differs {
                { icon(Icon::Cross) }
            }
            { props.text.mark.clone() }
        </span>
    }
}

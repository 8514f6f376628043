//! The map: every state that the histories of one way pass, and every step between two of them.

use std::rc::Rc;

use optimist_messages::{explore as messages, label};
use optimist_simulation::ActorId;
use optimist_simulation::explore::{
    EditEffect, Search, SearchStatus, StateId, Tally, Transition, TransitionId,
};
use optimist_simulation::verdict::Verdict;
use yew::{Html, PointerEvent, Properties, classes, component, html};

use super::layout::{MapLayout, layout};
use super::side_by_side::side_by_side;
use super::{Explored, endings, on, property, replay, sentences};
use crate::state::{ExploreMsg, ExploreSetup, MapFocus, RowState, StateHandle};

pub(super) fn map(store: &StateHandle, model: &Explored) -> Html {
    let name = sentences::name(model, model.chosen);
    let Some(row) = model.chosen_row() else {
        return html! {};
    };
    let Some(search) = row.search() else {
        let text = match &row.state {
            RowState::Impossible(_) | RowState::Cancelled => {
                sentences::stopped(row).unwrap_or_default()
            }
            _ => label::map_searching(&messages::number(row.states as u128)),
        };
        return html! {
            <>
                <h3>{ name }</h3>
                <p class="summary">{ text }</p>
            </>
        };
    };
    let searched = || SearchedRow::new(store, model, search);
    html! {
        <>
            <h3>{ name }</h3>
            <p class="summary">
                { messages::tally(&row.tally, model.setup.actors(), row.is_complete()) }
                if let Some(note) = sentences::stopped(row) {
                    <b class="note">{ note }</b>
                }
            </p>
            { property::result(store, model, search) }
            <Drawing row={searched()} />
            { side_by_side(store, model, search) }
            <Endings row={searched()} />
        </>
    }
}

/// The chosen row, and what its drawing depends on. While other rows are searched, the page is drawn ten times a
/// second, and this stays as it is.
#[derive(Clone)]
struct SearchedRow {
    store: StateHandle,
    model: Explored,
    search: Rc<Search>,
    setup: ExploreSetup,
    chosen: usize,
    focus: Option<MapFocus>,
}

impl SearchedRow {
    fn new(store: &StateHandle, model: &Explored, search: &Rc<Search>) -> Self {
        Self {
            store: store.clone(),
            model: model.clone(),
            search: Rc::clone(search),
            setup: model.setup.clone(),
            chosen: model.chosen,
            focus: model.focus,
        }
    }
}

impl PartialEq for SearchedRow {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.search, &other.search)
            && self.store == other.store
            && self.setup == other.setup
            && (self.chosen, self.focus) == (other.chosen, other.focus)
    }
}

#[derive(Clone, PartialEq, Properties)]
struct SearchedRowProps {
    row: SearchedRow,
}

/// The shortest history that loses an edit, step by step, and the map.
#[component]
fn Drawing(props: &SearchedRowProps) -> Html {
    let SearchedRow {
        store,
        model,
        search,
        ..
    } = &props.row;
    html! {
        <>
            { endings::witness(store, model, search) }
            if model.setup.loses_answer {
                <p class="inside">{ label::play_until_lost() }</p>
            }
            if let Some(inside) = sentences::inside(model) {
                <p class="inside">{ inside }</p>
            }
            if let Some(drawn) = layout(search) {
                { picture(store, model, search, &drawn) }
                { explanation(model, search, &search.outlook()) }
            } else {
                <p class="muted too-many">
                    { too_large(search) }
                </p>
            }
        </>
    }
}

/// Says that a map has no room for all states.
fn too_large(search: &Search) -> String {
    let say = match search.status() {
        SearchStatus::Done => label::map_too_large,
        _ => label::map_too_large_so_far,
    };
    let number = |count: usize| messages::number(count as u128);
    say(&number(search.states()), &number(search.edges().len()))
}

/// Every ending, the worst first.
#[component]
fn Endings(props: &SearchedRowProps) -> Html {
    let row = &props.row;
    endings::list(&row.store, &row.model, &row.search)
}

/// Describes the focused part of the map. The description has its room even if it is empty.
fn explanation(model: &Explored, search: &Search, outlook: &[Tally]) -> Html {
    let text = match model.focus {
        Some(MapFocus::State(id)) => messages::state(search, id, outlook.get(id)),
        Some(MapFocus::Edge(id)) => {
            let edge = search.edges().get(id);
            edge.map_or_else(Vec::new, |edge| messages::transition(search, edge))
        }
        Some(MapFocus::Ending(verdict)) => {
            let end = search.shortest(verdict);
            end.map_or_else(Vec::new, |end| {
                vec![
                    messages::path(search, &search.path_to(end)),
                    messages::because(search, end),
                ]
            })
        }
        None => vec![label::explore_map_hint()],
    };
    html! {
        <div class={classes!("explanation", model.focus.is_none().then_some("muted"))}>
            { for text.into_iter().map(|text| html! { <p>{ text }</p> }) }
        </div>
    }
}

/// Returns the history that is drawn out: through the selected step, or the shortest of the worst
/// kind.
fn marked(model: &Explored, search: &Search) -> Vec<TransitionId> {
    match model.focus {
        Some(MapFocus::State(id)) => search.path_to(id),
        Some(MapFocus::Edge(id)) => {
            let from = search.edges().get(id).map_or(0, |edge| edge.from);
            let mut path = search.path_to(from);
            path.push(id);
            path
        }
        Some(MapFocus::Ending(verdict)) => {
            let end = search.shortest(verdict);
            end.map_or_else(Vec::new, |end| search.path_to(end))
        }
        None => Vec::new(),
    }
}

fn picture(store: &StateHandle, model: &Explored, search: &Rc<Search>, drawn: &MapLayout) -> Html {
    let marked = marked(model, search);
    let lines = search.edges().iter().enumerate().map(|(id, edge)| {
        line(
            store,
            model,
            search,
            drawn,
            (id, edge),
            marked.contains(&id),
        )
    });
    let labels = search
        .edges()
        .iter()
        .filter(|_| drawn.labels)
        .map(|edge| line_label(search, drawn, edge));
    let halo = marked
        .iter()
        .filter_map(|id| search.edges().get(*id))
        .map(|edge| {
            let [(x1, y1), (x2, y2)] = drawn.ends(edge);
            html! { <path class="halo" d={format!("M{x1:.0} {y1:.0}L{x2:.0} {y2:.0}")} /> }
        });
    let states = (0..search.states()).map(|id| circle(store, model, search, id, drawn.place(id)));
    html! {
        // The list below says the same to those who do not see it, and to the keyboard.
        <div class="picture" aria-hidden="true">
            <svg
                viewBox={format!("0 0 {:.0} {:.0}", drawn.width, drawn.height)}
                style={format!(
                    "max-width:{:.0}px;font-size:{:.1}px",
                    drawn.width,
                    // Wide drawings are shown smaller.
                    11.0 * (drawn.width / 640.0).clamp(1.0, 1.3)
                )}
                onpointerleave={on(model, |_: PointerEvent| ExploreMsg::Focus(None))}
            >
                <g>{ for halo }</g>
                <g>{ for lines }</g>
                <g>{ for labels }</g>
                <g>{ for states }</g>
            </svg>
        </div>
    }
}

fn line(
    store: &StateHandle,
    model: &Explored,
    search: &Rc<Search>,
    drawn: &MapLayout,
    (id, edge): (TransitionId, &Transition),
    marked: bool,
) -> Html {
    let [(x1, y1), (x2, y2)] = drawn.ends(edge);
    let d = format!("M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}");
    let focus = MapFocus::Edge(id);
    html! {
        <g
            key={id}
            class={classes!("arc", tones(search, edge).to_vec(), marked.then_some("marked"))}
            onpointerenter={on(model, move |_: PointerEvent| ExploreMsg::Focus(Some(focus)))}
            onclick={replay::focused(store, model, search, focus)}
        >
            <path class="target" d={d.clone()} />
            <path class="stroke" {d} />
        </g>
    }
}

/// Returns the classes of a line and its label: its actor, and what went wrong.
fn tones(search: &Search, edge: &Transition) -> [&'static str; 2] {
    // The graph has two actors.
    let actor = search.scenario().actors.get(edge.actor).copied();
    let slug = super::classes::slug(actor.unwrap_or(ActorId::A));
    let tone = match edge.effect {
        EditEffect::Loses => "lost",
        EditEffect::Refused | EditEffect::GivesUp => "refused",
        EditEffect::None | EditEffect::Acknowledged | EditEffect::Replaces => slug,
    };
    [slug, tone]
}

/// Draws the label of a line. All labels are above all lines, which can cross.
fn line_label(search: &Search, drawn: &MapLayout, edge: &Transition) -> Html {
    let [(x1, y1), (x2, y2)] = drawn.ends(edge);
    // A's labels stand to the left of their lines and B's to the right; what goes wrong stands
    // lower and outside, for it is where lines meet.
    let wrong = matches!(
        edge.effect,
        EditEffect::Loses | EditEffect::Refused | EditEffect::GivesUp
    );
    let left = if wrong {
        x1 + x2 < drawn.width
    } else {
        edge.actor == 0
    };
    let (side, anchor) = if left { (-7.0, "end") } else { (7.0, "start") };
    let at = if wrong { 0.74 } else { 0.36 };
    html! {
        <text
            class={classes!("arc-label", tones(search, edge).to_vec())}
            x={format!("{:.1}", x1 + (x2 - x1) * at + side)}
            y={format!("{:.1}", y1 + (y2 - y1) * at - 3.0)}
            text-anchor={anchor}
        >
            { messages::label(search, edge) }
        </text>
    }
}

fn circle(
    store: &StateHandle,
    model: &Explored,
    search: &Rc<Search>,
    id: StateId,
    (x, y): (f64, f64),
) -> Html {
    let Some(moment) = search.view(id) else {
        return html! {};
    };
    let end = moment.is_end();
    let verdict = moment.verdict();
    let class = if end {
        super::classes::tone(verdict)
    } else {
        "open"
    };
    let focus = MapFocus::State(id);
    let sign = match verdict {
        Verdict::InObject => "m-4 .5 3 3 5.5-6.5",
        Verdict::Replaced => "m-4-2h8m-8 4h8",
        Verdict::Refused => "m-3.5-3.5 7 7m0-7-7 7",
        Verdict::Lost => "m0-4v4.500m0 3v.2",
        Verdict::LeftOut => "m-4 0h8",
    };
    html! {
        <g
            key={id}
            class={classes!("moment", class, (model.focus == Some(focus)).then_some("focused"))}
            onpointerenter={on(model, move |_: PointerEvent| ExploreMsg::Focus(Some(focus)))}
            onclick={replay::focused(store, model, search, focus)}
        >
            <circle class="target" cx={x.to_string()} cy={y.to_string()} r="15" />
            if end && verdict == Verdict::Lost {
                <path class="shape" d={format!("M{x} {}l11 11-11 11-11-11z", y - 11.0)} />
            } else if end && verdict == Verdict::Refused {
                <path class="shape" d={format!("M{} {}h17v17h-17z", x - 8.5, y - 8.5)} />
            } else {
                <circle class="shape" cx={x.to_string()} cy={y.to_string()} r={if end { "9" } else { "7" }} />
            }
            if end {
                <path class="sign" d={format!("M{x} {y}{sign}")} />
                <text class="ways" x={x.to_string()} y={(y + 25.0).to_string()} text-anchor="middle">
                    { messages::number(moment.histories()) }
                </text>
            }
        </g>
    }
}

//! The texts about the model: names of rows, intents, results.

use optimist_client::visible;
use optimist_messages::{explore as messages, write_method};
use optimist_simulation::ActorId;
use optimist_simulation::explore::{PRESETS, ThirdActor};

use super::run::MAX_SECONDS;
use crate::state::{
    EditSource, ExploreModel, ExploreRow, MixedWay, RowState, StopReason, ThirdActorChoice,
    WritersInBetween,
};

/// The edits by their name, and the answer to the question of the page as soon as there is one.
pub(super) fn heading(model: &ExploreModel) -> String {
    let answer = model.groups.as_ref().map(messages::answer);
    let name = match &model.setup.subject {
        EditSource::Preset(pair) => PRESETS.get(*pair).and_then(messages::pair),
        EditSource::Editors(..) => None,
    };
    match (name, answer) {
        (Some((name, _)), Some(answer)) => format!("{name}. {answer}."),
        (Some((name, _)), None) => name,
        (None, Some(answer)) => answer,
        (None, None) => question(model),
    }
}

/// The heading: it names the actors and the faults of the search.
pub(super) fn question(model: &ExploreModel) -> String {
    messages::heading(model.setup.actors(), model.setup.loses_answer)
}

/// The name of a row.
pub(super) fn name(model: &ExploreModel, row: usize) -> String {
    if let Some(way) = model.way_of(row) {
        let known = model.ways.get(way).copied();
        return known.map(messages::way).unwrap_or_default();
    }
    let tool = model.setup.tool();
    let actors = model.setup.acting().into_iter();
    let names = actors
        .zip(model.setup.mixed)
        .filter_map(|(actor, (way, reads))| {
            Some(match tool.filter(|_| actor == ActorId::C) {
                Some(tool) => messages::actor_tool(actor, tool),
                None => match way {
                    MixedWay::Method(way) => {
                        messages::actor_way(actor, *model.ways.get(usize::from(way))?, reads)
                    }
                    MixedWay::Tool(preset) => messages::actor_tool(actor, ThirdActor::Tool(preset)),
                },
            })
        });
    names.collect::<Vec<_>>().join(" · ")
}

/// Says why the search of a row stopped before its end, or cannot begin.
pub(super) fn stopped(row: &ExploreRow) -> Option<String> {
    Some(match &row.state {
        RowState::Stopped(StopReason::States, _) => messages::stopped_at(row.states),
        RowState::Stopped(StopReason::Time, _) => messages::stopped_after(MAX_SECONDS),
        RowState::Cancelled => messages::cancelled(),
        RowState::Impossible(why) => messages::impossible(why),
        RowState::Waiting | RowState::Running | RowState::Done(_) => return None,
    })
}

/// Describes the steps inside a request, if they are displayed.
pub(super) fn inside(model: &ExploreModel) -> Option<String> {
    let way = model.chosen_way().filter(|_| model.setup.micro_steps)?;
    Some(messages::inside(way))
}

/// The result of the search, for screen readers.
pub(super) fn announcement(model: &ExploreModel) -> String {
    let row = model.chosen_row().filter(|_| !model.turn.is_running());
    row.map_or_else(String::new, |row| {
        let tally = messages::tally(&row.tally, model.setup.actors(), row.is_complete());
        let property = super::property::announcement(model);
        let property = property.map_or_else(String::new, |answer| format!(". {answer}"));
        format!("{}: {tally}{property}", name(model, model.chosen))
    })
}

/// Describes the actors of a case.
fn of_case(between: &WritersInBetween) -> Option<String> {
    let (edit, writer) = (&between.edit, between.writer()?);
    Some(messages::pair_of_case(
        &between.name,
        &between.fields,
        &writer.manager,
        (&edit.field, &edit.value),
    ))
}

/// Returns the write method of each actor of a case: `A: Apply as helm`.
pub(super) fn own_ways(between: &WritersInBetween) -> Vec<String> {
    let writer = between.writer().map(|writer| &writer.write);
    let writes = ActorId::EDITORS
        .into_iter()
        .zip([Some(&between.write), writer]);
    let ways = writes.filter_map(|(actor, write)| {
        let way = visible(&write_method(write?, None)).into_owned();
        Some(format!("{}: {way}", actor.letter()))
    });
    ways.collect()
}

/// The intents of the actors.
pub(super) fn intents(model: &ExploreModel) -> String {
    let says = match &model.setup.subject {
        EditSource::Preset(pair) => {
            let pair = PRESETS.get(*pair).and_then(messages::pair);
            pair.map(|(_, says)| says).unwrap_or_default()
        }
        EditSource::Editors(request, _) => {
            let of_case = request.between.as_ref().and_then(|it| of_case(it));
            let others = model.setup.subject.others().len();
            of_case.unwrap_or_else(|| match model.setup.third() {
                Some(ThirdActorChoice::Preset(_)) => messages::pair_of_play(),
                Some(ThirdActorChoice::OfPlay) | None => messages::pair_of_play_others(others),
            })
        }
    };
    match model.setup.third() {
        Some(ThirdActorChoice::Preset(third)) => messages::with_third(&says, third),
        Some(ThirdActorChoice::OfPlay) | None => says,
    }
}

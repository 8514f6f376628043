//! Sentences of Explore: pairs of edits, ways of writing, verdicts, states and steps.

mod actors;
mod outcomes;

use std::fmt::Display;

use optimist_apiserver::apply::{Manager, Path, PathElement};
use optimist_client::{Strategy, WriteMethod, visible};
use optimist_diagnose::ways::concurrent_writer::OtherWriter;
use optimist_masking::masked;
use optimist_simulation::explore::{
    ActorProgress, ExplorePreset, LossGroups, Plan, Search, SearchStatus, StateId, Tally,
    Transition, TransitionId, TransitionKind, TransitionMeaning,
};
use optimist_simulation::verdict::{RefusalKind, Verdict};
use serde_json::Value;

use crate::diagnose::{names, owner};
use crate::edits::{field, fields, value};
use crate::en;

pub use self::actors::{actor_tool, actor_way, third, way, with_third};
use self::outcomes::loss;
pub use self::outcomes::{because, shortest_loss};

/// The letter of an actor of a search, by its index.
fn letter(search: &Search, actor: usize) -> &'static str {
    let actor = search.scenario().actors.get(actor);
    actor.map_or("?", |actor| actor.letter())
}

/// Returns the title of a pair of edits, and a sentence about its actors; `None` for a pair without
/// messages.
pub fn pair(pair: &ExplorePreset) -> Option<(String, String)> {
    Some(match pair.slug {
        "different-fields" => (
            en::pair_different_fields(),
            en::pair_different_fields_says(),
        ),
        "same-field" => (en::pair_same_field(), en::pair_same_field_says()),
        "same-value" => (en::pair_same_value(), en::pair_same_value_says()),
        "two-items" => (en::pair_two_items(), en::pair_two_items_says()),
        "list-without-keys" => (
            en::pair_list_without_keys(),
            en::pair_list_without_keys_says(),
        ),
        "same-item" => (en::pair_same_item(), en::pair_same_item_says()),
        "delete-and-edit" => (en::pair_delete_and_edit(), en::pair_delete_and_edit_says()),
        "spec-and-status" => (en::pair_spec_and_status(), en::pair_spec_and_status_says()),
        _ => return None,
    })
}

/// The heading of the choice of the actors beside A and B. `others` is how many of them have an edit in Play.
pub fn others_heading(others: usize) -> String {
    match others {
        0 | 1 => en::setup_third(),
        _ => en::setup_others(),
    }
}

/// Says the actions of the actors whose edits come from Play.
pub fn pair_of_play() -> String {
    en::pair_of_play_says()
}

/// The same, and who of the others takes part: nobody has a deletion in a working copy.
pub fn pair_of_play_others(others: usize) -> String {
    en::pair_of_play_others(&others_heading(others))
}

/// Says the actions of the actors of a case of Diagnose: the owner of the change and its fields,
/// and the manager that writes a value in between.
pub fn pair_of_case(a: &str, fields: &[Path], b: &Manager, edit: (&Path, &Value)) -> String {
    /// The number of fields that are named.
    const MAX_FIELDS: usize = 3;
    let named = self::fields(fields.iter().take(MAX_FIELDS));
    let more = fields.len().saturating_sub(MAX_FIELDS);
    let named = match (named.as_slice(), more) {
        ([], _) => en::no_fields(),
        (named, 0) => names(named),
        (named, more) => en::fields_and_more(&named.join(", "), &more),
    };
    let b = visible(&owner(b)).into_owned();
    en::pair_of_case_says(
        &visible(a),
        &named,
        &b,
        &field(edit.0),
        &value(Some(edit.1)),
    )
}

/// Names a writer that may write in between, as a choice.
pub fn other_writer(writer: &OtherWriter) -> String {
    let name = visible(&owner(&writer.manager)).into_owned();
    if writer.is_known {
        name
    } else {
        en::between_anyone(&name)
    }
}

/// A field as a choice: its name first, because a narrow select cuts the end of the path.
pub fn other_field(path: &Path) -> String {
    format!("{} · {}", field(path), visible(&path.to_string()))
}

/// Returns the heading of an exploration, by the number of actors; `loses_answer` says that the answer
/// to one write can be lost.
pub fn heading(actors: usize, loses_answer: bool) -> String {
    match (actors, loses_answer) {
        (2, false) => en::two_edits(),
        (2, true) => en::two_edits_lost_answer(),
        (3, false) => en::three_edits(),
        (3, true) => en::three_edits_lost_answer(),
        (_, false) => en::more_edits(&actors),
        (_, true) => en::more_edits_lost_answer(&actors),
    }
}

/// Answers how many ways of writing lose no edit in any order, and how many of these only because they
/// refuse or leave out one in each order.
pub fn answer(groups: &LossGroups) -> String {
    let (kept, possible) = (groups.without_loss(), groups.possible.len());
    let answer = match (kept, possible, groups.unknown.len()) {
        (0, 0, 0) => en::answer_untried(),
        (_, 0, 0) => en::answer_all(),
        (0, _, 0) => en::answer_none(),
        (_, _, 0) => en::answer_some(&kept, &groups.ways()),
        (.., unknown) => en::answer_open(&kept, &possible, &unknown, &groups.ways()),
    };
    let is_some = possible > 0 && groups.unknown.is_empty();
    match groups.never_stored.len() {
        0 => answer,
        refused if is_some && refused == kept => en::answer_only_refused(&answer, &refused),
        refused => en::answer_but_refused(&answer, &refused),
    }
}

/// Says of a search without a lost update how many orders it checked.
pub fn none_lost(orders: u128, is_complete: bool) -> String {
    match (orders, is_complete) {
        (_, true) => en::none_lost(&self::orders(orders)),
        (0, false) => en::none_ended_so_far(),
        (_, false) => en::none_lost_so_far(&self::orders(orders)),
    }
}

/// The heading of the column for a kind of refusal.
pub fn refusal_column(kind: RefusalKind) -> String {
    match kind {
        RefusalKind::Conflict => en::matrix_conflict(),
        RefusalKind::Gone => en::matrix_gone(),
        RefusalKind::NotPossible => en::matrix_not_possible(),
    }
}

/// Names a verdict after a count of histories.
pub fn ending(verdict: Verdict, actors: usize, count: u128) -> String {
    match verdict {
        Verdict::InObject if actors == 2 => en::ending_in_object_both(&count),
        Verdict::InObject => en::ending_in_object_all(&count),
        Verdict::Replaced => en::ending_replaced(&count),
        Verdict::LeftOut => en::ending_left_out(&count),
        Verdict::Refused => en::ending_refused(&count),
        Verdict::Lost => en::ending_lost(&count),
    }
}

/// Writes a count that people can read: `12,698,730`, `8.4·10¹⁸`. A count beyond the largest number
/// is `more than` that.
pub fn number(count: u128) -> String {
    number_within(count, 12)
}

/// The same with at most this number of digits: a larger count is in powers of ten.
fn number_within(count: u128, most_digits: u32) -> String {
    if count >= 10u128.pow(most_digits) {
        let digits = count.ilog10();
        let lead = count / 10u128.pow(digits - 1);
        let power: String = digits
            .to_string()
            .chars()
            .filter_map(|digit| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit.to_digit(10)? as usize))
            .collect();
        let number = format!("{}.{}·10{power}", lead / 10, lead % 10);
        return match count {
            u128::MAX => en::number_above(&number),
            _ => number,
        };
    }
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 history`, `12 histories`.
pub fn orders(count: u128) -> String {
    en::orders(&number(count))
}

/// The number of orders; of a search that is not done, that of those so far.
fn orders_found(count: u128, is_complete: bool) -> String {
    match is_complete {
        true => orders(count),
        false => en::orders_so_far(&orders(count)),
    }
}

/// `6 orders · 4 lose an update`. Of a search that is not done these are the orders so far, and never all.
pub fn tally(tally: &Tally, actors: usize, is_complete: bool) -> String {
    let total = tally.total();
    let mut parts = vec![orders_found(total, is_complete)];
    for verdict in Verdict::ALL.into_iter().rev() {
        let count = tally.histories_with(verdict);
        if count == 0 {
            continue;
        }
        let ending = ending(verdict, actors, count);
        parts.push(if is_complete && count == total && total > 1 {
            en::all_orders(&ending)
        } else {
            format!("{} {ending}", number(count))
        });
    }
    parts.join(" · ")
}

/// The number of orders that end in a way, among all: `all` if a search that is done found no other end.
pub fn count_in_column(count: u128, total: u128, is_complete: bool) -> String {
    match is_complete && count == total && count > 1 {
        true => en::matrix_all(),
        // A column has no room for more. The number in full is its title.
        false => number_within(count, 7),
    }
}

/// Says which part of the orders ends in a way: `4 of 6 lose an update`.
pub fn part_of_orders(tally: &Tally, verdict: Verdict, actors: usize, is_complete: bool) -> String {
    let count = tally.histories_with(verdict);
    let (part, total) = (number(count), number(tally.total()));
    let ending = ending(verdict, actors, count);
    match is_complete {
        true => en::matrix_part(&part, &total, &ending),
        false => en::matrix_part_so_far(&part, &total, &ending),
    }
}

/// Says what people see at the steps inside a request.
pub fn inside(way: WriteMethod) -> String {
    let write = way.write(1);
    match (
        write.strategy == Strategy::Update,
        write.send_resource_version,
    ) {
        (true, true) => en::inside_update_version(),
        (true, false) => en::inside_update(),
        (false, true) => en::inside_patch_version(),
        (false, false) => en::inside_patch(),
    }
}

/// Says that a search stopped at a number of states.
pub fn stopped_at(states: usize) -> String {
    en::stopped_states(&number(states as u128))
}

/// Says that a search stopped after a number of seconds.
pub fn stopped_after(seconds: u32) -> String {
    en::stopped_time(&seconds)
}

/// Says that a search was cancelled.
pub fn cancelled() -> String {
    en::cancelled()
}

/// Says that a search cannot begin.
pub fn impossible(why: &str) -> String {
    en::impossible(&why)
}

/// Names the kind of an actor's refusal.
pub fn refusal(how: RefusalKind) -> String {
    match how {
        RefusalKind::Conflict => en::refusal_conflict(),
        RefusalKind::Gone => en::refusal_gone(),
        RefusalKind::NotPossible => en::refusal_not_possible(),
    }
}

fn verb(search: &Search, actor: usize) -> &'static str {
    search.scenario().plans.get(actor).map_or("", Plan::verb)
}

/// The verb of a step, with a mark if the server stores nothing.
fn verb_of_step(search: &Search, edge: &Transition) -> String {
    let verb = search.verb(edge);
    match edge.what {
        TransitionKind::DryRun => en::step_dry_run(&verb),
        _ => verb.to_owned(),
    }
}

/// A step on the map: `GET`, `PUT 409`.
pub fn step(search: &Search, edge: &Transition) -> String {
    let verb = verb_of_step(search, edge);
    match edge.what {
        TransitionKind::Read if edge.code >= 400 => format!("GET {}", edge.code),
        TransitionKind::Read => "GET".to_owned(),
        TransitionKind::ServerReads => en::step_server_reads(&verb),
        TransitionKind::ServerReadsAgain => en::step_server_reads_again(),
        TransitionKind::Write | TransitionKind::DryRun if edge.is_lost => {
            en::step_answer_lost(&verb)
        }
        TransitionKind::Write | TransitionKind::DryRun if edge.code >= 400 => {
            format!("{verb} {}", edge.code)
        }
        TransitionKind::Write | TransitionKind::DryRun => verb,
    }
}

/// Says the number of steps of the shortest order that tells two ways of writing apart.
pub fn compare_shortest(steps: usize) -> String {
    en::compare_shortest(&steps)
}

/// Describes a step in the same way for a place with little room; for a step inside a request, only
/// the server's part.
pub fn label(search: &Search, edge: &Transition) -> String {
    match edge.what {
        TransitionKind::ServerReads => en::label_reads(),
        TransitionKind::ServerReadsAgain => en::label_again(),
        TransitionKind::Write
            if search.scenario().micro_steps && edge.code < 400 && !edge.is_lost =>
        {
            en::label_stores()
        }
        _ => step(search, edge),
    }
}

/// The steps of a history: `A GET · B GET · A PUT · B PUT`.
pub fn path(search: &Search, path: &[TransitionId]) -> String {
    let edges = path.iter().filter_map(|id| search.edges().get(*id));
    let steps = edges.map(|edge| format!("{} {}", letter(search, edge.actor), step(search, edge)));
    steps.collect::<Vec<_>>().join(" · ")
}

/// A state, for those who look at it: a sentence each.
pub fn state(search: &Search, id: StateId, outlook: Option<&Tally>) -> Vec<String> {
    let Some(state) = search.view(id) else {
        return Vec::new();
    };
    let actors = search.scenario().plans.len();
    let people: Vec<String> = (0..actors)
        .map(|actor| progress(letter(search, actor), state.progress(actor)))
        .collect();
    let stored = state.stored().map_or_else(en::stored_nothing, |object| {
        let object = masked(object);
        let fields = search.scenario().changed_fields();
        let values = fields
            .iter()
            .map(|path| format!("{} {}", field(path), value_at(path, &object)));
        en::stored_values(&values.collect::<Vec<_>>().join(", "))
    });
    let mut text = vec![format!("{}.", people.join(", ")), stored];
    let why = because(search, id);
    if !why.is_empty() {
        text.push(format!("{why}."));
    }
    let total = orders_found(
        search.tally().total(),
        search.status() == SearchStatus::Done,
    );
    if let Some(outlook) = outlook.filter(|_| !state.is_end()) {
        let through = state.histories().saturating_mul(outlook.total());
        let verdicts = Verdict::ALL
            .into_iter()
            .filter(|verdict| outlook.histories_with(*verdict) > 0);
        let ends: Vec<String> = verdicts
            .map(|verdict| {
                let count = state
                    .histories()
                    .saturating_mul(outlook.histories_with(verdict));
                format!("{} {}", number(count), ending(verdict, actors, count))
            })
            .collect();
        text.push(en::pass_here(&number(through), &total, &ends.join(", ")));
    } else if state.is_end() {
        text.push(en::end_here(&number(state.histories()), &total));
    }
    text
}

fn progress(letter: &str, progress: ActorProgress) -> String {
    let actor: &dyn Display = &letter;
    match progress {
        ActorProgress::NotRead => en::progress_not_read(actor),
        ActorProgress::Current => en::progress_current(actor),
        ActorProgress::Stale => en::progress_stale(actor),
        ActorProgress::Done => en::progress_done(actor),
        ActorProgress::GaveUp => en::progress_gave_up(actor),
    }
}

fn value_at(path: &Path, object: &Value) -> String {
    match path.find(object) {
        None => en::absent(),
        Some(Value::Object(_)) if matches!(path.0.last(), Some(PathElement::Key(_))) => {
            en::present()
        }
        Some(_) if matches!(path.0.last(), Some(PathElement::Value(_))) => en::present(),
        found => value(found),
    }
}

/// A step, for those who look at it: a sentence each.
pub fn transition(search: &Search, edge: &Transition) -> Vec<String> {
    use TransitionMeaning as Meaning;
    let who = &letter(search, edge.actor);
    let verb = &verb_of_step(search, edge);
    let said = |meaning| match meaning {
        Meaning::ReadsDeleted { code } => en::reads_deleted(who, &code),
        Meaning::ReadsNothing { code } => en::reads_nothing(who, &code),
        Meaning::DryRun => en::tries_dry_run(who, &search.verb(edge)),
        Meaning::Reads => en::reads(who),
        Meaning::ServerReads => en::server_reads(who, verb),
        Meaning::ServerReadsAgain => en::server_reads_again(who, verb),
        Meaning::Refused {
            code,
            gives_up: true,
        } => en::gives_up(who, verb, &code),
        Meaning::Refused { code, .. } => en::tries_again(who, verb, &code),
        Meaning::Stores => en::stores(who, verb),
        Meaning::Accepted { stale: true } => en::accepted_stale(who, verb),
        Meaning::Accepted { stale: false } => en::accepted(who, verb),
    };
    let mut text = Vec::from_iter(search.meaning(edge).map(said));
    if edge.is_lost {
        text.push(match edge.code {
            400.. => en::answer_lost_refused(who, verb, &edge.code),
            _ => en::answer_lost(who, verb),
        });
    }
    let losses = search.losses_of(edge).into_iter();
    text.extend(losses.map(|found| en::not_told(&loss(search, found))));
    text
}

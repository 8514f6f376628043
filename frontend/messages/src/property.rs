//! A property that somebody wrote: what is wrong in its text, and what a search says of it.

use std::collections::HashSet;
use std::sync::Arc;

use optimist_lesson::{
    PropertyError, PropertyErrorKind, WrittenProperty, example_properties, named_fields,
};
use optimist_masking::masked;
use optimist_simulation::explore::{
    HistoryAnswer, HistoryProperty, Scenario, Search, SearchStatus,
};

use crate::en;
use crate::explore::{number, orders, path};

/// A condition, as an example: any object can be there.
const CONDITION: &str = "{exists: yes}";
/// Two parts of an order, as an example.
const PARTS: &str = "[A writes, B reads]";

/// Says what is wrong in the text of a property, and where.
pub fn error(error: &PropertyError) -> String {
    let known = error.known_words().join(", ");
    let why = match &error.kind {
        PropertyErrorKind::Yaml(why) => en::property_error_yaml(why),
        PropertyErrorKind::Unknown(None) => en::property_error_begin(&known),
        PropertyErrorKind::Unknown(Some(key)) => en::property_error_unknown(key, &known),
        PropertyErrorKind::Second(key) => en::property_error_second(key),
        PropertyErrorKind::Settles => en::property_error_settles(),
        PropertyErrorKind::Kind(text, known) => en::property_error_kind(text, known),
        PropertyErrorKind::Interchangeable(text) => en::property_error_interchangeable(text),
        PropertyErrorKind::Yes => en::property_error_yes(),
        PropertyErrorKind::CountsObjects(text) => en::property_error_counts(text),
        PropertyErrorKind::Forbidden(text) if error.of_controller => {
            en::property_error_never_counts(text)
        }
        PropertyErrorKind::Forbidden(text) => en::property_error_never(text),
        PropertyErrorKind::NoCondition => en::property_error_condition(&CONDITION),
        PropertyErrorKind::UnknownCondition(key) => en::property_error_condition_key(key, &known),
        PropertyErrorKind::NotAPath(text) => en::property_error_path(text),
        PropertyErrorKind::NoSuchField { kind, path, known } if known.is_empty() => {
            en::property_error_no_field(kind, path)
        }
        PropertyErrorKind::NoSuchField { kind, path, known } => {
            en::property_error_field(kind, path, known)
        }
        PropertyErrorKind::Version(text) => en::property_error_version(text),
        PropertyErrorKind::TwoPaths => en::property_error_two_paths(),
        PropertyErrorKind::Text => en::property_error_text(),
        PropertyErrorKind::Flag => en::property_error_flag(),
        PropertyErrorKind::Number(text) => en::property_error_number(text),
        PropertyErrorKind::TwoOccurrences => en::property_error_two_parts(&PARTS),
        PropertyErrorKind::Occurrence(text) => en::property_error_part(text),
        PropertyErrorKind::NoSuchActor(actor) => en::property_error_actor(&actor.letter()),
    };
    en::property_error(&error.line, &error.column, &why)
}

/// Returns properties to begin with, about fields that the actors of a scenario change.
pub fn examples(scenario: &Scenario) -> Vec<String> {
    example_properties(scenario, masked)
}

/// Says the answer in a word.
pub fn brief(answer: &HistoryAnswer) -> String {
    match answer {
        HistoryAnswer::Holds => en::property_holds_short(),
        HistoryAnswer::Untried => en::property_untried_short(),
        HistoryAnswer::Broken(_) => en::property_broken_short(),
        HistoryAnswer::Unknown => en::property_unknown_short(),
    }
}

/// Says the answer.
pub fn answer(property: &WrittenProperty, answer: &HistoryAnswer) -> String {
    match (answer, property) {
        (HistoryAnswer::Holds, _) => en::property_holds(),
        (HistoryAnswer::Unknown, _) => en::property_unknown(),
        (HistoryAnswer::Untried, HistoryProperty::NoEditLost) => en::property_untried_edit(),
        (HistoryAnswer::Untried, HistoryProperty::Before(..)) => en::property_untried_before(),
        (HistoryAnswer::Untried, HistoryProperty::Settles) => en::orders_untried(),
        (HistoryAnswer::Untried, HistoryProperty::Always(_) | HistoryProperty::AtRest(_)) => {
            en::property_untried_condition()
        }
        (HistoryAnswer::Broken(steps), _) if steps.is_empty() => en::property_broken_at_start(),
        (HistoryAnswer::Broken(steps), _) => en::property_broken(&steps.len()),
    }
}

/// The steps of the order that breaks it: `A GET · B GET · A PUT`. Empty without one.
pub fn witness(search: &Search, answer: &HistoryAnswer) -> String {
    match answer {
        HistoryAnswer::Broken(steps) => path(search, steps),
        _ => String::new(),
    }
}

/// Says which fields of a property no state of a search has, as if they were misspelled.
pub fn absent_fields(search: &Search, property: &WrittenProperty) -> Option<String> {
    let mut absent = named_fields(property);
    let mut seen = HashSet::new();
    for id in 0..search.states() {
        let stored = search.view(id).and_then(|view| view.stored());
        if let Some(object) = stored.filter(|object| seen.insert(Arc::as_ptr(object))) {
            absent.retain(|field| field.find(object).is_none());
        }
    }
    let names: Vec<String> = absent.into_iter().map(ToString::to_string).collect();
    (!names.is_empty()).then(|| en::property_no_field(&names.join(", ")))
}

/// Says what a search varied, and how far it came.
pub fn varied(search: &Search) -> Vec<String> {
    let scenario = search.scenario();
    let actors: Vec<&str> = scenario.acting().map(|(actor, _)| actor.letter()).collect();
    let mut varied = vec![en::property_varied(&actors.join(", "))];
    if scenario.micro_steps {
        varied.push(en::property_varied_inside());
    }
    if scenario.faults.lost_answers > 0 {
        varied.push(en::property_varied_lost());
    }
    let reached = match search.status() {
        SearchStatus::Done => en::property_complete(&orders(search.tally().total())),
        _ => en::property_up_to(&number(search.states() as u128)),
    };
    vec![varied.join("; ") + ".", en::property_not_varied(), reached]
}

/// Says with how many ways of writing it holds, by the answers of all of them.
pub fn counts<'a>(answers: impl IntoIterator<Item = &'a HistoryAnswer>) -> String {
    let (mut ways, mut holds, mut broken, mut untried, mut unknown) = (0, 0, 0, 0, 0);
    for answer in answers {
        ways += 1;
        *match answer {
            HistoryAnswer::Holds => &mut holds,
            HistoryAnswer::Broken(_) => &mut broken,
            HistoryAnswer::Untried => &mut untried,
            HistoryAnswer::Unknown => &mut unknown,
        } += 1;
    }
    let others = [
        (
            broken,
            en::property_counts_broken as fn(&dyn std::fmt::Display) -> String,
        ),
        (untried, en::property_counts_untried),
        (unknown, en::property_counts_unknown),
    ];
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    let mut parts = vec![en::property_counts(&holds, &ways)];
    parts.extend(others.map(|(count, say)| say(&count)));
    parts.join(", ") + "."
}

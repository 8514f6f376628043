//! Sentences about the facts that the server noted: they explain its answer.

use optimist_apiserver::patch::FailedOperation;
use optimist_apiserver::server::Fact;
use optimist_client::shorten;
use optimist_simulation::{Outcome, Step};
use serde_json::Value;

use crate::en;

/// The reasons of the answer to a step's request, each in a sentence or two. A refusal has those that can be its cause.
pub fn facts(step: &Step) -> Vec<String> {
    let refused = step.outcome() == Outcome::Refused;
    let exchange = step.exchange.as_ref().filter(|_| !refused);
    let of_collection = exchange.filter(|exchange| exchange.method == "DELETE");
    let items = of_collection.and_then(|exchange| exchange.received.get("items")?.as_array());
    let all = step.facts().iter();
    let told = all.filter(|fact| match items {
        // The facts are those of many objects.
        Some(_) => **fact == Fact::DryRun,
        None => !refused || fact.refuses(),
    });
    let items = items.map(|items| en::fact_deleted_each(&items.len()));
    items.into_iter().chain(told.map(fact)).collect()
}

/// A fact in a sentence or two.
pub fn fact(fact: &Fact) -> String {
    match fact {
        Fact::Read(version) => en::fact_read(version),
        Fact::ReadScale(version) => en::fact_read_scale(version),
        Fact::Listed(version) => en::fact_listed(version),
        Fact::VersionMatched(version) => en::fact_version_matched(version),
        Fact::VersionDiffered { sent, stored } => en::fact_version_differed(sent, stored),
        Fact::VersionNotSent(stored) => en::fact_version_not_sent(stored),
        Fact::VersionTakenOver(stored) => en::fact_version_taken_over(stored),
        Fact::VersionRequired(stored) => en::fact_version_required(stored),
        Fact::UidDiffered { sent, stored } => match stored {
            Some(stored) => en::fact_uid_differed(sent, stored),
            None => en::fact_uid_without_object(sent),
        },
        Fact::OwnedByOther { field, manager } => en::fact_owned(field, manager),
        Fact::GivenUp { field } => en::fact_given_up(field),
        Fact::Emptied { field, kept: true } => en::fact_emptied_kept(field),
        Fact::Emptied { field, kept: false } => en::fact_emptied_null(field),
        Fact::OperationFailed(failed) => operation_failed(failed),
        Fact::Created(version) => en::fact_created(version),
        Fact::Stored { before, after } => en::fact_stored(before, after),
        Fact::Unchanged(version) => en::fact_unchanged(version),
        Fact::Terminating(version) => en::fact_terminating(version),
        Fact::Deleted(revision) => en::fact_deleted(revision),
        Fact::DryRun => en::fact_dry_run(),
        Fact::RuleNotEvaluated(rule) => en::fact_rule(&format_args!("{rule:?}")),
    }
}

/// Says on the server's card that the server cannot evaluate validation rules on the stored object.
pub fn unevaluated_rules(rules: &[String]) -> Option<String> {
    match rules {
        [] => None,
        [rule] => Some(en::card_rule(&format_args!("{rule:?}"))),
        [rule, ..] => Some(en::card_rules(&rules.len(), &format_args!("{rule:?}"))),
    }
}

/// The server's own message, where it noted no fact.
pub fn server_says(message: &str) -> String {
    en::server_says(&message)
}

fn operation_failed(failed: &FailedOperation) -> String {
    let FailedOperation {
        position,
        op,
        path,
        differed,
        ..
    } = failed;
    let whole = en::the_object();
    let path = if path.is_empty() { &whole } else { path };
    let position = position + 1;
    let what = match differed {
        // Where both look the same in a few words, they are not said.
        Some((wanted, Some(found))) if cut(wanted) == cut(found) => en::fact_test_cut(path),
        Some((wanted, Some(found))) => en::fact_test_differed(path, &cut(wanted), &cut(found)),
        Some((wanted, None)) => en::fact_test_absent(path, &cut(wanted)),
        None if op.is_empty() => en::fact_no_operation(&position),
        None => en::fact_operation_failed(&position, op, path),
    };
    en::fact_none_done(&what)
}

/// A value as JSON, without its middle where it is long.
fn cut(value: &Value) -> String {
    const MAX_CHARS: usize = 60;
    shorten(&value.to_string(), MAX_CHARS)
}

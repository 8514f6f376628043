//! Diagnose's sentences about questions that a text leaves open.

use optimist_apiserver::apply::Path;
use optimist_client::CLIENT_SIDE;
use optimist_diagnose::completions::{
    CompletionAnswer, Contradiction, OpenQuestion, SameName, Then,
};
use optimist_diagnose::ways::Row;

use crate::diagnose::{manager_name, names};
use crate::edits::fields;
use crate::ways::{client_long, effect, listed};
use crate::{client, en};

/// Returns whether something of a row is open that makes its answer so.
pub(crate) fn open_answer(row: &Row) -> Option<String> {
    row.open.iter().find_map(|one| match one.then {
        Then::Code { .. } => Some(en::ways_depends()),
        Then::NoValidValues => Some(en::ways_not_known()),
        _ => None,
    })
}

/// Says the open questions of a row, and the input that decides them.
pub(crate) fn open_questions(row: &Row) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    let mut add = |text: String| {
        if !said.contains(&text) {
            said.push(text);
        }
    };
    row.open.iter().map(open_question).for_each(&mut add);
    let decided = row.open.iter().filter(|it| it.then != Then::NoValidValues);
    decided.filter_map(|it| bring(&it.answer)).for_each(add);
    said
}

/// Returns whether the fate of a field is open.
pub(crate) fn is_open(row: &Row, column: &Path) -> bool {
    row.open.iter().any(|one| match &one.then {
        Then::Code { .. } | Then::NoValidValues => true,
        Then::Vanish(fields)
        | Then::Reset(fields)
        | Then::Effect(_, fields)
        | Then::NoEffect(fields) => fields.contains(column),
        _ => false,
    })
}

fn open_question(one: &OpenQuestion) -> String {
    let if_so = condition(&one.answer);
    let named = |paths: &[Path]| listed(&fields(paths));
    let code = |code: &Option<u16>| code.map_or_else(en::ways_nothing_sent, |it| it.to_string());
    match &one.then {
        Then::Code { first, other } => en::open_code(&if_so, &code(first), &code(other)),
        Then::Vanish(fields) => en::open_vanish(&if_so, &fields.len(), &named(fields)),
        Then::Reset(fields) => en::open_reset(&if_so, &named(fields)),
        Then::Effect(what, fields) => {
            en::open_effect(&if_so, &fields.len(), &effect(*what), &named(fields))
        }
        Then::NoEffect(fields) => en::open_no_effect(&if_so, &named(fields)),
        Then::OthersVanish => en::open_others_vanish(&if_so),
        Then::Written { changes: true } => en::open_written(&if_so),
        Then::Written { changes: false } => en::open_not_written(&if_so),
        Then::SecondRun { changes: true } => en::open_second_changes(&if_so),
        Then::SecondRun { changes: false } => en::open_second_nothing(&if_so),
        Then::DoesNotSettle => en::open_not_settled(&if_so),
        Then::Settles => en::open_settled(&if_so),
        Then::NoValidValues => en::open_no_values(),
    }
}

/// Says the condition of an answer, behind *if*.
fn condition(answer: &CompletionAnswer) -> String {
    match answer {
        CompletionAnswer::Kind { kind, .. } => en::if_kind(kind),
        CompletionAnswer::OtherValues => en::if_other_values(),
        CompletionAnswer::MoreFields => en::if_more_fields(),
        CompletionAnswer::AppliedBefore => en::if_applied_before(),
        // Another command of kubectl applies nothing, but can write the annotation.
        CompletionAnswer::ClientSideApply(manager)
            if manager.starts_with("kubectl-") && manager != CLIENT_SIDE =>
        {
            en::if_record(manager)
        }
        CompletionAnswer::ClientSideApply(manager) => en::if_client_side(&manager_name(manager)),
        CompletionAnswer::Untracked => en::if_untracked(),
        CompletionAnswer::SmallManifest => en::if_small_manifest(),
        CompletionAnswer::ServerSideRelease => en::if_server_side_release(),
        CompletionAnswer::OwnedByApplier => en::if_owned_by_applier(),
        CompletionAnswer::OwnedByClientSideApply => en::if_owned_by_client_side(),
    }
}

/// Names the input by which the answer becomes known.
fn bring(answer: &CompletionAnswer) -> Option<String> {
    match answer {
        CompletionAnswer::Kind { .. }
        | CompletionAnswer::MoreFields
        | CompletionAnswer::AppliedBefore
        | CompletionAnswer::ClientSideApply(_)
        | CompletionAnswer::Untracked
        | CompletionAnswer::OwnedByApplier
        | CompletionAnswer::OwnedByClientSideApply => Some(en::open_bring_live()),
        CompletionAnswer::OtherValues | CompletionAnswer::SmallManifest => {
            Some(en::open_bring_manifest())
        }
        // The record of the release says it, which nobody can bring here.
        CompletionAnswer::ServerSideRelease => None,
    }
}

/// Says that a row contradicts the message in the input.
pub fn contradiction(of: &Contradiction) -> String {
    let code = of
        .code
        .map_or_else(en::ways_nothing_sent, |code| code.to_string());
    // The code alone may be the one of the message.
    let code = match of.refused.is_empty() {
        true => code,
        false => en::code_for(&code, &names(&of.refused)),
    };
    en::ways_contradicts(&client_long(of.client), &names(&of.said), &code)
}

/// Says why a client has a conflict with a manager of its own name.
pub fn same_name(of: &SameName) -> String {
    let client = client(of.client);
    if of.by_update {
        en::ways_same_name_update(&manager_name(&of.manager), &client)
    } else {
        en::ways_same_name_apply(&manager_name(&of.manager), &client)
    }
}

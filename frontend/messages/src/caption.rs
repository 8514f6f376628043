//! The caption: the event at the current step, its cause, and a next step to try.

use optimist_apiserver::pointer::unescape;
use optimist_apiserver::storage::Revision;
use optimist_client::RequestKind;
use optimist_simulation::{
    ActorId, DeletionMark, Explanation, ExplanationKind as Kind, HistoryTree, RefusalReason,
    Suggestion, VersionCheck, World,
};
use serde_json::Value;

use crate::diagnose::names;
use crate::edits::{edit, edit_result, value};
use crate::steps::{request, short_name};
use crate::{controller_card, en, watch};

/// A caption.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caption {
    /// The event, in a few words.
    pub title: String,
    /// The event and its cause, a paragraph each.
    pub text: Vec<String>,
    /// The next step to try.
    pub next: Option<String>,
}

impl Caption {
    pub(crate) fn new(title: String, text: impl IntoIterator<Item = String>) -> Self {
        Self {
            title,
            text: text.into_iter().collect(),
            next: None,
        }
    }
}

/// The caption of an explanation; the world has the names of the actors.
pub fn caption(explanation: &Explanation, world: &World) -> Caption {
    let mut caption = match &explanation.kind {
        kind @ (Kind::Start { .. } | Kind::BothRead { .. } | Kind::Read { .. }) => {
            reading(kind, world)
        }
        kind @ (Kind::Conflict { .. }
        | Kind::TestFailed { .. }
        | Kind::OwnedByOther { .. }
        | Kind::NotFound
        | Kind::Refused { .. }) => refusal(kind, world),
        Kind::Lost { .. } => Caption::default(),
        kind @ Kind::Controlled { .. } => controller_card::caption(kind, world).unwrap_or_default(),
        kind => accepted(kind, world).unwrap_or_else(|| watch::caption(kind)),
    };
    let results = explanation.results.iter();
    caption
        .text
        .extend(results.map(|result| edit_result(result, world)));
    if let Kind::Lost { .. } = explanation.kind {
        let told = lost(&explanation.kind, world);
        caption.title = told.title;
        // Only the first loss is told here; the Why card has all of them.
        caption.text.truncate(1);
        caption.text.extend(told.text);
    }
    caption.text.extend(stale_copies(&explanation.stale, world));
    if !explanation.kept.is_empty() {
        caption.title = crate::endings::kept_title(&explanation.kept);
    }
    caption.next = explanation
        .next
        .as_ref()
        .map(|next| suggestion(next, world));
    caption
}

/// Names the actors with a stale copy, in a sentence for each version.
fn stale_copies(stale: &[(ActorId, String)], world: &World) -> Vec<String> {
    let mut by_version: Vec<(&str, Vec<String>)> = Vec::new();
    for (actor, version) in stale {
        let name = world.actor(*actor).name.to_string();
        match by_version.iter_mut().find(|(known, _)| known == version) {
            Some((_, names)) => names.push(name),
            None => by_version.push((version, vec![name])),
        }
    }
    let sentences = by_version.into_iter();
    let sentences =
        sentences.map(|(version, all)| en::still_hold(&names(&all), &all.len(), &version));
    sentences.collect()
}

fn reading(kind: &Kind, world: &World) -> Caption {
    match kind {
        Kind::Start { version } => {
            let two_and_one = world.subjects().count() == 1 && !world.has_controllers();
            let title = if two_and_one {
                en::start_title()
            } else {
                en::start_other_title()
            };
            Caption::new(title, [en::start_text(version)])
        }
        Kind::BothRead { version } => {
            let has_read = |id: &ActorId| {
                let read = world.copy(*id).resource_version();
                read.is_some_and(|read| read == version.to_string())
            };
            let readers: Vec<ActorId> = ActorId::ALL.into_iter().filter(has_read).collect();
            let title = match readers[..] {
                [ActorId::A, ActorId::B] => en::both_read_title(version),
                [one, other] => {
                    let name = |id: ActorId| world.actor(id).name.to_string();
                    en::two_read_title(&names(&[name(one), name(other)]), version)
                }
                _ => en::more_read_title(&readers.len(), version),
            };
            Caption::new(title, [en::both_read_text()])
        }
        Kind::Read {
            actor,
            version,
            redone,
        } => {
            let name = &world.actor(*actor).name;
            let redone = redone.then(|| en::read_redone(name));
            let text = [Some(en::read_text()), redone];
            Caption::new(en::read_title(name, version), text.into_iter().flatten())
        }
        _ => Caption::default(),
    }
}

fn lost(kind: &Kind, world: &World) -> Caption {
    let Kind::Lost {
        loss,
        request: sent,
        forced,
        ..
    } = kind
    else {
        return Caption::default();
    };
    let told = en::lost_told();
    let why = if *forced {
        en::lost_forced()
    } else {
        en::lost_compared(&request(*sent))
    };
    Caption::new(
        en::lost_title(&short_name(loss.owner, world), &edit(&loss.edit)),
        [told, why],
    )
}

/// Captions an accepted write; `None` for an event that no actor caused.
fn accepted(kind: &Kind, world: &World) -> Option<Caption> {
    let name = |actor| &world.actor(actor).name;
    Some(match kind {
        Kind::NotApplied => Caption::new(en::not_applied_title(), []),
        Kind::Unchanged { version, .. } => {
            Caption::new(en::unchanged_title(), [en::unchanged_text(version)])
        }
        Kind::StillTerminating { version } => Caption::new(
            en::still_terminating_title(),
            [en::still_terminating_text(version)],
        ),
        Kind::DryRun => Caption::new(en::dry_run_title(), [en::dry_run_text()]),
        Kind::OtherObject { actor } => Caption::new(
            en::other_object_title(name(*actor)),
            [en::other_object_text()],
        ),
        Kind::Deleted {
            actor,
            version,
            by_finalizer: false,
        } => Caption::new(en::deleted_title(name(*actor)), [en::deleted_text(version)]),
        Kind::Deleted { actor, version, .. } => Caption::new(
            en::finalized_title(name(*actor)),
            [en::finalized_text(version)],
        ),
        Kind::Terminating {
            actor,
            version,
            mark,
            finalizers,
            grace,
        } => {
            let finalizers = finalizers.then(en::terminating_finalizers);
            let grace = (*grace > 0).then(|| en::terminating_grace(grace));
            let title = match mark {
                DeletionMark::New => en::terminating_title(name(*actor), version),
                DeletionMark::Sooner => en::sooner_title(name(*actor), version),
                DeletionMark::OfFinalizers => en::finalizers_title(name(*actor), version),
            };
            Caption::new(title, finalizers.into_iter().chain(grace))
        }
        Kind::Created { actor, version } => Caption::new(
            en::created_title(name(*actor), version),
            [en::created_text()],
        ),
        Kind::Stored {
            actor,
            before,
            after,
            request: sent,
            check,
        } => {
            let text = compared(*check, name(*actor), *sent, [*before, *after]);
            Caption::new(en::stored_title(name(*actor), after), [text])
        }
        _ => return None,
    })
}

/// Says what the server compared before it stored a write.
fn compared(check: VersionCheck, name: &str, sent: RequestKind, versions: [Revision; 2]) -> String {
    let [before, after] = &versions;
    match check {
        VersionCheck::Matched => en::stored_matched(&name, before, after),
        VersionCheck::NotSent => en::stored_not_sent(&request(sent), before, after),
        VersionCheck::Unknown => en::stored_unknown(before, after),
    }
}

fn refusal(kind: &Kind, world: &World) -> Caption {
    match kind {
        Kind::Conflict {
            actor,
            sent,
            stored,
            both_read,
            from_copy,
        } => {
            let name = &world.actor(*actor).name;
            let is_third = |id| !ActorId::EDITORS.contains(&id) && world.copy(id).read().is_some();
            let title = match (both_read, from_copy) {
                (true, _) if world.editors_and_tools().any(is_third) => {
                    en::conflict_several_title(sent)
                }
                (true, _) => en::conflict_both_title(sent),
                (false, true) => en::conflict_title(name, sent),
                (false, false) => en::conflict_sent_title(sent),
            };
            let first = if *from_copy {
                en::conflict_copy(name, sent, stored)
            } else {
                en::conflict_stored(stored)
            };
            Caption::new(title, [first, en::conflict_compared(sent, stored)])
        }
        Kind::TestFailed {
            path,
            wanted,
            found,
            names_version,
        } => {
            let mut text = test_failed(path, wanted, found.as_ref());
            if !names_version {
                text.push(' ');
                text.push_str(&en::test_failed_others());
            }
            Caption::new(en::test_failed_title(), [text, en::test_failed_code()])
        }
        Kind::OwnedByOther { own_updates: None } => {
            Caption::new(en::owned_title(), [en::owned_text()])
        }
        Kind::OwnedByOther {
            own_updates: Some(actor),
        } => Caption::new(
            en::owned_own_title(&world.actor(*actor).name),
            [en::owned_own_text()],
        ),
        Kind::NotFound => Caption::new(en::not_found_title(), [en::not_found_text()]),
        Kind::Refused {
            actor,
            reason,
            ends_watch,
        } => other_refusal(&world.actor(*actor).name, reason, *ends_watch),
        _ => Caption::default(),
    }
}

fn other_refusal(name: &str, reason: &RefusalReason, ends_watch: bool) -> Caption {
    let title = match ends_watch {
        true => en::watch_ended_title(&name),
        false => en::refused_title(&name),
    };
    Caption::new(title, [refused(reason)])
}

fn test_failed(path: &str, wanted: &Value, found: Option<&Value>) -> String {
    let field = tested_field(path);
    let (wanted, found) = (value(Some(wanted)), value(found));
    if wanted == found {
        en::test_failed_cut(&field)
    } else {
        en::test_failed(&field, &wanted, &found)
    }
}

fn refused(reason: &RefusalReason) -> String {
    match reason {
        RefusalReason::UidDiffered => en::refused_uid(),
        RefusalReason::VersionRequired => en::refused_no_version(),
        RefusalReason::AlreadyExists => en::refused_exists(),
        RefusalReason::UnsupportedMediaType { content_type } => {
            en::refused_content_type(&optimist_client::visible(content_type))
        }
        RefusalReason::OfRead => en::refused_read(),
        RefusalReason::Other => en::refused_text(),
    }
}

/// Names the field that a `test` of a JSON patch reads: the last name of its path; the whole path
/// of an item.
fn tested_field(path: &str) -> String {
    match path.rsplit('/').next().unwrap_or_default() {
        "" => en::the_object(),
        index if index.parse::<usize>().is_ok() => optimist_client::dotted(path),
        name => optimist_client::visible(&unescape(name)).into_owned(),
    }
}

fn suggestion(suggestion: &Suggestion, world: &World) -> String {
    use Suggestion as Next;
    let name = |actor| &world.actor(actor).name;
    let short = |actor| short_name(actor, world);
    match suggestion {
        Next::StepForward => en::next_step_forward(),
        Next::Get(actor) => en::next_get(&short(*actor)),
        Next::GetToo(actor) => en::next_get_too(&short(*actor)),
        Next::GetToSee(actor) => en::next_get_to_see(&short(*actor)),
        Next::GetAndSendAgain(actor) => en::next_get_and_send(&short(*actor)),
        Next::ChangeBoth(other) => en::next_change_both(&short(*other)),
        Next::SendBoth(other) => en::next_send_both(&short(*other)),
        Next::Send(actor) => en::next_send(&short(*actor)),
        Next::SendRedone(actor, version) => en::next_send_redone(&short(*actor), version),
        Next::SendAgain(actor) => en::next_send_again(&short(*actor)),
        Next::SendStale(actor) => en::next_send_stale(&short(*actor)),
        Next::SendDeleted(actor) => en::next_send_deleted(name(*actor)),
        Next::Change(actor) => en::next_change(name(*actor)),
        Next::ChangeAgain(actor) => en::next_change_again(name(*actor)),
        Next::ChangeStale(actor) => en::next_change_stale(name(*actor)),
        Next::ChangeOther(actor) => en::next_change_other(name(*actor)),
        Next::WithoutForce(actor) => en::next_without_force(&short(*actor)),
        Next::Compare(actor) => en::next_compare(&short(*actor)),
        Next::CompareOrApply(actor) => en::next_compare_or_apply(&short(*actor)),
        Next::OtherOrder => en::next_other_order(),
        Next::Force(actor) => en::next_force(name(*actor)),
        Next::ForceRequest(actor) => en::next_force_request(name(*actor)),
        Next::Create => en::next_create(),
        Next::Fix(actor) => en::next_fix(name(*actor)),
        Next::MergePatch(actor) => en::next_merge_patch_instead(name(*actor)),
        Next::ChangeThenResume => en::next_resume(),
        Next::ResumeFromList => en::next_resume_list(),
        Next::ChangeForStream => en::next_change_stream(),
        Next::MakeExpired => en::next_expire(),
        Next::ChangeOrDrop => en::next_change_or_drop(),
        Next::OpenBefore(version) => en::next_open_before(version),
        Next::OpenThenRestart => en::next_open_restart(),
        Next::OtherVersion => en::next_other_version(),
        Next::ListAgain => en::next_list_again(),
    }
}

/// Names the first steps to try in a session, and says whether this history has them.
pub fn first_steps(tree: &HistoryTree) -> [(String, bool); 3] {
    let done = tree.first_steps();
    let stored = tree.world().stored();
    let replicas = stored.is_some_and(|(_, object)| {
        let image = "/spec/template/spec/containers/0/image";
        ["/spec/replicas", image]
            .iter()
            .all(|place| object.pointer(place).is_some())
    });
    let change = if replicas {
        en::try_replicas()
    } else {
        en::try_value()
    };
    [
        (en::try_get(), done.read),
        (change, done.changed),
        (en::try_send(), done.sent),
    ]
}

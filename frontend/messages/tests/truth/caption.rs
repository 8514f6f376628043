//! Conditions of the caption: what happened, why, and what to try next.

use optimist_apiserver::object::Metadata;
use optimist_client::{Strategy, Write};
use optimist_simulation::{Action, ActorId, Operation, Step, WatchAction, World};
use serde_json::{Value, json};

use super::edits_named::{begins, brief, edits_counted, is_edit, replaces};
use super::judge::leaves;
use super::moment::{
    Moment, finalizers, is_apply, is_dry_run, is_marked, sent_version, touch, version,
};
use super::said::Said;

/// A condition: whether a message is true of a moment. `None`: something that it speaks of is not
/// there, so it is not true.
pub type Condition = fn(&Said, &Moment<'_>) -> Option<bool>;

pub const READS: &[(&str, Condition)] = &[
    ("start_title", |_, at| {
        let one = at.world().subjects().count() == 1 && !at.world().has_controllers();
        Some(at.last().is_none() && one)
    }),
    ("start_other_title", |_, at| Some(at.last().is_none())),
    ("start_text", |said, at| {
        let unread = ActorId::ALL
            .iter()
            .all(|id| at.world().copy(*id).read().is_none());
        Some(unread && said.number("version")? == at.version())
    }),
    ("both_read_title", |said, at| {
        let version = said.text("version");
        let holds = |id: &ActorId| at.copy_version(*id) == Some(&version);
        Some(
            [ActorId::A, at.right]
                .iter()
                .all(|id| at.was_shown(*id, &version))
                && !ActorId::ALL[2..].iter().any(holds),
        )
    }),
    ("two_read_title", |said, at| {
        let version = said.text("version");
        let readers: Vec<String> = ActorId::ALL
            .iter()
            .filter(|id| at.copy_version(**id) == Some(&version))
            .map(|id| at.world().actor(*id).name.to_string())
            .collect();
        let names = said.text("names");
        Some(readers.len() == 2 && readers.iter().all(|name| names.contains(name)))
    }),
    ("more_read_title", |said, at| {
        let version = said.text("version");
        let shown =
            |id: &&ActorId| at.was_shown(**id, &version) && at.copy_version(**id) == Some(&version);
        Some(said.number("count")? as usize == ActorId::ALL.iter().filter(shown).count())
    }),
    ("both_read_text", |_, at| {
        let current = |id: &ActorId| at.copy_version(*id) == Some(&at.version().to_string());
        Some([ActorId::A, at.right].iter().all(current))
    }),
    ("read_title", |said, at| {
        let sent = at.exchange()?;
        let shown = sent.received.resource_version() == said.text("version");
        Some(sent.method == "GET" && at.accepted() && shown && at.is_by(&said.text("name")))
    }),
    ("read_text", |_, at| {
        Some(at.exchange()?.method == "GET" && at.wrote_nothing())
    }),
    ("read_redone", |said, at| {
        let copy = at.world().copy(at.named(&said.text("name"))?);
        let read = copy.read()?.resource_version();
        let shown = at.exchange()?.received.resource_version();
        Some(read == shown && leaves(copy.read()?) != leaves(copy.edited()?))
    }),
];

pub const WRITES: &[(&str, Condition)] = &[
    ("not_applied_title", |_, at| {
        Some(at.accepted() && at.same_object())
    }),
    ("unchanged_title", |_, at| {
        Some(at.accepted() && at.same_object())
    }),
    ("unchanged_text", |said, at| {
        Some(at.same_object() && at.version() == said.number("version")?)
    }),
    ("still_terminating_title", |_, at| {
        Some(is_marked(at.stored_before()?))
    }),
    ("still_terminating_text", |said, at| {
        let delete = at.exchange()?.method == "DELETE" && at.accepted();
        Some(delete && at.same_object() && at.version() == said.number("version")?)
    }),
    ("dry_run_title", |_, at| {
        Some(is_dry_run(at.exchange()?) && at.wrote_nothing())
    }),
    ("dry_run_text", |_, at| {
        let sent = at.exchange()?;
        let target = sent.target.replace("dryRun=All", "");
        Some(at.sent_to(target.trim_end_matches(['?', '&']))? == sent.code)
    }),
    ("other_object_title", |said, at| {
        Some(at.accepted() && at.is_by(&said.text("name")))
    }),
    ("other_object_text", |_, at| {
        let key = at.world().subject().key();
        let stored = |world: &World| world.server().store().get(key).map(|(version, _)| version);
        let last = at.last()?;
        Some(stored(last.before) == stored(last.after))
    }),
    ("lost_title", |said, at| {
        let owner = at.named(&said.text("owner"))?;
        Some(
            takes_away(at, said, "edit")
                .iter()
                .any(|gone| gone.owner == owner && !gone.shown),
        )
    }),
    ("lost_told", |_, at| Some(at.accepted())),
    ("lost_forced", |_, at| {
        Some(took_ownership(at)? && at.exchange()?.target.contains("force=true"))
    }),
    ("lost_compared", |said, at| {
        let sent = at.exchange()?;
        let named = request_name(at)? == said.inner("request")?.name();
        // Where no object is, there is no version to compare with.
        let stored = at.stored_before().map(|object| version(object).to_string());
        let stale =
            stored.is_some_and(|stored| sent_version(sent).is_some_and(|sent| sent != stored));
        Some(named && at.accepted() && !stale)
    }),
    ("deleted_title", |said, at| {
        let gone = at.stored_before().is_some() && at.stored().is_none();
        Some(gone && at.is_by(&said.text("name")))
    }),
    ("deleted_text", |said, at| {
        Some(at.stored().is_none() && at.version_before() == said.number("version")?)
    }),
    ("finalized_title", |said, at| {
        let had = finalizers(at.stored_before()?) > 0 && at.exchange()?.method != "DELETE";
        Some(had && at.stored().is_none() && at.is_by(&said.text("name")))
    }),
    ("finalized_text", |said, at| {
        let marked = is_marked(at.stored_before()?) && at.stored().is_none();
        Some(marked && at.version_before() == said.number("version")?)
    }),
    ("terminating_title", |said, at| {
        let marked = !is_marked(at.stored_before()?) && is_marked(at.stored()?);
        let version = at.version() == said.number("version")?;
        Some(marked && version && at.is_by(&said.text("name")))
    }),
    ("finalizers_title", |said, at| {
        let (before, after) = (at.stored_before()?, at.stored()?);
        let differ = before["metadata"]["finalizers"] != after["metadata"]["finalizers"];
        let marked = is_marked(before) && is_marked(after);
        let version = at.version() == said.number("version")?;
        Some(marked && differ && version && at.is_by(&said.text("name")))
    }),
    ("sooner_title", |said, at| {
        let period =
            |object: &serde_json::Value| object["metadata"]["deletionGracePeriodSeconds"].as_i64();
        let (before, after) = (at.stored_before()?, at.stored()?);
        let marked = is_marked(before) && is_marked(after);
        let version = at.version() == said.number("version")?;
        Some(marked && period(after) < period(before) && version && at.is_by(&said.text("name")))
    }),
    ("terminating_finalizers", |_, at| {
        Some(is_marked(at.stored()?) && finalizers(at.stored()?) > 0)
    }),
    ("terminating_grace", |said, at| {
        let period = at.stored()?["metadata"]["deletionGracePeriodSeconds"].as_u64()?;
        Some(is_marked(at.stored()?) && period == said.number("seconds")?)
    }),
    ("created_title", |said, at| {
        let new = at.stored_before().is_none() && at.version() == said.number("version")?;
        Some(new && at.is_by(&said.text("name")))
    }),
    ("created_text", |_, at| {
        let uid = at.stored()?.uid();
        let earlier = at.so_far.iter().filter_map(|it| at.object_in(it.before));
        let mut earlier = earlier.map(Metadata::uid);
        Some(at.stored_before().is_none() && earlier.all(|one| one != uid))
    }),
    ("stored_title", |said, at| {
        let made = at.version() == said.number("version")? && !at.same_object();
        Some(made && at.is_by(&said.text("name")))
    }),
    ("stored_matched", |said, at| {
        let (before, after) = (said.number("before")?, said.number("after")?);
        let carried = sent_version(at.exchange()?)? == before.to_string();
        let versions = (at.version_before(), at.version()) == (before, after);
        Some(carried && versions && at.is_by(&said.text("name")))
    }),
    ("stored_not_sent", |said, at| {
        let (before, after) = (said.number("before")?, said.number("after")?);
        let named = request_name(at)? == said.inner("request")?.name();
        let versions = (at.version_before(), at.version()) == (before, after);
        Some(named && versions && sent_version(at.exchange()?).is_none())
    }),
    ("stored_unknown", |said, at| {
        let (before, after) = (said.number("before")?, said.number("after")?);
        Some((at.version_before(), at.version()) == (before, after))
    }),
    ("still_hold", |said, at| {
        let version = said.text("version");
        let holds = |actor: &ActorId| {
            let held = at.copy_version(*actor);
            Some(*actor) != at.actor() && held.is_some_and(|held| held == version)
        };
        let all: Vec<ActorId> = ActorId::ALL.into_iter().filter(holds).collect();
        let name = |actor: &ActorId| said.text("names").contains(&*at.world().actor(*actor).name);
        let are_all = all.len() as u64 == said.number("count")? && all.iter().all(name);
        Some(are_all && version != at.version().to_string())
    }),
];

/// Returns whether an actor beside the two editors has a copy.
fn third_reads(at: &Moment<'_>) -> bool {
    let reads = |id: &ActorId| at.copy_version(*id).is_some();
    ActorId::ALL[2..].iter().any(reads)
}

pub const REFUSALS: &[(&str, Condition)] = &[
    ("conflict_both_title", |said, at| {
        let version = said.text("version");
        // The one who was refused, and another one.
        let own = at.actor()?;
        let other = ActorId::ALL
            .into_iter()
            .any(|id| id != own && at.has_read(id, &version));
        let by_own = at.replaced(&version).is_none_or(|by| by == own);
        let refused = at.has_read(own, &version) && other && !by_own && at.exchange()?.code == 409;
        Some(refused && !third_reads(at))
    }),
    ("conflict_several_title", |said, at| {
        let version = said.text("version");
        let shown = |id: &&ActorId| at.has_read(**id, &version);
        let count = ActorId::ALL.iter().filter(shown).count();
        Some(count > 1 && third_reads(at) && at.exchange()?.code == 409)
    }),
    ("conflict_title", |said, at| {
        let (name, version) = (at.named(&said.text("name"))?, said.text("version"));
        Some(at.copy_version(name)? == version && at.version().to_string() != version)
    }),
    ("conflict_sent_title", |said, at| {
        let carried = sent_version(at.exchange()?)?;
        let stored = version(&at.addressed()?).to_string();
        Some(carried == said.text("version") && stored != carried)
    }),
    ("conflict_copy", |said, at| {
        let copy = at.copy_version(at.named(&said.text("name"))?)?;
        Some(copy == said.text("sent") && version(&at.addressed()?) == said.number("stored")?)
    }),
    ("conflict_stored", |said, at| {
        Some(version(&at.addressed()?) == said.number("stored")?)
    }),
    ("conflict_compared", |said, at| {
        let carried = sent_version(at.exchange()?)? == said.text("sent");
        let stored = version(&at.addressed()?) == said.number("stored")?;
        Some(carried && stored && at.wrote_nothing() && at.refused())
    }),
    ("test_failed_title", |_, at| {
        Some(failing_test(at).is_some() && at.refused())
    }),
    ("test_failed", |said, at| {
        let (place, wanted, found) = failing_test(at)?;
        let named = place.rsplit('/').next()? == said.text("field")
            || place.contains(&said.text("field"))
            || (place.is_empty() && said.inner("field")?.name() == "the_object");
        let found = found.as_ref().map_or_else(|| "absent".to_owned(), brief);
        let both =
            begins(&brief(&wanted), &said.text("wanted")) && begins(&found, &said.text("found"));
        Some(named && both && at.wrote_nothing())
    }),
    ("test_failed_cut", |_, at| {
        let (_, wanted, found) = failing_test(at)?;
        Some(Some(wanted) != found && at.wrote_nothing())
    }),
    ("test_failed_others", |_, at| {
        Some(sent_version(at.exchange()?).is_none())
    }),
    ("test_failed_code", |_, at| Some(at.exchange()?.code == 422)),
    ("owned_title", |_, at| {
        Some(is_apply(at.exchange()?) && conflicts(at)? > 0)
    }),
    ("owned_text", |_, at| {
        let unforced = !at.exchange()?.target.contains("force=true");
        Some(unforced && conflicts(at)? > 0 && at.wrote_nothing() && at.exchange()?.code == 409)
    }),
    ("owned_own_title", |said, at| {
        // Each owner in the answer has the name of the applier, and has another entry than an apply.
        let causes = at.exchange()?.received["details"]["causes"].as_array()?;
        let query = at.exchange()?.target.split_once("fieldManager=")?.1;
        let applier = query.split('&').next()?;
        let own = |cause: &Value| {
            let message = cause["message"].as_str().unwrap_or_default();
            message.contains(&format!("conflict with \"{applier}\" "))
        };
        let by_update = at.stored()?["metadata"]["managedFields"]
            .as_array()?
            .iter()
            .any(|entry| entry["manager"] == applier && entry["operation"] == "Update");
        let sender = at.is_by(&said.text("name"));
        Some(sender && by_update && !causes.is_empty() && causes.iter().all(own))
    }),
    ("owned_own_text", |_, at| {
        let unforced = !at.exchange()?.target.contains("force=true");
        Some(unforced && conflicts(at)? > 0 && at.wrote_nothing())
    }),
    ("not_found_title", |_, at| Some(at.stored().is_none())),
    ("not_found_text", |_, at| {
        Some(at.stored().is_none() && at.exchange()?.code == 404)
    }),
    ("watch_ended_title", |said, at| {
        let last = at.exchange()?.received.as_array()?.last()?.clone();
        Some(at.exchange()?.code == 200 && last["type"] == "ERROR" && at.is_by(&said.text("name")))
    }),
    ("refused_title", |said, at| {
        Some(at.refused() && at.is_by(&said.text("name")))
    }),
    ("refused_text", |_, at| {
        let says = at.exchange()?.received["message"]
            .as_str()
            .is_some_and(|it| !it.is_empty());
        let writes = at.exchange()?.method != "GET";
        Some(writes && at.refused() && at.wrote_nothing() && says)
    }),
    ("refused_read", |_, at| {
        let sent = at.exchange()?;
        // A watch that ends was answered: its last event says why.
        let last = sent.received.as_array().and_then(|events| events.last());
        let ends = last.filter(|event| event["type"] == "ERROR");
        let status = ends.map_or(&*sent.received, |event| &event["object"]);
        let says = status["message"].as_str()?;
        Some(sent.method == "GET" && (at.refused() || ends.is_some()) && !says.is_empty())
    }),
    ("refused_uid", |_, at| {
        let (sent, stored) = (at.exchange()?, at.addressed()?);
        let uid = stored["metadata"]["uid"].as_str()?;
        let body = at.last()?.step.sent_text().map(str::to_owned);
        let body = body.unwrap_or_else(|| sent.sent.to_string());
        let names_one = body.contains("uid") && sent.received["message"].as_str()?.contains(uid);
        Some(names_one && sent.code == 409 && at.wrote_nothing())
    }),
    ("refused_no_version", |_, at| {
        let sent = at.exchange()?;
        let stored = version(&at.addressed()?).to_string();
        let with_one = at.answer(&sent.target, |body| {
            let mut object: Value = serde_json::from_str(&body).unwrap_or_default();
            object["metadata"]["resourceVersion"] = json!(stored);
            object.to_string()
        })?;
        let asks = |answer: &Value| answer["message"].to_string().contains("resourceVersion");
        let needs_one = asks(&sent.received) && !asks(&with_one.1);
        Some(sent.method == "PUT" && needs_one && at.wrote_nothing())
    }),
    ("refused_exists", |_, at| {
        let sent = at.exchange()?;
        let name = sent.received["details"]["name"].as_str()?;
        let path = format!("{}/{name}", sent.target.split('?').next()?);
        let (code, _) = at.got(at.world(), &path);
        Some(sent.method == "POST" && code == 200 && at.wrote_nothing())
    }),
    ("refused_content_type", |said, at| {
        let sent = at.exchange()?;
        let named = sent.content_type.as_ref() as &str == said.text("sent");
        Some(named && sent.code == 415 && at.wrote_nothing())
    }),
];

/// The conditions of suggestions: their claim about the present holds, and their promise is tried.
pub const NEXT: &[(&str, Condition)] = &[
    ("next_step_forward", |_, at| {
        Some(at.tree.current_path().len() > at.tree.position() + 1)
    }),
    ("next_send_redone", |said, at| {
        let copy = at.world().copy(at.named(&said.text("actor"))?);
        let read = copy.read()?.resource_version() == said.text("version");
        Some(read && leaves(copy.read()?) != leaves(copy.edited()?))
    }),
    ("next_change_stale", |said, at| {
        let actor = at.named(&said.text("name"))?;
        Some(at.copy_version(actor)? != at.version().to_string() && at.stored().is_some())
    }),
    ("next_send_stale", |said, at| {
        let actor = at.named(&said.text("actor"))?;
        Some(at.copy_version(actor)? != at.version().to_string() && at.stored().is_some())
    }),
    ("next_send_deleted", |said, at| {
        let copy = at.world().copy(at.named(&said.text("name"))?);
        Some(copy.read().is_some() && at.stored().is_none())
    }),
    ("next_other_order", |_, at| {
        let sent = at.so_far.iter().filter(|it| {
            it.step
                .exchange
                .as_ref()
                .is_some_and(|sent| sent.method != "GET")
        });
        Some(sent.count() > 0)
    }),
    ("next_without_force", |_, at| {
        Some(at.exchange()?.target.contains("force=true"))
    }),
    ("next_force", |_, at| {
        // With force, the same request is accepted or refused for another reason.
        let target = at.exchange()?.target.replace("force=false", "force=true");
        Some(at.sent_to(&target)? != 409)
    }),
    ("next_force_request", |said, at| {
        // It names the sender, whose request has no force yet.
        let target = &at.exchange()?.target;
        let forced = format!("{}&force=true", target.replace("&force=false", ""));
        let sender = at.named(&said.text("name"))? == at.actor()?;
        Some(sender && !target.contains("force=true") && at.sent_to(&forced)? != 409)
    }),
    ("next_compare_or_apply", |said, at| {
        // What this step took away stays, or the apply is refused.
        let actor = at.named(&said.text("actor"))?;
        let last = at.last()?;
        let mut world = last.before.clone();
        let write = last.step.write()?;
        let write = Write {
            subresource: write.subresource,
            manager: write.manager.clone(),
            ..Write::usual(Strategy::Apply)
        };
        let applied = world.act(Operation::Act(actor, Action::Send(write)))?;
        let (_, after) = at.got(&world, &at.object.path());
        let before = at.stored_before()?;
        let lost = &last.step.losses.first()?.edit.path;
        let at_lost = |object: &Value| Some(object.pointer(&lost.pointer(object)?)?.clone());
        Some(applied.exchange?.code == 409 || at_lost(&after) == at_lost(before))
    }),
    ("next_create", |_, at| Some(at.stored().is_none())),
    ("next_merge_patch_instead", |said, at| {
        let sender = at.named(&said.text("name"))? == at.actor()?;
        Some(
            sender
                && at.exchange()?.content_type == "application/strategic-merge-patch+json"
                && at.exchange()?.code == 415,
        )
    }),
    ("next_open_before", |said, at| {
        let before = said.number("version")?.checked_sub(1)?;
        Some(Moment::watch_from(at.world(), &before.to_string())? == 410)
    }),
    ("next_open_restart", |_, at| {
        let mut old = at.world().revisions();
        Some(Moment::watch_from(at.world(), &old.next()?.to_string())? == 200)
    }),
    ("next_list_again", |_, at| {
        let mut world = at.world().clone();
        world.act(Operation::Watch(WatchAction::Drop));
        let listed = world.act(Operation::Watch(WatchAction::List))?;
        let resumed = world.act(Operation::Watch(WatchAction::Resume))?;
        let fine = |code: u16| code < 400;
        Some(
            fine(listed.exchange?.code)
                && fine(resumed.exchange?.code)
                && resumed.arrived.is_empty(),
        )
    }),
    ("next_expire", |_, at| {
        let mut world = at.world().clone();
        world.act(Operation::Watch(WatchAction::Drop))?;
        let actor = if world.has_controllers() {
            ActorId::A
        } else {
            ActorId::C
        };
        let changed = world.act(Operation::Act(actor, Action::Request(touch(&world))))?;
        if changed.exchange?.code != 200 {
            return Some(true); // The object is deleted: there is nothing to change.
        }
        world.act(Operation::Compact { restart: true })?;
        let step = world.act(Operation::Watch(WatchAction::Resume))?;
        let mut errors = step
            .arrived
            .iter()
            .filter_map(|it| it.event.object["code"].as_u64());
        Some(errors.any(|code| code == 410))
    }),
    ("next_change_or_drop", |_, at| at.hears().or(Some(true))),
    ("next_change_stream", |_, at| at.hears().or(Some(true))),
    ("next_resume_list", |_, at| {
        let mut world = at.world().clone();
        let step = world.act(Operation::Watch(WatchAction::Resume))?;
        Some(step.exchange?.target.contains(&format!(
            "resourceVersion={}",
            at.world().watcher().last_version()
        )))
    }),
];

/// The conditions of sentences about the fate of actors' edits.
pub const EDITS: &[(&str, Condition)] = &[
    ("loss_created", |said, at| {
        let (by, owner) = (said.text("by"), at.named(&said.text("owner"))?);
        let lost =
            |gone: &super::judge::Gone| gone.place.is_empty() && gone.owner == owner && !gone.shown;
        Some(at.is_by(&by) && at.judge().gone().iter().any(lost))
    }),
    ("loss_deleted", |said, at| {
        let owner = at.named(&said.text("owner"))?;
        let lost = takes_away(at, said, "edit")
            .iter()
            .any(|gone| gone.owner == owner && !gone.shown);
        let deleted = at.exchange()?.method == "DELETE" && at.stored().is_none();
        Some(lost && deleted && at.is_by(&said.text("by")))
    }),
    ("loss_overwrote", loses),
    ("loss_undid", loses),
    ("replaced", |said, at| {
        let lost = at.judge().gone().iter().any(|gone| !gone.shown);
        let counted = said.number("count")? == edits_counted(said)?;
        Some(replaces(said, at, true)? && counted && !lost && at.is_by(&said.text("by")))
    }),
    ("replaced_retry", |said, at| {
        Some(replaces(said, at, false)? && at.is_by(&said.text("by")))
    }),
    ("left_out", |said, at| {
        let code = said
            .text("answer")
            .starts_with(&at.exchange()?.code.to_string());
        Some(code && at.accepted())
    }),
    ("left_out_scale", |_, at| {
        Some(at.exchange()?.target.split('?').next()?.ends_with("/scale"))
    }),
    // What an apply leaves away stays where another manager owns it, too.
    ("left_out_apply", |_, at| {
        let only_removals = at
            .last()?
            .step
            .left_out
            .iter()
            .all(|edit| edit.value.is_none());
        Some(is_apply(at.exchange()?) && only_removals)
    }),
    ("left_out_unknown", |_, at| {
        let warnings = &at.exchange()?.warnings;
        Some(at.accepted() && warnings.iter().any(|it| it.starts_with("unknown field ")))
    }),
    ("left_out_defaults", |_, at| {
        let values = at
            .last()?
            .step
            .left_out
            .iter()
            .any(|edit| edit.value.is_some());
        Some(at.accepted() && (values || !is_apply(at.exchange()?)))
    }),
    ("kept_edits_title", |said, at| {
        let lost = at.judge().gone().iter().any(|gone| !gone.shown);
        Some(at.accepted() && !lost && said.number("count")? > 2)
    }),
    ("kept_both_title", |_, at| {
        let lost = at.judge().gone().iter().any(|gone| !gone.shown);
        Some(at.accepted() && !lost)
    }),
    ("kept_value", |said, at| {
        let stored = leaves(at.stored()?);
        let (field, value) = (said.text("field"), said.text("value"));
        Some(
            stored.iter().any(|(place, found)| {
                place.last() == Some(&field) && begins(&brief(found), &value)
            }),
        )
    }),
];

fn loses(said: &Said, at: &Moment<'_>) -> Option<bool> {
    let owner = at.named(&said.text("owner"))?;
    let lost = takes_away(at, said, "edit")
        .iter()
        .any(|gone| gone.owner == owner && !gone.shown);
    Some(lost && at.accepted() && at.is_by(&said.text("by")))
}

/// Returns the values that the last step took away and that an argument may name.
fn takes_away(at: &Moment<'_>, said: &Said, argument: &str) -> Vec<super::judge::Gone> {
    let mut gone = at.judge().gone();
    gone.retain(|gone| is_edit(said, argument, &gone.place, gone.value.as_ref()));
    gone
}

/// The name of the message for the last request.
pub fn request_name(at: &Moment<'_>) -> Option<&'static str> {
    request_of(at.last()?.step)
}

/// The name of the message for the request of a step.
pub fn request_of(step: &Step) -> Option<&'static str> {
    let sent = step.exchange.as_ref()?;
    Some(match (sent.method.as_str(), sent.content_type.as_str()) {
        ("PUT", _) => "request_update",
        ("POST", _) => "request_create",
        ("DELETE", _) => "request_delete",
        ("PATCH", "application/merge-patch+json") => "request_merge",
        ("PATCH", "application/strategic-merge-patch+json") => "request_strategic",
        ("PATCH", "application/json-patch+json") => "request_json",
        ("PATCH", "application/apply-patch+yaml") => "request_apply",
        ("GET", _) => "request_get",
        _ => "request_other",
    })
}

/// The first test of a JSON patch that does not hold: where, what it wants and what is there.
fn failing_test(at: &Moment<'_>) -> Option<(String, Value, Option<Value>)> {
    let sent = at.exchange()?;
    let object = at.addressed()?;
    let tests = sent.sent.as_array()?.iter().filter(|it| it["op"] == "test");
    tests
        .map(|test| {
            let path = test["path"].as_str().unwrap_or_default().to_owned();
            let found = object.pointer(&path).cloned();
            (path, test["value"].clone(), found)
        })
        .find(|(_, wanted, found)| found.as_ref() != Some(wanted))
}

/// The number of conflicts of ownership in the last answer.
fn conflicts(at: &Moment<'_>) -> Option<usize> {
    let causes = at.exchange()?.received["details"]["causes"].as_array()?;
    let owned = causes
        .iter()
        .filter(|cause| cause["reason"] == "FieldManagerConflict");
    Some(owned.count())
}

/// Returns whether the last step made a field its own that it took away from another manager: one
/// that an edit had that is gone now.
fn took_ownership(at: &Moment<'_>) -> Option<bool> {
    let owners = |object: &Value, name: &str| {
        let entries = object["metadata"]["managedFields"].as_array().cloned();
        let has = |entry: &&Value| {
            entry["fieldsV1"]
                .to_string()
                .contains(&format!("{name}\":"))
        };
        let owners = entries.unwrap_or_default();
        let owners = owners
            .iter()
            .filter(has)
            .map(|entry| entry["manager"].to_string());
        owners.collect::<Vec<_>>()
    };
    let (before, after) = (at.stored_before()?, at.stored()?);
    let gone = at.judge().gone();
    Some(gone.iter().filter(|gone| !gone.shown).any(|gone| {
        let name = gone.place.last().map_or("", String::as_str);
        let name = name.rsplit(' ').next().unwrap_or_default();
        let had = owners(before, name);
        owners(after, name).iter().any(|owner| !had.contains(owner)) && !had.is_empty()
    }))
}

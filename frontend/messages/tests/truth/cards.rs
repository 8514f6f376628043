//! Conditions of the cards: how stale a copy is, who owns what, and what went wrong so far.

use std::collections::BTreeSet;

use optimist_apiserver::object::{Metadata, text};
use optimist_client::{Strategy, Write};
use optimist_simulation::{Action, Exchange, Operation, World};
use serde_json::Value;

use crate::caption::Condition;
use crate::diagnose::owned::{Entry, owners};
use crate::judge::{leaves, names};
use crate::moment::Moment;
use crate::said::Said;

pub const CARDS: &[(&str, Condition)] = &[
    ("not_read", |_, at| {
        Some(at.copy_version(at.right).is_none())
    }),
    ("copy_current", |said, at| {
        Some(is_of_copy(said, at)? && behind(at)? == 0)
    }),
    ("copy_current_short", |said, at| {
        let named = said.text("version");
        let of_copy = at.copy_version(at.right).is_some_and(|it| it == named);
        Some(of_copy && behind(at)? == 0 || at.version().to_string() == named)
    }),
    ("copy_stale", |said, at| {
        Some(is_of_copy(said, at)? && behind(at)? as u64 == said.number("behind")?)
    }),
    ("copy_stale_by", |said, at| {
        Some(behind(at)? > 0 && behind(at)? as u64 == said.number("behind")?)
    }),
    ("copy_stale_short", |said, at| {
        Some(is_of_copy(said, at)? && behind(at)? > 0)
    }),
    ("deleted", |_, at| Some(at.stored().is_none())),
    ("object_gone", |_, at| Some(at.stored().is_none())),
    ("stale_bookkeeping", |_, at| {
        let read = at.world().copy(at.right).read()?;
        Some(content(read) == content(at.stored()?))
    }),
    ("stale_scale", |_, at| {
        let (read, stored) = (at.world().copy(at.right).read()?, at.stored()?);
        let same = |field: &str| {
            let number = |object: &Value| object.pointer(field).and_then(Value::as_i64);
            number(read).unwrap_or(0) == number(stored).unwrap_or(0)
        };
        let version = read.resource_version() != stored.resource_version();
        Some(
            read["kind"] == "Scale"
                && version
                && same("/spec/replicas")
                && same("/status/replicas"),
        )
    }),
    ("stale_changed", |_, at| {
        let read = at.world().copy(at.right).read()?;
        if read["kind"] == "Scale" {
            let now = at.world().resource().scale_of(at.stored()?);
            return Some(content(read) != content(&now));
        }
        Some(content(read) != content(at.stored()?))
    }),
    ("diff_read", |_, at| {
        Some(["GET"].contains(&at.exchange()?.method.as_str()) && at.same_object())
    }),
    ("diff_done", |_, at| Some(at.same_object())),
    ("diff_refused", |_, at| {
        Some(at.refused() && at.same_object())
    }),
    ("diff_unchanged", |_, at| {
        let sent = at.exchange()?;
        let equal = || Some(leaves(&sent.received) == leaves(at.stored()?));
        let compared = !sent.target.contains("dryRun=") || equal() == Some(true);
        Some(at.accepted() && at.same_object() && compared)
    }),
    ("diff_bookkeeping", |_, at| {
        let [before, after] = [at.stored_before()?, at.stored()?];
        Some(leaves(before) == leaves(after) && at.version_before() != at.version())
    }),
    ("etcd_no_compaction", |_, at| {
        let mut steps = at.so_far.iter();
        Some(!steps.any(|it| matches!(it.step.operation, Operation::Compact { .. })))
    }),
    ("etcd_compaction", |said, at| {
        let mut steps = at.so_far.iter().rev();
        let last = steps.find(|it| matches!(it.step.operation, Operation::Compact { .. }))?;
        // It keeps what was current then.
        Some(last.after.server().store().revision() >= said.number("revision")?)
    }),
    ("no_object", |_, at| Some(at.stored().is_none())),
    ("no_owners", |_, at| Some(managed(at.stored()?).is_empty())),
    ("no_owners_why", |_, at| {
        Some(managed(at.stored()?).is_empty())
    }),
    ("owner_apply", |said, at| {
        owns(at, &said.text("manager"), "Apply")
    }),
    ("owner_update", |said, at| {
        owns(at, &said.text("manager"), "Update")
    }),
    ("foresight", |_, at| {
        let after = forced(at)?;
        Some(!lost(at, &after)?.is_empty() || !gone(at, &after)?.is_empty())
    }),
    ("foresight_nothing", |_, at| {
        // The server can forget a field of a manager with two entries at any write: that takes nothing,
        // and the same apply without force is not refused for it.
        let after = forced(at)?;
        let refusal = refusal_without_force(at)?;
        let has_taken = |(place, entry): &(Vec<String>, Entry)| {
            let now = owners(&after).remove(place).unwrap_or_default();
            let own = now.iter().any(|entry| entry.manager == applier(at));
            own && refusal.contains(&format!("{:?}", entry.manager))
        };
        Some(!lost(at, &after)?.iter().any(has_taken))
    }),
    ("foresight_takes", |said, at| {
        let (field, manager) = (said.text("field"), said.text("manager"));
        let last = field.rsplit('.').next()?.trim_end_matches(']').to_owned();
        Some(lost(at, &forced(at)?)?.iter().any(|(place, entry)| {
            let named = place
                .iter()
                .any(|part| last.contains(part.split(' ').next_back().unwrap_or(part)));
            entry.manager == manager && (named || names(place).contains(&last))
        }))
    }),
    ("foresight_removes", |said, at| {
        let field = said.text("field");
        let last = field.rsplit('.').next()?.to_owned();
        Some(gone(at, &forced(at)?)?.iter().any(|place| {
            names(place)
                .iter()
                .any(|name| last.contains(name.as_str()) || name.contains(&last))
        }))
    }),
    ("foresight_refused", |said, at| {
        let (code, _) = forced_code(at)?;
        Some(code >= 400 && said.text("status").contains(&code.to_string()))
    }),
    ("count_lost", |said, at| {
        let lossy = (1..=at.so_far.len()).any(|end| {
            let subjects: Vec<_> = at.world().subjects().cloned().collect();
            subjects.into_iter().any(|subject| {
                let mut then = at.until(end);
                then.object = subject;
                then.judge().gone().iter().any(|gone| !gone.shown)
            })
        });
        Some(lossy && said.number("count")? > 0)
    }),
    ("count_conflicts", |said, at| {
        Some(conflicts(at) as u64 == said.number("count")?)
    }),
    ("count_refused", |said, at| {
        Some((refusals(at) - conflicts(at)) as u64 == said.number("count")?)
    }),
    ("no_conflict", |_, at| {
        let mut ends = 1..=at.so_far.len();
        let lossy = ends.any(|end| at.until(end).judge().gone().iter().any(|gone| !gone.shown));
        let is_cycle = at.tree.repeatable_steps().is_some();
        Some(refusals(at) == 0 && !lossy && !broken_now(at) && !is_cycle)
    }),
    ("broken", |_, at| {
        Some(at.world().controller(at.controller).is_some())
    }),
    ("broken_owner_lives", |said, at| {
        // Some step deleted an object whose owner was there after it.
        let kind = said.text("kind");
        Some(at.so_far.iter().any(|it| {
            let after: BTreeSet<&str> = objects(it.after).into_iter().map(uid).collect();
            objects(it.before).into_iter().any(|object| {
                let owners = object["metadata"]["ownerReferences"].as_array();
                let lives = owners
                    .into_iter()
                    .flatten()
                    .any(|owner| after.contains(text(owner, "uid")));
                text(object, "kind") == kind && !after.contains(uid(object)) && lives
            })
        }))
    }),
    ("broken_at_rest", |_, at| {
        let queue = at.world().controller(at.controller)?.queue();
        Some(
            queue.queued().next().is_none()
                && at.world().controller(at.controller)?.run().is_none(),
        )
    }),
];

/// An object without its version, and without who owns what.
fn content(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
        metadata.remove("managedFields");
        metadata.remove("generation");
    }
    object
}

fn uid(object: &Value) -> &str {
    text(&object["metadata"], "uid")
}

fn objects(world: &World) -> Vec<&Value> {
    let all = world.server().store().range("/registry/");
    all.map(|(_, _, object)| &**object).collect()
}

/// Returns whether there are more objects of a kind than the controller's object wants.
fn broken_now(at: &Moment<'_>) -> bool {
    let world = at.world();
    let mut controllers = world.controllers();
    controllers.any(|(id, _)| !world.broken_properties(id).is_empty())
}

fn is_of_copy(said: &Said, at: &Moment<'_>) -> Option<bool> {
    Some(at.copy_version(at.right)? == said.text("version"))
}

/// Returns how many changes of the object came after the one that the actor has.
fn behind(at: &Moment<'_>) -> Option<usize> {
    let read: u64 = at.copy_version(at.right)?.parse().ok()?;
    Some(at.changes_after(read).len())
}

fn managed(object: &Value) -> &[Value] {
    object["metadata"]["managedFields"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

fn owns(at: &Moment<'_>, manager: &str, operation: &str) -> Option<bool> {
    let mut entries = managed(at.stored()?).iter();
    Some(entries.any(|it| text(it, "manager") == manager && text(it, "operation") == operation))
}

/// The object after an apply with force of the actor, now.
fn forced_code(at: &Moment<'_>) -> Option<(u16, World)> {
    let (answer, world) = applied(at, true)?;
    Some((answer.code, world))
}

/// Returns the refusal of the same apply without force; empty if it is accepted.
fn refusal_without_force(at: &Moment<'_>) -> Option<String> {
    let (answer, _) = applied(at, false)?;
    let conflicts = answer.code == 409;
    Some(if conflicts {
        text(&answer.received, "message").to_owned()
    } else {
        String::new()
    })
}

/// Returns the answer to the editor's apply, and the world after it.
fn applied(at: &Moment<'_>, force: bool) -> Option<(Exchange, World)> {
    let mut world: World = at.world().clone();
    let write = world.actor(at.right).write();
    let write = match write.strategy {
        Strategy::Apply => write,
        _ => Write::usual(Strategy::Apply),
    };
    let write = Write { force, ..write };
    let step = world.act(Operation::Act(at.right, Action::Send(write)))?;
    Some((step.exchange.clone()?, world))
}

fn forced(at: &Moment<'_>) -> Option<Value> {
    let (_, world) = forced_code(at)?;
    let stored = world.server().store().get(at.object.key());
    Some(
        stored
            .map(|(_, object)| Value::clone(object))
            .unwrap_or_default(),
    )
}

/// The name by which the editor applies.
fn applier(at: &Moment<'_>) -> String {
    let actor = at.world().actor(at.right);
    let write = actor.write();
    let own = write.manager.filter(|_| write.strategy == Strategy::Apply);
    own.unwrap_or_else(|| actor.manager.to_string())
}

/// Returns the fields that others lose by it, with their owners.
fn lost(at: &Moment<'_>, after: &Value) -> Option<Vec<(Vec<String>, Entry)>> {
    // Of an object that is gone, nobody owns anything.
    let before = at.stored().map(owners).unwrap_or_default();
    let after = owners(after);
    let own = applier(at);
    let none = BTreeSet::new();
    let mut found = Vec::new();
    for (place, had) in before {
        let has = after.get(&place).unwrap_or(&none);
        let lost = had.difference(has).filter(|entry| entry.manager != own);
        found.extend(lost.map(|entry| (place.clone(), entry.clone())));
    }
    Some(found)
}

fn gone(at: &Moment<'_>, after: &Value) -> Option<Vec<Vec<String>>> {
    let (before, after) = (leaves(at.stored()?), leaves(after));
    Some(
        before
            .into_keys()
            .filter(|place| !after.contains_key(place))
            .collect(),
    )
}

/// Returns how many requests were refused so far.
fn refusals(at: &Moment<'_>) -> usize {
    (1..=at.so_far.len())
        .filter(|end| at.until(*end).refused())
        .count()
}

/// Returns how many of them for a conflict: another version, another owner.
fn conflicts(at: &Moment<'_>) -> usize {
    let steps = at.so_far.iter().filter_map(|it| it.step.exchange.as_ref());
    let is = |body: &Value| text(body, "reason") == "Conflict";
    steps
        .filter(|sent| sent.code == 409 && is(&sent.received))
        .count()
}

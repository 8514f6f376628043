//! Conditions of a controller: its caches, its queue, its runs and its requests.

use std::sync::Arc;
use std::time::Duration;

use optimist_apiserver::object::{Metadata, text};
use optimist_client::Lost;
use optimist_controller::program::{ReadyProgramName, Variable};
use optimist_controller::{Cache, CachedObjects, Controller, WorkQueue};
use optimist_simulation::{
    ActorId, ControllerOperation, ControllerProgram, ControllerStart, Operation, World,
};
use serde_json::Value;

use super::caption::Condition;
use super::judge::leaves;
use super::moment::Moment;
use super::said::Said;

pub const STEPS: &[(&str, Condition)] = &[
    ("of_controller", |said, at| {
        let world = at.world();
        let named: Vec<String> = said.text("names").split(", ").map(str::to_owned).collect();
        let mut controllers = world.controllers().map(|(id, _)| &*world.actor(id).name);
        let are_some = named
            .iter()
            .all(|name| controllers.any(|known| known == name));
        // What is broken is so of each of them; what was done, one of them did.
        let is_of_world = said
            .inner("text")
            .is_some_and(|text| text.name().starts_with("broken_"));
        let acted = named == [world.actor(at.controller).name.to_string()];
        Some(world.controllers().count() > 1 && are_some && (is_of_world || acted))
    }),
    ("did_connect", |said, at| {
        let cache = cache_of(at, at.world(), &said.text("kind"))?;
        let path = at.exchange()?.target.split('?').next()?;
        let plural = path.rsplit('/').next()?;
        Some(
            cache
                .resource()
                .kind
                .to_lowercase()
                .starts_with(plural.trim_end_matches('s')),
        )
    }),
    ("did_connect_streams", |said, at| {
        let streams = at.exchange()?.target.contains("sendInitialEvents=true");
        Some(streams && connected(at)?.version() == said.text("version"))
    }),
    ("did_connect_lists", |said, at| {
        let lists = !at.exchange()?.target.contains("watch=true");
        let version = at.exchange()?.received.resource_version() == said.text("version");
        Some(lists && version && connected(at)?.version() == said.text("version"))
    }),
    ("did_connect_lists_behind", |said, at| {
        let lists = at.exchange()?.target.contains("resourceVersion=0&");
        let version: u64 = said.text("version").parse().ok()?;
        Some(lists && version < at.world().server().store().revision())
    }),
    ("did_connect_watches", |said, at| {
        let events = at.exchange()?.received.as_array()?;
        events
            .iter()
            .all(|event| event["type"] != "ERROR")
            .then_some(())?;
        let from = format!("resourceVersion={}&", said.text("version"));
        let target = format!("{}&", at.exchange()?.target);
        Some(target.contains(&from) && target.contains("watch=true"))
    }),
    ("did_connect_refused", |said, at| {
        let code = at.exchange()?.code == said.number("code")? as u16;
        let streamed = at
            .exchange()?
            .received
            .to_string()
            .contains(&said.text("code"));
        Some(code || streamed)
    }),
    ("did_connect_continues", |_, at| {
        Some(!connected(at)?.has_synced())
    }),
    ("misfit_parents", |said, at| {
        let count = stored_of(at.world(), &said.text("kind")).len() as u64;
        Some(count != 1 && count == said.number("count")?)
    }),
    ("misfit_deleting", |said, at| {
        let name = said.text("name");
        let mut all = at.world().server().store().range("/registry/");
        Some(all.any(|(_, _, object)| object.name() == name && is_being_deleted(object)))
    }),
    ("misfit_child", |said, at| {
        let children = stored_of(at.world(), &said.text("kind"));
        let uids: Vec<&str> = (at.world().server().store().range("/registry/"))
            .map(|(_, _, object)| object.uid())
            .collect();
        let is_orphan = |child: &Value| {
            let owners = child["metadata"]["ownerReferences"].as_array();
            let mut owners = owners.into_iter().flatten();
            !owners.any(|owner| uids.contains(&owner["uid"].as_str().unwrap_or_default()))
        };
        Some(
            children
                .iter()
                .any(|child| is_orphan(child) || is_being_deleted(child)),
        )
    }),
    ("misfit_size", |_, at| {
        let start = at.world().start().controllers.get(&at.controller)?;
        let ControllerProgram::Ready(ready) = &start.program else {
            return Some(false);
        };
        let of_size = [ReadyProgramName::Scaler, ReadyProgramName::Copier];
        Some(of_size.contains(&ready.name) && lacks_size(at.world(), &ready.parent.kind))
    }),
    ("broken_too_many", |said, at| {
        let kind = said.text("kind");
        let mut caches = at.world().controllers().flat_map(|(_, it)| it.caches());
        let cache = caches.find(|cache| cache.resource().kind == kind)?;
        let stored = at.world().server().store().range(cache.prefix()).count() as u64;
        Some(stored == said.number("found")? && stored > said.number("most")?)
    }),
    ("did_connect_ends", |said, at| {
        let first = &at.exchange()?.received[0];
        let is_old = is_too_old(at, at.world()).is_some();
        Some(is_old && first["object"]["code"] == said.inner("event")?.number("code")?)
    }),
    ("did_deliver_error", |said, at| {
        let last = at.last()?;
        let watches = |world| caches(at, world).iter().any(Cache::is_watching);
        let ended = is_too_old(at, last.before).is_some() && watches(last.before);
        Some(ended && said.inner("event")?.text("code") == "410")
    }),
    ("did_deliver_error_text", |said, at| {
        let last = at.last()?;
        let Operation::Control(_, ControllerOperation::Deliver(cache)) = last.step.operation else {
            return None;
        };
        let (before, after) = (caches(at, last.before), caches(at, last.after));
        let version = before.get(cache)?.version();
        let names = said.text("message").contains(&format!(": {version} ("));
        let objects = |caches: &[Cache]| {
            let objects = caches.iter().flat_map(|it| it.objects().iter());
            objects
                .map(|(_, object)| Arc::clone(object))
                .collect::<Vec<_>>()
        };
        Some(names && objects(before) == objects(after))
    }),
    ("event_error", |said, at| {
        let before = at.last().map_or(at.world(), |last| last.before);
        let is_old = is_too_old(at, at.world()).or_else(|| is_too_old(at, before));
        Some(said.text("code") == "410" && is_old.is_some())
    }),
    ("did_deliver", |said, at| delivered(said, "event", at)),
    ("row_delivered", |said, at| match said.inner("event") {
        Some(_) => Some(
            caches(at, at.world())
                .iter()
                .any(|cache| !cache.is_watching()),
        ),
        None => delivered(said, "event", at),
    }),
    ("did_deliver_queued", |said, at| {
        let key = said.text("key");
        Some(queues(at, at.world(), &key) && !queues(at, at.last()?.before, &key))
    }),
    ("did_deliver_already", |said, at| {
        let key = said.text("key");
        Some(queues(at, at.world(), &key) && queues(at, at.last()?.before, &key))
    }),
    ("did_deliver_after_run", |said, at| {
        let key = said.text("key");
        let queue = queue(at, at.world())?;
        Some(queue.processing().any(|it| it == key) && queue.dirty().any(|it| it == key))
    }),
    ("did_deliver_dropped", |_, at| same_queue(at)),
    ("did_deliver_no_key", |_, at| same_queue(at)),
    ("did_drop_watch", |_, at| {
        let last = at.last()?;
        let open = |world| {
            caches(at, world)
                .iter()
                .filter(|cache| cache.is_watching())
                .count()
        };
        Some(open(last.before) == open(last.after) + 1)
    }),
    ("did_drop_watch_text", |said, at| {
        let Operation::Control(_, ControllerOperation::DropWatch(cache)) =
            at.last()?.step.operation
        else {
            return None;
        };
        let (before, after) = (at.last()?.before, at.last()?.after);
        let kept =
            caches(at, before).get(cache)?.version() == caches(at, after).get(cache)?.version();
        Some(
            kept && behind(before, caches(at, before).get(cache)?) as u64
                == said.number("count")?,
        )
    }),
    ("did_resync", |_, at| {
        Some(at.last()?.step.exchange.is_none() && at.wrote_nothing())
    }),
    ("did_restart", |_, at| is_new(at, at.world())),
    ("did_restart_text", |_, at| {
        Some(is_new(at, at.world())? && at.wrote_nothing())
    }),
    ("did_wake", |_, at| {
        let (before, after) = (queue(at, at.last()?.before)?, queue(at, at.world())?);
        Some(before.waiting().len() > after.waiting().len())
    }),
    ("did_take", |said, at| takes(at, &said.text("key"))),
    ("row_taken", |said, at| takes(at, &said.text("key"))),
    ("did_take_text", |_, at| {
        Some(at.world().controller(at.controller)?.run().is_some())
    }),
    ("did_not_ready", |_, at| {
        Some(at.world().controller(at.controller)?.run().is_none())
    }),
    ("row_not_ready", |_, at| {
        Some(at.world().controller(at.controller)?.run().is_none())
    }),
    ("did_not_ready_text", |_, at| {
        let queue = queue(at, at.world())?;
        Some(queue.queued().next().is_some() || !queue.waiting().is_empty())
    }),
    ("did_read", |_, at| reads_cache(at)),
    ("row_read", |_, at| reads_cache(at)),
    ("did_change_cached", |_, at| changes_cached(at)),
    ("row_changes_cached", |_, at| changes_cached(at)),
    ("did_change_cached_text", |_, at| changes_cached(at)),
    ("did_expect", |_, at| expects(at)),
    ("row_expects", |_, at| expects(at)),
    ("did_expect_text", |_, at| expects(at)),
    ("did_send_nothing", |_, at| touches_nothing(at)),
    ("row_sends_nothing", |_, at| touches_nothing(at)),
    ("did_send_nothing_text", |_, at| {
        // As `IsValidPathSegmentName` says it.
        let is_no_path = |name: &str| ["", ".", ".."].contains(&name) || name.contains(['/', '%']);
        let run = at.last()?.before.controller(at.controller)?.run()?;
        let mut named = run.variables().filter_map(|(_, variable)| match variable {
            Variable::Object { object, .. } => Some(object.name()),
            Variable::List { .. } => None,
        });
        Some(touches_nothing(at)? && named.any(is_no_path))
    }),
    ("did_read_text", |said, at| {
        let none_is_sent = at.last()?.step.exchange.is_none();
        Some(none_is_sent && was_read(said, at, 0)?)
    }),
    ("did_read_behind", |said, at| {
        let none_is_sent = at.last()?.step.exchange.is_none();
        let behind = said.number("behind")? as usize;
        Some(none_is_sent && behind > 0 && was_read(said, at, behind)?)
    }),
    ("did_not_find", |_, at| {
        Some(at.last()?.step.exchange.is_none())
    }),
    ("did_not_find_text", |_, at| {
        Some(at.last()?.step.exchange.is_none() && at.wrote_nothing())
    }),
    ("row_not_in_cache", |_, at| {
        Some(at.last()?.step.exchange.is_none())
    }),
    ("did_send", |said, at| {
        if loses(at, Lost::Request) {
            // Nobody saw the request: the next statement of the run was to send it.
            let controller = at.last()?.before.controller(at.controller)?;
            return Some(controller.can_write());
        }
        let sent = at.exchange()?;
        let method = match said.text("verb").as_str() {
            "Create" => "POST",
            "Update" => "PUT",
            "Delete" => "DELETE",
            _ => "PATCH",
        };
        let object = said.text("object");
        let (kind, name) = object.split_once(' ')?;
        let body = &sent.sent;
        let is_it = sent
            .target
            .split('?')
            .next()?
            .trim_end_matches("/status")
            .ends_with(name)
            || body.name() == name
            || body.meta_text("generateName") == name;
        let kinds = [text(body, "kind"), text(&sent.received, "kind")];
        let kind = kinds.contains(&kind) || matches!(method, "DELETE" | "PATCH");
        Some(sent.method == method && is_it && kind)
    }),
    ("did_send_list", |_, at| {
        let list = text(&at.exchange()?.received, "kind").ends_with("List");
        Some(at.exchange()?.method == "GET" && (list || at.refused()))
    }),
    ("did_send_get", |said, at| {
        let path = at.exchange()?.target.split('?').next()?;
        Some(at.exchange()?.method == "GET" && path.ends_with(&format!("/{}", said.text("name"))))
    }),
    ("did_send_done", |_, at| Some(at.accepted())),
    ("did_send_lag", |said, at| {
        // The cache that is to have this write does not have it yet.
        let version = said.text("version");
        let answer = &at.exchange()?.received;
        let kind = match text(answer, "kind") {
            "Status" => text(&answer["details"], "kind").to_owned(),
            kind => kind.to_owned(),
        };
        let mut of_kind = caches(at, at.world()).iter().filter(|cache| {
            let resource = cache.resource();
            resource.kind == kind || resource.kind.to_lowercase() + "s" == kind
        });
        let lags = of_kind.any(|cache| {
            cache.resource().kind == said.text("kind")
                && cache.version() == version
                && behind(at.world(), cache) as u64 == said.number("behind").unwrap_or(0)
        });
        Some(at.accepted() && lags && !has_answer(at)?)
    }),
    ("did_send_into_cache", |said, at| {
        let mut caches = caches(at, at.world()).iter();
        let is_known = caches.any(|cache| cache.version() == said.text("version"));
        Some(at.accepted() && is_known && has_answer(at)?)
    }),
    ("did_send_refused", |said, at| {
        let sent = at.exchange()?;
        let says = text(&sent.received, "message") == said.text("message")
            && text(&sent.received, "reason") == said.text("reason");
        Some(says && sent.code == said.number("code")? as u16)
    }),
    ("did_lose_answer", |_, at| {
        // The run has the error of a connection, or is over because of it.
        let run = at.world().controller(at.controller)?.run();
        let knows = run
            .and_then(|run| run.error())
            .is_none_or(|error| error.code == 0);
        Some(knows && at.exchange().is_some() && loses(at, Lost::Answer))
    }),
    ("did_lose_request", |_, at| {
        let nothing = at.exchange().is_none() && at.wrote_nothing();
        Some(nothing && loses(at, Lost::Request))
    }),
    ("did_finish", |said, at| {
        let key = said.text("key");
        let processes =
            |world| queue(at, world).map(|queue| queue.processing().any(|it| it == key));
        Some(processes(at.last()?.before)? && !processes(at.world())?)
    }),
    ("row_finished", |_, at| {
        let runs = |world: &World| world.controller(at.controller).map(|it| it.run().is_some());
        Some(runs(at.last()?.before)? && !runs(at.world())?)
    }),
    ("row_failed", |_, at| {
        let runs = |world: &World| world.controller(at.controller).map(|it| it.run().is_some());
        Some(runs(at.last()?.before)? && !runs(at.world())?)
    }),
    ("did_finish_done", |_, at| {
        // A key that was added meanwhile is queued; none waits.
        let (before, after) = (queue(at, at.last()?.before)?, queue(at, at.world())?);
        Some(after.waiting().len() <= before.waiting().len())
    }),
    ("did_finish_requeue", |said, at| {
        waits(&said.text("time"), at)
    }),
    ("did_finish_error", |said, at| {
        let none_is_sent = at.last()?.step.exchange.is_none();
        Some(none_is_sent && waits(&said.text("time"), at)?)
    }),
    ("did_finish_again", |_, at| queued_at_once(at)),
    ("did_finish_terminal", |_, at| {
        let (before, after) = (queue(at, at.last()?.before)?, queue(at, at.world())?);
        Some(after.waiting().len() <= before.waiting().len())
    }),
];

/// Returns whether the last step lost this part of a write.
fn loses(at: &Moment<'_>, lost: Lost) -> bool {
    let operation = at.last().map(|last| &last.step.operation);
    let losing = ControllerOperation::StepLosing(lost);
    matches!(operation, Some(Operation::Control(_, of)) if *of == losing)
}

pub const CARD: &[(&str, Condition)] = &[
    ("cache_chip", |said, at| {
        let (version, number) = (said.text("version"), said.number("behind")? as usize);
        let most = caches(at, at.world())
            .iter()
            .map(|cache| behind(at.world(), cache))
            .max()?;
        let mut all = caches(at, at.world()).iter();
        let it = all.any(|cache| cache.version() == version && behind(at.world(), cache) == number);
        Some(it && number == most)
    }),
    ("cache_chip_of_kind", |said, at| {
        let cache = cache_of(at, at.world(), &said.text("kind"))?;
        let most = (caches(at, at.world()).iter())
            .map(|cache| behind(at.world(), cache))
            .max()?;
        let number = said.number("behind")? as usize;
        let is_it = cache.version() == said.text("version") && behind(at.world(), cache) == number;
        Some(is_it && number == most && caches(at, at.world()).len() > 1)
    }),
    ("cache_chip_changed", |said, at| {
        let mut all = caches(at, at.world()).iter();
        let known = all.any(|cache| cache.version() == said.text("version"));
        Some(known && has_changed_object(at, |_| true))
    }),
    ("cached_changed", |said, at| {
        let of_version = |object: &Value| object.resource_version() == said.text("version");
        Some(has_changed_object(at, of_version))
    }),
    ("cache_chip_current", |said, at| {
        let version = said.text("version");
        let current = caches(at, at.world())
            .iter()
            .all(|cache| behind(at.world(), cache) == 0);
        Some(
            current
                && caches(at, at.world())
                    .iter()
                    .any(|cache| cache.version() == version),
        )
    }),
    ("cache_chip_empty", |_, at| {
        Some(
            caches(at, at.world())
                .iter()
                .any(|cache| cache.version().is_empty()),
        )
    }),
    ("queue_chip", |said, at| {
        let keys = said.text("keys");
        let all: Vec<&str> = queue(at, at.world())?.queued().collect();
        let named: Vec<&str> = keys.split(", ").collect();
        Some(
            named.len() == all.len()
                && all.iter().zip(named).all(|(key, name)| key.ends_with(name)),
        )
    }),
    ("queue_chip_empty", |_, at| {
        Some(queue(at, at.world())?.queued().next().is_none())
    }),
    ("queue_queued", |said, at| {
        Some(queues(at, at.world(), &said.text("key")))
    }),
    ("queue_processing", |said, at| {
        let (queue, key) = (queue(at, at.world())?, said.text("key"));
        Some(queue.processing().any(|it| it == key) && queue.dirty().all(|it| it != key))
    }),
    ("queue_processing_dirty", |said, at| {
        let (queue, key) = (queue(at, at.world())?, said.text("key"));
        Some(queue.processing().any(|it| it == key) && queue.dirty().any(|it| it == key))
    }),
    ("queue_due", |said, at| {
        let key = said.text("key");
        let now = at.world().server().environment().elapsed();
        let waiting = queue(at, at.world())?.waiting();
        let (_, ready) = waiting.into_iter().find(|(it, _)| *it == key)?;
        Some(ready <= now)
    }),
    ("queue_waiting", |said, at| {
        let key = said.text("key");
        let now = at.world().server().environment().elapsed();
        let waiting = queue(at, at.world())?.waiting();
        let (_, ready) = waiting.into_iter().find(|(it, _)| *it == key)?;
        Some(duration(&said.text("time"))? == whole(ready.saturating_sub(now)))
    }),
    ("queue_failures", |said, at| {
        let (queue, count) = (queue(at, at.world())?, said.number("count")?);
        let mut waiting = queue.waiting().into_iter();
        Some(waiting.any(|(key, _)| u64::from(queue.num_requeues(key)) == count))
    }),
    ("value_version", |said, at| {
        let version: u64 = said.number("version")?;
        let mut log = at.world().server().store().log_after(version - 1);
        let object = log
            .next()
            .filter(|change| change.revision == version)?
            .after
            .as_deref()?;
        Some(object.name() == said.text("name") && text(object, "kind") == said.text("kind"))
    }),
    ("value_new", |_, at| {
        Some(at.world().controller(at.controller)?.run().is_some())
    }),
    ("value_list", |said, _| {
        let names = said.text("names");
        Some(names.split(", ").count() as u64 == said.number("count")?)
    }),
    ("value_list_empty", |_, at| {
        Some(at.world().controller(at.controller)?.run().is_some())
    }),
    ("value_server_version", |said, at| {
        let version = said.number("version")?;
        let store = at.world().server().store();
        let log = store.log_after(version - 1).next()?;
        Some(store.get(&log.key).map(|(revision, _)| revision) == Some(version))
    }),
    ("value_server_same", |_, at| {
        let mut objects = variables(at)?.into_iter();
        Some(objects.any(|object| is_as_stored(at.world(), object) == Some(true)))
    }),
    ("value_changed", |_, at| {
        let mut objects = variables(at)?.into_iter();
        Some(objects.any(|object| is_as_stored(at.world(), object) == Some(false)))
    }),
    ("value_changed_same", |_, at| {
        let mut objects = variables(at)?.into_iter();
        Some(objects.any(|object| is_as_stored(at.world(), object) == Some(false)))
    }),
    ("value_server_none", |_, at| {
        Some(at.world().controller(at.controller)?.run().is_some())
    }),
    ("value_server_list", |said, at| {
        // No more than all objects of the kinds that it watches.
        let all = caches(at, at.world())
            .iter()
            .map(|cache| at.world().server().store().range(cache.prefix()).count() as u64);
        Some(said.number("count")? <= all.max()?)
    }),
    ("event_arrow", |said, at| {
        let revision = said.number("revision")?;
        let mut log = at.world().server().store().log_after(revision - 1);
        let change = log.next().filter(|change| change.revision == revision)?;
        let object = change.after.as_ref().or(change.before.as_ref())?;
        let event = match (&change.before, &change.after) {
            (None, _) => "ADDED",
            (_, None) => "DELETED",
            _ => "MODIFIED",
        };
        Some(object.name() == said.text("name") && said.text("event") == event)
    }),
];

/// The objects of the variables of the run.
fn variables<'a>(at: &Moment<'a>) -> Option<Vec<&'a Value>> {
    let run = at.world().controller(at.controller)?.run()?;
    let objects = run.variables().filter_map(|(_, variable)| match variable {
        Variable::Object { object, .. } => Some(&**object),
        Variable::List { .. } => None,
    });
    Some(objects.collect())
}

/// Returns whether an object is what the change of its version stored; `None` if there was no such change.
fn is_as_stored(world: &World, object: &Value) -> Option<bool> {
    let version: u64 = object.resource_version().parse().ok()?;
    let mut log = world.server().store().log_after(version - 1);
    let change = log.next().filter(|change| change.revision == version)?;
    let stored = change.after.as_deref()?;
    let is_it = stored.uid() == object.uid();
    is_it.then(|| stored["metadata"] == object["metadata"] && leaves(stored) == leaves(object))
}

/// Returns whether a cache has an object that is not what the server stored.
fn has_changed_object(at: &Moment<'_>, of: impl Fn(&Value) -> bool) -> bool {
    let mut objects = caches(at, at.world())
        .iter()
        .flat_map(|cache| cache.objects().iter());
    objects.any(|(_, object)| of(object) && is_as_stored(at.world(), object) == Some(false))
}

fn caches<'a>(at: &Moment<'_>, world: &'a World) -> &'a [Cache] {
    world
        .controller(at.controller)
        .map_or(&[], Controller::caches)
}

fn queue<'a>(at: &Moment<'_>, world: &'a World) -> Option<&'a WorkQueue> {
    Some(world.controller(at.controller)?.queue())
}

/// The cache that sent the last request.
fn connected<'a>(at: &Moment<'a>) -> Option<&'a Cache> {
    match at.last()?.step.operation {
        Operation::Control(_, ControllerOperation::Connect(cache)) => {
            caches(at, at.last()?.after).get(cache)
        }
        _ => None,
    }
}

fn cache_of<'a>(at: &Moment<'_>, world: &'a World, kind: &str) -> Option<&'a Cache> {
    caches(at, world)
        .iter()
        .find(|cache| cache.resource().kind == kind)
}

/// Returns how many changes of its kind a cache does not have.
fn behind(world: &World, cache: &Cache) -> usize {
    let version = cache.version().parse().unwrap_or_default();
    let log = world.server().store().log_after(version);
    log.filter(|change| change.key.starts_with(cache.prefix()))
        .count()
}

fn queues(at: &Moment<'_>, world: &World, key: &str) -> bool {
    queue(at, world).is_some_and(|queue| queue.queued().any(|it| it == key))
}

fn same_queue(at: &Moment<'_>) -> Option<bool> {
    let keys = |world| {
        let queue = queue(at, world)?;
        let all = queue
            .queued()
            .chain(queue.dirty())
            .chain(queue.processing());
        Some(all.map(str::to_owned).collect::<Vec<_>>())
    };
    Some(keys(at.last()?.before)? == keys(at.world())?)
}

/// The version of a cache after which etcd was compacted and the API server was restarted.
fn is_too_old(at: &Moment<'_>, world: &World) -> Option<u64> {
    let restart = Operation::Compact { restart: true };
    let restarts = at.so_far.iter().filter(|it| it.step.operation == restart);
    let first = restarts.map(|it| it.step.revision).max()?;
    let versions = caches(at, world)
        .iter()
        .filter_map(|it| it.version().parse().ok());
    versions.filter(|version| *version < first).min()
}

/// Returns whether an event reached a cache: `MODIFIED web 101`.
fn delivered(said: &Said, argument: &str, at: &Moment<'_>) -> Option<bool> {
    let event = said.text(argument);
    let [event, name, version] = event.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    let has = |world| {
        caches(at, world).iter().any(|cache| {
            let mut objects = cache.objects().iter();
            objects.any(|(_, object)| object.name() == name && object.resource_version() == version)
        })
    };
    Some(match event {
        "DELETED" => !has(at.world()),
        _ => has(at.world()),
    })
}

fn is_new(at: &Moment<'_>, world: &World) -> Option<bool> {
    let controller = world.controller(at.controller)?;
    let empty = controller
        .caches()
        .iter()
        .all(|cache| cache.objects().is_empty());
    let queue = controller.queue();
    let idle = queue.queued().next().is_none() && queue.waiting().is_empty();
    Some(empty && idle && controller.run().is_none())
}

fn takes(at: &Moment<'_>, key: &str) -> Option<bool> {
    let processes = |world| {
        let queue = queue(at, world)?;
        Some(
            queue
                .processing()
                .any(|it| it == key || it.ends_with(&format!("/{key}"))),
        )
    };
    Some(processes(at.world())? && !processes(at.last()?.before)?)
}

/// Returns whether the cache from which the last step read is at a version and behind by so many.
fn was_read(said: &Said, at: &Moment<'_>, by: usize) -> Option<bool> {
    let version = said.text("version");
    let variables = |world: &World| -> Vec<(String, String)> {
        world
            .run_values(at.controller)
            .into_iter()
            .map(|it| (it.name.clone(), format!("{:?}", it.value)))
            .collect()
    };
    let known = variables(at.last()?.before);
    let new = at
        .world()
        .run_values(at.controller)
        .into_iter()
        .find(|it| !known.contains(&(it.name.clone(), format!("{:?}", it.value))));
    let kind = new.and_then(|it| match it.value {
        optimist_simulation::RunValueContent::Object { kind, .. } => Some(kind),
        optimist_simulation::RunValueContent::List { .. } => None,
    });
    let is_it = |cache: &Cache| cache.version() == version && behind(at.world(), cache) == by;
    let named = cache_of(at, at.world(), &said.text("kind"))?;
    Some(is_it(named) && kind.is_none_or(|kind| kind == named.resource().kind))
}

/// Returns whether some key waits for a time. Whether the key of the run that is over is queued
/// now.
fn queued_at_once(at: &Moment<'_>) -> Option<bool> {
    let processed = queue(at, at.last()?.before)?;
    let key = processed.processing().next()?;
    Some(queue(at, at.world())?.queued().any(|queued| queued == key))
}

fn waits(time: &str, at: &Moment<'_>) -> Option<bool> {
    let now = at.world().server().environment().elapsed();
    let time = duration(time)?;
    let mut waiting = queue(at, at.world())?.waiting().into_iter();
    let waits = waiting.any(|(_, ready)| whole(ready.saturating_sub(now)) == time);
    // At once: it is queued.
    Some(waits || (time == Duration::ZERO && queue(at, at.world())?.queued().next().is_some()))
}

/// `5 ms`, `12 s`.
fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_once(' ')?;
    let number = number.parse().ok()?;
    Some(match unit {
        "ms" => Duration::from_millis(number),
        _ => Duration::from_secs(number),
    })
}

/// A time as it is told: in whole seconds from ten on.
fn whole(time: Duration) -> Duration {
    match time.as_millis() {
        milliseconds @ 0..10_000 => Duration::from_millis(milliseconds as u64),
        _ => Duration::from_secs(time.as_secs()),
    }
}

/// The objects in the caches of the controller, before the step and after it.
fn cached(at: &Moment<'_>) -> Option<[Vec<Value>; 2]> {
    let of = |world| {
        let caches = caches(at, world).iter();
        let objects = caches.flat_map(|cache| cache.objects().iter());
        objects.map(|(_, object)| Value::clone(object)).collect()
    };
    Some([of(at.last()?.before), of(at.world())])
}

/// Returns whether a step sent nothing and left the caches as they were.
fn reads_cache(at: &Moment<'_>) -> Option<bool> {
    let [before, after] = cached(at)?;
    Some(at.last()?.step.exchange.is_none() && before == after)
}

/// Returns whether a step of a program with expectations left the caches as they were.
fn expects(at: &Moment<'_>) -> Option<bool> {
    let program = at.world().controller(at.controller)?.code().program();
    let text = serde_json::to_string(program).ok()?.to_lowercase();
    Some(reads_cache(at)? && text.contains("expect"))
}

/// Returns whether a step of a program that shares the objects of its cache changed fields of them at most, and
/// read nothing.
fn changes_cached(at: &Moment<'_>) -> Option<bool> {
    let [before, after] = cached(at)?;
    let shares = at
        .world()
        .controller(at.controller)?
        .code()
        .program()
        .options
        .cached_objects;
    let version = |objects: &[Value]| -> Vec<String> {
        objects
            .iter()
            .map(|it| it.resource_version().to_owned())
            .collect()
    };
    let quiet = at.last()?.step.exchange.is_none() && at.wrote_nothing();
    let is_shared = shares == CachedObjects::Shared;
    Some(quiet && is_shared && version(&before) == version(&after))
}

/// Returns whether a step neither sent a request nor changed a cache or a variable.
fn touches_nothing(at: &Moment<'_>) -> Option<bool> {
    let count = |world: &World| Some(world.controller(at.controller)?.run()?.variables().count());
    let same = count(at.last()?.before)? == count(at.world())?;
    Some(reads_cache(at)? && same)
}

/// Returns whether a cache has the object of the answer to the last request, in the version of the answer.
fn has_answer(at: &Moment<'_>) -> Option<bool> {
    let answer = &at.exchange()?.received;
    let [_, after] = cached(at)?;
    let same = |it: &Value| {
        !answer.uid().is_empty()
            && it.uid() == answer.uid()
            && it.resource_version() == answer.resource_version()
    };
    Some(after.iter().any(same))
}

/// Returns whether a version of an object of a kind, or an edited copy of one, has no size, or if a program that
/// somebody wrote can write any.
fn lacks_size(world: &World, kind: &str) -> bool {
    let is_without = |object: &Value| object["kind"] == kind && !object["spec"]["size"].is_u64();
    let mut versions = world.server().store().log_after(0);
    let stored = versions.any(|change| change.after.as_deref().is_some_and(is_without));
    let mut copies = ActorId::ALL
        .into_iter()
        .filter_map(|id| world.copy(id).edited());
    let written = |start: &ControllerStart| matches!(start.program, ControllerProgram::Written(_));
    let mut controllers = world.start().controllers.values();
    stored || copies.any(|copy| is_without(copy)) || controllers.any(written)
}

/// The stored objects of a kind.
fn stored_of<'a>(world: &'a World, kind: &str) -> Vec<&'a Value> {
    let stored = world.server().store().range("/registry/");
    let objects = stored.map(|(_, _, object)| &**object);
    objects.filter(|object| object["kind"] == kind).collect()
}

fn is_being_deleted(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

//! The card of a controller: its examples, its switches, its cache and queue, and the events of its
//! steps.

use std::time::Duration;

use optimist_apiserver::server::EventType;
use optimist_client::{Call, Lost, ReflectorProgress, visible};
use optimist_controller::program::{ReadyProgramName, Switch, Touched};
use optimist_controller::{
    ApiError, CacheReport, Handled, KeyAddition, QueueReaction, ReconcileResult, WorkQueue,
    WorkerReport,
};
use optimist_simulation::{
    ActorId, CacheStanding, ControllerEvent, ControllerOperation, EventOnTheWay, ExplanationKind,
    RunValue, RunValueContent, World,
};

use crate::{Caption, en};

/// Returns the name of an example, and a sentence about its program.
pub fn example(name: ReadyProgramName) -> (String, String) {
    use ReadyProgramName as Name;
    match name {
        Name::ChildMaker => (en::program_child_maker(), en::program_child_maker_text()),
        Name::StatusWriter => (
            en::program_status_writer(),
            en::program_status_writer_text(),
        ),
        Name::Scaler => (en::program_scaler(), en::program_scaler_text()),
        Name::FinalizerKeeper => (
            en::program_finalizer_keeper(),
            en::program_finalizer_keeper_text(),
        ),
        Name::Cleaner => (en::program_cleaner(), en::program_cleaner_text()),
        Name::FieldOwner => (en::program_field_owner(), en::program_field_owner_text()),
        Name::Annotator => (en::program_annotator(), en::program_annotator_text()),
        Name::Copier => (en::program_copier(), en::program_copier_text()),
    }
}

/// A switch in two or three words.
pub fn switch_chip(switch: Switch) -> String {
    match switch {
        Switch::DerivedName => en::chip_derived_name(),
        Switch::LiveList => en::chip_live_list(),
        Switch::Expectations => en::chip_expectations(),
        Switch::IgnoreAlreadyExists => en::chip_ignore_already_exists(),
        Switch::WaitForOwnVersion => en::chip_wait_for_own_version(),
        Switch::ReadYourOwnWrites => en::chip_read_your_own_writes(),
        Switch::NoClock => en::chip_no_clock(),
        Switch::Compare => en::chip_compare(),
        Switch::GenerationChanged => en::chip_generation_changed(),
        Switch::DeepCopy => en::chip_deep_copy(),
        Switch::OptimisticLock => en::chip_optimistic_lock(),
        Switch::LiveParent => en::chip_live_parent(),
        Switch::FindsChildren => en::chip_finds_children(),
        Switch::UidPrecondition => en::chip_uid_precondition(),
    }
}

/// The version of the caches in a chip, and whether it differs from the server: of the one that is most behind.
pub fn cache_chip(standings: &[CacheStanding]) -> (String, bool) {
    let Some(most) = most_behind(standings) else {
        return (en::cache_chip_empty(), false);
    };
    let is_changed = standings.iter().any(|cache| !cache.changed.is_empty());
    match (most.version.as_str(), most.behind) {
        ("", _) => (en::cache_chip_empty(), true),
        (version, 0) if is_changed => (en::cache_chip_changed(&version), true),
        (version, 0) => (en::cache_chip_current(&version), false),
        (version, behind) => (en::cache_chip(&version, &behind), true),
    }
}

/// The same where there is more room: with the kind of the cache that is behind, if there are several caches.
pub fn cache_chip_of_kind(standings: &[CacheStanding]) -> (String, bool) {
    let of_several = most_behind(standings).filter(|_| standings.len() > 1);
    match of_several.filter(|most| most.behind > 0 && !most.version.is_empty()) {
        Some(most) => {
            let text = en::cache_chip_of_kind(&most.kind, &most.version, &most.behind);
            (text, true)
        }
        None => cache_chip(standings),
    }
}

fn most_behind(standings: &[CacheStanding]) -> Option<&CacheStanding> {
    standings.iter().rev().max_by_key(|cache| cache.behind)
}

/// The version of an object in a cache, and whether the object was changed there.
pub fn cached_version(of: &CacheStanding, name: &str, version: &str) -> String {
    match of.changed.iter().any(|changed| changed == name) {
        true => en::cached_changed(&version),
        false => version.to_owned(),
    }
}

/// The keys of the queue in a chip.
pub fn queue_chip(queue: &WorkQueue) -> String {
    let keys: Vec<&str> = queue.queued().map(name_of).collect();
    match keys.is_empty() {
        true => en::queue_chip_empty(),
        false => en::queue_chip(&keys.join(", ")),
    }
}

/// Every key of the queue, and how it is.
pub fn queue_lines(queue: &WorkQueue, now: Duration) -> Vec<String> {
    let dirty: Vec<&str> = queue.dirty().collect();
    let mut lines: Vec<String> = queue
        .processing()
        .map(|key| match dirty.contains(&key) {
            true => en::queue_processing_dirty(&key),
            false => en::queue_processing(&key),
        })
        .collect();
    lines.extend(queue.queued().map(|key| en::queue_queued(&key)));
    let waiting = queue.waiting().into_iter();
    lines.extend(waiting.map(|(key, ready)| {
        let waits = match ready.saturating_sub(now) {
            Duration::ZERO => en::queue_due(&key),
            left => en::queue_waiting(&key, &time(left)),
        };
        match queue.num_requeues(key) {
            0 => waits,
            failures => format!("{waits} · {}", en::queue_failures(&failures)),
        }
    }));
    lines
}

/// A time in words.
fn time(time: Duration) -> String {
    match time.as_millis() {
        milliseconds @ 0..10_000 => format!("{milliseconds} ms"),
        milliseconds => format!("{} s", milliseconds / 1000),
    }
}

/// The name in a key.
fn name_of(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or_default()
}

/// Says the content of a variable, and the server's content if that differs.
pub fn run_value(of: &RunValue) -> (String, String) {
    match &of.value {
        RunValueContent::Object {
            kind,
            name,
            version,
            server,
            is_changed,
        } => {
            let has = match version.as_str() {
                "" => return (en::value_new(kind), String::new()),
                version => en::value_version(kind, name, &version),
            };
            let beside = match server {
                Some(server) if server.to_string() == *version => match is_changed {
                    true => return (has, en::value_changed_same()),
                    false => en::value_server_same(),
                },
                Some(server) => en::value_server_version(server),
                None => en::value_server_none(),
            };
            let beside = match is_changed {
                true => format!("{} · {beside}", en::value_changed()),
                false => beside,
            };
            (has, beside)
        }
        RunValueContent::List { names, server } => {
            let has = match names.len() {
                0 => en::value_list_empty(),
                count => en::value_list(&count, &names.join(", ")),
            };
            let beside = server.map(|server| en::value_server_list(&server));
            (has, beside.unwrap_or_default())
        }
    }
}

/// An event in a line.
pub fn arrow(event: &EventOnTheWay) -> String {
    if event.event_type == EventType::Error {
        return en::event_error(&event.name);
    }
    en::event_arrow(&event.event_type, &event.name, &event.revision)
}

/// A step of the controller in a row of the timeline.
pub(crate) fn row(operation: ControllerOperation, event: Option<&ControllerEvent>) -> String {
    match event {
        _ if matches!(operation, ControllerOperation::StepLosing(_)) => {
            crate::controller::operation(operation)
        }
        Some(ControllerEvent::Delivered { report, .. }) => match report.handled.first() {
            Some(handled) => en::row_delivered(&handled.notification),
            None => match &report.progress {
                ReflectorProgress::Lost { code, .. } => en::row_delivered(&en::event_error(code)),
                _ => crate::controller::operation(operation),
            },
        },
        Some(ControllerEvent::Worker(report)) => match report {
            WorkerReport::Taken { key } => en::row_taken(&name_of(key)),
            WorkerReport::NotReady { .. } => en::row_not_ready(),
            WorkerReport::Performed {
                call: None,
                error,
                touched,
                ..
            } => match (error, touched) {
                (Some(error), _) if error.of_cache => en::row_not_in_cache(),
                (_, Touched::Cache(_)) => en::row_read(),
                (_, Touched::CachedObject) => en::row_changes_cached(),
                (_, Touched::Expectations) => en::row_expects(),
                (_, Touched::Nothing) => en::row_sends_nothing(),
            },
            WorkerReport::Finished { result, .. } => match result {
                ReconcileResult::Error | ReconcileResult::TerminalError => en::row_failed(),
                _ => en::row_finished(),
            },
            WorkerReport::Performed { .. } => crate::controller::operation(operation),
        },
        _ => crate::controller::operation(operation),
    }
}

/// The caption of a step of the controller that led to a world; `None` for any other step.
pub(crate) fn caption(kind: &ExplanationKind, world: &World) -> Option<Caption> {
    let ExplanationKind::Controlled {
        actor,
        operation,
        event,
        repeatable,
    } = kind
    else {
        return None;
    };
    let none = |_| Caption::new(crate::controller::operation(*operation), []);
    let Some(event) = event.as_deref() else {
        return Some(none(()));
    };
    let name = world.actor(*actor).name.to_string();
    let is_one_of_several = world.controllers().count() > 1;
    let who = match is_one_of_several {
        true => name.clone(),
        false => en::the_controller(),
    };
    let mut caption = match event {
        ControllerEvent::Connected { cache, report } => {
            let standing = world.cache_standings(*actor).into_iter().nth(*cache);
            let first = world.events_on_the_way(*actor, *cache).into_iter().next();
            connected(standing.as_ref(), first.as_ref(), report, *operation)
        }
        ControllerEvent::Delivered { report, .. } => delivered(report),
        ControllerEvent::WatchDropped { on_the_way, .. } => {
            let text = en::did_drop_watch_text(on_the_way);
            Caption::new(en::did_drop_watch(), [text])
        }
        ControllerEvent::Resynced { .. } => Caption::new(en::did_resync(), []),
        ControllerEvent::Restarted => Caption::new(en::did_restart(&who), [en::did_restart_text()]),
        ControllerEvent::Woken { .. } => Caption::new(en::did_wake(), []),
        ControllerEvent::Worker(report) => worked(report, (*actor, world), *operation, &who),
    };
    // The worst first: a narrow page has room for one sentence.
    let broken = crate::orders::all_broken(world, *repeatable);
    caption.text.splice(0..0, broken);
    // A title about the controller names it; one about its queue or its cache does not.
    if is_one_of_several && !caption.title.contains(&name) {
        caption.title = en::of_controller(&name, &caption.title);
    }
    Some(caption)
}

/// A list leaves the cache without a watch; a watch that begins with the objects is open.
fn connected(
    standing: Option<&CacheStanding>,
    first: Option<&EventOnTheWay>,
    report: &CacheReport,
    operation: ControllerOperation,
) -> Caption {
    let Some(standing) = standing else {
        return Caption::new(en::controller_connects(), []);
    };
    let text = match &report.progress {
        ReflectorProgress::Synced { version } if standing.is_watching => {
            en::did_connect_streams(version)
        }
        ReflectorProgress::Synced { version } => match operation {
            ControllerOperation::ListBehind(_) => en::did_connect_lists_behind(version),
            _ => en::did_connect_lists(version),
        },
        ReflectorProgress::Watching { version } => match first {
            Some(event) if event.event_type == EventType::Error => {
                en::did_connect_ends(&arrow(event))
            }
            _ => en::did_connect_watches(version),
        },
        ReflectorProgress::Refused { code, message }
        | ReflectorProgress::Lost { code, message } => {
            en::did_connect_refused(code, &visible(message))
        }
        ReflectorProgress::Paged | ReflectorProgress::Received(_) | ReflectorProgress::Closed => {
            en::did_connect_continues()
        }
    };
    Caption::new(en::did_connect(&standing.kind), [text])
}

fn delivered(report: &CacheReport) -> Caption {
    if let ReflectorProgress::Lost { code, message } = &report.progress {
        let text = en::did_deliver_error_text(&visible(message));
        return Caption::new(en::did_deliver_error(&en::event_error(code)), [text]);
    }
    let Some(handled) = report.handled.first() else {
        return Caption::new(
            crate::controller::operation(ControllerOperation::Deliver(0)),
            [],
        );
    };
    Caption::new(en::did_deliver(&handled.notification), [became_of(handled)])
}

fn became_of(handled: &Handled) -> String {
    if handled.dropped_by.is_some() {
        return en::did_deliver_dropped();
    }
    match handled.keys.first() {
        None => en::did_deliver_no_key(),
        Some((key, KeyAddition::Queued)) => en::did_deliver_queued(key),
        Some((key, KeyAddition::AlreadyQueued)) => en::did_deliver_already(key),
        Some((key, KeyAddition::AfterItsRun)) => en::did_deliver_after_run(key),
    }
}

fn worked(
    report: &WorkerReport,
    of: (ActorId, &World),
    operation: ControllerOperation,
    who: &str,
) -> Caption {
    let sent = |call: &Call, error: Option<&ApiError>| {
        let text = match operation {
            ControllerOperation::StepLosing(lost) => loses(lost),
            _ => answered(call, error, of),
        };
        Caption::new(sends(call, who), [text])
    };
    match report {
        WorkerReport::Taken { key } => Caption::new(en::did_take(key), [en::did_take_text()]),
        WorkerReport::NotReady { key, .. } => {
            Caption::new(en::did_not_ready(key), [en::did_not_ready_text()])
        }
        WorkerReport::Performed {
            call,
            error,
            touched,
            ..
        } => match (call, error) {
            (Some(call), error) => sent(call, error.as_ref()),
            (None, Some(error)) if error.of_cache => {
                Caption::new(en::did_not_find(), [en::did_not_find_text()])
            }
            (None, error) => without_request(touched, error.as_ref(), of, who),
        },
        WorkerReport::Finished {
            key,
            call,
            error,
            result,
            queue,
            ..
        } => {
            let over = finished(*result, queue, call.is_some());
            match call {
                Some(call) => {
                    let mut caption = sent(call, error.as_ref());
                    caption.text.push(format!("{} {over}", en::did_finish(key)));
                    caption
                }
                None => Caption::new(en::did_finish(key), [over]),
            }
        }
    }
}

/// Says that the network lost a part of a write.
fn loses(lost: Lost) -> String {
    match lost {
        Lost::Request => en::did_lose_request(),
        Lost::Answer => en::did_lose_answer(),
    }
}

/// Names a request of the controller.
fn sends(call: &Call, who: &str) -> String {
    use optimist_apiserver::object::{Metadata, text};
    let named = |object: &serde_json::Value| {
        let name = match object.name() {
            "" => object.meta_text("generateName"),
            name => name,
        };
        format!("{} {name}", text(object, "kind"))
    };
    match call {
        Call::Get { name, .. } => en::did_send_get(&who, name),
        Call::List { .. } => en::did_send_list(&who),
        Call::Create { object, .. } => en::did_send(&who, &"Create", &named(object)),
        Call::Update { object, .. } => en::did_send(&who, &"Update", &named(object)),
        Call::Patch { base, .. } => en::did_send(&who, &"Patch", &named(base)),
        Call::Apply { object, .. } => en::did_send(&who, &"Apply", &named(object)),
        Call::Delete { object, .. } => en::did_send(&who, &"Delete", &named(object)),
    }
}

/// Says the answer to a request of the controller.
fn answered(call: &Call, error: Option<&ApiError>, (actor, world): (ActorId, &World)) -> String {
    use optimist_apiserver::object::{Metadata, text};
    let standings = world.cache_standings(actor);
    let written = call.written().map(|object| text(object, "kind"));
    let mut caches = standings.iter();
    let cache = caches.find(|cache| Some(&*cache.kind) == written && cache.behind > 0);
    match (error, cache) {
        (Some(error), _) => en::did_send_refused(&error.code, &error.reason, &error.message),
        (None, Some(cache)) if call.written().is_some_and(|it| cache.is_ahead(it.name())) => {
            en::did_send_into_cache(&cache.version)
        }
        (None, Some(cache)) => en::did_send_lag(&cache.kind, &cache.version, &cache.behind),
        (None, None) => en::did_send_done(),
    }
}

/// Says what a statement did that sent no request.
fn without_request(
    touched: &Touched,
    error: Option<&ApiError>,
    of: (ActorId, &World),
    who: &str,
) -> Caption {
    match touched {
        Touched::Cache(kind) => Caption::new(en::did_read(&who), [read(kind, of)]),
        Touched::CachedObject => {
            Caption::new(en::did_change_cached(&who), [en::did_change_cached_text()])
        }
        Touched::Expectations => Caption::new(en::did_expect(&who), [en::did_expect_text()]),
        Touched::Nothing => {
            let of_name = error.is_some_and(|error| error.of_name);
            let text = of_name.then(en::did_send_nothing_text);
            Caption::new(en::did_send_nothing(&who), text)
        }
    }
}

/// Says the state of the cache of a kind, from which the controller read.
fn read(kind: &str, (actor, world): (ActorId, &World)) -> String {
    let mut caches = world.cache_standings(actor).into_iter();
    match caches.find(|cache| cache.kind == kind) {
        Some(cache) if cache.behind > 0 => {
            en::did_read_behind(&cache.kind, &cache.version, &cache.behind)
        }
        Some(cache) => en::did_read_text(&cache.kind, &cache.version),
        None => String::new(),
    }
}

/// Says the next place of the key of a run that is over. If the server answered with an error, the
/// answer names it itself.
fn finished(result: ReconcileResult, queue: &QueueReaction, has_sent: bool) -> String {
    let after = time(queue.after.unwrap_or_default());
    if queue.queued_again {
        return en::did_finish_again();
    }
    match result {
        ReconcileResult::Done | ReconcileResult::RequeueAfter(0) => en::did_finish_done(),
        ReconcileResult::Error if !has_sent => en::did_finish_error(&after),
        ReconcileResult::RequeueAfter(_) | ReconcileResult::Requeue | ReconcileResult::Error => {
            en::did_finish_requeue(&after)
        }
        ReconcileResult::TerminalError => en::did_finish_terminal(),
    }
}

//! Sentences of the inspector, the branches, the lines of the cards and the smaller parts of Play,
//! from the same data from which the page makes them, and their conditions.

use optimist_apiserver::object::Metadata;
use optimist_apiserver::storage::KeyValue;
use optimist_client::{AlignedRows, Declares, Intent, Preset, Strategy, Subresource, ValueChange};
use optimist_code::{ClientRequest, kubectl_output, sent_by_tool};
use optimist_messages::{self as messages, cards, label};
use optimist_simulation::explore::{Plan, Scenario};
use optimist_simulation::{Action, ActorId, EditResult, HistoryTree, Outcome, Step, World};
use serde_json::Value;

use super::About;
use super::caption::Condition;
use super::judge::leaves;
use super::moment::{Moment, controller_of, version};
use super::said::Said;

/// Returns the sentences at a current step.
pub fn texts(tree: &HistoryTree, right: ActorId) -> Vec<(About, String)> {
    let mut texts = of_branches(tree);
    if let Some(scenario) = Scenario::of_copies(tree.world()) {
        let others = scenario.plans.len().saturating_sub(2);
        texts.push((About::Shown, messages::explore::pair_of_play_others(others)));
    }
    let step = tree.step(tree.current());
    let mut here = Vec::new();
    match step {
        None => here.push(label::nothing_sent()),
        Some(step) => here.extend(of_step(step, tree.world())),
    }
    let first = tree.origin().versions().next();
    let first = first.map_or(0, |version| version.revision);
    here.extend([
        label::timeline_start(&first),
        label::timeline_start_label(&first),
    ]);
    texts.extend(here.into_iter().map(|text| (About::Here, text)));
    let shown = of_object(tree, right).into_iter();
    texts.extend(shown.map(|text| (About::Shown, text)));
    for editor in ActorId::EDITORS {
        let of_copy = of_copy(tree.world(), editor).into_iter();
        texts.extend(of_copy.map(|text| (About::Copy(editor), text)));
    }
    texts
}

fn of_branches(tree: &HistoryTree) -> Vec<(About, String)> {
    let ends = tree.ends();
    let mut texts = Vec::new();
    let end = tree.current_path().last().copied();
    let summary = match end.and_then(|end| tree.name(end)) {
        Some(name) => Some(label::branches_here(&ends.len(), &name)),
        None if ends.len() > 1 => Some(label::branches_count(&ends.len())),
        None => None,
    };
    texts.extend(summary.map(|text| (About::Here, text)));
    for &end in ends.iter().take(3) {
        let steps = tree.path(end).len().saturating_sub(1);
        let here = tree.current_path().last() == Some(&end);
        match here {
            true => texts.push((About::Here, label::branch_steps_here(&steps))),
            false => texts.push((About::End(end), label::branch_steps(&steps))),
        }
    }
    let (Some(&first), Some(&second)) = (ends.first(), ends.last()) else {
        return texts;
    };
    for second in [first, second] {
        let Some(point) = tree.compare(first, second) else {
            continue;
        };
        let steps = tree.path(point.fork).len().saturating_sub(1);
        let parts = match steps {
            0 => label::branch_begins(),
            steps => label::branch_parts(&steps),
        };
        if point.first.is_empty() {
            texts.push((About::End(first), label::branch_no_more()));
        } else {
            texts.push((About::Here, parts));
        }
        if point.differs.is_empty() && first != second {
            texts.push((About::Here, messages::compared_ends(&point)));
        }
    }
    texts
}

fn of_step(step: &Step, world: &World) -> Vec<String> {
    let mut texts = Vec::new();
    if let Some(EditResult::Lost { .. }) = step.edit_results().into_iter().next() {
        texts.push(label::lost_update());
    }
    let Some(exchange) = &step.exchange else {
        return vec![label::wire_nothing(), label::snippet_none()];
    };
    match (step.is_stream(), step.outcome() == Outcome::Refused) {
        (false, _) => {}
        (true, false) => texts.push(label::wire_stream()),
        (true, true) => texts.push(label::wire_stream_ended(&exchange.status_line())),
    }
    texts.extend(
        exchange
            .warnings
            .iter()
            .map(|warning| label::warning(warning)),
    );
    texts.extend(carried(step, &exchange.sent));
    match ClientRequest::of_step(world, step) {
        None => texts.push(label::snippet_no_json()),
        Some(call) => {
            if kubectl_output(&call, exchange).advice {
                texts.push(label::terminal_advice());
            }
            let tool = sent_by_tool(&call, step);
            texts.extend(tool.map(|tool| label::snippet_of_tool(&tool)));
        }
    }
    texts
}

/// Returns the sentences about a request's content, as its row has them.
fn carried(step: &Step, sent: &Value) -> Vec<String> {
    if *sent == Value::Null {
        return vec![label::no_body()];
    }
    if sent.get("kind").is_none() || !step.is_send() || step.edits.is_empty() {
        return Vec::new();
    }
    let whole = match step.meant.is_some() {
        true => label::whole_manifest(),
        false => label::whole_object(),
    };
    let none = sent.pointer("/metadata/resourceVersion").is_none();
    let mut texts = vec![whole];
    texts.extend(none.then(label::no_version));
    texts
}

fn of_object(tree: &HistoryTree, right: ActorId) -> Vec<String> {
    let world = tree.world();
    let mut texts = Vec::new();
    if world.stored().is_none() {
        texts.push(label::not_stored());
    }
    let three = tree.three_way(tree.current()).unwrap_or_default();
    for row in &three.rows {
        if let Some(Value::String(was)) = row.before.as_ref().filter(|_| row.before != row.stored) {
            texts.push(label::diff_was(was));
        }
    }
    for value in key_values(world) {
        texts.push(label::etcd_row(&value.mod_revision, &value.key));
        texts.extend(value.object.is_none().then(label::etcd_deleted));
        texts.extend(value.compacted.then(label::etcd_compacted));
    }
    let start = tree.origin().server().store().revision();
    let mut unwritten = world
        .versions()
        .filter(|one| tree.writer_of(one.revision).is_none() && one.revision <= start);
    texts.extend(unwritten.next().map(|_| label::revision_as_loaded()));
    let rows = world.stored_rows();
    texts.extend(
        rows.iter()
            .find(|row| row.version.is_none())
            .map(|_| label::stored_deleted()),
    );
    texts.extend(of_rows(world, right));
    texts.extend(of_controller(tree));
    texts
}

fn key_values(world: &World) -> Vec<KeyValue> {
    let store = world.server().store();
    let key = world.subject().key().to_string();
    let values = store.key_values(&key).into_iter();
    values.filter(|value| *value.key == *key).collect()
}

/// Returns the sentences about the parts that the rows of the cards fold away.
fn of_rows(world: &World, right: ActorId) -> Vec<String> {
    let edited = |actor: ActorId| world.copy(actor).edited().map(|it| &**it);
    let stored = world.stored().map(|(_, object)| &**object);
    let copies = [edited(ActorId::A), stored, edited(right)];
    let rows = AlignedRows::new(copies, &world.resource().root);
    rows.rows
        .iter()
        .filter_map(|row| messages::folded(&row.fold))
        .collect()
}

fn of_controller(tree: &HistoryTree) -> Vec<String> {
    let world = tree.world();
    let Some((id, controller)) =
        controller_of(tree).and_then(|id| Some((id, world.controller(id)?)))
    else {
        return Vec::new();
    };
    let name = "The controller";
    let mut texts = match controller.run() {
        Some(run) => vec![label::controller_run(
            &name,
            &tree.run_number(id),
            &run.key(),
        )],
        None => vec![label::controller_waits(&name)],
    };
    let standings = world.cache_standings(id);
    texts.extend(
        standings
            .iter()
            .find(|it| !it.is_watching)
            .map(|_| label::controller_watch_closed()),
    );
    texts.extend(
        standings
            .iter()
            .find(|it| it.objects.is_empty())
            .map(|_| label::controller_cache_none()),
    );
    let mut open = (0..standings.len()).filter(|cache| standings[*cache].is_watching);
    if open.all(|cache| world.events_on_the_way(id, cache).is_empty()) {
        texts.push(label::controller_on_the_way_none());
    }
    let now = world.server().environment().elapsed();
    if messages::controller_card::queue_lines(controller.queue(), now).is_empty() {
        texts.push(label::controller_queue_none());
    }
    let parts = tree.run_parts(id);
    let part = parts.get(tree.position()).and_then(Option::as_ref);
    texts.extend(
        part.filter(|run| run.is_first)
            .map(|run| label::run_label(&run.number)),
    );
    texts
}

fn of_copy(world: &World, editor: ActorId) -> Vec<String> {
    let mut texts = Vec::new();
    let copy = world.copy(editor);
    let name = &world.actor(editor).name;
    let write = world.actor(editor).write();
    if copy.edited().is_none() {
        texts.extend([label::nothing_read(), label::foresight_none(name)]);
    } else if world.stale_by(editor) == 0 {
        texts.push(label::current());
    }
    if world
        .preview(editor, &Action::Send(write.clone()))
        .is_none()
    {
        texts.push(cards::nothing_to_send(world, editor).0);
    }
    texts.extend(write.body.is_some().then(label::sends_by_hand));
    for change in copy.edits_by_item(&world.resource().root) {
        if !change.is_bookkeeping() {
            texts.push(line(&change));
        }
    }
    let applies = (write.strategy, write.declares) == (Strategy::Apply, Declares::Edits);
    let declares = applies && write.subresource.is_none() && !copy.declared().is_empty();
    texts.extend(declares.then(label::line_applied_unchanged));
    let (stored, own) = (
        world.stored().map(|(_, object)| leaves(object)),
        copy.edited(),
    );
    if let (Some(stored), Some(own), Some(read)) = (stored, own, copy.read()) {
        let (own, read) = (leaves(own), leaves(read));
        let differs = own.iter().find(|(place, value)| {
            let same = read.get(*place) == Some(value);
            same && stored.get(*place) != Some(value) && !place.join("/").contains("metadata")
        });
        if let Some((place, _)) = differs {
            let now = stored.get(place).map(plain);
            texts.push(messages::now(now.as_deref()));
        }
    }
    texts
}

/// Returns the sentence of a changed line about its former value.
fn line(change: &ValueChange) -> String {
    if change.after.is_none() {
        return label::line_removed(&optimist_client::dotted(&change.pointer));
    }
    match &change.before {
        Some(Value::String(text)) => label::line_was(text),
        Some(value) if value.is_object() || value.is_array() => label::line_changed(),
        Some(value) => label::line_was(value),
        None => label::line_new(),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub const PANELS: &[(&str, Condition)] = &[
    ("branches_count", |said, at| {
        Some(at.tree.ends().len() as u64 == said.number("count")?)
    }),
    ("branches_here", |said, at| {
        let end = *at.tree.current_path().last()?;
        let named = at.tree.name(end)? == said.text("name");
        Some(named && at.tree.ends().len() as u64 == said.number("count")?)
    }),
    ("branch_steps", |said, at| {
        Some(at.so_far.len() as u64 == said.number("count")?)
    }),
    ("branch_steps_here", |said, at| {
        Some(at.tree.current_path().len() as u64 - 1 == said.number("count")?)
    }),
    ("branch_begins", |_, at| Some(shared(at.tree)? == 1)),
    ("branch_parts", |said, at| {
        Some(shared(at.tree)? as u64 - 1 == said.number("step")?)
    }),
    ("branch_no_more", |_, at| {
        // Beside itself, a branch has nothing of its own.
        let ends = at.tree.ends();
        let path = |end: &usize| at.tree.path(*end);
        Some(path(ends.first()?) == path(ends.first()?))
    }),
    ("branch_the_same", |_, at| {
        let ends = at.tree.ends();
        let object = |end: usize| {
            let stored = at.tree.world_at(end)?.stored();
            Some(stored.map(|(_, object)| without_times(object)))
        };
        let (first, last) = (*ends.first()?, *ends.last()?);
        Some(object(first)? == object(last)? && entries_at(at, first)? == entries_at(at, last)?)
    }),
    ("branch_other_owners", |_, at| {
        let ends = at.tree.ends();
        let (first, last) = (*ends.first()?, *ends.last()?);
        let object = |end: usize| {
            let stored = at.tree.world_at(end)?.stored();
            Some(stored.map(|(_, object)| without_times(object)))
        };
        Some(object(first)? == object(last)? && entries_at(at, first)? != entries_at(at, last)?)
    }),
    ("nothing_sent", |_, at| Some(at.so_far.is_empty())),
    ("timeline_start", |said, at| starts_with(said, at)),
    ("timeline_start_label", |said, at| starts_with(said, at)),
    ("lost_update", |_, at| {
        let mut subjects = at.world().subjects();
        Some(subjects.any(|subject| {
            let mut then = at.until(at.so_far.len());
            then.object = subject.clone();
            then.judge().gone().iter().any(|gone| !gone.shown)
        }))
    }),
    ("wire_nothing", |_, at| Some(at.exchange().is_none())),
    ("snippet_no_json", |_, at| {
        let sent = at.exchange()?;
        let by_hand = match at.last()?.step.action()? {
            Action::Send(write) => write.body.clone()?,
            Action::Request(request) => request.body.clone(),
            _ => return Some(false),
        };
        let Ok(json) = serde_json::from_str::<Value>(&by_hand) else {
            return Some(sent.sent.is_null());
        };
        Some(colons(&by_hand) > members(&json))
    }),
    ("snippet_none", |_, at| {
        // What no client library or kubectl sends: no request at all, or one to another place.
        Some(at.exchange().is_none() || at.actor().is_none() || is_by_hand(at)?)
    }),
    ("wire_stream", |_, at| {
        Some(
            at.exchange()?.target.contains("watch=true")
                && at.exchange()?.code == 200
                && at.stream_error().is_none(),
        )
    }),
    ("wire_stream_ended", |said, at| {
        let code = at.exchange()?.code.to_string();
        let error = at.stream_error().is_some()
            || at.exchange()?.received.to_string().contains("\"Status\"");
        Some(said.text("status").contains(&code) && error)
    }),
    ("warning", |_, at| {
        Some(at.accepted() || at.exchange()?.code >= 400)
    }),
    ("no_body", |_, at| Some(at.exchange()?.sent.is_null())),
    ("no_version", |_, at| {
        Some(
            at.exchange()?.sent["metadata"]
                .get("resourceVersion")
                .is_none(),
        )
    }),
    ("whole_object", |_, at| {
        // It has what nobody edited too.
        let sent = &at.exchange()?.sent;
        let edited = &at.last()?.step.edits;
        Some(sent.get("kind").is_some() && leaves(sent).len() >= edited.len())
    }),
    ("whole_manifest", |_, at| {
        Some(at.exchange()?.sent.get("kind").is_some())
    }),
    ("snippet_of_tool", |said, at| {
        let (manager, name) = (at.exchange()?.field_manager(), said.text("tool"));
        let mut tools = Preset::all().filter(|tool| tool.actor_name() == Some(&*name));
        Some(tools.any(|tool| tool.manager() == Some(&*manager)))
    }),
    ("terminal_advice", |_, at| {
        let sent = at.exchange()?;
        let apply = sent.content_type.starts_with("application/apply-patch");
        Some(
            apply
                && sent.code == 409
                // kubectl prints this after each 409 of an apply, also where versions differ
                // (k8s.io/kubectl/pkg/cmd/apply/apply.go applyOneObject, errors.IsConflict).
                && sent.received["reason"] == "Conflict",
        )
    }),
    ("not_stored", |_, at| Some(at.stored().is_none())),
    ("diff_was", |said, at| {
        let was = said.text("value");
        let before = at.stored_before()?.to_string();
        let written = Value::String(was).to_string();
        Some(before.contains(&written) && at.stored() != at.stored_before())
    }),
    ("etcd_row", |said, at| {
        let (revision, key) = (said.number("revision")?, said.text("key"));
        let known = key == *at.object.key();
        Some(known && revision <= at.world().server().store().revision())
    }),
    ("etcd_deleted", |_, at| {
        // Some step took the object away.
        Some(
            at.so_far
                .iter()
                .any(|it| at.object_in(it.before).is_some() && at.object_in(it.after).is_none()),
        )
    }),
    ("etcd_compacted", |_, at| {
        Some(at.world().server().store().compacted() > 0)
    }),
    ("revision_as_loaded", |_, at| {
        let start = at.tree.origin();
        Some(at.object_in(start).is_some())
    }),
    ("stored_deleted", |_, at| {
        let mut subjects = at.world().subjects();
        Some(subjects.any(|one| at.world().server().store().get(one.key()).is_none()))
    }),
    ("folded_defaults", |said, _| Some(said.number("count")? > 0)),
    ("folded_more", |said, at| {
        let names = said.text("names");
        let named = names.split(", ").filter(|name| *name != "…");
        let copies = ActorId::ALL
            .iter()
            .filter_map(|id| at.world().copy(*id).edited());
        let objects: Vec<String> = copies
            .map(|it| it.to_string())
            .chain(at.stored().map(Value::to_string))
            .collect();
        let mut named = named.map(|name| format!("\"{name}\":"));
        let known = named.all(|name| objects.iter().any(|object| object.contains(&name)));
        Some(
            known
                && said.number("count")?
                    >= names.split(", ").filter(|name| *name != "…").count() as u64,
        )
    }),
    ("controller_run", |said, at| {
        let run = at.world().controller(at.controller)?.run()?;
        let takes = at.so_far.iter().filter(|it| {
            let queue = |world: &World| {
                world
                    .controller(at.controller)
                    .map(|one| one.queue().processing().count())
            };
            queue(it.before) == Some(0) && queue(it.after) == Some(1)
        });
        // A run that waits for its own version begins and is over in one step.
        Some(run.key() == said.text("key") && said.number("run")? as usize >= takes.count())
    }),
    ("controller_waits", |_, at| {
        Some(
            at.world()
                .controller(at.controller)?
                .queue()
                .processing()
                .next()
                .is_none(),
        )
    }),
    ("run_label", |said, at| {
        Some(said.number("run")? > 0 && at.world().controller(at.controller).is_some())
    }),
    ("controller_watch_closed", |_, at| {
        let controller = at.world().controller(at.controller)?;
        let count = controller.caches().len();
        Some((0..count).any(|cache| {
            let mut world = at.world().clone();
            let operation = optimist_simulation::ControllerOperation::DropWatch(cache);
            world
                .act(optimist_simulation::Operation::Control(
                    at.controller,
                    operation,
                ))
                .is_none()
        }))
    }),
    ("controller_cache_none", |_, at| {
        let mut caches = at.world().controller(at.controller)?.caches().iter();
        Some(caches.any(|cache| cache.objects().is_empty()))
    }),
    ("controller_on_the_way_none", |_, at| {
        let count = at.world().controller(at.controller)?.caches().len();
        Some((0..count).all(|cache| {
            let mut world = at.world().clone();
            let operation = optimist_simulation::ControllerOperation::Deliver(cache);
            let before = world
                .controller(at.controller)
                .map(|it| it.caches()[cache].objects().len());
            world.act(optimist_simulation::Operation::Control(
                at.controller,
                operation,
            ));
            before
                == world
                    .controller(at.controller)
                    .map(|it| it.caches()[cache].objects().len())
        }))
    }),
    ("controller_queue_none", |_, at| {
        let queue = at.world().controller(at.controller)?.queue();
        let none = queue.queued().next().is_none() && queue.processing().next().is_none();
        Some(none && queue.waiting().is_empty())
    }),
    ("current", |_, at| {
        Some(at.copy_version(at.right)? == at.version().to_string())
    }),
    ("nothing_read", |_, at| {
        Some(at.copy_version(at.right).is_none())
    }),
    ("foresight_none", |said, at| {
        Some(at.copy_version(at.right).is_none() && at.named(&said.text("name"))? == at.right)
    }),
    ("preview_none", |said, at| {
        let actor = at.named(&said.text("name"))?;
        Some(at.copy_version(actor).is_none() && at.world().copy(actor).edited().is_none())
    }),
    ("preview_scale", |said, at| {
        let actor = at.named(&said.text("name"))?;
        let read = at.world().copy(actor).read()?;
        let write = at.world().actor(actor).write();
        Some(read["kind"] == "Scale" && write.subresource != Some(Subresource::Scale))
    }),
    ("pair_of_play_others", |_, at| {
        let scenario = Scenario::of_copies(at.world())?;
        let edited = |id: &ActorId| {
            let copy = at.world().copy(*id);
            copy.read() != copy.edited()
        };
        let beside = |id: &ActorId| !ActorId::EDITORS.contains(id);
        let acting = scenario.acting().map(|(id, _)| id).filter(beside);
        let wanting = ActorId::ALL.into_iter().filter(beside).filter(edited);
        let deletes = |plan: &Plan| plan.intent == Intent::Delete;
        Some(acting.eq(wanting) && !scenario.plans.iter().any(deletes))
    }),
    ("sends_by_hand", |_, at| {
        let write = at.world().actor(at.right).write();
        let request = at.world().preview(at.right, &Action::Send(write.clone()));
        let sent = request.map(|request| String::from_utf8_lossy(request.body()).into_owned());
        Some(sent.is_none_or(|sent| Some(sent) == write.body))
    }),
    ("line_was", |said, at| {
        let before = leaves(at.world().copy(at.right).read()?);
        let was = said.text("value");
        Some(before.values().any(|value| plain(value) == was))
    }),
    ("line_changed", |_, at| differs(at)),
    ("line_new", |_, at| {
        let copy = at.world().copy(at.right);
        let (before, after) = (leaves(copy.read()?), leaves(copy.edited()?));
        // The protocol is a part of the key of a port.
        Some(after.iter().any(|(place, value)| {
            let is_key = place.last().is_some_and(|it| it == "protocol");
            before.get(place).is_none_or(|it| is_key && it != value)
        }))
    }),
    ("line_removed", |said, at| {
        let copy = at.world().copy(at.right);
        let (before, after) = (leaves(copy.read()?), leaves(copy.edited()?));
        let field = said.text("field");
        let last = field
            .rsplit('.')
            .next()?
            .trim_end_matches(']')
            .trim_matches('"')
            .to_owned();
        let gone = before.keys().filter(|place| !after.contains_key(*place));
        let mut gone = gone.flat_map(|place| place.clone());
        // The protocol is a part of the key of a port.
        let protocols = |of: &crate::judge::Leaves| -> Vec<Value> {
            let of = of
                .iter()
                .filter(|(place, _)| place.last().is_some_and(|it| it == "protocol"));
            of.map(|(_, value)| value.clone()).collect()
        };
        let gone = gone.any(|part| part.contains(last.split(',').next().unwrap_or_default()));
        Some(gone || last.contains(',') && protocols(&before) != protocols(&after))
    }),
    ("line_applied_unchanged", |_, at| {
        // The field has the value that was read, and the apply carries it.
        let copy = at.world().copy(at.right);
        let (read, edited) = (copy.read()?, copy.edited()?);
        let mut declared = copy.declared().iter();
        Some(declared.any(|path| path.find(edited).is_some() || path.find(read).is_some()))
    }),
    ("line_now", |said, at| {
        let now = said.text("value");
        Some(
            leaves(at.stored()?)
                .values()
                .any(|value| plain(value) == now),
        )
    }),
    ("line_now_removed", |_, at| {
        let (read, stored) = (
            leaves(at.world().copy(at.right).read()?),
            leaves(at.stored()?),
        );
        Some(read.keys().any(|place| !stored.contains_key(place)))
    }),
];

/// Returns how many nodes the first and the last branch share.
fn shared(tree: &HistoryTree) -> Option<usize> {
    let ends = tree.ends();
    let (first, second) = (tree.path(*ends.first()?), tree.path(*ends.last()?));
    Some(
        first
            .iter()
            .zip(&second)
            .take_while(|(a, b)| a == b)
            .count(),
    )
}

/// The entries of `managedFields` at the end of a branch, without their times, in an order of their own.
fn entries_at(at: &Moment<'_>, end: usize) -> Option<Vec<String>> {
    let stored = at.tree.world_at(end)?.stored();
    let entries = stored.map_or(&[][..], |(_, object)| object.managed_entries());
    let mut entries: Vec<String> = entries
        .iter()
        .map(|entry| {
            let mut entry = entry.clone();
            entry["time"] = Value::Null;
            entry.to_string()
        })
        .collect();
    entries.sort();
    Some(entries)
}

/// An object without its version and its times, and without who owns what.
fn without_times(object: &Value) -> Value {
    let mut object = object.clone();
    let metadata = object.metadata_mut();
    for member in [
        "resourceVersion",
        "managedFields",
        "creationTimestamp",
        "generation",
        "deletionTimestamp",
    ] {
        metadata.remove(member);
    }
    object
}

fn starts_with(said: &Said, at: &Moment<'_>) -> Option<bool> {
    let origin = at.tree.origin();
    let mut stored = origin
        .subjects()
        .filter_map(|one| origin.server().store().get(one.key()));
    Some(stored.any(|(_, object)| version(object) == said.number("version").unwrap_or_default()))
}

fn is_by_hand(at: &Moment<'_>) -> Option<bool> {
    use optimist_simulation::Operation;
    Some(matches!(
        at.last()?.step.operation,
        Operation::Act(_, Action::Request(_)) | Operation::Control(..)
    ))
}

fn differs(at: &Moment<'_>) -> Option<bool> {
    let copy = at.world().copy(at.right);
    Some(leaves(copy.read()?) != leaves(copy.edited()?))
}

/// The number of colons of a JSON text outside strings: one for each member that is written.
fn colons(json: &str) -> usize {
    let (mut count, mut in_string, mut is_escaped) = (0, false, false);
    for letter in json.chars() {
        match letter {
            '"' if !is_escaped => in_string = !in_string,
            ':' if !in_string => count += 1,
            _ => {}
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    count
}

/// The number of members of a value and of all in it.
fn members(value: &Value) -> usize {
    match value {
        Value::Object(object) => object.len() + object.values().map(members).sum::<usize>(),
        Value::Array(items) => items.iter().map(members).sum(),
        _ => 0,
    }
}

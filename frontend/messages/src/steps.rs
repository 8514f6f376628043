//! Steps in a few words: for the timeline, the server's card and those who hear the page.

use optimist_apiserver::server::Fact;
use optimist_client::{ValueChange, WriteMethod, visible};
use optimist_simulation::{
    Action, ActorId, BranchOutcome, BranchPoint, EditResult, Headline, HeadlineContent,
    HistoryTree, LastWrite, NodeId, Operation, Outcome, RequestKind, Step, WatchAction, World,
};

use crate::edits::{edit_result, lost_short};
use crate::endings::ending_method;
use crate::{en, watch};

/// Names the actor of an operation.
pub fn actor(operation: &Operation, world: &World) -> String {
    match operation {
        Operation::Act(actor, _) | Operation::Control(actor, _) => {
            world.actor(*actor).name.to_string()
        }
        Operation::Watch(_) => en::watcher(),
        Operation::Compact { .. } => en::etcd(),
        Operation::Wait(_) => en::clock(),
    }
}

/// Names an actor where there is little room: an editor by its letter, any other actor by its name.
pub(crate) fn short_name(actor: ActorId, world: &World) -> &str {
    let (name, letter) = (&*world.actor(actor).name, actor.letter());
    match name.strip_prefix("Editor ") {
        Some(own) if own == letter => letter,
        _ => name,
    }
}

/// Names a request in a sentence.
pub(crate) fn request(kind: RequestKind) -> String {
    match kind {
        RequestKind::Get => en::request_get(),
        RequestKind::Update => en::request_update(),
        RequestKind::MergePatch => en::request_merge(),
        RequestKind::StrategicMergePatch => en::request_strategic(),
        RequestKind::JsonPatch => en::request_json(),
        RequestKind::Apply => en::request_apply(),
        RequestKind::Create => en::request_create(),
        RequestKind::Delete => en::request_delete(),
        RequestKind::Other => en::request_other(),
    }
}

/// Describes the last write on the way to the current step.
pub fn last_write(tree: &HistoryTree) -> String {
    let step = match tree.last_write() {
        LastWrite::Start => return en::last_write_start(),
        LastWrite::Elsewhere => return en::last_write_elsewhere(),
        LastWrite::Step(step) => step,
    };
    let (who, how) = (
        actor(&step.operation, tree.world()),
        request(step.request_kind()),
    );
    match (step.before, step.after) {
        (before, after) if before == after => en::last_write(&who, &how),
        (before, 0) => en::last_write_deleted(&who, &how, &before),
        (0, after) => en::last_write_created(&who, &how, &after),
        (before, after) => en::last_write_stored(&who, &how, &before, &after),
    }
}

/// Returns the pill on the server's lane: the store's change.
pub fn pill(step: &Step) -> Option<String> {
    match step.outcome() {
        Outcome::Done if matches!(step.operation, Operation::Compact { .. }) => {
            Some(en::pill_compacted(&step.revision))
        }
        Outcome::Read | Outcome::Done => None,
        Outcome::Refused if step.actor().is_none() || step.is_read() => None,
        Outcome::Written => Some(match (step.before, step.after) {
            (before, 0) => en::pill_deleted(&before),
            (0, after) => en::pill_created(&after),
            (before, after) => en::pill_stored(&before, &after),
        }),
        Outcome::Unchanged if elsewhere(step) => None,
        Outcome::Unchanged => Some(en::pill_unchanged(&step.after)),
        Outcome::Refused => {
            let text = step.facts().iter().find_map(|fact| match fact {
                Fact::VersionDiffered { sent, stored } => Some(en::pill_differed(sent, stored)),
                Fact::VersionRequired(stored) => Some(en::pill_required(stored)),
                Fact::OwnedByOther { .. } => Some(en::pill_owner()),
                Fact::OperationFailed(failed) if failed.differed.is_some() => Some(en::pill_test()),
                _ => None,
            });
            Some(text.unwrap_or_else(en::pill_refused))
        }
    }
}

/// Says the request of a step in the timeline. The pill of a compaction shows its own result. If
/// the world has several objects, it names the one of the request.
pub fn ask(step: &Step, world: &World) -> String {
    asked(step, world, None)
}

/// The same where there is little room: of a long value that changed only the part that differs, and
/// no version, which the pill has.
pub fn ask_brief(step: &Step, world: &World) -> String {
    /// The most characters of a value.
    const MAX_CHARS: usize = 10;
    asked(step, world, Some(MAX_CHARS))
}

fn asked(step: &Step, world: &World, most: Option<usize>) -> String {
    let asked = match step.operation {
        Operation::Compact { restart: true } => en::ask_restart(),
        Operation::Compact { restart: false } => String::new(),
        Operation::Wait(seconds) => en::ask_wait(&seconds),
        _ => headline_within(step, most),
    };
    match step.object_of_several(world) {
        Some(object) => en::ask_object(&visible(&object), &asked),
        None => asked,
    }
}

/// The answer where there is little room: `200 · 100`. The pill of a write has its versions, that of
/// a refusal its reason.
pub fn answer_brief(step: &Step, world: &World) -> String {
    let Some(exchange) = &step.exchange else {
        return answer(step, world);
    };
    if step.is_answer_lost() {
        return en::answer_not_received();
    }
    if let Some(lost) = lost_short(step, world) {
        return en::answer_more(&exchange.code, &lost);
    }
    match step.outcome() {
        Outcome::Refused if step.is_stream() => {
            let line = step.status_line();
            let code = line.split(' ').next().unwrap_or_default();
            match step.actor() {
                Some(_) => en::answer_stream_error(&exchange.code, &code),
                // The event below it has the reason.
                None => code.to_owned(),
            }
        }
        Outcome::Refused | Outcome::Written if pill(step).is_some() => exchange.code.to_string(),
        Outcome::Refused => step.status_line(),
        Outcome::Unchanged if exchange.is_dry_run() => en::answer_dry_run(&exchange.code),
        Outcome::Unchanged if !elsewhere(step) => en::answer_unchanged_brief(&exchange.code),
        _ if step.is_stream() => en::answer_stream(&exchange.code),
        _ => match exchange.answered_version() {
            Some(version) => en::answer_brief(&exchange.code, &visible(version)),
            None => step.status_line(),
        },
    }
}

/// Returns whether a step wrote another object than the one that is shown.
fn elsewhere(step: &Step) -> bool {
    step.exchange
        .as_ref()
        .is_some_and(|exchange| exchange.has_written())
}

/// Tells a branch apart from its siblings in a word or two: by its name, by how it sends the edit where
/// the siblings send it otherwise, or by its outcome. `actor` is the one who begins it, where the
/// siblings begin with another one.
fn branch(
    tree: &HistoryTree,
    node: NodeId,
    actor: Option<ActorId>,
    method: Option<WriteMethod>,
) -> String {
    if let Some(name) = tree.name_of(node) {
        return visible(name).into_owned();
    }
    let method = method.and_then(ending_method);
    let label = method.unwrap_or_else(|| match tree.outcome_of(node) {
        BranchOutcome::Lost => en::branch_lost(),
        BranchOutcome::Refused(code) => en::branch_refused(&code),
        BranchOutcome::RefusedThenStored(code) => en::branch_refused_stored(&code),
        BranchOutcome::Stored => en::branch_stored(),
        BranchOutcome::Unchanged => en::branch_unchanged(),
        BranchOutcome::Read => en::branch_read(),
        BranchOutcome::Quiet => en::branch_quiet(),
    });
    match actor {
        Some(actor) => en::branch_of_actor(&short_name(actor, tree.world()), &label),
        None => label,
    }
}

/// Labels all branches that begin at a node, in the order of the tree, each differently.
pub fn branch_labels(tree: &HistoryTree, parent: NodeId) -> Vec<(NodeId, String)> {
    let siblings = tree.branches(parent);
    let actor = |node: NodeId| tree.step(node).and_then(Step::actor);
    let mut actors = siblings.iter().map(|&node| actor(node));
    let first = actors.next().flatten();
    let several = actors.any(|actor| actor != first);
    let mut methods = siblings.iter().filter_map(|&node| tree.ending_method(node));
    let first = methods.next();
    // Two actors do not send the same edit in two ways.
    let differ = !several && methods.any(|method| Some(method) != first);
    let label = |node| {
        let actor = actor(node).filter(|_| several);
        let method = tree.ending_method(node).filter(|_| differ);
        branch(tree, node, actor, method)
    };
    each_once(siblings.iter().map(|&node| (node, label(node))))
}

/// Says what happens in the branch that begins with a node: its first step, and its last one if it has more.
pub fn branch_summary(tree: &HistoryTree, node: NodeId) -> Option<String> {
    let of_node = |node| Some(summary(tree.step(node)?, tree.world()));
    let first = of_node(node)?;
    let last = branch_more(tree, node).zip(of_node(tree.end_of(node)));
    Some(match last {
        Some((more, last)) => format!("{first}; {more} {last}"),
        None => first,
    })
}

/// Says how many steps the branch that begins with a node has after that one. `None` if it has no more.
pub fn branch_more(tree: &HistoryTree, node: NodeId) -> Option<String> {
    let steps = tree.path(tree.end_of(node)).len() - tree.path(node).len();
    (steps > 0).then(|| en::branch_more(&steps))
}

/// Compares the ends of two branches whose values are the same.
pub fn compared_ends(point: &BranchPoint) -> String {
    match point.owners_differ {
        true => en::branch_other_owners(),
        false => en::branch_the_same(),
    }
}

/// Names all histories of a tree by their last nodes, each differently: by the name that a user gave,
/// else as their branch is labelled where they last part from another one.
pub fn branch_names(tree: &HistoryTree) -> Vec<(NodeId, String)> {
    let name = |end: NodeId| {
        if let Some(name) = tree.name(end) {
            return visible(name).into_owned();
        }
        let path = tree.path(end);
        let labelled = path.windows(2).rev().find_map(|two| {
            let labels = (tree.branches(two[0]).len() > 1).then(|| branch_labels(tree, two[0]))?;
            let label = labels.into_iter().find(|(node, _)| *node == two[1]);
            Some(label?.1)
        });
        labelled.unwrap_or_else(|| en::branch_numbered(&1))
    };
    each_once(tree.ends().into_iter().map(|end| (end, name(end))))
}

/// Adds a number to each label that another branch has already.
fn each_once(labels: impl Iterator<Item = (NodeId, String)>) -> Vec<(NodeId, String)> {
    let mut once: Vec<(NodeId, String)> = Vec::new();
    for (node, label) in labels {
        let is_taken = |label: &str| once.iter().any(|(_, other)| other == label);
        let mut unique = label.clone();
        let mut number = 2;
        while is_taken(&unique) {
            unique = en::branch_again(&label, &number);
            number += 1;
        }
        once.push((node, unique));
    }
    once
}

/// Summarizes the request of a step: `PUT replicas 3→5 · if 100`, `WATCH from 100`.
pub fn headline(step: &Step) -> String {
    headline_within(step, None)
}

/// The same, with at most so many characters of a value, and then without a version.
fn headline_within(step: &Step, most: Option<usize>) -> String {
    let (method, subresource, content, if_version, forces) = match step.headline() {
        Headline::Operation(Operation::Control(_, operation)) => {
            return crate::controller_card::row(operation, step.controller.as_deref());
        }
        Headline::Operation(operation) => return operation_name(&operation),
        Headline::Request {
            method,
            subresource,
            content,
            if_version,
            forces,
        } => (method, subresource, content, if_version, forces),
    };
    let mut headline = method;
    if let Some(subresource) = subresource {
        headline.push_str(" /");
        headline.push_str(subresource.name());
    }
    if let Some(content) = content {
        headline.push(' ');
        headline.push_str(&headline_content(&content, most));
    }
    if forces {
        headline = en::headline_force(&headline);
    }
    match if_version.filter(|_| most.is_none()) {
        Some(version) => en::headline_if(&headline, &version),
        None => headline,
    }
}

fn headline_content(content: &HeadlineContent, most: Option<usize>) -> String {
    let within = |change: &ValueChange| match most {
        Some(most) => format!("{change:.most$}"),
        None => change.to_string(),
    };
    let (manifest, carried) = match content {
        HeadlineContent::ByHand => return en::headline_by_hand(),
        HeadlineContent::Declared { manifest, fields } => {
            (*manifest, en::headline_declared(&fields.join(", ")))
        }
        HeadlineContent::Edits {
            manifest,
            first,
            more,
        } => {
            let carried = match (first, more) {
                (None, _) => en::headline_no_change(),
                (Some(first), 0) => within(first),
                (Some(first), more) => format!("{} +{more}", within(first)),
            };
            (*manifest, carried)
        }
    };
    if manifest {
        en::headline_manifest(&carried)
    } else {
        carried
    }
}

/// An operation that is no actor's, in a word or two.
fn operation_name(operation: &Operation) -> String {
    match operation {
        Operation::Act(_, action) => match action {
            Action::Get | Action::GetScale => "GET".to_owned(),
            Action::Send(_) => en::operation_send(),
            Action::Create => en::operation_create(),
            Action::Delete(_) | Action::DeleteRetrying(..) => "DELETE".to_owned(),
            Action::Request(by_hand) => by_hand.method.clone(),
        },
        Operation::Watch(WatchAction::Open(version)) if !version.is_empty() => {
            en::operation_watch_from(version)
        }
        // A headline names the version from which a watch goes on.
        Operation::Watch(WatchAction::Open(_) | WatchAction::Resume) => "WATCH".to_owned(),
        Operation::Watch(WatchAction::Drop) => en::operation_drop(),
        Operation::Watch(WatchAction::List) => "LIST".to_owned(),
        Operation::Compact { restart: false } => en::operation_compact(),
        Operation::Compact { restart: true } => en::operation_restart(),
        Operation::Wait(seconds) => en::operation_wait(seconds),
        Operation::Control(_, operation) => crate::controller::operation(*operation),
    }
}

/// The answer in the timeline: `200 OK · rv 101`.
pub fn answer(step: &Step, world: &World) -> String {
    if step.actor().is_none() {
        return watch::answer(step);
    }
    let Some(exchange) = &step.exchange else {
        return String::new();
    };
    if step.is_answer_lost() {
        return en::answer_not_received();
    }
    let line = step.status_line();
    if let Some(lost) = lost_short(step, world) {
        return en::answer_more(&line, &lost);
    }
    match step.outcome() {
        Outcome::Refused if step.is_stream() => {
            en::answer_stream_error(&exchange.status_line(), &line)
        }
        Outcome::Refused => line,
        Outcome::Unchanged if exchange.is_dry_run() => en::answer_dry_run(&line),
        Outcome::Unchanged if !elsewhere(step) => en::answer_unchanged(&line),
        _ if step.is_stream() => en::answer_stream(&line),
        _ => match exchange.answered_version() {
            Some(version) => en::answer_version(&line, &visible(version)),
            None => line,
        },
    }
}

/// A step in a few words: `Editor B: PUT replicas 3→5 · 409 Conflict`.
pub fn summary(step: &Step, world: &World) -> String {
    let asked = match step.object_of_several(world) {
        Some(_) => ask(step, world),
        None => headline(step),
    };
    let mut summary = format!("{}: {asked}", actor(&step.operation, world));
    let answer = answer(step, world);
    if !answer.is_empty() {
        summary.push_str(" · ");
        summary.push_str(&answer);
    }
    summary
}

/// A step in one sentence, for those who hear the page.
pub fn sentence(step: &Step, world: &World) -> String {
    full_sentence(step, world, answer(step, world), "", &watch::spoken(step))
}

/// Names a row by everything that can be seen in it, in the same order. `answer` is the answer that
/// the row shows, `events` are the words of the events that it draws.
pub fn row_sentence(step: &Step, world: &World, answer: String, events: &[String]) -> String {
    let events: String = events.iter().map(|event| format!(" {event}.")).collect();
    full_sentence(step, world, answer, &events, "")
}

/// `seen` is what the row shows behind the answer, `heard` is said at the end.
fn full_sentence(step: &Step, world: &World, answer: String, seen: &str, heard: &str) -> String {
    let asked = Some(ask(step, world)).filter(|asked| !asked.is_empty());
    let asked = asked.unwrap_or_else(|| headline(step));
    let mut sentence = format!("{}: {asked}.", actor(&step.operation, world));
    let parts = [answer, pill(step).unwrap_or_default()].into_iter();
    for part in parts.filter(|part| !part.is_empty()) {
        sentence.push(' ');
        sentence.push_str(&part);
        sentence.push('.');
    }
    sentence.push_str(seen);
    let results = step.edit_results().into_iter();
    for lost in results.filter(|result| matches!(result, EditResult::Lost { .. })) {
        sentence.push(' ');
        sentence.push_str(&edit_result(&lost, world));
    }
    match step.message() {
        Some(message) => sentence.push_str(&en::spoken_refused(&visible(message))),
        None => sentence.push_str(heard),
    }
    sentence
}

/// Announces the current step, for those who hear the page.
pub fn announcement(tree: &HistoryTree) -> String {
    match tree.step(tree.current()) {
        Some(step) => en::announced_step(
            &tree.position(),
            &(tree.current_path().len() - 1),
            &sentence(step, tree.world()),
        ),
        None => en::announced_start(),
    }
}

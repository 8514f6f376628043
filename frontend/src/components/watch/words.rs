//! What the page says about watching.

use optimist_simulation::{Connection, Operation, Outcome, Received, Step, WatchAction, World};

use crate::components::fold::counted;
use crate::state::State;
use crate::words::Words;

/// What the stream says before there is anything in it.
pub(crate) const EMPTY: &str = "Events appear here as they arrive.";

/// Who acted.
pub(crate) fn actor<'a>(state: &'a State, operation: &Operation) -> &'a str {
    match operation {
        Operation::Act(actor, _) => state.name(*actor),
        Operation::Watch(_) => "Watcher",
        Operation::Compact { .. } => "etcd",
        Operation::Wait(_) => "Clock",
    }
}

/// `rv 101`, or what an error is.
pub(crate) fn version(received: &Received) -> String {
    let status = received.status_line();
    status.unwrap_or_else(|| format!("rv {}", received.version))
}

/// An event in a line: `MODIFIED · rv 101`.
pub(crate) fn event(received: &Received) -> String {
    format!("{} · {}", received.event.event_type, version(received))
}

/// How the watcher stands, and the tone of it.
pub(crate) fn state(world: &World) -> (String, &'static str) {
    let watcher = world.watcher();
    let seen = match watcher.seen() {
        "" => "nothing",
        seen => seen,
    };
    let missed = match world.missed() {
        0 => "nothing missed".to_owned(),
        missed => format!("{} missed", counted(missed, "event")),
    };
    match watcher.connection() {
        Connection::None => ("No watch is open.".to_owned(), "plain"),
        Connection::Open { from } if from.is_empty() => {
            (format!("Open from now. Seen: {seen}."), "ok")
        }
        Connection::Open { from } => (format!("Open from {from}. Seen: {seen}."), "ok"),
        Connection::Dropped => (format!("Dropped at {seen}: {missed}."), "plain"),
        Connection::Closed => (format!("Ended by the server at {seen}: {missed}."), "plain"),
        Connection::Failed { code: 410, .. } => (
            "410 Expired: too old to resume. A client lists again and watches from there."
                .to_owned(),
            "refused",
        ),
        Connection::Failed { code, message } => (format!("{code}: {message}"), "refused"),
        Connection::Listed => (format!("Listed at {seen}."), "plain"),
    }
}

/// What a step of the watcher, or against it, did.
#[inline(never)] // not on the first screen
pub(crate) fn caption(state: &State, step: &Step) -> Words {
    let world = state.world();
    let version = step.after;
    let words = |title: String, text: String, next: &str| Words {
        title,
        text: vec![text],
        next: Some(next.to_owned()),
    };
    if step.outcome() == Outcome::Refused {
        return refused(step);
    }
    match &step.operation {
        Operation::Watch(WatchAction::Drop) => words(
            "The connection is gone.".to_owned(),
            format!(
                "The server keeps nothing for a watcher who left. What the watcher has is a number: \
                 {} is the last version it saw.",
                seen(world)
            ),
            "Change the object twice, then resume.",
        ),
        Operation::Watch(WatchAction::List) => words(
            format!("Listed at {version}."),
            "The list is the state now. What happened in between is never heard as events.".to_owned(),
            "Resume: watch from the version of the list.",
        ),
        Operation::Watch(WatchAction::Resume) if after_list(state) => words(
            format!("Listed again, and watching from {}.", seen(world)),
            "A list needs no past: it is the state now, and its version is where the watch goes on. \
             What happened in between is never heard as events."
                .to_owned(),
            "Change the object: the stream goes on.",
        ),
        Operation::Watch(WatchAction::Resume) => {
            let missed = step.arrived.len();
            words(
                match missed {
                    0 => "Resumed, and nothing was missed.".to_owned(),
                    missed => format!("Resumed: {} it had missed.", counted(missed, "event")),
                },
                "The watcher named the last version it saw, and the server sent every change after \
                 it, in order. That is what resourceVersion is for when you read."
                    .to_owned(),
                "Drop it, change the object, compact, and resume: a 410.",
            )
        }
        Operation::Watch(WatchAction::Open(from)) if from.is_empty() || from == "0" => words(
            "Watching from what is there.".to_owned(),
            "Without a version to begin after, the watch begins with an ADDED for each object that \
             exists. Then every change follows."
                .to_owned(),
            "Change the object and watch the event arrive. Or drop the connection.",
        ),
        Operation::Watch(WatchAction::Open(from)) => words(
            format!("Watching from {from}."),
            format!(
                "The stream has every change after {from}, and nothing of what was there before."
            ),
            "Change the object and watch the event arrive. Or drop the connection.",
        ),
        Operation::Compact { restart } => compacted(version, *restart),
        Operation::Wait(seconds) => words(
            format!("{seconds} seconds later."),
            "Nothing was sent. The server's clock went on.".to_owned(),
            "Go on.",
        ),
        Operation::Act(..) => words(String::new(), String::new(), ""),
    }
}

fn compacted(version: u64, restart: bool) -> Words {
    let (text, next) = if restart {
        (
            format!(
                "etcd forgot every version before {version}. The server was restarted too: open \
                 watches ended, and its watch cache, which would have remembered, begins again at \
                 {version}."
            ),
            format!("Open a watch from a version before {version}: a 410."),
        )
    } else {
        (
            format!(
                "etcd forgot every version before {version}. The server's watch cache did not: it \
                 still serves watches from what it holds."
            ),
            "Open a watch from an old version: it works. Then compact with the server restarted."
                .to_owned(),
        )
    };
    Words {
        title: format!("Compacted at {version}."),
        text: vec![text],
        next: Some(next),
    }
}

fn refused(step: &Step) -> Words {
    if !step
        .arrived
        .iter()
        .any(|received| received.event.object["code"] == 410)
    {
        return Words {
            title: "No watch.".to_owned(),
            text: vec!["The server refused it. Its answer says why.".to_owned()],
            next: Some("Choose another version.".to_owned()),
        };
    }
    Words {
        title: "410: that past is gone.".to_owned(),
        text: vec![
            "The changes after that version are no longer there to be sent, so the server does not \
             pretend. The request is answered 200, and the stream begins and ends with an ERROR."
                .to_owned(),
        ],
        next: Some(
            "List again: a client reads the state now and watches from its version.".to_owned(),
        ),
    }
}

/// Why a step of the watcher went as it did.
#[inline(never)] // not on the first screen
pub(crate) fn why(step: &Step) -> Vec<String> {
    if let Some(message) = step.message() {
        return vec![format!("The server says: {message}")];
    }
    let why = match &step.operation {
        Operation::Watch(WatchAction::Drop) => {
            "A watch is one long answer. When its connection breaks, only the client knows how far \
             it came."
        }
        Operation::Watch(WatchAction::List) => {
            "Not older than the version last seen, so that the client never goes back in time."
        }
        Operation::Watch(WatchAction::Open(from)) if from.is_empty() || from == "0" => {
            "No version to begin after: the objects that exist come first, as ADDED."
        }
        Operation::Watch(_) => {
            "The server still has every change after that version, so the stream has no gap."
        }
        Operation::Compact { restart: true } => {
            "etcd keeps old versions until it is compacted; a real API server has that done every \
             five minutes. A restarted server fills its watch cache with a list of now."
        }
        Operation::Compact { restart: false } => {
            "Watches are served from the API server's watch cache, which compaction does not reach."
        }
        Operation::Act(..) | Operation::Wait(_) => return Vec::new(),
    };
    vec![why.to_owned()]
}

/// What the timeline says was answered.
pub(crate) fn answer(step: &Step) -> String {
    match (&step.operation, step.outcome()) {
        (_, Outcome::Refused) => step.status_line(),
        (Operation::Watch(WatchAction::Drop), _) => String::new(),
        (Operation::Watch(WatchAction::List), _) => {
            format!("{} · rv {}", step.status_line(), step.after)
        }
        (Operation::Watch(_), _) => format!("{} · stream", step.status_line()),
        _ => String::new(),
    }
}

/// What a step brought the watcher, for those who hear the page.
pub(crate) fn heard(step: &Step) -> String {
    let mut heard = String::new();
    for received in step.arrived.iter().take(5) {
        heard.push_str(" The watcher receives ");
        heard.push_str(&event(received));
        heard.push('.');
    }
    if step.arrived.len() > 5 {
        heard.push_str(&format!(" And {} more.", step.arrived.len() - 5));
    }
    heard
}

fn seen(world: &World) -> &str {
    match world.watcher().seen() {
        "" => "nothing",
        seen => seen,
    }
}

/// Whether the step before this one listed.
fn after_list(state: &State) -> bool {
    let tree = &state.session.tree;
    let before = tree.position().checked_sub(1);
    let before = before.and_then(|before| tree.current_path().get(before).copied());
    before
        .and_then(|node| tree.step(node))
        .is_some_and(|step| step.operation == Operation::Watch(WatchAction::List))
}

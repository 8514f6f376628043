//! What the page says in its own words, all of it about steps that the core took.

use optimist_apiserver::apply::{Path, PathElement};
use optimist_apiserver::server::Fact;
use optimist_client::{Strategy, Subresource, visible};
use optimist_simulation::verdict::{Edit, Loss};
use optimist_simulation::{Action, ActorId, LastWrite, NodeId, Operation, Outcome, Step};
use serde_json::Value;

use crate::components::watch;
use crate::components::yaml_view::dotted;
use crate::state::{Lane, State};

/// A caption: what happened and why, and what to try next.
pub(crate) struct Words {
    pub(crate) title: String,
    pub(crate) text: Vec<String>,
    pub(crate) next: Option<String>,
}

/// Who is in the other lane.
fn other(state: &State, actor: ActorId) -> ActorId {
    match actor {
        ActorId::A => state.view.right,
        ActorId::B | ActorId::C => ActorId::A,
    }
}

/// `A` or `B`.
pub(crate) fn letter(editor: ActorId) -> &'static str {
    match editor {
        ActorId::A => "A",
        ActorId::B => "B",
        ActorId::C => "C",
    }
}

/// Whose step it is.
pub(crate) fn actor<'a>(state: &'a State, step: &Step) -> &'a str {
    watch::words::actor(state, &step.operation)
}

/// Whose step it is, as a class.
pub(crate) fn slug(step: &Step) -> &'static str {
    step.actor().map_or(Lane::Server, Lane::Editor).slug()
}

/// How a strategy is called in a sentence.
fn strategy(step: &Step) -> &'static str {
    match &step.operation {
        Operation::Act(_, Action::Send(write)) => match write.strategy {
            Strategy::Update => "Update",
            Strategy::MergePatch => "merge patch",
            Strategy::StrategicMergePatch => "strategic merge patch",
            Strategy::JsonPatch => "JSON patch",
            Strategy::Apply => "apply",
        },
        Operation::Act(_, Action::Delete(_)) => "delete",
        Operation::Act(_, Action::Create) => "create",
        Operation::Act(_, Action::Request(_)) => "request by hand",
        _ => "Get",
    }
}

fn read_version(state: &State, editor: ActorId) -> Option<&str> {
    state.world().copy(editor).resource_version()
}

fn is_edited(state: &State, editor: ActorId) -> bool {
    state.world().copy(editor).is_edited()
}

/// What to try in a session, and whether it is done in this history.
pub(crate) fn invitation(state: &State) -> [(String, bool); 3] {
    let tree = &state.session.tree;
    // Stepping back undoes nothing of it.
    let so_far = tree.current_path();
    let did = |actor: ActorId, sent: bool| {
        so_far.iter().any(|&node| {
            tree.step(node)
                .is_some_and(|step| step.actor() == Some(actor) && step.is_send() == sent)
        })
    };
    // The third one is as good as another.
    let both = |test: &dyn Fn(ActorId) -> bool| {
        ActorId::ALL
            .into_iter()
            .filter(|actor| test(*actor))
            .count()
            > 1
    };
    let replicas = state
        .world()
        .stored()
        .is_some_and(|(_, object)| object.pointer("/spec/replicas").is_some());
    let change = if replicas {
        "Change replicas in both: click the number, type, Enter."
    } else {
        "Change the same value in both: click it, type, Enter."
    };
    [
        (
            "Get as A and as B.".to_owned(),
            both(&|editor| did(editor, false)),
        ),
        (
            change.to_owned(),
            both(&|editor| did(editor, true) || is_edited(state, editor)),
        ),
        ("Send both.".to_owned(), both(&|editor| did(editor, true))),
    ]
}

/// Where the histories part that are worth comparing once both have written, and whose edit is
/// sent from there: the last place where the one who wrote second had a stale copy with an edit.
/// `None` if we have not come so far.
pub(crate) fn branch_point(state: &State) -> Option<(NodeId, ActorId)> {
    let tree = &state.session.tree;
    let line = tree.current_path();
    let mut sent = line.iter().enumerate().filter_map(|(position, &node)| {
        let step = tree.step(node).filter(|step| step.is_send())?;
        Some((position, step.actor()?))
    });
    let (_, first) = sent.next()?;
    let (position, second) = sent.find(|(_, actor)| *actor != first)?;
    let overtaken = |node: &NodeId| {
        let world = tree.world_at(*node);
        world.is_some_and(|world| world.is_overtaken(second))
    };
    let at = line[..position].iter().rposition(overtaken)?;
    (at <= tree.position()).then_some((line[at], second))
}

/// How else the second of them can write, and what comes of it.
pub(crate) const EXPERIMENTS: [&str; 6] = [
    "as Update, without resourceVersion (untick it): an update is lost, and nobody is told",
    "as Update, with it: refused, 409 Conflict",
    "with it, on conflict: read again, redo: refused once, then stored",
    "as Merge: lost only if both changed the same field or list",
    "as JSON, test the old values: refused only if those changed",
    "as Apply: refused if someone else owns the field",
];

/// What the step that led here did.
pub(crate) fn caption(state: &State) -> Words {
    let tree = &state.session.tree;
    let Some(step) = tree.step(tree.current()) else {
        return opening(state);
    };
    let Some(me) = step.actor() else {
        return watch::words::caption(state, step);
    };
    match step.outcome() {
        Outcome::Read | Outcome::Done => read(state, step, me),
        Outcome::Written => written(state, step, me),
        Outcome::Unchanged if !step.left_out.is_empty() => Words {
            title: "Accepted, and nothing came of it.".to_owned(),
            text: left_out(step).into_iter().collect(),
            next: Some(format!(
                "Change another value in {}, or send it to another part of the object, under more.",
                state.name(me)
            )),
        },
        Outcome::Unchanged => Words {
            title: "Accepted, and nothing changed.".to_owned(),
            text: vec![format!(
                "The object as {} wants it is the object that is stored. It stays version {}.",
                letter(me),
                step.after
            )],
            next: Some(format!(
                "Change a value in {} and send again.",
                state.name(me)
            )),
        },
        Outcome::Refused => refused(state, step, me),
    }
}

fn opening(state: &State) -> Words {
    let version = state.world().stored().map_or(0, |(version, _)| version);
    let future = state.session.tree.current_path().len() > 1;
    Words {
        title: "Two editors, one object.".to_owned(),
        text: vec![format!(
            "The server stores version {version}. Nobody has read it yet, and reading will lock nothing."
        )],
        next: future.then(|| "Step forward, or begin another history from here.".to_owned()),
    }
}

#[inline(never)] // not on the first screen
fn read(state: &State, step: &Step, me: ActorId) -> Words {
    let them = other(state, me);
    let tree = &state.session.tree;
    let before = tree.parent(tree.current()).and_then(|id| tree.world_at(id));
    let redone = before.is_some_and(|world| world.copy(me).is_edited()) && is_edited(state, me);
    let mine = read_version(state, me);
    if mine.is_some() && mine == read_version(state, them) {
        let version = step.after;
        let edited = is_edited(state, me) && is_edited(state, them);
        return Words {
            title: format!("Both read {version}. Nothing is locked."),
            text: vec![
                "Whoever writes first makes the next version, and the other copy is stale from \
                 then on."
                    .to_owned(),
            ],
            next: Some(if redone {
                format!("Send as {}: the edit was redone on {version}.", letter(me))
            } else if edited {
                "Send both, in the order you like.".to_owned()
            } else {
                "Change the same value in both, then send both.".to_owned()
            }),
        };
    }
    let mut text = vec!["Reading locks nothing: anyone may write right after.".to_owned()];
    if redone {
        text.push(format!(
            "{} keeps the unsent edit: it is redone on what was just read.",
            state.name(me)
        ));
    }
    let next = if redone {
        format!("Send as {} again.", letter(me))
    } else if read_version(state, them).is_none() {
        format!("Get as {} too.", letter(them))
    } else if is_edited(state, me) {
        format!("Send as {}.", letter(me))
    } else {
        format!("Change a value in {}, then send.", state.name(me))
    };
    Words {
        title: format!("{} read version {}.", state.name(me), step.after),
        text,
        next: Some(next),
    }
}

/// A write that took away what another had written and its writer had not read.
#[inline(never)] // not on the first screen
fn lossy(state: &State, step: &Step, me: ActorId, first: &Loss<ActorId>) -> Words {
    let owner = state.name(first.owner);
    let forced = step.is_forced();
    Words {
        title: format!(
            "An update is lost: {}'s {}.",
            letter(first.owner),
            edit(&first.edit)
        ),
        text: vec![
            loss(state, step, first),
            format!(
                "{owner} was told 200 OK for it, {} too, and nobody will be told that it is gone. \
                 {}",
                state.name(me),
                if forced {
                    "Force took the field over, whoever owned it and whatever its value was by then."
                        .to_owned()
                } else {
                    format!(
                        "The {} compared nothing that would have shown it.",
                        strategy(step)
                    )
                }
            ),
        ],
        next: Some(if forced {
            format!(
                "Step back, and send as {} without force, or read again first.",
                letter(me)
            )
        } else {
            format!(
                "Step back, and send as {} in a way that the server compares: with \
                 resourceVersion, or as an apply.",
                letter(me)
            )
        }),
    }
}

#[inline(never)] // not on the first screen
fn written(state: &State, step: &Step, me: ActorId) -> Words {
    if let Some(first) = step.losses.first().filter(|_| !step.is_delete()) {
        return lossy(state, step, me, first);
    }
    let them = other(state, me);
    let unseen = step
        .facts()
        .iter()
        .any(|fact| matches!(fact, Fact::VersionNotSent(_) | Fact::VersionTakenOver(_)));
    let deletes = asks_to_delete(step);
    let mut text = vec![if step.after == 0 {
        let last = "It was marked to be deleted, and this write took its last finalizer off. ";
        format!(
            "{}It was version {}. A copy of it that someone still holds is a copy of nothing.",
            if deletes { "" } else { last },
            step.before
        )
    } else if deletes {
        "It has finalizers, so it is only marked: it goes when the last of them is taken off."
            .to_owned()
    } else if step.before == 0 {
        "There was none of that name. This one has a uid of its own: to the server it is another \
         object than any before."
            .to_owned()
    } else if unseen {
        format!(
            "The {} carried no resourceVersion, so nothing was compared: {} became {} whatever \
             had happened in between.",
            strategy(step),
            step.before,
            step.after
        )
    } else {
        format!(
            "{} sent the version that is stored, {}. So the write went through and made {}.",
            state.name(me),
            step.before,
            step.after
        )
    }];
    text.extend(step.losses.iter().map(|found| loss(state, step, found)));
    text.extend(replaced(state, step));
    text.extend(left_out(step));
    let stale = state.world().stale_by(them) > 0;
    if stale {
        text.push(format!(
            "{} still holds {}.",
            state.name(them),
            read_version(state, them).unwrap_or_default()
        ));
    }
    let next = if step.after == 0 && stale {
        Some(format!(
            "Send {}'s copy and see, or step back: this history is kept.",
            state.name(them)
        ))
    } else if stale && is_edited(state, them) {
        Some(format!(
            "Send as {}, and see what the server compares.",
            letter(them)
        ))
    } else if stale {
        Some(format!(
            "Change a value in {}'s stale copy and send it.",
            state.name(them)
        ))
    } else if read_version(state, them).is_none() {
        Some(format!("Get as {}.", letter(them)))
    } else {
        Some("Step back and send in another order: this history is kept.".to_owned())
    };
    let title = if step.after == 0 && !deletes {
        format!("{}'s write let the object go.", state.name(me))
    } else if step.after == 0 {
        format!("{} deleted the object.", state.name(me))
    } else {
        format!("{} made version {}.", state.name(me), step.after)
    };
    Words { title, text, next }
}

#[inline(never)] // not on the first screen
fn refused(state: &State, step: &Step, me: ActorId) -> Words {
    let next = if is_edited(state, me) {
        format!(
            "Get as {0}: the edit is kept and redone on what is stored. Then send as {0} again.",
            letter(me)
        )
    } else {
        format!("Get as {}, to see what is stored by now.", letter(me))
    };
    let differed = step.facts().iter().find_map(|fact| match fact {
        Fact::VersionDiffered { sent, stored } => Some((*sent, *stored)),
        _ => None,
    });
    if let Some((sent, stored)) = differed {
        return Words {
            title: if read_both(state, sent) {
                format!("Both read {sent}. Only one may write it.")
            } else {
                format!(
                    "{} read {sent}. It is no longer the latest.",
                    state.name(me)
                )
            },
            text: vec![
                format!(
                    "{} still holds the copy it read at {sent}. Since then the object moved to \
                     {stored}.",
                    state.name(me)
                ),
                format!(
                    "The server compared {sent} with {stored} and stored nothing. It did not look \
                     at which fields changed: even an unrelated edit would be refused."
                ),
            ],
            next: Some(next),
        };
    }
    let tested = step.facts().iter().find_map(|fact| match fact {
        Fact::OperationFailed(failed) => Some((failed, failed.differed.as_ref()?)),
        _ => None,
    });
    if let Some((failed, (wanted, found))) = tested {
        let field = match failed.path.rsplit('/').next().unwrap_or_default() {
            "" => "the object".to_owned(),
            index if index.parse::<usize>().is_ok() => dotted(&failed.path),
            name => name.to_owned(),
        };
        let (wanted, found) = (brief(Some(wanted)), brief(found.as_ref()));
        let mut text = if wanted == found {
            format!("The patch says what {field} has to be. It is not, so nothing was stored.")
        } else {
            format!(
                "The patch says: only if {field} is {wanted}. It is {found}, so nothing was stored."
            )
        };
        if field != "resourceVersion" {
            text.push_str(
                " Had only fields changed that it does not test, it would have gone through.",
            );
        }
        return Words {
            title: "The patch tested first.".to_owned(),
            text: vec![
                text,
                "This is a 422 and no 409: a client does not know it for a conflict, and what \
                 retries on conflict gives up."
                    .to_owned(),
            ],
            next: Some(next),
        };
    }
    let owned = step
        .facts()
        .iter()
        .any(|fact| matches!(fact, Fact::OwnedByOther { .. }));
    if owned {
        return Words {
            title: "Someone else owns that field.".to_owned(),
            text: vec![
                "An apply may not silently change what another manager set. Nothing was stored, \
                 and the answer names each field and its owner."
                    .to_owned(),
            ],
            next: Some(format!(
                "Tick force in {} to take the field over, or take the edit back.",
                state.name(me)
            )),
        };
    }
    if step
        .exchange
        .as_ref()
        .is_some_and(|exchange| exchange.code == 404)
    {
        return Words {
            title: "There is no such object.".to_owned(),
            text: vec![
                "Nothing of that name is stored. A copy that someone still holds is a copy of \
                 nothing."
                    .to_owned(),
            ],
            next: Some("Step back to before it was deleted, or Create it, under more.".to_owned()),
        };
    }
    Words {
        title: format!("{} was refused.", state.name(me)),
        text: vec!["The server stored nothing. Its answer says why.".to_owned()],
        next: Some(format!("Mend it in {} and send again.", state.name(me))),
    }
}

/// Whether it asked for the object to be deleted, also by hand.
fn asks_to_delete(step: &Step) -> bool {
    let exchange = step.exchange.as_ref();
    exchange.is_some_and(|exchange| exchange.method == "DELETE")
}

/// Whether both whose lanes are shown read a version in this history.
fn read_both(state: &State, version: u64) -> bool {
    let tree = &state.session.tree;
    [ActorId::A, state.view.right].into_iter().all(|editor| {
        tree.current_path()[..=tree.position()].iter().any(|&node| {
            tree.step(node).is_some_and(|step| {
                step.actor() == Some(editor)
                    && step.after == version
                    && matches!(step.outcome(), Outcome::Read | Outcome::Written)
            })
        })
    })
}

/// What the last write on the way here was.
pub(crate) fn last_write(state: &State) -> String {
    let step = match state.session.tree.last_write() {
        LastWrite::Start => return "Stored as it was loaded.".to_owned(),
        LastWrite::Elsewhere => {
            return "Last write: by hand, while another object was shown.".to_owned();
        }
        LastWrite::Step(step) => step,
    };
    let (who, how) = (actor(state, step), strategy(step));
    match (step.before, step.after) {
        (before, after) if before == after => format!("Last write: {who}, {how}"),
        (before, 0) => format!("Last write: {who}, {how}, {before}\u{a0}→\u{a0}gone"),
        (0, after) => format!("Last write: {who}, {how}, new: {after}"),
        (before, after) => format!("Last write: {who}, {how}, {before}\u{a0}→\u{a0}{after}"),
    }
}

/// The pill on the server's lane: what the store did, and the tone of it.
pub(crate) fn pill(step: &Step) -> Option<(String, &'static str)> {
    match step.outcome() {
        Outcome::Done if matches!(step.operation, Operation::Compact { .. }) => {
            Some((format!("compacted {}", step.after), "plain"))
        }
        Outcome::Read | Outcome::Done => None,
        Outcome::Refused if step.actor().is_none() || step.is_read() => None,
        Outcome::Written => {
            let text = match (step.before, step.after) {
                (before, 0) => format!("{before} → gone"),
                (0, after) => format!("new: {after}"),
                (before, after) => format!("{before} → {after}"),
            };
            let tone = if step.losses.is_empty() { "ok" } else { "lost" };
            Some((text, tone))
        }
        Outcome::Unchanged => Some((format!("= {}", step.after), "plain")),
        Outcome::Refused => {
            let text = step.facts().iter().find_map(|fact| match fact {
                Fact::VersionDiffered { sent, stored } => Some(format!("{sent} ≠ {stored}")),
                Fact::VersionRequired(stored) => Some(format!("? ≠ {stored}")),
                Fact::OwnedByOther { .. } => Some("≠ owner".to_owned()),
                Fact::OperationFailed(failed) if failed.differed.is_some() => {
                    Some("test failed".to_owned())
                }
                _ => None,
            });
            Some((text.unwrap_or_else(|| "not stored".to_owned()), "refused"))
        }
    }
}

/// What the timeline says was asked. The pill of a compaction says what it is.
pub(crate) fn ask(step: &Step) -> String {
    match step.operation {
        Operation::Compact { restart: true } => "server restarted".to_owned(),
        Operation::Compact { restart: false } => String::new(),
        Operation::Wait(seconds) => format!("{seconds} s pass"),
        _ => step.headline(),
    }
}

/// The answer in the timeline: `200 OK · rv 101`.
pub(crate) fn answer(step: &Step) -> String {
    if step.actor().is_none() {
        return watch::words::answer(step);
    }
    let line = step.status_line();
    if let Some(lost) = lost(step) {
        return format!("{line} · {lost}");
    }
    match step.outcome() {
        Outcome::Refused => line,
        Outcome::Unchanged => format!("{line} · unchanged"),
        _ if step.after == 0 => line,
        _ => format!("{line} · rv {}", step.after),
    }
}

/// A step in a few words: `Editor B: PUT replicas 3→2 · 409 Conflict`.
#[inline(never)] // not on the first screen
pub(crate) fn brief_step(state: &State, step: &Step) -> String {
    let mut brief = format!("{}: {}", actor(state, step), step.headline());
    let answer = answer(step);
    if !answer.is_empty() {
        brief.push_str(&format!(" · {answer}"));
    }
    brief
}

/// A step in one sentence, for those who hear the page.
pub(crate) fn sentence(state: &State, step: &Step) -> String {
    let asked = Some(ask(step)).filter(|asked| !asked.is_empty());
    let asked = asked.unwrap_or_else(|| step.headline());
    let mut sentence = format!("{}: {asked}.", actor(state, step));
    let answer = answer(step);
    if !answer.is_empty() {
        sentence.push_str(&format!(" {answer}."));
    }
    if let Some((pill, _)) = pill(step) {
        sentence.push_str(&format!(" {pill}."));
    }
    for found in &step.losses {
        sentence.push_str(&format!(" {}", loss(state, step, found)));
    }
    if let Some(message) = step.message() {
        sentence.push_str(&format!(" Refused: {}", visible(message)));
    } else {
        sentence.push_str(&watch::words::heard(step));
    }
    sentence
}

/// What just happened, for those who hear the page.
pub(crate) fn announcement(state: &State) -> String {
    let tree = &state.session.tree;
    match tree.step(tree.current()) {
        Some(step) => format!(
            "Step {} of {}. {}",
            tree.position(),
            tree.current_path().len() - 1,
            sentence(state, step)
        ),
        None => "Start of the history.".to_owned(),
    }
}

/// The last part of a path: `replicas`, `container sidecar`.
pub(crate) fn field(path: &Path) -> String {
    visible(&plain_field(path)).into_owned()
}

fn plain_field(path: &Path) -> String {
    let name = |element: Option<&PathElement>| match element {
        Some(PathElement::Field(name)) => name.clone(),
        _ => String::new(),
    };
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let Some((last, parents)) = path.0.split_last() else {
        return "the object".to_owned();
    };
    let list = name(parents.last());
    match last {
        PathElement::Field(name) => name.clone(),
        PathElement::Key(fields) => {
            let key = fields.first().map(|(_, value)| text(value));
            format!("{} {}", list.trim_end_matches('s'), key.unwrap_or_default())
        }
        PathElement::Value(value) => format!("{list} {}", text(value)),
        PathElement::Index(i) => format!("{list}[{i}]"),
    }
}

/// A value in a few words.
pub(crate) fn brief(value: Option<&Value>) -> String {
    match value {
        None => "absent".to_owned(),
        Some(Value::String(text)) => {
            visible(&text.chars().take(32).collect::<String>()).into_owned()
        }
        Some(Value::Array(items)) => format!("[{} items]", items.len()),
        Some(Value::Object(_)) => "{…}".to_owned(),
        Some(other) => other.to_string(),
    }
}

/// An edit: `replicas = 5`, `image removed`, `container sidecar`.
pub(crate) fn edit(edit: &Edit) -> String {
    let field = field(&edit.path);
    match &edit.value {
        None if edit.path.0.is_empty() => "the deletion".to_owned(),
        None => format!("{field} removed"),
        Some(Value::Object(_) | Value::Array(_)) => field,
        Some(value) if matches!(edit.path.0.last(), Some(PathElement::Value(_))) => {
            let _ = value;
            field
        }
        Some(value) => format!("{field} = {}", brief(Some(value))),
    }
}

/// What a write took away: `Editor B overwrote Editor A's replicas = 5 without having read it.`
#[inline(never)] // not on the first screen
pub(crate) fn loss(state: &State, step: &Step, loss: &Loss<ActorId>) -> String {
    let (owner, culprit) = (state.name(loss.owner), state.name(loss.culprit));
    if loss.edit.path.0.is_empty() {
        return format!("{culprit} made anew what {owner} had deleted, without knowing.");
    }
    let edit = edit(&loss.edit);
    if step.is_delete() {
        format!(
            "{culprit} deleted the object with {owner}'s {edit} in it, without having read that."
        )
    } else if loss.blind {
        format!("{culprit} overwrote {owner}'s {edit} without having read it.")
    } else {
        format!("{culprit} undid {owner}'s {edit} without having read it, or meaning to.")
    }
}

/// What a write replaced that its writer had been shown: `Editor B had read Editor A's replicas = 5
/// and replaced it knowing that: no update is lost.` A retry had been shown it, and did not look.
#[inline(never)] // not on the first screen
pub(crate) fn replaced(state: &State, step: &Step) -> Option<String> {
    // Of an object that is gone, or was, nothing is replaced.
    let mut replaced = step.replaced.iter();
    let first = replaced.find(|replaced| step.after != 0 && !replaced.edit.path.0.is_empty())?;
    let me = step.actor().filter(|_| step.losses.is_empty())?;
    let (me, owner, edit) = (state.name(me), state.name(first.owner), edit(&first.edit));
    Some(if first.retry {
        format!("Replaced: {me}'s retry did not look at {owner}'s {edit}.")
    } else {
        format!("{me} had read {owner}'s {edit} and replaced it knowing that: no update is lost.")
    })
}

/// What the server left out of a write that it accepted.
#[inline(never)] // not on the first screen
pub(crate) fn left_out(step: &Step) -> Option<String> {
    let edits: Vec<String> = step.left_out.iter().map(|left| edit(left)).collect();
    let why = match step.write() {
        Some(write) if write.subresource == Some(Subresource::Scale) => {
            "A Scale carries replicas and nothing else."
        }
        Some(write) if write.strategy == Strategy::Apply => {
            "An apply takes away only what its manager had applied before."
        }
        _ => {
            "It fills in what it has a default for, and keeps what is not this request's to write."
        }
    };
    (!edits.is_empty()).then(|| {
        format!(
            "The server answered {}, and this is not in the object: {}. {why}",
            step.status_line(),
            edits.join(", ")
        )
    })
}

/// What was lost, in two or three words: `A's replicas = 5 lost`.
#[inline(never)] // not on the first screen
fn lost(step: &Step) -> Option<String> {
    let first = step.losses.first()?;
    let what = edit(&first.edit);
    let more = match step.losses.len() - 1 {
        0 => String::new(),
        more => format!(" +{more}"),
    };
    Some(format!("{}'s {what} lost{more}", letter(first.owner)))
}

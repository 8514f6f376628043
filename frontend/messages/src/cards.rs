//! Sentences of the cards of Play about a session: the age of copies, owners, the effects of a
//! step, and troubles.

use optimist_apiserver::apply::{ManagedFieldsOperation, Manager, Owners};
use optimist_client::{Strategy, Write, dotted};
use optimist_simulation::{ActorId, Exchange, HistoryTree, Outcome, Step, World};

use crate::diagnose::{manager_name, owner_beside};
use crate::{en, orders};

/// The version of an editor's copy: in words where there is room, and where there is little.
pub fn copy_version(world: &World, editor: ActorId) -> [String; 2] {
    match (
        world.copy(editor).resource_version(),
        world.stale_by(editor),
    ) {
        (None, _) => [en::not_read(), en::not_read()],
        (Some(version), 0) => [en::copy_current(&version), en::copy_current_short(&version)],
        (Some(version), behind) => [
            en::copy_stale(&version, &behind),
            en::copy_stale_by(&behind),
        ],
    }
}

/// The same on a tab, without a number.
pub fn copy_tab(world: &World, editor: ActorId) -> String {
    match world.copy(editor).resource_version() {
        None => en::not_read(),
        Some(version) if world.stale_by(editor) == 0 => en::copy_current_short(&version),
        Some(version) => en::copy_stale_short(&version),
    }
}

/// The version that is stored.
pub fn stored_version(world: &World) -> String {
    let stored = world.stored();
    stored.map_or_else(en::deleted, |(version, _)| en::copy_current_short(&version))
}

/// Introduces the changes since an editor read the object: the sentence above them.
pub fn stale(world: &World, editor: ActorId) -> String {
    if world.stored().is_none() {
        en::object_gone()
    } else if world.changed_since_read(editor).is_empty() {
        match world.copy(editor).is_scale() {
            true => en::stale_scale(),
            false => en::stale_bookkeeping(),
        }
    } else {
        en::stale_changed()
    }
}

/// Says why there is nothing to compare in a step that changed no field of the shown object. `world` is the
/// world after it.
pub fn no_difference(step: &Step, world: &World) -> String {
    let stored = world.stored().map_or(0, |(version, _)| version);
    // A request can leave this object as it was because it writes another one, or runs dry.
    let is_equal = step.exchange.as_ref().is_some_and(Exchange::is_unchanged);
    match step.outcome() {
        Outcome::Written if step.after == 0 => en::object_gone(),
        Outcome::Written if step.before == step.after => en::diff_done(),
        Outcome::Written if step.before == 0 => en::created_text(),
        Outcome::Read => en::diff_read(),
        Outcome::Done => en::diff_done(),
        Outcome::Refused => en::diff_refused(),
        Outcome::Unchanged if step.after == 0 => en::object_gone(),
        Outcome::Unchanged if is_equal => en::diff_unchanged(),
        Outcome::Unchanged => en::diff_done(),
        // The step wrote another object than the one that is shown.
        Outcome::Written if stored == 0 => en::object_gone(),
        Outcome::Written if stored != step.after => en::diff_done(),
        Outcome::Written => en::diff_bookkeeping(),
    }
}

/// Says why an editor has nothing to send, and what comes next.
pub fn nothing_to_send(world: &World, editor: ActorId) -> (String, String) {
    let name = &world.actor(editor).name;
    let says = match world.copy(editor).is_scale() {
        true => en::preview_scale(name),
        false => en::preview_none(name),
    };
    (says, en::preview_none_next())
}

/// Says which versions compaction took from etcd.
pub fn compaction(world: &World) -> String {
    match world.server().store().compacted() {
        0 => en::etcd_no_compaction(),
        revision => en::etcd_compaction(&revision),
    }
}

/// Says why no owners are shown; empty if there are some.
pub fn no_owners(world: &World) -> Vec<String> {
    let Some((_, object)) = world.stored() else {
        return vec![en::no_object()];
    };
    let owners = Owners::read(object, &world.resource().root);
    match owners.managers().is_empty() {
        true => vec![en::no_owners(), en::no_owners_why()],
        false => Vec::new(),
    }
}

/// A manager of the object: `editor-a, by apply`, `kubectl, by writing status`.
pub fn manager(manager: &Manager) -> String {
    let how = match manager.operation {
        ManagedFieldsOperation::Apply => en::owner_apply(&manager_name(&manager.name)),
        ManagedFieldsOperation::Update => en::owner_update(&manager_name(&manager.name)),
    };
    format!("{how} {}", manager.subresource)
        .trim_end()
        .to_owned()
}

/// The managers of a field, each differently: `kubectl`, `editor-a (Apply), editor-a (Update)`.
pub fn managers(managers: &[&Manager]) -> String {
    let names = managers
        .iter()
        .map(|it| owner_beside(it, managers.iter().copied()));
    names.collect::<Vec<_>>().join(", ")
}

/// Says the effect that an apply of an editor with force would have now: `now would take replicas
/// from helm.` The editor's name stands before it. `None` if the editor has read nothing.
pub fn foresight(world: &World, editor: ActorId) -> Option<String> {
    let write = world.actor(editor).write();
    let write = match write.strategy {
        Strategy::Apply => write,
        _ => Write::usual(Strategy::Apply),
    };
    let forced = Write {
        strategy: Strategy::Apply,
        force: true,
        ..write
    };
    let preview = world.preview_write(editor, forced)?;
    let taken = preview.taken.iter().map(|(manager, path)| {
        let path = path.to_string();
        en::foresight_takes(&path.trim_start_matches('.'), &manager_name(&manager.name))
    });
    let changes = preview.step.effect.iter();
    let gone = changes.filter(|change| change.after.is_none());
    let gone = gone.map(|change| en::foresight_removes(&dotted(&change.pointer)));
    let says: Vec<String> = taken.chain(gone).collect();
    Some(match (preview.step.outcome(), says.is_empty()) {
        (Outcome::Refused, _) => en::foresight_refused(&preview.step.status_line()),
        (_, true) => en::foresight_nothing(),
        (_, false) => en::foresight(&says.join(", ")),
    })
}

/// The troubles up to the current step, for a chip each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepTrouble {
    /// The kind of the trouble.
    pub kind: TroubleKind,
    /// Its words.
    pub text: String,
    /// More words; empty if there are none.
    pub title: String,
}

/// A kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// A controller broke one of its own goals, or the history never comes to rest.
    Broken,
    /// Updates were lost.
    Lost,
    /// Requests were refused, and not for a conflict.
    Refused,
    /// Requests were refused for a conflict.
    Conflicts,
    /// Nothing.
    None,
}

/// Returns the troubles up to the current step. If there are none, one entry says so.
pub fn trouble(tree: &HistoryTree) -> Vec<StepTrouble> {
    let so_far = &tree.current_path()[..=tree.position()];
    let steps = || so_far.iter().filter_map(|&node| tree.step(node));
    let is_conflict = |step: &&Step| step.exchange.as_ref().is_some_and(Exchange::is_conflict);
    let conflicts = steps().filter(is_conflict).count();
    let refused = steps().filter(|step| step.outcome() == Outcome::Refused);
    let refused = refused.filter(|step| !is_conflict(step)).count();
    let lost: usize = steps().map(|step| step.losses.len()).sum();
    let mut found = Vec::new();
    let mut add = |kind, text, title| found.push(StepTrouble { kind, text, title });
    let broken = orders::all_broken(tree.world(), tree.repeatable_steps());
    if let Some(broken) = broken.into_iter().next() {
        add(TroubleKind::Broken, en::broken(), broken);
    }
    if lost > 0 {
        add(TroubleKind::Lost, en::count_lost(&lost), String::new());
    }
    if refused > 0 {
        add(
            TroubleKind::Refused,
            en::count_refused(&refused),
            String::new(),
        );
    }
    if conflicts > 0 {
        let text = en::count_conflicts(&conflicts);
        add(TroubleKind::Conflicts, text, String::new());
    }
    if found.is_empty() {
        found.push(StepTrouble {
            kind: TroubleKind::None,
            text: en::no_conflict(),
            title: String::new(),
        });
    }
    found
}

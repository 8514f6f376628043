//! Sentences of the preview of a write of several objects.

use optimist_apiserver::apply::LAST_APPLIED;
use optimist_client::Preset;
use optimist_diagnose::preview::{
    AfterRefusal, Assumed, FieldChangeKind, HandOver, HandOverKind, Hook, HookAction, Preview,
    PreviewField, PreviewObject, PreviewOutcome, PreviewRow, Trouble,
};
use optimist_diagnose::ways::InstructionWarning;
use serde_json::Value;

use crate::diagnose::manager_name;
pub use crate::headline::preview_headline;
use crate::{en, ways};

/// Returns the title, and the sentences under it: how the tool ran, and what it does after a refusal.
pub fn headline(preview: &Preview, tool: Preset) -> (String, Vec<String>) {
    let all = preview.concerned();
    let not_run = preview.outcomes.get(&PreviewOutcome::NotRun);
    let says = en::upgrade_says(&ways::client_long(tool));
    let (title, mut says) = match (preview.refusals(), not_run) {
        (0, None) if all == 1 => (en::upgrade_whole_title_one(), vec![says]),
        (0, None) => (en::upgrade_whole_title(&all), vec![says]),
        (0, Some(not_run)) => (en::upgrade_not_run_title(not_run, &all), vec![says]),
        (refused, _) => (
            en::upgrade_refused_title(&refused, &all),
            vec![says, after_refusal(preview)],
        ),
    };
    says.extend(other_namespace(preview));
    (title, says)
}

/// Names the object of a row; with its namespace, where the object of another row has the same kind and name.
pub fn row_name(row: &PreviewRow, preview: &Preview) -> String {
    let object = &row.object;
    let mut others = preview.rows.iter().map(|other| &other.object);
    match others.any(|other| is_namesake(object, other)) {
        true => object.id().to_string(),
        false => format!("{} {}", object.kind, object.name),
    }
}

/// Returns whether two objects differ in their namespaces alone.
fn is_namesake(one: &PreviewObject, other: &PreviewObject) -> bool {
    one.kind == other.kind && one.name == other.name && one.namespace != other.namespace
}

/// Says that an object which nothing writes has the name of one that is written, in another namespace.
fn other_namespace(preview: &Preview) -> Option<String> {
    let is_left = |row: &&PreviewRow| row.outcome == PreviewOutcome::NotTouched;
    let left = preview.rows.iter().filter(is_left);
    let mut pairs = left.filter_map(|left| {
        let mut rows = preview.rows.iter().filter(|row| !is_left(row));
        let written = rows.find(|row| is_namesake(&left.object, &row.object))?;
        Some((left.object.id(), written.object.id()))
    });
    let (left, written) = pairs.next()?;
    Some(en::upgrade_other_namespace(&left, &written))
}

/// Says why a client has no preview of several objects.
pub fn without_preview(client: Preset) -> String {
    en::upgrade_not_by(&ways::client_long(client))
}

/// Says the tool's treatment of the other objects when one is refused.
pub fn after_refusal(preview: &Preview) -> String {
    match preview.after_refusal {
        AfterRefusal::GoesOn => en::upgrade_goes_on(),
        AfterRefusal::DeletesNothing => en::upgrade_deletes_nothing(),
        AfterRefusal::StopsAtCreate => en::upgrade_stops_at_create(),
        AfterRefusal::StopsAfterWave => en::upgrade_stops_after_wave(),
        AfterRefusal::StopsBeforeStage => en::upgrade_stops_before_stage(),
        AfterRefusal::ChecksFirst => en::upgrade_checks_first(),
        AfterRefusal::ReadsAllFirst => en::upgrade_reads_all_first(),
    }
}

/// `3 objects. 409 refused: 1, created: 2`.
pub fn counts(preview: &Preview) -> String {
    let counts = preview.outcomes.iter();
    let counts = counts.map(|(kind, count)| en::upgrade_count(&outcome(*kind), count));
    let counts = counts.collect::<Vec<_>>().join(", ");
    match preview.rows.len() {
        1 => en::upgrade_counts_one(&counts),
        all => en::upgrade_counts(&all, &counts),
    }
}

/// Says the assumptions of the preview about the tool that no input confirms.
pub fn assumptions(preview: &Preview) -> Vec<String> {
    let all = preview.assumed_of_tool().into_iter().map(assumed);
    all.map(|it| en::upgrade_assumed(&it)).collect()
}

/// Says the notes of a row beside its fields: the reason for its refusal, the finalizers that hold the
/// object, and the assumptions that no input confirms.
pub fn notes(row: &PreviewRow) -> Vec<String> {
    let mut all = Vec::new();
    if !row.message.is_empty() && row.outcome != PreviewOutcome::Conflict {
        all.push(row.message.replace('\n', " "));
    }
    let none = row.no_way_out.as_deref();
    all.extend(none.map(|why| en::upgrade_no_way_out(&why.replace('\n', " "))));
    all.extend(later(row));
    all.extend(row.hook.as_ref().map(hook));
    let stuck = row.stuck.iter();
    all.extend(stuck.map(|it| en::upgrade_stuck_version(&it.manager, &it.api_version)));
    if !row.finalizers.is_empty() {
        all.push(en::upgrade_held(&row.finalizers.join(", ")));
    }
    let warnings = row.warnings.iter();
    all.extend(warnings.map(|it| en::upgrade_warning(it)));
    let assumptions = row.assumed.iter().filter(|it| !it.is_of_tool());
    let assumptions = assumptions.map(assumed);
    all.extend(assumptions.map(|it| en::upgrade_assumed(&it)));
    all
}

/// Says what a hook is for, and what the tool does with its object.
pub fn hook(hook: &Hook) -> String {
    let events = hook.events.join(", ");
    let mut says = vec![en::upgrade_hook(&events)];
    says.push(match hook.action {
        HookAction::Recreated => en::upgrade_hook_recreated(),
        HookAction::Created => en::upgrade_hook_created(),
        HookAction::Applied => en::upgrade_hook_applied(),
        HookAction::Named => en::upgrade_hook_named(),
        HookAction::Fails => en::upgrade_hook_fails(),
        HookAction::NotRun => en::upgrade_hook_not_run(),
        HookAction::Left => en::upgrade_hook_left(),
    });
    match (hook.deleted_if_succeeded, hook.deleted_if_failed) {
        (true, true) => says.push(en::upgrade_hook_deleted()),
        (true, false) => says.push(en::upgrade_hook_succeeded()),
        (false, true) => says.push(en::upgrade_hook_failed()),
        (false, false) => {}
    }
    says.join(" ")
}

/// Says what becomes of an object to which the tool does not come, once no other object is refused.
pub fn later(row: &PreviewRow) -> Option<String> {
    Some(match row.later? {
        PreviewOutcome::Deleted => en::upgrade_deleted_later(),
        later => en::upgrade_later(&outcome(later)),
    })
}

/// Says an assumption of a row that no input confirms.
pub fn assumed(assumed: &Assumed) -> String {
    match assumed {
        Assumed::NoManagedFields => en::assumed_no_managers(),
        Assumed::NoLastApplied => en::assumed_no_last_applied(),
        Assumed::NoDefinition => en::assumed_no_definition(),
        Assumed::DefinitionOfManifest => en::assumed_definition(),
        Assumed::UnknownFields { fields } => en::assumed_unknown_fields(&fields.join(", ")),
        Assumed::NamespaceExists { namespace } => en::assumed_namespace_exists(namespace),
        Assumed::Namespace { namespace } => en::assumed_namespace(namespace),
        Assumed::OtherVersion => en::assumed_version(),
        Assumed::PreviousRelease => en::assumed_previous(),
        Assumed::State => en::assumed_state(),
        Assumed::InState => en::assumed_in_state(),
        Assumed::InRelease => en::assumed_in_release(),
        Assumed::ClientSideRelease => en::assumed_client_side(),
        Assumed::ServerSideRelease => en::assumed_server_side_release(),
        Assumed::FirstRelease => en::assumed_first_release(),
        Assumed::DefinitionOfCrds => en::assumed_crds(),
        Assumed::DeletionConfirmed => en::assumed_confirmed(),
        Assumed::VersionFromSource => en::assumed_version_from_source(),
        Assumed::ServerSide => en::assumed_server_side(),
        Assumed::LeftOut => en::assumed_left_out(),
        Assumed::OthersAccepted => en::assumed_others_accepted(),
        Assumed::Tracking => en::assumed_tracking(),
    }
}

/// Names a hand-over, and says what people should know of it.
pub fn hand_over(out: &HandOver) -> (String, String) {
    let name = match out.kind {
        HandOverKind::Leave => en::upgrade_leave(),
        HandOverKind::Migrate => en::upgrade_migrate(),
        HandOverKind::TakeOver if takes_all(out) => en::out_force(),
        HandOverKind::TakeOver => en::upgrade_take_over(),
    };
    let mut note = match (out.settles, out.written_back_by.as_slice()) {
        (true, _) if out.client_side_may_write => en::upgrade_settles_until_apply(),
        (true, _) => en::upgrade_settles(),
        (false, []) => match &out.once_for_version {
            Some(version) => en::upgrade_settles_once(version),
            None => en::upgrade_settles_not(),
        },
        (false, back) => en::upgrade_settles_back(&back.join(", ")),
    };
    if out.tool_has_no_option {
        note = format!("{note} {}", en::upgrade_no_option());
    }
    (name, note)
}

/// Returns whether the command of a hand-over is the tool's own, though that concerns every object: kubectl, which could
/// do it for one object, would remove fields.
fn takes_all(out: &HandOver) -> bool {
    let warnings = out.steps.iter().flat_map(|step| &step.warnings);
    out.tool_has_no_option
        && warnings
            .into_iter()
            .any(|it| matches!(it, InstructionWarning::RemovedByKubectl(_)))
}

/// Names the outcome for an object, in a word or two.
pub fn outcome(outcome: PreviewOutcome) -> String {
    match outcome {
        PreviewOutcome::Conflict => en::upgrade_outcome_conflict(),
        PreviewOutcome::Invalid => en::upgrade_outcome_invalid(),
        PreviewOutcome::Refused => en::upgrade_outcome_refused(),
        PreviewOutcome::NotRun => en::upgrade_outcome_not_run(),
        PreviewOutcome::Deleted => en::upgrade_outcome_deleted(),
        PreviewOutcome::KeptForNow => en::upgrade_outcome_kept(),
        PreviewOutcome::NotReached => en::upgrade_outcome_not_reached(),
        PreviewOutcome::Changed => en::upgrade_outcome_changed(),
        PreviewOutcome::Created => en::upgrade_outcome_created(),
        PreviewOutcome::Unchanged => en::upgrade_outcome_unchanged(),
        PreviewOutcome::Hook => en::upgrade_outcome_hook(),
        PreviewOutcome::NotTouched => en::upgrade_outcome_not_touched(),
    }
}

/// Names a kind of trouble; `None` if the outcome says it already.
pub fn trouble(trouble: Trouble) -> Option<String> {
    match trouble {
        Trouble::Refused | Trouble::Deleted | Trouble::DeletedLater => None,
        Trouble::NotReached => Some(en::upgrade_stopped_before()),
        Trouble::DoneBeforeStop => Some(en::upgrade_stops_then()),
        Trouble::CreatedAgain => Some(en::upgrade_created_again()),
        Trouble::StuckVersions => Some(en::upgrade_stuck()),
        Trouble::Overwritten => Some(en::upgrade_overwritten()),
        Trouble::WrittenBack => Some(en::upgrade_back()),
        Trouble::KeptAlthoughRemoved => Some(en::upgrade_kept()),
        Trouble::NotReverted => Some(en::upgrade_not_reverted()),
        Trouble::CreatedEachTime => Some(en::upgrade_created_each_time()),
        Trouble::NeverRests => Some(en::upgrade_never_rests()),
        Trouble::ChangesNothing => Some(en::upgrade_changes_nothing()),
    }
}

/// `overwrites another manager's value: 2, each write makes a new version: 1`. `None` if no object has a trouble
/// that its outcome does not say.
pub fn trouble_counts(preview: &Preview) -> Option<String> {
    let counts = preview.troubles.iter();
    let counts =
        counts.filter_map(|(kind, count)| Some(en::upgrade_count(&trouble(*kind)?, count)));
    let counts = counts.collect::<Vec<_>>().join(", ");
    (!counts.is_empty()).then_some(counts)
}

/// Names the troubles with an object beside its outcome.
pub fn troubles(row: &PreviewRow) -> Vec<String> {
    let said = |kind: &Trouble| match kind {
        Trouble::WrittenBack => {
            let mut managers: Vec<String> = Vec::new();
            for manager in row.fields.iter().flat_map(|field| &field.written_back_by) {
                let name = manager_name(manager);
                if !managers.contains(&name) {
                    managers.push(name);
                }
            }
            Some(en::upgrade_written_back(&managers.join(", ")))
        }
        kind => trouble(*kind),
    };
    let when = |kind: &Trouble| {
        let says = said(kind)?;
        Some(match row.happens(*kind) {
            true => says,
            false => en::upgrade_trouble_later(&says),
        })
    };
    row.troubles.iter().filter_map(when).collect()
}

/// Returns whether the object gets another value than the manifest says: a number that the field cannot hold.
fn is_stored_otherwise(field: &PreviewField) -> bool {
    let is_one = |value: &Value| !value.is_object() && !value.is_array();
    let both = field.wanted.as_ref().zip(field.after.as_ref());
    both.is_some_and(|(wanted, after)| wanted != after && is_one(wanted) && is_one(after))
}

/// The fields to show in the line of an object: of a refusal those in conflict; of a new object those that get another
/// value than the manifest says.
pub fn fields(row: &PreviewRow) -> Vec<&PreviewField> {
    let fields = row.fields.iter();
    let shown = fields.filter(|field| match (row.intended(), field.change) {
        (outcome, change) if outcome.is_refusal() => change == FieldChangeKind::Refused,
        (PreviewOutcome::Created, _) => is_stored_otherwise(field),
        (_, change) => change < FieldChangeKind::Default,
    });
    let mut shown: Vec<&PreviewField> = shown.collect();
    // It repeats the manifest.
    let repeats = |it: &PreviewField| it.field.ends_with(LAST_APPLIED);
    if !shown.iter().all(|it| repeats(it)) {
        shown.retain(|it| !repeats(it));
    }
    shown
}

/// The fields to show of an open object: those of its line. Of a new object those that the server fills in, and of
/// one that changes only by these, too.
pub fn open_fields(row: &PreviewRow) -> Vec<&PreviewField> {
    let in_line = fields(row);
    let with_defaults = match row.intended() {
        PreviewOutcome::Created => true,
        PreviewOutcome::Changed => in_line.is_empty(),
        _ => false,
    };
    if !with_defaults {
        return in_line;
    }
    let defaults = row.fields.iter();
    let defaults = defaults.filter(|field| field.change == FieldChangeKind::Default);
    in_line.into_iter().chain(defaults).collect()
}

/// Says the change of a field, and its owners.
pub fn owned_change(field: &PreviewField) -> String {
    let owners = match field.owners.as_slice() {
        [] => &field.refused_by,
        _ => &field.owners,
    };
    match owners.as_slice() {
        [] => change(field),
        owners => en::upgrade_owned_by(&change(field), &owners.join(", ")),
    }
}

/// Says the change of a field's value.
pub fn change(field: &PreviewField) -> String {
    let text = |value: &Option<Value>| match value {
        None => en::upgrade_none(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let (before, after) = (text(&field.before), text(&field.after));
    match field.change {
        FieldChangeKind::Refused | FieldChangeKind::NotReverted => {
            en::upgrade_wants(&before, &text(&field.wanted))
        }
        FieldChangeKind::Overwritten | FieldChangeKind::Changed | FieldChangeKind::Added
            if field.after.is_some() =>
        {
            let becomes = en::upgrade_becomes(&before, &after);
            match is_stored_otherwise(field) {
                true => en::upgrade_wants(&becomes, &text(&field.wanted)),
                false => becomes,
            }
        }
        FieldChangeKind::Overwritten
        | FieldChangeKind::Changed
        | FieldChangeKind::Added
        | FieldChangeKind::Removed => en::upgrade_goes(&before),
        FieldChangeKind::KeptAlthoughRemoved | FieldChangeKind::Owners => {
            en::upgrade_stays(&before)
        }
        FieldChangeKind::Default if field.after.is_none() => en::upgrade_chosen(),
        FieldChangeKind::Default => en::upgrade_default(&after),
    }
}

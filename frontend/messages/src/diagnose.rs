//! Diagnose's sentences about the content of a text.

use optimist_apiserver::apply::Manager;
use optimist_client::{shorten, visible};
use optimist_diagnose::case::{NotInstalled, Note, ObjectId};
use optimist_diagnose::input::{NotDetected, TextForm};
use optimist_diagnose::message::{
    ErrorSource, ManagerConflict, ObjectHint, Precondition, PrintedError, ReportedError,
    RequestProblem, ToolProblem,
};
use optimist_diagnose::ownership::{ManagerEntry, ObjectOwnership, OwnedLine, Unowned};
use optimist_diagnose::scene::{MissingPart, NoScene, UnusedManifest};
use optimist_masking::masked_text;
use serde_json::Value;

pub use crate::anonymize::{left_out_of_case, left_out_values, staying};
pub use crate::audit::{
    asked, audited, audited_writes, hot_loop, lost_update, prediction, recorded_conflict, sender,
};
pub use crate::claims::{contradiction, same_name};
use crate::edits::EMPTY;
pub use crate::headline::{headline, headline_by, headline_of};
pub use crate::input::{
    error_advice, error_facts, errors_title, get_command, get_purpose, live_says, names_object,
    versions_says, versions_title,
};
pub use crate::ways::{
    assumption, client_long, column_fate, effect, fate, field_fate, instruction_warning,
    more_fields, next_outcome, next_write, not_settling, out_settles, owners_change, remedy,
    row_answer, row_notes, rows_markdown, way, way_whole,
};
use crate::{en, load_error, request_problem};

/// Says why a real server may give other answers than the table; `None` if a note is no reason.
pub fn ways_notice(note: &Note) -> Option<String> {
    match note {
        Note::Schemaless { kind } => Some(en::ways_no_definition(kind)),
        Note::NoManagedFields => Some(en::ways_no_owners()),
        _ => None,
    }
}

/// Names an error, in a few words.
pub fn error_title(error: &PrintedError) -> String {
    match error {
        PrintedError::Apply(conflicts) => {
            let fields: usize = conflicts.iter().map(|of| of.fields.len()).sum();
            en::error_apply(&fields)
        }
        PrintedError::Modified => en::error_modified(),
        PrintedError::OtherUid { stored, .. } if stored.is_empty() => en::error_gone(),
        PrintedError::OtherUid { .. } => en::error_other_uid(),
        PrintedError::Precondition { of, .. } => match of {
            Precondition::Uid => en::error_precondition_uid(),
            Precondition::ResourceVersion => en::error_precondition_version(),
        },
        PrintedError::VersionMissing => en::error_version_missing(),
        PrintedError::ForceWithoutServerSide => en::error_force(),
        PrintedError::Invalid { field, .. } => en::error_invalid(field),
        PrintedError::Forbidden { .. } => en::error_forbidden(),
        PrintedError::NoRight { verb, of, .. } => en::error_no_right(verb, of),
        PrintedError::NotOfSchema { field, .. } => en::error_schema(field),
        PrintedError::VersionOnCreate => en::error_version_on_create(),
        PrintedError::NotFound => en::error_not_found(),
        PrintedError::NotServed => en::error_not_served(),
        PrintedError::TestFailed { path } => en::error_test(path),
        PrintedError::OtherConflict { .. } => en::error_other_conflict(),
        PrintedError::NotOfRelease => en::error_not_of_release(),
        PrintedError::AlreadyExists { terminating: false } => en::error_already_exists(),
        PrintedError::AlreadyExists { terminating: true } => en::error_terminating(),
        PrintedError::PatchRefused { is_json: true } => en::error_patch(),
        PrintedError::PatchRefused { is_json: false } => en::error_patch_of_manifest(),
        PrintedError::ManagedFieldsSent => en::error_managed_fields(),
        PrintedError::OtherThanExpected { what, .. } => en::error_other_than_expected(what),
        PrintedError::NotOverwritten { key, .. } => en::error_not_overwritten(key),
        PrintedError::Request(problem) => request_problem::title(problem),
        PrintedError::Tool(problem) => request_problem::tool_title(problem),
    }
}

/// The values that an error names; empty if it names none.
pub fn error_values(error: &PrintedError) -> String {
    match error {
        PrintedError::OtherUid { sent, stored, .. } if stored.is_empty() => {
            en::error_value_sent(sent)
        }
        PrintedError::OtherUid { sent, stored, .. }
        | PrintedError::Precondition { sent, stored, .. } => en::error_values(sent, stored),
        PrintedError::OtherThanExpected {
            expected, found, ..
        } => en::error_expected(expected, found),
        PrintedError::Tool(ToolProblem::OtherThanPlanned { planned, found, .. }) => {
            en::error_expected(&masked_text(planned), &masked_text(found))
        }
        PrintedError::NotOverwritten { key, value } => en::error_owned_value(key, value),
        PrintedError::Invalid { problem, .. } | PrintedError::NotOfSchema { problem, .. } => {
            problem.clone()
        }
        PrintedError::NoRight { user, .. } => masked_text(user),
        PrintedError::OtherConflict { reason } | PrintedError::Forbidden { reason } => {
            masked_text(reason)
        }
        PrintedError::Request(
            RequestProblem::DeniedByWebhook { reason, .. } | RequestProblem::Internal { reason },
        ) => masked_text(reason),
        _ => String::new(),
    }
}

/// The object of an error: `Deployment live/web`.
pub fn error_object(object: &ObjectHint) -> String {
    let kind = object.kind.as_ref().or(object.resource.as_ref());
    let name = match (&object.namespace, &object.name) {
        (Some(namespace), Some(name)) => Some(format!("{namespace}/{name}")),
        (_, name) => name.clone(),
    };
    match (kind, name) {
        (Some(kind), Some(name)) => format!("{kind} {name}"),
        (Some(one), None) => one.clone(),
        (None, Some(one)) => one,
        (None, None) => en::error_object_unknown(),
    }
}

/// A tool by its name.
pub fn tool(tool: ErrorSource) -> String {
    match tool {
        ErrorSource::Kubectl => en::tool_kubectl(),
        ErrorSource::Helm => en::tool_helm(),
        ErrorSource::Terraform => en::tool_terraform(),
        ErrorSource::ArgoCd => en::tool_argo_cd(),
        ErrorSource::Flux => en::tool_flux(),
        ErrorSource::Pulumi => en::tool_pulumi(),
        ErrorSource::Ansible => en::tool_ansible(),
        ErrorSource::ControllerRuntime => en::tool_controller_runtime(),
        ErrorSource::KubeControllerManager => en::tool_kube_controller_manager(),
        ErrorSource::TerraformKubectl => en::tool_terraform_kubectl(),
        ErrorSource::KubeRs => en::tool_kube_rs(),
        ErrorSource::Fabric8 => en::tool_fabric8(),
        ErrorSource::Kapp => en::tool_kapp(),
    }
}

/// Names the parts that a message leaves open: `The message does not say the namespace and which
/// tool wrote.` Says also if its namespace is perhaps that of another object. Empty if it has all parts.
pub fn error_missing(error: &ReportedError) -> String {
    // What a tool keeps of its own is about no object.
    if matches!(error.error, PrintedError::Tool(_)) {
        return String::new();
    }
    let object = &error.object;
    let named = object.kind.is_some() || object.resource.is_some();
    let missing = [
        (!named).then(en::error_missing_kind),
        object.name.is_none().then(en::error_missing_name),
        (object.namespace.is_none() && !object.is_cluster_scoped())
            .then(en::error_missing_namespace),
        error.tool.is_none().then(en::error_missing_tool),
    ];
    let missing: Vec<String> = missing.into_iter().flatten().collect();
    let missing = (!missing.is_empty()).then(|| en::error_missing(&names(&missing)));
    let of_run = object.is_namespace_of_run.then(en::error_namespace_of_run);
    let texts: Vec<String> = of_run.into_iter().chain(missing).collect();
    texts.join(" ")
}

/// A manager of an object: `helm`, `kube-controller-manager · /scale`.
pub fn owner(manager: &Manager) -> String {
    with_subresource(&manager.name, &manager.subresource)
}

/// Names a manager beside others. If another one has the same name, its operation follows; if that is the same
/// too, also its version.
pub fn owner_beside<'a>(
    manager: &Manager,
    others: impl IntoIterator<Item = &'a Manager>,
) -> String {
    let name = owner(manager);
    let others = others.into_iter().filter(|it| *it != manager);
    let same: Vec<_> = others.filter(|it| owner(it) == name).collect();
    let operation = manager.operation.name();
    if same.is_empty() {
        name
    } else if same.iter().any(|it| it.operation == manager.operation) {
        en::owners_by_version(&name, &operation, &manager.api_version)
    } else {
        en::owners_by(&name, &operation)
    }
}

/// A manager that a message names.
pub fn conflict_owner(conflict: &ManagerConflict) -> String {
    let subresource = conflict.subresource.as_deref().unwrap_or_default();
    with_subresource(&conflict.manager, subresource)
}

/// The name of a manager. A client that sends neither `fieldManager` nor `User-Agent` has none
/// (`k8s.io/apiserver/pkg/endpoints/handlers/create.go managerOrUserAgent`, v0.36).
pub(crate) fn manager_name(name: &str) -> String {
    match name {
        "" => en::manager_unnamed(),
        name => name.to_owned(),
    }
}

fn with_subresource(name: &str, subresource: &str) -> String {
    let name = manager_name(name);
    if subresource.is_empty() {
        name
    } else {
        format!("{name} · /{subresource}")
    }
}

/// Says the operation of a manager, the time of its entry, and the number of fields that no other
/// manager owns.
pub fn manager_entry(entry: &ManagerEntry) -> String {
    let operation = entry.manager.operation.name();
    let alone = entry.alone.len();
    match entry.since {
        Some(since) => en::owners_entry(&operation, &entry.api_version, &since, &alone),
        None => en::owners_entry_timeless(&operation, &entry.api_version, &alone),
    }
}

/// The manager of an entry, beside the others of the object.
pub fn entry_owner(ownership: &ObjectOwnership, entry: &ManagerEntry) -> String {
    let all = ownership.managers.iter().map(|it| &it.manager);
    owner_beside(&entry.manager, all)
}

/// The owners of a line, in words; empty if nothing is recorded of it.
pub fn line_owners(ownership: &ObjectOwnership, line: &OwnedLine) -> String {
    match line.unowned {
        Some(Unowned::Default) => return en::owners_default(),
        Some(Unowned::NoEntry) => return en::owners_no_owner(),
        Some(Unowned::NeverOwned | Unowned::NotPrinted) => return String::new(),
        None => {}
    }
    let managers = line
        .owners
        .iter()
        .filter_map(|number| ownership.managers.get(*number));
    let all: Vec<String> = managers.map(|it| entry_owner(ownership, it)).collect();
    all.join(", ")
}

/// `Deployment live/web, version 28589`: an object with its version, if that is known.
pub fn owned_object(title: &ObjectId, version: &str) -> String {
    match version {
        "" => title.to_string(),
        version => en::owners_of(title, &version),
    }
}

/// Says what was added to a case, or is not known in it.
pub fn case_note(note: &Note) -> String {
    match note {
        Note::NoManagedFields => en::note_no_managed_fields(),
        Note::WasDeleted => en::note_deleted(),
        Note::SeveralManifests { unused: 0 } => en::note_two_manifests(),
        Note::SeveralManifests { unused } => en::note_several_manifests(&(unused + 2)),
        Note::LeftOut => en::note_left_out(),
        Note::UidMadeUp => en::note_uid(),
        Note::NamespaceMadeUp => en::note_namespace(),
        Note::Schemaless { kind } => en::note_schemaless(kind),
        Note::PluralFormed { plural } => en::note_plural(plural),
        Note::ListsFromOwners => en::note_lists_from_owners(),
        Note::UnknownFields(unknown) => en::note_unknown_fields(&unknown.join(", ")),
    }
}

/// Says why a text is not recognized.
pub fn not_detected(why: &NotDetected) -> String {
    match why {
        NotDetected::Empty => en::unknown_empty(),
        NotDetected::TooLarge { bytes, limit } => {
            en::unknown_large(&megabytes(*bytes), &megabytes(*limit))
        }
        NotDetected::TooMuch(words) | NotDetected::NotText(words) | NotDetected::Content(words) => {
            words.clone()
        }
        NotDetected::Syntax {
            line,
            column: 0,
            message,
        } => en::unknown_syntax_line(line, message),
        NotDetected::Syntax {
            line,
            column,
            message,
        } => en::unknown_syntax(line, column, message),
        // Without any of them it is just some text.
        NotDetected::Missing {
            document: 1,
            fields,
        } if fields.len() > 2 => en::unknown_text(),
        NotDetected::Missing { document, fields } => {
            en::unknown_missing(document, &fields.join(", "))
        }
        NotDetected::WatchEvent(of) => en::unknown_event(of),
        NotDetected::EmptyList => en::unknown_list(),
        NotDetected::AboutObjects {
            document,
            kind,
            object,
        } => en::unknown_about(document, &visible(kind), &object.command()),
        NotDetected::Form { form, line } => text_form(form, line),
        NotDetected::NoKnownMessage => en::unknown_text(),
    }
}

/// Says why a text, or a file, of this form holds no object.
fn text_form(form: &TextForm, line: &usize) -> String {
    match form {
        TextForm::Table(object) => en::unknown_table(line, &object.command()),
        TextForm::Description(object) => en::unknown_description(line, &object.command()),
        TextForm::Diff(object) => en::unknown_diff(line, &object.command()),
        TextForm::NoResources => en::unknown_no_resources(line),
        TextForm::Markup => en::unknown_markup(line),
        TextForm::Template => en::unknown_template(line),
        TextForm::CutJson => en::unknown_cut(line),
        TextForm::QuotationMark(mark) => en::unknown_quotation(line, mark),
        TextForm::ControlCharacter(c) => {
            en::unknown_control(line, &format!("U+{:04X}", u32::from(*c)))
        }
        TextForm::File(format) => en::unknown_file(format),
    }
}

fn megabytes(bytes: usize) -> String {
    format!("{}.{}", bytes / 1_000_000, bytes % 1_000_000 / 100_000)
}

/// Names in a sentence: `helm and web-operator`.
pub fn names(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => en::names_and(&most.join(", "), last),
    }
}

/// Names the value in the place of a part that a message leaves out; empty if there is none.
pub fn assumed(part: &str) -> String {
    if part.is_empty() {
        String::new()
    } else {
        en::scene_assumed(&part)
    }
}

/// The longest value that is written out, in characters.
const MAX_VALUE: usize = 60;

/// The characters before the first difference of two values.
const BEFORE_DIFFERENCE: usize = 12;

/// A value, on one line and not too long.
pub fn written(value: Option<&Value>) -> String {
    match value {
        None => en::happened_absent(),
        Some(value) => visible(&shorten(&value_text(value), MAX_VALUE)).into_owned(),
    }
}

/// The change of a value: `8 → 3`. Of two long values a part is left in which they differ.
pub fn written_change(before: Option<&Value>, after: Option<&Value>) -> String {
    let (mut old, mut new) = (written(before), written(after));
    if let (Some(before), Some(after)) = (before, after)
        && before != after
        && old == new
    {
        let (before, after) = (value_text(before), value_text(after));
        let both = before.chars().zip(after.chars());
        let same = both.take_while(|(old, new)| old == new).count();
        (old, new) = (part_from(&before, same), part_from(&after, same));
    }
    format!("{old} → {new}")
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => EMPTY.to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The part of a text in which a place is.
fn part_from(text: &str, place: usize) -> String {
    let begin = place.saturating_sub(BEFORE_DIFFERENCE);
    let mut rest = text.chars().skip(begin);
    let part: String = rest.by_ref().take(MAX_VALUE).collect();
    let begins = if begin > 0 { "…" } else { "" };
    let ends = if rest.next().is_some() { "…" } else { "" };
    visible(&format!("{begins}{part}{ends}")).into_owned()
}

/// Introduces the table of ways of writing: it is about a scene, or about a manifest on a version.
/// The manifest is made up if only an error message describes it.
pub fn ways_says(scene: bool, made_up: bool, version: &str) -> String {
    match (scene, made_up) {
        (true, _) => en::ways_of_scene(),
        (false, true) => en::ways_of_message(&version),
        (false, false) => en::ways_of(&version),
    }
}

/// Names a part that a message leaves out, and the value in its place.
pub fn missing_part(part: &MissingPart) -> String {
    match part {
        MissingPart::Kind { assumed, .. } => en::scene_kind_assumed(assumed),
        MissingPart::Namespace { assumed } => made_up(&en::scene_namespace(), assumed),
        MissingPart::Name { assumed } => made_up(&en::scene_name(), assumed),
        MissingPart::Manager { assumed } => en::scene_manager(assumed),
        MissingPart::RefusedName { name, reason } => en::scene_refused_name(name, reason),
        MissingPart::RefusedNamespace { namespace, reason } => {
            en::scene_refused_namespace(namespace, reason)
        }
        MissingPart::Values => en::scene_values(),
        MissingPart::ObjectValues => en::scene_object_values(),
    }
}

/// Says which manifests are not the refused write of a message, and why.
pub fn unused_manifests(unused: &[UnusedManifest]) -> Vec<String> {
    let (mut several, mut others, mut says) = (Vec::new(), Vec::new(), Vec::new());
    for manifest in unused {
        match manifest {
            UnusedManifest::OfSeveral(id) => several.push(id.to_string()),
            UnusedManifest::OtherObject(id) => others.push(id),
            UnusedManifest::Earlier(id) => says.push(en::unused_earlier(id)),
            UnusedManifest::WithoutField(id, field) => {
                says.push(en::unused_without_field(id, field))
            }
        }
    }
    match &several[..] {
        [] => {}
        several => says.push(en::unused_of_several(&several.join(", "))),
    }
    match &others[..] {
        [] => {}
        [id] => says.push(en::unused_other_object(id)),
        others => says.push(en::unused_other_objects(&others.len())),
    }
    says
}

fn made_up(name: &str, assumed: &str) -> String {
    format!("{name}: {}", self::assumed(assumed))
}

/// Says why an object is not on a server.
pub fn not_installed(why: &NotInstalled, object: &ObjectId) -> String {
    match why {
        NotInstalled::Refused(error) => en::owners_refused(&load_error(error)),
        NotInstalled::NotServed { api_version, kind } => en::owners_not_served(kind, api_version),
        NotInstalled::NoObject => en::owners_no_live(object),
    }
}

/// Says why no scene can be made of an error message.
pub fn no_scene(why: &NoScene) -> String {
    match why {
        NoScene::NeedsObjects => en::scene_needs_objects(),
        NoScene::OtherPart => en::scene_other_part(),
        NoScene::NotOfObject => en::scene_not_of_object(),
        NoScene::NotOfTheServer => en::scene_not_of_the_server(),
        NoScene::NotInstalled(NotInstalled::Refused(why)) => en::owners_refused(&load_error(why)),
        NoScene::NotInstalled(NotInstalled::NotServed { api_version, kind }) => {
            en::owners_not_served(kind, api_version)
        }
        NoScene::NotInstalled(NotInstalled::NoObject) => en::scene_none(),
        NoScene::BeforeNotFound(message) => en::scene_before_not_found(message),
        NoScene::SaysOtherwise(message) if message.is_empty() => en::scene_accepted(),
        NoScene::SaysOtherwise(message) => en::scene_otherwise(message),
    }
}

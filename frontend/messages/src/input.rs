//! Diagnose's sentences about one input.

use optimist_apiserver::apply::Managers;
use optimist_apiserver::object::Metadata;
use optimist_code::namespace_option;
use optimist_code::quote;
use optimist_diagnose::case::ObjectId;
use optimist_diagnose::input::VersionsEnd;
use optimist_diagnose::message::{
    ErrorSource, ObjectHint, Precondition, PrintedError, ReportedError, ShownPatch,
};
use optimist_diagnose::observed::ObservedVersion;
use serde_json::Value;

use crate::diagnose::{conflict_owner, error_object, error_title, tool};
use crate::{en, request_problem};

/// Describes the managers of a live object in sentences. Also returns whether its `managedFields`
/// cannot be read.
pub fn live_says(object: &Value) -> (Vec<String>, bool) {
    let version = object.resource_version();
    let managers = Managers::read(object);
    match managers.map(|managers| managers.iter().count()) {
        Ok(0) => {
            let says = match version {
                "" => en::card_live_bare(),
                version => en::card_live_unowned(&version),
            };
            (vec![says, en::card_live_ask()], false)
        }
        Ok(count) if version.is_empty() => (vec![en::card_live_unversioned(&count)], false),
        Ok(count) => (vec![en::card_live(&count, &version)], false),
        Err(problem) => (vec![en::happened_managed_fields(&problem)], true),
    }
}

/// The objects that versions are of.
pub fn versions_title(versions: &[ObservedVersion]) -> String {
    let mut names: Vec<String> = Vec::new();
    for version in versions {
        let name = ObjectId::from_object(&version.object).to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let watch = versions.iter().any(|version| version.event.is_some());
    match (&names[..], watch) {
        ([one], true) => en::card_watch(one),
        ([one], false) => en::card_history(one),
        (all, _) => en::card_watch_objects(&all.len()),
    }
}

/// Says the number of versions, with the first and the last one.
fn versions_span(versions: &[ObservedVersion]) -> String {
    let version =
        |at: Option<&ObservedVersion>| at.map_or("", |it| it.object.resource_version()).to_owned();
    en::card_history_versions(
        &versions.len(),
        &version(versions.first()),
        &version(versions.last()),
    )
}

/// Says the number of versions, and what ends them.
pub fn versions_says(versions: &[ObservedVersion], end: &VersionsEnd) -> String {
    let span = versions_span(versions);
    match end {
        VersionsEnd::Whole => span,
        VersionsEnd::Cut => format!("{span}. {}", en::card_cut()),
        VersionsEnd::Error(message) => format!("{span}. {}", en::card_watch_ended(message)),
    }
}

/// Names the error messages of a text; if there is one, by its content.
pub fn errors_title(errors: &[ReportedError]) -> String {
    match errors {
        [one] => error_title(&one.error),
        all => en::card_errors(&all.len()),
    }
}

/// The object of an error, its tool, its fields and managers.
pub fn error_facts(one: &ReportedError) -> String {
    let mut facts = vec![error_object(&one.object)];
    facts.extend(one.tool.map(tool));
    facts.extend(one.address.clone());
    facts.extend(one.manager.as_ref().map(|name| en::error_manager(name)));
    if let PrintedError::Apply(conflicts) = &one.error {
        for conflict in conflicts {
            facts.extend(conflict.fields.iter().cloned());
            facts.push(conflict_owner(conflict));
        }
    }
    facts.join(" · ")
}

/// Advises on an error, if the message alone shows what helps.
pub fn error_advice(one: &ReportedError) -> Option<String> {
    Some(match &one.error {
        PrintedError::Modified if one.object.is_helm_release() => en::advice_helm_release(),
        PrintedError::Modified if one.patch == Some(ShownPatch::WithVersion) => {
            en::advice_version_in_manifest()
        }
        PrintedError::Modified if one.patch == Some(ShownPatch::WithoutVersion) => {
            en::advice_no_version_in_patch()
        }
        PrintedError::Modified if one.tool == Some(ErrorSource::Helm) => en::advice_helm_modified(),
        PrintedError::Modified if one.object.is_quota() => en::advice_quota(),
        PrintedError::Modified if one.object.is_lease() => en::advice_lease(),
        PrintedError::Modified if one.tool.is_some_and(is_controller) => en::advice_routine(),
        PrintedError::OtherUid { stored, .. } if stored.is_empty() => en::advice_gone(),
        PrintedError::OtherUid { .. } => en::advice_other_uid(),
        PrintedError::Precondition { of, .. } => match of {
            Precondition::Uid => en::advice_precondition_uid(),
            Precondition::ResourceVersion => en::advice_precondition_version(),
        },
        PrintedError::VersionMissing => en::advice_version(),
        PrintedError::ManagedFieldsSent => en::advice_managed_fields(),
        PrintedError::AlreadyExists { terminating: false } => en::advice_exists(),
        PrintedError::AlreadyExists { terminating: true } => en::advice_terminating(),
        PrintedError::ForceWithoutServerSide => en::advice_force(),
        PrintedError::NoRight { .. } => en::advice_no_right(),
        PrintedError::NotOfSchema { stored: true, .. } => en::advice_schema_stored(),
        PrintedError::NotOfSchema { problem, .. } if problem.starts_with("field not") => {
            en::advice_schema_field()
        }
        PrintedError::NotOfSchema { problem, .. } if problem.starts_with("duplicate") => {
            en::advice_schema_duplicate()
        }
        PrintedError::VersionOnCreate => en::advice_version_on_create(),
        PrintedError::NotFound => en::advice_not_found(),
        PrintedError::NotServed => en::advice_not_served(),
        PrintedError::PatchRefused { is_json: true } => en::advice_patch(),
        PrintedError::PatchRefused { is_json: false } => en::advice_patch_of_manifest(),
        PrintedError::TestFailed { .. } => en::advice_test(),
        PrintedError::Invalid { problem, .. } if is_immutable(problem) => en::advice_immutable(),
        PrintedError::Request(problem) => request_problem::advice(problem),
        PrintedError::Tool(problem) => request_problem::tool_advice(problem),
        _ => return None,
    })
}

/// Returns whether a server says that no write changes the field: of a StatefulSet it names the fields that can change
/// (`pkg/apis/apps/validation/validation.go ValidateStatefulSetUpdate`, v1.36).
fn is_immutable(problem: &str) -> bool {
    [
        "field is immutable",
        "updates to statefulset spec for fields other than",
    ]
    .iter()
    .any(|words| problem.contains(words))
}

/// Returns whether a tool repeats a refused write by itself.
fn is_controller(tool: ErrorSource) -> bool {
    matches!(
        tool,
        ErrorSource::ControllerRuntime
            | ErrorSource::KubeControllerManager
            | ErrorSource::KubeRs
            | ErrorSource::Fabric8
            | ErrorSource::Flux
    )
}

/// Says what the command of [`get_command`] is for. It prints no object that is gone, or whose creation was
/// refused.
pub fn get_purpose(error: &PrintedError) -> String {
    match error {
        PrintedError::OtherUid { stored, .. } if stored.is_empty() => en::error_get_gone(),
        PrintedError::Forbidden { .. } | PrintedError::NoRight { .. } | PrintedError::NotFound => {
            en::error_get_gone()
        }
        _ => en::error_get(),
    }
}

/// Returns whether [`get_command`] prints the object of one of the messages, so that nobody needs a command with the name
/// left open.
pub fn names_object(errors: &[&ReportedError]) -> bool {
    errors.iter().any(|one| get_command(&one.object).is_some())
}

/// A command that prints the object of a message with its owners; `None` if the message does not
/// name it.
pub fn get_command(object: &ObjectHint) -> Option<String> {
    let resource = object.resource.clone().or_else(|| {
        let group = object.api_version.as_deref().unwrap_or_default();
        let group = group.split_once('/').map(|(group, _)| group);
        let kind = object.kind.as_ref()?;
        Some(match group {
            Some(group) => format!("{kind}.{group}"),
            None => kind.clone(),
        })
    })?;
    // `pods/binding` is written, and not read.
    let resource = resource.split('/').next().unwrap_or_default();
    let name = object.name.as_ref()?;
    let namespace = match object.namespace.as_deref() {
        // Without the option, kubectl looks in the namespace of its context.
        None if !object.is_cluster_scoped() => "NAMESPACE",
        named => named.unwrap_or_default(),
    };
    // kubectl would take such a word for an option, and a terminal would act on it.
    let odd = |word: &str| word.starts_with('-') || word.chars().any(char::is_control);
    if [resource, name, namespace].into_iter().any(odd) {
        return None;
    }
    let (resource, name) = (quote(resource), quote(name));
    let namespace = namespace_option(namespace);
    Some(format!(
        "kubectl get {resource} {name}{namespace} -o yaml --show-managed-fields"
    ))
}

//! What Diagnose says of a thing that was brought.

use optimist_apiserver::apply::Managers;
use optimist_apiserver::object::Metadata;
use optimist_diagnose::case::ObjectId;
use optimist_diagnose::message::{ObjectHint, PrintedError, ReportedError};
use optimist_diagnose::observed::ObservedVersion;
use serde_json::Value;

use crate::diagnose::{conflict_owner, error_object, tool};
use crate::en;

/// What a live object shows of its managers: sentences, and whether its `managedFields` cannot be
/// read.
pub fn live_says(object: &Value) -> (Vec<String>, bool) {
    let version = object.resource_version();
    let managers = Managers::decode(object["metadata"].get("managedFields"));
    match managers.map(|managers| managers.iter().count()) {
        Ok(0) => (
            vec![en::card_live_unowned(&version), en::card_live_ask()],
            false,
        ),
        Ok(count) => (vec![en::card_live(&count, &version)], false),
        Err(problem) => (
            vec![
                en::card_live_unowned(&version),
                en::happened_managed_fields(&problem),
            ],
            true,
        ),
    }
}

/// The objects that versions are of.
pub fn versions_title(versions: &[ObservedVersion]) -> String {
    let mut names: Vec<String> = Vec::new();
    for version in versions {
        let name = ObjectId::of(&version.object).to_string();
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

/// How many versions there are, from which to which.
pub fn versions_span(versions: &[ObservedVersion]) -> String {
    let version =
        |at: Option<&ObservedVersion>| at.map_or("", |it| it.object.resource_version()).to_owned();
    en::card_history_versions(
        &versions.len(),
        &version(versions.first()),
        &version(versions.last()),
    )
}

/// The object of an error, its tool, its fields and managers.
pub fn error_facts(one: &ReportedError) -> String {
    let mut facts = vec![error_object(&one.object)];
    facts.extend(one.tool.map(tool));
    if let PrintedError::Apply(conflicts) = &one.error {
        for conflict in conflicts {
            facts.extend(conflict.fields.iter().cloned());
            facts.push(conflict_owner(conflict));
        }
    }
    facts.join(" · ")
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
    let name = object.name.as_ref()?;
    let namespace = object.namespace.as_ref();
    let namespace = namespace.map(|it| format!(" -n {it}")).unwrap_or_default();
    Some(format!(
        "kubectl get {resource} {name}{namespace} -o yaml --show-managed-fields"
    ))
}

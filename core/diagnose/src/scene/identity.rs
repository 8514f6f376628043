//! The name of a scene's object, and the manager of the refused write.

use optimist_apiserver::object::Metadata;
use optimist_client::Preset;
use serde_json::{Value, json};

use super::{GivenParts, KnownKind, MissingPart};
use crate::message::{ErrorSource, ManagerConflict, PrintedError, ReportedError};

/// The name of an object that a message does not name.
const NAME: &str = "example";

/// The name of a definition that a message does not name.
const DEFINITION: &str = "examples.example.com";

/// The manager of a program whose name is not known, to be filled in.
const UNKNOWN_MANAGER: &str = "MANAGER";

/// Returns the object with the identity that the message gives.
pub(super) fn named(
    error: &ReportedError,
    given: &GivenParts,
    kind: &KnownKind,
    missing: &mut Vec<MissingPart>,
) -> Value {
    let said = |given: &Option<String>, said: &Option<String>| given.clone().or(said.clone());
    let mut object = json!({"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {}});
    let name = said(&given.name, &error.object.name).unwrap_or_else(|| {
        // A definition is named after the resource that it defines.
        let defines = kind.kind == "CustomResourceDefinition";
        let assumed = if defines { DEFINITION } else { NAME };
        let assumed = assumed.to_owned();
        missing.push(MissingPart::Name {
            assumed: assumed.clone(),
        });
        assumed
    });
    object.set_meta("name", name);
    if kind.namespaced {
        let namespace = said(&given.namespace, &error.object.namespace).unwrap_or_else(|| {
            let assumed = "default".to_owned();
            missing.push(MissingPart::Namespace { assumed });
            "default".to_owned()
        });
        object.set_meta("namespace", namespace);
    }
    object
}

/// The manager of the refused write: tools have usual ones.
pub(super) fn manager(
    error: &ReportedError,
    given: &GivenParts,
    missing: &mut Vec<MissingPart>,
) -> String {
    if let Some(manager) = given.manager.as_ref().or(error.manager.as_ref()) {
        return manager.clone();
    }
    let PrintedError::Apply(conflicts) = &error.error else {
        return "client".to_owned();
    };
    let usual = match error.tool.map(ErrorSource::client) {
        // It writes by a name of its own, which is not known.
        Some(None) => UNKNOWN_MANAGER,
        client => client
            .flatten()
            .and_then(Preset::manager)
            .unwrap_or("kubectl"),
    };
    // An applier has no conflict with itself.
    let itself = |it: &ManagerConflict| it.manager == usual && it.api_version.is_none();
    let assumed = if conflicts.iter().any(itself) {
        "another-manager"
    } else {
        usual
    };
    let assumed = assumed.to_owned();
    missing.push(MissingPart::Manager {
        assumed: assumed.clone(),
    });
    assumed
}

/// The manager to write by in other ways than the message's: `None` for that of each tool, where neither a message nor a
/// person says one and the message does not show its tool.
pub(super) fn chosen_manager(
    error: &ReportedError,
    given: &GivenParts,
    manager: &str,
) -> Option<String> {
    let is_said = given.manager.is_some() || error.manager.is_some() || error.tool.is_some();
    let usual = Preset::KubectlApplyServerSide.manager();
    (is_said || usual != Some(manager)).then(|| manager.to_owned())
}

//! The answers that are tried, and the change under each of them.

use optimist_apiserver::apply::{LAST_APPLIED, ManagedFieldsOperation, Path, Set};
use optimist_apiserver::apply::{field_set, to_fields_v1};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::schema::Struct;
use optimist_client::CLIENT_SIDE;
use serde_json::{Value, json};

use super::{CompletedInput, CompletionAnswer};
use crate::case::{Case, Installed, Note};
use crate::message::{ManagerConflict, PrintedError, ReportedError};
use crate::scene::{MissingPart, Scene, parse_field};
use crate::ways::{ChangeContent, ChangeTable, ReleaseMethod, WantedChange, helm_updates, part_of};

/// The most managers that may have written by client-side apply.
const MAX_CLIENT_SIDE: usize = 3;

/// The manager of the fields that were written before owners were recorded
/// (`k8s.io/apimachinery/pkg/util/managedfields/internal/skipnonapplied.go`, v1.36).
const UNTRACKED: &str = "before-first-apply";

/// The fields that an error message names.
pub(super) fn named_fields(error: &ReportedError, root: &Struct) -> Vec<Path> {
    let PrintedError::Apply(conflicts) = &error.error else {
        return Vec::new();
    };
    let fields = conflicts.iter().flat_map(|conflict| &conflict.fields);
    fields
        .filter_map(|field| parse_field(field, Some(root)))
        .collect()
}

/// The answers for an object that is made up from an error message.
pub(super) fn of_scene(scene: &Scene, error: &ReportedError) -> Vec<CompletionAnswer> {
    let PrintedError::Apply(conflicts) = &error.error else {
        return Vec::new();
    };
    let mut answers = vec![
        CompletionAnswer::MoreFields,
        CompletionAnswer::AppliedBefore,
        CompletionAnswer::OtherValues,
    ];
    let updates = |it: &&ManagerConflict| {
        let can_keep_record = !WITHOUT_RECORD.contains(&it.manager.as_str());
        it.api_version.is_some() && it.subresource.is_none() && can_keep_record
    };
    let mut managers: Vec<&str> = Vec::new();
    for conflict in conflicts.iter().filter(updates) {
        if !managers.contains(&conflict.manager.as_str()) {
            managers.push(&conflict.manager);
        }
    }
    // The usual one first. It can own the annotation, and none of the fields.
    managers.sort_by_key(|name| *name != CLIENT_SIDE);
    managers.truncate(MAX_CLIENT_SIDE);
    if !managers.contains(&CLIENT_SIDE) {
        managers.insert(0, CLIENT_SIDE);
    }
    let client_side = managers.into_iter().map(str::to_owned);
    answers.splice(0..0, client_side.map(CompletionAnswer::ClientSideApply));
    let untracked = conflicts.iter().any(|it| it.manager == UNTRACKED);
    answers.extend(untracked.then_some(CompletionAnswer::Untracked));
    let other_kind = scene.missing.iter().find_map(|part| match part {
        MissingPart::Kind { candidates, .. } => candidates.get(1),
        _ => None,
    });
    let other_kind = other_kind.and_then(|name| name.strip_suffix(')')?.split_once(" ("));
    answers.extend(
        other_kind.map(|(kind, api_version)| CompletionAnswer::Kind {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
        }),
    );
    answers
}

/// The default managers of commands of kubectl that do not write the annotation of client-side apply (`AddFieldManagerFlagVar`
/// in `k8s.io/kubectl/pkg/cmd/`, v0.36). `kubectl edit` writes it with `--save-config` alone
/// (`k8s.io/kubectl/pkg/cmd/util/editor/editoptions.go visitAnnotation`), which is not taken to be: its users edit what
/// another command applied. `kubectl replace` renews it, and `kubectl create --save-config` is meant for a later apply.
const WITHOUT_RECORD: [&str; 7] = [
    "kubectl-annotate",
    "kubectl-edit",
    "kubectl-label",
    "kubectl-patch",
    "kubectl-rollout",
    "kubectl-set",
    "kubectl-taint",
];

/// The answers for an object that was printed without its owners.
pub(super) fn of_owners(installed: &Installed) -> Vec<CompletionAnswer> {
    if installed.notes.contains(&Note::NoManagedFields) {
        vec![
            CompletionAnswer::OwnedByApplier,
            CompletionAnswer::OwnedByClientSideApply,
            CompletionAnswer::AppliedBefore,
        ]
    } else {
        Vec::new()
    }
}

/// Returns whether Helm takes over its former entries depends on the last release.
pub(super) fn of_release(installed: &Installed) -> Option<CompletionAnswer> {
    let object = installed.object()?;
    helm_updates(object).then_some(CompletionAnswer::ServerSideRelease)
}

/// The change under an answer; `None` if the server does not say the message then.
pub(super) fn table(
    source: &CompletedInput,
    named: Option<&[Path]>,
    answer: &CompletionAnswer,
) -> Option<ChangeTable> {
    let (installed, change, definitions) = match source {
        CompletedInput::Message(of) => {
            let (error, given) = &**of;
            let scene = Scene::answered(error, given, answer).ok()?;
            return Some(ChangeTable::new(&scene.installed, scene.change?));
        }
        CompletedInput::Input(of) => (&of.0, &of.1, &of.2),
    };
    let change = match answer {
        CompletionAnswer::SmallManifest => smaller(installed, change, named?)?,
        CompletionAnswer::ServerSideRelease => WantedChange {
            last_release: ReleaseMethod::ServerSide,
            ..change.clone()
        },
        CompletionAnswer::OwnedByApplier => {
            let operation = ManagedFieldsOperation::Apply;
            return owned(installed, definitions, change, "another-manager", operation);
        }
        CompletionAnswer::OwnedByClientSideApply => {
            let operation = ManagedFieldsOperation::Update;
            return owned(installed, definitions, change, CLIENT_SIDE, operation);
        }
        _ => return None,
    };
    Some(ChangeTable::new(installed, change))
}

/// The change of an object that this manager wrote before; `None` if the object came with its owners.
pub(super) fn written_by(
    source: &CompletedInput,
    writer: &str,
    operation: ManagedFieldsOperation,
) -> Option<ChangeTable> {
    let CompletedInput::Input(of) = source else {
        return None;
    };
    let (installed, change, definitions) = &**of;
    owned(installed, definitions, change, writer, operation)
}

/// The change of the fields that the message names, and of no others.
fn smaller(installed: &Installed, change: &WantedChange, named: &[Path]) -> Option<WantedChange> {
    let ChangeContent::Manifest(manifest) = &change.content else {
        return None;
    };
    let mut fields = Set::default();
    named.iter().for_each(|path| fields.insert(path));
    let content = ChangeContent::Manifest(part_of(manifest, &fields, installed.resource()));
    (content != change.content).then(|| WantedChange {
        content,
        ..change.clone()
    })
}

/// The same object with an owner, where it was printed without owners.
fn owned(
    installed: &Installed,
    definitions: &[Value],
    change: &WantedChange,
    manager: &str,
    operation: ManagedFieldsOperation,
) -> Option<ChangeTable> {
    let live = installed.object()?;
    let resource = installed.resource();
    let mut object = (**live).clone();
    let mut applied = object.clone();
    if let Some(members) = applied.as_object_mut() {
        members.remove("status");
    }
    applied.metadata_mut().remove("managedFields");
    let mut fields = field_set(&applied, &resource.root);
    let identity = [
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "generation",
        "name",
        "namespace",
    ];
    for field in identity {
        fields.subtract(&Set::of_fields(&[&["metadata", field]]));
    }
    for field in ["apiVersion", "kind"] {
        fields.subtract(&Set::of_fields(&[&[field]]));
    }
    let version = object["apiVersion"].clone();
    let entry = entry(manager, operation, &version, &fields);
    object.set_meta("managedFields", json!([entry]));
    let case = Case {
        definitions: definitions.to_vec(),
        ..Case::about(object)
    };
    let installed = case.install().ok()?;
    Some(ChangeTable::new(&installed, change.clone()))
}

/// An entry of `managedFields`.
pub(crate) fn entry(
    manager: &str,
    operation: ManagedFieldsOperation,
    version: &Value,
    fields: &Set,
) -> Value {
    json!({"manager": manager, "operation": operation.name(), "apiVersion": version,
        "fieldsType": "FieldsV1", "fieldsV1": to_fields_v1(fields),
        "time": "2026-01-01T00:00:00Z"})
}

/// The annotation of client-side apply, as a set of fields.
pub(crate) fn annotation() -> Set {
    Set::of_fields(&[&["metadata", "annotations", LAST_APPLIED]])
}

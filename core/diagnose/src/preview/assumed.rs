//! Assumptions under a row of a preview that no input confirms.

use serde::Serialize;

use crate::case::Note;
use crate::ways::Assumption;

/// An assumption under a row that no input confirms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "what")]
pub enum Assumed {
    /// The object was printed without `managedFields`: its owners are not known.
    NoManagedFields,
    /// The tool compares with the manifest that it applied last, and the object has no annotation with it.
    NoLastApplied,
    /// The input has no definition of the kind: fields are merged without a schema, values are not checked.
    NoDefinition,
    /// The cluster has objects of a kind, and only the manifests have its definition: the cluster is taken to have that
    /// one.
    DefinitionOfManifest,
    /// The release of the server does not know some fields of the object.
    UnknownFields {
        /// In the words of the server's decoder.
        fields: Vec<String>,
    },
    /// The input does not have the namespace. It is taken to exist.
    NamespaceExists {
        /// The namespace.
        namespace: String,
    },
    /// The manifest names no namespace, and nothing else says it.
    Namespace {
        /// The namespace that was taken.
        namespace: String,
    },
    /// The object has a version that another object has too, so it got another one.
    OtherVersion,
    /// The manifests of the last write were not brought. Its fields are taken to be those that the tool owns in
    /// the object; an object that no manifest names belongs to the tool if it says so.
    PreviousRelease,
    /// Terraform wrote the object, and its state was not brought. The object is taken not to be in it.
    State,
    /// Terraform's state was not brought, and the object does not show that Terraform wrote it. The object is taken
    /// to be in the state: Terraform does not write objects that exist already and are not in it.
    InState,
    /// The manifests of the last release were not brought, and the object does not show that Helm wrote it. It is taken
    /// to be in the release: Helm refuses an upgrade that would create an object which exists
    /// (`helm.sh/helm/v4/pkg/action/validate.go existingResourceConflict`, v4.2).
    InRelease,
    /// Helm owns fields by Update: the last release is taken to have been applied in the client.
    ClientSideRelease,
    /// Helm owns fields by Update, and it applied after that: the last release is taken to have been applied
    /// server-side.
    ServerSideRelease,
    /// Nothing shows an earlier release: Helm is taken to install.
    FirstRelease,
    /// Only the manifests have the definition of the kind. Helm is taken to install it from `crds/` before it reads the
    /// manifests: it refuses all of them if the definition is a template.
    DefinitionOfCrds,
    /// Each write makes a new version though it changes nothing. That is read from the source of the API server: no
    /// recording shows it.
    VersionFromSource,
    /// The object asks for a confirmation of its deletion, which is taken to be given.
    DeletionConfirmed,
    /// Helm is taken to apply server-side, as it does with `--server-side=true`.
    ServerSide,
    /// The earlier manifests have the object and the next ones do not, and nobody says whether they are complete: the
    /// next write is taken to leave the object out.
    LeftOut,
    /// The tool deletes the object unless another one is refused. Some could not be run here, and are taken to be accepted.
    OthersAccepted,
    /// The tool adds labels or annotations by which it knows its objects. The input does not show them, so they are not
    /// in the manifest.
    Tracking,
}

impl Assumed {
    /// Returns whether it is about the tool and its last write, and not about one object.
    pub fn is_of_tool(&self) -> bool {
        matches!(
            self,
            Self::PreviousRelease
                | Self::InState
                | Self::ClientSideRelease
                | Self::ServerSideRelease
                | Self::ServerSide
                | Self::Tracking
        )
    }

    /// Returns the meaning of a case's note here; `None` if it has no effect on a write.
    pub(super) fn of_note(note: &Note) -> Option<Self> {
        match note {
            Note::NoManagedFields => Some(Self::NoManagedFields),
            Note::Schemaless { .. } => Some(Self::NoDefinition),
            Note::UnknownFields(fields) => Some(Self::UnknownFields {
                fields: fields.clone(),
            }),
            Note::NamespaceMadeUp => Some(Self::Namespace {
                namespace: "default".to_owned(),
            }),
            Note::WasDeleted
            | Note::SeveralManifests { .. }
            | Note::LeftOut
            | Note::UidMadeUp
            | Note::ListsFromOwners
            | Note::PluralFormed { .. } => None,
        }
    }
}

impl From<Assumption> for Assumed {
    fn from(assumption: Assumption) -> Self {
        match assumption {
            Assumption::PreviousRelease => Self::PreviousRelease,
            Assumption::ServerSide => Self::ServerSide,
            Assumption::InState => Self::InState,
            Assumption::UnknownRelease
            | Assumption::UnknownKustomization
            | Assumption::UnknownApplication => Self::Tracking,
        }
    }
}

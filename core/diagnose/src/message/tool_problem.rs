//! Refusals of the tools themselves, by what they keep of their own: the records of Helm (v4.2, and v3.21), the state and
//! the plan of Terraform (v1.14).

use super::parse::Said;
use super::{ErrorSource, ObjectHint, PrintedError};

/// A reason for which a tool stops by itself. No API server says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolProblem {
    /// The newest record of a release of Helm has a status that begins with `pending-`
    /// (`helm.sh/helm/v4/pkg/action/upgrade.go prepareUpgrade`).
    ReleasePending,
    /// Helm has no revision of the release that it could upgrade (the same function).
    NoDeployedRelease,
    /// Helm has a release of the name that is to be installed (`pkg/action/install.go availableName`).
    ReleaseNameInUse,
    /// Helm has a record of the revision that it begins (`pkg/storage/driver/driver.go ErrReleaseExists`).
    RevisionExists,
    /// Terraform did not get the lock of its state (`internal/command/clistate/state.go`).
    StateLocked,
    /// After a write, the object had another value than in the plan of Terraform
    /// (`internal/terraform/node_resource_abstract_instance.go apply`).
    OtherThanPlanned {
        /// The path of the attribute: `.object.spec.replicas`.
        field: String,
        /// The value in the plan, as it is printed.
        planned: String,
        /// The value after the write.
        found: String,
    },
}

impl ToolProblem {
    /// The tool that says it. The words of Terraform do not say which provider it runs.
    pub(super) fn tool(&self) -> Option<ErrorSource> {
        match self {
            Self::ReleasePending
            | Self::NoDeployedRelease
            | Self::ReleaseNameInUse
            | Self::RevisionExists => Some(ErrorSource::Helm),
            Self::StateLocked | Self::OtherThanPlanned { .. } => None,
        }
    }
}

fn printed(problem: ToolProblem) -> Option<Said> {
    Some((ObjectHint::default(), PrintedError::Tool(problem)))
}

pub(super) fn release_pending(_: &str) -> Option<Said> {
    printed(ToolProblem::ReleasePending)
}

pub(super) fn no_deployed_release(_: &str) -> Option<Said> {
    printed(ToolProblem::NoDeployedRelease)
}

pub(super) fn release_name_in_use(_: &str) -> Option<Said> {
    printed(ToolProblem::ReleaseNameInUse)
}

pub(super) fn revision_exists(_: &str) -> Option<Said> {
    printed(ToolProblem::RevisionExists)
}

pub(super) fn state_locked(_: &str) -> Option<Said> {
    printed(ToolProblem::StateLocked)
}

/// The text in which the value is looked for, in words: the paragraph behind the beginning.
const WORDS: usize = 80;

/// `When applying changes to kubernetes_manifest.web, provider "…" produced an unexpected new value:
/// .object.spec.replicas: was cty.NumberIntVal(3), but now cty.NumberIntVal(5).`, in lines of any length.
pub(super) fn other_than_planned(text: &str) -> Option<Said> {
    let words: Vec<&str> = text.split_whitespace().take(WORDS).collect();
    let text = words.join(" ");
    let at = text.find(" was ")?;
    let field = text[..at].rsplit(' ').next()?.strip_suffix(':')?;
    let (planned, rest) = text[at + " was ".len()..].split_once(", but now ")?;
    let found = match rest.split_once(". ") {
        Some((found, _)) => found,
        None => rest.trim_end_matches('.'),
    };
    if !field.starts_with('.') {
        return None;
    }
    let (planned, found) = (plain(planned), plain(found));
    printed(ToolProblem::OtherThanPlanned {
        field: field.to_owned(),
        planned,
        found,
    })
}

/// A value without the name of its type: `cty.NumberIntVal(3)`, `cty.StringVal("a")`.
fn plain(value: &str) -> String {
    let inside = value.strip_prefix("cty.").and_then(|value| {
        let (_, inside) = value.split_once('(')?;
        inside.strip_suffix(')')
    });
    inside.unwrap_or(value).trim_matches('"').to_owned()
}

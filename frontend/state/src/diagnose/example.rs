//! Cases to try. The Deployment and the watch were recorded on a real server, v1.36.3.

use super::CaseSection;

/// A case to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseExample {
    /// The error message of an Update with an old version.
    Modified,
    /// A watch of a field that two managers set in turn.
    Watch,
    /// A live Deployment, and the manifest of the next release.
    LiveObject,
    /// The objects of a release, and the manifests of the next one.
    Release,
    /// The error message of an upgrade.
    Message,
    /// The requests of two managers that set a field in turn.
    AuditLog,
}

impl CaseExample {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Modified,
        Self::Message,
        Self::Release,
        Self::LiveObject,
        Self::Watch,
        Self::AuditLog,
    ];

    /// The part that answers it, which a narrow window shows first.
    pub(super) fn section(self) -> CaseSection {
        match self {
            Self::Release => CaseSection::Owners,
            _ => CaseSection::Outcome,
        }
    }

    /// Its texts.
    pub(super) fn texts(self) -> &'static [&'static str] {
        match self {
            Self::LiveObject => &[
                include_str!("../../examples/deployment.yaml"),
                include_str!("../../examples/upgrade.yaml"),
            ],
            Self::Release => &[
                include_str!("../../examples/deployment.yaml"),
                include_str!("../../examples/release.yaml"),
                include_str!("../../examples/upgrade.yaml"),
                include_str!("../../examples/next-release.yaml"),
            ],
            Self::Message => &[include_str!("../../examples/conflict.txt")],
            Self::Modified => &[include_str!("../../examples/modified.txt")],
            Self::Watch => &[include_str!("../../examples/fight.json")],
            Self::AuditLog => &[include_str!("../../examples/audit.log")],
        }
    }
}

//! The ways of writing that have a name, whoever writes so.

use super::{OnConflict, Strategy, Write};

/// A way of writing. It sends the resourceVersion that was read only if its description says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WriteMethod {
    /// Update.
    Update,
    /// Update with resourceVersion.
    UpdateVersioned,
    /// Update with resourceVersion; after a conflict, read again and redo the edit
    /// (`k8s.io/client-go/util/retry RetryOnConflict`, v0.36).
    UpdateReadAgain,
    /// Update with resourceVersion; after a conflict, send the same body again.
    UpdateResend,
    /// Merge patch.
    Merge,
    /// Merge patch with resourceVersion.
    MergeVersioned,
    /// Merge patch with resourceVersion; after a conflict, read again and redo the edit.
    MergeReadAgain,
    /// Strategic merge patch.
    Strategic,
    /// Strategic merge patch with resourceVersion.
    StrategicVersioned,
    /// JSON patch.
    Json,
    /// JSON patch that tests each value that it replaces or removes.
    JsonTests,
    /// JSON patch that tests the resourceVersion.
    JsonVersioned,
    /// Server-side apply.
    Apply,
    /// Server-side apply of the fields that the actor owns from the start.
    ApplyOwned,
    /// Server-side apply with force.
    ApplyForced,
    /// Server-side apply with resourceVersion.
    ApplyVersioned,
    /// Each actor as it writes by itself.
    Own,
}

impl WriteMethod {
    /// Those that a comparison of all tries with everybody.
    pub const MATRIX: [Self; 12] = [
        Self::Update,
        Self::UpdateVersioned,
        Self::UpdateReadAgain,
        Self::UpdateResend,
        Self::Merge,
        Self::MergeVersioned,
        Self::Strategic,
        Self::Json,
        Self::JsonTests,
        Self::Apply,
        Self::ApplyOwned,
        Self::ApplyForced,
    ];

    /// More, for one who writes in another way than the others.
    pub const MORE: [Self; 4] = [
        Self::MergeReadAgain,
        Self::StrategicVersioned,
        Self::JsonVersioned,
        Self::ApplyVersioned,
    ];

    /// Returns its name in links, its strategy, and whether it sends the resourceVersion that was
    /// read.
    fn row(self) -> (&'static str, Strategy, bool) {
        use Strategy::{Apply, JsonPatch, MergePatch, StrategicMergePatch, Update};
        match self {
            Self::Update => ("update", Update, false),
            Self::UpdateVersioned => ("update-rv", Update, true),
            Self::UpdateReadAgain => ("update-retry", Update, true),
            Self::UpdateResend => ("update-resend", Update, true),
            Self::Merge => ("merge", MergePatch, false),
            Self::MergeVersioned => ("merge-rv", MergePatch, true),
            Self::MergeReadAgain => ("merge-retry", MergePatch, true),
            Self::Strategic => ("strategic", StrategicMergePatch, false),
            Self::StrategicVersioned => ("strategic-rv", StrategicMergePatch, true),
            Self::Json => ("json", JsonPatch, false),
            Self::JsonTests => ("json-test", JsonPatch, false),
            Self::JsonVersioned => ("json-rv", JsonPatch, true),
            Self::Apply => ("apply", Apply, false),
            Self::ApplyOwned => ("apply-own", Apply, false),
            Self::ApplyForced => ("apply-force", Apply, false),
            Self::ApplyVersioned => ("apply-rv", Apply, true),
            Self::Own => ("own", Update, true),
        }
    }

    /// Returns its name in links, which never changes.
    pub fn slug(self) -> &'static str {
        self.row().0
    }

    /// Returns its write, with its reaction to a conflict: those that try again do so up to `tries`
    /// times in all.
    pub fn write(self, tries: u8) -> Write {
        let (_, strategy, send_resource_version) = self.row();
        Write {
            send_resource_version,
            test_values: self == Self::JsonTests,
            force: self == Self::ApplyForced,
            on_conflict: match self {
                Self::UpdateReadAgain | Self::MergeReadAgain => OnConflict::ReadAgain(tries),
                Self::UpdateResend => OnConflict::Resend(tries),
                _ => OnConflict::GiveUp,
            },
            ..Write::usual(strategy)
        }
    }
}

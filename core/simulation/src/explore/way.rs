//! The ways in which everybody may write: the rows of the matrix.

use super::Ownership;
use optimist_client::{OnConflict, Strategy, Write};

/// A way of writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// What links call it: it never changes.
    pub slug: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// How it is sent, and what comes after a conflict.
    pub write: Write,
    /// Who is to own what the actor changes.
    pub ownership: Ownership,
}

impl Way {
    /// A strategy as the usual client sends it, but for the version, which only goes along where
    /// it is said.
    fn by(slug: &'static str, name: &'static str, strategy: Strategy) -> Self {
        let write = Write {
            send_resource_version: false,
            ..Write::usual(strategy)
        };
        Self {
            slug,
            name,
            write,
            ownership: Ownership::AsStored,
        }
    }

    fn versioned(mut self) -> Self {
        self.write.send_resource_version = true;
        self
    }

    fn then(mut self, on_conflict: OnConflict) -> Self {
        self.write.on_conflict = on_conflict;
        self.versioned()
    }

    /// All that the matrix compares; those that try again do so up to `tries` times in all.
    pub fn all(tries: u8) -> Vec<Way> {
        use Strategy::{Apply, JsonPatch, MergePatch, StrategicMergePatch, Update};
        let mut tests = Way::by("json-test", "JSON patch that tests old values", JsonPatch);
        tests.write.test_values = true;
        let mut own = Way::by("apply-own", "Apply, fields of their own", Apply);
        own.ownership = Ownership::Its;
        let mut force = Way::by("apply-force", "Apply with force", Apply);
        force.write.force = true;
        vec![
            Way::by("update", "Update, no resourceVersion", Update),
            Way::by("update-rv", "Update with resourceVersion", Update).versioned(),
            Way::by("update-retry", "… + RetryOnConflict", Update)
                .then(OnConflict::ReadAgain(tries)),
            Way::by("update-resend", "… + resend the same body", Update)
                .then(OnConflict::Resend(tries)),
            Way::by("merge", "Merge patch", MergePatch),
            Way::by("merge-rv", "Merge patch with resourceVersion", MergePatch).versioned(),
            Way::by("strategic", "Strategic merge patch", StrategicMergePatch),
            Way::by("json", "JSON patch", JsonPatch),
            tests,
            Way::by("apply", "Apply, fields of the creator", Apply),
            own,
            force,
        ]
    }

    /// More ways, for one who writes in another way than the others.
    pub fn more(tries: u8) -> Vec<Way> {
        use Strategy::{Apply, JsonPatch, MergePatch, StrategicMergePatch};
        let again = OnConflict::ReadAgain(tries);
        vec![
            Way::by(
                "merge-retry",
                "Merge patch with resourceVersion + RetryOnConflict",
                MergePatch,
            )
            .then(again),
            Way::by(
                "strategic-rv",
                "Strategic merge patch with resourceVersion",
                StrategicMergePatch,
            )
            .versioned(),
            Way::by(
                "json-rv",
                "JSON patch that tests resourceVersion",
                JsonPatch,
            )
            .versioned(),
            Way::by("apply-rv", "Apply with resourceVersion", Apply).versioned(),
        ]
    }
}

//! The ways in which everybody may write: the rows of the matrix.

use super::Ownership;
use optimist_client::{OnConflict, Strategy, Write};

/// A way of writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteMethod {
    /// What links call it: it never changes.
    pub slug: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// How it is sent, and what comes after a conflict.
    pub write: Write,
    /// Who is to own what the actor changes.
    pub ownership: Ownership,
}

impl WriteMethod {
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
    pub fn all(tries: u8) -> Vec<WriteMethod> {
        use Strategy::{Apply, JsonPatch, MergePatch, StrategicMergePatch, Update};
        let mut tests = WriteMethod::by("json-test", "JSON patch that tests old values", JsonPatch);
        tests.write.test_values = true;
        let mut own = WriteMethod::by("apply-own", "Apply, fields of their own", Apply);
        own.ownership = Ownership::Its;
        let mut force = WriteMethod::by("apply-force", "Apply with force", Apply);
        force.write.force = true;
        vec![
            WriteMethod::by("update", "Update, no resourceVersion", Update),
            WriteMethod::by("update-rv", "Update with resourceVersion", Update).versioned(),
            WriteMethod::by("update-retry", "… + RetryOnConflict", Update)
                .then(OnConflict::ReadAgain(tries)),
            WriteMethod::by("update-resend", "… + resend the same body", Update)
                .then(OnConflict::Resend(tries)),
            WriteMethod::by("merge", "Merge patch", MergePatch),
            WriteMethod::by("merge-rv", "Merge patch with resourceVersion", MergePatch).versioned(),
            WriteMethod::by("strategic", "Strategic merge patch", StrategicMergePatch),
            WriteMethod::by("json", "JSON patch", JsonPatch),
            tests,
            WriteMethod::by("apply", "Apply, fields of the creator", Apply),
            own,
            force,
        ]
    }

    /// More ways, for one who writes in another way than the others.
    pub fn more(tries: u8) -> Vec<WriteMethod> {
        use Strategy::{Apply, JsonPatch, MergePatch, StrategicMergePatch};
        let again = OnConflict::ReadAgain(tries);
        vec![
            WriteMethod::by(
                "merge-retry",
                "Merge patch with resourceVersion + RetryOnConflict",
                MergePatch,
            )
            .then(again),
            WriteMethod::by(
                "strategic-rv",
                "Strategic merge patch with resourceVersion",
                StrategicMergePatch,
            )
            .versioned(),
            WriteMethod::by(
                "json-rv",
                "JSON patch that tests resourceVersion",
                JsonPatch,
            )
            .versioned(),
            WriteMethod::by("apply-rv", "Apply with resourceVersion", Apply).versioned(),
        ]
    }
}

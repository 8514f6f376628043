//! The ways in which everybody may write: the rows of the matrix.

use super::Ownership;
use crate::client::{OnConflict, Strategy, Write};

/// A way of writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
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
    fn by(name: &'static str, strategy: Strategy) -> Self {
        let write = Write {
            send_resource_version: false,
            ..Write::usual(strategy)
        };
        Self {
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
        let mut tests = Way::by("JSON patch that tests old values", JsonPatch);
        tests.write.test_values = true;
        let mut own = Way::by("Apply, fields of their own", Apply);
        own.ownership = Ownership::Its;
        let mut force = Way::by("Apply with force", Apply);
        force.write.force = true;
        vec![
            Way::by("Update, no resourceVersion", Update),
            Way::by("Update with resourceVersion", Update).versioned(),
            Way::by("… + RetryOnConflict", Update).then(OnConflict::ReadAgain(tries)),
            Way::by("… + resend the same body", Update).then(OnConflict::Resend(tries)),
            Way::by("Merge patch", MergePatch),
            Way::by("Merge patch with resourceVersion", MergePatch).versioned(),
            Way::by("Strategic merge patch", StrategicMergePatch),
            Way::by("JSON patch", JsonPatch),
            tests,
            Way::by("Apply, fields of the creator", Apply),
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
                "Merge patch with resourceVersion + RetryOnConflict",
                MergePatch,
            )
            .then(again),
            Way::by(
                "Strategic merge patch with resourceVersion",
                StrategicMergePatch,
            )
            .versioned(),
            Way::by("JSON patch that tests resourceVersion", JsonPatch).versioned(),
            Way::by("Apply with resourceVersion", Apply).versioned(),
        ]
    }
}

//! The ways in which everybody may write: the rows of the matrix.

use optimist_client::{OnConflict, Strategy, Write};

/// A way of writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteMethod {
    /// What links call it, and the key of its messages: it never changes.
    pub slug: &'static str,
    /// How it is sent, and what comes after a conflict.
    pub write: Write,
    /// Whether the actor owns what it changes from the start.
    pub owns: bool,
    /// Whether each actor writes as [`Plan::own`](super::Plan::own) says instead, if it says
    /// something.
    pub is_own: bool,
}

impl WriteMethod {
    /// A strategy as the usual client sends it, but for the version, which only goes along where
    /// it is said.
    fn by(slug: &'static str, strategy: Strategy) -> Self {
        let write = Write {
            send_resource_version: false,
            ..Write::usual(strategy)
        };
        Self {
            slug,
            write,
            owns: false,
            is_own: false,
        }
    }

    /// Each actor as it writes by itself.
    pub fn own() -> Self {
        Self {
            is_own: true,
            ..Self::by("own", Strategy::Update).versioned()
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
        let mut tests = WriteMethod::by("json-test", JsonPatch);
        tests.write.test_values = true;
        let mut own = WriteMethod::by("apply-own", Apply);
        own.owns = true;
        let mut force = WriteMethod::by("apply-force", Apply);
        force.write.force = true;
        vec![
            WriteMethod::by("update", Update),
            WriteMethod::by("update-rv", Update).versioned(),
            WriteMethod::by("update-retry", Update).then(OnConflict::ReadAgain(tries)),
            WriteMethod::by("update-resend", Update).then(OnConflict::Resend(tries)),
            WriteMethod::by("merge", MergePatch),
            WriteMethod::by("merge-rv", MergePatch).versioned(),
            WriteMethod::by("strategic", StrategicMergePatch),
            WriteMethod::by("json", JsonPatch),
            tests,
            WriteMethod::by("apply", Apply),
            own,
            force,
        ]
    }

    /// More ways, for one who writes in another way than the others.
    pub fn more(tries: u8) -> Vec<WriteMethod> {
        use Strategy::{Apply, JsonPatch, MergePatch, StrategicMergePatch};
        let again = OnConflict::ReadAgain(tries);
        vec![
            WriteMethod::by("merge-retry", MergePatch).then(again),
            WriteMethod::by("strategic-rv", StrategicMergePatch).versioned(),
            WriteMethod::by("json-rv", JsonPatch).versioned(),
            WriteMethod::by("apply-rv", Apply).versioned(),
        ]
    }
}

//! The user who sends the requests: this server authenticates nobody, and takes every client for an
//! administrator, as the recorded server knows its one.

/// The user's name, and its uid.
pub(super) const NAME: &str = "admin";
/// The user's groups.
pub(super) const GROUPS: [&str; 2] = ["system:masters", "system:authenticated"];

//! An edit that was lost.

use std::fmt;
use std::sync::Arc;

use optimist_ledger::Edit;

/// An accepted edit that another client's write took away without having been shown it.
///
/// ```
/// use optimist_testing::TestServer;
/// use serde_json::{Value, json};
///
/// let server = TestServer::default();
/// let (alice, bob) = (server.client("alice"), server.client("bob"));
/// let (path, map) = ("/api/v1/namespaces/default/configmaps/a", json!({"metadata": {"name": "a"}}));
/// alice.send("POST", "/api/v1/namespaces/default/configmaps", &map);
/// alice.send("PATCH", path, &json!({"data": {"k": "1"}}));
/// // Bob has not read what he replaces.
/// bob.send("PUT", path, &map);
/// let lost = &server.lost_updates()[0];
/// assert_eq!((&*lost.owner, &*lost.culprit), ("alice", "bob"));
/// ```
#[derive(Clone, Debug)]
pub struct LostUpdate {
    /// The author of the edit.
    pub owner: String,
    /// The edit, with the value that was lost.
    pub edit: Arc<Edit>,
    /// The author of the write that took it away.
    pub culprit: String,
}

impl fmt::Display for LostUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = match self.edit.path.to_string() {
            whole if whole.is_empty() => "the object".to_owned(),
            path => path,
        };
        let Self { owner, culprit, .. } = self;
        write!(f, "{culprit} took away {path}, which {owner} had written")
    }
}

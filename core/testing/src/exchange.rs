//! The log of requests.

use std::fmt;

use http::{Method, Request, StatusCode, header};
use optimist_apiserver::environment::MicroTime;
use optimist_apiserver::server::{ApiServer, AuditEntry, AuditId, Fact};
use optimist_apiserver::storage::Revision;
use optimist_client::Lost;
use serde_json::Value;

/// A request with its answer.
///
/// ```
/// use optimist_testing::TestServer;
/// use serde_json::json;
///
/// let server = TestServer::default();
/// let map = json!({"metadata": {"name": "a"}});
/// server.client("c").send("POST", "/api/v1/namespaces/default/configmaps", &map);
/// let request = &server.requests()[0];
/// assert_eq!((&request.sent, request.code), (&map, 201));
/// assert!(request.received["metadata"]["uid"].is_string());
/// assert!(request.to_string().contains("POST   /api/v1/namespaces/default/configmaps -> 201"));
/// ```
#[derive(Clone, Debug)]
pub struct LoggedRequest {
    /// The name of the client.
    pub client: String,
    /// The method.
    pub method: Method,
    /// Path and query.
    pub target: String,
    /// The media type of the body; empty if it has none.
    pub content_type: String,
    /// The User-Agent; empty if the request has none.
    pub agent: String,
    /// The body that was sent: JSON, or the text of one that is no JSON; `Null` if there was none.
    pub sent: Value,
    /// The time at which the server saw it.
    pub time: MicroTime,
    /// The status code of the answer, also of one that was lost; 0 if the request was lost.
    pub code: u16,
    /// The body of the answer, also of one that was lost: JSON, or the text of one that is no JSON. `Null` for a
    /// watch that streams, and if nothing answered.
    pub received: Value,
    /// The facts that explain the answer.
    pub facts: Vec<Fact>,
    /// The newest version of the store before the request, and after it.
    pub revisions: (Revision, Revision),
    /// `true` if a [`Rule`](crate::Rule) answered, and the server did not see it.
    pub by_rule: bool,
    /// The part of it that was lost on the way. Its client got an error of the connection.
    pub lost: Option<Lost>,
}

impl LoggedRequest {
    /// Returns whether it is a write that was accepted and changed nothing.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    /// use serde_json::json;
    ///
    /// let server = TestServer::default();
    /// let client = server.client("c");
    /// client.send("PATCH", "/api/v1/namespaces/default", &json!({"metadata": {}}));
    /// assert!(server.requests()[0].is_write_without_change());
    /// ```
    pub fn is_write_without_change(&self) -> bool {
        let unchanged = |fact: &Fact| matches!(fact, Fact::Unchanged(_));
        (200..300).contains(&self.code) && self.facts.iter().any(unchanged) && !self.is_dry_run()
    }

    /// Returns whether it is a dry run.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    /// use serde_json::json;
    ///
    /// let server = TestServer::default();
    /// let map = json!({"metadata": {"name": "a"}});
    /// server.client("c").send("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", &map);
    /// assert!(server.requests()[0].is_dry_run());
    /// ```
    pub fn is_dry_run(&self) -> bool {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let mut options = query.split('&');
        // A dry run that would change nothing has no fact of its own.
        options.any(|option| option == "dryRun=All") || self.facts.contains(&Fact::DryRun)
    }

    /// The event that the audit log of the server has of it; `None` if the server did not see it.
    pub(crate) fn audit_event(&self, server: &ApiServer, number: u64) -> Option<Value> {
        if self.by_rule || self.lost == Some(Lost::Request) {
            return None;
        }
        let agent = match &*self.agent {
            "" => &self.client,
            agent => agent,
        };
        let request = Request::builder()
            .method(&self.method)
            .uri(&self.target)
            .header(header::USER_AGENT, agent)
            .body(bytes(&self.sent));
        let entry = AuditEntry::new(server, &request.ok()?, AuditId { run: 0, number });
        let code = StatusCode::from_u16(self.code).ok()?;
        if entry.is_watch() && code.is_success() {
            return Some(entry.streams(self.time, self.time));
        }
        let received = bytes(&self.received);
        Some(entry.answered(code, &received, self.time, self.time))
    }
}

/// Writes a body as it was on the wire.
fn bytes(body: &Value) -> Vec<u8> {
    match body {
        Value::Null => Vec::new(),
        Value::String(text) => text.clone().into_bytes(),
        json => json.to_string().into_bytes(),
    }
}

impl fmt::Display for LoggedRequest {
    /// Writes a line: the sender, the request and its result.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            client,
            method,
            target,
            code,
            ..
        } = self;
        write!(f, "{client:12} {:6} {target} -> ", method.as_str())?;
        match self.lost {
            Some(Lost::Request) => return f.write_str("(the request was lost)"),
            Some(Lost::Answer) => write!(f, "{code} (the answer was lost)")?,
            None => write!(f, "{code}")?,
        }
        let (before, after) = self.revisions;
        if after > before {
            write!(f, " ({before} -> {after})")?;
        }
        if self.is_write_without_change() {
            f.write_str(" (changed nothing)")?;
        }
        if self.by_rule {
            f.write_str(" (by a rule)")?;
        } else if *code >= 400 {
            let message = self.received["message"].as_str().unwrap_or_default();
            write!(f, " {message}")?;
        }
        Ok(())
    }
}

//! The log of requests.

use std::fmt;

use http::Method;
use optimist_apiserver::server::Fact;
use optimist_apiserver::storage::Revision;
use serde_json::Value;

/// A request with its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The name of the client.
    pub client: String,
    /// The method.
    pub method: Method,
    /// Path and query.
    pub target: String,
    /// The body that was sent; `Null` if it is no JSON.
    pub sent: Value,
    /// The status code of the answer.
    pub code: u16,
    /// The body of the answer; `Null` for a watch.
    pub received: Value,
    /// Why it was answered so.
    pub facts: Vec<Fact>,
    /// The newest version of the store before the request, and after it.
    pub revisions: (Revision, Revision),
    /// Whether a [`Rule`](crate::Rule) answered, and the server did not see it.
    pub by_rule: bool,
}

impl Exchange {
    /// Whether it is a write that was accepted and changed nothing.
    pub fn is_write_without_change(&self) -> bool {
        let unchanged = |fact: &Fact| matches!(fact, Fact::Unchanged(_));
        self.code < 300 && self.facts.iter().any(unchanged) && !self.is_dry_run()
    }

    /// Whether it only asked what would happen.
    pub fn is_dry_run(&self) -> bool {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let mut options = query.split('&');
        // A dry run that would change nothing has no fact of its own.
        options.any(|option| option == "dryRun=All") || self.facts.contains(&Fact::DryRun)
    }
}

impl fmt::Display for Exchange {
    /// A line: who, what, and what became of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            client,
            method,
            target,
            code,
            ..
        } = self;
        write!(f, "{client:12} {method:6} {target} -> {code}")?;
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

//! The same run once more.

use std::sync::Arc;
use std::time::Duration;

use optimist_apiserver::server::ApiServer;
use optimist_client::Tool;
use optimist_simulation::Exchange;
use serde_json::Value;

use super::instructions::applies;
use super::row::Script;
use super::{ChangeTable, OnOwned, RunningClient, Way, read, version_of};

/// The time between two runs: `managedFields` have whole seconds.
const LATER: Duration = Duration::from_secs(1);

/// The result of the same run once more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondRun {
    /// The status code; `None` if nothing was sent.
    pub code: Option<u16>,
    /// `true` if it made a new version.
    pub changes: bool,
    /// `true` if it made a new version, and a third run makes another one. An apply of an object without owners changes
    /// them once more (`k8s.io/apimachinery/pkg/util/managedfields/internal/skipnonapplied.go Apply`, v0.36).
    pub never_rests: bool,
}

impl SecondRun {
    /// Runs a procedure on what a first run left. Of the object only its version is read.
    pub(super) fn run(
        table: &ChangeTable,
        after: &Arc<Value>,
        server: &mut ApiServer,
        procedure: Script<'_>,
    ) -> Self {
        let (code, changes) = Self::once(table, after, server, procedure);
        let never_rests = changes && {
            let second = super::row::after(table, server, &[]);
            Self::once(table, &second, server, procedure).1
        };
        Self {
            code,
            changes,
            never_rests,
        }
    }

    /// Returns the status code of a run, if it sends something, and whether it makes a new version.
    fn once(
        table: &ChangeTable,
        before: &Arc<Value>,
        server: &mut ApiServer,
        procedure: Script<'_>,
    ) -> (Option<u16>, bool) {
        server.environment_mut().advance(LATER);
        let mut client = RunningClient::new(table, Arc::clone(before), server).without_exchanges();
        if procedure(&mut client).is_none() {
            return (None, false);
        }
        let code = client.last_code;
        let stored = server.store().get(table.subject().key());
        let version = stored.map(|(version, _)| version.to_string());
        (code, version.unwrap_or_default() != version_of(before))
    }
}

/// Applies the manifest once more that was accepted: the fields in conflict are taken out of it for good.
pub(super) fn apply_again(
    requests: &[Exchange],
    way: Way,
    client: &mut RunningClient<'_>,
) -> Option<()> {
    let Way::Client(preset, _) = way else {
        return None;
    };
    let mut applied = requests.iter().rev();
    let applied = applied.find(|it| applies(it))?;
    let plan = client.plan(Way::Client(preset, OnOwned::Usual));
    let live = read(client.server, client.subject);
    let manifest = Value::clone(&applied.sent);
    client.process(Tool::with_fields(
        plan,
        live,
        manifest,
        &applied.field_manager(),
    ));
    Some(())
}

//! A recorded request on the core, to step through.

use form_urlencoded::byte_serialize;
use optimist_simulation::{Action, ActorId, ByHand, Exchange, HistoryTree, Operation};

use super::{CoreAnswer, RecordedHistory, RecordedStep};
use crate::audit::AuditLog;
use crate::case::Case;

impl CoreAnswer {
    /// The request that the core ran and its answer; `None` if the core was not run.
    pub fn exchange(&self) -> Option<&Exchange> {
        match self {
            Self::Same { exchange, .. } | Self::Other { exchange, .. } => Some(exchange),
            Self::NotRun(_) => None,
        }
    }
}

impl RecordedStep {
    /// The request that the core ran and its answer; `None` if the core was not run.
    pub fn exchange(&self) -> Option<&Exchange> {
        self.prediction.exchange()
    }
}

impl RecordedHistory {
    /// The world before a request of the log, with the request as the next step. `None` if the core
    /// did not run the request, if there was no object, if it is a request to the collection, or if
    /// the request would get another answer there.
    pub fn in_play(&self, at: usize, log: &AuditLog) -> Option<HistoryTree> {
        let step = self.steps.get(at)?;
        let event = log.events.get(step.event)?;
        let exchange = step.exchange()?;
        let before = step.before.as_deref()?;
        if event.object.name.is_empty() && event.verb != "create" {
            return None;
        }
        let installed = Case::about(before.clone()).install().ok()?;
        let mut tree = HistoryTree::new(installed.world);
        let mut request = ByHand::from(exchange);
        let names_manager = matches!(event.verb.as_str(), "create" | "update" | "patch");
        if names_manager && event.query("fieldManager").is_none() {
            // The recorded request had its manager from its User-Agent.
            let sign = if request.target.contains('?') {
                '&'
            } else {
                '?'
            };
            let manager: String = byte_serialize(event.manager().as_bytes()).collect();
            request.target = format!("{}{sign}fieldManager={manager}", request.target);
        }
        let node = tree.act(Operation::Act(ActorId::A, Action::Request(request)))?;
        let again = tree.step(node)?.exchange.as_ref()?;
        let same = again.code == exchange.code
            && again.received.get("message") == exchange.received.get("message")
            && again.received.get("spec") == exchange.received.get("spec");
        if !same {
            return None;
        }
        tree.back();
        Some(tree)
    }
}

//! Notes the steps of a controller in the ledger.

use std::sync::Arc;

use serde_json::Value;

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::patch::merge;
use optimist_apiserver::server::ApiServer;
use optimist_apiserver::storage::Revision;
use optimist_client::{Call, Edit, Lost, Patch, RequestKind};
use optimist_ledger::{Answered, Done, Intention, Ledger};

use crate::controller::Controller;
use crate::program::Variable;
use crate::queue::ReconcileResult;
use crate::report::WorkerReport;

impl Controller {
    /// Tells a ledger the objects that a step of the worker was shown and its write, by the step's
    /// report and the answer to its request. Returns the effect on the edits of others. `since` is
    /// the version of the store before the step, and `lost` is the message of its request that the
    /// network lost.
    pub fn record_step<Id: Copy + PartialEq>(
        &self,
        ledger: &mut Ledger<Id>,
        who: Id,
        (report, answered): (&WorkerReport, Option<Answered<'_>>),
        (server, since): (&ApiServer, Revision),
        lost: Option<Lost>,
    ) -> Done<Id> {
        let mut done = Done::default();
        match (answered, report.call()) {
            (Some(answered), Some(call)) if !call.is_read() => {
                let meant = meant(call, server);
                let intention = Intention {
                    edits: meant.as_deref(),
                    ..Intention::default()
                };
                done = match lost {
                    None => ledger.request(who, answered, intention, server, since),
                    Some(_) => ledger.unanswered(who, answered, intention, server, since),
                };
            }
            (Some(answered), _) => ledger.record_read(who, answered, server),
            (None, Some(_)) => {}
            (None, None) => {
                for object in self.read_by(report) {
                    ledger.cached_read(who, object, server);
                }
            }
        }
        if let WorkerReport::Finished { result, .. } = report
            && !matches!(
                result,
                ReconcileResult::Error | ReconcileResult::TerminalError
            )
        {
            // Nothing is left of what it was refused: it looked at the objects.
            ledger.is_content(who);
        }
        done
    }

    /// The objects that a step of the worker has read, from its cache or from the server.
    pub fn read_by(&self, report: &WorkerReport) -> &[Arc<Value>] {
        let WorkerReport::Performed { statements, .. } = report else {
            return &[];
        };
        let into = statements
            .first()
            .and_then(|it| self.code().reads_into(*it));
        let variable = into.and_then(|into| {
            let mut variables = self.run()?.variables();
            Some(variables.find(|(name, _)| *name == into)?.1)
        });
        match variable {
            Some(Variable::Object { object, .. }) => std::slice::from_ref(object),
            Some(Variable::List { objects, .. }) => objects,
            None => &[],
        }
    }
}

/// Returns the object from which a write was made, and the object as it should be. For an update,
/// the first is the stored object at the update's version. `None` for another request, and for an
/// update without a version.
pub fn change_of(call: &Call, server: &ApiServer) -> Option<[Arc<Value>; 2]> {
    match call {
        Call::Update { object, .. } => {
            let version: Revision = object.resource_version().parse().ok()?;
            let mut log = server.store().log_after(version.checked_sub(1)?);
            let change = log.next().filter(|change| change.revision == version)?;
            Some([change.after.clone()?, Arc::clone(object)])
        }
        Call::Patch {
            base,
            patch: Patch::Merge(patch),
            ..
        } => {
            let mut object = Value::clone(base);
            merge(&mut object, patch);
            Some([Arc::clone(base), Arc::new(object)])
        }
        _ => None,
    }
}

/// The edits that a write means to make. `None` if it means whatever it changes, as an update without
/// a version does.
pub(crate) fn meant(call: &Call, server: &ApiServer) -> Option<Vec<Arc<Edit>>> {
    if call.kind() == RequestKind::Delete {
        return Some(vec![Edit::deletion()]);
    }
    let [base, object] = change_of(call, server)?;
    let (api_version, kind) = (text(&object, "apiVersion"), text(&object, "kind"));
    let resource = server.resources().by_kind(api_version, kind)?;
    Some(Edit::between(&base, &object, &resource.root))
}

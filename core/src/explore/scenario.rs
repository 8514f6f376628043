//! Where it begins, who takes part, and what each one means to do.

use std::sync::Arc;

use http::{Request, header};
use serde_json::{Value, json};

use super::Intent;
use crate::apply::{Manager, Managers, Operation, Owned, Set};
use crate::client::{WorkingCopy, Write, get_request};
use crate::object::Metadata;
use crate::server::{ApiServer, Resource};
use crate::sim::verdict::Edit;

/// A starting object and two or three actors.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The server as it is before the first step.
    pub server: ApiServer,
    /// The kind of the object.
    pub resource: Arc<Resource>,
    /// The object as it is stored before the first step.
    pub object: Arc<Value>,
    /// Who takes part.
    pub plans: Vec<Plan>,
    /// Whether a request is no single step: the server first reads, and later compares and puts,
    /// and others may come in between.
    pub micro_steps: bool,
}

/// What an actor means to do, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its field manager, which it also sends as User-Agent.
    pub manager: Arc<str>,
    /// What it means to do.
    pub intent: Intent,
    /// Whether it first reads the object. Otherwise it works on the starting object, which it has
    /// from elsewhere: a file, or its own working copy.
    pub reads_first: bool,
    /// How it writes. A deletion carries a precondition if this sends the version.
    pub write: Write,
    /// What it does after a conflict.
    pub on_conflict: OnConflict,
}

/// What an actor does when a write is answered with a conflict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnConflict {
    /// Nothing more.
    #[default]
    GiveUp,
    /// Reads again, redoes the edit on that and sends it, up to so many times in all.
    ReadAgain(u8),
    /// Sends the same body again, up to so many times in all.
    Resend(u8),
}

impl Plan {
    pub(super) fn attempts(&self) -> u8 {
        match self.on_conflict {
            OnConflict::GiveUp => 0,
            OnConflict::ReadAgain(attempts) | OnConflict::Resend(attempts) => attempts,
        }
    }
}

/// Who owns the fields that the actors are about to change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ownership {
    /// Whoever owns them in the starting object.
    #[default]
    AsStored,
    /// Each actor owns those that it changes, and nobody else does.
    Each,
    /// Nobody.
    Nobody,
}

/// A request that an actor sends, and what it means to change by it.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub(super) request: Request<Vec<u8>>,
    pub(super) edits: Vec<Arc<Edit>>,
}

impl Scenario {
    /// Begins with an object as a server stores it.
    pub fn new(server: ApiServer, resource: Arc<Resource>, object: Arc<Value>) -> Self {
        Self {
            server,
            resource,
            object,
            plans: Vec::new(),
            micro_steps: false,
        }
    }

    /// Settles who owns the fields that the actors change, by a request that sets managedFields.
    ///
    /// # Errors
    /// The server's words, if it refuses that.
    pub fn with_owners(mut self, ownership: Ownership) -> Result<Self, String> {
        if ownership == Ownership::AsStored {
            return Ok(self);
        }
        let managed = self
            .object
            .metadata()
            .and_then(|meta| meta.get("managedFields"));
        let mut managers = Managers::decode(managed)?;
        let mut changed = Vec::new();
        for plan in &self.plans {
            let set = self.set_of_changes(&plan.intent);
            changed.push((Manager::new(&plan.manager, Operation::Apply, "", ""), set));
        }
        managers.retain(|owned| {
            for (_, set) in &changed {
                owned.set = owned.set.recursive_difference(set);
            }
            !owned.set.is_empty()
        });
        if ownership == Ownership::Each {
            for (manager, set) in changed.into_iter().filter(|(_, set)| !set.is_empty()) {
                managers.insert(Owned {
                    manager,
                    api_version: self.resource.group_version.to_string(),
                    set,
                    time: Some(self.server.environment().now()),
                });
            }
        }
        let mut body = json!({"metadata": {"resourceVersion": self.object.resource_version()}});
        body.set_meta(
            "managedFields",
            managers.encode().unwrap_or_else(|| json!([{}])),
        );
        let request = Request::patch(self.path())
            .header(header::CONTENT_TYPE, "application/merge-patch+json")
            .header(header::USER_AGENT, "kubectl")
            .body(body.to_string().into_bytes())
            .map_err(|error| error.to_string())?;
        let response = self.server.handle(request);
        let answer: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        if !response.status().is_success() {
            return Err(crate::object::text(&answer, "message").to_owned());
        }
        self.object = Arc::new(answer);
        Ok(self)
    }

    /// The fields of the starting object that an intent changes.
    fn set_of_changes(&self, intent: &Intent) -> Set {
        let edited = intent.done_on(&self.object);
        let mut set = Set::default();
        for edit in Edit::between(&self.object, &edited, &self.resource.root) {
            if edit.path.find(&self.object).is_some() {
                set.insert(&edit.path);
            }
        }
        set
    }

    fn path(&self) -> String {
        self.resource
            .path(self.object.namespace(), self.object.name())
    }

    /// The request that reads the object.
    pub(super) fn read(&self) -> Option<Request<Vec<u8>>> {
        get_request(&self.path(), "")
    }

    /// The request by which an actor does what it means to, on what it has read.
    pub(super) fn prepare(&self, plan: &Plan, read: &Arc<Value>) -> Option<Prepared> {
        if plan.intent == Intent::Delete {
            return Some(Prepared {
                request: self.deletion(plan, read)?,
                edits: vec![Edit::deletion()],
            });
        }
        let edited = plan.intent.done_on(read);
        let edits = Edit::between(read, &edited, &self.resource.root);
        let mut copy = WorkingCopy::default();
        copy.settle(Arc::clone(read));
        copy.edit(edited);
        Some(Prepared {
            request: plan.write.request(&self.resource, &copy, &plan.manager)?,
            edits,
        })
    }

    fn deletion(&self, plan: &Plan, read: &Value) -> Option<Request<Vec<u8>>> {
        let request = Request::delete(self.path()).header(header::USER_AGENT, &*plan.manager);
        if !plan.write.send_resource_version {
            return request.body(Vec::new()).ok();
        }
        let options = json!({
            "apiVersion": "v1", "kind": "DeleteOptions",
            "preconditions": {"resourceVersion": read.resource_version()},
        });
        request
            .header(header::CONTENT_TYPE, "application/json")
            .body(options.to_string().into_bytes())
            .ok()
    }
}

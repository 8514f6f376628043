//! The sender of a tool's requests, and a tool that sends one request.

use std::sync::Arc;

use http::Request;
use serde_json::Value;

use super::part::PartList;
use crate::{Call, Next, ObjectRef, Patch, Preconditions, Reply, Sender};

/// The sender of the requests about an object, and the options that each of its writes has.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Agent {
    /// The object.
    pub object: ObjectRef,
    /// The User-Agent.
    pub user_agent: Arc<str>,
    /// The field manager that each write names. `None` for a client that names none: the server
    /// takes its User-Agent.
    pub manager: Option<Arc<str>>,
    /// `true` if the server refuses unknown and repeated fields.
    pub is_strict: bool,
}

impl Agent {
    /// A client that names its manager, and that the server is not strict with.
    pub fn named(object: &ObjectRef, manager: &str) -> Self {
        Self {
            object: object.clone(),
            user_agent: manager.into(),
            manager: Some(manager.into()),
            is_strict: false,
        }
    }

    /// The same client, that names no manager and has no options.
    pub(super) fn without_options(&self) -> Self {
        Self {
            manager: None,
            is_strict: false,
            ..self.clone()
        }
    }

    /// Sends a request; done if a name makes no path.
    pub(super) fn sends(&self, call: &Call, dry_run: bool) -> Next {
        let sender = Sender {
            manager: self.manager.as_deref(),
            dry_run,
            is_strict: self.is_strict,
            ..Sender::new(&self.user_agent)
        };
        call.request(self.object.resource(), sender).into()
    }

    /// Reads the object.
    pub(super) fn reads(&self) -> Next {
        let call = Call::Get {
            namespace: self.object.namespace().to_owned(),
            name: self.object.name().to_owned(),
        };
        self.sends(&call, false)
    }

    /// A server-side apply.
    pub(super) fn apply(&self, object: &Arc<Value>, force: Option<bool>) -> Call {
        Call::Apply {
            base: self.object.unread(),
            object: Arc::clone(object),
            force,
            subresource: None,
        }
    }

    /// A patch of the object itself.
    pub(super) fn patch(&self, patch: Patch) -> Call {
        Call::Patch {
            base: self.object.unread(),
            patch,
            subresource: None,
        }
    }

    /// A creation of the object.
    pub(super) fn create(&self, object: Value) -> Call {
        Call::Create {
            namespace: self.object.namespace().to_owned(),
            object: Arc::new(object),
        }
    }

    /// A deletion. The dependents go in the background.
    pub(super) fn delete(&self) -> Call {
        Call::Delete {
            object: self.object.unread(),
            preconditions: Preconditions::default(),
            in_background: true,
        }
    }
}

impl From<Option<Request<Vec<u8>>>> for Next {
    /// Done if a request cannot be made.
    fn from(request: Option<Request<Vec<u8>>>) -> Self {
        request.map_or(Self::Done, Self::Send)
    }
}

/// A process that sends one request, whatever the answer.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct SingleRequest {
    agent: Agent,
    /// The request; `None` when it was answered.
    call: Option<Arc<Call>>,
}

impl SingleRequest {
    /// A client that sends a request.
    pub fn new(agent: Agent, call: Call) -> Self {
        Self {
            agent,
            call: Some(Arc::new(call)),
        }
    }

    /// A JSON patch of the object.
    pub fn json_patch(agent: Agent, patch: Value) -> Self {
        let call = agent.patch(Patch::Json(patch));
        Self::new(agent, call)
    }

    /// A server-side apply of fields, without force.
    pub fn apply(agent: Agent, fields: Value) -> Self {
        let call = agent.apply(&Arc::new(fields), Some(false));
        Self::new(agent, call)
    }

    /// Its request; `None` when it was answered.
    pub fn call(&self) -> Option<&Call> {
        self.call.as_deref()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.call.is_none()
    }

    pub(crate) fn writes_next(&self) -> bool {
        self.call.as_ref().is_some_and(|call| !call.is_read())
    }

    pub(crate) fn object(&self) -> &ObjectRef {
        &self.agent.object
    }

    pub(crate) fn give_up(&mut self) {
        self.call = None;
    }

    pub(crate) fn next(&self) -> Next {
        match &self.call {
            Some(call) => self.agent.sends(call, false),
            None => Next::Done,
        }
    }

    pub(crate) fn answered(&mut self, _: &Reply) {
        self.call = None;
    }

    pub(crate) fn add_parts<'a>(&'a self, parts: &mut PartList<'a>) {
        parts.plain((&self.agent, self.call.is_some()));
        self.call.iter().for_each(|call| parts.call(call));
    }
}

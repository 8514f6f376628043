//! The known state of the object between the requests of a log.

use std::sync::Arc;

use optimist_apiserver::object::{Metadata, text};
use optimist_simulation::Exchange;
use serde_json::Value;

use super::super::AuditEvent;
use super::super::run::{carry_out, object_of};
use super::missing::lets_go;
use super::{RecordedHistory, RecordedState};
use crate::removal::remove_object;

/// The source from which an object is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownObject {
    /// It is not known: the log does not have it.
    Unknown,
    /// It is known that there is no object.
    Absent,
    /// The log has it, as it is.
    Recorded,
    /// The log does not have it. The core made it from the requests.
    Computed {
        /// `true` if the log has at least its `resourceVersion`.
        version_is_recorded: bool,
        /// `true` if the log has its uid and its `creationTimestamp`.
        identity_is_recorded: bool,
    },
}

impl KnownObject {
    /// The version of an object that is known so, if the log has the version.
    pub(in crate::audit) fn version_of(self, object: Option<&Value>) -> Option<&str> {
        let recorded = matches!(
            self,
            Self::Recorded
                | Self::Computed {
                    version_is_recorded: true,
                    ..
                }
        );
        object.filter(|_| recorded).map(Metadata::resource_version)
    }

    /// The members of the metadata that the core made up, because the log does not have them: to be shown to nobody.
    pub fn made_up(self) -> &'static [&'static str] {
        const MEMBERS: [&str; 3] = ["resourceVersion", "uid", "creationTimestamp"];
        match self {
            Self::Computed {
                version_is_recorded,
                identity_is_recorded,
            } => match (version_is_recorded, identity_is_recorded) {
                (true, true) => &[],
                (true, false) => &MEMBERS[1..],
                (false, true) => &MEMBERS[..1],
                (false, false) => &MEMBERS,
            },
            _ => &[],
        }
    }

    fn has_identity(self) -> bool {
        !self.made_up().contains(&"uid")
    }
}

impl RecordedHistory {
    /// Learns from an answer about the object before the request.
    pub(super) fn learn_before(&mut self, event: &AuditEvent) {
        let created = event.code == Some(201) && event.object.subresource.is_empty();
        // The 404 of a subresource can be that of a pod or a service behind a proxy.
        let missing = event.code == Some(404)
            && event.object.is(&self.object)
            && event.object.subresource.is_empty();
        if (created || missing) && matches!(self.state, RecordedState::Unknown) {
            self.state = RecordedState::Absent;
        }
        if let RecordedState::Present(known, KnownObject::Recorded) = &self.state
            && let Some(new) = object_of(event).filter(|_| created && !event.is_dry_run())
            && new.uid() != known.uid()
        {
            // The log does not have how the one before went.
            self.remove();
        }
        self.learn_identity(event);
    }

    /// Learns the identity of the object from an accepted write: it was made on the object that has the version and
    /// the uid which the write names.
    fn learn_identity(&mut self, event: &AuditEvent) {
        let accepted = event.code == Some(200) && matches!(event.verb.as_str(), "update" | "patch");
        let (RecordedState::Present(object, from), Some(sent), true) =
            (&self.state, &event.request, accepted)
        else {
            return;
        };
        let said = |field: &str| Some(sent.meta_text(field)).filter(|it| !it.is_empty());
        let mut known = (**object).clone();
        let made_up = from.made_up().contains(&"creationTimestamp");
        let time = made_up.then_some("creationTimestamp");
        for field in ["resourceVersion", "uid"].into_iter().chain(time) {
            if let Some(said) = said(field) {
                known.set_meta(field, said);
            }
        }
        if *from != KnownObject::Recorded {
            keep_addresses(&mut known, sent);
        }
        let named = said("uid").is_some() && said("creationTimestamp").is_some();
        let version = from.version_of(Some(object)).or(said("resourceVersion"));
        let known_identity = KnownObject::Computed {
            version_is_recorded: version.is_some(),
            identity_is_recorded: named || from.has_identity(),
        };
        if known != **object {
            if version.is_none() {
                // The server gives another one, for it stores no other object with the same.
                known.set_meta("resourceVersion", Value::Null);
            }
            self.install(&Arc::new(known), known_identity);
        } else if *from != KnownObject::Recorded {
            self.state = RecordedState::Present(Arc::clone(object), known_identity);
        }
    }

    /// Makes the recorded result the state, or the core's own where the log has none. `run`: the request on the core.
    pub(super) fn take_over(&mut self, event: &AuditEvent, run: Option<&Exchange>) {
        if event.verb == "list" {
            self.take_from_list(event);
            return;
        }
        if event.verb == "delete" {
            self.take_deletion(event, run);
            return;
        }
        if let Some(object) = object_of(event) {
            self.install(&object, KnownObject::Recorded);
            if event.is_write() && lets_go(&object) {
                self.remove();
            }
            return;
        }
        let Some(exchange) = run else {
            if event.is_write() {
                self.state = RecordedState::Unknown;
            }
            return;
        };
        if event.is_write() && exchange.code < 300 {
            carry_out(&mut self.server, event, exchange);
            self.read_state();
            // A Scale has the version of its object.
            let version = event.response.as_deref().map(Metadata::resource_version);
            if let (RecordedState::Present(object, from), Some(version)) = (&self.state, version)
                && !version.is_empty()
            {
                let mut object = (**object).clone();
                object.set_meta("resourceVersion", version);
                let known = KnownObject::Computed {
                    version_is_recorded: true,
                    identity_is_recorded: from.has_identity(),
                };
                self.install(&Arc::new(object), known);
            }
        } else if event.is_write() {
            self.state = RecordedState::Unknown;
        }
    }

    /// Takes an event without a code, or with the code of a server error. Such an event does not
    /// show whether a write was carried out, unless its answer is the object or a refusal.
    pub(super) fn take_unanswered(&mut self, event: &AuditEvent) {
        let refused = event.response.as_deref().is_some_and(|answer| {
            let code = answer.get("code").and_then(Value::as_u64);
            text(answer, "status") == "Failure" && code.is_some_and(|code| code < 500)
        });
        if refused {
            return;
        }
        match object_of(event).filter(|_| event.verb != "delete") {
            Some(object) => self.install(&object, KnownObject::Recorded),
            None if event.verb == "list" => self.take_from_list(event),
            None if event.is_write() => self.state = RecordedState::Unknown,
            None => {}
        }
    }

    fn take_from_list(&mut self, event: &AuditEvent) {
        let whole =
            event.query("labelSelector").is_none() && event.query("fieldSelector").is_none();
        let Some(list) = event.response.as_ref().filter(|_| whole) else {
            return;
        };
        let Some(items) = list.get("items").and_then(Value::as_array) else {
            return;
        };
        let complete = list.pointer("/metadata/continue").is_none();
        let is_it = |item: &&Value| {
            let same = item.name() == self.object.name;
            same && item.namespace() == self.object.namespace && item.is_object()
        };
        let found = items.iter().find(is_it);
        match (found, &self.state) {
            (Some(item), RecordedState::Unknown | RecordedState::Absent) => {
                let mut item = item.clone();
                // Items of a list have no kind of their own.
                if let Some(resource) = &self.resource {
                    item["apiVersion"] = resource.group_version.to_string().into();
                    item["kind"] = resource.kind.as_str().into();
                }
                self.install(&Arc::new(item), KnownObject::Recorded);
            }
            (None, RecordedState::Unknown) if complete => self.state = RecordedState::Absent,
            _ => {}
        }
    }

    fn take_deletion(&mut self, event: &AuditEvent, run: Option<&Exchange>) {
        let waits =
            object_of(event).filter(|object| !object.meta_text("deletionTimestamp").is_empty());
        if let Some(object) = waits {
            self.install(&object, KnownObject::Recorded);
            if lets_go(&object) {
                self.remove();
            }
            return;
        }
        match run {
            Some(exchange) => {
                carry_out(&mut self.server, event, exchange);
                self.read_state();
            }
            None => self.state = RecordedState::Unknown,
        }
    }

    fn install(&mut self, object: &Arc<Value>, from: KnownObject) {
        let installed = self.server.install((**object).clone());
        let known = |state: &RecordedState| match state {
            RecordedState::Present(known, _) => {
                known.resource_version() == object.resource_version()
            }
            _ => false,
        };
        self.state = match installed {
            Ok(stored) => RecordedState::Present(stored, from),
            // A read of the version that is stored already, or an older one.
            Err(_) if known(&self.state) => {
                if let RecordedState::Present(stored, known) = &mut self.state
                    && *stored == *object
                {
                    *known = from;
                }
                return;
            }
            Err(_) => RecordedState::Unknown,
        };
    }

    /// Takes the object away from the server: it is gone.
    fn remove(&mut self) {
        let Some(resource) = &self.resource else {
            return;
        };
        let path = resource.path(&self.object.namespace, &self.object.name);
        remove_object(&mut self.server, &path);
        self.read_state();
        if !matches!(self.state, RecordedState::Absent) {
            self.state = RecordedState::Unknown;
        }
    }

    /// The object as the server has it.
    fn read_state(&mut self) {
        let Some(resource) = &self.resource else {
            return;
        };
        let path = resource.path(&self.object.namespace, &self.object.name);
        let request = optimist_client::get_request(&path, "optimist");
        let Some(response) = request.map(|request| self.server.handle(request)) else {
            return;
        };
        let object: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        let is_known = |(known, from): (&Arc<Value>, KnownObject)| {
            known.uid() == object.uid() && from.has_identity()
        };
        let identity_is_recorded = self.state.present().is_some_and(is_known);
        self.state = if response.status().is_success() {
            RecordedState::Present(
                Arc::new(object),
                KnownObject::Computed {
                    version_is_recorded: false,
                    identity_is_recorded,
                },
            )
        } else {
            RecordedState::Absent
        };
    }
}

/// Takes the addresses of a computed Service from an accepted update. The server chose them, and an update keeps
/// them (`pkg/apis/core/validation/validation.go ValidateServiceUpdate`, v1.36).
fn keep_addresses(known: &mut Value, sent: &Value) {
    let is_service = text(known, "kind") == "Service" && text(known, "apiVersion") == "v1";
    if !is_service {
        return;
    }
    for member in ["clusterIP", "clusterIPs", "healthCheckNodePort"] {
        let said = sent.get("spec").and_then(|spec| spec.get(member));
        if let Some(said) = said
            && let Some(chosen) = known["spec"].get_mut(member)
        {
            *chosen = said.clone();
        }
    }
}

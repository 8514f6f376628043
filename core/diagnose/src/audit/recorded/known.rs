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
    },
}

impl KnownObject {
    /// The version of an object that is known so, if the log has the version.
    pub(in crate::audit) fn version_of(self, object: Option<&Value>) -> Option<&str> {
        let recorded = matches!(
            self,
            Self::Recorded
                | Self::Computed {
                    version_is_recorded: true
                }
        );
        object.filter(|_| recorded).map(Metadata::resource_version)
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
        // An accepted write with a version and a uid was made on the object that has them.
        let accepted = event.code == Some(200) && event.verb == "update";
        let (RecordedState::Present(object, from), Some(sent), true) =
            (&self.state, &event.request, accepted)
        else {
            return;
        };
        let mut known = (**object).clone();
        for field in ["resourceVersion", "uid"] {
            let said = sent.meta_text(field);
            if !said.is_empty() {
                known.set_meta(field, said);
            }
        }
        if *from != KnownObject::Recorded {
            keep_addresses(&mut known, sent);
        }
        if known != **object {
            let known_version = KnownObject::Computed {
                version_is_recorded: true,
            };
            self.install(&Arc::new(known), known_version);
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
            if let (RecordedState::Present(object, _), Some(version)) = (&self.state, version)
                && !version.is_empty()
            {
                let mut object = (**object).clone();
                object.set_meta("resourceVersion", version);
                let known = KnownObject::Computed {
                    version_is_recorded: true,
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
            item.name() == self.object.name && item.namespace() == self.object.namespace
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
        let object = serde_json::from_slice(response.body()).unwrap_or_default();
        self.state = if response.status().is_success() {
            RecordedState::Present(
                Arc::new(object),
                KnownObject::Computed {
                    version_is_recorded: false,
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

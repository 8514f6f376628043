//! The editor that writes to the running server whose log the page shows.

use std::sync::Arc;

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{Resource, Resources};
use optimist_client::{Call, Sender, WorkingCopy, Write, WriteMethod, get_request};
use optimist_diagnose::audit::AuditedObject;
use optimist_diagnose::case::ObjectId;
use optimist_simulation::ByHand;
use serde_json::Value;

use super::DiagnoseState;

/// An editor of objects on a running server. It sends one request at a time.
#[derive(Clone, Debug)]
pub struct LiveEditor {
    /// The address of the server, as other clients know it.
    pub server: String,
    /// The first part of the paths of requests to the server, at the address of the page.
    pub place: String,
    /// The name of the person: the client, and the field manager.
    pub name: String,
    /// The way of writing.
    pub method: WriteMethod,
    /// The object as it is typed, in YAML.
    pub text: String,
    /// `true` if the text is an object to create, and not the one that was read.
    pub creates: bool,
    /// The request that is not answered yet.
    pub waiting: Option<LiveRequest>,
    /// The outcome of the last request.
    pub outcome: Option<LiveOutcome>,
    /// The kind of the object that was read.
    kind: Option<Arc<Resource>>,
    copy: WorkingCopy,
    /// The number of requests so far.
    sent: u32,
}

/// The name of a person who has typed none.
const NAME: &str = "page";

/// A new object, to be changed.
const NEW_OBJECT: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: example
  namespace: default
data:
  key: value
";

/// A request to the running server.
#[derive(Clone, Debug)]
pub struct LiveRequest {
    /// Its number.
    pub number: u32,
    /// The request.
    pub request: ByHand,
    /// The client: the name, with only what a header can have.
    pub client: String,
    /// The kind of its object.
    kind: Arc<Resource>,
}

/// The outcome of a request to the running server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveOutcome {
    /// It was not sent: the text is no object, for this reason.
    NotSent(String),
    /// It was not sent: the page does not know the path of this kind.
    UnknownKind {
        /// Group and version.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// It has no answer.
    NoAnswer,
    /// The server answered.
    Answered {
        /// The method of the request.
        method: String,
        /// The status code.
        code: u16,
        /// The message of a refusal.
        message: String,
    },
}

/// A message about the editor.
#[derive(Clone, Debug)]
pub enum LiveEditMsg {
    /// The name of the person.
    Name(String),
    /// The way of writing.
    Method(WriteMethod),
    /// The object as it is typed.
    Text(String),
    /// Reads the object whose requests are shown.
    Get,
    /// Begins a new object.
    New,
    /// Sends the edits, or creates the new object.
    Send,
    /// The request of this number has an answer, with code and body; `None` if there is none.
    Answered(u32, Option<(u16, String)>),
}

impl LiveEditor {
    /// The ways of writing that it offers.
    pub const METHODS: [WriteMethod; 10] = [
        WriteMethod::UpdateVersioned,
        WriteMethod::Update,
        WriteMethod::Merge,
        WriteMethod::MergeVersioned,
        WriteMethod::Strategic,
        WriteMethod::StrategicVersioned,
        WriteMethod::Json,
        WriteMethod::JsonTests,
        WriteMethod::Apply,
        WriteMethod::ApplyForced,
    ];

    pub(super) fn new(server: String, place: String) -> Self {
        Self {
            server,
            place,
            name: NAME.to_owned(),
            method: Self::METHODS[0],
            text: String::new(),
            creates: false,
            waiting: None,
            outcome: None,
            kind: None,
            copy: WorkingCopy::default(),
            sent: 0,
        }
    }

    /// The object as it was read; `None` before the first read.
    pub fn read(&self) -> Option<&Value> {
        self.copy.read().map(|read| &**read)
    }

    /// Returns whether somebody has begun to write.
    pub fn is_in_use(&self) -> bool {
        let has_begun = self.creates || self.read().is_some() || self.sent > 0;
        has_begun || self.name != NAME
    }

    /// Returns whether a request can be sent: there is a name, and no request waits.
    pub fn is_ready(&self) -> bool {
        self.waiting.is_none() && !self.name.trim().is_empty()
    }

    /// The name, with only what a header can have.
    fn client(&self) -> String {
        let known = |letter: char| match letter {
            letter if letter.is_ascii_graphic() => letter,
            _ => '-',
        };
        self.name.trim().chars().map(known).collect()
    }

    fn ask(&mut self, request: Option<ByHand>, kind: Arc<Resource>) {
        let Some(request) = request.filter(|_| self.is_ready()) else {
            return;
        };
        self.sent += 1;
        self.outcome = None;
        self.waiting = Some(LiveRequest {
            number: self.sent,
            request,
            client: self.client(),
            kind,
        });
    }

    /// Sends the edits in the way of writing.
    fn send(&mut self) {
        if let Err(error) = self.copy.edit_text(&self.text) {
            self.outcome = Some(LiveOutcome::NotSent(error.to_string()));
            return;
        }
        let Some(kind) = self.kind.clone() else {
            return;
        };
        let write = Write {
            manager: Some(self.name.trim().to_owned()),
            ..self.method.write(1)
        };
        let request = write.request(&kind, &self.copy, &self.client());
        self.ask(request.as_ref().map(ByHand::from_request), kind);
    }

    /// Creates the object that is typed. `shown` is the kind of the object whose requests are shown.
    fn create(&mut self, shown: Option<Arc<Resource>>) {
        // Who has read nothing edits nothing: the text replaces an object without content.
        let mut copy = WorkingCopy::default();
        copy.settle(Arc::default());
        if let Err(error) = copy.edit_text(&self.text) {
            self.outcome = Some(LiveOutcome::NotSent(error.to_string()));
            return;
        }
        let object = copy.edited().cloned().unwrap_or_default();
        let [api_version, kind] =
            ["apiVersion", "kind"].map(|field| text(&object, field).to_owned());
        let is_shown =
            |it: &Arc<Resource>| it.kind == kind && it.group_version.to_string() == api_version;
        let built_in = || Resources::builtin().by_kind(&api_version, &kind).cloned();
        let Some(resource) = shown.filter(is_shown).or_else(built_in) else {
            self.outcome = Some(LiveOutcome::UnknownKind { api_version, kind });
            return;
        };
        let id = ObjectId::from_object(&object);
        let create = Call::Create {
            namespace: id.namespace_or_default().to_owned(),
            object: Arc::clone(&object),
        };
        let client = self.client();
        let sender = Sender {
            manager: Some(self.name.trim()),
            ..Sender::new(&client)
        };
        let request = create.request(&resource, sender);
        let request = request.as_ref().map(ByHand::from_request);
        self.ask(request, resource);
    }

    /// Takes an answer. An object in it is what was read last. Returns the object if it is new.
    fn receive(&mut self, number: u32, answer: Option<(u16, String)>) -> Option<AuditedObject> {
        let waiting = self.waiting.take_if(|waiting| waiting.number == number)?;
        let Some((code, body)) = answer else {
            self.outcome = Some(LiveOutcome::NoAnswer);
            return None;
        };
        let mut created = None;
        let body: Value = serde_json::from_str(&body).unwrap_or_default();
        let method = waiting.request.method;
        let message = text(&body, "message").to_owned();
        if code < 300 && !body.uid().is_empty() {
            let version = &waiting.kind.group_version;
            created = (code == 201).then(|| AuditedObject {
                group: version.group.clone(),
                version: version.version.clone(),
                resource: waiting.kind.plural.clone(),
                namespace: body.namespace().to_owned(),
                name: body.name().to_owned(),
                subresource: String::new(),
            });
            self.copy.settle(Arc::new(body));
            self.kind = Some(waiting.kind);
            self.creates = false;
            self.text = self.copy.text().unwrap_or_default();
        }
        self.outcome = Some(LiveOutcome::Answered {
            method,
            code,
            message,
        });
        created
    }
}

impl DiagnoseState {
    pub(super) fn edit_live(&mut self, msg: LiveEditMsg) {
        let shown = self.replay().map(|replay| &replay.history);
        let subject = shown.and_then(|history| {
            let kind = Arc::clone(history.resource()?);
            let path = kind.path(&history.object.namespace, &history.object.name);
            Some((kind, path))
        });
        let Some(editor) = &mut self.live.editor else {
            return;
        };
        match msg {
            LiveEditMsg::Name(name) => editor.name = name,
            LiveEditMsg::Method(method) => editor.method = method,
            LiveEditMsg::Text(text) => editor.text = text,
            LiveEditMsg::Get => {
                if let Some((kind, path)) = subject {
                    let request = get_request(&path, &editor.client());
                    editor.ask(request.as_ref().map(ByHand::from_request), kind);
                }
            }
            LiveEditMsg::New => {
                editor.creates = true;
                editor.text = NEW_OBJECT.to_owned();
                editor.outcome = None;
            }
            LiveEditMsg::Send if editor.creates => {
                let shown = subject.map(|(kind, _)| kind);
                editor.create(shown);
            }
            LiveEditMsg::Send => editor.send(),
            LiveEditMsg::Answered(number, answer) => {
                let created = editor.receive(number, answer);
                if let (Some(object), Some(log)) = (created, &mut self.audit) {
                    log.expect(object);
                }
            }
        }
    }
}

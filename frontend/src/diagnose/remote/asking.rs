//! The work behind the buttons of the card: which requests are sent, in their order, and what becomes of the
//! answers. `core` makes the requests and reads the answers.

use optimist_apiserver::object::Metadata;
use optimist_client::{OnOwned, Preset, WantedChange, Way};
use optimist_diagnose::case::Case;
use optimist_diagnose::remote::{
    NotAnswered, RemoteAnswer, RemoteKind, RemotePrediction, RemoteRequest, RemoteVersion,
    is_controlled, kinds,
};
use optimist_messages::label;
use optimist_messages::remote::{not_answered, not_predicted};
use serde_json::{Value, json};

use super::card::CardDispatcher;
use super::fetch::fetch;
use super::state::{ComparedDryRun, Found, RemoteAction, RemoteState};
use crate::state::{DiagnoseMsg, Dispatcher, Sends};

/// The attempts to compare a write with an object that others change.
const ATTEMPTS: usize = 3;

/// Sends requests and tells the card what they are.
#[derive(Clone)]
pub(super) struct Asking {
    pub(super) card: CardDispatcher,
    pub(super) page: Dispatcher,
}

/// The reason why a work ended, in words.
pub(super) type AskingError = String;

impl Asking {
    pub(super) async fn ask(
        &self,
        request: Option<RemoteRequest>,
    ) -> Result<(String, RemoteAnswer), AskingError> {
        let request = request.ok_or_else(label::remote_no_path)?;
        let target = request.target().to_owned();
        self.card.dispatch(RemoteAction::Asking(target.clone()));
        let answer = fetch(&request).await;
        let answer = answer.map_err(|why| label::remote_unanswered(&target, &why))?;
        Ok((target, answer))
    }

    fn tell(&self, done: Result<RemoteAction, AskingError>) {
        self.card
            .dispatch(done.unwrap_or_else(RemoteAction::Failed));
    }

    /// Looks for an API server.
    pub(super) async fn look(self) {
        self.tell(self.find_server().await.map(RemoteAction::Found));
    }

    async fn find_server(&self) -> Result<Found, AskingError> {
        let (target, answer) = self.ask(RemoteRequest::version()).await?;
        let no_server = |why| label::remote_not_found(&not_answered(&target, &why));
        let version = RemoteVersion::read(&answer.document().map_err(no_server)?);
        let version = version.ok_or_else(|| no_server(NotAnswered::NotAnApiServer))?;
        let mut lists = Vec::new();
        for request in RemoteRequest::discovery().into_iter().flatten() {
            let (target, answer) = self.ask(Some(request)).await?;
            let list = answer.document();
            lists.push(list.map_err(|why| not_answered(&target, &why))?);
        }
        let kinds = kinds(&lists);
        if kinds.is_empty() {
            return Err(label::remote_no_discovery());
        }
        Ok(Found { version, kinds })
    }

    /// Lists the names of a kind in a namespace.
    pub(super) async fn names(self, kind: RemoteKind, namespace: String) {
        let names = async {
            let (target, answer) = self.ask(RemoteRequest::names(&kind, &namespace)).await?;
            let names = answer.names().map_err(|why| not_answered(&target, &why))?;
            let names = names.into_iter().map(|(_, name)| name).collect();
            Ok(RemoteAction::Names(names))
        };
        let names = names.await;
        self.tell(names);
    }

    /// The object as the server has it now, with the definition of its kind if that is not built in.
    pub(super) async fn object(
        &self,
        kind: &RemoteKind,
        (namespace, name): (&str, &str),
        secrets: bool,
    ) -> Result<(Value, Option<Value>), AskingError> {
        let request = RemoteRequest::object(kind, namespace, name);
        let (target, answer) = self.ask(request).await?;
        let objects = answer.objects(kind, secrets);
        let mut objects = objects.map_err(|why| not_answered(&target, &why))?;
        let object = objects.pop().unwrap_or_default();
        Ok((object, self.definition(kind).await))
    }

    /// The definition of a kind that is not built in. `None` too if the server does not show it: then the
    /// kind is read without a schema.
    async fn definition(&self, kind: &RemoteKind) -> Option<Value> {
        if kind.is_built_in() {
            return None;
        }
        let (_, answer) = self.ask(RemoteRequest::definition(kind)).await.ok()?;
        answer.document().ok()
    }

    /// Opens an object in Diagnose.
    pub(super) async fn open(self, kind: RemoteKind, place: (String, String), secrets: bool) {
        let opened = async {
            let place = (place.0.as_str(), place.1.as_str());
            let (object, definition) = self.object(&kind, place, secrets).await?;
            for text in [definition, Some(object)].into_iter().flatten() {
                self.page.send(DiagnoseMsg::Bring(text.to_string()));
            }
            let left_out = kind.is_secret() && !secrets;
            let says = left_out.then(label::remote_secrets_left_out);
            Ok(RemoteAction::Done(says.into_iter().collect()))
        };
        let opened = opened.await;
        self.tell(opened);
    }

    /// Reads the objects of a namespace that no controller owns.
    pub(super) async fn namespace(self, kinds: Vec<RemoteKind>, namespace: String, secrets: bool) {
        let (mut items, mut definitions, mut says) = (Vec::new(), Vec::new(), Vec::new());
        let (mut owned, mut refused) = (0, 0);
        for kind in kinds {
            // What happened is no object that a tool writes.
            if !kind.is_namespaced || kind.kind == "Event" {
                continue;
            }
            let asked = self.ask(RemoteRequest::objects(&kind, &namespace)).await;
            let answer = asked.map(|(_, answer)| answer).unwrap_or_default();
            let Ok(list) = answer.list(&kind, secrets) else {
                refused += 1;
                continue;
            };
            let objects = list.objects;
            if list.has_more {
                says.push(label::remote_all_part(&kind.kind));
            }
            let all = objects.len();
            let own = objects.into_iter().filter(|object| !is_controlled(object));
            let own: Vec<Value> = own.collect();
            owned += all - own.len();
            if !own.is_empty() {
                definitions.extend(self.definition(&kind).await);
            }
            items.extend(own);
        }
        let count = items.len();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        for definition in definitions {
            self.page.send(DiagnoseMsg::Bring(definition.to_string()));
        }
        if count > 0 {
            self.page.send(DiagnoseMsg::Bring(list.to_string()));
        }
        says.insert(0, label::remote_all_says(&count, &owned, &refused));
        self.card.dispatch(RemoteAction::Done(says));
    }

    /// Compares a write with its prediction.
    pub(super) async fn compare(self, state: RemoteState, write: (Case, WantedChange, Preset)) {
        let compared = self.compared(&state, write).await;
        self.tell(compared.map(|it| RemoteAction::Compared(Box::new(it))));
    }

    async fn compared(
        &self,
        state: &RemoteState,
        (case, change, client): (Case, WantedChange, Preset),
    ) -> Result<ComparedDryRun, AskingError> {
        let found = state.found.as_ref().ok_or_else(label::remote_no_path)?;
        if !found.version.has_dry_run() {
            return Err(label::remote_no_dry_run(&found.version.name));
        }
        let kind = state.listed(&case.id.group, &case.id.kind);
        let kind = kind.ok_or_else(|| label::remote_not_listed(&case.id.kind))?;
        let place = (case.id.namespace_or_default(), case.id.name.as_str());
        let way = Way::Client(client, OnOwned::Usual);
        for _ in 0..ATTEMPTS {
            let (live, definition) = self.object(kind, place, state.secrets).await?;
            let now = Case {
                live: Some(live),
                definitions: definition.into_iter().collect(),
                release: found.version.release().unwrap_or_default(),
                versions: Vec::new(),
                errors: Vec::new(),
                ..case.clone()
            };
            let prediction = RemotePrediction::new(&now, kind, change.clone(), way, state.secrets)
                .map_err(|why| label::remote_not_predicted(&not_predicted(&why, &case.id)))?;
            let (_, answer) = self.ask(Some(prediction.request().clone())).await?;
            let (after, _) = self.object(kind, place, state.secrets).await?;
            if after.resource_version() != prediction.version() {
                continue;
            }
            let core = prediction.core();
            return Ok(ComparedDryRun {
                method: core.method.to_string(),
                target: core.target.clone(),
                code: answer.code,
                differences: prediction.differences(&answer),
                left_out: prediction.left_out,
                release: match found.version.release() {
                    Some(_) => None,
                    None => Some(now.release.to_string()),
                },
                recording: prediction.recording("dry_run", &answer),
                is_secret: kind.is_secret(),
            });
        }
        Err(label::remote_moved())
    }
}

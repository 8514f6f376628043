//! The requests to the API server and its answers, as a reducer.

use std::rc::Rc;

use optimist_diagnose::audit::recorded::Difference;
use optimist_diagnose::remote::{RemoteKind, RemoteVersion};
use yew::Reducible;

/// The server that was found.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    pub(super) version: RemoteVersion,
    pub(super) kinds: Vec<RemoteKind>,
}

/// A dry run beside the prediction.
#[derive(Debug, PartialEq)]
pub(super) struct ComparedDryRun {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) code: u16,
    pub(super) differences: Vec<Difference>,
    /// The number of writes that were not compared.
    pub(super) left_out: usize,
    /// The release that the core has, if it is not that of the server.
    pub(super) release: Option<String>,
    /// The recording, as a file.
    pub(super) recording: String,
    /// `true` if the recording may not be saved: it would have the values of a Secret.
    pub(super) is_secret: bool,
}

/// The state of the card.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RemoteState {
    pub(super) found: Option<Rc<Found>>,
    /// The position of the kind that is picked.
    pub(super) kind: usize,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) names: Rc<[String]>,
    /// `true` if the values of Secrets are asked for.
    pub(super) secrets: bool,
    /// The request that is not answered yet.
    pub(super) asking: Option<String>,
    /// The reason why the last request had no use.
    pub(super) problem: Option<String>,
    /// The messages after the last request.
    pub(super) says: Vec<String>,
    /// The object that is followed.
    pub(super) following: Option<String>,
    pub(super) compared: Option<Rc<ComparedDryRun>>,
}

impl Default for RemoteState {
    fn default() -> Self {
        Self {
            found: None,
            kind: 0,
            namespace: "default".to_owned(),
            name: String::new(),
            names: Rc::default(),
            secrets: false,
            asking: None,
            problem: None,
            says: Vec::new(),
            following: None,
            compared: None,
        }
    }
}

/// A change of the card.
pub(super) enum RemoteAction {
    Asking(String),
    Failed(String),
    Found(Found),
    Kind(usize),
    Namespace(String),
    Name(String),
    Names(Vec<String>),
    Secrets(bool),
    Done(Vec<String>),
    Following(Option<String>),
    Compared(Box<ComparedDryRun>),
}

impl RemoteState {
    /// The kind that is picked.
    pub(super) fn kind(&self) -> Option<&RemoteKind> {
        self.found.as_ref()?.kinds.get(self.kind)
    }

    /// The place of the kind in the list, if the server lists it.
    pub(super) fn listed(&self, group: &str, kind: &str) -> Option<&RemoteKind> {
        let mut kinds = self.found.as_ref()?.kinds.iter();
        kinds.find(|it| it.group == group && it.kind == kind)
    }
}

impl Reducible for RemoteState {
    type Action = RemoteAction;

    fn reduce(self: Rc<Self>, action: RemoteAction) -> Rc<Self> {
        let mut next = (*self).clone();
        match action {
            RemoteAction::Asking(target) => {
                next.asking = Some(target);
                next.problem = None;
                next.says = Vec::new();
            }
            RemoteAction::Failed(why) => {
                next.asking = None;
                next.problem = Some(why);
            }
            RemoteAction::Found(found) => {
                let usual = found.kinds.iter().position(|it| it.kind == "Deployment");
                next.kind = usual.unwrap_or_default();
                next.found = Some(Rc::new(found));
                next.asking = None;
            }
            RemoteAction::Kind(kind) => {
                next.kind = kind;
                next.name = String::new();
                next.names = Rc::default();
            }
            RemoteAction::Namespace(namespace) => {
                next.namespace = namespace;
                next.names = Rc::default();
            }
            RemoteAction::Name(name) => next.name = name,
            RemoteAction::Names(names) => {
                if !names.contains(&next.name) {
                    next.name = names.first().cloned().unwrap_or_default();
                }
                next.names = names.into();
                next.asking = None;
            }
            RemoteAction::Secrets(secrets) => next.secrets = secrets,
            RemoteAction::Done(says) => {
                next.asking = None;
                next.says = says;
            }
            RemoteAction::Following(object) => {
                next.asking = None;
                next.following = object;
            }
            RemoteAction::Compared(compared) => {
                next.asking = None;
                next.compared = Some(compared.into());
            }
        }
        next.into()
    }
}

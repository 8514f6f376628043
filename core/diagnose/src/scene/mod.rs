//! From an error message alone to a scene in which the server says it again.
//!
//! Parts that the message leaves out are filled in and listed in [`Scene::missing`], so that the
//! page can ask for them. A scene is given only if the core answers with the text of the message.

mod answered;
mod brought;
mod given;
mod identity;
mod kind;
mod manifests;
mod no_scene;
mod path;
mod refused;
mod request;
pub(crate) mod sample;

use optimist_apiserver::apply::{ManagedFieldsOperation, Manager, Path, Set, to_fields_v1};
use optimist_apiserver::json::Node;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::schema::{Struct, decode, fill_defaults};
use optimist_client::Preset;
use optimist_simulation::{Action, ActorId, ByHand, Exchange, HistoryTree, Operation};
use serde_json::{Value, json};

use crate::case::{Case, Installed, MadeUpIdentity, NotInstalled, UID};
use crate::completions::CompletionAnswer;
use crate::message::{ErrorSource, ManagerConflict, PrintedError, ReportedError, RequestProblem};
use crate::ways::{ReleaseMethod, WantedChange};

pub use given::GivenParts;
use identity::{chosen_manager, manager, named};
use kind::KnownKind;
pub use manifests::{MessageManifests, UnusedManifest};
pub use no_scene::NoScene;
pub(crate) use path::parse as parse_field;

/// A part that the message leaves out, with the value in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingPart {
    /// The kind with its version.
    Kind {
        /// The kind that is taken, `Deployment (apps/v1)`.
        assumed: String,
        /// All kinds that have the fields of the message; empty if only a custom resource can.
        candidates: Vec<String>,
    },
    /// The namespace.
    Namespace {
        /// The one that is taken.
        assumed: String,
    },
    /// The name.
    Name {
        /// The one that is taken.
        assumed: String,
    },
    /// The field manager of the refused write.
    Manager {
        /// The one that is taken.
        assumed: String,
    },
    /// The name that a person added. No API server takes it, so the scene has another one.
    RefusedName {
        /// The name.
        name: String,
        /// Why it is not taken, as a server says it.
        reason: String,
    },
    /// The namespace that a person added. No API server takes it, so the scene has another one.
    RefusedNamespace {
        /// The namespace.
        namespace: String,
        /// Why it is not taken, as a server says it.
        reason: String,
    },
    /// The values of the fields: no message says them.
    Values,
    /// The values that the object has: those of the write are in its manifest.
    ObjectValues,
}

/// A scene in which the server says the message.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The object on a server.
    pub installed: Installed,
    /// The requests. The last one gets the message.
    pub requests: Vec<Exchange>,
    /// The history up to the answer with the message.
    pub history: HistoryTree,
    /// The refused change, if it was an apply: run it in other ways with
    /// [`ChangeTable`](crate::ways::ChangeTable).
    pub change: Option<WantedChange>,
    /// The client that was refused, if the message shows it and it applies.
    pub client: Option<Preset>,
    /// The parts that the message leaves out.
    pub missing: Vec<MissingPart>,
}

impl Scene {
    /// The message of the server.
    pub fn message(&self) -> &str {
        let last = self.requests.last();
        last.map_or("", |exchange| text(&exchange.received, "message"))
    }

    /// Returns whether the refused write has the values of a manifest that was brought.
    pub fn has_manifest(&self) -> bool {
        self.missing.contains(&MissingPart::ObjectValues)
    }
}

/// The version of the stored object.
const VERSION: &str = "1000";

impl Scene {
    /// Rebuilds the scene of an error, with the parts that a person adds.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn rebuild(error: &ReportedError, given: &GivenParts) -> Result<Self, NoScene> {
        let scene = Self::filled_in(error, given, None);
        match &given.manifest {
            // It is not the manifest that was refused.
            Some(_) if scene.is_err() => Self::filled_in(error, &given.without_manifest(), None),
            _ => scene,
        }
    }

    /// The parts that a person adds, as the scene has them: without a manifest that cannot be the refused write.
    pub fn usable_parts(&self, given: &GivenParts) -> GivenParts {
        match self.has_manifest() {
            true => given.clone(),
            false => given.without_manifest(),
        }
    }

    /// Rebuilds like [`rebuild`](Self::rebuild), but with another answer to a question that the message
    /// leaves open.
    ///
    /// # Errors
    /// The reason why there is none: the server may give another message then.
    pub fn answered(
        error: &ReportedError,
        given: &GivenParts,
        answer: &CompletionAnswer,
    ) -> Result<Self, NoScene> {
        let mut given = given.clone();
        if let CompletionAnswer::Kind { api_version, kind } = answer {
            given.api_version = Some(api_version.clone());
            given.kind = Some(kind.clone());
        }
        Self::filled_in(error, &given, Some(answer))
    }

    fn filled_in(
        error: &ReportedError,
        given: &GivenParts,
        answer: Option<&CompletionAnswer>,
    ) -> Result<Self, NoScene> {
        has_scene(error, given)?;
        let mut missing = Vec::new();
        let kind = KnownKind::find(error, given, &mut missing);
        let (usable, refused) = given.without_refused_names(kind.resource.as_deref());
        let given = &usable;
        missing.extend(refused);
        let object = named(error, given, &kind, &mut missing);
        let manager = manager(error, given, &mut missing);
        let mut draft = Draft {
            error,
            kind,
            live: object.clone(),
            wanted: object,
            manager,
            answer,
            given,
        };
        draft.fill(&mut missing);
        draft.play(missing, kind::is_said(error, given))
    }
}

/// Returns whether there can be a scene for a message.
///
/// # Errors
/// The reason if there is none.
fn has_scene(error: &ReportedError, given: &GivenParts) -> Result<(), NoScene> {
    match error.error {
        PrintedError::OtherThanExpected { .. }
        | PrintedError::NotOverwritten { .. }
        | PrintedError::ForceWithoutServerSide
        | PrintedError::TestFailed { .. }
        | PrintedError::Tool(_)
        | PrintedError::NotOfRelease => Err(NoScene::NotOfTheServer),
        // Terraform reads the object by itself, and prints no kind.
        PrintedError::AlreadyExists { .. }
            if error.object.resource.is_none() && error.object.kind.is_none() =>
        {
            Err(NoScene::NotOfTheServer)
        }
        PrintedError::Invalid { .. }
        | PrintedError::Request(RequestProblem::NotStrict { .. } | RequestProblem::ConflictAlone)
        | PrintedError::NotOfSchema { .. }
        | PrintedError::PatchRefused { is_json: false }
        | PrintedError::VersionOnCreate => Err(NoScene::NeedsObjects),
        PrintedError::Request(_) => Err(NoScene::NotOfObject),
        // Most kinds take an Update without a version: which kind it was has to be known.
        PrintedError::VersionMissing
            if error.object.resource.is_none()
                && error.object.kind.is_none()
                && given.kind.is_none() =>
        {
            Err(NoScene::NeedsObjects)
        }
        PrintedError::OtherConflict { .. }
        | PrintedError::Forbidden { .. }
        | PrintedError::NoRight { .. }
        | PrintedError::NotFound
        | PrintedError::NotServed => Err(NoScene::OtherPart),
        _ => Ok(()),
    }
}

/// A scene that was not run yet.
struct Draft<'a> {
    error: &'a ReportedError,
    kind: KnownKind,
    /// The object as it is stored.
    live: Value,
    /// The manifest of the refused write.
    wanted: Value,
    manager: String,
    /// The answer by which it differs from the simplest scene.
    answer: Option<&'a CompletionAnswer>,
    /// The parts that the message does not say.
    given: &'a GivenParts,
}

impl Draft<'_> {
    /// Fills in the values that the error needs: the fields with other values, their owners, the
    /// version.
    fn fill(&mut self, missing: &mut Vec<MissingPart>) {
        self.live.set_meta("uid", UID);
        self.live.set_meta("resourceVersion", VERSION);
        self.live.set_meta("managedFields", json!([]));
        if !matches!(self.error.error, PrintedError::Apply(_)) {
            self.fill_sample();
            missing.push(MissingPart::Values);
        }
        match &self.error.error {
            PrintedError::Apply(conflicts) => {
                let has_manifest = self.take_manifest(conflicts);
                missing.push(match has_manifest {
                    true => MissingPart::ObjectValues,
                    false => MissingPart::Values,
                });
                self.fill_conflicts(conflicts, has_manifest);
            }
            PrintedError::OtherUid { stored, .. } if !stored.is_empty() => {
                self.live.set_meta("uid", stored.as_str());
            }
            PrintedError::Precondition { of, stored, .. } => {
                let field = match of {
                    crate::message::Precondition::Uid => "uid",
                    crate::message::Precondition::ResourceVersion => "resourceVersion",
                };
                self.live.set_meta(field, stored.as_str());
            }
            PrintedError::AlreadyExists { terminating: true } => {
                self.live
                    .set_meta("deletionTimestamp", "2026-01-01T00:00:00Z");
                self.live.set_meta("deletionGracePeriodSeconds", 0);
                self.live
                    .set_meta("finalizers", json!(["example.com/wait"]));
            }
            _ => {}
        }
    }

    /// Makes both objects such as a server can store: no message but that of a conflict names their fields.
    fn fill_sample(&mut self) {
        sample::skeleton(&mut self.live);
        sample::skeleton(&mut self.wanted);
        if let Some(root) = self.kind.root() {
            self.live = stored(&self.live, &root);
        }
    }

    /// Gives the fields of conflicts other values in the object than in the manifest, and their owners.
    fn fill_conflicts(&mut self, conflicts: &[ManagerConflict], has_manifest: bool) {
        if !has_manifest {
            sample::skeleton(&mut self.live);
            // A manifest is whole: tools that replace the object write it as well.
            sample::skeleton(&mut self.wanted);
        }
        let entries = conflicts.iter().map(|conflict| self.own(conflict));
        let entries: Vec<(Vec<Path>, Value)> = entries.collect();
        let root = self.kind.root();
        for path in entries.iter().flat_map(|(paths, _)| paths) {
            let mut values = sample::values(path, root.as_deref());
            if self.answer == Some(&CompletionAnswer::OtherValues) {
                values.reverse();
            }
            match path.find(&self.wanted).filter(|_| has_manifest) {
                Some(wanted) => {
                    let other = values.iter().find(|value| *value != wanted);
                    let other = other.unwrap_or(&values[0]).clone();
                    path.put(&mut self.live, other);
                }
                None => {
                    let [before, after] = values;
                    path.put(&mut self.live, before);
                    path.put(&mut self.wanted, after);
                }
            }
        }
        sample::complete(&mut self.live);
        if !has_manifest {
            sample::complete(&mut self.wanted);
        }
        if let Some(root) = &root {
            self.live = stored(&self.live, root);
        }
        let (paths, mut entries): (Vec<_>, Vec<Value>) = entries.into_iter().unzip();
        self.answer(&paths.concat(), &mut entries);
        self.live.set_meta("managedFields", Value::Array(entries));
    }

    /// The fields of a conflict, and the entry of the manager that owns them.
    fn own(&self, conflict: &ManagerConflict) -> (Vec<Path>, Value) {
        let root = self.kind.root();
        let parsed = conflict.fields.iter();
        let paths: Vec<Path> = parsed
            .filter_map(|field| path::parse(field, root.as_deref()))
            .collect();
        let mut set = Set::default();
        paths.iter().for_each(|path| set.insert(path));
        let operation = match conflict.api_version {
            Some(_) => ManagedFieldsOperation::Update,
            None => ManagedFieldsOperation::Apply,
        };
        let own = text(&self.live, "apiVersion");
        let version = conflict.api_version.as_deref().unwrap_or(own);
        let subresource = conflict.subresource.as_deref().unwrap_or_default();
        let manager = Manager::new(&conflict.manager, operation, version, subresource);
        let mut entry = json!({
            "manager": manager.name, "apiVersion": version, "fieldsType": "FieldsV1",
            "operation": if conflict.api_version.is_some() { "Update" } else { "Apply" },
            "fieldsV1": to_fields_v1(&set), "time": "2026-01-01T00:00:00Z",
        });
        if !subresource.is_empty() {
            entry["subresource"] = subresource.into();
        }
        (paths, entry)
    }

    fn play(self, missing: Vec<MissingPart>, says_kind: bool) -> Result<Scene, NoScene> {
        let mut case = Case::about(self.live.clone());
        case.definitions
            .extend(self.kind.definition(&self.error.error, &self.live));
        let mut installed = case.install().map_err(NoScene::NotInstalled)?;
        let lacks = |part: fn(&MissingPart) -> bool| missing.iter().any(part);
        installed.made_up = MadeUpIdentity {
            kind: !says_kind,
            name: lacks(|it| matches!(it, MissingPart::Name { .. })),
            namespace: lacks(|it| matches!(it, MissingPart::Namespace { .. })),
        };
        let gone = || NoScene::NotInstalled(NotInstalled::NoObject);
        let (requests, history) = if self.error.error == PrintedError::Modified {
            let history = crate::modified::refusal(&installed).ok_or_else(gone)?;
            let nodes = history.current_path().iter();
            let requests = nodes.filter_map(|node| history.step(*node)?.exchange.clone());
            (requests.collect(), history)
        } else {
            let requests = request::send(&self, &installed);
            let history = by_hand(&installed, &requests);
            (requests, history)
        };
        let last = requests.last();
        let said = last.map(|exchange| text(&exchange.received, "message").to_owned());
        let said = said.unwrap_or_default();
        if !self.is_said(&said) {
            return Err(NoScene::of_answer(&self.error.error, last, said));
        }
        let applies = matches!(self.error.error, PrintedError::Apply(_));
        let on_status = last.is_some_and(|it| it.target.contains("/status?"));
        let client = self
            .error
            .tool
            .and_then(ErrorSource::client)
            .filter(|_| applies);
        let refused = client.map(|client| (client, self.manager.clone()));
        let previous = self.given.previous_manifest.as_ref();
        let previous = previous.filter(|_| missing.contains(&MissingPart::ObjectValues));
        let change = (applies && !on_status).then(|| WantedChange {
            manager: chosen_manager(self.error, self.given, &self.manager),
            // Helm was refused, so it had not taken over its former entries.
            last_release: ReleaseMethod::ServerSide,
            refused,
            address: self.error.address.clone(),
            previous: previous.cloned(),
            ..WantedChange::manifest(self.wanted)
        });
        Ok(Scene {
            installed,
            requests,
            history,
            change,
            client,
            missing,
        })
    }

    /// Returns whether the core's message is the one that was printed.
    fn is_said(&self, message: &str) -> bool {
        let again = crate::message::reported_errors(message);
        let [again] = &again[..] else {
            return false;
        };
        // Servers before v1.28 also printed times, which are not kept.
        again.error == self.error.error
    }
}

/// The requests, sent once more by editor A as they are.
fn by_hand(installed: &Installed, requests: &[Exchange]) -> HistoryTree {
    let mut tree = HistoryTree::new(installed.world.clone());
    for exchange in requests {
        let again = Action::Request(ByHand::from(exchange));
        tree.act(Operation::Act(ActorId::A, again));
    }
    tree
}

/// An object as a server stores it: with the defaults of its kind.
fn stored(object: &Value, root: &Struct) -> Value {
    let Ok(decoded) = decode(Node::from(object.clone()), root) else {
        return object.clone();
    };
    let mut stored = decoded.value;
    fill_defaults(&mut stored, root);
    for field in ["apiVersion", "kind"] {
        stored[field] = object[field].clone();
    }
    stored
}

//! A moment of a history as data: what was sent and answered, and what was stored before and after.
//! Nothing here asks the code that chooses messages, and nothing asks for a fact or an outcome that
//! the core noted: bytes, revisions, owners and working copies only.

use http::Request;
use optimist_apiserver::object::{Metadata, text};
use optimist_simulation::{
    Action, ActorId, ByHand, Exchange, HistoryTree, NodeId, ObjectRef, Operation, Step,
    WatchAction, World,
};
use serde_json::Value;

use super::judge::Judge;

/// A step with the worlds before and after it.
#[derive(Clone, Copy)]
pub struct Happened<'a> {
    pub step: &'a Step,
    pub before: &'a World,
    pub after: &'a World,
}

/// The current step of a history.
pub struct Moment<'a> {
    pub tree: &'a HistoryTree,
    /// The actor in the lane beside that of A.
    pub right: ActorId,
    /// The steps so far, the current one last.
    pub so_far: Vec<Happened<'a>>,
    /// The object that the last request was about; else the one that is shown.
    pub object: ObjectRef,
    /// The controller of the last step; else the first one, if there is one.
    pub controller: ActorId,
    /// With which of the nodes of the path the branch begins that a text is about.
    pub branch: usize,
}

impl<'a> Moment<'a> {
    /// Reads the current step of a tree.
    pub fn current(tree: &'a HistoryTree, right: ActorId) -> Self {
        let so_far = steps(tree, &tree.current_path()[..=tree.position()]);
        let sent = so_far.last().and_then(|it| it.step.exchange.as_ref());
        let addressed = sent.and_then(|sent| {
            let path = path_of_object(&sent.target);
            // The server makes the name of an object that brings none.
            let named = match sent.sent.name() {
                "" => sent.received.name(),
                name => name,
            };
            let created = format!("{path}/{named}");
            let mut subjects = tree.world().subjects();
            let selected = sent
                .target
                .split_once("metadata.name%3D")
                .map(|(_, name)| name);
            let selected = selected
                .and_then(|name| name.split('&').next())
                .unwrap_or_default();
            let selected = format!("{path}/{selected}");
            subjects.find(|one| {
                let posted = sent.method == "POST" && one.path() == created;
                one.path() == path || one.path() == selected || posted
            })
        });
        let object = addressed.unwrap_or(tree.world().subject()).clone();
        Self {
            tree,
            right,
            so_far,
            object,
            controller: controller_of(tree).unwrap_or(ActorId::C),
            branch: 0,
        }
    }

    /// The same history after fewer steps.
    pub fn until(&self, steps: usize) -> Moment<'a> {
        Moment {
            tree: self.tree,
            right: self.right,
            so_far: self.so_far[..steps].to_vec(),
            object: self.object.clone(),
            controller: self.controller,
            branch: self.branch,
        }
    }

    /// The steps of the branch that a text is about.
    pub fn branch(&self) -> Vec<&'a Step> {
        let path = self.tree.current_path().iter().skip(self.branch);
        path.filter_map(|&node| self.tree.step(node)).collect()
    }

    pub fn world(&self) -> &'a World {
        self.tree.world()
    }

    /// The last step; `None` at the start.
    pub fn last(&self) -> Option<Happened<'a>> {
        self.so_far.last().copied()
    }

    /// The request of the last step.
    pub fn exchange(&self) -> Option<&'a Exchange> {
        self.last()?.step.exchange.as_ref()
    }

    /// The object that is shown, as it is stored.
    pub fn stored(&self) -> Option<&'a Value> {
        self.object_in(self.world())
    }

    /// The same before the last step.
    pub fn stored_before(&self) -> Option<&'a Value> {
        self.object_in(self.last()?.before)
    }

    /// The object that is shown now, in another world.
    pub fn object_in(&self, world: &'a World) -> Option<&'a Value> {
        let stored = world.server().store().get(self.object.key());
        stored.map(|(_, object)| &**object)
    }

    /// The version that is stored; 0 for none.
    pub fn version(&self) -> u64 {
        self.stored().map_or(0, version)
    }

    /// The version that was stored before the last step; 0 for none.
    pub fn version_before(&self) -> u64 {
        self.stored_before().map_or(0, version)
    }

    /// Returns whether the last step left the object that is shown as it was.
    pub fn same_object(&self) -> bool {
        self.stored() == self.stored_before()
    }

    /// The versions at which the object changed after a version, oldest first.
    pub fn changes_after(&self, version: u64) -> Vec<u64> {
        let log = self.world().server().store().log_after(version);
        let of = log.filter(|change| *change.key == *self.object.key());
        of.map(|change| change.revision).collect()
    }

    /// The step that changed the object last.
    pub fn changed_last(&self) -> Option<Happened<'a>> {
        let mut steps = self.so_far.iter().rev();
        let changed = |it: &&Happened<'a>| self.object_in(it.before) != self.object_in(it.after);
        steps.find(changed).copied()
    }

    /// Returns whether a change of the object now would reach its watcher. `None` if nothing is
    /// stored.
    pub fn hears(&self) -> Option<bool> {
        let mut world = self.world().clone();
        world.look_at(&self.object.resource().kind, self.object.name());
        let actor = match world.has_controllers() {
            true => ActorId::A,
            false => ActorId::C,
        };
        let step = world.act(Operation::Act(actor, Action::Request(touch(&world))))?;
        (step.exchange.as_ref()?.code == 200).then_some(!step.arrived.is_empty())
    }

    /// Returns whether the last step wrote nothing at all.
    pub fn wrote_nothing(&self) -> bool {
        let revision = |world: &World| world.server().store().revision();
        self.last()
            .is_some_and(|last| revision(last.before) == revision(last.after))
    }

    /// Returns whether the last step was a request with a 2xx.
    pub fn accepted(&self) -> bool {
        self.exchange().is_some_and(|sent| sent.code < 300)
    }

    /// Returns whether it was refused, before or in the stream.
    pub fn refused(&self) -> bool {
        self.exchange().is_some_and(|sent| sent.code >= 400) || self.stream_error().is_some()
    }

    /// The error event of the stream that the last step opened.
    pub fn stream_error(&self) -> Option<&'a Value> {
        let step = self.last()?.step;
        if matches!(step.operation, Operation::Act(_, Action::Request(_))) {
            let events = step.exchange.as_ref()?.received.as_array()?;
            return Some(&events.iter().find(|event| event["type"] == "ERROR")?["object"]);
        }
        let watches = matches!(step.operation, Operation::Watch(_));
        let mut arrived = step.arrived.iter().filter(|_| watches);
        let error = arrived.find(|it| it.event.event_type.to_string() == "ERROR")?;
        Some(&error.event.object)
    }

    /// Returns the actor of the last step.
    pub fn actor(&self) -> Option<ActorId> {
        actor_of(&self.last()?.step.operation)
    }

    /// The actor of a name or a letter.
    pub fn named(&self, name: &str) -> Option<ActorId> {
        let mut all = ActorId::ALL.into_iter();
        all.find(|id| id.letter() == name || *self.world().actor(*id).name == *name)
    }

    /// Returns whether the last step is of the actor with this name.
    pub fn is_by(&self, name: &str) -> bool {
        self.actor().is_some() && self.actor() == self.named(name)
    }

    /// The version of an actor's working copy.
    pub fn copy_version(&self, actor: ActorId) -> Option<&'a str> {
        let read = self.world().copy(actor).read()?;
        Some(read.resource_version())
    }

    /// Returns whether an answer showed an actor this version of the object.
    pub fn was_shown(&self, actor: ActorId, version: &str) -> bool {
        self.was_answered(actor, version, |sent| sent.code < 300)
    }

    /// Returns whether an actor read the object at a version.
    pub fn has_read(&self, actor: ActorId, version: &str) -> bool {
        self.was_answered(actor, version, |sent| {
            sent.method == "GET" && sent.code == 200
        })
    }

    fn was_answered(&self, actor: ActorId, version: &str, so: impl Fn(&Exchange) -> bool) -> bool {
        self.so_far.iter().any(|it| {
            let sent = it.step.exchange.as_ref();
            let sent = sent.filter(|sent| so(sent) && sent.received.resource_version() == version);
            actor_of(&it.step.operation) == Some(actor) && sent.is_some()
        })
    }

    /// Returns who wrote the object when it had this version: the actor after whose step it has another.
    pub fn replaced(&self, version: &str) -> Option<ActorId> {
        let has = |world: &World| {
            let (_, object) = self.got(world, &self.object.path());
            object["metadata"]["resourceVersion"] == version
        };
        let step = self
            .so_far
            .iter()
            .find(|it| has(it.before) && !has(it.after));
        step.and_then(|it| actor_of(&it.step.operation))
    }

    /// Returns the answer to a GET of a path in a world.
    pub fn got(&self, world: &World, path: &str) -> (u16, Value) {
        let mut server = world.server().clone();
        let request = Request::get(path).body(Vec::new());
        let answer = server.handle(request.expect("a path that was sent"));
        let body = serde_json::from_slice(answer.body()).unwrap_or_default();
        (answer.status().as_u16(), body)
    }

    /// The object that the last request named, before that request.
    pub fn addressed(&self) -> Option<Value> {
        let (last, sent) = (self.last()?, self.exchange()?);
        let path = path_of_object(&sent.target);
        let (code, object) = self.got(last.before, &path);
        (code == 200).then_some(object)
    }

    /// The definition of what is lost, over this history.
    pub fn judge(&self) -> Judge<'_> {
        Judge::new(self)
    }

    /// Returns the code that the last request would get with another target.
    pub fn sent_to(&self, target: &str) -> Option<u16> {
        Some(self.answer(target, |body| body)?.0)
    }

    /// Returns the code and the answer that the last request would get with another target and body.
    pub fn answer(&self, target: &str, body: impl Fn(String) -> String) -> Option<(u16, Value)> {
        let (last, sent) = (self.last()?, self.exchange()?);
        let text = last.step.sent_text().map(str::to_owned);
        let text = text.unwrap_or_else(|| match &*sent.sent {
            Value::Null => String::new(),
            body => body.to_string(),
        });
        let request = Request::builder()
            .method(sent.method.clone())
            .uri(target)
            .header("content-type", &sent.content_type)
            .header("user-agent", &sent.manager)
            .body(body(text).into_bytes());
        let answer = last.before.server().clone().handle(request.ok()?);
        let received = serde_json::from_slice(answer.body()).unwrap_or_default();
        Some((answer.status().as_u16(), received))
    }

    /// The code with which a watch of the object from a version begins in a world: 410 also if it
    /// is an event of the stream.
    pub fn watch_from(world: &World, version: &str) -> Option<u16> {
        let mut world = world.clone();
        world.act(Operation::Watch(WatchAction::Drop));
        let step = world.act(Operation::Watch(WatchAction::Open(version.to_owned())))?;
        let error = step
            .arrived
            .iter()
            .find_map(|it| it.event.object["code"].as_u64());
        let code = step.exchange.as_ref().map(|sent| sent.code);
        error.map(|code| code as u16).or(code)
    }
}

/// The steps of a path, each with the worlds around it.
pub fn steps<'a>(tree: &'a HistoryTree, path: &[NodeId]) -> Vec<Happened<'a>> {
    let steps = path.windows(2).filter_map(|pair| {
        Some(Happened {
            step: tree.step(pair[1])?,
            before: tree.world_at(pair[0])?,
            after: tree.world_at(pair[1])?,
        })
    });
    steps.collect()
}

/// The version of an object.
pub fn version(object: &Value) -> u64 {
    object.resource_version().parse().unwrap_or_default()
}

/// A request that changes the object that a world shows.
pub fn touch(world: &World) -> ByHand {
    ByHand {
        method: "PATCH".to_owned(),
        target: world.subject().path(),
        content_type: "application/merge-patch+json".to_owned(),
        body: r#"{"metadata":{"annotations":{"touched":"again"}}}"#.to_owned(),
    }
}

/// The controller of the current step of a tree; else the first one, if there is one.
pub fn controller_of(tree: &HistoryTree) -> Option<ActorId> {
    let acted = tree.step(tree.current()).map(|step| &step.operation);
    match acted {
        Some(Operation::Control(actor, _)) => Some(*actor),
        _ => tree.world().controllers().map(|(id, _)| id).next(),
    }
}

/// Returns the actor of an operation.
pub fn actor_of(operation: &Operation) -> Option<ActorId> {
    match operation {
        Operation::Act(actor, _) => Some(*actor),
        Operation::Control(actor, _) => Some(*actor),
        _ => None,
    }
}

/// The path of a request without its query and subresource.
pub fn path_of_object(target: &str) -> String {
    let path = target.split('?').next().unwrap_or_default();
    let path = path.strip_suffix("/status").unwrap_or(path);
    path.strip_suffix("/scale").unwrap_or(path).to_owned()
}

/// The resourceVersion that a request carries, wherever it carries one.
pub fn sent_version(sent: &Exchange) -> Option<String> {
    let body = &*sent.sent;
    if let Some(operations) = body.as_array() {
        let mut tests = operations.iter();
        let test = tests
            .find(|it| text(it, "op") == "test" && text(it, "path") == "/metadata/resourceVersion");
        return Some(text(test?, "value").to_owned());
    }
    let of = |value: &Value| value["resourceVersion"].as_str().map(str::to_owned);
    let version = match sent.method.as_str() {
        "DELETE" => of(&body["preconditions"]),
        _ => of(&body["metadata"]),
    };
    version.filter(|version| !version.is_empty())
}

/// Returns whether a request is a server-side apply.
pub fn is_apply(sent: &Exchange) -> bool {
    sent.method == "PATCH" && sent.content_type.starts_with("application/apply-patch")
}

/// Returns whether a request only asks what would happen.
pub fn is_dry_run(sent: &Exchange) -> bool {
    sent.target.contains("dryRun=All") || sent.sent["dryRun"][0] == "All"
}

/// The finalizers of an object.
pub fn finalizers(object: &Value) -> usize {
    object["metadata"]["finalizers"]
        .as_array()
        .map_or(0, Vec::len)
}

/// Returns whether an object is marked for deletion.
pub fn is_marked(object: &Value) -> bool {
    object["metadata"].get("deletionTimestamp").is_some()
}

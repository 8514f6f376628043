//! After "the object has been modified": the edit that was refused, sent in other ways.
//!
//! The message says neither what the client wanted to change nor what changed in between. So each
//! client sets an annotation of its own, which every object can have.

use optimist_apiserver::object::{Metadata, map_mut};
use optimist_client::{OnConflict, Strategy, Write, WriteMethod};
use optimist_code::quote;
use optimist_code::{ClientRequest, client_go, kubectl_object, namespace_option};
use optimist_simulation::{Action, ActorId, HistoryTree, NodeId, Operation};
use serde_json::Value;

use crate::case::{Installed, MadeUpIdentity};
use crate::ways::Instruction;

/// The annotation of the client that is refused, and that of the client that writes in between.
const EDITS: [&str; 2] = [
    "example.com/edit-of-this-client",
    "example.com/edit-of-the-other-client",
];

/// The field manager in code.
const CLIENT: &str = "my-controller";

/// The next attempts of a client after the refusal of its Update.
pub const NEXT: [WriteMethod; 4] = [
    WriteMethod::UpdateReadAgain,
    WriteMethod::Merge,
    WriteMethod::Apply,
    WriteMethod::Update,
];

/// The next attempt of a client after the refusal, and its effect on the two edits.
#[derive(Clone, Debug)]
pub struct NextAttempt {
    /// The method of the attempt.
    pub method: WriteMethod,
    /// The status code of its last request.
    pub code: u16,
    /// `true` if the object has the edit of this client at the end.
    pub keeps_own: bool,
    /// `true` if the object has the edit that the other client made in between.
    pub keeps_other: bool,
    /// All of it, from the first read on. Its last step is the current one.
    pub history: HistoryTree,
    /// The parts of the object's identity that the input does not say.
    pub made_up: MadeUpIdentity,
}

impl NextAttempt {
    /// Returns whether both edits are in the object.
    pub fn settles(&self) -> bool {
        self.code < 300 && self.keeps_own && self.keeps_other
    }

    /// Returns the commands with kubectl. The change is the one of the person who runs it, so it is named
    /// and not written out. `subresource` is the one that the refused write went to. Empty for an attempt
    /// that nobody should run, and for an object that kubectl cannot name.
    pub fn commands(&self, subresource: Option<&str>) -> Vec<Instruction> {
        let subject = self.history.world().subject();
        let (namespace, name) = (self.made_up.namespace(subject), self.made_up.name(subject));
        let object = kubectl_object(subject.resource(), namespace, name);
        let Some(object) = object else {
            return Vec::new();
        };
        let namespace = namespace_option(namespace);
        let subresource = subresource.map(|name| quote(&format!("--subresource={name}")));
        let subresource = subresource.map_or_else(String::new, |option| format!(" {option}"));
        // Above the command that is run first: that of the dry run.
        let says = |says: &str, mut command: Instruction| {
            let first = command.try_first.as_mut().unwrap_or(&mut command.text);
            *first = format!("# {says}\n{first}");
            command
        };
        match self.method {
            WriteMethod::UpdateReadAgain => vec![
                Instruction::command(format!(
                    "kubectl get {object}{subresource} -o yaml > object.yaml\n"
                )),
                says(
                    "Make your change in object.yaml. Keep its resourceVersion.",
                    Instruction::write(
                        "replace",
                        &format!("{subresource}{namespace} -f object.yaml"),
                    ),
                ),
            ],
            WriteMethod::Merge => vec![says(
                "PATCH.yaml: only the fields that you change.",
                Instruction::write(
                    "patch",
                    &format!(" {object}{subresource} --type=merge --patch-file=PATCH.yaml"),
                ),
            )],
            WriteMethod::Apply => vec![says(
                "FIELDS.yaml: apiVersion, kind, name, namespace and the fields that you want to own.",
                Instruction::write(
                    "apply",
                    &format!(" --server-side{subresource}{namespace} -f FIELDS.yaml"),
                ),
            )],
            _ => Vec::new(),
        }
    }

    /// Returns the last request in Go, with client-go, with the made-up change; for a client that reads
    /// again, with its retries. `None` for an attempt that nobody should run.
    pub fn go(&self) -> Option<String> {
        if self.method == WriteMethod::Update {
            return None;
        }
        let node = *self.history.current_path().last()?;
        let step = self.history.step(node)?;
        let mut call = ClientRequest::of_step(self.history.world_at(node)?, step)?;
        let subject = self.history.world().subject();
        let target = self.made_up.target(subject, call.target);
        let body = self.made_up.body(subject, call.body);
        (call.target, call.body) = (&target, &body);
        let on_conflict = step.write()?.on_conflict;
        call.attempts = on_conflict.attempts();
        call.reads_again = on_conflict.reads_again();
        let editor = &*self.history.world().actor(ActorId::A).manager;
        Some(client_go(&call).code.replace(editor, CLIENT))
    }
}

/// The history of the refusal: both clients read the object, the other one writes first, and the Update
/// of this client is refused. `None` if the object is gone or the other client's write is refused.
pub fn refusal(installed: &Installed) -> Option<HistoryTree> {
    let mut tree = HistoryTree::new(installed.world.clone());
    tree.act(Operation::Act(ActorId::A, Action::Get))?;
    tree.act(Operation::Act(ActorId::B, Action::Get))?;
    edit(&mut tree, ActorId::A, EDITS[0])?;
    edit(&mut tree, ActorId::B, EDITS[1])?;
    let (of_a, of_b) = (
        Write::usual(Strategy::Update),
        Write::usual(Strategy::MergePatch),
    );
    tree.world_mut()
        .actor_mut(ActorId::B)
        .set_write(of_b.clone());
    tree.world_mut()
        .actor_mut(ActorId::A)
        .set_write(of_a.clone());
    let written = tree.act(Operation::Act(ActorId::B, Action::Send(of_b)))?;
    if code(&tree, written)? >= 300 {
        return None;
    }
    tree.act(Operation::Act(ActorId::A, Action::Send(of_a)))?;
    Some(tree)
}

/// Runs a next attempt of a client after the refusal. `None` if there is no refusal.
pub fn attempt(installed: &Installed, method: WriteMethod) -> Option<NextAttempt> {
    let mut tree = refusal(installed)?;
    let refused = tree.current();
    if code(&tree, refused)? != 409 {
        return None;
    }
    if method == WriteMethod::UpdateReadAgain {
        tree.act(Operation::Act(ActorId::A, Action::Get))?;
    }
    let write = method.write(OnConflict::DEFAULT_ATTEMPTS);
    tree.world_mut()
        .actor_mut(ActorId::A)
        .set_write(write.clone());
    let last = tree.act(Operation::Act(ActorId::A, Action::Send(write)))?;
    let (_, stored) = tree.world().stored()?;
    let [keeps_own, keeps_other] = EDITS.map(|edit| {
        let annotations = stored.metadata().and_then(|meta| meta.get("annotations"));
        annotations.is_some_and(|all| all.get(edit).is_some())
    });
    Some(NextAttempt {
        method,
        code: code(&tree, last)?,
        keeps_own,
        keeps_other,
        history: tree,
        made_up: installed.made_up,
    })
}

fn edit(tree: &mut HistoryTree, actor: ActorId, annotation: &str) -> Option<()> {
    let copy = tree.world_mut().copy_mut(actor);
    let mut object = (**copy.edited()?).clone();
    let annotations = map_mut(&mut object["metadata"])
        .entry("annotations")
        .or_insert(Value::Null);
    map_mut(annotations).insert(annotation.to_owned(), "1".into());
    copy.edit(object);
    Some(())
}

fn code(tree: &HistoryTree, node: NodeId) -> Option<u16> {
    Some(tree.step(node)?.exchange.as_ref()?.code)
}

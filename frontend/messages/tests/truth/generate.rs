//! Random histories: each is a list of seeds. A seed and the state decide what is done, so that a
//! history stays one when a seed is left out.

use std::collections::BTreeMap;

use optimist_client::{Declares, Lost, OnConflict, Preset, Strategy, Subresource, Write};
use optimist_controller::program::{ReadyProgram, ReadyProgramName};
use optimist_simulation::{
    Action, ActorId, ByHand, ControllerOperation, ControllerStart, ENDINGS, HistoryTree, NGINX,
    Operation, Preconditions, Start, WIDGET, WatchAction, World,
};
use serde_json::{Value, json};

use super::random::Random;

/// The session that a seed begins.
pub fn begin(seed: u64) -> HistoryTree {
    let mut random = Random::new(seed);
    let start = match random.below(16) {
        0..5 => Start::with(NGINX),
        5 => Start::with(POD),
        6 => Start::with(CONFIG_MAP),
        7 => Start::with(RULED),
        8 => Start::with(&format!("{NGINX}\n---\n{CONFIG_MAP}\n---\n{SERVICE}")),
        9 => Start::with(SERVICE),
        10 => Start::with(REVISION),
        _ => Start {
            controllers: controllers(&mut random),
            ..Start::with(WIDGET)
        },
    };
    let start = Start {
        applied: random.once_in(3),
        ..start
    };
    let mut tree = HistoryTree::new(World::from_start(start.into()).expect("the object loads").0);
    if random.below(4) > 0 {
        for controller in [ActorId::C, ActorId::D] {
            tree.connect_controller(controller);
        }
    }
    tree
}

/// One controller, or two.
fn controllers(random: &mut Random) -> BTreeMap<ActorId, ControllerStart> {
    let actors = [ActorId::C, ActorId::D].into_iter();
    let count = 1 + usize::from(random.once_in(3));
    actors
        .take(count)
        .map(|actor| (actor, program(random).into()))
        .collect()
}

fn program(random: &mut Random) -> ReadyProgram {
    let name = *random.choose(&ReadyProgramName::ALL);
    let switches = name.switches().iter().copied();
    ReadyProgram::new(name).with(switches.filter(|_| random.once_in(3)))
}

/// Does what a seed says. `None` if that is not possible now.
pub fn act(tree: &mut HistoryTree, seed: u64) -> Option<()> {
    let mut random = Random::new(seed);
    let random = &mut random;
    let controlled = tree.world().has_controllers();
    let actor = actor(random, controlled);
    if seed % 23 == 5 {
        return scale(tree, actor, random);
    }
    // C has the right lane then.
    if seed % 115 == 10 {
        return read_beside_a(tree, random);
    }
    if random.once_in(12) {
        return recipe(tree, actor, random);
    }
    let kind = random.below(100);
    if controlled && random.below(2) == 0 {
        return control(tree, random);
    }
    let operation = match kind {
        0..16 => Operation::Act(actor, Action::Get),
        16..36 => {
            for _ in 0..=random.below(2) {
                edit(tree, actor, random);
            }
            return Some(());
        }
        36..60 => Operation::Act(actor, Action::Send(write(random))),
        60..63 => Operation::Act(actor, Action::Create),
        63..67 => {
            let (uid, version) = (random.once_in(3), random.once_in(3));
            let resource_version = version;
            Operation::Act(
                actor,
                Action::Delete(Preconditions {
                    uid,
                    resource_version,
                }),
            )
        }
        67..73 => Operation::Act(actor, Action::Request(by_hand(tree.world(), random))),
        73..84 => Operation::Watch(watch(tree.world(), random)),
        84..88 => Operation::Compact {
            restart: random.once_in(2),
        },
        88..90 => Operation::Wait(*random.choose(&[1, 5, 31, 70])),
        90..97 => return go(tree, random),
        _ => {
            let method = *random.choose(&ENDINGS);
            tree.go_to_ending(method)?
        }
    };
    tree.act(operation).map(drop)
}

/// Several operations that are rare in a row.
fn recipe(tree: &mut HistoryTree, actor: ActorId, random: &mut Random) -> Option<()> {
    let world = tree.world();
    let path = world.subject().path();
    let merge = |body: Value| ByHand {
        method: "PATCH".to_owned(),
        target: path.clone(),
        content_type: "application/merge-patch+json".to_owned(),
        body: body.to_string(),
    };
    let hold = merge(json!({"metadata": {"finalizers": ["example.com/hold"]}}));
    let free = merge(json!({"metadata": {"finalizers": null}}));
    let act = |tree: &mut HistoryTree, action| tree.act(Operation::Act(actor, action)).map(drop);
    let delete = Action::Delete(Preconditions::default());
    match random.below(8) {
        // Held by a finalizer, deleted twice, and freed.
        0 => {
            act(tree, Action::Request(hold))?;
            act(tree, delete.clone())?;
            act(tree, delete)?;
            match random.below(3) {
                0 => Some(()),
                _ => act(tree, Action::Request(free)),
            }
        }
        // A watch that falls behind, and begins again.
        1 => {
            tree.act(Operation::Watch(WatchAction::Open(String::new())))?;
            tree.act(Operation::Watch(WatchAction::Drop))?;
            for _ in 0..random.below(9) {
                act(tree, Action::Request(by_hand(tree.world(), random)));
            }
            let compacts = random
                .once_in(2)
                .then_some(Operation::Compact { restart: true });
            compacts.and_then(|compact| tree.act(compact));
            tree.act(Operation::Watch(WatchAction::Resume)).map(drop)
        }
        2 => {
            tree.act(Operation::Watch(WatchAction::List))?;
            if random.once_in(2) {
                act(tree, Action::Request(by_hand(tree.world(), random)));
            }
            tree.act(Operation::Watch(WatchAction::Resume)).map(drop)
        }
        // An apply of a field as it is.
        3 => {
            act(tree, Action::Get)?;
            edit_by(tree, actor, random, 14);
            let apply = Write {
                force: random.once_in(2),
                ..Write::usual(Strategy::Apply)
            };
            act(tree, Action::Send(apply))
        }
        // Two edit at once, and the second tries again.
        4 => {
            act(tree, Action::Get)?;
            edit_by(tree, actor, random, 0);
            let label = json!({"spec": {"replicas": random.below(9)}});
            let other = if actor == ActorId::A {
                ActorId::B
            } else {
                ActorId::A
            };
            if random.once_in(2) {
                tree.act(Operation::Act(other, Action::Get))?;
            }
            tree.act(Operation::Act(other, Action::Request(merge(label))))?;
            let on_conflict = OnConflict::ReadAgain(3);
            act(
                tree,
                Action::Send(Write {
                    on_conflict,
                    ..Write::default()
                }),
            )
        }
        // Two edits at once, and all ways to send the second.
        5 => {
            let [a, b] = ActorId::EDITORS;
            for (editor, kind) in [(a, 0), (b, [0, 10, 6][random.below(3)])] {
                tree.act(Operation::Act(editor, Action::Get))?;
                edit_by(tree, editor, random, kind);
            }
            for editor in [a, b] {
                tree.act(Operation::Act(editor, Action::Send(Write::default())))?;
            }
            for method in ENDINGS {
                if let Some(operation) = tree.go_to_ending(method) {
                    tree.act(operation);
                }
            }
            Some(())
        }
        // One who reads, writes by hand, and then sends the copy from before. Another one has read too.
        6 => {
            for editor in ActorId::EDITORS {
                tree.act(Operation::Act(editor, Action::Get))?;
            }
            act(
                tree,
                Action::Request(merge(json!({"metadata": {"labels": {"by": "hand"}}}))),
            )?;
            edit_by(tree, actor, random, 0);
            act(tree, Action::Send(Write::default()))
        }
        // All other ways to send the same.
        _ => {
            for method in ENDINGS {
                if let Some(operation) = tree.go_to_ending(method) {
                    tree.act(operation);
                }
            }
            Some(())
        }
    }
}

/// Editor A writes, and the third actor reads what it wrote. Editor B has at most what was there before.
fn read_beside_a(tree: &mut HistoryTree, random: &mut Random) -> Option<()> {
    tree.act(Operation::Act(ActorId::A, Action::Get))?;
    edit_by(tree, ActorId::A, random, 0);
    let update = Action::Send(Write::default());
    tree.act(Operation::Act(ActorId::A, update))?;
    tree.act(Operation::Act(ActorId::C, Action::Get)).map(drop)
}

/// An HPA reads the Scale, and tries again after a conflict.
fn scale(tree: &mut HistoryTree, actor: ActorId, random: &mut Random) -> Option<()> {
    let write = Preset::Autoscaler.write(tree.world().resource())?;
    tree.act(Operation::Act(actor, Action::GetScale))?;
    let copy = tree.world_mut().copy_mut(actor);
    let mut edited = Value::clone(copy.edited()?);
    edited["spec"]["replicas"] = random.below(9).into();
    copy.edit(edited);
    if random.once_in(2) {
        let other = match actor {
            ActorId::A => ActorId::B,
            _ => ActorId::A,
        };
        tree.act(Operation::Act(other, Action::Get))?;
        edit_by(tree, other, random, 0);
        tree.act(Operation::Act(other, Action::Send(Write::default())))?;
    }
    tree.act(Operation::Act(actor, Action::Send(write)))?;
    if random.once_in(2) {
        tree.retry(actor);
    }
    Some(())
}

fn actor(random: &mut Random, controlled: bool) -> ActorId {
    match random.below(10) {
        0..5 => ActorId::A,
        5..9 => ActorId::B,
        _ if controlled => ActorId::A,
        _ => ActorId::C,
    }
}

fn control(tree: &mut HistoryTree, random: &mut Random) -> Option<()> {
    let controllers: Vec<ActorId> = tree.world().controllers().map(|(id, _)| id).collect();
    let controller = *random.choose(&controllers);
    let cache = random.below(2);
    let operation = match random.below(22) {
        0 => ControllerOperation::Connect(cache),
        20 => ControllerOperation::StepLosing(Lost::Answer),
        21 => ControllerOperation::StepLosing(Lost::Request),
        1..6 => ControllerOperation::Deliver(cache),
        6..15 => ControllerOperation::Step,
        15 => ControllerOperation::DropWatch(cache),
        16 => ControllerOperation::Resync(cache),
        17 => ControllerOperation::Restart,
        18 => ControllerOperation::Wake,
        _ => return tree.run_controller(controller).map(drop),
    };
    tree.act(Operation::Control(controller, operation))
        .map(drop)
}

fn go(tree: &mut HistoryTree, random: &mut Random) -> Option<()> {
    match random.below(6) {
        0 | 1 => tree.back(),
        2 => tree.forward(),
        3 => {
            let nodes = tree.len();
            tree.go(random.below(nodes))
        }
        4 => {
            let world = tree.world();
            let subjects: Vec<_> = world.subjects().cloned().collect();
            let subject = random.choose(&subjects);
            let (kind, name) = (subject.resource().kind.clone(), subject.name().to_owned());
            tree.world_mut().look_at(&kind, &name)
        }
        _ => {
            tree.world_mut().copy_mut(ActorId::B).discard();
            true
        }
    }
    .then_some(())
}

/// Draws a way of writing, often the usual one.
fn write(random: &mut Random) -> Write {
    let strategy = *random.choose(&[
        Strategy::Update,
        Strategy::Update,
        Strategy::MergePatch,
        Strategy::StrategicMergePatch,
        Strategy::JsonPatch,
        Strategy::Apply,
        Strategy::Apply,
    ]);
    let attempts = OnConflict::DEFAULT_ATTEMPTS;
    let usual = Write::usual(strategy);
    Write {
        send_resource_version: match random.below(3) {
            0 => !usual.send_resource_version,
            _ => usual.send_resource_version,
        },
        test_values: random.once_in(2),
        force: random.once_in(2),
        declares: *random.choose(&[Declares::Edits, Declares::Edits, Declares::Manifest]),
        dry_run: random.once_in(12),
        manager: match random.below(10) {
            0 => Some("helm".to_owned()),
            1 => Some("kubectl-client-side-apply".to_owned()),
            2 => Some("editor-b".to_owned()),
            _ => None,
        },
        on_conflict: match random.below(5) {
            0 => OnConflict::ReadAgain(attempts),
            1 => OnConflict::Resend(2),
            _ => OnConflict::GiveUp,
        },
        subresource: match random.below(10) {
            0 => Some(Subresource::Status),
            1 => Some(Subresource::Scale),
            _ => None,
        },
        body: match random.below(25) {
            0 => Some("{".to_owned()),
            1 => Some(json!({"spec": {"replicas": random.below(9)}}).to_string()),
            _ => None,
        },
        ..usual
    }
}

fn watch(world: &World, random: &mut Random) -> WatchAction {
    let revisions: Vec<u64> = world.revisions().collect();
    match random.below(12) {
        0 => WatchAction::Open(String::new()),
        1 => WatchAction::Open("0".to_owned()),
        2 => WatchAction::Open("soon".to_owned()),
        3 => WatchAction::Open((world.server().store().revision() + 3).to_string()),
        4 if !revisions.is_empty() => WatchAction::Open((revisions[0] - 1).to_string()),
        5 | 6 if !revisions.is_empty() => WatchAction::Open(random.choose(&revisions).to_string()),
        7 | 8 => WatchAction::Resume,
        9 => WatchAction::List,
        _ => WatchAction::Drop,
    }
}

/// A request by hand, about the object or another one.
fn by_hand(world: &World, random: &mut Random) -> ByHand {
    let subject = world.subject();
    let (path, group_version) = (subject.path(), subject.resource().group_version.to_string());
    let kind = &subject.resource().kind;
    let stored = world.stored().map(|(_, object)| (**object).clone());
    let mut object = stored.unwrap_or_else(|| {
        json!({"apiVersion": group_version, "kind": kind,
            "metadata": {"name": subject.name(), "namespace": subject.namespace()}})
    });
    let merge = "application/merge-patch+json";
    let request = |method: &str, target: String, content_type: &str, body: String| ByHand {
        method: method.to_owned(),
        target,
        content_type: content_type.to_owned(),
        body,
    };
    let number = random.below(9);
    match random.below(18) {
        0 => request("GET", path, "", String::new()),
        1 => request("GET", format!("{path}-other"), "", String::new()),
        2 => {
            object["metadata"]["labels"]["seen"] = number.to_string().into();
            request("PUT", path, "application/json", object.to_string())
        }
        3 => {
            object["metadata"]["resourceVersion"] = "99".into();
            request("PUT", path, "application/json", object.to_string())
        }
        4 => request("DELETE", path, "", String::new()),
        5 => {
            let options = json!({"preconditions": {"uid": "another"}}).to_string();
            request("DELETE", path, "application/json", options)
        }
        6 => {
            let options = json!({"gracePeriodSeconds": 0}).to_string();
            request("DELETE", path, "application/json", options)
        }
        7 => {
            let finalizers = json!({"metadata": {"finalizers": null}}).to_string();
            request("PATCH", path, merge, finalizers)
        }
        8 => {
            let finalizers = json!({"metadata": {"finalizers": ["example.com/hold"]}}).to_string();
            request("PATCH", path, merge, finalizers)
        }
        9 => {
            let at = *random.choose(&[
                "/spec/replicas",
                "/metadata/labels/app",
                "/data/greeting",
                "",
            ]);
            let tests = json!([{"op": "test", "path": at, "value": number}]).to_string();
            request("PATCH", path, "application/json-patch+json", tests)
        }
        10 => {
            let wrong = json!([{"op": "remove", "path": "/spec/nothing"}]).to_string();
            request("PATCH", path, "application/json-patch+json", wrong)
        }
        11 => {
            let uid = json!({"metadata": {"uid": "another"}}).to_string();
            request("PATCH", path, merge, uid)
        }
        12 => {
            let label = json!({"metadata": {"labels": {"seen": number.to_string()}}}).to_string();
            request("PATCH", format!("{path}?dryRun=All"), merge, label)
        }
        13 => request("DELETE", format!("{path}?dryRun=All"), "", String::new()),
        14 => {
            object["metadata"] = json!({"name": format!("{}-other", subject.name())});
            let collection = path
                .rsplit_once('/')
                .map_or("", |(start, _)| start)
                .to_owned();
            request("POST", collection, "application/json", object.to_string())
        }
        16 => {
            let mut wanted = json!({"apiVersion": group_version, "kind": kind,
                "metadata": {"name": subject.name(), "labels": {"app": number.to_string()}}});
            if object["spec"].get("replicas").is_some() {
                wanted["spec"] = json!({"replicas": number});
            }
            let apply = "application/apply-patch+yaml";
            request(
                "PATCH",
                format!("{path}?fieldManager=by-hand"),
                apply,
                wanted.to_string(),
            )
        }
        15 => {
            let label = json!({"metadata": {"labels": {"seen": number.to_string()}}}).to_string();
            request("PATCH", format!("{path}-other"), merge, label)
        }
        _ => {
            let version = world.stored().map_or(1, |(version, _)| version);
            let versioned = json!([
                {"op": "test", "path": "/metadata/resourceVersion",
                    "value": (version - number as u64 % 2).to_string()},
                {"op": "add", "path": "/metadata/annotations", "value": {"n": number.to_string()}},
            ]);
            request(
                "PATCH",
                path,
                "application/json-patch+json",
                versioned.to_string(),
            )
        }
    }
}

/// Changes something in a working copy.
fn edit(tree: &mut HistoryTree, actor: ActorId, random: &mut Random) {
    let kind = random.below(16);
    edit_by(tree, actor, random, kind);
}

fn edit_by(tree: &mut HistoryTree, actor: ActorId, random: &mut Random, kind: usize) {
    let Some(edited) = tree.world().copy(actor).edited() else {
        return;
    };
    let mut object = (**edited).clone();
    let number = random.below(9) as u64;
    let text = number.to_string();
    match kind {
        0..4 if object["spec"].get("replicas").is_some() => {
            object["spec"]["replicas"] = number.into();
        }
        4 | 5 => change_leaf(&mut object, random),
        6 => object["metadata"]["labels"]["tier"] = text.into(),
        7 => object["metadata"]["annotations"][["a", "b"][random.below(2)]] = text.into(),
        8 => {
            let finalizers = json!([["example.com/hold"], ["example.com/a", "example.com/b"]]);
            object["metadata"]["finalizers"] = finalizers[random.below(2)].clone();
        }
        9 => {
            remove(&mut object["metadata"], "finalizers");
        }
        10 => {
            let template = "/spec/template/spec";
            let spec = if object.pointer(template).is_some() {
                template
            } else {
                "/spec"
            };
            if let Some(spec) = object.pointer_mut(spec) {
                pod_spec(spec, random);
            }
        }
        11 if object.get("data").is_some() => object["data"][&text] = text.clone().into(),
        12 => {
            let at = random.below(3);
            let members = ["replicas", "paused", "selector"];
            remove(&mut object["spec"], members[at]);
        }
        13 => object["status"]["observedGeneration"] = number.into(),
        14 => {
            let path = optimist_apiserver::apply::Path(vec![
                optimist_apiserver::apply::PathElement::Field("spec".to_owned()),
                optimist_apiserver::apply::PathElement::Field("replicas".to_owned()),
            ]);
            if path.find(&object).is_some() {
                tree.world_mut().copy_mut(actor).declare(path);
            }
            return;
        }
        _ => object["metadata"]["labels"]["seen"] = text.into(),
    }
    tree.world_mut().copy_mut(actor).edit(object);
}

fn remove(object: &mut Value, member: &str) {
    if let Some(object) = object.as_object_mut() {
        object.remove(member);
    }
}

fn pod_spec(spec: &mut Value, random: &mut Random) {
    let number = random.below(4);
    match random.below(5) {
        0 => {
            spec["nodeSelector"][["disk", "zone"][random.below(2)]] = number.to_string().into();
        }
        1 => {
            let name = *random.choose(&["sidecar", "proxy"]);
            let image = format!("{name}:{number}");
            if let Some(all) = spec["containers"].as_array_mut() {
                all.retain(|one| one["name"] != name);
                all.push(json!({"name": name, "image": image}));
            }
        }
        2 => {
            if let Some(all) = spec["containers"].as_array_mut()
                && all.len() > 1
            {
                all.pop();
            }
        }
        3 => {
            let args = json!([format!("--v={number}"), "--x"]);
            if let Some(first) = spec.pointer_mut("/containers/0") {
                first["args"] = args;
            }
        }
        _ => {
            let image = format!("nginx:{number}");
            if let Some(first) = spec.pointer_mut("/containers/0") {
                first["image"] = image.into();
            }
        }
    }
}

/// Sets or removes some value that is no object and no list.
fn change_leaf(object: &mut Value, random: &mut Random) {
    let mut leaves = Vec::new();
    let member = *random.choose(&["spec", "data", "status"]);
    collect(&object[member], format!("/{member}"), &mut leaves);
    if leaves.is_empty() {
        return;
    }
    let at = random.choose(&leaves).clone();
    let number = random.below(9) as u64;
    if random.once_in(4) {
        let (parent, last) = at.rsplit_once('/').unwrap_or_default();
        if let Some(parent) = object.pointer_mut(parent) {
            remove(parent, last);
        }
        return;
    }
    if let Some(leaf) = object.pointer_mut(&at) {
        *leaf = match leaf {
            Value::Number(_) => number.into(),
            Value::Bool(flag) => (!*flag).into(),
            _ => format!("v{number}").into(),
        };
    }
}

fn collect(value: &Value, at: String, leaves: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                collect(value, format!("{at}/{}", name.replace('/', "~1")), leaves);
            }
        }
        Value::Array(items) => {
            for (i, value) in items.iter().enumerate() {
                collect(value, format!("{at}/{i}"), leaves);
            }
        }
        Value::Null => {}
        _ => leaves.push(at),
    }
}

pub const CONFIG_MAP: &str = "apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
data: {greeting: hello, mode: fast}
";

const SERVICE: &str = "apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec:
  selector: {app: nginx}
  ports: [{name: http, port: 80}]
";

/// A kind of a few fields, of which one cannot change.
pub const REVISION: &str = "apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: web-1, namespace: default}
data: {greeting: hello}
revision: 1
";

pub const POD: &str = "apiVersion: v1
kind: Pod
metadata: {name: one, namespace: default}
spec:
  nodeName: worker
  containers: [{name: main, image: 'nginx:1'}]
";

/// A custom resource with a rule that the server can evaluate and one that it cannot.
pub const RULED: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.demo.example.com}
spec:
  group: demo.example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations: [{rule: 'self.replicas <= 7'}, {rule: 'timestamp(self.fed).getHours(\"Europe/Berlin\") < 12'}]
            properties:
              replicas: {type: integer}
              fed: {type: string}
          status:
            type: object
            x-kubernetes-preserve-unknown-fields: true
---
apiVersion: demo.example.com/v1
kind: Gadget
metadata: {name: one, namespace: default}
spec: {replicas: 1, fed: '2026-01-01T08:00:00Z'}
";

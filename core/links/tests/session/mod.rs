//! Sessions to begin with, and everything that is seen of one.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use optimist_client::{Strategy as WriteMethod, Subresource, Write};
use optimist_links::Session;
use optimist_simulation::{
    Action, ActorId, HistoryTree, NGINX, Operation, Preconditions, WatchAction, World,
};
use serde_json::Value;

pub fn reopened(tree: &HistoryTree) -> HistoryTree {
    let text = Session::from_tree(tree).to_text();
    let session = Session::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    session
        .replay()
        .finish()
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Everything that is seen of a tree.
pub fn seen(tree: &HistoryTree) -> Vec<String> {
    let mut seen = vec![format!(
        "at {}, line {:?}",
        tree.current(),
        tree.current_path()
    )];
    for id in 0..tree.len() {
        let world = tree.world_at(id).unwrap();
        let step = tree.step(id);
        seen.push(format!(
            "{id} after {:?}: {:?} {:?} {:?}",
            tree.parent(id),
            step.map(|step| (
                step.actor(),
                step.headline().to_string(),
                step.arrived.len()
            )),
            step.and_then(|step| step.exchange.as_ref()),
            world.stored(),
        ));
        for actor in ActorId::ALL {
            let actor = world.actor(actor);
            let copy = actor.copy(world.subject());
            seen.push(format!(
                "  {} {} {:?} {:?} {:?}",
                actor.name,
                actor.manager,
                (
                    actor.write().strategy,
                    WriteMethod::ALL.map(|way| actor.write_by(way))
                ),
                copy.read(),
                copy.edited()
            ));
        }
    }
    seen
}

pub fn edit(tree: &mut HistoryTree, actor: ActorId, change: impl FnOnce(&mut Value)) {
    let copy = tree.world_mut().copy_mut(actor);
    if let Some(edited) = copy.edited() {
        let mut object = edited.as_ref().clone();
        change(&mut object);
        copy.edit(object);
    }
}

pub fn packed(json: &Value) -> String {
    let deflated = miniz_oxide::deflate::compress_to_vec(json.to_string().as_bytes(), 6);
    format!("1{}", URL_SAFE_NO_PAD.encode(deflated))
}

pub fn both_want_to_write() -> HistoryTree {
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    for (actor, replicas) in [(ActorId::A, 5), (ActorId::B, 2)] {
        tree.act(Operation::Act(actor, Action::Get));
        edit(&mut tree, actor, |object| {
            object["spec"]["replicas"] = replicas.into();
        });
    }
    for actor in ActorId::EDITORS {
        tree.act(Operation::Act(actor, Action::Send(Write::default())));
    }
    tree.go(3);
    tree
}

/// A bit of everything: two objects, a branch, a third actor, all that a step can be.
pub fn a_bit_of_everything() -> HistoryTree {
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n---\n";
    let mut tree = HistoryTree::new(World::load(&format!("{config}{NGINX}")).unwrap().0);
    let (a, c) = (ActorId::A, ActorId::C);
    tree.act(Operation::Watch(WatchAction::Open(String::new())));
    for (strategy, replicas) in WriteMethod::ALL.into_iter().zip(4..) {
        tree.act(Operation::Act(a, Action::Get));
        edit(&mut tree, a, |object| {
            object["spec"]["replicas"] = replicas.into()
        });
        let write = Write {
            force: strategy == WriteMethod::Apply,
            ..Write::usual(strategy)
        };
        tree.act(Operation::Act(a, Action::Send(write)));
    }
    tree.act(Operation::Act(c, Action::Get));
    edit(&mut tree, c, |object| {
        object["status"]["observedGeneration"] = 3.into()
    });
    let status = Write {
        subresource: Some(Subresource::Status),
        ..Write::default()
    };
    tree.act(Operation::Act(c, Action::Send(status)));
    tree.act(Operation::Compact { restart: true });
    tree.act(Operation::Wait(60));
    tree.go(4);
    let preconditions = Preconditions {
        uid: true,
        resource_version: false,
    };
    tree.act(Operation::Act(a, Action::Delete(preconditions)));
    tree.act(Operation::Act(a, Action::Create));
    tree.world_mut().look_at("ConfigMap", "settings");
    tree.act(Operation::Act(c, Action::Get));
    tree
}

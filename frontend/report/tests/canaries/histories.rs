//! Places of Play where a text with a secret can be.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use optimist_client::{Strategy, Write, to_yaml};
use optimist_lesson::PageRecord;
use optimist_links::{Learning, Session};
use optimist_simulation::{Action, ActorId, ByHand, HistoryTree, Operation, World};
use serde_json::{Value, json};

use super::carriers::carriers;
use super::places::{config, data};
use super::secrets::Secrets;

/// A place of Play.
type HistoryPlace = fn(&mut Secrets) -> Session;

pub fn of_play() -> Vec<(&'static str, HistoryPlace)> {
    vec![
        ("manifests", manifests),
        ("edits", edits),
        ("bodies by hand", bodies),
        ("addresses by hand", addresses),
        ("patches of a Secret", secret_patches),
        ("a lesson from a file", lesson),
        ("the search of Explore", explored),
    ]
}

fn tree(manifests: &str) -> HistoryTree {
    let world = World::load(manifests).unwrap_or_else(|error| panic!("{error:?}\n{manifests}"));
    HistoryTree::new(world.0)
}

fn session(tree: &HistoryTree) -> Session {
    let mut session = Session::from_tree(tree);
    session.page = "play".to_owned();
    session
}

fn manifests(secrets: &mut Secrets) -> Session {
    let texts = carriers(secrets);
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login"},
        "data": {"a": STANDARD.encode(secrets.word())}, "stringData": {"b": secrets.signs()}});
    let mut tree = tree(&format!(
        "{}---\n{}",
        to_yaml(&config(data(&texts))),
        to_yaml(&secret)
    ));
    tree.act(Operation::Act(ActorId::A, Action::Get));
    session(&tree)
}

fn edit(tree: &mut HistoryTree, change: impl FnOnce(&mut Value)) {
    let copy = tree.world_mut().copy_mut(ActorId::A);
    let mut object = copy.edited().expect("it was read").as_ref().clone();
    change(&mut object);
    copy.edit(object);
}

fn edits(secrets: &mut Secrets) -> Session {
    let mut tree = tree(&to_yaml(&config(json!({"a": "b"}))));
    let act = |tree: &mut HistoryTree, action| tree.act(Operation::Act(ActorId::A, action));
    for (at, strategy) in Strategy::ALL.into_iter().enumerate() {
        act(&mut tree, Action::Get);
        let texts = carriers(secrets);
        edit(&mut tree, |object| {
            object["data"] = data(&texts);
            object["data"][format!("password-{at}")] = secrets.word().into();
            object["metadata"]["annotations"]["token"] = secrets.signs().into();
        });
        act(&mut tree, Action::Send(Write::usual(strategy)));
    }
    act(&mut tree, Action::Get);
    // An edit that was not sent.
    edit(&mut tree, |object| {
        object["data"]["password"] = secrets.word().into()
    });
    session(&tree)
}

fn by_hand(method: &str, target: &str, content_type: &str, body: String) -> Operation {
    let by_hand = ByHand {
        method: method.to_owned(),
        target: target.to_owned(),
        content_type: content_type.to_owned(),
        body,
    };
    Operation::Act(ActorId::A, Action::Request(by_hand))
}

const SETTINGS: &str = "/api/v1/namespaces/shop/configmaps/settings";

fn bodies(secrets: &mut Secrets) -> Session {
    let mut tree = tree(&to_yaml(&config(json!({"a": "b"}))));
    let merge = json!({"data": data(&carriers(secrets))});
    tree.act(by_hand(
        "PATCH",
        SETTINGS,
        "application/merge-patch+json",
        merge.to_string(),
    ));
    let json_patch = json!([
        {"op": "add", "path": "/data/password", "value": secrets.word()},
        {"op": "add", "path": "/data/x", "value": format!("token={}", secrets.word())}]);
    tree.act(by_hand(
        "PATCH",
        SETTINGS,
        "application/json-patch+json",
        json_patch.to_string(),
    ));
    let apply = to_yaml(&config(json!({"token": secrets.signs()})));
    let target = format!("{SETTINGS}?fieldManager=me&force=true");
    tree.act(by_hand(
        "PATCH",
        &target,
        "application/apply-patch+yaml",
        apply,
    ));
    let broken = format!("{{\"data\": {{\"password\": \"{}\"", secrets.word());
    tree.act(by_hand(
        "PATCH",
        SETTINGS,
        "application/merge-patch+json",
        broken,
    ));
    let write = Write {
        body: Some(json!({"data": {"password": secrets.word()}}).to_string()),
        ..Write::usual(Strategy::MergePatch)
    };
    tree.act(Operation::Act(ActorId::A, Action::Get));
    tree.act(Operation::Act(ActorId::A, Action::Send(write)));
    session(&tree)
}

fn addresses(secrets: &mut Secrets) -> Session {
    let mut tree = tree(&to_yaml(&config(json!({"a": "b"}))));
    let target = format!("{SETTINGS}?access_token={}", secrets.word());
    tree.act(by_hand("GET", &target, "", String::new()));
    let target = format!("{SETTINGS}?fieldManager={}", secrets.random());
    tree.act(by_hand("DELETE", &target, "", String::new()));
    session(&tree)
}

fn secret_patches(secrets: &mut Secrets) -> Session {
    let secret = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "login", "namespace": "shop"},
        "data": {"a": STANDARD.encode(secrets.word())}});
    let mut tree = tree(&to_yaml(&secret));
    let target = "/api/v1/namespaces/shop/secrets/login";
    let merge = json!({"data": {"a": STANDARD.encode(secrets.word())},
        "stringData": {"b": secrets.word()}});
    tree.act(by_hand(
        "PATCH",
        target,
        "application/merge-patch+json",
        merge.to_string(),
    ));
    let json_patch = json!([
        {"op": "replace", "path": "/data/a", "value": STANDARD.encode(secrets.word())}]);
    tree.act(by_hand(
        "PATCH",
        target,
        "application/json-patch+json",
        json_patch.to_string(),
    ));
    tree.act(Operation::Act(ActorId::A, Action::Get));
    let word = STANDARD.encode(secrets.signs());
    edit(&mut tree, |object| object["data"]["a"] = word.into());
    tree.act(Operation::Act(ActorId::A, Action::Send(Write::default())));
    session(&tree)
}

fn lesson(secrets: &mut Secrets) -> Session {
    let mut tree = tree(&to_yaml(&config(json!({"a": "b"}))));
    tree.act(Operation::Act(ActorId::A, Action::Get));
    let manifest = to_yaml(&config(
        json!({"password": secrets.word(), "file": carriers(secrets).join("\n")}),
    ));
    let text = json!({"title": "Mine", "object": manifest, "pages": [{"text": format!(
        "Use the password: {}", secrets.word())}]});
    let learning = Learning {
        name: String::new(),
        text: Some(to_yaml(&text)),
        at: 0,
        pages: vec![PageRecord::default()],
    };
    // A lesson that cannot be read is opened in Play.
    let mut session = Session::of_lesson(&tree, learning);
    session.page = "play".to_owned();
    session
}

fn explored(secrets: &mut Secrets) -> Session {
    let mut tree = tree(&to_yaml(&config(data(&carriers(secrets)))));
    tree.act(Operation::Act(ActorId::A, Action::Get));
    edit(&mut tree, |object| {
        object["data"]["token"] = secrets.word().into()
    });
    let mut session = session(&tree);
    session.page = "explore".to_owned();
    session.extra = json!({"edits": null, "note": format!("password={}", secrets.word())});
    session
}

//! Actors that are tools: one name for each, and the change of a person before the record of a tool.

use optimist_apiserver::apply::LAST_APPLIED;
use optimist_client::{Preset, Write, edit_scalar};
use optimist_messages::{answer, answer_brief, caption, headline, last_write};
use optimist_simulation::{
    Action, ActorId, ByHand, HistoryTree, NGINX, NodeId, Operation, Preconditions, World,
};

fn session() -> HistoryTree {
    HistoryTree::new(World::load(NGINX).unwrap().0)
}

fn act(tree: &mut HistoryTree, actor: ActorId, action: Action) -> NodeId {
    tree.act(Operation::Act(actor, action)).unwrap()
}

fn send(tree: &mut HistoryTree, actor: ActorId) -> NodeId {
    let write = tree.world().actor(actor).write();
    act(tree, actor, Action::Send(write))
}

/// A tool reads, and writes two replicas.
fn two_replicas(tree: &mut HistoryTree, actor: ActorId, tool: Preset) -> NodeId {
    assert!(tree.world_mut().become_tool(actor, tool));
    act(tree, actor, Action::Get);
    let copy = tree.world_mut().copy_mut(actor);
    let edited = edit_scalar(copy.edited().unwrap(), "/spec/replicas", "2").unwrap();
    copy.edit(edited);
    send(tree, actor)
}

#[test]
fn of_client_side_apply_the_change_of_a_person_is_lost_and_not_its_annotation() {
    let mut tree = session();
    act(&mut tree, ActorId::A, Action::Get);
    let applied = two_replicas(&mut tree, ActorId::C, Preset::KubectlApply);
    let step = tree.step(applied).unwrap();
    assert_eq!(headline(step), "PATCH manifest replicas 3→2 +1");
    let deleted = act(
        &mut tree,
        ActorId::A,
        Action::Delete(Preconditions::default()),
    );
    let (step, world) = (tree.step(deleted).unwrap(), tree.world());
    assert_eq!(
        answer(step, world),
        "200 OK · kubectl apply's replicas = 2 lost"
    );
    assert_eq!(
        answer_brief(step, world),
        "200 · kubectl apply's replicas = 2 lost"
    );
    let told = caption(&tree.explain(ActorId::B), world).text;
    let mut lost = told.iter().filter(|text| text.contains("kubectl apply's"));
    assert!(
        lost.next()
            .is_some_and(|text| text.contains("replicas = 2")),
        "{told:?}"
    );
}

#[test]
fn two_commands_of_kubectl_have_different_names() {
    let mut world = World::load(NGINX).unwrap().0;
    assert!(world.become_tool(ActorId::C, Preset::KubectlApply));
    assert!(world.become_tool(ActorId::D, Preset::KubectlEdit));
    assert!(world.become_tool(ActorId::E, Preset::KubectlEdit));
    let names = [ActorId::C, ActorId::D, ActorId::E].map(|id| world.actor(id).name.to_string());
    assert_eq!(names, ["kubectl apply", "kubectl edit", "kubectl edit E"]);
    // A link of an older version has the name of the program.
    world.name_actor(ActorId::F, "kubectl");
    world.choose_write(ActorId::F, Write::default());
    assert_eq!(&*world.actor(ActorId::F).name, "Editor F");
}

#[test]
fn what_to_try_next_names_an_actor_as_its_card_does() {
    let mut tree = session();
    assert!(tree.world_mut().become_tool(ActorId::C, Preset::Autoscaler));
    act(&mut tree, ActorId::A, Action::Get);
    act(&mut tree, ActorId::B, Action::Get);
    act(&mut tree, ActorId::C, Action::GetScale);
    let next = |tree: &HistoryTree| {
        let next = caption(&tree.explain(ActorId::C), tree.world()).next;
        next.unwrap_or_default()
    };
    assert_eq!(
        next(&tree),
        "Change one value in A and one in HPA, then send both."
    );
}

#[test]
fn a_request_by_hand_says_what_it_changed() {
    let mut tree = session();
    let patch = |body: &str| {
        Action::Request(ByHand {
            method: "PATCH".to_owned(),
            target: "/apis/apps/v1/namespaces/default/deployments/nginx-deployment".to_owned(),
            content_type: "application/merge-patch+json".to_owned(),
            body: body.to_owned(),
        })
    };
    let said = |tree: &mut HistoryTree, body: &str| {
        let node = act(tree, ActorId::B, patch(body));
        headline(tree.step(node).unwrap())
    };
    let replicas = r#"{"spec": {"replicas": 5}}"#;
    assert_eq!(said(&mut tree, replicas), "PATCH replicas 3→5");
    assert_eq!(said(&mut tree, replicas), "PATCH");
    let noted = format!(
        r#"{{"metadata": {{"annotations": {{"{LAST_APPLIED}": "x"}}}}, "spec": {{"paused": true}}}}"#
    );
    assert_eq!(said(&mut tree, &noted), "PATCH +paused true +1");
    let last = last_write(&tree);
    assert!(
        last.starts_with("Last write: Editor B, merge patch, "),
        "{last}"
    );
}

#[test]
fn an_item_that_a_patch_adds_before_another_one_renames_none() {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n\
        spec: {ports: [{name: http, port: 80}]}\n";
    let mut tree = HistoryTree::new(World::load(service).unwrap().0);
    let patch = Action::Request(ByHand {
        method: "PATCH".to_owned(),
        target: "/api/v1/namespaces/default/services/web".to_owned(),
        content_type: "application/strategic-merge-patch+json".to_owned(),
        body: r#"{"spec": {"ports": [{"name": "https", "port": 443}]}}"#.to_owned(),
    });
    let node = act(&mut tree, ActorId::B, patch);
    let ports = &tree.world().stored().unwrap().1["spec"]["ports"];
    assert_eq!(ports[0]["port"], 443, "the new item comes first");
    assert_eq!(headline(tree.step(node).unwrap()), "PATCH +ports[0] https");
    let rows = tree.three_way(node).unwrap().rows;
    let paths: Vec<String> = rows.iter().map(|row| row.path.to_string()).collect();
    assert_eq!(paths, [".spec.ports[port=443,protocol=\"TCP\"]"]);
}

#[test]
fn a_refused_read_is_not_said_to_have_stored_nothing() {
    let mut tree = session();
    let get = Action::Request(ByHand {
        method: "GET".to_owned(),
        target: "/apis/apps/v1/namespaces/default/deployments/another".to_owned(),
        content_type: String::new(),
        body: String::new(),
    });
    act(&mut tree, ActorId::A, get);
    let told = caption(&tree.explain(ActorId::B), tree.world());
    assert_eq!(told.title, "The server refused Editor A's request.");
    assert_eq!(told.text, ["The answer says why."]);
}

//! Histories that chance does not reach: each says what no random history said.

mod controllers;

use optimist_apiserver::apply::{Path, PathElement};
use optimist_apiserver::server::Release;
use optimist_client::{Declares, Lost, OnConflict, Strategy, Subresource, Write};
use optimist_controller::ClientRelease;
use optimist_controller::program::{ReadyProgram, ReadyProgramName};
use optimist_simulation::{
    Action, ActorId, ByHand, ControllerOperation, ControllerStart, HistoryTree, NGINX, Operation,
    Preconditions, Start, WIDGET, WatchAction, World,
};
use serde_json::{Value, json};

use super::generate;
use super::random::Random;

type Hear<'a> = &'a mut dyn FnMut(&HistoryTree);

/// A history that is written down.
struct Script<'a> {
    tree: HistoryTree,
    hear: Hear<'a>,
}

impl<'a> Script<'a> {
    fn new(start: Start, hear: Hear<'a>) -> Self {
        let tree = HistoryTree::new(World::from_start(start.into()).expect("the object loads").0);
        hear(&tree);
        Self { tree, hear }
    }

    fn does(&mut self, operation: Operation) {
        self.tree.act(operation);
        (self.hear)(&self.tree);
    }

    fn act(&mut self, actor: ActorId, action: Action) {
        self.does(Operation::Act(actor, action));
    }

    fn get(&mut self, actor: ActorId) {
        self.act(actor, Action::Get);
    }

    fn edit(&mut self, actor: ActorId, change: impl FnOnce(&mut Value)) {
        let copy = self.tree.world_mut().copy_mut(actor);
        let mut object = copy
            .edited()
            .map(|it| Value::clone(it))
            .expect("it was read");
        change(&mut object);
        copy.edit(object);
        (self.hear)(&self.tree);
    }

    fn send(&mut self, actor: ActorId, write: Write) {
        self.act(actor, Action::Send(write));
    }

    fn request(&mut self, method: &str, query: &str, content_type: &str, body: Value) {
        let path = self.tree.world().subject().path();
        let request = ByHand {
            method: method.to_owned(),
            target: format!("{path}{query}"),
            content_type: content_type.to_owned(),
            body: match body {
                Value::Null => String::new(),
                body => body.to_string(),
            },
        };
        self.act(ActorId::A, Action::Request(request));
    }

    fn watch(&mut self, action: WatchAction) {
        self.does(Operation::Watch(action));
    }
}

const MERGE: &str = "application/merge-patch+json";
const JSON: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// Says each history at each of its steps.
pub fn each(hear: Hear<'_>) {
    for release in Release::ALL {
        emptied(release, hear);
    }
    patches(hear);
    losses(hear);
    left_out(hear);
    watches(hear);
    deletions(hear);
    a_collection_is_deleted(hear);
    many_rules(hear);
    applies(hear);
    cards(hear);
    elsewhere(hear);
    controllers::each(hear);
    for name in ReadyProgramName::ALL {
        for release in [ClientRelease::V1_34, ClientRelease::V1_36] {
            for all in [false, true] {
                controlled(name, release, all, hear);
            }
        }
    }
}

fn with(start: &str) -> Start {
    Start::with(start)
}

/// An apply that takes the last member of a map, and one that no longer has a field.
fn emptied(release: Release, hear: Hear<'_>) {
    let start = Start {
        release,
        ..with(NGINX)
    };
    let mut script = Script::new(start, hear);
    let name = script.tree.world().subject().name().to_owned();
    let mut apply = |context: Value, query: &str| {
        let body = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"template": {"spec": {"securityContext": context}}}});
        script.request("PATCH", &format!("?fieldManager=m{query}"), APPLY, body);
    };
    apply(json!({"seLinuxOptions": {"level": "s0"}}), "");
    apply(json!({"seLinuxOptions": {}}), "");
    apply(json!({"runAsUser": 5}), "");
    apply(json!({}), "");
}

/// A collection is deleted, of which one object waits for a finalizer and one does not.
fn a_collection_is_deleted(hear: Hear<'_>) {
    let map = |name: &str, finalizers: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, finalizers: [{finalizers}]}}\n"
        )
    };
    let start = format!(
        "{}---\n{}",
        map("waits", "example.com/held"),
        map("goes", "")
    );
    let mut script = Script::new(with(&start), hear);
    for target in ["?dryRun=All", "", ""] {
        let request = ByHand {
            method: "DELETE".to_owned(),
            target: format!("/api/v1/namespaces/default/configmaps{target}"),
            content_type: String::new(),
            body: String::new(),
        };
        script.act(ActorId::A, Action::Request(request));
    }
}

/// Patches that cannot be done, and tests of long values.
fn patches(hear: Hear<'_>) {
    let mut script = Script::new(with(NGINX), hear);
    script.request(
        "PATCH",
        "",
        JSON,
        json!([{"op": "test", "path": "/kind", "value": "Deployment"}, {}]),
    );
    let long = |middle: &str| format!("{}{middle}{}", "a".repeat(90), "b".repeat(90));
    let annotations = json!({"metadata": {"annotations": {"long": long("1"), "one": "1"}}});
    script.request("PATCH", "", MERGE, annotations);
    let test = |at: &str, value: Value| json!([{"op": "test", "path": at, "value": value}]);
    script.request(
        "PATCH",
        "",
        JSON,
        test("/metadata/annotations/long", long("2").into()),
    );
    script.request("GET", "/log", "", Value::Null);
    let mut script = Script::new(with(generate::REVISION), hear);
    script.request(
        "PATCH",
        "",
        MERGE,
        json!({"metadata": {"labels": {"a": "b"}}}),
    );
    script.request("PATCH", "", MERGE, json!({"revision": 2}));
}

/// Two edits that one write undoes, what an apply leaves out, and endings that keep nothing of the other.
fn losses(hear: Hear<'_>) {
    let mut script = Script::new(with(NGINX), hear);
    script.get(ActorId::A);
    script.get(ActorId::B);
    script.edit(ActorId::A, |object| {
        object["spec"]["replicas"] = 7.into();
        object["metadata"]["labels"]["seen"] = "1".into();
    });
    script.send(ActorId::A, Write::usual(Strategy::Update));
    script.edit(ActorId::B, |object| {
        object["metadata"]["annotations"] = json!({"by": "b"})
    });
    let unversioned = Write {
        send_resource_version: false,
        ..Write::usual(Strategy::Update)
    };
    script.send(ActorId::B, unversioned);
    // An apply leaves out a removal of what another manager owns.
    script.get(ActorId::A);
    script.edit(ActorId::A, |object| {
        if let Some(labels) = object["metadata"]["labels"].as_object_mut() {
            labels.remove("app");
        }
        object["metadata"]["labels"]["more"] = "1".into();
    });
    script.send(ActorId::A, Write::usual(Strategy::Apply));
    let mut manifest = Write::usual(Strategy::Apply);
    manifest.declares = Declares::Manifest;
    manifest.force = true;
    script.get(ActorId::B);
    script.send(ActorId::B, manifest);
    let retries = Write {
        on_conflict: OnConflict::ReadAgain(3),
        ..Write::usual(Strategy::Update)
    };
    script.edit(ActorId::A, |object| object["spec"]["replicas"] = 2.into());
    script.send(ActorId::A, retries);
    script.act(ActorId::B, Action::Create);
    script.does(Operation::Wait(31));
    let end = script.tree.current();
    script.tree.set_name(end, "mine");
    (script.hear)(&script.tree);
}

/// Endings and requests that are accepted and leave an edit out.
fn left_out(hear: Hear<'_>) {
    let mut script = Script::new(with(NGINX), hear);
    script.get(ActorId::A);
    script.get(ActorId::B);
    script.edit(ActorId::A, |object| object["spec"]["replicas"] = 7.into());
    // A label that another manager owns.
    script.edit(ActorId::B, |object| {
        if let Some(labels) = object["metadata"]["labels"].as_object_mut() {
            labels.remove("app");
        }
    });
    for editor in ActorId::EDITORS {
        script.send(editor, Write::usual(Strategy::Update));
    }
    for method in optimist_simulation::ENDINGS {
        if let Some(operation) = script.tree.go_to_ending(method) {
            script.does(operation);
        }
    }
    // A Scale has no labels.
    let mut script = Script::new(with(NGINX), hear);
    script.get(ActorId::A);
    script.edit(ActorId::A, |object| {
        object["spec"]["replicas"] = 7.into();
        object["metadata"]["labels"]["more"] = "1".into();
    });
    let scale = Write {
        subresource: Some(Subresource::Scale),
        ..Write::usual(Strategy::Update)
    };
    script.send(ActorId::A, scale);
}

/// A watch that begins behind many changes, and each way to go on.
fn watches(hear: Hear<'_>) {
    let mut script = Script::new(with(NGINX), hear);
    let begin = script.tree.world().revisions().next().unwrap_or(100);
    for number in 0..8 {
        script.request(
            "PATCH",
            "",
            MERGE,
            json!({"metadata": {"labels": {"n": number.to_string()}}}),
        );
    }
    script.watch(WatchAction::Open(begin.to_string()));
    script.watch(WatchAction::Drop);
    script.request(
        "PATCH",
        "",
        MERGE,
        json!({"metadata": {"labels": {"n": "9"}}}),
    );
    script.watch(WatchAction::Resume);
    script.watch(WatchAction::Drop);
    script.request(
        "PATCH",
        "",
        MERGE,
        json!({"metadata": {"labels": {"n": "10"}}}),
    );
    script.does(Operation::Compact { restart: true });
    script.watch(WatchAction::Resume);
    script.watch(WatchAction::Open(begin.to_string()));
    script.watch(WatchAction::List);
    script.watch(WatchAction::Resume);
    // An editor watches by hand, from a version that is compacted.
    let path = script.tree.world().subject().path();
    let (collection, name) = path.rsplit_once('/').expect("a path");
    let watch = ByHand {
        method: "GET".to_owned(),
        target: format!(
            "{collection}?watch=true&fieldSelector=metadata.name%3D{name}&resourceVersion={begin}"
        ),
        content_type: String::new(),
        body: String::new(),
    };
    script.act(ActorId::A, Action::Request(watch));
}

/// A pod with a grace period, deleted twice, and the second time sooner. An object with finalizers, of whose deletion
/// somebody asks for one more.
fn deletions(hear: Hear<'_>) {
    let mut script = Script::new(with(generate::POD), hear);
    script.get(ActorId::B);
    script.act(ActorId::A, Action::Delete(Preconditions::default()));
    script.act(ActorId::B, Action::Delete(Preconditions::default()));
    script.request(
        "DELETE",
        "",
        "application/json",
        json!({"gracePeriodSeconds": 5}),
    );
    script.request(
        "DELETE",
        "",
        "application/json",
        json!({"gracePeriodSeconds": 0}),
    );
    script.get(ActorId::A);
    let mut script = Script::new(with(generate::POD), hear);
    for seconds in [20, 5] {
        let period = json!({"gracePeriodSeconds": seconds});
        script.request("DELETE", "", "application/json", period);
    }
    let mut script = Script::new(with(NGINX), hear);
    let hold = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    script.request("PATCH", "", MERGE, hold);
    script.request("DELETE", "", "", Value::Null);
    let orphan = json!({"propagationPolicy": "Orphan"});
    script.request("DELETE", "", "application/json", orphan);
}

/// A definition with several rules that this server cannot evaluate.
fn many_rules(hear: Hear<'_>) {
    let rule = "timestamp(self.fed).getHours(\"Europe/Berlin\") < 12";
    let other = "timestamp(self.fed).getMinutes(\"Europe/Berlin\") < 60";
    let start = generate::RULED.replace(rule, &format!("{rule}'}}, {{rule: '{other}"));
    let mut script = Script::new(with(&start), hear);
    script.get(ActorId::A);
    script.edit(ActorId::A, |object| object["spec"]["replicas"] = 3.into());
    script.send(ActorId::A, Write::usual(Strategy::Update));
}

/// Plays forced applies and hears the sentences about the fields that they would take and remove, before
/// they are sent.
fn applies(hear: Hear<'_>) {
    let mut script = Script::new(with(NGINX), hear);
    script.get(ActorId::A);
    script.edit(ActorId::A, |object| {
        object["metadata"]["labels"]["own"] = "1".into()
    });
    script.send(ActorId::A, Write::usual(Strategy::Apply));
    script.edit(ActorId::A, |object| {
        if let Some(labels) = object["metadata"]["labels"].as_object_mut() {
            labels.remove("own");
        }
    });
    for _ in 0..6 {
        script.get(ActorId::B);
    }
    // An editor that applies under another name takes from its own.
    let mut script = Script::new(with(NGINX), hear);
    let replicas =
        |number: u64| move |object: &mut Value| object["spec"]["replicas"] = number.into();
    script.get(ActorId::A);
    script.edit(ActorId::A, replicas(5));
    script.send(ActorId::A, Write::usual(Strategy::Update));
    script.edit(ActorId::A, replicas(6));
    let other = Write {
        manager: Some("other".to_owned()),
        ..Write::usual(Strategy::Apply)
    };
    script.send(ActorId::A, other);
    for _ in 0..6 {
        script.get(ActorId::B);
    }
    // Under its own name too: what it updated has another owner than what it applies.
    let mut script = Script::new(with(NGINX), hear);
    script.get(ActorId::A);
    script.edit(ActorId::A, replicas(5));
    script.send(ActorId::A, Write::usual(Strategy::Update));
    script.edit(ActorId::A, replicas(6));
    script.send(ActorId::A, Write::usual(Strategy::Apply));
}

/// Plays the lines of a card: a value that is applied as it is, one of another type, one that is gone,
/// and a body that is written by hand.
fn cards(hear: Hear<'_>) {
    let mut script = Script::new(with(NGINX), hear);
    script.get(ActorId::A);
    let replicas = ["spec", "replicas"].map(|name| PathElement::Field(name.to_owned()));
    let world = script.tree.world_mut();
    world.copy_mut(ActorId::A).declare(Path(replicas.to_vec()));
    world.actor_mut(ActorId::A).choose(Strategy::Apply);
    (script.hear)(&script.tree);
    script.edit(ActorId::A, |object| {
        object["spec"]["template"]["spec"]["nodeSelector"] = json!({"disk": "ssd"})
    });
    script.send(ActorId::A, Write::usual(Strategy::Apply));
    script.edit(ActorId::A, |object| {
        object["spec"]["template"]["spec"]["nodeSelector"] = "ssd".into()
    });
    let by_hand = Write {
        body: Some(r#"{"spec": {"replicas": 4}}"#.to_owned()),
        ..Write::usual(Strategy::MergePatch)
    };
    script
        .tree
        .world_mut()
        .actor_mut(ActorId::A)
        .set_write(by_hand.clone());
    (script.hear)(&script.tree);
    script.send(ActorId::A, by_hand);
    let mut script = Script::new(with(generate::CONFIG_MAP), hear);
    script.get(ActorId::A);
    script.request("PATCH", "", MERGE, json!({"data": {"greeting": null}}));
}

/// Requests that no button sends: to another object than the one that is shown, and to a subresource
/// that compares no version.
fn elsewhere(hear: Hear<'_>) {
    let start = format!("{NGINX}\n---\n{}", generate::CONFIG_MAP);
    let mut script = Script::new(with(&start), hear);
    let shown = script.tree.world().subject().clone();
    let mut others = script.tree.world().subjects().cloned();
    let other = others.find(|one| one.path() != shown.path());
    drop(others);
    let other = other.expect("there are two objects");
    let patch = ByHand {
        method: "PATCH".to_owned(),
        target: other.path(),
        content_type: MERGE.to_owned(),
        body: json!({"metadata": {"labels": {"a": "b"}}}).to_string(),
    };
    script.act(ActorId::A, Action::Request(patch));
    let kind = other.resource().kind.clone();
    script.tree.world_mut().look_at(&kind, other.name());
    (script.hear)(&script.tree);
    let pending = generate::POD.replace("  nodeName: worker\n", "");
    let mut script = Script::new(with(&pending), hear);
    script.get(ActorId::B);
    let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "one"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "worker"}});
    script.request("POST", "/binding", "application/json", binding);
    script.get(ActorId::A);
}

/// A controller whose events come late, that starts again, and that meets an editor.
fn controlled(name: ReadyProgramName, release: ClientRelease, all: bool, hear: Hear<'_>) {
    let switches = name.switches().iter().copied().filter(|_| all);
    let program = ReadyProgram::new(name).with(switches);
    let controller = ControllerStart {
        release,
        ..program.into()
    };
    let start = Start {
        controllers: [(ActorId::C, controller)].into(),
        ..with(WIDGET)
    };
    let mut script = Script::new(start, hear);
    let control = |script: &mut Script<'_>, of| script.does(Operation::Control(ActorId::C, of));
    for cache in [0, 1, 0, 1] {
        control(&mut script, ControllerOperation::Connect(cache));
    }
    let mut random = Random::new(release as u64 + 2 * u64::from(all));
    for round in 0..30 {
        let of = match random.below(16) {
            0..9 => ControllerOperation::Step,
            9..12 => ControllerOperation::Deliver(random.below(2)),
            12 => ControllerOperation::Wake,
            13 => ControllerOperation::Resync(random.below(2)),
            14 if round > 12 => ControllerOperation::Restart,
            _ => ControllerOperation::Connect(random.below(2)),
        };
        control(&mut script, of);
        match round {
            10 => script.request("PATCH", "", MERGE, json!({"spec": {"size": 5}})),
            18 => {
                control(&mut script, ControllerOperation::DropWatch(0));
                script.request("PATCH", "", MERGE, json!({"spec": {"size": 1}}));
                script.does(Operation::Compact { restart: true });
                control(&mut script, ControllerOperation::Connect(0));
                control(&mut script, ControllerOperation::Deliver(0));
            }
            6 => control(&mut script, ControllerOperation::StepLosing(Lost::Answer)),
            8 => control(&mut script, ControllerOperation::StepLosing(Lost::Request)),
            22 => {
                control(&mut script, ControllerOperation::Restart);
                control(&mut script, ControllerOperation::ListBehind(0));
                control(&mut script, ControllerOperation::ListBehind(1));
            }
            24 => script.act(ActorId::A, Action::Delete(Preconditions::default())),
            _ => {}
        }
    }
    // Behind its own writes it makes too many, or deletes what has an owner.
    for _ in 0..4 {
        script.tree.run_controller(ActorId::C);
        (script.hear)(&script.tree);
    }
}

//! Learners who act otherwise than the script, and what the page makes of it.

use std::sync::Arc;

use optimist_client::{OnConflict, Strategy, Write};
use optimist_lesson::{FieldPath, Lesson, Task, Walkthrough};
use optimist_simulation::{Action, ActorId, ByHand, HistoryTree, Operation};
use serde_json::Value;

use crate::files::read;
use crate::lessons;

/// A learner on the last page of a lesson, who performs any actions there.
struct Learner {
    walk: Walkthrough,
    tree: HistoryTree,
}

impl Learner {
    fn on_the_last_page_of(name: &str) -> Self {
        let lesson = Lesson::parse(&read(name)).unwrap();
        let (mut walk, mut tree) = Walkthrough::open(Arc::new(lesson)).unwrap();
        while walk.forward(&mut tree).unwrap() {}
        Self { walk, tree }
    }

    fn act(&mut self, actor: ActorId, action: Action) -> &mut Self {
        self.tree.act(Operation::Act(actor, action)).unwrap();
        self
    }

    fn get(&mut self, actor: ActorId) -> &mut Self {
        self.act(actor, Action::Get)
    }

    fn edit(&mut self, actor: ActorId, place: &str, value: impl Into<Value>) -> &mut Self {
        let copy = self.tree.world_mut().copy_mut(actor);
        let mut object = Value::clone(copy.edited().unwrap());
        let place = FieldPath::parse(place).unwrap();
        match value.into() {
            Value::Null => place.remove(&mut object),
            value => place.set(&mut object, value),
        }
        copy.edit(object);
        self
    }

    /// Presses Send, with the actor's selected write method.
    fn send(&mut self, actor: ActorId) -> &mut Self {
        let write = self.tree.world().actor(actor).write();
        self.act(actor, Action::Send(write))
    }

    fn send_by(&mut self, actor: ActorId, strategy: Strategy) -> &mut Self {
        self.act(actor, Action::Send(Write::usual(strategy)))
    }

    /// The parts of the goal that are not reached here.
    fn missing(&self) -> Vec<String> {
        let goal = self.walk.goal(&self.tree).into_iter();
        goal.filter(|(_, holds)| !holds)
            .map(|(label, _)| label.to_string())
            .collect()
    }
}

const IMAGE: &str = "spec.template.spec.containers[name=nginx].image";

#[test]
fn a_change_from_each_editor_is_one_from_each_whichever_is_whose_and_however_it_is_sent() {
    let last_page = || Learner::on_the_last_page_of("01-the-lost-update");
    let (a, b) = (ActorId::A, ActorId::B);
    let mut alone = last_page();
    alone.get(a).edit(a, IMAGE, "nginx:1.16.1").send(a);
    alone.edit(a, "spec.replicas", 2).send(a);
    assert_eq!(alone.missing(), ["one came from each editor"]);
    for (first, second) in [(a, b), (b, a)] {
        let mut both = last_page();
        both.get(first).get(second);
        both.edit(first, IMAGE, "nginx:1.16.1")
            .send_by(first, Strategy::MergePatch);
        both.edit(second, "spec.replicas", 2)
            .send_by(second, Strategy::MergePatch);
        assert_eq!(both.missing(), [""; 0]);
    }
}

#[test]
fn what_a_search_found_is_about_the_choices_that_it_was_made_with() {
    let mut learner = Learner::on_the_last_page_of("02-resourceversion-and-the-409");
    let Some(Task::Challenge(challenge)) = learner.walk.step().task.clone() else {
        panic!("the last page has a challenge")
    };
    let choose = |learner: &mut Learner, write: Write| {
        let actor = learner.tree.world_mut().actor_mut(ActorId::B);
        actor.set_write(write);
    };
    let mut search = challenge.search(&learner.tree).unwrap();
    assert!(challenge.is_searched_by(&search, &learner.tree));
    search.run();
    let finding = challenge.judge(&search);
    assert!(challenge.is_answered_by(&finding, &learner.tree));
    let before = learner.tree.world().actor(ActorId::B).write();
    choose(&mut learner, Write::usual(Strategy::Update));
    assert!(!challenge.is_answered_by(&finding, &learner.tree));
    assert!(!challenge.is_searched_by(&search, &learner.tree));
    choose(&mut learner, before);
    assert!(
        challenge.is_answered_by(&finding, &learner.tree),
        "as it was"
    );
}

#[test]
fn a_write_without_its_version_is_noticed_whatever_came_after_it() {
    let last_page = || Learner::on_the_last_page_of("04-just-clear-resourceversion");
    let b = ActorId::B;
    let mut careless = last_page();
    careless.get(b).edit(b, "metadata.labels.team", "web");
    careless.send_by(b, Strategy::MergePatch);
    careless.edit(b, IMAGE, "nginx:1.16.1");
    careless.send_by(b, Strategy::Update);
    assert_eq!(careless.missing(), ["every write carried its version"]);
    let mut tested = last_page();
    tested.get(b).edit(b, IMAGE, "nginx:1.16.1");
    let with_version = Write {
        send_resource_version: true,
        ..Write::usual(Strategy::JsonPatch)
    };
    tested.act(b, Action::Send(with_version)).get(b);
    assert_eq!(tested.missing(), [""; 0]);
}

#[test]
fn agreeing_is_an_edit_of_the_card_and_no_force() {
    let last_page = || Learner::on_the_last_page_of("11-apply-conflicts");
    let a = ActorId::A;
    let mut plain = last_page();
    plain.edit(a, "data.colour", "red").send(a);
    assert_eq!(plain.missing(), [""; 0]);
    let mut after_a_refusal = last_page();
    after_a_refusal.edit(a, "data.colour", "pink").send(a);
    after_a_refusal.edit(a, "data.colour", "red").send(a);
    assert_eq!(after_a_refusal.missing(), [""; 0]);
    let mut forcing = last_page();
    let force = Write {
        force: true,
        ..Write::usual(Strategy::Apply)
    };
    forcing.edit(a, "data.colour", "red");
    forcing.act(a, Action::Send(force));
    assert_eq!(forcing.missing(), ["nothing more is forced"]);
}

#[test]
fn a_patch_does_not_count_as_an_apply_whoever_wrote_it() {
    let last_page = || Learner::on_the_last_page_of("13-from-client-side-to-server-side");
    let aim = "nothing but applies by the Pipeline";
    let a = ActorId::A;
    let mut patching = last_page();
    patching.edit(a, "data.legacy", Value::Null);
    patching.send_by(a, Strategy::MergePatch);
    assert_eq!(patching.missing(), [aim]);
    let mut by_hand = last_page();
    let request = ByHand {
        method: "PATCH".to_owned(),
        target: "/api/v1/namespaces/default/configmaps/settings".to_owned(),
        content_type: "application/merge-patch+json".to_owned(),
        body: r#"{"data": {"legacy": null}}"#.to_owned(),
    };
    by_hand.act(a, Action::Request(request));
    assert_eq!(by_hand.missing(), [aim]);
    let mut applying = last_page();
    applying.edit(a, "data.legacy", "mine");
    applying.send_by(a, Strategy::Apply);
    applying.edit(a, "data.legacy", Value::Null);
    applying.send_by(a, Strategy::Apply);
    assert_eq!(applying.missing(), [""; 0]);
}

/// Puts the members of an object into another one, at every depth.
fn join(into: &mut Value, other: &Value) {
    if let Some(members) = other.as_object() {
        for (key, value) in members {
            join(&mut into[key], value);
        }
        if into.is_null() {
            *into = other.clone();
        }
    }
}

/// Checks the lesson against the patch of `csaupgrade.UpgradeManagedFieldsPatch` of client-go: the
/// managers that update and own the last-applied annotation are joined into the one that applies.
#[test]
fn the_ownership_is_moved_by_the_patch_that_kubectl_would_send() {
    let lesson = Lesson::parse(&read("13-from-client-side-to-server-side")).unwrap();
    let (mut walk, mut tree) = Walkthrough::open(Arc::new(lesson)).unwrap();
    while walk.step().title != "Move the ownership." || !walk.happened() {
        assert!(walk.forward(&mut tree).unwrap());
    }
    let sent = tree
        .step(tree.current())
        .and_then(|step| step.exchange.clone());
    let before = tree
        .parent(tree.current())
        .and_then(|node| tree.world_at(node));
    let (_, before) = before.unwrap().stored().unwrap();
    let entries = before["metadata"]["managedFields"].as_array().unwrap();
    let applied = "f:kubectl.kubernetes.io/last-applied-configuration";
    let mut managers = Vec::new();
    let mut moved = Vec::new();
    for entry in entries {
        let owns = &entry["fieldsV1"]["f:metadata"]["f:annotations"][applied];
        if entry["operation"] == "Update" && owns.is_object() {
            moved.push(&entry["fieldsV1"]);
        } else {
            managers.push(entry.clone());
        }
    }
    assert!(!moved.is_empty(), "there is something to be moved");
    let [pipeline] = managers.as_mut_slice() else {
        panic!("{managers:?}")
    };
    for fields in moved {
        join(&mut pipeline["fieldsV1"], fields);
    }
    let version = &before["metadata"]["resourceVersion"];
    assert_eq!(
        *sent.unwrap().sent,
        serde_json::json!([
            {"op": "replace", "path": "/metadata/managedFields", "value": managers},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
        ])
    );
}

#[test]
fn removing_the_finalizer_counts_after_a_refusal_too_but_not_unread() {
    let last_page = || Learner::on_the_last_page_of("14-delete-with-care");
    let (a, b) = (ActorId::A, ActorId::B);
    let none = || Value::Array(Vec::new());
    let mut refused = last_page();
    refused.edit(b, "metadata.finalizers", none());
    refused.send_by(b, Strategy::Update);
    assert_eq!(refused.missing().len(), 3);
    refused.get(b).send_by(b, Strategy::Update);
    assert_eq!(refused.missing(), [""; 0]);
    let mut again = last_page();
    again.edit(b, "metadata.finalizers", Value::Null);
    let loops = Write {
        on_conflict: OnConflict::ReadAgain(5),
        ..Write::default()
    };
    again.act(b, Action::Send(loops));
    assert_eq!(again.missing(), [""; 0]);
    let mut unread = last_page();
    unread.edit(b, "metadata.finalizers", Value::Null);
    unread.send_by(b, Strategy::MergePatch);
    assert_eq!(unread.missing(), ["Editor B has read it"]);
    let mut by_the_other = last_page();
    by_the_other.get(b).get(a);
    by_the_other.edit(a, "metadata.finalizers", Value::Null);
    by_the_other.send_by(a, Strategy::Update);
    assert_eq!(by_the_other.missing(), ["Editor B removed the finalizer"]);
}

#[test]
fn a_body_that_a_lesson_writes_by_hand_is_not_what_the_learner_sends_next() {
    let mut bodies = 0;
    for (file, lesson) in lessons() {
        let (mut walk, mut tree) = Walkthrough::open(lesson).unwrap();
        loop {
            for id in ActorId::ALL {
                let actor = tree.world().actor(id);
                for strategy in Strategy::ALL {
                    let body = actor.write_by(strategy).body;
                    assert_eq!(body, None, "{file}, page {}", walk.at() + 1);
                }
            }
            let last = tree.step(tree.current()).and_then(|step| step.action());
            if let Some(Action::Send(Write { body: Some(_), .. })) = last {
                bodies += 1;
            }
            if !walk.forward(&mut tree).unwrap() {
                break;
            }
        }
    }
    assert!(bodies >= 8, "{bodies} pages end with a body by hand");
}

#[test]
fn a_card_shows_how_its_actor_is_about_to_write_before_one_predicts() {
    for (name, page, write) in [
        (
            "01-the-lost-update",
            3,
            Write {
                send_resource_version: false,
                ..Write::default()
            },
        ),
        (
            "03-read-again-then-retry",
            1,
            Write {
                on_conflict: OnConflict::Resend(5),
                ..Write::default()
            },
        ),
    ] {
        let lesson = Lesson::parse(&read(name)).unwrap();
        let (mut walk, mut tree) = Walkthrough::open(Arc::new(lesson)).unwrap();
        while walk.at() < page {
            walk.forward(&mut tree).unwrap();
        }
        assert!(!walk.happened());
        assert_eq!(tree.world().actor(ActorId::B).write(), write, "{name}");
    }
}

#[test]
fn what_can_never_hold_again_is_said_until_one_goes_back() {
    let a = ActorId::A;
    let mut learner = Learner::on_the_last_page_of("28-from-etcd-up");
    let lost = |learner: &Learner| {
        let parts = learner.walk.out_of_reach(&learner.tree);
        parts.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(lost(&learner), [""; 0]);
    learner.edit(a, "data.colour", "red");
    learner.send_by(a, Strategy::MergePatch);
    assert_eq!(lost(&learner), [""; 0], "one write of two is left");
    for colour in ["blue", "green", "gold"] {
        learner.edit(a, "data.colour", colour);
        learner.send_by(a, Strategy::MergePatch);
    }
    assert_eq!(
        lost(&learner),
        ["`first` has version 107", "`first` was written once"]
    );
    let Learner { walk, tree } = &mut learner;
    walk.resume(tree);
    assert_eq!(lost(&learner), [""; 0]);
}

//! The page's sentences about a history, whole.

use optimist_apiserver::apply::Path;
use optimist_checker::PropertySearchStatus;
use optimist_client::{Declares, Strategy, Subresource, Write};
use optimist_code::ClientRequest;
use optimist_controller::program::{ReadyProgram, ReadyProgramName};
use optimist_messages::cards::{self, TroubleKind};
use optimist_messages::controller_card::{
    cache_chip, cache_chip_of_kind, cached_version, run_value,
};
use optimist_messages::{
    Caption, answer, answer_brief, ask, ask_brief, caption, fact, headline, load_error, orders,
    pill, sentence, summary, value,
};
use optimist_simulation::explore::{
    ControllerQuestion, ControllerSearch, ControllerWitness, PropertyAnswer,
};
use optimist_simulation::{
    Action, ActorId, BranchOutcome, ByHand, ControllerOperation, HistoryTree, NGINX, Operation,
    Preconditions, Start, Step, WIDGET, WatchAction, World,
};
use serde_json::{Value, json};

use ActorId::{A, B};

fn act(tree: &mut HistoryTree, actor: ActorId, action: Action) {
    tree.act(Operation::Act(actor, action)).unwrap();
}

fn edit(tree: &mut HistoryTree, actor: ActorId, pointer: &str, value: Value) {
    let copy = tree.world_mut().copy_mut(actor);
    let mut object = (**copy.edited().unwrap()).clone();
    *object.pointer_mut(pointer).unwrap() = value;
    copy.edit(object);
}

/// Both read 100; A stored 5 replicas as 101, B means 2.
fn a_was_faster() -> HistoryTree {
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    for (actor, replicas) in [(A, 5), (B, 2)] {
        act(&mut tree, actor, Action::Get);
        edit(&mut tree, actor, "/spec/replicas", json!(replicas));
    }
    act(&mut tree, A, Action::Send(Write::default()));
    tree
}

fn said(tree: &HistoryTree) -> String {
    let Caption { title, text, next } = caption(&tree.explain(B), tree.world());
    let mut lines = vec![title];
    lines.extend(text);
    lines.extend(next);
    lines.join("\n")
}

fn facts(tree: &HistoryTree) -> Vec<String> {
    let step = tree.step(tree.current()).unwrap();
    step.facts().iter().map(fact).collect()
}

#[test]
fn stale_copies_are_named_by_their_version() {
    let mut tree = a_was_faster();
    act(&mut tree, ActorId::C, Action::Get);
    act(&mut tree, ActorId::D, Action::Get);
    act(&mut tree, B, Action::Get);
    act(&mut tree, B, Action::Send(Write::default()));
    assert!(
        said(&tree).contains("\nEditor A, Editor C and Editor D still hold 101.\n"),
        "{}",
        said(&tree)
    );
}

#[test]
fn a_dry_run_that_would_change_something_is_not_said_to_change_nothing() {
    let mut tree = a_was_faster();
    let write = Write {
        dry_run: true,
        send_resource_version: false,
        ..Write::default()
    };
    act(&mut tree, B, Action::Send(write));
    let step = tree.step(tree.current()).unwrap();
    assert_eq!(answer(step, tree.world()), "200 OK · dry run");
    assert_eq!(answer_brief(step, tree.world()), "200 · dry run");
    let dry_run = tree.current();
    let write = Write {
        send_resource_version: false,
        ..Write::default()
    };
    act(&mut tree, B, Action::Send(write));
    assert_eq!(tree.outcome_of(dry_run), BranchOutcome::Lost);
}

#[test]
fn a_write_that_is_stored_and_the_conflict_after_it() {
    let mut tree = a_was_faster();
    assert_eq!(
        said(&tree),
        "Editor A made version 101.\n\
         Editor A sent the stored version, 100. The server accepted the write and made 101.\n\
         Editor B still holds 100.\n\
         Send as B, and see what the server compares."
    );
    act(&mut tree, B, Action::Send(Write::default()));
    assert_eq!(
        said(&tree),
        "Both read 100. Only one may write it.\n\
         Editor B still holds version 100. The stored object is at 101.\n\
         The server compared 100 with 101 and stored nothing. Which fields changed does not matter.\n\
         Get as B, then send again."
    );
    assert_eq!(
        facts(&tree),
        ["Sent version 100, stored version 101. The server compares versions, not fields."]
    );
    let step = tree.step(tree.current()).unwrap();
    assert_eq!(
        summary(step, tree.world()),
        "Editor B: PUT replicas 3→2 · if 100 · 409 Conflict"
    );
    assert_eq!(pill(step).as_deref(), Some("100 ≠ 101"));
}

#[test]
fn a_forced_apply_that_loses_an_update() {
    let mut tree = a_was_faster();
    let write = Write {
        force: true,
        ..Write::usual(Strategy::Apply)
    };
    act(&mut tree, B, Action::Send(write));
    assert_eq!(
        said(&tree),
        "An update is lost: A's replicas = 5.\n\
         Editor B overwrote Editor A's replicas = 5 without having read it.\n\
         Both writes succeeded: no response reports the lost edit.\n\
         Force took ownership without checking the current owner or value.\n\
         Step back, and send as B without force, or read again first."
    );
    let step = tree.step(tree.current()).unwrap();
    let sentence = sentence(step, tree.world());
    assert!(
        sentence.ends_with("overwrote Editor A's replicas = 5 without having read it."),
        "{sentence}"
    );
}

#[test]
fn a_patch_whose_test_fails() {
    let mut tree = a_was_faster();
    let write = Write {
        send_resource_version: false,
        test_values: true,
        ..Write::usual(Strategy::JsonPatch)
    };
    act(&mut tree, B, Action::Send(write));
    assert_eq!(
        said(&tree),
        "A test in the patch failed.\n\
         The patch tests that replicas is 3. It is 5, so the server stored nothing. A change to a \
         field that the patch neither tests nor edits would not have stopped it.\n\
         It is a 422, not a 409, so RetryOnConflict does not retry.\n\
         Get as B, then send again."
    );
    assert_eq!(
        facts(&tree),
        [
            "The patch tested that /spec/replicas is 3, but it is 5. The server did none of the \
             operations, and the answer does not say which one failed."
        ]
    );
}

#[test]
fn an_object_that_is_deleted_and_created_again() {
    let mut tree = a_was_faster();
    act(&mut tree, A, Action::Delete(Preconditions::default()));
    assert_eq!(
        said(&tree),
        "Editor A deleted the object.\n\
         It was version 101. Any remaining local copy refers to a deleted object.\n\
         Editor B still holds 100.\n\
         Send Editor B's copy and see what happens, or step back: this branch is kept."
    );
    act(&mut tree, B, Action::Send(Write::default()));
    assert_eq!(
        said(&tree),
        "The object does not exist.\n\
         No object with this name is stored. Any remaining local copy refers to a deleted object.\n\
         Step back to before the object was deleted, or choose Create in the menu beside Get."
    );
}

#[test]
fn what_an_apply_emptied_is_said_of_both_releases() {
    use optimist_apiserver::server::Fact;
    let field = || ".spec.volumes".to_owned();
    let emptied = |kept| {
        fact(&Fact::Emptied {
            field: field(),
            kept,
        })
    };
    assert!(emptied(false).ends_with("On v1.36.0 to v1.36.2, .spec.volumes stays and is empty."));
    assert!(emptied(true).ends_with("From v1.36.3 on, .spec.volumes becomes null."));
}

#[test]
fn every_pair_of_edits_and_every_way_of_writing_has_its_messages() {
    use optimist_client::WriteMethod;
    use optimist_messages::explore::{pair, way};
    use optimist_simulation::explore::PRESETS;
    for preset in &PRESETS {
        assert!(pair(preset).is_some(), "{}", preset.slug);
    }
    let ways = [&WriteMethod::MATRIX[..], &WriteMethod::MORE].concat();
    let mut names: Vec<String> = ways.iter().map(|method| way(*method)).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), ways.len(), "{names:?}");
    let short = WriteMethod::UpdateReadAgain;
    assert_eq!(way(short), "Update with resourceVersion + RetryOnConflict");
}

/// Requests of every form: the page calls them as the exports do.
#[test]
fn the_page_and_the_exports_call_a_request_the_same() {
    let by_hand = |write: Write| Write {
        body: Some("{}".to_owned()),
        ..write
    };
    let apply = Write::usual(Strategy::Apply);
    let mut tree = a_was_faster();
    for write in [
        Write::default(),
        Write::usual(Strategy::MergePatch),
        by_hand(Write::usual(Strategy::MergePatch)),
        Write {
            declares: Declares::Manifest,
            ..apply.clone()
        },
        Write {
            subresource: Some(Subresource::Scale),
            ..Write::default()
        },
        Write {
            send_resource_version: true,
            ..apply
        },
    ] {
        act(&mut tree, B, Action::Send(write));
    }
    act(&mut tree, A, Action::Get);
    let resource = tree.world().resource().clone();
    let copy = tree.world_mut().copy_mut(A);
    let field = Path::at(copy.read().unwrap(), "/spec/replicas", &resource.root);
    copy.declare(field.unwrap());
    act(&mut tree, A, Action::Send(Write::usual(Strategy::Apply)));
    edit(&mut tree, A, "/spec/replicas", json!(7));
    edit(&mut tree, A, "/spec/revisionHistoryLimit", json!(5));
    act(&mut tree, A, Action::Send(Write::default()));
    act(&mut tree, A, Action::Delete(Preconditions::default()));
    act(&mut tree, A, Action::Create);
    for operation in [
        Operation::Watch(WatchAction::List),
        Operation::Watch(WatchAction::Open("100".to_owned())),
        Operation::Watch(WatchAction::Drop),
        Operation::Watch(WatchAction::Resume),
        Operation::Wait(5),
        Operation::Compact { restart: false },
        Operation::Compact { restart: true },
    ] {
        tree.act(operation).unwrap();
    }
    let steps = tree.current_path().iter();
    let steps: Vec<&Step> = steps.filter_map(|node| tree.step(*node)).collect();
    let said: Vec<String> = steps.iter().map(|step| headline(step)).collect();
    let exported: Vec<String> = steps
        .iter()
        .map(|step| step.headline().to_string())
        .collect();
    assert_eq!(said, exported);
    for words in [
        " · if 100",
        " by hand",
        "APPLY manifest ",
        "PUT /scale ",
        " unchanged",
        " +1",
        "DELETE",
        "WATCH from ",
        "connection dropped",
        "5 s pass",
        "compact and restart",
    ] {
        assert!(
            said.iter().any(|said| said.contains(words)),
            "{words}: {said:?}"
        );
    }
}

#[test]
fn a_manifest_that_cannot_be_loaded_is_explained() {
    let error = |text: &str| load_error(&Start::loadable(text).unwrap_err());
    assert_eq!(
        error("kind: [").split_once(':').unwrap().0,
        "Line 2, column 1"
    );
    let job =
        |name: &str| format!("apiVersion: example.org/v1\nkind: Job\nmetadata: {{name: {name}}}\n");
    assert!(
        error(&job("a")).starts_with("Job (example.org/v1) cannot be loaded. Supported kinds: ")
    );
    assert_eq!(
        error(&format!("{}---\n{}", job("a"), job("b"))),
        "No object in the manifest can be loaded. \
         Job a (example.org/v1): this page takes only objects in a namespace, of a built-in kind or of a kind whose \
         CustomResourceDefinition is in the text, too. \
         Job b (example.org/v1): this page takes only objects in a namespace, of a built-in kind or of a kind whose \
         CustomResourceDefinition is in the text, too."
    );
    let refused = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_B}\n";
    assert!(error(refused).starts_with("The server refuses the object (422): "));
}

#[test]
fn a_rule_that_the_server_cannot_evaluate_is_named_on_its_card_and_with_the_answer() {
    let rule = "timestamp(self).getHours('Europe/Berlin') < 12";
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "metadata": {"name": "cats.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "cats", "singular": "cat", "kind": "Cat", "listKind": "CatList"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "fed": {"type": "string", "x-kubernetes-validations": [{"rule": rule}]}}}}}]}});
    let cat = json!({"apiVersion": "example.com/v1", "kind": "Cat", "metadata": {"name": "tom"},
        "fed": "2026-01-01T08:00:00Z"});
    let manifests = format!("{definition}\n---\n{cat}\n");
    let mut tree = HistoryTree::new(World::load(&manifests).unwrap().0);
    let card = optimist_messages::unevaluated_rules(&tree.world().unevaluated_rules()).unwrap();
    let named = format!("This server cannot evaluate the validation rule {rule:?}.");
    assert!(card.starts_with(&named), "{card}");
    act(&mut tree, A, Action::Get);
    edit(&mut tree, A, "/fed", json!("2026-01-01T09:00:00Z"));
    act(&mut tree, A, Action::Send(Write::default()));
    let facts = facts(&tree);
    let named = format!("The validation rule {rule:?} was not evaluated");
    assert!(
        facts.iter().any(|fact| fact.starts_with(&named)),
        "{facts:?}"
    );
}

#[test]
fn how_an_actor_writes_in_a_few_words() {
    use optimist_client::{OnConflict, Preset};
    use optimist_messages::{write_method, writes_otherwise};
    let helm = Write {
        manager: Some("helm".to_owned()),
        force: true,
        ..Write::usual(Strategy::Apply)
    };
    assert_eq!(write_method(&helm, Some("100")), "Apply as helm · force");
    assert_eq!(writes_otherwise(&helm).as_deref(), Some("as helm"));
    let update = Write::default();
    assert_eq!(write_method(&update, Some("100")), "Update · if 100");
    assert_eq!(write_method(&update, None), "Update");
    assert_eq!(writes_otherwise(&update), None);
    let retries = Write {
        on_conflict: OnConflict::ReadAgain(5),
        ..update
    };
    assert_eq!(write_method(&retries, Some("7")), "Update · if 7 · retries");
    let world = World::load(NGINX).unwrap().0;
    let scale = Preset::KubectlScale.write(world.resource()).unwrap();
    assert_eq!(
        write_method(&scale, Some("100")),
        "Merge patch /scale as kubectl"
    );
    assert_eq!(
        writes_otherwise(&scale).as_deref(),
        Some("/scale · as kubectl")
    );
}

#[test]
fn a_write_that_keeps_both_edits_says_so() {
    let mut tree = a_was_faster();
    let image = "/spec/template/spec/containers/0/image";
    edit(&mut tree, B, "/spec/replicas", json!(3));
    edit(&mut tree, B, image, json!("nginx:1.25"));
    let merge = Write::usual(Strategy::MergePatch);
    act(&mut tree, B, Action::Send(merge));
    assert!(
        said(&tree).starts_with("Both edits kept: replicas 5, image nginx:1.25."),
        "{}",
        said(&tree)
    );
}

#[test]
fn a_value_that_is_cut_says_so_and_keeps_its_end() {
    let told = |length: usize| value(Some(&"x".repeat(length).into()));
    assert_eq!(told(32), "x".repeat(32));
    assert_eq!(told(33), format!("{}…{}", "x".repeat(15), "x".repeat(16)));
    let image = "registry.example.com/a-team/mirrors/nginx:1.16.1";
    assert_eq!(
        value(Some(&image.into())),
        "registry.exampl…ors/nginx:1.16.1"
    );
}

#[test]
fn where_there_is_little_room_a_request_shows_the_part_of_a_value_that_differs() {
    let (world, _) = World::load(NGINX).unwrap();
    let mut tree = HistoryTree::new(world);
    act(&mut tree, A, Action::Get);
    let image = "/spec/template/spec/containers/0/image";
    edit(&mut tree, A, image, "nginx:1.16.1".into());
    act(&mut tree, A, Action::Send(Write::default()));
    let step = tree.step(tree.current()).unwrap();
    let said = [ask(step, tree.world()), ask_brief(step, tree.world())];
    assert_eq!(
        said,
        [
            "PUT image nginx:1.14.2→nginx:1.16.1 · if 100",
            "PUT image →…1.16.1"
        ]
    );
}

#[test]
fn explore_says_no_values_of_a_secret() {
    use optimist_client::WriteMethod;
    use optimist_messages::explore::{because, state, transition};
    use optimist_simulation::explore::{Scenario, Search};
    let manifest = "apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: default}\n\
                    data: {word: aHVudGVyMg==, user: YWRtaW4=}\n";
    let mut tree = HistoryTree::new(World::load(manifest).unwrap().0);
    for (actor, word) in [(A, "c2VjcmV0"), (B, "b3RoZXI=")] {
        act(&mut tree, actor, Action::Get);
        edit(&mut tree, actor, "/data/word", json!(word));
    }
    let scenario = Scenario::of_copies(tree.world()).unwrap();
    let mut said = Vec::new();
    for way in WriteMethod::MATRIX {
        let mut search = Search::new(scenario.clone().in_ways(&[way], 2).unwrap(), 10_000);
        search.run();
        for id in 0..search.states() {
            said.extend(state(&search, id, None));
            said.push(because(&search, id));
        }
        let steps = search.edges().iter();
        said.extend(steps.flat_map(|edge| transition(&search, edge)));
    }
    let said = said.join("\n");
    assert!(said.contains("overwrote A's word = ••••••"), "{said}");
    for private in ["aHVudGVyMg", "c2VjcmV0", "b3RoZXI"] {
        assert!(!said.contains(private), "{said}");
    }
}

#[test]
fn a_step_after_which_the_object_is_gone_is_not_said_to_change_bookkeeping() {
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    act(&mut tree, A, Action::Delete(Preconditions::default()));
    let step = tree.step(tree.current()).unwrap();
    let says = optimist_messages::cards::no_difference(step, tree.world());
    assert_eq!(says, "The object is gone.");
}

#[test]
fn a_request_that_changes_nothing_of_the_object_says_that_it_equals_only_where_the_server_compared()
{
    use optimist_messages::cards::no_difference;
    use optimist_simulation::ByHand;
    let (world, _) = World::load(NGINX).unwrap();
    let path = world.subject().path();
    let mut tree = HistoryTree::new(world);
    let mut merge = |query: &str, replicas: u64| {
        let by_hand = ByHand {
            method: "PATCH".to_owned(),
            target: format!("{path}{query}"),
            content_type: "application/merge-patch+json".to_owned(),
            body: json!({"spec": {"replicas": replicas}}).to_string(),
        };
        act(&mut tree, A, Action::Request(by_hand));
        no_difference(tree.step(tree.current()).unwrap(), tree.world())
    };
    let equal = "The result equals what is stored: nothing was written.";
    let as_it_was = "The stored object is as it was.";
    assert_eq!(merge("", 3), equal);
    assert_eq!(
        merge("?dryRun=All", 7),
        as_it_was,
        "the result has 7 replicas"
    );
    let another = ByHand {
        method: "POST".to_owned(),
        target: "/api/v1/namespaces/default/configmaps".to_owned(),
        content_type: "application/json".to_owned(),
        body: json!({"metadata": {"name": "another"}}).to_string(),
    };
    act(&mut tree, A, Action::Request(another));
    let step = tree.step(tree.current()).unwrap();
    assert_eq!(
        no_difference(step, tree.world()),
        as_it_was,
        "it wrote another object"
    );
}

#[test]
fn explore_says_of_a_delete_that_it_deleted_an_edit_and_not_that_it_overwrote_it() {
    use optimist_client::WriteMethod;
    use optimist_messages::explore::{because, state, transition};
    use optimist_simulation::explore::{Scenario, Search, ThirdActor};
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    act(&mut tree, A, Action::Get);
    edit(&mut tree, A, "/spec/replicas", json!(5));
    act(&mut tree, B, Action::Get);
    let image = "/spec/template/spec/containers/0/image";
    edit(&mut tree, B, image, json!("nginx:1.25"));
    let mut scenario = Scenario::of_copies(tree.world()).unwrap();
    scenario.plans.push(ThirdActor::Deletes.plan(&scenario));
    // Nobody sends the version that was read.
    let scenario = scenario.in_ways(&[WriteMethod::Merge], 1).unwrap();
    let mut search = Search::new(scenario, 10_000);
    search.run();
    let mut said = Vec::new();
    for id in 0..search.states() {
        said.extend(state(&search, id, None));
        said.push(because(&search, id));
    }
    let steps = search.edges().iter();
    said.extend(steps.flat_map(|edge| transition(&search, edge)));
    let said = said.join("\n");
    let deleted = "deleted the object with A's replicas = 5 in it, without having read the edit";
    assert!(said.contains(deleted), "{said}");
    assert!(!said.contains("DELETE blindly"), "{said}");
}

/// Every sentence about the orders of A and B, who set the replicas and delete, and a tool.
fn said_of_a_tool(preset: optimist_client::Preset, micro_steps: bool) -> String {
    use optimist_client::WriteMethod;
    use optimist_messages::explore::{because, state, step, transition};
    use optimist_simulation::explore::{PRESETS, Search, ThirdActor};
    let mut pair = PRESETS.iter();
    let pair = pair.find(|pair| pair.slug == "delete-and-edit").unwrap();
    let mut scenario = pair.scenario().unwrap();
    scenario
        .plans
        .push(ThirdActor::Tool(preset).plan(&scenario));
    scenario.micro_steps = micro_steps;
    let scenario = scenario.in_ways(&[WriteMethod::Merge], 1).unwrap();
    let mut search = Search::new(scenario, 100_000);
    search.run();
    let mut said = Vec::new();
    for id in 0..search.states() {
        said.extend(state(&search, id, None));
        said.push(because(&search, id));
    }
    for edge in search.edges().iter().filter(|edge| edge.actor == 2) {
        said.push(step(&search, edge));
        said.extend(transition(&search, edge));
    }
    said.join("\n")
}

#[test]
fn explore_says_of_a_tool_which_requests_it_sends() {
    use optimist_client::Preset;
    let apply = said_of_a_tool(Preset::KubectlApply, false);
    for text in [
        "C reads the object.",
        "C reads: 404, the object is deleted. C creates it again.",
        "C's POST is accepted.",
        "C's POST created again what B had deleted, and C had read the deletion",
        "C's PATCH is refused with 404, and C gives up.",
        "C's PATCH is accepted, though C's copy is stale.",
    ] {
        assert!(apply.contains(text), "{text}\n{apply}");
    }
    assert!(
        !apply.contains("dry run") && !apply.contains("APPLY"),
        "{apply}"
    );
    let server_side = said_of_a_tool(Preset::KubectlApplyServerSide, false);
    assert!(
        server_side.contains("C's APPLY created again what B had deleted"),
        "{server_side}"
    );
    assert!(!server_side.contains("C reads"), "{server_side}");
    for micro_steps in [false, true] {
        let flux = said_of_a_tool(Preset::Flux, micro_steps);
        let tries = "C asks by a dry run what its APPLY would change. The server stores nothing.";
        assert!(flux.contains(tries), "{flux}");
        assert!(flux.contains("APPLY dry run"), "{flux}");
        assert!(!flux.contains("APPLY dry run is accepted"), "{flux}");
    }
}

#[test]
fn what_is_broken_of_a_controller_is_said_first() {
    let mut tree = with_program(ReadyProgram::new(ReadyProgramName::Annotator));
    // It changes the cached object in place, and so writes nothing.
    while tree.world().broken_properties(ActorId::C).is_empty() {
        tree.act(Operation::Control(ActorId::C, ControllerOperation::Step))
            .expect("it goes on until it rests");
    }
    let text = caption(&tree.explain(B), tree.world()).text;
    assert!(text[0].starts_with("This is broken: "), "{text:?}");
    assert!(text.len() > 1, "{text:?}");
}

#[test]
fn a_history_that_never_comes_to_rest_is_broken_wherever_it_is_told() {
    let mut tree = with_program(ReadyProgram::new(ReadyProgramName::StatusWriter));
    let question = ControllerQuestion::of_ready_program(tree.world()).unwrap();
    let mut search = ControllerSearch::new(tree.world(), question, 10_000).unwrap();
    while search.advance(500) == PropertySearchStatus::Running {}
    let witness = search.witness().unwrap();
    assert!(matches!(witness, ControllerWitness::NeverRests(..)));
    search.question().replay_witness(&mut tree, &witness);
    let said = orders::repeatable(tree.repeatable_steps().unwrap());
    let text = caption(&tree.explain(B), tree.world()).text;
    assert_eq!(text[0], said);
    assert_eq!(orders::broken_of_controller(&tree, ActorId::C), [&*said]);
    let trouble = cards::trouble(&tree);
    assert_eq!(trouble[0].kind, TroubleKind::Broken);
    assert_eq!(trouble[0].title, said);
    // One step before, the cycle is not there.
    tree.back();
    assert_eq!(
        orders::broken_of_controller(&tree, ActorId::C),
        Vec::<String>::new()
    );
    assert_eq!(cards::trouble(&tree)[0].kind, TroubleKind::None);
}

/// A Widget, and a program whose controller has its objects.
fn with_program(program: ReadyProgram) -> HistoryTree {
    let start = Start {
        controllers: [(ActorId::C, program.into())].into(),
        ..Start::with(WIDGET)
    };
    let mut tree = HistoryTree::new(World::from_start(start.into()).unwrap().0);
    tree.connect_controller(ActorId::C).unwrap();
    tree
}

/// A reader knows no owner by a uid, and the second reference is the one that the write was for.
#[test]
fn all_edits_that_a_write_replaced_are_named() {
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    let reference = |name: &str, controller: bool| {
        let uid = format!("00000000-0000-0000-0000-0000000000{name}{name}");
        json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "controller": controller})
    };
    let patch = json!({"metadata": {"ownerReferences": [reference("b", true), reference("a", false)]},
        "spec": {"replicas": 4}});
    let request = ByHand {
        method: "PATCH".to_owned(),
        target: tree.world().subject().path(),
        content_type: "application/merge-patch+json".to_owned(),
        body: patch.to_string(),
    };
    act(&mut tree, B, Action::Request(request));
    act(&mut tree, A, Action::Get);
    let controller = |index: usize| format!("/metadata/ownerReferences/{index}/controller");
    edit(&mut tree, A, &controller(0), json!(false));
    edit(&mut tree, A, &controller(1), json!(true));
    act(&mut tree, A, Action::Send(Write::usual(Strategy::Update)));
    let (a, b) = (
        "ownerReference to ConfigMap a",
        "ownerReference to ConfigMap b",
    );
    let replaced = format!(
        "Editor A had read Editor B's {a}, {b} and replaced them knowingly: no update is lost."
    );
    assert!(said(&tree).contains(&replaced), "{}", said(&tree));
}

/// The version alone is equal: the program has changed the cached object in place.
#[test]
fn a_changed_object_is_not_called_as_on_the_server() {
    let mut tree = with_program(ReadyProgram::new(ReadyProgramName::Annotator));
    let step = Operation::Control(ActorId::C, ControllerOperation::Step);
    let mut said = Vec::new();
    while tree.act(step.clone()).is_some() {
        let standings = tree.world().cache_standings(ActorId::C);
        let (version, _) = cache_chip(&standings);
        let object = standings[0].objects.first();
        let object = object.map(|(name, version)| cached_version(&standings[0], name, version));
        let values = tree.world().run_values(ActorId::C);
        let value = values.first().map(|of| run_value(of).1);
        said.push((
            version,
            object.unwrap_or_default(),
            value.unwrap_or_default(),
        ));
    }
    let read = ("cache 100 · current", "100", "as on the server");
    let changed = (
        "cache 100 · changed in place",
        "100 · changed here",
        "changed here: not as on the server",
    );
    for (chip, object, value) in [read, changed] {
        let expected = (chip.to_owned(), object.to_owned(), value.to_owned());
        assert!(said.contains(&expected), "{expected:?} in {said:?}");
    }
}

/// Only the cache of the ConfigMaps is behind.
#[test]
fn the_cache_that_is_behind_is_named() {
    let start = Start {
        controllers: [(
            ActorId::C,
            ReadyProgram::new(ReadyProgramName::ChildMaker).into(),
        )]
        .into(),
        ..Start::with(WIDGET)
    };
    let mut tree = HistoryTree::new(World::from_start(start.into()).unwrap().0);
    tree.connect_controller(ActorId::C).unwrap();
    let step = Operation::Control(ActorId::C, ControllerOperation::Step);
    let chip = |tree: &HistoryTree| cache_chip_of_kind(&tree.world().cache_standings(ActorId::C));
    assert_eq!(chip(&tree), ("cache 100 · current".to_owned(), false));
    while tree.world().next_delivery(ActorId::C).is_none() {
        tree.act(step.clone()).expect("it makes a child");
    }
    let behind = "ConfigMap cache 100 · behind by 1";
    assert_eq!(chip(&tree), (behind.to_owned(), true));
    let text = caption(&tree.explain(B), tree.world()).text.join(" ");
    assert!(
        text.contains("The ConfigMap cache is at 100, behind by 1"),
        "{text}"
    );
}

#[test]
fn the_answer_of_a_search_of_orders_is_said_as_elsewhere() {
    let rests_wrong = |run| PropertyAnswer::Broken(ControllerWitness::RestsWrong(run));
    let now = orders::answer(None, &rests_wrong(Vec::new()));
    assert_eq!(now, "broken already, at this step");
    let actors = orders::OrderActors {
        editors: &[],
        controllers: 1,
        without_edit: &[],
        third: None,
    };
    let varied = orders::varied(1408, actors, 0);
    assert!(varied.starts_with("1,408 states. "), "{varied}");
}

#[test]
fn a_step_of_one_of_several_controllers_names_it_once() {
    let program = || ReadyProgram::new(ReadyProgramName::FieldOwner).into();
    let start = Start {
        controllers: [(ActorId::C, program()), (ActorId::D, program())].into(),
        ..Start::with(WIDGET)
    };
    let mut tree = HistoryTree::new(World::from_start(start.into()).unwrap().0);
    let mut titles = Vec::new();
    tree.connect_controller(ActorId::D).unwrap();
    let step = Operation::Control(ActorId::D, ControllerOperation::Step);
    while tree.act(step.clone()).is_some() {
        titles.push(caption(&tree.explain(B), tree.world()).title);
    }
    let name = tree.world().actor(ActorId::D).name.to_string();
    assert!(
        titles.iter().all(|title| title.contains(&name)),
        "{titles:?}"
    );
    let sends = titles
        .iter()
        .filter(|it| it.starts_with(&format!("{name} sends: ")));
    assert!(sends.count() > 0, "{titles:?}");
}

#[test]
fn a_list_is_not_said_to_be_the_object_and_a_body_in_yaml_has_no_command() {
    let mut tree = a_was_faster();
    let by_hand = |method: &str, target: &str, content_type: &str, body: &str| {
        Action::Request(ByHand {
            method: method.to_owned(),
            target: target.to_owned(),
            content_type: content_type.to_owned(),
            body: body.to_owned(),
        })
    };
    let all = "/apis/apps/v1/namespaces/default/deployments";
    act(&mut tree, A, by_hand("GET", all, "", ""));
    assert_eq!(
        facts(&tree),
        ["The answer is a list: the stored objects as they were at version 101."]
    );
    let apply = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: nginx-deployment}\nspec: {replicas: 5}\n";
    let one = format!("{all}/nginx-deployment?fieldManager=x");
    act(
        &mut tree,
        A,
        by_hand("PATCH", &one, "application/apply-patch+yaml", apply),
    );
    let step = tree.step(tree.current()).unwrap();
    assert_eq!(step.code(), Some(200));
    assert!(ClientRequest::of_step(tree.world(), step).is_none());
}

/// A column has room for seven digits: of a larger count it has the power of ten.
#[test]
fn a_count_fits_its_column() {
    use optimist_messages::explore::{count_in_column, number};
    let shown = |count| count_in_column(count, count + 1, true);
    assert_eq!(shown(1_234_567), "1,234,567");
    assert_eq!(shown(12_345_678_901), "1.2·10¹⁰");
    assert_eq!(number(12_345_678_901), "12,345,678,901");
    assert_eq!(count_in_column(12_345_678_901, 12_345_678_901, true), "all");
}

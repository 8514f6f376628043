use optimist_checker::{FieldOf, Goal, Question, Safety, Settling};
use optimist_controller::Source;
use optimist_controller::program::{
    Annotator, ChildMaker, Cleaner, ControllerOptions, Copier, FieldOwner, FinalizerKeeper,
    Program, Scaler, Statement, StatusWriter,
};
use optimist_system::System;
use serde_json::json;

use crate::start::{
    KEY, config_map, editor, holds, is_violated, server, settling, settling_early, system, widget,
};

fn field_of(name: &str, field: &str) -> FieldOf {
    FieldOf {
        kind: widget(),
        name: name.to_owned(),
        field: field.to_owned(),
    }
}

#[test]
fn a_scaler_with_a_stale_list_makes_too_many_and_settles_all_the_same() {
    // argo-rollouts#243; kuberay#715
    let scaler = |expectations: bool, options: ControllerOptions| {
        let scaler = Scaler {
            parent: widget(),
            child: config_map(),
            expectations,
            options,
        };
        Question::new(system(scaler.program()).with_run(editor(2), KEY))
            .always(Safety::AtMost(2, config_map()))
            .at_rest(Goal::Count(2, config_map()))
    };
    let flawed = scaler(false, ControllerOptions::default());
    assert!(is_violated(&flawed));
    assert_eq!(
        settling(&flawed),
        Settling::Settles,
        "it deletes what is too many"
    );
    let own_version = ControllerOptions {
        wait_for_own_version: true,
        ..ControllerOptions::default()
    };
    for fixed in [
        scaler(true, ControllerOptions::default()),
        scaler(false, own_version),
    ] {
        assert!(holds(&fixed));
    }
}

#[test]
fn a_finalizer_is_lost_by_a_merge_patch_without_the_lock() {
    // kubermatic#6759; java-operator-sdk#1248
    let keepers = |lock: bool| {
        let programs = ["one", "two"].map(|name| {
            let keeper = FinalizerKeeper {
                kind: widget(),
                finalizer: format!("example.com/{name}"),
                name: name.to_owned(),
                lock,
            };
            keeper.program()
        });
        let question = Question::new(System::with_programs(server(), "default", programs).unwrap());
        ["one", "two"].iter().fold(question, |question, name| {
            let finalizer = format!("example.com/{name}");
            question
                .always(Safety::KeepsFinalizer(finalizer.clone(), widget()))
                .at_rest(Goal::Contains(
                    field_of("web", "/metadata/finalizers"),
                    finalizer,
                ))
        })
    };
    assert!(is_violated(&keepers(false)));
    assert!(holds(&keepers(true)));
}

#[test]
fn two_owners_of_one_field_never_rest_whatever_the_order_of_their_writes() {
    // flux2#1842
    let owners = |second_field: &str, lock: bool| {
        let owner = |name: &str, field: &str, value: i64| FieldOwner {
            name: name.to_owned(),
            kind: widget(),
            field: field.to_owned(),
            value: value.into(),
            lock,
        };
        let autoscaler = owner("autoscaler", "/spec/size", 3);
        let git_ops = owner("gitops", second_field, 1);
        let programs = [autoscaler.program(), git_ops.program()];
        Question::new(System::with_programs(server(), "default", programs).unwrap())
    };
    for lock in [false, true] {
        let verdict = settling_early(&owners("/spec/size", lock));
        assert!(
            matches!(verdict, Some(Settling::NeverRests(_))),
            "{verdict:?}"
        );
        let settled = owners("/spec/color", lock)
            .at_rest(Goal::Equal(field_of("web", "/spec/size"), json!(3)));
        assert_eq!(
            settling(&settled),
            Settling::Settles,
            "one leaves the field out"
        );
    }
}

#[test]
fn an_annotation_that_is_set_on_the_cached_object_is_never_written() {
    // kubernetes#27687; volcano#5683
    let annotated = |in_place: bool| {
        let annotator = Annotator {
            kind: widget(),
            in_place,
        };
        let annotation = field_of("web", "/metadata/annotations/seen");
        Question::new(system(annotator.program())).at_rest(Goal::Equal(annotation, json!("yes")))
    };
    let verdict = settling(&annotated(true));
    assert!(
        matches!(verdict, Settling::RestsWrong { .. }),
        "{verdict:?}"
    );
    assert_eq!(settling(&annotated(false)), Settling::Settles);
}

#[test]
fn a_write_is_skipped_because_the_cached_copy_is_older_than_the_own_write() {
    // cluster-api#7594; ai-dynamo/grove#775
    let copied = |generation_changed: bool, wait_for_own_version: bool| {
        let copier = Copier {
            parent: widget(),
            child: config_map(),
            generation_changed,
            wait_for_own_version,
        };
        let copy = FieldOf {
            kind: config_map(),
            name: "web-copy".to_owned(),
            field: "/data/size".to_owned(),
        };
        Question::new(
            system(copier.program())
                .with_run(editor(2), KEY)
                .with_run(editor(1), KEY),
        )
        .at_rest(Goal::Count(1, config_map()))
        .at_rest(Goal::SameText(field_of("web", "/spec/size"), copy))
    };
    let verdict = settling_early(&copied(true, false));
    assert!(
        matches!(verdict, Some(Settling::RestsWrong { .. })),
        "{verdict:?}"
    );
    assert_eq!(
        settling(&copied(false, false)),
        Settling::Settles,
        "its event wakes it"
    );
    assert_eq!(settling(&copied(true, true)), Settling::Settles);
}

/// Creates a widget and a ConfigMap that it owns, after it has deleted those of the same names.
fn recreates(first: bool) -> Program {
    let name = if first { "new" } else { "web" };
    let object = |into: &str| into.to_owned();
    let delete = |into: &str, kind, name: &str| {
        [
            Statement::Get {
                into: object(into),
                kind,
                name: name.to_owned(),
                from: Source::Server,
            },
            Statement::Delete {
                object: object(into),
                uid: false,
                resource_version: false,
                on_error: Vec::new(),
            },
        ]
    };
    let create = |into: &str, value, owner: Option<&str>| {
        [
            Statement::New {
                into: object(into),
                object: value,
                owner: owner.map(str::to_owned),
            },
            Statement::Create {
                object: object(into),
                on_error: Vec::new(),
            },
        ]
    };
    let mut body = Vec::new();
    if !first {
        body.extend(delete("parent", widget(), "web"));
        body.extend(delete("child", config_map(), "web-child"));
    }
    let parent = json!({"apiVersion": "demo.example.com/v1", "kind": "Widget",
        "metadata": {"name": name}});
    let child = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": format!("{name}-child")}});
    body.extend(create("parent", parent, None));
    body.extend(create("child", child, Some("parent")));
    Program {
        name: "editor".to_owned(),
        watches: Vec::new(),
        options: ControllerOptions::default(),
        body,
    }
}

#[test]
fn a_cleaner_deletes_a_child_whose_owner_has_not_reached_its_cache() {
    // cassandra-operator#402; casskop#316: nothing is promised across kinds.
    let cleaned = |parent_from: Source| {
        let cleaner = Cleaner {
            parent: widget(),
            child: config_map(),
            parent_from,
            uid: true,
            finds_children: false,
        };
        Question::new(system(cleaner.program()).with_run(recreates(true), "default/new"))
            .always(Safety::NotDeletedWhileOwnerLives(config_map()))
    };
    assert!(is_violated(&cleaned(Source::Cache)));
    assert!(!is_violated(&cleaned(Source::Server)));
}

#[test]
fn a_delete_without_the_uid_deletes_another_object_of_the_same_name() {
    // kubernetes#59848
    let cleaned = |uid: bool| {
        let cleaner = Cleaner {
            parent: widget(),
            child: config_map(),
            parent_from: Source::Server,
            uid,
            finds_children: false,
        };
        let mut server = server();
        let with_child = ChildMaker {
            parent: widget(),
            child: config_map(),
            generated_name: false,
            list_from: Source::Cache,
            expectations: false,
            ignore_already_exists: true,
            options: ControllerOptions::default(),
        };
        let begin = optimist_client::ListMode::List;
        let program = with_child.program();
        let mut maker =
            optimist_controller::Controller::new(program, &server, "default", begin).unwrap();
        maker.sync(&mut server);
        maker.work(&mut server);
        Question::new(
            System::with_programs(server, "default", [cleaner.program()])
                .unwrap()
                .with_run(recreates(false), KEY),
        )
        .always(Safety::NotDeletedWhileOwnerLives(config_map()))
    };
    assert!(is_violated(&cleaned(false)));
    assert!(!is_violated(&cleaned(true)));
}

#[test]
fn every_program_can_be_written_and_read_as_data() {
    let status = StatusWriter {
        kind: widget(),
        clock: true,
        compare: true,
        generation_changed: true,
        in_place: false,
    };
    let scaler = Scaler {
        parent: widget(),
        child: config_map(),
        expectations: true,
        options: ControllerOptions::default(),
    };
    let cleaner = Cleaner {
        parent: widget(),
        child: config_map(),
        parent_from: Source::Server,
        uid: true,
        finds_children: false,
    };
    for program in [
        status.program(),
        scaler.program(),
        cleaner.program(),
        recreates(false),
    ] {
        let text = serde_json::to_string(&program).unwrap();
        assert_eq!(serde_json::from_str::<Program>(&text).unwrap(), program);
    }
    let unknown = r#"{"name": "x", "watches": [], "body": [{"get": {"from": "nowhere"}}]}"#;
    assert!(serde_json::from_str::<Program>(unknown).is_err());
}

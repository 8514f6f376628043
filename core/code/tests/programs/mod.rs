//! Programs of every sort: the ready ones with each of their switches, and one that has every
//! statement in an unusual place.

use optimist_controller::program::{
    Annotator, BoolExpression, ChildMaker, Cleaner, ControllerOptions, Copier, Expression,
    FieldOwner, FinalizerKeeper, Kind, OnError, Program, Scaler, Statement, StatusWriter,
    WatchedKind,
};
use optimist_controller::{CachedObjects, Handler, Predicate, ReconcileResult, Source};
use serde_json::json;

fn widget() -> Kind {
    Kind::new("demo.example.com/v1", "Widget")
}

fn config_map() -> Kind {
    Kind::new("v1", "ConfigMap")
}

fn deployment() -> Kind {
    Kind::new("apps/v1", "Deployment")
}

/// The ready programs, by name.
pub fn ready() -> Vec<(&'static str, Program)> {
    let maker = ChildMaker {
        parent: widget(),
        child: config_map(),
        generated_name: true,
        list_from: Source::Cache,
        expectations: false,
        ignore_already_exists: false,
        options: ControllerOptions::default(),
    };
    let fixed = ChildMaker {
        generated_name: false,
        list_from: Source::Server,
        expectations: true,
        ignore_already_exists: true,
        options: ControllerOptions {
            wait_for_own_version: true,
            read_your_own_writes: true,
            ..ControllerOptions::default()
        },
        ..maker.clone()
    };
    let scaler = Scaler {
        parent: widget(),
        child: config_map(),
        expectations: false,
        options: ControllerOptions::default(),
    };
    let expecting = Scaler {
        expectations: true,
        ..scaler.clone()
    };
    vec![
        ("child_maker", maker.program()),
        ("child_maker_fixed", fixed.program()),
        ("scaler", scaler.program()),
        ("scaler_expecting", expecting.program()),
    ]
    .into_iter()
    .chain(of_one_object())
    .collect()
}

fn of_one_object() -> Vec<(&'static str, Program)> {
    let writer = StatusWriter {
        kind: widget(),
        clock: true,
        compare: true,
        generation_changed: true,
        in_place: false,
    };
    let finalizer = FinalizerKeeper {
        kind: config_map(),
        finalizer: "example.com/cleanup".to_owned(),
        name: "keeper".to_owned(),
        lock: false,
    };
    let owner = FieldOwner {
        name: "autoscaler".to_owned(),
        kind: deployment(),
        field: "/spec/replicas".to_owned(),
        value: 5.into(),
        lock: true,
    };
    let copier = Copier {
        parent: widget(),
        child: config_map(),
        generation_changed: true,
        wait_for_own_version: false,
    };
    let cleaner = Cleaner {
        parent: widget(),
        child: config_map(),
        parent_from: Source::Server,
        uid: true,
        finds_children: false,
    };
    let in_place = |in_place| Annotator {
        kind: config_map(),
        in_place,
    };
    let writer_in_place = StatusWriter {
        in_place: true,
        ..writer.clone()
    };
    vec![
        ("status_writer", writer.program()),
        ("status_writer_in_place", writer_in_place.program()),
        ("finalizer_keeper", finalizer.program()),
        ("field_owner", owner.program()),
        ("copier", copier.program()),
        ("cleaner", cleaner.program()),
        ("annotator", in_place(false).program()),
        ("annotator_in_place", in_place(true).program()),
    ]
}

/// A program that a teacher could write: names that are keywords, a variable that never gets a
/// value, one with objects of two kinds, one that is first in a block and used behind it.
pub fn unusual() -> Program {
    let text = str::to_owned;
    let field = |name: &str, field: &str| Expression::Field(text(name), text(field));
    let get = |into: &str, kind: Kind, name: &str, from| Statement::Get {
        into: text(into),
        kind,
        name: text(name),
        from,
    };
    let rows = vec![
        OnError::ignore("NotFound"),
        OnError::returns("Conflict", ReconcileResult::RequeueAfter(500)),
        OnError::returns("Timeout", ReconcileResult::TerminalError),
    ];
    let equal = |a, b| BoolExpression::Equal(a, b);
    let body = vec![
        get("type", widget(), "{name}", Source::Server),
        get(
            "type",
            config_map(),
            "{type/spec/map}-{namespace}",
            Source::Cache,
        ),
        Statement::If {
            condition: BoolExpression::All(vec![
                BoolExpression::Found(text("type")),
                equal(field("type", "/data/a.b"), Expression::Text(text("{name}"))).negated(),
                equal(field("type", "/immutable"), Expression::Value(true.into())),
            ])
            .negated(),
            then: vec![
                Statement::New {
                    into: text("made"),
                    object: json!({"apiVersion": "apps/v1", "kind": "Deployment",
                        "metadata": {"name": "{name}-x", "labels": {"a/b": "{namespace}"}},
                        "spec": {"replicas": 2, "paused": true,
                            "selector": {"matchLabels": {"app": "{name}"}},
                            "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}}),
                    owner: Some(text("never")),
                },
                Statement::Return(ReconcileResult::Requeue),
            ],
            otherwise: vec![Statement::DeepCopy {
                into: text("made"),
                of: text("type"),
            }],
        },
        Statement::List {
            into: text("all"),
            kind: deployment(),
            controlled_by: None,
            from: Source::Server,
        },
        Statement::ForEach {
            item: text("one"),
            of: text("all"),
            body: vec![
                Statement::Set {
                    of: text("one"),
                    field: text("/spec/replicas"),
                    to: Expression::Count(text("all")),
                },
                Statement::AddItem {
                    of: text("one"),
                    field: text("/metadata/finalizers"),
                    item: text("example.com/{name}"),
                },
                Statement::Apply {
                    object: text("one"),
                    force: true,
                    status: true,
                    on_error: rows.clone(),
                },
                Statement::Delete {
                    object: text("one"),
                    uid: true,
                    resource_version: true,
                    on_error: rows,
                },
            ],
        },
    ];
    Program {
        name: text("un\"usual"),
        watches: watches(),
        options: ControllerOptions {
            cached_objects: CachedObjects::Shared,
            ..ControllerOptions::default()
        },
        body: body.into_iter().chain(rest()).collect(),
    }
}

fn watches() -> Vec<WatchedKind> {
    let watched = |kind, handler, predicates| WatchedKind {
        kind,
        handler,
        predicates,
    };
    let both = vec![Predicate::GenerationChanged, Predicate::LabelChanged];
    let any_owner = Handler::Owner {
        api_version: "demo.example.com/v1".to_owned(),
        kind: "Widget".to_owned(),
        only_controller: false,
    };
    vec![
        watched(widget(), Handler::Object, vec![Predicate::Or(both)]),
        watched(config_map(), any_owner, Vec::new()),
        watched(deployment(), Handler::Object, Vec::new()),
    ]
}

fn rest() -> Vec<Statement> {
    let text = str::to_owned;
    vec![
        Statement::Set {
            of: text("made"),
            field: text("/metadata/annotations/seen"),
            to: Expression::Now,
        },
        Statement::Set {
            of: text("never"),
            field: text("/spec/texts"),
            to: Expression::Value(json!(["a", {"b": null}])),
        },
        Statement::RemoveItem {
            of: text("never"),
            field: text("/spec/list"),
            item: text("x"),
        },
        Statement::If {
            condition: BoolExpression::Less(
                Expression::Field(text("never"), text("/spec/list/0/n")),
                Expression::Field(text("made"), text("/metadata/generation")),
            )
            .negated(),
            then: Vec::new(),
            otherwise: vec![Statement::Create {
                object: text("never"),
                on_error: Vec::new(),
            }],
        },
        Statement::Patch {
            object: text("made"),
            base: text("type"),
            lock: true,
            status: false,
            on_error: vec![OnError::ignore("Conflict")],
        },
        Statement::Return(ReconcileResult::Error),
    ]
}

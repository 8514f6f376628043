//! Histories leave as a diagram, as a report and as a script.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use optimist_client::{Strategy, Write, edit_scalar};
use optimist_controller::program::{ReadyProgram, ReadyProgramName};
use optimist_exports::{mermaid, report, script};
use optimist_links::Session;
use optimist_simulation::{
    Action, ActorId, ByHand, ControllerOperation, HistoryTree, NGINX, Operation, Preconditions,
    Start, WIDGET, WatchAction, World,
};

use ActorId::{A, B};

use super::program_file::write_program;

fn act(tree: &mut HistoryTree, actor: ActorId, action: Action) {
    tree.act(Operation::Act(actor, action)).unwrap();
}

fn edit(tree: &mut HistoryTree, actor: ActorId, pointer: &str, text: &str) {
    let copy = tree.world_mut().copy_mut(actor);
    let object = edit_scalar(copy.edited().unwrap(), pointer, text).unwrap();
    copy.edit(object);
}

/// B's Update is refused, then a JSON patch with a test of the version goes through.
fn conflict() -> HistoryTree {
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    for (actor, replicas) in [(A, "5"), (B, "2")] {
        act(&mut tree, actor, Action::Get);
        edit(&mut tree, actor, "/spec/replicas", replicas);
    }
    act(&mut tree, A, Action::Send(Write::default()));
    act(&mut tree, B, Action::Send(Write::default()));
    act(&mut tree, B, Action::Get);
    let tested = Write {
        send_resource_version: true,
        ..Write::usual(Strategy::JsonPatch)
    };
    act(&mut tree, B, Action::Send(tested));
    tree
}

#[test]
fn a_diagram_has_an_arrow_for_every_request_and_one_for_its_answer() {
    let diagram = mermaid(&conflict());
    assert_eq!(
        diagram,
        "sequenceDiagram
    participant A as Editor A
    participant S as API server
    participant B as Editor B
    A->>S: GET
    S-->>A: 200 OK
    B->>S: GET
    S-->>B: 200 OK
    A->>S: PUT replicas 3→5 · if 100
    Note over S: 100 → 101
    S-->>A: 200 OK
    B->>S: PUT replicas 3→2 · if 100
    Note over S: not stored
    S--xB: 409 Conflict
    B->>S: GET
    S-->>B: 200 OK
    B->>S: PATCH replicas 5→2
    Note over S: 101 → 102
    S-->>B: 200 OK
"
    );
}

#[test]
fn a_name_cannot_break_out_of_the_diagram_or_the_table() {
    let mut tree = conflict();
    tree.go(0);
    tree.world_mut().actor_mut(A).name = "A; B->>S: x\n| <b>".into();
    act(&mut tree, A, Action::Get);
    let diagram = mermaid(&tree);
    assert!(
        diagram.contains("participant A as A#59; B-#62;#62;S: x | #60;b#62;"),
        "{diagram}"
    );
    assert!(report(&tree).contains("| 1 | A; B-\\>\\>S: x \\| \\<b\\> | GET |"));
}

#[test]
fn a_report_has_what_was_asked_what_was_refused_and_the_object_in_the_end() {
    let report = report(&conflict());
    assert!(report.starts_with("## Deployment nginx-deployment\n\n| | who |"));
    assert!(report.contains("| 4 | Editor B | PUT replicas 3→2 · if 100 | 409 Conflict | 101 |"));
    assert!(report.contains("please apply your changes to the latest version"));
    assert!(report.contains("  replicas: 2\n"));
    assert!(!report.contains("managedFields"));
    assert!(report.contains("```mermaid\nsequenceDiagram\n"));
}

#[test]
fn a_report_says_which_event_reached_a_controller_and_no_version_where_none_was_read() {
    let ready = ReadyProgram::new(ReadyProgramName::ChildMaker);
    let start = Start {
        controllers: [(ActorId::C, ready.into())].into(),
        ..Start::with(WIDGET)
    };
    let mut tree = HistoryTree::new(World::from_start(start.into()).unwrap().0);
    tree.connect_controller(ActorId::C);
    tree.run_controller(ActorId::C);
    let deliver = ControllerOperation::Deliver(1);
    tree.act(Operation::Control(ActorId::C, deliver)).unwrap();
    let text = report(&tree);
    let (_, table) = text.split_once("|---|").unwrap();
    assert!(table.contains("| takes default/web |  |  |"), "{text}");
    assert!(table.contains("| created: 101 |"), "{text}");
    assert!(
        table.contains("ADDED web-") && table.contains("delivered |  |  |"),
        "{text}"
    );
    assert!(!text.contains("| 0 |") && !text.contains("0 → "), "{text}");
    assert!(text.contains("\n- ConfigMap web-"), "{text}");
}

/// Runs a script with a kubectl that notes what it is asked, and gives versions of its own.
fn run(script: &str, name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let (log, kubectl) = (folder.join("log"), folder.join("kubectl"));
    let _ = std::fs::remove_file(&log);
    let count = folder.join("count");
    std::fs::write(&count, "7000").unwrap();
    write_program(
        &kubectl,
        &format!(
            "#!/bin/sh\n\
             case \"$*\" in\n\
             *jsonpath={{.metadata.resourceVersion}}*) n=$(($(cat {count}) + 1)); echo $n > {count}; printf %s $n;;\n\
             *jsonpath={{.metadata.uid}}*) printf the-real-uid;;\n\
             *) {{ echo \"kubectl $*\"; case \"$*\" in *'-f -'*) cat;; esac; }} >> {log};;\n\
             esac\n",
            count = count.display(),
            log = log.display()
        ),
    );
    let file = folder.join("script.sh");
    std::fs::write(&file, script).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let output = Command::new("sh")
        .arg(&file)
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    std::fs::read_to_string(&log).unwrap()
}

#[test]
fn a_script_sends_the_versions_that_the_cluster_gave() {
    let log = run(&script(&conflict()), "conflict");
    let updates: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("resourceVersion:"))
        .collect();
    assert_eq!(
        updates,
        ["  resourceVersion: \"7003\"", "  resourceVersion: \"7003\""],
        "both send what was read last, and not the version of the create\n{log}"
    );
    assert!(log.contains("uid: \"the-real-uid\""), "{log}");
    assert!(
        log.contains(r#"{"op":"test","path":"/metadata/resourceVersion","value":"7005"}"#),
        "{log}"
    );
    assert!(!log.contains('@'), "{log}");
}

#[test]
fn a_script_takes_quotes_deletes_and_what_is_no_request_as_it_is() {
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n\
                  data: {a: \"it's $HOME `x` \\\\ EOF\"}\n";
    let mut tree = HistoryTree::new(World::load(config).unwrap().0);
    tree.act(Operation::Watch(WatchAction::Open(String::new())));
    tree.act(Operation::Wait(60));
    act(&mut tree, A, Action::Get);
    edit(&mut tree, A, "/data/a", "don't; $(touch /tmp/no)");
    act(
        &mut tree,
        A,
        Action::Send(Write::usual(Strategy::MergePatch)),
    );
    let by_hand = ByHand {
        method: "PUT".to_owned(),
        target: "/api/v1/namespaces/default/configmaps/settings".to_owned(),
        content_type: "application/json".to_owned(),
        body: "{no json".to_owned(),
    };
    act(&mut tree, A, Action::Request(by_hand));
    act(&mut tree, B, Action::Get);
    let preconditions = Preconditions {
        uid: true,
        resource_version: true,
    };
    act(&mut tree, B, Action::Delete(preconditions));
    let text = script(&tree);
    assert!(text.contains("# 1. Watcher: WATCH"), "{text}");
    assert!(text.contains("its body is no JSON"), "{text}");
    let log = run(&text, "quotes");
    assert!(log.contains("it's $HOME `x` \\ EOF"), "{log}");
    assert!(log.contains("don't; $(touch /tmp/no)"), "{log}");
    assert!(log.contains("\"resourceVersion\": \"7004\""), "{log}");
    assert!(log.contains("\"uid\": \"the-real-uid\""), "{log}");
}

#[test]
fn what_leaves_carries_the_manifest_without_comments_and_without_what_was_dropped() {
    let pasted = "# the password is hunter2\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  \
        resourceVersion: '4711'\n  uid: secret-uid\n  annotations:\n    \
        kubectl.kubernetes.io/last-applied-configuration: '{\"data\":{\"old\":\"hunter3\"}}'\n  \
        managedFields: [{manager: hunter4}]\ndata: {port: '80'} # hunter5\n---\n# hunter6\n";
    let (world, dropped) = World::load(pasted).unwrap();
    assert_eq!(dropped.len(), 4, "{dropped:?}");
    let tree = HistoryTree::new(world);
    let link = Session::from_tree(&tree);
    let reopened = link.clone().replay().finish().unwrap();
    assert_eq!(
        Session::from_tree(&reopened),
        link,
        "what is cleaned stays as it is"
    );
    for text in [
        script(&tree),
        report(&tree),
        format!("{link:?}"),
        reopened.origin().start().manifests.clone(),
    ] {
        for word in ["hunter", "secret-uid", "4711", "resourceVersion: \"4711\""] {
            assert!(!text.contains(word), "{word} is in {text}");
        }
        assert!(text.contains("port"), "{text}");
    }
    // A create with a resourceVersion is refused by the server.
    assert!(!script(&tree).contains("\n  resourceVersion:"));
}

#[test]
fn a_text_in_a_report_is_neither_markup_nor_reordered() {
    let mut tree = conflict();
    tree.go(0);
    tree.world_mut().actor_mut(A).name =
        "<img src=x> [a](javascript:b) *c* `d` ![e](f) \u{202e}g".into();
    act(&mut tree, A, Action::Get);
    let report = report(&tree);
    let shown = r"\<img src=x\> \[a\](javascript:b) \*c\* \`d\` \!\[e\](f) \\u202Eg";
    assert!(report.contains(shown), "{report}");
    assert!(!report.contains('\u{202e}') && !script(&tree).contains('\u{202e}'));
}

#[test]
fn a_script_creates_objects_where_its_steps_look_for_them_whatever_the_context_says() {
    let create = |manifests: &str| {
        let script = script(&HistoryTree::new(World::load(manifests).unwrap().0));
        let line = script.lines().find(|line| line.contains("kubectl create"));
        line.unwrap_or_default().to_owned()
    };
    let example = create(NGINX);
    assert!(
        example.starts_with("kubectl create -n default '--field-manager=kubectl-create' -f -"),
        "{example}"
    );
    let named = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n";
    assert!(!create(named).contains(" -n "), "{}", create(named));
}

#[test]
fn a_script_says_of_a_step_that_is_no_request_of_an_editor_that_it_is_not_sent() {
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    tree.act(Operation::Watch(WatchAction::List)).unwrap();
    tree.act(Operation::Wait(5)).unwrap();
    let script = script(&tree);
    let listed = script.lines().find(|line| line.contains(" LIST ")).unwrap();
    assert!(listed.contains("(here 200 OK). Not sent: "), "{listed}");
    assert!(!script.contains("(here )"), "{script}");
}

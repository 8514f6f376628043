//! Editors and tools as processes: each attempt is a request of its own, and others come in between.

use std::sync::Arc;

use http::Request;
use optimist_apiserver::server::{ApiServer, Release};
use optimist_client::{
    Editor, EditorPlan, IntendedChange, Intent, Next, NextRequest, ObjectRef, OnConflict, OnOwned,
    Preset, Procedure, Reply, Strategy, Subresource, Tool, ToolPlan, WantedChange, Way,
    WorkingCopy, Write,
};
use serde_json::{Value, json};

/// A server with a Deployment.
fn server() -> (ApiServer, ObjectRef) {
    let mut server = ApiServer::default();
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "nginx", "image": "nginx:1"}]}}}});
    let resource = server.resources().by_kind("apps/v1", "Deployment");
    let resource = Arc::clone(resource.expect("it is built in"));
    let path = resource.path("default", "");
    let reply = send(&mut server, "POST", &path, &object);
    assert_eq!(reply.code, 201);
    (server, ObjectRef::new(&resource, &object))
}

fn send(server: &mut ApiServer, method: &str, path: &str, body: &Value) -> Reply {
    let request = Request::builder().method(method).uri(path);
    let request = request.header(
        "content-type",
        match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        },
    );
    let request = request.body(body.to_string().into_bytes());
    Reply::from(&server.handle(request.expect("it is a request")))
}

fn plan(object: &ObjectRef, change: (&str, Value), write: Write) -> EditorPlan {
    let (pointer, value) = change;
    EditorPlan {
        object: object.clone(),
        manager: "editor".into(),
        copy: WorkingCopy::BLANK,
        intent: Some(Intent::Change(vec![IntendedChange::at(
            pointer,
            Some(value),
        )])),
        write,
    }
}

/// One thing that a process does: `GET 200`, `sleep 10`, `done`.
fn step(server: &mut ApiServer, process: &mut Procedure) -> String {
    match process.next() {
        Next::Send(request) => {
            let method = request.method().clone();
            let reply = Reply::from(&server.handle(request));
            process.answered(&reply);
            format!("{method} {}", reply.code)
        }
        Next::Sleep(time) => {
            process.wake();
            format!("sleep {}", time.as_millis())
        }
        Next::Done => "done".to_owned(),
    }
}

fn steps(server: &mut ApiServer, process: &mut Procedure, most: usize) -> Vec<String> {
    (0..most).map(|_| step(server, process)).collect()
}

fn stored(server: &mut ApiServer, object: &ObjectRef, pointer: &str) -> Value {
    let reply = send(server, "GET", &object.path(), &Value::Null);
    reply.body.pointer(pointer).cloned().unwrap_or_default()
}

fn update(on_conflict: OnConflict) -> Write {
    Write {
        on_conflict,
        ..Write::usual(Strategy::Update)
    }
}

#[test]
fn others_write_between_the_attempts_and_the_edit_is_redone_on_what_they_wrote() {
    let (mut server, object) = server();
    let plan = plan(
        &object,
        ("/spec/replicas", 5.into()),
        update(OnConflict::ReadAgain(3)),
    );
    let mut process = Procedure::from(Editor::from(plan));
    assert!(process.repeats_edits());
    assert_eq!(step(&mut server, &mut process), "GET 200");
    for seconds in [1, 2] {
        let other = json!({"spec": {"minReadySeconds": seconds}});
        assert_eq!(send(&mut server, "PATCH", &object.path(), &other).code, 200);
        let sent = steps(&mut server, &mut process, 3);
        assert_eq!(sent, ["PUT 409", "sleep 10", "GET 200"]);
    }
    assert_eq!(steps(&mut server, &mut process, 2), ["PUT 200", "done"]);
    assert_eq!(stored(&mut server, &object, "/spec/replicas"), 5);
    assert_eq!(stored(&mut server, &object, "/spec/minReadySeconds"), 2);
}

#[test]
fn the_last_attempt_is_the_last_one() {
    let (mut server, object) = server();
    let plan = plan(
        &object,
        ("/spec/replicas", 5.into()),
        update(OnConflict::ReadAgain(2)),
    );
    let mut process = Procedure::from(Editor::from(plan));
    let mut all = Vec::new();
    for seconds in 1..6 {
        all.push(step(&mut server, &mut process));
        if all.last().is_some_and(|it| it == "GET 200") {
            let other = json!({"spec": {"minReadySeconds": seconds}});
            send(&mut server, "PATCH", &object.path(), &other);
        }
    }
    assert_eq!(
        all,
        ["GET 200", "PUT 409", "sleep 10", "GET 200", "PUT 409"]
    );
    assert_eq!(step(&mut server, &mut process), "done");
}

#[test]
fn who_resends_sends_the_same_body_at_once_and_who_gives_up_is_done() {
    let (server, object) = server();
    let sent = |on_conflict| {
        let mut server = server.clone();
        let plan = plan(&object, ("/spec/replicas", 5.into()), update(on_conflict));
        let mut process = Procedure::from(Editor::from(plan));
        step(&mut server, &mut process);
        let other = json!({"spec": {"minReadySeconds": 1}});
        send(&mut server, "PATCH", &object.path(), &other);
        steps(&mut server, &mut process, 3)
    };
    assert_eq!(sent(OnConflict::Resend(2)), ["PUT 409", "PUT 409", "done"]);
    assert_eq!(sent(OnConflict::GiveUp), ["PUT 409", "done", "done"]);
}

#[test]
fn a_copy_that_was_edited_by_hand_is_sent_first_and_redone_after_a_conflict() {
    let (mut server, object) = server();
    let read = send(&mut server, "GET", &object.path(), &Value::Null).body;
    let mut copy = WorkingCopy::BLANK;
    copy.settle(Arc::clone(&read));
    let mut edited = (*read).clone();
    edited["spec"]["replicas"] = 5.into();
    copy.edit(edited);
    let other = json!({"spec": {"minReadySeconds": 7}});
    send(&mut server, "PATCH", &object.path(), &other);
    let mut process = Procedure::from(Editor::from(EditorPlan {
        object: object.clone(),
        manager: "editor".into(),
        copy,
        intent: None,
        write: update(OnConflict::ReadAgain(5)),
    }));
    let meant = process
        .meant(Release::default())
        .expect("it means its edits");
    assert_eq!(meant.len(), 1);
    let sent = steps(&mut server, &mut process, 5);
    assert_eq!(sent, ["PUT 409", "sleep 10", "GET 200", "PUT 200", "done"]);
    assert_eq!(stored(&mut server, &object, "/spec/replicas"), 5);
    assert_eq!(stored(&mut server, &object, "/spec/minReadySeconds"), 7);
}

#[test]
fn an_editor_makes_the_same_of_an_object_as_one_who_has_read_it_before() {
    let (_, object) = server();
    let shown = |version: &str| {
        Arc::new(json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "resourceVersion": version}, "spec": {"replicas": 3}}))
    };
    let reply = |body: &Arc<Value>| Reply {
        code: 200,
        body: Arc::clone(body),
    };
    // A field with the value that it has already is declared.
    let mut begins = plan(
        &object,
        ("/spec/replicas", 3.into()),
        update(OnConflict::ReadAgain(3)),
    );
    let first = shown("1");
    let mut copy = WorkingCopy::default();
    copy.settle(Arc::clone(&first));
    copy.declare(optimist_apiserver::apply::Path(Vec::new()));
    let read_before = EditorPlan {
        copy,
        ..begins.clone()
    };
    begins.copy = WorkingCopy::BLANK;
    let conflict = refusal(409, "Conflict");
    for plan in [begins, read_before] {
        let start = Editor::from(plan);
        let reads = |mut editor: Editor| {
            if editor.next_request() != NextRequest::Read {
                editor.answered(&conflict);
            }
            editor
        };
        let second = shown("2");
        let mut before = reads(start.clone());
        before.answered(&reply(&second));
        for (other, body) in [(&before, &second), (&before, &first), (&start, &first)] {
            let (mut alone, mut alike) = (reads(start.clone()), reads(start.clone()));
            alone.answered(&reply(body));
            alike.answered_like(&reply(body), Some(other));
            assert_eq!(alike, alone);
        }
    }
}

#[test]
fn a_status_writer_and_a_deleter_are_editors() {
    let (mut server, object) = server();
    let status = Write {
        subresource: Some(Subresource::Status),
        ..Write::usual(Strategy::MergePatch)
    };
    let plan = plan(&object, ("/status/replicas", 3.into()), status);
    let mut writer = Procedure::from(Editor::from(plan.clone()));
    let sent = steps(&mut server, &mut writer, 3);
    assert_eq!(sent, ["GET 200", "PATCH 200", "done"]);
    assert_eq!(stored(&mut server, &object, "/status/replicas"), 3);

    let mut deleter = Procedure::from(Editor::from(EditorPlan {
        intent: Some(Intent::Delete),
        write: Write::default(),
        ..plan
    }));
    assert_eq!(step(&mut server, &mut deleter), "GET 200");
    let other = json!({"spec": {"minReadySeconds": 1}});
    send(&mut server, "PATCH", &object.path(), &other);
    assert_eq!(
        step(&mut server, &mut deleter),
        "DELETE 409",
        "it carries the version"
    );
    assert_eq!(step(&mut server, &mut deleter), "done");
}

#[test]
fn processes_that_do_the_same_from_here_on_are_equal() {
    let (mut server, object) = server();
    let plan = plan(&object, ("/spec/replicas", 5.into()), Write::default());
    let begun = Procedure::from(Editor::from(plan));
    let (mut one, mut other) = (begun.clone(), begun.clone());
    step(&mut server, &mut one);
    assert_ne!(one, other);
    step(&mut server, &mut other);
    assert_eq!(one, other);
}

/// A tool that writes a manifest of the Deployment with another number of replicas.
fn tool(object: &ObjectRef, preset: Preset, on_owned: OnOwned, replicas: u8) -> Procedure {
    let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": object.name(), "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "nginx", "image": "nginx:1"}]}}}});
    Procedure::from(Tool::from(ToolPlan {
        object: object.clone(),
        way: Way::Client(preset, on_owned),
        change: Arc::new(WantedChange::manifest(manifest)),
        first: None,
    }))
}

fn refusal(code: u16, reason: &str) -> Reply {
    let body = json!({"kind": "Status", "reason": reason, "code": code});
    Reply {
        code,
        body: Arc::new(body),
    }
}

/// The method of the next request, which gets an answer that no server gave.
fn answer(process: &mut Procedure, reply: &Reply) -> String {
    let Next::Send(request) = process.next() else {
        return "nothing".to_owned();
    };
    process.answered(reply);
    request.method().to_string()
}

#[test]
fn a_client_side_apply_reads_again_after_each_conflict_and_waits_before_the_later_ones() {
    let (mut server, object) = server();
    let mut process = tool(&object, Preset::KubectlApply, OnOwned::Usual, 5);
    assert!(matches!(
        step(&mut server, &mut process).as_str(),
        "GET 200"
    ));
    let conflict = refusal(409, "Conflict");
    assert_eq!(answer(&mut process, &conflict), "PATCH");
    assert_eq!(step(&mut server, &mut process), "GET 200");
    for _ in 0..4 {
        assert_eq!(answer(&mut process, &conflict), "PATCH");
        let sent = steps(&mut server, &mut process, 2);
        assert_eq!(sent, ["sleep 1000", "GET 200"]);
    }
    assert!(process.repeats_edits());
    let mut gives_up = process.clone();
    assert_eq!(answer(&mut gives_up, &conflict), "PATCH");
    assert_eq!(step(&mut server, &mut gives_up), "done");
    assert_eq!(steps(&mut server, &mut process, 2), ["PATCH 200", "done"]);
    assert_eq!(stored(&mut server, &object, "/spec/replicas"), 5);
}

#[test]
fn somebody_writes_while_kubectl_migrates_from_client_side_apply() {
    let (mut server, old) = server();
    let object = ObjectRef::new(
        old.resource(),
        &json!({"metadata": {"name": "new", "namespace": "default"}}),
    );
    let mut creates = tool(&object, Preset::KubectlApply, OnOwned::Usual, 3);
    let sent = steps(&mut server, &mut creates, 3);
    assert_eq!(sent, ["GET 404", "POST 201", "done"]);
    let mut applies = tool(&object, Preset::KubectlApplyServerSide, OnOwned::Usual, 3);
    let sent = steps(&mut server, &mut applies, 3);
    assert_eq!(
        sent,
        ["GET 200", "PATCH 200", "PATCH 200"],
        "the annotation is kept"
    );
    assert_eq!(applies.meant(Release::default()), Some(Vec::new()));
    let other = json!({"spec": {"minReadySeconds": 7}});
    send(&mut server, "PATCH", &object.path(), &other);
    let sent = steps(&mut server, &mut applies, 5);
    let expected = ["PATCH 409", "GET 200", "PATCH 200", "PATCH 200", "done"];
    assert_eq!(sent, expected);
    assert_eq!(stored(&mut server, &object, "/spec/minReadySeconds"), 7);
}

#[test]
fn who_replaces_an_object_waits_until_it_is_gone() {
    let (mut server, object) = server();
    let held = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    send(&mut server, "PATCH", &object.path(), &held);
    let mut process = tool(&object, Preset::ArgoCdClientSide, OnOwned::Force, 5);
    step(&mut server, &mut process);
    assert_eq!(answer(&mut process, &refusal(422, "Invalid")), "PATCH");
    let meant = process.meant(Release::default()).unwrap_or_default();
    assert_eq!(meant.len(), 1, "it means to delete");
    let sent = steps(&mut server, &mut process, 2);
    assert_eq!(sent, ["DELETE 200", "GET 200"]);
    let waits = process.clone();
    let sent = steps(&mut server, &mut process, 2);
    assert_eq!(sent, ["sleep 1000", "GET 200"]);
    assert_eq!(process, waits, "alone it would wait for ever");
    let free = json!({"metadata": {"finalizers": null}});
    send(&mut server, "PATCH", &object.path(), &free);
    let sent = steps(&mut server, &mut process, 4);
    assert_eq!(sent, ["sleep 1000", "GET 404", "POST 201", "done"]);
    assert_eq!(stored(&mut server, &object, "/spec/replicas"), 5);
}

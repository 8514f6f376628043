//! Values that count as shown, and edits that a later write then loses.

use std::sync::Arc;

use http::Request;
use optimist_apiserver::server::{ApiServer, Resource};
use optimist_client::AnsweredRequest;
use optimist_ledger::{
    Answered, Edit, Effect, Intention, ObjectRef, UpdateTracker, changed_fields,
};
use serde_json::{Value, json};

const A: u8 = 0;
const B: u8 = 1;
const CONTROLLER: u8 = 2;

fn config_map() -> Arc<Resource> {
    let server = ApiServer::default();
    let resource = server.resources().by_kind("v1", "ConfigMap");
    Arc::clone(resource.expect("it is built in"))
}

fn object(version: u64, data: Value) -> Arc<Value> {
    Arc::new(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": data,
        "metadata": {"name": "a", "resourceVersion": version.to_string()}}),
    )
}

/// An accepted write, and how many edits it loses.
fn write(
    updates: &mut UpdateTracker<u8>,
    who: u8,
    meant: [&Arc<Value>; 2],
    stored: [&Arc<Value>; 2],
) -> usize {
    let resource = config_map();
    let root = &resource.root;
    let edits = Edit::between(meant[0], meant[1], root);
    let intention = Intention {
        edits: Some(&edits),
        ..Intention::default()
    };
    let effect = Effect::write(Some(stored[0]), Some(stored[1]), root);
    let done = updates.answered(who, &effect, intention, root);
    done.losses.len()
}

#[test]
fn being_shown_does_not_end_by_reading_something_older_later() {
    let (first, second) = (object(1, json!({})), object(2, json!({"x": "1"})));
    let third = object(3, json!({"x": "1", "y": "1"}));
    let mut updates = UpdateTracker::default();
    write(&mut updates, A, [&first, &second], [&first, &second]);
    // It reads from the server, and then from a cache that is behind.
    updates.read(CONTROLLER, &second);
    let changed = changed_fields(Some(&first), Some(&second), &config_map().root);
    updates.read_earlier(CONTROLLER, 1, changed);
    // B sets the same value: whoever was shown A's was shown B's too.
    let both = [&first, &third];
    assert_eq!(write(&mut updates, B, both, [&second, &third]), 0);
    let gone = object(4, json!({"y": "1"}));
    let kept_y = object(4, json!({}));
    assert_eq!(
        write(
            &mut updates,
            CONTROLLER,
            [&second, &kept_y],
            [&third, &gone]
        ),
        0
    );
}

#[test]
fn a_value_that_was_removed_and_set_again_was_not_shown() {
    let first = object(1, json!({"x": "1"}));
    let (second, third) = (object(2, json!({})), object(3, json!({"x": "1"})));
    let mut updates = UpdateTracker::default();
    updates.read(CONTROLLER, &first);
    write(&mut updates, A, [&first, &second], [&first, &second]);
    write(&mut updates, A, [&second, &third], [&second, &third]);
    let gone = object(4, json!({}));
    assert_eq!(
        write(&mut updates, CONTROLLER, [&first, &gone], [&third, &gone]),
        1
    );
}

/// A write whose answer is lost.
fn write_unanswered(updates: &mut UpdateTracker<u8>, who: u8, stored: [&Arc<Value>; 2]) {
    let resource = config_map();
    let effect = Effect::write(Some(stored[0]), Some(stored[1]), &resource.root).unanswered();
    updates.answered(who, &effect, Intention::default(), &resource.root);
}

#[test]
fn an_edit_whose_answer_was_lost_is_acknowledged_once_its_writer_is_shown_it() {
    let (first, second) = (object(1, json!({})), object(2, json!({"x": "1"})));
    let third = object(3, json!({"x": "2"}));
    let overwritten = |reads: &[u8]| {
        let mut updates = UpdateTracker::default();
        write_unanswered(&mut updates, A, [&first, &second]);
        assert_eq!(updates.kept_edits(), []);
        for who in reads {
            updates.read(*who, &second);
        }
        let lost = write(&mut updates, B, [&first, &third], [&second, &third]);
        (
            lost,
            updates.replaced().len(),
            updates.unanswered_edits().len(),
        )
    };
    assert_eq!(overwritten(&[]), (0, 0, 0), "nobody was promised anything");
    assert_eq!(overwritten(&[B]), (0, 0, 0));
    assert_eq!(overwritten(&[A]), (1, 0, 0), "B was not shown it");
    assert_eq!(overwritten(&[A, B]), (0, 1, 0));
    assert_eq!(overwritten(&[B, A]), (0, 1, 0));
}

#[test]
fn an_edit_that_is_sent_again_after_its_answer_was_lost_counts_once() {
    let (first, second) = (object(1, json!({})), object(2, json!({"x": "1"})));
    let mut updates = UpdateTracker::default();
    write_unanswered(&mut updates, A, [&first, &second]);
    write(&mut updates, A, [&first, &second], [&second, &second]);
    let (kept, unanswered) = (updates.kept_edits(), updates.unanswered_edits());
    assert_eq!((kept.len(), unanswered.len()), (1, 0));
}

#[test]
fn a_refused_dry_run_could_not_have_lost_an_edit() {
    let mut server = ApiServer::default();
    let mut send = |method: &str, path: &str, body: &Value| {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", "application/json")
            .body(body.to_string().into_bytes());
        let request = request.expect("it is a request");
        let response = server.handle(request.clone());
        AnsweredRequest::new(request, response)
    };
    let path = "/api/v1/namespaces/default/configmaps";
    let made = send(
        "POST",
        path,
        &json!({"metadata": {"name": "a"}, "data": {"x": "1"}}),
    );
    let first = Arc::clone(made.received());
    let mut second = (*first).clone();
    second["data"] = json!({"x": "2"});
    let second = send("PUT", &format!("{path}/a"), &second);
    let second = Arc::clone(second.received());
    let mut stale = (*first).clone();
    stale["data"] = json!({"x": "3"});
    for (query, expected) in [("", true), ("?dryRun=All", false)] {
        let target = format!("{path}/a{query}");
        let mut updates = UpdateTracker::default();
        write(&mut updates, A, [&first, &second], [&first, &second]);
        let answered = send("PUT", &target, &stale);
        assert_eq!(answered.response.status().as_u16(), 409);
        let object = ObjectRef::new(&config_map(), &first);
        let answered = Answered::from(&answered);
        let effect = answered.effect(&object, true, &ApiServer::default(), 0);
        let done = updates.answered(B, &effect, Intention::default(), &config_map().root);
        assert_eq!(done.contested, expected, "{query}");
    }
}

#[test]
fn what_a_secret_takes_as_a_text_is_in_its_data() {
    let server = ApiServer::default();
    let resource = server.resources().by_kind("v1", "Secret");
    let root = &resource.expect("it is built in").root;
    let secret = |version: u64, data: Value| {
        json!({"apiVersion": "v1", "kind": "Secret", "data": data,
            "metadata": {"name": "s", "resourceVersion": version.to_string()}})
    };
    let (first, second) = (secret(1, json!({})), secret(2, json!({"p": "b3RoZXI="})));
    let mut texts = first.clone();
    texts["stringData"] = json!({"p": "other"});
    let mut updates = UpdateTracker::default();
    let mut send = |who, meant: [&Value; 2], stored: [&Value; 2]| {
        let edits = Edit::between(meant[0], meant[1], root);
        let intention = Intention {
            edits: Some(&edits),
            ..Intention::default()
        };
        let stored = stored.map(|one| Arc::new(one.clone()));
        let effect = Effect::write(Some(&stored[0]), Some(&stored[1]), root);
        let done = updates.answered(who, &effect, intention, root);
        (done.losses.len(), done.left_out.len())
    };
    assert_eq!(send(A, [&first, &texts], [&first, &second]), (0, 0));
    // B has not read it, and takes it away.
    let third = secret(3, json!({"p": "bmV3"}));
    assert_eq!(send(B, [&first, &third], [&second, &third]), (1, 0));
}

/// kubectl notes the manifest that it applied in an annotation. Nobody meant that change, so nobody loses it.
#[test]
fn the_annotation_of_client_side_apply_is_no_edit() {
    let noted = |version: u64, x: &str| {
        let mut object = object(version, json!({"x": x}));
        let annotation = json!({"kubectl.kubernetes.io/last-applied-configuration": x});
        Arc::make_mut(&mut object)["metadata"]["annotations"] = annotation;
        object
    };
    let (first, second) = (noted(1, "1"), noted(2, "2"));
    let mut updates = UpdateTracker::default();
    write(&mut updates, A, [&first, &second], [&first, &second]);
    let back = noted(3, "3");
    assert_eq!(write(&mut updates, B, [&first, &back], [&second, &back]), 1);
    let places: Vec<String> = updates
        .losses()
        .iter()
        .map(|loss| loss.edit.path.to_string())
        .collect();
    assert_eq!(places, [".data.x"]);
}

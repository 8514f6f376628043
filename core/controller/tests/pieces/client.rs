//! Each test names the threads in which people met what it shows.

use std::sync::Arc;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::ApiServer;
use optimist_client::{
    Call, Editor, EditorPlan, IntendedChange, Intent, Next, NextRequest, ObjectRef, OnConflict,
    Preconditions, Reply, Sender, Subresource, WorkingCopy, Write,
};
use optimist_controller::{Cache, Client, ClientResult};
use serde_json::{Value, json};

use crate::server::{config_map, config_maps, delete, synced, write};

fn stored(server: &ApiServer, name: &str) -> Arc<Value> {
    let key = format!("/registry/configmaps/default/{name}");
    Arc::clone(server.store().get(&key).expect("it exists").1)
}

fn send(client: &mut Client, server: &mut ApiServer, call: Call) -> ClientResult<Arc<Value>> {
    let resource = config_maps(server);
    client.send(server, &resource, &call)
}

/// A changed copy of an object.
fn changed(object: &Arc<Value>, pointer: &str, value: Value) -> Arc<Value> {
    let mut object = Value::clone(object);
    match object.pointer_mut(pointer) {
        Some(member) => *member = value,
        None => panic!("no {pointer}"),
    }
    Arc::new(object)
}

fn update(object: Arc<Value>) -> Call {
    Call::Update {
        base: Arc::clone(&object),
        object,
        subresource: None,
    }
}

#[test]
fn a_cached_get_of_what_was_just_created_is_not_found_and_the_second_create_already_exists() {
    // controller-runtime#343, #1543, #245; operator-sdk#3790
    let mut server = ApiServer::default();
    let mut cache = synced(&mut server);
    let mut client = Client::new("demo");
    let create = || Call::Create {
        namespace: "default".to_owned(),
        object: Arc::new(config_map("a", "1")),
    };
    send(&mut client, &mut server, create()).unwrap();
    let missing = client.get(&cache, "default", "a").unwrap_err();
    assert!(missing.is_not_found() && missing.of_cache);
    assert_eq!(
        missing.message, "ConfigMap \"a\" not found",
        "the kind, not the resource"
    );
    let refused = send(&mut client, &mut server, live_get("b")).unwrap_err();
    assert_eq!(refused.message, "configmaps \"b\" not found");
    let error = send(&mut client, &mut server, create()).unwrap_err();
    assert_eq!(error.reason, "AlreadyExists", "returned as it is: {error}");
    cache.deliver(&mut server);
    assert!(client.get(&cache, "default", "a").is_ok());
}

fn live_get(name: &str) -> Call {
    Call::Get {
        namespace: "default".to_owned(),
        name: name.to_owned(),
    }
}

/// An editor reads, changes the value, and updates; it reads from a cache that is one write behind.
/// Returns the last code, and how often it sent.
fn retried(live: bool, deliver: bool) -> (u16, u32) {
    let mut server = ApiServer::default();
    write(&mut server, "a", "1");
    let mut cache = synced(&mut server);
    write(&mut server, "a", "2");
    let change = IntendedChange::at("/data/value", Some("3".into()));
    let mut editor = Editor::from(EditorPlan {
        object: ObjectRef::new(&config_maps(&server), &stored(&server, "a")),
        manager: "demo".into(),
        copy: WorkingCopy::default(),
        intent: Some(Intent::Change(vec![change])),
        write: Write {
            on_conflict: OnConflict::ReadAgain(OnConflict::DEFAULT_ATTEMPTS),
            ..Write::default()
        },
    });
    let client = Client::new("demo");
    let (mut code, mut attempts) = (0, 0);
    while let Next::Send(request) = editor.next() {
        let reads = editor.next_request() == NextRequest::Read;
        if reads && deliver && attempts > 0 {
            cache.deliver(&mut server);
        }
        let reply = match reads && !live {
            true => Reply {
                code: 200,
                body: client.get(&cache, "default", "a").expect("it is cached"),
            },
            false => Reply::from(&server.handle(request)),
        };
        attempts += u32::from(!reads);
        code = reply.code;
        editor.answered(&reply);
        editor.wake();
    }
    (code, attempts)
}

#[test]
fn retry_on_conflict_around_a_cached_get_fails_five_times() {
    // datadog-operator#3283; gardener#4425; toolhive#3020
    assert_eq!(retried(false, false), (409, 5));
    assert_eq!(retried(true, false), (200, 1), "a live Get");
    assert_eq!(
        retried(false, true),
        (200, 2),
        "the event arrived in between"
    );
}

/// Two controllers read the object at the same time, and each adds its finalizer.
fn finalizers_after(lock: bool) -> (Vec<String>, Option<u16>) {
    let mut server = ApiServer::default();
    write(&mut server, "a", "1");
    let cache = synced(&mut server);
    let mut refused = None;
    for name in ["one", "two"] {
        let mut client = Client::new(name);
        let base = client.get(&cache, "default", "a").unwrap();
        let mut object = Value::clone(&base);
        object.set_meta("finalizers", json!([format!("example.com/{name}")]));
        let call = Call::merge_from(&base, &object, lock, None);
        refused = send(&mut client, &mut server, call)
            .err()
            .map(|error| error.code)
            .or(refused);
    }
    let finalizers = stored(&server, "a");
    let finalizers = finalizers.finalizers().into_iter().map(str::to_owned);
    (finalizers.collect(), refused)
}

#[test]
fn a_merge_patch_without_the_lock_loses_the_finalizer_of_another_controller() {
    // kubermatic#6759; java-operator-sdk#1248
    assert_eq!(
        finalizers_after(false),
        (vec!["example.com/two".to_owned()], None)
    );
    assert_eq!(
        finalizers_after(true),
        (vec!["example.com/one".to_owned()], Some(409))
    );
}

#[test]
fn an_empty_difference_is_sent_as_an_empty_patch_and_makes_no_version() {
    let mut server = ApiServer::default();
    write(&mut server, "a", "1");
    let cache = synced(&mut server);
    let base = cache.get("default/a").unwrap();
    let call = Call::merge_from(base, base, false, None);
    let request = call.request(cache.resource(), Sender::new("demo")).unwrap();
    assert_eq!(request.body().as_slice(), b"{}");
    let answer = send(&mut Client::new("demo"), &mut server, call).unwrap();
    assert_eq!(answer.resource_version(), base.resource_version());
}

#[test]
fn a_delete_on_a_stale_view_needs_preconditions() {
    // cassandra-operator#402; casskop#316; kubernetes#59848
    let refused = |uid: bool, resource_version: bool, recreate: bool| {
        let mut server = ApiServer::default();
        write(&mut server, "a", "1");
        let cache = synced(&mut server);
        if recreate {
            delete(&mut server, "a");
        }
        write(&mut server, "a", "2");
        let call = Call::Delete {
            object: Arc::clone(cache.get("default/a").unwrap()),
            preconditions: Preconditions {
                uid,
                resource_version,
            },
            in_background: false,
        };
        send(&mut Client::new("demo"), &mut server, call)
            .err()
            .map(|error| (error.code, error.is_conflict()))
    };
    let conflict = Some((409, true));
    assert_eq!(
        refused(false, false, true),
        None,
        "another object is deleted"
    );
    assert_eq!(refused(true, false, true), conflict);
    assert_eq!(
        refused(true, false, false),
        None,
        "the same object, changed"
    );
    assert_eq!(refused(false, true, false), conflict);
}

#[test]
fn apply_with_force_takes_the_field_and_without_force_is_refused() {
    let mut server = ApiServer::default();
    write(&mut server, "a", "1");
    let apply = |server: &mut ApiServer, force: bool| {
        let object = Arc::new(config_map("a", "2"));
        let call = Call::Apply {
            base: Arc::clone(&object),
            object,
            force: Some(force),
            subresource: None,
        };
        send(&mut Client::new("demo"), server, call)
    };
    assert_eq!(apply(&mut server, false).unwrap_err().code, 409);
    assert_eq!(apply(&mut server, true).unwrap()["data"]["value"], "2");
}

#[test]
fn a_status_update_leaves_the_spec_alone() {
    let mut server = ApiServer::default();
    let resource = Arc::clone(server.resources().by_kind("v1", "Pod").unwrap());
    let pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}});
    let mut client = Client::new("demo");
    let create = Call::Create {
        namespace: "default".to_owned(),
        object: Arc::new(pod),
    };
    let created = client.send(&mut server, &resource, &create).unwrap();
    let mut object = Value::clone(&created);
    object["spec"]["containers"][0]["image"] = "nginx:2".into();
    object["status"]["message"] = "seen".into();
    let update = Call::Update {
        base: Arc::clone(&created),
        object: Arc::new(object),
        subresource: Some(Subresource::Status),
    };
    let updated = client.send(&mut server, &resource, &update).unwrap();
    assert_eq!(updated["spec"], created["spec"]);
    assert_eq!(updated["status"]["message"], "seen");
}

#[test]
fn reading_own_writes_waits_for_the_cache_and_for_nothing_else() {
    // controller-runtime v0.25, EnableReadYourWritesConsistency
    let mut server = ApiServer::default();
    write(&mut server, "a", "1");
    write(&mut server, "b", "1");
    let mut cache = synced(&mut server);
    let mut client = Client::new("demo").reading_own_writes();
    let answers = |client: &Client, cache: &Cache| {
        [
            client.may_get(cache, "default/a"),
            client.may_get(cache, "default/b"),
            client.may_list(cache),
        ]
    };
    write(&mut server, "b", "2");
    assert_eq!(
        answers(&client, &cache),
        [true; 3],
        "a write of another client"
    );
    cache.deliver(&mut server);
    let object = changed(cache.get("default/a").unwrap(), "/data/value", "2".into());
    send(&mut client, &mut server, update(object)).unwrap();
    assert_eq!(answers(&client, &cache), [false, true, false]);
    cache.deliver(&mut server);
    assert_eq!(answers(&client, &cache), [true; 3]);
    assert_eq!(Client::new("demo").own_writes(), None, "off by default");
}

#[test]
fn a_kind_without_namespaces_is_found_by_its_name_alone() {
    let mut server = ApiServer::default();
    let namespaces = Arc::clone(server.resources().by_kind("v1", "Namespace").unwrap());
    let mut cache = Cache::new(namespaces, "default", optimist_client::ListMode::List);
    cache.sync(&mut server);
    let client = Client::new("demo");
    let found = client.get(&cache, "other", "default").unwrap();
    assert_eq!(found.name(), "default");
}

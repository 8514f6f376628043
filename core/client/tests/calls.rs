//! The bytes on the wire for each request of a client.

use std::sync::Arc;

use http::Response;
use optimist_apiserver::server::Resources;
use optimist_client::{
    AnsweredRequest, Call, Patch, Preconditions, RequestKind, Sender, Strategy, Subresource,
};
use serde_json::{Value, json};

fn object() -> Arc<Value> {
    Arc::new(json!({"metadata":
        {"name": "a b", "namespace": "default", "resourceVersion": "7", "uid": "u"}}))
}

/// `METHOD target`, the media type and the body.
fn sent(call: &Call, sender: Sender<'_>) -> [String; 3] {
    let resources = Resources::builtin();
    let resource = resources.by_kind("apps/v1", "Deployment").unwrap();
    let request = call.request(resource, sender).expect("it is a request");
    let headers = request.headers();
    assert_eq!(headers["user-agent"], sender.user_agent);
    let media_type = headers.get("content-type");
    let media_type = media_type.map(|value| value.to_str().unwrap().to_owned());
    let body = String::from_utf8(request.body().clone()).unwrap();
    let answered = AnsweredRequest::new(request.clone(), Response::default());
    let read: Value = serde_json::from_str(&body).unwrap_or_default();
    assert_eq!(**answered.sent(), read, "what was sent is what was written");
    let target = request.uri().to_string();
    let target = target.replace("/apis/apps/v1/namespaces/default/deployments", "…");
    [
        format!("{} {target}", request.method()),
        media_type.unwrap_or_default(),
        body,
    ]
}

fn named(name: &str) -> Arc<Value> {
    Arc::new(json!({"metadata": {"name": name, "namespace": "default"}}))
}

#[test]
fn each_request_has_its_method_path_media_type_and_body() {
    let (base, namespace) = (named("web"), || "default".to_owned());
    let body = base.to_string();
    let patch = |patch| Call::Patch {
        base: named("web"),
        patch,
        subresource: None,
    };
    let name = "web".to_owned();
    let calls = [
        (
            Call::Get {
                namespace: namespace(),
                name,
            },
            ["GET …/web", "", ""],
        ),
        (
            Call::List {
                namespace: namespace(),
            },
            ["GET …", "", ""],
        ),
        (
            Call::Create {
                namespace: namespace(),
                object: named("web"),
            },
            ["POST …", "application/json", &body],
        ),
        (
            Call::Update {
                base: named("web"),
                object: named("web"),
                subresource: Some(Subresource::Status),
            },
            ["PUT …/web/status", "application/json", &body],
        ),
        (
            patch(Patch::Merge(json!({}))),
            ["PATCH …/web", "application/merge-patch+json", "{}"],
        ),
        (
            patch(Patch::Strategic(json!({}))),
            [
                "PATCH …/web",
                "application/strategic-merge-patch+json",
                "{}",
            ],
        ),
        (
            patch(Patch::Json(json!([]))),
            ["PATCH …/web", "application/json-patch+json", "[]"],
        ),
    ];
    for (call, expected) in calls {
        assert_eq!(sent(&call, Sender::new("me")), expected);
        let kind = RequestKind::from_request(expected[0].split(' ').next().unwrap(), expected[1]);
        assert_eq!(call.kind(), kind, "{call:?}");
    }
}

#[test]
fn only_an_apply_says_force_and_it_always_names_a_manager() {
    let apply = |force| Call::Apply {
        base: named("web"),
        object: Arc::new(json!({})),
        force,
        subresource: None,
    };
    let target = |call: &Call, sender| sent(call, sender)[0].clone();
    let me = Sender::new("me");
    let forced = "PATCH …/web?fieldManager=me&force=true";
    assert_eq!(target(&apply(Some(true)), me), forced);
    assert_eq!(target(&apply(None), me), "PATCH …/web?fieldManager=me");
    let every_option = Sender {
        manager: Some("a/b"),
        dry_run: true,
        is_strict: true,
        ..me
    };
    assert_eq!(
        target(&apply(Some(false)), every_option),
        "PATCH …/web?fieldManager=a%2Fb&force=false&dryRun=All&fieldValidation=Strict"
    );
    let namespace = "default".to_owned();
    assert_eq!(target(&Call::List { namespace }, every_option), "GET …");
}

#[test]
fn a_delete_says_only_what_it_was_asked_to_say() {
    let delete = |uid, resource_version, in_background| Call::Delete {
        object: Arc::new(json!({"metadata": {"name": "web", "namespace": "default",
            "resourceVersion": "7", "uid": "u"}})),
        preconditions: Preconditions {
            uid,
            resource_version,
        },
        in_background,
    };
    let body = |call: Call| {
        let [_, media_type, body] = sent(&call, Sender::new("me"));
        assert_eq!(media_type.is_empty(), body.is_empty());
        serde_json::from_str(&body).unwrap_or(Value::Null)
    };
    assert_eq!(body(delete(false, false, false)), Value::Null);
    let options = body(delete(true, true, true));
    assert_eq!(
        options,
        json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background",
            "preconditions": {"uid": "u", "resourceVersion": "7"}})
    );
}

#[test]
fn a_name_that_makes_no_path_makes_no_request() {
    let resources = Resources::builtin();
    let resource = resources.by_kind("apps/v1", "Deployment").unwrap();
    let call = Call::merge_from(&object(), &object(), true, None);
    assert_eq!(call.request(resource, Sender::new("me")).map(drop), None);
}

#[test]
fn a_patch_with_the_media_type_of_an_update_is_none_that_clients_know() {
    let of_update = Strategy::Update.media_type();
    assert_eq!(
        RequestKind::from_request("PATCH", of_update),
        RequestKind::Other
    );
}

//! `optimist-testing` as the server of a kube-rs program: what stands in its documentation.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::{Controller, WatchStreamExt, controller::Action, watcher};
use kube::{Client, CustomResource, ResourceExt};
use optimist_testing::{Rule, TestServer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const SETTINGS: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: blue}
";

/// Two lines.
fn client(server: &TestServer, name: &str) -> Client {
    Client::new(server.client(name), "default")
}

/// Labels what it sees, if the label is not there.
async fn reconcile(map: Arc<ConfigMap>, maps: Arc<Api<ConfigMap>>) -> kube::Result<Action> {
    if !map.labels().contains_key("seen") {
        let patch = json!({"metadata": {"labels": {"seen": "yes"}}});
        let params = PatchParams::default();
        maps.patch(&map.name_any(), &params, &Patch::Merge(&patch))
            .await?;
    }
    Ok(Action::await_change())
}

#[tokio::test]
async fn a_controller_repeats_what_a_rule_refused_and_writes_nothing_twice() {
    let server = TestServer::default().with_objects(SETTINGS).unwrap();
    server.add(
        Rule::on("PATCH", "/configmaps/settings")
            .nth(1)
            .refuses(503),
    );
    let maps: Api<ConfigMap> = Api::default_namespaced(client(&server, "labeller"));
    let again = |_: Arc<_>, _: &kube::Error, _| Action::requeue(Duration::from_millis(1));
    let run = Controller::new(maps.clone(), watcher::Config::default())
        .run(reconcile, again, Arc::new(maps.clone()))
        .for_each(|_| async {});
    let done = async {
        while !maps
            .get("settings")
            .await
            .unwrap()
            .labels()
            .contains_key("seen")
        {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        () = run => panic!("a controller does not end"),
        () = done => {}
        () = tokio::time::sleep(Duration::from_secs(120)) => panic!("{}", server.lanes()),
    }
    assert!(
        server
            .requests()
            .iter()
            .any(|it| it.by_rule && it.code == 503)
    );
    assert!(
        server.writes_without_change().is_empty(),
        "{}",
        server.lanes()
    );
    server.assert_no_lost_update();
    let owners = server.owners(
        "v1",
        "ConfigMap",
        "default/settings",
        "/metadata/labels/seen",
    );
    assert_eq!(owners.len(), 1);
}

#[tokio::test]
async fn a_watch_of_kube_shows_its_client_what_others_write() {
    let server = TestServer::default().with_objects(SETTINGS).unwrap();
    let bob: Api<ConfigMap> = Api::default_namespaced(client(&server, "bob"));
    let alice: Api<ConfigMap> = Api::default_namespaced(client(&server, "alice"));
    let only = watcher::Config::default().fields("metadata.name=settings");
    let mut seen = watcher(bob.clone(), only).applied_objects().boxed();
    let first = seen.next().await.unwrap().unwrap();
    assert_eq!(first.data.unwrap()["colour"], "blue");
    let set = async |maps: &Api<ConfigMap>, colour: &str| {
        let patch = json!({"data": {"colour": colour}});
        let params = PatchParams::default();
        maps.patch("settings", &params, &Patch::Merge(&patch))
            .await
            .unwrap();
    };
    set(&alice, "red").await;
    assert_eq!(
        seen.next().await.unwrap().unwrap().data.unwrap()["colour"],
        "red"
    );
    set(&bob, "green").await;
    server.assert_no_lost_update();
    set(&alice, "black").await;
    let lost: Vec<String> = server
        .lost_updates()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        lost,
        ["alice took away .data.colour, which bob had written"]
    );
    let params = ListParams::default().labels("none=here");
    assert!(bob.list(&params).await.unwrap().items.is_empty());
}

#[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "Widget",
    namespaced
)]
#[kube(status = "WidgetStatus")]
struct WidgetSpec {
    #[schemars(range(max = 9))]
    size: i32,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
struct WidgetStatus {
    ready: bool,
}

#[tokio::test]
async fn a_type_of_a_custom_resource_brings_its_definition() {
    let server = TestServer::default().with_crd::<Widget>().unwrap();
    let widgets: Api<Widget> = Api::default_namespaced(client(&server, "c"));
    let params = PostParams::default();
    let made = widgets
        .create(&params, &Widget::new("a", WidgetSpec { size: 3 }))
        .await
        .unwrap();
    assert_eq!((made.spec.size, made.metadata.generation), (3, Some(1)));
    // Its schema is checked, and its status is a subresource.
    let refused = widgets
        .create(&params, &Widget::new("b", WidgetSpec { size: 10 }))
        .await;
    assert!(matches!(refused, Err(kube::Error::Api(status)) if status.code == 422));
    let status = json!({"status": {"ready": true}});
    let params = PatchParams::default();
    let patched = widgets
        .patch_status("a", &params, &Patch::Merge(&status))
        .await
        .unwrap();
    assert!(patched.status.unwrap().ready);
    assert_eq!(patched.metadata.generation, Some(1));
}

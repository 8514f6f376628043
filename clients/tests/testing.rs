//! `optimist-testing` as the server of a kube-rs program: what stands in its documentation.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::runtime::{Controller, WatchStreamExt, controller::Action, watcher};
use kube::{Client, ResourceExt};
use optimist_testing::{Rule, TestServer};
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
        () = tokio::time::sleep(Duration::from_secs(20)) => panic!("{}", server.lanes()),
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

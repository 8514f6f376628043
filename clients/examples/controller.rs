//! A kube-rs client and a controller against the core: no cluster, no socket.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::runtime::{Controller, controller::Action, watcher};
use kube::{Client, ResourceExt};
use optimist_apiserver::server::ApiServer;
use optimist_apiserver::shared::{Clock, SharedServer};

async fn reconcile(map: Arc<ConfigMap>, maps: Arc<Api<ConfigMap>>) -> kube::Result<Action> {
    let seen = serde_json::json!({"metadata": {"labels": {"seen": "yes"}}});
    let patch = PatchParams::default();
    maps.patch(&map.name_any(), &patch, &Patch::Merge(&seen))
        .await?;
    Ok(Action::await_change())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = SharedServer::new(ApiServer::default(), Clock::Wall);
    let client = Client::new(server, "default");
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let map = serde_json::from_value(serde_json::json!({"metadata": {"name": "settings"}}))?;
    maps.create(&PostParams::default(), &map).await?;
    let again = |_: Arc<_>, _: &kube::Error, _| Action::requeue(Duration::from_secs(1));
    let mut events = Controller::new(maps.clone(), watcher::Config::default())
        .run(reconcile, again, Arc::new(maps.clone()))
        .boxed();
    events.next().await;
    println!("{:?}", maps.get("settings").await?.labels());
    Ok(())
}

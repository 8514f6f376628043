//! kube-rs as a client of the core, in one process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams,
};
use kube::core::{GroupVersionKind, PartialObjectMeta};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{
    Controller, WatchStreamExt, controller::Action, finalizer, reflector, watcher,
};
use kube::{Client, ResourceExt};
use optimist_apiserver::server::ApiServer;
use optimist_apiserver::shared::{Clock, SharedServer};
use serde_json::json;

fn client() -> Client {
    Client::new(
        SharedServer::new(ApiServer::default(), Clock::Wall),
        "default",
    )
}

fn map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": {"a": "1"}})).unwrap()
}

/// Waits, on a machine that may run other builds.
async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(120), what)
        .await
        .expect("in time")
}

#[tokio::test]
async fn typed_objects_are_made_replaced_listed_and_deleted() {
    let maps: Api<ConfigMap> = Api::default_namespaced(client());
    let made = maps
        .create(&PostParams::default(), &map("a"))
        .await
        .unwrap();
    let mut stale = made.clone();
    let mut fresh = made;
    fresh
        .data
        .get_or_insert_default()
        .insert("b".into(), "2".into());
    maps.replace("a", &PostParams::default(), &fresh)
        .await
        .unwrap();
    stale.data = None;
    let refused = maps
        .replace("a", &PostParams::default(), &stale)
        .await
        .unwrap_err();
    assert!(matches!(refused, kube::Error::Api(status) if status.code == 409));
    assert_eq!(
        maps.list(&ListParams::default()).await.unwrap().items.len(),
        1
    );
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(maps.get_opt("a").await.unwrap().is_none());
}

#[tokio::test]
async fn every_kind_of_patch_is_taken() {
    let deployments: Api<Deployment> = Api::default_namespaced(client());
    let web = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "nginx"}]}}},
    });
    let apply = PatchParams::apply("test");
    deployments
        .patch("web", &apply, &Patch::Apply(&web))
        .await
        .unwrap();
    let patch = PatchParams::default();
    let replicas = |n: i32| json!({"spec": {"replicas": n}});
    deployments
        .patch("web", &patch, &Patch::Merge(&replicas(2)))
        .await
        .unwrap();
    deployments
        .patch("web", &patch, &Patch::Strategic(&replicas(3)))
        .await
        .unwrap();
    let operations = json!([{"op": "replace", "path": "/spec/replicas", "value": 4}]);
    let operations: Patch<()> = Patch::Json(serde_json::from_value(operations).unwrap());
    let patched = deployments.patch("web", &patch, &operations).await.unwrap();
    assert_eq!(patched.spec.unwrap().replicas, Some(4));
    let refused = deployments
        .patch("web", &apply, &Patch::Apply(&web))
        .await
        .unwrap_err();
    assert!(matches!(refused, kube::Error::Api(status) if status.code == 409));
    deployments
        .patch("web", &apply.force(), &Patch::Apply(&web))
        .await
        .unwrap();
    let scale = deployments.get_scale("web").await.unwrap();
    assert_eq!(scale.spec.unwrap().replicas, Some(1));
}

#[tokio::test]
async fn kinds_are_discovered_and_used_without_their_types() {
    let client = client();
    let kind = GroupVersionKind::gvk("networking.k8s.io", "v1", "Ingress");
    let found = kube::discovery::pinned_kind(&client, &kind).await;
    let (resource, _): (ApiResource, _) = found.unwrap();
    assert_eq!(resource.plural, "ingresses");
    let ingresses: Api<DynamicObject> = Api::default_namespaced_with(client, &resource);
    let ingress = DynamicObject::new("i", &resource).data(
        json!({"spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}}),
    );
    ingresses
        .create(&PostParams::default(), &ingress)
        .await
        .unwrap();
    assert_eq!(
        ingresses
            .list_metadata(&ListParams::default())
            .await
            .unwrap()
            .items
            .len(),
        1
    );
}

#[tokio::test]
async fn an_entry_is_made_and_committed() {
    let secrets: Api<Secret> = Api::default_namespaced(client());
    let mut entry = secrets.entry("s").await.unwrap().or_insert(|| Secret {
        type_: Some("Opaque".to_owned()),
        ..Secret::default()
    });
    entry.get_mut().string_data = Some([("k".to_owned(), "v".to_owned())].into());
    entry.commit(&PostParams::default()).await.unwrap();
    assert_eq!(secrets.get("s").await.unwrap().data.unwrap()["k"].0, b"v");
}

#[tokio::test]
async fn both_ways_of_watching_see_the_same() {
    for config in [
        watcher::Config::default(),
        watcher::Config::default().streaming_lists(),
    ] {
        let maps: Api<ConfigMap> = Api::default_namespaced(client());
        maps.create(&PostParams::default(), &map("first"))
            .await
            .unwrap();
        let mut names = watcher(maps.clone(), config).applied_objects().boxed();
        let first = soon(names.try_next()).await.unwrap().unwrap();
        maps.create(&PostParams::default(), &map("second"))
            .await
            .unwrap();
        let second = soon(names.try_next()).await.unwrap().unwrap();
        assert_eq!(
            (first.name_any().as_str(), second.name_any().as_str()),
            ("first", "second")
        );
    }
}

#[tokio::test]
async fn a_reflector_and_a_metadata_watcher_follow() {
    let client = client();
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let (store, writer) = reflector::store();
    let mut reflected = reflector(writer, watcher(maps.clone(), watcher::Config::default()))
        .applied_objects()
        .boxed();
    let partial: Api<PartialObjectMeta<ConfigMap>> = Api::default_namespaced(client);
    let mut metadata = watcher(partial, watcher::Config::default())
        .applied_objects()
        .boxed();
    maps.create(&PostParams::default(), &map("a"))
        .await
        .unwrap();
    soon(reflected.try_next()).await.unwrap();
    // The store is filled once the first list is complete.
    maps.create(&PostParams::default(), &map("b"))
        .await
        .unwrap();
    soon(reflected.try_next()).await.unwrap();
    assert_eq!(store.len(), 2);
    assert_eq!(
        soon(metadata.try_next()).await.unwrap().unwrap().name_any(),
        "a"
    );
}

/// The context of a reconciliation.
struct Context {
    maps: Api<ConfigMap>,
    /// The number of times that the rival still writes between a read and a write.
    rivals: AtomicU32,
}

/// Marks what is there. While there are rivals, one of them writes first.
async fn mark(
    map: Arc<ConfigMap>,
    context: Arc<Context>,
) -> Result<Action, finalizer::Error<kube::Error>> {
    let reconcile = |event| async {
        let finalizer::Event::Apply(map) = event else {
            return Ok(Action::await_change());
        };
        let mut map: ConfigMap = Arc::unwrap_or_clone(map);
        if map.labels().contains_key("marked") {
            return Ok(Action::await_change());
        }
        let left = context.rivals.load(Ordering::SeqCst);
        if left > 0 {
            context.rivals.store(left - 1, Ordering::SeqCst);
            let rival = json!({"metadata": {"annotations": {"rival": left.to_string()}}});
            let patch = PatchParams::default();
            let name = map.name_any();
            context
                .maps
                .patch(&name, &patch, &Patch::Merge(&rival))
                .await?;
        }
        map.labels_mut().insert("marked".into(), "yes".into());
        let (name, params) = (map.name_any(), PostParams::default());
        context.maps.replace(&name, &params, &map).await?;
        Ok(Action::await_change())
    };
    finalizer::finalizer(&context.maps, "test.example.com/marked", map, reconcile).await
}

/// Returns whether a reconciliation failed because somebody else wrote first.
fn is_conflict(error: &finalizer::Error<kube::Error>) -> bool {
    let finalizer::Error::ApplyFailed(kube::Error::Api(status)) = error else {
        return false;
    };
    status.code == 409
}

#[tokio::test]
async fn a_controller_gets_there_though_a_rival_makes_it_conflict() {
    let maps: Api<ConfigMap> = Api::default_namespaced(client());
    maps.create(&PostParams::default(), &map("a"))
        .await
        .unwrap();
    let context = Arc::new(Context {
        maps: maps.clone(),
        rivals: AtomicU32::new(3),
    });
    let conflicts = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&conflicts);
    let again = move |_: Arc<_>, error: &finalizer::Error<kube::Error>, _| {
        counted.fetch_add(u32::from(is_conflict(error)), Ordering::SeqCst);
        Action::requeue(Duration::from_millis(10))
    };
    let mut runs = Controller::new(maps.clone(), watcher::Config::default())
        .run(mark, again, context)
        .boxed();
    loop {
        let _ = soon(runs.next()).await;
        let found = maps.get("a").await.unwrap();
        if found.labels().contains_key("marked") {
            assert_eq!(found.finalizers(), ["test.example.com/marked"]);
            assert_eq!(found.annotations()["rival"], "1", "no write was undone");
            break;
        }
    }
    assert!(conflicts.load(Ordering::SeqCst) >= 3);
    // What was marked goes when its controller has let it go.
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    while maps.get_opt("a").await.unwrap().is_some() {
        let _ = soon(runs.next()).await;
    }
}

#[tokio::test]
async fn a_definition_is_established_used_and_deleted_with_its_objects() {
    let client = client();
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}},
            }}],
        },
    });
    let definition = serde_json::from_value(definition).unwrap();
    let params = PostParams::default();
    definitions.create(&params, &definition).await.unwrap();
    let established = conditions::is_crd_established();
    let established = await_condition(definitions.clone(), "widgets.example.com", established);
    soon(established).await.unwrap();

    let kind = GroupVersionKind::gvk("example.com", "v1", "Widget");
    let (resource, _) = kube::discovery::pinned_kind(&client, &kind).await.unwrap();
    let widgets: Api<DynamicObject> = Api::default_namespaced_with(client, &resource);
    let widget = DynamicObject::new("w", &resource).data(json!({"spec": {"size": 1}}));
    let made = widgets.create(&params, &widget).await.unwrap();
    let uid = definitions.get("widgets.example.com").await.unwrap().uid();
    let params = DeleteParams::default();
    definitions
        .delete("widgets.example.com", &params)
        .await
        .unwrap();
    let uid = uid.unwrap();
    let deleted = conditions::is_deleted(&uid);
    let deleted = await_condition(definitions, "widgets.example.com", deleted);
    soon(deleted).await.unwrap();
    let gone = widgets.get(&made.name_any()).await.unwrap_err();
    assert!(matches!(gone, kube::Error::Api(status) if status.code == 404));
}

//! A `Controller` of kube-rs and the stepped program, over the same core, do the same requests in
//! the same order.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::{FutureExt, StreamExt, future::BoxFuture};
use http::{Request, Response};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, PostParams};
use kube::core::GroupVersionKind;
use kube::runtime::{Controller, controller::Action, watcher};
use kube::{Client, Resource, ResourceExt};
use optimist_apiserver::server::ApiServer;
use optimist_apiserver::shared::{Clock, ResponseBody, SharedServer};
use optimist_client::{Call, ListMode, Sender};
use optimist_controller::program::{ChildMaker, Kind, Program, StatusWriter};
use optimist_controller::{Source, WorkerReport};
use serde_json::{Value, json};
use tower_service::Service;

const WIDGETS: &str = "/apis/demo.example.com/v1/namespaces/default/widgets";

/// A server with the custom resource `Widget`, and one object of it.
fn server() -> ApiServer {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.demo.example.com"},
        "spec": {
            "group": "demo.example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object",
                    "properties": {"spec": open, "status": open}}}}],
        },
    });
    let mut server = ApiServer::default();
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    send(&mut server, "POST", definitions, &definition);
    let widget = json!({"apiVersion": "demo.example.com/v1", "kind": "Widget",
        "metadata": {"name": "web"}, "spec": {"size": 1}});
    send(&mut server, "POST", WIDGETS, &widget);
    server
}

fn send(server: &mut ApiServer, method: &str, path: &str, body: &Value) {
    let request = Request::builder().method(method).uri(path);
    let media_type = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = request.header("content-type", media_type);
    let response = server.handle(request.body(body.to_string().into_bytes()).unwrap());
    assert!(response.status().is_success(), "{method} {path}");
}

/// Writes as another client while the controller is at work.
fn rival(server: &mut ApiServer) {
    let path = format!("{WIDGETS}/web");
    let label = json!({"metadata": {"labels": {"rival": "yes"}}});
    send(server, "PATCH", &path, &label);
}

/// A request as it is compared: method, path, the version that its body carries, and the answer's code.
fn line(request: &Request<Vec<u8>>, code: u16) -> String {
    let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
    let version = &body["metadata"]["resourceVersion"];
    let path = request.uri().path();
    format!(
        "{} {path} if {version}: {code}",
        request.method(),
        version = version.as_str().unwrap_or("-")
    )
}

/// The server for kube-rs: it writes down the requests of reconcilers, and lets the rival write
/// before the first PUT.
#[derive(Clone)]
struct Recorded {
    server: SharedServer,
    lines: Arc<Mutex<Vec<String>>>,
    rival: Arc<Mutex<Option<fn(&mut ApiServer)>>>,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

impl Service<Request<kube::client::Body>> for Recorded {
    type Response = Response<ResponseBody>;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<Response<ResponseBody>, Failure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        let mut recorded = self.clone();
        async move {
            let (head, body) = request.into_parts();
            let bytes = body.collect_bytes().await?.to_vec();
            let seen = Request::from_parts(head.clone(), bytes.clone());
            // The requests of watchers have one of these parameters.
            let query = head.uri.query().unwrap_or_default();
            let of_watcher = query.contains("watch=") || query.contains("limit=");
            if head.method == "PUT"
                && let Some(rival) = recorded.rival.lock().unwrap().take()
            {
                recorded.server.with(rival);
            }
            let request = Request::from_parts(head, kube::client::Body::from(bytes));
            let response = recorded.server.call(request).await?;
            if !of_watcher {
                let line = line(&seen, response.status().as_u16());
                recorded.lines.lock().unwrap().push(line);
            }
            Ok(response)
        }
        .boxed()
    }
}

/// The clients of kube-rs that the reconcilers use.
struct Reconciler {
    widgets: Api<DynamicObject>,
    maps: Api<ConfigMap>,
    kind: ApiResource,
}

/// Runs a reconciler in a `Controller` until it has done so many requests and rests. Returns its requests.
async fn of_kube_rs<F>(
    reconcile: fn(Arc<DynamicObject>, Arc<Reconciler>) -> F,
    rival: Option<fn(&mut ApiServer)>,
    expected: usize,
) -> Vec<String>
where
    F: Future<Output = kube::Result<Action>> + Send + 'static,
{
    let recorded = Recorded {
        server: SharedServer::new(server(), Clock::Wall),
        lines: Arc::default(),
        rival: Arc::new(Mutex::new(rival)),
    };
    let client = Client::new(recorded.clone(), "default");
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("demo.example.com", "v1", "Widget"));
    let reconciler = Reconciler {
        widgets: Api::default_namespaced_with(client.clone(), &kind),
        maps: Api::default_namespaced(client),
        kind: kind.clone(),
    };
    // A conflict is news: its event comes. A delay would be a race between the two.
    let again = |_: Arc<_>, _: &kube::Error, _| Action::await_change();
    let config = watcher::Config::default();
    let mut runs = Controller::new_with(reconciler.widgets.clone(), config.clone(), kind)
        .owns(reconciler.maps.clone(), config)
        .run(reconcile, again, Arc::new(reconciler))
        .boxed();
    let done = || recorded.lines.lock().unwrap().clone();
    let wait = |seconds| Duration::from_secs(seconds);
    while done().len() < expected && tokio::time::timeout(wait(120), runs.next()).await.is_ok() {}
    // It rests if it has nothing to do.
    while tokio::time::timeout(wait(1), runs.next()).await.is_ok() {}
    done()
}

/// Runs a program until it rests: each event is delivered as soon as it is there. Returns its requests.
fn of_program(program: Program, rival: Option<fn(&mut ApiServer)>) -> Vec<String> {
    let (mut server, mut rival) = (server(), rival);
    let name = program.name.clone();
    let kinds: Vec<_> = program.watches.iter().map(|it| it.kind.clone()).collect();
    let resource = |server: &ApiServer, kind: &Kind| {
        let found = server.resources().by_kind(&kind.api_version, &kind.kind);
        found.cloned().unwrap()
    };
    let begin = ListMode::List;
    let mut controller =
        optimist_controller::Controller::new(program, &server, "default", begin).unwrap();
    controller.sync(&mut server);
    let mut lines = Vec::new();
    loop {
        for cache in 0..kinds.len() {
            while controller.deliver(cache, &mut server).is_some() {}
        }
        let before = (server.clone(), controller.clone());
        let Some(mut report) = controller.work_step(&mut server) else {
            let Some(due) = controller.queue().next_ready() else {
                return lines;
            };
            controller.advance_to(due);
            continue;
        };
        if let Some(Call::Update { .. }) = report.call()
            && let Some(rival) = rival.take()
        {
            // The rival is first: the same statement, a moment later.
            (server, controller) = before;
            rival(&mut server);
            report = controller
                .work_step(&mut server)
                .expect("the same statement");
        }
        let (Some(call), error) = (report.call(), error_of(&report)) else {
            continue;
        };
        let (kind, usual) = match call {
            Call::List { .. } => (kinds.last(), 200),
            Call::Create { .. } => (kinds.last(), 201),
            _ => (kinds.first(), 200),
        };
        let resource = resource(&server, kind.unwrap());
        let request = call
            .request(&resource, Sender::new(&name))
            .expect("the names make a path");
        lines.push(line(&request, error.unwrap_or(usual)));
    }
}

/// The code of the error that answered the request of a step.
fn error_of(report: &WorkerReport) -> Option<u16> {
    match report {
        WorkerReport::Performed { error, .. } | WorkerReport::Finished { error, .. } => {
            error.as_ref().map(|error| error.code)
        }
        WorkerReport::Taken { .. } | WorkerReport::NotReady { .. } => None,
    }
}

async fn make_a_child(widget: Arc<DynamicObject>, it: Arc<Reconciler>) -> kube::Result<Action> {
    let uid = widget.uid();
    let maps = it.maps.list(&ListParams::default()).await?;
    let owned = |map: &&ConfigMap| {
        map.owner_references()
            .iter()
            .any(|o| Some(&o.uid) == uid.as_ref())
    };
    if maps.iter().find(owned).is_none() {
        let mut map = ConfigMap::default();
        map.meta_mut().generate_name = Some(format!("{}-", widget.name_any()));
        map.meta_mut().owner_references = widget
            .controller_owner_ref(&it.kind)
            .map(|owner| vec![owner]);
        it.maps.create(&PostParams::default(), &map).await?;
    }
    Ok(Action::await_change())
}

#[tokio::test]
async fn a_child_is_made_by_the_same_requests() {
    let widget = Kind::new("demo.example.com/v1", "Widget");
    let program = ChildMaker {
        parent: widget,
        child: Kind::new("v1", "ConfigMap"),
        generated_name: true,
        list_from: Source::Server,
        expectations: false,
        ignore_already_exists: false,
        options: Default::default(),
    };
    let of_program = of_program(program.program(), None);
    assert_eq!(
        of_kube_rs(make_a_child, None, of_program.len()).await,
        of_program
    );
    let maps = "/api/v1/namespaces/default/configmaps if -";
    let list = format!("GET {maps}: 200");
    assert_eq!(
        of_program,
        [list.clone(), format!("POST {maps}: 201"), list]
    );
}

async fn write_the_status(widget: Arc<DynamicObject>, it: Arc<Reconciler>) -> kube::Result<Action> {
    let mut written = (*widget).clone();
    written.data["status"]["observedGeneration"] = widget.meta().generation.into();
    if written.data != widget.data {
        let (name, params) = (widget.name_any(), PostParams::default());
        it.widgets.replace_status(&name, &params, &written).await?;
    }
    Ok(Action::await_change())
}

#[tokio::test]
async fn a_status_is_written_again_after_the_conflict_by_the_same_requests() {
    let program = StatusWriter {
        kind: Kind::new("demo.example.com/v1", "Widget"),
        clock: false,
        compare: true,
        generation_changed: false,
        in_place: false,
    };
    let of_program = of_program(program.program(), Some(rival));
    assert_eq!(
        of_kube_rs(write_the_status, Some(rival), of_program.len()).await,
        of_program
    );
    let codes: Vec<_> = of_program
        .iter()
        .map(|line| &line[line.len() - 3..])
        .collect();
    assert_eq!(codes, ["409", "200"]);
}

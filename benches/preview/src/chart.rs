//! Makes a chart with large Deployments, and what a cluster has of it.

use http::Request;
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

/// The variables of each container: with them, an object with its field managers has some 22 kB.
const VARIABLES: usize = 65;

/// The objects of a cluster and the next manifests, which have another image. An autoscaler owns the
/// replicas of the first objects, and the manifests want another number.
pub fn live_and_next(
    objects: usize,
    in_conflict: usize,
    manager: &str,
) -> (Vec<Value>, Vec<Value>) {
    let mut server = ApiServer::default();
    let mut live = Vec::new();
    let mut next = Vec::new();
    for at in 0..objects {
        let name = format!("web-{at}");
        let path = format!("/apis/apps/v1/namespaces/default/deployments/{name}");
        let apply = format!("{path}?fieldManager={manager}&force=true");
        let applied = deployment(&name, "1.27", manager);
        let mut object = send(&mut server, &apply, "apply-patch+yaml", &applied);
        if at < in_conflict {
            let scale = format!("{path}/scale?fieldManager=kube-controller-manager");
            let replicas = json!({"spec": {"replicas": 7}});
            send(&mut server, &scale, "merge-patch+json", &replicas);
            let read = server.handle(request("GET", &path, "json", &Value::Null));
            object = serde_json::from_slice(read.body()).expect("the server answers JSON");
        }
        live.push(object);
        next.push(deployment(&name, "1.28", manager));
    }
    (live, next)
}

fn send(server: &mut ApiServer, path: &str, media: &str, body: &Value) -> Value {
    let answer = server.handle(request("PATCH", path, media, body));
    assert!(
        answer.status().is_success(),
        "{:?}",
        String::from_utf8_lossy(answer.body())
    );
    serde_json::from_slice(answer.body()).expect("the server answers JSON")
}

fn request(method: &str, path: &str, media: &str, body: &Value) -> Request<Vec<u8>> {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", format!("application/{media}"));
    let body = body.to_string().into_bytes();
    request.body(body).expect("it is a request")
}

fn deployment(name: &str, tag: &str, manager: &str) -> Value {
    let container = |role: &str| {
        let variables = (0..VARIABLES).map(|at| {
            json!({"name": format!("{}_SETTING_{at}", role.to_uppercase()),
                "value": format!("value {at} of {name}, as the chart sets it")})
        });
        json!({
            "name": role, "image": format!("registry.example.com/shop/{role}:{tag}"),
            "env": variables.collect::<Vec<_>>(),
            "ports": [{"containerPort": 8080, "name": format!("http-{role}")}],
            "resources": {"limits": {"cpu": "1", "memory": "512Mi"}, "requests": {"cpu": "100m"}},
        })
    };
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": name, "namespace": "default",
            "labels": {"app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "Helm"},
            "annotations": {"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "default"},
        },
        "spec": {
            "replicas": 3, "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [container("web"), container("proxy")]},
            },
        },
    });
    if manager.starts_with("kubectl") {
        object["metadata"]["annotations"] = json!({});
    }
    object
}

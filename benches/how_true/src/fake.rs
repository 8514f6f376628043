//! `kube-fake-client` as a replay sees it.

use std::borrow::Cow;
use std::time::Duration;

use http::{Request, Response};
use http_body_util::BodyExt;
use k8s_openapi::api::{
    admissionregistration::v1 as admissionregistration, apps::v1 as apps,
    autoscaling::v2 as autoscaling, batch::v1 as batch, certificates::v1 as certificates,
    core::v1 as core, networking::v1 as networking, policy::v1 as policy,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1 as apiregistration;
use kube::client::Body;
use kube::{Client, Resource};
use kube_fake_client::ClientBuilder;
use optimist_recordings::recording::{Action, Recording};
use optimist_recordings::subject::{ObjectRef, Opened, Unsupported};
use optimist_recordings::tree::Tree;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// The name in the table.
pub const NAME: &str = "kube-fake-client 0.3.0";

/// The status of a request to which the client gives an error and no answer: no server has it.
const NO_ANSWER: u16 = 599;

/// The path at which a replay creates its namespace.
const NAMESPACES: &str = "/api/v1/namespaces";

/// The custom resources that recordings use: version, kind, resource.
const CUSTOM: [[&str; 3]; 6] = [
    ["v1", "Backup", "backups"],
    ["v1", "Crate", "crates"],
    ["v1", "Ledger", "ledgers"],
    ["v1", "Gadget", "gadgets"],
    ["v1beta1", "Gadget", "gadgets"],
    ["v1", "Widget", "widgets"],
];

/// A custom resource, for the client to know: its place in [`CUSTOM`].
#[derive(Default)]
struct Custom<const AT: usize>(ObjectMeta);

impl<const AT: usize> Resource for Custom<AT> {
    type DynamicType = ();
    type Scope = kube::core::NamespaceResourceScope;

    fn kind(_: &()) -> Cow<'_, str> {
        CUSTOM[AT][1].into()
    }

    fn group(_: &()) -> Cow<'_, str> {
        "demo.example.com".into()
    }

    fn version(_: &()) -> Cow<'_, str> {
        CUSTOM[AT][0].into()
    }

    fn plural(_: &()) -> Cow<'_, str> {
        CUSTOM[AT][2].into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.0
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.0
    }
}

impl<const AT: usize> Serialize for Custom<AT> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let api_version = Self::api_version(&());
        json!({"apiVersion": api_version, "kind": CUSTOM[AT][1], "metadata": self.0})
            .serialize(serializer)
    }
}

/// A client with all that it can be told: the custom resources, which kinds have a status of their own, and that
/// answers have `managedFields`.
fn client() -> ClientBuilder {
    macro_rules! with_status {
        ($builder:expr, $($kind:ty),+ $(,)?) => {
            $builder$(.with_status_subresource::<$kind>())+
        };
    }
    let builder = ClientBuilder::new()
        .with_return_managed_fields()
        .with_resource::<Custom<0>>()
        .with_resource::<Custom<1>>()
        .with_resource::<Custom<2>>()
        .with_resource::<Custom<3>>()
        .with_resource::<Custom<4>>()
        .with_resource::<Custom<5>>();
    with_status!(
        builder,
        // Each but the last: its definition has no subresource.
        Custom<0>,
        Custom<1>,
        Custom<2>,
        Custom<3>,
        Custom<4>,
        admissionregistration::ValidatingAdmissionPolicy,
        apiregistration::APIService,
        apps::DaemonSet,
        apps::Deployment,
        apps::ReplicaSet,
        apps::StatefulSet,
        autoscaling::HorizontalPodAutoscaler,
        batch::CronJob,
        batch::Job,
        certificates::CertificateSigningRequest,
        core::Namespace,
        core::Node,
        core::PersistentVolume,
        core::PersistentVolumeClaim,
        core::Pod,
        core::ReplicationController,
        core::ResourceQuota,
        core::Service,
        networking::Ingress,
        policy::PodDisruptionBudget,
    )
}

/// A client with nothing in it, and what its requests run on.
pub struct Fake {
    client: Client,
    runtime: Runtime,
    has_namespace: bool,
}

impl Fake {
    pub fn new() -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.map_err(|it| it.to_string())?;
        let client = runtime.block_on(client().build());
        Ok(Self {
            client: client.map_err(|it| it.to_string())?,
            runtime,
            has_namespace: false,
        })
    }

    fn send(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String> {
        let answered = async {
            let response = self.client.send(request.map(Body::from)).await;
            let (head, body) = response.map_err(|it| it.to_string())?.into_parts();
            let body = body.collect().await.map_err(|it| it.to_string())?;
            Ok(Response::from_parts(head, body.to_bytes().to_vec()))
        };
        self.runtime.block_on(answered)
    }
}

/// Returns what a recording needs that nobody can do with the client from outside.
pub fn lacks(recording: &Recording) -> Vec<String> {
    let mut lacks = recording.needs.clone();
    lacks.retain(|need| need != "parallel");
    let is_control = |action: &Action| {
        matches!(
            action,
            Action::Install(_) | Action::Compact { .. } | Action::Restart
        )
    };
    if recording.steps.iter().any(|step| is_control(&step.action)) {
        lacks.push("control over the store".to_owned());
    }
    lacks
}

/// An answer in the form of the replayer. One without a code is an error of the client.
pub fn answer(code: u16, body: Vec<u8>) -> Response<Vec<u8>> {
    let mut response = Response::new(body);
    if let Ok(code) = http::StatusCode::from_u16(code) {
        *response.status_mut() = code;
    }
    let json = http::HeaderValue::from_static("application/json");
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, json);
    response
}

impl ObjectRef for Fake {
    type Watch = Vec<Tree>;

    fn handle(&mut self, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
        // The client has every namespace, and takes none by this path. The first request is that of the replay.
        if !self.has_namespace && request.uri().path() == NAMESPACES {
            self.has_namespace = true;
            return answer(201, request.into_body());
        }
        let sent = self.send(request);
        sent.unwrap_or_else(|error| answer(NO_ANSWER, Value::from(error).to_string().into_bytes()))
    }

    /// The client reads the clock of the machine.
    fn advance(&mut self, _: Duration) {}

    fn open_watch(&mut self, request: Request<Vec<u8>>) -> Result<Opened<Vec<Tree>>, Unsupported> {
        let response = self.handle(request);
        if response.status() != 200 {
            return Ok(Opened::Refused(response));
        }
        // What it answers in the place of events.
        let body = String::from_utf8_lossy(response.body()).into_owned();
        let lines = body.lines().map(serde_json::from_str);
        let lines = lines.map(|line| line.unwrap_or_else(|_| Tree::Text(body.clone())));
        Ok(Opened::Stream(lines.collect()))
    }

    fn read_watch(&mut self, watch: &mut Vec<Tree>, _: Duration) -> Result<Vec<Tree>, Unsupported> {
        Ok(std::mem::take(watch))
    }
}

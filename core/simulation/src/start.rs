//! Where a history begins.

use std::fmt;

use http::{Request, header};
use serde_json::Value;

use super::{NGINX, Subject};
use optimist_apiserver::environment::Environment;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{ApiServer, DEFAULT_NAMESPACE};
use optimist_apiserver::storage::Revision;
use optimist_client::{Document, Manifest, ManifestError, documents, to_yaml};

/// What is stored before the first step, and by whom.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Start {
    /// Manifests, parted by `---`: definitions of custom resources, then objects. The last one is
    /// what it is about at first.
    pub manifests: String,
    /// The version that the last object gets; usually 100.
    pub version: Option<Revision>,
    /// The field manager that stores them; usually `kubectl-create`.
    pub created_by: Option<String>,
    /// Whether it does so by server-side apply.
    pub applied: bool,
}

/// Why a manifest could not become the stored object.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadError {
    /// It is no manifest that can be loaded.
    Manifest(ManifestError),
    /// The server refused it, with its message.
    Refused {
        /// The HTTP status code.
        code: u16,
        /// The server's words.
        message: String,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Manifest(error) => write!(f, "{error}"),
            LoadError::Refused { code, message } => {
                write!(f, "The server refuses it ({code}): {message}")
            }
        }
    }
}

impl std::error::Error for LoadError {}

impl From<ManifestError> for LoadError {
    fn from(error: ManifestError) -> Self {
        LoadError::Manifest(error)
    }
}

/// The version that the last object gets unless another is asked for.
const USUAL_VERSION: Revision = 100;

const DEFINITION: &str = "CustomResourceDefinition";

/// What a start makes.
pub(super) struct Started {
    pub(super) server: ApiServer,
    /// At least one, in the order of the manifests.
    pub(super) subjects: Vec<Subject>,
    /// The fields of the manifests that were dropped because the server owns them.
    pub(super) dropped: Vec<String>,
    /// The manifests as they were stored: no comments, and nothing that was dropped. `None` for
    /// those that a page opens with, which have nothing of the kind.
    pub(super) manifests: Option<String>,
}

impl Start {
    /// A start with nothing but manifests.
    pub fn with(manifests: &str) -> Self {
        Self {
            manifests: manifests.to_owned(),
            ..Self::default()
        }
    }

    /// Stores the manifests on a new server.
    pub(super) fn make(&self) -> Result<Started, LoadError> {
        let parsed = documents(&self.manifests)?;
        let parsed = parsed.iter().map(Document::read);
        let parsed = parsed.collect::<Result<Vec<Value>, _>>()?;
        let mut namespaces = vec![DEFAULT_NAMESPACE];
        for object in &parsed {
            let namespace = object.namespace();
            if !namespace.is_empty() && !namespaces.contains(&namespace) {
                namespaces.push(namespace);
            }
        }
        let others = parsed.len() + namespaces.len() - 2;
        let first = self
            .version
            .unwrap_or(USUAL_VERSION)
            .saturating_sub(others as Revision)
            .max(1);
        let mut server = ApiServer::new(Environment::default(), first);
        for namespace in namespaces.iter().skip(1) {
            let body = serde_json::json!({"metadata": {"name": namespace}});
            send(&mut server, Request::post("/api/v1/namespaces"), &body)?;
        }
        let mut subjects = Vec::new();
        let mut dropped = Vec::new();
        let mut objects = Vec::new();
        for value in parsed {
            let manifest = if text(&value, "kind") == DEFINITION {
                let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
                let manifest = Manifest::of_definition(value);
                send(&mut server, Request::post(path), &manifest.object)?;
                manifest
            } else {
                let manifest = Manifest::of(value, server.resources())?;
                subjects.push(self.store(&mut server, &manifest.object)?);
                manifest
            };
            dropped.extend(manifest.dropped);
            objects.push(manifest.object);
        }
        if subjects.is_empty() {
            let message = "There is no object in it, only definitions.".to_owned();
            return Err(ManifestError::Content(message).into());
        }
        Ok(Started {
            server,
            subjects,
            dropped,
            manifests: (self.manifests != NGINX).then(|| {
                let texts: Vec<String> = objects.iter().map(to_yaml).collect();
                texts.join("---\n")
            }),
        })
    }

    fn store(&self, server: &mut ApiServer, object: &Value) -> Result<Subject, LoadError> {
        let (api_version, kind) = (text(object, "apiVersion"), text(object, "kind"));
        let resource = server.resources().by_kind(api_version, kind).cloned();
        let resource = resource.ok_or_else(|| {
            ManifestError::Content(format!("{kind} ({api_version}) is not served."))
        })?;
        let manager = self.created_by.as_deref().unwrap_or("kubectl-create");
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("fieldManager", manager);
        query.append_pair("fieldValidation", "Strict");
        let query = query.finish();
        let name = if self.applied { object.name() } else { "" };
        let target = format!("{}?{query}", resource.path(object.namespace(), name));
        let request = if self.applied {
            Request::patch(target).header(header::CONTENT_TYPE, "application/apply-patch+yaml")
        } else {
            Request::post(target)
        };
        let stored = send(server, request, object)?;
        Ok(Subject::new(&resource, &stored))
    }
}

fn send(
    server: &mut ApiServer,
    request: http::request::Builder,
    body: &Value,
) -> Result<Value, LoadError> {
    let has_type = request
        .headers_ref()
        .is_some_and(|headers| headers.contains_key(header::CONTENT_TYPE));
    let request = if has_type {
        request
    } else {
        request.header(header::CONTENT_TYPE, "application/json")
    };
    let request = request
        .header(header::USER_AGENT, "kubectl")
        .body(body.to_string().into_bytes())
        .map_err(|error| LoadError::Manifest(ManifestError::Content(error.to_string())))?;
    let response = server.handle(request);
    let answer: Value = serde_json::from_slice(response.body()).unwrap_or(Value::Null);
    if response.status().is_success() {
        return Ok(answer);
    }
    Err(LoadError::Refused {
        code: response.status().as_u16(),
        message: text(&answer, "message").to_owned(),
    })
}

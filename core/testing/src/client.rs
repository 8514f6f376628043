//! A client of a test server.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Request, Response, StatusCode, header};
use http_body::Body as HttpBody;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{Facts, RequestInfo, Verb};
use optimist_apiserver::shared;
use optimist_ledger::{Answered, Intention};
use serde_json::Value;
use tower_service::Service;

use crate::body::Body;
use crate::exchange::Exchange;
use crate::server::TestServer;

/// A client of a [`TestServer`] by name: what `kube::Client::new` takes. Clones are the same client.
#[derive(Clone, Debug)]
pub struct TestClient {
    server: TestServer,
    name: String,
    /// Its number in the ledger.
    id: usize,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The status code.
    pub code: u16,
    /// The body; `Null` if it is no JSON.
    pub body: Value,
}

impl TestClient {
    pub(crate) fn new(server: TestServer, name: String, id: usize) -> Self {
        Self { server, name, id }
    }

    /// Sends a request without a runtime, for tests without kube. A `PATCH` of an object with an
    /// `apiVersion` is an apply, and another one a merge patch. A watch is answered with what there is.
    pub fn send(&self, method: &str, target: &str, body: &Value) -> Answer {
        let is_apply = !body["apiVersion"].is_null();
        let media_type = match (method, is_apply) {
            ("PATCH", true) => "application/apply-patch+yaml",
            ("PATCH", false) => "application/merge-patch+json",
            _ => "application/json",
        };
        let sent = match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        };
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header(header::CONTENT_TYPE, media_type)
            .header(header::USER_AGENT, &self.name)
            .body(sent);
        match request {
            Ok(request) => {
                let response = self.perform(request);
                Answer {
                    code: response.status().as_u16(),
                    body: json(response.body()),
                }
            }
            Err(_) => Answer {
                code: 400,
                body: Value::Null,
            },
        }
    }

    /// Answers a request by a rule, else by the server, and records it.
    fn perform(&self, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
        let (method, target) = (request.method().clone(), request.uri().to_string());
        let sent = json(request.body());
        self.server.act(|server, record| {
            let since = server.store().revision();
            let by_rule = record.fault(&self.name, &method, request.uri().path());
            let is_by_rule = by_rule.is_some();
            let response = match by_rule {
                Some((code, body)) => made(code, &body),
                None => server.handle(request),
            };
            let facts = response.extensions().get::<Facts>().cloned();
            let exchange = Exchange {
                client: self.name.clone(),
                method,
                target,
                sent,
                code: response.status().as_u16(),
                received: json(response.body()),
                facts: facts.unwrap_or_default().0,
                revisions: (since, server.store().revision()),
                by_rule: is_by_rule,
            };
            if !is_by_rule {
                let answered = Answered {
                    method: &exchange.method,
                    target: &exchange.target,
                    sent_name: exchange.sent.name(),
                    code: exchange.code,
                    received: &exchange.received,
                    facts: &exchange.facts,
                };
                let intention = Intention::default();
                let done = record
                    .ledger
                    .request(self.id, answered, intention, server, since);
                record.lose(self.id, done);
            }
            record.exchanges.push(exchange);
            response
        })
    }

    /// Records that an event of a watch showed it an object.
    pub(crate) fn is_shown(&self, object: &Value) {
        self.server.act(|server, record| {
            record.ledger.cached_read(self.id, object, server);
        });
    }

    async fn answer(self, request: Request<Vec<u8>>) -> Response<Body> {
        let is_watch = self.server.act(|server, _| {
            let info = RequestInfo::parse(&request, server.resources());
            info.is_ok_and(|info| info.verb == Verb::Watch)
        });
        if !is_watch {
            return self.perform(request).map(Body::whole);
        }
        if let Some(response) = self.begin_watch(&request) {
            return response.map(Body::whole);
        }
        let (head, sent) = request.into_parts();
        let request = Request::from_parts(head, Body::whole(sent));
        match self.server.shared().clone().call(request).await {
            Ok(response) => response.map(|events| Body::watch(events, self)),
            Err(error) => made(500, &Value::from(error.to_string())).map(Body::whole),
        }
    }

    /// Records a watch; the answer, if a rule has one.
    fn begin_watch(&self, request: &Request<Vec<u8>>) -> Option<Response<Vec<u8>>> {
        let (method, uri) = (request.method(), request.uri());
        self.server.act(|server, record| {
            let by_rule = record.fault(&self.name, method, uri.path());
            let revision = server.store().revision();
            record.exchanges.push(Exchange {
                client: self.name.clone(),
                method: method.clone(),
                target: uri.to_string(),
                sent: Value::Null,
                code: by_rule.as_ref().map_or(200, |(code, _)| *code),
                received: Value::Null,
                facts: Vec::new(),
                revisions: (revision, revision),
                by_rule: by_rule.is_some(),
            });
            by_rule.map(|(code, body)| made(code, &body))
        })
    }
}

impl<B> Service<Request<B>> for TestClient
where
    B: HttpBody + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let client = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let bytes = shared::read(body).await.map_err(Into::into)?;
            Ok(client.answer(Request::from_parts(head, bytes)).await)
        })
    }
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_default()
}

fn made(code: u16, body: &Value) -> Response<Vec<u8>> {
    let mut response = Response::new(body.to_string().into_bytes());
    *response.status_mut() =
        StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let media_type = header::HeaderValue::from_static("application/json");
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, media_type);
    response
}

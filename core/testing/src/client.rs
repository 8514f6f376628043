//! A client of a test server.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Request, Response, StatusCode, header};
use http_body::Body as HttpBody;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::patch::{APPLY, MERGE_PATCH};
use optimist_apiserver::server::{ApiServer, Facts, RequestInfo, Verb};
use optimist_apiserver::shared;
use optimist_client::Lost;
use optimist_ledger::{Answered, Intention};
use serde_json::Value;
use tower_service::Service;

use crate::body::Body;
use crate::exchange::LoggedRequest;
use crate::rule::Interception;
use crate::server::{RequestRecord, TestServer};

/// A client of a [`TestServer`] by name, which `kube::Client::new` takes. Clones are the same client.
///
/// ```
/// use optimist_testing::TestServer;
///
/// let client = TestServer::default().client("c");
/// assert_eq!(client.send("GET", "/version", &serde_json::Value::Null).code, 200);
/// ```
#[derive(Clone, Debug)]
pub struct TestClient {
    server: TestServer,
    name: String,
    /// Its number in the ledger.
    id: usize,
}

/// An answer.
///
/// ```
/// use optimist_testing::TestServer;
///
/// let answer = TestServer::default().client("c").send("GET", "/api/v1/namespaces/none", &serde_json::Value::Null);
/// assert_eq!((answer.code, &answer.body["reason"]), (404, &"NotFound".into()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The status code; 0 if no answer came.
    pub code: u16,
    /// The body: JSON, or the text of one that is no JSON, as `/healthz` has. `Null` if no answer came.
    pub body: Value,
}

/// The error of a request or an answer that a rule lost.
///
/// ```
/// use optimist_testing::NoAnswer;
///
/// assert_eq!(NoAnswer.to_string(), "the connection was closed before an answer came");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoAnswer;

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection was closed before an answer came")
    }
}

impl std::error::Error for NoAnswer {}

impl TestClient {
    pub(crate) fn new(server: TestServer, name: String, id: usize) -> Self {
        Self { server, name, id }
    }

    /// Sends a request without a runtime, for tests without kube. A `PATCH` of an object with an
    /// `apiVersion` is an apply, and another one a merge patch. A watch is answered with what there is. It
    /// waits for its answer: where a rule delays it, the time of the test passes.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    /// use serde_json::json;
    ///
    /// let server = TestServer::default();
    /// let client = server.client("c");
    /// let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    /// let path = "/api/v1/namespaces/default/configmaps/a?fieldManager=c";
    /// // An apply, and a merge patch.
    /// assert_eq!(client.send("PATCH", path, &map).code, 201);
    /// assert_eq!(client.send("PATCH", path, &json!({"data": {"k": "v"}})).body["data"]["k"], "v");
    /// ```
    pub fn send(&self, method: &str, target: &str, body: &Value) -> Answer {
        let is_apply = !body["apiVersion"].is_null();
        let media_type = match (method, is_apply) {
            ("PATCH", true) => APPLY,
            ("PATCH", false) => MERGE_PATCH,
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
        let Ok(request) = request else {
            return Answer {
                code: 400,
                body: Value::Null,
            };
        };
        let interception = self.intercept(&request);
        self.server.advance(interception.request_delay);
        let performed = self.perform(request, &interception);
        if performed.is_ok() && !interception.answer_delay.is_zero() {
            self.server.advance(interception.answer_delay);
        }
        match performed {
            Ok(response) => {
                self.receive(&response, &interception);
                Answer {
                    code: response.status().as_u16(),
                    body: content(response.body()),
                }
            }
            Err(NoAnswer) => Answer {
                code: 0,
                body: Value::Null,
            },
        }
    }

    /// The effect of the rules on a request.
    fn intercept<B>(&self, request: &Request<B>) -> Interception {
        let (method, path) = (request.method(), request.uri().path());
        (self.server).act(|_, record| record.intercept(&self.name, method, path))
    }

    /// Answers a request by a rule, else by the server, and records it.
    fn perform(
        &self,
        request: Request<Vec<u8>>,
        interception: &Interception,
    ) -> Result<Response<Vec<u8>>, NoAnswer> {
        let mut exchange = self.begun(&request);
        if interception.drops_request {
            exchange.lost = Some(Lost::Request);
            self.record(exchange, interception);
            return Err(NoAnswer);
        }
        let response = self.server.act(|server, record| {
            let since = server.store().revision();
            let response = match &interception.answer {
                Some((code, body)) => json_response(*code, body),
                None => server.handle(request),
            };
            let facts = response.extensions().get::<Facts>().cloned();
            exchange.code = response.status().as_u16();
            exchange.received = content(response.body());
            exchange.facts = facts.unwrap_or_default().0;
            exchange.revisions = (since, server.store().revision());
            exchange.by_rule = interception.answer.is_some();
            exchange.lost = interception.drops_answer.then_some(Lost::Answer);
            if !exchange.by_rule {
                self.account(
                    &exchange,
                    interception.is_answered_at_once(),
                    server,
                    record,
                );
            }
            response
        });
        self.record(exchange, interception);
        match interception.drops_answer {
            true => Err(NoAnswer),
            false => Ok(response),
        }
    }

    /// Tells the ledger the effect of a request, and the objects in its answer if it comes at once.
    fn account(
        &self,
        exchange: &LoggedRequest,
        at_once: bool,
        server: &ApiServer,
        record: &mut RequestRecord,
    ) {
        let nothing = Value::Null;
        let answered = Answered {
            method: &exchange.method,
            target: &exchange.target,
            sent_name: exchange.sent.name(),
            code: exchange.code,
            received: if at_once {
                &exchange.received
            } else {
                &nothing
            },
            facts: &exchange.facts,
        };
        let intention = Intention::default();
        let since = exchange.revisions.0;
        let ledger = &mut record.ledger;
        let done = ledger.request(self.id, answered, intention, server, since);
        record.lose(self.id, done);
    }

    /// Records the objects that a late answer shows.
    fn receive(&self, response: &Response<Vec<u8>>, interception: &Interception) {
        if interception.is_answered_at_once() || interception.answer.is_some() {
            return;
        }
        let mut answer = content(response.body());
        let [api_version, kind] = ["apiVersion", "kind"].map(|name| answer[name].clone());
        let Some(items) = answer.get_mut("items").and_then(Value::as_array_mut) else {
            return self.is_shown(&answer);
        };
        let kind = kind.as_str().unwrap_or_default();
        let kind = kind.strip_suffix("List").unwrap_or(kind);
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            // The items of a list do not say what they are.
            item.insert("apiVersion".to_owned(), api_version.clone());
            item.insert("kind".to_owned(), kind.into());
        }
        items.iter().for_each(|item| self.is_shown(item));
    }

    /// The known facts of a request before its answer.
    fn begun(&self, request: &Request<Vec<u8>>) -> LoggedRequest {
        let header = |name| {
            let value = request.headers().get(name)?;
            Some(value.to_str().ok()?.to_owned())
        };
        let (revision, time) = self
            .server
            .act(|server, _| (server.store().revision(), server.environment().micro_time()));
        LoggedRequest {
            client: self.name.clone(),
            method: request.method().clone(),
            target: request.uri().to_string(),
            content_type: header(header::CONTENT_TYPE).unwrap_or_default(),
            agent: header(header::USER_AGENT).unwrap_or_default(),
            sent: content(request.body()),
            time,
            code: 0,
            received: Value::Null,
            facts: Vec::new(),
            revisions: (revision, revision),
            by_rule: false,
            lost: None,
        }
    }

    /// Records a request, and tells those who observe it.
    fn record(&self, exchange: LoggedRequest, interception: &Interception) {
        for observer in &interception.observers {
            observer.tell(&exchange);
        }
        self.server.act(|_, record| record.exchanges.push(exchange));
    }

    /// Records that an event of a watch showed it an object.
    pub(crate) fn is_shown(&self, object: &Value) {
        self.server.act(|server, record| {
            record.ledger.cached_read(self.id, object, server);
        });
    }

    async fn answer(self, request: Request<Vec<u8>>) -> Result<Response<Body>, NoAnswer> {
        let interception = self.intercept(&request);
        let shared = self.server.shared().clone();
        if !interception.request_delay.is_zero() {
            shared.pass(interception.request_delay).await;
        }
        let is_watch = self.server.act(|server, _| {
            let info = RequestInfo::parse(&request, server.resources());
            info.is_ok_and(|info| info.verb == Verb::Watch)
        });
        if is_watch && interception.answer.is_none() && !interception.drops_request {
            return self.watch(request, &interception).await;
        }
        let response = self.perform(request, &interception)?;
        if !interception.answer_delay.is_zero() {
            shared.pass(interception.answer_delay).await;
            self.receive(&response, &interception);
        }
        Ok(response.map(Body::whole))
    }

    async fn watch(
        self,
        request: Request<Vec<u8>>,
        interception: &Interception,
    ) -> Result<Response<Body>, NoAnswer> {
        let mut exchange = self.begun(&request);
        let (head, sent) = request.into_parts();
        let request = Request::from_parts(head, Body::whole(sent));
        let response = self.server.shared().clone().call(request).await;
        let response = match response {
            Ok(response) if response.status().is_success() => {
                response.map(|events| Body::watch(events, self.clone()))
            }
            Ok(refusal) => {
                let (head, body) = refusal.into_parts();
                let bytes = shared::read(body).await.unwrap_or_default();
                exchange.received = content(&bytes);
                Response::from_parts(head, Body::whole(bytes))
            }
            Err(error) => json_response(500, &Value::from(error.to_string())).map(Body::whole),
        };
        exchange.code = response.status().as_u16();
        exchange.lost = interception.drops_answer.then_some(Lost::Answer);
        self.record(exchange, interception);
        match interception.drops_answer {
            true => Err(NoAnswer),
            false => Ok(response),
        }
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
            Ok(client.answer(Request::from_parts(head, bytes)).await?)
        })
    }
}

/// Reads a body: JSON, else its text; `Null` if it is empty or no text.
fn content(bytes: &[u8]) -> Value {
    let text = || match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() => text.into(),
        _ => Value::Null,
    };
    serde_json::from_slice(bytes).unwrap_or_else(|_| text())
}

fn json_response(code: u16, body: &Value) -> Response<Vec<u8>> {
    let mut response = Response::new(body.to_string().into_bytes());
    *response.status_mut() =
        StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let media_type = header::HeaderValue::from_static("application/json");
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, media_type);
    response
}

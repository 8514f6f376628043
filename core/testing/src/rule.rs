//! Interceptors by rule, which change some requests on their way.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use crate::exchange::LoggedRequest;

/// A rule about some requests: "the third PATCH of a Lease answers 409", "the answer to the first create is
/// lost". Of several rules about one request each has its effect; of several answers the first one is given,
/// and delays add up.
///
/// ```
/// use optimist_testing::{Rule, TestServer};
/// use serde_json::{Value, json};
///
/// let server = TestServer::default();
/// server.add(Rule::on("POST", "/configmaps").nth(1).drops_answer());
/// let client = server.client("c");
/// let (maps, map) = ("/api/v1/namespaces/default/configmaps", json!({"metadata": {"name": "a"}}));
/// // No answer came, and the client does not know whether it was done. It was.
/// assert_eq!(client.send("POST", maps, &map).code, 0);
/// assert_eq!(client.send("POST", maps, &map).code, 409);
/// ```
#[derive(Clone, Debug)]
pub struct Rule {
    method: String,
    path: String,
    client: Option<String>,
    /// The requests that it means, of those that it is about, counted from 1.
    numbers: Option<std::ops::RangeInclusive<usize>>,
    effect: RuleEffect,
    seen: usize,
}

/// The effect of a rule on a request.
#[derive(Clone, Debug)]
enum RuleEffect {
    Answer(u16, Value),
    DropRequest,
    DropAnswer,
    DelayRequest(Duration),
    DelayAnswer(Duration),
    Observe(Observer),
}

/// The facts of a request for a rule.
#[derive(Clone)]
pub(crate) struct Observer(Arc<dyn Fn(&LoggedRequest) + Send + Sync>);

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

impl Observer {
    pub(crate) fn tell(&self, exchange: &LoggedRequest) {
        (self.0)(exchange);
    }
}

/// The effect of all rules together on one request.
#[derive(Debug, Default)]
pub(crate) struct Interception {
    /// An answer in place of the server's.
    pub(crate) answer: Option<(u16, Value)>,
    pub(crate) drops_request: bool,
    pub(crate) drops_answer: bool,
    pub(crate) request_delay: Duration,
    pub(crate) answer_delay: Duration,
    pub(crate) observers: Vec<Observer>,
}

impl Interception {
    /// Returns whether the client has the answer as soon as there is one.
    pub(crate) fn is_answered_at_once(&self) -> bool {
        !self.drops_answer && self.answer_delay.is_zero()
    }
}

impl Rule {
    /// A rule about the requests of a method whose path contains a text, such as `/leases/`. It answers all
    /// of them with 500 unless it is told otherwise.
    ///
    /// ```
    /// use optimist_testing::{Rule, TestServer};
    /// use serde_json::Value;
    ///
    /// let server = TestServer::default();
    /// server.add(Rule::on("GET", "/ver"));
    /// let version = |name: &str| server.client(name).send("GET", "/version", &Value::Null).code;
    /// assert_eq!(version("c"), 500);
    /// ```
    pub fn on(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            client: None,
            numbers: None,
            effect: RuleEffect::Answer(500, status(500)),
            seen: 0,
        }
    }

    /// Only the requests of one client.
    ///
    /// ```
    /// use optimist_testing::{Rule, TestServer};
    /// use serde_json::Value;
    ///
    /// let server = TestServer::default();
    /// server.add(Rule::on("GET", "/version").from_client("alice"));
    /// let version = |name: &str| server.client(name).send("GET", "/version", &Value::Null).code;
    /// assert_eq!([version("alice"), version("bob")], [500, 200]);
    /// ```
    #[must_use]
    pub fn from_client(mut self, client: &str) -> Self {
        self.client = Some(client.to_owned());
        self
    }

    /// Only one of the requests, counted from 1.
    ///
    /// ```
    /// use optimist_testing::{Rule, TestServer};
    /// use serde_json::Value;
    ///
    /// let server = TestServer::default();
    /// server.add(Rule::on("GET", "/version").nth(2));
    /// let version = |name: &str| server.client(name).send("GET", "/version", &Value::Null).code;
    /// assert_eq!([version("c"), version("c"), version("c")], [200, 500, 200]);
    /// ```
    #[must_use]
    pub fn nth(self, number: usize) -> Self {
        self.numbers(number..=number)
    }

    /// Only some of the requests, counted from 1.
    ///
    /// ```
    /// use optimist_testing::{Rule, TestServer};
    /// use serde_json::Value;
    ///
    /// let server = TestServer::default();
    /// server.add(Rule::on("GET", "/version").numbers(1..=2));
    /// let version = |name: &str| server.client(name).send("GET", "/version", &Value::Null).code;
    /// assert_eq!([version("c"), version("c"), version("c")], [500, 500, 200]);
    /// ```
    #[must_use]
    pub fn numbers(mut self, numbers: std::ops::RangeInclusive<usize>) -> Self {
        self.numbers = Some(numbers);
        self
    }

    /// Answers with the `Status` that a code has. The server does not see the request.
    ///
    /// ```
    /// use optimist_testing::{Rule, TestServer};
    /// use serde_json::Value;
    ///
    /// let server = TestServer::default();
    /// server.add(Rule::on("GET", "/version").refuses(429));
    /// let version = |name: &str| server.client(name).send("GET", "/version", &Value::Null).code;
    /// assert_eq!(version("c"), 429);
    /// assert_eq!(server.requests()[0].received["reason"], "TooManyRequests");
    /// ```
    #[must_use]
    pub fn refuses(self, code: u16) -> Self {
        self.answers(code, status(code))
    }

    /// Answers with a `Status` of this code, reason and message. The server does not see the request.
    ///
    /// ```
    /// use optimist_testing::{Rule, TestServer};
    /// use serde_json::Value;
    ///
    /// let server = TestServer::default();
    /// server.add(Rule::on("GET", "/version").refuses_with(403, "Forbidden", "not today"));
    /// let version = |name: &str| server.client(name).send("GET", "/version", &Value::Null).code;
    /// assert_eq!(version("c"), 403);
    /// assert_eq!(server.requests()[0].received["message"], "not today");
    /// ```
    #[must_use]
    pub fn refuses_with(self, code: u16, reason: &str, message: &str) -> Self {
        self.answers(code, status_of(code, reason, message))
    }

    /// Answers with any code and body. The server does not see the request.
    ///
    /// ```
    /// use optimist_testing::{Rule, TestServer};
    /// use serde_json::Value;
    ///
    /// let server = TestServer::default();
    /// server.add(Rule::on("GET", "/version").answers(200, Value::from("old")));
    /// let version = |name: &str| server.client(name).send("GET", "/version", &Value::Null).code;
    /// assert_eq!(version("c"), 200);
    /// assert_eq!(server.requests()[0].received, "old");
    /// ```
    #[must_use]
    pub fn answers(self, code: u16, body: Value) -> Self {
        self.with(RuleEffect::Answer(code, body))
    }

    /// Loses the request: the server does not see it, and the client gets an error of the connection.
    ///
    /// ```
    /// use optimist_testing::{Rule, TestServer};
    /// use serde_json::Value;
    ///
    /// let server = TestServer::default();
    /// server.add(Rule::on("GET", "/version").drops_request());
    /// let version = |name: &str| server.client(name).send("GET", "/version", &Value::Null).code;
    /// assert_eq!(version("c"), 0);
    /// assert!(server.requests()[0].to_string().ends_with("(the request was lost)"));
    /// ```
    #[must_use]
    pub fn drops_request(self) -> Self {
        self.with(RuleEffect::DropRequest)
    }

    /// Loses the answer: the server did the work, and the client gets an error of the connection.
    ///
    /// ```
    /// use optimist_testing::{Rule, TestServer};
    /// use serde_json::Value;
    ///
    /// let server = TestServer::default();
    /// server.add(Rule::on("GET", "/version").drops_answer());
    /// let version = |name: &str| server.client(name).send("GET", "/version", &Value::Null).code;
    /// assert_eq!(version("c"), 0);
    /// // The server answered.
    /// assert_eq!(server.requests()[0].code, 200);
    /// ```
    #[must_use]
    pub fn drops_answer(self) -> Self {
        self.with(RuleEffect::DropAnswer)
    }

    /// The request is on its way for some time, on the clock of the [test](crate::TestServer::advance), before
    /// the server sees it.
    ///
    /// ```
    /// use optimist_testing::{Rule, TestServer};
    /// use serde_json::Value;
    ///
    /// let server = TestServer::default();
    /// server.add(Rule::on("GET", "/version").delays_request(std::time::Duration::from_secs(5)));
    /// let version = |name: &str| server.client(name).send("GET", "/version", &Value::Null).code;
    /// // The clock of the test goes on while it waits.
    /// assert_eq!([version("c"), version("c")], [200, 200]);
    /// let requests = server.requests();
    /// assert_eq!(requests[1].time.micros - requests[0].time.micros, 5_000_000);
    /// ```
    #[must_use]
    pub fn delays_request(self, by: Duration) -> Self {
        self.with(RuleEffect::DelayRequest(by))
    }

    /// The answer is on its way for some time, on the clock of the [test](crate::TestServer::advance): the
    /// object in it can be old when it comes. The events of a watch are not late.
    ///
    /// ```
    /// use optimist_testing::{Rule, TestServer};
    /// use serde_json::Value;
    ///
    /// let server = TestServer::default();
    /// server.add(Rule::on("GET", "/version").delays_answer(std::time::Duration::from_secs(5)));
    /// let version = |name: &str| server.client(name).send("GET", "/version", &Value::Null).code;
    /// // The clock of the test goes on while it waits.
    /// assert_eq!([version("c"), version("c")], [200, 200]);
    /// let requests = server.requests();
    /// assert_eq!(requests[1].time.micros - requests[0].time.micros, 5_000_000);
    /// ```
    #[must_use]
    pub fn delays_answer(self, by: Duration) -> Self {
        self.with(RuleEffect::DelayAnswer(by))
    }

    /// Tells of each request, once it is answered and before its client has the answer. A write of another
    /// client in `observe` comes exactly between two requests of this one.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// use std::sync::Arc;
    ///
    /// use optimist_testing::{Rule, TestServer};
    ///
    /// let (server, seen) = (TestServer::default(), Arc::new(AtomicUsize::new(0)));
    /// let count = Arc::clone(&seen);
    /// server.add(Rule::on("GET", "/version").observes(move |request| {
    ///     assert_eq!(request.code, 200);
    ///     count.fetch_add(1, Ordering::Relaxed);
    /// }));
    /// server.client("c").send("GET", "/version", &serde_json::Value::Null);
    /// assert_eq!(seen.load(Ordering::Relaxed), 1);
    /// ```
    #[must_use]
    pub fn observes(self, observe: impl Fn(&LoggedRequest) + Send + Sync + 'static) -> Self {
        self.with(RuleEffect::Observe(Observer(Arc::new(observe))))
    }

    fn with(self, effect: RuleEffect) -> Self {
        Self { effect, ..self }
    }

    /// Adds the effect of the rule to a request, if it means it. It counts the request.
    pub(crate) fn meet(
        &mut self,
        client: &str,
        method: &Method,
        path: &str,
        interception: &mut Interception,
    ) {
        let other = self.client.as_deref().is_some_and(|it| it != client);
        if other || *method != *self.method || !path.contains(&self.path) {
            return;
        }
        self.seen += 1;
        let numbers = self.numbers.as_ref();
        if numbers.is_some_and(|numbers| !numbers.contains(&self.seen)) {
            return;
        }
        match &self.effect {
            RuleEffect::Answer(code, body) => {
                let answer = &mut interception.answer;
                answer.get_or_insert_with(|| (*code, body.clone()));
            }
            RuleEffect::DropRequest => interception.drops_request = true,
            RuleEffect::DropAnswer => interception.drops_answer = true,
            RuleEffect::DelayRequest(by) => {
                interception.request_delay = interception.request_delay.saturating_add(*by);
            }
            RuleEffect::DelayAnswer(by) => {
                interception.answer_delay = interception.answer_delay.saturating_add(*by);
            }
            RuleEffect::Observe(observer) => interception.observers.push(observer.clone()),
        }
    }
}

/// A `Status` with the reason that belongs to a code.
fn status(code: u16) -> Value {
    let (reason, message) = match code {
        401 => (
            "Unauthorized",
            "the server has asked for the client to provide credentials",
        ),
        403 => ("Forbidden", "the request is forbidden"),
        404 => (
            "NotFound",
            "the server could not find the requested resource",
        ),
        409 => ("Conflict", "the server reported a conflict"),
        410 => ("Gone", "the requested version is gone"),
        429 => (
            "TooManyRequests",
            "the server has received too many requests",
        ),
        503 => (
            "ServiceUnavailable",
            "the server is currently unable to handle the request",
        ),
        504 => ("Timeout", "the server did not answer in time"),
        _ => ("InternalError", "an error on the server"),
    };
    status_of(code, reason, message)
}

fn status_of(code: u16, reason: &str, message: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code})
}

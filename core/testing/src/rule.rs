//! Faults by rule.

use http::Method;
use serde_json::{Value, json};

/// A rule that answers some requests in place of the server: "the third PATCH of a Lease answers 409".
#[derive(Clone, Debug)]
pub struct Rule {
    method: String,
    path: String,
    client: Option<String>,
    /// The requests that it answers, of those that it is about, counted from 1.
    numbers: Option<std::ops::RangeInclusive<usize>>,
    code: u16,
    body: Value,
    seen: usize,
}

impl Rule {
    /// A rule about the requests of a method whose path contains a text, such as `/leases/`. It answers all
    /// of them with 500 unless it is told otherwise.
    pub fn on(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            client: None,
            numbers: None,
            code: 500,
            body: status(500),
            seen: 0,
        }
    }

    /// Only the requests of one client.
    #[must_use]
    pub fn of(mut self, client: &str) -> Self {
        self.client = Some(client.to_owned());
        self
    }

    /// Only one of the requests, counted from 1.
    #[must_use]
    pub fn nth(self, number: usize) -> Self {
        self.numbers(number..=number)
    }

    /// Only some of the requests, counted from 1.
    #[must_use]
    pub fn numbers(mut self, numbers: std::ops::RangeInclusive<usize>) -> Self {
        self.numbers = Some(numbers);
        self
    }

    /// Answers with the `Status` that a code has.
    #[must_use]
    pub fn refuses(self, code: u16) -> Self {
        self.answers(code, status(code))
    }

    /// Answers with any code and body.
    #[must_use]
    pub fn answers(mut self, code: u16, body: Value) -> Self {
        self.code = code;
        self.body = body;
        self
    }

    /// The answer to a request, if the rule has one. It counts the request.
    pub(crate) fn answer(
        &mut self,
        client: &str,
        method: &Method,
        path: &str,
    ) -> Option<(u16, Value)> {
        let other = self.client.as_deref().is_some_and(|it| it != client);
        if other || *method != *self.method || !path.contains(&self.path) {
            return None;
        }
        self.seen += 1;
        let numbers = self.numbers.as_ref();
        let is_meant = numbers.is_none_or(|numbers| numbers.contains(&self.seen));
        is_meant.then(|| (self.code, self.body.clone()))
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
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code})
}

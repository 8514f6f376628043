//! Retries after a conflict (`k8s.io/client-go/util/retry` and
//! `k8s.io/apimachinery/pkg/util/wait/backoff.go`).

use std::time::Duration;

use http::{Response, StatusCode};
use serde_json::Value;

use optimist_apiserver::environment::Environment;
use optimist_apiserver::object::text;
use optimist_apiserver::server::ApiServer;

/// The number of attempts, and the waits between them (`wait.Backoff`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    /// The number of attempts that are left.
    pub steps: u32,
    /// The wait before the next attempt.
    pub duration: Duration,
    /// The factor by which the wait grows.
    pub factor: f64,
    /// The maximum fraction of the wait that is added at random.
    pub jitter: f64,
}

/// For several clients that change the same object (`retry.DefaultRetry`).
pub const DEFAULT_RETRY: Backoff = Backoff {
    steps: 5,
    duration: Duration::from_millis(10),
    factor: 1.0,
    jitter: 0.1,
};

/// For a client that changes an object which controllers write often (`retry.DefaultBackoff`).
pub const DEFAULT_BACKOFF: Backoff = Backoff {
    steps: 4,
    duration: Duration::from_millis(10),
    factor: 5.0,
    jitter: 0.1,
};

impl Backoff {
    /// Counts a failed attempt and returns the wait before the next one; `None` if no attempt is
    /// left.
    pub fn failed(&mut self, environment: &mut Environment) -> Option<Duration> {
        self.steps = self.steps.saturating_sub(1);
        if self.steps == 0 {
            return None;
        }
        let wait = self.duration;
        self.duration = wait.mul_f64(self.factor);
        Some(wait + wait.mul_f64(self.jitter * environment.fraction()))
    }
}

/// Repeats an attempt until it gets no conflict, and waits between attempts by the server's clock
/// (`retry.RetryOnConflict`). Each attempt should first read the object again.
///
/// # Errors
/// The response of the last attempt: a failure that is not a conflict, or a conflict when no
/// attempt is left.
pub fn retry_on_conflict<T>(
    server: &mut ApiServer,
    mut backoff: Backoff,
    mut attempt: impl FnMut(&mut ApiServer) -> Result<T, Response<Vec<u8>>>,
) -> Result<T, Response<Vec<u8>>> {
    loop {
        let response = match attempt(server) {
            Ok(done) => return Ok(done),
            Err(response) => response,
        };
        if !is_conflict(&response) {
            return Err(response);
        }
        match backoff.failed(server.environment_mut()) {
            Some(wait) => server.environment_mut().advance(wait),
            None => return Err(response),
        }
    }
}

/// Whether the reason of a response is Conflict (`errors.IsConflict`). Not every 409 has this
/// reason.
pub fn is_conflict(response: &Response<Vec<u8>>) -> bool {
    let code = response.status();
    code == StatusCode::CONFLICT
        && serde_json::from_slice(response.body())
            .is_ok_and(|status| is_conflict_status(code.as_u16(), &status))
}

/// As [`is_conflict`], of an answer that is already read.
pub fn is_conflict_status(code: u16, status: &Value) -> bool {
    code == 409 && text(status, "reason") == "Conflict"
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;
    use serde_json::json;

    fn waits(mut backoff: Backoff) -> Vec<Duration> {
        let mut environment = Environment::new(3);
        std::iter::from_fn(|| backoff.failed(&mut environment)).collect()
    }

    #[test]
    fn the_default_backoffs_wait_as_client_go_does() {
        for (backoff, milliseconds) in [
            (DEFAULT_RETRY, vec![10, 10, 10, 10]),
            (DEFAULT_BACKOFF, vec![10, 50, 250]),
        ] {
            let waits = waits(backoff);
            assert_eq!(waits.len(), milliseconds.len());
            for (wait, base) in waits.into_iter().zip(milliseconds) {
                let base = Duration::from_millis(base);
                assert!(base <= wait && wait <= base.mul_f64(1.1), "{wait:?}");
            }
        }
    }

    fn send(server: &mut ApiServer, method: &str, body: &Value) -> Response<Vec<u8>> {
        const PATH: &str = "/api/v1/namespaces/default/configmaps";
        let path = match method {
            "POST" => PATH.to_owned(),
            _ => format!("{PATH}/a"),
        };
        let request = Request::builder().method(method).uri(path);
        server.handle(request.body(body.to_string().into_bytes()).unwrap())
    }

    /// Reads, lets another client write this many times, and writes back.
    fn contended(rivals: usize) -> (Result<(), Response<Vec<u8>>>, ApiServer) {
        let mut server = ApiServer::default();
        let object = json!({"metadata": {"name": "a"}, "data": {"n": "0"}});
        assert_eq!(send(&mut server, "POST", &object).status(), 201);
        let mut rivals = rivals;
        let outcome = retry_on_conflict(&mut server, DEFAULT_RETRY, |server| {
            let read = send(server, "GET", &Value::Null);
            let mut mine: Value = serde_json::from_slice(read.body()).unwrap();
            if rivals > 0 {
                rivals -= 1;
                let mut other = mine.clone();
                other["data"]["n"] = rivals.to_string().into();
                assert_eq!(send(server, "PUT", &other).status(), 200);
            }
            mine["data"]["mine"] = "yes".into();
            let response = send(server, "PUT", &mine);
            if response.status().is_success() {
                Ok(())
            } else {
                Err(response)
            }
        });
        (outcome, server)
    }

    #[test]
    fn a_conflict_is_tried_again_until_the_tries_are_used_up() {
        let (outcome, server) = contended(4);
        assert!(outcome.is_ok());
        // Four times 10 ms, each with up to a tenth more.
        let waited = server.environment().elapsed().as_millis();
        assert!((40..=44).contains(&waited), "{waited} ms");
        let (outcome, _) = contended(5);
        assert!(is_conflict(&outcome.unwrap_err()));
    }

    #[test]
    fn only_conflicts_are_tried_again() {
        let mut server = ApiServer::default();
        let mut tries = 0;
        let object = json!({"metadata": {"name": "a"}});
        send(&mut server, "POST", &object);
        let outcome: Result<(), _> = retry_on_conflict(&mut server, DEFAULT_RETRY, |server| {
            tries += 1;
            Err(send(server, "POST", &object))
        });
        let response = outcome.unwrap_err();
        assert_eq!(response.status(), 409, "it exists already");
        assert!(!is_conflict(&response));
        assert_eq!(tries, 1);
    }
}

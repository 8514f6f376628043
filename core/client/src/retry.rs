//! Which answer is a conflict, and how long clients wait before they try again
//! (`k8s.io/client-go/util/retry` and `k8s.io/apimachinery/pkg/util/wait/backoff.go`). What they do
//! then: [`EditorProgress`](super::EditorProgress).

use std::time::Duration;

use http::{Response, StatusCode};
use serde_json::Value;

use optimist_apiserver::environment::Environment;
use optimist_apiserver::object::text;

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
}

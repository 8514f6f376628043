//! Refusals that neither the version nor the owners of an object decide: by webhooks, deadlines, limits of requests,
//! strict decoding, and reads of what is no longer kept (v1.36).

use super::parse::{self, Said};
use super::{ObjectHint, PrintedError, context};

/// A reason for which a request was refused, held back or not answered. It is in no object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestProblem {
    /// A webhook denied the request (`k8s.io/apiserver/pkg/admission/plugin/webhook/errors/statuserror.go
    /// ToStatusErr`).
    DeniedByWebhook {
        /// The name of the webhook in its configuration.
        webhook: String,
        /// The reason, as the webhook gives it; empty if it gives none.
        reason: String,
    },
    /// The server could not ask a webhook that has to allow the request (500;
    /// `k8s.io/apiserver/pkg/util/webhook/error.go ErrCallingWebhook`).
    WebhookFailed {
        /// The name of the webhook in its configuration.
        webhook: String,
    },
    /// A list or a watch asks for a version that is no longer kept (410;
    /// `k8s.io/apimachinery/pkg/api/errors/errors.go NewResourceExpired`).
    Expired {
        /// `true` if it is a list that goes on by a `continue` token.
        goes_on: bool,
    },
    /// The server, or something before it, has too many requests (429;
    /// `k8s.io/apiserver/pkg/server/filters/priority-and-fairness.go tooManyRequests`).
    TooManyRequests,
    /// The client waited before it sent the request, because of its own limit. Nothing is refused
    /// (`k8s.io/client-go/rest/request.go tryThrottleWithInfo`).
    HeldBack,
    /// The client did not send the request: its context ended while it waited for its own limit (the same function).
    NotSent,
    /// The server did not finish in time (504; `k8s.io/apimachinery/pkg/api/errors/errors.go NewTimeoutError`,
    /// `NewGenericServerResponse`). The write can still be stored.
    TimedOut,
    /// A deadline passed, of a client or of a program between (Go's `context.DeadlineExceeded`, and the timeout of
    /// `net/http`).
    DeadlinePassed {
        /// The method of the request whose answer was waited for, as Go prints it: `Put "https://…"` (`net/url Error`).
        /// `None` if the text does not say what was waited for.
        method: Option<&'static str>,
    },
    /// An eviction would take more pods than a PodDisruptionBudget allows (429;
    /// `pkg/registry/core/pod/storage/eviction.go createTooManyRequestsError`).
    DisruptionBudget,
    /// The server failed inside (500; `k8s.io/apimachinery/pkg/api/errors/errors.go NewInternalError`).
    Internal {
        /// The reason, as the server gives it.
        reason: String,
    },
    /// The text has the status code 409 of an answer, and not the message in its body (`reqwest/src/error.rs`).
    ConflictAlone,
    /// The document has a field that its version does not have, or one twice, and the checks are strict (400;
    /// `k8s.io/apimachinery/pkg/runtime/error.go NewStrictDecodingError`).
    NotStrict {
        /// The first field that is named.
        field: String,
        /// `true` if the field is there twice.
        duplicate: bool,
    },
}

/// The words behind which somebody else speaks, and not the server.
const DENIED: &str = " denied the request";
pub(super) const CALLING: &str = "failed calling webhook ";
pub(super) const INTERNAL: &str = "Internal error occurred: ";
pub(super) const NOT_SENT: &str = "client rate limiter Wait returned an error: ";
pub(super) const DEADLINE: &str = "context deadline exceeded";
/// The methods of requests, as Go prints them.
const METHODS: [&str; 6] = ["Get", "Head", "Post", "Put", "Patch", "Delete"];
pub(super) const TIMED_OUT: &str = "Timeout: request did not complete within ";

impl RequestProblem {
    /// Returns whether no more than a read can have been waited for.
    pub fn is_late_read(&self) -> bool {
        let reads = [Some("Get"), Some("Head")];
        matches!(self, RequestProblem::DeadlinePassed { method } if reads.contains(method))
    }

    /// Returns whether the server failed because a JSON patch does not fit its object. One that a client sends is
    /// refused otherwise (422; `k8s.io/apiserver/pkg/endpoints/handlers/patch.go applyJSPatch`, v0.36), one of a
    /// mutating webhook so (`k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go callAttrMutatingHook`).
    pub fn is_of_patch(&self) -> bool {
        let words = ["testing value ", " operation does not apply"];
        matches!(self, RequestProblem::Internal { reason } if words.iter().any(|it| reason.contains(it)))
    }
}

fn printed(problem: RequestProblem) -> Option<Said> {
    Some((ObjectHint::default(), PrintedError::Request(problem)))
}

/// `"validate.example.com" denied the request: no`, or ` without explanation`.
pub(super) fn webhook(text: &str) -> Option<Said> {
    let (webhook, text) = parse::string(text)?;
    let text = text.strip_prefix(DENIED)?;
    let reason = match text.strip_prefix(": ") {
        // Some begin their reason with empty lines.
        Some(reason) => {
            let line = reason.trim_start().lines().next();
            line.unwrap_or_default().trim_end().to_owned()
        }
        None => text
            .strip_prefix(" without explanation")
            .map(|_| String::new())?,
    };
    printed(RequestProblem::DeniedByWebhook { webhook, reason })
}

/// `"validate.example.com": failed to call webhook: Post "https://…": context deadline exceeded`.
pub(super) fn webhook_failed(text: &str) -> Option<Said> {
    let (webhook, text) = parse::string(text)?;
    let is_message = text.starts_with(": ") || text.starts_with("; no further details");
    is_message.then(|| printed(RequestProblem::WebhookFailed { webhook }))?
}

pub(super) fn budget(_: &str) -> Option<Said> {
    printed(RequestProblem::DisruptionBudget)
}

/// The reason, behind `Internal error occurred: `. A webhook that was not reached is told on its own.
pub(super) fn internal(text: &str) -> Option<Said> {
    let reason = text.lines().next()?.trim_end().to_owned();
    let told = !reason.is_empty() && !reason.starts_with(CALLING);
    told.then(|| printed(RequestProblem::Internal { reason }))?
}

/// Returns whether a line that ends here has the beginning of an internal error, so that what follows is its reason.
/// Several errors in one line are parted by commas.
pub(super) fn is_reason_inside(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let inside = line.rsplit_once(INTERNAL);
    inside.is_some_and(|(_, reason)| !reason.contains(", "))
}

/// `5 (12)`, behind `too old resource version: `.
pub(super) fn old_version(text: &str) -> Option<Said> {
    text.starts_with(|c: char| c.is_ascii_digit())
        .then(|| printed(RequestProblem::Expired { goes_on: false }))?
}

/// `watch is too old`, or of a list.
pub(super) fn old_read(text: &str) -> Option<Said> {
    let is_message = ["watch is too old", "list is too old"];
    let is_message = is_message.iter().any(|it| text.starts_with(it));
    is_message.then(|| printed(RequestProblem::Expired { goes_on: false }))?
}

pub(super) fn old_token(_: &str) -> Option<Said> {
    printed(RequestProblem::Expired { goes_on: true })
}

pub(super) fn too_many(_: &str) -> Option<Said> {
    printed(RequestProblem::TooManyRequests)
}

/// `1.2s due to client-side throttling`, or `before sending request" … reason="client-side throttling`, in the same line.
pub(super) fn held_back(text: &str) -> Option<Said> {
    let line = text.lines().next()?;
    if !line.contains("client-side throttling") {
        return None;
    }
    let object = context::requested(line).unwrap_or_default();
    Some((object, PrintedError::Request(RequestProblem::HeldBack)))
}

pub(super) fn not_sent(_: &str) -> Option<Said> {
    printed(RequestProblem::NotSent)
}

pub(super) fn timed_out(_: &str) -> Option<Said> {
    printed(RequestProblem::TimedOut)
}

/// `Put "https://10.0.0.1/api/…": `, before `context deadline exceeded`.
pub(super) fn deadline(before: &str) -> Option<Said> {
    let line = &context::without_escapes(before.rsplit('\n').next().unwrap_or_default());
    let method = line.strip_suffix("\": ").and_then(|line| {
        let (before, url) = line.rsplit_once('"')?;
        let is_url = url.contains("://") && !url.contains(char::is_whitespace);
        let word = before
            .strip_suffix(' ')?
            .rsplit([' ', '"', '=', '\t'])
            .next()?;
        let found = METHODS.into_iter().find(|method| *method == word);
        found.filter(|_| is_url)
    });
    printed(RequestProblem::DeadlinePassed { method })
}

/// `https://10.0.0.1/apis/apps/v1/namespaces/shop/deployments/web)`, behind `HTTP status client error (409 Conflict) for
/// url (`.
pub(super) fn conflict_alone(text: &str) -> Option<Said> {
    let (url, _) = text.lines().next()?.split_once(')')?;
    let object = context::requested(url)?;
    Some((object, PrintedError::Request(RequestProblem::ConflictAlone)))
}

/// `unknown field "spec.foo", duplicate field "spec.bar"`: the first one is read.
pub(super) fn strict(text: &str) -> Option<Said> {
    let duplicate = text.starts_with("duplicate ");
    let text = match text.strip_prefix("unknown field ") {
        Some(text) => text,
        None => text.strip_prefix("duplicate field ")?,
    };
    let (field, _) = parse::string(text)?;
    printed(RequestProblem::NotStrict { field, duplicate })
}

/// Returns whether a line that ends here has a message that goes on with what others say: the reason of a webhook, or
/// the cause for which a call of one, or the wait for the own limit, has failed.
pub(super) fn quotes_others(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let behind = |mark: &str| line.find(mark).map(|at| &line[at + mark.len()..]);
    behind("admission webhook ").is_some_and(|it| it.contains(DENIED))
        || behind(CALLING).is_some_and(|it| it.contains(": "))
        || line.contains(NOT_SENT)
        || line.contains(TIMED_OUT)
}

//! Explains an error of a tool or of the server.

use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::message::{PrintedError, ReportedError, RequestProblem, ToolProblem};
use optimist_report::case_markdown;
use optimist_state::diagnosed;
use serde_json::{Value, json};

use crate::input;

/// Returns the errors that a text has, and the explanation of *Diagnose* as Markdown.
///
/// # Errors
/// If the text has no error that is known, or if `object` is no object.
pub fn explain(error: &str, object: Option<&str>) -> Result<Value, String> {
    let Input::Errors(errors) = detect(error).map_err(|why| why.to_string())? else {
        return Err("the text is no error message".to_owned());
    };
    let object = object.map(input::object).transpose()?;
    let texts = std::iter::once(error.to_owned()).chain(object.map(|it| it.to_string()));
    Ok(json!({
        "errors": errors.iter().map(reported).collect::<Vec<_>>(),
        "markdown": case_markdown(&diagnosed(texts), false),
    }))
}

fn reported(error: &ReportedError) -> Value {
    let conflicts = error.error.conflicts();
    json!({
        "kind": kind(&error.error),
        "object": {
            "apiVersion": error.object.api_version,
            "kind": error.object.kind,
            "resource": error.object.resource,
            "namespace": error.object.namespace,
            "name": error.object.name,
            "subresource": error.object.subresource,
        },
        "manager": error.manager,
        "conflicts": conflicts.iter().map(|conflict| json!({
            "manager": conflict.manager,
            "subresource": conflict.subresource,
            "apiVersion": conflict.api_version,
            "fields": conflict.fields,
        })).collect::<Vec<_>>(),
    })
}

fn kind(error: &PrintedError) -> &'static str {
    match error {
        PrintedError::Apply(_) => "applyConflict",
        PrintedError::Modified => "modified",
        PrintedError::OtherUid { .. } => "otherUid",
        PrintedError::Precondition { .. } => "precondition",
        PrintedError::ForceWithoutServerSide => "forceWithoutServerSide",
        PrintedError::VersionMissing => "versionMissing",
        PrintedError::Invalid { .. } => "invalid",
        PrintedError::Forbidden { .. } => "forbidden",
        PrintedError::NoRight { .. } => "noRight",
        PrintedError::NotOfSchema { .. } => "notOfSchema",
        PrintedError::VersionOnCreate => "versionOnCreate",
        PrintedError::NotFound => "notFound",
        PrintedError::NotServed => "notServed",
        PrintedError::TestFailed { .. } => "testFailed",
        PrintedError::OtherConflict { .. } => "otherConflict",
        PrintedError::NotOfRelease => "notOfRelease",
        PrintedError::AlreadyExists { .. } => "alreadyExists",
        PrintedError::PatchRefused { .. } => "patchRefused",
        PrintedError::ManagedFieldsSent => "managedFieldsSent",
        PrintedError::OtherThanExpected { .. } => "otherThanExpected",
        PrintedError::NotOverwritten { .. } => "notOverwritten",
        PrintedError::Tool(problem) => match problem {
            ToolProblem::ReleasePending => "releasePending",
            ToolProblem::NoDeployedRelease => "noDeployedRelease",
            ToolProblem::ReleaseNameInUse => "releaseNameInUse",
            ToolProblem::RevisionExists => "revisionExists",
            ToolProblem::StateLocked => "stateLocked",
            ToolProblem::OtherThanPlanned { .. } => "otherThanPlanned",
        },
        PrintedError::Request(problem) => match problem {
            RequestProblem::ConflictAlone => "conflict",
            RequestProblem::DeniedByWebhook { .. } => "deniedByWebhook",
            RequestProblem::WebhookFailed { .. } => "webhookFailed",
            RequestProblem::Expired { .. } => "expired",
            RequestProblem::TooManyRequests => "tooManyRequests",
            RequestProblem::HeldBack => "heldBack",
            RequestProblem::NotSent => "notSent",
            RequestProblem::TimedOut => "timedOut",
            RequestProblem::DeadlinePassed { .. } => "deadlinePassed",
            RequestProblem::DisruptionBudget => "disruptionBudget",
            RequestProblem::Internal { .. } => "internal",
            RequestProblem::NotStrict { .. } => "notStrict",
        },
    }
}

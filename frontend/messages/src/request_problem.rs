//! Sentences about refusals that neither the version nor the owners of an object decide, and about those of tools.

use optimist_client::visible;
use optimist_diagnose::message::{RequestProblem, ToolProblem};

use crate::en;

/// Names the problem, in a few words.
pub(crate) fn title(problem: &RequestProblem) -> String {
    match problem {
        RequestProblem::DeniedByWebhook { webhook, .. } => en::error_webhook(&visible(webhook)),
        RequestProblem::WebhookFailed { webhook } => en::error_webhook_failed(&visible(webhook)),
        RequestProblem::Expired { .. } => en::error_expired(),
        RequestProblem::TooManyRequests => en::error_too_many(),
        RequestProblem::HeldBack => en::error_held_back(),
        RequestProblem::NotSent => en::error_not_sent(),
        RequestProblem::TimedOut => en::error_timed_out(),
        RequestProblem::DeadlinePassed { .. } => en::error_deadline(),
        RequestProblem::DisruptionBudget => en::error_budget(),
        RequestProblem::Internal { .. } => en::error_internal(),
        RequestProblem::ConflictAlone => en::error_conflict_alone(),
        RequestProblem::NotStrict {
            field,
            duplicate: true,
        } => en::error_duplicate_field(&visible(field)),
        RequestProblem::NotStrict { field, .. } => en::error_unknown_field(&visible(field)),
    }
}

/// Says who refused, whether the same request can be accepted, and what to do next.
pub(crate) fn advice(problem: &RequestProblem) -> String {
    match problem {
        RequestProblem::DeniedByWebhook { .. } => en::advice_webhook(),
        RequestProblem::WebhookFailed { .. } => en::advice_webhook_failed(),
        RequestProblem::Expired { goes_on: false } => en::advice_expired(),
        RequestProblem::Expired { goes_on: true } => en::advice_expired_list(),
        RequestProblem::TooManyRequests => en::advice_too_many(),
        RequestProblem::HeldBack => en::advice_held_back(),
        RequestProblem::NotSent => en::advice_not_sent(),
        RequestProblem::TimedOut => en::advice_timed_out(),
        RequestProblem::DeadlinePassed { method: None } => en::advice_deadline(),
        RequestProblem::DeadlinePassed {
            method: Some(method),
        } => match problem.is_late_read() {
            true => en::advice_deadline_read(method),
            false => en::advice_deadline_write(method),
        },
        RequestProblem::DisruptionBudget => en::advice_budget(),
        RequestProblem::Internal { .. } if problem.is_of_patch() => en::advice_internal_patch(),
        RequestProblem::Internal { .. } => en::advice_internal(),
        RequestProblem::ConflictAlone => en::advice_conflict_alone(),
        RequestProblem::NotStrict {
            duplicate: true, ..
        } => en::advice_duplicate_field(),
        RequestProblem::NotStrict { .. } => en::advice_unknown_field(),
    }
}

/// Names what a tool says of its own, in a few words.
pub(crate) fn tool_title(problem: &ToolProblem) -> String {
    match problem {
        ToolProblem::ReleasePending => en::error_release_pending(),
        ToolProblem::NoDeployedRelease => en::error_no_deployed_release(),
        ToolProblem::ReleaseNameInUse => en::error_release_in_use(),
        ToolProblem::RevisionExists => en::error_revision_exists(),
        ToolProblem::StateLocked => en::error_state_locked(),
        ToolProblem::OtherThanPlanned { field, .. } => {
            en::error_other_than_planned(&visible(field))
        }
    }
}

/// Says why the tool stopped, and what to do next.
pub(crate) fn tool_advice(problem: &ToolProblem) -> String {
    match problem {
        ToolProblem::ReleasePending => en::advice_release_pending(),
        ToolProblem::NoDeployedRelease => en::advice_no_deployed_release(),
        ToolProblem::ReleaseNameInUse => en::advice_release_in_use(),
        ToolProblem::RevisionExists => en::advice_revision_exists(),
        ToolProblem::StateLocked => en::advice_state_locked(),
        ToolProblem::OtherThanPlanned { .. } => en::advice_other_than_planned(),
    }
}

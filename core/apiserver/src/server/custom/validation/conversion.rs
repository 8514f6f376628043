//! Checks the conversion of objects between the versions of a definition (`validateCustomResourceConversion`).

use serde_json::{Value, json};

use super::spec::among;
use crate::field::ErrorPath;
use crate::server::kinds::{conversion_client, names};
use crate::status::FieldError;

const PATH: ErrorPath<'static> = ErrorPath::new("spec.conversion");

/// Checks a conversion; the stored definition is given on update.
pub(super) fn validate(conversion: &Value, live: Option<&Value>) -> Vec<FieldError> {
    if !conversion.is_object() {
        return Vec::new();
    }
    let strategy = conversion["strategy"].as_str().unwrap_or_default();
    let mut errors = Vec::from_iter(among(
        "spec.conversion.strategy",
        strategy,
        &["None", "Webhook"],
    ));
    let client = &conversion["webhook"]["clientConfig"];
    let client_path = PATH.child("webhookClientConfig");
    let reviews = reviews(conversion);
    let reviews_path = PATH.child("conversionReviewVersions");
    if strategy != "Webhook" {
        let detail = "should not be set when strategy is not set to Webhook";
        if client.is_object() {
            errors.push(FieldError::forbidden(client_path, detail));
        }
        if !reviews.is_empty() {
            errors.push(FieldError::forbidden(reviews_path, detail));
        }
        return errors;
    }
    if client.is_object() {
        errors.extend(conversion_client(client, &client_path));
    } else {
        let detail = "required when strategy is set to Webhook";
        errors.push(FieldError::required(client_path, detail));
    }
    let lax = live.is_some_and(|live| is_unrecognized(&live["spec"]["conversion"]));
    errors.extend(review_versions(reviews, lax, &reviews_path));
    errors
}

fn reviews(conversion: &Value) -> &[Value] {
    let reviews = conversion["webhook"]["conversionReviewVersions"].as_array();
    reviews.map(Vec::as_slice).unwrap_or_default()
}

fn is_recognized(version: &Value) -> bool {
    *version == "v1" || *version == "v1beta1"
}

/// Returns whether a stored conversion names versions, and none that the server knows
/// (`hasValidConversionReviewVersionOrEmpty`).
fn is_unrecognized(conversion: &Value) -> bool {
    let reviews = reviews(conversion);
    !reviews.is_empty() && !reviews.iter().any(is_recognized)
}

/// `validateConversionReviewVersions`.
fn review_versions(reviews: &[Value], lax: bool, path: &ErrorPath<'_>) -> Vec<FieldError> {
    if reviews.is_empty() {
        return vec![FieldError::required(path, "")];
    }
    let mut errors = Vec::new();
    for (i, version) in reviews.iter().enumerate() {
        let path = path.index(i);
        if reviews[..i].contains(version) {
            errors.push(FieldError::invalid(path, version, "duplicate version"));
            continue;
        }
        let reasons = names::label_1035(version.as_str().unwrap_or_default());
        let reasons = reasons.into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(path, version, why)));
    }
    if !lax && !reviews.iter().any(is_recognized) {
        let detail = "must include at least one of v1, v1beta1";
        errors.push(FieldError::invalid(path, &json!(reviews), detail));
    }
    errors
}

//! The npm package `optimist-engine`: who owns the fields of an object, what a write does to it, and what
//! an error means.
//!
//! JavaScript calls [`owners`], [`predict`] and [`explain`]. They take and return plain objects, whose types
//! are in `npm/types.d.ts`. The functions of the modules take text and return JSON, so that the tests need no
//! JavaScript.
#![warn(missing_docs)]

pub mod explanation;
pub mod input;
pub mod ownership;
pub mod prediction;

use js_sys::JSON;
use serde_json::Value;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("../npm/types.d.ts");

/// Says who owns the fields of an object.
///
/// # Errors
/// If the object is not one, or if its kind is unknown.
#[wasm_bindgen(unchecked_return_type = "Ownership")]
pub fn owners(
    #[wasm_bindgen(unchecked_param_type = "KubernetesObject | string")] object: &JsValue,
) -> Result<JsValue, JsError> {
    answer(ownership::owners(&text(object)?))
}

/// Says what a write of a tool does to an object. Without an object, the write creates it.
///
/// # Errors
/// If a part of the write is wrong, or if an object is not one.
#[wasm_bindgen(unchecked_return_type = "Prediction")]
pub fn predict(
    #[wasm_bindgen(unchecked_param_type = "KubernetesObject | string | null | undefined")]
    object: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "Write")] write: &JsValue,
) -> Result<JsValue, JsError> {
    let live = match object.is_null() || object.is_undefined() {
        true => String::new(),
        false => text(object)?,
    };
    answer(prediction::predict(&live, &text(write)?))
}

/// Says what an error of a tool or of the server means. With the object that it is about, the explanation
/// says also who owns what in it.
///
/// # Errors
/// If the text has no error that is known.
#[wasm_bindgen(unchecked_return_type = "Explanation")]
pub fn explain(
    #[wasm_bindgen(unchecked_param_type = "string")] error: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "KubernetesObject | string | null")]
    object: &JsValue,
) -> Result<JsValue, JsError> {
    let about = match object.is_null() || object.is_undefined() {
        true => None,
        false => Some(text(object)?),
    };
    answer(explanation::explain(&text(error)?, about.as_deref()))
}

/// Returns a text as it is, and any other value as JSON.
fn text(value: &JsValue) -> Result<String, JsError> {
    if let Some(text) = value.as_string() {
        return Ok(text);
    }
    let json = JSON::stringify(value)
        .ok()
        .and_then(|json| json.as_string());
    json.ok_or_else(|| JsError::new("neither a text nor an object"))
}

/// Turns JSON into a plain object of JavaScript.
fn answer(answer: Result<Value, String>) -> Result<JsValue, JsError> {
    let json = answer.map_err(|why| JsError::new(&why))?;
    JSON::parse(&json.to_string()).map_err(|_| JsError::new("the answer is no JSON"))
}

//! A shared value as data: whoever reads it gets a value of their own.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Writes the value.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(value: &Arc<Value>, to: S) -> Result<S::Ok, S::Error> {
    (**value).serialize(to)
}

/// Reads a value.
///
/// # Errors
/// Those of the deserializer.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<Value>, D::Error> {
    Value::deserialize(from).map(Arc::new)
}

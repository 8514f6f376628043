//! Reads what JavaScript hands over.

use optimist_apiserver::object::{Metadata, text};
use optimist_client::ObjectReader;
use serde_json::Value;

/// Reads the one object of a text, in YAML or JSON.
///
/// # Errors
/// If the text has no object or several, or if the object has no `apiVersion`, `kind` or name.
pub fn object(source: &str) -> Result<Value, String> {
    let object = manifest(source)?;
    match object.name() {
        "" => Err("an object needs apiVersion, kind and metadata.name".to_owned()),
        _ => Ok(object),
    }
}

/// Reads the one manifest of a text. It can leave its name to the server.
///
/// # Errors
/// Those of [`object`], but for a manifest with a `generateName`.
pub fn manifest(source: &str) -> Result<Value, String> {
    let mut reader = ObjectReader::new(source.into()).map_err(|error| error.to_string())?;
    while reader.advance().map_err(|error| error.to_string())? {}
    let mut objects = reader.finish();
    objects.retain(|object| !object.is_null());
    let object = match (objects.pop(), objects.is_empty()) {
        (Some(object), true) => object,
        (Some(_), false) => return Err("the text has several objects".to_owned()),
        (None, _) => return Err("the text has no object".to_owned()),
    };
    let has_kind = !text(&object, "apiVersion").is_empty() && !text(&object, "kind").is_empty();
    let names = ["name", "generateName"];
    if !has_kind || names.iter().all(|name| object.meta_text(name).is_empty()) {
        return Err("an object needs apiVersion, kind and metadata.name".to_owned());
    }
    optimist_apiserver::limits::check(&object).map_err(|refusal| refusal.message)?;
    Ok(object)
}

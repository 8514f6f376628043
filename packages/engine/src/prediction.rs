//! Predicts the result of a write.

use optimist_apiserver::server::Release;
use optimist_client::Preset;
use optimist_diagnose::preview::{DeliveryTool, Preview, PreviewInput};
use serde_json::Value;

use crate::input;

/// Returns the outcome of a write, and its effects field by field. An empty text for the object says that
/// there is none yet. Values that look private are masked.
///
/// # Errors
/// If the write has no manifest or an unknown tool, or an option that is not run for its tool.
pub fn predict(object: &str, write: &str) -> Result<Value, String> {
    let write: Value = serde_json::from_str(write).map_err(|error| format!("write: {error}"))?;
    let live = match object {
        "" => Vec::new(),
        object => vec![input::object(object)?],
    };
    let manifest = match write.get("manifest") {
        Some(Value::String(text)) => input::manifest(text)?,
        Some(object @ Value::Object(_)) => input::manifest(&object.to_string())?,
        _ => return Err("write.manifest is neither a text nor an object".to_owned()),
    };
    let preview = Preview::run(PreviewInput {
        left_out: Vec::new(),
        live,
        next: vec![manifest],
        earlier: None,
        tool: tool(&write)?,
        namespace: option(&write, "namespace")?,
        release: Release::default(),
    });
    let row = preview.rows.first().ok_or("nothing is written")?;
    serde_json::to_value(row).map_err(|error| error.to_string())
}

fn tool(write: &Value) -> Result<DeliveryTool, String> {
    let name = option(write, "tool")?.ok_or("write.tool is missing")?;
    let known = Preset::DELIVERY.iter().find(|(known, _)| *known == name);
    let Some((_, preset)) = known else {
        let names = Preset::DELIVERY.map(|(name, _)| name).join(", ");
        return Err(format!("write.tool is none of {names}"));
    };
    let force = match write.get("force") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(force)) => *force,
        Some(_) => return Err("write.force is neither true nor false".to_owned()),
    };
    if force && !preset.takes_force() {
        return Err(format!("write.force is not taken for the tool {name}"));
    }
    let manager = option(write, "manager")?;
    if manager.is_some() && !preset.manager_is_chosen() {
        return Err(format!("write.manager is not taken for the tool {name}"));
    }
    Ok(DeliveryTool {
        force,
        manager,
        ..DeliveryTool::new(*preset)
    })
}

/// Returns a text of the write; `None` if it has none.
fn option(write: &Value, name: &str) -> Result<Option<String>, String> {
    match write.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("write.{name} is no text")),
    }
}

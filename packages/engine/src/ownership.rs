//! Finds the owners of the fields of an object.

use optimist_apiserver::apply::Path;
use optimist_diagnose::case::Case;
use optimist_diagnose::ownership::{ManagerEntry, ObjectOwnership, OwnedLine, Unowned};
use serde_json::{Value, json};

use crate::input;

/// Returns the managers of an object, and the owners of each of its values. No value is returned.
///
/// # Errors
/// If the text is no object, or if the server cannot have it: for example a custom resource without its
/// definition.
pub fn owners(object: &str) -> Result<Value, String> {
    let case = Case::about(input::object(object)?);
    let installed = case.install().map_err(|why| why.to_string())?;
    let ownership = installed.ownership();
    Ok(json!({
        "object": case.id.to_string(),
        "managers": ownership.managers.iter().map(manager).collect::<Vec<_>>(),
        "fields": fields(&ownership),
    }))
}

fn manager(entry: &ManagerEntry) -> Value {
    let paths = |paths: &[Path]| paths.iter().map(Path::to_string).collect::<Vec<_>>();
    json!({
        "name": entry.manager.name,
        "operation": entry.manager.operation.name(),
        "subresource": entry.manager.subresource,
        "apiVersion": entry.api_version,
        "time": entry.since.map(|time| time.to_string()),
        "fields": paths(&entry.fields),
        "alone": paths(&entry.alone),
    })
}

fn fields(ownership: &ObjectOwnership) -> Vec<Value> {
    let has_value = |one: &&OwnedLine| one.line.value.is_some();
    let values = ownership.lines.iter().filter(has_value);
    let field = |one: &OwnedLine| {
        json!({
            "pointer": one.line.pointer,
            "owners": one.owners,
            "unowned": one.unowned.map(|why| match why {
                Unowned::NeverOwned => "neverOwned",
                Unowned::Default => "default",
                Unowned::NoEntry => "noEntry",
                Unowned::NotPrinted => "notPrinted",
            }),
        })
    };
    values.map(field).collect()
}

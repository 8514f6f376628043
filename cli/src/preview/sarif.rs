//! A preview as SARIF 2.1.0, which a CI shows at the lines of the manifests.

use optimist_diagnose::case::ObjectId;
use optimist_diagnose::preview::{Preview, PreviewOutcome, PreviewRow};
use optimist_messages::preview as messages;
use serde_json::{Value, json};

use crate::input::Placed;

/// A preview as SARIF. A refusal is an error; a deletion and an object with a trouble are warnings.
pub fn document(preview: &Preview, manifests: &[Placed]) -> String {
    let reported = preview.rows.iter();
    let reported = reported.filter(|row| row.outcome.is_refusal() || !row.troubles.is_empty());
    let results: Vec<Value> = reported.map(|row| result(row, manifests)).collect();
    let mut rules: Vec<&Value> = results.iter().map(|it| &it["ruleId"]).collect();
    rules.sort_by_key(|it| it.as_str());
    rules.dedup();
    let rules: Vec<Value> = rules.iter().map(|id| json!({"id": id})).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "optimist",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn result(row: &PreviewRow, manifests: &[Placed]) -> Value {
    let refused = row.outcome.is_refusal();
    // The worst trouble names the rule: as in the JSON of a preview.
    let rule = match row.troubles.first() {
        Some(trouble) if !refused && row.outcome != PreviewOutcome::Deleted => json!(trouble),
        _ => json!(row.outcome),
    };
    let id = row.object.id();
    let said = format!(
        "{}: {id}\n{}",
        messages::outcome(row.outcome),
        super::description(row)
    );
    let mut result = json!({
        "ruleId": rule,
        "level": if refused { "error" } else { "warning" },
        "message": {"text": said.trim_end()},
    });
    let mut location = json!({"logicalLocations": [{
        "fullyQualifiedName": row.object.to_string(),
        "kind": "object",
    }]});
    let written = manifests.iter().find(|it| is_of(&it.object, &id));
    if let Some(placed) = written.filter(|it| it.file != crate::input::STANDARD_INPUT) {
        location["physicalLocation"] = json!({
            "artifactLocation": {"uri": placed.file.replace('\\', "/")},
            "region": {"startLine": placed.line},
        });
    }
    result["locations"] = json!([location]);
    result
}

/// Returns whether a manifest is of an object. A manifest need not name its namespace.
fn is_of(manifest: &Value, id: &ObjectId) -> bool {
    let named = ObjectId::from_object(manifest);
    let same_namespace = named.namespace.is_empty() || named.namespace == id.namespace;
    same_namespace
        && (named.group, named.kind, named.name)
            == (id.group.clone(), id.kind.clone(), id.name.clone())
}

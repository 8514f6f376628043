//! The defaults of a schema are values of it themselves (`schema/defaulting/validation.go`).

use super::prune::has_undeclared;
use super::{judge_default, validate};
use crate::field::ErrorPath;
use crate::schema::openapi::Schema;
use crate::status::FieldError;

/// Returns the errors in the defaults of a schema; `path` is the place of the schema. Defaults in
/// the metadata of objects inside of objects are not looked at.
pub fn errors(schema: &Schema, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    visit(schema, path, true, &mut errors);
    errors
}

fn visit(schema: &Schema, path: &ErrorPath<'_>, resource: bool, errors: &mut Vec<FieldError>) {
    if let Some(default) = &schema.default {
        let field = path.child("default");
        if has_undeclared(default, schema) {
            let detail = "must not have unknown fields";
            errors.push(FieldError::invalid(field, default, detail));
        }
        let mistakes = validate(default, schema, &field.to_string(), None);
        if mistakes.is_empty() {
            errors.extend(judge_default(default, schema, &field, resource));
        }
        errors.extend(mistakes);
    }
    if let Some(items) = &schema.items {
        visit(items, &path.child("items"), items.embedded, errors);
    }
    for (name, member) in &schema.properties {
        let common = ["apiVersion", "kind", "metadata"].contains(&name.as_str());
        if !(resource && common) {
            let properties = path.child("properties");
            visit(member, &properties.key(name), member.embedded, errors);
        }
    }
}

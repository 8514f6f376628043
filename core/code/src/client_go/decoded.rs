//! The body of a request as an object that Go decodes.

use super::Go;
use super::literal::raw;
use crate::call::json;

impl Go<'_> {
    /// Statements that decode the body, and the name of the variable.
    pub(super) fn decoded(&mut self) -> (String, String) {
        let kind = self.call.typed().map(|resource| resource.kind.clone());
        self.decoded_as(kind.as_deref().unwrap_or_default())
    }

    pub(super) fn decoded_as(&mut self, kind: &str) -> (String, String) {
        self.imports.add("encoding/json");
        let variable = match kind {
            "" => "object".to_owned(),
            "Scale" => "scale".to_owned(),
            _ => self.variable(),
        };
        let (ty, target) = if kind.is_empty() {
            (
                self.object_type().trim_start_matches('*').to_owned(),
                format!("{variable}.Object"),
            )
        } else {
            let package = self.imports.package_of(kind);
            (format!("{package}.{kind}"), variable.clone())
        };
        let text = raw(&json(self.call.body));
        let declare = format!(
            "var {variable} {ty}\nif err := json.Unmarshal([]byte({text}), &{target}); err != nil {{\n\
             \treturn err\n}}\n"
        );
        (declare, format!("&{variable}"))
    }
}

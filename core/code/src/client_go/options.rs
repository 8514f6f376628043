//! The options of a request.

use serde_json::Value;

use super::Go;
use optimist_apiserver::go::quote;

impl Go<'_> {
    /// `metav1.PatchOptions{FieldManager: "editor-a"}`.
    pub(super) fn options(&mut self, kind: &str) -> String {
        let request = self.request;
        let mut members = Vec::new();
        if kind == "DeleteOptions" {
            members.extend(self.preconditions());
            members.extend(self.deletion());
        } else if !request.manager.is_empty() {
            members.push(format!("FieldManager: {}", quote(&request.manager)));
        }
        if request.force {
            self.imports.add("k8s.io/utils/ptr");
            members.push("Force: ptr.To(true)".to_owned());
        }
        if request.dry_run {
            let meta = self.imports.meta();
            members.push(format!("DryRun: []string{{{meta}.DryRunAll}}"));
        }
        if request.strict {
            let meta = self.imports.meta();
            members.push(format!("FieldValidation: {meta}.FieldValidationStrict"));
        }
        format!("{}.{kind}{{{}}}", self.imports.meta(), members.join(", "))
    }

    /// Writes the preconditions of a delete: the uid and the version that the object must have.
    fn preconditions(&mut self) -> Option<String> {
        let body = self.call.body;
        let precondition = |field: &str| {
            let value = body.get("preconditions")?.get(field)?.as_str()?;
            Some(quote(value))
        };
        let uid = precondition("uid").map(|uid| format!("UID: ptr.To(types.UID({uid}))"));
        if uid.is_some() {
            self.imports.add("k8s.io/apimachinery/pkg/types");
        }
        let version = precondition("resourceVersion");
        let version = version.map(|version| format!("ResourceVersion: ptr.To({version})"));
        let conditions: Vec<String> = uid.into_iter().chain(version).collect();
        if conditions.is_empty() {
            return None;
        }
        self.imports.add("k8s.io/utils/ptr");
        let meta = self.imports.meta();
        let conditions = conditions.join(", ");
        Some(format!(
            "Preconditions: &{meta}.Preconditions{{{conditions}}}"
        ))
    }

    /// Writes the grace period and the propagation policy of a delete.
    fn deletion(&mut self) -> Vec<String> {
        let body = self.call.body;
        let mut members = Vec::new();
        if let Some(seconds) = body.get("gracePeriodSeconds").and_then(Value::as_i64) {
            members.push(format!("GracePeriodSeconds: ptr.To[int64]({seconds})"));
        }
        if let Some(policy) = body.get("propagationPolicy").and_then(Value::as_str) {
            let meta = self.imports.meta();
            let policy = quote(policy);
            members.push(format!(
                "PropagationPolicy: ptr.To({meta}.DeletionPropagation({policy}))"
            ));
        }
        if !members.is_empty() {
            self.imports.add("k8s.io/utils/ptr");
        }
        members
    }
}

//! Statements that write in Go.

use optimist_apiserver::go::quote;
use optimist_controller::program::{OnError, Statement};

use super::{Go, RETURN_ERROR};
use crate::program::{Numbered, answered, on_error};

impl Go<'_> {
    pub(super) fn write(&mut self, one: &Numbered<'_>) {
        let number = one.number;
        let range = one.only();
        self.imports
            .add("sigs.k8s.io/controller-runtime/pkg/client");
        let (object, call) = match one.statement {
            Statement::Create { object, .. } => (
                object,
                format!("r.Create(ctx, {})", self.reference(object, number)),
            ),
            Statement::Update { object, status, .. } => {
                let target = self.reference(object, number);
                (object, format!("{}.Update(ctx, {target})", writer(*status)))
            }
            Statement::Patch {
                object,
                base,
                lock,
                status,
                ..
            } => {
                let (target, base) = (self.reference(object, number), self.reference(base, number));
                let patch = match lock {
                    true => format!(
                        "client.MergeFromWithOptions({base}, client.MergeFromWithOptimisticLock{{}})"
                    ),
                    false => format!("client.MergeFrom({base})"),
                };
                let call = format!("{}.Patch(ctx, {target}, {patch})", writer(*status));
                (object, call)
            }
            Statement::Apply {
                object,
                force,
                status,
                ..
            } => (object, self.apply(one, object, *force, *status)),
            Statement::Delete {
                object,
                uid,
                resource_version,
                ..
            } => {
                let (target, name) = (self.reference(object, number), self.named(object, number));
                let options = preconditions(&name, *uid, *resource_version);
                (object, format!("r.Delete(ctx, {target}{options})"))
            }
            _ => return,
        };
        let text = self.checked(&call, one);
        self.lines.call(&text, &range, answered(one.statement));
        let deletes = matches!(one.statement, Statement::Delete { .. });
        if self.program.options.wait_for_own_version && !deletes {
            self.wrote_at(one, object);
        }
    }

    /// The object as an apply configuration, and the call that applies it.
    fn apply(&mut self, one: &Numbered<'_>, object: &str, force: bool, status: bool) -> String {
        self.imports
            .add("k8s.io/apimachinery/pkg/apis/meta/v1/unstructured");
        self.imports.add("k8s.io/apimachinery/pkg/runtime");
        let target = self.reference(object, one.number);
        if let Some(kind) = self.variables.kind_at(object, one.number) {
            self.imports.add("k8s.io/apimachinery/pkg/runtime/schema");
            let (group, version) = kind
                .api_version
                .split_once('/')
                .unwrap_or(("", &kind.api_version));
            let (group, version, kind) = (quote(group), quote(version), quote(&kind.kind));
            let name = self.named(object, one.number);
            let text = format!(
                "{name}.SetGroupVersionKind(schema.GroupVersionKind{{Group: {group}, Version: {version}, Kind: {kind}}})"
            );
            self.lines.add(&text, &one.only());
        }
        let fields = format!("fields{}", one.number);
        let text = format!(
            "{fields}, err := runtime.DefaultUnstructuredConverter.ToUnstructured({target})\nif err != nil {{\n{RETURN_ERROR}}}\n"
        );
        self.lines.add(&text, &one.only());
        let configuration = format!(
            "client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{{Object: {fields}}})"
        );
        let manager = quote(&self.program.name);
        let force = if force { ", client.ForceOwnership" } else { "" };
        let writer = writer(status);
        format!("{writer}.Apply(ctx, {configuration}, client.FieldOwner({manager}){force})")
    }

    /// A call with what happens after its errors.
    fn checked(&mut self, call: &str, one: &Numbered<'_>) -> String {
        let rows = on_error(one.statement);
        let observed = match one.statement {
            Statement::Create { .. } if self.expects => "CreationObserved",
            Statement::Delete { .. } if self.expects => "DeletionObserved",
            _ => "",
        };
        match rows {
            [] if observed.is_empty() => {
                format!("if err := {call}; err != nil {{\n{RETURN_ERROR}}}\n")
            }
            [
                OnError {
                    reason,
                    result: None,
                },
            ] if observed.is_empty() => {
                let not = match reason.as_str() {
                    "NotFound" => "client.IgnoreNotFound(err) != nil".to_owned(),
                    "AlreadyExists" => "client.IgnoreAlreadyExists(err) != nil".to_owned(),
                    other => format!("err != nil && {}", self.is(other, false)),
                };
                format!("if err := {call}; {not} {{\n{RETURN_ERROR}}}\n")
            }
            rows => {
                let mut text = format!("if err := {call}; err != nil {{\n");
                if !observed.is_empty() {
                    text.push_str(&format!(
                        "r.Expectations.{observed}(logger, req.String())\n"
                    ));
                }
                text.push_str(&self.rows(rows));
                text + "}\n"
            }
        }
    }

    /// Writes the branches after a write for the errors that the program handles.
    fn rows(&mut self, rows: &[OnError]) -> String {
        let mut text = String::new();
        let mut goes_on = Vec::new();
        for row in rows {
            match row.result {
                Some(result) => {
                    let (is, result) = (self.is(&row.reason, true), self.result(result));
                    text.push_str(&format!("if {is} {{\n{result}}}\n"));
                }
                None => goes_on.push(self.is(&row.reason, false)),
            }
        }
        text.push_str(&match goes_on.is_empty() {
            true => RETURN_ERROR.to_owned(),
            false => format!("if {} {{\n{RETURN_ERROR}}}\n", goes_on.join(" && ")),
        });
        text
    }

    /// Writes the condition that `err` has this reason, or (`has` is `false`) does not have it.
    fn is(&mut self, reason: &str, has: bool) -> String {
        let errors = "k8s.io/apimachinery/pkg/api/errors";
        let name = self.imports.add_as("apierrors", errors);
        let known = match reason {
            "NotFound" => "IsNotFound",
            "AlreadyExists" => "IsAlreadyExists",
            "Conflict" => "IsConflict",
            "Invalid" => "IsInvalid",
            "Forbidden" => "IsForbidden",
            "Gone" => "IsGone",
            "Expired" => "IsResourceExpired",
            "BadRequest" => "IsBadRequest",
            other => {
                let sign = if has { "==" } else { "!=" };
                return format!("{name}.ReasonForError(err) {sign} {}", quote(other));
            }
        };
        let not = if has { "" } else { "!" };
        format!("{not}{name}.{known}(err)")
    }

    /// Notes the version that was written, for the next run of the key.
    fn wrote_at(&mut self, one: &Numbered<'_>, object: &str) {
        self.imports.add("k8s.io/apimachinery/pkg/runtime/schema");
        let Some(kind) = self.variables.kind_at(object, one.number) else {
            return;
        };
        let known = self.resources.by_kind(&kind.api_version, &kind.kind);
        let plural = known.map(|resource| resource.plural.clone());
        let plural = plural.unwrap_or_else(|| kind.kind.to_ascii_lowercase() + "s");
        let group = kind
            .api_version
            .split_once('/')
            .map_or("", |(group, _)| group);
        let (group, plural) = (quote(group), quote(&plural));
        let owner = self.owner(one.number);
        let name = self.named(object, one.number);
        let text = format!(
            "r.Consistency.WroteAt(req.NamespacedName, {owner}, schema.GroupResource{{Group: {group}, Resource: {plural}}}, {name}.ResourceVersion)"
        );
        self.lines.add(&text, &one.only());
    }

    /// The uid of the object of the key.
    fn owner(&self, number: usize) -> String {
        match &self.owner {
            Some(name) => format!("{}.UID", self.named(name, number)),
            None => quote(""),
        }
    }
}

fn writer(status: bool) -> &'static str {
    if status { "r.Status()" } else { "r" }
}

fn preconditions(name: &str, uid: bool, resource_version: bool) -> String {
    let mut members = Vec::new();
    if uid {
        members.push(format!("UID: &{name}.UID"));
    }
    if resource_version {
        members.push(format!("ResourceVersion: &{name}.ResourceVersion"));
    }
    match members.is_empty() {
        true => String::new(),
        false => format!(", client.Preconditions{{{}}}", members.join(", ")),
    }
}

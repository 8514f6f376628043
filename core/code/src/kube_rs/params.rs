//! The parameters of a request.

use optimist_client::RequestKind;

use super::Rust;
use super::literal::string;

impl Rust<'_> {
    pub(super) fn post_params(&self) -> String {
        let mut members = Vec::new();
        if self.request.dry_run {
            members.push("dry_run: true".to_owned());
        }
        if !self.request.manager.is_empty() {
            let manager = string(&self.request.manager);
            members.push(format!("field_manager: Some({manager}.into())"));
        }
        if members.len() < 2 {
            return params("PostParams", &members);
        }
        format!("let params = PostParams {{ {} }};\n", members.join(", "))
    }

    pub(super) fn patch_params(&self) -> String {
        let request = self.request;
        let manager = string(&request.manager);
        if request.verb == RequestKind::Apply {
            let force = if request.force { ".force()" } else { "" };
            let dry_run = if request.dry_run { ".dry_run()" } else { "" };
            let strict = if request.strict {
                ".validation_strict()"
            } else {
                ""
            };
            return format!(
                "let params = PatchParams::apply({manager}){force}{dry_run}{strict};\n"
            );
        }
        let mut members = Vec::new();
        if !request.manager.is_empty() {
            members.push(format!("field_manager: Some({manager}.into())"));
        }
        if request.dry_run {
            members.push("dry_run: true".to_owned());
        }
        if request.strict {
            members.push("field_validation: Some(ValidationDirective::Strict)".to_owned());
        }
        params("PatchParams", &members)
    }
}

/// Writes parameters: the default ones but for these members.
pub(super) fn params(ty: &str, members: &[String]) -> String {
    if members.is_empty() {
        return format!("let params = {ty}::default();\n");
    }
    let members = members.join(", ");
    format!("let params = {ty} {{ {members}, ..Default::default() }};\n")
}

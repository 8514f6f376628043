//! Statements that write in Rust.

use optimist_controller::program::{OnError, Statement};

use super::{Rust, api_of};
use crate::kube_rs::string;
use crate::program::{Numbered, answered, on_error};

impl Rust<'_> {
    pub(super) fn write(&mut self, one: &Numbered<'_>) {
        let range = one.only();
        let Some((object, call)) = self.request(one) else {
            let text = "return Err(kube::Error::Service(\"there is no object to write\".into()));";
            self.lines.add(text, &range);
            return;
        };
        let deletes = matches!(one.statement, Statement::Delete { .. });
        let declared = self.variables.get(&object, false, one.number);
        let consistent = self.program.options.wait_for_own_version && !deletes;
        let kept = declared.is_some_and(|declared| !deletes && declared.used_after(one.number));
        let target = if kept {
            self.named(&object, one.number)
        } else {
            String::new()
        };
        let source = answered(one.statement);
        let observed = match one.statement {
            Statement::Create { .. } if self.expects => "creation_observed",
            Statement::Delete { .. } if self.expects => "deletion_observed",
            _ => "",
        };
        let mut call = format!("{call}.await");
        if !observed.is_empty() || consistent {
            self.lines
                .call(&format!("let answer = {call};"), &range, source);
            call = "answer".to_owned();
        }
        if !observed.is_empty() {
            let text = format!("if answer.is_err() {{\nctx.expectations.{observed}(&owner);\n}}\n");
            self.lines.add(&text, &range);
        }
        if consistent {
            let owner = match self.owner(one.number) {
                Some(owner) => format!("{owner}.uid()"),
                None => "None".to_owned(),
            };
            let text = format!(
                "if let Ok(answer) = &answer {{\nctx.consistency.wrote_at(&owner, {owner}, answer.resource_version());\n}}\n"
            );
            self.lines.add(&text, &range);
        }
        let text = self.checked(&call, &target, on_error(one.statement), one);
        match call == "answer" {
            true => self.lines.add(&text, &range),
            false => self.lines.call(&text, &range, source),
        }
    }

    /// The variable that has the object of the key.
    fn owner(&self, number: usize) -> Option<String> {
        let parameter = self.parameter.as_ref()?;
        Some(self.named(parameter, number))
    }

    /// The client of a variable's kind, a reference to its object, and its name.
    fn client(&self, object: &str, number: usize) -> Option<(String, String, String)> {
        let kind = self.variables.kind_at(object, number)?;
        let (reference, name) = (self.reference(object, number), self.named(object, number));
        Some((api_of(&kind), reference, name))
    }

    /// The variable of a write, and the call of the client.
    fn request(&mut self, one: &Numbered<'_>) -> Option<(String, String)> {
        let number = one.number;
        Some(match one.statement {
            Statement::Create { object, .. } => {
                let (api, reference, _) = self.client(object, number)?;
                let call = format!("{api}.create(&PostParams::default(), {reference})");
                (object.clone(), call)
            }
            Statement::Update { object, status, .. } => {
                let (api, reference, name) = self.client(object, number)?;
                let part = part(*status);
                let call = format!(
                    "{api}.replace{part}(&{name}.name_any(), &PostParams::default(), {reference})"
                );
                (object.clone(), call)
            }
            Statement::Patch { object, .. } => (object.clone(), self.patch_call(one)?),
            Statement::Apply { object, .. } => (object.clone(), self.apply_call(one)?),
            Statement::Delete { object, .. } => (object.clone(), self.delete_call(one)?),
            _ => return None,
        })
    }

    fn patch_call(&mut self, one: &Numbered<'_>) -> Option<String> {
        let Statement::Patch {
            object,
            base,
            lock,
            status,
            ..
        } = one.statement
        else {
            return None;
        };
        let (api, reference, name) = self.client(object, one.number)?;
        let merge = if *lock {
            "merge_from_locked"
        } else {
            "merge_from"
        };
        let base = self.reference(base, one.number);
        let patch = format!("let patch = Patch::Merge({merge}({base}, {reference}));");
        self.lines.add(&patch, &one.only());
        let part = part(*status);
        Some(format!(
            "{api}.patch{part}(&{name}.name_any(), &PatchParams::default(), &patch)"
        ))
    }

    fn apply_call(&mut self, one: &Numbered<'_>) -> Option<String> {
        let Statement::Apply {
            object,
            force,
            status,
            ..
        } = one.statement
        else {
            return None;
        };
        let (api, reference, name) = self.client(object, one.number)?;
        let manager = string(&self.program.name);
        let force = if *force { ".force()" } else { "" };
        let params = format!("let params = PatchParams::apply({manager}){force};");
        self.lines.add(&params, &one.only());
        let part = part(*status);
        Some(format!(
            "{api}.patch{part}(&{name}.name_any(), &params, &Patch::Apply({reference}))"
        ))
    }

    fn delete_call(&mut self, one: &Numbered<'_>) -> Option<String> {
        let Statement::Delete {
            object,
            uid,
            resource_version,
            ..
        } = one.statement
        else {
            return None;
        };
        let (api, _, name) = self.client(object, one.number)?;
        let options = preconditions(&name, *uid, *resource_version);
        let params = match options.is_empty() {
            true => "&DeleteParams::default()",
            false => {
                let params = format!("let params = DeleteParams::default(){options};");
                self.lines.add(&params, &one.only());
                "&params"
            }
        };
        Some(format!("{api}.delete(&{name}.name_any(), {params})"))
    }

    /// A call with what happens after its errors. The answer goes to a variable, if one is named.
    fn checked(
        &mut self,
        call: &str,
        target: &str,
        rows: &[OnError],
        one: &Numbered<'_>,
    ) -> String {
        let assign = match target {
            "" => String::new(),
            name => format!("{name} = "),
        };
        if rows.is_empty() {
            return format!("{assign}{call}?;\n");
        }
        let ok = match target {
            "" => "Ok(_) => {}".to_owned(),
            name => format!("Ok(answer) => {name} = answer,"),
        };
        let mut text = format!("match {call} {{\n{ok}\n");
        for row in rows {
            let is = match row.reason.as_str() {
                "NotFound" => "status.is_not_found()".to_owned(),
                "AlreadyExists" => "status.is_already_exists()".to_owned(),
                "Conflict" => "status.is_conflict()".to_owned(),
                "Forbidden" => "status.is_forbidden()".to_owned(),
                "Invalid" => "status.is_invalid()".to_owned(),
                other => format!("status.reason == {}", string(other)),
            };
            match row.result {
                None => text.push_str(&format!("Err(kube::Error::Api(status)) if {is} => {{}}\n")),
                Some(result) => {
                    let mut lines = std::mem::replace(&mut self.lines, super::Lines::new("    "));
                    self.result(result, false, &one.only());
                    std::mem::swap(&mut self.lines, &mut lines);
                    let inner: Vec<_> = lines.lines.into_iter().map(|line| line.text).collect();
                    text.push_str(&format!(
                        "Err(kube::Error::Api(status)) if {is} => {{\n{}\n}}\n",
                        inner.join("\n")
                    ));
                }
            }
        }
        text + "Err(error) => return Err(error),\n}\n"
    }
}

fn preconditions(name: &str, uid: bool, resource_version: bool) -> String {
    if !uid && !resource_version {
        return String::new();
    }
    let uid = match uid {
        true => format!("{name}.uid()"),
        false => "None".to_owned(),
    };
    let version = match resource_version {
        true => format!("{name}.resource_version()"),
        false => "None".to_owned(),
    };
    format!(".preconditions(Preconditions {{ uid: {uid}, resource_version: {version} }})")
}

/// The part of a method's name that says that it writes the status.
fn part(status: bool) -> &'static str {
    if status { "_status" } else { "" }
}

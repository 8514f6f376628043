//! How people do what a row did: the command, the code or the configuration of its own tool.
//!
//! Names come from the metadata of the object. What nothing says is a placeholder in capitals. Flags
//! were read in the sources of the tools: kubectl v1.36, Helm v4.2 and v3.21, Argo CD v3.5, Flux v2,
//! hashicorp/kubernetes v3.2 for Terraform, controller-runtime v0.24.

mod lines;
mod tool;

use optimist_apiserver::object::Metadata;
use optimist_client::{Preset, Strategy, changes, to_yaml};
use optimist_simulation::Exchange;
use optimist_text::render::{
    Call, ControllerRuntimeMethod, client_go, controller_runtime, kubectl, kubectl_object,
};
use optimist_text::{delimiter, quote, without_nul};
use serde_json::Value;

use self::lines::changed_lines;
use self::tool::Tool;
use super::{
    ChangeContent, ChangeTable, DeliveredBy, OnOwned, Row, Way, WayOut, WayOutKind, manifest,
    tracking,
};

/// Something to type or to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What it is written in.
    pub language: InstructionLanguage,
    /// The text.
    pub text: String,
    /// Whether it has values of the object or of the manifest.
    pub has_values: bool,
}

/// What an instruction is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionLanguage {
    /// Commands of a POSIX shell.
    Shell,
    /// Go.
    Go,
    /// The language of Terraform.
    Terraform,
    /// Lines of a manifest that go (`-`) and come (`+`), with the lines above them.
    Lines,
}

/// The longest manifest that stands in a command. A longer one is named as a file.
const IN_COMMAND: usize = 16_000;

impl Instruction {
    fn command(text: String) -> Self {
        Self {
            language: InstructionLanguage::Shell,
            text: without_nul(text),
            has_values: false,
        }
    }

    fn with_values(language: InstructionLanguage, text: String) -> Self {
        Self {
            language,
            text,
            has_values: true,
        }
    }
}

impl Instruction {
    /// Lines with the names of their fields alone.
    fn without_values(self) -> Self {
        let name = |line: &str| match line.split_once(": ") {
            Some((name, _)) => format!("{name}:\n"),
            None => format!("{line}\n"),
        };
        Self {
            text: self.text.lines().map(name).collect(),
            has_values: false,
            ..self
        }
    }
}

impl ChangeTable {
    /// How people do what a row did. Empty for the HorizontalPodAutoscaler, which nobody runs by hand,
    /// and where the client sends nothing that a command could say. Without `values`, which may be
    /// private or made up, a command names the manifest as a file.
    pub fn instructions(&self, row: &Row, values: bool) -> Vec<Instruction> {
        let mut all = self.with_values(row, values);
        all.retain(|one| values || !one.has_values);
        all
    }

    fn with_values(&self, row: &Row, values: bool) -> Vec<Instruction> {
        let Way::Client(preset, on_owned) = row.way else {
            return self.file("kubectl create", values).into_iter().collect();
        };
        let mut all = Vec::new();
        if on_owned == OnOwned::LeaveOut {
            let applied = row.requests.iter().rev().find(|it| applies(it));
            let left = applied.map(|it| (*it.sent).clone());
            let lines = left.and_then(|left| self.lines(preset, row, &left));
            all.extend(lines.map(|it| if values { it } else { it.without_values() }));
        }
        match preset {
            Preset::KubectlApplyServerSide if !values => {
                all.push(Instruction::command(row.apply_of_file(on_owned)));
            }
            Preset::KubectlApplyServerSide => {
                let applied = row.requests.iter().rev().find(|it| applies(it));
                all.extend(applied.map(|exchange| {
                    let text = kubectl(&self.call(exchange));
                    Instruction::with_values(InstructionLanguage::Shell, text)
                }));
            }
            Preset::KubectlApply => all.extend(self.file("kubectl apply", values)),
            Preset::KubectlReplace => all.extend(self.file("kubectl replace", values)),
            Preset::KubectlEdit => all.extend(self.kubectl("edit", "")),
            Preset::KubectlScale => {
                let replicas = |it: &Exchange| it.sent.pointer("/spec/replicas").cloned();
                let replicas = row.requests.last().and_then(replicas);
                let flag = replicas.map(|replicas| format!(" --replicas={replicas}"));
                all.extend(flag.and_then(|flag| self.kubectl("scale", &flag)));
            }
            Preset::KubectlLabel => all.extend(self.label(row)),
            Preset::Autoscaler => {}
            Preset::Update | Preset::MergeFrom | Preset::CreateOrUpdate => {
                all.extend(self.code(preset, row));
            }
            Preset::ControllerApply => all.extend(self.code(preset, row)),
            _ => all.extend(self.tool(row).instructions(preset, on_owned)),
        }
        all
    }

    /// How people go a way out with the client that got the conflict. Empty where other managers have to
    /// give something up: then the requests say it as commands ([`Row::commands`]).
    pub fn instructions_out(&self, out: &WayOut, values: bool) -> Vec<Instruction> {
        let row = &out.row;
        let Way::Client(preset, _) = row.way else {
            return Vec::new();
        };
        if matches!(out.kind, WayOutKind::Transfer | WayOutKind::Migrate) {
            return Vec::new();
        }
        let mut all = self.instructions(row, values);
        if out.kind == WayOutKind::Agree && values {
            let lines = self.lines(preset, row, &out.manifest);
            all.splice(0..0, lines);
        }
        all
    }

    fn tool<'a>(&'a self, row: &'a Row) -> Tool<'a> {
        let said = self.said(row);
        let by = DeliveredBy::of(&[&row.before, &said]);
        Tool {
            table: self,
            row,
            by,
            said,
        }
    }

    /// The manifest that was brought; `null` if the object was edited.
    fn said(&self, row: &Row) -> Value {
        match &self.change.content {
            ChangeContent::Manifest(said) => manifest::of_object(said, &row.before),
            ChangeContent::Edited(_) => Value::Null,
        }
    }

    /// The lines of the manifest that are to be changed so that it is another one.
    fn lines(&self, preset: Preset, row: &Row, wanted: &Value) -> Option<Instruction> {
        let said = self.said(row);
        if said.is_null() {
            return None;
        }
        let said = tracking::tracked(preset, said, &row.before);
        let text = changed_lines(&to_yaml(&said), &to_yaml(wanted))?;
        Some(Instruction::with_values(InstructionLanguage::Lines, text))
    }

    /// A command of kubectl that reads the manifest.
    fn file(&self, command: &str, values: bool) -> Option<Instruction> {
        let ChangeContent::Manifest(said) = &self.change.content else {
            return None;
        };
        let namespace = self.subject().namespace();
        let mut said = said.clone();
        if said.namespace().is_empty() && !namespace.is_empty() {
            said.set_meta("namespace", namespace);
        }
        let yaml = to_yaml(&said);
        if !values || yaml.len() > IN_COMMAND {
            return Some(Instruction::command(format!(
                "{command} -f MANIFEST.yaml\n"
            )));
        }
        let end = delimiter(&yaml, "EOF");
        let text = format!("{command} -f - <<'{end}'\n{yaml}{end}\n");
        let text = without_nul(text);
        Some(Instruction::with_values(InstructionLanguage::Shell, text))
    }

    /// A command of kubectl that names the object.
    fn kubectl(&self, command: &str, flags: &str) -> Option<Instruction> {
        let subject = self.subject();
        let object = kubectl_object(subject.resource(), subject.namespace(), subject.name())?;
        let text = format!("kubectl {command} {object}{flags}\n");
        Some(Instruction {
            has_values: !flags.is_empty(),
            ..Instruction::command(text)
        })
    }

    fn label(&self, row: &Row) -> Option<Instruction> {
        let sent = row.requests.last()?.sent.pointer("/metadata/labels")?;
        let mut flags = " --overwrite".to_owned();
        for (key, value) in sent.as_object()? {
            if key.starts_with('-') {
                return None;
            }
            let word = match value.as_str() {
                Some(value) => format!("{key}={value}"),
                None => format!("{key}-"),
            };
            flags.push(' ');
            flags.push_str(&quote(&word));
        }
        self.kubectl("label", &flags)
    }

    fn code(&self, preset: Preset, row: &Row) -> Option<Instruction> {
        let exchange = row.requests.last()?;
        let edits = match preset {
            Preset::Update | Preset::CreateOrUpdate => changes(&row.before, &exchange.sent),
            _ => changes(&row.before, &row.after_edits()),
        };
        let mut call = self.call(exchange);
        call.edits = Some(&edits);
        let edited = row.after_edits();
        let snippet = match preset {
            Preset::Update => {
                call.attempts = 5;
                call.reads_again = true;
                Some(client_go(&call))
            }
            Preset::MergeFrom => {
                call.body = &edited;
                controller_runtime(&call, ControllerRuntimeMethod::MergeFrom)
            }
            Preset::CreateOrUpdate => {
                controller_runtime(&call, ControllerRuntimeMethod::CreateOrUpdate)
            }
            _ => controller_runtime(&call, ControllerRuntimeMethod::Apply),
        }?;
        let text = format!("{}\n{}", snippet.imports, snippet.code);
        Some(Instruction::with_values(InstructionLanguage::Go, text))
    }

    fn call<'a>(&'a self, exchange: &'a Exchange) -> Call<'a> {
        Call {
            method: exchange.method.as_str(),
            target: &exchange.target,
            content_type: &exchange.content_type,
            user_agent: &exchange.manager,
            body: &exchange.sent,
            resource: Some(self.subject().resource()),
            edits: None,
            attempts: 1,
            reads_again: false,
        }
    }
}

impl Row {
    /// The command by which kubectl applies a file as the writer of the row.
    pub fn apply_of_file(&self, on_owned: OnOwned) -> String {
        let force = match on_owned {
            OnOwned::Force => " --force-conflicts",
            _ => "",
        };
        let manager = quote(&format!("--field-manager={}", self.writer));
        format!("kubectl apply --server-side{force} {manager} -f MANIFEST.yaml\n")
    }

    /// The object that was read, with what a merge patch of the row changes.
    fn after_edits(&self) -> Value {
        let mut object = (*self.before).clone();
        if let Some(sent) = self.requests.last() {
            optimist_apiserver::patch::merge(&mut object, &sent.sent);
        }
        object
    }
}

/// Whether a request applies a manifest, for good.
fn applies(exchange: &Exchange) -> bool {
    exchange.content_type == Strategy::Apply.media_type()
        && !exchange
            .target
            .contains("fieldManager=kubectl-last-applied")
        && !exchange.target.contains("dryRun=")
}

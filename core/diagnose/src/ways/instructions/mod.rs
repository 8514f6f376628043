//! Instructions that do the same as a row: the command, the code or the configuration of its own tool.
//!
//! Names come from the metadata of the object. A part that nothing names is a placeholder in capitals.
//! Flags were read in the sources of the tools: kubectl v1.36, Helm v4.2 and v3.21, Argo CD v3.5, Flux
//! v2, hashicorp/kubernetes v3.2 for Terraform, controller-runtime v0.24.

mod entries;
mod handover;
mod lines;
mod tool;
mod warning;

use optimist_client::{Preset, Strategy, changes, to_yaml};
use optimist_code::{
    ClientRequest, ControllerRuntimeMethod, client_go, controller_runtime, kubectl,
    kubectl_dry_run, kubectl_object, namespace_option,
};
use optimist_code::{delimiter, quote, without_nul};
use optimist_simulation::Exchange;
use serde::Serialize;
use serde_json::Value;

use self::tool::ToolInstruction;
use crate::case::MadeUpIdentity;

use super::row::OF_ANNOTATION;
use super::{
    ChangeContent, ChangeTable, DeliveredBy, OnOwned, Remedy, RemedyKind, Row, Way, manifest,
};

pub use warning::InstructionWarning;

/// Something to type or to write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Instruction {
    /// The language in which it is written.
    pub language: InstructionLanguage,
    /// The text.
    pub text: String,
    /// `true` if it has values of the object or of the manifest.
    #[serde(skip)]
    pub has_values: bool,
    /// The same command in a form that stores nothing, to be run first. `None` if it writes nothing, or
    /// if its tool has no such form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub try_first: Option<String>,
    /// The warnings to read before they run it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<InstructionWarning>,
}

/// The parts of a case that instructions may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseContent {
    /// The values and the owners.
    Whole,
    /// The owners, the names of fields, and in lines the values that do not look private.
    Masked,
    /// The owners and the names of fields.
    WithoutValues,
    /// Neither: they are made up.
    MadeUp,
}

/// The language of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
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
    pub(crate) fn command(text: String) -> Self {
        Self {
            has_values: false,
            ..Self::with_values(InstructionLanguage::Shell, without_nul(text))
        }
    }

    fn with_values(language: InstructionLanguage, text: String) -> Self {
        Self {
            language,
            text,
            has_values: true,
            try_first: None,
            warnings: Vec::new(),
        }
    }

    /// Makes a command of kubectl that writes: its name, and the rest of the line. Before it comes the
    /// same one in a form that stores nothing.
    pub(crate) fn write(name: &str, rest: &str) -> Self {
        let dry_run = format!("kubectl {name} --dry-run=server{rest}\n");
        Self {
            try_first: Some(without_nul(dry_run)),
            ..Self::command(format!("kubectl {name}{rest}\n"))
        }
    }

    /// The command that sends a request.
    fn of_call(call: &ClientRequest<'_>) -> Self {
        Self {
            try_first: kubectl_dry_run(call),
            ..Self::with_values(InstructionLanguage::Shell, kubectl(call))
        }
    }
}

impl ChangeTable {
    /// Returns the instructions that do the same as a row. Empty for the HorizontalPodAutoscaler, which
    /// nobody runs by hand, and if the client sends nothing that a command could send. Without `values`,
    /// which may be private or made up, a command names the manifest as a file.
    pub fn instructions(&self, row: &Row, values: bool) -> Vec<Instruction> {
        let content = match values {
            true => CaseContent::Whole,
            false => CaseContent::WithoutValues,
        };
        self.instructions_with(row, content)
    }

    /// Returns the instructions that do the same as a row, like [`instructions`](Self::instructions), with a part of the
    /// case in them.
    pub fn instructions_with(&self, row: &Row, content: CaseContent) -> Vec<Instruction> {
        let values = content == CaseContent::Whole;
        let mut all = self.with_content(row, content);
        all.retain(|one| values || !one.has_values);
        if let Some(first) = all.first_mut() {
            first.warnings.extend(self.warnings(row));
        }
        all
    }

    fn with_content(&self, row: &Row, content: CaseContent) -> Vec<Instruction> {
        let values = content == CaseContent::Whole;
        let Way::Client(preset, on_owned) = row.way else {
            return self.file("create", values).into_iter().collect();
        };
        let sent = row.last_apply().filter(|_| self.sent_is_known(values));
        let mut all = Vec::new();
        if on_owned == OnOwned::LeaveOut {
            // Of a manifest that was brought, all lines are known.
            let lines = match row.values_made_up && !values {
                true => self
                    .lines_in_conflict(preset, row)
                    .map(Instruction::without_values),
                false => row
                    .last_apply()
                    .and_then(|it| self.lines(preset, row, &it.sent, content)),
            };
            all.extend(lines);
        }
        match preset {
            Preset::KubectlApplyServerSide => {
                all.extend(self.server_side(row, on_owned, sent));
            }
            Preset::KubectlApply => all.extend(self.file("apply", values)),
            Preset::KubectlReplace => all.extend(self.file("replace", values)),
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

    /// Returns the command of kubectl that applies the manifest of a row in the name of its writer: for a
    /// tool that has no option for one object. Where kubectl would also remove what the tool keeps, these are the
    /// instructions of the tool itself.
    pub fn by_kubectl(&self, row: &Row, content: CaseContent) -> Vec<Instruction> {
        let Way::Client(_, on_owned) = row.way else {
            return Vec::new();
        };
        let removed = self.removed_by_kubectl(row, on_owned);
        if !removed.is_empty() {
            let mut all = self.instructions_with(row, content);
            if let Some(first) = all.first_mut() {
                let warning = InstructionWarning::RemovedByKubectl(removed);
                first.warnings.push(warning);
            }
            return all;
        }
        let values = content == CaseContent::Whole;
        let sent = row.last_apply().filter(|_| self.sent_is_known(values));
        let mut instruction = self.server_side(row, on_owned, sent);
        if let Some(instruction) = &mut instruction {
            instruction.warnings.extend(self.warnings(row));
            instruction.warnings.extend(warning::record_of(row));
        }
        instruction.into_iter().collect()
    }

    /// Returns the instructions for a way out with the client that got the conflict. If other managers
    /// have to give something up, these include their steps; empty if those are made up.
    pub fn instructions_out(&self, out: &Remedy, content: CaseContent) -> Vec<Instruction> {
        let row = &out.row;
        let Way::Client(preset, _) = row.way else {
            return Vec::new();
        };
        let values = content == CaseContent::Whole;
        if matches!(out.kind, RemedyKind::Transfer | RemedyKind::Migrate) {
            return match content {
                CaseContent::MadeUp => Vec::new(),
                content => self.handover(out, preset, content),
            };
        }
        let mut all = self.instructions_with(row, content);
        if out.kind == RemedyKind::Agree && values {
            let mut lines = self.lines(preset, row, &out.manifest, content);
            if let (Some(lines), Some(first)) = (&mut lines, all.first_mut()) {
                lines.warnings.append(&mut first.warnings);
            }
            all.splice(0..0, lines);
        }
        all
    }

    /// Returns the command by which kubectl applies server-side as the writer of a row: with the body
    /// that was sent, or with a file.
    fn server_side(
        &self,
        row: &Row,
        on_owned: OnOwned,
        sent: Option<&Exchange>,
    ) -> Option<Instruction> {
        if let Some(sent) = sent {
            return Some(Instruction::of_call(&self.call(sent)));
        }
        let force = match on_owned {
            OnOwned::Force => " --force-conflicts",
            _ => "",
        };
        let manager = quote(&format!("--field-manager={}", row.writer));
        let namespace = self.namespace()?;
        let rest = format!(" --server-side{force}{namespace} {manager} -f MANIFEST.yaml");
        Some(Instruction::write("apply", &rest))
    }

    /// The option that names the namespace of the object. `None` if kubectl would take the namespace for
    /// an option.
    fn namespace(&self) -> Option<String> {
        let namespace = self.command_namespace();
        (!namespace.starts_with('-')).then(|| namespace_option(namespace))
    }

    /// Returns whether a command can have what was sent: that names the object.
    fn sent_is_known(&self, values: bool) -> bool {
        values && self.installed.made_up == MadeUpIdentity::default()
    }

    /// The namespace of the object for a command.
    fn command_namespace(&self) -> &str {
        self.installed.made_up.namespace(self.subject())
    }

    /// The name of the object for a command.
    fn command_name(&self) -> &str {
        self.installed.made_up.name(self.subject())
    }

    fn tool<'a>(&'a self, row: &'a Row) -> ToolInstruction<'a> {
        let said = self.manifest(row);
        let by = DeliveredBy::from_objects(&[&row.before, &said]);
        ToolInstruction {
            table: self,
            row,
            by,
            said,
        }
    }

    /// Returns the manifest of the change; `null` if the object was edited.
    fn manifest(&self, row: &Row) -> Value {
        match &self.change.content {
            ChangeContent::Manifest(said) => manifest::of_object(said, &row.before),
            ChangeContent::Edited(_) => Value::Null,
        }
    }

    /// A command of kubectl that reads the manifest.
    fn file(&self, command: &str, values: bool) -> Option<Instruction> {
        let ChangeContent::Manifest(said) = &self.change.content else {
            return None;
        };
        let yaml = to_yaml(&manifest::in_namespace(said, self.subject().namespace()));
        let namespace = self.namespace()?;
        if !self.sent_is_known(values) || yaml.len() > IN_COMMAND {
            let rest = format!("{namespace} -f MANIFEST.yaml");
            return Some(Instruction::write(command, &rest));
        }
        let end = delimiter(&yaml, "EOF");
        let rest = format!("{namespace} -f - <<'{end}'\n{yaml}{end}");
        Some(Instruction {
            has_values: true,
            ..Instruction::write(command, &rest)
        })
    }

    /// A command of kubectl that names the object.
    fn kubectl(&self, command: &str, flags: &str) -> Option<Instruction> {
        let subject = self.subject();
        let (namespace, name) = (self.command_namespace(), self.command_name());
        let object = kubectl_object(subject.resource(), namespace, name)?;
        let rest = format!(" {object}{flags}");
        Some(if flags.is_empty() {
            Instruction::command(format!("kubectl {command}{rest}\n"))
        } else {
            Instruction {
                has_values: true,
                ..Instruction::write(command, &rest)
            }
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
        let (made_up, subject) = (self.installed.made_up, self.subject());
        let target = made_up.target(subject, call.target);
        let body = made_up.body(subject, call.body);
        let edited = made_up.body(subject, &row.after_edits());
        (call.target, call.body) = (&target, &body);
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

    fn call<'a>(&'a self, exchange: &'a Exchange) -> ClientRequest<'a> {
        ClientRequest {
            method: exchange.method.as_str(),
            target: &exchange.target,
            content_type: &exchange.content_type,
            user_agent: &exchange.manager,
            body: &exchange.sent,
            resource: Some(self.subject().resource()),
            edits: None,
            attempts: 1,
            reads_again: false,
            migrates: false,
        }
    }
}

impl Row {
    /// The last request that applied a manifest, for good.
    fn last_apply(&self) -> Option<&Exchange> {
        self.requests.iter().rev().find(|it| applies(it))
    }

    /// Returns the object that was read, with the changes of the row's merge patch.
    fn after_edits(&self) -> Value {
        let mut object = (*self.before).clone();
        if let Some(sent) = self.requests.last() {
            optimist_apiserver::patch::merge(&mut object, &sent.sent);
        }
        object
    }
}

/// Returns whether a request applies a manifest, for good.
pub(super) fn applies(exchange: &Exchange) -> bool {
    exchange.content_type == Strategy::Apply.media_type()
        && exchange.field_manager() != OF_ANNOTATION
        && !exchange.target.contains("dryRun=")
}

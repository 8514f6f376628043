//! The command of kubectl that sent a request, where that was no `kubectl patch`.
//!
//! Source: `k8s.io/kubectl` v1.36, `pkg/cmd/util/editor/editoptions.go` `visitToPatch` and `addError`;
//! `pkg/cmd/apply/apply.go` `applyOneObject` and `warningNoLastAppliedConfigAnnotation`; `pkg/cmd/scale/scale.go`;
//! `pkg/cmd/label/label.go`.

use std::fmt;

use optimist_apiserver::apply::LAST_APPLIED;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::pointer::escape;
use optimist_client::{Preset, ValueChange, Write, last_applied, to_yaml};
use optimist_simulation::{Exchange, Step};
use serde_json::{Map, Value, json};

use super::call::ClientRequest;
use super::kubectl::{kubectl_object, namespace_option, validation_option};
use super::kubectl_output::{KubectlOutput, invalid, qualified};
use crate::shell::{delimiter, quote};

/// A command of kubectl, and what the terminal shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCommand {
    /// The command.
    pub command: String,
    /// The lines that the terminal shows; `None` if they are not known.
    pub output: Option<KubectlOutput>,
}

/// The command with which an actor that is `kubectl edit`, `apply`, `scale` or `label` sent a step, and what it prints.
/// `None` for a step of any other actor, and for one that the command cannot send.
pub fn kubectl_of_tool(call: &ClientRequest<'_>, step: &Step) -> Option<ToolCommand> {
    let (exchange, resource) = (step.exchange.as_ref()?, call.resource?);
    let preset = Preset::matching(step.write()?, resource)?;
    let request = call.read();
    let validate = || match validation_option(call, &request) {
        "" => String::new(),
        option => format!(" {option}"),
    };
    let path = &request.target;
    let object = kubectl_object(resource, path.namespace, path.name)?;
    let (command, output) = match preset {
        // Without a change `kubectl edit` sends nothing.
        Preset::KubectlEdit if is_empty(&exchange.sent) => return None,
        Preset::KubectlEdit => (
            format!("kubectl edit {object}{}\n", validate()),
            edited(call, exchange),
        ),
        Preset::KubectlApply if reads_otherwise(step) => return None,
        Preset::KubectlApply => {
            let manifest = manifest(exchange)?;
            let end = delimiter(&manifest, "EOF");
            let (namespace, validate) = (namespace_option(path.namespace), validate());
            let command =
                format!("kubectl apply{namespace}{validate} -f - <<'{end}'\n{manifest}{end}\n");
            (command, applied(step, call, exchange))
        }
        Preset::KubectlScale => {
            let replicas = exchange.sent.pointer("/spec/replicas")?;
            let replicas = quote(&format!("--replicas={replicas}"));
            let scaled = done(call, exchange, "scaled");
            (format!("kubectl scale {object} {replicas}\n"), scaled)
        }
        Preset::KubectlLabel => {
            let labels = LabelChanges::new(step, exchange)?;
            let labeled = labels.word().and_then(|word| done(call, exchange, word));
            (format!("kubectl label {object}{labels}\n"), labeled)
        }
        _ => return None,
    };
    let output = output.map(|mut output| {
        for warning in exchange.warnings.iter().rev() {
            output.insert_str(0, &format!("Warning: {warning}\n"));
        }
        KubectlOutput::message(output)
    });
    Some(ToolCommand { command, output })
}

/// The tool that sent a step by itself, where another command of kubectl sends the same request: `Helm`. `None` where
/// [`kubectl`](super::kubectl::kubectl) or [`kubectl_of_tool`] has the command that the actor is.
pub fn sent_by_tool(call: &ClientRequest<'_>, step: &Step) -> Option<&'static str> {
    let (write, resource) = (step.write()?, call.resource?);
    let is_sender = |preset: &Preset| {
        let usual = preset.write(resource);
        usual.is_some_and(|usual| {
            let (force, dry_run, is_strict) = (usual.force, usual.dry_run, usual.is_strict);
            usual
                == Write {
                    force,
                    dry_run,
                    is_strict,
                    ..write.clone()
                }
        })
    };
    let named = Preset::all().filter(|preset| preset.tool_name().is_some());
    let preset = named.into_iter().find(is_sender)?;
    let sends_alone = match preset {
        Preset::KubectlApply => reads_otherwise(step),
        other => !other.is_kubectl(),
    };
    preset.actor_name().filter(|_| sends_alone)
}

/// Returns whether the object had another version when the request came than the one from which the request was made. The
/// command reads the object just before it writes, so by then it would make another patch.
fn reads_otherwise(step: &Step) -> bool {
    step.read != Some(step.before)
}

fn is_empty(patch: &Value) -> bool {
    patch.as_object().is_some_and(|patch| patch.is_empty())
}

/// The labels that `kubectl label` sets and removes: ` app=web --overwrite`.
struct LabelChanges<'a> {
    changes: &'a Map<String, Value>,
    overwrites: bool,
}

impl<'a> LabelChanges<'a> {
    /// The changes of a merge patch. `None` if it changes anything else.
    fn new(step: &Step, exchange: &'a Exchange) -> Option<Self> {
        let alone = |object: &'a Value, member: &str| {
            let members = object.as_object().filter(|members| members.len() == 1)?;
            members.get(member)
        };
        let labels = alone(alone(&exchange.sent, "metadata")?, "labels")?;
        let changes = labels.as_object()?;
        let known = changes.iter().all(|(name, value)| {
            let is_value = value.is_null() || value.is_string();
            is_value && !name.starts_with('-')
        });
        let overwrites = step.edits.iter().any(|edit| {
            let value = edit.before.as_ref().zip(edit.after.as_ref());
            value.is_some_and(|(before, _)| before.is_string())
        });
        known.then_some(Self {
            changes,
            overwrites,
        })
    }

    /// The word for what it did (`k8s.io/kubectl/pkg/cmd/label/label.go updateDataChangeMsg`). `None` where the word
    /// depends on the length of the object.
    fn word(&self) -> Option<&'static str> {
        let removed = self
            .changes
            .values()
            .filter(|value| value.is_null())
            .count();
        match removed {
            0 => Some("labeled"),
            all if all == self.changes.len() && !self.overwrites => Some("unlabeled"),
            _ => None,
        }
    }
}

impl fmt::Display for LabelChanges<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.changes {
            let change = match value.as_str() {
                Some(value) => format!("{name}={value}"),
                None => format!("{name}-"),
            };
            write!(f, " {}", quote(&change))?;
        }
        f.write_str(if self.overwrites { " --overwrite" } else { "" })
    }
}

/// `deployment.apps/web edited`; `None` if the request was refused.
fn done(call: &ClientRequest<'_>, exchange: &Exchange, word: &str) -> Option<String> {
    let resource = call.resource.filter(|_| exchange.code < 400)?;
    let kind = qualified(&resource.kind, &resource.group_version.to_string());
    Some(format!("{kind}/{} {word}\n", exchange.received.name()))
}

fn edited(call: &ClientRequest<'_>, exchange: &Exchange) -> Option<String> {
    let resource = call.resource?;
    let kind = match &*resource.group_version.group {
        "" => resource.plural.to_string(),
        group => format!("{}.{group}", resource.plural),
    };
    let name = call.read().target.name;
    Some(match text(&exchange.received, "reason") {
        _ if exchange.code < 400 => return done(call, exchange, "edited"),
        "Invalid" => format!("error: {kind} {name:?} is invalid\n"),
        "NotFound" => format!("error: {kind} {name:?} could not be found on the server\n"),
        _ => {
            let message = exchange.message()?;
            format!("error: {kind} {name:?} could not be patched: {message}\n")
        }
    })
}

/// The file that was applied: kubectl notes it in the object.
fn manifest(exchange: &Exchange) -> Option<String> {
    let mut noted = [&exchange.sent, &exchange.received].into_iter();
    let mut manifest = noted.find_map(|object| {
        let manifest = last_applied(object);
        let is_there = manifest
            .as_object()
            .is_some_and(|members| !members.is_empty());
        is_there.then_some(manifest)
    })?;
    // kubectl notes an empty map where the file had none.
    let metadata = manifest.metadata_mut();
    if metadata
        .get("annotations")
        .is_some_and(|all| *all == json!({}))
    {
        metadata.remove("annotations");
    }
    Some(to_yaml(&manifest))
}

fn applied(step: &Step, call: &ClientRequest<'_>, exchange: &Exchange) -> Option<String> {
    if text(&exchange.received, "reason") == "Invalid" {
        return Some(invalid(&exchange.received));
    }
    let word = if is_empty(&exchange.sent) {
        "unchanged"
    } else {
        "configured"
    };
    let printed = done(call, exchange, word)?;
    let annotations = "/metadata/annotations";
    let adds = |change: &&ValueChange| {
        let after = change.after.as_ref().filter(|_| change.before.is_none());
        let in_map = after.is_some_and(|after| after.get(LAST_APPLIED).is_some());
        let alone = change.pointer == format!("{annotations}/{}", escape(LAST_APPLIED));
        (alone && after.is_some()) || (change.pointer == annotations && in_map)
    };
    if !step.meant_changes().iter().any(adds) {
        return Some(printed);
    }
    let object = format!("{}/{}", call.resource?.plural, exchange.received.name());
    Some(format!(
        "Warning: resource {object} is missing the {LAST_APPLIED} annotation which is required by kubectl apply. \
         kubectl apply should only be used on resources created declaratively by either kubectl create --save-config \
         or kubectl apply. The missing annotation will be patched automatically.\n{printed}"
    ))
}

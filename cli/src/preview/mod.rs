//! `optimist preview`: what a tool will do to each object.

mod junit;
mod prune;
mod sarif;
mod text;

use std::num::NonZero;
use std::thread::available_parallelism;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use optimist_apiserver::server::Release;
use optimist_client::Preset;
use optimist_diagnose::preview::{DeliveryTool, HandOverKind, Preview, PreviewInput, PreviewRow};
use optimist_diagnose::ways::ReleaseMethod;
use optimist_messages::preview as messages;
use optimist_report::{HandOverChoice, HandOverScript, preview_markdown};
use serde_json::{Value, json};

use crate::case_page::{self, CaseFile};
use crate::style::{Style, print};
use crate::{BadInput, CommandResult, input};

/// The upgrade to preview, and the form of the output.
#[derive(Debug, clap::Args)]
pub struct PreviewArguments {
    /// The objects in the cluster: `kubectl get … -o yaml --show-managed-fields`; - is the standard
    /// input.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    live: Vec<String>,
    /// The objects that the tool will write: rendered manifests; - is the standard input.
    #[arg(long, num_args = 1.., required = true, value_name = "FILE")]
    next: Vec<String>,
    /// The objects that the tool wrote the last time: the manifests of the installed release, or the objects in
    /// Terraform's state.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    before: Vec<String>,
    /// The tool that writes.
    #[arg(long = "as", value_name = "TOOL", value_parser = tools())]
    tool: Preset,
    /// The tool writes with its force. Helm 4, kubectl-server-side and Terraform take over what others own
    /// (--force-conflicts, force_conflicts). argocd (Force=true) and flux (spec.force) delete an object whose write is
    /// refused, and create it again. argocd-server-side takes over in any case. helm3 and kubectl take no --force.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    prune: prune::PruneOptions,
    /// The field manager, where the tool lets people choose it.
    #[arg(long, value_name = "NAME")]
    manager: Option<String>,
    /// The way in which Helm 4 applied the last release.
    #[arg(long, value_name = "WHERE")]
    last_release: Option<LastRelease>,
    /// The namespace of manifests that name none.
    #[arg(long, short)]
    namespace: Option<String>,
    /// The hand-over of the script: KIND for every object, or OBJECT=KIND, as in
    /// Deployment/shop/web=leave. Without it each object gets the first one that settles its conflict.
    /// Kinds: leave, migrate, take-over.
    #[arg(long, value_name = "[OBJECT=]KIND", value_parser = hand_over)]
    hand_over: Vec<(Option<String>, HandOverKind)>,
    /// The release of the server.
    #[arg(long, value_parser = input::release, default_value_t)]
    release: Release,
    /// The form of the output.
    #[arg(long, default_value = "text")]
    format: OutputFormat,
    #[command(flatten)]
    page: case_page::CasePageOptions,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LastRelease {
    /// In the client, as Helm 3 does.
    Client,
    /// Server-side.
    Server,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OutputFormat {
    /// For people.
    Text,
    Json,
    /// For a pull request.
    Markdown,
    /// For a CI that shows tests.
    Junit,
    /// For a CI that shows findings at their lines.
    Sarif,
    /// A script that hands over the fields in conflict. It runs dry runs; with --write it stores.
    Script,
}

/// Reads the name of a tool that writes manifests.
fn tools() -> impl TypedValueParser<Value = Preset> {
    let names = Preset::DELIVERY.iter().map(|(name, preset)| {
        let name = PossibleValue::new(*name);
        match preset {
            Preset::KubectlApply => name.help("kubectl apply"),
            Preset::KubectlApplyServerSide => name.help("kubectl apply --server-side"),
            Preset::ArgoCdClientSide => name.help("Argo CD"),
            Preset::ArgoCdServerSide => name.help("Argo CD with ServerSideApply=true"),
            _ => name,
        }
    });
    PossibleValuesParser::new(names).try_map(|name| {
        let mut known = Preset::DELIVERY.into_iter();
        let known = known.find(|(known, _)| *known == name);
        known.map(|(_, preset)| preset).ok_or(name)
    })
}

/// Prints a preview. Returns whether nothing is refused.
pub fn run(arguments: PreviewArguments) -> CommandResult {
    let (tool, options) = tool(&arguments)?;
    let files = [&arguments.live, &arguments.next, &arguments.before];
    if files
        .iter()
        .flat_map(|it| it.iter())
        .filter(|it| *it == "-")
        .count()
        > 1
    {
        return Err(BadInput("the standard input can be read once".to_owned()));
    }
    let earlier = match arguments.before.as_slice() {
        [] => None,
        files => {
            let placed = input::placed_manifests(files)?.into_iter();
            Some(placed.map(|it| it.object).collect())
        }
    };
    let placed = input::placed_manifests(&arguments.next)?;
    let input = PreviewInput {
        left_out: Vec::new(),
        live: input::objects(&arguments.live)?,
        next: placed.iter().map(|it| it.object.clone()).collect(),
        earlier,
        tool,
        namespace: arguments.namespace.clone(),
        release: arguments.release,
    };
    if input.next.is_empty() {
        return Err(BadInput("--next has no object".to_owned()));
    }
    arguments.page.write(|| case_of(&input))?;
    let threads = available_parallelism().map_or(1, NonZero::get);
    let preview = Preview::on_threads(input, threads);
    let preset = arguments.tool;
    match arguments.format {
        OutputFormat::Text => print(&text::table(
            &preview,
            (preset, options),
            &Style::of_output(),
        )),
        OutputFormat::Json => {
            let json = serde_json::to_string_pretty(&preview);
            print(&json.map_err(|error| BadInput(error.to_string()))?);
            print("\n");
        }
        OutputFormat::Markdown => print(&preview_markdown(&preview, preset)),
        OutputFormat::Junit => print(&junit::document(&preview)),
        OutputFormat::Sarif => print(&sarif::document(&preview, &placed)),
        OutputFormat::Script => script(&preview, &arguments)?,
    }
    Ok(preview.is_whole())
}

/// Describes a row: the reason for its refusal, its troubles, what is done later, and its fields, a line each.
fn description(row: &PreviewRow) -> String {
    let message = Some(row.message.clone()).filter(|it| !it.is_empty());
    let troubles = messages::troubles(row).into_iter();
    let fields = messages::fields(row).into_iter();
    let fields = fields.map(|it| format!("{}: {}", it.field, messages::owned_change(it)));
    let said = message.into_iter().chain(troubles);
    let all: Vec<String> = said
        .chain(messages::later(row))
        .chain(row.hook.as_ref().map(messages::hook))
        .chain(fields)
        .collect();
    all.join("\n")
}

/// `leave`, or `Deployment/shop/web=leave`.
fn hand_over(text: &str) -> Result<(Option<String>, HandOverKind), String> {
    let (object, kind) = match text.rsplit_once('=') {
        Some((object, kind)) => (Some(object.to_owned()), kind),
        None => (None, text),
    };
    let kind = match kind {
        "leave" => HandOverKind::Leave,
        "migrate" => HandOverKind::Migrate,
        "take-over" => HandOverKind::TakeOver,
        _ => return Err(format!("{kind} is none of leave, migrate, take-over")),
    };
    Ok((object, kind))
}

/// Prints the script, and on the standard error which objects it does not hand over.
fn script(preview: &Preview, arguments: &PreviewArguments) -> Result<(), BadInput> {
    let mut choice = HandOverChoice::default();
    for (object, kind) in &arguments.hand_over {
        match object {
            None => choice.for_all = Some(*kind),
            Some(object) => {
                let known = preview.rows.iter();
                let mut known = known.filter(|row| row.object.to_string() == *object);
                if known.all(|row| row.hand_overs.is_empty()) {
                    return Err(BadInput(format!("--hand-over: {object} has no conflict")));
                }
                choice.for_object.push((object.clone(), *kind));
            }
        }
    }
    let Some(script) = HandOverScript::new(preview, &choice) else {
        eprintln!("optimist: no object has a conflict of field managers");
        return Ok(());
    };
    if !script.left.is_empty() {
        eprintln!("optimist: {}", script.says_left());
    }
    print(&script.text);
    Ok(())
}

/// The tool with its options, and its name. An option that is not run for the tool is refused.
fn tool(arguments: &PreviewArguments) -> Result<(DeliveryTool, &'static str), BadInput> {
    let preset = arguments.tool;
    let mut names = Preset::DELIVERY.into_iter();
    let name = names.find(|(_, known)| *known == preset);
    let name = name.map_or("", |(name, _)| name);
    let refuse = |option: &str| Err(BadInput(format!("--as {name} takes no --{option}")));
    let prune = arguments
        .prune
        .pruning(preset, arguments.namespace.as_deref())?;
    let Some(prune) = prune else {
        return refuse("prune");
    };
    if arguments.force && !preset.takes_force() {
        return refuse("force");
    }
    if arguments.manager.is_some() && !preset.manager_is_chosen() {
        return refuse("manager");
    }
    if arguments.last_release.is_some() && preset != Preset::Helm4 {
        return refuse("last-release");
    }
    let tool = DeliveryTool {
        preset,
        force: arguments.force,
        prune,
        manager: arguments.manager.clone(),
        last_release: arguments.last_release.map(|it| match it {
            LastRelease::Client => ReleaseMethod::ClientSide,
            LastRelease::Server => ReleaseMethod::ServerSide,
        }),
    };
    Ok((tool, name))
}

/// The case of the page: it shows what the tool does without options.
fn case_of(input: &PreviewInput) -> CaseFile {
    let list = |objects: &[Value]| {
        json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()
    };
    // The page takes the first manifest of an object for the earlier one.
    let earlier = input.earlier.as_deref().unwrap_or_default();
    let all = [&input.live[..], earlier, &input.next[..]];
    let all = all.into_iter().filter(|objects| !objects.is_empty());
    CaseFile {
        title: "optimist preview",
        texts: all.map(list).collect(),
        preset: input.tool.preset,
        manager: input.tool.manager.clone(),
    }
}

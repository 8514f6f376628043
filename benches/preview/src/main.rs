//! Measures a preview of many large objects: without a conflict, with a tenth in conflict, and with
//! each object in conflict; for Helm 4, and for kubectl without a conflict.
//! Runs on all processors; with a number after the name of a case, on so many threads.
//! `cargo run --release --manifest-path benches/preview/Cargo.toml -- 300`

mod chart;

use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Instant;

use optimist_apiserver::server::Release;
use optimist_client::Preset;
use optimist_diagnose::preview::{DeliveryTool, Preview, PreviewInput, PreviewOutcome};
use optimist_diagnose::ways::ReleaseMethod;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let objects = arguments
        .next()
        .and_then(|it| it.parse().ok())
        .unwrap_or(300);
    let only = arguments.next();
    let threads = arguments.next().and_then(|it| it.parse().ok());
    let threads = threads.unwrap_or_else(|| available_parallelism().map_or(1, NonZero::get));
    for (name, preset, in_conflict) in [
        ("helm4, none in conflict", Preset::Helm4, 0),
        ("helm4, a tenth in conflict", Preset::Helm4, objects / 10),
        ("helm4, all in conflict", Preset::Helm4, objects),
        ("kubectl, none in conflict", Preset::KubectlApply, 0),
    ] {
        if only
            .as_ref()
            .is_some_and(|only| !name.contains(only.as_str()))
        {
            continue;
        }
        let manager = match preset {
            Preset::KubectlApply => "kubectl-client-side-apply",
            _ => "helm",
        };
        let (live, next) = chart::live_and_next(objects, in_conflict, manager);
        let bytes: usize = live.iter().map(|it| it.to_string().len()).sum();
        let input = PreviewInput {
            live,
            next,
            earlier: None,
            left_out: Vec::new(),
            tool: DeliveryTool {
                last_release: (preset == Preset::Helm4).then_some(ReleaseMethod::ServerSide),
                ..DeliveryTool::new(preset)
            },
            namespace: None,
            release: Release::default(),
        };
        let begin = Instant::now();
        let preview = Preview::on_threads(input, threads);
        let seconds = begin.elapsed().as_secs_f64();
        let refused = preview.outcomes.get(&PreviewOutcome::Conflict).copied();
        println!(
            "{name}: {objects} objects, {:.1} kB each, {} refused, {seconds:.2} s",
            bytes as f64 / objects as f64 / 1000.0,
            refused.unwrap_or_default(),
        );
    }
}

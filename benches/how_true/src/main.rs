//! The page *How true*: the recordings, replayed against the core and against every test server that runs here.
//!
//! `cargo run --release --manifest-path benches/how_true/Cargo.toml -- docs/how-true.md tests/conformance`
#![forbid(unsafe_code)]

mod echo;
mod fake;

use std::process::ExitCode;

use optimist_recordings::replay::replay_against;
use optimist_recordings::subject::ObjectRef;
use optimist_recordings::{Exceptions, Outcome, Recording, Report, load, panics, replay, score};

const USAGE: &str =
    "how-true PAGE RECORDINGS: replays the recordings and writes the scores into the page";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [page, recordings] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(page, recordings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(path: &str, recordings: &str) -> Result<(), String> {
    let recordings = load(recordings).map_err(|it| it.to_string())?;
    panics::remember();
    let core: Vec<Report> = recordings.iter().map(replay).collect();
    let fake: Vec<Report> = recordings
        .iter()
        .map(|it| replayed(it, fake::Fake::new))
        .collect();
    let echo: Vec<Report> = recordings
        .iter()
        .map(|it| replayed(it, || Ok(echo::Echo::default())))
        .collect();
    let pairs =
        |reports| -> Vec<(&Recording, &Report)> { recordings.iter().zip(reports).collect() };
    let (core, fake, echo) = (pairs(&core), pairs(&fake), pairs(&echo));
    let servers: [(&str, &[_]); 3] = [
        (score::CORE, &core),
        (fake::NAME, &fake),
        (echo::NAME, &echo),
    ];
    for (name, replayed) in &servers {
        eprintln!("{name}: {}", score::sums(replayed));
    }
    let page = std::fs::read_to_string(path).map_err(|it| format!("{path}: {it}"))?;
    let exceptions = Exceptions::embedded();
    let page = score::set_in(&page, &score::markdown(&core, &exceptions));
    let page = page.and_then(|page| score::set_servers_in(&page, &score::servers(&servers)));
    let page = page.ok_or_else(|| format!("{path} has no place for a score"))?;
    std::fs::write(path, page).map_err(|it| format!("{path}: {it}"))
}

/// Replays a recording against a new server. Only the order of the members of an object is not compared: a client
/// does not depend on it.
fn replayed<S: ObjectRef>(recording: &Recording, server: impl Fn() -> Result<S, String>) -> Report {
    let needs = fake::lacks(recording);
    if needs.is_empty() {
        let mut recording = recording.clone();
        for step in &mut recording.steps {
            step.expected.written = None;
        }
        match server() {
            Ok(server) => return replay_against(&recording, server, &Exceptions::default()),
            Err(error) => eprintln!("{}: {error}", recording.name),
        }
    }
    Report {
        name: recording.name.clone(),
        outcome: Outcome::Skipped { needs },
    }
}

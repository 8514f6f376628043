//! `replay [OPTIONS] PATH...`: replays recordings against the core and reports the differences.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use optimist_recordings::{
    Exceptions, LoadError, Outcome, Recording, Remote, Report, cause, display, known, load, panics,
    replay_remotely, replay_with, score,
};

const USAGE: &str = "\
Replays recordings of a Kubernetes API server against the core and compares every answer.

Usage: replay [OPTIONS] PATH...

PATH is a scenario (.json), a file of sequences (.jsonl, .jsonl.gz), or a folder of them.

Options:
  --kind KIND        only sequences about this kind of object
  --filter TEXT      only recordings with this text in their name
  --exceptions FILE  known differences, instead of those of this repository
  --verbose          show the first failing step of a recording in full
  --by-cause         group the failures by their first difference
  --table            count the passed of each file instead of naming every recording
  --server URL       replay against the server at this address, not against the core
  --score            print how true the core is, per kind and verb, as Markdown
  --score-in FILE    write it into this page, in the place of the score that the page has
  --update           write down which recordings fail, in tests/conformance/failing
  --help             show this text
";

#[derive(Default)]
struct Options {
    paths: Vec<PathBuf>,
    kind: Option<String>,
    filter: Option<String>,
    exceptions: Option<PathBuf>,
    verbose: bool,
    by_cause: bool,
    table: bool,
    score: bool,
    score_in: Option<PathBuf>,
    server: Option<String>,
    update: bool,
    help: bool,
}

impl Options {
    fn from_arguments() -> Result<Self, lexopt::Error> {
        use lexopt::prelude::*;
        let mut options = Options::default();
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("kind") => options.kind = Some(parser.value()?.string()?),
                Long("filter") => options.filter = Some(parser.value()?.string()?),
                Long("exceptions") => options.exceptions = Some(parser.value()?.into()),
                Short('v') | Long("verbose") => options.verbose = true,
                Long("by-cause") => options.by_cause = true,
                Long("table") => options.table = true,
                Long("score") => options.score = true,
                Long("score-in") => options.score_in = Some(parser.value()?.into()),
                Long("server") => options.server = Some(parser.value()?.string()?),
                Long("update") => options.update = true,
                Short('h') | Long("help") => options.help = true,
                Value(path) => options.paths.push(path.into()),
                other => return Err(other.unexpected()),
            }
        }
        if options.paths.is_empty() && !options.help {
            return Err("a PATH is needed; see --help".into());
        }
        Ok(options)
    }

    fn selects(&self, recording: &Recording) -> bool {
        let kind = self.kind.is_none() || self.kind == recording.kind;
        kind && self
            .filter
            .as_ref()
            .is_none_or(|text| recording.name.contains(text))
    }
}

fn main() -> ExitCode {
    let code = Options::from_arguments()
        .map_err(Into::into)
        .and_then(|options| run(&options));
    code.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    })
}

/// For each file, the number of passed recordings and of all recordings.
fn counted<'a>(replayed: &[(&'a Recording, &Report)]) -> BTreeMap<&'a str, (usize, usize)> {
    let mut counts = BTreeMap::new();
    for (recording, report) in replayed {
        // Scenarios are one to a file.
        let corpus = if recording.kind.is_some() {
            recording.corpus.as_str()
        } else {
            "scenarios"
        };
        let (passed, all) = counts.entry(corpus).or_insert((0, 0));
        *passed += usize::from(matches!(report.outcome, Outcome::Passed { .. }));
        *all += 1;
    }
    counts
}

fn run(options: &Options) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut out = io::stdout().lock();
    if options.help {
        out.write_all(USAGE.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let exceptions = match &options.exceptions {
        Some(path) => Exceptions::read(path).map_err(|e| format!("{}: {e}", path.display()))?,
        None => Exceptions::embedded(),
    };
    let files: Vec<Vec<Recording>> = options
        .paths
        .iter()
        .map(load)
        .collect::<Result<_, LoadError>>()?;

    let mut remote = options.server.as_deref().map(Remote::connect).transpose()?;
    panics::remember();
    let mut reports = Vec::new();
    let mut recordings = Vec::new();
    for recording in files
        .iter()
        .flatten()
        .filter(|recording| options.selects(recording))
    {
        let report = match &mut remote {
            Some(remote) => replay_remotely(recording, remote, &exceptions),
            None => replay_with(recording, &exceptions),
        };
        if !options.table && !options.score && options.score_in.is_none() {
            writeln!(out, "{}", display::line(&report))?;
        }
        if options.verbose
            && let Some(step) = display::whole_step(&report)
        {
            writeln!(out, "{step}")?;
        }
        recordings.push(recording);
        reports.push(report);
    }
    let replayed: Vec<_> = recordings.into_iter().zip(&reports).collect();
    if options.score {
        write!(out, "{}", score::markdown(&replayed, &exceptions))?;
    }
    if options.score || options.score_in.is_some() {
        eprintln!("{}", score::sums(&replayed));
    }
    if let Some(path) = &options.score_in {
        let page = std::fs::read_to_string(path)?;
        let page = score::set_in(&page, &score::markdown(&replayed, &exceptions));
        let page = page.ok_or_else(|| format!("{} has no place for a score", path.display()))?;
        std::fs::write(path, page)?;
    }
    if options.table {
        for (corpus, (passed, all)) in counted(&replayed) {
            writeln!(out, "{corpus:24} {passed:4} of {all:4}")?;
        }
    }
    if options.update {
        known::update(&known::folder(), &replayed)?;
    }
    if options.by_cause {
        writeln!(out, "\n{}", cause::summary(&reports))?;
    }
    let count = |matching: fn(&Outcome) -> bool| {
        reports
            .iter()
            .filter(|report| matching(&report.outcome))
            .count()
    };
    let failed = count(|outcome| matches!(outcome, Outcome::Failed(_)));
    // The page of the score is all that goes to its file.
    let mut counts: Box<dyn Write> = match options.score {
        true => Box::new(io::stderr()),
        false => Box::new(out),
    };
    writeln!(
        counts,
        "{} passed, {failed} failed, {} skipped",
        count(|outcome| matches!(outcome, Outcome::Passed { .. })),
        count(|outcome| matches!(outcome, Outcome::Skipped { .. })),
    )?;
    Ok(if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

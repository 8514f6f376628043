//! Every kubectl command that the page can print, parsed by the real kubectl and run against the core
//! behind a socket: the instructions and ways out of Diagnose, Play's kubectl tab, the scripts that a
//! history is exported as, and the commands in sentences.
//!
//! It ends with the number of commands. Where no kubectl is installed it says so, and the number is 0.
//! Of commands that differ in names and values alone, one for each kind of object is run. Every one:
//!
//! ```sh
//! cargo test --manifest-path clients/Cargo.toml -p optimist-kubectl-commands -- --all
//! ```

mod diagnose;
mod play;
mod run;
mod sentences;
mod served;

use std::collections::BTreeSet;
use std::process::ExitCode;

use run::{Outcome, Tried};

fn main() -> ExitCode {
    let Some(version) = run::kubectl_version() else {
        println!(
            "counted: kubectl commands: 0 parsed and run, because kubectl is not installed here"
        );
        return ExitCode::SUCCESS;
    };
    let filter = std::env::args().skip(1).find(|it| !it.starts_with('-'));
    let mut tried = sentences::all();
    tried.extend(diagnose::all());
    tried.extend(play::all());
    let found = tried.len();
    if let Some(filter) = &filter {
        tried.retain(|one| one.name.contains(filter.as_str()));
    }
    if !std::env::args().any(|it| it == "--all") {
        let mut known = BTreeSet::new();
        tried.retain(|one| known.insert(one.form()));
    }
    let total = tried.len();
    let commands: usize = tried.iter().map(Tried::commands).sum();
    let failed: Vec<Outcome> = run::all(tried);
    println!(
        "counted: kubectl commands: {commands} parsed and run in {total} of {found} texts by {version}, {} texts \
         do not do what the page says",
        failed.len()
    );
    let enough = filter.is_some() || commands > 200;
    if failed.is_empty() && enough {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

//! `optimist`: what an upgrade will do to a cluster, who owns which field, and what an error means.
//!
//! It reads files and the standard input and sends nothing: everything is run on the API server of this
//! workspace. `optimist serve` is that API server behind a socket of this machine. Exit codes: 0 if there is nothing to do about, 1 if something is refused or false, 2 if the
//! input is bad. Values that look private are masked.
#![forbid(unsafe_code)]

mod case_page;
mod explain;
mod input;
mod lesson;
mod owners;
mod preview;
mod serve;
mod style;

use std::fmt;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{CommandFactory, Parser, Subcommand};
use optimist_apiserver::environment::Timestamp;

/// Shows the effects of an upgrade on a cluster, the owners of fields and the meaning of an error,
/// and serves an API server for tests.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Says what a tool will do to each object: refused, changed, overwritten, kept, created, deleted.
    Preview(preview::PreviewArguments),
    /// Says who owns each line of an object, as `kubectl get -o yaml --show-managed-fields` prints it.
    Owners(owners::OwnersArguments),
    /// Says what an error of kubectl, Helm, Argo CD, Flux or Terraform means, from the standard input.
    Explain(explain::ExplainArguments),
    /// Serves a Kubernetes API for tests and teaching, without a cluster.
    ///
    /// It has most admission plugins that are on by default. ServiceAccount and the plugins of webhooks do not run: a pod
    /// needs no service account and gets none, and no webhook is called.
    Serve(serve::ServeArguments),
    /// Runs lessons and reports claims that are false.
    Lesson(lesson::LessonArguments),
    /// Prints the completions of a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Prints the man page: of the program, or of one of its commands.
    Man {
        /// The command.
        command: Option<String>,
    },
}

/// Input that cannot be read: the file, the line and what is wrong.
#[derive(Debug)]
pub struct BadInput(String);

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The result of a command: `true` if it found nothing wrong.
pub type CommandResult = Result<bool, BadInput>;

/// The time of this machine.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Timestamp {
        seconds: since.unwrap_or_default().as_secs(),
    }
}

/// Prints a man page.
fn man(command: Option<&str>) -> CommandResult {
    let mut program = Arguments::command();
    program.build();
    let shown = match command {
        None => program,
        Some(name) => {
            let found = program.find_subcommand(name).cloned();
            let found = found.ok_or_else(|| BadInput(format!("there is no command {name}")))?;
            found.display_name(format!("optimist-{name}"))
        }
    };
    let mut page = Vec::new();
    let written = clap_mangen::Man::new(shown).render(&mut page);
    written.map_err(|error| BadInput(error.to_string()))?;
    style::print(&String::from_utf8_lossy(&page));
    Ok(true)
}

fn main() -> ExitCode {
    let answer = match Arguments::parse().command {
        Command::Preview(arguments) => preview::run(arguments),
        Command::Owners(arguments) => owners::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Lesson(arguments) => lesson::run(&arguments),
        Command::Completions { shell } => {
            let mut completions = Vec::new();
            let mut command = Arguments::command();
            clap_complete::generate(shell, &mut command, "optimist", &mut completions);
            style::print(&String::from_utf8_lossy(&completions));
            Ok(true)
        }
        Command::Man { command } => man(command.as_deref()),
    };
    match answer {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("optimist: {error}");
            ExitCode::from(2)
        }
    }
}

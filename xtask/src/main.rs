//! `cargo xtask`: brings the tools, then serves, tests, builds or measures Optimist.
//!
//! Every command starts at once when nothing is missing, and touches the network only to
//! bring something that is. A failure is one line that names the step and what to try.

#![forbid(unsafe_code)]

mod browser;
mod checks;
mod failure;
mod html;
mod kinds;
mod lesson;
mod offline;
mod progress;
mod saved_page;
mod schedule;
mod script;
mod site;
mod system;
mod toolchain;
mod tools;
mod workspace;

use std::process::ExitCode;

use checks::Check;
use failure::{Failure, StageResult};
use workspace::Workspace;

const USAGE: &str = "\
cargo xtask COMMAND

  play [--port N] [--release]   serve the page, rebuilt on every change (port 8080)
  test [CHECK...]               run every check at once, or only those that are named: lint, native,
                                speed, browser, page, or one from the table that ends a run
  dist                          build the release site into dist/
  lesson FILE...                run lessons, and report false claims
  kinds STAGING                 make the tables of built-in kinds and of their protobuf messages from
                                staging/src/k8s.io of a checkout of Kubernetes
  size                          compare the size of dist/ with its budget
  setup                         only install the tools for the commands above

Tools are installed in $OPTIMIST_TOOLS, or by default in optimist/ in the user's cache folder.
Set CHROME and CHROMEDRIVER to a browser and its driver if they are not on PATH.";

/// The command line.
#[derive(Debug, PartialEq)]
enum Subcommand {
    Help,
    Play { port: u16, release: bool },
    Test(Vec<&'static Check>),
    Dist,
    Lesson(Vec<String>),
    Kinds { staging: String },
    Size,
    Setup,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match parse(&arguments).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Subcommand) -> StageResult<()> {
    let workspace = Workspace::find()?;
    match command {
        Subcommand::Help => println!("{USAGE}"),
        Subcommand::Play { port, release } => site::play(&workspace, port, release)?,
        Subcommand::Test(chosen) => schedule::run(&workspace, &chosen)?,
        Subcommand::Dist => site::dist(&workspace)?,
        Subcommand::Lesson(files) => lesson::check(&workspace, &files)?,
        Subcommand::Kinds { staging } => kinds::make(&workspace, &staging)?,
        Subcommand::Size => site::size(&workspace)?,
        Subcommand::Setup => {
            let wasm = toolchain::wasm(&workspace)?;
            tools::for_release(&workspace, wasm)?;
            browser::find_or_install(&workspace)?;
            browser::find_or_install_firefox(&workspace)?;
        }
    }
    Ok(())
}

fn parse(arguments: &[String]) -> StageResult<Subcommand> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some((command, rest)) = arguments.split_first() else {
        return Ok(Subcommand::Help);
    };
    let asks_for_help = |argument: &&str| matches!(*argument, "-h" | "--help");
    if *command == "help" || arguments.iter().any(asks_for_help) {
        return Ok(Subcommand::Help);
    }
    let nothing_more = |parsed: Subcommand| match rest.first() {
        Some(argument) => Err(unexpected(command, argument)),
        None => Ok(parsed),
    };
    match *command {
        "play" => parse_play(rest),
        "test" => match checks::named(rest) {
            Ok(checks) => Ok(Subcommand::Test(checks)),
            Err(name) => Err(unexpected(command, name)),
        },
        "lesson" => parse_lesson(rest),
        "kinds" => parse_kinds(rest),
        "dist" => nothing_more(Subcommand::Dist),
        "size" => nothing_more(Subcommand::Size),
        "setup" => nothing_more(Subcommand::Setup),
        other => Err(Failure::new(
            format!("there is no command `{other}`"),
            "cargo xtask help",
        )),
    }
}

fn unexpected(command: &str, argument: &str) -> Failure {
    Failure::new(
        format!("{command} does not take `{argument}`"),
        "cargo xtask help",
    )
}

fn parse_play(arguments: &[&str]) -> StageResult<Subcommand> {
    let (mut port, mut release) = (8080, false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            "--release" => release = true,
            "--port" => {
                let number = rest.next().and_then(|number| number.parse().ok());
                port = number.ok_or_else(|| {
                    Failure::new(
                        "--port needs a number up to 65535",
                        "cargo xtask play --port 8081",
                    )
                })?;
            }
            other => return Err(unexpected("play", other)),
        }
    }
    Ok(Subcommand::Play { port, release })
}

fn parse_lesson(files: &[&str]) -> StageResult<Subcommand> {
    if files.is_empty() {
        return Err(Failure::new(
            "lesson needs a file",
            "cargo xtask lesson lessons/01-the-lost-update.yaml",
        ));
    }
    let files = files.iter().map(|file| (*file).to_owned());
    Ok(Subcommand::Lesson(files.collect()))
}

fn parse_kinds(folders: &[&str]) -> StageResult<Subcommand> {
    match folders {
        [staging] => Ok(Subcommand::Kinds {
            staging: (*staging).to_owned(),
        }),
        _ => Err(Failure::new("kinds needs a folder", kinds::USAGE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Subcommand, String> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        parse(&words).map_err(|failure| failure.to_string())
    }

    #[test]
    fn play_takes_a_port_and_release() {
        assert_eq!(
            parsed("play --release --port 9000"),
            Ok(Subcommand::Play {
                port: 9000,
                release: true
            })
        );
        assert!(parsed("play --port 99999").unwrap_err().contains("--port"));
    }

    #[test]
    fn test_takes_stages_and_checks() {
        let chosen = |line| -> Vec<&str> {
            match parsed(line) {
                Ok(Subcommand::Test(checks)) => checks.iter().map(|check| check.name).collect(),
                other => panic!("{other:?}"),
            }
        };
        let all: Vec<&str> = checks::CHECKS.iter().map(|check| check.name).collect();
        assert_eq!(chosen("test"), all);
        let native = ["native-tests", "client-tests", "program-packages"];
        assert_eq!(chosen("test native"), native);
        assert_eq!(chosen("test clippy format"), ["format", "clippy"]);
        assert_eq!(
            parsed("test paeg"),
            Err("test does not take `paeg` -- try: cargo xtask help".to_owned())
        );
    }

    #[test]
    fn help_is_there_for_every_command() {
        for line in ["", "help", "--help", "test -h", "play --port 1 --help"] {
            assert_eq!(parsed(line), Ok(Subcommand::Help), "{line}");
        }
    }

    #[test]
    fn lesson_takes_files_and_needs_one() {
        assert_eq!(
            parsed("lesson a.yaml b.yaml"),
            Ok(Subcommand::Lesson(vec!["a.yaml".into(), "b.yaml".into()]))
        );
        assert!(parsed("lesson").unwrap_err().contains("needs a file"));
    }

    #[test]
    fn anything_unknown_is_named() {
        assert!(parsed("pla").unwrap_err().contains("`pla`"));
        assert!(parsed("dist now").unwrap_err().contains("`now`"));
    }
}

//! `cargo xtask`: brings the tools, then serves, tests, builds or measures Optimist.
//!
//! Every command starts at once when nothing is missing, and touches the network only to
//! bring something that is. A failure is one line that names the step and what to try.

#![forbid(unsafe_code)]

mod browser;
mod failure;
mod html;
mod kinds;
mod lesson;
mod progress;
mod site;
mod size;
mod stages;
mod system;
mod toolchain;
mod tools;
mod workspace;

use std::process::ExitCode;

use failure::{Failure, StageResult};
use stages::Stage;
use workspace::Workspace;

const USAGE: &str = "\
cargo xtask COMMAND

  play [--port N] [--release]   serve the page, rebuilt on every change (port 8080)
  test [STAGE...]               run every check, or only: lint, native, browser, page
  dist                          build the release site into dist/
  lesson FILE...                run lessons, and report false claims
  kinds API APIMACHINERY        make the table of built-in kinds from checkouts of k8s.io/api and
                                k8s.io/apimachinery
  size                          compare the size of dist/ with its budget
  setup                         only install the tools for the commands above

Tools are installed in $OPTIMIST_TOOLS, or by default in optimist/ in the user's cache folder.
Set CHROME and CHROMEDRIVER to a browser and its driver if they are not on PATH.";

/// What the command line asks for.
#[derive(Debug, PartialEq)]
enum Command {
    Help,
    Play { port: u16, release: bool },
    Test(Vec<Stage>),
    Dist,
    Lesson(Vec<String>),
    Kinds { api: String, machinery: String },
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

fn run(command: Command) -> StageResult<()> {
    let workspace = Workspace::find()?;
    match command {
        Command::Help => println!("{USAGE}"),
        Command::Play { port, release } => site::play(&workspace, port, release)?,
        Command::Test(chosen) => stages::run(&workspace, &chosen)?,
        Command::Dist => site::dist(&workspace)?,
        Command::Lesson(files) => lesson::check(&workspace, &files)?,
        Command::Kinds { api, machinery } => kinds::make(&workspace, &api, &machinery)?,
        Command::Size => size::report(&workspace)?,
        Command::Setup => {
            let wasm = toolchain::wasm(&workspace)?;
            tools::for_release(&workspace, wasm)?;
            browser::find_or_install(&workspace)?;
        }
    }
    Ok(())
}

fn parse(arguments: &[String]) -> StageResult<Command> {
    let mut rest = arguments.iter().map(String::as_str);
    let command = match rest.next() {
        None | Some("help" | "-h" | "--help") => return Ok(Command::Help),
        Some(command) => command,
    };
    let unexpected = |argument: &str| {
        Failure::new(
            format!("{command} does not take `{argument}`"),
            "cargo xtask help",
        )
    };
    match command {
        "play" => {
            let (mut port, mut release) = (8080, false);
            while let Some(argument) = rest.next() {
                match argument {
                    "--release" => release = true,
                    "--port" => {
                        port = rest
                            .next()
                            .and_then(|number| number.parse().ok())
                            .ok_or_else(|| {
                                Failure::new(
                                    "--port needs a number up to 65535",
                                    "cargo xtask play --port 8081",
                                )
                            })?;
                    }
                    "-h" | "--help" => return Ok(Command::Help),
                    other => return Err(unexpected(other)),
                }
            }
            Ok(Command::Play { port, release })
        }
        "test" => {
            let mut chosen = Vec::new();
            for argument in rest {
                if matches!(argument, "-h" | "--help") {
                    return Ok(Command::Help);
                }
                chosen.push(Stage::named(argument).ok_or_else(|| unexpected(argument))?);
            }
            Ok(Command::Test(chosen))
        }
        "lesson" => {
            let files: Vec<String> = rest.map(str::to_owned).collect();
            match files.first().map(String::as_str) {
                Some("-h" | "--help") => Ok(Command::Help),
                Some(_) => Ok(Command::Lesson(files)),
                None => Err(Failure::new(
                    "lesson needs a file",
                    "cargo xtask lesson lessons/01-the-lost-update.yaml",
                )),
            }
        }
        "kinds" => match (rest.next(), rest.next(), rest.next()) {
            (Some(api), Some(machinery), None) => Ok(Command::Kinds {
                api: api.to_owned(),
                machinery: machinery.to_owned(),
            }),
            _ => Err(Failure::new(
                "kinds needs two folders",
                "cargo xtask kinds ../api ../apimachinery",
            )),
        },
        "dist" | "size" | "setup" => match rest.next() {
            Some("-h" | "--help") => Ok(Command::Help),
            Some(argument) => Err(unexpected(argument)),
            None if command == "dist" => Ok(Command::Dist),
            None if command == "size" => Ok(Command::Size),
            None => Ok(Command::Setup),
        },
        other => Err(Failure::new(
            format!("there is no command `{other}`"),
            "cargo xtask help",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        parse(&words).map_err(|failure| failure.to_string())
    }

    #[test]
    fn play_takes_a_port_and_release() {
        assert_eq!(
            parsed("play --release --port 9000"),
            Ok(Command::Play {
                port: 9000,
                release: true
            })
        );
        assert!(parsed("play --port 99999").unwrap_err().contains("--port"));
    }

    #[test]
    fn test_takes_any_stages_in_any_order() {
        assert_eq!(parsed("test"), Ok(Command::Test(vec![])));
        assert_eq!(
            parsed("test page lint"),
            Ok(Command::Test(vec![Stage::Page, Stage::Lint]))
        );
        assert!(parsed("test paeg").unwrap_err().contains("`paeg`"));
    }

    #[test]
    fn lesson_takes_files_and_needs_one() {
        assert_eq!(
            parsed("lesson a.yaml b.yaml"),
            Ok(Command::Lesson(vec!["a.yaml".into(), "b.yaml".into()]))
        );
        assert!(parsed("lesson").unwrap_err().contains("needs a file"));
    }

    #[test]
    fn anything_unknown_is_named() {
        assert!(parsed("pla").unwrap_err().contains("`pla`"));
        assert!(parsed("dist now").unwrap_err().contains("`now`"));
    }
}

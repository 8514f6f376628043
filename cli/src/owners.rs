//! `optimist owners`: who owns each line of an object.

use optimist_diagnose::case::Case;
use optimist_diagnose::input::Input;
use optimist_diagnose::ownership::ObjectOwnership;
use optimist_masking::masked;
use serde_json::Value;

use crate::style::print;
use crate::{BadInput, CommandResult, input};

/// The objects to show, and the form of the output.
#[derive(Debug, clap::Args)]
pub struct OwnersArguments {
    /// Files with objects; - is the standard input.
    #[arg(required = true)]
    files: Vec<String>,
}

/// Prints every object with the owners of its lines.
pub fn run(arguments: &OwnersArguments) -> CommandResult {
    let objects = input::objects(&arguments.files)?;
    let input: Vec<Input> = objects.into_iter().map(Input::Live).collect();
    let cases = Case::all_of(&input);
    if cases.is_empty() {
        return Err(BadInput("there is no object".to_owned()));
    }
    let mut wrong = Vec::new();
    for case in &cases {
        match case.install() {
            Ok(installed) => {
                // The object of the file, not of the server, which fills in what is not there.
                let object = masked(case.live.as_ref().unwrap_or(&Value::Null));
                let ownership = ObjectOwnership::read(&object, &installed.resource().root);
                print(&format!("# {}\n{}\n", case.id, ownership.to_text()));
            }
            Err(why) => wrong.push(format!("{}: {why}", case.id)),
        }
    }
    match wrong.is_empty() {
        true => Ok(true),
        false => Err(BadInput(wrong.join("\noptimist: "))),
    }
}

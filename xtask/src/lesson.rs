//! Lessons, held to what they say.

use std::path::absolute;

use crate::failure::{Failure, StageResult};
use crate::workspace::Workspace;

/// Runs lessons, prints what happens in them, and fails if anything in one is not true.
pub fn check(workspace: &Workspace, files: &[String]) -> StageResult<()> {
    let mut run = workspace.cargo();
    run.args(["run", "--quiet", "--package", "optimist-tests"]);
    run.args(["--bin", "lesson", "--"]);
    for file in files {
        // Cargo runs in the checkout, whatever folder this was asked in.
        run.arg(absolute(file).unwrap_or_else(|_| file.into()));
    }
    let mend = "mend what is named above; lessons/README.md says how lessons are written";
    match run.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::new("not everything is true", mend)),
        Err(error) => Err(Failure::new(format!("cargo: {error}"), "install Rust")),
    }
}

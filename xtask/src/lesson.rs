//! Runs lessons and checks their claims.

use std::path::absolute;

use crate::failure::{Failure, StageResult};
use crate::workspace::Workspace;

/// Runs lessons, prints their events, and fails if a claim in a lesson is false.
pub fn check(workspace: &Workspace, files: &[String]) -> StageResult<()> {
    let mut run = workspace.command(workspace.build(&["lesson"])?.join("lesson"));
    for file in files {
        // The program runs in the checkout, so a relative path must become absolute.
        run.arg(absolute(file).unwrap_or_else(|_| file.into()));
    }
    let remedy = "fix the errors above; lessons/README.md describes the format";
    match run.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::new("a lesson has errors", remedy)),
        Err(error) => Err(Failure::new(
            format!("lesson: {error}"),
            "cargo xtask lesson",
        )),
    }
}

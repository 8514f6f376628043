//! `optimist lesson`: runs lessons.

use optimist_lesson::told;

use crate::style::print;
use crate::{Answer, input};

/// Which lessons are run.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Files of lessons; - is the standard input.
    #[arg(required = true)]
    files: Vec<String>,
}

/// Runs lessons, prints what happens in them and what is false.
pub fn run(arguments: &Arguments) -> Answer {
    let mut is_true = true;
    for file in &arguments.files {
        let told = told(file, &input::read(file)?);
        print(&told.happened);
        eprint!("{}", told.problems);
        is_true &= told.is_true();
    }
    Ok(is_true)
}

//! `optimist explain`: what Diagnose says of an error.

use optimist_diagnose::input::detect;
use optimist_messages::diagnose::not_detected;
use optimist_report::case_markdown;
use optimist_state::diagnosed;

use crate::case_page::{self, CaseFile};
use crate::style::print;
use crate::{BadInput, CommandResult, input};

/// The message to explain, and the form of the explanation.
#[derive(Debug, clap::Args)]
pub struct ExplainArguments {
    /// Files with what a tool printed, and with objects that it is about; - is the standard input.
    #[arg(default_values_t = ["-".to_owned()])]
    files: Vec<String>,
    #[command(flatten)]
    page: case_page::CasePageOptions,
}

/// Prints the case as Markdown: what is known, who owns what, what each way of writing does, and the
/// ways out.
pub fn run(arguments: &ExplainArguments) -> CommandResult {
    let mut texts = Vec::new();
    for file in &arguments.files {
        let text = input::read(file)?;
        detect(&text).map_err(|why| {
            let file = input::display_name(file);
            BadInput(format!("{file}: {}", not_detected(&why)))
        })?;
        texts.push(text);
    }
    let case = diagnosed(texts.iter().cloned());
    arguments.page.write(|| CaseFile {
        title: "optimist explain",
        texts,
        preset: case.client(),
        manager: None,
    })?;
    print(&case_markdown(&case, false));
    Ok(true)
}

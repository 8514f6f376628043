//! `optimist explain`: what Diagnose says of an error.

use optimist_diagnose::input::detect;
use optimist_messages::diagnose::not_detected;
use optimist_report::case_markdown;
use optimist_sessions::{StorageArea, StorageContents};
use optimist_state::{BrowserEffect, DiagnoseMsg, Msg, Platform, State, run as run_effects};

use crate::case_page::{self, SavedCase};
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

/// A page that keeps nothing.
struct Nowhere;

impl Platform for Nowhere {
    fn now(&self) -> f64 {
        0.0
    }

    fn read(&self, _: StorageArea, _: &str) -> Option<String> {
        None
    }

    fn storages(&self) -> StorageContents {
        StorageContents::default()
    }
}

/// Prints the case as Markdown: what is known, who owns what, what each way of writing does, and the
/// ways out.
pub fn run(arguments: &ExplainArguments) -> CommandResult {
    let nothing = |_: &BrowserEffect| true;
    let (mut state, effects) = State::open("#/diagnose", 1, &Nowhere);
    run_effects(&mut state, effects, &Nowhere, &nothing);
    let mut texts = Vec::new();
    for file in &arguments.files {
        let text = input::read(file)?;
        detect(&text).map_err(|why| {
            let file = input::display_name(file);
            BadInput(format!("{file}: {}", not_detected(&why)))
        })?;
        texts.push(text.clone());
        let effects = state.update(Msg::from(DiagnoseMsg::Bring(text)), &Nowhere);
        run_effects(&mut state, effects, &Nowhere, &nothing);
    }
    while state.works_in_slices() {
        let effects = state.update(Msg::Work, &Nowhere);
        run_effects(&mut state, effects, &Nowhere, &nothing);
    }
    arguments.page.write(|| SavedCase {
        title: "optimist explain",
        texts,
        preset: state.diagnose.client(),
        manager: None,
    })?;
    print(&case_markdown(&state.diagnose, false));
    Ok(true)
}

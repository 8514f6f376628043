//! A case as one HTML file with the whole page in it.

use std::fs;
use std::path::{Component, Path, PathBuf};

use optimist_client::Preset;
use optimist_diagnose::without_private::PrivateSearch;
use optimist_messages::label;
use optimist_state::{
    MAX_SAVED, SavedContent, SavedNote, case_fragment, needed_files, saved_file, saved_page,
};

use crate::BadInput;

/// The text before the name of the file that `cargo xtask dist` makes for saved pages.
const SAVED: &str = "<meta name=\"optimist-saved\" content=\"./";

/// The place of a file with a case, and the built page that it has in itself.
#[derive(Debug, clap::Args)]
pub struct CasePageOptions {
    /// Writes the case as one HTML file too, which opens in the page without a network. What looks private
    /// is left out.
    #[arg(long, value_name = "FILE", requires = "page")]
    open: Option<PathBuf>,
    /// The directory of the built page, which --open puts into its file.
    #[arg(long, value_name = "DIR", requires = "open")]
    page: Option<PathBuf>,
}

/// A case that the page opens.
pub struct CaseFile {
    /// The title of the file.
    pub title: &'static str,
    /// The texts of the case.
    pub texts: Vec<String>,
    /// The client whose writes the case predicts.
    pub preset: Preset,
    /// The manager, if it is another one than that of the preset.
    pub manager: Option<String>,
}

impl CasePageOptions {
    /// Writes the file, if one is asked for.
    ///
    /// # Errors
    /// The reason why there is no page in the directory, or why the file cannot be written.
    pub fn write(&self, case: impl FnOnce() -> CaseFile) -> Result<(), BadInput> {
        let (Some(file), Some(directory)) = (&self.open, &self.page) else {
            return Ok(());
        };
        let bad = |error: std::io::Error| BadInput(format!("--open: {}: {error}", file.display()));
        fs::write(file, page(directory, &case())?).map_err(bad)
    }
}

/// The text of the file.
fn page(directory: &Path, case: &CaseFile) -> Result<String, BadInput> {
    let of = |name: &str| {
        let path = directory.join(name);
        let read = fs::read(&path);
        read.map_err(|error| BadInput(format!("--page: {}: {error}", path.display())))
    };
    let other = || {
        let directory = directory.display();
        BadInput(format!("--page: {directory} has no page that can be saved"))
    };
    let index = of("index.html")?;
    let index = String::from_utf8(index).map_err(|_| other())?;
    let name = index
        .split_once(SAVED)
        .and_then(|(_, after)| Some(after.split_once('"')?.0));
    let name = name
        .filter(|name| !name.contains(['/', '\\']))
        .ok_or_else(other)?;
    let template = String::from_utf8(of(name)?).map_err(|_| other())?;
    let shown = fragment(case)?;
    let release = name.trim_start_matches("optimist-").split('.').next();
    let content = SavedContent {
        title: case.title,
        shown: &shown,
        address: "",
        note: &saved_note(release.unwrap_or_default()),
    };
    let [before, after] = saved_page(&template, &content).ok_or_else(other)?;
    let mut text = before;
    // The page itself is in the file too, so that the file can be saved again.
    let needed = needed_files(&template).ok_or_else(other)?;
    let mut names: Vec<&str> = needed.iter().map(|file| file.name).collect();
    names.push(name);
    for name in names {
        if Path::new(name)
            .components()
            .any(|part| !matches!(part, Component::Normal(_)))
        {
            return Err(other());
        }
        text.push_str(&saved_file(name, false, &of(name)?));
    }
    text.push_str(&after);
    Ok(text)
}

/// The fragment that opens the case, without what looks private.
fn fragment(case: &CaseFile) -> Result<String, BadInput> {
    let mut search = PrivateSearch::new(&case.texts);
    while search.advance() {}
    let found = search.result().cloned().unwrap_or_default();
    let (manager, private) = (case.manager.as_deref(), !found.private.is_empty());
    let shown = case_fragment(&found.texts, case.preset, manager, private);
    let shown = shown.unwrap_or_default();
    match shown.len() {
        0 => Err(BadInput("--open: there is nothing in the case".to_owned())),
        length if length > MAX_SAVED => {
            let why = format!(
                "--open: the case has {length} characters, of {MAX_SAVED} that a browser opens"
            );
            Err(BadInput(why))
        }
        _ => Ok(shown),
    }
}

/// The line of the page that says what the file is.
fn saved_note(release: &str) -> String {
    let date = crate::now().to_string();
    SavedNote {
        label: &label::saved_label(),
        told: &label::saved_with(&date, &env!("CARGO_PKG_VERSION"), &release),
        again: &label::saved_again(),
        site: &label::saved_site(),
    }
    .markup("")
}

//! The case of a preview as one HTML file with the whole page in it.

use std::fs;
use std::path::{Component, Path};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use optimist_diagnose::preview::PreviewInput;
use optimist_diagnose::without_private::PrivateSearch;
use optimist_messages::label;
use optimist_state::{
    MAX_SAVED, SavedContent, SavedNote, case_fragment, needed_files, saved_file, saved_page,
};
use serde_json::{Value, json};

use crate::BadInput;

/// The text before the name of the file that `cargo xtask dist` makes for saved pages.
const SAVED: &str = "<meta name=\"optimist-saved\" content=\"./";

/// Writes the file. The page shows what the tool does without options.
pub fn write(file: &Path, directory: &Path, input: &PreviewInput) -> Result<(), BadInput> {
    let bad = |error: std::io::Error| BadInput(format!("--open: {}: {error}", file.display()));
    fs::write(file, page(directory, input)?).map_err(bad)
}

/// The text of the file.
fn page(directory: &Path, input: &PreviewInput) -> Result<String, BadInput> {
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
    let shown = fragment(input)?;
    let release = name.trim_start_matches("optimist-").split('.').next();
    let content = SavedContent {
        title: "optimist preview",
        shown: &shown,
        address: "",
        note: &note(release.unwrap_or_default()),
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
        text.push_str(&saved_file(name, false, &STANDARD.encode(of(name)?)));
    }
    text.push_str(&after);
    Ok(text)
}

/// The fragment that opens the case, without what looks private.
fn fragment(input: &PreviewInput) -> Result<String, BadInput> {
    let list = |objects: &[Value]| {
        json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()
    };
    // The page takes the first manifest of an object for the earlier one.
    let earlier = input.earlier.as_deref().unwrap_or_default();
    let all = [&input.live[..], earlier, &input.next[..]];
    let all = all.into_iter().filter(|objects| !objects.is_empty());
    let texts: Vec<String> = all.map(list).collect();
    let mut search = PrivateSearch::new(&texts);
    while search.advance() {}
    let found = search.result().cloned().unwrap_or_default();
    let (preset, manager) = (input.tool.preset, input.tool.manager.as_deref());
    let shown = case_fragment(&found.texts, preset, manager, !found.private.is_empty());
    let shown = shown.unwrap_or_default();
    match shown.len() {
        0 => Err(BadInput("--open: there is no object".to_owned())),
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
fn note(release: &str) -> String {
    let date = crate::now().to_string();
    SavedNote {
        label: &label::saved_label(),
        told: &label::saved_with(&date, &env!("CARGO_PKG_VERSION"), &release),
        again: &label::saved_again(),
        site: &label::saved_site(),
    }
    .markup("")
}

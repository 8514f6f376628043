//! Finding and reading the files of recordings.

use std::fmt;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;

use super::recording::Recording;

/// A file that cannot be read as recordings.
#[derive(Debug)]
pub struct LoadError {
    path: PathBuf,
    line: Option<usize>,
    message: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        write!(f, " {}", self.message)
    }
}

impl std::error::Error for LoadError {}

/// The file that names the release of the recordings in its folder and below.
const RELEASE: &str = "RELEASE";

/// Reads the recordings of one file, or of all files below a folder in the order of their names.
///
/// A file is a scenario (`.json`) or holds one sequence per line (`.jsonl`, `.jsonl.gz`). Below a
/// folder, JSON files that are something else are passed over.
pub fn load(path: impl AsRef<Path>) -> Result<Vec<Recording>, LoadError> {
    let path = path.as_ref();
    if !path.is_dir() {
        return load_file(path, false);
    }
    let mut entries = fs::read_dir(path)
        .and_then(|entries| {
            entries
                .map(|entry| Ok(entry?.path()))
                .collect::<std::io::Result<Vec<_>>>()
        })
        .map_err(|e| failed(path, &e))?;
    entries.sort();
    let mut recordings = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            recordings.extend(load(entry)?);
        } else if format_of(&entry).is_some() {
            recordings.extend(load_file(&entry, true)?);
        }
    }
    Ok(recordings)
}

#[derive(Clone, Copy, PartialEq)]
enum Format {
    Scenario,
    Lines,
    PackedLines,
}

fn format_of(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_str()?;
    if name.ends_with(".json") {
        Some(Format::Scenario)
    } else if name.ends_with(".jsonl") {
        Some(Format::Lines)
    } else if name.ends_with(".jsonl.gz") {
        Some(Format::PackedLines)
    } else {
        None
    }
}

fn failed(path: &Path, error: &dyn fmt::Display) -> LoadError {
    LoadError {
        path: path.to_owned(),
        line: None,
        message: error.to_string(),
    }
}

fn load_file(path: &Path, found: bool) -> Result<Vec<Recording>, LoadError> {
    let mut recordings = read_file(path, found)?;
    let corpus = corpus_of(path);
    let release = release_of(path);
    for recording in &mut recordings {
        // The same requests were recorded on several releases.
        if let Some(release) = release
            .as_ref()
            .filter(|release| corpus.ends_with(*release))
        {
            recording.name = format!("{}@{release}", recording.name);
        }
        recording.corpus.clone_from(&corpus);
        recording.release.clone_from(&release);
    }
    Ok(recordings)
}

/// The name of a file without its endings; with the folder where that is named after a release.
fn corpus_of(path: &Path) -> String {
    let name = |part: Option<&std::ffi::OsStr>| part.map(|n| n.to_string_lossy().into_owned());
    let file = name(path.file_name()).unwrap_or_default();
    let stem = file.split(".json").next().unwrap_or_default();
    match name(path.parent().and_then(Path::file_name)) {
        Some(folder) if folder.starts_with("v1.") => format!("{stem}-{folder}"),
        _ => stem.to_owned(),
    }
}

/// The content of the nearest file `RELEASE` above a file.
fn release_of(path: &Path) -> Option<String> {
    let path = fs::canonicalize(path).ok()?;
    path.ancestors()
        .skip(1)
        .find_map(|folder| fs::read_to_string(folder.join(RELEASE)).ok())
        .map(|text| text.trim().to_owned())
}

fn read_file(path: &Path, found: bool) -> Result<Vec<Recording>, LoadError> {
    let bytes = fs::read(path).map_err(|e| failed(path, &e))?;
    let Some(format) = format_of(path) else {
        return Err(failed(path, &"not a .json, .jsonl or .jsonl.gz file"));
    };
    let mut text = String::new();
    let read = match format {
        Format::PackedLines => GzDecoder::new(bytes.as_slice()).read_to_string(&mut text),
        _ => bytes.as_slice().read_to_string(&mut text),
    };
    read.map_err(|e| failed(path, &e))?;
    if format == Format::Scenario {
        if found && serde_json::from_str(&text).is_ok_and(|value| !looks_like_recording(&value)) {
            return Ok(Vec::new());
        }
        return parse(path, &text, 0).map(|recording| vec![recording]);
    }
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(before, line)| parse(path, line, before))
        .collect()
}

/// Returns whether a JSON file that was found below a folder is meant as a recording.
fn looks_like_recording(value: &Value) -> bool {
    let steps = value.get("steps").and_then(Value::as_array);
    value.get("rv_order").is_some()
        || steps.is_some_and(|steps| steps.iter().all(|step| step.get("method").is_some()))
}

fn parse(path: &Path, text: &str, lines_before: usize) -> Result<Recording, LoadError> {
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let position = format!(" at line {} column {}", error.line(), error.column());
        let message = match message.strip_suffix(&position) {
            Some(message) => format!("{message} (column {})", error.column()),
            None => message,
        };
        LoadError {
            path: path.to_owned(),
            line: Some(lines_before + error.line()),
            message,
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(text: &str) -> Result<Recording, String> {
        parse(Path::new("x.json"), text, 0).map_err(|e| e.to_string())
    }

    #[test]
    fn an_error_names_file_line_and_what_is_missing() {
        let missing =
            "{\"name\":\"n\",\"steps\":[\n{\"actor\":\"A\",\"method\":\"GET\",\"path\":\"/\"}]}";
        let error = parsed(missing).unwrap_err();
        assert_eq!(
            error,
            "x.json:2: step 0: a GET step needs the member `status` (column 40)"
        );
        let wrong = missing.replace("\"A\"", "7");
        let error = parsed(&wrong).unwrap_err();
        assert!(
            error.starts_with("x.json:2: step 0: invalid type: integer `7`"),
            "{error}"
        );
        let error = parsed("{\"name\":\n oops").unwrap_err();
        assert!(error.starts_with("x.json:2: expected"), "{error}");
    }

    #[test]
    fn json_files_without_steps_are_no_recordings() {
        assert!(!looks_like_recording(&json!({"apiVersion": "v1"})));
        assert!(!looks_like_recording(
            &json!({"steps": [{"command": "ls"}]})
        ));
        assert!(looks_like_recording(&json!({"steps": [{"method": "GET"}]})));
    }
}

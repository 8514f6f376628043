//! Reads the input: files, and the standard input for `-`.

use std::fs;
use std::io::Read;

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::Release;
use optimist_client::{MAX_OBJECTS_TEXT, ManifestError, ObjectReader, WrongType};
use optimist_diagnose::input::text_of_file;
use serde_json::Value;

use crate::BadInput;

/// The text of a file; of the standard input for `-`.
pub fn read(file: &str) -> Result<String, BadInput> {
    let bad = |why: &dyn std::fmt::Display| BadInput(format!("{}: {why}", display_name(file)));
    let mut bytes = Vec::new();
    let most = MAX_OBJECTS_TEXT as u64 + 1;
    let read = match file {
        "-" => std::io::stdin().lock().take(most).read_to_end(&mut bytes),
        file => fs::File::open(file).and_then(|it| it.take(most).read_to_end(&mut bytes)),
    };
    read.map_err(|error| bad(&error))?;
    let text = text_of_file(&bytes).map_err(|error| bad(&error))?;
    Ok(text.into_owned())
}

/// The name of the standard input where a file is named.
pub const STANDARD_INPUT: &str = "standard input";

/// The name of a file in a sentence.
pub fn display_name(file: &str) -> &str {
    match file {
        "-" => STANDARD_INPUT,
        file => file,
    }
}

/// An object, and where it is written.
pub struct Placed {
    /// The object.
    pub object: Value,
    /// The file; `standard input` for `-`.
    pub file: String,
    /// The line of its document, from 1.
    pub line: usize,
}

/// The objects of files, in their order. The standard input is read once.
pub fn objects(files: &[String]) -> Result<Vec<Value>, BadInput> {
    let placed = placed_objects(files)?;
    Ok(placed.into_iter().map(|it| it.object).collect())
}

/// The objects of files, in their order, each with its place.
pub fn placed_objects(files: &[String]) -> Result<Vec<Placed>, BadInput> {
    placed(files, &["name"])
}

/// The manifests of files, in their order, each with its place. A manifest can leave its name to the server.
pub fn placed_manifests(files: &[String]) -> Result<Vec<Placed>, BadInput> {
    placed(files, &["name", "generateName"])
}

fn placed(files: &[String], names: &[&str]) -> Result<Vec<Placed>, BadInput> {
    let mut found = Vec::new();
    for file in files {
        found.extend(objects_of(file, read(file)?, names)?);
    }
    Ok(found)
}

fn objects_of(file: &str, text: String, names: &[&str]) -> Result<Vec<Placed>, BadInput> {
    let file = display_name(file);
    let wrong = |line: usize, error: ManifestError| match error {
        ManifestError::Syntax {
            line,
            column,
            message,
        } => BadInput(format!("{file}:{line}:{column}: {message}")),
        other => BadInput(format!("{file}:{line}: {other}")),
    };
    let mut reader = ObjectReader::of_many(text.into()).map_err(|error| wrong(1, error))?;
    let mut lines = Vec::new();
    loop {
        let (line, known) = (reader.line(), reader.objects().len());
        let more = reader.advance().map_err(|error| wrong(line, error))?;
        for object in &reader.objects()[known..] {
            check(object, names).map_err(|why| BadInput(format!("{file}:{line}: {why}")))?;
            lines.push(line);
        }
        if !more {
            break;
        }
    }
    let placed = reader.finish().into_iter().zip(lines);
    let placed = placed.map(|(object, line)| Placed {
        object,
        file: file.to_owned(),
        line,
    });
    Ok(placed.filter(|it| !it.object.is_null()).collect())
}

/// Checks that an object has its kind, and one of these names.
fn check(object: &Value, names: &[&str]) -> Result<(), String> {
    if object.is_null() {
        return Ok(());
    }
    if let Some(wrong) = WrongType::in_object(object) {
        return Err(format!("{wrong} {}", wrong.refusal()));
    }
    let mut missing = Vec::new();
    for field in ["apiVersion", "kind"] {
        if text(object, field).is_empty() {
            missing.push(field);
        }
    }
    if names.iter().all(|name| object.meta_text(name).is_empty()) {
        missing.push("metadata.name");
    }
    match missing.as_slice() {
        [] => optimist_apiserver::limits::check(object).map_err(|refusal| refusal.message),
        missing => Err(format!("the object has no {}", missing.join(" and no "))),
    }
}

/// Reads the release of a server.
///
/// # Errors
/// If it is not known: the ones that are.
pub fn release(text: &str) -> Result<Release, String> {
    text.parse().map_err(|why: String| {
        let known = Release::ALL.map(Release::span);
        format!("{why}; known are {}", known.join(" and "))
    })
}

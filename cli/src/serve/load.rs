//! Loads the objects that a server has at the start.

use std::path::Path;

use optimist_apiserver::server::ApiServer;
use optimist_client::{load, load_order};

use crate::input::Placed;
use crate::{BadInput, input};

/// Loads definitions, then namespaces, then the other objects.
pub fn into(
    server: &mut ApiServer,
    definitions: Option<&Path>,
    objects: &[String],
) -> Result<(), BadInput> {
    let mut all = match definitions {
        Some(directory) => input::placed_objects(&files(directory)?)?,
        None => Vec::new(),
    };
    all.extend(input::placed_objects(objects)?);
    all.sort_by_key(|placed| load_order(&placed.object));
    for Placed { object, file, line } in all {
        load(server, object).map_err(|why| BadInput(format!("{file}:{line}: {why}")))?;
    }
    Ok(())
}

/// The files of a directory that can have objects, by name.
fn files(directory: &Path) -> Result<Vec<String>, BadInput> {
    let bad = |error: std::io::Error| BadInput(format!("{}: {error}", directory.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(bad)? {
        let path = entry.map_err(bad)?.path();
        let extension = path.extension().and_then(|it| it.to_str());
        if matches!(extension, Some("yaml" | "yml" | "json")) {
            files.push(path.display().to_string());
        }
    }
    files.sort();
    Ok(files)
}

//! Recordings that are known to fail, so that a change which breaks another one shows.
//!
//! One file per corpus, one name per line. The list only shrinks: a recording that is listed and
//! passes is an error, too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::recording::Recording;
use super::replay::{Outcome, Report};

/// Returns the folder of this repository's lists.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("failing")
}

fn file(folder: &Path, corpus: &str) -> PathBuf {
    folder.join(format!("{corpus}.txt"))
}

/// The names that are listed for a corpus; empty if there is no list.
///
/// # Errors
/// If the list is there and cannot be read.
pub fn listed(folder: &Path, corpus: &str) -> io::Result<BTreeSet<String>> {
    match fs::read_to_string(file(folder, corpus)) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(error),
    }
}

/// Writes the results of the replayed recordings of a corpus. Entries of other recordings stay.
///
/// # Errors
/// If the list cannot be written.
pub fn update(folder: &Path, replayed: &[(&Recording, &Report)]) -> io::Result<()> {
    let corpora: BTreeSet<&str> = replayed.iter().map(|(r, _)| r.corpus.as_str()).collect();
    for corpus in corpora {
        let mut names = listed(folder, corpus)?;
        for (recording, report) in replayed.iter().filter(|(r, _)| r.corpus == corpus) {
            if matches!(report.outcome, Outcome::Failed(_)) {
                names.insert(recording.name.clone());
            } else {
                names.remove(&recording.name);
            }
        }
        let path = file(folder, corpus);
        if names.is_empty() {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => continue,
            }
        }
        fs::create_dir_all(folder)?;
        let text: String = names.iter().map(|name| format!("{name}\n")).collect();
        fs::write(path, text)?;
    }
    Ok(())
}

//! The lessons of the repository, and their catalogue.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use optimist_lesson::{Catalogue, Lesson};

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lessons")
}

pub fn read(name: &str) -> String {
    let path = folder().join(format!("{name}.yaml"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn catalogue() -> Catalogue {
    Catalogue::parse(&read("catalogue")).unwrap_or_else(|error| panic!("catalogue: {error}"))
}

pub fn lesson(name: &str) -> Arc<Lesson> {
    Arc::new(Lesson::parse(&read(name)).unwrap_or_else(|error| panic!("{name}, {error}")))
}

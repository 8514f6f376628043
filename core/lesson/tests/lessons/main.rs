//! The lessons of the repository, and the format in which they are written.

#[path = "../files/mod.rs"]
mod files;

mod catalogue;
mod claims;
mod format;
mod learners;
mod order;
mod readings;
mod tasks;

use std::sync::Arc;

use optimist_lesson::Lesson;

/// Every lesson with the name of its file, in the order of the catalogue.
fn lessons() -> Vec<(String, Arc<Lesson>)> {
    let names = files::catalogue();
    let lessons = names.lessons();
    let named = lessons.map(|entry| (format!("{}.yaml", entry.name), files::lesson(&entry.name)));
    named.collect()
}

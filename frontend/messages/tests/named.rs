//! What texts outside of the page call a control is what the page calls it.

use std::collections::BTreeSet;
use std::path::Path;

use optimist_lesson::{Catalogue, Lesson};

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn catalogue() -> Catalogue {
    Catalogue::parse(&read("lessons/catalogue.yaml")).expect("a catalogue")
}

fn lesson(name: &str) -> Lesson {
    Lesson::parse(&read(&format!("lessons/{name}.yaml"))).expect("a lesson")
}

/// What the page calls its controls and regions.
fn labels() -> BTreeSet<String> {
    let all = optimist_messages::catalogue();
    let fixed = all.filter(|message| message.arguments.is_empty());
    fixed
        .map(|message| message.english.to_lowercase())
        .collect()
}

/// The parts of a text between two marks.
fn between<'a>(text: &'a str, open: &str, close: &str) -> Vec<&'a str> {
    let parts = text.split(open).skip(1);
    parts
        .filter_map(|part| Some(part.split_once(close)?.0))
        .collect()
}

#[test]
fn the_notes_for_teachers_name_only_titles_and_controls_of_the_page() {
    let notes = read("lessons/teaching.md");
    let catalogue = catalogue();
    let mut known = labels();
    for name in catalogue.course() {
        let lesson = lesson(name);
        known.insert(lesson.title.to_lowercase());
        known.extend(lesson.steps.iter().map(|step| step.title.to_lowercase()));
    }
    let bold = notes.split("**").skip(1).step_by(2);
    let bold: Vec<&str> = bold.filter(|name| *name != "bold").collect();
    assert!(bold.len() > 12, "{bold:?}");
    let unknown: Vec<_> = bold
        .iter()
        .filter(|it| !known.contains(&it.to_lowercase()))
        .collect();
    assert!(unknown.is_empty(), "not on the page: {unknown:?}");
}

/// In a hint, “ ” are around what the page calls a control.
#[test]
fn the_hints_of_tasks_name_only_controls_of_the_page() {
    let labels = labels();
    let (mut named, mut unknown) = (0, Vec::new());
    for name in catalogue().course() {
        let lesson = lesson(name);
        for hint in lesson.steps.iter().flat_map(|step| step.hints()) {
            for control in between(hint, "“", "”") {
                named += 1;
                if !labels.contains(&control.to_lowercase()) {
                    unknown.push(format!("{name}: {control}"));
                }
            }
        }
    }
    assert!(unknown.is_empty(), "not on the page: {unknown:?}");
    assert!(named >= 4, "{named}");
}

//! The incidents of the catalogue: each runs, and all that it says is true.

use std::collections::BTreeSet;

use optimist_lesson::check_lesson;

use crate::files::{catalogue, folder, lesson, read};

#[test]
fn every_claim_of_an_incident_is_true_when_it_runs() {
    let mut problems = Vec::new();
    for incident in catalogue().incidents {
        let name = &incident.lesson.name;
        let check = check_lesson(&lesson(name));
        problems.extend(check.problems.iter().map(|it| format!("{name}, {it}")));
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn the_catalogue_names_every_incident_as_it_names_itself() {
    let catalogue = catalogue();
    for incident in &catalogue.incidents {
        let entry = &incident.lesson;
        let lesson = lesson(&entry.name);
        assert_eq!(entry.title, lesson.title);
        let belief = lesson.belief.as_ref().map(|it| &it.text);
        assert_eq!(Some(&entry.belief), belief);
        assert_eq!(entry.pages, lesson.steps.len(), "{}", entry.title);
        assert!(catalogue.has(&entry.name));
    }
    let listed = catalogue.incidents.iter();
    let listed: BTreeSet<String> = listed.map(|it| it.lesson.name.clone()).collect();
    let files = std::fs::read_dir(folder()).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let files = files.filter_map(|name| name.strip_suffix(".yaml").map(str::to_owned));
    let files: BTreeSet<String> = files.filter(|name| name.starts_with("incident-")).collect();
    assert_eq!(listed, files);
    assert_eq!(listed.len(), 10);
}

/// The thread says what happened. The first page names it, so that people can read it.
#[test]
fn the_first_page_of_an_incident_names_its_thread() {
    for incident in catalogue().incidents {
        let thread = incident.thread.strip_prefix("https://github.com/");
        let parts: Vec<&str> = thread.unwrap_or_default().split('/').collect();
        let [owner, name, "issues" | "pull", number] = parts.as_slice() else {
            panic!("{}", incident.thread);
        };
        let text = read(&incident.lesson.name);
        assert!(
            text.contains(&format!("{owner}/{name} {number}")),
            "{}",
            incident.thread
        );
    }
}

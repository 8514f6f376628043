//! The style of Diagnose stays in the page once it was there, so it must not reach other pages.

use std::fs;
use std::path::Path;

/// The names of the classes with which the rules of a style begin, without `.diagnose`.
fn classes(style: &str) -> Vec<String> {
    let selectors = style
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with('.') && (line.ends_with('{') || line.ends_with(',')));
    let names = selectors.map(|line| {
        let name: String = line[1..]
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '-')
            .collect();
        name
    });
    names.filter(|name| name != "diagnose").collect()
}

/// The texts of all files below a folder, without those of Diagnose.
fn others(folder: &Path, texts: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("src/diagnose") {
            continue;
        }
        if path.is_dir() {
            others(&path, texts);
        } else if path.extension().is_some_and(|it| it == "rs") {
            texts.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn no_rule_of_diagnose_is_for_a_class_of_another_page() {
    let frontend = Path::new(env!("CARGO_MANIFEST_DIR")).join("../frontend/src");
    let mut texts = String::new();
    others(&frontend, &mut texts);
    // Share of a case is a dialog; it stands outside the page.
    let quoted: Vec<&str> = texts.split('"').skip(1).step_by(2).collect();
    let mut found = Vec::new();
    for file in ["diagnose.css", "lanes.css"] {
        let style = fs::read_to_string(frontend.join("style").join(file)).unwrap();
        let classes = classes(&style);
        assert!(classes.len() > 10, "{file}: {classes:?}");
        let elsewhere = |name: &String| {
            let mut words = quoted.iter().flat_map(|text| text.split(' '));
            !name.starts_with("share-") && words.any(|word| word == name)
        };
        found.extend(classes.into_iter().filter(elsewhere));
    }
    assert_eq!(found, Vec::<String>::new());
}

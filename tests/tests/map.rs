//! The maps in CONTRIBUTING.md are true: their files and names exist, and crates depend on each other as
//! they say. The paths that the other documents name exist, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The parts of a text between backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Every Rust file of a path, which is a file or a folder.
fn sources(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_file() {
        found.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() || path.extension().is_some_and(|it| it == "rs") {
            sources(&path, found);
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[test]
fn each_answer_of_the_map_names_files_that_have_the_names_beside_them() {
    let contributing = read("CONTRIBUTING.md");
    let rows = contributing
        .lines()
        .skip_while(|line| !line.starts_with("| question"));
    let rows: Vec<&str> = rows
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert!(rows.len() >= 12, "the table has {} rows", rows.len());
    let mut wrong = Vec::new();
    for row in rows {
        let answer = row.split('|').nth(2).unwrap();
        let (paths, names): (Vec<&str>, Vec<&str>) = code(answer).partition(|it| it.contains('/'));
        let mut files = Vec::new();
        for path in &paths {
            match root().join(path) {
                found if found.exists() => sources(&found, &mut files),
                _ => wrong.push(format!("{path} does not exist")),
            }
        }
        let texts: Vec<String> = files
            .iter()
            .map(|it| fs::read_to_string(it).unwrap())
            .collect();
        for name in names {
            let name = name.rsplit("::").next().unwrap();
            let is_there = |text: &String| text.split(|c| !is_word(c)).any(|word| word == name);
            if !texts.iter().any(is_there) {
                wrong.push(format!("no {name} in {paths:?}"));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// Returns the folders of the workspace, without those that are made.
fn folders() -> Vec<PathBuf> {
    let mut all = vec![root().to_owned()];
    let mut at = 0;
    while let Some(folder) = all.get(at) {
        let inner = fs::read_dir(folder).unwrap();
        let inner: Vec<_> = inner.map(|entry| entry.unwrap().path()).collect();
        all.extend(inner.into_iter().filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            let is_made = ["target", "dist", "node_modules"].contains(&name);
            path.is_dir() && !name.starts_with('.') && !is_made
        }));
        at += 1;
    }
    all
}

/// A path begins with a folder of the workspace, or with one beside the document. `NAME` and `KIND` stand for a name.
#[test]
fn each_path_in_a_document_exists() {
    let (mut checked, mut missing) = (0, Vec::new());
    for folder in folders() {
        let files = fs::read_dir(&folder).unwrap();
        let files = files.map(|entry| entry.unwrap().path());
        for document in files.filter(|it| it.extension().is_some_and(|it| it == "md")) {
            let text = fs::read_to_string(&document).unwrap();
            // The examples between fences are not sentences.
            let sentences: String = text.split("```").step_by(2).collect();
            for path in code(&sentences).filter(|it| !it.contains([' ', '\n'])) {
                let first = path.split_once('/').map_or("", |(first, _)| first);
                if first.is_empty() || !root().join(first).is_dir() {
                    continue;
                }
                let known = path.split("NAME").next().unwrap();
                let known = known.split("KIND").next().unwrap();
                checked += 1;
                if !root().join(known).exists() && !folder.join(known).exists() {
                    missing.push(format!("{}: {path}", document.display()));
                }
            }
        }
    }
    assert!(checked >= 150, "{checked}");
    assert_eq!(missing, [""; 0]);
}

/// Returns the dependencies of each crate of the core, without those of its tests, by their
/// folders.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let crates = fs::read_dir(root().join("core")).unwrap();
    let crates = crates.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let of = |name: &str| {
        let manifest = read(&format!("core/{name}/Cargo.toml"));
        let lines = manifest
            .lines()
            .skip_while(|line| *line != "[dependencies]")
            .skip(1);
        let lines = lines.take_while(|line| !line.starts_with('['));
        let others =
            lines.filter_map(|line| line.strip_prefix("optimist-")?.split(['.', ' ']).next());
        others.map(str::to_owned).collect()
    };
    crates.map(|name| (name.clone(), of(&name))).collect()
}

#[test]
fn each_crate_of_the_core_depends_only_on_crates_above_it_in_the_table() {
    let contributing = read("CONTRIBUTING.md");
    let order: Vec<&str> = contributing
        .lines()
        .filter_map(|line| line.strip_prefix("| `core/")?.split_once("/`"))
        .map(|(name, _)| name)
        .collect();
    let all = dependencies();
    assert_eq!(
        order.len(),
        all.len(),
        "every crate of core has a row: {order:?}"
    );
    for (name, others) in &all {
        let place = |name: &str| order.iter().position(|it| *it == name);
        let own = place(name).unwrap_or_else(|| panic!("core/{name} has no row"));
        for other in others {
            assert!(place(other).unwrap() < own, "{name} depends on {other}");
        }
    }
}

#[test]
fn each_arrow_of_the_map_is_a_dependency() {
    let contributing = read("CONTRIBUTING.md");
    let arrows = contributing
        .lines()
        .filter_map(|line| line.trim().split_once(" --> "));
    let arrows = arrows.map(|(from, to)| (from.split('[').next().unwrap(), to));
    let all = dependencies();
    let mut checked = BTreeSet::new();
    for (from, to) in arrows {
        if let Some(others) = all.get(from) {
            let to = to.split('[').next().unwrap();
            assert!(others.iter().any(|it| it == to), "{from} --> {to}");
            checked.insert(from);
        }
    }
    assert_eq!(
        checked.len(),
        all.values().filter(|others| !others.is_empty()).count(),
        "each crate that depends on another one has an arrow"
    );
}

/// A crate with one test program names each of its files there: a file that is forgotten is no error
/// of the compiler.
#[test]
fn each_test_file_is_in_a_program() {
    let mut programs = 0;
    let mut forgotten = Vec::new();
    for folder in folders() {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        let tests = folder.join("tests");
        if manifest.contains("autotests = false") {
            programs += 1;
            forgotten.extend(unnamed_modules(&tests, &manifest));
        }
    }
    assert!(programs >= 2, "{programs}");
    assert_eq!(forgotten, [""; 0]);
}

/// The files and folders in a folder of tests that neither its program nor its manifest names.
fn unnamed_modules(tests: &Path, manifest: &str) -> Vec<String> {
    let program = fs::read_to_string(tests.join("main.rs")).unwrap();
    let entries = fs::read_dir(tests)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let modules = entries.filter(|path| {
        path.extension().is_some_and(|it| it == "rs")
            || path.join("mod.rs").exists()
            || path.join("main.rs").exists()
    });
    let modules = modules.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
    let is_named = |name: &String| {
        name == "main"
            || program.lines().any(|line| line == format!("mod {name};"))
            || manifest.contains(&format!("tests/{name}/main.rs"))
    };
    modules
        .filter(|name| !is_named(name))
        .map(|name| tests.join(name).display().to_string())
        .collect()
}

#[test]
fn the_table_of_test_servers_names_tests_that_exist() {
    let page = read("docs/test-servers.md");
    let named: Vec<&str> = page.split('`').skip(1).step_by(2).collect();
    let files: String = (named.iter().filter(|name| name.ends_with(".rs")))
        .filter(|name| root().join(name).exists())
        .map(|name| read(name))
        .collect();
    let is_test = |name: &&&str| name.matches('_').count() > 3 && !name.contains(['/', '.']);
    let tests: Vec<_> = named.iter().filter(is_test).collect();
    assert!(tests.len() >= 8, "{tests:?}");
    for test in tests {
        assert!(files.contains(&format!("fn {test}(")), "{test}");
    }
}

//! Finds the packages in the program, and the texts of their licences.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};

/// The beginnings of the names of files with the terms of a licence.
const LICENCES: [&str; 4] = ["LICENSE", "LICENCE", "COPYING", "UNLICENSE"];

/// The beginnings of the names of files that must go along with a licence.
const NOTICES: [&str; 2] = ["NOTICE", "COPYRIGHT"];

/// A package that the program contains.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contained {
    /// Its name and version.
    pub name: String,
    /// An SPDX expression: `MIT OR Apache-2.0`.
    pub licence: String,
    /// The address of its source, if the package gives it.
    pub source: Option<String>,
    /// The texts that go along with it.
    pub texts: Vec<String>,
}

/// Everything that a program contains, built for a target: Optimist itself, the packages that are linked
/// into it, and Rust's standard library. `program` is the package of which it is made.
///
/// # Errors
/// If cargo cannot list the dependencies, or the licence of a package has no text.
pub fn of_program(program: &str, target: &str) -> Result<Vec<Contained>> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    let metadata = MetadataCommand::new()
        .manifest_path(manifest)
        .other_options(["--filter-platform".to_owned(), target.to_owned()])
        .exec()?;
    let mut contained = vec![
        Contained {
            name: "Optimist".to_owned(),
            licence: "MIT OR Apache-2.0".to_owned(),
            source: None,
            texts: texts_in(metadata.workspace_root.as_std_path())?,
        },
        Contained {
            name: "The Rust standard library".to_owned(),
            licence: "MIT OR Apache-2.0".to_owned(),
            source: Some("https://github.com/rust-lang/rust".to_owned()),
            texts: standard_texts("MIT OR Apache-2.0", "The Rust Project contributors")?,
        },
    ];
    let mut others = linked(&metadata, program)?
        .into_iter()
        .filter(|package| package.source.is_some())
        .map(described)
        .collect::<Result<Vec<_>>>()?;
    others.sort();
    contained.append(&mut others);
    Ok(contained)
}

/// Returns the packages that are linked into the program: not those that only run while it is built.
fn linked<'a>(metadata: &'a Metadata, program: &str) -> Result<Vec<&'a Package>> {
    let resolve = metadata.resolve.as_ref().context("no dependencies")?;
    let nodes: BTreeMap<&PackageId, _> = resolve.nodes.iter().map(|it| (&it.id, it)).collect();
    let packages: BTreeMap<&PackageId, &Package> =
        metadata.packages.iter().map(|it| (&it.id, it)).collect();
    let mut all = metadata.packages.iter();
    let made_of = all.find(|it| it.name.as_str() == program);
    let made_of = made_of.with_context(|| format!("there is no package {program}"))?;
    let mut open = vec![&made_of.id];
    let mut seen = BTreeSet::new();
    let mut linked = Vec::new();
    while let Some(id) = open.pop() {
        let package = packages[id];
        if !seen.insert(id) || package.targets.iter().any(|target| target.is_proc_macro()) {
            continue;
        }
        linked.push(package);
        let dependencies = nodes.get(id).into_iter().flat_map(|node| &node.deps);
        open.extend(dependencies.filter_map(|dependency| {
            let mut kinds = dependency.dep_kinds.iter();
            let is_linked = kinds.any(|kind| kind.kind == DependencyKind::Normal);
            is_linked.then_some(&dependency.pkg)
        }));
    }
    Ok(linked)
}

fn described(package: &Package) -> Result<Contained> {
    let name = format!("{} {}", package.name, package.version);
    let licence = package.license.clone();
    let licence = licence.with_context(|| format!("{name} does not say its licence"))?;
    let folder = package.manifest_path.parent().context("no folder")?;
    let mut texts = texts_in(folder.as_std_path())?;
    if texts.is_empty() {
        let authors = match package.authors.as_slice() {
            [] => format!("the authors of {}", package.name),
            authors => authors.join(", "),
        };
        texts = standard_texts(&licence, &authors).with_context(|| name.clone())?;
    }
    let source = package.repository.clone().or(package.homepage.clone());
    Ok(Contained {
        name,
        licence,
        source,
        texts,
    })
}

/// Reads the licence files of a package; empty if it has none.
fn texts_in(folder: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let mut is_licensed = false;
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().to_uppercase();
        let begins = |names: &[&str]| names.iter().any(|begin| name.starts_with(begin));
        if path.is_file() && (begins(&LICENCES) || begins(&NOTICES)) {
            is_licensed |= begins(&LICENCES);
            files.push(path);
        }
    }
    files.sort();
    if !is_licensed {
        return Ok(Vec::new());
    }
    let read = |path: std::path::PathBuf| -> Result<String> {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(text.replace("\r\n", "\n").trim_matches('\n').to_owned())
    };
    // Beside the texts of two licences, a package may have a line that only names both.
    let is_text = |text: &Result<String>| {
        let named = text
            .as_ref()
            .map(|text| spdx::Expression::parse(text.trim()));
        !matches!(named, Ok(Ok(_)))
    };
    files.into_iter().map(read).filter(is_text).collect()
}

/// The texts of all licences that an expression names, as SPDX has them, with the copyright.
fn standard_texts(expression: &str, owner: &str) -> Result<Vec<String>> {
    // Older manifests write a slash for OR.
    let parsed = spdx::Expression::parse_mode(expression, spdx::ParseMode::LAX)?;
    let mut texts = Vec::new();
    for requirement in parsed.requirements() {
        let id = requirement.req.license.id();
        let id = id.with_context(|| format!("{expression}: not a licence that SPDX lists"))?;
        texts.push(format!("Copyright (c) {owner}\n\n{}", id.text().trim()));
    }
    ensure!(!texts.is_empty(), "{expression} names no licence");
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_this_page() -> Vec<Contained> {
        of_program("optimist-frontend", "wasm32-unknown-unknown")
            .expect("every licence has its text")
    }

    #[test]
    fn everything_that_is_linked_into_the_page_comes_with_its_licence() {
        let all = of_this_page();
        for name in [
            "Optimist",
            "The Rust standard library",
            "imbl ",
            "wasm-bindgen ",
            "yew ",
        ] {
            let found = all.iter().find(|it| it.name.starts_with(name));
            let found = found.unwrap_or_else(|| panic!("{name} is missing"));
            assert!(!found.texts.is_empty(), "{name}");
        }
        assert!(
            all.iter()
                .all(|it| it.texts.iter().all(|it| it.len() > 100))
        );
    }

    #[test]
    fn the_program_for_the_command_line_has_the_licences_of_its_own_packages() {
        let all = of_program("optimist", "x86_64-unknown-linux-gnu");
        let all = all.expect("every licence has its text");
        let has = |name: &str| all.iter().any(|it| it.name.starts_with(name));
        assert!(has("ring ") && has("clap "));
        assert!(!has("yew "));
    }

    #[test]
    fn a_licence_that_asks_for_the_source_comes_with_its_address() {
        let all = of_this_page();
        let mut copyleft = all.iter().filter(|it| it.licence.contains("MPL"));
        let imbl = copyleft
            .find(|it| it.name.starts_with("imbl "))
            .expect("imbl");
        assert!(imbl.texts.concat().contains("Mozilla Public License"));
        assert!(copyleft.chain([imbl]).all(|it| it.source.is_some()));
    }

    #[test]
    fn what_only_runs_while_the_page_is_built_is_not_in_it() {
        let all = of_this_page();
        for name in ["syn ", "yew-macro ", "wasm-bindgen-test ", "walrus "] {
            assert!(!all.iter().any(|it| it.name.starts_with(name)), "{name}");
        }
    }

    #[test]
    fn a_package_without_a_licence_file_gets_the_standard_texts_of_its_licences() {
        let texts = standard_texts("MIT/Apache-2.0", "Ann").expect("both are listed");
        assert!(texts[0].starts_with("Copyright (c) Ann"));
        assert!(
            texts
                .iter()
                .any(|text| text.contains("Permission is hereby granted"))
        );
        assert!(texts.iter().any(|text| text.contains("Apache License")));
        assert!(standard_texts("NoSuchLicence-1.0", "Ann").is_err());
    }
}

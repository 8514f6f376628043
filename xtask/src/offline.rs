//! Adds the files that let the release site open without a network: a worker that keeps its files,
//! and a manifest that lets a browser install the page.

use std::fs;
use std::path::Path;

use crate::failure::{Failure, StageResult};
use crate::html;

/// The name of the worker. It is the same in each release, because the browser asks for it again.
pub const WORKER: &str = "worker.js";
/// The name of the manifest.
pub const MANIFEST: &str = "manifest.webmanifest";
/// The files of `frontend/src/` that the manifest needs, and itself.
const COPIED: [&str; 2] = [MANIFEST, "icon.svg"];

/// Files of a site: their names and contents.
pub type Files = Vec<(String, Vec<u8>)>;

/// The program of the site that is in a folder: the files with a fingerprint in their names which its
/// page names. A page that is open while the next site is deployed may still ask for one of them.
pub fn program(site: &Path) -> Files {
    let Ok(page) = fs::read_to_string(site.join("index.html")) else {
        return Files::new();
    };
    let files = fs::read_dir(site).into_iter().flatten().flatten();
    let files = files.filter_map(|file| {
        let name = file.file_name().to_string_lossy().into_owned();
        let is_program = name.starts_with("optimist-") && page.contains(&name);
        Some((name, fs::read(file.path()).ok()?)).filter(|_| is_program)
    });
    files.collect()
}

/// Adds files of an earlier site to a site that does not have them.
///
/// # Errors
/// If a file cannot be written.
pub fn add(site: &Path, earlier: &Files) -> StageResult<()> {
    for (name, bytes) in earlier {
        let path = site.join(name);
        if !path.exists() {
            fs::write(&path, bytes).map_err(|error| failed(&path, &error))?;
        }
    }
    Ok(())
}

/// Adds the manifest and the files that it names.
///
/// # Errors
/// If a file cannot be copied.
pub fn add_manifest(sources: &Path, site: &Path) -> StageResult<()> {
    for name in COPIED {
        let path = sources.join(name);
        fs::copy(&path, site.join(name)).map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}

/// Writes the worker of a site that is complete.
///
/// # Errors
/// If a file cannot be read, or the source is not that of the worker.
pub fn write_worker(sources: &Path, site: &Path) -> StageResult<()> {
    let mut files = Files::new();
    read_all(site, "", &mut files)?;
    files.sort();
    let path = sources.join(WORKER);
    let source = fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
    let path = site.join(WORKER);
    fs::write(&path, worker(&source, &files)?).map_err(|error| failed(&path, &error))
}

/// The worker that keeps these files.
fn worker(source: &str, files: &Files) -> StageResult<String> {
    let hashed = files.iter().map(|(name, bytes)| {
        // A host may answer `index.html` with a redirect.
        let address = if name == "index.html" { "./" } else { name };
        format!("\n  {address:?}: {:?},", html::integrity(bytes))
    });
    let contents = files
        .iter()
        .flat_map(|(name, bytes)| [name.as_bytes(), bytes.as_slice()]);
    // With the worker itself: two workers of one name would keep their files in one place.
    let contents = contents.chain([source.as_bytes()]);
    let release = html::fingerprint(&contents.collect::<Vec<_>>());
    let (name, list) = ("\"{release}\"", "const FILES = {};");
    if source.matches(name).count() != 1 || source.matches(list).count() != 1 {
        return Err(Failure::new(
            format!("{WORKER} has other constants than xtask replaces"),
            "cargo xtask dist",
        ));
    }
    let list_of_release = format!("const FILES = {{{}\n}};", hashed.collect::<String>());
    Ok(source
        .replace(name, &format!("{release:?}"))
        .replace(list, &list_of_release))
}

/// Reads all files of a folder of a site into a list, with the name of the folder before theirs.
///
/// # Errors
/// If a file cannot be read.
pub fn read_all(site: &Path, folder: &str, files: &mut Files) -> StageResult<()> {
    let path = site.join(folder);
    let entries = fs::read_dir(&path).map_err(|error| failed(&path, &error))?;
    for entry in entries.flatten() {
        let name = format!("{folder}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            read_all(site, &format!("{name}/"), files)?;
        } else {
            let bytes = fs::read(entry.path()).map_err(|error| failed(&entry.path(), &error))?;
            files.push((name, bytes));
        }
    }
    Ok(())
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()), "cargo xtask dist")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "const RELEASE = \"{release}\";\nconst FILES = {};\nrest";

    fn written(files: &[(&str, &str)]) -> String {
        let files = files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
        worker(SOURCE, &files.collect()).unwrap_or_default()
    }

    #[test]
    fn the_worker_names_each_file_with_its_hash_and_the_page_by_its_folder() {
        let worker = written(&[("a/b.yaml", "1"), ("index.html", "2")]);
        // printf 1 | openssl dgst -sha384 -binary | openssl base64
        let lines: Vec<&str> = worker.lines().skip(1).collect();
        assert_eq!(lines[0], "const FILES = {");
        assert!(
            lines[1].starts_with("  \"a/b.yaml\": \"sha384-R/BdNnsM"),
            "{worker}"
        );
        assert!(lines[2].starts_with("  \"./\": \"sha384-"), "{worker}");
        assert_eq!(lines[3..], ["};", "rest"]);
    }

    #[test]
    fn another_name_or_content_is_another_release() {
        let release = |files: &[(&str, &str)]| written(files).lines().next().map(str::to_owned);
        let one = release(&[("a", "1")]);
        assert_eq!(one, release(&[("a", "1")]));
        assert_ne!(one, release(&[("a", "2")]));
        assert_ne!(one, release(&[("b", "1")]));
    }

    #[test]
    fn another_worker_is_another_release_of_the_same_files() {
        let files = vec![("a".to_owned(), b"1".to_vec())];
        let release = |source: &str| {
            let written = worker(source, &files).unwrap_or_default();
            written.lines().next().map(str::to_owned)
        };
        assert_eq!(release(SOURCE), release(SOURCE));
        assert_ne!(release(SOURCE), release(&format!("{SOURCE} changed")));
    }

    #[test]
    fn the_program_of_the_site_before_stays_for_one_deploy() -> std::io::Result<()> {
        let site = std::env::temp_dir().join(format!("optimist-offline-{}", std::process::id()));
        let mut earlier = Files::new();
        for release in ["1", "2", "3"] {
            fs::create_dir_all(&site)?;
            let name = format!("optimist-{release}.wasm");
            fs::write(site.join(&name), release)?;
            fs::write(site.join("index.html"), format!("<script src=./{name}>"))?;
            assert!(add(&site, &earlier).is_ok());
            earlier = program(&site);
            assert_eq!(earlier, [(name, release.as_bytes().to_vec())]);
            let count = fs::read_dir(&site)?.count();
            assert_eq!(count, if release == "1" { 2 } else { 3 });
            fs::remove_dir_all(&site)?;
        }
        Ok(())
    }

    #[test]
    fn a_source_with_other_constants_is_refused() {
        assert!(worker("const FILES = {};", &Files::new()).is_err());
    }
}

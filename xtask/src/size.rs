//! Measures how many bytes a visitor downloads before the first step.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, StageResult};
use crate::html;
use crate::workspace::Workspace;

/// Brotli bytes that everything the first screen needs may take.
const BUDGET: usize = 250_000;

struct Weighed {
    name: String,
    first: bool,
    raw: usize,
    gzip: usize,
    brotli: usize,
}

/// Prints the size of `dist/`, and fails if the first screen is over budget.
pub fn report(workspace: &Workspace) -> StageResult<()> {
    let dist = workspace.dist();
    let told = |error: std::io::Error| {
        Failure::new(
            format!("cannot read {}: {error}", dist.display()),
            "cargo xtask dist",
        )
    };
    let mut files = Vec::new();
    read_all(&dist, &dist, &mut files).map_err(told)?;
    let first = first_screen(&files);
    let mut weighed = Vec::new();
    for ((name, bytes), first) in files.iter().zip(first) {
        weighed.push(Weighed {
            name: name.clone(),
            first,
            raw: bytes.len(),
            gzip: gzip(bytes).map_err(told)?,
            brotli: brotli(bytes).map_err(told)?,
        });
    }
    weighed.sort_by_key(|file| (!file.first, std::cmp::Reverse(file.brotli)));
    println!("{:>9} {:>9} {:>9}  file", "raw", "gzip -9", "brotli 11");
    let (mut raw, mut gzip, mut total) = (0, 0, 0);
    for file in &weighed {
        let later = if file.first { "" } else { "  (later)" };
        println!(
            "{:>9} {:>9} {:>9}  {}{later}",
            file.raw, file.gzip, file.brotli, file.name
        );
        if file.first {
            raw += file.raw;
            gzip += file.gzip;
            total += file.brotli;
        }
    }
    println!("{raw:>9} {gzip:>9} {total:>9}  first screen, of {BUDGET} bytes of brotli");
    if total > BUDGET {
        return Err(Failure::new(
            format!(
                "the first screen is {} bytes over its budget",
                total - BUDGET
            ),
            "remove a dependency or an asset, then run cargo xtask size",
        ));
    }
    Ok(())
}

/// Which files a browser loads to show the first screen: the page, and whatever is named in
/// it or in the scripts and styles it loads. What only the program names comes later.
fn first_screen(files: &[(String, Vec<u8>)]) -> Vec<bool> {
    let mut first: Vec<bool> = files.iter().map(|(name, _)| name == "index.html").collect();
    let mut open: Vec<usize> = (0..files.len()).filter(|index| first[*index]).collect();
    while let Some(reader) = open.pop() {
        let (name, bytes) = &files[reader];
        if ![".html", ".js", ".mjs", ".css"]
            .iter()
            .any(|end| name.ends_with(end))
        {
            continue;
        }
        let text = html::without_rest(&String::from_utf8_lossy(bytes));
        for (index, (other, _)) in files.iter().enumerate() {
            let file = other.rsplit('/').next().unwrap_or(other);
            if !first[index] && text.contains(file) {
                first[index] = true;
                open.push(index);
            }
        }
    }
    first
}

fn read_all(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read_all(root, &path, files)?;
        } else {
            let name = path.strip_prefix(root).unwrap_or(&path);
            files.push((name.to_string_lossy().replace('\\', "/"), fs::read(&path)?));
        }
    }
    Ok(())
}

fn gzip(bytes: &[u8]) -> std::io::Result<usize> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}

fn brotli(bytes: &[u8]) -> std::io::Result<usize> {
    let mut compressed = Vec::new();
    let mut encoder = brotli::CompressorWriter::new(&mut compressed, 1 << 16, 11, 22);
    encoder.write_all(bytes)?;
    encoder.flush()?;
    drop(encoder);
    Ok(compressed.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_screen_is_what_the_page_and_its_scripts_name() {
        let files: Vec<(String, Vec<u8>)> = [
            ("app-1.js", "fetch('app-1_bg.wasm')"),
            ("app-1_bg.wasm", "lessons/one.json"),
            ("app-1_rest.wasm", ""),
            (
                "index.html",
                "<meta name=\"optimist-rest\" content=\"./app-1_rest.wasm\"><script src=./app-1.js>",
            ),
            ("lessons/one.json", "{}"),
        ]
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()))
        .collect();
        assert_eq!(first_screen(&files), [true, true, false, true, false]);
    }

    #[test]
    fn what_repeats_gets_smaller() {
        let bytes = b"optimist ".repeat(1000);
        assert!(gzip(&bytes).is_ok_and(|size| size < 200));
        assert!(brotli(&bytes).is_ok_and(|size| size < 100));
    }
}

//! `optimist-size DIST`: measures how many bytes a visitor downloads before the first step. Fails if
//! the first screen is over budget.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

/// The most Brotli bytes of everything that the first screen needs. Two builds of one source differ by
/// a few hundred bytes.
const BUDGET: usize = 200_000;

/// A file of the site: its name and its bytes.
type SiteFile = (String, Vec<u8>);

struct Weighed {
    name: String,
    first: bool,
    raw: usize,
    gzip: usize,
    brotli: usize,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dist] = arguments.as_slice() else {
        eprintln!("usage: optimist-size DIST");
        return ExitCode::FAILURE;
    };
    match report(Path::new(dist)) {
        Ok(total) if total <= BUDGET => ExitCode::SUCCESS,
        Ok(total) => {
            let over = total - BUDGET;
            eprintln!("optimist-size: the first screen is {over} bytes over its budget");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("optimist-size: {dist}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the size of each file, and returns the brotli bytes of the first screen.
fn report(dist: &Path) -> io::Result<usize> {
    let mut files = Vec::new();
    read_all(dist, dist, &mut files)?;
    let mut weighed = weigh_all(&files)?;
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
    Ok(total)
}

/// Compresses the files on all processors, the largest first.
fn weigh_all(files: &[SiteFile]) -> io::Result<Vec<Weighed>> {
    let first = first_screen(files);
    let mut waiting: Vec<(&SiteFile, bool)> = files.iter().zip(first).collect();
    waiting.sort_by_key(|((_, bytes), _)| bytes.len());
    let waiting = Mutex::new(waiting);
    let weigh_some = || {
        let mut weighed = Vec::new();
        loop {
            let next = waiting.lock().ok().and_then(|mut waiting| waiting.pop());
            let Some((file, first)) = next else {
                return Ok(weighed);
            };
            weighed.push(weigh(file, first)?);
        }
    };
    let mut all = Vec::new();
    thread::scope(|scope| {
        let count = thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(weigh_some)).collect();
        for thread in threads {
            let some: io::Result<Vec<Weighed>> = match thread.join() {
                Ok(some) => some,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            all.extend(some?);
        }
        Ok(all)
    })
}

fn weigh((name, bytes): &SiteFile, first: bool) -> io::Result<Weighed> {
    Ok(Weighed {
        name: name.clone(),
        first,
        raw: bytes.len(),
        gzip: gzip(bytes)?,
        brotli: brotli(bytes)?,
    })
}

/// Tells of each file whether a browser loads it to show the first screen: the page, and the files
/// that are named in it or in the scripts and styles that it loads. The program loads the files
/// that only it names later.
fn first_screen(files: &[SiteFile]) -> Vec<bool> {
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
        let text = without_later(&String::from_utf8_lossy(bytes));
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

/// Returns the page without the files that it names and loads later: only names of files for the
/// first screen are left.
fn without_later(html: &str) -> String {
    let mut html = html.to_owned();
    for later in [
        "<meta name=\"optimist-rest\"",
        "<meta name=\"optimist-worker\"",
        "<meta name=\"optimist-task\"",
        "<meta name=\"optimist-saved\"",
        "<link rel=\"manifest\"",
    ] {
        let named = html.split_once(later);
        let named = named.and_then(|(before, after)| Some((before, after.split_once('>')?.1)));
        if let Some((before, after)) = named {
            html = format!("{before}{after}");
        }
    }
    html
}

fn read_all(root: &Path, folder: &Path, files: &mut Vec<SiteFile>) -> io::Result<()> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
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

fn gzip(bytes: &[u8]) -> io::Result<usize> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}

fn brotli(bytes: &[u8]) -> io::Result<usize> {
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
        let files: Vec<SiteFile> = [
            ("app-1.js", "fetch('app-1_bg.wasm')"),
            ("app-1_bg.wasm", "lessons/one.json"),
            ("app-1_rest.wasm", ""),
            (
                "index.html",
                "<meta name=\"optimist-rest\" content=\"./app-1_rest.wasm\">\
                <link rel=\"manifest\" href=\"./m.webmanifest\">\
                <meta name=\"optimist-worker\" content=\"./worker.js\"><script src=./app-1.js>",
            ),
            ("lessons/one.json", "{}"),
            ("m.webmanifest", "{}"),
            ("worker.js", "lessons/one.json"),
        ]
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()))
        .collect();
        assert_eq!(
            first_screen(&files),
            [true, true, false, true, false, false, false]
        );
    }

    #[test]
    fn every_file_is_weighed_once() {
        let text = b"optimist ".repeat(1000);
        let named = |number: usize| (format!("{number}.js"), text[..text.len() / number].to_vec());
        let files: Vec<SiteFile> = (1..=9).map(named).collect();
        let mut weighed = weigh_all(&files).expect("memory takes everything");
        weighed.sort_by(|one, other| one.name.cmp(&other.name));
        assert_eq!(weighed.len(), files.len());
        for (file, (name, bytes)) in weighed.iter().zip(&files) {
            assert_eq!((&file.name, file.raw), (name, bytes.len()));
            assert!(file.gzip < 200 && file.brotli < 100, "{name}");
        }
    }
}

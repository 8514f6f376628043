//! `optimist-size DIST`: measures how many bytes a visitor downloads to see the first screen, and to use *Play*.
//! Fails if one of them is over its budget.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

/// The most Brotli bytes of everything that the first screen needs, and of everything that *Play* needs. Two builds of
/// one source differ by a few hundred bytes.
const BUDGETS: [(LoadStage, usize); 2] = [
    (LoadStage::FirstScreen, 200_000),
    (LoadStage::Play, 450_000),
];

/// A time at which a browser loads files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum LoadStage {
    /// Before the first screen is drawn.
    FirstScreen,
    /// Before *Play* can be used.
    Play,
    Later,
}

/// A file of the site: its name and its bytes.
type SiteFile = (String, Vec<u8>);

struct Weighed {
    name: String,
    stage: LoadStage,
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
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("optimist-size: {dist}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the size of each file. Returns whether all stages are within their budgets.
fn report(dist: &Path) -> io::Result<bool> {
    let mut files = Vec::new();
    read_all(dist, dist, &mut files)?;
    let mut weighed = weigh_all(&files)?;
    weighed.sort_by_key(|file| (file.stage, std::cmp::Reverse(file.brotli)));
    println!("{:>9} {:>9} {:>9}  file", "raw", "gzip -9", "brotli 11");
    for file in &weighed {
        println!(
            "{:>9} {:>9} {:>9}  {}{}",
            file.raw,
            file.gzip,
            file.brotli,
            file.name,
            file.stage.suffix()
        );
    }
    let mut within = true;
    for (stage, budget) in BUDGETS {
        let files = || weighed.iter().filter(|file| file.stage <= stage);
        let raw: usize = files().map(|file| file.raw).sum();
        let gzip: usize = files().map(|file| file.gzip).sum();
        let brotli: usize = files().map(|file| file.brotli).sum();
        let name = stage.name();
        println!("{raw:>9} {gzip:>9} {brotli:>9}  {name}, of {budget} bytes of brotli");
        if let Some(over @ 1..) = brotli.checked_sub(budget) {
            eprintln!("optimist-size: {name} is {over} bytes over its budget");
            within = false;
        }
    }
    Ok(within)
}

impl LoadStage {
    fn name(self) -> &'static str {
        match self {
            Self::FirstScreen => "first screen",
            Self::Play => "Play whole",
            Self::Later => "all",
        }
    }

    /// The text behind the name of a file.
    fn suffix(self) -> &'static str {
        match self {
            Self::FirstScreen => "",
            Self::Play => "  (Play)",
            Self::Later => "  (later)",
        }
    }
}

/// Compresses the files on all processors, the largest first.
fn weigh_all(files: &[SiteFile]) -> io::Result<Vec<Weighed>> {
    let mut waiting: Vec<(&SiteFile, LoadStage)> = files.iter().zip(stages(files)).collect();
    waiting.sort_by_key(|((_, bytes), _)| bytes.len());
    let waiting = Mutex::new(waiting);
    let weigh_some = || {
        let mut weighed = Vec::new();
        loop {
            let next = waiting.lock().ok().and_then(|mut waiting| waiting.pop());
            let Some((file, stage)) = next else {
                return Ok(weighed);
            };
            weighed.push(weigh(file, stage)?);
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

fn weigh((name, bytes): &SiteFile, stage: LoadStage) -> io::Result<Weighed> {
    Ok(Weighed {
        name: name.clone(),
        stage,
        raw: bytes.len(),
        gzip: gzip(bytes)?,
        brotli: brotli(bytes)?,
    })
}

/// Tells of each file when a browser loads it. The page, and the files that are named in it or in the scripts and styles
/// that it loads, are for the first screen. The first part that the page names is for *Play*. The program loads the files
/// that only it names later.
fn stages(files: &[SiteFile]) -> Vec<LoadStage> {
    let of_page = |(name, _): &SiteFile| name == "index.html";
    let mut first: Vec<bool> = files.iter().map(of_page).collect();
    let mut open: Vec<usize> = (0..files.len()).filter(|index| first[*index]).collect();
    let page = files.iter().find(|file| of_page(file));
    let page = page.map(|(_, bytes)| String::from_utf8_lossy(bytes));
    let part = page.as_deref().and_then(first_part);
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
    let stage = |(first, (name, _)): (bool, &SiteFile)| match first {
        true => LoadStage::FirstScreen,
        false if part == Some(name.as_str()) => LoadStage::Play,
        false => LoadStage::Later,
    };
    first.into_iter().zip(files).map(stage).collect()
}

/// The beginning of the element that names a part of the program. The page loads it after the first screen.
const PART: &str = "<meta name=\"optimist-part\"";

/// The name of the first file that the page loads after the first screen.
fn first_part(html: &str) -> Option<&str> {
    let (_, after) = html.split_once(PART)?;
    let (_, address) = after.split_once("content=\"./")?;
    Some(address.split_once('"')?.0)
}

/// Returns the page without the files that it names and loads later: only names of files for the
/// first screen are left.
fn without_later(html: &str) -> String {
    let mut html = html.to_owned();
    for later in [
        PART,
        "<meta name=\"optimist-worker\"",
        "<meta name=\"optimist-task\"",
        "<meta name=\"optimist-saved\"",
        "<link rel=\"manifest\"",
    ] {
        while let Some((before, after)) = html.split_once(later) {
            let after = after.split_once('>').map_or("", |(_, after)| after);
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
    fn the_first_screen_is_what_the_page_and_its_scripts_name_and_play_has_the_first_part() {
        let files: Vec<SiteFile> = [
            ("app-1.js", "fetch('app-1_bg.wasm')"),
            ("app-1_bg.wasm", "lessons/one.json"),
            ("app-1_play.wasm", ""),
            ("app-1_rest.wasm", ""),
            (
                "index.html",
                "<meta name=\"optimist-part\" content=\"./app-1_play.wasm\" data-integrity=\"1\">\
                <meta name=\"optimist-part\" content=\"./app-1_rest.wasm\">\
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
        let [first, play, later] = [LoadStage::FirstScreen, LoadStage::Play, LoadStage::Later];
        assert_eq!(
            stages(&files),
            [first, first, play, later, first, later, later, later]
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

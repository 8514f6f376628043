//! `opening SITE FILE`: opens an instrumented site (`xtask/split`) and writes the numbers of the
//! branches that run until the page is drawn into the file, one in each line.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use optimist_tests::page::{Browser, Site};

/// The marks of the wasm that are set, once no mark was added for half a second: effects and timers of
/// the page run after it is drawn, and before the second file is there. The script is loaded already,
/// and returns what it started.
const RAN: &str = "
    const script = document.querySelector('link[rel=modulepreload]').href;
    const pause = () => new Promise(done => setTimeout(done, 500));
    return import(script).then(page => page.default()).then(async wasm => {
        const [from, to] = [wasm.marks.value, wasm['marks end'].value];
        const set = () => {
            const marks = new Uint8Array(wasm['marks memory'].buffer, from, to - from);
            return [...marks.keys()].filter(mark => marks[mark] !== 0);
        };
        let before = [];
        for (;;) {
            await pause();
            const now = set();
            if (now.length === before.length) return now;
            before = now;
        }
    })";

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    let [site, file] = arguments.as_slice() else {
        eprintln!("usage: opening SITE FILE");
        return ExitCode::FAILURE;
    };
    let site = Site::serve(site);
    let mut ran = BTreeSet::new();
    // Two loads of a window differ only in the branches of the allocator, because scripts of the browser
    // leave other addresses free. The allocator is never split (`called_by_browser` in `xtask/split`).
    for (width, height, dark) in [(1440, 900, false), (390, 844, true)] {
        let browser = Browser::start();
        browser.resize(width, height);
        browser.prefer(dark);
        browser.go(&site.url());
        browser.wait(
            "the page",
            "return document.querySelector('#card-server .yaml')",
            &[],
        );
        let numbers = browser.run(RAN, &[]);
        let numbers = numbers.as_array().into_iter().flatten();
        ran.extend(numbers.filter_map(serde_json::Value::as_u64));
    }
    let lines: String = ran.iter().map(|number| format!("{number}\n")).collect();
    if let Err(error) = std::fs::write(file, lines) {
        eprintln!("{}: {error}", file.display());
        return ExitCode::FAILURE;
    }
    println!("    {} branches run", ran.len());
    ExitCode::SUCCESS
}

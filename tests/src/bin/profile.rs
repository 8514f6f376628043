//! Which functions of the page run until it is drawn: `profile SITE`, where the site's wasm notes
//! that (`xtask/split`). Prints their sizes and names, one a line.

use std::collections::BTreeSet;
use std::path::PathBuf;

use optimist_tests::page::{Browser, Site};

/// The wasm's exports that say so. The script is loaded already, and says what it started.
const RAN: &str = "
    const script = document.querySelector('link[rel=modulepreload]').href;
    return import(script).then(page => page.default()).then(wasm => Object.keys(wasm)
        .filter(name => name.startsWith('ran ') && wasm[name].value === 1)
        .map(name => name.split(' ').slice(2).join(' ')))";

fn main() {
    let Some(folder) = std::env::args().nth(1).map(PathBuf::from) else {
        eprintln!("usage: profile SITE");
        std::process::exit(2);
    };
    let site = Site::serve(&folder);
    let mut ran = BTreeSet::new();
    for (width, height) in [(1440, 900), (390, 844)] {
        let browser = Browser::start();
        browser.resize(width, height);
        browser.go(&site.url());
        browser.wait(
            "the page",
            "return document.querySelector('#card-server .yaml')",
            &[],
        );
        let names = browser.run(RAN, &[]);
        let names = names.as_array().cloned().unwrap_or_default();
        ran.extend(
            names
                .iter()
                .filter_map(|name| Some(name.as_str()?.to_owned())),
        );
    }
    for name in ran {
        println!("{name}");
    }
}

//! The release site in a real browser. `cargo xtask test page` builds it first.

mod accessible;
mod cards;
mod delivery;
mod embedding;
mod explored;
mod keyboard;
mod left;
mod live;
mod narrow;
mod offline;
mod remote;
mod saved;
mod visitor;
mod work;

use optimist_tests::page::Browser;

/// The key Enter for a browser's driver.
const ENTER: &str = "\u{e007}";

fn press(browser: &Browser, region: &str, name: &str) {
    browser.click(&browser.control(region, name));
}

/// Waits until all files of the program are there: its last file has the help.
fn wait_until_whole(browser: &Browser) {
    browser.click_selector("[aria-label='Help and keys']");
    let open = "return document.querySelector('dialog[open] #dialog-close')";
    browser.wait("the help", open, &[]);
    browser.click_selector("#dialog-close");
}

/// Nothing went wrong that only the console tells.
fn says_nothing(browser: &Browser) {
    let severe: Vec<_> = browser
        .console()
        .into_iter()
        .filter(|(level, _)| level == "SEVERE")
        .collect();
    assert!(severe.is_empty(), "the console complains: {severe:?}");
}

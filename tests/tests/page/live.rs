//! The page that `optimist serve` serves: it shows the requests of others while they come.

use optimist_tests::page::{Browser, Site, dist};

use super::says_nothing;

/// The requests of two people with kubectl that `optimist serve` showed: both read version 86, and
/// both replace it.
const TOLD: &str = include_str!("live.log");

/// Waits for as many steps with these codes.
fn wait_for_codes(browser: &Browser, codes: &[&str]) {
    let script = "
        const text = document.querySelector('.recorded-lanes')?.textContent ?? '';
        return arguments[0].every(code => text.includes('\u{2192} ' + code))";
    browser.wait("the steps", script, &[codes.into()]);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn the_page_beside_a_server_shows_a_409_while_it_happens() {
    let site = Site::serve(&dist());
    let mut lines = TOLD.lines();
    site.tell(lines.next().expect("a create"));
    let browser = Browser::start();
    browser.resize(1440, 900);
    // Nobody opens Diagnose: the page does.
    browser.go(&site.url());
    wait_for_codes(&browser, &["201"]);
    for line in lines {
        site.tell(line);
    }
    wait_for_codes(&browser, &["201", "200", "409"]);
    let says = "return document.querySelector('.history').textContent";
    let says = browser.run(says, &[]);
    let says = says.as_str().unwrap_or_default();
    assert!(says.contains("1 conflict"), "{says}");
    says_nothing(&browser);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_page_that_stays_open_says_that_the_server_was_started_again_and_shows_its_requests_alone() {
    let site = Site::serve(&dist());
    TOLD.lines().for_each(|line| site.tell(line));
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&site.url());
    wait_for_codes(&browser, &["201", "200", "409"]);
    site.restart();
    let script = "return document.querySelector('.history')?.textContent.includes(arguments[0])";
    let said = "The server was started again, so its log begins anew.";
    browser.wait("the page says it", script, &[said.into()]);
    site.tell(TOLD.lines().next().expect("a create"));
    wait_for_codes(&browser, &["201"]);
    let says = browser.run("return document.querySelector('.history').textContent", &[]);
    let says = says.as_str().unwrap_or_default();
    assert!(says.contains(said) && !says.contains("409"), "{says}");
    says_nothing(&browser);
}

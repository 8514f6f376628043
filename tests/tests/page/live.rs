//! The page that `optimist serve` serves: it shows the requests of others while they come.

use optimist_apiserver::server::ApiServer;
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
    let says = "return document.querySelector('.history').textContent.includes('1 conflict')";
    browser.wait("the count of conflicts", says, &[]);
    says_nothing(&browser);
}

/// Presses the button with this name, in the part of the page with this class.
fn press(browser: &Browser, part: &str, name: &str) {
    let script = "
        const all = [...document.querySelectorAll(arguments[0])]
            .flatMap(part => [...part.querySelectorAll('button, a, summary')]);
        const found = all.find(one => one.textContent.trim() === arguments[1]);
        found?.click();
        return found !== undefined";
    browser.wait(name, script, &[part.into(), name.into()]);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_branch_leaves_the_line_of_the_server_says_so_and_leads_back() {
    let site = Site::serve(&dist());
    let mut lines = TOLD.lines();
    site.tell(lines.next().expect("a create"));
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&site.url());
    wait_for_codes(&browser, &["201"]);
    let first = "
        document.querySelector('.lane-button')?.click();
        return document.querySelector('.step-card') !== null";
    browser.wait("the card of the step", first, &[]);
    press(&browser, ".step-card", "Branch here");
    let says = "
        const said = document.querySelector('.stage .notice')?.textContent ?? '';
        return [...arguments].every(text => said.includes(text))";
    let words = ["You have left the line of the server", "after step 1"];
    browser.wait("Play says so", says, &words.map(Into::into));
    let server = "return document.querySelector('.cards').textContent.includes('nginx:1.25')";
    browser.wait("the object of then", server, &[]);
    // The server goes on without the branch.
    lines.for_each(|line| site.tell(line));
    press(&browser, ".stage .notice", "Back to the line of the server");
    wait_for_codes(&browser, &["201", "200", "409"]);
    says_nothing(&browser);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn who_writes_on_the_page_is_answered_by_the_server_and_is_one_of_its_clients() {
    let site = Site::serve(&dist());
    site.write_to(ApiServer::default());
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = r#"{"metadata": {"name": "settings"}, "data": {"mode": "old"}}"#;
    assert_eq!(site.request("POST", maps, map).0, 201);
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&site.url());
    wait_for_codes(&browser, &["201"]);
    press(&browser, ".live-editor", "Write to this server");
    let type_in = "
        const field = document.querySelector('.live-editor ' + arguments[0]);
        if (!field || !field.value.includes(arguments[1])) return false;
        field.value = arguments[1] ? field.value.replace(arguments[1], arguments[2]) : arguments[2];
        field.dispatchEvent(new InputEvent('input', {bubbles: true}));
        return true";
    let typed = |field: &str, from: &str, to: &str| {
        let arguments = [field.into(), from.into(), to.into()];
        browser.wait("the field", type_in, &arguments);
    };
    typed("input", "", "anna");
    press(&browser, ".live-editor", "Get configmaps/settings");
    typed("textarea", "mode: old", "mode: new");
    // Somebody else is faster.
    let other = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"mode": "other"}}"#;
    let path = format!("{maps}/settings");
    assert_eq!(site.request("PUT", &path, other).0, 200);
    press(&browser, ".live-editor", "Send");
    let says = "return document.querySelector('.live-editor')?.textContent.includes(arguments[0])";
    browser.wait(
        "the refusal",
        says,
        &["the object has been modified".into()],
    );
    wait_for_codes(&browser, &["409"]);
    let lanes = "return document.querySelector('.recorded-lanes').textContent.includes('anna')";
    browser.wait("a lane", lanes, &[]);
    press(&browser, ".live-editor", "Get configmaps/settings");
    typed("textarea", "mode: other", "mode: new");
    press(&browser, ".live-editor", "Send");
    browser.wait("the answer", says, &["PUT \u{2192} 200".into()]);
    let stored = String::from_utf8(site.request("GET", &path, "").1).expect("it is text");
    assert!(stored.contains(r#""mode":"new""#), "{stored}");
    // The refused write is an error in the console of the browser, and no other is.
    let mut errors = browser.console().into_iter();
    assert!(errors.all(|(level, message)| level != "SEVERE" || message.contains("409")));
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_server_without_requests_offers_a_new_object_whose_create_is_the_first_row() {
    let site = Site::serve(&dist());
    site.write_to(ApiServer::default());
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&site.url());
    let says = "return document.querySelector('.case-outcome')?.innerText.includes(arguments[0])";
    let none = "No request for an object has come yet.";
    browser.wait("it says that there is none", says, &[none.into()]);
    // The editor is open: nobody has to look for it.
    press(&browser, ".live-editor[open]", "New object");
    press(&browser, ".live-editor", "Create");
    wait_for_codes(&browser, &["201"]);
    browser.wait("the answer", says, &["POST \u{2192} 201".into()]);
    // Whoever writes in it goes on.
    let is_open = "return document.querySelector('.live-editor').open";
    assert_eq!(browser.run(is_open, &[]), true);
    let says = browser.run("return document.querySelector('.history').innerText", &[]);
    assert!(!says.as_str().unwrap_or_default().contains(none), "{says}");
    let map = "/api/v1/namespaces/default/configmaps/example";
    assert_eq!(site.request("GET", map, "").0, 200);
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
    let said = "The server was started again, so a new log begins.";
    browser.wait("the page says it", script, &[said.into()]);
    site.tell(TOLD.lines().next().expect("a create"));
    wait_for_codes(&browser, &["201"]);
    let alone = "
        const says = document.querySelector('.history').textContent;
        return says.includes(arguments[0]) && !says.includes('409')";
    browser.wait("the new log alone", alone, &[said.into()]);
    says_nothing(&browser);
}

//! Tests for people who work with keys: the keyboard never falls to nothing when its element goes.

use optimist_tests::page::{Browser, Site, dist};

use super::{ENTER, press};

/// Waits until the element with the keyboard fulfils a condition, once all is drawn: a search that runs
/// may delay it.
fn keyboard(browser: &Browser, what: &str, condition: &str) {
    const DRAWN: &str = "return new Promise(done => requestAnimationFrame(() =>
        requestAnimationFrame(() => setTimeout(done, 0))))";
    browser.run(DRAWN, &[]);
    let script = format!(
        "const holder = document.activeElement;
        const lost = holder === document.body || !holder.checkVisibility() || holder.matches(':disabled');
        return !lost && {condition}"
    );
    browser.wait(what, &script, &[]);
}

fn keeps_the_keyboard(browser: &Browser, after: &str) {
    let what = format!("something to have the keyboard after {after}");
    keyboard(browser, &what, "true");
}

fn wait_for(browser: &Browser, selector: &str) {
    let script = "return document.querySelector(arguments[0])";
    browser.wait(selector, script, &[selector.into()]);
}

/// Returns whether nothing of the page is beside the window.
const NOTHING_BESIDE: &str = "return document.documentElement.scrollWidth <= innerWidth";

/// Gives an element the keyboard, once it can take it.
fn focus(browser: &Browser, selector: &str) {
    let script = "
        const one = document.querySelector(arguments[0]);
        one?.focus();
        return one !== null && document.activeElement === one";
    browser.wait(selector, script, &[selector.into()]);
}

/// Presses Enter on an element, as a person who works with keys does.
fn enter(browser: &Browser, selector: &str) {
    wait_for(browser, selector);
    focus(browser, selector);
    browser.type_text(ENTER);
}

fn open(site: &Site, fragment: &str) -> Browser {
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&format!("{}{fragment}", site.url()));
    browser
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn what_is_brought_and_removed_leaves_the_keyboard_near() {
    let site = Site::serve(&dist());
    let browser = open(&site, "#/diagnose");
    wait_for(&browser, "#bring");
    focus(&browser, "#bring");
    browser.type_text("kind: ConfigMap");
    enter(&browser, ".case-paste [type=submit]");
    wait_for(&browser, ".case-cards li, .case-cards > *");
    let add = "holder.textContent.trim().endsWith('Add')";
    keyboard(&browser, "the keyboard on Add", add);
    press(&browser, "The case", "Remove all");
    let gone = "return !document.querySelector('.case-cards > *')";
    browser.wait("all is removed", gone, &[]);
    keeps_the_keyboard(&browser, "Remove all");
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_page_that_is_opened_by_its_link_leaves_the_keyboard_on_that_link() {
    let site = Site::serve(&dist());
    let browser = open(&site, "");
    wait_for(&browser, ".pages a");
    for (page, shows) in [
        ("#/explore", ".explore"),
        ("#/learn", ".lessons, .contents, main"),
        ("#/diagnose", "#bring"),
        ("#/play", "#card-server"),
    ] {
        enter(&browser, &format!(".pages a[href='{page}']"));
        wait_for(&browser, shows);
        wait_for(&browser, &format!(".pages a[href='{page}'][aria-current]"));
        // The link to the content is a link too, and elsewhere.
        let link = format!("holder.matches(\".pages a[href='{page}']\")");
        keyboard(
            &browser,
            &format!("the keyboard on the link to {page}"),
            &link,
        );
    }
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_history_that_is_opened_in_play_and_an_answer_keep_the_keyboard() {
    let site = Site::serve(&dist());
    let browser = open(&site, "#/explore");
    enter(&browser, ".witness button");
    wait_for(&browser, "#history .step");
    keeps_the_keyboard(&browser, "Open in Play");

    let browser = open(&site, "#/learn/02-resourceversion-and-the-409");
    wait_for(&browser, "#lesson-forward");
    let question = "
        if (!document.querySelector('.choice')) document.getElementById('lesson-forward').click();
        return document.querySelector('.choice:enabled')";
    browser.wait("a question", question, &[]);
    enter(&browser, ".choice");
    wait_for(&browser, ".choice:disabled");
    keeps_the_keyboard(&browser, "an answer");
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_property_of_ones_own_is_written_mended_and_opened_in_play_by_keyboard() {
    let site = Site::serve(&dist());
    for width in [1440, 390] {
        let browser = open(&site, "#/explore");
        browser.resize(width, 844);
        enter(&browser, ".own-property summary");
        // A word is wrong, and the error is at the field.
        focus(&browser, ".own-property textarea");
        browser.type_text("never: [lost edits]");
        enter(&browser, ".own-property [type=submit]");
        let wrong = "
            const field = document.querySelector('.own-property textarea[aria-invalid=true]');
            const error = field && document.getElementById(field.getAttribute('aria-describedby'));
            return error?.textContent.includes('character 9')";
        browser.wait("the place of the error", wrong, &[]);
        let none = "return !document.querySelector('.witness.property')";
        browser.wait("no answer to it", none, &[]);
        enter(&browser, ".own-property .examples button");
        let counts = "
            const summary = document.querySelector('.own-property summary').textContent;
            return summary.includes('ways of writing') && summary.includes('broken with')";
        browser.wait("the answers of all ways of writing", counts, &[]);
        browser.wait("the width of the page", NOTHING_BESIDE, &[]);
        // The first way loses an edit.
        enter(&browser, ".witness.property.refused button");
        wait_for(&browser, "#history .step");
        keeps_the_keyboard(&browser, "Open in Play");
    }
}

//! The page in another page: `<optimist-play>`, and the messages of `docs/embedding.md`.

use std::fs;
use std::path::{Path, PathBuf};

use optimist_tests::page::{Browser, Site, dist};
use serde_json::json;

/// A page of another origin, with this body behind a script that collects what the elements tell.
fn around(name: &str, body: &str) -> PathBuf {
    const COLLECT: &str = "<script>
        window.told = [];
        for (const type of ['ready', 'step', 'goal', 'error'])
            addEventListener(`optimist-${type}`, event => told.push([event.target.id, type, event.detail]));
        </script>";
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder can be made");
    let page = format!("<!DOCTYPE html><link rel=icon href=data:,>{COLLECT}{body}");
    fs::write(folder.join("index.html"), page).expect("a file can be written");
    let script = dist().join("optimist-play.js");
    fs::copy(script, folder.join("optimist-play.js")).expect("the site has the element");
    folder
}

const SCRIPT: &str = "<script type=module src=optimist-play.js></script>";

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn an_element_in_sight_tells_of_steps_and_one_out_of_sight_loads_nothing() {
    let site = Site::serve(&dist());
    let body = format!(
        "<optimist-play id=near site='{0}' lesson=02-resourceversion-and-the-409></optimist-play>
        <p style='height: 5000px'></p><optimist-play id=far site='{0}'></optimist-play>{SCRIPT}",
        site.url()
    );
    let page = Site::serve(&around("embedded", &body));
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&page.url());
    let at = "return told.some(([id, type, detail]) =>
        id === 'near' && type === 'step' && detail.step === arguments[0] && detail.of > 0)";
    browser.wait("the steps of the lesson", at, &[json!(2)]);
    browser.run(
        "document.getElementById('near').setAttribute('step', '1')",
        &[],
    );
    browser.wait("the step before", at, &[json!(1)]);
    let frames = "return [...document.querySelectorAll('iframe')].map(one => one.parentNode.id)";
    assert_eq!(browser.run(frames, &[]), json!(["near"]));
    // Messages of anybody else are not taken for those of the frame.
    let counted = "const before = told.length;
        window.postMessage({optimist: 1, type: 'step', step: 9, of: 9}, '*');
        const forged = ([, , detail]) => detail?.step === 9;
        return new Promise(done => setTimeout(() => done(told.slice(before).filter(forged).length), 300))";
    assert_eq!(browser.run(counted, &[]), json!(0));
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn an_element_tells_that_a_lesson_or_a_session_does_not_open() {
    let site = Site::serve(&dist());
    let body = format!(
        "<optimist-play id=lesson site='{0}' lesson=nope></optimist-play>
        <optimist-play id=session site='{0}' session='#/play?s=3damaged'></optimist-play>{SCRIPT}",
        site.url()
    );
    let page = Site::serve(&around("embedded-in-vain", &body));
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&page.url());
    let last = "return told.findLast(([id, type]) => id === arguments[0] && type === 'error')?.[2].error.message";
    // The text of the lesson is missed first, then its name in the list.
    let unknown = json!("There is no lesson “nope”. These are the lessons.");
    browser.wait_for_value("no such lesson", last, &[json!("lesson")], &unknown);
    let newer = json!("A later version of Optimist made it.");
    browser.wait_for_value("the link", last, &[json!("session")], &newer);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_case_of_the_page_around_is_opened_only_if_the_reader_agrees() {
    let site = Site::serve(&dist());
    let body = format!(
        "<optimist-play site='{}' case=case.txt></optimist-play>{SCRIPT}",
        site.url()
    );
    let folder = around("embedded-case", &body);
    let case = "Operation cannot be fulfilled on configmaps \"settings\": the object has been modified; \
                please apply your changes to the latest version and try again";
    fs::write(folder.join("case.txt"), case).expect("a file can be written");
    let page = Site::serve(&folder);
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&page.url());
    browser.wait("the frame", "return document.querySelector('iframe')", &[]);
    browser.enter("iframe");
    let asked = browser.wait(
        "the question",
        "return document.querySelector('.offered-case')?.textContent",
        &[],
    );
    let origin = page.url().split('/').take(3).collect::<Vec<_>>().join("/");
    let asked = asked.as_str().unwrap_or_default();
    assert!(asked.contains(&origin) && asked.contains("1 kB"), "{asked}");
    let has_case = "return document.body.textContent.includes('settings')";
    assert_eq!(browser.run(has_case, &[]), json!(false));
    browser.click_selector(".offered-case .primary");
    browser.wait("the case", has_case, &[]);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_frame_sends_nothing_to_an_origin_that_its_address_does_not_name() {
    let site = Site::serve(&dist());
    let body = format!(
        "<script>
        window.heard = [];
        addEventListener('message', event => heard.push(event.data));
        </script>
        <iframe width=1000 height=600 src='{}?embed&parent=https%3A%2F%2Fexample.com'></iframe>",
        site.url()
    );
    let page = Site::serve(&around("embedded-elsewhere", &body));
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&page.url());
    // The page is there, and had the time to send.
    browser.run("return new Promise(done => setTimeout(done, 6000))", &[]);
    assert_eq!(browser.run("return heard", &[]), json!([]));
    browser.enter("iframe");
    browser.wait(
        "the page",
        "return document.querySelector('.timeline')",
        &[],
    );
}

//! Long work in the worker of the page, and in the page where the worker does not come or fails.

use optimist_tests::page::{Browser, Fault, Site, dist, session_to_search};
use serde_json::Value;

use super::{offline, says_nothing};

/// The script of the worker.
const TASK: &str = "_task.js";

/// Presses a button by its text, once it is there.
const PRESS: &str = "
    const named = [...document.querySelectorAll('button')];
    const button = named.find(it => it.textContent.trim() === arguments[0] && it.checkVisibility());
    button?.click();
    return Boolean(button)";

/// Notes what the workers say that the page makes from now on. A script can change each of them.
const WATCH_WORKERS: &str = "
    window.said = [];
    const Real = window.Worker;
    window.Worker = function (...given) {
        const worker = new Real(...given);
        worker.addEventListener('message', ({ data }) => window.said.push(String(data)));
        /* with the worker */
        return worker;
    };
    window.Worker.prototype = Real.prototype;";

/// A worker is given up when it says nothing for a time. Here it may take as long as it needs on this machine.
const PATIENTLY: &str = "
    const set = window.setTimeout;
    window.setTimeout = (act, delay, ...rest) => set.call(window, act, delay >= 20000 ? 600000 : delay, ...rest);";

/// The milliseconds between two frames of a page that does nothing.
const FRAME: &str = "
    const began = performance.now();
    let left = 20;
    return new Promise(done => {
        const count = () => left-- > 0 ? requestAnimationFrame(count) : done((performance.now() - began) / 20);
        count();
    })";

/// Counts the frames from now on.
const COUNT_FRAMES: &str = "
    window.frames_painted = 0;
    window.began = performance.now();
    const count = () => { window.frames_painted += 1; requestAnimationFrame(count); };
    requestAnimationFrame(count);";

/// The search has its result: it says what it varied.
const FOUND: &str =
    "return document.querySelector('.orders')?.innerText.includes('Varied') ?? false";

/// A worker has told a result.
const TOLD: &str = "return window.said.some(text => text.includes('Done'))";

/// Opens the session, searches every order of the controller, and waits for the result. `with_worker` is
/// what happens to the worker when it is made.
fn search(browser: &Browser, site: &Site, with_worker: &str) {
    browser.resize(1440, 900);
    browser.go(&format!("{}#/play?s={}", site.url(), session_to_search()));
    let there = "return [...document.querySelectorAll('button')]
        .some(it => it.textContent.trim() === 'Search every order' && it.checkVisibility())";
    browser.wait("the session", there, &[]);
    let watch = WATCH_WORKERS.replace("/* with the worker */", with_worker);
    browser.run(&watch, &[]);
    browser.run(COUNT_FRAMES, &[]);
    browser.wait("the search", PRESS, &["Search every order".into()]);
    browser.wait("the result", FOUND, &[]);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_search_runs_in_a_worker_of_the_page_and_the_page_goes_on_painting() {
    let site = Site::serve(&dist());
    let browser = Browser::start();
    browser.go(&site.url());
    browser.wait(
        "the page",
        "return document.querySelector('#card-server .yaml')",
        &[],
    );
    let before = browser.run(FRAME, &[]);
    search(&browser, &site, PATIENTLY);
    let counted = "return [window.frames_painted, performance.now() - window.began]";
    let counted = browser.run(counted, &[]);
    assert_eq!(browser.run(TOLD, &[]), Value::Bool(true));
    // On a machine that does something else too, a frame may come late, as it does when the page is at rest.
    let after = browser.run(FRAME, &[]);
    let [before, after, painted, took] =
        [&before, &after, &counted[0], &counted[1]].map(|it| it.as_f64().expect("a number"));
    let slow = before.max(after) * 8.0;
    assert!(
        painted >= (took / slow.max(250.0)).floor(),
        "{painted} frames in {took} ms; at rest, one in {before} and {after} ms"
    );
    says_nothing(&browser);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn without_the_script_of_its_worker_the_page_searches_by_itself() {
    for fault in Fault::FAILURES {
        let site = Site::serve(&dist());
        site.fail(TASK, fault);
        let browser = Browser::start();
        search(&browser, &site, "");
        assert!(site.asked(TASK) >= 1, "{fault:?}");
        assert_eq!(browser.run(TOLD, &[]), Value::Bool(false), "{fault:?}");
    }
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_worker_that_fails_at_its_work_or_says_nothing_is_replaced_by_the_page() {
    let fails = "
        const fails = () => worker.dispatchEvent(new ErrorEvent('error', { cancelable: true }));
        worker.postMessage = () => setTimeout(fails);";
    let says_nothing = "worker.postMessage = () => {};";
    let site = Site::serve(&dist());
    for with_worker in [fails, says_nothing] {
        let browser = Browser::start();
        search(&browser, &site, with_worker);
        assert_eq!(browser.run(TOLD, &[]), Value::Bool(false), "{with_worker}");
    }
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn without_a_network_the_worker_comes_from_what_the_browser_keeps() {
    let site = Site::serve(&dist());
    let browser = Browser::start();
    browser.go(&site.url());
    offline::wait_until_kept(&browser);
    browser.go("about:blank");
    browser.offline(true);
    search(&browser, &site, PATIENTLY);
    assert_eq!(browser.run(TOLD, &[]), Value::Bool(true));
}

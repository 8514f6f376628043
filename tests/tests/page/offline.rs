//! The release site without a network, and when a newer release is there.

use std::fs;
use std::path::{Path, PathBuf};

use optimist_tests::page::{Browser, Fault, Site, dist};
use serde_json::json;

use super::press;

/// Counts the releases that the browser keeps.
const KEPT: &str = "return caches.keys().then(names => names.length)";

fn open(site: &Site) -> Browser {
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&site.url());
    browser
}

/// Waits until a worker has all files.
pub(super) fn wait_until_kept(browser: &Browser) {
    let active = "return navigator.serviceWorker.getRegistration()
        .then(registration => registration?.active?.state === 'activated')";
    browser.wait("the site is kept", active, &[]);
}

fn wait_for_steps(browser: &Browser, count: usize) {
    let script = "return document.querySelectorAll('#history .step').length >= arguments[0]";
    browser.wait(&format!("{count} steps"), script, &[count.into()]);
}

fn wait_for_newer(browser: &Browser, shown: bool) {
    let script = "return document.getElementById('newer')?.checkVisibility() === arguments[0]";
    browser.wait("the notice", script, &[shown.into()]);
}

/// The address that the page has from its server, as text: what the worker does not answer for.
fn status_of(browser: &Browser, address: &str) -> serde_json::Value {
    let script = "return fetch(arguments[0]).then(answer => answer.status, () => 'no answer')";
    browser.run(script, &[address.into()])
}

/// A copy of the release that tests may change.
pub(super) fn copy(name: &str) -> PathBuf {
    fn copy_all(from: &Path, to: &Path) {
        fs::create_dir_all(to).expect("a folder can be made");
        for file in fs::read_dir(from).expect("it is a folder").flatten() {
            let to = to.join(file.file_name());
            if file.path().is_dir() {
                copy_all(&file.path(), &to);
            } else {
                fs::copy(file.path(), to).expect("a file can be copied");
            }
        }
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    copy_all(&dist(), &folder);
    folder
}

/// Makes another release of a site: all its files are the same, and its worker is new.
fn release(site: &Path, name: &str) {
    let worker = site.join("worker.js");
    let source = fs::read_to_string(&worker).expect("the site has a worker");
    let (before, after) = source
        .split_once("const RELEASE = \"")
        .expect("it has a name");
    let (_, after) = after.split_once('"').expect("the name ends");
    let source = format!("{before}const RELEASE = \"{name}\"{after}");
    fs::write(worker, source).expect("a file can be written");
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_page_that_was_open_once_opens_without_a_network() {
    let site = Site::serve(&dist());
    let browser = open(&site);
    wait_until_kept(&browser);
    browser.go("about:blank");
    site.fail("", Fault::Nothing);
    browser.go(&site.url());
    press(&browser, "Editor A", "Get");
    press(&browser, "Editor B", "Get");
    wait_for_steps(&browser, 2);
    browser.go("about:blank");
    browser.go(&format!("{}?embed#/learn/01-the-lost-update", site.url()));
    let lesson = "return document.querySelector('.learning')";
    browser.wait("the lesson", lesson, &[]);
    browser.go(&format!("{}licences.html", site.url()));
    let text = browser.run("return document.body.innerText", &[]);
    assert!(text.as_str().is_some_and(|text| text.contains("yew ")));
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn only_files_of_the_site_come_from_the_browser() {
    let site = Site::serve(&dist());
    let browser = open(&site);
    wait_until_kept(&browser);
    browser.go(&site.url());
    browser.control("Editor A", "Get");
    site.fail("", Fault::Nothing);
    let kept = [
        "./",
        "index.html",
        "licences.html",
        "lessons/catalogue.yaml",
    ];
    for address in kept {
        assert_eq!(status_of(&browser, address), 200, "{address}");
    }
    site.mend();
    let others = [
        "api",
        "apis/apps/v1",
        "api/v1/pods?watch=1",
        "lessons/",
        "optimist-0.wasm",
    ];
    for address in others {
        assert_eq!(status_of(&browser, address), 404, "{address}");
    }
    let post = "return fetch('./', { method: 'POST' }).then(() => true)";
    let before = site.asked("/");
    browser.run(post, &[]);
    assert_eq!(site.asked("/"), before + 1, "a POST goes to the server");
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_newer_release_waits_until_it_is_asked_for_and_the_session_stays() {
    let folder = copy("newer");
    let site = Site::serve(&folder);
    let browser = open(&site);
    wait_until_kept(&browser);
    release(&folder, "second");
    browser.go("about:blank");
    browser.go(&site.url());
    wait_for_newer(&browser, true);
    press(&browser, "Editor A", "Get");
    wait_for_steps(&browser, 1);
    let session = "return sessionStorage.getItem('optimist.session')";
    browser.wait("the session is kept", session, &[]);
    assert_eq!(browser.run(KEPT, &[]), 2);
    browser.click_selector("#newer-later");
    wait_for_newer(&browser, false);

    browser.go(&site.url());
    wait_for_newer(&browser, true);
    browser.run("window.before = true", &[]);
    browser.click_selector("#newer-open");
    let reloaded = "return !window.before && document.readyState === 'complete'";
    browser.wait("the page of the new release", reloaded, &[]);
    wait_for_steps(&browser, 1);
    // An open page of the release before may need its files.
    assert_eq!(browser.run(KEPT, &[]), 2);
    assert_eq!(
        browser.run("return document.getElementById('newer').hidden", &[]),
        true
    );

    release(&folder, "third");
    browser.go(&site.url());
    wait_for_newer(&browser, true);
    browser.click_selector("#newer-open");
    let names = "return caches.keys().then(names =>
        names.map(name => name.split(' ').at(-1)).join(' ') === 'second third')";
    browser.wait("two releases are kept", names, &[]);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_release_with_a_damaged_file_is_not_kept_and_the_page_works() {
    for fault in [Fault::Half, Fault::Missing, Fault::Nothing, Fault::Page] {
        let site = Site::serve(&dist());
        site.fail("licences.html", fault);
        let browser = open(&site);
        site.wait_until_asked("licences.html", 1);
        let given_up = "return navigator.serviceWorker.getRegistration().then(registration =>
            !registration?.installing && !registration?.active)
            .then(given_up => caches.keys().then(names => given_up && names.length === 0))";
        browser.wait("no part is kept", given_up, &[]);
        press(&browser, "Editor A", "Get");
        wait_for_steps(&browser, 1);
    }
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_worker_that_cannot_be_installed_takes_nothing_from_the_active_one() {
    let folder = copy("changed-worker");
    let site = Site::serve(&folder);
    let browser = open(&site);
    wait_until_kept(&browser);
    let kept = "return caches.keys().then(names => Promise.all(names.map(name =>
        caches.open(name).then(cache => cache.keys()).then(files => files.length))))";
    let before = browser.run(kept, &[]);
    // A worker of the same name, as a host makes one that changes its source.
    let worker = folder.join("worker.js");
    let source = fs::read_to_string(&worker).expect("the site has a worker");
    fs::write(&worker, format!("{source}\n// changed")).expect("a file can be written");
    site.fail("licences.html", Fault::Missing);
    let asked = site.asked("licences.html");
    browser.go("about:blank");
    browser.go(&site.url());
    site.wait_until_asked("licences.html", asked + 1);
    let given_up = "return navigator.serviceWorker.getRegistration()
        .then(registration => !registration.installing && !registration.waiting)";
    browser.wait("the new worker is given up", given_up, &[]);
    browser.wait_for_value("what was kept", kept, &[], &before);
    browser.go("about:blank");
    site.fail("", Fault::Nothing);
    browser.go(&site.url());
    press(&browser, "Editor A", "Get");
    wait_for_steps(&browser, 1);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_page_in_a_frame_keeps_nothing() {
    let site = Site::serve(&dist());
    let around = Path::new(env!("CARGO_TARGET_TMPDIR")).join("framed");
    fs::create_dir_all(&around).expect("a folder can be made");
    let frame = format!(
        "<!DOCTYPE html><link rel=icon href=data:,>
        <iframe width=1400 height=860 src='{}?embed'></iframe>",
        site.url()
    );
    fs::write(around.join("index.html"), frame).expect("a file can be written");
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&Site::serve(&around).url());
    browser.enter("iframe");
    browser.wait(
        "the page",
        "return document.querySelector('#card-server .yaml')",
        &[],
    );
    // Longer than a page of its own waits before it asks.
    browser.run("return new Promise(done => setTimeout(done, 2500))", &[]);
    assert_eq!(site.asked("worker.js"), 0);
    let registrations = "return navigator.serviceWorker.getRegistrations()
        .then(all => all.map(one => one.scope))";
    assert_eq!(browser.run(registrations, &[]), json!([]));
    super::says_nothing(&browser);
}

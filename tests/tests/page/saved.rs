//! A session as one HTML file: it opens from the disk of another computer, without a network.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use optimist_tests::page::{Browser, Engine, Fault, Site, dist};
use serde_json::{Value, json};

use super::{offline, press, says_nothing, visitor};

/// The longest wait for a file, on a machine that runs other builds.
const PATIENCE: Duration = Duration::from_secs(180);

/// The regions of Diagnose with what the core says of a case.
const OF_CASE: [&str; 3] = ["The case", "Who owns what", "Results"];

/// The regions of Play with what happened.
const OF_SESSION: [&str; 4] = ["Editor A", "Editor B", "Response body", "Why"];

/// The size of a window that shows every line of an object: other lines are not in the page.
const WIDE: u32 = 1440;
const TALL: u32 = 4000;

/// The most bytes that a saved file of a short session may have.
const LARGEST: u64 = 4_100_000;

fn click(browser: &Browser, selector: &str) {
    let there = "return document.querySelector(arguments[0])?.checkVisibility() === true";
    browser.wait(selector, there, &[selector.into()]);
    browser.click_selector(selector);
}

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("saved")
        .join(name)
        .join(format!("{:?}", Engine::chosen()));
    // It is not there the first time.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder.canonicalize().expect("the folder is there")
}

/// Saves what is open as an HTML file in a folder that is empty, and gives the file.
fn save(browser: &Browser, folder: &Path) -> PathBuf {
    browser.save_files_in(folder);
    click(browser, ".share-button");
    click(browser, "#save-page");
    let start = Instant::now();
    loop {
        let files = fs::read_dir(folder).expect("the folder is there").flatten();
        let mut files = files.map(|file| file.path());
        let whole = |path: &PathBuf| {
            let text = fs::read_to_string(path).unwrap_or_default();
            text.trim_end().ends_with("</html>") && path.extension() == Some("html".as_ref())
        };
        if let Some(path) = files.find(whole) {
            click(browser, "#dialog-close");
            return path;
        }
        let said = "return document.getElementById('save-page-told')?.textContent";
        let waited = start.elapsed() < PATIENCE;
        assert!(waited, "no file, and: {}", browser.run(said, &[]));
        thread::sleep(Duration::from_millis(50));
    }
}

/// Opens a file from the disk in a browser of its own, which has no network.
fn open(file: &Path) -> Browser {
    let browser = Browser::start();
    browser.resize(WIDE, TALL);
    browser.offline(true);
    browser.go(&format!("file://{}", file.display()));
    let drawn = "return !document.getElementById('loading')";
    browser.wait("the page", drawn, &[]);
    browser
}

/// Loads the page anew, and waits until it is another one.
fn reload(browser: &Browser) {
    browser.run("window.earlier = true; location.reload()", &[]);
    let drawn = "return !window.earlier && !document.getElementById('loading')";
    browser.wait("the page", drawn, &[]);
}

fn rests(browser: &Browser) {
    let rest = "return !document.querySelector('progress')";
    browser.wait("the end of all work", rest, &[]);
}

/// The texts of regions, once they are there.
fn texts(browser: &Browser, regions: &[&str]) -> Vec<String> {
    rests(browser);
    for region in regions {
        browser.wait_for_text(region, "");
    }
    regions.iter().map(|region| browser.text(region)).collect()
}

/// Waits until regions have these texts.
fn shows(browser: &Browser, regions: &[&str], texts: &[String]) {
    const TEXTS: &str = "return arguments[0].map(region =>
        document.querySelector(`[aria-label=\"${region}\"]`)?.innerText ?? '')";
    rests(browser);
    browser.wait_for_value("the texts", TEXTS, &[json!(regions)], &json!(texts));
}

/// The page has asked no network, and its policy lets it ask none.
fn asks_nothing(browser: &Browser, site: &Site) {
    let asked = "return performance.getEntriesByType('resource').map(one => one.name)";
    assert_eq!(browser.run(asked, &[]), json!([]));
    browser.offline(false);
    let policy = "
        window.refused = [];
        document.addEventListener('securitypolicyviolation',
            event => window.refused.push(event.effectiveDirective));
        const image = document.createElement('img');
        image.src = arguments[0];
        document.body.append(image)";
    let address = format!("{}probe.svg", site.url());
    browser.run(policy, &[address.as_str().into()]);
    browser.wait(
        "the refusal",
        "return window.refused.includes('img-src')",
        &[],
    );
    assert_eq!(site.asked("probe.svg"), 0);
    let policy = "return document.querySelector('meta[http-equiv]').content";
    let policy = browser.run(policy, &[]);
    let policy = policy.as_str().unwrap_or_default();
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    assert!(!policy.contains("connect-src"), "{policy}");
    assert!(!policy.contains("'self'"), "{policy}");
}

/// Waits until the page has this title.
fn is_titled(browser: &Browser, title: &str) {
    browser.wait_for_value("the title", "return document.title", &[], &title.into());
}

/// A case with a live object and a manifest.
fn diagnose(site: &Site) -> Browser {
    let browser = Browser::start();
    browser.resize(WIDE, TALL);
    browser.go(&format!("{}#/diagnose", site.url()));
    // A release in the cluster, and the manifests of the next one: Helm stops at the ConfigMap.
    click(&browser, ".case-questions li:nth-child(3) .example");
    let table = "return document.querySelector('.ways tbody tr')";
    browser.wait("the ways of writing", table, &[]);
    browser.wait_for_text("Who owns what", "kube-controller-manager");
    browser
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_case_saved_as_a_file_opens_from_the_disk_as_its_link_does() {
    let site = Site::serve(&dist());
    let browser = diagnose(&site);
    click(&browser, ".share-button");
    let link = "return document.getElementById('share-link')?.value";
    let link = browser.wait("the link", link, &[]);
    click(&browser, "#dialog-close");
    let file = save(&browser, &folder("case"));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    assert_eq!(name, "configmap-live-flags-optimist.html");
    let size = fs::metadata(&file).map_or(0, |file| file.len());
    println!("{name}: {size} bytes");
    assert!(size < LARGEST, "{size}");
    says_nothing(&browser);

    let linked = Browser::start();
    linked.resize(WIDE, TALL);
    linked.go(link.as_str().unwrap_or_default());
    linked.wait(
        "the case",
        "return document.querySelector('.ways tbody tr')",
        &[],
    );
    linked.wait_for_text("Who owns what", "kube-controller-manager");
    // A file has no API server at its address.
    let here = |text: String| text.replace("API server at this address\n", "");
    let expected: Vec<String> = texts(&linked, &OF_CASE).into_iter().map(here).collect();

    let saved = open(&file);
    saved.wait(
        "the case",
        "return document.querySelector('.ways tbody tr')",
        &[],
    );
    shows(&saved, &OF_CASE, &expected);
    is_titled(&saved, "ConfigMap live/flags – Optimist");
    saved.wait_for_text("Saved file", "made with Optimist");
    let origin = "return document.querySelector('#saved-note a[target]').href";
    assert_eq!(saved.run(origin, &[]), site.url());
    // The same link as on the site, not one to a file.
    click(&saved, ".share-button");
    let shared = "return document.getElementById('share-link')?.value";
    let shared = saved.wait("the link", shared, &[]);
    let (shared, url) = (shared.as_str().unwrap_or_default(), site.url());
    assert!(
        shared.starts_with(&format!("{url}#/diagnose?s=")),
        "{shared}"
    );
    click(&saved, "#dialog-close");
    asks_nothing(&saved, &site);

    // A file that is saved from the file is as good.
    let second = save(&saved, &folder("case-again"));
    says_nothing_but_the_probe(&saved);
    let again = open(&second);
    again.wait(
        "the case",
        "return document.querySelector('.ways tbody tr')",
        &[],
    );
    shows(&again, &OF_CASE, &expected);
    assert_eq!(again.run(origin, &[]), site.url());
    asks_nothing(&again, &site);
    // After a reload, the case is still there.
    reload(&again);
    again.wait(
        "the case",
        "return document.querySelector('.ways tbody tr')",
        &[],
    );
    shows(&again, &OF_CASE, &expected);
    says_nothing_but_the_probe(&again);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_session_saved_as_a_file_replays_and_goes_on() {
    let site = Site::serve(&dist());
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&site.url());
    visitor::conflict(&browser, |_| {});
    let expected = texts(&browser, &OF_SESSION);
    assert!(expected[2].contains("\"code\": 409"), "{expected:?}");
    let file = save(&browser, &folder("session"));

    let saved = open(&file);
    let position = "return document.querySelector('.position')?.textContent === arguments[0]";
    saved.wait("the last step", position, &["step 4 / 4".into()]);
    shows(&saved, &OF_SESSION, &expected);
    press(&saved, "Steps", "Back");
    saved.wait("a step back", position, &["step 3 / 4".into()]);
    assert!(!saved.text("Response body").contains("\"code\": 409"));
    press(&saved, "Steps", "Forward");
    saved.wait("a step forward", position, &["step 4 / 4".into()]);
    shows(&saved, &OF_SESSION, &expected);
    press(&saved, "Editor B", "Get");
    saved.wait("another step", position, &["step 5 / 5".into()]);
    // A reload keeps what was added; the note leads back to what was saved.
    let kept = "return Array.from({length: sessionStorage.length},
        (_, i) => sessionStorage.key(i)).includes('optimist.session')";
    saved.wait("the session is kept", kept, &[]);
    thread::sleep(Duration::from_secs(1));
    reload(&saved);
    saved.wait("the added step", position, &["step 5 / 5".into()]);
    click(&saved, "#saved-again");
    saved.wait("what was saved", position, &["step 4 / 4".into()]);
    shows(&saved, &OF_SESSION, &expected);
    // Lessons and licences are files of the site. They are in the file too.
    saved.run("location.hash = '#/learn/01-the-lost-update'", &[]);
    saved.wait(
        "a lesson",
        "return document.querySelector('.learning')",
        &[],
    );
    asks_nothing(&saved, &site);
    says_nothing_but_the_probe(&saved);
}

/// Nothing went wrong except what a test tried.
fn says_nothing_but_the_probe(browser: &Browser) {
    let messages = browser.console().into_iter();
    let severe: Vec<_> = messages
        .filter(|(level, message)| level == "SEVERE" && !message.contains("probe.svg"))
        .collect();
    assert!(severe.is_empty(), "the console complains: {severe:?}");
}

/// Returns everything that the site keeps in this browser, seen from a page without a program.
fn kept_by_the_site(browser: &Browser, site: &Site) -> Value {
    browser.go(&format!("{}licences.html", site.url()));
    let all = "
        const ours = storage => Object.entries(storage)
            .filter(([key]) => key.startsWith('optimist.')).sort();
        return [ours(sessionStorage), ours(localStorage)]";
    browser.run(all, &[])
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_saved_file_beside_the_site_leaves_the_sessions_of_the_site_alone() {
    let served = offline::copy("saved-beside");
    let site = Site::serve(&served);
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&site.url());
    press(&browser, "Editor A", "Get");
    click(&browser, ".all-controls");
    let position = "return document.querySelector('.position')?.textContent === arguments[0]";
    browser.wait("a step", position, &["step 1 / 1".into()]);
    let file = save(&browser, &folder("beside"));
    fs::copy(&file, served.join("case.html")).expect("a file can be copied");
    let kept = "return sessionStorage.getItem('optimist.session')";
    browser.wait("the session is kept", kept, &[]);
    let before = kept_by_the_site(&browser, &site);
    assert!(before[0].as_array().is_some_and(|kept| !kept.is_empty()));

    browser.go(&format!("{}case.html", site.url()));
    browser.wait("the session", position, &["step 1 / 1".into()]);
    press(&browser, "Editor B", "Get");
    browser.wait("a step in the file", position, &["step 2 / 2".into()]);
    thread::sleep(Duration::from_secs(1));
    assert_eq!(kept_by_the_site(&browser, &site), before);
    browser.go(&site.url());
    browser.wait("the session of the site", position, &["step 1 / 1".into()]);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_file_of_the_release_that_does_not_come_is_named_and_saving_can_be_tried_again() {
    let site = Site::serve(&dist());
    // Also: the worker does not get all files, so it keeps none.
    site.fail("lessons/catalogue.yaml", Fault::OtherBuild);
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&site.url());
    click(&browser, ".all-controls");
    let faults = [
        ("lessons/catalogue.yaml", Fault::OtherBuild),
        ("lessons/catalogue.yaml", Fault::Missing),
        ("lessons/catalogue.yaml", Fault::Page),
        ("lessons/catalogue.yaml", Fault::Nothing),
        // The page with the places.
        (".html", Fault::Page),
        (".html", Fault::Half),
    ];
    for (file, fault) in faults {
        site.mend();
        site.fail(file, fault);
        click(&browser, ".share-button");
        click(&browser, "#save-page");
        let said = "return document.querySelector('#save-page-told.problem')?.textContent";
        let said = browser.wait("the problem", said, &[]);
        let said = said.as_str().unwrap_or_default();
        let (name, _) = said.split_once(" could not be loaded.").expect(said);
        assert!(name.ends_with(file), "{fault:?}: {said}");
        click(&browser, "#dialog-close");
    }
    site.mend();
    save(&browser, &folder("tried-again"));
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_search_and_a_lesson_saved_as_files_open_where_they_were() {
    let site = Site::serve(&dist());
    let browser = Browser::start();
    browser.resize(WIDE, TALL);
    browser.go(&format!("{}#/explore", site.url()));
    // Another pair of edits than the one that Explore begins with.
    let other = "
        const choice = document.querySelector('.explore-choice select');
        if (!choice) return false;
        choice.selectedIndex = 1;
        choice.dispatchEvent(new Event('change', {bubbles: true}));
        return choice.value !== ''";
    browser.wait("the choice of edits", other, &[]);
    let found = "return document.querySelector('.matrix tbody tr')";
    browser.wait("the outcomes", found, &[]);
    let regions = ["Scenario", "Outcomes"];
    let expected = texts(&browser, &regions);
    assert!(!expected[1].is_empty(), "{expected:?}");
    let saved = open(&save(&browser, &folder("search")));
    saved.wait("the outcomes", found, &[]);
    shows(&saved, &regions, &expected);
    let titled = "return document.title.startsWith('Explore Deployment ')";
    saved.wait("the title", titled, &[]);
    asks_nothing(&saved, &site);

    browser.go("about:blank");
    browser.go(&format!("{}#/learn/01-the-lost-update", site.url()));
    let body = "return document.querySelector('.lesson-body')?.innerText";
    let first = browser.wait("the first step", body, &[]);
    click(&browser, "#lesson-forward");
    let other = "const text = document.querySelector('.lesson-body').innerText;
        return text !== arguments[0] && text";
    let expected = browser.wait("the second step", other, &[first]);
    let saved = open(&save(&browser, &folder("lesson")));
    let same = "return document.querySelector('.lesson-body')?.innerText === arguments[0]";
    saved.wait("the second step", same, &[expected]);
    is_titled(&saved, "The lost update – Optimist");
    asks_nothing(&saved, &site);
}

/// Where a page of Explore says something of a property, and the order that breaks it.
const OF_PROPERTY: &str = "
    const said = selector => [...document.querySelectorAll(selector)].map(it => it.innerText);
    const cells = said('.matrix td.answer');
    return cells.length > 1 && [document.querySelector('.own-property textarea').value,
        said('.own-property summary'), cells, said('.witness.property')]";

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_property_of_ones_own_is_in_a_saved_file_and_in_a_link_with_its_answer() {
    let site = Site::serve(&dist());
    let browser = Browser::start();
    browser.resize(WIDE, TALL);
    browser.go(&format!("{}#/explore", site.url()));
    click(&browser, ".own-property summary");
    let field = "document.querySelector('.own-property textarea').focus()";
    browser.run(field, &[]);
    browser.type_text("at rest: {stored: {spec.replicas: 5}}");
    click(&browser, ".own-property [type=submit]");
    browser.wait("the answers", OF_PROPERTY, &[]);
    rests(&browser);
    let expected = browser.run(OF_PROPERTY, &[]);
    assert_eq!(expected[0], "at rest: {stored: {spec.replicas: 5}}");
    let counts = expected[1][0].as_str().unwrap_or_default();
    assert!(counts.contains("It holds with"), "{counts}");
    let broken = expected[3][0].as_str().unwrap_or_default();
    assert!(broken.contains("is broken after 4 steps"), "{broken}");

    click(&browser, ".share-button");
    let link = "return document.getElementById('share-link')?.value";
    let link = browser.wait("the link", link, &[]);
    click(&browser, "#dialog-close");
    let linked = Browser::start();
    linked.resize(WIDE, TALL);
    linked.go(link.as_str().unwrap_or_default());
    let saved = open(&save(&browser, &folder("property")));
    for opened in [&linked, &saved] {
        opened.wait("the answers", OF_PROPERTY, &[]);
        rests(opened);
        assert_eq!(opened.run(OF_PROPERTY, &[]), expected);
        says_nothing(opened);
    }
    asks_nothing(&saved, &site);

    // A reload has it too, with its answers.
    reload(&browser);
    browser.wait("the answers after a reload", OF_PROPERTY, &[]);
    rests(&browser);
    assert_eq!(browser.run(OF_PROPERTY, &[]), expected);
    says_nothing(&browser);
    // What cannot be read is named, and the page goes on.
    let spoil = "sessionStorage.setItem('optimist.explored.setup', '{'); location.reload()";
    browser.run(spoil, &[]);
    let named = "
        const notices = [...document.querySelectorAll('.notice')].map(it => it.innerText).join();
        return document.querySelector('.matrix') && notices.includes('the question of Explore')";
    browser.wait("the notice", named, &[]);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_choice_of_what_is_left_out_stops_the_file_of_the_choice_before() {
    let site = Site::serve(&dist());
    let browser = diagnose(&site);
    let folder = folder("choice");
    browser.save_files_in(&folder);
    site.fail("lessons/catalogue.yaml", Fault::Late);
    click(&browser, ".share-button");
    click(&browser, "#save-page");
    let running = "return document.getElementById('save-page').disabled";
    browser.wait("the file being made", running, &[]);
    click(&browser, "input[name=withheld]:not(:checked)");
    let stopped = "return document.getElementById('save-page')?.disabled === false";
    browser.wait("the other choice", stopped, &[]);
    site.mend();
    thread::sleep(Duration::from_secs(3));
    let files = fs::read_dir(&folder).expect("the folder is there").count();
    assert_eq!(files, 0);
    click(&browser, "#save-page");
    let made = "return document.getElementById('save-page-told').textContent
        .startsWith('configmap-')";
    browser.wait("the file of the new choice", made, &[]);
    says_nothing(&browser);
}

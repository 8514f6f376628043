//! The page beside an API server, as behind `kubectl proxy`: what it asks, when, and what it says.

use http::Request;
use optimist_apiserver::server::ApiServer;
use optimist_tests::page::{Browser, Site, dist};
use serde_json::json;

use super::{press, says_nothing};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

fn sent(method: &str, target: &str, body: &serde_json::Value) -> Request<Vec<u8>> {
    let request = Request::builder().method(method).uri(target);
    let media_type = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = request
        .header("Content-Type", media_type)
        .header("User-Agent", "ci");
    request
        .body(body.to_string().into_bytes())
        .expect("it is a request")
}

/// The page in Diagnose, beside a server with a Deployment.
fn open() -> (Site, Browser) {
    let site = Site::serve(&dist());
    let mut server = ApiServer::default();
    let labels = json!({"app": "web"});
    let web = json!({
        "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "web", "image": "nginx:1.27"}]}}},
    });
    assert_eq!(server.handle(sent("POST", DEPLOYMENTS, &web)).status(), 201);
    site.serve_api(server);
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&format!("{}#/diagnose", site.url()));
    browser.wait("the card", "return document.querySelector('.remote')", &[]);
    (site, browser)
}

/// Waits until the card says something.
fn wait_until_said(browser: &Browser, text: &str) {
    let script = "return document.querySelector('.remote').innerText.includes(arguments[0])";
    browser.wait(text, script, &[text.into()]);
}

/// Finds the server and picks the Deployment.
fn pick(browser: &Browser) {
    let open = "document.querySelector('.remote').open = true; return true";
    browser.run(open, &[]);
    press(browser, "The case", "Look for an API server");
    wait_until_said(browser, "v1.36.3");
    press(browser, "The case", "List names");
    let listed = "return document.querySelector('.remote [list]')?.value === 'web'";
    browser.wait("the name", listed, &[]);
}

/// Waits until the page has read the object: it says who owns it.
fn wait_for_owners(browser: &Browser) {
    let owners = r"return /\bci\b/.test(document.querySelector('.case-owners').innerText)";
    browser.wait("the owners", owners, &[]);
}

/// Adds the manifest of a change.
fn add_manifest(browser: &Browser) {
    let manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\n\
                    spec: {replicas: 3}\n";
    let script = "
        const area = document.getElementById('bring');
        area.value = arguments[0];
        area.dispatchEvent(new InputEvent('input', {bubbles: true}));
        return true";
    browser.run(script, &[manifest.into()]);
    press(browser, "The case", "Add");
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn nothing_is_asked_before_a_button_is_pressed_and_then_reads_alone() {
    let (site, browser) = open();
    assert_eq!(site.asked_of_api(), Vec::<String>::new());
    pick(&browser);
    press(&browser, "The case", "Open in Diagnose");
    wait_for_owners(&browser);
    let asked = site.asked_of_api();
    assert!(asked.iter().all(|it| it.starts_with("GET ")), "{asked:?}");
    let paths: Vec<&str> = asked
        .iter()
        .filter_map(|it| it.split(['?', ' ']).nth(1))
        .collect();
    let web = format!("{DEPLOYMENTS}/web");
    assert_eq!(paths, ["/version", "/api", "/apis", DEPLOYMENTS, &web]);
    says_nothing(&browser);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_write_is_compared_as_a_dry_run_and_a_wrong_server_is_caught() {
    let (site, browser) = open();
    pick(&browser);
    press(&browser, "The case", "Open in Diagnose");
    wait_for_owners(&browser);
    add_manifest(&browser);
    press(&browser, "The case", "Predict and compare");
    wait_until_said(&browser, "The server answers as predicted: 409.");
    let asked = site.asked_of_api();
    let writes = asked.iter().filter(|it| !it.starts_with("GET "));
    assert!(
        writes.clone().all(|it| it.contains("dryRun=All")) && writes.count() == 1,
        "{asked:?}"
    );
    site.answer_wrongly("FieldManagerConflict", "FieldValueInvalid");
    press(&browser, "The case", "Predict and compare");
    wait_until_said(
        &browser,
        "1 difference between the server and the prediction.",
    );
    browser.wait_for_text("The case", "/response/details/causes");
    // A browser says each answer of 400 or more itself.
    let mut severe = browser.console().into_iter();
    let other = severe.find(|(level, text)| level == "SEVERE" && !text.contains("status of 409"));
    assert_eq!(other, None);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn an_object_is_followed_while_others_write_it() {
    let (site, browser) = open();
    pick(&browser);
    press(&browser, "The case", "Follow");
    wait_until_said(&browser, "each new version is a step");
    scale(&site, &browser, [3, 4]);
    // Both came in one answer.
    assert_eq!(watches(&site), 1, "{:?}", site.asked_of_api());
    press(&browser, "The case", "Stop following");
    let web = format!("{DEPLOYMENTS}/web");
    let patch = json!({"spec": {"replicas": 5}});
    assert_eq!(site.send(sent("PATCH", &web, &patch)), Some(200));
    press(&browser, "The case", "Follow");
    wait_until_said(&browser, "each new version is a step");
    scale(&site, &browser, [6, 7]);
    assert_eq!(watches(&site), 2, "the first one ended");
    says_nothing(&browser);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_branch_begins_at_a_version_of_a_followed_object_which_is_followed_on() {
    let (site, browser) = open();
    pick(&browser);
    press(&browser, "The case", "Follow");
    wait_until_said(&browser, "each new version is a step");
    scale(&site, &browser, [3, 4]);
    let second = "
        document.querySelectorAll('.lane-button')[1]?.click();
        return document.querySelector('.step-card')?.innerText.includes('Branch here')";
    browser.wait("the card of the step", second, &[]);
    press(&browser, "Results", "Branch here");
    let says = "
        const said = document.querySelector('.stage')?.textContent ?? '';
        return [...arguments].every(text => said.includes(text))";
    let told = "You have left the observed versions";
    // The object as it was then, and not as it is now.
    let words = [told, "at version 1002, step 2", "replicas: 3"];
    browser.wait("Play says it", says, &words.map(Into::into));
    // What others do meanwhile is there when one comes back.
    let web = format!("{DEPLOYMENTS}/web");
    let patch = json!({"spec": {"replicas": 5}});
    assert_eq!(site.send(sent("PATCH", &web, &patch)), Some(200));
    browser.click_selector(".stage .notice a");
    let came = "return document.querySelectorAll('.recorded-lanes .lane-button').length === 4";
    browser.wait("the version that came meanwhile", came, &[]);
    wait_until_said(&browser, "each new version is a step");
    scale(&site, &browser, [6, 7]);
    assert_eq!(watches(&site), 1, "{:?}", site.asked_of_api());
    press(&browser, "The case", "Stop following");
    says_nothing(&browser);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_browser_that_reads_no_streams_follows_with_short_watches() {
    let (site, browser) = open();
    browser.run(
        "delete ReadableStream.prototype.getReader; return true",
        &[],
    );
    pick(&browser);
    press(&browser, "The case", "Follow");
    wait_until_said(&browser, "each new version is a step");
    scale(&site, &browser, [3, 4]);
    let asked = site.asked_of_api();
    let short = asked.iter().filter(|it| it.contains("timeoutSeconds=5"));
    assert!(short.count() > 0, "{asked:?}");
    press(&browser, "The case", "Stop following");
    says_nothing(&browser);
}

/// The number of watches that the page has opened.
fn watches(site: &Site) -> usize {
    let asked = site.asked_of_api();
    asked.iter().filter(|it| it.contains("watch=true")).count()
}

/// Somebody else scales the Deployment, one time after the other; each becomes a step.
fn scale(site: &Site, browser: &Browser, all: [usize; 2]) {
    let web = format!("{DEPLOYMENTS}/web");
    let lanes = "document.querySelector('.recorded-lanes')?.innerText ?? ''";
    for replicas in all {
        let before = browser.run(&format!("return {lanes}"), &[]);
        let patch = json!({"spec": {"replicas": replicas}});
        assert_eq!(site.send(sent("PATCH", &web, &patch)), Some(200));
        let step =
            format!("const now = {lanes}; return now !== arguments[0] && now.includes('replicas')");
        browser.wait("the step", &step, &[before]);
    }
}

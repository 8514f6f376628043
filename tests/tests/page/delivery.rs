//! The release site when the network, the host or the program itself fails.

use std::path::Path;
use std::thread;
use std::time::Duration;

use optimist_tests::page::{Browser, Engine, FAILING, Fault, Site, dist};
use serde_json::json;

use super::{ENTER, press, says_nothing, wait_until_whole};

/// The second file of the program: what *Play* needs.
const PLAY: &str = "_play.wasm";

/// The third file of the program: all other code.
const REST: &str = "_rest.wasm";

/// Returns the page that the program has drawn, once it is there.
const DRAWN: &str = "
    return document.querySelector('#card-server .yaml') && document.getElementById('app').outerHTML";

/// Long enough for what must not happen.
const A_WHILE: Duration = Duration::from_millis(600);

fn is_shown(browser: &Browser, id: &str) -> bool {
    let script = "return document.getElementById(arguments[0])?.checkVisibility() === true";
    browser.run(script, &[id.into()]) == true
}

fn wait_for(browser: &Browser, id: &str) {
    let script = "return document.getElementById(arguments[0])?.checkVisibility() === true";
    browser.wait(id, script, &[id.into()]);
}

fn wait_until_gone(browser: &Browser, id: &str) {
    let script = "return document.getElementById(arguments[0])?.checkVisibility() !== true";
    browser.wait(&format!("no {id}"), script, &[id.into()]);
}

/// Waits until the second file was asked for so often.
fn wait_until_asked(site: &Site, count: usize) {
    site.wait_until_asked(PLAY, count);
}

fn wait_for_steps(browser: &Browser, count: usize) {
    let script = "return document.querySelectorAll('#history .step').length >= arguments[0]";
    browser.wait(&format!("{count} steps"), script, &[count.into()]);
}

/// The site in a wide window.
fn open(site: &Site) -> Browser {
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&site.url());
    browser
}

/// The site in a wide window, once editor A has read the object.
fn open_and_read(site: &Site) -> Browser {
    let browser = open(site);
    press(&browser, "Editor A", "Get");
    wait_for_steps(&browser, 1);
    browser
}

/// Waits until the tab keeps its session, which it does a moment after a change.
fn wait_until_kept(browser: &Browser) {
    let script = "return sessionStorage.getItem('optimist.session')";
    browser.wait("the session is kept", script, &[]);
}

/// The files that were there were enough: the page did not open a second time.
fn opened_once(browser: &Browser) -> bool {
    browser.run("return history.state === null", &[]) == true
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_second_file_that_does_not_come_is_asked_for_once_and_said_and_nothing_is_lost() {
    for fault in Fault::FAILURES {
        let site = Site::serve(&dist());
        site.fail(PLAY, fault);
        let browser = open(&site);
        wait_for(&browser, "rest-failed");
        // Firefox itself repeats a request whose connection ends without an answer.
        let repeats = browser.engine() == Engine::Firefox && fault == Fault::Nothing;
        let asked = site.asked(PLAY);
        assert!(asked == 1 || repeats, "{fault:?}: {asked}");

        press(&browser, "Editor A", "Get");
        wait_for(&browser, "rest-held");
        thread::sleep(A_WHILE);
        assert_eq!(
            site.asked(PLAY),
            asked,
            "{fault:?}: one failure ends the trying"
        );
        assert!(!is_shown(&browser, "stopped"), "{fault:?}");
        browser.control("Editor B", "Get");

        browser.click_selector("#rest-again");
        wait_until_asked(&site, asked + 1);
        wait_for(&browser, "rest-failed");
        let again = site.asked(PLAY);
        assert!(again == 2 || repeats && again > asked, "{fault:?}: {again}");
        site.mend();
        browser.click_selector("#rest-again");
        wait_for_steps(&browser, 1);
        wait_until_gone(&browser, "rest");
        browser.wait_for_text("Editor A", "rv 100");
        assert!(opened_once(&browser), "{fault:?}");
    }
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn without_a_network_the_second_file_is_missed_once_and_comes_when_it_is_asked_for_again() {
    let site = Site::serve(&dist());
    site.fail(PLAY, Fault::Missing);
    let browser = open(&site);
    wait_for(&browser, "rest-failed");
    site.mend();
    browser.offline(true);
    press(&browser, "Editor A", "Get");
    wait_for(&browser, "rest-held");
    browser.click_selector("#rest-again");
    thread::sleep(A_WHILE);
    wait_for(&browser, "rest-failed");
    assert_eq!(site.asked(PLAY), 1, "the network is gone");
    assert!(!is_shown(&browser, "stopped"));
    browser.offline(false);
    browser.click_selector("#rest-again");
    wait_for_steps(&browser, 1);
    assert_eq!(site.asked(PLAY), 2);
    wait_until_gone(&browser, "rest");
    // All is there now: the network may go.
    browser.offline(true);
    press(&browser, "Editor B", "Get");
    wait_for_steps(&browser, 2);
    browser.offline(false);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn in_a_sandboxed_frame_without_storage_the_page_works_and_says_that_nothing_is_kept() {
    let site = Site::serve(&dist());
    let browser = Browser::start();
    browser.resize(1440, 900);
    let around = Path::new(env!("CARGO_TARGET_TMPDIR")).join("around");
    std::fs::create_dir_all(&around).expect("a folder can be made");
    let frame = format!(
        "<!DOCTYPE html><link rel=icon href=data:,>
        <iframe sandbox=allow-scripts width=1400 height=860 src='{}'></iframe>",
        site.url()
    );
    std::fs::write(around.join("index.html"), frame).expect("a file can be written");
    browser.go(&Site::serve(&around).url());
    browser.enter("iframe");
    let storage = "try { return typeof localStorage } catch (error) { return error.name }";
    assert_eq!(browser.run(storage, &[]), "SecurityError");
    press(&browser, "Editor A", "Get");
    wait_for_steps(&browser, 1);
    press(&browser, "Editor B", "Get");
    wait_for_steps(&browser, 2);
    let told = "return document.body.innerText.includes('This browser keeps nothing')";
    browser.wait("the notice", told, &[]);
    browser.click_selector(".share-button");
    let link = "return document.querySelector('#share-link')?.value";
    browser.wait("the link", link, &[]);
    browser.click_selector("#dialog-close");
    browser.run("location.hash = '#/learn'", &[]);
    let lessons = "return document.querySelector('a.entry')";
    browser.wait("the lessons", lessons, &[]);
    assert!(!is_shown(&browser, "stopped"));
    says_nothing(&browser);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn what_people_do_before_the_second_file_is_there_happens_afterwards_in_its_order() {
    let site = Site::serve(&dist());
    site.fail(PLAY, Fault::Late);
    let browser = open(&site);
    press(&browser, "Editor B", "Get");
    // Once more, because nothing happens: it is meant once.
    press(&browser, "Editor B", "Get");
    wait_for(&browser, "rest-coming");
    browser.type_text("ag");
    wait_for(&browser, "rest-held");
    assert!(!is_shown(&browser, "rest-failed"));
    // The page is free meanwhile, whatever else happens on it.
    browser.resize(1024, 768);
    browser.run(
        "for (const kind of ['scroll', 'beforeprint', 'afterprint', 'pagehide', 'blur'])
            dispatchEvent(new Event(kind));
        for (const kind of ['pointermove', 'pointerdown', 'mouseenter', 'keyup', 'focusin', 'drop'])
            for (const part of document.querySelectorAll('.cards *'))
                part.dispatchEvent(new Event(kind, { bubbles: true, cancelable: true }))",
        &[],
    );
    thread::sleep(A_WHILE);
    assert!(!is_shown(&browser, "stopped"));
    site.mend();
    wait_for_steps(&browser, 2);
    thread::sleep(A_WHILE);
    let position = "return document.querySelector('.position')?.textContent";
    assert_eq!(browser.run(position, &[]), "step 2 / 2");
    wait_until_gone(&browser, "rest");
    for editor in ["Editor A", "Editor B"] {
        browser.wait_for_text(editor, "rv 100");
    }
    assert_eq!(site.asked(PLAY), 1);
    assert!(opened_once(&browser));
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn the_first_file_alone_draws_the_page_in_any_window_and_is_followed_by_the_second_at_once() {
    let site = Site::serve(&dist());
    site.fail(PLAY, Fault::Late);
    for (width, height, dark) in [
        (1440, 900, true),
        (1024, 768, false),
        (320, 256, true),
        (390, 844, false),
    ] {
        let browser = Browser::start();
        browser.resize(width, height);
        browser.prefer(dark);
        let before = site.asked(PLAY);
        browser.go(&site.url());
        browser.wait(
            "the page",
            "return document.querySelector('#card-server .yaml')",
            &[],
        );
        wait_until_asked(&site, before + 1);
        thread::sleep(A_WHILE);
        assert_eq!(site.asked(PLAY), before + 1, "{width}x{height}");
        assert!(opened_once(&browser), "{width}x{height}");
        assert!(!is_shown(&browser, "rest"), "{width}x{height}");

        // Every text is there, also one that the browser shows only when it is asked for.
        let alone = browser.run(DRAWN, &[]);
        browser.run("sessionStorage.setItem('optimist.all', '')", &[]);
        site.mend();
        browser.go(&site.url());
        browser.wait("the page", DRAWN, &[]);
        thread::sleep(A_WHILE);
        let with_all = browser.run(DRAWN, &[]);
        assert_eq!(alone, with_all, "{width}x{height}");
        site.fail(PLAY, Fault::Late);
    }
}

/// The rows of the second and of the third step.
const SECOND_STEP: &str = "#history li:nth-of-type(3) .step-button";
const THIRD_STEP: &str = "#history li:nth-of-type(4) .step-button";

/// Edits `replicas` in editor A and sends it.
fn edit_and_send(browser: &Browser) {
    press(browser, "Editor A", "spec.replicas: ");
    browser.wait_for_keyboard("Editor A", "Editor A: spec.replicas");
    browser.type_text("5");
    press(browser, "Editor A", "Send");
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn play_works_while_the_third_file_is_on_its_way_and_other_pages_wait_for_it() {
    let site = Site::serve(&dist());
    site.fail(REST, Fault::Late);
    let browser = open_and_read(&site);
    press(&browser, "Editor B", "Get");
    wait_for_steps(&browser, 2);
    edit_and_send(&browser);
    wait_for_steps(&browser, 3);
    browser.click_selector(SECOND_STEP);
    let position = "return document.querySelector('.position')?.textContent === arguments[0]";
    browser.wait("the step before", position, &["step 2 / 3".into()]);
    assert!(!is_shown(&browser, "rest"));
    // Its code is in the third file. What people do after it waits too.
    browser.click_selector(".load");
    wait_for(&browser, "rest-coming");
    browser.click_selector(THIRD_STEP);
    thread::sleep(A_WHILE);
    browser.wait("the step before", position, &["step 2 / 3".into()]);
    site.mend();
    browser.wait(
        "the dialog",
        "return document.querySelector('dialog[open]')",
        &[],
    );
    browser.wait("the step", position, &["step 3 / 3".into()]);
    wait_until_gone(&browser, "rest");
    assert!(opened_once(&browser));
    says_nothing(&browser);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_trap_before_the_third_file_is_there_loses_nothing_that_people_did() {
    let site = Site::serve(&dist());
    site.fail(REST, Fault::Late);
    let browser = open_and_read(&site);
    press(&browser, "Editor B", "Get");
    edit_and_send(&browser);
    wait_for_steps(&browser, 3);
    wait_until_kept(&browser);
    browser.click_selector(SECOND_STEP);
    let position = "return document.querySelector('.position').textContent";
    browser.wait_for_value("the step before", position, &[], &json!("step 2 / 3"));
    // It is typed, and not sent.
    press(&browser, "Editor B", "spec.replicas: ");
    browser.wait_for_keyboard("Editor B", "Editor B: spec.replicas");
    browser.type_text(&format!("7{ENTER}"));
    let shown = "return [
        document.querySelectorAll('#history .step').length,
        document.querySelector('.position').textContent,
        document.getElementById('b/spec/replicas')?.textContent ?? null]";
    let before = json!([3, "step 2 / 3", "7"]);
    browser.wait_for_value("before the trap", shown, &[], &before);
    browser.click_selector(".load");
    wait_for(&browser, "rest-held");
    browser.run(&format!("{FAILING} setTimeout(failing.trap)"), &[]);
    thread::sleep(A_WHILE);
    assert!(!is_shown(&browser, "stopped"), "it waits for the file");
    site.mend();
    let dialog = "return document.querySelector('dialog[open]')";
    browser.wait("the dialog", dialog, &[]);
    browser.wait_for_value("after the trap", shown, &[], &before);
    assert_eq!(
        browser.run("return history.state.again ?? null", &[]),
        json!(null)
    );
    assert!(!is_shown(&browser, "stopped"));
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn an_address_that_names_more_than_the_empty_page_opens_once_all_files_are_there() {
    for (more, selector) in [
        ("#/learn", "a.entry"),
        ("#/explore", ".matrix"),
        ("?embed", ".cards"),
        ("?embed#/learn/01-the-lost-update", ".learning"),
    ] {
        let site = Site::serve(&dist());
        site.fail(REST, Fault::Late);
        let browser = Browser::start();
        browser.go(&format!("{}{more}", site.url()));
        wait_for(&browser, "loading-words");
        thread::sleep(A_WHILE);
        assert!(is_shown(&browser, "loading-words"), "{more}");
        site.mend();
        let script = "return document.querySelector(arguments[0])";
        browser.wait(more, script, &[selector.into()]);
        assert!(opened_once(&browser), "{more}");
        says_nothing(&browser);
    }
    let site = Site::serve(&dist());
    site.fail(REST, Fault::Missing);
    let browser = Browser::start();
    browser.go(&format!("{}#/learn", site.url()));
    wait_for(&browser, "not-loaded");
    site.mend();
    browser.click_selector("#loading .reload");
    browser.wait(
        "the lessons",
        "return document.querySelector('a.entry')",
        &[],
    );
}

/// Firefox 140 never ends the compilation of a wasm that stops inside a function, so the page cannot
/// know. It goes on to say that it is loading and what to do if that stays.
fn hangs(file: &str, fault: Fault) -> bool {
    Engine::chosen() == Engine::Firefox && file.ends_with(".wasm") && fault == Fault::Half
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_page_without_its_program_says_so_and_opens_when_it_is_there() {
    let page = std::fs::read_to_string(dist().join("index.html")).expect("it is a page");
    let body = page.split_once("<div id=").expect("it has a body").1;
    let words = body
        .split_once("Optimist is loading")
        .expect("it says so")
        .1;
    assert!(words.contains("reload the page"));
    for file in ["_bg.wasm", ".js"] {
        for fault in [Fault::Missing, Fault::Page, Fault::Half, Fault::Nothing] {
            if hangs(file, fault) {
                continue;
            }
            let site = Site::serve(&dist());
            site.fail(file, fault);
            let browser = Browser::start();
            browser.go(&site.url());
            wait_for(&browser, "not-loaded");
            site.mend();
            browser.click_selector("#loading .reload");
            browser.control("Editor A", "Get");
        }
    }
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_trap_is_announced_with_the_session_and_nothing_goes_on_behind_it() {
    let site = Site::serve(&dist());
    for failure in [
        "setTimeout(failing.trap)",
        "setTimeout(failing.deep)",
        "window.Promise.resolve().then(failing.trap)",
    ] {
        let browser = open_and_read(&site);
        wait_until_whole(&browser);
        wait_until_kept(&browser);
        browser.run(
            "window.ticks = 0; setInterval(() => window.ticks++, 1)",
            &[],
        );
        browser.run(&format!("{FAILING} {failure}"), &[]);
        wait_for(&browser, "stopped");
        let ticks = browser.run("return window.ticks", &[]);
        browser.type_text("g\u{e00c}\u{e00c}");
        thread::sleep(A_WHILE);
        assert_eq!(browser.run("return window.ticks", &[]), ticks, "{failure}");
        assert!(
            is_shown(&browser, "stopped"),
            "{failure}: it cannot be closed"
        );
        let href = browser.run(
            "return document.getElementById('stopped-session').href",
            &[],
        );
        let href = href.as_str().unwrap_or_default();
        let session = href
            .strip_prefix("data:text/plain,")
            .expect("it is offered");
        let session = optimist_links::Session::parse(session).expect("it opens");
        assert_eq!(
            session.replay().finish().expect("it runs").len(),
            2,
            "{failure}"
        );
        browser.click_selector("#stopped .reload");
        let again = "return document.getElementById('stopped')?.open === false";
        browser.wait("the page, loaded again", again, &[]);
        wait_for_steps(&browser, 1);
        assert!(!is_shown(&browser, "stopped"), "{failure}");
    }
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn what_cannot_happen_again_after_a_trap_is_announced_with_the_session_of_before() {
    let site = Site::serve(&dist());
    let browser = open_and_read(&site);
    wait_until_whole(&browser);
    wait_until_kept(&browser);
    let session = browser.run("return sessionStorage.getItem('optimist.session')", &[]);
    let script = "
        const lost = { type: 'click', of: 'MouseEvent', place: [1, 99], options: {} };
        const state = { together: true, again: [lost], session: arguments[0] };
        history.replaceState(state, '');
        location.reload()";
    browser.run(script, std::slice::from_ref(&session));
    wait_for(&browser, "stopped");
    assert!(is_shown(&browser, "stopped-session"));
    let link = "return document.getElementById('stopped-session').href.split(',').at(-1)";
    assert_eq!(browser.run(link, &[]), session);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn when_the_memory_is_used_up_the_page_says_that_it_has_stopped() {
    let site = Site::serve(&dist());
    let browser = open_and_read(&site);
    wait_until_whole(&browser);
    wait_until_kept(&browser);
    // Whatever memory is left goes to waste.
    browser.run(
        "return window.wasmBindings.default().then(wasm => {
            for (let pages = 32768; pages >= 1;) {
                try { wasm.memory.grow(pages) } catch { pages /= 2 }
            }
        })",
        &[],
    );
    let script = "for (let i = 0; i < 50; i++)
            document.dispatchEvent(new KeyboardEvent('keydown', { key: 'g', bubbles: true }));
        return document.getElementById('stopped').open";
    browser.wait("the notice", script, &[]);
    assert!(is_shown(&browser, "stopped-session"));
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_mistake_of_somebody_else_does_not_stop_the_page() {
    let site = Site::serve(&dist());
    let browser = open_and_read(&site);
    wait_until_whole(&browser);
    browser.run(
        "setTimeout(() => { throw new Error('an extension') });
        setTimeout(() => { throw null });
        Promise.reject(new TypeError('an extension'));
        dispatchEvent(new ErrorEvent('error', { message: 'ResizeObserver loop' }))",
        &[],
    );
    thread::sleep(A_WHILE);
    assert!(!is_shown(&browser, "stopped"));
    press(&browser, "Editor B", "Get");
    wait_for_steps(&browser, 2);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn the_policy_runs_the_scripts_of_the_page_and_no_text_that_comes_later() {
    let site = Site::serve(&dist());
    let browser = open_and_read(&site);
    says_nothing(&browser);
    let policy = "return document.querySelector('meta[http-equiv]').content";
    let policy = browser.run(policy, &[]).to_string();
    let scripts = policy
        .split(';')
        .find(|it| it.contains("script-src"))
        .unwrap_or_default();
    assert!(
        !scripts.contains("unsafe-inline") && !scripts.contains("'unsafe-eval'"),
        "{policy}"
    );
    let styles = policy.split(';').find(|it| it.contains("style-src "));
    assert!(
        styles.is_some_and(|styles| !styles.contains("unsafe-inline")),
        "{policy}"
    );
    let styled = browser.run(
        "const style = document.createElement('style');
        style.textContent = 'body { outline: 9px solid }';
        document.head.append(style);
        return getComputedStyle(document.body).outlineWidth === '9px'",
        &[],
    );
    assert_eq!(styled, false);
    let tried = browser.run(
        "const script = document.createElement('script');
        const refused = todo => { try { todo(); return false } catch (error) { return error.name } };
        const text = refused(() => { script.textContent = 'window.injected = 1' });
        document.head.append(script);
        const html = refused(() => { document.createElement('p').innerHTML = '<b>1</b>' });
        return [text, html, window.injected ?? null]",
        &[],
    );
    // An engine that does not know trusted types sets the text, and runs it no more than the others.
    let known = browser.run("return 'trustedTypes' in window", &[]) == true;
    let refused = if known {
        json!("TypeError")
    } else {
        json!(false)
    };
    assert_eq!(tried, json!([refused, refused, null]));
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn the_help_leads_to_the_licences_of_everything_in_the_program() {
    let site = Site::serve(&dist());
    let browser = open(&site);
    browser.control("Editor A", "Get");
    browser.type_text("?");
    let link = "return document.querySelector('dialog[open] a[href$=\"licences.html\"]')?.href";
    let link = browser.wait("the link", link, &[]);
    browser.go(link.as_str().unwrap_or_default());
    let text = browser.run("return document.body.innerText", &[]);
    let text = text.as_str().unwrap_or_default();
    for part in [
        "imbl ",
        "MPL-2.0",
        "Mozilla Public License",
        "The Rust standard library",
        "yew ",
    ] {
        assert!(text.contains(part), "{part}");
    }
}

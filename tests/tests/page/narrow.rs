//! The release site where there is little room: nothing leaves its place, and what a step is about is in
//! sight.

use optimist_client::edit_scalar;
use optimist_links::Session;
use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, Operation, World};
use optimist_tests::page::{Browser, Site, dist};

use super::visitor::conflict;

const IMAGE: &str = "/spec/template/spec/containers/0/image";

/// A link to a session in which both editors have read, A has written a value and B was refused.
fn refused(site: &Site, manifest: &str, pointer: &str, values: [&str; 2]) -> String {
    let (world, _) = World::load(manifest).expect("it loads");
    let mut tree = HistoryTree::new(world);
    for editor in ActorId::EDITORS {
        tree.act(Operation::Act(editor, Action::Get));
    }
    for (editor, value) in ActorId::EDITORS.into_iter().zip(values) {
        let world = tree.world_mut();
        let object = world.copy(editor).edited().expect("it was read");
        let edited = edit_scalar(object, pointer, value).expect("it can be edited");
        world.copy_mut(editor).edit(edited);
    }
    for editor in ActorId::EDITORS {
        let write = tree.world().actor(editor).write();
        tree.act(Operation::Act(editor, Action::Send(write)));
    }
    let mut session = Session::from_tree(&tree);
    session.page = "play".to_owned();
    format!("{}#/play?s={}", site.url(), session.to_text())
}

fn open(url: &str, width: u32, height: u32) -> Browser {
    let browser = Browser::start();
    browser.resize(width, height);
    browser.go(url);
    let drawn = "return document.querySelector('#card-server .yaml, .explore, #bring, main')";
    browser.wait("the page", drawn, &[]);
    browser
}

/// The parts that leave the head of their card.
const OUTSIDE: &str = "
    const rect = part => part.getBoundingClientRect();
    return [...document.querySelectorAll('.card-head')].flatMap(head => [...head.querySelectorAll('*')]
        .filter(part => part.checkVisibility() && !part.closest('option, .more-panel'))
        .filter(part => rect(part).right > rect(head).right + 1 ||
            part.matches('button') && rect(part).right > rect(part.closest('h2')).right + 1)
        .map(part => part.className + ' ' + part.textContent))";

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn on_a_tablet_the_head_of_a_card_has_all_its_parts() {
    let site = Site::serve(&dist());
    let browser = open(&site.url(), 1024, 768);
    conflict(&browser, |_| {});
    browser.wait_for_text("Editor B", "stale by 1");
    let third = "return document.querySelector('#card-b .third')?.checkVisibility()";
    browser.wait("the button of the third actor", third, &[]);
    browser.wait_for_value("parts outside", OUTSIDE, &[], &serde_json::json!([]));
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn beside_a_long_name_the_version_and_the_button_stay_in_the_head_of_the_card() {
    const NAME: &str = "
        const name = 'my-company-operator-with-a-very-long-field-manager';
        document.querySelector('#card-a h2').textContent = name;
        document.querySelector('#card-b .who option').textContent = name;
        return true";
    let site = Site::serve(&dist());
    for width in [1440, 1024] {
        let browser = open(&site.url(), width, 900);
        conflict(&browser, |_| {});
        browser.wait_for_text("Editor B", "stale by 1");
        browser.run(NAME, &[]);
        let what = format!("parts outside at {width}");
        browser.wait_for_value(&what, OUTSIDE, &[], &serde_json::json!([]));
    }
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn beside_a_lesson_no_head_of_a_card_and_no_request_is_cut() {
    /// Requests whose text is longer than its two lines, and heads of several lines.
    const CUT: &str = "
        const asked = [...document.querySelectorAll('.step:not(.current) .ask')]
            .filter(part => part.scrollHeight > part.clientHeight + 4 || part.scrollWidth > part.clientWidth + 1);
        const heads = [...document.querySelectorAll('.card.editor .card-head, .card.server .card-head')]
            .filter(part => part.getBoundingClientRect().height > 38);
        return [...asked, ...heads].filter(part => part.checkVisibility()).map(part => part.textContent)";
    const ON: &str = "
        const onward = part => part.matches('.choice:enabled') || part.textContent.trim() === 'Next';
        const button = [...document.querySelectorAll('.lesson button')]
            .find(part => part.checkVisibility() && onward(part));
        const before = document.querySelector('.lesson').textContent;
        button?.click();
        return button ? before : null";
    let site = Site::serve(&dist());
    for lesson in [
        "03-read-again-then-retry",
        "13-from-client-side-to-server-side",
        "16-i-just-made-that",
        "28-from-etcd-up",
    ] {
        let browser = open(&format!("{}#/learn/{lesson}", site.url()), 1440, 900);
        let bar = "return document.querySelector('.lesson-bar')";
        browser.wait("the lesson", bar, &[]);
        loop {
            let none = serde_json::json!([]);
            browser.wait_for_value(lesson, OUTSIDE, &[], &none);
            browser.wait_for_value(lesson, CUT, &[], &none);
            let before = browser.run(ON, &[]);
            if before.is_null() {
                break;
            }
            let changed = "return document.querySelector('.lesson').textContent !== arguments[0]";
            browser.wait("the next page", changed, &[before]);
        }
    }
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_task_in_a_small_frame_has_its_question_a_card_and_the_steps_in_sight() {
    const ON: &str = "
        if (document.querySelector('.task')) return true;
        document.querySelector('.choice:enabled, #lesson-forward:enabled')?.click();
        return false";
    const CUT: &str = "
        const parts = ['.task .question', '.card .yaml', '.send-row', '.transport'];
        return parts.filter(name => {
            const part = [...document.querySelectorAll(name)].find(part => part.checkVisibility());
            const box = part?.getBoundingClientRect();
            return !(box && box.top >= 0 && box.top + 20 < innerHeight);
        })";
    let site = Site::serve(&dist());
    let address = format!("{}?embed#/learn/01-the-lost-update", site.url());
    let browser = open(&address, 480, 500);
    browser.wait(
        "the lesson",
        "return document.querySelector('.lesson-bar')",
        &[],
    );
    browser.wait("the task", ON, &[]);
    let none = serde_json::json!([]);
    browser.wait_for_value("what is not in sight", CUT, &[], &none);
    browser.wait_for_value("parts outside", OUTSIDE, &[], &none);
    let fits = "return document.documentElement.scrollHeight <= innerHeight";
    browser.wait_for_value("the frame does not scroll", fits, &[], &true.into());
}

/// Lists the texts that are cut: only the beginning or the end of their box is visible.
const CUT_ENDS: &str = "
    const parts = '.was, .now, .marked .value, .ends > :last-child';
    return [...document.querySelectorAll(parts)]
        .filter(part => part.checkVisibility() && !part.querySelector('.ends'))
        // Only a box cuts. Of text in a line, Firefox tells a width and Chrome none.
        .filter(part => getComputedStyle(part).display !== 'inline')
        .filter(part => part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 4)
        .map(part => part.className + ' ' + part.textContent)";

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn of_a_value_that_changed_the_part_that_differs_is_in_sight() {
    let site = Site::serve(&dist());
    let long = NGINX.replace(
        "nginx:1.14.2",
        "registry.example.com/a-team/mirrors/nginx:1.14.2",
    );
    let image = "registry.example.com/a-team/mirrors/nginx:1.16.1";
    for (manifest, values) in [
        (NGINX, ["nginx:1.16.1", "nginx:1.17.3"]),
        (
            &long,
            [image, "registry.example.com/a-team/mirrors/nginx:1.17.3"],
        ),
    ] {
        for (width, height) in [(1440, 900), (1024, 768), (390, 844)] {
            let browser = open(&refused(&site, manifest, IMAGE, values), width, height);
            let come = "return document.querySelector('#card-b .meant .was')";
            browser.wait("what was changed", come, &[]);
            let (what, none) = (format!("{width}: {values:?}"), serde_json::json!([]));
            browser.wait_for_value(&what, CUT_ENDS, &[], &none);
            let row = "return document.querySelector('#card-b .meant').textContent";
            let row = browser.run(row, &[]);
            for whole in [manifest_image(manifest), values[0], values[1]] {
                assert!(row.as_str().is_some_and(|row| row.contains(whole)), "{row}");
            }
        }
    }
}

fn manifest_image(manifest: &str) -> &str {
    let (_, rest) = manifest
        .split_once("\"image\": \"")
        .expect("it has an image");
    rest.split('"').next().unwrap_or_default()
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_shared_conflict_opens_on_what_was_changed() {
    const IN_SIGHT: &str = "
        const changed = document.querySelector('#card-b .meant');
        if (!changed?.checkVisibility()) return false;
        const [row, card] = [changed, changed.closest('.yaml')].map(part => part.getBoundingClientRect());
        return row.top >= card.top - 1 && row.bottom <= card.bottom + 1";
    let site = Site::serve(&dist());
    let data: String = (0..80)
        .map(|at| format!("  key-{at:02}: \"{at}\"\n"))
        .collect();
    let object =
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: long}}\ndata:\n{data}");
    for (width, height) in [(1440, 900), (1024, 768), (390, 844)] {
        let url = refused(&site, &object, "/data/key-77", ["a", "b"]);
        let browser = open(&url, width, height);
        browser.wait(&format!("the changed value at {width}"), IN_SIGHT, &[]);
    }
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn every_way_in_fits_a_phone_and_all_of_them_can_be_seen() {
    const FITS: &str = "
        const pages = document.querySelector('.pages');
        return [document.documentElement, pages].map(part => part.scrollWidth - part.clientWidth)";
    let site = Site::serve(&dist());
    let browser = open(&site.url(), 390, 844);
    conflict(&browser, |editor| {
        super::press(&browser, "Open card", editor)
    });
    for width in [390, 360] {
        browser.resize(width, 844);
        for page in ["play", "explore", "learn", "diagnose"] {
            browser.run("location.hash = `#/${arguments[0]}`", &[page.into()]);
            let here = format!(
                "return document.querySelector('.pages a[href=\"#/{page}\"][aria-current]')"
            );
            browser.wait(page, &here, &[]);
            let what = format!("{page} at {width}");
            browser.wait_for_value(&what, FITS, &[], &serde_json::json!([0, 0]));
        }
    }
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_long_path_in_why_stays_in_its_place() {
    const WIDE: &str = "
        return [...document.querySelectorAll('#inspector .inspector-body, .why, .answer-head, .caption')]
            .filter(part => part.scrollWidth > part.clientWidth + 1)
            .map(part => part.className + ' ' + part.scrollWidth + ' > ' + part.clientWidth)";
    let site = Site::serve(&dist());
    let key = format!(
        "{}{}",
        "a".repeat(60),
        ".example.com/a-name-that-nobody-can-break-in-two"
    );
    let object = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: long\n  annotations:\n    {key}: \"1\"\n"
    );
    let (world, _) = World::load(&object).expect("it loads");
    let mut tree = HistoryTree::new(world);
    tree.act(Operation::Act(ActorId::B, Action::Get));
    let world = tree.world_mut();
    let read = world.copy(ActorId::B).edited().expect("it was read");
    let pointer = format!("/metadata/annotations/{}", key.replace('/', "~1"));
    let edited = edit_scalar(read, &pointer, "2").expect("it can be edited");
    world.copy_mut(ActorId::B).edit(edited);
    world
        .actor_mut(ActorId::B)
        .choose(optimist_client::Strategy::Apply);
    let write = world.actor(ActorId::B).write();
    tree.act(Operation::Act(ActorId::B, Action::Send(write)));
    let mut session = Session::from_tree(&tree);
    session.page = "play".to_owned();
    let browser = open(
        &format!("{}#/play?s={}", site.url(), session.to_text()),
        1440,
        900,
    );
    browser.wait(
        "the refusal",
        "return document.querySelector('.step.current.refused')",
        &[],
    );
    browser.wait_for_text("Why", &key[..40]);
    browser.wait_for_value("wide parts", WIDE, &[], &serde_json::json!([]));
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn on_a_phone_the_head_of_an_open_lane_comes_into_sight() {
    const HEAD: &str = "
        const rect = part => document.querySelector(part).getBoundingClientRect();
        const [row, head] = [rect('.lane-tabs'), rect('.lane-tabs [aria-pressed=true]')];
        const lane = document.querySelector('.lane-tabs [aria-pressed=true]').className;
        return [lane, head.left >= row.left, head.right <= row.right]";
    let (world, _) = World::load(NGINX).expect("it loads");
    let mut tree = HistoryTree::new(world);
    let actors = [ActorId::A, ActorId::C, ActorId::D, ActorId::E, ActorId::F];
    for actor in actors {
        tree.act(Operation::Act(actor, Action::Get));
    }
    let mut session = Session::from_tree(&tree);
    session.page = "play".to_owned();
    let site = Site::serve(&dist());
    let browser = open(
        &format!("{}#/play?s={}", site.url(), session.to_text()),
        390,
        844,
    );
    // Before the session is open there are two editors, and another lane is pressed then.
    let all = "return document.querySelector('.lane-tabs .f')";
    browser.wait("all lanes", all, &[]);
    for lane in ["a", "f", "server", "d", "a"] {
        // A script, because a driver brings what it clicks into sight.
        let press = format!("document.querySelector('.lane-tabs .{lane}').click()");
        browser.run(&press, &[]);
        let in_sight = serde_json::json!([format!("lane-tab {lane}"), true, true]);
        browser.wait_for_value(lane, HEAD, &[], &in_sight);
    }
}

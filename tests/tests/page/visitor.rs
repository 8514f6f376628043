//! The release site as a visitor has it: under a sub-path, in a browser, worked by hand.

use optimist_links::Session;
use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, Operation, World};
use optimist_tests::page::{Browser, Site, dist};

use super::{ENTER, press, says_nothing, wait_until_whole};

/// The page fits its window: nothing sticks out to the right, and nothing makes it scroll as a whole.
fn fits(browser: &Browser, what: &str) {
    const SCRIPT: &str = "
        const wide = document.documentElement;
        const out = [...document.querySelectorAll('.page *')].filter(part =>
            part.checkVisibility() && !part.closest('svg, .unseen, .json, .yaml, .timeline, .other-endings') &&
            part.getBoundingClientRect().right > innerWidth + 1);
        return [wide.scrollWidth - innerWidth, wide.scrollHeight - innerHeight,
            out.map(part => part.className + ' ' + part.textContent.slice(0, 40)).join('; ')]";
    browser.wait_for_value(what, SCRIPT, &[], &serde_json::json!([0, 0, ""]));
}

fn set(browser: &Browser, editor: &str, field: &str, value: &str) {
    browser.click(&browser.control(editor, &format!("{field}: ")));
    browser.wait_for_keyboard(editor, &format!("{editor}: {field}"));
    browser.type_text(&format!("{value}{ENTER}"));
    browser.control(editor, &format!("{field}: {value}"));
}

/// Makes a 409 by hand. `open` shows the card of an editor.
pub(super) fn conflict(browser: &Browser, open: impl Fn(&str)) {
    for (editor, replicas) in [("Editor A", "5"), ("Editor B", "2")] {
        open(editor);
        press(browser, editor, "Get");
        // Until the second file is there, a notice of it lies over a low window.
        let come = "return !document.getElementById('rest').checkVisibility()";
        browser.wait("the second file", come, &[]);
        set(browser, editor, "spec.replicas", replicas);
    }
    for editor in ["Editor A", "Editor B"] {
        open(editor);
        press(browser, editor, "Send");
    }
    browser.wait(
        "the 409",
        "return document.querySelector('.step.current.refused')",
        &[],
    );
}

/// Checks that the part of a card which is scrolled away ends between two lines.
fn no_line_is_cut(browser: &Browser) {
    const SCRIPT: &str = "
        const top = part => part.getBoundingClientRect().top;
        const scrolled = [...document.querySelectorAll('.yaml')].filter(card => card.scrollTop > 0);
        return [scrolled.length, scrolled.filter(card => [...card.querySelectorAll('.line')]
            .every(line => Math.abs(top(line) - top(card)) > 1)).length]";
    let script =
        format!("const seen = (() => {{ {SCRIPT} }})(); return seen[0] > 0 && seen[1] === 0");
    browser.wait("cards that are scrolled to a line", &script, &[]);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_visitor_makes_the_409_by_hand_on_a_wide_page_and_on_a_phone() {
    let site = Site::serve(&dist());
    let browser = Browser::start();

    browser.resize(1440, 900);
    browser.go(&site.url());
    browser.control("Editor A", "Get");
    fits(&browser, "as it opens");
    conflict(&browser, |_| {});
    fits(&browser, "after the 409");
    // Where the cards are too low for the object.
    browser.resize(1440, 640);
    press(&browser, "Steps", "Back");
    press(&browser, "Steps", "Forward");
    no_line_is_cut(&browser);
    browser.resize(1440, 900);
    browser.wait_for_text("Response body", "\"code\": 409");
    browser.wait_for_text("Response body", "the object has been modified");
    browser.wait_for_text("Why", "Sent version 100, stored version 101");
    browser.wait_for_text("Editor B", "stale by 1");

    press(&browser, "Steps", "Back");
    press(&browser, "Steps", "Back");
    press(&browser, "Editor B", "Send");
    browser.control("History", "A stored");
    browser.resize(1024, 768);
    fits(&browser, "on a tablet");

    browser.go(&site.url());
    browser.wait(
        "the session of before the reload",
        "return document.querySelector('.position')?.textContent === 'step 3 / 3'",
        &[],
    );
    browser.control("History", "A stored");
    says_nothing(&browser);

    // A browser of its own: this one keeps its session.
    let browser = Browser::start();
    browser.resize(390, 844);
    browser.go(&site.url());
    browser.control("Open card", "Editor A");
    fits(&browser, "on a phone, as it opens");
    conflict(&browser, |editor| press(&browser, "Open card", editor));
    fits(&browser, "on a phone, after the 409");
    press(&browser, "Inspector", "409 Conflict");
    browser.control("Inspector", "Diff");
    fits(&browser, "on a phone, with the sheet up");
    browser.wait_for_text("Why", "Sent version 100, stored version 101");
    says_nothing(&browser);
}

/// Nothing that names a request, a version, a way of writing or an actor ends in an ellipsis.
fn no_word_is_cut(browser: &Browser, what: &str) {
    const SCRIPT: &str = "
        const named = '.ask, .answer, .pill, .chip, .method-words, .card-head h2, .card-head select, ' +
            '.card button:not(.fold, .value), .lane-tab span:not(.unseen), .fork button, ' +
            '.transport button, .top a, [role=tab]';
        const clamped = '.ask, .answer, .method-words';
        const cut = part => part.scrollWidth > part.clientWidth + 1 ||
            part.matches(clamped) && part.scrollHeight > part.clientHeight + 3;
        const right = part => part.getBoundingClientRect().right;
        return [...document.querySelectorAll(named)]
            .filter(part => part.checkVisibility() && !part.closest('.yaml') &&
                (cut(part) && getComputedStyle(part).overflow !== 'visible' ||
                    part.matches('[role=tab]') && right(part) > right(part.parentElement) + 1))
            .map(part => part.className + ': ' + part.textContent.trim())";
    browser.wait_for_value(what, SCRIPT, &[], &serde_json::json!([]));
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn the_object_comes_first_and_no_word_is_cut_from_a_projector_to_a_phone() {
    const LINES: &str = "
        const card = document.querySelector('#card-server .yaml');
        return Math.floor(card.clientHeight / card.querySelector('.line').clientHeight)";
    const SEEN: &str = "
        const seen = (inner, outer) => {
            const [a, b] = [inner, outer].map(part => part.getBoundingClientRect());
            return a.top >= b.top - 1 && a.bottom <= b.bottom + 1 };
        const find = what => document.querySelector(what);
        return [seen(find('[id=\"b/spec/replicas\"]'), find('#card-b .yaml')),
            seen(find('.step.current'), find('.timeline')), seen(find('.why'), find('.inspector-body'))]";
    let site = Site::serve(&dist());
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&site.url());
    browser.control("Editor A", "Get");
    conflict(&browser, |_| {});
    let lines = browser.run(LINES, &[]);
    assert!(lines.as_u64() >= Some(19), "{lines} lines in a card");
    // The object, the arrows and the reason, on a projector.
    browser.resize(1280, 720);
    browser.wait(
        "the step in sight",
        "return document.querySelector('.step.current')",
        &[],
    );
    press(&browser, "Steps", "Back");
    press(&browser, "Steps", "Forward");
    let all = serde_json::json!([true, true, true]);
    browser.wait_for_value("what is in sight", SEEN, &[], &all);

    // Another way of writing has other options, and moves no card.
    const HEIGHTS: &str =
        "return [...document.querySelectorAll('.card .yaml')].map(card => card.clientHeight)";
    let before = browser.run(HEIGHTS, &[]);
    browser.run(
        "document.querySelectorAll('#card-a .write-panel input[type=radio]')[3].click()",
        &[],
    );
    let chosen = "return document.querySelector('#card-a .method-words').textContent.startsWith('JSON patch')";
    browser.wait("JSON patch", chosen, &[]);
    browser.wait_for_value("the heights", HEIGHTS, &[], &before);

    for ending in [
        "No version",
        "Merge patch",
        "Apply",
        "Apply, force",
        "Get again, redo the edit",
    ] {
        press(&browser, "What happened", ending);
    }
    press(&browser, "API server", "Watch");
    press(&browser, "API server", "Open");
    press(&browser, "API server", "Drop");
    browser.control("API server", "Resume 102");
    for (width, height) in [
        (1440, 900),
        (1920, 1080),
        (1280, 720),
        (1024, 768),
        (390, 844),
    ] {
        browser.resize(width, height);
        let what = format!("{width}x{height}");
        no_word_is_cut(&browser, &what);
        fits(&browser, &what);
    }
    browser.go(&format!(
        "{}#/learn/02-resourceversion-and-the-409",
        site.url()
    ));
    for _ in 0..3 {
        browser.click(&browser.control("Lesson", "Next"));
    }
    for (width, height) in [(1440, 900), (1280, 720), (1024, 768), (390, 844)] {
        browser.resize(width, height);
        no_word_is_cut(&browser, &format!("a lesson, {width}x{height}"));
    }
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn very_long_names_and_values_stay_in_their_lines_and_can_be_edited() {
    // Each value has a part in sight, within its card.
    const IN_SIGHT: &str = "
        return [...document.querySelectorAll('.card .line > .value')].filter(value => {
            if (!value.checkVisibility()) return false;
            const [part, card] = [value, value.closest('.yaml')].map(one => one.getBoundingClientRect());
            return part.width < 8 || part.left < card.left || part.right > card.right + 1 })
            .map(value => value.textContent.slice(0, 40))";
    const LOAD: &str = "
        const area = document.querySelector('#manifest');
        area.value = arguments[0];
        area.dispatchEvent(new Event('input', {bubbles: true}));
        setTimeout(() => document.querySelector('dialog [type=submit]').click(), 100)";
    let long = "a-part-of-a-very-long-name.".repeat(6);
    let manifest = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {long}x\ndata:\n  {long}key: first\n  \
         short: {}\n  text: |\n    {long}\n    second line\n",
        "a word and ".repeat(30)
    );
    let site = Site::serve(&dist());
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&site.url());
    browser.control("Editor A", "Get");
    wait_until_whole(&browser);
    browser.click_selector(".load");
    browser.wait(
        "the dialog",
        "return document.querySelector('#manifest')",
        &[],
    );
    browser.run(LOAD, &[manifest.into()]);
    let loaded = "return document.querySelector('#card-server').textContent.includes('ConfigMap')";
    browser.wait("the ConfigMap", loaded, &[]);
    press(&browser, "Editor A", "Get");
    press(&browser, "Editor B", "Get");
    browser.control("Editor A", "data.short: ");
    for (width, height) in [(1440, 900), (1024, 768), (390, 844), (320, 640)] {
        browser.resize(width, height);
        let size = format!("{width}x{height}");
        browser.wait_for_value(&size, IN_SIGHT, &[], &serde_json::json!([]));
        fits(&browser, &format!("long names, {size}"));
    }
    browser.resize(1440, 900);
    let field = format!("data.{long}key");
    set(&browser, "Editor A", &field, "second");
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn on_a_phone_a_lane_brings_its_card_into_sight_and_load_is_always_there() {
    const UNDER: &str = "
        const [tabs, card] = ['.lane-tabs', arguments[0]].map(part =>
            document.querySelector(part).getBoundingClientRect());
        return [card.top >= tabs.bottom - 1, card.top < tabs.bottom + 24]";
    const ROW: &str = "
        const tops = [...document.querySelectorAll('#card-b .send-row > *')]
            .filter(part => part.checkVisibility()).map(part => part.getBoundingClientRect());
        return [tops.length, tops.every(part => part.top === tops[0].top && part.height >= 44)]";
    let site = Site::serve(&dist());
    let browser = Browser::start();
    browser.resize(390, 844);
    browser.go(&site.url());
    browser.control("Open card", "Editor A");
    conflict(&browser, |editor| press(&browser, "Open card", editor));
    for lane in ["Editor A", "Server", "Editor B"] {
        press(&browser, "Open card", lane);
        let card = match lane {
            "Editor A" => "#card-a",
            "Editor B" => "#card-b",
            _ => "#card-server",
        };
        let under = serde_json::json!([true, true]);
        browser.wait_for_value(lane, UNDER, &[card.into()], &under);
    }
    // The way of writing, Discard, Get and Send.
    browser.wait_for_value("a row", ROW, &[], &serde_json::json!([4, true]));
    let load = browser.run(
        "return document.querySelector('.load').checkVisibility()",
        &[],
    );
    assert_eq!(load, serde_json::json!(true), "with edits in both editors");
    let sheet = browser.run(
        "document.querySelector('#card-b .method > summary').click();
        const sheet = document.querySelector('#card-b .write-panel').getBoundingClientRect();
        return sheet.left >= 0 && sheet.right <= innerWidth && sheet.width > 340",
        &[],
    );
    assert_eq!(sheet, serde_json::json!(true), "the options are a sheet");
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn before_anything_was_read_few_controls_are_in_sight_and_the_rest_comes_with_the_409() {
    // The folds of the server's object are part of the object.
    const SEEN: &str = "
        return [...document.querySelectorAll('a[href], button, select, input, summary')]
            .filter(one => one.checkVisibility() && !one.closest('.yaml, .skip'))
            .map(one => one.ariaLabel ?? one.textContent.trim())";
    let site = Site::serve(&dist());
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&site.url());
    browser.control("Editor A", "Get");
    let seen = browser.run(SEEN, &[]);
    let count = |seen: &serde_json::Value| seen.as_array().map_or(0, Vec::len);
    // The pages, what loads and helps, the two ways to begin, Get and Send of each editor, and the start.
    assert!((4..=15).contains(&count(&seen)), "{seen}");
    conflict(&browser, |_| {});
    let all = format!("return (() => {{ {SEEN} }})().length > 25");
    browser.wait("the rest of the controls", &all, &[]);
    browser.go(&site.url());
    browser.control("Steps", "Back");
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_low_window_scrolls_as_a_whole_and_everything_in_it_has_room() {
    const ROOM: &str = "
        const wide = document.documentElement;
        const high = name => document.querySelector(name).getBoundingClientRect().height;
        return [wide.scrollWidth - wide.clientWidth, wide.scrollHeight > innerHeight,
            high('.timeline') >= 150, high('.stage') >= 400]";
    let site = Site::serve(&dist());
    let room = serde_json::json!([0, true, true, true]);
    for (width, height) in [(320, 256), (360, 225), (667, 375), (844, 390), (1280, 500)] {
        let browser = Browser::start();
        browser.resize(width, height);
        browser.go(&site.url());
        browser.control("Editor A", "Get");
        browser.wait_for_value(&format!("{width}x{height}"), ROOM, &[], &room);
        let come = "return performance.getEntriesByType('resource')
            .some(one => one.name.endsWith('_rest.wasm') && one.responseEnd > 0)";
        browser.wait("the last file", come, &[]);
        // A click fails where something is in the way.
        conflict(&browser, |editor| {
            if width < 940 {
                press(&browser, "Open card", editor);
            }
        });
        let what = format!("{width}x{height} after the 409");
        browser.wait_for_value(&what, ROOM, &[], &room);
        press(&browser, "Steps", "Back");
        if width < 940 {
            press(&browser, "Inspector", "200 OK");
        }
        press(&browser, "Inspector", "Diff");
    }
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn in_forced_colours_what_is_chosen_and_where_arrows_point_can_be_seen() {
    const SEEN: &str = "
        const style = (name, part) => getComputedStyle(document.querySelector(name), part);
        const ground = style('body').backgroundColor;
        const chosen = style('#card-a .segmented :checked + span').backgroundColor;
        const other = style('#card-a .segmented input:not(:checked) + span').backgroundColor;
        const tab = name => style(`#card-server [role=tab][aria-selected=${name}]`).backgroundColor;
        const under = name => style(`.underlined [role=tab][aria-selected=${name}]`).borderBottomColor;
        const head = style('.step.b .arrows', '::before');
        const clear = ['Top', 'Bottom'].every(side => {
            const [, , , alpha] = head[`border${side}Color`].match(/[\\d.]+/g);
            return Number(alpha) === 0;
        });
        const all = {
            strategy: chosen !== other, tab: tab(true) !== tab(false), under: under(true) !== under(false),
            page: style('.pages [aria-current]').borderBottomColor !==
                style('.pages a:not([aria-current])').borderBottomColor,
            lane: style('.lanes .a').backgroundColor !== ground,
            server: style('.lanes .server').backgroundColor !== ground,
            rail: style('.rail.done').backgroundColor !== ground,
            mark: style('.mark.a').backgroundColor !== ground,
            head: clear && head.borderLeftColor !== ground,
            line: style('.step.a:not(.current) .half', '::after').backgroundColor !== ground,
            divider: style('.divider', '::before').backgroundColor !== ground,
        };
        return Object.keys(all).filter(part => !all[part]).join(' ')";
    let site = Site::serve(&dist());
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.force_colours();
    browser.go(&site.url());
    browser.control("Editor A", "Get");
    conflict(&browser, |_| {});
    browser.wait_for_value("what cannot be seen", SEEN, &[], &"".into());
}

/// A link to a history of so many reads.
fn reads(site: &Site, count: usize) -> String {
    let (world, _) = World::load(NGINX).expect("it loads");
    let mut tree = HistoryTree::new(world);
    for _ in 0..count {
        tree.act(Operation::Act(ActorId::A, Action::Get));
    }
    format!(
        "{}#/play?s={}",
        site.url(),
        Session::from_tree(&tree).to_text()
    )
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn of_a_long_history_only_what_is_in_sight_is_drawn_and_all_of_it_printed() {
    const STEPS: usize = 300;
    const ROWS: &str = "return document.querySelectorAll('.step').length";
    let site = Site::serve(&dist());
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&reads(&site, STEPS));
    let in_sight = |step: usize| {
        let script = "
            const row = document.getElementById(`step-${arguments[0]}`);
            const around = document.getElementById('history').getBoundingClientRect();
            const here = row?.getBoundingClientRect();
            const gaps = [...document.querySelectorAll('#history .gap')];
            return !!here && here.top >= around.top && here.bottom <= around.bottom &&
                gaps.map(gap => gap.getBoundingClientRect())
                    .every(gap => gap.bottom <= around.top || gap.top >= around.bottom)";
        browser.wait(&format!("step {step}"), script, &[step.into()]);
        let rows = browser.run(ROWS, &[]).as_u64().unwrap_or_default();
        assert!((4..60).contains(&rows), "{rows} rows");
    };
    in_sight(STEPS);
    let scroll = "document.getElementById('history').scrollTop = arguments[0]";
    browser.run(scroll, &[40.into()]);
    in_sight(2);
    // The middle of what is not drawn is as far down as if all of it were.
    browser.run(scroll, &[(149 * 28).into()]);
    in_sight(152);
    press(&browser, "Steps", "Back");
    in_sight(STEPS - 1);
    press(&browser, "Steps", "First");
    press(&browser, "Steps", "Forward");
    in_sight(1);
    browser.resize(1440, 2400);
    in_sight(20);
    browser.resize(1440, 900);
    browser.run("dispatchEvent(new Event('beforeprint'))", &[]);
    browser.wait(
        "all on paper",
        &format!("{ROWS} === arguments[0]"),
        &[STEPS.into()],
    );
    browser.run("dispatchEvent(new Event('afterprint'))", &[]);
    in_sight(1);
    says_nothing(&browser);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn every_history_of_two_edits_is_counted_and_opens_in_play_and_a_phone_has_room_for_it() {
    const DONE: &str = "return document.querySelector('.matrix') &&
        !document.querySelector('.progress')";
    const OUT: &str = "return [...document.querySelectorAll('.explore *')]
        .filter(part => !part.closest('svg, .unseen, thead'))
        .filter(part => part.getBoundingClientRect().right > innerWidth + 1)
        .map(part => part.className).join('; ')";
    const COUNTS: &str = "return [...document.querySelectorAll('.matrix tr')]
        .find(row => row.textContent.startsWith('Update, no')).innerText.match(/\\d+/g)";
    let site = Site::serve(&dist());
    let browser = Browser::start();
    let address = format!("{}#/explore", site.url());
    for (width, height) in [(1440, 900), (1024, 768), (390, 844)] {
        browser.resize(width, height);
        // Chrome gives up what a page loads when another fragment is typed into its address.
        browser.go("about:blank");
        browser.go(&address);
        browser.wait("the matrix", DONE, &[]);
        // In the object, replaced, refused, lost.
        let counts = serde_json::json!(["2", "0", "0", "4"]);
        browser.wait_for_value(&format!("counts at {width}"), COUNTS, &[], &counts);
        browser.wait_for_value(&format!("sticks out at {width}"), OUT, &[], &"".into());
        press(&browser, "Map of the orders", "Open it in Play");
        let position = "return document.querySelector('.position')?.textContent";
        browser.wait_for_value("the history", position, &[], &"step 4 / 4".into());
    }
}

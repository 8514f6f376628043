//! The release site through the eyes of axe-core: every screen, light and dark, wide, narrow and low,
//! has nothing that keeps people from using it (WCAG 2.2, A and AA).

use std::env;
use std::fs;
use std::path::Path;

use optimist_tests::page::{Browser, FAILING, Fault, Site, dist};

use serde_json::Value;

use super::{ENTER, press, wait_until_whole};

const WIDE: (u32, u32) = (1440, 900);
const PHONE: (u32, u32) = (390, 844);

/// The rules of WCAG 2.2, A and AA, and of good practice.
const ALL: &[&str] = &[
    "wcag2a",
    "wcag2aa",
    "wcag21a",
    "wcag21aa",
    "wcag22aa",
    "best-practice",
];

/// The rules that colours can break: what is dark differs from what is light by nothing else.
const COLOURS: &[&str] = &["color-contrast", "link-in-text-block"];

/// The rules that the size of the window can break: a low window shows what a phone shows.
const ROOM: &[&str] = &[
    "color-contrast",
    "target-size",
    "scrollable-region-focusable",
];

/// Adds to axe's script a function that lists the faults which axe finds within an element (a selector) by such rules,
/// each with its place; empty if there are none. It looks when everything that moves or changes its colour has come to
/// rest. Values and folds stand in lines of code, which sets their height (WCAG 2.5.8, the exception for inline
/// targets); axe cannot know that. An element that lies half under the edge of a scrolling part is scrolled to and
/// looked at again.
const AUDIT: &str = "
window.audit = (within, ...rules) => {
    const element = node => document.querySelector(node.target[0]);
    const inline = node => element(node)?.closest('.line, .json');
    const small = async node => {
        if (inline(node)) return false;
        if (!node.any.some(check => /obscured/.test(check.message))) return true;
        const target = element(node);
        const places = [];
        for (let part = target; part; part = part.parentElement)
            places.push([part, part.scrollLeft, part.scrollTop]);
        target.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
        const found = await axe.run(target, {runOnly: {type: 'rule', values: ['target-size']}});
        for (const [part, left, top] of places) part.scrollTo({left, top, behavior: 'instant'});
        return found.violations.length > 0;
    };
    const rest = async () => {
        // What moves begins with a frame. What is out of sight does not move on in Firefox.
        const drawn = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        await drawn();
        document.getAnimations()
            .filter(one => one.effect.getComputedTiming().endTime !== Infinity)
            .forEach(one => one.finish());
        await drawn();
    };
    const audit = async () => {
        const found = await axe.run(within,
            {preload: false, resultTypes: ['violations'], runOnly: rules});
        for (const one of found.violations.filter(one => one.id === 'target-size')) {
            const nodes = one.nodes;
            one.nodes = [];
            for (const node of nodes) if (await small(node)) one.nodes.push(node);
        }
        return found.violations.filter(one => one.nodes.length > 0);
    };
    const told = found => found.map(one => one.id + ': ' + one.nodes.slice(0, 4)
        .map(node => node.target.join(' ') + ' (' + node.any.concat(node.all, node.none)
            .map(check => check.message).join('; ') + ')').join(', ')).join('\\n');
    return rest().then(audit).then(told);
}";

struct Visit {
    browser: Browser,
    axe: String,
    /// The rules to check: all of them, or those that can differ from screens that were looked at
    /// elsewhere.
    rules: &'static [&'static str],
    /// `true` if every screen is looked at in the dark too.
    dark_too: bool,
    faults: Vec<String>,
    /// The number of screens that were looked at.
    screens: usize,
}

impl Visit {
    fn begin() -> Self {
        let axe = env::var("OPTIMIST_AXE").expect("OPTIMIST_AXE names axe-core's script");
        let axe = fs::read_to_string(&axe).unwrap_or_else(|error| panic!("{axe}: {error}"));
        Self {
            browser: Browser::start(),
            axe,
            rules: ALL,
            dark_too: false,
            faults: Vec::new(),
            screens: 0,
        }
    }

    fn end(&self) {
        println!("{} screens", self.screens);
        assert!(self.faults.is_empty(), "{}", self.faults.join("\n\n"));
    }

    /// Looks at everything that is shown.
    fn look(&mut self, screen: &str) {
        self.look_within("html", screen);
    }

    /// Looks at the part of the page that differs from a screen that was looked at.
    fn look_within(&mut self, part: &str, screen: &str) {
        let loaded = self.browser.run("return typeof audit === 'function'", &[]);
        if loaded == false {
            self.browser.add_script(&format!("{};{AUDIT}", self.axe));
        }
        self.look_by(self.rules, part, screen);
        if self.dark_too {
            self.browser.prefer(true);
            self.look_by(COLOURS, part, &format!("{screen}, dark"));
            self.browser.prefer(false);
        }
    }

    fn look_by(&mut self, rules: &[&str], part: &str, screen: &str) {
        self.screens += 1;
        let arguments = [part].into_iter().chain(rules.iter().copied());
        let arguments: Vec<Value> = arguments.map(Value::from).collect();
        let found = self.browser.run("return audit(...arguments)", &arguments);
        let found = found.as_str().unwrap_or("axe said nothing").to_owned();
        if !found.is_empty() {
            println!("{screen}\n{found}");
            self.faults.push(format!("{screen}\n{found}"));
        }
    }

    fn press(&self, region: &str, name: &str) {
        press(&self.browser, region, name);
    }

    /// Opens the site in a browser of its own: a tab keeps its session.
    fn open(&mut self, url: &str, (width, height): (u32, u32)) {
        self.browser = Browser::start();
        self.browser.resize(width, height);
        self.browser.prefer(false);
        self.browser.go(url);
    }

    /// Shows what comes with the first conflict.
    fn show_all_controls(&mut self) {
        let first = "return document.querySelector('[data-first-visit]')";
        self.browser.wait("the first visit", first, &[]);
        self.look("the first visit");
        self.click(".all-controls");
        let all = "return !document.querySelector('[data-first-visit]')";
        self.browser.wait("all controls", all, &[]);
    }

    /// Another address of the site, loaded anew.
    fn go(&mut self, url: &str, wanted: &str) {
        self.browser.go("about:blank");
        self.browser.go(url);
        let script = format!("return document.querySelector({wanted:?})");
        self.browser.wait(wanted, &script, &[]);
    }

    fn click(&self, selector: &str) {
        self.browser.click_selector(selector);
    }

    /// A dialog that a button of the header or of an editor opens.
    fn dialog(&mut self, how: &str, name: &str, button: &str) {
        self.click(button);
        let open = "return document.querySelector('dialog[open]')";
        self.browser.wait(name, open, &[]);
        self.look_within("dialog[open]", &format!("{how}: {name}"));
        self.click("#dialog-close");
    }

    /// Looks at an editor that has read, with everything that can be typed, chosen and unfolded in
    /// it, and at the dialogs.
    fn editor(&mut self, how: &str) {
        let a = "Editor A";
        self.show_all_controls();
        self.press(a, "Get");
        self.click("#card-a .method > summary");
        self.look(&format!("{how}: how it writes"));
        for (strategy, place) in [("Merge", 2), ("Strategic", 3), ("JSON", 4), ("Apply", 5)] {
            self.click(&format!(
                "#card-a .segmented label:nth-of-type({place}) input"
            ));
            self.look(&format!("{how}: {strategy}"));
        }
        self.browser.type_text("\u{e00c}");
        self.press(a, "spec.replicas: ");
        self.look(&format!("{how}: a value is typed"));
        self.browser.type_text(&format!("many{ENTER}"));
        self.look(&format!("{how}: a value is wrong"));
        self.browser.type_text("\u{e00c}");
        self.press(a, "add a field");
        self.look(&format!("{how}: a field is added"));
        self.browser.type_text("\u{e00c}");
        self.click("#card-a .method > summary");
        self.dialog(
            how,
            "by hand",
            "#card-a .more-panel .buttons:last-child button:last-child",
        );
        self.dialog(how, "load a manifest", ".load");
        self.dialog(how, "share", ".share-button");
        self.dialog(how, "help", "[aria-label='Help and keys']");
        self.click(".load");
        let area = "return document.querySelector('#manifest')";
        self.browser.wait("the dialog", area, &[]);
        let put = "const area = document.querySelector('#manifest'); area.value = arguments[0];
            area.dispatchEvent(new Event('input', {bubbles: true}));";
        self.browser.run(put, &["kind: [".into()]);
        self.click("dialog [type=submit]");
        self.browser.wait(
            "the problem",
            "return document.querySelector('.problem')",
            &[],
        );
        self.look_within("dialog[open]", &format!("{how}: a manifest is wrong"));
        let several = "apiVersion: v1\nkind: List\nitems:\n\
            - {apiVersion: example.org/v1, kind: Job, metadata: {name: nightly}}\n\
            - {apiVersion: v1, kind: ConfigMap, metadata: {name: one}}\n\
            - {apiVersion: v1, kind: ConfigMap, metadata: {name: two}, data: {text: \"a\\nb\\n\"}}\n";
        self.browser.run(put, &[several.into()]);
        self.click("dialog [type=submit]");
        let loaded = "return !document.querySelector('dialog[open]')";
        self.browser.wait("the objects", loaded, &[]);
        self.look(&format!("{how}: several objects are loaded"));
        self.press(a, "Get");
        // On a phone it is scrolled away: Get shows the step.
        self.click("[id='a/data/text']");
        self.look(&format!("{how}: a text of several lines"));
    }

    /// Every lesson as it opens, and the first one to its end, on a wide page and on a phone.
    fn lessons(&mut self, url: &str) {
        let lessons = concat!(env!("CARGO_MANIFEST_DIR"), "/../lessons");
        let mut names: Vec<String> = fs::read_dir(lessons)
            .expect("the lessons are there")
            .filter_map(|file| file.ok()?.path().file_stem()?.to_str().map(str::to_owned))
            .filter(|name| name.starts_with(|first: char| first.is_ascii_digit()))
            .collect();
        names.sort();
        assert!(names.len() > 10, "{names:?}");
        for name in &names {
            self.go(&format!("{url}#/learn/{name}"), "#lesson-forward");
            self.look_wide_and_on_a_phone(&format!("lesson {name}"));
        }
        self.go(&format!("{url}#/learn/{}", names[0]), "#lesson-forward");
        for turn in 0..4 {
            // A question comes before the way on.
            self.click(".choice:enabled, #lesson-forward:enabled");
            self.look_wide_and_on_a_phone(&format!("lesson {}, {turn}", names[0]));
        }
    }

    /// Diagnose without a case, and with each of its examples: all parts of the case.
    fn diagnose(&mut self, url: &str, how: &str) {
        self.go(&format!("{url}#/diagnose"), ".case-questions");
        self.look(&format!("{how}: diagnose"));
        let count = "return document.querySelectorAll('.case-questions li').length";
        let examples = self.browser.run(count, &[]).as_u64().unwrap_or_default();
        assert!(examples >= 4, "{examples}");
        for example in 1..=examples {
            let wanted = format!(".case-questions li:nth-child({example}) .example");
            self.go(&format!("{url}#/diagnose"), &wanted);
            self.click(&wanted);
            // The list of inputs stands there empty until they are read.
            let read = "return document.querySelector('.case-cards > *')
                && document.querySelector('.case-tabs')
                && !document.querySelector('.case-brought progress')";
            self.browser.wait("the inputs are read", read, &[]);
            // On a wide page, all parts are in sight.
            let parts = if how.starts_with("phone") { 3 } else { 1 };
            for part in (1..=parts).rev() {
                self.click(&format!(".case-tabs button:nth-child({part})"));
                self.look(&format!("{how}: diagnose, example {example}, part {part}"));
            }
            self.press("The case", "Remove all");
        }
    }

    fn look_wide_and_on_a_phone(&mut self, screen: &str) {
        for (how, (width, height)) in [("wide", WIDE), ("phone", PHONE)] {
            self.browser.resize(width, height);
            let how = format!("{how}: {screen}");
            self.look(&how);
            if screen.starts_with("lesson") {
                self.segments(&how);
            }
        }
    }

    /// Looks at the page while the program is on its way, when a part of it does not come, and when
    /// it has stopped.
    fn failures(&mut self, folder: &Path) {
        for (end, fault, words) in [
            ("_bg.wasm", Fault::Late, "#loading-words"),
            ("_bg.wasm", Fault::Missing, "#not-loaded"),
            ("_play.wasm", Fault::Late, "#rest-coming"),
            ("_play.wasm", Fault::Missing, "#rest-failed"),
        ] {
            let site = Site::serve(folder);
            site.fail(end, fault);
            self.open(&site.url(), WIDE);
            if words.starts_with("#rest") {
                self.press("Editor A", "Get");
            }
            let script = format!("return document.querySelector({words:?}).checkVisibility()");
            self.browser.wait(words, &script, &[]);
            self.look_wide_and_on_a_phone(words);
        }
        let site = Site::serve(folder);
        self.open(&site.url(), WIDE);
        // Until all of it is there, a trap opens the page once more.
        self.press("Editor A", "Get");
        wait_until_whole(&self.browser);
        let trap = format!("{FAILING} setTimeout(failing.trap)");
        self.browser.run(&trap, &[]);
        let script = "return document.querySelector('#stopped').checkVisibility()";
        self.browser.wait("the notice of a trap", script, &[]);
        self.look_wide_and_on_a_phone("the notice of a trap");
    }

    /// The segments of a lesson's bar can be hit (WCAG 2.5.8): 24 px high at least, as drawn.
    fn segments(&mut self, how: &str) {
        const SCRIPT: &str = "
            const segments = [...document.querySelectorAll('.lesson-bar button')];
            const low = segments.filter(one => one.getBoundingClientRect().height < 24);
            return [segments.length > 3, low.length]";
        let found = self.browser.run(SCRIPT, &[]);
        if found != serde_json::json!([true, 0]) {
            self.faults.push(format!("{how}: low segments {found}"));
        }
    }

    /// The screens of the Play page.
    fn play(&mut self, how: &str) {
        let wide = how.starts_with("wide");
        self.show_all_controls();
        self.look(&format!("{how}: as it opens"));
        for (editor, replicas) in [("Editor A", "5"), ("Editor B", "2")] {
            if !wide {
                self.press("Open card", editor);
            }
            self.press(editor, "Get");
            self.press(editor, "spec.replicas: ");
            self.browser
                .wait_for_keyboard(editor, &format!("{editor}: spec.replicas"));
            self.browser.type_text(&format!("{replicas}{ENTER}"));
        }
        self.look(&format!("{how}: edited"));
        for editor in ["Editor A", "Editor B"] {
            if !wide {
                self.press("Open card", editor);
            }
            self.press(editor, "Send");
        }
        self.look(&format!("{how}: after the 409"));
        if !wide {
            self.press("Open card", "Server");
        }
        for tab in ["Owners", "Revisions", "Watch", "Object"] {
            self.press("What the server has", tab);
            self.look_within("#card-server", &format!("{how}: {tab}"));
        }
        if !wide {
            self.press("Inspector", "409 Conflict");
        }
        for tab in ["kubectl", "Go", "Rust", "Diff", "Preview", "Wire"] {
            if ["Go", "Rust", "Preview"].contains(&tab) {
                self.click(".inspector-tabs summary");
            }
            self.press("Inspector", tab);
            self.look_within(".inspector", &format!("{how}: {tab}"));
        }
        if !wide {
            self.press("Inspector", "409 Conflict");
            self.press("Open card", "Editor B");
        }
        self.click("#card-b .method > summary");
        self.press("Editor B", "YAML");
        self.look(&format!("{how}: the whole object as text"));
        self.click("#card-b .method > summary");
        self.press("Editor B", "YAML");
        self.press("Steps", "Back");
        self.press("Steps", "Back");
        self.press("Editor B", "Send");
        self.press("History", "Compare branches");
        self.look(&format!("{how}: branches"));
    }
}

/// Play, its dialogs, Explore and Learn, light and dark.
fn pages(how: &str, size: (u32, u32)) {
    let site = Site::serve(&dist());
    let mut visit = Visit::begin();
    visit.dark_too = true;
    visit.open(&site.url(), size);
    visit.browser.control("Editor A", "Get");
    visit.play(how);
    visit.open(&site.url(), size);
    visit.editor(how);
    for page in ["explore", "learn"] {
        visit.go(&format!("{}#/{page}", site.url()), "main");
        visit.look(&format!("{how}: {page}"));
    }
    visit.diagnose(&site.url(), how);
    visit.end();
}

/// Every screen. The markup and the style sheet that axe reads in them are the same in each browser, and to read all of
/// them takes minutes, so Firefox does not (`xtask/src/checks.rs`).
mod every_screen {
    use super::*;

    #[test]
    #[ignore = "needs the release site and axe-core: cargo xtask test page"]
    fn nothing_on_a_wide_page_keeps_people_from_using_it() {
        pages("wide", WIDE);
    }

    #[test]
    #[ignore = "needs the release site and axe-core: cargo xtask test page"]
    fn nothing_on_a_phone_keeps_people_from_using_it() {
        pages("phone", PHONE);
    }

    #[test]
    #[ignore = "needs the release site and axe-core: cargo xtask test page"]
    fn nothing_in_any_lesson_keeps_people_from_taking_it() {
        let site = Site::serve(&dist());
        let mut visit = Visit::begin();
        visit.open(&site.url(), WIDE);
        visit.lessons(&site.url());
        visit.end();
    }

    #[test]
    #[ignore = "needs the release site and axe-core: cargo xtask test page"]
    fn nothing_in_a_low_window_keeps_people_from_using_it() {
        let site = Site::serve(&dist());
        let mut visit = Visit::begin();
        for (width, height) in [(320, 256), (360, 225), (667, 375)] {
            let how = format!("low, {width}x{height}");
            visit.open(&site.url(), (width, height));
            visit.play(&how);
            if height == 256 {
                visit.open(&site.url(), (width, height));
                visit.editor(&how);
            }
            visit.go(&format!("{}#/explore", site.url()), "main");
            visit.look(&format!("{how}: explore"));
            visit.go(&format!("{}#/learn", site.url()), "main");
            visit.look(&format!("{how}: learn"));
            visit.go(
                &format!("{}#/learn/01-the-lost-update", site.url()),
                ".lesson-bar",
            );
            visit.segments(&how);
            visit.rules = ROOM;
        }
        visit.end();
    }
}

#[test]
#[ignore = "needs the release site and axe-core: cargo xtask test page"]
fn nothing_in_forced_colours_or_in_a_frame_keeps_people_from_using_it() {
    let site = Site::serve(&dist());
    let mut visit = Visit::begin();
    visit.open(&format!("{}?embed", site.url()), WIDE);
    visit
        .browser
        .wait("the page", "return document.querySelector('main')", &[]);
    visit.look("wide: in a frame");
    visit.rules = COLOURS;
    visit.open(&site.url(), WIDE);
    visit.browser.force_colours();
    visit.play("wide, forced colours");
    visit.end();
}

#[test]
#[ignore = "needs the release site and axe-core: cargo xtask test page"]
fn nothing_that_is_said_of_a_program_that_fails_keeps_people_out() {
    let mut visit = Visit::begin();
    visit.dark_too = true;
    visit.failures(&dist());
    assert_eq!(visit.screens, 5 * 2 * 2);
    visit.end();
}

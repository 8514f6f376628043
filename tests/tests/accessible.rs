//! The release site through the eyes of axe-core: every screen, light and dark, wide, narrow and low,
//! has nothing that keeps people from using it (WCAG 2.2, A and AA).

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use optimist_tests::page::{Browser, FAILING, Fault, Site};

const ENTER: &str = "\u{e007}";

/// What axe finds, each with where; empty if nothing. Only what it finds twice counts: at first a
/// colour may be on its way to another. Values and folds stand in lines of code, which sets their
/// height (WCAG 2.5.8, the exception for what is inline); axe cannot know that. What lies half under
/// the edge of what scrolls is looked at again where it is scrolled to.
const AUDIT: &str = "
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
    const audit = async () => {
        const found = await axe.run(document, {
            resultTypes: ['violations'],
            runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
        });
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
    return audit().then(found => found.length === 0 ? '' :
        new Promise(again => setTimeout(again, 400)).then(audit).then(told))";

struct Visit {
    browser: Browser,
    axe: String,
    faults: Vec<String>,
    /// How many were looked at.
    screens: usize,
}

fn dist() -> PathBuf {
    env::var_os("OPTIMIST_DIST").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../dist"),
        PathBuf::from,
    )
}

impl Visit {
    fn begin() -> Self {
        let axe = env::var("OPTIMIST_AXE").expect("OPTIMIST_AXE names axe-core's script");
        let axe = fs::read_to_string(&axe).unwrap_or_else(|error| panic!("{axe}: {error}"));
        Self {
            browser: Browser::start(),
            axe,
            faults: Vec::new(),
            screens: 0,
        }
    }

    fn end(&self) {
        println!("{} screens", self.screens);
        assert!(self.faults.is_empty(), "{}", self.faults.join("\n\n"));
    }

    fn look(&mut self, screen: &str) {
        self.screens += 1;
        let loaded = self.browser.run("return typeof axe === 'object'", &[]);
        if loaded == false {
            let script = format!("{}; window.axe = axe", self.axe);
            self.browser.run(&script, &[]);
        }
        let found = self.browser.run(AUDIT, &[]);
        let found = found.as_str().unwrap_or("axe said nothing").to_owned();
        if !found.is_empty() {
            println!("{screen}\n{found}");
            self.faults.push(format!("{screen}\n{found}"));
        }
    }

    fn press(&self, region: &str, name: &str) {
        self.browser.click(&self.browser.control(region, name));
    }

    /// Opens the site in a browser of its own: a tab keeps its session.
    fn open(&mut self, url: &str, (width, height): (u32, u32)) {
        self.browser = Browser::start();
        self.browser.resize(width, height);
        self.browser.go(url);
    }

    /// Another address of the site, loaded anew.
    fn go(&mut self, url: &str, wanted: &str) {
        self.browser.go("about:blank");
        self.browser.go(url);
        let script = format!("return document.querySelector({wanted:?})");
        self.browser.wait(wanted, &script, &[]);
    }

    fn click(&self, selector: &str) {
        let script = format!("document.querySelector({selector:?}).click()");
        self.browser.run(&script, &[]);
    }

    /// A dialog that a button of the header or of an editor opens.
    fn dialog(&mut self, how: &str, name: &str, button: &str) {
        self.click(button);
        let open = "return document.querySelector('dialog[open]')";
        self.browser.wait(name, open, &[]);
        self.look(&format!("{how}: {name}"));
        self.click("#dialog-close");
    }

    /// What can be typed, chosen and unfolded in an editor that has read, and the dialogs.
    fn editor(&mut self, how: &str) {
        let a = "Editor A";
        self.press(a, "Get");
        for (strategy, place) in [("Merge", 2), ("Strategic", 3), ("JSON", 4), ("Apply", 5)] {
            self.click(&format!(
                "#card-a .segmented label:nth-of-type({place}) input"
            ));
            self.look(&format!("{how}: {strategy}"));
        }
        self.press(a, "spec.replicas: ");
        self.look(&format!("{how}: a value is typed"));
        self.browser.type_text(&format!("many{ENTER}"));
        self.look(&format!("{how}: a value is wrong"));
        self.browser.type_text("\u{e00c}");
        self.press(a, "add a field");
        self.look(&format!("{how}: a field is added"));
        self.browser.type_text("\u{e00c}");
        self.click("#card-a details summary");
        self.look(&format!("{how}: more"));
        self.dialog(
            how,
            "by hand",
            "#card-a .more-panel .buttons button:last-child",
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
        self.look(&format!("{how}: a manifest is wrong"));
        let several = "apiVersion: v1\nkind: List\nitems:\n\
            - {apiVersion: example.org/v1, kind: Job, metadata: {name: nightly}}\n\
            - {apiVersion: v1, kind: ConfigMap, metadata: {name: one}}\n\
            - {apiVersion: v1, kind: ConfigMap, metadata: {name: two}, data: {text: \"a\\nb\\n\"}}\n";
        self.browser.run(put, &[several.into()]);
        self.click("dialog [type=submit]");
        self.look(&format!("{how}: several objects are loaded"));
        self.press(a, "Get");
        // On a phone it is scrolled away: Get shows the step.
        self.click("[id='a/data/text']");
        self.look(&format!("{how}: a text of several lines"));
    }

    /// Every lesson as it opens, and the first one to its end.
    fn lessons(&mut self, how: &str, url: &str) {
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
            self.look(&format!("{how}: lesson {name}"));
            self.segments(&format!("{how}: lesson {name}"));
        }
        self.go(&format!("{url}#/learn/{}", names[0]), "#lesson-forward");
        for turn in 0..4 {
            self.click("#lesson-forward");
            self.look(&format!("{how}: lesson {}, {turn}", names[0]));
        }
    }

    /// What stands there while the program is on its way, where a part of it does not come, and
    /// where it has stopped.
    fn failures(&mut self, how: &str, folder: &Path, size: (u32, u32), dark: bool) {
        for (end, fault, words) in [
            ("_bg.wasm", Fault::Late, "#loading-words"),
            ("_bg.wasm", Fault::Missing, "#not-loaded"),
            ("_rest.wasm", Fault::Late, "#rest-coming"),
            ("_rest.wasm", Fault::Missing, "#rest-failed"),
        ] {
            let site = Site::serve(folder);
            site.fail(end, fault);
            self.browser = Browser::start();
            self.browser.resize(size.0, size.1);
            self.browser.prefer(dark);
            self.browser.go(&site.url());
            if words.starts_with("#rest") {
                self.browser.control("Editor A", "Get");
                self.press("Editor A", "Get");
            }
            let script = format!("return document.querySelector({words:?}).checkVisibility()");
            self.browser.wait(words, &script, &[]);
            self.look(&format!("{how}: {words}"));
        }
        let site = Site::serve(folder);
        self.open(&site.url(), size);
        self.browser.prefer(dark);
        // Until all of it is there, a trap opens the page once more.
        self.press("Editor A", "Get");
        let step = "return document.querySelector('#history .step')";
        self.browser.wait("a step", step, &[]);
        let trap = format!("{FAILING} setTimeout(() => failing.trap())");
        self.browser.run(&trap, &[]);
        let script = "return document.querySelector('#stopped').checkVisibility()";
        self.browser.wait("the notice of a trap", script, &[]);
        self.look(&format!("{how}: the notice of a trap"));
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
        self.look(&format!("{how}: as it opens"));
        for (editor, replicas) in [("Editor A", "5"), ("Editor B", "2")] {
            if !wide {
                self.press("Open card", editor);
            }
            self.press(editor, "Get");
            self.press(editor, "spec.replicas: ");
            self.browser
                .control(editor, &format!("{editor}: spec.replicas"));
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
            self.look(&format!("{how}: {tab}"));
        }
        if !wide {
            self.press("Inspector", "409 Conflict");
        }
        for tab in ["kubectl", "Go", "Rust", "Diff", "Preview", "Wire"] {
            self.press("Inspector", tab);
            self.look(&format!("{how}: {tab}"));
        }
        if !wide {
            self.press("Inspector", "409 Conflict");
            self.press("Open card", "Editor B");
        }
        self.press("Editor B", "YAML");
        self.look(&format!("{how}: the whole object as text"));
        self.press("Editor B", "YAML");
        self.press("Steps", "Back");
        self.press("Steps", "Back");
        self.press("Editor B", "Send");
        self.press("History", "Compare histories");
        self.look(&format!("{how}: histories"));
    }
}

#[test]
#[ignore = "needs the release site and axe-core: cargo xtask test page"]
fn nothing_on_any_screen_keeps_people_from_using_it() {
    let site = Site::serve(&dist());
    let mut visit = Visit::begin();
    for (how, (width, height), dark) in [
        ("wide, light", (1440, 900), false),
        ("wide, dark", (1440, 900), true),
        ("phone, light", (390, 844), false),
        ("phone, dark", (390, 844), true),
    ] {
        // A browser of its own: a tab keeps its session.
        visit.browser = Browser::start();
        visit.browser.resize(width, height);
        visit.browser.prefer(dark);
        visit.browser.go(&site.url());
        visit.browser.control("Editor A", "Get");
        visit.play(how);
        visit.open(&site.url(), (width, height));
        visit.browser.prefer(dark);
        visit.editor(how);
        for page in ["explore", "learn"] {
            visit.browser.go("about:blank");
            visit.browser.go(&format!("{}#/{page}", site.url()));
            visit
                .browser
                .wait("the page", "return document.querySelector('main')", &[]);
            visit.look(&format!("{how}: {page}"));
        }
    }
    for (how, size) in [("wide, light", (1440, 900)), ("phone, light", (390, 844))] {
        visit.open(&site.url(), size);
        visit.lessons(how, &site.url());
    }
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
    }
    visit.open(&site.url(), (1440, 900));
    visit.browser.force_colours();
    visit.play("wide, forced colours");
    visit.go(&format!("{}?embed", site.url()), "main");
    visit.look("wide: in a frame");
    visit.end();
}

#[test]
#[ignore = "needs the release site and axe-core: cargo xtask test page"]
fn nothing_that_is_said_of_a_program_that_fails_keeps_people_out() {
    let mut visit = Visit::begin();
    visit.failures("wide, light", &dist(), (1440, 900), false);
    visit.failures("phone, dark", &dist(), (390, 844), true);
    assert_eq!(visit.screens, 10);
    visit.end();
}

//! The release site through the eyes of axe-core: every screen, light and dark, wide and narrow,
//! has nothing that keeps people from using it (WCAG 2.2, A and AA).

use std::env;
use std::fs;
use std::path::PathBuf;

use optimist_tests::page::{Browser, Site};

const ENTER: &str = "\u{e007}";

/// What axe finds, each with where; empty if nothing. Only what it finds twice counts: at first a
/// colour may be on its way to another. Values and folds stand in lines of code, which sets their
/// height (WCAG 2.5.8, the exception for what is inline); axe cannot know that.
const AUDIT: &str = "
    const inline = node => node.target.every(target => document.querySelector(target)
        ?.closest('.line, .json'));
    const audit = () => axe.run(document, {
        resultTypes: ['violations'],
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    }).then(found => ({violations: found.violations.filter(one =>
        one.id !== 'target-size' || !one.nodes.every(inline))}));
    const told = found => found.violations.map(one => one.id + ': ' + one.nodes.slice(0, 4)
        .map(node => node.target.join(' ') + ' (' + node.any.concat(node.all, node.none)
            .map(check => check.message).join('; ') + ')').join(', ')).join('\\n');
    return audit().then(found => found.violations.length === 0 ? '' :
        new Promise(again => setTimeout(again, 400)).then(audit).then(told))";

struct Visit {
    browser: Browser,
    axe: String,
    faults: Vec<String>,
}

impl Visit {
    fn look(&mut self, screen: &str) {
        let loaded = self.browser.run("return typeof axe === 'object'", &[]);
        if loaded == false {
            let script = format!("{}; window.axe = axe", self.axe);
            self.browser.run(&script, &[]);
        }
        let found = self.browser.run(AUDIT, &[]);
        let found = found.as_str().unwrap_or("axe said nothing").to_owned();
        if !found.is_empty() {
            self.faults.push(format!("{screen}\n{found}"));
        }
    }

    fn press(&self, region: &str, name: &str) {
        self.browser.click(&self.browser.control(region, name));
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
    let folder = env::var_os("OPTIMIST_DIST").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../dist"),
        PathBuf::from,
    );
    let axe = env::var("OPTIMIST_AXE").expect("OPTIMIST_AXE names axe-core's script");
    let axe = fs::read_to_string(&axe).unwrap_or_else(|error| panic!("{axe}: {error}"));
    let site = Site::serve(&folder);
    let mut visit = Visit {
        browser: Browser::start(),
        axe,
        faults: Vec::new(),
    };
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
        for page in ["explore", "learn"] {
            visit.browser.go("about:blank");
            visit.browser.go(&format!("{}#/{page}", site.url()));
            visit
                .browser
                .wait("the page", "return document.querySelector('main')", &[]);
            visit.look(&format!("{how}: {page}"));
        }
    }
    assert!(visit.faults.is_empty(), "{}", visit.faults.join("\n\n"));
}

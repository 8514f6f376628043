//! `opening SESSION SITE FILE`: opens an instrumented site (`xtask/split`), and writes the numbers of the
//! branches that run in a session into the file, one in each line. `first-screen` only opens the page, `play` does what
//! people do first in *Play*.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use optimist_tests::page::{Browser, Site};

/// The marks of the wasm that are set, once no mark was added for half a second: effects and timers of
/// the page run after it is drawn, and before the second file is there. The script is loaded already,
/// and returns what it started.
const RAN: &str = "
    const script = document.querySelector('link[rel=modulepreload]').href;
    const pause = () => new Promise(done => setTimeout(done, 500));
    return import(script).then(page => page.default()).then(async wasm => {
        const [from, to] = [wasm.marks.value, wasm['marks end'].value];
        const set = () => {
            const marks = new Uint8Array(wasm['marks memory'].buffer, from, to - from);
            return [...marks.keys()].filter(mark => marks[mark] !== 0);
        };
        let before = [];
        for (;;) {
            await pause();
            const now = set();
            if (now.length === before.length) return now;
            before = now;
        }
    })";

/// The keys Enter and Escape for a browser's driver.
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";

/// The name of the value that editor B changes.
const IMAGE: &str = "spec.template.spec.containers.0.image: ";

/// Does what people do in their first minutes. Code that it does not reach comes with the last part of the program.
struct Visitor {
    browser: Browser,
    wide: bool,
}

impl Visitor {
    fn press(&self, region: &str, name: &str) {
        self.browser.activate(&self.browser.control(region, name));
    }

    /// Clicks all elements of a selector that are there, one after the other.
    fn click_all(&self, selector: &str) {
        let count = "return document.querySelectorAll(arguments[0]).length";
        let count = self.browser.run(count, &[selector.into()]);
        for index in 0..count.as_u64().unwrap_or_default() {
            let click = "document.querySelectorAll(arguments[0])[arguments[1]]?.click()";
            self.browser.run(click, &[selector.into(), index.into()]);
            self.pause();
        }
    }

    /// Lets the page be drawn, with what comes after it.
    fn pause(&self) {
        let drawn = "return new Promise(done => requestAnimationFrame(() => setTimeout(done, 30)))";
        self.browser.run(drawn, &[]);
    }

    /// Waits until the page has kept the session.
    fn wait_until_kept(&self) {
        thread::sleep(Duration::from_millis(1200));
    }

    /// On a phone, one card is open.
    fn open(&self, card: &str) {
        if !self.wide {
            self.press("Open card", card);
        }
    }

    fn edit(&self, editor: &str, field: &str, text: &str) {
        self.press(editor, field);
        let name = format!("{editor}: {}", field.trim_end_matches(": "));
        self.browser.wait_for_keyboard(editor, &name);
        let keys = "for (const [key, ctrlKey] of [['Control', true], ['a', true], ['Shift', false], ['Backspace', false],
                ['ArrowLeft', false], ['Home', false], ['Tab', false]])
            document.activeElement.dispatchEvent(
                new KeyboardEvent('keydown', { key, ctrlKey, bubbles: true, cancelable: true }))";
        self.browser.run(keys, &[]);
        self.browser.type_text(text);
        self.pause();
    }

    /// Reads in both editors, and makes a 409.
    fn conflict(&self) {
        for (editor, field, text) in [
            ("Editor A", "spec.replicas: ", "5"),
            ("Editor B", IMAGE, "nginx:1.28"),
        ] {
            self.open(editor);
            self.press(editor, "Get");
            self.wait_until_kept();
            self.edit(editor, field, ESCAPE);
            self.edit(editor, field, &format!("{text}{ENTER}"));
            self.wait_until_kept();
            // Once more, which ends when another place has the keyboard.
            self.edit(editor, field, text);
            self.press(editor, "Get");
            self.click_all(".transport .back");
        }
        for editor in ["Editor A", "Editor B"] {
            self.open(editor);
            self.press(editor, "Send");
            self.wait_until_kept();
        }
    }

    /// Makes a 409 as a newcomer does. Timers of the page end between the actions, or after them all.
    fn newcomer(&self, pause: Duration) {
        self.acts("Editor A", "Get", pause);
        self.acts("Editor B", "Get", pause);
        self.changes("Editor A", "spec.replicas: ", "5", pause);
        self.changes("Editor B", IMAGE, "nginx:2", pause);
        for step in ["#step-2", "#step-4"] {
            self.click_all(&format!("{step} .step-button"));
            thread::sleep(pause);
        }
        self.acts("Editor B", "Get", pause);
        self.point_at_rows();
    }

    /// Changes one field in both editors, first in B. A reads again, and sends a value that the server has.
    fn other_newcomer(&self, pause: Duration) {
        self.acts("Editor B", "Get", pause);
        self.acts("Editor A", "Get", pause);
        self.changes("Editor B", "spec.replicas: ", "2", pause);
        self.changes("Editor A", "spec.replicas: ", "9", pause);
        for _ in 0..2 {
            self.acts("Editor A", "Get", pause);
            self.changes("Editor A", "spec.replicas: ", "9", pause);
        }
        self.click_all("#inspector [role=tab]");
        self.point_at_rows();
    }

    /// Presses a button of an editor, as slowly as people do.
    fn acts(&self, editor: &str, name: &str, pause: Duration) {
        self.open(editor);
        thread::sleep(pause);
        self.press(editor, name);
        thread::sleep(pause);
    }

    /// Changes a field, and sends the edit.
    fn changes(&self, editor: &str, field: &str, text: &str, pause: Duration) {
        self.acts(editor, field, pause);
        self.browser.type_text(text);
        thread::sleep(pause);
        self.acts(editor, "Send", pause);
    }

    fn session(&self) {
        self.conflict();
        self.endings();
        for part in [
            "#card-server [role=tab]",
            "#inspector .more > summary",
            "#inspector [role=tab]",
            "#inspector .fold",
            ".transport .icon-button",
            ".step-button",
            "#history .pill",
        ] {
            self.click_all(part);
        }
        self.each_step();
        self.move_about();
        self.other_edits();
        self.ways_of_writing();
        self.leave();
    }

    /// Goes to each step, and looks at it in each tab.
    fn each_step(&self) {
        for step in 1..=4 {
            self.click_all(&format!("#step-{step} .step-button"));
            self.click_all("#inspector [role=tab]");
        }
    }

    /// Chooses each other ending of the 409, goes on from it, and comes back.
    fn endings(&self) {
        const COUNT: &str = "return document.querySelectorAll('.other-ending').length";
        let count = self.browser.run(COUNT, &[]).as_u64();
        for index in 0..count.unwrap_or_default() {
            let click = "document.querySelectorAll('.other-ending')[arguments[0]]?.click()";
            self.browser.run(click, &[index.into()]);
            self.wait_until_kept();
            self.click_all(".transport .back");
            self.click_all(".transport .forward");
        }
    }

    /// Points at each row, and moves the keyboard to it. The page is drawn with each of them.
    fn point_at_rows(&self) {
        let point = "for (const row of document.querySelectorAll('#history .step-button')) {
                row.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse' }));
                await new Promise(drawn => setTimeout(drawn, 30));
                row.focus({ focusVisible: true });
            }
            document.activeElement.blur();
            document.querySelector('#history').dispatchEvent(new PointerEvent('pointerleave'));";
        self.browser
            .run(&format!("return (async () => {{ {point} }})()"), &[]);
        self.pause();
    }

    /// Points at rows and lines, scrolls, and steps with keys, with the bar and by itself.
    fn move_about(&self) {
        self.point_at_rows();
        let point = "for (const line of document.querySelectorAll('.cards .line'))
                for (const kind of ['pointerover', 'pointerout'])
                    line.dispatchEvent(new PointerEvent(kind, { bubbles: true, pointerType: 'mouse' }));
            for (const part of document.querySelectorAll('#history, .card .yaml')) {
                part.scrollTop = 40;
                part.dispatchEvent(new Event('scroll'));
            }";
        self.browser.run(point, &[]);
        self.pause();
        let keys = "for (const part of [document.body, document.querySelector('.card .value')])
            part?.dispatchEvent(new KeyboardEvent('keydown', { key: arguments[0], bubbles: true, cancelable: true }))";
        for key in [
            "ArrowLeft",
            "ArrowRight",
            "ArrowUp",
            "ArrowDown",
            "Home",
            "End",
        ] {
            self.browser.run(keys, &[key.into()]);
            self.pause();
        }
        let scrub = "const bar = document.querySelector('.scrubber input');
            for (const at of [1, 3]) { bar.value = at; bar.dispatchEvent(new Event('input', { bubbles: true })) }";
        self.browser.run(scrub, &[]);
        self.click_all(".transport .first");
        self.click_all(".transport .play");
        thread::sleep(Duration::from_secs(5));
        self.click_all(".transport .last");
    }

    /// Removes a field, adds one, and sends both.
    fn other_edits(&self) {
        self.open("Editor A");
        self.press("Editor A", "Get");
        self.click_all("#card-a [aria-label='Remove spec.replicas']");
        self.press("Editor A", "Send");
        self.wait_until_kept();
        self.click_all("#card-a [aria-label='Add to spec']");
        self.browser.type_text(&format!("paused: true{ENTER}"));
        self.wait_until_kept();
        self.press("Editor A", "Send");
        self.wait_until_kept();
    }

    /// Sends one edit in every way, each time from the moment before the last request.
    fn ways_of_writing(&self) {
        self.open("Editor B");
        self.press("Editor B", "Get");
        self.edit("Editor B", IMAGE, &format!("nginx:1.29{ENTER}"));
        self.click_all("#card-b .method > summary");
        for way in 1..=5 {
            self.click_all(&format!(
                "#card-b .segmented label:nth-of-type({way}) input"
            ));
            self.press("Editor B", "Send");
            self.wait_until_kept();
            self.point_at_rows();
            self.click_all(".transport .back");
        }
        for part in [
            "#card-b .method input[type=checkbox]",
            "#card-b .method > summary",
            "#card-b .discard",
            "#card-b .fold",
        ] {
            self.click_all(part);
        }
    }

    /// Presses any of the controls, and types into the fields that open. The same numbers press the same controls.
    fn wander(&self, mut number: u64) {
        let press = "const controls = '.stage button, .stage summary, .stage label, .inspector button, .transport button';
            const shown = [...document.querySelectorAll(controls)].filter(one =>
                one.getClientRects().length > 0 && !one.disabled && !one.closest('a, form, .all-controls'));
            const one = shown[arguments[0] % shown.length];
            one.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse' }));
            one.focus();
            one.click();
            return new Promise(done => requestAnimationFrame(() => setTimeout(() =>
                done(document.activeElement.matches('input:not([type]), input[type=text], textarea')), 30)))";
        for text in ["7", "nginx:1.30", "a: b", "", "true", "x"]
            .iter()
            .cycle()
            .take(60)
        {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            if number >> 61 == 0 {
                self.wait_until_kept();
            }
            if self.browser.run(press, &[(number >> 40).into()]) == true {
                self.browser.type_text(&format!("{text}{ENTER}"));
            }
        }
        self.wait_until_kept();
    }

    /// Leaves the page, which keeps the session.
    fn leave(&self) {
        let leave = "for (const kind of ['visibilitychange', 'pagehide'])
            for (const target of [document, window]) target.dispatchEvent(new Event(kind))";
        self.browser.run(leave, &[]);
    }
}

/// A window: its width and height in CSS pixels, and whether the system prefers dark colours.
type Window = (u32, u32, bool);

/// The windows in which people come. They do more in the first two.
const WINDOWS: [Window; 6] = [
    (1440, 900, false),
    (390, 844, true),
    (1280, 720, true),
    (1024, 768, false),
    (1920, 1080, false),
    (360, 640, false),
];

/// Sessions that are recorded at the same time. A browser mostly waits.
const AT_ONCE: usize = 3;

/// What a visitor does.
type Session = Box<dyn Fn(&Visitor) + Send + Sync>;

/// Returns the sessions with this name, each with its window.
fn sessions(name: &str) -> Option<Vec<(Window, Session)>> {
    let mut sessions: Vec<(Window, Session)> = Vec::new();
    match name {
        "first-screen" => {
            for window in &WINDOWS[..2] {
                sessions.push((*window, Box::new(|_| {})));
            }
        }
        "play" => {
            for window in &WINDOWS[..2] {
                sessions.push((*window, Box::new(Visitor::session)));
                sessions.push((*window, Box::new(|visitor| visitor.wander(1))));
            }
            let paces = [1200, 0, 300].map(Duration::from_millis);
            for (n, window) in WINDOWS.into_iter().enumerate() {
                let [pace, other] = [n, n + 1].map(|n| paces[n % paces.len()]);
                sessions.push((window, Box::new(move |visitor| visitor.newcomer(pace))));
                let session = move |visitor: &Visitor| visitor.other_newcomer(other);
                sessions.push((window, Box::new(session)));
            }
        }
        _ => return None,
    }
    Some(sessions)
}

/// Opens the site, and returns the numbers of the branches that run in a session.
fn record(url: &str, (width, height, dark): Window, session: &Session) -> BTreeSet<u64> {
    let browser = Browser::start();
    browser.resize(width, height);
    browser.prefer(dark);
    browser.go(url);
    browser.wait(
        "the page",
        "return document.querySelector('#card-server .yaml')",
        &[],
    );
    let wide = width > 1000;
    let visitor = Visitor { browser, wide };
    session(&visitor);
    let numbers = visitor.browser.run(RAN, &[]);
    let numbers = numbers.as_array().into_iter().flatten();
    numbers.filter_map(serde_json::Value::as_u64).collect()
}

/// Records all sessions, and returns the numbers of the branches that run in any of them.
fn record_all(url: &str, sessions: &[(Window, Session)]) -> BTreeSet<u64> {
    thread::scope(|scope| {
        let record_some = |from| {
            let own = sessions.iter().skip(from).step_by(AT_ONCE);
            own.flat_map(|(window, session)| record(url, *window, session))
                .collect::<BTreeSet<u64>>()
        };
        let recorders: Vec<_> = (0..AT_ONCE)
            .map(|from| scope.spawn(move || record_some(from)))
            .collect();
        let recorded = recorders.into_iter();
        let recorded =
            recorded.map(|recorder| recorder.join().unwrap_or_else(|panic| resume_unwind(panic)));
        recorded.flatten().collect()
    })
}

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    let [session, site, file] = arguments.as_slice() else {
        eprintln!("usage: opening SESSION SITE FILE");
        return ExitCode::FAILURE;
    };
    let site = Site::serve(site);
    let Some(sessions) = session.to_str().and_then(sessions) else {
        eprintln!("no session is named {}", session.display());
        return ExitCode::FAILURE;
    };
    // Two loads of a window differ only in the branches of the allocator, because scripts of the browser
    // leave other addresses free. The allocator is never split (`called_by_browser` in `xtask/split`).
    let ran = record_all(&site.url(), &sessions);
    let lines: String = ran.iter().map(|number| format!("{number}\n")).collect();
    if let Err(error) = std::fs::write(file, lines) {
        eprintln!("{}: {error}", file.display());
        return ExitCode::FAILURE;
    }
    println!("    {} branches run", ran.len());
    ExitCode::SUCCESS
}

//! Long work in the worker of the page, and in the page where the worker does not come.

use optimist_controller::program::{ReadyProgram, ReadyProgramName};
use optimist_links::Session;
use optimist_simulation::{ControllerStart, HistoryTree, Start, WIDGET, World};
use optimist_tests::page::{Browser, Fault, Site, dist};

/// The script of the worker.
const TASK: &str = "_task.js";

/// Presses a button by its text, once it is there.
const PRESS: &str = "
    const named = [...document.querySelectorAll('button')];
    const button = named.find(it => it.textContent.trim() === arguments[0] && it.checkVisibility());
    button?.click();
    return Boolean(button)";

/// A session with a controller that can make a second child.
fn controller() -> String {
    let start = Start {
        manifests: WIDGET.to_owned(),
        version: Some(100),
        controller: Some(ControllerStart::from(ReadyProgram::new(
            ReadyProgramName::ChildMaker,
        ))),
        ..Start::default()
    };
    let mut tree = HistoryTree::new(World::begin(start.into()).expect("it loads").0);
    tree.connect_controller();
    Session::from_tree(&tree).to_text()
}

/// Searches every order of the controller, until the result is there.
fn search(site: &Site) {
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&format!("{}#/play?s={}", site.url(), controller()));
    browser.wait("the search", PRESS, &["Search every order".into()]);
    let found = "return document.querySelector('.orders')?.innerText.includes('broken') ?? false";
    browser.wait("the result", found, &[]);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_search_runs_in_a_worker_of_the_page() {
    let site = Site::serve(&dist());
    search(&site);
    assert_eq!(site.asked(TASK), 1);
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn without_its_worker_the_page_searches_by_itself() {
    for fault in Fault::FAILURES {
        let site = Site::serve(&dist());
        site.fail(TASK, fault);
        search(&site);
        assert!(site.asked(TASK) >= 1, "{fault:?}");
    }
}

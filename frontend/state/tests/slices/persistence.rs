//! State that outlives the page.

use optimist_sessions::{OPENING, OWN, StorageArea};
use optimist_simulation::ActorId;
use optimist_state::{EditMsg, Msg, PersistenceMsg, RequestMsg};

use crate::page::{Memory, Page};

const KEPT: &str = "optimist.kept.";
const REPLICAS: &str = "/spec/replicas";

fn kept() -> Page {
    let mut page = Page::open();
    page.write(ActorId::A, REPLICAS, "5");
    page.send(PersistenceMsg::Save);
    page
}

#[test]
fn a_session_that_was_not_touched_is_not_kept() {
    let mut page = Page::open();
    page.send(PersistenceMsg::Save);
    assert!(page.keys(StorageArea::Browser, KEPT).is_empty());
    assert!(page.keys(StorageArea::Tab, OWN).is_empty());
}

#[test]
fn a_session_that_is_kept_after_every_step_has_one_place() {
    let mut page = kept();
    for _ in 0..3 {
        page.send(RequestMsg::Get(ActorId::B));
        page.send(PersistenceMsg::Save);
    }
    assert_eq!(page.keys(StorageArea::Browser, KEPT).len(), 1);
}

#[test]
fn a_reload_opens_the_session_and_what_was_typed() {
    let mut page = kept();
    page.send(EditMsg::Raw(ActorId::A, true));
    page.send(EditMsg::RawText(ActorId::A, "a: [".to_owned()));
    page.send(PersistenceMsg::Save);
    let page = page.reload("");
    assert_eq!((page.steps(), page.stored(REPLICAS)), (2, "5".to_owned()));
    assert_eq!(page.state.editing.raw[&ActorId::A].text, "a: [");
    assert!(page.keys(StorageArea::Tab, OPENING).is_empty());
}

#[test]
fn another_tab_is_offered_what_was_kept() {
    let mut storages = kept().browser.storages.into_inner();
    storages.tab.clear();
    let browser = Memory::default();
    browser.storages.replace(storages);
    let mut page = Page::open_at("", browser);
    assert_eq!(page.steps(), 0);
    assert_eq!(page.state.persistence.sessions.offered().count(), 1);
    page.send(PersistenceMsg::TakeOffer);
    page.finish_work();
    assert_eq!(page.stored(REPLICAS), "5");
    assert_eq!(page.state.persistence.sessions.offered().count(), 0);
}

#[test]
fn a_browser_that_refuses_is_said_once() {
    let mut page = Page::open();
    page.write(ActorId::A, REPLICAS, "5");
    page.browser.full.set(true);
    page.send(PersistenceMsg::Save);
    // The tab has it all the same, until it is closed.
    assert_eq!(page.keys(StorageArea::Tab, OWN).len(), 1);
    let refused = page.state.persistence.refused;
    page.send(PersistenceMsg::Dismiss);
    page.send(RequestMsg::Get(ActorId::B));
    page.send(PersistenceMsg::Save);
    assert!(refused && !page.state.persistence.refused);
}

#[test]
fn what_is_kept_waits_behind_the_lessons() {
    let mut page = kept().reload("#/learn");
    assert_eq!(page.steps(), 0);
    assert!(page.state.persistence.sessions.is_waiting());
    page.send(Msg::Address("#/play".to_owned()));
    page.finish_work();
    assert_eq!(page.stored(REPLICAS), "5");
}

#[test]
fn a_session_that_stopped_the_page_is_not_opened_again_unasked() {
    let page = kept();
    let tab = OPENING.to_owned();
    let storages = &page.browser.storages;
    storages.borrow_mut().tab.insert(tab, "1".to_owned());
    let page = page.reload("");
    assert_eq!(page.steps(), 0);
    assert_eq!(page.state.persistence.sessions.offered().count(), 1);
}

//! Sessions as texts: out in links, in from links and files.

use optimist_apiserver::server::Release;
use optimist_simulation::ActorId;
use optimist_state::{
    BrowserEffect, Dialog, ExplorableEdits, Lane, ManifestMsg, Msg, Page as WayIn, PersistenceMsg,
    ReplayState, RequestMsg, ServerTab, SessionMsg, ShareMsg, TransferMsg, ViewMsg, Withheld,
    session_fragment,
};

use crate::page::{Memory, Page};

const REPLICAS: &str = "/spec/replicas";

fn link() -> String {
    let mut page = Page::open();
    page.write(ActorId::A, REPLICAS, "5");
    session_fragment(WayIn::Play, &page.state.shared().to_text())
}

#[test]
fn a_link_opens_a_session_and_leads_back_to_the_one_before() {
    let link = link();
    let mut page = Page::open();
    page.write(ActorId::B, REPLICAS, "2");
    page.send(Msg::Address(link));
    page.finish_work();
    assert_eq!(page.stored(REPLICAS), "5");
    page.send(PersistenceMsg::Return);
    page.finish_work();
    assert_eq!(page.stored(REPLICAS), "2");
}

#[test]
fn a_session_from_a_link_is_kept_for_a_reload_though_nothing_was_done_in_it() {
    let mut page = Page::open();
    page.send(Msg::Address(link()));
    page.finish_work();
    page.send(PersistenceMsg::Save);
    let page = page.reload("");
    assert_eq!((page.steps(), page.stored(REPLICAS)), (2, "5".to_owned()));
}

#[test]
fn a_session_from_a_link_is_archived_only_with_a_step_of_ones_own() {
    for (acts, returns) in [(false, "3"), (true, "5")] {
        let mut page = Page::open();
        page.send(Msg::Address(link()));
        page.finish_work();
        page.send(SessionMsg::Back);
        page.send(SessionMsg::Last);
        if acts {
            page.send(RequestMsg::Get(ActorId::B));
        }
        page.send(PersistenceMsg::Enter(Page::open().state.session.tree));
        page.send(PersistenceMsg::Return);
        page.finish_work();
        assert_eq!(page.stored(REPLICAS), returns, "acted: {acts}");
    }
}

#[test]
fn a_link_leaves_the_address_before_it_is_opened() {
    let mut page = Page::open();
    let effects = page.effects(Msg::Address(link()));
    let replaced = effects
        .iter()
        .position(|effect| matches!(effect, BrowserEffect::ReplaceAddress(to) if to == "#/play"));
    let opened = effects
        .iter()
        .position(|effect| matches!(effect, BrowserEffect::Then(_)));
    assert!(replaced.is_some() && replaced < opened, "{effects:?}");
    assert!(!page.state.is_working(), "nothing is opened yet");
}

#[test]
fn a_text_that_is_no_session_is_said_and_changes_nothing() {
    let mut page = Page::open();
    page.write(ActorId::A, REPLICAS, "5");
    page.send(ShareMsg::Open("nonsense".to_owned()));
    assert_eq!(page.state.view.dialog, Some(Dialog::Share));
    assert!(page.state.share.opening.problem.is_some());
    assert_eq!(page.stored(REPLICAS), "5");
}

#[test]
fn opening_goes_on_a_slice_at_a_time_and_can_be_cancelled() {
    let mut page = Page::open();
    for _ in 0..400 {
        page.send(RequestMsg::Get(ActorId::A));
    }
    let text = page.state.shared().to_text();
    let mut page = Page::open();
    page.send(ShareMsg::Open(text));
    // The clock of these tests goes on by a millisecond at each look. Progress is reported ten times a
    // second.
    while page.state.progress().is_some_and(|(done, _)| done == 0) {
        page.work();
    }
    let (done, all) = page.state.progress().expect("it is being opened");
    assert_eq!(all, 400);
    assert!((1..400).contains(&done), "{done}");
    page.send(ShareMsg::CancelOpening);
    assert!(!page.state.is_working());
    assert_eq!(page.steps(), 0);
}

#[test]
fn another_release_does_the_same_steps_again_on_the_stage() {
    let mut page = Page::open();
    page.write(ActorId::A, REPLICAS, "5");
    page.send(ViewMsg::ServerTab(ServerTab::Owners));
    let number = page.state.session.number;
    let now = page.state.world().server().release();
    let others = Release::ALL.into_iter().filter(|release| *release != now);
    for release in others {
        page.send(ShareMsg::Release(release));
        page.finish_work();
        assert_eq!(page.state.world().server().release(), release);
        assert_eq!((page.steps(), page.stored(REPLICAS)), (2, "5".to_owned()));
    }
    assert_ne!(page.state.session.number, number);
    assert_eq!(page.state.view.server_tab, ServerTab::Owners);
}

#[test]
fn private_values_are_left_out_a_slice_at_a_time() {
    let mut page = Page::open();
    let secret = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {password: hunter22}";
    page.send(ManifestMsg::Text(secret.to_owned()));
    page.send(ManifestMsg::Load);
    page.send(ShareMsg::Withhold(Withheld::Private));
    assert!(page.state.is_working());
    page.finish_work();
    let redacted = page.state.share.redacted.clone().expect("it is redacted");
    assert_eq!(page.state.share.private.len(), 1);
    assert!(matches!(redacted.replay, ReplayState::Done(_)));
    page.send(ShareMsg::Withhold(Withheld::Nothing));
    assert!(page.state.share.redacted.is_none());
}

#[test]
fn edits_go_to_explore_once_both_editors_have_some() {
    let mut page = Page::open();
    page.send(RequestMsg::Get(ActorId::A));
    page.type_over(ActorId::A, REPLICAS, "5");
    page.send(TransferMsg::Explore);
    assert!(page.state.explore.request.is_none());
    page.send(RequestMsg::Get(ActorId::B));
    page.type_over(ActorId::B, REPLICAS, "2");
    page.send(TransferMsg::Explore);
    let request = page.state.explore.request.clone().expect("both have edits");
    let edits = ExplorableEdits::find(&page.state.session.tree);
    assert_eq!(Some(request.node), edits.map(|edits| edits.node));
    assert_eq!(request.session, Some(page.state.session.number));
    assert_eq!(*page.browser.addresses.borrow(), ["#/explore"]);
}

/// A page in another browser, which opens what a page shares.
fn shared(page: &Page) -> Page {
    let link = session_fragment(WayIn::Play, &page.state.shared().to_text());
    Page::open_at(&link, Memory::default())
}

/// Takes the edits to Explore, and says what the editors mean to do to the replicas.
fn explored(page: &mut Page) -> Vec<String> {
    page.send(TransferMsg::Explore);
    let request = page.state.explore.request.clone();
    let request = request.expect("the edits are explored");
    let world = request.tree.world_at(request.node).expect("it is there");
    let edits = [ActorId::A, ActorId::B].map(|editor| world.copy(editor).edits());
    edits
        .iter()
        .flatten()
        .filter(|change| !change.is_bookkeeping())
        .map(ToString::to_string)
        .collect()
}

#[test]
fn the_edits_of_a_shared_session_are_explored_wherever_one_stands_in_it() {
    let mut page = Page::open();
    for (editor, replicas) in [(ActorId::A, "5"), (ActorId::B, "2")] {
        page.send(RequestMsg::Get(editor));
        page.type_over(editor, REPLICAS, replicas);
    }
    page.send(RequestMsg::Send(ActorId::A));
    page.send(SessionMsg::First);
    let mut other = shared(&page);
    for _ in 0..4 {
        assert_eq!(explored(&mut other), ["replicas 3→5", "replicas 3→2"]);
        other.send(SessionMsg::Forward);
    }
}

#[test]
fn edits_that_were_made_one_after_the_other_are_explored_from_where_the_first_one_begins() {
    let mut page = Page::open();
    page.write(ActorId::A, REPLICAS, "5");
    let text = page.state.shared().to_text();
    assert!(ExplorableEdits::find(&page.state.session.tree).is_none());
    page.write(ActorId::B, "/spec/revisionHistoryLimit", "2");
    let both = ["replicas 3→5", "revisionHistoryLimit 10→2"];
    assert_eq!(explored(&mut page), both);
    assert_eq!(explored(&mut shared(&page)), both);
    // Of one editor there is nothing to explore.
    let alone = Page::open_at(&session_fragment(WayIn::Play, &text), Memory::default());
    assert!(ExplorableEdits::find(&alone.state.session.tree).is_none());
}

#[test]
fn a_shared_session_opens_on_the_card_of_who_did_the_last_step() {
    let mut page = Page::open();
    for editor in [ActorId::A, ActorId::B] {
        page.send(RequestMsg::Get(editor));
        page.type_over(editor, REPLICAS, "7");
    }
    page.send(RequestMsg::Send(ActorId::A));
    let after_a = shared(&page);
    page.send(RequestMsg::Send(ActorId::B));
    let after_b = shared(&page);
    for (page, actor) in [(after_a, ActorId::A), (after_b, ActorId::B)] {
        assert_eq!(page.state.view.lane, Lane::Editor(actor));
        assert_eq!(page.state.view.focus, actor);
    }
}

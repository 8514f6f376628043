//! Steps, and the way through them.

use optimist_client::{OnConflict, Write};
use optimist_simulation::{ActorId, NodeId, Operation, WatchAction};
use optimist_state::{EditMsg, InspectorTab, Lane, RequestMsg, SessionMsg, ViewMsg};

use crate::page::Page;

const REPLICAS: &str = "/spec/replicas";

fn here(page: &Page) -> NodeId {
    page.state.session.tree.current()
}

#[test]
fn a_request_is_a_step_and_the_way_back_keeps_it() {
    let mut page = Page::open();
    page.write(ActorId::A, REPLICAS, "5");
    assert_eq!((page.steps(), page.stored(REPLICAS)), (2, "5".to_owned()));
    page.send(SessionMsg::Back);
    assert_eq!((page.steps(), page.stored(REPLICAS)), (2, "3".to_owned()));
    page.send(SessionMsg::Last);
    assert_eq!(page.stored(REPLICAS), "5");
    page.send(SessionMsg::First);
    assert_eq!(here(&page), 0);
    page.send(SessionMsg::Seek(1));
    page.send(SessionMsg::Forward);
    assert_eq!(page.stored(REPLICAS), "5");
    page.send(SessionMsg::Seek(9));
    assert_eq!(page.stored(REPLICAS), "5");
}

#[test]
fn others_can_write_between_two_attempts_and_one_click_goes_on_with_the_retry() {
    let mut page = Page::open();
    page.send(RequestMsg::Get(ActorId::A));
    page.write(ActorId::B, REPLICAS, "2");
    let write = Write {
        on_conflict: OnConflict::ReadAgain(5),
        ..Write::default()
    };
    page.send(EditMsg::Write(ActorId::A, write));
    page.type_over(ActorId::A, REPLICAS, "5");
    page.send(RequestMsg::Send(ActorId::A));
    assert_eq!(page.stored(REPLICAS), "5");
    page.send(SessionMsg::Back);
    page.send(SessionMsg::Back);
    assert!(page.state.world().next_attempt(ActorId::A).is_some());
    page.write(ActorId::B, REPLICAS, "7");
    let steps = page.steps();
    page.send(RequestMsg::Retry(ActorId::A));
    assert_eq!(
        (page.steps(), page.stored(REPLICAS)),
        (steps + 2, "5".to_owned())
    );
    assert_eq!(page.state.world().next_attempt(ActorId::A), None);
    page.send(RequestMsg::Retry(ActorId::A));
    assert_eq!(page.steps(), steps + 2, "there is nothing to try again");
}

#[test]
fn playing_begins_again_at_the_end_and_stops_there() {
    let mut page = Page::open();
    page.send(SessionMsg::Play);
    assert!(!page.state.session.playing, "there is nothing to play");
    page.write(ActorId::A, REPLICAS, "5");
    page.send(SessionMsg::Play);
    assert!(page.state.session.playing);
    assert_eq!(here(&page), 0);
    page.send(SessionMsg::Tick);
    assert!(page.state.session.playing);
    page.send(SessionMsg::Tick);
    assert!(!page.state.session.playing);
    assert_eq!(page.stored(REPLICAS), "5");
    page.send(SessionMsg::Play);
    page.send(SessionMsg::Forward);
    assert!(!page.state.session.playing, "whoever steps takes over");
}

#[test]
fn a_watch_goes_on_after_its_list() {
    let mut page = Page::open();
    page.send(SessionMsg::Act(Operation::Watch(WatchAction::List)));
    assert_eq!(page.steps(), 2);
}

#[test]
fn the_right_lane_and_the_inspector_follow_the_step() {
    let mut page = Page::open();
    page.send(ViewMsg::InspectorTab(InspectorTab::Preview));
    page.send(RequestMsg::Get(ActorId::C));
    assert_eq!(page.state.view.inspector_tab, InspectorTab::Wire);
    assert_eq!(page.state.lanes()[2], Lane::Editor(ActorId::C));
    page.send(RequestMsg::Get(ActorId::B));
    assert_eq!(page.state.view.right, ActorId::B);
    page.send(SessionMsg::Back);
    assert_eq!(page.state.view.right, ActorId::C);
    assert_eq!(
        page.state.view.focus,
        ActorId::C,
        "the keyboard follows the lane"
    );
}

#[test]
fn branches_are_compared_named_opened_and_deleted() {
    let mut page = Page::open();
    page.send(RequestMsg::Get(ActorId::A));
    let first = here(&page);
    page.send(SessionMsg::Back);
    page.send(RequestMsg::Get(ActorId::B));
    let second = here(&page);
    let ends = page.state.session.tree.ends();
    assert_eq!(ends, [first, second]);
    assert_eq!(page.state.session.compared(&ends), (second, first));
    // A branch is not compared with itself: the two change sides.
    page.send(SessionMsg::Compare(second));
    assert_eq!(page.state.session.compared(&ends), (first, second));
    page.send(SessionMsg::Compare(second));
    assert_eq!(page.state.session.compared(&ends), (first, second));
    page.send(SessionMsg::Compare(first));
    assert_eq!(page.state.session.compared(&ends), (second, first));
    page.send(SessionMsg::OpenBranch(first));
    assert_eq!(here(&page), first);
    page.send(SessionMsg::DeleteBranch(first));
    assert_eq!(page.state.session.tree.ends(), [second]);
    assert_eq!(page.state.session.compared(&[second]).0, second);
}

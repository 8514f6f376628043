//! Controllers as actors: their examples, their steps, and their switches.

use optimist_checker::Safety;
use optimist_client::Preset;
use optimist_controller::program::{ReadyProgramName, Switch};
use optimist_simulation::explore::{ControllerWitness, Misfit, PropertyAnswer, ThirdActor};
use optimist_simulation::{ActorId, RunValueContent};
use optimist_state::{
    ControllerMsg, Lane, OrderProperty, OrdersFinding, RequestMsg, ShareMsg, ViewMsg,
    thirds_beside_controller,
};

use crate::page::Page;

fn begun(name: ReadyProgramName) -> Page {
    let mut page = Page::open();
    page.send(ControllerMsg::Begin(name));
    page
}

/// The names of the objects of the session.
fn objects(page: &Page) -> usize {
    page.state.world().stored_rows().len()
}

/// A second run of the child maker, before the event of the first child has arrived.
fn second_run(page: &mut Page) {
    page.send(ControllerMsg::Run);
    page.write(ActorId::A, "/spec/size", "2");
    page.send(ControllerMsg::DeliverTo(0));
    page.send(ControllerMsg::Run);
}

#[test]
fn every_example_begins_connected_and_its_session_can_be_kept() {
    for name in ReadyProgramName::ALL {
        let page = begun(name);
        let world = page.state.world();
        assert!(world.controller(ActorId::C).is_some(), "{name:?}");
        assert!(
            world
                .cache_standings(ActorId::C)
                .iter()
                .all(|cache| cache.is_watching)
        );
        assert_eq!(page.state.view.lane, Lane::Editor(ActorId::C));
        assert_eq!(
            page.state.ready_program().map(|ready| ready.name),
            Some(name)
        );
    }
}

#[test]
fn the_next_step_takes_a_key_whose_time_has_come() {
    let mut page = begun(ReadyProgramName::ChildMaker);
    page.send(ControllerMsg::Switch(Switch::DerivedName));
    second_run(&mut page);
    let due = |page: &Page| page.state.world().has_due_key(ActorId::C);
    let queue = |page: &Page| {
        page.state
            .world()
            .controller(ActorId::C)
            .unwrap()
            .queue()
            .clone()
    };
    assert_eq!(queue(&page).waiting().len(), 1, "the create was refused");
    assert!(!due(&page));
    // A request takes a second, which is longer than the backoff.
    page.send(RequestMsg::Get(ActorId::A));
    assert!(due(&page));
    page.send(ControllerMsg::Step);
    assert!(queue(&page).waiting().is_empty());
    assert!(
        page.state
            .world()
            .controller(ActorId::C)
            .unwrap()
            .run()
            .is_some()
    );
}

#[test]
fn a_switch_runs_the_same_history_with_the_other_setting() {
    let mut page = begun(ReadyProgramName::ChildMaker);
    second_run(&mut page);
    assert_eq!(objects(&page), 3, "a parent and two children");
    page.send(ControllerMsg::Switch(Switch::DerivedName));
    assert_eq!(objects(&page), 2, "the second create is refused");
    page.send(ControllerMsg::Switch(Switch::DerivedName));
    assert_eq!(objects(&page), 3);
    page.send(ControllerMsg::Switch(Switch::Expectations));
    assert_eq!(objects(&page), 2, "the run waits for the first event");
}

#[test]
fn a_restart_forgets_and_the_watches_can_be_opened_again() {
    let mut page = begun(ReadyProgramName::Scaler);
    page.send(ControllerMsg::Restart);
    let open = |page: &Page| {
        let standings = page.state.world().cache_standings(ActorId::C);
        standings.iter().filter(|cache| cache.is_watching).count()
    };
    assert_eq!(open(&page), 0);
    page.send(ControllerMsg::Connect);
    assert_eq!(open(&page), 2);
    page.send(ControllerMsg::DropWatches);
    assert_eq!(open(&page), 0);
}

#[test]
fn a_second_controller_joins_the_session_with_a_card_and_steps_of_its_own() {
    let mut page = begun(ReadyProgramName::ChildMaker);
    let steps = page.state.session.tree.position();
    page.send(ControllerMsg::Add(ReadyProgramName::ChildMaker));
    let state = &page.state;
    let controllers: Vec<ActorId> = state.world().controllers().map(|(id, _)| id).collect();
    assert_eq!(controllers, [ActorId::C, ActorId::D]);
    assert_eq!(state.shown_controller(), Some(ActorId::D));
    assert_eq!(state.name(ActorId::D), "Controller D");
    // The steps of the first one are there, and its lane is beside that of the new one.
    assert!(state.session.tree.position() > steps);
    assert_eq!(state.narrow_lanes(), [Lane::Editor(ActorId::C)]);
    // The buttons of a card are for its controller.
    page.send(ControllerMsg::Run);
    let state = &page.state;
    assert_eq!(state.session.tree.run_number(ActorId::D), 1);
    assert_eq!(state.session.tree.run_number(ActorId::C), 0);
    page.send(ViewMsg::Open(Lane::Editor(ActorId::C)));
    assert_eq!(page.state.shown_controller(), Some(ActorId::C));
    // Its cache does not have the child that the other one made.
    page.send(ControllerMsg::Run);
    let broken = |id| !page.state.world().broken_properties(id).is_empty();
    assert!(broken(ActorId::C) && broken(ActorId::D));
    page.send(ControllerMsg::DropWatches);
    let standings = |id| page.state.world().cache_standings(id);
    assert!(standings(ActorId::C).iter().all(|cache| !cache.is_watching));
    assert!(standings(ActorId::D).iter().all(|cache| cache.is_watching));
    // Four actors can be controllers; then there is no place for one more.
    for _ in 0..4 {
        page.send(ControllerMsg::Add(ReadyProgramName::FieldOwner));
    }
    assert_eq!(page.state.world().controllers().count(), 4);
    assert_eq!(page.state.next_actor(), None);
}

#[test]
fn a_history_that_breaks_a_property_opens_at_the_controller_that_breaks_it() {
    let mut page = begun(ReadyProgramName::ChildMaker);
    page.send(ControllerMsg::Add(ReadyProgramName::ChildMaker));
    page.send(ControllerMsg::SearchOrders);
    page.finish_work();
    page.send(ControllerMsg::OpenOrder(0));
    let tree = &page.state.session.tree;
    let last = tree.step(tree.current()).and_then(|step| step.actor());
    assert!(last.is_some_and(|id| page.state.world().controller(id).is_some()));
    assert_eq!(page.state.shown_controller(), last);
    // It is shown also where the other controller was before.
    for before in [ActorId::C, ActorId::D] {
        page.send(ControllerMsg::Begin(ReadyProgramName::ChildMaker));
        page.send(ControllerMsg::Add(ReadyProgramName::ChildMaker));
        page.send(ViewMsg::Open(Lane::Editor(before)));
        page.send(ControllerMsg::SearchOrders);
        page.finish_work();
        page.send(ControllerMsg::OpenOrder(0));
        assert_eq!(page.state.shown_controller(), last);
    }
}

#[test]
fn the_next_delivery_is_the_oldest_event_and_variables_stand_beside_the_server() {
    let mut page = begun(ReadyProgramName::ChildMaker);
    page.send(ControllerMsg::Run);
    page.write(ActorId::A, "/spec/size", "2");
    page.send(ControllerMsg::DeliverTo(0));
    for _ in 0..3 {
        page.send(ControllerMsg::Step);
    }
    let values = page.state.world().run_values(ActorId::C);
    let list = values
        .iter()
        .find(|value| value.name == "children")
        .unwrap();
    let beside = RunValueContent::List {
        names: Vec::new(),
        server: Some(1),
    };
    assert_eq!(list.value, beside);
    assert_eq!(page.state.session.tree.run_number(ActorId::C), 2);
    page.send(ControllerMsg::Deliver);
    assert!(page.state.world().next_delivery(ActorId::C).is_none());
    let standings = page.state.world().cache_standings(ActorId::C);
    assert_eq!(standings[1].objects.len(), 1);
}

/// An editor reads, edits and does not send; then every order is searched.
fn search_with_an_edit(page: &mut Page) {
    page.send(RequestMsg::Get(ActorId::A));
    page.type_over(ActorId::A, "/spec/size", "2");
    page.send(ControllerMsg::SearchOrders);
    page.finish_work();
}

fn found(page: &Page) -> OrdersFinding {
    let orders = page.state.orders().expect("a search of this moment");
    OrdersFinding::clone(orders.found.as_ref().expect("it is over"))
}

#[test]
fn the_search_finds_a_second_child_and_opens_the_history_that_makes_it() {
    let mut page = begun(ReadyProgramName::ChildMaker);
    search_with_an_edit(&mut page);
    let found = found(&page);
    assert!(
        found.editors == [ActorId::A] && found.states > 10,
        "{found:?}"
    );
    assert!(matches!(
        found.properties[0],
        (
            OrderProperty::Safety(Safety::AtMost(1, _)),
            PropertyAnswer::Broken(ControllerWitness::Unsafe(0, _))
        )
    ));
    assert_eq!(objects(&page), 1);
    page.send(ControllerMsg::OpenOrder(0));
    assert_eq!(objects(&page), 3, "a parent and two children");
    let tree = &page.state.session.tree;
    assert_eq!(tree.current_path().last(), Some(&tree.current()));
    assert!(page.state.orders().is_none(), "it is about another session");
}

#[test]
fn with_a_protection_every_order_is_as_wished_and_a_change_ends_what_was_said() {
    let mut page = begun(ReadyProgramName::ChildMaker);
    page.send(ControllerMsg::Switch(Switch::DerivedName));
    search_with_an_edit(&mut page);
    let found = found(&page);
    assert!(found.complete);
    let holds = |(_, answer): &(OrderProperty, PropertyAnswer)| *answer == PropertyAnswer::Holds;
    assert!(found.properties.iter().all(holds), "{found:?}");
    page.send(ControllerMsg::OpenOrder(0));
    assert!(page.state.orders().is_some(), "there is no history to open");
    page.send(ControllerMsg::Step);
    assert!(page.state.orders().is_none());
}

#[test]
fn a_search_without_an_edit_says_what_nobody_tried() {
    let mut page = begun(ReadyProgramName::FieldOwner);
    page.send(ControllerMsg::SearchOrders);
    page.finish_work();
    let found = found(&page);
    assert_eq!((found.editors, found.restarts), (Vec::new(), 1));
    assert_eq!(
        found.properties[0],
        (
            OrderProperty::Safety(Safety::NoEditLost),
            PropertyAnswer::Untried
        )
    );
}

#[test]
fn a_search_can_be_ended() {
    let mut page = begun(ReadyProgramName::ChildMaker);
    page.send(ControllerMsg::SearchOrders);
    assert!(page.state.is_working());
    page.send(ControllerMsg::CancelOrders);
    assert!(!page.state.is_working() && page.state.orders().is_none());
}

/// What was found of the property that somebody wrote.
fn own_answer(page: &Page) -> PropertyAnswer {
    let found = found(page);
    let own = found.properties.last().expect("it was asked");
    assert_eq!(
        own.0,
        OrderProperty::Own(page.state.controller.own.text.clone())
    );
    own.1.clone()
}

fn check(page: &mut Page, text: &str) {
    page.send(ControllerMsg::CheckProperty(text.to_owned()));
    page.finish_work();
}

#[test]
fn a_property_that_somebody_writes_is_asked_beside_those_of_the_program() {
    let mut page = begun(ReadyProgramName::ChildMaker);
    page.send(RequestMsg::Get(ActorId::A));
    page.type_over(ActorId::A, "/spec/size", "2");
    check(&mut page, "  always: {objects: {ConfigMap: at most 1}}");
    assert_eq!(found(&page).properties.len(), 3);
    let PropertyAnswer::Broken(witness) = own_answer(&page) else {
        panic!("{:?}", own_answer(&page));
    };
    page.send(ControllerMsg::OpenOrder(2));
    assert_eq!(objects(&page), 3, "a parent and two children");
    assert!(!witness.run().is_empty());
    // It is still there for what was opened.
    assert!(page.state.orders().is_none() && !page.state.controller.own.text.is_empty());
    page.send(ControllerMsg::CheckProperty(String::new()));
    assert!(page.state.controller.own.text.is_empty() && page.state.orders().is_none());
}

#[test]
fn a_mistake_in_a_property_of_a_controller_has_a_place_and_nothing_is_searched() {
    let mut page = begun(ReadyProgramName::ChildMaker);
    check(&mut page, "never: [more than 1 Pod]");
    let error = page.state.controller.own.error.as_ref().expect("a mistake");
    assert_eq!((error.line, error.column), (1, 9));
    assert!(page.state.orders().is_none());
    check(&mut page, "before: [C writes, A writes]");
    assert_eq!(page.state.controller.own.error, None);
    assert_eq!(own_answer(&page), PropertyAnswer::Untried, "A has no edit");
}

#[test]
fn a_link_has_the_property_and_asks_it_again() {
    let mut page = begun(ReadyProgramName::ChildMaker);
    let without = page.state.shared().to_text();
    check(&mut page, "settles: yes");
    let text = page.state.shared().to_text();
    let mut other = Page::open();
    other.send(ShareMsg::Open(text));
    other.finish_work();
    assert_eq!(other.state.controller.own.text, "settles: yes");
    assert_eq!(own_answer(&other), own_answer(&page));
    let mut plain = Page::open();
    plain.send(ShareMsg::Open(without));
    plain.finish_work();
    assert_eq!(plain.state.controller.own.text, "");
    assert!(plain.state.orders().is_none());
}

#[test]
fn a_tool_takes_part_in_every_order_and_a_link_carries_it() {
    let mut page = begun(ReadyProgramName::FieldOwner);
    let thirds = thirds_beside_controller(page.state.world());
    let replace = ThirdActor::Tool(Preset::KubectlReplace);
    let scale = ThirdActor::Tool(Preset::KubectlScale);
    assert!(thirds.contains(&replace) && thirds.contains(&ThirdActor::Deletes));
    assert!(!thirds.contains(&scale), "a widget has no scale");
    page.send(ControllerMsg::Third(Some(replace)));
    assert!(page.state.orders().is_none(), "nothing is searched yet");
    page.send(ControllerMsg::SearchOrders);
    page.finish_work();
    let with = found(&page);
    assert_eq!(with.third, Some((ActorId::D, replace)));
    assert!(with.editors.is_empty() && with.complete, "{with:?}");
    // Without it, nobody writes to what the controller has written.
    page.send(ControllerMsg::Third(None));
    page.finish_work();
    let without = found(&page);
    assert!(without.third.is_none() && without.states < with.states);
    assert_eq!(without.properties[0].1, PropertyAnswer::Untried);
    assert_ne!(with.properties[0].1, PropertyAnswer::Untried);
    page.send(ControllerMsg::Third(Some(replace)));
    page.finish_work();
    check(&mut page, "before: [D reads, D writes]");
    let text = page.state.shared().to_text();
    let mut other = Page::open();
    other.send(ShareMsg::Open(text));
    other.finish_work();
    assert_eq!(other.state.third_of_orders(), Some(replace));
    assert_eq!(found(&other), found(&page));
    assert_eq!(own_answer(&other), PropertyAnswer::Holds);
    // Without the tool, nobody is D.
    other.send(ControllerMsg::Third(None));
    assert!(other.state.controller.own.error.is_some() && other.state.orders().is_none());
}

#[test]
fn a_history_that_a_tool_breaks_opens_with_the_requests_of_the_tool() {
    let mut page = begun(ReadyProgramName::FieldOwner);
    page.send(ControllerMsg::Third(Some(ThirdActor::Tool(Preset::Flux))));
    check(&mut page, "before: [C writes, D writes]");
    let found = found(&page);
    let at = found.properties.len() - 1;
    assert!(matches!(own_answer(&page), PropertyAnswer::Broken(_)));
    page.send(ControllerMsg::OpenOrder(at));
    let tree = &page.state.session.tree;
    let steps = tree
        .current_path()
        .iter()
        .filter_map(|node| tree.step(*node));
    let of_tool = steps.filter(|step| step.actor() == Some(ActorId::D));
    assert!(of_tool.count() >= 2, "a read, a dry run, a write");
    let name = &*page.state.world().actor(ActorId::D).name;
    assert_eq!(name, "Flux");
    // A link replays them.
    let text = page.state.shared().to_text();
    let mut other = Page::open();
    other.send(ShareMsg::Open(text));
    other.finish_work();
    assert_eq!(other.state.session.tree.len(), tree.len());
}

#[test]
fn a_mistake_in_a_property_leaves_what_was_found_and_what_fits_no_goal_has_a_reason() {
    let mut page = begun(ReadyProgramName::ChildMaker);
    page.send(ControllerMsg::SearchOrders);
    page.finish_work();
    let found = |page: &Page| page.state.orders().is_some_and(|it| it.found.is_some());
    assert!(found(&page));
    page.send(ControllerMsg::CheckProperty("neverr".to_owned()));
    assert!(page.state.controller.own.error.is_some());
    assert!(found(&page), "the other results stay");

    let misfit = |page: &Page| page.state.world().goals_misfit(ActorId::C);
    assert_eq!(misfit(&page), None);
    page.send(RequestMsg::Get(ActorId::A));
    page.send(RequestMsg::Delete(ActorId::A));
    let kind = "Widget".to_owned();
    assert_eq!(misfit(&page), Some(Misfit::Parents { kind, count: 0 }));
    assert!(!page.state.can_search_orders());
}

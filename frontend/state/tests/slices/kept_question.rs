//! What is asked in Explore and beside a controller is there after a reload.

use optimist_controller::program::ReadyProgramName;
use optimist_sessions::{OfferStatus, StorageArea};
use optimist_simulation::ActorId;
use optimist_simulation::explore::ThirdActor;
use optimist_state::{
    ControllerMsg, Dialog, EditSource, ExploreModel, ExploreMsg, ExploreSetup, Page as WayIn,
    PersistenceMsg, Platform, RequestMsg, ThirdActorChoice, TransferMsg, UnreadableData, ViewMsg,
};

use crate::page::Page;

const EDITS: &str = "optimist.explored";
const SETUP: &str = "optimist.explored.setup";

/// Lets the page tell the state what it explores.
fn tell(page: &mut Page, model: &ExploreModel) {
    let of_request = matches!(model.setup.subject, EditSource::Editors(..));
    page.send(TransferMsg::Explored(model.to_json(), of_request));
}

/// Explore, as its page shows it after what the state asks.
fn shown(page: &Page) -> ExploreModel {
    let mut model = ExploreModel::new();
    if let Some(request) = &page.state.explore.request {
        let (setup, row) = model.requested(request);
        model.update(ExploreMsg::Setup(setup));
        model.update(ExploreMsg::Choose(row));
    }
    model
}

/// Explores a preset with a third actor and a property.
fn explored(property: &str) -> Page {
    let mut page = Page::open_at("#/explore", Default::default());
    let mut model = shown(&page);
    model.update(ExploreMsg::Setup(ExploreSetup {
        subject: EditSource::Preset(1),
        third: Some(ThirdActorChoice::Preset(ThirdActor::Annotates)),
        property: property.to_owned(),
        ..model.setup.clone()
    }));
    model.update(ExploreMsg::Choose(2));
    tell(&mut page, &model);
    page
}

fn put(page: &Page, key: &str, text: &str) {
    let mut storages = page.browser.storages.borrow_mut();
    storages.tab.insert(key.to_owned(), text.to_owned());
}

#[test]
fn the_question_of_explore_and_its_property_are_there_after_a_reload() {
    let page = explored("before: [C writes, A reads]").reload("#/explore");
    let model = shown(&page);
    assert_eq!(model.setup.property, "before: [C writes, A reads]");
    assert!(matches!(model.property, Some(Ok(_))), "C takes part");
    assert_eq!(
        (model.chosen, &model.setup.subject),
        (2, &EditSource::Preset(1))
    );
    assert!(page.state.persistence.unreadable.is_empty());
    // One with a mistake is there with the mistake, to be mended.
    let model = shown(&explored("never: [lost edits]").reload("#/explore"));
    assert_eq!(model.setup.property, "never: [lost edits]");
    assert!(matches!(model.property, Some(Err(_))));
}

#[test]
fn edits_from_play_are_there_after_a_reload_with_the_property() {
    let mut page = Page::open();
    for (editor, value) in [(ActorId::A, "7"), (ActorId::B, "8")] {
        page.send(RequestMsg::Get(editor));
        page.type_over(editor, "/spec/replicas", value);
    }
    page.send(TransferMsg::Explore);
    let mut model = shown(&page);
    let property = "at rest: {stored: {spec.replicas: 7}}".to_owned();
    model.update(ExploreMsg::Setup(ExploreSetup {
        property: property.clone(),
        ..model.setup.clone()
    }));
    tell(&mut page, &model);
    let again = shown(&page.reload("#/explore"));
    assert_eq!(again.setup.property, property);
    let fields = |model: &ExploreModel| match &model.setup.subject {
        EditSource::Editors(_, scenario) => scenario.changed_fields(),
        EditSource::Preset(_) => Vec::new(),
    };
    assert_eq!(fields(&again), fields(&model));
    assert_eq!(fields(&again).len(), 1);
}

#[test]
fn a_kept_question_that_cannot_be_read_is_named_and_not_lost() {
    for (key, text) in [(SETUP, "{\"edits\": "), (SETUP, "7"), (EDITS, "no session")] {
        let page = explored("never: [lost edit]");
        put(
            &page,
            SETUP,
            r#"{"edits": null, "property": "never: [409]"}"#,
        );
        put(&page, key, text);
        let mut page = page.reload("#/explore");
        let unreadable = page.state.persistence.unreadable.clone();
        assert_eq!(unreadable, [UnreadableData::Explored], "{text}");
        // The page goes on and writes over what was there.
        let model = shown(&page);
        tell(&mut page, &model);
        page.send(ViewMsg::Dialog(Some(Dialog::Sessions)));
        let kept = page.state.persistence.sessions.saved();
        let kept = kept.iter().find(|entry| entry.text == text).expect(text);
        assert_eq!(kept.standing, OfferStatus::Unopened);
        if key == EDITS {
            assert_eq!(model.setup.property, "never: [409]", "the rest is there");
        }
        page.send(PersistenceMsg::Dismiss);
        assert!(page.state.persistence.unreadable.is_empty());
        let page = page.reload("#/explore");
        assert_eq!(page.state.page, WayIn::Explore);
    }
}

#[test]
fn unfinished_texts_that_cannot_be_read_are_named_and_not_written_over() {
    let text = "{\"live\": 7, \"drafts\": ";
    let page = Page::open();
    put(&page, optimist_sessions::TAB, text);
    let mut page = page.reload("");
    let unreadable = page.state.persistence.unreadable.clone();
    assert_eq!(unreadable, [UnreadableData::Typing]);
    page.send(RequestMsg::Get(ActorId::A));
    page.send(PersistenceMsg::Save);
    let tab = page.browser.read(StorageArea::Tab, optimist_sessions::TAB);
    assert_ne!(tab.as_deref(), Some(text));
    page.send(ViewMsg::Dialog(Some(Dialog::Sessions)));
    let kept = page.state.persistence.sessions.saved();
    assert!(kept.iter().any(|entry| entry.text == text));
}

/// A controller with a property that somebody wrote, after a save and a reload.
fn reloaded(text: &str) -> Page {
    let mut page = Page::open();
    page.send(ControllerMsg::Begin(ReadyProgramName::ChildMaker));
    page.send(ControllerMsg::CheckProperty(text.to_owned()));
    page.finish_work();
    page.send(PersistenceMsg::Save);
    let mut page = page.reload("");
    page.finish_work();
    page
}

#[test]
fn a_property_of_a_controller_is_there_after_a_reload_with_its_answer() {
    let mut page = reloaded("settles: yes");
    assert_eq!(page.state.controller.own.text, "settles: yes");
    assert!(page.state.orders().is_some_and(|it| it.found.is_some()));
    // Without it, a reload brings none.
    page.send(ControllerMsg::CheckProperty(String::new()));
    page.send(PersistenceMsg::Save);
    assert_eq!(page.reload("").state.controller.own.text, "");
    let page = reloaded("never: [more than 1 Pod]");
    assert_eq!(page.state.controller.own.text, "never: [more than 1 Pod]");
    assert!(page.state.controller.own.error.is_some());
}

#[test]
fn a_session_that_is_opened_again_has_its_own_property() {
    let mut page = reloaded("settles: yes");
    page.send(PersistenceMsg::Save);
    page.send(ControllerMsg::Begin(ReadyProgramName::Scaler));
    assert_eq!(page.state.controller.own.text, "");
    page.send(PersistenceMsg::Save);
    page.send(PersistenceMsg::Return);
    page.finish_work();
    assert_eq!(page.state.controller.own.text, "settles: yes");
    page.send(PersistenceMsg::Save);
    let tab = page.browser.read(StorageArea::Tab, optimist_sessions::TAB);
    assert!(tab.is_some_and(|record| record.contains("settles: yes")));
}

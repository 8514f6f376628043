//! Typing into working copies.

use optimist_simulation::ActorId;
use optimist_state::{
    BrowserEffect, EditMsg, FIELD, ManifestMsg, ObjectView, RequestMsg, SessionMsg, Typing,
};

use crate::page::Page;

const A: ActorId = ActorId::A;
const REPLICAS: &str = "/spec/replicas";

fn read() -> Page {
    let mut page = Page::open();
    page.send(RequestMsg::Get(A));
    page
}

fn start(page: &mut Page, typing: Typing, pointer: &str) {
    page.send(EditMsg::Start(A, typing, pointer.to_owned(), String::new()));
}

fn is_edited(page: &Page) -> bool {
    page.state.world().copy(A).is_edited()
}

#[test]
fn a_value_is_typed_in_place() {
    let mut page = read();
    start(&mut page, Typing::Value, REPLICAS);
    page.send(EditMsg::Cancel);
    assert!(page.state.editing.in_place.is_none() && !is_edited(&page));
    page.type_over(A, REPLICAS, "3");
    assert!(!is_edited(&page), "the same value is no edit");
    page.type_over(A, REPLICAS, "5");
    assert!(is_edited(&page));
}

#[test]
fn a_variable_is_typed_by_name_and_value_where_there_is_no_list_yet() {
    const CONTAINER: &str = "/spec/template/spec/containers/0";
    let env = format!("{CONTAINER}/env");
    let mut page = read();
    start(&mut page, Typing::Addition, CONTAINER);
    page.send(EditMsg::Commit("env".to_owned()));
    let editing = page.state.editing.in_place.clone().expect("it goes on");
    assert_eq!(editing.pointer, env);
    assert!(editing.notation.is_some() && editing.text.is_empty());
    page.send(EditMsg::Commit("LOG_LEVEL=debug".to_owned()));
    assert!(page.state.editing.in_place.is_none());
    let edited = page.state.world().copy(A).edited().unwrap();
    assert_eq!(edited.pointer(&format!("{env}/0/value")).unwrap(), "debug");
    assert_eq!(page.state.editing.added, Some((A, format!("{env}/0"))));
}

#[test]
fn a_list_that_was_opened_and_stays_empty_is_no_edit() {
    const CONTAINER: &str = "/spec/template/spec/containers/0";
    let mut page = read();
    for leave in [EditMsg::Cancel, EditMsg::Commit(" ".to_owned())] {
        start(&mut page, Typing::Addition, CONTAINER);
        page.send(EditMsg::Commit("env".to_owned()));
        page.send(leave);
        assert!(page.state.editing.in_place.is_none() && !is_edited(&page));
    }
    start(&mut page, Typing::Addition, CONTAINER);
    page.send(EditMsg::Commit("env".to_owned()));
    page.send(RequestMsg::Send(A));
    assert_eq!(page.steps(), 2);
    let step = page.state.session.tree.step(2).unwrap();
    assert!(step.edits.is_empty(), "{:?}", step.edits);
}

#[test]
fn a_wrong_value_is_not_sent_and_its_field_gets_the_keyboard() {
    let mut page = read();
    start(&mut page, Typing::Addition, "/metadata/labels");
    page.send(EditMsg::Commit("no-colon".to_owned()));
    let editing = page.state.editing.in_place.clone().expect("it stays open");
    assert_eq!(editing.text, "no-colon");
    assert!(editing.error.is_some());
    let effects = page.effects(RequestMsg::Send(A));
    assert!(matches!(effects.as_slice(), [BrowserEffect::Focus(id)] if id == FIELD));
    assert_eq!(page.steps(), 1);
    // The other editor is free.
    page.send(RequestMsg::Get(ActorId::B));
    assert_eq!(page.steps(), 2);
}

#[test]
fn a_wrong_text_is_not_sent_and_stays_where_we_go() {
    let mut page = read();
    page.send(EditMsg::Raw(A, true));
    page.send(EditMsg::RawText(A, "a: [".to_owned()));
    assert!(page.effects(RequestMsg::Send(A)).is_empty());
    assert_eq!(page.steps(), 1);
    page.send(SessionMsg::Back);
    assert_eq!(page.state.editing.raw[&A].text, "a: [");
    page.send(EditMsg::Raw(A, false));
    assert!(
        page.state.editing.raw.contains_key(&A),
        "it is nowhere else"
    );
}

#[test]
fn a_text_follows_its_working_copy() {
    let mut page = read();
    page.send(EditMsg::Raw(A, true));
    let before = page.state.editing.raw[&A].text.clone();
    page.send(EditMsg::RawText(
        A,
        before.replace("replicas: 3", "replicas: 7"),
    ));
    assert!(is_edited(&page));
    page.send(RequestMsg::Send(A));
    assert_eq!(page.stored(REPLICAS), "7");
    page.send(SessionMsg::First);
    assert!(
        !page.state.editing.raw.contains_key(&A),
        "nothing is read there"
    );
}

#[test]
fn discarded_edits_are_had_back_where_they_were_discarded() {
    let mut page = read();
    page.type_over(A, REPLICAS, "5");
    page.send(EditMsg::Discard(A));
    assert!(!is_edited(&page) && page.state.can_undo_discard(A));
    page.send(RequestMsg::Get(ActorId::B));
    assert!(!page.state.can_undo_discard(A), "it is another step");
    page.send(SessionMsg::Back);
    page.send(EditMsg::Undo(A));
    assert!(is_edited(&page) && !page.state.can_undo_discard(A));
}

#[test]
fn an_addition_opens_the_fold_that_it_goes_into() {
    let mut page = read();
    let view = ObjectView::Cards;
    start(&mut page, Typing::Addition, "/spec/selector");
    assert!(page.state.view.toggled.contains(view, "/spec/selector"));
    page.send(EditMsg::Cancel);
    start(&mut page, Typing::Addition, "/spec/selector");
    assert!(page.state.view.toggled.contains(view, "/spec/selector"));
}

#[test]
fn a_manifest_that_cannot_be_loaded_stays_with_its_problem() {
    let mut page = read();
    page.send(ManifestMsg::Text("kind: [".to_owned()));
    page.send(ManifestMsg::Load);
    assert!(page.state.manifest.problem.is_some());
    assert_eq!((page.steps(), page.state.session.number), (1, 0));
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n";
    page.send(ManifestMsg::Text(config.to_owned()));
    assert!(page.state.manifest.problem.is_none());
    page.send(ManifestMsg::Load);
    let loaded = page.state.manifest.loaded.clone().expect("it is loaded");
    assert_eq!(loaded.object, "ConfigMap c");
    assert_eq!((page.steps(), page.state.session.number), (0, 1));
    assert_eq!(page.state.manifest.text, "");
}

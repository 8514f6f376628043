//! From Diagnose to Explore: a change, and somebody who writes in between.

use optimist_client::{Intent, Preset};
use optimist_diagnose::ways::{OnOwned, RemedyKind, Way};
use optimist_simulation::ActorId;
use optimist_simulation::explore::Scenario;
use optimist_state::{
    CaseExample, DiagnoseMsg, Dialog, EditSource, ExploreModel, ExploreMsg, Msg, OtherChoice,
    Page as WayIn, TransferMsg, ViewMsg, WritersInBetween, session_fragment,
};
use serde_json::{Value, json};

use crate::page::Page;

const HELM: Way = Way::Client(Preset::Helm4, OnOwned::Usual);

/// A live Deployment and the manifest of an upgrade, with all ways of writing run.
fn case() -> Page {
    let mut page = Page::open_at("#/diagnose", Default::default());
    page.send(DiagnoseMsg::Example(CaseExample::LiveObject));
    page.finish_work();
    page
}

/// Explore, as its page shows it: the page tells the state what is explored.
fn shown(page: &mut Page, model: &mut ExploreModel) {
    let request = page.state.explore.request.clone().expect("it is asked");
    let (setup, row) = model.requested(&request);
    model.update(ExploreMsg::Setup(setup));
    model.update(ExploreMsg::Choose(row));
    tell(page, model);
}

fn tell(page: &mut Page, model: &ExploreModel) {
    let of_request = matches!(model.setup.subject, EditSource::Editors(..));
    page.send(TransferMsg::Explored(model.to_json(), of_request));
}

fn opened(page: &mut Page) -> ExploreModel {
    let mut model = ExploreModel::new();
    shown(page, &mut model);
    model
}

fn between(model: &ExploreModel) -> WritersInBetween {
    let between = model.setup.subject.between().expect("it is a case");
    (**between).clone()
}

fn scenario(model: &ExploreModel) -> Scenario {
    let EditSource::Editors(_, scenario) = &model.setup.subject else {
        panic!("it is of working copies");
    };
    (**scenario).clone()
}

#[test]
fn a_row_opens_explore_with_its_client_and_another_writer() {
    let mut page = case();
    let own = page.state.session.tree.clone();
    page.send(DiagnoseMsg::InBetween(HELM));
    assert_eq!(page.browser.addresses.borrow().last().unwrap(), "#/explore");
    let model = opened(&mut page);
    assert_eq!(
        Some(model.chosen),
        model.own_row(),
        "the row of the case is chosen"
    );
    assert_eq!(model.shown_rows()[0], model.chosen, "and comes first");
    let between = between(&model);
    assert_eq!(between.name, "helm");
    let fields: Vec<String> = between.fields.iter().map(ToString::to_string).collect();
    assert!(fields.contains(&".spec.replicas".to_owned()), "{fields:?}");
    let writer = between.writer().expect("somebody writes");
    assert_eq!(writer.manager.name, "kube-controller-manager");
    assert_eq!(between.now, Some(json!(5)));
    assert_eq!(between.edit.value, 6);
    let [a, b] = scenario(&model).plans.try_into().expect("they are two");
    assert_eq!(
        (&*a.manager, &*b.manager),
        ("helm", "kube-controller-manager")
    );
    let manifest = a.own.expect("it has a client").intent;
    assert!(matches!(manifest, Intent::Manifest(_)), "{manifest:?}");
    // Play's own session is where it was.
    assert_eq!(page.state.session.tree.len(), own.len());
}

#[test]
fn what_cannot_be_sent_exactly_is_not_offered() {
    let mut page = case();
    let table = page.state.diagnose.table.clone().expect("there is a table");
    assert!(table.can_be_explored(HELM));
    let flux = Way::Client(Preset::Flux, OnOwned::Usual);
    assert!(!table.can_be_explored(flux));
    page.send(DiagnoseMsg::InBetween(flux));
    assert!(page.state.explore.request.is_none());
    let outs = table.remedies.iter().flatten();
    let offered: Vec<RemedyKind> = outs
        .filter(|settled| settled.can_be_explored)
        .map(|settled| settled.out.kind)
        .collect();
    assert!(offered.contains(&RemedyKind::LeaveOut), "{offered:?}");
    assert!(!offered.contains(&RemedyKind::Transfer), "{offered:?}");
    page.send(DiagnoseMsg::InBetweenOut(RemedyKind::LeaveOut));
    let between = between(&opened(&mut page));
    let replicas = |path: &optimist_apiserver::apply::Path| path.to_string() == ".spec.replicas";
    assert!(!between.fields.iter().any(replicas));
    assert!(
        replicas(&between.edit.field),
        "the autoscaler writes all the same"
    );
}

#[test]
fn another_writer_field_and_value_can_be_chosen() {
    let mut page = case();
    page.send(DiagnoseMsg::InBetween(HELM));
    let mut model = opened(&mut page);
    model.update(ExploreMsg::Choose(3));
    tell(&mut page, &model);
    let mut choose = |choice, model: &mut ExploreModel| {
        page.send(TransferMsg::Other(choice));
        shown(&mut page, model);
        between(model)
    };
    let value = choose(OtherChoice::Value("9".to_owned()), &mut model);
    assert_eq!(value.edit.value, 9);
    assert_eq!(model.chosen, 3, "the rows stay as they are");
    // What is not a value of the field changes nothing.
    for wrong in ["", "many", "true"] {
        let same = choose(OtherChoice::Value(wrong.to_owned()), &mut model);
        assert_eq!(same, value, "{wrong:?}");
    }
    let writers = value.others.len();
    assert!(writers > 1);
    for at in 0..writers {
        let other = choose(OtherChoice::Writer(at), &mut model);
        assert_eq!(other.edit.writer, at);
        let fields = other.writer().unwrap().fields.clone();
        let field = choose(OtherChoice::Field(fields.len() - 1), &mut model);
        assert_eq!(field.edit.field, fields[fields.len() - 1]);
        assert_ne!(field.now.as_ref(), Some(&field.edit.value));
    }
    let same = choose(OtherChoice::Writer(writers), &mut model);
    assert_eq!(same.edit.writer, writers - 1);
}

#[test]
fn a_reload_and_a_link_keep_the_case() {
    let mut page = case();
    page.send(DiagnoseMsg::InBetween(HELM));
    page.send(Msg::Address("#/explore".to_owned()));
    let mut model = opened(&mut page);
    page.send(TransferMsg::Other(OtherChoice::Value("8".to_owned())));
    shown(&mut page, &mut model);
    let fragment = session_fragment(WayIn::Explore, &page.state.shared().to_text());
    let same = |page: &mut Page, label: &str| {
        let again = opened(page);
        assert_eq!(between(&again), between(&model), "{label}");
        assert_eq!(Some(again.chosen), again.own_row(), "{label}");
        let plans = |model: &ExploreModel| {
            let plans = scenario(model).plans.into_iter();
            let plans = plans.map(|it| (it.manager, it.intent, it.subresource, it.own));
            plans.collect::<Vec<_>>()
        };
        assert_eq!(plans(&again), plans(&model), "{label}");
    };
    let mut page = page.reload("#/explore");
    same(&mut page, "reload");
    let mut other = Page::open_at(&fragment, Default::default());
    assert_eq!(other.state.page, WayIn::Explore);
    same(&mut other, "link");
    let mut other = other.reload("#/explore");
    same(&mut other, "reload after a link");
    // Once something else is explored, a reload brings that, and not the case again.
    let mut preset = opened(&mut page);
    preset.update(ExploreMsg::Setup(ExploreModel::new().setup));
    tell(&mut page, &preset);
    assert!(preset.chosen < preset.rows.len());
    let mut page = page.reload("#/explore");
    let again = opened(&mut page);
    assert_eq!(again.setup.subject, EditSource::Preset(0));
    assert!(again.own_row().is_none());
}

#[test]
fn the_scene_of_a_message_opens_explore_too() {
    let mut page = Page::open_at("#/diagnose", Default::default());
    page.send(DiagnoseMsg::Example(CaseExample::Message));
    page.finish_work();
    let made = page.state.diagnose.reading().expect("there is a scene");
    assert!(made.scene.is_some());
    page.send(DiagnoseMsg::InBetween(HELM));
    let between = between(&opened(&mut page));
    assert!(
        between.fields.contains(&between.edit.field),
        "it is contested"
    );
    let writer = between.writer().expect("somebody writes");
    assert!(writer.is_known, "the manager that the message names");
}

const SECRET: &str = "apiVersion: v1
kind: Secret
metadata:
  name: login
  namespace: live
  uid: 8e1cedb3-eed5-4163-bd53-3eb60dac30d4
  resourceVersion: '7'
  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1: {'f:data': {'f:user': {}, 'f:word': {}}, 'f:type': {}}
    manager: vault
    operation: Update
    time: '2026-11-22T06:05:10Z'
data: {user: YWRtaW4=, word: aHVudGVyMg==}
type: Opaque
";

#[test]
fn a_link_of_a_secret_leaves_its_values_out_until_people_say_otherwise() {
    let mut page = Page::open_at("#/diagnose", Default::default());
    let wanted = "apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: live}\n\
                  data: {word: c2VjcmV0LXdvcmQ=}\n";
    page.send(DiagnoseMsg::Bring(SECRET.to_owned()));
    page.finish_work();
    page.send(DiagnoseMsg::Bring(wanted.to_owned()));
    page.finish_work();
    let way = Way::Client(Preset::KubectlApplyServerSide, OnOwned::Force);
    page.send(DiagnoseMsg::InBetween(way));
    page.send(Msg::Address("#/explore".to_owned()));
    let model = opened(&mut page);
    let between = between(&model);
    assert_eq!(between.edit.field.to_string(), ".data.word");
    assert_eq!(between.now, Some(json!(optimist_masking::MASK)));
    // What is sent has the real values.
    let object = &page
        .state
        .explore
        .request
        .as_ref()
        .unwrap()
        .tree
        .world()
        .copy(ActorId::A);
    assert_eq!(object.edited().unwrap()["data"]["word"], "c2VjcmV0LXdvcmQ=");
    page.send(ViewMsg::Dialog(Some(Dialog::Share)));
    let redacted = page
        .state
        .share
        .redacted
        .clone()
        .expect("it is private at first");
    let text = redacted.session.to_text();
    let mut other = Page::open_at(&session_fragment(WayIn::Explore, &text), Default::default());
    let again = opened(&mut other);
    assert_eq!(self::between(&again).edit.field, between.edit.field);
    let request = other.state.explore.request.as_ref().unwrap();
    let object: &Value = request.tree.world().stored().unwrap().1;
    let words = format!(
        "{object} {:?}",
        request.tree.world().copy(ActorId::A).edited()
    );
    for private in ["aHVudGVyMg", "c2VjcmV0LXdvcmQ", "YWRtaW4"] {
        assert!(!words.contains(private), "{words}");
    }
}

//! A recorded history of Diagnose, stepped through.

use std::rc::Rc;

use optimist_diagnose::audit::findings::Findings;
use optimist_diagnose::audit::recorded::{CoreAnswer, KnownObject};
use optimist_diagnose::fight_remedy::RemedyRun;
use optimist_simulation::ActorId;
use optimist_state::{
    BranchSource, CaseExample, DiagnoseMsg, ManifestMsg, OwnerFilter, Page as WayIn,
    PersistenceMsg, RecordedSource, SelectedStep, StepMove, StepObject, session_fragment,
};
use serde_json::Value;

use crate::page::Page;

const AUDIT: &str = include_str!("../../../../core/diagnose/tests/live/audit.log");

fn example(example: CaseExample) -> Page {
    let mut page = Page::open_at("#/diagnose", Default::default());
    page.send(DiagnoseMsg::Example(example));
    page.finish_work();
    page
}

fn audit(row: usize) -> SelectedStep {
    SelectedStep {
        source: RecordedSource::AuditLog,
        row,
    }
}

fn version(row: usize) -> SelectedStep {
    SelectedStep {
        source: RecordedSource::Versions,
        row,
    }
}

fn select(page: &mut Page, step: SelectedStep) {
    page.send(DiagnoseMsg::SelectStep(Some(step)));
}

fn shown(page: &Page) -> &StepObject {
    let case = &page.state.diagnose;
    case.step_object.as_deref().expect("a step is selected")
}

/// The value and the owners of a line at the step.
fn line(object: &StepObject, pointer: &str) -> (String, Vec<String>) {
    let ownership = object.ownership.as_ref().expect("the object is known");
    let mut lines = ownership.lines.iter();
    let line = lines
        .find(|it| it.line.pointer == pointer)
        .expect("it is a line");
    let value = line.line.value.as_ref().map(|token| token.text.clone());
    let owners = line
        .owners
        .iter()
        .map(|at| ownership.managers[*at].manager.name.clone());
    (value.unwrap_or_default(), owners.collect())
}

#[test]
fn each_version_of_a_watch_is_shown_with_the_owners_of_then() {
    let mut page = example(CaseExample::Watch);
    assert!(page.state.diagnose.selected_step().is_none());
    let told = |value: &str, owner: &str| (value.to_owned(), vec![owner.to_owned()]);
    for (row, value, owner) in [
        (0, "2", "helm"),
        (1, "5", "web-operator"),
        (2, "2", "helm"),
        (3, "5", "web-operator"),
    ] {
        select(&mut page, version(row));
        let object = shown(&page);
        assert_eq!(line(object, "/spec/replicas"), told(value, owner));
        let changed = object.changed.get("/spec/replicas");
        assert_eq!(changed.is_some(), row > 0);
        let by = changed.and_then(|change| change.by.as_ref());
        assert_eq!(by.map(|by| by.name.as_str()), (row > 0).then_some(owner));
    }
    page.send(DiagnoseMsg::SelectStep(None));
    assert!(page.state.diagnose.step_object.is_none());
}

#[test]
fn steps_go_back_and_forth_and_stop_at_the_ends() {
    let mut page = example(CaseExample::AuditLog);
    let row = |page: &Page| page.state.diagnose.selected_step().map(|step| step.row);
    let mut went = Vec::new();
    for to in [
        StepMove::Forward,
        StepMove::Back,
        StepMove::Forward,
        StepMove::Last,
        StepMove::Forward,
        StepMove::Back,
        StepMove::First,
    ] {
        page.send(DiagnoseMsg::MoveStep(to));
        went.push(row(&page).expect("a step is selected"));
    }
    assert_eq!(went, [0, 0, 1, 14, 14, 13, 0]);
    page.send(DiagnoseMsg::SelectStep(None));
    page.send(DiagnoseMsg::MoveStep(StepMove::Back));
    assert_eq!(row(&page), Some(14));
}

#[test]
fn a_refused_step_shows_the_object_that_it_met_and_the_lines_it_was_refused_for() {
    let mut page = example(CaseExample::AuditLog);
    let refused = AUDIT
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"));
    // The last stage of each request.
    let is_last = |event: &Value| event["stage"] != "ResponseStarted";
    let refused: Vec<Value> = refused.filter(is_last).collect();
    let causes = |event: &Value| {
        let causes = event["responseObject"]["details"]["causes"].as_array();
        causes.map_or(0, Vec::len)
    };
    let mut seen = 0;
    assert_eq!(refused.len(), 15);
    for (row, event) in refused.iter().enumerate() {
        select(&mut page, audit(row));
        let object = shown(&page);
        let expected = causes(event);
        assert_eq!(object.refused.len(), expected, "step {row}");
        if expected > 0 {
            seen += 1;
            assert!(object.refused.contains(&"/spec/replicas".to_owned()));
            assert_eq!(line(object, "/spec/replicas").1, ["web-operator"]);
            assert!(object.changed.is_empty());
        }
    }
    assert_eq!(seen, 2);
}

#[test]
fn the_step_outlives_a_reload_and_is_in_the_link() {
    let mut page = example(CaseExample::AuditLog);
    select(&mut page, audit(7));
    let link = session_fragment(WayIn::Diagnose, &page.state.shared().to_text());
    let mut page = page.reload("#/diagnose");
    page.finish_work();
    assert_eq!(page.state.diagnose.selected_step(), Some(audit(7)));
    let mut other = Page::open_at("#/diagnose", Default::default());
    other.send(optimist_state::Msg::Address(link));
    other.finish_work();
    assert_eq!(other.state.diagnose.selected_step(), Some(audit(7)));
    // Another case does not begin at the step of this one.
    page.send(DiagnoseMsg::Example(CaseExample::Watch));
    page.finish_work();
    assert_eq!(page.state.diagnose.selected_step(), None);
    let mut page = page.reload("#/diagnose");
    page.finish_work();
    assert_eq!(page.state.diagnose.selected_step(), None);
}

#[test]
fn a_step_of_the_log_opens_in_play_before_its_request() {
    let mut page = example(CaseExample::AuditLog);
    select(&mut page, audit(6));
    page.send(DiagnoseMsg::StepRecorded);
    let tree = &page.state.session.tree;
    assert_eq!((tree.position(), tree.current_path().len()), (0, 2));
    let step = tree.step(tree.current_path()[1]).expect("it is there");
    assert_eq!(step.exchange.as_ref().map(|it| it.code), Some(409));
}

/// The object of the session in Play, without times.
fn stored(page: &Page) -> Value {
    let (_, object) = page.state.world().stored().expect("it is there");
    (**object).clone()
}

#[test]
fn a_branch_begins_with_the_object_after_the_step_and_says_where_it_left_the_log() {
    let mut page = example(CaseExample::AuditLog);
    assert_eq!(page.state.branch_point(), None);
    select(&mut page, audit(6));
    let replay = page.state.diagnose.replay().expect("it is replayed");
    let step = &replay.history.steps[6];
    let after = step.after.as_deref().cloned().expect("it is known");
    page.send(DiagnoseMsg::Branch);
    page.finish_work();
    assert_eq!(stored(&page), after);
    assert_eq!(page.state.session.tree.len(), 1, "nobody has sent anything");
    assert_eq!(page.browser.addresses.borrow().last().unwrap(), "#/play");
    page.send(optimist_state::Msg::Address("#/play".to_owned()));
    let point = page.state.branch_point().expect("it says so");
    let from = (point.source, point.row, point.missing);
    assert_eq!(from, (BranchSource::Log, 6, 0));
    // What is written goes on from there, and the log stays as it is.
    page.write(ActorId::A, "/spec/replicas", "9");
    assert_eq!(stored(&page)["spec"]["replicas"], 9);
    assert_eq!(page.state.branch_point(), Some(point));
    page.send(optimist_state::Msg::Address("#/diagnose".to_owned()));
    assert_eq!(page.state.branch_point(), None, "this is the log itself");
    assert_eq!(page.state.diagnose.selected_step(), Some(audit(6)));
    let replay = page.state.diagnose.replay().expect("it is replayed");
    assert_eq!(replay.history.steps[6].after.as_deref(), Some(&after));
    // After a reload it still says so, and of another session it does not.
    page.send(PersistenceMsg::Save);
    let mut page = page.reload("#/play");
    page.finish_work();
    assert_eq!(stored(&page)["spec"]["replicas"], 9);
    assert_eq!(page.state.branch_point(), Some(point));
    page.send(ManifestMsg::Begin);
    assert_eq!(page.state.branch_point(), None);
}

#[test]
fn the_chosen_owner_stays_chosen_from_step_to_step() {
    let mut page = example(CaseExample::Watch);
    select(&mut page, version(1));
    let number = |page: &Page, name: &str| {
        let ownership = shown(page).ownership.as_ref().expect("the object is known");
        ownership
            .managers
            .iter()
            .position(|it| it.manager.name == name)
    };
    let of = number(&page, "web-operator").expect("it owns something");
    page.send(DiagnoseMsg::Owner(Some(OwnerFilter::Manager(of))));
    select(&mut page, version(3));
    let then = number(&page, "web-operator").map(OwnerFilter::Manager);
    assert_eq!(page.state.diagnose.owner, then);
    // It owns nothing in the last version.
    page.send(DiagnoseMsg::MoveStep(StepMove::Last));
    assert_eq!(page.state.diagnose.owner, None);
}

#[test]
fn the_values_of_a_secret_are_masked_at_each_step() {
    let secret = |version: u32, word: &str| {
        serde_json::json!({"type": "MODIFIED", "object": {
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {
                "name": "login", "namespace": "live", "resourceVersion": version.to_string(),
                "uid": "8e1cedb3-eed5-4163-bd53-3eb60dac30d4",
                "managedFields": [{
                    "apiVersion": "v1", "fieldsType": "FieldsV1", "manager": "kubectl",
                    "operation": "Update", "time": "2026-11-22T06:05:08Z",
                    "fieldsV1": {"f:data": {"f:word": {}}},
                }],
            },
            "data": {"word": word},
        }})
        .to_string()
    };
    let mut page = Page::open_at("#/diagnose", Default::default());
    let watch = [secret(7, "aHVudGVyMQ=="), secret(8, "aHVudGVyMg==")].join("\n");
    page.send(DiagnoseMsg::Bring(watch));
    page.finish_work();
    for row in [0, 1] {
        select(&mut page, version(row));
        let object = shown(&page);
        assert_eq!(object.known, KnownObject::Recorded);
        assert!(!format!("{object:?}").contains("aHVudGVy"), "{object:?}");
    }
    assert!(shown(&page).changed.contains_key("/data/word"));
}

#[test]
fn values_in_which_answers_differ_are_masked() {
    let of_secret = |verb: &str, code: u16, version: u32, sent: &str, answered: &str| {
        let object = |word: &str| {
            serde_json::json!({
                "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
                "metadata": {
                    "name": "login", "namespace": "live", "resourceVersion": version.to_string(),
                    "uid": "8e1cedb3-eed5-4163-bd53-3eb60dac30d4",
                    "creationTimestamp": "2026-11-22T06:05:08Z",
                },
                "data": {"word": word},
            })
        };
        let collection = "/api/v1/namespaces/live/secrets";
        let time = format!("2026-11-22T06:05:{version:02}.000000Z");
        let body = (!sent.is_empty()).then(|| serde_json::json!({"data": {"word": sent}}));
        serde_json::json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse",
            "auditID": version.to_string(), "stage": "ResponseComplete", "verb": verb,
            "requestURI": format!("{collection}/login"), "userAgent": "tool/v1",
            "user": {"username": "admin"},
            "objectRef": {"resource": "secrets", "namespace": "live", "name": "login",
                "apiVersion": "v1"},
            "responseStatus": {"code": code}, "requestObject": body,
            "responseObject": object(answered),
            "requestReceivedTimestamp": time, "stageTimestamp": time,
        })
        .to_string()
    };
    let log = [
        of_secret("get", 200, 7, "", "aHVudGVyMQ=="),
        // As a mutating webhook would answer.
        of_secret("patch", 200, 8, "aHVudGVyMg==", "aHVudGVyMw=="),
    ];
    let mut page = Page::open_at("#/diagnose", Default::default());
    page.send(DiagnoseMsg::Bring(log.join("\n")));
    page.finish_work();
    let replay = page.state.diagnose.replay().expect("it is replayed");
    let (_, other, _) = replay.history.counts();
    assert_eq!(other, 1);
    let CoreAnswer::Other { differences, .. } = &replay.history.steps[1].prediction else {
        panic!("the answers differ");
    };
    let said = format!("{differences:?}");
    assert!(said.contains("/data/word"), "{said}");
    assert!(!said.contains("aHVudGVy"), "{said}");
}

#[test]
fn the_findings_of_slices_are_those_of_the_whole_log() {
    let page = example(CaseExample::AuditLog);
    let replay = page.state.diagnose.replay().expect("it is replayed");
    // Nothing in it looks private.
    let whole = Findings::search(&replay.history, &replay.log);
    assert_eq!(replay.findings, whole);
    let remedies = whole.fights.iter().map(|it| it.remedies.len());
    assert_eq!(remedies.collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn the_ways_out_of_slices_are_those_of_all_versions() {
    let page = example(CaseExample::Watch);
    let reading = page.state.diagnose.reading().expect("there is an object");
    let history = reading.history.as_ref().expect("versions were brought");
    let installed = reading.installed.as_ref().expect("it is on a server");
    let mut whole = history.fights.clone();
    whole.iter_mut().for_each(|fight| fight.remedies.clear());
    let mut run = RemedyRun::default();
    while run.advance(&mut whole, &history.changes, &installed.world) {}
    assert_eq!(history.fights, whole);
    let remedies = whole.iter().map(|it| it.remedies.len());
    assert_eq!(remedies.collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn the_object_of_a_log_is_read_once_and_without_the_history_that_the_log_tells() {
    let mut page = example(CaseExample::AuditLog);
    let read = Rc::clone(page.state.diagnose.reading().expect("the log has it"));
    assert!(read.history.is_none());
    assert!(read.ownership.is_some());
    let another = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n";
    page.send(DiagnoseMsg::Bring(another.to_owned()));
    page.finish_work();
    let mut cases = page.state.diagnose.cases.iter();
    assert!(cases.any(|it| Rc::ptr_eq(it, &read)));
    // Without the log it is not known any more.
    let log = page.state.diagnose.items[0].id;
    page.send(DiagnoseMsg::Remove(log));
    page.finish_work();
    let cases = page.state.diagnose.cases.iter();
    let names: Vec<&str> = cases.map(|it| it.case.id.name.as_str()).collect();
    assert_eq!(names, ["other"]);
}

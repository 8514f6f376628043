//! The case of Diagnose: what is brought, what follows, and what the tab keeps.

use std::collections::BTreeSet;

use optimist_client::Preset;
use optimist_diagnose::case::ObjectId;
use optimist_diagnose::input::{Input, NotDetected, TextForm};
use optimist_diagnose::preview::{PreviewOutcome, Trouble};
use optimist_diagnose::scene::{GivenParts, MissingPart, NoScene};
use optimist_diagnose::ways::{FieldEffect, Instruction, OnOwned, RemedyKind, Way};
use optimist_sessions::StorageArea;
use optimist_state::{
    BringProblem, CASE, CaseExample, CaseKeeping, CaseLeftOut, CaseReport, CaseSection,
    DiagnoseMsg, DiagnoseState, Dialog, MAX_ITEMS, Page as WayIn, PersistenceMsg, PreviewFilter,
    ShareMsg, ValuesLeftOut, ViewMsg, Withheld, case_of, diagnosed, session_fragment,
};
use serde_json::json;

use crate::page::{Page, report};

pub(crate) const CONFIG: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  a: b\n";

pub(crate) const SECRET: &str = r#"
apiVersion: v1
kind: Secret
metadata:
  name: login
  namespace: live
  uid: 8e1cedb3-eed5-4163-bd53-3eb60dac30d4
  resourceVersion: "7"
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"v1","data":{"word":"aHVudGVyMg=="},"kind":"Secret"}
  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:data:
        f:word: {}
    manager: kubectl
    operation: Apply
data:
  word: aHVudGVyMg==
"#;

pub(crate) const AUDIT: &str = include_str!("../../../../core/diagnose/tests/live/audit.log");

pub(crate) fn diagnose() -> Page {
    Page::open_at("#/diagnose", Default::default())
}

pub(crate) fn bring(page: &mut Page, text: &str) {
    page.send(DiagnoseMsg::Bring(text.to_owned()));
    page.finish_work();
}

fn example(example: CaseExample) -> Page {
    let mut page = diagnose();
    page.send(DiagnoseMsg::Example(example));
    page.finish_work();
    page
}

/// The texts of the case.
fn texts(case: &DiagnoseState) -> Vec<&str> {
    case.items.iter().map(|item| &*item.text).collect()
}

/// Returns the reason why the last thing is not recognized.
fn undetected(page: &Page) -> NotDetected {
    let item = page.state.diagnose.items.last().expect("it is in the case");
    item.content.clone().expect_err("it is not recognized")
}

#[test]
fn the_address_opens_the_page() {
    assert_eq!(diagnose().state.page, WayIn::Diagnose);
}

#[test]
fn a_watch_shows_who_fights_over_replicas() {
    let page = example(CaseExample::Watch);
    let section = page.state.diagnose.section;
    assert_eq!(section, CaseSection::Outcome, "in a narrow window");
    let reading = page.state.diagnose.reading().expect("there is an object");
    assert_eq!(reading.case.id.to_string(), "Deployment fight/shop");
    let history = reading.history.as_ref().expect("versions were brought");
    let fight = &history.fights[0];
    assert_eq!(fight.field.to_string(), ".spec.replicas");
    assert_eq!(fight.flips, 6);
    let names: Vec<&str> = fight.managers.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["helm", "web-operator"]);
    assert_eq!(history.times.len(), history.changes.len());
    assert_eq!(history.times[0].as_deref(), Some("2026-11-22T06:05:10Z"));
}

#[test]
fn a_live_object_shows_its_owners_and_a_manifest_belongs_to_it() {
    let page = example(CaseExample::LiveObject);
    let case = &page.state.diagnose;
    // A narrow window shows the answer of an example.
    assert_eq!(case.section, CaseSection::Outcome);
    assert_eq!(case.cases.len(), 1, "both are about one object");
    let reading = case.reading().expect("there is an object");
    assert!(reading.case.manifest.is_some());
    let ownership = reading.ownership.as_ref().expect("it has owners");
    let line = ownership
        .lines
        .iter()
        .find(|line| line.line.pointer == "/spec/replicas");
    let owners = &line.expect("it has replicas").owners;
    let [owner] = owners[..] else {
        panic!("{owners:?} is not one owner")
    };
    let manager = &ownership.managers[owner].manager;
    assert_eq!(manager.name, "kube-controller-manager");
    assert_eq!(manager.subresource, "scale");
}

#[test]
fn a_message_is_read_and_belongs_to_the_object_that_comes_later() {
    let mut page = example(CaseExample::Message);
    assert_eq!(page.state.diagnose.errors().len(), 1);
    let reading = page.state.diagnose.reading().expect("there is a scene");
    assert!(reading.scene.is_some());
    let live = example(CaseExample::LiveObject);
    bring(&mut page, texts(&live.state.diagnose)[0]);
    let reading = page.state.diagnose.reading().expect("there is an object");
    assert_eq!(reading.case.errors.len(), 1);
    assert!(reading.scene.is_none(), "the live object takes its place");
    assert_eq!(page.state.diagnose.cases.len(), 1);
}

#[test]
fn a_message_and_its_manifest_in_one_text_are_both_read() {
    let mut page = diagnose();
    let message = "error: Apply failed with 1 conflict: conflict with \"kubectl-set\" using apps/v1: .spec.replicas\n";
    let manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: prod}\n\
        spec: {replicas: 5}\n";
    bring(&mut page, &format!("{message}\n{manifest}"));
    let case = &page.state.diagnose;
    assert_eq!(texts(case), [&format!("{message}\n"), manifest]);
    let reading = case.reading().expect("the object of the manifest");
    let scene = reading.scene.as_ref().expect("the message is rebuilt");
    assert_eq!(reading.case.id.to_string(), "Deployment prod/web");
    let missing =
        |it: &MissingPart| matches!(it, MissingPart::Name { .. } | MissingPart::Kind { .. });
    assert!(!scene.missing.iter().any(missing), "{:?}", scene.missing);
    let table = page.state.diagnose.table.as_ref().expect("it is run");
    let mut requests = table.rows.iter().flat_map(|row| &row.requests);
    assert!(requests.all(|sent| sent.target.contains("/prod/deployments")));
}

#[test]
fn a_message_and_its_manifest_are_one_object_in_either_order() {
    let message = "Error: UPGRADE FAILED: conflict occurred while applying object shop/web apps/v1, Kind=Deployment: \
        Apply failed with 1 conflict: conflict with \"kube-controller-manager\" with subresource \"scale\" using \
        apps/v1: .spec.replicas\n";
    let manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  \
        replicas: 5\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    \
        spec: {containers: [{name: web, image: \"nginx:1.27\"}]}\n";
    let json = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 5, "selector": {"matchLabels": {"app": "web"}}, "template": {
        "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "nginx:1.27"}]}}}}"#;
    let texts: [&[String]; 5] = [
        &[message.to_owned(), manifest.to_owned()],
        &[manifest.to_owned(), message.to_owned()],
        &[format!("{message}\n{manifest}")],
        &[format!("{manifest}\n{message}")],
        &[format!("{message}\n{json}\n")],
    ];
    for texts in texts {
        let mut page = diagnose();
        texts.iter().for_each(|text| bring(&mut page, text));
        page.finish_work();
        let case = &page.state.diagnose;
        assert_eq!(case.cases.len(), 1, "{texts:?}");
        let reading = case.reading().expect("the object");
        let manifest = reading.case.manifest.as_ref().expect("its manifest");
        assert_eq!(manifest["spec"]["replicas"], 5, "{texts:?}");
        let outs = case.table.as_ref().and_then(|table| table.remedies.clone());
        let outs = outs.expect("ways out");
        let mut of_leave_out = outs.iter().filter(|it| it.out.kind == RemedyKind::LeaveOut);
        let out = of_leave_out.next().expect("a way out");
        assert!(out.instructions[0].text.contains("replicas: 5"), "{out:?}");
        assert!(!out.manifest.contains("replicas"), "{}", out.manifest);
    }
}

#[test]
fn a_message_and_the_live_object_lead_to_ways_out_on_that_object() {
    let mut page = example(CaseExample::LiveObject);
    let manifest = page.state.diagnose.items[1].id;
    page.send(DiagnoseMsg::Remove(manifest));
    page.finish_work();
    assert!(
        page.state.diagnose.table.is_none(),
        "nothing is to be written"
    );
    let message = "Error: UPGRADE FAILED: conflict occurred while applying object live/web apps/v1, \
                   Kind=Deployment: Apply failed with 1 conflict: conflict with \
                   \"kube-controller-manager\" with subresource \"scale\" using apps/v1: .spec.replicas";
    page.send(DiagnoseMsg::Bring(message.to_owned()));
    page.finish_work();
    let case = &page.state.diagnose;
    assert!(case.reading().is_some_and(|it| it.scene.is_none()));
    let table = case.table.as_ref().expect("there is a table");
    assert!(table.made_up);
    assert_eq!(table.rows[0].code, Some(409));
    let outs = table.remedies.iter().flatten();
    let settling: Vec<RemedyKind> = outs
        .filter(|it| it.out.settles)
        .map(|it| it.out.kind)
        .collect();
    assert_eq!(settling, [RemedyKind::LeaveOut]);
}

#[test]
fn a_message_alone_leads_to_a_command_that_settles_the_conflict() {
    let page = example(CaseExample::Message);
    let case = &page.state.diagnose;
    assert_eq!(case.client(), Preset::Helm4);
    let table = case.table.as_ref().expect("there is a table");
    let outs = table.remedies.as_ref().expect("they are run");
    let settling = outs.iter().filter(|it| it.out.settles);
    let kinds: Vec<RemedyKind> = settling.clone().map(|it| it.out.kind).collect();
    assert_eq!(kinds, [RemedyKind::LeaveOut]);
    for settled in settling {
        assert_eq!(settled.manifest, "");
        // With kubectl, the release record of Helm would keep the old manifest.
        let kubectl = |one: &Instruction| one.text.contains("kubectl");
        assert!(
            !settled.instructions.iter().any(kubectl),
            "{:?}",
            settled.instructions
        );
        let helm = settled
            .instructions
            .iter()
            .any(|one| one.text.starts_with("helm upgrade RELEASE CHART -n ") && !one.has_values);
        assert!(helm, "{:?}", settled.instructions);
    }
    for row in &table.rows {
        let values = table.instructions(row.way).iter().any(|one| one.has_values);
        assert!(!values, "{:?}", row.way);
    }
    let force = outs.iter().find(|it| it.out.kind == RemedyKind::Force);
    assert!(
        !force.expect("it is run").out.settles,
        "the HPA writes again"
    );
}

#[test]
fn a_name_that_no_message_says_is_a_placeholder_in_the_title_and_in_the_object() {
    let page = example(CaseExample::Modified);
    let reading = page
        .state
        .diagnose
        .reading()
        .expect("the object of the message");
    assert!(reading.title().to_string().contains("NAMESPACE/"));
    let ownership = reading.ownership.as_ref().expect("its lines");
    let mut lines = ownership.lines.iter().map(|line| &line.line);
    let line = lines.find(|line| line.pointer == "/metadata/namespace");
    let value = line
        .and_then(|line| line.value.as_ref())
        .expect("it is shown");
    assert_eq!(value.text, "NAMESPACE");
}

#[test]
fn a_scene_steps_through_the_message_letter_for_letter() {
    let mut page = example(CaseExample::Message);
    let printed = texts(&page.state.diagnose)[0].to_owned();
    page.send(DiagnoseMsg::StepScene);
    let tree = &page.state.session.tree;
    let step = tree.step(tree.current()).expect("there is a step");
    let exchange = step.exchange.as_ref().expect("a request was sent");
    let message = exchange.received["message"].as_str().unwrap_or_default();
    assert!(printed.contains(message), "{message}");
}

#[test]
fn what_a_message_does_not_say_can_be_filled_in_and_outlives_a_reload() {
    let mut page = diagnose();
    bring(
        &mut page,
        "error: Apply failed with 1 conflict: conflict with \"kubectl\" with subresource \"scale\" \
         using apps/v1: .spec.replicas\nPlease review the fields above",
    );
    let missing = |page: &Page| {
        let reading = page.state.diagnose.reading().expect("there is a scene");
        reading.scene.as_ref().expect("it is one").missing.clone()
    };
    let asks = |page: &Page| {
        let all = missing(page);
        all.iter().any(|it| matches!(it, MissingPart::Name { .. }))
    };
    assert!(asks(&page));
    page.send(DiagnoseMsg::Given(GivenParts {
        kind: Some("StatefulSet".to_owned()),
        name: Some("db".to_owned()),
        ..GivenParts::default()
    }));
    page.finish_work();
    assert!(!asks(&page));
    let page = page.reload("#/diagnose");
    assert!(!asks(&page));
    let reading = page.state.diagnose.reading().expect("there is a scene");
    assert_eq!(reading.case.id.kind, "StatefulSet");
    assert_eq!(reading.case.id.name, "db");
}

#[test]
fn an_error_of_kubectl_itself_has_no_scene_and_says_so() {
    let mut page = diagnose();
    bring(&mut page, "error: Expected replicas to be 9, was 3\n");
    let why: Vec<&NoScene> = page
        .state
        .diagnose
        .without_scene
        .iter()
        .map(|it| &it.1)
        .collect();
    assert_eq!(why, [&NoScene::NotOfTheServer]);
}

#[test]
fn a_reload_keeps_the_case() {
    let mut page = example(CaseExample::LiveObject);
    bring(&mut page, "What is this?");
    let before: Vec<String> = texts(&page.state.diagnose)
        .into_iter()
        .map(str::to_owned)
        .collect();
    assert_eq!(before.len(), 3);
    let page = page.reload("#/diagnose");
    assert_eq!(texts(&page.state.diagnose), before);
    assert!(page.state.diagnose.reading().is_some());
    // It is kept also when another page is opened first.
    let mut page = page.reload("#/play");
    assert!(page.state.diagnose.items.is_empty());
    page.send(optimist_state::Msg::Address("#/diagnose".to_owned()));
    page.finish_work();
    assert_eq!(texts(&page.state.diagnose), before);
}

#[test]
fn the_release_that_an_object_was_in_is_known_after_a_reload() {
    let manifest = |name: &str| CONFIG.replace("name: web", &format!("name: {name}"));
    let live = manifest("gone").replace(
        "name: gone",
        "name: gone\n  namespace: default\n  uid: u\n  annotations: {meta.helm.sh/release-name: r, \
         meta.helm.sh/release-namespace: default}\n  labels: {app.kubernetes.io/managed-by: Helm}",
    );
    let release = |names: [&str; 2]| names.map(manifest).join("---\n");
    let mut page = diagnose();
    bring(&mut page, &live);
    bring(&mut page, &release(["gone", "kept"]));
    bring(&mut page, &release(["kept", "new"]));
    page.send(DiagnoseMsg::Client(Preset::Helm3));
    page.finish_work();
    let outcome = |page: &Page| {
        let preview = page.state.diagnose.preview.as_ref().expect("a preview");
        let mut rows = preview.rows();
        let row = rows.find(|row| row.object.name == "gone");
        row.expect("it is there").outcome
    };
    assert_eq!(outcome(&page), PreviewOutcome::Deleted);
    assert_eq!(page.state.diagnose.items.len(), 5);
    let page = page.reload("#/diagnose");
    assert_eq!(page.state.diagnose.items.len(), 5);
    assert_eq!(outcome(&page), PreviewOutcome::Deleted);
}

#[test]
fn a_text_that_is_not_recognized_is_typed_again() {
    let mut page = diagnose();
    let table = "NAME   READY   AGE\nweb    1/1     5d\n";
    bring(&mut page, table);
    let item = page.state.diagnose.items[0].id;
    page.send(DiagnoseMsg::Correct(item));
    assert_eq!(page.state.diagnose.draft, table);
    assert!(page.state.diagnose.items.is_empty());
}

#[test]
fn reading_goes_on_in_slices_and_what_is_known_stays_when_it_is_stopped() {
    let mut page = diagnose();
    bring(&mut page, CONFIG);
    let known = page.state.diagnose.items[0].id;
    let event = format!(
        "{}\n",
        include_str!("../../../../core/diagnose/tests/fight.json").trim()
    );
    page.send(DiagnoseMsg::Bring(event.repeat(8)));
    page.work();
    assert!(
        page.state.diagnose.is_reading(),
        "it takes more than a slice"
    );
    assert!(page.state.percent_read() < 100);
    page.send(DiagnoseMsg::Draft("typed".to_owned()));
    page.send(DiagnoseMsg::CancelReading);
    assert!(!page.state.diagnose.is_reading());
    let items: Vec<u32> = page.state.diagnose.items.iter().map(|it| it.id).collect();
    assert_eq!(items, [known]);
    assert_eq!(page.state.diagnose.draft, "typed");
    bring(&mut page, &event);
    let watched = page
        .state
        .diagnose
        .cases
        .last()
        .expect("there is an object");
    let history = watched.history.as_ref().expect("it is a watch");
    assert_eq!(history.versions.len(), 8);
    assert!(!history.fights.is_empty());
}

#[test]
fn what_is_removed_is_not_kept() {
    let mut page = example(CaseExample::LiveObject);
    let first = page.state.diagnose.items[0].id;
    page.send(DiagnoseMsg::Remove(first));
    page.finish_work();
    assert_eq!(page.state.diagnose.items.len(), 1);
    let reading = page.state.diagnose.reading().expect("the manifest is left");
    assert!(reading.case.live.is_none());
    page.send(DiagnoseMsg::Clear);
    assert!(page.state.diagnose.items.is_empty());
    assert_eq!(page.keys(StorageArea::Tab, CASE), [""; 0]);
}

#[test]
fn values_of_a_secret_are_masked_wherever_they_are_shown() {
    let mut page = diagnose();
    bring(&mut page, SECRET);
    let reading = page.state.diagnose.reading().expect("there is an object");
    let ownership = reading.ownership.as_ref().expect("it has owners");
    let text = ownership.to_text();
    assert!(text.contains("word:"), "{text}");
    assert!(!text.contains("aHVudGVyMg"), "{text}");
    // Two versions: the change is seen, its values are not.
    let second = SECRET
        .replace("\"7\"", "\"8\"")
        .replace("aHVudGVyMg==", "aHVudGVyMw==");
    page.send(DiagnoseMsg::Clear);
    bring(&mut page, &format!("{SECRET}---{second}"));
    let reading = page.state.diagnose.reading().expect("there is an object");
    let history = reading.history.as_ref().expect("there are versions");
    let change = history
        .changes
        .iter()
        .find(|change| change.field.to_string() == ".data.word");
    let change = change.expect("the change is seen");
    assert_eq!(change.before, change.after);
    assert!(!format!("{:?}", history.changes).contains("aHVudGVyM"));
}

#[test]
fn commands_have_no_values_of_a_secret() {
    let mut page = diagnose();
    bring(&mut page, SECRET);
    let manifest = "apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: live}\n\
                    data: {word: bmV3d29yZA==}\n";
    bring(&mut page, manifest);
    let table = page
        .state
        .diagnose
        .table
        .as_ref()
        .expect("there is a table");
    assert!(table.rows.len() > 15);
    let said = table
        .rows
        .iter()
        .flat_map(|row| table.instructions(row.way));
    let said: String = said.map(|one| one.text.as_str()).collect();
    assert!(said.contains("-f MANIFEST.yaml"), "{said}");
    for value in ["bmV3d29yZA", "aHVudGVyM"] {
        assert!(!said.contains(value), "{said}");
    }
}

#[test]
fn a_text_that_is_not_recognized_stays_and_says_why() {
    let deep = "[".repeat(100_000);
    let wide = "<script>alert(1)</script>".repeat(45_000);
    for (text, why) in [
        (
            "hello world",
            NotDetected::Missing {
                document: 1,
                fields: vec!["apiVersion", "kind", "metadata.name"],
            },
        ),
        (
            wide.as_str(),
            NotDetected::Form {
                form: TextForm::Markup,
                line: 1,
            },
        ),
        (
            "apiVersion: v1\nkind: Pod\n",
            NotDetected::Missing {
                document: 1,
                fields: vec!["metadata.name"],
            },
        ),
    ] {
        let mut page = diagnose();
        bring(&mut page, text);
        assert_eq!(undetected(&page), why);
        assert_eq!(&*page.state.diagnose.items[0].text, text);
    }
    let mut page = diagnose();
    bring(&mut page, &deep);
    undetected(&page);
    bring(&mut page, &format!("{{\"a\":{deep}"));
    undetected(&page);
}

#[test]
fn a_file_is_read_in_the_encodings_that_terminals_write() {
    let mut page = diagnose();
    let utf16: Vec<u8> = [0xfeff]
        .into_iter()
        .chain(CONFIG.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    page.send(DiagnoseMsg::File(utf16));
    page.finish_work();
    let content = &page.state.diagnose.items[0].content;
    assert!(matches!(content, Ok(Input::Manifest(_))), "{content:?}");
    // What was read stays readable after a reload.
    let mut page = page.reload("#/diagnose");
    let content = &page.state.diagnose.items[0].content;
    assert!(matches!(content, Ok(Input::Manifest(_))), "{content:?}");
    page.send(DiagnoseMsg::File(vec![b'k', 0xff, 0xfe, b'x']));
    page.finish_work();
    assert!(matches!(undetected(&page), NotDetected::NotText(_)));
}

#[test]
fn a_case_has_an_end() {
    let mut page = diagnose();
    for number in 0..MAX_ITEMS {
        bring(&mut page, &CONFIG.replace("web", &format!("web-{number}")));
    }
    assert_eq!(page.state.diagnose.problem, None);
    bring(&mut page, CONFIG);
    assert_eq!(page.state.diagnose.items.len(), MAX_ITEMS);
    assert_eq!(page.state.diagnose.problem, Some(BringProblem::TooMany));
}

#[test]
fn a_case_that_is_too_large_to_keep_says_so() {
    let mut page = diagnose();
    bring(&mut page, &"x".repeat(2_500_000));
    assert_eq!(page.state.diagnose.kept, CaseKeeping::TooLarge);
    assert_eq!(page.keys(StorageArea::Tab, CASE), [""; 0]);
}

#[test]
fn a_case_that_the_browser_does_not_keep_says_so_until_it_does() {
    let mut page = diagnose();
    page.browser.tab_full.set(true);
    bring(&mut page, CONFIG);
    assert_eq!(page.state.diagnose.kept, CaseKeeping::Refused);
    page.browser.tab_full.set(false);
    bring(&mut page, &CONFIG.replace("web", "other"));
    assert_eq!(page.state.diagnose.kept, CaseKeeping::Kept);
    assert!(page.keys(StorageArea::Tab, CASE).contains(&CASE.to_owned()));
}

/// The effects of a way on a field.
fn effect(page: &Page, way: Way, field: &str) -> Option<FieldEffect> {
    let table = page
        .state
        .diagnose
        .table
        .as_ref()
        .expect("there is a table");
    let row = table.rows.iter().find(|row| row.way == way)?;
    let outcome = row.fields.iter().find(|it| it.field.to_string() == field);
    outcome.map(|outcome| outcome.effect)
}

#[test]
fn a_helm_upgrade_shows_what_it_takes_from_the_autoscaler() {
    let page = example(CaseExample::LiveObject);
    let case = &page.state.diagnose;
    assert_eq!(case.client(), Preset::Helm4, "helm has written the object");
    let usual = Way::Client(Preset::Helm4, OnOwned::Usual);
    let force = Way::Client(Preset::Helm4, OnOwned::Force);
    let replicas = ".spec.replicas";
    assert_eq!(effect(&page, usual, replicas), Some(FieldEffect::Refused));
    assert_eq!(effect(&page, force, replicas), Some(FieldEffect::TakenOver));
    let table = case.table.as_ref().expect("there is a table");
    assert_eq!(table.progress(), None);
    let columns: Vec<String> = table.columns().iter().map(ToString::to_string).collect();
    let image = ".spec.template.spec.containers[name=\"nginx\"].image";
    assert_eq!(columns, [replicas, image]);
    assert_eq!(
        *case.contested,
        [
            "/spec/replicas".to_owned(),
            "/spec/template/spec/containers/0/image".to_owned()
        ]
    );
}

#[test]
fn a_list_item_that_goes_has_a_column_as_a_change_has() {
    let container =
        |name: &str, image: &str| format!("\n      - {{name: {name}, image: \"{image}\"}}");
    let owned = |name: &str| {
        format!(
            "\"k:{{\\\"name\\\":\\\"{name}\\\"}}\": {{\".\": {{}}, \"f:name\": {{}}, \"f:image\": {{}}}}"
        )
    };
    let spec = |containers: &str, replicas: u32| {
        format!(
            "spec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: \
             {{labels: {{app: web}}}}\n    spec:\n      containers:{containers}\n"
        )
    };
    let head = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: shop\n";
    let both = container("web", "nginx:1") + &container("sidecar", "proxy:1");
    let live = format!(
        "{head}  uid: \"1\"\n  resourceVersion: \"5\"\n  managedFields:\n  - {{manager: helm, operation: Apply, \
         apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {{\"f:spec\": {{\"f:replicas\": {{}}, \"f:template\": \
         {{\"f:spec\": {{\"f:containers\": {{{}, {}}}}}}}}}}}}}\n{}",
        owned("web"),
        owned("sidecar"),
        spec(&both, 2)
    );
    let next = format!("{head}{}", spec(&container("web", "nginx:2"), 3));
    let mut page = diagnose();
    bring(&mut page, &live);
    bring(&mut page, &next);
    page.finish_work();
    let table = page.state.diagnose.table.as_ref().expect("it is run");
    let printed = |paths: Vec<optimist_apiserver::apply::Path>| -> Vec<String> {
        paths.iter().map(ToString::to_string).collect()
    };
    let (columns, more) = (
        printed(table.columns()),
        printed(table.fields_without_column()),
    );
    let all = [columns.clone(), more].concat();
    let item = ".spec.template.spec.containers[name=\"sidecar\"]".to_owned();
    assert_eq!((columns.len(), all.len()), (2, 3), "{all:?}");
    assert!(all.contains(&item), "{all:?}");
}

#[test]
fn a_value_that_goes_back_to_its_default_has_a_column() {
    let head = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: web\n  namespace: shop\n";
    let spec = |more: &str| {
        let target = "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}";
        format!("spec:\n  {target}\n{more}")
    };
    let cpu = |target: u32| {
        let target = format!("target: {{type: Utilization, averageUtilization: {target}}}");
        format!("  metrics: [{{type: Resource, resource: {{name: cpu, {target}}}}}]\n")
    };
    let owned = "{\"f:spec\": {\"f:maxReplicas\": {}, \"f:minReplicas\": {}, \"f:metrics\": {}}}";
    let live = format!(
        "{head}  uid: \"1\"\n  resourceVersion: \"5\"\n  managedFields:\n  - {{manager: kubectl, operation: Apply, \
         apiVersion: autoscaling/v2, fieldsType: FieldsV1, fieldsV1: {owned}}}\n{}{}",
        spec("  minReplicas: 2\n  maxReplicas: 10\n"),
        cpu(80)
    );
    let mut page = diagnose();
    bring(&mut page, &live);
    bring(
        &mut page,
        &format!("{head}{}{}", spec("  maxReplicas: 12\n"), cpu(70)),
    );
    page.finish_work();
    let table = page.state.diagnose.table.as_ref().expect("it is run");
    let columns: Vec<String> = table.columns().iter().map(ToString::to_string).collect();
    assert_eq!(
        columns.first().map(String::as_str),
        Some(".spec.minReplicas"),
        "{columns:?}"
    );
}

#[test]
fn a_preview_says_of_every_object_of_an_upgrade_what_becomes_of_it() {
    let mut page = example(CaseExample::Release);
    let outcomes = |page: &Page| -> Vec<(String, PreviewOutcome)> {
        let preview = page.state.diagnose.preview.as_ref().expect("a preview");
        assert_eq!(page.state.preview_progress(), None);
        let rows = preview.rows();
        rows.map(|row| {
            (
                format!("{} {}", row.object.kind, row.object.name),
                row.outcome,
            )
        })
        .collect()
    };
    let row = |name: &str, outcome| (name.to_owned(), outcome);
    let deployment = row("Deployment web", PreviewOutcome::Conflict);
    let flags = row("ConfigMap flags", PreviewOutcome::Conflict);
    let autoscaler = row("HorizontalPodAutoscaler web", PreviewOutcome::Created);
    let found = outcomes(&page);
    for expected in [&deployment, &flags, &autoscaler] {
        assert!(found.contains(expected), "{found:?}");
    }
    assert_eq!(found.len(), 4, "{found:?}");
    assert_eq!(
        found[0].1,
        PreviewOutcome::Conflict,
        "the worst comes first"
    );
    let worst = page
        .state
        .diagnose
        .reading()
        .expect("an object is looked at");
    assert!(found[0].0.ends_with(&worst.case.id.name), "{found:?}");
    page.send(DiagnoseMsg::PreviewOf(Some(PreviewFilter::Outcome(
        PreviewOutcome::Created,
    ))));
    assert_eq!(outcomes(&page), [autoscaler]);
    page.send(DiagnoseMsg::PreviewOf(Some(PreviewFilter::Trouble(
        Trouble::Refused,
    ))));
    let refused = found.iter().filter(|(_, it)| it.is_refusal()).count();
    assert_eq!(outcomes(&page).len(), refused);
    page.send(DiagnoseMsg::Client(Preset::Helm3));
    page.finish_work();
    let found = outcomes(&page);
    assert!(
        found
            .iter()
            .all(|(_, outcome)| *outcome != PreviewOutcome::Conflict),
        "Helm 3 patches, and a patch takes what others own: {found:?}"
    );
    assert_eq!(page.state.diagnose.client_without_preview(), None);
    page.send(DiagnoseMsg::Client(Preset::Update));
    page.finish_work();
    let case = &page.state.diagnose;
    assert!(case.preview.is_none());
    assert_eq!(case.client_without_preview(), Some(Preset::Update));
}

#[test]
fn several_objects_are_written_by_one_tool_whichever_is_selected() {
    let object = |kind: &str, manager: &str, operation: &str, content: &str| {
        format!(
            "apiVersion: {kind}\nmetadata:\n  name: web\n  namespace: shop\n  uid: \"{manager}\"\n  \
             resourceVersion: \"5\"\n  managedFields:\n  - {{manager: {manager}, operation: {operation}, \
             apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {{\"f:{content}\": {{\"f:a\": {{}}}}}}}}\n{content}: {{a: \"1\"}}\n"
        )
    };
    let manifest = |kind: &str, content: &str| {
        format!(
            "apiVersion: {kind}\nmetadata: {{name: web, namespace: shop}}\n{content}: {{a: \"2\"}}\n"
        )
    };
    let texts = [
        object("v1\nkind: ConfigMap", "kubectl-edit", "Update", "data"),
        object("v1\nkind: Secret", "helm", "Apply", "stringData"),
        manifest("v1\nkind: ConfigMap", "data"),
        manifest("v1\nkind: Secret", "stringData"),
    ];
    let mut page = diagnose();
    bring(&mut page, &texts.join("---\n"));
    page.finish_work();
    for at in [1, 0, 1] {
        page.send(DiagnoseMsg::Choose(at));
        page.finish_work();
        let case = &page.state.diagnose;
        assert_eq!(case.cases.len(), 2);
        assert_eq!(case.client(), Preset::Helm4, "{at}");
        let preview = case.preview.as_ref().expect("a preview");
        assert_eq!(preview.tool, Preset::Helm4, "{at}");
        let table = case.table.as_ref().expect("a table");
        assert_eq!(table.client, Preset::Helm4, "{at}");
    }
}

#[test]
fn a_preview_has_one_row_for_each_definition_that_was_brought() {
    let mut page = diagnose();
    for (kind, plural) in [("Widget", "widgets"), ("Gadget", "gadgets")] {
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.demo.example.com")},
            "spec": {
                "group": "demo.example.com", "scope": "Namespaced",
                "names": {"plural": plural, "kind": kind},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema":
                    {"openAPIV3Schema": {"type": "object",
                        "x-kubernetes-preserve-unknown-fields": true}}}],
            },
        });
        bring(&mut page, &definition.to_string());
        let manifest = json!({"apiVersion": "demo.example.com/v1", "kind": kind,
            "metadata": {"name": "web", "namespace": "live"}, "spec": {"size": 1}});
        bring(&mut page, &manifest.to_string());
    }
    let preview = page.state.diagnose.preview.as_ref().expect("a preview");
    let rows: Vec<(&str, &str)> = preview
        .rows()
        .map(|row| (row.object.kind.as_str(), row.object.name.as_str()))
        .collect();
    let different: BTreeSet<_> = rows.iter().collect();
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert_eq!(different.len(), 4, "{rows:?}");
    for row in preview.rows() {
        let case = case_of(row, &page.state.diagnose.cases);
        assert_eq!(case.is_some(), row.object.name == "web", "{row:?}");
        // The tool writes the definition too. kubectl looks for the kinds before it writes one.
        let expected = match row.object.name.as_str() {
            "web" => PreviewOutcome::Refused,
            _ => PreviewOutcome::Created,
        };
        assert_eq!(row.outcome, expected, "{row:?}");
    }
}

#[test]
fn manifests_without_a_name_are_objects_of_their_own_and_have_rows() {
    let mut page = diagnose();
    let manifest = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {name: "migrate-", "namespace": "live"}});
    bring(&mut page, &manifest("generateName").to_string());
    assert_eq!(page.state.diagnose.cases.len(), 1);
    bring(&mut page, &manifest("generateName").to_string());
    bring(&mut page, &manifest("name").to_string());
    let preview = page.state.diagnose.preview.as_ref().expect("a preview");
    let mut names: Vec<&str> = preview.rows().map(|row| &*row.object.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["migrate-", "migrate-*", "migrate-*"]);
}

#[test]
fn one_object_alone_has_no_preview() {
    let page = example(CaseExample::LiveObject);
    assert!(page.state.diagnose.preview.is_none());
}

#[test]
fn a_way_of_writing_opens_in_play_at_its_answer() {
    let mut page = example(CaseExample::LiveObject);
    page.send(DiagnoseMsg::Step(Way::Client(
        Preset::Helm4,
        OnOwned::Usual,
    )));
    let tree = &page.state.session.tree;
    let step = tree.step(tree.current()).expect("there is a step");
    let exchange = step.exchange.as_ref().expect("a request was sent");
    assert_eq!(exchange.code, 409);
    let message = exchange.received["message"].as_str().unwrap_or_default();
    assert!(
        message.starts_with("Apply failed with 2 conflicts"),
        "{message}"
    );
    assert_eq!(
        page.browser.addresses.borrow().last().map(String::as_str),
        Some("#/play")
    );
    // The case stays.
    assert_eq!(page.state.diagnose.items.len(), 2);
}

#[test]
fn another_client_and_its_manager_run_the_table_again_and_outlive_a_reload() {
    let mut page = example(CaseExample::LiveObject);
    page.send(DiagnoseMsg::Client(Preset::KubectlApplyServerSide));
    page.send(DiagnoseMsg::Manager("helm".to_owned()));
    page.finish_work();
    let way = Way::Client(Preset::KubectlApplyServerSide, OnOwned::Usual);
    // helm owns the label, so it is changed and not refused.
    let chart = ".metadata.labels.helm.sh/chart";
    assert_eq!(effect(&page, way, chart), Some(FieldEffect::Kept));
    let force = Way::Client(Preset::KubectlApplyServerSide, OnOwned::Force);
    assert_eq!(effect(&page, force, chart), Some(FieldEffect::Changed));
    let page = page.reload("#/diagnose");
    assert_eq!(page.state.diagnose.client(), Preset::KubectlApplyServerSide);
    assert_eq!(page.state.diagnose.manager, "helm");
    assert_eq!(effect(&page, force, chart), Some(FieldEffect::Changed));
}

#[test]
fn the_table_can_be_cancelled() {
    let mut page = diagnose();
    page.send(DiagnoseMsg::Example(CaseExample::LiveObject));
    while page.state.diagnose.is_reading() {
        page.work();
    }
    let table = page.state.diagnose.table.as_ref();
    assert!(table.is_some_and(|table| table.progress().is_some()));
    page.send(DiagnoseMsg::CancelTable);
    assert!(!page.state.is_working());
}

/// The link to the case, as the share dialog gives it at first.
fn link(page: &mut Page) -> String {
    page.send(ViewMsg::Dialog(Some(Dialog::Share)));
    page.finish_work();
    assert_eq!(page.state.share.withheld, Withheld::Private);
    let text = page
        .state
        .shared_text()
        .expect("it is known what is left out");
    session_fragment(WayIn::Diagnose, &text)
}

#[test]
fn a_link_brings_the_case_and_the_own_one_can_be_returned_to() {
    let mut page = example(CaseExample::LiveObject);
    page.send(DiagnoseMsg::Client(Preset::Flux));
    let link = link(&mut page);
    let mut other = example(CaseExample::Watch);
    let own = texts(&other.state.diagnose)[0].to_owned();
    other.send(optimist_state::Msg::Address(link));
    other.finish_work();
    assert_eq!(other.state.page, WayIn::Diagnose);
    assert_eq!(other.state.diagnose.client(), Preset::Flux);
    assert_eq!(
        texts(&other.state.diagnose),
        texts(&page.state.diagnose),
        "nothing in it looks private"
    );
    // After a reload the own case is still there.
    let mut other = other.reload("#/diagnose");
    assert!(other.state.diagnose.has_earlier());
    other.send(DiagnoseMsg::Return);
    other.finish_work();
    assert_eq!(texts(&other.state.diagnose), [own]);
    assert!(!other.state.diagnose.has_earlier());
}

#[test]
fn a_link_has_no_private_values_until_people_ask_for_them() {
    let mut page = diagnose();
    bring(&mut page, SECRET);
    let link = link(&mut page);
    let other = Page::open_at(&link, Default::default());
    let texts = texts(&other.state.diagnose).join("");
    assert!(texts.contains("word:"), "{texts}");
    assert!(!texts.contains("aHVudGVyMg"), "{texts}");
    assert!(other.state.diagnose.reading().is_some());
    page.send(ShareMsg::Withhold(Withheld::Nothing));
    assert!(page.state.shared().extra.to_string().contains("aHVudGVyMg"));
}

#[test]
fn an_audit_log_is_replayed_with_every_answer_predicted_and_shows_the_fight() {
    let mut page = diagnose();
    bring(&mut page, AUDIT);
    let run = page.state.diagnose.audit.as_ref().expect("there is a log");
    assert!(!run.is_running() && run.job().is_none());
    let replay = run.replay.as_ref().expect("it is replayed");
    let (same, other, not_run) = replay.history.counts();
    assert_eq!((other, not_run), (0, 0));
    assert_eq!(same, replay.history.steps.len());
    let fight = &replay.findings.fights[0];
    assert_eq!(fight.field.to_string(), ".spec.replicas");
    assert_eq!(fight.flips, 6);
    // Who owns what at the end of the log is shown too.
    let reading = page.state.diagnose.reading().expect("there is an object");
    assert_eq!(reading.case.id.to_string(), "Deployment fight/shop");
    assert!(reading.ownership.is_some());
    let item = page.state.diagnose.items[0].id;
    page.send(DiagnoseMsg::Remove(item));
    assert!(page.state.diagnose.audit.is_none());
    assert!(page.state.diagnose.reading().is_none());
}

#[test]
fn a_program_without_a_page_replays_a_log_too() {
    let case = diagnosed([AUDIT.to_owned()]);
    let mut page = diagnose();
    bring(&mut page, AUDIT);
    let steps = |case: &DiagnoseState| {
        let run = case.audit.as_ref().expect("there is a log");
        run.replay.as_ref().map(|replay| replay.history.steps.len())
    };
    assert!(steps(&case).is_some());
    assert_eq!(steps(&case), steps(&page.state.diagnose));
    assert!(case.reading().is_some_and(|it| it.ownership.is_some()));
}

#[test]
fn a_large_audit_log_is_read_in_slices_and_can_be_cancelled() {
    let mut page = diagnose();
    let long = AUDIT.repeat(40);
    assert!(long.len() > 1_500_000);
    page.send(DiagnoseMsg::Bring(long));
    let reads = |page: &Page| {
        let run = page.state.diagnose.audit.as_ref();
        let job = run.filter(|run| run.is_running())?.job()?;
        page.state.jobs.progress(job)
    };
    while reads(&page).is_none() {
        page.work();
    }
    page.work();
    let (done, all) = reads(&page).expect("one slice is not enough");
    assert!(done < all, "{done} of {all}");
    page.send(DiagnoseMsg::CancelAudit);
    assert!(!page.state.is_working());
    // Whoever looks at it again reads it from its beginning.
    assert_eq!(reads(&page), None);
}

/// The codes of all ways of writing.
fn codes(page: &Page) -> Vec<(Way, Option<u16>)> {
    let table = page
        .state
        .diagnose
        .table
        .as_ref()
        .expect("there is a table");
    table.rows.iter().map(|row| (row.way, row.code)).collect()
}

#[test]
fn a_link_without_values_gives_the_same_answers_and_says_what_stays() {
    let mut page = example(CaseExample::LiveObject);
    page.send(ViewMsg::Dialog(Some(Dialog::Share)));
    page.finish_work();
    page.send(ShareMsg::Withhold(Withheld::Values));
    assert!(page.state.share.redacted.is_none());
    assert!(page.state.is_working());
    page.finish_work();
    let Some(ValuesLeftOut::Found(shared)) = page.state.share.values.clone() else {
        panic!("{:?}", page.state.share.values)
    };
    let CaseLeftOut::Values(found) = &shared.found else {
        panic!("{:?}", shared.found)
    };
    assert!(found.left_out > 5, "{}", found.left_out);
    let link = session_fragment(WayIn::Diagnose, &shared.text);
    let other = Page::open_at(&link, Default::default());
    assert_eq!(codes(&other), codes(&page));
    assert_eq!(other.state.diagnose.client(), page.state.diagnose.client());
    assert_eq!(other.state.diagnose.withheld, Withheld::Values);
    assert_eq!(page.state.diagnose.withheld, Withheld::Nothing);
    let input = texts(&other.state.diagnose).join("");
    for value in ["nginx:1.28", "nginx:1.29", "web-1.2.3", "LOG_LEVEL: info"] {
        assert!(!input.contains(value), "{value}\n{input}");
    }
    assert!(input.contains("kube-controller-manager"));
    // The case that the Markdown is of has run too.
    let written = |page: &Page| match &page.state.share.report {
        Some(CaseReport::Done(text)) => text.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(written(&page), report(&other.state.diagnose, true));
    page.send(ShareMsg::Withhold(Withheld::Nothing));
    assert!(page.state.share.values.is_none());
    assert!(page.state.shared().extra.to_string().contains("nginx:1.28"));
    page.finish_work();
    assert_eq!(written(&page), report(&page.state.diagnose, false));
}

#[test]
fn the_case_stays_as_it_is_while_it_is_shared_without_values() {
    let mut page = example(CaseExample::Message);
    let before = texts(&page.state.diagnose).join("");
    page.send(ViewMsg::Dialog(Some(Dialog::Share)));
    page.send(ShareMsg::Withhold(Withheld::Values));
    page.finish_work();
    assert_eq!(texts(&page.state.diagnose).join(""), before);
    page.send(ViewMsg::Dialog(None));
    assert!(page.state.share.values.is_none());
}

#[test]
fn a_case_that_is_too_large_says_that_its_values_stay() {
    let mut page = diagnose();
    bring(&mut page, &AUDIT.repeat(40));
    page.send(ViewMsg::Dialog(Some(Dialog::Share)));
    page.send(ShareMsg::Withhold(Withheld::Values));
    let values = &page.state.share.values;
    assert!(
        matches!(values, Some(ValuesLeftOut::TooLarge(1_000_000))),
        "{values:?}"
    );
    assert!(!page.state.is_working(), "no work is begun");
    page.send(ShareMsg::Withhold(Withheld::Private));
    assert!(
        page.state.shared_text().is_none(),
        "it is not looked through yet"
    );
    page.finish_work();
    assert!(matches!(
        &page.state.share.values,
        Some(ValuesLeftOut::Found(_))
    ));
}

#[test]
fn what_no_link_can_carry_is_not_looked_through() {
    let mut page = diagnose();
    page.send(DiagnoseMsg::Bring("x".repeat(16_000_001)));
    page.send(ViewMsg::Dialog(Some(Dialog::Share)));
    let values = &page.state.share.values;
    assert!(
        matches!(values, Some(ValuesLeftOut::TooLarge(16_000_000))),
        "{values:?}"
    );
    assert!(page.state.shared_text().is_none());
}

#[test]
fn what_is_not_recognized_is_shared_only_if_people_ask_for_it() {
    let mut page = diagnose();
    bring(&mut page, "Remember: the word is swordfish.");
    bring(&mut page, SECRET);
    let link = link(&mut page);
    let Some(ValuesLeftOut::Found(shared)) = page.state.share.values.clone() else {
        panic!("{:?}", page.state.share.values)
    };
    let CaseLeftOut::Private(found) = &shared.found else {
        panic!("{:?}", shared.found)
    };
    assert_eq!(found.undetected, 1);
    let other = Page::open_at(&link, Default::default());
    assert_eq!(texts(&other.state.diagnose).len(), 1);
    assert_eq!(other.state.diagnose.withheld, Withheld::Private);
    page.send(ShareMsg::Withhold(Withheld::Nothing));
    let text = page.state.shared_text().unwrap();
    let link = session_fragment(WayIn::Diagnose, &text);
    let other = Page::open_at(&link, Default::default());
    assert_eq!(texts(&other.state.diagnose).len(), 2);
}

#[test]
fn a_text_that_is_not_finished_outlives_a_reload() {
    let mut page = diagnose();
    page.send(DiagnoseMsg::Draft("Apply failed with".to_owned()));
    page.send(PersistenceMsg::Save);
    let mut page = page.reload("#/diagnose");
    assert_eq!(page.state.diagnose.draft, "Apply failed with");
    // Also where another page was open in between.
    page = page.reload("#/play");
    page.send(PersistenceMsg::Save);
    let mut page = page.reload("#/diagnose");
    assert_eq!(page.state.diagnose.draft, "Apply failed with");
    page.send(DiagnoseMsg::Clear);
    page.send(DiagnoseMsg::TakeDraft);
    page.finish_work();
    page.send(PersistenceMsg::Save);
    assert!(page.reload("#/diagnose").state.diagnose.draft.is_empty());
}

/// Of several manifests, it is said which ones are not the refused write of a message.
#[test]
fn manifests_that_are_not_the_refused_write_have_a_reason() {
    use optimist_diagnose::scene::UnusedManifest::{Earlier, OfSeveral, OtherObject, WithoutField};
    let manifest = |name: &str, spec: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: shop}}\nspec: {spec}\n"
        )
    };
    let conflict =
        "Apply failed with 1 conflict: conflict with \"helm\" using apps/v1: .spec.replicas";
    let of_web = format!(
        "Error: UPGRADE FAILED: conflict occurred while applying object shop/web apps/v1, Kind=Deployment: {conflict}"
    );
    let unused = |message: &str, manifests: &[(&str, &str)]| {
        let mut page = diagnose();
        bring(&mut page, message);
        for (name, spec) in manifests {
            bring(&mut page, &manifest(name, spec));
        }
        let scene = page
            .state
            .diagnose
            .cases
            .iter()
            .find(|it| it.scene.is_some());
        scene.expect("a scene").unused_manifests.clone()
    };
    let id = |name: &str| ObjectId {
        group: "apps".to_owned(),
        kind: "Deployment".to_owned(),
        namespace: "shop".to_owned(),
        name: name.to_owned(),
    };
    let two = "{replicas: 2}";
    assert_eq!(unused(&of_web, &[("web", two)]), []);
    let both = [OfSeveral(id("web")), OfSeveral(id("api"))];
    assert_eq!(unused(conflict, &[("web", two), ("api", two)]), both);
    let other = [OtherObject(id("api"))];
    assert_eq!(unused(&of_web, &[("web", two), ("api", two)]), other);
    let earlier = [Earlier(id("web"))];
    assert_eq!(
        unused(&of_web, &[("web", two), ("web", "{replicas: 3}")]),
        earlier
    );
    let without = [WithoutField(id("web"), ".spec.replicas".to_owned())];
    assert_eq!(unused(&of_web, &[("web", "{paused: true}")]), without);
}

/// A HelmRelease of Flux whose upgrade was refused.
const HELM_RELEASE: &str = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: shop\n  \
    namespace: shop\nstatus:\n  conditions:\n  - type: Ready\n    status: \"False\"\n    reason: UpgradeFailed\n    message: \
    >-\n      Helm upgrade failed for release shop/shop with chart shop@1.2.3: conflict occurred while applying object\n      \
    shop/web apps/v1, Kind=Deployment: Apply failed with 1 conflict: conflict with\n      \"kube-controller-manager\" with \
    subresource \"scale\" using apps/v1:\n      .spec.replicas\n";

#[test]
fn a_message_in_the_status_of_an_object_is_a_case_of_its_own() {
    let json = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": "shop", "namespace": "argocd", "uid": "u1", "resourceVersion": "7"},
        "status": {"operationState": {"phase": "Failed", "message": "one or more objects failed to apply, reason: \
            Apply failed with 1 conflict: conflict with \"kubectl-edit\" using apps/v1: .spec.replicas"}}});
    let with_uid = HELM_RELEASE.replace("  namespace: shop\n", "  namespace: shop\n  uid: u1\n");
    for text in [HELM_RELEASE, &*with_uid, &*json.to_string()] {
        let mut page = diagnose();
        bring(&mut page, text);
        let case = &page.state.diagnose;
        assert_eq!(case.items.len(), 2, "{text}");
        assert_eq!(&*case.items[0].text, text);
        let Ok(Input::Errors(errors)) = &case.items[1].content else {
            panic!("{:?}", case.items[1]);
        };
        assert_eq!(errors.len(), 1);
        let scenes = case.cases.iter().filter(|it| it.scene.is_some());
        assert_eq!(scenes.count(), 1, "{text}");
        // A case that is kept has both, each once.
        let texts: Vec<String> = texts(case).iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(diagnosed(texts).items.len(), 2);
    }
    // A condition without an error is no message.
    let mut page = diagnose();
    bring(
        &mut page,
        &HELM_RELEASE.replace("Apply failed with 1 conflict", "all is well"),
    );
    assert_eq!(page.state.diagnose.items.len(), 1);
}

#[test]
fn the_owner_that_a_message_names_is_not_the_tool_that_was_refused() {
    let owners = [
        "argocd-controller",
        "kustomize-controller",
        "Terraform",
        "helm",
        "kubectl",
    ];
    for owner in owners {
        for using in ["", " using apps/v1"] {
            let message = format!(
                "Apply failed with 1 conflict: conflict with \"{owner}\"{using}: .spec.replicas"
            );
            let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message,
                "reason": "Conflict", "code": 409});
            // The rule is the same for both texts: each table takes a while.
            let text = match using {
                "" => message.clone(),
                _ => status.to_string(),
            };
            let mut page = diagnose();
            bring(&mut page, &text);
            let case = &page.state.diagnose;
            assert_eq!(case.client(), Preset::KubectlApplyServerSide, "{text}");
            let table = case.table.as_ref().expect("it is run");
            assert_eq!(table.contradiction, None, "{text}");
            // What the reader chooses is not what the message says.
            let client = Preset::of_manager(owner).unwrap_or(Preset::Helm4);
            page.send(DiagnoseMsg::Client(client));
            page.finish_work();
            let table = page.state.diagnose.table.as_ref().expect("it is run");
            assert_eq!(table.contradiction, None, "{client:?}: {text}");
        }
    }
}

#[test]
fn a_name_that_is_refused_stays_where_it_was_typed() {
    let mut page = diagnose();
    bring(
        &mut page,
        "Error from server (Conflict): Operation cannot be fulfilled on deployments.apps \"web\": the object \
        has been modified; please apply your changes to the latest version and try again",
    );
    for (name, namespace) in [(None, Some("my_shop")), (Some("we b;$(id)"), Some("Shop"))] {
        let given = GivenParts {
            name: name.map(str::to_owned),
            namespace: namespace.map(str::to_owned),
            ..GivenParts::default()
        };
        page.send(DiagnoseMsg::Given(given.clone()));
        page.finish_work();
        let case = &page.state.diagnose;
        assert_eq!(case.given, given);
        assert!(case.without_scene.is_empty(), "{:?}", case.without_scene);
        let reading = case.reading().expect("there is a scene");
        let scene = reading.scene.as_ref().expect("there is a scene");
        let refused = scene.missing.iter().filter(|it| {
            matches!(
                it,
                MissingPart::RefusedName { .. } | MissingPart::RefusedNamespace { .. }
            )
        });
        assert_eq!(refused.count(), usize::from(name.is_some()) + 1);
    }
}

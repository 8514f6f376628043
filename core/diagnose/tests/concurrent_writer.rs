//! Explore with a case: the orders of a row's client and of another writer are those that a run of
//! both has. Here the client of the row is run by the table on each state that it reads, the other
//! writer by its write method, and every order is enumerated; nothing of Explore takes part.

use std::collections::BTreeMap;

use optimist_apiserver::object::Metadata;
use optimist_client::{Intent, OnConflict, Preset, Subresource, WorkingCopy, Write, WriteMethod};
use optimist_diagnose::case::{Case, Installed};
use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::ways::{
    ChangeTable, OnOwned, RemedyKind, Row, WantedChange, Way, concurrent_writer,
};
use optimist_simulation::explore::{Scenario, Search, TransitionKind, replayed};
use optimist_simulation::{Action, ActorId, ByHand, HistoryTree, Operation, World};
use serde_json::{Value, json};

use crate::live::LIVE;

fn installed(text: &str) -> Installed {
    let Ok(Input::Live(object)) = detect(text) else {
        panic!("it is a live object");
    };
    Case::about(object).install().expect("it is installed")
}

/// A manifest with another value in the first or the last place that has a number or a text.
fn changed(object: &Value, last: bool) -> Value {
    let mut manifest = optimist_client::bare(object);
    manifest.metadata_mut().remove("annotations");
    let mut places = Vec::new();
    places_of(&manifest, "", &mut places);
    let place = if last { places.last() } else { places.first() };
    let Some(place) = place else {
        manifest.set_meta("labels", json!({"example.com/new": "x"}));
        return manifest;
    };
    let value = manifest.pointer_mut(place).expect("it is there");
    *value = match &*value {
        Value::Number(number) => json!(number.as_i64().unwrap_or(1) + 1),
        Value::String(text) if text.ends_with("==") => json!("eA=="),
        _ => json!("x"),
    };
    manifest
}

/// The numbers of the spec that are reached by member names, and the texts of data.
fn places_of(value: &Value, at: &str, found: &mut Vec<String>) {
    for (name, member) in value.as_object().into_iter().flatten() {
        if at.is_empty() && !matches!(name.as_str(), "spec" | "data") {
            continue;
        }
        let here = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        match member {
            Value::Object(_) => places_of(member, &here, found),
            Value::Number(_) => found.push(here),
            Value::String(_) if at == "/data" => found.push(here),
            _ => {}
        }
    }
}

/// Returns the content to compare of an object: without its times, because the clock of Explore
/// stands still.
fn content(object: Option<&Value>) -> String {
    let Some(mut object) = object.cloned() else {
        return String::new();
    };
    for entry in object["metadata"]["managedFields"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        entry
            .as_object_mut()
            .expect("it is an entry")
            .remove("time");
    }
    let entries = object["metadata"]["managedFields"].as_array_mut();
    entries
        .into_iter()
        .for_each(|it| it.sort_by_key(Value::to_string));
    object.to_string()
}

/// The steps of an order, and the object at its end.
type Orders = BTreeMap<Vec<(usize, &'static str, u16)>, String>;

/// An actor of the enumeration: what it sends next, after it has read.
#[derive(Clone)]
struct Side {
    request: Option<ByHand>,
    done: bool,
    left: u8,
    on_conflict: OnConflict,
}

struct Enumeration<'a> {
    installed: &'a Installed,
    change: &'a WantedChange,
    way: Way,
    other: (&'a Write, &'a concurrent_writer::OtherEdit),
    found: Orders,
}

impl Enumeration<'_> {
    /// Returns the request that an actor sends after it has read the object of a world; `None` if
    /// there is nothing to do.
    fn request(&self, actor: usize, world: &World) -> Option<ByHand> {
        if actor == 0 {
            let installed = Installed {
                world: world.clone(),
                ..self.installed.clone()
            };
            let row = ChangeTable::new(&installed, self.change.clone()).row(self.way);
            let row = row.expect("it can carry the change");
            assert!(row.requests.len() < 2, "{:?} sends more", self.way);
            return row.requests.first().map(ByHand::from);
        }
        let (write, edit) = self.other;
        let (_, stored) = world.stored().expect("nobody deletes it");
        let mut copy = WorkingCopy::default();
        copy.settle(std::sync::Arc::clone(stored));
        let mut object = (**stored).clone();
        edit.field.put(&mut object, edit.value.clone());
        copy.edit(object);
        let request = write.request(world.resource(), &copy, "other")?;
        Some(ByHand {
            method: request.method().to_string(),
            target: request.uri().to_string(),
            content_type: write.strategy.media_type().to_owned(),
            body: String::from_utf8(request.into_body()).expect("it is text"),
        })
    }

    /// The same; a client that sees nothing to do changes nothing.
    fn sends(&self, actor: usize, world: &World) -> ByHand {
        let request = self.request(actor, world);
        request.unwrap_or_else(|| ByHand {
            method: "GET".to_owned(),
            target: world.subject().path(),
            content_type: String::new(),
            body: String::new(),
        })
    }

    fn go(&mut self, world: &World, sides: &[Side; 2], steps: &[(usize, &'static str, u16)]) {
        if sides.iter().all(|side| side.done) {
            let stored = world.stored().map(|(_, object)| &**object);
            self.found.insert(steps.to_vec(), content(stored));
        }
        for actor in (0..2).filter(|actor| !sides[*actor].done) {
            let (mut world, mut sides, mut steps) = (world.clone(), sides.clone(), steps.to_vec());
            let side = &mut sides[actor];
            let Some(request) = side.request.take() else {
                side.request = Some(self.sends(actor, &world));
                steps.push((actor, "read", 200));
                self.go(&world, &sides, &steps);
                continue;
            };
            let id = ActorId::ALL[actor];
            let step = world.act(Operation::Act(id, Action::Request(request.clone())));
            let exchange = step.and_then(|step| step.exchange).expect("it was sent");
            let reason = exchange.received["reason"].as_str();
            let conflict = exchange.code == 409 && reason == Some("Conflict");
            steps.push((actor, "write", exchange.code));
            side.done = true;
            if conflict && side.left > 0 {
                side.left -= 1;
                match side.on_conflict {
                    OnConflict::GiveUp => {}
                    OnConflict::ReadAgain(_) => side.done = false,
                    OnConflict::Resend(_) => panic!("no client here resends"),
                }
            }
            self.go(&world, &sides, &steps);
        }
    }
}

/// Returns the results of Explore, and each of its orders as Play shows it.
fn explored(tree: &HistoryTree, reads_first: bool) -> (Orders, Orders, Search) {
    let mut scenario = Scenario::of_copies(tree.world()).expect("both have read");
    for plan in &mut scenario.plans {
        plan.reads_first = reads_first;
    }
    let scenario = scenario.in_ways(&[WriteMethod::Own], 1).expect("it begins");
    let mut search = Search::new(scenario, 100_000);
    search.run();
    let mut orders = Orders::new();
    let mut in_play = Orders::new();
    let mut open = vec![Vec::new()];
    while let Some(path) = open.pop() {
        let at = path.last().map_or(0, |id: &usize| search.edges()[*id].to);
        let state = search.view(at).expect("it is a state");
        if state.is_end() {
            let steps = path.iter().map(|id| {
                let edge = &search.edges()[*id];
                let kind = if edge.what == TransitionKind::Read {
                    "read"
                } else {
                    "write"
                };
                (edge.actor, kind, edge.code)
            });
            let steps: Vec<_> = steps.collect();
            // Equal states are one state: the versions in them may differ.
            let stored = state.stored().map(|object| &**object);
            orders.insert(steps.clone(), without_version(&content(stored)));
            let begin = HistoryTree::new(tree.origin().clone());
            let shown = replayed(&search, &path, path.len(), begin);
            // In Play those read first who have the object already in Explore.
            let nodes = &shown.current_path()[if reads_first { 1 } else { 3 }..];
            let codes = nodes.iter().filter_map(|node| {
                let step = shown.step(*node)?;
                let exchange = step.exchange.as_ref()?;
                let kind = if exchange.method == "GET" {
                    "read"
                } else {
                    "write"
                };
                let actor = step.actor()? as usize;
                Some((actor, kind, exchange.code))
            });
            let stored = shown.world().stored().map(|(_, object)| &**object);
            in_play.insert(codes.collect(), without_version(&content(stored)));
        }
        for edge in state.edges() {
            let mut further = path.clone();
            further.push(edge);
            open.push(further);
        }
    }
    (orders, in_play, search)
}

fn without_version(object: &str) -> String {
    let mut object: Value = serde_json::from_str(object).unwrap_or_default();
    let metadata = object["metadata"].as_object_mut();
    metadata.into_iter().for_each(|it| {
        it.remove("resourceVersion");
    });
    object.to_string()
}

/// Compares every order of a row, in which the other writer makes an edit.
fn compare(installed: &Installed, change: &WantedChange, row: &Row, tree: &HistoryTree) {
    for reads_first in [true, false] {
        compare_orders((installed, change), row, tree, reads_first);
    }
}

fn compare_orders(
    (installed, change): (&Installed, &WantedChange),
    row: &Row,
    tree: &HistoryTree,
    reads_first: bool,
) {
    let world = tree.world();
    let edit = concurrent_writer::present(world).expect("the other one has an edit");
    let writer = &concurrent_writer::others(world)[edit.writer];
    let label = format!("{:?} {:?} {}", row.way, writer.manager, edit.field);
    let mut enumeration = Enumeration {
        installed,
        change,
        way: row.way,
        other: (&writer.write, &edit),
        found: Orders::new(),
    };
    let side = |write: &Write| Side {
        request: None,
        done: false,
        left: write.on_conflict.attempts() - 1,
        on_conflict: write.on_conflict,
    };
    let mut sides = [side(&world.actor(ActorId::A).write()), side(&writer.write)];
    if !reads_first {
        for (actor, side) in sides.iter_mut().enumerate() {
            side.request = Some(enumeration.sends(actor, world));
        }
    }
    // The actors of the case, which have sent nothing: they have the names that requests carry.
    enumeration.go(world, &sides, &[]);
    let run = enumeration.found.into_iter();
    let run: Orders = run
        .map(|(steps, object)| (steps, without_version(&object)))
        .collect();
    let (orders, in_play, search) = explored(tree, reads_first);
    let fewest = if reads_first { 6 } else { 2 };
    assert!(run.len() >= fewest, "{label}: {} orders", run.len());
    assert_eq!(orders, run, "{label}");
    assert_eq!(in_play, run, "{label} in Play");
    assert_eq!(search.tally().total(), run.len() as u128, "{label}");
}

/// Without the other writer the answer and the object are those of the row.
fn compare_alone(row: &Row, tree: &HistoryTree) {
    let mut scenario = Scenario::of_copies(tree.world()).expect("both have read");
    scenario.plans.truncate(1);
    let scenario = scenario.in_ways(&[WriteMethod::Own], 1).expect("it begins");
    let mut search = Search::new(scenario, 1000);
    search.run();
    let last = search.edges().last().expect("it has written");
    let refused_by_version = row.code == Some(409) && row.causes.is_empty();
    assert!(!refused_by_version, "nobody else writes");
    assert_eq!(Some(last.code), row.code, "{:?}", row.way);
    let end = search.view(last.to).expect("it is a state");
    let stored = end.stored().map(|object| &**object);
    assert_eq!(content(stored), content(Some(&row.after)), "{:?}", row.way);
}

/// The answer to B's write if A writes nothing.
fn written_alone(tree: &HistoryTree) -> u16 {
    let mut scenario = Scenario::of_copies(tree.world()).expect("both have read");
    scenario.plans.remove(0);
    let scenario = scenario.in_ways(&[WriteMethod::Own], 1).expect("it begins");
    let mut search = Search::new(scenario, 1000);
    search.run();
    search.edges().last().expect("it has written").code
}

/// The ways whose rows can be explored, after all their orders were compared.
fn ways_of(installed: &Installed, manifest: &Value, every: usize) -> Vec<Way> {
    let change = WantedChange::manifest(manifest.clone());
    let table = ChangeTable::new(installed, change.clone());
    let mut ways = Vec::new();
    for (at, way) in Way::all().into_iter().enumerate() {
        let Some(row) = table.row(way).filter(|row| table.can_be_explored(row)) else {
            continue;
        };
        ways.push(way);
        if at % every != 0 {
            continue;
        }
        let tree = table.in_between(&row).expect("somebody can write");
        assert_eq!(written_alone(&tree), 200, "{way:?}");
        compare_alone(&row, &tree);
        compare(installed, &change, &row, &tree);
    }
    ways
}

#[test]
fn every_order_is_what_a_run_of_both_writers_does() {
    for (at, text) in LIVE.into_iter().enumerate() {
        let installed = installed(text);
        let object = installed.object().expect("it is stored").clone();
        let manifest = changed(&object, at % 2 == 0);
        let ways = ways_of(&installed, &manifest, 3);
        assert!(ways.len() >= 6, "{} has {ways:?}", object.name());
    }
}

/// A chart that names the replicas that an HPA scales.
const CHART: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app.kubernetes.io/managed-by: Helm, helm.sh/chart: web-1.2.4}
  annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: live}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: nginx
        ports: [{name: http, containerPort: 80}]
";

fn chart() -> (Installed, Value) {
    let Ok(Input::Manifest(manifest)) = detect(CHART) else {
        panic!("it is a manifest");
    };
    (installed(LIVE[4]), manifest)
}

/// Returns the writer in between, and its edit.
fn told(tree: &HistoryTree) -> (String, String, String, Value) {
    let edit = concurrent_writer::present(tree.world()).expect("the other one has an edit");
    let writer = &concurrent_writer::others(tree.world())[edit.writer].manager;
    let (name, subresource) = (writer.name.clone(), writer.subresource.clone());
    (name, subresource, edit.field.to_string(), edit.value)
}

#[test]
fn the_owner_of_a_contested_field_writes_in_between() {
    let (installed, manifest) = chart();
    let table = ChangeTable::new(&installed, WantedChange::manifest(manifest));
    let scaler = || {
        let name = "kube-controller-manager".to_owned();
        // Neither the stored 5 nor the 3 of the chart.
        (
            name,
            "scale".to_owned(),
            ".spec.replicas".to_owned(),
            json!(6),
        )
    };
    for preset in [Preset::Helm4, Preset::Terraform, Preset::MergeFrom] {
        let row = table.row(Way::Client(preset, OnOwned::Usual)).unwrap();
        let tree = table.in_between(&row).expect("it is one request");
        assert_eq!(told(&tree), scaler(), "{preset:?}");
        let actor = tree.world().actor(ActorId::B);
        let write = Preset::Autoscaler.write(tree.world().resource());
        assert_eq!(Some(actor.write()), write, "{preset:?}");
        assert_eq!(&*tree.world().actor(ActorId::A).name, row.writer);
    }
    // The manifest that leaves the replicas out touches no field of another manager.
    let outs = table.remedies(Preset::Helm4);
    let out = outs.iter().find(|out| out.kind == RemedyKind::LeaveOut);
    let tree = table.in_between_out(out.unwrap());
    let tree = tree.expect("it is one request");
    assert_eq!(told(&tree), scaler());
}

#[test]
fn every_order_of_a_way_out_is_what_a_run_of_both_writers_does() {
    let (installed, manifest) = chart();
    let table = ChangeTable::new(&installed, WantedChange::manifest(manifest));
    let mut explored = Vec::new();
    for out in table.remedies(Preset::Helm4) {
        let Some(tree) = table.in_between_out(&out) else {
            continue;
        };
        explored.push(out.kind);
        let change = WantedChange::manifest(out.manifest.clone());
        let row = Row {
            way: match out.kind {
                RemedyKind::Force => Way::Client(Preset::Helm4, OnOwned::Force),
                _ => Way::Client(Preset::Helm4, OnOwned::Usual),
            },
            ..out.row.clone()
        };
        compare_alone(&row, &tree);
        compare(&installed, &change, &row, &tree);
    }
    // To transfer a field takes several requests.
    let expected = [RemedyKind::LeaveOut, RemedyKind::Agree, RemedyKind::Force];
    assert_eq!(explored, expected);
}

#[test]
fn another_writer_can_be_chosen_with_any_field_and_value_of_its_own() {
    let (installed, manifest) = chart();
    let change = WantedChange::manifest(manifest);
    let table = ChangeTable::new(&installed, change.clone());
    let row = table
        .row(Way::Client(Preset::Helm4, OnOwned::Force))
        .unwrap();
    let tree = table.in_between(&row).expect("it is one request");
    let others = concurrent_writer::others(tree.world());
    assert!(others.len() > 2, "{others:?}");
    for (at, writer) in others.iter().enumerate() {
        assert_ne!(writer.manager.name, "helm");
        let replicas = concurrent_writer::present(tree.world()).unwrap().field;
        let usual =
            concurrent_writer::usual_of(tree.world(), at, &replicas).expect("it writes something");
        let by_it = concurrent_writer::with_edit(&tree, &usual).expect("it is an edit");
        assert_eq!(written_alone(&by_it), 200, "{:?}", writer.manager);
        if writer.fields.contains(&replicas) {
            assert_eq!(usual.field, replicas);
        }
        for field in writer.fields.iter().step_by(4) {
            let edit = concurrent_writer::made_up(tree.world(), at, field);
            let edit = edit.expect("it can have another value");
            assert_ne!(field.find(installed.object().unwrap()), Some(&edit.value));
            let tree = concurrent_writer::with_edit(&tree, &edit).expect("it is an edit");
            assert_eq!(
                concurrent_writer::present(tree.world()).as_ref(),
                Some(&edit)
            );
            compare(&installed, &change, &row, &tree);
        }
    }
    let world = tree.world();
    let replicas = concurrent_writer::present(world).unwrap().field;
    assert_eq!(
        concurrent_writer::typed(world, &replicas, " 12 "),
        Some(json!(12))
    );
    assert_eq!(concurrent_writer::typed(world, &replicas, "many"), None);
}

#[test]
fn in_other_ways_of_writing_the_manifest_means_what_it_says() {
    let (installed, manifest) = chart();
    let table = ChangeTable::new(&installed, WantedChange::manifest(manifest));
    for preset in [Preset::Terraform, Preset::ControllerApply] {
        let row = table.row(Way::Client(preset, OnOwned::Usual)).unwrap();
        let tree = table.in_between(&row).expect("it is one request");
        let scenario = Scenario::of_copies(tree.world()).expect("both have read");
        let Intent::Change(changes) = &scenario.plans[0].intent else {
            panic!("it is made of changes");
        };
        let fields: Vec<String> = changes.iter().map(|it| it.path.to_string()).collect();
        let expected = [".metadata.labels.helm.sh/chart", ".spec.replicas"];
        assert_eq!(fields, expected, "nothing that it leaves out is removed");
        // The autoscaler writes through /scale in every way.
        assert_eq!(scenario.plans[1].subresource, Some(Subresource::Scale));
        for way in WriteMethod::MATRIX {
            let scenario = scenario.clone().in_ways(&[way], 3);
            let mut search = Search::new(scenario.expect("it begins"), 10_000);
            search.run();
            assert!(search.tally().total() >= 6, "{}", way.slug());
        }
    }
}

#[test]
fn only_what_explore_sends_exactly_is_offered() {
    let (installed, manifest) = chart();
    let table = ChangeTable::new(&installed, WantedChange::manifest(manifest));
    let offered = |way| table.can_be_explored(&table.row(way).expect("it can carry the change"));
    let usual = |preset| Way::Client(preset, OnOwned::Usual);
    // Helm 3 compares with the last release, Flux sends a dry run first, kubectl replace writes a
    // whole file, and who leaves fields out learns of them by a first request.
    for way in [
        Way::Create,
        usual(Preset::Helm3),
        usual(Preset::Flux),
        usual(Preset::KubectlReplace),
        Way::Client(Preset::ArgoCdClientSide, OnOwned::Force),
        Way::Client(Preset::Helm4, OnOwned::LeaveOut),
    ] {
        assert!(!offered(way), "{way:?}");
    }
    for way in [
        usual(Preset::KubectlApplyServerSide),
        Way::Client(Preset::KubectlApplyServerSide, OnOwned::Force),
        usual(Preset::KubectlApply),
        usual(Preset::KubectlEdit),
        usual(Preset::KubectlScale),
        usual(Preset::Autoscaler),
        usual(Preset::KubectlLabel),
        usual(Preset::Update),
        usual(Preset::MergeFrom),
        usual(Preset::CreateOrUpdate),
        usual(Preset::Helm4),
        usual(Preset::ArgoCdClientSide),
        usual(Preset::Terraform),
        usual(Preset::ControllerApply),
    ] {
        assert!(offered(way), "{way:?}");
    }
}

const WIDGETS: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer, maximum: 5}
              color: {type: string, enum: [red, blue]}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, size: {type: integer}}
          status: {type: object, properties: {replicas: {type: integer}}}
";

const WIDGET: &str = "apiVersion: example.com/v1
kind: Widget
metadata:
  name: a
  namespace: live
  uid: 8e1cedb3-eed5-4163-bd53-3eb60dac30d4
  resourceVersion: '70'
  generation: 3
  managedFields:
  - {manager: helm, operation: Apply, apiVersion: example.com/v1, fieldsType: FieldsV1,
     fieldsV1: {'f:spec': {'f:color': {}, 'f:parts': {'k:{\"name\":\"x\"}': {.: {}, 'f:name': {}, 'f:size': {}}}}}}
  - {manager: scaler, operation: Update, apiVersion: example.com/v1, fieldsType: FieldsV1,
     subresource: scale, fieldsV1: {'f:spec': {'f:replicas': {}}}}
  - {manager: sizer, operation: Update, apiVersion: example.com/v1, fieldsType: FieldsV1,
     fieldsV1: {'f:spec': {'f:parts': {'k:{\"name\":\"x\"}': {'f:size': {}}}}}}
spec: {replicas: 5, color: red, parts: [{name: x, size: 1}]}
";

#[test]
fn a_custom_resource_with_its_definition_is_explored_by_its_schema() {
    let input = [WIDGETS, WIDGET].map(|text| detect(text).expect("it is detected"));
    let cases = Case::all_of(&input);
    let case = cases.iter().find(|case| case.id.kind == "Widget");
    let installed = case.expect("it is a case").install();
    let installed = installed.expect("it is installed");
    let manifest = json!({"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "a", "namespace": "live"},
        "spec": {"replicas": 4, "color": "red", "parts": [{"name": "x", "size": 2}]}});
    let ways = ways_of(&installed, &manifest, 1);
    assert!(ways.len() > 12, "{ways:?}");
    let table = ChangeTable::new(&installed, WantedChange::manifest(manifest));
    let row = table
        .row(Way::Client(Preset::Helm4, OnOwned::Usual))
        .unwrap();
    let tree = table.in_between(&row).expect("it is one request");
    let (name, subresource, field, value) = told(&tree);
    assert_eq!(
        (&*name, &*subresource, &*field),
        ("scaler", "scale", ".spec.replicas")
    );
    // 6 is above the maximum, and 4 is what A wants.
    assert_ne!(value, 6);
    assert_ne!(value, 4);
    assert_eq!(written_alone(&tree), 200);
}

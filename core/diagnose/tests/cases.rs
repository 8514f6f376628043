//! Real objects on a server as they are, and who owns what in them.

use optimist_apiserver::object::Metadata;
use optimist_diagnose::case::{Case, Installed, Note};
use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::ownership::Unowned;
use optimist_diagnose::ways::{ChangeTable, WantedChange};
use optimist_links::Session;
use optimist_simulation::HistoryTree;
use serde_json::{Value, json};

use crate::live::LIVE;

fn case(texts: &[&str]) -> Case {
    let input: Vec<Input> = texts
        .iter()
        .map(|text| detect(text).expect("it is detected"))
        .collect();
    let mut cases = Case::all_of(&input);
    assert_eq!(cases.len(), 1, "{cases:#?}");
    cases.remove(0)
}

fn installed(text: &str) -> Installed {
    case(&[text]).install().expect("it is installed")
}

#[test]
fn every_live_object_is_stored_as_it_is_at_its_own_version() {
    for text in LIVE {
        let Ok(Input::Live(input)) = detect(text) else {
            panic!("it is a live object: {text}");
        };
        let world = installed(text).world;
        let (version, stored) = world.stored().expect("it is stored");
        assert_eq!(version.to_string(), input.resource_version());
        let shown = get(&world);
        assert_eq!(shown, input, "{}", input.name());
        assert_eq!(stored.uid(), input.uid());
    }
}

fn get(world: &optimist_simulation::World) -> Value {
    let request = optimist_client::get_request(&world.subject().path(), "test");
    let mut server = world.server().clone();
    let answer = server.handle(request.expect("it is a request"));
    serde_json::from_slice(answer.body()).expect("it is JSON")
}

#[test]
fn a_link_carries_an_installed_object() {
    for text in LIVE {
        let tree = HistoryTree::new(installed(text).world);
        let link = Session::from_tree(&tree).to_text();
        let replay = Session::parse(&link).expect("it is a link").replay();
        let again = replay.finish().expect("it can be replayed");
        assert_eq!(again.world().stored(), tree.world().stored());
        assert_eq!(get(again.world()), get(tree.world()));
    }
}

#[test]
fn a_custom_resource_without_its_definition_is_schemaless_and_that_is_said() {
    let notes = installed(LIVE[0]).notes;
    let schemaless = Note::Schemaless {
        kind: "Backup".to_owned(),
    };
    let formed = Note::PluralFormed {
        plural: "backups".to_owned(),
    };
    assert_eq!(notes, [schemaless, Note::ListsFromOwners, formed]);
}

#[test]
fn lists_are_merged_as_the_owners_show_without_a_definition() {
    let installed = installed(LIVE[0]);
    let mut object = get(&installed.world);
    let targets = object["spec"]["targets"].as_array().map_or(0, Vec::len);
    object["spec"]["targets"][0]["path"] = json!("/other");
    let root = &installed.resource().root;
    let changed = optimist_apiserver::apply::differing(&get(&installed.world), &object, root);
    let texts: Vec<String> = changed.iter().map(ToString::to_string).collect();
    assert!(targets > 0);
    assert!(
        texts.len() == 1 && texts[0].starts_with(".spec.targets[name="),
        "{texts:?}"
    );
    assert!(texts[0].ends_with("].path"), "{texts:?}");
}

/// The owners of the line with this text.
fn owners(installed: &Installed, line: &str) -> Vec<String> {
    let ownership = installed.ownership();
    let text = ownership.to_text();
    let found = text.lines().find(|found| found.trim().starts_with(line));
    let found = found.unwrap_or_else(|| panic!("{line} in {text}"));
    let owners = found.rsplit("  ").next().unwrap_or_default();
    owners.split(", ").map(str::to_owned).collect()
}

#[test]
fn each_line_names_all_its_owners_or_why_it_has_none() {
    let deployment = installed(LIVE[4]);
    for (line, expected) in [
        (
            "replicas: 5",
            vec!["kube-controller-manager (Update", "/scale)"],
        ),
        ("image: nginx:1.28", vec!["argocd-controller (Apply)"]),
        (
            "- containerPort: 80",
            vec![
                "helm (Apply)",
                "argocd-controller (Apply)",
                "kubectl-create (Update)",
            ],
        ),
        ("uid: 8e1cedb3", vec!["never owned"]),
    ] {
        assert_eq!(owners(&deployment, line), expected, "{line}");
    }
}

#[test]
fn lines_with_the_merge_key_of_a_list_item_name_the_item() {
    let ownership = installed(LIVE[4]).ownership();
    let named = ownership.lines.iter().filter_map(|line| {
        let item = line.identifies.as_deref()?;
        Some((line.line.pointer.strip_prefix(item)?, item))
    });
    let named: Vec<(&str, &str)> = named.collect();
    let container = "/spec/template/spec/containers/0";
    let port = "/spec/template/spec/containers/0/ports/0";
    assert!(named.contains(&("/name", container)), "{named:?}");
    assert!(named.contains(&("/containerPort", port)), "{named:?}");
    assert!(named.contains(&("/protocol", port)), "{named:?}");
    // The name of a port is no key.
    assert!(!named.contains(&("/name", port)), "{named:?}");
    assert!(!named.iter().any(|(name, _)| *name == "/image"));
}

#[test]
fn defaults_without_an_owner_are_told_from_other_values_without_one() {
    let mut object = case(&[LIVE[1]]).live.expect("it is live");
    object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object["metadata"],
        "spec": {"replicas": 3, "progressDeadlineSeconds": 600, "revisionHistoryLimit": 7}});
    object["metadata"]["managedFields"] = json!([]);
    let ownership = Case::about(object)
        .install()
        .expect("it is installed")
        .ownership();
    let of = |field: &str| {
        let pointer = format!("/spec/{field}");
        let line = ownership
            .lines
            .iter()
            .find(|one| one.line.pointer == pointer);
        line.expect("there is such a line").unowned
    };
    assert_eq!(of("progressDeadlineSeconds"), Some(Unowned::Default));
    assert_eq!(of("revisionHistoryLimit"), Some(Unowned::NoEntry));
}

#[test]
fn a_default_is_one_beside_the_values_that_the_object_has() {
    let pod = |image: &str, policy: &str| {
        let object = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "a", "namespace": "shop", "uid": "u", "managedFields": []},
            "spec": {"containers": [{"name": "c", "image": image, "imagePullPolicy": policy}]}});
        let ownership = Case::about(object)
            .install()
            .expect("it is installed")
            .ownership();
        let pointer = "/spec/containers/0/imagePullPolicy";
        let mut lines = ownership.lines.iter();
        let line = lines.find(|one| one.line.pointer == pointer);
        line.expect("there is such a line").unowned
    };
    // Without the image, which has no owner either, the default would be Always.
    assert_eq!(pod("i:1", "Always"), Some(Unowned::NoEntry));
    assert_eq!(pod("i:1", "IfNotPresent"), Some(Unowned::Default));
    assert_eq!(pod("i", "Always"), Some(Unowned::Default));
}

#[test]
fn a_manager_owns_values_alone_or_with_others() {
    let ownership = installed(LIVE[4]).ownership();
    let of = |name: &str| {
        let mut managers = ownership.managers.iter();
        managers
            .find(|one| one.manager.name == name)
            .expect("it is there")
    };
    let paths = |paths: &[optimist_apiserver::apply::Path]| -> Vec<String> {
        paths.iter().map(ToString::to_string).collect()
    };
    let controller = of("argocd-controller");
    let image = ".spec.template.spec.containers[name=\"nginx\"].image";
    assert!(paths(&controller.alone).contains(&image.to_owned()));
    assert!(paths(&controller.fields).contains(&".spec.selector".to_owned()));
    assert!(!paths(&controller.alone).contains(&".spec.selector".to_owned()));
    assert_eq!(
        of("helm").since.map(|it| it.to_string()).as_deref(),
        Some("2026-11-22T06:01:54Z")
    );
}

#[test]
fn the_markdown_table_holds_no_markup_of_the_object() {
    let mut object = case(&[LIVE[1]]).live.expect("it is live");
    object["data"] = json!({"a": "x|y `z` <b> [c](d)", "b": "line\nline"});
    let table = Case::about(object)
        .install()
        .expect("it is installed")
        .ownership()
        .to_markdown();
    for line in table.lines() {
        let pipes = line.replace("\\|", "").matches('|').count();
        assert_eq!(pipes, 4, "{line}");
    }
    assert!(!table.contains("<b>"));
}

#[test]
fn things_about_one_object_are_one_case() {
    let message = "Error: UPGRADE FAILED: conflict occurred while applying object live/web apps/v1, \
                   Kind=Deployment: Apply failed with 1 conflict: conflict with \
                   \"kube-controller-manager\" with subresource \"scale\" using apps/v1: .spec.replicas";
    let manifest =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}";
    let one = case(&[LIVE[4], manifest, message]);
    assert!(one.live.is_some() && one.manifest.is_some());
    assert_eq!(one.errors.len(), 1);
    assert_eq!(one.id.to_string(), "Deployment live/web");
    let texts = [LIVE[4], LIVE[1], message];
    let all: Vec<Input> = texts.iter().map(|text| detect(text).expect("ok")).collect();
    let cases = Case::all_of(&all);
    assert_eq!(cases.len(), 2);
    assert_eq!((cases[0].errors.len(), cases[1].errors.len()), (1, 0));
}

#[test]
fn a_watch_is_a_case_about_its_newest_version() {
    let one = case(&[include_str!("fight.json")]);
    assert_eq!(one.versions.len(), 8);
    assert_eq!(
        one.live.as_ref().expect("it is live").resource_version(),
        "98"
    );
    assert_eq!(one.install().expect("it is installed").notes, []);
    let deleted = include_str!("fight.json").trim_end();
    let at = deleted.rfind("MODIFIED").expect("it was modified");
    let deleted = format!("{}DELETED{}", &deleted[..at], &deleted[at + 8..]);
    let gone = case(&[&deleted]).install().expect("it is installed");
    assert_eq!(gone.notes, [Note::WasDeleted]);
}

#[test]
fn of_several_manifests_the_last_is_written_and_that_is_said() {
    let manifest = |value: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: b\ndata:\n  k: '{value}'\n"
        )
    };
    let live = manifest("0").replacen("  name", "  uid: u\n  managedFields: []\n  name", 1);
    let texts: Vec<String> = ["1", "2", "3"].map(manifest).into();
    let of = |count: usize| {
        let mut all = vec![live.as_str()];
        all.extend(texts[..count].iter().map(String::as_str));
        case(&all)
    };
    let notes = |case: &Case| case.install().expect("it is installed").notes;
    assert_eq!(notes(&of(1)), []);
    assert_eq!(notes(&of(2)), [Note::SeveralManifests { unused: 0 }]);
    let three = of(3);
    assert_eq!(notes(&three), [Note::SeveralManifests { unused: 1 }]);
    let value = |manifest: Option<&Value>| manifest.expect("it is there")["data"]["k"].clone();
    assert_eq!(value(three.manifest.as_ref()), "3");
    assert_eq!(value(three.previous_manifest.as_ref()), "2");
}

/// Returns which objects the next write has, and which it leaves out, of texts with manifests of these names.
fn written_and_left_out(texts: &[&[&str]]) -> (Vec<String>, Vec<String>) {
    let text = |names: &&[&str]| {
        let manifests = names.iter().map(|name| {
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: b\n")
        });
        let manifests: Vec<String> = manifests.collect();
        detect(&manifests.join("---\n")).expect("it is detected")
    };
    let input: Vec<Input> = texts.iter().map(text).collect();
    let cases = Case::all_of(&input);
    let (left_out, others): (Vec<_>, Vec<_>) = cases.iter().partition(|case| case.is_left_out());
    assert!(others.iter().all(|case| case.manifest.is_some()));
    let names = |cases: Vec<&Case>| cases.iter().map(|case| case.id.name.clone()).collect();
    (names(others), names(left_out))
}

#[test]
fn the_next_release_leaves_out_what_only_the_text_of_the_release_before_has() {
    let expect = |texts: &[&[&str]], written: &[&str], left_out: &[&str]| {
        let (next, others) = written_and_left_out(texts);
        assert_eq!(
            (next.as_slice(), others.as_slice()),
            (&owned(written)[..], &owned(left_out)[..])
        );
    };
    expect(
        &[&["a", "b", "c"], &["a", "b", "new"]],
        &["a", "b", "new"],
        &["c"],
    );
    expect(&[&["a", "b"], &["a", "new"]], &["a", "new"], &["b"]);
    // It was added again.
    expect(
        &[&["a", "b", "c"], &["a", "b"], &["c"]],
        &["a", "b", "c"],
        &[],
    );
    // A manifest that is corrected, one after the other.
    expect(&[&["a", "b", "c"], &["a"], &["b"]], &["a", "b", "c"], &[]);
    // Files of one release, which share an object.
    expect(&[&["a", "b", "c"], &["a", "d"]], &["a", "b", "c", "d"], &[]);
    expect(&[&["a"], &["b"], &["c", "d"]], &["a", "b", "c", "d"], &[]);
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn an_object_that_the_next_release_leaves_out_says_so() {
    let manifest = |name: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: b\n")
    };
    let live = manifest("gone").replacen("  name", "  uid: u\n  managedFields: []\n  name", 1);
    let [gone, kept, new] = ["gone", "kept", "new"].map(manifest);
    let texts = [
        live,
        format!("{gone}---\n{kept}"),
        format!("{kept}---\n{new}"),
    ];
    let input = texts.map(|text| detect(&text).expect("it is detected"));
    let cases = Case::all_of(&input);
    let gone = cases[0].install().expect("it is installed");
    assert_eq!(gone.notes, [Note::LeftOut]);
}

#[test]
fn what_another_release_wrote_is_left_out_and_said() {
    let mut object = case(&[LIVE[4]]).live.expect("it is live");
    object["spec"]["fromTheFuture"] = json!({"a": 1});
    let installed = Case::about(object).install().expect("it is installed");
    let unknown = Note::UnknownFields(vec!["unknown field \"spec.fromTheFuture\"".to_owned()]);
    assert_eq!(installed.notes, [unknown]);
    assert_eq!(
        installed.object().expect("it is stored").resource_version(),
        "28589"
    );
    let mut old = case(&[LIVE[5]]).live.expect("it is live");
    old["apiVersion"] = "autoscaling/v2beta1".into();
    let error = Case::about(old).install().expect_err("it is not served");
    let expected = "This release serves no kind HorizontalPodAutoscaler in autoscaling/v2beta1.";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_manager_that_goes_takes_what_no_other_owns_and_leaves_the_rest() {
    let installed = installed(LIVE[4]);
    let leaving = installed.leaving();
    let of = |name: &str| {
        let found = leaving.iter().find(|one| one.manager.name == name);
        found.expect("it is there")
    };
    let paths = |paths: &[optimist_apiserver::apply::Path]| -> Vec<String> {
        paths.iter().map(ToString::to_string).collect()
    };
    let helm = of("helm");
    assert!(!helm.is_refused());
    assert!(paths(&helm.removed).contains(&".metadata.labels.helm.sh/chart".to_owned()));
    assert!(paths(&helm.left).contains(&".spec.selector".to_owned()));
    // The image is required, and Argo CD owns it alone.
    assert!(of("argocd-controller").is_refused());
    let scaler = of("kube-controller-manager");
    assert!(scaler.row.is_none() && scaler.removed.is_empty());
    assert_eq!(paths(&scaler.left), [".spec.replicas"]);
}

#[test]
fn two_pastes_of_one_object_are_its_history() {
    let newer = LIVE[4]
        .replace("\"28589\"", "\"28600\"")
        .replace("replicas: 5", "replicas: 7");
    for texts in [[LIVE[4], &newer], [&newer, LIVE[4]]] {
        let one = case(&texts);
        let versions = one.versions.iter();
        let versions: Vec<&str> = versions.map(|it| it.object.resource_version()).collect();
        assert_eq!(versions, ["28589", "28600"]);
        assert_eq!(one.live.expect("it is live").resource_version(), "28600");
    }
    assert_eq!(case(&[LIVE[4], LIVE[4]]).versions, []);
}

#[test]
fn a_live_object_without_defaults_gets_them_as_a_server_that_reads_it_does() {
    let text = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: shop\n  uid: u\n  \
                resourceVersion: '500'\n  managedFields: []\nspec:\n  clusterIP: 10.0.0.1\n  ports:\n  \
                - port: 80\n";
    let installed = case(&[text]).install().expect("it is installed");
    let object = installed.object().expect("it is stored");
    assert_eq!(object["spec"]["internalTrafficPolicy"], "Cluster");
    assert_eq!(object["spec"]["clusterIPs"][0], "10.0.0.1");
    let manifest = json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "web", "labels": {"a": "b"}}, "spec": {"ports": [{"port": 80}]}});
    let table = ChangeTable::new(&installed, WantedChange::manifest(manifest));
    let rows = table.rows();
    let invalid = rows.iter().filter(|row| row.code == Some(422));
    let invalid: Vec<&str> = invalid.map(|row| row.message.as_str()).collect();
    assert_eq!(invalid, [""; 0]);
}

//! From a message alone to a scene in which the core says it again, letter for letter.

use std::collections::BTreeSet;

use optimist_apiserver::object::text;
use optimist_client::Preset;
use optimist_diagnose::case::NotInstalled;
use optimist_diagnose::message::{ErrorSource, PrintedError, reported_errors};
use optimist_diagnose::scene::{GivenParts, MissingPart, NoScene, Scene};
use optimist_diagnose::ways::{CaseContent, ChangeTable, InstructionLanguage, RemedyKind};
use serde_json::{Value, json};

fn cases(json: &str) -> Vec<Value> {
    serde_json::from_str(json).expect("the file is a list")
}

fn recorded() -> Vec<Value> {
    cases(include_str!("messages/kubectl.json"))
}

fn scene(message: &str) -> Result<Scene, NoScene> {
    let errors = reported_errors(message);
    assert_eq!(errors.len(), 1, "{message}");
    Scene::rebuild(&errors[0], &GivenParts::default())
}

#[test]
fn every_text_of_the_server_that_was_recorded_comes_again_letter_for_letter() {
    let (mut texts, mut own) = (0, 0);
    for case in recorded() {
        let printed = text(&case, "stderr");
        for error in reported_errors(printed) {
            match Scene::rebuild(&error, &GivenParts::default()) {
                Ok(scene) => {
                    assert!(
                        printed.contains(scene.message()),
                        "{}\n{printed}",
                        scene.message()
                    );
                    texts += 1;
                }
                Err(NoScene::NotOfTheServer) => own += 1,
                Err(why) => panic!("{}: {why}\n{printed}", text(&case, "note")),
            }
        }
    }
    assert_eq!((texts, own), (39, 3));
}

#[test]
fn the_texts_of_other_tools_come_again_or_are_refused_with_a_reason() {
    let mut refused = Vec::new();
    for case in cases(include_str!("messages/other_tools.json")) {
        let (tool, printed) = (text(&case, "tool"), text(&case, "text"));
        for error in reported_errors(printed) {
            match Scene::rebuild(&error, &GivenParts::default()) {
                Ok(scene) => {
                    let again = reported_errors(scene.message());
                    assert_eq!(again[0].error, error.error, "{tool}");
                }
                Err(why) => refused.push(format!("{tool}: {why}")),
            }
        }
    }
    // extensions/v1beta1 is not served any more, and a PUT to a missing object is answered otherwise.
    assert_eq!(refused.len(), 2, "{refused:#?}");
}

#[test]
fn the_made_up_manifest_is_whole_so_no_way_of_writing_is_refused_as_invalid() {
    let (mut rows, mut invalid) = (0, BTreeSet::new());
    let other = cases(include_str!("messages/other_tools.json"));
    let kubectl = recorded();
    let texts = kubectl.iter().map(|case| text(case, "stderr"));
    for printed in texts.chain(other.iter().map(|case| text(case, "text"))) {
        for error in reported_errors(printed) {
            let Ok(scene) = Scene::rebuild(&error, &GivenParts::default()) else {
                continue;
            };
            let Some(change) = scene.change else {
                continue;
            };
            for row in ChangeTable::new(&scene.installed, change).rows() {
                // The versions of a definition are more than one made-up value.
                let definition = row.message.starts_with("CustomResourceDefinition");
                if row.code == Some(422) && !definition {
                    invalid.insert(row.message);
                }
                rows += 1;
            }
        }
    }
    assert_eq!(invalid, BTreeSet::new());
    assert!(rows > 100, "{rows}");
}

#[test]
fn a_manifest_that_was_brought_is_the_refused_write() {
    let message = "Error: UPGRADE FAILED: conflict occurred while applying object shop/web apps/v1, Kind=Deployment: \
        Apply failed with 1 conflict: conflict with \"kube-controller-manager\" with subresource \"scale\" using \
        apps/v1: .spec.replicas";
    let errors = reported_errors(message);
    let labels = json!({"app": "web"});
    let container = json!({"name": "web", "image": "nginx:1.27"});
    let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels}, "spec": {"containers": [container]}}}});
    let given = GivenParts::default().or_of_manifest(&manifest);
    let scene = Scene::rebuild(&errors[0], &given).expect("there is a scene");
    assert!(scene.missing.contains(&MissingPart::ObjectValues));
    let sent = &scene.requests[0].sent;
    // The message says the namespace that the manifest leaves out.
    let mut whole = manifest.clone();
    whole["metadata"]["namespace"] = "shop".into();
    assert_eq!(**sent, whole);
    let object = scene.installed.object().expect("it is stored");
    assert_ne!(object["spec"]["replicas"], 2);
    assert_eq!(
        object["spec"]["template"]["spec"]["containers"][0]["image"],
        "nginx:1.27"
    );
    let table = ChangeTable::new(&scene.installed, scene.change.clone().expect("it applies"));
    let outs = table.remedies(Preset::Helm4);
    let out = outs.iter().find(|out| out.kind == RemedyKind::LeaveOut);
    let lines = table.instructions_out(out.expect("a way out"), CaseContent::Whole);
    assert!(lines[0].text.contains("-   replicas: 2"), "{lines:?}");

    // A manifest without the field, or of another object, was not refused.
    let mut other = manifest.clone();
    other["spec"]
        .as_object_mut()
        .expect("a spec")
        .remove("replicas");
    let given = GivenParts {
        previous_manifest: Some(manifest.clone()),
        ..GivenParts::default().or_of_manifest(&other)
    };
    let scene = Scene::rebuild(&errors[0], &given).expect("there is a scene");
    assert!(scene.missing.contains(&MissingPart::Values));
    assert_eq!(scene.change.expect("there is a change").previous, None);
    let named = GivenParts {
        name: Some("api".to_owned()),
        ..GivenParts::default()
    };
    assert_eq!(named.or_of_manifest(&manifest).manifest, None);
}

#[test]
fn what_the_message_does_not_say_is_listed() {
    let message = "error: Apply failed with 1 conflict: conflict with \"kubectl\" with subresource \
                   \"scale\" using apps/v1: .spec.replicas\nPlease review the fields above";
    let scene = scene(message).expect("there is a scene");
    let kinds = scene.missing.iter().find_map(|part| match part {
        MissingPart::Kind {
            assumed,
            candidates,
        } => Some((assumed.as_str(), candidates.clone())),
        _ => None,
    });
    let (assumed, candidates) = kinds.expect("the kind is missing");
    assert_eq!(assumed, "Deployment (apps/v1)");
    assert!(
        candidates.contains(&"StatefulSet (apps/v1)".to_owned()),
        "{candidates:?}"
    );
    assert!(scene.missing.contains(&MissingPart::Name {
        assumed: "example".to_owned()
    }));
    assert!(scene.missing.contains(&MissingPart::Values));
    let given = GivenParts {
        kind: Some("StatefulSet".to_owned()),
        name: Some("db".to_owned()),
        namespace: Some("shop".to_owned()),
        manager: Some("ci".to_owned()),
        ..GivenParts::default()
    };
    let scene = Scene::rebuild(&reported_errors(message)[0], &given).expect("there is a scene");
    assert_eq!(scene.missing, [MissingPart::Values]);
    assert_eq!(
        scene.installed.world.subject().to_string(),
        "StatefulSet db"
    );
    assert!(scene.requests[0].target.contains("fieldManager=ci"));
}

#[test]
fn a_helm_message_alone_leads_to_ways_out() {
    let message = "Error: UPGRADE FAILED: conflict occurred while applying object shop/worker apps/v1, \
                   Kind=Deployment: Apply failed with 1 conflict: conflict with \
                   \"kube-controller-manager\" with subresource \"scale\" using apps/v1: .spec.replicas";
    let errors = reported_errors(message);
    assert_eq!(errors[0].tool, Some(ErrorSource::Helm));
    let scene = Scene::rebuild(&errors[0], &GivenParts::default()).expect("there is a scene");
    let change = scene.change.expect("it was an apply");
    let client = scene.client.expect("Helm is known");
    let outs = ChangeTable::new(&scene.installed, change).remedies(client);
    let settled: Vec<RemedyKind> = outs
        .iter()
        .filter(|out| out.settles)
        .map(|out| out.kind)
        .collect();
    // The autoscaler changes the value that was agreed on.
    assert_eq!(settled, [RemedyKind::LeaveOut]);
    let resource = scene.installed.resource();
    let commands = outs[0].row.commands(resource);
    assert!(
        commands[0].starts_with("kubectl apply --server-side"),
        "{commands:?}"
    );
}

/// Without a schema, nobody knows what an item of a list has, or whether it is an object.
#[test]
fn a_conflict_about_a_whole_item_has_a_scene_or_a_reason_in_any_kind() {
    let message = |kind: &str, field: &str| {
        format!(
            "{kind}: Apply failed with 1 conflict: conflict with \"helm\" using example.com/v1: {field}"
        )
    };
    for field in [
        ".spec.listeners[name=\"http\"]",
        ".spec.template.spec.containers[name=\"app\"]",
        ".spec.template.spec.containers[=\"app\"]",
        ".spec.template.spec.containers[name=\"app\"].env[name=\"a\"].valueFrom.fieldRef",
        ".spec.te2plate.spec.containers[name=\"app\"]",
    ] {
        let found = reported_errors(&message("error", field));
        let [error] = &found[..] else {
            panic!("{field} is in a message")
        };
        for (api_version, kind) in [("example.com/v1", "Gateway"), ("apps/v1", "Deployment")] {
            let given = GivenParts {
                api_version: Some(api_version.to_owned()),
                kind: Some(kind.to_owned()),
                ..GivenParts::default()
            };
            let scene = Scene::rebuild(error, &given);
            if let Ok(scene) = scene {
                assert!(scene.message().contains(field), "{kind} {field}");
            }
        }
    }
}

#[test]
fn hostile_messages_get_a_scene_or_a_word() {
    for field in [
        ".spec",
        ".",
        ".metadata.name",
        ".spec.template",
        ".a[=\"x\"].b",
        ".a[0].b",
        ".x..y",
    ] {
        for manager in ["", "a", "kubectl", "\\u0000", "𝒳"] {
            let message = format!(
                "Apply failed with 1 conflict: conflict with \"{manager}\" using v9/odd/x: {field}"
            );
            for error in reported_errors(&message) {
                assert!(matches!(error.error, PrintedError::Apply(_)));
                let _ = Scene::rebuild(&error, &GivenParts::default())
                    .map(|scene| scene.message().len());
            }
        }
    }
}

#[test]
fn a_group_that_no_definition_can_have_is_said_to_be_unknown() {
    let message = "Operation cannot be fulfilled on deployments.extensions \"web\": the object has been \
                   modified; please apply your changes to the latest version and try again";
    match scene(message) {
        Err(NoScene::NotInstalled(NotInstalled::NotServed { kind, .. })) => {
            assert_eq!(kind, "Deployment");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_kind_is_of_the_group_that_the_message_names() {
    let message = "Backup.demo.example.org \"b\" is invalid: metadata.resourceVersion: Invalid value: 0: must be \
                   specified for an update";
    let scene = scene(message).expect("it is rebuilt");
    let kind = scene.missing.iter().find_map(|part| match part {
        MissingPart::Kind { assumed, .. } => Some(assumed.as_str()),
        _ => None,
    });
    assert_eq!(kind, Some("Backup (demo.example.org/v1)"));
    let built_in =
        reported_errors("Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1: no");
    assert_eq!(built_in[0].object.group, None);
}

/// The conflict that an Update with a uid meets where no object is.
fn compared_with_none(object: &str, key: &str) -> String {
    format!(
        "Operation cannot be fulfilled on {object}: StorageError: invalid object, Code: 4, Key: /registry/{key}, \
         ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: \
         3b1c0d5e-0000-4000-8000-000000000001, UID in object meta: "
    )
}

#[test]
fn a_uid_that_was_compared_with_no_object_is_of_an_older_release_or_of_a_kind_that_a_put_creates() {
    for (object, key) in [
        ("deployments.apps \"web\"", "deployments/shop/web"),
        (
            "widgets.example.com \"web\"",
            "example.com/widgets/shop/web",
        ),
    ] {
        let message = compared_with_none(object, key);
        let older = NoScene::BeforeNotFound(format!("{object} not found"));
        assert_eq!(scene(&message).err(), Some(older), "{message}");
    }
    let lease = compared_with_none("leases.coordination.k8s.io \"web\"", "leases/shop/web");
    let again = scene(&lease).expect("a PUT creates a Lease");
    assert_eq!(again.message(), lease);
}

/// A key that an item leaves out is its default (`k8s.io/kube-openapi`, `x-kubernetes-list-map-keys` with a `default`).
#[test]
fn an_item_without_the_default_of_its_key_is_the_one_of_the_message() {
    let message = |protocol: &str| {
        format!(
            "Apply failed with 1 conflict: conflict with \"helm\" using v1: \
             .spec.ports[port=53,protocol=\"{protocol}\"].targetPort"
        )
    };
    let manifest = |ports: Value| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "dns", "namespace": "default"},
            "spec": {"ports": ports}})
    };
    let both = json!([
        {"name": "tcp", "port": 53, "targetPort": 5353},
        {"name": "udp", "port": 53, "protocol": "UDP", "targetPort": 5454},
    ]);
    let one = json!([{"port": 53, "targetPort": 5353}]);
    for (protocol, ports, left_out) in [
        ("TCP", &one, Some("5353")),
        ("UDP", &one, None),
        ("TCP", &both, Some("5353")),
        ("UDP", &both, Some("5454")),
    ] {
        let text = message(protocol);
        let given = GivenParts::default().or_of_manifest(&manifest(ports.clone()));
        let scene = Scene::rebuild(&reported_errors(&text)[0], &given).unwrap();
        assert_eq!(
            scene.has_manifest(),
            left_out.is_some(),
            "{protocol} {ports}"
        );
        let Some(port) = left_out else { continue };
        let table = ChangeTable::new(&scene.installed, scene.change.clone().unwrap());
        let outs = table.remedies(Preset::Helm4);
        let out = outs.iter().find(|out| out.kind == RemedyKind::LeaveOut);
        let lines = table.instructions_out(out.expect("a way out"), CaseContent::Whole);
        let line = format!("-     targetPort: {port}");
        assert!(lines[0].text.contains(&line), "{}", lines[0].text);
    }
}

#[test]
fn the_object_of_a_rebuilt_case_is_one_that_a_server_can_hold_and_its_values_are_made_up() {
    let messages = [
        "Error from server (AlreadyExists): deployments.apps \"web\" already exists",
        "Error from server (AlreadyExists): pods \"web\" already exists",
        "Error from server (Invalid): error when applying patch: deployments.apps \"web\": The request is \
         invalid: the server rejected our request due to an error in our request",
        "Operation cannot be fulfilled on Deployment.apps \"web\": the UID in the precondition (1) does not \
         match the UID in record (2). The object might have been deleted and then recreated",
        "Operation cannot be fulfilled on pods \"web\": StorageError: invalid object, Code: 4, Key: \
         /registry/pods/shop/web, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: \
         1, UID in object meta: 2",
        "error when applying \"web.yaml\": GroupVersionKind: \"apps/v1, Kind=Deployment\"\nName: \"web\", Namespace: \
         \"shop\"\nError from server (BadRequest): metadata.managedFields must be nil",
    ];
    for message in messages {
        let errors = reported_errors(message);
        let [error] = &errors[..] else {
            panic!("{message}: {errors:?}");
        };
        let given = GivenParts::default();
        let scene = match Scene::rebuild(error, &given) {
            Ok(scene) => scene,
            // A tool that says this sends no JSON patch, so that its values are needed.
            Err(NoScene::NeedsObjects) => continue,
            Err(why) => panic!("{message}: {why}"),
        };
        assert!(scene.missing.contains(&MissingPart::Values), "{message}");
        let object = scene.installed.object().expect("there is an object");
        let spec = &object["spec"];
        assert!(spec["containers"].is_array() || spec["template"]["spec"]["containers"].is_array());
        let holders = [
            "/spec/selector",
            "/spec/template/metadata",
            "/spec/containers",
        ];
        for value in holders.iter().filter_map(|it| object.pointer(it)) {
            let empty = [json!(null), json!({}), json!([])];
            assert!(!empty.contains(value), "{message}: {value}");
        }
    }
}

#[test]
fn a_name_that_no_server_takes_stays_and_is_refused_with_its_reason() {
    let messages = [
        "error: Apply failed with 1 conflict: conflict with \"kubectl\" using apps/v1: .spec.replicas",
        "Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your \
         changes to the latest version and try again",
    ];
    let refused = |it: &MissingPart| match it {
        MissingPart::RefusedName { name, reason } => Some((name.clone(), reason.clone())),
        MissingPart::RefusedNamespace { namespace, reason } => {
            Some((namespace.clone(), reason.clone()))
        }
        _ => None,
    };
    let names = [
        "Shop",
        "my_shop",
        "we b;$(id)",
        "a/b",
        "-n",
        "\u{202e}x",
        "ä",
    ];
    for name in names {
        let given = |is_name: bool| GivenParts {
            name: is_name.then(|| name.to_owned()),
            namespace: (!is_name).then(|| name.to_owned()),
            ..GivenParts::default()
        };
        for (message, given) in messages
            .iter()
            .flat_map(|it| [(it, given(true)), (it, given(false))])
        {
            let error = &reported_errors(message)[0];
            let scene = Scene::rebuild(error, &given).expect("there is a scene");
            let said: Vec<(String, String)> = scene.missing.iter().filter_map(refused).collect();
            let [(typed, reason)] = &said[..] else {
                panic!("{name}: {said:?}");
            };
            assert!(typed == name && !reason.is_empty(), "{name}: {reason}");
            let shown = scene
                .installed
                .shown_object()
                .expect("an object")
                .to_string();
            assert!(!shown.contains(name), "{shown}");
        }
    }
    // Roles have names that other objects cannot have.
    let message = "Operation cannot be fulfilled on roles.rbac.authorization.k8s.io \"web\": the object has been \
                   modified; please apply your changes to the latest version and try again";
    let given = GivenParts {
        name: Some("system:Web".to_owned()),
        ..GivenParts::default()
    };
    let scene = Scene::rebuild(&reported_errors(message)[0], &given).expect("there is a scene");
    assert!(!scene.missing.iter().any(|it| refused(it).is_some()));
}

#[test]
fn what_a_person_adds_to_a_message_reaches_its_object_and_no_wrong_name_does() {
    let message = "Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please \
                   apply your changes to the latest version and try again";
    let error = &reported_errors(message)[0];
    let given = |namespace: &str| GivenParts {
        namespace: Some(namespace.to_owned()),
        name: Some("other".to_owned()),
        ..GivenParts::default()
    };
    let object = given("shop").completed(error).object;
    assert_eq!(object.namespace.as_deref(), Some("shop"));
    assert_eq!(object.name.as_deref(), Some("web"), "the message says it");
    let object = given("Shop; rm").completed(error).object;
    assert_eq!(object.namespace, None);
}

#[test]
fn a_message_without_its_tool_gives_no_tool_the_name_of_kubectl() {
    let message = "Apply failed with 1 conflict: conflict with \"argocd-controller\" using apps/v1: .spec.replicas";
    let scene = scene(message).expect("there is a scene");
    let change = scene.change.expect("it applies");
    assert_eq!(change.manager, None);
    let table = ChangeTable::new(&scene.installed, change);
    let rows = table.rows();
    let texts = rows.iter().flat_map(|row| table.instructions(row, true));
    for one in texts.filter(|it| it.language == InstructionLanguage::Terraform) {
        assert!(!one.text.contains("kubectl"), "{}", one.text);
    }
}

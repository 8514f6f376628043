//! Ways to end a fight, over every pair of ways of writing. The histories are played on the server.

use std::sync::Arc;
use std::time::Duration;

use http::Request;
use optimist_apiserver::environment::Environment;
use optimist_apiserver::server::ApiServer;
use optimist_diagnose::case::{Case, Installed, ObjectId};
use optimist_diagnose::fight_remedy::RemedyRun;
use optimist_diagnose::observed::{
    Fight, ObservedVersion, field_changes, fights, observed_versions,
};
use serde_json::{Value, json};

const WEB: &str = "/apis/apps/v1/namespaces/default/deployments/web";

/// A way of writing a number of replicas.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Server-side apply with force.
    Apply,
    /// PUT of the object that was read.
    Update,
    MergePatch,
    /// PUT of /scale, as the HorizontalPodAutoscaler.
    Scale,
}

const WAYS: [Way; 4] = [Way::Apply, Way::Update, Way::MergePatch, Way::Scale];

fn send(server: &mut ApiServer, method: &str, path: &str, media: &str, body: &Value) -> Value {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", media);
    let body = match method {
        "GET" => Vec::new(),
        _ => body.to_string().into_bytes(),
    };
    let response = server.handle(request.body(body).unwrap());
    assert!(
        response.status().is_success(),
        "{method} {path}: {response:?}"
    );
    serde_json::from_slice(response.body()).unwrap()
}

fn deployment() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "web:1"}]}}}})
}

fn write(server: &mut ApiServer, manager: &str, way: Way, replicas: u32) {
    let get = |server: &mut ApiServer, path: &str| send(server, "GET", path, "", &Value::Null);
    let path = |sub: &str, more: &str| format!("{WEB}{sub}?fieldManager={manager}{more}");
    match way {
        Way::Apply => {
            let mut manifest = deployment();
            manifest["spec"]["replicas"] = replicas.into();
            let media = "application/apply-patch+yaml";
            send(server, "PATCH", &path("", "&force=true"), media, &manifest);
        }
        Way::Update | Way::Scale => {
            let sub = if way == Way::Scale { "/scale" } else { "" };
            let mut object = get(server, &format!("{WEB}{sub}"));
            object["spec"]["replicas"] = replicas.into();
            send(server, "PUT", &path(sub, ""), "application/json", &object);
        }
        Way::MergePatch => {
            let patch = json!({"spec": {"replicas": replicas}});
            let media = "application/merge-patch+json";
            send(server, "PATCH", &path("", ""), media, &patch);
        }
    }
}

/// The fight of two managers over the replicas, with what each of them writes.
fn fight(first: Way, second: Way, rounds: usize) -> (Vec<ObservedVersion>, Vec<Fight>) {
    let mut server = ApiServer::new(Environment::default(), 100);
    let create = "/apis/apps/v1/namespaces/default/deployments?fieldManager=creator";
    send(
        &mut server,
        "POST",
        create,
        "application/json",
        &deployment(),
    );
    let mut versions = Vec::new();
    for _ in 0..rounds {
        for (manager, way, replicas) in [("first", first, 2), ("second", second, 5)] {
            server.environment_mut().advance(Duration::from_secs(2));
            write(&mut server, manager, way, replicas);
            let object = send(&mut server, "GET", WEB, "", &Value::Null);
            versions.push(ObservedVersion {
                event: None,
                object: Arc::new(object),
            });
        }
    }
    let found = ended(&versions);
    (versions, found)
}

/// The fights of a history, with their ways out.
fn ended(versions: &[ObservedVersion]) -> Vec<Fight> {
    let root = optimist_apiserver::schema::builtin("Deployment").unwrap();
    let changes = field_changes(versions, root).unwrap();
    let mut found = fights(&changes);
    let (mut run, world) = (RemedyRun::default(), newest(versions).world);
    while run.advance(&mut found, &changes, &world) {}
    found
}

/// The fights of a history whose newest object came without its owners, with their ways out.
fn ended_without_owners(versions: &[ObservedVersion]) -> Vec<Fight> {
    let root = optimist_apiserver::schema::builtin("Deployment").unwrap();
    let changes = field_changes(versions, root).unwrap();
    let mut found = fights(&changes);
    let mut last = versions.last().unwrap().clone();
    let metadata = Arc::make_mut(&mut last.object)["metadata"].as_object_mut();
    metadata.unwrap().remove("managedFields").unwrap();
    let (mut run, world) = (RemedyRun::default(), newest(&[last]).world);
    while run.advance(&mut found, &changes, &world) {}
    found
}

/// The newest version on a server of its own.
fn newest(versions: &[ObservedVersion]) -> Installed {
    let last = versions.last().unwrap();
    let case = Case {
        live: Some((*last.object).clone()),
        ..Case::blank(ObjectId::from_object(&last.object))
    };
    case.install().unwrap()
}

fn keepers(fight: &Fight) -> Vec<(&str, bool)> {
    let remedies = fight.remedies.iter();
    remedies
        .map(|it| (it.keeper.name.as_str(), it.has_gap))
        .collect()
}

#[test]
fn a_fight_over_a_number_ends_when_either_manager_keeps_it_in_every_pair_of_ways() {
    for first in WAYS {
        for second in WAYS {
            let (_, found) = fight(first, second, 3);
            let [fight] = found.as_slice() else {
                panic!("{first:?} {second:?}: {found:?}");
            };
            // The second wrote last. If it applies without the field, the field goes until the first writes again.
            let has_gap = second == Way::Apply;
            let expected = [("first", has_gap), ("second", false)];
            assert_eq!(keepers(fight), expected, "{first:?} {second:?}");
            assert_eq!(fight.remedies[0].others[0].name, "second");
        }
    }
}

#[test]
fn what_is_offered_ends_the_fight_when_the_managers_do_it() {
    for second in WAYS {
        let (versions, _) = fight(Way::Apply, second, 3);
        let mut server = ApiServer::new(Environment::default(), 1);
        server
            .install((*versions.last().unwrap().object).clone())
            .unwrap();
        // The first leaves it out of what it applies; the second writes as before.
        let mut seen = Vec::new();
        for _ in 0..3 {
            let media = "application/apply-patch+yaml";
            let path = format!("{WEB}?fieldManager=first&force=true");
            send(&mut server, "PATCH", &path, media, &deployment());
            write(&mut server, "second", second, 5);
            let object = send(&mut server, "GET", WEB, "", &Value::Null);
            seen.push((
                object["spec"]["replicas"].clone(),
                object["metadata"]["resourceVersion"].clone(),
            ));
        }
        assert!(
            seen.iter().all(|(replicas, _)| *replicas == 5),
            "{second:?}: {seen:?}"
        );
        assert_eq!(seen[1], seen[2], "{second:?}");
    }
}

#[test]
fn a_way_out_that_the_server_refuses_is_not_offered() {
    // Helm wrote last. Without the image, which Helm alone owns then, the Deployment is invalid.
    let versions = observed_versions(include_str!("fight.json")).unwrap();
    let found = ended(&versions);
    let of = |field: &str| {
        found
            .iter()
            .find(|it| it.field.to_string().ends_with(field))
            .unwrap()
    };
    assert_eq!(
        keepers(of(".replicas")),
        [("helm", false), ("web-operator", true)]
    );
    assert_eq!(keepers(of(".image")), [("helm", false)]);
}

#[test]
fn a_manager_whose_way_of_writing_is_not_known_has_no_way_out() {
    let (mut versions, _) = fight(Way::Apply, Way::Update, 3);
    for version in &mut versions {
        let object = Arc::make_mut(&mut version.object);
        let entries = object["metadata"]["managedFields"].as_array_mut().unwrap();
        for entry in entries.iter_mut().filter(|it| it["manager"] == "second") {
            entry["subresource"] = "unheard-of".into();
        }
    }
    let found = ended(&versions);
    assert_eq!(found.len(), 1);
    assert!(found[0].remedies.is_empty(), "{found:?}");
}

#[test]
fn without_owners_no_way_out_is_said_that_the_owners_could_make_otherwise() {
    let mut said = 0;
    for first in WAYS {
        for second in WAYS {
            let (versions, known) = fight(first, second, 3);
            let found = ended_without_owners(&versions);
            let (found, known) = (keepers(&found[0]), keepers(&known[0]));
            assert!(
                found.iter().all(|it| known.contains(it)),
                "{first:?} {second:?}: {found:?}, with owners {known:?}"
            );
            // What no owner decides is still said: nobody has to take the field out of an apply.
            let expected = [(first, "second"), (second, "first")];
            let expected = expected.iter().filter(|(other, _)| *other != Way::Apply);
            assert_eq!(found.len(), expected.count(), "{first:?} {second:?}");
            said += found.len();
        }
    }
    assert!(said > 0);
}

#[test]
fn each_part_of_the_ways_out_is_one_write_of_one_manager() {
    let (versions, found) = fight(Way::Apply, Way::Update, 3);
    let root = optimist_apiserver::schema::builtin("Deployment").unwrap();
    let changes = field_changes(&versions, root).unwrap();
    let (mut in_parts, on) = (fights(&changes), newest(&versions));
    let (mut run, mut parts) = (RemedyRun::default(), 0);
    while run.advance(&mut in_parts, &changes, &on.world) {
        parts += 1;
    }
    // The two managers are found. Then both write in three rounds: once in the fight, and once for each keeper.
    assert_eq!(parts, 1 + 3 * (3 * 2));
    assert_eq!(in_parts, found);
}

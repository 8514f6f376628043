//! After "the object has been modified": what each next write does, seen from the object at the end.

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::Resources;
use optimist_client::WriteMethod;
use optimist_diagnose::case::{Case, Installed};
use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::message::reported_errors;
use optimist_diagnose::modified::{NEXT, NextAttempt, attempt, refusal};
use optimist_diagnose::scene::{GivenParts, Scene};
use optimist_simulation::HistoryTree;

use crate::live::LIVE;

fn installed(text: &str) -> Installed {
    let Ok(Input::Live(object)) = detect(text) else {
        panic!("it is a live object");
    };
    Case::about(object).install().expect("it is installed")
}

fn attempt_of(installed: &Installed, kind: WriteMethod) -> NextAttempt {
    attempt(installed, kind).expect("there is a refusal")
}

/// The requests of a history and their codes, as a person reads them.
fn requests(tree: &HistoryTree) -> Vec<String> {
    let steps = tree
        .current_path()
        .iter()
        .filter_map(|node| tree.step(*node));
    let exchanges = steps.filter_map(|step| step.exchange.as_ref());
    exchanges
        .map(|it| format!("{} {}", it.method, it.code))
        .collect()
}

#[test]
fn an_update_of_an_older_version_of_any_live_object_gets_the_message() {
    for text in LIVE {
        let installed = installed(text);
        let tree = refusal(&installed).expect("there is a history");
        assert_eq!(
            requests(&tree),
            ["GET 200", "GET 200", "PATCH 200", "PUT 409"]
        );
        let last = tree.step(tree.current()).and_then(|it| it.exchange.clone());
        let last = last.expect("it is a request");
        let errors = reported_errors(text_of(&last.received));
        assert_eq!(errors.len(), 1, "{}", last.received);
    }
}

fn text_of(status: &serde_json::Value) -> &str {
    text(status, "message")
}

#[test]
fn a_new_read_a_patch_and_an_apply_keep_both_edits_of_any_live_object() {
    for text in LIVE {
        let installed = installed(text);
        let kind = installed.resource().kind.clone();
        for next in [
            WriteMethod::UpdateReadAgain,
            WriteMethod::Merge,
            WriteMethod::Apply,
        ] {
            let attempt = attempt_of(&installed, next);
            assert_eq!(
                (attempt.code, attempt.settles()),
                (200, true),
                "{kind} {next:?}"
            );
        }
    }
}

#[test]
fn without_a_version_the_other_edit_is_lost_or_the_write_is_refused() {
    let (mut lost, mut refused) = (0, 0);
    for text in LIVE {
        let attempt = attempt_of(&installed(text), WriteMethod::Update);
        assert!(!attempt.settles());
        match attempt.code {
            200 => {
                assert!(attempt.keeps_own && !attempt.keeps_other);
                lost += 1;
            }
            422 => {
                assert!(!attempt.keeps_own && attempt.keeps_other);
                refused += 1;
            }
            code => panic!("{code}"),
        }
    }
    // A custom resource and a PodDisruptionBudget always need the version.
    assert_eq!((lost, refused), (9, 2));
}

#[test]
fn a_message_about_any_built_in_kind_leads_to_ways_that_keep_both_edits() {
    let mut without = Vec::new();
    for resource in Resources::builtin().iter() {
        let group = &resource.group_version.group;
        let dot = if group.is_empty() { "" } else { "." };
        // The name of a definition has the group, and so has that of an API service.
        let name = match &*resource.kind {
            "CustomResourceDefinition" => "widgets.example.com",
            "APIService" => "v1.example.com",
            "IPAddress" => "192.0.2.1",
            _ => "web",
        };
        let message = format!(
            "Operation cannot be fulfilled on {}{dot}{group} \"{name}\": the object has been modified; \
             please apply your changes to the latest version and try again",
            resource.plural
        );
        let error = &reported_errors(&message)[0];
        let Ok(scene) = Scene::rebuild(error, &GivenParts::default()) else {
            without.push(resource.kind.clone());
            continue;
        };
        assert_eq!(scene.message(), message);
        let world = scene.history.world();
        assert_eq!(world.subject().name(), name);
        for next in [
            WriteMethod::UpdateReadAgain,
            WriteMethod::Merge,
            WriteMethod::Apply,
        ] {
            let attempt = attempt_of(&scene.installed, next);
            assert!(
                attempt.settles(),
                "{} {next:?}: {}",
                resource.kind,
                attempt.code
            );
        }
    }
    assert_eq!(without, Vec::<String>::new());
}

#[test]
fn the_commands_name_the_object_and_write_no_made_up_value() {
    for text in LIVE {
        let installed = installed(text);
        let name = installed.world.subject().name();
        for next in NEXT {
            let attempt = attempt_of(&installed, next);
            let commands = attempt.commands(Some("status"));
            for one in &commands {
                assert!(one.text.contains(" --subresource=status"), "{}", one.text);
                let writes = one.text.contains("-f ") || one.text.contains("-file=");
                assert_eq!(one.try_first.is_some(), writes, "{}", one.text);
            }
            let commands: String = commands.iter().map(|one| one.text.as_str()).collect();
            assert_eq!(commands.is_empty(), next == WriteMethod::Update);
            assert_eq!(attempt.go().is_none(), next == WriteMethod::Update);
            assert!(!commands.contains("edit-of-"), "{commands}");
            if matches!(next, WriteMethod::UpdateReadAgain | WriteMethod::Merge) {
                assert!(commands.contains(name), "{commands}");
            }
        }
    }
}

#[test]
fn the_change_is_made_before_it_is_tried() {
    let installed = installed(LIVE[0]);
    for next in NEXT {
        let commands = attempt_of(&installed, next).commands(None);
        let writes = commands.iter().filter(|one| one.try_first.is_some());
        for one in writes {
            let first = one.try_first.as_deref().expect("it is there");
            assert!(first.starts_with("# "), "{first}");
            assert!(!one.text.contains("# "), "{}", one.text);
        }
    }
}

#[test]
fn the_commands_and_the_code_name_no_namespace_that_nothing_says() {
    let message = "Operation cannot be fulfilled on deployments.apps \"web\": the object has been \
        modified; please apply your changes to the latest version and try again";
    let error = &reported_errors(message)[0];
    let texts = |given: GivenParts| -> String {
        let scene = Scene::rebuild(error, &given).expect("the core says it");
        let next = NEXT.map(|next| attempt_of(&scene.installed, next));
        let commands = next.iter().flat_map(|it| it.commands(None));
        let code = next.iter().filter_map(NextAttempt::go);
        let commands = commands.map(|one| one.text + &one.try_first.unwrap_or_default());
        commands.chain(code).collect()
    };
    let unsaid = texts(GivenParts::default());
    assert!(
        unsaid.contains("kubectl get deployment web -n NAMESPACE "),
        "{unsaid}"
    );
    assert!(unsaid.contains("Deployments(\"NAMESPACE\")"), "{unsaid}");
    assert!(
        !unsaid.contains("-n default") && !unsaid.contains("\"default\""),
        "{unsaid}"
    );
    // Who adds the namespace gets it.
    let said = texts(GivenParts {
        namespace: Some("shop".to_owned()),
        ..GivenParts::default()
    });
    assert!(
        said.contains("-n shop") && !said.contains("NAMESPACE"),
        "{said}"
    );
}

#[test]
fn the_code_for_a_new_read_retries_on_a_conflict() {
    let attempt = attempt_of(&installed(LIVE[4]), WriteMethod::UpdateReadAgain);
    let go = attempt.go().expect("there is code");
    assert!(
        go.contains("retry.RetryOnConflict(retry.DefaultRetry"),
        "{go}"
    );
    assert!(
        attempt
            .history
            .world()
            .stored()
            .is_some_and(|(_, it)| !it.resource_version().is_empty())
    );
}

//! The errors that kubectl v1.36 and other tools print are detected, with what they say of the
//! object. The texts of kubectl were recorded; those of other tools are as people have pasted them.

use optimist_diagnose::message::{
    ErrorSource, MAX_ERRORS, ObjectHint, Precondition, PrintedError, ReportedError, reported_errors,
};
use serde_json::Value;

fn cases(json: &str) -> Vec<Value> {
    serde_json::from_str(json).expect("the file is a list")
}

fn kubectl() -> Vec<Value> {
    cases(include_str!("messages/kubectl.json"))
}

fn other_tools() -> Vec<Value> {
    cases(include_str!("messages/other_tools.json"))
}

fn text<'a>(case: &'a Value, member: &str) -> &'a str {
    case[member].as_str().expect("it is a text")
}

/// The one error that the text of this tool reports.
fn one(tool: &str) -> ReportedError {
    let cases = other_tools();
    let case = cases
        .iter()
        .find(|case| text(case, "tool").starts_with(tool));
    let mut errors = reported_errors(text(case.expect(tool), "text"));
    assert_eq!(errors.len(), 1, "{tool}: {errors:#?}");
    errors.remove(0)
}

fn hint(
    (api_version, kind): (&str, &str),
    resource: &str,
    (namespace, name): (&str, &str),
) -> ObjectHint {
    let told = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    ObjectHint {
        api_version: told(api_version),
        kind: told(kind),
        group: None,
        resource: told(resource),
        namespace: told(namespace),
        is_namespace_of_run: false,
        name: told(name),
        subresource: None,
    }
}

/// The server's message for conflicts of an apply, made again from what was read.
fn message_of(error: &PrintedError) -> Option<String> {
    let PrintedError::Apply(conflicts) = error else {
        return None;
    };
    let count: usize = conflicts.iter().map(|one| one.fields.len()).sum();
    Some(if count == 1 {
        let one = &conflicts[0];
        format!(
            "Apply failed with 1 conflict: conflict with {one}: {}",
            one.fields[0]
        )
    } else {
        let parts = conflicts.iter().map(|one| {
            let fields: String = one.fields.iter().map(|it| format!("\n- {it}")).collect();
            format!("conflicts with {one}:{fields}")
        });
        let parts: Vec<String> = parts.collect();
        format!("Apply failed with {count} conflicts: {}", parts.join("\n"))
    })
}

#[test]
fn every_error_that_kubectl_prints_is_recognized_and_none_elsewhere() {
    for case in kubectl() {
        let printed = text(&case, "stderr");
        let errors = reported_errors(printed);
        assert_eq!(
            errors.is_empty(),
            printed.is_empty(),
            "{}: {printed}",
            text(&case, "note")
        );
        for error in errors {
            assert_eq!(error.tool, Some(ErrorSource::Kubectl), "{printed}");
            if let Some(message) = message_of(&error.error) {
                assert!(printed.contains(&message), "{message}\n{printed}");
            }
        }
    }
}

#[test]
fn every_apply_conflict_of_kubectl_is_read_whole() {
    let printed: usize = kubectl()
        .iter()
        .map(|case| text(case, "stderr").matches("Apply failed with").count())
        .sum();
    let read = kubectl().iter().fold(0, |sum, case| {
        let errors = reported_errors(text(case, "stderr"));
        sum + errors
            .iter()
            .filter(|one| message_of(&one.error).is_some())
            .count()
    });
    assert_eq!(read, printed);
}

#[test]
fn an_error_of_a_precondition_names_both_values() {
    let case = kubectl()
        .into_iter()
        .find(|case| text(case, "note").contains("uid precondition"));
    let errors = reported_errors(text(&case.expect("it is recorded"), "stderr"));
    assert_eq!(
        errors[0].error,
        PrintedError::Precondition {
            of: Precondition::Uid,
            sent: "11111111-2222-3333-4444-555555555555".to_owned(),
            stored: "5a2852e1-a0bf-4bee-9f1d-f19014a84fb8".to_owned(),
        }
    );
    assert_eq!(errors[0].object, hint(("", "Deployment"), "", ("", "web")));
}

#[test]
fn a_refused_client_side_apply_names_its_object_and_not_its_patch() {
    for (note, kind, resource) in [
        (
            "the same with a ConfigMap",
            ("v1", "ConfigMap"),
            "configmaps",
        ),
        (
            "the same with a custom resource",
            ("demo.example.com/v1", "Backup"),
            "backups.demo.example.com",
        ),
    ] {
        let case = kubectl()
            .into_iter()
            .find(|case| text(case, "note") == note);
        let errors = reported_errors(text(&case.expect(note), "stderr"));
        assert_eq!(errors.len(), 1, "{note}");
        assert_eq!(errors[0].error, PrintedError::Modified);
        assert_eq!(errors[0].object, hint(kind, resource, ("shop", "csa")));
    }
}

#[test]
fn the_texts_of_other_tools_name_the_tool_and_the_object() {
    let replicas = |manager: &str| format!("{manager:?} with subresource \"scale\" using apps/v1");
    for (tool, of, object) in [
        (
            "Helm 4",
            ErrorSource::Helm,
            hint(("apps/v1", "Deployment"), "", ("shop", "worker")),
        ),
        (
            "Helm 4 (k3s",
            ErrorSource::Helm,
            hint(("apps/v1", "Deployment"), "", ("kube-system", "proxy")),
        ),
        (
            "Helm 4 (wrapped",
            ErrorSource::Helm,
            hint(("apps/v1", "Deployment"), "", ("", "web")),
        ),
        (
            "Terraform kubernetes_manifest",
            ErrorSource::Terraform,
            hint(("apps/v1", ""), "", ("shop", "web")),
        ),
        (
            "Terraform gavinbunney",
            ErrorSource::TerraformKubectl,
            hint(("v1", ""), "", ("kube-system", "aws-auth")),
        ),
        (
            "Pulumi 3",
            ErrorSource::Pulumi,
            hint(
                ("apps/v1", "Deployment"),
                "",
                ("shop", "nginx-deployment-0a1b2c3d"),
            ),
        ),
        (
            "Pulumi 4",
            ErrorSource::Pulumi,
            hint(("apps/v1", ""), "", ("", "")),
        ),
        (
            "Ansible",
            ErrorSource::Ansible,
            hint(("apiextensions.k8s.io/v1", ""), "", ("", "")),
        ),
    ] {
        let error = one(tool);
        assert_eq!((error.tool, &error.object), (Some(of), &object), "{tool}");
        assert!(matches!(error.error, PrintedError::Apply(_)), "{tool}");
    }
    let PrintedError::Apply(conflicts) = one("Helm 4").error else {
        panic!("it is an apply");
    };
    assert_eq!(
        conflicts[0].to_string(),
        replicas("kube-controller-manager")
    );
    assert_eq!(conflicts[0].fields, [".spec.replicas"]);
}

#[test]
fn conflicts_of_updates_in_logs_name_the_object_that_was_written() {
    for (tool, of, object) in [
        (
            "Argo CD CLI",
            ErrorSource::ArgoCd,
            hint(("", ""), "applications.argoproj.io", ("", "dev-app")),
        ),
        (
            "Flux",
            ErrorSource::Flux,
            hint(
                ("", "Ingress"),
                "ingresses.networking.k8s.io",
                ("shop", "web-ingress"),
            ),
        ),
        (
            "controller-runtime v0.5",
            ErrorSource::ControllerRuntime,
            // The controller works on another object of this namespace.
            ObjectHint {
                is_namespace_of_run: true,
                ..hint(
                    ("", ""),
                    "deployments.apps",
                    ("team-a", "model-grpc-0-classifier"),
                )
            },
        ),
        (
            "kube-controller-manager (klog text)",
            ErrorSource::KubeControllerManager,
            hint(("", ""), "deployments.extensions", ("default", "web")),
        ),
        (
            "kube-controller-manager (klog structured)",
            ErrorSource::KubeControllerManager,
            hint(("", ""), "deployments.apps", ("loki", "web")),
        ),
    ] {
        let error = one(tool);
        assert_eq!((error.tool, error.object), (Some(of), object), "{tool}");
        assert_eq!(error.error, PrintedError::Modified, "{tool}");
    }
    let gone = one("controller-runtime (zap JSON");
    assert_eq!(
        gone.error,
        PrintedError::OtherUid {
            sent: "11111111-2222-3333-4444-555555555555".to_owned(),
            stored: String::new(),
            key: "/registry/cert-manager.io/certificaterequests/mesh/csr-1".to_owned(),
        }
    );
    let object = hint(
        ("", ""),
        "certificaterequests.cert-manager.io",
        ("mesh", "csr-1"),
    );
    assert_eq!(gone.object, object);
}

#[test]
fn several_objects_in_one_text_are_several_errors_each_once() {
    let texts = other_tools();
    let of = |tool: &str| {
        let case = texts.iter().find(|case| text(case, "tool") == tool);
        let errors = reported_errors(text(case.expect(tool), "text"));
        let names = errors.iter().map(|one| {
            let object = &one.object;
            let part = |part: &Option<String>| part.clone().unwrap_or_default();
            format!("{} {}", part(&object.kind), part(&object.name))
        });
        names.collect::<Vec<_>>()
    };
    assert_eq!(
        of("Helm 4 (several objects)"),
        [
            "CronJob cert-upgrader-pod",
            "Lease controller",
            "Lease cert-upgrader"
        ]
    );
    assert_eq!(
        of("Helm 4 (core group)"),
        ["Secret dockercfg", "ConfigMap ca-bundle"]
    );
    assert!(of("kubectl installing Argo CD").len() > 1);
}

#[test]
fn a_large_hostile_text_is_read_to_its_end() {
    for part in [
        "Apply failed with 9 conflicts: conflicts with \"a\":\n",
        "Operation cannot be fulfilled on a \"\\\"",
        "\"é\" already exists ",
        "│ é\n",
        "\\\"",
    ] {
        let text = part.repeat(200_000 / part.len());
        let errors = reported_errors(&text);
        assert!(errors.len() <= 1, "{part}: {}", errors.len());
    }
    let many: String = (0..3000)
        .map(|i| format!("configmaps \"c{i}\" already exists\n"))
        .collect();
    assert_eq!(reported_errors(&many).len(), MAX_ERRORS);
}

#[test]
fn a_text_that_reads_as_yaml_and_is_an_error_message_is_taken_for_the_message() {
    use optimist_diagnose::input::{Input, detect};
    for text in [
        "metadata.resourceVersion: Invalid value: 0x0: must be specified for an update",
        "The object has been modified; please apply your changes to the latest version and try again",
        "message: \"forceConflicts enabled when serverSideApply disabled\"",
    ] {
        let input = detect(text);
        let Ok(Input::Errors(errors)) = input else {
            panic!("{text}: {input:?}");
        };
        assert_eq!(errors.len(), 1, "{text}");
        assert_eq!(errors[0].object, ObjectHint::default(), "{text}");
    }
}

#[test]
fn a_text_without_an_error_reports_none() {
    for text in [
        "",
        "deployment.apps/web configured",
        "Apply failed with 3 conflicts: conflicts with \"a\":\n- .spec.x",
        "Apply failed with many conflicts",
        "Operation cannot be fulfilled on",
        "the file already exists",
        "\"\\\\\\\"",
        "Apply failed with 1 conflict: conflict with \"",
    ] {
        assert_eq!(reported_errors(text), [], "{text}");
    }
}

#[test]
fn a_right_that_is_missing_names_the_user_the_verb_and_the_resource_and_a_schema_no_value() {
    let error = |text: &str| reported_errors(text).remove(0).error;
    let right = |verb: &str, of: &str| PrintedError::NoRight {
        user: "jane".to_owned(),
        verb: verb.to_owned(),
        of: of.to_owned(),
    };
    assert_eq!(
        error(
            "deployments.apps \"web\" is forbidden: User \"jane\" cannot patch resource \"deployments/scale\" in API group \"apps\" in the namespace \"shop\""
        ),
        right("patch", "deployments.apps/scale")
    );
    assert_eq!(
        error("forbidden: User \"jane\" cannot get path \"/metrics\""),
        right("get", "/metrics")
    );
    let of = |problem: &str| PrintedError::NotOfSchema {
        field: ".data.a".to_owned(),
        problem: problem.to_owned(),
        stored: false,
    };
    let text = |problem: &str| {
        error(&format!(
            "failed to create typed patch object (/cfg; /v1, Kind=ConfigMap): .data.a: {problem}"
        ))
    };
    assert_eq!(
        text("expected string, got &value.valueUnstructured{Value:1}"),
        of("expected string")
    );
    assert_eq!(
        text("duplicate entries for key [name=\"x\"] and so on"),
        of("duplicate entries for key [name=\"x\"]")
    );
}

#[test]
fn the_namespace_of_a_run_is_not_told_as_that_of_another_object() {
    let reported = |of: &str, run: &str| {
        let line = format!(
            "E0102 03:04:05.6 1 controller.go:329] \"Reconciler error\" err=\"Operation cannot be fulfilled on {of}: \
             the object has been modified; please apply your changes to the latest version and try again\" {run}"
        );
        let object = reported_errors(&line).remove(0).object;
        (object.namespace, object.is_namespace_of_run)
    };
    let run = r#"controller="foo" namespace="shop" name="foo-1" reconcileID="a""#;
    let shop = || Some("shop".to_owned());
    assert_eq!(
        reported(r#"foos.example.com \"foo-1\""#, run),
        (shop(), false)
    );
    assert_eq!(reported(r#"deployments.apps \"web\""#, run), (shop(), true));
    assert_eq!(reported(r#"nodes \"n1\""#, run), (None, false));
}

#[test]
fn a_message_of_a_page_or_of_a_mail_is_read_as_it_was_printed() {
    let plain = r#"Error from server (Conflict): Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again"#;
    let expected = reported_errors(plain);
    assert_eq!(expected.len(), 1);
    for other in [
        plain.replace('"', "&quot;"),
        plain.replace(" \"web\"", " \u{201c}web\u{201d}"),
        plain.replace("has been modified", "has been\nmodified"),
        plain.replace(
            "fulfilled on deployments.apps",
            "fulfilled on\n  deployments.apps",
        ),
        plain.replace("apps \"web\"", "apps\n\"web\""),
    ] {
        assert_eq!(reported_errors(&other), expected, "{other}");
    }
}

#[test]
fn the_words_of_a_tool_around_a_message_name_its_object() {
    let modified = "Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please";
    let kapp = format!(
        "kapp: Error: Applying update deployment/web (apps/v1) namespace: shop:\n  \
         Updating resource deployment/web (apps/v1) namespace: shop:\n    API server says: {modified}"
    );
    let pulumi = "  kubernetes:apps/v1:Deployment (web):\n    error: update of resource \
        \"urn:pulumi:dev::shop::kubernetes:apps/v1:Deployment::web\" failed because the Kubernetes API server reported that \
        it failed to fully initialize or become live: Apply failed with 1 conflict: conflict with \"kubectl-scale\" using \
        apps/v1: .spec.replicas";
    let terminated = "Error from server (Forbidden): error when creating \"cm.yaml\": configmaps \"a\" is forbidden: \
        unable to create new content in namespace shop because it is being terminated";
    let of = |text: &str| reported_errors(text).remove(0).object;
    assert_eq!(of(&kapp).namespace.as_deref(), Some("shop"));
    assert_eq!(reported_errors(&kapp)[0].tool, Some(ErrorSource::Kapp));
    assert_eq!(of(terminated).namespace.as_deref(), Some("shop"));
    let named = of(pulumi);
    assert_eq!(named.kind.as_deref(), Some("Deployment"));
    assert_eq!(named.api_version.as_deref(), Some("apps/v1"));
    assert_eq!(named.name, None, "that is its name in the program");
}

/// Web pages and word processors have other spaces than a terminal.
#[test]
fn a_message_is_read_behind_any_space() {
    let user = "User \"op\" cannot list resource \"deployments\" in API group \"apps\" at the cluster scope";
    for before in ["\u{a0}", "\u{3000}", "→\u{a0}"] {
        let named = format!("Error:{before}deployments.apps \"web\" is forbidden: {user}");
        let invalid = format!(
            "Error:{before}Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"
        );
        let all = format!("Error:{before}deployments.apps is forbidden: {user}");
        for text in [named, invalid, all] {
            assert_eq!(reported_errors(&text).len(), 1, "{text}");
            // A letter makes it another word.
            reported_errors(&text.replace(before, "é"));
        }
    }
}

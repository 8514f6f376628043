//! Advice on an error, if its message alone shows what helps; and why nothing is read from or compared with
//! a real API server.

use std::collections::BTreeSet;

use optimist_apiserver::server::Release;
use optimist_client::Preset;
use optimist_diagnose::case::{Case, NotInstalled, ObjectId};
use optimist_diagnose::message::reported_errors;
use optimist_diagnose::preview::{DeliveryTool, Preview, PreviewInput};
use optimist_diagnose::remote::{NotAllowed, NotAnswered, NotPredicted};
use optimist_diagnose::scene::{GivenParts, Scene};
use optimist_diagnose::ways::{ChangeTable, OnOwned, WantedChange, Way};
use optimist_messages::diagnose::{
    error_advice, error_missing, error_title, names_object, no_scene, not_installed, row_notes,
};
use optimist_messages::preview::{headline, row_name};
use optimist_messages::remote::{not_answered, not_predicted};
use serde_json::json;

/// The advice on a text with one error.
fn advice(text: &str) -> Option<String> {
    let errors = reported_errors(text);
    assert_eq!(errors.len(), 1, "{text}: {errors:?}");
    error_advice(&errors[0])
}

#[test]
fn a_conflict_of_an_older_release_is_said_to_be_one() {
    let message = "Operation cannot be fulfilled on deployments.apps \"web\": StorageError: invalid object, Code: 4, \
                   Key: /registry/deployments/shop/web, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: \
                   UID in precondition: 11111111-2222-3333-4444-555555555555, UID in object meta: ";
    let error = &reported_errors(message)[0];
    let why = Scene::rebuild(error, &GivenParts::default()).expect_err("it has no scene");
    assert_eq!(error_title(&error.error), "The object was deleted");
    assert_eq!(
        no_scene(&why),
        "A kube-apiserver before v1.34 says this. Since v1.34, it answers 404: deployments.apps \"web\" not found. \
         So the scene cannot be rebuilt here."
    );
}

#[test]
fn each_refusal_with_one_way_on_gets_it() {
    let uid = |stored: &str| {
        format!(
            "Operation cannot be fulfilled on pods \"web\": StorageError: invalid object, Code: 4, \
             Key: /registry/pods/shop/web, ResourceVersion: 0, AdditionalErrorMsg: Precondition \
             failed: UID in precondition: 11111111-2222-3333-4444-555555555555, UID in object meta: \
             {stored}"
        )
    };
    let another = uid("99999999-2222-3333-4444-555555555555");
    let gone = uid("");
    let begins = [
        (
            gone.as_str(),
            "The object was deleted before this write arrived",
        ),
        (
            another.as_str(),
            "The object that was read is deleted, and another one has its name.",
        ),
        (
            "Service \"web\" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be \
             specified for an update",
            "This Update needs the resourceVersion",
        ),
        (
            "Error from server (BadRequest): metadata.managedFields must be nil",
            "Only the server writes managedFields.",
        ),
        (
            "Error from server (AlreadyExists): configmaps \"web\" already exists",
            "A create does not change an object that is there.",
        ),
        (
            "Error from server (AlreadyExists): object is being deleted: configmaps \"web\" already \
             exists",
            "An object with this name is being deleted.",
        ),
        (
            "failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.foo: field not declared in \
             schema",
            "Server-side apply knows every field from the schema",
        ),
        (
            "failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.list: duplicate entries \
             for key [name=\"a\"]",
            "Two items of the list have the same key.",
        ),
        (
            "failed to create typed live object (shop/web; apps/v1, Kind=Deployment): .spec.list: duplicate entries \
             for key [name=\"a\"]",
            "The stored object itself does not fit the schema",
        ),
        (
            "resourceVersion should not be set on objects to be created",
            "A create is for an object that is not there",
        ),
        (
            "pods is forbidden: User \"jane\" cannot list resource \"pods\" in API group \"\" in the namespace \
             \"shop\"",
            "The API server refused the request because of RBAC",
        ),
        (
            "Error from server (NotFound): the server could not find the requested resource",
            "This is not about one object",
        ),
        (
            "The request is invalid: the server rejected our request due to an error in our request",
            "The API server does not say which operation failed",
        ),
        (
            "testing value /spec/replicas failed: test failed",
            "The value at this path is not the one that the patch expects",
        ),
    ];
    for (text, begin) in begins {
        let said = advice(text).unwrap_or_default();
        assert!(said.starts_with(begin), "{text}\n{said}");
    }
}

#[test]
fn a_conflict_is_routine_for_a_controller_and_for_nobody_else() {
    let modified = "Operation cannot be fulfilled on deployments.apps \"web\": the object has been \
                    modified; please apply your changes to the latest version and try again";
    let of_controllers = [
        format!(
            "{{\"level\":\"error\",\"ts\":\"2026-11-22T06:05:06Z\",\"msg\":\"Reconciler error\",\
             \"controller\":\"web\",\"error\":{modified:?}}}"
        ),
        format!(
            "Error: ApiError: {modified}: Conflict (ErrorResponse {{ status: \"Failure\", message: \
             {modified:?}, reason: \"Conflict\", code: 409 }})"
        ),
    ];
    for text in &of_controllers {
        let said = advice(text).unwrap_or_default();
        assert!(
            said.starts_with("For a controller this is routine."),
            "{text}\n{said}"
        );
    }
    let of_kubectl = format!("Error from server (Conflict): {modified}");
    assert_eq!(advice(&of_kubectl), None);
}

#[test]
fn each_reason_of_an_api_server_beside_the_page_is_a_sentence() {
    let refused = |code, message: &str| NotAnswered::Refused {
        code,
        message: message.to_owned(),
    };
    let target = "/api/v1/namespaces/shop/configmaps";
    let said = |why| not_answered(target, &why);
    assert_eq!(
        said(refused(403, "configmaps is forbidden")),
        "/api/v1/namespaces/shop/configmaps was answered with 403: configmaps is forbidden"
    );
    assert_eq!(
        said(refused(502, "")),
        "/api/v1/namespaces/shop/configmaps was answered with 502."
    );
    assert_eq!(
        said(NotAnswered::NotAnApiServer),
        "The answer to /api/v1/namespaces/shop/configmaps is not that of an API server."
    );
    let id = ObjectId::from_object(&json!({"kind": "Widget", "metadata": {"name": "web"}}));
    let not_served = NotInstalled::NotServed {
        api_version: "example/v1".to_owned(),
        kind: "Widget".to_owned(),
    };
    let reasons = [
        NotPredicted::Secret,
        NotPredicted::UnknownKind,
        NotPredicted::NotInstalled(not_served.clone()),
        NotPredicted::Unable,
        NotPredicted::NothingSent,
        NotPredicted::NotAllowed(NotAllowed::Method),
        NotPredicted::NotAllowed(NotAllowed::Path),
        NotPredicted::NotAllowed(NotAllowed::Subresource),
        NotPredicted::NotAllowed(NotAllowed::NotADryRun),
    ];
    let said: BTreeSet<String> = reasons.iter().map(|it| not_predicted(it, &id)).collect();
    assert_eq!(said.len(), reasons.len(), "each has its own: {said:?}");
    assert!(said.iter().all(|it| it.ends_with('.')), "{said:?}");
    assert!(said.contains(&not_installed(&not_served, &id)), "{said:?}");
}

#[test]
fn a_command_with_an_open_name_is_needed_only_if_no_message_names_its_object() {
    let named = |text: &str| {
        let errors = reported_errors(text);
        names_object(&errors.iter().collect::<Vec<_>>())
    };
    assert!(named(
        "The Service \"web\" is invalid: spec.clusterIP: Invalid value: \"\": field is immutable"
    ));
    assert!(named(
        "Error from server (AlreadyExists): secrets \"a\" already exists"
    ));
    assert!(!named("Error: UPGRADE FAILED: context deadline exceeded"));
    assert!(!named(""));
}

#[test]
fn what_was_waited_for_is_said_where_the_message_names_it() {
    let late = |before: &str| advice(&format!("{before}context deadline exceeded"));
    let of = |method: &str| {
        let url = "https://10.0.0.1:443/api/v1/namespaces/x/configmaps/y";
        late(&format!("{method} \"{url}\": ")).expect("there is advice")
    };
    assert!(of("Get").contains("a read stores nothing"), "{}", of("Get"));
    for method in ["Put", "Post", "Patch", "Delete"] {
        let says = of(method);
        assert!(says.contains(&format!("({method})")), "{says}");
        assert!(says.contains("may have carried it out or not"), "{says}");
    }
    let open = late("Error: UPGRADE FAILED: ").expect("there is advice");
    assert!(open.contains("does not say what was waited for"), "{open}");
}

#[test]
fn a_patch_that_failed_in_the_server_is_not_told_as_the_patch_of_the_user() {
    let message = "Error from server (InternalError): Internal error occurred: testing value \
                   /metadata/labels/x failed: test failed";
    let error = &reported_errors(message)[0];
    let why = Scene::rebuild(error, &GivenParts::default()).expect_err("it has no scene");
    assert_eq!(
        no_scene(&why),
        "The object and its owners alone do not decide this, so no scene is rebuilt."
    );
    let says = advice(message).expect("there is advice");
    assert!(says.contains("mutating admission webhook"), "{says}");
}

#[test]
fn a_version_in_a_manifest_is_to_be_taken_out() {
    let message = |patch: &str| {
        format!(
            "Error from server (Conflict): error when applying patch:\n{patch}\nto:\nResource: \"apps/v1, \
             Resource=deployments\", GroupVersionKind: \"apps/v1, Kind=Deployment\"\nName: \"web\", Namespace: \
             \"prod\"\nfor: \"web.yaml\": Operation cannot be fulfilled on deployments.apps \"web\": the object has \
             been modified; please apply your changes to the latest version and try again"
        )
    };
    let with = message(r#"{"metadata":{"annotations":{"a":"b"},"resourceVersion":"100"}}"#);
    let says = advice(&with).expect("there is advice");
    assert!(
        says.contains("Take metadata.resourceVersion out of the manifest"),
        "{says}"
    );
    assert!(!reported_errors(&with)[0].is_for_redo());
    let without = message(r#"{"spec":{"replicas":3}}"#);
    let says = advice(&without).expect("there is advice");
    assert!(says.contains("has no metadata.resourceVersion"), "{says}");
    assert!(!reported_errors(&without)[0].is_for_redo());
}

#[test]
fn a_row_that_is_refused_for_the_version_of_its_manifest_says_what_helps() {
    let live = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop",
        "uid": "1", "resourceVersion": "48213"}, "data": {"k": "v"}});
    let manifest = |version: Option<&str>| {
        let mut manifest = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "shop"}, "data": {"k": "w"}});
        if let Some(version) = version {
            manifest["metadata"]["resourceVersion"] = version.into();
        }
        manifest
    };
    let notes = |version: Option<&str>| {
        let mut case = Case::blank(ObjectId::from_object(&live));
        case.live = Some(live.clone());
        let installed = case.install().expect("it is stored");
        let table = ChangeTable::new(&installed, WantedChange::manifest(manifest(version)));
        let way = Way::Client(Preset::KubectlApply, OnOwned::Usual);
        row_notes(&table.row(way).expect("it can carry it")).join(" ")
    };
    let cure = "Take metadata.resourceVersion out of the manifest";
    let old = notes(Some("47000"));
    assert!(
        old.contains("has resourceVersion 47000") && old.contains(cure),
        "{old}"
    );
    for version in [None, Some("48213")] {
        assert!(!notes(version).contains(cure), "{version:?}");
    }
}

#[test]
fn objects_of_one_name_in_two_namespaces_are_told_apart() {
    let object = |namespace: &str, name: &str| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace},
            "data": {"k": "v"}})
    };
    let mut live = object("prod", "web");
    live["metadata"]["uid"] = "1".into();
    live["metadata"]["resourceVersion"] = "5".into();
    let tool = Preset::KubectlApply;
    let preview = Preview::run(PreviewInput {
        left_out: Vec::new(),
        live: vec![live],
        next: vec![object("dev", "web"), object("dev", "other")],
        earlier: None,
        tool: DeliveryTool::new(tool),
        namespace: None,
        release: Release::default(),
    });
    let names: BTreeSet<String> = preview
        .rows
        .iter()
        .map(|row| row_name(row, &preview))
        .collect();
    let expected = ["ConfigMap dev/web", "ConfigMap other", "ConfigMap prod/web"];
    assert_eq!(names, expected.map(str::to_owned).into());
    let (_, says) = headline(&preview, tool);
    let differs = "ConfigMap prod/web is not written: ConfigMap dev/web is another object, in another namespace.";
    assert!(says.iter().any(|it| it == differs), "{says:?}");
}

#[test]
fn an_immutable_field_needs_a_new_object_and_says_what_goes_with_the_old_one() {
    let selector = "The Deployment \"web\" is invalid: spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"b\"}}: field is \
                    immutable";
    let set = "The StatefulSet \"db\" is invalid: spec: Forbidden: updates to statefulset spec for fields other than \
               'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', \
               'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
    for text in [selector, set] {
        let advice = advice(text).expect("there is advice");
        assert!(advice.contains("--cascade=orphan"), "{advice}");
    }
    let other = "The Deployment \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0";
    assert_eq!(advice(other), None);
}

#[test]
fn what_a_tool_keeps_of_its_own_is_about_no_object_and_has_advice() {
    let texts = [
        "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress",
        "Error: UPGRADE FAILED: \"shop\" has no deployed releases",
        "Error: INSTALLATION FAILED: cannot re-use a name that is still in use",
        "Error: UPGRADE FAILED: release: already exists",
        "Error: Error acquiring the state lock",
        "Error: Provider produced inconsistent result after apply: .object.spec.replicas: was 3, but now 5",
    ];
    for text in texts {
        let errors = reported_errors(text);
        let [error] = &errors[..] else {
            panic!("{text}: {errors:?}");
        };
        assert!(error_advice(error).is_some(), "{text}");
        assert_eq!(error_missing(error), "", "{text}");
        let why = Scene::rebuild(error, &GivenParts::default()).expect_err("no server says it");
        assert!(
            no_scene(&why).contains("The API server refuses nothing"),
            "{text}"
        );
    }
}

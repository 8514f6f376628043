//! The command, code or configuration by which people do what a row did, each of its own tool.

use optimist_client::Preset;
use optimist_diagnose::case::Case;
use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::message::reported_errors;
use optimist_diagnose::scene::{GivenParts, Scene};
use optimist_diagnose::ways::{
    CaseContent, ChangeTable, Instruction, InstructionLanguage, InstructionWarning, OnOwned,
    RemedyKind, WantedChange, Way,
};
use serde_json::{Value, json};

use crate::live::LIVE;

const CHART: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {helm.sh/chart: web-1.2.4}
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

fn table_of(live: &str, manifest: Value) -> ChangeTable {
    let Ok(Input::Live(object)) = detect(live) else {
        panic!("it is a live object");
    };
    let installed = Case::about(object).install().expect("it is installed");
    ChangeTable::new(&installed, WantedChange::manifest(manifest))
}

fn chart() -> ChangeTable {
    let Ok(Input::Manifest(manifest)) = detect(CHART) else {
        panic!("it is a manifest");
    };
    table_of(LIVE[4], manifest)
}

fn instructions(table: &ChangeTable, preset: Preset, on_owned: OnOwned) -> Vec<Instruction> {
    let row = table.row(Way::Client(preset, on_owned));
    table.instructions(&row.expect("the way can carry it"), true)
}

fn texts(all: &[Instruction]) -> Vec<&str> {
    all.iter().map(|one| one.text.as_str()).collect()
}

#[test]
fn each_tool_has_its_own_command_with_the_names_of_the_object() {
    let table = chart();
    let chart = "# CHART: the path or the URL of the chart web-1.2.4.\n";
    let helm = "helm upgrade web CHART -n live";
    for (preset, on_owned, expected) in [
        (
            Preset::Helm3,
            OnOwned::Usual,
            format!("{chart}# Helm 4 does the same with --server-side=false.\n{helm}\n"),
        ),
        (
            Preset::Helm4,
            OnOwned::Usual,
            format!("{chart}{helm} --server-side=true\n"),
        ),
        (
            Preset::Helm4,
            OnOwned::Force,
            format!("{chart}{helm} --server-side=true --force-conflicts\n"),
        ),
        (
            Preset::ArgoCdClientSide,
            OnOwned::Usual,
            "argocd app sync web --resource apps:Deployment:live/web\n".to_owned(),
        ),
        (
            Preset::Flux,
            OnOwned::Usual,
            "flux reconcile kustomization KUSTOMIZATION -n NAMESPACE --with-source\n".to_owned(),
        ),
        (
            Preset::KubectlScale,
            OnOwned::Usual,
            "kubectl scale deployment web -n live --replicas=3\n".to_owned(),
        ),
        (
            Preset::KubectlLabel,
            OnOwned::Usual,
            "kubectl label deployment web -n live --overwrite helm.sh/chart=web-1.2.4\n".to_owned(),
        ),
        (
            Preset::KubectlEdit,
            OnOwned::Usual,
            "kubectl edit deployment web -n live\n".to_owned(),
        ),
    ] {
        let all = instructions(&table, preset, on_owned);
        assert_eq!(texts(&all), [expected], "{preset:?} {on_owned:?}");
    }
    assert!(instructions(&table, Preset::Autoscaler, OnOwned::Usual).is_empty());
}

#[test]
fn argo_cd_never_forces_and_applies_in_the_server_with_one_command() {
    let table = chart();
    for (preset, on_owned, flag, option) in [
        (
            Preset::ArgoCdServerSide,
            OnOwned::Usual,
            "--server-side",
            "ServerSideApply=true",
        ),
        (
            Preset::ArgoCdClientSide,
            OnOwned::Force,
            "--force",
            "Force=true",
        ),
    ] {
        let all = instructions(&table, preset, on_owned);
        let command = all[0].text.lines().next().unwrap_or_default();
        assert!(command.ends_with(&format!("live/web {flag}")), "{command}");
        let option = format!("argocd.argoproj.io/sync-options: {option}\n");
        assert!(all[0].text.ends_with(&option), "{}", all[0].text);
    }
}

#[test]
fn manifests_are_read_by_the_command_of_their_way() {
    let table = chart();
    for (preset, command) in [
        (Preset::KubectlApply, "kubectl apply -n live -f - <<'EOF'\n"),
        (
            Preset::KubectlReplace,
            "kubectl replace -n live -f - <<'EOF'\n",
        ),
        (
            Preset::KubectlApplyServerSide,
            "kubectl apply --server-side -n live --field-manager=kubectl -f - <<'EOF'\n",
        ),
    ] {
        let all = instructions(&table, preset, OnOwned::Usual);
        assert!(all[0].text.starts_with(command), "{}", all[0].text);
        assert!(
            all[0]
                .text
                .ends_with("containerPort: 80\n          name: http\nEOF\n")
        );
        assert!(all[0].has_values);
    }
    let large = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
        "data": {"a": "x".repeat(20_000)}});
    let all = instructions(
        &table_of(LIVE[1], large),
        Preset::KubectlApply,
        OnOwned::Usual,
    );
    assert_eq!(texts(&all), ["kubectl apply -n live -f MANIFEST.yaml\n"]);
}

#[test]
fn the_value_of_the_chart_is_offered_only_where_it_settles_the_whole_conflict() {
    let text = CHART.replace("name: nginx\n", "name: nginx\n        image: nginx:9\n");
    let Ok(Input::Manifest(manifest)) = detect(&text) else {
        panic!("it is a manifest");
    };
    for (table, fields, offered) in [(chart(), 1, true), (table_of(LIVE[4], manifest), 2, false)] {
        let outs = table.remedies(Preset::Helm4);
        let refused = table.row(Way::Client(Preset::Helm4, OnOwned::Usual));
        let causes = refused.expect("it is refused").causes;
        assert_eq!(causes.len(), fields, "{causes:?}");
        let out = outs.iter().find(|out| out.kind == RemedyKind::LeaveOut);
        let all = table.instructions_out(out.expect("it is offered"), CaseContent::Whole);
        let of_chart = all
            .iter()
            .any(|one| one.text.contains("autoscaling.enabled"));
        assert_eq!(of_chart, offered, "{all:?}");
    }
}

#[test]
fn a_way_out_says_which_lines_to_change_and_the_command_of_its_client() {
    let table = chart();
    let outs = table.remedies(Preset::Helm4);
    let own = |kind| {
        let out = outs.iter().find(|out| out.kind == kind);
        table.instructions_out(out.expect("it is offered"), CaseContent::Whole)
    };
    let left_out = own(RemedyKind::LeaveOut);
    assert_eq!(left_out[0].language, InstructionLanguage::Lines);
    assert_eq!(left_out[0].text, "  spec:\n-   replicas: 3\n");
    assert!(left_out[1].text.ends_with("-n live --server-side=true\n"));
    assert!(
        left_out[2]
            .text
            .starts_with("# Or, instead of all above, only if the chart has this value")
            && left_out[2]
                .text
                .ends_with(" --reset-then-reuse-values --set autoscaling.enabled=true\n")
    );
    let trial = left_out[2].try_first.as_ref().expect("it can be tried");
    assert!(
        trial.starts_with(
            "# Or, instead of all above. This meets no conflict. Look at the manifest"
        )
    );
    let agreed = own(RemedyKind::Agree);
    assert_eq!(
        agreed[0].text,
        "  spec:\n-   replicas: 3\n+   replicas: 5\n"
    );
    assert_eq!(agreed.len(), 2);
    assert!(own(RemedyKind::Force)[0].text.contains("--force-conflicts"));
    let terraform = table.remedies(Preset::Terraform);
    let force = terraform.iter().find(|out| out.kind == RemedyKind::Force);
    let force = table.instructions_out(force.expect("it is offered"), CaseContent::Whole);
    assert_eq!(
        texts(&force),
        [
            "resource \"kubernetes_manifest\" \"NAME\" {\n  manifest = \
             yamldecode(file(\"MANIFEST.yaml\"))\n\n  field_manager {\n    force_conflicts = \
             true\n  }\n}\n",
            "terraform apply -target=kubernetes_manifest.NAME\n"
        ]
    );
}

#[test]
fn code_for_controllers_sets_the_values() {
    let table = chart();
    for (preset, expected) in [
        (
            Preset::Update,
            "retry.RetryOnConflict(retry.DefaultRetry, func() error {",
        ),
        (
            Preset::MergeFrom,
            "c.Patch(ctx, deployment, client.MergeFrom(base))",
        ),
        (
            Preset::CreateOrUpdate,
            "controllerutil.CreateOrUpdate(ctx, c, deployment, func() error {",
        ),
        (
            Preset::ControllerApply,
            "c.Apply(ctx, configuration, client.FieldOwner(\"controller\"), client.ForceOwnership)",
        ),
    ] {
        let all = instructions(&table, preset, OnOwned::Usual);
        assert_eq!(all[0].language, InstructionLanguage::Go);
        assert!(all[0].text.contains(expected), "{}", all[0].text);
        let replicas = ["ptr.To[int32](3)", "\"replicas\": 3"];
        assert!(
            replicas.iter().any(|it| all[0].text.contains(it)),
            "{}",
            all[0].text
        );
    }
    let backup = detect(LIVE[0]).expect("it is an object");
    let Input::Live(backup) = backup else {
        panic!("it is a live object");
    };
    let mut manifest = optimist_client::bare(&backup);
    manifest["spec"]["schedule"] = "0 1 * * *".into();
    let table = table_of(LIVE[0], manifest);
    let all = instructions(&table, Preset::CreateOrUpdate, OnOwned::Usual);
    assert!(
        all[0].text.contains("object.SetKind(\"Backup\")"),
        "{}",
        all[0].text
    );
    assert!(
        all[0]
            .text
            .contains("unstructured.SetNestedField(object.Object, ")
    );
}

#[test]
fn names_that_a_shell_or_a_tool_would_mistake_are_quoted_or_left_open() {
    let live = |release: &str| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a",
            "namespace": "shop", "uid": "u", "resourceVersion": "5",
            "annotations": {"meta.helm.sh/release-name": release,
                "meta.helm.sh/release-namespace": "shop",
                "argocd.argoproj.io/tracking-id": "--plugin-dir=x:/ConfigMap:shop/a"}}})
        .to_string()
    };
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a",
        "labels": {"helm.sh/chart": "x\nrm -rf ~"}}, "data": {"a": "b"}});
    let helm = |release: &str| {
        let all = instructions(
            &table_of(&live(release), manifest.clone()),
            Preset::Helm4,
            OnOwned::Force,
        );
        all[0].text.clone()
    };
    let flags = "CHART -n shop --server-side=true --force-conflicts\n";
    assert!(helm("--post-renderer=x").ends_with(&format!("helm upgrade RELEASE {flags}")));
    assert!(helm("$(id)").ends_with(&format!("helm upgrade '$(id)' {flags}")));
    assert!(!helm("web").contains("\nrm"), "{}", helm("web"));
    let argo = instructions(
        &table_of(&live("web"), manifest.clone()),
        Preset::ArgoCdClientSide,
        OnOwned::Usual,
    );
    assert!(
        argo[0]
            .text
            .starts_with("argocd app sync APPLICATION --resource :ConfigMap:shop/a")
    );
}

#[test]
fn without_values_a_command_names_the_manifest_as_a_file() {
    let table = chart();
    for row in table.rows() {
        for one in table.instructions(&row, false) {
            let values = ["replicas: 3", "replicas=3", "nginx", "(3)"];
            let found = values.iter().find(|value| one.text.contains(**value));
            assert_eq!(found, None, "{:?} {}", row.way, one.text);
        }
    }
    let row = table.row(Way::Client(
        Preset::KubectlApplyServerSide,
        OnOwned::LeaveOut,
    ));
    let all = table.instructions(&row.expect("the way can carry it"), false);
    assert_eq!(
        texts(&all),
        [
            "  metadata:\n-   labels:\n-     helm.sh/chart:\n  spec:\n-   replicas:\n",
            "kubectl apply --server-side -n live --field-manager=kubectl -f MANIFEST.yaml\n"
        ]
    );
}

/// The instructions of a way out of a Deployment whose image is owned by `kubectl-edit`, and whose
/// replicas by the HorizontalPodAutoscaler.
fn out(table: &ChangeTable, preset: Preset, kind: RemedyKind) -> Vec<Instruction> {
    let outs = table.remedies(preset);
    let out = outs.iter().find(|out| out.kind == kind);
    table.instructions_out(out.expect("it is offered"), CaseContent::Whole)
}

#[test]
fn every_command_that_writes_is_first_shown_in_a_form_that_stores_nothing() {
    let table = chart();
    let mut found = 0;
    let rows = table.rows();
    let all = rows.iter().flat_map(|row| {
        [true, false]
            .map(|values| table.instructions(row, values))
            .concat()
    });
    for one in all.chain(out(
        &table,
        Preset::KubectlApplyServerSide,
        RemedyKind::Transfer,
    )) {
        let lines = || one.text.lines().filter(|line| !line.starts_with('#'));
        if one.language != InstructionLanguage::Shell || lines().next().is_none() {
            continue;
        }
        let has_none = ["kubectl edit", "flux reconcile"];
        if has_none
            .iter()
            .any(|it| lines().any(|line| line.starts_with(it)))
        {
            assert_eq!(one.try_first, None, "{}", one.text);
            continue;
        }
        let first = one.try_first.as_ref().expect(&one.text);
        if one.text.contains(" --server-side=true") && !one.text.contains("--set ") {
            // A dry run of Helm meets no conflict.
            let applies = first.contains("kubectl apply --server-side --dry-run=server")
                || first.contains("kubectl apply --dry-run=server --server-side");
            assert!(applies && first.contains("--field-manager=helm"), "{first}");
            let forces = |text: &str| text.contains("--force-conflicts");
            assert_eq!(forces(first), forces(&one.text), "{first}");
        }
        let option = ["--dry-run=server", "argocd app sync ", "terraform plan "];
        assert!(option.iter().any(|it| first.contains(it)), "{first}");
        found += 1;
    }
    assert!(found > 20, "{found}");
}

#[test]
fn kubectl_shows_what_helm_4_meets_only_where_it_meets_the_same() {
    let live = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a",
        "namespace": "shop", "uid": "u", "resourceVersion": "5", "managedFields": [
            {"manager": "helm", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:data": {".": {}, "f:log": {}}}},
            {"manager": "kubectl-edit", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:data": {"f:mode": {}}}}]},
        "data": {"log": "info", "mode": "b"}});
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a",
        "namespace": "shop"}, "data": {"log": "debug", "mode": "c"}});
    let table = table_of(&live.to_string(), manifest);
    let first = |on_owned| {
        let all = instructions(&table, Preset::Helm4, on_owned);
        all.into_iter()
            .find_map(|one| one.try_first)
            .expect("a command")
    };
    let by_kubectl = first(OnOwned::Usual);
    assert!(by_kubectl.contains("--server-side -n shop"), "{by_kubectl}");
    // Without the mode, Helm makes its Update its own and writes. kubectl meets a conflict with that Update.
    let by_helm = first(OnOwned::LeaveOut);
    assert!(by_helm.contains("helm upgrade"), "{by_helm}");
}

#[test]
fn a_command_of_kubectl_names_the_namespace_of_its_object_also_if_it_is_the_default() {
    let live = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a",
        "namespace": "default", "uid": "u", "resourceVersion": "5"}});
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
        "data": {"a": "b"}});
    let table = table_of(&live.to_string(), manifest);
    for values in [true, false] {
        for row in table.rows() {
            for one in table.instructions(&row, values) {
                let texts = [Some(one.text), one.try_first];
                for text in texts
                    .iter()
                    .flatten()
                    .filter(|it| it.starts_with("kubectl "))
                {
                    let first = text.lines().next().unwrap_or_default();
                    assert!(first.contains(" -n default"), "{:?} {text}", row.way);
                }
            }
        }
    }
}

#[test]
fn no_command_names_a_namespace_or_a_name_that_nothing_says() {
    // The message of kubectl names neither.
    let message = "error: Apply failed with 1 conflict: conflict with \"kubectl-edit\" using apps/v1: .spec.replicas";
    let scene = Scene::rebuild(&reported_errors(message)[0], &GivenParts::default());
    let scene = scene.expect("the core says it");
    let table = ChangeTable::new(&scene.installed, scene.change.expect("an apply"));
    let (mut kubectl, mut all) = (0, 0);
    for row in table.rows() {
        for one in table.instructions(&row, false) {
            for text in [Some(one.text), one.try_first].into_iter().flatten() {
                assert!(!text.contains("default"), "{:?} {text}", row.way);
                assert!(!text.contains("example"), "{:?} {text}", row.way);
                all += 1;
                if let Some(command) = text.lines().find(|line| line.starts_with("kubectl ")) {
                    assert!(command.contains(" -n NAMESPACE"), "{command}");
                    kubectl += 1;
                }
            }
        }
    }
    assert!(kubectl > 8 && all > 20, "{kubectl} of {all}");
    // A live object that somebody has shortened: what was sent has the default namespace.
    let live = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "uid": "u", "resourceVersion": "5"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "app", "image": "web:1"}]}}}});
    let mut manifest = live.clone();
    manifest["metadata"] = json!({"name": "web"});
    manifest["spec"]["replicas"] = 2.into();
    let table = table_of(&live.to_string(), manifest);
    let mut named = 0;
    for row in table.rows() {
        for one in table.instructions(&row, true) {
            assert!(
                !one.text.contains("default\""),
                "{:?} {}",
                row.way,
                one.text
            );
            assert!(!one.text.contains(" default"), "{:?} {}", row.way, one.text);
            named += usize::from(one.text.contains("NAMESPACE") && one.text.contains("web"));
        }
    }
    assert!(named > 5, "{named}");
}

#[test]
fn the_ownership_is_handed_over_in_the_entries_that_the_cluster_has_then() {
    let table = chart();
    let all = out(&table, Preset::Helm4, RemedyKind::Transfer);
    let patch = all
        .iter()
        .find(|one| one.text.contains("kubectl patch"))
        .expect("the autoscaler gives the field up");
    let text = &patch.text;
    let says = "# kube-controller-manager gives up .spec.replicas. Only managedFields change";
    assert!(text.starts_with(says), "{text}");
    for part in [
        "kubectl get deployment web -n live -o jsonpath=",
        "-e 'kube-controller-manager Update scale apps/v1'",
        r#""op":"test","path":"/metadata/managedFields/'"$place"'/manager","value":"kube-controller-manager""#,
        r#""path":"/metadata/resourceVersion","value":"'"$version"'""#,
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let at = |part: &str| all.iter().position(|one| one.text.contains(part));
    assert!(
        at("helm upgrade") < at("kubectl patch"),
        "the writer agrees first"
    );
    assert!(
        all.last()
            .is_some_and(|one| one.text.contains("helm upgrade"))
    );
    let digits = |text: &str| {
        text.split(|c: char| !c.is_ascii_digit())
            .any(|it| it.len() > 3)
    };
    assert!(!digits(text), "a version of this page is in it: {text}");
    assert!(
        !all.iter()
            .any(|one| one.text.contains("--field-manager=helm"))
    );
}

#[test]
fn fields_that_a_new_object_needs_are_named_before_the_command_that_leaves_them_out() {
    let live = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web",
        "namespace": "shop", "uid": "u", "resourceVersion": "5", "managedFields": [
            {"manager": "kubectl-set", "operation": "Update", "apiVersion": "apps/v1",
             "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:template": {"f:spec": {
                "f:containers": {"k:{\"name\":\"app\"}": {"f:image": {}, "f:env": {
                    "k:{\"name\":\"NODE\"}": {"f:valueFrom": {"f:fieldRef": {}}}}}}}}}}}]},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app",
                "image": "web:2", "env": [{"name": "NODE", "valueFrom":
                    {"fieldRef": {"fieldPath": "spec.nodeName"}}}]}]}}}});
    let manifest = |image: &str, field: &str| {
        let mut manifest = live.clone();
        let meta = json!({"name": "web", "namespace": "shop"});
        manifest["metadata"] = meta;
        let container = &mut manifest["spec"]["template"]["spec"]["containers"][0];
        container["image"] = image.into();
        container["env"][0]["valueFrom"]["fieldRef"]["fieldPath"] = field.into();
        manifest
    };
    let warnings = |manifest: Value| {
        let table = table_of(&live.to_string(), manifest);
        let all = out(&table, Preset::Helm4, RemedyKind::LeaveOut);
        all[0].warnings.clone()
    };
    let image = "spec.template.spec.containers[name=\"app\"].image".to_owned();
    assert_eq!(
        warnings(manifest("web:3", "spec.nodeName")),
        [InstructionWarning::NeededToCreate(vec![image])]
    );
    let found = warnings(manifest("web:2", "metadata.name"));
    let [InstructionWarning::AbsentFromNew(fields)] = &found[..] else {
        panic!("{found:?}");
    };
    assert!(
        fields[0]
            .to_string()
            .contains(".env[name=\"NODE\"].valueFrom"),
        "{fields:?}"
    );
    // A default takes the place of what is left out.
    assert_eq!(
        out(&chart(), Preset::Helm4, RemedyKind::LeaveOut)[0].warnings,
        []
    );
}

#[test]
fn a_command_that_takes_fields_away_or_passes_a_record_by_says_so() {
    let table = chart();
    let row = table.row(Way::Client(Preset::KubectlReplace, OnOwned::Usual));
    let row = row.expect("the way can carry it");
    let [one] = &table.instructions(&row, true)[..] else {
        panic!("it is one command");
    };
    let removes = |it: &InstructionWarning| matches!(it, InstructionWarning::Removes(_));
    assert_eq!(one.warnings.iter().any(removes), !row.is_refused());
    let Ok(Input::Manifest(manifest)) = detect(CHART) else {
        panic!("it is a manifest");
    };
    let Ok(Input::Live(object)) = detect(LIVE[4]) else {
        panic!("it is a live object");
    };
    let installed = Case::about(object).install().expect("it is installed");
    let change = WantedChange {
        manager: Some("helm".to_owned()),
        ..WantedChange::manifest(manifest)
    };
    let table = ChangeTable::new(&installed, change);
    let all = instructions(&table, Preset::KubectlApplyServerSide, OnOwned::Force);
    let manager = "helm".to_owned();
    assert!(
        all[0]
            .warnings
            .contains(&InstructionWarning::OtherRecord { manager })
    );
}

#[test]
fn lines_mask_a_private_value_alone_and_show_no_line_twice() {
    let entry = json!({"manager": "kubectl-edit", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:data": {".": {}, "f:LOG": {}, "f:api_key": {}}}});
    let object = |log: &str, key: &str| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "shop"},
            "data": {"LOG": log, "api_key": key}})
    };
    let mut live = object("info", "AKIAIOSFODNN7EXAMPLE");
    live["metadata"]["uid"] = "u1".into();
    live["metadata"]["resourceVersion"] = "7".into();
    live["metadata"]["managedFields"] = json!([entry]);
    let manifest = object("debug", "AKIAI44QH8DHBEXAMPLE");
    let live = live.to_string();
    let table = table_of(&live, manifest);
    let outs = table.remedies(Preset::KubectlApplyServerSide);
    let mut lines = Vec::new();
    for out in &outs {
        for one in table.instructions_out(out, CaseContent::Masked) {
            assert!(!one.text.contains("AKIA"), "{}", one.text);
            lines.extend((one.language == InstructionLanguage::Lines).then_some(one.text));
        }
    }
    assert!(!lines.is_empty());
    for text in &lines {
        assert!(text.contains("LOG: debug"), "{text}");
        let changed = |mark: &'static str| text.lines().filter_map(move |it| it.strip_prefix(mark));
        let twice = changed("-").find(|it| changed("+").any(|other| other == *it));
        assert_eq!(twice, None, "{text}");
    }
}

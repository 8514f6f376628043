//! The command, code or configuration by which people do what a row did, each of its own tool.

use optimist_client::Preset;
use optimist_diagnose::brought::{Brought, recognize};
use optimist_diagnose::case::Case;
use optimist_diagnose::ways::{
    ChangeTable, Instruction, InstructionLanguage, OnOwned, WantedChange, Way, WayOutKind,
};
use serde_json::{Value, json};

mod live;

use live::LIVE;

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
    let Ok(Brought::Live(object)) = recognize(live) else {
        panic!("it is a live object");
    };
    let installed = Case::about(object).install().expect("it is installed");
    ChangeTable::new(&installed, WantedChange::manifest(manifest))
}

fn chart() -> ChangeTable {
    let Ok(Brought::Manifest(manifest)) = recognize(CHART) else {
        panic!("it is a manifest");
    };
    table_of(LIVE[4], manifest)
}

fn of(table: &ChangeTable, preset: Preset, on_owned: OnOwned) -> Vec<Instruction> {
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
        let all = of(&table, preset, on_owned);
        assert_eq!(texts(&all), [expected], "{preset:?} {on_owned:?}");
    }
    assert!(of(&table, Preset::Autoscaler, OnOwned::Usual).is_empty());
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
        let all = of(&table, preset, on_owned);
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
        (Preset::KubectlApply, "kubectl apply -f - <<'EOF'\n"),
        (Preset::KubectlReplace, "kubectl replace -f - <<'EOF'\n"),
        (
            Preset::KubectlApplyServerSide,
            "kubectl apply --server-side --field-manager=kubectl -f - <<'EOF'\n",
        ),
    ] {
        let all = of(&table, preset, OnOwned::Usual);
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
    let all = of(
        &table_of(LIVE[1], large),
        Preset::KubectlApply,
        OnOwned::Usual,
    );
    assert_eq!(texts(&all), ["kubectl apply -f MANIFEST.yaml\n"]);
}

#[test]
fn a_way_out_says_which_lines_to_change_and_the_command_of_its_client() {
    let table = chart();
    let outs = table.ways_out(Preset::Helm4);
    let own = |kind| {
        let out = outs.iter().find(|out| out.kind == kind);
        table.instructions_out(out.expect("it is offered"), true)
    };
    let left_out = own(WayOutKind::LeaveOut);
    assert_eq!(left_out[0].language, InstructionLanguage::Lines);
    assert_eq!(left_out[0].text, "  spec:\n-   replicas: 3\n");
    assert!(left_out[1].text.ends_with("-n live --server-side=true\n"));
    assert!(
        left_out[2]
            .text
            .starts_with("# Only if the chart has this value")
            && left_out[2]
                .text
                .ends_with(" --set autoscaling.enabled=true\n")
    );
    let agreed = own(WayOutKind::Agree);
    assert_eq!(
        agreed[0].text,
        "  spec:\n-   replicas: 3\n+   replicas: 5\n"
    );
    assert_eq!(agreed.len(), 2);
    assert!(own(WayOutKind::Force)[0].text.contains("--force-conflicts"));
    assert!(own(WayOutKind::Transfer).is_empty(), "others must act too");
    let terraform = table.ways_out(Preset::Terraform);
    let force = terraform.iter().find(|out| out.kind == WayOutKind::Force);
    let force = table.instructions_out(force.expect("it is offered"), true);
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
        let all = of(&table, preset, OnOwned::Usual);
        assert_eq!(all[0].language, InstructionLanguage::Go);
        assert!(all[0].text.contains(expected), "{}", all[0].text);
        let replicas = ["ptr.To[int32](3)", "\"replicas\": 3"];
        assert!(
            replicas.iter().any(|it| all[0].text.contains(it)),
            "{}",
            all[0].text
        );
    }
    let backup = recognize(LIVE[0]).expect("it is an object");
    let Brought::Live(backup) = backup else {
        panic!("it is a live object");
    };
    let mut manifest = optimist_client::bare(&backup);
    manifest["spec"]["schedule"] = "0 1 * * *".into();
    let table = table_of(LIVE[0], manifest);
    let all = of(&table, Preset::CreateOrUpdate, OnOwned::Usual);
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
        let all = of(
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
    let argo = of(
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
            "kubectl apply --server-side --field-manager=kubectl -f MANIFEST.yaml\n"
        ]
    );
}

//! The command and the output of an actor that is a command of kubectl or another tool.

use optimist_client::Preset;
use optimist_code::{ClientRequest, ToolCommand, kubectl_of_tool, sent_by_tool};
use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, Operation, World};
use serde_json::{Value, json};

const C: ActorId = ActorId::C;

/// What is told of a write: the command that the actor is, and the tool that sent it by itself.
type Told = (Option<ToolCommand>, Option<&'static str>);

/// A tool has read the object.
fn has_read(tool: Preset) -> HistoryTree {
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    assert!(tree.world_mut().become_tool(C, tool));
    let reads = match tool {
        Preset::Autoscaler => Action::GetScale,
        _ => Action::Get,
    };
    tree.act(Operation::Act(C, reads)).unwrap();
    tree
}

/// The tool changes its copy and sends it. Returns what is told of the write, and the status code.
fn sends(tree: &mut HistoryTree, change: impl FnOnce(&mut Value)) -> (Told, u16) {
    let copy = tree.world_mut().copy_mut(C);
    let mut edited = Value::clone(copy.edited().unwrap());
    change(&mut edited);
    copy.edit(edited);
    let write = tree.world().actor(C).write();
    let node = tree.act(Operation::Act(C, Action::Send(write))).unwrap();
    let step = tree.step(node).unwrap();
    let call = ClientRequest::of_step(tree.world(), step).unwrap();
    let told = (kubectl_of_tool(&call, step), sent_by_tool(&call, step));
    (told, step.exchange.as_ref().unwrap().code)
}

/// A tool reads, and sends each of these numbers of replicas. Returns what is told of each write.
fn told(tool: Preset, all: &[i64]) -> Vec<Told> {
    let mut tree = has_read(tool);
    let sent = all.iter().map(|replicas| {
        let scales = |object: &mut Value| object["spec"]["replicas"] = (*replicas).into();
        sends(&mut tree, scales).0
    });
    sent.collect()
}

fn printed(command: &ToolCommand) -> &str {
    &command.output.as_ref().expect("an output").text
}

#[test]
fn kubectl_edit_and_scale_print_what_they_did() {
    let [(Some(edit), None)] = &told(Preset::KubectlEdit, &[5])[..] else {
        panic!("no command");
    };
    assert_eq!(
        edit.command,
        "kubectl edit deployment nginx-deployment -n default\n"
    );
    assert_eq!(printed(edit), "deployment.apps/nginx-deployment edited\n");
    let [(Some(scale), None)] = &told(Preset::KubectlScale, &[5])[..] else {
        panic!("no command");
    };
    let command = "kubectl scale deployment nginx-deployment -n default --replicas=5\n";
    assert_eq!(scale.command, command);
    assert_eq!(printed(scale), "deployment.apps/nginx-deployment scaled\n");
}

#[test]
fn what_kubectl_edit_is_refused_is_told_as_it_tells_it() {
    let [(Some(edit), None)] = &told(Preset::KubectlEdit, &[-1])[..] else {
        panic!("no command");
    };
    let invalid = "error: deployments.apps \"nginx-deployment\" is invalid\n";
    assert_eq!(printed(edit), invalid);
}

#[test]
fn kubectl_apply_warns_where_the_annotation_is_missing_and_applies_a_file() {
    let [(Some(first), None), (Some(second), None)] = &told(Preset::KubectlApply, &[5, 6])[..]
    else {
        panic!("no command");
    };
    assert!(
        first
            .command
            .starts_with("kubectl apply -n default -f - <<'EOF'\n"),
        "{}",
        first.command
    );
    assert!(
        first.command.contains("  replicas: 5\n"),
        "{}",
        first.command
    );
    assert!(!first.command.contains("annotations"), "{}", first.command);
    let configured = "deployment.apps/nginx-deployment configured\n";
    let warning = "Warning: resource deployments/nginx-deployment is missing the \
         kubectl.kubernetes.io/last-applied-configuration annotation which is required by kubectl apply. kubectl apply \
         should only be used on resources created declaratively by either kubectl create --save-config or kubectl \
         apply. The missing annotation will be patched automatically.\n";
    assert_eq!(printed(first), format!("{warning}{configured}"));
    assert_eq!(printed(second), configured, "it is there now");
}

#[test]
fn another_tool_is_named_beside_the_command_that_sends_the_same() {
    for (tool, name) in [
        (Preset::Helm4, "Helm"),
        (Preset::ArgoCdServerSide, "Argo CD"),
        (Preset::Autoscaler, "HPA"),
    ] {
        assert_eq!(told(tool, &[5]), [(None, Some(name))], "{name}");
    }
    let own = [Preset::KubectlApplyServerSide, Preset::KubectlReplace];
    for tool in own {
        assert_eq!(told(tool, &[5]), [(None, None)], "{tool:?}");
    }
}

#[test]
fn a_tool_that_asks_for_strict_validation_is_refused_an_unknown_field() {
    for tool in [
        Preset::KubectlEdit,
        Preset::KubectlApply,
        Preset::KubectlApplyServerSide,
        Preset::KubectlReplace,
        Preset::Helm4,
    ] {
        let mut tree = has_read(tool);
        let before = tree.world().stored().map(|(version, _)| version);
        let (_, code) = sends(&mut tree, |object| object["spec"]["colour"] = "red".into());
        assert!(code >= 400, "{tool:?}: {code}");
        assert_eq!(tree.world().stored().map(|(version, _)| version), before);
    }
}

#[test]
fn a_command_is_not_told_where_it_would_send_something_else() {
    // `kubectl edit` sends nothing without a change.
    let mut tree = has_read(Preset::KubectlEdit);
    assert_eq!(sends(&mut tree, |_| {}).0, (None, None));
    // `kubectl apply` reads just before it writes, and would make another patch of the object that is stored now.
    let mut tree = has_read(Preset::KubectlApply);
    let editor = ActorId::A;
    tree.act(Operation::Act(editor, Action::Get)).unwrap();
    let copy = tree.world_mut().copy_mut(editor);
    let mut edited = Value::clone(copy.edited().unwrap());
    edited["spec"]["paused"] = true.into();
    copy.edit(edited);
    let write = tree.world().actor(editor).write();
    tree.act(Operation::Act(editor, Action::Send(write)))
        .unwrap();
    let (told, code) = sends(&mut tree, |object| object["spec"]["replicas"] = 5.into());
    assert_eq!((told, code), ((None, Some("kubectl apply")), 200));
}

#[test]
fn kubectl_label_has_its_command_where_only_labels_change() {
    let labels = |labels: Value| {
        let mut tree = has_read(Preset::KubectlLabel);
        let (told, _) = sends(&mut tree, |object| object["metadata"]["labels"] = labels);
        let command = told.0.expect("a command");
        let printed = command.output.map(|output| output.text).unwrap_or_default();
        (command.command, printed)
    };
    let on =
        |changes: &str| format!("kubectl label deployment nginx-deployment -n default {changes}\n");
    let said = |word: &str| format!("deployment.apps/nginx-deployment {word}\n");
    assert_eq!(
        labels(json!({"app": "nginx", "team": "a"})),
        (on("team=a"), said("labeled"))
    );
    assert_eq!(
        labels(json!({"app": "web"})),
        (on("app=web --overwrite"), said("labeled"))
    );
    assert_eq!(labels(json!({})), (on("app-"), said("unlabeled")));
    assert_eq!(told(Preset::KubectlLabel, &[5]), [(None, None)]);
}

#[test]
fn kubectl_replace_renews_the_annotation_of_client_side_apply() {
    let mut tree = has_read(Preset::KubectlApply);
    sends(&mut tree, |object| object["spec"]["replicas"] = 5.into());
    assert!(tree.world_mut().become_tool(C, Preset::KubectlReplace));
    tree.act(Operation::Act(C, Action::Get)).unwrap();
    sends(&mut tree, |object| object["spec"]["replicas"] = 7.into());
    let (_, stored) = tree.world().stored().unwrap();
    let noted = optimist_client::last_applied(stored);
    assert_eq!(noted.pointer("/spec/replicas"), Some(&json!(7)));
}

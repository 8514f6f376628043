//! The command and the output of an actor that is a command of kubectl or another tool.

use optimist_client::{Preset, edit_scalar};
use optimist_code::{ClientRequest, ToolCommand, kubectl_of_tool, sent_by_tool};
use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, Operation, World};

const C: ActorId = ActorId::C;

/// A tool reads, and sends each of these numbers of replicas. Returns what is told of each write.
fn told(tool: Preset, all: &[&str]) -> Vec<(Option<ToolCommand>, Option<&'static str>)> {
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    assert!(tree.world_mut().become_tool(C, tool));
    let reads = match tool {
        Preset::Autoscaler => Action::GetScale,
        _ => Action::Get,
    };
    tree.act(Operation::Act(C, reads)).unwrap();
    let mut told = Vec::new();
    for replicas in all {
        let copy = tree.world_mut().copy_mut(C);
        let edited = edit_scalar(copy.edited().unwrap(), "/spec/replicas", replicas).unwrap();
        copy.edit(edited);
        let write = tree.world().actor(C).write();
        let node = tree.act(Operation::Act(C, Action::Send(write))).unwrap();
        let step = tree.step(node).unwrap();
        let call = ClientRequest::of_step(tree.world(), step).unwrap();
        told.push((kubectl_of_tool(&call, step), sent_by_tool(&call, step)));
    }
    told
}

fn printed(command: &ToolCommand) -> &str {
    &command.output.as_ref().expect("an output").text
}

#[test]
fn kubectl_edit_and_scale_print_what_they_did() {
    let [(Some(edit), None)] = &told(Preset::KubectlEdit, &["5"])[..] else {
        panic!("no command");
    };
    assert_eq!(
        edit.command,
        "kubectl edit deployment nginx-deployment -n default\n"
    );
    assert_eq!(printed(edit), "deployment.apps/nginx-deployment edited\n");
    let [(Some(scale), None)] = &told(Preset::KubectlScale, &["5"])[..] else {
        panic!("no command");
    };
    let command = "kubectl scale deployment nginx-deployment -n default --replicas=5\n";
    assert_eq!(scale.command, command);
    assert_eq!(printed(scale), "deployment.apps/nginx-deployment scaled\n");
}

#[test]
fn what_kubectl_edit_is_refused_is_told_as_it_tells_it() {
    let [(Some(edit), None)] = &told(Preset::KubectlEdit, &["-1"])[..] else {
        panic!("no command");
    };
    let invalid = "error: deployments.apps \"nginx-deployment\" is invalid\n";
    assert_eq!(printed(edit), invalid);
}

#[test]
fn kubectl_apply_warns_where_the_annotation_is_missing_and_applies_a_file() {
    let [(Some(first), None), (Some(second), None)] = &told(Preset::KubectlApply, &["5", "6"])[..]
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
        assert_eq!(told(tool, &["5"]), [(None, Some(name))], "{name}");
    }
    let own = [Preset::KubectlApplyServerSide, Preset::KubectlReplace];
    for tool in own {
        assert_eq!(told(tool, &["5"]), [(None, None)], "{tool:?}");
    }
}

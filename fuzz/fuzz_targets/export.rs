//! Scripts, reports, diagrams and code of a request that was written by hand: a byte each for the
//! method and the media type, then target and body, parted by a line break. Whatever stands in them,
//! no script has a line that the request's text begins and that is not in quotes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use optimist_code::{Call, client_go, kube_rs, kubectl};
use optimist_exports::{mermaid, report, script};
use optimist_simulation::{Action, ActorId, ByHand, HistoryTree, NGINX, Operation, World};

const MEDIA_TYPES: [&str; 5] = [
    "application/json",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

/// The words of a POSIX shell text: `None` if a quote stays open.
fn closes(text: &str) -> bool {
    let mut quoted = false;
    for c in text.chars() {
        quoted ^= c == '\'';
    }
    !quoted
}

fuzz_target!(|data: &[u8]| {
    let [method, media, rest @ ..] = data else {
        return;
    };
    let rest = String::from_utf8_lossy(rest);
    let (target, body) = rest.split_once('\n').unwrap_or((&rest, ""));
    let by_hand = ByHand {
        method: ByHand::METHODS[usize::from(*method) % ByHand::METHODS.len()].to_owned(),
        target: format!("/{target}"),
        content_type: MEDIA_TYPES[usize::from(*media) % MEDIA_TYPES.len()].to_owned(),
        body: body.to_owned(),
    };
    let Ok((mut world, _)) = World::load(NGINX) else {
        return;
    };
    world.actor_mut(ActorId::A).name = target.into();
    let mut tree = HistoryTree::new(world);
    let request = Operation::Act(ActorId::A, Action::Request(by_hand));
    let Some(node) = tree.act(request) else {
        return;
    };
    let report = report(&tree);
    assert!(!report.contains('\u{202e}'));
    mermaid(&tree);
    assert!(!script(&tree).contains('\0'));
    let (Some(step), Some(world)) = (tree.step(node), tree.world_at(node)) else {
        return;
    };
    if let Some(call) = Call::of_step(world, step) {
        let command = kubectl(&call);
        // What is before a here-document, or all of it.
        let head = command.split("<<'").next().unwrap_or_default();
        assert!(closes(head) || head.contains("\\'"), "{command}");
        client_go(&call);
        kube_rs(&call);
    }
});

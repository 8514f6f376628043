//! The release site: what can be done with a line of a card, and which marks stand beside an answer.

use optimist_client::Strategy;
use optimist_links::Session;
use optimist_simulation::{Action, ActorId, ENDINGS, HistoryTree, NGINX, Operation, World};
use optimist_tests::page::{Browser, Site, dist};

/// A container with a list, so that lines are items, values of items, and both.
const LISTS: &str = "
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec:
  containers:
  - name: main
    image: registry.example.com/a-team/mirrors/nginx:1.14.2
    args: [--verbose=2, --address=0.0.0.0]
    ports: [{containerPort: 80, name: http}]
";

/// Opens a session at its current step.
fn open(site: &Site, tree: &HistoryTree, width: u32, height: u32) -> Browser {
    let mut session = Session::from_tree(tree);
    session.page = "play".to_owned();
    let browser = Browser::start();
    browser.resize(width, height);
    browser.go(&format!("{}#/play?s={}", site.url(), session.to_text()));
    let come = "return document.querySelector('#card-a .line .value, .other-ending')";
    browser.wait("the session", come, &[]);
    browser
}

/// An editor has read, and is about to apply, which can own a value.
fn about_to_apply(manifest: &str) -> HistoryTree {
    let (world, _) = World::load(manifest).expect("it loads");
    let mut tree = HistoryTree::new(world);
    tree.act(Operation::Act(ActorId::A, Action::Get));
    tree.world_mut()
        .actor_mut(ActorId::A)
        .choose(Strategy::Apply);
    tree
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn what_can_be_done_with_a_line_does_not_lie_over_its_value() {
    /// Gives each line the keyboard, and names those of which a button lies over the value.
    const COVERED: &str = "
        const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 &&
            a.top < b.bottom - 1 && b.top < a.bottom - 1;
        const text = part => {
            const range = document.createRange();
            range.selectNodeContents(part);
            return [...range.getClientRects()];
        };
        let looked = 0;
        const covered = [];
        for (const line of document.querySelectorAll('#card-a .line')) {
            const value = line.querySelector('button.value');
            if (!value?.checkVisibility()) continue;
            value.focus();
            const box = value.getBoundingClientRect();
            const drawn = text(value).filter(part => part.left < box.right);
            const parts = drawn.map(part => ({left: part.left, top: part.top, bottom: part.bottom,
                right: Math.min(part.right, box.right)}));
            for (const tool of line.querySelectorAll('.tools .tool')) {
                const rect = tool.getBoundingClientRect();
                if (rect.width === 0) continue;
                looked += 1;
                if (parts.some(part => over(part, rect))) {
                    covered.push(`${tool.textContent.trim()} over ${line.textContent}`);
                }
            }
        }
        return [looked, covered]";
    let site = Site::serve(&dist());
    let tree = about_to_apply(LISTS);
    for (width, height) in [(1440, 900), (1024, 768), (390, 844)] {
        let browser = open(&site, &tree, width, height);
        let seen = browser.run(COVERED, &[]);
        assert!(seen[0].as_u64() > Some(5), "{width}: {seen}");
        assert_eq!(seen[1], serde_json::json!([]), "{width}");
    }
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_finger_that_does_not_hover_sees_how_to_own_a_value() {
    /// Makes every rule that waits for a hand without hover hold, as on a phone.
    const NO_HOVER: &str = "
        let changed = 0;
        const visit = rules => {
            for (const rule of rules) {
                if (rule.media?.mediaText.includes('hover: none')) {
                    rule.media.mediaText = 'all';
                    changed += 1;
                }
                if (rule.cssRules) visit(rule.cssRules);
            }
        };
        for (const sheet of document.styleSheets) visit(sheet.cssRules);
        return changed";
    /// Counts the buttons that own a value, and those of them that cannot be seen or are too small
    /// for a finger.
    const OWN: &str = "
        document.activeElement?.blur();
        const all = [...document.querySelectorAll('#card-a .owns .tool')].filter(it => it.checkVisibility());
        const bad = all.filter(it => {
            const style = getComputedStyle(it);
            const alpha = style.color.match(/rgba\\(.*, *([0-9.]+)\\)/)?.[1] ?? '1';
            return Number(alpha) < 0.5 || getComputedStyle(it.parentElement).pointerEvents === 'none' ||
                it.getBoundingClientRect().width < 44;
        });
        return [all.length, bad.length]";
    let site = Site::serve(&dist());
    let browser = open(&site, &about_to_apply(NGINX), 390, 844);
    let hidden = browser.run(OWN, &[]);
    assert!(hidden[0].as_u64() > Some(0), "{hidden}");
    let changed = browser.run(NO_HOVER, &[]);
    assert!(changed.as_u64() > Some(0), "{changed}");
    let seen = browser.run(OWN, &[]);
    assert_eq!((&seen[0], &seen[1]), (&hidden[0], &0.into()));
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_tick_stands_beside_an_ending_that_keeps_both_edits_and_no_other() {
    /// Of each ending that was tried: its text, and whether a mark stands in it.
    const ENDED: &str = "
        return [...document.querySelectorAll('.other-ending')].filter(it => it.querySelector('b'))
            .map(it => [it.querySelector('b').textContent, it.querySelector('svg') !== null])";
    let (world, _) = World::load(NGINX).expect("it loads");
    let mut tree = HistoryTree::new(world);
    let image = "/spec/template/spec/containers/0/image";
    let edits = [("/spec/replicas", "5"), (image, "nginx:1.25")];
    for (editor, (pointer, value)) in ActorId::EDITORS.into_iter().zip(edits) {
        tree.act(Operation::Act(editor, Action::Get));
        let world = tree.world_mut();
        let read = world.copy(editor).edited().expect("it was read");
        let edited = optimist_client::edit_scalar(read, pointer, value);
        world
            .copy_mut(editor)
            .edit(edited.expect("it can be edited"));
    }
    for editor in ActorId::EDITORS {
        let write = tree.world().actor(editor).write();
        tree.act(Operation::Act(editor, Action::Send(write)));
    }
    for method in ENDINGS {
        if let Some(operation) = tree.go_to_ending(method) {
            tree.act(operation);
        }
    }
    let site = Site::serve(&dist());
    let browser = open(&site, &tree, 1440, 900);
    let all =
        "const ended = [...document.querySelectorAll('.other-ending b')].map(it => it.textContent);
        return ['409', 'update lost'].every(one => ended.includes(one))";
    browser.wait("the endings", all, &[]);
    let seen = browser.run(ENDED, &[]);
    let seen: Vec<(String, bool)> = serde_json::from_value(seen).expect("texts and marks");
    for outcome in ["409", "update lost"] {
        let mut marks = seen.iter().filter(|(text, _)| text == outcome).peekable();
        assert!(marks.peek().is_some(), "{outcome} in {seen:?}");
        assert!(marks.all(|(_, mark)| !mark), "{seen:?}");
    }
    assert!(
        seen.iter().any(|(_, mark)| *mark),
        "a good end has one: {seen:?}"
    );
}

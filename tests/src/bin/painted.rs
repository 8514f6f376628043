//! Measures the time of a step to the painted frame in a history of 1,000 steps, and the memory of
//! that history: `painted SITE`, with a release site (`cargo xtask dist`).

use std::path::PathBuf;

use optimist_client::edit_scalar;
use optimist_links::Session;
use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, Operation, World};
use optimist_tests::page::{Browser, Site};
use serde_json::Value;

const STEPS: usize = 1_000;

/// Both editors read, change replicas and send, in turn: each second write is refused.
fn history() -> HistoryTree {
    let mut tree = HistoryTree::new(World::load(NGINX).expect("it loads").0);
    for round in 0..STEPS / 4 {
        for editor in ActorId::EDITORS {
            tree.act(Operation::Act(editor, Action::Get));
        }
        for (i, editor) in ActorId::EDITORS.into_iter().enumerate() {
            let copy = tree.world_mut().copy_mut(editor);
            let replicas = (1 + (round * 2 + i) % 90).to_string();
            let edited = copy
                .edited()
                .and_then(|object| edit_scalar(object, "/spec/replicas", &replicas).ok());
            copy.edit(edited.expect("it was read"));
            let send = Action::Send(tree.world().actor(editor).write());
            tree.act(Operation::Act(editor, send));
        }
    }
    tree
}

/// Presses a button this number of times, each at the beginning of a frame, when browsers deliver
/// input, and measures the time until that frame was painted. So the result does not include the
/// wait for the next frame.
const PRESS: &str = "
    const [label, times, seek] = arguments;
    const press = i => new Promise(done => requestAnimationFrame(() => {
        const begin = performance.now();
        if (seek) {
            const range = document.querySelector('input[type=range]');
            range.value = String((i * 619) % 1000);
            range.dispatchEvent(new InputEvent('input', {bubbles: true}));
        } else {
            document.querySelector(`.transport [aria-label=\"${label}\"]`).click();
        }
        const channel = new MessageChannel();
        channel.port1.onmessage = () => done(performance.now() - begin);
        // After what the page does about it, and the painting of the frame.
        queueMicrotask(() => channel.port2.postMessage(0));
    }));
    const rest = () => new Promise(done => setTimeout(done, 60));
    return (async () => {
        const took = [];
        for (let i = 0; i < times; i++) {
            took.push(await press(i));
            await rest();
        }
        return took.sort((a, b) => a - b);
    })()";

const MEMORY: &str = "
    const script = document.querySelector('link[rel=modulepreload]').href;
    return import(script).then(page => page.default())
        .then(wasm => wasm.memory.buffer.byteLength)";

fn main() {
    let Some(folder) = std::env::args().nth(1).map(PathBuf::from) else {
        eprintln!("usage: painted SITE");
        std::process::exit(2);
    };
    let site = Site::serve(&folder);
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.go(&site.url());
    browser.control("Editor A", "Get");
    println!(
        "memory as it opens: {}",
        mebibytes(&browser.run(MEMORY, &[]))
    );
    let session = Session::from_tree(&history()).to_text();
    println!("{STEPS} steps as a link: {} characters", session.len());
    browser.go("about:blank");
    browser.go(&format!("{}#/play?s={session}", site.url()));
    browser.wait(
        "all steps",
        "return document.querySelector('.position')?.textContent.endsWith('/ 1000')",
        &[],
    );
    println!(
        "memory with {STEPS} steps: {}",
        mebibytes(&browser.run(MEMORY, &[]))
    );
    for (what, label, times, seek) in [
        ("back", "Back", 200, false),
        ("forward", "Forward", 200, false),
        ("seek", "", 100, true),
    ] {
        let took = browser.run(PRESS, &[label.into(), times.into(), seek.into()]);
        let took: Vec<f64> = took
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_f64)
            .collect();
        let at = |share: f64| took.get((took.len() as f64 * share) as usize).copied();
        println!(
            "{what}: median {:.1} ms, p95 {:.1} ms, longest {:.1} ms",
            at(0.5).unwrap_or_default(),
            at(0.95).unwrap_or_default(),
            took.last().copied().unwrap_or_default()
        );
    }
}

fn mebibytes(bytes: &Value) -> String {
    format!("{:.1} MB", bytes.as_f64().unwrap_or_default() / 1e6)
}

//! Play's kubectl tab and the scripts that histories are exported as, over every lesson.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use optimist_apiserver::server::ApiServer;
use optimist_code::{ClientRequest, kubectl, kubectl_dry_run};
use optimist_exports::script;
use optimist_lesson::{Catalogue, Lesson, Walkthrough};
use optimist_simulation::{HistoryTree, NodeId};
use serde_json::Value;

use super::run::{Expected, Tried};

pub fn all() -> Vec<Tried> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lessons");
    let read = |name: &str| {
        fs::read_to_string(folder.join(format!("{name}.yaml"))).expect("the lesson is there")
    };
    let catalogue = Catalogue::parse(&read("catalogue")).expect("it is a catalogue");
    let mut all = Vec::new();
    for name in catalogue.course() {
        let lesson = Lesson::parse(&read(name)).expect("it is a lesson");
        let tree = played(&Arc::new(lesson));
        for node in 1..tree.len() {
            step(&mut all, name, &tree, node);
        }
        exported(&mut all, name, &tree);
    }
    all
}

/// The history of a lesson at its end.
fn played(lesson: &Arc<Lesson>) -> HistoryTree {
    let opened = Walkthrough::open(Arc::clone(lesson)).map_err(|error| error.to_string());
    let (mut walk, mut tree) = opened.expect("it opens");
    for number in 0..lesson.steps.len() {
        if number > 0 {
            walk.forward(&mut tree)
                .map_err(|error| error.to_string())
                .expect("it goes on");
        }
        walk.reveal(&mut tree)
            .map_err(|error| error.to_string())
            .expect("it can be shown");
    }
    tree
}

/// The kubectl tab of a step.
fn step(all: &mut Vec<Tried>, lesson: &str, tree: &HistoryTree, node: NodeId) {
    let worlds = tree
        .parent(node)
        .and_then(|it| tree.world_at(it))
        .zip(tree.world_at(node));
    let Some(((before, after), step)) = worlds.zip(tree.step(node)) else {
        return;
    };
    let (Some(call), Some(exchange)) = (ClientRequest::of_step(after, step), &step.exchange) else {
        return;
    };
    let command = kubectl(&call);
    // A server of its own, which never ends.
    if command.contains("kubectl proxy") {
        return;
    }
    let tried = |script: String, expected| Tried {
        name: format!("{lesson}, step {node}"),
        server: before.server().clone(),
        script,
        files: Vec::new(),
        expected,
    };
    if exchange.target.contains("watch=") {
        all.push(tried(
            format!("timeout 2 {command} || true"),
            Expected::Understood,
        ));
        return;
    }
    let accepted = exchange.code < 300;
    let path = after.subject().path();
    let stored = object(after.server(), &path);
    let reads = exchange.method == "GET";
    all.push(tried(
        command,
        match (accepted, reads) {
            (false, _) => Expected::Refused(String::new()),
            (true, true) => Expected::Accepted,
            (true, false) => Expected::Object(path.clone(), stored),
        },
    ));
    if let Some(first) = kubectl_dry_run(&call) {
        all.push(tried(
            first,
            match accepted {
                false => Expected::Refused(String::new()),
                true => Expected::Nothing(path),
            },
        ));
    }
}

fn object(server: &ApiServer, path: &str) -> Value {
    let request = http::Request::get(path)
        .body(Vec::new())
        .expect("it is a path");
    let response = server.clone().handle(request);
    match response.status().is_success() {
        true => serde_json::from_slice(response.body()).unwrap_or_default(),
        false => Value::Null,
    }
}

/// The script of the whole history. It goes on after refusals, so it always succeeds.
fn exported(all: &mut Vec<Tried>, lesson: &str, tree: &HistoryTree) {
    let script = script(tree).replace("sleep 3", "sleep 0");
    all.push(Tried {
        name: format!("the script of {lesson}"),
        server: ApiServer::default(),
        script: format!("set +e\n{script}\ntrue\n"),
        files: Vec::new(),
        expected: Expected::Accepted,
    });
}

//! Measures the speed of the search of every order, through the whole API server, beside
//! `stateright` on a hand-written model of the same protocol, and its memory; and the search of the
//! states of a controller.
//! `cargo run --release --manifest-path benches/explore/Cargo.toml`. With the name of one question
//! (`editors`, `five`, `model`, `requests`, `matrix`, `controllers` or `whole`), it asks that question once, so that
//! `valgrind --tool=callgrind` counts its instructions.

mod controllers;
mod model;

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Request;
use model::Protocol;
use optimist_apiserver::server::ApiServer;
use optimist_client::{IntendedChange, Intent, OnConflict, Write, WriteMethod};
use optimist_simulation::explore::{PRESETS, Plan, ResponseCache, Scenario, Search, SearchStatus};
use serde_json::json;

fn scenario(editors: usize, on_conflict: OnConflict) -> Scenario {
    let mut server = ApiServer::default();
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [
                    {"name": "nginx", "image": "nginx:1.21", "ports": [{"containerPort": 80}]}]},
            },
        },
    });
    let resource = server.resources().by_kind("apps/v1", "Deployment");
    let resource = Arc::clone(resource.expect("it is built in"));
    let request = Request::post(resource.path("default", ""))
        .header("content-type", "application/json")
        .header("user-agent", "kubectl-create")
        .body(object.to_string().into_bytes())
        .expect("it is a request");
    let response = server.handle(request);
    let object = serde_json::from_slice(response.body()).expect("the server answers JSON");
    let mut scenario = Scenario::new(server, resource, Arc::new(object));
    let changes = [
        IntendedChange::at("/spec/replicas", Some(5.into())),
        IntendedChange::at("/spec/paused", Some(true.into())),
        IntendedChange::at("/spec/minReadySeconds", Some(3.into())),
        IntendedChange::at("/spec/progressDeadlineSeconds", Some(700.into())),
        IntendedChange::at("/spec/revisionHistoryLimit", Some(4.into())),
    ];
    let managers = ["editor-a", "editor-b", "controller", "third", "fourth"];
    scenario.plans = changes
        .into_iter()
        .zip(managers)
        .take(editors)
        .map(|(change, manager)| Plan {
            write: Write {
                on_conflict,
                ..Write::default()
            },
            ..Plan::new(manager, Intent::Change(vec![change]))
        })
        .collect();
    scenario
}

/// The best of many runs.
fn best(mut run: impl FnMut()) -> Duration {
    let begin = Instant::now();
    let mut best = Duration::MAX;
    while begin.elapsed() < Duration::from_secs(2) {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed());
    }
    best
}

fn searched(scenario: &Scenario) -> Search {
    let mut search = Search::new(scenario.clone(), 10_000_000);
    assert_eq!(search.run(), SearchStatus::Done);
    search
}

fn compare(name: &str, editors: usize, attempts: u8) {
    let on_conflict = match attempts {
        0 => OnConflict::GiveUp,
        retries => OnConflict::ReadAgain(retries + 1),
    };
    let scenario = scenario(editors, on_conflict);
    let search = searched(&scenario);
    let ours = best(|| {
        searched(&scenario);
    });
    let protocol = Protocol { editors, attempts };
    let states = model::check(&protocol);
    let theirs = best(|| {
        model::check(&protocol);
    });
    let per_second = |count: f64, time: Duration| count / time.as_secs_f64();
    let histories = search.tally().total() as f64;
    let (a, b) = (
        per_second(search.states() as f64, ours),
        per_second(states as f64, theirs),
    );
    println!(
        "{name}: {} states, {histories} histories in {ours:?}: {a:.0} states/s, {:.0} histories/s",
        search.states(),
        per_second(histories, ours)
    );
    println!(
        "  stateright: {states} states in {theirs:?}: {b:.0} states/s; ratio {:.2}",
        a / b
    );
}

/// Resident memory in kB, where the system says it.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}

/// The pairs of edits of *Explore*.
fn presets() -> Vec<Scenario> {
    let all = PRESETS.iter().map(|preset| preset.scenario());
    all.map(|scenario| scenario.expect("it can be loaded"))
        .collect()
}

/// Searches a pair of edits in every way of writing, as *Explore* does. Returns the number of states.
fn matrix(pair: &Scenario) -> usize {
    let (mut memory, mut states) = (ResponseCache::default(), 0);
    for way in WriteMethod::MATRIX {
        let tries = OnConflict::DEFAULT_ATTEMPTS;
        let Ok(scenario) = pair.clone().in_ways(&[way], tries) else {
            continue;
        };
        let mut search = Search::with_memory(scenario, 60_000, memory);
        assert_eq!(search.run(), SearchStatus::Done);
        states += search.states();
        memory = search.take_memory();
    }
    states
}

fn measure_matrix() {
    println!("Two editors in every way of writing:");
    for (preset, pair) in PRESETS.iter().zip(presets()) {
        let states = matrix(&pair);
        let time = best(|| {
            matrix(&pair);
        });
        println!("{}: {states} states in {time:?}", preset.slug);
    }
}

fn weigh(attempts: u8, micro_steps: bool) {
    let mut scenario = scenario(3, OnConflict::Resend(attempts));
    scenario.micro_steps = micro_steps;
    let before = memory();
    let start = Instant::now();
    let search = searched(&scenario);
    let time = start.elapsed();
    println!(
        "{} histories: {} states, {} kB more, {time:?}",
        search.tally().total(),
        search.states(),
        memory().saturating_sub(before)
    );
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("editors") => {
            let search = searched(&scenario(3, OnConflict::ReadAgain(4)));
            println!("{} states", search.states());
        }
        Some("requests") => weigh(30, true),
        Some("five") => {
            let search = searched(&scenario(5, OnConflict::ReadAgain(4)));
            println!("{} states", search.states());
        }
        Some("model") => {
            let (editors, attempts) = (5, 3);
            println!("{} states", model::check(&Protocol { editors, attempts }));
        }
        Some("matrix") => println!("{} states", matrix(&presets()[0])),
        Some("whole") => controllers::ask_whole(),
        Some("controllers") => controllers::ask_once(),
        _ => measure_all(),
    }
}

fn measure_all() {
    controllers::measure();
    measure_matrix();
    compare("2 editors, GET and PUT, 3 retries", 2, 3);
    compare("3 editors, GET and PUT", 3, 0);
    compare("3 editors, GET and PUT, 3 retries", 3, 3);
    compare("4 editors, GET and PUT, 3 retries", 4, 3);
    compare("5 editors, GET and PUT, 3 retries", 5, 3);
    println!("3 editors who send the same again and again:");
    weigh(4, false);
    weigh(10, false);
    weigh(30, false);
    weigh(10, true);
    weigh(30, true);
}

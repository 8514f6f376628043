//! The replayer of recordings with a server behind an address: it agrees with this one, and catches a wrong one.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;

use optimist_recordings::replay::Problem;
use optimist_recordings::{Exceptions, Outcome, Recording, Remote, Report, load, replay_remotely};

use crate::program::Program;

/// So many recordings of each file are replayed: a few seconds.
const SOME: usize = 12;

/// It has more managers than a server keeps apart. Which of them are merged depends on the second of each write, and
/// this server runs on a clock.
const DEPENDS_ON_SECONDS: &str = "managedfields_capping";

fn recordings() -> Vec<Recording> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance");
    let mut recordings = load(folder.join("scenarios")).unwrap();
    for file in ["wide/configmap2.jsonl.gz", "third/policy.jsonl.gz"] {
        recordings.extend(load(folder.join(file)).unwrap().into_iter().take(SOME));
    }
    let in_all = recordings.len();
    recordings.retain(|recording| recording.name != DEPENDS_ON_SECONDS);
    assert_eq!(recordings.len(), in_all - 1, "{DEPENDS_ON_SECONDS}");
    // Who sleeps or watches waits.
    recordings.retain(|recording| {
        let mut steps = recording.steps.iter();
        steps.all(|step| {
            use optimist_recordings::recording::Action::{Parallel, Request};
            matches!(step.action, Request(_) | Parallel { .. })
        })
    });
    recordings
}

fn replayed(url: &str) -> Vec<Report> {
    let exceptions = Exceptions::embedded();
    let mut remote = Remote::connect(url).unwrap();
    let all = recordings();
    let reports = all
        .iter()
        .map(|recording| replay_remotely(recording, &mut remote, &exceptions));
    reports.collect()
}

fn failed(reports: &[Report]) -> Vec<&Report> {
    let failed = |report: &&Report| matches!(report.outcome, Outcome::Failed(_));
    reports.iter().filter(failed).collect()
}

/// Copies bytes, and makes every conflict a success.
fn forward(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        let (conflict, success) = (b"HTTP/1.1 409", b"HTTP/1.1 200");
        if bytes[..read].starts_with(conflict) {
            bytes[..success.len()].copy_from_slice(success);
        }
        if to.write_all(&bytes[..read]).is_err() {
            return;
        }
    }
}

/// A server in front of another one that answers 200 instead of 409.
fn wrong_server(authority: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let behind = authority.to_owned();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(&behind).unwrap();
            let (client_too, server_too) =
                (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || forward(client, server));
            thread::spawn(move || forward(server_too, client_too));
        }
    });
    url
}

#[test]
fn the_recordings_agree_with_the_served_one() {
    let mut compared = 0;
    for release in ["1.36.2", "1.36.3"] {
        let program = Program::start(&["--insecure-http", "--release", release]);
        let reports = replayed(&program.url);
        let failed = failed(&reports);
        assert!(failed.is_empty(), "{failed:#?}");
        let passed = |report: &&Report| matches!(report.outcome, Outcome::Passed { .. });
        compared += reports.iter().filter(passed).count();
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn a_server_that_answers_200_instead_of_409_is_caught() {
    let program = Program::start(&["--insecure-http", "--release", "1.36.2"]);
    let reports = replayed(&wrong_server(program.authority()));
    let failed = failed(&reports);
    assert!(!failed.is_empty());
    for report in failed {
        let Outcome::Failed(failures) = &report.outcome else {
            continue;
        };
        let is_status = |problem: &Problem| match problem {
            Problem::Different { expected, got, .. } => {
                (expected.status, got.status) == (Some(409), Some(200))
            }
            _ => false,
        };
        assert!(
            failures.iter().all(|it| is_status(&it.problem)),
            "{report:#?}"
        );
    }
}

#[test]
fn an_address_that_is_none_is_refused_with_a_reason() {
    for (url, why) in [
        ("https://127.0.0.1:6443", "begins with http://"),
        ("http://127.0.0.1:1", "refused"),
    ] {
        let error = Remote::connect(url).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

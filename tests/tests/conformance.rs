//! The core behaves as the recorded server, as far as it has come.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::LazyLock;

use optimist_tests::conformance::{
    Exceptions, Outcome, Recording, Report, display, known, load, replay, score,
};

static RECORDINGS: LazyLock<Vec<Recording>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    load(folder).unwrap()
});

static REPORTS: LazyLock<Vec<Report>> = LazyLock::new(|| RECORDINGS.iter().map(replay).collect());

#[test]
fn the_page_about_the_score_says_what_the_recordings_say() {
    let replayed: Vec<_> = RECORDINGS.iter().zip(REPORTS.iter()).collect();
    let score = score::markdown(&replayed, &Exceptions::embedded());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/how-true.md");
    let page = std::fs::read_to_string(file).unwrap();
    let command = "replay --score-in docs/how-true.md tests/conformance";
    let current = score::set_in(&page, &score).expect("it has a place for the score");
    assert!(page == current, "run {command}; the score is\n{score}");
    let row = score::server_row(score::CORE, &replayed);
    assert!(
        page.contains(&row),
        "the row of the core among the servers is\n{row}"
    );
}

#[test]
fn the_core_answers_every_recording_as_the_recorded_server_did() {
    let mut failing: HashMap<&str, BTreeSet<String>> = HashMap::new();
    let mut surprises = Vec::new();
    for (recording, report) in RECORDINGS.iter().zip(REPORTS.iter()) {
        let passed = matches!(report.outcome, Outcome::Passed { .. });
        let listed = failing
            .entry(&recording.corpus)
            .or_insert_with(|| known::listed(&known::folder(), &recording.corpus).unwrap())
            .contains(&recording.name);
        match (passed, listed) {
            (false, false) => surprises.push(display::line(report)),
            (true, true) => surprises.push(format!("passes, but is listed: {}", recording.name)),
            _ => {}
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn the_core_answers_every_probe_as_the_probed_server_did() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("probes");
    let probes = load(folder).unwrap();
    assert!(probes.len() > 2000, "{}", probes.len());
    let reports = probes.iter().map(replay);
    let differ = reports.filter(|report| !matches!(report.outcome, Outcome::Passed { .. }));
    let differ: Vec<String> = differ.map(|report| display::line(&report)).collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn every_recording_that_is_listed_as_failing_exists() {
    for file in std::fs::read_dir(known::folder()).into_iter().flatten() {
        let file = file.unwrap().file_name().into_string().unwrap();
        let corpus = file.strip_suffix(".txt").unwrap();
        for name in known::listed(&known::folder(), corpus).unwrap() {
            let found = RECORDINGS
                .iter()
                .any(|recording| recording.corpus == corpus && recording.name == name);
            assert!(found, "{corpus}: {name}");
        }
    }
}

#[test]
fn every_exception_is_about_a_step_that_exists() {
    let by_name: HashMap<&str, &Recording> =
        RECORDINGS.iter().map(|r| (r.name.as_str(), r)).collect();
    assert_eq!(by_name.len(), RECORDINGS.len(), "names are unique");
    for exception in Exceptions::embedded().iter() {
        let steps = by_name
            .get(exception.sequence.as_str())
            .map(|recording| recording.steps.len());
        assert!(
            steps.is_some_and(|steps| exception.step < steps),
            "{exception:?}"
        );
        assert!(
            !exception.reason.is_empty() && !exception.pointers.is_empty(),
            "{exception:?}"
        );
    }
}

//! Random changes of real texts: whatever is pasted is detected or refused, and what is detected
//! can be run.

use crate::detect_file;
use optimist_client::Preset;
use optimist_diagnose::audit::AuditReader;
use optimist_diagnose::audit::findings::Findings;
use optimist_diagnose::audit::recorded::RecordedHistory;
use optimist_diagnose::case::Case;
use optimist_diagnose::input::Input;
use optimist_diagnose::observed::fights;
use optimist_diagnose::scene::{GivenParts, Scene};
use optimist_diagnose::ways::{ChangeTable, WantedChange, Way};
use proptest::prelude::*;

const TEXTS: [&str; 7] = [
    include_str!("live/deployment.yaml"),
    include_str!("live/secret.yaml"),
    include_str!("live/backup.yaml"),
    include_str!("fight.json"),
    include_str!("live/audit.log"),
    include_str!("messages/kubectl.json"),
    include_str!("messages/other_tools.json"),
];

/// The pieces that are put into a text.
const PIECES: [&str; 14] = [
    "{",
    "}",
    "\"",
    "\n",
    "null",
    "[]",
    "-1",
    "f:",
    "k:{\"name\":\"x\"}",
    "\u{0}",
    "9999999999999",
    "a: b\n",
    "\u{a0}",
    "é",
];

/// Does with a text what a page does.
fn use_all(text: &[u8]) {
    let Ok(input) = detect_file(text) else {
        return;
    };
    match &input {
        Input::AuditLog(text) => {
            let log = AuditReader::new(text.clone()).finish();
            for (object, _) in log.objects().into_iter().take(2) {
                let history = RecordedHistory::new(object, &[], Default::default()).finish(&log);
                Findings::search(&history, &log);
            }
        }
        Input::Errors(errors) => {
            for error in errors.iter().take(3) {
                let _ =
                    Scene::rebuild(error, &GivenParts::default()).map(|scene| scene.requests.len());
            }
        }
        _ => {}
    }
    for case in Case::all_of(&[input]) {
        let Ok(installed) = case.install() else {
            continue;
        };
        let ownership = installed.ownership();
        assert!(ownership.to_markdown().len() >= ownership.lines.len());
        let Some(object) = installed.object() else {
            continue;
        };
        let table = ChangeTable::new(&installed, WantedChange::manifest((**object).clone()));
        for preset in [Preset::KubectlApplyServerSide, Preset::Helm3, Preset::Flux] {
            table.row(Way::Client(preset, optimist_diagnose::ways::OnOwned::Usual));
        }
        let changes =
            optimist_diagnose::observed::field_changes(&case.versions, &installed.resource().root);
        fights(&changes.unwrap_or_default());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_paste_panics(
        which in 0..TEXTS.len(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), 0..PIECES.len(), 0usize..40), 1..4),
    ) {
        let mut text = TEXTS[which].as_bytes().to_vec();
        for (at, piece, gone) in changes {
            let at = at.index(text.len() + 1);
            let end = (at + gone).min(text.len());
            text.splice(at..end, PIECES[piece].bytes());
        }
        use_all(&text);
    }
}

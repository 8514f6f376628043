//! Secrets in every place where a text can be, shared in every form: none of them is in what leaves the
//! page, also after it is inflated and decoded.

mod carriers;
mod exposed;
mod forms;
mod histories;
mod places;
mod secrets;

#[path = "../../../state/tests/slices/page.rs"]
#[allow(dead_code)]
mod page;

use std::io::Write as _;

use carriers::carriers;
use forms::Output;
use secrets::Secrets;

/// The counts while secrets are shared.
#[derive(Default)]
struct Counts {
    secrets: usize,
    places: usize,
    outputs: usize,
    forms: std::collections::BTreeSet<&'static str>,
    exposed: Vec<String>,
}

impl Counts {
    fn look(&mut self, place: &str, secrets: &Secrets, outputs: &[Output]) {
        self.places += 1;
        self.secrets += secrets.all().len();
        for output in outputs {
            self.outputs += 1;
            self.forms.insert(output.form);
            for (secret, before) in exposed::in_text(&output.text, secrets.all()) {
                let form = output.form;
                self.exposed
                    .push(format!("{place}, {form}: {secret:?} behind {before:?}"));
            }
        }
    }

    /// The search finds each secret where nothing is left out: its place has it.
    fn check(&self, place: &str, secrets: &Secrets, everything: &str) {
        let found = exposed::in_text(everything, secrets.all());
        let all = secrets.all().iter();
        let missing: Vec<&String> = all.filter(|it| !found.contains_key(*it)).collect();
        assert!(missing.is_empty(), "{place} has not {missing:?}");
    }

    fn conclude(self, page: &str) {
        // Past the test runner, which keeps what a passing test prints: `cargo xtask test` ends with it.
        let _ = writeln!(
            std::io::stdout(),
            "counted: canaries of {page}: {} secrets in {} ways and {} places, shared in {} forms \
             ({} outputs), {} exposed",
            self.secrets,
            carriers(&mut Secrets::default()).len(),
            self.places,
            self.forms.len(),
            self.outputs,
            self.exposed.len()
        );
        assert!(self.exposed.is_empty(), "\n{}", self.exposed.join("\n"));
    }
}

#[test]
fn no_secret_of_a_case_leaves_diagnose() {
    let mut counts = Counts::default();
    for (name, place) in places::of_diagnose() {
        let mut secrets = Secrets::new(counts.places);
        let texts = place(&mut secrets);
        let (everything, outputs) = forms::of_case(&texts);
        counts.check(name, &secrets, &everything);
        counts.look(name, &secrets, &outputs);
    }
    counts.conclude("Diagnose");
}

#[test]
fn no_secret_of_a_history_leaves_play() {
    let mut counts = Counts::default();
    for (name, place) in histories::of_play() {
        let mut secrets = Secrets::new(1000 + counts.places);
        let session = place(&mut secrets);
        counts.check(name, &secrets, &session.to_text());
        let outputs = forms::of_history(&session);
        counts.look(name, &secrets, &outputs);
    }
    counts.conclude("Play");
}

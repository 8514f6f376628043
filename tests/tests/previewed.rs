//! Every recorded conflict of an apply is predicted: before the request is sent, a preview of the object as
//! it is then says the same fields and managers.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use http::{Request, Response};
use optimist_apiserver::server::{ApiServer, Watch};
use optimist_client::Preset;
use optimist_diagnose::preview::{
    DeliveryTool, FieldChangeKind, Preview, PreviewInput, PreviewOutcome,
};
use optimist_tests::conformance::replay::replay_against;
use optimist_tests::conformance::subject::{ObjectRef, Opened, Unsupported};
use optimist_tests::conformance::tree::Tree;
use optimist_tests::conformance::{Exceptions, fresh_server, load};
use serde_json::Value;

/// The core, which is asked for a preview before every apply.
struct Predicted<'a> {
    server: ApiServer,
    counts: &'a mut Counts,
    name: &'a str,
}

#[derive(Default)]
struct Counts {
    conflicts: usize,
    accepted: usize,
    wrong: Vec<String>,
}

/// Objects of a kind that is not built in come with their definition.
fn definition(server: &mut ApiServer, path: &str) -> Option<Value> {
    let mut parts = path.strip_prefix("/apis/")?.split('/');
    let (group, _) = (parts.next()?, parts.next()?);
    let mut rest: Vec<&str> = parts.collect();
    if rest.first() == Some(&"namespaces") {
        rest.drain(..2.min(rest.len()));
    }
    let name = format!("{}.{group}", rest.first()?);
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
    get(server, &path)
}

fn get(server: &mut ApiServer, path: &str) -> Option<Value> {
    let response = server.handle(Request::get(path).body(Vec::new()).ok()?);
    let found = response.status().is_success();
    found.then(|| serde_json::from_slice(response.body()).ok())?
}

/// The conflicts of an answer: each field.
fn conflicts(answer: &Value) -> BTreeSet<String> {
    let causes = answer["details"]["causes"].as_array();
    let causes = causes.into_iter().flatten();
    let causes = causes.filter(|cause| cause["reason"] == "FieldManagerConflict");
    causes
        .map(|cause| cause["field"].as_str().unwrap_or_default().to_owned())
        .collect()
}

impl Predicted<'_> {
    /// Returns the preview's result for an apply of an object; `None` if no tool sends such a request: it
    /// applies to a subresource, its body names another object than its path, or an option has no such
    /// value.
    fn predict(
        &mut self,
        request: &Request<Vec<u8>>,
    ) -> Option<(PreviewOutcome, BTreeSet<String>)> {
        let media = request.headers().get("content-type")?.to_str().ok()?;
        if !media.starts_with("application/apply-patch") {
            return None;
        }
        let path = request.uri().path();
        if path.ends_with("/status") || path.ends_with("/scale") {
            return None;
        }
        let query = request.uri().query().unwrap_or_default();
        let option = |name: &str| {
            let mut options = query.split('&').filter_map(|it| it.split_once('='));
            options
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.to_owned())
        };
        let text = std::str::from_utf8(request.body()).ok()?;
        let mut manifest: Value = match serde_json::from_str(text) {
            Ok(manifest) => manifest,
            Err(_) => optimist_client::objects(text).ok()?.into_iter().next()?,
        };
        let live = get(&mut self.server, path)?;
        manifest.get("metadata")?.as_object()?;
        for field in ["name", "namespace"] {
            let (own, said) = (&live["metadata"][field], &manifest["metadata"][field]);
            if !said.is_null() && said != own {
                return None;
            }
            if !own.is_null() {
                manifest["metadata"][field] = own.clone();
            }
        }
        let validation = option("fieldValidation");
        if validation.is_some_and(|it| !["Strict", "Warn", "Ignore"].contains(&it.as_str())) {
            return None;
        }
        let mut before: Vec<Value> = definition(&mut self.server, path).into_iter().collect();
        before.push(live);
        let manager = option("fieldManager").filter(|it| !it.contains('%') && !it.contains('+'))?;
        let preview = Preview::run(PreviewInput {
            live: before,
            next: vec![manifest],
            earlier: None,
            left_out: Vec::new(),
            // Terraform's apply is one request without anything before or after it.
            tool: DeliveryTool {
                manager: Some(manager),
                force: option("force").as_deref() == Some("true"),
                ..DeliveryTool::new(Preset::Terraform)
            },
            namespace: None,
            release: self.server.release(),
        });
        let mut rows = preview.rows.into_iter();
        let row = rows.find(|row| row.outcome != PreviewOutcome::NotTouched)?;
        let refused = row
            .fields
            .into_iter()
            .filter(|it| it.change == FieldChangeKind::Refused);
        Some((row.outcome, refused.map(|it| it.field).collect()))
    }
}

impl ObjectRef for Predicted<'_> {
    type Watch = Watch;

    fn handle(&mut self, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
        let said = self.predict(&request);
        let target = request.uri().to_string();
        let response = self.server.handle(request);
        let answer: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        let happened = conflicts(&answer);
        let Some((outcome, fields)) = said else {
            return response;
        };
        if happened.is_empty() {
            self.counts.accepted += 1;
            if outcome == PreviewOutcome::Conflict {
                let name = self.name;
                self.counts
                    .wrong
                    .push(format!("{name}: {target}: no conflict, and {fields:?}"));
            }
        } else {
            self.counts.conflicts += 1;
            if outcome != PreviewOutcome::Conflict || fields != happened {
                let name = self.name;
                let said = format!("{outcome:?} {fields:?}");
                self.counts
                    .wrong
                    .push(format!("{name}: {target}: {happened:?}, and {said}"));
            }
        }
        response
    }

    fn advance(&mut self, by: Duration) {
        ObjectRef::advance(&mut self.server, by);
    }

    fn open_watch(&mut self, request: Request<Vec<u8>>) -> Result<Opened<Watch>, Unsupported> {
        self.server.open_watch(request)
    }

    fn read_watch(&mut self, watch: &mut Watch, idle: Duration) -> Result<Vec<Tree>, Unsupported> {
        self.server.read_watch(watch, idle)
    }

    fn install(&mut self, object: Value) -> Result<Tree, Unsupported> {
        ObjectRef::install(&mut self.server, object)
    }

    fn compact(&mut self, revision: u64) -> Result<(), Unsupported> {
        ObjectRef::compact(&mut self.server, revision)
    }

    fn restart(&mut self) -> Result<(), Unsupported> {
        ObjectRef::restart(&mut self.server)
    }
}

#[test]
fn every_recorded_conflict_of_an_apply_is_predicted_before_it_is_sent() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    let mut counts = Counts::default();
    for recording in load(folder).unwrap() {
        let has_conflict = |step: &optimist_tests::conformance::recording::Step| {
            let response = serde_json::to_string(&step.expected.response).unwrap_or_default();
            response.contains("FieldManagerConflict")
        };
        if !recording.needs.is_empty() || !recording.steps.iter().any(has_conflict) {
            continue;
        }
        let server = fresh_server(recording.release.as_deref()).unwrap();
        let predicted = Predicted {
            server,
            counts: &mut counts,
            name: &recording.name,
        };
        replay_against(&recording, predicted, &Exceptions::embedded());
    }
    assert!(counts.wrong.is_empty(), "{}", counts.wrong.join("\n"));
    assert!(counts.conflicts > 100, "{} conflicts", counts.conflicts);
    // Past the test runner, which keeps what a passing test prints: `cargo xtask test` ends with it.
    let (conflicts, accepted) = (counts.conflicts, counts.accepted);
    let _ = writeln!(
        std::io::stdout(),
        "counted: recorded conflicts of applies that are predicted: {conflicts}, \
         and {accepted} applies without one"
    );
}

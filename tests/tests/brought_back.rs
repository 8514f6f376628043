//! Answers of a server as input. Every object that the recordings read is installed again and
//! changes nothing. Every request of the recordings, written as an audit log, is predicted.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use http::{Request, Response, header};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{ApiServer, ResourcePath, Watch};
use optimist_diagnose::audit::AuditReader;
use optimist_diagnose::audit::recorded::{CoreAnswer, RecordedHistory};
use optimist_tests::conformance::recording::Recording;
use optimist_tests::conformance::replay::replay_against;
use optimist_tests::conformance::subject::{ObjectRef, Opened, Unsupported};
use optimist_tests::conformance::tree::Tree;
use optimist_tests::conformance::{Exceptions, fresh_server, load};
use serde_json::{Value, json};

/// One recording in this many is replayed: each kind has several.
const EVERY: usize = 5;

type Seen = Box<dyn FnMut(&ApiServer, &Request<Vec<u8>>, &Response<Vec<u8>>)>;

/// A server whose answers are looked at.
struct Witnessed {
    server: ApiServer,
    seen: Rc<RefCell<Seen>>,
}

impl ObjectRef for Witnessed {
    type Watch = Watch;

    fn handle(&mut self, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
        let response = self.server.handle(request.clone());
        (self.seen.borrow_mut())(&self.server, &request, &response);
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

fn recordings(folder: &str) -> Vec<Recording> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    load(root.join(folder)).expect("they can be read")
}

fn replayed(recording: &Recording, seen: Seen) {
    let release = recording.release.as_deref();
    let witnessed = Witnessed {
        server: fresh_server(release).expect("there is a server"),
        seen: Rc::new(RefCell::new(seen)),
    };
    replay_against(recording, witnessed, &Exceptions::embedded());
}

/// The object that an answer carries, as a GET shows it.
fn object_of(request: &Request<Vec<u8>>, response: &Response<Vec<u8>>) -> Option<Value> {
    let plain = request
        .uri()
        .query()
        .is_none_or(|query| !query.contains("dryRun"));
    let path = ResourcePath::parse(request.uri().path()).ok()?;
    let whole = plain && path.subresource.is_empty() && !path.name.is_empty();
    if !whole || !response.status().is_success() || request.method() == "DELETE" {
        return None;
    }
    let object: Value = serde_json::from_slice(response.body()).ok()?;
    let known = !object.uid().is_empty() && text(&object, "kind") != "Table";
    known.then_some(object)
}

#[test]
fn installing_what_a_get_returned_changes_nothing() {
    let installed = Rc::new(RefCell::new((0, 0)));
    for recording in recordings("kinds").iter().step_by(EVERY) {
        let (counts, name) = (Rc::clone(&installed), recording.name.clone());
        replayed(
            recording,
            Box::new(move |server, request, response| {
                let Some(object) = object_of(request, response) else {
                    return;
                };
                let mut again = server.clone();
                // A write that took the last finalizer off answers with what is gone.
                let stored = read(&mut again, request.uri().path());
                if stored.as_ref() != Some(&object) {
                    return;
                }
                let before = again.store().revision();
                let installed = again.install(object.clone());
                assert_eq!(installed.as_deref(), Ok(&object), "{name}");
                assert_eq!(again.store().revision(), before, "{name}");
                let mut fresh = fresh_server(None).expect("there is a server");
                let installed = fresh.install(object.clone());
                assert_eq!(installed.as_deref(), Ok(&object), "{name}");
                assert_eq!(read(&mut fresh, request.uri().path()), stored, "{name}");
                counts.borrow_mut().0 += 1;
            }),
        );
        installed.borrow_mut().1 += 1;
    }
    let (objects, recordings) = *installed.borrow();
    assert!(objects > 300 && recordings > 50, "{objects} {recordings}");
}

fn read(server: &mut ApiServer, path: &str) -> Option<Value> {
    let request = Request::get(path).header(header::USER_AGENT, "test");
    let response = server.handle(request.body(Vec::new()).ok()?);
    let found = response.status().is_success();
    serde_json::from_slice(response.body())
        .ok()
        .filter(|_| found)
}

/// The verb of a request, as an audit log names it.
fn verb(request: &Request<Vec<u8>>, path: &ResourcePath<'_>) -> &'static str {
    match (request.method().as_str(), path.name.is_empty()) {
        ("GET", false) => "get",
        ("GET", true) => "list",
        ("POST", _) => "create",
        ("PUT", _) => "update",
        ("PATCH", _) => "patch",
        ("DELETE", false) => "delete",
        _ => "deletecollection",
    }
}

/// The event of an audit log for an exchange; `None` for what a log does not have.
fn event(
    server: &ApiServer,
    request: &Request<Vec<u8>>,
    response: &Response<Vec<u8>>,
) -> Option<Value> {
    let path = ResourcePath::parse(request.uri().path()).ok()?;
    let header = |name| request.headers().get(name)?.to_str().ok();
    // The log has no headers: other representations cannot be told from it.
    if header(header::ACCEPT).is_some_and(|it| it != "application/json") {
        return None;
    }
    let seconds = server.environment().now().seconds;
    let time = optimist_apiserver::environment::Timestamp { seconds }.to_string();
    let mut event = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse",
        "stage": "ResponseComplete", "requestURI": request.uri().to_string(),
        "verb": verb(request, &path), "user": {"username": "admin"},
        "userAgent": header(header::USER_AGENT).unwrap_or_default(),
        "objectRef": {"resource": path.plural, "namespace": path.namespace, "name": path.name,
            "apiGroup": path.group, "apiVersion": path.version, "subresource": path.subresource},
        "responseStatus": {"code": response.status().as_u16()},
        "requestReceivedTimestamp": time, "stageTimestamp": time,
    });
    if !request.body().is_empty() {
        // A body that is no JSON is not in a log.
        event["requestObject"] = serde_json::from_slice(request.body()).ok()?;
    }
    if let Ok(answer) = serde_json::from_slice::<Value>(response.body()) {
        event["responseObject"] = answer;
    }
    Some(event)
}

#[test]
fn the_requests_of_the_recordings_are_predicted_from_their_audit_log() {
    let (mut same, mut others, mut not_run) = (0, Vec::new(), 0);
    let definitions = [
        include_str!("../conformance/crds/backups.demo.example.com.json"),
        include_str!("../conformance/crds/crates.demo.example.com.json"),
        include_str!("../conformance/crds/gadgets.demo.example.com.json"),
        include_str!("../conformance/crds/ledgers.demo.example.com.json"),
        include_str!("../conformance/crds/widgets.demo.example.com.json"),
    ];
    let definitions = definitions.map(|text| serde_json::from_str(text).expect("it is JSON"));
    for recording in recordings("kinds").iter().step_by(EVERY) {
        let lines = Rc::new(RefCell::new(Vec::new()));
        let kept = Rc::clone(&lines);
        let seen =
            move |server: &ApiServer, request: &Request<Vec<u8>>, response: &Response<Vec<u8>>| {
                let line = event(server, request, response).map(|event| event.to_string());
                kept.borrow_mut().extend(line);
            };
        replayed(recording, Box::new(seen));
        let log = AuditReader::new(lines.borrow().join("\n").into()).finish();
        let Some((object, _)) = log.objects().into_iter().next() else {
            continue;
        };
        let release = recording.release.as_deref().map(|release| release.parse());
        let release = release
            .transpose()
            .expect("it is known")
            .unwrap_or_default();
        let history = RecordedHistory::new(object, &definitions, release).finish(&log);
        for step in &history.steps {
            match &step.prediction {
                CoreAnswer::Same { .. } => same += 1,
                CoreAnswer::NotRun(_) => not_run += 1,
                CoreAnswer::Other { differences, .. } => {
                    let event = &log.events[step.event];
                    // Whether etcd holds a claim as it was created or as it was updated is not in an
                    // answer; the first write that changes nothing differs.
                    let only_version = differences[..]
                        .iter()
                        .all(|one| one.pointer == "/metadata/resourceVersion");
                    if event.object.resource == "persistentvolumeclaims" && only_version {
                        continue;
                    }
                    others.push(format!(
                        "{} {} {}: {differences:?}",
                        recording.name, event.verb, event.uri
                    ));
                }
            }
        }
    }
    assert!(same > 500, "{same} {not_run}");
    assert_eq!(
        others.len(),
        0,
        "{same} {not_run} {:#?}",
        &others[..others.len().min(12)]
    );
}

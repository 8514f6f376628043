//! The log of a running server, which grows while the page is open.

use std::rc::Rc;
use std::sync::Arc;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::ApiServer;
use optimist_client::WriteMethod;
use optimist_sessions::StorageArea;
use optimist_state::{
    AuditReplay, BranchSource, CASE, CaseSection, DiagnoseMsg, LiveEditMsg, LiveEditor, LiveEvent,
    LiveOutcome, Msg, PersistenceMsg, Platform, RecordedSource, SelectedStep,
};
use serde_json::{Value, json};

use crate::diagnose::{AUDIT, CONFIG, bring, diagnose};
use crate::page::Page;

fn observe(page: &mut Page, event: LiveEvent) {
    page.send(DiagnoseMsg::Observe(event));
    page.finish_work();
}

fn replay(page: &Page) -> Rc<AuditReplay> {
    let audit = page.state.diagnose.audit.as_ref().unwrap();
    audit.replay.clone().unwrap()
}

/// Lines of a log in which ConfigMaps are created, with the first number.
fn creates(numbers: std::ops::Range<usize>) -> String {
    let line = |n: usize| {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": n.to_string()},
            "data": {"n": n.to_string()}});
        let event: Value = json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse",
            "auditID": n.to_string(), "stage": "ResponseComplete", "verb": "get",
            "requestURI": "/api/v1/namespaces/default/configmaps/a", "userAgent": "test",
            "objectRef": {"resource": "configmaps", "namespace": "default", "name": "a", "apiVersion": "v1"},
            "responseStatus": {"code": 200}, "responseObject": object,
            "requestReceivedTimestamp": format!("2026-11-24T10:{:02}:{:02}.000000Z", n / 60 % 60, n % 60)});
        format!("{event}\n")
    };
    numbers.map(line).collect()
}

#[test]
fn only_new_lines_are_read_and_replayed() {
    let mut page = diagnose();
    observe(&mut page, LiveEvent::Lines(creates(1..20)));
    let before = replay(&page);
    observe(&mut page, LiveEvent::Lines(creates(20..22)));
    let after = replay(&page);
    assert_eq!(
        (before.history.steps.len(), after.history.steps.len()),
        (19, 21)
    );
    for (one, other) in before.history.steps.iter().zip(&after.history.steps) {
        assert!(Arc::ptr_eq(one, other), "it was not replayed again");
    }
    assert!(after.log.continues(&before.log));
    assert_eq!(after.log.events[20].line, 21);
    // Another one comes while the first is still being read.
    page.send(DiagnoseMsg::Observe(LiveEvent::Lines(creates(22..23))));
    observe(&mut page, LiveEvent::Lines(creates(23..24)));
    assert_eq!(replay(&page).history.steps.len(), 23);
    // A request that was answered before the last one stands in its place.
    observe(&mut page, LiveEvent::Lines(creates(0..1)));
    let last = replay(&page);
    assert_eq!(last.history.steps.len(), 24);
    assert!(!last.log.continues(&after.log));
    assert_eq!(
        last.log.events[0].response.as_ref().unwrap()["data"]["n"],
        "0"
    );
}

#[test]
fn the_log_of_another_run_begins_anew_and_that_is_said() {
    let mut page = diagnose();
    observe(&mut page, LiveEvent::Run("1".to_owned()));
    observe(&mut page, LiveEvent::Lines(creates(1..9)));
    // The connection was lost, and the server is the same.
    observe(&mut page, LiveEvent::Run("1".to_owned()));
    assert!(!page.state.diagnose.live.restarted);
    assert_eq!(replay(&page).history.steps.len(), 8);

    observe(&mut page, LiveEvent::Run("2".to_owned()));
    let case = &page.state.diagnose;
    assert!(case.live.restarted);
    assert_eq!((case.items.len(), &*case.items[0].text), (1, ""));
    assert!(case.audit.as_ref().unwrap().replay.is_none());
    observe(&mut page, LiveEvent::Lines(creates(1..3)));
    assert_eq!(replay(&page).history.steps.len(), 2);
    assert_eq!(page.state.diagnose.cases.len(), 1);
}

#[test]
fn a_branch_of_a_live_log_stays_where_it_left_while_the_log_goes_on() {
    let mut page = diagnose();
    observe(&mut page, LiveEvent::Lines(creates(1..9)));
    page.send(DiagnoseMsg::SelectStep(Some(SelectedStep {
        source: RecordedSource::AuditLog,
        row: 3,
    })));
    page.send(DiagnoseMsg::Branch);
    // More requests come while it is made.
    observe(&mut page, LiveEvent::Lines(creates(9..12)));
    page.send(Msg::Address("#/play".to_owned()));
    let point = page.state.branch_point().expect("it says so");
    assert_eq!((point.source, point.row), (BranchSource::LiveLog, 3));
    observe(&mut page, LiveEvent::Lines(creates(12..20)));
    let stored = page.state.world().stored().expect("it is there");
    assert_eq!(stored.1["data"]["n"], "4");
    assert_eq!(replay(&page).history.steps.len(), 19);
}

#[test]
fn a_long_log_keeps_its_newest_requests_and_that_is_said() {
    let mut page = diagnose();
    let part = creates(0..600);
    let parts = 4 * 1024 * 1024 / part.len() + 1;
    for _ in 0..parts {
        assert!(!page.state.diagnose.live.is_cut);
        page.send(DiagnoseMsg::Observe(LiveEvent::Lines(part.clone())));
    }
    page.finish_work();
    let case = &page.state.diagnose;
    assert!(case.live.is_cut);
    let text = &case.items[0].text;
    assert!(text.len() <= 2 * 1024 * 1024 && text.ends_with(&part));
    assert!(text.starts_with('{'), "whole lines are left out");
    let read = case.audit.as_ref().unwrap();
    assert_eq!(
        read.replay.as_ref().unwrap().log.events.len(),
        text.lines().count()
    );
}

#[test]
fn the_requests_to_a_running_server_grow_beside_what_is_looked_at_and_are_not_kept() {
    let mut page = diagnose();
    bring(&mut page, CONFIG);
    let lines: Vec<&str> = AUDIT.lines().collect();
    let mut observed = String::new();
    let mut steps = 0;
    for part in lines.chunks(lines.len().div_ceil(4)) {
        let part: String = part.iter().flat_map(|line| [*line, "\n"]).collect();
        observed.push_str(&part);
        page.send(DiagnoseMsg::Observe(LiveEvent::Lines(part)));
        page.finish_work();
        let case = &page.state.diagnose;
        assert_eq!(case.items.len(), 2, "one log, which grows");
        let replay = case.audit.as_ref().unwrap().replay.as_ref().unwrap();
        assert!(replay.history.steps.len() >= steps);
        steps = replay.history.steps.len();
    }
    assert!(steps > 0);
    // The whole log at once says the same.
    let mut whole = diagnose();
    bring(&mut whole, &observed);
    let replay = |page: &Page| {
        let audit = page.state.diagnose.audit.as_ref().unwrap();
        (
            audit.objects.clone(),
            audit.replay.clone().unwrap().history.steps.len(),
        )
    };
    assert_eq!(replay(&page).0, replay(&whole).0);
    let findings = |page: &Page| {
        let audit = page.state.diagnose.audit.as_ref().unwrap();
        format!("{:?}", audit.replay.as_ref().unwrap().findings)
    };
    assert_eq!(findings(&page), findings(&whole));
    let kept = page.browser.read(StorageArea::Tab, CASE);
    let kept = kept.unwrap_or_default();
    assert!(
        !kept.contains("audit.k8s.io"),
        "the server tells it again after a reload"
    );
    // What clients ask about the API itself is no request about an object.
    let before = page.state.diagnose.items[0].text.len();
    let discovery = r#"{"kind":"Event","verb":"get","requestURI":"/api"}"#;
    page.send(DiagnoseMsg::Observe(LiveEvent::Lines(discovery.to_owned())));
    assert_eq!(page.state.diagnose.items[0].text.len(), before);
    // Whoever removes it sees no more of it.
    let live = page
        .state
        .diagnose
        .items
        .iter()
        .find(|item| item.live)
        .unwrap()
        .id;
    page.send(DiagnoseMsg::Remove(live));
    page.send(DiagnoseMsg::Observe(LiveEvent::Lines(AUDIT.to_owned())));
    page.finish_work();
    assert_eq!(page.state.diagnose.items.len(), 1);
}

/// A running server with a ConfigMap, and a page that may write to it.
struct Running {
    page: Page,
    server: ApiServer,
}

impl Running {
    fn new() -> Self {
        let mut page = diagnose();
        let writes = LiveEvent::Writes {
            server: "https://127.0.0.1:6443".to_owned(),
            place: "optimist/server".to_owned(),
        };
        observe(&mut page, writes);
        observe(&mut page, LiveEvent::Lines(creates(1..2)));
        let mut running = Self {
            page,
            server: ApiServer::default(),
        };
        let maps = "/api/v1/namespaces/default/configmaps";
        let map = json!({"metadata": {"name": "a"}, "data": {"n": "1"}});
        running.ask(
            "POST",
            maps,
            "application/json",
            "kubectl",
            &map.to_string(),
        );
        running
    }

    fn ask(
        &mut self,
        method: &str,
        target: &str,
        media: &str,
        client: &str,
        body: &str,
    ) -> (u16, String) {
        let request = http::Request::builder()
            .method(method)
            .uri(target)
            .header("content-type", media)
            .header("user-agent", client)
            .body(body.as_bytes().to_vec())
            .unwrap();
        let answer = self.server.handle(request);
        let body = String::from_utf8(answer.body().clone()).unwrap();
        (answer.status().as_u16(), body)
    }

    fn edit(&mut self, msg: LiveEditMsg) {
        self.page.send(DiagnoseMsg::EditLive(msg));
    }

    fn editor(&self) -> &LiveEditor {
        self.page.state.diagnose.live.editor.as_ref().unwrap()
    }

    /// The object whose requests are shown: its resource and its name.
    fn shown(&self) -> String {
        let object = &replay(&self.page).history.object;
        format!("{} {}", object.resource, object.name)
    }

    /// Sends what waits, as the browser does: the code.
    fn answer(&mut self) -> u16 {
        let waiting = self.editor().waiting.clone().expect("a request");
        let one = &waiting.request;
        let (method, target, media) = (&one.method, &one.target, &one.content_type);
        let answer = self.ask(method, target, media, &waiting.client, &one.body);
        let code = answer.0;
        self.edit(LiveEditMsg::Answered(waiting.number, Some(answer)));
        code
    }

    /// Types over the value of `n`, and sends that.
    fn write(&mut self, method: WriteMethod, value: &str) -> u16 {
        let typed = format!("\"n\": {value}");
        let text = self.editor().text.replace("\"n\": \"1\"", &typed);
        assert_ne!(text, self.editor().text);
        self.edit(LiveEditMsg::Text(text));
        self.edit(LiveEditMsg::Method(method));
        self.edit(LiveEditMsg::Send);
        self.answer()
    }

    fn stored(&mut self) -> Value {
        let path = "/api/v1/namespaces/default/configmaps/a";
        serde_json::from_str(&self.ask("GET", path, "", "test", "").1).unwrap()
    }
}

#[test]
fn the_editor_of_a_live_page_reads_and_writes_in_every_way_as_the_person_who_is_named() {
    for method in LiveEditor::METHODS {
        let mut running = Running::new();
        running.edit(LiveEditMsg::Name("anna".to_owned()));
        assert!(running.editor().read().is_none());
        running.edit(LiveEditMsg::Get);
        assert_eq!(running.answer(), 200);
        let code = running.write(method, "anna");
        // Only an apply has owners to ask.
        let expected = if method == WriteMethod::Apply {
            409
        } else {
            200
        };
        assert_eq!(code, expected, "{method:?} {:?}", running.editor().outcome);
        let stored = running.stored();
        if code == 200 {
            assert_eq!(stored["data"]["n"], "anna", "{method:?}");
            let managers = stored["metadata"]["managedFields"].to_string();
            assert!(managers.contains(r#""manager":"anna""#), "{managers}");
            let version = running.editor().read().unwrap()["metadata"]["resourceVersion"].clone();
            assert_eq!(version, stored["metadata"]["resourceVersion"]);
        }
    }
}

#[test]
fn a_write_that_carries_an_old_version_gets_409_and_the_text_stays() {
    let mut running = Running::new();
    running.edit(LiveEditMsg::Get);
    running.answer();
    let change = r#"{"data": {"m": "of another"}}"#;
    let path = "/api/v1/namespaces/default/configmaps/a";
    running.ask("PATCH", path, "application/merge-patch+json", "ben", change);
    assert_eq!(running.write(WriteMethod::UpdateVersioned, "mine"), 409);
    let Some(LiveOutcome::Answered {
        method,
        code,
        message,
    }) = &running.editor().outcome
    else {
        panic!("an answer")
    };
    assert_eq!((method.as_str(), *code), ("PUT", 409));
    assert!(
        message.contains("the object has been modified"),
        "{message}"
    );
    assert!(running.editor().text.contains("\"n\": mine"));
    // The same without the version is stored, and takes away what the other one wrote.
    running.edit(LiveEditMsg::Method(WriteMethod::Update));
    running.edit(LiveEditMsg::Send);
    assert_eq!(running.answer(), 200);
    assert_eq!(running.stored()["data"], json!({"n": "mine"}));
}

#[test]
fn the_editor_sends_one_request_at_a_time_and_says_what_is_not_sent_or_not_answered() {
    let mut running = Running::new();
    running.edit(LiveEditMsg::Send);
    running.edit(LiveEditMsg::Name(" ".to_owned()));
    running.edit(LiveEditMsg::Get);
    assert!(running.editor().waiting.is_none(), "without a name");
    running.edit(LiveEditMsg::Name("Zo\u{eb} K".to_owned()));
    running.edit(LiveEditMsg::Get);
    let first = running.editor().waiting.clone().expect("a request");
    assert_eq!(first.client, "Zo--K");
    running.edit(LiveEditMsg::Get);
    assert_eq!(
        running.editor().waiting.as_ref().map(|it| it.number),
        Some(first.number)
    );
    // The answer to another request says nothing.
    running.edit(LiveEditMsg::Answered(first.number + 1, None));
    assert!(running.editor().waiting.is_some());
    running.answer();
    running.edit(LiveEditMsg::Text("a: [".to_owned()));
    running.edit(LiveEditMsg::Send);
    assert!(matches!(
        running.editor().outcome,
        Some(LiveOutcome::NotSent(_))
    ));
    running.edit(LiveEditMsg::Get);
    let number = running.editor().waiting.as_ref().map(|it| it.number);
    running.edit(LiveEditMsg::Answered(number.unwrap(), None));
    assert_eq!(running.editor().outcome, Some(LiveOutcome::NoAnswer));
    assert!(running.editor().is_ready());
}

/// A line of a watch: a version of a ConfigMap.
fn version(of: &str, version: usize, word: &str) -> String {
    let event = json!({"type": of, "object": {"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": version.to_string()},
        "data": {"word": word}}});
    format!("{event}\n")
}

fn follow(page: &mut Page, lines: String, anew: bool) {
    page.send(DiagnoseMsg::Follow { lines, anew });
    page.finish_work();
}

/// The number of changes that the followed object had.
fn changes(page: &Page) -> usize {
    let reading = page.state.diagnose.reading();
    let history = reading.and_then(|it| it.history.as_ref());
    history.map_or(0, |history| history.changes.len())
}

#[test]
fn the_versions_of_a_followed_object_are_one_thing_that_grows() {
    let mut page = diagnose();
    bring(&mut page, CONFIG);
    follow(&mut page, version("ADDED", 7, "one"), true);
    follow(&mut page, version("MODIFIED", 8, "two"), false);
    follow(&mut page, version("MODIFIED", 9, "three"), false);
    let case = &page.state.diagnose;
    let texts: Vec<&str> = case.items.iter().map(|item| &*item.text).collect();
    let all = [
        ("ADDED", 7, "one"),
        ("MODIFIED", 8, "two"),
        ("MODIFIED", 9, "three"),
    ];
    let all: String = all.map(|(of, at, word)| version(of, at, word)).concat();
    assert_eq!(texts, [CONFIG, all.as_str()], "what was there before stays");
    assert_eq!(
        case.section,
        CaseSection::Outcome,
        "a narrow window shows the steps"
    );
    page.send(DiagnoseMsg::Choose(1));
    page.finish_work();
    assert_eq!(changes(&page), 2);
    // The versions are those of one object; another object is another thing.
    follow(&mut page, version("ADDED", 20, "other"), true);
    assert_eq!(page.state.diagnose.items.len(), 3);
    follow(&mut page, version("MODIFIED", 21, "more"), false);
    assert_eq!(page.state.diagnose.items.len(), 3);
    // Who removes it and goes on sees what comes from then on.
    let id = page.state.diagnose.items[2].id;
    page.send(DiagnoseMsg::Remove(id));
    follow(&mut page, version("MODIFIED", 22, "late"), false);
    let last = page.state.diagnose.items.last().unwrap();
    assert_eq!(*last.text, *version("MODIFIED", 22, "late"));
    // The tab keeps them.
    let page = page.reload("#/diagnose");
    assert_eq!(page.state.diagnose.items.len(), 3);
}

#[test]
fn of_many_versions_the_newest_stay() {
    let mut page = diagnose();
    let long = "x".repeat(1024 * 1024);
    for at in 0..6 {
        let of = if at == 0 { "ADDED" } else { "MODIFIED" };
        page.send(DiagnoseMsg::Follow {
            lines: version(of, 7 + at, &format!("{at}{long}")),
            anew: at == 0,
        });
    }
    let [item] = &page.state.diagnose.items[..] else {
        panic!("they are one thing");
    };
    let lines = item.text.lines();
    let kept = lines.map(|line| serde_json::from_str::<Value>(line).expect("a line is whole"));
    let kept: Vec<String> = kept
        .map(|event| {
            event["object"]["metadata"]["resourceVersion"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert!(
        kept.len() < 6 && kept.last().is_some_and(|it| it == "12"),
        "{kept:?}"
    );
}

#[test]
fn the_object_that_is_looked_at_opens_in_play_as_the_server_has_it() {
    let mut page = diagnose();
    page.send(DiagnoseMsg::PlayObject);
    assert!(
        page.browser.addresses.borrow().is_empty(),
        "there is no object"
    );
    follow(&mut page, version("ADDED", 7, "one"), true);
    follow(&mut page, version("MODIFIED", 9, "two"), false);
    page.send(DiagnoseMsg::PlayObject);
    assert_eq!(page.browser.addresses.borrow().last().unwrap(), "#/play");
    let (_, stored) = page.state.world().stored().expect("it is there");
    assert_eq!(stored["data"]["word"], "two");
    assert_eq!(stored["metadata"]["resourceVersion"], "9");
    assert_eq!(
        page.state.session.tree.position(),
        0,
        "nothing has happened yet"
    );
}

#[test]
fn a_branch_of_a_followed_object_begins_at_the_version_while_more_come() {
    let mut page = diagnose();
    follow(&mut page, version("ADDED", 7, "one"), true);
    follow(&mut page, version("MODIFIED", 9, "two"), false);
    follow(&mut page, version("DELETED", 12, "two"), false);
    let select = |page: &mut Page, row| {
        page.send(DiagnoseMsg::SelectStep(Some(SelectedStep {
            source: RecordedSource::Versions,
            row,
        })));
        page.send(DiagnoseMsg::Branch);
        page.finish_work();
    };
    select(&mut page, 2);
    let opened = |page: &Page| page.browser.addresses.borrow().last().cloned();
    assert_eq!(opened(&page), None, "it was deleted, and is not there");
    select(&mut page, 0);
    assert_eq!(opened(&page).as_deref(), Some("#/play"));
    page.send(Msg::Address("#/play".to_owned()));
    let stored = |page: &Page| Value::clone(page.state.world().stored().unwrap().1);
    let at_seven = stored(&page);
    assert_eq!(at_seven["metadata"]["resourceVersion"], "7");
    assert_eq!(at_seven["data"]["word"], "one");
    let point = page.state.branch_point().expect("it says so");
    let from = (point.source, point.row, point.version, point.missing);
    assert_eq!(from, (BranchSource::Versions, 0, 7, 0));
    // It is made anew, and nothing of it changes here.
    follow(&mut page, version("ADDED", 15, "three"), false);
    assert_eq!(stored(&page), at_seven);
    assert_eq!(page.state.branch_point(), Some(point));
    page.send(Msg::Address("#/diagnose".to_owned()));
    let case = &page.state.diagnose;
    assert_eq!(case.selected_step().map(|step| step.row), Some(0));
    assert_eq!(case.reading().map(|it| it.case.versions.len()), Some(4));
    // After a reload it still says so.
    page.send(PersistenceMsg::Save);
    let mut page = page.reload("#/play");
    page.finish_work();
    assert_eq!(page.state.branch_point(), Some(point));
}

#[test]
fn a_server_without_requests_is_awaited_and_takes_a_new_object() {
    let mut page = diagnose();
    assert!(!page.state.diagnose.awaits_requests(), "there is no server");
    let writes = LiveEvent::Writes {
        server: "https://127.0.0.1:6443".to_owned(),
        place: "optimist/server".to_owned(),
    };
    observe(&mut page, writes);
    observe(&mut page, LiveEvent::Run("1".to_owned()));
    let case = &page.state.diagnose;
    assert!(case.awaits_requests());
    assert_eq!(
        case.section,
        CaseSection::Outcome,
        "a narrow window shows it"
    );
    page.send(DiagnoseMsg::Section(CaseSection::Input));
    // The connection was lost: nobody is taken away from where they are.
    observe(&mut page, LiveEvent::Run("1".to_owned()));
    assert_eq!(page.state.diagnose.section, CaseSection::Input);
    let editor = |page: &Page| {
        page.state
            .diagnose
            .live
            .editor
            .clone()
            .expect("it is there")
    };
    assert!(!editor(&page).is_in_use());
    for msg in [LiveEditMsg::New, LiveEditMsg::Send] {
        page.send(DiagnoseMsg::EditLive(msg));
    }
    let waiting = editor(&page).waiting.expect("a request");
    assert_eq!(waiting.request.method, "POST");
    // Its answer and the first row come in either order, and the editor stays as it is.
    observe(&mut page, LiveEvent::Lines(creates(1..2)));
    assert!(!page.state.diagnose.awaits_requests());
    assert_eq!(replay(&page).history.steps.len(), 1);
    assert!(editor(&page).is_in_use() && editor(&page).waiting.is_some());
    // Who removes the log is not told that no request has come.
    page.send(DiagnoseMsg::Clear);
    assert!(!page.state.diagnose.awaits_requests());
}

#[test]
fn the_editor_creates_an_object_and_goes_on_with_what_was_created() {
    let mut running = Running::new();
    running.edit(LiveEditMsg::Name("anna".to_owned()));
    running.edit(LiveEditMsg::New);
    assert!(running.editor().creates);
    // Another kind than the one whose requests are shown, in the namespace that the text names.
    let text = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: b\nstringData:\n  \"n\": \"1\"\n";
    running.edit(LiveEditMsg::Text(text.to_owned()));
    running.edit(LiveEditMsg::Send);
    let waiting = running.editor().waiting.clone().expect("a request");
    assert_eq!(waiting.request.method, "POST");
    let target = "/api/v1/namespaces/default/secrets?fieldManager=anna";
    assert_eq!(waiting.request.target, target);
    assert_eq!(running.answer(), 201);
    let editor = running.editor();
    assert!(!editor.creates, "it is an object that was read now");
    assert_eq!(editor.read().expect("it was answered").name(), "b");
    assert_eq!(running.shown(), "configmaps a", "the log does not know it");
    // Each client meets its own line of the log before or after its answer.
    let line = |name: &str| {
        let named = format!("\"name\":\"{name}\"");
        let line = creates(2..3).replace("configmaps", "secrets");
        line.replace("\"name\":\"a\"", &named)
    };
    observe(&mut running.page, LiveEvent::Lines(line("other")));
    assert_eq!(running.shown(), "configmaps a", "somebody else created it");
    observe(&mut running.page, LiveEvent::Lines(line("b")));
    assert_eq!(running.shown(), "secrets b");
    // The text that is there when another one has the name stays, and is refused.
    running.edit(LiveEditMsg::New);
    running.edit(LiveEditMsg::Text(text.to_owned()));
    running.edit(LiveEditMsg::Send);
    assert_eq!(running.answer(), 409);
    assert!(running.editor().creates && running.editor().text == text);
}

#[test]
fn what_is_no_object_or_of_no_known_kind_is_not_created_and_the_reason_is_said() {
    let mut running = Running::new();
    running.edit(LiveEditMsg::New);
    let mut outcome = |text: &str| {
        running.edit(LiveEditMsg::Text(text.to_owned()));
        running.edit(LiveEditMsg::Send);
        assert!(running.editor().waiting.is_none(), "{text}");
        running.editor().outcome.clone()
    };
    let unknown = LiveOutcome::UnknownKind {
        api_version: "example.com/v1".to_owned(),
        kind: "Widget".to_owned(),
    };
    let widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n";
    assert_eq!(outcome(widget), Some(unknown));
    assert!(matches!(outcome("- a"), Some(LiveOutcome::NotSent(_))));
    // Reading an object ends it.
    running.edit(LiveEditMsg::Get);
    assert_eq!(running.answer(), 200);
    assert!(!running.editor().creates);
}

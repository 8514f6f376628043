//! Jobs: what a worker gets and sends, and reports that come late.

use std::sync::Arc;

use optimist_controller::program::{ReadyProgramName, Switch};
use optimist_diagnose::ways::{Row, Way};
use optimist_links::Session;
use optimist_simulation::ActorId;
use optimist_state::{
    BrowserEffect, CaseExample, CaseReport, ControllerMsg, DiagnoseMsg, Dialog, JobId, JobMsg,
    JobPart, JobQueue, JobReport, JobRequest, JobResult, LearnMsg, Msg, RequestMsg, SLICE,
    ShareMsg, ValuesLeftOut, ViewMsg, Withheld, WorkerMsg, lesson_fragment,
};

use super::diagnose::{CONFIG, SECRET, diagnose};
use super::page::{Page, report};

/// A live Deployment, and the manifest of its next release.
const DEPLOYMENT: &str = include_str!("../../examples/deployment.yaml");
const UPGRADE: &str = include_str!("../../examples/upgrade.yaml");

/// A lesson that ends with a challenge about switches.
const LESSON: (&str, &str) = (
    "17-twice-as-many",
    include_str!("../../../../lessons/17-twice-as-many.yaml"),
);

/// A session with a controller.
fn with_controller() -> Page {
    let mut page = Page::open();
    page.send(ControllerMsg::Begin(ReadyProgramName::ChildMaker));
    page
}

/// The job that a message asks for.
fn job(page: &mut Page, msg: impl Into<Msg>) -> (JobId, JobRequest) {
    let effects = page.effects(msg);
    let job = effects.into_iter().find_map(|effect| match effect {
        BrowserEffect::StartJob(id, request) => Some((id, *request)),
        _ => None,
    });
    job.expect("it asks for a job")
}

/// The result of a job, with both messages of a worker as texts.
fn worked_elsewhere(id: JobId, request: JobRequest) -> JobReport {
    reported_elsewhere(id, request).pop().expect("it ends")
}

/// The parts of the result of a job and its end, with all messages of a worker as texts.
fn reported_elsewhere(id: JobId, request: JobRequest) -> Vec<JobReport> {
    let sent = serde_json::to_string(&JobMsg::Start(id, request)).expect("it is data");
    let Ok(JobMsg::Start(id, request)) = serde_json::from_str(&sent) else {
        panic!("{sent}");
    };
    let mut queue = JobQueue::new(report);
    queue.start(id, request, 0.0);
    while !queue.is_empty() {
        // The clock stands still: the job does not end before it is done.
        queue.advance(SLICE, &|| 0.0);
    }
    let reports = std::iter::from_fn(|| queue.take_report());
    let heard = reports.map(|(of, report)| {
        let answered = serde_json::to_string(&WorkerMsg::Report(of, report)).expect("it is data");
        match serde_json::from_str(&answered) {
            Ok(WorkerMsg::Report(of, report)) if of == id => report,
            other => panic!("{other:?}"),
        }
    });
    heard.collect()
}

#[test]
fn a_worker_finds_what_the_page_finds() {
    let mut here = with_controller();
    here.send(ControllerMsg::SearchOrders);
    here.finish_work();
    let mut elsewhere = with_controller();
    let (id, request) = job(&mut elsewhere, ControllerMsg::SearchOrders);
    let report = worked_elsewhere(id, request);
    elsewhere.send(Msg::Job(id, report));
    assert!(!elsewhere.state.is_working());
    let found = |page: &Page| page.state.orders().and_then(|orders| orders.found.clone());
    assert!(found(&here).is_some());
    assert_eq!(found(&here), found(&elsewhere));
}

#[test]
fn a_report_of_a_job_that_was_stopped_changes_nothing() {
    let mut page = with_controller();
    let (id, request) = job(&mut page, ControllerMsg::SearchOrders);
    let report = worked_elsewhere(id, request);
    page.send(ControllerMsg::CancelOrders);
    page.send(ControllerMsg::SearchOrders);
    page.send(Msg::Job(id, report));
    assert!(page.state.is_working(), "the other search goes on");
    let orders = page.state.orders().expect("it searches");
    assert!(orders.job != id && orders.found.is_none());
}

#[test]
fn a_worker_leaves_the_same_values_out_of_a_case() {
    let shared = || {
        let mut page = Page::open_at("#/diagnose", Default::default());
        page.send(DiagnoseMsg::Example(CaseExample::LiveObject));
        page.send(ViewMsg::Dialog(Some(Dialog::Share)));
        page.finish_work();
        page
    };
    for what in [Withheld::Private, Withheld::Values] {
        let mut here = shared();
        here.send(ShareMsg::Withhold(what));
        here.finish_work();
        let mut elsewhere = shared();
        let (id, request) = job(&mut elsewhere, ShareMsg::Withhold(what));
        for report in reported_elsewhere(id, request) {
            elsewhere.send(Msg::Job(id, report));
        }
        assert!(!elsewhere.state.is_working());
        let found = |page: &Page| match (&page.state.share.values, &page.state.share.report) {
            (Some(ValuesLeftOut::Found(shared)), Some(CaseReport::Done(markdown))) => {
                let found = format!("{:?}", shared.found);
                (shared.text.clone(), found, markdown.clone())
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(found(&here), found(&elsewhere), "{what:?}");
    }
}

#[test]
fn a_worker_writes_the_report_of_a_shared_case_and_a_late_one_is_not_taken() {
    let (mut page, _) = read_case(0, &[&large(DEPLOYMENT), UPGRADE], false);
    page.send(ViewMsg::Dialog(Some(Dialog::Share)));
    page.finish_work();
    let private = page.state.share.report.clone();
    assert!(matches!(private, Some(CaseReport::Done(_))), "{private:?}");
    let (id, request) = job(&mut page, ShareMsg::Withhold(Withheld::Nothing));
    assert!(matches!(request, JobRequest::Report(_)) && request.can_travel());
    assert!(page.state.is_working());
    let everything = reported_elsewhere(id, request);
    let mut chosen_again = page.state.clone();
    // A worker fails before its last part, and the page begins again.
    let part = |at: usize| JobReport::Part(JobPart::Report(at, "lost".to_owned()));
    for report in [part(0), part(1)].iter().chain(&everything) {
        page.send(Msg::Job(id, report.clone()));
    }
    let written = |report: &Option<CaseReport>| match report {
        Some(CaseReport::Done(text)) => Some(text.to_string()),
        _ => None,
    };
    let expected = report(&page.state.diagnose, false);
    assert!(expected.contains("Some(200)"), "{expected}");
    assert_eq!(written(&page.state.share.report), Some(expected));
    assert!(!page.state.is_working());
    // Whoever leaves values out meanwhile does not get what has them.
    chosen_again.update(ShareMsg::Withhold(Withheld::Private).into(), &page.browser);
    for report in everything {
        chosen_again.update(Msg::Job(id, report), &page.browser);
    }
    assert_eq!(written(&chosen_again.share.report), None);
}

/// An object in YAML, with a comment that makes its text large enough for a worker.
fn large(object: &str) -> String {
    format!("# {}\n{object}", "x".repeat(60_000))
}

/// A page with a case, once everything is read. With a worker, the worker reads large texts, and its table waits for
/// the job.
fn read_case(
    chosen: usize,
    texts: &[&str],
    has_worker: bool,
) -> (Page, Option<(JobId, JobRequest)>) {
    let mut page = diagnose();
    page.browser.has_worker.set(has_worker);
    page.send(DiagnoseMsg::Choose(chosen));
    for text in texts {
        page.send(DiagnoseMsg::Bring((*text).to_owned()));
    }
    while page.state.is_working() {
        match sent_job(&page) {
            Some((id, request @ JobRequest::Read(_))) => {
                for report in reported_elsewhere(id, request) {
                    page.send(Msg::Job(id, report));
                }
            }
            Some(job) => return (page, Some(job)),
            None => page.work(),
        }
    }
    (page, None)
}

/// The job that waits for a worker.
fn sent_job(page: &Page) -> Option<(JobId, JobRequest)> {
    page.browser.sent.borrow_mut().pop_front()
}

/// A page whose worker is asked to read a text.
fn reading(text: &str) -> (Page, JobId, JobRequest) {
    let mut page = diagnose();
    page.browser.has_worker.set(true);
    page.send(DiagnoseMsg::Bring(text.to_owned()));
    while page.browser.sent.borrow().is_empty() && page.state.is_working() {
        page.work();
    }
    let (id, request) = sent_job(&page).expect("a worker reads it");
    assert!(matches!(request, JobRequest::Read(_)), "{request:?}");
    (page, id, request)
}

/// The texts of a case with what they are, and what is known of its objects.
fn read(page: &Page) -> String {
    let case = &page.state.diagnose;
    let ids: Vec<u32> = case.items.iter().map(|it| it.id).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    let items = case.items.iter();
    let items: Vec<_> = items.map(|it| (&it.text, &it.content)).collect();
    let readings = case.cases.iter().map(|it| {
        let installed = it.installed.as_ref().map(|on| {
            let stored = on.world.stored();
            (stored, on.world.start(), &on.notes, on.made_up)
        });
        (&it.case, installed, &it.ownership)
    });
    format!("{:#?}", (items, readings.collect::<Vec<_>>()))
}

/// All that a page shows of a table. The bodies of requests are not shown.
fn shown(page: &Page) -> String {
    let table = page.state.diagnose.table.as_ref().expect("it has a table");
    let without_bodies = |row: &Row| {
        let mut row = row.clone();
        for exchange in &mut row.requests {
            exchange.sent = Arc::default();
            exchange.received = Arc::default();
            exchange.facts.clear();
        }
        format!("{row:?}")
    };
    let rows = table.rows.iter();
    let rows: Vec<_> = rows
        .map(|row| {
            let explored = table.can_be_explored(row.way);
            (without_bodies(row), table.instructions(row.way), explored)
        })
        .collect();
    let outs = table.remedies.as_deref().unwrap_or_default().iter();
    let outs: Vec<_> = outs
        .map(|it| {
            let (out, row) = (&it.out, without_bodies(&it.out.row));
            let says = (out.kind, row, out.settles, out.others_own, out.settling());
            let made_up = (it.made_up, it.can_be_explored);
            (says, &it.instructions, &it.manifest, made_up)
        })
        .collect();
    let disagreements = (&table.contradiction, &table.same_name);
    let contested = &page.state.diagnose.contested;
    let columns = table.columns();
    format!("{:#?}", (rows, outs, columns, disagreements, contested))
}

/// The sessions that a page goes to from a table.
fn sessions(page: &Page) -> Vec<String> {
    let table = page.state.diagnose.table.as_ref().expect("it has a table");
    let rows = table.rows.iter().map(|row| row.way);
    let ways: Vec<Way> = rows.filter(|way| table.can_be_explored(*way)).collect();
    let outs = table.remedies.as_deref().unwrap_or_default().iter();
    let outs = outs.map(|it| DiagnoseMsg::StepOut(it.out.kind));
    let all = ways.iter().map(|way| DiagnoseMsg::Step(*way)).chain(outs);
    let between = ways.first().map(|way| DiagnoseMsg::InBetween(*way));
    let session = |msg: DiagnoseMsg| {
        let mut state = page.state.clone();
        state.update(msg.into(), &page.browser);
        Session::from_tree(&state.session.tree).to_text()
    };
    all.chain(between).map(session).collect()
}

#[test]
fn a_worker_runs_the_same_table() {
    let conflict = "Error: UPGRADE FAILED: conflict occurred while applying object live/web apps/v1, \
                    Kind=Deployment: Apply failed with 1 conflict: conflict with \
                    \"kube-controller-manager\" with subresource \"scale\" using apps/v1: .spec.replicas";
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: login\n  namespace: live\n\
                  data:\n  word: aHVudGVyMw==\n";
    let cases: [(usize, &[&str]); 4] = [
        (0, &[&large(DEPLOYMENT), UPGRADE]),
        (0, &[&large(DEPLOYMENT), conflict]),
        (1, &[&large(CONFIG), DEPLOYMENT, UPGRADE, conflict]),
        (0, &[&large(SECRET), secret]),
    ];
    for (chosen, texts) in cases {
        let (here, none) = read_case(chosen, texts, false);
        assert!(none.is_none(), "no worker, no job");
        let (mut elsewhere, job) = read_case(chosen, texts, true);
        let (id, request) = job.unwrap_or_else(|| panic!("a worker runs {texts:?}"));
        assert!(request.can_travel());
        assert!(elsewhere.state.is_working(), "it waits for it");
        let reports = reported_elsewhere(id, request);
        // A worker fails in the middle, and the page begins again.
        let failed = reports.iter().take(reports.len() / 2);
        for report in failed.chain(&reports) {
            elsewhere.send(Msg::Job(id, report.clone()));
        }
        assert!(!elsewhere.state.is_working());
        assert_eq!(shown(&here), shown(&elsewhere));
        assert_eq!(sessions(&here), sessions(&elsewhere));
    }
}

#[test]
fn a_worker_reads_a_large_text_as_the_page_does() {
    let list = format!("{DEPLOYMENT}---\n{CONFIG}---\n{SECRET}");
    let words = "nothing of this is an object\n".repeat(3_000);
    for text in [DEPLOYMENT, SECRET, UPGRADE, &list, &words] {
        let text = large(text);
        let (here, _) = read_case(0, &[&text], false);
        let (mut elsewhere, id, request) = reading(&text);
        assert!(request.can_travel());
        assert!(elsewhere.state.diagnose.is_reading());
        let reports = reported_elsewhere(id, request);
        // A worker fails in the middle, and another one begins again.
        let failed = reports.iter().take(reports.len() / 2);
        for report in failed.chain(&reports) {
            elsewhere.send(Msg::Job(id, report.clone()));
        }
        elsewhere.finish_work();
        assert_eq!(read(&here), read(&elsewhere));
    }
    let (page, none) = read_case(0, &[DEPLOYMENT], true);
    assert!(none.is_none(), "a short text is read here");
    assert_eq!(page.state.diagnose.items.len(), 1);
}

#[test]
fn an_earlier_state_goes_on_with_a_job_as_the_later_one_did() {
    let texts = [DEPLOYMENT, UPGRADE, CONFIG];
    let (after, _) = read_case(0, &texts, false);
    let mut page = diagnose();
    for text in texts {
        page.send(DiagnoseMsg::Bring(text.to_owned()));
    }
    let mut heard = Vec::new();
    let mut earlier = page.state.clone();
    while page.state.is_working() {
        page.browser.jobs.borrow_mut().advance(SLICE, &|| 0.0);
        let report = page.browser.jobs.borrow_mut().take_report();
        if let Some((id, report)) = report {
            heard.push((id, report.clone()));
            page.send(Msg::Job(id, report));
        }
    }
    assert_eq!(shown(&after), shown(&page));
    for (id, report) in heard {
        earlier.update(Msg::Job(id, report), &page.browser);
    }
    let earlier = Page {
        state: earlier,
        browser: page.browser,
    };
    assert_eq!(read(&after), read(&earlier));
    assert_eq!(shown(&after), shown(&earlier));
}

#[test]
fn what_is_brought_and_typed_while_a_worker_reads_stays() {
    let text = large(DEPLOYMENT);
    let (mut page, id, request) = reading(&text);
    page.send(DiagnoseMsg::Draft("the next".to_owned()));
    page.send(DiagnoseMsg::Bring(CONFIG.to_owned()));
    assert!(sent_job(&page).is_none(), "one text after the other");
    for report in reported_elsewhere(id, request) {
        page.send(Msg::Job(id, report));
    }
    page.finish_work();
    let case = &page.state.diagnose;
    let texts: Vec<&str> = case.items.iter().map(|item| &*item.text).collect();
    assert_eq!(texts, [text.as_str(), CONFIG]);
    assert_eq!(case.draft, "the next");
}

#[test]
fn what_a_worker_reads_of_a_case_that_was_cleared_comes_too_late() {
    for clear in [DiagnoseMsg::Clear, DiagnoseMsg::CancelReading] {
        let (mut page, id, request) = reading(&large(DEPLOYMENT));
        let effects = page.effects(clear);
        let stopped =
            |effect: &BrowserEffect| matches!(effect, BrowserEffect::CancelJob(job) if *job == id);
        assert!(effects.iter().any(stopped), "{effects:?}");
        page.send(DiagnoseMsg::Bring(CONFIG.to_owned()));
        for report in reported_elsewhere(id, request) {
            page.send(Msg::Job(id, report));
        }
        page.finish_work();
        let (only, _) = read_case(0, &[CONFIG], false);
        let texts = |page: &Page| {
            let items = page.state.diagnose.items.iter();
            items.map(|it| it.text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(texts(&page), texts(&only));
    }
}

#[test]
fn a_table_that_a_worker_cannot_run_is_run_here() {
    let texts: [&str; 2] = [&large(DEPLOYMENT), UPGRADE];
    let (here, _) = read_case(0, &texts, false);
    let (mut page, job) = read_case(0, &texts, true);
    let (id, _) = job.expect("a worker is asked");
    page.send(Msg::Job(id, JobReport::Done(JobResult::Table(false))));
    page.finish_work();
    assert_eq!(shown(&here), shown(&page));
}

#[test]
fn a_table_in_a_worker_can_be_cancelled() {
    let (mut page, job) = read_case(0, &[&large(DEPLOYMENT), UPGRADE], true);
    let (id, _) = job.expect("a worker runs it");
    let effects = page.effects(DiagnoseMsg::CancelTable);
    let stopped =
        |effect: &BrowserEffect| matches!(effect, BrowserEffect::CancelJob(job) if *job == id);
    assert!(effects.iter().any(stopped), "{effects:?}");
    assert!(!page.state.is_working());
}

#[test]
fn a_worker_searches_the_switches_of_a_challenge() {
    let challenge = || {
        let mut page = Page::open();
        page.send(Msg::Address(lesson_fragment(LESSON.0)));
        page.send(LearnMsg::Text(LESSON.0.to_owned(), Ok(LESSON.1.to_owned())));
        let course = |page: &Page| page.state.learn.course.clone().expect("it is open");
        let pages = course(&page).walk.lesson().steps.len();
        while course(&page).walk.at() + 1 < pages {
            page.send(LearnMsg::Predict(0));
            page.send(LearnMsg::Forward);
        }
        page.send(LearnMsg::Switch(Switch::Expectations));
        page
    };
    let mut here = challenge();
    here.send(LearnMsg::Search);
    here.finish_work();
    let mut elsewhere = challenge();
    let (id, request) = job(&mut elsewhere, LearnMsg::Search);
    assert!(request.can_travel());
    let report = worked_elsewhere(id, request);
    elsewhere.send(Msg::Job(id, report));
    let found = |page: &Page| {
        let course = page.state.learn.course.clone().expect("it is open");
        let found = course.switches.found.clone().expect("it searched");
        let history = found.1.as_ref().map(|tree| (tree.len(), tree.current()));
        (found.0.clone(), history)
    };
    assert!(found(&here).1.is_some(), "a history breaks a property");
    assert_eq!(found(&here), found(&elsewhere));
}

#[test]
fn a_case_travels_if_it_is_worth_the_start_of_the_worker_and_the_message_is_short() {
    let travels = |bytes: usize| {
        let mut page = diagnose();
        page.send(DiagnoseMsg::Bring("x".repeat(bytes / 2)));
        page.send(DiagnoseMsg::Bring("x".repeat(bytes / 2)));
        let (_, request) = job(&mut page, ViewMsg::Dialog(Some(Dialog::Share)));
        assert!(matches!(request, JobRequest::LeaveOut(_)), "{request:?}");
        request.can_travel()
    };
    assert!(!travels(2_000) && travels(600_000) && !travels(16_000_000));
}

#[test]
fn a_report_waits_until_somebody_hears_it() {
    let mut page = Page::open();
    page.send(RequestMsg::Get(ActorId::A));
    let text = page.state.shared().to_text();
    let mut page = Page::open();
    let (id, request) = job(&mut page, ShareMsg::Open(text));
    let mut queue = JobQueue::new(report);
    queue.start(id, request, 0.0);
    // The first slice does all of a short session, and nobody listens yet.
    while !queue.is_empty() {
        queue.advance(SLICE, &|| 0.0);
    }
    assert_eq!(page.steps(), 0);
    let (of, report) = queue.take_report().expect("it waits");
    assert_eq!(of, id);
    page.send(Msg::Job(id, report));
    assert_eq!(page.steps(), 1);
    assert!(queue.take_report().is_none(), "it is heard once");
}

#[test]
fn of_the_reports_of_a_job_only_the_last_one_waits() {
    let (id, _) = job(&mut with_controller(), ControllerMsg::SearchOrders);
    let mut queue = JobQueue::new(report);
    queue.report(id, JobReport::Progress(1, 3));
    queue.report(id, JobReport::Progress(2, 3));
    let report = queue.take_report();
    assert!(matches!(report, Some((of, JobReport::Progress(2, 3))) if of == id));
    assert!(queue.take_report().is_none());
}

#[test]
fn a_job_that_is_stopped_reports_nothing_that_nobody_heard() {
    let (id, request) = job(&mut with_controller(), ControllerMsg::SearchOrders);
    let mut queue = JobQueue::new(report);
    queue.start(id, request, 0.0);
    while !queue.is_empty() {
        queue.advance(SLICE, &|| 0.0);
    }
    queue.cancel(id);
    assert!(queue.take_report().is_none());
}

#[test]
fn another_moment_ends_the_search() {
    let mut page = with_controller();
    let (id, _) = job(&mut page, ControllerMsg::SearchOrders);
    let effects = page.effects(ControllerMsg::Step);
    let stopped =
        |effect: &BrowserEffect| matches!(effect, BrowserEffect::CancelJob(job) if *job == id);
    assert!(effects.iter().any(stopped), "{effects:?}");
    assert!(!page.state.is_working());
}

#[test]
fn a_session_is_repeated_in_the_page_because_its_history_cannot_travel() {
    let text = Page::open().state.shared().to_text();
    let (_, opening) = job(&mut Page::open(), ShareMsg::Open(text));
    let (_, search) = job(&mut with_controller(), ControllerMsg::SearchOrders);
    assert!(search.can_travel() && !opening.can_travel());
    assert!(serde_json::to_string(&opening).is_err());
}

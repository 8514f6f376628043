//! Runs long work: in a worker with the same program, and in slices in the page where there is no worker (a saved
//! page, a frame without scripts of its own) and for results that cannot travel.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use gloo_timers::callback::Timeout;
use js_sys::{Array, Function, Object, Reflect};
use optimist_report::case_markdown;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent, Worker};

use crate::browser;
use crate::scheduler::Slices;
use crate::state::{JobId, JobMsg, JobQueue, JobReport, JobRequest, SLICE, WorkerMsg};

/// The name of the policy that allows the address of the worker's script
/// (<https://www.w3.org/TR/trusted-types/>). `xtask/src/html.rs` allows the name.
const POLICY: &str = "optimist-task";

/// The duration of a slice in the worker, in milliseconds: between two it hears of jobs that are stopped.
const WORKER_SLICE: f64 = 100.0;

/// A worker with jobs that says nothing for this time, in milliseconds, has failed: it reports after each slice.
const MOST_SILENCE: u32 = 20_000;

/// The function that receives the reports.
type ReportListener = Rc<dyn Fn(JobId, JobReport)>;

/// The jobs of the page.
struct Desk {
    tell: Option<ReportListener>,
    /// The jobs that run in the page, and the reports of all jobs.
    queue: JobQueue,
    slices: Option<Slices>,
    worker: WorkerState,
    /// The jobs of the worker. The page does them if the worker fails.
    sent: BTreeMap<JobId, JobRequest>,
    /// Ends the wait for a worker that says nothing.
    silence: Option<Timeout>,
}

impl Default for Desk {
    fn default() -> Self {
        Self {
            tell: None,
            queue: JobQueue::new(case_markdown),
            slices: None,
            worker: WorkerState::Unused,
            sent: BTreeMap::new(),
            silence: None,
        }
    }
}

/// The worker of the page.
#[derive(Default)]
enum WorkerState {
    /// No job has asked for it.
    #[default]
    Unused,
    /// There is none, or it failed.
    Absent,
    /// It loads the program. The messages wait.
    Loading(WorkerHandle, Vec<String>),
    /// It listens.
    Ready(WorkerHandle),
}

/// The worker, with the listeners on it.
struct WorkerHandle {
    worker: Worker,
    _listeners: [EventListener; 2],
}

impl Drop for WorkerHandle {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

/// Tells the reports of jobs: also those that nobody was told until now.
pub(crate) fn report_to(tell: impl Fn(JobId, JobReport) + 'static) {
    DESK.with_borrow_mut(|desk| desk.tell = Some(Rc::new(tell)));
    tell_reports();
}

/// Ends all jobs, and tells nothing more.
pub(crate) fn forget_page() {
    DESK.take();
}

/// Returns whether there is a worker. The first question makes it.
pub(crate) fn has_worker() -> bool {
    DESK.with_borrow_mut(Desk::has_worker)
}

/// Starts a job.
pub(crate) fn start(id: JobId, request: &JobRequest) {
    DESK.with_borrow_mut(|desk| {
        let goes = request.can_travel() && desk.has_worker();
        let message = goes.then(|| serde_json::to_string(&JobMsg::Start(id, request.clone())));
        match message {
            Some(Ok(message)) => {
                desk.sent.insert(id, request.clone());
                desk.post(message);
                desk.wait();
            }
            Some(Err(_)) | None => desk.start_here(id, request.clone()),
        }
    });
}

/// Stops a job.
pub(crate) fn cancel(id: JobId) {
    DESK.with_borrow_mut(|desk| {
        desk.queue.cancel(id);
        if desk.sent.remove(&id).is_some()
            && let Ok(message) = serde_json::to_string(&JobMsg::Cancel(id))
        {
            desk.post(message);
            desk.wait();
        }
    });
}

impl Desk {
    fn start_here(&mut self, id: JobId, request: JobRequest) {
        self.queue.start(id, request, browser::now());
        if self.slices.is_none() {
            self.slices = Some(Slices::start(slice));
        }
    }

    /// Returns whether there is a worker. The first job makes it.
    fn has_worker(&mut self) -> bool {
        if matches!(self.worker, WorkerState::Unused) {
            self.worker = match made_worker() {
                Some(worker) => WorkerState::Loading(listened_to(worker), Vec::new()),
                None => WorkerState::Absent,
            };
        }
        !matches!(self.worker, WorkerState::Absent)
    }

    fn post(&mut self, message: String) {
        match &mut self.worker {
            WorkerState::Loading(_, waiting) => waiting.push(message),
            WorkerState::Ready(handle) => {
                // A text can always be sent.
                let _ = handle.worker.post_message(&message.into());
            }
            WorkerState::Unused | WorkerState::Absent => {}
        }
    }

    /// Waits for the next message of the worker, if it has jobs.
    fn wait(&mut self) {
        let waits = !self.sent.is_empty();
        let give_up = || DESK.with_borrow_mut(Desk::do_without_worker);
        self.silence = waits.then(|| Timeout::new(MOST_SILENCE, give_up));
    }

    /// The worker has said something.
    fn hear(&mut self, message: WorkerMsg) {
        match message {
            WorkerMsg::Ready => self.is_ready(),
            WorkerMsg::Report(id, report) => {
                let is_over = matches!(report, JobReport::Done(_));
                let is_known = self.sent.contains_key(&id);
                if is_over {
                    self.sent.remove(&id);
                }
                if is_known {
                    self.queue.report(id, report);
                }
            }
        }
        self.wait();
    }

    /// The worker has loaded the program.
    fn is_ready(&mut self) {
        match std::mem::take(&mut self.worker) {
            WorkerState::Loading(handle, waiting) => {
                self.worker = WorkerState::Ready(handle);
                waiting.into_iter().for_each(|message| self.post(message));
            }
            other => self.worker = other,
        }
    }

    /// Does here what the worker did not finish.
    fn do_without_worker(&mut self) {
        self.worker = WorkerState::Absent;
        self.silence = None;
        for (id, request) in std::mem::take(&mut self.sent) {
            self.start_here(id, request);
        }
    }
}

/// Tells what the jobs of the page report, or does a slice of them: whoever is told draws the page, which may take as long
/// as a slice. Returns whether there is more.
fn slice() -> bool {
    if !tell_reports() {
        DESK.with_borrow_mut(|desk| desk.queue.advance(SLICE, &browser::now));
    }
    DESK.with_borrow_mut(|desk| {
        let more = !desk.queue.is_empty() || (desk.queue.has_reports() && desk.tell.is_some());
        if !more {
            desk.slices = None;
        }
        more
    })
}

/// Tells the reports, if somebody hears them. Returns whether there were any.
fn tell_reports() -> bool {
    let next = || {
        DESK.with_borrow_mut(|desk| {
            let tell = desk.tell.clone()?;
            Some((tell, desk.queue.take_report()?))
        })
    };
    let mut told = false;
    while let Some((tell, (id, report))) = next() {
        tell(id, report);
        told = true;
    }
    told
}

/// Makes the worker; `None` where there can be none: a saved page, some frames, an old browser.
fn made_worker() -> Option<Worker> {
    let address = browser::about("task")?;
    let global = js_sys::global();
    let class: Function = Reflect::get(&global, &"Worker".into())
        .ok()?
        .dyn_into()
        .ok()?;
    let options = Object::new();
    Reflect::set(&options, &"type".into(), &"module".into()).ok()?;
    let arguments = Array::of2(&allowed(address).ok()?, &options);
    let made = Reflect::construct(&class, &arguments);
    made.ok()?.dyn_into().ok()
}

/// The address of a script, as a browser with trusted types takes it. The policy makes no other one.
fn allowed(address: String) -> Result<JsValue, JsValue> {
    let types = Reflect::get(&js_sys::global(), &"trustedTypes".into())?;
    if types.is_undefined() {
        return Ok(address.into());
    }
    let rules = Object::new();
    let make = Closure::once_into_js(move || address);
    Reflect::set(&rules, &"createScriptURL".into(), &make)?;
    let create: Function = Reflect::get(&types, &"createPolicy".into())?.dyn_into()?;
    let policy = create.call2(&types, &POLICY.into(), &rules)?;
    let create: Function = Reflect::get(&policy, &"createScriptURL".into())?.dyn_into()?;
    create.call1(&policy, &"".into())
}

fn listened_to(worker: Worker) -> WorkerHandle {
    let heard = EventListener::new(&worker, "message", |event| {
        let message = event.dyn_ref::<MessageEvent>().and_then(message_of);
        DESK.with_borrow_mut(|desk| match message {
            Some(message) => desk.hear(message),
            None => desk.do_without_worker(),
        });
        tell_reports();
    });
    // The page goes on by itself: it is no error of the page.
    let options = EventListenerOptions::enable_prevent_default();
    let failed = EventListener::new_with_options(&worker, "error", options, |event| {
        event.prevent_default();
        DESK.with_borrow_mut(Desk::do_without_worker);
    });
    WorkerHandle {
        worker,
        _listeners: [heard, failed],
    }
}

/// The message in an event; `None` if it is none of this program.
fn message_of<M: serde::de::DeserializeOwned>(event: &MessageEvent) -> Option<M> {
    serde_json::from_str(&event.data().as_string()?).ok()
}

thread_local! {
    /// The jobs of this worker, and their slices.
    static SERVED: RefCell<(JobQueue, Option<Slices>)> =
        RefCell::new((JobQueue::new(case_markdown), None));
}

/// Does jobs for the page, in its worker.
pub(crate) fn serve() {
    let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() else {
        return;
    };
    let heard = EventListener::new(&scope, "message", |event| {
        let message = event.dyn_ref::<MessageEvent>().and_then(message_of);
        match message {
            Some(JobMsg::Start(id, request)) => SERVED.with_borrow_mut(|(queue, slices)| {
                queue.start(id, request, browser::now());
                slices.get_or_insert_with(|| Slices::start(serve_slice));
            }),
            Some(JobMsg::Cancel(id)) => SERVED.with_borrow_mut(|(queue, _)| queue.cancel(id)),
            // The page does it.
            None => answer(JsValue::NULL),
        }
    });
    heard.forget();
    say(&WorkerMsg::Ready);
}

/// Does a slice of the jobs of the worker. Returns whether there is more.
fn serve_slice() -> bool {
    SERVED.with_borrow_mut(|(queue, slices)| {
        queue.advance(WORKER_SLICE, &browser::now);
        while let Some((id, report)) = queue.take_report() {
            say(&WorkerMsg::Report(id, report));
        }
        let more = !queue.is_empty();
        if !more {
            *slices = None;
        }
        more
    })
}

fn say(message: &WorkerMsg) {
    let text = serde_json::to_string(message).ok();
    answer(text.map_or(JsValue::NULL, JsValue::from));
}

/// Sends something to the page.
fn answer(message: JsValue) {
    if let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() {
        // A text can always be sent.
        let _ = scope.post_message(&message);
    }
}

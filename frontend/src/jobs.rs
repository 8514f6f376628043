//! Where long work goes on: in a worker with the same program, and in slices in the page where there is
//! no worker (a saved page, a frame without scripts of its own) and for results that cannot travel.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use gloo_events::EventListener;
use js_sys::{Function, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent, Worker};

use crate::browser;
use crate::scheduler::Slices;
use crate::state::{JobId, JobMsg, JobQueue, JobReport, JobRequest, SLICE, WorkerMsg};

/// The function of `start.js` that makes the worker, and returns `null` where there can be none.
const MAKE_WORKER: &str = "optimistTask";

/// The duration of a slice in the worker, in milliseconds: between two it hears of jobs that are stopped.
const WORKER_SLICE: f64 = 100.0;

/// Who is told the reports.
type Tell = Rc<dyn Fn(JobId, JobReport)>;

/// The jobs of the page.
#[derive(Default)]
struct Desk {
    tell: Option<Tell>,
    /// The jobs that run in the page.
    queue: JobQueue,
    slices: Option<Slices>,
    worker: WorkerState,
    /// The jobs of the worker. The page does them if the worker fails.
    sent: BTreeMap<JobId, JobRequest>,
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

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

/// Tells the reports of jobs from now on.
pub(crate) fn report_to(tell: impl Fn(JobId, JobReport) + 'static) {
    DESK.with_borrow_mut(|desk| desk.tell = Some(Rc::new(tell)));
}

/// Ends all jobs, and tells nothing more.
pub(crate) fn forget_page() {
    let desk = DESK.take();
    if let WorkerState::Loading(handle, _) | WorkerState::Ready(handle) = &desk.worker {
        handle.worker.terminate();
    }
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
        for (id, request) in std::mem::take(&mut self.sent) {
            self.start_here(id, request);
        }
    }
}

/// Does a slice of the jobs of the page. Returns whether there is more.
fn slice() -> bool {
    // Whoever is told may start a job.
    let (report, more) = DESK.with_borrow_mut(|desk| {
        let report = desk.queue.advance(SLICE, &browser::now);
        (report, !desk.queue.is_empty())
    });
    if let Some((id, report)) = report {
        tell(id, report);
    }
    if !more {
        // A job that was started meanwhile needs slices of its own.
        DESK.with_borrow_mut(|desk| {
            desk.slices = (!desk.queue.is_empty()).then(|| Slices::start(slice));
        });
    }
    more
}

fn tell(id: JobId, report: JobReport) {
    let tell = DESK.with_borrow(|desk| desk.tell.clone());
    if let Some(tell) = tell {
        tell(id, report);
    }
}

fn made_worker() -> Option<Worker> {
    let make = Reflect::get(&js_sys::global(), &MAKE_WORKER.into()).ok()?;
    let made = make.dyn_into::<Function>().ok()?.call0(&JsValue::NULL);
    made.ok()?.dyn_into().ok()
}

fn listened_to(worker: Worker) -> WorkerHandle {
    let heard = EventListener::new(&worker, "message", |event| {
        match event.dyn_ref::<MessageEvent>().and_then(text_of) {
            Some(WorkerMsg::Ready) => DESK.with_borrow_mut(Desk::is_ready),
            Some(WorkerMsg::Report(id, report)) => {
                if matches!(report, JobReport::Done(_)) {
                    DESK.with_borrow_mut(|desk| desk.sent.remove(&id));
                }
                tell(id, report);
            }
            None => DESK.with_borrow_mut(Desk::do_without_worker),
        }
    });
    let failed = EventListener::new(&worker, "error", |_| {
        DESK.with_borrow_mut(Desk::do_without_worker);
    });
    WorkerHandle {
        worker,
        _listeners: [heard, failed],
    }
}

/// The message in an event; `None` if it is none of this program.
fn text_of<M: serde::de::DeserializeOwned>(event: &MessageEvent) -> Option<M> {
    serde_json::from_str(&event.data().as_string()?).ok()
}

thread_local! {
    /// The jobs of this worker, and their slices.
    static SERVED: RefCell<(JobQueue, Option<Slices>)> = RefCell::default();
}

/// Does jobs for the page, in its worker.
pub(crate) fn serve() {
    let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() else {
        return;
    };
    let heard = EventListener::new(&scope, "message", |event| {
        let message = event.dyn_ref::<MessageEvent>().and_then(text_of);
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
    let (report, more) = SERVED.with_borrow_mut(|(queue, slices)| {
        let report = queue.advance(WORKER_SLICE, &browser::now);
        let more = !queue.is_empty();
        if !more {
            *slices = None;
        }
        (report, more)
    });
    if let Some((id, report)) = report {
        say(&WorkerMsg::Report(id, report));
    }
    more
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

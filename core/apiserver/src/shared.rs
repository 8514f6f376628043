//! A server that several clients share, as a `tower::Service`, which `kube::Client::new` takes.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use futures_timer::Delay;
use http::{Request, Response};
use http_body::{Body, Frame};

use self::lines::NewestLines;
use self::waiting::Waiters;
use crate::server::{ApiServer, ServerResponse, Watch};

mod lines;
mod waiting;

/// The source of a shared server's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// It passes as it does outside. It begins where the time of the server does, which its caller
    /// can set to the time outside
    /// ([`Environment::beginning_at`](crate::environment::Environment::beginning_at)).
    #[default]
    Wall,
    /// It passes only by [`SharedServer::advance`].
    Virtual,
}

/// A server that several clients share. Clones are the same server.
#[derive(Clone, Debug)]
pub struct SharedServer {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<SharedState>,
    clock: Clock,
}

#[derive(Debug)]
struct SharedState {
    server: ApiServer,
    /// The outside time up to which the server's clock is set.
    told: Instant,
    /// The watches that wait for something to happen.
    waiting: Waiters,
    lines: NewestLines,
}

impl SharedServer {
    /// Shares a server.
    pub fn new(server: ApiServer, clock: Clock) -> Self {
        let state = SharedState {
            server,
            told: Instant::now(),
            waiting: Waiters::default(),
            lines: NewestLines::default(),
        };
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                clock,
            }),
        }
    }

    /// Does something with the server itself, such as letting its time pass or compacting it.
    /// All watches are notified afterwards.
    pub fn with<T>(&self, act: impl FnOnce(&mut ApiServer) -> T) -> T {
        let mut state = self.shared.lock();
        let result = act(&mut state.server);
        state.lines.clear();
        state.waiting.wake_all();
        result
    }

    /// Looks at the server, or sends it requests, and does nothing else with it: afterwards only the watches are
    /// notified that can see what was written.
    pub fn request<T>(&self, act: impl FnOnce(&mut ApiServer) -> T) -> T {
        self.shared.lock().request(act)
    }

    /// Lets time pass for the server.
    pub fn advance(&self, by: Duration) {
        self.with(|server| server.environment_mut().advance(by));
    }

    /// Waits until some time has passed for the server.
    pub fn pass(&self, by: Duration) -> Passing {
        let mut state = self.shared.lock();
        let now = state.server.environment().elapsed();
        let number = state.waiting.number();
        drop(state);
        Passing {
            shared: Arc::clone(&self.shared),
            due: now.saturating_add(by),
            number,
            timer: None,
        }
    }
}

/// A wait for a moment on the clock of a server.
pub struct Passing {
    shared: Arc<Shared>,
    due: Duration,
    number: u64,
    timer: Option<Delay>,
}

impl Drop for Passing {
    fn drop(&mut self) {
        self.shared.lock().waiting.remove(self.number, None);
    }
}

impl std::fmt::Debug for Passing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Passing")
            .field("due", &self.due)
            .finish_non_exhaustive()
    }
}

impl Future for Passing {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let mut state = self.shared.lock();
            let now = state.server.environment().elapsed();
            if now >= self.due {
                return Poll::Ready(());
            }
            state.waiting.add(self.number, None, context.waker());
            drop(state);
            if self.shared.clock == Clock::Virtual {
                return Poll::Pending;
            }
            let left = self.due.saturating_sub(now);
            let timer = self.timer.insert(Delay::new(left));
            if Pin::new(timer).poll(context).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

impl Shared {
    /// The state, with the server told of the time that has passed. A panic of another client
    /// leaves the server as it was after its last answer.
    fn lock(&self) -> MutexGuard<'_, SharedState> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.clock == Clock::Wall {
            let passed = state.told.elapsed();
            state.told += passed;
            state.server.environment_mut().advance(passed);
        }
        state
    }
}

impl SharedState {
    /// Sends requests to the server, and wakes those who can see what was written.
    fn request<T>(&mut self, act: impl FnOnce(&mut ApiServer) -> T) -> T {
        let before = self.server.store().revision();
        // While it is held, other kinds have another address.
        let kinds = self.server.shared_resources();
        let result = act(&mut self.server);
        if !Arc::ptr_eq(&kinds, &self.server.shared_resources()) {
            self.lines.clear();
            self.waiting.wake_all();
        } else if self.server.store().revision() != before {
            self.waiting.wake_for_anything();
            for change in self.server.store().log_after(before) {
                self.waiting.wake_for(&change.key);
            }
        }
        result
    }
}

impl<B> tower_service::Service<Request<B>> for SharedServer
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<ResponseBody>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let bytes = read(body).await.map_err(Into::into)?;
            let request = Request::from_parts(head, bytes);
            let mut state = shared.lock();
            let answered = state.request(|server| server.answer(request));
            let number = state.waiting.number();
            drop(state);
            Ok(match answered {
                ServerResponse::Whole(response) => response.map(|bytes| ResponseBody {
                    content: SharedContent::Whole(Some(Bytes::from(bytes))),
                }),
                ServerResponse::Stream(head, watch) => head.map(|()| ResponseBody {
                    content: SharedContent::Stream(Box::new(SharedStream {
                        shared,
                        watch: *watch,
                        number,
                        waits_for: None,
                        timer: None,
                    })),
                }),
            })
        })
    }
}

/// Reads a body to its end.
///
/// # Errors
/// Those of the body.
pub async fn read<B: Body>(body: B) -> Result<Vec<u8>, B::Error> {
    let mut body = Box::pin(body);
    let mut bytes = Vec::new();
    while let Some(frame) = std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await
    {
        if let Ok(mut data) = frame?.into_data() {
            while data.has_remaining() {
                let chunk = data.chunk();
                bytes.extend_from_slice(chunk);
                let read = chunk.len();
                data.advance(read);
            }
        }
    }
    Ok(bytes)
}

/// The body of an answer: whole, or the events of a watch as they come.
#[derive(Debug)]
pub struct ResponseBody {
    content: SharedContent,
}

#[derive(Debug)]
enum SharedContent {
    Whole(Option<Bytes>),
    Stream(Box<SharedStream>),
}

struct SharedStream {
    shared: Arc<Shared>,
    watch: Watch,
    number: u64,
    /// The keys whose changes it waits for.
    waits_for: Option<Box<str>>,
    /// The time at which something happens without a write (`Watch::next_due`), on the clock of the server.
    timer: Option<(Duration, Delay)>,
}

impl Drop for SharedStream {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.waiting.remove(self.number, self.waits_for.as_deref());
    }
}

impl std::fmt::Debug for SharedStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("watch", &self.watch)
            .finish_non_exhaustive()
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.content {
            SharedContent::Whole(bytes) => {
                Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes))))
            }
            SharedContent::Stream(stream) => stream
                .poll(context)
                .map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, SharedContent::Whole(None))
    }
}

impl SharedStream {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            let mut state = self.shared.lock();
            let SharedState { server, lines, .. } = &mut *state;
            let events = self.watch.poll(server);
            let mut written = events
                .iter()
                .map(|event| lines.written(&self.watch, event, server.resources()));
            if let Some(first) = written.next() {
                let Some(second) = written.next() else {
                    return Poll::Ready(Some(first));
                };
                let mut all = [first, second].concat();
                written.for_each(|line| all.extend_from_slice(&line));
                return Poll::Ready(Some(all.into()));
            }
            drop(written);
            if !self.watch.is_open() {
                return Poll::Ready(None);
            }
            let keys = self.watch.keys();
            if self.waits_for.as_deref() != keys {
                state.waiting.remove(self.number, self.waits_for.as_deref());
                self.waits_for = keys.map(Box::from);
            }
            state.waiting.add(self.number, keys, context.waker());
            let now = state.server.environment().elapsed();
            let due = self.watch.next_due();
            drop(state);
            let (Some(due), Clock::Wall) = (due, self.shared.clock) else {
                return Poll::Pending;
            };
            if self.timer.as_ref().is_none_or(|(at, _)| *at != due) {
                self.timer = Some((due, Delay::new(due.saturating_sub(now))));
            }
            let Some((_, timer)) = &mut self.timer else {
                return Poll::Pending;
            };
            if Pin::new(timer).poll(context).is_pending() {
                return Poll::Pending;
            }
            self.timer = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use tower_service::Service;

    use super::*;

    /// A body that is there at once.
    struct Given(Option<Bytes>);

    impl Body for Given {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
        }
    }

    fn call(
        server: &SharedServer,
        request: http::request::Builder,
        body: &str,
    ) -> Response<ResponseBody> {
        let request = request
            .body(Given(Some(Bytes::from(body.to_owned()))))
            .unwrap();
        let mut future = server.clone().call(request);
        match future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(answer) => answer.unwrap(),
            Poll::Pending => panic!("nothing to wait for"),
        }
    }

    fn next(body: &mut ResponseBody) -> Poll<Option<String>> {
        let frame = Pin::new(body).poll_frame(&mut Context::from_waker(Waker::noop()));
        frame.map(|frame| {
            let bytes = frame?.unwrap().into_data().unwrap();
            Some(String::from_utf8(bytes.to_vec()).unwrap())
        })
    }

    const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

    #[test]
    fn a_watch_is_a_stream_that_hears_of_what_others_write() {
        let server = SharedServer::new(ApiServer::default(), Clock::Virtual);
        let watch = Request::get(format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=30"));
        let mut events = call(&server, watch, "").into_body();
        assert!(next(&mut events).is_pending());
        let config_map = r#"{"metadata": {"name": "a"}}"#;
        let made = call(&server, Request::post(CONFIG_MAPS), config_map);
        assert_eq!(made.status(), 201);
        let Poll::Ready(Some(line)) = next(&mut events) else {
            panic!("an event")
        };
        assert!(
            line.starts_with(r#"{"type":"ADDED","object":{"kind":"ConfigMap""#),
            "{line}"
        );
        assert!(next(&mut events).is_pending());
        server.advance(Duration::from_secs(31));
        assert_eq!(next(&mut events), Poll::Ready(None));
    }

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Count(std::sync::atomic::AtomicUsize);

    impl std::task::Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }

    #[test]
    fn a_write_wakes_the_watches_that_can_see_it_and_all_of_them_get_the_same_bytes() {
        let server = SharedServer::new(ApiServer::default(), Clock::Virtual);
        let all = "/api/v1/configmaps";
        let one = "/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name=a&watch=1";
        let elsewhere = "/api/v1/namespaces/kube-system/configmaps?watch=1";
        let secrets = "/api/v1/secrets?watch=1";
        let paths = [
            &format!("{all}?watch=1&resourceVersion=0"),
            one,
            elsewhere,
            secrets,
        ];
        let mut watches = paths.map(|path| {
            let body = call(&server, Request::get(path), "").into_body();
            (body, Arc::new(Count::default()))
        });
        let mut poll = |at: usize| {
            let (body, count) = &mut watches[at];
            let waker = Waker::from(Arc::clone(count));
            let frame = Pin::new(body).poll_frame(&mut Context::from_waker(&waker));
            frame.map(|frame| frame.unwrap().unwrap().into_data().unwrap())
        };
        for at in 0..paths.len() {
            // What there is at the start.
            while poll(at).is_ready() {}
        }
        call(&server, Request::get(all), "");
        call(
            &server,
            Request::post(CONFIG_MAPS),
            r#"{"metadata": {"name": "a"}}"#,
        );
        let (Poll::Ready(first), Poll::Ready(second)) = (poll(0), poll(1)) else {
            panic!("two events")
        };
        assert_eq!(first, second);
        assert_eq!(first.as_ptr(), second.as_ptr(), "written once");
        assert!(poll(0).is_pending() && poll(1).is_pending());
        call(
            &server,
            Request::post(CONFIG_MAPS),
            r#"{"metadata": {"name": "b"}}"#,
        );
        let woken = |watches: &[(ResponseBody, Arc<Count>); 4]| {
            let counts = watches.iter().map(|(_, count)| count);
            counts
                .map(|count| count.0.load(std::sync::atomic::Ordering::Relaxed))
                .collect::<Vec<_>>()
        };
        assert_eq!(woken(&watches), [2, 1, 0, 0]);
        server.with(|_| ());
        assert_eq!(woken(&watches), [2, 2, 1, 1]);
    }

    #[test]
    fn a_watch_of_a_kind_ends_when_its_definition_is_deleted() {
        let server = SharedServer::new(ApiServer::default(), Clock::Virtual);
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let definition = r#"{"metadata": {"name": "widgets.example.com"}, "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object"}}}]}}"#;
        let made = call(&server, Request::post(definitions), definition);
        assert_eq!(made.status(), 201);
        let path = "/apis/example.com/v1/widgets?watch=1&timeoutSeconds=30";
        let mut events = call(&server, Request::get(path), "").into_body();
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut context = Context::from_waker(&waker);
        assert!(Pin::new(&mut events).poll_frame(&mut context).is_pending());
        let name = format!("{definitions}/widgets.example.com");
        call(&server, Request::delete(name), "");
        assert_eq!(count.0.load(std::sync::atomic::Ordering::Relaxed), 1);
        assert_eq!(next(&mut events), Poll::Ready(None));
    }

    #[test]
    fn a_wait_ends_when_its_time_has_passed_on_the_clock_of_the_server() {
        let server = SharedServer::new(ApiServer::default(), Clock::Virtual);
        let mut wait = server.pass(Duration::from_secs(5));
        let mut poll = || Pin::new(&mut wait).poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll().is_pending());
        server.advance(Duration::from_secs(4));
        assert!(poll().is_pending());
        server.advance(Duration::from_secs(1));
        assert!(poll().is_ready());
    }

    #[test]
    fn an_answer_is_whole_where_there_is_nothing_to_watch() {
        let server = SharedServer::new(ApiServer::default(), Clock::Wall);
        let mut answer = call(&server, Request::get("/version"), "").into_body();
        assert!(matches!(next(&mut answer), Poll::Ready(Some(text)) if text.contains("v1.36")));
        assert_eq!(next(&mut answer), Poll::Ready(None));
        assert!(answer.is_end_stream());
    }
}

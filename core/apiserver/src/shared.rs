//! A server that several clients share, as a `tower::Service`, which `kube::Client::new` takes.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use futures_timer::Delay;
use http::{Request, Response};
use http_body::{Body as HttpBody, Frame};

use crate::server::{Answered, ApiServer, Watch};

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
    state: Mutex<State>,
    clock: Clock,
}

#[derive(Debug)]
struct State {
    server: ApiServer,
    /// The outside time up to which the server's clock is set.
    told: Instant,
    /// The watches that wait for something to happen.
    waiting: Vec<Waker>,
}

impl SharedServer {
    /// Shares a server.
    pub fn new(server: ApiServer, clock: Clock) -> Self {
        let state = State {
            server,
            told: Instant::now(),
            waiting: Vec::new(),
        };
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                clock,
            }),
        }
    }

    /// Does something with the server itself, such as looking into its store or compacting it.
    /// Watches are notified afterwards.
    pub fn with<T>(&self, act: impl FnOnce(&mut ApiServer) -> T) -> T {
        let mut state = self.shared.lock();
        let result = act(&mut state.server);
        state.wake();
        result
    }

    /// Lets time pass for the server.
    pub fn advance(&self, by: Duration) {
        self.with(|server| server.environment_mut().advance(by));
    }

    /// Waits until some time has passed for the server.
    pub fn pass(&self, by: Duration) -> Passing {
        let now = self.shared.lock().server.environment().elapsed();
        Passing {
            shared: Arc::clone(&self.shared),
            due: now.saturating_add(by),
            timer: None,
        }
    }
}

/// A wait for a moment on the clock of a server.
pub struct Passing {
    shared: Arc<Shared>,
    due: Duration,
    timer: Option<Delay>,
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
            state.waiting.push(context.waker().clone());
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
    fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.clock == Clock::Wall {
            let passed = state.told.elapsed();
            state.told += passed;
            state.server.environment_mut().advance(passed);
        }
        state
    }
}

impl State {
    fn wake(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
    }
}

impl<B> tower_service::Service<Request<B>> for SharedServer
where
    B: HttpBody + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
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
            let answered = state.server.answer(request);
            state.wake();
            drop(state);
            Ok(match answered {
                Answered::Whole(response) => response.map(|bytes| Body {
                    content: Content::Whole(Some(Bytes::from(bytes))),
                }),
                Answered::Stream(head, watch) => head.map(|()| Body {
                    content: Content::Stream(Box::new(Stream {
                        shared,
                        watch: *watch,
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
pub async fn read<B: HttpBody>(body: B) -> Result<Vec<u8>, B::Error> {
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
pub struct Body {
    content: Content,
}

#[derive(Debug)]
enum Content {
    Whole(Option<Bytes>),
    Stream(Box<Stream>),
}

struct Stream {
    shared: Arc<Shared>,
    watch: Watch,
    /// Until when something is due that only time brings.
    timer: Option<Delay>,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("watch", &self.watch)
            .finish_non_exhaustive()
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.content {
            Content::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Content::Stream(stream) => stream.poll(context).map(|bytes| {
                let frame = bytes.map(|bytes| Frame::data(Bytes::from(bytes)));
                frame.map(Ok)
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Whole(None))
    }
}

impl Stream {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        loop {
            let mut state = self.shared.lock();
            let events = self.watch.poll(&state.server);
            if !events.is_empty() {
                let resources = state.server.resources();
                let written = events.iter().flat_map(|e| self.watch.written(e, resources));
                return Poll::Ready(Some(written.collect()));
            }
            if !self.watch.is_open() {
                return Poll::Ready(None);
            }
            state.waiting.push(context.waker().clone());
            let now = state.server.environment().elapsed();
            let due = self.watch.next_due();
            drop(state);
            let (Some(due), Clock::Wall) = (due, self.shared.clock) else {
                return Poll::Pending;
            };
            let timer = self.timer.insert(Delay::new(due.saturating_sub(now)));
            if Pin::new(timer).poll(context).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tower_service::Service;

    /// A body that is there at once.
    struct Given(Option<Bytes>);

    impl HttpBody for Given {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
        }
    }

    fn call(server: &SharedServer, request: http::request::Builder, body: &str) -> Response<Body> {
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

    fn next(body: &mut Body) -> Poll<Option<String>> {
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

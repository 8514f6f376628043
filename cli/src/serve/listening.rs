//! Listening: accepts connections, and speaks HTTP on each.

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

/// The time that a client has to begin: for the handshake of TLS, and for the head of a request.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Accepts connections, serves each in a task of its own, and never ends.
pub async fn accept<Served>(
    listener: &TcpListener,
    open: &GracefulShutdown,
    serve: impl Fn(TcpStream, Watcher) -> Served,
) where
    Served: Future<Output = ()> + Send + 'static,
{
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // An event of a watch is not to wait for the acknowledgement of the last one.
                let _ = stream.set_nodelay(true);
                tokio::spawn(serve(stream, open.watcher()));
            }
            // Too many open files, or a client that went away at once.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Answers the requests of one connection, until the client closes it or the server ends.
pub async fn serve_http<Stream, Answered, Answers>(
    stream: Stream,
    open: Watcher,
    answer: impl Fn(Request<Incoming>) -> Answered,
) where
    Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    Answered: Future<Output = Response<Answers>> + Send + 'static,
    Answers: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let service = service_fn(move |request| {
        let answer = answer(request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let mut serving = auto::Builder::new(TokioExecutor::new());
    serving
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE);
    serving.http2().timer(TokioTimer::new());
    let connection = serving.serve_connection(TokioIo::new(stream), service);
    // A client that goes away ends its connection, and nothing else.
    let _ = open.watch(connection.into_owned()).await;
}

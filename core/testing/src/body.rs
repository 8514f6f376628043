//! The body of an answer.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use optimist_apiserver::shared;
use serde_json::Value;

use crate::client::TestClient;

/// The body of an answer: whole, or the events of a watch as they come.
///
/// ```
/// use optimist_testing::Body;
///
/// // As a request has it.
/// let body = Body::from(br#"{"kind": "ConfigMap"}"#.to_vec());
/// assert!(!http_body::Body::is_end_stream(&body));
/// ```
#[derive(Debug)]
pub struct Body(BodyContent);

#[derive(Debug)]
enum BodyContent {
    Whole(Option<Bytes>),
    Watch(Box<shared::ResponseBody>, TestClient),
}

impl Body {
    pub(crate) fn whole(bytes: Vec<u8>) -> Self {
        Self(BodyContent::Whole(Some(bytes.into())))
    }

    pub(crate) fn watch(events: shared::ResponseBody, client: TestClient) -> Self {
        Self(BodyContent::Watch(Box::new(events), client))
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::whole(bytes)
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let (events, client) = match &mut self.0 {
            BodyContent::Whole(bytes) => {
                return Poll::Ready(bytes.take().map(|it| Ok(Frame::data(it))));
            }
            BodyContent::Watch(events, client) => (events, client),
        };
        let polled = Pin::new(&mut **events).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(lines) = frame.data_ref()
        {
            // A frame has whole events.
            for line in lines.split(|byte| *byte == b'\n') {
                if let Ok(event) = serde_json::from_slice::<Value>(line) {
                    client.is_shown(&event["object"]);
                }
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            BodyContent::Whole(bytes) => bytes.is_none(),
            BodyContent::Watch(events, _) => events.is_end_stream(),
        }
    }
}

//! The requests that are told to others: as an audit log, and to pages as they come.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body::{Body, Frame};
use optimist_apiserver::environment::MicroTime;
use optimist_apiserver::server::AuditId;
use serde_json::Value;

use crate::BadInput;

/// The number of events that are kept for pages that come later.
const MOST_EVENTS: usize = 5_000;

/// The maximum size of these events, in bytes.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The events of the requests so far. Clones are the same.
#[derive(Clone)]
pub struct Audit {
    /// The start of this server: it tells its events from those of another run on the same port.
    run: MicroTime,
    events: Arc<Mutex<KeptEvents>>,
}

#[derive(Default)]
struct KeptEvents {
    file: Option<File>,
    /// The newest events.
    kept: VecDeque<Arc<str>>,
    bytes: usize,
    /// The number of events before those that are kept.
    gone: u64,
    closed: bool,
    waiting: Vec<Waker>,
}

impl Audit {
    /// Events that are also written to a file.
    pub fn new(path: Option<&Path>) -> Result<Self, BadInput> {
        let audit = Self {
            run: now(),
            events: Arc::default(),
        };
        if let Some(path) = path {
            let file = OpenOptions::new().append(true).create(true).open(path);
            let file = file.map_err(|error| BadInput(format!("{}: {error}", path.display())))?;
            audit.lock().file = Some(file);
        }
        Ok(audit)
    }

    /// The auditID of the next event: no event of another run has it.
    pub fn next_id(&self) -> AuditId {
        let events = self.lock();
        AuditId {
            run: self.run.micros,
            number: events.gone + events.kept.len() as u64 + 1,
        }
    }

    /// Adds an event.
    pub fn add(&self, event: &Value) {
        let line: Arc<str> = event.to_string().into();
        let mut events = self.lock();
        if let Some(file) = &mut events.file
            && let Err(error) = file.write_all(format!("{line}\n").as_bytes())
        {
            eprintln!("optimist: the audit log ends here: {error}");
            events.file = None;
        }
        events.bytes += line.len();
        events.kept.push_back(line);
        while events.kept.len() > MOST_EVENTS || events.bytes > MOST_BYTES {
            let Some(oldest) = events.kept.pop_front() else {
                break;
            };
            events.bytes -= oldest.len();
            events.gone += 1;
        }
        events.waiting.drain(..).for_each(Waker::wake);
    }

    /// Ends all streams.
    pub fn close(&self) {
        let mut events = self.lock();
        events.closed = true;
        events.waiting.drain(..).for_each(Waker::wake);
    }

    /// The events after one, as they come: server-sent events. The id of each is the run and its number. `last` is
    /// the id of the last event that the page has; all events follow one of another run.
    pub fn stream(&self, last: &str) -> EventStream {
        let number = last.split_once('-').and_then(|(run, number)| {
            let is_own = run == self.run.micros.to_string();
            number.parse().ok().filter(|_| is_own)
        });
        EventStream {
            audit: self.clone(),
            after: number.unwrap_or_default(),
            begun: false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, KeptEvents> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time of this machine.
pub fn now() -> MicroTime {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let micros = now.unwrap_or_default().as_micros();
    MicroTime {
        micros: u64::try_from(micros).unwrap_or(u64::MAX),
    }
}

/// A stream of events (`text/event-stream`, HTML Standard, 9.2).
pub struct EventStream {
    audit: Audit,
    after: u64,
    begun: bool,
}

impl Body for EventStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let mut text = String::new();
        let run = self.audit.run.micros;
        if !self.begun {
            // The page knows at once that it is connected, and tries again after a second if it is not.
            text.push_str("retry: 1000\n\n");
            text.push_str(&format!("event: run\ndata: {run}\n\n"));
        }
        let after = {
            let mut events = self.audit.lock();
            let newest = events.gone + events.kept.len() as u64;
            let after = self.after.min(newest);
            if after < events.gone {
                let gone = events.gone - after;
                text.push_str(&format!("event: gone\ndata: {gone}\n\n"));
            }
            let first = after.max(events.gone);
            let skipped = usize::try_from(first - events.gone).unwrap_or(usize::MAX);
            for (event, id) in events.kept.iter().skip(skipped).zip(first + 1..) {
                text.push_str(&format!("id: {run}-{id}\ndata: {event}\n\n"));
            }
            if text.is_empty() {
                if events.closed {
                    return Poll::Ready(None);
                }
                events.waiting.push(context.waker().clone());
                return Poll::Pending;
            }
            newest
        };
        (self.begun, self.after) = (true, after);
        Poll::Ready(Some(Ok(Frame::data(text.into()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn next(stream: &mut EventStream) -> Option<String> {
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(stream).poll_frame(&mut context) {
            Poll::Ready(Some(Ok(frame))) => {
                String::from_utf8(frame.into_data().unwrap().to_vec()).ok()
            }
            _ => None,
        }
    }

    fn audit(run: u64) -> Audit {
        Audit {
            run: MicroTime { micros: run },
            events: Arc::default(),
        }
    }

    #[test]
    fn a_stream_has_each_event_once_and_goes_on_after_the_last_one_that_was_seen() {
        let audit = audit(7);
        audit.add(&json!(1));
        let mut stream = audit.stream("");
        assert_eq!(
            next(&mut stream).unwrap(),
            "retry: 1000\n\nevent: run\ndata: 7\n\nid: 7-1\ndata: 1\n\n"
        );
        assert_eq!(next(&mut stream), None);
        audit.add(&json!(2));
        audit.add(&json!(3));
        assert_eq!(
            next(&mut stream).unwrap(),
            "id: 7-2\ndata: 2\n\nid: 7-3\ndata: 3\n\n"
        );
        let mut again = audit.stream("7-2");
        assert_eq!(
            next(&mut again).unwrap(),
            "retry: 1000\n\nevent: run\ndata: 7\n\nid: 7-3\ndata: 3\n\n"
        );
    }

    #[test]
    fn after_an_event_of_another_run_everything_is_new() {
        let audit = audit(7);
        for n in 1..=3 {
            audit.add(&json!(n));
        }
        for last in ["6-2", "2", "7-", "7-99999999999999999999", "-", "7-x"] {
            let text = next(&mut audit.stream(last)).unwrap();
            assert_eq!(text.matches("id: ").count(), 3, "{last}: {text}");
        }
        assert_ne!(
            audit.next_id().to_string(),
            super::tests::audit(6).next_id().to_string()
        );
    }

    #[test]
    fn only_the_newest_events_are_kept_and_a_stream_says_how_many_are_gone() {
        let audit = audit(7);
        for n in 0..MOST_EVENTS + 3 {
            audit.add(&json!(n));
        }
        let text = next(&mut audit.stream("7-1")).unwrap();
        assert!(text.contains("event: gone\ndata: 2\n\nid: 7-4\ndata: 3\n\n"));
        assert_eq!(audit.next_id().number, MOST_EVENTS as u64 + 4);
        let large = json!("x".repeat(MOST_BYTES / 2));
        audit.add(&large);
        audit.add(&large);
        assert_eq!(audit.lock().kept.len(), 1);
    }
}

//! Audit logs whose events stand in the lines of other logs: of journald, of syslog, of a container runtime, of a log
//! service.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::AUDIT_GROUP;

/// The places of one line at which an event may begin.
const MAX_PLACES: usize = 8;

/// The API group is within so many bytes of an event: the name of its members, and the annotations.
const HEAD: usize = 4096;

/// The fields that every event of an audit log has (`k8s.io/apiserver/pkg/apis/audit/v1/types.go Event`, v1.36).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EventHead<'a> {
    #[serde(borrow)]
    api_version: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(rename = "requestURI")]
    _uri: IgnoredAny,
}

/// Takes the events out of the lines of another log, a slice at a time. A line of the other log is a line of the audit
/// log: an empty one if it has no event.
#[derive(Debug)]
pub(super) struct Unwrapping {
    text: Arc<str>,
    at: usize,
    events: String,
    /// The beginning of a line that a container runtime has divided.
    divided: String,
}

impl Unwrapping {
    /// Begins with a text; `None` if the first line that names the API group of audit logs has no event in it.
    pub(super) fn detect(text: &Arc<str>) -> Option<Self> {
        let mut lines = text.lines();
        let first = lines.find(|line| line.contains(AUDIT_GROUP))?;
        // A line that was divided has the end of its event in a later one.
        let has_event = !events(first).is_empty() || cri(first).is_some_and(|(divided, _)| divided);
        has_event.then(|| Self {
            text: Arc::clone(text),
            at: 0,
            events: String::new(),
            divided: String::new(),
        })
    }

    /// The number of bytes that are read.
    pub(super) fn read(&self) -> usize {
        self.at
    }

    /// Reads about this many bytes more. Returns whether there is more.
    pub(super) fn advance(&mut self, bytes: usize) -> bool {
        let until = self.at.saturating_add(bytes.max(1));
        while self.at < self.text.len() && self.at < until {
            let rest = &self.text[self.at..];
            let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
            let line = rest[..end].trim_end();
            match cri(line) {
                Some((true, part)) => self.divided.push_str(part),
                Some((false, part)) if !self.divided.is_empty() => {
                    self.divided.push_str(part);
                    let whole = std::mem::take(&mut self.divided);
                    add(&mut self.events, &whole);
                }
                _ => add(&mut self.events, line),
            }
            self.events.push('\n');
            self.at += end;
        }
        self.at < self.text.len()
    }

    /// The audit log.
    pub(super) fn finish(mut self) -> Arc<str> {
        add(&mut self.events, &self.divided);
        self.events.into()
    }
}

/// Adds the events of a line. One that cannot be read stays, so that the reader of the log names it.
fn add(log: &mut String, line: &str) {
    if !line.contains(AUDIT_GROUP) {
        return;
    }
    let events = events(line);
    if events.is_empty() {
        log.push_str(line);
    }
    log.push_str(&events.join("\n"));
}

/// The events of an audit log in a line: after other words, as a member of a JSON object, or in a JSON string.
fn events(line: &str) -> Vec<Cow<'_, str>> {
    let mut found = Vec::new();
    let (mut at, mut places) = (0, 0);
    while let Some(place) = line[at..].find('{').map(|place| at + place) {
        let found_here = names_group(line, place)
            .then(|| event_in_string(line, place).or_else(|| event(line, place)));
        let (event, end) = found_here.flatten().unwrap_or(("".into(), place + 1));
        if event.is_empty() {
            places += 1;
        } else {
            found.push(event);
            places = 0;
        }
        if places == MAX_PLACES {
            break;
        }
        at = end;
    }
    found
}

/// Returns whether the API group of audit logs is soon behind a place. Most of a long line need not be read as JSON.
fn names_group(line: &str, at: usize) -> bool {
    let end = (at + HEAD..line.len()).find(|end| line.is_char_boundary(*end));
    line[at..end.unwrap_or(line.len())].contains(AUDIT_GROUP)
}

/// The event that begins here, and the place where it ends.
fn event(line: &str, at: usize) -> Option<(Cow<'_, str>, usize)> {
    let mut documents =
        serde_json::Deserializer::from_str(&line[at..]).into_iter::<EventHead<'_>>();
    let head = documents.next()?.ok()?;
    let is_event = head.api_version.starts_with(AUDIT_GROUP) && head.kind == "Event";
    let end = at + documents.byte_offset();
    is_event.then(|| (Cow::Borrowed(&line[at..end]), end))
}

/// The event in the JSON string whose first character is here, and the place where the string ends.
fn event_in_string(line: &str, at: usize) -> Option<(Cow<'_, str>, usize)> {
    let quote = line[..at].strip_suffix('"')?.len();
    let mut strings = serde_json::Deserializer::from_str(&line[quote..]).into_iter::<String>();
    let inner = strings.next()?.ok()?;
    let (event, _) = event(&inner, 0)?;
    let event = event.replace('\n', " ");
    Some((Cow::Owned(event), quote + strings.byte_offset()))
}

/// Returns whether a line of a container runtime goes on in the next line, and what it says:
/// `2026-01-02T03:04:05.6Z stdout P …` (`k8s.io/cri-client/pkg/logs/logs.go parseCRILog`, v0.36).
fn cri(line: &str) -> Option<(bool, &str)> {
    let (time, rest) = line.split_once(' ')?;
    let rest = rest
        .strip_prefix("stdout ")
        .or_else(|| rest.strip_prefix("stderr "))?;
    let (tags, said) = rest.split_once(' ')?;
    let tag = tags.split(':').next()?;
    (time.contains('T') && matches!(tag, "P" | "F")).then_some((tag == "P", said))
}

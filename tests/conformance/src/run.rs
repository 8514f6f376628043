//! A run: the steps of a recording, done one after the other to a server.

use std::collections::{BTreeMap, HashMap};

use http::{HeaderMap, HeaderValue, Request, Response, header};
use serde_json::Value;

use super::prepare::create_namespace;
use super::recording::{Action, Answer, Call, Step};
use super::subject::{ObjectRef, Opened};
use super::template::Context;
use super::tree::Tree;
use super::wire;
use super::{normalize, panics};

/// A recording being replayed.
pub(super) struct Run<S: ObjectRef> {
    server: S,
    context: Context,
    watches: HashMap<String, S::Watch>,
}

impl<S: ObjectRef> Run<S> {
    /// A run against this server, before its first step.
    pub(super) fn new(server: S) -> Self {
        Run {
            server,
            context: Context::default(),
            watches: HashMap::new(),
        }
    }

    /// The run so far.
    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// Creates the namespace of the run.
    pub(super) fn start(&mut self) -> Result<(), String> {
        self.context.namespace = self.server.namespace();
        create_namespace(&mut self.server, &self.context.namespace).map(drop)
    }

    /// Runs a step and keeps its answer for the templates of later steps. An error ends the replay.
    /// The request is recorded as soon as it is known.
    pub(super) fn step(&mut self, step: &Step, sent: &mut String) -> Result<Answer, String> {
        let answer = self.act(&step.action, sent)?;
        // Only what templates can refer to; in the order in which it came.
        let mut members = Vec::new();
        if let Some((_, response)) = &answer.response {
            members.push(("response".to_owned(), response.clone()));
        }
        if let Some(events) = &answer.events {
            members.push(("events".to_owned(), Tree::List(events.clone())));
        }
        self.context.answers.push(Tree::Object(members));
        Ok(answer.into_answer())
    }

    fn act(&mut self, action: &Action, sent: &mut String) -> Result<RawAnswer, String> {
        match action {
            Action::Request(call) => {
                let request = self.request(call, sent)?;
                Ok(RawAnswer::parse(&self.send(request)?))
            }
            Action::Install(object) => self.install(object),
            Action::Parallel { call, count } => self.parallel(call, *count, sent),
            Action::Watch { call, idle } => {
                let request = self.request(call, sent)?;
                match self.open(request)? {
                    Opened::Refused(response) => Ok(RawAnswer::parse(&response)),
                    Opened::Stream(mut watch) => {
                        let events = self.attempt(|server| server.read_watch(&mut watch, *idle))?;
                        Ok(RawAnswer {
                            status: Some(200),
                            events: Some(events),
                            ..RawAnswer::default()
                        })
                    }
                }
            }
            Action::WatchOpen { call, id } => {
                let request = self.request(call, sent)?;
                match self.open(request)? {
                    Opened::Refused(response) => Ok(RawAnswer::parse(&response)),
                    Opened::Stream(watch) => {
                        self.watches.insert(id.clone(), watch);
                        Ok(RawAnswer {
                            status: Some(200),
                            ..RawAnswer::default()
                        })
                    }
                }
            }
            Action::WatchClose { id, idle } => {
                let Some(mut watch) = self.watches.remove(id) else {
                    return Err(format!("the watch {id} is not open"));
                };
                let events = self.attempt(|server| server.read_watch(&mut watch, *idle))?;
                Ok(RawAnswer {
                    status: Some(200),
                    events: Some(events),
                    ..RawAnswer::default()
                })
            }
            Action::Sleep(time) => {
                panics::catch(|| self.server.advance(*time))?;
                Ok(RawAnswer::default())
            }
            Action::Compact { revision } => {
                let revision = self
                    .context
                    .text(revision)
                    .map_err(|e| format!("/revision: {e}"))?;
                let revision = revision
                    .parse()
                    .map_err(|_| format!("/revision: {revision:?} is no revision"))?;
                self.attempt(|server| server.compact(revision))?;
                Ok(RawAnswer::default())
            }
            Action::Restart => {
                self.attempt(ObjectRef::restart)?;
                Ok(RawAnswer::default())
            }
        }
    }

    /// Puts a recorded object into the store.
    fn install(&mut self, recorded: &Tree) -> Result<RawAnswer, String> {
        let object = normalize::enliven(&recorded.to_value(), &self.context.namespace);
        let object = self.attempt(|server| server.install(object))?;
        Ok(RawAnswer {
            response: Some((object.to_value(), object)),
            ..RawAnswer::default()
        })
    }

    fn send(&mut self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String> {
        panics::catch(|| self.server.handle(request))
    }

    fn open(&mut self, request: Request<Vec<u8>>) -> Result<Opened<S::Watch>, String> {
        self.attempt(|server| server.open_watch(request))
    }

    fn attempt<T, E: std::fmt::Display>(
        &mut self,
        f: impl FnOnce(&mut S) -> Result<T, E>,
    ) -> Result<T, String> {
        panics::catch(|| f(&mut self.server))?.map_err(|e| e.to_string())
    }

    /// Sends the requests one after the other: each of them is atomic, so this is one of the
    /// orders in which a server may take them.
    fn parallel(
        &mut self,
        call: &Call,
        count: usize,
        sent: &mut String,
    ) -> Result<RawAnswer, String> {
        let (target, body) = self.filled_in(call)?;
        let mut statuses = BTreeMap::new();
        for i in 0..count {
            let i = i.to_string();
            let target = target.replace("%7Bi%7D", &i);
            let request = wire::request(
                call,
                &format!("{}{i}", call.actor),
                &target,
                body.replace("{i}", &i),
            )?;
            if sent.is_empty() {
                *sent = format!("the first of {count}: {}", wire::shown(&request));
            }
            let status = self.send(request)?.status();
            *statuses.entry(status.as_str().to_owned()).or_default() += 1;
        }
        Ok(RawAnswer {
            statuses: Some(statuses),
            ..RawAnswer::default()
        })
    }

    fn request(&mut self, call: &Call, sent: &mut String) -> Result<Request<Vec<u8>>, String> {
        let (target, body) = self.filled_in(call)?;
        let request = wire::request(call, &call.actor, &target, body)?;
        *sent = wire::shown(&request);
        Ok(request)
    }

    /// Path with query, and body, of a call.
    fn filled_in(&mut self, call: &Call) -> Result<(String, String), String> {
        let mut target = self
            .context
            .text(&call.path)
            .map_err(|e| format!("/path: {e}"))?;
        let query = self
            .context
            .resolve(&Tree::Object(call.query.clone()))
            .map_err(|e| format!("/query: {e}"))?;
        let query = wire::query_string(&query);
        if !query.is_empty() {
            target = format!("{target}?{query}");
        }
        let body = match &call.body {
            Some(body) => self.context.body(body).map_err(|e| format!("/body: {e}"))?,
            None => String::new(),
        };
        Ok((target, body))
    }
}

/// An answer as it came, with the order of its members.
#[derive(Default)]
struct RawAnswer {
    status: Option<u16>,
    headers: HeaderMap,
    response: Option<(Value, Tree)>,
    events: Option<Vec<Tree>>,
    statuses: Option<BTreeMap<String, u64>>,
}

impl RawAnswer {
    fn parse(response: &Response<Vec<u8>>) -> Self {
        let tree = serde_json::from_slice::<Tree>(response.body())
            .unwrap_or_else(|_| Tree::Text(String::from_utf8_lossy(response.body()).into_owned()));
        RawAnswer {
            status: Some(response.status().as_u16()),
            headers: response.headers().clone(),
            response: Some((tree.to_value(), tree)),
            ..RawAnswer::default()
        }
    }

    fn into_answer(self) -> Answer {
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let events = self.events.as_deref();
        let events = events.map(|events| events.iter().map(Tree::to_value).collect());
        let (response, written) = self.response.unzip();
        Answer {
            status: self.status,
            response,
            events,
            written: self.events.map(Tree::List).or(written),
            warnings: self
                .headers
                .get_all(header::WARNING)
                .iter()
                .map(text)
                .collect(),
            retry_after: self.headers.get(header::RETRY_AFTER).map(text),
            content_type: self.headers.get(header::CONTENT_TYPE).map(text),
            statuses: self.statuses,
        }
    }
}

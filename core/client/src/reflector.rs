//! Keeps a store in sync with a collection of the server: list, then watch
//! (`k8s.io/client-go/tools/cache/reflector.go`, `tools/pager`).
//!
//! The caller decides when the next request is sent, and how many of the arrived events reach the
//! store.

mod progress;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use http::{Request, Response, header};
use serde_json::Value;

use super::answered::{AnsweredRequest, items};
use super::object_store::ObjectStore;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{ApiServer, EventType, Watch, WatchEvent};
pub use progress::ReflectorProgress;
use progress::{body_of, is_unavailable, lost, refused, refused_watch};

/// The number of items of a page of a list (`defaultPageSize` of the pager).
const PAGE_SIZE: usize = 500;
/// The minimum timeout of a watch, in seconds. The maximum is twice as long.
const SHORTEST_WATCH: u64 = 300;

/// The first request of a reflector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListMode {
    /// With a list.
    #[default]
    List,
    /// With a watch that first sends the existing objects (`WatchListClient`).
    WatchList,
}

/// A client that keeps an [`ObjectStore`] in sync with a collection of the server. Cloning is
/// cheap.
#[derive(Clone, Debug)]
pub struct Reflector {
    path: Arc<str>,
    list_mode: ListMode,
    page_size: usize,
    store: ObjectStore,
    /// The version of the last event or list that reached the store.
    seen: String,
    /// The server has answered that it cannot serve that version.
    unavailable: bool,
    phase: Phase,
    /// In a box: a clone is made for each step, and seldom has one.
    answered: Option<Box<AnsweredRequest>>,
    /// The object of the last event that removed one from the store, unless it was taken.
    deleted: Option<Arc<Value>>,
}

#[derive(Clone, Debug)]
enum Phase {
    Start,
    Listing(Pages),
    Listed,
    Initial {
        connection: WatchConnection,
        objects: ObjectStore,
    },
    Watching(WatchConnection),
}

/// A list that is fetched page by page.
#[derive(Clone, Debug)]
struct Pages {
    /// The version asked for.
    asked: String,
    /// The maximum number of items of a page; 0 for no limit.
    limit: usize,
    version: String,
    items: Vec<Arc<Value>>,
    token: String,
}

/// A watch, and the data from it that the reflector has not read yet.
#[derive(Clone, Debug)]
struct WatchConnection {
    watch: Watch,
    arrived: VecDeque<WatchEvent>,
}

impl Reflector {
    /// A reflector of the collection at a path, `/api/v1/namespaces/default/configmaps`.
    pub fn new(path: impl Into<Arc<str>>, list_mode: ListMode) -> Self {
        Self {
            path: path.into(),
            list_mode,
            page_size: PAGE_SIZE,
            store: ObjectStore::default(),
            seen: String::new(),
            unavailable: false,
            phase: Phase::Start,
            answered: None,
            deleted: None,
        }
    }

    /// Lists in pages of this number of items.
    #[cfg(test)]
    fn paging(mut self, page_size: usize) -> Self {
        self.page_size = page_size;
        self
    }

    /// Returns the objects that it knows.
    pub fn store(&self) -> &ObjectStore {
        &self.store
    }

    /// The store, for a program that changes an object of it.
    pub fn store_mut(&mut self) -> &mut ObjectStore {
        &mut self.store
    }

    /// The version of the store; empty before the first list.
    pub fn resource_version(&self) -> &str {
        &self.seen
    }

    /// Returns whether it has a watch open.
    pub fn is_connected(&self) -> bool {
        matches!(self.phase, Phase::Initial { .. } | Phase::Watching(_))
    }

    /// Returns whether it has a watch open whose events reach the store at once: the store is complete.
    pub fn is_watching(&self) -> bool {
        matches!(self.phase, Phase::Watching(_))
    }

    /// The number of events that have arrived and have not reached the store.
    pub fn behind(&self) -> usize {
        match &self.phase {
            Phase::Initial { connection, .. } | Phase::Watching(connection) => {
                connection.arrived.len()
            }
            _ => 0,
        }
    }

    /// Drops the connection: events that have not arrived are lost.
    pub fn disconnect(&mut self) {
        self.phase = match std::mem::replace(&mut self.phase, Phase::Start) {
            Phase::Watching(_) | Phase::Listed => Phase::Listed,
            Phase::Start | Phase::Listing(_) | Phase::Initial { .. } => Phase::Start,
        };
    }

    /// Returns whether there is an answer to [take](Self::take_answered).
    pub fn has_answered(&self) -> bool {
        self.answered.is_some()
    }

    /// The last request with its answer, unless it was taken.
    pub fn take_answered(&mut self) -> Option<Box<AnsweredRequest>> {
        self.answered.take()
    }

    /// The object of the last event that it read of a deletion, unless it was taken: its last state, with the
    /// version of the deletion.
    pub fn take_deleted(&mut self) -> Option<Arc<Value>> {
        self.deleted.take()
    }

    /// Receives the data that the server has sent, without reading it.
    pub fn receive(&mut self, server: &ApiServer) {
        if let Phase::Initial { connection, .. } | Phase::Watching(connection) = &mut self.phase {
            let events = connection.watch.poll(server);
            connection.arrived.extend(events);
        }
    }

    /// The events that its watch brings next, in their order; of a closed watch, those of the next one. Empty if the
    /// reflector gets the whole collection first.
    pub fn upcoming_events(&self, server: &ApiServer) -> Vec<WatchEvent> {
        let mut next = self.clone();
        if next.is_connected() {
            next.receive(server);
        } else {
            let mut server = server.clone();
            next.step(&mut server, 1);
            next.receive(&server);
        }
        match next.phase {
            Phase::Watching(connection) => connection.arrived.into(),
            _ => Vec::new(),
        }
    }

    /// Performs the next step: sends one request, or reads at most `most` events.
    pub fn step(&mut self, server: &mut ApiServer, most: usize) -> ReflectorProgress {
        self.receive(server);
        match std::mem::replace(&mut self.phase, Phase::Start) {
            Phase::Start if self.list_mode == ListMode::WatchList => self.watch_list(server),
            Phase::Start => {
                let pages = self.first_page();
                self.list(server, pages)
            }
            Phase::Listing(pages) => self.list(server, pages),
            Phase::Listed => self.watch(server),
            Phase::Initial {
                connection,
                objects,
            } => self.read_initial(connection, objects, server, most),
            Phase::Watching(connection) => self.read(connection, most),
        }
    }

    /// The first list accepts any version. A later list accepts no version older than the store.
    /// Only if the server cannot serve a version, the reflector asks for the newest one
    /// (`relistResourceVersion`).
    fn version_to_list(&self) -> String {
        match self.seen.as_str() {
            _ if self.unavailable => String::new(),
            "" => "0".to_owned(),
            seen => seen.to_owned(),
        }
    }

    fn first_page(&self) -> Pages {
        let asked = self.version_to_list();
        // A version together with a limit would request exactly that version.
        let limit = match asked.as_str() {
            "" | "0" => self.page_size,
            _ => 0,
        };
        Pages::new(asked, limit)
    }

    fn list(&mut self, server: &mut ApiServer, mut pages: Pages) -> ReflectorProgress {
        let mut query = vec![("resourceVersion", pages.asked.clone())];
        if !pages.token.is_empty() {
            query = vec![("continue", pages.token.clone())];
        }
        if pages.limit > 0 {
            query.push(("limit", pages.limit.to_string()));
        }
        let request = self.request(&query);
        let response = server.handle(request.clone());
        let body = body_of(&response);
        let (status, items) = (response.status(), items(&response, &body));
        self.answered = Some(Box::new(AnsweredRequest::new(request, response)));
        if !status.is_success() {
            let unavailable = is_unavailable(&body);
            if body["code"] == 410 && !pages.token.is_empty() {
                // The rest of the list is too old, so the whole list is fetched in one page.
                self.phase = Phase::Listing(Pages::new(pages.asked, 0));
            } else if unavailable {
                self.unavailable = true;
                self.phase = Phase::Listing(self.first_page());
            }
            return refused(status, &body);
        }
        pages.store_page(&body, &items);
        if !pages.token.is_empty() {
            self.phase = Phase::Listing(pages);
            return ReflectorProgress::Paged;
        }
        self.store.replace_with_read(pages.items);
        self.synced(pages.version, Phase::Listed)
    }

    fn watch_list(&mut self, server: &mut ApiServer) -> ReflectorProgress {
        let version = if self.unavailable {
            String::new()
        } else {
            self.seen.clone()
        };
        let query = [
            ("resourceVersion", version.clone()),
            ("sendInitialEvents", "true".to_owned()),
            ("resourceVersionMatch", "NotOlderThan".to_owned()),
        ];
        match self.open(server, &query) {
            Ok(connection) => {
                self.phase = Phase::Initial {
                    connection,
                    objects: ObjectStore::default(),
                };
                ReflectorProgress::Watching { version }
            }
            Err(response) => {
                // A server that refuses such a watch can still answer a list.
                self.phase = Phase::Listing(self.first_page());
                refused_watch(&response)
            }
        }
    }

    fn watch(&mut self, server: &mut ApiServer) -> ReflectorProgress {
        let version = self.seen.clone();
        match self.open(server, &[("resourceVersion", version.clone())]) {
            Ok(connection) => {
                self.phase = Phase::Watching(connection);
                ReflectorProgress::Watching { version }
            }
            Err(response) => {
                // After 429 (too many requests), the reflector retries the same request later.
                // After any other error, it starts from the beginning.
                if response.status().as_u16() == 429 {
                    self.phase = Phase::Listed;
                }
                refused_watch(&response)
            }
        }
    }

    fn open(
        &mut self,
        server: &mut ApiServer,
        query: &[(&str, String)],
    ) -> Result<WatchConnection, Response<Vec<u8>>> {
        let jitter = SHORTEST_WATCH as f64 * server.environment_mut().fraction();
        let mut query = query.to_vec();
        query.extend([
            ("watch", "true".to_owned()),
            ("allowWatchBookmarks", "true".to_owned()),
            (
                "timeoutSeconds",
                (SHORTEST_WATCH + jitter as u64).to_string(),
            ),
        ]);
        let request = self.request(&query);
        let watch = server.watch(&request);
        let response = watch.as_ref().err().cloned().unwrap_or_default();
        self.answered = Some(Box::new(AnsweredRequest::new(request, response)));
        let watch = watch?;
        let arrived = VecDeque::new();
        Ok(WatchConnection { watch, arrived })
    }

    fn read(&mut self, mut connection: WatchConnection, most: usize) -> ReflectorProgress {
        let mut read = 0;
        while read < most
            && let Some(event) = connection.arrived.pop_front()
        {
            read += 1;
            if event.event_type == EventType::Error {
                // The reflector starts from the beginning with a minimum version. A 410 for a watch
                // from that version is not a reason to ask for the newest.
                return lost(&event);
            }
            self.seen = event.object.resource_version().to_owned();
            if event.event_type == EventType::Deleted {
                self.deleted = Some(Arc::clone(&event.object));
            }
            apply(&mut self.store, event);
        }
        if connection.is_over() {
            self.phase = Phase::Listed;
            return ReflectorProgress::Closed;
        }
        self.phase = Phase::Watching(connection);
        ReflectorProgress::Received(read)
    }

    /// The initial events are collected until they are complete.
    fn read_initial(
        &mut self,
        mut connection: WatchConnection,
        mut objects: ObjectStore,
        server: &ApiServer,
        most: usize,
    ) -> ReflectorProgress {
        let mut read = 0;
        while read < most
            && let Some(event) = connection.arrived.pop_front()
        {
            read += 1;
            if let Some(answered) = &mut self.answered {
                let line = event.to_line(server.resources());
                answered.response.body_mut().extend(line.into_bytes());
            }
            if event.event_type == EventType::Error {
                if is_unavailable(&event.object) {
                    self.unavailable = true;
                } else {
                    self.phase = Phase::Listing(self.first_page());
                }
                return lost(&event);
            }
            if event.ends_initial_events() {
                let version = event.object.resource_version().to_owned();
                let objects = objects.iter().map(|(_, object)| Arc::clone(object));
                self.store.replace_with_read(objects.collect());
                return self.synced(version, Phase::Watching(connection));
            }
            apply(&mut objects, event);
        }
        if connection.is_over() {
            return ReflectorProgress::Closed;
        }
        self.phase = Phase::Initial {
            connection,
            objects,
        };
        ReflectorProgress::Received(read)
    }

    fn synced(&mut self, version: String, phase: Phase) -> ReflectorProgress {
        self.unavailable = false;
        self.seen.clone_from(&version);
        self.phase = phase;
        ReflectorProgress::Synced { version }
    }

    fn request(&self, query: &[(&str, String)]) -> Request<Vec<u8>> {
        let mut encoded = form_urlencoded::Serializer::new(String::new());
        for (name, value) in query.iter().filter(|(_, value)| !value.is_empty()) {
            encoded.append_pair(name, value);
        }
        let uri = [&self.path, "?", &encoded.finish()].concat();
        let request = Request::get(uri).header(header::USER_AGENT, "reflector");
        request.body(Vec::new()).unwrap_or_default()
    }
}

impl WatchConnection {
    fn is_over(&self) -> bool {
        self.arrived.is_empty() && !self.watch.is_open()
    }
}

impl Pages {
    fn new(asked: String, limit: usize) -> Self {
        Self {
            asked,
            limit,
            version: String::new(),
            items: Vec::new(),
            token: String::new(),
        }
    }

    /// Stores a page.
    fn store_page(&mut self, list: &Value, items: &[Arc<Value>]) {
        if self.version.is_empty() {
            self.version = list.resource_version().to_owned();
        }
        self.token = list.meta_text("continue").to_owned();
        self.items.extend(items.iter().cloned());
    }
}

fn apply(store: &mut ObjectStore, event: WatchEvent) {
    match event.event_type {
        EventType::Added | EventType::Modified => store.put(event.object),
        EventType::Deleted => store.remove(&event.object),
        EventType::Bookmark | EventType::Error => {}
    }
}

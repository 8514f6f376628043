//! Processes that run on a server one after another, with nobody in between.

use std::sync::Arc;

use http::Method;
use optimist_apiserver::server::ApiServer;
use optimist_client::{Next, Procedure, ReadChange, Reply, Tool, ToolPlan, WantedChange, Way};
use optimist_simulation::{Exchange, ObjectRef};
use serde_json::Value;

use super::ChangeTable;

/// The tools of a client when it runs: the server, the object as it reads it, and the change.
pub(super) struct RunningClient<'a> {
    pub(super) server: &'a mut ApiServer,
    pub(super) subject: &'a ObjectRef,
    pub(super) change: &'a Arc<WantedChange>,
    /// The object as it was when the change was thought of.
    pub(super) first: &'a Arc<Value>,
    /// The object as it was read now.
    pub(super) live: Arc<Value>,
    /// The written requests, with the answers; empty if only the last status code is wanted.
    pub(super) sent: Vec<Exchange>,
    /// The runs of the client's tool: for each, the positions of its first request and after its last one.
    pub(super) tool_runs: Vec<(usize, usize)>,
    /// The status code of the last written request.
    pub(super) last_code: Option<u16>,
    keeps_exchanges: bool,
}

impl<'a> RunningClient<'a> {
    /// A client that has read the object and sent nothing yet.
    pub(super) fn new(table: &'a ChangeTable, live: Arc<Value>, server: &'a mut ApiServer) -> Self {
        Self {
            server,
            subject: table.subject(),
            change: &table.change,
            first: table.before(),
            live,
            sent: Vec::new(),
            tool_runs: Vec::new(),
            last_code: None,
            keeps_exchanges: true,
        }
    }

    /// A client of which only the last status code is wanted.
    pub(super) fn without_exchanges(mut self) -> Self {
        self.keeps_exchanges = false;
        self
    }

    /// The change beside the object.
    pub(super) fn read(&self) -> ReadChange<'_> {
        ReadChange {
            object: self.subject,
            change: self.change,
            first: self.first,
            live: Arc::clone(&self.live),
        }
    }

    /// A way of writing the change.
    pub(super) fn plan(&self, way: Way) -> ToolPlan {
        ToolPlan {
            object: self.subject.clone(),
            way,
            change: Arc::clone(self.change),
            first: Some(Arc::clone(self.first)),
        }
    }

    /// Runs a way. `None` if the way cannot carry the change; nothing is sent if the client sees that
    /// there is nothing to do.
    pub(super) fn run(&mut self, way: Way) -> Option<()> {
        let tool = Tool::with_read(self.plan(way), Arc::clone(&self.live));
        if tool.is_unable() {
            return None;
        }
        self.process(tool);
        Some(())
    }

    /// Runs a process to its end, or until it waits for somebody else: when it goes to sleep as it
    /// did before. Keeps the requests that it writes, and where a tool's begin and end. Returns whether
    /// its last write was accepted, or it wrote nothing.
    pub(super) fn process(&mut self, process: impl Into<Procedure>) -> bool {
        let mut process = process.into();
        let is_tool = matches!(process, Procedure::Tool(_));
        let first = self.sent.len();
        let mut asleep = None;
        let mut accepted = true;
        loop {
            match process.next() {
                Next::Send(request) => {
                    let response = self.server.handle(request.clone());
                    if request.method() == Method::GET {
                        process.answered(&Reply::from(&response));
                        continue;
                    }
                    let code = response.status().as_u16();
                    self.last_code = Some(code);
                    accepted = code < 300;
                    if !self.keeps_exchanges {
                        process.answered(&Reply::from(&response));
                        continue;
                    }
                    let exchange = Exchange::new(&request, &response);
                    process.answered(&Reply {
                        code: exchange.code,
                        body: Arc::clone(&exchange.received),
                    });
                    self.sent.push(exchange);
                }
                Next::Sleep(_) if asleep.as_ref() == Some(&process) => break,
                Next::Sleep(_) => {
                    asleep = Some(process.clone());
                    process.wake();
                }
                Next::Done => break,
            }
        }
        if is_tool {
            self.tool_runs.push((first, self.sent.len()));
        }
        accepted
    }
}

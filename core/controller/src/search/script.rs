//! An editor that is a program.

use optimist_apiserver::server::ApiServer;

use super::editor::Sent;
use crate::client::Client;
use crate::noted::meant;
use crate::own_writes::{ConsistencyStore, Expectations};
use crate::program::{Code, Context, Program, Run, StatementStep};

/// A client with a program that it runs once.
#[derive(Clone, Debug)]
pub(super) struct Script {
    client: Client,
    code: Code,
    run: Option<Run>,
}

impl Script {
    /// A program at its first statement that others see.
    pub(super) fn new(program: Program, key: &str, server: &mut ApiServer) -> Self {
        let mut script = Self {
            client: Client::new(&program.name),
            code: Code::new(program),
            run: Some(Run::new(key)),
        };
        script.step_to_visible(server);
        script
    }

    /// Its run; `None` once it is over.
    pub(super) fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    pub(super) fn program(&self) -> &Program {
        self.code.program()
    }

    /// Performs a statement, and returns its request.
    pub(super) fn step(&mut self, server: &mut ApiServer) -> Option<Sent> {
        let run = self.run.as_mut()?;
        let mut context = Context {
            server,
            caches: &mut [],
            shares_objects: false,
            client: &mut self.client,
            expectations: &mut Expectations::default(),
            written: &mut ConsistencyStore::default(),
        };
        let step = run.step(&self.code, &mut context);
        let call = run.sent().cloned();
        let answered = self.client.take_answered();
        if let StatementStep::Finished(_) = step {
            self.run = None;
        }
        Some(Sent {
            edits: meant(&call?, server),
            answered: answered?,
        })
    }

    /// Performs the statements that touch only the variables of the run.
    pub(super) fn step_to_visible(&mut self, server: &mut ApiServer) {
        while let Some(run) = &self.run
            && !run.is_visible(&self.code)
        {
            self.step(server);
        }
        // The end of an editor is nothing that others see.
        if self.run.as_ref().is_some_and(|run| run.is_over(&self.code)) {
            self.run = None;
        }
    }
}

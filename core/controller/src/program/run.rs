//! A run of a program for a key.

mod perform;
mod values;

use std::sync::Arc;

use imbl::OrdMap;
use serde_json::Value;

use optimist_apiserver::server::ApiServer;
use optimist_client::Call;

use super::Statement;
use super::code::{Code, CodeInstruction};
use crate::api_error::ApiError;
use crate::cache::Cache;
use crate::client::{Client, Source};
use crate::own_writes::{ConsistencyStore, Expectations};
use crate::queue::ReconcileResult;
use perform::cache_of;

/// The means of a run: the server, and the memory of its controller.
#[derive(Debug)]
pub struct Context<'a> {
    /// The server.
    pub server: &'a mut ApiServer,
    /// The caches; none for a client that reads from the server only.
    pub caches: &'a mut [Cache],
    /// `true` if cached reads give the cached objects themselves.
    pub shares_objects: bool,
    /// The client.
    pub client: &'a mut Client,
    /// The expectations.
    pub expectations: &'a mut Expectations,
    /// The versions that were written.
    pub written: &'a mut ConsistencyStore,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Variable {
    /// An object.
    Object {
        /// The object.
        object: Arc<Value>,
        /// `true` if it is the cached object itself.
        shared: bool,
    },
    /// The objects of a list.
    List {
        /// The objects.
        objects: Vec<Arc<Value>>,
        /// `true` if they are the cached objects themselves.
        shared: bool,
    },
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementStep {
    /// A statement was performed.
    Performed {
        /// The number of the statement.
        statement: usize,
        /// The request that was sent, if one was.
        call: Option<Call>,
        /// Its error.
        error: Option<ApiError>,
    },
    /// The statement is a cached read that waits for the cache. Nothing changed.
    Waits,
    /// The run is over.
    Finished(ReconcileResult),
}

/// A run of a program for a key. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Run {
    key: Arc<str>,
    at: usize,
    variables: OrdMap<String, Variable>,
    /// The objects that each loop has still to go through, by its place.
    loops: OrdMap<usize, Remaining>,
    /// The uid of the object of the key.
    uid: Arc<str>,
    sent: Option<Call>,
    error: Option<ApiError>,
}

/// The rest of a loop. As in Go, a loop goes through the list that there was when it
/// began.
#[derive(Clone, Debug)]
struct Remaining {
    /// The last one is the next one.
    objects: Vec<Arc<Value>>,
    shared: bool,
}

/// The next thing after a statement.
enum AfterStatement {
    On,
    To(usize),
    Return(ReconcileResult),
}

impl Run {
    /// The start of a run for a key.
    pub fn new(key: &str) -> Self {
        Self {
            key: key.into(),
            at: 0,
            variables: OrdMap::new(),
            loops: OrdMap::new(),
            uid: Arc::default(),
            sent: None,
            error: None,
        }
    }

    /// The key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The place in the code.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The variables that have a value, by name.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &Variable)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// The objects that each loop has still to go through, by its place in the code.
    pub fn loops(&self) -> impl Iterator<Item = (usize, &[Arc<Value>])> {
        self.loops
            .iter()
            .map(|(place, remaining)| (*place, remaining.objects.as_slice()))
    }

    /// The error of the last request, if it failed.
    pub fn error(&self) -> Option<&ApiError> {
        self.error.as_ref()
    }

    /// The request of the last statement, if it sent one.
    pub fn sent(&self) -> Option<&Call> {
        self.sent.as_ref()
    }

    /// Returns whether no statement is left.
    pub fn is_over(&self, code: &Code) -> bool {
        code.instruction(self.at).is_none()
    }

    /// The uid of the object of the key; empty before it was read.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// Returns whether the next statement touches more than the variables of the run: the server, a cache,
    /// the memory or the queue of the controller. All other statements commute with the steps of
    /// others.
    pub fn is_visible(&self, code: &Code) -> bool {
        match code.instruction(self.at) {
            None => true,
            Some(CodeInstruction::Branch(condition, _)) => condition.reads_memory(),
            Some(CodeInstruction::Next { .. } | CodeInstruction::Jump(_)) => false,
            Some(CodeInstruction::Do(statement)) => match statement {
                Statement::Set { of, .. }
                | Statement::AddItem { of, .. }
                | Statement::RemoveItem { of, .. } => self.is_shared(of),
                Statement::DeepCopy { .. } | Statement::New { .. } => false,
                _ => true,
            },
        }
    }

    /// Returns whether the next statement writes to the server.
    pub fn writes(&self, code: &Code) -> bool {
        match code.instruction(self.at) {
            Some(CodeInstruction::Do(statement)) => self.can_call(statement),
            _ => false,
        }
    }

    /// Returns whether the next statement is a cached read that waits for the cache.
    pub fn waits(&self, code: &Code, caches: &[Cache], client: &Client) -> bool {
        if client.own_writes().is_none() {
            return false;
        }
        match code.instruction(self.at) {
            Some(CodeInstruction::Do(Statement::Get {
                kind,
                name,
                from: Source::Cache,
                ..
            })) => cache_of(caches, kind).is_some_and(|cache| {
                let key = cache.key(self.namespace(), &self.text(name));
                !client.may_get(cache, &key)
            }),
            Some(CodeInstruction::Do(Statement::List {
                kind,
                from: Source::Cache,
                ..
            })) => cache_of(caches, kind).is_some_and(|cache| !client.may_list(cache)),
            _ => false,
        }
    }

    /// Performs the next statement.
    pub fn step(&mut self, code: &Code, context: &mut Context<'_>) -> StatementStep {
        self.sent = None;
        self.error = None;
        let Some(instruction) = code.instruction(self.at) else {
            return StatementStep::Finished(ReconcileResult::Done);
        };
        let statement = code.statement_at(self.at).unwrap_or_default();
        let mut sent = None;
        let next = match instruction {
            CodeInstruction::Jump(to) => AfterStatement::To(*to),
            CodeInstruction::Branch(condition, otherwise) => {
                if self.holds(condition, context) {
                    AfterStatement::On
                } else {
                    AfterStatement::To(*otherwise)
                }
            }
            CodeInstruction::Next { item, of, end } => self.next_item(item, of, *end),
            CodeInstruction::Do(_) if self.waits(code, context.caches, context.client) => {
                return StatementStep::Waits;
            }
            CodeInstruction::Do(statement) => self.perform(statement, context, &mut sent),
        };
        self.sent.clone_from(&sent);
        match next {
            AfterStatement::On => self.at += 1,
            AfterStatement::To(to) => self.at = to,
            AfterStatement::Return(result) => return StatementStep::Finished(result),
        }
        StatementStep::Performed {
            statement,
            call: sent,
            error: self.error.clone(),
        }
    }
}

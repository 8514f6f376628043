//! The next request of each process at each server, and its outcome, each once.

use std::sync::Arc;

use http::Request;
use optimist_client::{Editor, Next, NextRequest, Procedure};
use optimist_ledger::{Edit, Effect, Intention, ObjectRef};
use optimist_system::ProcessId;

use super::pool::{Pool, PooledObjectId, ServerId};
use super::response_cache::{RequestId, ResponseCache};
use optimist_apiserver::fast_map::FastMap;

/// An index into the known procedures.
pub(super) type ProcedureId = u32;
/// An index into the known outcomes.
pub(super) type OutcomeId = u32;

/// A process that is somewhere in its procedure.
#[derive(Clone, Debug)]
pub(super) struct KnownProcedure {
    procedure: Procedure,
    pub(super) who: ProcessId,
    /// Its next request.
    pub(super) next: NextRequest,
    /// `true` if its next request is a dry run of a write.
    pub(super) is_dry_run: bool,
    /// The number of attempts that it has left.
    pub(super) attempts: u8,
    /// The object that it last read.
    pub(super) copy: Option<PooledObjectId>,
    /// The number that tells states of a tool apart, from 1. 0 for an editor, whose state is in the
    /// fields above.
    pub(super) state: u32,
    /// Its next request, once somebody has asked for it.
    request: Option<SentRequest>,
}

/// A request, and the edits that it means to make.
#[derive(Clone, Debug)]
struct SentRequest {
    request: RequestId,
    edits: Option<Arc<[Arc<Edit>]>>,
}

/// The outcome of a request.
#[derive(Clone, Debug)]
pub(super) struct RequestOutcome {
    pub(super) code: u16,
    /// The server afterwards.
    pub(super) server: ServerId,
    /// The process afterwards.
    pub(super) procedure: ProcedureId,
    /// Its effect on the object, with the content that the answer showed.
    pub(super) effect: Arc<Effect>,
    /// The edits that it meant to make; `None` if it meant whatever it changed.
    edits: Option<Arc<[Arc<Edit>]>>,
    repeats_edits: bool,
}

impl RequestOutcome {
    pub(super) fn is_refused(&self) -> bool {
        self.code >= 400
    }

    /// Returns the intention of the request. Its edits are of the one object of the search.
    pub(super) fn intention(&self) -> Intention<'_> {
        Intention {
            edits: self.edits.as_deref(),
            retries: self.repeats_edits,
            about: None,
        }
    }
}

/// All procedures and outcomes of a search, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcomes {
    procedures: Vec<KnownProcedure>,
    /// Those with the same outline.
    by_outline: FastMap<(ProcessId, u32, u32), Vec<ProcedureId>>,
    /// Of those who write a copy of an object, the last that was asked for its request.
    by_copy: FastMap<(ProcessId, PooledObjectId), ProcedureId>,
    outcomes: Vec<RequestOutcome>,
    by_request: FastMap<(ServerId, ProcedureId), Option<OutcomeId>>,
}

impl Outcomes {
    /// The number of a procedure.
    pub(super) fn intern(
        &mut self,
        who: ProcessId,
        mut procedure: Procedure,
        pool: &mut Pool,
    ) -> ProcedureId {
        // Between two events passes any time.
        procedure.wake();
        let editor = match &procedure {
            Procedure::Editor(editor) => Some(editor),
            Procedure::Tool(_) | Procedure::Single(_) => None,
        };
        let copy = match &procedure {
            Procedure::Editor(editor) => editor.copy().read(),
            Procedure::Tool(tool) => tool.read(),
            Procedure::Single(_) => None,
        };
        let known = KnownProcedure {
            who,
            next: next_of(&procedure),
            is_dry_run: procedure.dry_runs_next(),
            attempts: editor.map_or(0, Editor::attempts),
            copy: copy.map(|object| pool.object(object)),
            state: match editor {
                Some(_) => 0,
                None => self.procedures.len() as u32 + 1,
            },
            request: None,
            procedure,
        };
        let place = u32::from(known.attempts) << 2 | known.next as u32;
        let outline = (who, place, known.copy.map_or(0, |copy| 1 + copy));
        let alike = self.by_outline.entry(outline).or_default();
        let procedures = &mut self.procedures;
        let is_same = |id: &&ProcedureId| {
            let other = procedures.get(**id as usize);
            other.is_some_and(|other| other.procedure == known.procedure)
        };
        if let Some(same) = alike.iter().find(is_same) {
            return *same;
        }
        let id = procedures.len() as ProcedureId;
        alike.push(id);
        procedures.push(known);
        id
    }

    /// The next request of a procedure. `None` if it sends none.
    pub(super) fn next_request(&self, id: ProcedureId) -> Option<Request<Vec<u8>>> {
        match self.procedure(id)?.procedure.next() {
            Next::Send(request) => Some(request),
            Next::Sleep(_) | Next::Done => None,
        }
    }

    /// The procedure with a number.
    pub(super) fn procedure(&self, id: ProcedureId) -> Option<&KnownProcedure> {
        self.procedures.get(id as usize)
    }

    /// The outcome with a number.
    pub(super) fn get(&self, id: OutcomeId) -> Option<&RequestOutcome> {
        self.outcomes.get(id as usize)
    }

    /// Returns the outcome of a process's next request at a server. `None` if it sends none.
    pub(super) fn next_outcome(
        &mut self,
        server: ServerId,
        id: ProcedureId,
        object: &ObjectRef,
        memory: &mut ResponseCache,
    ) -> Option<OutcomeId> {
        if let Some(known) = self.by_request.get(&(server, id)) {
            return *known;
        }
        let outcome = self.make(server, id, object, memory);
        let outcome = outcome.map(|outcome| {
            self.outcomes.push(outcome);
            self.outcomes.len() as OutcomeId - 1
        });
        self.by_request.insert((server, id), outcome);
        outcome
    }

    /// The next request of a process, and the edits that it means to make. All servers of a search are
    /// of one release, so both are the same at each of them.
    fn sent(
        &mut self,
        server: ServerId,
        id: ProcedureId,
        memory: &mut ResponseCache,
    ) -> Option<SentRequest> {
        let known = self.procedures.get(id as usize)?;
        if known.request.is_some() {
            return known.request.clone();
        }
        let copy = known.copy.map(|copy| (known.who, copy));
        let alike = copy.and_then(|copy| self.by_copy.get(&copy));
        let alike = alike.and_then(|alike| self.procedures.get(*alike as usize));
        let sent = match alike.filter(|alike| sends_the_same(&alike.procedure, &known.procedure)) {
            Some(alike) => alike.request.clone()?,
            None => {
                let Next::Send(request) = known.procedure.next() else {
                    return None;
                };
                let release = memory.pool.get(server)?.release();
                SentRequest {
                    request: memory.request(request),
                    edits: known.procedure.meant(release).map(Into::into),
                }
            }
        };
        self.by_copy.extend(copy.map(|copy| (copy, id)));
        self.procedures.get_mut(id as usize)?.request = Some(sent.clone());
        Some(sent)
    }

    fn make(
        &mut self,
        server: ServerId,
        id: ProcedureId,
        object: &ObjectRef,
        memory: &mut ResponseCache,
    ) -> Option<RequestOutcome> {
        let SentRequest { request, edits } = self.sent(server, id, memory)?;
        let KnownProcedure { procedure, who, .. } = self.procedures.get(id as usize)?;
        let repeats_edits = procedure.repeats_edits();
        let (mut after, who) = (procedure.clone(), *who);
        let answer = memory.ask(server, request, object)?;
        let read = memory.pool.id_of_object(&answer.reply.body);
        let alike = read.and_then(|read| self.by_copy.get(&(who, read)));
        let alike = alike.and_then(|alike| self.procedures.get(*alike as usize));
        match (&mut after, alike.map(|alike| &alike.procedure)) {
            (Procedure::Editor(after), Some(Procedure::Editor(alike))) => {
                after.answered_like(&answer.reply, Some(alike));
            }
            (after, _) => after.answered(&answer.reply),
        }
        Some(RequestOutcome {
            code: answer.reply.code,
            server: answer.server,
            procedure: self.intern(who, after, &mut memory.pool),
            effect: answer.effect,
            edits,
            repeats_edits,
        })
    }
}

/// Returns whether two processes are editors with the same next request.
fn sends_the_same(a: &Procedure, b: &Procedure) -> bool {
    matches!((a, b), (Procedure::Editor(a), Procedure::Editor(b)) if a.sends_the_same(b))
}

/// The next request of an editor. One that cannot be sent is none.
fn next_of(procedure: &Procedure) -> NextRequest {
    match procedure {
        _ if procedure.is_done() => NextRequest::Nothing,
        _ if procedure.writes_next() => NextRequest::Send,
        _ => NextRequest::Read,
    }
}

//! The result of a process's next step in a state.

use optimist_client::NextRequest;
use optimist_ledger::Effect;

use super::outcomes::{OutcomeId, ProcedureId};
use super::pool::ServerId;
use super::states::{GlobalState, NextState, ProcessState, ServerRead};
use super::transition::{EditEffect, Transition, TransitionKind};
use super::{HistorySearch, StateId};

impl HistorySearch {
    /// The result of a process's next step; `None` if it is done, and if the step is no write that is
    /// answered and its answer is to be lost.
    pub(super) fn step(
        &mut self,
        from: StateId,
        state: GlobalState,
        actor: usize,
        is_lost: bool,
    ) -> Option<(NextState, Transition)> {
        let process = *self.states.processes(from).get(actor)?;
        let next = NextState {
            global: GlobalState {
                lost_answers: state.lost_answers.checked_sub(is_lost.into())?,
                ..state
            },
            actor,
            process: ProcessState {
                steps: process.steps.saturating_add(1),
                ..process
            },
        };
        let edge = Transition {
            from,
            to: from,
            actor,
            what: match self.outcomes.procedure(process.procedure)?.is_dry_run {
                true => TransitionKind::DryRun,
                false => TransitionKind::Write,
            },
            code: 0,
            is_lost,
            effect: EditEffect::None,
        };
        let request = self.outcomes.procedure(process.procedure)?.next;
        match (request, process.in_server) {
            (NextRequest::Nothing, _) => None,
            (NextRequest::Send, None) if self.micro_steps => {
                (!is_lost).then(|| in_server(state.server, false, next, edge))
            }
            (NextRequest::Send, Some(read)) => self.compare_and_put(state.server, read, next, edge),
            (NextRequest::Read, _) if is_lost => None,
            (NextRequest::Read | NextRequest::Send, _) => {
                let outcome = self.outcome(state.server, process.procedure)?;
                let reads = request == NextRequest::Read;
                let what = match reads {
                    true => TransitionKind::Read,
                    false => edge.what,
                };
                self.answered(outcome, true, next, Transition { what, ..edge })
            }
        }
    }

    /// The server compares the object that it has read with the stored one, and puts or reads
    /// again (`k8s.io/apiserver/pkg/storage/etcd3/store.go` GuaranteedUpdate, v1.36).
    fn compare_and_put(
        &mut self,
        server: ServerId,
        ServerRead { seen, is_current }: ServerRead,
        next: NextState,
        edge: Transition,
    ) -> Option<(NextState, Transition)> {
        let process = next.process.procedure;
        let outcome = self.outcome(seen, process)?;
        let pool = &self.memory.pool;
        if pool.stored_id(seen) == pool.stored_id(server) {
            let outcome = self.outcome(server, process)?;
            return self.answered(outcome, true, next, edge);
        }
        // The watch cache may have an old object, so the server does not refuse a request
        // because of it.
        if is_current && self.outcomes.get(outcome)?.is_refused() {
            return self.answered(outcome, false, next, edge);
        }
        let what = TransitionKind::ServerReadsAgain;
        (!edge.is_lost).then(|| in_server(server, true, next, Transition { what, ..edge }))
    }

    /// Processes the answer to a request. `stores` is whether the server is then as the outcome says.
    fn answered(
        &mut self,
        id: OutcomeId,
        stores: bool,
        mut next: NextState,
        mut edge: Transition,
    ) -> Option<(NextState, Transition)> {
        let outcome = self.outcomes.get(id)?;
        if !edge.is_lost {
            next.process.procedure = outcome.procedure;
        }
        next.process.in_server = None;
        edge.code = outcome.code;
        let reads = edge.what == TransitionKind::Read;
        if stores && !outcome.is_refused() && !reads {
            next.global.server = outcome.server;
        }
        let known = (next.global.ledger, id, edge.is_lost);
        if let Some((ledger, effect)) = self.done.get(&known) {
            (next.global.ledger, edge.effect) = (*ledger, *effect);
            return Some((next, edge));
        }
        let after = self.outcomes.procedure(outcome.procedure)?;
        let root = &self.object.resource().root;
        let unanswered;
        let effect = match edge.is_lost {
            false => &*outcome.effect,
            true => {
                unanswered = Effect::clone(&outcome.effect).unanswered();
                &unanswered
            }
        };
        let intention = outcome.intention();
        let by = (after.who, (!edge.is_lost).then_some(after.next));
        let before = next.global.ledger;
        let answered = self.ledgers.answered(before, by, effect, intention, root);
        let (ledger, done) = answered;
        let gives_up = after.next == NextRequest::Nothing;
        edge.effect = match (outcome.is_refused(), reads) {
            _ if edge.is_lost => EditEffect::of_lost_answer(&done),
            (true, _) if gives_up => EditEffect::GivesUp,
            (true, _) => EditEffect::Refused,
            (false, true) => EditEffect::None,
            (false, false) => EditEffect::of_write(effect, &done),
        };
        self.done.insert(known, (ledger, edge.effect));
        next.global.ledger = ledger;
        Some((next, edge))
    }

    fn outcome(&mut self, server: ServerId, procedure: ProcedureId) -> Option<OutcomeId> {
        let (object, memory) = (&self.object, &mut self.memory);
        self.outcomes
            .next_outcome(server, procedure, object, memory)
    }
}

/// A request that the server has read the object for.
fn in_server(
    seen: ServerId,
    is_current: bool,
    mut next: NextState,
    mut edge: Transition,
) -> (NextState, Transition) {
    if matches!(edge.what, TransitionKind::Write | TransitionKind::DryRun) {
        edge.what = TransitionKind::ServerReads;
    }
    next.process.in_server = Some(ServerRead { seen, is_current });
    (next, edge)
}

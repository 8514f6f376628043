//! The steps that a search has performed. An event of one process does the same in every state with the
//! same server, process and ledger, so it is performed once, although it occurs in many orders.
//!
//! This is another question than the one that the server's [cache of
//! answers](optimist_apiserver::server::ApiServer::cache_answers) knows: most steps send no request, and
//! two processes can send the same one.

use std::sync::Arc;

use optimist_apiserver::environment::Environment;
use optimist_system::{Event, Performed, System};

use super::asked_property::Occurred;
use super::memo::Memo;
use super::{Question, Safety};

/// Everything that the outcome of an event of one process depends on. A process and a ledger are told by
/// their addresses, but a process that starts again forgets what it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Moment {
    place: u64,
    /// The environment, before anything was drawn if the event draws nothing.
    environment: Environment,
    draws: bool,
    process: Option<usize>,
    ledger: usize,
    event: Event,
}

/// The judgement of a step by one safety property of the question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judgement {
    /// `true` if the property holds for the step.
    pub(super) holds: bool,
    /// `true` if the step could have violated it.
    pub(super) is_tried: bool,
}

/// The judgement of a step by the properties of a question.
#[derive(Clone, Debug)]
pub(super) struct JudgedStep {
    /// The judgement of each safety property.
    pub(super) judgements: Arc<[Judgement]>,
    /// The part of the step at which the property of every history looks.
    pub(super) occurred: Occurred,
}

/// A step that was performed.
#[derive(Clone, Debug)]
struct KnownStep {
    /// Kept, so that nothing else gets the addresses of its process and its ledger.
    _before: Arc<System>,
    after: Arc<System>,
    judged: JudgedStep,
}

/// The steps that were performed.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownSteps {
    known: Memo<Moment, KnownStep>,
    /// The judgements of properties of the objects alone, by the index of the property and the place of the server.
    of_objects: Memo<(u64, usize), bool>,
}

impl KnownSteps {
    /// The state after an event, and what the step says of the properties. `None` if the event is not
    /// possible.
    pub(super) fn perform(
        &mut self,
        state: &Arc<System>,
        event: Event,
        question: &Question,
    ) -> Option<(Arc<System>, JudgedStep)> {
        let environment = state.server().environment();
        let mut moment = moment(state, event);
        if let Some(moment) = &mut moment {
            let mut known = self.known.get(moment);
            if known.is_none() {
                moment.draws(environment);
                known = self.known.get(moment);
            }
            if let Some(known) = known {
                let mut next = state.after(event, &known.after)?;
                if !moment.draws {
                    let after = next.server_mut().environment_mut();
                    *after = after.with_draws_of(environment);
                }
                return Some((Arc::new(next), known.judged.clone()));
            }
        }
        let mut next = System::clone(state);
        let performed = next.perform(event)?;
        let asked = question.asked.as_ref();
        let occurred = asked.map(|asked| asked.occurred(event, (state, &next), &performed));
        let judged = JudgedStep {
            judgements: self.judge(&question.always, event, (state, &next), &performed),
            occurred: occurred.unwrap_or_default(),
        };
        let next = Arc::new(next);
        if let Some(mut moment) = moment {
            if next.server().environment().has_draws_of(environment) {
                moment.draws_nothing(environment);
            }
            let step = KnownStep {
                _before: Arc::clone(state),
                after: Arc::clone(&next),
                judged: judged.clone(),
            };
            self.known.insert(moment, step);
        }
        Some((next, judged))
    }

    /// Judges a step by the properties. A property of the objects alone is looked at once for all steps to
    /// a server.
    fn judge(
        &mut self,
        properties: &[Safety],
        event: Event,
        (before, after): (&System, &System),
        performed: &Performed,
    ) -> Arc<[Judgement]> {
        let judged = properties.iter().enumerate().map(|(index, property)| {
            let holds = || property.holds(before.server(), after.server(), performed);
            let holds = match after.server().place() {
                Some(place) if property.is_of_objects() => {
                    let known = self.of_objects.get(&(place, index)).copied();
                    known.unwrap_or_else(|| {
                        let holds = holds();
                        self.of_objects.insert((place, index), holds);
                        holds
                    })
                }
                _ => holds(),
            };
            Judgement {
                holds,
                is_tried: property.is_tried(event, before.server(), performed),
            }
        });
        judged.collect()
    }
}

impl Moment {
    /// Makes it the moment of an event that draws nothing: it does the same whatever was drawn before.
    fn draws_nothing(&mut self, environment: &Environment) {
        (self.environment, self.draws) = (environment.undrawn(), false);
    }

    /// Makes it the moment of an event that draws.
    fn draws(&mut self, environment: &Environment) {
        (self.environment, self.draws) = (environment.clone(), true);
    }
}

/// The moment of an event, as if it drew nothing. `None` if more than one process takes part in it, or if
/// the server does not tell its place.
fn moment(state: &System, event: Event) -> Option<Moment> {
    let process = state.processes().get(usize::from(event.process()?))?;
    Some(Moment {
        place: state.server().place()?,
        environment: state.server().environment().undrawn(),
        draws: false,
        process: (!matches!(event, Event::Restart(_))).then(|| process.address()),
        ledger: std::ptr::from_ref(state.ledger()) as usize,
        event,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fmt::Write;

    use http::Request;
    use optimist_apiserver::server::ApiServer;
    use optimist_controller::Source;
    use optimist_controller::program::{
        ChildMaker, ControllerOptions, Kind, Program, ReadyProgram, ReadyProgramName,
    };
    use optimist_system::Faults;
    use serde_json::json;

    use super::*;
    use crate::Question;
    use crate::fingerprint::Digests;

    /// Everything of a state, as text.
    fn exactly(state: &System) -> String {
        let mut text = format!("{:?} {:?}\n", state.faults(), state.enabled());
        let servers = [Some(state.server()), state.behind()];
        for server in servers.into_iter().flatten() {
            let store = server.store();
            let _ = writeln!(text, "{:?} {}", server.environment(), store.revision());
            for change in store.log_after(0) {
                let _ = writeln!(text, "{} {:?}", change.key, change.after);
            }
        }
        for controller in state.controllers() {
            for cache in controller.caches() {
                let _ = writeln!(text, "{} {:?}", cache.version(), cache.objects());
            }
            let _ = writeln!(text, "{:?} {:?}", controller.queue(), controller.run());
            let _ = writeln!(text, "{:?}", controller.expectations());
            let _ = writeln!(text, "{:?}", controller.written());
            let _ = writeln!(text, "{:?}", controller.client());
        }
        let _ = writeln!(text, "{:?}", state.ledger());
        text
    }

    fn question() -> Question {
        let mut server = ApiServer::default();
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "web"}, "data": {"size": "2"}});
        let request = Request::post("/api/v1/namespaces/default/configmaps")
            .header("content-type", "application/json")
            .body(map.to_string().into_bytes());
        assert_eq!(server.handle(request.unwrap()).status(), 201);
        let map = || Kind::new("v1", "ConfigMap");
        let maker = ChildMaker {
            parent: map(),
            child: Kind::new("v1", "Secret"),
            generated_name: true,
            list_from: Source::Cache,
            expectations: true,
            ignore_already_exists: false,
            options: ControllerOptions::default(),
        };
        let edit = |size: &str| Program::edit(map(), "/data/size", size.into());
        let start = System::with_programs(server, "default", [maker.program()]);
        let start = start.unwrap().with_run(edit("1"), "default/web");
        Question::new(start.with_run(edit("3"), "default/web"))
            .with_faults(Faults {
                restarts: 1,
                lagging_lists: 1,
                timeouts: 1,
                lost_answers: 1,
                lost_requests: 1,
                broken_watches: 1,
                compactions: 1,
            })
            .always(Safety::AtMost(1, Kind::new("v1", "Secret")))
    }

    /// Walks through this number of states of a question in a random order, and compares each step with the one that
    /// the system performs without any memory, and the digests that are kept with ones made from nothing. Returns the
    /// number of steps and of those that were remembered.
    fn walk(question: &Question, most: usize, mut random: Environment) -> (usize, usize) {
        let plain = question.start().clone();
        let mut start = plain.clone();
        start.server_mut().cache_answers();
        let (mut steps, mut digests) = (KnownSteps::default(), Digests::for_search(&plain));
        let mut seen = HashSet::from([exactly(&plain)]);
        let mut next = vec![(Arc::new(start), plain)];
        let mut count = 0;
        while !next.is_empty() && seen.len() < most {
            let at = random.draw() as usize % next.len();
            let (state, plain) = next.swap_remove(at);
            for event in plain.enabled() {
                let mut after = plain.clone();
                let performed = after.perform(event).unwrap();
                let known = steps.perform(&state, event, question).unwrap();
                let text = exactly(&after);
                assert_eq!(exactly(&known.0), text, "{event:?}");
                for (property, judgement) in question.always.iter().zip(&*known.1.judgements) {
                    let holds = property.holds(plain.server(), after.server(), &performed);
                    assert_eq!(judgement.holds, holds, "{event:?}");
                    let is_tried = property.is_tried(event, plain.server(), &performed);
                    assert_eq!(judgement.is_tried, is_tried, "{event:?}");
                }
                let fingerprint = digests.fingerprint_once(&known.0);
                let anew = Digests::for_search(question.start()).fingerprint(&after);
                assert_eq!(fingerprint, anew, "{event:?}");
                count += 1;
                if seen.insert(text) {
                    next.push((known.0, after));
                }
            }
        }
        (count, count - steps.known.len())
    }

    #[test]
    fn a_remembered_step_is_the_one_that_the_system_performs() {
        let (steps, remembered) = walk(&question(), 300, Environment::new(1));
        assert!(remembered > steps / 4, "{remembered} of {steps}");
        let with_ledger = question().always(Safety::NoEditLost);
        let (steps, remembered) = walk(&with_ledger, 300, Environment::new(2));
        assert!(remembered > steps / 8, "{remembered} of {steps}");
    }

    #[test]
    fn the_steps_of_every_ready_program_are_remembered_as_they_are() {
        let secret = || Kind::new("v1", "Secret");
        let map = || Kind::new("v1", "ConfigMap");
        for (seed, name) in (0..).zip(ReadyProgramName::ALL) {
            let all = name.switches().iter().copied().collect();
            for switches in [Default::default(), all] {
                let (parent, child) = (map(), secret());
                let ready = ReadyProgram {
                    name,
                    parent,
                    child,
                    switches,
                };
                let server = question().start().server().clone();
                let edit = |size: &str| Program::edit(map(), "/data/size", size.into());
                let start = System::with_programs(server, "default", [ready.program()]);
                let start = start.unwrap().with_run(edit("1"), "default/web");
                let faults = Faults {
                    restarts: 1,
                    broken_watches: 1,
                    ..Faults::default()
                };
                let start = start.with_run(edit("3"), "default/web");
                let question = Question::new(start).with_faults(faults);
                let (steps, remembered) = walk(&question, 120, Environment::new(seed));
                assert!(remembered > 0, "{name:?}: none of {steps}");
            }
        }
    }
}

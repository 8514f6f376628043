//! Replaying: every request of a recording is sent to a fresh server and the answers are compared.

use super::compare::{self, Difference};
use super::exceptions::{Exception, Exceptions};
use super::normalize::Normalizer;
use super::prepare::fresh_server;
use super::recording::{Answer, Recording};
use super::remote::Remote;
use super::run::Run;
use super::subject::{CAPABILITIES, ObjectRef, equip};
use super::template::Context;

/// The result of replaying one recording.
#[derive(Clone, Debug)]
pub struct Report {
    /// The name of the recording.
    pub name: String,
    /// The outcome of the replay.
    pub outcome: Outcome,
}

/// The outcome of a replay: the server behaved as recorded, or not.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The server behaved as recorded, with this number of exceptions.
    Passed {
        /// The number of exceptions that matched.
        known: usize,
    },
    /// The server behaved differently; in the order of the steps, never empty.
    Failed(Vec<Failure>),
    /// The recording needs a feature that the server does not have.
    Skipped {
        /// The feature.
        needs: Vec<String>,
    },
}

/// The failure of one step.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The number of the step, from 0.
    pub step: usize,
    /// The request that was sent; empty if there was none.
    pub request: String,
    /// The problem.
    pub problem: Problem,
}

/// A problem of a step.
#[derive(Clone, Debug)]
pub enum Problem {
    /// The answer differs.
    Different {
        /// The recorded answer.
        expected: Box<Answer>,
        /// The actual answer, normalized.
        got: Box<Answer>,
        /// The differences; never empty.
        differences: Vec<Difference>,
    },
    /// The step could not be run, and the replay ended there.
    Stopped(String),
    /// A known difference no longer exists.
    Stale {
        /// The pointer of the known difference.
        pointer: String,
    },
}

/// Replays a recording against a fresh core, with the exceptions of this repository.
pub fn replay(recording: &Recording) -> Report {
    replay_with(recording, &Exceptions::embedded())
}

/// Replays a recording against a fresh core.
pub fn replay_with(recording: &Recording, exceptions: &Exceptions) -> Report {
    let needs: Vec<String> = recording
        .needs
        .iter()
        .filter(|need| !CAPABILITIES.contains(&need.as_str()))
        .cloned()
        .collect();
    if !needs.is_empty() {
        return Report {
            name: recording.name.clone(),
            outcome: Outcome::Skipped { needs },
        };
    }
    match fresh_server(recording.release.as_deref()) {
        Ok(mut server) => {
            equip(&mut server, &recording.needs);
            replay_against(recording, server, exceptions)
        }
        Err(message) => stopped_at_start(recording, message),
    }
}

/// Replays a recording against a server behind an address, in a namespace that it makes and deletes.
pub fn replay_remotely(
    recording: &Recording,
    remote: &mut Remote,
    exceptions: &Exceptions,
) -> Report {
    let needs = remote.lacks(recording);
    if !needs.is_empty() {
        return Report {
            name: recording.name.clone(),
            outcome: Outcome::Skipped { needs },
        };
    }
    if let Err(message) = remote.begin() {
        return stopped_at_start(recording, message);
    }
    let report = replay_against(recording, &mut *remote, exceptions);
    remote.end();
    report
}

/// The report of a recording whose first step was not reached.
fn stopped_at_start(recording: &Recording, message: String) -> Report {
    let failure = Failure {
        step: 0,
        request: String::new(),
        problem: Problem::Stopped(message),
    };
    Report {
        name: recording.name.clone(),
        outcome: Outcome::Failed(vec![failure]),
    }
}

/// Replays a recording against any server, which must have the custom resources, and no namespace
/// yet that a replay creates.
pub fn replay_against<S: ObjectRef>(
    recording: &Recording,
    server: S,
    exceptions: &Exceptions,
) -> Report {
    let mut sent = Vec::new();
    let mut got = Vec::new();
    let mut run = Run::new(server);
    let mut stopped = run.start().err();
    if stopped.is_none() {
        for step in &recording.steps {
            let mut request = String::new();
            let answer = run.step(step, &mut request);
            sent.push(request);
            match answer {
                Ok(answer) => got.push(answer),
                Err(message) => {
                    stopped = Some(message);
                    break;
                }
            }
        }
    }
    let got = normalized(got, recording, run.context());

    let mut failures = Vec::new();
    let mut tolerance = Tolerance::new(exceptions.for_recording(&recording.name));
    for (number, (step, got)) in recording.steps.iter().zip(&got).enumerate() {
        if step.nondeterministic {
            continue;
        }
        let mut differences = compare::answers(&step.expected, got);
        differences.retain(|difference| {
            let clock = S::RUNS_ON_A_CLOCK && compare::is_age(&step.expected, difference);
            !clock && !tolerance.covers(number, difference)
        });
        if !differences.is_empty() {
            let problem = Problem::Different {
                expected: Box::new(step.expected.clone()),
                got: Box::new(got.clone()),
                differences,
            };
            failures.push(Failure {
                step: number,
                request: std::mem::take(&mut sent[number]),
                problem,
            });
        }
    }
    let known = tolerance.used();
    if let Some(message) = stopped {
        let request = sent.pop().unwrap_or_default();
        failures.push(Failure {
            step: got.len(),
            request,
            problem: Problem::Stopped(message),
        });
    } else {
        failures.extend(tolerance.stale().map(|(step, pointer)| Failure {
            step,
            request: String::new(),
            problem: Problem::Stale { pointer },
        }));
    }
    let outcome = if failures.is_empty() {
        Outcome::Passed { known }
    } else {
        Outcome::Failed(failures)
    };
    Report {
        name: recording.name.clone(),
        outcome,
    }
}

/// The exceptions of one recording, and which of their pointers were needed.
struct Tolerance<'a>(Vec<(&'a Exception, Vec<bool>)>);

impl<'a> Tolerance<'a> {
    fn new(exceptions: impl Iterator<Item = &'a Exception>) -> Self {
        Tolerance(
            exceptions
                .map(|exception| (exception, vec![false; exception.pointers.len()]))
                .collect(),
        )
    }

    fn covers(&mut self, step: usize, difference: &Difference) -> bool {
        for (exception, used) in self
            .0
            .iter_mut()
            .filter(|(exception, _)| exception.step == step)
        {
            if let Some(pointer) = exception.covering(difference) {
                used[pointer] = true;
                return true;
            }
        }
        false
    }

    fn used(&self) -> usize {
        self.0
            .iter()
            .filter(|(_, used)| used.contains(&true))
            .count()
    }

    fn stale(self) -> impl Iterator<Item = (usize, String)> {
        self.0.into_iter().flat_map(|(exception, used)| {
            let unused = exception
                .pointers
                .iter()
                .zip(used)
                .filter(|(_, used)| !used);
            unused.map(|(pointer, _)| (exception.step, pointer.clone()))
        })
    }
}

fn normalized(answers: Vec<Answer>, recording: &Recording, context: &Context) -> Vec<Answer> {
    let mut normalizer = Normalizer::new(&context.namespace, &context.derived);
    for step in &recording.steps {
        let recorded = &step.expected;
        let events = recorded.events.iter().flatten();
        recorded
            .response
            .iter()
            .chain(events)
            .for_each(|it| normalizer.keep(it));
    }
    for answer in &answers {
        if let Some(events) = &answer.events {
            normalizer.scan(&serde_json::json!({ "events": events }));
        } else if let Some(response) = &answer.response {
            normalizer.scan(response);
        }
    }
    let form = |answer: Answer| Answer {
        response: answer
            .response
            .map(|response| normalizer.normalize(&response)),
        events: answer.events.map(|events| {
            events
                .iter()
                .map(|event| normalizer.normalize(event))
                .collect()
        }),
        warnings: answer
            .warnings
            .iter()
            .map(|warning| normalizer.normalize_text(warning))
            .collect(),
        ..answer
    };
    answers.into_iter().map(form).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_cannot_do_is_skipped_by_name() {
        let recording: Recording =
            serde_json::from_str(r#"{"name":"n","needs":["parallel","time-machine"],"steps":[]}"#)
                .unwrap();
        match replay(&recording).outcome {
            Outcome::Skipped { needs } => assert_eq!(needs, ["time-machine"]),
            other => panic!("{other:?}"),
        }
    }
}

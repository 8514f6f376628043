//! Tries each task with every write method that its solution does not use. A way that reaches the
//! task must be right: it is one of the task's other ways, or `also right` names it with the
//! reason.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::fields::{Fields, LessonError, Read, items, word};
use super::model::{Challenge, Goal, Lesson, Task};
use super::script::{STRATEGIES, ScriptAction, ScriptActionKind};
use super::switches::SwitchChallenge;
use super::walkthrough::Walkthrough;
use optimist_apiserver::yaml::Located;
use optimist_client::{OnConflict, Strategy, Write};
use optimist_controller::program::Switch;
use optimist_simulation::{Action, ActorId, HistoryTree, Operation};

/// Ways of writing that are right as well, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct AlsoRight {
    /// Its line, counted from 1.
    pub line: usize,
    /// The strategies; empty for all of them.
    pub strategies: Vec<Strategy>,
    /// With or without a version; `None` for both. So are the others.
    pub version: Option<bool>,
    /// With or without force.
    pub force: Option<bool>,
    /// With or without tests of the old values.
    pub test: Option<bool>,
    /// With or without a retry after a conflict.
    pub retry: Option<bool>,
    /// Why they are right.
    pub because: String,
}

/// The result of trying the tasks of a lesson with other ways of writing.
#[derive(Clone, Debug, Default)]
pub struct MutantReport {
    /// The number of other ways that were tried.
    pub tried: usize,
    /// The number of them that reached a task.
    pub accepted: usize,
    /// Those that reached a task and should not, and reasons that are not needed.
    pub problems: Vec<LessonError>,
}

impl AlsoRight {
    /// Reads a list of them.
    pub(super) fn read_all(fields: &Fields<'_>) -> Read<Vec<Self>> {
        let all = fields.items("also right")?.iter().map(Self::read);
        all.collect()
    }

    fn read(located: &Located) -> Read<Self> {
        let known = ["send", "version", "force", "test", "retry", "because"];
        let fields = Fields::read(located, "a way that is also right", &known)?;
        let sends = fields.get("send").map_or(Ok(&[][..]), items)?;
        let strategies = sends.iter().map(|item| word(item, &STRATEGIES));
        Ok(Self {
            line: located.line,
            strategies: strategies.collect::<Read<_>>()?,
            version: fields.flag("version")?,
            force: fields.flag("force")?,
            test: fields.flag("test")?,
            retry: fields.flag("retry")?,
            because: fields.needed_text("because")?,
        })
    }

    fn says(&self, write: &Write) -> bool {
        let is = |wanted: Option<bool>, found: bool| wanted.is_none_or(|wanted| wanted == found);
        (self.strategies.is_empty() || self.strategies.contains(&write.strategy))
            && is(self.version, write.send_resource_version)
            && is(self.force, write.force)
            && is(self.test, write.test_values)
            && is(self.retry, write.on_conflict != OnConflict::GiveUp)
    }
}

/// Tries every task of a lesson.
///
/// # Errors
/// If the script of the lesson cannot be performed.
pub fn try_mutants(lesson: &Arc<Lesson>) -> Read<MutantReport> {
    let mut report = MutantReport::default();
    let (mut walk, mut tree) = Walkthrough::open(Arc::clone(lesson))?;
    loop {
        walk.reveal(&mut tree)?;
        match walk.step().task.clone() {
            None => {}
            Some(Task::Goal(goal)) => report.goal(&goal, &walk, &tree),
            Some(Task::Challenge(challenge)) => report.challenge(&challenge, &tree),
            Some(Task::Switches(challenge)) => report.switches(&challenge, lesson),
        }
        if !walk.forward(&mut tree)? {
            return Ok(report);
        }
    }
}

/// Every way of writing that a card offers, to the same part of the object.
fn writes(like: &Write) -> Vec<Write> {
    let mut all = Vec::new();
    for strategy in Strategy::ALL {
        let (applies, tests) = (strategy == Strategy::Apply, strategy == Strategy::JsonPatch);
        let options = [false, true];
        for send_resource_version in options {
            for force in options.into_iter().filter(|force| applies || !force) {
                for test_values in options.into_iter().filter(|test| tests || !test) {
                    for on_conflict in [OnConflict::GiveUp, OnConflict::ReadAgain(5)] {
                        all.push(Write {
                            strategy,
                            send_resource_version,
                            force,
                            test_values,
                            on_conflict,
                            ..like.clone()
                        });
                    }
                }
            }
        }
    }
    all
}

/// A way of writing in words, for a report.
fn describe_write(write: &Write) -> String {
    let word = STRATEGIES
        .iter()
        .find(|(_, known)| *known == write.strategy);
    let mut told = word.map_or("", |(word, _)| word).to_owned();
    for (on, option) in [
        (write.send_resource_version, "version"),
        (write.force, "force"),
        (write.test_values, "test"),
        (write.on_conflict != OnConflict::GiveUp, "retry"),
    ] {
        if on {
            told.push_str(", ");
            told.push_str(option);
        }
    }
    told
}

/// The actions without their lines.
fn actions(way: &[ScriptAction]) -> Vec<&ScriptActionKind> {
    way.iter().map(|action| &action.what).collect()
}

fn sent(action: &ScriptAction) -> Option<&Write> {
    match &action.what {
        ScriptActionKind::Do(Operation::Act(_, Action::Send(write))) => {
            Some(write).filter(|write| write.body.is_none())
        }
        _ => None,
    }
}

/// A way to a goal in which some requests are sent otherwise.
fn sending(way: &[ScriptAction], at: &[usize], write: &Write) -> Vec<ScriptAction> {
    let mut way = way.to_vec();
    for index in at {
        if let Some(ScriptActionKind::Do(Operation::Act(_, Action::Send(sent)))) =
            way.get_mut(*index).map(|action| &mut action.what)
        {
            *sent = Write {
                subresource: sent.subresource,
                declares: sent.declares,
                manager: sent.manager.clone(),
                ..write.clone()
            };
        }
    }
    way
}

/// Returns whether actions reach the goal of a page, at their end or before.
fn reaches(walk: &Walkthrough, tree: &HistoryTree, way: &[ScriptAction]) -> bool {
    let mut tree = tree.clone();
    way.iter().any(|action| {
        action.perform(&mut tree).is_ok() && walk.goal(&tree).iter().all(|(_, holds)| *holds)
    })
}

impl MutantReport {
    /// Counts a mutant, and adds a problem if it reached the task and no reason says that this is right.
    fn record(&mut self, reached: bool, right: bool, line: usize, what: impl Fn() -> String) {
        self.tried += 1;
        self.accepted += usize::from(reached);
        if reached && !right {
            let message = format!(
                "this reaches the task, and nothing says that it is right: {}",
                what()
            );
            self.problems.push(LessonError::new(line, message));
        }
    }

    fn needless(&mut self, reasons: &[AlsoRight], used: &BTreeSet<usize>) {
        let unused = reasons.iter().filter(|reason| !used.contains(&reason.line));
        let problems = unused.map(|reason| {
            LessonError::new(
                reason.line,
                "nothing that was tried needs this reason".to_owned(),
            )
        });
        self.problems.extend(problems);
    }

    fn goal(&mut self, goal: &Goal, walk: &Walkthrough, tree: &HistoryTree) {
        let others = goal.other_ways.iter().map(|way| &way.actions);
        let ways: Vec<_> = std::iter::once(&goal.solution).chain(others).collect();
        let known: Vec<_> = ways.iter().map(|way| actions(way)).collect();
        let mut used = BTreeSet::new();
        let way = &goal.solution;
        let sends: Vec<usize> = (0..way.len())
            .filter(|at| sent(&way[*at]).is_some())
            .collect();
        let mut groups: Vec<Vec<usize>> = sends.iter().map(|at| vec![*at]).collect();
        if sends.len() > 1 {
            groups.push(sends);
        }
        for group in groups {
            let Some(like) = group.first().and_then(|at| sent(&way[*at])) else {
                continue;
            };
            for write in writes(like) {
                let mutant = sending(way, &group, &write);
                if known.contains(&actions(&mutant)) {
                    continue;
                }
                let reached = reaches(walk, tree, &mutant);
                let reason = goal.also_right.iter().find(|reason| reason.says(&write));
                used.extend(reason.filter(|_| reached).map(|reason| reason.line));
                self.record(reached, reason.is_some(), goal.line, || {
                    describe_write(&write)
                });
            }
        }
        self.needless(&goal.also_right, &used);
    }

    /// Each actor in turn, and all of them together, write otherwise.
    fn challenge(&mut self, challenge: &Challenge, tree: &HistoryTree) {
        let others = challenge.other_ways.iter().map(|way| &way.writes);
        let ways: Vec<_> = std::iter::once(&challenge.solution).chain(others).collect();
        let mut used = BTreeSet::new();
        let mut seen: Vec<Vec<(ActorId, Write)>> = ways.iter().map(|way| (*way).clone()).collect();
        for changed in (0..challenge.solution.len()).map(Some).chain([None]) {
            for write in writes(&Write::default()) {
                let mut chosen = challenge.solution.clone();
                let each = chosen.iter_mut().enumerate();
                each.filter(|(at, _)| changed.is_none_or(|changed| changed == *at))
                    .for_each(|(_, (_, way))| *way = write.clone());
                if seen.contains(&chosen) {
                    continue;
                }
                let reached = challenge.is_met_by(&chosen, tree);
                seen.push(chosen);
                let reason = challenge
                    .also_right
                    .iter()
                    .find(|reason| reason.says(&write));
                used.extend(reason.filter(|_| reached).map(|reason| reason.line));
                self.record(reached, reason.is_some(), challenge.line, || {
                    let who = changed.and_then(|at| challenge.solution.get(at));
                    let who = who.map_or("all", |(actor, _)| actor.letter());
                    format!("{who}: {}", describe_write(&write))
                });
            }
        }
        self.needless(&challenge.also_right, &used);
    }

    /// No switch, each switch, each two switches, and the solution with a switch more or less.
    fn switches(&mut self, challenge: &SwitchChallenge, lesson: &Lesson) {
        let all = SwitchChallenge::program(lesson).map_or(&[][..], |ready| ready.name.switches());
        let mut choices: BTreeSet<BTreeSet<Switch>> = BTreeSet::new();
        choices.insert(BTreeSet::new());
        for one in all {
            choices.extend(all.iter().map(|other| BTreeSet::from([*one, *other])));
            let mut solution = challenge.solution.clone();
            if !solution.remove(one) {
                solution.insert(*one);
            }
            choices.insert(solution);
        }
        for chosen in choices {
            let is = |way: &BTreeSet<Switch>| *way == chosen;
            if is(&challenge.solution) || challenge.other_ways.iter().any(|way| is(&way.switches)) {
                continue;
            }
            let Some(mut search) = challenge.search(lesson, &chosen) else {
                continue;
            };
            search.run();
            let mut reasons = challenge.also_right.iter();
            let right = reasons.any(|reason| reason.switches.is_subset(&chosen));
            let reached = search.finding().is_met();
            self.record(reached, right, challenge.line, || format!("{chosen:?}"));
        }
    }
}

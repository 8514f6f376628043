//! Challenges about a controller: switches with which something holds in every history.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use optimist_apiserver::yaml::{Content, Located};
use optimist_checker::PropertySearchStatus;
use optimist_controller::program::{ReadyProgram, Switch};
use optimist_simulation::explore::{ControllerSearch, ControllerWitness};
use optimist_simulation::{ControllerProgram, HistoryTree, World};
use serde::{Deserialize, Serialize};

use super::check::LessonCheck;
use super::controller::{CONTROLLER, camel};
use super::feedback::hints;
use super::fields::{KnownKeys, LessonResult, text};
use super::model::Lesson;
use super::question::{ChallengeQuestion, MOST_STATES};

/// A challenge: find the switches with which something holds in every history from the lesson's
/// start.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchChallenge {
    /// Its line, counted from 1.
    pub line: usize,
    /// The question to the learner.
    pub ask: String,
    /// Hints, shown one after the other.
    pub hints: Vec<String>,
    /// The properties that must hold.
    pub question: ChallengeQuestion,
    /// `true` if a switch that is not needed is a mistake.
    pub nothing_else: bool,
    /// The switches before the learner chooses.
    pub at_first: BTreeSet<Switch>,
    /// Switches that meet it.
    pub solution: BTreeSet<Switch>,
    /// Other choices that meet it.
    pub other_ways: Vec<SwitchCase>,
    /// Choices that do not meet it.
    pub mistakes: Vec<SwitchCase>,
    /// Choices that meet it with more switches than these, and why that is right.
    pub also_right: Vec<SwitchCase>,
    /// The texts that are shown when it is met: each if its switches are on.
    pub reached: Vec<SwitchCase>,
}

/// A choice of switches.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchCase {
    /// Its line, counted from 1.
    pub line: usize,
    /// A short description.
    pub say: String,
    /// The switches that are on.
    pub switches: BTreeSet<Switch>,
}

/// The search for a choice of switches. The caller decides when it works.
#[derive(Clone, Debug)]
pub struct SwitchSearch {
    tree: HistoryTree,
    search: ControllerSearch,
    /// The search with one switch less, for each switch that may not be needed.
    fewer: Vec<(Switch, ControllerSearch)>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SwitchFinding {
    /// The number of states of all histories.
    pub states: usize,
    /// The largest number of versions that all objects together get in one history. `None` if a history can have any
    /// number of them, or if not all histories were looked at.
    pub most_versions: Option<u64>,
    /// `true` if the search looked at all histories that can matter.
    pub complete: bool,
    /// The shortest history that answers with no.
    pub witness: Option<ControllerWitness>,
    /// The switches that are not needed.
    pub needless: Vec<Switch>,
}

impl SwitchFinding {
    /// Returns whether the challenge is met.
    pub fn is_met(&self) -> bool {
        self.complete && self.witness.is_none() && self.needless.is_empty()
    }
}

impl fmt::Display for SwitchFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} states: ", self.states)?;
        match &self.witness {
            _ if !self.complete => f.write_str("not all were looked at"),
            Some(ControllerWitness::Unsafe(..)) => {
                f.write_str("some history does what must not be")
            }
            Some(ControllerWitness::NeverRests(..)) => f.write_str("some history never rests"),
            Some(ControllerWitness::RestsWrong(_)) => f.write_str("some history rests wrong"),
            None if self.needless.is_empty() => f.write_str("every history is as wished"),
            None => write!(f, "{:?} is not needed", self.needless),
        }
    }
}

impl SwitchChallenge {
    /// Reads a challenge.
    pub(super) fn read(located: &Located) -> LessonResult<Self> {
        let mut known = vec![
            "ask",
            "hint",
            "nothing else",
            "at first",
            "solution",
            "other ways",
            "mistakes",
            "also right",
            "reached",
        ];
        known.extend(ChallengeQuestion::KEYS);
        let fields = KnownKeys::read(located, "a controller challenge", &known)?;
        fields.needed("solution")?;
        Ok(Self {
            line: located.line,
            ask: fields.needed_text("ask")?,
            hints: hints(&fields)?,
            question: ChallengeQuestion::from_fields(&fields)?,
            nothing_else: fields.flag("nothing else")?.unwrap_or(false),
            at_first: named(&fields, "at first")?,
            solution: named(&fields, "solution")?,
            other_ways: cases(&fields, "other ways")?,
            mistakes: cases(&fields, "mistakes")?,
            also_right: cases(&fields, "also right")?,
            reached: closing(&fields)?,
        })
    }

    /// Returns the closing texts of the challenge, for the switches that met it; without them, the
    /// texts that need no switch.
    pub fn closing_text(&self, chosen: Option<&BTreeSet<Switch>>) -> String {
        let none = BTreeSet::new();
        let chosen = chosen.unwrap_or(&none);
        let told = self.reached.iter();
        let told = told.filter(|text| text.switches.is_subset(chosen));
        told.map(|text| text.say.trim_end())
            .collect::<Vec<_>>()
            .join("\n\n")
    }

    /// The program of a lesson.
    pub fn program(lesson: &Lesson) -> Option<&ReadyProgram> {
        match &lesson.start.controllers.get(&CONTROLLER)?.program {
            ControllerProgram::Ready(ready) => Some(ready),
            ControllerProgram::Written(_) => None,
        }
    }

    /// The search of every history from the lesson's start with these switches. `None` if the
    /// lesson has no ready program.
    pub fn search(&self, lesson: &Lesson, chosen: &BTreeSet<Switch>) -> Option<SwitchSearch> {
        let (tree, search) = self.start_search(lesson, chosen)?;
        let mut fewer = Vec::new();
        for switch in chosen.iter().filter(|_| self.nothing_else) {
            let mut without = chosen.clone();
            without.remove(switch);
            fewer.push((*switch, self.start_search(lesson, &without)?.1));
        }
        Some(SwitchSearch {
            tree,
            search,
            fewer,
        })
    }

    /// Returns the history of a finding's witness, as a tree that is at its last step: with the lesson and
    /// the switches that were searched. `None` if it is not possible with them.
    pub fn witness(
        &self,
        lesson: &Lesson,
        chosen: &BTreeSet<Switch>,
        witness: &ControllerWitness,
    ) -> Option<HistoryTree> {
        let (mut tree, search) = self.start_search(lesson, chosen)?;
        search.question().replay(&mut tree, &witness.run())?;
        Some(tree)
    }

    fn start_search(
        &self,
        lesson: &Lesson,
        chosen: &BTreeSet<Switch>,
    ) -> Option<(HistoryTree, ControllerSearch)> {
        let ready = Self::program(lesson)?.clone().with(chosen.iter().copied());
        let mut start = (*lesson.start).clone();
        start.controllers.get_mut(&CONTROLLER)?.program = ControllerProgram::Ready(ready);
        let (mut world, _) = World::from_start(Arc::new(start)).ok()?;
        lesson.name_actors(&mut world);
        let mut tree = HistoryTree::new(world);
        tree.connect_controller(CONTROLLER)?;
        let search = self.question.search(tree.world(), MOST_STATES)?;
        Some((tree, search))
    }
}

impl SwitchSearch {
    /// Explores up to this number of states. Returns whether the result is known.
    pub fn advance(&mut self, states: usize) -> bool {
        let is_running = |search: &ControllerSearch| {
            search.status() == PropertySearchStatus::Running && search.holds().is_none()
        };
        if is_running(&self.search) {
            self.search.advance(states);
        } else if self.search.holds() == Some(true)
            && let Some((_, search)) = self.fewer.iter_mut().find(|(_, search)| is_running(search))
        {
            search.advance(states);
        } else {
            return true;
        }
        false
    }

    /// Explores everything that is needed.
    pub fn run(&mut self) {
        while !self.advance(200) {}
    }

    /// The result so far.
    pub fn finding(&self) -> SwitchFinding {
        let holds = self.search.holds();
        let fewer = || self.fewer.iter().filter(|_| holds == Some(true));
        let needless = fewer().filter(|(_, search)| search.holds() == Some(true));
        let states = fewer().map(|(_, search)| search.states()).sum::<usize>();
        SwitchFinding {
            states: self.search.states() + states,
            most_versions: self.search.most_versions(),
            complete: holds.is_some() && fewer().all(|(_, search)| search.holds().is_some()),
            witness: self.search.witness(),
            needless: needless.map(|(switch, _)| *switch).collect(),
        }
    }

    /// The shortest history that answers with no, as a tree that is at its last step.
    pub fn witness(&self) -> Option<HistoryTree> {
        let mut tree = self.tree.clone();
        self.search
            .question()
            .replay(&mut tree, &self.search.witness()?.run())?;
        Some(tree)
    }
}

/// A text for every choice, or a list of texts, each for the choices with some switches.
fn closing(fields: &KnownKeys<'_>) -> LessonResult<Vec<SwitchCase>> {
    match fields.get("reached") {
        Some(located) if matches!(located.content, Content::Scalar(..)) => Ok(vec![SwitchCase {
            line: located.line,
            say: text(located)?,
            switches: BTreeSet::new(),
        }]),
        _ => cases(fields, "reached"),
    }
}

fn named(fields: &KnownKeys<'_>, key: &str) -> LessonResult<BTreeSet<Switch>> {
    fields
        .items(key)?
        .iter()
        .map(|located| camel(located, "a switch"))
        .collect()
}

fn cases(fields: &KnownKeys<'_>, key: &str) -> LessonResult<Vec<SwitchCase>> {
    let cases = fields.items(key)?.iter().map(|located| {
        let fields = KnownKeys::read(located, "a choice", &["say", "with"])?;
        Ok(SwitchCase {
            line: located.line,
            say: fields.needed_text("say")?,
            switches: named(&fields, "with")?,
        })
    });
    cases.collect()
}

/// The solution and the other ways must meet a challenge; the mistakes and the switches at first
/// must not.
pub(super) fn check(check: &mut LessonCheck, challenge: &SwitchChallenge, lesson: &Lesson) {
    check.tell(format_args!("     ! {}", challenge.ask));
    let case = |say: &str, switches: &BTreeSet<Switch>| SwitchCase {
        line: challenge.line,
        say: say.to_owned(),
        switches: switches.clone(),
    };
    let at_first = (case("at first", &challenge.at_first), false);
    let solved = (case("solved", &challenge.solution), true);
    let ways = challenge.other_ways.iter().cloned().map(|way| (way, true));
    let mistakes = challenge
        .mistakes
        .iter()
        .cloned()
        .map(|mistake| (mistake, false));
    closing_texts(check, challenge);
    for (chosen, wanted) in [at_first, solved].into_iter().chain(ways).chain(mistakes) {
        let has = SwitchChallenge::program(lesson).map(|ready| ready.name.switches());
        let known = |switch: &Switch| has.is_some_and(|has| has.contains(switch));
        if let Some(unknown) = chosen.switches.iter().find(|switch| !known(switch)) {
            check.problem(
                chosen.line,
                format_args!("the program has no switch {unknown:?}"),
            );
            continue;
        }
        let Some(mut search) = challenge.search(lesson, &chosen.switches) else {
            check.problem(
                chosen.line,
                "the lesson has no ready program, or not these kinds",
            );
            return;
        };
        search.run();
        let finding = search.finding();
        check.tell(format_args!("       {}: {finding}", chosen.say));
        if finding.is_met() != wanted {
            let message = match wanted {
                true => format!("this does not meet the challenge: {finding}"),
                false => format!("this meets the challenge and should not: {finding}"),
            };
            check.problem(chosen.line, message);
        }
        if finding.witness.is_some() && search.witness().is_none() {
            check.problem(chosen.line, "the shortest history cannot be performed");
        }
    }
}

/// Each way is told something, and each text is told to one of the ways.
fn closing_texts(check: &mut LessonCheck, challenge: &SwitchChallenge) {
    let others = challenge.other_ways.iter();
    let others = others.map(|way| (way.line, &way.switches));
    let ways: Vec<_> = std::iter::once((challenge.line, &challenge.solution))
        .chain(others)
        .collect();
    for (line, switches) in &ways {
        if !challenge.reached.is_empty() && challenge.closing_text(Some(switches)).is_empty() {
            check.problem(*line, "“reached” tells nothing to this choice");
        }
    }
    for text in &challenge.reached {
        if !ways.iter().any(|(_, way)| text.switches.is_subset(way)) {
            check.problem(text.line, "no choice is told this");
        }
    }
}

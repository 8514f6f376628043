//! The model of a lesson.

use std::sync::Arc;

use super::belief::Belief;
use super::closing::{ClosingText, WriteFilter};
use super::condition::{Condition, PartLabel};
use super::feedback::Feedback;
use super::fields::LessonError;
use super::mutants::AlsoRight;
use super::script::{ScriptAction, ScriptEdit};
use super::switches::SwitchChallenge;
use optimist_client::Write;
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{ActorId, HistoryTree, Start, World};

/// A short scripted history with texts, predictions and goals.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// Its title.
    pub title: String,
    /// The content of the lesson, in one or two sentences.
    pub teaches: String,
    /// The common belief that it refutes, if there is one.
    pub belief: Option<Belief>,
    /// The terms that it explains. A question or task of an earlier lesson does not use them.
    pub introduces: Vec<String>,
    /// Its start.
    pub start: Arc<Start>,
    /// The line of its objects, counted from 1; the first line of the lesson if it has no objects.
    pub objects_line: usize,
    /// Actors with names or managers of their own.
    pub cast: Vec<CastMember>,
    /// The steps, one for each page; never empty.
    pub steps: Vec<LessonStep>,
}

/// An actor's name and field manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CastMember {
    /// The actor.
    pub actor: ActorId,
    /// Its display name.
    pub name: Option<String>,
    /// Its field manager.
    pub manager: Option<String>,
}

/// A part of the server's card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerPart {
    /// The stored object.
    Object,
    /// The owners of the fields.
    Owners,
    /// Every stored version.
    Revisions,
    /// The event stream.
    Watch,
    /// The keys of etcd.
    Etcd,
}

impl ServerPart {
    /// The parts by their names in a lesson.
    pub(super) const ALL: [(&str, Self); 5] = [
        ("object", Self::Object),
        ("owners", Self::Owners),
        ("revisions", Self::Revisions),
        ("watch", Self::Watch),
        ("etcd", Self::Etcd),
    ];
}

/// One page of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct LessonStep {
    /// Its line, counted from 1.
    pub line: usize,
    /// Its title.
    pub title: String,
    /// The text. With a prediction, it is shown before the actions, otherwise after them.
    pub text: String,
    /// The prediction, which is asked before the actions.
    pub prediction: Option<Prediction>,
    /// The part of the server's card that the page opens; `None` leaves it as it is.
    pub show: Option<ServerPart>,
    /// The actions.
    pub actions: Vec<ScriptAction>,
    /// The text that is shown after the actions.
    pub after: String,
    /// The claims of the texts. They must hold after the actions.
    pub claims: Vec<Claim>,
    /// The claims of the texts that the script does not show, and their evidence.
    pub facts: Vec<PageFact>,
    /// The task of the learner.
    pub task: Option<Task>,
}

/// A sentence of a page that its script does not show, with its evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct PageFact {
    /// Its line, counted from 1.
    pub line: usize,
    /// The words of the page.
    pub words: String,
    /// The evidence.
    pub held: FactBasis,
}

/// The evidence of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum FactBasis {
    /// The source code of another program: file and function. Somebody else may have read it again.
    Source(String, Option<SecondReading>),
    /// An experiment that shows it.
    Shown(Experiment),
}

/// Somebody other than the author of a fact looked for its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecondReading {
    /// They opened it, and it says so.
    Read {
        /// The tags or commits that they opened.
        at: String,
        /// The day, as `2026-11-24`.
        day: String,
    },
    /// They could not open it; the text says why.
    NotOpened(String),
}

/// Actions apart from the script, and claims about their result.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Its start; `None` for the state at the end of its page.
    pub start: Option<Arc<Start>>,
    /// The actions.
    pub actions: Vec<ScriptAction>,
    /// The claims, which must hold after the actions.
    pub claims: Vec<Claim>,
}

/// Conditions that must all hold, with their line.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Counted from 1.
    pub line: usize,
    /// All of them.
    pub conditions: Vec<Condition>,
}

/// A question about the actions of the step.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The question.
    pub question: String,
    /// The answers. The right answer is the one that is true after the actions.
    pub choices: Vec<Choice>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Its text.
    pub text: String,
    /// The conditions under which it is right.
    pub when: Claim,
    /// The text for those who chose it, if it can be wrong.
    pub answer: Option<String>,
}

/// The task of a page.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Reach a goal in this history.
    Goal(Box<TaskGoal>),
    /// Choose the write methods so that something holds in every order.
    Challenge(Box<Challenge>),
    /// Choose the switches of the controller so that something holds in every history.
    Switches(Box<SwitchChallenge>),
}

/// A goal, which can be reached in any way.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskGoal {
    /// Its line, counted from 1.
    pub line: usize,
    /// The question to the learner.
    pub ask: String,
    /// Hints, shown one after the other.
    pub hints: Vec<String>,
    /// The parts of the goal. All must hold for the history since the step began.
    pub when: Vec<GoalPart>,
    /// A solution.
    pub solution: Vec<ScriptAction>,
    /// Other ways. Each of them must also reach the goal.
    pub other_ways: Vec<OtherWay>,
    /// Mistakes. None of them may reach the goal.
    pub mistakes: Vec<WrongAttempt>,
    /// Texts that say why a try does not reach the goal. The first one that is true is shown.
    pub feedback: Vec<Feedback>,
    /// Other ways of writing that may reach the goal.
    pub also_right: Vec<AlsoRight>,
    /// The texts that are shown when it is reached.
    pub reached: Vec<ClosingText<Vec<Condition>>>,
}

/// Another way to reach a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherWay {
    /// Its line, counted from 1.
    pub line: usize,
    /// A short description.
    pub say: String,
    /// The actions.
    pub actions: Vec<ScriptAction>,
}

/// A mistake, which does not reach a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct WrongAttempt {
    /// Its line, counted from 1.
    pub line: usize,
    /// A short description.
    pub say: String,
    /// The actions.
    pub actions: Vec<ScriptAction>,
    /// The labels of exactly the parts of the goal that it does not reach.
    pub misses: Vec<String>,
    /// Actions that reach the goal after the mistake; empty if the task must be started again.
    pub then: Vec<ScriptAction>,
}

/// A part of a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalPart {
    /// A short description.
    pub label: PartLabel,
    /// The conditions.
    pub conditions: Vec<Condition>,
}

/// A challenge: find write methods for which something holds in all histories.
#[derive(Clone, Debug, PartialEq)]
pub struct Challenge {
    /// Its line, counted from 1.
    pub line: usize,
    /// The question to the learner.
    pub ask: String,
    /// Hints, shown one after the other.
    pub hints: Vec<String>,
    /// The edits of each actor.
    pub edits: Vec<(ActorId, Vec<ScriptEdit>)>,
    /// Verdicts that no order may have.
    pub never: Vec<Verdict>,
    /// `true` if retries after a conflict are not allowed.
    pub without_retries: bool,
    /// The result of the search before the learner's first choice.
    pub found_at_first: VerdictCounts,
    /// The result of the search with the solution.
    pub found: VerdictCounts,
    /// A write method for each actor that meets the challenge.
    pub solution: Vec<(ActorId, Write)>,
    /// Other choices that meet the challenge.
    pub other_ways: Vec<ChallengeCase>,
    /// Choices that do not meet the challenge.
    pub mistakes: Vec<ChallengeCase>,
    /// Other ways of writing that may meet the challenge.
    pub also_right: Vec<AlsoRight>,
    /// The texts that are shown when it is reached.
    pub reached: Vec<ClosingText<WriteFilter>>,
}

/// The write methods of all actors, and the result of the search with them.
#[derive(Clone, Debug, PartialEq)]
pub struct ChallengeCase {
    /// Its line, counted from 1.
    pub line: usize,
    /// A short description.
    pub say: String,
    /// A write method for each actor.
    pub writes: Vec<(ActorId, Write)>,
    /// The claimed result.
    pub found: VerdictCounts,
}

/// The number of orders for each verdict that a lesson claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictCounts {
    /// All of them.
    pub orders: Option<u64>,
    /// [`Verdict::InObject`] or [`Verdict::Replaced`].
    pub kept: Option<u64>,
    /// [`Verdict::Replaced`].
    pub replaced: Option<u64>,
    /// [`Verdict::LeftOut`].
    pub left_out: Option<u64>,
    /// [`Verdict::Refused`].
    pub refused: Option<u64>,
    /// [`Verdict::Lost`].
    pub lost: Option<u64>,
}

impl LessonStep {
    /// The hints of its task, in the order in which they are shown.
    pub fn hints(&self) -> &[String] {
        match &self.task {
            None => &[],
            Some(Task::Goal(goal)) => &goal.hints,
            Some(Task::Challenge(challenge)) => &challenge.hints,
            Some(Task::Switches(challenge)) => &challenge.hints,
        }
    }
}

impl Lesson {
    /// The world at its start.
    ///
    /// # Errors
    /// If its objects cannot be loaded.
    pub fn world(&self) -> Result<World, LessonError> {
        self.open_world(Arc::clone(&self.start))
    }

    /// The same with the libraries that the controller of a kept history has.
    pub(super) fn world_as_in(&self, history: &HistoryTree) -> Result<World, LessonError> {
        let mut start = Arc::clone(&self.start);
        for (actor, kept) in &history.world().start().controllers {
            if start.controllers.contains_key(actor) {
                let controller = Arc::make_mut(&mut start).controllers.get_mut(actor);
                controller
                    .into_iter()
                    .for_each(|it| it.release = kept.release);
            }
        }
        self.open_world(start)
    }

    fn open_world(&self, start: Arc<Start>) -> Result<World, LessonError> {
        let loaded = World::from_start(start);
        let (mut world, _) =
            loaded.map_err(|error| LessonError::new(self.objects_line, error.to_string()))?;
        self.name_actors(&mut world);
        Ok(world)
    }

    /// Gives the actors the names and managers that they have in this lesson.
    pub(super) fn name_actors(&self, world: &mut World) {
        for cast in &self.cast {
            let actor = world.actor_mut(cast.actor);
            if let Some(name) = &cast.name {
                actor.name = name.as_str().into();
            }
            if let Some(manager) = &cast.manager {
                actor.manager = manager.as_str().into();
            }
        }
    }
}

//! What a lesson is.

use std::sync::Arc;

use super::condition::Condition;
use super::fields::LessonError;
use super::script::{ScriptAction, ScriptEdit};
use optimist_client::Write;
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{ActorId, Start, World};

/// A short scripted history with texts, predictions and goals.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// What it is called.
    pub title: String,
    /// What one knows afterwards, in a sentence or two.
    pub teaches: String,
    /// The common belief that it refutes, if it does.
    pub belief: Option<String>,
    /// Where it begins.
    pub start: Arc<Start>,
    /// Where its objects are written, counted from 1; where the lesson begins if it names none.
    pub objects_line: usize,
    /// Actors that are called other than usual.
    pub cast: Vec<CastMember>,
    /// What happens, one page of text after the other; never empty.
    pub steps: Vec<LessonStep>,
}

/// An actor's name and field manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CastMember {
    /// Which one.
    pub actor: ActorId,
    /// What people call it.
    pub name: Option<String>,
    /// Its field manager.
    pub manager: Option<String>,
}

/// One page of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct LessonStep {
    /// Where it is written, counted from 1.
    pub line: usize,
    /// What it is about.
    pub title: String,
    /// Told before anything happens if there is something to predict, and else with it.
    pub text: String,
    /// Asked before anything happens.
    pub prediction: Option<Prediction>,
    /// What happens.
    pub actions: Vec<ScriptAction>,
    /// Told once it happened.
    pub after: String,
    /// What the texts claim; it must hold once it happened.
    pub claims: Vec<Claim>,
    /// What the texts say beside what the script shows, and what it rests on.
    pub facts: Vec<PageFact>,
    /// What the learner does then.
    pub task: Option<Task>,
}

/// A sentence of a page that its script does not show, and what holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct PageFact {
    /// Where it is written, counted from 1.
    pub line: usize,
    /// The words of the page that claim it.
    pub words: String,
    /// What holds it.
    pub held: FactBasis,
}

/// What a fact rests on.
#[derive(Clone, Debug, PartialEq)]
pub enum FactBasis {
    /// Somebody else's program: where its source says so.
    Source(String),
    /// A history beside the script that shows it.
    Shown(Experiment),
}

/// A history beside the script.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Where it begins; `None`: where its page ends.
    pub start: Option<Arc<Start>>,
    /// What happens.
    pub actions: Vec<ScriptAction>,
    /// What must hold then.
    pub claims: Vec<Claim>,
}

/// Conditions that must all hold, and where they are written.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Counted from 1.
    pub line: usize,
    /// All of them.
    pub conditions: Vec<Condition>,
}

/// A question about what is about to happen.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The question.
    pub question: String,
    /// The answers. The right one is the one that holds once it happened.
    pub choices: Vec<Choice>,
}

/// An answer that can be given.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Its text.
    pub text: String,
    /// When it is right.
    pub when: Claim,
}

/// What the learner does.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// To reach something in this history.
    Goal(Goal),
    /// To choose how everybody writes, so that something holds in every order.
    Challenge(Box<Challenge>),
}

/// Something to reach, in whatever way.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// Where it is written, counted from 1.
    pub line: usize,
    /// What to do.
    pub ask: String,
    /// A hint for those who want one.
    pub hint: Option<String>,
    /// When it is reached: everything that must hold of the history since the step began.
    pub when: Vec<GoalPart>,
    /// One way to reach it.
    pub solution: Vec<ScriptAction>,
    /// More ways, each of which must reach it too.
    pub other_ways: Vec<OtherWay>,
    /// What looks like a way and must not reach it.
    pub mistakes: Vec<WrongAttempt>,
    /// Told once it is reached.
    pub reached: String,
}

/// Another way to reach a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherWay {
    /// Where it is written, counted from 1.
    pub line: usize,
    /// In a few words.
    pub say: String,
    /// What is done.
    pub actions: Vec<ScriptAction>,
}

/// What does not reach a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct WrongAttempt {
    /// Where it is written, counted from 1.
    pub line: usize,
    /// In a few words.
    pub say: String,
    /// What is done.
    pub actions: Vec<ScriptAction>,
    /// Exactly the parts of the goal that are not reached by it, by their labels.
    pub misses: Vec<String>,
    /// What reaches the goal after it; empty if only beginning the task again does.
    pub then: Vec<ScriptAction>,
}

/// A part of a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalPart {
    /// In a few words.
    pub label: String,
    /// What must hold.
    pub conditions: Vec<Condition>,
}

/// To find ways of writing for which something holds over all histories.
#[derive(Clone, Debug, PartialEq)]
pub struct Challenge {
    /// Where it is written, counted from 1.
    pub line: usize,
    /// What to do.
    pub ask: String,
    /// A hint for those who want one.
    pub hint: Option<String>,
    /// What each actor means to change.
    pub edits: Vec<(ActorId, Vec<ScriptEdit>)>,
    /// Verdicts that no order may have.
    pub never: Vec<Verdict>,
    /// Whether it is to be met without trying again after a conflict.
    pub without_retries: bool,
    /// What the search finds before anybody chose anything.
    pub found_at_first: VerdictCounts,
    /// What the search finds with the solution.
    pub found: VerdictCounts,
    /// One way for each actor with which it holds.
    pub solution: Vec<(ActorId, Write)>,
    /// More choices that meet it.
    pub other_ways: Vec<ChallengeCase>,
    /// Choices that do not meet it.
    pub mistakes: Vec<ChallengeCase>,
    /// Told once it is reached.
    pub reached: String,
}

/// How everybody writes, and what the search over all orders finds then.
#[derive(Clone, Debug, PartialEq)]
pub struct ChallengeCase {
    /// Where it is written, counted from 1.
    pub line: usize,
    /// In a few words.
    pub say: String,
    /// One way for each actor.
    pub writes: Vec<(ActorId, Write)>,
    /// What is found, as far as it is claimed.
    pub found: VerdictCounts,
}

/// How many orders have which verdict, as far as a lesson claims it.
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

impl Lesson {
    /// The world in which it begins.
    ///
    /// # Errors
    /// If its objects cannot be loaded.
    pub fn world(&self) -> Result<World, LessonError> {
        let loaded = World::begin(Arc::clone(&self.start));
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

//! Parses a lesson.

use std::sync::Arc;

use super::belief::Belief;
use super::closing;
use super::condition::{Condition, PartLabel, conditions, conditions_of, keys};
use super::controller;
use super::feedback::{Feedback, hints};
use super::fields::{KnownKeys, LessonError, LessonResult, items, members, text, word};
use super::mistake::{check_manifests, parse_lesson};
use super::model::{
    CastMember, Challenge, ChallengeCase, Choice, Claim, Experiment, FactBasis, GoalPart, Lesson,
    LessonStep, OtherWay, PageFact, Prediction, SecondReading, ServerPart, Task, TaskGoal,
    VerdictCounts, WrongAttempt,
};
use super::mutants::AlsoRight;
use super::script::{ScriptAction, ScriptActionKind, ScriptEdit, actions, actor, edits, ways};
use super::switches::SwitchChallenge;
use optimist_apiserver::yaml::{Content, Located};
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{Action, ActorId, NGINX, Operation, Start, WIDGET};

/// The largest lesson in bytes.
const MAX_SIZE: usize = 256 * 1024;

/// The maximum number of actions in a step, because the page waits for them.
const MAX_ACTIONS: usize = 100;

/// The keys that describe the start of a history.
const OBJECTS: [&str; 5] = [
    "object",
    "version",
    "created by",
    "applied by",
    "controller",
];

/// The keys of a step.
pub(super) const STEP: [&str; 11] = [
    "title",
    "text",
    "predict",
    "show",
    "do",
    "after",
    "check",
    "facts",
    "goal",
    "challenge",
    "controller challenge",
];

/// The keys of a goal.
pub(super) const GOAL: [&str; 9] = [
    "ask",
    "hint",
    "when",
    "solution",
    "other ways",
    "mistakes",
    "feedback",
    "also right",
    "reached",
];

impl Lesson {
    /// Reads a lesson.
    ///
    /// # Errors
    /// The first error, with its line.
    pub fn parse(source: &str) -> Result<Self, LessonError> {
        if source.len() > MAX_SIZE {
            let message = format!("a lesson can have at most {MAX_SIZE} bytes");
            return Err(LessonError::new(1, message));
        }
        let located = parse_lesson(source)?;
        let fields = KnownKeys::read(&located, "a lesson", &lesson_keys())?;
        let steps = items(fields.needed("steps")?)?;
        if steps.is_empty() {
            return Err(LessonError::new(
                fields.line,
                "a lesson needs at least one step",
            ));
        }
        Ok(Self {
            title: fields.needed_text("title")?,
            teaches: fields.needed_text("teaches")?,
            belief: belief(&fields, steps.len())?,
            introduces: (fields.items("introduces")?.iter())
                .map(text)
                .collect::<LessonResult<_>>()?,
            start: start(&fields, source)?,
            objects_line: fields.line_of("object"),
            cast: cast(&fields)?,
            steps: steps
                .iter()
                .map(|located| step(located, source))
                .collect::<LessonResult<_>>()?,
        })
    }
}

/// The belief of a lesson with this number of pages.
pub(super) fn belief(fields: &KnownKeys<'_>, pages: usize) -> LessonResult<Option<Belief>> {
    let located = fields.get("belief");
    located.map(|it| Belief::read(it, pages)).transpose()
}

/// The keys of a lesson.
pub(super) fn lesson_keys() -> Vec<&'static str> {
    let mut known = vec![
        "title",
        "teaches",
        "belief",
        "introduces",
        "actors",
        "steps",
    ];
    known.extend(OBJECTS);
    known
}

pub(super) fn start(fields: &KnownKeys<'_>, source: &str) -> LessonResult<Arc<Start>> {
    let (created, applied) = (fields.text("created by")?, fields.text("applied by")?);
    if let (Some(_), Some(_)) = (&created, &applied) {
        let message = "the object is either created or applied: “created by” or “applied by”";
        return Err(LessonError::new(fields.line, message));
    }
    let manifests = fields.text("object")?;
    if let (Some(manifests), Some(located)) = (&manifests, fields.get("object")) {
        check_manifests(manifests, located.line, source)?;
    }
    let controller = fields
        .get("controller")
        .map(controller::start)
        .transpose()?;
    let usual = if controller.is_some() { WIDGET } else { NGINX };
    Ok(Arc::new(Start {
        manifests: manifests.unwrap_or_else(|| usual.to_owned()),
        controllers: controller
            .map(|start| (controller::CONTROLLER, start))
            .into_iter()
            .collect(),
        version: fields.number("version")?,
        applied: applied.is_some(),
        created_by: created.or(applied),
        ..Start::default()
    }))
}

pub(super) fn cast(fields: &KnownKeys<'_>) -> LessonResult<Vec<CastMember>> {
    let Some(actors) = fields.get("actors") else {
        return Ok(Vec::new());
    };
    let cast = members(actors, "the actors")?.iter().map(|member| {
        let actor = actor(member)?;
        let fields = KnownKeys::read(&member.value, "an actor", &["name", "manager"])?;
        Ok(CastMember {
            actor,
            name: fields.text("name")?,
            manager: fields.text("manager")?,
        })
    });
    cast.collect()
}

fn step(located: &Located, source: &str) -> LessonResult<LessonStep> {
    let fields = KnownKeys::read(located, "a step", &STEP)?;
    let mut actions = some_deeds(&fields, "do")?;
    let task = task(&fields, &mut actions)?;
    let prediction = fields.get("predict").map(prediction).transpose()?;
    if let (true, Some(predict)) = (actions.is_empty(), fields.get("predict")) {
        let message = "what is predicted must happen: “do” is missing in this step";
        return Err(LessonError::new(predict.line, message));
    }
    Ok(LessonStep {
        line: fields.line,
        title: fields.needed_text("title")?,
        text: fields.text("text")?.unwrap_or_default(),
        prediction,
        show: shown_part(&fields)?,
        actions,
        after: fields.text("after")?.unwrap_or_default(),
        claims: fields
            .items("check")?
            .iter()
            .map(claim)
            .collect::<LessonResult<_>>()?,
        facts: fields
            .items("facts")?
            .iter()
            .map(|located| fact(located, source))
            .collect::<LessonResult<_>>()?,
        task,
    })
}

/// The part of the server's card that a step opens.
pub(super) fn shown_part(fields: &KnownKeys<'_>) -> LessonResult<Option<ServerPart>> {
    let show = fields.get("show");
    show.map(|it| word(it, &ServerPart::ALL)).transpose()
}

/// The task of a step, of which there is one at most. A challenge begins with actions of its own.
pub(super) fn task(
    fields: &KnownKeys<'_>,
    actions: &mut Vec<ScriptAction>,
) -> LessonResult<Option<Task>> {
    let keys = ["goal", "challenge", "controller challenge"];
    let mut tasks = keys.iter().filter_map(|key| Some((*key, fields.get(key)?)));
    let Some((key, located)) = tasks.next() else {
        return Ok(None);
    };
    if let Some((_, other)) = tasks.next() {
        let message = "a step has one goal or one challenge";
        return Err(LessonError::new(other.line, message));
    }
    Ok(Some(match key {
        "goal" => Task::Goal(Box::new(goal(located)?)),
        "challenge" => {
            let (challenge, prepared) = challenge(located)?;
            actions.extend(prepared);
            Task::Challenge(Box::new(challenge))
        }
        _ => Task::Switches(Box::new(SwitchChallenge::read(located)?)),
    }))
}

/// The actions, if they are not too many.
fn some_deeds(fields: &KnownKeys<'_>, key: &str) -> LessonResult<Vec<ScriptAction>> {
    let actions = actions(fields.items(key)?)?;
    if actions.len() > MAX_ACTIONS {
        let message = format!("a step can have at most {MAX_ACTIONS} actions");
        return Err(LessonError::new(fields.line, message));
    }
    Ok(actions)
}

/// A sentence of the page, and its evidence: a source or an experiment.
pub(super) fn fact(located: &Located, text: &str) -> LessonResult<PageFact> {
    let mut known = vec!["say", "source", "read", "not opened", "do", "check"];
    known.extend(OBJECTS);
    let fields = KnownKeys::read(located, "a fact", &known)?;
    let claims = fields.items("check")?;
    let held = match (fields.text("source")?, claims.is_empty()) {
        (Some(source), true) => FactBasis::Source(source, second_reading(&fields)?),
        (None, false) => FactBasis::Shown(Experiment {
            start: match fields.get("object") {
                Some(_) => Some(start(&fields, text)?),
                None => None,
            },
            actions: some_deeds(&fields, "do")?,
            claims: claims.iter().map(claim).collect::<LessonResult<_>>()?,
        }),
        _ => {
            let message = "a fact has a “source”, or a “check” of what happens";
            return Err(LessonError::new(located.line, message));
        }
    };
    Ok(PageFact {
        line: located.line,
        words: fields.needed_text("say")?,
        held,
    })
}

/// Reads who looked for the source of a fact again.
fn second_reading(fields: &KnownKeys<'_>) -> LessonResult<Option<SecondReading>> {
    let Some(located) = fields.get("read") else {
        return Ok(fields.text("not opened")?.map(SecondReading::NotOpened));
    };
    let read = KnownKeys::read(located, "a second reading", &["at", "day"])?;
    let day = read.needed_text("day")?;
    let is_day = day.len() == 10 && day.split('-').all(|part| part.parse::<u16>().is_ok());
    if !is_day || fields.get("not opened").is_some() {
        let message = "a source was read on a “day” such as 2026-11-24, or it was “not opened”";
        return Err(LessonError::new(located.line, message));
    }
    Ok(Some(SecondReading::Read {
        at: read.needed_text("at")?,
        day,
    }))
}

pub(super) fn claim(located: &Located) -> LessonResult<Claim> {
    Ok(Claim {
        line: located.line,
        conditions: conditions(located)?,
    })
}

pub(super) fn prediction(located: &Located) -> LessonResult<Prediction> {
    let fields = KnownKeys::read(located, "a prediction", &["ask", "choices"])?;
    let choices = items(fields.needed("choices")?)?;
    if choices.len() < 2 {
        return Err(LessonError::new(
            located.line,
            "a prediction needs two choices or more",
        ));
    }
    let choice = |located: &Located| {
        let fields = KnownKeys::read(located, "a choice", &["say", "when", "answer"])?;
        Ok(Choice {
            text: fields.needed_text("say")?,
            when: claim(fields.needed("when")?)?,
            answer: fields.text("answer")?,
        })
    };
    Ok(Prediction {
        question: fields.needed_text("ask")?,
        choices: choices.iter().map(choice).collect::<LessonResult<_>>()?,
    })
}

fn goal(located: &Located) -> LessonResult<TaskGoal> {
    let fields = KnownKeys::read(located, "a goal", &GOAL)?;
    Ok(TaskGoal {
        line: located.line,
        ask: fields.needed_text("ask")?,
        hints: hints(&fields)?,
        when: aims(fields.needed("when")?)?,
        solution: actions(items(fields.needed("solution")?)?)?,
        other_ways: fields
            .items("other ways")?
            .iter()
            .map(other_way)
            .collect::<LessonResult<_>>()?,
        mistakes: fields
            .items("mistakes")?
            .iter()
            .map(mistake)
            .collect::<LessonResult<_>>()?,
        feedback: Feedback::read_all(&fields)?,
        also_right: AlsoRight::read_all(&fields)?,
        reached: closing::goal_texts(&fields)?,
    })
}

pub(super) fn other_way(located: &Located) -> LessonResult<OtherWay> {
    let fields = KnownKeys::read(located, "another way", &["say", "do"])?;
    fields.needed("do")?;
    Ok(OtherWay {
        line: located.line,
        say: fields.needed_text("say")?,
        actions: some_deeds(&fields, "do")?,
    })
}

pub(super) fn mistake(located: &Located) -> LessonResult<WrongAttempt> {
    let fields = KnownKeys::read(located, "a mistake", &["say", "do", "misses", "then"])?;
    fields.needed("do")?;
    let misses = items(fields.needed("misses")?)?.iter().map(text);
    Ok(WrongAttempt {
        line: located.line,
        say: fields.needed_text("say")?,
        actions: some_deeds(&fields, "do")?,
        misses: misses.collect::<LessonResult<_>>()?,
        then: some_deeds(&fields, "then")?,
    })
}

/// A goal's conditions: a mapping, or a list of mappings, each with its own label.
pub(super) fn aims(located: &Located) -> LessonResult<Vec<GoalPart>> {
    let Content::List(items) = &located.content else {
        let aims = conditions(located)?.into_iter().map(|condition| GoalPart {
            label: PartLabel::Conditions(vec![condition.label()]),
            conditions: vec![condition],
        });
        return Ok(aims.collect());
    };
    let aims = items.iter().map(|located| {
        let mut known = vec!["say"];
        known.extend(keys());
        let fields = KnownKeys::read(located, "a part of a goal", &known)?;
        let conditions = conditions_of(&fields)?;
        let label = match fields.text("say")? {
            Some(text) => PartLabel::Own(text),
            None => PartLabel::Conditions(conditions.iter().map(Condition::label).collect()),
        };
        Ok(GoalPart { label, conditions })
    });
    aims.collect()
}

/// A challenge, and the actions of its step: each actor reads, makes its edit and selects its first
/// write method.
fn challenge(located: &Located) -> LessonResult<(Challenge, Vec<ScriptAction>)> {
    let known = [
        "ask",
        "hint",
        "edits",
        "at first",
        "never",
        "without retries",
        "found at first",
        "found",
        "solution",
        "other ways",
        "mistakes",
        "also right",
        "reached",
    ];
    let fields = KnownKeys::read(located, "a challenge", &known)?;
    let (intents, mut prepared) = challenge_edits(fields.needed("edits")?)?;
    if let Some(at_first) = fields.get("at first") {
        for (actor, write) in ways(at_first)? {
            prepared.push(ScriptAction {
                line: at_first.line,
                what: ScriptActionKind::Choose(actor, write),
            });
        }
    }
    let verdicts = [
        ("lost", Verdict::Lost),
        ("refused", Verdict::Refused),
        ("left out", Verdict::LeftOut),
        ("replaced", Verdict::Replaced),
    ];
    let never = items(fields.needed("never")?)?
        .iter()
        .map(|item| word(item, &verdicts));
    let challenge = Challenge {
        line: located.line,
        ask: fields.needed_text("ask")?,
        hints: hints(&fields)?,
        edits: intents,
        never: never.collect::<LessonResult<_>>()?,
        without_retries: fields.flag("without retries")?.unwrap_or(false),
        found_at_first: verdict_counts(fields.get("found at first"))?,
        found: verdict_counts(fields.get("found"))?,
        solution: ways(fields.needed("solution")?)?,
        other_ways: chosen(&fields, "other ways")?,
        mistakes: chosen(&fields, "mistakes")?,
        also_right: AlsoRight::read_all(&fields)?,
        reached: closing::challenge_texts(&fields)?,
    };
    Ok((challenge, prepared))
}

/// The edits of each actor.
type ActorEdits = Vec<(ActorId, Vec<ScriptEdit>)>;

/// Reads the edits that each actor of a challenge wants to make, and the first actions.
fn challenge_edits(located: &Located) -> LessonResult<(ActorEdits, Vec<ScriptAction>)> {
    let mut intents = Vec::new();
    let mut prepared = Vec::new();
    for member in members(located, "the edits")? {
        let actor = actor(member)?;
        let edits = edits(&member.value)?;
        for what in [
            ScriptActionKind::Discard(actor),
            ScriptActionKind::Do(Operation::Act(actor, Action::Get)),
            ScriptActionKind::Edit(actor, edits.clone()),
        ] {
            let line = member.line;
            prepared.push(ScriptAction { line, what });
        }
        intents.push((actor, edits));
    }
    Ok((intents, prepared))
}

/// Choices of write methods, and the claimed results.
fn chosen(fields: &KnownKeys<'_>, key: &str) -> LessonResult<Vec<ChallengeCase>> {
    let chosen = fields.items(key)?.iter().map(|located| {
        let fields = KnownKeys::read(located, "a choice", &["say", "with", "found"])?;
        Ok(ChallengeCase {
            line: located.line,
            say: fields.needed_text("say")?,
            writes: ways(fields.needed("with")?)?,
            found: verdict_counts(fields.get("found"))?,
        })
    });
    chosen.collect()
}

fn verdict_counts(located: Option<&Located>) -> LessonResult<VerdictCounts> {
    let Some(located) = located else {
        return Ok(VerdictCounts::default());
    };
    let known = ["orders", "kept", "replaced", "left out", "refused", "lost"];
    let fields = KnownKeys::read(located, "what is found", &known)?;
    Ok(VerdictCounts {
        orders: fields.number("orders")?,
        kept: fields.number("kept")?,
        replaced: fields.number("replaced")?,
        left_out: fields.number("left out")?,
        refused: fields.number("refused")?,
        lost: fields.number("lost")?,
    })
}

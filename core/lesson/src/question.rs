//! The question that a lesson asks of every history of a controller.

use std::fmt;

use optimist_apiserver::yaml::{Content, Located};
use optimist_checker::{FieldOf, Goal, Safety};
use optimist_client::IntendedChange;
use optimist_controller::program::Kind;
use optimist_simulation::explore::{ControllerQuestion, ControllerSearch, Faults};
use optimist_simulation::{ActorId, World};
use serde_json::{Value, json};

use super::FieldPath;
use super::fields::{KnownKeys, LessonError, LessonResult, flag, items, members, number, text};
use super::property::known_kinds;
use super::script::{ACTORS, ScriptEdit, edits};

/// The search of a challenge stops after this many states.
pub(super) const MOST_STATES: usize = 20_000;

/// The properties of every history, and the events that can happen in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChallengeQuestion {
    /// The edits of each editor. An editor acts once: it reads the current object, edits it and
    /// sends an Update.
    pub editors: Vec<(ActorId, Vec<ScriptEdit>)>,
    /// The maximum number of times that each fault happens.
    pub faults: Faults,
    /// The properties of every state and every step.
    pub never: Vec<Forbidden>,
    /// `true` if every run must come to rest.
    pub settles: bool,
    /// The conditions at rest.
    pub at_rest: Vec<RestCondition>,
}

/// An event that no history may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// More than this number of objects of a kind.
    MoreThan(usize, String),
    /// A write that undoes an edit that its writer has not seen.
    LostEdit,
    /// An object of a kind is deleted while its owner lives.
    DeletedWhileOwnerLives(String),
    /// A finalizer is removed from an object of the current kind that is not being deleted.
    FinalizerRemoved(String),
}

/// A condition on the state at rest.
#[derive(Clone, Debug, PartialEq)]
pub enum RestCondition {
    /// This number of objects of a kind.
    Objects(usize, String),
    /// The current object has a value at a place.
    Stored(FieldPath, Value),
    /// Two fields of the current object are equal.
    Same(FieldPath, FieldPath),
    /// A list of the current object has a text.
    Contains(FieldPath, String),
}

impl ChallengeQuestion {
    /// Reads the members of a question.
    pub(super) fn read(located: &Located) -> LessonResult<Self> {
        Self::from_fields(&KnownKeys::read(
            located,
            "what is asked of every history",
            &Self::KEYS,
        )?)
    }

    /// The keys of its members.
    pub(super) const KEYS: [&str; 9] = [
        "editors",
        "restarts",
        "restarts behind",
        "expectations run out",
        "watches break",
        "compactions",
        "never",
        "settles",
        "at rest",
    ];

    pub(super) fn from_fields(fields: &KnownKeys<'_>) -> LessonResult<Self> {
        let few = |key: &str| -> LessonResult<u8> {
            let number = fields.number(key)?.unwrap_or(0);
            u8::try_from(number)
                .ok()
                .filter(|number| *number <= 3)
                .ok_or_else(|| LessonError::new(fields.line_of(key), "at most 3"))
        };
        let editors = fields
            .get("editors")
            .map_or(Ok(&[][..]), |it| members(it, "the editors"))?;
        let editors = editors.iter().map(|member| {
            let known = ACTORS.iter().take(2).find(|(name, _)| *name == member.key);
            let (_, actor) =
                known.ok_or_else(|| LessonError::new(member.line, "A or B is needed here"))?;
            Ok((*actor, edits(&member.value)?))
        });
        let at_rest = fields.get("at rest").map_or(Ok(Vec::new()), at_rest)?;
        let settles = fields
            .get("settles")
            .map_or(Ok(!at_rest.is_empty()), flag)?;
        Ok(Self {
            editors: editors.collect::<LessonResult<_>>()?,
            faults: Faults {
                restarts: few("restarts")?,
                lagging_lists: few("restarts behind")?,
                timeouts: few("expectations run out")?,
                broken_watches: few("watches break")?,
                compactions: few("compactions")?,
                ..Faults::default()
            },
            never: fields
                .items("never")?
                .iter()
                .map(forbidden)
                .collect::<LessonResult<_>>()?,
            settles,
            at_rest,
        })
    }

    /// The search of every history from a world, with a maximum number of states; `None` if the world has no controller or not the
    /// kinds that are named.
    pub fn search(&self, world: &World, most_states: usize) -> Option<ControllerSearch> {
        let object = world
            .stored()
            .map(|(_, object)| (**object).clone())
            .unwrap_or(json!({}));
        let resource = world.resource();
        let current = Kind::new(&resource.group_version.to_string(), &resource.kind);
        let field = |path: &FieldPath| {
            let mut made = object.clone();
            if path.find(&made).is_none() {
                path.set(&mut made, Value::Null);
            }
            Some(FieldOf {
                kind: current.clone(),
                name: world.subject().name().to_owned(),
                field: path.pointer(&made)?,
            })
        };
        let editors = self.editors.iter().map(|(actor, edits)| {
            let changes = edits.iter().map(|edit| {
                let value = edit.value.clone();
                Some(IntendedChange::at(&field(&edit.path)?.field, value))
            });
            Some(world.reads_and_changes(*actor, changes.collect::<Option<_>>()?))
        });
        let always = self
            .never
            .iter()
            .map(|forbidden| forbidden.safety(world, &current));
        let at_rest = self.at_rest.iter().map(|wish| {
            Some(match wish {
                RestCondition::Objects(number, kind) => Goal::Count(*number, kind_of(world, kind)?),
                RestCondition::Stored(path, value) => Goal::Equal(field(path)?, value.clone()),
                RestCondition::Same(a, b) => Goal::Same(field(a)?, field(b)?),
                RestCondition::Contains(path, text) => Goal::Contains(field(path)?, text.clone()),
            })
        });
        let question = ControllerQuestion {
            actors: editors.collect::<Option<_>>()?,
            faults: self.faults,
            always: always.collect::<Option<_>>()?,
            at_rest: at_rest.collect::<Option<_>>()?,
            settles: self.settles,
            own: None,
        };
        ControllerSearch::new(world, question, most_states)
    }
}

impl Forbidden {
    /// Returns it as a property of the search; `None` if the world does not have the kind.
    fn safety(&self, world: &World, current: &Kind) -> Option<Safety> {
        Some(match self {
            Self::MoreThan(most, kind) => Safety::AtMost(*most, kind_of(world, kind)?),
            Self::LostEdit => Safety::NoEditLost,
            Self::DeletedWhileOwnerLives(kind) => {
                Safety::NotDeletedWhileOwnerLives(kind_of(world, kind)?)
            }
            Self::FinalizerRemoved(finalizer) => {
                Safety::KeepsFinalizer(finalizer.clone(), current.clone())
            }
        })
    }
}

/// A kind that can be counted, by its name.
fn kind_of(world: &World, name: &str) -> Option<Kind> {
    world.has_controllers().then_some(())?;
    let mut kinds = known_kinds(world).into_iter();
    kinds.find(|kind| kind.kind == name)
}

fn forbidden(located: &Located) -> LessonResult<Forbidden> {
    let written = text(located)?;
    if written == "lost edit" {
        return Ok(Forbidden::LostEdit);
    }
    if let Some(kind) = written.strip_suffix(" deleted while its owner lives") {
        return Ok(Forbidden::DeletedWhileOwnerLives(kind.to_owned()));
    }
    let finalizer = written.strip_prefix("finalizer ");
    if let Some(finalizer) = finalizer.and_then(|rest| rest.strip_suffix(" removed")) {
        return Ok(Forbidden::FinalizerRemoved(finalizer.to_owned()));
    }
    let counted = written.strip_prefix("more than ").and_then(|rest| {
        let (number, kind) = rest.split_once(' ')?;
        Some(Forbidden::MoreThan(number.parse().ok()?, kind.to_owned()))
    });
    counted.ok_or_else(|| {
        let message = format!(
            "“{written}” cannot be asked. It may be: more than 1 ConfigMap; lost edit; ConfigMap \
             deleted while its owner lives; finalizer example.com/x removed"
        );
        LessonError::new(located.line, message)
    })
}

fn at_rest(located: &Located) -> LessonResult<Vec<RestCondition>> {
    let known = ["objects", "stored", "same", "contains"];
    let fields = KnownKeys::read(located, "what is true at rest", &known)?;
    let mut all = Vec::new();
    let pairs = |key: &str| {
        fields
            .get(key)
            .map_or(Ok(&[][..]), |it| members(it, "values"))
    };
    for member in pairs("objects")? {
        let number = usize::try_from(number(&member.value)?).unwrap_or(usize::MAX);
        all.push(RestCondition::Objects(number, member.key.clone()));
    }
    let place =
        |written: &str, line| FieldPath::parse(written).map_err(|why| LessonError::new(line, why));
    for member in pairs("stored")? {
        let path = place(&member.key, member.line)?;
        all.push(RestCondition::Stored(path, Value::from(&member.value)));
    }
    for member in pairs("contains")? {
        let path = place(&member.key, member.line)?;
        all.push(RestCondition::Contains(path, text(&member.value)?));
    }
    if let Some(same) = fields.get("same") {
        let [a, b] = items(same)? else {
            return Err(LessonError::new(same.line, "two places are needed here"));
        };
        let (a, b) = (place(&text(a)?, a.line)?, place(&text(b)?, b.line)?);
        all.push(RestCondition::Same(a, b));
    }
    match (&located.content, all.is_empty()) {
        (Content::Map(_), true) => Err(LessonError::new(
            located.line,
            "a condition is missing here",
        )),
        _ => Ok(all),
    }
}

impl fmt::Display for ChallengeQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = self.never.iter().map(Forbidden::to_string).collect();
        if self.settles {
            parts.push("every run comes to rest".to_owned());
        }
        parts.extend(self.at_rest.iter().map(|wish| format!("at rest {wish}")));
        f.write_str(&parts.join(", "))
    }
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MoreThan(most, kind) => write!(f, "there is never more than {most} {kind}"),
            Self::LostEdit => f.write_str("no edit is lost"),
            Self::DeletedWhileOwnerLives(kind) => {
                write!(f, "no {kind} is deleted while its owner lives")
            }
            Self::FinalizerRemoved(finalizer) => {
                write!(f, "the finalizer {finalizer} is not removed")
            }
        }
    }
}

impl fmt::Display for RestCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Objects(number, kind) => write!(f, "there is {number} {kind}"),
            Self::Stored(path, value) => write!(f, "{path} is {value}"),
            Self::Same(a, b) => write!(f, "{a} equals {b}"),
            Self::Contains(path, text) => write!(f, "{path} has {text}"),
        }
    }
}

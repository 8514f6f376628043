//! The controller of a lesson: in its start, and in the actions of a script.

use serde_json::Value;

use super::fields::{KnownKeys, LessonError, LessonResult, members, number, text, word};
use optimist_apiserver::yaml::{Content, Located};
use optimist_controller::ClientRelease;
use optimist_controller::program::{Kind, ReadyProgram, ReadyProgramName, Switch};
use optimist_simulation::{
    ActorId, ControllerOperation, ControllerProgram, ControllerStart, HistoryTree, Operation,
};

/// An action of a script on the controller. A cache is named by its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerAction {
    /// Each cache lists and opens its watch.
    Connect,
    /// The worker performs this number of steps.
    Steps(usize),
    /// The run goes on to its end. Without a run, the worker takes the next key first.
    Run,
    /// The worker runs until no key is left that it can take.
    RunAll,
    /// The next event reaches a cache.
    Deliver(String),
    /// Every event that is on its way reaches its cache.
    DeliverAll,
    /// The watch of a cache is dropped.
    DropWatch(String),
    /// The handlers get every object of a cache again.
    Resync(String),
    /// The process starts again. Its caches list and watch.
    Restart,
    /// The same, and a server that does not have the last write answers the first lists.
    RestartBehind,
    /// The next waiting key is added to the queue.
    Wake,
}

/// The actor that is the controller of a lesson.
pub(super) const CONTROLLER: ActorId = ActorId::C;

/// The most steps of one action.
const MOST_STEPS: usize = 200;

/// Reads the controller of a start: a ready program by its name, or a program that is written out.
pub(super) fn start(located: &Located) -> LessonResult<ControllerStart> {
    let written = members(located, "a controller")?;
    if written.iter().any(|member| member.key == "body") {
        let program = serde_json::from_value(Value::from(located));
        let program = program.map_err(|error| LessonError::new(located.line, error.to_string()))?;
        return Ok(ControllerStart::new(ControllerProgram::Written(program)));
    }
    let known = ["program", "switches", "parent", "child", "libraries"];
    let fields = KnownKeys::read(located, "a controller", &known)?;
    let name: ReadyProgramName = camel(fields.needed("program")?, "a ready program")?;
    let kind = |key: &str, usual: Kind| -> LessonResult<Kind> {
        let Some(located) = fields.get(key) else {
            return Ok(usual);
        };
        let written = text(located)?;
        let (api_version, kind) = written.rsplit_once(' ').ok_or_else(|| {
            LessonError::new(
                located.line,
                "apiVersion and kind are needed here: apps/v1 Deployment",
            )
        })?;
        Ok(Kind::new(api_version, kind))
    };
    let ready = ReadyProgram {
        name,
        parent: kind("parent", ReadyProgram::widget())?,
        child: kind("child", ReadyProgram::config_map())?,
        switches: switches(&fields, "switches", name)?.into_iter().collect(),
    };
    Ok(ControllerStart {
        release: fields
            .get("libraries")
            .map_or(Ok(ClientRelease::V1_36), libraries)?,
        ..ready.into()
    })
}

/// Reads the release of the libraries of a controller.
fn libraries(located: &Located) -> LessonResult<ClientRelease> {
    let known = [
        ("1.34", ClientRelease::V1_34),
        ("1.36", ClientRelease::V1_36),
    ];
    word(located, &known)
}

/// Reads the names of switches that a program has.
pub(super) fn switches(
    fields: &KnownKeys<'_>,
    key: &str,
    name: ReadyProgramName,
) -> LessonResult<Vec<Switch>> {
    let named = fields.items(key)?.iter().map(|located| {
        let switch: Switch = camel(located, "a switch")?;
        if !name.switches().contains(&switch) {
            let message = format!("the program has no switch “{}”", text(located)?);
            return Err(LessonError::new(located.line, message));
        }
        Ok(switch)
    });
    named.collect()
}

/// A name in words: `child maker`.
pub(super) fn camel<T: serde::de::DeserializeOwned>(
    located: &Located,
    what: &str,
) -> LessonResult<T> {
    let written = text(located)?;
    let mut words = written.split(' ');
    let mut name = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    serde_json::from_value(name.into())
        .map_err(|_| LessonError::new(located.line, format!("“{written}” is not {what}")))
}

impl ControllerAction {
    /// Reads an action.
    pub(super) fn read(located: &Located) -> LessonResult<Self> {
        if let Content::Scalar(..) = located.content {
            return match text(located)?.as_str() {
                "connect" => Ok(Self::Connect),
                "step" => Ok(Self::Steps(1)),
                "run" => Ok(Self::Run),
                "run all" => Ok(Self::RunAll),
                "deliver all" => Ok(Self::DeliverAll),
                "restart" => Ok(Self::Restart),
                "restart behind" => Ok(Self::RestartBehind),
                "wake" => Ok(Self::Wake),
                other => {
                    let message = format!(
                        "“{other}” is not what a controller does. It may be: connect, step, run, \
                         run all, deliver all, restart, restart behind, wake, or steps, deliver, drop watch, resync \
                         with a value"
                    );
                    Err(LessonError::new(located.line, message))
                }
            };
        }
        let known = ["steps", "deliver", "drop watch", "resync"];
        let fields = KnownKeys::read(located, "what a controller does", &known)?;
        let [member] = fields.members else {
            return Err(LessonError::new(located.line, "one action is needed here"));
        };
        let value = &member.value;
        Ok(match member.key.as_str() {
            "steps" => {
                let steps = usize::try_from(number(value)?).unwrap_or(usize::MAX);
                if steps > MOST_STEPS {
                    let message = format!("at most {MOST_STEPS} steps");
                    return Err(LessonError::new(value.line, message));
                }
                Self::Steps(steps)
            }
            "deliver" => Self::Deliver(text(value)?),
            "drop watch" => Self::DropWatch(text(value)?),
            _ => Self::Resync(text(value)?),
        })
    }

    /// Performs it; `None` if it is not possible now.
    pub(super) fn perform(&self, tree: &mut HistoryTree) -> Option<()> {
        let act = |tree: &mut HistoryTree, operation| {
            tree.act(Operation::Control(CONTROLLER, operation))
                .map(drop)
        };
        match self {
            Self::Connect => tree.connect_controller(CONTROLLER).map(drop),
            Self::Steps(steps) => {
                (0..*steps).try_for_each(|_| act(tree, ControllerOperation::Step))
            }
            Self::Run => tree.run_controller(CONTROLLER).map(drop),
            Self::RunAll => {
                tree.run_controller(CONTROLLER)?;
                let mut runs = 1;
                while runs < MOST_STEPS && tree.run_controller(CONTROLLER).is_some() {
                    runs += 1;
                }
                Some(())
            }
            Self::Deliver(kind) => {
                let cache = cache_of(tree, kind)?;
                act(tree, ControllerOperation::Deliver(cache))
            }
            Self::DeliverAll => {
                let caches = tree.world().controller(CONTROLLER)?.caches().len();
                for cache in 0..caches {
                    for _ in 0..MOST_STEPS {
                        if act(tree, ControllerOperation::Deliver(cache)).is_none() {
                            break;
                        }
                    }
                }
                Some(())
            }
            Self::DropWatch(kind) => {
                let cache = cache_of(tree, kind)?;
                act(tree, ControllerOperation::DropWatch(cache))
            }
            Self::Resync(kind) => {
                let cache = cache_of(tree, kind)?;
                act(tree, ControllerOperation::Resync(cache))
            }
            Self::Restart => {
                act(tree, ControllerOperation::Restart)?;
                tree.connect_controller(CONTROLLER).map(drop)
            }
            Self::RestartBehind => tree.restart_behind(CONTROLLER).map(drop),
            Self::Wake => act(tree, ControllerOperation::Wake),
        }
    }
}

/// The number of the cache of a kind.
pub(super) fn cache_of(tree: &HistoryTree, kind: &str) -> Option<usize> {
    let caches = tree.world().controller(CONTROLLER)?.caches().iter();
    caches
        .enumerate()
        .find(|(_, cache)| cache.resource().kind == kind)
        .map(|(at, _)| at)
}

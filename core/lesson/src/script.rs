//! The actions of a lesson's steps, and their syntax.

use std::sync::Arc;

use serde_json::Value;

use super::FieldPath;
use super::controller::ControllerAction;
use super::fields::{KnownKeys, LessonError, LessonResult, members, number, text, word};
use optimist_apiserver::apply::Path;
use optimist_apiserver::yaml::{Content, Located, Member};
use optimist_client::{Declares, OnConflict, Strategy, Subresource, Write};
use optimist_simulation::{
    Action, ActorId, ByHand, HistoryTree, Operation, Preconditions, WatchAction,
};

/// An action.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptAction {
    /// Its line, counted from 1.
    pub line: usize,
    /// The actions.
    pub what: ScriptActionKind,
}

/// The kind of an action.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptActionKind {
    /// An actor changes values of its working copy. Not a step.
    Edit(ActorId, Vec<ScriptEdit>),
    /// An actor drops its edits. Not a step.
    Discard(ActorId),
    /// An actor selects its write method. Not a step.
    Choose(ActorId, Write),
    /// Selects another object. Not a step.
    Look {
        /// Its kind.
        kind: String,
        /// Its name.
        name: String,
    },
    /// An operation, which is a step.
    Do(Operation),
    /// The controller does something, in one or more steps.
    Control(ControllerAction),
}

/// One value that an actor changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptEdit {
    /// The path of the edited field.
    pub path: FieldPath,
    /// The new value; `None` to remove it.
    pub value: Option<Value>,
}

pub(super) const ACTORS: [(&str, ActorId); ActorId::ALL.len()] = [
    ("A", ActorId::A),
    ("B", ActorId::B),
    ("C", ActorId::C),
    ("D", ActorId::D),
    ("E", ActorId::E),
    ("F", ActorId::F),
];

pub(super) const STRATEGIES: [(&str, Strategy); 5] = [
    ("update", Strategy::Update),
    ("merge patch", Strategy::MergePatch),
    ("strategic merge patch", Strategy::StrategicMergePatch),
    ("json patch", Strategy::JsonPatch),
    ("apply", Strategy::Apply),
];

const WRITE: [&str; 12] = [
    "version",
    "test",
    "force",
    "declare",
    "dry run",
    "strict",
    "subresource",
    "manager",
    "body",
    "on conflict",
    "attempts",
    "edit",
];

/// Reads a list of actions. One item can have several actions: an edit and a send.
pub(super) fn actions(list: &[Located]) -> LessonResult<Vec<ScriptAction>> {
    let mut actions = Vec::new();
    for item in list {
        let [member] = members(item, "what happens")? else {
            let message = "one actor or one event per item: begin each with “- ”";
            return Err(LessonError::new(item.line, message));
        };
        let (line, value) = (member.line, &member.value);
        let actor = ACTORS.iter().find(|(name, _)| *name == member.key);
        if let Some((_, actor)) = actor {
            for what in actor_actions(*actor, value)? {
                actions.push(ScriptAction { line, what });
            }
            continue;
        }
        let what = match member.key.as_str() {
            "wait" => ScriptActionKind::Do(Operation::Wait(
                u32::try_from(number(value)?)
                    .map_err(|_| LessonError::new(line, "the wait is too long"))?,
            )),
            "compact" => ScriptActionKind::Do(word(
                value,
                &[
                    ("alone", Operation::Compact { restart: false }),
                    ("and restart", Operation::Compact { restart: true }),
                ],
            )?),
            "watch" => ScriptActionKind::Do(Operation::Watch(word(
                value,
                &[
                    ("open", WatchAction::Open(String::new())),
                    ("resume", WatchAction::Resume),
                    ("drop", WatchAction::Drop),
                    ("list", WatchAction::List),
                ],
            )?)),
            "controller" => ScriptActionKind::Control(ControllerAction::read(value)?),
            "look at" => {
                let text = text(value)?;
                let (kind, name) = text.split_once(' ').ok_or_else(|| {
                    LessonError::new(line, "kind and name are needed here: Deployment web")
                })?;
                ScriptActionKind::Look {
                    kind: kind.to_owned(),
                    name: name.to_owned(),
                }
            }
            other => {
                let message = format!(
                    "“{other}” is not an action. Actions: A to F, controller, look at, wait, compact, watch"
                );
                return Err(LessonError::new(line, message));
            }
        };
        actions.push(ScriptAction { line, what });
    }
    Ok(actions)
}

fn actor_actions(actor: ActorId, value: &Located) -> LessonResult<Vec<ScriptActionKind>> {
    if let Content::Scalar(..) = value.content {
        return Ok(vec![plain_action(actor, value)?]);
    }
    let act = |action| Ok(vec![ScriptActionKind::Do(Operation::Act(actor, action))]);
    let keys = members(value, "an actor's action")?;
    let has = |key: &str| keys.iter().any(|member| member.key == key);
    if has("request") {
        return act(Action::Request(by_hand(value)?));
    }
    if has("delete") {
        let fields = KnownKeys::read(value, "a delete", &["delete"])?;
        let asked = KnownKeys::read(fields.needed("delete")?, "a delete", &["uid", "version"])?;
        return act(Action::Delete(Preconditions {
            uid: asked.flag("uid")?.unwrap_or(false),
            resource_version: asked.flag("version")?.unwrap_or(false),
        }));
    }
    edit_and_send(actor, value)
}

/// An action that is one word.
fn plain_action(actor: ActorId, value: &Located) -> LessonResult<ScriptActionKind> {
    let act = |action| ScriptActionKind::Do(Operation::Act(actor, action));
    word(
        value,
        &[
            ("get", act(Action::Get)),
            ("create", act(Action::Create)),
            ("discard", ScriptActionKind::Discard(actor)),
            ("delete", act(Action::Delete(Preconditions::default()))),
            ("update", act(Action::Send(Write::default()))),
        ],
    )
}

/// An edit, and then a request with it, or only the choice of its write method.
fn edit_and_send(actor: ActorId, value: &Located) -> LessonResult<Vec<ScriptActionKind>> {
    let mut known = vec!["send", "choose"];
    known.extend(WRITE);
    let fields = KnownKeys::read(value, "an actor's action", &known)?;
    let mut whats = Vec::new();
    if let Some(edit) = fields.get("edit") {
        whats.push(ScriptActionKind::Edit(actor, edits(edit)?));
    }
    match (fields.get("send"), fields.get("choose")) {
        (Some(strategy), None) => {
            let send = Action::Send(write(strategy, &fields)?);
            whats.push(ScriptActionKind::Do(Operation::Act(actor, send)));
        }
        (None, Some(strategy)) => {
            whats.push(ScriptActionKind::Choose(actor, write(strategy, &fields)?))
        }
        (None, None) if whats.is_empty() || members(value, "an actor's action")?.len() > 1 => {
            let message = "“edit”, “send”, “choose”, “delete” or “request” is missing here";
            return Err(LessonError::new(value.line, message));
        }
        (None, None) => {}
        (Some(_), Some(_)) => {
            let message = "an actor either sends or only chooses how it would";
            return Err(LessonError::new(value.line, message));
        }
    }
    Ok(whats)
}

/// Reads paths and their new values; `~` removes.
pub(super) fn edits(value: &Located) -> LessonResult<Vec<ScriptEdit>> {
    let mut edits = Vec::new();
    for member in members(value, "an edit")? {
        let path =
            FieldPath::parse(&member.key).map_err(|why| LessonError::new(member.line, why))?;
        let value = Value::from(&member.value);
        edits.push(ScriptEdit {
            path,
            value: (!value.is_null()).then_some(value),
        });
    }
    Ok(edits)
}

/// A write method with its options.
pub(super) fn write(strategy: &Located, fields: &KnownKeys<'_>) -> LessonResult<Write> {
    let usual = Write::usual(word(strategy, &STRATEGIES)?);
    let subresource = fields.get("subresource").map(|value| {
        word(
            value,
            &[
                ("status", Subresource::Status),
                ("scale", Subresource::Scale),
            ],
        )
    });
    let declares = fields.get("declare").map(|value| {
        word(
            value,
            &[("edits", Declares::Edits), ("manifest", Declares::Manifest)],
        )
    });
    Ok(Write {
        declares: declares.transpose()?.unwrap_or_default(),
        subresource: subresource.transpose()?,
        send_resource_version: fields
            .flag("version")?
            .unwrap_or(usual.send_resource_version),
        test_values: fields.flag("test")?.unwrap_or(false),
        force: fields.flag("force")?.unwrap_or(false),
        dry_run: fields.flag("dry run")?.unwrap_or(false),
        is_strict: fields.flag("strict")?.unwrap_or(false),
        manager: fields.text("manager")?,
        on_conflict: on_conflict(fields)?,
        body: fields.get("body").map(body),
        ..usual
    })
}

fn on_conflict(fields: &KnownKeys<'_>) -> LessonResult<OnConflict> {
    type Made = fn(u8) -> OnConflict;
    let words: [(&str, Made); 3] = [
        ("give up", |_| OnConflict::GiveUp),
        ("read again", OnConflict::ReadAgain),
        ("resend", OnConflict::Resend),
    ];
    let Some(value) = fields.get("on conflict") else {
        return Ok(OnConflict::GiveUp);
    };
    let made = word(value, &words)?;
    let attempts = fields.number("attempts")?.unwrap_or(5);
    match u8::try_from(attempts) {
        Ok(attempts @ 1..=20) => Ok(made(attempts)),
        _ => Err(LessonError::new(value.line, "attempts must be 1 to 20")),
    }
}

/// A body: text as it is, a mapping or list as JSON.
fn body(value: &Located) -> String {
    match &value.content {
        Content::Scalar(Value::String(text), _) => text.clone(),
        _ => Value::from(value).to_string(),
    }
}

fn by_hand(value: &Located) -> LessonResult<ByHand> {
    let fields = KnownKeys::read(value, "a request", &["request", "type", "body"])?;
    let line = fields.needed_text("request")?;
    let (method, target) = line.split_once(' ').ok_or_else(|| {
        LessonError::new(value.line, "method and path are needed here: GET /api/v1/…")
    })?;
    if !ByHand::METHODS.contains(&method) {
        let known = ByHand::METHODS.join(", ");
        return Err(LessonError::new(
            value.line,
            format!("“{method}” is not a supported method: {known}"),
        ));
    }
    Ok(ByHand {
        method: method.to_owned(),
        target: target.trim().to_owned(),
        content_type: fields.text("type")?.unwrap_or_default(),
        body: fields.get("body").map(body).unwrap_or_default(),
    })
}

/// Reads the name of an actor.
pub(super) fn actor(member: &Member) -> LessonResult<ActorId> {
    let known = ACTORS.iter().find(|(name, _)| *name == member.key);
    known
        .map(|(_, actor)| *actor)
        .ok_or_else(|| LessonError::new(member.line, "A, B or C is needed here"))
}

/// Reads a mapping from actors.
pub(super) fn by_actor(value: &Located) -> LessonResult<Vec<(ActorId, &Located)>> {
    let members = members(value, "actors")?.iter();
    members
        .map(|member| Ok((actor(member)?, &member.value)))
        .collect()
}

/// Performs actions in their order.
///
/// # Errors
/// If one of them is not possible.
pub(super) fn perform(actions: &[ScriptAction], tree: &mut HistoryTree) -> LessonResult<()> {
    actions.iter().try_for_each(|action| action.perform(tree))
}

/// The write methods of A and B in a challenge's solution.
pub(super) fn ways(value: &Located) -> LessonResult<Vec<(ActorId, Write)>> {
    let mut ways = Vec::new();
    for member in members(value, "how they write")? {
        let actor = actor(member)?;
        let mut known = vec!["send"];
        known.extend(WRITE);
        let fields = KnownKeys::read(&member.value, "how an actor writes", &known)?;
        ways.push((actor, write(fields.needed("send")?, &fields)?));
    }
    Ok(ways)
}

impl ScriptEdit {
    /// Applies the edit to an object.
    pub(super) fn make(&self, object: &mut Value) {
        match &self.value {
            Some(value) => self.path.set(object, value.clone()),
            None => self.path.remove(object),
        }
    }
}

impl ScriptAction {
    /// Performs the action in the tree, and moves the tree to the result.
    ///
    /// # Errors
    /// If the action is not possible: the actor has no copy to edit or to send.
    pub fn perform(&self, tree: &mut HistoryTree) -> Result<(), LessonError> {
        let impossible = |message: &str| Err(LessonError::new(self.line, message));
        match &self.what {
            ScriptActionKind::Edit(actor, edits) => {
                let resource = Arc::clone(tree.world().resource());
                let copy = tree.world_mut().copy_mut(*actor);
                let Some(edited) = copy.edited() else {
                    return impossible("this actor has not read an object to edit");
                };
                let mut object = edited.as_ref().clone();
                for edit in edits {
                    // An edit to the present value is declared: an apply then contains the field.
                    let held =
                        edit.value.is_some() && edit.path.find(&object) == edit.value.as_ref();
                    edit.make(&mut object);
                    let pointer = edit.path.pointer(&object).filter(|_| held);
                    let field = pointer.and_then(|at| Path::at(&object, &at, &resource.root));
                    field.into_iter().for_each(|field| copy.declare(field));
                }
                copy.edit(object);
            }
            ScriptActionKind::Discard(actor) => tree.world_mut().copy_mut(*actor).discard(),
            ScriptActionKind::Choose(actor, write) => {
                tree.world_mut().actor_mut(*actor).set_write(write.clone());
            }
            ScriptActionKind::Look { kind, name } => {
                if !tree.world_mut().look_at(kind, name) {
                    return impossible("this lesson does not have that object");
                }
            }
            ScriptActionKind::Control(action) => {
                if action.perform(tree).is_none() {
                    return impossible("the controller cannot do this now");
                }
            }
            ScriptActionKind::Do(operation) => {
                if let Operation::Act(actor, Action::Send(write)) = operation {
                    // A body written by hand is for this request. The next request sends the edits.
                    let write = Write {
                        body: None,
                        ..write.clone()
                    };
                    tree.world_mut().actor_mut(*actor).set_write(write);
                }
                if tree.act(operation.clone()).is_none() {
                    return impossible(
                        "this action is not possible here: the actor may have nothing to send",
                    );
                }
            }
        }
        Ok(())
    }
}

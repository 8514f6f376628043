//! Actions, edits and write methods as short JSON. The keys are those of lessons, shortened.
//! Default values are left out. Every existing link contains these keys: add keys, never change
//! them.

use serde_json::{Map, Value, json};

use super::ShareError;
use optimist_apiserver::apply::{Path, Set, from_fields_v1, to_fields_v1};
use optimist_apiserver::object::text;
use optimist_client::ValueChange;
use optimist_client::{Declares, Lost, OnConflict, Strategy, Subresource, Write};
use optimist_simulation::{
    Action, ActorId, ByHand, ControllerOperation, Operation, Preconditions, WatchAction,
};

type LinkResult<T> = Result<T, ShareError>;

const NO_SUCH_OPERATION: ShareError = ShareError::Damaged("it has an unknown action");

const STRATEGIES: [(&str, Strategy); 5] = [
    ("u", Strategy::Update),
    ("m", Strategy::MergePatch),
    ("s", Strategy::StrategicMergePatch),
    ("j", Strategy::JsonPatch),
    ("a", Strategy::Apply),
];

fn code<T: Copy + PartialEq>(codes: &[(&'static str, T)], value: T) -> &'static str {
    let found = codes.iter().find(|(_, known)| *known == value);
    found.map_or("", |(code, _)| code)
}

fn meaning<T: Copy>(codes: &[(&'static str, T)], code: &str) -> LinkResult<T> {
    let found = codes.iter().find(|(known, _)| *known == code);
    found.map(|(_, value)| *value).ok_or(NO_SUCH_OPERATION)
}

pub(super) fn actor_code(actor: ActorId) -> &'static str {
    actor.letter()
}

fn actor(code: &str) -> LinkResult<ActorId> {
    let known = ActorId::ALL.into_iter();
    let mut known = known.filter(|actor| actor.letter() == code);
    known.next().ok_or(NO_SUCH_OPERATION)
}

fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// The maximum number of attempts.
const MAX_ATTEMPTS: u64 = 20;

pub(super) fn write_to_json(write: &Write) -> Value {
    let usual = Write::usual(write.strategy);
    let mut map = Map::new();
    map.insert("s".into(), code(&STRATEGIES, write.strategy).into());
    if let Some(subresource) = write.subresource {
        map.insert("to".into(), subresource.name().into());
    }
    if write.send_resource_version != usual.send_resource_version {
        map.insert("v".into(), write.send_resource_version.into());
    }
    for (key, on) in [
        ("t", write.test_values),
        ("f", write.force),
        ("all", write.declares == Declares::Manifest),
        ("d", write.dry_run),
        ("st", write.is_strict),
    ] {
        if on {
            map.insert(key.into(), true.into());
        }
    }
    for (key, text) in [("m", &write.manager), ("b", &write.body)] {
        if let Some(text) = text {
            map.insert(key.into(), text.as_str().into());
        }
    }
    if let Some((key, attempts)) = attempts_to_json(write.on_conflict) {
        map.insert(key.into(), attempts.into());
    }
    Value::Object(map)
}

/// The reaction to a conflict, as a key and a number of attempts. `None` if it gives up.
fn attempts_to_json(on_conflict: OnConflict) -> Option<(&'static str, u8)> {
    match on_conflict {
        OnConflict::GiveUp => None,
        OnConflict::ReadAgain(attempts) => Some(("ra", attempts)),
        OnConflict::Resend(attempts) => Some(("rs", attempts)),
    }
}

fn attempts_from_json(value: &Value) -> OnConflict {
    let attempts = |key: &str| {
        let attempts = value.get(key)?.as_u64()?.clamp(1, MAX_ATTEMPTS);
        u8::try_from(attempts).ok()
    };
    match (attempts("ra"), attempts("rs")) {
        (Some(attempts), _) => OnConflict::ReadAgain(attempts),
        (None, Some(attempts)) => OnConflict::Resend(attempts),
        (None, None) => OnConflict::GiveUp,
    }
}

pub(super) fn write_from_json(value: &Value) -> LinkResult<Write> {
    let strategy = meaning(&STRATEGIES, text(value, "s"))?;
    let usual = Write::usual(strategy);
    let words = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    Ok(Write {
        strategy,
        subresource: match text(value, "to") {
            "" => None,
            "status" => Some(Subresource::Status),
            "scale" => Some(Subresource::Scale),
            _ => return Err(NO_SUCH_OPERATION),
        },
        send_resource_version: value
            .get("v")
            .and_then(Value::as_bool)
            .unwrap_or(usual.send_resource_version),
        test_values: flag(value, "t"),
        force: flag(value, "f"),
        declares: if flag(value, "all") {
            Declares::Manifest
        } else {
            Declares::Edits
        },
        dry_run: flag(value, "d"),
        is_strict: flag(value, "st"),
        manager: words("m"),
        body: words("b"),
        on_conflict: attempts_from_json(value),
    })
}

/// An operation with its actor; the actor is empty if the operation has none.
pub(super) fn operation_to_json(operation: &Operation) -> (Value, &'static str) {
    match operation {
        Operation::Act(actor, action) => (action_to_json(action), actor_code(*actor)),
        Operation::Watch(WatchAction::Open(version)) => (json!({"o": version}), ""),
        Operation::Watch(WatchAction::Resume) => ("or".into(), ""),
        Operation::Watch(WatchAction::Drop) => ("od".into(), ""),
        Operation::Watch(WatchAction::List) => ("ol".into(), ""),
        Operation::Compact { restart } => (json!({"k": restart}), ""),
        Operation::Wait(seconds) => (json!({"w": seconds}), ""),
        // Links of older versions have one controller, which is C.
        Operation::Control(ActorId::C, operation) => (controller_to_json(*operation), ""),
        Operation::Control(actor, operation) => {
            (controller_to_json(*operation), actor_code(*actor))
        }
    }
}

pub(super) fn operation_from_json(value: &Value, who: &str) -> LinkResult<Operation> {
    let of_controller = controller_from_json(value);
    if !who.is_empty() {
        let who = actor(who)?;
        return match of_controller {
            Some(operation) => Ok(Operation::Control(who, operation)),
            None => Ok(Operation::Act(who, action_from_json(value)?)),
        };
    }
    if let Some(operation) = of_controller {
        return Ok(Operation::Control(ActorId::C, operation));
    }
    if let Some(word) = value.as_str() {
        return Ok(Operation::Watch(match word {
            "or" => WatchAction::Resume,
            "od" => WatchAction::Drop,
            "ol" => WatchAction::List,
            _ => return Err(NO_SUCH_OPERATION),
        }));
    }
    if let Some(version) = value.get("o").and_then(Value::as_str) {
        return Ok(Operation::Watch(WatchAction::Open(version.to_owned())));
    }
    if let Some(restart) = value.get("k").and_then(Value::as_bool) {
        return Ok(Operation::Compact { restart });
    }
    let seconds = value.get("w").and_then(Value::as_u64);
    let seconds = seconds.and_then(|seconds| u32::try_from(seconds).ok());
    seconds.map(Operation::Wait).ok_or(NO_SUCH_OPERATION)
}

fn controller_to_json(operation: ControllerOperation) -> Value {
    use ControllerOperation as C;
    match operation {
        C::Connect(cache) => json!({"cc": cache}),
        C::ListBehind(cache) => json!({"cl": cache}),
        C::Deliver(cache) => json!({"cd": cache}),
        C::DropWatch(cache) => json!({"cx": cache}),
        C::Resync(cache) => json!({"cy": cache}),
        C::Step => "cs".into(),
        C::StepLosing(Lost::Answer) => "csa".into(),
        C::StepLosing(Lost::Request) => "csr".into(),
        C::Restart => "cr".into(),
        C::Wake => "cw".into(),
    }
}

/// The operation of a controller. `None` if it is none: no action of an actor has one of these words and
/// keys.
fn controller_from_json(value: &Value) -> Option<ControllerOperation> {
    use ControllerOperation as C;
    if let Some(word) = value.as_str() {
        return Some(match word {
            "cs" => C::Step,
            "csa" => C::StepLosing(Lost::Answer),
            "csr" => C::StepLosing(Lost::Request),
            "cr" => C::Restart,
            "cw" => C::Wake,
            _ => return None,
        });
    }
    let of_cache = |key: &str, operation: fn(usize) -> C| {
        let cache = value.get(key)?.as_u64()?;
        Some(operation(usize::try_from(cache).ok()?))
    };
    of_cache("cc", C::Connect)
        .or_else(|| of_cache("cl", C::ListBehind))
        .or_else(|| of_cache("cd", C::Deliver))
        .or_else(|| of_cache("cx", C::DropWatch))
        .or_else(|| of_cache("cy", C::Resync))
}

fn action_to_json(action: &Action) -> Value {
    match action {
        Action::Get => "g".into(),
        Action::GetScale => "gs".into(),
        Action::Send(write) => write_to_json(write),
        Action::Create => "c".into(),
        Action::Delete(delete) if *delete == Preconditions::default() => "d".into(),
        Action::Delete(delete) => json!({"d": [delete.uid, delete.resource_version]}),
        Action::DeleteRetrying(delete, on_conflict) => {
            let mut retrying = json!({"d": [delete.uid, delete.resource_version]});
            if let Some((key, attempts)) = attempts_to_json(*on_conflict) {
                retrying[key] = attempts.into();
            }
            retrying
        }
        Action::Request(by_hand) => json!({"r": [
            by_hand.method, by_hand.target, by_hand.content_type, by_hand.body
        ]}),
    }
}

fn action_from_json(value: &Value) -> LinkResult<Action> {
    if let Some(word) = value.as_str() {
        return match word {
            "g" => Ok(Action::Get),
            "gs" => Ok(Action::GetScale),
            "c" => Ok(Action::Create),
            "d" => Ok(Action::Delete(Preconditions::default())),
            _ => Err(NO_SUCH_OPERATION),
        };
    }
    if let Some(delete) = value.get("d").and_then(Value::as_array) {
        let at = |i: usize| delete.get(i).and_then(Value::as_bool).unwrap_or(false);
        let preconditions = Preconditions {
            uid: at(0),
            resource_version: at(1),
        };
        return Ok(match attempts_from_json(value) {
            OnConflict::GiveUp => Action::Delete(preconditions),
            on_conflict => Action::DeleteRetrying(preconditions, on_conflict),
        });
    }
    if let Some(request) = value.get("r").and_then(Value::as_array) {
        let at = |i: usize| {
            let part = request.get(i).and_then(Value::as_str);
            part.unwrap_or_default().to_owned()
        };
        // Only the methods that the page offers, because a method becomes part of commands that
        // people run.
        if !ByHand::METHODS.contains(&at(0).as_str()) {
            return Err(NO_SUCH_OPERATION);
        }
        return Ok(Action::Request(ByHand {
            method: at(0),
            target: at(1),
            content_type: at(2),
            body: at(3),
        }));
    }
    write_from_json(value).map(Action::Send)
}

/// The edits: paths (RFC 6901) with new values; a path alone for a removed value.
pub(super) fn edits_to_json(edits: &[ValueChange]) -> Value {
    let edits = edits.iter().map(|edit| match &edit.after {
        Some(value) => json!([edit.pointer, value]),
        None => json!([edit.pointer]),
    });
    edits.collect()
}

/// Unchanged fields that an apply declares, in the syntax of `managedFields`.
pub(super) fn declared_to_json(declared: &[Path]) -> Value {
    let mut set = Set::default();
    declared.iter().for_each(|field| set.insert(field));
    to_fields_v1(&set)
}

/// The reverse; texts that are not such fields are left out.
pub(super) fn declared_from_json(fields: &Value) -> Vec<Path> {
    from_fields_v1(fields).map_or_else(Vec::new, |set| set.paths())
}

/// Applies the edits that fit to the object.
pub(super) fn edited(object: &Value, edits: &Value) -> Value {
    let mut object = object.clone();
    let mut gone = Vec::new();
    for edit in edits.as_array().into_iter().flatten() {
        let Some(pointer) = edit.get(0).and_then(Value::as_str) else {
            continue;
        };
        match edit.get(1) {
            Some(value) => put(&mut object, pointer, value),
            None => gone.push(pointer),
        }
    }
    // Removed items are at the end of their list, so the last one is removed first.
    for pointer in gone.into_iter().rev() {
        remove(&mut object, pointer);
    }
    object
}

fn parent<'a>(object: &'a mut Value, pointer: &str) -> Option<(&'a mut Value, String)> {
    let (parent, last) = pointer.rsplit_once('/')?;
    let last = optimist_apiserver::pointer::unescape(last);
    Some((object.pointer_mut(parent)?, last))
}

fn put(object: &mut Value, pointer: &str, value: &Value) {
    match parent(object, pointer) {
        Some((Value::Object(map), key)) => {
            map.insert(key, value.clone());
        }
        Some((Value::Array(items), i)) => match i.parse::<usize>() {
            Ok(i) if i < items.len() => items[i] = value.clone(),
            Ok(i) if i == items.len() => items.push(value.clone()),
            _ => {}
        },
        Some(_) => {}
        None if pointer.is_empty() => *object = value.clone(),
        None => {}
    }
}

/// Removes the value at a JSON pointer, if there is one.
fn remove(object: &mut Value, pointer: &str) {
    match parent(object, pointer) {
        Some((Value::Object(map), key)) => {
            map.remove(&key);
        }
        Some((Value::Array(items), i)) => {
            if let Ok(i) = i.parse::<usize>()
                && i < items.len()
            {
                items.remove(i);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_client::changes;

    #[test]
    fn edits_are_made_again_as_they_were() {
        let read = json!({"a": [1, 2, 3], "b/c": {"x": 1}, "d": [{"n": 1}], "e": 1});
        let wanted = json!({"a": [1], "b/c": {"y": null}, "d": [{"n": 2}, {"n": 3}, 4], "e": {}});
        let edits = edits_to_json(&changes(&read, &wanted));
        assert_eq!(edited(&read, &edits), wanted);
    }
}

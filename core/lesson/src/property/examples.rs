//! Examples of properties for a scenario: they name fields that its actors change.

use optimist_apiserver::apply::{Path, PathElement, differing, merge};
use optimist_client::{Intent, bare};
use optimist_simulation::explore::{HistoryProperty, ObjectCondition, Scenario, StoredObjects};
use optimist_simulation::{ActorId, World};
use serde_json::Value;

use super::{parse_controller_property, parse_property, watched_kinds};
use crate::FieldPath;

/// A field that an actor changes, and its value after the edit.
struct Changed {
    path: FieldPath,
    after: Option<Value>,
    /// The item that the edit adds, if the field is a list of texts.
    added: Option<String>,
}

/// Returns properties of a scenario, each as a text that is a property of it. `masked` replaces the
/// values that are not shown: no example has one.
pub fn example_properties(scenario: &Scenario, masked: fn(&Value) -> Value) -> Vec<String> {
    let mut examples = vec!["never: [lost edit]".to_owned()];
    let (object, root) = (scenario.object.as_ref(), &scenario.resource.root);
    let edited = scenario.plans.iter().map(|plan| match &plan.intent {
        Intent::Manifest(manifest) => merge(object, &bare(manifest), root),
        intent => intent.done_on(object),
    });
    let edited: Vec<Value> = edited.collect();
    let changed = edited
        .iter()
        .flat_map(|edited| changes(scenario, edited, masked));
    let changed: Vec<Changed> = changed.collect();
    let bounds = changed.iter().filter_map(|it| bound(it, object, &edited));
    examples.extend(bounds.take(1));
    let values = changed.iter().filter_map(|it| value(it, object, &edited));
    examples.extend(values.take(1));
    if examples.len() == 1 {
        examples.push("at rest: {exists: yes}".to_owned());
    }
    examples.push("before: [A writes, B reads]".to_owned());
    examples
}

/// Returns properties of the search of a controller's orders from a world, each as a text that is a property
/// of it. `masked` replaces the values that are not shown: no example has one.
pub fn example_controller_properties(world: &World, masked: fn(&Value) -> Value) -> Vec<String> {
    let mut examples = Vec::new();
    let current = &world.resource().kind;
    let mut watched = watched_kinds(world).map(|it| &it.kind);
    if let Some(child) = watched.find(|kind| *kind != current) {
        examples.push(format!("never: [more than 1 {child}]"));
        examples.push(format!("at rest: {{objects: {{{child}: 1}}}}"));
    }
    let stored = world.stored().map(|(_, object)| object);
    let spec = stored.and_then(|object| {
        let shown = masked(object);
        Some((object.get("spec")?.as_object()?, shown.get("spec")?.clone()))
    });
    let number = spec.and_then(|(spec, shown)| {
        let mut numbers = spec.iter().filter_map(|(name, value)| {
            let number = value.as_i64().filter(|_| shown.get(name) == Some(value))?;
            FieldPath::parse(&format!("spec.{name}")).ok()?;
            Some(format!(
                "always: {{stored: {{spec.{name}: at most {number}}}}}"
            ))
        });
        numbers.next()
    });
    examples.extend(number);
    examples.extend(["settles: yes", "never: [lost edit]"].map(str::to_owned));
    let controller = world.controllers().next();
    examples.extend(controller.map(|(id, _)| format!("before: [{} reads, A writes]", id.letter())));
    examples.retain(|text| parse_controller_property(text, world, None).is_ok());
    examples
}

/// The fields with a text, a number or a flag, and the lists of texts, that an edit changes.
fn changes(scenario: &Scenario, edited: &Value, masked: fn(&Value) -> Value) -> Vec<Changed> {
    let object = scenario.object.as_ref();
    let shown = masked(edited);
    let mut found = Vec::new();
    for path in differing(object, edited, &scenario.resource.root) {
        let mut elements = path.0.as_slice();
        // The item of a list of texts that is compared item by item: the list is the field.
        if let Some((PathElement::Value(_), list)) = elements.split_last() {
            elements = list;
        }
        let place = Path(elements.to_vec());
        let after = place.find(edited);
        if after != place.find(&shown) {
            continue;
        }
        if let Some(text) = text_of(elements) {
            leaves(&text, after, place.find(object), &mut found);
        }
    }
    found
}

/// Collects the fields of a value below a path.
fn leaves(path: &str, after: Option<&Value>, before: Option<&Value>, into: &mut Vec<Changed>) {
    if after == before {
        return;
    }
    let added = match after {
        Some(Value::Object(members)) => {
            for (name, member) in members {
                let path = format!("{path}{}", step(name));
                leaves(
                    &path,
                    Some(member),
                    before.and_then(|it| it.get(name)),
                    into,
                );
            }
            return;
        }
        Some(Value::Array(items)) => {
            let known = before.and_then(Value::as_array);
            let is_new = |item: &&Value| known.is_none_or(|known| !known.contains(item));
            let mut texts = items.iter().filter(is_new).filter_map(Value::as_str);
            match texts.next() {
                Some(text) => Some(text.to_owned()),
                None => return,
            }
        }
        _ => None,
    };
    if let Ok(path) = FieldPath::parse(path.trim_start_matches('.')) {
        let after = after.cloned();
        into.push(Changed { path, after, added });
    }
}

/// A step of a path to a member.
fn step(name: &str) -> String {
    match name.contains(['.', '[', ']', '/']) {
        true => format!("[\"{name}\"]"),
        false => format!(".{name}"),
    }
}

/// A path in the syntax of lessons; `None` if it has no such form.
fn text_of(path: &[PathElement]) -> Option<String> {
    let steps = path.iter().map(|element| match element {
        PathElement::Field(name) => Some(step(name)),
        PathElement::Index(at) => Some(format!("[{at}]")),
        PathElement::Key(fields) => match fields.first()? {
            (key, Value::String(value)) => Some(format!("[{key}={value}]")),
            (key, Value::Number(value)) => Some(format!("[{key}={value}]")),
            _ => None,
        },
        PathElement::Value(_) => None,
    });
    steps.collect()
}

/// An upper bound of a number, which the start and each edit keep.
fn bound(changed: &Changed, object: &Value, edited: &[Value]) -> Option<String> {
    changed.after.as_ref()?.as_i64()?;
    let values = edited.iter().chain([object]);
    let numbers = values.filter_map(|it| changed.path.find(it)?.as_i64());
    let most = numbers.max()?;
    let written = |path: &str| format!("always: {{stored: {{{path}: at most {most}}}}}");
    let holds = |text: &str| edited.iter().all(|it| holds(text, it));
    each_quote(&changed.path)
        .map(|path| written(&path))
        .find(|text| holds(text))
}

/// The value of a field after an edit, which it does not have at the start.
fn value(changed: &Changed, object: &Value, edited: &[Value]) -> Option<String> {
    let (asks, wanted) = match (&changed.added, &changed.after) {
        (Some(text), _) => ("contains", Value::from(text.as_str())),
        (None, Some(value)) => ("stored", value.clone()),
        (None, None) => ("stored", Value::Null),
    };
    let plain = wanted.as_str().map(str::to_owned);
    let plain =
        plain.filter(|text| !text.trim().is_empty() && !text.contains(['{', '}', ',', '\n']));
    let written = plain.into_iter().chain([wanted.to_string()]);
    let written: Vec<String> = written.collect();
    let texts = each_quote(&changed.path).flat_map(|path| {
        let written = written.clone().into_iter();
        written.map(move |value| format!("at rest: {{{asks}: {{{path}: {value}}}}}"))
    });
    let mut texts = texts.filter(|text| !holds(text, object));
    texts.find(|text| edited.iter().any(|it| holds(text, it)))
}

/// A path as a key of YAML: without quotes, and in quotes.
fn each_quote(path: &FieldPath) -> impl Iterator<Item = String> {
    let quoted = format!("'{}'", path.to_string().replace('\'', "''"));
    [path.to_string(), quoted].into_iter()
}

/// Returns whether a text is a property whose condition holds for an object.
fn holds(text: &str, object: &Value) -> bool {
    match parse_property(text, &ActorId::EDITORS) {
        Ok(HistoryProperty::Always(condition) | HistoryProperty::AtRest(condition)) => {
            condition.holds(StoredObjects::One(Some(object)))
        }
        _ => false,
    }
}

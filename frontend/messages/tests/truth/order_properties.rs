//! The properties of the search of every order, judged by the objects of a moment and of the one before it.

use std::collections::BTreeSet;

use optimist_apiserver::object::{Metadata, text};
use optimist_simulation::{ActorId, HistoryTree, World};
use serde_json::Value;

use crate::moment::Moment;
use crate::said::{self, Said};

/// The objects that a server has.
fn objects(world: &World) -> Vec<&Value> {
    let all = world.server().store().range("/registry/");
    all.map(|(_, _, object)| &**object).collect()
}

fn of_kind<'a>(world: &'a World, kind: &str) -> Vec<&'a Value> {
    let mut all = objects(world);
    all.retain(|object| text(object, "kind") == kind);
    all
}

/// Returns whether a step breaks a safety property, from what is stored before and after it.
pub fn breaks(property: &Said, before: &World, tree: &HistoryTree) -> Option<bool> {
    let after = tree.world();
    Some(match property.name() {
        "orders_at_most" => {
            let kind = property.text("kind");
            of_kind(after, &kind).len() as u64 > property.number("count")?
        }
        "orders_owner_lives" => {
            let uids: BTreeSet<&str> = objects(after).into_iter().map(Metadata::uid).collect();
            of_kind(before, &property.text("kind"))
                .into_iter()
                .any(|object| {
                    let owners = object["metadata"]["ownerReferences"].as_array();
                    let lives = owners
                        .into_iter()
                        .flatten()
                        .any(|owner| uids.contains(text(owner, "uid")));
                    !uids.contains(object.uid()) && lives
                })
        }
        "orders_keeps_finalizer" => {
            let finalizer = property.text("finalizer");
            let has = |object: &&Value| {
                let all = object["metadata"]["finalizers"].as_array();
                all.into_iter().flatten().any(|it| *it == *finalizer)
            };
            let kept: BTreeSet<&str> = objects(after)
                .into_iter()
                .filter(has)
                .map(Metadata::uid)
                .collect();
            let mut had = objects(before).into_iter().filter(has);
            had.any(|object| !kept.contains(object.uid()))
        }
        "orders_no_edit_lost" => {
            let subjects: Vec<_> = after.subjects().cloned().collect();
            subjects.into_iter().any(|subject| {
                let mut moment = Moment::current(tree, ActorId::C);
                moment.object = subject;
                moment.judge().gone().iter().any(|gone| !gone.shown)
            })
        }
        _ => return None,
    })
}

/// Returns whether what is wished of the end is so.
pub fn wished(wishes: &Said, world: &World) -> Option<bool> {
    if wishes.name() == "orders_rests" {
        return Some(true);
    }
    let parts = said::all(wishes.parts("wish"));
    let mut true_so_far = true;
    for wish in parts {
        let value = |argument: &str| {
            let named = wish.text(argument);
            let (kind, path) = named.split_once(' ')?;
            let object = of_kind(world, kind).into_iter().next()?;
            object
                .pointer(&format!("/{}", path.replace('.', "/")))
                .cloned()
        };
        let plain = |value: Option<Value>| match value {
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
            None => String::new(),
        };
        true_so_far &= match wish.name() {
            "orders_wish_count" => {
                of_kind(world, &wish.text("kind")).len() as u64 == wish.number("count")?
            }
            "orders_wish_count_is" => {
                let count = of_kind(world, &wish.text("kind")).len();
                value("field").is_none_or(|field| field == count)
            }
            "orders_wish_equal" => plain(value("field")) == wish.text("value").trim_matches('"'),
            "orders_wish_same" => plain(value("first")) == plain(value("second")),
            "orders_wish_contains" => plain(value("field")).contains(&wish.text("text")),
            _ => return None,
        };
    }
    Some(true_so_far)
}

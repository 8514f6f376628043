//! Functions of lists: those of Kubernetes and of cel-go, and sets
//! (`k8s.io/apiserver/pkg/cel/library/lists.go`, v1.36; `cel-go/ext/lists.go`, `ext/sets.go`).

use std::cmp::Ordering;
use std::rc::Rc;

use super::super::evaluate::{Evaluated, EvaluationError, Machine};
use super::super::value::{MapKey, Val};
use super::operators;

pub(super) fn apply(machine: &Machine, function: &str, args: &[Val]) -> Option<Evaluated> {
    Some(match (function, args) {
        ("isSorted", [Val::List(list)]) => Ok(Val::Bool(is_sorted(&list.items))),
        ("sum", [Val::List(list)]) => sum(&list.items),
        ("max", [Val::List(list)]) => extreme(&list.items, "max", Ordering::Less),
        ("min", [Val::List(list)]) => extreme(&list.items, "min", Ordering::Greater),
        ("indexOf", [Val::List(list), item]) => {
            Ok(index(list.items.iter().position(|it| it.equals(item))))
        }
        ("lastIndexOf", [Val::List(list), item]) => {
            Ok(index(list.items.iter().rposition(|it| it.equals(item))))
        }
        ("slice", [Val::List(list), Val::Int(start), Val::Int(end)]) => {
            slice(&list.items, *start, *end)
        }
        ("flatten", [Val::List(list)]) => flattened(&list.items, 1),
        ("flatten", [Val::List(list), Val::Int(depth)]) => flattened(&list.items, *depth),
        ("sort", [Val::List(list)]) => sorted(&list.items, &list.items),
        ("@sortByAssociatedKeys", [Val::List(list), Val::List(keys)]) => {
            sorted(&list.items, &keys.items)
        }
        ("reverse", [Val::List(list)]) => Ok(Val::list(list.items.iter().rev().cloned().collect())),
        ("distinct", [Val::List(list)]) => {
            let mut found: Vec<Val> = Vec::new();
            for item in &list.items {
                if !found.iter().any(|it| it.equals(item)) {
                    found.push(item.clone());
                }
            }
            Ok(Val::list(found))
        }
        ("lists.range", [Val::Int(count)]) => range(machine, *count),
        ("sets.contains", [Val::List(all), Val::List(some)]) => {
            Ok(Val::Bool(contains(&all.items, &some.items)))
        }
        ("sets.equivalent", [Val::List(one), Val::List(other)]) => Ok(Val::Bool(
            contains(&one.items, &other.items) && contains(&other.items, &one.items),
        )),
        ("sets.intersects", [Val::List(one), Val::List(other)]) => {
            let has = |item: &Val| other.items.iter().any(|it| it.equals(item));
            Ok(Val::Bool(one.items.iter().any(has)))
        }
        ("cel.@mapInsert", [Val::Map(map), rest @ ..]) => insert(map, rest),
        _ => return None,
    })
}

fn index(found: Option<usize>) -> Val {
    Val::Int(found.map_or(-1, |index| index as i64))
}

fn is_sorted(items: &[Val]) -> bool {
    let mut pairs = items.windows(2);
    pairs.all(|pair| pair[0].compare(&pair[1]) != Some(Ordering::Greater))
}

fn sum(items: &[Val]) -> Evaluated {
    let zero = match items.first() {
        None | Some(Val::Int(_)) => Val::Int(0),
        Some(Val::Uint(_)) => Val::Uint(0),
        Some(Val::Double(_)) => Val::Double(0.0),
        Some(Val::Duration(_)) => Val::Duration(0),
        Some(_) => return Err(EvaluationError::no_overload()),
    };
    let add = |sum: Val, item: &Val| operators::apply("_+_", &[sum, item.clone()]);
    items.iter().try_fold(zero, add)
}

/// The item that another one is never to be preferred to.
fn extreme(items: &[Val], function: &str, worse: Ordering) -> Evaluated {
    let best = items.iter().reduce(|best, item| {
        if best.compare(item) == Some(worse) {
            item
        } else {
            best
        }
    });
    let empty = || EvaluationError::new(format!("{function} called on empty list"));
    best.cloned().ok_or_else(empty)
}

fn slice(items: &[Val], start: i64, end: i64) -> Evaluated {
    let wrong = |why: String| EvaluationError::new(format!("cannot slice({start}, {end}), {why}"));
    if start < 0 || end < 0 {
        return Err(wrong("negative indexes not supported".to_owned()));
    }
    if start > end {
        let why = "start index must be less than or equal to end index";
        return Err(wrong(why.to_owned()));
    }
    let found = items.get(start as usize..end as usize);
    match found {
        Some(items) => Ok(Val::list(items.to_vec())),
        None => Err(wrong(format!("list is length {}", items.len()))),
    }
}

fn flattened(items: &[Val], depth: i64) -> Evaluated {
    if depth < 0 {
        return Err(EvaluationError::new("level must be non-negative"));
    }
    let mut flat = Vec::new();
    flatten(items, depth, &mut flat);
    Ok(Val::list(flat))
}

fn flatten(items: &[Val], depth: i64, flat: &mut Vec<Val>) {
    for item in items {
        match item {
            Val::List(list) if depth > 0 => flatten(&list.items, depth - 1, flat),
            item => flat.push(item.clone()),
        }
    }
}

fn sorted(items: &[Val], keys: &[Val]) -> Evaluated {
    if items.len() != keys.len() {
        return Err(EvaluationError::new(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, \
             but got {} and {} elements respectively",
            items.len(),
            keys.len()
        )));
    }
    let Some(first) = keys.first() else {
        return Ok(Val::list(Vec::new()));
    };
    if keys.iter().any(|key| key.type_name() != first.type_name()) {
        return Err(EvaluationError::new(
            "list elements must have the same type",
        ));
    }
    if first.compare(first).is_none() && !matches!(first, Val::Double(_)) {
        return Err(EvaluationError::new("list elements must be comparable"));
    }
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|one, other| {
        let order = keys[*one].compare(&keys[*other]);
        order.unwrap_or(Ordering::Equal)
    });
    Ok(Val::list(
        order.into_iter().map(|i| items[i].clone()).collect(),
    ))
}

fn range(machine: &Machine, count: i64) -> Evaluated {
    let count = count.max(0);
    // The items cost as much as there are: too many are refused before they are made.
    machine.room_for(count as u64)?;
    Ok(Val::list((0..count).map(Val::Int).collect()))
}

fn contains(all: &[Val], some: &[Val]) -> bool {
    some.iter().all(|item| all.iter().any(|it| it.equals(item)))
}

fn insert(map: &Rc<std::collections::BTreeMap<MapKey, Val>>, rest: &[Val]) -> Evaluated {
    let mut map = (**map).clone();
    let mut add = |key: MapKey, value: &Val| {
        if map.contains_key(&key) {
            let shown = match &key {
                MapKey::Text(text) => text.to_string(),
                MapKey::Int(value) => value.to_string(),
                MapKey::Uint(value) => value.to_string(),
                MapKey::Bool(value) => value.to_string(),
            };
            return Err(EvaluationError::new(format!(
                "insert failed: key {shown} already exists"
            )));
        }
        map.insert(key, value.clone());
        Ok(())
    };
    match rest {
        [key, value] => {
            let key = MapKey::from_value(key)
                .ok_or_else(|| EvaluationError::new("unsupported key type"))?;
            add(key, value)?;
        }
        [Val::Map(more)] => {
            for (key, value) in more.iter() {
                add(key.clone(), value)?;
            }
        }
        _ => return Err(EvaluationError::no_overload()),
    }
    Ok(Val::Map(Rc::new(map)))
}

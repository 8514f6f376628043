//! The cases that objects and versions belong to.

use optimist_apiserver::object::Metadata;
use serde_json::Value;

use super::{Case, ObjectId};
use crate::observed::ObservedVersion;

/// Adds versions to the cases of their objects. Only the newest one of each is kept as the live one.
pub(super) fn add_versions(cases: &mut Vec<Case>, versions: &[ObservedVersion]) {
    let mut newest: Vec<Option<&Value>> = Vec::new();
    for version in versions {
        let at = position(cases, &version.object);
        newest.resize(cases.len(), None);
        cases[at].versions.push(version.clone());
        let known = newest[at].or(cases[at].live.as_ref());
        let older = known.is_some_and(|known| number(known) > number(&version.object));
        if !older {
            newest[at] = Some(&version.object);
        }
        cases[at].know_namespace(&version.object);
    }
    for (case, newest) in cases.iter_mut().zip(newest) {
        if let Some(object) = newest {
            case.live = Some(object.clone());
        }
    }
}

/// The version of an object as a number; `None` if it has none.
pub(super) fn number(object: &Value) -> Option<u64> {
    object.resource_version().parse().ok()
}

pub(super) fn case_of<'a>(cases: &'a mut Vec<Case>, object: &Value) -> &'a mut Case {
    let at = position(cases, object);
    &mut cases[at]
}

/// The position of the case of an object, which is added if there is none.
pub(super) fn position(cases: &mut Vec<Case>, object: &Value) -> usize {
    let id = ObjectId::from_object(object);
    let mut known = cases.iter();
    let at = known.position(|case| case.id.may_be(&id) && !id.is_generated());
    at.unwrap_or_else(|| {
        cases.push(Case::blank(id));
        cases.len() - 1
    })
}

//! The start of a session as short JSON. Default values are left out. Every existing link contains
//! these keys: add keys, never change them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::ShareError;
use optimist_apiserver::object::text;
use optimist_apiserver::server::Release;
use optimist_simulation::{ActorId, ControllerStart, NGINX, Start};

/// Puts the members of a start.
pub(super) fn start_to_json(start: &Start, put: &mut impl FnMut(&str, Value)) {
    if start.manifests != NGINX {
        put("m", start.manifests.as_str().into());
    }
    put("v", start.version.into());
    put("c", start.created_by.as_deref().into());
    put("a", start.applied.into());
    put("o", start.installed.into());
    if start.release != Release::default() {
        put("r", start.release.to_string().into());
    }
    for (actor, controller) in &start.controllers {
        let controller = serde_json::to_value(controller).unwrap_or_default();
        put(&controller_key(*actor), controller);
    }
}

/// The start of a session.
pub(super) fn start_from_json(json: &Value) -> Result<Start, ShareError> {
    // Empty texts are not written, and are absent when read.
    let written = |key: &str| Some(text(json, key)).filter(|text| !text.is_empty());
    Ok(Start {
        manifests: written("m").unwrap_or(NGINX).to_owned(),
        version: json.get("v").and_then(Value::as_u64),
        created_by: written("c").map(str::to_owned),
        applied: json.get("a").and_then(Value::as_bool).unwrap_or(false),
        installed: json.get("o").and_then(Value::as_bool).unwrap_or(false),
        release: match written("r") {
            Some(release) => release
                .parse()
                .map_err(|_| ShareError::Damaged("its server is of a release that is not known"))?,
            None => Release::default(),
        },
        controllers: controllers_from_json(json)?,
    })
}

/// `k` for a controller at C, `kD` for one at D.
fn controller_key(actor: ActorId) -> String {
    match actor {
        ActorId::C => "k".to_owned(),
        other => format!("k{}", other.letter()),
    }
}

fn controllers_from_json(json: &Value) -> Result<BTreeMap<ActorId, ControllerStart>, ShareError> {
    let written = ActorId::ALL.into_iter().filter_map(|actor| {
        let controller = json.get(controller_key(actor))?;
        Some((actor, controller))
    });
    written
        .map(|(actor, controller)| Ok((actor, controller_from_json(controller)?)))
        .collect()
}

fn controller_from_json(json: &Value) -> Result<ControllerStart, ShareError> {
    serde_json::from_value(json.clone())
        .map_err(|_| ShareError::Damaged("its controller is not one that is known"))
}

//! Classes of storage and of ingresses: an object without one gets the default one, and a claim
//! grows only if its class allows it (`plugin/pkg/admission/storage/storageclass/setdefault`,
//! `plugin/pkg/admission/network/defaultingressclass`,
//! `plugin/pkg/admission/storage/persistentvolume/resize`).

use std::cmp::Reverse;

use serde_json::Value;

use super::{Attributes, forbidden};
use crate::object::{Metadata, map_mut, text};
use crate::schema::Quantity;
use crate::status::Refusal;
use crate::storage::Store;

/// The names by which objects of a kind refer to their class.
struct Named {
    /// The key prefix of the classes in etcd.
    stored_below: &'static str,
    field: &'static str,
    /// The annotation that named the class before there was the field.
    before: &'static str,
    /// Annotations of a class that make it the default one.
    defaults: &'static [&'static str],
}

const OF_STORAGE: Named = Named {
    stored_below: "/registry/storageclasses/",
    field: "storageClassName",
    before: "volume.beta.kubernetes.io/storage-class",
    defaults: &[
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ],
};

const OF_INGRESSES: Named = Named {
    stored_below: "/registry/ingressclasses/",
    field: "ingressClassName",
    before: "kubernetes.io/ingress.class",
    defaults: &["ingressclass.kubernetes.io/is-default-class"],
};

/// Gives a new claim or ingress the default class, if it names none. The newest is taken of several,
/// by name of those that are as old.
pub(in crate::server) fn give_class(object: &mut Value, store: &Store) {
    let named = match text(object, "kind") {
        "PersistentVolumeClaim" => &OF_STORAGE,
        "Ingress" => &OF_INGRESSES,
        _ => return,
    };
    let spec = &object["spec"];
    if spec.get(named.field).is_some() || object.annotation(named.before).is_some() {
        return;
    }
    let classes = store.range(named.stored_below).map(|(_, _, class)| class);
    let defaults = classes.filter(|class| {
        let mut values = named.defaults.iter().map(|name| class.annotation(name));
        values.any(|value| value == Some("true"))
    });
    let newest = defaults.min_by_key(|class| {
        let made = class.meta_text("creationTimestamp").to_owned();
        (Reverse(made), class.name().to_owned())
    });
    if let Some(class) = newest {
        let name = class.name().into();
        map_mut(&mut object["spec"]).insert(named.field.to_owned(), name);
    }
}

/// Refuses that a claim grows whose class does not allow it.
///
/// # Errors
/// The refusal.
pub(super) fn check_growth(
    asked: &Attributes<'_>,
    claim: &Value,
    store: &Store,
) -> Result<(), Refusal> {
    let Some(old) = asked.old else {
        return Ok(());
    };
    if text(claim, "kind") != "PersistentVolumeClaim" || !asked.info.subresource.is_empty() {
        return Ok(());
    }
    let size = |claim: &Value| {
        let size = claim["spec"]["resources"]["requests"].get("storage");
        size.map_or(Quantity::from(0), Quantity::from)
    };
    if size(claim) <= size(old) {
        return Ok(());
    }
    let (class, before) = (storage_class(claim), storage_class(old));
    let allows = |name: &str| {
        let class = store.get(&format!("{}{name}", OF_STORAGE.stored_below));
        class.is_some_and(|(_, class)| class["allowVolumeExpansion"] == true)
    };
    if class.is_empty() || class != before || !allows(class) {
        let why = "only dynamically provisioned pvc can be resized and the storageclass that \
                   provisions the pvc must support resize";
        return Err(forbidden(asked, claim, why));
    }
    Ok(())
}

/// The class that a claim names (`GetPersistentVolumeClaimClass`).
fn storage_class(claim: &Value) -> &str {
    let annotated = claim.annotation(OF_STORAGE.before);
    annotated.unwrap_or_else(|| text(&claim["spec"], OF_STORAGE.field))
}

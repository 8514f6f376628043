//! Kinds that have no rules of their own here: stored, merged, owned and versioned by their type,
//! with the few things that their strategies do besides (`pkg/registry/*/strategy.go`, v1.36). The
//! server here accepts objects that only the validation of such a kind refuses.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use super::super::admission::give_class;
use super::super::resource::{Definition, Endpoint, Generation, Names, Resource};
use super::{
    Collection, LooksAt, Rules, StatusRules, addresses, admin_access, api_service, autoscaling,
    certificates, checks, claim_status, claims, device_slices, endpoints, event, jobs, metadata,
    names, nodes, persistent_volumes, pod_disabled, scheduling, storage, warnings,
};
use crate::apply::{Set, Versions};
use crate::object::{GroupVersion, Metadata, text};
use crate::schema::TEMPLATE_GENERATION;
use crate::schema::kinds::{KindFacts, Root, kinds};

static RESOURCES: LazyLock<Vec<Arc<Resource>>> = LazyLock::new(|| {
    let served = kinds().iter().filter(|facts| !facts.is("rules"));
    served.filter_map(resource).map(Arc::new).collect()
});

/// The kinds of the table that have no rules of their own.
pub(in crate::server) fn resources() -> &'static [Arc<Resource>] {
    &RESOURCES
}

/// The rows of a kind check all of it; where there are none, the metadata is checked.
const PLAIN: Rules = Rules {
    validate: |object, live| {
        checks::validate(object, live).unwrap_or_else(|| match live {
            None => metadata::builtin(object, names::subdomain),
            Some(live) => metadata::builtin_update(object, live),
        })
    },
    status: StatusRules {
        validate: |object, live| {
            checks::validate_status(object, live)
                .unwrap_or_else(|| metadata::builtin_update(object, live))
        },
        ..Rules::NONE.status
    },
    ..Rules::NONE
};

fn resource(facts: &'static KindFacts) -> Option<Resource> {
    let group_version = GroupVersion::parse(facts.api_version)?;
    let stored_in = match facts.value("stored") {
        "" => facts.plural,
        stored_in => stored_in,
    };
    Some(Resource {
        group_version,
        kind: facts.kind.to_owned(),
        plural: facts.plural.to_owned(),
        namespaced: !facts.is("cluster"),
        names: Names {
            short: facts.list("short").map(str::to_owned).collect(),
            categories: facts.list("in").map(str::to_owned).collect(),
            list_kind: None,
        },
        root: Root::OfKind(facts),
        versions: versions(facts.kind),
        storage_prefix: format!("/registry/{stored_in}"),
        unconditional_update: !facts.is("versioned"),
        create_on_update: facts.is("creates"),
        generation: generation(facts.value("generation")),
        endpoints: endpoints(facts),
        definition: Definition::Builtin(rules(facts)),
    })
}

/// Kinds that are served in several versions, and how an object is written in another of them.
const CONVERSIONS: [(&str, Convert); 2] = [
    ("Event", event::convert),
    ("HorizontalPodAutoscaler", autoscaling::convert),
];
/// Writes an object in a version.
type Convert = fn(Value, &str) -> Value;

/// All versions of a kind; `None` if there is only one.
pub(in crate::server) fn versions(kind: &str) -> Option<Arc<Versions>> {
    let (_, convert) = CONVERSIONS.iter().find(|(known, _)| *known == kind)?;
    let all = kinds().iter().filter(|other| other.kind == kind);
    let all = all.map(|other| (other.api_version.to_owned(), Root::OfKind(other)));
    Some(Arc::new(Versions {
        all: all.collect(),
        convert: *convert,
    }))
}

fn generation(fields: &str) -> Generation {
    match fields {
        "spec" => Generation::Spec,
        "spec,later" => Generation::SpecLater,
        "spec,given" => Generation::SpecAsGiven,
        "spec,empties" => Generation::SpecAndEmpties,
        "template" => Generation::Template,
        "webhooks" => Generation::Webhooks,
        "rest,labels" => Generation::AllButOtherMetadata,
        "none" => Generation::Once,
        _ => Generation::None,
    }
}

fn endpoints(facts: &KindFacts) -> Vec<Endpoint> {
    let reset_fields = |fields: &[&'static str]| {
        let paths: Vec<[&str; 1]> = fields.iter().map(|field| [*field]).collect();
        let paths: Vec<&[&str]> = paths.iter().map(<[&str; 1]>::as_slice).collect();
        Set::of_fields(&paths)
    };
    let main = |fields| Endpoint {
        name: "",
        reset_fields: reset_fields(fields),
    };
    if facts.kind == "CertificateSigningRequest" {
        return vec![
            main(&["spec", "status"]),
            Endpoint {
                name: "status",
                reset_fields: Set::of_fields(&[&["spec"], &["status", "conditions"]]),
            },
            Endpoint {
                name: "approval",
                reset_fields: Set::of_fields(&[&["spec"], &["status", "certificate"]]),
            },
        ];
    }
    if !facts.is("status") {
        return vec![main(&[])];
    }
    if facts.kind == "ServiceCIDR" {
        let status = Endpoint {
            name: "status",
            reset_fields: reset_fields(&["metadata", "spec"]),
        };
        return vec![main(&[]), status];
    }
    let mut kept: Vec<&str> = facts.list("status").collect();
    if kept.is_empty() {
        kept.push("spec");
    }
    let mut endpoints = vec![
        main(&["status"]),
        Endpoint {
            name: "status",
            reset_fields: reset_fields(&kept),
        },
    ];
    if facts.is("scale") {
        endpoints.push(Endpoint {
            name: "scale",
            reset_fields: reset_fields(&["status"]),
        });
    }
    endpoints
}

fn rules(facts: &KindFacts) -> Rules {
    let mut rules = Rules {
        returns_deleted: facts.is("returns"),
        may_mistype: facts.is("mistypes"),
        status_creates: facts.is("anew"),
        collection: if facts.is("orphans") {
            Collection::Orphan
        } else {
            Collection::Background
        },
        fields: facts.list("select").collect::<Vec<_>>().leak(),
        plain_replicas: facts.is("plain-replicas"),
        annotates: facts.list("annotates").collect::<Vec<_>>().leak(),
        stored_as: Some(facts.value("encoded")).filter(|version| !version.is_empty()),
        ..PLAIN
    };
    if facts.value("name") == "path" {
        rules.validate = |object, live| {
            checks::validate(object, live).unwrap_or_else(|| match live {
                None => metadata::builtin(object, names::path_segment),
                Some(live) => metadata::builtin_update(object, live),
            })
        };
    }
    if let Some(warn) = warnings::for_kind(facts.kind) {
        rules.warn = warn;
    }
    add_own(facts.kind, &mut rules);
    rules
}

/// Adds what the strategy and the admission plugins of one kind do besides.
fn add_own(kind: &str, rules: &mut Rules) {
    match kind {
        "Secret" => rules.looks_at = &LooksAt::EMPTIES,
        "DaemonSet" => rules.prepare = daemon_set,
        "ReplicaSet" | "ReplicationController" => {
            rules.prepare = pod_disabled::drop_from_template;
        }
        "PodTemplate" => rules.prepare = pod_disabled::drop_from_pod_template,
        "CronJob" => rules.prepare = pod_disabled::drop_from_cron_job,
        "Job" => {
            rules.prepare = |job, live| {
                pod_disabled::drop_from_template(job, live);
                jobs::prepare(job, live);
            };
            rules.fill_on_reading = Some(jobs::labels_of_template);
            rules.looks_at = &jobs::LOOKS_AT;
            rules.notices = &jobs::NOTICES;
        }
        "HorizontalPodAutoscaler" => rules.fill_on_reading = Some(autoscaling::fill_stored),
        "VolumeAttributesClass" => {
            rules.allocate = |object, live, _| {
                protect_new(object, live);
                Ok(())
            };
        }
        "PriorityClass" => rules.immortal = &scheduling::IMMORTAL,
        "ServiceAccount" => rules.prepare = service_account,
        // `limitrangeStrategy.PrepareForCreate`.
        "LimitRange" => rules.named_by_uid = true,
        "StatefulSet" => rules.prepare = stateful_set,
        "Endpoints" => rules.notices = &endpoints::NOTICES,
        "Node" => nodes::add_rules(rules),
        "CertificateSigningRequest" => certificates::add_rules(rules),
        "APIService" => {
            rules.emptied_bytes = Some(&api_service::EMPTIED);
            rules.prepare = api_service::prepare;
        }
        "Ingress" => add_ingress_rules(rules),
        "ServiceCIDR" => rules.status.prepare = addresses::keep_all_but_status,
        "EndpointSlice" => rules.prepare = endpoints::drop_topology,
        "Event" => {
            rules.validate = event::validate_in_own_group;
            rules.collection = Collection::None;
        }
        _ => add_own_of_devices_and_volumes(kind, rules),
    }
}

/// The same of what a Pod can claim, and of the drivers of it.
fn add_own_of_devices_and_volumes(kind: &str, rules: &mut Rules) {
    match kind {
        "PersistentVolume" => {
            add_volume_rules(rules);
            rules.timed = Some(persistent_volumes::note_phase);
        }
        "PersistentVolumeClaim" => {
            rules.looks_at = &LooksAt::EMPTIES_OF_STATUS;
            add_volume_rules(rules);
            rules.encoded_anew = true;
        }
        "ResourceClaim" => {
            rules.status.prepare = claim_status::prepare_status;
            rules.looks_at = &admin_access::OF_CLAIM;
        }
        "ResourceClaimTemplate" => {
            rules.looks_at = &admin_access::OF_TEMPLATE;
        }
        "ResourceSlice" => {
            rules.prepare = device_slices::prepare;
            rules.looks_at = &LooksAt::EMPTIES;
            rules.timed = Some(device_slices::note_taints);
        }
        "CSIDriver" => rules.prepare = storage::drop_from_driver,
        _ => {}
    }
}

fn add_ingress_rules(rules: &mut Rules) {
    rules.notices = &warnings::OF_BALANCERS;
    rules.allocate = |object, live, supply| {
        if live.is_none() {
            give_class(object, supply.store);
        }
        Ok(())
    };
}

/// Adds what a volume and a claim have in common.
fn add_volume_rules(rules: &mut Rules) {
    rules.prepare = claims::prepare;
    rules.allocate = |object, live, supply| {
        protect_new(object, live);
        if live.is_none() {
            give_class(object, supply.store);
        }
        Ok(())
    };
}

/// Drops `maxUnavailable`, a field of a feature that is off (`dropStatefulSetDisabledFields`).
fn stateful_set(object: &mut Value, live: Option<&Value>) {
    pod_disabled::drop_from_template(object, live);
    const ROLLING: &str = "/spec/updateStrategy/rollingUpdate";
    let given = |object: &Value| {
        let rolling = object.pointer(ROLLING);
        rolling.is_some_and(|rolling| rolling.get("maxUnavailable").is_some())
    };
    if !live.is_some_and(given)
        && let Some(Value::Object(rolling)) = object.pointer_mut(ROLLING)
    {
        rolling.remove("maxUnavailable");
    }
}

/// Of a secret only the name is kept (`cleanSecretReferences`).
fn service_account(account: &mut Value, _: Option<&Value>) {
    if let Some(Value::Array(secrets)) = account.get_mut("secrets") {
        for secret in secrets.iter_mut().filter_map(Value::as_object_mut) {
            secret.retain(|field, _| field == "name");
        }
    }
}

/// `daemonSetStrategy`.
fn daemon_set(object: &mut Value, live: Option<&Value>) {
    pod_disabled::drop_from_template(object, live);
    let given = |object: &Value| {
        let text = object["metadata"]["annotations"][TEMPLATE_GENERATION].as_str();
        text.and_then(|number| number.parse::<i64>().ok())
            .unwrap_or_default()
    };
    let generation = match live {
        None => given(object).max(1),
        Some(live) => {
            let changed = object["spec"]["template"] != live["spec"]["template"];
            given(live) + i64::from(changed)
        }
    };
    let annotations = object.metadata_mut().entry("annotations");
    let annotations = annotations.or_insert_with(|| json!({}));
    annotations[TEMPLATE_GENERATION] = generation.to_string().into();
}

/// The admission plugin StorageObjectInUseProtection.
fn protect_new(object: &mut Value, live: Option<&Value>) {
    if live.is_some() {
        return;
    }
    let protection = match text(object, "kind") {
        "PersistentVolume" => "kubernetes.io/pv-protection",
        "VolumeAttributesClass" => "kubernetes.io/vac-protection",
        _ => "kubernetes.io/pvc-protection",
    };
    let finalizers = object.metadata_mut().entry("finalizers");
    if let Value::Array(finalizers) = finalizers.or_insert_with(|| json!([]))
        && !finalizers.iter().any(|finalizer| finalizer == protection)
    {
        finalizers.push(protection.into());
    }
}

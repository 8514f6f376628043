//! Kinds that have no rules of their own here: stored, merged, owned and versioned by their type,
//! with the few things that their strategies do besides (`pkg/registry/*/strategy.go`, v1.36).
//! What only validation of one kind refuses is accepted.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use super::super::resource::{Definition, Endpoint, Generation, Names, Resource};
use super::{
    Collection, Rules, StatusRules, autoscaling, checks, metadata, names, networking, secret,
};
use crate::apply::{Set, Versions};
use crate::object::{GroupVersion, Metadata, text};
use crate::schema::TEMPLATE_GENERATION;
use crate::schema::kinds::{KindFacts, Root, kinds};

static RESOURCES: LazyLock<Vec<Arc<Resource>>> = LazyLock::new(|| {
    let served = kinds()
        .iter()
        .filter(|facts| !facts.is("rules") && !facts.is("view"));
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
    validates: checks::has,
    ..Rules::NONE
};

fn resource(facts: &'static KindFacts) -> Option<Resource> {
    let group_version = GroupVersion::parse(facts.api_version)?;
    let stored_in = match facts.of("stored") {
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
        versions: versions(facts),
        storage_prefix: format!("/registry/{stored_in}"),
        unconditional_update: !facts.is("versioned"),
        create_on_update: facts.is("creates"),
        generation: generation(facts.of("generation")),
        endpoints: endpoints(facts),
        definition: Definition::Builtin(rules(facts)),
    })
}

/// Kinds that are served in several versions, and how an object is written in another of them.
const CONVERSIONS: [(&str, Convert); 1] = [("HorizontalPodAutoscaler", autoscaling::convert)];
/// Writes an object in a version.
type Convert = fn(Value, &str) -> Value;

/// All versions of a kind; `None` if there is only one.
fn versions(facts: &KindFacts) -> Option<Arc<Versions>> {
    let (_, convert) = CONVERSIONS.iter().find(|(kind, _)| *kind == facts.kind)?;
    let all = kinds().iter().filter(|other| other.kind == facts.kind);
    let all = all.map(|other| (other.api_version.to_owned(), Root::OfKind(other)));
    Some(Arc::new(Versions {
        all: all.collect(),
        convert: *convert,
    }))
}

fn generation(fields: &str) -> Generation {
    match fields {
        "spec" => Generation::Spec,
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
    if !facts.is("status") {
        return vec![main(&[])];
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
        collection: if facts.is("orphans") {
            Collection::Orphan
        } else {
            Collection::Background
        },
        fields: facts.list("select").collect::<Vec<_>>().leak(),
        annotates: facts.list("annotates").collect::<Vec<_>>().leak(),
        stored_as: Some(facts.of("encoded")).filter(|version| !version.is_empty()),
        ..PLAIN
    };
    if facts.of("name") == "path" {
        rules.validate = |object, live| {
            checks::validate(object, live).unwrap_or_else(|| match live {
                None => metadata::builtin(object, names::path_segment),
                Some(live) => metadata::builtin_update(object, live),
            })
        };
    }
    match facts.kind {
        "DaemonSet" => rules.prepare = daemon_set,
        "Job" => rules.prepare = job,
        "Node" => {
            rules.allocate = |object, live, _| {
                taint_new_node(object, live);
                Ok(())
            };
        }
        "Secret" => rules.warn = secret::warn,
        "Ingress" => rules.warn = networking::warn,
        "PersistentVolume" | "PersistentVolumeClaim" => {
            rules.encoded_anew = facts.kind == "PersistentVolumeClaim";
            rules.prepare = volume;
            rules.allocate = |object, live, _| {
                protect_volume(object, live);
                Ok(())
            };
        }
        "CertificateSigningRequest" => {
            rules.status = StatusRules {
                prepare: |_, _| {},
                ..rules.status
            };
        }
        _ => {}
    }
    rules
}

/// `daemonSetStrategy`.
fn daemon_set(object: &mut Value, live: Option<&Value>) {
    let generation = match live {
        None => 1,
        Some(live) => {
            let before = live["metadata"]["annotations"][TEMPLATE_GENERATION].as_str();
            let before: i64 = before.and_then(|n| n.parse().ok()).unwrap_or_default();
            let changed = object["spec"]["template"] != live["spec"]["template"];
            before + i64::from(changed)
        }
    };
    let annotations = object.metadata_mut().entry("annotations");
    let annotations = annotations.or_insert_with(|| json!({}));
    annotations[TEMPLATE_GENERATION] = generation.to_string().into();
}

/// A new volume or claim waits (`PrepareForCreate`).
fn volume(object: &mut Value, live: Option<&Value>) {
    if live.is_none() {
        object["status"] = json!({"phase": "Pending"});
    }
}

/// The admission plugin StorageObjectInUseProtection.
fn protect_volume(object: &mut Value, live: Option<&Value>) {
    if live.is_some() {
        return;
    }
    let protection = match text(object, "kind") {
        "PersistentVolume" => "kubernetes.io/pv-protection",
        _ => "kubernetes.io/pvc-protection",
    };
    let finalizers = object.metadata_mut().entry("finalizers");
    if let Value::Array(finalizers) = finalizers.or_insert_with(|| json!([]))
        && !finalizers.iter().any(|finalizer| finalizer == protection)
    {
        finalizers.push(protection.into());
    }
}

/// A new node takes no pods until it is ready (the admission plugin TaintNodesByCondition).
fn taint_new_node(object: &mut Value, live: Option<&Value>) {
    const NOT_READY: &str = "node.kubernetes.io/not-ready";
    if live.is_some() {
        return;
    }
    let is_not_ready =
        |taint: &Value| text(taint, "key") == NOT_READY && text(taint, "effect") == "NoSchedule";
    let mut taints = match object["spec"]["taints"].take() {
        Value::Array(taints) => taints,
        _ => Vec::new(),
    };
    if !taints.iter().any(is_not_ready) {
        taints.push(json!({"key": NOT_READY, "effect": "NoSchedule"}));
    }
    object["spec"]["taints"] = taints.into();
}

/// `jobStrategy`.
fn job(object: &mut Value, live: Option<&Value>) {
    if live.is_some() || object["spec"]["manualSelector"] == true {
        return;
    }
    // A job without labels got those of its template: the same map, not a copy of it. One that
    // was given equal labels is taken for such a job.
    let template = object.pointer("/spec/template/metadata/labels").cloned();
    let shared = template.is_some() && object.pointer("/metadata/labels") == template.as_ref();
    select_own_pods(object);
    if shared && let Some(labels) = object.pointer("/spec/template/metadata/labels").cloned() {
        object.set_meta("labels", labels);
    }
}

/// A new job selects the pods that carry its uid (`generateSelector`).
fn select_own_pods(object: &mut Value) {
    let (name, uid) = (object.name().to_owned(), object.uid().to_owned());
    let template = &mut object["spec"]["template"]["metadata"];
    for (label, value) in [
        ("controller-uid", &uid),
        ("batch.kubernetes.io/controller-uid", &uid),
        ("job-name", &name),
        ("batch.kubernetes.io/job-name", &name),
    ] {
        template["labels"][label] = value.as_str().into();
    }
    if !object["spec"]["selector"].is_object() {
        object["spec"]["selector"] = json!({});
    }
    object["spec"]["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"] = uid.into();
}

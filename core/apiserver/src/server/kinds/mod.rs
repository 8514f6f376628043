//! The built-in kinds: where each is served, and the rules that only it has
//! (`pkg/registry/*/strategy.go`, `pkg/apis/*/validation`, v1.36). Adding a kind is adding a
//! description here and its types to the table in `schema`.

mod addresses;
mod admin_access;
mod admission_policies;
pub(super) mod api_service;
mod autoscaling;
mod autoscaling_checks;
mod capacity_requests;
pub(super) mod certificates;
mod checks;
mod claim_status;
mod claims;
mod conditions;
mod config_map;
mod container_restarts;
mod containers;
mod cron;
mod deployment;
mod device_slices;
mod devices;
mod difference;
mod endpoints;
mod environment;
mod ephemeral_containers;
mod event;
mod expression_types;
mod flow_control;
mod internal;
mod ip;
mod job_policies;
mod job_status;
mod jobs;
pub(super) mod label_selector;
mod lease;
pub(super) mod metadata;
pub(super) mod namespace;
mod networking;
mod nodes;
mod persistent_volumes;
mod pod;
pub(super) mod pod_admission;
mod pod_annotations;
mod pod_claim_status;
mod pod_disabled;
mod pod_gated;
mod pod_host;
mod pod_parts;
mod pod_profiles;
mod pod_resources;
mod pod_scheduling;
pub(super) mod pod_status;
mod pod_template;
mod pod_update;
mod pod_warnings;
mod pod_windows;
mod policy;
mod probes;
pub(super) mod quota_scopes;
mod quotas;
mod rbac;
mod resources;
mod scheduling;
mod secret;
mod service;
mod service_addresses;
mod service_allocation;
mod service_cluster_ip;
mod service_load_balancer;
mod service_node_ports;
mod service_ports;
mod service_validation;
mod service_warnings;
mod storage;
pub(super) mod table;
mod volume_files;
mod volume_mounts;
mod volume_sources;
mod volumes;
mod warnings;
mod webhooks;
mod workloads;

pub(in crate::server) use checks::same_in_go;
pub(crate) use optimist_values::names;
pub(in crate::server) use pod_host::allow_relabeling_in_use;
pub(in crate::server) use webhooks::conversion_client;

use std::sync::Arc;

use serde_json::Value;

use super::resource::{Endpoint, Generation};
use super::resources::Builtin;
use crate::apply::Set;
use crate::schema::Empties;
use crate::status::{FieldError, Refusal};
use crate::storage::Store;

/// The subresource through which the finalizers of a namespace are written.
pub(super) const FINALIZE: &str = "finalize";

/// Fills in an object, given the stored one on update.
pub type Allocate = fn(&mut Value, Option<&Value>, &Supply<'_>) -> Result<(), NotAllocated>;

/// The stored objects that a rule reads when it fills in an object: allocated addresses and ports, default classes,
/// priorities.
#[derive(Clone, Copy)]
pub struct Supply<'a> {
    /// All that is stored.
    pub store: &'a Store,
    /// `true` if the request is a dry run, which reserves no address and no port.
    pub dry_run: bool,
}

/// The reason why an allocation failed.
#[derive(Debug)]
pub enum NotAllocated {
    /// The requested value is not available.
    Invalid(Vec<FieldError>),
    /// An admission plugin refuses it.
    Forbidden(String),
    /// The server answers with an internal error.
    Failed(Refusal),
}

impl From<Vec<FieldError>> for NotAllocated {
    fn from(errors: Vec<FieldError>) -> Self {
        Self::Invalid(errors)
    }
}

/// The inputs of the rules of a kind besides an object and the stored one.
#[derive(Debug)]
pub struct LooksAt {
    /// The subresources (`""` is the main resource) whose checks tell the empty lists and maps of an update from
    /// absent ones (`reflect.DeepEqual`).
    pub empties: &'static [&'static str],
    /// Checks what an object, given the stored one on update, may claim in its namespace.
    pub namespace: fn(&Value, Option<&Value>, Namespace<'_>) -> Option<FieldError>,
    /// `true` if a new object without labels shares those of its template, also empty ones, until it is copied.
    pub shared_labels: bool,
    /// `true` if the preparation of a new object sees the status that the request gives it.
    pub given_status: bool,
}

impl LooksAt {
    /// Nothing else.
    pub const NOTHING: Self = Self {
        empties: &[],
        namespace: |_, _, _| None,
        shared_labels: false,
        given_status: false,
    };
    /// The empty lists and maps of updates of the main resource.
    pub const EMPTIES: Self = Self {
        empties: &[""],
        ..Self::NOTHING
    };
    /// Those of updates of the main resource and of the status.
    pub const EMPTIES_OF_STATUS: Self = Self {
        empties: &["", "status"],
        ..Self::NOTHING
    };
}

/// Finds the namespace of an object, if it is stored.
pub type Namespace<'a> = &'a dyn Fn() -> Option<Arc<Value>>;

/// The fate of the dependents of a deleted object, if the request does not name one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collection {
    /// The garbage collector does not handle the kind.
    None,
    /// They are deleted afterwards.
    Background,
    /// They stay: the object waits until they have lost their owner.
    Orphan,
}

/// The names of objects that cannot be deleted, and why.
pub type Immortal = (&'static [&'static str], &'static str);

/// Warnings besides those for objects that are written to the main resource.
#[derive(Clone, Copy, Debug)]
pub struct Notices {
    /// For every request.
    pub deprecated: Option<&'static str>,
    /// For a deletion that does not name the fate of dependents.
    pub preserves: Option<&'static str>,
    /// For a new object before the server changes it (those of `PrepareForCreate`).
    pub as_given: fn(&Value) -> Vec<String>,
    /// For a written status.
    pub status: fn(&Value) -> Vec<String>,
}

impl Notices {
    /// None.
    pub const NONE: Notices = Notices {
        deprecated: None,
        preserves: None,
        as_given: |_| Vec::new(),
        status: |_| Vec::new(),
    };
}

/// A field of bytes that a client can empty: etcd holds empty bytes, and absent ones are something else to
/// it, but no answer shows a difference (`omitempty`).
#[derive(Clone, Copy, Debug)]
pub struct EmptiedBytes {
    /// The subresource through which it is written.
    pub written_by: &'static str,
    /// The place of the value that has the field, as a JSON pointer.
    pub parent: &'static str,
    /// The field.
    pub field: &'static str,
}

/// A field that some stored objects have and do not show.
#[derive(Debug)]
pub struct HiddenField {
    /// Returns whether an object is one of them.
    pub is_hidden: fn(&Value) -> bool,
    /// The place of the value that has the field, as a JSON pointer.
    pub parent: &'static str,
    /// The field.
    pub field: &'static str,
}

/// The rules of a kind that its type does not contain.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Fills in the values of admission plugins and allocators before a create or update of the main
    /// resource is prepared (`admission.Admit`, `Store.BeginCreate`, `Store.BeginUpdate`); the stored
    /// object is given on update.
    pub allocate: Allocate,
    /// Normalizes fields before validation (`PrepareForCreate`, `PrepareForUpdate`); the stored
    /// object is given on update.
    pub prepare: fn(&mut Value, Option<&Value>),
    /// Checks an object; the stored one is given on update.
    pub validate: fn(&Value, Option<&Value>) -> Vec<FieldError>,
    /// Checks the changes of an update of the main resource, after [`validate`](Self::validate): for
    /// messages that tell the empty lists of the request from absent ones.
    pub validate_change: fn(&Value, &Empties, &Value) -> Vec<FieldError>,
    /// The inputs of its checks besides an object and the stored one.
    pub looks_at: &'static LooksAt,
    /// `true` if an apply of the status of a missing object is one of a new object (`StatusREST.Update` passes
    /// `forceAllowCreate` on).
    pub status_creates: bool,
    /// The warnings for accepted objects.
    pub warn: fn(&Value, Option<&Value>) -> Vec<String>,
    /// The rules of its `status` subresource, if it has one.
    pub status: StatusRules,
    /// The rules of other subresources through which the object is written, by name.
    pub others: &'static [(&'static str, StatusRules)],
    /// Notes the time of an update in the object, which is given last.
    pub timed: Option<fn(&mut Value, &Value, &str)>,
    /// Other warnings.
    pub notices: &'static Notices,
    /// For kinds that are deleted gracefully: returns the seconds that an object gets, from those in the
    /// request (`CheckGracefulDelete`).
    pub grace: Option<fn(&Value, Option<i64>) -> i64>,
    /// `true` if a deletion answers with the deleted object (`ReturnDeletedObject`).
    pub returns_deleted: bool,
    /// The fate of dependents if a deletion does not name one (`DefaultGarbageCollectionPolicy`).
    pub collection: Collection,
    /// Returns whether something besides its finalizers keeps an object that is being deleted.
    pub held: fn(&Value) -> bool,
    /// `true` if etcd holds a new object in another encoding than it gets from any later write, so
    /// that the first write is stored even if it changes nothing. Seen of v1.36.3; the cause is not
    /// known.
    pub encoded_anew: bool,
    /// The version in which etcd holds its objects, if not its own.
    pub stored_as: Option<&'static str>,
    /// Fills in the defaults that a stored object still lacks; `None` if it lacks none. (Every read applies defaults,
    /// and what creation itself fills in came after those of the request.)
    pub fill_on_reading: Option<fn(&Value) -> Option<Value>>,
    /// The field of bytes that a client can empty, if there is one.
    pub emptied_bytes: Option<&'static EmptiedBytes>,
    /// Annotations that only the versions of the API have: the server keeps their values in fields.
    pub annotates: &'static [&'static str],
    /// The field that some stored objects have and do not show (`Decorator`).
    pub hidden_field: Option<&'static HiddenField>,
    /// `true` if `prepare` restores by itself the fields that a write does not change: not just those that
    /// the endpoint takes from its managers, and not in a new object.
    pub restores: bool,
    /// `true` if the server names a new object that has neither a name nor a prefix for one: by a uid.
    pub named_by_uid: bool,
    /// `true` if lists are merged by a key that their items may leave out.
    pub may_mistype: bool,
    /// The objects that cannot be deleted, and why.
    pub immortal: &'static Immortal,
    /// `true` if `spec.replicas` is a plain number in the server and a pointer in the API: the server writes it
    /// also if it was never set.
    pub plain_replicas: bool,
    /// Fields to select by besides name and namespace.
    pub fields: &'static [&'static str],
}

/// The rules of a subresource such as `status`, which knows updates only; the stored object is given.
#[derive(Clone, Copy, Debug)]
pub struct StatusRules {
    /// Normalizes fields before validation.
    pub prepare: fn(&mut Value, &Value),
    /// Checks an object.
    pub validate: fn(&Value, &Value) -> Vec<FieldError>,
}

impl Rules {
    /// The rules of a subresource.
    pub(super) fn status_rules(&self, subresource: &str) -> Option<&StatusRules> {
        match subresource {
            "" => None,
            "status" => Some(&self.status),
            name => self
                .others
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, rules)| rules),
        }
    }

    /// No rules of its own.
    pub const NONE: Rules = Rules {
        allocate: |_, _, _| Ok(()),
        prepare: |_, _| {},
        validate: |_, _| Vec::new(),
        validate_change: |_, _, _| Vec::new(),
        looks_at: &LooksAt::NOTHING,
        status_creates: false,
        warn: |_, _| Vec::new(),
        status: StatusRules {
            prepare: |_, _| {},
            validate: metadata::builtin_update,
        },
        others: &[],
        timed: None,
        notices: &Notices::NONE,
        grace: None,
        returns_deleted: false,
        collection: Collection::Background,
        held: |_| false,
        encoded_anew: false,
        stored_as: None,
        fill_on_reading: None,
        emptied_bytes: None,
        annotates: &[],
        hidden_field: None,
        restores: false,
        named_by_uid: false,
        may_mistype: false,
        immortal: &(&[], ""),
        plain_replicas: false,
        fields: &[],
    };
}

/// A path to an object. Writes through it do not change these fields.
fn at(name: &'static str, reset_fields: &[&str]) -> Endpoint {
    let fields: Vec<Vec<&str>> = reset_fields
        .iter()
        .map(|f| f.split('.').collect())
        .collect();
    let fields: Vec<&[&str]> = fields.iter().map(Vec::as_slice).collect();
    Endpoint {
        name,
        reset_fields: Set::of_fields(&fields),
    }
}

/// The fields of a Pod that a write to its status does not change.
const POD_STATUS: [&str; 3] = [
    "spec",
    "metadata.deletionTimestamp",
    "metadata.ownerReferences",
];

/// Returns the built-in kinds with rules of their own. [`Builtin::new`] has the rules that most of them
/// share.
pub(super) fn all() -> Vec<Builtin> {
    vec![
        Builtin {
            namespaced: false,
            endpoints: vec![
                at("", &["status"]),
                at("status", &["spec"]),
                at(FINALIZE, &["status"]),
            ],
            ..Builtin::new("Namespace", ("", "v1"), "namespaces", namespace::RULES)
        },
        Builtin::new("ConfigMap", ("", "v1"), "configmaps", config_map::RULES),
        Builtin {
            generation: Generation::SpecAndAnnotations,
            endpoints: vec![
                at("", &["status"]),
                at("status", &["spec", "metadata.labels"]),
                at("scale", &["status"]),
            ],
            ..Builtin::new(
                "Deployment",
                ("apps", "v1"),
                "deployments",
                deployment::RULES,
            )
        },
        Builtin {
            generation: Generation::Spec,
            endpoints: vec![
                at("", &["status"]),
                at("status", &POD_STATUS),
                at("resize", &[]),
                at("ephemeralcontainers", &[]),
            ],
            ..Builtin::new("Pod", ("", "v1"), "pods", pod::RULES)
        },
        Builtin {
            stored_in: "services/specs",
            create_on_update: true,
            endpoints: vec![at("", &["status"]), at("status", &["spec"])],
            ..Builtin::new("Service", ("", "v1"), "services", service::RULES)
        },
        Builtin {
            unconditional_update: false,
            create_on_update: true,
            ..Builtin::new(
                "Lease",
                ("coordination.k8s.io", "v1"),
                "leases",
                lease::RULES,
            )
        },
        Builtin {
            create_on_update: true,
            ..Builtin::new("Event", ("", "v1"), "events", event::RULES)
        },
    ]
}

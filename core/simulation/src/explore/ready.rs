//! Pairs of edits that are ready to be explored.

use serde_json::Value;

use super::{Change, Intent, Ownership, Plan, Scenario, Way};
use crate::{LoadError, NGINX, World};
use optimist_apiserver::patch::JsonPatch;
use optimist_client::{Subresource, Write};

/// A starting object, and what two actors mean to do with it.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    /// What it is called in addresses.
    pub slug: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// What the actors do, in a sentence.
    pub says: &'static str,
    /// What there is at first.
    pub manifest: &'static str,
    /// What A and B do.
    pub doing: [Doing; 2],
}

/// What one actor does.
#[derive(Clone, Copy, Debug)]
pub enum Doing {
    /// It changes what it read by a JSON patch (RFC 6902).
    Edit(&'static str),
    /// The same, by way of the `status` subresource.
    Status(&'static str),
    /// It deletes the object.
    Delete,
}

/// What a third actor does beside any pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Third {
    /// It adds an annotation, and is in nobody's way.
    Annotates,
    /// It says in the status, through its subresource, what it has seen.
    Reports,
    /// It deletes the object.
    Deletes,
}

/// The pairs.
pub const READY: [Ready; 8] = [
    Ready {
        slug: "different-fields",
        title: "Different fields",
        says: "A sets replicas 3→5, B sets the image 1.14.2→1.25.",
        manifest: NGINX,
        doing: [
            Doing::Edit(r#"[{"op": "replace", "path": "/spec/replicas", "value": 5}]"#),
            Doing::Edit(
                r#"[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:1.25"}]"#,
            ),
        ],
    },
    Ready {
        slug: "same-field",
        title: "Same field, different values",
        says: "A sets replicas 3→5, B sets replicas 3→2.",
        manifest: NGINX,
        doing: [
            Doing::Edit(r#"[{"op": "replace", "path": "/spec/replicas", "value": 5}]"#),
            Doing::Edit(r#"[{"op": "replace", "path": "/spec/replicas", "value": 2}]"#),
        ],
    },
    Ready {
        slug: "same-value",
        title: "Same field, same value",
        says: "A and B both set replicas 3→5.",
        manifest: NGINX,
        doing: [
            Doing::Edit(r#"[{"op": "replace", "path": "/spec/replicas", "value": 5}]"#),
            Doing::Edit(r#"[{"op": "replace", "path": "/spec/replicas", "value": 5}]"#),
        ],
    },
    Ready {
        slug: "two-items",
        title: "Two items of one list",
        says: "A adds a container “sidecar”, B adds a container “proxy”.",
        manifest: NGINX,
        doing: [
            Doing::Edit(
                r#"[{"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "sidecar", "image": "busybox:1.36"}}]"#,
            ),
            Doing::Edit(
                r#"[{"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "proxy", "image": "envoy:1.31"}}]"#,
            ),
        ],
    },
    Ready {
        slug: "list-without-keys",
        title: "One list without keys",
        says: "The container's args are one value to the server. A adds “--verbose”, B adds “--debug”.",
        manifest: include_str!("with_args.yaml"),
        doing: [
            Doing::Edit(
                r#"[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "--verbose"}]"#,
            ),
            Doing::Edit(
                r#"[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "--debug"}]"#,
            ),
        ],
    },
    Ready {
        slug: "same-item",
        title: "The same list item",
        says: "Of one container, A sets the image, B sets imagePullPolicy.",
        manifest: NGINX,
        doing: [
            Doing::Edit(
                r#"[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:1.25"}]"#,
            ),
            Doing::Edit(
                r#"[{"op": "replace", "path": "/spec/template/spec/containers/0/imagePullPolicy", "value": "Always"}]"#,
            ),
        ],
    },
    Ready {
        slug: "delete-and-edit",
        title: "One edits, one deletes",
        says: "A sets replicas 3→5, B deletes the Deployment.",
        manifest: NGINX,
        doing: [
            Doing::Edit(r#"[{"op": "replace", "path": "/spec/replicas", "value": 5}]"#),
            Doing::Delete,
        ],
    },
    Ready {
        slug: "spec-and-status",
        title: "Spec and status",
        says: "A sets replicas 3→5, B reports through /status that 3 are ready.",
        manifest: NGINX,
        doing: [
            Doing::Edit(r#"[{"op": "replace", "path": "/spec/replicas", "value": 5}]"#),
            Doing::Status(
                r#"[{"op": "add", "path": "/status/replicas", "value": 3}, {"op": "add", "path": "/status/readyReplicas", "value": 3}]"#,
            ),
        ],
    },
];

const MANAGERS: [&str; 2] = ["editor-a", "editor-b"];

impl Doing {
    fn intent(self, scenario: &Scenario) -> Intent {
        let (Doing::Edit(patch) | Doing::Status(patch)) = self else {
            return Intent::Delete;
        };
        let object = scenario.object.as_ref();
        let patched = JsonPatch::decode(patch.as_bytes())
            .ok()
            .and_then(|patch| patch.apply(object.clone()).ok());
        let edited = patched.map_or_else(|| object.clone(), Value::from);
        Intent::between(object, &edited, &scenario.resource.root)
    }
}

impl Ready {
    /// The pair, both writing in the usual way.
    ///
    /// # Errors
    /// If the manifest cannot be loaded. Those here can.
    pub fn scenario(&self) -> Result<Scenario, LoadError> {
        let mut scenario = Scenario::of(&World::load(self.manifest)?.0);
        let plans = self.doing.iter().zip(MANAGERS);
        scenario.plans = plans
            .map(|(doing, manager)| Plan {
                subresource: matches!(doing, Doing::Status(_)).then_some(Subresource::Status),
                ..Plan::new(manager, doing.intent(&scenario))
            })
            .collect();
        Ok(scenario)
    }
}

impl Plan {
    /// That somebody reads and then writes in the usual way.
    pub fn new(manager: &str, intent: Intent) -> Self {
        Self {
            manager: manager.into(),
            intent,
            reads_first: true,
            subresource: None,
            ownership: Ownership::AsStored,
            write: Write::default(),
        }
    }
}

impl Third {
    /// All of them.
    pub const ALL: [Third; 3] = [Third::Annotates, Third::Reports, Third::Deletes];

    /// What it is called in addresses.
    pub fn slug(self) -> &'static str {
        match self {
            Third::Annotates => "annotates",
            Third::Reports => "reports",
            Third::Deletes => "deletes",
        }
    }

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Third::Annotates => "adds an annotation",
            Third::Reports => "writes the status",
            Third::Deletes => "deletes the object",
        }
    }

    /// What it does, writing in the usual way.
    pub fn plan(self) -> Plan {
        let set = |names: &[&str], value: Value| Intent::Change(vec![Change::set(names, value)]);
        match self {
            Third::Annotates => {
                let note = ["metadata", "annotations", "example.com/checked"];
                Plan::new("controller", set(&note, "yes".into()))
            }
            Third::Reports => Plan {
                subresource: Some(Subresource::Status),
                ..Plan::new(
                    "controller",
                    set(&["status", "observedGeneration"], 1.into()),
                )
            },
            Third::Deletes => Plan::new("cleaner", Intent::Delete),
        }
    }
}

impl Scenario {
    /// The same, with each actor writing in its way; those for whom there is none write as the
    /// last.
    ///
    /// # Errors
    /// The server's words, if it does not let the owners be settled so.
    pub fn in_ways(mut self, ways: &[Way]) -> Result<Self, String> {
        for (i, plan) in self.plans.iter_mut().enumerate() {
            if let Some(way) = ways.get(i).or_else(|| ways.last()) {
                plan.write = way.write.clone();
                plan.ownership = way.ownership;
            }
        }
        self.with_owners()
    }
}

//! Pairs of edits that are ready to be explored.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Plan, Scenario};
use crate::{LoadError, NGINX, World};
use optimist_apiserver::patch::JsonPatch;
use optimist_client::{IntendedChange, Intent, Preset, Subresource, Write, WriteMethod};

/// A starting object, and the edits that two actors mean to make.
#[derive(Clone, Copy, Debug)]
pub struct ExplorePreset {
    /// Its name in addresses, and the key of its messages.
    pub slug: &'static str,
    /// The starting object.
    pub manifest: &'static str,
    /// The actions of A and B.
    pub doing: [PresetAction; 2],
}

/// The action of one actor.
#[derive(Clone, Copy, Debug)]
pub enum PresetAction {
    /// It changes the object that it read by a JSON patch (RFC 6902).
    Edit(&'static str),
    /// The same, by way of the `status` subresource.
    Status(&'static str),
    /// It deletes the object.
    Delete,
}

/// The action of a third actor beside any pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThirdActor {
    /// It adds an annotation, which no other actor changes.
    Annotates,
    /// It reports in the status, through its subresource, the state that it has seen.
    Reports,
    /// It deletes the object.
    Deletes,
    /// It is a tool, which applies the starting object as a manifest with one more annotation, or sets one
    /// replica more if it writes only replicas.
    Tool(Preset),
}

/// The pairs.
pub const PRESETS: [ExplorePreset; 8] = [
    ExplorePreset {
        slug: "different-fields",
        manifest: NGINX,
        doing: [
            PresetAction::Edit(r#"[{"op": "replace", "path": "/spec/replicas", "value": 5}]"#),
            PresetAction::Edit(
                r#"[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:1.25"}]"#,
            ),
        ],
    },
    ExplorePreset {
        slug: "same-field",
        manifest: NGINX,
        doing: [
            PresetAction::Edit(r#"[{"op": "replace", "path": "/spec/replicas", "value": 5}]"#),
            PresetAction::Edit(r#"[{"op": "replace", "path": "/spec/replicas", "value": 2}]"#),
        ],
    },
    ExplorePreset {
        slug: "same-value",
        manifest: NGINX,
        doing: [
            PresetAction::Edit(r#"[{"op": "replace", "path": "/spec/replicas", "value": 5}]"#),
            PresetAction::Edit(r#"[{"op": "replace", "path": "/spec/replicas", "value": 5}]"#),
        ],
    },
    ExplorePreset {
        slug: "two-items",
        manifest: NGINX,
        doing: [
            PresetAction::Edit(
                r#"[{"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "sidecar", "image": "busybox:1.36"}}]"#,
            ),
            PresetAction::Edit(
                r#"[{"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "proxy", "image": "envoy:1.31"}}]"#,
            ),
        ],
    },
    ExplorePreset {
        slug: "list-without-keys",
        manifest: include_str!("with_args.yaml"),
        doing: [
            PresetAction::Edit(
                r#"[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "--verbose"}]"#,
            ),
            PresetAction::Edit(
                r#"[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "--debug"}]"#,
            ),
        ],
    },
    ExplorePreset {
        slug: "same-item",
        manifest: NGINX,
        doing: [
            PresetAction::Edit(
                r#"[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:1.25"}]"#,
            ),
            PresetAction::Edit(
                r#"[{"op": "replace", "path": "/spec/template/spec/containers/0/imagePullPolicy", "value": "Always"}]"#,
            ),
        ],
    },
    ExplorePreset {
        slug: "delete-and-edit",
        manifest: NGINX,
        doing: [
            PresetAction::Edit(r#"[{"op": "replace", "path": "/spec/replicas", "value": 5}]"#),
            PresetAction::Delete,
        ],
    },
    ExplorePreset {
        slug: "spec-and-status",
        manifest: NGINX,
        doing: [
            PresetAction::Edit(r#"[{"op": "replace", "path": "/spec/replicas", "value": 5}]"#),
            PresetAction::Status(
                r#"[{"op": "add", "path": "/status/replicas", "value": 3}, {"op": "add", "path": "/status/readyReplicas", "value": 3}]"#,
            ),
        ],
    },
];

const MANAGERS: [&str; 2] = ["editor-a", "editor-b"];

impl PresetAction {
    fn intent(self, scenario: &Scenario) -> Intent {
        let (PresetAction::Edit(patch) | PresetAction::Status(patch)) = self else {
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

impl ExplorePreset {
    /// The pair, both writing in the usual way.
    ///
    /// # Errors
    /// If the manifest cannot be loaded. Those here can.
    pub fn scenario(&self) -> Result<Scenario, LoadError> {
        let mut scenario = Scenario::from_world(&World::load(self.manifest)?.0);
        let plans = self.doing.iter().zip(MANAGERS);
        scenario.plans = plans
            .map(|(doing, manager)| Plan {
                subresource: matches!(doing, PresetAction::Status(_))
                    .then_some(Subresource::Status),
                ..Plan::new(manager, doing.intent(&scenario))
            })
            .collect();
        Ok(scenario)
    }
}

impl Plan {
    /// An actor reads, and then writes in the usual way.
    pub fn new(manager: &str, intent: Intent) -> Self {
        Self {
            manager: manager.into(),
            intent,
            reads_first: true,
            subresource: None,
            owns: false,
            write: Write::default(),
            own: None,
            tool: None,
        }
    }
}

impl ThirdActor {
    /// Those that are editors: they write by the same method as the other two.
    pub const EDITORS: [ThirdActor; 3] = [
        ThirdActor::Annotates,
        ThirdActor::Reports,
        ThirdActor::Deletes,
    ];

    /// All of them: editors, then tools, which send their own requests, whatever the other two write by.
    pub fn all() -> impl Iterator<Item = ThirdActor> {
        let tools = Plan::TOOLS.into_iter().map(ThirdActor::Tool);
        Self::EDITORS.into_iter().chain(tools)
    }

    /// Returns the one with a name in addresses.
    pub fn named(slug: &str) -> Option<Self> {
        Self::all().find(|third| third.slug() == slug)
    }

    /// Returns its name in addresses, which is also the key of its message.
    pub fn slug(self) -> &'static str {
        match self {
            ThirdActor::Annotates => "annotates",
            ThirdActor::Reports => "reports",
            ThirdActor::Deletes => "deletes",
            ThirdActor::Tool(preset) => preset.slug(),
        }
    }

    /// Returns its plan beside the other actors of a scenario, with the usual way of writing.
    pub fn plan(self, scenario: &Scenario) -> Plan {
        let set =
            |at: &str, value: Value| Intent::Change(vec![IntendedChange::at(at, Some(value))]);
        let annotation = || set("/metadata/annotations/example.com~1checked", "yes".into());
        match self {
            ThirdActor::Annotates => Plan::new("controller", annotation()),
            ThirdActor::Tool(preset @ Preset::KubectlEdit) => Plan::of_tool(preset, annotation()),
            ThirdActor::Tool(preset @ (Preset::KubectlScale | Preset::Autoscaler)) => {
                Plan::of_tool(preset, scenario.one_replica_more())
            }
            ThirdActor::Tool(preset) => {
                let intent = scenario.manifest_with_annotation("example.com/checked", "yes");
                Plan::of_tool(preset, intent)
            }
            ThirdActor::Reports => Plan {
                subresource: Some(Subresource::Status),
                ..Plan::new("controller", set("/status/observedGeneration", 1.into()))
            },
            ThirdActor::Deletes => Plan::new("cleaner", Intent::Delete),
        }
    }
}

impl Scenario {
    /// The same, with a write method for each actor. An actor without one writes as the last. Those
    /// that try again do so up to `tries` times in all.
    ///
    /// A tool writes as it does.
    ///
    /// # Errors
    /// The server's words, if it does not let the owners be settled so; or that a tool cannot write an
    /// object of the kind.
    pub fn in_ways(mut self, ways: &[WriteMethod], tries: u8) -> Result<Self, String> {
        self.check_tools()?;
        for (i, plan) in self.plans.iter_mut().enumerate() {
            if plan.tool().is_some() {
                continue;
            }
            let Some(way) = ways.get(i).or_else(|| ways.last()).copied() else {
                continue;
            };
            if way != WriteMethod::Own {
                plan.write = way.write(tries);
                plan.owns = way == WriteMethod::ApplyOwned;
            } else if let Some(own) = plan.own.clone() {
                (plan.intent, plan.write) = (own.intent, own.write);
                plan.subresource = None;
            }
        }
        self.with_owners()
    }
}

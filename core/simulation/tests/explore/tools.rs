//! Tools among the actors. Their requests are written here a second time, from the documentation of the
//! tools: `kubectl apply` patches what differs between its manifest and the object that it has read,
//! and a server-side apply sends the whole manifest.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::Request;
use optimist_apiserver::server::Definition;
use optimist_client::{Intent, OnOwned, Preset, Way, WriteMethod};
use optimist_simulation::explore::{
    ExplorePreset, LossRisk, PRESETS, Plan, Scenario, Tally, ThirdActor,
};
use optimist_simulation::verdict::RefusalKind;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::every_order::{Event, Leaves, Run, by_brute_force, choice, coarse, scenario, stored};
use super::setup::{deployment, searched, set, widget};

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The documented behaviour of a tool.
#[derive(Clone, Copy)]
enum Documented {
    /// It reads, and patches the differences between its manifest, the one that it applied last, and the
    /// object. It creates the object if there is none.
    PatchesDifferences { manager: &'static str },
    /// It applies its manifest server-side, after a read or without one.
    Applies {
        reads: bool,
        force: bool,
        manager: &'static str,
    },
    /// It reads, and patches the replicas of the scale.
    Scales,
}

fn documented(way: Way) -> Documented {
    let Way::Client(preset, OnOwned::Usual) = way else {
        panic!("{way:?}");
    };
    let applies = |reads, force, manager| Documented::Applies {
        reads,
        force,
        manager,
    };
    let patches = |manager| Documented::PatchesDifferences { manager };
    match preset {
        Preset::KubectlApply => patches("kubectl-client-side-apply"),
        Preset::ArgoCdClientSide => patches("argocd-controller"),
        Preset::KubectlApplyServerSide => applies(false, false, "kubectl"),
        Preset::Helm4 => applies(true, false, "helm"),
        Preset::Terraform => applies(true, false, "Terraform"),
        Preset::ArgoCdServerSide => applies(true, true, "argocd-controller"),
        Preset::KubectlScale => Documented::Scales,
        _ => panic!("{preset:?} has no definition here"),
    }
}

/// Those that have a definition here.
const DEFINED: [Preset; 7] = [
    Preset::KubectlApply,
    Preset::ArgoCdClientSide,
    Preset::KubectlApplyServerSide,
    Preset::Helm4,
    Preset::Terraform,
    Preset::ArgoCdServerSide,
    Preset::KubectlScale,
];

pub(super) fn reads_first(way: Way) -> bool {
    !matches!(documented(way), Documented::Applies { reads: false, .. })
}

/// The part of a manifest that differs from an object; `None` if nothing does. Items with names are merged
/// by name where the server does so.
fn difference(live: &Value, manifest: &Value, merges_lists: bool) -> Option<Value> {
    match (live, manifest) {
        (Value::Object(live), Value::Object(wanted)) => {
            let mut patch = Map::new();
            for (name, value) in wanted {
                let part = match live.get(name) {
                    Some(live) => difference(live, value, merges_lists),
                    None => Some(value.clone()),
                };
                patch.extend(part.map(|part| (name.clone(), part)));
            }
            (!patch.is_empty()).then_some(Value::Object(patch))
        }
        (Value::Array(live), Value::Array(wanted))
            if merges_lists && wanted.iter().all(|item| item["name"].is_string()) =>
        {
            let items = wanted.iter().filter_map(|item| {
                let Some(live) = live.iter().find(|live| live["name"] == item["name"]) else {
                    return Some(item.clone());
                };
                let mut part = difference(live, item, merges_lists)?;
                part["name"] = item["name"].clone();
                Some(part)
            });
            let items: Vec<Value> = items.collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        (live, wanted) => (live != wanted).then(|| wanted.clone()),
    }
}

/// The members that a former manifest had and the new one has not, each as `null`.
fn removals(former: &Value, manifest: &Value) -> Value {
    let (Some(former), Some(wanted)) = (former.as_object(), manifest.as_object()) else {
        return json!({});
    };
    let mut patch = Map::new();
    for (name, value) in former {
        match wanted.get(name) {
            None => drop(patch.insert(name.clone(), Value::Null)),
            Some(wanted) => {
                let below = removals(value, wanted);
                if below.as_object().is_some_and(|below| !below.is_empty()) {
                    patch.insert(name.clone(), below);
                }
            }
        }
    }
    Value::Object(patch)
}

fn add(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (name, value) in more {
                add(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more,
    }
}

/// The manifest of a plan.
fn manifest(plan: &Plan) -> Value {
    match &plan.intent {
        Intent::Manifest(manifest) => (**manifest).clone(),
        other => panic!("{other:?}"),
    }
}

/// The same, that carries its own text.
fn noted(manifest: &Value) -> Value {
    let mut noted = manifest.clone();
    noted["metadata"]["annotations"][LAST_APPLIED] = format!("{manifest}\n").into();
    noted
}

/// The patch of `kubectl apply`; `None` if there is nothing to change.
fn patch(scenario: &Scenario, plan: &Plan, live: &Value) -> Option<Value> {
    let wanted = noted(&manifest(plan));
    let builtin = matches!(scenario.resource.definition, Definition::Builtin(_));
    let last = live["metadata"]["annotations"][LAST_APPLIED].as_str();
    let last: Value = last.map_or(json!({}), |text| serde_json::from_str(text).unwrap());
    let mut patch = removals(&last, &manifest(plan));
    add(
        &mut patch,
        difference(live, &wanted, builtin).unwrap_or(json!({})),
    );
    (patch != json!({})).then_some(patch)
}

/// The request of a tool that has read what it needs.
fn request(scenario: &Scenario, run: &Run, who: usize, does: Documented) -> Request<Vec<u8>> {
    let plan = &scenario.plans[who];
    let name = scenario.object["metadata"]["name"].as_str().unwrap();
    let path = scenario.resource.path("default", name);
    let send = |method: &str, target: String, media: &str, agent: &str, body: Value| {
        let request = Request::builder().method(method).uri(target);
        let request = request.header("content-type", format!("application/{media}"));
        let request = request.header("user-agent", agent);
        request.body(body.to_string().into_bytes()).unwrap()
    };
    match does {
        Documented::Applies { force, manager, .. } => {
            let target = format!("{path}?fieldManager={manager}&force={force}");
            send("PATCH", target, "apply-patch+yaml", manager, manifest(plan))
        }
        Documented::PatchesDifferences { manager } => {
            let Some(live) = &run.actors[who].copy else {
                let all = scenario.resource.path("default", "");
                let target = format!("{all}?fieldManager={manager}");
                return send("POST", target, "json", manager, noted(&manifest(plan)));
            };
            let media = match scenario.resource.definition {
                Definition::Builtin(_) => "strategic-merge-patch+json",
                Definition::Custom(_) => "merge-patch+json",
            };
            let patch = patch(scenario, plan, live).unwrap();
            let target = format!("{path}?fieldManager={manager}");
            send("PATCH", target, media, manager, patch)
        }
        Documented::Scales => {
            let wanted = plan.intent.done_on(&scenario.object);
            let body = json!({"spec": {"replicas": wanted["spec"]["replicas"]}});
            let target = format!("{path}/scale");
            send("PATCH", target, "merge-patch+json", "kubectl", body)
        }
    }
}

/// Every value that a write changed, with its new value. A tool means all of them. A creation changes
/// nothing: there was no object.
fn changed(before: &Leaves, after: &Leaves) -> BTreeMap<String, Option<Value>> {
    if !before.contains_key("exists") {
        return BTreeMap::new();
    }
    let places = before.keys().chain(after.keys());
    let changed = places.filter(|place| before.get(*place) != after.get(*place));
    let changed = changed.map(|place| (place.clone(), after.get(place).cloned()));
    changed.collect()
}

/// A step of a tool.
pub(super) fn step(scenario: &Scenario, run: &mut Run, who: usize, way: Way) {
    let does = documented(way);
    if run.actors[who].reads {
        let name = scenario.object["metadata"]["name"].as_str().unwrap();
        let get = Request::get(scenario.resource.path("default", name));
        let response = run.server.handle(get.body(Vec::new()).unwrap());
        let actor = &mut run.actors[who];
        actor.reads = false;
        if response.status() == 200 {
            let live: Value = serde_json::from_slice(response.body()).unwrap();
            let patches = matches!(does, Documented::PatchesDifferences { .. });
            actor.done = patches && patch(scenario, &scenario.plans[who], &live).is_none();
            actor.copy = Some(Arc::new(live));
            run.events.push(Event::Shown(who));
        } else {
            actor.done = matches!(does, Documented::Scales);
            run.events.push(Event::NotShown(who));
        }
        return;
    }
    let before = stored(scenario, &run.server);
    let request = request(scenario, run, who, does);
    let response = run.server.handle(request);
    run.actors[who].done = true;
    if response.status().is_success() {
        let after = stored(scenario, &run.server);
        let wanted = changed(&before, &after);
        run.events.push(Event::Wrote(who, wanted, after));
    } else {
        let code = response.status().as_u16();
        run.events.push(Event::Refused(who, code));
    }
}

/// The write methods of the other two. The retries have many orders: two tools have them.
fn ways_beside(preset: Preset) -> &'static [WriteMethod] {
    let all = &[
        WriteMethod::Update,
        WriteMethod::Strategic,
        WriteMethod::ApplyForced,
        WriteMethod::UpdateReadAgain,
    ];
    match preset {
        Preset::KubectlApply | Preset::KubectlApplyServerSide => all,
        _ => &all[..2],
    }
}

/// Compares the counts of a ready pair with a tool, and returns those of the search.
fn compared(ready: &ExplorePreset, preset: Preset, way: WriteMethod) -> Tally {
    let mut scenario = ready.scenario().unwrap();
    let third = ThirdActor::Tool(preset);
    scenario.plans.push(third.plan(&scenario));
    let scenario = scenario.in_ways(&[way], 2).unwrap();
    let brute = by_brute_force(&scenario);
    let tally = searched(scenario).tally();
    let name = format!("{}, {}, {}", ready.slug, third.slug(), way.slug());
    assert_eq!(coarse(tally), brute, "{name}");
    tally
}

#[test]
fn a_tool_beside_every_ready_pair_has_the_counts_of_its_documentation() {
    let mut rows = [0; 4];
    for ready in PRESETS {
        for preset in DEFINED {
            for way in ways_beside(preset) {
                let tally = compared(&ready, preset, *way);
                let counts = [tally.in_object, tally.replaced, tally.refused, tally.lost];
                for (rows, count) in rows.iter_mut().zip(counts) {
                    *rows += usize::from(count > 0);
                }
            }
        }
    }
    assert!(rows.iter().all(|rows| *rows > 20), "{rows:?}");
}

/// A manifest that named the edited field alone would give up the selector, when Flux has taken over what kubectl
/// wrote: the server would refuse it.
#[test]
fn an_editor_as_a_tool_that_applies_has_the_whole_object_with_its_edit_as_its_manifest() {
    let tools = DEFINED.into_iter().chain([Preset::Flux]);
    for preset in tools.filter(|preset| preset.writes_manifest()) {
        let start = deployment();
        let mut whole = manifest(&ThirdActor::Tool(preset).plan(&start));
        let metadata = whole["metadata"].as_object_mut().unwrap();
        metadata.remove("annotations");
        whole["spec"]["replicas"] = 5.into();
        let by_tool = Plan::new("editor-a", set(&start, "/spec/replicas", 5)).by_tool(preset);
        let with_manifest = Plan {
            intent: Intent::Manifest(Arc::new(whole)),
            ..by_tool.clone()
        };
        let [tally, expected] = [by_tool, with_manifest].map(|plan| {
            let mut scenario = deployment();
            let editor = Plan::new("editor-b", set(&scenario, "/spec/minReadySeconds", 9));
            scenario.plans = vec![plan, editor];
            searched(scenario.in_ways(&[WriteMethod::Update], 2).unwrap()).tally()
        });
        assert_eq!(coarse(tally), coarse(expected), "{preset:?}");
        assert_eq!(tally.refused_by(RefusalKind::NotPossible), 0, "{preset:?}");
    }
}

#[test]
fn a_tool_that_cannot_write_the_kind_is_named() {
    let Scenario { server, .. } = widget();
    let resource = server.resources().by_kind("example.com/v1", "Widget");
    assert!(resource.is_some_and(|widget| !widget.serves("scale")));
    for preset in [Preset::KubectlScale, Preset::Autoscaler] {
        let mut scenario = widget();
        scenario
            .plans
            .push(ThirdActor::Tool(preset).plan(&scenario));
        let refused = scenario.in_ways(&[WriteMethod::Update], 1).unwrap_err();
        assert!(
            refused.contains("writes the scale subresource, and Widget has none"),
            "{refused}"
        );
    }
    let mut scenario = widget();
    let apply = ThirdActor::Tool(Preset::KubectlApply).plan(&scenario);
    scenario.plans.push(apply);
    assert!(scenario.in_ways(&[WriteMethod::Update], 1).is_ok());
}

/// Flux leaves an object alone that says so.
#[test]
fn a_tool_that_sends_no_write_cannot_write_here() {
    let mut scenario = deployment();
    let mut flux = ThirdActor::Tool(Preset::Flux).plan(&scenario);
    let mut excluded = manifest(&flux);
    excluded["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/ssa"] = "Ignore".into();
    flux.intent = Intent::Manifest(Arc::new(excluded));
    scenario.plans = vec![
        Plan::new("editor-a", set(&scenario, "/spec/replicas", 5)),
        flux,
    ];
    let scenario = scenario.in_ways(&[WriteMethod::Update], 1).unwrap();
    let search = searched(scenario);
    assert_eq!(search.tally().lost, 0);
    assert_eq!(search.loss_risk(), LossRisk::Impossible);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn two_editors_and_a_tool(
        choices in prop::collection::vec(choice(2), 2),
        preset in prop::sample::select(DEFINED.to_vec()),
        custom in any::<bool>(),
    ) {
        let mut scenario = scenario(&choices, custom, false);
        let third = ThirdActor::Tool(preset);
        scenario.plans.push(third.plan(&scenario));
        // A Widget has no scale.
        if preset != Preset::KubectlScale || !custom {
            let brute = by_brute_force(&scenario);
            prop_assert_eq!(coarse(searched(scenario).tally()), brute);
        }
    }

    /// An editor and two tools, whoever of them is A. The tools want different values.
    #[test]
    fn an_editor_and_two_tools_in_any_place(
        choices in prop::collection::vec(choice(2), 1),
        presets in prop::collection::vec(prop::sample::select(DEFINED.to_vec()), 2),
        places in (0usize..2, 0usize..3),
        custom in any::<bool>(),
    ) {
        let mut scenario = scenario(&choices, custom, false);
        let of_scale = presets.contains(&Preset::KubectlScale);
        // Where an object carries a manifest, `kubectl apply --server-side` and Argo CD send further requests, which have
        // no definition here: they keep that manifest up to date.
        let carries = [Preset::KubectlApply, Preset::ArgoCdClientSide];
        let carried = carries.iter().any(|preset| presets.contains(preset));
        let updates = [Preset::KubectlApplyServerSide, Preset::ArgoCdServerSide];
        let updated = updates.iter().any(|preset| presets.contains(preset));
        prop_assume!(!carried || !updated);
        let mut tools: Vec<Plan> = presets
            .iter()
            .map(|preset| ThirdActor::Tool(*preset).plan(&scenario))
            .collect();
        if let Intent::Manifest(first) = &tools[0].intent {
            let mut other = Value::clone(first);
            other["metadata"]["annotations"]["example.com/checked"] = "no".into();
            tools[0].intent = Intent::Manifest(Arc::new(other));
        }
        for (tool, at) in tools.into_iter().zip([places.0, places.1]) {
            scenario.plans.insert(at, tool);
        }
        // A Widget has no scale.
        if !of_scale || !custom {
            let brute = by_brute_force(&scenario);
            prop_assert_eq!(coarse(searched(scenario).tally()), brute);
        }
    }
}

//! A third actor of Explore that is a tool: what is said of it is checked in Play, over its requests and the
//! stored object.

use optimist_client::WriteMethod;
use optimist_messages::explore as said_of;
use optimist_simulation::explore::{
    ExplorePreset, PRESETS, Plan, Search, SearchStatus, ThirdActor, Transition, TransitionId,
    TransitionKind, replayed,
};
use optimist_simulation::{Exchange, HistoryTree, World};

use super::hearing::{ConditionOf, Conditions, Hearing};
use super::judge::{Leaves, leaves};
use super::moment::is_dry_run;
use super::said::Said;

/// The index of the tool among the actors.
const TOOL: usize = 2;

/// The changes of a tool that is alone: the object before and after.
pub struct Alone {
    before: Leaves,
    after: Leaves,
    /// `true` if the body of one of its requests has a `spec`.
    sends_spec: bool,
}

impl Alone {
    /// The places whose values differ, but the marks by which a tool knows its objects.
    fn changed(&self) -> Vec<&Vec<String>> {
        let places = self.before.keys().chain(self.after.keys());
        let differs = |place: &&Vec<String>| self.before.get(*place) != self.after.get(*place);
        let mut changed: Vec<_> = places.filter(differs).collect();
        changed.sort();
        changed.dedup();
        changed.retain(|place| !is_mark(place));
        changed
    }

    /// Returns whether one annotation is new, and nothing else.
    fn annotates(&self) -> bool {
        let changed = self.changed();
        let [place] = changed[..] else {
            return false;
        };
        let is_new = !self.before.contains_key(place);
        is_new && place.starts_with(&["metadata".to_owned(), "annotations".to_owned()])
    }

    fn replicas(&self) -> Option<(u64, u64)> {
        let place = ["spec".to_owned(), "replicas".to_owned()];
        let value = |leaves: &Leaves| leaves.get(&place[..])?.as_u64();
        Some((value(&self.before)?, value(&self.after)?))
    }
}

/// Returns whether a tool writes this annotation or label by itself: kubectl its record, Helm, Argo CD and Flux
/// the name of the release or the application.
pub fn is_mark(place: &[String]) -> bool {
    let [first, second, key, ..] = place else {
        return false;
    };
    let marks = ["kubectl.kubernetes.io/", "meta.helm.sh/", "argocd."];
    let marks = marks.iter().any(|mark| key.starts_with(mark));
    let in_metadata = first == "metadata" && ["annotations", "labels"].contains(&second.as_str());
    in_metadata && (marks || key == "app.kubernetes.io/managed-by" || key.contains("fluxcd.io/"))
}

pub const ALONE: &[(&str, ConditionOf<Alone>)] = &[
    ("with_tool", |said, it| {
        // Who edits has no manifest.
        Some(it.annotates() && said.text("tool") != "kubectl edit")
    }),
    ("with_editing_tool", |_, it| {
        Some(it.annotates() && !it.sends_spec)
    }),
    ("with_scaling_tool", |_, it| {
        let (before, after) = it.replicas()?;
        Some(after == before + 1 && it.changed().len() == 1)
    }),
];

/// A step of a tool, performed in Play.
pub struct ToolStep {
    actor: &'static str,
    method: String,
    code: u16,
    is_dry_run: bool,
    /// `true` if nothing was stored by it.
    is_unchanged: bool,
    /// `true` if there was no object.
    is_deleted: bool,
    /// The code of the tool's next request that is no dry run, if nobody comes before it, and whether there is an
    /// object then.
    next: Option<(u16, bool)>,
}

pub const STEPS: &[(&str, ConditionOf<ToolStep>)] = &[
    ("reads_nothing", |said, it| {
        let code = said.number("code")? == u64::from(it.code) && it.code == 404;
        let reads = it.method == "GET" && said.text("actor") == it.actor;
        Some(code && reads && it.is_deleted && it.next == Some((201, true)))
    }),
    ("tries_dry_run", |said, it| {
        Some(said.text("actor") == it.actor && tries(said, it))
    }),
    ("step_dry_run", |said, it| Some(tries(said, it))),
];

fn tries(said: &Said, it: &ToolStep) -> bool {
    let verb = said.text("verb");
    let same = verb == it.method || (verb == "APPLY" && it.method == "PATCH");
    same && it.is_dry_run && it.is_unchanged
}

/// A search with a tool as the third actor, and the moment from which it begins.
struct Searched {
    search: Search,
    start: HistoryTree,
}

/// The request of the current step.
fn exchange(tree: &HistoryTree) -> Option<Exchange> {
    tree.step(tree.current())?.exchange.clone()
}

impl Searched {
    fn new(preset: &ExplorePreset, third: ThirdActor) -> Option<Self> {
        let mut scenario = preset.scenario().ok()?;
        let plan = third.plan(&scenario);
        scenario.plans.push(plan);
        let scenario = scenario.in_ways(&[WriteMethod::UpdateVersioned], 1).ok()?;
        let mut search = Search::new(scenario, 4000);
        (search.run() == SearchStatus::Done).then_some(())?;
        let start = HistoryTree::new(World::load(preset.manifest).ok()?.0);
        Some(Self { search, start })
    }

    fn after(&self, path: &[TransitionId]) -> HistoryTree {
        replayed(&self.search, path, path.len(), self.start.clone())
    }

    /// The next step of the tool in a state.
    fn next(&self, state: usize) -> Option<TransitionId> {
        let mut edges = self.search.view(state)?.edges();
        edges.find(|edge| self.search.edges()[*edge].actor == TOOL)
    }

    /// The object before and after the tool's requests, with nobody else.
    fn alone(&self) -> Option<Alone> {
        let (mut path, mut at) = (Vec::new(), 0);
        let mut sends_spec = false;
        while let Some(edge) = self.next(at) {
            path.push(edge);
            at = self.search.edges()[edge].to;
            let sent = exchange(&self.after(&path));
            sends_spec |= sent.is_some_and(|it| it.sent.get("spec").is_some());
        }
        let stored = |tree: &HistoryTree| {
            let stored = tree.world().stored();
            stored.map(|(_, object)| leaves(object))
        };
        Some(Alone {
            before: stored(&self.start)?,
            after: stored(&self.after(&path))?,
            sends_spec,
        })
    }

    fn step(&self, id: TransitionId) -> Option<(Transition, ToolStep)> {
        let edge = self.search.edges()[id];
        let mut path = self.search.path_to(edge.from);
        let before = self.after(&path);
        path.push(id);
        let after = self.after(&path);
        let revision = |tree: &HistoryTree| tree.world().server().store().revision();
        let sent = exchange(&after)?;
        let (mut at, mut next) = (edge.to, None);
        while let Some(id) = self.next(at).filter(|_| next.is_none()) {
            path.push(id);
            at = self.search.edges()[id].to;
            let then = self.after(&path);
            let sent = exchange(&then)?;
            let stores = !is_dry_run(&sent);
            next = stores.then(|| (sent.code, then.world().stored().is_some()));
        }
        let step = ToolStep {
            actor: "C",
            method: sent.method.to_string(),
            code: sent.code,
            is_dry_run: is_dry_run(&sent),
            is_unchanged: revision(&before) == revision(&after),
            is_deleted: before.world().stored().is_none(),
            next,
        };
        Some((edge, step))
    }
}

/// Says what each tool does alone, and its dry runs and reads of nothing beside two pairs of edits.
pub fn each(hearing: &mut Hearing) {
    let alone: Conditions<Alone> = ALONE.iter().copied().collect();
    let steps: Conditions<ToolStep> = STEPS.iter().copied().collect();
    for slug in ["different-fields", "delete-and-edit"] {
        let preset = PRESETS.iter().find(|it| it.slug == slug);
        let preset = preset.expect("the pair is there");
        for third in Plan::TOOLS.map(ThirdActor::Tool) {
            let told = || format!("   {slug}: {third:?}");
            let searched = Searched::new(preset, third).expect("it is searched");
            let (_, says) = said_of::pair(preset).expect("the pair has messages");
            let about = searched.alone().expect("the tool writes");
            hearing.hear(&said_of::with_third(&says, third), &alone, &about, &told);

            let edges = searched.search.edges();
            let said = |edge: &Transition| match edge.what {
                TransitionKind::DryRun => edge.code < 400,
                TransitionKind::Read => edge.code >= 400,
                _ => false,
            };
            let of_tool =
                (0..edges.len()).filter(|id| edges[*id].actor == TOOL && said(&edges[*id]));
            for id in of_tool.take(5) {
                let (edge, about) = searched.step(id).expect("the step is performed");
                hearing.hear(
                    &said_of::step(&searched.search, &edge),
                    &steps,
                    &about,
                    &told,
                );
                for text in said_of::transition(&searched.search, &edge) {
                    hearing.hear(&text, &steps, &about, &told);
                }
            }
        }
    }
}

/// The names of all messages that have a condition here.
pub fn names() -> Vec<&'static str> {
    let alone = ALONE.iter().map(|(name, _)| *name);
    alone.chain(STEPS.iter().map(|(name, _)| *name)).collect()
}

//! A property of every history, against a second definition over a graph of everything: states are one there
//! only if nothing tells them apart, and what a process did is read off its request and its variables.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use optimist_checker::{
    AnyCondition, HistoryProperty, HistoryViolation, ObjectCondition, Occurrence, PropertySearch,
    PropertySearchStatus, Question, Settling, StoredObjects,
};
use optimist_client::{
    Editor, EditorPlan, IntendedChange, Intent, OnOwned, Preset, Procedure, Tool, ToolPlan,
    WantedChange, Way, WorkingCopy, Write,
};
use optimist_controller::Source;
use optimist_controller::program::{
    ChildMaker, ControllerOptions, FinalizerKeeper, StatusWriter, Variable,
};
use optimist_ledger::ObjectRef;
use optimist_system::{Event, Performed, System};
use serde_json::{Value, json};

use crate::brute_force::exactly;
use crate::start::{config_map, replay, server, system, widget};

/// A condition that both the search and the graph can look at.
#[derive(Clone, Debug, PartialEq)]
enum Condition {
    Is(&'static str, Value),
    Children(usize),
    Exists,
    Not(Box<Condition>),
}

/// What a moment shows: the widget, and the number of children.
type Shown = (Option<Value>, usize);

impl Condition {
    fn judged(&self, (object, children): &Shown) -> bool {
        let value = |field: &str| object.as_ref()?.pointer(field).cloned();
        match self {
            Self::Is(field, wanted) => value(field).as_ref() == Some(wanted),
            Self::Children(most) => children <= most,
            Self::Exists => object.is_some(),
            Self::Not(condition) => !condition.judged(&(object.clone(), *children)),
        }
    }

    /// The part of a moment at which it looks.
    fn part(&self, (object, children): &Shown) -> Value {
        match self {
            Self::Is(field, _) => json!(object.as_ref().and_then(|it| it.pointer(field))),
            Self::Children(_) => json!(children),
            Self::Exists => json!(object.is_some()),
            Self::Not(condition) => condition.part(&(object.clone(), *children)),
        }
    }
}

impl ObjectCondition for Condition {
    fn holds(&self, stored: StoredObjects<'_>) -> bool {
        self.judged(&(stored.object().cloned(), stored.count(&config_map())))
    }

    fn sees_same(&self, one: StoredObjects<'_>, other: StoredObjects<'_>) -> bool {
        let shown = |it: StoredObjects<'_>| (it.object().cloned(), it.count(&config_map()));
        self.part(&shown(one)) == self.part(&shown(other))
    }
}

const PATH: &str = "/apis/demo.example.com/v1/namespaces/default/widgets/web";

fn shown(state: &System) -> Shown {
    let store = state.server().store();
    let widget = store.get("/registry/demo.example.com/widgets/default/web");
    let children = store.range("/registry/configmaps/").count();
    (widget.map(|(_, object)| Value::clone(object)), children)
}

/// A step of the graph.
#[derive(Clone)]
struct Step {
    to: usize,
    who: usize,
    reads: bool,
    /// Whether the server accepted a write of the widget.
    writes: Option<bool>,
    loses: bool,
    contested: bool,
}

/// The variables of a controller that hold the widget.
fn holding(state: &System, process: u8) -> Vec<String> {
    let is_widget =
        |object: &Value| object["kind"] == "Widget" && object["metadata"]["name"] == "web";
    let run = state.controller(process).and_then(|it| it.run());
    let variables = run.into_iter().flat_map(|run| run.variables());
    let holding = variables.filter(|(_, variable)| match variable {
        Variable::Object { object, .. } => is_widget(object),
        Variable::List { objects, .. } => objects.iter().any(|it| is_widget(it)),
    });
    holding.map(|(name, _)| name.to_owned()).collect()
}

fn step(event: Event, before: &System, after: &System, performed: &Performed, to: usize) -> Step {
    let process = match event {
        Event::Request(it) | Event::Step(it) | Event::AnswerLost(it) => Some(it),
        _ => None,
    };
    let answered = performed.answered.as_ref().filter(|_| process.is_some());
    let about = answered.filter(|it| it.target().split('?').next().unwrap().starts_with(PATH));
    let code = |it: &optimist_client::AnsweredRequest| it.response.status().as_u16();
    let (gets, writes) = match about {
        Some(it) if it.request.method() == "GET" => (code(it) == 200, None),
        // Flux asks first what its apply would do.
        Some(it) if it.target().contains("dryRun=All") => (false, None),
        Some(it) => (false, Some(code(it) < 400)),
        None => (false, None),
    };
    let had = process.map(|it| holding(before, it)).unwrap_or_default();
    let mut has = process.map(|it| holding(after, it)).unwrap_or_default();
    has.retain(|name| !had.contains(name));
    Step {
        to,
        who: process.map_or(usize::MAX, usize::from),
        reads: gets || !has.is_empty(),
        writes,
        loses: !performed.done.losses.is_empty(),
        contested: performed.done.contested,
    }
}

/// Every state of a system, told apart by everything, and the steps between them.
struct Graph {
    moments: Vec<Shown>,
    steps: Vec<Vec<Step>>,
    /// The states in which nothing but a fault is possible.
    ends: HashSet<usize>,
}

impl Graph {
    fn new(start: &System) -> Self {
        let everything = |state: &System| format!("{}{:?}", exactly(state), state.ledger());
        let mut known = HashMap::from([(everything(start), 0)]);
        let (mut states, mut steps, mut ends) = (vec![start.clone()], Vec::new(), HashSet::new());
        while steps.len() < states.len() {
            let (from, state) = (steps.len(), states[steps.len()].clone());
            let enabled = state.enabled();
            if enabled.iter().all(|event| event.is_fault()) {
                ends.insert(from);
            }
            let mut all = Vec::new();
            for event in enabled {
                let mut next = state.clone();
                let performed = next.perform(event).expect("it is possible");
                let new = states.len();
                let to = *known.entry(everything(&next)).or_insert(new);
                all.push(step(event, &state, &next, &performed, to));
                if to == new {
                    states.push(next);
                }
            }
            steps.push(all);
            assert!(states.len() < 20_000, "a small scenario");
        }
        let moments = states.iter().map(shown).collect();
        Self {
            moments,
            steps,
            ends,
        }
    }

    fn occurs(&self, occurrence: &Occurrence<Condition>, step: &Step) -> bool {
        match occurrence {
            Occurrence::Reads(who) => step.who == *who && step.reads,
            Occurrence::Writes(who) => step.who == *who && step.writes == Some(true),
            Occurrence::IsRefused(who) => step.who == *who && step.writes == Some(false),
            Occurrence::Holds(condition) => condition.judged(&self.moments[step.to]),
        }
    }

    /// The number of steps of a shortest history that ends with a step, and without another before.
    fn shortest(
        &self,
        ends: &dyn Fn(&Step) -> bool,
        bars: &dyn Fn(&Step) -> bool,
    ) -> Option<usize> {
        let (mut seen, mut now) = (HashSet::from([0]), vec![0]);
        let mut length = 1;
        while !now.is_empty() {
            let mut next = Vec::new();
            for step in now.iter().flat_map(|state: &usize| &self.steps[*state]) {
                if ends(step) {
                    return Some(length);
                }
                if !bars(step) && seen.insert(step.to) {
                    next.push(step.to);
                }
            }
            (now, length) = (next, length + 1);
        }
        None
    }

    /// The number of steps after which a shortest history breaks a property that is broken by a step.
    fn broken_after(&self, property: &HistoryProperty<Condition>) -> Option<usize> {
        let never = |_: &Step| false;
        match property {
            HistoryProperty::NoEditLost => self.shortest(&|step| step.loses, &never),
            HistoryProperty::Always(condition) => {
                let holds = |state: usize| condition.judged(&self.moments[state]);
                match holds(0) {
                    true => self.shortest(&|step| !holds(step.to), &never),
                    false => Some(0),
                }
            }
            HistoryProperty::Before(first, second) => {
                let now = |occurrence: &Occurrence<Condition>| match occurrence {
                    Occurrence::Holds(condition) => condition.judged(&self.moments[0]),
                    _ => false,
                };
                match (now(first), now(second)) {
                    (_, true) => Some(0),
                    (true, false) => None,
                    (false, false) => self.shortest(&|step| self.occurs(second, step), &|step| {
                        self.occurs(first, step)
                    }),
                }
            }
            HistoryProperty::Settles | HistoryProperty::AtRest(_) => None,
        }
    }

    fn tries(&self, property: &HistoryProperty<Condition>) -> bool {
        let mut steps = self.steps.iter().flatten();
        match property {
            HistoryProperty::NoEditLost => steps.any(|step| step.contested),
            HistoryProperty::Settles => steps.next().is_some(),
            HistoryProperty::Always(condition) | HistoryProperty::AtRest(condition) => {
                let start = condition.part(&self.moments[0]);
                self.moments.iter().any(|it| condition.part(it) != start)
            }
            HistoryProperty::Before(_, second) => steps.any(|step| self.occurs(second, step)),
        }
    }

    /// Returns whether a history can go through a state twice: it has no end then.
    fn has_cycle(&self) -> bool {
        let mut comes_to = vec![0; self.steps.len()];
        for step in self.steps.iter().flatten() {
            comes_to[step.to] += 1;
        }
        let mut open: VecDeque<usize> = (0..comes_to.len())
            .filter(|it| comes_to[*it] == 0)
            .collect();
        let mut ordered = 0;
        while let Some(state) = open.pop_front() {
            ordered += 1;
            for step in &self.steps[state] {
                comes_to[step.to] -= 1;
                if comes_to[step.to] == 0 {
                    open.push_back(step.to);
                }
            }
        }
        ordered < self.steps.len()
    }
}

fn about() -> ObjectRef {
    let server = server();
    let kind = widget();
    let resource = server
        .resources()
        .by_kind(&kind.api_version, &kind.kind)
        .unwrap();
    ObjectRef::new(
        resource,
        &json!({"metadata": {"name": "web", "namespace": "default"}}),
    )
}

/// An editor that reads the widget and sends an Update that sets a field.
fn sets(field: &str, value: Value) -> Editor {
    Editor::from(EditorPlan {
        object: about(),
        manager: "anna".into(),
        copy: WorkingCopy::BLANK,
        intent: Some(Intent::Change(vec![IntendedChange::at(field, Some(value))])),
        write: Write::default(),
    })
}

/// A tool that reads the widget and writes it by a manifest, with another size and an annotation.
fn writes_manifest(preset: Preset) -> Procedure {
    let manifest = json!({"apiVersion": "demo.example.com/v1", "kind": "Widget",
        "metadata": {"name": "web", "namespace": "default", "annotations": {"by": "tool"}},
        "spec": {"size": 2}});
    let plan = ToolPlan {
        object: about(),
        way: Way::Client(preset, OnOwned::Usual),
        change: Arc::new(WantedChange::manifest(manifest)),
        first: None,
    };
    Tool::from(plan).into()
}

/// Small systems: a controller, and an editor or a tool.
fn scenarios() -> Vec<System> {
    let maker = ChildMaker {
        parent: widget(),
        child: config_map(),
        generated_name: true,
        list_from: Source::Cache,
        expectations: false,
        ignore_already_exists: true,
        options: ControllerOptions::default(),
    };
    let keeper = FinalizerKeeper {
        kind: widget(),
        finalizer: "example.com/keep".to_owned(),
        name: "keeper".to_owned(),
        lock: false,
    };
    let kept = json!(["example.com/backup"]);
    let mut all = vec![
        system(keeper.program()).with(sets("/metadata/finalizers", kept)),
        system(maker.program()).with(sets("/spec/size", json!(2))),
    ];
    let tools = [Preset::KubectlReplace, Preset::Flux];
    all.extend(tools.map(|preset| system(keeper.program()).with(writes_manifest(preset))));
    all.into_iter().map(System::with_ledger).collect()
}

fn conditions() -> Vec<Condition> {
    let size = |size: u8| Condition::Is("/spec/size", json!(size));
    let kept = Condition::Is("/metadata/finalizers/0", json!("example.com/keep"));
    let all = [
        size(1),
        size(2),
        Condition::Children(0),
        Condition::Children(1),
        Condition::Exists,
        kept,
    ];
    let not = all.iter().map(|it| Condition::Not(Box::new(it.clone())));
    let not: Vec<Condition> = not.collect();
    all.into_iter().chain(not).collect()
}

fn properties() -> Vec<HistoryProperty<Condition>> {
    let mut all = vec![HistoryProperty::NoEditLost, HistoryProperty::Settles];
    all.extend(conditions().into_iter().map(HistoryProperty::Always));
    all.extend(conditions().into_iter().map(HistoryProperty::AtRest));
    let mut parts: Vec<Occurrence<Condition>> = Vec::new();
    for who in 0..2 {
        parts.extend([
            Occurrence::Reads(who),
            Occurrence::Writes(who),
            Occurrence::IsRefused(who),
        ]);
    }
    let held = [2, 6, 8, 11].map(|at| Occurrence::Holds(conditions()[at].clone()));
    parts.extend(held);
    for first in &parts {
        let seconds = parts.iter().step_by(2);
        let pairs = seconds.map(|second| (first.clone(), second.clone()));
        all.extend(pairs.map(|(first, second)| HistoryProperty::Before(first, second)));
    }
    all
}

fn asked(start: &System, property: &HistoryProperty<Condition>) -> Question {
    let any = |condition| -> AnyCondition { Arc::new(condition) };
    Question::new(start.clone()).history(property.clone().map(any), about())
}

#[test]
fn the_answer_is_that_of_a_graph_of_everything() {
    let (mut broken, mut kept, mut untried) = (0, 0, 0);
    for start in scenarios() {
        let graph = Graph::new(&start);
        assert!(!graph.has_cycle(), "each history ends");
        for property in properties() {
            let question = asked(&start, &property);
            let mut search = PropertySearch::new(question.clone(), 20_000);
            assert_eq!(search.run(), PropertySearchStatus::Done);
            assert_eq!(search.explored_steps(), None);
            assert_eq!(
                search.has_tried_history(),
                graph.tries(&property),
                "{property:?}"
            );
            let wanted = graph.broken_after(&property);
            let rests_wrong = match &property {
                HistoryProperty::AtRest(condition) => {
                    let mut ends = graph.ends.iter();
                    ends.any(|end| !condition.judged(&graph.moments[*end]))
                }
                _ => false,
            };
            match search.history_violation() {
                None => {
                    assert_eq!((wanted, rests_wrong), (None, false), "{property:?}");
                    kept += 1;
                    untried += usize::from(!graph.tries(&property));
                }
                Some(HistoryViolation::Step(path)) => {
                    assert_eq!(Some(path.len()), wanted, "{property:?}");
                    replay(&question, &path);
                    broken += 1;
                }
                Some(HistoryViolation::Settling(Settling::RestsWrong { path, .. })) => {
                    assert!(rests_wrong, "{property:?}");
                    let states = replay(&question, &path);
                    let HistoryProperty::AtRest(condition) = &property else {
                        panic!("{property:?}");
                    };
                    let end = states.last().unwrap();
                    assert!(end.enabled().iter().all(|event| event.is_fault()));
                    assert!(!condition.judged(&shown(end)));
                    broken += 1;
                }
                Some(other) => panic!("{property:?} {other:?}"),
            }
        }
    }
    assert!(
        broken > 80 && kept > 60 && untried > 40,
        "{broken} {kept} {untried}"
    );
}

#[test]
fn a_search_that_is_not_over_claims_nothing_that_is_not_so() {
    let start = scenarios().swap_remove(0);
    let graph = Graph::new(&start);
    for property in properties().into_iter().step_by(3) {
        let mut search = PropertySearch::new(asked(&start, &property), 20_000);
        while search.advance(5) == PropertySearchStatus::Running {
            let steps = search.explored_steps().expect("some are not explored");
            if let Some(HistoryViolation::Step(path)) = search.history_violation() {
                assert_eq!(
                    Some(path.len()),
                    graph.broken_after(&property),
                    "{property:?}"
                );
                assert!(path.len() <= steps);
            }
        }
        let mut few = PropertySearch::new(asked(&start, &property), 30);
        assert_eq!(few.run(), PropertySearchStatus::TooManyStates);
        let steps = few.explored_steps().expect("some are not explored");
        if let Some(broken) = graph.broken_after(&property)
            && broken <= steps
        {
            let Some(HistoryViolation::Step(path)) = few.history_violation() else {
                panic!("{property:?}: {broken} of {steps}");
            };
            assert_eq!(path.len(), broken);
        }
    }
}

#[test]
fn who_writes_for_ever_does_not_come_to_rest() {
    let writer = StatusWriter {
        kind: widget(),
        clock: true,
        compare: false,
        generation_changed: false,
        in_place: false,
    };
    let start = system(writer.program());
    for property in [
        HistoryProperty::Settles,
        HistoryProperty::AtRest(Condition::Exists),
    ] {
        let mut search = PropertySearch::new(asked(&start, &property), 20_000);
        search.run();
        let found = search.history_violation();
        let Some(HistoryViolation::Settling(Settling::NeverRests(never))) = found else {
            panic!("{found:?}");
        };
        let way = [never.path, never.repeated].concat();
        let states = replay(&asked(&start, &property), &way);
        let revision = |state: &System| state.server().store().revision();
        assert!(revision(states.last().unwrap()) > revision(&states[0]));
    }
}

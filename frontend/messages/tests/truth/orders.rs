//! The search of every order of a controller's steps: what it says of each property is tried by runs of
//! Play, with the shortest history that breaks it and with random ones.

use optimist_checker::is_interchangeable;
use optimist_client::Preset;
use optimist_controller::program::{ReadyProgram, ReadyProgramName};
use optimist_lesson::parse_controller_property;
use optimist_messages::orders as messages;
use optimist_simulation::explore::{
    ControllerQuestion, ControllerReplay, ControllerSearch, PropertyAnswer, ThirdActor,
};
use optimist_simulation::{
    Action, ActorId, ByHand, ControllerOperation, HistoryTree, NGINX, Operation, Start, WIDGET,
    World,
};

use crate::generate;
use crate::hearing::{ConditionOf, Conditions, Hearing};
use crate::judge::leaves;
use crate::one_more::OneMore;
use crate::order_properties::{breaks, wished};
use crate::own_property::Own;
use crate::random::Random;
use crate::said::{self, Said};

/// Runs from the moment of a search, one step after the other.
pub struct Orders {
    start: World,
    /// `true` if each run is the whole answer: all states were looked at.
    complete: bool,
    states: usize,
    /// The editors without an edit.
    idle: Vec<String>,
    restarts: u8,
    /// The property in question.
    property: Option<Said>,
    /// Random runs; each world with the tree up to it.
    runs: Vec<Vec<HistoryTree>>,
    /// The random runs that ended because nothing happens any more.
    rested: Vec<HistoryTree>,
    /// The shortest history that breaks it.
    witness: Option<Vec<HistoryTree>>,
    /// The same history as a session that is opened.
    opened: Option<HistoryTree>,
    /// The number of steps that the search claims.
    steps: usize,
    /// The property in question that somebody wrote, and the tree at the start.
    own: Option<(Own, HistoryTree)>,
    /// The number of steps up to which everything was searched.
    explored: Option<usize>,
    one_more: Option<OneMore>,
}

impl Orders {
    /// Returns whether some step of some runs breaks the property.
    fn broken_in(&self, runs: &[Vec<HistoryTree>]) -> Option<bool> {
        if let Some((own, start)) = &self.own {
            return Some(runs.iter().any(|run| own.broken_in(start, run)));
        }
        let property = self.property.as_ref()?;
        for run in runs {
            let mut before = &self.start;
            for tree in run {
                if breaks(property, before, tree)? {
                    return Some(true);
                }
                before = tree.world();
            }
        }
        Some(false)
    }

    fn is_settling(&self) -> bool {
        let rests = |it: &Said| it.name().starts_with("orders_rests");
        match &self.own {
            Some((own, _)) => own.is_settling(),
            None => self.property.as_ref().is_some_and(rests),
        }
    }
}

pub const ORDERS: &[(&str, ConditionOf<Orders>)] = &[
    ("orders_states", |said, it| {
        let states: usize = said.text("states").replace(',', "").parse().ok()?;
        Some(states == it.states)
    }),
    ("orders_not_varied_edit", |said, it| {
        Some(it.idle.contains(&said.text("name")))
    }),
    ("orders_varied_edit", |said, it| {
        Some(!it.idle.contains(&said.text("name")))
    }),
    ("orders_varied_third", |said, it| {
        it.one_more.as_ref()?.is(said)
    }),
    ("orders_varied_tool", |said, it| {
        it.one_more.as_ref()?.is(said)
    }),
    ("orders_varied_editing_tool", |said, it| {
        it.one_more.as_ref()?.is(said)
    }),
    ("orders_varied_scaling_tool", |said, it| {
        it.one_more.as_ref()?.is(said)
    }),
    ("orders_varied_restarts", |said, it| {
        let controllers = it.start.controllers().count() as u64;
        let named = said.number("controllers")? == controllers;
        Some(named && said.number("restarts")? == u64::from(it.restarts))
    }),
    ("orders_incomplete", |_, it| Some(!it.complete)),
    ("orders_up_to", |said, it| {
        let steps = said.number("steps")? as usize;
        // Whatever breaks it in fewer steps would have been found.
        let short = |run: &Vec<HistoryTree>| run[..run.len().min(steps)].to_vec();
        let runs: Vec<Vec<HistoryTree>> = it.runs.iter().map(short).collect();
        let silent = it.witness.is_none() && it.own.is_some();
        let missed = silent && !it.is_settling() && it.broken_in(&runs)?;
        Some(!it.complete && it.explored == Some(steps) && !missed)
    }),
    ("orders_own_hint", |said, it| {
        let subject = it.start.subject();
        let kind = &subject.resource().kind;
        Some(said.text("kind") == *kind && said.text("name") == subject.name())
    }),
    ("orders_breaks", |said, it| {
        let (own, start) = it.own.as_ref()?;
        let run = it.witness.as_ref()?;
        let (_, before) = run.split_last()?;
        let steps = said.number("steps")? as usize == it.steps;
        Some(steps && own.broken_in(start, run) && !own.broken_in(start, before))
    }),
    ("orders_unknown", |_, it| Some(!it.complete)),
    ("orders_holds", |_, it| {
        if let Some((own, _)) = &it.own {
            let rests = it.rested.iter().all(|tree| own.is_rest(tree.world()));
            return Some(it.complete && rests && !it.broken_in(&it.runs)?);
        }
        if it.is_settling() {
            let wishes = it.property.as_ref()?;
            let mut all = it.rested.iter();
            return Some(it.complete && all.all(|tree| wished(wishes, tree.world()) == Some(true)));
        }
        Some(it.complete && !it.broken_in(&it.runs)?)
    }),
    ("orders_untried_edit", |_, it| {
        Some(it.complete && !it.broken_in(&it.runs)?)
    }),
    ("orders_untried", |_, it| {
        let occurs = |(own, _): &(Own, HistoryTree)| {
            let mut runs = it.runs.iter();
            runs.any(|run| own.occurs_in(run) == Some(true))
        };
        let tried = it.own.as_ref().is_some_and(occurs);
        Some(it.complete && !tried && (it.is_settling() || !it.broken_in(&it.runs)?))
    }),
    ("orders_broken_now", |_, it| {
        // The step that led here broke it.
        Some(it.steps == 0)
    }),
    ("orders_unsafe", |said, it| {
        let run = it.witness.clone()?;
        let (last, before) = run.split_last()?;
        let steps = said.number("steps")? as usize == it.steps;
        let first = !it.broken_in(&[before.to_vec()])?;
        let before = before.last().map_or(&it.start, HistoryTree::world);
        Some(steps && first && breaks(it.property.as_ref()?, before, last)?)
    }),
    ("orders_never_rests", |said, it| {
        let run = it.witness.as_ref()?;
        let revision = |world: &World| world.server().store().revision();
        let repeated = said.number("repeated")? as usize;
        let begin = match run.len().checked_sub(repeated)? {
            0 => &it.start,
            before => run[before - 1].world(),
        };
        let wrote = revision(run.last()?.world()) > revision(begin);
        Some(repeated > 0 && wrote && said.number("steps")? as usize == it.steps)
    }),
    ("broken_never_rests", |said, it| {
        let opened = it.opened.as_ref()?;
        let before = opened
            .position()
            .checked_sub(said.number("steps")? as usize)?;
        let begin = opened.world_at(opened.current_path()[before])?;
        let wrote = opened.world().server().store().revision() > begin.server().store().revision();
        Some(wrote && contents(opened.world()) == contents(begin))
    }),
    ("orders_rests_wrong", |said, it| {
        let end = match it.witness.as_ref()?.last() {
            Some(tree) => tree.world(),
            None => &it.start,
        };
        let otherwise = match &it.own {
            Some((own, _)) => !own.is_rest(end),
            None => !wished(it.property.as_ref()?, end)?,
        };
        Some(otherwise && said.number("steps")? as usize == it.steps)
    }),
];

/// Returns what is stored in the objects of a world, without their metadata, times and numbers of versions.
fn contents(world: &World) -> Vec<String> {
    let stored = world.server().store().range("/registry/");
    let mut contents: Vec<String> = stored
        .map(|(_, _, object)| {
            let mut leaves = leaves(object);
            leaves.retain(|place, value| {
                let name = place.last().map_or("", String::as_str);
                let is_time = value.as_str().is_some_and(is_interchangeable);
                place.first().is_none_or(|first| first != "metadata")
                    && name != "observedGeneration"
                    && !is_time
            });
            format!("{leaves:?}")
        })
        .collect();
    contents.sort();
    contents
}

/// A history up to which a controller and two editors did something.
fn begin(random: &mut Random) -> Option<HistoryTree> {
    let mut tree = loop {
        let tree = generate::begin(random.next());
        if tree.world().has_controllers() {
            break tree;
        }
    };
    for controller in [ActorId::C, ActorId::D] {
        tree.connect_controller(controller);
    }
    for _ in 0..random.below(12) {
        generate::act(&mut tree, random.next());
    }
    // What was tried before in another branch is no matter.
    Some(tree)
}

/// Random runs of what the search varies.
fn random_runs(
    search: &ControllerSearch,
    tree: &HistoryTree,
    random: &mut Random,
) -> (Vec<Vec<HistoryTree>>, Vec<HistoryTree>) {
    let (mut runs, mut rested) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let (mut state, mut replay) = (
            search.start().clone(),
            ControllerReplay::new(search.question()),
        );
        let (mut tree, mut run) = (tree.clone(), Vec::new());
        for _ in 0..40 {
            let enabled = state.enabled();
            if enabled.is_empty() {
                rested.push(tree.clone());
                break;
            }
            let transition = *random.choose(&enabled);
            state.perform(transition);
            if replay.perform(&mut tree, transition).is_none() {
                break;
            }
            run.push(tree.clone());
        }
        runs.push(run);
    }
    (runs, rested)
}

/// The most states that a search looks at.
const MOST_STATES: usize = 2_500;

/// Searches from a random moment, and hears what is said.
pub fn search(seed: u64, hearing: &mut Hearing) -> Option<()> {
    let mut random = Random::new(seed);
    let tree = begin(&mut random)?;
    let mut question = ControllerQuestion::of_ready_program(tree.world())?;
    if random.once_in(2) {
        question.always.push(optimist_checker::Safety::NoEditLost);
    }
    let own = Own::random(&mut random);
    question.own = Some(parse_controller_property(own.text, tree.world(), None).expect(own.text));
    let states = if random.once_in(6) { 40 } else { MOST_STATES };
    let thirds: Vec<ThirdActor> = ThirdActor::all().collect();
    let third = *random.choose(&thirds);
    let third = Some(third).filter(|_| random.once_in(2));
    let with_third = third.and_then(|third| question.clone().with_third(tree.world(), third));
    let third = third.filter(|_| with_third.is_some());
    let question = with_third.unwrap_or(question);
    asked(
        (&tree, Some(own), third),
        &question,
        (states, seed),
        hearing,
    )
}

/// Searches where chance does not begin: at the start of each program, with few states, and where it has
/// broken what it is for.
pub fn fixed(hearing: &mut Hearing) {
    scaled(hearing);
    for name in ReadyProgramName::ALL {
        let start = Start {
            controllers: [(ActorId::C, ReadyProgram::new(name).into())].into(),
            ..Start::with(WIDGET)
        };
        let mut tree = HistoryTree::new(World::from_start(start.into()).expect("it loads").0);
        tree.connect_controller(ActorId::C);
        tree.act(Operation::Act(ActorId::A, Action::Get));
        let copy = tree.world_mut().copy_mut(ActorId::A);
        if let Some(mut object) = copy.edited().map(|it| serde_json::Value::clone(it)) {
            object["spec"]["size"] = 5.into();
            copy.edit(object);
        }
        let ask = |tree: &HistoryTree, states: usize, hearing: &mut Hearing| {
            let question = ControllerQuestion::of_ready_program(tree.world());
            question
                .and_then(|question| asked((tree, None, None), &question, (states, 7), hearing));
        };
        ask(&tree, MOST_STATES, hearing);
        ask(&tree, 30, hearing);
        for own in Own::all() {
            let property = parse_controller_property(own.text, tree.world(), None).expect(own.text);
            let question = ControllerQuestion::with_own(tree.world(), property);
            let question = question.map(|it| ControllerQuestion {
                always: Vec::new(),
                at_rest: Vec::new(),
                settles: false,
                faults: Default::default(),
                ..it
            });
            question.and_then(|it| asked((&tree, Some(own), None), &it, (600, 7), hearing));
        }
        // A second child, a child of a living owner: what the program must not do.
        let mut random = Random::new(3);
        for round in 0..90 {
            // The events of the children stay behind.
            if [8, 24, 40].contains(&round) {
                let path = tree.world().subject().path();
                let request = ByHand {
                    method: "PATCH".to_owned(),
                    target: path,
                    content_type: "application/merge-patch+json".to_owned(),
                    body: format!("{{\"spec\": {{\"size\": {round}}}}}"),
                };
                tree.act(Operation::Act(ActorId::A, Action::Request(request)));
            }
            let operation = match random.below(3) {
                0 => ControllerOperation::Deliver(0),
                _ => ControllerOperation::Step,
            };
            tree.act(Operation::Control(ActorId::C, operation));
            if !tree.world().broken_properties(ActorId::C).is_empty() {
                ask(&tree, MOST_STATES, hearing);
                break;
            }
        }
    }
}

/// Searches beside a Deployment, which has a scale, with a tool that writes nothing else, and with one that edits.
fn scaled(hearing: &mut Hearing) {
    let tools = [
        Preset::KubectlScale,
        Preset::Autoscaler,
        Preset::KubectlEdit,
    ];
    for third in tools.map(ThirdActor::Tool) {
        let start = Start {
            controllers: [(
                ActorId::C,
                ReadyProgram::new(ReadyProgramName::FieldOwner).into(),
            )]
            .into(),
            ..Start::with(&format!("{WIDGET}---\n{NGINX}"))
        };
        let mut tree = HistoryTree::new(World::from_start(start.into()).expect("it loads").0);
        tree.connect_controller(ActorId::C);
        let question = ControllerQuestion::of_ready_program(tree.world()).expect("one widget");
        let question = question.with_third(tree.world(), third).expect("a scale");
        asked((&tree, None, Some(third)), &question, (300, 7), hearing);
    }
}

/// Searches from a moment, and hears what is said of each property.
fn asked(
    (tree, own, third): (&HistoryTree, Option<Own>, Option<ThirdActor>),
    question: &ControllerQuestion,
    (most_states, seed): (usize, u64),
    hearing: &mut Hearing,
) -> Option<()> {
    let mut random = Random::new(seed);
    let mut search = ControllerSearch::new(tree.world(), question.clone(), most_states)?;
    while search.advance(500) == optimist_checker::PropertySearchStatus::Running {}
    let names = |of: &[ActorId]| -> Vec<String> {
        of.iter()
            .map(|id| tree.world().actor(*id).name.to_string())
            .collect()
    };
    let idle: Vec<ActorId> = ActorId::EDITORS
        .into_iter()
        .filter(|id| tree.world().copy(*id).edits().is_empty())
        .collect();
    let mut asked: Vec<ActorId> = question.actors.iter().map(|(actor, _)| *actor).collect();
    let third = third.and_then(|does| Some((asked.pop()?, does)));
    let without: Vec<ActorId> = ActorId::EDITORS
        .into_iter()
        .filter(|id| !asked.contains(id))
        .collect();
    let (runs, rested) = random_runs(&search, tree, &mut random);
    let mut about = Orders {
        start: tree.world().clone(),
        complete: search.status() == optimist_checker::PropertySearchStatus::Done,
        states: search.states(),
        idle: names(&idle),
        restarts: question.faults.restarts,
        property: None,
        runs,
        rested,
        witness: None,
        opened: None,
        steps: 0,
        own: None,
        explored: search.explored_steps(),
        one_more: third.and_then(|third| OneMore::alone(tree, search.question(), third)),
    };
    let conditions: Conditions<Orders> = ORDERS.iter().copied().collect();
    let (asked, without) = (names(&asked), names(&without));
    let (asked, without): (Vec<&str>, Vec<&str>) = (
        asked.iter().map(String::as_str).collect(),
        without.iter().map(String::as_str).collect(),
    );
    let third = third.map(|(actor, does)| (tree.world().actor(actor).name.to_string(), does));
    let actors = messages::OrderActors {
        controllers: tree.world().controllers().count(),
        editors: &asked,
        without_edit: &without,
        third: third.as_ref().map(|(name, does)| (&**name, *does)),
    };
    let varied = messages::varied(search.states(), actors, question.faults.restarts);
    hearing.hear(&varied, &conditions, &about, &|| crate::told_tree(tree));
    if !about.complete {
        let text = messages::incomplete(search.explored_steps());
        hearing.hear(&text, &conditions, &about, &|| crate::told_tree(tree));
    }
    let hint = messages::own_property_hint(tree.world());
    hearing.hear(&hint, &conditions, &about, &|| crate::told_tree(tree));
    let answers = search.answers();
    for (index, answer) in answers.iter().enumerate() {
        let is_own = own.is_some() && index + 1 == answers.len();
        about.own = own.filter(|_| is_own).map(|own| (own, tree.clone()));
        let safety = question.always.get(index);
        let name = safety.map_or_else(|| messages::settles(&question.at_rest), messages::safety);
        about.property = said::all(&said::parts(&name))
            .first()
            .map(|it| (*it).clone());
        (about.witness, about.opened) = (None, None);
        if let PropertyAnswer::Broken(witness) = answer {
            let mut opened = tree.clone();
            search.question().replay_witness(&mut opened, witness)?;
            if let Some(steps) = opened.repeatable_steps() {
                about.opened = Some(opened);
                let text = messages::repeatable(steps);
                hearing.hear(&text, &conditions, &about, &|| crate::told_tree(tree));
            }
            let (mut replay, mut tree) = (ControllerReplay::new(search.question()), tree.clone());
            let run = witness.run();
            about.steps = run.len();
            let mut trees = Vec::new();
            for transition in run {
                replay.perform(&mut tree, transition)?;
                trees.push(tree.clone());
            }
            about.witness = Some(trees);
        }
        let name = match about.own {
            Some((own, _)) => own.text.to_owned(),
            None => name,
        };
        let text = messages::answer(safety, answer);
        let told = || {
            format!(
                "   {} in seed {seed}\n{}",
                said::english(&said::parts(&name)),
                crate::told_tree(tree)
            )
        };
        hearing.hear(&text, &conditions, &about, &told);
        said::by_name();
    }
    Some(())
}

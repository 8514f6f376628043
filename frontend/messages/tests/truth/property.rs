//! Properties that people write in Explore: every order of a small scenario is performed in Play, and
//! each property is judged again by the requests, the answers and the stored objects there.

use std::collections::BTreeSet;

use optimist_client::WriteMethod;
use optimist_controller::program::{ReadyProgram, ReadyProgramName};
use optimist_lesson::{PropertyError, WrittenProperty, parse_controller_property, parse_property};
use optimist_messages::property as said_of;
use optimist_simulation::explore::{
    HistoryAnswer, PRESETS, Scenario, Search, SearchStatus, ThirdActor, replayed,
};
use optimist_simulation::{ActorId, HistoryTree, Start, WIDGET, World};
use serde_json::Value;

use crate::counted::orders;
use crate::exploring;
use crate::hearing::{ConditionOf, Conditions, Hearing};
use crate::moment::{Moment, actor_of};
use crate::random::Random;
use crate::said::Said;

/// A step of Play: who sent what, the code of the answer, and the object then.
#[derive(Debug)]
struct Sent {
    actor: ActorId,
    method: String,
    code: u16,
    object: Option<Value>,
    /// `true` if an update is lost up to here.
    lost: bool,
}

/// An order of requests: the object at the start, and the steps.
#[derive(Debug)]
struct Order {
    start: Option<Value>,
    steps: Vec<Sent>,
}

/// Returns whether a value is as a number asks.
type Is = fn(Option<&Value>, i64) -> bool;

/// A condition in the words of a property, and by a JSON pointer.
#[derive(Clone, Debug)]
struct Field {
    text: String,
    pointer: &'static str,
    is: Is,
    number: i64,
}

impl Field {
    fn holds(&self, object: Option<&Value>) -> bool {
        (self.is)(object.and_then(|it| it.pointer(self.pointer)), self.number)
    }
}

/// A part of an order.
#[derive(Clone, Debug)]
enum Part {
    Does(ActorId, &'static str),
    Holds(Field),
}

/// A property, as it is judged here.
#[derive(Clone, Debug)]
enum Property {
    LostEdit,
    Always(Field),
    Never(Field),
    AtRest(Field),
    Before(Part, Part),
}

impl Part {
    fn text(&self) -> String {
        match self {
            Self::Does(actor, does) => format!("{} {does}", actor.letter()),
            Self::Holds(field) => field.text.clone(),
        }
    }
}

impl Property {
    fn text(&self) -> String {
        match self {
            Self::LostEdit => "never: [lost edit]".to_owned(),
            Self::Always(field) => format!("always: {}", field.text),
            Self::Never(field) => format!("never:\n- {}", field.text),
            Self::AtRest(field) => format!("at rest: {}", field.text),
            Self::Before(first, second) => {
                format!("before:\n- {}\n- {}", first.text(), second.text())
            }
        }
    }
}

impl Order {
    /// The object after a number of steps.
    fn object(&self, steps: usize) -> Option<&Value> {
        match steps.checked_sub(1) {
            None => self.start.as_ref(),
            Some(at) => self.steps[at].object.as_ref(),
        }
    }

    fn comes(&self, part: &Part, steps: usize) -> bool {
        match part {
            Part::Holds(field) => field.holds(self.object(steps)),
            Part::Does(actor, does) => {
                steps > 0 && {
                    let sent = &self.steps[steps - 1];
                    let reads = sent.method == "GET";
                    let is_it = match *does {
                        "reads" => reads && sent.code < 400,
                        "writes" => !reads && sent.code < 400,
                        _ => !reads && sent.code >= 400,
                    };
                    sent.actor == *actor && is_it
                }
            }
        }
    }

    /// The number of steps after which a property is broken.
    fn breaks(&self, property: &Property) -> Option<usize> {
        let mut moments = 0..=self.steps.len();
        match property {
            Property::LostEdit => moments.find(|steps| *steps > 0 && self.steps[steps - 1].lost),
            Property::Always(field) => moments.find(|steps| !field.holds(self.object(*steps))),
            Property::Never(field) => moments.find(|steps| field.holds(self.object(*steps))),
            Property::AtRest(field) => {
                let end = self.steps.len();
                (!field.holds(self.object(end))).then_some(end)
            }
            Property::Before(first, second) => {
                let at = moments.find(|steps| self.comes(second, *steps))?;
                (!(0..at).any(|steps| self.comes(first, steps))).then_some(at)
            }
        }
    }

    /// Returns whether a step could have broken a property.
    fn tries(&self, property: &Property) -> bool {
        match property {
            Property::LostEdit => {
                let wrote = self
                    .steps
                    .iter()
                    .filter(|it| it.method != "GET" && it.code < 400);
                wrote.map(|it| it.actor).collect::<BTreeSet<_>>().len() > 1
            }
            Property::Always(field) | Property::Never(field) | Property::AtRest(field) => {
                let value =
                    |steps: usize| self.object(steps).and_then(|it| it.pointer(field.pointer));
                (0..=self.steps.len()).any(|steps| value(steps) != value(0))
            }
            Property::Before(_, second) => {
                (0..=self.steps.len()).any(|steps| self.comes(second, steps))
            }
        }
    }
}

/// A property, and every order in Play.
pub struct Judged {
    property: Property,
    orders: Vec<Order>,
    /// `true` if the search looked at every order.
    complete: bool,
    states: usize,
    inside: bool,
    loses: bool,
}

impl Judged {
    fn shortest(&self) -> Option<usize> {
        let broken = self
            .orders
            .iter()
            .filter_map(|order| order.breaks(&self.property));
        broken.min()
    }

    /// Returns whether a property names a field.
    fn names(&self, name: &str) -> bool {
        self.property.text().contains(name)
    }

    fn is_tried(&self) -> bool {
        self.orders.iter().any(|order| order.tries(&self.property))
    }

    fn holds(&self) -> bool {
        self.complete && self.shortest().is_none() && self.is_tried()
    }

    fn is_untried(&self) -> bool {
        self.complete && self.shortest().is_none() && !self.is_tried()
    }
}

pub const JUDGED: &[(&str, ConditionOf<Judged>)] = &[
    ("property_holds", |_, it| Some(it.holds())),
    ("property_holds_short", |_, it| Some(it.holds())),
    ("property_untried_short", |_, it| Some(it.is_untried())),
    ("property_untried_edit", |_, it| {
        Some(it.is_untried() && matches!(it.property, Property::LostEdit))
    }),
    ("property_untried_condition", |_, it| {
        let is_of_fields = !matches!(it.property, Property::LostEdit | Property::Before(..));
        Some(it.is_untried() && is_of_fields)
    }),
    ("property_untried_before", |_, it| {
        Some(it.is_untried() && matches!(it.property, Property::Before(..)))
    }),
    ("property_no_field", |said, it| {
        let fields = said.text("fields");
        let mut names = fields.split(", ");
        Some(names.all(|name| {
            let pointer = format!("/{}", name.replace('.', "/"));
            let mut orders = it.orders.iter();
            let is_absent = |order: &Order| {
                let mut moments = 0..=order.steps.len();
                moments.all(|steps| {
                    let object = order.object(steps);
                    object.is_none_or(|object| object.pointer(&pointer).is_none())
                })
            };
            it.names(name) && orders.all(is_absent)
        }))
    }),
    ("property_unknown", |_, it| Some(!it.complete)),
    ("property_unknown_short", |_, it| Some(!it.complete)),
    ("property_broken_short", |_, it| {
        Some(it.shortest().is_some())
    }),
    ("property_broken_at_start", |_, it| {
        Some(it.shortest() == Some(0))
    }),
    ("property_broken", |said, it| {
        let steps = said.number("steps")? as usize;
        Some(steps > 0 && it.shortest() == Some(steps))
    }),
    ("property_varied", |said, it| {
        let sent = it.orders.iter().flat_map(|order| &order.steps);
        let actors: BTreeSet<&str> = sent.map(|sent| sent.actor.letter()).collect();
        let actors: Vec<&str> = actors.into_iter().collect();
        Some(said.text("actors") == actors.join(", "))
    }),
    ("property_varied_inside", |_, it| Some(it.inside)),
    ("property_varied_lost", |_, it| Some(it.loses)),
    ("property_not_varied", |_, it| {
        Some(ActorId::ALL.iter().all(|actor| {
            let sent = it.orders.iter().flat_map(|order| &order.steps);
            let writes = sent.filter(|sent| sent.actor == *actor && sent.method != "GET");
            let methods: BTreeSet<&str> = writes.map(|sent| sent.method.as_str()).collect();
            methods.len() < 2
        }))
    }),
    ("property_complete", |said, it| {
        let count = said.inner("orders")?.number("count")? as usize;
        Some(it.complete && count == it.orders.len())
    }),
    ("orders", |said, it| {
        Some(said.number("count")? as usize == it.orders.len())
    }),
    ("property_up_to", |said, it| {
        Some(!it.complete && said.number("states")? as usize == it.states)
    }),
];

/// How many of some ways of writing keep a property, by every order in Play.
#[derive(Debug, Default)]
pub struct Kept {
    ways: u64,
    holds: u64,
    broken: u64,
    untried: u64,
    unknown: u64,
}

pub const KEPT: &[(&str, ConditionOf<Kept>)] = &[
    ("property_counts", |said, it| {
        Some(said.number("holds")? == it.holds && said.number("ways")? == it.ways)
    }),
    ("property_counts_broken", |said, it| {
        Some(said.number("count")? == it.broken)
    }),
    ("property_counts_untried", |said, it| {
        Some(said.number("count")? == it.untried)
    }),
    ("property_counts_unknown", |said, it| {
        Some(said.number("count")? == it.unknown)
    }),
];

/// A text that is no property, and the same text mended.
pub struct Mended {
    text: &'static str,
    place: (u64, u64),
    mended: &'static str,
    /// How it is read.
    is_read: fn(&str) -> Result<(), PropertyError>,
}

fn of_two_editors(text: &str) -> Result<(), PropertyError> {
    parse_property(text, &ActorId::ALL[..2]).map(drop)
}

fn of_controller(text: &str) -> Result<(), PropertyError> {
    let start = Start {
        controllers: [(
            ActorId::C,
            ReadyProgram::new(ReadyProgramName::ChildMaker).into(),
        )]
        .into(),
        ..Start::with(WIDGET)
    };
    let world = World::from_start(start.into()).expect("it loads").0;
    parse_controller_property(text, &world, None).map(drop)
}

fn is_wrong(_: &Said, it: &Mended) -> Option<bool> {
    Some((it.is_read)(it.text).is_err() && (it.is_read)(it.mended).is_ok())
}

pub const WRONG: &[(&str, ConditionOf<Mended>)] = &[
    ("property_error", |said, it| {
        Some((said.number("line")?, said.number("column")?) == it.place)
    }),
    ("property_error_yaml", is_wrong),
    ("property_error_begin", is_wrong),
    ("property_error_unknown", is_wrong),
    ("property_error_second", is_wrong),
    ("property_error_settles", is_wrong),
    ("property_error_counts", is_wrong),
    ("property_error_never", is_wrong),
    ("property_error_never_counts", is_wrong),
    ("property_error_kind", is_wrong),
    ("property_error_interchangeable", is_wrong),
    ("property_error_yes", is_wrong),
    ("property_error_condition", is_wrong),
    ("property_error_condition_key", is_wrong),
    ("property_error_path", is_wrong),
    ("property_error_field", |said, it| {
        // The first of the known fields is one.
        let known = said.text("known");
        let first = known.split(", ").next()?;
        let path = said.text("path");
        let mended = match path.rsplit_once('.') {
            Some((place, _)) => format!("{place}.{first}"),
            None => first.to_owned(),
        };
        let mended = (it.is_read)(&it.text.replace(&path, &mended)).is_ok();
        Some(mended && is_wrong(said, it)?)
    }),
    ("property_error_no_field", is_wrong),
    ("property_error_version", is_wrong),
    ("property_error_two_paths", is_wrong),
    ("property_error_text", is_wrong),
    ("property_error_flag", is_wrong),
    ("property_error_number", is_wrong),
    ("property_error_two_parts", is_wrong),
    ("property_error_part", is_wrong),
    ("property_error_actor", is_wrong),
];

/// Each error: a text, its place, and the text mended there.
const MENDED: &[(&str, (u64, u64), &str)] = &[
    ("at rest: {exists: yes", (1, 22), "at rest: {exists: yes}"),
    ("[never]", (1, 1), "never: [lost edit]"),
    ("no lost edit", (1, 1), "never: lost edit"),
    ("sometimes: {exists: yes}", (1, 1), "always: {exists: yes}"),
    (
        "never: lost edit\nalways: {exists: yes}",
        (2, 1),
        "never: lost edit",
    ),
    (
        "never: [lost edit, {exists: yes}]",
        (1, 20),
        "never: [lost edit]",
    ),
    ("settles: yes", (1, 1), "always: {exists: yes}"),
    (
        "never: [more than 1 Deployment]",
        (1, 9),
        "never: [lost edit]",
    ),
    ("never: [lost edits]", (1, 9), "never: [lost edit]"),
    (
        "always: spec.replicas",
        (1, 9),
        "always: {stored: {spec.replicas: 5}}",
    ),
    (
        "always: {spec.replicas: 5}",
        (1, 10),
        "always: {stored: {spec.replicas: 5}}",
    ),
    (
        "always: {stored: {spec..replicas: 5}}",
        (1, 19),
        "always: {stored: {spec.replicas: 5}}",
    ),
    (
        "at rest: {stored: {metadata.generation: 2}}",
        (1, 20),
        "at rest: {stored: {spec.replicas: 2}}",
    ),
    ("at rest: {same: [a]}", (1, 17), "at rest: {same: [a, b]}"),
    (
        "at rest: {contains: {a: [b]}}",
        (1, 25),
        "at rest: {contains: {a: b}}",
    ),
    ("always: {exists: maybe}", (1, 18), "always: {exists: yes}"),
    (
        "always: {stored: {a: at most few}}",
        (1, 22),
        "always: {stored: {a: at most 3}}",
    ),
    ("before: A writes", (1, 9), "before: [A writes, B reads]"),
    (
        "before: [A writes, B sleeps]",
        (1, 20),
        "before: [A writes, B reads]",
    ),
    (
        "before: [A writes, C reads]",
        (1, 20),
        "before: [A writes, B reads]",
    ),
];

/// The same of a controller's orders.
const MENDED_OF_CONTROLLER: &[(&str, (u64, u64), &str)] = &[
    ("sometimes: yes", (1, 1), "settles: yes"),
    ("settles: no", (1, 10), "settles: yes"),
    (
        "always: {stored: {spec.sizze: 1}}",
        (1, 19),
        "always: {stored: {spec.size: 1}}",
    ),
    (
        "always: {contains: {spec.size.all: a}}",
        (1, 21),
        "always: {contains: {status.all: a}}",
    ),
    (
        "never: [more than 1 Pod]",
        (1, 9),
        "never: [more than 1 ConfigMap]",
    ),
    (
        "never: [more than one ConfigMap]",
        (1, 9),
        "never: [more than 1 ConfigMap]",
    ),
    (
        "never: [more ConfigMaps]",
        (1, 9),
        "never: [more than 1 ConfigMap]",
    ),
    (
        "at rest: {objects: {Deployment: 1}}",
        (1, 21),
        "at rest: {objects: {ConfigMap: 1}}",
    ),
    (
        "at rest: {objects: {ConfigMap: some}}",
        (1, 32),
        "at rest: {objects: {ConfigMap: at least 1}}",
    ),
    ("at rest: {object: 1}", (1, 11), "at rest: {exists: yes}"),
    (
        "at rest: {stored: {status.observedGeneration: 2}}",
        (1, 20),
        "at rest: {same: [metadata.generation, status.observedGeneration]}",
    ),
    (
        "always: {same: [metadata.generation, spec.size]}",
        (1, 17),
        "always: {same: [spec.size, status.size]}",
    ),
    (
        "never: {stored: {status.seen: '2026-01-01T00:00:00Z'}}",
        (1, 31),
        "never: {stored: {status.seen: 'yes'}}",
    ),
];

/// The names of all messages that have a condition here.
pub fn names() -> Vec<&'static str> {
    let judged = JUDGED.iter().map(|(name, _)| *name);
    let judged = judged.filter(|name| *name != "orders");
    let kept = KEPT.iter().map(|(name, _)| *name);
    judged
        .chain(kept)
        .chain(WRONG.iter().map(|(name, _)| *name))
        .collect()
}

/// Hears what is wrong in each wrong text.
pub fn wrong(hearing: &mut Hearing) {
    let conditions: Conditions<Mended> = WRONG.iter().copied().collect();
    let of_editors = MENDED
        .iter()
        .map(|it| (it, of_two_editors as fn(&str) -> _));
    let of_controller = MENDED_OF_CONTROLLER.iter();
    let of_controller = of_controller.map(|it| (it, self::of_controller as fn(&str) -> _));
    for ((text, place, mended), is_read) in of_editors.chain(of_controller) {
        let about = Mended {
            text,
            place: *place,
            mended,
            is_read,
        };
        let error = is_read(text).expect_err(text);
        hearing.hear(&said_of::error(&error), &conditions, &about, &|| {
            format!("   {text}")
        });
    }
}

fn field(random: &mut Random) -> Field {
    let number = [2, 3, 4, 5][random.below(4)];
    let replicas = "/spec/replicas";
    let image = "/spec/template/spec/containers/0/image";
    let is = |value: Option<&Value>, n: i64| value.and_then(Value::as_i64) == Some(n);
    let most =
        |value: Option<&Value>, n: i64| value.and_then(Value::as_i64).is_some_and(|it| it <= n);
    let least =
        |value: Option<&Value>, n: i64| value.and_then(Value::as_i64).is_some_and(|it| it >= n);
    let not = |value: Option<&Value>, n: i64| value.and_then(Value::as_i64) != Some(n);
    let new = |value: Option<&Value>, _| value.and_then(Value::as_str) == Some("nginx:1.25");
    let exists = |value: Option<&Value>, _| value.is_some();
    let gone = |value: Option<&Value>, _| value.is_none();
    let (text, pointer, is): (String, _, Is) = match random.below(8) {
        7 => (
            format!("{{stored: {{spec.replcas: {number}}}}}"),
            "/spec/replcas",
            is,
        ),
        0 => (
            format!("{{stored: {{spec.replicas: {number}}}}}"),
            replicas,
            is,
        ),
        1 => (
            format!("{{stored: {{spec.replicas: at most {number}}}}}"),
            replicas,
            most,
        ),
        2 => (
            format!("{{stored: {{spec.replicas: at least {number}}}}}"),
            replicas,
            least,
        ),
        3 => (
            format!("{{not: {{stored: {{spec.replicas: {number}}}}}}}"),
            replicas,
            not,
        ),
        4 => {
            let path = "spec.template.spec.containers[name=nginx].image";
            (
                format!("{{stored: {{\"{path}\": \"nginx:1.25\"}}}}"),
                image,
                new,
            )
        }
        5 => ("{exists: yes}".to_owned(), "/metadata/uid", exists),
        _ => ("{any: [{exists: no}]}".to_owned(), "/metadata/uid", gone),
    };
    Field {
        text,
        pointer,
        is,
        number,
    }
}

fn part(random: &mut Random, actors: usize) -> Part {
    match random.below(4) {
        0 => Part::Holds(field(random)),
        does => {
            let actor = ActorId::ALL[random.below(actors)];
            Part::Does(actor, ["reads", "writes", "is refused"][does - 1])
        }
    }
}

fn property(random: &mut Random, actors: usize) -> Property {
    match random.below(6) {
        0 => Property::LostEdit,
        1 => Property::Always(field(random)),
        2 => Property::Never(field(random)),
        3 => Property::AtRest(field(random)),
        _ => Property::Before(part(random, actors), part(random, actors)),
    }
}

/// Performs a history of a search in Play.
fn order(tree: &HistoryTree) -> Order {
    let moment = Moment::current(tree, ActorId::B);
    let subject = tree.world().subject().clone();
    let stored = |world: &World| {
        let stored = world.server().store().get(subject.key());
        stored.map(|(_, object)| Value::clone(object))
    };
    let steps = moment.so_far.iter().enumerate().filter_map(|(at, it)| {
        let sent = it.step.exchange.as_ref()?;
        let mut then = moment.until(at + 1);
        then.object = subject.clone();
        Some(Sent {
            actor: actor_of(&it.step.operation)?,
            method: sent.method.to_string(),
            code: sent.code,
            object: stored(it.after),
            lost: then.judge().gone().iter().any(|gone| !gone.shown),
        })
    });
    let start = moment.so_far.first().and_then(|it| stored(it.before));
    Order {
        start,
        steps: steps.collect(),
    }
}

/// All orders of a scenario in Play, if there are not too many.
fn performed(search: &Search, start: &HistoryTree) -> Option<Vec<Order>> {
    let paths = orders(search, 24)?;
    let orders = paths
        .iter()
        .map(|path| order(&replayed(search, path, path.len(), start.clone())));
    Some(orders.collect())
}

fn hear(about: &Judged, search: &Search, read: &WrittenProperty, hearing: &mut Hearing) {
    let conditions: Conditions<Judged> = JUDGED.iter().copied().collect();
    let answer = search.judge(read);
    let told = || {
        format!(
            "   {}\n   {:?}",
            about.property.text(),
            search.scenario().plans
        )
    };
    let texts = [said_of::brief(&answer), said_of::answer(read, &answer)];
    let absent = said_of::absent_fields(search, read);
    let names_none = about.names("replcas");
    assert_eq!(absent.is_some(), names_none, "{}", told());
    for text in texts
        .into_iter()
        .chain(said_of::varied(search))
        .chain(absent)
    {
        hearing.hear(&text, &conditions, about, &told);
    }
}

/// Judges random properties of a random scenario.
pub fn judge(seed: u64, hearing: &mut Hearing) -> Option<()> {
    let mut random = Random::new(seed);
    let (preset, scenario) = exploring::scenario(&mut random)?;
    let mut search = Search::new(scenario, 4000);
    (search.run() == SearchStatus::Done).then_some(())?;
    let start = HistoryTree::new(World::load(preset.manifest).ok()?.0);
    let mut about = Judged {
        property: Property::LostEdit,
        orders: performed(&search, &start)?,
        complete: true,
        states: search.states(),
        inside: false,
        loses: false,
    };
    let mut begun = Search::new(search.scenario().clone(), 3);
    begun.run();
    let actors = search.scenario().plans.len();
    for _ in 0..12 {
        about.property = property(&mut random, actors);
        let read = parse_property(&about.property.text(), &ActorId::ALL[..actors])
            .expect("it is a property");
        about.complete = true;
        hear(&about, &search, &read, hearing);
        about.complete = false;
        about.states = begun.states();
        hear(&about, &begun, &read, hearing);
        about.states = search.states();
    }
    Some(())
}

/// Judges what chance does not find: faults, steps in the server, and the counts of ways.
pub fn fixed(hearing: &mut Hearing) -> Option<()> {
    use WriteMethod::{Merge, Update, UpdateVersioned};
    let preset = PRESETS.iter().find(|it| it.slug == "different-fields")?;
    let start = HistoryTree::new(World::load(preset.manifest).ok()?.0);
    let scenario = |way| preset.scenario().ok()?.in_ways(&[way, way], 1).ok();
    let read = parse_property("never: lost edit", &ActorId::ALL[..2]).ok()?;
    for (inside, loses) in [(true, false), (false, true)] {
        let mut with = Scenario::clone(&scenario(Update)?);
        with.micro_steps = inside;
        with.faults.lost_answers = loses.into();
        let mut search = Search::new(with, 10);
        search.run();
        let mut plain = Search::new(scenario(Update)?, 4000);
        plain.run();
        let about = Judged {
            property: Property::LostEdit,
            orders: performed(&plain, &start)?,
            complete: false,
            states: search.states(),
            inside,
            loses,
        };
        hear(&about, &search, &read, hearing);
    }
    counts(
        &start,
        [Update, UpdateVersioned, Merge].map(scenario).to_vec(),
        hearing,
    )
}

fn counts(
    start: &HistoryTree,
    scenarios: Vec<Option<Scenario>>,
    hearing: &mut Hearing,
) -> Option<()> {
    let mut random = Random::new(5);
    let scenarios: Vec<Scenario> = scenarios.into_iter().collect::<Option<_>>()?;
    let conditions: Conditions<Kept> = KEPT.iter().copied().collect();
    for _ in 0..30 {
        let property = property(&mut random, 2);
        let read = parse_property(&property.text(), &ActorId::ALL[..2]).expect("it is a property");
        let (mut kept, mut answers) = (Kept::default(), Vec::<HistoryAnswer>::new());
        for scenario in &scenarios {
            let most = if random.once_in(6) { 3 } else { 4000 };
            let mut search = Search::new(scenario.clone(), most);
            let complete = search.run() == SearchStatus::Done;
            answers.push(search.judge(&read));
            let mut full = Search::new(scenario.clone(), 4000);
            full.run();
            let judged = Judged {
                property: property.clone(),
                orders: performed(&full, start)?,
                complete,
                states: 0,
                inside: false,
                loses: false,
            };
            kept.ways += 1;
            // A search that was stopped may have found a broken one, or not.
            let broken = matches!(answers.last(), Some(HistoryAnswer::Broken(_)));
            *match (complete, judged.shortest()) {
                (false, Some(_)) if broken => &mut kept.broken,
                (false, _) => &mut kept.unknown,
                (true, Some(_)) => &mut kept.broken,
                (true, None) if judged.is_tried() => &mut kept.holds,
                (true, None) => &mut kept.untried,
            } += 1;
        }
        let told = || format!("   {}", property.text());
        hearing.hear(&said_of::counts(&answers), &conditions, &kept, &told);
    }
    Some(())
}

/// Three actors: a third one that deletes.
pub fn three(hearing: &mut Hearing) -> Option<()> {
    let preset = PRESETS.iter().find(|it| it.slug == "same-field")?;
    let mut scenario = preset.scenario().ok()?;
    scenario.plans.truncate(1);
    scenario.plans.push(ThirdActor::Deletes.plan(&scenario));
    let scenario = scenario
        .in_ways(&[WriteMethod::UpdateVersioned; 2], 2)
        .ok()?;
    let mut search = Search::new(scenario, 4000);
    (search.run() == SearchStatus::Done).then_some(())?;
    let start = HistoryTree::new(World::load(preset.manifest).ok()?.0);
    let orders = performed(&search, &start)?;
    let mut about = Judged {
        property: Property::LostEdit,
        orders,
        complete: true,
        states: search.states(),
        inside: false,
        loses: false,
    };
    let mut random = Random::new(11);
    for _ in 0..40 {
        about.property = property(&mut random, 2);
        let read =
            parse_property(&about.property.text(), &ActorId::ALL[..2]).expect("it is a property");
        hear(&about, &search, &read, hearing);
    }
    Some(())
}

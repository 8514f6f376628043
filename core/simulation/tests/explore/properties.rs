//! Random properties of random scenarios: what a search says of each, against a walk through every
//! history that merges nothing, and a second definition of each property over the list of moments.

use optimist_simulation::explore::{
    HistoryAnswer, HistoryProperty, ObjectCondition, Occurrence, Search, SearchStatus,
    StoredObjects, TransitionKind,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::every_order::{Event, Leaves, Run, begin, choice, judge, scenario, step, stored};

/// A condition on a field, which both the search and the walk can look at.
#[derive(Clone, Debug, PartialEq)]
enum Condition {
    Is(&'static str, Value),
    AtMost(&'static str, i64),
    Exists,
    Not(Box<Condition>),
    Both(Box<Condition>, Box<Condition>),
}

impl Condition {
    /// The value of a field, by its JSON pointer.
    fn judged(&self, value: &dyn Fn(&str) -> Option<Value>) -> bool {
        match self {
            Self::Is(field, wanted) => value(field).as_ref() == Some(wanted),
            Self::AtMost(field, most) => value(field)
                .and_then(|value| value.as_i64())
                .is_some_and(|number| number <= *most),
            Self::Exists => value("").is_some(),
            Self::Not(condition) => !condition.judged(value),
            Self::Both(one, other) => one.judged(value) && other.judged(value),
        }
    }

    fn fields(&self) -> Vec<&'static str> {
        match self {
            Self::Is(field, _) | Self::AtMost(field, _) => vec![field],
            Self::Exists => vec![""],
            Self::Not(condition) => condition.fields(),
            Self::Both(one, other) => [one.fields(), other.fields()].concat(),
        }
    }

    fn holds_in(&self, leaves: &Leaves) -> bool {
        self.judged(&|field| in_leaves(leaves, field))
    }
}

impl ObjectCondition for Condition {
    fn holds(&self, stored: StoredObjects<'_>) -> bool {
        self.judged(&|field| stored.object()?.pointer(field).cloned())
    }

    fn sees_same(&self, one: StoredObjects<'_>, other: StoredObjects<'_>) -> bool {
        let [one, other] = [one, other].map(StoredObjects::object);
        self.fields().iter().all(|field| match *field {
            "" => one.is_some() == other.is_some(),
            field => {
                let find = |object: Option<&Value>| object?.pointer(field).cloned();
                find(one) == find(other)
            }
        })
    }
}

fn in_leaves(leaves: &Leaves, field: &str) -> Option<Value> {
    match field {
        "" => leaves.get("exists").cloned(),
        field => leaves.get(&field.replace('/', ".")).cloned(),
    }
}

/// A moment of a history: the step that led to it, and the object.
#[derive(Clone)]
struct Moment {
    /// Who sent a request, whether it was a GET, and whether the server accepted it.
    step: Option<(usize, bool, bool)>,
    object: Leaves,
}

/// A history: its moments, and its events with those that show the object at the start.
struct History {
    moments: Vec<Moment>,
    events: Vec<Event>,
}

/// Every history of a scenario that ends with all actors done.
fn histories(
    run: &Run,
    moments: &[Moment],
    next: &dyn Fn(&mut Run, usize) -> Moment,
) -> Vec<History> {
    let mut found = Vec::new();
    for who in 0..run.actors.len() {
        if !run.actors[who].done {
            let mut later = run.clone();
            let moment = next(&mut later, who);
            let moments = [moments, &[moment]].concat();
            found.extend(histories(&later, &moments, next));
        }
    }
    if found.is_empty() {
        let (moments, events) = (moments.to_vec(), run.events.clone());
        found.push(History { moments, events });
    }
    found
}

fn occurs(occurrence: &Occurrence<Condition>, moment: &Moment) -> bool {
    match occurrence {
        Occurrence::Reads(who) => moment.step == Some((*who, true, true)),
        Occurrence::Writes(who) => moment.step == Some((*who, false, true)),
        Occurrence::IsRefused(who) => moment.step == Some((*who, false, false)),
        Occurrence::Holds(condition) => condition.holds_in(&moment.object),
    }
}

impl History {
    /// The number of events before the first step.
    fn shown_before(&self) -> usize {
        self.events.len() + 1 - self.moments.len()
    }

    /// The number of steps after which the history breaks a property. `None` if it does not.
    fn breaks(&self, property: &HistoryProperty<Condition>) -> Option<usize> {
        match property {
            HistoryProperty::NoEditLost => (0..self.moments.len()).find(|steps| {
                let events = &self.events[..self.shown_before() + steps];
                judge(&self.moments[0].object, events).lost > 0
            }),
            // Each actor sends a limited number of requests.
            HistoryProperty::Settles => None,
            HistoryProperty::Always(condition) => {
                let mut moments = self.moments.iter();
                moments.position(|moment| !condition.holds_in(&moment.object))
            }
            HistoryProperty::AtRest(condition) => {
                let end = self.moments.last()?;
                (!condition.holds_in(&end.object)).then_some(self.moments.len() - 1)
            }
            HistoryProperty::Before(first, second) => {
                let at = self.moments.iter().position(|it| occurs(second, it))?;
                let before = self.moments[..at].iter();
                (!before.clone().any(|it| occurs(first, it))).then_some(at)
            }
        }
    }

    /// Returns whether a step of the history could have broken a property.
    fn tries(&self, property: &HistoryProperty<Condition>) -> bool {
        let start = &self.moments[0].object;
        let changes = |condition: &Condition| {
            let fields = condition.fields();
            self.moments.iter().any(|moment| {
                let differs =
                    |field: &&str| in_leaves(&moment.object, field) != in_leaves(start, field);
                fields.iter().any(differs)
            })
        };
        match property {
            HistoryProperty::NoEditLost => (0..self.events.len()).any(|at| self.is_contested(at)),
            HistoryProperty::Settles => self.moments.len() > 1,
            HistoryProperty::Always(condition) | HistoryProperty::AtRest(condition) => {
                changes(condition)
            }
            HistoryProperty::Before(_, second) => self.moments.iter().any(|it| occurs(second, it)),
        }
    }

    /// Returns whether an event is a write to an object that has an edit of another actor.
    fn is_contested(&self, at: usize) -> bool {
        let Event::Wrote(writer, ..) = &self.events[at] else {
            return false;
        };
        let after = |event: &Event| match event {
            Event::Wrote(_, _, after) => Some(after.clone()),
            _ => None,
        };
        (0..at).any(|earlier| {
            let Event::Wrote(owner, wanted, _) = &self.events[earlier] else {
                return false;
            };
            let mut since = self.events[earlier..at].iter().filter_map(after);
            let held: Vec<Leaves> = since.by_ref().collect();
            owner != writer
                && wanted.iter().any(|(place, value)| {
                    held.iter().all(|leaves| {
                        leaves.get(place) == value.as_ref()
                            && (place == "exists" || leaves.contains_key("exists"))
                    })
                })
        })
    }
}

/// Follows the steps of a witness through the histories, and returns whether one of them begins so.
fn is_a_history(search: &Search, path: &[usize], all: &[History]) -> bool {
    let steps = path.iter().map(|id| {
        let edge = &search.edges()[*id];
        let reads = edge.what == TransitionKind::Read;
        Some((edge.actor, reads, edge.code < 400))
    });
    let steps: Vec<_> = steps.collect();
    all.iter().any(|history| {
        let had = history.moments.iter().skip(1).map(|moment| moment.step);
        had.take(steps.len()).eq(steps.iter().copied())
    })
}

fn condition(custom: bool) -> impl Strategy<Value = Condition> {
    let number = if custom {
        "/spec/size"
    } else {
        "/spec/replicas"
    };
    let other = if custom {
        ("/spec/colour", json!("red"))
    } else {
        ("/metadata/labels/team", json!("a"))
    };
    let leaf = prop_oneof![
        3 => prop::sample::select(vec![1, 2, 3, 5, 7])
            .prop_map(move |value| Condition::Is(number, json!(value))),
        3 => prop::sample::select(vec![1, 2, 3, 5]).prop_map(move |most| Condition::AtMost(number, most)),
        1 => Just(Condition::Is(other.0, other.1)),
        1 => Just(Condition::Exists),
    ];
    leaf.prop_recursive(2, 4, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|it| Condition::Not(Box::new(it))),
            (inner.clone(), inner)
                .prop_map(|(one, other)| Condition::Both(Box::new(one), Box::new(other))),
        ]
    })
}

fn occurrence(custom: bool) -> impl Strategy<Value = Occurrence<Condition>> {
    prop_oneof![
        (0usize..3).prop_map(Occurrence::Reads),
        (0usize..3).prop_map(Occurrence::Writes),
        (0usize..3).prop_map(Occurrence::IsRefused),
        condition(custom).prop_map(Occurrence::Holds),
    ]
}

fn property(custom: bool) -> impl Strategy<Value = HistoryProperty<Condition>> {
    prop_oneof![
        1 => Just(HistoryProperty::NoEditLost),
        1 => Just(HistoryProperty::Settles),
        2 => condition(custom).prop_map(HistoryProperty::Always),
        2 => condition(custom).prop_map(HistoryProperty::AtRest),
        3 => (occurrence(custom), occurrence(custom))
            .prop_map(|(first, second)| HistoryProperty::Before(first, second)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_answer_is_that_of_every_history(
        choices in prop_oneof![
            prop::collection::vec(choice(2), 2),
            prop::collection::vec(choice(1), 3),
        ],
        owns in any::<bool>(),
        (custom, properties) in any::<bool>()
            .prop_flat_map(|custom| (Just(custom), prop::collection::vec(property(custom), 12))),
    ) {
        let scenario = scenario(&choices, custom, owns);
        let first = Moment { step: None, object: stored(&scenario, &scenario.server) };
        let all = histories(&begin(&scenario), &[first], &|run, who| {
            let reads = run.actors[who].reads;
            step(&scenario, run, who);
            let accepted = !matches!(run.events.last(), Some(Event::Refused(..) | Event::NotShown(_)));
            Moment { step: Some((who, reads, accepted)), object: run.stored(&scenario) }
        });
        let mut search = Search::new(scenario.clone(), 100_000);
        prop_assert_eq!(search.run(), SearchStatus::Done);
        let mut some = Search::new(scenario, 4);
        some.run();
        for property in &properties {
            let shortest = all.iter().filter_map(|history| history.breaks(property)).min();
            let tried = all.iter().any(|history| history.tries(property));
            match search.judge(property) {
                HistoryAnswer::Broken(path) => {
                    prop_assert_eq!(Some(path.len()), shortest, "{:?}", property);
                    prop_assert!(is_a_history(&search, &path, &all), "{property:?}: {path:?}");
                }
                other => {
                    prop_assert_eq!(shortest, None, "{:?}", property);
                    let wanted = if tried { HistoryAnswer::Holds } else { HistoryAnswer::Untried };
                    prop_assert_eq!(other, wanted, "{:?}", property);
                }
            }
            // A search that is not over claims nothing that is not so.
            match some.judge(property) {
                HistoryAnswer::Broken(path) => prop_assert_eq!(Some(path.len()), shortest),
                HistoryAnswer::Unknown => {}
                _ => prop_assert_eq!(some.status(), SearchStatus::Done),
            }
        }
    }
}

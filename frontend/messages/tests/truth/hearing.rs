//! Hears texts, and checks each message in them against its condition.

use std::collections::{BTreeMap, BTreeSet};

use super::said::{self, Said};

/// Messages that no text, object or history was found for, each with the reason why one may still exist.
pub const UNREACHED: &[(&str, &str)] = &[(
    "fate_default",
    "a value that is made up, and in the place of which the server sets one of its own, neither the old nor the wanted",
)];

/// Returns those of some names that have a condition and were never said, without those of [`UNREACHED`].
pub fn unheard<'a>(unsaid: &[&'a str]) -> Vec<&'a str> {
    let is_known = |name: &str| UNREACHED.iter().any(|(of, _)| *of == name);
    let all = unsaid.iter().copied();
    all.filter(|name| !is_known(name)).collect()
}

/// A condition: returns whether a message is true of its subject. `None` is as false as `false`.
pub type ConditionOf<C> = fn(&Said, &C) -> Option<bool>;

/// The conditions of messages about one sort of thing.
pub type Conditions<C> = BTreeMap<&'static str, ConditionOf<C>>;

/// The messages that were heard.
#[derive(Default)]
pub struct Hearing {
    checked: BTreeMap<&'static str, usize>,
    /// The conditions that were asked, of each message: it can have one about each of several things.
    asked: BTreeMap<&'static str, BTreeSet<(&'static str, usize)>>,
    unknown: BTreeSet<&'static str>,
    wrong: BTreeMap<&'static str, String>,
}

impl Hearing {
    /// Checks the messages of a text, also those inside others. `told` is what it is about, in words.
    pub fn hear<C>(
        &mut self,
        text: &str,
        conditions: &Conditions<C>,
        about: &C,
        told: &dyn Fn() -> String,
    ) {
        for said in said::all(&said::parts(text)) {
            let name = said.name();
            let Some(condition) = conditions.get(name) else {
                self.unknown.insert(name);
                continue;
            };
            *self.checked.entry(name).or_default() += 1;
            let condition = *condition;
            let about_what = (std::any::type_name::<C>(), condition as usize);
            self.asked.entry(name).or_default().insert(about_what);
            if condition(said, about) != Some(true) {
                let wrong = || format!("“{}”\n{}", said.english(), told());
                self.wrong.entry(name).or_insert_with(wrong);
            }
        }
    }

    /// Something that is so and that a text does not say.
    pub fn unsaid(&mut self, name: &'static str, told: String) {
        self.wrong
            .entry(name)
            .or_insert_with(|| format!("was not said: {told}"));
    }

    /// Prints what was checked, and fails if something was false, or was never said. `conditions` are the names of all
    /// that could be said, one for each condition.
    pub fn conclude(self, what: &str, cases: &str, conditions: &[&'static str]) {
        let asked = |name: &str| self.asked.get(name).map_or(0, BTreeSet::len);
        let all: BTreeSet<&str> = conditions.iter().copied().collect();
        let unsaid = all.iter().filter(|name| asked(name) == 0).copied();
        let unsaid: Vec<&str> = unsaid.collect();
        let partly = all.iter().filter(|name| {
            let of = conditions.iter().filter(|it| it == name).count();
            (1..of).contains(&asked(name))
        });
        let partly: Vec<&str> = partly.copied().collect();
        super::tell(&format!(
            "counted: truth of {what}: {} sentences of {} messages checked in {cases}; {} messages were not \
             said: {}",
            self.checked.values().sum::<usize>(),
            self.checked.len(),
            unsaid.len(),
            unsaid.join(", "),
        ));
        if !partly.is_empty() {
            super::tell(&format!(
                "said, but not of each of the things that they have a condition for: {partly:?}"
            ));
        }
        let open = super::open();
        let unknown = self.unknown.iter().filter(|name| open.contains(*name));
        let unknown: Vec<_> = unknown.collect();
        if !unknown.is_empty() {
            super::tell(&format!("said without a condition: {unknown:?}"));
        }
        for (name, text) in &self.wrong {
            super::tell(&format!("FALSE {name}: {text}"));
        }
        let wrong: Vec<&&str> = self.wrong.keys().collect();
        assert_eq!(
            wrong, [&""; 0],
            "these messages are false in the cases above"
        );
        assert_eq!(
            unheard(&unsaid),
            [""; 0],
            "these messages were never said, so their conditions were never tried: add a case that says them"
        );
    }
}

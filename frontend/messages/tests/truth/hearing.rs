//! Hears texts, and checks each message in them against its condition.

use std::collections::{BTreeMap, BTreeSet};

use super::said::{self, Said};

/// A condition: returns whether a message is true of its subject. `None` is as false as `false`.
pub type ConditionOf<C> = fn(&Said, &C) -> Option<bool>;

/// The conditions of messages about one sort of thing.
pub type Conditions<C> = BTreeMap<&'static str, ConditionOf<C>>;

/// The messages that were heard.
#[derive(Default)]
pub struct Hearing {
    checked: BTreeMap<&'static str, usize>,
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

    /// Prints what was checked, and fails if something was false. `conditions` are the names of all
    /// that could be said.
    pub fn conclude(self, what: &str, cases: &str, conditions: &[&'static str]) {
        let unsaid = conditions
            .iter()
            .filter(|name| !self.checked.contains_key(*name));
        let unsaid: Vec<&str> = unsaid.copied().collect();
        super::tell(&format!(
            "counted: truth of {what}: {} sentences of {} messages checked in {cases}; {} messages were not \
             said: {}",
            self.checked.values().sum::<usize>(),
            self.checked.len(),
            unsaid.len(),
            unsaid.join(", "),
        ));
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
    }
}

//! The table of all built-in kinds, for those that have no rules of their own in this crate:
//! made by `cargo xtask kinds` from the types of the Kubernetes API.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::Struct;
use super::builtin::{builtin, parse_more};

static KINDS: LazyLock<Vec<KindFacts>> = LazyLock::new(|| read(include_str!("kinds.schema")));

/// A kind, as the table describes it.
#[derive(Debug)]
pub struct KindFacts {
    /// Its group and version, `apps/v1`.
    pub api_version: &'static str,
    /// Its name.
    pub kind: &'static str,
    /// Its plural name in paths.
    pub plural: &'static str,
    /// Its type; `None` if the table lacks it.
    pub root: Option<Arc<Struct>>,
    words: BTreeMap<&'static str, &'static str>,
}

impl KindFacts {
    /// Whether the table says this of it.
    pub fn is(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// What the table says after `word=`; empty if it does not say so.
    pub fn of(&self, word: &str) -> &'static str {
        self.words.get(word).copied().unwrap_or_default()
    }

    /// The list that the table says after `word=`.
    pub fn list(&self, word: &str) -> impl Iterator<Item = &'static str> + use<> {
        let words = self.of(word).split(',');
        words.filter(|word| !word.is_empty())
    }
}

/// All kinds of the table.
pub fn kinds() -> &'static [KindFacts] {
    &KINDS
}

fn read(table: &'static str) -> Vec<KindFacts> {
    let types = parse_more(table);
    let lines = table.lines().filter_map(|line| line.strip_prefix('!'));
    lines
        .filter_map(|line| {
            let mut words = line.split(' ');
            let (api_version, kind) = (words.next()?, words.next()?);
            let plural = words.next()?;
            let package = match api_version.split_once('/') {
                Some((group, version)) => {
                    format!("{}/{version}", group.split('.').next().unwrap_or(group))
                }
                None => format!("core/{api_version}"),
            };
            let root = types
                .get(&format!("{package}/{kind}"))
                .or_else(|| builtin(kind));
            Some(KindFacts {
                api_version,
                kind,
                plural,
                root: root.cloned(),
                words: words
                    .map(|word| word.split_once('=').unwrap_or((word, "")))
                    .collect(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{ListKind, Type};

    fn kind(api_version: &str, kind: &str) -> &'static KindFacts {
        let mut found = kinds().iter();
        found
            .find(|facts| facts.api_version == api_version && facts.kind == kind)
            .unwrap()
    }

    #[test]
    fn every_kind_of_the_table_has_a_type_with_metadata() {
        for facts in kinds() {
            let root = facts.root.as_ref().unwrap();
            assert_eq!(root.name, facts.kind);
            assert!(root.field("metadata").is_some(), "{}", facts.kind);
        }
    }

    #[test]
    fn a_name_that_two_packages_use_means_the_one_of_its_own() {
        let field =
            |facts: &KindFacts, name: &str| facts.root.as_ref().unwrap().field(name).cloned();
        let slice = kind("discovery.k8s.io/v1", "EndpointSlice");
        let Some(Type::List(ports)) = field(slice, "ports").map(|ports| ports.ty) else {
            panic!("ports is a list")
        };
        let Type::Struct(port) = &ports.item else {
            panic!("a port is a struct")
        };
        assert!(port.field("appProtocol").unwrap().pointer);
        assert!(
            port.field("port").unwrap().pointer,
            "in Endpoints it is not"
        );
    }

    #[test]
    fn lists_without_a_list_type_merge_as_their_patch_strategy_says() {
        let account = kind("v1", "ServiceAccount").root.as_ref().unwrap();
        let Type::List(secrets) = &account.field("secrets").unwrap().ty else {
            panic!("secrets is a list")
        };
        assert_eq!(secrets.kind, ListKind::Map(vec!["name".to_owned()]));
    }
}

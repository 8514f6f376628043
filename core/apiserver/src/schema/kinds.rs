//! The built-in kinds that this crate serves by a table: `kinds.facts` says what each kind is, and
//! `kinds.schema` has their types, which are read when the first of them is asked for.
//!
//! A line of `kinds.facts` is `group/version Kind plural words`. The words are what the Go types of the
//! API do not say (`pkg/registry/*/strategy.go`, `pkg/registry/*/storage`, v1.36):
//!
//! | word | meaning |
//! |---|---|
//! | `short=a,b` | other names of the resource |
//! | `in=a,b` | categories that it belongs to |
//! | `cluster` | objects are not in namespaces |
//! | `rules` | the crate has rules of its own for it |
//! | `status` | is written through /status only, which leaves the spec as it is |
//! | `status=a,b` | the same, but /status leaves these fields as they are |
//! | `anew` | an apply of the status of a missing object is one of a new object |
//! | `scale` | has /scale |
//! | `generation=a,b` | the fields that change `metadata.generation` (`rest` is all but metadata and status; `none`: it is 1 and stays so; `spec,later`: a new object has none; `spec,given`: fields that are dropped afterwards count, too; `spec,empties`: an empty list or map in the spec counts, too) |
//! | `versioned` | an update must name the resourceVersion |
//! | `creates` | an update of a missing object creates it |
//! | `stored=` | where etcd keeps it, if not under the plural |
//! | `encoded=` | the version in which etcd holds it, if not its own |
//! | `plain-replicas` | `spec.replicas` is a plain number in the server |
//! | `annotates=a,b` | annotations that stand for fields which only the server has |
//! | `name=` | what a name may be, if not a DNS subdomain: `label`, `path` |
//! | `returns` | a deletion answers with the object |
//! | `mistypes` | its lists are merged by a key that items may leave out |
//! | `orphans` | a deletion leaves dependents alone if it does not say otherwise |
//! | `select=a,b` | fields to select by besides name and namespace |

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use super::Struct;
use super::builtin::{Types, builtin, parse_more};

/// With the kind of kube-aggregator, which is no part of `k8s.io/api`.
const FACTS: &str = concat!(
    include_str!("kinds.facts"),
    include_str!("aggregator.facts")
);
const SCHEMA: &str = concat!(
    include_str!("kinds.schema"),
    include_str!("aggregator.schema")
);

static KINDS: LazyLock<Vec<KindFacts>> = LazyLock::new(|| read(FACTS));
static TYPES: LazyLock<Types> = LazyLock::new(|| parse_more(SCHEMA));

static REQUESTED: LazyLock<Types> = LazyLock::new(|| parse_more(include_str!("requests.schema")));

static ANNOTATED: LazyLock<Types> =
    LazyLock::new(|| parse_more(include_str!("annotations.schema")));

/// A type of what annotations have as JSON, by its name.
pub fn annotated(name: &str) -> Option<&'static Arc<Struct>> {
    ANNOTATED.get(name)
}

/// The type of a request that stores nothing, by its kind.
pub fn requested(kind: &str) -> Option<&'static Arc<Struct>> {
    REQUESTED.get(kind)
}

/// The Go package of a type, as error messages show it: the version, since all served ones but one are `v1`.
pub(super) fn go_package(of: &Struct) -> &'static str {
    let second = TYPES.get(&format!("autoscaling/v2/{}", of.name));
    if second.is_some_and(|ty| std::ptr::eq(&raw const **ty, of)) {
        "v2"
    } else {
        "v1"
    }
}

/// A kind, as the table describes it.
#[derive(Debug)]
pub struct KindFacts {
    /// Its group and version, `apps/v1`.
    pub api_version: &'static str,
    /// Its name.
    pub kind: &'static str,
    /// Its plural name in paths.
    pub plural: &'static str,
    words: BTreeMap<&'static str, &'static str>,
}

impl KindFacts {
    /// Its type; `None` if the tables have none.
    pub fn root(&self) -> Option<&'static Arc<Struct>> {
        let package = match self.api_version.split_once('/') {
            Some((group, version)) => {
                format!("{}/{version}", group.split('.').next().unwrap_or(group))
            }
            None => format!("core/{}", self.api_version),
        };
        let own = TYPES.get(&format!("{package}/{}", self.kind));
        own.or_else(|| builtin(self.kind))
    }

    /// Returns whether the table has this word for it.
    pub fn is(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// The text after `word=`; empty if the word is not there.
    pub fn value(&self, word: &str) -> &'static str {
        self.words.get(word).copied().unwrap_or_default()
    }

    /// The list after `word=`.
    pub fn list(&self, word: &str) -> impl Iterator<Item = &'static str> + use<> {
        let words = self.value(word).split(',');
        words.filter(|word| !word.is_empty())
    }
}

/// The type of a kind's objects.
#[derive(Clone, Debug)]
pub enum Root {
    /// The type itself.
    Known(Arc<Struct>),
    /// The type of a kind of the table; the table of types is read when it is asked for.
    OfKind(&'static KindFacts),
}

impl Deref for Root {
    type Target = Arc<Struct>;

    fn deref(&self) -> &Arc<Struct> {
        static NO_FIELDS: LazyLock<Arc<Struct>> =
            LazyLock::new(|| Arc::new(Struct::new("", Vec::new(), false)));
        match self {
            Self::Known(root) => root,
            Self::OfKind(facts) => facts.root().unwrap_or(&NO_FIELDS),
        }
    }
}

impl From<&Arc<Struct>> for Root {
    fn from(root: &Arc<Struct>) -> Self {
        Self::Known(Arc::clone(root))
    }
}

/// All kinds of the table.
pub fn kinds() -> &'static [KindFacts] {
    &KINDS
}

fn read(facts: &'static str) -> Vec<KindFacts> {
    let kinds = facts.lines().filter_map(|line| {
        let mut words = line.split(' ');
        Some(KindFacts {
            api_version: words.next()?,
            kind: words.next()?,
            plural: words.next()?,
            words: words
                .map(|word| word.split_once('=').unwrap_or((word, "")))
                .collect(),
        })
    });
    kinds.collect()
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
            let root = facts.root().unwrap();
            assert_eq!(root.name, facts.kind);
            assert!(root.field("metadata").is_some(), "{}", facts.kind);
        }
    }

    #[test]
    fn a_name_that_two_packages_use_means_the_one_of_its_own() {
        let field = |facts: &KindFacts, name: &str| facts.root().unwrap().field(name).cloned();
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
        let account = kind("v1", "ServiceAccount").root().unwrap();
        let Type::List(secrets) = &account.field("secrets").unwrap().ty else {
            panic!("secrets is a list")
        };
        assert_eq!(secrets.kind, ListKind::Map(vec!["name".to_owned()]));
    }
}

//! Field sets obey the laws of sets.

use optimist_apiserver::apply::{Path, PathElement, Set, from_fields_v1, to_fields_v1};
use proptest::prelude::*;

fn element() -> impl Strategy<Value = PathElement> {
    prop_oneof![
        "[ab]".prop_map(PathElement::Field),
        (0i64..2).prop_map(|n| PathElement::Value(n.into())),
        (0i64..2).prop_map(|n| PathElement::Key(vec![("k".to_owned(), n.into())])),
        (0i64..2).prop_map(PathElement::Index),
    ]
}

fn set() -> impl Strategy<Value = Set> {
    let path = prop::collection::vec(element(), 1..4).prop_map(Path);
    prop::collection::vec(path, 0..8).prop_map(|paths| {
        let mut set = Set::default();
        paths.iter().for_each(|path| set.insert(path));
        set
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn field_sets_obey_the_laws_of_sets(a in set(), b in set(), c in set()) {
        prop_assert_eq!(a.union(&b), b.union(&a));
        prop_assert_eq!(a.intersection(&b), b.intersection(&a));
        prop_assert_eq!(a.union(&b).union(&c), a.union(&b.union(&c)));
        prop_assert_eq!(a.intersection(&b).intersection(&c), a.intersection(&b.intersection(&c)));
        prop_assert_eq!(a.intersection(&b.union(&c)), a.intersection(&b).union(&a.intersection(&c)));
        prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)), a.clone());
        prop_assert!(a.difference(&b).intersection(&b).is_empty());
        prop_assert!(a.difference(&a).is_empty() && a.recursive_difference(&a).is_empty());
        for path in a.union(&b).paths() {
            prop_assert!(a.contains(&path) || b.contains(&path));
        }
    }

    #[test]
    fn a_field_set_is_read_back_as_it_was_written(set in set()) {
        prop_assert_eq!(from_fields_v1(&to_fields_v1(&set)), Some(set));
    }
}

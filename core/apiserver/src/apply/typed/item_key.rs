//! The key of an item of a list (`typed/helpers.go listItemToPathElement`).

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;

use crate::apply::PathElement;
use crate::apply::element::compare_values;
use crate::go;
use crate::schema::{ListKind, ListType, Type};

/// The key of an item. It has the content of a [`PathElement`] and borrows it, because most items are
/// only compared with others.
#[derive(Debug)]
pub(in crate::apply) enum ItemKey<'a> {
    /// These fields, sorted by name.
    Fields(Vec<(&'a str, Cow<'a, Value>)>),
    /// The item itself.
    Value(&'a Value),
}

impl<'a> ItemKey<'a> {
    /// Finds the key of an item of a list.
    ///
    /// # Errors
    /// The reason why the item has none.
    pub(in crate::apply) fn from_item(list: &'a ListType, item: &'a Value) -> Result<Self, String> {
        let ListKind::Map(keys) = &list.kind else {
            return match item {
                Value::Object(_) => {
                    Err("associative list without keys has an element that's a map type".to_owned())
                }
                Value::Array(_) => {
                    Err("not supported: associative list with lists as elements".to_owned())
                }
                Value::Null => Err(
                    "associative list without keys has an element that's an explicit null"
                        .to_owned(),
                ),
                scalar => Ok(Self::Value(scalar)),
            };
        };
        let map = match item {
            Value::Object(map) => map,
            Value::Null => {
                return Err("associative list with keys may not have a null element".to_owned());
            }
            _ => return Err("associative list with keys may not have non-map elements".to_owned()),
        };
        let mut fields: Vec<(&str, Cow<'_, Value>)> = Vec::with_capacity(keys.len());
        for key in keys {
            let value = map
                .get(key)
                .map(Cow::Borrowed)
                .or_else(|| match &list.item {
                    Type::Struct(inner) => inner.field(key)?.key_default().map(Cow::Owned),
                    _ => None,
                });
            if let Some(value) = value {
                fields.push((key, value));
            }
        }
        if fields.is_empty() {
            return Err(format!(
                "associative list with keys has an element that omits all key fields {} \
                 (and doesn't have default values for any key fields)",
                go::quote_list(keys)
            ));
        }
        fields.sort_by_key(|(name, _)| *name);
        Ok(Self::Fields(fields))
    }

    /// The key as a step of a path.
    pub(in crate::apply) fn into_element(self) -> PathElement {
        match self {
            Self::Fields(fields) => {
                let fields = fields.into_iter();
                let owned = fields.map(|(name, value)| (name.to_owned(), value.into_owned()));
                PathElement::Key(owned.collect())
            }
            Self::Value(value) => PathElement::Value(value.clone()),
        }
    }

    /// A copy of the key as a step of a path.
    pub(in crate::apply) fn to_element(&self) -> PathElement {
        match self {
            Self::Fields(fields) => {
                let fields = fields.iter();
                let owned = fields.map(|(name, value)| ((*name).to_owned(), Value::clone(value)));
                PathElement::Key(owned.collect())
            }
            Self::Value(value) => PathElement::Value((*value).clone()),
        }
    }
}

/// The order of path elements.
impl Ord for ItemKey<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Fields(fields), Self::Fields(others)) => {
                let pairs = fields.iter().zip(others);
                let orders = pairs.map(|((name, value), (other, same))| {
                    name.cmp(other).then_with(|| compare_values(value, same))
                });
                let mut orders = orders.filter(|order| order.is_ne());
                orders
                    .next()
                    .unwrap_or_else(|| fields.len().cmp(&others.len()))
            }
            (Self::Value(value), Self::Value(other)) => compare_values(value, other),
            (Self::Fields(_), Self::Value(_)) => Ordering::Less,
            (Self::Value(_), Self::Fields(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for ItemKey<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ItemKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ItemKey<'_> {}

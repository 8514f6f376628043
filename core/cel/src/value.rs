//! Values that expressions work on, and how values of objects become such
//! (`k8s.io/apiserver/pkg/cel/common/valuesunstructured.go`, v1.36).

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::changes::printed;
use super::declared::escaped;
use super::evaluate::Evaluated;
use super::functions::libraries::Semver;
use super::functions::network::Url;
use super::functions::times;
use crate::schema::{ListKind, ValueSchema};
use optimist_values::{Quantity, formats};

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Val {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Rc<str>),
    Bytes(Rc<[u8]>),
    /// In nanoseconds.
    Duration(i64),
    /// In nanoseconds since 1970, and the seconds of the offset in which it is written.
    Timestamp(i128, i64),
    List(Rc<ListValue>),
    Map(Rc<BTreeMap<MapKey, Val>>),
    /// A type, by its name.
    Type(&'static str),
    Optional(Option<Rc<Val>>),
    Url(Rc<Url>),
    Ip(IpAddr),
    Cidr(IpAddr, u8),
    Quantity(Quantity),
    Semver(Rc<Semver>),
    Format(&'static str),
    Message(Rc<MessageValue>),
    /// Variables that are made of others. One that failed fails where it is used.
    Composed(Rc<BTreeMap<String, Evaluated>>),
    /// A value that is no part of an object.
    Foreign(Rc<Val>),
}

/// A message that says how to change an object.
#[derive(Clone, Debug)]
pub(super) struct MessageValue {
    pub(super) ty: String,
    pub(super) fields: BTreeMap<String, Val>,
}

/// Items, and how two lists of them are compared and joined.
#[derive(Clone, Debug, Default)]
pub(super) struct ListValue {
    pub(super) items: Vec<Val>,
    pub(super) kind: ListKind,
}

/// A key of a map.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MapKey {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Text(Rc<str>),
}

impl MapKey {
    /// The key that a value stands for: numbers that are equal are the same key.
    pub(super) fn from_value(value: &Val) -> Option<Self> {
        Some(match value {
            Val::Bool(value) => MapKey::Bool(*value),
            Val::Int(value) => MapKey::Int(*value),
            Val::Uint(value) => i64::try_from(*value).map_or(MapKey::Uint(*value), MapKey::Int),
            Val::Double(value) if value.fract() == 0.0 && value.abs() < 9e18 => {
                MapKey::Int(*value as i64)
            }
            Val::Text(text) => MapKey::Text(text.clone()),
            _ => return None,
        })
    }

    pub(super) fn value(&self) -> Val {
        match self {
            MapKey::Bool(value) => Val::Bool(*value),
            MapKey::Int(value) => Val::Int(*value),
            MapKey::Uint(value) => Val::Uint(*value),
            MapKey::Text(text) => Val::Text(text.clone()),
        }
    }
}

impl Val {
    pub(super) fn text(text: impl AsRef<str>) -> Self {
        Val::Text(text.as_ref().into())
    }

    pub(super) fn list(items: Vec<Val>) -> Self {
        let kind = ListKind::Atomic;
        Val::List(Rc::new(ListValue { items, kind }))
    }

    pub(super) fn texts<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Self {
        Val::list(texts.into_iter().map(Val::text).collect())
    }

    pub(super) fn some(value: Val) -> Self {
        Val::Optional(Some(Rc::new(value)))
    }

    /// The name of its type.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Val::Null => "null_type",
            Val::Bool(_) => "bool",
            Val::Int(_) => "int",
            Val::Uint(_) => "uint",
            Val::Double(_) => "double",
            Val::Text(_) => "string",
            Val::Bytes(_) => "bytes",
            Val::Duration(_) => "google.protobuf.Duration",
            Val::Timestamp(..) => "google.protobuf.Timestamp",
            Val::List(_) => "list",
            Val::Map(_) => "map",
            Val::Type(_) => "type",
            Val::Optional(_) => "optional_type",
            Val::Url(_) => "kubernetes.URL",
            Val::Ip(_) => "net.IP",
            Val::Cidr(..) => "net.CIDR",
            Val::Quantity(_) => "kubernetes.Quantity",
            Val::Semver(_) => "kubernetes.Semver",
            Val::Format(_) => "kubernetes.NamedFormat",
            Val::Message(_) => "Object",
            Val::Composed(_) => "kubernetes.variables",
            Val::Foreign(_) => "dyn",
        }
    }

    /// Returns its size where size counts (`actualSize`); 1 where it does not.
    pub(super) fn size(&self) -> u64 {
        match self {
            Val::Text(text) => text.chars().count() as u64,
            Val::Bytes(bytes) => bytes.len() as u64,
            Val::List(list) => list.items.len() as u64,
            Val::Map(map) => map.len() as u64,
            Val::Optional(Some(value)) => value.size(),
            Val::Url(url) => url.text.len() as u64,
            Val::Ip(ip) => address_size(*ip),
            Val::Cidr(ip, _) => address_size(*ip),
            _ => 1,
        }
    }

    /// About how many bytes and items a function that walks it looks at.
    pub(super) fn work(&self) -> u64 {
        match self {
            Val::Text(text) => text.len() as u64,
            Val::Bytes(bytes) => bytes.len() as u64,
            Val::List(list) => list.items.iter().map(|it| 1 + it.work()).sum(),
            Val::Map(map) => map.values().map(|it| 2 + it.work()).sum(),
            Val::Message(message) => message.fields.values().map(|it| 2 + it.work()).sum(),
            Val::Optional(Some(value)) => value.work(),
            _ => 1,
        }
    }

    /// Returns whether two values are equal. Numbers of different types are compared by value.
    pub(super) fn equals(&self, other: &Val) -> bool {
        match (self, other) {
            (Val::Null, Val::Null) => true,
            (Val::Text(one), Val::Text(other)) => one == other,
            (Val::List(one), Val::List(other)) => one.equals(other),
            (Val::Map(one), Val::Map(other)) => {
                one.len() == other.len()
                    && one
                        .iter()
                        .all(|(key, value)| other.get(key).is_some_and(|other| value.equals(other)))
            }
            (Val::Type(one), Val::Type(other)) | (Val::Format(one), Val::Format(other)) => {
                one == other
            }
            (Val::Optional(one), Val::Optional(other)) => match (one, other) {
                (Some(one), Some(other)) => one.equals(other),
                (one, other) => one.is_none() && other.is_none(),
            },
            (Val::Url(one), Val::Url(other)) => one.text == other.text,
            (Val::Ip(one), Val::Ip(other)) => one == other,
            (Val::Cidr(one, bits), Val::Cidr(other, of_other)) => one == other && bits == of_other,
            (Val::Quantity(one), Val::Quantity(other)) => one == other,
            (Val::Semver(one), Val::Semver(other)) => one.cmp(other).is_eq(),
            (Val::Message(one), Val::Message(other)) => one.equals(other),
            _ => self.compare(other) == Some(Ordering::Equal),
        }
    }

    /// Compares two values; `None` if they have no order.
    pub(super) fn compare(&self, other: &Val) -> Option<Ordering> {
        match (self, other) {
            (Val::Bool(one), Val::Bool(other)) => Some(one.cmp(other)),
            (Val::Int(one), Val::Int(other)) => Some(one.cmp(other)),
            (Val::Uint(one), Val::Uint(other)) => Some(one.cmp(other)),
            (Val::Double(one), Val::Double(other)) => one.partial_cmp(other),
            (Val::Int(one), Val::Uint(other)) => Some(i128::from(*one).cmp(&i128::from(*other))),
            (Val::Uint(one), Val::Int(other)) => Some(i128::from(*one).cmp(&i128::from(*other))),
            (Val::Int(one), Val::Double(other)) => (*one as f64).partial_cmp(other),
            (Val::Uint(one), Val::Double(other)) => (*one as f64).partial_cmp(other),
            (Val::Double(_), Val::Int(_) | Val::Uint(_)) => {
                other.compare(self).map(Ordering::reverse)
            }
            (Val::Text(one), Val::Text(other)) => Some(one.cmp(other)),
            (Val::Bytes(one), Val::Bytes(other)) => Some(one.cmp(other)),
            (Val::Duration(one), Val::Duration(other)) => Some(one.cmp(other)),
            (Val::Timestamp(one, _), Val::Timestamp(other, _)) => Some(one.cmp(other)),
            _ => None,
        }
    }
}

impl MessageValue {
    fn equals(&self, other: &MessageValue) -> bool {
        let mut pairs = self.fields.iter().zip(&other.fields);
        self.ty == other.ty
            && self.fields.len() == other.fields.len()
            && pairs.all(|((name, one), (same, other))| name == same && one.equals(other))
    }
}

fn address_size(ip: IpAddr) -> u64 {
    if ip.is_ipv4() { 4 } else { 16 }
}

impl ListValue {
    /// Sets and lists with keys have no order.
    fn equals(&self, other: &ListValue) -> bool {
        let unordered = !matches!(self.kind, ListKind::Atomic);
        self.items.len() == other.items.len()
            && if unordered {
                self.items
                    .iter()
                    .all(|item| other.items.iter().any(|it| it.equals(item)))
            } else {
                let pairs = self.items.iter().zip(&other.items);
                pairs.into_iter().all(|(one, other)| one.equals(other))
            }
    }

    /// Joins two lists as their kind demands: an item that is in a set is not added again, and in a
    /// list with keys an item takes the place of the one with the same keys.
    pub(super) fn append(&mut self, other: &[Val]) {
        for item in other {
            let place = match &self.kind {
                ListKind::Set => self.items.iter().position(|it| it.equals(item)),
                ListKind::Map(keys) => self.items.iter().position(|it| same_keys(it, item, keys)),
                _ => None,
            };
            match place {
                Some(place) => self.items[place] = item.clone(),
                None => self.items.push(item.clone()),
            }
        }
    }
}

fn same_keys(one: &Val, other: &Val, keys: &[String]) -> bool {
    let (Val::Map(one), Val::Map(other)) = (one, other) else {
        return false;
    };
    keys.iter().all(|key| {
        let key = MapKey::Text(escaped(key).unwrap_or_default().into());
        match (one.get(&key), other.get(&key)) {
            (Some(one), Some(other)) => one.equals(other),
            (one, other) => one.is_none() && other.is_none(),
        }
    })
}

/// A value of an object as rules see it: of the type that its schema has, with properties by
/// names that are identifiers. Without a schema, it is of the type that it has in JSON.
pub(super) fn converted<S: ValueSchema>(value: &Value, schema: Option<&S>) -> Val {
    match value {
        Value::Null => Val::Null,
        Value::Bool(value) => Val::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(whole) if schema.is_none_or(|it| it.ty() != "number") => Val::Int(whole),
            _ => Val::Double(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => match schema {
            Some(schema) => converted_text(text, schema),
            None => Val::text(text),
        },
        Value::Array(items) => {
            let of_items = schema.and_then(S::items);
            let items = items.iter().map(|item| converted(item, of_items)).collect();
            let kind = schema.map(S::list_kind).unwrap_or_default();
            Val::List(Rc::new(ListValue { items, kind }))
        }
        Value::Object(map) => {
            let values = schema.and_then(S::additional);
            let members = map.iter().filter_map(|(name, member)| {
                Some(match schema.and_then(|it| it.property(name)) {
                    // A property that is null counts as absent.
                    Some(_) if member.is_null() => return None,
                    declared @ Some(_) => (escaped(name)?, converted(member, declared)),
                    None => (name.clone(), converted(member, values)),
                })
            });
            let members = members.map(|(name, value)| (MapKey::Text(name.into()), value));
            Val::Map(Rc::new(members.collect()))
        }
    }
}

impl Val {
    /// The value in JSON, where it has one.
    pub(super) fn json(&self) -> Option<Value> {
        Some(match self {
            Val::Null => Value::Null,
            Val::Bool(value) => (*value).into(),
            Val::Int(value) => (*value).into(),
            Val::Uint(value) => (*value).into(),
            Val::Double(value) => (*value).into(),
            Val::Text(text) => (&**text).into(),
            Val::List(list) => list.items.iter().map(Val::json).collect::<Option<_>>()?,
            Val::Map(map) => {
                let members = map.iter().map(|(key, value)| match key {
                    MapKey::Text(name) => Some((name.to_string(), value.json()?)),
                    _ => None,
                });
                Value::Object(members.collect::<Option<_>>()?)
            }
            // Only bytes are ever written; mistakes show the rest.
            Val::Foreign(value) => match &**value {
                Val::Bytes(bytes) => STANDARD.encode(bytes).into(),
                value => printed(value).into(),
            },
            Val::Message(message) => {
                let fields = message.fields.iter();
                let fields = fields.map(|(name, value)| Some((name.clone(), value.json()?)));
                Value::Object(fields.collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }
}

fn converted_text(text: &str, schema: &impl ValueSchema) -> Val {
    if schema.int_or_string() {
        return Val::text(text);
    }
    let value = match schema.format() {
        "byte" => STANDARD.decode(text).ok().map(|it| Val::Bytes(it.into())),
        "duration" => formats::duration(text).map(Val::Duration),
        "date" => times::timestamp(&format!("{text}T00:00:00Z")),
        "date-time" => times::timestamp(&text.to_ascii_uppercase()),
        _ => None,
    };
    value.unwrap_or_else(|| Val::text(text))
}

//! Objects without their private values.

use optimist_apiserver::apply::{from_fields_v1, to_fields_v1};
use optimist_apiserver::go::base64;
use optimist_apiserver::pointer::unescape;
use serde_json::{Map, Value};

use super::commands::{ShortOption, option_of, short_option};
use super::encoded::{self, Base64Content};
use super::names::{by_name, is_blank};
use super::{Masking, Plain, StandInStyle};

/// The place of a value in an object.
#[derive(Clone, Copy)]
pub(super) struct ValuePlace<'a> {
    above: Option<&'a ValuePlace<'a>>,
    /// The name of its field; of an item that of its list.
    name: &'a str,
    /// The option for a password of the command that it is an argument of.
    option: Option<&'static str>,
}

impl<'a> ValuePlace<'a> {
    pub(super) const ROOT: ValuePlace<'static> = ValuePlace {
        above: None,
        name: "",
        option: None,
    };

    fn below(&'a self, name: &'a str) -> Self {
        Self {
            above: Some(self),
            name,
            option: None,
        }
    }

    /// `data.password`.
    pub(super) fn path(&self) -> String {
        let above = self.above.map(ValuePlace::path).unwrap_or_default();
        match (above.is_empty(), self.name) {
            (_, "") => above,
            (true, name) => name.to_owned(),
            (false, name) => format!("{above}.{name}"),
        }
    }

    fn is_in(&self, name: &str) -> bool {
        self.above.is_some_and(|above| above.name == name)
    }
}

/// Fields of which nothing is private: what an object is, its versions, times and managers.
const IDENTITY: [&str; 17] = [
    "apiVersion",
    "kind",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "time",
    "operation",
    "fieldsType",
    "auditID",
    "requestReceivedTimestamp",
    "stageTimestamp",
    "verb",
    "lastTransitionTime",
    "lastUpdateTime",
    "lastHeartbeatTime",
    "lastProbeTime",
];

/// Parts of names of values that look random and are not private, in lower case.
const PUBLIC_RANDOM: [&str; 16] = [
    "hash",
    "digest",
    "checksum",
    "sha",
    "revision",
    "commit",
    "etag",
    "fingerprint",
    "cabundle",
    "ca.crt",
    "certificate",
    "image",
    "uid",
    "useragent",
    "continue",
    "pointer",
];

/// Fields whose words are public: a private value that is one of them stays where it is none.
const PUBLIC: [&str; 12] = [
    "name",
    "namespace",
    "kind",
    "manager",
    "image",
    "resource",
    "generateName",
    "app",
    "component",
    "subresource",
    "serviceName",
    "nodeName",
];

impl Masking {
    /// Takes out the values that look private, and records them.
    pub fn object(&mut self, value: &mut Value) {
        self.value(value, &ValuePlace::ROOT);
    }

    /// Takes out the values that look private in a value with a path: an edit.
    pub fn at_pointer(&mut self, pointer: &str, value: &mut Value) {
        let parts: Vec<String> = pointer.split('/').skip(1).map(unescape).collect();
        self.at_path(&parts, &ValuePlace::ROOT, value);
    }

    fn at_path(&mut self, parts: &[String], above: &ValuePlace<'_>, value: &mut Value) {
        let Some((first, rest)) = parts.split_first() else {
            return self.value(value, above);
        };
        if self.of_secret
            && above.above.is_none()
            && matches!(first.as_str(), "data" | "stringData")
        {
            let place = above.below(first);
            return match rest.split_first() {
                Some((key, [])) => self.of_secret(value, &place.below(key), first == "data"),
                _ => self.data(value, &place, first == "data"),
            };
        }
        self.at_path(rest, &above.below(first), value);
    }

    fn value(&mut self, value: &mut Value, at: &ValuePlace<'_>) {
        match value {
            Value::String(text) => {
                if let Some(new) = self.string(text, at) {
                    *text = new;
                }
            }
            Value::Number(number) if self.is_private_number(number, at) => {
                let number = number.to_string();
                let stand_in = self.stand_in(at.path(), "a password", &number);
                *value = match (self.style, self.values.get(&number)) {
                    // A number stays one: its field may take no text.
                    (StandInStyle::StandIns, Some(known)) => (1_000_000 + *known).into(),
                    _ => stand_in.into(),
                };
            }
            Value::Array(items) => self.items(items, at),
            Value::Object(map) => self.members(map, at),
            _ => {}
        }
    }

    /// Returns whether a number is a password: at least four digits, and neither a count nor a
    /// time.
    fn is_private_number(&self, number: &serde_json::Number, at: &ValuePlace<'_>) -> bool {
        number.as_u64().is_some_and(|number| number >= 1000)
            && by_name(at.name) == Some("a password")
    }

    fn items(&mut self, items: &mut [Value], at: &ValuePlace<'_>) {
        let mut option = at.option;
        let mut next: Option<(String, &'static str)> = None;
        for item in items {
            if let Some(text) = item.as_str() {
                option = option_of(text).or(option);
                let now = next
                    .take()
                    .filter(|_| !text.starts_with('-') && !is_blank(text));
                if let Some((field, looks_like)) = now {
                    *item = self.stand_in(field, looks_like, text).into();
                    continue;
                }
                next = (text.starts_with("--") && !text.contains(['=', ' ']))
                    .then(|| Some((text.trim_start_matches('-').to_owned(), by_name(text)?)))
                    .flatten();
                match option.and_then(|option| short_option(option, text)) {
                    Some(ShortOption::Next) => next = Some((at.path(), "a password")),
                    Some(ShortOption::Rest(skip)) => {
                        let (name, value) = text.split_at(skip);
                        let value = self.stand_in(at.path(), "a password", value);
                        *item = format!("{name}{value}").into();
                        continue;
                    }
                    None => {}
                }
            }
            self.value(item, at);
        }
    }

    fn members(&mut self, map: &mut Map<String, Value>, at: &ValuePlace<'_>) {
        let kind = map
            .get("kind")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let is_secret = kind == "Secret" || kind.is_empty() && self.of_secret && at.above.is_none();
        let named = named(map);
        let pointer = operation(map);
        let option = command(map);
        if map
            .keys()
            .any(|key| key.starts_with("v:") || key.starts_with("k:"))
        {
            self.paths(map, at);
        }
        for (key, member) in map.iter_mut() {
            self.know_public(key, member, at);
            match key.as_str() {
                "data" | "stringData" if is_secret => {
                    self.data(member, &at.below(key), key == "data");
                }
                "binaryData" if kind == "ConfigMap" => self.binary(member, &at.below(key)),
                "value" | "val" if pointer.is_some() => {
                    let pointer = pointer.clone().unwrap_or_default();
                    self.at_pointer(&pointer, member);
                }
                "value" | "val" if named.is_some() => {
                    let name = named.clone().unwrap_or_default();
                    let place = ValuePlace {
                        name: &name,
                        ..ValuePlace::ROOT
                    };
                    self.value(member, &place);
                }
                "fieldsV1" => self.fields(member, &at.below(key)),
                "args" | "command" => {
                    let place = ValuePlace {
                        option,
                        ..at.below(key)
                    };
                    self.value(member, &place);
                }
                _ => self.value(member, &at.below(key)),
            }
        }
    }

    /// Owned paths: a path of a set has a value in it.
    fn fields(&mut self, value: &mut Value, at: &ValuePlace<'_>) {
        let before = value.clone();
        self.value(value, at);
        if *value != before
            && let Some(set) = from_fields_v1(value)
        {
            // The server sorts the paths.
            *value = to_fields_v1(&set);
        }
    }

    fn paths(&mut self, map: &mut Map<String, Value>, at: &ValuePlace<'_>) {
        let members = std::mem::take(map).into_iter();
        let renamed = members.map(|(key, member)| {
            if self.plain.items.contains(&key) {
                return (key, member);
            }
            let inner = key
                .split_once(':')
                .filter(|(of, _)| matches!(*of, "v" | "k"));
            let read = inner.and_then(|(of, json)| Some((of, serde_json::from_str(json).ok()?)));
            let Some((of, mut inner)) = read else {
                return (key, member);
            };
            let before: Value = Value::clone(&inner);
            self.value(&mut inner, at);
            if before != inner {
                return (format!("{of}:{inner}"), member);
            }
            // What a value in a set is for depends on the name of its list.
            if of == "k" && key.len() <= Plain::MAX && self.depth == 0 {
                self.plain.items.insert(key.clone());
            }
            (key, member)
        });
        *map = renamed.collect();
    }

    /// The data of a Secret.
    fn data(&mut self, data: &mut Value, at: &ValuePlace<'_>, encoded: bool) {
        match data {
            Value::Object(map) => {
                for (key, value) in map {
                    self.of_secret(value, &at.below(key), encoded);
                }
            }
            other => self.value(other, at),
        }
    }

    /// A value in a Secret.
    fn of_secret(&mut self, value: &mut Value, at: &ValuePlace<'_>, encoded: bool) {
        const LOOKS_LIKE: &str = "data of a Secret";
        let Some(text) = value.as_str().filter(|text| !text.is_empty()) else {
            return match value {
                Value::Null | Value::String(_) => {}
                other => {
                    let text = other.to_string();
                    *other = self.stand_in(at.path(), LOOKS_LIKE, &text).into();
                }
            };
        };
        // As the server decodes it: line breaks, and bits behind the last byte.
        let plain = base64::decoded(text).filter(|_| encoded);
        let Some(plain) = plain else {
            // What is no base64 stays none: the server says so.
            let new = self.stand_in(at.path(), LOOKS_LIKE, text);
            *value = self.like(text, new).into();
            return;
        };
        let plain = String::from_utf8(plain).unwrap_or_else(|_| text.to_owned());
        let new = self.stand_in(at.path(), LOOKS_LIKE, &plain);
        *value = match self.style {
            StandInStyle::Mask => new,
            StandInStyle::StandIns => encoded::encode(&self.like(&plain, new)),
        }
        .into();
    }

    /// A stand-in for JSON is JSON: the server reads some data of Secrets.
    fn like(&self, text: &str, new: String) -> String {
        let is_json = text.trim_start().starts_with('{')
            && serde_json::from_str::<Map<String, Value>>(text).is_ok();
        match self.style {
            StandInStyle::StandIns if is_json => format!("{{\"{new}\":{{}}}}"),
            _ => new,
        }
    }

    /// Reads data in base64. Data that is not text cannot be searched.
    fn binary(&mut self, data: &mut Value, at: &ValuePlace<'_>) {
        for (key, value) in data.as_object_mut().into_iter().flatten() {
            let place = at.below(key);
            let Some(text) = value.as_str() else { continue };
            match encoded::decoded(text) {
                Some(Base64Content::Packed | Base64Content::Bytes) => {
                    let new = self.stand_in(place.path(), "data that is no text", text);
                    *value = match self.style {
                        StandInStyle::Mask => new,
                        StandInStyle::StandIns => encoded::encode(&new),
                    }
                    .into();
                }
                _ => self.value(value, &place),
            }
        }
    }

    /// A text in an object; `None` if nothing in it is private.
    fn string(&mut self, text: &str, at: &ValuePlace<'_>) -> Option<String> {
        if text.is_empty() || IDENTITY.contains(&at.name) && text.len() < 80 {
            return None;
        }
        let labels = ["labels", "matchLabels", "selector", "nodeSelector"];
        let in_labels = labels.iter().any(|of| at.is_in(of));
        // A text in a text is not looked at as deep as one that stands alone.
        let alone = self.depth == 0;
        if alone && self.plain.has(at.name, !in_labels, text) {
            return None;
        }
        if !is_blank(text)
            && let Some(looks_like) = by_name(at.name)
            && !is_reference(text, at)
        {
            return Some(self.stand_in(at.path(), looks_like, text));
        }
        let lower = at.name.to_ascii_lowercase();
        let random = !PUBLIC_RANDOM.iter().any(|part| lower.contains(part))
            && !PUBLIC.contains(&at.name)
            && !in_labels;
        let new = self.within(text, random, &|| at.path());
        if new.is_none() && alone {
            self.plain.keep(at.name, !in_labels, text);
        }
        new
    }

    /// Remembers the words of a name, a kind, a label or an image.
    fn know_public(&mut self, key: &str, member: &Value, at: &ValuePlace<'_>) {
        let is_public = PUBLIC.contains(&key) || at.name == "labels" || at.name == "matchLabels";
        self.know_words(key);
        if let Some(text) = member.as_str().filter(|text| is_public && text.len() < 512) {
            self.know_words(text);
        }
    }

    fn know_words(&mut self, text: &str) {
        if text.len() >= 6 && !self.public.contains(text) {
            self.public.insert(text.to_owned());
            for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
                if word.len() >= 6 && !self.public.contains(word) {
                    self.public.insert(word.to_owned());
                }
            }
        }
    }

    pub(super) fn is_public(&self, value: &str) -> bool {
        self.public.contains(value)
    }
}

/// Returns whether a text under a private name only names an object of Kubernetes: `secret:
/// registry`.
fn is_reference(text: &str, at: &ValuePlace<'_>) -> bool {
    let of_secret = matches!(at.name, "secret" | "secrets" | "Secret");
    of_secret
        && text.len() < 64
        && !text
            .bytes()
            .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        && text.contains('-')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'.'))
}

/// The name of a variable, a header or a parameter, beside its value.
fn named(map: &Map<String, Value>) -> Option<String> {
    let name = ["name", "key", "Name", "Key"]
        .iter()
        .find_map(|key| map.get(*key)?.as_str());
    let value = ["value", "val"].iter().any(|key| map.contains_key(*key));
    name.filter(|_| value).map(str::to_owned)
}

/// The path of an operation of a JSON patch.
fn operation(map: &Map<String, Value>) -> Option<String> {
    let of = map.get("op")?.as_str()?;
    let path = map.get("path")?.as_str()?;
    matches!(of, "add" | "replace" | "test").then(|| path.to_owned())
}

/// The option for a password of the command of a container.
fn command(map: &Map<String, Value>) -> Option<&'static str> {
    let command = map.get("command")?.as_array()?;
    command.iter().find_map(|word| option_of(word.as_str()?))
}

//! The words of an object. Some parts of it count as they are; of those that the server chose, only
//! the order or the equality counts.

use std::hash::{Hash, Hasher};

use serde_json::Value;

use optimist_apiserver::apply::{Path, PathElement};
use optimist_apiserver::object::{Metadata, text};

use super::given::Given;
use super::ranks::Texts;
use super::{Digest, StateWord};
use crate::fast_hash::Mixer;

/// The place of a value in an object: the server writes some fields itself.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum DigestPlace {
    Object,
    Metadata,
    ManagedFields,
    Owners,
    Elsewhere,
}

impl DigestPlace {
    /// The place of a member.
    pub(super) fn member(self, member: &str) -> Self {
        match (self, member) {
            (Self::Object, "metadata") => Self::Metadata,
            (Self::Metadata, "managedFields") => Self::ManagedFields,
            (Self::Metadata, "ownerReferences") => Self::Owners,
            _ => Self::Elsewhere,
        }
    }

    /// Returns whether only the server sets a member here, or a client copies it from there.
    pub(super) fn is_set_by_server(self, member: &str) -> bool {
        match self {
            Self::Metadata => matches!(
                member,
                "creationTimestamp" | "deletionTimestamp" | "resourceVersion" | "uid"
            ),
            Self::ManagedFields => member == "time",
            Self::Owners => member == "uid",
            Self::Object | Self::Elsewhere => false,
        }
    }
}

/// Makes the digest of an object.
pub(super) struct Digester<'a> {
    hasher: Mixer,
    words: Vec<StateWord>,
    given: &'a Given,
    texts: &'a mut Texts,
    /// The name that the server generated for the object.
    generated_name: Option<&'a str>,
    /// The generation of the object.
    generation: i64,
}

impl<'a> Digester<'a> {
    fn new(given: &'a Given, texts: &'a mut Texts) -> Self {
        Self {
            hasher: Mixer::default(),
            words: Vec::new(),
            given,
            texts,
            generated_name: None,
            generation: 0,
        }
    }

    /// The words of an object.
    pub(super) fn object(object: &'a Value, given: &'a Given, texts: &'a mut Texts) -> Digest {
        let mut digest = Self::new(given, texts);
        let generated = !object.meta_text("generateName").is_empty();
        digest.generated_name = generated.then(|| object.name());
        digest.generation = object.generation();
        match object {
            Value::Array(operations) => digest.json_patch(operations),
            _ => digest.value(DigestPlace::Object, "", object),
        }
        digest.finish()
    }

    /// The operations of a JSON patch (RFC 6902), whose values are where their paths say.
    fn json_patch(&mut self, operations: &'a [Value]) {
        operations.len().hash(&mut self.hasher);
        for operation in operations {
            let (path, value) = (text(operation, "path"), operation.get("value"));
            (text(operation, "op"), path, value.is_some()).hash(&mut self.hasher);
            let (place, member) = match path.strip_prefix("/metadata/") {
                Some(member) => (DigestPlace::Metadata, member),
                None => (DigestPlace::Elsewhere, ""),
            };
            value
                .into_iter()
                .for_each(|value| self.value(place, member, value));
        }
    }

    /// The words of a field of an object, apart from it.
    pub(super) fn field(
        name: Option<&PathElement>,
        value: &'a Value,
        given: &'a Given,
        texts: &'a mut Texts,
    ) -> Digest {
        let mut digest = Self::new(given, texts);
        let name = match name {
            Some(PathElement::Field(name)) => name,
            _ => "",
        };
        // An edit of a generation is one of a copy of it.
        digest.generation = i64::MAX;
        digest.value(DigestPlace::Elsewhere, name, value);
        digest.finish()
    }

    /// The words of a path: the keys of its items can be values that the server chose.
    pub(super) fn path(path: &'a Path, given: &'a Given, texts: &'a mut Texts) -> Digest {
        let mut digest = Self::new(given, texts);
        for element in &path.0 {
            match element {
                PathElement::Field(name) => (0, name).hash(&mut digest.hasher),
                PathElement::Index(index) => (1, index).hash(&mut digest.hasher),
                PathElement::Value(value) => {
                    2.hash(&mut digest.hasher);
                    digest.value(DigestPlace::Elsewhere, "", value);
                }
                PathElement::Key(fields) => {
                    (3, fields.len()).hash(&mut digest.hasher);
                    for (name, value) in fields {
                        name.hash(&mut digest.hasher);
                        digest.value(DigestPlace::Elsewhere, name, value);
                    }
                }
            }
        }
        digest.finish()
    }

    fn finish(mut self) -> Digest {
        self.words.push(StateWord::Plain(self.hasher.finish()));
        self.words.into()
    }

    fn value(&mut self, place: DigestPlace, member: &str, value: &Value) {
        match value {
            Value::Object(members) => {
                members.len().hash(&mut self.hasher);
                // The items of a list are where the list is.
                let inside = if member.is_empty() {
                    place
                } else {
                    place.member(member)
                };
                for (name, value) in members {
                    name.hash(&mut self.hasher);
                    self.value(inside, name, value);
                }
            }
            Value::Array(items) => {
                items.len().hash(&mut self.hasher);
                let inside = place.member(member);
                for item in items {
                    self.value(inside, "", item);
                }
            }
            Value::String(text) => self.text(place, member, text),
            Value::Number(number) => match number.as_i64() {
                Some(generation) if self.is_generation(place, member, generation) => {
                    self.word(StateWord::Generation(generation));
                }
                _ => number.hash(&mut self.hasher),
            },
            other => other.hash(&mut self.hasher),
        }
    }

    /// Returns whether a number is the generation of the object, or one that the object has had.
    fn is_generation(&self, place: DigestPlace, member: &str, number: i64) -> bool {
        match member {
            "generation" => place == DigestPlace::Metadata,
            "observedGeneration" => number <= self.generation,
            _ => false,
        }
    }

    fn text(&mut self, place: DigestPlace, member: &str, text: &str) {
        let set_by_server = place.is_set_by_server(member);
        if set_by_server && member == "resourceVersion" {
            self.word(StateWord::Version(text.parse().unwrap_or_default()));
        } else if is_uid(text) && (set_by_server || !self.given.has(text)) {
            let uid = self.texts.intern(text);
            self.word(StateWord::Uid(uid));
        } else if self.generated_name == Some(text) {
            let name = self.texts.intern(text);
            self.word(StateWord::Name(name));
        } else if is_time(text) && (set_by_server || !self.given.has(text)) {
            "time".hash(&mut self.hasher);
        } else {
            text.hash(&mut self.hasher);
        }
    }

    /// The place of the word is hashed with what is around it.
    fn word(&mut self, word: StateWord) {
        self.words.len().hash(&mut self.hasher);
        self.words.push(word);
    }
}

pub(super) fn is_uid(text: &str) -> bool {
    text.len() == 36
        && [8, 13, 18, 23]
            .iter()
            .all(|at| text.as_bytes()[*at] == b'-')
}

pub(super) fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 20 && bytes[10] == b'T' && bytes[19] == b'Z' && bytes[4] == b'-'
}

//! Objects of all kinds are the same after a way over the wire.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use optimist_apiserver::json::Node;
use optimist_apiserver::schema::kinds::{KindFacts, kinds};
use optimist_apiserver::schema::{Scalar, Struct, Type, decode};
use optimist_apiserver::server::ApiServer;
use optimist_protobuf::Envelope;
use serde_json::{Map, Value, json};

/// Numbers that look random (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    fn choose<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap()].clone()
    }

    fn object(&mut self, root: &Struct, depth: u32) -> Value {
        let likely = if depth < 3 { 2 } else { 5 };
        let fields = root.fields.iter();
        let members: Map<String, Value> = fields
            .filter_map(|field| {
                let there = self.below(likely) == 0;
                there.then(|| (field.name.clone(), self.value(&field.ty, depth + 1)))
            })
            .collect();
        members.into()
    }

    fn value(&mut self, ty: &Type, depth: u32) -> Value {
        let many = if depth > 6 { 1 } else { 3 };
        match ty {
            Type::Scalar(scalar) => self.scalar(*scalar),
            Type::Struct(inner) => self.object(inner, depth),
            Type::Map(inner) => {
                let keys = self.below(many);
                let keys = (0..keys).map(|_| self.text());
                let keys: Vec<String> = keys.collect();
                keys.into_iter()
                    .map(|key| (key, self.value(&inner.value, depth + 1)))
                    .collect()
            }
            Type::List(inner) => {
                let items = self.below(many);
                (0..items)
                    .map(|_| self.value(&inner.item, depth + 1))
                    .collect()
            }
            Type::Any | Type::Definition(_) => self.json(),
        }
    }

    /// A value of any form.
    fn json(&mut self) -> Value {
        json!({"f:a": {}, "b": [1, self.text(), null]})
    }

    fn text(&mut self) -> String {
        self.choose(&[
            "",
            "a",
            "größe",
            "line\nbreak",
            "name-1",
            "\u{1f600}",
            "k:{\"a\":1}",
        ])
        .to_owned()
    }

    fn scalar(&mut self, scalar: Scalar) -> Value {
        match scalar {
            Scalar::String => self.text().into(),
            Scalar::Bool => (self.below(2) == 0).into(),
            Scalar::Int32 => self.choose(&[0, 1, -1, i32::MAX, i32::MIN]).into(),
            Scalar::Int64 => self.choose(&[0, 1, -1, i64::MAX, i64::MIN]).into(),
            Scalar::Number => self.choose(&[1.5, -2.25, 1e300]).into(),
            Scalar::Bytes => {
                let bytes = self.choose(&[&b""[..], b"\0", b"bytes \xff"]);
                BASE64_STANDARD.encode(bytes).into()
            }
            Scalar::Time => {
                let times = [
                    "2026-11-23T09:51:17Z",
                    "1969-12-31T23:59:59Z",
                    "9999-12-31T23:59:59Z",
                ];
                self.choose(&times).into()
            }
            Scalar::MicroTime => {
                let times = ["2026-11-23T09:51:17.000001Z", "1970-01-01T00:00:00.000000Z"];
                self.choose(&times).into()
            }
            Scalar::Quantity => self.choose(&["0", "1", "100m", "1Gi", "-5", "1e3"]).into(),
            Scalar::IntOrString => {
                let choices = [json!(0), json!(80), json!(-1), json!(""), json!("25%")];
                self.choose(&choices)
            }
            Scalar::Raw => self.json(),
            Scalar::Untyped => Value::Null,
        }
    }
}

fn survives(server: &ApiServer, facts: &KindFacts, seed: u64) {
    let root = facts.root().unwrap();
    let object = Chance(seed | 1).object(root, 0);
    let mut before = decode(Node::from(object), root).unwrap().value;
    before["apiVersion"] = facts.api_version.into();
    before["kind"] = facts.kind.into();
    let bytes = server.written_as_protobuf(&before).unwrap();
    let envelope = Envelope::read(&bytes).unwrap();
    let mut read = optimist_protobuf::decode(&envelope, facts.api_version, facts.kind).unwrap();
    read["apiVersion"] = facts.api_version.into();
    read["kind"] = facts.kind.into();
    let mut after = decode(Node::from(read), root).unwrap().value;
    for side in [&mut before, &mut after] {
        // Neither protobuf nor etcd tells an empty list from none.
        root.forget_empty(side.as_object_mut().unwrap());
        // Go drops what objects inside of others say that they are.
        let claims = side.pointer_mut("/spec/volumeClaimTemplates");
        for claim in claims.and_then(Value::as_array_mut).into_iter().flatten() {
            claim["apiVersion"].take();
            claim["kind"].take();
        }
        without_null(side);
    }
    assert_eq!(after, before, "{} {seed}", facts.kind);
    let again = server.written_as_protobuf(&after).unwrap();
    assert!(again == bytes, "{} {seed}", facts.kind);
}

fn without_null(value: &mut Value) {
    match value {
        Value::Object(members) => {
            // Only JSON can ask for a reset of the managers, with an empty list.
            members.retain(|name, member| {
                !(member.is_null() || name == "managedFields" && *member == json!([]))
            });
            members.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}

fn round_trips(of_each_kind: u64) {
    let server = ApiServer::default();
    for facts in kinds() {
        for seed in 0..of_each_kind {
            survives(&server, facts, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
    }
}

#[test]
fn random_objects_of_all_kinds_survive_a_round_trip() {
    round_trips(20);
}

#[test]
#[ignore = "100,000 objects take minutes"]
fn a_hundred_thousand_random_objects_survive_a_round_trip() {
    round_trips(100_000_u64.div_ceil(kinds().len() as u64));
}

#[test]
fn no_bytes_make_the_decoder_panic() {
    let mut chance = Chance(7);
    let server = ApiServer::default();
    for facts in kinds() {
        let object = Chance(chance.below(u64::MAX) | 1).object(facts.root().unwrap(), 0);
        let mut object = object;
        object["apiVersion"] = facts.api_version.into();
        object["kind"] = facts.kind.into();
        let whole = server.written_as_protobuf(&object).unwrap();
        for _ in 0..50 {
            let mut bytes = whole.clone();
            for _ in 0..=chance.below(4) {
                let at = usize::try_from(chance.below(bytes.len() as u64)).unwrap();
                bytes[at] = chance.below(256) as u8;
            }
            bytes.truncate(usize::try_from(chance.below(bytes.len() as u64 + 1)).unwrap());
            if let Ok(envelope) = Envelope::read(&bytes) {
                let _ = optimist_protobuf::decode(&envelope, facts.api_version, facts.kind);
            }
        }
    }
}

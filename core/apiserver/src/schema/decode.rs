//! From JSON to a built-in type and back, as a Go struct would hold and write it
//! (`sigs.k8s.io/json` v0.0.0-2025 with strict mode; `omitempty` and `omitzero` of the API types).

mod absent;
mod definitions;

pub(super) use absent::is_written_absent;
pub use absent::zero;
use absent::{absent, empty, insert_absent};
pub use definitions::decode_part;

use std::collections::BTreeSet;

use serde_json::Value;

use super::Quantity;
use super::embedding::embedded;
use super::empties::{Empties, EmptyPart};
use super::go_types::go_type;
use super::spelled::SpelledNumbers;
use super::{Field, Omit, Scalar, Struct, Type};
use crate::go;
use crate::json::{MAX_STRICT_ERRORS, Node, Raw};
use crate::object::JsonMap;

/// The result of decoding.
#[derive(Debug)]
pub struct Decoded {
    /// The value as the server holds and writes it: unknown fields dropped, empty ones left out.
    pub value: Value,
    /// The errors of strict decoding, in the order of the document: `unknown field "spec.bogus"`,
    /// `duplicate field "data.a"`.
    pub strict_errors: Vec<String>,
    /// The empty lists, maps and bytes that were left out.
    pub empties: Empties,
}

/// Decodes a document as a struct.
///
/// # Errors
/// The text of Go's error if a value cannot be of its field's type.
pub fn decode(node: Node, ty: &Struct) -> Result<Decoded, String> {
    decode_with(Decoder::default(), node, ty)
}

/// Decodes like [`decode`], from a document that spells its numbers in its own way.
///
/// # Errors
/// Works as [`decode`].
pub fn decode_spelled(
    node: Node,
    ty: &Struct,
    document: &dyn Fn() -> Option<Raw>,
) -> Result<Decoded, String> {
    let decoder = Decoder {
        numbers: SpelledNumbers::from_document(document),
        ..Decoder::default()
    };
    decode_with(decoder, node, ty)
}

/// Decodes like [`decode`], but a struct inside of a document: the errors of strict decoding begin
/// with its path.
pub(super) fn decode_at(path: String, node: Node, ty: &Struct) -> Result<Decoded, String> {
    let decoder = Decoder {
        path: vec![DecodeStep::Key(path)],
        ..Decoder::default()
    };
    decode_with(decoder, node, ty)
}

fn decode_with<'a>(
    mut decoder: Decoder<'a>,
    node: Node,
    ty: &'a Struct,
) -> Result<Decoded, String> {
    let value = match node {
        Node::Object(members) => Value::Object(decoder.members(members, ty, JsonMap::new())),
        Node::Null => Value::Object(empty(ty)),
        other => {
            return Err(format!(
                "json: cannot unmarshal {} into Go value of type v1.{}",
                other.go_kind(),
                ty.name
            ));
        }
    };
    match decoder.fatal.or(decoder.error) {
        Some(error) => Err(error),
        None => Ok(Decoded {
            value,
            strict_errors: decoder.strict_errors,
            empties: Empties::new(decoder.empties, decoder.spellings),
        }),
    }
}

/// Returns whether a field is neither a pointer nor a type with a decoder of its own.
fn keeps_before_null(field: &Field) -> bool {
    let plain = match &field.ty {
        Type::Struct(_) => true,
        Type::Scalar(scalar) => matches!(
            scalar,
            Scalar::String | Scalar::Bool | Scalar::Int32 | Scalar::Int64 | Scalar::Raw
        ),
        _ => false,
    };
    plain && !field.pointer
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(b) => !b,
        Value::Number(n) => n.as_f64() == Some(0.0),
        Value::String(s) => s.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(_) => false,
    }
}

#[derive(Default)]
struct Decoder<'a> {
    path: Vec<DecodeStep<'a>>,
    owner: &'a str,
    numbers: SpelledNumbers<'a>,
    strict_errors: Vec<String>,
    empties: Vec<EmptyPart>,
    /// The quantities in lists that are not in their canonical form.
    spellings: Vec<EmptyPart>,
    /// The error of the first value of a wrong type. Go continues after it.
    error: Option<String>,
    /// The first error of a type with its own decoder. Go stops there.
    fatal: Option<String>,
}

enum DecodeStep<'a> {
    /// A field, and the type that has it.
    Field(&'a str, &'a str),
    /// A map key. Errors about unknown and repeated fields show it, errors about types do not.
    Key(String),
    Index(usize),
}

impl<'a> Decoder<'a> {
    /// The members of a struct; where it is given twice, those of the first time stay.
    fn members(
        &mut self,
        members: Vec<(String, Node)>,
        ty: &'a Struct,
        mut earlier: JsonMap,
    ) -> JsonMap {
        let mut found: Vec<(usize, String, Value)> = Vec::with_capacity(members.len());
        for (name, node) in members {
            let Some(position) = ty.position(&name) else {
                self.complain("unknown", &name);
                continue;
            };
            let field = &ty.fields[position];
            let before = found.iter().position(|(known, ..)| *known == position);
            let mut before = before.map(|i| found.swap_remove(i).2);
            if before.is_some() {
                self.complain("duplicate", &field.name);
            } else {
                before = earlier.remove(&field.name);
            }
            let outer = std::mem::replace(&mut self.owner, &ty.name);
            self.path.push(DecodeStep::Field(&field.name, &ty.name));
            let value = match before {
                // A later `null` leaves what Go does not hold by a pointer as it is (`literalStore`).
                Some(before) if matches!(node, Node::Null) && keeps_before_null(field) => before,
                before => self.value(node, &field.ty, before),
            };
            found.push((position, name, value));
            self.owner = outer;
            self.path.pop();
        }
        let mut map = JsonMap::new();
        for (name, value) in earlier {
            if let Some(position) = ty.position(&name) {
                found.push((position, name, value));
            }
        }
        for position in ty.written_absent() {
            if !found.iter().any(|(known, ..)| known == position) {
                insert_absent(&ty.fields[*position], &mut map);
            }
        }
        for (position, name, value) in found {
            if let Some(value) = self.written(value, &ty.fields[position]) {
                map.insert(name, value);
            }
        }
        map
    }

    /// The written form of a field's value; `None` if the field is left out.
    fn written(&mut self, value: Value, field: &'a Field) -> Option<Value> {
        match value {
            Value::Null => absent(&field.ty, field.pointer, field.omit),
            Value::Object(inner)
                if inner.is_empty()
                    && field.omit != Omit::Never
                    && matches!(field.ty, Type::Map(_)) =>
            {
                self.leave_out(&field.name, Value::Object(inner));
                None
            }
            // The field manager tells a reset by an empty list, and then writes its own.
            value if field.name == "managedFields" && self.path.len() == 1 => Some(value),
            value
                if field.omit != Omit::Never
                    && (!field.pointer || value.is_array() && !matches!(field.ty, Type::Any))
                    && is_empty(&value) =>
            {
                if value.is_array() || matches!(field.ty, Type::Scalar(Scalar::Bytes)) {
                    self.leave_out(&field.name, value);
                }
                None
            }
            value => Some(value),
        }
    }

    /// Records an empty list or map, or empty bytes, that are not written.
    fn leave_out(&mut self, field: &str, empty: Value) {
        let mut path = self.path();
        path.push(field.to_owned());
        self.empties.push((path, empty));
    }

    fn path(&self) -> Vec<String> {
        let path = self.path.iter().map(|step| match step {
            DecodeStep::Field(name, _) => (*name).to_owned(),
            DecodeStep::Key(name) => name.clone(),
            DecodeStep::Index(i) => i.to_string(),
        });
        path.collect()
    }

    /// Records a quantity that is not in its canonical form. Go holds the same for a whole binary number with
    /// another suffix, where the values of a map are rounded (`SetDefaults_ResourceList`).
    fn spell(&mut self, given: String, canonical: &str) {
        let is_rounded = matches!(self.path.last(), Some(DecodeStep::Key(_)));
        let is_whole = given.ends_with('i') && !given.contains('.');
        if given != canonical
            && !(is_rounded && is_whole)
            && self
                .path
                .iter()
                .any(|step| matches!(step, DecodeStep::Index(_)))
        {
            self.spellings.push((self.path(), given.into()));
        }
    }

    /// Decodes a value of a type; `before` is the value that an earlier member of the same name
    /// left there.
    fn value(&mut self, node: Node, ty: &'a Type, before: Option<Value>) -> Value {
        match (ty, node) {
            (Type::Any, node) => Value::from(node),
            (Type::Definition(part), node) => self.definition(node, *part),
            (_, Node::Null) => Value::Null,
            (Type::Struct(inner), Node::Object(members)) => {
                let before = match before {
                    Some(Value::Object(before)) => before,
                    _ => JsonMap::new(),
                };
                Value::Object(self.members(members, inner, before))
            }
            (Type::Map(inner), Node::Object(members)) => {
                let (mut map, mut seen) = match before {
                    Some(Value::Object(map)) => (map, Some(BTreeSet::new())),
                    _ => (JsonMap::new(), None),
                };
                for (key, node) in members {
                    let is_new = match &mut seen {
                        Some(seen) => seen.insert(key.clone()),
                        None => !map.contains_key(&key),
                    };
                    if !is_new {
                        self.complain("duplicate", &key);
                    }
                    self.path.push(DecodeStep::Key(key));
                    let value = self.item(node, &inner.value);
                    if let Some(DecodeStep::Key(key)) = self.path.pop() {
                        map.insert(key, value);
                    }
                }
                Value::Object(map)
            }
            (Type::List(inner), Node::Array(items)) => {
                let mut list = Vec::with_capacity(items.len());
                for (i, node) in items.into_iter().enumerate() {
                    self.path.push(DecodeStep::Index(i));
                    list.push(self.item(node, &inner.item));
                    self.path.pop();
                }
                Value::Array(list)
            }
            (Type::Scalar(scalar), node) => self.scalar(node, *scalar, ty),
            (_, node) => self.mistyped(&node, ty),
        }
    }

    /// A list item or map value: `null` becomes the zero value, since Go has no absent ones.
    fn item(&mut self, node: Node, ty: &'a Type) -> Value {
        match self.value(node, ty, None) {
            Value::Null => absent(ty, false, Omit::Never).unwrap_or(Value::Null),
            value => value,
        }
    }

    fn scalar(&mut self, node: Node, scalar: Scalar, ty: &Type) -> Value {
        match (scalar, &node) {
            (Scalar::String, Node::String(_)) | (Scalar::Bool, Node::Bool(_)) => node.into(),
            (Scalar::Int64, Node::Number(n)) if n.is_i64() => node.into(),
            (Scalar::Int32, Node::Number(n))
                if n.as_i64().is_some_and(|i| i32::try_from(i).is_ok()) =>
            {
                node.into()
            }
            (Scalar::Int32 | Scalar::Int64 | Scalar::IntOrString, Node::Number(n))
                if self.is_minus_zero(n) =>
            {
                0.into()
            }
            (Scalar::Number, Node::Number(_)) => node.into(),
            (Scalar::Untyped | Scalar::Raw, _) => node.into(),
            (Scalar::IntOrString, Node::String(_)) => node.into(),
            (Scalar::IntOrString, Node::Number(n))
                if n.as_i64().is_some_and(|i| i32::try_from(i).is_ok()) =>
            {
                node.into()
            }
            (Scalar::Quantity, node) => self.quantity(node),
            (Scalar::Bytes, Node::String(text)) => match go::base64::canonical(text) {
                Ok(text) => text.into(),
                Err(error) => self.fail(error),
            },
            (Scalar::Bytes, Node::Array(items)) => self.bytes(items),
            (Scalar::Time | Scalar::MicroTime, Node::String(text)) => {
                match go::time::canonical(text, scalar.time_layout()) {
                    Ok(time) => time.map_or(Value::Null, Value::from),
                    Err(error) => self.end(error),
                }
            }
            _ => self.mistyped(&node, ty),
        }
    }

    /// `-0`, which is an integer to Go (`strconv.ParseInt`), but `-0.0` is not.
    fn is_minus_zero(&self, n: &serde_json::Number) -> bool {
        n.is_f64() && n.as_f64() == Some(0.0) && self.numbers.text(n, || self.path()) == "-0"
    }

    /// Go reads a list of numbers as bytes, too.
    fn bytes(&mut self, items: &[Node]) -> Value {
        let mut bytes = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Node::Number(n) => match n.as_u64().and_then(|n| u8::try_from(n).ok()) {
                    Some(n) => bytes.push(n),
                    None => return self.unfit(&format!("number {n}"), "uint8"),
                },
                Node::HugeNumber(n) => return self.unfit(&format!("number {n}"), "uint8"),
                Node::Null => bytes.push(0),
                other => return self.unfit(other.go_kind(), "uint8"),
            }
        }
        go::base64::encode(&bytes).into()
    }

    /// Numbers are quantities, too; the unmarshaler's own error names no field.
    fn quantity(&mut self, node: &Node) -> Value {
        let text = match node {
            Node::Number(n) => self.numbers.text(n, || self.path()),
            Node::HugeNumber(text) | Node::String(text) => text.clone(),
            other => other.go_kind().to_owned(),
        };
        match Quantity::canonical(&text) {
            Ok(canonical) => {
                self.spell(text, &canonical);
                canonical.into()
            }
            Err(error) => self.end(error.to_owned()),
        }
    }

    fn mistyped(&mut self, node: &Node, ty: &Type) -> Value {
        let what = match node {
            Node::Number(n) if !matches!(ty, Type::Scalar(Scalar::String)) => {
                format!("number {}", self.numbers.text(n, || self.path()))
            }
            Node::HugeNumber(text) => format!("number {text}"),
            other => other.go_kind().to_owned(),
        };
        let what = match ty {
            Type::Scalar(Scalar::Int32 | Scalar::Int64 | Scalar::Number | Scalar::IntOrString) => {
                what
            }
            _ => node.go_kind().to_owned(),
        };
        let name = self.go_type(ty);
        let unmarshaled = matches!(
            ty,
            Type::Scalar(Scalar::Time | Scalar::MicroTime | Scalar::IntOrString)
        );
        let earlier = unmarshaled.then(|| self.error.take()).flatten();
        self.unfit(&what, &name);
        if unmarshaled && self.fatal.is_none() {
            self.fatal = self.error.clone();
        }
        self.error = earlier.or(self.error.take());
        Value::Null
    }

    /// The Go type of the value that is decoded.
    fn go_type(&self, ty: &Type) -> String {
        let mut steps = self.path.iter().rev();
        let field = steps.find_map(|step| match step {
            DecodeStep::Field(field, owner) => Some((*owner, *field)),
            DecodeStep::Key(_) | DecodeStep::Index(_) => None,
        });
        let named = |(owner, field)| crate::patch::named_type(owner, field);
        match (ty, field.and_then(named)) {
            (Type::Scalar(Scalar::String), Some(name)) => name.to_owned(),
            (Type::List(list), Some(name)) if matches!(list.item, Type::Scalar(Scalar::String)) => {
                format!("[]{name}")
            }
            // A list or map of texts is one of named texts.
            (Type::List(_), Some(name)) => name.to_owned(),
            (Type::Map(map), Some(name)) if !matches!(map.value, Type::Scalar(Scalar::String)) => {
                name.to_owned()
            }
            (Type::Map(_), Some(name @ "v1.ClaimResourceStatus")) => {
                format!("map[v1.ResourceName]{name}")
            }
            _ => go_type(ty),
        }
    }

    /// A value that cannot be of a type.
    fn unfit(&mut self, what: &str, name: &str) -> Value {
        let steps = self.path.iter().filter_map(|step| match step {
            DecodeStep::Field(name, owner) => Some([embedded(owner, name), Some(*name)]),
            DecodeStep::Key(_) | DecodeStep::Index(_) => None,
        });
        let path: Vec<&str> = steps.flatten().flatten().collect();
        let (owner, path) = (self.owner, path.join("."));
        if path.is_empty() {
            return self.fail(format!(
                "json: cannot unmarshal {what} into Go value of type {name}"
            ));
        }
        self.fail(format!(
            "json: cannot unmarshal {what} into Go struct field {owner}.{path} of type {name}"
        ))
    }

    /// Go stops at the first error of a type with its own decoder.
    fn end(&mut self, message: String) -> Value {
        self.fatal.get_or_insert(message);
        Value::Null
    }

    /// Go continues after the first error, and reports the first error.
    fn fail(&mut self, message: String) -> Value {
        self.error.get_or_insert(message);
        Value::Null
    }

    fn complain(&mut self, what: &str, name: &str) {
        let mut path = String::new();
        for step in self.path.iter().chain([&DecodeStep::Field(name, "")]) {
            let name = match step {
                DecodeStep::Field(name, _) => name,
                DecodeStep::Key(name) => name.as_str(),
                DecodeStep::Index(i) => {
                    path.push_str(&format!("[{i}]"));
                    continue;
                }
            };
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
        }
        let strict_error = format!("{what} field {}", go::quote(&path));
        if self.strict_errors.len() < MAX_STRICT_ERRORS
            && !self.strict_errors.contains(&strict_error)
        {
            self.strict_errors.push(strict_error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use crate::schema::builtin;
    use serde_json::json;

    fn read(kind: &str, text: &str) -> Result<Decoded, String> {
        decode(
            json::parse(text.as_bytes()).unwrap(),
            builtin(kind).unwrap(),
        )
    }

    #[test]
    fn what_is_written_is_what_go_would_write() {
        let decoded = read(
            "Deployment",
            r#"{"spec": {"replicas": 0, "paused": false, "minReadySeconds": 0, "template": null}}"#,
        )
        .unwrap();
        assert_eq!(
            decoded.value,
            json!({
                "metadata": {},
                "spec": {
                    "replicas": 0, "selector": null, "strategy": {},
                    "template": {"metadata": {}, "spec": {"containers": null}},
                },
                "status": {},
            })
        );
    }

    #[test]
    fn unknown_and_repeated_fields_are_named_in_the_order_of_the_document() {
        let decoded = read(
            "ConfigMap",
            r#"{"bogus": 1, "data": {"a": "1"}, "data": {"b": "1", "b": null}}"#,
        )
        .unwrap();
        assert_eq!(
            decoded.strict_errors,
            [
                r#"unknown field "bogus""#,
                r#"duplicate field "data""#,
                r#"duplicate field "data.b""#
            ]
        );
        assert_eq!(decoded.value["data"], json!({"a": "1", "b": ""}));
    }

    #[test]
    fn the_first_value_of_a_wrong_type_is_named_with_its_struct_and_path() {
        assert_eq!(
            read("Deployment", r#"{"spec": {"replicas": "x", "paused": 3}}"#).unwrap_err(),
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"
        );
        assert_eq!(
            read("ConfigMap", r#"{"data": {"a": 1}}"#).unwrap_err(),
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"
        );
    }
}

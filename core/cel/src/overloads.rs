//! The functions that rules may use: the standard ones and the libraries of Kubernetes v1.36
//! (`k8s.io/apiserver/pkg/cel/environment/base.go`; `cel-go/common/stdlib/standard.go`).

use std::collections::HashMap;
use std::sync::OnceLock;

use super::types::{CelType, NAMED};

/// One line for each function and its types. A dot in front means that the first argument is the
/// target. Names with the same types share a line, and `@comparable` stands for each type of
/// [`COMPARABLE`].
const TABLE: &str = include_str!("functions.txt");

/// The types that have an order.
const COMPARABLE: [&str; 8] = [
    "int",
    "uint",
    "double",
    "bool",
    "duration",
    "timestamp",
    "string",
    "bytes",
];

/// One way to call a function.
#[derive(Debug)]
pub(super) struct Overload {
    pub(super) member: bool,
    /// The types of the arguments, that of the target first.
    pub(super) params: Vec<CelType>,
    pub(super) result: CelType,
    /// The number of types that it leaves open.
    pub(super) open: usize,
}

/// All ways to call a function; `None` if there is no such function.
pub(super) fn find(function: &str) -> Option<&'static [Overload]> {
    static ALL: OnceLock<HashMap<&'static str, Vec<Overload>>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let mut all: HashMap<&'static str, Vec<Overload>> = HashMap::new();
        for line in TABLE.lines() {
            read(line, &mut all);
        }
        all
    });
    all.get(function).map(Vec::as_slice)
}

fn read(line: &'static str, all: &mut HashMap<&'static str, Vec<Overload>>) {
    // Operators have no parenthesis in their names.
    let Some((names, types)) = line.split_once('(') else {
        return;
    };
    let generic = types.contains("@comparable");
    let variants: &[&str] = if generic { &COMPARABLE } else { &[""] };
    for variant in variants {
        let types = types.replace("@comparable", variant);
        for name in names_of(names) {
            let function = name.strip_prefix('.').unwrap_or(name);
            let overload = overload(&types, function != name);
            all.entry(function).or_default().extend(overload);
        }
    }
}

/// The names of a line. One has the mark in it that stands between names.
fn names_of(names: &'static str) -> impl Iterator<Item = &'static str> {
    let logical = (names == "_||_").then_some(names);
    let others = if logical.is_none() { names } else { "" };
    let others = others.split('|').filter(|name| !name.is_empty());
    logical.into_iter().chain(others)
}

/// Reads the types of a function, from behind the parenthesis that opens them.
fn overload(types: &str, member: bool) -> Option<Overload> {
    let mut reader = OverloadReader {
        rest: types,
        open: 0,
    };
    let mut params = Vec::new();
    while !reader.accept(")") {
        params.push(reader.ty()?);
        reader.accept(", ");
    }
    reader.accept(" ");
    let result = reader.ty()?;
    let open = reader.open;
    Some(Overload {
        member,
        params,
        result,
        open,
    })
}

struct OverloadReader<'a> {
    rest: &'a str,
    open: usize,
}

impl OverloadReader<'_> {
    fn accept(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn ty(&mut self) -> Option<CelType> {
        let end = self.rest.find([',', '(', ')']).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        let param = match name {
            "A" => Some(0),
            "B" => Some(1),
            _ => None,
        };
        if let Some(number) = param {
            self.open = self.open.max(number + 1);
            return Some(CelType::Param(number));
        }
        if !self.accept("(") {
            return simple(name);
        }
        let inner = Box::new(self.ty()?);
        let ty = match name {
            "list" => CelType::List(inner),
            "optional" => CelType::Optional(inner),
            "type" => CelType::Type(inner),
            "map" => {
                self.accept(", ");
                CelType::Map(inner, Box::new(self.ty()?))
            }
            _ => return None,
        };
        self.accept(")").then_some(ty)
    }
}

fn simple(name: &str) -> Option<CelType> {
    Some(match name {
        "dyn" => CelType::Dyn,
        "bool" => CelType::Bool,
        "int" => CelType::Int,
        "uint" => CelType::Uint,
        "double" => CelType::Double,
        "string" => CelType::String,
        "bytes" => CelType::Bytes,
        "duration" => CelType::Duration,
        "timestamp" => CelType::Timestamp,
        name => CelType::Named(NAMED.into_iter().find(|known| *known == name)?),
    })
}

/// The type that a name of a type stands for.
pub(super) fn named_type(name: &str) -> Option<CelType> {
    let any = || Box::new(CelType::Dyn);
    match name {
        "list" => Some(CelType::List(any())),
        "map" => Some(CelType::Map(any(), any())),
        "null_type" => Some(CelType::Null),
        "type" => Some(CelType::Type(any())),
        "optional_type" => Some(CelType::Optional(any())),
        "google.protobuf.Duration" => Some(CelType::Duration),
        "google.protobuf.Timestamp" => Some(CelType::Timestamp),
        "duration" | "timestamp" | "dyn" => None,
        name => simple(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        for line in TABLE.lines() {
            let mut all = HashMap::new();
            read(line, &mut all);
            let (names, types) = line.split_once('(').unwrap();
            let variants = if types.contains("@comparable") { 8 } else { 1 };
            assert_eq!(all.len(), names_of(names).count(), "{line}");
            assert!(all.values().all(|it| it.len() == variants), "{line}");
        }
    }
}

//! Reads the table of built-in types.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::{
    DefinitionPart, Field, ListKind, ListType, MapType, Omit, PatchStrategy, Scalar, Struct, Type,
};

static TYPES: LazyLock<Types> = LazyLock::new(|| parse(include_str!("builtin.schema"), None));

/// Types by name; those of a package by its name too, as in `batch/v1/Job`.
pub(super) type Types = BTreeMap<String, Arc<Struct>>;

/// A built-in type by its name, such as `Deployment` or `PodSpec`.
pub fn builtin(name: &str) -> Option<&'static Arc<Struct>> {
    TYPES.get(name)
}

/// Reads a table that builds upon the types of `builtin.schema`.
pub(super) fn parse_more(table: &str) -> Types {
    parse(table, Some(&TYPES))
}

/// Types are declared before they are used, so one pass is enough.
fn parse(table: &str, first: Option<&Types>) -> Types {
    let mut known = KnownTypes {
        first,
        package: "",
        types: Types::new(),
    };
    let mut head = None;
    let mut fields = Vec::new();
    let lines = table.lines().filter(|line| !line.starts_with(['#', '!']));
    for line in lines.chain([""]) {
        if let Some(declaration) = line.strip_prefix('\t') {
            fields.push(field(declaration, &known));
            continue;
        }
        if let Some((name, atomic)) = head.take() {
            let declared = Struct::new(name, std::mem::take(&mut fields), atomic);
            known
                .types
                .insert(known.full_name(name), Arc::new(declared));
        }
        if let Some(package) = line.strip_prefix('@') {
            known.package = package;
            continue;
        }
        let mut words = line.split(' ');
        head = words
            .next()
            .map(|name| (name, words.next() == Some("atomic")));
    }
    known.types
}

/// The types that a declaration may name.
struct KnownTypes<'a> {
    /// Those of another table.
    first: Option<&'a Types>,
    /// The package that is being read; empty in a table without packages.
    package: &'a str,
    types: Types,
}

impl KnownTypes<'_> {
    fn full_name(&self, name: &str) -> String {
        match self.package {
            "" => name.to_owned(),
            package => format!("{package}/{name}"),
        }
    }

    fn get(&self, name: &str) -> Option<&Arc<Struct>> {
        let first = |name: &str| self.first.and_then(|types| types.get(name));
        match name.strip_prefix('/') {
            Some(name) => first(name),
            None if name.contains('/') => self.types.get(name),
            None => self
                .types
                .get(&self.full_name(name))
                .or_else(|| first(name)),
        }
    }
}

fn field(declaration: &str, known: &KnownTypes<'_>) -> Field {
    let (declaration, default) = match declaration.split_once(" = ") {
        Some((declaration, json)) => (declaration, serde_json::from_str::<Value>(json).ok()),
        None => (declaration, None),
    };
    let mut words = declaration.split(' ');
    let name = words.next().unwrap_or_default().to_owned();
    let shape = words.next().unwrap_or_default();
    let (shape, omit) = match (shape.strip_suffix("??"), shape.strip_suffix('?')) {
        (Some(shape), _) => (shape, Omit::Zero),
        (None, Some(shape)) => (shape, Omit::Empty),
        (None, None) => (shape, Omit::Never),
    };
    let (shape, pointer) = match shape.strip_prefix('*') {
        Some(shape) => (shape, true),
        None => (shape, false),
    };
    let Merging {
        atomic,
        kind,
        patch,
    } = Merging::read(words);
    let ty = if let Some(item) = shape.strip_prefix("[]") {
        let item = named(item, known);
        Type::List(Arc::new(ListType { item, kind }))
    } else if let Some(value) = shape.strip_prefix("{}") {
        let value = named(value, known);
        let atomic = atomic == Some(true);
        Type::Map(Arc::new(MapType { value, atomic }))
    } else {
        match (named(shape, known), atomic) {
            // A field may say of its type that it is merged in another way than elsewhere.
            (Type::Struct(declared), Some(atomic)) if declared.atomic != atomic => {
                let fields = declared.fields.clone();
                Type::Struct(Arc::new(Struct::new(&*declared.name, fields, atomic)))
            }
            (ty, _) => ty,
        }
    };
    Field {
        name,
        ty,
        pointer,
        omit,
        patch,
        default,
    }
}

/// The merge rules of a field.
#[derive(Default)]
struct Merging {
    /// Says whether a map or struct is replaced as a whole, if the field says so.
    atomic: Option<bool>,
    kind: ListKind,
    patch: PatchStrategy,
}

impl Merging {
    fn read<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut merging = Self::default();
        for word in words {
            if let Some(strategy) = word.strip_prefix("patch=") {
                let (strategies, key) = match strategy.split_once(':') {
                    Some((strategies, key)) => (strategies, Some(key.to_owned())),
                    None => (strategy, None),
                };
                merging.patch.merge = strategies.split(',').any(|s| s == "merge");
                merging.patch.replace = strategies.split(',').any(|s| s == "replace");
                merging.patch.retain_keys = strategies.split(',').any(|s| s == "retainKeys");
                merging.patch.merge_key = key;
            } else if let Some(keys) = word.strip_prefix("map(").and_then(|w| w.strip_suffix(')')) {
                merging.kind = ListKind::Map(keys.split(',').map(str::to_owned).collect());
            } else if word == "set" {
                merging.kind = ListKind::Set;
            } else {
                merging.atomic = Some(word == "atomic");
            }
        }
        merging
    }
}

fn named(name: &str, known: &KnownTypes<'_>) -> Type {
    if let Some(item) = name.strip_prefix("[]") {
        return Type::List(Arc::new(ListType {
            item: named(item, known),
            kind: ListKind::Atomic,
        }));
    }
    let part = match name {
        "schema" => Some(DefinitionPart::Schema),
        "schemaorlist" => Some(DefinitionPart::SchemaOrList),
        "schemaortexts" => Some(DefinitionPart::SchemaOrTexts),
        "schemaorflag" => Some(DefinitionPart::SchemaOrFlag),
        _ => None,
    };
    if let Some(part) = part {
        return Type::Definition(part);
    }
    let scalar = match name {
        "string" => Scalar::String,
        "bool" => Scalar::Bool,
        "int32" => Scalar::Int32,
        "int64" => Scalar::Int64,
        "number" => Scalar::Number,
        "bytes" => Scalar::Bytes,
        "time" => Scalar::Time,
        "microtime" => Scalar::MicroTime,
        "quantity" => Scalar::Quantity,
        "intorstring" => Scalar::IntOrString,
        "raw" => Scalar::Raw,
        _ => {
            return known
                .get(name)
                .map_or(Type::Any, |declared| Type::Struct(Arc::clone(declared)));
        }
    };
    Type::Scalar(scalar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_the_table_is_declared_before_it_is_used() {
        let (first, more) = (include_str!("builtin.schema"), include_str!("kinds.schema"));
        let mut known = KnownTypes {
            first: Some(&TYPES),
            package: "",
            types: parse_more(more),
        };
        for line in first.lines().chain(more.lines()) {
            if let Some(package) = line.strip_prefix('@') {
                known.package = package;
            }
            let Some(declaration) = line.strip_prefix('\t') else {
                continue;
            };
            let shape = declaration.split(' ').nth(1).unwrap();
            let name = shape.trim_matches(|c| "*?[]{}".contains(c));
            let found = name == "any" || !matches!(named(name, &known), Type::Any);
            assert!(found, "{line}");
        }
    }

    #[test]
    fn container_ports_merge_by_port_and_protocol_and_patch_by_port() {
        let ports = builtin("Container").unwrap().field("ports").unwrap();
        let Type::List(list) = &ports.ty else {
            panic!("ports is a list")
        };
        let keys = ["containerPort", "protocol"].map(str::to_owned).to_vec();
        assert_eq!(list.kind, ListKind::Map(keys));
        assert_eq!(ports.patch.merge_key.as_deref(), Some("containerPort"));
        let Type::Struct(port) = &list.item else {
            panic!("a port is a struct")
        };
        assert_eq!(
            port.field("protocol").unwrap().key_default(),
            Some("TCP".into())
        );
        assert_eq!(
            port.field("containerPort").unwrap().key_default(),
            Some(0.into())
        );
        assert_eq!(port.field("hostPort").unwrap().key_default(), None);
    }
}

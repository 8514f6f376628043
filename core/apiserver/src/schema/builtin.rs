//! Reads the table of built-in types.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::{Field, ListKind, ListType, MapType, Omit, PatchStrategy, Scalar, Struct, Type};

static TYPES: LazyLock<HashMap<&'static str, Arc<Struct>>> =
    LazyLock::new(|| parse(include_str!("builtin.schema")));

/// A built-in type by its name, such as `Deployment` or `PodSpec`.
pub fn builtin(name: &str) -> Option<&'static Arc<Struct>> {
    TYPES.get(name)
}

/// Types are declared before they are used, so one pass is enough.
fn parse(table: &'static str) -> HashMap<&'static str, Arc<Struct>> {
    let mut types = HashMap::new();
    let mut head = None;
    let mut fields = Vec::new();
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    for line in lines.chain([""]) {
        if let Some(declaration) = line.strip_prefix('\t') {
            fields.push(field(declaration, &types));
            continue;
        }
        if let Some((name, atomic)) = head.take() {
            let declared = Struct::new(name, std::mem::take(&mut fields), atomic);
            types.insert(name, Arc::new(declared));
        }
        let mut words = line.split(' ');
        head = words
            .next()
            .map(|name| (name, words.next() == Some("atomic")));
    }
    types
}

fn field(declaration: &str, types: &HashMap<&'static str, Arc<Struct>>) -> Field {
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
    let mut atomic = false;
    let mut kind = ListKind::Atomic;
    let mut patch = PatchStrategy::default();
    for word in words {
        if let Some(strategy) = word.strip_prefix("patch=") {
            let (strategies, key) = match strategy.split_once(':') {
                Some((strategies, key)) => (strategies, Some(key.to_owned())),
                None => (strategy, None),
            };
            patch.merge = strategies.split(',').any(|s| s == "merge");
            patch.retain_keys = strategies.split(',').any(|s| s == "retainKeys");
            patch.merge_key = key;
        } else if let Some(keys) = word.strip_prefix("map(").and_then(|w| w.strip_suffix(')')) {
            kind = ListKind::Map(keys.split(',').map(str::to_owned).collect());
        } else if word == "set" {
            kind = ListKind::Set;
        } else {
            atomic = word == "atomic";
        }
    }
    let ty = if let Some(item) = shape.strip_prefix("[]") {
        let item = named(item, types);
        Type::List(Arc::new(ListType { item, kind }))
    } else if let Some(value) = shape.strip_prefix("{}") {
        let value = named(value, types);
        Type::Map(Arc::new(MapType { value, atomic }))
    } else {
        named(shape, types)
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

fn named(name: &str, types: &HashMap<&'static str, Arc<Struct>>) -> Type {
    let scalar = match name {
        "string" => Scalar::String,
        "bool" => Scalar::Bool,
        "int32" => Scalar::Int32,
        "int64" => Scalar::Int64,
        "bytes" => Scalar::Bytes,
        "time" => Scalar::Time,
        "microtime" => Scalar::MicroTime,
        "quantity" => Scalar::Quantity,
        "intorstring" => Scalar::IntOrString,
        _ => {
            return types
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
        for line in include_str!("builtin.schema").lines() {
            let Some(declaration) = line.strip_prefix('\t') else {
                continue;
            };
            let shape = declaration.split(' ').nth(1).unwrap();
            let name = shape.trim_matches(|c| "*?[]{}".contains(c));
            let known = name == "any" || !matches!(named(name, &TYPES), Type::Any);
            assert!(known, "{line}");
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

//! Counts the cost of calls when they run (`cel-go/interpreter/runtimecost.go`, v0.26;
//! `k8s.io/apiserver/pkg/cel/library/cost.go CallCost`, v1.36).

use super::value::Val;

/// To make a list.
pub(super) const LIST: u64 = 10;
/// To make a map.
pub(super) const MAP: u64 = 30;
/// A message that is made (`StructCreateBaseCost`).
pub(super) const MESSAGE: u64 = 40;
/// To look at one character.
const CHARACTER: f64 = 0.1;
/// To match with one character of a regular expression.
const REGEX_CHARACTER: f64 = 0.25;

fn size(args: &[Val], i: usize) -> u64 {
    args.get(i).map_or(0, Val::size)
}

fn scaled(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

/// To match a text with a regular expression.
fn regex(text: u64, pattern: u64) -> u64 {
    scaled(text.saturating_add(1), CHARACTER).saturating_mul(scaled(pattern, REGEX_CHARACTER))
}

/// Returns the cost of a call.
pub(super) fn call(function: &str, args: &[Val], result: &Val) -> u64 {
    let first = size(args, 0);
    match function {
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
            args.first().map_or(0, traversal)
        }
        "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "isCIDR" | "cidr" | "isIP"
        | "quantity" | "isQuantity" | "semver" | "isSemver" | "strings.quote" | "format" => {
            scaled(first, CHARACTER)
        }
        "startsWith" | "endsWith" => scaled(size(args, 1), CHARACTER),
        "ip" if matches!(args, [Val::Text(_)]) => scaled(first, CHARACTER),
        "string" | "bytes" if matches!(args, [Val::Text(_) | Val::Bytes(_)]) => {
            match (args.first(), result) {
                (Some(Val::Text(_)), Val::Text(_)) | (Some(Val::Bytes(_)), Val::Bytes(_)) => 1,
                _ => scaled(first, CHARACTER),
            }
        }
        "replace" | "split" | "ip.isCanonical" => scaled(first, 2.0 * CHARACTER),
        "join" => scaled(result.size(), 2.0 * CHARACTER),
        "find" | "findAll" | "matches" => regex(first, size(args, 1)),
        "contains" => scaled(first, CHARACTER).saturating_mul(scaled(size(args, 1), CHARACTER)),
        "containsIP" => scaled(2 * first, CHARACTER) + parsed(args),
        "containsCIDR" => {
            scaled(2 * first, CHARACTER) + scaled(first, CHARACTER) + 1 + parsed(args)
        }
        "validate" => match args.first() {
            Some(Val::Format(name)) => regex(size(args, 1), super::functions::formats::cost(name)),
            _ => 1,
        },
        "_==_" if matches!(args, [Val::Quantity(_) | Val::Ip(_) | Val::Cidr(..), _]) => 1,
        "_==_" if matches!(args, [Val::Format(_) | Val::Url(_) | Val::Semver(_), _]) => 1,
        "_==_" | "_!=_" => scaled(first.min(size(args, 1)), CHARACTER),
        "_<_" | "_<=_" | "_>_" | "_>=_" if matches!(args, [Val::Text(_) | Val::Bytes(_), _]) => {
            scaled(first.min(size(args, 1)), CHARACTER)
        }
        "_+_" if matches!(args, [Val::Text(_) | Val::Bytes(_), _]) => {
            scaled(first + size(args, 1), CHARACTER)
        }
        // A field that is not there costs nothing.
        "_?._" if matches!(result, Val::Optional(None)) => 0,
        "@in" if matches!(args, [_, Val::List(_)]) => size(args, 1),
        _ => of_lists(function, args, result),
    }
}

/// Returns whether a function only changes the type of a value (`overloads.IsTypeConversionFunction`).
pub(super) fn is_conversion(function: &str) -> bool {
    matches!(
        function,
        "bool"
            | "bytes"
            | "double"
            | "dyn"
            | "duration"
            | "int"
            | "string"
            | "timestamp"
            | "type"
            | "uint"
    )
}

/// Returns the cost of a call from cel-go's libraries for lists and sets (`ext/lists.go`,
/// `ext/sets.go`).
fn of_lists(function: &str, args: &[Val], result: &Val) -> u64 {
    let made = |cost: u64| cost.saturating_add(1 + LIST);
    let squared = |i: usize| {
        let first = match args.get(i) {
            Some(Val::List(list)) => list.items.first(),
            _ => None,
        };
        let text = matches!(first, Some(Val::Text(_) | Val::Bytes(_)));
        let factor = if text { 2.0 + CHARACTER } else { 2.0 };
        let size = size(args, i);
        made((size.saturating_mul(size) as f64 * factor) as u64)
    };
    match function {
        "slice" | "lists.range" | "reverse" => made(result.size()),
        "flatten" => {
            let depth = match args.get(1) {
                Some(Val::Int(depth)) => u64::try_from(*depth).unwrap_or(0),
                _ => 1,
            };
            made(size(args, 0).saturating_mul(depth))
        }
        "distinct" | "sort" => squared(0),
        "@sortByAssociatedKeys" => squared(1),
        "sets.contains" | "sets.intersects" => size(args, 0)
            .saturating_mul(size(args, 1))
            .saturating_add(1),
        "sets.equivalent" => {
            let pairs = size(args, 0).saturating_mul(size(args, 1));
            pairs.saturating_mul(2).saturating_add(1)
        }
        _ => 1,
    }
}

/// Returns the cost of reading an argument that is a text.
fn parsed(args: &[Val]) -> u64 {
    match args.get(1) {
        Some(text @ Val::Text(_)) => scaled(text.size(), CHARACTER),
        _ => 0,
    }
}

/// Returns the cost of looking at everything in a value (`traversalCost`).
fn traversal(value: &Val) -> u64 {
    let bytes = |length: usize| (length as f64 * CHARACTER) as u64;
    match value {
        Val::Text(text) => bytes(text.len()),
        Val::Bytes(content) => bytes(content.len()),
        Val::List(list) => list.items.iter().map(traversal).sum(),
        Val::Map(map) => {
            let members = map.iter();
            members
                .map(|(key, value)| traversal(&key.value()) + traversal(value))
                .sum()
        }
        _ => 1,
    }
}

/// Returns how much data a call looks at, which its cost may not show.
pub(super) fn work(function: &str, args: &[Val]) -> u64 {
    let all = |args: &[Val]| args.iter().map(Val::work).sum();
    match (function, args) {
        ("_[_]" | "_[?_]" | "type" | "dyn" | "value" | "hasValue", _) => 1,
        ("size", [Val::List(_) | Val::Map(_)]) => 1,
        ("matches" | "find" | "findAll", [text, pattern, ..]) => {
            text.work().saturating_mul(1 + pattern.work() / 8)
        }
        ("distinct" | "sort", [list]) => list.work().saturating_mul(1 + list.size() / 8),
        ("@sortByAssociatedKeys", [_, keys]) => keys.work().saturating_mul(1 + keys.size() / 8),
        ("contains", [text, part]) => text.work().saturating_add(part.work()),
        ("sets.contains" | "sets.equivalent" | "sets.intersects", [one, other]) => {
            let items = one.work().saturating_mul(1 + other.size());
            items.saturating_add(other.work())
        }
        (_, args) => all(args),
    }
}

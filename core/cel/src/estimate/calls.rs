//! Estimates the highest cost of calls (`cel-go/checker/cost.go functionCost`, v0.26;
//! `k8s.io/apiserver/pkg/cel/library/cost.go EstimateCallCost`, v1.36).

use super::super::ast::{ExpressionKind, Literal};
use super::super::overloads::Overload;
use super::super::run_cost::LIST;
use super::super::types::CelType;
use super::range::Range;
use super::{EstimatedArgument, Estimator};

/// To look at one character.
pub(super) const CHARACTER: f64 = 0.1;
/// To match with one character of a regular expression.
const REGEX_CHARACTER: f64 = 0.25;
/// The longest regular expression of a named format (`MaxNameFormatRegexSize`).
const FORMAT_REGEX: f64 = 128.0;
/// The longest name of a format (`MaxFormatSize`).
const FORMAT: u64 = 64;

/// The cost of a call without that of its arguments, and the size of its result.
type Estimate = (Range, Option<Range>);

pub(super) fn cost(
    of: &Estimator<'_>,
    function: &str,
    overload: &Overload,
    target: Option<&EstimatedArgument<'_>>,
    args: &[EstimatedArgument<'_>],
) -> Estimate {
    let sizes: Vec<Range> = args.iter().map(|it| of.size_of(it)).collect();
    if let Some(target) = target
        && let Some(found) = of_target(of, function, overload, target, args, &sizes)
    {
        return found;
    }
    let only = |cost: Range| (cost, None);
    match (function, sizes.as_slice()) {
        ("url", [size]) => (size.scaled(CHARACTER), Some(*size)),
        ("cidr" | "isIP" | "isCIDR" | "ip", [size]) => only(size.scaled(CHARACTER)),
        ("ip.isCanonical", [size]) => only(size.scaled(2.0 * CHARACTER)),
        ("quantity" | "isQuantity" | "semver" | "isSemver", [size, ..]) => {
            only(size.scaled(CHARACTER))
        }
        ("string" | "bytes", [size]) => conversion(function, overload, *size),
        ("strings.quote", [size]) => {
            let longest = size.max.saturating_mul(2).saturating_add(2);
            let result = Range {
                min: size.min.saturating_add(2),
                max: longest,
            };
            (size.scaled(CHARACTER), Some(result))
        }
        ("@in", [_, list]) if matches!(overload.params[1], CelType::List(_)) => only(*list),
        ("_==_", [one, other]) => only(equality(args, *one, *other)),
        ("_!=_", [one, other]) => only(compared(*one, *other)),
        ("_<_" | "_<=_" | "_>_" | "_>=_", [one, other])
            if matches!(overload.params[0], CelType::String | CelType::Bytes) =>
        {
            only(compared(*one, *other))
        }
        ("lists.range", [_]) => {
            let most = number(&args[0]).unwrap_or(u64::MAX);
            list(1.0, Range::fixed(most))
        }
        ("sets.contains" | "sets.intersects", [one, other]) => {
            only(one.times(*other).plus(Range::fixed(1)))
        }
        ("sets.equivalent", [one, other]) => {
            only(one.times(*other).scaled(2.0).plus(Range::fixed(1)))
        }
        _ => only(Range::fixed(1)),
    }
}

fn conversion(function: &str, overload: &Overload, size: Range) -> Estimate {
    let cost = size.scaled(CHARACTER);
    match (function, &overload.params[0]) {
        ("bytes", CelType::String) => {
            let max = size.max.saturating_mul(4);
            (cost, Some(Range { max, ..size }))
        }
        ("string", CelType::Bytes) => {
            let min = size.min / 4;
            (cost, Some(Range { min, ..size }))
        }
        _ => (Range::fixed(1), None),
    }
}

/// Two values of one type of the libraries are compared at once.
fn equality(args: &[EstimatedArgument<'_>], one: Range, other: Range) -> Range {
    match (args[0].ty, args[1].ty) {
        (CelType::Named(left), CelType::Named(right)) if left == right => match *left {
            "kubernetes.NamedFormat" => Range {
                min: 1,
                max: FORMAT,
            }
            .scaled(CHARACTER),
            "kubernetes.URL" => Range {
                min: 1,
                max: other.max,
            }
            .scaled(CHARACTER),
            _ => Range::fixed(1),
        },
        _ => compared(one, other),
    }
}

fn compared(one: Range, other: Range) -> Range {
    let max = one.max.min(other.max);
    let min = u64::from(max > 0);
    Range { min, max }.scaled(CHARACTER)
}

/// Functions of a target.
fn of_target(
    of: &Estimator<'_>,
    function: &str,
    overload: &Overload,
    target: &EstimatedArgument<'_>,
    args: &[EstimatedArgument<'_>],
    sizes: &[Range],
) -> Option<Estimate> {
    let size = of.size_of(target);
    let only = |cost: Range| Some((cost, None));
    let text = size.scaled(CHARACTER);
    match (function, sizes) {
        ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", _) => {
            only(of_all_items(of, target, size))
        }
        ("lowerAscii" | "upperAscii" | "substring" | "trim", _) => Some((text, Some(size))),
        ("replace", [from, to, ..]) => {
            let cost = size.scaled(2.0 * CHARACTER);
            Some((cost, Some(replaced(size, *from, *to))))
        }
        ("split", _) => {
            let limit = args.get(1).and_then(number);
            let max = limit.unwrap_or(size.max);
            Some((size.scaled(2.0 * CHARACTER), Some(Range { min: 0, max })))
        }
        ("join", _) => {
            let joined = joined(of, target, size, sizes.first().copied());
            Some((joined.scaled(CHARACTER), Some(joined)))
        }
        ("find" | "findAll", [pattern, ..]) => {
            let result = Range {
                min: 0,
                max: size.max,
            };
            Some((regex(size, *pattern), Some(result)))
        }
        ("matches", [pattern]) => only(regex(size, *pattern)),
        ("contains", [part]) => only(text.times(part.scaled(CHARACTER))),
        ("startsWith" | "endsWith", [part]) => only(part.scaled(CHARACTER)),
        ("format", _) => only(text),
        ("containsIP" | "containsCIDR", [other]) => only(containment(function, overload, *other)),
        ("validate", [text]) => {
            let factor = FORMAT_REGEX * REGEX_CHARACTER;
            only(text.scaled(CHARACTER).scaled(factor))
        }
        _ => of_list(of, function, target, args, size),
    }
}

/// To look at each item of a list, or at a text.
fn of_all_items(of: &Estimator<'_>, target: &EstimatedArgument<'_>, size: Range) -> Range {
    let Some((item, of_item)) = of.items_of(target) else {
        return size.scaled(CHARACTER);
    };
    size.times(match item {
        CelType::String | CelType::Bytes => Range::fixed(1).plus(of_item.scaled(CHARACTER)),
        _ => Range::fixed(1),
    })
}

/// To look whether an address or a range is in a range.
fn containment(function: &str, overload: &Overload, other: Range) -> Range {
    let address = Range { min: 4, max: 16 };
    let mut cost = address.plus(address).scaled(CHARACTER);
    if function == "containsCIDR" {
        cost = cost.plus(address.scaled(CHARACTER)).plus(Range::fixed(1));
    }
    match overload.params[1] {
        CelType::String => cost.plus(other.scaled(CHARACTER)),
        _ => cost,
    }
}

fn regex(text: Range, pattern: Range) -> Range {
    let text = text.plus(Range::fixed(1)).scaled(CHARACTER);
    text.times(pattern.scaled(REGEX_CHARACTER))
}

/// The size of a text in which every `from` became `to`.
fn replaced(text: Range, from: Range, to: Range) -> Range {
    // How many times `to` is put in, and how much of the text is kept.
    let bound = |text: u64, from: u64, stays: bool| match from {
        0 => (text.saturating_add(1), text),
        _ if stays => (0, text),
        _ => ((text as f64 / from as f64).ceil() as u64, 0),
    };
    // A text is longest without a replacement that shortens it, and shortest without one that
    // lengthens it.
    let least = bound(text.min, from.max, from.max <= to.min);
    let most = bound(text.max, from.min, to.max <= from.min);
    let [count, kept] = [(least.0, most.0), (least.1, most.1)].map(|(min, max)| Range { min, max });
    count.times(to).plus(kept)
}

fn joined(
    of: &Estimator<'_>,
    target: &EstimatedArgument<'_>,
    size: Range,
    between: Option<Range>,
) -> Range {
    let items = of.items_of(target);
    let joined = items.map_or(Range::fixed(0), |(_, item)| size.times(item));
    match between {
        Some(between) => {
            let count = Range {
                min: size.min.saturating_sub(1),
                max: size.max.saturating_sub(1),
            };
            joined.plus(between.times(count))
        }
        None => joined,
    }
}

/// The value of an argument that is a whole number, not below zero.
fn number(node: &EstimatedArgument<'_>) -> Option<u64> {
    match &node.expr.kind {
        ExpressionKind::Literal(Literal::Int(value)) => u64::try_from(*value).ok(),
        ExpressionKind::Literal(Literal::Uint(value)) => Some(*value),
        _ => None,
    }
}

/// A call that makes a list.
fn list(factor: f64, size: Range) -> Estimate {
    (size.scaled(factor).plus(Range::fixed(1 + LIST)), Some(size))
}

/// Functions of lists (`cel-go/ext/lists.go`).
fn of_list(
    of: &Estimator<'_>,
    function: &str,
    target: &EstimatedArgument<'_>,
    args: &[EstimatedArgument<'_>],
    size: Range,
) -> Option<Estimate> {
    let sorted = |node: &EstimatedArgument<'_>| {
        let size = of.size_of(node);
        let text = matches!(node.ty, CelType::List(item) if matches!(**item, CelType::String | CelType::Bytes));
        list(if text { 2.0 + CHARACTER } else { 2.0 }, size.times(size))
    };
    Some(match function {
        "slice" => {
            let start = args.first().and_then(number).unwrap_or(0);
            let end = args.get(1).and_then(number).unwrap_or(size.max);
            list(1.0, Range::fixed(end.saturating_sub(start)))
        }
        "flatten" => {
            let depth = match args.first() {
                Some(depth) => number(depth).unwrap_or(u64::MAX),
                None => 1,
            };
            list(depth as f64, size)
        }
        "reverse" => list(1.0, size),
        "distinct" => list(2.0, size.times(size)),
        "sort" => sorted(target),
        "@sortByAssociatedKeys" => sorted(args.first()?),
        _ => return None,
    })
}

//! `format`, and numbers as Go writes them (`cel-go/ext/formatting.go`).

use super::super::evaluate::{Evaluated, EvaluationError};
use super::super::value::{MapKey, Val};
use super::times;

/// The most digits that a format may ask for behind the point.
const MAX_PRECISION: usize = 1000;

pub(super) fn format(text: &str, args: &[Val]) -> Evaluated {
    let mut written = String::new();
    let mut rest = text;
    let mut next = 0;
    while let Some(start) = rest.find('%') {
        written.push_str(&rest[..start]);
        rest = &rest[start + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            written.push('%');
            rest = after;
            continue;
        }
        let Some(value) = args.get(next) else {
            return Err(EvaluationError::new(format!("index {next} out of range")));
        };
        next += 1;
        let precision = precision(&mut rest)?;
        let mut chars = rest.chars();
        let verb = chars.next();
        rest = chars.as_str();
        let verb = verb.ok_or_else(|| EvaluationError::new("unexpected end of string"))?;
        written.push_str(&clause(verb, precision, value)?);
    }
    written.push_str(rest);
    Ok(Val::text(written))
}

fn precision(rest: &mut &str) -> Evaluated<Option<usize>> {
    let Some(digits) = rest.strip_prefix('.') else {
        return Ok(None);
    };
    let after = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = digits[..digits.len() - after.len()].parse().ok();
    *rest = after;
    match number {
        Some(number) if number <= MAX_PRECISION => Ok(Some(number)),
        _ => Err(EvaluationError::Unknown),
    }
}

fn clause(verb: char, precision: Option<usize>, value: &Val) -> Evaluated<String> {
    Ok(match (verb, value) {
        ('s', value) => format_value(value)?,
        ('d', Val::Int(value)) => value.to_string(),
        ('d', Val::Uint(value)) => value.to_string(),
        ('f', value) => {
            let digits = precision.unwrap_or(6);
            format!("{:.*}", digits, ungrouped(value)?)
        }
        ('e', value) => scientific(ungrouped(value)?, precision.unwrap_or(6)),
        ('b', Val::Int(value)) => signed(*value, |it| format!("{it:b}")),
        ('b', Val::Uint(value)) => format!("{value:b}"),
        ('b', Val::Bool(value)) => u8::from(*value).to_string(),
        ('o', Val::Int(value)) => signed(*value, |it| format!("{it:o}")),
        ('o', Val::Uint(value)) => format!("{value:o}"),
        ('x', Val::Int(value)) => signed(*value, |it| format!("{it:x}")),
        ('x', Val::Uint(value)) => format!("{value:x}"),
        ('X', Val::Int(value)) => signed(*value, |it| format!("{it:X}")),
        ('X', Val::Uint(value)) => format!("{value:X}"),
        ('x' | 'X', Val::Text(text)) => hex(text.as_bytes(), verb),
        ('x' | 'X', Val::Bytes(bytes)) => hex(bytes, verb),
        (verb, _) if !"sdfebxXo".contains(verb) => {
            return Err(EvaluationError::new(format!(
                "could not parse formatting clause: unrecognized formatting clause \"{verb}\""
            )));
        }
        (_, value) => {
            return Err(EvaluationError::new(format!(
                "error during formatting: unsupported type {}",
                value.type_name()
            )));
        }
    })
}

fn signed(value: i64, write: impl Fn(u64) -> String) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", write(value.unsigned_abs()))
}

fn hex(bytes: &[u8], verb: char) -> String {
    let digits = bytes.iter().map(|byte| match verb {
        'x' => format!("{byte:02x}"),
        _ => format!("{byte:02X}"),
    });
    digits.collect()
}

/// A number small enough that no language groups its digits; how a real server groups others is
/// not known here.
fn ungrouped(value: &Val) -> Evaluated<f64> {
    let number = match value {
        Val::Double(value) => *value,
        Val::Int(value) => *value as f64,
        Val::Uint(value) => *value as f64,
        _ => return Err(EvaluationError::no_overload()),
    };
    if number.abs() < 999.5 {
        Ok(number)
    } else {
        Err(EvaluationError::Unknown)
    }
}

/// Writes a number in scientific notation: with a power of ten.
fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ("⁻", exponent),
        None => ("", exponent),
    };
    let raised = format!("{exponent:0>2}");
    let raised: String = raised
        .bytes()
        .filter_map(|digit| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(usize::from(digit - b'0')))
        .collect();
    format!("{mantissa}×10{sign}{raised}")
}

/// A number in as few digits as tell it from others (`strconv.FormatFloat(value, 'g', -1, 64)`).
pub(super) fn shortest(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        let sign = if value < 0.0 { '-' } else { '+' };
        return format!("{sign}Inf");
    }
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let number: i32 = exponent.parse().unwrap_or(0);
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count() as i32;
    // The exponent is shown from here on.
    let limit = if digits > number && digits > 6 {
        digits
    } else {
        21.min(digits.max(6)).max(6)
    };
    if value != 0.0 && (number < -4 || number >= limit) {
        let sign = if number < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", number.abs());
    }
    format!("{value}")
}

fn format_value(value: &Val) -> Evaluated<String> {
    Ok(match value {
        Val::Text(text) => text.to_string(),
        Val::Null => "null".to_owned(),
        Val::Bool(value) => value.to_string(),
        Val::Int(value) => value.to_string(),
        Val::Uint(value) => value.to_string(),
        Val::Double(value) => shortest(*value),
        Val::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Val::Duration(nanos) => times::seconds(*nanos),
        Val::Timestamp(nanos, offset) => times::format_timestamp(*nanos, *offset),
        Val::Type(name) => (*name).to_owned(),
        Val::List(list) => {
            let items: Evaluated<Vec<String>> = list.items.iter().map(quoted).collect();
            format!("[{}]", items?.join(", "))
        }
        Val::Map(map) => {
            let members = map.iter().map(|(key, value)| {
                let key = match key {
                    MapKey::Text(text) => optimist_encoding::go::quote(text),
                    other => format_value(&other.value())?,
                };
                Ok(format!("{key}:{}", quoted(value)?))
            });
            let members: Evaluated<Vec<String>> = members.collect();
            format!("{{{}}}", members?.join(", "))
        }
        _ => return Err(EvaluationError::no_overload()),
    })
}

fn quoted(value: &Val) -> Evaluated<String> {
    Ok(match value {
        Val::Text(text) => optimist_encoding::go::quote(text),
        Val::Duration(_) => format!("duration(\"{}\")", format_value(value)?),
        Val::Timestamp(..) => format!("timestamp(\"{}\")", format_value(value)?),
        other => format_value(other)?,
    })
}

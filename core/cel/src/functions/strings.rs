//! Functions of strings (`cel-go/common/stdlib/standard.go`, `ext/strings.go` version 2;
//! `k8s.io/apiserver/pkg/cel/library/regex.go`, v1.36).

use super::super::evaluate::{Evaluated, EvaluationError, Machine};
use super::super::value::Val;
use super::printf;

pub(super) fn apply(machine: &Machine, function: &str, args: &[Val]) -> Option<Evaluated> {
    Some(match (function, args) {
        ("contains", [Val::Text(text), Val::Text(part)]) => Ok(Val::Bool(text.contains(&**part))),
        ("startsWith", [Val::Text(text), Val::Text(part)]) => {
            Ok(Val::Bool(text.starts_with(&**part)))
        }
        ("endsWith", [Val::Text(text), Val::Text(part)]) => Ok(Val::Bool(text.ends_with(&**part))),
        ("matches", [Val::Text(text), Val::Text(pattern)]) => machine
            .regex(pattern)
            .map(|it| Val::Bool(it.is_match(text))),
        ("find", [Val::Text(text), Val::Text(pattern)]) => machine.regex(pattern).map(|regex| {
            let found = regex.find(text);
            Val::text(found.map_or("", |found| found.as_str()))
        }),
        ("findAll", [Val::Text(text), Val::Text(pattern)]) => find_all(machine, text, pattern, -1),
        ("findAll", [Val::Text(text), Val::Text(pattern), Val::Int(most)]) => {
            find_all(machine, text, pattern, *most)
        }
        ("charAt", [Val::Text(text), Val::Int(index)]) => char_at(text, *index),
        ("indexOf", [Val::Text(text), Val::Text(part)]) => index_of(text, part, 0),
        ("indexOf", [Val::Text(text), Val::Text(part), Val::Int(from)]) => {
            index_of(text, part, *from)
        }
        ("lastIndexOf", [Val::Text(text), Val::Text(part)]) => last_index_of(text, part, None),
        ("lastIndexOf", [Val::Text(text), Val::Text(part), Val::Int(from)]) => {
            last_index_of(text, part, Some(*from))
        }
        ("lowerAscii", [Val::Text(text)]) => Ok(Val::text(text.to_ascii_lowercase())),
        ("jsonpatch.escapeKey", [Val::Text(text)]) => {
            Ok(Val::text(text.replace('~', "~0").replace('/', "~1")))
        }
        ("upperAscii", [Val::Text(text)]) => Ok(Val::text(text.to_ascii_uppercase())),
        ("trim", [Val::Text(text)]) => Ok(Val::text(text.trim())),
        ("replace", [Val::Text(text), Val::Text(from), Val::Text(to)]) => {
            replace(machine, text, from, to, -1)
        }
        (
            "replace",
            [
                Val::Text(text),
                Val::Text(from),
                Val::Text(to),
                Val::Int(most),
            ],
        ) => replace(machine, text, from, to, *most),
        ("split", [Val::Text(text), Val::Text(by)]) => Ok(split(text, by, -1)),
        ("split", [Val::Text(text), Val::Text(by), Val::Int(most)]) => Ok(split(text, by, *most)),
        ("substring", [Val::Text(text), Val::Int(start)]) => substring(text, *start, None),
        ("substring", [Val::Text(text), Val::Int(start), Val::Int(end)]) => {
            substring(text, *start, Some(*end))
        }
        ("join", [Val::List(list)]) => join(&list.items, ""),
        ("join", [Val::List(list), Val::Text(between)]) => join(&list.items, between),
        ("format", [Val::Text(text), Val::List(list)]) => printf::format(text, &list.items),
        ("strings.quote", [Val::Text(text)]) => Ok(Val::text(quote(text))),
        _ => return None,
    })
}

fn find_all(machine: &Machine, text: &str, pattern: &str, most: i64) -> Evaluated {
    let regex = machine.regex(pattern)?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let found = regex.find_iter(text).take(most);
    Ok(Val::texts(found.map(|found| found.as_str())))
}

fn out_of_range(index: i64) -> EvaluationError {
    EvaluationError::new(format!("index out of range: {index}"))
}

fn char_at(text: &str, index: i64) -> Evaluated {
    let place = usize::try_from(index).map_err(|_| out_of_range(index))?;
    match text.chars().nth(place) {
        Some(c) => Ok(Val::text(c.to_string())),
        None if place == text.chars().count() => Ok(Val::text("")),
        None => Err(out_of_range(index)),
    }
}

/// Indexes count characters.
fn index_of(text: &str, part: &str, from: i64) -> Evaluated {
    let start = usize::try_from(from).map_err(|_| out_of_range(from))?;
    let length = text.chars().count();
    if part.is_empty() {
        return Ok(Val::Int(start.min(length) as i64));
    }
    let Some((start_byte, _)) = text.char_indices().nth(start) else {
        return Ok(Val::Int(-1));
    };
    let found = text[start_byte..].find(part);
    Ok(Val::Int(found.map_or(-1, |at| {
        text[..start_byte + at].chars().count() as i64
    })))
}

fn last_index_of(text: &str, part: &str, from: Option<i64>) -> Evaluated {
    let length = text.chars().count();
    if part.is_empty() && from.is_none() {
        return Ok(Val::Int(length as i64));
    }
    let Some(from) = from else {
        let found = text.rfind(part);
        return Ok(Val::Int(
            found.map_or(-1, |at| text[..at].chars().count() as i64),
        ));
    };
    let start = usize::try_from(from).map_err(|_| out_of_range(from))?;
    if part.is_empty() {
        return Ok(Val::Int(start.min(length) as i64));
    }
    if start >= length {
        return Ok(Val::Int(-1));
    }
    // The last place at which the part may begin is that character.
    let begin = text.char_indices().nth(start).map_or(text.len(), |it| it.0);
    let end = (begin + part.len()).min(text.len());
    let end = (end..=text.len()).find(|i| text.is_char_boundary(*i));
    let found = text[..end.unwrap_or(text.len())].rfind(part);
    Ok(Val::Int(
        found.map_or(-1, |at| text[..at].chars().count() as i64),
    ))
}

fn replace(machine: &Machine, text: &str, from: &str, to: &str, most: i64) -> Evaluated {
    let count = match from {
        "" => text.chars().count() + 1,
        from => text.matches(from).count(),
    };
    let count = usize::try_from(most).map_or(count, |most| most.min(count));
    machine.work((count as u64).saturating_mul(to.len() as u64))?;
    Ok(Val::text(text.replacen(from, to, count)))
}

/// `strings.SplitN`.
fn split(text: &str, by: &str, most: i64) -> Val {
    let most = match most {
        0 => return Val::list(Vec::new()),
        most => usize::try_from(most).unwrap_or(usize::MAX),
    };
    if !by.is_empty() {
        return Val::texts(text.splitn(most, by));
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if parts.len() + 1 == most {
            parts.push(rest);
            break;
        }
        let (part, after) = rest.split_at(c.len_utf8());
        parts.push(part);
        rest = after;
    }
    Val::texts(parts)
}

fn substring(text: &str, start: i64, end: Option<i64>) -> Evaluated {
    let length = text.chars().count() as i64;
    let last = end.unwrap_or(length);
    if let Some(end) = end
        && start > end
    {
        let why = format!("invalid substring range. start: {start}, end: {end}");
        return Err(EvaluationError::new(why));
    }
    for index in [start, last] {
        if !(0..=length).contains(&index) {
            return Err(out_of_range(index));
        }
    }
    let chars = text.chars().skip(start as usize);
    Ok(Val::text(
        chars.take((last - start) as usize).collect::<String>(),
    ))
}

fn join(items: &[Val], between: &str) -> Evaluated {
    let mut joined = String::new();
    for (i, item) in items.iter().enumerate() {
        let Val::Text(text) = item else {
            return Err(EvaluationError::no_overload());
        };
        if i > 0 {
            joined.push_str(between);
        }
        joined.push_str(text);
    }
    Ok(Val::text(joined))
}

fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

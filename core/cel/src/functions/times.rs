//! Durations and points in time (`cel-go/common/types/duration.go`, `timestamp.go`).

use optimist_encoding::calendar::{date_of_days, days_in_month, days_of_date};

use super::super::evaluate::{Evaluated, EvaluationError, Machine};
use super::super::value::Val;

/// Nanoseconds in a second.
pub(crate) const SECOND: i128 = 1_000_000_000;

/// The first and the last second that there is (`minUnixTime`, `maxUnixTime`).
const SECONDS: std::ops::RangeInclusive<i128> = -62_135_596_800..=253_402_300_799;

/// A point in time, if there is such a one.
pub(super) fn checked(nanos: i128, offset: i64) -> Evaluated {
    if SECONDS.contains(&nanos.div_euclid(SECOND)) {
        return Ok(Val::Timestamp(nanos, offset));
    }
    Err(EvaluationError::new("timestamp overflow"))
}

/// A point in time as RFC 3339 has it.
pub(crate) fn timestamp(text: &str) -> Option<Val> {
    let bytes = text.as_bytes();
    let field = |from: usize, length: usize| -> Option<i64> {
        let digits = text.get(from..from + length)?;
        let all = digits.bytes().all(|c| c.is_ascii_digit());
        if all { digits.parse().ok() } else { None }
    };
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if !marks.iter().all(|(i, mark)| bytes.get(*i) == Some(mark)) {
        return None;
    }
    let (year, month, day) = (field(0, 4)?, field(5, 2)?, field(8, 2)?);
    let (hour, minute, second) = (field(11, 2)?, field(14, 2)?, field(17, 2)?);
    if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut rest = text.get(19..)?;
    let mut nanos = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let zone = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &fraction[..fraction.len() - zone.len()];
        if digits.is_empty() {
            return None;
        }
        let padded: String = digits.chars().chain("000000000".chars()).take(9).collect();
        nanos = padded.parse::<i128>().ok()?;
        rest = zone;
    }
    let offset = match rest {
        "Z" => 0,
        zone => offset(zone)?,
    };
    let days = days_of_date(year, month, day);
    let seconds = i128::from(days * 86_400 + hour * 3600 + minute * 60 + second - offset);
    let in_range = SECONDS.contains(&seconds);
    in_range.then_some(Val::Timestamp(seconds * SECOND + nanos, offset))
}

/// The seconds of an offset such as `+02:00`.
fn offset(zone: &str) -> Option<i64> {
    let (sign, rest) = match zone.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let part = |text: &str, most: i64| -> Option<i64> {
        let fine = text.len() == 2 && text.bytes().all(|c| c.is_ascii_digit());
        let value = if fine {
            text.parse().ok()?
        } else {
            return None;
        };
        (value <= most).then_some(value)
    };
    Some(sign * (part(hours, 23)? * 3600 + part(minutes, 59)? * 60))
}

/// A duration in seconds, as `string` writes it.
pub(super) fn seconds(nanos: i64) -> String {
    format!("{}s", super::printf::shortest(nanos as f64 / 1e9))
}

/// A point in time as RFC 3339 has it, at an offset of so many seconds.
pub(super) fn format_timestamp(nanos: i128, offset: i64) -> String {
    let seconds = nanos.div_euclid(SECOND) as i64 + offset;
    let (year, month, day) = date_of_days(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    let fraction = nanos.rem_euclid(SECOND);
    if fraction != 0 {
        let digits = format!("{fraction:09}");
        text.push('.');
        text.push_str(digits.trim_end_matches('0'));
    }
    if offset == 0 {
        text.push('Z');
    } else {
        let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60);
        text.push_str(&format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60));
    }
    text
}

pub(super) fn arithmetic(operator: &str, one: &Val, other: &Val) -> Evaluated {
    let overflow = || EvaluationError::new("integer overflow");
    match (operator, one, other) {
        ("_+_", Val::Duration(one), Val::Duration(other)) => {
            let sum = one.checked_add(*other).ok_or_else(overflow)?;
            Ok(Val::Duration(sum))
        }
        ("_-_", Val::Duration(one), Val::Duration(other)) => {
            let rest = one.checked_sub(*other).ok_or_else(overflow)?;
            Ok(Val::Duration(rest))
        }
        ("_+_", Val::Timestamp(time, offset), Val::Duration(nanos))
        | ("_+_", Val::Duration(nanos), Val::Timestamp(time, offset)) => {
            checked(time + i128::from(*nanos), *offset)
        }
        ("_-_", Val::Timestamp(time, offset), Val::Duration(nanos)) => {
            checked(time - i128::from(*nanos), *offset)
        }
        ("_-_", Val::Timestamp(one, _), Val::Timestamp(other, _)) => {
            let nanos = i64::try_from(one - other).map_err(|_| overflow())?;
            Ok(Val::Duration(nanos))
        }
        _ => Err(EvaluationError::no_overload()),
    }
}

pub(super) fn apply(_: &Machine, function: &str, args: &[Val]) -> Option<Evaluated> {
    if !function.starts_with("get") {
        return None;
    }
    match args {
        [Val::Duration(nanos)] => of_duration(function, *nanos).map(Ok),
        [Val::Timestamp(nanos, _)] => of_time(function, *nanos).map(Ok),
        [Val::Timestamp(nanos, _), Val::Text(zone)] => {
            let Some(offset) = zone_offset(zone) else {
                // The table of time zones is not here.
                return Some(Err(EvaluationError::Unknown));
            };
            of_time(function, nanos + i128::from(offset) * SECOND).map(Ok)
        }
        _ => None,
    }
}

fn zone_offset(zone: &str) -> Option<i64> {
    match zone {
        "UTC" | "" | "Z" => Some(0),
        zone if zone.starts_with(['+', '-']) => offset(zone),
        zone => offset(&format!("+{zone}")),
    }
}

fn of_duration(function: &str, nanos: i64) -> Option<Val> {
    Some(Val::Int(match function {
        "getHours" => nanos / 3_600_000_000_000,
        "getMinutes" => nanos / 60_000_000_000,
        "getSeconds" => nanos / 1_000_000_000,
        "getMilliseconds" => nanos / 1_000_000,
        _ => return None,
    }))
}

fn of_time(function: &str, nanos: i128) -> Option<Val> {
    let seconds = nanos.div_euclid(SECOND) as i64;
    let days = seconds.div_euclid(86_400);
    let (year, month, day) = date_of_days(days);
    let of_day = seconds.rem_euclid(86_400);
    Some(Val::Int(match function {
        "getFullYear" => year,
        "getMonth" => month - 1,
        "getDayOfYear" => days - days_of_date(year, 1, 1),
        "getDayOfMonth" => day - 1,
        "getDate" => day,
        "getDayOfWeek" => (days + 4).rem_euclid(7),
        "getHours" => of_day / 3600,
        "getMinutes" => of_day / 60 % 60,
        "getSeconds" => of_day % 60,
        "getMilliseconds" => (nanos.rem_euclid(SECOND) / 1_000_000) as i64,
        _ => return None,
    }))
}

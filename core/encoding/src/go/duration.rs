//! Durations as Go reads them (`src/time/format.go ParseDuration`, go1.26).

use super::time::quote;

/// Units of durations, in nanoseconds.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// The largest number of nanoseconds, of a negative duration.
const MOST: u64 = 1 << 63;

/// Reads a duration, such as `1h30m`, in nanoseconds.
///
/// # Errors
/// Go's error if a text is no duration.
pub fn parse_duration(text: &str) -> Result<i64, String> {
    let wrong = |why: &str| format!("time: {why} {}", quote(text));
    let invalid = || wrong("invalid duration");
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0_u64;
    while !rest.is_empty() {
        let (whole, after) = digits(rest);
        let (fraction, after) = after.strip_prefix('.').map_or(("", after), digits);
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let whole = count(whole).ok_or_else(invalid)?;
        let end = after.find(|c: char| c == '.' || c.is_ascii_digit());
        let (unit, after) = after.split_at(end.unwrap_or(after.len()));
        if unit.is_empty() {
            return Err(wrong("missing unit in duration"));
        }
        let known = UNITS.iter().find(|(name, _)| *name == unit);
        let Some((_, scale)) = known else {
            return Err(wrong(&format!("unknown unit {} in duration", quote(unit))));
        };
        let sum = whole.checked_mul(*scale);
        let sum = sum.and_then(|part| part.checked_add(fraction_of(fraction, *scale)));
        let sum = sum.and_then(|part| part.checked_add(total));
        total = sum.filter(|sum| *sum <= MOST).ok_or_else(invalid)?;
        rest = after;
    }
    match text.starts_with('-') {
        true => Ok(0_i64.wrapping_sub_unsigned(total)),
        false => i64::try_from(total).map_err(|_| invalid()),
    }
}

/// The digits at the beginning of a text, and the rest.
fn digits(text: &str) -> (&str, &str) {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    text.split_at(text.len() - rest.len())
}

/// A number, if it is not too large. No digits are zero (`leadingInt`).
fn count(digits: &str) -> Option<u64> {
    match digits {
        "" => Some(0),
        digits => digits.parse().ok().filter(|count| *count <= MOST),
    }
}

/// A fraction of a unit. Digits that no longer fit are left out (`leadingFraction`).
fn fraction_of(digits: &str, unit: u64) -> u64 {
    let (mut fraction, mut scale) = (0_u64, 1.0);
    for digit in digits.bytes().map(|digit| u64::from(digit - b'0')) {
        match fraction.checked_mul(10).map(|it| it + digit) {
            Some(longer) if fraction <= (MOST - 1) / 10 && longer <= MOST => fraction = longer,
            _ => break,
        }
        scale *= 10.0;
    }
    (fraction as f64 * (unit as f64 / scale)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_read_as_go_reads_it() {
        for (text, nanos) in [
            ("0", 0),
            ("-0", 0),
            ("1h", 3_600_000_000_000),
            ("1.5h2m", 5_520_000_000_000),
            (".5s", 500_000_000),
            ("5.ms", 5_000_000),
            ("1µs", 1_000),
            ("+3ns", 3),
            ("-9223372036854775808ns", i64::MIN),
            ("0.3333333333333333333h", 1_200_000_000_000),
            ("0.100000000000000000000h", 360_000_000_000),
        ] {
            assert_eq!(parse_duration(text), Ok(nanos), "{text}");
        }
        for (text, error) in [
            ("", "invalid duration \"\""),
            (".s", "invalid duration \".s\""),
            ("1", "missing unit in duration \"1\""),
            ("1h5", "missing unit in duration \"1h5\""),
            (
                "1ä",
                "unknown unit \"\\xc3\\xa4\" in duration \"1\\xc3\\xa4\"",
            ),
            ("h1", "invalid duration \"h1\""),
            (
                "9223372036854775808ns",
                "invalid duration \"9223372036854775808ns\"",
            ),
            ("3000000h", "invalid duration \"3000000h\""),
        ] {
            assert_eq!(parse_duration(text), Err(format!("time: {error}")));
        }
    }
}

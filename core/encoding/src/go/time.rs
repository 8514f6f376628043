//! Times as Go's `time.Parse` reads them, with its errors (`time/format.go`), and as the types
//! `metav1.Time` and `metav1.MicroTime` write them.

use crate::calendar::{date_of_days, days_in_month, days_of_date};

/// A layout that the API uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLayout {
    /// `time.RFC3339`, of `metav1.Time`: fractions of a second are read and dropped.
    Seconds,
    /// `metav1.RFC3339Micro`, of `metav1.MicroTime`: exactly six decimals.
    Micros,
}

impl TimeLayout {
    fn text(self) -> &'static str {
        match self {
            TimeLayout::Seconds => "2006-01-02T15:04:05Z07:00",
            TimeLayout::Micros => "2006-01-02T15:04:05.000000Z07:00",
        }
    }
}

/// Seconds from year 1 to 1970.
const YEAR_ONE: i64 = -62_135_596_800;

/// Reads a time and writes it as the server does, in UTC; `None` for Go's zero time, which is
/// written as null.
///
/// # Errors
/// Go's error text.
pub fn canonical(text: &str, layout: TimeLayout) -> Result<Option<String>, String> {
    let (seconds, nanoseconds) = parse(text, layout)?;
    if (seconds, nanoseconds) == (YEAR_ONE, 0) {
        return Ok(None);
    }
    let is_written_so = text.len() == "2006-01-02T15:04:05Z".len() && text.ends_with('Z');
    if layout == TimeLayout::Seconds && is_written_so {
        return Ok(Some(text.to_owned()));
    }
    let mut shown = date_and_time(seconds);
    if layout == TimeLayout::Micros {
        shown.push_str(&format!(".{:06}", nanoseconds / 1000));
    }
    shown.push('Z');
    Ok(Some(shown))
}

/// The rest of a text, and the error that Go would report.
struct TimeReader<'a> {
    whole: &'a str,
    rest: &'a [u8],
    layout: TimeLayout,
}

/// Seconds since 1970 and nanoseconds.
fn parse(text: &str, layout: TimeLayout) -> Result<(i64, u32), String> {
    let mut reader = TimeReader {
        whole: text,
        rest: text.as_bytes(),
        layout,
    };
    let year = reader.element("2006", year)?;
    reader.skip("-")?;
    let month = reader.ranged("01", true, 1..=12, "month")?;
    reader.skip("-")?;
    let day = reader.element("02", |rest| number(rest, true))?;
    reader.skip("T")?;
    let hour = reader.ranged("15", false, 0..=23, "hour")?;
    reader.skip(":")?;
    let minute = reader.ranged("04", true, 0..=59, "minute")?;
    reader.skip(":")?;
    let second = reader.ranged("05", true, 0..=59, "second")?;
    let nanoseconds = match layout {
        TimeLayout::Micros => reader.element(".000000", |rest| fraction(rest, 7))?,
        TimeLayout::Seconds => reader.optional_fraction()?,
    };
    let offset = reader.zone()?;
    if !reader.rest.is_empty() {
        let extra = quote(&reader.left());
        return Err(reader.wrong(&format!(": extra text: {extra}")));
    }
    if day < 1 || day > days_in_month(year, month) {
        return Err(reader.wrong(": day out of range"));
    }
    let days = days_of_date(year, month, day);
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset;
    Ok((seconds, nanoseconds))
}

/// The value that an element reads from the front of a text, and the rest.
type ElementRead<'a, T> = Option<(T, &'a [u8])>;

impl<'a> TimeReader<'a> {
    fn element<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&'a [u8]) -> ElementRead<'a, T>,
    ) -> Result<T, String> {
        match read(self.rest) {
            Some((value, rest)) => {
                self.rest = rest;
                Ok(value)
            }
            None => Err(self.mismatch(name)),
        }
    }

    fn ranged(
        &mut self,
        name: &str,
        fixed: bool,
        range: std::ops::RangeInclusive<i64>,
        what: &str,
    ) -> Result<i64, String> {
        let value = self.element(name, |rest| number(rest, fixed))?;
        if range.contains(&value) {
            return Ok(value);
        }
        Err(self.wrong(&format!(": {what} out of range")))
    }

    fn skip(&mut self, prefix: &str) -> Result<(), String> {
        match self.rest.strip_prefix(prefix.as_bytes()) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(self.mismatch(prefix)),
        }
    }

    /// Fractions are read though the layout has none.
    fn optional_fraction(&mut self) -> Result<u32, String> {
        if let [b'.' | b',', digit, ..] = self.rest
            && digit.is_ascii_digit()
        {
            let digits = self.rest[1..].iter().take_while(|b| b.is_ascii_digit());
            let length = 1 + digits.count();
            return self.element("05", |rest| fraction(rest, length));
        }
        Ok(0)
    }

    /// Seconds east of UTC.
    fn zone(&mut self) -> Result<i64, String> {
        const NAME: &str = "Z07:00";
        if let [b'Z', rest @ ..] = self.rest {
            self.rest = rest;
            return Ok(0);
        }
        let read = |rest: &'a [u8]| -> ElementRead<'a, (i64, i64, u8)> {
            if rest.len() < 6 || rest[3] != b':' {
                return None;
            }
            let (hours, _) = number(&rest[1..3], true)?;
            let (minutes, _) = number(&rest[4..6], true)?;
            Some(((hours, minutes, rest[0]), &rest[6..]))
        };
        let before = self.rest;
        let (hours, minutes, sign) = self.element(NAME, read)?;
        if hours > 24 {
            return Err(self.wrong(": time zone offset hour out of range"));
        }
        if minutes > 60 {
            return Err(self.wrong(": time zone offset minute out of range"));
        }
        let offset = (hours * 60 + minutes) * 60;
        match sign {
            b'+' => Ok(offset),
            b'-' => Ok(-offset),
            _ => {
                self.rest = before;
                Err(self.mismatch(NAME))
            }
        }
    }

    fn left(&self) -> String {
        String::from_utf8_lossy(self.rest).into_owned()
    }

    fn mismatch(&self, element: &str) -> String {
        format!(
            "parsing time {} as {}: cannot parse {} as {}",
            quote(self.whole),
            quote(self.layout.text()),
            quote(&self.left()),
            quote(element),
        )
    }

    fn wrong(&self, why: &str) -> String {
        format!("parsing time {}{why}", quote(self.whole))
    }
}

/// A text in an error of Go's package `time`, which shows the bytes of all that is not ASCII (`quote` of
/// `time/format.go`).
pub(super) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..0x80 => out.push(char::from(byte)),
            byte => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push('"');
    out
}

fn year(rest: &[u8]) -> ElementRead<'_, i64> {
    let (digits, rest) = rest.split_at_checked(4)?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0, |n, b| n * 10 + i64::from(b - b'0'));
    Some((value, rest))
}

/// One or two digits, or exactly two (`getnum`).
fn number(rest: &[u8], fixed: bool) -> ElementRead<'_, i64> {
    let digit = |b: &u8| b.is_ascii_digit().then(|| i64::from(b - b'0'));
    let (first, second) = (digit(rest.first()?)?, rest.get(1).and_then(digit));
    match second {
        Some(second) => Some((first * 10 + second, &rest[2..])),
        None if fixed => None,
        None => Some((first, &rest[1..])),
    }
}

/// A point or comma and digits, `length` bytes in all (`parseNanoseconds`).
fn fraction(rest: &[u8], length: usize) -> ElementRead<'_, u32> {
    let (text, rest) = rest.split_at_checked(length)?;
    let (mark, digits) = text.split_first()?;
    if !matches!(mark, b'.' | b',') || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = &digits[..digits.len().min(9)];
    let value = digits.iter().fold(0, |n, b| n * 10 + u32::from(b - b'0'));
    let missing = u32::try_from(9 - digits.len()).unwrap_or(0);
    Some((value * 10_u32.pow(missing), rest))
}

/// A time without its fraction and zone.
fn date_and_time(seconds: i64) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date_of_days(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc_without_fractions() {
        let seconds = |text| canonical(text, TimeLayout::Seconds).unwrap().unwrap();
        assert_eq!(seconds("2001-02-03T04:05:06.7Z"), "2001-02-03T04:05:06Z");
        assert_eq!(seconds("2000-02-29T23:59:59-01:30"), "2000-03-01T01:29:59Z");
        assert_eq!(seconds("2001-01-01T5:00:00Z"), "2001-01-01T05:00:00Z");
        assert_eq!(seconds("0000-12-31T23:59:59Z"), "0000-12-31T23:59:59Z");
        assert_eq!(
            canonical("0001-01-01T00:00:00Z", TimeLayout::Seconds),
            Ok(None)
        );
        assert_eq!(
            canonical("2001-01-01T00:00:00.123456+00:00", TimeLayout::Micros),
            Ok(Some("2001-01-01T00:00:00.123456Z".to_owned()))
        );
    }

    #[test]
    fn errors_name_what_is_left_and_what_it_should_be() {
        for (text, layout, error) in [
            (
                "x",
                TimeLayout::Seconds,
                r#"as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006""#,
            ),
            (
                "2001-01-01",
                TimeLayout::Micros,
                r#"as "2006-01-02T15:04:05.000000Z07:00": cannot parse "" as "T""#,
            ),
            (
                "2001-01-01T00:00:01Z",
                TimeLayout::Micros,
                r#"as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000""#,
            ),
            (
                "2001-01-01T00:00:00.123456789Z",
                TimeLayout::Micros,
                r#"as "2006-01-02T15:04:05.000000Z07:00": cannot parse "789Z" as "Z07:00""#,
            ),
        ] {
            let expected = format!("parsing time {text:?} {error}");
            assert_eq!(canonical(text, layout), Err(expected));
        }
        for (text, error) in [
            ("2001-13-01T00:00:00Z", ": month out of range"),
            ("2001-02-29T00:00:00Z", ": day out of range"),
            ("2001-01-01T00:00:00ZZ", ": extra text: \"Z\""),
        ] {
            let expected = format!("parsing time {text:?}{error}");
            assert_eq!(canonical(text, TimeLayout::Seconds), Err(expected));
        }
    }
}

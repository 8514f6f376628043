//! Moments as text (RFC 3339 in UTC) and as seconds since 1970 (`metav1.Time`, `metav1.MicroTime`).

use optimist_encoding::calendar::{date_of_days, days_of_date};

const DAY: i64 = 86_400;

/// The seconds of `time.Time{}`, which stands for no time.
pub(crate) const ZERO: i64 = -62_135_596_800;

/// The last second of the year 9999.
const LAST: i64 = 253_402_300_799;

/// The seconds and nanoseconds of a moment; `None` if the text is not one.
pub(crate) fn parse(text: &str) -> Option<(i64, u32)> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().ok())?
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let rest = text.get(19..)?;
    let zone = rest.find(['Z', '+', '-'])?;
    let (fraction, zone) = rest.split_at(zone);
    let nanos = match fraction.strip_prefix('.') {
        Some(digits) => format!("{digits:0<9}").get(..9)?.parse().ok()?,
        None => 0,
    };
    let offset = match zone.strip_prefix(['+', '-']) {
        Some(ahead) => {
            let (hours, minutes) = ahead.split_once(':')?;
            let ahead = hours.parse::<i64>().ok()? * 3600 + minutes.parse::<i64>().ok()? * 60;
            if zone.starts_with('+') { ahead } else { -ahead }
        }
        None => 0,
    };
    let seconds =
        days_of_date(year, month, day) * DAY + hour * 3600 + minute * 60 + second - offset;
    Some((seconds, nanos))
}

/// A moment as text; `None` if its year has not four digits.
pub(crate) fn written(seconds: i64) -> Option<String> {
    if !(ZERO..=LAST).contains(&seconds) {
        return None;
    }
    let (year, month, day) = date_of_days(seconds.div_euclid(DAY));
    let rest = seconds.rem_euclid(DAY);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"
    ))
}

/// A moment as text, with microseconds.
pub(crate) fn written_with_micros(seconds: i64, nanos: i32) -> Option<String> {
    let micros = i64::from(nanos) / 1000;
    let seconds = seconds.checked_add(micros.div_euclid(1_000_000))?;
    let whole = written(seconds)?;
    let whole = whole.trim_end_matches('Z');
    Some(format!("{whole}.{:06}Z", micros.rem_euclid(1_000_000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_the_same_after_both_ways() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("0001-01-01T00:00:00Z", ZERO),
            ("9999-12-31T23:59:59Z", LAST),
            ("2000-02-29T12:00:01Z", 951_825_601),
            ("1969-12-31T23:59:59Z", -1),
        ] {
            assert_eq!(parse(text), Some((seconds, 0)), "{text}");
            assert_eq!(written(seconds).as_deref(), Some(text));
        }
        assert_eq!(parse("1970-01-01T01:00:00+01:00"), Some((0, 0)));
        assert_eq!(
            parse("2026-11-23T09:51:17.5Z").map(|(_, n)| n),
            Some(500_000_000)
        );
        let micros = written_with_micros(1, 999_999_999);
        assert_eq!(micros.as_deref(), Some("1970-01-01T00:00:01.999999Z"));
        assert_eq!(written(LAST + 1), None);
        assert_eq!(written_with_micros(i64::MAX, i32::MAX), None);
        assert_eq!(parse("no time"), None);
    }
}

//! `resource.Quantity`: numbers with a unit, in the one form in which the server writes them
//! (`k8s.io/apimachinery/pkg/api/resource`).

use std::fmt;

/// The error of a text that does not have the form of a quantity.
const MALFORMED: &str = "quantities must match the regular expression \
     '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const UNKNOWN_SUFFIX: &str = "unable to parse quantity's suffix";

/// Billionths in one: nothing finer is kept.
const ONE: i128 = 1_000_000_000;
/// The largest value with a binary unit, 2^63 - 1.
const MAX_BINARY: i128 = i64::MAX as i128 * ONE;
/// The largest number here; far beyond the use of any unit.
const MOST: i128 = i128::MAX / 16;

const DECIMAL: [(&str, i32); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];
const BINARY: [(&str, u32); 6] = [
    ("Ki", 10),
    ("Mi", 20),
    ("Gi", 30),
    ("Ti", 40),
    ("Pi", 50),
    ("Ei", 60),
];

/// A fixed-point number and how it is written. Compares by value only.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    billionths: i128,
    format: QuantityFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuantityFormat {
    /// `1500m`, `2k`.
    Decimal,
    /// `2e3`.
    Exponent,
    /// `2Ki`.
    Binary,
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.billionths == other.billionths
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.billionths.cmp(&other.billionths)
    }
}

impl Quantity {
    /// Reads a quantity.
    ///
    /// # Errors
    /// The text of Go's error.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        if text.is_empty() {
            return Err(MALFORMED);
        }
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let end = unsigned
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(unsigned.len());
        let (whole, rest) = unsigned.split_at(end);
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => {
                let end = rest
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(rest.len());
                rest.split_at(end)
            }
            None => ("", rest),
        };
        if !is_suffix(suffix) {
            return Err(MALFORMED);
        }
        let (format, unit) = unit(suffix).ok_or(UNKNOWN_SUFFIX)?;
        let digits = format!("{whole}{fraction}");
        let decimals = fraction.len().min(60) as i32;
        let magnitude = match unit {
            Unit::Ten(exponent) => scaled(&digits, exponent - decimals + 9, 1),
            Unit::Two(exponent) => scaled(&digits, 9 - decimals, 1 << exponent).min(MAX_BINARY),
        };
        let billionths = if negative { -magnitude } else { magnitude };
        Ok(Self { billionths, format })
    }

    /// The text that is written for a text that was read: the canonical form, or the text itself
    /// where upstream takes it for canonical (`ParseQuantity` keeps it then).
    ///
    /// # Errors
    /// The text of Go's error.
    pub fn canonical(text: &str) -> Result<String, &'static str> {
        let quantity = Self::parse(text)?;
        let text = text.trim();
        let end = text
            .find(|c: char| !c.is_ascii_digit() && !"+-.".contains(c))
            .unwrap_or(text.len());
        let (number, suffix) = text.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let whole = whole.trim_start_matches(['+', '-']).trim_start_matches('0');
        let whole = if whole.is_empty() { "0" } else { whole };
        let digits = whole.len() + fraction.len();
        let kept = match unit(suffix) {
            Some((_, Unit::Ten(exponent))) => {
                let scale = exponent - fraction.len().min(60) as i32;
                let both = format!("{whole}{fraction}");
                digits <= 18
                    && scale >= -9
                    && scale % 3 == 0
                    && !both.ends_with("000")
                    && !both.starts_with('0')
            }
            Some((_, Unit::Two(exponent))) => {
                let value = whole.parse::<u64>().unwrap_or(0);
                fraction.is_empty() && digits + exponent as usize * 3 / 10 <= 14 && value & 7 != 0
            }
            None => false,
        };
        Ok(if kept {
            text.to_owned()
        } else {
            quantity.to_string()
        })
    }

    /// Returns the quantity rounded up, away from zero, to thousandths, as a list of resources
    /// keeps it.
    #[must_use]
    pub fn rounded_to_thousandths(self) -> Self {
        let step = ONE / 1000;
        let rest = self.billionths % step;
        let billionths = match rest.signum() {
            0 => self.billionths,
            sign => self.billionths - rest + sign * step,
        };
        Self { billionths, ..self }
    }

    /// Returns whether this is nothing.
    pub fn is_zero(self) -> bool {
        self.billionths == 0
    }

    /// Returns whether this is less than nothing.
    pub fn is_negative(self) -> bool {
        self.billionths < 0
    }

    /// Returns whether this has no fraction.
    pub fn is_whole(self) -> bool {
        self.billionths % ONE == 0
    }
}

impl Quantity {
    /// The sum of two, written as the first one that is not nothing.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let billionths = self.billionths.saturating_add(other.billionths);
        let written = if self.is_zero() { other } else { self };
        Self {
            billionths,
            ..written
        }
    }

    /// The difference of two, written as the first one.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        let billionths = self.billionths.saturating_sub(other.billionths);
        Self { billionths, ..self }
    }

    /// The value, if it is a whole number that a signed number of 64 bits can be.
    pub fn whole(self) -> Option<i64> {
        i64::try_from(self.billionths / ONE)
            .ok()
            .filter(|_| self.is_whole())
    }

    /// The value, rounded away from zero (Go's `Value`).
    pub fn rounded_up(self) -> i64 {
        let whole = self.billionths / ONE + (self.billionths % ONE).signum();
        i64::try_from(whole).unwrap_or(if whole < 0 { i64::MIN } else { i64::MAX })
    }

    /// The value in thousandths, rounded away from zero (Go's `MilliValue`).
    pub fn thousandths(self) -> i64 {
        const THOUSANDTH: i128 = ONE / 1000;
        let whole = self.billionths / THOUSANDTH + (self.billionths % THOUSANDTH).signum();
        i64::try_from(whole).unwrap_or(if whole < 0 { i64::MIN } else { i64::MAX })
    }

    /// The value, about.
    pub fn approximately(self) -> f64 {
        self.billionths as f64 / ONE as f64
    }
}

impl From<i64> for Quantity {
    fn from(whole: i64) -> Self {
        Self {
            billionths: i128::from(whole) * ONE,
            format: QuantityFormat::Decimal,
        }
    }
}

/// The value of a decoded quantity; `None` if the text is not a quantity.
impl From<&serde_json::Value> for Quantity {
    fn from(value: &serde_json::Value) -> Self {
        let parsed = value.as_str().and_then(|text| Self::parse(text).ok());
        parsed.unwrap_or(Self {
            billionths: 0,
            format: QuantityFormat::Decimal,
        })
    }
}

enum Unit {
    Ten(i32),
    Two(u32),
}

/// Letters, then perhaps a sign, then digits.
fn is_suffix(suffix: &str) -> bool {
    let rest = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let rest = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    rest.bytes().all(|c| c.is_ascii_digit())
}

fn unit(suffix: &str) -> Option<(QuantityFormat, Unit)> {
    if let Some((_, exponent)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
        return Some((QuantityFormat::Decimal, Unit::Ten(*exponent)));
    }
    if let Some((_, exponent)) = BINARY.iter().find(|(name, _)| *name == suffix) {
        return Some((QuantityFormat::Binary, Unit::Two(*exponent)));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?.parse::<i32>().ok()?;
    Some((
        QuantityFormat::Exponent,
        Unit::Ten(exponent.clamp(-100, 100)),
    ))
}

/// Digits times a power of ten times a factor, rounded up; about [`MOST`] at most.
fn scaled(digits: &str, exponent: i32, factor: i128) -> i128 {
    let digits = digits.trim_start_matches('0');
    // More digits than this are either beyond the largest value or below the finest one.
    let (kept, cut) = digits.split_at(digits.len().min(28));
    let mut value: i128 = kept.parse().unwrap_or(0);
    let mut inexact = cut.bytes().any(|digit| digit != b'0');
    let exponent = exponent.saturating_add(cut.len() as i32);
    let (now, later) = (factor.min(1 << 30), factor / factor.min(1 << 30));
    value = value.saturating_mul(now).min(MOST);
    for _ in 0..exponent.max(0) {
        value = value.saturating_mul(10).min(MOST);
    }
    for _ in 0..(-exponent).max(0) {
        inexact |= value % 10 != 0;
        value /= 10;
    }
    value.saturating_mul(later).min(MOST) + i128::from(inexact)
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let small = self.billionths.abs() < 1024 * ONE;
        match self.format {
            QuantityFormat::Binary if !small && self.is_whole() => {
                let mut number = self.billionths / ONE;
                let mut unit = "";
                for (name, _) in BINARY {
                    if number % 1024 != 0 {
                        break;
                    }
                    number /= 1024;
                    unit = name;
                }
                write!(f, "{number}{unit}")
            }
            format => {
                let (mut number, mut exponent) = (self.billionths, -9);
                if number == 0 {
                    return f.write_str("0");
                }
                while number % 1000 == 0 && exponent < 18 {
                    number /= 1000;
                    exponent += 3;
                }
                match format {
                    QuantityFormat::Exponent if exponent == 0 => write!(f, "{number}"),
                    QuantityFormat::Exponent => write!(f, "{number}e{exponent}"),
                    _ => {
                        let unit = DECIMAL.iter().find(|(_, e)| *e == exponent);
                        write!(f, "{number}{}", unit.map_or("", |(name, _)| name))
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        Quantity::canonical(text).unwrap_or_else(str::to_owned)
    }

    #[test]
    fn the_largest_unit_without_a_fraction_is_written() {
        for (text, written) in [
            ("0.5", "500m"),
            ("1000m", "1"),
            ("1Gi", "1Gi"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("512", "512"),
            ("0.5Ki", "512"),
            ("2048Ki", "2Mi"),
            ("1e3", "1e3"),
            ("12E2", "1200"),
            ("100k", "100k"),
            ("1000k", "1M"),
            ("0", "0"),
            ("-0.1", "-100m"),
            (".5", "500m"),
            (".", "0"),
            ("k", "0"),
            ("0.1n", "1n"),
            ("1.0000000001", "1000000001n"),
            ("0.3Ki", "307200m"),
            ("9999999999999999999", "9999999999999999999"),
            ("100Ei", "9223372036854775807"),
        ] {
            assert_eq!(canonical(text), written, "{text}");
        }
    }

    #[test]
    fn what_upstream_takes_for_canonical_stays_as_it_was_written() {
        for text in ["+1", "5.", "1.500", "1500m", "12Ki", "1e3"] {
            assert_eq!(canonical(text), text);
        }
    }

    #[test]
    fn what_is_no_quantity_is_told_in_the_words_of_go() {
        for text in ["", "abc", "1 Gi", "1GiB", "1Gi1x"] {
            assert_eq!(canonical(text), MALFORMED, "{text}");
        }
        for text in ["1Kii", "1e", "1K", "--1"] {
            assert_eq!(canonical(text), UNKNOWN_SUFFIX, "{text}");
        }
    }

    #[test]
    fn quantities_compare_by_value() {
        let parse = |text| Quantity::parse(text).unwrap();
        assert_eq!(parse("1"), parse("1000m"));
        assert!(parse("1Gi") > parse("1G"));
        assert_eq!(parse("1500u").rounded_to_thousandths(), parse("2m"));
    }
}

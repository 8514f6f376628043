//! Formats of strings (`k8s.io/kube-openapi/pkg/validation/strfmt`). Formats that are not known
//! here are not known to the server either, and check nothing.

use std::net::{Ipv4Addr, Ipv6Addr};

use optimist_encoding::go::parse_duration;
use optimist_encoding::go::time::{TimeLayout, canonical};

/// Returns whether a text has a format; `None` if the format is unknown. Dashes in names do not count.
pub fn matches(format: &str, text: &str) -> Option<bool> {
    Some(match format.replace('-', "").as_str() {
        "password" => true,
        "byte" => is_base64(text),
        "date" => is_date(text),
        "datetime" => is_date_time(text),
        "duration" => duration(text).is_some(),
        "uuid" => is_uuid(text, None),
        "uuid3" => is_uuid(text, Some(b'3')),
        "uuid4" => is_uuid(text, Some(b'4')),
        "uuid5" => is_uuid(text, Some(b'5')),
        "ipv4" => ipv4(text).is_some(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr(text),
        "mac" => is_mac(text),
        "hexcolor" => {
            let digits = text.strip_prefix('#').unwrap_or(text);
            matches!(digits.len(), 3 | 6) && digits.bytes().all(|c| c.is_ascii_hexdigit())
        }
        "rgbcolor" => is_rgb(text),
        "ssn" => is_ssn(text),
        "isbn" => is_isbn10(text) || is_isbn13(text),
        "isbn10" => is_isbn10(text),
        "isbn13" => is_isbn13(text),
        "creditcard" => is_credit_card(text),
        "bsonobjectid" => text.len() == 24 && text.bytes().all(|c| c.is_ascii_hexdigit()),
        "email" => is_email(text),
        "hostname" => is_hostname(text),
        "uri" => is_request_uri(text),
        "k8sshortname" => text.len() <= 63 && is_short_name(text),
        "k8slongname" => text.len() <= 253 && text.split('.').all(is_short_name),
        _ => return None,
    })
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    let alphabet = |c: u8| c.is_ascii_alphanumeric() || c == b'+' || c == b'/';
    !text.is_empty() && text.len().is_multiple_of(4) && padding <= 2 && body.bytes().all(alphabet)
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && canonical(&format!("{text}T00:00:00Z"), TimeLayout::Seconds).is_ok()
}

/// Returns whether a text is a time as in RFC 3339, but any character may come before the fraction,
/// and second 60 is not allowed.
fn is_date_time(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else {
        return false;
    };
    let digits = |text: Option<&str>| {
        text.filter(|t| t.len() == 2 && t.bytes().all(|c| c.is_ascii_digit()))
            .map(str::to_owned)
    };
    let separated = time.get(2..3) == Some(":") && time.get(5..6) == Some(":");
    let (hour, minute, second) = (
        digits(time.get(..2)),
        digits(time.get(3..5)),
        digits(time.get(6..8)),
    );
    let (Some(hour), Some(minute), Some(second)) = (hour, minute, second) else {
        return false;
    };
    let Some(rest) = time.get(8..) else {
        return false;
    };
    let zone = |zone: &str| {
        zone == "z"
            || zone.len() == 6
                && zone.starts_with(['+', '-'])
                && digits(zone.get(1..3)).is_some()
                && zone.get(3..4) == Some(":")
                && digits(zone.get(4..6)).is_some()
    };
    let with_fraction = || {
        let mut rest = rest.chars();
        let separator = rest.next();
        let fraction = rest.as_str();
        let zone_text = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        separator.is_some() && zone_text.len() < fraction.len() && zone(zone_text)
    };
    is_date(date)
        && separated
        && (zone(rest) || with_fraction())
        && hour.as_str() <= "23"
        && minute.as_str() <= "59"
        && second.as_str() <= "59"
}

/// A duration as Go writes it, or with a unit by name anywhere, such as `2 days`, in nanoseconds
/// (`k8s.io/kube-openapi/pkg/validation/strfmt/duration.go ParseDuration`).
pub fn duration(text: &str) -> Option<i64> {
    // The last name of a unit is a prefix (`days`, `seconds`); the other names are exact.
    const UNITS: [(&[&str], i64); 8] = [
        (&["ns", "nano"], 1),
        (&["us", "µs", "micro"], 1_000),
        (&["ms", "milli"], 1_000_000),
        (&["s", "sec"], 1_000_000_000),
        (&["m", "min"], 60_000_000_000),
        (&["h", "hr", "hour"], 3_600_000_000_000),
        (&["d", "day"], 86_400_000_000_000),
        (&["w", "wk", "week"], 604_800_000_000_000),
    ];
    if let Ok(nanos) = parse_duration(text) {
        return Some(nanos);
    }
    let mut total = None;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let after = rest[start..].trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &rest[start..rest.len() - after.len()];
        let unit = after.trim_start();
        let end = unit.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == 'µ');
        let name = unit[..unit.len() - end.len()].to_ascii_lowercase();
        rest = end;
        if name.is_empty() {
            continue;
        }
        let count: i64 = digits.parse().ok()?;
        let known = UNITS.iter().find(|(names, _)| {
            names.contains(&name.as_str())
                || names.last().is_some_and(|last| name.starts_with(last))
        });
        if let Some((_, scale)) = known {
            let sum = total.unwrap_or(0_i64);
            total = Some(sum.wrapping_add(count.wrapping_mul(*scale)));
        }
    }
    total
}

fn is_uuid(text: &str, version: Option<u8>) -> bool {
    let mut digits = Vec::with_capacity(32);
    for c in text.bytes() {
        if c == b'-' {
            if !matches!(digits.len(), 8 | 12 | 16 | 20) || digits.last() == Some(&b'-') {
                return false;
            }
        } else if c.is_ascii_hexdigit() {
            digits.push(c.to_ascii_lowercase());
        } else {
            return false;
        }
    }
    let variant = |c: &u8| version.is_none_or(|v| v == b'3' || b"89ab".contains(c));
    !text.contains("--")
        && digits.len() == 32
        && version.is_none_or(|version| digits[12] == version)
        && variant(&digits[16])
}

/// Leading zeros are tolerated.
fn ipv4(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = text.split('.').collect();
    let [a, b, c, d] = parts.as_slice() else {
        return None;
    };
    let byte = |part: &str| {
        let digits = !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
        digits.then(|| part.parse::<u8>().ok()).flatten()
    };
    Some(Ipv4Addr::new(byte(a)?, byte(b)?, byte(c)?, byte(d)?))
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let most = if ipv4(address).is_some() {
        32
    } else if address.parse::<Ipv6Addr>().is_ok() {
        128
    } else {
        return false;
    };
    let digits = length.len() <= 3 && length.bytes().all(|c| c.is_ascii_digit());
    digits && length.parse::<u32>().is_ok_and(|length| length <= most)
}

fn is_mac(text: &str) -> bool {
    let hex =
        |part: &str, length| part.len() == length && part.bytes().all(|c| c.is_ascii_hexdigit());
    [":", "-"].iter().any(|separator| {
        let parts: Vec<&str> = text.split(separator).collect();
        matches!(parts.len(), 6 | 8 | 20) && parts.iter().all(|part| hex(part, 2))
    }) || {
        let parts: Vec<&str> = text.split('.').collect();
        matches!(parts.len(), 3 | 4 | 10) && parts.iter().all(|part| hex(part, 4))
    }
}

fn is_rgb(text: &str) -> bool {
    let inner = text.strip_prefix("rgb(").and_then(|t| t.strip_suffix(')'));
    let Some(inner) = inner else { return false };
    let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
    let level = |part: &&str| {
        let canonical = *part == "0" || !part.starts_with('0');
        canonical && part.bytes().all(|c| c.is_ascii_digit()) && part.parse::<u8>().is_ok()
    };
    parts.len() == 3 && parts.iter().all(level)
}

fn is_ssn(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 11
        && bytes.iter().enumerate().all(|(i, c)| match i {
            3 | 6 => b"- ".contains(c),
            _ => c.is_ascii_digit(),
        })
}

fn compact(text: &str) -> Vec<u8> {
    text.bytes()
        .filter(|c| !c.is_ascii_whitespace() && *c != b'-')
        .collect()
}

fn is_isbn10(text: &str) -> bool {
    let digits = compact(text);
    let [first @ .., last] = digits.as_slice() else {
        return false;
    };
    if first.len() != 9 || !first.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let check = match last {
        b'X' => 10,
        c if c.is_ascii_digit() => u32::from(c - b'0'),
        _ => return false,
    };
    let sum: u32 = (1..).zip(first).map(|(i, c)| i * u32::from(c - b'0')).sum();
    (sum + 10 * check).is_multiple_of(11)
}

fn is_isbn13(text: &str) -> bool {
    let digits = compact(text);
    let weighted = [1, 3].iter().cycle().zip(&digits);
    digits.len() == 13
        && digits.iter().all(u8::is_ascii_digit)
        && weighted.map(|(w, c)| w * u32::from(c - b'0')).sum::<u32>() % 10 == 0
}

fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(10)).collect();
    let lead = |n: usize| {
        digits
            .iter()
            .take(n)
            .fold(0, |lead, digit| lead * 10 + digit)
    };
    let issued = match digits.len() {
        13 => lead(1) == 4,
        14 => matches!(lead(2), 36 | 38) || matches!(lead(3), 300..=305),
        15 => matches!(lead(2), 34 | 37) || matches!(lead(4), 2131 | 1800),
        16 => lead(1) == 4 || matches!(lead(2), 51..=55 | 65 | 35) || lead(4) == 6011,
        _ => false,
    };
    let luhn = digits.iter().rev().enumerate().map(|(i, digit)| {
        let doubled = digit * 2;
        match i % 2 {
            0 => *digit,
            _ => doubled / 10 + doubled % 10,
        }
    });
    issued && luhn.sum::<u32>() % 10 == 0
}

/// The address alone or behind a name; comments and quoted local parts are not understood.
fn is_email(text: &str) -> bool {
    let text = text.trim();
    let address = match text.strip_suffix('>') {
        Some(named) => named.rsplit_once('<').map_or("", |(_, address)| address),
        None => text,
    };
    let atoms = |part: &str| {
        let allowed = |c: char| {
            c.is_ascii_alphanumeric() || !c.is_ascii() || "!#$%&'*+-/=?^_`{|}~".contains(c)
        };
        part.split('.')
            .all(|atom| !atom.is_empty() && atom.chars().all(allowed))
    };
    address
        .rsplit_once('@')
        .is_some_and(|(local, domain)| atoms(local) && atoms(domain))
}

fn is_hostname(text: &str) -> bool {
    let labels: Vec<&str> = text.split('.').collect();
    let word = |c: char| c.is_ascii_alphanumeric() || (!c.is_ascii() && !c.is_whitespace());
    let label = |label: &&str| {
        label.len() <= 63
            && label.starts_with(word)
            && label.ends_with(word)
            && label.chars().all(|c| word(c) || c == '-')
    };
    let letters = |c: char| c.is_ascii_alphabetic() || c.is_alphabetic();
    let top = labels.last().copied().unwrap_or_default();
    let single = labels.len() == 1 && !text.contains("--");
    let qualified = labels.len() > 1 && top.chars().count() >= 2 && top.chars().all(letters);
    text.len() <= 255 && labels.iter().all(label) && (single || qualified)
}

/// An absolute URI or an absolute path.
fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|c| c < 0x20 || c == 0x7f) {
        return false;
    }
    let bad_escape = text.match_indices('%').any(|(i, _)| {
        let escape = text.get(i + 1..i + 3);
        !escape.is_some_and(|escape| escape.bytes().all(|c| c.is_ascii_hexdigit()))
    });
    if bad_escape {
        return false;
    }
    if text.starts_with('/') || text == "*" {
        return true;
    }
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let host = rest.strip_prefix("//").map(|rest| {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        &rest[..end]
    });
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(allowed)
        && host.is_none_or(|host| !host.contains([' ', '<', '>', '"', '\\', '^', '`']))
}

fn is_short_name(text: &str) -> bool {
    let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    !text.is_empty() && !text.starts_with('-') && !text.ends_with('-') && text.bytes().all(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_their_formats() {
        for (format, good, bad) in [
            (
                "date-time",
                "2024-01-31T10:00:00.5Z",
                "2024-01-31 10:00:00Z",
            ),
            (
                "date-time",
                "2024-01-31t10:00:00+02:00",
                "2024-01-31T24:00:00Z",
            ),
            ("date", "2024-02-29", "2023-02-29"),
            ("date", "1969-12-31", "1969-13-31"),
            ("duration", "1h30m", "1 hop"),
            ("duration", "2 days", "days"),
            ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"),
            (
                "uuid4",
                "123e4567e89b42d3a456426614174000",
                "123e4567e89b12d3a456426614174000",
            ),
            ("ipv4", "10.0.010.1", "10.0.0.256"),
            ("ipv6", "::1", "10.0.0.1"),
            ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
            ("mac", "01:23:45:67:89:ab", "01:23:45:67:89"),
            ("byte", "YWI=", "YWI"),
            ("hexcolor", "#fff", "#ffff"),
            ("rgbcolor", "rgb(0, 10, 255)", "rgb(0, 10, 256)"),
            ("isbn10", "0321751043", "0321751044"),
            ("isbn13", "978-0321751041", "978-0321751042"),
            ("creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"),
            ("email", "A <a@b.example>", "a@"),
            ("hostname", "a-b.example.com", "a_b.example.com"),
            ("uri", "https://a.example/x?y", "a.example"),
            ("k8s-short-name", "a-1", "A"),
            ("k8s-long-name", "a.b", "a..b"),
        ] {
            assert_eq!(matches(format, good), Some(true), "{format} {good}");
            assert_eq!(matches(format, bad), Some(false), "{format} {bad}");
        }
        assert_eq!(matches("bogus", "x"), None);
    }
}

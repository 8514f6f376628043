//! IP addresses and ranges in fields that are older than the strict rules for them
//! (`k8s.io/apimachinery/pkg/util/validation/ip.go`, with `StrictIPCIDRValidation`, on since v1.36).

use std::net::IpAddr;

use serde_json::Value;

use crate::field::ErrorPath;
use crate::go;
use crate::go::netip::{bit_len, is_4in6, is_link_local_multicast, is_link_local_unicast, masked};
use crate::status::FieldError;

/// An address as old clients wrote it: zeros may lead a number (`ParseIPSloppy`).
pub(super) fn sloppy(text: &str) -> Option<IpAddr> {
    without_leading_zeros(text).parse().ok()
}

/// Returns whether Go reads a text as a range, strict or not.
pub(super) fn is_range(text: &str) -> bool {
    sloppy_range(text).is_some()
}

/// The address of a range, and how many of its bits are those of the range (`ParseCIDRSloppy`).
fn sloppy_range(text: &str) -> Option<(IpAddr, u8)> {
    let (ip, bits) = text.split_once('/')?;
    let ip = sloppy(ip)?;
    if bits.is_empty() || !bits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let bits = without_leading_zeros(bits).parse().ok()?;
    (bits <= bit_len(ip)).then_some((ip, bits))
}

fn without_leading_zeros(text: &str) -> String {
    let mut fine = String::with_capacity(text.len());
    for part in text.split_inclusive(['.', ':']) {
        let zeros = part.len() - part.trim_start_matches('0').len();
        let follows = part[zeros..].starts_with(|c: char| c.is_ascii_hexdigit());
        // The last zero is a number, unless digits follow.
        let dropped = if follows {
            zeros
        } else {
            zeros.saturating_sub(1)
        };
        fine.push_str(&part[dropped..]);
    }
    fine
}

/// The text that Go gives an address, which is an IPv4 one where it is mapped to IPv6.
fn canonical(ip: IpAddr) -> IpAddr {
    ip.to_canonical()
}

/// The text that Go gives a range (`net.IPNet.String`).
fn range_text(ip: IpAddr, bits: u8) -> String {
    format!("{}/{bits}", canonical(masked(ip, bits)))
}

/// Checks an address; one that the stored object has is accepted as it is
/// (`IsValidIPForLegacyField`).
pub(super) fn check(ip: &Value, field: &ErrorPath<'_>, old: &[Value]) -> Option<FieldError> {
    if old.contains(ip) {
        return None;
    }
    let text = ip.as_str().unwrap_or_default();
    let detail = if sloppy(text).is_none() {
        "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
    } else {
        match text.parse::<IpAddr>() {
            Err(_) => "must not have leading 0s",
            Ok(ip) if is_4in6(ip) => "must not be an IPv4-mapped IPv6 address",
            Ok(_) => return None,
        }
    };
    Some(FieldError::invalid(field, ip, detail))
}

/// Checks a range; one that the stored object has is accepted as it is
/// (`IsValidCIDRForLegacyField`).
pub(super) fn check_range(range: &str, field: &ErrorPath<'_>, old: &[&str]) -> Option<FieldError> {
    if old.contains(&range) {
        return None;
    }
    let detail = match sloppy_range(range) {
        None => "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
        Some(_) if !is_strict_range(range) => "must not have leading 0s in IP or prefix length",
        Some((ip, _)) if is_4in6(ip) => "must not have an IPv4-mapped IPv6 address",
        Some((ip, bits)) if masked(ip, bits) != ip => {
            "must not have bits set beyond the prefix length"
        }
        Some(_) => return None,
    };
    Some(FieldError::invalid(field, &range.into(), detail))
}

/// Checks a range that is written in its only form (`IsValidCIDR` of apimachinery).
pub(super) fn check_exact_range(range: &str, field: &ErrorPath<'_>) -> Option<FieldError> {
    check_range(range, field, &[]).or_else(|| {
        let (ip, bits) = sloppy_range(range)?;
        let exact = range_text(ip, bits);
        let detail = format!("must be in canonical form ({})", go::quote(&exact));
        (range != exact).then(|| FieldError::invalid(field, &range.into(), detail))
    })
}

/// Checks an address with the length of its network, which is written in its only form
/// (`IsValidInterfaceAddress`).
pub(super) fn check_interface_address(address: &str, field: &ErrorPath<'_>) -> Option<FieldError> {
    let detail = match sloppy_range(address) {
        None => "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)".into(),
        Some((ip, bits)) => {
            let bits = if is_4in6(ip) {
                bits.saturating_sub(96)
            } else {
                bits
            };
            let exact = format!("{}/{bits}", canonical(ip));
            if exact == address {
                return None;
            }
            format!("must be in canonical form ({})", go::quote(&exact))
        }
    };
    Some(FieldError::invalid(field, &address.into(), detail))
}

/// Returns whether a range is one of IPv6; `None` if it is no range.
pub(super) fn is_ipv6_range(range: &str) -> Option<bool> {
    sloppy_range(range).map(|(ip, _)| ip.is_ipv6())
}

/// The name of an IPAddress: an address in its only form (`ValidateIPAddressName`).
pub(super) fn exact(name: &str) -> Vec<String> {
    let field = ErrorPath::ROOT;
    if let Some(error) = check(&name.into(), &field, &[]) {
        return vec![error.detail];
    }
    let exact = sloppy(name).map(|ip| canonical(ip).to_string());
    let exact = exact.filter(|exact| exact != name);
    let detail = |exact: String| format!("must be in canonical form ({})", go::quote(&exact));
    exact.map(detail).into_iter().collect()
}

/// Returns whether no number of a range begins with a zero that it does not need.
fn is_strict_range(range: &str) -> bool {
    range.split_once('/').is_some_and(|(ip, bits)| {
        ip.parse::<IpAddr>().is_ok() && (bits == "0" || !bits.starts_with('0'))
    })
}

/// Returns whether a range is a part of another one, and smaller.
pub(super) fn is_strict_subset(range: &str, of: &str) -> bool {
    match (sloppy_range(range), sloppy_range(of)) {
        (Some((ip, bits)), Some((outer, outer_bits))) => {
            bit_len(ip) == bit_len(outer)
                && bits > outer_bits
                && masked(ip, outer_bits) == masked(outer, outer_bits)
        }
        _ => false,
    }
}

/// An address that a packet can be sent to from elsewhere (`ValidateEndpointIP`).
pub(super) fn check_not_special(ip: &Value, field: &ErrorPath<'_>) -> Vec<FieldError> {
    let text = ip.as_str().unwrap_or_default();
    let Some(address) = sloppy(text).map(canonical) else {
        return Vec::new();
    };
    let mut details = Vec::new();
    if address.is_unspecified() {
        details.push(format!("may not be unspecified ({text})"));
    }
    let ranges = [
        (address.is_loopback(), "loopback", "127.0.0.0/8, ::1/128"),
        (
            is_link_local_unicast(address),
            "link-local",
            "169.254.0.0/16, fe80::/10",
        ),
        (
            is_link_local_multicast(address),
            "link-local multicast",
            "224.0.0.0/24, ff02::/10",
        ),
    ];
    for (is, name, range) in ranges {
        if is {
            details.push(format!("may not be in the {name} range ({range})"));
        }
    }
    let errors = details.into_iter();
    errors
        .map(|detail| FieldError::invalid(field, ip, detail))
        .collect()
}

/// The warnings for an accepted address (`GetWarningsForIP`).
pub(super) fn warning(text: &str, field: &ErrorPath<'_>) -> Option<String> {
    let ip = sloppy(text)?;
    let quoted = go::quote(text);
    match text.parse::<IpAddr>() {
        Ok(strict) if !is_4in6(strict) => {
            let plain = strict.to_string();
            (strict.is_ipv6() && plain != text).then(|| {
                let plain = go::quote(&plain);
                format!(
                    "{field}: IPv6 address {quoted} should be in RFC 5952 canonical format ({plain})"
                )
            })
        }
        _ => {
            let plain = go::quote(&canonical(ip).to_string());
            Some(format!(
                "{field}: non-standard IP address {quoted} is invalid: use {plain}"
            ))
        }
    }
}

/// The warnings for an accepted range (`GetWarningsForCIDR`).
pub(super) fn range_warnings(text: &str, field: &ErrorPath<'_>) -> Vec<String> {
    let Some((ip, bits)) = sloppy_range(text) else {
        return Vec::new();
    };
    let quoted = go::quote(text);
    let range = go::quote(&range_text(ip, bits));
    let mut warnings = Vec::new();
    if masked(ip, bits) != ip {
        let single = go::quote(&format!("{}/{}", canonical(ip), bit_len(ip)));
        warnings.push(format!(
            "{field}: CIDR value {quoted} is ambiguous in this context (should be {range} or {single}?)"
        ));
    }
    if !is_strict_range(text) || is_4in6(ip) {
        warnings.push(format!(
            "{field}: non-standard CIDR value {quoted} is invalid: use {range}"
        ));
    }
    let plain = format!("{ip}/{bits}");
    if warnings.is_empty() && ip.is_ipv6() && plain != text {
        let plain = go::quote(&plain);
        warnings.push(format!(
            "{field}: IPv6 CIDR value {quoted} should be in RFC 5952 canonical format ({plain})"
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(ip: &str) -> String {
        check(&ip.into(), &ErrorPath::new("ip"), &[])
            .map_or(String::new(), |error| error.to_string())
    }

    #[test]
    fn an_address_means_the_same_to_every_reader() {
        assert_eq!(said("10.0.0.1"), "");
        assert_eq!(said("FE80:0::1"), "");
        assert!(said("010.0.0.1").ends_with("must not have leading 0s"));
        assert!(said("::ffff:1.2.3.4").ends_with("must not be an IPv4-mapped IPv6 address"));
        assert!(said("1.2.3").contains("must be a valid IP address"));
        assert!(said("").contains("must be a valid IP address"));
        let stored = [Value::from("010.0.0.1")];
        assert_eq!(check(&stored[0], &ErrorPath::new("ip"), &stored), None);
    }

    #[test]
    fn a_range_has_no_bits_beyond_its_prefix() {
        let said = |range| {
            check_range(range, &ErrorPath::new("range"), &[]).map(|error| error.to_string())
        };
        assert_eq!(said("10.0.0.0/8"), None);
        assert_eq!(said("0.0.0.0/0"), None);
        assert_eq!(said("2001:db8::/32"), None);
        let ends = |range, end: &str| said(range).is_some_and(|text| text.ends_with(end));
        assert!(ends(
            "10.0.0.1/8",
            "must not have bits set beyond the prefix length"
        ));
        assert!(ends(
            "10.0.0.0/08",
            "must not have leading 0s in IP or prefix length"
        ));
        assert!(ends("10.0.0.0/33", "2001:db8::/64)"));
        assert!(ends("10.0.0.0/+8", "2001:db8::/64)"));
        assert_eq!(
            check_range("10.0.0.1/8", &ErrorPath::new("range"), &["10.0.0.1/8"]),
            None
        );
    }

    #[test]
    fn what_is_written_unusually_is_warned_of() {
        assert_eq!(warning("10.0.0.1", &ErrorPath::new("ip")), None);
        assert_eq!(
            warning("010.0.0.1", &ErrorPath::new("ip")).as_deref(),
            Some("ip: non-standard IP address \"010.0.0.1\" is invalid: use \"10.0.0.1\"")
        );
        assert_eq!(
            warning("FE80:0::1", &ErrorPath::new("ip")).as_deref(),
            Some(
                "ip: IPv6 address \"FE80:0::1\" should be in RFC 5952 canonical format (\"fe80::1\")"
            )
        );
        assert_eq!(
            range_warnings("10.0.0.1/8", &ErrorPath::new("range")),
            [
                "range: CIDR value \"10.0.0.1/8\" is ambiguous in this context \
                 (should be \"10.0.0.0/8\" or \"10.0.0.1/32\"?)"
            ]
        );
    }

    #[test]
    fn only_what_can_be_reached_is_an_endpoint() {
        let said = |ip: &str| check_not_special(&ip.into(), &ErrorPath::new("ip")).len();
        for special in [
            "0.0.0.0",
            "127.0.0.1",
            "::1",
            "169.254.1.1",
            "fe80::1",
            "224.0.0.9",
        ] {
            assert_eq!(said(special), 1, "{special}");
        }
        assert_eq!(said("1.2.3.4"), 0);
    }
}

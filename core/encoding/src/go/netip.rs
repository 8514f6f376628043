//! Go's messages about addresses and ranges (`net/netip`, Go 1.26).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The number of bits of an address (`netip.Addr.BitLen`).
pub fn bit_len(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

/// Returns whether an IPv6 address stands for an IPv4 one (`netip.Addr.Is4In6`).
pub fn is_4in6(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some())
}

/// The first address of the range with the first `bits` bits of `ip` (`netip.Prefix.Masked`).
/// More bits than the address has are taken as all of them.
pub fn masked(ip: IpAddr, bits: u8) -> IpAddr {
    let hidden = u32::from(bit_len(ip).saturating_sub(bits));
    match ip {
        IpAddr::V4(ip) => {
            let mask = u32::MAX.checked_shl(hidden).unwrap_or(0);
            Ipv4Addr::from_bits(ip.to_bits() & mask).into()
        }
        IpAddr::V6(ip) => {
            let mask = u128::MAX.checked_shl(hidden).unwrap_or(0);
            Ipv6Addr::from_bits(ip.to_bits() & mask).into()
        }
    }
}

/// Returns whether an address is in 169.254.0.0/16 or fe80::/10 (`netip.Addr.IsLinkLocalUnicast`).
pub fn is_link_local_unicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    }
}

/// Returns whether an address is in 224.0.0.0/24, or a multicast address of IPv6 with the scope of the
/// link (`netip.Addr.IsLinkLocalMulticast`).
pub fn is_link_local_multicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.octets()[..3] == [224, 0, 0],
        IpAddr::V6(ip) => ip.segments()[0] & 0xff0f == 0xff02,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_mask_keeps_the_first_bits() {
        for (address, bits, first) in [
            ("10.1.2.3", 0, "0.0.0.0"),
            ("10.1.2.3", 9, "10.0.0.0"),
            ("10.129.2.3", 9, "10.128.0.0"),
            ("10.1.2.3", 32, "10.1.2.3"),
            ("2001:db8::ffff", 0, "::"),
            ("2001:db8::ffff", 32, "2001:db8::"),
            ("2001:db8::ffff", 127, "2001:db8::fffe"),
            ("2001:db8::ffff", 128, "2001:db8::ffff"),
        ] {
            assert_eq!(masked(ip(address), bits), ip(first), "{address}/{bits}");
        }
    }

    #[test]
    fn the_special_ranges_end_where_go_ends_them() {
        let unicast = |text| is_link_local_unicast(ip(text));
        assert!(unicast("169.254.0.0") && unicast("169.254.255.255"));
        assert!(!unicast("169.253.255.255") && !unicast("169.255.0.0"));
        assert!(unicast("fe80::1") && unicast("febf::1"));
        assert!(!unicast("fec0::1") && !unicast("fe7f::1"));
        let multicast = |text| is_link_local_multicast(ip(text));
        assert!(multicast("224.0.0.255") && !multicast("224.0.1.0"));
        // The four bits before the scope are flags.
        assert!(multicast("ff02::1") && multicast("fff2::1"));
        assert!(!multicast("ff01::1") && !multicast("ff05::1"));
        assert!(is_4in6(ip("::ffff:1.2.3.4")));
        assert!(!is_4in6(ip("::1.2.3.4")) && !is_4in6(ip("1.2.3.4")));
    }
}

//! URLs, addresses and ranges (`k8s.io/apiserver/pkg/cel/library/urls.go`, `ip.go`, `cidr.go`,
//! v1.36).

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;

use super::super::evaluate::{Evaluated, EvaluationError, Machine};
use super::super::value::{MapKey, Val};
use optimist_encoding::go;
use optimist_encoding::go::netip::{
    bit_len, is_4in6, is_link_local_multicast, is_link_local_unicast, masked,
};
use optimist_values::formats;

/// The parts of a URL (`net/url.URL`).
#[derive(Debug)]
pub(crate) struct Url {
    pub(crate) text: String,
    scheme: String,
    host: String,
    path: String,
    query: String,
}

pub(super) fn apply(_: &Machine, function: &str, args: &[Val]) -> Option<Evaluated> {
    Some(match (function, args) {
        ("url", [Val::Text(text)]) => match Url::parse(text) {
            Some(url) => Ok(Val::Url(Rc::new(url))),
            None => Err(EvaluationError::new(format!(
                "URL parse error during conversion from string: parse {}: invalid URI for request",
                go::quote(text)
            ))),
        },
        ("isURL", [Val::Text(text)]) => Ok(Val::Bool(Url::parse(text).is_some())),
        ("getQuery", [Val::Url(url)]) => Ok(url.parameters()),
        (_, [Val::Url(url)]) => Ok(Val::text(url.part(function)?)),
        ("ip", [Val::Text(text)]) => address(text).map(Val::Ip),
        ("isIP", [Val::Text(text)]) => Ok(Val::Bool(address(text).is_ok())),
        ("ip.isCanonical", [Val::Text(text)]) => {
            address(text).map(|ip| Val::Bool(ip.to_string() == **text))
        }
        ("cidr", [Val::Text(text)]) => range(text).map(|(ip, bits)| Val::Cidr(ip, bits)),
        ("isCIDR", [Val::Text(text)]) => Ok(Val::Bool(range(text).is_ok())),
        (_, [Val::Ip(ip)]) => Ok(of_address(function, *ip)?),
        ("ip", [Val::Cidr(ip, _)]) => Ok(Val::Ip(*ip)),
        ("prefixLength", [Val::Cidr(_, bits)]) => Ok(Val::Int(i64::from(*bits))),
        ("masked", [Val::Cidr(ip, bits)]) => Ok(Val::Cidr(masked(*ip, *bits), *bits)),
        ("containsIP", [Val::Cidr(ip, bits), other]) => {
            let other = match other {
                Val::Ip(other) => Ok(*other),
                Val::Text(text) => address(text),
                _ => Err(EvaluationError::no_overload()),
            };
            other.map(|other| Val::Bool(contains(*ip, *bits, other)))
        }
        ("containsCIDR", [Val::Cidr(ip, bits), other]) => {
            let other = match other {
                Val::Cidr(other, of_other) => Ok((*other, *of_other)),
                Val::Text(text) => range(text),
                _ => Err(EvaluationError::no_overload()),
            };
            let inside = |(other, of_other)| *bits <= of_other && contains(*ip, *bits, other);
            other.map(|other| Val::Bool(inside(other)))
        }
        _ => return None,
    })
}

impl Url {
    /// An absolute URL, or a path (`ParseRequestURI`).
    fn parse(text: &str) -> Option<Self> {
        if !formats::matches("uri", text)? {
            return None;
        }
        let (before, _) = text.split_once('#').unwrap_or((text, ""));
        let (before, query) = before.split_once('?').unwrap_or((before, ""));
        let (scheme, rest) = match before.split_once(':') {
            Some((scheme, rest)) if !before.starts_with('/') => (scheme, rest),
            _ => ("", before),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            // Without a scheme, two slashes begin a host as well.
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None if rest.starts_with('/') || rest == "*" => ("", rest),
            // What follows the scheme without a slash is opaque.
            None => ("", ""),
        };
        let host = authority.rsplit_once('@').map_or(authority, |it| it.1);
        let port = host[host.rfind(']').unwrap_or(0)..].rsplit_once(':');
        if port.is_some_and(|(_, port)| !port.bytes().all(|c| c.is_ascii_digit())) {
            return None;
        }
        Some(Self {
            text: text.to_owned(),
            scheme: scheme.to_ascii_lowercase(),
            host: host.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
        })
    }

    fn part(&self, function: &str) -> Option<String> {
        let after_host = &self.host[self.host.rfind(']').unwrap_or(0)..];
        let port = after_host.rsplit_once(':').map(|it| it.1);
        Some(match function {
            "getScheme" => self.scheme.clone(),
            "getHost" => self.host.clone(),
            "getPort" => port.unwrap_or_default().to_owned(),
            "getHostname" => {
                let length = port.map_or(0, |port| port.len() + 1);
                let name = &self.host[..self.host.len() - length];
                let inner = name.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
                inner.unwrap_or(name).to_owned()
            }
            "getEscapedPath" => escaped(&self.path),
            _ => return None,
        })
    }

    fn parameters(&self) -> Val {
        let mut found: BTreeMap<MapKey, Vec<String>> = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(self.query.as_bytes()) {
            let key = MapKey::Text((*name).into());
            found.entry(key).or_default().push(value.into_owned());
        }
        let found = found.into_iter();
        Val::Map(Rc::new(
            found
                .map(|(name, values)| (name, Val::texts(values)))
                .collect(),
        ))
    }
}

/// Returns a path with its forbidden characters escaped (`EscapedPath`).
fn escaped(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@!'()*%[]".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

fn address(text: &str) -> Evaluated<IpAddr> {
    let shown = go::quote(text);
    if text.contains('%') && text.contains(':') {
        let why = format!("IP address {shown} with zone value is not allowed");
        return Err(EvaluationError::new(why));
    }
    match text.parse() {
        Ok(ip) if is_4in6(ip) => {
            let why = format!("IPv4-mapped IPv6 address {shown} is not allowed");
            Err(EvaluationError::new(why))
        }
        Ok(ip) => Ok(ip),
        Err(_) => Err(EvaluationError::new(format!(
            "IP Address {shown} parse error during conversion from string: ParseAddr({shown}): \
             unable to parse IP"
        ))),
    }
}

fn range(text: &str) -> Evaluated<(IpAddr, u8)> {
    let shown = go::quote(text);
    let wrong = |why: &str| {
        EvaluationError::new(format!(
            "network address parse error during conversion from string: network address parse \
             error during conversion from string: netip.ParsePrefix({shown}): {why}"
        ))
    };
    let (ip, bits) = text.rsplit_once('/').ok_or_else(|| wrong("no '/'"))?;
    let ip: IpAddr = ip.parse().map_err(|_| {
        let shown = go::quote(ip);
        wrong(&format!("ParseAddr({shown}): unable to parse IP"))
    })?;
    let canonical = bits == "0" || !bits.starts_with('0') && !bits.starts_with('+');
    let bad = || wrong(&format!("bad bits after slash: {}", go::quote(bits)));
    let bits: u8 = match bits.parse() {
        Ok(bits) if canonical => bits,
        _ => return Err(bad()),
    };
    if bits > bit_len(ip) {
        return Err(wrong("prefix length out of range"));
    }
    if is_4in6(ip) {
        let why = format!(
            "network address parse error during conversion from string: IPv4-mapped IPv6 address \
             {shown} is not allowed"
        );
        return Err(EvaluationError::new(why));
    }
    Ok((ip, bits))
}

fn contains(range: IpAddr, bits: u8, ip: IpAddr) -> bool {
    range.is_ipv4() == ip.is_ipv4() && masked(range, bits) == masked(ip, bits)
}

fn of_address(function: &str, ip: IpAddr) -> Option<Val> {
    Some(match function {
        "family" => Val::Int(if ip.is_ipv4() { 4 } else { 6 }),
        "isUnspecified" => Val::Bool(ip.is_unspecified()),
        "isLoopback" => Val::Bool(ip.is_loopback()),
        "isLinkLocalUnicast" => Val::Bool(is_link_local_unicast(ip)),
        "isLinkLocalMulticast" => Val::Bool(is_link_local_multicast(ip)),
        "isGlobalUnicast" => Val::Bool(
            !(ip.is_unspecified()
                || ip.is_loopback()
                || ip.is_multicast()
                || is_link_local_unicast(ip))
                && ip != IpAddr::V4(Ipv4Addr::BROADCAST),
        ),
        _ => return None,
    })
}

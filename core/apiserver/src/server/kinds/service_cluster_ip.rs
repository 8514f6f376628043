//! The address of a Service inside the cluster (`allocClusterIPs` of
//! `pkg/registry/core/service/storage/alloc.go`, `pkg/registry/core/service/ipallocator`), from the
//! range 10.0.0.0/24.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::NotAllocated;
use super::label_selector::list;
use crate::go;
use crate::object::Metadata;
use crate::status::{FieldError, Status};

/// The first three numbers of every cluster IP.
const NETWORK: [u8; 3] = [10, 0, 0];
/// Below this address, none is allocated at random: clients can request them.
const FIRST_DYNAMIC: u8 = 17;

/// Gives a Service the address that it asks for, or a free one; `taken` has the last numbers of those
/// of all other Services.
pub(super) fn allocate(service: &mut Value, taken: &BTreeSet<u8>) -> Result<(), NotAllocated> {
    let nameless = service.name().is_empty();
    if let Some(wanted) = requested_ip(service) {
        let why = match host_of(wanted) {
            None => "the provided network does not match the current range".to_owned(),
            Some(host) if taken.contains(&host) => "provided IP is already allocated".to_owned(),
            Some(_) if nameless => unowned(wanted),
            Some(_) => return Ok(()),
        };
        return Err(refused_ip(service, wanted, &why));
    }
    let free = (FIRST_DYNAMIC..255).chain(2..FIRST_DYNAMIC);
    let Some(host) = free.into_iter().find(|host| !taken.contains(host)) else {
        let name = go::quote(service.name());
        let why = format!("failed to allocate a serviceIP for Service {name}: range is full");
        return Err(NotAllocated::Failed(Status::internal_error(&why)));
    };
    if nameless {
        let [a, b, c] = NETWORK;
        let detail = format!(
            "failed to allocate IP: {}",
            unowned(Ipv4Addr::new(a, b, c, host))
        );
        let error = FieldError::invalid("spec.clusterIPs", &json!([""]), detail);
        return Err(vec![error].into());
    }
    give_ip(service, host);
    Ok(())
}

/// The error of an address whose Service has no name: it is an object itself, which names the Service
/// (`ipallocator.go` createIPAddress).
fn unowned(ip: Ipv4Addr) -> String {
    let name = go::quote(&ip.to_string());
    format!("IPAddress.networking.k8s.io {name} is invalid: spec.parentRef.name: Required value")
}

/// The address in a dry run: that of the range, or the one that is asked for, be it taken or not
/// (`dryRunAllocator`).
pub(super) fn guess(service: &mut Value) -> Result<(), NotAllocated> {
    match requested_ip(service) {
        Some(wanted) if host_of(wanted).is_none() => {
            let [a, b, c] = NETWORK;
            let why = format!(
                "the provided IP ({wanted}) is not in the valid range. The range of valid IPs is \
                 {a}.{b}.{c}.0/24"
            );
            Err(refused_ip(service, wanted, &why))
        }
        Some(_) => Ok(()),
        None => {
            give_ip(service, 0);
            Ok(())
        }
    }
}

/// The address that a Service asks for.
fn requested_ip(service: &Value) -> Option<Ipv4Addr> {
    let first = list(&service["spec"], "clusterIPs").first();
    first.and_then(Value::as_str)?.parse().ok()
}

/// The last number of an address that the server can give.
fn host_of(ip: Ipv4Addr) -> Option<u8> {
    let [a, b, c, host] = ip.octets();
    ([a, b, c] == NETWORK && !matches!(host, 0 | 255)).then_some(host)
}

fn refused_ip(service: &Value, wanted: Ipv4Addr, why: &str) -> NotAllocated {
    let detail = format!("failed to allocate IP {wanted}: {why}");
    let value = &service["spec"]["clusterIPs"];
    vec![FieldError::invalid("spec.clusterIPs", value, detail)].into()
}

fn give_ip(service: &mut Value, host: u8) {
    let [a, b, c] = NETWORK;
    let ip = Ipv4Addr::new(a, b, c, host).to_string();
    let spec = &mut service["spec"];
    spec["clusterIPs"] = json!([ip]);
    spec["clusterIP"] = ip.into();
}

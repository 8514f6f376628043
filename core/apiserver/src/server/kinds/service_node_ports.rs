//! The node ports of a Service (`txnAllocNodePorts`, `txnUpdateNodePorts` of
//! `pkg/registry/core/service/storage/alloc.go`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::NotAllocated;
use super::label_selector::list;
use super::service::{needs_health_check_port, needs_node_port};
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::{FieldError, Status};

/// Ports that every node opens for a Service.
const RANGE: std::ops::RangeInclusive<i64> = 30_000..=32_767;
/// Below this port, no port is allocated at random: clients can request them by number.
const FIRST_DYNAMIC: i64 = 30_086;

/// Gives a Service its node ports; `taken` has the node ports of all other Services.
pub(super) fn allocate(
    service: &mut Value,
    live: Option<&Value>,
    taken: BTreeSet<i64>,
    dry_run: bool,
) -> Result<(), NotAllocated> {
    let own = live.map(ports_of).unwrap_or_default();
    let asked = ports_of(service);
    let mut pool = PortPool {
        taken,
        asked,
        dry_run,
        highest: None,
    };
    // What the Service had is released only when the write succeeded.
    pool.taken.extend(own.iter().filter(|&&port| port != 0));
    let live_check = live
        .filter(|live| needs_health_check_port(live))
        .map(|live| live["spec"]["healthCheckNodePort"].as_i64().unwrap_or(0));
    pool.taken.extend(live_check.filter(|&port| port != 0));
    if needs_node_port(service) {
        match live {
            None => give_new(service, &mut pool)?,
            Some(_) => give_missing(service, &own, &mut pool)?,
        }
    }
    if needs_health_check_port(service) && live_check.is_none() {
        give_health_check(service, &mut pool)?;
    }
    Ok(())
}

/// The ports that are taken, and those that the Service asks for by number.
struct PortPool {
    taken: BTreeSet<i64>,
    asked: BTreeSet<i64>,
    dry_run: bool,
    /// The highest port that was given in a dry run, which guesses the next one from it
    /// (`PortAllocationOperation`).
    highest: Option<i64>,
}

impl PortPool {
    fn allocate(&mut self, port: i64) -> Result<(), &'static str> {
        if !self.dry_run && !RANGE.contains(&port) {
            return Err(
                "provided port is not in the valid range. The range of valid ports is 30000-32767",
            );
        }
        if !self.taken.insert(port) {
            return Err("provided port is already allocated");
        }
        self.highest = self.highest.max(Some(port));
        Ok(())
    }

    fn next(&mut self) -> Result<i64, NotAllocated> {
        if self.dry_run {
            let port = self.highest.unwrap_or(RANGE.end() + 1) + 1;
            self.highest = Some(port);
            self.taken.insert(port);
            return Ok(port);
        }
        let mut free = (FIRST_DYNAMIC..=*RANGE.end()).chain(RANGE);
        let is_free = |port: &i64| !self.taken.contains(port) && !self.asked.contains(port);
        let Some(port) = free.find(is_free) else {
            let why = "failed to allocate a nodePort: range is full";
            return Err(NotAllocated::Failed(Status::internal_error(why)));
        };
        self.taken.insert(port);
        Ok(port)
    }
}

fn refuse(i: usize, port: i64, why: &str) -> NotAllocated {
    let ports = ErrorPath::new("spec.ports");
    let item = ports.index(i);
    let field = item.child("nodePort");
    vec![FieldError::invalid(field, &port.into(), why)].into()
}

/// Returns whether ports that are not asked for by number are given (`shouldAllocateNodePorts`).
pub(super) fn wants_ports(spec: &Value) -> bool {
    spec["type"] == "NodePort" || spec["allocateLoadBalancerNodePorts"] != false
}

/// The ports of a new Service: ports of one number, of several protocols, share a node port
/// (`initNodePorts`).
fn give_new(service: &mut Value, pool: &mut PortPool) -> Result<(), NotAllocated> {
    let spec = &mut service["spec"];
    let wanted = wants_ports(spec);
    let number = |port: &Value| port["port"].as_i64().unwrap_or(0);
    let mut requested = BTreeMap::new();
    for port in list(spec, "ports") {
        if node_port(port) != 0 {
            requested.entry(number(port)).or_insert(node_port(port));
        }
    }
    let mut given = BTreeMap::new();
    let ports = spec["ports"].as_array_mut();
    for (i, port) in ports.into_iter().flatten().enumerate() {
        let (number, asked) = (number(port), node_port(port));
        if asked == 0 && !wanted {
            continue;
        }
        match given.get(&number) {
            None => {
                let found = match requested.get(&number) {
                    Some(&asked) => {
                        pool.allocate(asked).map_err(|why| refuse(i, asked, why))?;
                        asked
                    }
                    None => pool.next()?,
                };
                port["nodePort"] = found.into();
                given.insert(number, found);
            }
            Some(&shared) if asked == 0 => port["nodePort"] = shared.into(),
            Some(&shared) if asked == shared => {}
            Some(_) => pool.allocate(asked).map_err(|why| refuse(i, asked, why))?,
        }
    }
    Ok(())
}

/// Returns the ports of an updated Service, which keeps the ones that it had (`updateNodePorts`).
fn give_missing(
    service: &mut Value,
    own: &BTreeSet<i64>,
    pool: &mut PortPool,
) -> Result<(), NotAllocated> {
    let spec = &mut service["spec"];
    let wanted = wants_ports(spec);
    let mut taken_now = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let ports = spec["ports"].as_array_mut();
    for (i, port) in ports.into_iter().flatten().enumerate() {
        let mut number = node_port(port);
        if number == 0 {
            if !wanted {
                continue;
            }
            number = pool.next()?;
            port["nodePort"] = number.into();
        } else if !own.contains(&number) && taken_now.insert(number) {
            pool.allocate(number)
                .map_err(|why| refuse(i, number, why))?;
        }
        let protocol = text(port, "protocol").to_owned();
        if seen.contains(&(protocol.clone(), number)) {
            let why = format!("duplicate nodePort: {{{protocol} {number}}}");
            return Err(NotAllocated::Failed(Status::internal(why)));
        }
        seen.insert((protocol, number));
    }
    Ok(())
}

/// The port under which nodes say whether they have endpoints (`allocHealthCheckNodePort`).
fn give_health_check(service: &mut Value, pool: &mut PortPool) -> Result<(), NotAllocated> {
    let spec = &mut service["spec"];
    let asked = spec["healthCheckNodePort"].as_i64().unwrap_or(0);
    if asked == 0 {
        spec["healthCheckNodePort"] = pool.next()?.into();
        return Ok(());
    }
    pool.allocate(asked).map_err(|why| {
        let why = format!("failed to allocate requested HealthCheck NodePort {asked}: {why}");
        NotAllocated::Failed(Status::internal_error(&why))
    })
}

fn ports_of(service: &Value) -> BTreeSet<i64> {
    let ports = list(&service["spec"], "ports").iter();
    ports.map(node_port).collect()
}

/// The node port of a port; 0 if it is not set.
pub(super) fn node_port(port: &Value) -> i64 {
    port.get("nodePort").and_then(Value::as_i64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn service(ports: &Value) -> Value {
        json!({"spec": {"type": "NodePort", "ports": ports}})
    }

    fn given(live: Option<&Value>, ports: &Value) -> Result<Vec<i64>, NotAllocated> {
        let mut service = service(ports);
        allocate(&mut service, live, BTreeSet::from([30_099]), false)?;
        let ports = list(&service["spec"], "ports").iter();
        Ok(ports.map(node_port).collect())
    }

    fn refused(live: Option<&Value>, ports: &Value) -> String {
        match given(live, ports) {
            Err(NotAllocated::Invalid(errors)) => errors[0].to_string(),
            Err(NotAllocated::Failed(status)) => status.message.clone(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn protocols_of_one_port_share_a_node_port() {
        let udp = json!({"port": 53, "protocol": "UDP"});
        let tcp = json!({"port": 53, "protocol": "TCP"});
        let ports = given(None, &json!([udp, tcp, {"port": 54, "protocol": "TCP"}])).unwrap();
        assert_eq!(ports[0], ports[1]);
        assert_ne!(ports[0], ports[2]);
        let asked = json!({"port": 53, "protocol": "TCP", "nodePort": 30_053});
        assert_eq!(given(None, &json!([udp, asked])).unwrap(), [30_053; 2]);
    }

    #[test]
    fn a_port_is_given_once() {
        let taken = json!([{"port": 80, "protocol": "TCP", "nodePort": 30_099}]);
        let already =
            "spec.ports[0].nodePort: Invalid value: 30099: provided port is already allocated";
        assert_eq!(refused(None, &taken), already);
        let other = service(&json!([]));
        assert_eq!(refused(Some(&other), &taken), already);
        let live = service(&json!([{"port": 80, "protocol": "TCP", "nodePort": 30_080}]));
        let twice = json!([
            {"port": 80, "protocol": "TCP", "nodePort": 30_080},
            {"port": 81, "protocol": "TCP", "nodePort": 30_080},
        ]);
        let message = "duplicate nodePort: {TCP 30080}";
        assert_eq!(refused(Some(&live), &twice), message);
    }

    #[test]
    fn a_taken_health_check_port_is_an_error_of_the_server() {
        let mut service = json!({"spec": {
            "type": "LoadBalancer", "externalTrafficPolicy": "Local",
            "healthCheckNodePort": 30_099,
        }});
        let refusal = allocate(&mut service, None, BTreeSet::from([30_099]), false).unwrap_err();
        let NotAllocated::Failed(status) = refusal else {
            panic!("{refusal:?}");
        };
        assert_eq!(
            status.message,
            "Internal error occurred: failed to allocate requested HealthCheck NodePort 30099: \
             provided port is already allocated"
        );
    }
}

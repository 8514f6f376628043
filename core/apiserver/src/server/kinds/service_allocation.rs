//! Addresses and ports that a Service is given (`pkg/registry/core/service/storage`), from the
//! range 10.0.0.0/24 on a cluster that knows IPv4 only.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::label_selector::list;
use super::service::{is_headless, needs_cluster_ip, needs_health_check_port, needs_node_port};
use super::service_node_ports::{self, node_port, wants_ports};
use super::{NotAllocated, Supply, service_addresses, service_cluster_ip};
use crate::field::ErrorPath;
use crate::object::Metadata;
use crate::object::text;
use crate::status::FieldError;
use crate::storage::Store;

/// The address of the API server's own Service.
const KUBERNETES: u8 = 1;

/// Gives a Service the values that it must have; on update first those that it had before
/// (`beginCreate`, `beginUpdate`).
pub(super) fn allocate(
    service: &mut Value,
    live: Option<&Value>,
    supply: &Supply<'_>,
) -> Result<(), NotAllocated> {
    if let Some(live) = live {
        take_over(service, live);
    }
    agree_on_cluster_ips(service, live);
    settle_families(service, live)?;
    let taken = Taken::by_others(service, live, supply.store);
    let fresh = live.is_none_or(|live| !needs_cluster_ip(live));
    if fresh && needs_cluster_ip(service) && !is_headless(service) {
        match supply.dry_run {
            true => service_cluster_ip::guess(service)?,
            false => service_cluster_ip::allocate(service, &taken.hosts)?,
        }
    }
    service_node_ports::allocate(service, live, taken.ports, supply.dry_run)
}

/// Fills in the allocated values that the client left out (`patchAllocatedValues`).
fn take_over(service: &mut Value, live: &Value) {
    let before = &live["spec"];
    if needs_cluster_ip(live) && needs_cluster_ip(service) {
        let spec = &mut service["spec"];
        if text(spec, "clusterIP").is_empty() {
            copy(spec, before, "clusterIP");
        }
        if list(spec, "clusterIPs").is_empty() {
            copy(spec, before, "clusterIPs");
        }
    }
    let gets_ports = |service: &Value| needs_node_port(service) && wants_ports(&service["spec"]);
    if gets_ports(live) && gets_ports(service) {
        let of = |service: &Value| -> BTreeSet<i64> {
            list(&service["spec"], "ports")
                .iter()
                .map(node_port)
                .collect()
        };
        let both: BTreeSet<i64> = of(live).intersection(&of(service)).copied().collect();
        for port in service["spec"]["ports"]
            .as_array_mut()
            .into_iter()
            .flatten()
        {
            let same = |old: &&Value| text(old, "name") == text(port, "name");
            let old = list(before, "ports")
                .iter()
                .rfind(same)
                .map_or(0, node_port);
            if node_port(port) == 0 && old != 0 && !both.contains(&old) {
                port["nodePort"] = old.into();
            }
        }
    }
    if needs_health_check_port(live)
        && needs_health_check_port(service)
        && service["spec"].get("healthCheckNodePort").is_none()
    {
        copy(&mut service["spec"], before, "healthCheckNodePort");
    }
}

/// Sets `clusterIPs` for a client that knows only `clusterIP` (`normalizeClusterIPs`).
fn agree_on_cluster_ips(service: &mut Value, live: Option<&Value>) {
    let spec = &mut service["spec"];
    let one = text(spec, "clusterIP").to_owned();
    let Some(live) = live else {
        if !one.is_empty() && list(spec, "clusterIPs").is_empty() {
            spec["clusterIPs"] = json!([one]);
        }
        return;
    };
    let before = &live["spec"];
    let old = text(before, "clusterIP");
    if old == one {
        // A client that does not know the plural field leaves it out.
        if list(spec, "clusterIPs").is_empty() {
            copy(spec, before, "clusterIPs");
        }
    } else if list(before, "clusterIPs") == list(spec, "clusterIPs") {
        if one.is_empty() {
            drop_field(spec, "clusterIPs");
        } else {
            spec["clusterIPs"] = json!([one]);
        }
    }
}

/// `initIPFamilyFields`, for a cluster with one family.
fn settle_families(service: &mut Value, live: Option<&Value>) -> Result<(), Vec<FieldError>> {
    if !needs_cluster_ip(service) || live.is_some_and(|live| both_prefer_two(service, live)) {
        return Ok(());
    }
    let selectorless = service["spec"]["selector"]
        .as_object()
        .is_none_or(|selector| selector.is_empty());
    let free_choice = text(&service["spec"], "clusterIP") == "None" && selectorless;
    let spec = &mut service["spec"];
    if spec.get("ipFamilyPolicy").is_none() {
        let before = live.and_then(|live| live["spec"].get("ipFamilyPolicy"));
        spec["ipFamilyPolicy"] = match before {
            Some(policy) => policy.clone(),
            None if free_choice => "RequireDualStack".into(),
            None => "SingleStack".into(),
        };
    }
    let errors = service_addresses::cluster_ips(service, live);
    if !errors.is_empty() {
        return Err(errors);
    }
    let spec = &mut service["spec"];
    let mut errors = live.map_or(Vec::new(), |live| release_second(spec, &live["spec"]));
    errors.extend(infer_families(spec));
    if !errors.is_empty() {
        return Err(errors);
    }
    let policy = spec["ipFamilyPolicy"].clone();
    let mut families = list(spec, "ipFamilies").to_vec();
    if free_choice {
        if families.is_empty() {
            families.push("IPv4".into());
        }
        if policy != "SingleStack" && families.len() == 1 {
            let v4 = families[0] == "IPv4";
            families.push(if v4 { "IPv6" } else { "IPv4" }.into());
        }
        spec["ipFamilies"] = families.into();
        return Ok(());
    }
    if policy == "RequireDualStack" {
        let detail = "this cluster is not configured for dual-stack services";
        errors.push(FieldError::invalid("spec.ipFamilyPolicy", &policy, detail));
    }
    for (i, family) in families.iter().enumerate() {
        if family != "IPv4" {
            let path = ErrorPath::new("spec.ipFamilies");
            let field = path.index(i);
            let detail = "not configured on this cluster";
            errors.push(FieldError::invalid(field, family, detail));
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    if families.is_empty() {
        spec["ipFamilies"] = json!(["IPv4"]);
    }
    Ok(())
}

/// Returns whether nothing about the families changes that the cluster would have to settle
/// (`isMatchingPreferDualStackClusterIPFields`).
fn both_prefer_two(service: &Value, live: &Value) -> bool {
    let (spec, before) = (&service["spec"], &live["spec"]);
    let prefers = |spec: &Value| text(spec, "ipFamilyPolicy") == "PreferDualStack";
    let same = |field| list(spec, field) == list(before, field);
    matches!(
        text(spec, "type"),
        "ClusterIP" | "NodePort" | "LoadBalancer"
    ) && text(spec, "type") == text(before, "type")
        && prefers(spec)
        && (prefers(before) || before.get("ipFamilyPolicy").is_none())
        && same("clusterIPs")
        && same("ipFamilies")
}

/// One family is a clear wish where the lists stayed as they were; otherwise who shortens a list
/// has to say so.
fn release_second(spec: &mut Value, before: &Value) -> Vec<FieldError> {
    let policy = spec["ipFamilyPolicy"].clone();
    let mut errors = Vec::new();
    for (field, what) in [("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")] {
        let (now, old) = (list(spec, field).len(), list(before, field));
        if policy == "SingleStack" {
            if now > 1
                && list(spec, field) == old
                && let Some(list) = spec[field].as_array_mut()
            {
                list.truncate(1);
            }
        } else if now > 0 && now < old.len() {
            let detail = format!("must be 'SingleStack' to release the secondary {what}");
            errors.push(FieldError::invalid("spec.ipFamilyPolicy", &policy, detail));
        }
    }
    errors
}

/// The families of the addresses that were asked for, and whether the policy fits the lists.
fn infer_families(spec: &mut Value) -> Vec<FieldError> {
    let policy = spec["ipFamilyPolicy"].clone();
    let mut errors = Vec::new();
    for (field, what) in [("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")] {
        if policy == "SingleStack" && list(spec, field).len() == 2 {
            let detail = format!(
                "must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified"
            );
            errors.push(FieldError::invalid("spec.ipFamilyPolicy", &policy, detail));
        }
    }
    let ips = list(spec, "clusterIPs").to_vec();
    let named = list(spec, "ipFamilies").len();
    let mut families = list(spec, "ipFamilies").to_vec();
    for (i, ip) in ips.iter().enumerate() {
        if ip == "None" {
            break;
        }
        if i < named {
            continue;
        }
        if ip.as_str().is_some_and(|ip| ip.contains(':')) {
            let path = ErrorPath::new("spec.clusterIPs");
            let field = path.index(i);
            let detail = "IPv6 is not configured on this cluster";
            let all = ips.clone().into();
            errors.push(FieldError::invalid(field, &all, detail));
        } else {
            families.push("IPv4".into());
        }
    }
    if families.len() > named {
        spec["ipFamilies"] = families.into();
    }
    errors
}

/// The values that the other Services of the cluster have.
#[derive(Default)]
struct Taken {
    hosts: BTreeSet<u8>,
    ports: BTreeSet<i64>,
}

impl Taken {
    /// A new Service of a name that exists meets what that one has.
    fn by_others(service: &Value, live: Option<&Value>, store: &Store) -> Self {
        let mut taken = Self::default();
        // The Service of the server itself, which only `ApiServer::fresh` makes.
        if (service.namespace(), service.name()) != ("default", "kubernetes") {
            taken.hosts.insert(KUBERNETES);
        }
        for (_, _, other) in store.range("/registry/services/specs/") {
            let other: &Value = other;
            let same = ["name", "namespace"]
                .iter()
                .all(|field| other["metadata"][field] == service["metadata"][field]);
            if same && live.is_some() {
                continue;
            }
            let spec = &other["spec"];
            let addresses = list(spec, "clusterIPs").iter();
            let addresses = addresses.filter_map(|ip| ip.as_str()?.parse::<Ipv4Addr>().ok());
            taken.hosts.extend(addresses.map(|ip| ip.octets()[3]));
            taken
                .ports
                .extend(list(spec, "ports").iter().map(node_port));
            taken.ports.extend(spec["healthCheckNodePort"].as_i64());
        }
        taken
    }
}

fn copy(into: &mut Value, from: &Value, field: &str) {
    if let Some(value) = from.get(field) {
        into[field] = value.clone();
    }
}

fn drop_field(value: &mut Value, field: &str) {
    if let Value::Object(map) = value {
        map.remove(field);
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;
    use crate::server::ApiServer;

    const SERVICES: &str = "/api/v1/namespaces/default/services";

    /// Writes a Service, and returns its spec or the message of the refusal.
    fn write(
        server: &mut ApiServer,
        method: &str,
        name: &str,
        spec: &Value,
    ) -> Result<Value, String> {
        let path = match method {
            "POST" => SERVICES.to_owned(),
            _ => format!("{SERVICES}/{name}"),
        };
        let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": spec});
        let request = Request::builder().method(method).uri(path);
        let request = request.body(service.to_string().into_bytes()).unwrap();
        let response = server.handle(request);
        let body: Value = serde_json::from_slice(response.body()).unwrap();
        match response.status().is_success() {
            true => Ok(body["spec"].clone()),
            false => Err(text(&body, "message").to_owned()),
        }
    }

    /// A Service with a port and a selector, and these members.
    fn spec(members: Value) -> Value {
        let mut spec = json!({"ports": [{"port": 80}], "selector": {"app": "web"}});
        for (name, value) in members.as_object().unwrap() {
            spec[name] = value.clone();
        }
        spec
    }

    #[test]
    fn a_new_service_is_given_what_it_leaves_out() {
        let single = |ip: Value| {
            json!({"clusterIP": ip, "clusterIPs": [ip], "ipFamilies": ["IPv4"],
                "ipFamilyPolicy": "SingleStack"})
        };
        for (members, expected) in [
            (json!({}), single("10.0.0.17".into())),
            (json!({"clusterIP": "10.0.0.5"}), single("10.0.0.5".into())),
            (json!({"clusterIP": "None"}), single("None".into())),
            // What no selector leads to can have both families on any cluster.
            (
                json!({"clusterIP": "None", "selector": {}}),
                json!({"clusterIPs": ["None"], "ipFamilies": ["IPv4", "IPv6"],
                    "ipFamilyPolicy": "RequireDualStack"}),
            ),
            (
                json!({"ipFamilyPolicy": "PreferDualStack"}),
                json!({"clusterIPs": ["10.0.0.17"], "ipFamilies": ["IPv4"],
                    "ipFamilyPolicy": "PreferDualStack"}),
            ),
            (
                json!({"type": "ExternalName", "externalName": "example.com"}),
                json!({"clusterIP": null, "clusterIPs": null, "ipFamilies": null,
                    "ipFamilyPolicy": null}),
            ),
        ] {
            let mut server = ApiServer::default();
            let found = write(&mut server, "POST", "a", &spec(members.clone())).unwrap();
            for (field, value) in expected.as_object().unwrap() {
                assert_eq!(found[field], *value, "{field} of {members}");
            }
        }
    }

    #[test]
    fn what_the_cluster_does_not_have_is_refused() {
        let taken = "spec.clusterIPs: Invalid value: [\"10.0.0.5\"]: failed to allocate IP \
             10.0.0.5: provided IP is already allocated";
        let node_port =
            |port: i64| json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": port}]});
        for (members, expected) in [
            (json!({"clusterIP": "10.0.0.5"}), taken),
            (
                json!({"clusterIP": "10.1.0.5"}),
                "spec.clusterIPs: Invalid value: [\"10.1.0.5\"]: failed to allocate IP 10.1.0.5: \
                 the provided network does not match the current range",
            ),
            (
                json!({"ipFamilies": ["IPv6"]}),
                "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster",
            ),
            (
                json!({"ipFamilyPolicy": "RequireDualStack"}),
                "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not \
                 configured for dual-stack services",
            ),
            (
                node_port(30_000),
                "spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated",
            ),
            (
                node_port(29_999),
                "spec.ports[0].nodePort: Invalid value: 29999: provided port is not in the valid \
                 range. The range of valid ports is 30000-32767",
            ),
        ] {
            let mut server = ApiServer::default();
            let mut first = node_port(30_000);
            first["clusterIP"] = "10.0.0.5".into();
            write(&mut server, "POST", "a", &spec(first)).unwrap();
            let refused = write(&mut server, "POST", "b", &spec(members.clone())).unwrap_err();
            let expected = format!("Service \"b\" is invalid: {expected}");
            assert_eq!(refused, expected, "{members}");
            // The refused Service took nothing.
            let next = write(&mut server, "POST", "c", &spec(json!({}))).unwrap();
            assert_eq!(next["clusterIP"], "10.0.0.17");
        }
    }

    #[test]
    fn an_update_keeps_what_was_given() {
        let mut server = ApiServer::default();
        let node_port = json!({"type": "NodePort"});
        let first = write(&mut server, "POST", "a", &spec(node_port.clone())).unwrap();
        let given = first["ports"][0]["nodePort"].clone();
        assert!(given.as_i64().is_some_and(|port| port >= 30_086), "{given}");
        let again = write(&mut server, "PUT", "a", &spec(node_port)).unwrap();
        assert_eq!(again, first);
        // Without a type that needs a node port, the port is given back.
        let inside = write(&mut server, "PUT", "a", &spec(json!({}))).unwrap();
        assert_eq!(inside["clusterIP"], first["clusterIP"]);
        assert_eq!(inside["ports"][0].get("nodePort"), None);
    }
}

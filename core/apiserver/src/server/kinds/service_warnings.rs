//! What deserves a warning in a Service (`pkg/api/service/warnings.go`).

use serde_json::Value;

use super::label_selector::list;
use super::service::is_headless;
use crate::object::text;

const OLD_HINTS: &str = "service.kubernetes.io/topology-aware-hints";

pub(super) fn of(service: &Value) -> Vec<String> {
    let spec = &service["spec"];
    let mut warnings = Vec::new();
    let mut warn = |warning: &str| warnings.push(warning.to_owned());
    if service["metadata"]["annotations"].get(OLD_HINTS).is_some() {
        warn(&format!(
            "annotation {OLD_HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"
        ));
    }
    let outside = !list(spec, "externalIPs").is_empty();
    let kind = text(spec, "type");
    if is_headless(service) {
        if !text(spec, "loadBalancerIP").is_empty() {
            warn("spec.loadBalancerIP is ignored for headless services");
        }
        if outside {
            warn("spec.externalIPs is ignored for headless services");
        }
        if text(spec, "sessionAffinity") == "ClientIP" {
            warn("spec.SessionAffinity is ignored for headless services");
        }
    } else if outside && kind != "ExternalName" {
        warn("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
    }
    if kind == "ExternalName" && outside {
        warn("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    }
    if kind != "ExternalName" && !text(spec, "externalName").is_empty() {
        warn("spec.externalName is ignored when spec.type is not \"ExternalName\"");
    }
    if text(spec, "trafficDistribution") == "PreferClose" {
        warn("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
    }
    warnings
}

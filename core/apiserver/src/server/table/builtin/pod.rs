//! The row of a Pod (`printPod`).

use serde_json::{Value, json};

use super::{age, items, number, since};
use crate::environment::Timestamp;
use crate::object::{Metadata, text};

/// The cells of a Pod.
pub(super) fn cells(pod: &Value, now: Timestamp) -> Vec<Value> {
    let (spec, status) = (&pod["spec"], &pod["status"]);
    let summary = summary(pod);
    let restarts = match &summary.last_restart {
        Some(time) if summary.restarts > 0 => {
            format!(
                "{} ({} ago)",
                summary.restarts,
                since(&time.as_str().into(), now)
            )
        }
        _ => summary.restarts.to_string(),
    };
    let gates = match spec["readinessGates"].as_array() {
        Some(gates) if !gates.is_empty() => {
            let met = gates.iter().filter(|gate| {
                let ty = text(gate, "conditionType");
                items(&status["conditions"]).any(|condition| {
                    text(condition, "type") == ty && text(condition, "status") == "True"
                })
            });
            format!("{}/{}", met.count(), gates.len())
        }
        _ => "<none>".to_owned(),
    };
    let or_none = |text: &str| Value::from(if text.is_empty() { "<none>" } else { text });
    let address = items(&status["podIPs"])
        .next()
        .map_or("", |ip| text(ip, "ip"));
    vec![
        pod.name().into(),
        format!("{}/{}", summary.ready, summary.total).into(),
        summary.reason.into(),
        restarts.into(),
        age(pod, now).into(),
        or_none(address),
        or_none(text(spec, "nodeName")),
        or_none(text(status, "nominatedNodeName")),
        gates.into(),
    ]
}

/// That a pod has ended (`podSuccessConditions`, `podFailedConditions`).
pub(super) fn conditions(pod: &Value) -> Option<Value> {
    let phase = text(&pod["status"], "phase");
    let message = match phase {
        "Succeeded" => "The pod has completed successfully.",
        "Failed" => "The pod failed.",
        _ => return None,
    };
    Some(json!([{"type": "Completed", "status": "True", "reason": phase, "message": message}]))
}

#[derive(Default)]
struct Summary {
    reason: String,
    ready: usize,
    total: usize,
    restarts: i64,
    last_restart: Option<String>,
}

impl Summary {
    fn count(&mut self, container: &Value) {
        self.restarts += number(&container["restartCount"]);
        let finished = &container["lastState"]["terminated"]["finishedAt"];
        if let Some(finished) = finished.as_str()
            && self
                .last_restart
                .as_deref()
                .is_none_or(|last| last < finished)
        {
            self.last_restart = Some(finished.to_owned());
        }
    }
}

fn summary(pod: &Value) -> Summary {
    let (spec, status) = (&pod["spec"], &pod["status"]);
    let restartable = |name: &str| {
        items(&spec["initContainers"]).any(|container| {
            text(container, "name") == name && text(container, "restartPolicy") == "Always"
        })
    };
    let mut summary = Summary {
        reason: match text(status, "reason") {
            "" => text(status, "phase").to_owned(),
            reason => reason.to_owned(),
        },
        total: items(&spec["containers"]).count()
            + items(&spec["initContainers"])
                .filter(|container| text(container, "restartPolicy") == "Always")
                .count(),
        ..Summary::default()
    };
    let condition = |ty: &str| items(&status["conditions"]).find(|c| text(c, "type") == ty);
    if condition("PodScheduled").is_some_and(|c| text(c, "reason") == "SchedulingGated") {
        summary.reason = "SchedulingGated".to_owned();
    }
    let inits = items(&spec["initContainers"]).count();
    let mut initializing = false;
    for (i, container) in items(&status["initContainerStatuses"]).enumerate() {
        summary.count(container);
        let state = &container["state"];
        if let Some(terminated) = state.get("terminated") {
            if number(&terminated["exitCode"]) == 0 {
                continue;
            }
            summary.reason = format!("Init:{}", ended(terminated));
        } else if restartable(text(container, "name")) && container["started"] == true {
            summary.ready += usize::from(container["ready"] == true);
            continue;
        } else {
            let waiting = text(&state["waiting"], "reason");
            summary.reason = match waiting {
                "" | "PodInitializing" => format!("Init:{i}/{inits}"),
                waiting => format!("Init:{waiting}"),
            };
        }
        initializing = true;
        break;
    }
    let initialized = condition("Initialized").is_some_and(|c| text(c, "status") == "True");
    if !initializing || initialized {
        of_containers(&mut summary, status);
    }
    let terminal = matches!(text(status, "phase"), "Failed" | "Succeeded");
    if !pod.meta_text("deletionTimestamp").is_empty() {
        if text(status, "reason") == "NodeLost" {
            summary.reason = "Unknown".to_owned();
        } else if !terminal {
            summary.reason = "Terminating".to_owned();
        }
    }
    summary
}

fn of_containers(summary: &mut Summary, status: &Value) {
    let mut running = false;
    for container in items(&status["containerStatuses"]).rev() {
        summary.count(container);
        let state = &container["state"];
        let waiting = text(&state["waiting"], "reason");
        if !waiting.is_empty() {
            summary.reason = waiting.to_owned();
        } else if let Some(terminated) = state.get("terminated") {
            summary.reason = ended(terminated);
        } else if container["ready"] == true && state.get("running").is_some() {
            running = true;
            summary.ready += 1;
        }
    }
    if summary.reason == "Completed" && running {
        let ready = items(&status["conditions"])
            .any(|c| text(c, "type") == "Ready" && text(c, "status") == "True");
        summary.reason = if ready { "Running" } else { "NotReady" }.to_owned();
    }
}

/// How a container ended.
fn ended(terminated: &Value) -> String {
    match (text(terminated, "reason"), number(&terminated["signal"])) {
        ("", 0) => format!("ExitCode:{}", number(&terminated["exitCode"])),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

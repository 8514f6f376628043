//! The row of a Pod (`printPod`).

use serde_json::{Value, json};

use super::{condition, items, number, since};
use crate::environment::Timestamp;
use crate::object::{Metadata, text};

/// Returns the number of its containers that are ready.
pub(super) fn ready(pod: &Value, _: Timestamp) -> Value {
    let Summary { ready, total, .. } = Summary::new(pod);
    format!("{ready}/{total}").into()
}

/// Returns the state of its containers.
pub(super) fn status(pod: &Value, _: Timestamp) -> Value {
    Summary::new(pod).reason.into()
}

/// Returns the number of restarts of its containers, and the time since the last one.
pub(super) fn restarts(pod: &Value, now: Timestamp) -> Value {
    let Restarts { count, last } = Summary::new(pod).restarts;
    match last {
        Some(time) if count != 0 => {
            format!("{count} ({} ago)", since(&time.as_str().into(), now)).into()
        }
        _ => count.to_string().into(),
    }
}

/// Returns the number of its readiness gates that are met.
pub(super) fn readiness_gates(pod: &Value, _: Timestamp) -> Value {
    let gates: Vec<&Value> = items(&pod["spec"]["readinessGates"]).collect();
    if gates.is_empty() {
        return "<none>".into();
    }
    let is_met = |gate: &&&Value| {
        condition(pod, text(gate, "conditionType"))
            .is_some_and(|condition| text(condition, "status") == "True")
    };
    let met = gates.iter().filter(is_met).count();
    format!("{met}/{}", gates.len()).into()
}

/// Returns the condition of a pod that has ended (`podSuccessConditions`, `podFailedConditions`);
/// null if it has not.
pub(super) fn conditions(pod: &Value, _: Timestamp) -> Value {
    let phase = text(&pod["status"], "phase");
    let message = match phase {
        "Succeeded" => "The pod has completed successfully.",
        "Failed" => "The pod failed.",
        _ => return Value::Null,
    };
    json!([{"type": "Completed", "status": "True", "reason": phase, "message": message}])
}

/// The number of restarts of containers, and the time of the last one.
#[derive(Default)]
struct Restarts {
    count: i64,
    last: Option<String>,
}

impl Restarts {
    fn add(&mut self, container: &Value) {
        self.count += number(&container["restartCount"]);
        let finished = container["lastState"]["terminated"]["finishedAt"].as_str();
        if finished > self.last.as_deref() {
            self.last = finished.map(str::to_owned);
        }
    }
}

#[derive(Default)]
struct Summary {
    reason: String,
    ready: usize,
    total: usize,
    restarts: Restarts,
}

impl Summary {
    fn new(pod: &Value) -> Self {
        let (spec, status) = (&pod["spec"], &pod["status"]);
        let sidecars = items(&spec["initContainers"])
            .filter(|container| text(container, "restartPolicy") == "Always");
        let mut summary = Self {
            reason: match text(status, "reason") {
                "" => text(status, "phase").to_owned(),
                reason => reason.to_owned(),
            },
            total: items(&spec["containers"]).count() + sidecars.count(),
            ..Self::default()
        };
        let is_gated = |scheduled: &Value| text(scheduled, "reason") == "SchedulingGated";
        if condition(pod, "PodScheduled").is_some_and(is_gated) {
            summary.reason = "SchedulingGated".to_owned();
        }
        let (initialized, of_sidecars) = summary.initialize(pod);
        let is_true = |condition: &Value| text(condition, "status") == "True";
        if initialized || condition(pod, "Initialized").is_some_and(is_true) {
            summary.restarts = of_sidecars;
            summary.run(pod);
        }
        let has_ended = matches!(text(status, "phase"), "Failed" | "Succeeded");
        if !pod.meta_text("deletionTimestamp").is_empty() {
            if text(status, "reason") == "NodeLost" {
                summary.reason = "Unknown".to_owned();
            } else if !has_ended {
                summary.reason = "Terminating".to_owned();
            }
        }
        summary
    }

    /// Goes through the init containers until one is not done. Returns whether all are, and the
    /// restarts of sidecars.
    fn initialize(&mut self, pod: &Value) -> (bool, Restarts) {
        let containers = &pod["spec"]["initContainers"];
        let mut of_sidecars = Restarts::default();
        for (i, container) in items(&pod["status"]["initContainerStatuses"]).enumerate() {
            self.restarts.add(container);
            let is_sidecar = items(containers).any(|declared| {
                text(declared, "name") == text(container, "name")
                    && text(declared, "restartPolicy") == "Always"
            });
            if is_sidecar {
                of_sidecars.add(container);
            }
            let state = &container["state"];
            let terminated = state.get("terminated").filter(|state| state.is_object());
            if terminated.is_some_and(|state| number(&state["exitCode"]) == 0) {
                continue;
            }
            if is_sidecar && container["started"] == true {
                self.ready += usize::from(container["ready"] == true);
                continue;
            }
            self.reason = match (terminated, text(&state["waiting"], "reason")) {
                (Some(terminated), _) => format!("Init:{}", ended(terminated)),
                (None, "" | "PodInitializing") => {
                    format!("Init:{i}/{}", items(containers).count())
                }
                (None, waiting) => format!("Init:{waiting}"),
            };
            return (false, of_sidecars);
        }
        (true, of_sidecars)
    }

    /// Goes through the containers.
    fn run(&mut self, pod: &Value) {
        let mut running = false;
        for container in items(&pod["status"]["containerStatuses"]).rev() {
            self.restarts.add(container);
            let state = &container["state"];
            let is_in = |name: &str| state.get(name).is_some_and(Value::is_object);
            let waiting = text(&state["waiting"], "reason");
            if !waiting.is_empty() {
                self.reason = waiting.to_owned();
            } else if is_in("terminated") {
                self.reason = ended(&state["terminated"]);
            } else if container["ready"] == true && is_in("running") {
                running = true;
                self.ready += 1;
            }
        }
        if self.reason == "Completed" && running {
            let ready = items(&pod["status"]["conditions"])
                .any(|c| text(c, "type") == "Ready" && text(c, "status") == "True");
            self.reason = if ready { "Running" } else { "NotReady" }.to_owned();
        }
    }
}

/// Returns the reason why a container ended.
fn ended(terminated: &Value) -> String {
    match (text(terminated, "reason"), number(&terminated["signal"])) {
        ("", 0) => format!("ExitCode:{}", number(&terminated["exitCode"])),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

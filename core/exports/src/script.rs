//! A history as a shell script that sends the same requests to a real cluster.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ExportedStep, exported_steps, who};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{DEFAULT_NAMESPACE, Definition};
use optimist_client::{bare, client_side_managers, objects, to_yaml};
use optimist_code::{ClientRequest, is_of_kind, kubectl, namespace_option};
use optimist_code::{delimiter, one_line, quote_always as quote, without_nul};
use optimist_simulation::{Action, HistoryTree, ObjectRef, Operation, World};

/// The functions that the script defines first. A cluster assigns its own versions and uids:
/// `learn` records which of them corresponds to which of ours, the last time first, and `step` inserts them. A server's
/// answer becomes a part of a sed command, so only letters, digits and hyphens are taken.
const HEAD: &str = "\
#!/bin/sh
# Does on the cluster that kubectl talks to what was done here. It makes the objects named below and
# does not remove them. Refusals are a part of it, so it goes on after them.
set -u
known='s/^//'
learn() {
  now=$(kubectl get \"$2\" \"$3\" -n \"$4\" -o \"jsonpath={.metadata.$1}\" 2>/dev/null) || return 0
  case $now in
    '' | *[!0-9A-Za-z-]*)
      printf '%s\\n' \"The $1 of $3 has other characters than letters, digits and hyphens.\" >&2
      return 0 ;;
  esac
  known=\"s/@$5@/$now/g;$known\"
}
step() {
  printf '\\n%s\\n' \"$1\"
  eval \"$(sed \"$known\")\"
}
";

/// The steps to the current node, as a POSIX shell script that sends the same requests with
/// kubectl. Versions and uids are those of the cluster.
pub fn script(tree: &HistoryTree) -> String {
    let mut script = ShellScript {
        out: HEAD.to_owned(),
        uids: BTreeMap::new(),
    };
    script.start(tree.origin());
    for exported in exported_steps(tree) {
        script.step(&exported);
    }
    without_nul(script.out)
}

struct ShellScript {
    out: String,
    /// Our version or uid, and its placeholder in the script.
    uids: BTreeMap<String, String>,
}

impl ShellScript {
    fn line(&mut self, text: impl AsRef<str>) {
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    /// Gives created objects the owners that they were installed with. Versions, uids, times and the
    /// status are those of the cluster.
    fn owners(&mut self, manifests: &str) {
        for object in objects(manifests).unwrap_or_default() {
            let entries = object.managed_entries();
            if entries.is_empty() {
                continue;
            }
            let patch = json!([{"op": "replace", "path": "/metadata/managedFields",
                "value": entries}]);
            let group = text(&object, "apiVersion").rsplit_once('/');
            let group = group
                .map(|(group, _)| format!(".{group}"))
                .unwrap_or_default();
            let kind = quote(&format!("{}{group}", text(&object, "kind").to_lowercase()));
            let mut target = format!("{kind} {}", quote(object.name()));
            if !object.namespace().is_empty() {
                target.push_str(&format!(" -n {}", quote(object.namespace())));
            }
            let patch = quote(&patch.to_string());
            self.line(format!("kubectl patch {target} --type=json -p {patch}"));
        }
    }

    /// Stores the objects that exist before the first step.
    fn start(&mut self, world: &World) {
        let start = world.start();
        let mut namespaces: Vec<&str> = Vec::new();
        for subject in world.subjects() {
            let namespace = subject.namespace();
            let usual = namespace.is_empty() || namespace == DEFAULT_NAMESPACE;
            if !usual && !namespaces.contains(&namespace) {
                namespaces.push(namespace);
            }
        }
        for namespace in namespaces {
            self.line(format!("kubectl create namespace {}", quote(namespace)));
        }
        let manager = start.created_by.as_deref().unwrap_or("kubectl-create");
        let command = if start.applied {
            "kubectl apply --server-side"
        } else {
            "kubectl create"
        };
        let manager = quote(&format!("--field-manager={manager}"));
        let defined = world.subjects().any(is_custom);
        if defined {
            self.line(
                "# A definition is not served at once: the second time creates what needs it.",
            );
            self.line("for attempt in 1 2; do");
        }
        let manifests = match start.installed {
            true => created(&start.manifests),
            false => start.manifests.clone(),
        };
        let namespace = match names_a_namespace(&manifests) {
            true => String::new(),
            false => namespace_option(DEFAULT_NAMESPACE),
        };
        let end = delimiter(&manifests, "EOF");
        self.line(format!("{command}{namespace} {manager} -f - <<'{end}'"));
        self.line(manifests.trim_end());
        self.line(&end);
        if defined {
            self.line("sleep 3\ndone");
        }
        if start.installed {
            self.owners(&start.manifests);
        }
        let subjects: Vec<ObjectRef> = world.subjects().cloned().collect();
        for subject in &subjects {
            self.learn(None, world, subject, false);
        }
    }

    fn step(&mut self, exported: &ExportedStep<'_>) {
        let step = exported.step;
        let mut title = format!(
            "{}. {}: {}",
            exported.number,
            who(exported),
            step.headline()
        );
        if step.exchange.is_some() {
            title.push_str(&format!(" (here {})", step.status_line()));
        }
        let title = one_line(&title);
        let (Operation::Act(_, action), Some(exchange)) = (&step.operation, &step.exchange) else {
            let sent = step.exchange.as_ref();
            let why = sent.map_or(
                "",
                |_| ". Not sent: this script has the requests of editors and tools alone",
            );
            self.line(format!("\n# {title}{why}"));
            return;
        };
        let body = self.with_names(&exchange.sent);
        let by_hand = match action {
            Action::Send(write) => write.body.as_deref(),
            Action::Request(by_hand) => Some(by_hand.body.as_str()),
            _ => None,
        };
        if body.is_null() && by_hand.is_some_and(|text| !text.trim().is_empty()) {
            self.line(format!("\n# {title}: its body is no JSON"));
            return;
        }
        let resource = exported.before.resource();
        let command = kubectl(&ClientRequest {
            method: exchange.method.as_str(),
            target: &exchange.target,
            content_type: &exchange.content_type,
            user_agent: &exchange.manager,
            body: &body,
            resource: is_of_kind(&exchange.target, resource).then_some(&**resource),
            edits: None,
            attempts: 1,
            reads_again: false,
            migrates: !client_side_managers(&exchange.received).is_empty(),
        });
        let end = delimiter(&command, "STEP");
        self.line(format!("\nstep {} <<'{end}'", quote(&title)));
        self.line(command.trim_end());
        self.line(&end);
        let subjects: Vec<ObjectRef> = exported.after.subjects().cloned().collect();
        // In a cluster, controllers can have written since the version was learned: a later write sends the one that was
        // read.
        let is_read = exchange.method == "GET" && exchange.code == 200;
        for subject in &subjects {
            let reads = is_read && subject.is_addressed_by(&exchange.method, &exchange.target, "");
            self.learn(Some(exported.before), exported.after, subject, reads);
        }
    }

    /// Records the version and the uid of the cluster for ours, if ours are new or the step has read them.
    fn learn(&mut self, before: Option<&World>, after: &World, subject: &ObjectRef, reads: bool) {
        let stored = |world: &World| {
            let (version, object) = world.server().store().get(subject.key())?;
            Some((version, object.meta_text("uid").to_owned()))
        };
        let Some((version, uid)) = stored(after) else {
            return;
        };
        let old = before.and_then(stored);
        let place = |what: &str, name: &str| {
            let namespace = match subject.namespace() {
                "" => DEFAULT_NAMESPACE,
                namespace => namespace,
            };
            format!(
                "learn {what} {} {} {} {name}",
                quote(&kind(subject)),
                quote(subject.name()),
                quote(namespace)
            )
        };
        if reads || old.as_ref().is_none_or(|(old, _)| *old != version) {
            self.line(place("resourceVersion", &format!("rv{version}")));
        }
        if !self.uids.contains_key(&uid) {
            let name = format!("uid{}", self.uids.len() + 1);
            self.line(place("uid", &name));
            self.uids.insert(uid, format!("@{name}@"));
        }
    }

    /// A body with placeholders for versions and uids.
    fn with_names(&self, body: &Value) -> Value {
        let mut body = body.clone();
        self.name(&mut body, "");
        // The cluster has its own `managedFields`. Without them in the body, the cluster keeps its
        // own.
        let metadata = body.get_mut("metadata").and_then(Value::as_object_mut);
        metadata.map(|metadata| metadata.remove("managedFields"));
        // `test` of a JSON patch.
        for operation in body.as_array_mut().into_iter().flatten() {
            let field = operation.get("path").and_then(Value::as_str);
            let field = field.and_then(|path| path.strip_prefix("/metadata/"));
            if let Some(field) = field.map(str::to_owned)
                && let Some(value) = operation.get_mut("value")
            {
                self.name(value, &field);
            }
        }
        body
    }

    fn name(&self, value: &mut Value, field: &str) {
        match value {
            Value::String(text) if field == "resourceVersion" && !text.is_empty() => {
                *text = format!("@rv{text}@");
            }
            Value::String(text) if field == "uid" => {
                if let Some(name) = self.uids.get(text) {
                    text.clone_from(name);
                }
            }
            Value::Object(map) => {
                for (field, value) in map {
                    self.name(value, field);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.name(item, "")),
            _ => {}
        }
    }
}

fn is_custom(subject: &ObjectRef) -> bool {
    !matches!(subject.resource().definition, Definition::Builtin(_))
}

/// The name of the kind for kubectl.
fn kind(subject: &ObjectRef) -> String {
    let resource = subject.resource();
    if is_custom(subject) {
        return format!("{}.{}", resource.plural, resource.group_version.group);
    }
    resource.kind.to_ascii_lowercase()
}

/// Returns whether an object of a manifest is in a namespace: kubectl then refuses to be told another one.
fn names_a_namespace(manifests: &str) -> bool {
    let objects = objects(manifests).unwrap_or_default();
    objects.iter().any(|object| !object.namespace().is_empty())
}

/// Returns installed objects without the fields that only the server sets, so that a cluster
/// accepts them.
fn created(manifests: &str) -> String {
    let objects = objects(manifests).unwrap_or_default();
    let texts: Vec<String> = objects.iter().map(|it| to_yaml(&bare(it))).collect();
    texts.join("---\n")
}

//! The edits that the editors mean to make, as data: the pairs that are ready on the page, and
//! pairs that add to a value that is not there yet.

use serde_json::{Value, json};

/// A part of the way to a leaf.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Name(String),
    /// The item of a list with this name.
    Item(String),
    /// The item of a list that is this text.
    Text(String),
    /// The item of a list at this position.
    At(usize),
}

/// The way to a leaf; the empty one is the object.
pub type Place = Vec<Part>;

/// `spec.containers[nginx].args[=-v]`, `args[#0]`; a `/` in a name stands for a dot.
pub fn place(text: &str) -> Place {
    let mut parts = Vec::new();
    for name in text.split('.') {
        let (name, inside) = name.split_once('[').unwrap_or((name, ""));
        parts.push(Part::Name(name.replace('/', ".")));
        let inside = inside.trim_end_matches(']');
        if let Some(at) = inside.strip_prefix('#') {
            parts.push(Part::At(at.parse().unwrap()));
            continue;
        }
        match inside.strip_prefix('=') {
            Some(item) => parts.push(Part::Text(item.to_owned())),
            None if inside.is_empty() => {}
            None => parts.push(Part::Item(inside.to_owned())),
        }
    }
    parts
}

fn position(items: &[Value], part: &Part) -> Option<usize> {
    if let Part::At(at) = part {
        return (*at < items.len()).then_some(*at);
    }
    items.iter().position(|item| match part {
        Part::Item(name) => item["name"] == **name,
        Part::Text(text) => item == text,
        Part::Name(_) | Part::At(_) => false,
    })
}

pub fn find<'a>(object: &'a Value, place: &[Part]) -> Option<&'a Value> {
    place.iter().try_fold(object, |value, part| match part {
        Part::Name(name) => value.get(name),
        part => {
            let items = value.as_array()?;
            items.get(position(items, part)?)
        }
    })
}

fn set(object: &mut Value, place: &[Part], to: &Value) {
    let Some((part, rest)) = place.split_first() else {
        *object = to.clone();
        return;
    };
    match part {
        Part::Name(name) => {
            if !object.is_object() {
                *object = json!({});
            }
            set(&mut object[name], rest, to);
        }
        part => {
            if !object.is_array() {
                *object = json!([]);
            }
            let items = object.as_array_mut().unwrap();
            let at = position(items, part).unwrap_or_else(|| {
                items.push(Value::Null);
                items.len() - 1
            });
            set(&mut items[at], rest, to);
        }
    }
}

/// The address of a write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Through {
    Object,
    Status,
    Delete,
}

/// The intent of an editor.
#[derive(Clone, Debug)]
pub struct Doing {
    pub through: Through,
    pub leaves: Vec<(Place, Option<Value>)>,
}

impl Doing {
    fn new(through: Through, leaves: &[(&str, Value)]) -> Self {
        let leaves = leaves.iter().map(|(text, value)| {
            let value = (!value.is_null()).then(|| value.clone());
            (place(text), value)
        });
        Self {
            through,
            leaves: leaves.collect(),
        }
    }

    /// Makes the edits in an object.
    pub fn make(&self, object: &mut Value) {
        for (place, value) in &self.leaves {
            let (last, parent) = place.split_last().unwrap();
            match (value, last) {
                (Some(value), _) => set(object, place, value),
                (None, Part::Name(name)) if find(object, place).is_some() => {
                    let pointer = parent.iter().fold(&mut *object, |value, part| match part {
                        Part::Name(name) => &mut value[name],
                        part => {
                            let items = value.as_array_mut().unwrap();
                            let at = position(items, part).unwrap();
                            &mut items[at]
                        }
                    });
                    pointer.as_object_mut().unwrap().remove(name);
                }
                (None, _) => {}
            }
        }
    }
}

/// The starting object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Object {
    Deployment,
    /// With args.
    WithArgs,
    /// With a node selector and two args: an atomic map, and a list without keys.
    Atomic,
    Widget,
}

/// Two editors of one object.
pub struct Pair {
    pub name: &'static str,
    pub object: Object,
    edits: [&'static str; 2],
}

/// One editor's edits: `replicas = 5; …`, through `/status` if it begins so; empty: it deletes.
/// A value is JSON; none removes.
fn doing(text: &str) -> Doing {
    if text.is_empty() {
        return Doing {
            through: Through::Delete,
            leaves: vec![(Vec::new(), None)],
        };
    }
    let (through, text) = match text.strip_prefix("/status: ") {
        Some(rest) => (Through::Status, rest),
        None => (Through::Object, text),
    };
    let leaves: Vec<(&str, Value)> = text
        .split("; ")
        .map(|leaf| {
            let (place, value) = leaf.split_once(" = ").unwrap_or((leaf, "null"));
            (place, serde_json::from_str(value).unwrap())
        })
        .collect();
    Doing::new(through, &leaves)
}

impl Pair {
    pub fn doings(&self) -> [Doing; 2] {
        self.edits.map(doing)
    }

    pub fn path(&self) -> String {
        match self.object {
            Object::Deployment | Object::WithArgs | Object::Atomic => {
                "/apis/apps/v1/namespaces/default/deployments/web".to_owned()
            }
            Object::Widget => "/apis/example.com/v1/namespaces/default/widgets/w".to_owned(),
        }
    }

    /// Returns the manifest of the starting object.
    pub fn manifest(&self) -> String {
        if self.object == Object::Widget {
            return WIDGET.to_owned();
        }
        let mut container = json!({"name": "nginx", "image": "nginx:1.14.2"});
        if self.object == Object::WithArgs {
            container["args"] = json!(["--quiet"]);
        }
        let mut pod = json!({});
        if self.object == Object::Atomic {
            container["args"] = json!(["--quiet", "--color"]);
            pod["nodeSelector"] = json!({"os": "linux", "arch": "arm"});
        }
        pod["containers"] = json!([container]);
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "labels": {"app": "nginx", "team": "web"}},
            "spec": {
                "replicas": 3, "selector": {"matchLabels": {"app": "nginx"}},
                "template": {
                    "metadata": {"labels": {"app": "nginx"}},
                    "spec": pod,
                },
            },
        })
        .to_string()
    }
}

const WIDGET: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}}}
          status:
            type: object
            properties: {phase: {type: string}, ready: {type: integer}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec: {size: 1}
"#;

/// The ready pairs, and those of what is absent before.
pub const PAIRS: [Pair; 22] = [
    pair(
        "different fields",
        Object::Deployment,
        [
            "spec.replicas = 5",
            r#"spec.template.spec.containers[nginx].image = "nginx:1.25""#,
        ],
    ),
    pair(
        "same field",
        Object::Deployment,
        ["spec.replicas = 5", "spec.replicas = 2"],
    ),
    pair(
        "same value",
        Object::Deployment,
        ["spec.replicas = 5", "spec.replicas = 5"],
    ),
    pair(
        "two items",
        Object::Deployment,
        [
            r#"spec.template.spec.containers[sidecar] = {"name": "sidecar", "image": "busybox"}"#,
            r#"spec.template.spec.containers[proxy] = {"name": "proxy", "image": "envoy"}"#,
        ],
    ),
    pair(
        "list without keys",
        Object::WithArgs,
        [
            r#"spec.template.spec.containers[nginx].args[=--verbose] = "--verbose""#,
            r#"spec.template.spec.containers[nginx].args[=--debug] = "--debug""#,
        ],
    ),
    pair(
        "same item",
        Object::Deployment,
        [
            r#"spec.template.spec.containers[nginx].image = "nginx:1.25""#,
            r#"spec.template.spec.containers[nginx].imagePullPolicy = "Always""#,
        ],
    ),
    pair("one deletes", Object::Deployment, ["spec.replicas = 5", ""]),
    pair(
        "spec and status",
        Object::Deployment,
        [
            "spec.replicas = 5",
            "/status: status.replicas = 3; status.readyReplicas = 3",
        ],
    ),
    pair(
        "one removes, one deletes",
        Object::Deployment,
        ["metadata.labels.team", ""],
    ),
    pair(
        "first annotations",
        Object::Deployment,
        [
            r#"metadata.annotations.a = "1""#,
            r#"metadata.annotations.b = "2""#,
        ],
    ),
    pair(
        "the same first annotation",
        Object::Deployment,
        [
            r#"metadata.annotations.a = "1""#,
            r#"metadata.annotations.a = "2""#,
        ],
    ),
    pair(
        "first volumes",
        Object::Deployment,
        [
            r#"spec.template.spec.volumes[cache] = {"name": "cache", "emptyDir": {}}"#,
            r#"spec.template.spec.volumes[logs] = {"name": "logs", "emptyDir": {}}"#,
        ],
    ),
    pair(
        "first env",
        Object::Deployment,
        [
            r#"spec.template.spec.containers[nginx].env[A] = {"name": "A", "value": "1"}"#,
            r#"spec.template.spec.containers[nginx].env[B] = {"name": "B", "value": "2"}"#,
        ],
    ),
    pair(
        "first args",
        Object::Deployment,
        [
            r#"spec.template.spec.containers[nginx].args[=-v] = "-v""#,
            r#"spec.template.spec.containers[nginx].args[=-w] = "-w""#,
        ],
    ),
    pair(
        "first finalizers",
        Object::Deployment,
        [
            r#"metadata.finalizers[=x/a] = "x/a""#,
            r#"metadata.finalizers[=x/b] = "x/b""#,
        ],
    ),
    pair(
        "first members of an atomic map",
        Object::Deployment,
        [
            r#"spec.template.spec.nodeSelector.disk = "ssd""#,
            r#"spec.template.spec.nodeSelector.zone = "b""#,
        ],
    ),
    pair(
        "members of an atomic map",
        Object::Atomic,
        [
            r#"spec.template.spec.nodeSelector.os = "windows""#,
            r#"spec.template.spec.nodeSelector.zone = "b""#,
        ],
    ),
    pair(
        "a member of an atomic map goes",
        Object::Atomic,
        [
            "spec.template.spec.nodeSelector.os",
            r#"spec.template.spec.nodeSelector.arch = "amd""#,
        ],
    ),
    pair(
        "the same member of an atomic map",
        Object::Atomic,
        [
            r#"spec.template.spec.nodeSelector.os = "windows""#,
            r#"spec.template.spec.nodeSelector.os = "darwin""#,
        ],
    ),
    pair(
        "two items in place",
        Object::Atomic,
        [
            r#"spec.template.spec.containers[nginx].args[#0] = "--loud""#,
            r#"spec.template.spec.containers[nginx].args[#1] = "--plain""#,
        ],
    ),
    pair(
        "an item in place and one more",
        Object::Atomic,
        [
            r#"spec.template.spec.containers[nginx].args[#0] = "--loud""#,
            r#"spec.template.spec.containers[nginx].args[=--debug] = "--debug""#,
        ],
    ),
    pair(
        "first status of a custom resource",
        Object::Widget,
        [
            r#"/status: status.phase = "Ready""#,
            "/status: status.ready = 3",
        ],
    ),
];

const fn pair(name: &'static str, object: Object, edits: [&'static str; 2]) -> Pair {
    Pair {
        name,
        object,
        edits,
    }
}

/// The edits of a third one.
pub const THIRDS: [fn() -> Doing; 2] = [
    || doing(""),
    || doing(r#"metadata.annotations.checked = "yes""#),
];

/// Edits of a fourth editor: of a field that nobody else has, and of one that a pair may change too.
pub const FOURTHS: [fn() -> Doing; 2] = [
    || doing(r#"metadata.labels.seen = "yes""#),
    || doing("spec.replicas = 9"),
];

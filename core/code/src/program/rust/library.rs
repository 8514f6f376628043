//! The code below a reconciler in Rust: its context, and the functions that it calls.

use std::collections::BTreeMap;

use optimist_controller::program::Kind;

use super::{Rust, field_of, main_kind, store_of};
use crate::program::{Numbered, kinds};

impl Rust<'_> {
    /// Adds the context and the functions that the code uses. Returns the imports.
    pub(super) fn library(&mut self, body: &[Numbered<'_>]) -> String {
        let main = main_kind(self.program);
        let ty = main.map_or_else(|| "DynamicObject".to_owned(), |kind| self.type_of(&kind));
        self.lines.add(
            &format!(
                "\nfn error_policy(_: Arc<{ty}>, _: &kube::Error, _: Arc<Context>) -> Action {{\nAction::requeue(Duration::from_secs(5))\n}}\n"
            ),
            &(0..0),
        );
        let kinds = kinds(self.program, body);
        self.context(&kinds);
        // A function can call one that stands further below.
        for (call, text) in FUNCTIONS {
            if self.code().contains(call) {
                self.lines.add(text, &(0..0));
            }
        }
        for unused in ["let name = ", "let namespace = "] {
            self.drop_unused(unused);
        }
        imports(&self.code(), &self.typed_kinds(&kinds))
    }

    /// Removes a declaration that nothing uses.
    fn drop_unused(&mut self, declaration: &str) {
        let lines = &mut self.lines.lines;
        let at = lines
            .iter()
            .position(|line| line.text.contains(declaration));
        let Some(at) = at else { return };
        let name = declaration.split(' ').nth(1).unwrap_or_default();
        let below: Vec<_> = lines[at + 1..].iter().map(|line| &*line.text).collect();
        if !has_word(&below.join("\n"), name) {
            lines.remove(at);
        }
    }

    fn code(&self) -> String {
        let lines = self.lines.lines.iter();
        lines
            .map(|line| line.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn context(&mut self, kinds: &[Kind]) {
        let code = self.code();
        let mut fields = "\nstruct Context {\nclient: Client,\n".to_owned();
        for kind in kinds {
            let (store, field) = (store_of(kind), field_of(kind));
            if code.contains(&format!("ctx.{store}.")) {
                fields.push_str(&format!("{store}: Store<{}>,\n", self.type_of(kind)));
            }
            if !self.is_typed(kind) && code.contains(&format!("ctx.{field}")) {
                fields.push_str(&format!("{field}: ApiResource,\n"));
            }
        }
        if code.contains("ctx.expectations.") {
            fields.push_str("expectations: Arc<dyn Expectations + Send + Sync>,\n");
        }
        if code.contains("ctx.consistency.") {
            fields.push_str("consistency: Arc<dyn Consistency + Send + Sync>,\n");
        }
        self.lines.add(&(fields + "}\n"), &(0..0));
    }

    /// The kinds with a type of `k8s-openapi`: group, version and kind.
    fn typed_kinds(&self, kinds: &[Kind]) -> Vec<(String, String, String)> {
        let typed = kinds.iter().filter(|kind| self.is_typed(kind));
        typed
            .map(|kind| {
                let (group, version) = kind
                    .api_version
                    .split_once('/')
                    .unwrap_or(("core", &kind.api_version));
                let group = group.split('.').next().unwrap_or_default();
                (group.to_owned(), version.to_owned(), kind.kind.clone())
            })
            .collect()
    }
}

/// Returns whether code uses a name, other than as a member.
fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let part = |c: char| c.is_alphanumeric() || c == '_';
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        !before.is_some_and(|c| part(c) || c == '.') && !after.is_some_and(part)
    })
}

/// Names of other crates, with their paths.
const IMPORTS: [(&str, &str); 22] = [
    (
        "ObjectMeta",
        "k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta",
    ),
    (
        "OwnerReference",
        "k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference",
    ),
    ("Timestamp", "k8s_openapi::jiff::Timestamp"),
    ("Unit", "k8s_openapi::jiff::Unit"),
    ("Api", "kube::api::Api"),
    ("ApiResource", "kube::api::ApiResource"),
    ("DeleteParams", "kube::api::DeleteParams"),
    ("DynamicObject", "kube::api::DynamicObject"),
    ("ListParams", "kube::api::ListParams"),
    ("Patch", "kube::api::Patch"),
    ("PatchParams", "kube::api::PatchParams"),
    ("PostParams", "kube::api::PostParams"),
    ("Preconditions", "kube::api::Preconditions"),
    ("TypeMeta", "kube::api::TypeMeta"),
    ("Action", "kube::runtime::controller::Action"),
    ("ObjectRef", "kube::runtime::reflector::ObjectRef"),
    ("Store", "kube::runtime::reflector::Store"),
    ("Client", "kube::Client"),
    ("ResourceExt", "kube::ResourceExt"),
    ("Serialize", "serde::Serialize"),
    ("Value", "serde_json::Value"),
    ("json", "serde_json::json"),
];

/// The imports of the code.
fn imports(code: &str, typed: &[(String, String, String)]) -> String {
    let mut lines = String::new();
    let word = |word: &str| has_word(code, word);
    if word("BTreeMap") {
        lines.push_str("use std::collections::BTreeMap;\n");
    }
    lines.push_str("use std::sync::Arc;\nuse std::time::Duration;\n\n");
    let mut modules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut add = |path: &'static str| {
        if let Some((module, name)) = path.rsplit_once("::") {
            modules.entry(module).or_default().push(name);
        }
    };
    for (group, version, kind) in typed {
        if word(kind) {
            lines.push_str(&format!(
                "use k8s_openapi::api::{group}::{version}::{kind};\n"
            ));
        }
    }
    for (name, path) in IMPORTS {
        let used = match name {
            "ResourceExt" => code.contains("()"),
            name => word(name),
        };
        if used {
            add(path);
        }
    }
    if code.contains(".controller_owner_ref(") {
        add("kube::Resource");
    }
    for (module, names) in modules {
        lines.push_str(&match names.as_slice() {
            [name] => format!("use {module}::{name};\n"),
            names => format!("use {module}::{{{}}};\n", names.join(", ")),
        });
    }
    lines
}

/// Functions and traits, with what calls them. A later one can be called by an earlier one.
const FUNCTIONS: [(&str, &str); 9] = [
    ("is_controlled_by(", IS_CONTROLLED_BY),
    ("merge_from_locked(", MERGE_FROM_LOCKED),
    ("merge_from(", MERGE_FROM),
    ("with_item(", WITH_ITEM),
    ("without_item(", WITHOUT_ITEM),
    (" field(", FIELD),
    ("text(&", TEXT),
    ("ctx.expectations.", EXPECTATIONS),
    ("ctx.consistency.", CONSISTENCY),
];

const IS_CONTROLLED_BY: &str = "
/// Returns whether this owner is the controller of an object.
fn is_controlled_by(object: &impl ResourceExt, owner: &impl ResourceExt) -> bool {
let controls = |reference: &&OwnerReference| reference.controller == Some(true);
let controller = object.owner_references().iter().find(controls);
controller.map(|controller| &controller.uid) == owner.meta().uid.as_ref()
}
";

const MERGE_FROM_LOCKED: &str = "
/// The same, refused if the object has another version than the base.
fn merge_from_locked(base: &impl Serialize, object: &impl Serialize) -> Value {
let mut patch = merge_from(base, object);
patch[\"metadata\"][\"resourceVersion\"] = json!(base)[\"metadata\"][\"resourceVersion\"].clone();
patch
}
";

const MERGE_FROM: &str = "
/// The merge patch from one state of an object to another. Lists are sent whole.
fn merge_from(base: &impl Serialize, object: &impl Serialize) -> Value {
fn difference(base: &Value, object: &Value) -> Value {
let mut patch = json!({});
for (key, _) in base.as_object().into_iter().flatten() {
if object.get(key).is_none() {
patch[key] = Value::Null;
}
}
for (key, value) in object.as_object().into_iter().flatten() {
match base.get(key) {
Some(before) if before == value => {}
Some(before) if before.is_object() && value.is_object() => patch[key] = difference(before, value),
_ => patch[key] = value.clone(),
}
}
patch
}
difference(&json!(base), &json!(object))
}
";

const WITH_ITEM: &str = "
/// A list with an item.
fn with_item(list: Value, item: &str) -> Value {
let mut items = list.as_array().cloned().unwrap_or_default();
if !items.contains(&json!(item)) {
items.push(json!(item));
}
json!(items)
}
";

const WITHOUT_ITEM: &str = "
/// A list without an item.
fn without_item(list: Value, item: &str) -> Value {
let mut items = list.as_array().cloned().unwrap_or_default();
items.retain(|known| known != item);
json!(items)
}
";

const FIELD: &str = "
/// A field of an object; null if it has no such field.
fn field(object: &impl Serialize, pointer: &str) -> Value {
json!(object).pointer(pointer).cloned().unwrap_or_default()
}
";

const TEXT: &str = "
/// A value as a text.
fn text(value: &Value) -> String {
match value {
Value::Null => String::new(),
Value::String(text) => text.clone(),
other => other.to_string(),
}
}
";

const EXPECTATIONS: &str = "
/// Counts the events that have not arrived, as `ControllerExpectations` of Kubernetes does.
trait Expectations {
fn satisfied(&self, key: &str) -> bool;
fn set(&self, key: &str, creations: u32, deletions: u32);
fn creation_observed(&self, key: &str);
fn deletion_observed(&self, key: &str);
}
";

const CONSISTENCY: &str = "
/// Remembers what was written, and whether the stores have it.
trait Consistency {
fn ensure_ready(&self, key: &str) -> Result<(), kube::Error>;
fn wrote_at(&self, key: &str, owner: Option<String>, version: Option<String>);
}
";

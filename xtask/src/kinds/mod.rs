//! `cargo xtask kinds`: makes the types of all built-in kinds (`kinds.schema` of the core) from the
//! Go types of the Kubernetes API, for the kinds in `kinds.facts` of the core, and the table of their
//! protobuf messages (`messages.facts` of `core/protobuf`).

mod go_types;
mod messages;
mod sources;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use crate::failure::{Failure, StageResult};
use crate::workspace::Workspace;
use go_types::{GoField, GoShape, GoType, Markers};
use sources::{META, Sources};

const DEFAULTS: &str = include_str!("defaults.txt");
const FACTS: &str = "core/apiserver/src/schema/kinds.facts";
const TABLE: &str = "core/apiserver/src/schema/kinds.schema";
const FIRST: &str = "core/apiserver/src/schema/builtin.schema";
const MESSAGES: &str = "core/protobuf/src/messages.facts";

/// An example of the command.
pub const USAGE: &str = "cargo xtask kinds ../kubernetes/staging/src/k8s.io";

/// The packages whose types are in `builtin.schema`.
const FIRST_SECTIONS: [&str; 5] = [
    "core/v1",
    META,
    "apps/v1",
    "coordination/v1",
    "autoscaling/v1",
];

const HEAD: &str = "\
# The types of all built-in kinds in kinds.facts (k8s.io/api, v1.36): made by `cargo xtask kinds`.
#
#   @package     the types that follow are of this package
#   the rest     as in builtin.schema; /T is a type of that table, and package/T one of another package
";

/// Writes the tables from `staging/src/k8s.io` of a checkout of Kubernetes.
pub fn make(workspace: &Workspace, staging: &str) -> StageResult<()> {
    let root = workspace.root();
    let read = |path: &Path| {
        fs::read_to_string(path)
            .map_err(|e| Failure::new(format!("{}: {e}", path.display()), USAGE))
    };
    let first = read(&root.join(FIRST))?;
    let facts = read(&root.join(FACTS))?;
    let mut table = SchemaTable::new(Sources::new(Path::new(staging)), &first);
    for line in DEFAULTS.lines().filter(|line| !line.starts_with('#')) {
        let (field, json) = line.split_once(' ').unwrap_or((line, "null"));
        table.defaults.insert(field.to_owned(), json.to_owned());
    }
    let mut kinds = Vec::new();
    for line in facts.lines() {
        let mut words = line.split(' ');
        let section = section_of(words.next().unwrap_or_default());
        let kind = words.next().unwrap_or_default();
        table.add(&section, kind);
        kinds.push((section, kind.to_owned()));
    }
    let write = |path: &str, text: String| {
        fs::write(root.join(path), text)
            .map_err(|error| Failure::new(format!("{path}: {error}"), "check its permissions"))
    };
    write(TABLE, format!("{HEAD}{}", table.written()))?;
    let messages = messages::of_kinds(&mut table.sources, &kinds);
    write(MESSAGES, messages.written())?;
    for difference in table.differences.iter().chain(&messages.lacks) {
        println!("{difference}");
    }
    Ok(())
}

/// `rbac/v1` of `rbac.authorization.k8s.io/v1`; `core/v1` of `v1`.
fn section_of(api_version: &str) -> String {
    match api_version.split_once('/') {
        Some((group, version)) => {
            let first = group.split('.').next().unwrap_or(group);
            format!("{first}/{version}")
        }
        None => format!("core/{api_version}"),
    }
}

struct SchemaTable<'a> {
    sources: Sources,
    /// The declarations of `builtin.schema`, by type.
    first: HashMap<&'a str, Vec<&'a str>>,
    defaults: HashMap<String, String>,
    seen: HashSet<(String, String)>,
    sections: Vec<(String, String)>,
    differences: Vec<String>,
}

impl<'a> SchemaTable<'a> {
    fn new(sources: Sources, first: &'a str) -> Self {
        let mut types: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut name = "";
        for line in first.lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix('\t') {
                Some(field) => types.entry(name).or_default().push(field),
                None => {
                    name = line.split(' ').next().unwrap_or_default();
                    types.entry(name).or_default();
                }
            }
        }
        Self {
            sources,
            first: types,
            defaults: HashMap::new(),
            seen: HashSet::new(),
            sections: Vec::new(),
            differences: Vec::new(),
        }
    }

    fn in_first(&self, section: &str, name: &str) -> bool {
        FIRST_SECTIONS.contains(&section) && self.first.contains_key(name)
    }

    /// Adds a type, after the types of its fields.
    fn add(&mut self, section: &str, name: &str) {
        self.sources.load(section);
        if !self.seen.insert((section.to_owned(), name.to_owned())) {
            return;
        }
        let Some(GoType {
            markers,
            shape: GoShape::Struct(_),
        }) = self.sources.package(section).types.get(name)
        else {
            let lack = format!("{section}.{name} is not a struct in its package");
            self.differences.push(lack);
            return;
        };
        let kinds = ["structType", "mapType"].map(|marker| markers.get(marker));
        let atomic = kinds.contains(&Some("atomic"));
        let fields = self.fields(section, name);
        if self.in_first(section, name) {
            self.compare(name, &fields);
            return;
        }
        let mut text = format!("{name}{}\n", if atomic { " atomic" } else { "" });
        for field in fields {
            text.push_str(&format!("\t{field}\n"));
        }
        self.sections.push((section.to_owned(), text));
    }

    /// The declarations of a struct's fields.
    fn fields(&mut self, section: &str, name: &str) -> Vec<String> {
        let Some(GoType {
            shape: GoShape::Struct(fields),
            ..
        }) = self.sources.package(section).types.get(name)
        else {
            return Vec::new();
        };
        let fields = fields.clone();
        let mut lines = Vec::new();
        for field in fields {
            if field.json.is_empty() {
                match field.ty.trim_start_matches('*') {
                    "metav1.TypeMeta" => {
                        lines.extend(["kind string?".to_owned(), "apiVersion string?".to_owned()])
                    }
                    inline => {
                        let (package, inline) = self.sources.named(section, inline);
                        self.sources.load(&package);
                        lines.extend(self.fields(&package, &inline));
                    }
                }
                continue;
            }
            lines.push(self.field(section, name, &field));
        }
        lines
    }

    fn field(&mut self, section: &str, owner: &str, field: &GoField) -> String {
        let (pointer, ty) = match field.ty.strip_prefix('*') {
            Some(ty) => ("*", ty),
            None => ("", field.ty.as_str()),
        };
        let mut markers = field.markers.clone();
        let shape = self.shape(section, ty, &mut markers);
        let omit = if field.options.iter().any(|o| o == "omitzero") {
            "??"
        } else if field.options.iter().any(|o| o == "omitempty") {
            "?"
        } else {
            ""
        };
        let mut line = format!("{} {pointer}{shape}{omit}", field.json);
        let is_list = shape.starts_with("[]");
        let merges = field.patch_strategy.split(',').any(|s| s == "merge");
        let kind = if is_list {
            match (
                markers.get("listType"),
                merges,
                field.patch_merge_key.as_str(),
            ) {
                (Some("map"), ..) => {
                    let keys: Vec<&str> = markers.all("listMapKey").collect();
                    format!("map({})", keys.join(","))
                }
                (Some("set"), ..) | (None, true, "") => "set".to_owned(),
                (None, true, key) => format!("map({key})"),
                _ => String::new(),
            }
        } else {
            let kind = markers.get("structType").or(markers.get("mapType"));
            kind.unwrap_or_default().to_owned()
        };
        if !kind.is_empty() {
            line.push_str(&format!(" {kind}"));
        }
        if !field.patch_strategy.is_empty() {
            let key = match field.patch_merge_key.as_str() {
                "" => String::new(),
                key => format!(":{key}"),
            };
            line.push_str(&format!(" patch={}{key}", field.patch_strategy));
        }
        let name = format!("{section}.{owner}.{}", field.json);
        if let Some(default) = self
            .defaults
            .get(&name)
            .cloned()
            .or_else(|| self.marked_default(section, &markers))
        {
            line.push_str(&format!(" = {default}"));
        }
        line
    }

    fn marked_default(&self, section: &str, markers: &Markers) -> Option<String> {
        let default = markers.get("default")?;
        let Some(constant) = default
            .strip_prefix("ref(")
            .and_then(|d| d.strip_suffix(')'))
        else {
            return Some(default.to_owned());
        };
        let value = self.sources.package(section).constants.get(constant)?;
        Some(format!("\"{value}\""))
    }

    /// A type in the syntax of the table. The markers of an alias are added to `markers`.
    fn shape(&mut self, section: &str, ty: &str, markers: &mut Markers) -> String {
        if ty == "[]byte" {
            return "bytes".to_owned();
        }
        if let Some(item) = ty.strip_prefix("[]") {
            return format!(
                "[]{}",
                self.shape(section, item.trim_start_matches('*'), markers)
            );
        }
        if let Some(value) = ty
            .strip_prefix("map[")
            .and_then(|rest| rest.split_once(']'))
        {
            return format!("{{}}{}", self.shape(section, value.1, markers));
        }
        if let Some(plain) = plain_type(section, ty) {
            return plain.to_owned();
        }
        let (package, name) = self.sources.named(section, ty);
        self.sources.load(&package);
        let alias = match self.sources.package(&package).types.get(&name) {
            Some(GoType {
                shape: GoShape::Alias(alias),
                markers: own,
            }) => {
                if markers.get("listType").is_none() && own.get("listType").is_some() {
                    *markers = own.clone();
                }
                Some(alias.clone())
            }
            _ => None,
        };
        if let Some(alias) = alias {
            return self.shape(&package, &alias, markers);
        }
        self.add(&package, &name);
        if self.in_first(&package, &name) {
            let own = self.sources.package(section).types.contains_key(&name)
                && !self.in_first(section, &name);
            return if own { format!("/{name}") } else { name };
        }
        if package == section {
            name
        } else {
            format!("{package}/{name}")
        }
    }

    /// Records the differences to `builtin.schema`, which is written by hand.
    fn compare(&mut self, name: &str, fields: &[String]) {
        let plain = |line: &str| line.split(" = ").next().unwrap_or_default().to_owned();
        let made: Vec<String> = fields.iter().map(|line| plain(line)).collect();
        let kept: Vec<String> = self.first[name].iter().map(|line| plain(line)).collect();
        for line in made.iter().filter(|line| !kept.contains(line)) {
            self.differences
                .push(format!("{FIRST} lacks {name}: {line}"));
        }
        for line in kept.iter().filter(|line| !made.contains(line)) {
            self.differences
                .push(format!("{FIRST} has in addition {name}: {line}"));
        }
    }

    fn written(&self) -> String {
        let mut text = String::new();
        let mut last = "";
        for (section, declared) in &self.sections {
            if section != last {
                text.push_str(&format!("@{section}\n"));
                last = section;
            }
            text.push_str(declared);
        }
        text
    }
}

/// A type that the table has a word for; a package may have a `Time` of its own.
fn plain_type<'a>(section: &str, ty: &'a str) -> Option<&'a str> {
    Some(match ty {
        "string" | "bool" | "int32" | "int64" => ty,
        "int" | "uint32" => "int64",
        "float64" => "number",
        "metav1.Time" | "Time" if section == META || ty != "Time" => "time",
        "metav1.MicroTime" => "microtime",
        "metav1.Duration" => "string",
        "runtime.RawExtension" => "raw",
        "metav1.FieldsV1" | "FieldsV1" | "runtime.Unknown" => "any",
        "resource.Quantity" => "quantity",
        "intstr.IntOrString" => "intorstring",
        _ if ty.starts_with("types.") => "string",
        _ => return None,
    })
}

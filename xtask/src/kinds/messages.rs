//! The table of protobuf messages: of each Go type the fields with their numbers, which are in the
//! tags of the types.

use std::collections::{BTreeMap, HashSet};

use super::go_types::{GoField, GoShape, GoType};
use super::plain_type;
use super::sources::{META, Sources};

const HEAD: &str = "\
# The protobuf messages of the Kubernetes API (v1.36): made by `cargo xtask kinds`.
#
#   @package     the messages that follow are of this package
#   Message
#   <tab>json number type [name in Go, if it is not the one in JSON with a capital letter, or the type's]
#
# json   the member in JSON; . where the field is in the message's own JSON
# type   string bool int32 int64 number bytes time microtime quantity intorstring any (JSON as text), or
#        a message; schemaor... have both in JSON; *T may be absent, []T is a list, {}T a map
";

/// The messages that are on the wire besides those of stored kinds and of their lists.
const OTHERS: [(&str, &[&str]); 9] = [
    (
        META,
        &[
            "APIGroup",
            "APIGroupList",
            "APIResourceList",
            "APIVersions",
            "CreateOptions",
            "DeleteOptions",
            "PartialObjectMetadata",
            "PartialObjectMetadataList",
            "PatchOptions",
            "Status",
            "UpdateOptions",
        ],
    ),
    (
        "core/v1",
        &["Binding", "ComponentStatus", "ComponentStatusList"],
    ),
    ("policy/v1", &["Eviction"]),
    ("autoscaling/v1", &["Scale"]),
    (
        "authentication/v1",
        &["SelfSubjectReview", "TokenRequest", "TokenReview"],
    ),
    (
        "authorization/v1",
        &[
            "LocalSubjectAccessReview",
            "SelfSubjectAccessReview",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
        ],
    ),
    (
        "apiextensions/v1",
        &["CustomResourceDefinition", "CustomResourceDefinitionList"],
    ),
    ("apidiscovery/v2", &["APIGroupDiscoveryList"]),
    ("apiregistration/v1", &["APIService", "APIServiceList"]),
];

/// The table.
#[derive(Default)]
pub struct Messages {
    /// The texts of the messages, by package and name.
    sections: BTreeMap<(String, String), String>,
    seen: HashSet<(String, String)>,
    /// The fields of Go types that have no number.
    pub lacks: Vec<String>,
}

/// Returns the messages of these kinds, each with its list, and the other messages on the wire.
pub fn of_kinds(sources: &mut Sources, kinds: &[(String, String)]) -> Messages {
    let mut messages = Messages::default();
    for (section, kind) in kinds {
        messages.add(sources, section, kind);
        messages.add(sources, section, &format!("{kind}List"));
    }
    for (section, names) in OTHERS {
        for name in names {
            messages.add(sources, section, name);
        }
    }
    messages
}

impl Messages {
    fn add(&mut self, sources: &mut Sources, section: &str, name: &str) {
        let key = (section.to_owned(), name.to_owned());
        if !self.seen.insert(key.clone()) {
            return;
        }
        sources.load(section);
        let fields = match sources.package(section).types.get(name) {
            Some(GoType {
                shape: GoShape::Struct(fields),
                ..
            }) => fields.clone(),
            Some(GoType {
                shape: GoShape::Alias(alias),
                ..
            }) => {
                let shape = alias.clone();
                let shape = self.shape(sources, section, &shape);
                self.sections
                    .insert(key, format!("{name}\n\t. 1 {shape} Items\n"));
                return;
            }
            None => {
                self.lacks
                    .push(format!("{section}.{name} is not in its package"));
                return;
            }
        };
        let mut lines = Vec::new();
        self.fields(sources, section, name, &fields, &mut lines);
        lines.sort_unstable();
        let lines: String = lines
            .into_iter()
            .map(|(_, line)| format!("\t{line}\n"))
            .collect();
        self.sections.insert(key, format!("{name}\n{lines}"));
    }

    fn fields(
        &mut self,
        sources: &mut Sources,
        section: &str,
        owner: &str,
        fields: &[GoField],
        lines: &mut Vec<(u32, String)>,
    ) {
        for field in fields {
            let Some(number) = field.number else {
                if !field.ty.ends_with("TypeMeta") {
                    let (name, owner) = (&field.name, format!("{section}.{owner}"));
                    self.lacks.push(format!("{owner}.{name} has no number"));
                }
                continue;
            };
            let (pointer, ty) = match field.ty.strip_prefix('*') {
                Some(ty) => ("*", ty),
                None => ("", field.ty.as_str()),
            };
            let shape = self.shape(sources, section, ty);
            let json = match field.json.as_str() {
                "" => ".",
                json => json,
            };
            let mut line = format!("{json} {number} {pointer}{shape}");
            let usual = match json {
                "." => shape.rsplit('/').next().unwrap_or_default().to_owned(),
                json => capitalized(json),
            };
            if field.name != usual {
                line.push_str(&format!(" {}", field.name));
            }
            lines.push((number, line));
        }
    }

    fn shape(&mut self, sources: &mut Sources, section: &str, ty: &str) -> String {
        if ty == "[]byte" {
            return "bytes".to_owned();
        }
        if let Some(item) = ty.strip_prefix("[]") {
            let item = self.shape(sources, section, item.trim_start_matches('*'));
            return format!("[]{item}");
        }
        if let Some((_, value)) = ty
            .strip_prefix("map[")
            .and_then(|rest| rest.split_once(']'))
        {
            return format!("{{}}{}", self.shape(sources, section, value));
        }
        if let Some(plain) = plain_type(section, ty) {
            return plain.to_owned();
        }
        let (package, name) = sources.named(section, ty);
        match (package.as_str(), name.as_str()) {
            ("apiextensions/v1", "JSON") => return "any".to_owned(),
            ("apiextensions/v1", "JSONSchemaPropsOrBool") => return "schemaorbool".to_owned(),
            ("apiextensions/v1", "JSONSchemaPropsOrArray") => return "schemaorlist".to_owned(),
            ("apiextensions/v1", "JSONSchemaPropsOrStringArray") => {
                return "schemaorstrings".to_owned();
            }
            _ => {}
        }
        sources.load(&package);
        if let Some(GoType {
            shape: GoShape::Alias(alias),
            markers,
        }) = sources.package(&package).types.get(&name)
            && markers.get("protobuf.nullable").is_none()
        {
            let alias = alias.clone();
            return self.shape(sources, &package, &alias);
        }
        self.add(sources, &package, &name);
        if package == section {
            name
        } else {
            format!("{package}/{name}")
        }
    }

    /// The text of the table.
    pub fn written(&self) -> String {
        let mut text = HEAD.to_owned();
        let mut last = "";
        for ((section, _), message) in &self.sections {
            if section != last {
                text.push_str(&format!("@{section}\n"));
                last = section;
            }
            text.push_str(message);
        }
        text
    }
}

fn capitalized(json: &str) -> String {
    let mut letters = json.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

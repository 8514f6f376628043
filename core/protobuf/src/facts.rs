//! The table of messages.

use std::collections::BTreeMap;
use std::sync::LazyLock;

const TABLE: &str = include_str!("messages.facts");

/// The package of the types that all groups have in common.
const META: &str = "meta/v1";

/// All messages.
pub(crate) struct Descriptors {
    messages: Vec<MessageDescriptor>,
    /// By package and name, `core/v1/Pod`.
    index: BTreeMap<String, usize>,
}

/// A message: the fields by number.
pub(crate) struct MessageDescriptor {
    pub(crate) package: &'static str,
    pub(crate) name: &'static str,
    pub(crate) fields: Vec<FieldDescriptor>,
}

pub(crate) struct FieldDescriptor {
    /// The member in JSON; `.` if the field is in the message's own JSON.
    pub(crate) json: &'static str,
    pub(crate) number: u32,
    pub(crate) shape: Cardinality,
    pub(crate) ty: FieldType,
    /// The name in Go, which errors show; empty if it follows from the one in JSON.
    in_go: &'static str,
}

/// The number of values of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cardinality {
    /// One, which is written even if it is zero.
    One,
    /// One or none.
    Pointer,
    List,
    /// A map from strings.
    Map,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldType {
    String,
    Bool,
    Int32,
    Int64,
    Number,
    Bytes,
    Time,
    MicroTime,
    Quantity,
    IntOrString,
    /// JSON as text, in a message of its own.
    Any,
    SchemaOr(Alternative),
    Message(usize),
}

/// The content in the place of a schema in a CustomResourceDefinition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alternative {
    Bool,
    Schemas,
    Strings,
}

impl Descriptors {
    pub(crate) fn get() -> &'static Self {
        static FACTS: LazyLock<Descriptors> = LazyLock::new(read);
        &FACTS
    }

    /// The message of a kind.
    pub(crate) fn of_kind(&self, api_version: &str, kind: &str) -> Option<&MessageDescriptor> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let first = match group.split('.').next() {
            None | Some("") => "core",
            Some(first) => first,
        };
        let of = |package: &str| self.index.get(&format!("{package}/{kind}"));
        let found = of(&format!("{first}/{version}")).or_else(|| of(META))?;
        // `autoscaling.example.com/v1` is not `autoscaling/v1`.
        let ours = group.is_empty() || !group.contains('.') || group.ends_with(".k8s.io");
        let message = &self.messages[*found];
        // What is a list in JSON is no object.
        (ours && !message.is_list()).then_some(message)
    }

    pub(crate) fn message(&self, index: usize) -> &MessageDescriptor {
        &self.messages[index]
    }

    /// The package of each message that is in a kind, by the name of the message.
    pub(crate) fn packages_of(&self, api_version: &str, kind: &str) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut open: Vec<&MessageDescriptor> =
            self.of_kind(api_version, kind).into_iter().collect();
        while let Some(message) = open.pop() {
            let package = message.package.to_owned();
            if found.insert(message.name.to_owned(), package).is_some() {
                continue;
            }
            open.extend(message.fields.iter().filter_map(|field| match field.ty {
                FieldType::Message(index) => Some(self.message(index)),
                FieldType::SchemaOr(_) => self.schema().map(|index| self.message(index)),
                _ => None,
            }));
        }
        found
    }

    /// The message of a schema in a CustomResourceDefinition.
    pub(crate) fn schema(&self) -> Option<usize> {
        self.index.get("apiextensions/v1/JSONSchemaProps").copied()
    }

    /// The version and name of each message with metadata, and of those that all groups have.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (String, &'static str)> {
        self.index.iter().filter_map(|(full_name, index)| {
            let message = &self.messages[*index];
            let (package, _) = full_name.rsplit_once('/')?;
            let has_metadata = message.fields.iter().any(|field| field.json == "metadata");
            let api_version = match package {
                META => "v1",
                package => package.strip_prefix("core/").unwrap_or(package),
            };
            let kind = (api_version.to_owned(), message.name);
            let is_object = !message.is_list() && (has_metadata || package == META);
            is_object.then_some(kind)
        })
    }
}

impl MessageDescriptor {
    pub(crate) fn field(&self, number: u32) -> Option<&FieldDescriptor> {
        let place = self.fields.binary_search_by_key(&number, |f| f.number);
        place.ok().map(|i| &self.fields[i])
    }

    /// The type of the items if the message is a list in JSON.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.fields.as_slice(), [field] if field.json == "." && field.shape == Cardinality::List)
    }
}

impl FieldDescriptor {
    /// The name in Go.
    pub(crate) fn in_go(&self, facts: &Descriptors) -> String {
        match (self.in_go, self.json, self.ty) {
            ("", ".", FieldType::Message(index)) => facts.message(index).name.to_owned(),
            ("", json, _) => {
                let (first, rest) = json.split_at(json.len().min(1));
                first.to_ascii_uppercase() + rest
            }
            (in_go, _, _) => in_go.to_owned(),
        }
    }
}

fn read() -> Descriptors {
    let lines = || TABLE.lines().filter(|line| !line.starts_with('#'));
    let mut index = BTreeMap::new();
    let mut package = "";
    for line in lines() {
        match line.strip_prefix('@') {
            Some(named) => package = named,
            None if !line.starts_with('\t') => {
                let place = index.len();
                index.insert(format!("{package}/{line}"), place);
            }
            None => {}
        }
    }
    let mut messages: Vec<MessageDescriptor> = Vec::with_capacity(index.len());
    for line in lines() {
        if let Some(named) = line.strip_prefix('@') {
            package = named;
        } else if let Some(declared) = line.strip_prefix('\t') {
            if let (Some(message), Some(field)) =
                (messages.last_mut(), field(declared, package, &index))
            {
                message.fields.push(field);
            }
        } else {
            let fields = Vec::new();
            messages.push(MessageDescriptor {
                package,
                name: line,
                fields,
            });
        }
    }
    Descriptors { messages, index }
}

fn field(
    declared: &'static str,
    package: &str,
    index: &BTreeMap<String, usize>,
) -> Option<FieldDescriptor> {
    let mut words = declared.split(' ');
    let (json, number, shaped) = (words.next()?, words.next()?, words.next()?);
    let (shape, name) = if let Some(name) = shaped.strip_prefix('*') {
        (Cardinality::Pointer, name)
    } else if let Some(name) = shaped.strip_prefix("[]") {
        (Cardinality::List, name)
    } else if let Some(name) = shaped.strip_prefix("{}") {
        (Cardinality::Map, name)
    } else {
        (Cardinality::One, shaped)
    };
    let ty = match name {
        "string" => FieldType::String,
        "bool" => FieldType::Bool,
        "int32" => FieldType::Int32,
        "int64" => FieldType::Int64,
        "number" => FieldType::Number,
        "bytes" => FieldType::Bytes,
        "time" => FieldType::Time,
        "microtime" => FieldType::MicroTime,
        "quantity" => FieldType::Quantity,
        "intorstring" => FieldType::IntOrString,
        "any" => FieldType::Any,
        "schemaorbool" => FieldType::SchemaOr(Alternative::Bool),
        "schemaorlist" => FieldType::SchemaOr(Alternative::Schemas),
        "schemaorstrings" => FieldType::SchemaOr(Alternative::Strings),
        name if name.contains('/') => FieldType::Message(*index.get(name)?),
        name => FieldType::Message(*index.get(&format!("{package}/{name}"))?),
    };
    Some(FieldDescriptor {
        json,
        number: number.parse().ok()?,
        shape,
        ty,
        in_go: words.next().unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_field_with_a_number_of_its_own() {
        let fields: usize = Descriptors::get()
            .messages
            .iter()
            .map(|m| m.fields.len())
            .sum();
        assert_eq!(
            fields,
            TABLE.lines().filter(|l| l.starts_with('\t')).count()
        );
        for message in &Descriptors::get().messages {
            let ascending = message.fields.is_sorted_by(|a, b| a.number < b.number);
            assert!(ascending, "{}", message.name);
        }
    }

    #[test]
    fn kinds_of_groups_that_are_not_built_in_have_no_message() {
        let facts = Descriptors::get();
        assert!(facts.of_kind("v1", "Pod").is_some());
        assert!(facts.of_kind("policy/v1", "DeleteOptions").is_some());
        assert!(
            facts
                .of_kind("meta.k8s.io/v1", "PartialObjectMetadata")
                .is_some()
        );
        assert!(
            facts
                .of_kind("rbac.authorization.k8s.io/v1", "RoleList")
                .is_some()
        );
        assert!(facts.of_kind("apps.example.com/v1", "Deployment").is_none());
        assert!(facts.of_kind("v1", "Nothing").is_none());
        assert!(facts.of_kind("v1", "Verbs").is_none());
    }
}

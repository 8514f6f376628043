//! The types that a schema declares for its rules
//! (`k8s.io/apiserver/pkg/cel/common/schemas.go SchemaDeclType`, v1.36).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::parser::RESERVED;
use super::types::CelType;
use crate::schema::ValueSchema;

/// The largest request that a server reads, in bytes (`apis/cel/config.go MaxRequestSizeBytes`).
pub const MAX_REQUEST: i64 = 3 * 1024 * 1024;

/// The declaration that a schema makes of its values.
#[derive(Debug)]
pub struct Declared {
    /// The form of the values.
    pub shape: DeclaredShape,
    /// The most characters, bytes, items or members of a value.
    pub max_elements: i64,
    /// The fewest bytes of a value in JSON.
    pub min_size: i64,
}

/// The form of the values of a schema.
#[derive(Debug)]
pub enum DeclaredShape {
    /// Values of a type without parts.
    Simple(CelType),
    /// Items of one declaration.
    List(Arc<Declared>),
    /// Members of one declaration.
    Map(Arc<Declared>),
    /// Declared members, by names that are identifiers.
    Object(BTreeMap<String, Arc<Declared>>),
}

impl Declared {
    fn simple(ty: CelType, max_elements: i64, min_size: i64) -> Arc<Self> {
        let shape = DeclaredShape::Simple(ty);
        Arc::new(Self {
            shape,
            max_elements,
            min_size,
        })
    }

    /// The type of an object with these fields.
    pub(super) fn object_with(fields: &[(&str, CelType)]) -> CelType {
        let fields = fields.iter();
        let fields = fields.map(|(name, ty)| {
            let field = Self::simple(ty.clone(), MAX_REQUEST, 1);
            ((*name).to_owned(), field)
        });
        let shape = DeclaredShape::Object(fields.collect());
        CelType::Object(Arc::new(Self {
            shape,
            max_elements: MAX_REQUEST,
            min_size: 1,
        }))
    }

    /// The type that the checker sees.
    pub fn ty(self: &Arc<Self>) -> CelType {
        match &self.shape {
            DeclaredShape::Simple(ty) => ty.clone(),
            DeclaredShape::List(item) => CelType::List(Box::new(item.ty())),
            DeclaredShape::Map(value) => {
                CelType::Map(Box::new(CelType::String), Box::new(value.ty()))
            }
            DeclaredShape::Object(_) => CelType::Object(self.clone()),
        }
    }

    /// The declaration of a part, by the name that paths have for it.
    pub(super) fn part(&self, name: &str) -> Option<&Arc<Declared>> {
        match &self.shape {
            DeclaredShape::List(of) | DeclaredShape::Map(of) => {
                ["@items", "@values"].contains(&name).then_some(of)
            }
            DeclaredShape::Object(fields) => fields.get(name),
            DeclaredShape::Simple(_) => None,
        }
    }

    /// Returns the declaration that a schema makes; `None` if rules do not see its values. `root`
    /// marks the schema of a resource.
    pub fn from_schema(schema: &impl ValueSchema, root: bool) -> Option<Arc<Self>> {
        if schema.int_or_string() {
            let most = schema.max_length().map_or(MAX_REQUEST - 2, characters);
            return Some(Self::simple(CelType::Dyn, most, 1));
        }
        let ty = if root { "object" } else { schema.ty() };
        match ty {
            "array" => Self::list(schema),
            "object" => Self::object(schema, root),
            "string" => Some(Self::text(schema)),
            "boolean" => Some(Self::simple(CelType::Bool, 0, 4)),
            "number" => Some(Self::simple(CelType::Double, 0, 1)),
            "integer" => Some(Self::simple(CelType::Int, 0, 1)),
            _ => None,
        }
    }

    fn list(schema: &impl ValueSchema) -> Option<Arc<Self>> {
        let items = schema.items()?;
        let item = Self::from_schema(items, items.embedded())?;
        let most = schema.max_items().map(|most| most.max(0));
        let max_elements = most.unwrap_or((MAX_REQUEST - 2) / (item.min_size + 1));
        Some(Arc::new(Self {
            shape: DeclaredShape::List(item),
            max_elements,
            min_size: 2,
        }))
    }

    fn object(schema: &impl ValueSchema, root: bool) -> Option<Arc<Self>> {
        if let Some(values) = schema.additional()
            && !root
        {
            let value = Self::from_schema(values, values.embedded())?;
            let most = schema.max_properties().map(|most| most.max(0));
            let max_elements = most.unwrap_or((MAX_REQUEST - 2) / (value.min_size + 6));
            return Some(Arc::new(Self {
                shape: DeclaredShape::Map(value),
                max_elements,
                min_size: 2,
            }));
        }
        let mut fields = BTreeMap::new();
        let mut min_size = 2;
        for (name, property) in schema.properties() {
            let Some(field) = Self::from_schema(property, property.embedded()) else {
                continue;
            };
            if schema.requires(name) && !property.has_default() {
                min_size += name.len() as i64 + field.min_size + 4;
            }
            if let Some(name) = escaped(name) {
                fields.insert(name, field);
            }
        }
        if root {
            common(&mut fields);
        }
        Some(Arc::new(Self {
            shape: DeclaredShape::Object(fields),
            max_elements: 0,
            min_size,
        }))
    }

    fn text(schema: &impl ValueSchema) -> Arc<Self> {
        let most = schema.max_length();
        match schema.format() {
            "byte" => {
                let most = most.map_or(MAX_REQUEST - 2, |most| most.max(0));
                Self::simple(CelType::Bytes, most, 2)
            }
            "duration" => Self::simple(CelType::Duration, 32, 3),
            "date" => Self::simple(CelType::Timestamp, 12, 12),
            "date-time" => Self::simple(CelType::Timestamp, 32, 21),
            _ => {
                let longest = |choices: &[serde_json::Value]| {
                    let texts = choices.iter().filter_map(serde_json::Value::as_str);
                    texts.map(str::len).max().unwrap_or(0) as i64
                };
                let choices = schema.choices();
                let most = match most {
                    Some(most) => characters(most),
                    None if !choices.is_empty() => longest(choices),
                    None => MAX_REQUEST - 2,
                };
                Self::simple(CelType::String, most, 2)
            }
        }
    }
}

/// Returns the most bytes that a number of characters may have.
fn characters(most: i64) -> i64 {
    most.max(0).saturating_mul(4)
}

/// Adds the fields that every resource has: its type, and of its metadata the name
/// (`WithTypeAndObjectMeta`).
fn common(fields: &mut BTreeMap<String, Arc<Declared>>) {
    let text = || Declared::simple(CelType::String, MAX_REQUEST - 2, 2);
    let has_text = |fields: &BTreeMap<String, Arc<Declared>>, name: &str| {
        let field = fields.get(name);
        field.is_some_and(|field| matches!(field.shape, DeclaredShape::Simple(CelType::String)))
    };
    let named = |field: &Arc<Declared>| match &field.shape {
        DeclaredShape::Object(fields) => {
            has_text(fields, "name") && has_text(fields, "generateName")
        }
        _ => false,
    };
    if has_text(fields, "kind")
        && has_text(fields, "apiVersion")
        && fields.get("metadata").is_some_and(named)
    {
        return;
    }
    fields.insert("kind".to_owned(), text());
    fields.insert("apiVersion".to_owned(), text());
    let names = ["name", "generateName"].map(|name| (name.to_owned(), text()));
    let metadata = Declared {
        shape: DeclaredShape::Object(BTreeMap::from(names)),
        max_elements: 0,
        min_size: 2,
    };
    fields.insert("metadata".to_owned(), Arc::new(metadata));
}

/// The words of the language that mean something, and are no names of fields either
/// (`k8s.io/apiserver/pkg/cel/escaping.go`).
const SYMBOLS: [&str; 4] = ["true", "false", "null", "in"];

/// A property's name as an identifier; `None` if it cannot be one (`cel.Escape`).
pub(super) fn escaped(name: &str) -> Option<String> {
    if SYMBOLS.contains(&name) || RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let mut text = String::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let (written, read) = match c {
            '_' if rest.starts_with("__") => ("__underscores__", 2),
            '.' => ("__dot__", 1),
            '-' => ("__dash__", 1),
            '/' => ("__slash__", 1),
            _ if c == '_' || c.is_ascii_alphanumeric() => ("", 1),
            _ => return None,
        };
        if written.is_empty() {
            text.push(c);
        } else {
            text.push_str(written);
        }
        rest = &rest[read..];
    }
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts.then_some(text)
}

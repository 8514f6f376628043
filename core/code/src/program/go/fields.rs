//! Finds a field in the Go struct of a kind, and its type.

use std::sync::Arc;

use optimist_apiserver::go::quote;
use optimist_apiserver::patch::named_type;
use optimist_apiserver::schema::{Scalar, Struct, Type};

use super::Go;
use crate::client_go::field_name;
use crate::program::template::path;

/// The type of a Go expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoType {
    Text,
    /// A text with a type of its own, such as `types.UID`.
    NamedText,
    Integer,
    Bool,
    /// A field of a type of the operator, which the page does not know.
    Own,
    /// A struct, a list, a map or a time.
    Compound,
}

/// A field of an object, as a Go expression.
#[derive(Clone)]
pub(super) struct GoField {
    pub(super) text: String,
    pub(super) ty: GoType,
    pub(super) pointer: bool,
    /// The Go name of an integer type.
    pub(super) integer: &'static str,
    /// The structs on its path that can be nil, and their types.
    pub(super) guards: Vec<(String, String)>,
    /// Its map and its key, if it is a member of a map.
    pub(super) in_map: Option<(String, String)>,
}

impl GoField {
    /// The value, not the pointer to it.
    pub(super) fn value(&self, go: &mut Go<'_>) -> String {
        let zero = match self.ty {
            GoType::Text | GoType::NamedText => "\"\"",
            GoType::Bool => "false",
            GoType::Integer => "0",
            GoType::Own | GoType::Compound => return self.text.clone(),
        };
        if !self.pointer {
            return self.text.clone();
        }
        go.imports.add("k8s.io/utils/ptr");
        format!("ptr.Deref({}, {zero})", self.text)
    }

    /// Writes the field as a Go string.
    pub(super) fn as_text(&self, go: &mut Go<'_>) -> String {
        let value = self.value(go);
        match self.ty {
            GoType::Text => value,
            GoType::NamedText => format!("string({value})"),
            _ => {
                go.imports.add("fmt");
                format!("fmt.Sprint({value})")
            }
        }
    }
}

impl Go<'_> {
    /// The struct of a variable's kind, if its fields are known.
    pub(super) fn root(&self, name: &str, number: usize) -> Option<Arc<Struct>> {
        let kind = self.variables.kind_at(name, number)?;
        let resource = self.resources.by_kind(&kind.api_version, &kind.kind)?;
        Some(Arc::clone(&resource.root))
    }

    /// A field of the object of a variable.
    pub(super) fn field(&mut self, name: &str, pointer: &str, number: usize) -> GoField {
        let object = self.named(name, number);
        let path = path(pointer);
        let root = self.root(name, number).or_else(|| {
            let metadata = path.first().is_some_and(|first| first == "metadata");
            let any = self.resources.by_kind("v1", "ConfigMap");
            any.filter(|_| metadata).map(|any| Arc::clone(&any.root))
        });
        let known = root.and_then(|root| self.walk(&object, &root, &path));
        known.unwrap_or_else(|| self.own(&object, &path))
    }

    /// A field of a type of the operator, as kubebuilder would name it.
    fn own(&mut self, object: &str, path: &[String]) -> GoField {
        let mut text = object.to_owned();
        for part in path {
            if part.parse::<usize>().is_ok() {
                self.needs_at = true;
                text = format!("at({text}, {part})");
            } else {
                let name = super::identifier(&field_name("", part));
                text = format!("{text}.{name}");
            }
        }
        GoField {
            text,
            ty: if path.len() > 1 {
                GoType::Own
            } else {
                GoType::Compound
            },
            pointer: false,
            integer: "",
            guards: Vec::new(),
            in_map: None,
        }
    }

    fn walk(&mut self, object: &str, root: &Struct, path: &[String]) -> Option<GoField> {
        let mut field = GoField {
            text: object.to_owned(),
            ty: GoType::Compound,
            pointer: false,
            integer: "",
            guards: Vec::new(),
            in_map: None,
        };
        let mut of: Option<Type> = None;
        for part in path {
            field.in_map = None;
            let outer = match &of {
                None => Some(root),
                Some(Type::Struct(inner)) => Some(&**inner),
                _ => None,
            };
            let (next, named) = if let Some(outer) = outer {
                if field.pointer {
                    let guard = (field.text.clone(), outer.name.clone());
                    field.guards.push(guard);
                }
                let member = outer.field(part)?;
                // ObjectMeta is embedded.
                if !(of.is_none() && part == "metadata") {
                    let name = field_name(&outer.name, part);
                    field.text = format!("{}.{name}", field.text);
                }
                field.pointer = member.pointer;
                let named = named_type(&outer.name, part).is_some() || part == "uid";
                (member.ty.clone(), named)
            } else {
                field.pointer = false;
                match &of {
                    Some(Type::Map(map)) => {
                        let key = quote(part);
                        field.in_map = Some((field.text.clone(), key.clone()));
                        field.text = format!("{}[{key}]", field.text);
                        (map.value.clone(), false)
                    }
                    Some(Type::List(list)) => {
                        self.needs_at = true;
                        field.text = format!("at({}, {part})", field.text);
                        (list.item.clone(), false)
                    }
                    _ => return None,
                }
            };
            (field.ty, field.integer) = go_type(&next, named);
            of = Some(next);
        }
        Some(field)
    }
}

fn go_type(ty: &Type, named: bool) -> (GoType, &'static str) {
    let Type::Scalar(scalar) = ty else {
        return (GoType::Compound, "");
    };
    match scalar {
        Scalar::String if named => (GoType::NamedText, ""),
        Scalar::String => (GoType::Text, ""),
        Scalar::Bool => (GoType::Bool, ""),
        Scalar::Int32 => (GoType::Integer, "int32"),
        Scalar::Int64 => (GoType::Integer, "int64"),
        _ => (GoType::Compound, ""),
    }
}

//! Statements that change an object in Rust, without a request.

use std::sync::Arc;

use optimist_controller::program::{Expression, Statement};
use serde_json::Value;

use super::Rust;
use super::fields::index;
use crate::edits::Assignment;
use crate::kube_rs::{assign, place, string};
use crate::program::Numbered;
use crate::program::template::{new_fields, path};
use crate::program::variables::kind_of;

impl Rust<'_> {
    /// Sets a field.
    pub(super) fn set(&self, of: &str, field: &str, to: &Expression, number: usize) -> String {
        let object = self.named(of, number);
        let path = path(field);
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        if let ["metadata", map @ ("labels" | "annotations"), key] = parts.as_slice() {
            let value = self.as_text(to, number);
            return format!(
                "{object}.{map}_mut().insert({}.to_owned(), {value});\n",
                string(key)
            );
        }
        let metadata = parts.first() == Some(&"metadata");
        let root = match self.root(of, number) {
            None if metadata => {
                let any = self.resources.by_kind("v1", "ConfigMap");
                any.map(|any| Arc::clone(&any.root))
            }
            root => root,
        };
        let Some(root) = root else {
            let place: String = parts.iter().map(|part| index(part)).collect();
            let value = self.json(to, number);
            return format!("{object}.data{place} = {value};\n");
        };
        if let Expression::Value(value) = to {
            let edit = Assignment {
                path: path.clone(),
                value: (!value.is_null()).then(|| value.clone()),
            };
            if let Some(text) = assign(&object, &root, &edit) {
                return text.replace(")?;", ").map_err(kube::Error::SerdeError)?;");
            }
        }
        let Some((name, in_map)) = place(&object, &root, &path) else {
            return String::new();
        };
        match in_map {
            Some((map, key)) => {
                let value = match self.is_text_map(&root, &path) {
                    true => self.as_text(to, number),
                    false => self.decoded(to, number),
                };
                format!("{map}.insert({key}.to_owned(), {value});\n")
            }
            None => format!("{name} = {};\n", self.decoded(to, number)),
        }
    }

    fn is_text_map(&self, root: &optimist_apiserver::schema::Struct, path: &[String]) -> bool {
        use optimist_apiserver::schema::{Scalar, Type};
        let map = path.first().and_then(|first| root.member(first));
        matches!(map, Some(Type::Map(map)) if path.len() == 2
            && matches!(map.value, Type::Scalar(Scalar::String)))
    }

    fn decoded(&self, to: &Expression, number: usize) -> String {
        let value = self.json(to, number);
        format!("serde_json::from_value({value}).map_err(kube::Error::SerdeError)?")
    }

    /// Adds a text to a list, or removes it.
    pub(super) fn change_item(
        &self,
        (of, field, item): (&str, &str, &str),
        add: bool,
        number: usize,
    ) -> String {
        let object = self.named(of, number);
        let (owned, borrowed) = (self.owned(item, number), self.borrowed(item, number));
        if field == "/metadata/finalizers" {
            let compared = match borrowed.strip_prefix('&') {
                Some(text) => format!("&*{text}"),
                None => borrowed.clone(),
            };
            return match add {
                true => format!(
                    "if !{object}.finalizers().iter().any(|known| known == {compared}) {{\n{object}.finalizers_mut().push({owned});\n}}\n"
                ),
                false => {
                    format!("{object}.finalizers_mut().retain(|known| known != {compared});\n")
                }
            };
        }
        let list = self.field(of, field, number);
        let changed = match add {
            true => format!("with_item(json!({}), {borrowed})", list.plain()),
            false => format!("without_item(json!({}), {borrowed})", list.plain()),
        };
        let path = path(field);
        if let Some(root) = self.root(of, number)
            && let Some((place, None)) = place(&object, &root, &path)
        {
            return format!(
                "{place} = serde_json::from_value({changed}).map_err(kube::Error::SerdeError)?;\n"
            );
        }
        let place: String = path.iter().map(|part| index(part)).collect();
        format!("{object}.data{place} = {changed};\n")
    }

    /// A new object: its metadata in a literal, all other fields set one by one.
    pub(super) fn new_object(&mut self, one: &Numbered<'_>) {
        let Statement::New {
            into,
            object,
            owner,
        } = one.statement
        else {
            return;
        };
        let kind = kind_of(object);
        let ty = self.type_of(&kind);
        let mut text = format!("{ty} {{\n");
        if !self.is_typed(&kind) {
            let (api_version, kind) = (string(&kind.api_version), string(&kind.kind));
            text.push_str(&format!(
                "types: Some(TypeMeta {{ api_version: {api_version}.to_owned(), kind: {kind}.to_owned() }}),\n"
            ));
        }
        text.push_str("metadata: ObjectMeta {\n");
        text.push_str(&self.metadata(one, object));
        // A variable that never gets an object is no owner.
        let kind_of_owner = owner
            .as_ref()
            .and_then(|of| self.variables.kind_at(of, one.number));
        if let (Some(owner), Some(kind)) = (owner, kind_of_owner) {
            let owner_type = match self.is_typed(&kind) {
                true => "&()".to_owned(),
                false => format!("&ctx.{}", super::field_of(&kind)),
            };
            let owner = self.named(owner, one.number);
            text.push_str(&format!(
                "owner_references: {owner}.controller_owner_ref({owner_type}).map(|owner| vec![owner]),\n"
            ));
        }
        text.push_str("..ObjectMeta::default()\n},\n");
        text.push_str(&match self.is_typed(&kind) {
            true => format!("..{ty}::default()\n}}"),
            false => "data: json!({}),\n}".to_owned(),
        });
        self.assign(into, one, &text);
        self.fill(one, into, object);
    }

    /// The fields of a new object's metadata.
    fn metadata(&self, one: &Numbered<'_>, object: &Value) -> String {
        let mut text = String::new();
        let metadata = object.get("metadata");
        for (field, name) in [
            ("namespace", "namespace"),
            ("generateName", "generate_name"),
            ("name", "name"),
        ] {
            let stated = metadata.and_then(|metadata| metadata.get(field)?.as_str());
            let value = match (stated, field) {
                (Some(text), _) => self.owned(text, one.number),
                (None, "namespace") => "namespace.clone()".to_owned(),
                _ => continue,
            };
            text.push_str(&format!("{name}: Some({value}),\n"));
        }
        for field in ["labels", "annotations"] {
            let map = metadata.and_then(|metadata| metadata.get(field)?.as_object());
            if let Some(map) = map {
                let pairs: Vec<_> = map
                    .iter()
                    .map(|(key, value)| {
                        let value = self.owned(value.as_str().unwrap_or_default(), one.number);
                        format!("({}.to_owned(), {value})", string(key))
                    })
                    .collect();
                text.push_str(&format!(
                    "{field}: Some(BTreeMap::from([{}])),\n",
                    pairs.join(", ")
                ));
            }
        }
        text
    }

    /// Sets the fields of a new object that are no metadata.
    fn fill(&mut self, one: &Numbered<'_>, into: &str, object: &Value) {
        for (field, to) in new_fields(object) {
            let text = self.set(into, &field, &to, one.number + 1);
            self.lines.add(&text, &one.only());
        }
    }
}

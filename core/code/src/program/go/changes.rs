//! Statements that change an object in Go, without a request.

use optimist_apiserver::go::quote;
use optimist_controller::program::{Expression, Statement};
use serde_json::Value;

use super::fields::{GoField, GoType};
use super::{Go, RETURN_ERROR};
use crate::client_go::{assign, literal, raw};
use crate::edits::Assignment;
use crate::program::Numbered;
use crate::program::template::{new_fields, path};
use crate::program::variables::kind_of;

impl Go<'_> {
    /// Sets a field.
    pub(super) fn set(&mut self, of: &str, field: &str, to: &Expression, number: usize) -> String {
        let place = self.field(of, field, number);
        let guards: String = place
            .guards
            .iter()
            .map(|(place, ty)| {
                let package = self.imports.package_of(ty);
                format!("if {place} == nil {{\n{place} = &{package}.{ty}{{}}\n}}\n")
            })
            .collect();
        guards + &self.set_place(of, field, to, (&place, number))
    }

    fn set_place(
        &mut self,
        of: &str,
        field: &str,
        to: &Expression,
        (place, number): (&GoField, usize),
    ) -> String {
        if let Some((map, key)) = &place.in_map {
            let value = self.as_text(to, number);
            let spaced = matches!(to, Expression::Text(_)).then(|| self.argument(to, number));
            let argument = spaced.unwrap_or_else(|| value.clone());
            return self.set_member(of, (map, key), (&value, &argument), (place, number));
        }
        if let Expression::Value(value) = to {
            return self.set_value(of, field, value, place, number);
        }
        let value = match (to, place.ty) {
            (Expression::Field(name, field), ty) => {
                let from = self.field(name, field, number);
                let same = ty == from.ty && place.integer == from.integer;
                match ty {
                    _ if same && place.pointer == from.pointer => {
                        return format!("{} = {}\n", place.text, from.text);
                    }
                    GoType::Own | GoType::Compound => {
                        let value = from.value(self);
                        return format!("{} = {value}\n", place.text);
                    }
                    GoType::Text | GoType::NamedText => from.as_text(self),
                    GoType::Integer => format!("{}({})", place.integer, from.value(self)),
                    GoType::Bool => from.value(self),
                }
            }
            (Expression::Now, GoType::Own | GoType::Compound) => {
                self.imports.meta();
                "metav1.Now()".to_owned()
            }
            (Expression::Count(_), GoType::Integer) => {
                format!("{}({})", place.integer, self.integer(to, number))
            }
            (Expression::Count(_), GoType::Own) => self.integer(to, number),
            (other, _) => self.as_text(other, number),
        };
        let value = match place.pointer {
            true => {
                self.imports.add("k8s.io/utils/ptr");
                format!("ptr.To({value})")
            }
            false => value,
        };
        format!("{} = {value}\n", place.text)
    }

    /// Sets a member of a map, which may be nil.
    fn set_member(
        &mut self,
        of: &str,
        (map, key): (&str, &str),
        (value, argument): (&str, &str),
        (place, number): (&GoField, usize),
    ) -> String {
        let object = self.named(of, number);
        for (member, setter) in [
            ("Annotations", "SetMetaDataAnnotation"),
            ("Labels", "SetMetaDataLabel"),
        ] {
            if map == format!("{object}.{member}") {
                self.imports.meta();
                return format!("metav1.{setter}(&{object}.ObjectMeta, {key}, {argument})\n");
            }
        }
        let (ty, value) = match place.ty {
            GoType::Text => ("map[string]string", value.to_owned()),
            _ => ("map[string][]byte", format!("[]byte({value})")),
        };
        format!("if {map} == nil {{\n{map} = {ty}{{}}\n}}\n{map}[{key}] = {value}\n")
    }

    /// Sets a field to a value.
    fn set_value(
        &mut self,
        of: &str,
        field: &str,
        value: &Value,
        place: &GoField,
        number: usize,
    ) -> String {
        if let Some(root) = self.root(of, number) {
            let edit = Assignment {
                path: path(field),
                value: (!value.is_null()).then(|| value.clone()),
            };
            let object = self.named(of, number);
            if let Some(text) = assign(&object, &root, &edit, &mut self.imports) {
                return text.replace("\treturn err\n", RETURN_ERROR);
            }
        }
        let place = &place.text;
        match value {
            Value::Number(n) => format!("{place} = {n}\n"),
            Value::String(_) | Value::Bool(_) => format!("{place} = {}\n", literal(value)),
            compound => {
                self.imports.add("encoding/json");
                let text = raw(&compound.to_string());
                format!(
                    "if err := json.Unmarshal([]byte({text}), &{place}); err != nil {{\n{RETURN_ERROR}}}\n"
                )
            }
        }
    }

    /// Adds a text to a list, or removes it.
    pub(super) fn change_item(
        &mut self,
        (of, field, item): (&str, &str, &str),
        add: bool,
        number: usize,
    ) -> String {
        if field == "/metadata/finalizers" {
            let item = self.joined(item, number, "+");
            self.imports
                .add("sigs.k8s.io/controller-runtime/pkg/controller/controllerutil");
            let object = self.reference(of, number);
            let verb = if add { "Add" } else { "Remove" };
            return format!("controllerutil.{verb}Finalizer({object}, {item})\n");
        }
        let item = self.text(item, number);
        self.imports.add("slices");
        let list = self.field(of, field, number).text;
        match add {
            true => format!(
                "if !slices.Contains({list}, {item}) {{\n{list} = append({list}, {item})\n}}\n"
            ),
            false => format!(
                "{list} = slices.DeleteFunc({list}, func(known string) bool {{\nreturn known == {item}\n}})\n"
            ),
        }
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
        let (ty, meta) = (self.go_type(&kind_of(object)), self.imports.meta());
        let mut members = Vec::new();
        let metadata = object.get("metadata");
        for (field, name) in [
            ("namespace", "Namespace"),
            ("generateName", "GenerateName"),
            ("name", "Name"),
        ] {
            let stated = metadata.and_then(|metadata| metadata.get(field)?.as_str());
            match (stated, field) {
                (Some(text), _) => {
                    let text = self.text(text, one.number);
                    members.push(format!("{name}: {text}"));
                }
                (None, "namespace") => members.push("Namespace: req.Namespace".to_owned()),
                _ => {}
            }
        }
        for (field, name) in [("labels", "Labels"), ("annotations", "Annotations")] {
            let map = metadata.and_then(|metadata| metadata.get(field)?.as_object());
            if let Some(map) = map {
                let pairs: Vec<_> = map
                    .iter()
                    .map(|(key, value)| {
                        let value = self.text(value.as_str().unwrap_or_default(), one.number);
                        format!("{}: {value}", quote(key))
                    })
                    .collect();
                members.push(format!("{name}: map[string]string{{{}}}", pairs.join(", ")));
            }
        }
        let members = members.join(", ");
        let value = format!("&{ty}{{ObjectMeta: {meta}.ObjectMeta{{{members}}}}}");
        self.assign(into, one, &value);
        self.fill(one, into, object);
        if let Some(owner) = owner {
            self.imports
                .add("sigs.k8s.io/controller-runtime/pkg/controller/controllerutil");
            let owner = self.reference(owner, one.number);
            let object = self.reference(into, one.number + 1);
            let text = format!(
                "if err := controllerutil.SetControllerReference({owner}, {object}, r.Scheme); err != nil {{\n{RETURN_ERROR}}}\n"
            );
            self.lines.add(&text, &one.only());
        }
    }

    /// Sets the fields of a new object that are no metadata.
    fn fill(&mut self, one: &Numbered<'_>, into: &str, object: &Value) {
        for (field, to) in new_fields(object) {
            let text = self.set(into, &field, &to, one.number + 1);
            self.lines.add(&text, &one.only());
        }
    }
}

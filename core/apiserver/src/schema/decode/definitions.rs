//! The schema in a CustomResourceDefinition: its members have types, too (`JSONSchemaProps` of
//! `k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1/types_jsonschema.go`, and the decoders of its parts in
//! `marshal.go`). What is decoded stays as it is written, without unknown members.

use super::{DecodeStep, Decoder};
use crate::json::Node;
use crate::schema::{Scalar, Type};

/// The field that has it, and the type that has the field.
const PLACE: (&str, &str) = ("openAPIV3Schema", "CustomResourceValidation");
const SCHEMA: &str = "JSONSchemaProps";

static TEXT: Type = Type::Scalar(Scalar::String);
static FLAG: Type = Type::Scalar(Scalar::Bool);
static INTEGER: Type = Type::Scalar(Scalar::Int64);
static NUMBER: Type = Type::Scalar(Scalar::Number);

/// The form of a member.
#[derive(Clone, Copy)]
enum Form {
    Scalar(&'static Type),
    Texts,
    /// `JSON`.
    Any,
    Anys,
    Schema,
    Schemas,
    SchemaMap,
    /// `JSONSchemaPropsOrArray`, in a map `JSONSchemaPropsOrStringArray`.
    SchemaOrList,
    SchemaOrListMap,
    /// `JSONSchemaPropsOrBool`.
    SchemaOrFlag,
    /// A struct with a name, and the names of its texts and flags.
    Struct(&'static str, &'static [(&'static str, &'static Type)]),
    Rules,
}

const RULE: &[(&str, &Type)] = &[
    ("rule", &TEXT),
    ("message", &TEXT),
    ("messageExpression", &TEXT),
    ("reason", &TEXT),
    ("fieldPath", &TEXT),
    ("optionalOldSelf", &FLAG),
];

const DOCUMENTATION: &[(&str, &Type)] = &[("description", &TEXT), ("url", &TEXT)];

/// The member with a name.
fn member(name: &str) -> Option<(&'static str, Form)> {
    const ALL: &[(&str, Form)] = &[
        ("id", Form::Scalar(&TEXT)),
        ("$schema", Form::Scalar(&TEXT)),
        ("$ref", Form::Scalar(&TEXT)),
        ("description", Form::Scalar(&TEXT)),
        ("type", Form::Scalar(&TEXT)),
        ("format", Form::Scalar(&TEXT)),
        ("title", Form::Scalar(&TEXT)),
        ("default", Form::Any),
        ("maximum", Form::Scalar(&NUMBER)),
        ("exclusiveMaximum", Form::Scalar(&FLAG)),
        ("minimum", Form::Scalar(&NUMBER)),
        ("exclusiveMinimum", Form::Scalar(&FLAG)),
        ("maxLength", Form::Scalar(&INTEGER)),
        ("minLength", Form::Scalar(&INTEGER)),
        ("pattern", Form::Scalar(&TEXT)),
        ("maxItems", Form::Scalar(&INTEGER)),
        ("minItems", Form::Scalar(&INTEGER)),
        ("uniqueItems", Form::Scalar(&FLAG)),
        ("multipleOf", Form::Scalar(&NUMBER)),
        ("enum", Form::Anys),
        ("maxProperties", Form::Scalar(&INTEGER)),
        ("minProperties", Form::Scalar(&INTEGER)),
        ("required", Form::Texts),
        ("items", Form::SchemaOrList),
        ("allOf", Form::Schemas),
        ("oneOf", Form::Schemas),
        ("anyOf", Form::Schemas),
        ("not", Form::Schema),
        ("properties", Form::SchemaMap),
        ("additionalProperties", Form::SchemaOrFlag),
        ("patternProperties", Form::SchemaMap),
        ("dependencies", Form::SchemaOrListMap),
        ("additionalItems", Form::SchemaOrFlag),
        ("definitions", Form::SchemaMap),
        (
            "externalDocs",
            Form::Struct("ExternalDocumentation", DOCUMENTATION),
        ),
        ("example", Form::Any),
        ("nullable", Form::Scalar(&FLAG)),
        ("x-kubernetes-preserve-unknown-fields", Form::Scalar(&FLAG)),
        ("x-kubernetes-embedded-resource", Form::Scalar(&FLAG)),
        ("x-kubernetes-int-or-string", Form::Scalar(&FLAG)),
        ("x-kubernetes-list-map-keys", Form::Texts),
        ("x-kubernetes-list-type", Form::Scalar(&TEXT)),
        ("x-kubernetes-map-type", Form::Scalar(&TEXT)),
        ("x-kubernetes-validations", Form::Rules),
    ];
    ALL.iter().find(|(known, _)| *known == name).copied()
}

impl Decoder<'_> {
    /// Checks the schema of a definition, if this is the place of one.
    pub(super) fn definition(&mut self, node: &mut Node) {
        if matches!(self.path.last(), Some(DecodeStep::Field(field, owner)) if (*field, *owner) == PLACE)
        {
            self.schema(node);
        }
    }

    fn schema(&mut self, node: &mut Node) {
        let Node::Object(members) = node else {
            return self.unless_null(node, SCHEMA);
        };
        let outer = std::mem::replace(&mut self.owner, SCHEMA);
        members.retain_mut(|(name, value)| {
            let Some((name, form)) = member(name) else {
                self.complain("unknown", name);
                return false;
            };
            self.path.push(DecodeStep::Field(name, SCHEMA));
            if !matches!(value, Node::Null) {
                self.member(value, form);
            }
            self.path.pop();
            true
        });
        self.owner = outer;
    }

    fn member(&mut self, node: &mut Node, form: Form) {
        match form {
            Form::Scalar(ty) => self.scalar_member(node, ty),
            Form::Texts => self.each(node, "string", |decoder, item| {
                decoder.scalar_member(item, &TEXT);
            }),
            Form::Any => {}
            Form::Anys => self.each(node, "v1.JSON", |_, _| {}),
            Form::Schema => self.schema(node),
            Form::Schemas => self.each(node, "v1.JSONSchemaProps", Self::schema),
            Form::SchemaMap => self.each_member(node, "v1.JSONSchemaProps", Self::schema),
            Form::SchemaOrList => self.decoded_apart(node, Self::schema_or_list),
            Form::SchemaOrListMap => {
                let ty = "v1.JSONSchemaPropsOrStringArray";
                self.each_member(node, ty, |decoder, node| {
                    decoder.decoded_apart(node, Self::schema_or_texts);
                });
            }
            Form::SchemaOrFlag => match node {
                Node::Bool(_) => {}
                Node::Object(_) => self.decoded_apart(node, Self::schema),
                _ => {
                    self.end("boolean or JSON schema expected".to_owned());
                }
            },
            Form::Struct(name, members) => self.small(node, name, members),
            Form::Rules => self.each(node, "v1.ValidationRule", |decoder, rule| {
                decoder.small(rule, "ValidationRule", RULE);
            }),
        }
    }

    fn scalar_member(&mut self, node: &Node, ty: &'static Type) {
        if let (Type::Scalar(scalar), false) = (ty, matches!(node, Node::Null)) {
            self.scalar(node.clone(), *scalar, ty);
        }
    }

    /// A struct of texts and flags.
    fn small(
        &mut self,
        node: &mut Node,
        name: &'static str,
        known: &'static [(&'static str, &'static Type)],
    ) {
        let Node::Object(members) = node else {
            return self.unless_null(node, name);
        };
        let outer = std::mem::replace(&mut self.owner, name);
        members.retain(|(member, value)| {
            let Some((field, ty)) = known.iter().find(|(known, _)| known == member) else {
                self.complain("unknown", member);
                return false;
            };
            self.path.push(DecodeStep::Field(field, name));
            self.scalar_member(value, ty);
            self.path.pop();
            true
        });
        self.owner = outer;
    }

    fn schema_or_list(&mut self, node: &mut Node) {
        match node {
            Node::Object(_) => self.schema(node),
            Node::Array(_) => self.each(node, "v1.JSONSchemaProps", Self::schema),
            _ => {}
        }
    }

    fn schema_or_texts(&mut self, node: &mut Node) {
        match node {
            Node::Object(_) => self.schema(node),
            Node::Array(_) => self.member(node, Form::Texts),
            _ => {}
        }
    }

    /// Checks the items of a list.
    fn each(&mut self, node: &mut Node, item: &str, check: impl Fn(&mut Self, &mut Node)) {
        let Node::Array(items) = node else {
            return self.unless_null(node, &format!("[]{item}"));
        };
        for (i, item) in items.iter_mut().enumerate() {
            self.path.push(DecodeStep::Index(i));
            check(self, item);
            self.path.pop();
        }
    }

    /// Checks the members of a map.
    fn each_member(&mut self, node: &mut Node, value: &str, check: impl Fn(&mut Self, &mut Node)) {
        let Node::Object(members) = node else {
            return self.unless_null(node, &format!("map[string]{value}"));
        };
        for (key, node) in members {
            self.path.push(DecodeStep::Key(key.clone()));
            check(self, node);
            self.path.pop();
        }
    }

    /// Checks a value of a type with its own decoder: Go stops at its first error, and tells nothing of unknown members.
    fn decoded_apart(&mut self, node: &mut Node, check: impl FnOnce(&mut Self, &mut Node)) {
        let (error, told) = (self.error.take(), self.strict_errors.len());
        check(self, node);
        self.strict_errors.truncate(told);
        if let Some(inner) = std::mem::replace(&mut self.error, error) {
            self.end(inner);
        }
    }

    /// Refuses what is neither `null` nor of a type.
    fn unless_null(&mut self, node: &Node, ty: &str) {
        if matches!(node, Node::Null) {
            return;
        }
        let name = match ty.starts_with(char::is_uppercase) {
            true => format!("v1.{ty}"),
            false => ty.to_owned(),
        };
        self.unfit(node.go_kind(), &name);
    }
}

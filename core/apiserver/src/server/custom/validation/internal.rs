//! Parts of a definition as the server holds them, which messages show: Go's names, and every member
//! (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/types.go`, `types_jsonschema.go`).

use serde_json::Value;

use crate::go;
use crate::json::sorted;

/// The form in which a member is held.
#[derive(Clone, Copy)]
enum Held {
    /// Text, which is never absent.
    Text,
    Flag,
    Number,
    /// A pointer or a list, absent or as it is.
    AsIs,
    Struct(&'static [HeldMember]),
    Structs(&'static [HeldMember]),
    Schema,
    Schemas,
    SchemaMap,
    SchemaOrList,
    SchemaOrTextsMap,
    SchemaOrFlag,
}

/// Go's name, the name in JSON, and how it is held.
type HeldMember = (&'static str, &'static str, Held);

const SCHEMA: &[HeldMember] = &[
    ("ID", "id", Held::Text),
    ("Schema", "$schema", Held::Text),
    ("Ref", "$ref", Held::AsIs),
    ("Description", "description", Held::Text),
    ("Type", "type", Held::Text),
    ("Nullable", "nullable", Held::Flag),
    ("Format", "format", Held::Text),
    ("Title", "title", Held::Text),
    ("Default", "default", Held::AsIs),
    ("Maximum", "maximum", Held::AsIs),
    ("ExclusiveMaximum", "exclusiveMaximum", Held::Flag),
    ("Minimum", "minimum", Held::AsIs),
    ("ExclusiveMinimum", "exclusiveMinimum", Held::Flag),
    ("MaxLength", "maxLength", Held::AsIs),
    ("MinLength", "minLength", Held::AsIs),
    ("Pattern", "pattern", Held::Text),
    ("MaxItems", "maxItems", Held::AsIs),
    ("MinItems", "minItems", Held::AsIs),
    ("UniqueItems", "uniqueItems", Held::Flag),
    ("MultipleOf", "multipleOf", Held::AsIs),
    ("Enum", "enum", Held::AsIs),
    ("MaxProperties", "maxProperties", Held::AsIs),
    ("MinProperties", "minProperties", Held::AsIs),
    ("Required", "required", Held::AsIs),
    ("Items", "items", Held::SchemaOrList),
    ("AllOf", "allOf", Held::Schemas),
    ("OneOf", "oneOf", Held::Schemas),
    ("AnyOf", "anyOf", Held::Schemas),
    ("Not", "not", Held::Schema),
    ("Properties", "properties", Held::SchemaMap),
    (
        "AdditionalProperties",
        "additionalProperties",
        Held::SchemaOrFlag,
    ),
    ("PatternProperties", "patternProperties", Held::SchemaMap),
    ("Dependencies", "dependencies", Held::SchemaOrTextsMap),
    ("AdditionalItems", "additionalItems", Held::SchemaOrFlag),
    ("Definitions", "definitions", Held::SchemaMap),
    ("ExternalDocs", "externalDocs", Held::Struct(DOCUMENTATION)),
    ("Example", "example", Held::AsIs),
    (
        "XPreserveUnknownFields",
        "x-kubernetes-preserve-unknown-fields",
        Held::AsIs,
    ),
    (
        "XEmbeddedResource",
        "x-kubernetes-embedded-resource",
        Held::Flag,
    ),
    ("XIntOrString", "x-kubernetes-int-or-string", Held::Flag),
    ("XListMapKeys", "x-kubernetes-list-map-keys", Held::AsIs),
    ("XListType", "x-kubernetes-list-type", Held::AsIs),
    ("XMapType", "x-kubernetes-map-type", Held::AsIs),
    (
        "XValidations",
        "x-kubernetes-validations",
        Held::Structs(RULE),
    ),
];

const DOCUMENTATION: &[HeldMember] = &[
    ("Description", "description", Held::Text),
    ("URL", "url", Held::Text),
];

const RULE: &[HeldMember] = &[
    ("Rule", "rule", Held::Text),
    ("Message", "message", Held::Text),
    ("MessageExpression", "messageExpression", Held::Text),
    ("Reason", "reason", Held::AsIs),
    ("FieldPath", "fieldPath", Held::Text),
    ("OptionalOldSelf", "optionalOldSelf", Held::AsIs),
];

const VALIDATION: &[HeldMember] = &[("OpenAPIV3Schema", "openAPIV3Schema", Held::Schema)];

const SUBRESOURCES: &[HeldMember] = &[
    ("Status", "status", Held::Struct(&[])),
    ("Scale", "scale", Held::Struct(SCALE)),
];

const SCALE: &[HeldMember] = &[
    ("SpecReplicasPath", "specReplicasPath", Held::Text),
    ("StatusReplicasPath", "statusReplicasPath", Held::Text),
    ("LabelSelectorPath", "labelSelectorPath", Held::AsIs),
];

const COLUMN: &[HeldMember] = &[
    ("Name", "name", Held::Text),
    ("Type", "type", Held::Text),
    ("Format", "format", Held::Text),
    ("Description", "description", Held::Text),
    ("Priority", "priority", Held::Number),
    ("JSONPath", "jsonPath", Held::Text),
];

const SELECTABLE: &[HeldMember] = &[("JSONPath", "jsonPath", Held::Text)];

const VERSION: &[HeldMember] = &[
    ("Name", "name", Held::Text),
    ("Served", "served", Held::Flag),
    ("Storage", "storage", Held::Flag),
    ("Deprecated", "deprecated", Held::Flag),
    ("DeprecationWarning", "deprecationWarning", Held::AsIs),
    ("Schema", "schema", Held::Struct(VALIDATION)),
    ("Subresources", "subresources", Held::Struct(SUBRESOURCES)),
    (
        "AdditionalPrinterColumns",
        "additionalPrinterColumns",
        Held::Structs(COLUMN),
    ),
    (
        "SelectableFields",
        "selectableFields",
        Held::Structs(SELECTABLE),
    ),
];

/// A rule of a schema.
pub(super) fn rule(rule: &Value) -> String {
    members(rule, RULE)
}

/// A schema.
pub(super) fn schema(schema: &Value) -> String {
    members(schema, SCHEMA)
}

/// The schemas of the items of a list.
pub(super) fn items(items: &Value) -> String {
    held(items, Held::SchemaOrList)
}

/// A version of a definition, without the members that all versions share.
pub(super) fn version(version: &Value, shared: impl Fn(&str) -> bool) -> String {
    let own = version.as_object().into_iter().flatten();
    let own = own.filter(|(name, _)| !shared(name));
    let own = own.map(|(name, value)| (name.clone(), value.clone()));
    members(&Value::Object(own.collect()), VERSION)
}

fn members(value: &Value, all: &[HeldMember]) -> String {
    let written = all.iter().map(|(name, json_name, how)| {
        let member = held(&value[*json_name], *how);
        format!("\"{name}\":{member}")
    });
    let written: Vec<String> = written.collect();
    format!("{{{}}}", written.join(","))
}

fn list(values: &[Value], one: impl Fn(&Value) -> String) -> String {
    let written: Vec<String> = values.iter().map(one).collect();
    format!("[{}]", written.join(","))
}

fn held(value: &Value, how: Held) -> String {
    let value = match (how, value) {
        (Held::Text, Value::Null) => return "\"\"".to_owned(),
        (Held::Flag, Value::Null) => return "false".to_owned(),
        (Held::Number, Value::Null) => return "0".to_owned(),
        (_, Value::Null) => return "null".to_owned(),
        (_, value) => value,
    };
    match (how, value) {
        (Held::Struct(all), _) => members(value, all),
        (Held::Structs(all), Value::Array(items)) => list(items, |item| members(item, all)),
        (Held::Schema, _) => schema(value),
        (Held::Schemas, Value::Array(items)) => list(items, schema),
        (Held::SchemaMap, _) => map(value, schema),
        (Held::SchemaOrTextsMap, _) => map(value, |value| match value {
            Value::Array(_) => format!("{{\"Schema\":null,\"Property\":{}}}", go::json(value)),
            _ => format!(
                "{{\"Schema\":{},\"Property\":null}}",
                held(value, Held::Schema)
            ),
        }),
        (Held::SchemaOrList, Value::Array(items)) => {
            format!(
                "{{\"Schema\":null,\"JSONSchemas\":{}}}",
                list(items, schema)
            )
        }
        (Held::SchemaOrList, _) => {
            format!("{{\"Schema\":{},\"JSONSchemas\":null}}", schema(value))
        }
        (Held::SchemaOrFlag, Value::Bool(allows)) => {
            format!("{{\"Allows\":{allows},\"Schema\":null}}")
        }
        (Held::SchemaOrFlag, _) => format!("{{\"Allows\":true,\"Schema\":{}}}", schema(value)),
        _ => go::json(value),
    }
}

fn map(value: &Value, one: impl Fn(&Value) -> String) -> String {
    let named = value.as_object().into_iter().flat_map(sorted);
    let written =
        named.map(|(name, value)| format!("{}:{}", go::json(&name.as_str().into()), one(value)));
    let written: Vec<String> = written.collect();
    format!("{{{}}}", written.join(","))
}

//! The parts of a schema that rules depend on (`k8s.io/apiserver/pkg/cel/common/schemas.go Schema`,
//! v1.36).

use serde_json::Value;

/// The rule by which server-side apply merges a list (`x-kubernetes-list-type`). Rules compare and
/// join lists by it too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListKind {
    /// Owned as a whole.
    #[default]
    Atomic,
    /// Scalars, each with its own owners.
    Set,
    /// Items with these fields as key.
    Map(Vec<String>),
}

/// A schema of values. The one of a JSON value is the `openAPIV3Schema` of a definition; whoever
/// has read it already implements this for the result.
pub trait ValueSchema: Sized {
    /// `object`, `array`, `string`, `integer`, `number`, `boolean`; empty if it is not declared.
    fn ty(&self) -> &str;
    /// The format of a text; empty if none is declared.
    fn format(&self) -> &str;
    /// Returns whether an integer or a string is allowed.
    fn int_or_string(&self) -> bool;
    /// Returns whether the object is a resource itself.
    fn embedded(&self) -> bool;
    /// Returns whether a value is filled in if none was given.
    fn has_default(&self) -> bool;
    /// The items of an array.
    fn items(&self) -> Option<&Self>;
    /// The kind of an array: it decides which items are the same.
    fn list_kind(&self) -> ListKind;
    /// The members of an object besides its declared ones, where these have a schema.
    fn additional(&self) -> Option<&Self>;
    /// A declared member.
    fn property(&self, name: &str) -> Option<&Self>;
    /// All declared members with their names.
    fn properties(&self) -> impl Iterator<Item = (&str, &Self)>;
    /// Returns whether an object must have a member.
    fn requires(&self, name: &str) -> bool;
    /// The only values allowed; empty for no restriction.
    fn choices(&self) -> &[Value];
    /// The most characters of a text.
    fn max_length(&self) -> Option<i64>;
    /// The most items of an array.
    fn max_items(&self) -> Option<i64>;
    /// The most members of an object.
    fn max_properties(&self) -> Option<i64>;
}

/// A schema as JSON. A part that has the wrong type counts as absent.
impl ValueSchema for Value {
    fn ty(&self) -> &str {
        text(self, "type")
    }

    fn format(&self) -> &str {
        text(self, "format")
    }

    fn int_or_string(&self) -> bool {
        self["x-kubernetes-int-or-string"] == true
    }

    fn embedded(&self) -> bool {
        self["x-kubernetes-embedded-resource"] == true
    }

    fn has_default(&self) -> bool {
        !self["default"].is_null()
    }

    fn items(&self) -> Option<&Self> {
        self.get("items").filter(|items| items.is_object())
    }

    fn list_kind(&self) -> ListKind {
        match text(self, "x-kubernetes-list-type") {
            "set" => ListKind::Set,
            "map" => {
                let keys = list(self, "x-kubernetes-list-map-keys").iter();
                let keys = keys.filter_map(|key| Some(key.as_str()?.to_owned()));
                ListKind::Map(keys.collect())
            }
            _ => ListKind::Atomic,
        }
    }

    fn additional(&self) -> Option<&Self> {
        let others = self.get("additionalProperties");
        others.filter(|others| others.is_object())
    }

    fn property(&self, name: &str) -> Option<&Self> {
        self["properties"].get(name)
    }

    fn properties(&self) -> impl Iterator<Item = (&str, &Self)> {
        let members = self["properties"].as_object();
        let members = members.into_iter().flatten();
        members.map(|(name, schema)| (name.as_str(), schema))
    }

    fn requires(&self, name: &str) -> bool {
        list(self, "required").iter().any(|it| it == name)
    }

    fn choices(&self) -> &[Value] {
        list(self, "enum")
    }

    fn max_length(&self) -> Option<i64> {
        self["maxLength"].as_i64()
    }

    fn max_items(&self) -> Option<i64> {
        self["maxItems"].as_i64()
    }

    fn max_properties(&self) -> Option<i64> {
        self["maxProperties"].as_i64()
    }
}

fn text<'a>(schema: &'a Value, field: &str) -> &'a str {
    schema[field].as_str().unwrap_or_default()
}

fn list<'a>(schema: &'a Value, field: &str) -> &'a [Value] {
    schema[field].as_array().map_or(&[], Vec::as_slice)
}

//! The annotations in which `autoscaling/v1` keeps what it has no fields for
//! (`pkg/apis/autoscaling/annotations.go`, v1.36). Each has the JSON of a type of Go, and is read and written as
//! Go's package `encoding/json` does.

use serde_json::{Value, json};

use crate::json::{Node, Raw};
use crate::schema::kinds::annotated;
use crate::schema::{Struct, Type, decode_spelled};
use crate::server::wire;

const PREFIX: &str = "autoscaling.alpha.kubernetes.io/";

/// An annotation. Its name without the prefix is the name of a field of
/// `HorizontalPodAutoscalerAnnotations`.
#[derive(Clone, Copy)]
pub(super) enum Annotation {
    Metrics,
    CurrentMetrics,
    Conditions,
    Behavior,
}

impl Annotation {
    const ALL: [Self; 4] = [
        Self::Metrics,
        Self::CurrentMetrics,
        Self::Conditions,
        Self::Behavior,
    ];

    fn field(self) -> &'static str {
        match self {
            Self::Metrics => "metrics",
            Self::CurrentMetrics => "current-metrics",
            Self::Conditions => "conditions",
            Self::Behavior => "behavior",
        }
    }

    fn name(self) -> String {
        format!("{PREFIX}{}", self.field())
    }

    /// Reads it from an object. One that cannot be decoded counts as absent
    /// (`Convert_v1_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler`).
    pub(super) fn read(self, object: &Value) -> Option<Value> {
        let written = object["metadata"]["annotations"].get(self.name())?;
        self.decode(written.as_str()?)
    }

    fn decode(self, json: &str) -> Option<Value> {
        let root = annotated("HorizontalPodAutoscalerAnnotations")?;
        let given = Raw::parse(json.as_bytes()).ok()?;
        let whole = Raw::Object(vec![(self.field().to_owned(), given)]);
        let whole = declared_names(whole, root);
        let document = || Some(whole.clone());
        let mut decoded = decode_spelled(Node::from(whole.clone()), root, &document).ok()?;
        Some(decoded.value[self.field()].take())
    }

    /// A value as Go holds it: what Go never leaves out is in it, too.
    pub(super) fn decoded(self, value: Value) -> Option<Value> {
        let root = annotated("HorizontalPodAutoscalerAnnotations")?;
        let whole = Node::from(json!({self.field(): value}));
        let mut decoded = decode_spelled(whole, root, &|| None).ok()?;
        Some(decoded.value[self.field()].take())
    }

    /// The text of a value.
    pub(super) fn encode(self, value: Value) -> Option<String> {
        let root = annotated("HorizontalPodAutoscalerAnnotations")?;
        let decoded = self.decoded(value)?;
        let written = wire::of_value(&root.field(self.field())?.ty, &decoded);
        Some(Raw::parse(written.as_bytes()).ok()?.compact())
    }
}

/// Sets the annotations of an object that has no other ones of this kind
/// (`pkg/apis/autoscaling/helpers.go DropRoundTripHorizontalPodAutoscalerAnnotations`).
pub(super) fn annotate(object: &mut Value, kept: Vec<(Annotation, String)>) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else {
        return;
    };
    let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
    if let Value::Object(map) = annotations {
        for annotation in Annotation::ALL {
            map.remove(&annotation.name());
        }
        let kept = kept.into_iter();
        map.extend(kept.map(|(annotation, text)| (annotation.name(), text.into())));
        if map.is_empty() {
            metadata.remove("annotations");
        }
    }
}

/// A document whose members have the names of the fields of a struct: `encoding/json` takes the field of this name, or
/// the first one of this name in another case (`decode.go object`).
fn declared_names(given: Raw, ty: &Struct) -> Raw {
    let Raw::Object(members) = given else {
        return given;
    };
    let renamed = members.into_iter().map(|(name, member)| {
        let in_another_case = || {
            let mut fields = ty.fields.iter();
            fields.find(|field| folded(&field.name) == folded(&name))
        };
        match ty.field(&name).or_else(in_another_case) {
            Some(field) => (field.name.clone(), declared_inside(member, &field.ty)),
            None => (name, member),
        }
    });
    Raw::Object(renamed.collect())
}

fn declared_inside(given: Raw, ty: &Type) -> Raw {
    match (ty, given) {
        (Type::Struct(inner), given) => declared_names(given, inner),
        (Type::List(list), Raw::Array(items)) => {
            let items = items.into_iter();
            Raw::Array(
                items
                    .map(|item| declared_inside(item, &list.item))
                    .collect(),
            )
        }
        (_, given) => given,
    }
}

/// A name in the case in which names are compared (`encoding/json/fold.go foldName`): two other letters of Unicode
/// are an `S` and a `K` in another case.
fn folded(name: &str) -> String {
    let letters = name.chars().map(|letter| match letter {
        '\u{17f}' => 'S',
        '\u{212a}' => 'K',
        letter => letter.to_ascii_uppercase(),
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_any_case_and_what_go_has_is_there() {
        let pods = r#"[{"TYPE": "Pods", "pods": {"metricname": "m", "bogus": {}, "\u017felector": null}}]"#;
        let amount = json!({"metricName": "m", "targetAverageValue": "0"});
        assert_eq!(
            Annotation::Metrics.decode(pods),
            Some(json!([{"type": "Pods", "pods": amount}]))
        );
        let up = r#"{"SCALEUP": {"StabilizationWindowSeconds": 5, "tolerance": 1.50}}"#;
        let rules = json!({"stabilizationWindowSeconds": 5, "tolerance": "1500m"});
        assert_eq!(
            Annotation::Behavior.decode(up),
            Some(json!({"scaleUp": rules}))
        );
        let condition = json!({"type": "", "status": "", "lastTransitionTime": null});
        assert_eq!(
            Annotation::Conditions.decode("[null]"),
            Some(json!([condition]))
        );
    }

    #[test]
    fn a_value_of_another_type_spoils_the_whole_annotation() {
        let metric = |metric: &str| Annotation::Metrics.decode(&format!("[{{{metric}}}]"));
        assert!(metric(r#""resource": {"targetAverageUtilization": 5}"#).is_some());
        assert_eq!(
            metric(r#""resource": {"targetAverageUtilization": "5"}"#),
            None
        );
        assert_eq!(
            metric(r#""resource": {"targetAverageUtilization": 5.0}"#),
            None
        );
        assert_eq!(metric(r#""pods": "x""#), None);
        assert_eq!(metric(r#""pods": {"targetAverageValue": "5x"}"#), None);
        assert_eq!(Annotation::Behavior.decode(r#"{"ScaleUp": 5}"#), None);
        assert_eq!(Annotation::CurrentMetrics.decode("[] x"), None);
    }
}

//! Sentences about a case that is shared without its values: the texts before and after prove them.

use std::collections::BTreeSet;

use optimist_client::Preset;
use optimist_diagnose::anonymize::{CaseSettings, ValueSearch, WithoutValues};
use optimist_diagnose::scene::GivenParts;
use optimist_messages::diagnose as messages;

use super::diagnose::rows_named as named;
use super::hearing::{ConditionOf, Conditions, Hearing};
use super::said::Said;

/// The texts of a case, before and after.
pub struct Shared {
    before: Vec<String>,
    after: Vec<String>,
}

impl Shared {
    /// Returns whether each value that a sentence names is in the texts before and after.
    fn stay(&self, said: &Said) -> bool {
        let (names, _) = named(said.parts("names"));
        let has = |texts: &[String], name: &str| {
            let plain = name.split('…').next().unwrap_or_default();
            texts
                .iter()
                .any(|text| text.replace("\\\"", "\"").contains(plain))
        };
        !names.is_empty()
            && names
                .iter()
                .all(|name| has(&self.before, name) && has(&self.after, name))
    }

    /// The stand-ins after it that are not in it before.
    fn stand_ins(&self) -> BTreeSet<String> {
        let words = |texts: &[String]| -> BTreeSet<String> {
            let all = texts
                .iter()
                .flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '-'));
            all.filter(|word| word.starts_with("value-"))
                .map(str::to_owned)
                .collect()
        };
        words(&self.after)
            .difference(&words(&self.before))
            .cloned()
            .collect()
    }

    fn count(&self, texts: &[String], word: &str) -> usize {
        texts.iter().filter(|text| text.contains(word)).count()
    }
}

pub const SHARED: &[(&str, ConditionOf<Shared>)] = &[
    ("stays_names", |said, it| Some(it.stay(said))),
    ("stays_kinds", |said, it| Some(it.stay(said))),
    ("stays_list_keys", |said, it| Some(it.stay(said))),
    ("stays_managers", |said, it| Some(it.stay(said))),
    ("stays_defaults", |said, it| Some(it.stay(said))),
    ("stays_quantities", |said, it| Some(it.stay(said))),
    ("stays_structure", |said, it| Some(it.stay(said))),
    ("stays_message", |said, it| Some(it.stay(said))),
    ("stays_answers", |said, it| Some(it.stay(said))),
    ("stays_fields", |_, it| {
        Some(
            ["metadata", "example.com/team"]
                .iter()
                .any(|name| it.count(&it.after, name) > 0),
        )
    }),
    ("stays_lines", |_, it| {
        let lines = it.after.iter().flat_map(|text| text.lines());
        let mut lines = lines.filter(|line| line.contains("conflict"));
        Some(lines.any(|line| !line.is_empty()))
    }),
    ("stays_requests", |_, it| {
        Some(it.count(&it.after, "requestURI") > 0)
    }),
    ("stays_definitions", |said, it| {
        let of = |texts: &[String]| it.count(texts, "CustomResourceDefinition");
        Some(of(&it.before) == of(&it.after) && of(&it.after) as u64 == said.number("count")?)
    }),
    ("stays_unrecognized", |said, it| {
        let gone = it.before.len() - it.after.len();
        Some(gone as u64 == said.number("count")?)
    }),
    ("share_left_out_count", |said, it| {
        let count = said.number("count")? as usize;
        // Whole numbers get other numbers, texts get stand-ins.
        Some(0 < count && it.before != it.after && it.stand_ins().len() <= count)
    }),
    ("share_left_out_none", |_, it| {
        Some(it.stand_ins().is_empty())
    }),
    ("share_left_out_not_same", |_, it| {
        Some(it.stand_ins().is_empty())
    }),
];

const DEPLOYMENT: &str = include_str!("../../../../core/diagnose/tests/live/deployment.yaml");

fn cases() -> Vec<Vec<String>> {
    let owned = |text: &str| text.to_owned();
    let message = "error: Apply failed with 1 conflict: conflict with \"helm\" using apps/v1: .spec.replicas\nPlease review";
    let log: Vec<String> = super::diagnose::quiet_log()
        .iter()
        .map(ToString::to_string)
        .collect();
    let empty = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b, uid: u, resourceVersion: '5', managedFields: []}\n";
    let full = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: b\n  uid: 00000000-0000-4000-8000-00000000000a\n  resourceVersion: '5'\n  labels: {example.com/team: blue}\n  finalizers: [example.com/hold]\n  managedFields:\n  - {manager: helm, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {'f:data': {'f:word': {}}}}\ndata: {word: secretword, other: otherword}\n";
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {word: thirdword}\n";
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec: {group: example.com, scope: Namespaced, names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n";
    let never = |more: &str, image: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: b{more}}}\nspec: {{selector: \
             {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: \
             [{{name: c, image: '{image}', imagePullPolicy: Never}}]}}}}}}\n"
        )
    };
    let live =
        ", uid: 00000000-0000-4000-8000-00000000000a, resourceVersion: '5', managedFields: []";
    vec![
        vec![never(live, "own:1"), never("", "own:2")],
        vec![owned(empty)],
        vec![owned(full), owned(manifest), owned("some words of mine\n")],
        vec![owned(DEPLOYMENT), owned(message)],
        vec![log.join("\n")],
        vec![owned(definition), owned(full)],
    ]
}

fn without(texts: &[String]) -> WithoutValues {
    let settings = CaseSettings {
        client: Preset::Helm4,
        manager: String::new(),
        given: GivenParts::default(),
    };
    let mut search = ValueSearch::new(texts, &settings);
    while search.advance() {}
    search.result().expect("it is done")
}

/// Leaves out the values of each case, and hears what is said.
pub fn each(hearing: &mut Hearing) {
    let conditions: Conditions<Shared> = SHARED.iter().copied().collect();
    let mut found: Vec<(Vec<String>, WithoutValues)> = cases()
        .into_iter()
        .map(|texts| (texts.clone(), without(&texts)))
        .collect();
    // What could not be left out is told too.
    let (texts, mut other) = found[1].clone();
    other.same = false;
    found.push((texts, other));
    for (before, found) in found {
        let about = Shared {
            before,
            after: found.texts.clone(),
        };
        let mut says = messages::staying(&found);
        says.push(messages::left_out_values(&found));
        for text in says {
            hearing.hear(&text, &conditions, &about, &|| {
                format!("   {:?}\n   {:?}", about.before, about.after)
            });
        }
    }
}

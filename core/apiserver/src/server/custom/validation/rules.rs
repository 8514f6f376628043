//! The validation rules of a definition: whether they can be compiled, and whether they may cost
//! too much (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go` and
//! `cel_validation.go`, v0.36).

use serde_json::Value;

use super::internal;
use crate::cel::{Declared, MAX_REQUEST, Unusable};
use crate::field::ErrorPath;
use crate::schema::ListKind;
use crate::schema::custom::ValidationRule;
use crate::schema::openapi::{Additional, Schema};
use crate::status::FieldError;

/// The highest estimated cost of one rule (`StaticEstimatedCostLimit`).
const RULE_LIMIT: u64 = 10_000_000;

/// The highest estimated cost of all rules of a version together (`StaticEstimatedCRDCostLimit`).
const TOTAL_LIMIT: u64 = 100_000_000;

/// The number of the most expensive rules that are named.
const NAMED: usize = 4;

/// A schema in a definition, as its rules see it.
#[derive(Clone)]
pub(super) struct RuleSchema<'a> {
    parsed: &'a Schema,
    /// `true` if its values are resources.
    root: bool,
    /// The largest number of values; `None` for no bound.
    cardinality: Option<u64>,
    /// The list around it whose items cannot be told apart.
    uncorrelatable: Option<String>,
}

/// The errors and costs of all rules of a version.
pub(super) struct RuleResults {
    pub(super) errors: Vec<FieldError>,
    total: u64,
    /// The expensive rules, with their costs.
    expensive: Vec<(String, u64)>,
    /// The rules were accepted before, so they may cost more than new ones.
    stored: bool,
}

impl RuleResults {
    pub(super) fn new(stored: bool) -> Self {
        Self {
            errors: Vec::new(),
            total: 0,
            expensive: Vec::new(),
            stored,
        }
    }

    fn observe(&mut self, field: String, cost: u64) {
        self.total = self.total.saturating_add(cost);
        if cost >= TOTAL_LIMIT / 100 {
            self.expensive.push((field, cost));
        }
    }

    fn weigh(&mut self, field: &ErrorPath<'_>, name: &str, cost: u64) {
        if !self.stored && cost > RULE_LIMIT {
            let detail = exceeds(name, cost, RULE_LIMIT);
            self.errors.push(FieldError::forbidden(field, detail));
        }
        self.observe(field.to_string(), cost);
    }

    /// The errors of rules that cost too much together.
    pub(super) fn of_total(&mut self, path: &ErrorPath<'_>) -> Vec<FieldError> {
        if self.total <= TOTAL_LIMIT {
            return Vec::new();
        }
        self.expensive
            .sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
        let contributed = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
        let named = self.expensive.iter().take(NAMED);
        let mut errors: Vec<FieldError> = named
            .map(|(field, _)| FieldError::forbidden(field.as_str(), contributed))
            .collect();
        let name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        let detail = exceeds(name, self.total, TOTAL_LIMIT);
        errors.push(FieldError::forbidden(path, detail));
        errors
    }
}

/// The keyword of rules.
pub(super) const RULES: &str = "x-kubernetes-validations";

/// `getCostErrorMessage`.
fn exceeds(name: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let shown = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{name} exceeds budget by factor of {shown} (try simplifying the rule, or adding maxItems, \
         maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}

impl<'a> RuleSchema<'a> {
    /// The schema of a version.
    pub(super) fn root(parsed: &'a Schema) -> Self {
        Self {
            parsed,
            root: true,
            cardinality: Some(1),
            uncorrelatable: None,
        }
    }

    fn below(&self, parsed: &'a Schema) -> Self {
        Self {
            parsed,
            root: parsed.embedded,
            cardinality: self.cardinality,
            uncorrelatable: self.uncorrelatable.clone(),
        }
    }

    fn times(&self, most: Option<i64>) -> Option<u64> {
        let most = u64::try_from(most?).unwrap_or(0);
        Some(self.cardinality?.saturating_mul(most))
    }

    /// The place of a property.
    pub(super) fn property(&self, name: &str) -> Option<Self> {
        Some(self.below(self.parsed.properties.get(name)?))
    }

    /// The place of all other members.
    pub(super) fn additional(&self) -> Option<Self> {
        let Some(Additional::Of(parsed)) = &self.parsed.additional else {
            return None;
        };
        let cardinality = self.times(self.parsed.checks.max_properties);
        Some(Self {
            cardinality,
            ..self.below(parsed)
        })
    }

    /// The place of the items; `path` is that of the list.
    pub(super) fn items(&self, path: &ErrorPath<'_>) -> Option<Self> {
        let parsed = self.parsed.items.as_deref()?;
        let apart = matches!(self.parsed.list, ListKind::Map(_));
        let known = self.uncorrelatable.clone();
        Some(Self {
            cardinality: self.times(self.parsed.checks.max_items),
            uncorrelatable: known.or_else(|| (!apart).then(|| path.to_string())),
            ..self.below(parsed)
        })
    }

    /// Checks the rules of this schema.
    pub(super) fn check(&self, json: &Value, path: &ErrorPath<'_>, found: &mut RuleResults) {
        let declared = Declared::from_schema(self.parsed, self.root);
        let rules = json[RULES].as_array();
        for (i, (rule, json)) in self
            .parsed
            .rules
            .iter()
            .zip(rules.into_iter().flatten())
            .enumerate()
        {
            let Some(declared) = &declared else {
                let field = path.child(RULES);
                let detail = "internal error: failed to retrieve type information for \
                     x-kubernetes-validations";
                found.errors.push(FieldError::internal(field, detail));
                return;
            };
            let path = path.item(RULES, i);
            let field = |name: &'static str| path.child(name);
            let compiled = rule.compiled(|| Some(declared.clone()));
            let often = self.cardinality.unwrap_or_else(|| {
                let least = u64::try_from(declared.min_size + 1).unwrap_or(1);
                MAX_REQUEST as u64 / least
            });
            match &compiled.rule {
                Some(Ok(program)) => {
                    let cost = program.max_cost.saturating_mul(often);
                    found.weigh(&field("rule"), "estimated rule cost", cost);
                }
                Some(Err(Unusable::Wrong(why))) => {
                    let error = FieldError::invalid(field("rule"), &Value::Null, why.as_str());
                    found.errors.push(error.shown_as(internal::rule(json)));
                }
                Some(Err(Unusable::Unknown)) | None => continue,
            }
            match &compiled.message {
                Some(Ok(program)) => {
                    let (field, cost) = (field("messageExpression"), program.max_cost);
                    found.weigh(&field, "estimated messageExpression cost", cost);
                }
                Some(Err(Unusable::Wrong(why))) => {
                    let field = field("messageExpression");
                    let error = FieldError::invalid(field, &Value::Null, why.as_str());
                    found.errors.push(error.shown_as(internal::rule(json)));
                }
                Some(Err(Unusable::Unknown)) | None => {}
            }
            let uses_old_self =
                matches!(&compiled.rule, Some(Ok(program)) if program.uses_old_self);
            found
                .errors
                .extend(self.old_self(rule, uses_old_self, &path));
        }
    }

    /// The error of a rule that uses `oldSelf` where there is none, or allows it to be absent
    /// without using it.
    fn old_self(
        &self,
        rule: &ValidationRule,
        used: bool,
        path: &ErrorPath<'_>,
    ) -> Option<FieldError> {
        if used {
            let around = self.uncorrelatable.as_ref()?;
            let detail = format!(
                "oldSelf cannot be used on the uncorrelatable portion of the schema within {around}"
            );
            let rule = rule.text.as_str().into();
            return Some(FieldError::invalid(path.child("rule"), &rule, detail));
        }
        let optional = rule.optional_old_self?.into();
        let detail = "may not be set if oldSelf is not used in rule";
        Some(FieldError::invalid(
            path.child("optionalOldSelf"),
            &optional,
            detail,
        ))
    }

    /// The rules of this schema, and of every one in it, that cannot be evaluated here.
    fn unknown(&self, found: &mut Vec<String>) {
        for rule in &self.parsed.rules {
            let compiled = rule.compiled(|| Declared::from_schema(self.parsed, self.root));
            if matches!(compiled.rule, Some(Err(Unusable::Unknown))) {
                found.push(rule.text.clone());
            }
        }
        let properties = self.parsed.properties.keys();
        let below = properties.filter_map(|name| self.property(name));
        let all = below
            .chain(self.additional())
            .chain(self.items(&ErrorPath::new("")));
        all.for_each(|place| place.unknown(found));
    }
}

/// The rules of a definition that cannot be evaluated here.
pub(in crate::server) fn unknown_rules(definition: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for version in super::versions(&definition["spec"]) {
        let schema = version.pointer("/schema/openAPIV3Schema");
        if let Some(parsed) = schema.and_then(|schema| Schema::parse(schema).ok()) {
            RuleSchema::root(&parsed).unknown(&mut found);
        }
    }
    found
}

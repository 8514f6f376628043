//! Conditions and values in Rust.

use optimist_controller::program::{BoolExpression, Expression};
use serde_json::Value;

use super::Rust;
use super::fields::RustField;
use crate::kube_rs::{literal, string};
use crate::program::template::{Part, parts};

impl Rust<'_> {
    /// A text with placeholders, as a `String`, or as a `&str` if there are none.
    fn text(&self, template: &str, number: usize) -> (String, bool) {
        let parts = parts(template);
        match parts.as_slice() {
            [] => return (string(""), true),
            [Part::Letters(letters)] => return (string(letters), true),
            [Part::Name] => return ("name.clone()".to_owned(), false),
            [Part::Namespace] => return ("namespace.clone()".to_owned(), false),
            [Part::Field(name, field)] => {
                return (self.field(name, field, number).owned(), false);
            }
            _ => {}
        }
        let (mut format, mut arguments) = (String::new(), String::new());
        for part in parts {
            match part {
                Part::Letters(letters) => {
                    let letters = string(letters).replace('{', "{{").replace('}', "}}");
                    format.push_str(letters.trim_matches('"'));
                }
                Part::Name => format.push_str("{name}"),
                Part::Namespace => format.push_str("{namespace}"),
                Part::Field(name, field) => {
                    format.push_str("{}");
                    arguments.push_str(", ");
                    arguments.push_str(&self.field(name, field, number).owned());
                }
            }
        }
        (format!("format!(\"{format}\"{arguments})"), false)
    }

    /// A text as a `String`.
    pub(super) fn owned(&self, template: &str, number: usize) -> String {
        match self.text(template, number) {
            (text, true) => format!("{text}.to_owned()"),
            (text, false) => text,
        }
    }

    /// A text as a `&str`.
    pub(super) fn borrowed(&self, template: &str, number: usize) -> String {
        match template {
            "{name}" => "&name".to_owned(),
            "{namespace}" => "&namespace".to_owned(),
            _ => match self.text(template, number) {
                (text, true) => text,
                (text, false) => format!("&{text}"),
            },
        }
    }

    pub(super) fn condition(&self, of: &BoolExpression, number: usize) -> String {
        match of {
            BoolExpression::Found(name) => format!("{}_found", self.named(name, number)),
            BoolExpression::Deleting(name) => {
                let object = self.named(name, number);
                format!("{object}.metadata.deletion_timestamp.is_some()")
            }
            BoolExpression::Equal(a, b) => self.equal(a, b, number, "=="),
            BoolExpression::Less(a, b) => self.less(a, b, number),
            BoolExpression::Contains { of, field, item } => {
                let object = self.named(of, number);
                let (item, is_str) = self.text(item, number);
                if field == "/metadata/finalizers" {
                    let item = if is_str { item } else { format!("&*{item}") };
                    return format!("{object}.finalizers().iter().any(|known| known == {item})");
                }
                let list = self.field(of, field, number);
                format!(
                    "json!({}).as_array().is_some_and(|list| list.contains(&json!({item})))",
                    list.plain()
                )
            }
            BoolExpression::ExpectationsSatisfied => {
                "ctx.expectations.satisfied(&owner)".to_owned()
            }
            BoolExpression::All(all) if all.is_empty() => "true".to_owned(),
            BoolExpression::All(all) => {
                let all = all.iter().map(|one| self.condition(one, number));
                all.collect::<Vec<_>>().join(" && ")
            }
            BoolExpression::Not(inner) => self.negated(inner, number),
        }
    }

    fn negated(&self, of: &BoolExpression, number: usize) -> String {
        match of {
            BoolExpression::Not(twice) => self.condition(twice, number),
            BoolExpression::Deleting(name) => {
                let object = self.named(name, number);
                format!("{object}.metadata.deletion_timestamp.is_none()")
            }
            BoolExpression::Equal(a, b) => self.equal(a, b, number, "!="),
            BoolExpression::All(_) => format!("!({})", self.condition(of, number)),
            other => format!("!{}", self.condition(other, number)),
        }
    }

    fn equal(&self, a: &Expression, b: &Expression, number: usize, sign: &str) -> String {
        let (a, b) = match (a, b) {
            // What is compared stands first.
            (Expression::Value(_) | Expression::Text(_), Expression::Field(..)) => (b, a),
            (Expression::Value(_), Expression::Count(_)) => (b, a),
            pair => pair,
        };
        match (a, b) {
            (Expression::Count(name), Expression::Value(value)) => {
                let list = self.list_named(name, number);
                match value.as_u64() {
                    Some(0) => format!("{}{list}.is_empty()", if sign == "!=" { "!" } else { "" }),
                    Some(n) => format!("{list}.len() {sign} {n}"),
                    None => (sign == "!=").to_string(),
                }
            }
            (Expression::Field(x, f), Expression::Field(y, g)) => {
                let (a, b) = (self.field(x, f, number), self.field(y, g, number));
                self.equal_fields(&a, &b, sign)
            }
            (Expression::Field(name, field), Expression::Value(value)) => {
                let field = self.field(name, field, number);
                equal_value(&field, value, sign)
            }
            (Expression::Field(name, field), Expression::Text(template)) => {
                let field = self.field(name, field, number).borrowed();
                let text = match self.text(template, number) {
                    (text, true) => text,
                    (text, false) => format!("&*{text}"),
                };
                format!("{field} {sign} Some({text})")
            }
            (a, b) => {
                let (a, b) = (self.json(a, number), self.json(b, number));
                format!("{a} {sign} {b}")
            }
        }
    }

    fn equal_fields(&self, a: &RustField, b: &RustField, sign: &str) -> String {
        use RustField as Is;
        let (x, y) = match (a, b) {
            (Is::Json(x), Is::Json(y))
            | (Is::Integer(x), Is::Integer(y))
            | (Is::Text(x), Is::Text(y)) => (x.clone(), y.clone()),
            (Is::BorrowedText(x), Is::BorrowedText(y)) => (x.clone(), y.clone()),
            (Is::Integer(_), _) | (_, Is::Integer(_)) => (a.integer(), b.integer()),
            _ => (a.borrowed(), b.borrowed()),
        };
        format!("{x} {sign} {y}")
    }

    fn less(&self, a: &Expression, b: &Expression, number: usize) -> String {
        let count = |name: &String| format!("({}.len() as i64)", self.list_named(name, number));
        let certain = |of: &Expression| match of {
            Expression::Count(name) => Some(count(name)),
            Expression::Value(value) => Some(value.as_i64()?.to_string()),
            _ => None,
        };
        let field = |of: &Expression| match of {
            Expression::Field(name, field) => self.field(name, field, number).integer(),
            _ => "None::<i64>".to_owned(),
        };
        match (certain(a), certain(b)) {
            (Some(a), Some(b)) => format!("{a} < {b}"),
            (Some(a), None) => format!("{}.is_some_and(|value| {a} < value)", field(b)),
            (None, Some(b)) => format!("{}.is_some_and(|value| value < {b})", field(a)),
            (None, None) => format!("{}.zip({}).is_some_and(|(a, b)| a < b)", field(a), field(b)),
        }
    }

    pub(super) fn list_named(&self, name: &str, number: usize) -> String {
        let list = self.variables.get(name, true, number);
        list.map_or_else(|| super::identifier(name), |list| self.name(list))
    }

    /// An expression as a `Value`.
    pub(super) fn json(&self, of: &Expression, number: usize) -> String {
        match of {
            Expression::Value(value) => literal(value),
            Expression::Text(text) => format!("json!({})", self.text(text, number).0),
            Expression::Field(name, field) => {
                format!("json!({})", self.field(name, field, number).plain())
            }
            Expression::Count(name) => format!("json!({}.len())", self.list_named(name, number)),
            Expression::Now => {
                "json!(Timestamp::now().round(Unit::Second).unwrap_or_default().to_string())"
                    .to_owned()
            }
        }
    }

    /// An expression as a `String`.
    pub(super) fn as_text(&self, of: &Expression, number: usize) -> String {
        match of {
            Expression::Text(text) => self.owned(text, number),
            Expression::Value(Value::String(text)) => format!("{}.to_owned()", string(text)),
            Expression::Field(name, field) => self.field(name, field, number).owned(),
            Expression::Count(name) => {
                format!("{}.len().to_string()", self.list_named(name, number))
            }
            other => format!("text(&{})", self.json(other, number)),
        }
    }
}

fn equal_value(field: &RustField, value: &Value, sign: &str) -> String {
    let none = |text: String| {
        let is = if sign == "==" { "is_none" } else { "is_some" };
        format!("{text}.{is}()")
    };
    match (field, value) {
        (RustField::Json(text), Value::Null) => {
            format!("{}{text}.is_null()", if sign == "!=" { "!" } else { "" })
        }
        (RustField::Json(text), Value::String(value)) => format!("{text} {sign} {}", string(value)),
        (RustField::Json(text), Value::Bool(_) | Value::Number(_)) => {
            format!("{text} {sign} {value}")
        }
        (RustField::Json(text), value) => format!("{text} {sign} {}", literal(value)),
        (field, Value::Null) => none(field.plain().to_owned()),
        (field, Value::String(text)) => {
            format!("{} {sign} Some({})", field.borrowed(), string(text))
        }
        (RustField::Integer(text), Value::Number(n)) if n.is_i64() => {
            format!("{text} {sign} Some({n})")
        }
        _ => (sign == "!=").to_string(),
    }
}

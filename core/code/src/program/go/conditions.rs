//! Conditions and values in Go.

use optimist_apiserver::go::quote;
use optimist_controller::program::{BoolExpression, Expression};
use serde_json::Value;

use super::Go;
use super::fields::{GoField, GoType};
use crate::client_go::literal;
use crate::program::template::{Part, parts};

impl Go<'_> {
    /// A text with placeholders.
    pub(super) fn text(&mut self, template: &str, number: usize) -> String {
        self.joined(template, number, " + ")
    }

    /// The same as one of several arguments: gofmt leaves out the spaces there.
    pub(super) fn argument(&mut self, of: &Expression, number: usize) -> String {
        match of {
            Expression::Text(template) => self.joined(template, number, "+"),
            other => self.as_text(other, number),
        }
    }

    pub(super) fn joined(&mut self, template: &str, number: usize, plus: &str) -> String {
        let parts: Vec<String> = parts(template)
            .iter()
            .map(|part| match part {
                Part::Letters(letters) => quote(letters),
                Part::Name => "req.Name".to_owned(),
                Part::Namespace => "req.Namespace".to_owned(),
                Part::Field(name, field) => self.field(name, field, number).as_text(self),
            })
            .collect();
        match parts.is_empty() {
            true => quote(""),
            false => parts.join(plus),
        }
    }

    pub(super) fn condition(&mut self, of: &BoolExpression, number: usize) -> String {
        match of {
            BoolExpression::Found(name) => format!("{}Found", self.named(name, number)),
            BoolExpression::Deleting(_) | BoolExpression::All(_) => self.compound(of, number),
            BoolExpression::Equal(a, b) => self.equal(a, b, number, "=="),
            BoolExpression::Less(a, b) => {
                let (a, b) = (self.integer(a, number), self.integer(b, number));
                format!("{a} < {b}")
            }
            BoolExpression::Contains { of, field, item } => self.contains(of, field, item, number),
            BoolExpression::ExpectationsSatisfied => {
                "r.Expectations.SatisfiedExpectations(logger, req.String())".to_owned()
            }
            BoolExpression::Not(inner) => self.negated(inner, number),
        }
    }

    fn compound(&mut self, of: &BoolExpression, number: usize) -> String {
        match of {
            BoolExpression::Deleting(name) => {
                format!("!{}", self.not_deleting(name, number))
            }
            BoolExpression::All(all) if all.is_empty() => "true".to_owned(),
            BoolExpression::All(all) => {
                let all = all.iter().map(|one| self.condition(one, number));
                all.collect::<Vec<_>>().join(" && ")
            }
            other => self.condition(other, number),
        }
    }

    fn not_deleting(&self, name: &str, number: usize) -> String {
        let object = self.named(name, number);
        match self.variables.kind_at(name, number) {
            Some(_) => format!("{object}.DeletionTimestamp.IsZero()"),
            None => format!("{object}.GetDeletionTimestamp().IsZero()"),
        }
    }

    fn contains(&mut self, of: &str, field: &str, item: &str, number: usize) -> String {
        let item = self.joined(item, number, "+");
        if field == "/metadata/finalizers" {
            let object = self.reference(of, number);
            self.imports
                .add("sigs.k8s.io/controller-runtime/pkg/controller/controllerutil");
            return format!("controllerutil.ContainsFinalizer({object}, {item})");
        }
        self.imports.add("slices");
        let list = self.field(of, field, number).text;
        format!("slices.Contains({list}, {item})")
    }

    fn negated(&mut self, of: &BoolExpression, number: usize) -> String {
        match of {
            BoolExpression::Not(twice) => self.condition(twice, number),
            BoolExpression::Deleting(name) => self.not_deleting(name, number),
            BoolExpression::Equal(a, b) => self.equal(a, b, number, "!="),
            BoolExpression::Less(a, b) => {
                let (a, b) = (self.integer(a, number), self.integer(b, number));
                format!("{a} >= {b}")
            }
            BoolExpression::All(_) => format!("!({})", self.condition(of, number)),
            other => format!("!{}", self.condition(other, number)),
        }
    }

    fn equal(&mut self, a: &Expression, b: &Expression, number: usize, sign: &str) -> String {
        let (a, b) = match (a, b) {
            // What is compared stands first.
            (Expression::Value(_) | Expression::Text(_), Expression::Field(..)) => (b, a),
            pair => pair,
        };
        match (a, b) {
            (Expression::Count(_), _) | (_, Expression::Count(_)) => {
                let (a, b) = (self.integer(a, number), self.integer(b, number));
                format!("{a} {sign} {b}")
            }
            (Expression::Field(x, f), Expression::Field(y, g)) => {
                let (a, b) = (self.field(x, f, number), self.field(y, g, number));
                self.equal_fields(&a, &b, sign)
            }
            (Expression::Field(name, field), Expression::Value(value)) => {
                let field = self.field(name, field, number);
                self.equal_value(&field, value, sign)
            }
            (Expression::Field(name, field), other) => {
                let field = self.field(name, field, number).as_text(self);
                format!("{field} {sign} {}", self.as_text(other, number))
            }
            (a, b) => {
                let (a, b) = (self.as_text(a, number), self.as_text(b, number));
                format!("{a} {sign} {b}")
            }
        }
    }

    fn equal_fields(&mut self, a: &GoField, b: &GoField, sign: &str) -> String {
        if [a.ty, b.ty].contains(&GoType::Compound) {
            return self.deep_equal(&a.text, &b.text, sign);
        }
        let own = [a.ty, b.ty].contains(&GoType::Own);
        let (x, y) = match own || a.ty == b.ty && a.integer == b.integer {
            true => (a.value(self), b.value(self)),
            false => (a.as_text(self), b.as_text(self)),
        };
        format!("{x} {sign} {y}")
    }

    fn deep_equal(&mut self, a: &str, b: &str, sign: &str) -> String {
        self.imports.add("k8s.io/apimachinery/pkg/api/equality");
        let not = if sign == "!=" { "!" } else { "" };
        format!("{not}equality.Semantic.DeepEqual({a}, {b})")
    }

    fn equal_value(&mut self, field: &GoField, value: &Value, sign: &str) -> String {
        match (value, field.ty) {
            (Value::Bool(wanted), GoType::Bool | GoType::Own) => {
                let not = if *wanted == (sign == "==") { "" } else { "!" };
                format!("{not}{}", field.value(self))
            }
            (Value::Number(n), GoType::Integer | GoType::Own) => {
                format!("{} {sign} {n}", field.value(self))
            }
            (Value::String(text), GoType::Text | GoType::NamedText | GoType::Own) => {
                format!("{} {sign} {}", field.value(self), quote(text))
            }
            (Value::Null, _) if field.pointer => format!("{} {sign} nil", field.text),
            _ => self.deep_equal(&field.text, &literal(value), sign),
        }
    }

    /// An expression as an `int`.
    pub(super) fn integer(&mut self, of: &Expression, number: usize) -> String {
        match of {
            Expression::Value(value) if value.is_i64() => value.to_string(),
            Expression::Count(name) => {
                let list = self.variables.get(name, true, number).cloned();
                let list = list.map_or_else(|| super::identifier(name), |list| self.name(&list));
                format!("len({list}.Items)")
            }
            Expression::Field(name, field) => {
                let value = self.field(name, field, number).value(self);
                format!("int({value})")
            }
            _ => "0".to_owned(),
        }
    }

    /// An expression as a text.
    pub(super) fn as_text(&mut self, of: &Expression, number: usize) -> String {
        match of {
            Expression::Field(name, field) => self.field(name, field, number).as_text(self),
            Expression::Now => {
                self.imports.add("time");
                "time.Now().UTC().Format(time.RFC3339)".to_owned()
            }
            Expression::Value(Value::String(text)) => quote(text),
            Expression::Text(text) => self.text(text, number),
            Expression::Value(value) => quote(&value.to_string()),
            Expression::Count(_) => {
                self.imports.add("fmt");
                format!("fmt.Sprint({})", self.integer(of, number))
            }
        }
    }
}

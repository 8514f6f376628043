//! Checks of literals (`cel-go/cel/validator.go`, v0.26).

use optimist_encoding::go::parse_duration;

use super::super::ast::{CallExpression, Expr, ExpressionKind, Literal};
use super::super::constants;
use super::super::types::CelType;
use super::Checker;

impl Checker<'_> {
    /// Literals that no function can read, and those that mix types.
    pub(super) fn literals(&mut self, expr: &Expr, mixed: bool) {
        match &expr.kind {
            ExpressionKind::List { items, optional } if !mixed => {
                let items = items.iter().enumerate();
                self.same_types(items.map(|(i, it)| (it, optional.contains(&i))));
            }
            ExpressionKind::Map(entries) if !mixed => {
                self.same_types(entries.iter().map(|it| (&it.key, false)));
                self.same_types(entries.iter().map(|it| (&it.value, it.optional)));
            }
            ExpressionKind::Call(call) => {
                self.readable(call);
                self.formats(expr, call);
            }
            _ => {}
        }
        // The arguments of `format` may be of any types.
        let mixed =
            mixed || matches!(&expr.kind, ExpressionKind::Call(call) if call.function == "format");
        expr.parts()
            .into_iter()
            .for_each(|part| self.literals(part, mixed));
    }

    /// Reports the first item whose type is not that of the first one.
    fn same_types<'e>(&mut self, items: impl Iterator<Item = (&'e Expr, bool)>) {
        let mut first: Option<CelType> = None;
        for (item, optional) in items {
            let ty = self.mapping.substitute(&self.types[item.id], true);
            let ty = match (optional, ty) {
                (true, CelType::Optional(of)) => *of,
                (_, ty) => ty,
            };
            match &first {
                None => first = Some(ty),
                Some(first) if first.is_same(&ty) => {}
                Some(first) => {
                    let message = format!("expected type '{first}' but found '{ty}'");
                    self.report(item, message);
                    return;
                }
            }
        }
    }

    fn readable(&mut self, call: &CallExpression) {
        let Some(argument) = call.args.first() else {
            return;
        };
        let ExpressionKind::Literal(Literal::String(text)) = &argument.kind else {
            return;
        };
        let function = call.function.as_str();
        let readable = match function {
            "duration" => parse_duration(text).is_ok(),
            "timestamp" => super::super::functions::times::timestamp(text).is_some(),
            "matches" => constants::wrong_pattern(text).is_none(),
            _ => true,
        };
        if !readable {
            self.report(argument, format!("invalid {function} argument"));
        }
    }
}

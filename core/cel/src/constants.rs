//! Calls that fail already where a program is made of an expression: conversions of literal texts
//! (`cel-go/interpreter/decorators.go`, maybeOptimizeConstUnary), and literal patterns
//! (`cel-go/interpreter/optimizations.go`; `k8s.io/apiserver/pkg/cel/library/regex.go`).

use optimist_values::go_mistake;

use super::ast::{CallExpression, Expr, ExpressionKind, Literal};
use super::functions::conversions;

/// Returns the first such failure, in the order in which the parts of a program are made.
pub(super) fn failure(expr: &Expr) -> Option<String> {
    let inner = expr.parts().into_iter().find_map(failure);
    inner.or_else(|| match &expr.kind {
        ExpressionKind::Call(call) => of_call(call),
        _ => None,
    })
}

fn of_call(call: &CallExpression) -> Option<String> {
    let text = match &call.args.last()?.kind {
        ExpressionKind::Literal(Literal::String(text)) => text,
        _ => return None,
    };
    match (call.function.as_str(), &call.target, call.args.len()) {
        ("bool" | "int" | "uint" | "double", None, 1) => conversions::mistake(&call.function, text),
        ("matches", None, 2) | ("matches" | "find" | "findAll", Some(_), 1) => wrong_pattern(text),
        _ => None,
    }
}

/// Returns Go's reason why a text is no regular expression.
pub(super) fn wrong_pattern(text: &str) -> Option<String> {
    let why = go_mistake(text)?;
    Some(format!("error parsing regexp: {why}"))
}

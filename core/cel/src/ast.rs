//! Expressions, as the parser builds them. Macros are expanded to folds.

use std::collections::BTreeSet;

/// One expression. The id leads to its place in the text and to its type.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) id: usize,
    pub(super) kind: ExpressionKind,
}

#[derive(Clone, Debug)]
pub(super) enum ExpressionKind {
    Literal(Literal),
    Ident(String),
    /// A field of a value, or the question whether it is there (`has`).
    Select {
        operand: Box<Expr>,
        field: String,
        test: bool,
    },
    Call(CallExpression),
    /// Items; those at some indexes are taken only if they have a value.
    List {
        items: Vec<Expr>,
        optional: Vec<usize>,
    },
    Map(Vec<MapEntry>),
    /// A message of a type; only expressions that change objects have such types.
    Struct(MessageLiteral),
    Fold(Box<Comprehension>),
}

/// A function or an operator, applied. Operators have the names of `cel-go/common/operators`.
#[derive(Clone, Debug)]
pub(super) struct CallExpression {
    pub(super) function: String,
    pub(super) target: Option<Box<Expr>>,
    pub(super) args: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub(super) struct MapEntry {
    pub(super) key: Expr,
    pub(super) value: Expr,
    pub(super) optional: bool,
}

/// A message: its type, and the fields that it has.
#[derive(Clone, Debug)]
pub(super) struct MessageLiteral {
    pub(super) ty: String,
    pub(super) fields: Vec<MessageField>,
}

#[derive(Clone, Debug)]
pub(super) struct MessageField {
    pub(super) name: String,
    /// The index of the character at which it is reported.
    pub(super) place: usize,
    pub(super) value: Expr,
    /// `true` if it is there only if its value is.
    pub(super) optional: bool,
}

/// A loop over a list or map (`ComprehensionExpr`).
#[derive(Clone, Debug)]
pub(super) struct Comprehension {
    pub(super) range: Expr,
    pub(super) variable: String,
    /// The second variable: the first one is the index or key then.
    pub(super) second: Option<String>,
    pub(super) accumulator: String,
    pub(super) init: Expr,
    pub(super) condition: Expr,
    pub(super) step: Expr,
    pub(super) result: Expr,
}

impl Expr {
    /// Finds the fields of a variable that it uses.
    pub(super) fn find_fields(&self, variable: &str, found: &mut BTreeSet<String>) {
        if let ExpressionKind::Select { operand, field, .. } = &self.kind
            && matches!(&operand.kind, ExpressionKind::Ident(name) if name == variable)
        {
            found.insert(field.clone());
        }
        for part in self.parts() {
            part.find_fields(variable, found);
        }
    }

    /// Returns whether it or a part of it is a variable of this name.
    pub(super) fn names(&self, variable: &str) -> bool {
        let is_it = matches!(&self.kind, ExpressionKind::Ident(name) if name == variable);
        is_it || self.parts().into_iter().any(|part| part.names(variable))
    }

    /// The expressions in this one.
    pub(super) fn parts(&self) -> Vec<&Expr> {
        match &self.kind {
            ExpressionKind::Literal(_) | ExpressionKind::Ident(_) => Vec::new(),
            ExpressionKind::Struct(message) => {
                message.fields.iter().map(|field| &field.value).collect()
            }
            ExpressionKind::Select { operand, .. } => vec![operand],
            ExpressionKind::Call(call) => call
                .target
                .as_deref()
                .into_iter()
                .chain(&call.args)
                .collect(),
            ExpressionKind::List { items, .. } => items.iter().collect(),
            ExpressionKind::Map(entries) => {
                let entries = entries.iter();
                entries.flat_map(|it| [&it.key, &it.value]).collect()
            }
            ExpressionKind::Fold(fold) => vec![
                &fold.range,
                &fold.init,
                &fold.condition,
                &fold.step,
                &fold.result,
            ],
        }
    }
}

impl Comprehension {
    /// Returns whether it only gives a value a name (`checker/cost.go isBind`).
    pub(super) fn is_binding(&self) -> bool {
        matches!(&self.range.kind, ExpressionKind::List { items, .. } if items.is_empty())
            && matches!(
                self.condition.kind,
                ExpressionKind::Literal(Literal::Bool(false))
            )
            && self.accumulator != ACCUMULATOR
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
}

/// The variable of a loop that has the result; no text can name it.
pub(super) const ACCUMULATOR: &str = "@result";

/// An expression that was read, and where its parts stand.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) expr: Expr,
    /// The index of the character at which each expression is reported, by id.
    pub(super) places: Vec<usize>,
}

/// The reason why a text is no expression.
#[derive(Debug)]
pub(super) struct ParseError {
    /// The index of a character.
    pub(super) place: usize,
    pub(super) message: String,
}

impl ParseError {
    pub(super) fn new(place: usize, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { place, message }
    }
}

/// Mistakes as messages show them: with their place and the line (`common/errors.go
/// ToDisplayString`, cel-go v0.26).
pub(super) fn display_mistakes(mistakes: &mut [ParseError], text: &str) -> String {
    mistakes.sort_by_key(|mistake| mistake.place);
    let all: Vec<String> = mistakes.iter().map(|it| shown_one(it, text)).collect();
    all.join("\n")
}

fn shown_one(mistake: &ParseError, text: &str) -> String {
    // Nothing has no first line.
    if text.is_empty() {
        return format!("ERROR: <input>:1:0: {}", mistake.message);
    }
    let (mut line, mut start) = (1, 0);
    for (i, c) in text.chars().enumerate().take(mistake.place) {
        if c == '\n' {
            line += 1;
            start = i + 1;
        }
    }
    let column = mistake.place - start;
    let snippet = text.split('\n').nth(line - 1).unwrap_or_default();
    let snippet = snippet.replace('\t', " ");
    let mut pointer = String::new();
    let mut chars = snippet.chars();
    for c in chars.by_ref().take(column) {
        pointer.push(if c.is_ascii() { '.' } else { '\u{ff0e}' });
    }
    let wide = chars.next().is_some_and(|c| !c.is_ascii());
    pointer.push(if wide { '\u{ff3e}' } else { '^' });
    let message = &mistake.message;
    format!(
        "ERROR: <input>:{line}:{}: {message}\n | {snippet}\n | {pointer}",
        column + 1
    )
}

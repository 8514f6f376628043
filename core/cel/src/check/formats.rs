//! Checks of `format` with a literal text and a literal list (`cel-go/ext/formatting.go`, stringFormatValidator).

use super::super::ast::{CallExpression, Expr, ExpressionKind, Literal};
use super::super::types::CelType;
use super::Checker;

/// The place of a mistake and what it is; no place for the call itself.
type FormatMistake<'e> = (Option<&'e Expr>, String);

impl Checker<'_> {
    /// Reports a clause that no argument fits, and arguments without a clause.
    pub(super) fn formats(&mut self, expr: &Expr, call: &CallExpression) {
        let Some(ExpressionKind::Literal(Literal::String(text))) =
            call.target.as_ref().map(|target| &target.kind)
        else {
            return;
        };
        let [
            Expr {
                kind: ExpressionKind::List { items, .. },
                ..
            },
        ] = call.args.as_slice()
        else {
            return;
        };
        if call.function != "format" {
            return;
        }
        match self.clauses(text, items) {
            Err((place, message)) => self.report(place.unwrap_or(expr), message),
            Ok(used) if used < items.len() => {
                let given = items.len();
                let message = format!(
                    "too many arguments supplied to string.format (expected {used}, got {given})"
                );
                self.report(expr, message);
            }
            Ok(_) => {}
        }
    }

    /// Checks the clauses of a format, and counts them.
    fn clauses<'e>(&self, text: &str, items: &'e [Expr]) -> Result<usize, FormatMistake<'e>> {
        let (mut used, mut rest) = (0, text);
        while let Some(start) = rest.find('%') {
            rest = &rest[start + 1..];
            if let Some(after) = rest.strip_prefix('%') {
                rest = after;
                continue;
            }
            if rest.is_empty() {
                return Err((None, "unexpected end of string".to_owned()));
            }
            let Some(item) = items.get(used) else {
                return Err((None, format!("index {used} out of range")));
            };
            let unread = |why: &str| (None, format!("could not parse formatting clause: {why}"));
            if let Some(digits) = rest.strip_prefix('.') {
                rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
                if rest.is_empty() {
                    let why = "could not find end of precision specifier";
                    return Err(unread(&format!("error while parsing precision: {why}")));
                }
            }
            let mut chars = rest.chars();
            let verb = chars.next().unwrap_or_default();
            rest = chars.as_str();
            if !"sdfebxXo".contains(verb) {
                return Err(unread(&format!(
                    "unrecognized formatting clause \"{verb}\""
                )));
            }
            self.clause(verb, item)?;
            used += 1;
        }
        Ok(used)
    }

    fn clause<'e>(&self, verb: char, item: &'e Expr) -> Result<(), FormatMistake<'e>> {
        use CelType::{Bool, Bytes, Double, Dyn, Int, String, Uint};
        if verb == 's' {
            return self.showable(item);
        }
        let ty = self.mapping.substitute(&self.types[item.id], true);
        let (fits, what) = match verb {
            'd' => (
                matches!(ty, Int | Uint),
                "decimal clause can only be used on integers",
            ),
            'o' => (
                matches!(ty, Int | Uint),
                "octal clause can only be used on integers",
            ),
            'f' => (
                matches!(ty, Double | String),
                "fixed-point clause can only be used on doubles",
            ),
            'e' => (
                matches!(ty, Double | String),
                "scientific clause can only be used on doubles",
            ),
            'b' => (
                matches!(ty, Int | Uint | Bool),
                "only integers and bools can be formatted as binary",
            ),
            _ => (
                matches!(ty, Int | Uint | String | Bytes),
                "only integers, byte buffers, and strings can be formatted as hex",
            ),
        };
        match fits || matches!(ty, Dyn) {
            true => Ok(()),
            false => Err(unfit(item, what, &ty)),
        }
    }

    /// Checks that a value can be shown, and what a literal has in it.
    fn showable<'e>(&self, item: &'e Expr) -> Result<(), FormatMistake<'e>> {
        let ty = self.mapping.substitute(&self.types[item.id], true);
        if matches!(ty, CelType::Optional(_) | CelType::Named(_)) {
            let what = "string clause can only be used on strings, bools, bytes, ints, doubles, maps, \
                 lists, types, durations, and timestamps";
            return Err(unfit(item, what, &ty));
        }
        match &item.kind {
            ExpressionKind::List { .. } | ExpressionKind::Map(_) => item
                .parts()
                .into_iter()
                .try_for_each(|part| self.showable(part)),
            _ => Ok(()),
        }
    }
}

fn unfit<'e>(item: &'e Expr, what: &str, ty: &CelType) -> FormatMistake<'e> {
    let name = match ty {
        CelType::List(_) => "list".to_owned(),
        CelType::Map(..) => "map".to_owned(),
        CelType::Optional(_) => "optional_type".to_owned(),
        CelType::Null => "null_type".to_owned(),
        CelType::Duration => "google.protobuf.Duration".to_owned(),
        CelType::Timestamp => "google.protobuf.Timestamp".to_owned(),
        CelType::Type(_) => "type".to_owned(),
        other => other.to_string(),
    };
    let message = format!("error during formatting: {what}, was given {name}");
    (Some(item), message)
}

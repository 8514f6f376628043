//! The parser goes on after a mistake (`DefaultErrorStrategy` of antlr4, with which `cel-go/parser` reads): it
//! drops a token or takes one for given where that is enough, or else skips to what can follow.

use super::{OPERAND, OPERATORS, ParseResult, Parser};
use crate::ast::{Expr, ParseError};
use crate::lexer::Lexeme;

/// A bracket that has opened.
#[derive(Clone, Copy)]
pub(super) enum Opened {
    Index,
    Arguments,
    List,
    Map,
}

impl Opened {
    /// The tokens that can follow it, in the order of the tokens of the grammar.
    fn expected(self) -> String {
        let (after, then) = match self {
            Self::Index => ("'!',", "'!', '?',"),
            Self::Arguments => ("'(',", "'(', ')',"),
            Self::List | Self::Map => ("'!',", "'!', '?',"),
        };
        let expected = OPERAND.replacen(after, then, 1);
        match self {
            Self::List => {
                expected
                    .replacen("'[',", "'[', ']',", 1)
                    .replacen("'.',", "'.', ',',", 1)
            }
            Self::Map => expected
                .replacen("'{',", "'{', '}',", 1)
                .replacen("'.',", "'.', ',',", 1),
            _ => expected,
        }
    }
}

impl Parser {
    /// The current token as it is written.
    pub(super) fn token_text(&self) -> String {
        let token = self.peek();
        if !matches!(token, Lexeme::String(_) | Lexeme::Bytes(_)) {
            return token.to_string();
        }
        let next = self.tokens.get(self.at + 1).map(|(_, place)| *place);
        let end = next.unwrap_or(self.chars.len());
        let written: String = self.chars[self.place()..end].iter().collect();
        written.trim_end().to_owned()
    }

    /// Notes a mistake, unless the one before it is not over yet.
    pub(super) fn report_error(&mut self, message: String) {
        if !self.recovering {
            let message = format!("Syntax error: {message}");
            self.mistakes.push(ParseError::new(self.place(), message));
        }
        self.recovering = true;
    }

    /// Parses what stands in a bracket, which one of these ends.
    pub(super) fn within<T>(
        &mut self,
        ends: &'static [&'static str],
        parse: impl FnOnce(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<T> {
        self.enclosing.push(ends);
        let parsed = parse(self);
        self.enclosing.pop();
        parsed
    }

    /// The expression that a macro stands for, or a name in its place if it does not fit.
    pub(super) fn expanded_or_blank(
        &mut self,
        place: usize,
        expanded: Result<Expr, ParseError>,
    ) -> Expr {
        expanded.unwrap_or_else(|mistake| {
            self.mistakes.push(mistake);
            self.ident(place, "")
        })
    }

    /// Returns whether a token further on is one of these.
    pub(super) fn is_at(&self, further: usize, symbols: &[&str]) -> bool {
        let token = self.tokens.get(self.at + further);
        matches!(token, Some((Lexeme::Symbol(found), _)) if symbols.contains(found))
    }

    /// Takes a symbol (`RecoverInline`).
    pub(super) fn expect(&mut self, symbol: &'static str) {
        if self.accept(symbol) {
            return;
        }
        let found = self.token_text();
        if self.is_at(1, &[symbol]) {
            self.report_error(format!("extraneous input '{found}' expecting '{symbol}'"));
            self.at += 1;
            self.advance();
        } else if self.follows(symbol) {
            self.report_error(format!("missing '{symbol}' at '{found}'"));
        } else {
            self.report_error(format!("mismatched input '{found}' expecting '{symbol}'"));
            self.skip();
        }
    }

    /// Takes the end of a list or map, before which a comma may stand (`Sync`).
    pub(super) fn expect_end(&mut self, symbol: &'static str) {
        if self.accept(symbol) {
            return;
        }
        let found = self.token_text();
        let expected = format!("{{'{symbol}', ','}}");
        if self.is_at(1, &[symbol, ","]) {
            self.report_error(format!("extraneous input '{found}' expecting {expected}"));
            self.at += 1;
            self.accept(",");
            self.expect(symbol);
        } else {
            self.report_error(format!("mismatched input '{found}' expecting {expected}"));
            self.skip();
        }
    }

    /// Goes on where neither a field of a message nor its end is.
    pub(super) fn expect_field(&mut self) {
        let may_stand =
            |token: &Lexeme| begins_field(token) || matches!(token, Lexeme::Symbol("}" | ","));
        self.expect_one(may_stand, "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}");
    }

    /// The name of a field of a message.
    pub(super) fn field_name(&mut self) -> ParseResult<String> {
        let is_name = |token: &Lexeme| begins_field(token) && *token != Lexeme::Symbol("?");
        match self.expect_one(is_name, "{IDENTIFIER, ESC_IDENTIFIER}") {
            true => self.name(),
            false => Ok(String::new()),
        }
    }

    /// Goes on where a token is missing, and returns whether it is there then.
    fn expect_one(&mut self, is_wanted: impl Fn(&Lexeme) -> bool, expected: &str) -> bool {
        if is_wanted(self.peek()) {
            return true;
        }
        let found = self.token_text();
        let next = self.tokens.get(self.at + 1);
        if next.is_some_and(|(next, _)| is_wanted(next)) {
            self.report_error(format!("extraneous input '{found}' expecting {expected}"));
            self.at += 1;
            return true;
        }
        self.report_error(format!("mismatched input '{found}' expecting {expected}"));
        self.skip();
        false
    }

    /// Goes on where an operand is missing.
    pub(super) fn no_operand(&mut self, place: usize) -> ParseResult<Expr> {
        let found = self.token_text();
        let next = self.tokens.get(self.at + 1);
        let opened = self.opened.filter(|(at, _)| *at == self.at);
        let expected = opened.map_or(OPERAND.to_owned(), |(_, opened)| opened.expected());
        if next.is_some_and(|(next, _)| begins_operand(next)) {
            self.report_error(format!("extraneous input '{found}' expecting {expected}"));
            self.at += 1;
            return self.unary();
        }
        self.report_error(format!("mismatched input '{found}' expecting {expected}"));
        self.skip();
        Ok(self.ident(place, ""))
    }

    /// Returns whether the current token can stand after a symbol.
    fn follows(&self, symbol: &str) -> bool {
        if symbol == ":" {
            return begins_operand(self.peek());
        }
        self.continues()
            || match self.enclosing.last() {
                Some(ends) => self.is_at(0, ends),
                None => *self.peek() == Lexeme::End,
            }
    }

    /// Returns whether the current token goes on with an operand that is complete.
    fn continues(&self) -> bool {
        let found = self.peek().to_string();
        self.is_at(0, &[".", "["])
            || !matches!(self.peek(), Lexeme::String(_)) && OPERATORS.contains(&found.as_str())
    }

    /// Skips to a token that can follow in something around (`consumeUntil`); one token at least where it has
    /// been before.
    fn skip(&mut self) {
        if self.last_mistake == Some(self.at) && *self.peek() != Lexeme::End {
            self.at += 1;
        }
        self.last_mistake = Some(self.at);
        while *self.peek() != Lexeme::End
            && !self.continues()
            && !self.enclosing.iter().any(|ends| self.is_at(0, ends))
        {
            self.at += 1;
        }
    }
}

/// Returns whether a field of a message begins with a token.
pub(super) fn begins_field(token: &Lexeme) -> bool {
    match token {
        Lexeme::Ident(name) => !super::is_keyword(name),
        Lexeme::Escaped(_) | Lexeme::Symbol("?") => true,
        _ => false,
    }
}

fn begins_operand(token: &Lexeme) -> bool {
    match token {
        Lexeme::Symbol(symbol) => ["[", "{", "(", ".", "-", "!"].contains(symbol),
        Lexeme::Ident(name) => name != "in",
        Lexeme::End => false,
        _ => true,
    }
}

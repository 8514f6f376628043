//! Parses operands: literals, lists, maps, names and parentheses.

use super::recovery::{Opened, begins_field};
use super::{ParseResult, Parser, RESERVED};
use crate::ast::{
    Expr, ExpressionKind, Literal, MapEntry, MessageField, MessageLiteral, ParseError,
};
use crate::lexer::Lexeme;
use crate::macros;

impl Parser {
    /// Parses an expression without an operator.
    pub(super) fn primary(&mut self) -> ParseResult<Expr> {
        let place = self.place();
        match self.peek().clone() {
            Lexeme::Symbol("(") => {
                self.advance();
                let inner = self.within(&[")"], Self::expression)?;
                self.expect(")");
                Ok(inner)
            }
            Lexeme::Symbol("[") => self.list(place),
            Lexeme::Symbol("{") => self.map(place),
            Lexeme::Symbol("-") => {
                self.advance();
                let token = self.advance();
                self.number(place, &token, "-")
            }
            Lexeme::Symbol(".") => {
                self.advance();
                let place = self.place();
                let name = self.name()?;
                self.named(place, format!(".{name}"))
            }
            Lexeme::Ident(name) => self.word(place, name),
            Lexeme::String(text) => {
                self.advance();
                Ok(self.literal(place, Literal::String(text)))
            }
            Lexeme::Bytes(bytes) => {
                self.advance();
                Ok(self.literal(place, Literal::Bytes(bytes)))
            }
            token @ (Lexeme::Int(_) | Lexeme::Uint(_) | Lexeme::Float(_)) => {
                self.advance();
                self.number(place, &token, "")
            }
            _ => self.no_operand(place),
        }
    }

    fn word(&mut self, place: usize, name: String) -> ParseResult<Expr> {
        let literal = match name.as_str() {
            "true" => Literal::Bool(true),
            "false" => Literal::Bool(false),
            "null" => Literal::Null,
            "in" => return self.no_operand(place),
            _ => {
                self.advance();
                return self.named(place, name);
            }
        };
        self.advance();
        Ok(self.literal(place, literal))
    }

    /// A variable, a function with its arguments, or a message of a type.
    fn named(&mut self, place: usize, name: String) -> ParseResult<Expr> {
        if RESERVED.contains(&name.as_str()) {
            let message = format!("reserved identifier: {name}");
            return Err(ParseError::new(place, message).into());
        }
        let open = self.place();
        if self.accept("(") {
            let args = self.arguments()?;
            let expanded = macros::global(self, open, name, args);
            return Ok(self.expanded_or_blank(open, expanded));
        }
        match self.message_type(name) {
            Ok(ty) => self.message(ty),
            Err(name) => Ok(self.ident(place, &name)),
        }
    }

    /// Reads on to the bracket that opens a message, and gives the type of the message. Gives the name back if it
    /// is that of no message.
    fn message_type(&mut self, mut name: String) -> Result<String, String> {
        let mut at = self.at;
        let mut parts = Vec::new();
        while let [(Lexeme::Symbol("."), _), (Lexeme::Ident(part), _), ..] = &self.tokens[at..] {
            parts.push(part.clone());
            at += 2;
        }
        if !matches!(self.tokens[at].0, Lexeme::Symbol("{")) {
            return Err(name);
        }
        for part in parts {
            name = format!("{name}.{part}");
        }
        self.at = at;
        Ok(name)
    }

    /// A message with its fields (`VisitCreateMessage`).
    fn message(&mut self, ty: String) -> ParseResult<Expr> {
        let open = self.place();
        self.advance();
        let mut fields = Vec::new();
        self.expect_field();
        while begins_field(self.peek()) {
            fields.push(self.field()?);
            if !self.accept(",") {
                self.expect_end("}");
                return Ok(self.make(open, ExpressionKind::Struct(MessageLiteral { ty, fields })));
            }
        }
        // A comma may stand alone.
        if fields.is_empty() {
            self.accept(",");
        }
        self.expect("}");
        Ok(self.make(open, ExpressionKind::Struct(MessageLiteral { ty, fields })))
    }

    fn field(&mut self) -> ParseResult<MessageField> {
        let optional = self.accept("?");
        let name = self.field_name()?;
        let place = self.place();
        self.expect(":");
        let value = self.within(&["}", ","], Self::expression)?;
        Ok(MessageField {
            name,
            place,
            value,
            optional,
        })
    }

    fn list(&mut self, place: usize) -> ParseResult<Expr> {
        self.advance();
        let (mut items, mut optional) = (Vec::new(), Vec::new());
        self.opened = Some((self.at, Opened::List));
        // A comma may stand alone.
        if self.is_at(1, &["]"]) {
            self.accept(",");
        }
        while !self.accept("]") {
            if self.accept("?") {
                optional.push(items.len());
            }
            items.push(self.within(&["]", ","], Self::expression)?);
            if !self.accept(",") {
                self.expect_end("]");
                break;
            }
        }
        Ok(self.make(place, ExpressionKind::List { items, optional }))
    }

    fn map(&mut self, place: usize) -> ParseResult<Expr> {
        self.advance();
        let mut entries = Vec::new();
        self.opened = Some((self.at, Opened::Map));
        if self.is_at(1, &["}"]) {
            self.accept(",");
        }
        while !self.accept("}") {
            let optional = self.accept("?");
            let key = self.within(&[":"], Self::expression)?;
            self.expect(":");
            let value = self.within(&["}", ","], Self::expression)?;
            entries.push(MapEntry {
                key,
                value,
                optional,
            });
            if !self.accept(",") {
                self.expect_end("}");
                break;
            }
        }
        Ok(self.make(place, ExpressionKind::Map(entries)))
    }

    fn number(&mut self, place: usize, token: &Lexeme, sign: &str) -> ParseResult<Expr> {
        let radix = |text: &str| match text.strip_prefix("0x") {
            Some(digits) => (digits.to_owned(), 16),
            None => (text.to_owned(), 10),
        };
        let literal = match token {
            Lexeme::Int(text) => {
                let (digits, radix) = radix(text);
                let value = i64::from_str_radix(&format!("{sign}{digits}"), radix);
                value.map(Literal::Int).map_err(|_| "invalid int literal")
            }
            Lexeme::Uint(text) => {
                let (digits, radix) = radix(text);
                let value = u64::from_str_radix(&digits, radix);
                value.map(Literal::Uint).map_err(|_| "invalid uint literal")
            }
            Lexeme::Float(text) => {
                let value = format!("{sign}{text}").parse::<f64>().ok();
                let value = value.filter(|it| it.is_finite());
                value.map(Literal::Double).ok_or("invalid double literal")
            }
            _ => Err("invalid int literal"),
        };
        let literal = literal.map_err(|why| ParseError::new(place, why))?;
        Ok(self.literal(place, literal))
    }
}

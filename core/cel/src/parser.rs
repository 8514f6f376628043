//! Reads expressions (`cel-go/parser/parser.go`).

mod operands;
mod recovery;

use super::ast::{
    CallExpression, Comprehension, Expr, ExpressionKind, Literal, ParseError, Parsed,
};
use super::lexer::{Lexeme, tokens};
use super::macros;
use recovery::Opened;

/// The deepest nesting of expressions that is allowed here. A real server follows about twice as
/// far.
const MAX_DEPTH: usize = 120;

/// The most characters of an expression (`parser/options.go`).
const MAX_CHARACTERS: usize = 100_000;

/// The tokens that may stand in the place of a missing operand, in the words of the message.
const OPERAND: &str = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, \
     NUM_UINT, STRING, BYTES, IDENTIFIER}";

/// The words that are no identifiers, besides `true`, `false`, `null` and `in`, which mean something
/// (`reservedIds`).
pub(super) const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// The reason why there is no expression.
#[derive(Debug)]
pub(super) enum Unread {
    /// The text is none.
    Mistaken(Vec<ParseError>),
    /// It is nested deeper than this server follows.
    TooDeep,
}

impl From<ParseError> for Unread {
    fn from(mistake: ParseError) -> Self {
        Unread::Mistaken(vec![mistake])
    }
}

type ParseResult<T> = Result<T, Unread>;

/// Reads an expression.
pub(super) fn parse(text: &str) -> ParseResult<Parsed> {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() > MAX_CHARACTERS {
        let message = format!(
            "expression code point size exceeds limit: size: {}, limit {MAX_CHARACTERS}",
            chars.len()
        );
        return Err(ParseError::new(0, message).into());
    }
    let (tokens, mistakes) = tokens(&chars);
    let mut parser = Parser {
        tokens,
        chars,
        at: 0,
        depth: 0,
        places: Vec::new(),
        mistakes,
        enclosing: Vec::new(),
        recovering: false,
        last_mistake: None,
        opened: None,
    };
    let read = parser.whole();
    let (places, mut mistakes) = (parser.places, parser.mistakes);
    match read {
        Ok(expr) if mistakes.is_empty() => Ok(Parsed { expr, places }),
        Ok(_) => Err(Unread::Mistaken(mistakes)),
        Err(Unread::Mistaken(last)) => {
            mistakes.extend(last);
            Err(Unread::Mistaken(mistakes))
        }
        Err(Unread::TooDeep) => Err(Unread::TooDeep),
    }
}

/// Operators after which a reader goes on although no operand stands before them.
const OPERATORS: [&str; 15] = [
    "<", "<=", ">", ">=", "==", "!=", "in", "+", "-", "*", "/", "%", "&&", "||", "?",
];

/// The state of the parser. It also makes the expressions that macros stand for.
pub(super) struct Parser {
    tokens: Vec<(Lexeme, usize)>,
    chars: Vec<char>,
    at: usize,
    depth: usize,
    places: Vec<usize>,
    /// The mistakes after which it went on.
    mistakes: Vec<ParseError>,
    /// The tokens that end or separate the parts of each open bracket, the innermost last.
    enclosing: Vec<&'static [&'static str]>,
    /// `true` from a mistake to the next token that fits: mistakes between them are not told.
    recovering: bool,
    /// The token at which it skipped last.
    last_mistake: Option<usize>,
    /// The token after the last bracket that opened, and what may stand there besides an operand.
    opened: Option<(usize, Opened)>,
}

impl Parser {
    fn whole(&mut self) -> ParseResult<Expr> {
        let expr = self.expression()?;
        if *self.peek() != Lexeme::End {
            let found = self.token_text();
            let is_last = matches!(self.tokens.get(self.at + 1), Some((Lexeme::End, _)));
            let what = if is_last { "extraneous" } else { "mismatched" };
            self.report_error(format!("{what} input '{found}' expecting <EOF>"));
        }
        Ok(expr)
    }

    fn peek(&self) -> &Lexeme {
        &self.tokens[self.at].0
    }

    fn place(&self) -> usize {
        self.tokens[self.at].1
    }

    fn advance(&mut self) -> Lexeme {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        self.recovering = false;
        token
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.peek(), Lexeme::Symbol(found) if *found == symbol)
    }

    fn accept(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn wrong<T>(&self, message: String) -> ParseResult<T> {
        let message = format!("Syntax error: {message}");
        Err(ParseError::new(self.place(), message).into())
    }

    /// One expression more, reported at a place of the text.
    pub(super) fn make(&mut self, place: usize, kind: ExpressionKind) -> Expr {
        self.places.push(place);
        let id = self.places.len() - 1;
        Expr { id, kind }
    }

    pub(super) fn call(&mut self, place: usize, function: &str, args: Vec<Expr>) -> Expr {
        let function = function.to_owned();
        let target = None;
        self.make(
            place,
            ExpressionKind::Call(CallExpression {
                function,
                target,
                args,
            }),
        )
    }

    pub(super) fn ident(&mut self, place: usize, name: &str) -> Expr {
        self.make(place, ExpressionKind::Ident(name.to_owned()))
    }

    pub(super) fn literal(&mut self, place: usize, literal: Literal) -> Expr {
        self.make(place, ExpressionKind::Literal(literal))
    }

    pub(super) fn fold(&mut self, place: usize, fold: Comprehension) -> Expr {
        self.make(place, ExpressionKind::Fold(Box::new(fold)))
    }

    pub(super) fn place_of(&self, expr: &Expr) -> usize {
        self.places[expr.id]
    }

    fn expression(&mut self) -> ParseResult<Expr> {
        self.deeper()?;
        let condition = self.binary(0)?;
        let place = self.place();
        let expr = if self.accept("?") {
            let yes = self.within(&[":"], |parser| parser.binary(0))?;
            self.expect(":");
            let no = self.expression()?;
            self.call(place, "_?_:_", vec![condition, yes, no])
        } else {
            condition
        };
        self.depth -= 1;
        Ok(expr)
    }

    /// The operator with two operands that comes next: how tightly it binds, and its name.
    fn operator(&self) -> Option<(usize, &'static str)> {
        Some(match self.peek() {
            Lexeme::Ident(name) if name == "in" => (2, "@in"),
            Lexeme::Symbol(symbol) => match *symbol {
                "||" => (0, "_||_"),
                "&&" => (1, "_&&_"),
                "==" => (2, "_==_"),
                "!=" => (2, "_!=_"),
                "<=" => (2, "_<=_"),
                ">=" => (2, "_>=_"),
                "<" => (2, "_<_"),
                ">" => (2, "_>_"),
                "+" => (3, "_+_"),
                "-" => (3, "_-_"),
                "*" => (4, "_*_"),
                "/" => (4, "_/_"),
                "%" => (4, "_%_"),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Operators with two operands that bind at least so tightly.
    fn binary(&mut self, least: usize) -> ParseResult<Expr> {
        let outside = self.depth;
        let mut left = self.unary()?;
        while let Some((level, function)) = self.operator().filter(|it| it.0 >= least) {
            let place = self.place();
            self.deeper()?;
            let mut operands = vec![left];
            loop {
                self.advance();
                operands.push(self.binary(level + 1)?);
                // Terms of one logical operator are one call.
                let again = self.operator().is_some_and(|it| it.1 == function);
                if level > 1 || !again {
                    break;
                }
            }
            left = self.call(place, function, operands);
        }
        self.depth = outside;
        Ok(left)
    }

    /// One more level.
    fn deeper(&mut self) -> ParseResult<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Unread::TooDeep);
        }
        Ok(())
    }

    fn unary(&mut self) -> ParseResult<Expr> {
        let place = self.place();
        for (symbol, function) in [("!", "!_"), ("-", "-_")] {
            let mut count = 0;
            while self.is(symbol) {
                let number = matches!(
                    self.tokens.get(self.at + 1),
                    Some((Lexeme::Int(_) | Lexeme::Float(_), _))
                );
                if symbol == "-" && number && count == 0 {
                    break;
                }
                self.advance();
                count += 1;
            }
            if count > 0 {
                let operand = self.member()?;
                return Ok(match count % 2 {
                    0 => operand,
                    _ => self.call(place, function, vec![operand]),
                });
            }
        }
        self.member()
    }

    fn member(&mut self) -> ParseResult<Expr> {
        let mut expr = self.primary()?;
        let outside = self.depth;
        loop {
            let place = self.place();
            if self.accept(".") {
                self.deeper()?;
                expr = self.selected(expr, place)?;
            } else if self.accept("[") {
                self.deeper()?;
                let function = if self.accept("?") { "_[?_]" } else { "_[_]" };
                self.opened = Some((self.at, Opened::Index));
                let index = self.within(&["]"], Self::expression)?;
                self.expect("]");
                expr = self.call(place, function, vec![expr, index]);
            } else {
                self.depth = outside;
                return Ok(expr);
            }
        }
    }

    /// Parses the part after a dot: a field, or a function with its arguments.
    fn selected(&mut self, operand: Expr, place: usize) -> ParseResult<Expr> {
        let optional = self.accept("?");
        let name = self.name()?;
        let open = self.place();
        if optional {
            let field = self.literal(place, Literal::String(name));
            return Ok(self.call(place, "_?._", vec![operand, field]));
        }
        if !self.accept("(") {
            let operand = Box::new(operand);
            return Ok(self.make(
                place,
                ExpressionKind::Select {
                    operand,
                    field: name,
                    test: false,
                },
            ));
        }
        let args = self.arguments()?;
        let expanded = macros::member(self, open, operand, name, args);
        Ok(self.expanded_or_blank(open, expanded))
    }

    fn name(&mut self) -> ParseResult<String> {
        match self.peek().clone() {
            Lexeme::Ident(name) if !is_keyword(&name) => {
                self.advance();
                Ok(name)
            }
            Lexeme::Escaped(_) => {
                // The server does not enable names in backticks (`parser.go`, normalizeIdent).
                let message = "unsupported syntax: '`'".to_owned();
                self.mistakes.push(ParseError::new(self.place(), message));
                self.advance();
                Ok(String::new())
            }
            other => {
                let found = other.to_string();
                let shown = if other == Lexeme::End { "" } else { &found };
                let message = format!("no viable alternative at input '.{}{shown}'", self.gap());
                let wrong = self.wrong(message);
                let goes_on = OPERATORS.contains(&found.as_str());
                match wrong {
                    Err(Unread::Mistaken(mistakes)) if goes_on => {
                        self.mistakes.extend(mistakes);
                        Ok(String::new())
                    }
                    wrong => wrong,
                }
            }
        }
    }

    /// The space between the last token, which is one character, and this one.
    fn gap(&self) -> String {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let start = before.map_or(0, |(_, place)| place + 1);
        let gap = self.chars.get(start..self.place()).unwrap_or_default();
        gap.iter().collect()
    }

    fn arguments(&mut self) -> ParseResult<Vec<Expr>> {
        let mut args = Vec::new();
        if self.accept(")") {
            return Ok(args);
        }
        self.opened = Some((self.at, Opened::Arguments));
        loop {
            args.push(self.within(&[")", ","], Self::expression)?);
            if !self.accept(",") {
                self.expect(")");
                return Ok(args);
            }
        }
    }
}

fn is_keyword(name: &str) -> bool {
    matches!(name, "true" | "false" | "null" | "in")
}

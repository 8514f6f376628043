//! Expands macros (`cel-go/parser/macro.go`, `ext/comprehensions.go`, `ext/lists.go`,
//! `cel/library.go`).

use super::ast::{
    ACCUMULATOR, CallExpression, Comprehension, Expr, ExpressionKind, Literal, ParseError,
};
use super::parser::Parser;

/// The variable of `sortBy` that has the list.
const SORTED: &str = "@__sortBy_input__";

type Made = Result<Expr, ParseError>;

/// A function without a target: `has` is a macro.
pub(super) fn global(parser: &mut Parser, place: usize, name: String, args: Vec<Expr>) -> Made {
    if name != "has" || args.len() != 1 {
        return Ok(parser.call(place, &name, args));
    }
    let [argument]: [Expr; 1] = match args.try_into() {
        Ok(one) => one,
        Err(args) => return Ok(parser.call(place, &name, args)),
    };
    let at = parser.place_of(&argument);
    match argument.kind {
        ExpressionKind::Select { operand, field, .. } => {
            let test = true;
            let kind = ExpressionKind::Select {
                operand,
                field,
                test,
            };
            Ok(parser.make(place, kind))
        }
        _ => Err(ParseError::new(at, "invalid argument to has() macro")),
    }
}

/// A function of a target, which may be a macro.
pub(super) fn member(
    parser: &mut Parser,
    place: usize,
    target: Expr,
    name: String,
    args: Vec<Expr>,
) -> Made {
    let mut maker = Maker { parser, place };
    match (name.as_str(), args.len()) {
        ("all" | "exists" | "existsOne" | "exists_one" | "filter", 2) => {
            maker.quantifier(&name, target, args)
        }
        ("all" | "exists" | "existsOne" | "exists_one", 3) => maker.quantifier(&name, target, args),
        ("map", 2 | 3) => maker.list(target, args, 1),
        ("transformList", 3 | 4) => maker.list(target, args, 2),
        ("transformMap" | "transformMapEntry", 3 | 4) => maker.map(&name, target, args),
        ("sortBy", 2) => maker.sort_by(target, args),
        ("optMap" | "optFlatMap", 2) => maker.optional(&name, target, args),
        _ => {
            let target = Some(Box::new(target));
            let function = name;
            Ok(maker.make(ExpressionKind::Call(CallExpression {
                function,
                target,
                args,
            })))
        }
    }
}

/// The mistake of an argument that is no variable.
const NO_NAME: &str = "argument must be a simple name";

/// Makes the parts of one macro.
struct Maker<'a> {
    parser: &'a mut Parser,
    place: usize,
}

impl Maker<'_> {
    fn make(&mut self, kind: ExpressionKind) -> Expr {
        self.parser.make(self.place, kind)
    }

    fn call(&mut self, function: &str, args: Vec<Expr>) -> Expr {
        self.parser.call(self.place, function, args)
    }

    fn literal(&mut self, literal: Literal) -> Expr {
        self.parser.literal(self.place, literal)
    }

    fn accumulator(&mut self) -> Expr {
        self.parser.ident(self.place, ACCUMULATOR)
    }

    /// The names of the first arguments, which are variables.
    fn variables(&self, args: &mut Vec<Expr>, count: usize) -> Result<Vec<String>, ParseError> {
        self.named(args, count, NO_NAME)
    }

    /// The names of the first arguments; the mistake is that of an argument which is no name.
    fn named(
        &self,
        args: &mut Vec<Expr>,
        count: usize,
        mistake: &str,
    ) -> Result<Vec<String>, ParseError> {
        let mut names: Vec<String> = Vec::new();
        for argument in args.drain(..count) {
            let at = self.parser.place_of(&argument);
            match argument.kind {
                ExpressionKind::Ident(name) if names.contains(&name) => {
                    let message = format!("duplicate variable name: {name}");
                    return Err(ParseError::new(at, message));
                }
                ExpressionKind::Ident(name) if !name.starts_with('.') => names.push(name),
                _ => return Err(ParseError::new(at, mistake)),
            }
        }
        Ok(names)
    }

    fn fold(&mut self, range: Expr, names: Vec<String>, parts: [Expr; 4]) -> Expr {
        let [init, condition, step, result] = parts;
        let mut names = names.into_iter();
        let fold = Comprehension {
            range,
            variable: names.next().unwrap_or_default(),
            second: names.next(),
            accumulator: ACCUMULATOR.to_owned(),
            init,
            condition,
            step,
            result,
        };
        self.parser.fold(self.place, fold)
    }

    fn quantifier(&mut self, name: &str, range: Expr, mut args: Vec<Expr>) -> Made {
        let count = args.len().saturating_sub(1);
        let names = self.variables(&mut args, count)?;
        let Some(predicate) = args.pop() else {
            return Err(ParseError::new(self.place, NO_NAME));
        };
        let parts = match name {
            "all" => {
                let accumulator = self.accumulator();
                let condition = self.call("@not_strictly_false", vec![accumulator]);
                let accumulator = self.accumulator();
                let step = self.call("_&&_", vec![accumulator, predicate]);
                [
                    self.literal(Literal::Bool(true)),
                    condition,
                    step,
                    self.accumulator(),
                ]
            }
            "exists" => {
                let accumulator = self.accumulator();
                let not = self.call("!_", vec![accumulator]);
                let condition = self.call("@not_strictly_false", vec![not]);
                let accumulator = self.accumulator();
                let step = self.call("_||_", vec![accumulator, predicate]);
                [
                    self.literal(Literal::Bool(false)),
                    condition,
                    step,
                    self.accumulator(),
                ]
            }
            "filter" => {
                let variable = self.parser.ident(self.place, &names[0]);
                self.appending(Some(predicate), variable)
            }
            _ => self.counting(predicate),
        };
        Ok(self.fold(range, names, parts))
    }

    fn counting(&mut self, predicate: Expr) -> [Expr; 4] {
        let one = self.literal(Literal::Int(1));
        let accumulator = self.accumulator();
        let more = self.call("_+_", vec![accumulator, one]);
        let same = self.accumulator();
        let step = self.call("_?_:_", vec![predicate, more, same]);
        let one = self.literal(Literal::Int(1));
        let accumulator = self.accumulator();
        let result = self.call("_==_", vec![accumulator, one]);
        let init = self.literal(Literal::Int(0));
        let condition = self.literal(Literal::Bool(true));
        [init, condition, step, result]
    }

    /// The parts of a loop that adds an item each time, if a predicate holds.
    fn appending(&mut self, predicate: Option<Expr>, item: Expr) -> [Expr; 4] {
        let empty = |items| ExpressionKind::List {
            items,
            optional: Vec::new(),
        };
        let item = self.make(empty(vec![item]));
        let accumulator = self.accumulator();
        let step = self.call("_+_", vec![accumulator, item]);
        let step = self.only_if(predicate, step);
        let init = self.make(empty(Vec::new()));
        let condition = self.literal(Literal::Bool(true));
        [init, condition, step, self.accumulator()]
    }

    fn only_if(&mut self, predicate: Option<Expr>, step: Expr) -> Expr {
        match predicate {
            Some(predicate) => {
                let same = self.accumulator();
                self.call("_?_:_", vec![predicate, step, same])
            }
            None => step,
        }
    }

    fn list(&mut self, range: Expr, mut args: Vec<Expr>, variables: usize) -> Made {
        // `MakeMap` and `MakeFilter` have words of their own.
        let mistake = match variables {
            1 => "argument is not an identifier",
            _ => NO_NAME,
        };
        let names = self.named(&mut args, variables, mistake)?;
        let Some(item) = args.pop() else {
            return Err(ParseError::new(self.place, NO_NAME));
        };
        let parts = self.appending(args.pop(), item);
        Ok(self.fold(range, names, parts))
    }

    fn map(&mut self, name: &str, range: Expr, mut args: Vec<Expr>) -> Made {
        let names = self.variables(&mut args, 2)?;
        let Some(value) = args.pop() else {
            return Err(ParseError::new(self.place, NO_NAME));
        };
        let mut inserted = vec![self.accumulator()];
        if name == "transformMap" {
            inserted.push(self.parser.ident(self.place, &names[0]));
        }
        inserted.push(value);
        let step = self.call("cel.@mapInsert", inserted);
        let step = self.only_if(args.pop(), step);
        let init = self.make(ExpressionKind::Map(Vec::new()));
        let condition = self.literal(Literal::Bool(true));
        let parts = [init, condition, step, self.accumulator()];
        Ok(self.fold(range, names, parts))
    }

    /// Gives a value a name in an expression.
    fn bind(&mut self, name: &str, value: Expr, result: Expr) -> Expr {
        let range = self.make(ExpressionKind::List {
            items: Vec::new(),
            optional: Vec::new(),
        });
        let fold = Comprehension {
            range,
            variable: "#unused".to_owned(),
            second: None,
            accumulator: name.to_owned(),
            init: value,
            condition: self.literal(Literal::Bool(false)),
            step: self.parser.ident(self.place, name),
            result,
        };
        self.parser.fold(self.place, fold)
    }

    fn sort_by(&mut self, target: Expr, args: Vec<Expr>) -> Made {
        if matches!(
            target.kind,
            ExpressionKind::Literal(_) | ExpressionKind::Map(_) | ExpressionKind::Struct(_)
        ) {
            let at = self.parser.place_of(&target);
            let message = "sortBy can only be applied to a list, identifier, comprehension, call \
                 or select expression";
            return Err(ParseError::new(at, message));
        }
        let list = self.parser.ident(self.place, SORTED);
        let keys = self.list(list, args, 1)?;
        let list = self.parser.ident(self.place, SORTED);
        let sorted = self.make(ExpressionKind::Call(CallExpression {
            function: "@sortByAssociatedKeys".to_owned(),
            target: Some(Box::new(list)),
            args: vec![keys],
        }));
        Ok(self.bind(SORTED, target, sorted))
    }

    fn method(&mut self, target: Expr, function: &str) -> Expr {
        self.make(ExpressionKind::Call(CallExpression {
            function: function.to_owned(),
            target: Some(Box::new(target)),
            args: Vec::new(),
        }))
    }

    fn optional(&mut self, name: &str, target: Expr, mut args: Vec<Expr>) -> Made {
        let at = args.first().map(|it| self.parser.place_of(it));
        let names = self.variables(&mut args, 1).map_err(|_| {
            let message = format!("{name}() variable name must be a simple identifier");
            ParseError::new(at.unwrap_or(self.place), message)
        })?;
        let Some(mapped) = args.pop() else {
            return Err(ParseError::new(self.place, NO_NAME));
        };
        let present = self.method(target.clone(), "hasValue");
        let value = self.method(target, "value");
        let mut bound = self.bind(&names[0], value, mapped);
        if name == "optMap" {
            bound = self.call("optional.of", vec![bound]);
        }
        let none = self.call("optional.none", Vec::new());
        Ok(self.call("_?_:_", vec![present, bound, none]))
    }
}

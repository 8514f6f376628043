//! Checks the types of an expression (`cel-go/checker/checker.go`, v0.26).

pub(super) mod admission;
mod formats;
mod literals;
pub(super) mod messages;

use super::ast::{CallExpression, Comprehension, Expr, ExpressionKind, Literal, ParseError};
use super::overloads::{self, Overload};
use super::types::{CelType, Mapping};

/// The result of the checker, by the ids of expressions.
#[derive(Debug)]
pub(super) struct CheckResult {
    pub(super) types: Vec<CelType>,
    pub(super) overloads: Vec<Vec<&'static Overload>>,
    /// `true` if the stored value is used.
    pub(super) uses_old_self: bool,
}

/// Checks an expression with the types of its variables. Names with dots that stand for a
/// function or a type become one name.
pub(super) fn check(
    expr: &mut Expr,
    places: &[usize],
    variables: Vec<(String, CelType)>,
) -> Result<CheckResult, Vec<ParseError>> {
    check_with(expr, places, variables, false)
}

/// Checks like [`check`]; with `changes`, the expression may make messages that say how to change an object.
pub(super) fn check_with(
    expr: &mut Expr,
    places: &[usize],
    variables: Vec<(String, CelType)>,
    changes: bool,
) -> Result<CheckResult, Vec<ParseError>> {
    let count = places.len();
    let mut checker = Checker {
        places,
        outer: variables.len(),
        scope: variables,
        mapping: Mapping::default(),
        types: vec![CelType::Error; count],
        overloads: (0..count).map(|_| Vec::new()).collect(),
        mistakes: Vec::new(),
        uses_old_self: false,
        changes,
    };
    checker.visit(expr);
    if checker.mistakes.is_empty() {
        checker.literals(expr, false);
    }
    if !checker.mistakes.is_empty() {
        return Err(checker.mistakes);
    }
    let mapping = checker.mapping;
    let types = checker.types.iter();
    Ok(CheckResult {
        types: types.map(|ty| mapping.substitute(ty, true)).collect(),
        overloads: checker.overloads,
        uses_old_self: checker.uses_old_self,
    })
}

struct Checker<'a> {
    places: &'a [usize],
    scope: Vec<(String, CelType)>,
    /// The number of variables that belong to the rule.
    outer: usize,
    mapping: Mapping,
    types: Vec<CelType>,
    overloads: Vec<Vec<&'static Overload>>,
    mistakes: Vec<ParseError>,
    uses_old_self: bool,
    /// `true` if there are messages that say how to change an object.
    changes: bool,
}

impl Checker<'_> {
    fn report(&mut self, expr: &Expr, message: String) {
        self.mistakes
            .push(ParseError::new(self.places[expr.id], message));
    }

    fn type_of(&self, expr: &Expr) -> CelType {
        self.mapping.substitute(&self.types[expr.id], false)
    }

    /// Checks an expression and everything in it, and gives its type.
    fn visit(&mut self, expr: &mut Expr) -> CelType {
        if let Some(name) = qualified(expr)
            && overloads::named_type(&name).is_some()
            && !self.is_variable(name.split('.').next().unwrap_or_default())
        {
            expr.kind = ExpressionKind::Ident(name);
        }
        let ty = match &mut expr.kind {
            ExpressionKind::Literal(literal) => literal_type(literal),
            ExpressionKind::Ident(name) => {
                let name = name.clone();
                self.ident(expr, &name)
            }
            ExpressionKind::Select { .. } => self.select(expr),
            ExpressionKind::Call(_) => self.call(expr),
            ExpressionKind::List { .. } => self.list(expr),
            ExpressionKind::Map(_) => self.map(expr),
            ExpressionKind::Struct(_) => self.message(expr),
            ExpressionKind::Fold(fold) => self.fold(fold),
        };
        self.types[expr.id] = ty.clone();
        ty
    }

    fn is_variable(&self, name: &str) -> bool {
        self.scope.iter().any(|(known, _)| known == name)
    }

    fn ident(&mut self, expr: &Expr, name: &str) -> CelType {
        let (scope, wanted) = match name.strip_prefix('.') {
            Some(outer) => (&self.scope[..self.outer], outer),
            None => (&self.scope[..], name),
        };
        let found = scope.iter().rposition(|(known, _)| known == wanted);
        if let Some(i) = found {
            self.uses_old_self |= i < self.outer && wanted == super::OLD_SELF;
            return self.scope[i].1.clone();
        }
        if let Some(ty) = overloads::named_type(wanted) {
            return CelType::Type(Box::new(ty));
        }
        let message = format!("undeclared reference to '{name}' (in container '')");
        self.report(expr, message);
        CelType::Error
    }

    fn select(&mut self, expr: &mut Expr) -> CelType {
        let ExpressionKind::Select {
            operand,
            field,
            test,
        } = &mut expr.kind
        else {
            return CelType::Error;
        };
        let (field, test) = (field.clone(), *test);
        self.visit(operand);
        let operand = self.type_of(operand);
        let ty = self.field(expr, &operand, &field);
        match (test, operand.unwrapped().1) {
            (true, _) => CelType::Bool,
            (false, true) => CelType::Optional(Box::new(ty)),
            (false, false) => self.mapping.substitute(&ty, false),
        }
    }

    /// The type of a field (`checkSelectField`).
    fn field(&mut self, expr: &Expr, operand: &CelType, field: &str) -> CelType {
        match operand.unwrapped().0 {
            CelType::Map(_, value) => (**value).clone(),
            CelType::Object(declared) => match declared.part(field) {
                Some(part) => part.ty(),
                None => {
                    self.report(expr, format!("undefined field '{field}'"));
                    CelType::Error
                }
            },
            CelType::Message(ty) => match messages::field(ty, field) {
                Some(ty) => ty,
                None => {
                    self.report(expr, format!("undefined field '{field}'"));
                    CelType::Error
                }
            },
            CelType::Named("net.IP" | "net.CIDR") => {
                let message = format!("type '{operand}' does not support field selection");
                self.report(expr, message);
                CelType::Dyn
            }
            CelType::Named(_) => {
                self.report(expr, format!("undefined field '{field}'"));
                CelType::Error
            }
            open @ CelType::Param(_) => {
                self.mapping.assign(&CelType::Dyn, open);
                CelType::Dyn
            }
            CelType::Dyn | CelType::Error => CelType::Dyn,
            other => {
                let message = format!("type '{other}' does not support field selection");
                self.report(expr, message);
                CelType::Dyn
            }
        }
    }

    fn call(&mut self, expr: &mut Expr) -> CelType {
        let ExpressionKind::Call(call) = &mut expr.kind else {
            return CelType::Error;
        };
        if call.function == "_?._" {
            return self.optional_select(expr);
        }
        for arg in &mut call.args {
            self.visit(arg);
        }
        // The name of a function may have dots.
        if let Some(target) = &call.target
            && let Some(prefix) = qualified(target)
        {
            let name = format!("{prefix}.{}", call.function);
            let is_known = self.changes || name != messages::ESCAPE;
            if is_known && overloads::find(&name).is_some() {
                call.function = name;
                call.target = None;
            }
        }
        if let Some(target) = &mut call.target {
            self.visit(target);
        }
        let name = call.function.clone();
        match overloads::find(&name) {
            Some(all) if self.changes || name != messages::ESCAPE => self.resolve(expr, &name, all),
            _ => {
                let message = format!("undeclared reference to '{name}' (in container '')");
                self.report(expr, message);
                CelType::Error
            }
        }
    }

    fn optional_select(&mut self, expr: &mut Expr) -> CelType {
        let ExpressionKind::Call(CallExpression { args, .. }) = &mut expr.kind else {
            return CelType::Error;
        };
        let Some((operand, rest)) = args.split_first_mut() else {
            return CelType::Error;
        };
        let field = match rest.first().map(|it| (it.id, &it.kind)) {
            Some((id, ExpressionKind::Literal(Literal::String(field)))) => {
                self.types[id] = CelType::String;
                field.clone()
            }
            _ => String::new(),
        };
        self.visit(operand);
        let operand = self.type_of(operand);
        let ty = self.field(expr, &operand, &field);
        CelType::Optional(Box::new(self.mapping.substitute(&ty, false)))
    }

    /// Finds the overloads that a call may mean (`resolveOverload`).
    fn resolve(&mut self, expr: &Expr, name: &str, all: &'static [Overload]) -> CelType {
        let ExpressionKind::Call(call) = &expr.kind else {
            return CelType::Error;
        };
        let operands: Vec<&Expr> = call
            .target
            .as_deref()
            .into_iter()
            .chain(&call.args)
            .collect();
        let types: Vec<CelType> = operands
            .iter()
            .map(|it| self.types[it.id].clone())
            .collect();
        if name == "_&&_" || name == "_||_" {
            self.overloads[expr.id] = all.iter().collect();
            return self.logical(&operands, &types);
        }
        let mut result: Option<CelType> = None;
        for overload in all {
            if overload.member != call.target.is_some() {
                continue;
            }
            let fresh: Vec<CelType> = (0..overload.open).map(|_| self.mapping.fresh()).collect();
            let params: Vec<CelType> = overload
                .params
                .iter()
                .map(|ty| with_params(ty, &fresh))
                .collect();
            if !self.mapping.assign_all(&types, &params) {
                continue;
            }
            self.overloads[expr.id].push(overload);
            let ty = with_params(&overload.result, &fresh);
            let ty = self.mapping.substitute(&ty, false);
            result = Some(match result {
                None => ty,
                Some(before) if matches!(before, CelType::Dyn) || ty.is_same(&before) => before,
                Some(_) => CelType::Dyn,
            });
        }
        result.unwrap_or_else(|| {
            let message = self.no_match(name, &types, call.target.is_some());
            self.report(expr, message);
            CelType::Error
        })
    }

    fn no_match(&self, name: &str, types: &[CelType], member: bool) -> String {
        let mut shown: Vec<String> = types
            .iter()
            .map(|ty| self.mapping.substitute(ty, true).to_string())
            .collect();
        let target = match member && !shown.is_empty() {
            true => format!("{}.", shown.remove(0)),
            false => String::new(),
        };
        let args = shown.join(", ");
        format!("found no matching overload for '{name}' applied to '{target}({args})'")
    }

    fn logical(&mut self, operands: &[&Expr], types: &[CelType]) -> CelType {
        for (operand, ty) in operands.iter().zip(types) {
            if !self.mapping.assign(ty, &CelType::Bool) {
                let found = self.mapping.substitute(ty, false);
                self.report(operand, format!("expected type 'bool' but found '{found}'"));
            }
        }
        CelType::Bool
    }

    fn list(&mut self, expr: &mut Expr) -> CelType {
        let ExpressionKind::List { items, optional } = &mut expr.kind else {
            return CelType::Error;
        };
        let mut joined = None;
        for (i, item) in items.iter_mut().enumerate() {
            let mut ty = self.visit(item);
            if optional.contains(&i) {
                ty = self.unwrap(item, ty);
            }
            joined = Some(self.join(joined, ty));
        }
        let item = joined.unwrap_or_else(|| self.mapping.fresh());
        CelType::List(Box::new(item))
    }

    fn map(&mut self, expr: &mut Expr) -> CelType {
        let ExpressionKind::Map(entries) = &mut expr.kind else {
            return CelType::Error;
        };
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            let key = self.visit(&mut entry.key);
            keys = Some(self.join(keys, key));
            let mut value = self.visit(&mut entry.value);
            if entry.optional {
                value = self.unwrap(&entry.value, value);
            }
            values = Some(self.join(values, value));
        }
        let key = keys.unwrap_or_else(|| self.mapping.fresh());
        let value = values.unwrap_or_else(|| self.mapping.fresh());
        CelType::Map(Box::new(key), Box::new(value))
    }

    fn unwrap(&mut self, expr: &Expr, ty: CelType) -> CelType {
        match ty {
            CelType::Optional(of) => *of,
            CelType::Dyn => CelType::Dyn,
            other => {
                let message = format!("expected type 'optional_type({other})' but found '{other}'");
                self.report(expr, message);
                other
            }
        }
    }

    /// The type that all items have (`joinTypes`).
    fn join(&mut self, before: Option<CelType>, ty: CelType) -> CelType {
        match before {
            None => ty,
            Some(before) if self.mapping.assign(&before, &ty) => CelType::more_general(before, ty),
            Some(_) => CelType::Dyn,
        }
    }

    fn fold(&mut self, fold: &mut Comprehension) -> CelType {
        self.visit(&mut fold.range);
        let accumulated = self.visit(&mut fold.init);
        let range = self.type_of(&fold.range);
        let outside = self.scope.len();
        self.scope
            .push((fold.accumulator.clone(), accumulated.clone()));
        let two = fold.second.is_some();
        let (first, second) = match &range {
            CelType::List(item) if two => (CelType::Int, (**item).clone()),
            CelType::List(item) => ((**item).clone(), CelType::Dyn),
            CelType::Map(key, value) => ((**key).clone(), (**value).clone()),
            CelType::Dyn | CelType::Error | CelType::Param(_) => {
                self.mapping.assign(&CelType::Dyn, &range);
                (CelType::Dyn, CelType::Dyn)
            }
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be \
                     list, map, or dynamic)"
                );
                self.report(&fold.range, message);
                (CelType::Error, CelType::Error)
            }
        };
        self.scope.push((fold.variable.clone(), first));
        if let Some(name) = &fold.second {
            self.scope.push((name.clone(), second));
        }
        self.visit(&mut fold.condition);
        self.expect(&fold.condition, &CelType::Bool);
        self.visit(&mut fold.step);
        self.expect(&fold.step, &accumulated);
        self.scope.truncate(outside + 1);
        let result = self.visit(&mut fold.result);
        self.scope.truncate(outside);
        self.mapping.substitute(&result, false)
    }

    fn expect(&mut self, expr: &Expr, wanted: &CelType) {
        let found = self.types[expr.id].clone();
        if !self.mapping.assign(wanted, &found) {
            let wanted = self.mapping.substitute(wanted, false);
            let found = self.mapping.substitute(&found, false);
            self.report(
                expr,
                format!("expected type '{wanted}' but found '{found}'"),
            );
        }
    }
}

/// A name with dots, if this is one (`ToQualifiedName`).
fn qualified(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExpressionKind::Ident(name) => Some(name.clone()),
        ExpressionKind::Select {
            operand,
            field,
            test: false,
        } => Some(format!("{}.{field}", qualified(operand)?)),
        _ => None,
    }
}

fn literal_type(literal: &Literal) -> CelType {
    match literal {
        Literal::Null => CelType::Null,
        Literal::Bool(_) => CelType::Bool,
        Literal::Int(_) => CelType::Int,
        Literal::Uint(_) => CelType::Uint,
        Literal::Double(_) => CelType::Double,
        Literal::String(_) => CelType::String,
        Literal::Bytes(_) => CelType::Bytes,
    }
}

/// A type of the table with its open types put in.
fn with_params(ty: &CelType, params: &[CelType]) -> CelType {
    let inner = |of: &CelType| Box::new(with_params(of, params));
    match ty {
        CelType::Param(number) => params.get(*number).cloned().unwrap_or(CelType::Dyn),
        CelType::Type(of) => CelType::Type(inner(of)),
        CelType::List(of) => CelType::List(inner(of)),
        CelType::Map(key, value) => CelType::Map(inner(key), inner(value)),
        CelType::Optional(of) => CelType::Optional(inner(of)),
        other => other.clone(),
    }
}

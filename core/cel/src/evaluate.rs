//! Evaluates expressions, and counts their cost (`cel-go/interpreter`, v0.26).

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use regex_lite::Regex;

use super::ast::{CallExpression, Comprehension, Expr, ExpressionKind, Literal, MapEntry};
use super::value::{MapKey, Val};
use super::{functions, run_cost};
use optimist_values::Pattern;

/// The highest cost of one expression (`apis/cel/config.go PerCallLimit`).
const CALL_LIMIT: u64 = 1_000_000;

/// About how many bytes and items one expression may look at here: beyond, it would take longer
/// than a moment.
const WORK_LIMIT: u64 = 100_000_000;

/// The reason why there is no value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum EvaluationError {
    /// The expression fails; the text of the error.
    Error(String),
    /// It cost more than one expression may.
    Costs,
    /// It needs a value that is not here, or more time than there is.
    Unknown,
}

impl EvaluationError {
    pub(super) fn new(text: impl Into<String>) -> Self {
        EvaluationError::Error(text.into())
    }

    pub(super) fn no_overload() -> Self {
        EvaluationError::new("no such overload")
    }
}

pub(super) type Evaluated<T = Val> = Result<T, EvaluationError>;

/// The compiled regular expressions, and the cost of one expression so far.
#[derive(Debug, Default)]
pub(super) struct Machine {
    cost: Cell<u64>,
    work: Cell<u64>,
    regexes: RefCell<HashMap<String, Option<Rc<Regex>>>>,
}

impl Machine {
    /// Evaluates an expression. The second value is its cost.
    pub(super) fn run(&self, expr: &Expr, variables: Vec<(&'static str, Val)>) -> (Evaluated, u64) {
        self.cost.set(0);
        self.work.set(0);
        let variables = variables.into_iter();
        let mut scope = Bindings(variables.map(|(name, value)| (name, Ok(value))).collect());
        let value = self.value(expr, &mut scope);
        (value, self.cost.get())
    }

    pub(super) fn pay(&self, cost: u64) -> Evaluated<()> {
        let total = self.cost.get().saturating_add(cost);
        self.cost.set(total);
        if total > CALL_LIMIT {
            return Err(EvaluationError::Costs);
        }
        Ok(())
    }

    pub(super) fn work(&self, work: u64) -> Evaluated<()> {
        let total = self.work.get().saturating_add(work);
        self.work.set(total);
        if total > WORK_LIMIT {
            return Err(EvaluationError::Unknown);
        }
        Ok(())
    }

    /// Returns whether something may be made that costs as much as there is of it.
    pub(super) fn room_for(&self, cost: u64) -> Evaluated<()> {
        if self.cost.get().saturating_add(cost) > CALL_LIMIT {
            return Err(EvaluationError::Costs);
        }
        Ok(())
    }

    /// A regular expression, compiled once.
    pub(super) fn regex(&self, text: &str) -> Evaluated<Rc<Regex>> {
        let mut regexes = self.regexes.borrow_mut();
        if !regexes.contains_key(text) {
            let compiled = Pattern::compiled(text.to_owned());
            regexes.insert(text.to_owned(), compiled.regex.map(Rc::new));
        }
        regexes
            .get(text)
            .cloned()
            .flatten()
            .ok_or(EvaluationError::Unknown)
    }

    pub(super) fn value<'a>(&self, expr: &'a Expr, scope: &mut Bindings<'a>) -> Evaluated {
        match &expr.kind {
            ExpressionKind::Literal(literal) => Ok(constant(literal)),
            ExpressionKind::Ident(name) => match scope.get(name) {
                Some(value) => {
                    self.pay(1)?;
                    value
                }
                None => functions::type_named(name),
            },
            ExpressionKind::Select {
                operand,
                field,
                test,
            } => {
                let operand = self.value(operand, scope)?;
                if *test {
                    return functions::has(&operand, field);
                }
                self.pay(1)?;
                functions::select(&operand, field)
            }
            ExpressionKind::Call(call) => self.call(call, scope),
            ExpressionKind::List { items, optional } => self.list(items, optional, scope),
            ExpressionKind::Map(entries) => self.map(entries, scope),
            ExpressionKind::Struct(message) => self.message(message, scope),
            ExpressionKind::Fold(fold) => self.fold(fold, scope),
        }
    }

    fn list<'a>(
        &self,
        exprs: &'a [Expr],
        optional: &[usize],
        scope: &mut Bindings<'a>,
    ) -> Evaluated {
        let mut items = Vec::with_capacity(exprs.len());
        for (i, expr) in exprs.iter().enumerate() {
            match self.value(expr, scope)? {
                Val::Optional(value) if optional.contains(&i) => {
                    items.extend(value.map(Rc::unwrap_or_clone));
                }
                value => items.push(value),
            }
        }
        if !exprs.iter().all(is_constant) {
            self.pay(run_cost::LIST)?;
        }
        Ok(Val::list(items))
    }

    fn map<'a>(&self, entries: &'a [MapEntry], scope: &mut Bindings<'a>) -> Evaluated {
        let mut members = BTreeMap::new();
        for entry in entries {
            let key = self.value(&entry.key, scope)?;
            let key = MapKey::from_value(&key)
                .ok_or_else(|| EvaluationError::new("unsupported key type"))?;
            let value = match self.value(&entry.value, scope)? {
                Val::Optional(None) if entry.optional => continue,
                Val::Optional(Some(value)) if entry.optional => Rc::unwrap_or_clone(value),
                value => value,
            };
            members.insert(key, value);
        }
        let mut parts = entries.iter().flat_map(|it| [&it.key, &it.value]);
        if !parts.all(is_constant) {
            self.pay(run_cost::MAP)?;
        }
        Ok(Val::Map(Rc::new(members)))
    }

    fn call<'a>(&self, call: &'a CallExpression, scope: &mut Bindings<'a>) -> Evaluated {
        if let Some(result) = self.lazy(call, scope) {
            return result;
        }
        let function = call.function.as_str();
        let (args, failed) = self.arguments(call, scope)?;
        if let Some(fault) = failed {
            self.pay(run_cost::call(function, &args, &Val::Null))?;
            return Err(fault);
        }
        self.work(run_cost::work(function, &args))?;
        let result = functions::apply(self, function, &args);
        if run_cost::is_conversion(function) && call.args.iter().all(is_constant) {
            return result;
        }
        // Nothing is looked for in a list of constants: it is a set.
        if function == "@in" && call.args.get(1).is_some_and(is_constant) {
            return result;
        }
        let shown = result.as_ref().unwrap_or(&Val::Null);
        self.pay(run_cost::call(function, &args, shown))?;
        result
    }

    /// A call that does not evaluate each argument first; `None` for all others.
    fn lazy<'a>(&self, call: &'a CallExpression, scope: &mut Bindings<'a>) -> Option<Evaluated> {
        Some(match (call.function.as_str(), call.args.as_slice()) {
            ("_&&_", terms) => self.logical(terms, false, scope),
            ("_||_", terms) => self.logical(terms, true, scope),
            ("_?_:_", [condition, yes, no]) => match self.value(condition, scope) {
                Ok(Val::Bool(true)) => self.inner(yes, scope),
                Ok(Val::Bool(false)) => self.inner(no, scope),
                Ok(_) => Err(EvaluationError::no_overload()),
                Err(fault) => Err(fault),
            },
            ("or" | "orValue", [other]) => self.either(call, other, scope),
            ("@not_strictly_false", [term]) => self.not_strictly_false(term, scope),
            // A loop adds to its own result, which nothing else has.
            ("_+_", [result, item]) if matches!(&result.kind, ExpressionKind::Ident(name) if name == super::ast::ACCUMULATOR) => {
                self.add_to_result(item, scope)
            }
            _ => return None,
        })
    }

    /// The values of the target and the arguments of a call, and the first fault of them. A call
    /// costs the same if an argument of it has failed.
    fn arguments<'a>(
        &self,
        call: &'a CallExpression,
        scope: &mut Bindings<'a>,
    ) -> Evaluated<(Vec<Val>, Option<EvaluationError>)> {
        let mut args = Vec::with_capacity(call.args.len() + 1);
        let mut failed = None;
        let exprs = call.target.as_deref().into_iter().chain(&call.args);
        for (i, expr) in exprs.enumerate() {
            let value = match (call.function.as_str(), i) {
                ("_[_]" | "_[?_]", 1) => self.inner(expr, scope),
                _ => self.value(expr, scope),
            };
            args.push(match value {
                Err(fault @ EvaluationError::Error(_)) => {
                    failed = failed.or(Some(fault));
                    Val::Null
                }
                value => value?,
            });
        }
        Ok((args, failed))
    }

    /// Evaluates the condition of a loop that goes on: an error does not end it.
    fn not_strictly_false<'a>(&self, term: &'a Expr, scope: &mut Bindings<'a>) -> Evaluated {
        let value = self.value(term, scope);
        self.pay(1)?;
        match value {
            Err(EvaluationError::Error(_)) => Ok(Val::Bool(true)),
            Ok(Val::Bool(value)) => Ok(Val::Bool(value)),
            Ok(_) => Ok(Val::Bool(true)),
            Err(other) => Err(other),
        }
    }

    /// Evaluates a branch or an index. An expression that only leads to a value costs one less
    /// there (`interpreter/attributes.go`).
    fn inner<'a>(&self, expr: &'a Expr, scope: &mut Bindings<'a>) -> Evaluated {
        let value = self.value(expr, scope);
        let is_way = match &expr.kind {
            ExpressionKind::Ident(name) => scope.place(name).is_some(),
            ExpressionKind::Select { test, .. } => !test,
            ExpressionKind::Call(call) => {
                matches!(call.function.as_str(), "_[_]" | "_[?_]" | "_?._")
            }
            _ => false,
        };
        if is_way {
            self.cost.set(self.cost.get().saturating_sub(1));
        }
        value
    }

    /// The value of the second of two, if the first is absent.
    fn either<'a>(
        &self,
        call: &'a CallExpression,
        other: &'a Expr,
        scope: &mut Bindings<'a>,
    ) -> Evaluated {
        let Some(target) = call.target.as_deref() else {
            return Err(EvaluationError::no_overload());
        };
        match self.value(target, scope)? {
            Val::Optional(None) => self.value(other, scope),
            Val::Optional(Some(value)) if call.function == "orValue" => {
                Ok(Rc::unwrap_or_clone(value))
            }
            value @ Val::Optional(_) => Ok(value),
            _ => Err(EvaluationError::no_overload()),
        }
    }

    fn add_to_result<'a>(&self, item: &'a Expr, scope: &mut Bindings<'a>) -> Evaluated {
        self.pay(1)?;
        let result = scope.take_value(super::ast::ACCUMULATOR)?;
        let item = self.value(item, scope)?;
        self.pay(1)?;
        match (result, item) {
            (Val::List(mut list), Val::List(added)) => {
                Rc::make_mut(&mut list).append(&added.items);
                Ok(Val::List(list))
            }
            (one, other) => functions::apply(self, "_+_", &[one, other]),
        }
    }

    /// `&&` and `||`: the value that decides, even if another term fails.
    fn logical<'a>(
        &self,
        terms: &'a [Expr],
        decisive: bool,
        scope: &mut Bindings<'a>,
    ) -> Evaluated {
        let mut failed = None;
        for term in terms {
            match self.value(term, scope) {
                Ok(Val::Bool(value)) if value == decisive => return Ok(Val::Bool(value)),
                Ok(Val::Bool(_)) => {}
                Ok(_) => failed = failed.or(Some(EvaluationError::no_overload())),
                Err(fault @ EvaluationError::Error(_)) => failed = failed.or(Some(fault)),
                Err(other) => return Err(other),
            }
        }
        failed.map_or(Ok(Val::Bool(!decisive)), Err)
    }

    fn fold<'a>(&self, fold: &'a Comprehension, scope: &mut Bindings<'a>) -> Evaluated {
        let outside = scope.0.len();
        if fold.is_binding() {
            let value = self.value(&fold.init, scope)?;
            scope.push(&fold.accumulator, value);
            let result = self.value(&fold.result, scope);
            scope.0.truncate(outside);
            return result;
        }
        let range = self.value(&fold.range, scope)?;
        let init = self.value(&fold.init, scope)?;
        scope.push(&fold.accumulator, init);
        let looped = self.iterate(fold, &range, scope);
        let result = looped.and_then(|()| self.value(&fold.result, scope));
        scope.0.truncate(outside);
        result
    }

    fn iterate<'a>(
        &self,
        fold: &'a Comprehension,
        range: &Val,
        scope: &mut Bindings<'a>,
    ) -> Evaluated<()> {
        let (accumulator, two) = (scope.0.len() - 1, fold.second.is_some());
        let mut turn = |first: Val, second: Val| -> Evaluated<bool> {
            scope.push(&fold.variable, first);
            if let Some(name) = &fold.second {
                scope.push(name, second);
            }
            let goes_on = self.value(&fold.condition, scope)?;
            if matches!(goes_on, Val::Bool(false)) {
                scope.0.truncate(accumulator + 1);
                return Ok(false);
            }
            let value = self.value(&fold.step, scope);
            scope.0.truncate(accumulator + 1);
            // An error may not matter: a later turn of `exists` may find what decides.
            scope.0[accumulator].1 = match value {
                Err(fault @ (EvaluationError::Costs | EvaluationError::Unknown)) => {
                    return Err(fault);
                }
                value => value,
            };
            Ok(true)
        };
        match range {
            Val::List(list) => {
                for (i, item) in list.items.iter().enumerate() {
                    let goes_on = match two {
                        true => turn(Val::Int(i as i64), item.clone())?,
                        false => turn(item.clone(), Val::Null)?,
                    };
                    if !goes_on {
                        break;
                    }
                }
                Ok(())
            }
            Val::Map(map) => {
                for (key, value) in map.iter() {
                    if !turn(key.value(), value.clone())? {
                        break;
                    }
                }
                Ok(())
            }
            other => Err(functions::operators::not_iterable(other)),
        }
    }
}

/// The variables, the innermost last. The result of a loop may be an error.
pub(super) struct Bindings<'a>(Vec<(&'a str, Evaluated)>);

impl<'a> Bindings<'a> {
    fn push(&mut self, name: &'a str, value: Val) {
        self.0.push((name, Ok(value)));
    }

    fn place(&self, name: &str) -> Option<usize> {
        let (all, name) = match name.strip_prefix('.') {
            Some(outer) => (&self.0[..self.0.len().min(2)], outer),
            None => (&self.0[..], name),
        };
        all.iter().rposition(|(known, _)| *known == name)
    }

    fn get(&self, name: &str) -> Option<Evaluated> {
        self.place(name).map(|place| self.0[place].1.clone())
    }

    /// The value of a variable, which has none afterwards.
    fn take_value(&mut self, name: &str) -> Evaluated {
        let place = self.place(name).ok_or(EvaluationError::Unknown)?;
        std::mem::replace(&mut self.0[place].1, Ok(Val::Null))
    }
}

/// Returns whether the value of an expression is known before it runs (`cel.OptOptimize`).
fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExpressionKind::Literal(_) => true,
        ExpressionKind::List { items, .. } => items.iter().all(is_constant),
        ExpressionKind::Map(entries) => entries
            .iter()
            .all(|entry| is_constant(&entry.key) && is_constant(&entry.value)),
        ExpressionKind::Call(call) => {
            call.target.is_none()
                && run_cost::is_conversion(&call.function)
                && call.args.iter().all(is_constant)
        }
        _ => false,
    }
}

fn constant(literal: &Literal) -> Val {
    match literal {
        Literal::Null => Val::Null,
        Literal::Bool(value) => Val::Bool(*value),
        Literal::Int(value) => Val::Int(*value),
        Literal::Uint(value) => Val::Uint(*value),
        Literal::Double(value) => Val::Double(*value),
        Literal::String(text) => Val::text(text),
        Literal::Bytes(bytes) => Val::Bytes(bytes.as_slice().into()),
    }
}

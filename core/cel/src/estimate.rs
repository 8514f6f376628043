//! Estimates the highest cost of an expression (`cel-go/checker/cost.go`, v0.26).
//!
//! The estimate decides which rules a definition may have, so it follows the original step by step.

mod calls;
mod range;

use std::collections::HashMap;

use super::ast::{ACCUMULATOR, CallExpression, Comprehension, Expr, ExpressionKind, Literal};
use super::check::CheckResult;
use super::declared::Declared;
use super::types::CelType;
use range::Range;

/// The sizes of the keys and values of a list or map.
#[derive(Clone, Copy, Debug)]
struct Entries {
    list: bool,
    key: Range,
    value: Range,
}

impl Entries {
    fn united(self, other: Entries) -> Self {
        Self {
            list: self.list,
            key: self.key.united(other.key),
            value: self.value.united(other.value),
        }
    }
}

/// A variable of a loop.
#[derive(Clone, Debug)]
struct Local {
    name: String,
    path: Vec<String>,
    size: Option<Range>,
    entries: Option<Entries>,
}

/// An argument, and the estimate of its size.
pub(super) struct EstimatedArgument<'a> {
    pub(super) expr: &'a Expr,
    pub(super) ty: &'a CelType,
    path: Vec<String>,
    size: Option<Range>,
}

/// Estimates the cost of an expression on values of a declaration.
pub(super) fn cost(expr: &Expr, checked: &CheckResult, root: &Declared) -> u64 {
    let mut estimator = Estimator {
        checked,
        root,
        paths: HashMap::new(),
        sizes: HashMap::new(),
        entries: HashMap::new(),
        locals: Vec::new(),
    };
    estimator.cost(expr).max
}

pub(super) struct Estimator<'a> {
    checked: &'a CheckResult,
    root: &'a Declared,
    paths: HashMap<usize, Vec<String>>,
    sizes: HashMap<usize, Range>,
    entries: HashMap<usize, Entries>,
    locals: Vec<Local>,
}

impl<'a> Estimator<'a> {
    fn ty(&self, expr: &Expr) -> &'a CelType {
        &self.checked.types[expr.id]
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn cost(&mut self, expr: &Expr) -> Range {
        match &expr.kind {
            ExpressionKind::Literal(_) => Range::fixed(0),
            ExpressionKind::Ident(name) => {
                let path = match self.local(name) {
                    Some(local) => local.path.clone(),
                    None => vec![name.clone()],
                };
                self.paths.insert(expr.id, path);
                Range::fixed(1)
            }
            ExpressionKind::Select {
                operand,
                field,
                test,
            } => self.select(expr, operand, field, *test),
            ExpressionKind::Call(call) => self.call(expr, call),
            ExpressionKind::List { items, .. } => self.list(expr, items),
            ExpressionKind::Map(entries) => {
                let (mut sum, mut keys, mut values) = (Range::fixed(0), Range::NONE, Range::NONE);
                if entries.is_empty() {
                    (keys.min, values.min) = (0, 0);
                }
                for entry in entries {
                    sum = sum.plus(self.cost(&entry.key));
                    sum = sum.plus(self.cost(&entry.value));
                    keys = keys.united(self.size_or_unknown(&entry.key));
                    values = values.united(self.size_or_unknown(&entry.value));
                }
                let entries = Entries {
                    list: false,
                    key: keys,
                    value: values,
                };
                self.entries.insert(expr.id, entries);
                sum.plus(Range::fixed(super::run_cost::MAP))
            }
            ExpressionKind::Struct(_) => Range::fixed(0),
            ExpressionKind::Fold(fold) if fold.is_binding() => self.binding(expr, fold),
            ExpressionKind::Fold(fold) => self.fold(expr, fold),
        }
    }

    fn select(&mut self, expr: &Expr, operand: &Expr, field: &str, test: bool) -> Range {
        let cost = self.cost(operand);
        if test {
            return cost;
        }
        let mut path = self.path(operand);
        path.push(field.to_owned());
        self.paths.insert(expr.id, path);
        match self.ty(operand) {
            CelType::Map(..) | CelType::Object(_) | CelType::Named(_) => cost.plus(Range::fixed(1)),
            _ => cost,
        }
    }

    fn list(&mut self, expr: &Expr, items: &[Expr]) -> Range {
        let (mut sum, mut sizes) = (Range::fixed(0), Range::NONE);
        if items.is_empty() {
            sizes.min = 0;
        }
        for item in items {
            sum = sum.plus(self.cost(item));
            sizes = sizes.united(self.size_or_unknown(item));
        }
        let entries = Entries {
            list: true,
            key: Range::fixed(1),
            value: sizes,
        };
        self.entries.insert(expr.id, entries);
        sum.plus(Range::fixed(super::run_cost::LIST))
    }

    fn call(&mut self, expr: &Expr, call: &CallExpression) -> Range {
        if let ("dyn", [argument]) = (call.function.as_str(), call.args.as_slice()) {
            let cost = self.cost(argument);
            self.copy_sizes(expr, argument);
            return cost.plus(Range::fixed(1));
        }
        let costs: Vec<Range> = call.args.iter().map(|it| self.cost(it)).collect();
        let args: Vec<EstimatedArgument<'_>> = call.args.iter().map(|it| self.node(it)).collect();
        if call.function == "_?._" {
            // The overload has a cost like any other, and its result no size.
            return costs.iter().fold(Range::fixed(1), |sum, it| sum.plus(*it));
        }
        let mut sum = Range::fixed(0);
        let target = call.target.as_deref().map(|target| {
            sum = self.cost(target);
            self.node(target)
        });
        let overloads = &self.checked.overloads[expr.id];
        if overloads.is_empty() {
            return Range::fixed(0);
        }
        let mut total = Range::NONE;
        let mut size: Option<Range> = None;
        for overload in overloads {
            let (cost, result) = match self.operator(expr, call, overload, &args, &costs) {
                Some(found) => found,
                None => {
                    let (cost, result) =
                        calls::cost(self, &call.function, overload, target.as_ref(), &args);
                    let all = costs.iter().fold(cost, |sum, it| sum.plus(*it));
                    (all, result)
                }
            };
            total = total.united(cost);
            size = match (size, result) {
                (Some(size), Some(result)) => Some(size.united(result)),
                (size, result) => size.or(result),
            };
            if call.function == "_[_]" && !matches!(overload.params[0], CelType::Optional(_)) {
                let list = matches!(overload.params[0], CelType::List(_));
                size = self.entries_of(args[0].expr).map(|it| it.value);
                let mut path = self.path(args[0].expr);
                path.push(if list { "@items" } else { "@values" }.to_owned());
                self.paths.insert(expr.id, path);
            }
            size = size.or_else(|| self.size(expr));
        }
        self.sizes.extend(size.map(|size| (expr.id, size)));
        sum.plus(total)
    }

    /// Operators that do not evaluate all operands, or that make new lists.
    fn operator(
        &mut self,
        expr: &Expr,
        call: &CallExpression,
        overload: &super::overloads::Overload,
        args: &[EstimatedArgument<'_>],
        costs: &[Range],
    ) -> Option<(Range, Option<Range>)> {
        let known = |node: &EstimatedArgument<'_>| node.size.unwrap_or(Range::UNKNOWN);
        match (call.function.as_str(), args, costs) {
            ("_&&_" | "_||_", _, [first, rest @ ..]) => {
                let all = rest.iter().fold(*first, |sum, it| sum.plus(*it));
                let cost = Range {
                    min: first.min,
                    max: all.max,
                };
                Some((cost, None))
            }
            ("_?_:_", [_, yes, no], [condition, if_true, if_false]) => {
                let entries = self.entries_of(yes.expr).zip(self.entries_of(no.expr));
                let entries = entries.map(|(one, other)| (expr.id, one.united(other)));
                self.entries.extend(entries);
                let cost = condition.plus(if_true.united(*if_false));
                Some((cost, Some(known(yes).united(known(no)))))
            }
            ("_+_", [one, other], [left, right])
                if matches!(
                    overload.params[0],
                    CelType::String | CelType::Bytes | CelType::List(_)
                ) =>
            {
                let size = known(one).plus(known(other));
                let entries = self.entries_of(one.expr).zip(self.entries_of(other.expr));
                let entries = entries.map(|(one, other)| (expr.id, one.united(other)));
                self.entries.extend(entries);
                let own = match overload.params[0] {
                    CelType::List(_) => Range::fixed(1),
                    _ => size.scaled(calls::CHARACTER),
                };
                Some((own.plus(*left).plus(*right), Some(size)))
            }
            _ => None,
        }
    }

    fn binding(&mut self, expr: &Expr, fold: &Comprehension) -> Range {
        let cost = self.cost(&fold.range);
        let cost = cost.plus(self.cost(&fold.init));
        self.push_bound(&fold.accumulator, &fold.init);
        let cost = cost.plus(self.cost(&fold.result));
        self.locals.pop();
        self.copy_sizes(expr, &fold.result);
        cost
    }

    fn push_bound(&mut self, name: &str, value: &Expr) {
        let local = Local {
            name: name.to_owned(),
            path: self.path(value),
            size: self.size(value),
            entries: self.entries_of(value),
        };
        self.locals.push(local);
    }

    fn fold(&mut self, expr: &Expr, fold: &Comprehension) -> Range {
        let mut sum = self.cost(&fold.range);
        sum = sum.plus(self.cost(&fold.init));
        self.push_bound(&fold.accumulator, &fold.init);
        let entries = self.entries_of(&fold.range);
        let list = match entries {
            Some(entries) => entries.list,
            None => matches!(self.ty(&fold.range), CelType::List(_)),
        };
        let (keys, values) = (entries.map(|it| it.key), entries.map(|it| it.value));
        let (key_name, value_name) = if list {
            ("@indices", "@items")
        } else {
            ("@keys", "@values")
        };
        let path = self.path(&fold.range);
        let mut push = |name: &str, part: &str, size: Option<Range>| {
            let mut path = path.clone();
            path.push(part.to_owned());
            self.locals.push(Local {
                name: name.to_owned(),
                path,
                size,
                entries: None,
            });
        };
        match &fold.second {
            Some(second) => {
                push(&fold.variable, key_name, keys);
                push(second, value_name, values);
            }
            None if list => push(&fold.variable, "@items", values),
            None => push(&fold.variable, "@keys", keys),
        }
        let turn = self.cost(&fold.condition).plus(self.cost(&fold.step));
        self.locals.pop();
        if fold.second.is_some() {
            self.locals.pop();
        }
        sum = sum.plus(self.cost(&fold.result));
        self.locals.pop();
        let turns = self.size_or_unknown(&fold.range);
        match &fold.init.kind {
            ExpressionKind::Literal(_) => {
                let size = self.size(&fold.init);
                self.sizes.extend(size.map(|size| (expr.id, size)));
            }
            ExpressionKind::List { .. } | ExpressionKind::Map(_) => {
                self.sizes.insert(expr.id, turns);
                let entries = self.entries_of(&fold.step);
                self.entries.extend(entries.map(|it| (expr.id, it)));
            }
            _ => {}
        }
        sum.plus(turns.times(turn))
    }

    fn path(&self, expr: &Expr) -> Vec<String> {
        if let ExpressionKind::Ident(name) = &expr.kind
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths.get(&expr.id).cloned().unwrap_or_default()
    }

    fn node<'e>(&mut self, expr: &'e Expr) -> EstimatedArgument<'e>
    where
        'a: 'e,
    {
        let mut path = self.path(expr);
        if path.first().is_some_and(|first| first == ACCUMULATOR) {
            path.clear();
        }
        EstimatedArgument {
            expr,
            ty: self.ty(expr),
            path,
            size: self.size(expr),
        }
    }

    fn size_or_unknown(&mut self, expr: &Expr) -> Range {
        self.size(expr).unwrap_or(Range::UNKNOWN)
    }

    fn copy_sizes(&mut self, to: &Expr, from: &Expr) {
        let size = self.size(from);
        self.sizes.extend(size.map(|size| (to.id, size)));
        let entries = self.entries_of(from);
        self.entries.extend(entries.map(|it| (to.id, it)));
    }

    /// `computeSize`.
    fn size(&mut self, expr: &Expr) -> Option<Range> {
        if let Some(size) = self.sizes.get(&expr.id) {
            return Some(*size);
        }
        let known = match &expr.kind {
            ExpressionKind::Literal(Literal::String(text)) => Some(text.chars().count()),
            ExpressionKind::Literal(Literal::Bytes(bytes)) => Some(bytes.len()),
            ExpressionKind::Literal(_) => Some(1),
            ExpressionKind::List { items, .. } => Some(items.len()),
            ExpressionKind::Map(entries) => Some(entries.len()),
            _ => None,
        };
        if let Some(known) = known {
            return Some(Range::fixed(known as u64));
        }
        if let Some(size) = self.declared_size(&self.path(expr)) {
            self.sizes.insert(expr.id, size);
            return Some(size);
        }
        match self.ty(expr) {
            CelType::Bool
            | CelType::Double
            | CelType::Duration
            | CelType::Int
            | CelType::Timestamp
            | CelType::Uint => return Some(Range::fixed(1)),
            _ => {}
        }
        match &expr.kind {
            ExpressionKind::Ident(name) => self.local(name)?.size,
            _ => None,
        }
    }

    fn entries_of(&self, expr: &Expr) -> Option<Entries> {
        if let Some(entries) = self.entries.get(&expr.id) {
            return Some(*entries);
        }
        match &expr.kind {
            ExpressionKind::Ident(name) => self.local(name)?.entries,
            _ => None,
        }
    }

    /// Returns the size of the value to which a path leads (`sizeEstimator.EstimateSize` of the
    /// schema). The first step is the variable.
    fn declared_size(&self, path: &[String]) -> Option<Range> {
        let (_, steps) = path.split_first()?;
        let mut declared = self.root;
        for step in steps {
            if step == "@keys" {
                // Keys are strings of any length.
                return matches!(declared.shape, super::declared::DeclaredShape::Map(_))
                    .then_some(Range { min: 0, max: 0 });
            }
            declared = declared.part(step)?;
        }
        let max = u64::try_from(declared.max_elements).unwrap_or(0);
        Some(Range { min: 0, max })
    }

    /// The size of an argument (`CostEstimator.sizeEstimate`).
    pub(super) fn size_of(&self, node: &EstimatedArgument<'_>) -> Range {
        let size = node.size.or_else(|| self.declared_size(&node.path));
        size.unwrap_or(Range::UNKNOWN)
    }

    /// The type and the size of the items of an argument that is a list (`listElementNode`).
    pub(super) fn items_of(&self, node: &EstimatedArgument<'_>) -> Option<(CelType, Range)> {
        let item = match node.ty {
            CelType::List(item) | CelType::Optional(item) => (**item).clone(),
            CelType::Map(key, _) => (**key).clone(),
            _ => return None,
        };
        let mut path = node.path.clone();
        let size = if path.is_empty() {
            None
        } else {
            path.push("@items".to_owned());
            self.declared_size(&path)
        };
        Some((item, size.unwrap_or(Range::UNKNOWN)))
    }
}

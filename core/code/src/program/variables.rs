//! The variables of a program: their names and kinds, where they get values, and where code
//! declares them.

use serde_json::Value;

use optimist_apiserver::object::text;
use optimist_controller::Source;
use optimist_controller::program::{BoolExpression, Expression, Kind, Statement};

use super::Numbered;
use super::template::{Part, parts};

/// The blocks around a statement: the number of each head, and whether it is its second block.
type Blocks = Vec<(usize, bool)>;

/// The origin of a variable's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assigned {
    Read(Source),
    Copy,
    New,
    Item,
}

/// A variable.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    /// Its name in the program.
    name: String,
    /// Its number among the variables: its name in code differs from those of the others.
    pub(super) place: usize,
    /// `true` if it is a list.
    pub(super) list: bool,
    /// The kind of its object, or of the objects of its list; `None` if it never gets a value.
    pub(super) kind: Option<Kind>,
    /// The statements that give it a value.
    pub(super) assigned: Vec<(usize, Assigned)>,
    /// `true` if it joins variables of several blocks, because the program uses it outside of them.
    merged: bool,
    /// The statements in which it is, with their blocks.
    occurs: Vec<(usize, Blocks)>,
    /// `true` if a statement changes its object.
    pub(super) changed: bool,
    /// `true` if fields of its new object are set one by one.
    pub(super) filled: bool,
    /// The statements that write its object.
    pub(super) written: Vec<usize>,
    /// `true` if a condition asks whether it has an object, other than directly after a Get.
    pub(super) asked: bool,
}

impl Declared {
    /// Its name in the program.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether its first use is in a block around these blocks.
    fn is_above(&self, blocks: &Blocks) -> bool {
        let first = self.occurs.first();
        first.is_none_or(|(_, first)| self.merged || blocks.starts_with(first))
    }

    /// The number of the statement before which it is declared, or at which, if that statement
    /// gives it its first value.
    pub(super) fn declared_at(&self) -> (usize, bool) {
        let Some((first, blocks)) = self.occurs.first() else {
            return (0, false);
        };
        let common = self.occurs.iter().fold(blocks.clone(), |common, (_, of)| {
            let pairs = common.iter().zip(of);
            let same = pairs.take_while(|(a, b)| a == b).count();
            common[..same].to_vec()
        });
        // Of a loop, the variable of an item is declared in the block.
        let assigns = self
            .assigned
            .first()
            .is_some_and(|(number, how)| number == first && *how != Assigned::Item);
        let item = self.assigned.first().is_some_and(|(number, how)| {
            *how == Assigned::Item && *number == *first && common.last() == Some(&(*number, false))
        });
        match blocks.get(common.len()) {
            _ if item => (*first, true),
            None => (*first, assigns),
            Some((head, _)) => (*head, false),
        }
    }

    /// Returns whether it is used after a statement, or before it in the same loop.
    pub(super) fn used_after(&self, number: usize) -> bool {
        let blocks = self.occurs.iter().find(|(at, _)| *at == number);
        let in_block = blocks.is_some_and(|(_, blocks)| !blocks.is_empty());
        let item = self
            .assigned
            .iter()
            .all(|(_, how)| matches!(how, Assigned::Item | Assigned::New));
        self.occurs
            .iter()
            .any(|(at, _)| *at > number || in_block && !item && *at != number)
    }
}

/// The variables of a program.
#[derive(Debug, Default)]
pub(super) struct Variables {
    all: Vec<Declared>,
}

impl Variables {
    /// Collects the variables of a program.
    pub(super) fn collect(body: &[Numbered<'_>]) -> Self {
        let mut variables = Self::default();
        variables.block(body, &Vec::new());
        variables
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Declared> {
        self.all.iter()
    }

    /// Returns the variable of a name before a statement: the last one that got a value above it.
    /// The variable to which a statement gives a value is found with the number after that of the
    /// statement.
    pub(super) fn get(&self, name: &str, list: bool, number: usize) -> Option<&Declared> {
        let known = |declared: &&Declared| declared.name == name && declared.list == list;
        let assigned = |declared: &&Declared| {
            let mut numbers = declared.assigned.iter();
            numbers.any(|(at, _)| *at < number)
        };
        let above = self.all.iter().rev().filter(known).find(assigned);
        above.or_else(|| self.all.iter().find(known))
    }

    /// The kind of a variable's object before a statement.
    pub(super) fn kind_at(&self, name: &str, number: usize) -> Option<Kind> {
        self.get(name, false, number)?.kind.clone()
    }

    /// Returns whether an earlier variable has the same name in code, written by `identifier`.
    pub(super) fn is_taken(&self, declared: &Declared, identifier: fn(&str) -> String) -> bool {
        let name = identifier(declared.name());
        self.iter()
            .any(|other| other.place < declared.place && identifier(other.name()) == name)
    }

    fn block(&mut self, body: &[Numbered<'_>], blocks: &Blocks) {
        for (index, one) in body.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|before| body.get(before));
            let guards = before.is_some_and(|get| super::found_or_done(get, one));
            if !guards {
                self.uses(one, blocks);
            }
            let inside = |second| {
                let mut inside = blocks.clone();
                inside.push((one.number, second));
                inside
            };
            if let Statement::ForEach { item, of, .. } = one.statement {
                let kind = self.get(of, true, one.number);
                let kind = kind.and_then(|list| list.kind.clone());
                self.assign(
                    item,
                    false,
                    kind,
                    (one.number, Assigned::Item),
                    &inside(false),
                );
            }
            self.block(&one.then, &inside(false));
            self.block(&one.otherwise, &inside(true));
            self.assigns(one, blocks);
        }
    }

    /// Notes the variables that a statement gives values.
    fn assigns(&mut self, one: &Numbered<'_>, blocks: &Blocks) {
        let number = one.number;
        match one.statement {
            Statement::Get {
                into, kind, from, ..
            } => {
                let how = (number, Assigned::Read(*from));
                self.assign(into, false, Some(kind.clone()), how, blocks);
            }
            Statement::List {
                into, kind, from, ..
            } => {
                let how = (number, Assigned::Read(*from));
                self.assign(into, true, Some(kind.clone()), how, blocks);
            }
            Statement::DeepCopy { into, of } => {
                let kind = self.get(of, false, number);
                let kind = kind.and_then(|object| object.kind.clone());
                self.assign(into, false, kind, (number, Assigned::Copy), blocks);
            }
            Statement::New { into, object, .. } => {
                let kind = Some(kind_of(object));
                self.assign(into, false, kind, (number, Assigned::New), blocks);
                let filled = object.as_object().is_some_and(|members| {
                    let mut members = members.iter();
                    members.any(|(key, value)| {
                        !matches!(key.as_str(), "apiVersion" | "kind" | "metadata")
                            && !value.as_object().is_some_and(serde_json::Map::is_empty)
                    })
                });
                if let Some(declared) = self.all.iter_mut().rfind(|of| of.name == *into) {
                    declared.filled |= filled;
                }
            }
            _ => {}
        }
    }

    fn assign(
        &mut self,
        name: &str,
        list: bool,
        kind: Option<Kind>,
        how: (usize, Assigned),
        blocks: &Blocks,
    ) {
        let same = |declared: &Declared| {
            declared.name == name
                && declared.list == list
                && (declared.kind == kind || declared.kind.is_none())
                && declared.is_above(blocks)
        };
        let at = self.all.iter().rposition(same);
        let declared = self.at_or_new(at, name, list);
        declared.kind = kind;
        declared.assigned.push(how);
        declared.occurs.push((how.0, blocks.clone()));
    }

    fn at_or_new(&mut self, at: Option<usize>, name: &str, list: bool) -> &mut Declared {
        let at = at.unwrap_or_else(|| {
            self.all.push(Declared {
                name: name.to_owned(),
                place: self.all.len(),
                list,
                kind: None,
                assigned: Vec::new(),
                merged: false,
                occurs: Vec::new(),
                changed: false,
                filled: false,
                written: Vec::new(),
                asked: false,
            });
            self.all.len() - 1
        });
        &mut self.all[at]
    }

    /// Makes one variable of those with the same name and kind, if one is used outside of the block
    /// in which it gets its value. Returns its place.
    fn merge(&mut self, at: usize, blocks: &Blocks) -> usize {
        if self.all[at].is_above(blocks) {
            return at;
        }
        let (name, list, kind) = {
            let used = &self.all[at];
            (used.name.clone(), used.list, used.kind.clone())
        };
        let same = |of: &Declared| of.name == name && of.list == list && of.kind == kind;
        let (same, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.all).into_iter().partition(same);
        self.all = others;
        let mut same = same.into_iter();
        let Some(mut one) = same.next() else {
            return at;
        };
        for other in same {
            one.assigned.extend(other.assigned);
            one.occurs.extend(other.occurs);
            one.written.extend(other.written);
            one.changed |= other.changed;
            one.asked |= other.asked;
            one.filled |= other.filled;
        }
        one.merged = true;
        self.all.push(one);
        for (place, declared) in self.all.iter_mut().enumerate() {
            declared.place = place;
        }
        self.all.len() - 1
    }

    /// Notes the variables that a statement uses.
    fn uses(&mut self, one: &Numbered<'_>, blocks: &Blocks) {
        for (name, list) in used(one.statement) {
            let at = self
                .get(&name, list, one.number)
                .map(|declared| declared.place);
            let at = at.map(|at| self.merge(at, blocks));
            let declared = self.at_or_new(at, &name, list);
            declared.occurs.push((one.number, blocks.clone()));
            let mut changed = changes(one.statement).into_iter();
            if !list && written(one.statement) == Some(&name) {
                declared.written.push(one.number);
            }
            declared.changed |= !list && changed.any(|changed| changed == name);
            if let Statement::If { condition, .. } = one.statement {
                declared.asked |= !list && asks(condition, &name);
            }
        }
    }
}

/// The kind of a manifest.
pub(super) fn kind_of(object: &Value) -> Kind {
    Kind::new(text(object, "apiVersion"), text(object, "kind"))
}

fn asks(condition: &BoolExpression, name: &str) -> bool {
    match condition {
        BoolExpression::Found(found) => found == name,
        BoolExpression::Not(inner) => asks(inner, name),
        BoolExpression::All(all) => all.iter().any(|inner| asks(inner, name)),
        _ => false,
    }
}

/// The variable whose object a statement changes without a request.
fn changes(statement: &Statement) -> Option<&str> {
    match statement {
        Statement::Set { of, .. }
        | Statement::AddItem { of, .. }
        | Statement::RemoveItem { of, .. } => Some(of),
        _ => None,
    }
}

/// The variable whose object a statement writes, and which gets the answer.
fn written(statement: &Statement) -> Option<&String> {
    match statement {
        Statement::Create { object, .. }
        | Statement::Update { object, .. }
        | Statement::Patch { object, .. }
        | Statement::Apply { object, .. } => Some(object),
        _ => None,
    }
}

/// The variables that a statement uses, and whether as a list.
fn used(statement: &Statement) -> Vec<(String, bool)> {
    let mut used = Vec::new();
    let object = |name: &String| (name.clone(), false);
    match statement {
        Statement::Get { name, .. } => in_text(name, &mut used),
        Statement::List { controlled_by, .. } => used.extend(controlled_by.iter().map(object)),
        Statement::If { condition, .. } => in_condition(condition, &mut used),
        Statement::ForEach { of, .. } => used.push((of.clone(), true)),
        Statement::DeepCopy { of, .. } => used.push(object(of)),
        Statement::New {
            object: template,
            owner,
            ..
        } => {
            in_template(template, &mut used);
            used.extend(owner.iter().map(object));
        }
        Statement::Set { of, to, .. } => {
            used.push(object(of));
            in_expression(to, &mut used);
        }
        Statement::AddItem { of, item, .. } | Statement::RemoveItem { of, item, .. } => {
            used.push(object(of));
            in_text(item, &mut used);
        }
        Statement::Create { object: of, .. }
        | Statement::Update { object: of, .. }
        | Statement::Apply { object: of, .. }
        | Statement::Delete { object: of, .. } => used.push(object(of)),
        Statement::Patch {
            object: of, base, ..
        } => used.extend([object(of), object(base)]),
        Statement::Expect { .. } | Statement::Return(_) => {}
    }
    used.dedup();
    used
}

fn in_text(text: &str, used: &mut Vec<(String, bool)>) {
    for part in parts(text) {
        if let Part::Field(name, _) = part {
            used.push((name.to_owned(), false));
        }
    }
}

fn in_template(template: &Value, used: &mut Vec<(String, bool)>) {
    match template {
        Value::String(text) => in_text(text, used),
        Value::Array(items) => items.iter().for_each(|item| in_template(item, used)),
        Value::Object(members) => members.values().for_each(|value| in_template(value, used)),
        _ => {}
    }
}

fn in_expression(expression: &Expression, used: &mut Vec<(String, bool)>) {
    match expression {
        Expression::Text(text) => in_text(text, used),
        Expression::Field(name, _) => used.push((name.clone(), false)),
        Expression::Count(name) => used.push((name.clone(), true)),
        Expression::Value(_) | Expression::Now => {}
    }
}

fn in_condition(condition: &BoolExpression, used: &mut Vec<(String, bool)>) {
    match condition {
        BoolExpression::Found(name) | BoolExpression::Deleting(name) => {
            used.push((name.clone(), false));
        }
        BoolExpression::Equal(a, b) | BoolExpression::Less(a, b) => {
            in_expression(a, used);
            in_expression(b, used);
        }
        BoolExpression::Contains { of, item, .. } => {
            used.push((of.clone(), false));
            in_text(item, used);
        }
        BoolExpression::ExpectationsSatisfied => {}
        BoolExpression::Not(inner) => in_condition(inner, used),
        BoolExpression::All(all) => all.iter().for_each(|inner| in_condition(inner, used)),
    }
}

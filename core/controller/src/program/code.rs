//! A program as a list of instructions with jumps: a run is at one place of it.

use std::sync::Arc;

use super::{BoolExpression, Program, Statement};

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CodeInstruction {
    /// A statement without a block.
    Do(Statement),
    /// Goes on with the next instruction if the condition holds, else at another place.
    Branch(BoolExpression, usize),
    /// Goes on with the next object of a list, or at another place if there is no next one.
    Next {
        item: String,
        of: String,
        end: usize,
    },
    /// Goes on at another place.
    Jump(usize),
}

/// The part of a controller that a statement without a request touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    /// The cache of this kind, from which it reads.
    Cache(String),
    /// An object that it changes. Steps show it only if the object is the one in the cache.
    CachedObject,
    /// The expectations, which the controller remembers from earlier runs.
    Expectations,
    /// Nothing that others see: no path can have the name of its object, or it is about variables alone.
    Nothing,
}

/// A program that can be run. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Code {
    program: Arc<Program>,
    /// Each instruction and the number of its statement.
    instructions: Arc<[(CodeInstruction, usize)]>,
}

impl Code {
    /// Prepares a program.
    pub fn new(program: Program) -> Self {
        let mut flat = Flat::default();
        flat.block(&program.body);
        Self {
            program: Arc::new(program),
            instructions: flat.instructions.into(),
        }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    pub(super) fn instruction(&self, at: usize) -> Option<&CodeInstruction> {
        self.instructions
            .get(at)
            .map(|(instruction, _)| instruction)
    }

    /// The variable into which a statement reads; `None` if the statement is not a read.
    pub fn reads_into(&self, statement: usize) -> Option<&str> {
        let mut instructions = self.instructions.iter();
        let (instruction, _) = instructions.find(|(_, number)| *number == statement)?;
        match instruction {
            CodeInstruction::Do(Statement::Get { into, .. } | Statement::List { into, .. }) => {
                Some(into)
            }
            _ => None,
        }
    }

    /// Returns what the instruction at a place touches if it sends no request.
    pub(crate) fn touched(&self, at: usize) -> Touched {
        match self.instruction(at) {
            Some(CodeInstruction::Do(
                Statement::Get { kind, .. } | Statement::List { kind, .. },
            )) => Touched::Cache(kind.kind.clone()),
            Some(CodeInstruction::Do(
                Statement::Set { .. } | Statement::AddItem { .. } | Statement::RemoveItem { .. },
            )) => Touched::CachedObject,
            Some(CodeInstruction::Do(Statement::Expect { .. })) => Touched::Expectations,
            Some(CodeInstruction::Branch(condition, _)) if condition.reads_memory() => {
                Touched::Expectations
            }
            _ => Touched::Nothing,
        }
    }

    /// The number of the statement at a place: statements are numbered as they are written, blocks
    /// after their head. `None` at the end.
    pub fn statement_at(&self, at: usize) -> Option<usize> {
        self.instructions.get(at).map(|(_, statement)| *statement)
    }
}

#[derive(Default)]
struct Flat {
    instructions: Vec<(CodeInstruction, usize)>,
    statements: usize,
}

impl Flat {
    fn block(&mut self, statements: &[Statement]) {
        for statement in statements {
            let number = self.statements;
            self.statements += 1;
            match statement {
                Statement::If {
                    condition,
                    then,
                    otherwise,
                } => self.branch(number, condition, then, otherwise),
                Statement::ForEach { item, of, body } => {
                    let start = self.instructions.len();
                    let next = |end| CodeInstruction::Next {
                        item: item.clone(),
                        of: of.clone(),
                        end,
                    };
                    self.instructions.push((next(0), number));
                    self.block(body);
                    self.instructions
                        .push((CodeInstruction::Jump(start), number));
                    let end = self.instructions.len();
                    self.set(start, next(end));
                }
                other => {
                    let instruction = CodeInstruction::Do(other.clone());
                    self.instructions.push((instruction, number));
                }
            }
        }
    }

    fn branch(
        &mut self,
        number: usize,
        condition: &BoolExpression,
        then: &[Statement],
        otherwise: &[Statement],
    ) {
        let head = self.instructions.len();
        let branch = |end| CodeInstruction::Branch(condition.clone(), end);
        self.instructions.push((branch(0), number));
        self.block(then);
        let jump = self.instructions.len();
        if !otherwise.is_empty() {
            self.instructions.push((CodeInstruction::Jump(0), number));
        }
        self.set(head, branch(self.instructions.len()));
        if !otherwise.is_empty() {
            self.block(otherwise);
            self.set(jump, CodeInstruction::Jump(self.instructions.len()));
        }
    }

    fn set(&mut self, at: usize, instruction: CodeInstruction) {
        if let Some(place) = self.instructions.get_mut(at) {
            place.0 = instruction;
        }
    }
}

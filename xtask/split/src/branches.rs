//! Records which branches of a function ran, and removes the branches that did not run.
//!
//! A sequence of instructions is left early by a jump only at an instruction that may jump, or at a
//! block that somebody jumps out of. So one mark where a sequence begins and one after each of those
//! instructions say of every instruction whether it ran.

use std::collections::{BTreeMap, BTreeSet};

use crate::reads::{self, ReadRecorder};
use anyhow::Result;
use walrus::ir::{self, Instr, InstrSeqId};
use walrus::{ConstExpr, FunctionId, LocalFunction, Module, ValType};

/// Instructions that a branch must have to be left out, and that a function must lose to be there twice, short and whole.
/// A short branch saves little, and another browser or another hour may take it: that traps, and the page opens again with
/// all files.
pub const LEAST: usize = 11;

/// The bytes of one page of memory.
const PAGE: u64 = 65_536;

/// A place in a function that is marked: a sequence, and which instruction of it is next.
type BranchPlace = (InstrSeqId, usize);

/// The places of a function, in an order that is the same in every reading of the module. The
/// first is where the function begins.
fn places(function: &LocalFunction) -> Vec<BranchPlace> {
    let mut places = Vec::new();
    let mut open = vec![function.entry_block()];
    while let Some(sequence) = open.pop() {
        places.push((sequence, 0));
        let instructions = &function.block(sequence).instrs;
        for (index, (instruction, _)) in instructions.iter().enumerate() {
            let inner = inner(instruction);
            let goes_on = inner.is_empty() && !matches!(instruction, Instr::BrIf(_));
            open.extend(inner);
            if !goes_on && index + 1 < instructions.len() {
                places.push((sequence, index + 1));
            }
        }
    }
    places
}

/// The sequences within an instruction.
fn inner(instruction: &Instr) -> Vec<InstrSeqId> {
    match instruction {
        Instr::Block(block) => vec![block.seq],
        Instr::Loop(repeated) => vec![repeated.seq],
        Instr::IfElse(choice) => vec![choice.consequent, choice.alternative],
        _ => Vec::new(),
    }
}

/// All sequences of a function.
pub fn sequences(function: &LocalFunction) -> Vec<InstrSeqId> {
    let begun = places(function)
        .into_iter()
        .filter(|(_, index)| *index == 0);
    begun.map(|(sequence, _)| sequence).collect()
}

/// The name of the memory with the marks, of the number of its first mark, and of the number after its
/// last one.
const EXPORTS: [&str; 3] = ["marks memory", "marks", "marks end"];

/// Has every function note which of its places were reached, a byte each, in a memory of its own: the
/// addresses of the program stay as they are, because hash maps take other branches by the address of a
/// variable. Other than 0 is reached. The marks of the bytes that were read follow, from the first byte
/// that the module writes before it starts.
///
/// # Errors
/// If the module writes nothing into its memory.
pub fn mark(module: &mut Module) -> Result<()> {
    let range = reads::written(module)?;
    let functions: Vec<FunctionId> = module.funcs.iter_local().map(|(id, _)| id).collect();
    let memory = module.memories.add_local(false, false, 0, None, None);
    let mut mark = 0;
    for id in functions {
        let function = module.funcs.get_mut(id).kind.unwrap_local_mut();
        let places = places(function);
        // From the end, so that what is put in moves no other place.
        for (n, (sequence, index)) in places.iter().enumerate().rev() {
            let offset = mark + n as u64;
            let value = |number| ir::Const {
                value: ir::Value::I32(number),
            };
            let kind = ir::StoreKind::I32_8 { atomic: false };
            let arg = ir::MemArg { align: 1, offset };
            let noted: [Instr; 3] = [
                value(0).into(),
                value(1).into(),
                ir::Store { memory, kind, arg }.into(),
            ];
            let noted = noted.map(|instruction| (instruction, ir::InstrLocId::default()));
            let instructions = &mut function.block_mut(*sequence).instrs;
            instructions.splice(index..index, noted);
        }
        mark += places.len() as u64;
    }
    let noting = ReadRecorder {
        memory,
        notes: mark,
        range,
    };
    noting.mark(module);
    mark += noting.range.len() as u64;
    // The last note is of all other reads.
    module.memories.get_mut(memory).initial = (mark + 1).div_ceil(PAGE);
    module.exports.add(EXPORTS[0], memory);
    for (name, number) in EXPORTS[1..].iter().zip([0, mark]) {
        let number = ConstExpr::Value(ir::Value::I32(i32::try_from(number)?));
        let global = module.globals.add_local(ValType::I32, false, false, number);
        module.exports.add(name, global);
    }
    Ok(())
}

/// The record of a run, by the numbers of the marks that it reached.
pub struct Ran {
    marks: BTreeSet<usize>,
    /// The first mark of each function, by the function's index.
    first: BTreeMap<usize, usize>,
    /// The addresses of the bytes that were read.
    pub read: BTreeSet<u32>,
}

impl Ran {
    /// Assigns marks to the functions of a module. The module must be as [`mark`] read it.
    ///
    /// # Errors
    /// If the module writes nothing into its memory.
    pub fn new(module: &Module, mut marks: BTreeSet<usize>) -> Result<Self> {
        let mut first = BTreeMap::new();
        let mut mark = 0;
        for (id, function) in module.funcs.iter_local() {
            first.insert(id.index(), mark);
            mark += places(function).len();
        }
        let read = marks.split_off(&mark);
        let start = reads::written(module)?.start;
        let address = |one: usize| u32::try_from(one - mark).map(|distance| start + distance);
        Ok(Self {
            marks,
            first,
            read: read.into_iter().map(address).collect::<Result<_, _>>()?,
        })
    }

    /// Returns whether the function with this index began.
    pub fn began(&self, function: usize) -> bool {
        let first = self.first.get(&function);
        first.is_some_and(|mark| self.marks.contains(mark))
    }

    /// Puts a trap in the place of each long branch of the function that did not run, and says how
    /// many instructions that saves.
    pub fn leave_out(&self, index: usize, function: &mut LocalFunction) -> usize {
        let Some(first) = self.first.get(&index) else {
            return 0;
        };
        let mut ends: BTreeMap<InstrSeqId, usize> = BTreeMap::new();
        for ((sequence, index), mark) in places(function).into_iter().zip(*first..) {
            if !self.marks.contains(&mark) {
                let end = ends.entry(sequence).or_insert(index);
                *end = index.min(*end);
            }
        }
        let mut saved = 0;
        let mut open = vec![function.entry_block()];
        while let Some(sequence) = open.pop() {
            if let Some(end) = ends.get(&sequence) {
                let size = size(function, sequence, *end);
                if size >= LEAST {
                    saved += size;
                    let trap = (ir::Unreachable {}.into(), ir::InstrLocId::default());
                    let instructions = &mut function.block_mut(sequence).instrs;
                    instructions.truncate(*end);
                    instructions.push(trap);
                }
            }
            let instructions = &function.block(sequence).instrs;
            open.extend(instructions.iter().flat_map(|(one, _)| inner(one)));
        }
        saved
    }
}

/// Counts the instructions of a sequence from a position on, with those in its inner blocks.
fn size(function: &LocalFunction, sequence: InstrSeqId, from: usize) -> usize {
    let mut open = vec![(sequence, from)];
    let mut size = 0;
    while let Some((sequence, from)) = open.pop() {
        let instructions = &function.block(sequence).instrs[from..];
        size += instructions.len();
        let inner = instructions.iter().flat_map(|(one, _)| inner(one));
        open.extend(inner.map(|sequence| (sequence, 0)));
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constants;
    use walrus::{FunctionBuilder, InstrSeqBuilder};

    /// A function that asks twice: by the first answer it does something long or short, by the
    /// second it may return before something long.
    fn module() -> (Module, FunctionId) {
        let mut module = Module::default();
        let memory = module.memories.add_local(false, false, 1, Some(1), None);
        constants::replace(&mut module, memory, &[(0x1000, b"text".to_vec())]);
        let answer = module.locals.add(ValType::I32);
        let long = |body: &mut InstrSeqBuilder<'_>| {
            for _ in 0..LEAST {
                body.i32_const(7).drop();
            }
        };
        let mut function = FunctionBuilder::new(&mut module.types, &[ValType::I32], &[]);
        let mut body = function.func_body();
        body.local_get(answer).if_else(None, long, |short| {
            short.i32_const(8).drop();
        });
        body.block(None, |block| {
            let id = block.id();
            block.local_get(answer).br_if(id);
            long(block);
        });
        let function = function.finish(vec![answer], &mut module.funcs);
        (module, function)
    }

    /// Returns the number of instructions of the function that are left when all but one of its
    /// places were reached.
    fn left_without(place: usize) -> Result<usize> {
        let (mut module, id) = module();
        let count = places(module.funcs.get(id).kind.unwrap_local()).len();
        let reached = (0..count).filter(|mark| *mark != place).collect();
        let ran = Ran::new(&module, reached)?;
        let function = module.funcs.get_mut(id).kind.unwrap_local_mut();
        let all = size(function, function.entry_block(), 0);
        let saved = ran.leave_out(id.index(), function);
        let left = size(function, function.entry_block(), 0);
        let trap = usize::from(saved > 0);
        assert_eq!(left, all - saved + trap);
        Ok(left)
    }

    #[test]
    fn only_long_branches_that_did_not_run_are_left_out() -> Result<()> {
        let (long, short) = (2 * LEAST, 2);
        let all = 3 + long + short + 2 + long;
        assert_eq!(left_without(0)?, 1, "the function");
        assert_eq!(
            left_without(1)?,
            2 + long + short + 1,
            "the second question"
        );
        assert_eq!(left_without(2)?, all - 2 - long + 1, "what it is about");
        assert_eq!(
            left_without(3)?,
            all - long + 1,
            "after it may have returned"
        );
        assert_eq!(left_without(4)?, all, "the short branch");
        assert_eq!(left_without(5)?, all - long + 1, "the long branch");
        assert_eq!(left_without(6)?, all, "nothing");
        Ok(())
    }

    #[test]
    fn marks_after_those_of_the_branches_are_addresses_that_were_read() -> Result<()> {
        let (module, id) = module();
        let count = places(module.funcs.get(id).kind.unwrap_local()).len();
        let ran = Ran::new(&module, BTreeSet::from([0, count, count + 3]))?;
        assert_eq!(ran.read, BTreeSet::from([0x1000, 0x1003]));
        assert!(ran.began(id.index()));
        Ok(())
    }

    #[test]
    fn the_marks_are_in_a_memory_of_their_own() -> Result<()> {
        let (mut module, _) = module();
        mark(&mut module)?;
        let read = Module::from_buffer(&module.emit_wasm())?;
        let sizes = read.memories.iter().map(|memory| memory.initial);
        assert_eq!(sizes.collect::<Vec<_>>(), [1, 1]);
        let names: Vec<&str> = read.exports.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, EXPORTS);
        Ok(())
    }
}

//! Records which bytes of the program's constants are read.

use std::ops::Range;

use anyhow::{Context, Result};
use walrus::ir::{self, BinaryOp, Instr, InstrSeqId, Value};
use walrus::{LocalId, MemoryId, Module, ValType};

use crate::branches;

/// Returns the range of memory that a module writes before it starts.
pub fn written(module: &Module) -> Result<Range<u32>> {
    let mut written: Option<Range<u32>> = None;
    for data in module.data.iter() {
        let start = crate::constants::address(data)?;
        let end = start + u32::try_from(data.value.len())?;
        written = Some(match written {
            Some(all) => all.start.min(start)..all.end.max(end),
            None => start..end,
        });
    }
    written.context("the module has no data")
}

/// The locals of a function that notes its reads.
#[derive(Clone, Copy)]
struct Locals {
    /// The address of the read.
    address: LocalId,
    /// Its distance from the first constant.
    distance: LocalId,
    /// The number of bytes that are copied.
    count: LocalId,
}

/// The memory in which reads are recorded.
pub struct ReadRecorder {
    /// The memory of the notes.
    pub memory: MemoryId,
    /// The observed bytes.
    pub range: Range<u32>,
    /// The address of the notes: a byte for each observed byte, and one for all others.
    pub notes: u64,
}

impl ReadRecorder {
    /// Makes every function note its reads.
    pub fn mark(&self, module: &mut Module) {
        let functions: Vec<_> = module.funcs.iter_local().map(|(id, _)| id).collect();
        for id in functions {
            let [address, distance, count] = [(); 3].map(|()| module.locals.add(ValType::I32));
            let locals = Locals {
                address,
                distance,
                count,
            };
            let function = module.funcs.get_mut(id).kind.unwrap_local_mut();
            for sequence in branches::sequences(function) {
                self.mark_sequence(function, sequence, locals);
            }
        }
    }

    fn mark_sequence(
        &self,
        function: &mut walrus::LocalFunction,
        sequence: InstrSeqId,
        locals: Locals,
    ) {
        let mut noting = Vec::new();
        let instructions = &mut function.block_mut(sequence).instrs;
        for (instruction, place) in std::mem::take(instructions) {
            let mut add = |instruction: Instr| noting.push((instruction, place));
            match &instruction {
                Instr::Load(load) => {
                    add(ir::LocalTee {
                        local: locals.address,
                    }
                    .into());
                    self.record_read(locals, load.arg.offset as u32)
                        .into_iter()
                        .for_each(&mut add);
                }
                Instr::MemoryCopy(_) => {
                    add(ir::LocalSet {
                        local: locals.count,
                    }
                    .into());
                    add(ir::LocalTee {
                        local: locals.address,
                    }
                    .into());
                    self.record_read(locals, 0).into_iter().for_each(&mut add);
                    add(ir::LocalGet {
                        local: locals.count,
                    }
                    .into());
                }
                _ => {}
            }
            add(instruction);
        }
        function.block_mut(sequence).instrs = noting;
    }

    /// Writes the instructions that record a read at an offset from the address. All reads outside of
    /// the range have one note.
    fn record_read(&self, locals: Locals, offset: u32) -> [Instr; 11] {
        let size = self.range.end - self.range.start;
        let number = |number: u32| {
            let value = Value::I32(number.cast_signed());
            Instr::from(ir::Const { value })
        };
        let operation = |op| Instr::from(ir::Binop { op });
        let kind = ir::StoreKind::I32_8 { atomic: false };
        let arg = ir::MemArg {
            align: 1,
            offset: self.notes,
        };
        [
            ir::LocalGet {
                local: locals.address,
            }
            .into(),
            number(offset.wrapping_sub(self.range.start)),
            operation(BinaryOp::I32Add),
            ir::LocalTee {
                local: locals.distance,
            }
            .into(),
            number(size),
            ir::LocalGet {
                local: locals.distance,
            }
            .into(),
            number(size),
            operation(BinaryOp::I32LtU),
            ir::Select { ty: None }.into(),
            number(1),
            ir::Store {
                memory: self.memory,
                kind,
                arg,
            }
            .into(),
        ]
    }
}

//! Which bytes of the program's constants are read.

use std::ops::Range;

use anyhow::{Context, Result};
use walrus::ir::{self, BinaryOp, Instr, InstrSeqId, Value};
use walrus::{LocalId, MemoryId, Module, ValType};

use crate::branches;

/// Where a module writes into its memory before it starts: from the first byte to the last one.
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

/// The locals of a function that notes what it reads.
#[derive(Clone, Copy)]
struct Locals {
    /// The address of the read.
    address: LocalId,
    /// Its distance from the first constant.
    distance: LocalId,
    /// How many bytes are copied.
    count: LocalId,
}

/// Where it is noted.
pub struct Noting {
    /// The memory of the notes.
    pub memory: MemoryId,
    /// Which bytes are observed.
    pub range: Range<u32>,
    /// Where the notes begin: a byte for each observed byte, and one for all others.
    pub notes: u64,
}

impl Noting {
    /// Has every function note what it reads.
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
                    self.note(locals, load.arg.offset as u32)
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
                    self.note(locals, 0).into_iter().for_each(&mut add);
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

    /// Notes a read at an offset from the address. What is read elsewhere has one note.
    fn note(&self, locals: Locals, offset: u32) -> [Instr; 11] {
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

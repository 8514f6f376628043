//! The function table: its slots, and the stubs that call them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use walrus::ir::{self, Instr};
use walrus::{
    ConstExpr, ElementItems, ElementKind, FunctionBuilder, FunctionId, FunctionKind, LocalFunction,
    Module, TableId,
};

/// Finds the function table.
///
/// # Errors
/// If there is none, or several.
pub fn function_table(module: &Module) -> Result<TableId> {
    let table = module.tables.main_function_table()?;
    table.context("the module has no function table")
}

/// Reads the function table: the function in each slot.
///
/// # Errors
/// If a segment of the table has no fixed place, or no functions.
pub fn read(module: &Module) -> Result<BTreeMap<usize, usize>> {
    let mut slots = BTreeMap::new();
    for element in module.elements.iter() {
        let ElementKind::Active { offset, .. } = &element.kind else {
            bail!("a segment of the function table is passive: which part has it?");
        };
        let (ConstExpr::Value(ir::Value::I32(from)), ElementItems::Functions(functions)) =
            (offset, &element.items)
        else {
            bail!("a segment of the function table has no fixed place");
        };
        for (function, slot) in functions.iter().zip(usize::try_from(*from)?..) {
            slots.insert(slot, function.index());
        }
    }
    Ok(slots)
}

/// Assigns a slot to each function of the rest that the first part may call: the slots of the whole
/// module, and further ones for those of `called` that have none. Returns the function in each slot, and
/// the slot by which each function of `called` is called.
///
/// # Errors
/// If the function table cannot be read.
pub fn assign(
    module: &Module,
    rest: &BTreeSet<usize>,
    called: impl Iterator<Item = usize>,
) -> Result<(BTreeMap<usize, usize>, BTreeMap<usize, usize>)> {
    let mut slots = read(module)?;
    slots.retain(|_, function| rest.contains(function));
    let own: BTreeMap<usize, usize> = slots.iter().map(|(slot, one)| (*one, *slot)).collect();
    let mut free = usize::try_from(module.tables.get(function_table(module)?).initial)?;
    let mut by_function = BTreeMap::new();
    for function in called {
        let slot = own.get(&function).copied().unwrap_or_else(|| {
            slots.insert(free, function);
            free += 1;
            free - 1
        });
        by_function.insert(function, slot);
    }
    Ok((slots, by_function))
}

/// The trap for slots that a later part fills.
pub fn trap(module: &mut Module) -> FunctionId {
    let functions = module.funcs.iter_local();
    let mut traps = functions
        .filter(|(_, function)| is_trap(function))
        .map(|(id, _)| id);
    // An earlier split has added it.
    let added = traps.next();
    drop(traps);
    if let Some(trap) = added {
        return trap;
    }
    let mut trap = FunctionBuilder::new(&mut module.types, &[], &[]);
    trap.func_body().unreachable();
    trap.finish(Vec::new(), &mut module.funcs)
}

fn is_trap(function: &LocalFunction) -> bool {
    let instructions = &function.block(function.entry_block()).instrs;
    function.args.is_empty() && matches!(instructions.as_slice(), [(Instr::Unreachable(_), _)])
}

/// Returns whether an earlier split has added this function: a trap, or a stub. Such a function never moves, because a
/// stub for it would be as large.
pub fn is_of_split(function: &LocalFunction) -> bool {
    let instructions = &function.block(function.entry_block()).instrs;
    let mut last = instructions
        .iter()
        .rev()
        .map(|(instruction, _)| instruction);
    let is_call = matches!(last.next(), Some(Instr::CallIndirect(_)))
        && matches!(last.next(), Some(Instr::Const(_)));
    is_trap(function) || is_call && last.all(|one| matches!(one, Instr::LocalGet(_)))
}

/// Makes a function that passes its arguments to the function in a slot of the table.
pub fn stub(
    module: &mut Module,
    function: FunctionId,
    table: TableId,
    slot: usize,
) -> Result<FunctionKind> {
    let ty = module.funcs.get(function).ty();
    let (params, results) = (
        module.types.get(ty).params().to_vec(),
        module.types.get(ty).results().to_vec(),
    );
    let args: Vec<_> = params.iter().map(|ty| module.locals.add(*ty)).collect();
    let mut stub = FunctionBuilder::new(&mut module.types, &params, &results);
    let mut body = stub.func_body();
    for arg in &args {
        body.local_get(*arg);
    }
    body.i32_const(i32::try_from(slot)?)
        .call_indirect(ty, table);
    Ok(FunctionKind::Local(stub.local_func(args)))
}

/// Empties the function table.
pub fn clear(module: &mut Module) {
    let elements: Vec<_> = module.elements.iter().map(|element| element.id()).collect();
    for element in elements {
        module.elements.delete(element);
    }
    for table in module.tables.iter_mut() {
        table.elem_segments.clear();
    }
}

/// Puts functions into their slots of the function table as soon as the module is there.
pub fn fill(
    module: &mut Module,
    table: TableId,
    functions: &BTreeMap<usize, FunctionId>,
) -> Result<()> {
    let mut runs: Vec<(usize, Vec<FunctionId>)> = Vec::new();
    for (slot, function) in functions {
        match runs.last_mut() {
            Some((from, run)) if *from + run.len() == *slot => run.push(*function),
            _ => runs.push((*slot, vec![*function])),
        }
    }
    for (from, run) in runs {
        let offset = ConstExpr::Value(ir::Value::I32(i32::try_from(from)?));
        let element = module.elements.add(
            ElementKind::Active { table, offset },
            ElementItems::Functions(run),
        );
        module.tables.get_mut(table).elem_segments.insert(element);
    }
    Ok(())
}

//! The split itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::branches::{self, Ran};
use crate::constants::{self, LinearMemory};
use crate::imports;
use crate::slots;
use anyhow::{Context, Result};
use walrus::ir::{self, Visitor, dfs_in_order};
use walrus::{
    ExportItem, FunctionBuilder, FunctionId, FunctionKind, GlobalKind, ImportKind,
    ImportedFunction, Module, ModuleConfig, TableId,
};

/// Both parts.
pub struct Parts {
    /// The part that the first screen needs.
    pub first: Vec<u8>,
    /// The part that is loaded later.
    pub rest: Vec<u8>,
    /// The script of the first part.
    pub script: String,
    /// The number of functions in the first part.
    pub staying: usize,
    /// The number of functions that moved.
    pub moving: usize,
    /// The number of functions that stay without the branches that did not run.
    pub shortened: usize,
    /// The number of stubs through which the first part calls the rest.
    pub stubs: usize,
    /// The number of bytes of memory that the first part fills, and the number for the rest.
    pub constants: [usize; 2],
}

/// Instructions that a function must lose to be there twice, short and whole.
const WORTH_IT: usize = 14;

/// The name under which the rest imports the exports of the first part.
const FIRST: &str = "first";

/// Splits a module: the functions that ran by these marks of [`instrument`] stay, and the functions and constants that
/// they name. The linker wrote the map about the module, and wasm-bindgen the script for it.
///
/// # Errors
/// If the bytes are no wasm, or not that of a page.
pub fn split(wasm: &[u8], map: &str, marks: BTreeSet<usize>, script: &str) -> Result<Parts> {
    let first = parse(wasm)?;
    let rest = parse(wasm)?;
    let ran = Ran::new(&first, marks)?;
    let plan = SplitPlan::new(parse(wasm)?, &ran, map)?;
    let (first, script) = plan.first_part(first, &ran, script)?;
    let rest = plan.rest(rest)?;
    Ok(Parts {
        staying: plan.functions - plan.moving.len(),
        first,
        rest,
        script,
        moving: plan.moving.len(),
        shortened: plan.shortened.len(),
        stubs: plan.stubs.len(),
        constants: [&plan.memory.first, &plan.memory.rest].map(|all| constants::size(all)),
    })
}

/// Returns the module that notes the functions that run ([`branches::mark`]).
///
/// # Errors
/// If the bytes are no wasm.
pub fn instrument(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut module = parse(wasm)?;
    branches::mark(&mut module)?;
    Ok(module.emit_wasm())
}

fn parse(wasm: &[u8]) -> Result<Module> {
    let mut config = ModuleConfig::new();
    config.generate_name_section(false);
    config.generate_producers_section(false);
    config.parse(wasm)
}

/// The functions and globals that a function uses, by index, and every number in it that may be an
/// address.
#[derive(Default)]
struct Uses {
    functions: BTreeSet<usize>,
    globals: BTreeSet<usize>,
    addresses: BTreeSet<u32>,
}

impl Uses {
    /// Collects the uses of a function.
    fn read(function: &FunctionKind) -> Self {
        let mut used = Self::default();
        if let FunctionKind::Local(local) = function {
            dfs_in_order(&mut used, local, local.entry_block());
        }
        used
    }

    /// Joins the uses of several functions.
    fn union<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let mut used = Self::default();
        for one in all {
            used.functions.extend(&one.functions);
            used.globals.extend(&one.globals);
            used.addresses.extend(&one.addresses);
        }
        used
    }
}

impl<'instr> Visitor<'instr> for Uses {
    fn visit_function_id(&mut self, function: &FunctionId) {
        self.functions.insert(function.index());
    }

    fn visit_global_id(&mut self, global: &walrus::GlobalId) {
        self.globals.insert(global.index());
    }

    fn visit_value(&mut self, value: &ir::Value) {
        match value {
            ir::Value::I32(number) => {
                self.addresses.insert(number.cast_unsigned());
            }
            // An optimizer writes the address and the length of a text as one number.
            ir::Value::I64(number) => {
                let [low, high] = [*number, number >> 32].map(|half| half as u32);
                self.addresses.extend([low, high]);
            }
            _ => {}
        }
    }

    fn visit_load(&mut self, load: &ir::Load) {
        self.addresses.extend(u32::try_from(load.arg.offset));
    }

    fn visit_store(&mut self, store: &ir::Store) {
        self.addresses.extend(u32::try_from(store.arg.offset));
    }
}

/// All that can be reached from these functions through the functions that each one `uses`.
fn reachable<I>(mut open: Vec<usize>, uses: impl Fn(usize) -> I) -> BTreeSet<usize>
where
    I: Iterator<Item = usize>,
{
    let mut reached = BTreeSet::new();
    while let Some(function) = open.pop() {
        if reached.insert(function) {
            open.extend(uses(function));
        }
    }
    reached
}

/// The place of each function and global. Both are named by their index, which is the same each
/// time the module is read.
struct SplitPlan {
    functions: usize,
    moving: BTreeSet<usize>,
    /// Those that stay without the branches that did not run; the rest has the whole of them.
    shortened: BTreeSet<usize>,
    /// The slots of the function table that the rest fills, with their functions: those that were
    /// shortened, whose short form is in the slot until then, and those that moved and are used by the
    /// first part. A function keeps the slots that it has in the whole module; the slots of those that
    /// have none there follow.
    slots: BTreeMap<usize, usize>,
    /// The functions that the first part calls by a stub, and the slot that the stub calls. The others
    /// are called by their slots only.
    stubs: BTreeMap<usize, usize>,
    /// The names under which the rest imports functions of the first part.
    shared: BTreeMap<usize, String>,
    /// The same for globals.
    globals: BTreeMap<usize, String>,
    /// The content of the memory in both parts.
    memory: LinearMemory,
}

impl SplitPlan {
    fn new(mut module: Module, ran: &Ran, map: &str) -> Result<Self> {
        let functions = module.funcs.iter();
        let whole: BTreeMap<usize, Uses> = functions
            .map(|function| (function.id().index(), Uses::read(&function.kind)))
            .collect();
        let local: BTreeSet<usize> = module
            .funcs
            .iter_local()
            .map(|(id, _)| id.index())
            .collect();
        let called = called_by_browser(&module, &whole);
        let idle: BTreeSet<usize> = local
            .iter()
            .copied()
            .filter(|function| !called.contains(function) && !ran.began(*function))
            .collect();

        let long = local.difference(&idle).filter(|one| !called.contains(one));
        let short = shorten(&mut module, ran, long);
        let uses = |function: &usize| short.get(function).unwrap_or(&whole[function]);

        // What stays can be reached without going through a function that moves.
        let roots = roots(&module)?;
        let open = roots.difference(&idle).copied().collect();
        let staying = reachable(open, |function| {
            uses(&function).functions.difference(&idle).copied()
        });
        let moving: BTreeSet<usize> = local.difference(&staying).copied().collect();
        let shortened: BTreeSet<usize> = short.keys().copied().collect();
        let shortened: BTreeSet<usize> = shortened.intersection(&staying).copied().collect();

        let used = Uses::union(staying.iter().map(uses));
        let memory = LinearMemory::split(&module, map, &used.addresses, &ran.read)?;
        let in_rest: BTreeSet<usize> = moving.union(&shortened).copied().collect();
        let mut called = used.functions;
        called.extend(named(&module));
        let called = called.intersection(&in_rest).copied();
        let needed = Uses::union(in_rest.iter().map(|function| &whole[function]));
        let shared = needed.functions.difference(&in_rest).copied();
        let shared = in_written_order(&module, shared).into_iter().zip(0..);
        let globals = needed.globals.into_iter().zip(0..);
        let (slots, stubs) = slots::assign(&module, &in_rest, called)?;
        Ok(Self {
            functions: local.len(),
            moving,
            shortened,
            slots,
            stubs,
            shared: shared
                .map(|(function, n)| (function, short_name("f", n)))
                .collect(),
            globals: globals
                .map(|(global, n)| (global, short_name("g", n)))
                .collect(),
            memory,
        })
    }

    fn first_part(&self, mut module: Module, ran: &Ran, script: &str) -> Result<(Vec<u8>, String)> {
        let functions = by_index(&module);
        let table = slots::function_table(&module)?;
        self.grow(&mut module, table)?;
        // A slot is not empty until the rest fills it: one number for all compresses better.
        let mut trap = FunctionBuilder::new(&mut module.types, &[], &[]);
        trap.func_body().unreachable();
        let trap = trap.finish(Vec::new(), &mut module.funcs);
        let mut short = BTreeMap::new();
        for function in &self.shortened {
            let kind = &mut module.funcs.get_mut(functions[function]).kind;
            ran.leave_out(*function, kind.unwrap_local_mut());
            short.insert(function, functions[function]);
        }
        for (function, slot) in &self.stubs {
            let id = functions[function];
            let stub = slots::stub(&mut module, id, table, *slot)?;
            let kind = std::mem::replace(&mut module.funcs.get_mut(id).kind, stub);
            if let (Some(short), FunctionKind::Local(local)) = (short.get_mut(function), kind) {
                *short = module.funcs.add_local(local);
            }
        }
        let mut filled = slots::read(&module)?;
        filled.retain(|slot, _| !self.slots.contains_key(slot));
        let staying = filled
            .into_iter()
            .map(|(slot, one)| (slot, functions[&one]));
        let until_then = self.slots.iter();
        let until_then = until_then.map(|(slot, one)| (*slot, *short.get(one).unwrap_or(&trap)));
        let filled = staying.chain(until_then).collect();
        slots::clear(&mut module);
        slots::fill(&mut module, table, &filled)?;
        for function in in_written_order(&module, self.shared.keys().copied()) {
            let name = &self.shared[&function];
            module.exports.add(name, functions[&function]);
        }
        let globals: Vec<_> = module.globals.iter().map(|global| global.id()).collect();
        for global in globals {
            if let Some(name) = self.globals.get(&global.index()) {
                module.exports.add(name, global);
            }
        }
        let tables: Vec<_> = module.tables.iter().map(|table| table.id()).collect();
        for (n, table) in tables.into_iter().enumerate() {
            module.exports.add(&short_name("t", n), table);
        }
        let memory = module.memories.iter().next().context("no memory")?.id();
        module.exports.add("m", memory);
        constants::replace(&mut module, memory, &self.memory.first);
        let script = imports::shorten(&mut module, script)?;
        walrus::passes::gc::run(&mut module);
        Ok((module.emit_wasm(), script))
    }

    fn rest(&self, mut module: Module) -> Result<Vec<u8>> {
        let functions = by_index(&module);
        let exports: Vec<_> = module.exports.iter().map(|export| export.id()).collect();
        for export in exports {
            module.exports.delete(export);
        }
        slots::clear(&mut module);
        let imports: Vec<_> = module.imports.iter().map(|import| import.id()).collect();
        for import in imports {
            module.imports.delete(import);
        }
        for (function, name) in &self.shared {
            let id = functions[function];
            let ty = module.funcs.get(id).ty();
            let import = module.imports.add(FIRST, name, ImportKind::Function(id));
            module.funcs.get_mut(id).kind = FunctionKind::Import(ImportedFunction { import, ty });
        }
        let globals: Vec<_> = module.globals.iter().map(|global| global.id()).collect();
        for global in globals {
            if let Some(name) = self.globals.get(&global.index()) {
                let import = module.imports.add(FIRST, name, ImportKind::Global(global));
                module.globals.get_mut(global).kind = GlobalKind::Import(import);
            }
        }
        let memory = module.memories.iter().next().context("no memory")?.id();
        let import = module.imports.add(FIRST, "m", ImportKind::Memory(memory));
        let memory = module.memories.get_mut(memory);
        memory.import = Some(import);
        let memory = memory.id();
        constants::replace(&mut module, memory, &self.memory.rest);
        let table = slots::function_table(&module)?;
        self.grow(&mut module, table)?;
        let tables: Vec<_> = module.tables.iter().map(|table| table.id()).collect();
        for (n, id) in tables.into_iter().enumerate() {
            let name = short_name("t", n);
            let import = module.imports.add(FIRST, &name, ImportKind::Table(id));
            let imported = module.tables.get_mut(id);
            imported.import = Some(import);
        }
        let filled = self.slots.iter();
        let filled = filled.map(|(slot, function)| (*slot, functions[function]));
        slots::fill(&mut module, table, &filled.collect())?;
        walrus::passes::gc::run(&mut module);
        Ok(module.emit_wasm())
    }

    /// Makes the function table large enough for all slots.
    fn grow(&self, module: &mut Module, table: TableId) -> Result<()> {
        let end = self.slots.keys().last().map_or(0, |slot| slot + 1);
        let table = module.tables.get_mut(table);
        table.initial = table.initial.max(end.try_into()?);
        table.maximum = table.maximum.map(|most| most.max(table.initial));
        Ok(())
    }
}

/// Sorts functions as they are written, by size. Exports in this order, with names in this order, are alike: they
/// compress well.
fn in_written_order(module: &Module, functions: impl Iterator<Item = usize>) -> Vec<usize> {
    let ids = by_index(module);
    let mut sorted: Vec<usize> = functions.collect();
    sorted.sort_by_cached_key(|function| {
        let size = match &module.funcs.get(ids[function]).kind {
            FunctionKind::Local(local) => local.size(),
            _ => 0,
        };
        std::cmp::Reverse(size)
    });
    sorted
}

/// Shortens those of the functions that are worth it. Returns the functions that each of them uses from then on.
fn shorten<'a>(
    module: &mut Module,
    ran: &Ran,
    functions: impl Iterator<Item = &'a usize>,
) -> BTreeMap<usize, Uses> {
    let all = by_index(module);
    let mut short = BTreeMap::new();
    for function in functions {
        let kind = &mut module.funcs.get_mut(all[function]).kind;
        if ran.leave_out(*function, kind.unwrap_local_mut()) >= WORTH_IT {
            short.insert(*function, Uses::read(kind));
        }
    }
    short
}

fn by_index(module: &Module) -> BTreeMap<usize, FunctionId> {
    let functions = module.funcs.iter();
    functions
        .map(|function| (function.id().index(), function.id()))
        .collect()
}

/// Finds the functions that the script may call before the rest is there: an import that throws
/// stores its error, for example.
fn called_by_browser(module: &Module, uses: &BTreeMap<usize, Uses>) -> BTreeSet<usize> {
    let mut open = Vec::new();
    for export in module.exports.iter() {
        if let ExportItem::Function(function) = export.item
            && export.name.starts_with("__")
        {
            open.push(function.index());
        }
    }
    let mut called = BTreeSet::new();
    while let Some(function) = open.pop() {
        if called.insert(function) {
            open.extend(&uses[&function].functions);
        }
    }
    called
}

/// Finds the functions that may run without a direct call: those that have a name, or are in the
/// function table.
///
/// # Errors
/// If the function table cannot be read.
fn roots(module: &Module) -> Result<BTreeSet<usize>> {
    let mut roots = named(module);
    roots.extend(slots::read(module)?.into_values());
    Ok(roots)
}

/// Finds the functions that start or are exported.
fn named(module: &Module) -> BTreeSet<usize> {
    let mut named = BTreeSet::new();
    named.extend(module.start.map(|start| start.index()));
    for export in module.exports.iter() {
        if let ExportItem::Function(function) = export.item {
            named.insert(function.index());
        }
    }
    named
}

/// A name of few bytes: `f0`, `f1`, …, in base 36.
pub fn short_name(kind: &str, number: usize) -> String {
    let mut digits = Vec::new();
    let mut left = number;
    loop {
        digits.push(char::from_digit((left % 36) as u32, 36).unwrap_or('0'));
        left /= 36;
        if left == 0 {
            break;
        }
    }
    kind.chars().chain(digits.into_iter().rev()).collect()
}

#[cfg(test)]
mod tests;

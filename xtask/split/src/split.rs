//! The split itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::branches::{self, Ran};
use crate::constants::{self, LinearMemory};
use crate::slots;
use anyhow::{Context, Result};
use walrus::ir::{self, Visitor, dfs_in_order};
use walrus::{
    Export, ExportItem, FunctionId, FunctionKind, GlobalKind, ImportKind, ImportedFunction, Module,
    ModuleConfig, TableId,
};

/// Both parts.
pub struct Parts {
    /// The part with what ran.
    pub first: Vec<u8>,
    /// The part that is loaded later.
    pub rest: Vec<u8>,
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

/// The name under which a later part imports the exports of the earlier ones.
pub const FIRST: &str = "first";

/// The first character of the name of an export that only a later part imports. No name in a script has it.
const OF_PARTS: char = '.';

/// Splits a module: the functions that ran by these marks of [`instrument`] stay, and the functions and constants that
/// they name. The linker wrote the map about the module. The first part of a split can be split again: then the rest of
/// the first split imports from both parts of the second.
///
/// # Errors
/// If the bytes are no wasm, or not that of a page.
pub fn split(wasm: &[u8], map: &str, marks: BTreeSet<usize>) -> Result<Parts> {
    let first = parse(wasm)?;
    let rest = parse(wasm)?;
    let ran = Ran::new(&first, marks)?;
    let plan = SplitPlan::new(parse(wasm)?, &ran, map)?;
    let first = plan.first_part(first, &ran)?;
    let rest = plan.rest(rest)?;
    Ok(Parts {
        staying: plan.functions - plan.moving.len(),
        first,
        rest,
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

/// Reads a module, without names.
///
/// # Errors
/// If the bytes are no wasm.
pub fn parse(wasm: &[u8]) -> Result<Module> {
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
        let functions = module.funcs.iter_local();
        let local: BTreeSet<usize> = functions.map(|(id, _)| id.index()).collect();
        let functions = module.funcs.iter_local();
        let of_split = functions.filter(|(_, function)| slots::is_of_split(function));
        let of_split: BTreeSet<usize> = of_split.map(|(id, _)| id.index()).collect();
        let called = called_by_browser(&module, &whole);
        let used = |function: &usize| {
            called.contains(function) || of_split.contains(function) || ran.began(*function)
        };
        let idle: BTreeSet<usize> = local.iter().copied().filter(|one| !used(one)).collect();

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
        called.extend(named(&module, |export| !is_of_parts(export)));
        let called = called.intersection(&in_rest).copied();
        let needed = Uses::union(in_rest.iter().map(|function| &whole[function]));
        let shared = needed.functions.difference(&in_rest).copied();
        let shared = in_written_order(&module, shared);
        let (slots, stubs) = slots::assign(&module, &in_rest, called)?;
        Ok(Self {
            functions: local.len(),
            moving,
            shortened,
            slots,
            stubs,
            shared: shared.into_iter().zip(free_names(&module, "f")).collect(),
            globals: needed
                .globals
                .into_iter()
                .zip(free_names(&module, "g"))
                .collect(),
            memory,
        })
    }

    fn first_part(&self, mut module: Module, ran: &Ran) -> Result<Vec<u8>> {
        let functions = by_index(&module);
        let table = slots::function_table(&module)?;
        self.grow(&mut module, table)?;
        self.remove_exports(&mut module, |of_rest| !of_rest);
        // A slot is not empty until the rest fills it: one number for all compresses better.
        let trap = slots::trap(&mut module);
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
        let tables = tables.into_iter().map(ExportItem::Table).zip(0..);
        let tables: Vec<_> = tables.map(|(item, n)| (short_name("t", n), item)).collect();
        let memory = module.memories.iter().next().context("no memory")?.id();
        let whole = [(short_name("m", 0), ExportItem::Memory(memory))];
        for (name, item) in tables.into_iter().chain(whole) {
            // An earlier split has exported it.
            if module.exports.iter().all(|export| export.name != name) {
                module.exports.add(&name, item);
            }
        }
        constants::replace(&mut module, memory, &self.memory.first);
        walrus::passes::gc::run(&mut module);
        Ok(module.emit_wasm())
    }

    fn rest(&self, mut module: Module) -> Result<Vec<u8>> {
        let functions = by_index(&module);
        self.remove_exports(&mut module, |of_rest| of_rest);
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
        let name = short_name("m", 0);
        let import = module.imports.add(FIRST, &name, ImportKind::Memory(memory));
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
            // Another split of the first part makes the table larger.
            imported.maximum = None;
        }
        let filled = self.slots.iter();
        let filled = filled.map(|(slot, function)| (*slot, functions[function]));
        slots::fill(&mut module, table, &filled.collect())?;
        walrus::passes::gc::run(&mut module);
        Ok(module.emit_wasm())
    }

    /// Removes the exports of the other part. The rest has those that another part imports, of the functions that it
    /// has whole; the first part has all others.
    fn remove_exports(&self, module: &mut Module, keeps: impl Fn(bool) -> bool) {
        let is_of_rest = |export: &Export| match export.item {
            ExportItem::Function(function) if is_of_parts(export) => {
                let function = function.index();
                self.moving.contains(&function) || self.shortened.contains(&function)
            }
            _ => false,
        };
        let others = module
            .exports
            .iter()
            .filter(|export| !keeps(is_of_rest(export)));
        let others: Vec<_> = others.map(|export| export.id()).collect();
        for export in others {
            module.exports.delete(export);
        }
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
pub fn in_written_order(module: &Module, functions: impl Iterator<Item = usize>) -> Vec<usize> {
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

/// Shortens each of the functions that then loses [`branches::LEAST`] instructions. Returns the functions that each
/// shortened function still uses.
fn shorten<'a>(
    module: &mut Module,
    ran: &Ran,
    functions: impl Iterator<Item = &'a usize>,
) -> BTreeMap<usize, Uses> {
    let all = by_index(module);
    let mut short = BTreeMap::new();
    for function in functions {
        let kind = &mut module.funcs.get_mut(all[function]).kind;
        if ran.leave_out(*function, kind.unwrap_local_mut()) >= branches::LEAST {
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
    let mut roots = named(module, |_| true);
    roots.extend(slots::read(module)?.into_values());
    Ok(roots)
}

/// Returns whether only a later part imports this.
pub fn is_of_parts(export: &Export) -> bool {
    export.name.starts_with(OF_PARTS)
}

/// Finds the functions that start, and those of these exports.
fn named(module: &Module, exports: impl Fn(&Export) -> bool) -> BTreeSet<usize> {
    let mut named = BTreeSet::new();
    named.extend(module.start.map(|start| start.index()));
    for export in module.exports.iter().filter(|export| exports(export)) {
        if let ExportItem::Function(function) = export.item {
            named.insert(function.index());
        }
    }
    named
}

/// The names for exports of a kind that the module does not have.
fn free_names(module: &Module, kind: &'static str) -> impl Iterator<Item = String> {
    let taken: BTreeSet<String> = module.exports.iter().map(|one| one.name.clone()).collect();
    let names = (0..).map(move |number| short_name(kind, number));
    names.filter(move |name| !taken.contains(name))
}

/// A name of few bytes for an export that a later part imports: `.f0`, `.f1`, …
pub fn short_name(kind: &str, number: usize) -> String {
    format!("{OF_PARTS}{kind}{}", in_base_36(number))
}

/// A number with few digits: `0` to `9`, `a` to `z`.
pub fn in_base_36(number: usize) -> String {
    let mut digits = Vec::new();
    let mut left = number;
    loop {
        digits.push(char::from_digit((left % 36) as u32, 36).unwrap_or('0'));
        left /= 36;
        if left == 0 {
            break;
        }
    }
    digits.into_iter().rev().collect()
}

#[cfg(test)]
mod tests;

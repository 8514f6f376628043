//! The split itself.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use walrus::ir::{self, Visitor, dfs_in_order};
use walrus::{
    ConstExpr, DataKind, ElementItems, ElementKind, ExportItem, FunctionBuilder, FunctionId,
    FunctionKind, GlobalKind, ImportKind, ImportedFunction, Module, ModuleConfig, ValType,
};

/// Both parts.
pub struct Parts {
    /// What the first screen needs.
    pub first: Vec<u8>,
    /// What is loaded later.
    pub rest: Vec<u8>,
    /// How many functions are in the first part.
    pub staying: usize,
    /// How many moved.
    pub moving: usize,
    /// By how many ways the first part calls the rest.
    pub stubs: usize,
}

/// The name under which the rest imports what the first part exports.
const FIRST: &str = "first";

/// Splits a module: the functions of these numbers, as [`instrument`] gave them, stay, and what
/// they cannot do without.
///
/// # Errors
/// If the bytes are no wasm, or not that of a page.
pub fn split(wasm: &[u8], ran: &BTreeSet<usize>) -> Result<Parts> {
    let first = parse(wasm)?;
    let rest = parse(wasm)?;
    let plan = Plan::new(&first, ran)?;
    let moving = plan.moving.len();
    let stubs = plan.slots.len();
    let first = plan.first_part(first)?;
    let rest = plan.rest(rest)?;
    Ok(Parts {
        staying: plan.functions - moving,
        first,
        rest,
        moving,
        stubs,
    })
}

/// The module with a global for each function that says whether it ran: exported as `ran ` and
/// the function's number.
///
/// # Errors
/// If the bytes are no wasm.
pub fn instrument(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut module = parse(wasm)?;
    let functions: Vec<FunctionId> = module.funcs.iter_local().map(|(id, _)| id).collect();
    for id in functions {
        let no = ConstExpr::Value(ir::Value::I32(0));
        let ran = module.globals.add_local(ValType::I32, true, false, no);
        module.exports.add(&format!("ran {}", id.index()), ran);
        let local = module.funcs.get_mut(id).kind.unwrap_local_mut();
        let mut body = local.builder_mut().func_body();
        body.const_at(0, ir::Value::I32(1)).global_set_at(1, ran);
    }
    Ok(module.emit_wasm())
}

fn parse(wasm: &[u8]) -> Result<Module> {
    let mut config = ModuleConfig::new();
    config.generate_name_section(false);
    config.generate_producers_section(false);
    config.parse(wasm)
}

/// What a function calls, points at and reads, by index.
#[derive(Default)]
struct Uses {
    functions: BTreeSet<usize>,
    globals: BTreeSet<usize>,
}

impl<'instr> Visitor<'instr> for Uses {
    fn visit_function_id(&mut self, function: &FunctionId) {
        self.functions.insert(function.index());
    }

    fn visit_global_id(&mut self, global: &walrus::GlobalId) {
        self.globals.insert(global.index());
    }
}

/// Who goes where. Functions and globals are named by their index, which is the same in every
/// reading of the module.
struct Plan {
    functions: usize,
    moving: BTreeSet<usize>,
    /// The function table's slot of each function that moves and is used by one that stays.
    slots: BTreeMap<usize, usize>,
    /// Where the slots begin: after the table as it was.
    base: usize,
    /// Under which name the rest imports a function that stays.
    shared: BTreeMap<usize, String>,
    /// The same for globals.
    globals: BTreeMap<usize, String>,
}

impl Plan {
    fn new(module: &Module, ran: &BTreeSet<usize>) -> Result<Self> {
        let mut uses = BTreeMap::new();
        let mut idle = BTreeSet::new();
        for function in module.funcs.iter() {
            let index = function.id().index();
            let mut used = Uses::default();
            if let FunctionKind::Local(local) = &function.kind {
                dfs_in_order(&mut used, local, local.entry_block());
                if !ran.contains(&index) {
                    idle.insert(index);
                }
            }
            uses.insert(index, used);
        }

        // What the browser's side calls may be called before the rest is there: an import that
        // throws, say, has its error stored.
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
        idle.retain(|function| !called.contains(function));

        // What stays: all that can be reached without going through one that moves.
        let mut roots = BTreeSet::new();
        roots.extend(module.start.map(|start| start.index()));
        for export in module.exports.iter() {
            if let ExportItem::Function(function) = export.item {
                roots.insert(function.index());
            }
        }
        for element in module.elements.iter() {
            if let ElementItems::Functions(functions) = &element.items {
                roots.extend(functions.iter().map(|function| function.index()));
            }
        }
        let mut staying: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<usize> = roots.difference(&idle).copied().collect();
        while let Some(function) = open.pop() {
            if staying.insert(function) {
                open.extend(uses[&function].functions.difference(&idle));
            }
        }
        let local: BTreeSet<usize> = module
            .funcs
            .iter_local()
            .map(|(id, _)| id.index())
            .collect();
        let moving: BTreeSet<usize> = local.difference(&staying).copied().collect();

        let table = module.tables.main_function_table()?;
        let table = module
            .tables
            .get(table.context("the module has no function table")?);
        let base = usize::try_from(table.initial)?;
        let used_by = |functions: &BTreeSet<usize>| -> (BTreeSet<usize>, BTreeSet<usize>) {
            let mut used = (BTreeSet::new(), BTreeSet::new());
            for function in functions {
                used.0.extend(&uses[function].functions);
                used.1.extend(&uses[function].globals);
            }
            used
        };
        let mut called = used_by(&staying).0;
        called.extend(&roots);
        let slots = called.intersection(&moving).copied().zip(base..).collect();
        let (needed, globals) = used_by(&moving);
        let shared = needed.difference(&moving).copied().zip(0..);
        let shared = shared
            .map(|(function, n)| (function, short("f", n)))
            .collect();
        let globals = globals.into_iter().zip(0..);
        Ok(Self {
            functions: local.len(),
            moving,
            slots,
            base,
            shared,
            globals: globals.map(|(global, n)| (global, short("g", n))).collect(),
        })
    }

    fn first_part(&self, mut module: Module) -> Result<Vec<u8>> {
        let functions: BTreeMap<usize, FunctionId> = module
            .funcs
            .iter()
            .map(|function| (function.id().index(), function.id()))
            .collect();
        let table = module.tables.main_function_table()?;
        let table = table.context("the module has no function table")?;
        let size = self.base + self.slots.len();
        {
            let table = module.tables.get_mut(table);
            table.initial = size.try_into()?;
            table.maximum = table.maximum.map(|most| most.max(table.initial));
        }
        for (function, slot) in &self.slots {
            let id = functions[function];
            let ty = module.funcs.get(id).ty();
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
            body.i32_const(i32::try_from(*slot)?)
                .call_indirect(ty, table);
            module.funcs.get_mut(id).kind = FunctionKind::Local(stub.local_func(args));
        }
        // In the order in which functions are written, by size, so that what follows is alike.
        let mut shared: Vec<_> = self.shared.iter().collect();
        shared.sort_by_key(|(function, _)| {
            let function = module.funcs.get(functions[*function]);
            let size = match &function.kind {
                FunctionKind::Local(local) => local.size(),
                _ => 0,
            };
            std::cmp::Reverse(size)
        });
        for (function, name) in shared {
            module.exports.add(name, functions[function]);
        }
        let globals: Vec<_> = module.globals.iter().map(|global| global.id()).collect();
        for global in globals {
            if let Some(name) = self.globals.get(&global.index()) {
                module.exports.add(name, global);
            }
        }
        let tables: Vec<_> = module.tables.iter().map(|table| table.id()).collect();
        for (n, table) in tables.into_iter().enumerate() {
            module.exports.add(&short("t", n), table);
        }
        let memory = module.memories.iter().next().context("no memory")?.id();
        module.exports.add("m", memory);
        walrus::passes::gc::run(&mut module);
        Ok(module.emit_wasm())
    }

    fn rest(&self, mut module: Module) -> Result<Vec<u8>> {
        let functions: BTreeMap<usize, FunctionId> = module
            .funcs
            .iter()
            .map(|function| (function.id().index(), function.id()))
            .collect();
        let exports: Vec<_> = module.exports.iter().map(|export| export.id()).collect();
        for export in exports {
            module.exports.delete(export);
        }
        let elements: Vec<_> = module.elements.iter().map(|element| element.id()).collect();
        for element in elements {
            module.elements.delete(element);
        }
        let data: Vec<_> = module
            .data
            .iter()
            .map(|data| (data.id(), matches!(data.kind, DataKind::Active { .. })))
            .collect();
        for (data, active) in data {
            anyhow::ensure!(active, "a data segment is passive: which part has it?");
            module.data.delete(data);
        }
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
        memory.data_segments.clear();
        let table = module
            .tables
            .main_function_table()?
            .context("no function table")?;
        let tables: Vec<_> = module.tables.iter().map(|table| table.id()).collect();
        for (n, id) in tables.into_iter().enumerate() {
            let name = short("t", n);
            let import = module.imports.add(FIRST, &name, ImportKind::Table(id));
            let imported = module.tables.get_mut(id);
            imported.import = Some(import);
            imported.elem_segments.clear();
            if id == table {
                imported.initial = (self.base + self.slots.len()).try_into()?;
                imported.maximum = imported.maximum.map(|most| most.max(imported.initial));
            }
        }
        let offset = ConstExpr::Value(ir::Value::I32(i32::try_from(self.base)?));
        let moved = self
            .slots
            .keys()
            .map(|function| functions[function])
            .collect();
        let element = module.elements.add(
            ElementKind::Active { table, offset },
            ElementItems::Functions(moved),
        );
        module.tables.get_mut(table).elem_segments.insert(element);
        walrus::passes::gc::run(&mut module);
        Ok(module.emit_wasm())
    }
}

/// A name of few bytes: `f0`, `f1`, …, in base 36.
fn short(kind: &str, number: usize) -> String {
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

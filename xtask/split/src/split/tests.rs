use super::*;
use crate::imports;
use walrus::{FunctionBuilder, RefType, ValType};

const MAP: &str = "    1000      120       20         a.o:(.rodata..La.1)";

/// A program whose main function calls `called`, as `in_table` does. In the function table are, from slot 1 on,
/// `called`, `in_table` and the main function. Every function but the import returns its own number.
fn program() -> Result<Vec<u8>> {
    let mut module = Module::default();
    let memory = module.memories.add_local(false, false, 1, None, None);
    constants::replace(&mut module, memory, &[(0x1000, vec![b'a'; 32])]);
    let none = module.types.add(&[], &[]);
    let (import, _) = module.add_import_func("./page_bg.js", "one_abc", none);
    let mut function = |number: i32, calls: &[FunctionId]| {
        let mut function = FunctionBuilder::new(&mut module.types, &[], &[ValType::I32]);
        let mut body = function.func_body();
        for callee in calls {
            body.call(*callee);
            if *callee != import {
                body.drop();
            }
        }
        body.i32_const(0x1000).drop();
        body.i32_const(number);
        function.finish(Vec::new(), &mut module.funcs)
    };
    let called = function(1, &[]);
    let in_table = function(2, &[called]);
    let main = function(3, &[import, called]);
    module.exports.add("main", main);
    let table = module.tables.add_local(false, 4, Some(4), RefType::FUNCREF);
    let slots = [(1, called), (2, in_table), (3, main)];
    slots::fill(&mut module, table, &slots.into_iter().collect())?;
    Ok(module.emit_wasm())
}

/// Returns what a function of the program is: its number; `None` if it is another one.
fn number(module: &Module, id: FunctionId) -> Option<i32> {
    let FunctionKind::Local(local) = &module.funcs.get(id).kind else {
        return None;
    };
    match local.block(local.entry_block()).instrs.last()?.0 {
        ir::Instr::Const(ir::Const {
            value: ir::Value::I32(number),
        }) => Some(number),
        _ => None,
    }
}

/// The numbers of the functions in the slots of a module.
fn numbers(module: &Module) -> Result<Vec<(usize, Option<i32>)>> {
    let functions = by_index(module);
    let slots = slots::read(module)?.into_iter();
    let numbers = slots.map(|(slot, function)| (slot, number(module, functions[&function])));
    Ok(numbers.collect())
}

/// The marks of these functions of a program, by their numbers. Each function has one place, so one mark.
fn marks(wasm: &[u8], functions: &[i32]) -> Result<BTreeSet<usize>> {
    let module = parse(wasm)?;
    let mut marks = BTreeSet::new();
    for (mark, (id, _)) in module.funcs.iter_local().enumerate() {
        marks.extend(
            number(&module, id)
                .filter(|one| functions.contains(one))
                .map(|_| mark),
        );
    }
    Ok(marks)
}

#[test]
fn the_rest_fills_the_slots_of_the_functions_that_moved() -> Result<()> {
    let parts = split(&program()?, MAP, marks(&program()?, &[3])?)?;
    assert_eq!((parts.staying, parts.moving, parts.stubs), (1, 2, 1));
    let [first, rest] = [parse(&parts.first)?, parse(&parts.rest)?];
    assert_eq!(numbers(&first)?, [(1, None), (2, None), (3, Some(3))]);
    assert_eq!(numbers(&rest)?, [(1, Some(1)), (2, Some(2))]);

    let slots = slots::read(&first)?;
    assert_eq!(slots[&1], slots[&2], "one trap is in all empty slots");
    // The main function, the stub of `called`, and the trap.
    assert_eq!(first.funcs.iter_local().count(), 3);
    Ok(())
}

#[test]
fn a_function_that_is_called_and_in_no_slot_gets_one() -> Result<()> {
    let mut whole = parse(&program()?)?;
    slots::clear(&mut whole);
    let table = slots::function_table(&whole)?;
    let main = whole.funcs.iter_local().map(|(id, _)| id);
    let main = main.filter(|id| number(&whole, *id) == Some(3));
    let slots = main.map(|id| (3, id)).collect();
    slots::fill(&mut whole, table, &slots)?;
    let whole = whole.emit_wasm();
    let parts = split(&whole, MAP, marks(&whole, &[3])?)?;
    let [first, rest] = [parse(&parts.first)?, parse(&parts.rest)?];
    assert_eq!(numbers(&first)?, [(3, Some(3)), (4, None)]);
    assert_eq!(numbers(&rest)?, [(4, Some(1))]);
    let size = |module: &Module| -> Result<u64> {
        Ok(module.tables.get(slots::function_table(module)?).initial)
    };
    assert_eq!([size(&first)?, size(&rest)?], [5, 5]);
    Ok(())
}

#[test]
fn the_first_part_can_be_split_again_and_each_part_finds_what_it_imports() -> Result<()> {
    let whole = split(&program()?, MAP, marks(&program()?, &[1, 3])?)?;
    let again = split(&whole.first, MAP, marks(&whole.first, &[3])?)?;
    assert_eq!((again.staying, again.moving), (2, 1), "the trap stays too");
    let mut parts = [
        parse(&again.first)?,
        parse(&again.rest)?,
        parse(&whole.rest)?,
    ];
    imports::join(&mut parts)?;
    let [first, second, third] = &parts;
    assert_eq!(numbers(first)?, [(1, None), (2, None), (3, Some(3))]);
    assert_eq!(numbers(second)?, [(1, Some(1))]);
    assert_eq!(numbers(third)?, [(2, Some(2))]);

    let mut exported = BTreeSet::new();
    for (part, imported) in parts.iter().zip([0, 1, 2]) {
        let names = part.imports.iter().filter(|import| import.module == FIRST);
        let names: Vec<String> = names.map(|import| import.name.clone()).collect();
        assert_eq!(names.len(), imported, "{names:?}");
        for name in names {
            assert!(exported.contains(&name), "{name}");
        }
        exported.extend(part.exports.iter().map(|export| export.name.clone()));
    }
    // The table and the memory of the first part, and what the third part calls in the second.
    let of_parts = [first, second, third]
        .map(|part| part.exports.iter().filter(|one| is_of_parts(one)).count());
    assert_eq!(of_parts, [2, 1, 0]);
    let traps = first
        .funcs
        .iter_local()
        .filter(|(_, one)| slots::is_of_split(one));
    assert_eq!(traps.count(), 2, "one trap, and the stub of `called`");
    Ok(())
}

//! Short names for imports: those of the program from its script, and those of a part from the earlier parts.
//! wasm-bindgen gives each function a name with a hash, which is in both files and does not compress.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use walrus::{ExportId, ExportItem, Module};

use crate::split::{FIRST, in_base_36, in_written_order, is_of_parts, short_name};

/// The module that the program imports from.
const MODULE: &str = "a";

/// Gives everything that a part imports from the parts before it one short name, in the order in which it is written.
/// Several splits name it several times, and in no order.
///
/// # Errors
/// If a part imports what no part before it exports.
pub fn join(parts: &mut [Module]) -> Result<()> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for part in parts {
        for import in part.imports.iter_mut().filter(|one| one.module == FIRST) {
            let name = names.get(&import.name);
            let name = name.with_context(|| format!("nothing exports {}", import.name))?;
            import.name.clone_from(name);
        }
        for (item, exports) in exported_items(part) {
            let name = short_name("", names.len());
            for export in exports {
                let before = part.exports.get(export).name.clone();
                names.insert(before, name.clone());
                part.exports.delete(export);
            }
            part.exports.add(&name, item);
        }
    }
    Ok(())
}

/// All that a part exports for later parts, with its exports: functions in the order in which they are written, then
/// all other items.
fn exported_items(part: &Module) -> Vec<(ExportItem, Vec<ExportId>)> {
    let mut functions: BTreeMap<usize, (ExportItem, Vec<ExportId>)> = BTreeMap::new();
    let mut others = Vec::new();
    for export in part.exports.iter().filter(|export| is_of_parts(export)) {
        match export.item {
            ExportItem::Function(function) => {
                let exports = functions.entry(function.index());
                let exports = exports.or_insert_with(|| (export.item, Vec::new()));
                exports.1.push(export.id());
            }
            item => others.push((item, vec![export.id()])),
        }
    }
    let sorted = in_written_order(part, functions.keys().copied());
    let sorted = sorted
        .iter()
        .filter_map(|function| functions.remove(function));
    sorted.chain(others).collect()
}

/// Shortens the names of the imports in the module, and returns the script with the same names.
///
/// # Errors
/// If the script does not define each import once.
pub fn shorten(module: &mut Module, script: &str) -> Result<String> {
    let mut script = script.to_owned();
    let mut modules = Vec::new();
    for (number, import) in module.imports.iter_mut().enumerate() {
        let name = format!("i{}", in_base_36(number));
        let long = format!(" {}: function(", import.name);
        script = replaced(&script, &long, &format!(" {name}("))?;
        import.name = name;
        let long = std::mem::replace(&mut import.module, MODULE.to_owned());
        if !modules.contains(&long) {
            modules.push(long);
        }
    }
    let [long] = modules.as_slice() else {
        anyhow::bail!("the program imports from several modules: {modules:?}");
    };
    replaced(
        &script,
        &format!("\"{long}\": "),
        &format!("\"{MODULE}\": "),
    )
}

/// The script with another text in the place of one that it has once.
fn replaced(script: &str, long: &str, short: &str) -> Result<String> {
    let (before, after) = script
        .split_once(long)
        .filter(|(_, after)| !after.contains(long))
        .with_context(|| format!("the script does not have once: {long}"))?;
    Ok(format!("{before}{short}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(names: &[&str]) -> Module {
        let mut module = Module::default();
        let ty = module.types.add(&[], &[]);
        for name in names {
            module.add_import_func("./page_bg.js", name, ty);
        }
        module
    }

    const SCRIPT: &str = "const import0 = {
        one_abc: function() {}, two_def: function(a) {}, };
        return { \"./page_bg.js\": import0 };";

    #[test]
    fn the_program_and_its_script_agree_on_short_names() -> Result<()> {
        let mut module = module(&["two_def", "one_abc"]);
        let script = shorten(&mut module, SCRIPT)?;
        let names = module.imports.iter();
        let names: Vec<_> = names
            .map(|import| (&*import.module, &*import.name))
            .collect();
        assert_eq!(names, [("a", "i0"), ("a", "i1")]);
        let expected = "const import0 = {
        i1() {}, i0(a) {}, };
        return { \"a\": import0 };";
        assert_eq!(script, expected);
        Ok(())
    }

    #[test]
    fn a_script_of_another_program_is_refused() {
        assert!(shorten(&mut module(&["three"]), SCRIPT).is_err());
        assert!(shorten(&mut module(&["one_abc"]), &SCRIPT.repeat(2)).is_err());
    }
}

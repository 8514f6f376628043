//! Splits the program of the page in two: the first file has the code that runs until the page is
//! drawn. The page loads the rest as soon as it is drawn (`frontend/src/start.js`).
//!
//! - `optimist-split WASM INSTRUMENTED` writes a program that records which branches run.
//! - `optimist-split WASM FIRST REST RAN MAP SCRIPT` reads the same file, the numbers of the branches
//!   that ran, the map of the linker, and the script of the program; writes both parts, and the script
//!   with the names of imports that the first part has.
//!
//! Of a function that stays, the first part has the branches that ran, and a trap in the place of
//! each other branch. The rest has the whole function, which replaces the first in its slot of the
//! function table.
//!
//! Constants are split in the same way (`constants.rs`): the first part has those that it may read, and
//! the rest writes all others into the memory.
//!
//! A function that stays may call one that moved. It then calls a stub, which calls a slot of the
//! function table that the rest fills. A function that is only called by its slot has no stub. A call
//! before the rest is there traps. The page prevents such calls: it ignores the user until then. If it
//! traps all the same, it opens again with both files.

mod branches;
mod constants;
mod imports;
mod reads;
mod slots;
mod split;

use std::collections::BTreeSet;
use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("optimist-split: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let read = |path: &String| fs::read(path).with_context(|| path.clone());
    let write = |path: &String, bytes: &[u8]| fs::write(path, bytes).with_context(|| path.clone());
    match arguments.as_slice() {
        [wasm, instrumented] => write(instrumented, &split::instrument(&read(wasm)?)?),
        [wasm, first, rest, ran, map, script] => {
            let numbers = fs::read_to_string(ran).with_context(|| ran.clone())?;
            let numbers: Result<BTreeSet<usize>, _> = numbers.lines().map(str::parse).collect();
            let numbers = numbers.with_context(|| format!("{ran}: not a number a line"))?;
            let map = fs::read_to_string(map).with_context(|| map.clone())?;
            let text = fs::read_to_string(script).with_context(|| script.clone())?;
            let parts = split::split(&read(wasm)?, &map, numbers, &text)?;
            write(script, parts.script.as_bytes())?;
            write(first, &parts.first)?;
            write(rest, &parts.rest)?;
            println!(
                "{} functions stay, {} of them without branches, {} move, {} stubs",
                parts.staying, parts.shortened, parts.moving, parts.stubs
            );
            let [first, rest] = parts.constants;
            println!("{first} bytes of constants stay, {rest} move");
            Ok(())
        }
        _ => bail!("usage: optimist-split WASM INSTRUMENTED, or WASM FIRST REST RAN MAP SCRIPT"),
    }
}

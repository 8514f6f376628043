//! Splits the program of the page. The first file has the code that runs until the page is drawn, the second one
//! what a usual session of *Play* needs, and the third one all other code. The page loads one after the other
//! (`frontend/src/start.js`).
//!
//! - `optimist-split instrument WASM INSTRUMENTED` writes a program that records which branches run.
//! - `optimist-split split WASM FIRST REST RAN MAP` reads the same file, the numbers of the branches that ran, and the
//!   map of the linker; writes both parts. The first part can be split again.
//! - `optimist-split shorten SCRIPT FIRST PART...` shortens the names of imports, in all parts and in the script of the
//!   program.
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
//! before the rest is there traps. The page prevents most such calls: it holds what people do until then. If it
//! traps all the same, it opens again with all files, and repeats what people did.

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
    let read = |path: &str| fs::read(path).with_context(|| path.to_owned());
    let text = |path: &str| fs::read_to_string(path).with_context(|| path.to_owned());
    let write = |path: &str, bytes: &[u8]| fs::write(path, bytes).with_context(|| path.to_owned());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["instrument", wasm, instrumented] => {
            write(instrumented, &split::instrument(&read(wasm)?)?)
        }
        ["split", wasm, first, rest, ran, map] => {
            let numbers = text(ran)?;
            let numbers: Result<BTreeSet<usize>, _> = numbers.lines().map(str::parse).collect();
            let numbers = numbers.with_context(|| format!("{ran}: not a number a line"))?;
            let parts = split::split(&read(wasm)?, &text(map)?, numbers)?;
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
        ["shorten", script, parts @ ..] => {
            let modules = parts.iter().map(|part| split::parse(&read(part)?));
            let mut modules: Vec<_> = modules.collect::<Result<_>>()?;
            imports::join(&mut modules)?;
            let first = modules.first_mut().context("no part")?;
            let shortened = imports::shorten(first, &text(script)?)?;
            for (part, mut module) in parts.iter().zip(modules) {
                // It tells tools what the program needs. A browser finds out by itself.
                module.customs.remove_raw("target_features");
                write(part, &module.emit_wasm())?;
            }
            write(script, shortened.as_bytes())
        }
        _ => bail!(
            "usage: optimist-split instrument WASM INSTRUMENTED, or split WASM FIRST REST RAN MAP, or shorten SCRIPT FIRST PART..."
        ),
    }
}

//! Splits the program of the page in two: the first file has what runs until the page is drawn,
//! the rest is loaded at the first sign of use.
//!
//! - `optimist-split WASM FIRST REST PROFILE` reads a wasm file with names, and the names of the
//!   functions that stay; writes both parts.
//! - `optimist-split WASM INSTRUMENTED` writes one that notes which functions run, to make a
//!   profile of.
//!
//! What stays and calls a function that moved calls a stub instead: it has the rest loaded if that
//! is not there yet (`optimist_frontend::rest::load`), and goes on by a slot of the function table
//! which the rest fills. So a profile that is out of date costs bytes or time, never correctness.

mod profile;
mod split;

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use profile::Profile;

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
        [wasm, first, rest, profile] => {
            let profile = fs::read_to_string(profile).with_context(|| profile.clone())?;
            let parts = split::split(&read(wasm)?, &Profile::parse(&profile)?)?;
            write(first, &parts.first)?;
            write(rest, &parts.rest)?;
            println!(
                "{} functions stay, {} move, {} stubs",
                parts.staying, parts.moving, parts.stubs
            );
            Ok(())
        }
        _ => bail!("usage: optimist-split WASM FIRST REST PROFILE, or WASM INSTRUMENTED"),
    }
}

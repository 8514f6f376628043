//! `optimist-notices TARGET FILE [PACKAGE]`: writes a page with the licences of everything that the program
//! contains which is built of a package for that target: each package, and each text in full. Without a
//! package it is the program of the page.

mod packages;
mod page;

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

/// The package of which the program of the page is made.
const PAGE: &str = "optimist-frontend";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("optimist-notices: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (target, file, program) = match arguments.as_slice() {
        [target, file] => (target, file, PAGE),
        [target, file, program] => (target, file, program.as_str()),
        _ => bail!("usage: optimist-notices TARGET FILE [PACKAGE]"),
    };
    let packages = packages::of_program(program, target)?;
    fs::write(file, page::render(&packages)).with_context(|| file.clone())?;
    println!("    {} packages", packages.len());
    Ok(())
}

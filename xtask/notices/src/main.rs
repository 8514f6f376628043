//! `optimist-notices TARGET FILE`: writes a page with the licences of everything that the program
//! contains which is built for that target: each package, and each text in full.

mod packages;
mod page;

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

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
    let [target, file] = arguments.as_slice() else {
        bail!("usage: optimist-notices TARGET FILE");
    };
    let packages = packages::of_the_page(target)?;
    fs::write(file, page::render(&packages)).with_context(|| file.clone())?;
    println!("    {} packages", packages.len());
    Ok(())
}

//! The checks. The first ones are those that find an error soonest.

use std::time::{Duration, Instant};

use crate::browser;
use crate::failure::{Failure, StageResult};
use crate::progress::{self, Counted};
use crate::toolchain::{self, TARGET};
use crate::workspace::Workspace;
use crate::{site, size, tools};

const FRONTEND: &str = "optimist-frontend";
const FIX: &str = "fix the errors above, then run cargo xtask test lint";
const PAGE_TEST: &str = "tests/tests/page.rs";

/// A part of `cargo xtask test` that can be asked for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Formatting, clippy and rustdoc, for the machine and for the browser.
    Lint,
    /// Native tests.
    Native,
    /// The frontend's tests, in a browser.
    Browser,
    /// Builds the release site and tests it in a browser.
    Page,
}

impl Stage {
    /// The stage with this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "lint" => Some(Self::Lint),
            "native" => Some(Self::Native),
            "browser" => Some(Self::Browser),
            "page" => Some(Self::Page),
            _ => None,
        }
    }
}

/// One line of the summary.
struct Check {
    name: &'static str,
    stage: Stage,
    run: fn(&Workspace, &mut Counted) -> StageResult<()>,
}

const CHECKS: [Check; 10] = [
    Check {
        name: "format",
        stage: Stage::Lint,
        run: format,
    },
    Check {
        name: "clippy",
        stage: Stage::Lint,
        run: clippy,
    },
    Check {
        name: "rustdoc",
        stage: Stage::Lint,
        run: rustdoc,
    },
    Check {
        name: "native tests",
        stage: Stage::Native,
        run: native_tests,
    },
    Check {
        name: "clippy, frontend",
        stage: Stage::Lint,
        run: clippy_frontend,
    },
    Check {
        name: "rustdoc, frontend",
        stage: Stage::Lint,
        run: rustdoc_frontend,
    },
    Check {
        name: "browser tests",
        stage: Stage::Browser,
        run: browser_tests,
    },
    Check {
        name: "release site",
        stage: Stage::Page,
        run: |workspace, _| site::dist(workspace),
    },
    Check {
        name: "sizes",
        stage: Stage::Page,
        run: |workspace, _| size::report(workspace),
    },
    Check {
        name: "page tests",
        stage: Stage::Page,
        run: page_tests,
    },
];

/// Runs the `chosen` stages, or all stages, and prints a summary. After a failed stage the next
/// stages still run, unless they need its result.
pub fn run(workspace: &Workspace, chosen: &[Stage]) -> StageResult<()> {
    let mut done: Vec<(&str, Duration, Result<(), String>)> = Vec::new();
    let mut counted = Counted::default();
    let mut site_failed = false;
    for check in &CHECKS {
        if !chosen.is_empty() && !chosen.contains(&check.stage) {
            continue;
        }
        let start = Instant::now();
        let outcome = if site_failed {
            Err("needs the release site".to_owned())
        } else {
            (check.run)(workspace, &mut counted).map_err(|failure| failure.to_string())
        };
        if let Err(why) = &outcome {
            eprintln!("xtask: {why}");
            site_failed |= check.name == "release site";
        }
        done.push((check.name, start.elapsed(), outcome));
    }
    let failed: Vec<&str> = done
        .iter()
        .filter(|(_, _, outcome)| outcome.is_err())
        .map(|(name, _, _)| *name)
        .collect();
    println!();
    for (name, time, outcome) in &done {
        let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("{name:<20} {verdict:<8} {:>12}", progress::seconds(*time));
    }
    let total: Duration = done.iter().map(|(_, time, _)| *time).sum();
    println!(
        "{:<20} {:<8} {:>12}\n",
        "in all",
        "",
        progress::seconds(total)
    );
    if counted != Counted::default() {
        println!("{} passed, {} failed", counted.passed, counted.failed);
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(
        format!("failed: {}", failed.join(", ")),
        "run only the failed stage: cargo xtask test lint, native, browser or page",
    ))
}

fn format(workspace: &Workspace, _: &mut Counted) -> StageResult<()> {
    let mut command = workspace.cargo();
    command.args(["fmt", "--all", "--check"]);
    progress::stream("cargo fmt", &mut command, "cargo fmt --all")
}

fn clippy(workspace: &Workspace, _: &mut Counted) -> StageResult<()> {
    let mut command = workspace.cargo();
    command
        .args(["clippy", "--workspace", "--exclude", FRONTEND])
        .args(["--all-targets", "--", "-D", "warnings"]);
    progress::stream("clippy", &mut command, FIX)
}

fn rustdoc(workspace: &Workspace, _: &mut Counted) -> StageResult<()> {
    let mut command = workspace.cargo();
    command
        .env("RUSTDOCFLAGS", "-D warnings")
        .args(["doc", "--workspace", "--exclude", FRONTEND])
        .args(["--no-deps", "--document-private-items"]);
    progress::stream("rustdoc", &mut command, FIX)
}

fn native_tests(workspace: &Workspace, counted: &mut Counted) -> StageResult<()> {
    let mut command = workspace.cargo();
    command.args([
        "test",
        "--workspace",
        "--exclude",
        FRONTEND,
        "--no-fail-fast",
    ]);
    progress::stream_tests(
        "native tests",
        &mut command,
        "cargo xtask test native",
        counted,
    )
}

fn clippy_frontend(workspace: &Workspace, _: &mut Counted) -> StageResult<()> {
    let kit = tools::for_lint(toolchain::wasm(workspace)?);
    let mut command = kit.command(workspace, "cargo")?;
    command
        .args(["clippy", "--package", FRONTEND, "--target", TARGET])
        .args(["--all-targets", "--", "-D", "warnings"]);
    progress::stream("clippy, frontend", &mut command, FIX)
}

fn rustdoc_frontend(workspace: &Workspace, _: &mut Counted) -> StageResult<()> {
    let kit = tools::for_lint(toolchain::wasm(workspace)?);
    let mut command = kit.command(workspace, "cargo")?;
    command
        .env("RUSTDOCFLAGS", "-D warnings")
        .args(["doc", "--package", FRONTEND, "--target", TARGET])
        .args(["--no-deps", "--document-private-items"]);
    progress::stream("rustdoc, frontend", &mut command, FIX)
}

fn browser_tests(workspace: &Workspace, counted: &mut Counted) -> StageResult<()> {
    let toolchain = toolchain::wasm(workspace)?;
    let kit = tools::for_browser_tests(workspace, toolchain)?;
    let browser = browser::find_or_install(workspace)?;
    let mut command = kit.command(workspace, "cargo")?;
    browser.tell(&mut command);
    command
        .env(
            "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER",
            "wasm-bindgen-test-runner",
        )
        .env("WASM_BINDGEN_USE_BROWSER", "1")
        .env("WASM_BINDGEN_TEST_TIMEOUT", "120")
        .env(
            "WASM_BINDGEN_TEST_WEBDRIVER_JSON",
            browser.capabilities(workspace)?,
        )
        .args(["test", "--package", FRONTEND, "--target", TARGET])
        .args(["--tests", "--no-fail-fast"]);
    progress::stream_tests(
        "browser tests",
        &mut command,
        "cargo xtask test browser",
        counted,
    )
}

/// Runs the tests that drive the release site over WebDriver. They are marked `#[ignore]`, so that
/// a plain `cargo test` passes without a site or a browser.
fn page_tests(workspace: &Workspace, counted: &mut Counted) -> StageResult<()> {
    if !workspace.root().join(PAGE_TEST).is_file() {
        println!("==> page tests: there is no {PAGE_TEST} yet");
        return Ok(());
    }
    let browser = browser::find_or_install(workspace)?;
    let mut command = workspace.cargo();
    browser.tell(&mut command);
    command.env("OPTIMIST_AXE", tools::axe(workspace)?);
    // Builds the whole workspace for one test: with other packages, cargo could select other features
    // of shared dependencies and build them twice.
    command
        .env("OPTIMIST_DIST", workspace.dist())
        .args(["test", "--workspace", "--exclude", FRONTEND])
        .args([
            "--test",
            "page",
            "--test",
            "delivery",
            "--test",
            "accessible",
        ])
        .args(["--", "--include-ignored"]);
    progress::stream_tests("page tests", &mut command, "cargo xtask test page", counted)
}

//! The checks of `cargo xtask test`.

use std::fs;
use std::process::Command;

use crate::browser;
use crate::failure::{Failure, StageResult};
use crate::progress::{self, Counted};
use crate::toolchain::{self, TARGET};
use crate::workspace::{FRONTEND, Workspace};
use crate::{site, system, tools};

const FIX: &str = "fix the errors above, then run cargo xtask test lint";

/// One line of the summary.
#[derive(Debug)]
pub struct Check {
    /// Its name in the summary and on the command line.
    pub name: &'static str,
    /// The name of the stage that it belongs to: `lint`, `native`, `speed`, `browser` or `page`.
    pub stage: &'static str,
    /// The folder and workspace in which it runs.
    pub place: BuildFolder,
    /// The names of the checks that make the files which this one needs.
    pub needs: &'static [&'static str],
    /// The check itself.
    pub run: fn(&Workspace, &mut Counted) -> StageResult<()>,
}

impl PartialEq for Check {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// A folder that cargo builds in. Two builds in one folder wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildFolder {
    /// The folder of native programs.
    Machine,
    /// The folder of programs for the browser. Tests in a browser have it too: with two browsers and a compiler on two
    /// processors, a test waits so long for its page that it gives up.
    Browser,
    /// No folder, or only for a moment.
    Nowhere,
}

/// All checks. The first check that can begin does so. Checks that others need, and checks that use
/// one processor for a long time, come first.
pub static CHECKS: [Check; 15] = [
    Check {
        name: "format",
        stage: "lint",
        place: BuildFolder::Nowhere,
        needs: &[],
        run: format,
    },
    Check {
        name: "packages",
        stage: "lint",
        place: BuildFolder::Nowhere,
        needs: &[],
        run: packages,
    },
    Check {
        name: "tools",
        stage: "browser",
        place: BuildFolder::Browser,
        needs: &[],
        run: |workspace, _| tools(workspace),
    },
    Check {
        name: "native-tests",
        stage: "native",
        place: BuildFolder::Machine,
        needs: &[],
        run: native_tests,
    },
    Check {
        name: "site",
        stage: "page",
        place: BuildFolder::Browser,
        needs: &["tools"],
        run: |workspace, _| site::dist(workspace),
    },
    Check {
        name: "page-tests",
        stage: "page",
        place: BuildFolder::Browser,
        needs: &["tools", "site"],
        run: page_tests,
    },
    Check {
        name: "page-tests-firefox",
        stage: "page",
        place: BuildFolder::Browser,
        needs: &["tools", "site"],
        run: page_tests_firefox,
    },
    Check {
        name: "size",
        stage: "page",
        place: BuildFolder::Nowhere,
        needs: &["site"],
        run: |workspace, _| site::size(workspace),
    },
    Check {
        name: "browser-tests",
        stage: "browser",
        place: BuildFolder::Browser,
        needs: &["tools"],
        run: browser_tests,
    },
    Check {
        name: "engine",
        stage: "browser",
        place: BuildFolder::Browser,
        needs: &["tools"],
        run: |workspace, _| engine(workspace),
    },
    Check {
        name: "clippy",
        stage: "lint",
        place: BuildFolder::Machine,
        needs: &[],
        run: clippy,
    },
    Check {
        name: "rustdoc",
        stage: "lint",
        place: BuildFolder::Machine,
        needs: &[],
        run: rustdoc,
    },
    Check {
        name: "client-tests",
        stage: "native",
        place: BuildFolder::Machine,
        needs: &[],
        run: client_tests,
    },
    Check {
        name: "program-packages",
        stage: "native",
        place: BuildFolder::Machine,
        needs: &[],
        run: |workspace, _| program_packages(workspace),
    },
    Check {
        name: "instructions",
        stage: "speed",
        place: BuildFolder::Machine,
        needs: &[],
        run: |workspace, _| instructions(workspace),
    },
];

/// The counts of the tests, each with its check: whether the sentences of the page are true,
/// whether two answers to one question agree, whether printed commands do what the page says, and
/// whether a secret leaves the page. A test reports a count with a line `counted: NAME: …`.
const COUNTS: [(&str, &str); 14] = [
    ("native-tests", "truth conditions"),
    ("native-tests", "truth of Play"),
    ("native-tests", "truth of Explore"),
    ("native-tests", "truth of counts"),
    ("native-tests", "truth of controllers"),
    ("native-tests", "truth of writes"),
    ("native-tests", "truth of texts"),
    ("native-tests", "lockstep of controllers"),
    ("native-tests", "lockstep of editors"),
    ("native-tests", "rows of Diagnose in Play"),
    ("native-tests", "messages and objects"),
    ("client-tests", "kubectl commands"),
    ("native-tests", "canaries of Diagnose"),
    ("native-tests", "canaries of Play"),
];

/// Returns the names of the things that the tests in some checks count.
pub fn counts_of(checks: &[&'static Check]) -> Vec<&'static str> {
    let counts = COUNTS
        .iter()
        .filter(|(check, _)| checks.iter().any(|of| of.name == *check));
    counts.map(|(_, count)| *count).collect()
}

/// Returns the checks and stages with these names, in the order of [`CHECKS`]; without a name, all
/// checks. Several checks that need the tools begin with the check that installs the tools.
///
/// # Errors
/// The first unknown name.
pub fn named<'a>(names: &[&'a str]) -> Result<Vec<&'static Check>, &'a str> {
    let has = |check: &Check, name: &str| check.name == name || check.stage == name;
    let known = |name: &str| CHECKS.iter().any(|check| has(check, name));
    if let Some(name) = names.iter().find(|name| !known(name)) {
        return Err(name);
    }
    let chosen = |check: &&Check| names.is_empty() || names.iter().any(|name| has(check, name));
    let mut checks: Vec<&'static Check> = CHECKS.iter().filter(chosen).collect();
    if checks.len() > 1 {
        let needs_tools = checks.iter().any(|check| check.needs.contains(&"tools"));
        checks = CHECKS
            .iter()
            .filter(|check| checks.contains(check) || needs_tools && check.name == "tools")
            .collect();
    }
    Ok(checks)
}

/// The packages that are not in the workspace of the page.
const OTHER_PACKAGES: [&str; 8] = [
    "benches/core/Cargo.toml",
    "benches/explore/Cargo.toml",
    "benches/how_true/Cargo.toml",
    "benches/preview/Cargo.toml",
    "clients/Cargo.toml",
    "clients/kubectl_commands/Cargo.toml",
    "fuzz/Cargo.toml",
    "snippets/Cargo.toml",
];

fn format(workspace: &Workspace, _: &mut Counted) -> StageResult<()> {
    let check = |arguments: &[&str]| {
        let mut command = workspace.cargo();
        command.args(["fmt", "--check"]).args(arguments);
        let mend = format!("cargo fmt {}", arguments.join(" "));
        progress::stream("cargo fmt", &mut command, &mend)
    };
    check(&["--all"])?;
    // With `--all` each of these would look at the whole workspace of the page again.
    OTHER_PACKAGES
        .iter()
        .try_for_each(|manifest| check(&["--manifest-path", manifest]))
}

/// Packs the crates of `core` and the recordings as they would be published, without compiling them again.
fn packages(workspace: &Workspace, _: &mut Counted) -> StageResult<()> {
    let mut command = workspace.cargo();
    command.args(["package", "--no-verify", "--allow-dirty", "--offline"]);
    let folders = fs::read_dir(workspace.root().join("core"))
        .map_err(|error| Failure::new(format!("the folder core cannot be read: {error}"), FIX))?;
    for folder in folders.flatten() {
        let name = format!("optimist-{}", folder.file_name().display());
        command.args(["--package", &name]);
    }
    command.args(["--package", "optimist-recordings"]);
    progress::stream("cargo package", &mut command, FIX)
}

/// Lints all crates as native ones, the page too: none of its code is only for the browser.
fn clippy(workspace: &Workspace, _: &mut Counted) -> StageResult<()> {
    let mut command = workspace.cargo();
    command
        .args(["clippy", "--workspace", "--all-targets"])
        .args(["--", "-D", "warnings"]);
    progress::stream("clippy", &mut command, FIX)
}

fn rustdoc(workspace: &Workspace, _: &mut Counted) -> StageResult<()> {
    let mut command = workspace.cargo();
    command
        .env("RUSTDOCFLAGS", "-D warnings")
        .args(["doc", "--workspace", "--no-deps"])
        .arg("--document-private-items");
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

/// Runs kube-rs against the core, compiles the Rust code that the page shows, and runs each
/// benchmark once. They are a workspace of their own, and build in the same folder.
fn client_tests(workspace: &Workspace, counted: &mut Counted) -> StageResult<()> {
    let mut command = workspace.cargo();
    let root = workspace.root();
    command
        .env("CARGO_TARGET_DIR", root.join("target"))
        // Its dependencies are large, and built sooner without what a debugger needs.
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .args(["test", "--workspace", "--all-targets", "--no-fail-fast"])
        .arg("--manifest-path")
        .arg(root.join("clients").join("Cargo.toml"));
    progress::stream_tests(
        "client tests",
        &mut command,
        "cargo xtask test client-tests",
        counted,
    )
}

/// Makes the packages of other languages that have the program in them, and starts the program from each. Says so where
/// it cannot: without Python or npm.
fn program_packages(workspace: &Workspace) -> StageResult<()> {
    if let Some(missing) = ["bash", "python3", "npm"]
        .iter()
        .find(|name| system::on_path(name).is_none())
    {
        println!("no packages with the program are made: there is no {missing}");
        return Ok(());
    }
    let programs = workspace.build(&["optimist"])?;
    let mut command = workspace.command("bash");
    command
        .env("OPTIMIST", programs.join("optimist"))
        .arg("clients/packages.sh")
        .arg(workspace.root().join("target").join("packages"));
    let remedy = "cargo xtask test program-packages";
    progress::stream("packages with the program", &mut command, remedy)
}

/// Counts the instructions that requests need, and compares them with the recorded ones. Says so
/// where it cannot: without valgrind, or with another compiler.
fn instructions(workspace: &Workspace) -> StageResult<()> {
    if system::on_path("valgrind").is_none() && system::can_install() {
        // Without it, the program says that it counts nothing.
        let _ = system::install(workspace, "valgrind counts instructions", &["valgrind"]);
    }
    let mut command = workspace.cargo();
    command.args(["run", "--release", "-p", "optimist-bench-instructions"]);
    progress::stream(
        "instructions",
        &mut command,
        "cargo xtask test instructions",
    )
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
        .env("WASM_BINDGEN_TEST_TIMEOUT", "3600")
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

/// Builds the npm package of the engine, tests it in Node, and packs it.
fn engine(workspace: &Workspace) -> StageResult<()> {
    let toolchain = toolchain::wasm(workspace)?;
    let kit = tools::for_browser_tests(workspace, toolchain)?;
    let script = workspace.root().join("packages/engine/pack.sh");
    let mut command = kit.command(workspace, "sh")?;
    command.arg(script).arg("dev");
    progress::stream("npm package", &mut command, "cargo xtask test engine")
}

/// Runs the page tests in Chrome.
fn page_tests(workspace: &Workspace, counted: &mut Counted) -> StageResult<()> {
    let browser = browser::find_or_install(workspace)?;
    let mut command = workspace.cargo();
    browser.tell(&mut command);
    page_tests_in("Chrome", &[], workspace, command, counted)
}

/// Runs the same page tests in Firefox, but for those that read the same markup and styles screen by screen.
fn page_tests_firefox(workspace: &Workspace, counted: &mut Counted) -> StageResult<()> {
    let browser = browser::find_or_install_firefox(workspace)?;
    let mut command = workspace.cargo();
    browser.tell(&mut command);
    let skipped = ["--skip", "accessible::every_screen"];
    page_tests_in("Firefox", &skipped, workspace, command, counted)
}

/// Runs the tests that drive the release site over WebDriver. They are marked `#[ignore]`, so that
/// a plain `cargo test` passes without a site or a browser.
fn page_tests_in(
    browser: &str,
    arguments: &[&str],
    workspace: &Workspace,
    mut command: Command,
    counted: &mut Counted,
) -> StageResult<()> {
    // Builds the whole workspace for these tests: with other packages, cargo could select other
    // features of shared dependencies and build them twice.
    command
        .env("OPTIMIST_AXE", tools::axe(workspace)?)
        .env("OPTIMIST_DIST", workspace.dist())
        .args(["test", "--workspace", "--exclude", FRONTEND])
        .args(["--test", "page", "--", "--include-ignored"])
        .args(arguments);
    let title = format!("page tests, {browser}");
    progress::stream_tests(&title, &mut command, "cargo xtask test page", counted)
}

/// Installs the tools of all checks that this machine does not have.
fn tools(workspace: &Workspace) -> StageResult<()> {
    let toolchain = toolchain::wasm(workspace)?;
    tools::for_release(workspace, toolchain)?;
    tools::axe(workspace)?;
    browser::find_or_install(workspace)?;
    browser::find_or_install_firefox(workspace).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &[&str]) -> Result<Vec<&'static str>, String> {
        let checks = named(of).map_err(str::to_owned)?;
        Ok(checks.iter().map(|check| check.name).collect())
    }

    #[test]
    fn a_stage_is_its_checks_and_the_tools_that_they_need() {
        assert_eq!(
            names(&["page"]).as_deref(),
            Ok(&["tools", "site", "page-tests", "page-tests-firefox", "size"][..])
        );
        assert_eq!(
            names(&["native"]).as_deref(),
            Ok(&["native-tests", "client-tests", "program-packages"][..])
        );
        assert_eq!(
            names(&["format", "browser-tests"]).as_deref(),
            Ok(&["format", "tools", "browser-tests"][..])
        );
        assert_eq!(names(&[]).map(|all| all.len()), Ok(CHECKS.len()));
    }

    #[test]
    fn a_check_is_run_alone_on_what_is_there() {
        assert_eq!(names(&["page-tests"]).as_deref(), Ok(&["page-tests"][..]));
        assert_eq!(names(&["lint", "paeg"]), Err("paeg".to_owned()));
    }

    #[test]
    fn a_count_belongs_to_a_check() {
        let all: Vec<&Check> = CHECKS.iter().collect();
        for (check, count) in COUNTS {
            assert!(all.iter().any(|of| of.name == check), "{count}");
        }
    }

    #[test]
    fn what_a_check_needs_is_before_it() {
        for (position, check) in CHECKS.iter().enumerate() {
            for need in check.needs {
                let before = CHECKS[..position].iter();
                assert!(before.clone().any(|one| one.name == *need), "{need}");
            }
        }
    }
}

//! Trunk, wasm-bindgen and wasm-opt: found on PATH, or kept in the user's cache by version.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::failure::{Failure, StageResult};
use crate::toolchain::Toolchain;
use crate::workspace::Workspace;
use crate::{progress, system};

/// The newest Trunk that every compiler in use here can build.
const TRUNK: &str = "0.21.14";
/// The version in Trunk.toml, on which Trunk insists.
const BINARYEN: &str = "132";
/// The npm package of that.
const BINARYEN_PACKAGE: &str = "132.0.0";
const AXE: &str = "4.14.1";
/// The driver of Firefox.
const GECKODRIVER: &str = "0.37.1";

/// A compiler for the browser together with the tools around it.
#[derive(Debug)]
pub struct Kit {
    toolchain: Toolchain,
    folders: Vec<PathBuf>,
}

impl Kit {
    /// A command of the kit: `cargo`, `trunk` or a tool.
    pub fn command(&self, workspace: &Workspace, program: &str) -> StageResult<Command> {
        // Found here, because where a program is looked up depends on the platform.
        let found = self
            .folders
            .iter()
            .map(|folder| folder.join(format!("{program}{}", std::env::consts::EXE_SUFFIX)))
            .find(|path| system::is_program(path));
        let program = found.map_or_else(
            || program.to_owned(),
            |path| path.to_string_lossy().into_owned(),
        );
        self.toolchain.command(workspace, &program, &self.folders)
    }
}

/// The tools that build and serve the page during development.
pub fn for_play(workspace: &Workspace, toolchain: Toolchain) -> StageResult<Kit> {
    let mut kit = for_browser_tests(workspace, toolchain)?;
    kit.folders.extend(trunk(workspace)?);
    Ok(kit)
}

/// The tools that build the release site.
pub fn for_release(workspace: &Workspace, toolchain: Toolchain) -> StageResult<Kit> {
    let mut kit = for_play(workspace, toolchain)?;
    kit.folders.extend(wasm_opt(workspace)?);
    Ok(kit)
}

/// The tools that run tests in a browser.
pub fn for_browser_tests(workspace: &Workspace, toolchain: Toolchain) -> StageResult<Kit> {
    Ok(Kit {
        toolchain,
        folders: wasm_bindgen(workspace)?.into_iter().collect(),
    })
}

/// Returns whether Trunk is installed here.
pub fn has_trunk(workspace: &Workspace) -> bool {
    has(&workspace.tool("trunk", TRUNK).join("bin"), &["trunk"]) || has_trunk_on_path(workspace)
}

fn has_trunk_on_path(workspace: &Workspace) -> bool {
    on_path(workspace, &["trunk"], |told| {
        let version = told.split_whitespace().nth(1);
        version.is_some_and(|version| version.starts_with("0.21."))
    })
}

fn trunk(workspace: &Workspace) -> StageResult<Option<PathBuf>> {
    let folder = workspace.tool("trunk", TRUNK);
    if !has(&folder.join("bin"), &["trunk"]) && has_trunk_on_path(workspace) {
        return Ok(None);
    }
    // Without TLS, because its tools are installed already and it downloads nothing.
    CargoTool {
        package: "trunk",
        version: TRUNK,
        programs: &["trunk"],
        optimized: &[],
        attempts: &[&["--locked", "--no-default-features"]],
    }
    .install(workspace, &folder)
    .map(Some)
}

fn wasm_bindgen(workspace: &Workspace) -> StageResult<Option<PathBuf>> {
    let version = workspace.locked_version("wasm-bindgen")?;
    let folder = workspace.tool("wasm-bindgen", &version);
    let programs = ["wasm-bindgen", "wasm-bindgen-test-runner"];
    let fits = |told: &str| told.split_whitespace().nth(1) == Some(&*version);
    if !has(&folder.join("bin"), &programs) && on_path(workspace, &programs, fits) {
        return Ok(None);
    }
    // Its lock file may name a version of a dependency that a registry no longer serves.
    CargoTool {
        package: "wasm-bindgen-cli",
        version: &version,
        programs: &programs,
        // They read megabytes at every build.
        optimized: &[
            "walrus",
            "wasmparser",
            "wasm-encoder",
            "wasm-bindgen-cli-support",
        ],
        attempts: &[&["--locked"], &[]],
    }
    .install(workspace, &folder)
    .map(Some)
}

fn wasm_opt(workspace: &Workspace) -> StageResult<Option<PathBuf>> {
    let folder = workspace.tool("binaryen", BINARYEN_PACKAGE);
    let programs = folder.join("node_modules").join(".bin");
    if has(&programs, &["wasm-opt"]) {
        return Ok(Some(programs));
    }
    let fits = |told: &str| told.split_whitespace().nth(2) == Some(BINARYEN);
    if on_path(workspace, &["wasm-opt"], fits) {
        return Ok(None);
    }
    let package = format!("binaryen@{BINARYEN_PACKAGE}");
    let remedy = format!("install Node.js with npm, or binaryen {BINARYEN}, and run this again");
    npm_install(workspace, ("wasm-opt", &package), &folder, &remedy)?;
    if has(&programs, &["wasm-opt"]) {
        Ok(Some(programs))
    } else {
        Err(Failure::new(format!("{package} has no wasm-opt"), remedy))
    }
}

/// Returns the script that finds barriers on a page (axe-core).
pub fn axe(workspace: &Workspace) -> StageResult<PathBuf> {
    let folder = workspace.tool("axe-core", AXE);
    let script = folder.join("node_modules/axe-core/axe.min.js");
    if !script.is_file() {
        let package = format!("axe-core@{AXE}");
        let remedy = "install Node.js with npm, and run this again";
        npm_install(workspace, ("the page tests", &package), &folder, remedy)?;
    }
    Ok(script)
}

/// The driver of Firefox, which Debian has no package of.
pub fn geckodriver(workspace: &Workspace) -> StageResult<PathBuf> {
    let name = "geckodriver";
    // Older ones cannot change the settings of the browser.
    let fits = |told: &str| told.split_whitespace().nth(1) >= Some("0.36");
    let folder = workspace.tool(name, GECKODRIVER);
    let bin = folder.join("bin");
    if !has(&bin, &[name])
        && on_path(workspace, &[name], fits)
        && let Some(found) = system::on_path(name)
    {
        return Ok(found);
    }
    let bin = CargoTool {
        package: name,
        version: GECKODRIVER,
        programs: &[name],
        optimized: &[],
        attempts: &[&["--locked"], &[]],
    }
    .install(workspace, &folder)?;
    Ok(bin.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// Installs an npm package into a folder, and npm itself if it is missing.
fn npm_install(
    workspace: &Workspace,
    (who, package): (&str, &str),
    folder: &Path,
    remedy: &str,
) -> StageResult<()> {
    for program in ["node", "npm"] {
        if system::on_path(program).is_some() {
            continue;
        }
        if !system::is_debian() {
            return Err(Failure::new(
                format!("{package} is missing, and {program}, which installs it, is missing too"),
                remedy,
            ));
        }
        // One after the other: some nodejs packages contain npm and conflict with the npm package.
        let debian = if program == "node" { "nodejs" } else { "npm" };
        let why = format!("{who} needs Node.js");
        system::install(workspace, &why, &[debian])?;
    }
    let npm = system::on_path("npm").ok_or_else(|| Failure::new("npm is missing", remedy))?;
    progress::quiet(
        &format!("npm install {package} (for {who})"),
        workspace
            .command(npm)
            .args(["install", "--no-audit", "--no-fund", "--prefix"])
            .arg(folder)
            .arg(package),
        &workspace.log("npm"),
        remedy,
    )
}

/// A tool that cargo builds.
struct CargoTool<'a> {
    package: &'a str,
    version: &'a str,
    programs: &'a [&'a str],
    /// The packages that are optimized. The others are not, because they only start other programs.
    optimized: &'a [&'a str],
    /// Flags to try in turn.
    attempts: &'a [&'a [&'a str]],
}

impl CargoTool<'_> {
    /// Installs the programs into a folder of their own, if they are not there, and says where
    /// in it they are.
    fn install(&self, workspace: &Workspace, folder: &Path) -> StageResult<PathBuf> {
        let bin = folder.join("bin");
        if has(&bin, self.programs) {
            return Ok(bin);
        }
        let crate_version = format!("{}@{}", self.package, self.version);
        for (tried, flags) in self.attempts.iter().enumerate() {
            let mut install = workspace.cargo();
            install
                .current_dir(std::env::temp_dir()) // the checkout's settings are not for tools
                .env_remove("CARGO_TARGET_DIR")
                .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
                .env("CARGO_PROFILE_RELEASE_LTO", "false")
                .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
                .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
                .args(["install", &crate_version, "--root"])
                .arg(folder)
                .args(*flags);
            for package in self.optimized {
                let level = format!("profile.release.package.{package}.opt-level=1");
                install.args(["--config", &level]);
            }
            let title = format!("cargo install {crate_version} {}", flags.join(" "));
            let title = title.trim_end();
            let log = workspace.log(self.package);
            if tried + 1 == self.attempts.len() {
                let remedy = format!("{title} (its output shows the problem)");
                progress::quiet(title, &mut install, &log, &remedy)?;
            } else if progress::attempt(title, &mut install, &log, Duration::from_secs(3600)) {
                break;
            }
        }
        Ok(bin)
    }
}

fn has(folder: &Path, programs: &[&str]) -> bool {
    programs.iter().all(|program| {
        system::is_program(&folder.join(format!("{program}{}", std::env::consts::EXE_SUFFIX)))
    })
}

/// Returns whether all `programs` are on PATH in a version that `fits`.
fn on_path(workspace: &Workspace, programs: &[&str], fits: impl Fn(&str) -> bool) -> bool {
    programs.iter().all(|program| {
        system::on_path(program)
            .and_then(|path| system::output(workspace.command(path).arg("--version")))
            .is_some_and(|told| fits(&told))
    })
}

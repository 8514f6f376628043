//! A compiler for the browser: from rustup, or from Debian if rustup's server cannot be reached.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::failure::{Failure, StageResult};
use crate::workspace::Workspace;
use crate::{progress, system};

/// The target that browsers run.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// Debian's compiler (the one kept new enough for browsers) and its sources.
const DEBIAN_PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";

/// The compiler that builds for the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolchain {
    /// The one that runs this program.
    Own,
    /// Debian's, through rustup, under the name `debian`.
    DebianLinked,
    /// Debian's, as the first on PATH.
    DebianOnPath,
}

impl Toolchain {
    /// A command that builds for the browser, with `tools` first on PATH.
    pub fn command(
        self,
        workspace: &Workspace,
        program: &str,
        tools: &[PathBuf],
    ) -> StageResult<Command> {
        let mut command = workspace.command(program);
        let mut folders = tools.to_vec();
        match self {
            Self::Own => {}
            Self::DebianLinked => {
                command.env("RUSTUP_TOOLCHAIN", "debian");
            }
            Self::DebianOnPath => folders.push(PathBuf::from("/usr/bin")),
        }
        if self != Self::Own {
            // Those name the other compiler's parts.
            for name in ["RUSTC", "RUSTDOC", "LD_LIBRARY_PATH"] {
                command.env_remove(name);
            }
        }
        command
            .env("PATH", system::path_with(&folders)?)
            .env("CARGO_TARGET_DIR", workspace.wasm_target())
            // A browser names functions without it, and everything is built and sent sooner.
            .env("CARGO_PROFILE_DEV_DEBUG", "0");
        Ok(command)
    }
}

/// Finds a compiler for the browser, or installs one. Prints which compiler it uses.
pub fn wasm(workspace: &Workspace) -> StageResult<Toolchain> {
    if has_target(&mut workspace.command("rustc")) {
        return Ok(Toolchain::Own);
    }
    if let Some(version) = debian_version(workspace)
        && has_built_std(workspace, &version)
        && debian_linker(workspace).is_some_and(|linker| linker.exists())
    {
        return debian(workspace);
    }
    let by_hand = format!("rustup target add {TARGET}");
    if system::on_path("rustup").is_some() {
        // If Debian's compiler is available, do not wait long for a server that does not answer.
        let minutes = if system::can_install() { 2 } else { 15 };
        let log = workspace.log("rustup");
        let added = progress::attempt(
            &by_hand,
            workspace.command("rustup").args(["target", "add", TARGET]),
            &log,
            Duration::from_secs(60 * minutes),
        );
        if added && has_target(&mut workspace.command("rustc")) {
            return Ok(Toolchain::Own);
        }
        if !system::is_debian() {
            return Err(Failure::new(
                format!("rustup could not install {TARGET} (log: {})", log.display()),
                by_hand,
            ));
        }
        println!("    rustup could not install {TARGET}: using Debian's compiler instead");
    } else if !system::is_debian() {
        return Err(Failure::new(
            format!("this Rust cannot build for {TARGET}"),
            format!("install rustup, then: {by_hand}"),
        ));
    }
    bring_debian(workspace)?;
    debian(workspace)
}

/// Returns whether this `rustc` has a standard library for the browser.
fn has_target(rustc: &mut Command) -> bool {
    system::output(rustc.args(["--print", "target-libdir", "--target", TARGET]))
        .is_some_and(|folder| !rlibs(Path::new(folder.trim()), "libstd-").is_empty())
}

fn bring_debian(workspace: &Workspace) -> StageResult<()> {
    // One version, whichever parts of it are here already.
    let parts = [
        DEBIAN_RUSTC,
        DEBIAN_CARGO,
        "/usr/lib/rustlib/src/rust/library/Cargo.toml",
    ];
    if debian_version(workspace).is_none() || !parts.iter().all(|part| Path::new(part).exists()) {
        system::install(workspace, "Debian's Rust", &DEBIAN_PACKAGES)?;
    }
    let version = debian_version(workspace).ok_or_else(|| {
        Failure::new(
            "Debian's rustc does not come from rustc-web",
            format!("apt-get install {}", DEBIAN_PACKAGES.join(" ")),
        )
    })?;
    if !system::can_install() {
        return Err(Failure::new(
            format!("Debian's Rust cannot build for {TARGET} yet; setting it up needs root"),
            "cargo xtask setup, once, as root",
        ));
    }
    link_linker(workspace)?;
    if has_built_std(workspace, &version) {
        return Ok(());
    }
    build_std(workspace, &version)
}

/// Returns whether the standard library that was built here belongs to this compiler.
fn has_built_std(workspace: &Workspace, version: &str) -> bool {
    has_target(&mut workspace.command(DEBIAN_RUSTC))
        && fs::read_to_string(std_marker()).is_ok_and(|built| built == version)
}

/// Puts LLVM's linker where rustc looks for it: among its own tools.
fn link_linker(workspace: &Workspace) -> StageResult<()> {
    let title = "linker for the browser";
    let remedy = "cargo xtask setup, as root";
    let llvm = rustc_fact(workspace, "LLVM version: ");
    let (Some(linker), Some(llvm)) = (debian_linker(workspace), llvm) else {
        return Err(Failure::new(
            format!("{title}: rustc -vV does not print the LLVM version"),
            remedy,
        ));
    };
    let major = llvm.split('.').next().unwrap_or(&llvm);
    let package = format!("lld-{major}");
    let program = format!("/usr/bin/{package}");
    if !Path::new(&program).exists() {
        system::install(workspace, title, &[&package])?;
    }
    if linker.exists() {
        return Ok(());
    }
    let told = |error: std::io::Error| Failure::new(format!("{title}: {error}"), remedy);
    if let Some(folder) = linker.parent() {
        fs::create_dir_all(folder).map_err(told)?;
    }
    if linker.is_symlink() {
        fs::remove_file(&linker).map_err(told)?; // to one that is gone
    }
    link(&program, &linker).map_err(told)
}

/// Builds the standard library for the browser from Debian's sources of it, and puts it where
/// Debian's rustc looks.
fn build_std(workspace: &Workspace, version: &str) -> StageResult<()> {
    let title = "standard library for the browser";
    let remedy = "cargo xtask setup, as root";
    let told = |error: std::io::Error| Failure::new(format!("{title}: {error}"), remedy);
    // Any crate will do: only the libraries under it are of use.
    let crate_folder = workspace.scratch("std");
    fs::create_dir_all(crate_folder.join("src")).map_err(told)?;
    fs::write(
        crate_folder.join("Cargo.toml"),
        "[package]\nname = \"nothing\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n",
    )
    .map_err(told)?;
    fs::write(crate_folder.join("src/lib.rs"), "#![no_std]\n").map_err(told)?;
    let target = crate_folder.join("target");
    let mut build = Toolchain::DebianOnPath.command(workspace, DEBIAN_CARGO, &[])?;
    build
        .current_dir(&crate_folder)
        .env_remove("RUSTUP_TOOLCHAIN")
        .env("RUSTC", DEBIAN_RUSTC)
        .env("CARGO_TARGET_DIR", &target)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Cembed-bitcode=yes") // for link-time optimisation
        .args(["build", "--release", "--target", TARGET])
        .arg("-Zbuild-std=std,panic_abort,test");
    progress::quiet(
        &format!("{title} of {version}"),
        &mut build,
        &workspace.log("std"),
        remedy,
    )?;
    let sysroot = Path::new("/usr/lib/rustlib");
    let library = sysroot.join(TARGET).join("lib");
    if library.exists() {
        fs::remove_dir_all(&library).map_err(told)?;
    }
    fs::create_dir_all(&library).map_err(told)?;
    for rlib in rlibs(&target.join(TARGET).join("release/deps"), "lib") {
        if let Some(name) = rlib.file_name()
            && !name.to_string_lossy().starts_with("libnothing-")
        {
            fs::copy(&rlib, library.join(name)).map_err(told)?;
        }
    }
    // Files that were built with an older library cannot be used any more.
    for stale in [workspace.wasm_target(), crate_folder] {
        if stale.exists() {
            fs::remove_dir_all(stale).map_err(told)?;
        }
    }
    fs::write(std_marker(), version).map_err(told)
}

#[cfg(unix)]
fn link(original: &str, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(original, link)
}

#[cfg(not(unix))]
fn link(original: &str, link: &Path) -> std::io::Result<()> {
    fs::copy(original, link).map(|_| ())
}

/// Registers Debian's compiler with rustup, if rustup is installed.
fn debian(workspace: &Workspace) -> StageResult<Toolchain> {
    if system::on_path("rustup").is_none() {
        return Ok(Toolchain::DebianOnPath);
    }
    let mut which = workspace.command("rustup");
    which.args(["which", "--toolchain", "debian", "rustc"]);
    if system::output(&mut which).is_none_or(|path| !same_file(path.trim(), DEBIAN_RUSTC)) {
        progress::quiet(
            "rustup toolchain link debian /usr",
            workspace
                .command("rustup")
                .args(["toolchain", "link", "debian", "/usr"]),
            &workspace.log("rustup-link"),
            "rustup toolchain link debian /usr",
        )?;
    }
    Ok(Toolchain::DebianLinked)
}

fn same_file(one: &str, other: &str) -> bool {
    fs::canonicalize(one)
        .ok()
        .is_some_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
}

/// The version of Debian's rustc, when it is the one that has sources.
fn debian_version(workspace: &Workspace) -> Option<String> {
    if !Path::new(DEBIAN_RUSTC).exists() || !system::is_debian() {
        return None;
    }
    let version = system::output(workspace.command(DEBIAN_RUSTC).arg("--version"))?;
    // "rustc 1.96.0 (hash date) (built from a source tarball)": the first four words.
    let version: Vec<&str> = version.split_whitespace().take(4).collect();
    Path::new("/usr/lib/rustlib/src/rust/library/std")
        .exists()
        .then(|| version.join(" "))
}

fn debian_linker(workspace: &Workspace) -> Option<PathBuf> {
    let host = rustc_fact(workspace, "host: ")?;
    Some(
        Path::new("/usr/lib/rustlib")
            .join(host)
            .join("bin/rust-lld"),
    )
}

/// The value that Debian's `rustc -vV` prints after `label`.
fn rustc_fact(workspace: &Workspace, label: &str) -> Option<String> {
    let told = system::output(workspace.command(DEBIAN_RUSTC).arg("-vV"))?;
    told.lines()
        .find_map(|line| line.strip_prefix(label))
        .map(str::to_owned)
}

/// The file that names the rustc for which the standard library beside it was built.
fn std_marker() -> PathBuf {
    Path::new("/usr/lib/rustlib")
        .join(TARGET)
        .join("built-for-optimist")
}

fn rlibs(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "rlib")
                && path
                    .file_name()
                    .is_some_and(|name| name.to_string_lossy().starts_with(prefix))
        })
        .collect()
}

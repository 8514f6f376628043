//! The folders of the checkout, and how cargo is called for native builds.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, StageResult};
use crate::progress;

/// The package of the page. Only the compiler for the browser builds it.
pub const FRONTEND: &str = "optimist-frontend";

/// The checkout, and the folders that belong to it.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    target: PathBuf,
    tools: PathBuf,
}

impl Workspace {
    /// The checkout this program was built from.
    pub fn find() -> StageResult<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .filter(|root| root.join("Cargo.lock").is_file())
            .ok_or_else(|| Failure::new("the checkout has moved", "cargo clean -p xtask"))?
            .to_path_buf();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => root.join(folder),
            None => root.join("target"),
        };
        let tools = match env::var_os("OPTIMIST_TOOLS") {
            Some(folder) => root.join(folder),
            None => cache().map(|cache| cache.join("optimist")).ok_or_else(|| {
                Failure::new(
                    "the home folder for the tools is unknown",
                    "OPTIMIST_TOOLS=some/folder cargo xtask ...",
                )
            })?,
        };
        Ok(Self {
            root,
            target,
            tools,
        })
    }

    /// The top of the checkout.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of the release site.
    pub fn dist(&self) -> PathBuf {
        self.root.join("dist")
    }

    /// Build products for the browser. They have their own folder because another compiler may
    /// build them, and two compilers in one folder delete each other's output.
    pub fn wasm_target(&self) -> PathBuf {
        self.target.join("wasm")
    }

    /// Scratch space of this program.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.target.join("xtask").join(name)
    }

    /// The file for the output of a quiet tool.
    pub fn log(&self, name: &str) -> PathBuf {
        self.scratch("log").join(format!("{name}.log"))
    }

    /// The folder of a tool in this version, which all checkouts of this user share.
    pub fn tool(&self, name: &str, version: &str) -> PathBuf {
        self.tools.join(format!("{name}-{version}"))
    }

    /// The version of `package` in Cargo.lock.
    pub fn locked_version(&self, package: &str) -> StageResult<String> {
        let lock = self.root.join("Cargo.lock");
        let text = fs::read_to_string(&lock).map_err(|error| {
            Failure::new(
                format!("cannot read {}: {error}", lock.display()),
                "git checkout Cargo.lock",
            )
        })?;
        locked_version(&text, package).ok_or_else(|| {
            Failure::new(
                format!("{package} is not in Cargo.lock"),
                "cargo metadata --format-version 1 (prints the dependencies of the frontend)",
            )
        })
    }

    /// A command in the checkout, without the environment variables that cargo set for this program.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy();
            if matches!(&*name, "CARGO" | "RUST_RECURSION_COUNT")
                || name.starts_with("CARGO_PKG_")
                || name.starts_with("CARGO_MANIFEST_")
            {
                command.env_remove(&*name);
            }
        }
        command
    }

    /// Cargo for the machine itself, with the toolchain that runs this program.
    pub fn cargo(&self) -> Command {
        self.command("cargo")
    }

    /// Builds programs of this workspace, and returns their folder.
    ///
    /// Selects the whole workspace for a few programs: with other packages, cargo could select other
    /// features of shared dependencies and build them twice.
    pub fn build(&self, programs: &[&str]) -> StageResult<PathBuf> {
        let mut build = self.cargo();
        build.args(["build", "--workspace", "--exclude", FRONTEND]);
        for program in programs {
            build.args(["--bin", program]);
        }
        progress::stream(
            &format!("build {}", programs.join(", ")),
            &mut build,
            "fix the errors above, then run this again",
        )?;
        Ok(self.target.join("debug"))
    }
}

fn cache() -> Option<PathBuf> {
    if let Some(folder) = env::var_os("XDG_CACHE_HOME").filter(|folder| !folder.is_empty()) {
        return Some(folder.into());
    }
    env::home_dir().map(|home| home.join(".cache"))
}

fn locked_version(lock: &str, package: &str) -> Option<String> {
    let wanted = format!("name = \"{package}\"");
    let mut lines = lock.lines();
    lines.find(|line| *line == wanted)?;
    let version = lines.next()?.strip_prefix("version = \"")?;
    Some(version.strip_suffix('"')?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_compiled_with_the_features_of_the_tests() {
        let workspace = Workspace::find().expect("it is a checkout");
        let packages = |edges: &str| {
            let mut tree = workspace.cargo();
            tree.args(["tree", "--offline", "--workspace", "--exclude", FRONTEND])
                .args(["--prefix", "none", "--format", "{p} {f}", "--edges", edges]);
            let output = tree.output().expect("cargo runs");
            let packages = String::from_utf8(output.stdout).expect("it is a text");
            let packages = packages
                .lines()
                .map(|line| line.trim_end_matches(" (*)").to_owned());
            packages.collect::<std::collections::BTreeSet<String>>()
        };
        let (programs, tests) = (packages("normal,build"), packages("normal,build,dev"));
        assert!(programs.len() > 100, "{programs:?}");
        let twice: Vec<&String> = programs.difference(&tests).collect();
        assert!(
            twice.is_empty(),
            "what needs them is compiled twice; add the features in tests/Cargo.toml: {twice:?}"
        );
    }

    #[test]
    fn a_locked_version_is_that_of_the_whole_name() {
        let lock = "[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"1.0.0\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        assert_eq!(
            locked_version(lock, "wasm-bindgen").as_deref(),
            Some("0.2.130")
        );
        assert_eq!(locked_version(lock, "yew"), None);
    }
}

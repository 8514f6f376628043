//! The machine: programs on PATH, the user, and system packages.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::failure::{Failure, StageResult};
use crate::progress;
use crate::workspace::Workspace;

/// The program called `name` on PATH.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(&file))
        .find(|path| is_program(path))
}

/// Returns whether `path` is a file that can be run.
pub fn is_program(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    metadata.is_file()
}

/// PATH with `folders` before everything else.
pub fn path_with(folders: &[PathBuf]) -> StageResult<OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    let all = folders.iter().cloned().chain(env::split_paths(&path));
    env::join_paths(all).map_err(|error| {
        Failure::new(
            format!("PATH cannot be extended: {error}"),
            "set OPTIMIST_TOOLS to a folder without `:` in its name",
        )
    })
}

/// Runs a short command and returns its output; `None` if it fails.
pub fn output(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The processor time of all programs that this one started and that ended, on all processors; `None`
/// where the system has no `/proc`.
pub fn processor_time_of_children() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is a name in parentheses, which may have spaces (proc(5)); `cutime` and
    // `cstime` are the 16th and the 17th.
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut times = after_name.split_whitespace().skip(13);
    let mut ticks = || times.next()?.parse::<u64>().ok();
    /// The unit in which the kernel counts for programs, on every machine.
    const TICKS_A_SECOND: u64 = 100;
    let ticks = ticks()? + ticks()?;
    Some(Duration::from_millis(ticks * 1000 / TICKS_A_SECOND))
}

/// Returns whether this is Debian. The package names here are Debian's.
pub fn is_debian() -> bool {
    cfg!(target_os = "linux")
        && on_path("apt-get").is_some()
        && fs::read_to_string("/etc/os-release").is_ok_and(|text| os_release_id(&text) == "debian")
}

/// Returns whether packages can be installed now.
pub fn can_install() -> bool {
    is_debian() && is_root()
}

/// Installs Debian packages, or names the command that does.
pub fn install(workspace: &Workspace, why: &str, packages: &[&str]) -> StageResult<()> {
    let by_hand = format!(
        "sudo apt-get update && sudo apt-get install {}",
        packages.join(" ")
    );
    if !is_root() {
        return Err(Failure::new(
            format!("{why}: installing Debian packages needs root"),
            by_hand,
        ));
    }
    let title = format!("{why}: apt-get install {}", packages.join(" "));
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["-y", "-o", "DPkg::Lock::Timeout=300"])
            .args(arguments);
        command
    };
    let mut arguments = vec!["install", "--no-install-recommends"];
    arguments.extend(packages);
    // A new machine has no package lists, and an old list names files that no longer exist. A
    // simulated or failed attempt is cheap, so the lists are updated only when needed.
    let mut simulation = apt(&["--simulate"]);
    simulation.args(&arguments).stdout(Stdio::null());
    let log = workspace.log("apt-get");
    let hour = Duration::from_secs(3600);
    if output(&mut simulation).is_some()
        && progress::attempt(&title, &mut apt(&arguments), &log, hour)
    {
        return Ok(());
    }
    let update = workspace.log("apt-get-update");
    progress::quiet("apt-get update", &mut apt(&["update"]), &update, &by_hand)?;
    progress::quiet(&title, &mut apt(&arguments), &log, &by_hand)
}

fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_some_and(|id| id.trim() == "0")
}

fn os_release_id(text: &str) -> &str {
    text.lines()
        .find_map(|line| line.strip_prefix("ID="))
        .map_or("", |id| id.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_is_read_from_os_release() {
        assert_eq!(
            os_release_id("NAME=\"x\"\nID=debian\nVERSION_ID=12\n"),
            "debian"
        );
        assert_eq!(os_release_id("ID=\"ubuntu\"\nID_LIKE=debian\n"), "ubuntu");
        assert_eq!(os_release_id(""), "");
    }
}

//! The page itself: the release site, and a server that rebuilds as one works.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::failure::{Failure, Outcome};
use crate::tools::Kit;
use crate::workspace::Workspace;
use crate::{progress, toolchain, tools};

/// Builds the release site into `dist/`.
pub fn dist(workspace: &Workspace) -> Outcome<()> {
    let toolchain = toolchain::wasm(workspace)?;
    let kit = tools::for_release(workspace, toolchain)?;
    let dist = workspace.dist();
    if dist.exists() {
        fs::remove_dir_all(&dist).map_err(|error| {
            Failure::new(format!("{}: {error}", dist.display()), "remove it by hand")
        })?;
    }
    let mut build = trunk(workspace, &kit)?;
    build.args(["build", "--release"]).arg("--dist").arg(&dist);
    progress::stream(
        "release site into dist/",
        &mut build,
        "mend what is named above, then cargo xtask dist",
    )
}

/// Serves the page, rebuilt on every change, until it is interrupted.
pub fn play(workspace: &Workspace, port: u16, release: bool) -> Outcome<()> {
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let free = TcpListener::bind(address);
    if let Err(error) = free {
        return Err(Failure::new(
            format!("port {port}: {error}"),
            format!(
                "cargo xtask play --port {}",
                port.checked_add(1).unwrap_or(8080)
            ),
        ));
    }
    drop(free);
    let toolchain = toolchain::wasm(workspace)?;
    let kit = if release {
        tools::for_release(workspace, toolchain)?
    } else {
        tools::for_play(workspace, toolchain)?
    };
    let mut serve = trunk(workspace, &kit)?;
    // Apart from dist/, which only ever holds a release.
    serve
        .args(["serve", "--address", "127.0.0.1", "--port"])
        .arg(port.to_string())
        .arg("--dist")
        .arg(workspace.scratch(&format!("play-{port}")));
    if release {
        serve.arg("--release");
    }
    thread::spawn(move || {
        // Trunk listens once the first build is done.
        while TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_err() {
            thread::sleep(Duration::from_millis(300));
        }
        println!("\n    Optimist is at http://{address}/ (ctrl-C ends it)\n");
    });
    progress::stream(
        "build and serve",
        &mut serve,
        "mend what is named above, then cargo xtask play",
    )
}

fn trunk(workspace: &Workspace, kit: &Kit) -> Outcome<Command> {
    let mut trunk = kit.command(workspace, "trunk")?;
    trunk.env("RUST_BACKTRACE", "0"); // Trunk shows one for every mistake in the page
    if std::env::var_os("NO_COLOR").is_some() {
        // Trunk takes only a boolean for what is elsewhere any value.
        trunk.env("NO_COLOR", "true");
    }
    Ok(trunk)
}

//! The page: builds the release site, and serves a site that is rebuilt on every change.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::string::FromUtf8Error;
use std::thread;
use std::time::Duration;

use crate::failure::{Failure, StageResult};
use crate::toolchain::{self, TARGET, Toolchain};
use crate::tools::Kit;
use crate::workspace::{FRONTEND, Workspace};
use crate::{browser, html, offline, progress, saved_page, script as program_script, tools};

/// Builds the release site into `dist/`.
pub fn dist(workspace: &Workspace) -> StageResult<()> {
    let toolchain = toolchain::wasm(workspace)?;
    let kit = tools::for_release(workspace, toolchain)?;
    let dist = workspace.dist();
    let earlier = offline::program(&dist);
    if dist.exists() {
        fs::remove_dir_all(&dist).map_err(|error| {
            Failure::new(format!("{}: {error}", dist.display()), "remove it by hand")
        })?;
    }
    let mut build = trunk(workspace, &kit)?;
    build.args(["build", "--release"]).arg("--dist").arg(&dist);
    build.env("OPTIMIST_LINK_MAP", link_map(workspace));
    build.env("CARGO_ENCODED_RUSTFLAGS", flags(workspace));
    progress::stream(
        "release site into dist/",
        &mut build,
        "fix the errors above, then run cargo xtask dist",
    )?;
    check_folders(workspace, &program(workspace)?)?;
    let programs = workspace.build(&["opening", "optimist-notices", "optimist-split"])?;
    let page = dist.join("index.html");
    let mut html = set_styles_in(&page)?;
    let parts = split(workspace, &programs, &mut html)?;
    if let Some(parts) = &parts {
        html = html::name_parts(&html, &parts.later)?;
    }
    let mut notices = workspace.command(programs.join("optimist-notices"));
    progress::stream(
        "licences of the packages in dist/",
        notices.arg(TARGET).arg(dist.join("licences.html")),
        "cargo xtask dist",
    )?;
    let sources = workspace.root().join("frontend").join("src");
    let saved = write_saved_page(&sources, &dist, &html)?;
    // A saved page has no files beside it, and so no worker.
    if let Some(parts) = &parts {
        html = html::name_task(&html, &parts.task)?;
    }
    html = html::name_saved_page(&html, &saved)?;
    html = html::name_worker(&html, offline::MANIFEST, offline::WORKER)?;
    html = html::allow_own(&html)?;
    fs::write(&page, html).map_err(|error| unwritable(&page, &error))?;
    offline::add_manifest(&sources, &dist)?;
    offline::write_worker(&sources, &dist)?;
    // After the worker, which keeps only the files of this release.
    offline::add(&dist, &earlier)
}

/// Prints the size of `dist/`, and fails if the first screen is over budget.
pub fn size(workspace: &Workspace) -> StageResult<()> {
    let programs = workspace.build(&["optimist-size"])?;
    let mut size = workspace.command(programs.join("optimist-size"));
    progress::stream(
        "size of dist/",
        size.arg(workspace.dist()),
        "remove a dependency or an asset, then run cargo xtask size",
    )
}

/// The files of a program that was split, beside the first one.
struct ProgramParts {
    /// The names and the bytes of the parts after the first one, in the order in which they are loaded.
    later: offline::Files,
    /// The name of the script that runs the program in a worker.
    task: String,
}

/// The splits of the program, one after the other: a session that is recorded, and the part for all code that the
/// session does not need. The next split is of what is left.
const SPLITS: [(&str, &str); 2] = [("play", "rest"), ("first-screen", "play")];

/// Splits the program of `dist/` into the code that runs until the page is drawn, what a session of Play needs, and the
/// rest. A browser records what runs; without a browser, the program stays in one file.
fn split(
    workspace: &Workspace,
    programs: &Path,
    html: &mut String,
) -> StageResult<Option<ProgramParts>> {
    let browser = match browser::find_or_install(workspace) {
        Ok(browser) => browser,
        Err(failure) => {
            println!("    the program stays in one file, which is slower to open: {failure}");
            return Ok(None);
        }
    };
    let program = program(workspace)?;
    let name = program.file_name().unwrap_or_default();
    let site = observed_site(workspace, html)?;
    let first = workspace.scratch("first.wasm");
    fs::copy(&program, &first).map_err(|error| unwritable(&first, &error))?;
    let tool = || workspace.command(programs.join("optimist-split"));
    let mut later = Vec::new();
    for (session, part) in SPLITS {
        let whole = workspace.scratch(&format!("{session}-whole.wasm"));
        fs::copy(&first, &whole).map_err(|error| unwritable(&whole, &error))?;
        progress::stream(
            &format!("instrument the program for {session}"),
            tool().arg("instrument").arg(&whole).arg(site.join(name)),
            "cargo xtask dist",
        )?;
        let mut open = workspace.command(programs.join("opening"));
        browser.tell(&mut open);
        let ran = record(workspace, open, session, &site)?;
        let rest = workspace.scratch(&format!("{part}.wasm"));
        let mut split = tool();
        split.arg("split").args([&whole, &first, &rest, &ran]);
        progress::stream(
            &format!("split the program: {session}, {part}"),
            split.arg(link_map(workspace)),
            "cargo xtask dist",
        )?;
        later.insert(0, (part, rest));
    }
    // A folder is listed in any order, and has another script too.
    let script = name.to_string_lossy().replace("_bg.wasm", ".js");
    let script = program.with_file_name(script);
    let mut shorten = tool();
    shorten.arg("shorten").arg(&script).arg(&first);
    shorten.args(later.iter().map(|(_, path)| path));
    progress::stream(
        "shorten the names of imports",
        &mut shorten,
        "cargo xtask dist",
    )?;
    let task = workspace.root().join("frontend/src/task.js");
    put_parts([&program, &script, &task], html, &first, &later).map(Some)
}

/// Copies `dist/` with this page, to record what runs in it. What runs depends on the sizes of what is drawn, so the page
/// has its styles.
fn observed_site(workspace: &Workspace, html: &str) -> StageResult<PathBuf> {
    let site = workspace.scratch("observed-site");
    if site.exists() {
        fs::remove_dir_all(&site).map_err(|error| unwritable(&site, &error))?;
    }
    copy_all(&workspace.dist(), &site)?;
    let page = site.join("index.html");
    fs::write(&page, html).map_err(|error| unwritable(&page, &error))?;
    Ok(site)
}

/// Records which branches run in a session of an instrumented site. Returns the file with their numbers.
fn record(
    workspace: &Workspace,
    mut open: Command,
    session: &str,
    site: &Path,
) -> StageResult<PathBuf> {
    let ran = workspace.scratch(&format!("{session}.txt"));
    progress::stream(
        &format!("record {session} in a browser"),
        open.arg(session).arg(site).arg(&ran),
        "cargo xtask play --release, and open it",
    )?;
    Ok(ran)
}

/// The file with the linker's map: the address of everything in the memory of the program
/// (`frontend/build.rs`).
fn link_map(workspace: &Workspace) -> PathBuf {
    workspace.wasm_target().join("program.map")
}

/// The flags of the compiler: those of the environment, and one for each folder of this machine whose
/// name must not be in the program. A message of a panic names the file of its source.
fn flags(workspace: &Workspace) -> String {
    let given = std::env::var("RUSTFLAGS").unwrap_or_default();
    let mut flags: Vec<String> = given.split_whitespace().map(str::to_owned).collect();
    for folder in own_folders(workspace) {
        flags.push(format!("--remap-path-prefix={}=", folder.display()));
    }
    flags.join("\u{1f}")
}

/// Folders of this machine that have sources of the program.
fn own_folders(workspace: &Workspace) -> Vec<PathBuf> {
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let packages = cargo.map(|cargo| cargo.join("registry").join("src"));
    packages
        .into_iter()
        .chain([workspace.root().to_path_buf()])
        .collect()
}

/// Checks that the program names no folder of this machine.
fn check_folders(workspace: &Workspace, program: &Path) -> StageResult<()> {
    let bytes = fs::read(program).map_err(|error| unwritable(program, &error))?;
    for folder in own_folders(workspace) {
        let name = folder.to_string_lossy().into_owned();
        if bytes
            .windows(name.len())
            .any(|part| part == name.as_bytes())
        {
            return Err(Failure::new(
                format!("the program contains the name of a folder: {name}"),
                "RUSTFLAGS= cargo xtask dist",
            ));
        }
    }
    Ok(())
}

/// Replaces the program with its parts, renames its script, and writes the script of the worker. Each
/// name has a fingerprint of them all, because caches may hold files of two releases at the same time.
fn put_parts(
    [program, script, task]: [&Path; 3],
    html: &mut String,
    first: &Path,
    later: &[(&str, PathBuf)],
) -> StageResult<ProgramParts> {
    let read = |path: &Path| fs::read(path).map_err(|error| unwritable(path, &error));
    let write = |name: &str, bytes: &[u8]| {
        let path = program.with_file_name(name);
        fs::write(&path, bytes).map_err(|error| unwritable(&path, &error))
    };
    let (first, text, worker) = (read(first)?, read(script)?, read(task)?);
    let text = String::from_utf8(text).map_or_else(FromUtf8Error::into_bytes, |text| {
        program_script::shortened(text).into_bytes()
    });
    let mut parts = offline::Files::new();
    for (part, path) in later {
        parts.push(((*part).to_owned(), read(path)?));
    }
    let contents = [&first, &text, &worker].into_iter();
    let contents = contents.chain(parts.iter().map(|(_, bytes)| bytes));
    let contents: Vec<&[u8]> = contents.map(Vec::as_slice).collect();
    let name = format!("optimist-{}", html::fingerprint(&contents));
    for (part, _) in &mut parts {
        *part = format!("{name}_{part}.wasm");
    }
    let named = [
        (format!("{name}_bg.wasm"), first),
        (format!("{name}.js"), text),
    ];
    for (before, (name, bytes)) in [program, script].into_iter().zip(named) {
        let before_name = before.file_name().unwrap_or_default().to_string_lossy();
        *html = html.replace(&*before_name, &name);
        fs::remove_file(before).map_err(|error| unwritable(before, &error))?;
        write(&name, &bytes)?;
    }
    for (name, bytes) in &parts {
        write(name, bytes)?;
    }
    let task = format!("{name}_task.js");
    let worker = String::from_utf8_lossy(&worker).replace("{program}", &name);
    write(&task, worker.as_bytes())?;
    Ok(ProgramParts { later: parts, task })
}

/// Writes the page that people save as one file, and returns its name. It needs the page before it has a
/// policy and a worker, and all other files of the release.
fn write_saved_page(sources: &Path, dist: &Path, html: &str) -> StageResult<String> {
    let read = |path: &Path| fs::read_to_string(path).map_err(|error| unwritable(path, &error));
    let mut files = offline::Files::new();
    offline::read_all(dist, "", &mut files)?;
    files.sort();
    let script = read(&sources.join("saved.js"))?;
    let style = read(&sources.join("style").join("saved.css"))?;
    let page = saved_page::page(html, &script, &style, &files)?;
    let name = format!("optimist-{}.html", html::fingerprint(&[page.as_bytes()]));
    let page = html::name_saved_page(&page, &name)?;
    let path = dist.join(&name);
    fs::write(&path, page).map_err(|error| unwritable(&path, &error))?;
    Ok(name)
}

/// The page with its styles inline: one request instead of many, and better compression.
fn set_styles_in(page: &Path) -> StageResult<String> {
    let html = fs::read_to_string(page).map_err(|error| unwritable(page, &error))?;
    let mut files = Vec::new();
    let with_styles = html::set_styles_in(&html, |file| {
        let file = page.with_file_name(file.trim_start_matches("./"));
        let style = fs::read_to_string(&file).map_err(|error| unwritable(&file, &error));
        files.push(file);
        style
    })?;
    for file in files {
        fs::remove_file(&file).map_err(|error| unwritable(&file, &error))?;
    }
    Ok(with_styles)
}

fn copy_all(from: &Path, to: &Path) -> StageResult<()> {
    fs::create_dir_all(to).map_err(|error| unwritable(to, &error))?;
    let files = fs::read_dir(from).map_err(|error| unwritable(from, &error))?;
    for file in files.flatten() {
        let (file, copy) = (file.path(), to.join(file.file_name()));
        if file.is_dir() {
            copy_all(&file, &copy)?;
        } else {
            fs::copy(&file, &copy).map_err(|error| unwritable(&copy, &error))?;
        }
    }
    Ok(())
}

/// The wasm that the page names.
fn program(workspace: &Workspace) -> StageResult<PathBuf> {
    file_of(workspace, "_bg.wasm")
}

/// The file of `dist/` whose name has this end.
fn file_of(workspace: &Workspace, end: &str) -> StageResult<PathBuf> {
    let dist = workspace.dist();
    let files = fs::read_dir(&dist).map_err(|error| unwritable(&dist, &error))?;
    let mut files = files.flatten().map(|file| file.path());
    files
        .find(|path| path.to_string_lossy().ends_with(end))
        .ok_or_else(|| {
            let site = dist.display();
            Failure::new(format!("{site} has no {end}"), "cargo xtask dist")
        })
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()), "cargo xtask dist")
}

/// Serves the page, rebuilt on every change, until it is interrupted.
pub fn play(workspace: &Workspace, port: u16, release: bool) -> StageResult<()> {
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
    } else if tools::has_trunk(workspace) {
        tools::for_play(workspace, toolchain)?
    } else {
        let mut page = compile_page(workspace, toolchain)?;
        let kit = tools::for_play(workspace, toolchain);
        if kit.is_err() {
            // The failure of the tools is what matters. Without them, nothing uses the page.
            let _ = page.kill();
        }
        // If it fails, Trunk builds it again, and prints the errors.
        let _ = page.wait();
        kit?
    };
    // Trunk does not start if a folder in its ignore list is missing.
    let dist = workspace.dist();
    fs::create_dir_all(&dist).map_err(|error| unwritable(&dist, &error))?;
    let mut serve = trunk(workspace, &kit)?;
    // Not dist/, which has only release builds.
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
        "fix the errors above, then run cargo xtask play",
    )
}

/// Begins to compile the page as Trunk does, while its tools are installed: each of both alone uses one
/// processor for a part of its time.
fn compile_page(workspace: &Workspace, toolchain: Toolchain) -> StageResult<Child> {
    let title = "compile the page, while its tools are installed";
    println!("==> {title}");
    let mut build = toolchain.command(workspace, "cargo", &[])?;
    build
        .current_dir(workspace.root().join("frontend"))
        .args(["build", "--target", TARGET, "--bin", FRONTEND]);
    progress::start_logged(
        title,
        &mut build,
        &workspace.log("page"),
        "cargo xtask play",
    )
}

fn trunk(workspace: &Workspace, kit: &Kit) -> StageResult<Command> {
    let mut trunk = kit.command(workspace, "trunk")?;
    trunk.env("RUST_BACKTRACE", "0"); // Trunk prints one for every error in the page
    if std::env::var_os("NO_COLOR").is_some() {
        // Trunk accepts only a boolean; other programs accept any value.
        trunk.env("NO_COLOR", "true");
    }
    Ok(trunk)
}

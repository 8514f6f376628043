//! Counts the instructions that the server executes for each of some requests, and compares them
//! with the figures in `figures.txt`: unlike times, they are the same on a busy machine.
//!
//! ```sh
//! cargo run --release -p optimist-bench-instructions             # compares
//! cargo run --release -p optimist-bench-instructions -- --record # writes the figures
//! ```
//!
//! valgrind counts. Without it, and with another compiler than that of the figures, nothing is
//! compared.

mod figures;
mod requests;

use std::env;
use std::fs;
use std::hint::black_box;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use http::{Request, Response};
use optimist_apiserver::server::ApiServer;

use figures::{Figure, Figures};

/// The argument by which this program, counted by valgrind, sends the requests.
const SEND: &str = "--send";

/// The function of which valgrind counts the instructions.
const COUNTED: &str = "optimist_bench_instructions::answer";

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/figures.txt");

fn main() -> ExitCode {
    match env::args().nth(1).as_deref() {
        Some(SEND) => {
            send();
            ExitCode::SUCCESS
        }
        Some("--record") => report(count().and_then(|counted| {
            fs::write(FILE, counted.to_string()).map_err(|error| format!("{FILE}: {error}"))?;
            print!("{counted}");
            Ok(ExitCode::SUCCESS)
        })),
        None => report(compare()),
        Some(other) => report(Err(format!("{other} is no argument: there is --record"))),
    }
}

fn report(outcome: Result<ExitCode, String>) -> ExitCode {
    outcome.unwrap_or_else(|why| {
        eprintln!("{why}");
        ExitCode::FAILURE
    })
}

/// Sends each request once.
fn send() {
    for mut case in requests::all() {
        println!("{}", case.name);
        let server = &mut case.server;
        drop(black_box(answer(server, case.request)));
    }
}

/// Alone in a function, so that valgrind can tell it from what comes before and after.
#[inline(never)]
fn answer(server: &mut ApiServer, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
    server.handle(request)
}

/// Counts, and compares with the figures.
fn compare() -> Result<ExitCode, String> {
    if !has_valgrind() {
        println!("skipped: valgrind is not installed");
        return Ok(ExitCode::SUCCESS);
    }
    let text = fs::read_to_string(FILE).map_err(|error| format!("{FILE}: {error}"))?;
    let recorded = Figures::parse(&text)?;
    let compiler = compiler()?;
    if recorded.compiler != compiler {
        println!(
            "skipped: the figures are those of {}, and this is {compiler}",
            recorded.compiler
        );
        return Ok(ExitCode::SUCCESS);
    }
    let counted = count()?;
    let more = recorded.print_beside(&counted);
    if more.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(format!(
        "more instructions than recorded: {}. If that is the price of something, record it with \
         `cargo run --release -p optimist-bench-instructions -- --record`",
        more.join(", ")
    ))
}

fn has_valgrind() -> bool {
    let mut command = Command::new("valgrind");
    let command = command.arg("--version").stdout(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The version of the compiler, and for which machine it compiles.
fn compiler() -> Result<String, String> {
    let output = Command::new("rustc").arg("-vV").output();
    let output = output.map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    let version = text.lines().next().unwrap_or_default();
    Ok(format!("{version} for {}", host.unwrap_or_default()))
}

/// Runs this program under valgrind, which writes a file for each request.
fn count() -> Result<Figures, String> {
    let told = |error: io::Error| format!("valgrind: {error}");
    let folder = env::temp_dir().join(format!("optimist-instructions-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(told)?;
    let file = folder.join("callgrind");
    let output = Command::new("valgrind")
        // Without the lists that glibc's malloc empties at times, which differ from run to run.
        .env("GLIBC_TUNABLES", "glibc.malloc.mxfast=0")
        .args(["--quiet", "--tool=callgrind"])
        .arg(format!("--toggle-collect={COUNTED}"))
        .arg(format!("--dump-after={COUNTED}"))
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(env::current_exe().map_err(told)?)
        .arg(SEND)
        .stderr(Stdio::inherit())
        .output()
        .map_err(told)?;
    if !output.status.success() {
        return Err(format!("valgrind: {}", output.status));
    }
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let counted = names.lines().enumerate().map(|(i, name)| {
        Ok(Figure {
            name: name.to_owned(),
            instructions: total(&file.with_extension((i + 1).to_string()))?,
        })
    });
    let figures = counted.collect::<Result<Vec<Figure>, String>>()?;
    fs::remove_dir_all(&folder).map_err(told)?;
    Ok(Figures {
        compiler: compiler()?,
        figures,
    })
}

/// The instructions in a file of callgrind.
fn total(file: &Path) -> Result<u64, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    text.lines()
        .find_map(|line| line.strip_prefix("summary: ")?.trim().parse().ok())
        .ok_or_else(|| format!("{}: no summary", file.display()))
}

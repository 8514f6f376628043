//! Runs several checks at the same time, each in its own process, and prints a summary.
//!
//! One check rarely uses all processors: the linker of the release site uses one, and a test of the
//! page waits for its browser.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::checks::{self, BuildFolder, Check};
use crate::failure::{Failure, StageResult};
use crate::progress::{self, Counted};
use crate::system;
use crate::workspace::Workspace;

/// The time between two lines that name the running checks.
const TICK: Duration = Duration::from_secs(15);

/// Before the seconds of processor time of a check, in the last line of its output.
const PROCESSOR_TIME: &str = "seconds of processor time: ";

/// A running check.
struct Running {
    check: &'static Check,
    process: Child,
    log: PathBuf,
    began: Instant,
}

/// A check that ended, or that could not begin.
struct EndedCheck {
    check: &'static Check,
    began: Duration,
    took: Duration,
    /// The processor time of its programs, if the system tells it.
    processor: Option<Duration>,
    outcome: Result<(), String>,
}

/// Runs the checks. A single check shows its output immediately. Of several checks, each shows its
/// output when it ends, and a table at the end is the summary. After a failed check the next checks
/// still run, unless they need its result.
///
/// # Errors
/// Names the checks that failed.
pub fn run(workspace: &Workspace, checks: &[&'static Check]) -> StageResult<()> {
    let mut counted = Counted::default();
    if let [check] = checks {
        let outcome = (check.run)(workspace, &mut counted);
        counted.print(&checks::counts_of(checks));
        if let Some(time) = system::processor_time_of_children() {
            println!("{PROCESSOR_TIME}{}", time.as_secs());
        }
        return outcome;
    }
    let start = Instant::now();
    let done = run_at_once(workspace, checks, &mut counted)?;
    sum_up(&done, start.elapsed());
    counted.print_failures();
    counted.print(&checks::counts_of(checks));
    let failed = done.iter().filter(|one| one.outcome.is_err());
    let failed: Vec<&str> = failed.map(|one| one.check.name).collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(
        format!("failed: {}", failed.join(", ")),
        format!(
            "run only the failed checks: cargo xtask test {}",
            failed.join(" ")
        ),
    ))
}

/// Prints when each check began, how long it took, and its processor time. The sum of the times is more
/// than the total, because checks run at the same time.
fn sum_up(done: &[EndedCheck], total: Duration) {
    println!(
        "\n{:<18} {:<7} {:>12} {:>12} {:>12}",
        "", "", "after", "took", "processor"
    );
    for one in done {
        let (verdict, why) = match &one.outcome {
            Ok(()) => ("ok", ""),
            Err(why) => ("FAILED", why.as_str()),
        };
        let (began, took) = (progress::seconds(one.began), progress::seconds(one.took));
        let processor = one.processor.map_or_else(String::new, progress::seconds);
        let name = one.check.name;
        println!("{name:<18} {verdict:<7} {began:>12} {took:>12} {processor:>12}  {why}");
    }
    let total = progress::seconds(total);
    let processor = progress::seconds(done.iter().filter_map(|one| one.processor).sum());
    println!(
        "{:<18} {:<7} {:>12} {total:>12} {processor:>12}\n",
        "in all", "", ""
    );
}

fn run_at_once(
    workspace: &Workspace,
    checks: &[&'static Check],
    counted: &mut Counted,
) -> StageResult<Vec<EndedCheck>> {
    let start = Instant::now();
    let mut waiting = checks.to_vec();
    let mut running: Vec<Running> = Vec::new();
    let mut done: Vec<EndedCheck> = Vec::new();
    let mut next_tick = start + TICK;
    while !waiting.is_empty() || !running.is_empty() {
        for (check, lacks) in take_hopeless(&mut waiting, &done) {
            done.push(EndedCheck {
                check,
                began: start.elapsed(),
                took: Duration::ZERO,
                processor: None,
                outcome: Err(format!("needs {lacks}")),
            });
        }
        while let Some(check) = take_next(&mut waiting, &running) {
            println!("==> {}", check.name);
            running.push(start_check(workspace, check)?);
        }
        let mut still = Vec::new();
        for mut one in running {
            match one.process.try_wait() {
                Ok(None) => still.push(one),
                Ok(Some(status)) => {
                    let outcome = status.success().then_some(()).ok_or_else(String::new);
                    done.push(end(one, start, outcome, counted));
                }
                Err(error) => done.push(end(one, start, Err(error.to_string()), counted)),
            }
        }
        running = still;
        if Instant::now() >= next_tick {
            next_tick += TICK;
            let names: Vec<&str> = running.iter().map(|one| one.check.name).collect();
            println!(
                "    {:>4} s  {}",
                start.elapsed().as_secs(),
                names.join(", ")
            );
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(done)
}

/// Removes the checks that need a failed check, and returns each with the name of the failed one.
fn take_hopeless(
    waiting: &mut Vec<&'static Check>,
    done: &[EndedCheck],
) -> Vec<(&'static Check, &'static str)> {
    let failed = |name: &str| {
        let mut failed = done.iter().filter(|one| one.outcome.is_err());
        failed.any(|one| one.check.name == name)
    };
    let mut hopeless = Vec::new();
    waiting.retain(|check| {
        let lacks = check.needs.iter().find(|need| failed(need));
        hopeless.extend(lacks.map(|lacks| (*check, *lacks)));
        lacks.is_none()
    });
    hopeless
}

/// Removes and returns the first check that can begin.
fn take_next(waiting: &mut Vec<&'static Check>, running: &[Running]) -> Option<&'static Check> {
    let next = waiting.iter().position(|check| {
        let goes_on = |name: &str| {
            let mut open = waiting.iter().chain(running.iter().map(|one| &one.check));
            open.any(|one| one.name == name)
        };
        let taken = |place| running.iter().any(|one| one.check.place == place);
        !check.needs.iter().any(|need| goes_on(need))
            && (check.place == BuildFolder::Nowhere || !taken(check.place))
    })?;
    Some(waiting.remove(next))
}

/// Starts a process for one check.
fn start_check(workspace: &Workspace, check: &'static Check) -> StageResult<Running> {
    let log = workspace.log(check.name);
    let told = |error: std::io::Error| {
        Failure::new(
            format!("{}: {error}", check.name),
            format!("cargo xtask test {}", check.name),
        )
    };
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder).map_err(told)?;
    }
    let output = File::create(&log).map_err(told)?;
    let process = workspace
        .command(std::env::current_exe().map_err(told)?)
        .args(["test", check.name])
        .stdin(Stdio::null())
        .stdout(output.try_clone().map_err(told)?)
        .stderr(output)
        .spawn()
        .map_err(told)?;
    Ok(Running {
        check,
        process,
        log,
        began: Instant::now(),
    })
}

/// Shows the output of a check that ended.
fn end(
    one: Running,
    start: Instant,
    outcome: Result<(), String>,
    counted: &mut Counted,
) -> EndedCheck {
    let text = fs::read(&one.log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines().for_each(|line| counted.read(line));
    println!("{text}");
    let told = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix(PROCESSOR_TIME));
    EndedCheck {
        check: one.check,
        began: one.began - start,
        took: one.began.elapsed(),
        processor: told.and_then(|told| told.parse().ok().map(Duration::from_secs)),
        outcome,
    }
}

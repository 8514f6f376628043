//! Runs a tool as a named step: prints its name, that it still runs, and its time.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Failure, StageResult};

/// The number of a failed tool's last lines that are displayed.
const LAST_LINES: usize = 20;

/// Prints `title`, does `work`, and prints how long it took.
pub fn step<T>(title: &str, work: impl FnOnce() -> StageResult<T>) -> StageResult<T> {
    println!("==> {title}");
    let start = Instant::now();
    let outcome = work();
    let verdict = if outcome.is_ok() { "done" } else { "FAILED" };
    println!("    {verdict}: {title} ({})", seconds(start.elapsed()));
    outcome
}

/// Runs a tool and shows its output immediately.
pub fn stream(title: &str, command: &mut Command, remedy: &str) -> StageResult<()> {
    step(title, || {
        let status = start(command, title, remedy)?
            .wait()
            .map_err(|error| Failure::new(format!("{title}: {error}"), remedy))?;
        judge(title, status, remedy)
    })
}

/// Runs tests: shows their output as it comes and adds up their `test result:` lines.
pub fn stream_tests(
    title: &str,
    command: &mut Command,
    remedy: &str,
    counted: &mut Counted,
) -> StageResult<()> {
    step(title, || {
        if std::io::stderr().is_terminal() {
            command.env("CARGO_TERM_COLOR", "always");
        }
        let mut child = start(command.stdout(Stdio::piped()), title, remedy)?;
        if let Some(output) = child.stdout.take() {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            // Bytes, not strings: a test may print anything.
            while matches!(output.read_until(b'\n', &mut line), Ok(1..)) {
                let mut terminal = std::io::stdout().lock();
                // If the output has no reader, the tests still continue.
                let _ = terminal.write_all(&line).and_then(|()| terminal.flush());
                counted.read(&String::from_utf8_lossy(&line));
                line.clear();
            }
        }
        let status = child
            .wait()
            .map_err(|error| Failure::new(format!("{title}: {error}"), remedy))?;
        judge(title, status, remedy)
    })
}

/// Runs a tool whose output matters only if it fails: the output goes to `log`, and one line shows
/// the progress.
pub fn quiet(title: &str, command: &mut Command, log: &Path, remedy: &str) -> StageResult<()> {
    step(title, || {
        let outcome = logged(title, command, log, None, remedy);
        if outcome.is_err() {
            for line in last_lines(log, LAST_LINES) {
                eprintln!("    | {line}");
            }
        }
        outcome
    })
}

/// Like [`quiet`], for a tool that may fail because there is an alternative: it is stopped after
/// `limit`, and one line reports a failure.
pub fn attempt(title: &str, command: &mut Command, log: &Path, limit: Duration) -> bool {
    println!("==> {title}");
    let start = Instant::now();
    let outcome = logged(title, command, log, Some(limit), "another way");
    let verdict = if outcome.is_ok() {
        "done"
    } else {
        "did not work"
    };
    println!("    {verdict}: {title} ({})", seconds(start.elapsed()));
    outcome.is_ok()
}

fn logged(
    title: &str,
    command: &mut Command,
    log: &Path,
    limit: Option<Duration>,
    remedy: &str,
) -> StageResult<()> {
    let told = |error| told_log(error, title, log, remedy);
    let mut child = start_logged(title, command, log, remedy)?;
    let how = match wait_ticking(&mut child, log, limit).map_err(told)? {
        Some(status) if status.success() => return Ok(()),
        Some(status) => told_status(status),
        None => "took too long".to_owned(),
    };
    Err(Failure::new(
        format!("{title}: {how} (log: {})", log.display()),
        remedy,
    ))
}

/// Starts a tool whose output goes to `log`.
pub fn start_logged(
    title: &str,
    command: &mut Command,
    log: &Path,
    remedy: &str,
) -> StageResult<Child> {
    let told = |error| told_log(error, title, log, remedy);
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder).map_err(told)?;
    }
    let file = File::create(log).map_err(told)?;
    let errors = file.try_clone().map_err(told)?;
    command
        .env("RUST_BACKTRACE", "0") // the last lines of the log should show the error
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(errors);
    start(command, title, remedy)
}

fn told_log(error: std::io::Error, title: &str, log: &Path, remedy: &str) -> Failure {
    Failure::new(format!("{title}: {}: {error}", log.display()), remedy)
}

/// `None` when the limit ran out.
fn wait_ticking(
    child: &mut Child,
    log: &Path,
    limit: Option<Duration>,
) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let live = std::io::stdout().is_terminal();
    let pause = Duration::from_secs(if live { 1 } else { 15 });
    let mut next = start + pause;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if limit.is_some_and(|limit| start.elapsed() > limit) {
            child.kill()?;
            child.wait()?;
            break None;
        }
        if Instant::now() >= next {
            next += pause;
            let last = last_lines(log, 1).pop().unwrap_or_default();
            let last: String = last.trim().chars().take(60).collect();
            let elapsed = start.elapsed().as_secs();
            if live {
                print!("\r\x1b[K    {elapsed:>4} s  {last}");
                let _ = std::io::stdout().flush();
            } else {
                println!("    {elapsed:>4} s  {last}");
            }
        }
        thread::sleep(Duration::from_millis(100));
    };
    if live {
        print!("\r\x1b[K");
    }
    Ok(status)
}

/// The result of a finished test run.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Counted {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
    /// The counts that tests reported, by name.
    pub reported: BTreeMap<String, String>,
    /// The first lines that each failed test printed, below its name.
    pub failures: Vec<Vec<String>>,
    /// `true` while the lines are those of a failed test.
    in_failure: bool,
}

/// The number of lines of a failed test that the summary repeats.
const LINES_OF_FAILURE: usize = 12;

impl Counted {
    /// Prints the numbers, if there were tests, and the counts of tests. A count of `expected` that
    /// no test reported is printed as missing.
    pub fn print(&self, expected: &[&str]) {
        for what in expected {
            let reported = self.reported.get(*what);
            println!("{what:<26} {}", reported.map_or("MISSING", String::as_str));
        }
        if (self.passed, self.failed) != (0, 0) {
            println!("{} passed, {} failed", self.passed, self.failed);
        }
    }

    /// Prints what the failed tests printed: in the output of several checks it is hard to find.
    pub fn print_failures(&self) {
        for line in self.failures.iter().flatten() {
            println!("    | {line}");
        }
    }

    /// Adds one line of output, if it is a `test result:` line, a `counted:` line, or a line of a
    /// failed test.
    pub fn read(&mut self, line: &str) {
        self.read_failure(line.trim_end());
        if let Some((_, told)) = line.split_once("counted: ")
            && let Some((what, count)) = told.split_once(": ")
        {
            self.reported
                .insert(what.to_owned(), count.trim_end().to_owned());
        }
        let Some((_, result)) = line.split_once("test result:") else {
            return;
        };
        let words: Vec<&str> = result.split_whitespace().collect();
        for pair in words.windows(2) {
            if let Ok(number) = pair[0].parse::<u64>() {
                match pair[1].trim_end_matches(';') {
                    "passed" => self.passed += number,
                    "failed" => self.failed += number,
                    _ => {}
                }
            }
        }
    }

    fn read_failure(&mut self, line: &str) {
        if line.starts_with("---- ") && line.ends_with(" stdout ----") {
            self.in_failure = true;
            self.failures.push(Vec::new());
        } else if line == "failures:" || line.starts_with("stack backtrace:") {
            self.in_failure = false;
        }
        if let Some(lines) = self.failures.last_mut()
            && self.in_failure
            && !line.is_empty()
            && lines.len() < LINES_OF_FAILURE
        {
            lines.push(line.to_owned());
        }
    }
}

/// A duration for people.
pub fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(60) {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        format!("{} min {:02} s", time.as_secs() / 60, time.as_secs() % 60)
    }
}

fn start(command: &mut Command, title: &str, remedy: &str) -> StageResult<Child> {
    command.spawn().map_err(|error| {
        let program = command.get_program().to_string_lossy().into_owned();
        Failure::new(format!("{title}: cannot run {program}: {error}"), remedy)
    })
}

fn judge(title: &str, status: ExitStatus, remedy: &str) -> StageResult<()> {
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(
            format!("{title}: {}", told_status(status)),
            remedy,
        ))
    }
}

fn told_status(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => "was stopped".to_owned(),
    }
}

fn last_lines(log: &Path, count: usize) -> Vec<String> {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(count)..]
        .iter()
        .map(|line| (*line).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_results_add_up() {
        let mut counted = Counted::default();
        for line in [
            "running 3 tests",
            "test a ... ok",
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
            "test result: FAILED. 4 passed; 2 failed; 1 ignored; 0 measured; finished in 0.01s",
        ] {
            counted.read(line);
        }
        assert_eq!(
            counted,
            Counted {
                passed: 7,
                failed: 2,
                ..Counted::default()
            }
        );
    }

    #[test]
    fn the_summary_repeats_what_a_failed_test_printed() {
        let mut counted = Counted::default();
        for line in [
            "test a ... FAILED",
            "failures:",
            "",
            "---- a stdout ----",
            "",
            "thread 'a' panicked at tests/a.rs:7:5:",
            "the button is not there",
            "stack backtrace:",
            "   0: __rustc::rust_begin_unwind",
            "",
            "---- b stdout ----",
            "thread 'b' panicked at tests/b.rs:9:5:",
            "failures:",
            "    a",
            "    b",
            "test result: FAILED. 4 passed; 2 failed; finished in 0.01s",
        ] {
            counted.read(line);
        }
        let of_a = [
            "---- a stdout ----",
            "thread 'a' panicked at tests/a.rs:7:5:",
            "the button is not there",
        ];
        let of_b = [
            "---- b stdout ----",
            "thread 'b' panicked at tests/b.rs:9:5:",
        ];
        assert_eq!(counted.failures, [of_a.to_vec(), of_b.to_vec()]);
    }

    #[test]
    fn what_a_test_counted_is_found_in_its_output() {
        let mut counted = Counted::default();
        // A runner with one thread has written the name of the test before.
        counted.read("test a ... counted: canaries of Play: 9 secrets: 0 exposed\n");
        counted.read("test b ... ok");
        let told = counted.reported.get("canaries of Play");
        assert_eq!(told.map(String::as_str), Some("9 secrets: 0 exposed"));
        assert_eq!(counted.reported.len(), 1);
    }

    #[test]
    fn times_are_told_as_people_read_them() {
        assert_eq!(seconds(Duration::from_millis(1234)), "1.2 s");
        assert_eq!(seconds(Duration::from_secs(125)), "2 min 05 s");
    }
}

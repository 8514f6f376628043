//! Measures the worst small inputs, natively: `worst [CASE]...`. Each case runs in a process of its
//! own, which prints the time of its longest step, the memory that its greediest step took beside
//! that before it, and the most memory that the process held. A case is over the limit with a step
//! of more than 1 s on a processor, with a step of more than 256 MB, or if it does not end by
//! itself. Needs the `/proc` of Linux.

mod cases;
mod inputs;

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The longest that a step may take.
const MAX_LENGTH: Duration = Duration::from_secs(1);

/// The most memory that a step may take, in MB, counted at the allocator.
const MAX_MEMORY: u64 = 256;

/// After so long a case is ended.
const PATIENCE: Duration = Duration::from_secs(120);

/// Measures the steps of a case.
#[derive(Default)]
pub struct Steps {
    longest: (Duration, String),
    /// In bytes.
    greediest: (u64, String),
}

impl Steps {
    /// Does and measures a step.
    pub fn step<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let mut done = None;
        let begin = ran();
        let taken = allocation_counter::measure(|| done = Some(work()));
        let took = ran().saturating_sub(begin);
        if taken.bytes_max > self.greediest.0 {
            self.greediest = (taken.bytes_max, name.to_owned());
        }
        if took > self.longest.0 {
            self.longest = (took, name.to_owned());
        }
        done.expect("measuring runs what it measures")
    }
}

/// Returns how long this process ran on a processor: others that run meanwhile do not count.
fn ran() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name] = arguments.as_slice()
        && flag == "--run"
    {
        return run(name);
    }
    let mut over = 0;
    println!(
        "{:<44} {:>9} {:>7} {:>7}  longest step, greediest step",
        "case", "ms", "MB", "held"
    );
    for (name, _) in cases::ALL {
        if arguments.is_empty() || arguments.iter().any(|part| name.contains(part.as_str())) {
            over += u32::from(!measured(name));
        }
    }
    println!("{over} over the limit of {MAX_LENGTH:?} and {MAX_MEMORY} MB a step");
    if over == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs a case in this process, and prints what it cost.
fn run(name: &str) -> ExitCode {
    let Some((_, case)) = cases::ALL.iter().find(|(known, _)| *known == name) else {
        return ExitCode::FAILURE;
    };
    let mut steps = Steps::default();
    case(&mut steps);
    let ((longest, step), (bytes, greediest)) = (steps.longest, steps.greediest);
    println!(
        "{}",
        json!([
            longest.as_micros() as u64,
            step,
            bytes >> 20,
            greediest,
            peak()
        ])
    );
    ExitCode::SUCCESS
}

/// The most memory that this process held, in MB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kilobytes.unwrap_or(0_u64) / 1024
}

/// Runs a case in a process of its own; whether it stays within the limits.
fn measured(name: &str) -> bool {
    let Ok(program) = std::env::current_exe() else {
        return false;
    };
    let child = Command::new(program)
        .args(["--run", name])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return false };
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let output = child.wait_with_output().map(|output| output.stdout);
    let said: Value = serde_json::from_slice(&output.unwrap_or_default()).unwrap_or_default();
    let (Some(micros), Some(step), Some(memory), Some(greediest), Some(held)) = (
        said[0].as_u64(),
        said[1].as_str(),
        said[2].as_u64(),
        said[3].as_str(),
        said[4].as_u64(),
    ) else {
        println!("{name:<44} {:>9} {:>7} {:>7}  did not end", "-", "-", "-");
        return false;
    };
    let fine = Duration::from_micros(micros) <= MAX_LENGTH && memory <= MAX_MEMORY;
    let mark = if fine { "" } else { "  OVER" };
    let ms = micros as f64 / 1000.0;
    println!("{name:<44} {ms:>9.1} {memory:>7} {held:>7}  {step}, {greediest}{mark}");
    fine
}

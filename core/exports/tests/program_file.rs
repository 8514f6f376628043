//! Programs that a test writes and then runs.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a program. Another process does it: of a file that this one has open, a process that another test starts
/// at this moment has it open too, and a file that is open for writing is not run.
pub fn write_program(path: &Path, text: &str) {
    let mut shell = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = shell.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    assert!(shell.wait().unwrap().success());
}

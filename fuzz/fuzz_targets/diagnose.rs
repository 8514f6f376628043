//! Texts that people paste, parted by a NUL: whatever stands in them, the page reads them or says why not, runs all
//! that it shows of them, and writes it down.
#![no_main]

use libfuzzer_sys::fuzz_target;
use optimist_report::case_markdown;
use optimist_state::diagnosed;

/// The longest input, in bytes: a long log takes its time, and is not what is looked for.
const LONGEST: usize = 32 * 1024;

fuzz_target!(|data: &[u8]| {
    if data.len() > LONGEST {
        return;
    }
    let texts = String::from_utf8_lossy(data);
    let case = diagnosed(texts.split('\0').take(4).map(str::to_owned));
    case_markdown(&case, false);
});

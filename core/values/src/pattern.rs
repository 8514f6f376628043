//! Regular expressions in the syntax of Go's `regexp`, as far as the engine at hand knows it.

use regex_lite::{Regex, RegexBuilder};

/// A regular expression.
#[derive(Debug)]
pub struct Pattern {
    /// The expression, as it was written.
    pub text: String,
    /// The compiled expression; `None` if it uses something that the engine at hand does not know,
    /// and nothing is checked.
    pub regex: Option<Regex>,
    /// About how large it is when compiled, in bytes.
    pub size: usize,
}

/// The allowed sizes of a compiled expression, in bytes; the first one that is large enough is
/// taken.
const SIZES: [usize; 4] = [1 << 10, 8 << 10, 64 << 10, 512 << 10];

impl Pattern {
    /// Compiles an expression.
    pub fn compiled(text: String) -> Self {
        for size in SIZES {
            match RegexBuilder::new(&text).size_limit(size).build() {
                Ok(regex) => {
                    let regex = Some(regex);
                    return Self { text, regex, size };
                }
                Err(error) if error.to_string().ends_with("size limit") => {}
                Err(_) => {
                    let size = text.len();
                    let regex = None;
                    return Self { text, regex, size };
                }
            }
        }
        Self {
            text,
            regex: None,
            size: usize::MAX,
        }
    }
}

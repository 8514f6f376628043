//! The style of the output: the colours and the width of a terminal; neither if the output is not a
//! terminal.

use std::io::{IsTerminal, Write};

/// A colour.
#[derive(Clone, Copy)]
pub enum Colour {
    Red,
    Yellow,
    Green,
    Grey,
    Bold,
}

/// The colours and the maximum width of a line.
pub struct Style {
    colours: bool,
    /// The width of the terminal; `None` where the output is no terminal.
    pub width: Option<usize>,
}

impl Style {
    /// The style of the standard output. `NO_COLOR` switches colours off (no-color.org).
    pub fn of_output() -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        Self {
            colours: is_terminal && !plain,
            width: width.filter(|_| is_terminal),
        }
    }

    /// A text in a colour.
    pub fn paint(&self, colour: Colour, text: &str) -> String {
        if !self.colours {
            return text.to_owned();
        }
        let code = match colour {
            Colour::Red => "31",
            Colour::Yellow => "33",
            Colour::Green => "32",
            Colour::Grey => "90",
            Colour::Bold => "1",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// A text in lines that fit behind so many columns, cut between words. A longer word has a line of its own.
    pub fn wrapped(&self, text: &str, used: usize) -> Vec<String> {
        let Some(width) = self.width else {
            return vec![text.to_owned()];
        };
        let room = width.saturating_sub(used).max(20);
        let mut lines: Vec<String> = vec![String::new()];
        for word in text.split(' ') {
            let last = lines.len() - 1;
            let length = lines[last].chars().count();
            if length == 0 {
                lines[last].push_str(word);
            } else if length + 1 + word.chars().count() <= room {
                lines[last].push(' ');
                lines[last].push_str(word);
            } else {
                lines.push(word.to_owned());
            }
        }
        lines
    }
}

/// Writes to the standard output. A reader that has gone away, such as `head`, is no error.
pub fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_whole_in_lines_that_fit_the_terminal() {
        let message = "Unable to continue with update: ConfigMap \"settings\" in namespace \"shop\" exists and cannot be \
                       imported into the current release: annotation validation error: \
                       an-unbroken-word-that-is-longer-than-the-terminal-is-wide";
        let style = |width| Style {
            colours: false,
            width,
        };
        for width in [20, 40, 80] {
            let lines = style(Some(width)).wrapped(message, 4);
            assert_eq!(lines.join(" "), message);
            let room = (width - 4).max(20);
            let fits = |it: &String| it.chars().count() <= room || !it.contains(' ');
            assert!(lines.iter().all(fits), "{width}: {lines:?}");
        }
        // What is no terminal has no width.
        assert_eq!(style(None).wrapped(message, 4), [message]);
    }
}

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

    /// A text that fits the rest of a line.
    pub fn cut(&self, text: &str, used: usize) -> String {
        let Some(width) = self.width else {
            return text.to_owned();
        };
        let room = width.saturating_sub(used).max(20);
        if text.chars().count() <= room {
            return text.to_owned();
        }
        let kept: String = text.chars().take(room - 1).collect();
        format!("{kept}…")
    }
}

/// Writes to the standard output. A reader that has gone away, such as `head`, is no error.
pub fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

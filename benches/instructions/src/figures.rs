//! The figures: a compiler, and for each request its instructions.

use std::fmt;

/// The per cent by which instructions may exceed the recorded ones without a report. The functions
/// of the C library that copy and compare bytes differ between processors.
const TOLERANCE: u64 = 3;

/// The instructions of all requests.
#[derive(Debug)]
pub struct Figures {
    /// The compiler, without which they say nothing.
    pub compiler: String,
    /// A figure for each request.
    pub figures: Vec<Figure>,
}

/// The instructions of a request.
#[derive(Debug)]
pub struct Figure {
    /// The name of the request.
    pub name: String,
    /// The number of instructions.
    pub instructions: u64,
}

impl Figures {
    /// Reads what [`Display`](fmt::Display) writes.
    ///
    /// # Errors
    /// The first line that is none of the form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let compiler = lines.next().unwrap_or_default().to_owned();
        let figures = lines.map(|line| {
            let (count, name) = line.trim_start().split_once(' ').ok_or(line)?;
            Ok(Figure {
                name: name.trim().to_owned(),
                instructions: count.parse().map_err(|_| line)?,
            })
        });
        let figures: Result<Vec<Figure>, &str> = figures.collect();
        let figures = figures.map_err(|line| format!("no figure: {line}"))?;
        Ok(Self { compiler, figures })
    }

    /// Prints each figure beside what was counted now, and returns the requests that need more
    /// instructions than recorded, or that have no figure.
    pub fn print_beside(&self, counted: &Figures) -> Vec<String> {
        let mut more = Vec::new();
        println!("{:>12} {:>12}", "recorded", "now");
        for now in &counted.figures {
            let known = self.figures.iter().find(|figure| figure.name == now.name);
            let recorded = known.map_or(0, |figure| figure.instructions);
            let note = match recorded {
                0 => "new",
                _ if now.instructions * 100 > recorded * (100 + TOLERANCE) => "more",
                _ if now.instructions * 100 < recorded * (100 - TOLERANCE) => "fewer: record them",
                _ => "",
            };
            if matches!(note, "new" | "more") {
                more.push(now.name.clone());
            }
            println!(
                "{recorded:>12} {:>12}  {:<32} {note}",
                now.instructions, now.name
            );
        }
        more
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# Instructions for each request. `--record` writes this file."
        )?;
        writeln!(f, "{}", self.compiler)?;
        let mut figures = self.figures.iter();
        figures.try_for_each(|one| writeln!(f, "{:>12} {}", one.instructions, one.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(of: &[(&str, u64)]) -> Figures {
        let figure = |(name, instructions): &(&str, u64)| Figure {
            name: (*name).to_owned(),
            instructions: *instructions,
        };
        Figures {
            compiler: "rustc 1.0.0 for a machine".to_owned(),
            figures: of.iter().map(figure).collect(),
        }
    }

    #[test]
    fn figures_are_read_as_they_are_written() {
        let written = figures(&[("get", 78_000), ("Pod: update", 2_000_000)]).to_string();
        let read = Figures::parse(&written).unwrap();
        assert_eq!(read.to_string(), written);
        assert_eq!(read.compiler, "rustc 1.0.0 for a machine");
        assert!(Figures::parse("rustc\nmany get").is_err());
    }

    #[test]
    fn a_request_is_reported_if_it_needs_more_than_recorded() {
        let recorded = figures(&[("get", 1000), ("update", 1000), ("apply", 1000)]);
        let counted = figures(&[("get", 1029), ("update", 1031), ("apply", 5), ("new", 1)]);
        assert_eq!(recorded.print_beside(&counted), ["update", "new"]);
    }
}

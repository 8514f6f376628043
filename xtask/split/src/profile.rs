//! Which functions stay: those that run until the page is drawn, by their names.

use std::collections::HashSet;

use anyhow::{Result, bail};

/// The functions that run while the page opens.
#[derive(Debug, Default)]
pub struct Profile {
    staying: HashSet<String>,
}

impl Profile {
    /// A name a line; `#` begins a comment.
    ///
    /// # Errors
    /// If there is none, which would make the split pointless.
    pub fn parse(text: &str) -> Result<Self> {
        let names = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with("# "));
        let staying: HashSet<String> = names.map(str::to_owned).collect();
        if staying.is_empty() {
            bail!("no function is named that stays");
        }
        Ok(Self { staying })
    }

    /// Whether a function of this name moves.
    pub fn moves(&self, name: &str) -> bool {
        !name.is_empty() && !self.staying.contains(&unhashed(name))
    }
}

/// A name without what makes it differ from build to build: the hashes of the compiler.
pub fn unhashed(name: &str) -> String {
    let hash = name.rfind("::h").filter(|at| {
        let hash = &name[at + 3..];
        hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    let mut name = &name[..hash.unwrap_or(name.len())];
    let mut bare = String::new();
    // `core[12f89f2d8a73214f]::fmt`: the crate's own.
    while let Some(at) = name.find('[') {
        let (before, rest) = name.split_at(at);
        bare.push_str(before);
        match rest.find(']') {
            Some(end) if end == 17 => name = &rest[end + 1..],
            _ => {
                bare.push('[');
                name = &rest[1..];
            }
        }
    }
    bare.push_str(name);
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_known_whatever_the_build_called_it() {
        let profile = Profile::parse("# opening\ncore::fmt::write\n<[T] as core::A>::b\n").unwrap();
        assert!(!profile.moves("core[12f89f2d8a73214f]::fmt::write::h0123456789abcdef"));
        assert!(!profile.moves("<[T] as core::A>::b"));
        assert!(profile.moves("core::fmt::write_char"));
        assert!(Profile::parse("# nothing\n").is_err());
    }
}

//! Which functions stay: those that run until the page is drawn, by their names
//! and sizes.

use std::collections::{BTreeSet, HashMap};

use anyhow::{Context, Result, bail};

/// The functions that run while the page opens: the sizes, in instructions, of those of a name.
/// Many instances of one generic function have one name, and few of them run.
#[derive(Debug, Default)]
pub struct Profile {
    staying: HashMap<String, BTreeSet<u64>>,
}

impl Profile {
    /// A size and a name a line; `#` begins a comment.
    ///
    /// # Errors
    /// If a line has no size, or if there is none, which would make the split pointless.
    pub fn parse(text: &str) -> Result<Self> {
        let mut staying: HashMap<String, BTreeSet<u64>> = HashMap::new();
        let lines = text.lines();
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with("# ")) {
            let (size, name) = line
                .split_once(' ')
                .and_then(|(size, name)| Some((size.parse().ok()?, name)))
                .with_context(|| format!("not a size and a name: {line}"))?;
            staying.entry(name.to_owned()).or_default().insert(size);
        }
        if staying.is_empty() {
            bail!("no function is named that stays");
        }
        Ok(Self { staying })
    }

    /// Which of these functions move, each with its name and its size: those whose name is not in
    /// the profile, or not with that size. Where the profile has a size that no function of the
    /// name has, it is older than the program, and all of that name stay.
    pub fn moving<'a>(&self, functions: &[(usize, &'a str, u64)]) -> BTreeSet<usize> {
        let mut sizes: HashMap<String, BTreeSet<u64>> = HashMap::new();
        for (_, name, size) in functions {
            sizes.entry(unhashed(name)).or_default().insert(*size);
        }
        let moves = |(_, name, size): &&(usize, &'a str, u64)| {
            let name = unhashed(name);
            match (self.staying.get(&name), sizes.get(&name)) {
                (Some(profiled), Some(found)) => {
                    profiled.is_subset(found) && !profiled.contains(size)
                }
                _ => !name.is_empty(),
            }
        };
        let moving = functions.iter().filter(moves);
        moving.map(|(function, _, _)| *function).collect()
    }
}

/// A name without what makes it differ from build to build: the hashes of the compiler, and the
/// number that tells functions of one name apart.
pub fn unhashed(name: &str) -> String {
    let name = match name.rsplit_once('.') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    };
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

    fn moving(profile: &str, functions: &[(usize, &str, u64)]) -> Vec<usize> {
        let profile = Profile::parse(profile).unwrap();
        profile.moving(functions).into_iter().collect()
    }

    #[test]
    fn a_function_is_known_whatever_the_build_called_it() {
        let functions = [
            (
                0,
                "core[12f89f2d8a73214f]::fmt::write::h0123456789abcdef",
                9,
            ),
            (1, "core::fmt::write::h0123456789abcdef.2028", 9),
            (2, "<[T] as core::A>::b", 9),
            (3, "core::fmt::write_char", 9),
            (4, "", 9),
        ];
        let profile = "# opening\n9 core::fmt::write\n9 <[T] as core::A>::b\n";
        assert_eq!(moving(profile, &functions), [3]);
    }

    #[test]
    fn of_one_name_only_what_ran_stays_unless_the_profile_is_older_than_the_program() {
        let functions = [(0, "sort", 10), (1, "sort", 20), (2, "sort", 30)];
        assert_eq!(moving("10 sort\n30 sort\n", &functions), [1]);
        assert_eq!(moving("10 sort\n31 sort\n", &functions), []);
    }

    #[test]
    fn a_profile_that_says_nothing_is_refused() {
        assert!(Profile::parse("# nothing\n").is_err());
        assert!(Profile::parse("sort\n").is_err());
    }
}

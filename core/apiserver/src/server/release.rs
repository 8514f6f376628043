//! The releases of Kubernetes between which answers differ.

use std::fmt;
use std::str::FromStr;

/// A release of Kubernetes. Releases that answer alike are one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Release {
    /// v1.36.0 to v1.36.2. A map, struct or list that loses its last member through server-side
    /// apply stays, empty (a regression of structured-merge-diff v6.3.1, taken back in v6.3.3 by
    /// pull request 306).
    V1_36_2,
    /// v1.36.3 and later. A value that loses its last member through server-side apply becomes
    /// null.
    #[default]
    V1_36_3,
}

impl Release {
    /// All of them, the oldest first.
    pub const ALL: [Self; 2] = [Self::V1_36_2, Self::V1_36_3];

    /// The releases that answer so, for people: `v1.36.0 to v1.36.2`.
    pub fn span(self) -> &'static str {
        match self {
            Self::V1_36_2 => "v1.36.0 to v1.36.2",
            Self::V1_36_3 => "v1.36.3",
        }
    }

    /// Returns whether a map, struct or list stays, empty, when server-side apply takes its last
    /// member.
    pub fn keeps_emptied(self) -> bool {
        self == Self::V1_36_2
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1_36_2 => "v1.36.2",
            Self::V1_36_3 => "v1.36.3",
        })
    }
}

impl FromStr for Release {
    type Err = String;

    /// Reads `v1.36.2` or `1.36.2`.
    ///
    /// # Errors
    /// If it is a release that this server does not know.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix('v').unwrap_or(text) {
            "1.36.0" | "1.36.1" | "1.36.2" => Ok(Self::V1_36_2),
            "1.36.3" => Ok(Self::V1_36_3),
            _ => Err(format!("the release {text} is not known")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_read_as_it_is_shown() {
        for release in Release::ALL {
            assert_eq!(release.to_string().parse(), Ok(release));
        }
        assert_eq!("1.36.0".parse(), Ok(Release::V1_36_2));
        assert!("v1.20.0".parse::<Release>().is_err());
    }
}

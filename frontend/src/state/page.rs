//! The ways into Optimist, and how the address says which one is open.

/// One of the ways in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// The sandbox.
    Play,
    /// Every history of the same edits.
    Explore,
    /// Lessons.
    Learn,
}

impl Page {
    /// All, in the order of the navigation.
    pub(crate) const ALL: [Page; 3] = [Page::Play, Page::Explore, Page::Learn];

    /// What the navigation calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Page::Play => "Play",
            Page::Explore => "Explore",
            Page::Learn => "Learn",
        }
    }

    /// What it is about, beside the name.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Page::Play => "Two people edit one Kubernetes object",
            Page::Explore => "Every history of the same edits",
            Page::Learn => "Lessons that run",
        }
    }

    /// The fragment of its address.
    pub(crate) fn fragment(self) -> &'static str {
        match self {
            Page::Play => "#/play",
            Page::Explore => "#/explore",
            Page::Learn => "#/learn",
        }
    }

    /// The page that a fragment opens, whatever follows its name (`#/learn/2`, `#/play?x`); `None`
    /// where it names none, as a jump within the page does.
    pub(crate) fn of_fragment(fragment: &str) -> Option<Self> {
        let rest = fragment.strip_prefix("#/")?;
        let name = rest.split(['/', '?']).next().unwrap_or_default();
        let mut all = Self::ALL.into_iter();
        all.find(|page| page.fragment().strip_prefix("#/") == Some(name))
    }
}

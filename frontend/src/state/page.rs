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

    /// What its address and links call it.
    pub(crate) fn slug(self) -> &'static str {
        self.fragment().trim_start_matches("#/")
    }

    /// The page that a fragment opens, whatever follows its name (`#/learn/2`, `#/play?x`); `None`
    /// where it names no page.
    pub(crate) fn of_fragment(fragment: &str) -> Option<Self> {
        let rest = fragment.strip_prefix("#/")?;
        let name = rest.split(['/', '?']).next().unwrap_or_default();
        Self::ALL.into_iter().find(|page| page.slug() == name)
    }
}

/// What an address asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A page.
    Page(Page),
    /// A place in the page that is open, as `#history`.
    Place,
    /// A page that does not exist, as `#/nope`.
    Unknown,
}

impl Address {
    /// From a fragment. Without one it is Play.
    pub(crate) fn of(fragment: &str) -> Self {
        match (Page::of_fragment(fragment), fragment) {
            (Some(page), _) => Address::Page(page),
            (None, "" | "#" | "#/") => Address::Page(Page::Play),
            (None, other) if other.starts_with("#/") => Address::Unknown,
            (None, _) => Address::Place,
        }
    }
}

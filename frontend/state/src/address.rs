//! The pages and their addresses. This is the only parser of the address.

/// One of the ways in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// The sandbox.
    Play,
    /// Every history of the same edits.
    Explore,
    /// Lessons.
    Learn,
    /// The analysis of a cluster's objects, errors and logs.
    Diagnose,
}

impl Page {
    /// All, in the order of the navigation.
    pub const ALL: [Page; 4] = [Page::Play, Page::Explore, Page::Learn, Page::Diagnose];

    /// The fragment of its address.
    pub fn fragment(self) -> &'static str {
        match self {
            Page::Play => "#/play",
            Page::Explore => "#/explore",
            Page::Learn => "#/learn",
            Page::Diagnose => "#/diagnose",
        }
    }

    /// Returns the name of the page in addresses and links.
    pub fn slug(self) -> &'static str {
        self.fragment().trim_start_matches("#/")
    }
}

/// The fragment of the address of a lesson.
pub fn lesson_fragment(name: &str) -> String {
    format!("{}/{name}", Page::Learn.fragment())
}

/// The fragment of a link that carries a session.
pub fn session_fragment(page: Page, text: &str) -> String {
    format!("{}?s={text}", page.fragment())
}

/// An address of the site, in its parts: `#/learn/01-the-lost-update?s=1pY5L…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'a> {
    /// The page that it opens.
    pub destination: Destination<'a>,
    /// The text of the session that it carries.
    pub session: Option<&'a str>,
    /// The fragment without its session.
    pub place: &'a str,
}

/// The destination of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination<'a> {
    /// To a page other than Learn. Without a fragment it is Play.
    Page(Page),
    /// To Learn.
    Learn(LessonAddress<'a>),
    /// To a place in the page that is open, as `#history`.
    Place,
    /// To a page that does not exist, as `#/nope`.
    Unknown,
}

/// The destination of an address inside Learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LessonAddress<'a> {
    /// To the list of lessons.
    List,
    /// To the lesson of this name.
    Lesson(&'a str),
    /// An address of something that cannot be the name of a lesson.
    Unknown(&'a str),
}

impl<'a> LessonAddress<'a> {
    /// The name of the lesson.
    pub fn name(self) -> Option<&'a str> {
        match self {
            LessonAddress::Lesson(name) => Some(name),
            _ => None,
        }
    }

    /// Reads the text after the name of the page.
    fn parse(path: &'a str) -> Self {
        let name = path.split('/').next().unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        match (path, name) {
            ("", _) => LessonAddress::List,
            (_, "") => LessonAddress::Unknown(path),
            (_, name) if name.chars().all(plain) => LessonAddress::Lesson(name_today(name)),
            _ => LessonAddress::Unknown(path),
        }
    }
}

/// The name that a lesson has today: lesson 25 is a part of lesson 12, and links to it are kept.
fn name_today(name: &str) -> &str {
    match name {
        "25-two-owners" => "12-giving-up-a-field",
        name => name,
    }
}

impl<'a> Address<'a> {
    /// Reads a fragment, with its `#`; the text after the name of a page (`#/play/2`) is ignored
    /// except in Learn.
    pub fn parse(fragment: &'a str) -> Self {
        let (place, query) = fragment.split_once('?').unwrap_or((fragment, ""));
        Self {
            destination: Destination::parse(place, fragment),
            session: query.split('&').find_map(|pair| pair.strip_prefix("s=")),
            place,
        }
    }

    /// The page that it opens.
    pub fn page(&self) -> Option<Page> {
        match self.destination {
            Destination::Page(page) => Some(page),
            Destination::Learn(_) => Some(Page::Learn),
            Destination::Place | Destination::Unknown => None,
        }
    }
}

impl<'a> Destination<'a> {
    fn parse(place: &'a str, fragment: &str) -> Self {
        let Some(rest) = place.strip_prefix("#/") else {
            return match fragment {
                "" | "#" => Destination::Page(Page::Play),
                _ => Destination::Place,
            };
        };
        let (name, path) = rest.split_once('/').unwrap_or((rest, ""));
        match Page::ALL.into_iter().find(|page| page.slug() == name) {
            Some(Page::Learn) => Destination::Learn(LessonAddress::parse(path)),
            Some(page) => Destination::Page(page),
            None if fragment == "#/" => Destination::Page(Page::Play),
            None => Destination::Unknown,
        }
    }
}

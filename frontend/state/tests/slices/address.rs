//! Requests in an address.

use optimist_state::{
    Address, Destination, LessonAddress, Msg, Page as WayIn, lesson_fragment, session_fragment,
};

use crate::page::Page;

#[test]
fn an_address_says_where_it_leads_and_what_it_carries() {
    use Destination::{Learn, Page, Place, Unknown};
    let cases: [(&str, Destination<'_>, Option<&str>); 19] = [
        ("", Page(WayIn::Play), None),
        ("#", Page(WayIn::Play), None),
        ("#/", Page(WayIn::Play), None),
        ("#/play", Page(WayIn::Play), None),
        ("#/play/2", Page(WayIn::Play), None),
        ("#/play?s=abc", Page(WayIn::Play), Some("abc")),
        ("#/play?x=1&s=abc&t=2", Page(WayIn::Play), Some("abc")),
        ("#/explore?s=abc", Page(WayIn::Explore), Some("abc")),
        ("#/explore?other", Page(WayIn::Explore), None),
        ("#/learn", Learn(LessonAddress::List), None),
        ("#/learn/", Learn(LessonAddress::List), None),
        ("#/learn?s=abc", Learn(LessonAddress::List), Some("abc")),
        ("#/learn/01-a", Learn(LessonAddress::Lesson("01-a")), None),
        (
            "#/learn/01-a/2?s=x",
            Learn(LessonAddress::Lesson("01-a")),
            Some("x"),
        ),
        (
            "#/learn/25-two-owners",
            Learn(LessonAddress::Lesson("12-giving-up-a-field")),
            None,
        ),
        ("#/learn/../a", Learn(LessonAddress::Unknown("../a")), None),
        ("#history", Place, None),
        ("#/nope", Unknown, None),
        ("#/?s=abc", Unknown, Some("abc")),
    ];
    for (fragment, destination, session) in cases {
        let address = Address::parse(fragment);
        assert_eq!(address.destination, destination, "{fragment}");
        assert_eq!(address.session, session, "{fragment}");
        assert_eq!(
            address.place,
            fragment.split('?').next().unwrap(),
            "{fragment}"
        );
    }
}

#[test]
fn what_the_page_writes_into_an_address_is_read_again() {
    for page in WayIn::ALL {
        assert_eq!(Address::parse(page.fragment()).page(), Some(page));
        let link = session_fragment(page, "1abc_-");
        let link = Address::parse(&link);
        assert_eq!((link.page(), link.session), (Some(page), Some("1abc_-")));
    }
    let lesson = lesson_fragment("07-merge-patch");
    assert_eq!(
        Address::parse(&lesson).destination,
        Destination::Learn(LessonAddress::Lesson("07-merge-patch"))
    );
}

#[test]
fn an_address_that_leads_nowhere_is_said_until_it_is_dismissed() {
    let mut page = Page::open();
    page.send(Msg::Address("#/nope".to_owned()));
    assert_eq!(page.state.page, WayIn::Play);
    assert_eq!(page.state.unknown_address.as_deref(), Some("#/nope"));
    page.send(Msg::DismissNotice);
    assert_eq!(page.state.unknown_address, None);
}

#[test]
fn explore_stays_open_behind_the_other_pages() {
    let mut page = Page::open();
    assert!(!page.state.explore.opened);
    page.send(Msg::Address("#/explore".to_owned()));
    page.send(Msg::Address("#/play".to_owned()));
    assert_eq!(page.state.page, WayIn::Play);
    assert!(page.state.explore.opened);
}

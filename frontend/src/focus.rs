//! Moves the keyboard when the element that had it is gone, hidden or disabled. A browser then
//! gives it to the page as a whole, and a user of the keyboard would begin again at the top.

use std::cell::RefCell;

use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement};
use yew::TargetCast;

use crate::browser;

/// The elements that a key can reach.
const FOCUSABLE: &str = "button, a[href], input, select, textarea, summary, [tabindex=\"0\"]";

/// The main parts of a page, for a page that is wholly new: the text of a lesson, the history, or
/// everything.
const CONTENTS: [&str; 3] = ["#lesson-text", "#history", "main"];

thread_local! {
    /// The element that had the keyboard last, and everything around it, from the inside.
    static HELD: RefCell<Vec<HtmlElement>> = const { RefCell::new(Vec::new()) };
}

/// Records the element that gets the keyboard.
pub(crate) fn record_holder(event: &Event) {
    let mut held: Vec<HtmlElement> = Vec::new();
    let mut next = event.target_dyn_into::<Element>();
    while let Some(element) = next {
        next = element.parent_element();
        held.extend(element.dyn_into::<HtmlElement>());
    }
    HELD.replace(held);
}

/// Gives the keyboard to something near, after the next rendering, if the element that had it can no
/// longer have it.
pub(crate) fn mend() {
    Timeout::new(0, || {
        let held = HELD.take();
        if is_lost(&held) {
            give(&held);
        } else {
            HELD.replace(held);
        }
    })
    .forget();
}

/// Returns whether the last drawing took the keyboard from its element. A click beside all controls
/// gives it away, and does not count.
fn is_lost(held: &[HtmlElement]) -> bool {
    let holder = browser::holder();
    holder.is_none_or(|holder| !can_have_it(&holder))
        && held.first().is_some_and(|last| !can_have_it(last))
}

fn can_have_it(element: &HtmlElement) -> bool {
    let disabled = element.matches(":disabled").unwrap_or(false);
    element.is_connected() && !disabled && element.offset_width() > 0
}

/// Gives the keyboard to the nearest element around the one that had it: to that itself, or to the first
/// control in it. If another page has none of these elements, a user who came by a link gets the link of
/// that page, and any other user its content.
fn give(held: &[HtmlElement]) {
    let around = held.iter().skip(1);
    // The root of the page is around everything: its first control is near to nothing.
    let is_part = |place: &&HtmlElement| !place.matches("#app, body, html").unwrap_or(false);
    for place in around.filter(is_part).filter(|place| can_have_it(place)) {
        let itself = place.has_attribute("tabindex").then(|| place.clone());
        let first = || browser::all_within(place, FOCUSABLE).find_map(controlled);
        if give_to(itself.or_else(first)) {
            return;
        }
    }
    let by_link = held
        .iter()
        .any(|element| element.matches(".pages").unwrap_or(false));
    let link = by_link.then_some(".pages a[aria-current]");
    for place in link.into_iter().chain(CONTENTS) {
        let found = browser::document().and_then(|page| page.query_selector(place).ok()?);
        let found = found.and_then(|found| found.dyn_into::<HtmlElement>().ok());
        if let Some(found) = found.filter(can_have_it) {
            if found.tab_index() < 0 {
                found.set_tab_index(-1);
            }
            if give_to(Some(found)) {
                return;
            }
        }
    }
}

fn controlled(element: Element) -> Option<HtmlElement> {
    let element = element.dyn_into::<HtmlElement>().ok()?;
    can_have_it(&element).then_some(element)
}

/// Gives the keyboard to an element, and tells whether the element took it.
fn give_to(element: Option<HtmlElement>) -> bool {
    element.is_some_and(|element| {
        // What cannot have it leaves it where it is.
        let _ = element.focus();
        browser::holder().is_some_and(|holder| holder == element)
    })
}

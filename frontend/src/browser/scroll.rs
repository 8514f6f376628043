//! Scrolling: what a step is about, and the parts that scroll together.

use web_sys::{Element, Event};
use yew::TargetCast;

use super::{all_within, document};

/// Scrolls as little as is needed to see an element and some space around it, in the scrolling part
/// directly around it and nothing else: the page itself stays where it is.
pub(crate) fn reveal(selector: &str, margin: f64) {
    let found = document().and_then(|document| document.query_selector(selector).ok()?);
    let Some(element) = found else { return };
    let Ok(Some(around)) = element.closest(".timeline, .yaml, .program-lines") else {
        return;
    };
    let (inner, outer) = (
        element.get_bounding_client_rect(),
        around.get_bounding_client_rect(),
    );
    let above = outer.top() + margin - inner.top();
    let below = inner.bottom() + margin - outer.bottom();
    let by = if above > 0.0 { -above } else { below.max(0.0) };
    if by != 0.0 {
        around.set_scroll_top(whole_lines(&around, f64::from(around.scroll_top()) + by));
    }
    // Where the cards and what happened scroll together, what happened comes into sight.
    if element.matches(".step").unwrap_or(false)
        && let Ok(Some(stage)) = element.closest(".stage")
    {
        let hidden =
            element.get_bounding_client_rect().bottom() - stage.get_bounding_client_rect().bottom();
        stage.set_scroll_top(stage.scroll_top() + hidden.max(0.0).ceil() as i32);
    }
}

/// Scrolls a row sideways as little as is needed to see one of its parts and some space beside it.
pub(crate) fn reveal_in_row(row: &str, part: &str, margin: f64) {
    let found = document().and_then(|document| document.query_selector(row).ok()?);
    let Some(row) = found else { return };
    let Ok(Some(part)) = row.query_selector(part) else {
        return;
    };
    let (inner, outer) = (
        part.get_bounding_client_rect(),
        row.get_bounding_client_rect(),
    );
    let before = inner.left() - outer.left() - margin;
    let behind = inner.right() - outer.right() + margin;
    let by = if before < 0.0 {
        before
    } else {
        behind.max(0.0)
    };
    row.set_scroll_left(row.scroll_left() + by.round() as i32);
}

/// Scrolls all parts as far as the one that was scrolled.
pub(crate) fn scroll_alike(around: &Element, selector: &str, event: &Event) {
    let Some(scrolled) = event.target_dyn_into::<Element>() else {
        return;
    };
    if !scrolled.matches(selector).unwrap_or(false) {
        return;
    }
    let top = scrolled.scroll_top();
    let at_end = top + scrolled.client_height() >= scrolled.scroll_height() - 1;
    for part in all_within(around, selector) {
        // One that is at its end does not hold those back that are longer.
        let held_back = at_end && part.scroll_top() > top;
        // One that is as far is not scrolled, so this ends.
        if part != scrolled && part.scroll_top() != top && !held_back {
            part.set_scroll_top(top);
        }
    }
}

/// Returns how far to scroll so that no line of a text is cut at its upper edge: `so_far`, or a
/// little more.
fn whole_lines(around: &Element, so_far: f64) -> i32 {
    let first = around.query_selector(":scope > .line").ok().flatten();
    let Some(line) = first.map(|line| line.get_bounding_client_rect()) else {
        return so_far.round() as i32;
    };
    let padding =
        line.top() - around.get_bounding_client_rect().top() + f64::from(around.scroll_top());
    let lines = ((so_far - padding) / line.height().max(1.0)).ceil();
    if lines < 0.0 {
        return 0;
    }
    (padding + lines * line.height()).round() as i32
}

/// Scrolls a scrolling part so that the first inner part found in it is on top; to the beginning if
/// there is no such part.
pub(crate) fn scroll_within(outer: &str, part: &str) {
    let found = document().and_then(|document| document.query_selector(outer).ok()?);
    let Some(outer) = found else { return };
    let top = match outer.query_selector(part) {
        Ok(Some(part)) => {
            let above =
                part.get_bounding_client_rect().top() - outer.get_bounding_client_rect().top();
            outer.scroll_top() + above.round() as i32 - 8
        }
        _ => 0,
    };
    outer.set_scroll_top(top);
}

/// Scrolls a scrolling part to its beginning.
pub(crate) fn scroll_to_top(selector: &str) {
    let found = document().and_then(|document| document.query_selector(selector).ok()?);
    if let Some(outer) = found {
        outer.set_scroll_top(0);
    }
}

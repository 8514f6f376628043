//! Moves the keyboard over an object: the object is one stop of the Tab key, and the arrows go from
//! line to line.

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};
use yew::{Callback, KeyboardEvent};

use crate::browser;

/// The control of each line: what folds it, what edits its value, or what adds a field.
const CONTROLS: &str = ".line > :is(button.fold, button.value, button.tool)";

/// Moves from line to line by Up, Down, Home and End; Left folds a line and Right opens it.
pub(super) fn line_to_line(region: String) -> Callback<KeyboardEvent> {
    Callback::from(move |event: KeyboardEvent| {
        let modified = event.ctrl_key() || event.alt_key() || event.meta_key();
        let (Some(region), Some(holder)) = (browser::element(&region), browser::holder()) else {
            return;
        };
        if modified || event.default_prevented() {
            return;
        }
        let key = event.key();
        if fold(&holder, &key) || go(&region, &holder, &key) {
            event.prevent_default();
        }
    })
}

/// Opens or closes the fold that has the keyboard. Returns whether it did.
fn fold(holder: &HtmlElement, key: &str) -> bool {
    let open = match key {
        "ArrowRight" => "false",
        "ArrowLeft" => "true",
        _ => return false,
    };
    let folds = holder.get_attribute("aria-expanded").as_deref() == Some(open);
    if folds {
        holder.click();
    }
    folds
}

/// Gives the keyboard to another line. Returns whether there is one.
fn go(region: &Element, holder: &HtmlElement, key: &str) -> bool {
    let controls = controls(region);
    let here = controls.iter().position(|control| control == holder);
    // A field in which somebody types has its own use for the keys.
    if here.is_none() && region != holder.as_ref() {
        return false;
    }
    let to = match (key, here) {
        ("ArrowDown", None) => Some(0),
        ("ArrowDown", Some(here)) => Some(here + 1),
        ("ArrowUp", Some(here)) => here.checked_sub(1),
        ("Home", Some(_)) => Some(0),
        ("End", Some(_)) => controls.len().checked_sub(1),
        _ => None,
    };
    let Some(control) = to.and_then(|to| controls.get(to)) else {
        return false;
    };
    // A control that cannot take the focus leaves it where it is.
    control.focus().is_ok()
}

/// Lists the controls of the lines that are drawn, from top to bottom.
fn controls(region: &Element) -> Vec<HtmlElement> {
    let Ok(found) = region.query_selector_all(CONTROLS) else {
        return Vec::new();
    };
    let all = (0..found.length()).filter_map(|i| found.item(i)?.dyn_into::<HtmlElement>().ok());
    all.filter(|control| control.offset_width() > 0).collect()
}

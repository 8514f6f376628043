//! Histories that fork: named, compared and deleted, in a browser.

use wasm_bindgen_test::wasm_bindgen_test;

use crate::page::Page;

const A: &str = "Editor A";
const B: &str = "Editor B";

/// A wrote first in one history, B in the other.
async fn two_histories() -> Page {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.press(B, "Get").await;
    page.set(A, "spec.replicas", "5").await;
    page.set(B, "spec.replicas", "2").await;
    page.press(A, "Send").await;
    page.press("Steps", "Back").await;
    page.press(B, "Send").await;
    page.press("Steps", "2 histories").await;
    page
}

#[wasm_bindgen_test]
async fn two_histories_are_named_and_compared_side_by_side() {
    let page = two_histories().await;
    assert!(
        page.dialog().contains("ends with Editor "),
        "{}",
        page.dialog()
    );
    page.rename("Name of History 1", "A first").await;
    let list = page.dialog();
    assert!(list.contains("They part after step 2."), "{list}");
    assert!(list.contains("A firstEditor A: PUT replicas 3→5"), "{list}");
    assert!(list.contains("spec.replicas25"), "{list}");
    page.press_in_dialog("Open A first").await;
    assert!(page.text("Stored object").contains("replicas: 5"));
}

#[wasm_bindgen_test]
async fn a_history_is_deleted_and_the_other_one_stays() {
    let page = two_histories().await;
    page.press_in_dialog("Delete History 2").await;
    assert!(page.dialog().contains("There is one history."));
    page.close_dialog().await;
    assert!(!page.has("Steps", "2 histories"));
    page.press("Steps", "Last").await;
    assert!(page.text("Stored object").contains("replicas: 5"));
}

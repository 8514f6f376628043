//! What gives way to what on the page, in a browser.

use wasm_bindgen_test::wasm_bindgen_test;

use crate::page::Page;

const A: &str = "Editor A";

#[wasm_bindgen_test]
async fn the_keyboard_moves_the_line_between_cards_and_timeline_and_a_reload_keeps_it() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.focus(".divider").await;
    page.key_in_field("ArrowUp").await;
    assert_eq!(page.attribute(".stage", "style"), "--cards:60%");
    assert_eq!(page.attribute(".divider", "aria-valuenow"), "60");
    page.key_in_field("Home").await;
    assert_eq!(page.attribute(".stage", "style"), "--cards:25%");
    assert_eq!(page.position(), "step 1 / 1", "the steps stay");
    page.close().await;
    let page = Page::reopen().await;
    assert_eq!(page.attribute(".stage", "style"), "--cards:25%");
    page.focus(".divider").await;
    page.key_in_field("Enter").await;
    assert_eq!(page.attribute(".divider", "aria-valuenow"), "64");
}

#[wasm_bindgen_test]
async fn what_was_loaded_is_said_until_the_next_request() {
    let page = Page::open().await;
    page.load_config("settings").await;
    assert!(
        page.text("What happened")
            .contains("Loaded ConfigMap settings")
    );
    page.press(A, "Get").await;
    assert!(!page.text("What happened").contains("Loaded"));
}

#[wasm_bindgen_test]
async fn the_markdown_of_a_session_can_be_copied() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.press_named("Share").await;
    page.press_named("Copy the Markdown").await;
    page.until("it says whether it copied", |page| {
        let text = page.all_text();
        text.contains("Copied") || text.contains("Select it to copy")
    })
    .await;
}

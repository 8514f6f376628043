//! A session outlives its page, in a browser.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod page;

use page::Page;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

const A: &str = "Editor A";
const B: &str = "Editor B";

/// Two histories, and an edit that was not sent.
async fn a_session() -> Page {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.set(A, "spec.replicas", "5").await;
    page.press(A, "Send").await;
    page.press("Steps", "Back").await;
    page.press(B, "Get").await;
    page.set(B, "spec.replicas", "2").await;
    page
}

#[wasm_bindgen_test]
async fn a_reload_brings_back_every_branch_and_what_was_not_sent() {
    a_session().await.close().await;
    let page = Page::reopen().await;
    page.linger().await;
    assert_eq!(page.position(), "step 2 / 2");
    assert!(page.has("Steps", "2 histories"));
    assert!(page.text(B).contains("was 3"), "{}", page.text(B));
}

#[wasm_bindgen_test]
async fn another_tab_opens_as_new_and_is_offered_the_session_of_before() {
    a_session().await.close().await;
    let window = web_sys::window().unwrap();
    window.session_storage().unwrap().unwrap().clear().unwrap();
    let page = Page::reopen().await;
    page.linger().await;
    assert_eq!(page.position(), "step 0 / 0");
    assert!(page.all_text().contains("There is a session from before."));
    page.press_named("Open it").await;
    page.linger().await;
    assert_eq!(page.position(), "step 2 / 2");
}

#[wasm_bindgen_test]
async fn a_page_on_which_nothing_was_done_leaves_nothing_behind() {
    Page::open().await.close().await;
    let window = web_sys::window().unwrap();
    let storage = window.session_storage().unwrap().unwrap();
    assert_eq!(storage.get_item("optimist.session").unwrap(), None);
}

#[wasm_bindgen_test]
async fn a_kept_session_that_is_damaged_is_said_and_keeps_nobody_out() {
    a_session().await.close().await;
    let window = web_sys::window().unwrap();
    let storage = window.session_storage().unwrap().unwrap();
    storage.set_item("optimist.session", "1nonsense").unwrap();
    let page = Page::reopen().await;
    page.linger().await;
    assert!(page.dialog().contains("Not opened."), "{}", page.dialog());
    page.close_dialog().await;
    page.press(A, "Get").await;
    assert_eq!(page.position(), "step 1 / 1");
}

#[wasm_bindgen_test]
async fn what_brought_the_page_down_once_is_not_opened_again_unasked() {
    a_session().await.close().await;
    let window = web_sys::window().unwrap();
    let storage = window.session_storage().unwrap().unwrap();
    storage.set_item("optimist.opening", "1").unwrap();
    let page = Page::reopen().await;
    page.linger().await;
    assert_eq!(page.position(), "step 0 / 0");
    assert!(page.all_text().contains("There is a session from before."));
}

//! The inspector: the answer first, and the request in other forms, in a browser.

use wasm_bindgen_test::wasm_bindgen_test;

use crate::page::Page;

const INSPECTOR: &str = "Inspector";

#[wasm_bindgen_test]
async fn the_answer_and_its_reason_come_before_both_bodies() {
    let page = Page::conflict().await;
    let text = page.text(INSPECTOR);
    let (_, text) = text.split_once("Preview").unwrap();
    let at = |part: &str| {
        text.find(part)
            .unwrap_or_else(|| panic!("{part} in {text}"))
    };
    let order = [
        "409 Conflict",
        "PUT …/nginx-deployment",
        "the object has been modified",
        "Why",
        "Sent version 100, stored version 101",
        "Request",
        "\"resourceVersion\": \"100\"",
        "Answer body",
    ];
    assert!(order.map(at).is_sorted(), "{text}");
    // The other tabs have no second copy of the reason.
    page.press(INSPECTOR, "kubectl").await;
    assert!(!page.text(INSPECTOR).contains("Sent version"));
}

#[wasm_bindgen_test]
async fn the_kubectl_tab_begins_with_what_the_terminal_prints() {
    let page = Page::conflict().await;
    page.press(INSPECTOR, "kubectl").await;
    let printed = page.text("The terminal prints");
    assert!(
        printed.starts_with("Error from server (Conflict): error when replacing \"STDIN\": Oper"),
        "{printed}"
    );
    let text = page.text(INSPECTOR);
    assert!(
        text.find(&printed) < text.find("kubectl replace -n default --field-manager"),
        "{text}"
    );
    page.press("Steps", "Back").await;
    assert_eq!(
        page.text("The terminal prints"),
        "deployment.apps/nginx-deployment replaced"
    );
}

#[wasm_bindgen_test]
async fn the_diff_has_what_was_read_what_was_wanted_and_what_is_stored() {
    let page = Page::conflict().await;
    page.press(INSPECTOR, "Diff").await;
    let text = page.text(INSPECTOR);
    assert!(
        text.contains("Read 100Working copyStored 101spec.replicas325"),
        "{text}"
    );
    page.press("Steps", "First").await;
    page.press("Steps", "Forward").await;
    assert!(page.text(INSPECTOR).contains("A read changes nothing."));
}

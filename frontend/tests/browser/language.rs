//! The language that the address asks for, in a browser.

use wasm_bindgen_test::wasm_bindgen_test;

use crate::page::{Page, serve};

/// A language that translates a caption of each kind and the label of a button.
const XX: &str = "# A test\nstart_title = Du redaktoroj, unu objekto.\nnone_of_these = ?\n\
    read_title = {name} legis version {version}.\ndiscard = Forĵeti la redaktojn\n";

async fn page_with(query: &str) -> Page {
    serve([("messages/xx.txt".to_owned(), XX)]);
    Page::open_with_query(query).await
}

#[wasm_bindgen_test]
async fn the_page_speaks_the_language_that_its_address_asks_for() {
    let page = page_with("?lang=xx").await;
    assert!(page.all_text().contains("Du redaktoroj, unu objekto."));
    page.press("Editor A", "Get").await;
    let text = page.all_text();
    assert!(text.contains("Editor A legis version 100."), "{text}");
    assert!(
        text.contains("Reading does not lock"),
        "the rest is English"
    );
    page.set("Editor A", "spec.replicas", "5").await;
    assert!(page.has("Editor A", "Forĵeti la redaktojn"));
    drop(page);

    // The texts of a test that comes later are English again.
    optimist_messages::choose("");
    for query in ["?lang=yy", "?lang=../xx", "?lang=en", ""] {
        let page = page_with(query).await;
        let text = page.all_text();
        assert!(text.contains("Two editors, one object."), "{query}: {text}");
    }
}

//! The layout of the page in a browser: some parts give way to others.

use wasm_bindgen_test::wasm_bindgen_test;

use crate::page::Page;

const A: &str = "Editor A";
const B: &str = "Editor B";

#[wasm_bindgen_test]
async fn the_keyboard_moves_the_line_between_cards_and_timeline_and_a_reload_keeps_it() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.focus(".divider").await;
    page.key_in_field("ArrowUp").await;
    assert_eq!(page.attribute(".stage", "style"), "--cards:64%");
    assert_eq!(page.attribute(".divider", "aria-valuenow"), "64");
    page.key_in_field("Home").await;
    assert_eq!(page.attribute(".stage", "style"), "--cards:25%");
    assert_eq!(page.position(), "step 1 / 1", "the steps stay");
    page.close().await;
    let page = Page::reopen().await;
    assert_eq!(page.attribute(".stage", "style"), "--cards:25%");
    page.focus(".divider").await;
    page.key_in_field("Enter").await;
    assert_eq!(page.attribute(".divider", "aria-valuenow"), "68");
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

#[wasm_bindgen_test]
async fn the_help_names_the_keys_of_the_line_below_the_cards_and_has_the_other_theme() {
    let page = Page::open().await;
    page.key("?").await;
    let help = page.dialog();
    for part in [
        "On the line below the cards",
        "↑↓",
        "lower cards, higher cards",
        "the height from before it was moved",
        "as the third actor",
    ] {
        assert!(help.contains(part), "{part} in {help}");
    }
    let theme = |help: &str| help.contains("Dark theme");
    let was_light = theme(&help);
    let other = if was_light {
        "Dark theme"
    } else {
        "Light theme"
    };
    page.press_in_dialog(other).await;
    assert_eq!(theme(&page.dialog()), !was_light);
    let back = if was_light {
        "Light theme"
    } else {
        "Dark theme"
    };
    page.press_in_dialog(back).await;
    page.close_dialog().await;
}

#[wasm_bindgen_test]
async fn the_cards_scroll_together_so_that_a_field_stays_on_one_line() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.press(B, "Get").await;
    // So that there is something to scroll, whatever the height of the window.
    page.press(A, "… 6 more").await;
    page.press(A, "… 3 defaults").await;
    for card in ["a", "server", "b"] {
        let yaml = page.element(&format!("#card-{card} .yaml"));
        yaml.set_attribute("style", "height: 120px; overflow: auto")
            .unwrap();
    }
    let (a, others) = (
        page.element("#card-a .yaml"),
        ["server", "b"].map(|card| page.element(&format!("#card-{card} .yaml"))),
    );
    a.set_scroll_top(54);
    page.until("the others follow", |_| {
        others.iter().all(|other| other.scroll_top() == 54)
    })
    .await;
    others[1].set_scroll_top(18);
    page.until("the first follows too", |_| a.scroll_top() == 18)
        .await;
}

#[wasm_bindgen_test]
async fn bookkeeping_and_defaults_are_folded_and_a_fold_that_hides_a_change_is_marked() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    let card = page.text(A);
    for hidden in ["managedFields:", "generation:", "progressDeadlineSeconds"] {
        assert!(!card.contains(hidden), "{hidden} in {card}");
    }
    page.set(A, "spec.replicas", "5").await;
    page.press(A, "spec:").await;
    let marked = page.find("#card-a .line.marked").unwrap_or_default();
    assert!(marked.contains("spec: …"), "{marked}");
    page.press(A, "Discard edits").await;
    assert_eq!(page.count("#card-a .line.marked"), 0);
}

//! The server card's Watch view, worked as a person works it, in a browser.

use wasm_bindgen_test::wasm_bindgen_test;

use crate::page::Page;

const A: &str = "Editor A";
const SERVER: &str = "API server";
const EVENTS: &str = "Events of the watch";
const FROM: &str = "resourceVersion to watch from";

async fn watch_view() -> Page {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.press("What the server has", "Watch").await;
    page
}

async fn change(page: &Page, replicas: &str) {
    page.set(A, "spec.replicas", replicas).await;
    page.press(A, "Send").await;
}

/// A watch that was dropped at 100, while the object was changed twice.
async fn dropped_and_changed_twice() -> Page {
    let page = watch_view().await;
    page.press(SERVER, "Open").await;
    page.press(SERVER, "Drop").await;
    change(&page, "5").await;
    change(&page, "6").await;
    page
}

#[wasm_bindgen_test]
async fn an_open_watch_shows_what_is_there_and_then_each_change_as_it_is_made() {
    let page = watch_view().await;
    page.press(SERVER, "Open").await;
    assert_eq!(page.text(EVENTS), "ADDEDrv 100");
    change(&page, "5").await;
    assert!(
        page.text(EVENTS).ends_with("MODIFIEDrv 101replicas 3→5"),
        "{}",
        page.text(EVENTS)
    );
    assert_eq!(
        page.find(".step.current .heard").as_deref(),
        Some("MODIFIED · rv 101")
    );
    assert!(
        page.said()
            .contains("The watcher receives MODIFIED · rv 101")
    );
}

#[wasm_bindgen_test]
async fn dropped_changed_twice_and_resumed_a_watch_brings_both_events() {
    let page = dropped_and_changed_twice().await;
    assert!(
        page.text(SERVER)
            .contains("Dropped at 100: 2 events missed"),
        "{}",
        page.text(SERVER)
    );
    assert_eq!(page.text(EVENTS), "ADDEDrv 100");
    page.press(SERVER, "Resume 100").await;
    let events = page.text(EVENTS);
    assert!(
        events.ends_with("MODIFIEDrv 101replicas 3→5MODIFIEDrv 102replicas 5→6"),
        "{events}"
    );
    let request = page.text("Inspector");
    assert!(
        request.contains("resourceVersion=100&watch=true"),
        "{request}"
    );
}

#[wasm_bindgen_test]
async fn after_compacting_an_old_version_gets_the_410_and_listing_again_mends_it() {
    let page = dropped_and_changed_twice().await;
    page.press(SERVER, "Resume").await;
    page.press(SERVER, "Compact").await;
    assert!(page.text("What happened").contains("Compacted at 102"));
    page.choose(FROM, "100").await;
    page.press(SERVER, "Open").await;
    assert!(
        page.text(SERVER).contains("410 Expired"),
        "{}",
        page.text(SERVER)
    );
    assert!(
        page.text(EVENTS)
            .contains("too old resource version: 100 (102)"),
        "{}",
        page.text(EVENTS)
    );
    assert!(
        page.text("What happened")
            .contains("410: these changes are no longer available")
    );
    assert!(
        page.text("Response body")
            .contains("\"reason\": \"Expired\"")
    );
    page.press(SERVER, "List again").await;
    assert!(
        page.text(SERVER).contains("Open from 102"),
        "{}",
        page.text(SERVER)
    );
    change(&page, "7").await;
    assert!(page.text(EVENTS).ends_with("MODIFIEDrv 103replicas 6→7"));
}

#[wasm_bindgen_test]
async fn compacting_without_a_restart_leaves_what_the_watch_cache_holds() {
    let page = dropped_and_changed_twice().await;
    page.press(SERVER, "restart the server too").await;
    page.press(SERVER, "Compact").await;
    assert!(page.text("What happened").contains("watch cache did not"));
    page.press(SERVER, "Resume").await;
    assert!(
        page.text(EVENTS).contains("rv 101"),
        "{}",
        page.text(EVENTS)
    );
}

#[wasm_bindgen_test]
async fn stepping_back_restores_the_watch_as_it_was() {
    let page = dropped_and_changed_twice().await;
    for _ in 0..3 {
        page.press("Steps", "Back").await;
    }
    assert!(
        page.text(SERVER).contains("Open from now"),
        "{}",
        page.text(SERVER)
    );
    page.press("Steps", "Last").await;
    assert!(page.text(SERVER).contains("2 events missed"));
    page.press("What the server has", "Revisions").await;
    assert!(page.text("Stored versions").contains("rv 102"));
}

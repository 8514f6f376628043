//! Controllers as actors, worked as a person works it.

use wasm_bindgen_test::wasm_bindgen_test;

use crate::page::Page;

const A: &str = "Editor A";
const CONTROLLER: &str = "Controller";
const CHILDREN: &str = "Objects of the session";
const MEMORY: &str = "Cache and queue";
const PROGRAM: &str = "Program of the controller";
const SWITCHES: &str = "Switches of this controller";

/// The example that makes one child for each parent.
async fn child_maker() -> Page {
    let page = Page::open().await;
    page.press("Editor B", "Add another actor").await;
    page.press("Another actor", "Child maker").await;
    page
}

/// The same, after the first child was made and A changed the parent. The event of the child has
/// not arrived when the controller hears of the change.
async fn second_run() -> Page {
    let page = child_maker().await;
    page.press(CONTROLLER, "Run to the end").await;
    page.press("Open card", "Editor A").await;
    page.press(A, "Get").await;
    page.set(A, "spec.size", "2").await;
    page.press(A, "Send").await;
    page.choose("Whose lane this is", CONTROLLER).await;
    page.press(MEMORY, "Deliver the next Widget event").await;
    page.press(CONTROLLER, "Run to the end").await;
    page
}

/// Returns how many children the server has.
fn children(page: &Page) -> usize {
    page.text(CHILDREN).matches("ConfigMap").count()
}

#[wasm_bindgen_test]
async fn a_second_child_is_made_from_a_cache_that_is_behind() {
    let page = second_run().await;
    assert_eq!(children(&page), 2, "{}", page.text(CHILDREN));
    let card = page.text(CONTROLLER);
    assert!(card.contains("behind by 2"), "{card}");
    assert!(card.contains("Deliver next event (2)"), "{card}");
    let history = page.text("History");
    assert!(history.contains("not arrived"), "{history}");
    assert!(history.contains("run 2"), "{history}");
}

#[wasm_bindgen_test]
async fn a_second_controller_has_a_card_and_a_lane_beside_the_first() {
    let page = child_maker().await;
    page.press(CONTROLLER, "Add another actor: Editor D").await;
    page.press("One more controller", "Child maker").await;
    // Each card is for its controller: both make a child, before an event arrives.
    page.press("Controller D", "Run to the end").await;
    assert_eq!(children(&page), 1);
    page.press("Other actors", "Controller C").await;
    page.press("Controller C", "Run to the end").await;
    assert_eq!(children(&page), 2, "{}", page.text(CHILDREN));
    let card = page.text("Controller C");
    assert!(card.contains("behind by 2"), "{card}");
    let caption = page.all_text();
    let broken = "Controller C, Controller D: This is broken: there are 2 ConfigMap objects";
    assert!(caption.contains(broken), "{caption}");
    let other = page.text("Other actors");
    assert!(other.contains("Controller D"), "{other}");
}

#[wasm_bindgen_test]
async fn with_the_name_from_the_owner_the_second_create_is_refused() {
    let page = second_run().await;
    page.press(SWITCHES, "names from the owner").await;
    assert_eq!(children(&page), 1, "{}", page.text(CHILDREN));
    let history = page.text("History");
    assert!(history.contains("409"), "{history}");
    assert!(page.all_text().contains("AlreadyExists"));
    page.press(SWITCHES, "names from the owner").await;
    assert_eq!(children(&page), 2, "the switch goes back");
}

#[wasm_bindgen_test]
async fn a_step_back_undoes_what_the_controller_did() {
    let page = child_maker().await;
    page.press(CONTROLLER, "Run to the end").await;
    assert_eq!(children(&page), 1);
    page.press("Steps", "Back").await;
    page.press("Steps", "Back").await;
    assert_eq!(children(&page), 0);
    assert!(page.text(CONTROLLER).contains("run 1 of default/web"));
    page.press("Steps", "Forward").await;
    assert_eq!(children(&page), 1);
}

#[wasm_bindgen_test]
async fn a_restart_empties_the_cache_and_the_queue() {
    let page = child_maker().await;
    assert!(page.text(CONTROLLER).contains("queue: web"));
    assert!(
        page.text(MEMORY).contains("web100"),
        "{}",
        page.text(MEMORY)
    );
    page.press(CONTROLLER, "Restart").await;
    let card = page.text(CONTROLLER);
    assert!(
        card.contains("cache empty") && card.contains("queue empty"),
        "{card}"
    );
    assert!(!page.text(MEMORY).contains("web100"));
    page.press(CONTROLLER, "Open the watch").await;
    assert!(page.text(CONTROLLER).contains("queue: web"));
}

#[wasm_bindgen_test]
async fn the_program_shows_its_current_line_in_three_languages() {
    let page = child_maker().await;
    assert_eq!(page.count(".program-line.current"), 0, "no run has begun");
    page.press(CONTROLLER, "Step").await;
    let current = |page: &Page| page.find(".program-line.current code").unwrap_or_default();
    assert!(current(&page).contains("r.Get(ctx, req.NamespacedName"));
    page.press(CONTROLLER, "Rust").await;
    assert!(current(&page).starts_with("async fn reconcile(parent:"));
    page.press(CONTROLLER, "Plain").await;
    assert_eq!(
        current(&page),
        "parent = the Widget of the key, as the cache has it"
    );
    page.press(CONTROLLER, "Go").await;
    page.press(CONTROLLER, "Step").await;
    page.press(CONTROLLER, "Step").await;
    assert!(
        current(&page).contains("r.Create(ctx, child)"),
        "{}",
        current(&page)
    );
    assert!(page.text(PROGRAM).contains("server"));
    let values = page.text("Variables of the run");
    assert!(
        values.contains("no objects") && values.contains("server has 0"),
        "{values}"
    );
}

#[wasm_bindgen_test]
async fn the_load_dialog_leads_to_the_examples_with_a_sentence_each() {
    let page = Page::open().await;
    page.press_named("Load manifest").await;
    page.press_named("Controller examples").await;
    let examples = page.text("Another actor");
    for name in [
        "Child maker",
        "Scaler",
        "Status writer",
        "Finalizer keeper",
        "Copier",
    ] {
        assert!(examples.contains(name), "{examples}");
    }
}

#[wasm_bindgen_test]
async fn etcd_keeps_the_resource_version_as_the_mod_revision_of_a_key() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.set(A, "spec.replicas", "5").await;
    page.press(A, "Send").await;
    page.press("What the server has", "etcd").await;
    let keys = page.text("Keys in etcd");
    assert!(
        keys.contains("/registry/deployments/default/nginx-deployment"),
        "{keys}"
    );
    assert!(keys.contains("\"mod_revision\":101"), "{keys}");
    page.press("Keys in etcd", "Revision 100 of").await;
    page.press("Keys in etcd", "get --rev").await;
    let keys = page.text("Keys in etcd");
    assert!(
        keys.contains("--rev=100") && keys.contains("\"mod_revision\":100"),
        "{keys}"
    );
    page.press("Keys in etcd", "watch --rev").await;
    assert!(page.text("Keys in etcd").contains("PUT"));
}

#[wasm_bindgen_test]
async fn a_second_child_is_found_by_the_search_and_opened_in_play() {
    let page = child_maker().await;
    page.press("Open card", "Editor A").await;
    page.press(A, "Get").await;
    page.set(A, "spec.size", "2").await;
    page.press(SWITCHES, "Search every order").await;
    page.until("the search is over", |page| {
        page.text(SWITCHES).contains("Open it in Play")
    })
    .await;
    let found = page.text(SWITCHES);
    assert!(
        found.contains("Never more than 1 ConfigMap: broken"),
        "{found}"
    );
    assert!(
        found.contains(
            "when Editor A sends its edit; up to 1 restart of the controller, at any time"
        ),
        "{found}"
    );
    assert_eq!(children(&page), 0);
    page.press(SWITCHES, "Open it in Play").await;
    assert_eq!(children(&page), 2, "{}", page.text(CHILDREN));
    assert!(page.text("History").contains("run 2"));
    assert!(!page.text(SWITCHES).contains("Open it in Play"));
}

#[wasm_bindgen_test]
async fn a_search_with_a_protection_says_that_every_order_holds() {
    let page = child_maker().await;
    page.press(SWITCHES, "names from the owner").await;
    page.press(SWITCHES, "Search every order").await;
    page.until("the search is over", |page| {
        page.text(SWITCHES).contains("holds in every order")
    })
    .await;
    let found = page.text(SWITCHES);
    assert!(
        found.contains("Editor A has no edit to send, so no write of Editor A was varied"),
        "{found}"
    );
    assert!(!found.contains("broken"), "{found}");
}

#[wasm_bindgen_test]
async fn a_tool_takes_part_in_every_order() {
    let page = child_maker().await;
    page.choose_in(SWITCHES, "With one more actor", "kubectl-replace")
        .await;
    page.press(SWITCHES, "Search every order").await;
    page.until("the search is over", |page| {
        page.text(SWITCHES).contains("Every run comes to rest")
    })
    .await;
    let found = page.text(SWITCHES);
    assert!(
        found.contains(
            "when each request of kubectl replace is sent: its manifest is the object of this step"
        ),
        "{found}"
    );
    page.choose_in(SWITCHES, "With one more actor", "").await;
    page.until("it is searched again", |page| {
        let found = page.text(SWITCHES);
        found.contains("Every run comes to rest") && !found.contains("each request of")
    })
    .await;
}

//! Branches of a session: told apart, named, compared and deleted, in a browser.

use wasm_bindgen_test::wasm_bindgen_test;

use crate::page::Page;

const A: &str = "Editor A";
const B: &str = "Editor B";
const FORK: &str = "Branches from here";

/// A wrote first in one branch, B in the other.
async fn two_branches() -> Page {
    let page = Page::both_want_to_write().await;
    page.press(A, "Send").await;
    page.press("Steps", "Back").await;
    page.press(B, "Send").await;
    page
}

#[wasm_bindgen_test]
async fn two_branches_are_named_and_compared_side_by_side() {
    let page = two_branches().await;
    page.press("Steps", "2 branches").await;
    page.rename("Name of A stored", "A first").await;
    let list = page.dialog();
    assert!(list.contains("The branches part after step 2."), "{list}");
    assert!(
        list.contains("A first3 stepsEditor A: PUT replicas 3→5"),
        "{list}"
    );
    assert!(list.contains("spec.replicas25"), "{list}");
    page.press_in_dialog("Go on from here: A first").await;
    assert!(page.text("Stored object").contains("replicas: 5"));
    // The name is where the branches are: at the fork, and beside the steps.
    assert!(page.has(FORK, "A first: branch 1"));
    assert!(page.has("Steps", "A first · 2 branches"));
}

#[wasm_bindgen_test]
async fn a_branch_is_never_compared_with_itself() {
    let page = two_branches().await;
    page.press("Steps", "2 branches").await;
    assert!(page.dialog().contains("spec.replicas25"));
    // What is on the first side goes to the second one, and the other branch to the first.
    page.press_in_dialog("Compare B stored").await;
    assert!(page.dialog().contains("spec.replicas52"));
    page.press_in_dialog("Compare B stored").await;
    let list = page.dialog();
    assert!(!list.contains("There is one branch"), "{list}");
    assert!(list.contains("spec.replicas52"), "{list}");
}

#[wasm_bindgen_test]
async fn the_ways_of_one_edit_are_called_the_same_beside_what_happened_and_at_the_fork() {
    let page = Page::conflict().await;
    page.press("What happened", "No version").await;
    assert!(page.has(FORK, "With version: branch 1"));
    assert!(page.has(FORK, "No version: branch 2"));
    page.press("Steps", "2 branches").await;
    let list = page.dialog();
    assert!(list.contains("FieldNo versionWith version"), "{list}");
}

#[wasm_bindgen_test]
async fn a_branch_is_deleted_and_the_other_one_stays() {
    let page = two_branches().await;
    page.press("Steps", "2 branches").await;
    page.press_in_dialog("Delete B stored").await;
    assert!(page.dialog().contains("There is one branch."));
    page.close_dialog().await;
    assert!(!page.has("Steps", "2 branches"));
    page.press("Steps", "Last").await;
    assert!(page.text("Stored object").contains("replicas: 5"));
}

#[wasm_bindgen_test]
async fn only_the_current_step_has_an_arrow_each_way() {
    let page = two_branches().await;
    assert_eq!(page.count(".step"), 3);
    assert_eq!(page.count(".step .arrows"), 1);
    let last = page.find(".step.current").unwrap_or_default();
    assert!(last.contains("200 OK · rv 101"), "{last}");
    page.press("Steps", "Back").await;
    let last = page.find(".step.future").unwrap_or_default();
    assert!(
        last.contains("200 100 → 101"),
        "the pill has the versions: {last}"
    );
}

#[wasm_bindgen_test]
async fn where_there_are_several_objects_a_step_names_its_own() {
    let page = two_branches().await;
    assert!(!page.text("History").contains("nginx-deployment"));
    page.load(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n---\napiVersion: v1\nkind: \
         ConfigMap\nmetadata: {name: two}\n",
    )
    .await;
    page.press(A, "Get").await;
    assert!(page.text("History").contains("two: GET"));
    assert!(page.said().contains("two: GET"), "{}", page.said());
}

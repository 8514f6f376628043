//! Editing a working copy, choosing how it is sent, and asking who owns what, in a browser.

use wasm_bindgen_test::wasm_bindgen_test;

use crate::page::Page;

const A: &str = "Editor A";
const B: &str = "Editor B";
const SERVER: &str = "API server";
const RAW: &str = "Editor A: working copy as YAML";
const PREVIEW: &str = "Request body, not sent yet";

async fn read_by_a() -> Page {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page
}

#[wasm_bindgen_test]
async fn a_field_is_added_and_another_taken_out_and_the_merge_patch_says_both() {
    let page = read_by_a().await;
    page.press(A, "… 6 more").await;
    page.add(A, "metadata.labels", "team: web").await;
    assert!(page.text(A).contains("team: webnew"), "{}", page.text(A));
    page.press(A, "Remove metadata.labels.app").await;
    assert!(page.text(A).contains("removed metadata.labels.app"));
    page.press(A, "Merge").await;
    page.press("Inspector", "Preview").await;
    let body = page.text(PREVIEW);
    assert!(body.contains(r#""app": null"#), "{body}");
    assert!(body.contains(r#""team": "web""#), "{body}");
}

#[wasm_bindgen_test]
async fn what_cannot_be_added_is_said_and_the_typing_stays() {
    let page = read_by_a().await;
    page.press(A, "… 6 more").await;
    page.add(A, "metadata.labels", "app: other").await;
    assert!(page.text(A).contains("app exists already"));
    page.press(A, "Send").await;
    assert_eq!(page.position(), "step 1 / 1", "nothing wrong is sent");
    page.key_in_field("Escape").await;
    assert!(!page.text(A).contains("exists already"));
}

#[wasm_bindgen_test]
async fn the_whole_object_is_typed_and_a_mistake_names_its_line_and_loses_nothing() {
    let page = read_by_a().await;
    page.press(A, "YAML").await;
    let text = page.written(RAW);
    assert!(text.contains("  replicas: 3\n"), "{text}");
    assert!(!text.contains("managedFields"), "{text}");
    page.write(RAW, &text.replace("replicas: 3", "replicas: [3"))
        .await;
    assert!(page.text(A).contains("line "), "{}", page.text(A));
    page.press(A, "Send").await;
    assert_eq!(page.position(), "step 1 / 1", "no broken text is sent");
    page.write(RAW, &text.replace("replicas: 3", "replicas: 5"))
        .await;
    page.press(A, "Send").await;
    assert!(page.text(SERVER).contains("rv 101"));
    assert!(page.written(RAW).contains("resourceVersion: \"101\""));
    page.press(A, "YAML").await;
    assert!(page.text(A).contains("replicas: 5"));
}

#[wasm_bindgen_test]
async fn switching_the_strategy_loses_neither_the_edit_nor_the_options_of_each() {
    let page = read_by_a().await;
    page.set(A, "spec.replicas", "5").await;
    page.press("Inspector", "Preview").await;
    page.press(A, "JSON").await;
    page.press(A, "test the old values").await;
    let body = page.text(PREVIEW);
    assert!(body.contains(r#""op": "test""#), "{body}");
    page.press(A, "Strategic").await;
    assert!(!page.text(PREVIEW).contains("test"));
    page.press(A, "JSON").await;
    assert_eq!(page.text(PREVIEW), body);
    assert!(page.text(A).contains("was 3"));
}

#[wasm_bindgen_test]
async fn a_body_written_by_hand_is_sent_as_it_stands() {
    let page = read_by_a().await;
    page.press(A, "Merge").await;
    page.press("Inspector", "Preview").await;
    page.press("Inspector", "Write it by hand").await;
    page.write("Request body, by hand", r#"{"spec": {"replicas": 7}}"#)
        .await;
    page.press(A, "Send").await;
    assert!(page.text("Stored object").contains("replicas: 7"));
    page.press("Inspector", "Preview").await;
    page.write("Request body, by hand", "{").await;
    page.press(A, "Send").await;
    assert!(page.text("Response body").contains("400"));
}

#[wasm_bindgen_test]
async fn a_retry_reads_again_and_redoes_the_edit_a_step_each() {
    let page = read_by_a().await;
    page.press(B, "Get").await;
    page.set(B, "spec.replicas", "4").await;
    page.press(B, "Send").await;
    page.press(A, "… 3 defaults").await;
    page.set(A, "spec.revisionHistoryLimit", "3").await;
    page.choose_in(A, "on conflict", "get again, redo the edit")
        .await;
    page.press(A, "Send").await;
    assert_eq!(page.position(), "step 6 / 6");
    let history = page.text("History");
    assert!(history.contains("100 ≠ 101"), "{history}");
    assert!(page.text("Stored object").contains("replicas: 4"));
    assert!(page.text(SERVER).contains("rv 102"));
}

#[wasm_bindgen_test]
async fn each_line_names_its_owners_and_a_forced_apply_what_it_would_take() {
    let page = read_by_a().await;
    page.press("What the server has", "Owners").await;
    let owners = page.text("Owners of the stored object");
    assert!(owners.contains("replicas: 3kubectl-create"), "{owners}");
    assert!(
        page.text(SERVER)
            .contains("would take no field from another manager")
    );
    page.set(A, "spec.replicas", "5").await;
    assert!(
        page.text(SERVER)
            .contains("would take spec.replicas from kubectl-create")
    );
    page.press(A, "Apply").await;
    page.press(A, "force").await;
    page.press(A, "Send").await;
    let owners = page.text("Owners of the stored object");
    assert!(owners.contains("replicas: 5editor-a"), "{owners}");
}

#[wasm_bindgen_test]
async fn the_step_is_shown_as_kubectl_go_and_rust_would_send_it() {
    let page = read_by_a().await;
    page.set(A, "spec.replicas", "5").await;
    page.press(A, "Merge").await;
    page.press(A, "Send").await;
    for (tab, label, says) in [
        (
            "kubectl",
            "kubectl command",
            "kubectl patch deployment nginx-deployment",
        ),
        ("Go", "Go with client-go", "types.MergePatchType"),
        ("Rust", "Rust with kube-rs", "Patch::Merge"),
    ] {
        page.press("Inspector", tab).await;
        assert!(page.text(label).contains(says), "{}", page.text(label));
        assert!(page.has("Inspector", "Copy"));
    }
}

#[wasm_bindgen_test]
async fn a_third_hand_writes_the_status_in_a_lane_of_its_own() {
    let page = Page::open().await;
    page.choose("Whose lane this is", "Editor C").await;
    page.press("Editor C", "Get").await;
    page.add("Editor C", "status", "replicas: 3").await;
    page.choose_in("Editor C", "Write to", "/status").await;
    page.press("Editor C", "Send").await;
    assert!(
        page.text(SERVER).contains("rv 101"),
        "{}",
        page.text(SERVER)
    );
    assert!(
        page.text("History").contains("PUT /status +replicas 3"),
        "{}",
        page.text("History")
    );
    page.press("Steps", "First").await;
    page.press(A, "Get").await;
    page.choose("Whose lane this is", "Editor B").await;
    assert!(page.text(B).contains("not read yet"));
}

#[wasm_bindgen_test]
async fn a_stale_copy_says_what_has_changed_since() {
    let page = read_by_a().await;
    page.press(B, "Get").await;
    page.set(B, "spec.replicas", "4").await;
    page.press(B, "Send").await;
    let stale = page.find("#card-a .stale").unwrap_or_default();
    assert!(stale.starts_with("rv 100 · stale by 1"), "{stale}");
    assert!(stale.ends_with("replicas 3→4"), "{stale}");
}

#[wasm_bindgen_test]
async fn a_delete_can_ask_for_the_object_that_was_read() {
    let page = read_by_a().await;
    page.press(B, "Get").await;
    page.set(B, "spec.replicas", "4").await;
    page.press(B, "Send").await;
    page.press(A, "delete only this version").await;
    page.press(A, "Delete").await;
    assert!(page.text("Response body").contains("409"));
    page.press(A, "delete only this version").await;
    page.press(A, "Delete").await;
    assert!(page.text(SERVER).contains("deleted"));
    assert!(page.all_text().contains("Editor A deleted the object."));
    page.press(A, "Create").await;
    assert!(!page.text(SERVER).contains("deleted"));
}

#[wasm_bindgen_test]
async fn a_variable_is_added_by_name_and_value_and_typed_where_it_lands() {
    const CONTAINER: &str = "spec.template.spec.containers.0";
    let env = format!("{CONTAINER}.env");
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.add(A, CONTAINER, "env").await;
    page.type_addition(A, &env, "LOG_LEVEL=debug").await;
    assert!(page.text(A).contains("LOG_LEVEL"), "{}", page.text(A));
    page.press(A, &format!("Add to {env}")).await;
    assert_eq!(page.attribute(".typing", "placeholder"), "NAME=value");
    // Below the variable that is there.
    let below = "#card-a .line:has([id$='env/0/value']) ~ .line .typing";
    assert_eq!(page.count(below), 1);
    page.type_addition(A, &env, "PORT=80").await;
    page.press(A, "Send").await;
    page.press("Inspector", "Diff").await;
    assert!(page.text("Inspector").contains("PORT"));
    // Leaving an opened list empty is no edit.
    page.press(B, "Get").await;
    page.add(B, "metadata", "annotations").await;
    page.key_in_field("Escape").await;
    assert!(!page.has(B, "Discard edits"));
}

#[wasm_bindgen_test]
async fn an_apply_can_own_a_line_unchanged_and_the_card_and_the_chip_say_what_it_applies() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.press(A, "Apply").await;
    page.press(A, "Apply spec.replicas unchanged, to own it")
        .await;
    let line = page.find("#card-a .line:has([id='a/spec/replicas'])");
    let line = line.unwrap_or_default();
    assert!(line.contains("applied unchanged"), "{line}");
    page.press("Inspector", "Preview").await;
    let body = page.text("Request body, not sent yet");
    assert!(
        body.contains("\"replicas\": 3") && !body.contains("image"),
        "{body}"
    );
    page.choose_in(A, "applymy edits", "this manifest, as typed")
        .await;
    let body = page.text("Request body, not sent yet");
    assert!(
        body.contains("\"spec\": { … }") && body.contains("2 more"),
        "the whole manifest: {body}"
    );
    page.choose_in(A, "applymy edits", "my edits").await;
    page.press(A, "Do not apply spec.replicas of Editor A")
        .await;
    let line = page.find("#card-a .line:has([id='a/spec/replicas'])");
    assert!(!line.unwrap_or_default().contains("applied"));
}

/// Presses a key where the keyboard is, and returns the text of what has it then.
async fn key_on_line(page: &Page, key: &str) -> String {
    page.key_in_field(key).await;
    let document = web_sys::window().unwrap().document().unwrap();
    let holder = document.active_element().unwrap();
    holder.text_content().unwrap_or_default()
}

#[wasm_bindgen_test]
async fn an_object_is_one_stop_of_the_tab_key_and_the_arrows_go_over_its_lines() {
    let page = read_by_a().await;
    let document = web_sys::window().unwrap().document().unwrap();
    let stops = "#card-a .yaml :is(button, a, input):not([tabindex='-1'])";
    assert_eq!(document.query_selector_all(stops).unwrap().length(), 0);
    page.focus("#card-a .yaml").await;
    assert_eq!(key_on_line(&page, "ArrowDown").await, "apps/v1");
    assert_eq!(key_on_line(&page, "ArrowDown").await, "Deployment");
    assert_eq!(key_on_line(&page, "ArrowDown").await, "metadata:");
    assert_eq!(key_on_line(&page, "ArrowUp").await, "Deployment");
    assert!(key_on_line(&page, "End").await.contains("add a field"));
    assert_eq!(key_on_line(&page, "Home").await, "apps/v1");
    key_on_line(&page, "ArrowDown").await;
    key_on_line(&page, "ArrowDown").await;
    let folded = key_on_line(&page, "ArrowLeft").await;
    assert!(folded.starts_with("metadata: …"), "{folded}");
    assert_eq!(key_on_line(&page, "ArrowRight").await, "metadata:");
    assert_eq!(
        page.position(),
        "step 1 / 1",
        "the history stays where it is"
    );
}

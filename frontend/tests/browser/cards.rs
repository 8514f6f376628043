//! The cards and the dialogs: what they show, what they keep, and where the keyboard goes, in a browser.

use wasm_bindgen_test::wasm_bindgen_test;

use crate::page::Page;

const A: &str = "Editor A";
const B: &str = "Editor B";
const C: &str = "Editor C";
const SERVER: &str = "API server";

const SETTINGS: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n\
    data:\n  text: |\n    first: 1\n    second: 2\n";

#[wasm_bindgen_test]
async fn a_value_of_several_lines_keeps_them_whether_it_is_left_or_typed_over() {
    let page = Page::open().await;
    page.load(SETTINGS).await;
    page.press(A, "Get").await;
    page.press(A, "data.text: ").await;
    let field = "Editor A: data.text";
    assert_eq!(page.written(field), "first: 1\nsecond: 2\n");
    page.leave_field().await;
    assert!(!page.text(A).contains("was "), "{}", page.text(A));
    assert!(!page.has(A, "Discard edits"), "leaving it edits nothing");

    page.press(A, "data.text: ").await;
    page.write(field, "first: 1\nsecond: 5\n").await;
    page.key_in_field("Enter").await;
    assert_eq!(page.count("#typing-field"), 1, "Enter is another line");
    page.leave_field().await;
    page.press(A, "Send").await;
    let stored = page.text("Stored object");
    assert!(stored.contains("|\nfirst: 1\nsecond: 5"), "{stored}");
}

#[wasm_bindgen_test]
async fn of_a_list_what_can_be_loaded_is_and_the_rest_is_named() {
    let page = Page::open().await;
    let list = "apiVersion: v1\nkind: List\nitems:\n\
        - {apiVersion: example.org/v1, kind: Job, metadata: {name: nightly}}\n\
        - {apiVersion: v1, kind: ConfigMap, metadata: {name: one, uid: x}}\n\
        - {apiVersion: v1, kind: ConfigMap, metadata: {name: two}}\n";
    page.load(list).await;
    let said = page.text("What happened");
    assert!(
        said.contains("Loaded ConfigMap two as version 100, and one more object"),
        "{said}"
    );
    assert!(
        said.contains("Job nightly (example.org/v1): this page takes only objects in a namespace"),
        "{said}"
    );
    assert!(said.contains("metadata.uid"), "{said}");
    page.choose("Which object", "ConfigMap one").await;
    assert!(page.text("Stored object").contains("name: one"));
}

#[wasm_bindgen_test]
async fn a_file_that_is_no_text_and_a_repeated_key_are_said() {
    let page = Page::open().await;
    page.press_named("Load manifest").await;
    let bytes = b"kind: ConfigMap\nname: caf\xe9\n";
    page.choose_bytes("dialog input[type=file]", bytes).await;
    page.until("the byte is named", |page| {
        page.dialog().contains("line 2 has the byte 0xE9")
    })
    .await;
    page.close_dialog().await;
    page.press_named("Share").await;
    page.choose_bytes("dialog input[type=file]", bytes).await;
    page.until("the byte is named", |page| page.dialog().contains("0xE9"))
        .await;
    page.close_dialog().await;
    page.load(&SETTINGS.replace("\ndata:", "\ndata:\n  text: x"))
        .await;
    assert!(page.dialog().contains("already set"), "{}", page.dialog());
}

#[wasm_bindgen_test]
async fn a_file_that_is_larger_than_any_session_is_not_read() {
    let page = Page::open().await;
    page.press_named("Load manifest").await;
    let bytes = vec![b'#'; 16_000_001];
    page.choose_bytes("dialog input[type=file]", &bytes).await;
    page.until("the limit is named", |page| {
        page.dialog().contains("more than 16 MB")
    })
    .await;
    let lines = b"---\n".repeat(100_001);
    page.choose_bytes("dialog input[type=file]", &lines).await;
    page.until("the limit of lines is named", |page| {
        page.dialog().contains("more than 100000 lines")
    })
    .await;
}

#[wasm_bindgen_test]
async fn a_field_is_on_one_line_in_all_cards_and_says_what_it_was_and_is_now() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.press(B, "Get").await;
    page.add(A, "metadata", "annotations: {team: web}").await;
    page.set(A, "spec.replicas", "5").await;
    page.set(B, "spec.replicas", "2").await;
    page.press(A, "Send").await;
    page.press(B, "Send").await;
    let line = page.find("#card-b .line:has([id='b/spec/replicas'])");
    assert_eq!(line.as_deref(), Some("replicas: 2was 3now 5×"), "{line:?}");
    let row = |card: &str| {
        let rows = page.place_of(&format!("#card-{card} .line"), "replicas: ");
        rows.unwrap_or_else(|| panic!("no replicas in {card}"))
    };
    assert_eq!(row("a"), row("server"));
    assert_eq!(row("a"), row("b"));
    // One fold opens in all cards.
    page.press(A, "… 3 defaults").await;
    assert!(page.has(B, "spec.revisionHistoryLimit: 10"));
    assert!(
        page.text("Stored object")
            .contains("revisionHistoryLimit: 10")
    );
}

#[wasm_bindgen_test]
async fn a_map_of_very_many_members_is_folded_at_first() {
    let page = Page::open().await;
    let data: String = (0..1200).map(|i| format!("  key-{i}: value\n")).collect();
    page.load(&format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n{data}"
    ))
    .await;
    page.press(A, "Get").await;
    assert!(page.count(".yaml .line") < 60, "{}", page.count(".line"));
    assert!(page.text("Stored object").contains("1200 fields"));
    page.press("What the server has", "Owners").await;
    assert_eq!(page.count(".owned"), 500);
    let owners = page.text("Owners of the stored object");
    assert!(owners.contains(" more lines are not shown."), "{owners}");
}

#[wasm_bindgen_test]
async fn back_from_another_lane_the_strategy_is_chosen_as_it_was() {
    let page = Page::open().await;
    page.press(B, "Merge").await;
    page.press(B, "Add another actor").await;
    page.press("Another actor", "By hand").await;
    page.press(C, "Apply").await;
    page.choose("Whose lane this is", B).await;
    assert_eq!(page.count("#card-b input[type=radio]:checked"), 1);
    assert_eq!(
        page.attribute("#card-b label:has(:checked)", "title"),
        "PATCH with what changed"
    );
    page.choose("Whose lane this is", C).await;
    assert_eq!(page.count("#card-c input[type=radio]:checked"), 1);
}

#[wasm_bindgen_test]
async fn a_client_that_people_know_sets_how_an_editor_writes_and_the_card_says_so() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    let method = || page.find("#card-a .method-words").unwrap_or_default();
    assert_eq!(method(), "Update · if 100");
    page.set(A, "spec.replicas", "5").await;
    page.press("Editor A writes like kubectl", "scale").await;
    assert_eq!(method(), "Merge patch /scale as kubectl");
    let head = page.find("#card-a .card-head").unwrap_or_default();
    assert!(head.contains("/scale · as kubectl"), "{head}");
    page.press(A, "Send").await;
    assert!(
        page.text("History").contains("PATCH /scale replicas 3→5"),
        "{}",
        page.text("History")
    );
    page.press("Editor A writes like kubectl", "apply --server-side")
        .await;
    page.press(A, "force").await;
    assert_eq!(method(), "Apply as kubectl · force");
    page.load(SETTINGS).await;
    assert!(!page.has("Editor A writes like kubectl", "scale"));
}

#[wasm_bindgen_test]
async fn after_a_write_to_scale_the_card_shows_the_new_replicas() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.set(A, "spec.replicas", "5").await;
    page.choose_in(A, "Write to", "/scale").await;
    page.press(A, "Send").await;
    assert!(page.has(A, "spec.replicas: 5"), "{}", page.text(A));
}

#[wasm_bindgen_test]
async fn the_write_that_takes_the_last_finalizer_off_makes_no_version_0() {
    let page = Page::open().await;
    page.load(&SETTINGS.replace(
        "name: settings",
        "name: settings, finalizers: [example.com/x]",
    ))
    .await;
    page.press(A, "Delete").await;
    page.press(A, "Get").await;
    page.press(A, "Remove metadata.finalizers").await;
    page.press(A, "Send").await;
    let said = page.text("What happened");
    assert!(
        page.text(SERVER).contains("deleted"),
        "{}",
        page.text(SERVER)
    );
    assert!(said.contains("removed the last finalizer"), "{said}");
    assert!(!said.contains("made"), "{said}");
}

#[wasm_bindgen_test]
async fn one_objects_card_does_not_tell_of_anothers_last_write() {
    let page = Page::open().await;
    let two = format!("{SETTINGS}---\n{}", SETTINGS.replace("settings", "others"));
    page.load(&two).await;
    page.press(A, "Delete").await;
    page.press("What the server has", "Revisions").await;
    assert!(page.text(SERVER).contains("Last write: Editor A, delete"));
    page.choose("Which object", "ConfigMap settings").await;
    let card = page.text(SERVER);
    assert!(card.contains("Stored as it was loaded."), "{card}");
}

#[wasm_bindgen_test]
async fn captions_name_only_those_whose_lanes_are_shown() {
    let page = Page::open().await;
    page.press(B, "Get").await;
    page.choose("Whose lane this is", C).await;
    page.press(A, "Get").await;
    let said = page.text("What happened");
    assert!(!said.contains("Both read"), "{said}");
    assert!(said.contains("Get as C too."), "{said}");
    page.set(A, "spec.replicas", "5").await;
    page.press(A, "Send").await;
    let said = page.text("What happened");
    assert!(said.contains("Get as C."), "{said}");
    // B has read the object: the stale copy has a narrow lane.
    let lanes = page.find(".narrow-lanes").unwrap_or_default();
    assert!(lanes.contains("Editor B"), "{lanes}");
    assert!(said.contains("Editor B still holds 100."), "{said}");
}

#[wasm_bindgen_test]
async fn a_get_by_hand_carries_no_body() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.press(A, "Apply").await;
    page.press(A, "Send any request…").await;
    page.choose("Method", "GET").await;
    assert!(
        page.dialog().contains("A GET carries no body"),
        "{}",
        page.dialog()
    );
    page.click("dialog [type=submit]").await;
    assert!(
        !page.text("History").contains("APPLY"),
        "{}",
        page.text("History")
    );
    assert_eq!(page.count("[aria-label='Request body']"), 0);
}

#[wasm_bindgen_test]
async fn after_a_dialog_the_keyboard_is_where_it_was() {
    let page = Page::open().await;
    for (opener, name) in [
        (".load", "Load manifest"),
        (".share-button", "Share"),
        ("[aria-label='Help and keys']", "Help"),
    ] {
        page.focus(opener).await;
        page.click(opener).await;
        assert_eq!(page.count("dialog[open]"), 1, "{name}");
        page.close_dialog().await;
        assert!(page.holds(opener), "{name}: {}", page.holder());
    }
    page.press(A, "Get").await;
    page.click("#card-a details:not(.stale) summary").await;
    let by_hand = "#card-a .write-panel > .buttons:last-child button:last-child";
    page.focus(by_hand).await;
    page.click(by_hand).await;
    assert_eq!(page.count("dialog[open]"), 1);
    page.click("dialog [type=submit]").await;
    assert!(page.holds("#card-a details summary"), "{}", page.holder());
}

#[wasm_bindgen_test]
async fn keys_that_are_a_character_can_be_switched_off() {
    let page = Page::open().await;
    page.key("?").await;
    page.press_box("Use keys that are a single character").await;
    page.close_dialog().await;
    page.key("g").await;
    page.key("?").await;
    assert_eq!(page.position(), "step 0 / 0");
    assert_eq!(page.count("dialog"), 0);
    page.press(A, "Get").await;
    page.key("ArrowLeft").await;
    assert_eq!(page.position(), "step 0 / 1", "other keys stay");
    page.click("[aria-label='Help and keys']").await;
    page.press_box("Use keys that are a single character").await;
    page.close_dialog().await;
    page.key("g").await;
    assert_eq!(page.position(), "step 1 / 1");
}

#[wasm_bindgen_test]
async fn what_would_reorder_the_page_is_shown_as_an_escape() {
    let page = Page::open().await;
    page.load(&SETTINGS.replace("\ndata:\n", "\ndata:\n  user: \"\\u202Enimda\"\n"))
        .await;
    page.press(A, "Get").await;
    page.press(A, "Merge").await;
    page.set(A, "data.user", "root\u{2066}\u{202e}").await;
    page.press(A, "Send").await;
    page.press("Inspector", "Diff").await;
    page.press("Inspector", "Wire").await;
    let all = page.all_text();
    let hidden = ['\u{202e}', '\u{2066}'];
    assert!(!all.contains(hidden), "{:?}", all.split(hidden).next());
    assert!(
        all.contains("\\u202Enimda") && all.contains("root\\u2066"),
        "{all}"
    );
    page.press("Inspector", "Diff").await;
    assert!(!page.all_text().contains(hidden));
}

#[wasm_bindgen_test]
async fn the_release_of_the_server_is_chosen_and_everything_is_done_again() {
    const RELEASE: &str = "Release of the API server";
    let page = Page::open().await;
    assert!(page.text(SERVER).contains("v1.36.3"));
    page.press(A, "Get").await;
    page.set(A, "spec.replicas", "5").await;
    page.press(A, "Send").await;
    let before = page.position();
    page.choose(RELEASE, "v1.36.0 to v1.36.2").await;
    page.at_rest().await;
    assert_eq!(page.position(), before, "the same was done");
    assert_eq!(page.value("select.release"), "v1.36.0 to v1.36.2");
    // A session that was kept is opened at its release.
    page.close().await;
    let page = Page::reopen().await;
    page.at_rest().await;
    assert_eq!(page.value("select.release"), "v1.36.0 to v1.36.2");
}

#[wasm_bindgen_test]
async fn the_server_refuses_by_a_rule_and_says_which_rule_it_cannot_evaluate() {
    let page = Page::open().await;
    let zone = "timestamp(self).getHours('Europe/Berlin') < 12";
    let definition = |rule: &str, name: &str, fed: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
             metadata: {{name: {name}s.example.com}}\nspec:\n  group: example.com\n  scope: Namespaced\n  \
             names: {{plural: {name}s, singular: {name}, kind: {name}, listKind: {name}List}}\n  versions:\n  \
             - name: v1\n    served: true\n    storage: true\n    schema: {{openAPIV3Schema: {{type: object, \
             properties: {{fed: {{type: string, x-kubernetes-validations: [{{rule: \"{rule}\"}}]}}}}}}}}\n\
             ---\napiVersion: example.com/v1\nkind: {name}\nmetadata: {{name: tom}}\nfed: {fed}\n"
        )
    };
    // The zone is looked up only for a text that is a time.
    page.load(&definition(zone, "cat", "'2026-01-01T12:00:00Z'"))
        .await;
    let card = page.text(SERVER);
    assert!(
        card.contains("cannot evaluate the validation rule"),
        "{card}"
    );

    page.load(&definition("self.startsWith('n')", "dog", "noon"))
        .await;
    let card = page.text(SERVER);
    assert!(!card.contains("cannot evaluate"), "{card}");
    page.press(A, "Get").await;
    page.press(A, "fed: ").await;
    page.write("Editor A: fed", "later").await;
    page.key_in_field("Enter").await;
    page.press(A, "Send").await;
    let said = page.text("Answer");
    assert!(said.contains("failed rule: self.startsWith"), "{said}");
}

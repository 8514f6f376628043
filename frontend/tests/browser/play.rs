//! The Play page, worked as a person works it, in a browser.

use wasm_bindgen_test::wasm_bindgen_test;

use crate::page::Page;

const A: &str = "Editor A";
const B: &str = "Editor B";
const SERVER: &str = "API server";

#[wasm_bindgen_test]
async fn it_opens_with_the_deployment_stored_and_nothing_read() {
    let page = Page::open().await;
    assert!(page.text(SERVER).contains("rv 100"));
    assert!(page.text("Stored object").contains("nginx-deployment"));
    for editor in [A, B] {
        assert!(page.text(editor).contains("not read yet"));
    }
    assert!(page.text("To try").contains("Get as A and as B"));
    assert_eq!(page.position(), "step 0 / 0");
}

#[wasm_bindgen_test]
async fn an_edit_is_marked_with_what_was_there_and_can_be_discarded() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    assert!(page.text(A).contains("rv 100 · current"));
    page.set(A, "spec.replicas", "5").await;
    assert!(
        page.text(A).contains("replicas: 5was 3"),
        "{}",
        page.text(A)
    );
    page.press(A, "Discard edits").await;
    assert!(!page.text(A).contains("was 3"));
}

#[wasm_bindgen_test]
async fn of_two_who_read_the_same_version_the_second_gets_the_409() {
    let page = Page::conflict().await;
    let body = page.text("Response body");
    assert!(body.contains("\"code\": 409"), "{body}");
    assert!(body.contains("\"reason\": \"Conflict\""), "{body}");
    assert!(
        body.contains(
            "Operation cannot be fulfilled on deployments.apps \\\"nginx-deployment\\\": the object \
             has been modified; please apply your changes to the latest version and try again"
        ),
        "{body}"
    );
    assert!(
        page.text("Request body")
            .contains("\"resourceVersion\": \"100\"")
    );
    assert!(
        page.text("Why")
            .contains("Sent version 100, stored version 101")
    );
    assert!(page.text(B).contains("rv 100 · stale by 1"));
    assert!(
        page.text(B).contains("replicas: 2was 3"),
        "the edit survives"
    );
    assert_eq!(page.find(".pill.refused").as_deref(), Some("100 ≠ 101"));
    assert_eq!(page.find(".conflicts").as_deref(), Some("1 conflict"));
    assert!(page.said().contains("409 Conflict"), "{}", page.said());
}

#[wasm_bindgen_test]
async fn after_reading_again_the_edit_is_redone_and_accepted() {
    let page = Page::conflict().await;
    page.press(B, "Get").await;
    assert!(page.text(B).contains("rv 101 · current"));
    assert!(page.text(B).contains("replicas: 2was 5"));
    page.press(B, "Send").await;
    assert!(page.text(SERVER).contains("rv 102"));
    let told =
        "Editor B had read Editor A's replicas = 5 and replaced it knowingly: no update is lost.";
    assert!(page.text("What happened").contains(told));
    // It is told once, where it stands out.
    assert!(!page.text("Inspector").contains(told));
}

#[wasm_bindgen_test]
async fn what_a_json_patch_tested_in_vain_is_told_though_the_answer_does_not_say_it() {
    let page = Page::both_want_to_write().await;
    page.press(A, "Send").await;
    page.press(B, "JSON").await;
    page.press(B, "test the old values").await;
    page.press(B, "Send").await;
    assert!(page.text("Response body").contains("\"code\": 422"));
    assert!(
        page.text("Why")
            .contains("that /spec/replicas is 3, but it is 5")
    );
    let told = page.text("What happened");
    assert!(told.contains("that replicas is 3. It is 5,"), "{told}");
    assert!(told.contains("neither tests nor edits"), "{told}");
    assert_eq!(page.find(".pill.refused").as_deref(), Some("test failed"));
    let steps = page.text("Steps");
    assert!(
        steps.contains("1 refused") && !steps.contains("conflict"),
        "{steps}"
    );
    // With the version it is that which is tested first.
    page.press("Steps", "Back").await;
    page.press(B, "send resourceVersion").await;
    page.press(B, "Send").await;
    let told = page.text("What happened");
    assert!(
        told.contains("that resourceVersion is 100. It is 101,"),
        "{told}"
    );
    assert!(!told.contains("neither tests nor edits"), "{told}");
}

#[wasm_bindgen_test]
async fn from_the_end_one_goes_back_to_where_the_branches_part() {
    let page = Page::conflict().await;
    assert!(page.text("Steps").contains("1 conflict"));
    page.press("What happened", "No version").await;
    assert_eq!(page.position(), "step 4 / 4");
    assert!(
        page.text("What happened")
            .contains("An update is lost: A's replicas = 5")
    );
    let steps = page.text("Steps");
    assert!(
        steps.contains("1 lost update") && !steps.contains("no conflict"),
        "{steps}"
    );
    page.press("What happened", "With version").await;
    assert!(page.text("Steps").contains("1 conflict"));
}

#[wasm_bindgen_test]
async fn a_click_on_the_name_of_a_value_edits_the_value_too() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.click("#card-a .editable:has(+ [id='a/spec/replicas'])")
        .await;
    assert_eq!(page.value(".typing"), "3");
    page.key_in_field("Escape").await;
    // What the server fills in is not typed, nor is anything in the server's card.
    assert_eq!(
        page.count("#card-a .editable + [id='a/metadata/resourceVersion']"),
        0
    );
    assert_eq!(page.count("#card-server .editable"), 0);
}

#[wasm_bindgen_test]
async fn without_a_version_nothing_is_compared() {
    let page = Page::both_want_to_write().await;
    page.press(A, "Send").await;
    page.press(B, "send resourceVersion").await;
    page.press(B, "Send").await;
    assert!(page.text(SERVER).contains("rv 102"));
    assert!(page.text("Why").contains("carried no resourceVersion"));
    assert!(!page.text("Request body").contains("resourceVersion"));
}

#[wasm_bindgen_test]
async fn an_apply_names_the_owner_and_force_takes_the_field_over() {
    let page = Page::both_want_to_write().await;
    page.press(A, "Apply").await;
    page.press(A, "Send").await;
    assert!(page.text("Response body").contains("kubectl-create"));
    assert!(
        page.text("What happened")
            .contains("Another manager owns a field of this apply")
    );
    page.press(A, "force").await;
    page.press(A, "Send").await;
    assert!(page.text(SERVER).contains("rv 101"));
}

#[wasm_bindgen_test]
async fn a_merge_patch_carries_only_what_changed() {
    let page = Page::both_want_to_write().await;
    page.press(B, "Merge").await;
    page.press("Inspector", "Preview").await;
    let body = page.text("Request body, not sent yet");
    assert!(
        body.contains("\"replicas\": 2") && !body.contains("template"),
        "{body}"
    );
    page.press(B, "Send").await;
    assert_eq!(page.text("Request body"), body);
}

#[wasm_bindgen_test]
async fn stepping_back_shows_what_was_and_keeps_what_comes() {
    let page = Page::conflict().await;
    page.press("Steps", "Back").await;
    page.press("Steps", "Back").await;
    assert_eq!(page.position(), "step 2 / 4");
    assert!(page.text(SERVER).contains("rv 100"));
    assert!(page.text(A).contains("replicas: 5was 3"));
    let future = page.find(".step.future.refused").unwrap_or_default();
    assert!(
        future.contains("409") && future.contains("100 ≠ 101"),
        "{future}"
    );
    page.press("Steps", "Last").await;
    assert_eq!(page.position(), "step 4 / 4");
    page.press("Steps", "First").await;
    assert!(page.text(A).contains("not read yet"));
    assert!(page.text("Inspector").contains("What went over the wire"));
}

#[wasm_bindgen_test]
async fn going_on_from_an_earlier_step_keeps_both_branches() {
    let page = Page::conflict().await;
    page.press("Steps", "Back").await;
    page.press("Steps", "Back").await;
    page.press(B, "Send").await;
    assert!(page.text(SERVER).contains("replicas: 2"));
    assert_eq!(page.position(), "step 3 / 3");
    let fork = "Branches from here";
    assert!(page.has(fork, "A stored: branch 1, Editor A"));
    assert!(page.has(fork, "B stored: branch 2, Editor B"));
    page.press(fork, "A stored").await;
    assert_eq!(page.position(), "step 3 / 4");
    assert!(page.text(SERVER).contains("replicas: 5"));
}

#[wasm_bindgen_test]
async fn a_value_of_the_wrong_type_is_refused_in_place_and_not_sent() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.set(A, "spec.replicas", "many").await;
    assert!(page.text(A).contains("“many” is not a whole number"));
    page.press(A, "Send").await;
    assert_eq!(page.position(), "step 1 / 1");
    page.key_in_field("Escape").await;
    assert!(page.text(A).contains("replicas: 3"));
}

#[wasm_bindgen_test]
async fn the_keyboard_reads_sends_and_steps() {
    let page = Page::open().await;
    page.key("g").await;
    page.key("b").await;
    page.key("g").await;
    assert!(page.text(B).contains("rv 100 · current"));
    page.set(B, "spec.replicas", "2").await;
    assert!(
        page.text(B).contains("replicas: 2was 3"),
        "{}",
        page.text(B)
    );
    page.key("Enter").await;
    assert_eq!(page.position(), "step 3 / 3", "{}", page.said());
    page.key("ArrowLeft").await;
    page.key("ArrowLeft").await;
    assert_eq!(page.position(), "step 1 / 3");
    page.key("ArrowRight").await;
    assert_eq!(page.position(), "step 2 / 3");
    page.key("Home").await;
    assert_eq!(page.position(), "step 0 / 3");
    page.key("End").await;
    assert_eq!(page.position(), "step 3 / 3");
    page.key("?").await;
    assert!(page.all_text().contains("work as Editor A"));
    page.key("ArrowLeft").await;
    assert_eq!(page.position(), "step 3 / 3", "a dialog is open");
}

#[wasm_bindgen_test]
async fn a_broken_manifest_is_shown_with_its_place_and_nothing_is_lost() {
    let page = Page::conflict().await;
    page.load("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n   bad: 1\n")
        .await;
    let problem = page.find("dialog [role=alert]").unwrap();
    assert!(problem.contains("Line 5, column"), "{problem}");
    assert!(
        page.text("Line 5, column 7").contains("bad: 1"),
        "{problem}"
    );
    page.close_dialog().await;
    assert_eq!(page.position(), "step 4 / 4");
    assert!(page.text(SERVER).contains("nginx-deployment"));
}

#[wasm_bindgen_test]
async fn a_manifest_copied_from_kubectl_loads_without_what_the_server_owns() {
    let page = Page::open().await;
    page.load(
        "apiVersion: v1\ndata:\n  colour: blue\nkind: ConfigMap\nmetadata:\n  creationTimestamp: \
         \"2024-01-01T00:00:00Z\"\n  name: settings\n  namespace: default\n  resourceVersion: \
         \"4711\"\n  uid: 6ee39c5c-1b29-4d2a-8f4d-5c0f5b8f0000\n",
    )
    .await;
    let said = page.text("What happened");
    for field in [
        "metadata.uid",
        "metadata.resourceVersion",
        "metadata.creationTimestamp",
    ] {
        assert!(said.contains(field), "{said}");
    }
    assert!(said.contains("ConfigMap settings"), "{said}");
    assert!(page.text(SERVER).contains("colour: blue"));
    page.press(A, "Get").await;
    page.set(A, "data.colour", "green").await;
    page.press(A, "Send").await;
    page.press("Inspector", "Diff").await;
    assert!(page.text("Inspector").contains("data.colour"));
    page.press("What the server has", "Revisions").await;
    assert!(page.text("Stored versions").contains("colour blue→green"));
}

#[wasm_bindgen_test]
async fn pointing_at_an_arrow_shows_its_request() {
    let page = Page::conflict().await;
    let write = page.attribute("li.step:nth-child(4)", "id");
    assert_eq!(page.count(".peek"), 0);
    page.point(&format!("#{write} .ask"), "pointerover").await;
    let peek = page.find(".peek").unwrap();
    for part in [
        "PUT /apis/apps/v1/namespaces/default/deployments/nginx-deployment",
        "Content-Type: application/json",
        "resourceVersion: \"100\"",
        "replicas 3→5",
    ] {
        assert!(peek.contains(part), "{part} in {peek}");
    }
    assert_eq!(page.position(), "step 4 / 4", "only a click goes there");
    page.point("#history .root", "pointerover").await;
    assert_eq!(page.count(".peek"), 0);
}

#[wasm_bindgen_test]
async fn a_request_by_hand_is_sent_as_it_stands() {
    let page = Page::open().await;
    page.press(B, "Send any request…").await;
    assert!(page.dialog().contains("A request of Editor B"));
    page.choose("Method", "PATCH").await;
    page.type_over("Path and query", "deployments/nginx-deployment")
        .await;
    page.click("dialog [type=submit]").await;
    assert!(
        page.dialog()
            .contains("Not sent. the path has to begin with /")
    );
    assert_eq!(page.position(), "step 0 / 0");

    let path = "/apis/apps/v1/namespaces/default/deployments/nginx-deployment";
    page.type_over("Path and query", path).await;
    page.choose("Content type", "application/merge-patch+json")
        .await;
    page.write("Body", "{\"spec\": {\"replicas\": 7}}").await;
    page.click("dialog [type=submit]").await;
    assert_eq!(page.position(), "step 1 / 1");
    assert!(page.text("Stored object").contains("replicas: 7"));
    assert!(page.text("Request body").contains("7"));
    assert!(page.text(B).contains("not read yet"));
}

#[wasm_bindgen_test]
async fn a_lost_update_is_told_where_it_happens() {
    let page = Page::both_want_to_write().await;
    page.press(A, "Send").await;
    page.press(B, "send resourceVersion").await;
    assert!(!page.text("Steps").contains("lost"));
    page.press(B, "Send").await;
    let told = page.text("What happened");
    assert!(
        told.contains("An update is lost: A's replicas = 5."),
        "{told}"
    );
    assert!(page.text("History").contains("A's replicas = 5 lost"));
    assert!(page.text("Steps").contains("1 lost update"));
    assert!(
        told.contains("Editor B overwrote Editor A's replicas = 5"),
        "{told}"
    );
    assert!(!page.text("Why").contains("overwrote"));
    assert!(page.said().contains("without having read it"));
    page.press("Steps", "Back").await;
    assert!(!page.text("Steps").contains("lost update"));
}

#[wasm_bindgen_test]
async fn a_value_that_the_server_refuses_is_told_in_its_words() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.set(A, "spec.replicas", "-1").await;
    page.press(A, "Send").await;
    let answer = page.text("Answer");
    assert!(answer.contains("greater than or equal to 0"), "{answer}");
    assert!(!page.text("Inspector").contains("no other write"));
}

#[wasm_bindgen_test]
async fn a_forced_apply_that_loses_an_update_is_not_told_to_apply() {
    let page = Page::both_want_to_write().await;
    page.press(A, "Send").await;
    page.press(B, "Apply").await;
    page.press(B, "force").await;
    page.press(B, "Send").await;
    let told = page.text("What happened");
    assert!(
        told.contains("An update is lost: A's replicas = 5"),
        "{told}"
    );
    assert!(
        told.contains("Force took ownership without checking the current owner or value."),
        "{told}"
    );
    assert!(told.contains("send as B without force"), "{told}");
    assert!(!told.contains("detect the change"), "{told}");
}

#[wasm_bindgen_test]
async fn the_endings_are_those_of_a_stale_copy_and_open_its_card() {
    let page = Page::both_want_to_write().await;
    page.press(A, "Send").await;
    page.press(B, "Get").await;
    page.press(B, "Send").await;
    assert!(page.text("What happened").contains("no update is lost"));
    page.choose("Whose lane this is", "Editor C").await;
    // Not where B had read again: nothing of what is promised would come of that.
    page.press("What happened", "With version").await;
    assert_eq!(page.position(), "step 4 / 4");
    assert!(page.text(B).contains("rv 100 · stale by 1"));
    assert!(page.text("What happened").contains("Both read 100"));
    page.press("Steps", "First").await;
    assert!(!page.has("What happened", "With version"));
}

#[wasm_bindgen_test]
async fn each_ending_is_one_click_and_carries_what_came_of_it() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.press(B, "Get").await;
    page.set(A, "spec.replicas", "5").await;
    page.set(B, "spec.template.spec.containers.0.image", "nginx:1.25")
        .await;
    page.press(A, "Send").await;
    page.press(B, "Send").await;
    let told = || page.text("What happened");
    assert!(told().contains("With version→409"), "{}", told());
    page.press("What happened", "No version").await;
    assert!(told().contains("An update is lost: A's replicas = 5"));
    page.press("What happened", "Merge patch").await;
    assert!(
        told().contains("Both edits kept: replicas 5, image nginx:1.25."),
        "{}",
        told()
    );
    page.press("What happened", "Get again, redo the edit")
        .await;
    assert_eq!(page.position(), "step 6 / 6");
    for tried in [
        "No version→update lost",
        "With version→409",
        "Get again, redo the edit→both kept",
        "Merge patch→both kept",
    ] {
        assert!(told().contains(tried), "{tried} in {}", told());
    }
    page.press("What happened", "With version").await;
    assert_eq!(page.position(), "step 4 / 4", "it goes to what was tried");
    assert!(told().contains("Both read 100"));
}

#[wasm_bindgen_test]
async fn a_stale_copy_without_an_edit_is_not_told_that_the_edit_is_kept() {
    let page = Page::both_want_to_write().await;
    page.press(A, "Send").await;
    page.press(B, "Discard edits").await;
    page.press(B, "Send").await;
    let told = page.text("What happened");
    assert!(
        told.contains("Get as B to see what is stored now"),
        "{told}"
    );
}

#[wasm_bindgen_test]
async fn what_the_server_left_out_is_said() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.press(A, "… 3 defaults").await;
    page.press(A, "Remove spec.progressDeadlineSeconds").await;
    page.press(A, "Send").await;
    let left = "not in the object: removal of progressDeadlineSeconds";
    assert!(page.text("What happened").contains(left));
    assert!(!page.text("Inspector").contains(left), "it is told once");
}

#[wasm_bindgen_test]
async fn of_a_deleted_object_the_server_shows_that_it_is_gone() {
    let page = Page::both_want_to_write().await;
    page.press(A, "Send").await;
    page.press(B, "Get").await;
    page.press(B, "Delete").await;
    assert!(
        page.text(SERVER)
            .contains("Nothing is stored under that name")
    );
    page.press("What the server has", "Revisions").await;
    assert!(page.text(SERVER).contains("101\u{a0}→\u{a0}deleted"));
    let told = page.text("What happened");
    assert!(!told.contains("replaced it"), "{told}");
    assert!(
        told.contains("Send Editor A's copy and see what happens"),
        "{told}"
    );
}

#[wasm_bindgen_test]
async fn a_first_visit_shows_all_controls_with_the_first_conflict() {
    let page = Page::open_for_the_first_time().await;
    assert_eq!(page.count("[data-first-visit]"), 1);
    for editor in ["Editor A", "Editor B"] {
        page.press(editor, "Get").await;
    }
    page.set("Editor A", "spec.replicas", "5").await;
    page.set("Editor B", "spec.replicas", "2").await;
    page.press("Editor A", "Send").await;
    assert_eq!(page.count("[data-first-visit]"), 1);
    page.press("Editor B", "Send").await;
    assert_eq!(page.count("[data-first-visit]"), 0);
    page.close().await;
    let page = Page::reopen().await;
    assert_eq!(page.count("[data-first-visit]"), 0);
    page.close().await;
}

#[wasm_bindgen_test]
async fn a_first_visit_says_what_the_page_is_for_until_the_first_request() {
    let page = Page::open_for_the_first_time().await;
    let said = page.text("What happened");
    assert!(
        said.contains("Why Kubernetes says the object has been modified"),
        "{said}"
    );
    page.press("What happened", "Get in Editor A").await;
    let said = page.text("What happened");
    assert!(said.contains("Editor A read version 100."), "{said}");
    assert!(!said.contains("Why Kubernetes says"), "{said}");
    page.press("Steps", "First").await;
    let said = page.text("What happened");
    assert!(said.contains("Two editors, one object."), "{said}");
    page.close().await;
}

#[wasm_bindgen_test]
async fn an_error_that_is_pasted_on_the_first_screen_is_explained_in_diagnose() {
    let page = Page::open_for_the_first_time().await;
    let error = "Error from server (Conflict): Operation cannot be fulfilled on deployments.apps \
                 \"web\": the object has been modified; please apply your changes to the latest \
                 version and try again";
    page.write("Paste it here", error).await;
    page.press("What happened", "Explain it").await;
    page.at_rest().await;
    let says = page.text("Results");
    assert!(says.contains("web"), "{says}");
    page.close().await;
}

#[wasm_bindgen_test]
async fn who_wants_all_controls_at_once_gets_them() {
    let page = Page::open_for_the_first_time().await;
    page.press("What happened", "Show all controls").await;
    assert_eq!(page.count("[data-first-visit]"), 0);
    page.close().await;
}

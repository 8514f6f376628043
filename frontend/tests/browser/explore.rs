//! The Explore page, worked as a person works it, in a browser.

use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{Element, Event, EventInit, HtmlElement, PointerEvent};

use crate::page::{Page, at_rest};

const A: &str = "Editor A";
const B: &str = "Editor B";
const SCENARIO: &str = "Scenario";
const OUTCOMES: &str = "Outcomes";
const MAP: &str = "Map of the orders";
const RETRY: &str = "Update with resourceVersion + RetryOnConflict";

fn at(address: &str) {
    let location = web_sys::window().unwrap().location();
    location.set_hash(address).unwrap();
}

fn all(selector: &str) -> Vec<HtmlElement> {
    let document = web_sys::window().unwrap().document().unwrap();
    let found = document.query_selector_all(selector).unwrap();
    (0..found.length())
        .map(|i| found.item(i).unwrap().unchecked_into())
        .collect()
}

/// Waits until every order was searched.
async fn searched(page: &Page) {
    let is_searched = |page: &Page| !page.all_text().contains("ways searched");
    at_rest().await;
    page.until("every order was searched", is_searched).await;
}

async fn explore() -> Page {
    let page = Page::open_at("#/explore").await;
    searched(&page).await;
    page
}

/// Chooses a pair of edits.
async fn edits(page: &Page, which: &str) {
    page.choose("Edits", which).await;
    searched(page).await;
}

async fn third(page: &Page, does: &str) {
    page.choose("A third actor", does).await;
    searched(page).await;
}

async fn tick(page: &Page, what: &str) {
    page.press(SCENARIO, what).await;
    searched(page).await;
}

/// Returns how many orders have everything in the object, replace an edit after reading it, are refused,
/// and lose an update, by a way of writing.
fn counts(way: &str) -> Vec<String> {
    let rows = all(".matrix tr:has(th button)");
    let text = |element: &Element| element.text_content().unwrap_or_default();
    let row = rows.iter().find(|row| {
        let name = row.query_selector("button").unwrap().unwrap();
        text(&name) == way
    });
    let row = row.unwrap_or_else(|| panic!("there is no row {way:?}"));
    let cells = |selector: &str| -> Vec<String> {
        let cells = row.query_selector_all(selector).unwrap();
        (0..cells.length())
            .map(|i| text(&cells.item(i).unwrap().unchecked_into()))
            .collect()
    };
    // The refused orders have a column for each kind of refusal.
    let refused = cells(".count.refused");
    let refused = match refused.iter().any(|count| count == "all") {
        true => "all".to_owned(),
        false => {
            let numbers = refused.iter().map(|count| count.parse::<u32>().unwrap());
            numbers.sum::<u32>().to_string()
        }
    };
    let (others, lost) = (cells(".count:not(.refused, .lost)"), cells(".count.lost"));
    others.into_iter().chain([refused]).chain(lost).collect()
}

/// Points at the first part of the map that is such.
async fn point_at(selector: &str) {
    let part = all(selector).into_iter().next();
    let part = part.unwrap_or_else(|| panic!("there is no {selector:?} on the map"));
    let event = PointerEvent::new("pointerenter").unwrap();
    part.dispatch_event(&event).unwrap();
    at_rest().await;
}

async fn open_first(selector: &str) {
    let part = all(selector).into_iter().next().unwrap();
    let init = EventInit::new();
    init.set_bubbles(true);
    let event = Event::new_with_event_init_dict("click", &init).unwrap();
    part.dispatch_event(&event).unwrap();
    at_rest().await;
}

#[wasm_bindgen_test]
async fn the_same_two_edits_are_counted_under_every_way_of_writing() {
    let page = explore().await;
    assert!(page.text(SCENARIO).contains("A sets replicas 3→5"));
    assert_eq!(counts("Update, no resourceVersion"), ["2", "0", "0", "4"]);
    assert_eq!(counts("Update with resourceVersion"), ["2", "0", "4", "0"]);
    assert_eq!(counts(RETRY), ["all", "0", "0", "0"]);
    assert_eq!(
        counts("Update with resourceVersion + resend the same body"),
        ["2", "0", "4", "0"]
    );
    assert_eq!(counts("Merge patch"), ["all", "0", "0", "0"]);
    assert_eq!(
        counts("Apply, fields that someone else owns"),
        ["0", "0", "all", "0"]
    );
    assert_eq!(counts("Apply, each its own fields"), ["all", "0", "0", "0"]);
}

/// The groups of the matrix, each with the names of its rows.
fn groups() -> Vec<(String, Vec<String>)> {
    let bodies = all(".matrix tbody:has(.group)");
    let texts = |body: &Element, selector: &str| -> Vec<String> {
        let found = body.query_selector_all(selector).unwrap();
        (0..found.length())
            .filter_map(|i| found.item(i).unwrap().text_content())
            .collect()
    };
    let group = |body: &HtmlElement| (texts(body, ".group").concat(), texts(body, "th button"));
    bodies.iter().map(group).collect()
}

#[wasm_bindgen_test]
async fn the_answer_comes_first_and_the_rows_are_grouped_by_it() {
    let page = explore().await;
    let groups = groups();
    let names: Vec<&str> = groups.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Never lose an edit",
            "Can lose an edit",
            "Refuse or leave out an edit in every order",
            // It is in none of the others: each of its actors writes in a way of its own.
            "Your choice",
        ]
    );
    let [never, can, refused] = [&groups[0].1, &groups[1].1, &groups[2].1];
    assert_eq!(&groups[3].1, &["Each in another way"]);
    assert_eq!(can, &["Update, no resourceVersion"]);
    assert_eq!(refused, &["Apply, fields that someone else owns"]);
    let (kept, all) = (never.len() + 1, never.len() + can.len() + 1);
    let answer = format!(
        "{kept} of {all} ways of writing never lose an edit, but 1 refuses or leaves out an edit in every order"
    );
    assert!(
        page.text(SCENARIO).contains(&answer),
        "{}",
        page.text(SCENARIO)
    );
}

#[wasm_bindgen_test]
async fn a_click_on_an_outcome_selects_its_row_and_stays_here() {
    let page = explore().await;
    open_first(".matrix tr:has(.outcomes .refused) .outcomes").await;
    assert!(page.text(MAP).contains("Update with resourceVersion"));
    assert_eq!(all(".matrix tr.chosen").len(), 1);
}

#[wasm_bindgen_test]
async fn a_lost_update_opens_in_play_at_the_step_that_lost_it() {
    let page = explore().await;
    page.press(MAP, "Open it in Play").await;
    at_rest().await;
    assert_eq!(page.position(), "step 4 / 4");
    let stored = page.text("Stored object");
    assert!(stored.contains("replicas: 3was 5"), "{stored}");
    assert!(page.text(A).contains("stale by 1"), "{}", page.text(A));
}

#[wasm_bindgen_test]
async fn a_refusal_opens_in_play_at_its_409() {
    let page = explore().await;
    page.press(OUTCOMES, "Update with resourceVersion").await;
    page.press(MAP, "Open in Play: A GET · B GET · A PUT").await;
    at_rest().await;
    let body = page.text("Response body");
    assert!(body.contains("\"code\": 409"), "{body}");
    page.key("End").await;
    assert_eq!(page.position(), "step 4 / 4");
}

#[wasm_bindgen_test]
async fn the_shortest_way_to_lose_an_update_is_told_or_that_there_is_none() {
    let page = explore().await;
    let map = page.text(MAP);
    assert!(map.contains("6 orders · 4 lose an update"), "{map}");
    assert!(
        map.contains("Shortest way to lose an update: A GET · B GET · A PUT · B PUT"),
        "{map}"
    );
    assert!(map.contains("B's PUT undid A's replicas = 5"), "{map}");
    page.press(OUTCOMES, RETRY).await;
    let map = page.text(MAP);
    assert!(
        map.contains("None loses an update: 6 orders checked."),
        "{map}"
    );
    assert!(map.contains("PUT 409"), "the retries are on the map: {map}");
}

#[wasm_bindgen_test]
async fn every_ready_pair_has_its_matrix_and_its_map() {
    let page = explore().await;
    for (pair, way, wanted) in [
        ("same-field", "Merge patch", ["0", "2", "0", "4"]),
        (
            "same-value",
            "Update, no resourceVersion",
            ["all", "0", "0", "0"],
        ),
        ("two-items", "Merge patch", ["2", "0", "0", "4"]),
        ("two-items", "Strategic merge patch", ["all", "0", "0", "0"]),
        (
            "list-without-keys",
            "Strategic merge patch",
            ["2", "0", "0", "4"],
        ),
        ("same-item", "Strategic merge patch", ["all", "0", "0", "0"]),
        (
            "delete-and-edit",
            "Update, no resourceVersion",
            ["0", "1", "3", "2"],
        ),
        (
            "spec-and-status",
            "Update with resourceVersion",
            ["2", "0", "4", "0"],
        ),
    ] {
        edits(&page, pair).await;
        assert_eq!(counts(way), wanted, "{pair}, {way}");
        assert!(all(".picture circle").len() > 8, "{pair} has no map");
    }
}

#[wasm_bindgen_test]
async fn the_columns_tell_a_conflict_from_what_is_not_possible_and_what_is_gone() {
    let page = explore().await;
    let headings = || -> Vec<String> {
        let all = all(".matrix thead th").into_iter();
        all.skip(2).filter_map(|it| it.text_content()).collect()
    };
    assert_eq!(headings(), ["both kept", "replaced", "409", "lost update"]);
    edits(&page, "delete-and-edit").await;
    assert_eq!(headings()[2..5], ["409", "422, 415", "gone"]);
}

#[wasm_bindgen_test]
async fn two_ways_stand_side_by_side_with_the_order_that_tells_them_apart() {
    let page = explore().await;
    page.choose("Compare with", "1").await;
    at_rest().await;
    let map = page.text(MAP);
    let told = "4 steps: the shortest order that ends differently";
    assert!(map.contains(told), "{map}");
    assert_eq!(all(".side-by-side .differs").len(), 1, "the second write");
    page.press(OUTCOMES, RETRY).await;
    page.choose("Compare with", "4").await;
    at_rest().await;
    let map = page.text(MAP);
    assert!(map.contains("each order ends alike"), "{map}");
}

#[wasm_bindgen_test]
async fn pointing_at_the_map_explains_and_clicking_opens_that_history() {
    let page = explore().await;
    edits(&page, "same-field").await;
    point_at(".arc.lost").await;
    let says = page.find(".explanation").unwrap();
    assert!(
        says.contains("accepted, though B's copy is stale"),
        "{says}"
    );
    assert!(
        says.contains("blindly overwrote A's replicas = 5"),
        "{says}"
    );
    assert_eq!(all(".arc.marked").len(), 4, "the way there is drawn out");
    open_first(".arc.lost").await;
    assert_eq!(page.position(), "step 4 / 4");
    assert!(page.text("Stored object").contains("replicas: 2"));
}

#[wasm_bindgen_test]
async fn the_edits_of_the_working_copies_are_explored_even_after_they_were_sent() {
    let page = Page::open_at("#/play").await;
    page.press(A, "Get").await;
    page.press(B, "Get").await;
    page.set(A, "spec.replicas", "7").await;
    page.set(B, "spec.replicas", "2").await;
    page.press(A, "Send").await;
    page.press(B, "Send").await;
    all(".to-explore")[0].click();
    at_rest().await;
    searched(&page).await;
    assert!(page.text(SCENARIO).contains("working copies in Play"));
    assert_eq!(counts("Update, no resourceVersion"), ["0", "2", "0", "4"]);
    assert!(
        page.text(MAP).contains("replicas = 7"),
        "{}",
        page.text(MAP)
    );
    page.press(MAP, "Open it in Play").await;
    at_rest().await;
    assert!(page.text("Stored object").contains("replicas: 2"));
    page.key("Home").await;
    assert!(
        page.find(".position").unwrap().starts_with("step 0"),
        "the session goes on: the history is a branch of it"
    );
}

#[wasm_bindgen_test]
async fn each_may_write_in_another_way() {
    let page = explore().await;
    edits(&page, "same-field").await;
    assert_eq!(counts("Each in another way"), ["0", "2", "2", "2"]);
    page.choose("B writes by", "1").await;
    searched(&page).await;
    assert_eq!(counts("Each in another way"), ["0", "2", "4", "0"]);
    page.press(OUTCOMES, "B reads first").await;
    searched(&page).await;
    let map = page.text(MAP);
    assert!(
        map.contains("B: Update with resourceVersion, blind"),
        "{map}"
    );
    assert!(map.contains("3 orders"), "{map}");
}

#[wasm_bindgen_test]
async fn an_editor_may_be_a_tool() {
    let page = explore().await;
    edits(&page, "same-field").await;
    page.choose("A writes by", "kubectl-scale").await;
    page.choose("B writes by", "flux").await;
    searched(&page).await;
    let map = page.text(MAP);
    assert!(map.contains("A: kubectl scale · B: Flux"), "{map}");
    assert!(map.contains("APPLY dry run"), "{map}");
    // A tool reads as it does.
    assert!(!page.text(OUTCOMES).contains("reads first"));
    edits(&page, "different-fields").await;
    page.choose("B writes by", "kubectl-scale").await;
    searched(&page).await;
    let map = page.text(MAP);
    assert!(
        map.contains("kubectl scale writes only the replicas."),
        "{map}"
    );
}

#[wasm_bindgen_test]
async fn a_third_actor_makes_more_of_it_than_a_picture_can_show() {
    let page = explore().await;
    third(&page, "annotates").await;
    assert!(page.text(SCENARIO).contains("Same three edits"));
    assert_eq!(counts("Update with resourceVersion"), ["6", "0", "84", "0"]);
    assert_eq!(counts(RETRY), ["all", "0", "0", "0"]);
    let map = page.text(MAP);
    assert!(map.contains("more than a picture can show"), "{map}");
    assert!(page.text("All endings").contains("C PUT"));
}

#[wasm_bindgen_test]
async fn inside_a_request_a_patch_is_retried_and_an_update_with_a_version_is_not() {
    let page = explore().await;
    tick(&page, "Look inside requests").await;
    assert_eq!(counts("Merge patch"), ["all", "0", "0", "0"]);
    assert_eq!(counts("Update with resourceVersion"), ["2", "0", "18", "0"]);
    page.press(OUTCOMES, "Merge patch").await;
    let map = page.text(MAP);
    assert!(
        all(".arc-label")
            .iter()
            .any(|text| text.text_content().as_deref() == Some("again"))
    );
    assert!(map.contains("the server can retry it"), "{map}");
}

#[wasm_bindgen_test]
async fn a_long_search_can_be_cancelled_and_begun_again() {
    let page = explore().await;
    page.choose("A third actor", "annotates").await;
    page.press(SCENARIO, "Look inside requests").await;
    page.press(OUTCOMES, "Cancel").await;
    let outcomes = page.text(OUTCOMES);
    assert!(outcomes.contains("Cancelled"), "{outcomes}");
    // Whenever it is cancelled it stays so, also if a report was on its way.
    for _ in 0..8 {
        page.press(OUTCOMES, "Search again").await;
        assert!(page.text(OUTCOMES).contains("ways searched"));
        assert!(!page.text(OUTCOMES).contains("Cancelled"));
        page.press(OUTCOMES, "Cancel").await;
        page.at_rest().await;
        let outcomes = page.text(OUTCOMES);
        assert!(outcomes.contains("Cancelled"), "{outcomes}");
    }
}

#[wasm_bindgen_test]
async fn an_opened_history_keeps_the_session_that_it_replaces_also_through_a_reload() {
    let page = Page::open_at("#/play").await;
    page.press(A, "Get").await;
    page.set(A, "spec.replicas", "7").await;
    at("#/explore");
    page.at_rest().await;
    searched(&page).await;
    page.press(MAP, "Open it in Play").await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 4 / 4");
    page.close().await;
    let page = Page::reopen().await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 4 / 4");
    page.press_named("Back to your session").await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 1 / 1");
    assert!(
        page.text(A).contains("replicas: 7was 3"),
        "{}",
        page.text(A)
    );
}

/// The link that the Share dialog gives, and the page of whoever opens it.
async fn shared(page: Page) -> (String, Page) {
    all(".share-button")[0].click();
    at_rest().await;
    let link = page.value("#share-link");
    page.close_dialog().await;
    drop(page);
    let fragment = link.split_once('#').unwrap().1.to_owned();
    let page = Page::open_at(&format!("#{fragment}")).await;
    at_rest().await;
    searched(&page).await;
    (fragment, page)
}

#[wasm_bindgen_test]
async fn what_is_explored_goes_into_a_link() {
    let page = explore().await;
    edits(&page, "same-field").await;
    third(&page, "annotates").await;
    page.choose("B writes by", "7").await;
    searched(&page).await;
    let told = page.text(SCENARIO);
    let mixed = counts("Each in another way");
    let (link, page) = shared(page).await;
    assert!(
        link.starts_with("/explore?s=") && link.len() < 400,
        "{link}"
    );
    assert_eq!(page.text(SCENARIO), told);
    assert_eq!(counts("Each in another way"), mixed);
    assert!(
        page.text(MAP).contains("B: JSON patch"),
        "{}",
        page.text(MAP)
    );
}

#[wasm_bindgen_test]
async fn edits_of_working_copies_go_into_a_link_too() {
    let page = Page::open_at("#/play").await;
    for (editor, replicas) in [(A, "7"), (B, "2")] {
        page.press(editor, "Get").await;
        page.set(editor, "spec.replicas", replicas).await;
    }
    all(".to-explore")[0].click();
    at_rest().await;
    searched(&page).await;
    let (_, page) = shared(page).await;
    assert!(page.text(SCENARIO).contains("working copies in Play"));
    assert!(
        page.text(MAP).contains("replicas = 7"),
        "{}",
        page.text(MAP)
    );
}

#[wasm_bindgen_test]
async fn a_link_to_a_search_of_an_earlier_version_still_opens() {
    const LINK: &str = "#/explore?s=1bY1BCsMwEAP_ovMGCqUXfyXkYGqlLCSxWTutIeTv3ebcmwTSzAFFuAk2hHESFASwlyUbIegIB-KzZasIdwGTNk-oceUwK5fkI92qJiLMcakUrNqZHDZiLyk2DvaGNNs5yYiV9uL_6nJj9Oevec4fF12Di4BmSnc_zvML";
    let page = Page::open_at(LINK).await;
    at_rest().await;
    searched(&page).await;
    let scenario = page.text(SCENARIO);
    assert!(scenario.contains("C, a controller"), "{scenario}");
    assert_eq!(page.value("[aria-label='Edits']"), "same-field");
    assert!(page.text(MAP).contains("Merge patch with resourceVersion"));
}

#[wasm_bindgen_test]
async fn the_edits_of_the_third_hand_are_explored_with_the_others() {
    let page = Page::open_at("#/play").await;
    for (editor, replicas) in [(A, "7"), (B, "2")] {
        page.press(editor, "Get").await;
        page.set(editor, "spec.replicas", replicas).await;
    }
    page.key("c").await;
    page.key("g").await;
    page.add("Editor C", "status", "observedGeneration: 1")
        .await;
    all(".to-explore")[0].click();
    at_rest().await;
    searched(&page).await;
    assert!(page.text(SCENARIO).contains("Same three edits"));
    assert_eq!(page.value("[aria-label='A third actor']"), "play");
    third(&page, "deletes").await;
    assert!(page.text(SCENARIO).contains("deletes the object"));
    third(&page, "").await;
    assert!(page.text(SCENARIO).contains("Same two edits"));
}

#[wasm_bindgen_test]
async fn a_case_of_diagnose_is_explored_with_somebody_who_writes_in_between() {
    let page = Page::open_at("#/diagnose").await;
    for text in [
        include_str!("../../state/examples/deployment.yaml"),
        include_str!("../../state/examples/upgrade.yaml"),
    ] {
        page.write("Paste here", text).await;
        page.press("The case", "Add").await;
        page.at_rest().await;
    }
    let button = "If someone writes in between…: Helm 4 with force";
    page.press("What would happen", button).await;
    page.at_rest().await;
    searched(&page).await;
    let says = page.text(SCENARIO);
    for part in [
        "A is helm and writes the change of your case: helm.sh/chart, replicas and image.",
        "B is kube-controller-manager · /scale and sets replicas to 6.",
        "is made up",
    ] {
        assert!(says.contains(part), "{part}: {says}");
    }
    // Helm forces, and the autoscaler tries again after a 409.
    assert_eq!(counts("As in your case"), ["0", "4", "0", "2"]);
    assert_eq!(counts(RETRY), ["0", "all", "0", "0"]);
    page.rename("B's value", "9").await;
    searched(&page).await;
    assert!(page.text(SCENARIO).contains("sets replicas to 9"));
    assert_eq!(counts("As in your case"), ["0", "4", "0", "2"]);
    page.choose("B writes as", "4").await;
    searched(&page).await;
    assert!(page.text(SCENARIO).contains("B is kubectl-rollout"));
    open_first(".endings .link").await;
    let all = page.all_text();
    assert!(all.contains("APPLY manifest"), "{all}");
    assert!(all.contains("kubectl-rollout"), "{all}");
    page.close().await;
}

#[wasm_bindgen_test]
async fn a_wrong_property_is_corrected_in_the_same_field() {
    const FIELD: &str = "[aria-label='A property of every order']";
    let page = explore().await;
    all(".own-property summary")[0].click();
    page.write("A property of every order", "hello").await;
    all(".own-property [type=submit]")[0].click();
    at_rest().await;
    assert!(page.text(SCENARIO).contains("is not known here"));
    let field = page.element(FIELD);
    page.focus(FIELD).await;
    page.write("A property of every order", "never: [lost edit]")
        .await;
    assert!(!page.text(SCENARIO).contains("is not known here"));
    assert!(field.is_connected(), "it is made anew");
    assert!(page.holds(FIELD), "{}", page.holder());
}

#[wasm_bindgen_test]
async fn a_property_of_a_field_that_no_state_has_is_told_so() {
    let page = explore().await;
    all(".own-property summary")[0].click();
    let property = "always: {stored: {spec.replcas: 5}}";
    page.write("A property of every order", property).await;
    all(".own-property [type=submit]")[0].click();
    searched(&page).await;
    assert!(
        page.text(MAP)
            .contains("No state that was searched has spec.replcas.")
    );
}

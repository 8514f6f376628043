//! A session outlives its page, in a browser.

use js_sys::Function;
use optimist_links::Session;
use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, Operation, World};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::Storage;

use crate::page::Page;

const A: &str = "Editor A";
const B: &str = "Editor B";

/// Two branches, and an edit that was not sent.
fn storage() -> Storage {
    web_sys::window().unwrap().local_storage().unwrap().unwrap()
}

fn tab_storage() -> Storage {
    web_sys::window()
        .unwrap()
        .session_storage()
        .unwrap()
        .unwrap()
}

fn at(fragment: &str) {
    web_sys::window()
        .unwrap()
        .location()
        .set_hash(fragment)
        .unwrap();
}

async fn a_session() -> Page {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.set(A, "spec.replicas", "5").await;
    page.press(A, "Send").await;
    page.press("Steps", "Back").await;
    page.press(B, "Get").await;
    page.set(B, "spec.replicas", "2").await;
    page
}

#[wasm_bindgen_test]
async fn a_reload_brings_back_every_branch_and_what_was_not_sent() {
    a_session().await.close().await;
    let page = Page::reopen().await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 2 / 2");
    assert!(page.has("Steps", "2 branches"));
    assert!(page.text(B).contains("was 3"), "{}", page.text(B));
}

#[wasm_bindgen_test]
async fn a_session_is_kept_soon_after_a_change_and_not_only_when_the_tab_is_closed() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.until("the session is kept", |_| {
        let kept = tab_storage().get_item("optimist.session").unwrap();
        kept.is_some()
    })
    .await;
    page.close_at_once().await;
    let page = Page::reopen().await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 1 / 1");
}

#[wasm_bindgen_test]
async fn another_tab_opens_as_new_and_is_offered_the_session_of_before() {
    a_session().await.close().await;
    let window = web_sys::window().unwrap();
    window.session_storage().unwrap().unwrap().clear().unwrap();
    let page = Page::reopen().await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 0 / 0");
    assert!(page.all_text().contains("There is a session from before."));
    page.press_named("Open it").await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 2 / 2");
}

#[wasm_bindgen_test]
async fn a_page_on_which_nothing_was_done_leaves_nothing_behind() {
    Page::open().await.close().await;
    let window = web_sys::window().unwrap();
    let storage = window.session_storage().unwrap().unwrap();
    assert_eq!(storage.get_item("optimist.session").unwrap(), None);
}

#[wasm_bindgen_test]
async fn a_kept_session_that_is_damaged_is_said_and_keeps_nobody_out() {
    a_session().await.close().await;
    let window = web_sys::window().unwrap();
    let storage = window.session_storage().unwrap().unwrap();
    storage.set_item("optimist.session", "1nonsense").unwrap();
    let page = Page::reopen().await;
    page.at_rest().await;
    assert!(page.dialog().contains("Not opened."), "{}", page.dialog());
    page.close_dialog().await;
    page.press(A, "Get").await;
    assert_eq!(page.position(), "step 1 / 1");
}

#[wasm_bindgen_test]
async fn what_brought_the_page_down_once_is_not_opened_again_unasked() {
    a_session().await.close().await;
    let window = web_sys::window().unwrap();
    let storage = window.session_storage().unwrap().unwrap();
    storage.set_item("optimist.opening", "1").unwrap();
    let page = Page::reopen().await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 0 / 0");
    assert!(page.all_text().contains("There is a session from before."));
}

#[wasm_bindgen_test]
async fn a_session_over_another_leads_back_to_it_and_that_one_to_the_one_before() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.load_config("second").await;
    page.press(A, "Get").await;
    page.press(B, "Get").await;
    page.load_config("third").await;
    page.close().await;
    let page = Page::reopen().await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 0 / 0");
    page.press_named("Back to your session").await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 2 / 2");
    assert!(
        page.text("API server").contains("second"),
        "{}",
        page.all_text()
    );
    page.press_named("Back to your session").await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 1 / 1");
    // The others are in the list, named and dated.
    page.press_named("Share").await;
    page.press_named("Kept sessions").await;
    let list = page.dialog();
    for name in ["ConfigMap second, 2 steps", "ConfigMap third, 0 steps"] {
        assert!(list.contains(name), "{list}");
    }
    assert_eq!(page.count(".session-list li"), 2);
}

#[wasm_bindgen_test]
async fn an_offer_outlives_the_first_get_and_a_reload() {
    a_session().await.close().await;
    tab_storage().clear().unwrap();
    let page = Page::reopen().await;
    page.press(A, "Get").await;
    page.close().await;
    let page = Page::reopen().await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 1 / 1");
    page.press_named("Open it").await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 2 / 2");
    page.press_named("Back to your session").await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 1 / 1");
}

#[wasm_bindgen_test]
async fn a_link_that_is_opened_in_the_tab_leads_back_to_what_the_tab_had() {
    let page = a_session().await;
    page.press_named("Share").await;
    let link = page.value("#share-link");
    page.close_dialog().await;
    page.press(B, "Send").await;
    page.close().await;
    at(&link[link.find('#').unwrap()..]);
    let page = Page::reopen().await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 2 / 2");
    page.press_named("Back to your session").await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 3 / 3");
    at("");
}

/// A link of so many steps.
fn long_link(steps: usize) -> String {
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    for _ in 0..steps {
        tree.act_once(Operation::Act(ActorId::A, Action::Get));
    }
    format!("#/play?s={}", Session::from_tree(&tree).to_text())
}

fn fragment() -> String {
    let window = web_sys::window().unwrap();
    window.location().hash().unwrap()
}

#[wasm_bindgen_test]
async fn a_link_is_forgotten_before_it_runs_and_can_be_cancelled_while_it_runs() {
    let link = long_link(1_500);
    drop(Page::open().await);
    at(&link);
    let page = Page::reopen().await;
    assert_eq!(fragment(), "#/play", "a reload does not try it again");
    // The progress of long work is drawn ten times a second.
    page.until("the link is being opened", |page| {
        page.find(".opening").is_some()
    })
    .await;
    let told = page.find(".opening").unwrap();
    assert!(told.contains("of 1500 steps"), "{told}");
    assert_eq!(page.position(), "step 0 / 0", "the page works meanwhile");
    page.press_named("Cancel").await;
    page.at_rest().await;
    assert!(page.find(".opening").is_none());
    assert_eq!(page.position(), "step 0 / 0");
    page.press(A, "Get").await;
    assert_eq!(page.position(), "step 1 / 1");
    drop(page);
    at("");
}

#[wasm_bindgen_test]
async fn a_link_that_brought_the_page_down_is_not_tried_again() {
    let link = long_link(1_500);
    drop(Page::open().await);
    at(&link);
    // As if the tab went away in the middle of it.
    Page::reopen().await.close_at_once().await;
    let page = Page::reopen().await;
    page.at_rest().await;
    assert!(page.find(".opening").is_none(), "{}", page.all_text());
    assert_eq!(page.position(), "step 0 / 0");
    drop(page);
    at("");
}

#[wasm_bindgen_test]
async fn what_cannot_be_opened_stays_while_the_tab_goes_on() {
    a_session().await.close().await;
    for storage in [storage(), tab_storage()] {
        for key in (0..storage.length().unwrap()).filter_map(|i| storage.key(i).unwrap()) {
            let value = storage.get_item(&key).unwrap().unwrap();
            if key == "optimist.session" {
                storage.set_item(&key, "2later").unwrap();
            } else if key.starts_with("optimist.kept.") {
                let begin = value.find("\"text\":\"").unwrap() + 8;
                let end = begin + value[begin..].find('"').unwrap();
                let value = format!("{}2later{}", &value[..begin], &value[end..]);
                storage.set_item(&key, &value).unwrap();
            }
        }
    }
    let page = Page::reopen().await;
    page.at_rest().await;
    assert!(
        page.dialog().contains("It is still kept"),
        "{}",
        page.dialog()
    );
    page.close_dialog().await;
    page.press(A, "Get").await;
    page.close().await;
    let page = Page::reopen().await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 1 / 1");
    page.press_named("Share").await;
    page.press_named("Kept sessions").await;
    assert!(
        page.dialog().contains("could not be opened"),
        "{}",
        page.dialog()
    );
    let saved = page.attribute(".session-list a", "href");
    assert_eq!(saved, "data:text/plain,2later");
}

#[wasm_bindgen_test]
async fn a_reload_keeps_the_text_that_is_no_yaml_yet_and_the_manifest_that_is_typed() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.press(A, "YAML").await;
    page.write("Editor A: working copy as YAML", "spec: [")
        .await;
    page.click(".load").await;
    page.write("Manifest", "kind: Con").await;
    page.close_dialog().await;
    page.close().await;
    let page = Page::reopen().await;
    page.at_rest().await;
    assert_eq!(page.written("Editor A: working copy as YAML"), "spec: [");
    page.click(".load").await;
    assert_eq!(page.written("Manifest"), "kind: Con");
}

#[wasm_bindgen_test]
async fn edits_that_were_discarded_can_be_had_back() {
    let page = Page::open().await;
    page.press(A, "Get").await;
    page.set(A, "spec.replicas", "5").await;
    page.press(A, "Discard edits").await;
    assert!(!page.text(A).contains("was 3"));
    page.press(A, "Undo discard").await;
    assert!(page.text(A).contains("was 3"), "{}", page.text(A));
    page.press(A, "Discard edits").await;
    page.press(A, "Get").await;
    assert!(!page.has(A, "Undo discard"), "it was read again since");
}

#[wasm_bindgen_test]
async fn a_kept_search_of_explore_opens_there_with_its_controls() {
    Page::open().await.close().await;
    at("#/explore");
    let page = Page::reopen().await;
    page.at_rest().await;
    page.press_named("Share").await;
    let link = page.value("#share-link");
    drop(page);
    at("");
    let text = link.split_once("?s=").unwrap().1;
    tab_storage().set_item("optimist.session", text).unwrap();
    let page = Page::reopen().await;
    page.at_rest().await;
    assert!(page.has("Pages", "") || page.count(".pages a") == 4);
    assert_eq!(page.count(".explore-matrix"), 1, "{}", page.all_text());
    at("#/play");
    page.at_rest().await;
    page.press(A, "Get").await;
    assert_eq!(page.position(), "step 1 / 1");
    page.close().await;
    let page = Page::reopen().await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 1 / 1");
    at("");
}

#[wasm_bindgen_test]
async fn an_address_without_a_page_is_play_and_an_unknown_one_says_so() {
    at("");
    let page = Page::open().await;
    at("#/explore");
    page.at_rest().await;
    assert_eq!(page.count(".explore-matrix"), 1);
    let document = web_sys::window().unwrap().document().unwrap();
    assert!(
        document.title().starts_with("Explore: "),
        "{}",
        document.title()
    );
    at("#/nope");
    page.at_rest().await;
    assert!(
        page.all_text().contains("There is no page #/nope."),
        "{}",
        page.all_text()
    );
    at("");
    page.at_rest().await;
    assert_eq!(page.count(".explore-matrix"), 0);
    page.press(A, "Get").await;
    assert!(
        document.title().starts_with("Play: "),
        "{}",
        document.title()
    );
}

#[wasm_bindgen_test]
async fn values_that_look_private_are_left_out_until_people_say_otherwise() {
    let page = Page::open().await;
    page.load("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {password: hunter22}")
        .await;
    page.press_named("Share").await;
    assert!(
        page.dialog().contains("data.password (a password)"),
        "{}",
        page.dialog()
    );
    let without = page.value("#share-link");
    page.click("#leave-out").await;
    let with = page.value("#share-link");
    assert_ne!(with, without);
    page.close_dialog().await;
    at(&without[without.find('#').unwrap()..]);
    page.until("the shared session", |page| {
        page.text("API server").contains("left-out-1")
    })
    .await;
    assert!(!page.all_text().contains("hunter22"), "{}", page.all_text());
    at("");
}

#[wasm_bindgen_test]
async fn a_session_that_goes_on_is_kept_in_one_place() {
    let page = Page::open().await;
    for steps in 1..=4 {
        page.press(A, "Get").await;
        page.hide().await;
        let kept = kept_in_browser();
        assert_eq!(kept.len(), 1, "after {steps} steps: {kept:?}");
    }
    page.load("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}")
        .await;
    for _ in 0..2 {
        page.press(A, "Get").await;
        page.hide().await;
    }
    let kept = kept_in_browser();
    assert_eq!(kept.len(), 2, "one for each session: {kept:?}");
}

/// Returns the sessions that the browser keeps, by key.
fn kept_in_browser() -> Vec<String> {
    let storage = web_sys::window().unwrap().local_storage().unwrap().unwrap();
    let keys = (0..storage.length().unwrap()).filter_map(|i| storage.key(i).unwrap());
    keys.filter(|key| key.starts_with("optimist.kept."))
        .collect()
}

#[wasm_bindgen_test]
async fn exports_without_private_values_are_made_a_part_at_a_time() {
    let page = Page::open().await;
    let data: String = (0..1000).map(|i| format!("  key-{i}: value\n")).collect();
    let manifest =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  password: hunter22\n";
    page.load(&format!("{manifest}{data}")).await;
    for _ in 0..20 {
        page.press(A, "Get").await;
    }
    page.press_named("Share").await;
    let exports = "a[download=\"history.sh\"]";
    page.click("#leave-out").await;
    assert_eq!(page.count(exports), 1);
    page.click_and_draw("#leave-out").await;
    assert_eq!(page.count(exports), 0, "{}", page.dialog());
    assert!(page.dialog().contains(" of 20 steps."), "{}", page.dialog());
    page.until("the exports are made", |page| page.count(exports) == 1)
        .await;
    let script = page.attribute(exports, "href");
    assert!(script.contains("left-out-1") && !script.contains("hunter22"));
    // Closing the dialog ends what is still being done.
    page.click("#leave-out").await;
    page.click("#leave-out").await;
    page.close_dialog().await;
    page.press_named("Share").await;
    page.click("#leave-out").await;
    assert_eq!(page.count(exports), 1);
}

/// The next number by chance (SplitMix64).
fn draw(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 27)
}

#[wasm_bindgen_test]
async fn whatever_is_in_the_storages_the_page_opens() {
    const ODD: [&str; 9] = [
        "",
        "1",
        "1nonsense",
        "2later",
        "null",
        "[",
        "{\"v\":1,\"text\":\"1x\"}",
        "{\"01-the-lost-update\":[1e300,7]}",
        "\u{0}\u{d7ff}",
    ];
    const KEYS: [&str; 10] = [
        "optimist.session",
        "optimist.tab",
        "optimist.opening",
        "optimist.own-session",
        "optimist.kept.x",
        "optimist.kept.",
        "optimist.last-session",
        "optimist.lessons",
        "optimist.theme",
        "optimist.lesson-file",
    ];
    for seed in 1..=40_u64 {
        let mut chance = seed;
        Page::open().await.close_at_once().await;
        for _ in 0..=draw(&mut chance) % 4 {
            let key = KEYS[draw(&mut chance) as usize % KEYS.len()];
            let value = ODD[draw(&mut chance) as usize % ODD.len()];
            let tab = draw(&mut chance).is_multiple_of(2);
            let place = if tab { tab_storage() } else { storage() };
            place.set_item(key, value).unwrap();
        }
        let page = Page::reopen().await;
        page.at_rest().await;
        if page.count("dialog") > 0 {
            page.close_dialog().await;
        }
        page.press(A, "Get").await;
        assert_eq!(page.position(), "step 1 / 1", "seed {seed}");
        drop(page);
        storage().clear().unwrap();
    }
}

#[wasm_bindgen_test]
async fn what_cannot_be_read_is_said() {
    Page::open().await.close().await;
    storage().set_item("optimist.kept.x", "nonsense").unwrap();
    let page = Page::reopen().await;
    let said = "a session that is kept here. It is kept as it is.";
    assert!(page.all_text().contains(said), "{}", page.all_text());
    page.press(A, "Get").await;
    page.close().await;
    assert_eq!(
        storage().get_item("optimist.kept.x").unwrap().as_deref(),
        Some("nonsense")
    );
    storage().clear().unwrap();
}

#[wasm_bindgen_test]
async fn a_frame_without_storage_works_and_says_that_nothing_is_kept() {
    let forbid = Function::new_with_args(
        "on",
        "for (const name of ['localStorage', 'sessionStorage']) {
            const saved = 'saved ' + name;
            window[saved] ??= Object.getOwnPropertyDescriptor(window, name);
            Object.defineProperty(window, name, on
                ? {configurable: true, get() { throw new DOMException('no', 'SecurityError'); }}
                : window[saved]);
         }",
    );
    Page::open().await.close().await;
    forbid.call1(&JsValue::NULL, &true.into()).unwrap();
    let page = Page::reopen().await;
    page.press(A, "Get").await;
    page.load_config("second").await;
    page.press(A, "Get").await;
    page.press(B, "Get").await;
    page.press_named("Back to your session").await;
    page.at_rest().await;
    assert_eq!(page.position(), "step 1 / 1");
    let said = page.all_text();
    assert!(said.contains("This browser keeps nothing"), "{said}");
    page.close().await;
    forbid.call1(&JsValue::NULL, &false.into()).unwrap();
}
